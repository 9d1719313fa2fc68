//! # Idea
//! TreeFTL with exact LRU over all cached pages, to price the approximation by groups: fewer wrong
//! victims, and as many time stamps to compare as pages are cached.
//!
//! # Paper
//! Tree-PL of Wang, Wong: TreeFTL, DATE 2013, section IV.B and Fig. 6;
//! `docs/papers/treeftl2013.md#eviction`.
//!
//! # Structures
//! As `treeftl`; instead of LATTE a time stamp per cached page, data pages (CDP) and translation
//! pages (CTP) alike.
//!
//! # Read
//! As `treeftl`.
//!
//! # Write
//! As `treeftl`. Every access to a CDP is also one to its CTP (`treeftl_page_lru.touch_parent`).
//!
//! # Reclaim
//! The page used longest ago leaves; a CTP only when no CDP hangs on it
//! (`treeftl_page_lru.ctp_needs_no_cdp`; otherwise its CDPs leave with it). Collection as
//! `treeftl`.
//!
//! # Recovery
//! As `treeftl`.
//!
//! # Deviations
//! Those of `treeftl`. A list and a heap stand for the search through all time stamps, whose steps
//! are counted.
//!
//! # Settings
//! The table below; everything about the tree itself is `treeftl.*`.

use crate::treeftl::settings::Config;
use crate::treeftl::tree::{Frames, Leaf, Pruning, Tree, frames};
use ftlab_flash::board::Board;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings;
use ftlab_flash::units::zeroed;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;
use ftlab_ftl::parts::slots::slot_list::SlotLists;
use ftlab_ftl::scheme::{Classification, Family, Paper};

settings! {
    /// Settings of `treeftl_page_lru` beside those of its tree, `treeftl.*`.
    pub struct TreeftlPageLruSettings in "treeftl_page_lru" {
        /// Whether an access to a cached data page is one to its translation page too.
        touch_parent: bool = true, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Whether a translation page stays as long as data pages hang on it; otherwise they leave
        /// with it.
        ctp_needs_no_cdp: bool = true, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#eviction");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = TreePl;

/// A tree that is pruned by pages.
pub type TreePl = Tree<PageLru>;

/// Every cached page by its last use.
#[derive(Clone)]
pub struct PageLru {
    touch_parent: bool,
    needs_no_data: bool,
    /// Uses so far.
    clock: u64,
    /// Data pages in order of use, and when that was.
    data: SlotLists<1>,
    data_used: Vec<u64>,
    /// When translation pages were used, and how many data pages hang on them.
    map_used: Vec<u64>,
    children: Vec<u32>,
    /// Translation pages that may leave.
    maps: IndexedHeap,
}

impl PageLru {
    fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// A translation page is where its last use and its data pages put it.
    fn settle(&mut self, map: Slot) {
        let free = !self.needs_no_data || self.children[map.index()] == 0;
        let key = (self.map_used[map.index()], 0);
        match (free, self.maps.contains(map)) {
            (true, true) => self.maps.change(map, key),
            (true, false) => self.maps.push(map, key),
            (false, true) => self.maps.remove(map),
            (false, false) => {}
        }
    }
}

impl Pruning for PageLru {
    type Settings = TreeftlPageLruSettings;

    const PAPER: Paper = Paper {
        name: "treeftl_page_lru",
        title: "Tree-PL of: TreeFTL: efficient RAM management for high performance of NAND \
                flash-based storage systems",
        authors: "Wang, Wong",
        venue: "DATE 2013",
        year: 2013,
        sections: "IV.B (Fig. 6)",
        deviations: &[
            "those of treeftl",
            "what is exact LRU over a tree is not printed: treeftl_page_lru.touch_parent and \
             ctp_needs_no_cdp say",
        ],
        family: Family::RamManaging,
        class: Classification::PAGES,
    };

    const STANDS_ON: Option<&'static str> = Some("treeftl");
    const BYTES_PER_FRAME: u64 = 4;

    fn ram_use(config: &Config<Self::Settings>) -> RamUse {
        let bytes = Self::BYTES_PER_FRAME * u64::from(frames::<Self>(config));
        RamUse { structure: "time_stamps", bytes, memory: Memory::Sram }
    }

    fn new(settings: &Self::Settings, maps: u32, data: u32) -> Self {
        PageLru {
            touch_parent: settings.touch_parent,
            needs_no_data: settings.ctp_needs_no_cdp,
            clock: 0,
            data: SlotLists::new(data),
            data_used: zeroed(data as usize),
            map_used: zeroed(maps as usize),
            children: zeroed(maps as usize),
            maps: IndexedHeap::new(maps),
        }
    }

    fn loaded(&mut self, _: &mut Board, map: Slot) {
        self.map_used[map.index()] = self.now();
        self.settle(map);
    }

    fn used_map(&mut self, _: &mut Board, map: Slot) {
        self.map_used[map.index()] = self.now();
        self.settle(map);
    }

    fn used_data(&mut self, _: &mut Board, (map, _): (Slot, u32), data: Slot) {
        if self.data.list_of(data).is_some() {
            self.data.remove(data);
        } else {
            self.children[map.index()] += 1;
        }
        self.data.push(0, data);
        self.data_used[data.index()] = self.now();
        if self.touch_parent {
            self.map_used[map.index()] = self.now();
        }
        self.settle(map);
    }

    fn data_left(&mut self, map: Slot, data: Slot) {
        self.data.remove(data);
        self.children[map.index()] -= 1;
        self.settle(map);
    }

    fn map_left(&mut self, _: &mut Board, map: Slot) {
        self.maps.remove(map);
    }

    fn next(&mut self, frames: &Frames, pinned: Option<Slot>) -> (Leaf, u32) {
        let compared = frames.pages();
        let spared = pinned.filter(|&map| self.maps.contains(map));
        if let Some(map) = spared {
            self.maps.remove(map);
        }
        let map = self.maps.min();
        if let Some(map) = spared {
            self.settle(map);
        }
        let map_used = map.map_or(u64::MAX, |map| self.map_used[map.index()]);
        match self.data.oldest(0) {
            Some(data) if self.data_used[data.index()] < map_used => {
                let (map, offset) = frames.parent(data);
                (Leaf::Data(map, offset), compared)
            }
            _ => (Leaf::Map(map.expect("two frames hold more than one page in use")), compared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Translation pages alone, which no data page hangs on: the last use of a page is that it was
    /// loaded, until it is used.
    #[test]
    fn translation_pages_leave_by_when_they_were_loaded_or_used() {
        let config = Config::<TreeftlPageLruSettings>::default();
        let mut board = Board::new(&config, 1, 0);
        let mut order = PageLru::new(&config.own.order, 3, 1);
        let frames = Frames::new(board.geometry(), 3, 1, false);
        let [a, b, c] = [0, 1, 2].map(Slot);
        [b, a, c].into_iter().for_each(|map| order.loaded(&mut board, map));
        assert_eq!(order.next(&frames, None).0, Leaf::Map(b));
        order.used_map(&mut board, b);
        assert_eq!(order.next(&frames, None).0, Leaf::Map(a), "b was used since");
        assert_eq!(order.next(&frames, Some(a)).0, Leaf::Map(c), "a is in use");
        assert_eq!(order.next(&frames, None).0, Leaf::Map(a), "and is not any more");
    }
}
