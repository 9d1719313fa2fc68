//! Blocks of a page-mapped scheme: per plane a free pool, write frontiers, victims and their
//! collection.
//!
//! The owner of the map is told (logical, old, new) of every page that collection moves and
//! updates its map in its own words. Collection never calls itself: what the owner writes before
//! the victim is erased comes out of the reserve that the threshold keeps.
//!
//! A frontier's full block becomes a candidate when the next block is opened. Where collection is
//! due it runs at that moment, before the next block is taken: the rule of FlashSim
//! (`docs/papers/others.md#ideal-page`).

mod candidates;
mod collect;
mod companions;
mod frontier;
mod garbage_share;
mod group_lines;
mod idle;
mod level;
mod lines;
mod map_room;
mod moving;
mod owner;
mod placing;
mod plane;
mod queues;
mod recovery;
mod refresh;
pub mod settings;
pub mod slc;
mod sorted;
mod stream;
#[cfg(test)]
mod tests;
mod threshold;
mod withheld;
mod zones;

pub use group_lines::{GroupRules, ram_use as groups_ram};
pub use lines::ram_use as lines_ram;
pub use owner::{Moved, Newer, PageOwner};
pub use placing::{Place, ram_use as placement_ram};
pub use refresh::ram_use as refresh_ram;
pub use settings::Threshold;
pub use slc::ram_use as slc_ram;
pub use stream::Stream;

use crate::parts::free_pool::FreePool;
use crate::parts::page_space::placing::Placing;
use crate::parts::page_space::plane::{Frontier, Plane};
use crate::parts::page_space::settings::{GcMode, GcUnit, ThresholdMode};
use crate::parts::placement::PlacementKind;
use crate::parts::wear::{FreeRule, Levelling};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::PlacementOrder;
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::settings::WearPolicy;
use ftlab_flash::board::when::When;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, zeroed};

/// The blocks of a page-mapped scheme.
#[derive(Clone, Debug)]
pub struct PageSpace {
    planes: Vec<Plane>,
    /// Stream of each block plus one; 0 for a block that is not in use.
    stream_of: Vec<u8>,
    order: PlacementOrder,
    mode: GcMode,
    moved_data: Stream,
    /// Who decides where data goes; none: the host's to its frontier, moved data as said above.
    placing: Option<Box<Placing>>,
    /// Full blocks of a policy's groups but the last.
    queues: Option<Box<queues::Queues>>,
    threshold: (u32, u32),
    adaptive: bool,
    /// Share of garbage above which a write collects, in parts per million.
    garbage_share: Option<u64>,
    emergency: u32,
    idle_factor: u32,
    /// Pages that an idle step moves.
    idle_pages: u32,
    /// Most valid pages of a victim that a gap collects.
    idle_valid: u32,
    /// The victim that idle steps have begun.
    paused: Option<idle::Paused>,
    /// Planes where levelling is asked for after a victim that was collected in pieces.
    level_due: Vec<bool>,
    /// Planes of a die collect together.
    by_die: bool,
    idle_turn: u32,
    /// Where there are lines: pages of data of a line.
    pages_per_block: u32,
    /// Pages of a frontier that follow one another in a block: all, or none where there are lines.
    pages_in_a_row: u32,
    /// Pages of a frontier that the host may write the short way: all, or none where a policy hears
    /// where they are put.
    short_pages: u32,
    /// Where there are lines: all of them.
    blocks_per_plane: u32,
    rng: Rng,
    /// The data block that is being collected: no candidate, not free yet.
    collecting: Option<BlockId>,
    /// Closed blocks that levelling may move.
    levelling: Option<Levelling>,
    /// What the block that takes levelled pages will hold.
    levelled: Stream,
    /// Moved data takes worn blocks.
    dynamic: bool,
    /// Pages are being moved out of a victim just now.
    moving: bool,
    /// The owner wrote something before the victim is erased.
    wrote_for_erase: bool,
    /// Pages may be passed over for copies to stay in their plane; how many more of this victim's.
    skips: Option<u32>,
    /// Blocks that are used with one bit a cell.
    slc: Option<Box<slc::Slc>>,
    /// Closed data blocks that are no candidates yet; none for most schemes.
    withheld: Option<withheld::Withheld>,
    /// Blocks of all planes that are filled and collected as one.
    lines: Option<Box<lines::Lines>>,
    /// Where the host has the map, and lines are its zones.
    zones: Option<Box<zones::Zones>>,
    /// Groups of pages with lines of their own.
    groups: Option<Box<group_lines::GroupLines>>,
    /// Whether somebody hears of every page that is superseded.
    hears_of_losses: bool,
    /// Victims reclaimed since the device was started.
    reclaimed: u64,
    /// Pages that moved together last.
    movers: Vec<Mover>,
    /// Pages of a victim by logical number: number and page.
    by_number: Vec<(u32, u32)>,
    /// Pages of the last victim that were superseded without a mark.
    unwanted: Vec<Ppn>,
}

