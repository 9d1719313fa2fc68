//! Trims that survive a power cut.
//!
//! The logical space is cut into segments; a segment's record page holds one bit per logical page
//! ("trimmed") and the sequence number up to which that holds: any version programmed at or before
//! it is dead. A flush writes the records of the segments that changed, so at most one record per
//! segment is alive, whatever the workload. None of the papers has trims; this part is ftlab's.
//!
//! A trim that is not flushed yet may read after a power cut as unwritten, or as any earlier
//! version.
//!
//! What this is not: a place on flash. The scheme says where record pages go.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};

/// Words of a record page before the bits: the sequence number, low word first.
const HEADER_WORDS: u32 = 2;

/// What is trimmed, and where that is recorded.
#[derive(Clone, Debug)]
pub struct TrimRecords {
    /// One bit per logical page, segment by segment.
    trimmed: Vec<u32>,
    /// Segments that changed since the last flush.
    pending: Vec<u8>,
    pending_count: u32,
    /// Record page of each segment, plus one.
    location: Vec<u32>,
    words_per_segment: u32,
    /// False until the first trim, so that devices without trims pay one branch.
    any: bool,
}

impl TrimRecords {
    /// Nothing trimmed.
    pub fn new(geometry: &Geometry) -> Self {
        let words_per_segment = geometry.entries_per_page() - HEADER_WORDS;
        let segments = Self::segments(geometry);
        TrimRecords {
            trimmed: zeroed((segments * words_per_segment) as usize),
            pending: zeroed(segments as usize),
            pending_count: 0,
            location: zeroed(segments as usize),
            words_per_segment,
            any: false,
        }
    }

    /// Most record pages that can be alive.
    pub fn segments(geometry: &Geometry) -> u32 {
        let pages_per_segment = (geometry.entries_per_page() - HEADER_WORDS) * 32;
        geometry.logical_pages.div_ceil(pages_per_segment)
    }

    /// RAM that it takes: bits, pending marks and locations.
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.logical_pages.div_ceil(8)) + u64::from(Self::segments(geometry)) * 5
    }

    #[inline]
    fn word(lpn: Lpn) -> (usize, u32) {
        (lpn.index() / 32, 1 << (lpn.0 % 32))
    }

    #[inline]
    fn segment(&self, lpn: Lpn) -> usize {
        (lpn.0 / (self.words_per_segment * 32)) as usize
    }

    /// A page that held something was trimmed.
    pub fn trim(&mut self, lpn: Lpn) {
        let (word, bit) = Self::word(lpn);
        self.trimmed[word] |= bit;
        self.any = true;
        let segment = self.segment(lpn);
        self.pending_count += u32::from(self.pending[segment] == 0);
        self.pending[segment] = 1;
    }

    /// A page was written: a later record must not call it trimmed.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        if self.any {
            let (word, bit) = Self::word(lpn);
            self.trimmed[word] &= !bit;
        }
    }

    /// Trimmed pages of segments that a flush must record.
    pub fn unrecorded(&self) -> impl Iterator<Item = Lpn> + '_ {
        let per_segment = self.words_per_segment as usize;
        let words = self.trimmed.iter().enumerate();
        words.filter(move |(index, _)| self.pending[index / per_segment] == 1).flat_map(
            |(index, &word)| {
                let is_set = move |bit: &u32| word >> bit & 1 == 1;
                (0..32).filter(is_set).map(move |bit| Lpn(index as u32 * 32 + bit))
            },
        )
    }

    /// The next segment that a flush must record, with the record that it replaces.
    pub fn next_pending(&self) -> Option<(u32, Option<Ppn>)> {
        if self.pending_count == 0 {
            return None;
        }
        let segment = self.pending.iter().position(|&p| p == 1)?;
        Some((segment as u32, unpack(self.location[segment]).map(Ppn)))
    }

    /// Writes a segment's record into `words` (one page), true as of `sequence`.
    pub fn fill(&self, segment: u32, sequence: u64, words: &mut [u32]) {
        words[0] = sequence as u32;
        words[1] = (sequence >> 32) as u32;
        let first = (segment * self.words_per_segment) as usize;
        let bits = &self.trimmed[first..first + self.words_per_segment as usize];
        words[HEADER_WORDS as usize..].copy_from_slice(bits);
    }

    /// A segment's record is on flash.
    pub fn recorded(&mut self, segment: u32, ppn: Ppn) {
        self.location[segment as usize] = pack(Some(ppn.0));
        self.pending_count -= u32::from(self.pending[segment as usize] == 1);
        self.pending[segment as usize] = 0;
    }

    /// A record page was moved.
    pub fn moved(&mut self, segment: u32, ppn: Ppn) {
        self.location[segment as usize] = pack(Some(ppn.0));
    }

    /// Where a segment's record is.
    pub fn location(&self, segment: u32) -> Option<Ppn> {
        unpack(self.location[segment as usize]).map(Ppn)
    }

    /// After a power cut: takes the newest record of each segment, reads it (charged), and marks
    /// it valid.
    pub fn recover(
        board: &mut Board,
        newest: &[(u32, Ppn)],
        after: When,
    ) -> Result<(Self, RecordedTrims, When), Fault> {
        let mut records = TrimRecords::new(board.geometry());
        let mut recorded = RecordedTrims { sequence: vec![0; records.pending.len()] };
        let mut when = after;
        for &(segment, ppn) in newest {
            let (done, _) = board.read(ppn, Cause::Recover, when)?;
            when = done;
            board.nand_mut().revalidate(ppn);
            let words = board.nand().payload(ppn);
            recorded.sequence[segment as usize] = u64::from(words[0]) | u64::from(words[1]) << 32;
            let first = (segment * records.words_per_segment) as usize;
            let count = records.words_per_segment as usize;
            records.trimmed[first..first + count].copy_from_slice(&words[HEADER_WORDS as usize..]);
            records.location[segment as usize] = pack(Some(ppn.0));
            records.any = true;
        }
        Ok((records, recorded, when))
    }

    /// At the end of a recovery: pages that are there were written after their record, and the
    /// next record must not call them trimmed.
    pub fn forget_living(&mut self, is_there: impl Fn(Lpn) -> bool) {
        for word in 0..self.trimmed.len() {
            let mut bits = self.trimmed[word];
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                if is_there(Lpn(word as u32 * 32 + bit)) {
                    self.trimmed[word] &= !(1 << bit);
                }
            }
        }
    }

    /// Whether a version programmed as number `sequence` was trimmed after that.
    pub fn is_dead(&self, recorded: &RecordedTrims, lpn: Lpn, sequence: u64) -> bool {
        let (word, bit) = Self::word(lpn);
        self.any
            && self.trimmed[word] & bit != 0
            && sequence <= recorded.sequence[self.segment(lpn)]
    }
}

