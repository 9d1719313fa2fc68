//! An opaque token of time: the moment after which the next operation may start.
//!
//! Data flow is the dependency graph: what must follow takes the token of what precedes, what runs
//! side by side starts from the same token and ends in [`When::join`]. Schemes never look inside,
//! so that another clock can be put behind the gate without touching them.
//!
//! A token also carries what its path was spent on since the request entered: the controller, the
//! map, the memory that holds data, the channels; the rest is flash. [`When::join`] keeps the path
//! of the later token, which is the critical one. A token of somebody else (what loaded a cached
//! entry, the last erase of a plane) is waited for with [`When::waits_for`]: its own path is none
//! of the request's.
//!
//! Under `timing.clock = event` nobody knows a moment beforehand. A token then names the operations
//! that are waited for (`pending.rs`); the clock alone makes such tokens and asks what they name,
//! and what the path was spent on is kept with the operations. Joining is all that others do with
//! either kind. A moment and an operation together are the operation: no moment of a request lies
//! ahead. A branch where tokens are joined, kept or waited for is what the call-order clock pays
//! for this: nothing to 1.3 % of the instructions of a host page, 2.9 % under `hat`, which waits
//! for most.

use super::pending::{PENDING, SPANS, Span, Wait, as_one, merged};
use crate::units::Nanos;
use zerocopy::FromZeros;

/// What a path was spent on, ns, saturating at 4.29 s each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
pub(crate) struct Path {
    /// Controller time per host page, and waiting for the controller.
    pub controller: u32,
    /// Operations on the map, with all their waits.
    pub map: u32,
    /// Data in the controller's RAM, and waiting for that RAM.
    pub buffer: u32,
    /// Transfers of other operations, and waiting for channels.
    pub channel: u32,
}

/// The moment after which the next operation may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
#[must_use = "a dropped token loses a dependency"]
pub struct When {
    time: Nanos,
    path: Path,
}

/// When something is there, for whoever is to wait for it: a token without the path, which is none
/// of theirs. What caches keep of each thing that they hold. Operations that are not over it names
/// as one span (`pending.rs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, FromZeros)]
pub struct Moment(Nanos);

impl Moment {
    /// Before everything.
    pub const START: Moment = Moment(0);

    #[inline]
    pub(crate) fn at(time: Nanos) -> Self {
        Moment(time)
    }

    /// A token for work that follows and that no request waits for: its path is empty.
    #[inline]
    pub fn token(self) -> When {
        When::at(self.0)
    }

    /// The operations that a token names, as one span.
    #[cold]
    #[inline(never)]
    fn of_operations(when: When) -> Self {
        Moment(PENDING | as_one(when.operations()))
    }
}

impl From<Moment> for When {
    #[inline]
    fn from(moment: Moment) -> Self {
        moment.token()
    }
}

impl From<When> for Moment {
    #[inline]
    fn from(when: When) -> Self {
        if when.is_pending() { Moment::of_operations(when) } else { Moment(when.time) }
    }
}

/// `spent` and the time from `from` to `to` together.
#[inline]
fn add(spent: u32, from: Nanos, to: Nanos) -> u32 {
    spent.saturating_add(u32::try_from(to - from).unwrap_or(u32::MAX))
}

impl When {
    /// Before everything.
    pub const START: When =
        When { time: 0, path: Path { controller: 0, map: 0, buffer: 0, channel: 0 } };

    /// `time`, with an empty path.
    #[inline]
    pub(crate) fn at(time: Nanos) -> Self {
        When { time, path: Path::default() }
    }

    #[inline]
    pub(crate) fn time(self) -> Nanos {
        self.time
    }

    #[inline]
    pub(crate) fn path(self) -> Path {
        self.path
    }

    /// After an operation whose end is not known.
    pub(crate) fn of(operation: u64) -> Self {
        When::pending([Span::of(operation).word(), 0, 0])
    }

    fn pending([first, second, third]: [u64; SPANS]) -> Self {
        let [low, high] = [second, third].map(|word| [word as u32, (word >> 32) as u32]);
        let path = Path { controller: low[0], map: low[1], buffer: high[0], channel: high[1] };
        When { time: PENDING | first, path }
    }

    /// Whether it names operations instead of a moment.
    #[inline]
    pub(crate) fn is_pending(self) -> bool {
        self.time >= PENDING
    }

    /// The operations that it names; none of a moment.
    pub(crate) fn operations(self) -> impl Iterator<Item = Span> {
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let Path { controller, map, buffer, channel } = self.path;
        let words = match self.is_pending() {
            true => [self.time & !PENDING, word(controller, map), word(buffer, channel)],
            false => [0; SPANS],
        };
        words.into_iter().filter_map(Span::from_word)
    }

    /// The operations of both.
    #[cold]
    #[inline(never)]
    fn both(self, other: When) -> When {
        When::pending(merged(self.operations().chain(other.operations())))
    }

    /// After this and the operations of somebody else.
    #[cold]
    #[inline(never)]
    fn waits_for_operations(self, other: When, wait: Wait) -> When {
        let foreign = other.operations().map(|span| Span { wait, ..span });
        When::pending(merged(self.operations().chain(foreign)))
    }

    /// Later, after work of the flash itself.
    #[inline]
    pub(crate) fn until(self, time: Nanos) -> Self {
        When { time, ..self }
    }

    /// Later, after work of the controller.
    #[inline]
    pub(crate) fn until_by_controller(self, time: Nanos) -> Self {
        let controller = add(self.path.controller, self.time, time);
        When { time, path: Path { controller, ..self.path } }
    }

    /// Later, after work on the map.
    #[inline]
    pub(crate) fn until_by_map(self, time: Nanos) -> Self {
        let map = add(self.path.map, self.time, time);
        When { time, path: Path { map, ..self.path } }
    }

