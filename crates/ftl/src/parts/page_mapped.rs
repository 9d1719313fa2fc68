//! Page-mapped data whose whole map memory holds: blocks, map and recovery of schemes that differ
//! in the memory that their table lies in, and in nothing that the flash could see.
//!
//! A scheme keeps the table in its own words ([`PageTable`]) and says what looking into it costs;
//! here a page is written, trimmed, moved and found again after a power cut.
//!
//! What this is not: a map on flash. That is [`crate::parts::demand_mapped`].

mod recovery;
#[cfg(test)]
mod tests;

pub use recovery::{Finder, Found};

use crate::answers::{Location, Room};
use crate::parts::alloc::AllocUnit;
use crate::parts::oob_scan::Extent;
use crate::parts::page_space::{self, Moved, PageOwner, PageSpace, Place, Stream, Threshold};
use crate::parts::trim_records::TrimRecords;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::Cause;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag, zeroed};

/// Free blocks per plane below which FlashSim's page FTL collects, and at which it stops.
pub const GC_LOW: u32 = 4;

/// Least threshold: the frontier's next block, and one that is being filled by copies.
const FLOOR: u32 = 2;

/// Where every logical page is.
pub trait PageTable {
    /// How the scheme writes its blocks, for those who read them after a power cut.
    const EXTENT: Extent = Extent::Ascending;
    /// Whether several logical pages may lie on one physical page.
    const SHARES: bool = false;

    /// Physical page of a logical one; costs nothing.
    fn entry(&self, lpn: Lpn) -> Option<Ppn>;
    /// Physical page that nobody has any more once a logical one has left it; costs nothing.
    #[inline(always)]
    fn left_alone(&self, lpn: Lpn) -> Option<Ppn> {
        self.entry(lpn)
    }
    /// The host wrote or trimmed a page, after the scheme looked it up.
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>);
    /// Whether pages of a victim that move now do so as soon as they can, and to note that takes no
    /// time.
    #[inline]
    fn moves_at_once(&self, _: &Board) -> bool {
        true
    }
    /// Collection moved a page of host data.
    fn moved(&mut self, board: &mut Board, page: Moved);
    /// Collection moved pages of host data at once, which lie from `first` on now.
    #[inline]
    fn run_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        for (new, mover) in (first.0..).map(Ppn).zip(moved) {
            self.moved(board, Moved::of(mover, new));
        }
    }
    /// When the next page of a victim may be moved that could be at `after`; whoever holds pages up
    /// says so in [`PageTable::moves_at_once`], too.
    fn may_move(&self, after: When) -> When {
        after
    }
    /// The victim, or a piece of it, was moved; the erase follows the returned moment.
    fn settle(&mut self, board: &mut Board, after: When) -> When;
    /// Whether it writes trims down itself.
    const RECORDS_TRIMS: bool = false;
    /// Pages that [`PageTable::record`] writes, at most.
    const RECORDS: u32 = 0;
    /// Whether it has something to write before any data victim is erased, moved pages or not.
    fn is_unrecorded(&self) -> bool {
        false
    }
    /// Writes what must be on flash before a victim is erased, to the victim's plane.
    fn record(
        &mut self,
        _space: &mut PageSpace,
        _board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        Ok(after)
    }
    /// The kind and the number that the copy of a page gets, if it has another name than it had.
    fn new_name(&self, _old: Ppn, _name: (PageKind, u32)) -> Option<(PageKind, u32)> {
        None
    }
    /// Whether there may be such pages.
    fn renames(&self) -> bool {
        false
    }
    /// Collection moved a page of the table's own.
    fn record_moved(&mut self, page: Moved) {
        unreachable!("page {} holds a part of a table that writes none", page.old);
    }
}

/// Table and trims: the owner of every page in the space.
#[derive(Clone)]
pub struct PageMap<T> {
    /// Where every page is.
    pub table: T,
    trims: TrimRecords,
}

impl<T: PageTable> PageOwner for PageMap<T> {
    fn map_writes(&mut self, space: &PageSpace, board: &Board, victim: BlockId) -> u32 {
        // A victim that is dead already is erased at once, the others perhaps after more changes.
        let is_needed = space.valid_in(board.nand(), victim) > 0 || self.table.is_unrecorded();
        if is_needed { T::RECORDS } else { 0 }
    }

    fn most_map_writes(&self, _: &PageSpace, _victim: BlockId, _valid: u32) -> u32 {
        T::RECORDS
    }

    #[inline]
    fn moved(&mut self, board: &mut Board, page: Moved) {
        match page.kind {
            PageKind::TrimRecord => self.trims.moved(page.logical, page.new),
            PageKind::Checkpoint => self.table.record_moved(page),
            _ => self.table.moved(board, page),
        }
    }

