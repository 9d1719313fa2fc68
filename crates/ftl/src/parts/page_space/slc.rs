//! A cache of blocks that are used with one bit a cell (SLC mode): writes of the host go there
//! first, fast, and are folded into dense blocks later; what is superseded before that never moves.
//!
//! Some blocks of a plane may be set aside for it (static), others come from its free blocks
//! (dynamic), as many as a share of these allows. It never has garbage collected to grow, and gives
//! its blocks back before a dense block is collected, so that a full device has none of them left.
//! Maps, records and moved pages do not go there. The cache is one frontier more beside those of
//! data; a scheme only says that it leaves its blocks to page space (`Scheme::DIVIDES_DATA`, which
//! placement policies need as well).
//!
//! What this is not: the law. What a block can hold in either mode, and how long its pages take,
//! the gate knows. Rules and open points: `docs/papers/slc_cache.md`.

mod fold;
#[cfg(test)]
mod fold_tests;
mod restart;
#[cfg(test)]
mod restart_tests;
pub mod settings;

use std::collections::VecDeque;

use super::{Frontier, PageSpace, Stream};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, PlaneId, Ppn};
use settings::{SlcFull, SlcPath, SlcSettings, SlcVictim};

/// A share in parts per million: the state of the engine has no fractions.
const WHOLE: u64 = 1_000_000;

fn in_parts(share: f64) -> u64 {
    (share * WHOLE as f64).round() as u64
}

/// So many parts per million of a number of blocks.
fn part(blocks: u32, share: u64) -> u32 {
    (u64::from(blocks) * share / WHOLE) as u32
}

/// The cache in one plane.
#[derive(Clone, Debug)]
struct PlaneCache {
    /// Blocks below this one, as far as they were good from the start, are static.
    static_end: u32,
    /// How many of them are still good.
    static_blocks: u32,
    /// Those that are erased, in the order of their erases.
    static_free: VecDeque<BlockId>,
    /// Closed blocks in the order in which they were closed.
    closed: VecDeque<BlockId>,
    /// Blocks in use, open or closed, that came from the free ones.
    dynamic: u32,
    /// Closed blocks without a valid page.
    dead: u32,
    /// A block that was folded in part, and how many pages moved out of it.
    begun: Option<(BlockId, u32)>,
}

/// The cache of a device.
#[derive(Clone, Debug)]
pub(super) struct Slc {
    planes: Vec<PlaneCache>,
    /// Pages of a block in SLC mode.
    pages: u32,
    share: u64,
    /// Pages of the largest request that it takes.
    most_pages: u32,
    /// Share of its size above which a write waits for a fold; none: writes go past it.
    fold_high: Option<u64>,
    fold_low: u64,
    victim: SlcVictim,
}

/// Bytes by structure: a bit for each block, and the order of those in use.
pub fn ram_use(config: &SharedSettings) -> Vec<RamUse> {
    if !config.slc.is_on() {
        return Vec::new();
    }
    let bytes = config.device.physical_blocks().div_ceil(8) + 4 * config.device.physical_blocks();
    vec![RamUse { structure: "slc_cache", bytes, memory: Memory::Dram }]
}

impl Slc {
    /// Nothing in it; no block of it is known to be erased yet.
    pub(super) fn new(config: &SharedSettings, nand: &Nand) -> Option<Self> {
        let SlcSettings { static_blocks, dynamic_share, path, full, .. } = config.slc;
        if !config.slc.is_on() {
            return None;
        }
        let plane = |plane: u32| {
            let plane = PlaneId(plane);
            let blocks = nand.geometry().blocks_of(plane);
            let bad = nand.factory_bad_in(plane);
            let good = blocks.clone().filter(|&block| !bad.contains(&BlockId(block)));
            let last = good.take(static_blocks as usize).last();
            PlaneCache {
                static_end: last.map_or(blocks.start, |last| last + 1),
                static_blocks,
                static_free: VecDeque::with_capacity(static_blocks as usize),
                closed: VecDeque::with_capacity(blocks.len()),
                dynamic: 0,
                dead: 0,
                begun: None,
            }
        };
        Some(Slc {
            planes: (0..nand.geometry().planes()).map(plane).collect(),
            pages: nand.geometry().slc_pages(),
            share: in_parts(dynamic_share),
            most_pages: if path == SlcPath::Small { config.slc.small_pages } else { u32::MAX },
            fold_high: (full == SlcFull::FoldFirst).then_some(in_parts(config.slc.fold_high)),
            fold_low: in_parts(config.slc.fold_low),
            victim: config.slc.victim,
        })
    }

    /// Whether a block is static.
    pub(super) fn is_static(&self, block: BlockId, plane: PlaneId) -> bool {
        block.0 < self.planes[plane.index()].static_end
    }
}

