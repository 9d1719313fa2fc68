//! Windows of zones (ZRWA): behind its write pointer a zone takes pages in any order, and again;
//! the drive holds them until the pointer has passed them.
//!
//! A page in the window is written in memory alone. A page behind it, up to as many more, moves the
//! pointer by whole granules until the window holds it, and what the pointer passes is programmed.
//! A flush moves the pointers of all zones over granules that were written as a whole, and over the
//! last part of a zone. A page that was never written is not passed over: the write is refused.

use super::RawZones;
use crate::zns::settings::{Config, window_frames};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::{Fault, Refusal};
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::parts::held_pages::{Held, HeldPages};
use ftlab_ftl::parts::page_space::Stream;
use std::ops::Range;

/// The windows of all zones.
#[derive(Clone)]
pub(super) struct Windows {
    held: HeldPages,
    /// From when on each frame is free: those of a window by class, and by place in their zone.
    free: Vec<Moment>,
    /// Pages of a window.
    pages: u32,
    granule: u32,
}

impl Windows {
    /// Empty; none where zones have no windows.
    pub fn new(board: &Board, config: &Config) -> Option<Box<Self>> {
        let (pages, granule) = (config.own.zrwa, config.own.zrwa_granule);
        let held = || HeldPages::new(window_frames(config), board.geometry().logical_pages);
        let classes = Stream::classes().map(|class| class as usize + 1).max().unwrap_or(0);
        let free = || vec![Moment::START; classes * pages as usize];
        (pages > 0).then(|| Box::new(Windows { held: held(), free: free(), pages, granule }))
    }

    /// A page, where a window holds it.
    pub fn held(&self, lpn: Lpn) -> Option<&Held> {
        self.held.find(lpn).map(|slot| self.held.get(slot))
    }

    /// The frame of a page: as many pages further on in its zone there is another one's.
    fn frame(&mut self, class: Stream, offset: u32) -> &mut Moment {
        &mut self.free[class as usize * self.pages as usize + (offset % self.pages) as usize]
    }

    fn leave(&mut self, lpn: Lpn, ready: Moment) {
        let slot = self.held.find(lpn).expect("it is held");
        self.held.leave(slot, ready);
    }