    /// Later, after work on data in the controller's RAM.
    #[inline]
    pub(crate) fn until_by_buffer(self, time: Nanos) -> Self {
        let buffer = add(self.path.buffer, self.time, time);
        When { time, path: Path { buffer, ..self.path } }
    }

    /// Later, after waiting for a channel and using it.
    #[inline]
    pub(crate) fn until_by_channel(self, time: Nanos) -> Self {
        let channel = add(self.path.channel, self.time, time);
        When { time, path: Path { channel, ..self.path } }
    }

    /// After both; both belong to the same request.
    #[inline]
    pub fn join(self, other: When) -> When {
        if self.time & other.time >= PENDING {
            return self.both(other);
        }
        if other.time > self.time { other } else { self }
    }

    /// After both, where `other` belongs to somebody else; waiting for it counts as flash.
    #[inline]
    pub fn waits_for(self, other: impl Into<When>) -> When {
        let other = other.into();
        if other.is_pending() {
            return self.waits_for_operations(other, Wait::Flash);
        }
        self.until(self.time.max(other.time))
    }

    /// After both, where `other` belongs to whoever loaded a part of the map; waiting for it counts
    /// as map.
    #[inline]
    pub fn waits_for_map(self, other: impl Into<When>) -> When {
        let other = other.into();
        if other.is_pending() {
            return self.waits_for_operations(other, Wait::Map);
        }
        if other.time > self.time { self.until_by_map(other.time) } else { self }
    }

    /// After both, where `other` belongs to whoever brings a page into memory or makes room there;
    /// waiting for it counts as buffer.
    #[inline]
    pub fn waits_for_buffer(self, other: impl Into<When>) -> When {
        let other = other.into();
        if other.is_pending() {
            return self.waits_for_operations(other, Wait::Buffer);
        }
        if other.time > self.time { self.until_by_buffer(other.time) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_keeps_the_critical_path_and_a_foreign_token_brings_none() {
        let start = When::at(100);
        let by_map = start.until_by_map(150).until(170);
        let by_channel = start.until_by_channel(130);
        assert_eq!(by_map.join(by_channel), by_map);
        assert_eq!(by_channel.join(by_map), by_map);
        let foreign = When::at(0).until_by_channel(200);
        assert_eq!(by_map.waits_for(foreign).path(), by_map.path(), "the wait is flash");
        let waited = by_map.waits_for_map(foreign);
        assert_eq!((waited.time(), waited.path().map, waited.path().channel), (200, 80, 0));
        assert_eq!(by_map.waits_for_map(start), by_map, "no wait for what is over");
        let held = by_map.waits_for_buffer(foreign);
        assert_eq!((held.time(), held.path().map, held.path().buffer), (200, 50, 30));
        assert_eq!(by_map.waits_for_buffer(start), by_map, "no wait for what is over");
    }

    #[test]
    fn operations_are_joined_and_stay_behind_moments() {
        let named = |when: When| {
            let spans = when.operations();
            spans.map(|span| (span.first, span.last, span.wait)).collect::<Vec<_>>()
        };
        let (moment, one, two) = (When::at(100), When::of(7), When::of(9));
        assert!(named(moment).is_empty() && !moment.is_pending());
        assert_eq!([moment.join(one), one.join(moment), one.join(one)], [one; 3]);
        let both = [(7, 7, Wait::Own), (9, 9, Wait::Own)];
        assert_eq!((named(one.join(two)), named(two.join(one))), (both.to_vec(), both.to_vec()));
        assert_eq!(named(moment.waits_for(two)), [(9, 9, Wait::Flash)]);
        let waits = one.waits_for_map(two).waits_for_buffer(When::of(12));
        let expected = [(7, 7, Wait::Own), (9, 9, Wait::Map), (12, 12, Wait::Buffer)];
        assert_eq!(named(waits), expected);
        assert_eq!(one.waits_for(moment), one);
        assert_eq!([one.waits_for_map(moment), one.waits_for_buffer(moment)], [one; 2]);
    }

    /// Two spans that came to count alike stay two: a moment brings nothing that would be merged.
    #[test]
    fn a_moment_changes_nothing_about_operations() {
        let waits = When::of(2).waits_for(When::of(1)).waits_for(When::of(3));
        let four = waits.waits_for(When::of(10));
        assert_eq!(four.operations().count(), 3);
        for token in [When::of(7), waits, four] {
            assert_eq!([token.join(When::at(100)), When::at(100).join(token)], [token; 2]);
        }
    }

    /// Of two tokens of one moment the first is kept.
    #[test]
    fn of_paths_that_are_as_long_the_first_counts() {
        let by_map = When::at(100).until_by_map(150);
        let by_channel = When::at(100).until_by_channel(150);
        assert_eq!([by_map.join(by_channel), by_channel.join(by_map)], [by_map, by_channel]);
    }

    #[test]
    fn a_moment_keeps_a_time_or_all_operations_as_one_span_of_the_request_that_waits() {
        assert_eq!(When::from(Moment::from(When::at(100).until_by_map(150))), When::at(150));
        let kept = |when: When| {
            let spans: Vec<Span> = Moment::from(when).token().operations().collect();
            spans
        };
        assert_eq!(kept(When::of(7)), [Span::of(7)]);
        let all = When::of(7).join(When::of(8)).waits_for_map(When::of(12));
        let between = Span { first: 7, last: 12, wait: Wait::Own, inexact: true };
        assert_eq!(kept(all), [between]);
    }

    #[test]
    fn a_path_saturates() {
        let long = When::at(0).until_by_map(u64::from(u32::MAX) + 5).until_by_map(1 << 40);
        assert_eq!(long.path().map, u32::MAX);
    }
}
