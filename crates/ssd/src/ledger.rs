//! What the host wrote, and what it must read back: the device's own memory of it, apart from any
//! scheme and any buffer.

use ftlab_flash::units::{Lpn, Tag, zeroed};

/// The pages that were written and not trimmed since, and their versions where reads are verified.
#[derive(Clone)]
pub(crate) struct Ledger {
    /// One bit per logical page.
    written: Vec<u64>,
    live_pages: u64,
    logical_pages: u64,
    /// Version written last, per logical page; empty unless reads are verified.
    expected: Vec<u32>,
    verified_reads: u64,
    /// What the last request read, where somebody wants to know.
    found: Option<Vec<Tag>>,
}

impl Ledger {
    /// Nothing is written.
    pub fn new(logical_pages: u32) -> Self {
        Ledger {
            written: zeroed((logical_pages as usize).div_ceil(64)),
            live_pages: 0,
            logical_pages: u64::from(logical_pages),
            expected: Vec::new(),
            verified_reads: 0,
            found: None,
        }
    }

    /// Versions are kept from now on.
    pub fn verify(&mut self, logical_pages: u32) {
        assert!(self.live_pages == 0, "verification must begin before the first write");
        self.expected = zeroed(logical_pages as usize);
    }

    /// Pages that were written and not trimmed since.
    pub fn live_pages(&self) -> u64 {
        self.live_pages
    }

    /// Whether a page was written and not trimmed since.
    pub fn is_written(&self, lpn: Lpn) -> bool {
        self.written[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1
    }

    /// The version that a page must have, where versions are kept.
    #[inline]
    pub fn expected(&self, lpn: Lpn) -> Option<Tag> {
        self.expected.get(lpn.index()).copied().map(Tag)
    }

    /// Every page with the version that it must have; none where versions are not kept.
    pub fn all_expected(&self) -> impl Iterator<Item = (Lpn, Tag)> + '_ {
        self.expected.iter().enumerate().map(|(lpn, &tag)| (Lpn(lpn as u32), Tag(tag)))
    }

    /// A page was written in this version.
    #[inline]
    pub fn wrote(&mut self, lpn: Lpn, version: Tag) {
        // On a full device there is nothing to note, and no memory to touch for it.
        if self.live_pages < self.logical_pages {
            let (word, bit) = (lpn.index() / 64, 1u64 << (lpn.0 % 64));
            self.live_pages += u64::from(self.written[word] & bit == 0);
            self.written[word] |= bit;
        }
        if let Some(expected) = self.expected.get_mut(lpn.index()) {
            *expected = version.0;
        }
    }

    /// A page is nowhere any more.
    pub fn forgot(&mut self, lpn: Lpn) {
        let (word, bit) = (lpn.index() / 64, 1u64 << (lpn.0 % 64));
        self.live_pages -= u64::from(self.written[word] & bit != 0);
        self.written[word] &= !bit;
        if let Some(expected) = self.expected.get_mut(lpn.index()) {
            *expected = 0;
        }
    }

    /// What requests read is noted from now on.
    pub fn note_found(&mut self) {
        self.found = Some(Vec::new());
    }

    /// A request begins.
    #[inline]
    pub fn begin(&mut self) {
        if let Some(found) = &mut self.found {
            found.clear();
        }
    }

    /// It read this version.
    #[inline]
    pub fn found(&mut self, version: Tag) {
        if let Some(found) = &mut self.found {
            found.push(version);
        }
    }

    /// What the last request read, page by page.
    pub fn all_found(&self) -> &[Tag] {
        self.found.as_deref().unwrap_or_default()
    }

    /// A read was compared with what it must return.
    #[inline]
    pub fn compared(&mut self) {
        self.verified_reads += 1;
    }

    /// Reads that were compared.
    pub fn verified_reads(&self) -> u64 {
        self.verified_reads
    }

    /// Reads are counted from zero again.
    pub fn start_measuring(&mut self) {
        self.verified_reads = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seventy pages are a word of 64 and a part of another.
    #[test]
    fn a_page_is_written_until_it_is_forgotten() {
        let mut ledger = Ledger::new(70);
        let written = |ledger: &Ledger| {
            (0..70).filter(|&lpn| ledger.is_written(Lpn(lpn))).collect::<Vec<_>>()
        };
        [3, 64, 69, 64].into_iter().for_each(|lpn| ledger.wrote(Lpn(lpn), Tag(1)));
        assert_eq!((written(&ledger), ledger.live_pages()), (vec![3, 64, 69], 3));
        [64, 5].into_iter().for_each(|lpn| ledger.forgot(Lpn(lpn)));
        assert_eq!((written(&ledger), ledger.live_pages()), (vec![3, 69], 2));
    }

    #[test]
    fn a_full_device_has_all_pages_and_loses_them_one_by_one() {
        let mut ledger = Ledger::new(65);
        (0..65).for_each(|lpn| ledger.wrote(Lpn(lpn), Tag(1)));
        ledger.wrote(Lpn(64), Tag(2));
        assert_eq!(ledger.live_pages(), 65);
        ledger.forgot(Lpn(64));
        assert_eq!((ledger.live_pages(), ledger.is_written(Lpn(64))), (64, false));
    }

    #[test]
    fn versions_are_kept_where_reads_are_verified() {
        let mut ledger = Ledger::new(3);
        ledger.wrote(Lpn(1), Tag(4));
        assert_eq!((ledger.expected(Lpn(1)), ledger.all_expected().count()), (None, 0));
        ledger.forgot(Lpn(1));
        ledger.verify(3);
        ledger.wrote(Lpn(1), Tag(5));
        ledger.wrote(Lpn(2), Tag(6));
        ledger.forgot(Lpn(2));
        assert_eq!(ledger.expected(Lpn(1)), Some(Tag(5)));
        let all = [(Lpn(0), Tag(0)), (Lpn(1), Tag(5)), (Lpn(2), Tag(0))];
        assert_eq!(ledger.all_expected().collect::<Vec<_>>(), all);
    }

    #[test]
    #[should_panic(expected = "verification must begin before the first write")]
    fn verification_begins_before_the_first_write() {
        let mut ledger = Ledger::new(3);
        ledger.wrote(Lpn(1), Tag(4));
        ledger.verify(3);
    }

    #[test]
    fn what_the_last_request_read_is_noted_where_somebody_wants_to_know() {
        let mut ledger = Ledger::new(3);
        ledger.found(Tag(1));
        assert!(ledger.all_found().is_empty());
        ledger.note_found();
        ledger.found(Tag(2));
        ledger.found(Tag(0));
        assert_eq!(ledger.all_found(), [Tag(2), Tag(0)]);
        ledger.begin();
        assert!(ledger.all_found().is_empty());
    }

    #[test]
    fn verified_reads_are_counted_anew_where_measuring_begins() {
        let mut ledger = Ledger::new(3);
        ledger.compared();
        ledger.compared();
        assert_eq!(ledger.verified_reads(), 2);
        ledger.start_measuring();
        assert_eq!(ledger.verified_reads(), 0);
    }
}
