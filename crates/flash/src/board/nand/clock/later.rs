//! The operations of the clock where their time is not known at once (`timing.clock = event`): what
//! each is for the controller, of which station, after what.

use super::event::{Controller, Effect, Ended, NOWHERE, Node, Other};
use super::schedule::Job;
use super::timeline::{Unit, Work};
use super::{Clock, Load, Place};
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId, Ppn};

impl Clock {
    /// Whether times are known only when they come.
    #[inline]
    pub fn is_event_driven(&self) -> bool {
        self.event.is_some()
    }

    /// The controller, to ask it for an operation more.
    fn later(&mut self) -> &mut Controller {
        let event = self.event.as_mut().expect("an event-driven clock");
        event.relieve(&mut self.timeline);
        event
    }

    pub(super) fn other(&self, which: Other) -> u32 {
        self.cells_stations + self.channels.len() as u32 + which as u32
    }

    /// Work of something that is not cells.
    fn job(unit: Unit, work: Work, cause: Cause, length: Nanos) -> Job {
        Job { unit, work, cause, length, ..Node::join().job }
    }

    fn take(&mut self, station: u32, node: Node, after: When, laws: &[u64]) -> When {
        When::of(self.later().take(station, node, after, laws.iter().copied()))
    }

    /// Cells of a plane at work for `length`.
    fn cells_job(&self, plane: PlaneId, work: (Work, Cause, bool), length: Nanos) -> (u32, Job) {
        let site = self.sites[plane.index()];
        let (work, cause, slc) = work;
        let base = Clock::job(site.unit, work, cause, length);
        (site.cells, Job { slc, die: site.die, plane: site.plane, ..base })
    }

    pub(super) fn sense_later(
        &mut self,
        at: Place,
        cause: Cause,
        after: When,
        length: Nanos,
    ) -> When {
        let slc = at.page.is_some_and(|(_, block)| self.slc.has(block));
        let (station, job) = self.cells_job(at.plane, (Work::Read, cause, slc), length);
        let number = at.page.map(|(ppn, _)| ppn.0);
        let offset = at.page.map_or(0, |page| self.offset(page));
        let programmed = at.page.map_or(0, |(ppn, _)| self.ready.to_read(ppn));
        let block = at.page.map(|(_, block)| block.0);
        let node = Node::new(Job { number, offset, ..job }, Effect::Cells, [block, None]);
        let sensed = self.take(station, node, after, &[programmed]);
        if let Some(register) = self.register_ready.get_mut(at.plane.index()) {
            *register = sensed.time();
        }
        sensed
    }

    /// After the page in a plane's register was sensed.
    pub(super) fn behind_register(&self, plane: PlaneId, cause: Cause, after: When) -> When {
        let sensed = When::at(self.register_ready[plane.index()]);
        if cause.is_map() { after.waits_for_map(sensed) } else { after.waits_for(sensed) }
    }

    pub(super) fn cross_later(
        &mut self,
        (plane, length): (PlaneId, Nanos),
        cause: Cause,
        after: When,
    ) -> When {
        let channel = self.sites[plane.index()].channel;
        let job = Clock::job(Unit::Channel(channel), Work::Transfer, cause, length);
        let node = Node::new(job, Effect::Channel, [None; 2]);
        self.take(self.cells_stations + channel, node, after, &[])
    }

    /// A page is read and programmed elsewhere in its plane, as one command.
    pub(super) fn copy_later(
        &mut self,
        (at, source): (PlaneId, (Ppn, BlockId)),
        (ppn, block): (Ppn, BlockId),
        cause: Cause,
        after: When,
        length: Nanos,
    ) -> When {
        let slc = self.slc.has(block);
        let (station, job) = self.cells_job(at, (Work::Program, cause, slc), length);
        let laws = [self.ready.to_read(source.0), self.ready.to_program(block)];
        let node = Node::new(job, Effect::Cells, [Some(source.1.0), Some(block.0)]);
        let copied = self.later().take(station, node, after, laws);
        self.booked_copy = Some(copied);
        debug_assert!(self.ready.to_read(ppn) <= copied);
        When::of(copied)
    }

    pub(super) fn program_later(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        load: Load,
        (cause, length): (Cause, Nanos),
        after: When,
    ) -> When {
        let booked = self.booked_copy.take().filter(|_| load == Load::Register);
        let operation = match booked {
            Some(copied) => copied,
            None => self.load_and_program((plane, block, ppn), load, (cause, length), after),
        };
        self.ready.programs(ppn, block, operation);
        self.newest_program = operation;
        When::of(operation)
    }

    fn load_and_program(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        load: Load,
        (cause, length): (Cause, Nanos),
        after: When,
    ) -> u64 {
        let channel = load == Load::Channel && self.transfer > 0;
        let loaded = match channel {
            true => self.cross_later((plane, self.transfer), cause, after),
            false => after,
        };
        let slc = self.slc.has(block);
        let (station, job) = self.cells_job(plane, (Work::Program, cause, slc), length);
        let job = Job { number: Some(ppn.0), offset: self.offset((ppn, block)), ..job };
        let node = Node::new(job, Effect::Cells, [Some(block.0), None]);
        let before = self.ready.to_program(block);
        let operation = self.later().take(station, node, loaded, [before]);
        if channel && self.takes_announcements() {
            self.keep_company(plane, cause, (loaded, operation));
        }
        operation
    }

