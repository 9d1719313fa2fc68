//! What each stream of a multi-queue host got.

use crate::request::{Completion, Op, Request};
use crate::units::SECTOR_BYTES;

/// Reads and writes of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Sum of their system response times, ns.
    pub response_sum: u128,
    /// Sum of their times in the driver's queue, ns.
    pub driver_queue_sum: u128,
}

impl StreamCounts {
    /// Takes what reached the device, and how all that the host sent with it went where that is
    /// done now.
    pub(super) fn record(&mut self, request: &Request, completion: Option<&Completion>) {
        // As in response times: the papers' are of reads and writes.
        let count = match request.op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Trim | Op::Flush => return,
        };
        self.bytes += u64::from(request.sectors) * SECTOR_BYTES;
        let Some(completion) = completion else { return };
        *count += 1;
        self.response_sum += u128::from(completion.system());
        self.driver_queue_sum += u128::from(completion.stages.driver_queue);
    }
}
