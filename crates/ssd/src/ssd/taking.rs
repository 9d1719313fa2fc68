//! One request: taken by the device, served, and counted.

use super::taken::Taken;
use super::{DeviceError, Ssd};
use crate::buffer::Front;
use ftlab_flash::request::{Completion, Op, Request, Stages};
use ftlab_flash::units::Nanos;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    /// Serves a request and counts it as completed.
    #[inline(always)]
    pub(super) fn submit_one(
        &mut self,
        request: &Request,
        at: Nanos,
    ) -> Result<Completion, DeviceError> {
        let taken = self.take::<false>(request, at)?;
        let completion = self.completion(&taken);
        self.count(request.op, &completion);
        if self.streams > 1 {
            self.board.meter_mut().stream(request.unit % self.streams, request, &completion);
        }
        Ok(completion)
    }

    #[inline(always)]
    pub(super) fn count(&mut self, op: Op, completion: &Completion) {
        if self.board.meter_mut().complete(op, completion) {
            let free_blocks = self.scheme().room().free_blocks;
            self.board.meter_mut().sample_free_blocks(free_blocks);
        }
    }

    #[inline(always)]
    pub(super) fn check_request(&self, request: &Request) -> Result<(), DeviceError> {
        self.split.check_range(request)?;
        assert!(
            request.sectors > 0 || request.op == Op::Flush,
            "a {:?} request must have at least one sector",
            request.op
        );
        Ok(())
    }

    /// Serves a request, whose completion the caller counts. A `PLAIN` device has neither a buffer
    /// nor a link that takes time, tells no streams apart, and does nothing in gaps.
    #[inline(always)]
    pub(super) fn take<const PLAIN: bool>(
        &mut self,
        request: &Request,
        at: Nanos,
    ) -> Result<Taken, DeviceError> {
        self.check_request(request)?;
        let pages = match request.op {
            Op::Flush => (0, 0),
            _ => self.split.pages(request),
        };
        self.take_pages::<PLAIN>(request, pages, at)
    }

    /// The same of a request that is legal: its first page, and how many there are.
    #[inline(always)]
    pub(super) fn take_pages<const PLAIN: bool>(
        &mut self,
        request: &Request,
        pages: (u32, u32),
        at: Nanos,
    ) -> Result<Taken, DeviceError> {
        let (arrival, at) = (request.arrival + self.epoch, request.arrival.max(at) + self.epoch);
        if !PLAIN {
            let works = self.idle_work || self.buffer.as_ref().is_some_and(Front::works_in_gaps);
            if works && at > self.last_completion {
                self.use_gap(at)?;
            }
        }
        let (admitted, start) = self.admit(at);
        let (begun, start) = match PLAIN {
            true => (admitted, start),
            false => self.send_command(request, admitted, start),
        };
        let counted = (u64::from(pages.1), u64::from(request.sectors));
        self.board.meter_mut().request(request.op, counted.0, counted.1);
        self.unreadable = None;
        if !PLAIN {
            self.ledger.begin();
        }
        let (ready, noted) = match self.serve_and_settle::<PLAIN>(request, pages, (begun, start)) {
            Ok(times) => times,
            Err(error) => {
                self.board.meter_mut().interrupt();
                return Err(error);
            }
        };
        let completed = match request.op {
            Op::Read if !PLAIN && !self.board.link().is_free() => {
                self.board.link_mut().receive(ready, request.sectors)
            }
            _ => ready,
        };
        self.outstanding.push(completed);
        self.last_completion = self.last_completion.max(completed);
        Ok(Taken { arrival, admitted, begun, ready, completed, noted })
    }

    /// The same as the host sees it.
    #[inline(always)]
    pub(super) fn completion(&self, taken: &Taken) -> Completion {
        let &Taken { arrival, admitted, begun, ready, completed, noted } = taken;
        let split = noted.within(ready - begun);
        let completion = Completion {
            arrival: arrival - self.epoch,
            admitted: admitted - self.epoch,
            completed: completed - self.epoch,
            stages: Stages {
                driver_queue: admitted - arrival,
                host_link: (begun - admitted) + (completed - ready),
                controller: split.controller,
                buffer: split.buffer,
                map: split.map,
                flash: split.flash,
                channel: split.channel,
            },
            unreadable: self.unreadable,
        };
        let Completion { stages, .. } = completion;
        debug_assert_eq!(stages.total(), completion.system(), "stages of {completion:?}");
        completion
    }
}
