//! Requests that are served one after another, with what can be decided and looked at once for all.
//!
//! Requests go in chunks to a device that a driver reaches directly, where nobody wants to hear of
//! single ones (rows, probe, phases, `--loop`, `--until`): the order, the times and the counts are
//! those of single requests. A test holds chunks against these, windows and all. A device without
//! buffer, link, streams and work in gaps decides that once per chunk; requests that go like others
//! of their window are counted together (`alike`), at the latest before something else is done.
//!
//! Where one server serves one request at a time and every page takes the same time, single-page
//! writes that wait for nothing else (`Scheme::write_alike`) have what the first booked booked for
//! all of a row (`clock/repeat.rs`): only the server's time passes with each. Where only cells and
//! channels take time, each is booked by itself, but without a token, whose path could have no
//! other part (`PathSplit::of_program`).

mod alike;

use super::taken::Taken;
use super::{DeviceError, Served, Ssd};
pub(super) use alike::Alike;
use ftlab_flash::board::nand::clock::PathSplit;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{Completion, Op, PageIo, Request, RequestShape};
use ftlab_flash::units::{Lpn, Nanos, Ppn};
use ftlab_ftl::scheme::{MOST_AHEAD, Scheme};

/// How writes of single pages are served that wait for nothing else.
mod rows {
    /// One by one, as all requests are.
    pub const NONE: u8 = 0;
    /// In rows of such that do the same, which is booked at once but for the server's time.
    pub const BOOKED_AT_ONCE: u8 = 1;
    /// In rows of such that take as long, each of which is booked by itself, without a token.
    pub const BOOKED_SINGLY: u8 = 2;
}

impl<S: Scheme> Ssd<S> {
    /// Whether it has neither a buffer nor a link that takes time, tells no streams apart, and does
    /// nothing in gaps.
    pub(super) fn is_plain(&self) -> bool {
        self.buffer.is_none() && self.board.link().is_free() && self.streams == 1 && !self.idle_work
    }

    /// Looks where the first pages of requests are, one after another and at nothing else, so that
    /// the memory that says so is at hand when they are served: one after the other each request
    /// would wait for it. First all are located, then looked at: nobody waits for what only the one
    /// before needs. What is found is not used, because it may be wrong by then.
    fn look_ahead(&self, requests: &[Request]) {
        const { assert!(S::AHEAD > 0 && S::AHEAD <= MOST_AHEAD) };
        let (mut places, mut known) = ([Ppn(0); MOST_AHEAD], 0);
        for request in requests {
            let sector = request.first_sector;
            if matches!(request.op, Op::Read | Op::Write) && sector < self.split.capacity() {
                let page = Lpn(self.split.page_of(sector) as u32);
                if let Some(ppn) = self.scheme().find_ahead(&self.board, page) {
                    places[known] = ppn;
                    known += 1;
                }
            }
        }
        let seen = self.scheme().glance_ahead(&self.board, requests.len());
        let seen = places[..known]
            .iter()
            .fold(seen, |seen, &ppn| seen ^ self.scheme().glance_at(&self.board, ppn));
        std::hint::black_box(seen);
    }

    pub(super) fn submit_row(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        for request in requests {
            self.arrives(request, served);
            let Completion { arrival, admitted, completed, .. } =
                self.submit_one(request, request.arrival)?;
            served.note((arrival, admitted, completed));
        }
        Ok(())
    }

    /// The same of a plain device; what is like others is left to be counted with them
    /// ([`Ssd::count_alike`]).
    pub(super) fn submit_plain_row(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        // A piece of a request, or what comes behind the last piece of one.
        let is_whole = self.board.meter().counts_whole_requests();
        let alone = usize::from(!is_whole).min(requests.len());
        let (first, requests) = requests.split_at_mut(alone);
        self.submit_row(first, served)?;
        let all = match self.rows(served) {
            rows::BOOKED_AT_ONCE => {
                self.submit_and_compare::<{ rows::BOOKED_AT_ONCE }>(requests, served)
            }
            rows::BOOKED_SINGLY => {
                self.submit_and_compare::<{ rows::BOOKED_SINGLY }>(requests, served)
            }
            _ => self.submit_and_compare::<{ rows::NONE }>(requests, served),
        };
        if all.is_err() {
            self.count_alike();
        }
        all
    }

    fn rows(&self, served: &Served) -> u8 {
        // In a closed loop who arrives is admitted.
        if !S::WRITES_ALIKE || S::READS_CONTENT || served.closed.is_none() {
            return rows::NONE;
        }
        // Who waits for nobody but the request before arrives when that is done.
        let is_now = !S::ALIKE_ON_ONE_SERVER || self.board.serves_at_once();
        if self.outstanding.is_one() && self.board.writes_alike() && is_now {
            return rows::BOOKED_AT_ONCE;
        }
        let singly = !S::ALIKE_ON_ONE_SERVER && self.board.writes_by_cells();
        if singly { rows::BOOKED_SINGLY } else { rows::NONE }
    }

