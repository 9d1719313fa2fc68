//! Cached translation pages: whole pages of the map in memory, each a copy of its page on flash
//! with the entries that were changed since.
//!
//! What flash says anyway can be left where it is ([`MapPages::deferring`]): the words here are
//! then those of changed entries alone, and to load a page copies nothing.
//!
//! Which page leaves next is the owner's business; it keeps the order by [`Slot`].

use std::ops::Range;

use crate::parts::map_cache::{Known, MapCache};
use crate::parts::slots::Slot;
use crate::parts::translation::Translation;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Divisor, Lpn, Ppn, pack, unpack, zeroed};
use zerocopy::FromZeros;

/// A translation page in memory, but for its entries.
#[derive(Clone, Copy, Debug, FromZeros)]
struct Page {
    part: u32,
    /// Entries that differ from flash.
    dirty_entries: u32,
    /// Of its entries up to 64 groups, one bit each: whether some of a group may differ from flash.
    groups: u64,
    /// When it was loaded.
    ready: When,
}

/// Translation pages in memory.
#[derive(Clone, Debug)]
pub struct MapPages {
    /// Slot of each translation page plus one, 0 for "not cached".
    slot_of: Vec<u32>,
    /// The page in each slot.
    pages: Vec<Page>,
    /// The entries, a page of them per slot: physical page plus one.
    words: Vec<u32>,
    /// Only the words of entries that differ from flash are kept.
    defers: bool,
    /// One bit per entry that differs from flash.
    dirty: Vec<u64>,
    /// Words of these bits a page.
    bit_words: usize,
    /// Words to a group, a power of two, by its exponent.
    group_bits: u32,
    /// Pages with an entry that differs from flash.
    dirty_pages: u32,
    free: Vec<u32>,
    entries_per_page: u32,
    by_page: Divisor,
    entries: u32,
}

impl MapPages {
    /// Room for `capacity` pages of the map of pages.
    pub fn new(geometry: &Geometry, capacity: u32) -> Self {
        Self::of(geometry, geometry.logical_pages, capacity)
    }

    /// Room for `capacity` pages of a map of so many entries, whatever these name; the methods call
    /// the number of an entry a page, and its word a place.
    pub fn of(geometry: &Geometry, entries: u32, capacity: u32) -> Self {
        let per_page = geometry.entries_per_page();
        let frames = capacity as usize;
        let bit_words = (per_page as usize).div_ceil(64);
        MapPages {
            slot_of: zeroed(entries.div_ceil(per_page) as usize),
            pages: zeroed(frames),
            words: zeroed(frames * per_page as usize),
            defers: false,
            dirty: zeroed(frames * bit_words),
            bit_words,
            group_bits: bit_words.div_ceil(64).next_power_of_two().ilog2(),
            dirty_pages: 0,
            free: (0..capacity).rev().collect(),
            entries_per_page: per_page,
            by_page: Divisor::new(per_page),
            entries,
        }
    }

    /// The same, empty, without a copy of what flash says: of an entry that has not changed there
    /// is no word here.
    #[must_use]
    pub fn deferring(self) -> Self {
        MapPages { defers: true, ..self }
    }

    /// Pages that it has room for.
    pub fn capacity(&self) -> u32 {
        self.pages.len() as u32
    }

    /// Pages in memory.
    #[inline]
    pub fn len(&self) -> u32 {
        self.capacity() - self.free.len() as u32
    }

    /// Whether no page is in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the next page needs another one's place.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Where a translation page is.
    #[inline]
    pub fn find(&self, part: u32) -> Option<Slot> {
        unpack(self.slot_of[part as usize]).map(Slot)
    }

    /// The translation page in a slot.
    #[inline]
    pub fn part(&self, slot: Slot) -> u32 {
        self.pages[slot.index()].part
    }

    /// When a page was loaded.
    #[inline]
    pub fn ready(&self, slot: Slot) -> When {
        self.pages[slot.index()].ready
    }

    /// Entries of a page that differ from flash.
    #[inline]
    pub fn dirty_entries(&self, slot: Slot) -> u32 {
        self.pages[slot.index()].dirty_entries
    }

