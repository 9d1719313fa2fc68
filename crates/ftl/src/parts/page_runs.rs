//! Map entries in memory that cover runs: consecutive logical pages in consecutive physical pages,
//! in order of use. Runs do not overlap and do not leave their translation page.
//!
//! What this is not: a judge of which run is loaded, or of when one leaves (its owner's business).

use crate::parts::slots::Slot;
use crate::parts::slots::slab::Slab;
use crate::parts::slots::slot_list::SlotLists;
use crate::parts::translation::goes_on;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};

/// One entry.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// First logical page.
    pub first: u32,
    /// How many it covers.
    pub count: u32,
    /// Physical page of the first, plus one; 0: none of them is anywhere.
    head: u32,
    /// When the entry was there.
    pub ready: When,
}

impl Run {
    #[inline]
    fn end(&self) -> u32 {
        self.first + self.count
    }

    #[inline]
    fn word(&self, lpn: u32) -> u32 {
        if self.head == 0 { 0 } else { self.head + (lpn - self.first) }
    }
}

/// The runs in memory.
#[derive(Clone, Debug)]
pub struct PageRuns {
    /// Slot of the run that begins at a page, plus one.
    slot_of: Vec<u32>,
    /// A bit per page at which a run begins.
    begins: Vec<u64>,
    /// A bit per page whose entry differs from flash.
    dirty: Vec<u64>,
    runs: Slab<Run>,
    order: SlotLists<1>,
    /// Pages that an entry covers at most.
    longest: u32,
    entries_per_page: u32,
}

