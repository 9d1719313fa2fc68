//! The commands of one die (or plane, or of all dies of a channel), where commands can be joined,
//! overtaken or suspended: multi-plane commands, read priority, program and erase suspend.
//!
//! Commands are booked in call order. What overtakes or suspends moves commands whose completion
//! was already handed out: those who hold it keep it, while everything booked on these cells from
//! now on, and every later use of the pages and blocks concerned, sees the true times. So the cells
//! are never used twice and no read precedes its page's program; what is lost is that the delay of
//! a command that was moved is not felt by the request that waits for it. Reads that a request
//! waits for are never moved: what would move one waits its turn instead. So write latency is too
//! good by at most the reads served meanwhile.
//!
//! Limit: transfers stay where they were booked. When a collection's read is moved, its data still
//! crosses the channel at the old time, and its program is only moved as far as the die demands: it
//! can begin early by at most the length of the reads that moved its source.

use std::collections::VecDeque;

use super::ready::Ready;
use super::timeline::{Span, Timeline, Unit, Work};
use crate::board::settings::{Suspend, TimingSettings};
use crate::meter::Cause;
use crate::units::Nanos;

/// Planes that one command can work on.
const PLANES: usize = 16;

/// What the cells can do beside one command after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    join_reads: bool,
    join_programs: bool,
    join_erases: bool,
    same_offset: bool,
    suspend: Suspend,
    suspend_cost: Nanos,
    suspend_limit: u32,
    read_priority: bool,
}

impl Rules {
    pub fn new(timing: &TimingSettings) -> Self {
        Rules {
            join_reads: timing.multi_plane_read,
            join_programs: timing.multi_plane_program,
            join_erases: timing.multi_plane_erase,
            same_offset: timing.multi_plane_same_offset,
            suspend: timing.suspend,
            suspend_cost: timing.suspend_cost.0,
            suspend_limit: timing.suspend_limit,
            read_priority: timing.read_priority,
        }
    }

    /// Whether none of it is switched on.
    pub fn are_plain(&self) -> bool {
        let joins = self.join_reads || self.join_programs || self.join_erases;
        !joins && self.suspend == Suspend::None && !self.read_priority
    }

    pub fn join(&self, work: Work) -> bool {
        match work {
            Work::Read => self.join_reads,
            Work::Program => self.join_programs,
            Work::Erase => self.join_erases,
            _ => false,
        }
    }

    /// Whether pages of a joined read or program must be at the same place of their blocks.
    pub fn same_offset(&self) -> bool {
        self.same_offset
    }

    fn may_suspend(&self, command: &Command) -> bool {
        !command.has_rest && self.suspends(command.work, command.suspensions)
    }

    /// Whether work that was suspended so often can be suspended once more.
    pub fn suspends(&self, work: Work, suspensions: u32) -> bool {
        let kind = match work {
            Work::Erase => self.suspend != Suspend::None,
            Work::Program => self.suspend == Suspend::ProgramErase,
            _ => false,
        };
        kind && suspensions < self.suspend_limit
    }

    /// What suspending and resuming once takes.
    pub fn suspend_cost(&self) -> Nanos {
        self.suspend_cost
    }

    /// Whether reads that a request waits for go ahead of programs and erases that wait.
    pub fn has_read_priority(&self) -> bool {
        self.read_priority
    }
}

/// Work for the cells of one plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub unit: Unit,
    pub work: Work,
    pub cause: Cause,
    /// Whether it is of a block in SLC mode.
    pub slc: bool,
    /// The die, over the whole device, and the plane in it.
    pub die: u32,
    pub plane: u32,
    /// The page of a read or program, the block of anything else.
    pub number: Option<u32>,
    /// Place of the page in its block.
    pub offset: u32,
    pub from: Nanos,
    pub length: Nanos,
}

impl Job {
    /// A read that a request waits for; the copies of collections, merges and the like wait their
    /// turn.
    pub fn is_urgent(&self) -> bool {
        let cause = matches!(self.cause, Cause::Host | Cause::Translate | Cause::ReadModifyWrite);
        cause && self.work == Work::Read
    }
}

