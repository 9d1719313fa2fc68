//! Zones that the workload itself writes: no log, no map, nothing that collects.
//!
//! The logical pages are the zones' own, one after another. The next page of a zone is the only one
//! that can be written, unless zones have windows (`raw/window.rs`); a trim of all that was written
//! of a zone resets it. Anything else is refused and ends the run: a device that goes on would hold
//! something else than its host believes. A zone takes a free line when it is begun, and may be
//! short of what that line has not.

mod window;

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::{Fault, Refusal};
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::answers::Location;
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::oob_scan::{self, Extent};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};

use super::settings::{Config, raw_zones};
use window::Windows;

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
    /// Pages behind it that are in its window.
    held: u32,
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
    /// What is written behind write pointers, where zones have windows.
    window: Option<Box<Windows>>,
}

impl RawZones {
    /// Empty zones on an erased device.
    pub fn new(board: &Board, zoned: &Config, seed: u64) -> Self {
        let space = PageSpace::new(board, zoned, 0, seed);
        let entries = zeroed(board.geometry().logical_pages as usize);
        let zones = vec![Zone::default(); raw_zones(zoned) as usize];
        let (pages, max_active) = (zoned.full_line(), zoned.own.max_active);
        let window = Windows::new(board, zoned);
        RawZones { space, zones, entries, pages, max_active, window }
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

    /// The first page behind a zone.
    fn end(&self, zone: usize) -> u32 {
        self.first(zone) + self.size(zone)
    }

    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    fn refused(&self, lpn: Lpn, why: Refusal) -> Fault {
        Fault::Refused { page: lpn.0, zone: lpn.0 / self.pages, why }
    }

    /// The first page that a zone does not hold on flash.
    fn pointer(&self, number: usize) -> u32 {
        self.first(number) + self.zones[number].written
    }

    /// The class of the zone of a page, which may be written.
    fn class(&self, lpn: Lpn) -> Result<Stream, Fault> {
        let zone = self.zones[self.zone_of(lpn)];
        if let Some(class) = zone.class {
            return Ok(class);
        }
        if zone.line.is_some() {
            return Err(self.refused(lpn, Refusal::Short(zone.written)));
        }
        let active = (0..self.zones.len()).filter(|&zone| self.is_active(zone)).count();
        let free = self.free_class().filter(|_| active < self.max_active as usize);
        free.ok_or_else(|| self.refused(lpn, Refusal::TooManyActive(self.max_active)))
    }

    /// Whether it takes pages, or holds some in memory for which a power cut left no room.
    fn is_active(&self, number: usize) -> bool {
        self.zones[number].class.is_some() || self.is_stuck(number)
    }

    /// The latter.
    fn is_stuck(&self, number: usize) -> bool {
        self.zones[number].held > 0 && self.is_short(number)
    }

    /// Whether it has no room for its last pages.
    fn is_short(&self, number: usize) -> bool {
        let zone = &self.zones[number];
        zone.class.is_none() && zone.line.is_some() && zone.written < self.size(number)
    }

    /// A class that stands for no zone: also none of which a window alone holds pages.
    fn free_class(&self) -> Option<Stream> {
        let is_taken = |class| self.zones.iter().any(|zone| zone.class == Some(class));
        self.space.free_classes().find(|&class| !is_taken(class))
    }

    pub fn read(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        if let Some(held) = self.window.as_ref().and_then(|window| window.held(io.lpn)) {
            return Ok(window::read(board, held, after));
        }
        match self.entry(io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, after),
            None => board.read_unwritten(io.lpn, after),
        }
    }

    pub fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if self.window.is_some() {
            return self.write_to_window(board, io, after);
        }
        let next = self.pointer(self.zone_of(io.lpn));
        if io.lpn.0 != next {
            return Err(self.refused(io.lpn, Refusal::NotAtPointer(next)));
        }
        self.append(board, io, after)
    }

    /// Programs the page at the write pointer of its zone.
    fn append(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
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
            self.tell_active(board);
        }
    }

    /// The first page of a zone that a request trims resets it.
    pub fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let number = self.zone_of(io.lpn);
        let zone = self.zones[number];
        if zone.written + zone.held == 0 {
            return Ok(after);
        }
        let written = self.first(number)..self.pointer(number);
        let end = self.held(number).last().map_or(written.end, |last| last.0 + 1);
        let first = io.request.first_lpn.0;
        let covers = first <= written.start && first + io.request.pages >= end;
        if !covers {
            return Err(self.refused(io.lpn, Refusal::PartOfZone));
        }
        self.forget_window(board, number);
        for lpn in written.map(Lpn) {
            let page = self.entry(lpn).expect("pages before the write pointer were written");
            self.space.invalidate(board, page);
            self.entries[lpn.index()] = 0;
        }
        self.zones[number] = Zone::default();
        let reset = match zone.line {
            Some(line) => self.space.reset_zone(board, line, after)?,
            // All of it was in the window.
            None => self.space.zone_reset(board, after),
        };
        self.tell_active(board);
        Ok(reset)
    }

    pub fn locate(&self, lpn: Lpn) -> Location {
        if let Some(held) = self.window.as_ref().and_then(|window| window.held(lpn)) {
            return Location::Ram(held.tag);
        }
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
            self.check_window(number)?;
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
        (seed, kept): (u64, &[Held]),
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
        let window = Windows::new(board, zoned);
        let mut raw = RawZones { space, zones, entries, pages, max_active, window };
        for number in 0..raw.zones.len() {
            raw.find(board, number);
        }
        raw.put_back(board, kept);
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
        self.zones[number] = Zone { line, class, written, held: 0 };
        self.leave_if_full(board, number);
    }
}
