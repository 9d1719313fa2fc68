//! Checkpoints of what memory holds and flash does not: changed map entries, or a directory.
//!
//! A checkpoint is true as of one sequence number. Recovery then needs, besides the translation
//! pages, only the out-of-band areas of blocks programmed since: those that were open at the time,
//! which the checkpoint names, and those opened later, whose first page is younger. Its pages lie
//! in map blocks and are moved like map pages; the previous checkpoint goes when the next is
//! complete. One that finds no room for its last page is given up: the next takes its place, beside
//! the complete one. DFTL 2014, 3.3 asks for such a thing ("even the cached mapping table needs to
//! be saved along with the GTD") without giving it a form; the form is ours. What the words of a
//! checkpoint mean is its owner's business.

use std::collections::VecDeque;

use ftlab_flash::board::nand::state::{Oob, OobRead};
use ftlab_flash::board::nand::{Draft, Nand, Payload};
use ftlab_flash::units::{BlockId, Ppn, pack, unpack, zeroed};

/// Words of a page before its share of the body: sequence (2), number of pages, length of the body.
const HEADER_WORDS: usize = 4;

/// The pages of the newest checkpoint, and the one being written.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Pages of the checkpoint being written that are not on flash yet.
    drafts: VecDeque<Draft>,
    /// Pages of the even and the odd checkpoint, plus one.
    pages: [Vec<u32>; 2],
    counts: [u32; 2],
    number: u32,
    sequence: u64,
    /// Whether the checkpoint of this number is complete, or none was taken yet.
    complete: bool,
}

impl Checkpoints {
    /// None taken yet; room for `words` words and `open_blocks` open blocks.
    pub fn new(nand: &Nand, words: u32, open_blocks: u32) -> Self {
        let words_per_page = nand.geometry().entries_per_page() as usize;
        let body = 1 + open_blocks as usize + words as usize;
        let pages = body.div_ceil(words_per_page - HEADER_WORDS);
        Checkpoints {
            drafts: VecDeque::with_capacity(pages),
            pages: [zeroed(pages), zeroed(pages)],
            counts: [0, 0],
            number: 0,
            sequence: 0,
            complete: true,
        }
    }

    /// Most pages that two checkpoints take.
    pub fn most_pages(entries_per_page: u32, words: u64, open_blocks: u64) -> u64 {
        let body = 1 + open_blocks + words;
        2 * body.div_ceil(u64::from(entries_per_page) - HEADER_WORDS as u64)
    }

    /// Up to which program the newest checkpoint speaks; 0 when there is none.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Begins a checkpoint that is true as of now, of words that come so many at a time; returns
    /// how many pages it takes. Where the one before was given up, it takes the place of that, of
    /// which nothing may be left ([`Self::next_given_up`]).
    pub fn begin<const WORDS: usize>(
        &mut self,
        nand: &mut Nand,
        open: impl Iterator<Item = BlockId>,
        words: impl Iterator<Item = [u32; WORDS]>,
    ) -> u32 {
        assert!(self.drafts.is_empty(), "pages are left of a checkpoint that was given up");
        self.sequence = nand.sequence();
        self.number += u32::from(self.complete);
        self.complete = false;
        assert_eq!(self.counts[self.side()], 0, "pages of the one given up are valid");
        let (mut length, mut blocks) = (0, 0);
        nand.draft(HEADER_WORDS, &mut self.drafts, |pages| {
            // How many are open is known behind them.
            pages.push(0);
            open.for_each(|block| {
                pages.push(block.0);
                blocks += 1;
            });
            length = 1 + blocks;
            words.for_each(|words| {
                words.into_iter().for_each(|word| pages.push(word));
                length += WORDS as u32;
            });
        });
        let parts = self.drafts.len() as u32;
        let header = self.header(parts, length);
        for page in &self.drafts {
            nand.draft_mut(page)[..HEADER_WORDS].copy_from_slice(&header);
        }
        nand.draft_mut(&self.drafts[0])[HEADER_WORDS] = blocks;
        parts
    }

    /// What each of so many pages begins with, of a body of so many words.
    fn header(&self, parts: u32, length: u32) -> [u32; HEADER_WORDS] {
        [self.sequence as u32, (self.sequence >> 32) as u32, parts, length]
    }

