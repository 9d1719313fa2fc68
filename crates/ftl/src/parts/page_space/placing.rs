//! Classes of data: whom a placement policy is asked about, what is remembered for it, and where a
//! page goes whose class has no block.
//!
//! The clock is the number of host pages written. A class takes a free block when it is first
//! written. Down to the last free block, which a collection may need for map pages, a class without
//! room takes a page of the nearest class that has some: collection needs no more free blocks than
//! with one class, since every page of an open block is there for all. After a power cut nobody
//! knows what a block held: it counts as of class 1 (a hint's: of the first handle), and the clock
//! begins anew.

mod groups;
#[cfg(test)]
mod tests;

use super::{PageSpace, Stream};
use crate::parts::alloc::AllocUnit;
use crate::parts::placement::{
    Goes, HostWrite, MovedPage, Placement, PlacementContext, PlacementKind, Times, Victim,
};
use crate::parts::victim::{Census, Heat, Heats, VictimKind};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, zeroed};

/// A plane, and the frontier in it that takes a page.
pub type Place = (PlaneId, Stream);

/// Free blocks down to which a class may take one for itself.
const KEPT_BLOCKS: u32 = 1;

/// A placement policy at work.
#[derive(Clone, Debug)]
pub(super) struct Placing {
    policy: Placement,
    /// Whether the policy hears which block a page was programmed to.
    hears_of_pages: bool,
    classes: u8,
    /// Which class a block counts as that was found after a power cut.
    found: u8,
    /// Handles that a hint may name, where hints decide.
    handles: Option<u8>,
    /// Host pages written.
    clock: u64,
    /// A bit for each logical page that is written and not trimmed: what tells an update from a
    /// first write, also where the map has not been looked up. The map says the same, so that no
    /// memory is charged for it.
    lives: Vec<u64>,
    /// How many.
    living: u64,
    /// Clock of each page's last write plus one, in 32 bits: ages are below 2^32. 0: unknown.
    written: Option<Vec<u32>>,
    /// Clock at which each block was opened plus one; 0: before a power cut.
    created: Vec<u64>,
    /// Clock at which each block was full plus one, where `gc.victim` goes by that; 0: before a
    /// power cut.
    filled: Option<Vec<u64>>,
}

/// Whether somebody asks when blocks were full.
fn asks_when_filled(config: &SharedSettings) -> bool {
    config.gc.victim == VictimKind::CostBenefitHost
}

pub(super) fn context<'a>(
    config: &'a SharedSettings,
    geometry: &Geometry,
    (seed, kept_free): (u64, u32),
) -> PlacementContext<'a> {
    let (unit_pages, segment_units) = match config.alloc.unit {
        AllocUnit::Plane => (geometry.pages_per_block, geometry.planes()),
        AllocUnit::Line => (config.full_line(), 1),
    };
    let whole = geometry.pages_per_block * geometry.planes();
    PlacementContext {
        settings: &config.placement,
        midas: &config.midas,
        unit_pages,
        segment_units,
        segments: config.units(),
        kept_free,
        classes: config.data_classes(),
        logical_pages: geometry.logical_pages,
        blocks: geometry.blocks(),
        segment_pages: config.zones.as_ref().map_or(whole, |zones| zones.pages(geometry)),
        page_bytes: config.device.unit_bytes(),
        seed,
        future: config.future.as_ref(),
        own: config.own.placement.as_ref(),
    }
}

/// Bytes by structure of the placement policy in force.
pub fn ram_use(config: &SharedSettings) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let kind = config.gc.placement;
    let times = 4 * u64::from(geometry.logical_pages);
    let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
    let has_table = config.keeps_times();
    let found = [
        entry("placement_policy", kind.ram_bytes(&context(config, &geometry, (0, 0)))),
        entry("placement_times", if has_table { times } else { 0 }),
        entry("placement_blocks", block_bytes(config, u64::from(geometry.blocks()))),
    ];
    found.into_iter().filter(|entry| entry.bytes > 0).collect()
}

/// Bytes for the class of every block, for the time when it was opened where the policy asks
/// for that, and for the time when it was full where the choice of victims does; what counts alone
/// need is no part of a drive.
fn block_bytes(config: &SharedSettings, blocks: u64) -> u64 {
    let bits = u64::from(config.data_classes().next_power_of_two().trailing_zeros());
    let opened = config.gc.placement.asks_when_opened(&config.placement);
    let times = u64::from(opened) + u64::from(asks_when_filled(config));
    (bits * blocks).div_ceil(8) + times * 4 * blocks
}