impl PageRuns {
    /// Empty. Collection may split runs before anything can leave: there is place for an entry per
    /// page that can be `covered`.
    pub fn new(geometry: &Geometry, longest: u32, covered: u64) -> Self {
        let pages = geometry.logical_pages as usize;
        let most = covered.min(u64::from(geometry.logical_pages)) as u32;
        PageRuns {
            slot_of: zeroed(pages),
            begins: zeroed(pages.div_ceil(64)),
            dirty: zeroed(pages.div_ceil(64)),
            runs: Slab::new(most),
            order: SlotLists::new(most),
            longest,
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// Entries in memory.
    #[inline]
    pub fn len(&self) -> u32 {
        self.order.len(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry that covers a page.
    #[inline]
    pub fn find(&self, lpn: u32) -> Option<Slot> {
        let mut word = lpn as usize / 64;
        let mut bits = self.begins[word] & (u64::MAX >> (63 - lpn % 64));
        let lowest = lpn.saturating_sub(self.longest - 1) as usize;
        while bits == 0 {
            if word * 64 <= lowest {
                return None;
            }
            word -= 1;
            bits = self.begins[word];
        }
        let first = word * 64 + 63 - bits.leading_zeros() as usize;
        let slot = unpack(self.slot_of[first]).map(Slot).expect("a run begins here");
        (lpn < self.runs[slot].end()).then_some(slot)
    }

    /// What an entry says.
    #[inline]
    pub fn run(&self, slot: Slot) -> &Run {
        &self.runs[slot]
    }

    /// Physical page of a covered page.
    #[inline]
    pub fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        let slot = self.find(lpn.0)?;
        Some(unpack(self.runs[slot].word(lpn.0)).map(Ppn))
    }

    /// The entry is used.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        self.order.renew(slot);
    }

    /// The entry used longest ago.
    pub fn oldest(&self) -> Slot {
        self.order.oldest(0).expect("an entry is in memory")
    }

    /// Pages, from one that is not covered, up to the end of its translation page, of the longest
    /// run, or the next covered one.
    fn room_for_run(&self, lpn: u32, end: u32) -> u32 {
        let end = end.min(lpn + self.longest);
        (lpn..end).take_while(|&page| self.slot_of[page as usize] == 0).count() as u32
    }

    /// Takes in an entry for a page that is not covered, with the pages behind it that go on with
    /// it, as far as its translation page goes (`end`). `word` tells what flash says of each,
    /// physical page plus one.
    pub fn add(&mut self, first: u32, end: u32, word: impl Fn(u32) -> u32, ready: When) {
        let behind = first + 1..first + self.room_for_run(first, end);
        let on = behind.take_while(|&next| goes_on(word(next - 1), word(next)));
        let count = 1 + on.count() as u32;
        let _ = self.add_run(Run { first, count, head: word(first), ready });
    }

    fn add_run(&mut self, run: Run) -> Slot {
        debug_assert!(run.count > 0 && run.count <= self.longest);
        let slot = self.runs.add(run);
        self.slot_of[run.first as usize] = pack(Some(slot.0));
        self.begins[run.first as usize / 64] |= 1 << (run.first % 64);
        self.order.push(0, slot);
        slot
    }

    /// Drops an entry; flash must know what it says.
    pub fn remove(&mut self, slot: Slot) {
        let first = self.runs[slot].first;
        self.slot_of[first as usize] = 0;
        self.begins[first as usize / 64] &= !(1 << (first % 64));
        self.order.remove(slot);
        self.runs.remove(slot);
    }

    /// Whether a page's entry differs from flash.
    #[inline]
    pub fn is_dirty(&self, lpn: u32) -> bool {
        self.dirty[lpn as usize / 64] & (1 << (lpn % 64)) != 0
    }

    /// Whether any page of an entry differs from flash.
    pub fn is_changed(&self, slot: Slot) -> bool {
        let run = self.runs[slot];
        (run.first..run.end()).any(|lpn| self.is_dirty(lpn))
    }

    /// Flash says what memory says.
    #[inline]
    pub fn clean(&mut self, lpn: u32) {
        self.dirty[lpn as usize / 64] &= !(1 << (lpn % 64));
    }

    /// Every page whose entry differs from flash.
    pub fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        let words = self.dirty.iter().enumerate().filter(|(_, word)| **word != 0);
        let pages = words.flat_map(|(index, word)| {
            let bits = (0..64).filter(move |bit| word & (1 << bit) != 0);
            bits.map(move |bit| Lpn(index as u32 * 64 + bit))
        });
        pages.map(|lpn| (lpn, self.entry(lpn).expect("a changed entry is in memory")))
    }

    /// A page's entry changes, and differs from flash from now on. A run that is broken in the
    /// middle becomes up to three; one that is continued grows; one that stays alone keeps its
    /// place in the order of use.
    pub fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let word = pack(ppn.map(|ppn| ppn.0));
        self.dirty[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        let Some(slot) = self.find(lpn.0) else {
            return self.put(lpn.0, word, When::START);
        };
        let is_alone = self.runs[slot].count == 1;
        if is_alone && self.left_of(lpn.0, word).is_none() && self.right_of(lpn.0, word).is_none() {
            self.runs[slot].head = word;
        } else {
            let ready = self.cut(slot, lpn.0);
            self.put(lpn.0, word, ready);
        }
    }

    /// A page that is not covered is, unchanged.
    pub fn cover(&mut self, lpn: Lpn, ppn: Option<Ppn>, ready: When) {
        self.put(lpn.0, pack(ppn.map(|ppn| ppn.0)), ready);
    }

    /// Takes a page out of its run; what is left of it are up to two.
    fn cut(&mut self, slot: Slot, lpn: u32) -> When {
        let run = self.runs[slot];
        let left = lpn - run.first;
        if left > 0 {
            self.runs[slot].count = left;
        } else {
            self.remove(slot);
        }
        if lpn + 1 < run.end() {
            let count = run.end() - lpn - 1;
            self.add_run(Run { first: lpn + 1, count, head: run.word(lpn + 1), ready: run.ready });
        }
        run.ready
    }

    /// The run before a page that the page would go on with.
    fn left_of(&self, lpn: u32, word: u32) -> Option<Slot> {
        if lpn.is_multiple_of(self.entries_per_page) {
            return None;
        }
        let run = |slot: Slot| &self.runs[slot];
        let goes_on = |slot: &Slot| goes_on(run(*slot).word(lpn - 1), word);
        self.find(lpn - 1).filter(|&slot| run(slot).count < self.longest).filter(goes_on)
    }

    /// The run behind a page that would go on with the page.
    fn right_of(&self, lpn: u32, word: u32) -> Option<Slot> {
        let next = lpn + 1;
        if next.is_multiple_of(self.entries_per_page) || next as usize >= self.slot_of.len() {
            return None;
        }
        let right = unpack(self.slot_of[next as usize]).map(Slot)?;
        let run = &self.runs[right];
        (run.count < self.longest && goes_on(word, run.head)).then_some(right)
    }

    /// Covers a page that is not, going on with the runs beside it where that is possible.
    fn put(&mut self, lpn: u32, word: u32, ready: When) {
        let slot = match self.left_of(lpn, word) {
            Some(slot) => {
                let run = &mut self.runs[slot];
                run.count += 1;
                run.ready = run.ready.join(ready);
                self.touch(slot);
                slot
            }
            None => self.add_run(Run { first: lpn, count: 1, head: word, ready }),
        };
        if let Some(right) = self.right_of(lpn, word) {
            let behind = self.runs[right];
            let run = &mut self.runs[slot];
            if run.count + behind.count <= self.longest {
                run.count += behind.count;
                run.ready = run.ready.join(behind.ready);
                self.remove(right);
            }
        }
    }

    /// No page is covered twice, no run leaves its translation page, every changed page is covered.
    pub fn self_check(&self) -> Result<(), String> {
        let mut covered_to = 0;
        let mut counted = 0;
        for first in 0..self.slot_of.len() as u32 {
            let begins = self.begins[first as usize / 64] & (1 << (first % 64)) != 0;
            let slot = unpack(self.slot_of[first as usize]).map(Slot);
            if begins != slot.is_some() {
                return Err(format!("page {first}: bit and entry disagree whether a run begins"));
            }
            if let Some(slot) = slot {
                let run = self.runs[slot];
                let last = run.end() - 1;
                let stays = first / self.entries_per_page == last / self.entries_per_page;
                if run.first != first || first < covered_to || !stays || run.count > self.longest {
                    return Err(format!("a run is wrong at page {first}: {run:?}"));
                }
                covered_to = run.end();
                counted += 1;
            }
            if self.is_dirty(first) && first >= covered_to {
                return Err(format!("page {first} is changed and not covered"));
            }
        }
        if counted != self.len() {
            return Err(format!("{counted} runs there, {} known", self.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;
    use std::collections::BTreeMap;

    fn runs(longest: u32) -> PageRuns {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        config.device.pages_per_block = 4;
        config.device.blocks_per_plane = 80;
        PageRuns::new(&Geometry::new(&config.device), longest, 200)
    }

    fn shape(runs: &PageRuns) -> Vec<(u32, u32)> {
        let begins = (0..200).filter_map(|page| unpack(runs.slot_of[page as usize]));
        begins.map(|slot| (runs.run(Slot(slot)).first, runs.run(Slot(slot)).count)).collect()
    }

    #[test]
    fn a_write_in_the_middle_of_a_run_makes_three_and_sequential_writes_make_one() {
        let mut runs = runs(64);
        runs.add(10, 30, |lpn| 91 + lpn, When::START);
        runs.change(Lpn(15), Some(Ppn(500)));
        assert_eq!(shape(&runs), [(10, 5), (15, 1), (16, 14)]);
        assert_eq!(runs.entry(Lpn(16)), Some(Some(Ppn(106))));
        runs.change(Lpn(16), Some(Ppn(501)));
        assert_eq!(shape(&runs), [(10, 5), (15, 2), (17, 13)], "it goes on with page 15");
        runs.change(Lpn(10), Some(Ppn(600)));
        assert_eq!(shape(&runs), [(10, 1), (11, 4), (15, 2), (17, 13)], "at its end, two");
        runs.change(Lpn(15), Some(Ppn(105)));
        runs.change(Lpn(16), Some(Ppn(106)));
        assert_eq!(shape(&runs), [(10, 1), (11, 19)], "closed again from both sides");
        // The end of a translation page (128 entries) ends a run.
        (120..136).for_each(|page| runs.change(Lpn(page), Some(Ppn(page))));
        assert_eq!(shape(&runs)[2..], [(120, 8), (128, 8)]);
    }

    /// Against a plain map, for several lengths.
    #[test]
    fn runs_say_what_single_entries_would() {
        for longest in [1, 4, 64] {
            let mut runs = runs(longest);
            let mut model: BTreeMap<u32, Option<Ppn>> = BTreeMap::new();
            let mut rng = Rng::new(7, Purpose::Workload);
            for _ in 0..20_000 {
                let lpn = rng.below(200);
                if rng.below(40) == 0 && !runs.is_empty() {
                    let slot = runs.oldest();
                    let run = *runs.run(slot);
                    for page in run.first..run.end() {
                        runs.clean(page);
                        model.remove(&page).expect("it was covered");
                    }
                    runs.remove(slot);
                } else {
                    let next = Ppn(1000 + lpn);
                    let ppn = [None, Some(next), Some(next), Some(Ppn(rng.below(50)))];
                    let ppn = ppn[rng.below(4) as usize];
                    runs.change(Lpn(lpn), ppn);
                    model.insert(lpn, ppn);
                }
                let lpn = rng.below(200);
                assert_eq!(runs.entry(Lpn(lpn)), model.get(&lpn).copied());
                if rng.below(20) == 0 {
                    runs.self_check().expect("sound");
                    let changed: Vec<_> = runs.changed().collect();
                    assert_eq!(changed.len(), model.len(), "everything was changed");
                }
            }
        }
    }

    /// Pages 10 and 11 as flash says, page 20, which is changed, and page 70, which is not covered
    /// before.
    #[test]
    fn a_run_is_changed_where_a_page_of_it_is_and_the_oldest_until_it_is_used() {
        let mut runs = runs(64);
        assert!(runs.is_empty());
        runs.add(10, 12, |lpn| 91 + lpn, When::START);
        runs.add(20, 21, |lpn| 91 + lpn, When::START);
        assert!(!runs.is_empty());
        let [first, second] = [10, 20].map(|lpn| runs.find(lpn).expect("it is covered"));
        assert_eq!(runs.oldest(), first);
        runs.touch(first);
        assert_eq!(runs.oldest(), second);
        runs.change(Lpn(20), Some(Ppn(9)));
        runs.change(Lpn(70), Some(Ppn(8)));
        let dirty = [6, 10, 19, 20, 70].map(|lpn| runs.is_dirty(lpn));
        assert_eq!(dirty, [false, false, false, true, true]);
        assert_eq!([first, second].map(|slot| runs.is_changed(slot)), [false, true]);
        // What flash says goes on with what is here.
        runs.cover(Lpn(12), Some(Ppn(102)), When::START);
        assert_eq!(shape(&runs), [(10, 3), (20, 1), (70, 1)]);
        assert_eq!((runs.entry(Lpn(12)), runs.is_dirty(12)), (Some(Some(Ppn(102))), false));
        runs.self_check().expect("sound");
    }

    /// Entries of four pages at most: of twenty that go on four are one. A page that stays alone
    /// keeps its place in the order of use, though it goes on with a run that is as long as one may
    /// be.
    #[test]
    fn a_run_is_no_longer_than_allowed() {
        let mut runs = runs(4);
        runs.add(11, 31, |lpn| 91 + lpn, When::START);
        runs.change(Lpn(10), Some(Ppn(7)));
        assert_eq!(shape(&runs), [(10, 1), (11, 4)]);
        let [alone, whole] = [10, 11].map(|lpn| runs.find(lpn).expect("it is covered"));
        runs.touch(whole);
        runs.change(Lpn(10), Some(Ppn(100)));
        assert_eq!(runs.entry(Lpn(11)), Some(Some(Ppn(101))), "which 10 would go on with");
        assert_eq!((shape(&runs), runs.oldest()), (vec![(10, 1), (11, 4)], alone));
    }
}
