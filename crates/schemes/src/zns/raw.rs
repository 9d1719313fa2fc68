//! Zones that the workload itself writes: no log, no map, nothing that collects.
//!
//! The logical pages are the zones' own, one after another. The next page of a zone is the only one
//! that can be written; a trim of all that was written of a zone resets it. Anything else is refused
//! and ends the run: a device that goes on would hold something else than its host believes. A zone
//! takes a free line when it is begun, and may be short of what that line has not.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::{Fault, Refusal};
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::answers::Location;
use ftlab_ftl::parts::oob_scan::{self, Extent};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};

use super::settings::{Config, raw_zones};

/// The only plane of a space of lines.
const ALL: PlaneId = PlaneId(0);

/// A zone.
#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    line: Option<BlockId>,
    /// The class that stands for it while it takes pages.
    class: Option<Stream>,
    /// Pages before its write pointer.
    written: u32,
}

/// The zones, and where their pages are.
#[derive(Clone)]
pub(super) struct RawZones {
    pub(super) space: PageSpace,
    zones: Vec<Zone>,
    /// Physical page of each logical page, plus one: what is reckoned from line and write pointer,
    /// but for holes.
    entries: Vec<u32>,
    /// Pages of a zone.
    pages: u32,
    max_active: u32,
}

impl RawZones {
    /// Empty zones on an erased device.
    pub fn new(board: &Board, zoned: &Config, seed: u64) -> Self {
        let space = PageSpace::new(board, zoned, 0, seed);
        let entries = zeroed(board.geometry().logical_pages as usize);
        let zones = vec![Zone::default(); raw_zones(zoned) as usize];
        let (pages, max_active) = (zoned.full_line(), zoned.own.max_active);
        RawZones { space, zones, entries, pages, max_active }
    }

    fn zone_of(&self, lpn: Lpn) -> usize {
        (lpn.0 / self.pages) as usize
    }

    fn first(&self, zone: usize) -> u32 {
        zone as u32 * self.pages
    }

    /// Pages of the address space in a zone.
    fn size(&self, zone: usize) -> u32 {
        self.pages.min(self.entries.len() as u32 - self.first(zone))
    }

    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    fn refused(&self, lpn: Lpn, why: Refusal) -> Fault {
        Fault::Refused { page: lpn.0, zone: lpn.0 / self.pages, why }
    }

    /// The class of the zone that a page is the next one of.
    fn class(&self, lpn: Lpn) -> Result<Stream, Fault> {
        let number = self.zone_of(lpn);
        let zone = self.zones[number];
        let next = self.first(number) + zone.written;
        if lpn.0 != next {
            return Err(self.refused(lpn, Refusal::NotAtPointer(next)));
        }
        if let Some(class) = zone.class {
            return Ok(class);
        }
        if zone.line.is_some() {
            return Err(self.refused(lpn, Refusal::Short(zone.written)));
        }
        let active = self.zones.iter().filter(|zone| zone.class.is_some()).count();
        let free = self.space.free_class().filter(|_| active < self.max_active as usize);
        free.ok_or_else(|| self.refused(lpn, Refusal::TooManyActive(self.max_active)))
    }

    pub fn read(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        match self.entry(io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, after),
            None => board.read_unwritten(io.lpn, after),
        }
    }

    pub fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let class = self.class(io.lpn)?;
        let what = (io, PageKind::Data, None);
        let (new, done) = self.space.write(board, (ALL, class), what, after)?;
        self.entries[io.lpn.index()] = pack(Some(new.0));
        let number = self.zone_of(io.lpn);
        let line = self.space.zone_of(board.nand(), new);
        let zone = &mut self.zones[number];
        (zone.line, zone.class, zone.written) = (Some(line), Some(class), zone.written + 1);
        self.leave_if_full(board, number);
        Ok(done)
    }

    /// A zone that takes no more pages is not active any more.
    fn leave_if_full(&mut self, board: &mut Board, number: usize) {
        let size = self.size(number);
        let zone = &mut self.zones[number];
        let Some(class) = zone.class else { return };
        if zone.written == size || !self.space.zone_has_room(class) {
            zone.class = None;
            self.space.leave_zone(board, class);
        }
    }

    /// The first page of a zone that a request trims resets it.
    pub fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let number = self.zone_of(io.lpn);
        let zone = self.zones[number];
        let Some(line) = zone.line else { return Ok(after) };
        let written = self.first(number)..self.first(number) + zone.written;
        let first = io.request.first_lpn.0;
        let covers = first <= written.start && first + io.request.pages >= written.end;
        if !covers {
            return Err(self.refused(io.lpn, Refusal::PartOfZone));
        }
        for lpn in written.map(Lpn) {
            let page = self.entry(lpn).expect("pages before the write pointer were written");
            self.space.invalidate(board, page);
            self.entries[lpn.index()] = 0;
        }
        self.zones[number] = Zone::default();
        self.space.reset_zone(board, line, after)
    }

    pub fn locate(&self, lpn: Lpn) -> Location {
        self.entry(lpn).map_or(Location::Nowhere, Location::Flash)
    }

    pub fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)?;
        for (number, zone) in self.zones.iter().enumerate() {
            for offset in 0..self.size(number) {
                let page = self.entry(Lpn(self.first(number) + offset));
                let line = page.map(|page| self.space.zone_of(board.nand(), page));
                let expected = zone.line.filter(|_| offset < zone.written);
                if line != expected {
                    return Err(format!(
                        "page {offset} of zone {number} is in line {line:?}, not in {expected:?}"
                    ));
                }
            }
            let open = zone.class.and_then(|class| self.space.open_zone(class));
            if zone.class.is_some() && open != zone.line {
                return Err(format!("zone {number} is {:?}, and {open:?} is open", zone.line));
            }
        }
        Ok(())
    }

    /// What the flash tells: a zone is written up to its last page. One of which pages are missing
    /// before that was being reset, which is completed.
    pub fn recover(
        board: &mut Board,
        zoned: &Config,
        seed: u64,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut entries: Vec<u32> = zeroed(board.geometry().logical_pages as usize);
        let scanned = oob_scan::device(board, Extent::Ascending, after, |ppn, oob| {
            entries[oob.logical as usize] = pack(Some(ppn.0));
        })?;
        let pages = zoned.full_line();
        for zone in entries.chunks_mut(pages as usize) {
            let written = zone.iter().filter(|&&entry| entry != 0).count();
            if zone[..written].contains(&0) {
                zone.fill(0);
            }
            for page in zone.iter().filter_map(|&entry| unpack(entry)) {
                board.nand_mut().revalidate(Ppn(page));
            }
        }
        let (space, when) = PageSpace::recover(board, zoned, 0, seed, scanned)?;
        let zones = vec![Zone::default(); raw_zones(zoned) as usize];
        let max_active = zoned.own.max_active;
        let mut raw = RawZones { space, zones, entries, pages, max_active };
        for number in 0..raw.zones.len() {
            raw.find(board, number);
        }
        Ok((raw, when))
    }

    /// A zone as its pages say.
    fn find(&mut self, board: &mut Board, number: usize) {
        let first = self.first(number);
        let Some(page) = self.entry(Lpn(first)) else { return };
        let pages = (first..first + self.size(number)).map(Lpn);
        let written = pages.take_while(|&lpn| self.entry(lpn).is_some()).count() as u32;
        let line = Some(self.space.zone_of(board.nand(), page));
        let class = Stream::classes().find(|&class| self.space.open_zone(class) == line);
        self.zones[number] = Zone { line, class, written };
        self.leave_if_full(board, number);
    }
}
