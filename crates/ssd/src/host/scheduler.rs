//! What a scheduler of the driver's queue is, and what it sees.

use ftlab_flash::request::Request;
use ftlab_flash::units::Nanos;

use super::queue::Waiting;

/// What a scheduler sees: the requests of one stream that may go now.
pub struct View<'a> {
    /// Everything that has arrived, in order of arrival.
    pub(super) arrived: &'a [Waiting],
    pub(super) stream: u32,
    pub(super) now: Nanos,
    pub(super) ready_from: &'a dyn Fn(&Request) -> Nanos,
}

impl View<'_> {
    /// The requests to choose among in order of arrival, each with the number that names it. There
    /// is at least one.
    pub fn candidates(&self) -> impl Iterator<Item = (usize, &Request)> {
        let waiting = self.arrived.iter().enumerate();
        let free = waiting.filter(|(_, w)| w.stream == self.stream && !w.is_held_back());
        free.map(|(index, waiting)| (index, &waiting.request))
    }

    /// Whether the flash that serves a request is idle now.
    pub fn is_ready(&self, request: &Request) -> bool {
        (self.ready_from)(request) <= self.now
    }
}

/// How often a scheduler may pass over a request.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Reads in a row that read_first sends while something else waits.
    pub reads_before_write: u32,
    /// Requests in a row that out_of_order sends before the oldest one.
    pub passes_before_oldest: u32,
}

/// How the next request of a stream is chosen.
pub trait Scheduler {
    /// One that has chosen nothing yet.
    fn new(bounds: &Bounds) -> Self;
    /// The number of one of the candidates.
    fn choose(&mut self, view: &View<'_>) -> usize;
}
