//! # Idea
//! DFTL whose cached entries are kept by translation page: what is loaded and what is written back
//! goes by translation pages, and so do recency and prefetching. Entries take fewer bytes.
//!
//! # Paper
//! Zhou, Wu, Huang, He, Zhou, Xie: An Efficient Page-level FTL to Optimize Address Translation in
//! Flash Memory, EuroSys 2015; as its public re-implementations show it
//! (`docs/papers/others.md#tpftl`).
//!
//! # Structures
//! A node per translation page with a cached entry; nodes in order of coldness, the entries of each
//! in order of use. Bytes: nodes * `tpftl.node_bytes` + entries * `tpftl.entry_bytes`, at most
//! `tpftl.cache_bytes`. GTD, translation pages, data blocks: DFTL's.
//!
//! # Read
//! Translate: node, then entry. A miss makes room and reads the translation page once, for the
//! entry and for what is prefetched. Then one page read.
//!
//! # Write
//! Translate, program the next page of the data frontier, invalidate the old page, change the
//! entry.
//!
//! # Reclaim
//! DFTL's, with lazy copying. Entries leave from the coldest node: c, unchanged ones first; b, a
//! changed one takes the other changed ones of its node along in one map write.
//! Prefetching, within the translation page that is read: r, the request's remaining pages; s, as
//! many successors as there are cached predecessors in a row, while the number of nodes falls by
//! `tpftl.thr` at a time. Both: the longer one. It stops where more than one node would give way.
//!
//! # Recovery
//! Nothing but the flash: the out-of-band areas of all blocks are read, and nothing that completed
//! is lost. Under `device.ram_nonvolatile` the cache survives as it is, and trims need no records.
//!
//! # Deviations
//! The paper was not at hand. Selective prefetching is off at first. The node that an entry is
//! missed in counts as looked up before anything leaves. Of a translation, one node gives way to
//! prefetching: the one that gave way to the missed entry, or the coldest; never the node that
//! gains. Room is made before the translation page is read. Recovery and trims are ours.
//!
//! # Settings
//! `tpftl.*`, and the groups `gc` and `alloc`.

pub(crate) mod nodes;
mod settings;
pub(crate) mod sizes;

pub use settings::{Levels, NodeOrder, PrefetchPlace, TpftlSettings};

use nodes::{Nodal, Nodes, Place, Trend};

