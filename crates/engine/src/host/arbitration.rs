//! Which stream goes next. Every rule passes over streams that have nothing to send, and counts
//! requests, whatever their size.

use super::{STREAMS_MAX, Waiting};
use crate::config::HostSettings;

crate::choices! {
    /// How streams take turns.
    pub enum Arbitration {
        /// The stream whose request arrived first.
        Fifo = "fifo",
        /// One request each.
        RoundRobin = "round_robin",
        /// In proportion to `host.weights`.
        Weighted = "weighted",
    }
}

/// Weights as `4,1`; none for `auto`. `None` when the text is not legal.
pub(crate) fn parse_weights(text: &str) -> Option<Vec<u32>> {
    if text == "auto" {
        return Some(Vec::new());
    }
    let weight = |word: &str| word.trim().parse().ok().filter(|w| (1..=1000).contains(w));
    let weights: Vec<u32> = text.split(',').map(weight).collect::<Option<_>>()?;
    (weights.len() <= STREAMS_MAX).then_some(weights)
}

/// The turns of the streams.
#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    rule: Arbitration,
    streams: usize,
    weights: [i64; STREAMS_MAX],
    /// What each stream is owed.
    credits: [i64; STREAMS_MAX],
    /// Streams that were ready the last time.
    ready: [bool; STREAMS_MAX],
    /// The stream that went last.
    last: usize,
}

impl Arbiter {
    /// Nobody has gone yet.
    pub fn new(settings: &HostSettings) -> Self {
        let streams = settings.streams as usize;
        let mut weights = [1; STREAMS_MAX];
        let given = parse_weights(&settings.weights).expect("weights are checked when set");
        for (weight, given) in weights.iter_mut().zip(given) {
            *weight = i64::from(given);
        }
        Arbiter {
            rule: settings.arbitration,
            streams,
            weights,
            credits: [0; STREAMS_MAX],
            ready: [false; STREAMS_MAX],
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

    /// Each ready stream is credited its weight, the richest pays for all: in any run of turns with
    /// the same streams ready, shares differ from the weights by less than one request. What a
    /// stream was owed beside other streams is worth no more than a turn of the present ones.
    fn by_weight(&mut self, ready: &[bool; STREAMS_MAX]) -> usize {
        if *ready != self.ready {
            self.ready = *ready;
            let streams = || (0..self.streams).filter(|&stream| ready[stream]);
            let present: i64 = streams().map(|stream| self.weights[stream]).sum();
            for (credit, ready) in self.credits.iter_mut().zip(ready) {
                *credit = if *ready { (*credit).clamp(1 - present, present - 1) } else { 0 };
            }
        }
        let (mut richest, mut total) = (None, 0);
        for stream in (0..self.streams).filter(|&stream| ready[stream]) {
            self.credits[stream] += self.weights[stream];
            total += self.weights[stream];
            if richest.is_none_or(|best: usize| self.credits[stream] > self.credits[best]) {
                richest = Some(stream);
            }
        }
        let richest = richest.expect("the oldest is ready");
        self.credits[richest] -= total;
        richest
    }
}
