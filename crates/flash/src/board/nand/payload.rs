//! What map, checkpoint and trim-record pages hold: one slot of words per live page.
//!
//! Slots are allocated once, zeroed, and reused; a page's record carries its slot number. A slot is
//! given back when its page becomes invalid or is erased, or is not among those that a recovery
//! marks as valid. Words that several pages are to hold can be put into slots before any of these is
//! programmed: what is much would else be copied into memory, and from there.

use std::collections::VecDeque;

use super::record::Change;
use super::state::{BlockState, OobRead, PageKind};
use super::{Nand, law};
use crate::units::{BlockId, Ppn, zeroed};

/// The store of payloads.
#[derive(Clone, Debug)]
pub struct Payloads {
    words: Vec<u32>,
    words_per_page: usize,
    free: Vec<u32>,
    next_untouched: u32,
    slots: u32,
}

/// Number of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub u32);

/// The words of a page that is not programmed yet. It ends with the program that works of those it
/// is given to ([`Payload::Draft`]), or with [`Nand::drop_draft`]; until then it counts as a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft(Slot);

/// What a new map, checkpoint or trim-record page holds.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// These words; the rest is zero.
    Words(&'a [u32]),
    /// What was put together beforehand ([`Nand::draft`]). Where the program fails or the power goes
    /// with it, the draft stays whoever's it was.
    Draft(&'a Draft),
    /// The words of an older page (zeroes when there is none) with single words replaced. The
    /// older page becomes invalid.
    Update {
        /// The page that it replaces.
        old: Option<Ppn>,
        /// Word number and new value.
        edits: &'a [(u32, u32)],
    },
}

/// Replaces single words of a page, by number and new value; says whether there are any.
#[inline(always)]
pub fn replace_words(edits: &[(u32, u32)]) -> impl FnOnce(&mut [u32]) -> bool + '_ {
    move |words| {
        for &(word, value) in edits {
            words[word as usize] = value;
        }
        !edits.is_empty()
    }
}

impl Slot {
    /// The slot that a page says it has ([`State::payload`]).
    ///
    /// [`State::payload`]: super::state::State::payload
    #[inline]
    pub(super) fn of(ppn: Ppn, stored: u32) -> Self {
        let slot = stored.checked_sub(1).map(Slot);
        slot.unwrap_or_else(|| Self::is_missing(ppn))
    }

    #[cold]
    #[inline(never)]
    fn is_missing(ppn: Ppn) -> ! {
        panic!("page {ppn} holds no payload: never a map page, or superseded")
    }
}

/// Pages that are being put together, one behind another ([`Nand::draft`]).
pub struct Drafting<'a> {
    payloads: &'a mut Payloads,
    header: usize,
    begun: &'a mut VecDeque<Draft>,
    /// Where the next word goes, and where the words of its page end.
    next: usize,
    end: usize,
}

impl Drafting<'_> {
    /// The next word.
    #[inline(always)]
    pub fn push(&mut self, word: u32) {
        if self.next == self.end {
            self.begin_page();
        }
        self.payloads.words[self.next] = word;
        self.next += 1;
    }

    #[cold]
    #[inline(never)]
    fn begin_page(&mut self) {
        let slot = self.payloads.take();
        let first = slot.0 as usize * self.payloads.words_per_page;
        (self.next, self.end) = (first + self.header, first + self.payloads.words_per_page);
        self.payloads.words[first..self.next].fill(0);
        self.begun.push_back(Draft(slot));
    }
}

impl Payloads {
    /// Room for `slots` pages of `words_per_page` words.
    pub fn new(slots: u32, words_per_page: u32) -> Self {
        Payloads {
            words: zeroed(slots as usize * words_per_page as usize),
            words_per_page: words_per_page as usize,
            free: Vec::with_capacity(slots as usize),
            next_untouched: 0,
            slots,
        }
    }

    pub(super) fn take(&mut self) -> Slot {
        if let Some(slot) = self.free.pop() {
            return Slot(slot);
        }
        assert!(
            self.next_untouched < self.slots,
            "payload store: all {} slots are in use; the scheme keeps more map pages alive than \
             it declared",
            self.slots
        );
        self.next_untouched += 1;
        Slot(self.next_untouched - 1)
    }

    fn in_use(&self) -> u32 {
        self.next_untouched - self.free.len() as u32
    }

