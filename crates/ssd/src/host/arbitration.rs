//! Which stream goes next. Every rule passes over streams that have nothing to send, and counts
//! requests, whatever their size.
//!
//! By weight the turns are those of start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair
//! Queueing", SIGCOMM 1996), with a request as the unit: each has a virtual start, the later of
//! the start of the request that went last and the end of its stream's own last one, and the
//! earliest start goes, of equals the earliest end. So in any run of turns in which two streams
//! both have something to send, their turns, each divided by its stream's weight, differ by at most
//! one turn of each, whatever other streams come and go meanwhile (their Theorem 1). A stream that
//! had nothing to send is owed nothing for that time.

use super::queue::Waiting;
use crate::host::settings::{Arbitration, HostSettings, parse_weights};
use ftlab_flash::request::STREAMS_MAX;

/// Virtual time that a request takes at weight 1: shares are exact to 1000 in 2^64, and 2^64 turns
/// fit.
const TURN: u128 = 1 << 64;

/// The turns of the streams.
#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    rule: Arbitration,
    streams: usize,
    /// Virtual time that a request of each stream takes.
    lengths: [u128; STREAMS_MAX],
    /// Virtual end of each stream's last request.
    ends: [u128; STREAMS_MAX],
    /// Virtual start of the request that went last.
    start: u128,
    /// The stream that went last.
    last: usize,
}

impl Arbiter {
    /// Nobody has gone yet.
    pub fn new(settings: &HostSettings) -> Self {
        let streams = settings.streams as usize;
        let mut lengths = [TURN; STREAMS_MAX];
        let given = parse_weights(&settings.weights).expect("weights are checked when set");
        for (length, weight) in lengths.iter_mut().zip(given) {
            *length = TURN / u128::from(weight);
        }
        Arbiter {
            rule: settings.arbitration,
            streams,
            lengths,
            ends: [0; STREAMS_MAX],
            start: 0,
            last: streams - 1,
        }
    }

    /// The stream of the next request; `arrived` is not empty.
    pub fn choose(&mut self, arrived: &[Waiting]) -> u32 {
        if self.rule == Arbitration::Fifo || self.streams == 1 {
            // The oldest of all is never held back.
            return arrived[0].stream;
        }
        let mut ready = [false; STREAMS_MAX];
        for waiting in arrived.iter().filter(|waiting| !waiting.is_held_back()) {
            ready[waiting.stream as usize] = true;
        }
        self.last = match self.rule {
            Arbitration::Weighted => self.by_weight(&ready),
            Arbitration::RoundRobin | Arbitration::Fifo => {
                let turns = (1..=self.streams).map(|step| (self.last + step) % self.streams);
                turns.into_iter().find(|&stream| ready[stream]).expect("the oldest is ready")
            }
        };
        self.last as u32
    }

    /// The ready stream whose request starts first in virtual time; of those the one whose request
    /// ends first, so that a heavy stream with few requests does not wait for the light ones.
    fn by_weight(&mut self, ready: &[bool; STREAMS_MAX]) -> usize {
        let streams = (0..self.streams).filter(|&stream| ready[stream]);
        let next = streams.min_by_key(|&stream| {
            let start = self.ends[stream].max(self.start);
            (start, start + self.lengths[stream])
        });
        let next = next.expect("the oldest is ready");
        self.start = self.ends[next].max(self.start);
        self.ends[next] = self.start + self.lengths[next];
        next
    }
}