    #[inline]
    fn run_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        self.table.run_moved(board, first, moved);
    }

    fn new_name(&self, old: Ppn, name: (PageKind, u32)) -> Option<(PageKind, u32)> {
        self.table.new_name(old, name)
    }

    #[inline]
    fn renames(&self) -> bool {
        self.table.renames()
    }

    #[inline]
    fn waits_for_every_erase(&self) -> bool {
        self.table.is_unrecorded()
    }

    fn at_once(&self, board: &Board) -> bool {
        self.table.moves_at_once(board)
    }

    #[inline]
    fn may_move(&self, after: When) -> When {
        self.table.may_move(after)
    }

    fn before_erase(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let settled = self.table.settle(board, after);
        self.table.record(space, board, settled)
    }
}

/// Page-mapped data whose whole map memory holds.
#[derive(Clone)]
pub struct PageMapped<T> {
    /// The blocks.
    pub space: PageSpace,
    /// The map.
    pub map: PageMap<T>,
    words: Vec<u32>,
}

/// Free blocks per plane below which collection starts: `gc.threshold`, else the scheme's `own`.
pub fn threshold(config: &SharedSettings, own: u32) -> u32 {
    Threshold::resolve(config, own, FLOOR)
}

/// Whether `gc.threshold` leaves enough.
pub fn check(config: &SharedSettings) -> Result<(), SettingError> {
    Threshold::check(config, FLOOR)
}

/// Physical blocks: data, records, and a reserve per plane.
pub fn minimum_blocks(config: &SharedSettings, threshold: u32) -> u64 {
    let device = &config.device;
    let planes = device.plane_count() / u64::from(config.line_sets());
    let data = config.blocks_for(device.logical_pages());
    let segments = u64::from(TrimRecords::segments(&Geometry::new(device)));
    let records = match config.alloc.unit {
        AllocUnit::Plane => 2 * segments.div_ceil(u64::from(device.units_per_block())),
        AllocUnit::Line => planes * config.blocks_for(2 * segments),
    };
    planes * (data + reserve(config, threshold)) + records
}

/// Blocks of each plane that hold no data.
pub fn reserve(config: &SharedSettings, threshold: u32) -> u64 {
    config.blocks_beside_data(threshold)
}

/// A record and the one that replaces it, per segment.
pub fn payload_pages(config: &SharedSettings) -> u64 {
    2 * u64::from(TrimRecords::segments(&Geometry::new(&config.device)))
}

/// Bytes by structure: the scheme's `own`, then what every page-mapped scheme has.
pub fn ram_use(config: &SharedSettings, own: &[RamUse]) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
    let mut structures = own.to_vec();
    structures.push(entry("valid_counts", u64::from(geometry.blocks()) * 2));
    structures.push(entry("valid_bitmap", u64::from(geometry.pages()).div_ceil(8)));
    structures.push(entry("trim_records", TrimRecords::ram_bytes(&geometry)));
    structures.extend(page_space::placement_ram(config));
    structures.extend(page_space::slc_ram(config));
    structures.extend(page_space::lines_ram(config));
    structures.extend(page_space::refresh_ram(config));
    structures
}

/// Bytes of the whole table at 4 B an entry.
pub fn table_bytes(config: &SharedSettings) -> u64 {
    4 * config.device.logical_pages()
}

impl<T: PageTable> PageMapped<T> {
    /// Nothing mapped, every block erased.
    pub fn new(
        board: &Board,
        config: &SharedSettings,
        threshold: u32,
        table: T,
        seed: u64,
    ) -> Self {
        let space = PageSpace::new(board, config, threshold, seed);
        Self::assemble(board, space, table, TrimRecords::new(board.geometry()))
    }

    fn assemble(board: &Board, space: PageSpace, table: T, trims: TrimRecords) -> Self {
        let words = zeroed(board.geometry().entries_per_page() as usize);
        PageMapped { space, map: PageMap { table, trims }, words }
    }