    /// What is like the request before is left to be counted with others; where writes come in
    /// `ROWS`, their time is booked with that of others as well, or told without a token.
    #[inline(always)]
    fn submit_and_compare<const ROWS: u8>(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        for some in requests.chunks_mut(S::AHEAD) {
            if some.len() > 1 {
                self.look_ahead(some);
            }
            let mut row = Row::default();
            for request in some {
                let is_written = match ROWS {
                    rows::BOOKED_AT_ONCE => self.write_in_row(request, &mut row),
                    rows::BOOKED_SINGLY => self.write_timed(request, served, &mut row),
                    _ => false,
                };
                if !is_written {
                    self.end_row::<ROWS>(&mut row, served);
                    self.submit_first::<ROWS>(request, served)?;
                }
            }
            self.end_row::<ROWS>(&mut row, served);
        }
        Ok(())
    }

    /// A request that may be like the one before and is served by itself.
    #[inline(always)]
    fn submit_first<const ROWS: u8>(
        &mut self,
        request: &mut Request,
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        self.arrives(request, served);
        let repeats = ROWS == rows::BOOKED_AT_ONCE && self.would_write_alike(request);
        let before = match repeats {
            true => Some(self.board.nand().clock().booked()),
            false => None,
        };
        let taken = match self.only_page(request) {
            // As most are: what follows is decided once for them.
            Some(page) => {
                let write = Request { op: Op::Write, ..*request };
                self.take_pages::<true>(&write, (page, 1), request.arrival)?
            }
            None => self.take_any(request)?,
        };
        let since = |at: Nanos| at - self.epoch;
        served.note((since(taken.arrival), since(taken.admitted), since(taken.completed)));
        if self.unreadable.is_some() || !self.alike.takes(request.op, &taken, &self.board) {
            self.begin_alike(request.op, &taken);
        }
        if ROWS == rows::BOOKED_SINGLY {
            self.alike.compares_writes();
        }
        if let Some(before) = before.filter(|_| self.alike.left == 0) {
            let booked = self.board.nand().clock().booked_since(&before);
            self.alike.repeats(&taken, booked.of_the_server());
        }
        Ok(())
    }

    /// A request that is not like those before is counted; others may be like it.
    #[inline(never)]
    fn begin_alike(&mut self, op: Op, taken: &Taken) {
        for kind in self.alike.give_way(op, taken) {
            self.count_kind(kind);
        }
        let completion = self.completion(taken);
        self.count(op, &completion);
        let is_readable = completion.unreadable.is_none();
        self.alike.begin(op, (taken, is_readable), self.board.meter(), self.epoch);
    }

    /// Counts those of a kind that were left to be counted together.
    fn count_kind(&mut self, kind: usize) {
        if let Some((op, taken, requests, totals)) = self.alike.take(kind) {
            let completion = Completion { unreadable: None, ..self.completion(&taken) };
            self.board.meter_mut().complete_alike(op, &completion, requests, totals);
        }
    }

    /// Counts all requests that were left to be counted together.
    pub(super) fn count_alike(&mut self) {
        if self.alike.is_empty() {
            return;
        }
        for kind in 0..Alike::KINDS {
            self.count_kind(kind);
        }
        self.alike = Alike::default();
    }

    #[inline(never)]
    fn take_any(&mut self, request: &Request) -> Result<Taken, DeviceError> {
        self.take::<true>(request, request.arrival)
    }

    /// The page of a write that is legal and of a single one, or of a part of it; none of any other
    /// request.
    #[inline(always)]
    fn only_page(&self, request: &Request) -> Option<u32> {
        let Request { op, first_sector, sectors, .. } = *request;
        let end = first_sector.saturating_add(u64::from(sectors));
        if op != Op::Write || sectors == 0 || end > self.split.capacity() {
            return None;
        }
        let (first, pages) = self.split.pages(request);
        (pages == 1).then_some(first)
    }

    fn would_write_alike(&self, request: &Request) -> bool {
        let page = self.only_page(request);
        page.is_some_and(|page| self.scheme().would_write_alike(&self.board, Lpn(page)))
    }

    /// Writes a page as the request did that others are like, but for its time; false, with nothing
    /// done, where it must be served by itself.
    #[inline(always)]
    fn write_in_row(&mut self, request: &Request, row: &mut Row) -> bool {
        if row.requests >= self.alike.left {
            return false;
        }
        let is_written = self.write_untimed(request).is_some();
        if is_written {
            self.board.nand_mut().clock_mut().serve_again(&self.alike.booked);
            row.requests += 1;
            row.sectors += u64::from(request.sectors);
        }
        is_written
    }

