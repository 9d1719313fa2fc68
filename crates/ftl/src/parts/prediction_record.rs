//! What became of predictions: pages that stayed in the log because a rewrite was expected, and
//! pages that were merged because none was.
//!
//! A page that stayed proves its prediction right when the host rewrites it, and wrong when it is
//! merged, or comes to the end of the log again, without that. A page that was merged proves its
//! prediction wrong when the host rewrites it within so many write requests, and right when it does
//! not. Trimmed pages prove nothing.
//!
//! What this is not: a counter (the meter's), or a prediction.

use ftlab_flash::units::{Lpn, zeroed};

/// A page that stayed, among the numbers of watched places.
const KEPT: u32 = u32::MAX;

/// Most merged pages that are watched at once.
const WATCHED_MAX: u64 = 1 << 20;

/// What a host write proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The page stayed in the log, and it was right to keep it.
    RightToKeep,
    /// The page was merged shortly before, and it was wrong to merge it.
    WrongToMerge,
}

/// Open predictions.
#[derive(Clone, Debug)]
pub struct PredictionRecord {
    /// [`KEPT`], a watched place plus one, or 0.
    state: Vec<u32>,
    /// Merged pages and the request at which each was, a ring.
    watched: Vec<(Lpn, u64)>,
    /// Number of the oldest watched page, and of the next; places are these modulo the ring.
    oldest: u64,
    next: u64,
    /// Write requests for which a merged page is watched.
    span: u64,
}

impl PredictionRecord {
    /// For `span` write requests, over all logical pages. The ring holds the pages of four merges a
    /// request, 64 at least; when it is full the oldest page is given its verdict early.
    pub fn new(logical_pages: usize, span: u64) -> Self {
        let places = span.saturating_mul(4).clamp(64, WATCHED_MAX) as usize;
        PredictionRecord {
            state: zeroed(logical_pages),
            watched: vec![(Lpn(0), 0); places],
            oldest: 0,
            next: 0,
            span,
        }
    }

    /// RAM that a controller needs for it: a bit per log page, and 4 bytes per watched page.
    pub fn ram_bytes(log_pages: u64, span: u64) -> u64 {
        log_pages.div_ceil(8) + span.saturating_mul(4).clamp(64, WATCHED_MAX) * 4
    }

    /// Forgets every open prediction.
    pub fn forget(&mut self) {
        // What was never touched stays out of memory.
        self.state.iter_mut().filter(|state| **state != 0).for_each(|state| *state = 0);
        self.oldest = self.next;
    }

    /// A page stays because it is expected to be rewritten.
    pub fn kept(&mut self, lpn: Lpn) {
        self.state[lpn.index()] = KEPT;
    }

    /// A kept page was merged or is at the end of the log again: whether it had been kept, wrongly.
    pub fn returned(&mut self, lpn: Lpn) -> bool {
        let kept = self.is_kept(lpn);
        if kept {
            self.state[lpn.index()] = 0;
        }
        kept
    }

    /// Whether a page stays and nothing has proved that right or wrong.
    #[inline]
    pub fn is_kept(&self, lpn: Lpn) -> bool {
        self.state[lpn.index()] == KEPT
    }

    /// A page was merged at write request `now`, because no rewrite is expected; true if an older
    /// one was given its verdict for want of a place: it was right.
    pub fn merged(&mut self, lpn: Lpn, now: u64) -> bool {
        let full = self.next - self.oldest == self.watched.len() as u64;
        let right = full && self.pass_oldest();
        let place = self.place(self.next);
        self.watched[place] = (lpn, now);
        self.state[lpn.index()] = place as u32 + 1;
        self.next += 1;
        right
    }