    /// Pages with an entry that differs from flash.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty_pages
    }

    /// Whether a slot holds a page.
    pub fn holds(&self, slot: Slot) -> bool {
        self.find(self.part(slot)) == Some(slot)
    }

    /// Entries of a page, physical page plus one, 0 for "nowhere"; none of pages that defer to
    /// flash.
    #[inline]
    pub fn words(&self, slot: Slot) -> &[u32] {
        debug_assert!(!self.defers, "most of these words are on flash alone");
        let from = slot.index() * self.entries_per_page as usize;
        &self.words[from..from + self.entries_per_page as usize]
    }

    /// Takes over a page that was just read from flash; there must be room.
    #[inline(always)]
    pub fn insert(
        &mut self,
        board: &Board,
        translation: &Translation,
        part: u32,
        ready: When,
    ) -> Slot {
        match self.defers {
            true => self.take_slot(part, ready),
            false => self.insert_copy(board, translation, part, ready),
        }
    }

    fn insert_copy(
        &mut self,
        board: &Board,
        translation: &Translation,
        part: u32,
        ready: When,
    ) -> Slot {
        let page = translation.location(part);
        let slot = self.insert_words(part, page.map(|page| board.nand().payload(page)), ready);
        if translation.has_astray() {
            let from = slot.index() * self.entries_per_page as usize;
            for (place, word) in translation.astray_in(part) {
                self.words[from + place as usize] = word;
            }
        }
        slot
    }

    /// Takes over a page with what flash says, nothing if it was never written; there must be room.
    pub fn insert_words(&mut self, part: u32, words: Option<&[u32]>, ready: When) -> Slot {
        let slot = self.take_slot(part, ready);
        let from = slot.index() * self.entries_per_page as usize;
        let known = &mut self.words[from..from + self.entries_per_page as usize];
        match words {
            Some(words) => known.copy_from_slice(words),
            None => known.fill(0),
        }
        slot
    }

    #[inline(always)]
    fn take_slot(&mut self, part: u32, ready: When) -> Slot {
        debug_assert!(self.find(part).is_none());
        let slot = self.free.pop().expect("the owner made room");
        self.slot_of[part as usize] = pack(Some(slot));
        self.pages[slot as usize] = Page { part, dirty_entries: 0, groups: 0, ready };
        Slot(slot)
    }

    /// The translation page on flash says this of a page now; memory follows if it holds it.
    pub fn follow(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        if let Some((slot, place)) = self.place(lpn) {
            let word = self.word(slot, place);
            self.words[word] = pack(ppn.map(|ppn| ppn.0));
        }
    }

    /// Drops a page; what it alone knew must be on flash by now.
    #[inline(always)]
    pub fn remove(&mut self, slot: Slot) {
        let Page { part, dirty_entries, .. } = self.pages[slot.index()];
        assert!(dirty_entries == 0, "the page holds what flash does not");
        self.slot_of[part as usize] = 0;
        self.free.push(slot.0);
    }

    /// Where the bits of a page are.
    #[inline]
    fn bits(&self, slot: Slot) -> Range<usize> {
        let first = slot.index() * self.bit_words;
        first..first + self.bit_words
    }

    /// The bit of an entry.
    #[inline(always)]
    fn bit(&self, slot: Slot, place: u32) -> (usize, u64) {
        (slot.index() * self.bit_words + place as usize / 64, 1 << (place % 64))
    }

    /// Where the word of an entry is.
    #[inline(always)]
    fn word(&self, slot: Slot, place: u32) -> usize {
        slot.index() * self.entries_per_page as usize + place as usize
    }

    /// Slot of an entry's page, if that is in memory, and its place there.
    #[inline(always)]
    fn place(&self, lpn: Lpn) -> Option<(Slot, u32)> {
        let (part, place) = self.by_page.both(lpn.0);
        Some((self.find(part)?, place))
    }

    /// What memory says of an entry of a page that it holds, by its place there.
    #[inline(always)]
    pub fn look_at(&self, slot: Slot, place: u32) -> Known {
        assert!(place < self.entries_per_page, "a page has no entry {place}");
        let (index, bit) = self.bit(slot, place);
        if self.defers && self.dirty[index] & bit == 0 {
            return Known::AsOnFlash;
        }
        Known::Entry(unpack(self.words[self.word(slot, place)]).map(Ppn))
    }

    /// As [`MapCache::exchange`], by slot and place.
    #[inline(always)]
    pub fn exchange_at(&mut self, (slot, place): (Slot, u32), ppn: Option<Ppn>) -> Known {
        assert!(place < self.entries_per_page, "a page has no entry {place}");
        self.put((slot, place), ppn)
    }

    #[inline(always)]
    fn put(&mut self, (slot, place): (Slot, u32), ppn: Option<Ppn>) -> Known {
        let (word, (index, bit)) = (self.word(slot, place), self.bit(slot, place));
        let before = std::mem::replace(&mut self.words[word], pack(ppn.map(|ppn| ppn.0)));
        let bits = &mut self.dirty[index];
        let was_dirty = *bits & bit != 0;
        *bits |= bit;
        if !was_dirty {
            let page = &mut self.pages[slot.index()];
            self.dirty_pages += u32::from(page.dirty_entries == 0);
            page.dirty_entries += 1;
            page.groups |= 1 << ((place / 64) >> self.group_bits);
            if self.defers {
                return Known::AsOnFlash;
            }
        }
        Known::Entry(unpack(before).map(Ppn))
    }

    /// So many entries of a page, one at least, do not differ from flash any more.
    #[inline(always)]
    fn cleaned(&mut self, slot: Slot, entries: u32) {
        let page = &mut self.pages[slot.index()];
        page.dirty_entries -= entries;
        if page.dirty_entries == 0 {
            page.groups = 0;
            self.dirty_pages -= 1;
        }
    }

    /// Every page in memory.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.capacity()).map(Slot).filter(|&slot| self.holds(slot))
    }
}

