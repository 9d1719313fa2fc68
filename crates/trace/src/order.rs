//! Time made monotone: stray events dropped, small backward steps sorted, large ones refused.
//!
//! Lines in order pass through a queue at constant cost; only late lines enter a heap. Both are
//! bounded together by [`HELD_MAX`], so that memory does not grow with the length of a trace.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::record::{Place, Record};

/// An event further than this from both its neighbours is stray: one day, in nanoseconds.
pub(crate) const STRAY_NS: u64 = 86_400 * 1_000_000_000;

/// Most requests held back for sorting.
pub(crate) const HELD_MAX: usize = 1 << 20;

/// A record and where it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) record: Record,
    pub(crate) place: Place,
}

impl Placed {
    fn key(&self) -> (u64, Place) {
        (self.record.time_ns, self.place)
    }
}

impl Ord for Placed {
    /// Reversed, because the heap of the standard library gives its largest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Drops an event whose time lies more than a day from both its neighbours. The first event and
/// the last one have one neighbour only: the first is kept, the last is dropped if it lies more
/// than a day and [`LAST_TIMES`] times everything before it away from that.
#[derive(Default)]
pub(crate) struct StrayFilter {
    first_ns: Option<u64>,
    before_ns: Option<u64>,
    waiting: Option<Placed>,
}

/// A pause before the last event so many times longer than the whole trace before it is no pause.
const LAST_TIMES: u64 = 1000;

/// What became of the event that was waiting for its successor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filtered {
    Nothing,
    Kept(Placed),
    Stray(Placed),
}

impl StrayFilter {
    /// Takes the next event in file order and decides on the one before it.
    #[inline]
    pub(crate) fn push(&mut self, next: Placed) -> Filtered {
        let Some(waiting) = self.waiting.replace(next) else {
            return Filtered::Nothing;
        };
        let time_ns = waiting.record.time_ns;
        if let Some(before_ns) = self.before_ns
            && time_ns.abs_diff(before_ns) > STRAY_NS
            && time_ns.abs_diff(next.record.time_ns) > STRAY_NS
        {
            return Filtered::Stray(waiting);
        }
        self.first_ns.get_or_insert(time_ns);
        self.before_ns = Some(time_ns);
        Filtered::Kept(waiting)
    }

    /// The last event, at the end of the trace.
    pub(crate) fn finish(&mut self) -> Filtered {
        let Some(last) = self.waiting.take() else {
            return Filtered::Nothing;
        };
        if let (Some(first_ns), Some(before_ns)) = (self.first_ns, self.before_ns) {
            let gap_ns = last.record.time_ns.abs_diff(before_ns);
            let span_ns = before_ns.abs_diff(first_ns);
            if gap_ns > STRAY_NS.max(span_ns.saturating_mul(LAST_TIMES)) && span_ns > 0 {
                return Filtered::Stray(last);
            }
        }
        Filtered::Kept(last)
    }
}

/// Why an event cannot be sorted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TooLate {
    /// It lies further back than the window.
    BeyondWindow { back_ns: u64 },
    /// The window is wide enough, but holds more than [`HELD_MAX`] requests.
    WindowFull { back_ns: u64 },
}

/// Sorts events whose time steps back by no more than a window.
pub(crate) struct Reorder {
    window_ns: u64,
    in_order: VecDeque<Placed>,
    late: BinaryHeap<Placed>,
    newest_ns: u64,
    released_ns: u64,
}

impl Reorder {
    pub(crate) fn new(window_ns: u64) -> Self {
        Self {
            window_ns,
            in_order: VecDeque::new(),
            late: BinaryHeap::new(),
            newest_ns: 0,
            released_ns: 0,
        }
    }

    /// Takes an event; `Some(step)` if it is late, by that many nanoseconds.
    #[inline]
    pub(crate) fn push(&mut self, event: Placed) -> Result<Option<u64>, TooLate> {
        let time_ns = event.record.time_ns;
        if time_ns >= self.newest_ns {
            self.newest_ns = time_ns;
            self.in_order.push_back(event);
            return Ok(None);
        }
        let back_ns = self.newest_ns - time_ns;
        if back_ns > self.window_ns {
            return Err(TooLate::BeyondWindow { back_ns });
        }
        if time_ns < self.released_ns {
            return Err(TooLate::WindowFull { back_ns });
        }
        self.late.push(event);
        Ok(Some(back_ns))
    }

