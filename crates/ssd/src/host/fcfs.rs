//! First come, first served: requests go in order of arrival.

use super::{Bounds, Scheduler, View};

/// It remembers nothing.
#[derive(Clone, Debug)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    fn new(_: &Bounds) -> Self {
        Fcfs
    }

    fn choose(&mut self, view: &View<'_>) -> usize {
        let (index, _) = view.candidates().next().expect("there is a candidate");
        index
    }
}