pub(crate) use crate::tpftl::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, Kept, Needs};
use ftlab_ftl::scheme::{Classification, Family, Pairs, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Tpftl;

/// Demand-based page-mapped FTL whose cache goes by translation pages.
#[derive(Clone)]
pub struct Tpftl<C = Nodes> {
    pub(crate) base: DemandMapped<C>,
    settings: TpftlSettings,
}

const OFF: &str = "false";

impl Scheme for Tpftl {
    const PAPER: Paper = Paper {
        name: "tpftl",
        title: "An efficient page-level FTL to optimize address translation in flash memory",
        authors: "Zhou, Wu, Huang, He, Zhou, Xie",
        venue: "EuroSys 2015",
        year: 2015,
        sections: "as its public re-implementations show it",
        deviations: &[
            "the paper was not at hand; what its re-implementations leave open is a setting",
            "selective prefetching is off at first",
            "one node at most gives way to prefetching, and never the one that gains",
            "recovery and trims are added",
        ],
        family: Family::CachedMap,
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[
        ("none", NONE),
        ("r", &[SELECTIVE, BATCH, CLEAN]),
        ("s", &[REQUEST, BATCH, CLEAN]),
        ("b", &[REQUEST, SELECTIVE, CLEAN]),
        ("c", &[REQUEST, SELECTIVE, BATCH]),
        ("rs", &[BATCH, CLEAN]),
        ("bc", &[REQUEST, SELECTIVE]),
        ("one_level", &[REQUEST, SELECTIVE, BATCH, CLEAN, ("tpftl.levels", "one")]),
    ];
    const DIVIDES_DATA: bool = true;
    type Settings = TpftlSettings;
    type Survivor = Kept<Nodes>;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        sizes::check(config)
    }

    forward!(Needs::plain => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let bytes = sizes::cache_bytes(config);
        let cmt = RamUse { structure: "cmt", bytes, memory: Memory::Sram };
        Needs::plain(config).ram_use(config, &[cmt])
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let cache = Nodes::new(board.geometry(), config);
        let base = DemandMapped::new(board, config, &Needs::plain(config), cache, seed);
        Ok(Self::on(base, board, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.read_page(board, io, after)
    }

    forward!(base after translate: write, trim);
    forward!(base: flush, clean_map, changed_entries, idle, locate, room, self_check, power_off);
    forward!(base: refresh_at_once);
    forward!(base.space: measuring_begins);

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Kept<Nodes>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (needs, empty) = (Needs::plain(config), Nodes::new(board.geometry(), config));
        let cache = (sizes::entries_that_fit(config), empty);
        let (base, when) = survivor.recover(board, config, (&needs, seed), cache, after)?;
        Ok((Self::on(base, board, config), when))
    }
}

/// What presets switch off.
const REQUEST: (&str, &str) = ("tpftl.request_prefetch", OFF);
const SELECTIVE: (&str, &str) = ("tpftl.selective_prefetch", OFF);
const BATCH: (&str, &str) = ("tpftl.batch", OFF);
const CLEAN: (&str, &str) = ("tpftl.clean_first", OFF);
const NONE: Pairs = &[REQUEST, SELECTIVE, BATCH, CLEAN];

impl<C: Nodal> Tpftl<C> {
    /// On data whose map a cache of nodes knows.
    pub(crate) fn on(base: DemandMapped<C>, board: &mut Board, config: &Config) -> Self {
        let settings = config.own.clone();
        board.level(Level::MapNodes, u64::from(base.map.cache.entries().nodes()));
        Tpftl { base, settings }
    }

    /// Reads a page, whether or not its entry finds a place; a page that is somewhere counts as
    /// read by its entry, or behind its translation page.
    #[inline]
    pub(crate) fn read_page(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        board.event(Event::MapLookups, 1);
        let (event, known) = match self.hit(board, io.lpn, after) {
            Some(known) => (Event::EntryReads, Ok(known)),
            None => (Event::DoubleReads, self.miss(board, io, after)),
        };
        match known {
            Ok(known) => {
                let place = self.base.map.cached(board, io.lpn);
                let place = place.expect("the entry was translated");
                let Some(ppn) = place else { return board.read_unwritten(io.lpn, known) };
                board.event(event, 1);
                board.read(ppn, io.cause, known)
            }
            Err(fault) => {
                let answer = self.base.read_placeless(board, io, fault, after)?;
                board.event(event, u64::from(self.base.map.current(board, io.lpn).is_some()));
                Ok(answer)
            }
        }
    }

    /// Makes sure that the entry of a page is cached; when it is known.
    #[inline]
    pub(crate) fn translate(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        match self.hit(board, io.lpn, after) {
            Some(known) => Ok(known),
            None => self.miss(board, io, after),
        }
    }

    /// The entry of a page is looked for in the cache, which is a use of it: when it is known.
    #[inline]
    fn hit(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Option<When> {
        let cache = self.base.map.cache.entries_mut();
        let slot = cache.cmt().find(lpn)?;
        board.event(Event::MapHits, 1);
        let first = cache.touch(slot);
        board.event(Event::PrefetchedUsed, u64::from(first));
        Some(after.waits_for_map(cache.cmt().ready(slot)))
    }

    /// Makes room for the entry and for what is prefetched with it, and reads their translation
    /// page.
    fn miss(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (part, _) = self.base.map.translation.part_of(io.lpn);
        self.base.map.cache.entries_mut().touch_node(part);
        let successors = self.successors_wanted(io);
        let (when, gives_way) = self.make_room_for_missed(board, part, after)?;
        let (prefetched, when) =
            self.make_room_for_prefetched(board, (io.lpn, successors), gives_way, when)?;
        let loaded = self.base.load(board, part, when)?;
        let behind = io.lpn.0 + 1..io.lpn.0 + 1 + successors;
        match self.settings.prefetch_place {
            PrefetchPlace::ColdEnd => {
                self.insert(board, io.lpn, loaded, Place::Asked);
                let mut left = prefetched;
                for lpn in behind.map(Lpn) {
                    left -= self.prefetch(board, lpn, loaded, (left, Place::Cold));
                }
            }
            PrefetchPlace::HotEnd => {
                // The nearest ones are loaded, if not all; each is hotter than what lies behind it.
                let mut beyond = self.uncached(io.lpn, successors) - prefetched;
                for lpn in behind.rev().map(Lpn) {
                    let skip =
                        beyond > 0 && self.base.map.cache.entries().cmt().find(lpn).is_none();
                    beyond -= u32::from(skip);
                    let left = u32::from(!skip);
                    self.prefetch(board, lpn, loaded, (left, Place::Hot));
                }
                self.insert(board, io.lpn, loaded, Place::Asked);
            }
        }
        Ok(loaded)
    }

    /// Successors of a missed page that are worth loading with it, cached ones among them: none
    /// beyond its translation page.
    fn successors_wanted(&self, io: &PageIo) -> u32 {
        let (part, _) = self.base.map.translation.part_of(io.lpn);
        let most = self.base.map.translation.lpns_of(part).end - 1 - io.lpn.0;
        let of_request = match self.settings.request_prefetch {
            true => io.request.pages - 1 - io.request.index,
            false => 0,
        };
        let of_neighbours =
            match self.settings.selective_prefetch && self.base.map.cache.entries().trend.falling {
                true => self.base.map.cache.entries().predecessors(io.lpn),
                false => 0,
            };
        of_request.max(of_neighbours).min(most)
    }

    /// Successors of a page, of so many, whose entries are not cached.
    fn uncached(&self, lpn: Lpn, successors: u32) -> u32 {
        let cmt = self.base.map.cache.entries().cmt();
        let all = lpn.0 + 1..lpn.0 + 1 + successors;
        all.filter(|&lpn| cmt.find(Lpn(lpn)).is_none()).count() as u32
    }

    /// Makes room for one entry of a translation page; also which node gave way for it.
    fn make_room_for_missed(
        &mut self,
        board: &mut Board,
        part: u32,
        after: When,
    ) -> Result<(When, Option<u32>), Fault> {
        let (mut when, mut gives_way) = (after, None);
        while !self.base.map.cache.entries().has_room(part, 1) {
            let node = self.base.map.cache.entries().coldest();
            when = self.evict(board, node, when)?;
            gives_way = Some(node);
        }
        Ok((when, gives_way))
    }

    /// Makes room for as many successors of a missed page as one node, besides its own, gives way
    /// to; how many.
    fn make_room_for_prefetched(
        &mut self,
        board: &mut Board,
        (missed, successors): (Lpn, u32),
        gives_way: Option<u32>,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let (part, _) = self.base.map.translation.part_of(missed);
        let wanted = self.uncached(missed, successors);
        let (mut when, mut gives_way) = (after, gives_way);
        for count in 0..wanted {
            while !self.base.map.cache.entries().has_room(part, 2 + count) {
                let cache = self.base.map.cache.entries();
                if cache.nodes() == 0 {
                    return Ok((count, when));
                }
                let node = *gives_way.get_or_insert(cache.coldest());
                if node == part || cache.entries_of(node) == 0 {
                    return Ok((count, when));
                }
                when = self.evict(board, node, when)?;
            }
        }
        Ok((wanted, when))
    }

    /// Loads the entry of a page that nobody asked for, if it is not cached and there is room for
    /// it; how many that are.
    fn prefetch(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        loaded: When,
        (left, place): (u32, Place),
    ) -> u32 {
        if left == 0 || self.base.map.cache.entries().cmt().find(lpn).is_some() {
            return 0;
        }
        board.event(Event::PrefetchedEntries, 1);
        self.insert(board, lpn, loaded, place);
        1
    }

    fn insert(&mut self, board: &mut Board, lpn: Lpn, loaded: When, place: Place) {
        let ppn = self.base.map.translation.entry(board, lpn);
        let nodes = self.base.map.cache.entries().nodes();
        let _ = self.base.map.cache.entries_mut().insert(lpn, ppn, loaded, place);
        self.count_nodes(board, nodes);
    }

    /// Removes an entry of a node. A changed one is written to its translation page, with the other
    /// changed ones of the node (b).
    fn evict(&mut self, board: &mut Board, node: u32, after: When) -> Result<When, Fault> {
        let cache = self.base.map.cache.entries();
        // One level: the entry used longest ago, whatever its node.
        let (victim, candidates) = match self.settings.levels {
            Levels::Two => (cache.victim(node), cache.nodes() + cache.entries_of(node)),
            Levels::One => (cache.cmt().victim(), cache.cmt().len()),
        };
        let mut when = board.search(Search::Cached, candidates, after);
        if !cache.cmt().is_dirty(victim) {
            board.event(Event::EvictClean, 1);
        } else if self.settings.batch {
            when = self.base.leave_with_part(board, cache.cmt().lpn(victim), when)?;
        } else {
            let lpn = cache.cmt().lpn(victim);
            when = self.base.write_back(board, lpn, Cause::Translate, when)?;
            board.event(Event::EvictDirty, 1);
        }
        let nodes = self.base.map.cache.entries().nodes();
        self.base.map.cache.entries_mut().remove(victim);
        self.count_nodes(board, nodes);
        Ok(when)
    }

    /// The number of nodes may have changed from `before`: as often as `tpftl.thr` says up or down,
    /// it decides about selective prefetching.
    fn count_nodes(&mut self, board: &mut Board, before: u32) {
        let now = self.base.map.cache.entries().nodes();
        if now == before {
            return;
        }
        board.level(Level::MapNodes, u64::from(now));
        let trend = &mut self.base.map.cache.entries_mut().trend;
        trend.balance += i64::from(now) - i64::from(before);
        if trend.balance.unsigned_abs() == u64::from(self.settings.thr) {
            *trend = Trend { balance: 0, falling: trend.balance < 0 };
        }
    }
}
