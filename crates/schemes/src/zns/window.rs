//! Windows of zones (ZRWA): behind its write pointer a zone takes pages in any order, and again; the
//! drive holds them until the pointer has passed them.
//!
//! A page in the window is written in memory alone. A page behind it, up to as many more, moves the
//! pointer by whole granules until the window holds it, and what the pointer passes is programmed. A
//! flush moves the pointers of all zones over granules that were written as a whole, and over the last
//! part of a zone. A page that was never written is not passed over: the write is refused.

use super::raw::RawZones;
use super::settings::{Config, window_frames};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::{Fault, Refusal};
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::parts::held_pages::{Held, HeldPages};

/// The windows of all zones.
#[derive(Clone)]
pub(super) struct Windows {
    held: HeldPages,
    /// Pages of a window.
    pages: u32,
    granule: u32,
}

impl Windows {
    /// Empty; none where zones have no windows.
    pub fn new(board: &Board, config: &Config) -> Option<Box<Self>> {
        let (pages, granule) = (config.own.zrwa, config.own.zrwa_granule);
        let held = || HeldPages::new(window_frames(config), board.geometry().logical_pages);
        (pages > 0).then(|| Box::new(Windows { held: held(), pages, granule }))
    }

    /// A page, where a window holds it.
    pub fn held(&self, lpn: Lpn) -> Option<&Held> {
        self.held.find(lpn).map(|slot| self.held.get(slot))
    }

    /// A page is the host's no more.
    pub fn forget(&mut self, board: &mut Board, lpn: Lpn) {
        let free = self.held(lpn).expect("it is held").ready;
        self.leave(board, lpn, free);
    }

    /// A page leaves; its frame is free from `ready`.
    fn leave(&mut self, board: &mut Board, lpn: Lpn, ready: When) {
        let slot = self.held.find(lpn).expect("it is held");
        self.held.leave(slot, ready);
        self.tell(board);
    }

    fn put(&mut self, board: &mut Board, io: &PageIo, after: When) -> When {
        let known = self.held.find(io.lpn);
        board.event(Event::BufferLookups, 1);
        board.event(Event::BufferHits, u64::from(known.is_some()));
        let (slot, free) = match known {
            Some(slot) => (slot, self.held.get(slot).ready),
            None => self.held.enter(io.lpn),
        };
        let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(free));
        self.held.write(slot, io.data, io.sectors, done);
        self.tell(board);
        done
    }

    fn tell(&self, board: &mut Board) {
        board.level(Level::BufferedPages, u64::from(self.held.len()));
    }
}

/// Reads a page from its window.
pub(super) fn read(board: &mut Board, held: &Held, after: When) -> (When, Tag) {
    let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(held.ready));
    (done, held.tag)
}

impl RawZones {
    fn window(&mut self) -> &mut Windows {
        self.window.as_mut().expect("zones have windows")
    }

    /// Writes a page to the window of its zone, whose pointer may move for it.
    pub(super) fn write_to_window(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let number = self.zone_of(io.lpn);
        let (from, end) = (self.pointer(number), self.end(number));
        let Windows { pages, granule, .. } = *self.window();
        let until = end.min(from + 2 * pages);
        if !(from..until).contains(&io.lpn.0) {
            return Err(self.refused(io.lpn, Refusal::OutsideWindow(from, until)));
        }
        let class = self.class(io.lpn)?;
        self.zones[number].class = Some(class);
        // Granules are a zone's, wherever a power cut left its pointer.
        let first = self.first(number);
        let passed = (io.lpn.0 + 1 - first).saturating_sub(pages).next_multiple_of(granule);
        self.pass(board, (number, first + passed), io.lpn, after)?;
        Ok(self.window().put(board, io, after))
    }