    /// A program that was announced to have companions waits until they are loaded, too.
    fn keep_company(&mut self, plane: PlaneId, cause: Cause, (loaded, operation): (When, u64)) {
        let die = self.sites[plane.index()].die as usize;
        let left = self.companions[die].take(cause);
        let event = self.event.as_mut().expect("an event-driven clock");
        let group = &mut event.groups[die];
        if left > 0 {
            (group.lead, group.left, group.cause) = (operation, left, Some(cause));
            return;
        }
        if group.left == 0 || group.cause != Some(cause) {
            return;
        }
        group.left -= 1;
        let lead = group.lead;
        if event.may_wait(lead, loaded) {
            loaded.operations().for_each(|span| event.wait_also(lead, span.last));
        }
    }

    pub(super) fn erase_later(
        &mut self,
        (plane, block): (PlaneId, BlockId),
        (cause, length): (Cause, Nanos),
        after: When,
    ) -> When {
        let slc = self.slc.has(block);
        let (station, job) = self.cells_job(plane, (Work::Erase, cause, slc), length);
        let job = Job { number: Some(block.0), ..job };
        let node = Node::new(job, Effect::Cells, [Some(block.0), None]);
        let touching = self.later().open(station, Some(block.0));
        let erased = self.later().take(station, node, after, touching);
        self.ready.erases(block, erased);
        When::of(erased)
    }

    pub(super) fn mark_later(&mut self, plane: PlaneId, block: BlockId, length: Nanos) {
        let (station, job) = self.cells_job(plane, (Work::Mark, Cause::Host, false), length);
        let job = Job { number: Some(block.0), ..job };
        let node = Node::new(job, Effect::Cells, [Some(block.0), None]);
        // A mark follows the program of the newer version, which was asked for last.
        let laws = [self.newest_program, self.ready.to_program(block)];
        self.later().take(station, node, When::START, laws);
    }

    pub(super) fn control_later(&mut self, length: Nanos, cause: Cause, after: When) -> When {
        let job = Clock::job(Unit::Controller, Work::Control, cause, length);
        let node = Node::new(job, Effect::Controller, [None; 2]);
        self.take(self.other(Other::Controller), node, after, &[])
    }

    pub(super) fn move_later(
        &mut self,
        which: Other,
        (effect, cause): (Effect, Cause),
        length: Nanos,
        after: When,
    ) -> When {
        let job = Clock::job(Unit::Ram, Work::Move, cause, length);
        self.take(self.other(which), Node::new(job, effect, [None; 2]), after, &[])
    }

    /// One operation that stands for all that a token names; a moment stays one.
    #[inline]
    pub fn narrow(&mut self, token: When) -> When {
        if token.is_pending() { self.later().narrow(token) } else { token }
    }

    /// Operations of an event-driven clock, and those of them that may wait for operations of other
    /// requests which their tokens were not to name, since a token is small (`board/pending.rs`);
    /// none of another clock.
    pub fn operations_and_inexact(&self) -> (u64, u64) {
        self.event.as_ref().map_or((0, 0), |event| event.taken_and_inexact())
    }

    /// Behind `after` and everything that a plane has been given to do.
    pub fn behind(&mut self, plane: PlaneId, after: When) -> When {
        let station = self.sites[plane.index()].cells;
        let Some(event) = &mut self.event else {
            return after.waits_for(When::at(self.free_from(plane)));
        };
        let open = event.open(station, None);
        let others = Node::new(Node::join().job, Effect::Join, [None; 2]);
        let all = event.take(NOWHERE, others, When::START, open);
        after.waits_for(When::of(all))
    }

    /// A request enters the link in one of the device's slots, which keeps it for `length` in the
    /// direction to the device. Its operations follow the returned token.
    pub fn send_later(&mut self, slot: u32, length: Nanos, after: When) -> When {
        let job = Clock::job(Unit::Controller, Work::Control, Cause::Host, length);
        let station = if length == 0 { NOWHERE } else { self.other(Other::ToDevice) };
        self.take(station, Node::new(job, Effect::Begin(slot), [None; 2]), after, &[])
    }

    /// A request in one of the device's slots is done behind `done`, and for `length` on its way to
    /// the host, over a link of one direction or in the other one.
    pub fn receive_later(&mut self, slot: u32, (length, shared): (Nanos, bool), done: When) {
        let job = Clock::job(Unit::Controller, Work::Control, Cause::Host, length);
        let direction = if shared { Other::ToDevice } else { Other::ToHost };
        let station = if length == 0 { NOWHERE } else { self.other(direction) };
        let _ = self.take(station, Node::new(job, Effect::End(slot), [None; 2]), done, &[]);
    }

    /// A request that is done, first done first; none, if none is by now.
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.later().next_ended()
    }

    /// A request enters at `time`, by either clock; its operations may start from the returned
    /// moment.
    pub fn enter(&mut self, time: Nanos) -> When {
        if let Some(event) = &mut self.event {
            event.enter(time, &mut self.timeline);
        }
        self.admit(time)
    }

    /// Simulated time moves on to `time`.
    pub fn run_until(&mut self, time: Nanos) {
        if let Some(event) = &mut self.event {
            event.run_until(time, &mut self.timeline);
        }
    }

    /// Simulated time moves on until a request is done.
    ///
    /// # Panics
    /// When none is under way.
    pub fn run_to_end_of_any(&mut self) {
        if let Some(event) = &mut self.event {
            event.run_to_end_of_any(&mut self.timeline);
        }
    }

    /// Simulated time moves on until all is done.
    pub fn run_to_rest(&mut self) {
        if let Some(event) = &mut self.event {
            event.run_to_rest(&mut self.timeline);
        }
    }

    /// When all is done that a token names, and by which path: where that is not known, simulated
    /// time moves on until it is.
    #[inline]
    pub fn settle(&mut self, token: When) -> When {
        match &mut self.event {
            Some(event) => event.run_to(token, &mut self.timeline),
            None => token,
        }
    }
}