/// What the cells do in one span of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub start: Nanos,
    pub end: Nanos,
    pub work: Work,
    slc: bool,
    die: u32,
    /// Bits of the planes of the die that take part.
    pub planes: u16,
    /// Whether other planes may still join.
    open: bool,
    offset: u32,
    /// How often the program or erase was suspended up to here, or held back before it began.
    pub suspensions: u32,
    /// Whether this is but the beginning of a program or erase that goes on later.
    has_rest: bool,
    /// Whether a request waits for this read: its end was handed out and stays true.
    fixed: bool,
    /// By plane of the die: number of the job plus one.
    pub numbers: [u32; PLANES],
    /// Name in the timeline.
    span: u64,
}

impl Command {
    /// A job's own command.
    fn new(job: &Job, start: Nanos, timeline: &mut Timeline) -> Self {
        let end = start + job.length;
        let span = if timeline.is_on() {
            let Job { unit, work, cause, .. } = *job;
            timeline.add(Span { unit, start, end, work, cause, planes: 1 })
        } else {
            0
        };
        let mut numbers = [0; PLANES];
        numbers[job.plane as usize] = job.number.map_or(0, |number| number + 1);
        Command {
            start,
            end,
            work: job.work,
            slc: job.slc,
            die: job.die,
            planes: 1 << job.plane,
            open: job.number.is_some(),
            offset: job.offset,
            suspensions: 0,
            has_rest: false,
            fixed: job.is_urgent(),
            numbers,
            span,
        }
    }
}

/// The commands of one die that are known, in order of time.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub commands: VecDeque<Command>,
    /// Commands that are forgotten ended here at the latest.
    floor: Nanos,
    pub limit: usize,
}

/// How a job gets its place.
enum Way {
    /// In front of the command of that index, which is moved where it is in the way.
    Before(usize),
    /// In the middle of the command of that index.
    Inside(usize),
}

impl Schedule {
    /// No commands; at most `limit` are ever known.
    pub fn new(limit: usize) -> Self {
        // A suspension adds two commands at once.
        Schedule { commands: VecDeque::with_capacity(limit + 3), floor: 0, limit }
    }

    /// Free from here on.
    pub fn tail(&self) -> Nanos {
        self.commands.back().map_or(self.floor, |last| last.end)
    }

    /// Books a job; returns its end. What was over at `now` may be forgotten.
    pub fn book(
        &mut self,
        (rules, now): (&Rules, Nanos),
        job: &Job,
        ready: &mut Ready,
        timeline: &mut Timeline,
    ) -> Nanos {
        while self.commands.front().is_some_and(|command| command.end <= now) {
            self.forget_first();
        }
        let (start, way) = self.first_fit(rules, job);
        if let Some(index) = self.joinable(rules, job, start) {
            return self.join(index, job, timeline);
        }
        // The command's own index, and that of the first that may be in its way.
        let (index, next) = match way {
            Way::Before(index) => {
                self.hold_back(rules, index, start + job.length);
                (index, index + 1)
            }
            Way::Inside(index) => {
                self.suspend(index, job, rules.suspend_cost, ready, timeline);
                (index + 1, index + 3)
            }
        };
        let command = Command::new(job, start, timeline);
        let end = command.end;
        self.commands.insert(index, command);
        self.move_from(next, ready, timeline);
        while self.commands.len() > self.limit {
            self.forget_first();
        }
        end
    }

    fn forget_first(&mut self) {
        let first = self.commands.pop_front().expect("the caller looked");
        self.floor = self.floor.max(first.end);
    }

    /// The earliest start of a job by itself.
    fn first_fit(&self, rules: &Rules, job: &Job) -> (Nanos, Way) {
        let mut start = job.from.max(self.floor);
        let first = self.commands.partition_point(|command| command.end <= start);
        let urgent = job.is_urgent();
        let mut index = first;
        while let Some(command) = self.commands.get(index) {
            let fits = start + job.length <= command.start;
            // A read that is ready when a program or erase could begin, or earlier, goes first
            // where reads have priority or where it could be suspended; one that was suspended for
            // another read stays suspended.
            let overtakes = urgent
                && command.work != Work::Read
                && command.start >= job.from
                && (rules.read_priority || command.suspensions > 0 || rules.may_suspend(command))
                && self.can_move(index, start + job.length);
            if fits || overtakes {
                break;
            }
            start = start.max(command.end);
            index += 1;
        }
        let suspended = job.from + rules.suspend_cost;
        if urgent
            && suspended < start
            && let Some(running) = self.commands.get(first)
            && running.start <= job.from
            && rules.may_suspend(running)
            && self.can_move(first + 1, running.end + rules.suspend_cost + job.length)
        {
            return (suspended, Way::Inside(first));
        }
        (start, Way::Before(index))
    }

