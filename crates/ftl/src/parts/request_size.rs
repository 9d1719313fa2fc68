//! The locality detector of LAST (Lee, Shin, Kim, Kim 2008): a write request is sequential if it is
//! long, or, where that is asked for, if it goes on where the write request before it ended.
//!
//! What this is not: a judge of a page's place in a log block (`sequential_log`).

use ftlab_flash::board::Board;
use ftlab_flash::choices;
use ftlab_flash::meter::Event;
use ftlab_flash::request::{PageIo, RequestShape};

choices! {
    /// How the pages of a request are compared with the threshold.
    pub enum SizeRule {
        /// Sequential: more pages than the threshold.
        Above = "gt",
        /// Sequential: at least as many pages as the threshold.
        AtLeast = "ge",
    }
}

/// Tells sequential from random write requests.
#[derive(Clone, Debug)]
pub struct RequestSize {
    threshold: u32,
    rule: SizeRule,
    continuation: bool,
    /// The page behind the last write request.
    end: u64,
    /// What the request that is being written was taken for.
    sequential: bool,
}

impl RequestSize {
    /// RAM: the threshold, and the page behind the last request.
    pub const RAM_BYTES: u64 = 8;

    /// A threshold in pages; `continuation`: a request that begins where the one before it ended is
    /// sequential whatever its length.
    pub fn new(threshold: u32, rule: SizeRule, continuation: bool) -> Self {
        RequestSize { threshold, rule, continuation, end: u64::MAX, sequential: false }
    }

    /// The threshold, pages.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Changes threshold and comparison, from the next request on.
    pub fn set_threshold(&mut self, threshold: u32, rule: SizeRule) {
        (self.threshold, self.rule) = (threshold, rule);
    }

    /// Whether a request of so many pages is long.
    #[inline]
    pub fn is_long(&self, pages: u32) -> bool {
        match self.rule {
            SizeRule::Above => pages > self.threshold,
            SizeRule::AtLeast => pages >= self.threshold,
        }
    }

    /// Whether the request of this page is sequential. To be asked once for every page written: the
    /// first page of a request decides for all of them, and is counted.
    #[inline]
    pub fn judge(&mut self, board: &mut Board, io: &PageIo) -> bool {
        if io.request.index == 0 {
            self.begin(io.request);
            let event = match self.sequential {
                true => Event::SequentialRequests,
                false => Event::RandomRequests,
            };
            board.event(event, 1);
        }
        self.sequential
    }

    fn begin(&mut self, request: RequestShape) {
        let first = u64::from(request.first_lpn.0);
        let continues = self.continuation && first == self.end;
        self.sequential = self.is_long(request.pages) || continues;
        self.end = first + u64::from(request.pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::units::{Lpn, Tag};

    /// What a detector says about requests (first page, pages), page by page.
    fn judge(detector: &mut RequestSize, requests: &[(u32, u32)]) -> (Vec<bool>, u64, u64) {
        let mut board = Board::new(&SharedSettings::default(), 1, 64);
        let mut verdicts = Vec::new();
        for &(first, pages) in requests {
            for index in 0..pages {
                let request = RequestShape { first_lpn: Lpn(first), pages, index };
                let (lpn, cause, data) = (Lpn(first + index), Cause::Host, Tag(1));
                let io = PageIo { lpn, sectors: u64::MAX, cause, data, request };
                verdicts.push(detector.judge(&mut board, &io));
            }
        }
        let events = |event| board.meter().events(event);
        (verdicts, events(Event::SequentialRequests), events(Event::RandomRequests))
    }

    #[test]
    fn a_request_of_as_many_pages_as_the_threshold_is_where_the_two_rules_differ() {
        for (rule, at_threshold) in [(SizeRule::Above, false), (SizeRule::AtLeast, true)] {
            let detector = RequestSize::new(2, rule, false);
            let verdicts = [1, 2, 3].map(|pages| detector.is_long(pages));
            assert_eq!(verdicts, [false, at_threshold, true], "{rule:?}");
        }
    }

    #[test]
    fn requests_are_counted_once_and_all_their_pages_share_the_verdict() {
        let mut detector = RequestSize::new(2, SizeRule::Above, false);
        let told = judge(&mut detector, &[(8, 3), (11, 1), (12, 2)]);
        assert_eq!(told, (vec![true, true, true, false, false, false], 1, 2));
    }

    #[test]
    fn with_continuation_a_short_request_behind_the_one_before_is_sequential() {
        let mut detector = RequestSize::new(2, SizeRule::Above, true);
        let told = judge(&mut detector, &[(0, 1), (1, 1), (2, 1), (9, 1), (2, 1), (10, 1)]);
        assert_eq!(told, (vec![false, true, true, false, false, false], 2, 4));
    }

    #[test]
    fn a_new_threshold_holds_from_the_next_request_on() {
        let mut detector = RequestSize::new(2, SizeRule::Above, false);
        detector.set_threshold(3, SizeRule::AtLeast);
        assert_eq!((detector.threshold(), detector.is_long(3)), (3, true));
        assert!(!detector.is_long(2));
    }
}
