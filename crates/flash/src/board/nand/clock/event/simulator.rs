//! An independent simulator of dies and channels, as plain as can be, for the tests.

use super::super::timeline::Work;
use crate::units::Nanos;

/// What suspending takes.
pub const COST: Nanos = 20_000;

/// One operation of the independent simulator.
pub struct Op {
    /// Operations that it follows, and those that the flash wants to be over first.
    pub after: Vec<usize>,
    pub laws: Vec<usize>,
    pub arrives: Nanos,
    pub server: usize,
    pub work: Work,
    /// Whether a request waits for this read.
    pub urgent: bool,
    pub left: Nanos,
    pub came: Option<Nanos>,
    pub ready: Option<Nanos>,
    pub over: Option<Nanos>,
    pub held: u32,
}

/// What a server of it does.
#[derive(Clone, Copy, PartialEq)]
pub enum Does {
    Nothing,
    Work(usize, Nanos),
    Suspends(Nanos),
}

/// What a read may do.
#[derive(Clone, Copy, Debug)]
pub struct Privileges {
    pub first: bool,
    pub erases: bool,
    pub programs: bool,
    pub limit: u32,
}

impl Privileges {
    fn suspends(&self, op: &Op) -> bool {
        let kind =
            (op.work == Work::Erase && self.erases) || (op.work == Work::Program && self.programs);
        kind && op.held < self.limit
    }
}

/// As plainly as can be: at every moment all operations and all servers are looked at.
pub struct Simulator {
    pub ops: Vec<Op>,
    pub servers: Vec<Does>,
    pub suspended: Vec<Option<usize>>,
    pub rules: Privileges,
}

impl Simulator {
    /// Those that wait for a server, first come first.
    fn waiting(&self, server: usize) -> Vec<usize> {
        let running = |op: usize| {
            let does = self.servers[server];
            matches!(does, Does::Work(of, _) if of == op) || self.suspended[server] == Some(op)
        };
        let waits = |&op: &usize| {
            let known = &self.ops[op];
            known.server == server && known.ready.is_some() && known.over.is_none() && !running(op)
        };
        let mut all: Vec<usize> = (0..self.ops.len()).filter(waits).collect();
        all.sort_by_key(|&op| (self.ops[op].came, op));
        all
    }

    fn decide(&mut self, server: usize, now: Nanos) {
        let waiting = self.waiting(server);
        let read = waiting.iter().copied().find(|&op| self.ops[op].urgent);
        // It finds what began before, or what began at this moment before it arrived.
        let finds = |op: usize, end: Nanos| {
            let began = end - self.ops[op].left;
            let finds = |&read: &usize| {
                let known = &self.ops[read];
                let comes = known.urgent && known.ready == Some(now);
                comes && (began < now || known.arrives == now)
            };
            waiting.iter().any(finds)
        };
        match (self.servers[server], self.suspended[server], read) {
            (Does::Work(op, end), None, Some(_))
                if finds(op, end) && now + COST < end && self.rules.suspends(&self.ops[op]) =>
            {
                self.ops[op].left = end - now;
                self.ops[op].held += 1;
                self.suspended[server] = Some(op);
                self.servers[server] = Does::Suspends(now + COST);
            }
            (Does::Nothing, Some(_), Some(read)) => {
                self.servers[server] = Does::Work(read, now + self.ops[read].left);
            }
            (Does::Nothing, Some(op), None) => {
                self.suspended[server] = None;
                self.servers[server] = Does::Work(op, now + self.ops[op].left);
            }
            (Does::Nothing, None, _) => {
                // An urgent read goes first if there is a program or erase at the head of the row
                // and none before the read that does not give way; a collection's read says nothing
                // there.
                let changes = |op: usize| matches!(self.ops[op].work, Work::Program | Work::Erase);
                let gives_way = |op: usize| {
                    let known = &self.ops[op];
                    self.rules.first || known.held > 0 || self.rules.suspends(known)
                };
                let head = waiting.first().copied();
                let place = read.and_then(|read| waiting.iter().position(|&op| op == read));
                let before: Vec<usize> = waiting[..place.unwrap_or(0)]
                    .iter()
                    .copied()
                    .filter(|&op| changes(op))
                    .collect();
                let goes_first =
                    head.is_some_and(changes) && before.iter().all(|&op| gives_way(op));
                let goes_first = goes_first && read.is_some();
                let next = if goes_first { read } else { head };
                if goes_first && !self.rules.first {
                    for op in before {
                        self.ops[op].held = self.ops[op].held.max(1);
                    }
                }
                if let Some(op) = next {
                    self.servers[server] = Does::Work(op, now + self.ops[op].left);
                }
            }
            _ => {}
        }
    }

    /// What has happened by `now`, again and again until nothing more does.
    fn happen(&mut self, now: Nanos) {
        for server in 0..self.servers.len() {
            match self.servers[server] {
                Does::Work(op, end) if end <= now => {
                    self.ops[op].over = Some(now);
                    self.servers[server] = Does::Nothing;
                }
                Does::Suspends(end) if end <= now => self.servers[server] = Does::Nothing,
                _ => {}
            }
        }
        self.get_ready(now, |op| op.arrives < now);
        (0..self.servers.len()).for_each(|server| self.decide(server, now));
        self.get_ready(now, |op| op.arrives <= now);
        (0..self.servers.len()).for_each(|server| self.decide(server, now));
    }

    fn get_ready(&mut self, now: Nanos, arrived: impl Fn(&Op) -> bool) {
        for index in 0..self.ops.len() {
            let op = &self.ops[index];
            let over = |others: &[usize]| others.iter().all(|&op| self.ops[op].over.is_some());
            let came = op.came.or_else(|| (arrived(op) && over(&op.after)).then_some(now));
            let ready = op.ready.or_else(|| (came.is_some() && over(&op.laws)).then_some(now));
            (self.ops[index].came, self.ops[index].ready) = (came, ready);
        }
    }

    /// Until nothing happens any more.
    pub fn run(&mut self) {
        let mut now = 0;
        loop {
            self.happen(now);
            let ends = self.servers.iter().filter_map(|does| match does {
                Does::Nothing => None,
                Does::Work(_, end) | Does::Suspends(end) => Some(*end),
            });
            let arrivals = self.ops.iter().map(|op| op.arrives).filter(|&time| time > now);
            match ends.chain(arrivals).min() {
                Some(next) => now = next,
                None => return,
            }
        }
    }
}
