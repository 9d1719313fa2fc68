//! The oldest request whose die is idle, else the oldest: a busy die does not hold up the others.
//!
//! A read waits for the die that holds its first page. Where a write will go the flash translation
//! layer decides when it gets it, so a write, trim or flush may go as soon as any die is idle.
//! Idle means that nothing at all is booked, SSDsim's rule for taking requests out of order. After
//! `host.passes_before_oldest` requests in a row that went before the oldest, the oldest goes.
//!
//! The die of a read is the one that really holds its page, even where a device would have to read
//! its map first to know: with a cached map the rule knows a little more than it could.

use super::{Bounds, Scheduler, View};
use ftlab_flash::request::{Op, Request};

/// Requests that went before the oldest.
#[derive(Clone, Debug)]
pub struct OutOfOrder {
    limit: u32,
    passes: u32,
}

impl Scheduler for OutOfOrder {
    fn new(bounds: &Bounds) -> Self {
        OutOfOrder { limit: bounds.passes_before_oldest, passes: 0 }
    }

    fn choose(&mut self, view: &View<'_>) -> usize {
        // Requests other than reads are all ready or none is: asked once.
        let mut others = None;
        let mut is_ready = |request: &Request| match request.op {
            Op::Read => view.is_ready(request),
            _ => *others.get_or_insert_with(|| view.is_ready(request)),
        };
        let mut candidates = view.candidates();
        let oldest = candidates.next().expect("there is a candidate");
        // The oldest stays the oldest until it goes, so passes in a row are passes of it.
        if is_ready(oldest.1) || self.passes == self.limit {
            self.passes = 0;
            return oldest.0;
        }
        match candidates.find(|(_, request)| is_ready(request)) {
            Some((index, _)) => {
                self.passes += 1;
                index
            }
            None => {
                self.passes = 0;
                oldest.0
            }
        }
    }
}
