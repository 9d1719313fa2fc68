//! # Idea
//! One RAM for map and data: whole translation pages and the data pages that they point to share
//! its frames as a tree. The partition follows the workload by itself, because a branch is pruned
//! as a whole, data pages first; and the search for the branch used longest ago is cheap, because
//! there are few branches.
//!
//! # Paper
//! Wang, Wong: TreeFTL, DATE 2013, section III; `docs/papers/treeftl2013.md`.
//!
//! # Structures
//! GTD, cached translation pages (CTP), cached data pages (CDP): `parts::page_tree`. A caching
//! group (CG) is a CTP with its CDPs. LATTE, the last access time table for eviction: per CG the
//! time of the last access and the offset (0 to E - 1) of the CDP that was accessed then.
//!
//! `treeftl.map = block`: a CTP is a page of the block map and names E logical blocks, so that a CG
//! is that CTP with the cached pages of all these blocks, and offsets run below E * pages of a
//! block. Below lie the chains of `replacement_block`. The paper says one sentence about it (III:
//! the idea "can be easily adopted to a block-level mapping scheme like DAC").
//!
//! # Read
//! The CTP is loaded if it is not cached. A CDP is read from RAM; any other page from flash, and it
//! is not cached. Nor is the CTP on a device at its end, where what would have to leave for it
//! cannot be written.
//!
//! # Write
//! A: CTP and CDP are cached, no flash operation. B: the CTP is, the data page is loaded. C:
//! neither is, both are loaded. Then the CDP is overwritten. A request of more than
//! `treeftl.seq_pages` pages is sequential: it is written to flash and read from there, past the
//! RAM.
//!
//! # Reclaim
//! A frame is needed: in the CG with the smallest time the CDP with the smallest offset leaves,
//! that in LATTE last of all; the CTP of a CG without CDP that is still the oldest leaves too. What
//! is newer than flash is programmed. Garbage collection is DFTL's: entries that are cached change
//! in RAM alone, the others are written to their translation pages, a page at a time. Over blocks
//! pages leave in the same order; what they supersede is folded as `replacement_block` folds, and
//! the map page of a folded block changes in RAM if it is cached, else on flash.
//!
//! # Recovery
//! What was flushed survives, by a scan; under `device.ram_nonvolatile` (the paper: non-volatile
//! RAM or a battery) everything. Over blocks, out-of-band areas tell where data is, map pages are
//! corrected, and trims are only durable once a flush has recorded them.
//!
//! # Deviations
//! A CTP's entry goes on naming the older version on flash while a CDP is cached, and one bit
//! beside it says so: the paper overwrites the entry with a RAM address and cannot find the older
//! version again. So the links take memory here (`tree_links`), an address per frame and that bit
//! per entry; the paper counts frames and LATTE alone, since its links stand where addresses stood,
//! in GTD and CTPs. They are listed, and never taken from the frames. The CTP in use is no victim;
//! whether its CDPs may be, the paper does not say: they may. Clean CDPs (after a flush of the
//! host) and clean CTPs leave without a program. The order of equal times does not arise: the clock
//! counts accesses. A table in order of access stands for the search through all times, whose steps
//! are counted. Collection, trims and recovery are ours. Ours over blocks, since the paper is
//! silent: the base (DAC's), groups of whole blocks, a flush and idle gaps that write by group in
//! ascending order, and that a page in a replacement block is found by out-of-band areas, for the
//! load of cases B and C too. `treeftl:gc` is refused there: its rules are about victims and copies
//! of DFTL's collection, which there is none of.
//!
//! # Settings
//! The table in `settings`, and the groups `gc` and `alloc`, over blocks `replacement_block` in
//! their place, and `search`; `device.ram_bytes` is what the frames share, by default 1/512 of the
//! capacity, 32 KiB to the paper's 64 MiB.

pub(crate) mod settings;
pub(crate) mod tree;

pub use settings::{BypassCopy, BypassMap, HitScope, TreeMap, TreeOwn, TreeftlSettings};

use crate::treeftl::settings::Config;
use crate::treeftl::tree::{Frames, Leaf, Pruning, Tree, latte_bytes};
use ftlab_flash::board::Board;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::Event;
use ftlab_flash::units::{pack, unpack, zeroed};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = TreeFtl;

/// A tree that is pruned by groups.
pub type TreeFtl = Tree<Latte>;

/// LATTE. Its times only ever tell which group comes first, so a list in their order stands for
/// them.
#[derive(Clone)]
pub struct Latte {
    groups: SlotLists<1>,
    /// Offset of the CDP that was accessed last, plus one.
    accessed: Vec<u32>,
}

impl Latte {
    /// The group was accessed now.
    #[inline(always)]
    fn touch(&mut self, board: &mut Board, group: Slot) {
        self.groups.renew(group);
        board.event(Event::LatteOps, 1);
    }
}

impl Pruning for Latte {
    type Settings = ();

    const PAPER: Paper = Paper {
        name: "treeftl",
        title: "TreeFTL: efficient RAM management for high performance of NAND flash-based storage \
                systems",
        authors: "Wang, Wong",
        venue: "DATE 2013",
        year: 2013,
        sections: "III; V's integration with garbage collection as treeftl.gc_cached",
        deviations: &[
            "an entry keeps the flash address of a cached page's older version",
            "clean pages leave without a program (treeftl.flush_clean_ctp = true: translation pages \
             do not)",
            "the translation page in use is no victim",
            "garbage collection and map updates are DFTL's; trims and recovery are ours",
            "treeftl.map = block is over chains of replacement blocks; what the paper does not say of \
             it is ours",
        ],
        family: Family::RamManaging,
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[("gc", &[("treeftl.gc_cached", "true")])];

    fn ram_use(config: &Config<()>) -> RamUse {
        RamUse { structure: "latte", bytes: latte_bytes(config), memory: Memory::Sram }
    }

    fn new((): &(), maps: u32, _: u32) -> Self {
        Latte { groups: SlotLists::new(maps), accessed: zeroed(maps as usize) }
    }

    #[inline]
    fn loaded(&mut self, board: &mut Board, map: Slot) {
        self.accessed[map.index()] = 0;
        self.groups.push(0, map);
        board.event(Event::LatteOps, 1);
    }

    fn used_map(&mut self, board: &mut Board, map: Slot) {
        self.touch(board, map);
    }

    #[inline(always)]
    fn used_data(&mut self, board: &mut Board, (map, offset): (Slot, u32), _: Slot) {
        self.touch(board, map);
        self.accessed[map.index()] = pack(Some(offset));
    }

    #[inline]
    fn data_left(&mut self, _: Slot, _: Slot) {}

    #[inline]
    fn map_left(&mut self, board: &mut Board, map: Slot) {
        self.groups.remove(map);
        board.event(Event::LatteOps, 1);
    }

    #[inline(always)]
    fn next(&mut self, frames: &Frames, pinned: Option<Slot>) -> (Leaf, u32) {
        let compared = self.groups.len(0);
        // Rule 1: the group with the smallest time.
        let mut victim = self.groups.oldest(0);
        if let Some(map) = victim
            && victim == pinned
            && frames.children(map) == 0
        {
            victim = self.groups.used_after(map);
        }
        let map = victim.expect("two frames hold more than the translation page in use");
        // Rule 2: its CDP with the smallest offset, the one accessed last at the end.
        let last = unpack(self.accessed[map.index()]);
        match frames.first_child(map, last) {
            Some(offset) => (Leaf::Data(map, offset), compared),
            // Rule 3: a group without CDP gives up its CTP.
            None => (Leaf::Map(map), compared),
        }
    }
}
