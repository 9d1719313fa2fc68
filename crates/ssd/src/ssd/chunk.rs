//! Requests that are served one after another, with what can be decided and looked at once for all.

use std::ops::Range;

use super::{Device, DeviceError, Served, Ssd};
use ftlab_flash::meter::{Meter, Totals};
use ftlab_flash::request::{Completion, Op, Request, Stages};
use ftlab_flash::units::{Lpn, Nanos};
use ftlab_ftl::answers::Location;
use ftlab_ftl::scheme::Scheme;

/// Requests whose pages are looked at ahead together: as many as a core waits for at a time, and few
/// enough that what one finds is still at hand when the last of them is served.
const AHEAD: usize = 8;

impl<S: Scheme> Ssd<S> {
    /// Whether it has neither a buffer nor a link that takes time, tells no streams apart, and does
    /// nothing in gaps.
    pub(super) fn is_plain(&self) -> bool {
        self.buffer.is_none() && self.link.is_free() && self.streams == 1 && !self.idle_work
    }

    /// Looks where the first pages of requests are, one after another and at nothing else, so that
    /// the memory that says so is at hand when they are served: one after the other each request
    /// would wait for it. What is found is not used, because it may be wrong by then.
    fn look_ahead(&self, requests: &[Request]) {
        let mut seen = 0;
        for request in requests {
            let sector = request.first_sector;
            if matches!(request.op, Op::Read | Op::Write) && sector < self.split.capacity() {
                let page = Lpn(self.split.page_of(sector) as u32);
                if let Location::Flash(ppn) = self.scheme().locate(&self.board, page) {
                    seen ^= self.board.nand().state().block_of(ppn).valid;
                    seen ^= u32::from(self.board.nand().state().is_valid(ppn));
                }
            }
        }
        std::hint::black_box(seen);
    }

    pub(super) fn submit_row(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        for request in requests {
            self.arrives(request, served);
            let completion = self.submit_one(request, request.arrival)?;
            served.note(&completion);
        }
        Ok(())
    }

    /// The same of a plain device.
    pub(super) fn submit_plain_row(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        let mut alike = Alike::default();
        let all = self.submit_and_compare(requests, served, &mut alike);
        alike.count(self.board.meter_mut());
        all
    }

    /// What is like the request before is left to be counted with others.
    #[inline(always)]
    fn submit_and_compare(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
        alike: &mut Alike,
    ) -> Result<(), DeviceError> {
        for some in requests.chunks_mut(AHEAD) {
            if some.len() > 1 {
                self.look_ahead(some);
            }
            for request in some {
                self.arrives(request, served);
                let completion = self.take::<true>(request, request.arrival)?;
                if !alike.takes(request.op, &completion, self.board.meter()) {
                    alike.count(self.board.meter_mut());
                    self.count(request.op, &completion);
                    alike.begin(request.op, &completion, self.board.meter().present_window());
                }
                served.note(&completion);
            }
        }
        Ok(())
    }

    /// In a closed loop a request arrives when the device can take it.
    #[inline(always)]
    fn arrives(&self, request: &mut Request, served: &mut Served) {
        if let Some(now) = &mut served.closed {
            *now = self.next_slot().max(*now);
            request.arrival = *now;
        }
    }
}

impl Served {
    #[inline(always)]
    fn note(&mut self, completion: &Completion) {
        self.longest.passes(completion.arrival, completion.admitted);
        self.completed = self.completed.max(completion.completed);
    }
}

/// Requests that went like the one that was counted before them, as most writes do between two
/// collections: as long, by the same stages, and done in the same window. They are counted together.
#[derive(Default)]
struct Alike {
    op: Option<Op>,
    device: Nanos,
    stages: Stages,
    window: Range<Nanos>,
    /// How many there are, when the last of them was done, and what was counted by then.
    requests: u32,
    last: Nanos,
    totals: Totals,
}

impl Alike {
    /// This request was counted; others may be like it.
    #[inline(always)]
    fn begin(&mut self, op: Op, completion: &Completion, window: Range<Nanos>) {
        let is_whole = completion.unreadable.is_none();
        *self = Alike {
            op: is_whole.then_some(op),
            device: completion.device(),
            stages: completion.stages,
            window,
            ..Alike::default()
        };
    }

    /// Takes a request in, if it is like those before.
    #[inline(always)]
    fn takes(&mut self, op: Op, completion: &Completion, meter: &Meter) -> bool {
        // The stages but for the first are what the time in the device was spent on.
        let is_alike = self.op == Some(op)
            && completion.device() == self.device
            && completion.stages == self.stages
            && completion.unreadable.is_none()
            && self.window.contains(&completion.completed);
        if is_alike {
            (self.last, self.totals) = (completion.completed, meter.totals());
            self.requests += 1;
        }
        is_alike
    }

    /// Counts those that were taken in.
    #[inline(always)]
    fn count(&mut self, meter: &mut Meter) {
        if let (Some(op), 1..) = (self.op, self.requests) {
            let arrival = self.last - self.stages.total();
            let completion = Completion {
                arrival,
                admitted: arrival + self.stages.driver_queue,
                completed: self.last,
                stages: self.stages,
                unreadable: None,
            };
            meter.complete_alike(op, &completion, self.requests, self.totals);
            self.requests = 0;
        }
    }
}