    /// Reads a page that was looked up by `known`.
    #[inline]
    pub fn read(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        known: When,
    ) -> Result<(When, Tag), Fault> {
        match self.map.table.entry(io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    /// First half of a write: the plane that takes the page and the frontier in it, after
    /// collection where it is due.
    #[inline(always)]
    pub fn make_room(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(Place, When), Fault> {
        let mut plane = self.space.place_host(board, io);
        // Pages that share stay alive for pages of other planes.
        if T::SHARES && self.space.is_full(plane) {
            plane = self.space.place_anywhere(board.nand());
        }
        self.make_room_at(board, io, plane, after)
    }

    /// The same in this plane.
    #[inline(always)]
    pub fn make_room_at(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        plane: PlaneId,
        after: When,
    ) -> Result<(Place, When), Fault> {
        let place = (plane, self.space.host_stream(board, io));
        Ok((place, self.make_room_in(board, place, after)?))
    }

    /// The same in a place that the scheme chose.
    #[inline(always)]
    pub fn make_room_in(
        &mut self,
        board: &mut Board,
        place: Place,
        after: When,
    ) -> Result<When, Fault> {
        self.space.make_room(board, &mut self.map, place, after)
    }

    /// Whether a plane takes a page as it is, in the host's frontier: [`PageMapped::make_room_in`]
    /// would do nothing. Never where a policy divides data.
    #[inline(always)]
    pub fn has_room(&self, plane: PlaneId) -> bool {
        self.space.has_room((plane, Stream::Data))
    }

    /// Second half: programs the next page of the frontier, marks the old page, changes the table.
    /// The old page is taken from the table now: collection may have moved it.
    #[inline(always)]
    pub fn put(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: Place,
        ready: When,
    ) -> Result<When, Fault> {
        match self.space.write_shortly(board, place, (io, PageKind::Data), ready) {
            Some((new, done)) => {
                self.written(board, io.lpn, new);
                Ok(done)
            }
            None => self.put_with_care(board, io, place, ready),
        }
    }

    /// As [`PageMapped::put`] without its time ([`Board::program_untimed`]): where; none, with
    /// nothing done, where a page cannot be put shortly.
    #[inline(always)]
    pub fn put_untimed(&mut self, board: &mut Board, io: &PageIo, place: Place) -> Option<Ppn> {
        let new = self.space.write_untimed(board, place, (io, PageKind::Data))?;
        self.written(board, io.lpn, new);
        Some(new)
    }

    #[inline(never)]
    fn put_with_care(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: Place,
        ready: When,
    ) -> Result<When, Fault> {
        let old = self.map.table.entry(io.lpn);
        let (new, done) = self.space.write(board, place, (io, PageKind::Data, old), ready)?;
        self.written(board, io.lpn, new);
        Ok(done)
    }

    /// The host's page was programmed: the old one is invalid, the table says so.
    #[inline(always)]
    pub fn written(&mut self, board: &mut Board, lpn: Lpn, new: Ppn) {
        self.leave(board, lpn);
        self.map.table.change(lpn, Some(new));
        self.map.trims.written(lpn);
    }

    /// The same where the table says so already, and `old` is what the page supersedes; for tables in
    /// which nobody else has it.
    #[inline(always)]
    pub fn superseded(&mut self, board: &mut Board, lpn: Lpn, old: Option<Ppn>) {
        debug_assert!(!T::SHARES, "page {lpn} may not be the only one there");
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.trims.written(lpn);
    }

    /// The physical page of a logical one that is about to leave it dies, if nobody else has it.
    #[inline(always)]
    fn leave(&mut self, board: &mut Board, lpn: Lpn) {
        if let Some(old) = self.map.table.left_alone(lpn) {
            self.space.invalidate(board, old);
        }
    }

    /// Forgets a page that was looked up; whether there was one.
    pub fn trim(&mut self, board: &mut Board, lpn: Lpn) -> bool {
        if self.map.table.entry(lpn).is_none() {
            return false;
        }
        self.leave(board, lpn);
        self.map.table.change(lpn, None);
        if !T::RECORDS_TRIMS {
            self.map.trims.trim(lpn);
        }
        self.space.trimmed(lpn);
        true
    }

    /// Records pending trims.
    pub fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut when = after;
        while self.map.trims.next_pending().is_some() {
            when = self.record_trims(board, when)?;
        }
        self.space.flush_parity(board, when)
    }

    /// Collects in an idle gap.
    pub fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.space.collect_idle(board, &mut self.map, after)
    }

    /// Moves a block whose data cannot wait.
    pub fn refresh_at_once(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<Option<When>, Fault> {
        self.space.refresh_at_once(board, &mut self.map, after)
    }

    /// Where a page is.
    #[inline]
    pub fn locate(&self, _: &Board, lpn: Lpn) -> Location {
        self.map.table.entry(lpn).map_or(Location::Nowhere, Location::Flash)
    }

    /// Free blocks of the emptiest plane, and where collection begins.
    pub fn room(&self) -> Room {
        self.space.room()
    }

    /// The trims, where they outlive a power cut.
    pub fn into_parts(self) -> (T, TrimRecords) {
        (self.map.table, self.map.trims)
    }

    /// Writes the record of one pending segment.
    fn record_trims(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let plane = PlaneId(0);
        let ready = self.space.make_room(board, &mut self.map, (plane, Stream::Map), after)?;
        let (segment, old) = self.map.trims.next_pending().expect("the caller looked");
        self.map.trims.fill(segment, board.nand().sequence(), &mut self.words);
        let words = &self.words;
        let place = (plane, Stream::Map);
        let what = (PageKind::TrimRecord, segment);
        let by_host = self.space.is_the_hosts();
        let (new, done) = self.space.program(board, place, ready, |board, new, ready| {
            let words = Payload::Words(words);
            match by_host {
                true => board.append_payload(new, what, words, Cause::Trim, ready),
                false => board.program_payload(new, what, words, Cause::Trim, ready),
            }
        })?;
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.trims.recorded(segment, new);
        Ok(done)
    }
}