    /// What the next page to be programmed holds, of which there must be one.
    pub fn next_page(&self) -> Payload<'_> {
        Payload::Draft(&self.drafts[0])
    }

    /// The next page is programmed and holds its words, whatever becomes of what follows from that.
    pub fn programmed(&mut self) {
        let page = self.drafts.pop_front();
        assert!(page.is_some(), "no page was left to be programmed");
    }

    /// What is left of the checkpoint will not be written: there is no room, or no power.
    pub fn give_up(&mut self, nand: &mut Nand) {
        for page in self.drafts.drain(..) {
            nand.drop_draft(page);
        }
    }

    fn side(&self) -> usize {
        (self.number % 2) as usize
    }

    /// The logical number of a page of the checkpoint being written.
    pub fn logical(&self, part: u32) -> u32 {
        part * 2 + self.number % 2
    }

    /// A page of the checkpoint being written is on flash.
    pub fn written(&mut self, part: u32, ppn: Ppn) {
        let side = self.side();
        self.pages[side][part as usize] = pack(Some(ppn.0));
        self.counts[side] = part + 1;
    }

    /// Before a checkpoint is begun: hands out a page to invalidate of the one in whose place it
    /// will be because that was never completed, until none is left.
    pub fn next_given_up(&mut self) -> Option<Ppn> {
        if self.complete { None } else { self.take_page(self.side()) }
    }

    /// The checkpoint is complete: hands out a page of the previous one to invalidate, until none
    /// is left.
    pub fn next_superseded(&mut self) -> Option<Ppn> {
        self.complete = true;
        self.take_page(1 - self.side())
    }

    fn take_page(&mut self, side: usize) -> Option<Ppn> {
        let count = self.counts[side].checked_sub(1)?;
        self.counts[side] = count;
        unpack(self.pages[side][count as usize]).map(Ppn)
    }

    /// The pages of the newest complete checkpoint, none if there is none; what a place that flash
    /// keeps for it would say.
    pub fn newest_pages(&self) -> Vec<Ppn> {
        let side = if self.complete { self.side() } else { 1 - self.side() };
        let pages = &self.pages[side][..self.counts[side] as usize];
        pages.iter().filter_map(|&page| unpack(page).map(Ppn)).collect()
    }

    /// A page of either checkpoint was moved.
    pub fn moved(&mut self, logical: u32, ppn: Ppn) {
        self.pages[(logical % 2) as usize][(logical / 2) as usize] = pack(Some(ppn.0));
    }

    /// After a power cut: takes over the newest complete checkpoint among the pages found.
    pub fn restore(&mut self, found: &Restored) {
        self.number = found.side;
        self.sequence = found.sequence;
        self.complete = true;
        let side = self.side();
        for (part, ppn) in found.pages.iter().enumerate() {
            self.pages[side][part] = pack(Some(ppn.0));
        }
        self.counts[side] = found.pages.len() as u32;
    }
}

/// A checkpoint as read back after a power cut.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// Up to which program it speaks; 0 for "there is none".
    pub sequence: u64,
    side: u32,
    /// Its pages.
    pub pages: Vec<Ppn>,
    /// Blocks that were open.
    pub open: Vec<BlockId>,
    /// The owner's words.
    pub words: Vec<u32>,
}

impl Restored {
    /// The newest complete checkpoint among all checkpoint pages that a scan found. Their payloads
    /// are looked at; the caller charges the reads of the pages of the result.
    pub fn newest(nand: &Nand, found: &[(Ppn, Oob)]) -> Restored {
        let mut best = Restored::default();
        for &(candidate, oob) in found {
            if !nand.has_payload(candidate) {
                continue;
            }
            let words = nand.payload(candidate);
            let sequence = u64::from(words[0]) | u64::from(words[1]) << 32;
            if sequence <= best.sequence {
                continue;
            }
            if let Some(pages) = Self::complete(nand, found, sequence, words[2]) {
                best = Restored { sequence, side: oob.logical % 2, pages, ..Restored::default() };
            }
        }
        best.read_body(nand);
        best
    }

    /// The checkpoint that these pages hold, in order; none if there are none. The caller charges
    /// the reads.
    pub fn at(nand: &Nand, pages: Vec<Ppn>) -> Restored {
        let Some(&first) = pages.first() else { return Restored::default() };
        let words = nand.payload(first);
        let OobRead::Written(oob) = nand.state().oob(first) else {
            unreachable!("page {first} has a payload");
        };
        let sequence = u64::from(words[0]) | u64::from(words[1]) << 32;
        let mut restored =
            Restored { sequence, side: oob.logical % 2, pages, ..Restored::default() };
        restored.read_body(nand);
        restored
    }