/// In the idle mode the foreground steps in with this few blocks left, whatever the threshold.
const EMERGENCY_BLOCKS: u32 = 3;

impl PageSpace {
    /// An erased device; `threshold` as resolved for the scheme.
    pub fn new(board: &Board, config: &SharedSettings, threshold: u32, seed: u64) -> Self {
        let mut space = PageSpace::without_blocks(board, config, threshold, seed);
        if let Some(lines) = &space.lines {
            space.planes[0].free = lines.untouched_pool(FreeRule::of(config));
            return space;
        }
        for (index, plane) in space.planes.iter_mut().enumerate() {
            let id = PlaneId(index as u32);
            plane.free = FreePool::untouched(board.nand(), id, FreeRule::of(config));
        }
        space.set_static_blocks_aside(board.nand());
        space
    }

    fn without_blocks(board: &Board, config: &SharedSettings, threshold: u32, seed: u64) -> Self {
        let nand = board.nand();
        let geometry = nand.geometry();
        let garbage_share = garbage_share::of(config);
        let divides = config.gc.placement != PlacementKind::None || config.slc.is_on();
        let lines = lines::Lines::new(config, nand);
        let looks_always = garbage_share.is_some() || divides || lines.is_some();
        let usable = if looks_always { 0 } else { geometry.pages_per_block };
        let pages = lines.as_ref().map_or(geometry.pages_per_block, |lines| lines.book.full());
        let planes = if lines.is_some() { 1 } else { geometry.planes() };
        let plane = |index: u32| Plane {
            threshold,
            usable,
            ..plane_without_blocks(nand, config, PlaneId(index), lines.as_deref())
        };
        PageSpace {
            planes: (0..planes).map(plane).collect(),
            stream_of: zeroed(geometry.blocks() as usize),
            order: config.alloc.order,
            mode: config.gc.mode,
            moved_data: if config.gc.separate_frontiers { Stream::MovedData } else { Stream::Data },
            placing: Placing::new(config, geometry, (seed, threshold)).map(Box::new),
            queues: queues::Queues::new(config, geometry).map(Box::new),
            threshold: (threshold, config.gc.threshold_max.max(threshold)),
            adaptive: config.gc.threshold_mode == ThresholdMode::Adaptive,
            garbage_share,
            emergency: EMERGENCY_BLOCKS + Threshold::failure_reserve(config),
            idle_factor: config.gc.idle_factor,
            idle_pages: match config.gc.idle_pages {
                0 => u32::MAX,
                pages => pages,
            },
            idle_valid: pages - (config.gc.least_invalid * f64::from(pages)).ceil() as u32,
            paused: None,
            level_due: vec![false; planes as usize],
            by_die: config.gc.unit == GcUnit::Die && geometry.planes_per_die > 1,
            idle_turn: 0,
            pages_per_block: pages,
            pages_in_a_row: if lines.is_some() { 0 } else { pages },
            short_pages: match config.gc.placement.hears_of_pages() || lines.is_some() {
                true => 0,
                false => geometry.pages_per_block,
            },
            blocks_per_plane: config.units(),
            rng: Rng::new(seed, Purpose::Victim),
            collecting: None,
            levelling: Levelling::new(config, nand, geometry.blocks_per_plane),
            levelled: Stream::Data,
            dynamic: config.wear.policy == WearPolicy::Dynamic,
            moving: false,
            wrote_for_erase: false,
            skips: config.gc.skip_for_parity.then_some(0),
            slc: slc::Slc::new(config, nand).map(Box::new),
            withheld: None,
            hears_of_losses: lines.is_some(),
            lines,
            zones: zones::Zones::new(config).map(Box::new),
            groups: None,
            reclaimed: 0,
            movers: Vec::with_capacity(geometry.pages_per_block as usize),
            by_number: Vec::with_capacity(geometry.pages_per_block as usize),
            unwanted: Vec::with_capacity(geometry.pages_per_block as usize),
        }
    }

    /// Blocks per plane that a scheme needs beside its data: reserve, open blocks, one spare.
    pub fn reserve(threshold: u32, streams: u32) -> u32 {
        settings::reserve(threshold, streams)
    }

    /// The plane that takes a host page.
    #[inline(always)]
    pub fn place(&self, nand: &Nand, lpn: Lpn) -> PlaneId {
        if self.planes.len() == 1 {
            return PlaneId(0);
        }
        if self.order != PlacementOrder::Dynamic {
            return nand.geometry().static_plane(self.order, lpn.0);
        }
        self.place_anywhere(nand)
    }

