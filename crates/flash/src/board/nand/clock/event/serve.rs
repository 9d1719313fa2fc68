//! What a station of the controller does next: who goes first, who is passed, suspended or joined.

use std::cmp::Reverse;

use super::super::timeline::{Span, Timeline, Work};
use super::Controller;
use super::graph::Node;
use super::station::{Phase, Station};
use crate::units::Nanos;

/// How often reads go ahead of one program or erase at most: then it has its turn, so that nothing
/// waits for ever.
pub(super) const PASSES_MAX: u32 = 4096;

/// Among how many of those that wait for a die commands of other planes are looked for that may
/// join: more wait where a recovery reads one plane after another.
pub(super) const JOIN_WINDOW: usize = 1024;

impl Controller {
    /// What a station does next, if it is idle; or whether what it does is suspended.
    pub(super) fn begin_at(&mut self, station: u32, timeline: &mut Timeline) {
        let known = &self.stations[station as usize];
        match known.phase {
            Phase::Suspends => {}
            Phase::Works => self.suspend(station, timeline),
            Phase::Idle if !known.suspended.is_empty() => match self.first_urgent(station) {
                Some(index) => {
                    let lead = self.stations[station as usize].suspended[0];
                    self.graph.node_mut(lead).passed += 1;
                    self.start(station, index);
                }
                None => self.resume(station),
            },
            Phase::Idle => {
                if let Some(index) = self.choose(station) {
                    self.start(station, index);
                }
            }
        }
    }

    fn is_urgent(&self, operation: u64) -> bool {
        self.graph.node(operation).job.is_urgent()
    }

    /// Whether a read that a request waits for could begin from just now on.
    fn urgent_came(&self, station: u32) -> bool {
        let mut waiting = self.stations[station as usize].queue.iter();
        waiting.any(|&(_, operation)| {
            self.is_urgent(operation) && self.graph.node(operation).since == self.now
        })
    }

    /// The first read in the queue that a request waits for,
    /// that passes what is suspended; none where that was passed often enough.
    fn first_urgent(&self, station: u32) -> Option<usize> {
        let Station { queue, suspended, .. } = &self.stations[station as usize];
        if suspended.iter().any(|&lead| self.graph.node(lead).passed >= PASSES_MAX) {
            return None;
        }
        queue.iter().position(|&(_, operation)| self.is_urgent(operation))
    }

    /// Which of those that wait is next: the first, unless that is a program or erase and a read
    /// that a request waits for may pass it and all others before. The reads of a collection among
    /// them are passed as well; at the front they keep their turn.
    fn choose(&mut self, station: u32) -> Option<usize> {
        let queue = &self.stations[station as usize].queue;
        let first = queue.front()?.1;
        if station >= self.cells || !self.lets_pass(self.graph.node(first)) {
            return Some(0);
        }
        let passes = |&(_, operation): &(Nanos, u64)| {
            let node = self.graph.node(operation);
            node.job.is_urgent() || (node.job.work != Work::Read && !self.lets_pass(node))
        };
        let found = queue.iter().position(passes);
        let found = found.filter(|&index| self.is_urgent(queue[index].1));
        let Some(index) = found else { return Some(0) };
        for place in 0..index {
            let operation = self.stations[station as usize].queue[place].1;
            let node = self.graph.node_mut(operation);
            node.passed += 1;
            if !self.rules.has_read_priority() {
                // What could begin is suspended before it does.
                node.suspensions = node.suspensions.max(u32::from(node.job.work != Work::Read));
            }
        }
        Some(index)
    }

    /// Whether reads that a request waits for go ahead of work that has not begun.
    fn lets_pass(&self, node: &Node) -> bool {
        let (work, suspensions) = (node.job.work, node.suspensions);
        work != Work::Read
            && node.passed < PASSES_MAX
            && (self.rules.has_read_priority()
                || suspensions > 0
                || self.rules.suspends(work, suspensions))
    }

