//! TPFTL's cache: entries of one translation page form a node; nodes are in order of coldness, the
//! entries of a node in order of use. Both take bytes from one budget.

use super::settings::{Levels, NodeOrder, TpftlSettings};
use super::sizes::cache_bytes;
use crate::tpftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn, zeroed};
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::group_lists::GroupLists;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;
use ftlab_ftl::parts::translation::Translation;

/// What cached entries know of themselves beyond [`Cmt`].
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Number of the last use.
    last: u64,
    /// Loaded before anybody asked, and not asked for since.
    prefetched: bool,
}

/// Whether the number of nodes falls: neighbours are in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trend {
    /// Nodes gained less nodes lost since the last decision.
    pub balance: i64,
    /// Whether selective prefetching is on.
    pub falling: bool,
}

/// Cached entries by translation page.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The entries; its own list is the one of `tpftl.levels = one`.
    cmt: Cmt,
    uses: Vec<Use>,
    /// The entries of each node in order of use.
    lists: GroupLists,
    /// Changed entries of each node.
    dirty: Vec<u32>,
    /// Sum of the last uses of each node's entries.
    heat: Vec<u64>,
    /// Nodes, the coldest on top.
    coldest: IndexedHeap,
    clock: u64,
    entries_per_page: u32,
    settings: TpftlSettings,
    budget: u64,
    /// What the scheme makes of the nodes that come and go.
    pub trend: Trend,
}

/// Where an entry goes in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is asked for.
    Asked,
    /// Loaded before anybody asked, at the cold end.
    Cold,
    /// Loaded before anybody asked, at the hot end.
    Hot,
}

impl Nodes {
    /// Empty.
    pub fn new(geometry: &Geometry, config: &Config) -> Self {
        let settings = config.own.clone();
        let (parts, pages) = (Translation::pages(geometry), geometry.logical_pages);
        let budget = cache_bytes(config);
        let entries = (budget / u64::from(settings.entry_bytes)).min(u64::from(pages)) as u32;
        Nodes {
            cmt: Cmt::new(CachePolicyKind::Lru, pages, entries, 0.0),
            uses: vec![Use::default(); entries as usize],
            lists: GroupLists::new(entries, parts),
            dirty: zeroed(parts as usize),
            heat: zeroed(parts as usize),
            coldest: IndexedHeap::new(parts),
            clock: 0,
            entries_per_page: geometry.entries_per_page(),
            settings,
            budget,
            trend: Trend::default(),
        }
    }

    /// The entries, for looking.
    pub fn cmt(&self) -> &Cmt {
        &self.cmt
    }

    /// Nodes with at least one entry.
    pub fn nodes(&self) -> u32 {
        self.coldest.count()
    }

    /// Entries of a node; 0 where there is no such node.
    pub fn entries_of(&self, node: u32) -> u32 {
        self.lists.len(node)
    }

    fn node_of(&self, slot: Slot) -> u32 {
        self.cmt.lpn(slot).0 / self.entries_per_page
    }

