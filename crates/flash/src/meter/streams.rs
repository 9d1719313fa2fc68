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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Stages;

    /// A read of three sectors in two pieces, the first of which waits for the other, and a write;
    /// trims and flushes are nobody's.
    #[test]
    fn a_stream_has_what_was_read_and_written() {
        let request = |op| Request {
            arrival: 5,
            op,
            first_sector: 0,
            sectors: 3,
            unit: 0,
            stream: None,
            content: None,
        };
        let stages = Stages { driver_queue: 4, ..Stages::default() };
        let done = Completion { arrival: 5, admitted: 9, completed: 25, stages, unreadable: None };
        let mut counts = StreamCounts::default();
        counts.record(&request(Op::Read), None);
        assert_eq!(counts, StreamCounts { bytes: 1536, ..StreamCounts::default() });
        counts.record(&request(Op::Read), Some(&done));
        counts.record(&request(Op::Write), Some(&done));
        [Op::Trim, Op::Flush].into_iter().for_each(|op| counts.record(&request(op), Some(&done)));
        let (response_sum, driver_queue_sum) = (40, 8);
        let expected =
            StreamCounts { reads: 1, writes: 1, bytes: 3 * 1536, response_sum, driver_queue_sum };
        assert_eq!(counts, expected);
    }
}