    /// Whether the commands from `index` on can make room up to `end`: no read that a request waits
    /// for is in the way.
    fn can_move(&self, index: usize, mut end: Nanos) -> bool {
        for command in self.commands.range(index..) {
            if command.start >= end {
                break;
            }
            if command.fixed {
                return false;
            }
            end += command.end - command.start;
        }
        true
    }

    /// A program or erase that could begin before `end` is suspended before it does.
    fn hold_back(&mut self, rules: &Rules, index: usize, end: Nanos) {
        if let Some(command) = self.commands.get_mut(index)
            && command.start < end
            && !rules.read_priority
        {
            command.suspensions = command.suspensions.max(1);
        }
    }

    /// A command that has not begun when the job is ready, that takes another plane, and that is
    /// not later than the job could be by itself.
    fn joinable(&self, rules: &Rules, job: &Job, start: Nanos) -> Option<usize> {
        if !rules.join(job.work) || job.number.is_none() {
            return None;
        }
        let first = self.commands.partition_point(|command| command.start < job.from);
        let fits = |command: &Command| {
            command.open
                && command.work == job.work
                && command.slc == job.slc
                && command.die == job.die
                && command.planes & (1 << job.plane) == 0
                && command.end - command.start >= job.length
                && (!rules.same_offset || job.work == Work::Erase || command.offset == job.offset)
        };
        let candidates = self.commands.range(first..).take_while(|command| command.start <= start);
        candidates.enumerate().find(|(_, command)| fits(command)).map(|(i, _)| first + i)
    }

    fn join(&mut self, index: usize, job: &Job, timeline: &mut Timeline) -> Nanos {
        let command = &mut self.commands[index];
        command.fixed |= job.is_urgent();
        command.planes |= 1 << job.plane;
        command.numbers[job.plane as usize] = job.number.map_or(0, |number| number + 1);
        if let Some(span) = timeline.find(command.span) {
            span.planes += 1;
        }
        command.end
    }

    /// Splits a running command at the moment when the job is ready, and leaves room for suspending
    /// it and for the job.
    fn suspend(
        &mut self,
        index: usize,
        job: &Job,
        cost: Nanos,
        ready: &mut Ready,
        timeline: &mut Timeline,
    ) {
        let running = &mut self.commands[index];
        let mut rest = *running;
        running.end = job.from + cost;
        // What is over concerns nobody any more: its pages and blocks are those of the rest.
        running.numbers = [0; PLANES];
        (running.open, running.has_rest) = (false, true);
        rest.start = job.from + cost + job.length;
        rest.end += cost + job.length;
        rest.suspensions += 1;
        rest.open = false;
        rest.span = 0;
        if let Some(begun) = timeline.find(running.span) {
            let whole = *begun;
            begun.end = job.from;
            let (start, end) = (job.from, job.from + cost);
            timeline.record(Span { start, end, work: Work::Suspend, ..whole });
            rest.span = timeline.record(Span { start: rest.start, end: rest.end, ..whole });
        }
        self.commands.insert(index + 1, rest);
        self.settle(index + 1, ready);
    }

    /// Moves the commands from `index` on behind the one before them, as far as they are in its
    /// way.
    fn move_from(&mut self, index: usize, ready: &mut Ready, timeline: &mut Timeline) {
        let mut end = self.commands[index - 1].end;
        for index in index..self.commands.len() {
            let command = &mut self.commands[index];
            if command.start >= end {
                break;
            }
            let by = end - command.start;
            command.start += by;
            command.end += by;
            end = command.end;
            if let Some(span) = timeline.find(command.span) {
                span.start += by;
                span.end += by;
            }
            self.settle(index, ready);
        }
    }

    /// Pages and blocks learn of a command's new end.
    fn settle(&self, index: usize, ready: &mut Ready) {
        let command = &self.commands[index];
        for number in command.numbers.iter().filter_map(|number| number.checked_sub(1)) {
            ready.moved(command.work, number, command.end);
        }
    }
}
