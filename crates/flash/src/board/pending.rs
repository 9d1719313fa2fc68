//! What a token of the event-driven clock names: operations that are not over yet.
//!
//! Three spans of operation numbers fit into a token, one into a moment. A span is exact: one
//! operation, or operations that were asked for one after another and are all waited for. Where
//! more than three would be needed, the two nearest become one, which also waits for what was asked
//! for between them: for operations of the same request, and where the two are of different ones,
//! for those of others. Such a span says so, the clock counts who waits for one (`Graph::follow`),
//! and results say so. Joins that clock and device make are operations of their own, but for those
//! of a buffer that caches reads, so that this happens only to sums of four and more tokens within
//! a scheme, and to sums of two and more that are kept as a moment.

/// Set in the time of a token that names operations instead of a moment.
pub(super) const PENDING: u64 = 1 << 63;

/// Spans in a token.
pub(super) const SPANS: usize = 3;

/// Operations of one span at most, and more than there are from the first that is not over to the
/// last (`Graph::add`): what is further back is over.
pub(crate) const LENGTH_MAX: u64 = 1 << 22;

/// Numbers of operations, of which a word has 38 bits left.
pub(crate) const NUMBERS: u64 = 1 << 38;

/// What waiting for an operation counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// The request's own work: its path is that of the operation.
    Own,
    /// Somebody else's: flash.
    Flash,
    /// Somebody else's: map.
    Map,
    /// Somebody else's: buffer.
    Buffer,
}

/// Operations that were asked for one after another, by number; the first one has number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: u64,
    pub last: u64,
    pub wait: Wait,
    /// Whether there are others between the first and the last, which nobody asked to wait for.
    pub inexact: bool,
}

impl Span {
    /// One operation of the request's own.
    pub fn of(operation: u64) -> Self {
        Span { first: operation, last: operation, wait: Wait::Own, inexact: false }
    }

    /// In 63 bits, never 0.
    pub(super) fn word(self) -> u64 {
        let others = (self.last - self.first).min(LENGTH_MAX - 1);
        self.last << 25 | others << 3 | u64::from(self.inexact) << 2 | self.wait as u64
    }

    /// What a word says; none of 0.
    pub(super) fn from_word(word: u64) -> Option<Self> {
        let wait = match word & 3 {
            0 => Wait::Own,
            1 => Wait::Flash,
            2 => Wait::Map,
            _ => Wait::Buffer,
        };
        let last = word >> 25;
        let (first, inexact) = (last - (word >> 3 & (LENGTH_MAX - 1)), word & 4 != 0);
        (word != 0).then_some(Span { first, last, wait, inexact })
    }

    /// Whether both together are one span without anything else in it.
    fn adjoins(&self, next: &Span) -> bool {
        self.wait == next.wait && next.first <= self.last + 1
    }

    /// One span of both. Of what they count as it keeps what says less: only a wait that is the
    /// request's own in both brings a path.
    fn with(&self, next: &Span) -> Span {
        Span {
            first: self.first.min(next.first),
            last: self.last.max(next.last),
            wait: self.wait.max(next.wait),
            inexact: self.inexact || next.inexact || next.first > self.last + 1,
        }
    }
}

/// The spans of two tokens as those of one.
pub(super) fn merged(spans: impl Iterator<Item = Span>) -> [u64; SPANS] {
    let mut all = [Span::of(0); 2 * SPANS];
    let mut count = 0;
    for span in spans {
        all[count] = span;
        count += 1;
    }
    let all = &mut all[..count];
    all.sort_unstable_by_key(|span| (span.first, span.last, span.wait));
    let mut kept = 0;
    for index in 1..count {
        let (before, next) = (all[kept], all[index]);
        if (before.first, before.last) == (next.first, next.last) {
            // The same operations: the request's own, where they are that as well.
            let (wait, inexact) = (before.wait.min(next.wait), before.inexact && next.inexact);
            all[kept] = Span { wait, inexact, ..before };
        } else if before.adjoins(&next) {
            all[kept] = before.with(&next);
        } else {
            kept += 1;
            all[kept] = next;
        }
    }
    let mut count = (kept + 1).min(count);
    while count > SPANS {
        let distance = |&index: &usize| all[index + 1].first.saturating_sub(all[index].last);
        let nearest = (0..count - 1).min_by_key(distance).unwrap_or(0);
        all[nearest] = all[nearest].with(&all[nearest + 1]);
        all.copy_within(nearest + 2..count, nearest + 1);
        count -= 1;
    }
    let mut words = [0; SPANS];
    for (word, span) in words.iter_mut().zip(&all[..count]) {
        *word = span.word();
    }
    words
}

