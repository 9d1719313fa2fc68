//! Requests whose completion is known only when simulated time reaches it (`timing.clock = event`).
//!
//! A request is taken as ever: the scheme does all of it at once, and the last token names what
//! must be over. It then waits in its slot while others are taken. Time moves on to the next
//! arrival, or, with every slot taken, to the first completion: nothing that arrives later can
//! change what has happened by then.

use super::taken::Taken;
use super::{Device, DeviceError, Served, Ssd};
use crate::later::{Later, Waiting};
use ftlab_flash::board::nand::clock::Ended;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Piece;
use ftlab_flash::request::{Completion, Op, Request};
use ftlab_flash::units::Nanos;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    fn waiting(&mut self) -> &mut Later {
        self.later.as_mut().expect("an event-driven clock")
    }

    /// Takes requests one after another. Those of a closed loop arrive when a slot is free.
    pub(super) fn submit_row_for_later(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        // What is done meanwhile is counted, and the piece that was told is of the first of these.
        let mut piece = self.board.meter_mut().set_aside();
        for request in requests {
            if let Some(now) = served.closed {
                self.make_room(&mut Some(&mut *served));
                let arrival = self.next_slot().max(now);
                served.closed = Some(arrival);
                request.arrival = arrival;
            }
            let admitted =
                self.take_for_later((request, piece.take()), request.arrival, Some(served))?.1;
            served.longest.passes(request.arrival, admitted - self.epoch);
        }
        Ok(())
    }

    /// Takes a request and lets time pass until it is done.
    pub(super) fn submit_and_wait(
        &mut self,
        request: &Request,
        at: Nanos,
    ) -> Result<Completion, DeviceError> {
        let piece = self.board.meter_mut().set_aside();
        let (slot, _) = self.take_for_later((request, piece), at, None)?;
        loop {
            match self.next_completion() {
                Some((done, completion)) if done == slot => return Ok(completion),
                Some(_) => {}
                None => self.board.nand_mut().clock_mut().run_to_end_of_any(),
            }
        }
    }

    /// Counts what is done by now.
    fn complete(&mut self, served: &mut Option<&mut Served>) {
        while let Some((_, completion)) = self.next_completion() {
            if let Some(served) = served {
                served.completed = served.completed.max(completion.completed);
            }
        }
    }

    /// Lets time pass until a slot is free, if none is.
    fn make_room(&mut self, served: &mut Option<&mut Served>) {
        while self.waiting().is_full() {
            self.board.nand_mut().clock_mut().run_to_end_of_any();
            self.complete(served);
        }
    }

    /// All that was taken is done.
    pub(super) fn complete_rest(&mut self, served: &mut Served) {
        if self.later.is_some() {
            self.rest(&mut Some(served));
        }
    }

    /// The same, and nobody wants to know when.
    pub(super) fn come_to_rest(&mut self) {
        self.count_alike();
        if self.later.is_some() {
            self.rest(&mut None);
        }
    }

    fn rest(&mut self, served: &mut Option<&mut Served>) {
        self.board.nand_mut().clock_mut().run_to_rest();
        self.complete(served);
        assert!(self.waiting().is_empty(), "a request was never done");
    }

    /// Takes a request, and which piece it is, as soon as a slot is free; the slot, and when that
    /// was.
    fn take_for_later(
        &mut self,
        (request, piece): (&Request, Option<Piece>),
        at: Nanos,
        mut served: Option<&mut Served>,
    ) -> Result<(u32, Nanos), DeviceError> {
        self.check_request(request)?;
        let (arrival, at) = (request.arrival + self.epoch, request.arrival.max(at) + self.epoch);
        self.board.nand_mut().clock_mut().run_until(at);
        self.complete(&mut served);
        self.make_room(&mut served);
        let clock = self.board.nand_mut().clock_mut();
        let admitted = clock.now().max(at);
        let start = clock.enter(admitted);
        let slot = self.waiting().take_slot();
        let sent = if request.op == Op::Write { request.sectors } else { 0 };
        let length = self.board.link().sends_for(sent);
        let start = self.board.nand_mut().clock_mut().send_later(slot, length, start);
        let pages = match request.op {
            Op::Flush => (0, 0),
            _ => self.split.pages(request),
        };
        let counted = (u64::from(pages.1), u64::from(request.sectors));
        self.board.meter_mut().present_is(piece);
        self.board.meter_mut().request(request.op, counted.0, counted.1);
        self.unreadable = None;
        self.ledger.begin();
        let done = match self.serve_for_later(request, pages, start) {
            Ok(done) => done,
            Err(error) => {
                self.board.meter_mut().interrupt();
                self.waiting().give_back(slot);
                // Nothing will come of requests in pieces: those that wait count by themselves.
                self.waiting().forget_pieces();
                return Err(error);
            }
        };
        let link = self.board.link();
        let received = if request.op == Op::Read { request.sectors } else { 0 };
        let back = (link.receives_for(received), link.is_shared());
        self.board.nand_mut().clock_mut().receive_later(slot, back, done);
        // Others are counted before this one is.
        let _ = self.board.meter_mut().set_aside();
        let unreadable = self.unreadable;
        let waiting = Waiting { op: request.op, arrival, admitted, unreadable, piece };
        self.waiting().waits(slot, waiting);
        Ok((slot, admitted))
    }

    /// Does a request, then what the scheme has to do behind it.
    fn serve_for_later(
        &mut self,
        request: &Request,
        pages: (u32, u32),
        start: When,
    ) -> Result<When, DeviceError> {
        let done = self.serve::<false>(request, pages, start)?;
        let (_, below) = self.parts();
        below.scheme.behind_request(below.board, done)?;
        Ok(done)
    }

    /// Counts the request that was done first of those that are done by now.
    fn next_completion(&mut self) -> Option<(u32, Completion)> {
        let Ended { slot, begun, ready, completed } =
            self.board.nand_mut().clock_mut().next_ended()?;
        let waiting = self.waiting().is_done(slot);
        let Waiting { op, arrival, admitted, unreadable, piece } = waiting;
        let clock = self.board.nand().clock();
        let noted = clock.noted(ready);
        let ready = clock.known(ready);
        self.last_completion = self.last_completion.max(completed);
        self.unreadable = unreadable;
        let taken = Taken { arrival, admitted, begun, ready, completed, noted };
        let completion = self.completion(&taken);
        self.board.meter_mut().present_is(piece);
        self.count(op, &completion);
        Some((slot, completion))
    }
}