impl Heats for Placing {
    fn heat(&self, candidate: BlockId) -> Heat {
        self.policy.heat(candidate, self.clock).unwrap_or(Heat::UNKNOWN)
    }

    fn host_age(&self, candidate: BlockId) -> u64 {
        let filled = self.filled.as_ref().map_or(0, |filled| filled[candidate.index()]);
        (self.clock + 1).saturating_sub(filled)
    }
}

impl Placing {
    /// The policy in force, which has seen nothing.
    pub(super) fn new(
        config: &SharedSettings,
        geometry: &Geometry,
        seed_and_kept: (u64, u32),
    ) -> Option<Self> {
        let context = context(config, geometry, seed_and_kept);
        let kind = config.gc.placement;
        let policy = Placement::new(kind, &context)?;
        let times = kind.times(&config.placement) != Times::Never;
        Some(Placing {
            policy,
            hears_of_pages: kind.hears_of_pages(),
            classes: context.classes,
            found: kind.found_class().min(context.classes - 1),
            handles: (kind == PlacementKind::Hint).then_some(config.placement.handles as u8),
            clock: 0,
            lives: zeroed(geometry.logical_pages.div_ceil(u64::BITS) as usize),
            living: 0,
            written: times.then(|| zeroed(geometry.logical_pages as usize)),
            created: zeroed(geometry.blocks() as usize),
            filled: asks_when_filled(config).then(|| zeroed(geometry.blocks() as usize)),
        })
    }

    /// Time since a page was written last.
    fn age(&self, lpn: Lpn) -> Option<u64> {
        let stored = self.written.as_ref()?[lpn.index()];
        (stored > 0).then(|| u64::from((self.clock as u32).wrapping_sub(stored - 1)))
    }

    /// Notes that a page has a version, and says whether it had one.
    fn revive(&mut self, lpn: Lpn) -> bool {
        let (word, bit) = (lpn.index() / 64, 1 << (lpn.index() % 64));
        let lived = self.lives[word] & bit != 0;
        self.lives[word] |= bit;
        self.living += u64::from(!lived);
        lived
    }

    /// The class of the next page that the host writes, which is written then.
    fn host(&mut self, io: &PageIo) -> u8 {
        let living = self.living;
        let is_update = self.revive(io.lpn);
        let class = self.policy.host(&HostWrite {
            lpn: io.lpn,
            now: self.clock,
            is_update,
            age: if is_update { self.age(io.lpn) } else { None },
            living,
            request: io.request,
        });
        debug_assert!(class < self.classes, "class {class} of {}", self.classes);
        if let Some(written) = &mut self.written {
            // 0 stands for unknown: once in 2^32 writes an age is one too small.
            written[io.lpn.index()] = (self.clock as u32).wrapping_add(1).max(1);
        }
        self.clock += 1;
        class
    }

    fn victim(&self, known: &Census<'_>, (block, valid): (BlockId, u32), class: u8) -> Victim {
        Victim {
            block: block.0,
            class,
            created: self.created[block.index()].checked_sub(1),
            now: self.clock,
            pages_per_block: known.pages(),
            valid,
            erases: known.erases(block),
            age: known.age(block),
            is_refreshed: false,
        }
    }

    fn moved(&mut self, lpn: Lpn, from: u8) -> u8 {
        let (now, age) = (self.clock, self.age(lpn));
        self.policy.moved(&MovedPage { lpn, from, now, age })
    }
}

impl PageSpace {
    /// The frontier that takes a page which the host writes next.
    #[inline(always)]
    pub fn host_stream(&mut self, board: &mut Board, io: &PageIo) -> Stream {
        if self.placing.is_none() {
            return self.cached_stream(board, io);
        }
        self.host_class(board, io)
    }

    #[cold]
    fn host_class(&mut self, board: &mut Board, io: &PageIo) -> Stream {
        let placing = self.placing.as_mut().expect("the caller looked");
        let class = placing.host(io);
        if let Some(handles) = placing.handles {
            match io.request.hint {
                None => board.event(Event::PagesWithoutHint, 1),
                Some(hint) if hint >= handles => board.event(Event::PagesBeyondHandles, 1),
                Some(_) => {}
            }
        }
        board.class_written(class);
        Stream::of_class(class)
    }

    /// Whether somebody hears which block a page of data was programmed to.
    #[inline(always)]
    pub(super) fn tells_of_pages(&self) -> bool {
        self.placing.as_ref().is_some_and(|placing| placing.hears_of_pages)
    }

