//! Requests that are served one after another, with what can be decided and looked at once for all.

use super::{Device, DeviceError, Served, Ssd};
use ftlab_flash::request::{Op, Request};
use ftlab_flash::units::Lpn;
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

    pub(super) fn submit_row<const PLAIN: bool>(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        for some in requests.chunks_mut(AHEAD) {
            if PLAIN && some.len() > 1 {
                self.look_ahead(some);
            }
            for request in some {
                if let Some(now) = &mut served.closed {
                    *now = self.next_slot().max(*now);
                    request.arrival = *now;
                }
                let completion = self.submit_one::<PLAIN>(request, request.arrival)?;
                served.longest.passes(completion.arrival, completion.admitted);
                served.completed = served.completed.max(completion.completed);
            }
        }
        Ok(())
    }
}
