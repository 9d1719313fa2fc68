//! Requests that are served one after another, with what can be decided and looked at once for all.

use std::ops::Range;

use super::taking::Taken;
use super::{Device, DeviceError, Served, Ssd};
use ftlab_flash::board::Board;
use ftlab_flash::meter::{Meter, Totals};
use ftlab_flash::request::{Completion, Op, Request};
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
            let Completion { arrival, admitted, completed, .. } =
                self.submit_one(request, request.arrival)?;
            served.note((arrival, admitted, completed));
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
                let taken = self.take::<true>(request, request.arrival)?;
                let [arrival, admitted, completed] =
                    [taken.arrival, taken.admitted, taken.completed].map(|at| at - self.epoch);
                served.note((arrival, admitted, completed));
                if self.unreadable.is_some() || !alike.takes(request.op, &taken, &self.board) {
                    alike.count(self.board.meter_mut());
                    let completion = self.completion(&taken);
                    self.count(request.op, &completion);
                    alike.begin(request.op, (taken, completion), self.board.meter());
                }
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
    fn note(&mut self, (arrival, admitted, completed): (Nanos, Nanos, Nanos)) {
        self.longest.passes(arrival, admitted);
        self.completed = self.completed.max(completed);
    }
}

/// Requests that went like the one that was counted before them, as most writes do between two
/// collections: as long, by the same stages, and done in the same window. They are counted together.
#[derive(Default)]
struct Alike {
    like: Option<(Op, Completion)>,
    taken: Taken,
    /// On the device's own clock.
    window: Range<Nanos>,
    /// How many there are, when the last of them was done, and what was counted by then.
    requests: u32,
    last: Nanos,
    totals: Totals,
}

impl Alike {
    /// This request was counted; others may be like it, unless it could not be read.
    #[inline(always)]
    fn begin(&mut self, op: Op, (taken, completion): (Taken, Completion), meter: &Meter) {
        let epoch = taken.completed - completion.completed;
        let Range { start, end } = meter.present_window();
        *self = Alike {
            like: completion.unreadable.is_none().then_some((op, completion)),
            taken,
            window: start + epoch..end + epoch,
            ..Alike::default()
        };
    }

    /// Takes a request in, if it is like those before.
    #[inline(always)]
    fn takes(&mut self, op: Op, taken: &Taken, board: &Board) -> bool {
        let first = &self.taken;
        let is_alike = self.like.is_some_and(|(known, _)| known == op)
            && taken.completed - taken.admitted == first.completed - first.admitted
            && taken.admitted - taken.arrival == first.admitted - first.arrival
            && taken.split == first.split
            && self.window.contains(&taken.completed);
        if is_alike {
            (self.last, self.totals) = (taken.completed, board.meter().totals());
            self.requests += 1;
        }
        is_alike
    }

    /// Counts those that were taken in.
    #[inline(always)]
    fn count(&mut self, meter: &mut Meter) {
        let Some((op, like)) = self.like else { return };
        if self.requests > 0 {
            let later = self.last - self.taken.completed;
            let completion = Completion {
                arrival: like.arrival + later,
                admitted: like.admitted + later,
                completed: like.completed + later,
                ..like
            };
            meter.complete_alike(op, &completion, self.requests, self.totals);
            self.requests = 0;
        }
    }
}
