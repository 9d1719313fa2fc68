//! Requests that have arrived and wait for the device, in order of arrival.
//!
//! Two requests keep their order when their sectors overlap and one of them is no read, or when one
//! of them is a flush, whatever their streams: the later is held back until the earlier is gone.
//! The oldest is therefore never held back.

use ftlab_flash::meter::Piece;
use ftlab_flash::request::STREAMS_MAX;
use ftlab_flash::request::{Op, Request};
use ftlab_flash::units::Nanos;

/// One waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub(super) request: Request,
    /// When it joined the queue: its arrival, or later when the queue was full.
    pub(super) entered: Nanos,
    pub(super) stream: u32,
    /// Where it is a piece of a request of the host.
    piece: Option<Piece>,
    /// Earlier requests that must go first.
    held_back_by: u32,
}

impl Waiting {
    /// Whether an earlier request must go first.
    pub fn is_held_back(&self) -> bool {
        self.held_back_by > 0
    }
}

/// Whether two requests keep their order.
pub(super) fn keep_order(one: &Request, two: &Request) -> bool {
    if one.op == Op::Flush || two.op == Op::Flush {
        return true;
    }
    let end = |request: &Request| request.first_sector.saturating_add(u64::from(request.sectors));
    let overlap = one.first_sector < end(two) && two.first_sector < end(one);
    overlap && !(one.op == Op::Read && two.op == Op::Read)
}

/// All that waits, of every stream.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    entries: Vec<Waiting>,
    /// Requests by stream.
    counts: [u32; STREAMS_MAX],
    /// Most requests of a stream.
    limit: u32,
}

impl Queue {
    /// Empty; holds up to `limit` requests of each of `streams` streams.
    pub fn new(streams: u32, limit: u32) -> Self {
        let room = streams as usize * limit as usize;
        Queue { entries: Vec::with_capacity(room), counts: [0; STREAMS_MAX], limit }
    }

    /// Most requests of all streams.
    pub fn room(&self) -> usize {
        self.entries.capacity()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_full(&self, stream: u32) -> bool {
        self.counts[stream as usize] == self.limit
    }

    /// When the oldest joined.
    pub fn oldest(&self) -> Option<Nanos> {
        self.entries.first().map(|waiting| waiting.entered)
    }

    /// All of them, for a decision at `now`: the driver decides whatever falls before an arrival
    /// before it adds the request.
    pub fn arrived(&self, now: Nanos) -> &[Waiting] {
        let last = self.entries.last();
        assert!(
            last.is_none_or(|waiting| waiting.entered <= now),
            "{last:?} is not there at {now}"
        );
        &self.entries
    }

    /// Adds a request behind all others.
    pub fn push(&mut self, request: Request, stream: u32, entered: Nanos, piece: Option<Piece>) {
        assert!(!self.is_full(stream), "stream {stream} holds {} requests already", self.limit);
        let before = self.entries.iter().filter(|waiting| keep_order(&waiting.request, &request));
        let held_back_by = before.count() as u32;
        self.entries.push(Waiting { request, entered, stream, piece, held_back_by });
        self.counts[stream as usize] += 1;
    }

    /// Takes a request out and lets those go that waited for it.
    pub fn take(&mut self, index: usize) -> (Request, Option<Piece>) {
        let Waiting { request, stream, piece, held_back_by, .. } = self.entries.remove(index);
        assert!(held_back_by == 0, "{request:?} passes {held_back_by} requests that it must not");
        self.counts[stream as usize] -= 1;
        for later in &mut self.entries[index..] {
            later.held_back_by -= u32::from(keep_order(&request, &later.request));
        }
        (request, piece)
    }
}
