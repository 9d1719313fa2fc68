//! The operations that are not over yet, and what waits for what.
//!
//! Operations have numbers from 1 on, in the order in which they were asked for. Those at the front
//! that are over are forgotten: whoever names them waits for nothing.

use std::collections::VecDeque;

use super::super::schedule::Job;
use super::super::timeline::{Unit, Work};
use crate::board::pending::{LENGTH_MAX, NUMBERS, Span, Wait};
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::Nanos;

/// The station of what takes no time.
pub const NOWHERE: u32 = u32::MAX;

/// What an operation's waiting and work count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Flash, or the map where it is for the map.
    Cells,
    /// The channel, or the map.
    Channel,
    /// The controller.
    Controller,
    /// Data in memory.
    Buffer,
    /// The map in memory.
    Map,
    /// Nothing: it stands for others.
    Join,
    /// A request's command is across the link, in this slot; its path begins.
    Begin(u32),
    /// A request is done, in this slot, and its data are across.
    End(u32),
}

/// A request that is done.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its slot.
    pub slot: u32,
    /// When it was across the link.
    pub begun: Nanos,
    /// When it was done, but for the link, and by which path.
    pub ready: When,
    /// When it was done.
    pub completed: Nanos,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Node {
    pub job: Job,
    /// The blocks that it touches.
    pub blocks: [u32; 2],
    pub effect: Effect,
    pub station: u32,
    /// When those were over that it follows as far as that is known, and by which path; later on,
    /// when it was over itself.
    pub token: When,
    /// How often it was suspended, or held back before it began.
    pub suspensions: u32,
    /// How often a read went ahead of it.
    pub passed: u32,
    /// Since when nothing holds it but its station.
    pub since: Nanos,
    /// Operations that its token names, and one more while it is being taken.
    named: u32,
    /// Operations that the flash wants to be over first.
    laws: u32,
    /// The first of those that wait for it; 0: none does.
    followers: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waits,
    Ready,
    Over,
}

/// Operations behind one that are looked at to learn whether another waits for it.
pub(super) const WALK_MAX: usize = 64;

/// No block.
pub const NO_BLOCK: u32 = u32::MAX;

impl Node {
    /// A job with its effect, of up to two blocks.
    pub fn new(job: Job, effect: Effect, blocks: [Option<u32>; 2]) -> Self {
        Node {
            job,
            blocks: blocks.map(|block| block.unwrap_or(NO_BLOCK)),
            effect,
            station: NOWHERE,
            token: When::START,
            suspensions: 0,
            passed: 0,
            since: 0,
            named: 1,
            laws: 0,
            followers: 0,
            state: State::Waits,
        }
    }

    /// What stands for others.
    pub fn join() -> Self {
        let job = Job {
            unit: Unit::Controller,
            work: Work::Control,
            cause: Cause::Host,
            slc: false,
            die: 0,
            plane: 0,
            number: None,
            offset: 0,
            from: 0,
            length: 0,
        };
        Node::new(job, Effect::Join, [None; 2])
    }

    /// Whether it waits for others.
    pub fn has_not_begun(&self) -> bool {
        self.state == State::Waits
    }

    /// Its token when it is over.
    fn done(&self, now: Nanos) -> When {
        let token = self.token;
        match self.effect {
            Effect::Cells | Effect::Channel if self.job.cause.is_map() => token.until_by_map(now),
            Effect::Cells => token.until(now),
            Effect::Channel => token.until_by_channel(now),
            Effect::Controller => token.until_by_controller(now),
            Effect::Buffer => token.until_by_buffer(now),
            Effect::Map => token.until_by_map(now),
            Effect::Begin(_) => When::at(now),
            Effect::Join | Effect::End(_) => token.until(now),
        }
    }
}

/// One operation that waits for another.
#[derive(Clone, Copy, Debug)]
struct Follower {
    operation: u64,
    /// What the wait counts as; none where the flash demands it, whoever asked for either.
    wait: Option<Wait>,
    /// The next one of the same; 0: none.
    next: u32,
}