impl PageSpace {
    /// On an erased device: static blocks are no free ones, and those that are good are erased.
    pub(super) fn set_static_blocks_aside(&mut self, nand: &Nand) {
        let Some(slc) = &mut self.slc else { return };
        for (index, cache) in slc.planes.iter_mut().enumerate() {
            let plane = PlaneId(index as u32);
            let blocks = nand.geometry().blocks_of(plane).start..cache.static_end;
            let good = blocks.map(BlockId).filter(|&block| !nand.state().block(block).retired);
            cache.static_free.extend(good);
            self.planes[index].free.untouched_from(nand, plane, cache.static_end);
        }
    }

    /// Blocks of a plane that hold nothing but the cache.
    pub(super) fn static_blocks(&self, plane: PlaneId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.planes[plane.index()].static_blocks)
    }

    /// Erased ones among them.
    pub(super) fn free_static_blocks(&self, plane: PlaneId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.planes[plane.index()].static_free.len() as u32)
    }

    /// Whether a block in use is one of the cache.
    #[inline]
    pub(super) fn is_cached(&self, block: BlockId) -> bool {
        self.stream_of[block.index()] == Stream::Slc.mark()
    }

    /// The frontier of a page that the host writes, where there is a cache.
    pub(super) fn cached_stream(&self, board: &mut Board, io: &PageIo) -> Stream {
        let Some(slc) = &self.slc else { return Stream::Data };
        if io.request.pages <= slc.most_pages {
            return Stream::Slc;
        }
        board.event(Event::SlcBypassedPages, 1);
        Stream::Data
    }

    /// Blocks from the free ones that the cache has in a plane.
    pub(super) fn lent_to_cache(&self, plane: PlaneId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.planes[plane.index()].dynamic)
    }

    /// Blocks from the free ones that the cache may have in a plane.
    fn dynamic_limit(&self, plane: PlaneId) -> u32 {
        let Some(slc) = &self.slc else { return 0 };
        let known = &self.planes[plane.index()];
        let free = known.free.len() + self.lent_to_cache(plane);
        part(free.saturating_sub(known.threshold + 1), slc.share)
    }

    /// Blocks that it may have, and those that it has.
    fn cache_blocks(&self, plane: PlaneId) -> (u32, u32) {
        let limit = self.static_blocks(plane) + self.dynamic_limit(plane);
        let open = self.planes[plane.index()].frontiers[Stream::Slc.index()].block.is_some();
        let closed = self.slc.as_ref().map_or(0, |slc| slc.planes[plane.index()].closed.len());
        (limit, closed as u32 + u32::from(open))
    }

    /// Says how large the cache is and how much of it is in use.
    pub(super) fn tell_cache(&self, board: &mut Board) {
        let Some(slc) = &self.slc else { return };
        let planes = (0..self.planes.len() as u32).map(PlaneId);
        let (mut size, mut used) = (0, 0);
        for (limit, blocks) in planes.map(|plane| self.cache_blocks(plane)) {
            size += u64::from(limit);
            used += u64::from(blocks);
        }
        board.level(Level::SlcSizePages, size * u64::from(slc.pages));
        board.level(Level::SlcUsedPages, used * u64::from(slc.pages));
    }

    /// The frontier that takes the next page of a request of so many pages in a plane.
    pub(super) fn next_host_stream(&self, plane: PlaneId, pages: u32) -> Stream {
        let Some(slc) = self.slc.as_ref().filter(|slc| pages <= slc.most_pages) else {
            return Stream::Data;
        };
        let has_room = self.has_page((plane, Stream::Slc)) || self.cache_can_open(plane);
        if slc.fold_high.is_some() || has_room { Stream::Slc } else { Stream::Data }
    }

    /// Pages of a block of a frontier.
    pub(super) fn pages_of(&self, stream: Stream) -> u32 {
        match (&self.slc, stream) {
            (Some(slc), Stream::Slc) => slc.pages,
            _ => self.pages_per_block,
        }
    }

    /// Whether another block can be opened for it.
    pub(super) fn cache_can_open(&self, plane: PlaneId) -> bool {
        let Some(slc) = &self.slc else { return false };
        let cache = &slc.planes[plane.index()];
        !cache.static_free.is_empty()
            || cache.dynamic < self.dynamic_limit(plane)
                && !self.planes[plane.index()].free.is_empty()
    }

    /// The open block of the cache takes no more pages.
    pub(super) fn close_cache(&mut self, nand: &Nand, plane: PlaneId) {
        let frontier = &mut self.planes[plane.index()].frontiers[Stream::Slc.index()];
        let (Some(slc), Some(block)) = (&mut self.slc, frontier.block.take()) else { return };
        let cache = &mut slc.planes[plane.index()];
        cache.closed.push_back(block);
        cache.dead += u32::from(nand.valid_pages(block) == 0);
    }

    /// Opens a block in SLC mode, one that is set aside first.
    fn open_cache(&mut self, board: &mut Board, plane: PlaneId) -> bool {
        if !self.cache_can_open(plane) {
            return false;
        }
        let Some(slc) = &mut self.slc else { return false };
        let cache = &mut slc.planes[plane.index()];
        let known = &mut self.planes[plane.index()];
        let block = match cache.static_free.pop_front() {
            Some(block) => block,
            None => {
                cache.dynamic += 1;
                known.free.take().expect("a block is free")
            }
        };
        board.nand_mut().choose_slc(block);
        self.stream_of[block.index()] = Stream::Slc.mark();
        known.frontiers[Stream::Slc.index()] = Frontier { block: Some(block), next: 0 };
        self.tell_cache(board);
        true
    }

    /// Programs a page of the host in the cache, or in a dense block where that has no room.
    #[cold]
    pub(super) fn write_cached(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        (io, kind, old): (&PageIo, PageKind, Option<Ppn>),
        after: When,
    ) -> Result<(Ppn, When), Fault> {
        let mut ready = after;
        while self.has_page((plane, Stream::Slc)) || self.reopen_cache(board, plane) {
            let frontier = &mut self.planes[plane.index()].frontiers[Stream::Slc.index()];
            let block = frontier.block.expect("it has a page left");
            let ppn = board.geometry().page(block, frontier.next);
            frontier.next += 1;
            match board.program_update(ppn, old, io, kind, ready) {
                Ok(done) => {
                    self.planes[plane.index()].valid += 1;
                    board.event(Event::SlcPages, 1);
                    return Ok((ppn, done));
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    board.event(Event::ProgramFailures, 1);
                    self.close_cache(board.nand(), plane);
                    ready = known;
                }
                Err(fault) => return Err(fault),
            }
        }
        board.event(Event::SlcFullPages, 1);
        self.program(board, (plane, Stream::Data), ready, |board, new, ready| {
            board.program_update(new, old, io, kind, ready)
        })
    }

    fn reopen_cache(&mut self, board: &mut Board, plane: PlaneId) -> bool {
        self.close_cache(board.nand(), plane);
        self.open_cache(board, plane)
    }

    /// A block lost its last valid page.
    #[cold]
    pub(super) fn note_dead(&mut self, block: BlockId, plane: PlaneId) {
        if !self.is_cached(block) {
            return;
        }
        let open = self.planes[plane.index()].frontiers[Stream::Slc.index()].block == Some(block);
        if let Some(slc) = &mut self.slc {
            slc.planes[plane.index()].dead += u32::from(!open);
        }
    }

    /// An erased block is free again, for what it was set aside for. Whether levelling is told of
    /// its erase: what is set aside wears by itself.
    pub(super) fn put_back(&mut self, nand: &Nand, block: BlockId, plane: PlaneId) -> bool {
        if let Some(slc) = &mut self.slc
            && slc.is_static(block, plane)
        {
            slc.planes[plane.index()].static_free.push_back(block);
            return false;
        }
        self.planes[plane.index()].free.put(nand, block);
        true
    }

    /// A block is out of use.
    pub(super) fn note_retired(&mut self, block: BlockId, plane: PlaneId) {
        self.planes[plane.index()].retired += 1;
        if let Some(slc) = &mut self.slc
            && slc.is_static(block, plane)
        {
            slc.planes[plane.index()].static_blocks -= 1;
        }
    }

    /// The cache's lists say what the flash holds.
    pub(super) fn check_cache(&self, nand: &Nand) -> Result<(), String> {
        let Some(slc) = &self.slc else { return Ok(()) };
        for (plane, cache) in (0u32..).map(PlaneId).zip(&slc.planes) {
            let open = self.planes[plane.index()].frontiers[Stream::Slc.index()].block;
            let blocks = || cache.closed.iter().copied().chain(open);
            let dynamic = blocks().filter(|&block| !slc.is_static(block, plane)).count() as u32;
            let dead = cache.closed.iter().filter(|&&block| nand.valid_pages(block) == 0).count();
            let marked = nand.geometry().blocks_of(plane).map(BlockId);
            let marked = marked.filter(|&block| self.is_cached(block)).count();
            if dynamic != cache.dynamic
                || dead as u32 != cache.dead
                || marked != blocks().count()
                || blocks().any(|block| !self.is_cached(block))
            {
                return Err(format!(
                    "the SLC cache of plane {} counts {} blocks, {} of them dynamic and {} dead, \
                     where {marked}, {dynamic} and {dead} are",
                    plane.index(),
                    blocks().count(),
                    cache.dynamic,
                    cache.dead
                ));
            }
        }
        Ok(())
    }
}
