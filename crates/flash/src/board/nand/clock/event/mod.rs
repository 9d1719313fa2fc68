//! The event-driven controller (`timing.clock = event`): operations wait in queues of their dies
//! and channels until their time comes, and when one ends is known when simulated time reaches it.
//!
//! **What it is for.** The call-order clock says at once when an operation ends, so nothing that
//! comes later can delay it: where reads overtake or suspend, or where a resource is asked for out
//! of the order of time, it is too good or too bad by some percent. Here nothing is said before it
//! is certain.
//!
//! **How.** The scheme is asked as ever: one request after another, all of its operations in one
//! call. What the flash holds changes in that order (a limit: state follows the order of calls, and
//! only time is event-driven; nothing is done to the flash because another came first, but for
//! placement that asks which plane is free first, which hears when it would be if nothing else
//! came). Each operation becomes a node of a graph (`graph.rs`): its token names the operations
//! that it follows, and the flash adds its own laws (a page is read after its program, pages of a
//! block are programmed one after another and behind its erase, a block is erased behind all that
//! touches it). Nothing runs while a request is asked about, unless it alone has asked for more
//! than [`CROWD`] operations, as the recovery of a large device: then half of them come first.
//! Between requests the device moves time on, event by event, up to the next arrival or, with its
//! queue full, to the next completion: by then it knows of every request that could interfere, so
//! that what ends is final. A host that keeps its queue full therefore needs nothing but the first
//! completion; one that submits a single request and wants its answer ([`Controller::run_to`]) gets
//! that of a host that waits for it.
//!
//! **Who goes first** (`serve.rs`). Every die (plane, channel of dies) has a queue, first come
//! first served: an operation comes when all is over that its token names, with its data, and keeps
//! its place while the flash's laws hold it, so that the programs of a collection wait in a row;
//! those that may begin pass what may not. What comes at one moment goes in the order in which it
//! was asked for. Of what happens at one moment, ends come first, then all begins that can, then a
//! request arrives: it finds at work what has just begun. A read that a request waits for passes
//! programs and erases with `timing.read_priority` (and the reads of collections behind them),
//! suspends what it finds at work with `timing.suspend`, and is then served at once, as are those
//! that come meanwhile; what was suspended goes on when no such read waits, or when enough have
//! passed it, and whoever waits for it waits longer. Commands of other planes that are ready when a
//! command starts join it (`timing.multi_plane_*`). Channels, the controller, its memories and the
//! link are queues of the same kind without privileges.
//!
//! **The path of a request** is kept with the operations: each one's token begins with that of the
//! last of those it waited for, and its own waiting and work count to its own stage.
//!
//! **Limits.** A page that was sensed waits in its die for the channel without keeping the die from
//! the next command, and pages are loaded ahead of their program in any number, as on parts with
//! cache registers and as in the call-order clock: the copies of a collection all come at once. A
//! write that a collection makes room for does not wait for it but where both want the same cells
//! and channel, and comes there before most of its programs. A copyback is one command, which
//! others do not join, and whose read ends with its program. Where a scheme sums up more tokens
//! than one can name, what lies between them is waited for, too (`board/pending.rs`). A device that
//! finds itself full mid-way goes on without waiting for the vain attempt. Ports that are nobody's
//! server (phase-change memory, the host's memory and its copies) and whoever decides by time (work
//! in gaps, refresh, schedulers) need moments that are not known; such settings are refused
//! beforehand.

mod graph;
#[cfg(test)]
mod graph_tests;
mod serve;
#[cfg(test)]
mod simulator;
mod station;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod token_tests;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod turns_tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::schedule::Rules;
use super::timeline::Timeline;
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::Nanos;
pub use graph::Ended;
use graph::Graph;
pub(super) use graph::{Effect, NOWHERE, Node};
use station::{Phase, Station};

/// Operations from the first that is not over to the last with which time moves on although a
/// request is still asked about.
pub(super) const CROWD: u64 = 1 << 16;

/// Stations behind those of the channels.
const OTHERS: u32 = 5;

/// Which of them; on a half-duplex link the first direction is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    Controller,
    Ram,
    Dram,
    ToDevice,
    ToHost,
}

/// Programs that are loaded together with one that was announced to have companions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// The first of them.
    pub lead: u64,
    /// How many may still come.
    pub left: usize,
    /// As what they are programmed.
    pub cause: Option<Cause>,
}

/// The controller of a device.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    now: Nanos,
    /// When the request entered whose operations are asked for.
    base: Nanos,
    rules: Rules,
    graph: Graph,
    /// Cells, then whatever else does one thing at a time.
    stations: Vec<Station>,
    cells: u32,
    /// When what is under way ends: time, station, and which of its works that is.
    ends: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    /// Stations that may have something to begin.
    dirty: Vec<u32>,
    /// Requests that are done, first done first.
    ended: VecDeque<Ended>,
    bus_wait: Nanos,
    channels: std::ops::Range<u32>,
    /// A wide token that was seen last, and the operation that stands for it.
    wide: Option<(When, u64)>,
    /// Per die where programs can be joined.
    pub groups: Vec<Group>,
}

