//! What the frames of the tree hold: translation pages, and data pages below them.

use crate::parts::held_pages::{Held, HeldPages};
use crate::parts::map_cache::{Known, MapCache};
use crate::parts::map_pages::MapPages;
use crate::parts::page_space::Newer;
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::units::{Divisor, Lpn, Ppn, Tag, zeroed};
use zerocopy::FromZeros;

/// Of 64 pages of a group, one bit each.
#[derive(Clone, Copy, Debug, FromZeros)]
struct Marks {
    /// The page is cached.
    cached: u64,
    /// It is newer than flash.
    newer: u64,
}

/// Cached translation pages (CTP) and cached data pages (CDP).
///
/// A data page only lies here while the translation page with its entry does. The entry goes on
/// saying where the page is on flash; that the page is cached is one bit per page beside it.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The translation pages.
    pub maps: MapPages,
    data: HeldPages,
    /// Data pages that are newer than flash, by their last write.
    dirty: SlotLists<1>,
    /// Of the pages that each cached translation page tells the place of.
    marks: Vec<Marks>,
    /// Cached data pages per cached translation page.
    children: Vec<u32>,
    words_per_map: usize,
    /// Pages that one translation page tells the place of: a group.
    pages_per_map: u32,
    by_group: Divisor,
    logical_pages: u32,
    all_sectors: u64,
    /// Collection writes what is here instead of copying what is older.
    pub for_collection: bool,
}

impl Frames {
    /// Room for so many translation pages and data pages; the owner sees to it that both together
    /// are no more than there are frames.
    pub fn new(geometry: &Geometry, maps: u32, data: u32, for_collection: bool) -> Self {
        let maps = MapPages::new(geometry, maps).deferring();
        Self::with(geometry, maps, (geometry.entries_per_page(), data), for_collection)
    }

    /// The same where an entry names a logical block, with all of its pages.
    pub fn of_blocks(geometry: &Geometry, maps: u32, data: u32) -> Self {
        let maps = MapPages::of(geometry, geometry.logical_blocks(), maps);
        let group = geometry.entries_per_page() * geometry.pages_per_block;
        Self::with(geometry, maps, (group, data), false)
    }

    fn with(
        geometry: &Geometry,
        maps: MapPages,
        (pages_per_map, data): (u32, u32),
        for_collection: bool,
    ) -> Self {
        let (slots, words_per_map) = (maps.capacity(), (pages_per_map as usize).div_ceil(64));
        Frames {
            maps,
            data: HeldPages::new(data, geometry.logical_pages),
            dirty: SlotLists::new(data),
            marks: zeroed(slots as usize * words_per_map),
            children: zeroed(slots as usize),
            words_per_map,
            pages_per_map,
            by_group: Divisor::new(pages_per_map),
            logical_pages: geometry.logical_pages,
            all_sectors: geometry.all_sectors(),
            for_collection,
        }
    }