/// The spans of a token as one, which somebody else is to wait for: between the first and the last.
pub(super) fn as_one(spans: impl Iterator<Item = Span>) -> u64 {
    let all = spans.reduce(|before, next| before.with(&next));
    all.map_or(0, |span| Span { wait: Wait::Own, ..span }.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(of: &[(u64, u64, Wait)]) -> Vec<(u64, u64, Wait)> {
        exactly(of).into_iter().map(|(span, _)| span).collect()
    }

    /// The same, and whether each is inexact.
    fn exactly(of: &[(u64, u64, Wait)]) -> Vec<((u64, u64, Wait), bool)> {
        let inexact = false;
        let spans = of.iter().map(|&(first, last, wait)| Span { first, last, wait, inexact });
        let words = merged(spans).into_iter().filter_map(Span::from_word);
        words.map(|span| ((span.first, span.last, span.wait), span.inexact)).collect()
    }

    #[test]
    fn a_word_says_what_was_written() {
        for (first, last) in [(1, 1), (7, 9), (1, LENGTH_MAX), (NUMBERS - 5, NUMBERS - 1)] {
            for wait in [Wait::Own, Wait::Flash, Wait::Map, Wait::Buffer] {
                for inexact in [false, true] {
                    let span = Span { first, last, wait, inexact };
                    assert!(span.word() < PENDING);
                    assert_eq!(Span::from_word(span.word()), Some(span));
                }
            }
        }
        assert_eq!(Span::from_word(0), None);
    }

    #[test]
    fn up_to_three_spans_are_exact_and_of_more_the_nearest_are_one() {
        use Wait::{Flash, Own};
        assert_eq!(spans(&[(3, 3, Own)]), [(3, 3, Own)]);
        assert_eq!(spans(&[(3, 3, Flash), (3, 3, Own)]), [(3, 3, Own)]);
        assert_eq!(spans(&[(4, 4, Own), (3, 3, Own), (9, 9, Own)]), [(3, 4, Own), (9, 9, Own)]);
        assert_eq!(spans(&[(4, 4, Flash), (3, 3, Own)]), [(3, 3, Own), (4, 4, Flash)]);
        let four = [(1, 1, Own), (10, 10, Own), (13, 13, Flash), (30, 30, Own)];
        let expected = [((1, 1, Own), false), ((10, 13, Flash), true), ((30, 30, Own), false)];
        assert_eq!(exactly(&four), expected, "between 10 and 13 is what nobody waits for");
        assert!(exactly(&[(3, 3, Own), (4, 4, Own)]).iter().all(|&(_, inexact)| !inexact));
        let six = [1, 5, 9, 100, 200, 203].map(|number| (number, number, Own));
        assert_eq!(spans(&six), [(1, 9, Own), (100, 100, Own), (200, 203, Own)]);
        let one = |of: &[u64]| Span::from_word(as_one(of.iter().map(|&one| Span::of(one))));
        let (first, last, wait) = (3, 9, Own);
        assert_eq!(one(&[3, 9]), Some(Span { first, last, wait, inexact: true }));
        assert_eq!(one(&[8, 9]), Some(Span { first: 8, last, wait, inexact: false }));
    }

    #[test]
    fn a_word_names_no_more_operations_than_there_are() {
        for last in [2 * LENGTH_MAX, 2 * LENGTH_MAX + 1] {
            let (first, wait, inexact) = (1, Wait::Own, false);
            let word = Span { first, last, wait, inexact }.word();
            let first = last - LENGTH_MAX + 1;
            assert_eq!(Span::from_word(word), Some(Span { first, last, wait, inexact }));
        }
    }

    /// Two spans of both an exact one and an inexact one: the same operations are exact where one
    /// of them is, others only where both are.
    #[test]
    fn what_is_inexact_stays_so_unless_the_same_is_known_exactly() {
        let span = |first, last, inexact| Span { first, last, wait: Wait::Own, inexact };
        for (one, other) in [(false, true), (true, false), (true, true), (false, false)] {
            let word = merged([span(3, 5, one), span(3, 5, other)].into_iter())[0];
            assert_eq!(Span::from_word(word), Some(span(3, 5, one && other)));
            let word = merged([span(3, 5, one), span(6, 7, other)].into_iter())[0];
            assert_eq!(Span::from_word(word), Some(span(3, 7, one || other)));
        }
    }
}