impl Controller {
    /// An idle controller at time 0 of a device with so many cells.
    pub fn new(rules: Rules, cells: u32, geometry: &Geometry) -> Self {
        let count = cells + geometry.channels + OTHERS;
        let mut stations: Vec<Station> = (0..count).map(|_| Station::default()).collect();
        for silent in [Other::Dram, Other::ToDevice, Other::ToHost] {
            stations[(cells + geometry.channels + silent as u32) as usize].silent = true;
        }
        Controller {
            now: 0,
            base: 0,
            rules,
            graph: Graph::default(),
            stations,
            cells,
            ends: BinaryHeap::with_capacity(2 * count as usize),
            dirty: Vec::with_capacity(count as usize),
            ended: VecDeque::new(),
            bus_wait: 0,
            channels: cells..cells + geometry.channels,
            wide: None,
            groups: vec![Group::default(); geometry.dies() as usize],
        }
    }

    /// A request enters at `time`; operations are its own from now on.
    pub fn enter(&mut self, time: Nanos, timeline: &mut Timeline) {
        self.run_until(time, timeline);
        self.base = self.now;
        self.graph.enters();
    }

    /// Simulated time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Whether nothing is under way or waits.
    pub fn is_at_rest(&self) -> bool {
        self.graph.unfinished() == 0
    }

    /// What operations waited for channels, since that was forgotten last.
    pub fn bus_wait(&self) -> Nanos {
        self.bus_wait
    }

    /// Counts that wait from 0 again.
    pub fn forget_bus_wait(&mut self) {
        self.bus_wait = 0;
    }

    /// Operations that were taken, and those of them that may wait for operations of other requests
    /// which their tokens were not to name.
    pub fn taken_and_inexact(&self) -> (u64, u64) {
        self.graph.taken_and_inexact()
    }

    /// When a station would be done if it did what is known of it and nothing else, one after
    /// another as far as it has not begun.
    pub fn free_from(&self, station: u32) -> Nanos {
        let known = &self.stations[station as usize];
        let running = if known.phase == Phase::Idle { 0 } else { known.until - self.now };
        let suspended = if known.suspended.is_empty() { 0 } else { known.rest };
        self.now + running + suspended + known.backlog
    }

    /// Takes an operation that follows `after` and the operations `laws`, and comes to `station`;
    /// returns its number.
    pub fn take(
        &mut self,
        station: u32,
        mut node: Node,
        after: When,
        laws: impl IntoIterator<Item = u64>,
    ) -> u64 {
        let after = self.narrow_if_wide(after);
        let base = When::at(self.base);
        let token = if after.is_pending() { base } else { base.join(after) };
        assert!(token.time() <= self.now, "{token:?} lies ahead of the present, {}", self.now);
        let length = node.job.length;
        (node.station, node.token) = (station, token);
        let operation = self.graph.add(node);
        if station < self.cells {
            let cells = &mut self.stations[station as usize];
            cells.backlog += length;
            cells.open.push_back(operation);
        }
        self.graph.follow(operation, after);
        for law in laws {
            self.graph.obey(operation, law);
        }
        if self.graph.fulfil(operation, self.now) {
            self.becomes_ready(operation);
        }
        self.settle();
        operation
    }

    /// An operation that has not begun also waits for another that does not wait for it.
    pub fn wait_also(&mut self, operation: u64, other: u64) {
        self.graph.obey(operation, other);
    }

    /// Whether `lead` has not begun and can wait for all that `other` names without waiting for
    /// itself. Where that is hard to say it is denied.
    pub fn may_wait(&self, lead: u64, other: When) -> bool {
        let has_not_begun = self.graph.get(lead).is_some_and(|node| node.has_not_begun());
        has_not_begun && self.graph.is_independent(other, lead)
    }

    /// Operations that a station has taken and not ended, of a block or of any.
    pub fn open(&self, station: u32, block: Option<u32>) -> Vec<u64> {
        let open = &self.stations[station as usize].open;
        let all = open.iter().copied();
        let of = |operation: &u64| {
            let node = self.graph.get(*operation);
            node.is_some_and(|node| block.is_none_or(|block| node.blocks.contains(&block)))
        };
        all.filter(of).collect()
    }

    /// One operation that stands for a token of operations.
    pub fn narrow(&mut self, token: When) -> When {
        let mut spans = token.operations();
        match (spans.next(), spans.next()) {
            (Some(span), None) if span.first == span.last => token,
            _ => When::of(self.join(token)),
        }
    }