    /// The host writes a page.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) -> Option<Proof> {
        match std::mem::take(&mut self.state[lpn.index()]) {
            0 => None,
            KEPT => Some(Proof::RightToKeep),
            _ => Some(Proof::WrongToMerge),
        }
    }

    /// The host forgets a page.
    #[inline]
    pub fn forgotten(&mut self, lpn: Lpn) {
        self.state[lpn.index()] = 0;
    }

    /// Write request `now` comes in: merged pages that nobody rewrote in time, rightly merged.
    #[inline]
    pub fn pass(&mut self, now: u64) -> u64 {
        let mut right = 0;
        while self.oldest < self.next && self.watched[self.place(self.oldest)].1 + self.span < now {
            right += u64::from(self.pass_oldest());
        }
        right
    }

    /// Drops the oldest watched page; whether it still waited to be rewritten.
    fn pass_oldest(&mut self) -> bool {
        let place = self.place(self.oldest);
        self.oldest += 1;
        let state = &mut self.state[self.watched[place].0.index()];
        let waited = *state == place as u32 + 1;
        if waited {
            *state = 0;
        }
        waited
    }

    fn place(&self, number: u64) -> usize {
        (number % self.watched.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_page_is_proved_right_by_a_write_and_wrong_by_its_return() {
        let mut record = PredictionRecord::new(8, 10);
        record.kept(Lpn(1));
        record.kept(Lpn(2));
        assert_eq!(record.written(Lpn(1)), Some(Proof::RightToKeep));
        assert_eq!(record.written(Lpn(1)), None, "once");
        assert!(record.returned(Lpn(2)) && !record.returned(Lpn(2)));
        record.kept(Lpn(3));
        record.forgotten(Lpn(3));
        assert!(!record.returned(Lpn(3)), "a trim proves nothing");
    }

    #[test]
    fn a_merged_page_is_proved_wrong_within_its_span_and_right_after_it() {
        let mut record = PredictionRecord::new(8, 10);
        record.merged(Lpn(1), 5);
        record.merged(Lpn(2), 5);
        record.merged(Lpn(3), 6);
        assert_eq!(record.pass(15), 0, "ten requests are not over");
        assert_eq!(record.written(Lpn(1)), Some(Proof::WrongToMerge));
        assert_eq!(record.pass(16), 1, "page 2");
        record.forgotten(Lpn(3));
        assert_eq!(record.pass(99), 0);
    }

    #[test]
    fn a_page_that_was_merged_twice_gets_two_verdicts() {
        let mut record = PredictionRecord::new(8, 10);
        record.merged(Lpn(1), 0);
        assert_eq!(record.written(Lpn(1)), Some(Proof::WrongToMerge));
        record.merged(Lpn(1), 8);
        assert_eq!(record.pass(12), 0, "the first place no longer speaks for it");
        assert_eq!(record.pass(19), 1);
    }

    #[test]
    fn a_full_ring_passes_its_oldest_page_early() {
        let mut record = PredictionRecord::new(100, 1);
        let early: usize = (0..100).filter(|&page| record.merged(Lpn(page), 0)).count();
        assert_eq!(early, 100 - 64);
        assert_eq!(record.pass(2), 64);
    }

    /// Seventeen bits, and the pages of four merges a request; 64 at least.
    #[test]
    fn memory_is_a_bit_for_a_log_page_and_four_bytes_for_a_watched_one() {
        assert_eq!(PredictionRecord::ram_bytes(17, 20), 3 + 80 * 4);
        assert_eq!(PredictionRecord::ram_bytes(8, 1), 1 + 64 * 4);
    }

    #[test]
    fn nothing_passes_before_its_span_is_over() {
        let mut record = PredictionRecord::new(8, 10);
        assert_eq!(record.pass(99), 0);
        record.merged(Lpn(1), 100);
        assert_eq!((record.pass(110), record.pass(111)), (0, 1));
    }

    #[test]
    fn predictions_that_are_forgotten_are_never_proved() {
        let mut record = PredictionRecord::new(8, 10);
        record.kept(Lpn(1));
        record.merged(Lpn(2), 5);
        record.forget();
        assert!(!record.returned(Lpn(1)));
        assert_eq!((record.written(Lpn(2)), record.pass(99)), (None, 0));
    }
}