    /// A page is written in its frame, which is free from then on; whether it was not there before.
    fn put(&mut self, board: &mut Board, io: &PageIo, free: Moment, after: When) -> (When, bool) {
        let known = self.held.find(io.lpn);
        board.event(Event::BufferLookups, 1);
        board.event(Event::BufferHits, u64::from(known.is_some()));
        let (slot, free) = match known {
            Some(slot) => (slot, self.held.get(slot).ready),
            None => (self.held.enter(io.lpn).0, free),
        };
        let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(free));
        self.held.write(slot, io.data, io.sectors, done);
        self.tell(board);
        (done, known.is_none())
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
        let (first, from, end) = (self.first(number), self.pointer(number), self.end(number));
        let Windows { pages, granule, .. } = *self.window();
        let until = end.min(from + 2 * pages);
        if !(from..until).contains(&io.lpn.0) {
            return Err(self.refused(io.lpn, Refusal::OutsideWindow(from, until)));
        }
        let class = self.class(io.lpn)?;
        if self.zones[number].class.replace(class).is_none() {
            self.tell_active(board);
        }
        // Granules are a zone's, wherever a power cut left its pointer.
        let offset = io.lpn.0 - first;
        let passed = (offset + 1).saturating_sub(pages).next_multiple_of(granule);
        self.pass(board, (number, first + passed), io.lpn, after)?;
        let window = self.window();
        let free = *window.frame(class, offset);
        let (done, is_new) = window.put(board, io, free, after);
        self.zones[number].held += u32::from(is_new);
        Ok(done)
    }

    /// Moves the pointer of a zone up to a page, since another one is to be written; that one waits
    /// for its frame.
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
        let class = self.class(lpn)?;
        let Held { tag, sectors, ready, .. } = *self.window().held(lpn).expect("it is held");
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        let io = PageIo { lpn, sectors, cause: Cause::Host, data: tag, request };
        let done = self.append(board, &io, after.waits_for_buffer(ready))?;
        board.event(Event::BufferFlushes, 1);
        let number = self.zone_of(lpn);
        let offset = lpn.0 - self.first(number);
        self.zones[number].held -= 1;
        let window = self.window();
        window.leave(lpn, done.into());
        *window.frame(class, offset) = done.into();
        window.tell(board);
        Ok(done)
    }

    /// Moves every pointer as far as whole granules were written, or the rest of a zone.
    pub fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut done = after;
        for number in 0..self.zones.len() {
            if self.zones[number].held == 0 {
                continue;
            }
            for lpn in self.whole_granules(number).map(Lpn) {
                // A power cut may have left it a page short.
                if !self.is_short(number) {
                    done = done.join(self.program(board, lpn, after)?);
                }
            }
        }
        Ok(done)
    }

    /// From the pointer of a zone to the end of the last granule before which all was written.
    fn whole_granules(&mut self, number: usize) -> Range<u32> {
        let (first, from, end) = (self.first(number), self.pointer(number), self.end(number));
        let together = (from..).zip(self.held(number)).take_while(|(page, lpn)| lpn.0 == *page);
        let until = from + together.count() as u32;
        let whole = until - (until - first) % self.window().granule;
        from..if until == end { until } else { whole.max(from) }
    }

    /// Pages that the window of a zone holds, upwards.
    pub(super) fn held(&self, number: usize) -> impl Iterator<Item = Lpn> + '_ {
        let from = self.pointer(number);
        let pages = self.window.as_ref().map_or(0, |window| window.pages);
        let pages = (from..self.end(number).min(from + pages)).map(Lpn);
        pages.filter(|&lpn| self.window.as_ref().is_some_and(|window| window.held(lpn).is_some()))
    }

    /// What the window of a zone holds is the host's no more.
    pub(super) fn forget_window(&mut self, board: &mut Board, number: usize) {
        let (first, from, end) = (self.first(number), self.pointer(number), self.end(number));
        let class = self.zones[number].class;
        let Some(window) = &mut self.window else { return };
        for lpn in (from..end.min(from + window.pages)).map(Lpn) {
            let Some(ready) = window.held(lpn).map(|held| held.ready) else { continue };
            window.leave(lpn, ready);
            if let Some(class) = class {
                *window.frame(class, lpn.0 - first) = ready;
            }
        }
        window.tell(board);
        self.zones[number].held = 0;
    }

    /// How many zones are active, those among them of which nothing is on flash.
    pub(super) fn tell_active(&self, board: &mut Board) {
        if self.window.is_some() {
            let active = (0..self.zones.len()).filter(|&zone| self.is_active(zone)).count();
            board.level(Level::ActiveZones, active as u64);
        }
    }

    /// Host pages in windows.
    pub fn unsettled(&self) -> Unsettled {
        let held = self.window.as_ref().map_or(0, |window| window.held.len());
        Unsettled { ram_pages: u64::from(held), ..Unsettled::default() }
    }

    /// What windows hold when the power goes.
    pub fn kept(&self) -> Vec<Held> {
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
            self.zones[number].held += 1;
            let window = self.window();
            let (slot, _) = window.held.enter(held.lpn);
            window.held.write(slot, held.tag, held.sectors, When::START);
        }
        if let Some(window) = &self.window {
            window.tell(board);
        }
        self.tell_active(board);
    }

    /// Whether a window holds pages of a zone that is active, as many as are counted, and none
    /// elsewhere.
    pub(super) fn check_window(&self, number: usize) -> Result<(), String> {
        let Some(window) = &self.window else { return Ok(()) };
        let all = (self.first(number)..self.end(number)).map(Lpn);
        let all = all.filter(|&lpn| window.held(lpn).is_some()).count();
        let (within, counted) = (self.held(number).count(), self.zones[number].held);
        let is_active = self.is_active(number);
        if all != within || all != counted as usize || (all > 0 && !is_active) {
            let active = if is_active { "active" } else { "not active" };
            return Err(format!(
                "zone {number}, which is {active}, has {all} pages in memory, {within} of them in its \
                 window, and counts {counted}"
            ));
        }
        window.held.self_check()
    }
}