    /// A page of the host, or one that was moved, is there now.
    #[cold]
    #[inline(never)]
    pub(super) fn note_placed(&mut self, nand: &Nand, lpn: Lpn, page: Ppn) {
        let block = self.unit_of(nand.geometry().block_of(page));
        if let Some(placing) = &mut self.placing {
            placing.policy.placed(lpn, block);
        }
    }

    /// The pages that moved together last are there now, from this one on.
    #[cold]
    #[inline(never)]
    pub(super) fn note_run_placed(&mut self, nand: &Nand, first: Ppn) {
        let Some(placing) = &mut self.placing else { return };
        for (page, mover) in (first.0..).map(Ppn).zip(&self.movers) {
            if mover.kind.is_host_data() {
                placing.policy.placed(Lpn(mover.logical), nand.geometry().block_of(page));
            }
        }
    }

    /// What came before was preparation.
    pub fn measuring_begins(&mut self, _: &mut Board) {
        if let Some(placing) = &mut self.placing {
            placing.policy.measuring_begins(placing.clock);
        }
    }

    /// A page is trimmed, of which there was a version.
    pub fn trimmed(&mut self, lpn: Lpn) {
        let Some(placing) = &mut self.placing else { return };
        let (word, bit) = (lpn.index() / 64, 1 << (lpn.index() % 64));
        placing.living -= u64::from(placing.lives[word] & bit != 0);
        placing.lives[word] &= !bit;
        if let Some(written) = &mut placing.written {
            written[lpn.index()] = 0;
        }
        placing.policy.trimmed(lpn);
    }

    /// Where the pages of a data block that is to be emptied go; none: each by itself.
    pub(super) fn data_goes(&mut self, nand: &Nand, victim: BlockId, why: Cause) -> Option<Stream> {
        let class = self.class_of(victim);
        let valid = self.valid_in(nand, victim);
        let census = Census::new(nand, self.lines.as_ref().map(|lines| &lines.book));
        let Some(placing) = &mut self.placing else { return Some(self.moved_data) };
        let is_refreshed = why == Cause::Refresh;
        let victim = Victim { is_refreshed, ..placing.victim(&census, (victim, valid), class) };
        match placing.policy.victim(&victim) {
            Goes::Whole(class) => Some(Stream::of_class(class)),
            Goes::PageByPage => None,
        }
    }

    /// The class of a block of data.
    pub(super) fn class_of(&self, block: BlockId) -> u8 {
        Stream::class_of_mark(self.stream_of[block.index()]).unwrap_or(0)
    }

    /// What the block takes that levelling moves a block of data to: pages keep their class.
    pub(super) fn levelled_data(&self, victim: BlockId) -> Stream {
        match self.placing {
            Some(_) => Stream::of_class(self.class_of(victim)),
            None => self.moved_data,
        }
    }

    /// Where one page goes that moves by itself.
    pub(super) fn moved_stream(&mut self, victim: BlockId, lpn: Lpn) -> Stream {
        let from = self.class_of(victim);
        let placing = self.placing.as_mut().expect("pages are asked about one by one");
        Stream::of_class(placing.moved(lpn, from))
    }

    /// Pages were moved to a class.
    pub(super) fn count_moved(&self, board: &mut Board, stream: Stream, pages: u32) {
        if let (Some(_), Some(class)) = (&self.placing, stream.class()) {
            board.class_moved(class, pages);
        }
    }

    /// A block takes no more pages.
    pub(super) fn note_closed(&mut self, block: BlockId) {
        if let Some(placing) = &mut self.placing {
            if let Some(filled) = &mut placing.filled {
                filled[block.index()] = placing.clock + 1;
            }
            placing.policy.closed(block);
        }
    }

    /// A block was opened.
    pub(super) fn note_opened(&mut self, block: BlockId) {
        let class = Stream::class_of_mark(self.stream_of[block.index()]);
        if let Some(placing) = &mut self.placing {
            placing.created[block.index()] = placing.clock + 1;
            if let Some(class) = class {
                placing.policy.opened(block, class);
            }
        }
    }

    /// What levelling moves to another block has been in one since that was opened.
    pub(super) fn note_levelled(&mut self, from: BlockId, to: BlockId) {
        if let Some(placing) = &mut self.placing {
            placing.created[to.index()] = placing.created[from.index()];
            placing.policy.inherits(from, to);
        }
    }

    /// A block is to be erased: it holds nothing any more.
    pub(super) fn note_released(&mut self, block: BlockId) {
        if let Some(placing) = &mut self.placing {
            placing.policy.released(block);
        }
    }