    fn complete(nand: &Nand, found: &[(Ppn, Oob)], sequence: u64, parts: u32) -> Option<Vec<Ppn>> {
        let mut pages = vec![(0, None); parts as usize];
        for &(ppn, oob) in found {
            if !nand.has_payload(ppn) {
                continue;
            }
            let words = nand.payload(ppn);
            let same = u64::from(words[0]) | u64::from(words[1]) << 32;
            let slot = &mut pages[(oob.logical / 2).min(parts - 1) as usize];
            // A page may be there twice when a move was interrupted; either copy serves.
            if same == sequence && oob.sequence > slot.0 {
                *slot = (oob.sequence, Some(ppn));
            }
        }
        pages.into_iter().map(|(_, ppn)| ppn).collect()
    }

    fn read_body(&mut self, nand: &Nand) {
        let mut body = Vec::new();
        let mut length = 0;
        for &page in &self.pages {
            let words = nand.payload(page);
            length = words[3] as usize;
            body.extend_from_slice(&words[HEADER_WORDS..]);
        }
        body.truncate(length);
        let Some((&open, rest)) = body.split_first() else {
            return;
        };
        let (open, words) = rest.split_at(open as usize);
        self.open = open.iter().map(|&block| BlockId(block)).collect();
        self.words = words.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::Board;
    use ftlab_flash::board::nand::restore::StoredPage;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::settings::Groups as _;

    /// Pages of 128 words, of which a header takes four: a body of 304 words (how many blocks are
    /// open, three of them, three hundred words) takes three pages.
    fn device() -> (Board, Checkpoints) {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        let mut board = Board::new(&config, 1, 64);
        // Before the first program there is nothing to speak of.
        program(&mut board, 64, 0, Payload::Words(&[]));
        let checkpoints = Checkpoints::new(board.nand(), 300, 3);
        (board, checkpoints)
    }

    fn program(board: &mut Board, ppn: u32, logical: u32, payload: Payload<'_>) {
        let what = (PageKind::Checkpoint, logical);
        let done = board.program_payload(Ppn(ppn), what, payload, Cause::Checkpoint, When::START);
        assert!(done.is_ok());
    }

    /// Begins a checkpoint of words that are this and more, and writes its pages to where it says;
    /// where that is fewer than there are, it is given up.
    fn take(board: &mut Board, checkpoints: &mut Checkpoints, from: u32, places: &[u32]) {
        let open = [from, from + 1, from + 2].map(BlockId);
        let nand = board.nand_mut();
        let words = (from..from + 300).map(|word| [word]);
        assert_eq!(checkpoints.begin(nand, open.into_iter(), words), 3);
        for (part, &ppn) in (0..).zip(places) {
            program(board, ppn, checkpoints.logical(part), checkpoints.next_page());
            checkpoints.programmed();
            checkpoints.written(part, Ppn(ppn));
        }
        checkpoints.give_up(board.nand_mut());
    }

    fn superseded(checkpoints: &mut Checkpoints) -> Vec<Ppn> {
        std::iter::from_fn(|| checkpoints.next_superseded()).collect()
    }

    /// The newest checkpoint among these pages.
    fn newest(board: &Board, pages: &[u32]) -> Restored {
        let found: Vec<(Ppn, Oob)> = pages
            .iter()
            .map(|&ppn| match board.nand().state().oob(Ppn(ppn)) {
                OobRead::Written(oob) => (Ppn(ppn), oob),
                other => panic!("page {ppn} holds {other:?}"),
            })
            .collect();
        Restored::newest(board.nand(), &found)
    }

    /// Checks what a checkpoint says that was taken of words from this one on.
    fn says(found: &Restored, from: u32, sequence: u64, pages: [u32; 3]) {
        assert_eq!(found.words, (from..from + 300).collect::<Vec<u32>>());
        assert_eq!(found.open, [from, from + 1, from + 2].map(BlockId));
        assert_eq!((found.sequence, &found.pages[..]), (sequence, &pages.map(Ppn)[..]));
    }

    #[test]
    fn two_checkpoints_take_twice_the_pages_of_one() {
        // 1 + 3 + 120 words just fill a page of 124; a word more takes a second one.
        let pages = [120, 121, 300].map(|words| Checkpoints::most_pages(128, words, 3));
        assert_eq!(pages, [2, 4, 6]);
    }

    /// 249 words take three pages of 124; then a newer one takes a page alone, beside which those
    /// of the older are looked at as well.
    #[test]
    fn a_newer_one_may_be_shorter() {
        let (mut board, mut checkpoints) = device();
        let open = || [1, 2, 3].map(BlockId).into_iter();
        let words = (0..245).map(|word| [word]);
        assert_eq!(checkpoints.begin(board.nand_mut(), open(), words), 3);
        checkpoints.give_up(board.nand_mut());
        take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
        assert_eq!(superseded(&mut checkpoints), []);
        assert_eq!(checkpoints.begin(board.nand_mut(), [].into_iter(), [[7, 8]].into_iter()), 1);
        program(&mut board, 3, checkpoints.logical(0), checkpoints.next_page());
        let found = newest(&board, &[0, 1, 2, 3]);
        assert_eq!((&found.pages[..], &found.words[..]), (&[Ppn(3)][..], &[7, 8][..]));
        assert_eq!(found.open, []);
    }

    #[test]
    fn the_older_one_goes_when_the_newer_is_complete() {
        let (mut board, mut checkpoints) = device();
        assert_eq!((checkpoints.sequence(), checkpoints.newest_pages()), (0, vec![]));
        take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
        assert_eq!(checkpoints.newest_pages(), [], "not complete, and the first");
        assert_eq!((superseded(&mut checkpoints), checkpoints.sequence()), (vec![], 1));
        checkpoints.moved(checkpoints.logical(1), Ppn(3));
        checkpoints.moved(checkpoints.logical(2), Ppn(9));
        assert_eq!(checkpoints.newest_pages(), [0, 3, 9].map(Ppn));
        take(&mut board, &mut checkpoints, 600, &[3, 4]);
        assert_eq!(checkpoints.newest_pages(), [0, 3, 9].map(Ppn), "the newer has a page to come");
        assert_eq!(checkpoints.sequence(), 4, "four pages were programmed before it began");
        checkpoints.written(2, Ppn(5));
        assert_eq!(superseded(&mut checkpoints), [9, 3, 0].map(Ppn));
        assert_eq!(checkpoints.newest_pages(), [3, 4, 5].map(Ppn));
    }

    /// A second one of which two pages are written before there is no room, and a third one in its
    /// stead: that had taken the pages of the second for those of the newest complete one.
    #[test]
    fn one_that_was_never_completed_makes_way_for_the_next_and_the_complete_one_stays() {
        let (mut board, mut checkpoints) = device();
        take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
        assert_eq!(superseded(&mut checkpoints), []);
        let complete = checkpoints.logical(1);
        take(&mut board, &mut checkpoints, 600, &[3, 4]);
        let given_up = checkpoints.logical(1);
        assert_ne!(given_up, complete);
        let pages: Vec<Ppn> = std::iter::from_fn(|| checkpoints.next_given_up()).collect();
        assert_eq!(pages, [4, 3].map(Ppn));
        assert_eq!(checkpoints.begin(board.nand_mut(), [].into_iter(), [[7; 300]].into_iter()), 3);
        assert_eq!(checkpoints.newest_pages(), [0, 1, 2].map(Ppn));
        assert_eq!(checkpoints.logical(1), given_up);
        checkpoints.moved(complete, Ppn(9));
        assert_eq!(checkpoints.newest_pages(), [0, 9, 2].map(Ppn));
        for (part, ppn) in [(0, 5), (1, 6), (2, 7)] {
            checkpoints.written(part, Ppn(ppn));
        }
        assert_eq!(superseded(&mut checkpoints), [2, 9, 0].map(Ppn));
        assert_eq!(checkpoints.newest_pages(), [5, 6, 7].map(Ppn));
    }

    #[test]
    fn behind_a_power_cut_the_newest_complete_one_counts() {
        let (mut board, mut checkpoints) = device();
        take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
        assert_eq!(superseded(&mut checkpoints), []);
        take(&mut board, &mut checkpoints, 600, &[3, 4, 5]);
        says(&newest(&board, &[0, 1, 2]), 500, 1, [0, 1, 2]);
        // In whatever order a scan finds them; without one of its pages the newer one is none.
        says(&newest(&board, &[4, 0, 2, 5, 1, 3]), 600, 4, [3, 4, 5]);
        says(&newest(&board, &[0, 5, 1, 4, 2]), 500, 1, [0, 1, 2]);
        assert_eq!(newest(&board, &[0, 2]).pages, []);
        // A page that was being moved is there twice: the copy is the younger one.
        let words = board.nand().payload(Ppn(4)).to_vec();
        let words = Payload::Words(&words);
        let OobRead::Written(oob) = board.nand().state().oob(Ppn(4)) else { panic!("written") };
        program(&mut board, 6, oob.logical, words);
        says(&newest(&board, &[3, 6, 4, 5]), 600, 4, [3, 6, 5]);
        says(&newest(&board, &[3, 4, 6, 5]), 600, 4, [3, 6, 5]);
        // One that was superseded holds nothing any more.
        board.nand_mut().discard(Ppn(3));
        says(&newest(&board, &[3, 4, 5, 0, 1, 2]), 500, 1, [0, 1, 2]);
    }

    /// The one that speaks up to 5 * 2^32 + 1 is newer than the one up to 2.
    #[test]
    fn sequence_numbers_have_two_words() {
        let (mut board, mut checkpoints) = device();
        take(&mut board, &mut checkpoints, 500, &[]);
        for (ppn, sequence) in [(0, 2), (1, 0x5_0000_0001)] {
            checkpoints.sequence = sequence;
            let header = checkpoints.header(1, 1);
            assert_eq!(header, [sequence as u32, (sequence >> 32) as u32, 1, 1]);
            program(&mut board, ppn, checkpoints.logical(0), Payload::Words(&header));
        }
        for order in [[0, 1], [1, 0]] {
            let found = newest(&board, &order);
            assert_eq!((found.sequence, &found.pages[..]), (0x5_0000_0001, &[Ppn(1)][..]));
        }
        assert_eq!(Restored::at(board.nand(), vec![Ppn(1)]).sequence, 0x5_0000_0001);
    }

    /// The second one begins behind a page of that sequence number.
    #[test]
    fn pages_of_a_late_checkpoint_say_both_words_of_its_sequence_number() {
        let (mut board, mut checkpoints) = device();
        take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
        assert_eq!(superseded(&mut checkpoints), []);
        let oob = Oob { logical: 0, kind: PageKind::Map, sequence: 0x5_0000_0001 };
        let late = StoredPage::Words { oob, words: None };
        assert_eq!(board.nand_mut().restore_page(Ppn(128), late), Ok(()));
        take(&mut board, &mut checkpoints, 600, &[3, 4, 5]);
        for ppn in [3, 4, 5] {
            assert_eq!(board.nand().payload(Ppn(ppn))[..4], [1, 5, 3, 304]);
        }
        says(&newest(&board, &[0, 1, 2, 3, 4, 5]), 600, 0x5_0000_0001, [3, 4, 5]);
    }

    /// The next one is of the other side than the one that was found, and supersedes it.
    #[test]
    fn what_was_found_goes_on_as_the_newest() {
        for taken in [1, 2] {
            let (mut board, mut checkpoints) = device();
            take(&mut board, &mut checkpoints, 500, &[0, 1, 2]);
            if taken == 2 {
                assert_eq!(superseded(&mut checkpoints), []);
                take(&mut board, &mut checkpoints, 600, &[3, 4, 5]);
            }
            let pages = [[0, 1, 2], [3, 4, 5]][taken - 1];
            let found = newest(&board, &pages);
            let sequence = found.sequence;
            says(
                &Restored::at(board.nand(), pages.map(Ppn).to_vec()),
                400 + 100 * taken as u32,
                sequence,
                pages,
            );
            let told = Restored::at(board.nand(), pages.map(Ppn).to_vec());
            let mut again = Checkpoints::new(board.nand(), 300, 3);
            again.restore(&told);
            let number = again.logical(1);
            again.restore(&found);
            assert_eq!(again.logical(1), number, "by its pages or by a scan");
            assert_eq!(
                (again.sequence(), again.newest_pages()),
                (sequence, pages.map(Ppn).to_vec())
            );
            assert_eq!(again.logical(1), checkpoints.logical(1), "{taken} were taken");
            take(&mut board, &mut again, 700, &[6, 7, 8]);
            assert!(again.logical(1) != checkpoints.logical(1));
            assert_eq!(superseded(&mut again), [pages[2], pages[1], pages[0]].map(Ppn));
        }
        let (board, _) = device();
        assert_eq!(Restored::at(board.nand(), vec![]).pages, []);
    }
}
