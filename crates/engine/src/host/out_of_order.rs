//! The oldest request whose die is idle, else the oldest: a busy die does not hold up the others.
//!
//! A read waits for the die that holds its first page. Where a write will go the flash translation
//! layer decides when it gets it, so a write, trim or flush may go as soon as any die is idle.
//! Idle means that nothing at all is booked, SSDsim's rule for taking requests out of order.

use super::{Scheduler, View};
use crate::config::HostSettings;
use crate::request::{Op, Request};

/// It remembers nothing.
#[derive(Clone, Debug)]
pub struct OutOfOrder;

impl Scheduler for OutOfOrder {
    fn new(_: &HostSettings) -> Self {
        OutOfOrder
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
        if is_ready(oldest.1) {
            return oldest.0;
        }
        candidates.find(|(_, request)| is_ready(request)).map_or(oldest.0, |(index, _)| index)
    }
}
