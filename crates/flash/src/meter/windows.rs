//! What happened over simulated time, in a fixed number of windows that widen as the run goes on.

use std::ops::Range;

use super::window_times::{WINDOWS, WindowTimes};
use super::{Level, Levels};
use crate::request::{Completion, Op};
use crate::units::Nanos;

/// Width of the first windows, ns.
const FIRST_WIDTH: Nanos = 1_000_000;

/// System response times of requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Responses {
    /// Requests that completed.
    pub requests: u64,
    /// Sum of their times, ns.
    pub sum: u128,
    /// Longest of them, ns.
    pub max: Nanos,
}

impl Responses {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Responses) -> Responses {
        Responses {
            requests: self.requests + other.requests,
            sum: self.sum + other.sum,
            max: self.max.max(other.max),
        }
    }
}

/// What windows show the growth of, since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Host pages written.
    pub host_pages_written: u64,
    /// Pages programmed for another reason than the host's data.
    pub overhead_programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Kinds of requests that windows tell apart: reads, writes, and those that move no data.
const KINDS: usize = 3;
const OTHERS: usize = 2;

/// What happened in one span of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Reads, writes, all others.
    responses: [Responses; KINDS],
    /// Host pages written.
    pub host_pages_written: u64,
    /// Pages programmed for another reason than the host's data.
    pub overhead_programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Fewest free blocks of the plane with fewest, where a request completed; sampled at the first
    /// request of a window before windows were joined.
    pub free_blocks_min: Option<u32>,
    /// Where the scheme's levels stood last: [`Window::level`].
    levels: Levels,
}

impl Default for Window {
    /// Nothing, and no level told.
    fn default() -> Self {
        Window {
            responses: Default::default(),
            host_pages_written: 0,
            overhead_programs: 0,
            erases: 0,
            free_blocks_min: None,
            levels: [0; Level::COUNT],
        }
    }
}

impl Window {
    /// Requests of all kinds.
    pub fn all(&self) -> Responses {
        self.reads().plus(&self.writes()).plus(&self.responses[OTHERS])
    }

    /// Reads alone.
    pub fn reads(&self) -> Responses {
        self.responses[Op::Read as usize]
    }

    /// Writes alone.
    pub fn writes(&self) -> Responses {
        self.responses[Op::Write as usize]
    }

    fn is_empty(&self) -> bool {
        self.responses.iter().all(|kind| kind.requests == 0)
    }

    /// Where a level stood at the end of the window; none if the scheme has no such level.
    pub fn level(&self, level: Level) -> Option<u64> {
        self.levels[level as usize].checked_sub(1)
    }

    fn join(&self, other: &Window) -> Window {
        Window {
            responses: std::array::from_fn(|kind| {
                self.responses[kind].plus(&other.responses[kind])
            }),
            host_pages_written: self.host_pages_written + other.host_pages_written,
            overhead_programs: self.overhead_programs + other.overhead_programs,
            erases: self.erases + other.erases,
            free_blocks_min: match (self.free_blocks_min, other.free_blocks_min) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
            // The later one, unless nothing completed in it.
            levels: if other.is_empty() { self.levels } else { other.levels },
        }
    }
}

/// All windows of a run.
#[derive(Debug)]
pub struct Windows {
    /// From time 0 to the last completion. Its capacity is that of [`WINDOWS`].
    windows: Vec<Window>,
    times: WindowTimes,
    width: Nanos,
    /// The window of the last completion, and where it starts.
    present: usize,
    present_start: Nanos,
    /// At the last completion.
    seen: Totals,
    /// Where the levels stand now.
    levels: Levels,
}

impl Windows {
    pub(super) fn new() -> Self {
        Windows {
            windows: Vec::with_capacity(WINDOWS),
            times: WindowTimes::new(),
            width: FIRST_WIDTH,
            present: 0,
            present_start: 0,
            seen: Totals::default(),
            levels: [0; Level::COUNT],
        }
    }

    pub(super) fn reset(&mut self) {
        self.windows.clear();
        self.times.reset();
        (self.width, self.seen) = (FIRST_WIDTH, Totals::default());
        self.present_start = 0;
    }

    /// Adds a completion; true when it is the first of its window.
    #[inline]
    pub(super) fn record(&mut self, op: Op, completion: &Completion, totals: Totals) -> bool {
        self.record_alike(op, completion, 1, totals)
    }