    /// The plane that takes a page which may go to any: among planes that are free at the same time
    /// the emptiest takes it, so that no plane fills up with valid pages while others have room.
    pub fn place_anywhere(&self, nand: &Nand) -> PlaneId {
        let most = self.data_blocks();
        let key = |plane: &PlaneId| {
            let valid = self.planes[plane.index()].valid;
            (self.has_share(*plane, most), nand.plane_free_from(*plane), valid)
        };
        let best = (0..self.planes.len() as u32).map(PlaneId).min_by_key(key);
        best.expect("a device has a plane")
    }

    /// Whether a plane has as many valid pages as its share of the device's data.
    pub fn is_full(&self, plane: PlaneId) -> bool {
        self.has_share(plane, self.data_blocks())
    }

    /// Most blocks of a plane that valid data takes.
    fn data_blocks(&self) -> u32 {
        let open = self.data_streams().count() as u32;
        self.blocks_per_plane - Self::reserve(self.threshold.0, open)
    }

    /// Whether valid pages fill so many of a plane's blocks.
    fn has_share(&self, plane: PlaneId, most: u32) -> bool {
        let other = self.planes[plane.index()].retired + self.static_blocks(plane);
        let full = most.saturating_sub(other) * self.pages_per_block;
        self.planes[plane.index()].valid >= full
    }

    /// The plane that takes a map page, a checkpoint page or a record: by its number, whatever the
    /// order of host pages, so that no plane holds more of them than its share.
    #[inline]
    pub fn home(&self, nand: &Nand, part: u32) -> PlaneId {
        if self.planes.len() == 1 {
            return PlaneId(0);
        }
        nand.geometry().home_plane(Lpn(part))
    }

    /// The plane that takes a map page in the middle of a collection, when room cannot be made: its
    /// home, where the old page dies, so that no plane gathers the map pages of others; while the
    /// home is down to its last block, the plane with most free blocks.
    #[inline]
    pub fn home_or_roomiest(&self, nand: &Nand, part: u32) -> PlaneId {
        match self.planes.len() {
            1 => PlaneId(0),
            _ => self.home_or_roomiest_of(nand, part),
        }
    }

    fn home_or_roomiest_of(&self, nand: &Nand, part: u32) -> PlaneId {
        let room = |plane: &Plane| {
            let frontier = plane.frontiers[Stream::Map.index()];
            let has_page = frontier.block.is_some() && frontier.next < self.pages_per_block;
            if has_page { u32::MAX } else { plane.free.len() }
        };
        let home = self.home(nand, part);
        if room(&self.planes[home.index()]) > 1 {
            return home;
        }
        let roomiest = (0..self.planes.len()).max_by_key(|&index| room(&self.planes[index]));
        PlaneId(roomiest.expect("a device has a plane") as u32)
    }

    /// Marks a page as superseded.
    #[inline(always)]
    pub fn invalidate(&mut self, board: &mut Board, ppn: Ppn) {
        let lost = board.nand_mut().supersede(ppn);
        self.note_lost(board.nand(), lost);
    }

    /// A page became invalid inside the gate (a payload page that was replaced or copied).
    #[inline]
    pub fn note_invalid(&mut self, nand: &Nand, ppn: Ppn) {
        let block = nand.geometry().block_of(ppn);
        self.note_lost(nand, (block, nand.valid_pages(block)));
    }

    /// A block lost a page and keeps so many.
    #[inline(always)]
    fn note_lost(&mut self, nand: &Nand, (block, valid): (BlockId, u32)) {
        if self.hears_of_losses && self.lines.is_some() {
            return self.lost_in_line(block);
        }
        let plane = nand.geometry().plane_of_block(block);
        if self.hears_of_losses {
            self.note_unused(block, plane);
        }
        if valid == 0 {
            self.note_dead(block, plane);
        }
        let plane = &mut self.planes[plane.index()];
        plane.valid -= 1;
        plane.victims.invalidated(block, valid);
    }

    /// Looks at what changes when a page dies, here and on flash, so that it is at hand. What is
    /// seen means nothing.
    #[inline(always)]
    pub fn glance_at(&self, nand: &Nand, ppn: Ppn) -> u32 {
        let (block, seen) = nand.state().glance_at(ppn);
        if self.lines.is_some() {
            return seen;
        }
        let plane = nand.geometry().plane_of_block(block);
        seen ^ self.planes[plane.index()].victims.glance_at(block)
    }

