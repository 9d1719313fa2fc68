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

choices! {
    /// What the size of a request is.
    pub enum SizeUnit {
        /// The pages that it touches, the first and the last among them however little of them: a
        /// request of 4 KiB that begins inside a page of 2 KiB has three.
        TouchedPages = "touched_pages",
        /// Its bytes, compared with those of as many pages as the threshold has: a request of 4 KiB
        /// has two pages of 2 KiB wherever it begins.
        Bytes = "bytes",
    }
}

/// Tells sequential from random write requests.
#[derive(Clone, Debug)]
pub struct RequestSize {
    threshold: u32,
    rule: SizeRule,
    /// Sectors of a page, where bytes are compared.
    sectors_per_page: Option<u32>,
    /// Size of the shortest long request, pages or sectors.
    shortest: u64,
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
        let (sectors_per_page, end, sequential) = (None, u64::MAX, false);
        let size = RequestSize {
            threshold,
            rule,
            sectors_per_page,
            shortest: 0,
            continuation,
            end,
            sequential,
        };
        size.settled()
    }

    /// With the shortest long request, which the rest says.
    fn settled(self) -> Self {
        let pages = u64::from(self.threshold);
        let threshold = pages * u64::from(self.sectors_per_page.unwrap_or(1));
        RequestSize { shortest: threshold + u64::from(self.rule == SizeRule::Above), ..self }
    }

    /// The same, its unit chosen, on a device of pages of so many sectors.
    pub fn measured(self, unit: SizeUnit, sectors_per_page: u32) -> Self {
        let sectors_per_page = (unit == SizeUnit::Bytes).then_some(sectors_per_page);
        RequestSize { sectors_per_page, ..self }.settled()
    }

    /// Without a request before; the threshold stays.
    pub fn forget(&mut self) {
        (self.end, self.sequential) = (u64::MAX, false);
    }

    /// The threshold, pages.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Changes threshold and comparison, from the next request on.
    pub fn set_threshold(&mut self, threshold: u32, rule: SizeRule) {
        *self = RequestSize { threshold, rule, ..self.clone() }.settled();
    }

    /// Whether a request is long.
    #[inline]
    pub fn is_long(&self, request: &RequestShape) -> bool {
        let size = if self.sectors_per_page.is_some() { request.sectors } else { request.pages };
        u64::from(size) >= self.shortest
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
        self.sequential = self.is_long(&request) || continues;
        self.end = first + u64::from(request.pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::units::{Lpn, Tag};

    fn is_long(detector: &RequestSize, pages: u32, sectors: u32) -> bool {
        detector.is_long(&RequestShape { first_lpn: Lpn(0), pages, index: 0, sectors, hint: None })
    }

    /// What a detector says about requests (first page, pages), page by page.
    fn judge(detector: &mut RequestSize, requests: &[(u32, u32)]) -> (Vec<bool>, u64, u64) {
        let mut board = Board::new(&SharedSettings::default(), 1, 64);
        let mut verdicts = Vec::new();
        for &(first, pages) in requests {
            for index in 0..pages {
                let sectors = 4 * pages;
                let request =
                    RequestShape { first_lpn: Lpn(first), pages, index, sectors, hint: None };
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
            let verdicts = [1, 2, 3].map(|pages| is_long(&detector, pages, 4 * pages));
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

    /// A long request, then one behind it after everything was forgotten.
    #[test]
    fn what_is_forgotten_is_not_gone_on_with() {
        let mut detector = RequestSize::new(2, SizeRule::Above, true);
        assert!(judge(&mut detector, &[(0, 3)]).0[2]);
        detector.forget();
        assert!(!detector.sequential && detector.threshold() == 2);
        assert_eq!(judge(&mut detector, &[(3, 1), (4, 1)]).0, [false, true]);
    }

    #[test]
    fn a_new_threshold_holds_from_the_next_request_on() {
        let mut detector = RequestSize::new(2, SizeRule::Above, false);
        detector.set_threshold(3, SizeRule::AtLeast);
        assert_eq!((detector.threshold(), is_long(&detector, 3, 12)), (3, true));
        assert!(!is_long(&detector, 2, 8));
    }

    /// 4 KiB from sector 3 of a page of 2 KiB on: three pages are touched, two are written's worth.
    /// A page and a sector are more than a page either way.
    #[test]
    fn a_request_across_page_borders_is_as_long_as_its_bytes_if_they_are_counted() {
        for (unit, verdicts) in [
            (SizeUnit::TouchedPages, [true, true, false, false]),
            (SizeUnit::Bytes, [false, true, false, true]),
        ] {
            let two = RequestSize::new(2, SizeRule::Above, false).measured(unit, 4);
            let one = RequestSize::new(2, SizeRule::AtLeast, false).measured(unit, 4);
            let told = [
                is_long(&two, 3, 8),
                is_long(&two, 3, 9),
                is_long(&one, 1, 4),
                is_long(&one, 2, 8) && !is_long(&one, 2, 7),
            ];
            assert_eq!(told, verdicts, "{unit:?}");
        }
    }
}