    /// The earliest event, if no later line can still come before it.
    #[inline]
    pub(crate) fn pop_ready(&mut self) -> Option<Placed> {
        let earliest_ns = match (self.in_order.front(), self.late.peek()) {
            (None, None) => return None,
            (Some(event), None) | (None, Some(event)) => event.record.time_ns,
            (Some(a), Some(b)) => a.record.time_ns.min(b.record.time_ns),
        };
        let held = self.in_order.len() + self.late.len();
        if self.newest_ns - earliest_ns < self.window_ns && held < HELD_MAX {
            return None;
        }
        self.pop()
    }

    /// The earliest event held.
    pub(crate) fn pop(&mut self) -> Option<Placed> {
        let from_late = match (self.in_order.front(), self.late.peek()) {
            (Some(in_order), Some(late)) => late.key() < in_order.key(),
            (None, late) => late.is_some(),
            (Some(_), None) => false,
        };
        let event = if from_late { self.late.pop() } else { self.in_order.pop_front() };
        self.released_ns = event.map_or(self.released_ns, |event| event.record.time_ns);
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::request::Op;

    fn event(time_ns: u64, line: u64) -> Placed {
        let record = Record {
            time_ns,
            op: Op::Read,
            offset_bytes: 0,
            size_bytes: 512,
            unit: 0,
            stream: None,
            content: None,
        };
        Placed { record, place: Place { part: 0, line } }
    }

    #[test]
    fn late_events_within_the_window_come_out_sorted_and_equal_times_in_file_order() {
        let mut reorder = Reorder::new(10);
        let mut out = Vec::new();
        for (line, time) in [5, 9, 7, 7, 30, 25, 30].into_iter().enumerate() {
            reorder.push(event(time, line as u64)).unwrap();
            out.extend(std::iter::from_fn(|| reorder.pop_ready()));
        }
        out.extend(std::iter::from_fn(|| reorder.pop()));
        let got: Vec<_> = out.iter().map(|e| (e.record.time_ns, e.place.line)).collect();
        assert_eq!(got, [(5, 0), (7, 2), (7, 3), (9, 1), (25, 5), (30, 4), (30, 6)]);
    }

    #[test]
    fn a_step_beyond_the_window_is_refused() {
        let mut reorder = Reorder::new(10);
        reorder.push(event(100, 1)).unwrap();
        assert_eq!(reorder.push(event(90, 2)), Ok(Some(10)));
        assert_eq!(reorder.push(event(89, 3)), Err(TooLate::BeyondWindow { back_ns: 11 }));
    }

    #[test]
    fn a_trace_without_time_is_held_only_up_to_the_bound() {
        let mut reorder = Reorder::new(1_000_000_000);
        let mut released = 0;
        for line in 0..(HELD_MAX as u64 + 10) {
            reorder.push(event(1, line)).unwrap();
            released += u64::from(reorder.pop_ready().is_some());
        }
        assert_eq!(released, 11);
        assert_eq!(reorder.push(event(0, 0)), Err(TooLate::WindowFull { back_ns: 1 }));
    }

    #[test]
    fn only_events_far_from_both_neighbours_are_stray() {
        let day = STRAY_NS;
        let mut filter = StrayFilter::default();
        let mut stray = Vec::new();
        let mut kept = Vec::new();
        // A stray before, a stray after, and a true gap of ten days that stays.
        for (line, time) in [10 * day, 10 * day + 1, 0, 10 * day + 2, 90 * day, 10 * day + 3]
            .into_iter()
            .chain([20 * day, 20 * day + 1])
            .enumerate()
        {
            match filter.push(event(time, line as u64)) {
                Filtered::Nothing => {}
                Filtered::Kept(event) => kept.push(event.place.line),
                Filtered::Stray(event) => stray.push(event.place.line),
            }
        }
        assert_eq!(stray, [2, 4]);
        assert_eq!(kept, [0, 1, 3, 5, 6]);
        assert_eq!(filter.finish(), Filtered::Kept(event(20 * day + 1, 7)));
    }

    #[test]
    fn a_last_event_is_stray_only_far_beyond_everything_before_it() {
        let last = |time: u64| {
            let mut filter = StrayFilter::default();
            for time in [0, 60_000_000_000, time] {
                filter.push(event(time, 0));
            }
            filter.finish()
        };
        let year = 365 * STRAY_NS;
        assert!(matches!(last(10 * year), Filtered::Stray(_)));
        // Half a day after a minute is a pause; and two events alone tell nothing.
        assert!(matches!(last(STRAY_NS / 2), Filtered::Kept(_)));
        let mut two = StrayFilter::default();
        two.push(event(0, 0));
        two.push(event(10 * year, 1));
        assert!(matches!(two.finish(), Filtered::Kept(_)));
    }
}