    /// Bytes of a node's header.
    fn header(&self) -> u64 {
        match self.settings.levels {
            Levels::Two => u64::from(self.settings.node_bytes),
            Levels::One => 0,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        u64::from(self.nodes()) * self.header()
            + u64::from(self.cmt.len()) * u64::from(self.settings.entry_bytes)
    }

    /// Whether there is room for so many more entries of a node.
    pub fn has_room(&self, node: u32, entries: u32) -> bool {
        let header = if self.entries_of(node) == 0 { self.header() } else { 0 };
        let more = header + u64::from(entries) * u64::from(self.settings.entry_bytes);
        self.bytes() + more <= self.budget
    }

    /// An entry is used; whether it had been prefetched and is used for the first time.
    #[inline]
    pub fn touch(&mut self, slot: Slot) -> bool {
        let node = self.node_of(slot);
        self.clock += 1;
        self.cmt.touch(slot);
        self.lists.remove(node, slot);
        self.lists.push_newest(node, slot);
        let before = std::mem::replace(
            &mut self.uses[slot.index()],
            Use { last: self.clock, prefetched: false },
        );
        self.heat[node as usize] += self.clock - before.last;
        self.order(node, self.clock);
        before.prefetched
    }

    /// A node is looked up in vain.
    pub fn touch_node(&mut self, node: u32) {
        if self.entries_of(node) > 0 {
            self.clock += 1;
            self.order(node, self.clock);
        }
    }

    /// Gives a node its place among the others.
    #[inline]
    fn order(&mut self, node: u32, used: u64) {
        let key = match self.settings.node_order {
            NodeOrder::Lru => used,
            // With eight binary digits behind the point.
            NodeOrder::MeanHotness => {
                (self.heat[node as usize] << 8) / u64::from(self.entries_of(node))
            }
        };
        if self.coldest.contains(Slot(node)) {
            self.coldest.change(Slot(node), (key, u64::from(node)));
        } else {
            self.coldest.push(Slot(node), (key, u64::from(node)));
        }
    }

    /// The node that gives way first.
    pub fn coldest(&self) -> u32 {
        self.coldest.min().expect("the cache is not empty").0
    }

    /// Caches an entry; there must be room.
    pub fn insert(&mut self, lpn: Lpn, ppn: Option<Ppn>, ready: When, place: Place) -> Slot {
        let node = lpn.0 / self.entries_per_page;
        assert!(self.has_room(node, 1), "{} of {} bytes are in use", self.bytes(), self.budget);
        let slot = self.cmt.insert(lpn, ppn, ready);
        self.clock += 1;
        let last = match place {
            Place::Asked | Place::Hot => {
                self.lists.push_newest(node, slot);
                self.clock
            }
            Place::Cold => {
                let oldest = self.lists.from_oldest(node).next();
                let oldest = oldest.expect("the missed entry is there already");
                self.lists.push_oldest(node, slot);
                self.uses[oldest.index()].last
            }
        };
        self.uses[slot.index()] = Use { last, prefetched: place != Place::Asked };
        self.heat[node as usize] += last;
        self.order(node, self.clock);
        slot
    }

    /// The entry of a node that leaves first.
    pub fn victim(&self, node: u32) -> Slot {
        let all_dirty = self.dirty[node as usize] == self.entries_of(node);
        let mut entries = self.lists.from_oldest(node);
        let victim = match self.settings.clean_first && !all_dirty {
            true => entries.find(|&slot| !self.cmt.is_dirty(slot)),
            false => entries.next(),
        };
        victim.expect("a node has an entry")
    }

    /// Drops an entry; if it is changed, flash must know it by now.
    pub fn remove(&mut self, slot: Slot) {
        let node = self.node_of(slot);
        self.dirty[node as usize] -= u32::from(self.cmt.is_dirty(slot));
        self.heat[node as usize] -= self.uses[slot.index()].last;
        self.lists.remove(node, slot);
        self.cmt.remove(slot);
        if self.entries_of(node) == 0 {
            self.coldest.remove(Slot(node));
        } else if self.settings.node_order == NodeOrder::MeanHotness {
            self.order(node, 0);
        }
    }

    /// Cached entries in a row that end before a page, within its translation page.
    pub fn predecessors(&self, lpn: Lpn) -> u32 {
        let first = lpn.0 - lpn.0 % self.entries_per_page;
        let cached = (first..lpn.0).rev().take_while(|&lpn| self.cmt.find(Lpn(lpn)).is_some());
        cached.count() as u32
    }
}

/// A cache that keeps its entries in nodes.
pub trait Nodal: MapCache {
    /// They.
    fn entries(&self) -> &Nodes;
    /// They, to be changed: what is loaded and what leaves is no change of the map.
    fn entries_mut(&mut self) -> &mut Nodes;
}

impl Nodal for Nodes {
    #[inline(always)]
    fn entries(&self) -> &Nodes {
        self
    }

    #[inline(always)]
    fn entries_mut(&mut self) -> &mut Nodes {
        self
    }
}

impl MapCache for Nodes {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.cmt.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        MapCache::is_dirty(&self.cmt, lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let slot = self.cmt.find(lpn).expect("the entry is cached");
        self.dirty[(lpn.0 / self.entries_per_page) as usize] += u32::from(!self.cmt.is_dirty(slot));
        self.cmt.change(slot, ppn);
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        if let Some(slot) = self.cmt.find(lpn) {
            self.dirty[(lpn.0 / self.entries_per_page) as usize] -=
                u32::from(self.cmt.is_dirty(slot));
            self.cmt.clean(slot);
        }
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.cmt.changed()
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        for &(lpn, ppn) in changed {
            let _ = self.insert(lpn, ppn, When::START, Place::Asked);
            self.change(lpn, ppn);
        }
    }

    /// What must hold within the cache.
    fn self_check(&self) -> Result<(), String> {
        if self.bytes() > self.budget {
            return Err(format!("{} bytes cached, {} allowed", self.bytes(), self.budget));
        }
        let (mut nodes, mut entries) = (0, 0);
        for node in 0..self.dirty.len() as u32 {
            let all = || self.lists.from_oldest(node);
            let dirty = all().filter(|&slot| self.cmt.is_dirty(slot)).count() as u32;
            let heat: u64 = all().map(|slot| self.uses[slot.index()].last).sum();
            let ordered = all().map(|slot| self.uses[slot.index()].last).is_sorted();
            let listed = all().all(|slot| self.node_of(slot) == node);
            if (dirty, heat) != (self.dirty[node as usize], self.heat[node as usize])
                || !(ordered && listed)
                || self.coldest.contains(Slot(node)) != (self.entries_of(node) > 0)
            {
                return Err(format!("the node of translation page {node} is not what it says"));
            }
            nodes += u32::from(all().next().is_some());
            entries += self.entries_of(node);
        }
        if (nodes, entries) != (self.nodes(), self.cmt.len()) {
            return Err(format!("{entries} entries in {nodes} nodes, counted otherwise"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed entry of which flash knows leaves, and another one changes: of one entry all are
    /// changed, so that it may leave.
    #[test]
    fn a_node_forgets_changed_entries_that_left() {
        let config = Config::default();
        assert!(config.own.clean_first, "unchanged entries leave first, where there are any");
        let geometry = Geometry::new(&config.device);
        let mut nodes = Nodes::new(&geometry, &config);
        let [first, second] =
            [0, 1].map(|lpn| nodes.insert(Lpn(lpn), Some(Ppn(lpn)), When::START, Place::Asked));
        nodes.change(Lpn(0), Some(Ppn(9)));
        nodes.remove(first);
        nodes.change(Lpn(1), Some(Ppn(10)));
        assert_eq!(nodes.victim(0), second);
    }
}