impl MapCache for MapPages {
    #[inline(always)]
    fn look(&self, lpn: Lpn) -> Known {
        self.place(lpn).map_or(Known::No, |(slot, place)| self.look_at(slot, place))
    }

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        match self.look(lpn) {
            Known::Entry(entry) => Some(entry),
            Known::No | Known::AsOnFlash => None,
        }
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.place(lpn).is_some_and(|(slot, place)| {
            let (index, bit) = self.bit(slot, place);
            self.dirty[index] & bit != 0
        })
    }

    /// A word of 64 entries at a time.
    fn first_dirty(&self, lpns: Range<u32>) -> Option<Lpn> {
        let mut lpn = lpns.start;
        while lpn < lpns.end {
            let (part, place) = (lpn / self.entries_per_page, lpn % self.entries_per_page);
            let end = lpns.end.min((part + 1) * self.entries_per_page);
            let slot = self.find(part).filter(|&slot| self.dirty_entries(slot) > 0);
            let Some(slot) = slot else {
                lpn = end;
                continue;
            };
            let word = self.dirty[self.bit(slot, place).0] >> (place % 64);
            if word == 0 {
                lpn = end.min(lpn + 64 - place % 64);
                continue;
            }
            lpn += word.trailing_zeros();
            return (lpn < end).then_some(Lpn(lpn)).or_else(|| self.first_dirty(end..lpns.end));
        }
        None
    }

    #[inline]
    fn each_dirty(&self, lpns: Range<u32>, mut each: impl FnMut(Lpn, Option<Ppn>, bool)) {
        let Some(slot) = self.find(self.by_page.quotient(lpns.start)) else { return };
        let entries = slot.index() * self.entries_per_page as usize;
        let known = &self.words[entries..entries + self.entries_per_page as usize];
        let (bits, mut index) = (&self.dirty[self.bits(slot)], 0);
        let mut expected = self.dirty_entries(slot);
        while expected > 0 {
            let clean = bits[index..].iter().position(|&word| word != 0);
            index += clean.expect("an entry has changed");
            let mut left = bits[index];
            while left != 0 {
                expected -= 1;
                let place = index as u32 * 64 + left.trailing_zeros();
                left &= left - 1;
                let entry = unpack(known[place as usize]).map(Ppn);
                each(Lpn(lpns.start + place), entry, false);
            }
            index += 1;
        }
    }

    #[inline]
    fn take_dirty(&mut self, lpns: Range<u32>, words: &mut [u32]) -> u32 {
        let Some(slot) = self.find(self.by_page.quotient(lpns.start)) else { return 0 };
        let Page { dirty_entries: changed, mut groups, .. } = self.pages[slot.index()];
        let entries = slot.index() * self.entries_per_page as usize;
        let known = &self.words[entries..entries + self.entries_per_page as usize];
        let (bits, group_bits) = (self.bits(slot), self.group_bits);
        let (bits, words) = (&mut self.dirty[bits], &mut words[..known.len()]);
        while groups != 0 {
            let mut index = (groups.trailing_zeros() as usize) << group_bits;
            groups &= groups - 1;
            // Of more than 64 words there are always two to a group: pages have whole sectors.
            let end = index + (1 << group_bits);
            while index < end {
                let mut left = std::mem::take(&mut bits[index]);
                while left != 0 {
                    let place = index * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    words[place] = known[place];
                }
                index += 1;
            }
        }
        if changed > 0 {
            self.cleaned(slot, changed);
        }
        changed
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let _ = self.exchange(lpn, ppn);
    }

    #[inline(always)]
    fn exchange(&mut self, lpn: Lpn, ppn: Option<Ppn>) -> Known {
        let place = self.place(lpn).expect("the page is in memory");
        self.put(place, ppn)
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        let Some((slot, place)) = self.place(lpn) else { return };
        let (index, bit) = self.bit(slot, place);
        if self.dirty[index] & bit != 0 {
            self.dirty[index] &= !bit;
            self.cleaned(slot, 1);
        }
    }

    #[inline]
    fn clean_places(&mut self, first: Lpn, places: impl Iterator<Item = u32>) {
        let Some(slot) = self.find(self.by_page.quotient(first.0)) else { return };
        let bits = self.bits(slot);
        let words = &mut self.dirty[bits];
        let mut cleaned = 0;
        for place in places {
            let (word, bit) = (&mut words[place as usize / 64], 1 << (place % 64));
            cleaned += u32::from(*word & bit != 0);
            *word &= !bit;
        }
        if cleaned > 0 {
            self.cleaned(slot, cleaned);
        }
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        let pages = self.slots().filter(|&slot| self.dirty_entries(slot) > 0);
        let lpns = pages.flat_map(move |slot| {
            let first = self.part(slot) * self.entries_per_page;
            let end = (first + self.entries_per_page).min(self.entries);
            let next = move |after: u32| self.first_dirty(after..end);
            std::iter::successors(next(first), move |lpn| next(lpn.0 + 1))
        });
        lpns.map(|lpn| (lpn, self.entry(lpn).flatten()))
    }
}

#[cfg(test)]
mod tests;