/// Up to which program each segment's record speaks, as read back after a power cut.
#[derive(Clone, Debug)]
pub struct RecordedTrims {
    sequence: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::Payload;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::settings::Groups as _;

    /// A page of 512 bytes is a number of two words and 126 words of bits: 4,032 pages a segment.
    fn board(logical_pages: u64) -> Board {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        config.set("device.logical_bytes", &(512 * logical_pages).to_string()).expect("legal");
        Board::new(&config, 1, 64)
    }

    fn trimmed(logical_pages: &[u32]) -> TrimRecords {
        let mut trims = TrimRecords::new(board(10_000).geometry());
        logical_pages.iter().for_each(|&lpn| trims.trim(Lpn(lpn)));
        trims
    }

    fn unrecorded(trims: &TrimRecords) -> Vec<u32> {
        trims.unrecorded().map(|lpn| lpn.0).collect()
    }

    /// The words of a record that are not 0, by place.
    fn record(trims: &TrimRecords, segment: u32, sequence: u64) -> Vec<(usize, u32)> {
        let mut words = [u32::MAX; 128];
        trims.fill(segment, sequence, &mut words);
        words.into_iter().enumerate().filter(|(_, word)| *word != 0).collect()
    }

    #[test]
    fn a_segment_is_as_many_pages_as_a_record_has_bits() {
        let segments = [1, 4032, 4033, 10_000].map(|pages| {
            let board = board(pages);
            (TrimRecords::segments(board.geometry()), TrimRecords::ram_bytes(board.geometry()))
        });
        assert_eq!(segments, [(1, 6), (1, 509), (2, 515), (3, 1265)], "a bit a page, 5 a segment");
    }

