//! The requests of a workload, with the first of them set apart when a prefix prepares the device.

use ftlab_engine::request::Request;
use ftlab_trace::{InPieces, Requests};

use crate::error::Result;

/// Requests in order; one that was read too early is kept back.
pub struct RequestStream {
    requests: Requests,
    held: Option<Request>,
    /// Which requests of the last chunk are pieces of one.
    in_pieces: InPieces,
}

impl RequestStream {
    /// From the start.
    pub fn new(requests: Requests) -> Self {
        RequestStream { requests, held: None, in_pieces: InPieces::default() }
    }

    /// The next request, as long as it belongs to the first `count` records.
    pub fn next_of_first(&mut self, count: u64) -> Option<Result<Request>> {
        if self.held.is_some() {
            return None;
        }
        let request = match self.requests.next()? {
            Ok(request) => request,
            Err(error) => return Some(Err(error.into())),
        };
        if self.records() > count {
            self.held = Some(request);
            return None;
        }
        Some(Ok(request))
    }

    /// The next request.
    #[inline]
    pub fn next_request(&mut self) -> Option<Result<Request>> {
        match self.held.take() {
            Some(request) => Some(Ok(request)),
            None => self.requests.next().map(|request| request.map_err(Into::into)),
        }
    }

    /// Puts the next requests, as many as are at hand, in place of others.
    pub fn next_chunk(&mut self, chunk: &mut Vec<Request>) -> Option<Result<()>> {
        chunk.clear();
        if let Some(request) = self.held.take() {
            chunk.push(request);
            let pieces = self.requests.pieces().unwrap_or_default();
            self.in_pieces = InPieces { last: pieces.min(1), pieces };
            return Some(Ok(()));
        }
        let next = self.requests.next_chunk(chunk)?;
        self.in_pieces = self.requests.in_pieces();
        Some(next.map_err(Into::into))
    }

    /// Which requests of the chunk that was handed out last are pieces of one of the workload.
    pub fn in_pieces(&self) -> InPieces {
        self.in_pieces
    }

    /// How many pieces that request of the workload has of which the one handed out last is one;
    /// none where it is all of it.
    #[inline]
    pub fn pieces(&self) -> Option<usize> {
        self.requests.pieces()
    }

    fn records(&self) -> u64 {
        self.requests.records_yielded()
    }

    /// Records whose requests were handed out so far.
    pub fn records_taken(&self) -> u64 {
        self.records() - u64::from(self.held.is_some())
    }

    /// Which part of a combined workload the request handed out last is from, else 0.
    pub fn part(&self) -> usize {
        self.requests.part()
    }

    /// What reading and laying out did.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }
}