    /// Pages of both kinds.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.maps.len() + self.data.len()
    }

    /// Data pages.
    pub fn data_pages(&self) -> u32 {
        self.data.len()
    }

    /// Data pages that are newer than flash.
    pub fn dirty_data(&self) -> u32 {
        self.data.dirty()
    }

    /// The frame of a cached data page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Slot> {
        self.data.find(lpn)
    }

    /// A cached data page.
    #[inline]
    pub fn get(&self, data: Slot) -> &Held {
        self.data.get(data)
    }

    /// The translation page above a cached data page, and the place of its entry there.
    #[inline]
    pub fn parent(&self, data: Slot) -> (Slot, u32) {
        let (part, offset) = self.by_group.both(self.get(data).lpn.0);
        (self.maps.find(part).expect("a data page hangs on its translation page"), offset)
    }

    /// The translation page that tells the place of a page.
    #[inline]
    pub fn part_of(&self, lpn: Lpn) -> u32 {
        self.by_group.quotient(lpn.0)
    }

    /// The page behind the last one of a group.
    pub fn end_of(&self, part: u32) -> u32 {
        (part * self.pages_per_map).saturating_add(self.pages_per_map).min(self.logical_pages)
    }

    /// Place of a page in its group.
    #[inline]
    pub fn offset(&self, lpn: Lpn) -> u32 {
        self.by_group.both(lpn.0).1
    }

    /// The page at a place of a group.
    #[inline]
    pub fn lpn(&self, map: Slot, offset: u32) -> Lpn {
        Lpn(self.maps.part(map) * self.pages_per_map + offset)
    }

    /// Cached data pages below a translation page.
    #[inline]
    pub fn children(&self, map: Slot) -> u32 {
        self.children[map.index()]
    }

    /// The first cached data page below a translation page, by offset, `last` behind all others.
    #[inline(always)]
    pub fn first_child(&self, map: Slot, last: Option<u32>) -> Option<u32> {
        let children = self.children(map);
        if children == 0 {
            return None;
        }
        let words = self.marks(map);
        let word_of = |offset: u32| offset as usize / 64;
        let bit_of = |offset: u32| 1 << (offset % 64);
        // Mostly the last one is the only one.
        if children == 1
            && let Some(last) = last
            && words[word_of(last)].cached & bit_of(last) != 0
        {
            return Some(last);
        }
        let first = |from: usize| {
            let index = from + words[from..].iter().position(|word| word.cached != 0)?;
            Some((index, words[index].cached))
        };
        let (mut index, mut word) = first(0)?;
        // Where there are several, one of the others comes before it.
        if let Some(last) = last.filter(|&last| children > 1 && word_of(last) == index) {
            word &= !bit_of(last);
            if word == 0 {
                (index, word) = first(index + 1)?;
            }
        }
        Some(index as u32 * 64 + word.trailing_zeros())
    }

    /// The first cached data page of a group at a place or behind it that is newer than flash.
    pub fn next_dirty(&self, map: Slot, from: u32) -> Option<u32> {
        let words = self.marks(map);
        let begin = from as usize / 64;
        (begin..self.words_per_map).find_map(|index| {
            let below = if index == begin { (1 << (from % 64)) - 1 } else { 0 };
            let left = words[index].newer & !below;
            (left != 0).then(|| index as u32 * 64 + left.trailing_zeros())
        })
    }

    /// The marks of a group.
    #[inline]
    fn marks(&self, map: Slot) -> &[Marks] {
        let first = map.index() * self.words_per_map;
        &self.marks[first..first + self.words_per_map]
    }

    #[inline]
    fn bit(&self, map: Slot, offset: u32) -> (usize, u64) {
        (map.index() * self.words_per_map + offset as usize / 64, 1 << (offset % 64))
    }

    /// Place of a page in its group, which is that of `map`.
    #[inline]
    pub fn offset_below(&self, lpn: Lpn, map: Slot) -> u32 {
        let offset = lpn.0.wrapping_sub(self.maps.part(map) * self.pages_per_map);
        assert!(offset < self.pages_per_map, "page {lpn} hangs on another translation page");
        offset
    }

    /// When the frame is free that the next data page takes; there must be room.
    #[inline]
    pub fn free_from(&self) -> Moment {
        self.data.free_from()
    }

    /// A data page takes a frame, empty, that is free from the returned moment on; there must be
    /// room. Its translation page is `map`.
    pub fn enter(&mut self, lpn: Lpn, map: Slot) -> (Slot, Moment) {
        let (word, bit) = self.bit(map, self.offset_below(lpn, map));
        self.children[map.index()] += 1;
        self.marks[word].cached |= bit;
        self.data.enter(lpn)
    }

    /// The host writes sectors of a page, which takes a frame for that, where `old` is what flash
    /// has of it, if that is here; there must be room. It hangs on `map`, at this place.
    #[inline(always)]
    pub fn enter_written(
        &mut self,
        lpn: Lpn,
        (map, offset): (Slot, u32),
        old: Option<Tag>,
        (tag, sectors): (Tag, u64),
        ready: When,
    ) -> Slot {
        let (before, here) = old.map_or((Tag(0), 0), |old| (old, u64::MAX));
        let tag = self.version((before, here), (tag, sectors));
        let sectors = here | sectors;
        let data = self.data.take(Held { lpn, tag, sectors, dirty: true, ready: ready.into() });
        self.dirty.push(0, data);
        self.children[map.index()] += 1;
        let (word, bit) = self.bit(map, offset);
        let marks = &mut self.marks[word];
        marks.cached |= bit;
        marks.newer |= bit;
        data
    }

    /// An empty frame takes what flash holds of its page.
    #[inline]
    pub fn fill(&mut self, data: Slot, tag: Tag, ready: When) {
        self.data.fill(data, tag, ready);
    }

    /// The host writes sectors of a cached data page.
    pub fn write(&mut self, data: Slot, tag: Tag, sectors: u64, ready: When) {
        let Held { tag: before, sectors: here, dirty, .. } = *self.data.get(data);
        let tag = self.version((before, here), (tag, sectors));
        self.data.write(data, tag, sectors, ready);
        if dirty {
            return self.dirty.renew(data);
        }
        self.dirty.push(0, data);
        let (word, bit) = self.bit_of(data);
        self.marks[word].newer |= bit;
    }

    /// The version of a page of which sectors are written: where what must stay of it cannot be
    /// read, the page remains lost as a whole.
    #[inline(always)]
    fn version(&self, (before, here): (Tag, u64), (tag, sectors): (Tag, u64)) -> Tag {
        let stays = here & !sectors & self.all_sectors;
        if before == Tag::UNREADABLE && stays != 0 { before } else { tag }
    }

    /// The bit of a cached data page.
    #[inline]
    fn bit_of(&self, data: Slot) -> (usize, u64) {
        let (map, offset) = self.parent(data);
        self.bit(map, offset)
    }

    /// Flash holds a cached data page now.
    pub fn written_out(&mut self, data: Slot) {
        if self.data.get(data).dirty {
            self.dirty.remove(data);
            let (word, bit) = self.bit_of(data);
            self.marks[word].newer &= !bit;
        }
        self.data.clean(data);
    }

    /// A data page leaves, newer than flash or not; the translation page that it hung on.
    pub fn leave(&mut self, data: Slot, ready: When) -> Slot {
        let place = self.parent(data);
        self.leave_place(data, place, ready);
        place.0
    }

    /// The same, its place being known.
    #[inline(always)]
    pub fn leave_place(&mut self, data: Slot, (map, offset): (Slot, u32), ready: When) {
        debug_assert_eq!(self.parent(data), (map, offset));
        self.children[map.index()] -= 1;
        let (word, bit) = self.bit(map, offset);
        let marks = &mut self.marks[word];
        marks.cached &= !bit;
        marks.newer &= !bit;
        if self.data.get(data).dirty {
            self.dirty.remove(data);
        }
        self.data.leave(data, ready);
    }

    /// The data page newer than flash that was written longest ago.
    pub fn oldest_dirty(&self) -> Option<Slot> {
        self.dirty.oldest(0)
    }

    /// Every data page newer than flash, that written longest ago first.
    pub fn dirty(&self) -> impl Iterator<Item = &Held> + '_ {
        self.dirty.from_oldest(0).map(|data| self.data.get(data))
    }

    /// Whether counts, bits and pages agree.
    pub fn self_check(&self) -> Result<(), String> {
        self.data.self_check()?;
        let bits: u32 = self.marks.iter().map(|word| word.cached.count_ones()).sum();
        if bits != self.data.len() || self.children.iter().sum::<u32>() != bits {
            return Err(format!(
                "{bits} entries say that their page is cached, {}",
                self.data.len()
            ));
        }
        for data in self.data.all() {
            let held = self.data.get(data);
            let Some(map) = self.maps.find(self.part_of(held.lpn)) else {
                return Err(format!("page {} is cached without its translation page", held.lpn));
            };
            let (word, bit) = self.bit(map, self.offset(held.lpn));
            if self.marks[word].cached & bit == 0 {
                return Err(format!("page {} is cached, its entry does not say so", held.lpn));
            }
            if (self.marks[word].newer & bit != 0) != held.dirty {
                return Err(format!("page {} has the wrong mark of a change", held.lpn));
            }
        }
        let marks: u32 = self.marks.iter().map(|word| word.newer.count_ones()).sum();
        if self.dirty.len(0) != self.data.dirty() || marks != self.data.dirty() {
            return Err(format!("{} changed pages are listed", self.dirty.len(0)));
        }
        Ok(())
    }

    /// The data pages.
    pub fn data(&self) -> impl Iterator<Item = &Held> + '_ {
        self.data.all().map(|data| self.data.get(data))
    }
}

