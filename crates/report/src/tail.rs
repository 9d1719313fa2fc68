//! `--tail`: why the slowest requests are slow.
//!
//! Every read and write is looked at when it was served: its time by stage, which the clock's
//! tokens carry, what the device counted and how long the flash worked since the request before,
//! and who was in front of it. Which requests are the slowest is known only at the end, so sums are
//! kept by response time (`tail/sums.rs`), and the ten worst one by one. Nothing is allocated while
//! a run is measured, and a run that does not ask pays nothing: the flash tells its work to the
//! record that `--probe` draws from.
//!
//! What this does not know: for how long a request waited for which of those in front. Their work
//! is told as a whole, on whatever die it was done.

pub(crate) mod in_front;
pub(crate) mod sums;
pub(crate) mod worst;

use std::collections::VecDeque;

use ftlab_engine::meter::Counts;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::ssd::Device;

use crate::derive;
use crate::records::op_name;
use crate::result::Tail;
use in_front::InFront;
use sums::{ByTime, Seen};
use worst::{One, WorstOnes};

/// Watches a run.
#[derive(Debug)]
pub struct TailRecorder {
    /// Counts when the request before was served.
    before: Counts,
    /// Requests that arrived.
    arrived: u64,
    /// Those of them that were not served, in order of arrival, with their numbers.
    waiting: VecDeque<(u64, Request)>,
    in_front: InFront,
    by_time: ByTime,
    worst: WorstOnes,
}

impl TailRecorder {
    /// Before the first measured request.
    #[must_use]
    pub fn new(device: &mut dyn Device) -> Self {
        device.board_mut().nand_mut().timeline_mut().start_tally();
        let host = &device.config().host;
        // As many as a driver holds, and the one that comes.
        let room = host.streams as usize * host.driver_queue_depth as usize + 1;
        TailRecorder {
            before: device.board().meter().counts(),
            arrived: 0,
            waiting: VecDeque::with_capacity(room),
            in_front: InFront::new(),
            by_time: ByTime::new(),
            worst: WorstOnes::new(),
        }
    }

    /// A request arrives; in order of arrival, before it is handed to the device.
    pub fn arrives(&mut self, request: &Request) {
        self.waiting.push_back((self.arrived, *request));
        self.arrived += 1;
    }

    /// A request was served.
    ///
    /// # Panics
    /// When it never arrived.
    pub fn served(&mut self, device: &mut dyn Device, request: &Request, completion: &Completion) {
        let epoch = device.measured_from();
        let tally = device.board_mut().nand_mut().timeline_mut().take_tally();
        let now = device.board().meter().counts();
        let counts = now.since(&self.before);
        self.before = now;
        // Requests that are equal in everything cannot be told apart, and need not be.
        let place = self.waiting.iter().position(|(_, waiting)| waiting == request);
        let waited = place.and_then(|place| self.waiting.remove(place));
        let (index, _) = waited.expect("what was served has arrived");
        let oldest = self.waiting.front().map_or(request.arrival, |(_, first)| first.arrival);
        self.in_front.forget(oldest.min(request.arrival));
        if matches!(request.op, Op::Read | Op::Write) {
            let seen = Seen {
                response: completion.system(),
                stages: completion.stages,
                counts,
                work: tally.work,
                ahead: self.in_front.of(request.arrival),
            };
            self.by_time.take(&seen);
            if self.worst.wants(seen.response) {
                self.worst.take(One { index, request: *request, op: op_name(request.op), seen });
            }
        }
        let until = tally.until.saturating_sub(epoch).max(completion.completed);
        self.in_front.add(until, tally.work);
    }

    /// What was seen, after the last request.
    #[must_use]
    pub fn finish(self, device: &mut dyn Device) -> Tail {
        device.board_mut().nand_mut().timeline_mut().stop_tally();
        Tail {
            slowest_1_percent: derive::slowest(&self.by_time.slowest(10)),
            slowest_0_1_percent: derive::slowest(&self.by_time.slowest(1)),
            worst: self.worst.all().iter().map(derive::worst).collect(),
        }
    }
}