    /// Moves the pointer of a zone up to a page, since another one is to be written; that one waits for
    /// a frame.
    fn pass(
        &mut self,
        board: &mut Board,
        (number, until): (usize, u32),
        written: Lpn,
        after: When,
    ) -> Result<(), Fault> {
        let passed = self.pointer(number)..until.min(self.end(number));
        let window = self.window();
        if let Some(left) = passed.clone().find(|&page| window.held(Lpn(page)).is_none()) {
            return Err(self.refused(written, Refusal::LeavesOut(left)));
        }
        for lpn in passed.map(Lpn) {
            // Who needs its frame waits for it.
            let _ = self.program(board, lpn, after)?;
        }
        Ok(())
    }

    /// Programs the page at the pointer of a zone; its frame is free when that is done.
    fn program(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let Held { tag, sectors, ready, .. } = *self.window().held(lpn).expect("it is held");
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        let io = PageIo { lpn, sectors, cause: Cause::Host, data: tag, request };
        let done = self.append(board, &io, after.waits_for_buffer(ready))?;
        board.event(Event::BufferFlushes, 1);
        self.window().leave(board, lpn, done);
        Ok(done)
    }

    /// Moves every pointer as far as whole granules were written, or the rest of a zone.
    pub(super) fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.window.is_none() {
            return Ok(after);
        }
        let mut done = after;
        for number in 0..self.zones.len() {
            for lpn in self.whole_granules(number).map(Lpn) {
                if !self.is_short(number) {
                    done = done.join(self.program(board, lpn, after)?);
                }
            }
        }
        Ok(done)
    }

    /// From the pointer of a zone to the end of the last granule before which all was written.
    fn whole_granules(&mut self, number: usize) -> std::ops::Range<u32> {
        let (first, from, end) = (self.first(number), self.pointer(number), self.end(number));
        let held = self.held_from(number);
        let together = (from..).zip(&held).take_while(|(page, lpn)| lpn.0 == *page).count() as u32;
        let until = from + together;
        let whole = until - (until - first) % self.window().granule;
        from..if until == end { until } else { whole.max(from) }
    }

    /// Pages that the window of a zone holds, upwards.
    pub(super) fn held_from(&self, number: usize) -> Vec<Lpn> {
        let Some(window) = &self.window else { return Vec::new() };
        let from = self.pointer(number);
        let pages = (from..self.end(number).min(from + window.pages)).map(Lpn);
        pages.filter(|&lpn| window.held(lpn).is_some()).collect()
    }

    /// Host pages in windows.
    pub(super) fn unsettled(&self) -> Unsettled {
        let held = self.window.as_ref().map_or(0, |window| window.held.len());
        Unsettled { ram_pages: u64::from(held), ..Unsettled::default() }
    }

    /// What windows hold when the power goes.
    pub(super) fn kept(&self) -> Vec<Held> {
        let Some(window) = &self.window else { return Vec::new() };
        let mut kept: Vec<Held> = window.held.all().map(|slot| *window.held.get(slot)).collect();
        kept.sort_unstable_by_key(|held| held.lpn);
        kept
    }

    /// What windows held is there again, but for pages that flash has.
    pub(super) fn put_back(&mut self, board: &mut Board, kept: &[Held]) {
        for held in kept {
            let number = self.zone_of(held.lpn);
            if held.lpn.0 < self.pointer(number) {
                continue;
            }
            if !self.is_short(number) {
                let class = self.zones[number].class.or_else(|| self.free_class());
                self.zones[number].class = class;
            }
            let window = self.window();
            let (slot, _) = window.held.enter(held.lpn);
            window.held.write(slot, held.tag, held.sectors, When::START);
            window.tell(board);
        }
    }

    /// Whether a window holds pages of a zone that is active, and none elsewhere.
    pub(super) fn check_window(&self, number: usize) -> Result<(), String> {
        let Some(window) = &self.window else { return Ok(()) };
        let first = self.first(number);
        let all =
            (first..self.end(number)).filter(|&page| window.held(Lpn(page)).is_some()).count();
        let within = self.held_from(number).len();
        if all != within || (all > 0 && !self.is_active(number)) {
            return Err(format!(
                "zone {number} has {all} pages in memory, {within} of them in its window, and is {}active",
                if self.is_active(number) { "" } else { "not " }
            ));
        }
        window.held.self_check()
    }
}