impl MapCache for Frames {
    #[inline(always)]
    fn look(&self, lpn: Lpn) -> Known {
        self.maps.look(lpn)
    }

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.maps.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.maps.is_dirty(lpn)
    }

    fn first_dirty(&self, lpns: std::ops::Range<u32>) -> Option<Lpn> {
        self.maps.first_dirty(lpns)
    }

    #[inline]
    fn each_dirty(&self, lpns: std::ops::Range<u32>, each: impl FnMut(Lpn, Option<Ppn>, bool)) {
        self.maps.each_dirty(lpns, each);
    }

    #[inline]
    fn take_dirty(&mut self, lpns: std::ops::Range<u32>, words: &mut [u32]) -> u32 {
        self.maps.take_dirty(lpns, words)
    }

    #[inline]
    fn clean_places(&mut self, first: Lpn, places: impl Iterator<Item = u32>) {
        self.maps.clean_places(first, places);
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.maps.change(lpn, ppn);
    }

    #[inline(always)]
    fn exchange(&mut self, lpn: Lpn, ppn: Option<Ppn>) -> Known {
        self.maps.exchange(lpn, ppn)
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.maps.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.maps.changed()
    }

    fn hands_over(&self) -> bool {
        self.for_collection
    }

    fn newer(&self, lpn: Lpn) -> Option<Newer> {
        let held = self.data.get(self.find(lpn)?);
        let sectors = held.sectors & self.all_sectors;
        held.dirty.then_some(Newer { tag: held.tag, sectors, ready: held.ready })
    }

    fn wrote_newer(&mut self, lpn: Lpn) {
        let data = self.find(lpn).expect("collection found it here");
        self.written_out(data);
    }

    fn prefers_cached(&self) -> bool {
        self.for_collection
    }
}

#[cfg(test)]
mod tests;