    /// Makes sure that `stream` has a page to write in `plane`, collecting garbage first where it
    /// is due. Writes start from the returned moment.
    #[inline(always)]
    pub fn make_room<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, stream): (PlaneId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        match self.has_room((plane, stream)) {
            true => Ok(after),
            false => self.make_room_behind_frontier(board, owner, (plane, stream), after),
        }
    }

    /// Whether `stream` has a page to write in `plane` as it is: [`PageSpace::make_room`] would do
    /// nothing.
    #[inline(always)]
    pub fn has_room(&self, (plane, stream): (PlaneId, Stream)) -> bool {
        let known = &self.planes[plane.index()];
        let frontier = &known.frontiers[stream as usize];
        frontier.block.is_some() && frontier.next < known.usable
    }

    #[cold]
    fn make_room_behind_frontier<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, stream): (PlaneId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        if stream == Stream::Slc {
            return self.make_room_in_cache(board, owner, plane, after);
        }
        let after = self.repair(board, owner, after)?;
        let after = self.regroup(board, after)?;
        let after = self.collect_share(board, owner, (plane, stream), after)?;
        let usable = self.usable();
        let known = &mut self.planes[plane.index()];
        let frontier = &known.frontiers[stream.index()];
        known.usable = usable;
        let collects_first = std::mem::take(&mut known.collects_first);
        if frontier.block.is_some() && frontier.next == self.pages_per_block {
            self.close(board.nand(), plane, stream);
        }
        if !collects_first && self.needs_no_block((plane, stream)) {
            return Ok(after);
        }
        if self.groups.is_some() {
            return self.make_group_room(board, owner, (stream, collects_first), after);
        }
        self.collect_if_short(board, owner, plane, after)
    }

    /// Collects until a plane has the free blocks that it is to have.
    fn collect_if_short<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let limit = self.collection_limit(plane);
        match self.planes[plane.index()].free.len() < limit {
            true => self.collect_until(board, owner, plane, limit, after),
            false => Ok(after),
        }
    }

    /// Every block of a plane is free, open, full or retired, and valid pages are counted right.
    pub fn self_check(&self, board: &Board) -> Result<(), String> {
        self.check_lines(board.nand())?;
        self.check_groups(board.nand())?;
        for (index, plane) in self.planes.iter().enumerate().filter(|_| self.lines.is_none()) {
            let (mut used, mut retired, mut valid) = (0, 0, 0);
            for block in board.geometry().blocks_of(PlaneId(index as u32)).map(BlockId) {
                let known = board.nand().state().block(block);
                retired += u32::from(known.retired);
                used += u32::from(self.stream_of[block.index()] != 0);
                valid += known.valid;
            }
            let free = plane.free.len() + self.free_static_blocks(PlaneId(index as u32));
            let all = free + used + retired;
            if all != self.blocks_per_plane || retired != plane.retired || valid != plane.valid {
                return Err(format!(
                    "plane {index} has {free} free, {used} used and {retired} retired of {} blocks, \
                     and counts {} valid pages where {valid} are",
                    self.blocks_per_plane, plane.valid
                ));
            }
        }
        self.check_cache(board.nand())?;
        self.check_placing(board.nand())?;
        self.check_withheld(board.nand())
    }

    /// A plane has no block left; whoever asked says since when that is known.
    #[cold]
    fn out_of_blocks(&self, board: &Board, plane: PlaneId) -> Fault {
        if board.nand().retired_since() > 0 {
            return Fault::WornOut { retired_blocks: board.nand().retired_blocks(), known: 0 };
        }
        let plane = &self.planes[plane.index()];
        let open = plane.frontiers.iter().filter(|f| f.block.is_some()).count() as u32;
        Fault::DeviceFull {
            free_blocks: plane.free.len(),
            candidates: self.blocks_per_plane - plane.retired - plane.free.len() - open,
            known: 0,
        }
    }

    /// Victims reclaimed since the device was started.
    #[inline]
    pub fn reclaimed_blocks(&self) -> u64 {
        self.reclaimed
    }

    /// The data block that is being emptied, while its owner finishes.
    pub fn collecting(&self) -> Option<BlockId> {
        self.collecting
    }

    /// Blocks that a stream has open, for checkpoints.
    pub fn open_blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        let open = self.planes.iter().flat_map(|plane| plane.frontiers.iter());
        open.filter_map(|frontier| frontier.block).flat_map(|block| self.blocks_of_unit(block))
    }
}

/// A plane, or the one of all lines, of which no block or line is free yet.
fn plane_without_blocks(
    nand: &Nand,
    config: &SharedSettings,
    plane: PlaneId,
    lines: Option<&lines::Lines>,
) -> Plane {
    let rule = FreeRule::of(config);
    let blocks = lines.map_or(nand.geometry().blocks_of(plane), |lines| 0..lines.book.lines());
    let (free, retired, pages) = match lines {
        None => (
            FreePool::empty(nand, plane, rule),
            nand.factory_bad_in(plane).len() as u32,
            nand.geometry().pages_per_block,
        ),
        Some(lines) => (lines.empty_pool(rule), lines.useless(), lines.book.full()),
    };
    Plane::new(free, config.victims(plane, blocks, pages), retired)
}