    /// The window into which the last completion fell.
    #[inline]
    pub(super) fn present(&self) -> Range<Nanos> {
        self.present_start..self.present_start + self.width
    }

    /// Adds so many completions that went alike, all in the window of the last of them.
    #[inline(always)]
    pub(super) fn record_alike(
        &mut self,
        op: Op,
        completion: &Completion,
        count: u32,
        totals: Totals,
    ) -> bool {
        // Completions come nearly in order: most fall into the window of the one before.
        let elapsed = completion.completed.wrapping_sub(self.present_start);
        if elapsed >= self.width || self.windows.is_empty() {
            self.find_window(completion.completed);
            self.windows[self.present].levels = self.levels;
        }
        let window = &mut self.windows[self.present];
        let system = completion.system();
        let first = window.is_empty();
        let kind = (op as usize).min(OTHERS);
        let responses = &mut window.responses[kind];
        responses.requests += u64::from(count);
        responses.sum += u128::from(count) * u128::from(system);
        responses.max = responses.max.max(system);
        if kind < OTHERS {
            self.times.record(kind, system, count);
        }
        window.host_pages_written += totals.host_pages_written - self.seen.host_pages_written;
        window.overhead_programs += totals.overhead_programs - self.seen.overhead_programs;
        window.erases += totals.erases - self.seen.erases;
        self.seen = totals;
        first
    }

    /// A level stands at another value from now on. What the present window says of the others is
    /// where they stand.
    #[inline]
    pub(super) fn level(&mut self, level: Level, value: u64) {
        self.levels[level as usize] = value + 1;
        if let Some(present) = self.windows.get_mut(self.present) {
            present.levels[level as usize] = value + 1;
        }
    }

    pub(super) fn level_now(&self, level: Level) -> Option<u64> {
        self.levels[level as usize].checked_sub(1)
    }

    /// Notes the free blocks at the request recorded last.
    pub(super) fn sample_free_blocks(&mut self, free_blocks: u32) {
        self.windows[self.present].free_blocks_min = Some(free_blocks);
    }

    #[cold]
    fn find_window(&mut self, time: Nanos) {
        while time >= self.width * WINDOWS as Nanos {
            self.widen();
        }
        self.present = (time / self.width) as usize;
        self.present_start = self.present as Nanos * self.width;
        self.times.turn_to(self.present);
        let used = self.windows.len().max(self.present + 1);
        self.windows.resize(used, Window::default());
    }

    #[cold]
    fn widen(&mut self) {
        self.times.widen();
        let pairs = self.windows.len().div_ceil(2);
        for pair in 0..pairs {
            let first = self.windows[2 * pair];
            let second = self.windows.get(2 * pair + 1);
            self.windows[pair] = second.map_or(first, |second| first.join(second));
        }
        self.windows.truncate(pairs);
        self.width *= 2;
    }

    /// Width of every window, ns.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// The windows from time 0 on.
    pub fn all(&self) -> &[Window] {
        &self.windows
    }

    /// Response times of reads or of writes in a window, ascending: shortest and longest of a
    /// bucket, and how many fell into it. Trims and flushes have none.
    pub fn responses(&self, op: Op, window: usize) -> impl Iterator<Item = (Nanos, Nanos, u64)> {
        let direction = matches!(op, Op::Read | Op::Write).then_some(op as usize);
        direction.into_iter().flat_map(move |kind| self.times.buckets(kind, window))
    }
}