    /// Writes a page as [`Scheme::write_alike`] does: where it lies; none, with nothing done, where
    /// it must be served by itself.
    #[inline(always)]
    fn write_untimed(&mut self, request: &Request) -> Option<Ppn> {
        let page = self.only_page(request)?;
        let hint = self.hints.of(request, self.unit_stride);
        let (lpn, sectors) = (Lpn(page), request.sectors);
        let shape = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors, hint };
        let sectors = self.split.sectors(request, page);
        let data = self.version_to_come();
        let io = PageIo { lpn, sectors, cause: Cause::Host, data, request: shape };
        let (_, below) = self.parts();
        let new = below.scheme.write_alike(below.board, &io)?;
        self.next_tag = data.0;
        self.ledger.wrote(lpn, data);
        Some(new)
    }

    /// Writes a page and tells its time, which may or may not be that of the requests that are
    /// counted together; false, with nothing done, where it must be served by itself.
    #[inline(always)]
    fn write_timed(&mut self, request: &mut Request, served: &mut Served, row: &mut Row) -> bool {
        // Where a page lies does not depend on when the request enters.
        let Some(new) = self.write_untimed(request) else { return false };
        self.arrives(request, served);
        let arrival = request.arrival + self.epoch;
        let (admitted, _) = self.admit(arrival);
        let (loaded, completed) = self.board.time_program(new, admitted);
        self.outstanding.push(completed);
        self.last_completion = self.last_completion.max(completed);
        served.note((request.arrival, admitted - self.epoch, completed - self.epoch));
        if arrival == admitted && self.alike.takes_write(admitted, (loaded, completed)) {
            row.requests += 1;
            row.sectors += u64::from(request.sectors);
            row.last = completed;
        } else {
            self.end_row::<{ rows::BOOKED_SINGLY }>(row, served);
            let noted = PathSplit::of_program(admitted, (loaded, completed));
            let (begun, ready) = (admitted, completed);
            let taken = Taken { arrival, admitted, begun, ready, completed, noted };
            self.begin_timed(request, taken);
        }
        true
    }

    #[inline(never)]
    fn begin_timed(&mut self, request: &Request, taken: Taken) {
        let sectors = u64::from(request.sectors);
        self.board.meter_mut().requests_of_a_page(Op::Write, 1, sectors);
        self.unreadable = None;
        if !self.alike.takes(Op::Write, &taken, &self.board) {
            self.begin_alike(Op::Write, &taken);
        }
        self.alike.compares_writes();
    }

    /// Books, where it is not, and notes the time of those that were written in a row.
    #[inline(always)]
    fn end_row<const ROWS: u8>(&mut self, row: &mut Row, served: &mut Served) {
        if row.requests == 0 {
            return;
        }
        match ROWS {
            rows::BOOKED_AT_ONCE => self.book_row(std::mem::take(row), served),
            _ => self.count_row(std::mem::take(row)),
        }
    }

    #[inline(always)]
    fn count_row(&mut self, row: Row) {
        let Row { requests, sectors, last } = row;
        self.board.meter_mut().requests_of_a_page(Op::Write, requests, sectors);
        self.alike.takes_row(requests, last, &self.board);
    }

    #[inline(never)]
    fn book_row(&mut self, row: Row, served: &mut Served) {
        let requests = row.requests;
        self.board.nand_mut().clock_mut().book_again(&self.alike.booked, requests);
        let completed = self.last_completion + requests * self.alike.booked.length();
        self.outstanding.push(completed);
        self.last_completion = completed;
        served.completed = served.completed.max(completed - self.epoch);
        served.closed = Some(completed - self.alike.booked.length() - self.epoch);
        self.alike.left -= requests;
        self.count_row(Row { last: completed, ..row });
    }

    /// When a slot of the queue is free, on the clock of arrivals; 0 if one is.
    #[inline(always)]
    pub(super) fn slot_free_from(&self) -> Nanos {
        self.outstanding.next_slot().map_or(0, |done| done - self.epoch)
    }

    /// In a closed loop a request arrives when the device can take it.
    #[inline(always)]
    fn arrives(&self, request: &mut Request, served: &mut Served) {
        if let Some(now) = &mut served.closed {
            *now = self.slot_free_from().max(*now);
            request.arrival = *now;
        }
    }
}

impl Served {
    #[inline(always)]
    fn note(&mut self, (arrival, admitted, completed): (Nanos, Nanos, Nanos)) {
        self.longest.passes(arrival, admitted);
        self.completed = self.completed.max(completed);
    }
}

/// Requests that were written one after another, each as long as the one that they are like, and
/// are not counted yet. Where all are booked at once the server is done with them, and what else the
/// clock knows of them follows.
#[derive(Default)]
struct Row {
    requests: u64,
    sectors: u64,
    /// When the last of them was done, where each is booked.
    last: Nanos,
}

#[cfg(test)]
mod tests;
