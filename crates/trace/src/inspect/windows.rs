//! The working set: distinct pages in windows of many lengths, by accesses and by time.
//!
//! Windows of a length follow each other without a gap or an overlap from the first request on; the
//! last one of each length, which the trace cuts off, does not count (Denning: The working set
//! model for program behavior, CACM 11(5), 1968, with windows that do not slide).

use serde::Serialize;

use super::lru_stack::LruStack;

/// Windows in page accesses: 1, 2 and 5 times the powers of ten from here.
const ACCESSES_FIRST: u64 = 100;
const BY_ACCESSES: usize = 24;
/// Windows of time, in nanoseconds: 1 ms to 1 day.
const BY_TIME: [u64; 9] = [
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    60_000_000_000,
    600_000_000_000,
    3_600_000_000_000,
    86_400_000_000_000,
];

/// Moments that the stack must remember for [`Windows`].
pub(super) const MARKS: usize = BY_ACCESSES + BY_TIME.len();

/// Distinct pages in the windows of one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WindowsByAccesses {
    /// Length, in page accesses.
    pub page_accesses: u64,
    /// Whole windows.
    pub windows: u64,
    /// Distinct pages per window, mean.
    pub pages_mean: f64,
    /// Distinct pages in the window with most.
    pub pages_max: u64,
}

/// Distinct pages in the windows of one length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WindowsByTime {
    /// Length, in nanoseconds.
    pub time_ns: u64,
    /// Whole windows, idle ones among them.
    pub windows: u64,
    /// Distinct pages per window, mean.
    pub pages_mean: f64,
    /// Distinct pages in the window with most.
    pub pages_max: u64,
}

/// The working set by length of the window, shortest first; lengths without a whole window lack.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkingSet {
    /// Windows of so many page accesses.
    pub by_accesses: Vec<WindowsByAccesses>,
    /// Windows of so much time.
    pub by_time: Vec<WindowsByTime>,
}

/// Windows of one length.
#[derive(Clone, Copy)]
struct Length {
    length: u64,
    /// End of the window that is open.
    end: u64,
    windows: u64,
    pages: u64,
    pages_max: u64,
}

impl Length {
    fn new(length: u64) -> Self {
        Self { length, end: length, windows: 0, pages: 0, pages_max: 0 }
    }

    /// Ends the open window, and the empty ones that follow it until `now`.
    fn end_windows(&mut self, now: u64, distinct: u64) {
        let ended = 1 + (now - self.end) / self.length;
        self.end = self.end.saturating_add(ended.saturating_mul(self.length));
        self.windows += ended;
        self.pages += distinct;
        self.pages_max = self.pages_max.max(distinct);
    }

    fn mean(&self) -> f64 {
        self.pages as f64 / self.windows as f64
    }
}

/// All windows that are open.
pub(super) struct Windows {
    by_accesses: [Length; BY_ACCESSES],
    by_time: [Length; BY_TIME.len()],
    next_access_end: u64,
    next_time_end: u64,
}

impl Windows {
    /// Before the first access, at time 0.
    pub fn new() -> Self {
        let factor = |number: usize| [1, 2, 5][number % 3] * 10u64.pow(number as u32 / 3);
        Self {
            by_accesses: std::array::from_fn(|n| Length::new(ACCESSES_FIRST * factor(n))),
            by_time: BY_TIME.map(Length::new),
            next_access_end: ACCESSES_FIRST,
            next_time_end: BY_TIME[0],
        }
    }

    /// Before the accesses of a request that comes at `time_ns`.
    #[inline]
    pub fn at_time(&mut self, time_ns: u64, stack: &mut LruStack) {
        if time_ns >= self.next_time_end {
            end_all(&mut self.by_time, BY_ACCESSES, time_ns, stack, &mut self.next_time_end);
        }
    }

    /// After every access.
    #[inline]
    pub fn after_access(&mut self, stack: &mut LruStack) {
        let now = stack.accesses();
        if now >= self.next_access_end {
            end_all(&mut self.by_accesses, 0, now, stack, &mut self.next_access_end);
        }
    }

    /// What was found; windows that are still open are left out.
    pub fn report(&self) -> WorkingSet {
        let whole = |length: &&Length| length.windows > 0;
        let by_accesses = self.by_accesses.iter().filter(whole).map(|length| WindowsByAccesses {
            page_accesses: length.length,
            windows: length.windows,
            pages_mean: length.mean(),
            pages_max: length.pages_max,
        });
        let by_time = self.by_time.iter().filter(whole).map(|length| WindowsByTime {
            time_ns: length.length,
            windows: length.windows,
            pages_mean: length.mean(),
            pages_max: length.pages_max,
        });
        WorkingSet { by_accesses: by_accesses.collect(), by_time: by_time.collect() }
    }
}

fn end_all(
    lengths: &mut [Length],
    first_mark: usize,
    now: u64,
    stack: &mut LruStack,
    next: &mut u64,
) {
    for (mark, length) in (first_mark..).zip(lengths.iter_mut()) {
        if now >= length.end {
            length.end_windows(now, stack.distinct_since(mark));
            stack.set_mark(mark);
        }
    }
    *next = lengths.iter().map(|length| length.end).min().unwrap_or(u64::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Against sets of the pages of each window.
    #[test]
    fn windows_hold_what_sets_hold() {
        let pages: Vec<u64> = (0..10_250u64).map(|n| (n * n / 50) % (40 + n / 9)).collect();
        let times: Vec<u64> = (0..10_250u64).map(|n| n * 330_000 + n / 3000 * 5_000_000).collect();
        let (mut stack, mut windows) = (LruStack::new(MARKS), Windows::new());
        for (page, time) in pages.iter().zip(&times) {
            windows.at_time(*time, &mut stack);
            stack.access(0, *page, false);
            windows.after_access(&mut stack);
        }
        let found = windows.report();
        let distinct = |pages: &[u64]| pages.iter().collect::<BTreeSet<_>>().len() as u64;
        assert_eq!(found.by_accesses.len(), 7);
        for row in &found.by_accesses {
            let sets: Vec<u64> =
                pages.chunks_exact(row.page_accesses as usize).map(distinct).collect();
            assert_eq!(row.windows, sets.len() as u64);
            assert_eq!(row.pages_max, *sets.iter().max().unwrap());
            assert_eq!(row.pages_mean, sets.iter().sum::<u64>() as f64 / sets.len() as f64);
        }
        assert_eq!(found.by_time.iter().map(|row| row.time_ns).max(), Some(1_000_000_000));
        for row in &found.by_time {
            let whole = times.last().unwrap() / row.time_ns;
            let sets: Vec<u64> = (0..whole)
                .map(|window| {
                    let inside = |time: &u64| time / row.time_ns == window;
                    let used: Vec<u64> = pages
                        .iter()
                        .zip(&times)
                        .filter(|(_, time)| inside(time))
                        .map(|(page, _)| *page)
                        .collect();
                    distinct(&used)
                })
                .collect();
            assert_eq!(row.windows, whole, "{}", row.time_ns);
            assert_eq!(row.pages_max, *sets.iter().max().unwrap());
            assert_eq!(row.pages_mean, sets.iter().sum::<u64>() as f64 / whole as f64);
        }
    }

    #[test]
    fn a_gap_of_centuries_ends_no_loop_late() {
        let (mut stack, mut windows) = (LruStack::new(MARKS), Windows::new());
        stack.access(0, 1, false);
        windows.at_time(u64::MAX, &mut stack);
        let day = *windows.report().by_time.last().unwrap();
        assert_eq!((day.windows, day.pages_max), (u64::MAX / 86_400_000_000_000, 1));
    }
}
