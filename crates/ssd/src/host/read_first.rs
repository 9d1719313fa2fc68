//! Reads before anything else: somebody waits for a read, hardly anybody for a write.
//!
//! So that writes are not starved, after `host.reads_before_write` reads in a row that went while
//! something else waited, the oldest of the others goes. The rule is that of Linux's mq-deadline
//! (`writes_starved` batches of `fifo_batch` reads) without its deadlines.

use super::{Bounds, Scheduler, View};
use ftlab_flash::request::Op;

/// Reads that went while something else waited.
#[derive(Clone, Debug)]
pub struct ReadFirst {
    limit: u32,
    reads: u32,
}

impl Scheduler for ReadFirst {
    fn new(bounds: &Bounds) -> Self {
        ReadFirst { limit: bounds.reads_before_write, reads: 0 }
    }

    fn choose(&mut self, view: &View<'_>) -> usize {
        let oldest = |wanted: bool| {
            view.candidates().find(|(_, request)| (request.op == Op::Read) == wanted)
        };
        let (chosen, reads) = match (oldest(true), oldest(false)) {
            (Some(read), Some(_)) if self.reads < self.limit => (read, self.reads + 1),
            (_, Some(other)) => (other, 0),
            (Some(read), None) => (read, 0),
            (None, None) => unreachable!("there is a candidate"),
        };
        self.reads = reads;
        chosen.0
    }
}