    /// Whether [`Payloads::take`] would have to panic.
    pub(super) fn are_full(&self) -> bool {
        self.free.is_empty() && self.next_untouched >= self.slots
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
        self.free.push(slot.0);
    }

    #[inline]
    pub(super) fn words(&self, slot: Slot) -> &[u32] {
        let first = slot.0 as usize * self.words_per_page;
        &self.words[first..first + self.words_per_page]
    }

    #[inline(always)]
    fn word(&self, slot: Slot, place: u32) -> u32 {
        assert!((place as usize) < self.words_per_page, "there is no word {place}");
        self.words[slot.0 as usize * self.words_per_page + place as usize]
    }

    #[inline]
    pub(super) fn words_mut(&mut self, slot: Slot) -> &mut [u32] {
        let first = slot.0 as usize * self.words_per_page;
        &mut self.words[first..first + self.words_per_page]
    }

    pub(super) fn copy(&mut self, from: Slot, to: Slot) {
        let first = from.0 as usize * self.words_per_page;
        let target = to.0 as usize * self.words_per_page;
        self.words.copy_within(first..first + self.words_per_page, target);
    }
}

impl Nand {
    /// Pages whose content is kept, which a scheme declares the most of.
    pub fn payload_pages(&self) -> u32 {
        self.payloads.in_use()
    }

