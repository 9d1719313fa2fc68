//! One sweep after another over ascending sectors.
//!
//! The rule is C-LOOK (Worthington, Ganger, Patt: "Scheduling Algorithms for Modern Disk Drives",
//! SIGMETRICS 1994): the lowest sector at or behind the end of the last request goes next; where
//! none is left, the sweep starts again at the lowest sector that waits. Nothing starves, because
//! every request moves the sweep on.

use super::{Bounds, Scheduler, View};
use ftlab_flash::request::Op;

/// Where the last request ended.
#[derive(Clone, Debug)]
pub struct Elevator {
    position: u64,
}

impl Scheduler for Elevator {
    fn new(_: &Bounds) -> Self {
        Elevator { position: 0 }
    }

    fn choose(&mut self, view: &View<'_>) -> usize {
        // Of equals `min_by_key` returns the first, which is the oldest.
        let next = view.candidates().min_by_key(|(_, request)| {
            (request.first_sector < self.position, request.first_sector)
        });
        let (index, request) = next.expect("there is a candidate");
        // A flush is nowhere: it leaves the sweep where it is.
        if request.op != Op::Flush {
            self.position = request.first_sector.saturating_add(u64::from(request.sectors));
        }
        index
    }
}
