//! What map, checkpoint and trim-record pages hold: one slot of words per live page.
//!
//! Slots are allocated once, zeroed, and reused; a page's record carries its slot number. A slot is
//! given back when its page becomes invalid or is erased.

use crate::units::zeroed;

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

    pub(super) fn give_back(&mut self, slot: Slot) {
        self.free.push(slot.0);
    }

    pub(super) fn words(&self, slot: Slot) -> &[u32] {
        let first = slot.0 as usize * self.words_per_page;
        &self.words[first..first + self.words_per_page]
    }

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
