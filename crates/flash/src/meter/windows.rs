//! What happened over simulated time, in a fixed number of windows that widen as the run goes on.

use super::{Level, Levels};
use crate::request::Completion;
use crate::units::Nanos;

/// Most windows that are kept; when time runs past them, neighbours are joined in pairs.
pub const WINDOWS: usize = 256;

/// Width of the first windows, ns.
const FIRST_WIDTH: Nanos = 1_000_000;

/// What happened in one span of simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Requests that completed.
    pub requests: u64,
    /// Sum of their system response times, ns.
    pub response_sum: u128,
    /// Longest of them, ns.
    pub response_max: Nanos,
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

impl Window {
    /// Where a level stood at the end of the window; none if the scheme has no such level.
    pub fn level(&self, level: Level) -> Option<u64> {
        self.levels[level as usize].checked_sub(1)
    }

    fn join(&self, other: &Window) -> Window {
        Window {
            requests: self.requests + other.requests,
            response_sum: self.response_sum + other.response_sum,
            response_max: self.response_max.max(other.response_max),
            host_pages_written: self.host_pages_written + other.host_pages_written,
            overhead_programs: self.overhead_programs + other.overhead_programs,
            erases: self.erases + other.erases,
            free_blocks_min: match (self.free_blocks_min, other.free_blocks_min) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
            // The later one, unless nothing completed in it.
            levels: if other.requests == 0 { self.levels } else { other.levels },
        }
    }
}

/// All windows of a run.
#[derive(Clone, Debug)]
pub struct Windows {
    windows: Vec<Window>,
    width: Nanos,
    used: usize,
    /// The window of the last completion, and where it starts.
    present: usize,
    present_start: Nanos,
    /// Totals at the last completion: host pages, overhead programs, erases.
    seen: (u64, u64, u64),
    /// Where the levels stand now.
    levels: Levels,
}

impl Windows {
    pub(super) fn new() -> Self {
        Windows {
            windows: vec![Window::default(); WINDOWS],
            width: FIRST_WIDTH,
            used: 0,
            present: 0,
            present_start: 0,
            seen: (0, 0, 0),
            levels: [0; Level::COUNT],
        }
    }

    pub(super) fn reset(&mut self) {
        self.windows.fill(Window::default());
        (self.width, self.used, self.seen) = (FIRST_WIDTH, 0, (0, 0, 0));
        self.present_start = 0;
    }

    /// Adds a completion; true when it is the first of its window.
    #[inline]
    pub(super) fn record(&mut self, completion: &Completion, totals: (u64, u64, u64)) -> bool {
        // Completions come nearly in order: most fall into the window of the one before.
        let elapsed = completion.completed.wrapping_sub(self.present_start);
        if elapsed >= self.width || self.used == 0 {
            self.find_window(completion.completed);
            self.windows[self.present].levels = self.levels;
        }
        let window = &mut self.windows[self.present];
        let system = completion.system();
        let first = window.requests == 0;
        window.requests += 1;
        window.response_sum += u128::from(system);
        window.response_max = window.response_max.max(system);
        window.host_pages_written += totals.0 - self.seen.0;
        window.overhead_programs += totals.1 - self.seen.1;
        window.erases += totals.2 - self.seen.2;
        self.seen = totals;
        first
    }

    /// A level stands at another value from now on. What the present window says of the others is
    /// where they stand.
    #[inline]
    pub(super) fn level(&mut self, level: Level, value: u64) {
        self.levels[level as usize] = value + 1;
        if self.used > 0 {
            self.windows[self.present].levels[level as usize] = value + 1;
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
        self.used = self.used.max(self.present + 1);
    }

    #[cold]
    fn widen(&mut self) {
        for pair in 0..WINDOWS / 2 {
            self.windows[pair] = self.windows[2 * pair].join(&self.windows[2 * pair + 1]);
        }
        self.windows[WINDOWS / 2..].fill(Window::default());
        self.width *= 2;
        self.used = self.used.div_ceil(2);
    }

    /// Width of every window, ns.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// The windows from time 0 on.
    pub fn all(&self) -> &[Window] {
        &self.windows[..self.used]
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
        windows.record(&completed_at(0), (0, 0, 0));
        windows.level(Level::ThetaPages, 7);
        windows.record(&completed_at(2 * FIRST_WIDTH), (0, 0, 0));
        windows.level(Level::ThetaPages, 9);
        let theta = |windows: &Windows| -> Vec<Option<u64>> {
            windows.all().iter().map(|window| window.level(Level::ThetaPages)).collect()
        };
        assert_eq!(theta(&windows), [Some(7), None, Some(9)]);
        assert_eq!(windows.all()[0].level(Level::PhiPages), None, "never told");
        windows.record(&completed_at(WINDOWS as Nanos * FIRST_WIDTH), (0, 0, 0));
        assert_eq!(theta(&windows)[..2], [Some(7), Some(9)], "pairs of windows were joined");
        windows.reset();
        assert_eq!(windows.level_now(Level::ThetaPages), Some(9), "measuring moves no area");
    }
}