    #[test]
    fn a_record_says_which_pages_of_its_segment_are_trimmed_and_as_of_when() {
        let trims = trimmed(&[0, 33, 4031, 4032, 9999]);
        assert_eq!(unrecorded(&trims), [0, 33, 4031, 4032, 9999]);
        let header = [(0, 7), (1, 5)];
        let first = record(&trims, 0, 0x5_0000_0007);
        assert_eq!(first, [&header[..], &[(2, 1), (3, 2), (127, 1 << 31)]].concat());
        let second = record(&trims, 1, 0x5_0000_0007);
        assert_eq!(second, [&header[..], &[(2, 1)]].concat());
        // 9,999 is the 1,935th of its segment, bit 15 of word 60.
        let third = record(&trims, 2, 0x5_0000_0007);
        assert_eq!(third, [&header[..], &[(62, 1 << 15)]].concat());
    }

    #[test]
    fn each_segment_that_changed_is_recorded_once_and_says_what_its_record_replaces() {
        let mut trims = trimmed(&[9999, 33, 34]);
        assert_eq!(trims.next_pending(), Some((0, None)));
        trims.recorded(0, Ppn(77));
        assert_eq!((trims.next_pending(), unrecorded(&trims)), (Some((2, None)), vec![9999]));
        trims.recorded(2, Ppn(78));
        assert_eq!((trims.next_pending(), unrecorded(&trims)), (None, vec![]));
        trims.moved(0, Ppn(90));
        assert_eq!([0, 1, 2].map(|n| trims.location(n)), [Some(Ppn(90)), None, Some(Ppn(78))]);
        // What is written is not told to flash until something else of the segment is trimmed.
        trims.written(Lpn(33));
        assert_eq!(trims.next_pending(), None);
        trims.trim(Lpn(35));
        assert_eq!(trims.next_pending(), Some((0, Some(Ppn(90)))));
        assert_eq!(record(&trims, 0, 1), [(0, 1), (3, 1 << 2 | 1 << 3)], "34 and 35");
        trims.recorded(0, Ppn(91));
        trims.recorded(0, Ppn(92));
        assert_eq!((trims.next_pending(), trims.location(0)), (None, Some(Ppn(92))));
        let mut fresh = trimmed(&[]);
        fresh.recorded(1, Ppn(93));
        assert_eq!((fresh.next_pending(), fresh.location(1)), (None, Some(Ppn(93))));
    }

    /// Two segments have records, of different ages, and one has none.
    #[test]
    fn after_a_power_cut_what_was_programmed_up_to_its_record_is_dead() {
        let trims = trimmed(&[33, 4032, 8064, 9999]);
        let mut board = board(10_000);
        let newest = [(0, Ppn(5), 0x1_0000_0005), (2, Ppn(64), 9)];
        for (segment, ppn, sequence) in newest {
            let mut words = [0; 128];
            trims.fill(segment, sequence, &mut words);
            let (what, payload) = ((PageKind::TrimRecord, segment), Payload::Words(&words));
            let done = board.program_payload(ppn, what, payload, Cause::Trim, When::START);
            assert!(done.is_ok());
        }
        board.nand_mut().cut_power();
        board.power_on();
        let newest = newest.map(|(segment, ppn, _)| (segment, ppn));
        let found = TrimRecords::recover(&mut board, &newest, When::START);
        let (trims, recorded, _) = found.expect("nothing fails");
        assert_eq!(board.meter().reads(Cause::Recover), 2);
        let is_valid = |ppn| board.nand().state().is_valid(Ppn(ppn));
        assert!(is_valid(5) && is_valid(64));
        assert_eq!([0, 1, 2].map(|n| trims.location(n)), [Some(Ppn(5)), None, Some(Ppn(64))]);
        assert_eq!(trims.next_pending(), None);
        let is_dead = |lpn, sequence| trims.is_dead(&recorded, Lpn(lpn), sequence);
        assert!(is_dead(33, 1) && is_dead(33, 0x1_0000_0005));
        assert!(!is_dead(33, 0x1_0000_0006), "programmed after its record");
        assert!(!is_dead(34, 1) && !is_dead(32, 1) && !is_dead(4032, 1), "no record says so");
        assert!(is_dead(9999, 9) && !is_dead(9999, 10) && is_dead(8064, 9));
    }

    #[test]
    fn pages_that_are_there_again_are_not_recorded_as_trimmed() {
        let mut trims = trimmed(&[0, 31, 32, 33, 64, 9999]);
        trims.forget_living(|lpn| [31, 32, 64, 70].contains(&lpn.0));
        assert_eq!(unrecorded(&trims), [0, 33, 9999]);
    }
}