/// Operations and what waits for what.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: VecDeque<Node>,
    /// Number of the first of them.
    first: u64,
    followers: Vec<Follower>,
    /// The first free place among them; 0: none.
    free: u32,
    unfinished: u64,
    /// Operations that may wait for those of other requests which their tokens were not to name.
    inexact: u64,
    /// By request that entered, in order, its first operation; of those before [`Graph::first`]
    /// none is needed.
    entered: VecDeque<u64>,
    ready: Vec<u64>,
    ending: Vec<u64>,
    /// An operation whose end somebody wants to know, and when it was.
    kept: (u64, Option<When>),
    /// By slot, when the request in it was across the link.
    begun: Vec<Nanos>,
}

impl Default for Graph {
    fn default() -> Self {
        let nobody = Follower { operation: 0, wait: None, next: 0 };
        Graph {
            nodes: VecDeque::new(),
            first: 1,
            followers: vec![nobody],
            free: 0,
            unfinished: 0,
            inexact: 0,
            entered: VecDeque::new(),
            ready: Vec::new(),
            ending: Vec::new(),
            kept: (0, None),
            begun: Vec::new(),
        }
    }
}

impl Graph {
    /// Operations from the first that is not over to the last.
    pub fn length(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Operations that are not over.
    pub fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Takes an operation that waits for nothing yet, but for [`Graph::fulfil`]; its number.
    ///
    /// # Panics
    /// When the first operation that is not over is [`LENGTH_MAX`] back, before which the
    /// controller lets time pass, or after [`NUMBERS`] operations.
    pub fn add(&mut self, node: Node) -> u64 {
        let known = self.length();
        assert!(known < LENGTH_MAX, "{known} operations since the first that is not over");
        let number = self.first + known;
        assert!(number < NUMBERS, "operation {number}, and tokens name {NUMBERS} at most");
        self.nodes.push_back(node);
        self.unfinished += 1;
        number
    }

    /// Operations that were taken, and those of them that may wait for operations of other requests
    /// which their tokens were not to name (`pending.rs`).
    pub fn taken_and_inexact(&self) -> (u64, u64) {
        (self.first + self.nodes.len() as u64 - 1, self.inexact)
    }

    /// An operation that is not over.
    pub fn get(&self, operation: u64) -> Option<&Node> {
        let node = self.nodes.get(operation.checked_sub(self.first)? as usize)?;
        (node.state != State::Over).then_some(node)
    }

    /// Whether an operation is not over.
    pub fn is_open(&self, operation: u64) -> bool {
        self.get(operation).is_some()
    }

    /// An operation that is not over.
    pub fn node(&self, operation: u64) -> &Node {
        &self.nodes[(operation - self.first) as usize]
    }

    /// The same, to be changed.
    pub fn node_mut(&mut self, operation: u64) -> &mut Node {
        &mut self.nodes[(operation - self.first) as usize]
    }

    /// An operation follows those that a token names.
    pub fn follow(&mut self, operation: u64, after: When) {
        self.inexact += u64::from(after.operations().any(|span| self.is_of_others(&span)));
        for span in after.operations() {
            for other in span.first.max(self.first)..=span.last {
                self.wait(operation, other, Some(span.wait));
            }
        }
    }

    /// The next operations are of another request.
    pub fn enters(&mut self) {
        let next = self.first + self.nodes.len() as u64;
        while self.entered.front().is_some_and(|&entered| entered <= self.first) {
            self.entered.pop_front();
        }
        if self.entered.back().is_none_or(|&last| last < next) {
            self.entered.push_back(next);
        }
    }

    /// Whether between the first and the last of a span are operations that nobody asked to wait
    /// for and that may be of another request.
    fn is_of_others(&self, span: &Span) -> bool {
        let first = span.first.max(self.first);
        let next = self.entered.partition_point(|&entered| entered <= first);
        span.inexact && self.entered.get(next).is_some_and(|&entered| entered <= span.last)
    }

    /// An operation follows another because the flash demands it; 0 is none.
    pub fn obey(&mut self, operation: u64, other: u64) {
        self.wait(operation, other, None);
    }

    fn wait(&mut self, operation: u64, other: u64, wait: Option<Wait>) {
        if !self.is_open(other) {
            return;
        }
        assert!(operation != other, "operation {operation} waits for itself");
        let next = self.node(other).followers;
        let follower = Follower { operation, wait, next };
        let place = match self.free {
            0 => {
                self.followers.push(follower);
                self.followers.len() as u32 - 1
            }
            free => {
                self.free = self.followers[free as usize].next;
                self.followers[free as usize] = follower;
                free
            }
        };
        self.node_mut(other).followers = place;
        let node = self.node_mut(operation);
        *(if wait.is_some() { &mut node.named } else { &mut node.laws }) += 1;
    }

    /// Whether nothing that a token names is `lead` or waits for it, as far as [`WALK_MAX`] steps
    /// from `lead` on show it.
    pub fn is_independent(&self, token: When, lead: u64) -> bool {
        let names = |operation| {
            token.operations().any(|span| (span.first..=span.last).contains(&operation))
        };
        let mut seen = vec![lead];
        let mut next = 0;
        while let Some(&operation) = seen.get(next) {
            if names(operation) || seen.len() > WALK_MAX {
                return false;
            }
            next += 1;
            let mut follower = self.node(operation).followers;
            while follower != 0 {
                let Follower { operation, next, .. } = self.followers[follower as usize];
                if !seen.contains(&operation) {
                    seen.push(operation);
                }
                follower = next;
            }
        }
        true
    }

    /// All is told that an operation waits for; whether it waits for nothing.
    pub fn fulfil(&mut self, operation: u64, now: Nanos) -> bool {
        self.one_less(operation, true, now)
    }

    /// One thing less that an operation waits for, which its token names or which the flash wants;
    /// whether that was the last.
    fn one_less(&mut self, operation: u64, named: bool, now: Nanos) -> bool {
        let node = self.node_mut(operation);
        if named {
            node.named -= 1;
            if node.named == 0 {
                node.job.from = now;
            }
        } else {
            node.laws -= 1;
        }
        let ready = node.named == 0 && node.laws == 0;
        if ready {
            (node.state, node.since) = (State::Ready, now);
        }
        ready
    }

    /// An operation that takes no time is ready.
    pub fn will_end(&mut self, operation: u64) {
        self.ending.push(operation);
    }

    /// Such an operation.
    pub fn next_to_end(&mut self) -> Option<u64> {
        self.ending.pop()
    }

    /// An operation that became ready because another ended.
    pub fn next_ready(&mut self) -> Option<u64> {
        self.ready.pop()
    }

    /// An operation is over at `now`; a request, if it was the end of one.
    pub fn end(&mut self, operation: u64, now: Nanos) -> Option<Ended> {
        let node = self.node_mut(operation);
        let done = node.done(now);
        let ready = node.token.until(node.job.from);
        let effect = node.effect;
        (node.state, node.token) = (State::Over, done);
        let mut next = std::mem::take(&mut node.followers);
        self.unfinished -= 1;
        if self.kept.0 == operation {
            self.kept.1 = Some(done);
        }
        while next != 0 {
            let Follower { operation, wait, next: other } = self.followers[next as usize];
            self.followers[next as usize].next = self.free;
            self.free = next;
            next = other;
            let token = &mut self.node_mut(operation).token;
            *token = match wait {
                None => *token,
                Some(Wait::Own) => token.join(done),
                Some(Wait::Flash) => token.waits_for(done),
                Some(Wait::Map) => token.waits_for_map(done),
                Some(Wait::Buffer) => token.waits_for_buffer(done),
            };
            if self.one_less(operation, wait.is_some(), now) {
                self.ready.push(operation);
            }
        }
        match effect {
            Effect::Begin(slot) => {
                let slots = self.begun.len().max(slot as usize + 1);
                self.begun.resize(slots, 0);
                self.begun[slot as usize] = now;
                None
            }
            Effect::End(slot) => {
                let begun = self.begun[slot as usize];
                Some(Ended { slot, begun, ready, completed: now })
            }
            _ => None,
        }
    }

    /// Somebody wants to know when an operation ends.
    pub fn keep(&mut self, operation: u64) {
        if self.kept.0 != operation {
            let over = self.nodes.get((operation - self.first) as usize);
            let over = over.filter(|node| node.state == State::Over);
            self.kept = (operation, over.map(|node| node.token));
        }
    }

    /// When it did.
    pub fn kept(&self) -> Option<When> {
        self.kept.1
    }

    /// Forgets what is over at the front.
    pub fn forget(&mut self) {
        while self.nodes.front().is_some_and(|node| node.state == State::Over) {
            self.nodes.pop_front();
            self.first += 1;
        }
    }
}
