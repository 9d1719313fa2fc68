//! What a token of the event-driven clock names: operations that are not over yet.
//!
//! Three spans of operation numbers fit into a token. A span is exact: one operation, or operations
//! that were asked for one after another and are all waited for. Where more than three would be
//! needed, the two nearest become one, which also waits for what was asked for between them. Joins
//! that the clock itself makes are operations of their own, so that this happens only to sums of
//! four and more tokens within a scheme, and costs waiting for its own work in between.

/// Set in the time of a token that names operations instead of a moment.
pub(super) const PENDING: u64 = 1 << 63;

/// Spans in a token.
pub(super) const SPANS: usize = 3;

/// Operations of one span at most: what is further back is over long since, or waited for twice.
const LENGTH_MAX: u64 = 1 << 20;

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
}

impl Span {
    /// One operation of the request's own.
    pub fn of(operation: u64) -> Self {
        Span { first: operation, last: operation, wait: Wait::Own }
    }

    /// In 63 bits, never 0.
    pub(super) fn word(self) -> u64 {
        let others = (self.last - self.first).min(LENGTH_MAX - 1);
        self.last << 22 | others << 2 | self.wait as u64
    }

    /// What a word says; none of 0.
    pub(super) fn from_word(word: u64) -> Option<Self> {
        let wait = match word & 3 {
            0 => Wait::Own,
            1 => Wait::Flash,
            2 => Wait::Map,
            _ => Wait::Buffer,
        };
        let last = word >> 22;
        (word != 0).then(|| Span { first: last - (word >> 2 & (LENGTH_MAX - 1)), last, wait })
    }

    /// Whether both together are one span without anything else in it.
    fn adjoins(&self, next: &Span) -> bool {
        self.wait == next.wait && next.first <= self.last + 1
    }

    fn with(&self, next: &Span) -> Span {
        Span {
            first: self.first.min(next.first),
            last: self.last.max(next.last),
            wait: self.wait.min(next.wait),
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
        let alike = (before.first, before.last) == (next.first, next.last);
        if alike || before.adjoins(&next) {
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
        let spans = of.iter().map(|&(first, last, wait)| Span { first, last, wait });
        let words = merged(spans).into_iter().filter_map(Span::from_word);
        words.map(|span| (span.first, span.last, span.wait)).collect()
    }

    #[test]
    fn a_word_says_what_was_written() {
        for (first, last) in [(1, 1), (7, 9), (1, LENGTH_MAX), ((1 << 40) - 5, 1 << 40)] {
            for wait in [Wait::Own, Wait::Flash, Wait::Map, Wait::Buffer] {
                let span = Span { first, last, wait };
                assert!(span.word() < PENDING);
                assert_eq!(Span::from_word(span.word()), Some(span));
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
        assert_eq!(spans(&four), [(1, 1, Own), (10, 13, Own), (30, 30, Own)]);
        let six = [1, 5, 9, 100, 200, 203].map(|number| (number, number, Own));
        assert_eq!(spans(&six), [(1, 9, Own), (100, 100, Own), (200, 203, Own)]);
    }
}