    /// Begins with what waits at `index`, and takes along what can join.
    fn start(&mut self, station: u32, index: usize) {
        let place = station as usize;
        let (ready, lead) = self.stations[place].queue.remove(index).expect("it waits");
        let job = self.graph.node(lead).job;
        if self.channels.contains(&station) {
            self.bus_wait += self.now - ready;
        }
        self.stations[place].running.push(lead);
        if station < self.cells && self.rules.join(job.work) && job.number.is_some() {
            self.join_others(station, lead);
        }
        if station < self.cells {
            let running = &self.stations[place].running;
            let begun: Nanos = running.iter().map(|&one| self.graph.node(one).job.length).sum();
            self.stations[place].backlog -= begun;
        }
        self.work_for(station, job.length);
    }

    /// Commands of other planes that are ready join one that starts.
    fn join_others(&mut self, station: u32, lead: u64) {
        let first = self.graph.node(lead).job;
        let mut planes = 1u64 << first.plane;
        let mut index = 0;
        while index < JOIN_WINDOW
            && let Some(&(_, operation)) = self.stations[station as usize].queue.get(index)
        {
            let job = &self.graph.node(operation).job;
            let fits = job.number.is_some()
                && (job.work, job.slc, job.die) == (first.work, first.slc, first.die)
                && planes & (1 << job.plane) == 0
                && job.length <= first.length
                && (!self.rules.same_offset()
                    || job.work == Work::Erase
                    || job.offset == first.offset);
            if !fits {
                index += 1;
                continue;
            }
            planes |= 1 << job.plane;
            let cells = &mut self.stations[station as usize];
            cells.queue.remove(index);
            cells.running.push(operation);
        }
    }

    fn work_for(&mut self, station: u32, length: Nanos) {
        let known = &mut self.stations[station as usize];
        known.phase = Phase::Works;
        known.work = known.work.wrapping_add(1);
        (known.began, known.until) = (self.now, self.now + length);
        self.ends.push(Reverse((known.until, station, known.work)));
    }

    /// Suspends what a station does for a read that finds it at work, if that helps it.
    fn suspend(&mut self, station: u32, timeline: &mut Timeline) {
        let known = &self.stations[station as usize];
        let lead = self.graph.node(known.running[0]);
        let helps = self.now + self.rules.suspend_cost() < known.until;
        if station >= self.cells
            || !helps
            || !self.rules.suspends(lead.job.work, lead.suspensions)
            || lead.passed >= PASSES_MAX
            || !self.urgent_came(station)
        {
            return;
        }
        let lead = known.running[0];
        self.graph.node_mut(lead).suspensions += 1;
        self.draw(station, None, timeline);
        let known = &mut self.stations[station as usize];
        known.rest = known.until - self.now;
        std::mem::swap(&mut known.running, &mut known.suspended);
        self.work_for(station, self.rules.suspend_cost());
        self.stations[station as usize].phase = Phase::Suspends;
    }

    /// What was suspended goes on.
    fn resume(&mut self, station: u32) {
        let known = &mut self.stations[station as usize];
        std::mem::swap(&mut known.running, &mut known.suspended);
        let rest = known.rest;
        self.work_for(station, rest);
    }

    /// What a station did is over.
    pub(super) fn station_ends(&mut self, station: u32, timeline: &mut Timeline) {
        let known = &mut self.stations[station as usize];
        let phase = std::mem::take(&mut known.phase);
        if phase == Phase::Suspends {
            self.draw(station, Some(Work::Suspend), timeline);
        } else {
            self.draw(station, None, timeline);
            self.all_end(station);
        }
        self.note_dirty(station);
    }

    /// Draws what a station did since it began, or, as `other`, what it did to something that is
    /// suspended.
    fn draw(&self, station: u32, other: Option<Work>, timeline: &mut Timeline) {
        let known = &self.stations[station as usize];
        if !timeline.is_on() || known.silent || known.began == self.now {
            return;
        }
        let working = if other.is_some() { &known.suspended } else { &known.running };
        let Some(&lead) = working.first() else { return };
        let job = self.graph.node(lead).job;
        let work = other.unwrap_or(job.work);
        let (start, end, planes) = (known.began, self.now, working.len() as u32);
        timeline.add(Span { unit: job.unit, start, end, work, cause: job.cause, planes });
    }
}