impl Clone for Windows {
    fn clone(&self) -> Self {
        let mut windows = Vec::with_capacity(WINDOWS);
        windows.extend_from_slice(&self.windows);
        let Windows { width, present, present_start, seen, levels, .. } = *self;
        Windows { windows, times: self.times.clone(), width, present, present_start, seen, levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Stages;

    fn completed_at(completed: Nanos) -> Completion {
        let stages = Stages::default();
        Completion { arrival: completed, admitted: completed, completed, stages, unreadable: None }
    }

    /// The level is 5, then 7 within the first window; nothing completes in the second; a later
    /// level counts from the window in which it was told; joined windows show where they ended.
    #[test]
    fn a_window_shows_where_a_level_stood_at_its_end() {
        let mut windows = Windows::new();
        windows.level(Level::ThetaPages, 5);
        windows.record(Op::Write, &completed_at(0), Totals::default());
        windows.level(Level::ThetaPages, 7);
        windows.record(Op::Write, &completed_at(2 * FIRST_WIDTH), Totals::default());
        windows.level(Level::ThetaPages, 9);
        let theta = |windows: &Windows| -> Vec<Option<u64>> {
            windows.all().iter().map(|window| window.level(Level::ThetaPages)).collect()
        };
        assert_eq!(theta(&windows), [Some(7), None, Some(9)]);
        assert_eq!(windows.all()[0].level(Level::PhiPages), None, "never told");
        windows.record(Op::Write, &completed_at(WINDOWS as Nanos * FIRST_WIDTH), Totals::default());
        assert_eq!(theta(&windows)[..2], [Some(7), Some(9)], "pairs of windows were joined");
        windows.reset();
        assert_eq!(windows.level_now(Level::ThetaPages), Some(9), "measuring moves no area");
    }

    fn took(from: Nanos, completed: Nanos) -> Completion {
        Completion { arrival: from, admitted: from, ..completed_at(completed) }
    }

    fn totals(host_pages_written: u64, overhead_programs: u64, erases: u64) -> Totals {
        Totals { host_pages_written, overhead_programs, erases }
    }

    /// A read and three writes in the first window, a flush in the second; what was programmed and
    /// erased grows from one completion to the next.
    #[test]
    fn a_window_has_its_responses_and_what_grew_in_it() {
        let mut windows = Windows::new();
        assert!(
            windows.record(Op::Read, &took(5, 10), totals(1, 20, 300)),
            "the first of its window"
        );
        assert!(!windows.record_alike(Op::Write, &took(0, 20), 3, totals(3, 50, 700)));
        windows.sample_free_blocks(9);
        assert_eq!(windows.present(), 0..FIRST_WIDTH);
        let second = FIRST_WIDTH + 4;
        assert!(windows.record(Op::Flush, &took(FIRST_WIDTH, second), totals(3, 51, 702)));
        assert_eq!(windows.present(), FIRST_WIDTH..2 * FIRST_WIDTH);
        let [first, second] = windows.all() else { panic!("two windows") };
        assert_eq!(first.reads(), Responses { requests: 1, sum: 5, max: 5 });
        assert_eq!(first.writes(), Responses { requests: 3, sum: 60, max: 20 });
        assert_eq!(first.all(), Responses { requests: 4, sum: 65, max: 20 });
        assert_eq!((first.host_pages_written, first.overhead_programs, first.erases), (3, 50, 700));
        assert_eq!((first.free_blocks_min, second.free_blocks_min), (Some(9), None));
        assert_eq!(second.all(), Responses { requests: 1, sum: 4, max: 4 });
        assert_eq!((second.host_pages_written, second.overhead_programs, second.erases), (0, 1, 2));
        let counted = |op| windows.responses(op, 0).map(|(.., count)| count).sum::<u64>();
        assert_eq!([Op::Read, Op::Write, Op::Flush].map(counted), [1, 3, 0]);
    }

    /// 1, 2, 4 and 8 writes in four windows, ten programs and a hundred erases for each: a
    /// completion beyond the last window joins them in pairs.
    #[test]
    fn windows_that_widen_are_joined_in_pairs() {
        let mut windows = Windows::new();
        let mut writes = 0;
        for (window, count) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
            writes += u64::from(count);
            let seen = totals(writes, 10 * writes, 100 * writes);
            windows.record_alike(Op::Write, &completed_at(window * FIRST_WIDTH), count, seen);
        }
        assert_eq!(windows.width(), FIRST_WIDTH);
        let beyond = WINDOWS as Nanos * FIRST_WIDTH;
        windows.record(Op::Flush, &completed_at(beyond), totals(writes, 10 * writes, 100 * writes));
        assert_eq!((windows.width(), windows.all().len()), (2 * FIRST_WIDTH, WINDOWS / 2 + 1));
        let joined = windows.all()[..2].iter().map(|window| {
            let Window { host_pages_written, overhead_programs, erases, .. } = *window;
            (window.writes().requests, host_pages_written, overhead_programs, erases)
        });
        assert_eq!(joined.collect::<Vec<_>>(), [(3, 3, 30, 300), (12, 12, 120, 1200)]);
    }
}
