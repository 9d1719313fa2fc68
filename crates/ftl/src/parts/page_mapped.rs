//! Page-mapped data whose whole map memory holds: blocks, map and recovery of schemes that differ
//! in the memory that their table lies in, and in nothing that the flash could see.
//!
//! A scheme keeps the table in its own words ([`PageTable`]) and says what looking into it costs;
//! here a page is written, trimmed, moved and found again after a power cut.
//!
//! What this is not: a map on flash. That is [`crate::parts::demand_mapped`].

use crate::answers::{Location, Room};
use crate::parts::alloc::AllocUnit;
use crate::parts::oob_scan::{self, Extent};
use crate::parts::page_space::{self, Moved, PageOwner, PageSpace, Place, Stream, Threshold};
use crate::parts::trim_records::TrimRecords;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::Cause;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag, pack, zeroed};

/// Free blocks per plane below which FlashSim's page FTL collects, and at which it stops.
pub const GC_LOW: u32 = 4;

/// Least threshold: the frontier's next block, and one that is being filled by copies.
const FLOOR: u32 = 2;

/// Where every logical page is.
pub trait PageTable {
    /// How the scheme writes its blocks, for those who read them after a power cut.
    const EXTENT: Extent = Extent::Ascending;
    /// Whether pages of a victim move as soon as they can, and to note that takes no time.
    const AT_ONCE: bool;
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
    /// Collection moved a page of host data.
    fn moved(&mut self, board: &mut Board, page: Moved);
    /// When the next page of a victim may be moved that could be at `after`.
    fn may_move(&self, after: When) -> When {
        after
    }
    /// The victim, or a piece of it, was moved; the erase follows the returned moment.
    fn settle(&mut self, board: &mut Board, after: When) -> When;
}

/// Table and trims: the owner of every page in the space.
#[derive(Clone)]
pub struct PageMap<T> {
    /// Where every page is.
    pub table: T,
    trims: TrimRecords,
}

impl<T: PageTable> PageOwner for PageMap<T> {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, _: BlockId) -> u32 {
        0
    }

    #[inline]
    fn moved(&mut self, board: &mut Board, page: Moved) {
        if page.kind == PageKind::TrimRecord {
            self.trims.moved(page.logical, page.new);
        } else {
            self.table.moved(board, page);
        }
    }

    fn at_once(&self) -> bool {
        T::AT_ONCE
    }

    #[inline]
    fn may_move(&self, after: When) -> When {
        self.table.may_move(after)
    }

    fn before_erase(
        &mut self,
        _: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        Ok(self.table.settle(board, after))
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

    /// First half of a write: the plane that takes the page and the frontier in it, after collection
    /// where it is due.
    #[inline(always)]
    pub fn make_room(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(Place, When), Fault> {
        let plane = self.space.place_host(board, io);
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

    /// As [`PageMapped::put`] without its time, where [`Board::writes_alike`]; false, with nothing
    /// done, where a page cannot be put shortly.
    #[inline(always)]
    pub fn put_untimed(&mut self, board: &mut Board, io: &PageIo, place: Place) -> bool {
        let new = self.space.write_untimed(board, place, (io, PageKind::Data));
        if let Some(new) = new {
            self.written(board, io.lpn, new);
        }
        new.is_some()
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
        self.map.trims.trim(lpn);
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

    /// Goes on with what flash tells alone: of each logical page the highest sequence number wins,
    /// unless a flushed trim came later. `table` makes a table of it (packed physical pages).
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        (threshold, seed): (u32, u64),
        table: impl FnOnce(&mut Board, Vec<u32>, When) -> (T, When),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let geometry = board.geometry().clone();
        let mut newest: Vec<(u64, u32)> = vec![(0, 0); geometry.logical_pages as usize];
        let segments = TrimRecords::segments(&geometry) as usize;
        let mut newest_record: Vec<(u64, u32)> = vec![(0, 0); segments];
        // Step 1: every page's out-of-band area; the highest sequence number wins.
        let scanned = oob_scan::device(board, T::EXTENT, after, |ppn, oob| {
            let list = match oob.kind {
                PageKind::Pad | PageKind::Parity => return,
                PageKind::TrimRecord => &mut newest_record,
                _ => &mut newest,
            };
            let held = &mut list[oob.logical as usize];
            if oob.sequence > held.0 {
                *held = (oob.sequence, ppn.0);
            }
        })?;
        // Step 2: flushed trims hide what they came after.
        let records: Vec<(u32, Ppn)> = newest_record
            .iter()
            .enumerate()
            .filter(|(_, (sequence, _))| *sequence > 0)
            .map(|(segment, (_, ppn))| (segment as u32, Ppn(*ppn)))
            .collect();
        let (mut trims, recorded, when) = TrimRecords::recover(board, &records, scanned)?;
        let mut entries: Vec<u32> = zeroed(geometry.logical_pages as usize);
        for (lpn, &(sequence, ppn)) in newest.iter().enumerate() {
            let dead = trims.is_dead(&recorded, Lpn(lpn as u32), sequence);
            if sequence > 0 && !dead {
                entries[lpn] = pack(Some(ppn));
                board.nand_mut().revalidate(Ppn(ppn));
            }
        }
        trims.forget_living(|lpn| entries[lpn.index()] != 0);
        let (table, when) = table(board, entries, when);
        // Step 3: blocks without a valid page are erased, the rest are candidates again.
        let (space, when) = PageSpace::recover(board, config, threshold, seed, when)?;
        Ok((Self::assemble(board, space, table, trims), when))
    }

    /// Goes on with table and trims that outlived the power cut, and of which no records were
    /// written: nothing is read.
    pub fn resume(
        board: &mut Board,
        config: &SharedSettings,
        (threshold, seed): (u32, u64),
        (table, trims): (T, TrimRecords),
        after: When,
    ) -> Result<(Self, When), Fault> {
        for ppn in (0..board.geometry().logical_pages).filter_map(|lpn| table.entry(Lpn(lpn))) {
            if !T::SHARES || !board.nand().state().is_valid(ppn) {
                board.nand_mut().revalidate(ppn);
            }
        }
        let (space, when) = PageSpace::recover(board, config, threshold, seed, after)?;
        Ok((Self::assemble(board, space, table, trims), when))
    }

    /// Writes the record of one pending segment.
    fn record_trims(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let plane = PlaneId(0);
        let ready = self.space.make_room(board, &mut self.map, (plane, Stream::Map), after)?;
        let (segment, old) = self.map.trims.next_pending().expect("the caller looked");
        self.map.trims.fill(segment, board.nand().sequence(), &mut self.words);
        let words = &self.words;
        let place = (plane, Stream::Map);
        let (new, done) = self.space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::TrimRecord, segment);
            board.program_payload(new, what, Payload::Words(words), Cause::Trim, ready)
        })?;
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.trims.recorded(segment, new);
        Ok(done)
    }
}