    /// A block of data is empty, from which so many pages were moved; before its erase.
    pub(super) fn note_collected(&mut self, board: &mut Board, block: BlockId, copied: u32) {
        let class = self.class_of(block);
        let census = Census::new(board.nand(), self.lines.as_ref().map(|lines| &lines.book));
        let Some(placing) = &mut self.placing else { return };
        let victim = placing.victim(&census, (block, copied), class);
        placing.policy.collected(&victim);
        let lifespan = victim.created.map(|created| victim.now - created);
        board.class_victim(class, (copied, victim.pages_per_block), lifespan);
        if let Some(lifespan) = placing.policy.lifespan() {
            board.level(Level::PlacementLifespan, lifespan);
        }
        if let Some(entries) = placing.policy.window(placing.clock) {
            board.level(Level::PlacementWindow, entries);
        }
    }

    /// The frontier that gives a class its next page: its own, unless it has no room and free
    /// blocks are few.
    pub(super) fn lender(&self, board: &mut Board, (plane, stream): Place) -> Stream {
        let (Some(placing), Some(class)) = (&self.placing, stream.class()) else { return stream };
        let known = &self.planes[plane.index()];
        let has_room = |stream: Stream| {
            let frontier = known.frontiers[stream.index()];
            frontier.block.is_some() && frontier.next < self.pages_per_block
        };
        if has_room(stream) || known.free.len() > KEPT_BLOCKS {
            return stream;
        }
        let nearest = (0..placing.classes)
            .filter(|&other| has_room(Stream::of_class(other)))
            .min_by_key(|other| other.abs_diff(class));
        let Some(nearest) = nearest else { return stream };
        board.event(Event::ClassesBorrowed, 1);
        Stream::of_class(nearest)
    }

    /// Free blocks that moved pages need where classes lend each other what their open blocks have
    /// left; none: no policy divides data.
    fn blocks_with_loans(&self, plane: PlaneId, pages: u32) -> Option<u32> {
        let classes = self.placing.as_ref()?.classes;
        let left = |class: u8| self.left_open((plane, Stream::of_class(class)));
        let room = (0..classes).map(left).sum();
        Some(self.units_for(pages.saturating_sub(room)))
    }

    /// Free blocks that so many moved pages of data take.
    pub(super) fn opens_moved(&self, plane: PlaneId, pages: u32) -> u32 {
        let lent = self.blocks_with_loans(plane, pages);
        lent.unwrap_or_else(|| self.opens((plane, self.moved_data), pages))
    }

    /// Every class of data, or the two streams of every space.
    pub(super) fn data_streams(&self) -> impl Iterator<Item = Stream> + use<> {
        let classes = self.placing.as_ref().map_or(2, |placing| placing.classes.max(2));
        (0..classes).map(Stream::of_class)
    }

    /// What a block of `stream` counts as that was found after a power cut. Where one can be
    /// written on, a stream of data without a block goes on with it: that of the class that it
    /// counts as, or else the first.
    pub(super) fn found_stream(&self, plane: PlaneId, stream: Stream, open: bool) -> Stream {
        let frontiers = &self.planes[plane.index()].frontiers;
        let lacks_block = |stream: &Stream| frontiers[stream.index()].block.is_none();
        match &self.placing {
            _ if stream != Stream::Data => stream,
            None if open && self.has_raw_zones() => self.free_classes().next().unwrap_or(stream),
            None if open && !lacks_block(&stream) => self.moved_data,
            None => stream,
            Some(placing) => {
                let found = Stream::of_class(placing.found);
                let others = (0..placing.classes).map(Stream::of_class);
                let mut all = std::iter::once(found).chain(others);
                all.find(|stream| open && lacks_block(stream)).unwrap_or(found)
            }
        }
    }

    /// Whether the policy counts what is on flash.
    pub(super) fn check_placing(&self, nand: &Nand) -> Result<(), String> {
        self.check_queues()?;
        self.placing
            .as_ref()
            .map_or(Ok(()), |placing| placing.policy.check(&self.census(nand), placing.living))
    }

    /// What the policy knew is lost with the power.
    pub(super) fn placing_recovers(&mut self, board: &mut Board) {
        if let Some(placing) = &mut self.placing {
            placing.policy.recovers();
            placing.tell_groups(board);
        }
    }

    /// A block of host data was found after a power cut.
    pub(super) fn note_found(&mut self, nand: &Nand, block: BlockId) {
        let Some(placing) = &mut self.placing else { return };
        let geometry = nand.geometry();
        let pages = (0..geometry.pages_per_block).map(|offset| geometry.page(block, offset));
        for page in pages.filter(|&page| nand.state().is_valid(page)) {
            if let OobRead::Written(oob) = nand.state().oob(page) {
                let _ = placing.revive(Lpn(oob.logical));
            }
        }
    }
}