    fn join(&mut self, token: When) -> u64 {
        let mut node = Node::join();
        node.token = When::at(self.base);
        let operation = self.graph.add(node);
        self.graph.follow(operation, token);
        if self.graph.fulfil(operation, self.now) {
            self.becomes_ready(operation);
        }
        self.settle();
        operation
    }

    /// Tokens that name many operations are often used many times in a row.
    fn narrow_if_wide(&mut self, token: When) -> When {
        const WIDE: u64 = 8;
        if token.operations().all(|span| span.last - span.first < WIDE) {
            return token;
        }
        match self.wide {
            Some((known, operation)) if known == token => When::of(operation),
            _ => {
                let operation = self.join(token);
                self.wide = Some((token, operation));
                When::of(operation)
            }
        }
    }

    fn becomes_ready(&mut self, operation: u64) {
        let node = self.graph.node(operation);
        let (station, from) = (node.station, node.job.from);
        if station == NOWHERE {
            self.graph.will_end(operation);
            return;
        }
        self.stations[station as usize].enqueue((from, operation));
        self.note_dirty(station);
    }

    fn note_dirty(&mut self, station: u32) {
        let known = &mut self.stations[station as usize].dirty;
        if !std::mem::replace(known, true) {
            self.dirty.push(station);
        }
    }

    /// Ends what takes no time, and all that follows at once from it.
    fn settle(&mut self) {
        while let Some(operation) = self.graph.next_to_end() {
            self.end(operation);
        }
    }

    /// An operation is over.
    fn end(&mut self, operation: u64) {
        let now = self.now;
        if let Some(ended) = self.graph.end(operation, now) {
            self.ended.push_back(ended);
        }
        while let Some(next) = self.graph.next_ready() {
            self.becomes_ready(next);
        }
    }

    /// Ends what a station did.
    fn all_end(&mut self, station: u32) {
        let mut running = std::mem::take(&mut self.stations[station as usize].running);
        for &operation in &running {
            self.end(operation);
        }
        let cells = &mut self.stations[station as usize];
        // What ends begins nothing: the list is filled again later.
        running.clear();
        cells.running = running;
        while cells.open.front().is_some_and(|&first| !self.graph.is_open(first)) {
            cells.open.pop_front();
        }
    }

    /// Everything begins that can; then the next events happen, if that is no later than `until`.
    fn step(&mut self, until: Nanos, timeline: &mut Timeline) -> bool {
        while let Some(station) = self.dirty.pop() {
            self.stations[station as usize].dirty = false;
            self.begin_at(station, timeline);
        }
        let mut happened = false;
        while let Some(&Reverse((time, station, work))) = self.ends.peek() {
            if time > until || (happened && time > self.now) {
                break;
            }
            self.ends.pop();
            if self.stations[station as usize].work == work {
                (self.now, happened) = (time, true);
                self.station_ends(station, timeline);
            }
        }
        self.settle();
        self.graph.forget();
        happened
    }

    /// Time moves on to `time`.
    pub fn run_until(&mut self, time: Nanos, timeline: &mut Timeline) {
        while self.step(time, timeline) {}
        self.now = self.now.max(time);
    }

    /// Time moves on until a request is done; at once, if one was.
    ///
    /// # Panics
    /// When none ever will be: operations wait for each other, or nothing is under way.
    pub fn run_to_end_of_any(&mut self, timeline: &mut Timeline) {
        while self.ended.is_empty() {
            let happened = self.step(Nanos::MAX, timeline);
            assert!(
                happened || !self.ended.is_empty(),
                "no request ends: {} operations wait for each other",
                self.graph.unfinished()
            );
        }
    }

    /// Operations from the first that is not over to the last.
    #[cfg(test)]
    pub fn length(&self) -> u64 {
        self.graph.length()
    }

    /// Where one request asks for very much, as a recovery does, time moves on before all was asked
    /// for.
    pub fn relieve(&mut self, timeline: &mut Timeline) {
        if self.graph.length() >= CROWD {
            while self.graph.length() > CROWD / 2 && self.step(Nanos::MAX, timeline) {}
        }
    }

    /// Time moves on until all is done.
    ///
    /// # Panics
    /// When operations wait for each other.
    pub fn run_to_rest(&mut self, timeline: &mut Timeline) {
        while self.step(Nanos::MAX, timeline) {}
        assert!(self.is_at_rest(), "{} operations wait for each other", self.graph.unfinished());
    }

    /// Time moves on until all is done that a token names; when that was, by which path.
    pub fn run_to(&mut self, token: When, timeline: &mut Timeline) -> When {
        if !token.is_pending() {
            return token;
        }
        let operation = self.join(token);
        self.graph.keep(operation);
        while self.graph.is_open(operation) && self.step(Nanos::MAX, timeline) {}
        let done = self.graph.kept();
        done.expect("operations do not wait for each other")
    }

    /// A request that is done, if there is one: the first of them.
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }
}