    /// Begins pages of the words that `fill` pushes, behind a header of so many words in each, which
    /// are zero until their owner fills them in ([`Nand::draft_mut`]), as is what is left of the last
    /// page; `begun` gets them.
    #[inline(always)]
    pub fn draft(
        &mut self,
        header: usize,
        begun: &mut VecDeque<Draft>,
        fill: impl FnOnce(&mut Drafting<'_>),
    ) {
        let payloads = &mut self.payloads;
        assert!(header < payloads.words_per_page, "a header of {header} words fills its page");
        let mut pages = Drafting { payloads, header, begun, next: 0, end: 0 };
        fill(&mut pages);
        let rest = pages.next..pages.end;
        self.payloads.words[rest].fill(0);
    }

    /// All words of a draft.
    pub fn draft_mut(&mut self, draft: &Draft) -> &mut [u32] {
        self.payloads.words_mut(draft.0)
    }

    /// No page will hold these words.
    pub fn drop_draft(&mut self, draft: Draft) {
        self.payloads.give_back(draft.0);
    }

    /// The slot of a new page. The older page's slot changes hands when the older page goes with
    /// this operation; when the power goes instead, both versions stay on flash. So it is with a
    /// draft, which then keeps its own and the page on flash gets a copy.
    pub(super) fn fill_slot(&mut self, payload: Payload<'_>, move_old: bool) -> Slot {
        match payload {
            Payload::Draft(draft) if move_old => draft.0,
            Payload::Draft(draft) => self.copy_of(draft.0),
            Payload::Words(words) => {
                let slot = self.payloads.take();
                let target = self.payloads.words_mut(slot);
                target[..words.len()].copy_from_slice(words);
                target[words.len()..].fill(0);
                slot
            }
            Payload::Update { old, edits } => {
                let slot = match old {
                    Some(old) if move_old => self.slot_of(old),
                    Some(old) => self.copy_of(self.slot_of(old)),
                    None => {
                        let slot = self.payloads.take();
                        self.payloads.words_mut(slot).fill(0);
                        slot
                    }
                };
                replace_words(edits)(self.payloads.words_mut(slot));
                slot
            }
        }
    }

    fn copy_of(&mut self, from: Slot) -> Slot {
        let to = self.payloads.take();
        self.payloads.copy(from, to);
        to
    }

    /// Looks at one of the words of a page that has some, so that it is at hand. What is seen means
    /// nothing.
    #[inline]
    pub fn glance_at_word(&self, ppn: Ppn, word: u32) -> u32 {
        let slot = self.state.tag(ppn).0.saturating_sub(1) as usize;
        let word = self.payloads.words.get(slot * self.payloads.words_per_page + word as usize);
        word.copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn slot_of(&self, ppn: Ppn) -> Slot {
        Slot::of(ppn, self.state.payload(ppn))
    }

    /// A page whose words go to another one becomes invalid: their slot, and its block.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, old: Ppn) -> (Slot, BlockId) {
        let (slot, (block, kept)) = self.state.hand_over(old);
        let slot = Slot::of(old, slot);
        law::invalidate(&self.geometry, old, kept);
        (slot, block)
    }

    /// The words of a map, checkpoint or trim-record page (not charged: read the page first).
    #[inline]
    pub fn payload(&self, ppn: Ppn) -> &[u32] {
        self.payloads.words(self.slot_of(ppn))
    }

    /// One of them.
    #[inline(always)]
    pub fn payload_word(&self, ppn: Ppn, place: u32) -> u32 {
        self.payloads.word(self.slot_of(ppn), place)
    }

    /// Whether a page still holds its payload: until it becomes invalid or is erased, or a recovery
    /// ends that did not mark it as valid.
    pub fn has_payload(&self, ppn: Ppn) -> bool {
        matches!(self.state.oob(ppn), OobRead::Written(oob)
            if PageKind::number_keeps_payload(oob.kind as u64))
            && self.state.tag(ppn).0 > 0
    }

    /// Gives back what the pages of a block still hold.
    pub(super) fn free_payloads(&mut self, block: BlockId) {
        let mut offset = 0;
        while self.state.block(block).payloads > 0 {
            let ppn = self.geometry.page(block, offset);
            if self.has_payload(ppn) {
                self.give_back_payload(ppn);
            }
            offset += 1;
        }
    }

    /// Gives back what pages hold that a recovery did not find to be the newest: where power went
    /// between a program and the mark of the page that it replaces, both have come through.
    pub(super) fn forget_superseded(&mut self) {
        for block in (0..self.geometry.blocks()).map(BlockId) {
            let BlockState { top, payloads, .. } = *self.state.block(block);
            let held = if payloads > 0 { top } else { 0 };
            for offset in 0..held {
                let ppn = self.geometry.page(block, offset);
                if !self.state.is_valid(ppn) && self.has_payload(ppn) {
                    self.give_back_payload(ppn);
                }
            }
        }
    }

    pub(super) fn give_back_payload(&mut self, ppn: Ppn) {
        let slot = self.slot_of(ppn);
        self.payloads.give_back(slot);
        self.record.change(Change::Superseded(ppn));
        self.state.drop_payload(self.geometry.block_of(ppn), ppn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::board::nand::fault::CutOutcome;
    use crate::board::settings::BoardSettings;
    use crate::board::when::When;
    use crate::meter::Cause;

    fn hold(board: &mut Board, ppn: u32, word: u32) {
        let (what, words) = ((PageKind::TrimRecord, 7), [word]);
        let payload = Payload::Words(&words);
        let done = board.program_payload(Ppn(ppn), what, payload, Cause::Trim, When::START);
        assert!(done.is_ok());
    }

    /// Three versions of a page in two blocks, none of which was marked before the power went; the
    /// recovery takes the last one.
    #[test]
    fn after_a_recovery_only_the_pages_that_it_found_to_be_newest_hold_what_they_held() {
        let mut board = Board::new(&BoardSettings::default(), 1, 8);
        let other_block = board.geometry().pages_per_block;
        let versions = [0, 1, other_block];
        for (ppn, word) in versions.into_iter().zip([10, 11, 12]) {
            hold(&mut board, ppn, word);
        }
        board.nand_mut().cut_power();
        board.power_on();
        let held = |board: &Board| versions.map(|ppn| board.nand().has_payload(Ppn(ppn)));
        assert_eq!(held(&board), [true; 3], "a scan may look at each of them");
        board.nand_mut().revalidate(Ppn(other_block));
        board.end_recovery();
        assert_eq!((held(&board), board.nand().payload_pages()), ([false, false, true], 1));
        assert_eq!(board.nand().payload(Ppn(other_block))[0], 12);
        // Their block knows that it holds nothing more: what comes next is its own.
        hold(&mut board, 2, 13);
        assert_eq!((board.nand().payload_pages(), board.nand().payload(Ppn(2))[0]), (2, 13));
        assert_eq!(board.nand().payload(Ppn(other_block))[0], 12);
    }

    #[test]
    fn there_are_as_many_slots_as_were_asked_for() {
        let mut slots = Payloads::new(2, 4);
        assert!(!slots.are_full());
        assert_eq!([slots.take(), slots.take()], [Slot(0), Slot(1)]);
        assert!(slots.are_full() && slots.in_use() == 2);
        slots.give_back(Slot(0));
        assert!(!slots.are_full() && slots.in_use() == 1, "one came back");
        assert_eq!(slots.take(), Slot(0));
        let said = crate::board::for_tests::refused(|| slots.take());
        assert!(said.starts_with("payload store: all 2 slots are in use"), "{said}");
    }

    #[test]
    fn words_of_a_slot_are_its_own() {
        let mut slots = Payloads::new(4, 3);
        let mut edit = |slot, edits: &[_]| replace_words(edits)(slots.words_mut(Slot(slot)));
        edit(1, &[(0, 7), (2, 9)]);
        edit(2, &[(1, 5)]);
        slots.copy(Slot(1), Slot(3));
        replace_words(&[(0, 8)])(slots.words_mut(Slot(1)));
        let words: Vec<&[u32]> = (0..4).map(|slot| slots.words(Slot(slot))).collect();
        assert_eq!(words, [[0, 0, 0], [8, 0, 9], [0, 5, 0], [7, 0, 9]]);
        assert_eq!([0, 1, 2].map(|place| slots.word(Slot(1), place)), [8, 0, 9]);
    }

    /// Two pages where others had their slots before; the power goes with the second one.
    #[test]
    fn a_draft_becomes_the_words_of_a_page_and_stays_where_the_power_goes_with_that() {
        let mut board = crate::board::for_tests::board(&[]);
        let length = board.geometry().entries_per_page() as usize;
        let (what, cause) = ((PageKind::TrimRecord, 7), Cause::Trim);
        for ppn in [0, 1] {
            let words = vec![77; length];
            let words = Payload::Words(&words);
            assert!(board.program_payload(Ppn(ppn), what, words, cause, When::START).is_ok());
        }
        [0, 1].into_iter().for_each(|ppn| _ = board.nand_mut().discard(Ppn(ppn)));
        let nand = board.nand_mut();
        let mut drafts = VecDeque::new();
        nand.draft(2, &mut drafts, |pages| (1..length as u32).for_each(|word| pages.push(word)));
        assert_eq!((drafts.len(), nand.payload_pages()), (2, 2), "each counts as a page");
        nand.draft_mut(&drafts[1])[1] = 9;
        let put = |board: &mut Board, ppn, draft| {
            let page = Payload::Draft(draft);
            let done = board.program_payload(Ppn(ppn), what, page, cause, When::START);
            (done.is_ok(), board.nand().payload_pages())
        };
        assert_eq!(put(&mut board, 2, &drafts[0]), (true, 2));
        let first: Vec<u32> = [0, 0].into_iter().chain(1..length as u32 - 1).collect();
        assert_eq!(board.nand().payload(Ppn(2)), first);
        board.nand_mut().faults_mut().cut_power_after(0, CutOutcome::Done);
        assert_eq!(put(&mut board, 3, &drafts[1]), (false, 3), "the page, and the draft");
        board.nand_mut().drop_draft(drafts.remove(1).expect("there are two"));
        let last = board.nand().payload(Ppn(3));
        assert_eq!(last[..3], [0, 9, length as u32 - 1]);
        assert!(last[3..].iter().all(|&word| word == 0));
        assert_eq!(board.nand().payload_pages(), 2);
    }

    /// A page whose words fill it in part, where another had its slot before.
    #[test]
    fn words_that_nobody_gave_are_zero() {
        let mut board = crate::board::for_tests::board(&[]);
        hold(&mut board, 0, 10);
        let (what, cause) = ((PageKind::TrimRecord, 7), Cause::Trim);
        let put = |board: &mut Board, ppn, payload: Payload<'_>| {
            board.nand_mut().discard(Ppn(ppn - 1));
            assert!(board.program_payload(Ppn(ppn), what, payload, cause, When::START).is_ok());
            let words = board.nand().payload(Ppn(ppn));
            ([words[0], words[1], words[2]], board.nand().payload_pages())
        };
        assert_eq!(put(&mut board, 1, Payload::Words(&[1, 2, 3])), ([1, 2, 3], 1));
        assert_eq!(put(&mut board, 2, Payload::Words(&[4])), ([4, 0, 0], 1));
        let edits = [(1, 6)];
        let none = Payload::Update { old: None, edits: &edits };
        assert_eq!(put(&mut board, 3, none), ([0, 6, 0], 1));
        assert_eq!([0, 1].map(|place| board.nand().payload_word(Ppn(3), place)), [0, 6]);
    }
}
