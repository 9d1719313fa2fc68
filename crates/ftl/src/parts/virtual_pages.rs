//! Numbers for pages of flash that several logical pages share: who shares a page has the number,
//! and the number has the page, so that the page moves by one entry. Each has a count of
//! references, of one byte: a page that reaches the most that is counted is *stuck*, since nobody
//! can tell any more when its last reference is gone, and lives on until its references are counted
//! anew.
//!
//! What this is not: a list of who shares a page, which nobody keeps.

use ftlab_flash::units::{Ppn, pack, unpack, zeroed};

/// Bytes of a number: its page, its count, and the next in the list of those that are free or rest.
pub const NUMBER_BYTES: u64 = 4 + 1 + 4;
/// Bytes that find the number of a page.
pub const INDEX_BYTES: u64 = 8;

/// Virtual numbers, from 0 on.
#[derive(Clone, Debug)]
pub struct VirtualPages {
    /// Physical page of each number, plus one; 0: the number is free.
    pages: Vec<u32>,
    references: Vec<u8>,
    /// Most references that are counted.
    most: u8,
    /// Numbers that were in use and are free again; those from `fresh` on never were in use.
    free: Vec<u32>,
    fresh: u32,
    /// Numbers that nobody has any more, while flash may still say otherwise.
    resting: Vec<u32>,
    /// Number of each physical page, plus one.
    of_page: Vec<u32>,
    /// Stuck pages that nobody has any more: more than a drive knows.
    unreclaimed: u32,
    /// How often somebody has left a stuck page since references were counted.
    departures: u64,
}

impl VirtualPages {
    /// None in use of so many, which count up to `most` references each.
    pub fn new(numbers: u32, most: u8, physical_pages: u32) -> Self {
        VirtualPages {
            pages: zeroed(numbers as usize),
            references: zeroed(numbers as usize),
            most,
            free: Vec::with_capacity(numbers as usize),
            fresh: 0,
            resting: Vec::with_capacity(numbers as usize),
            of_page: zeroed(physical_pages as usize),
            unreclaimed: 0,
            departures: 0,
        }
    }

    /// How many there are.
    pub fn numbers(&self) -> u32 {
        self.pages.len() as u32
    }

    /// How many are in use.
    pub fn in_use(&self) -> u32 {
        self.fresh - (self.free.len() + self.resting.len()) as u32
    }

    /// Whether a number is free once flash knows who has left those that rest.
    pub fn waits_for_rest(&self) -> bool {
        self.fresh == self.numbers() && self.free.is_empty() && !self.resting.is_empty()
    }

    /// Flash knows of all who have left their numbers.
    pub fn rested(&mut self) {
        self.free.append(&mut self.resting);
    }

    /// The number of a physical page.
    #[inline]
    pub fn of(&self, ppn: Ppn) -> Option<u32> {
        unpack(self.of_page[ppn.index()])
    }

    /// The page of a number.
    #[inline]
    pub fn page(&self, number: u32) -> Option<Ppn> {
        unpack(self.pages[number as usize]).map(Ppn)
    }

    /// Every number in use, with its page.
    pub fn all(&self) -> impl Iterator<Item = (u32, Ppn)> + '_ {
        (0..self.fresh).filter_map(|number| Some((number, self.page(number)?)))
    }

    /// A page that one logical page has gets a number; none where none is free.
    pub fn add(&mut self, ppn: Ppn) -> Option<u32> {
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.fresh < self.numbers() => {
                self.fresh += 1;
                self.fresh - 1
            }
            None => return None,
        };
        self.put(number, ppn, 1);
        Some(number)
    }

    fn put(&mut self, number: u32, ppn: Ppn, references: u64) {
        assert!(self.of(ppn).is_none(), "page {ppn} has a number");
        self.pages[number as usize] = pack(Some(ppn.0));
        self.of_page[ppn.index()] = pack(Some(number));
        self.references[number as usize] = references.min(u64::from(self.most)) as u8;
    }

    /// Takes over what was found after a power cut: each number in use, its page, and how many have
    /// it.
    pub fn restore(&mut self, found: impl Iterator<Item = (u32, Ppn, u64)>) {
        for (number, ppn, references) in found {
            self.free.extend(self.fresh..number);
            self.fresh = number + 1;
            self.put(number, ppn, references);
        }
    }

    /// One more has a number.
    pub fn joined(&mut self, number: u32, had_nobody: bool) {
        let references = &mut self.references[number as usize];
        *references = references.saturating_add(1).min(self.most);
        self.unreclaimed -= u32::from(had_nobody);
    }

    /// One less has the number, the last of them if `is_last`: whether its page is free.
    pub fn left(&mut self, number: u32, is_last: bool) -> bool {
        if self.is_stuck(number) {
            self.unreclaimed += u32::from(is_last);
            self.departures += 1;
            return false;
        }
        self.references[number as usize] -= 1;
        let is_free = self.references[number as usize] == 0;
        assert!(is_free == is_last, "number {number} counts other references than there are");
        if is_free {
            self.free(number);
        }
        is_free
    }

    fn free(&mut self, number: u32) {
        let page = unpack(std::mem::take(&mut self.pages[number as usize]));
        self.of_page[page.expect("a number in use has a page") as usize] = 0;
        self.references[number as usize] = 0;
        self.resting.push(number);
    }

    /// References that are counted.
    pub fn references(&self, number: u32) -> u64 {
        u64::from(self.references[number as usize])
    }

    /// Whether nobody can tell when the last reference of a number is gone.
    #[inline]
    pub fn is_stuck(&self, number: u32) -> bool {
        self.references[number as usize] == self.most
    }

    /// Stuck pages that nobody has any more.
    pub fn unreclaimed(&self) -> u32 {
        self.unreclaimed
    }

    /// Whether more than so many stuck pages may have nobody: a page that was stuck when references
    /// were counted, or got so since, had the most that is counted, and each of them has left it.
    pub fn may_exceed(&self, unreclaimed: u32) -> bool {
        self.departures >= u64::from(self.most) * (u64::from(unreclaimed) + 1)
    }

    /// References are about to be counted.
    pub fn count_begins(&mut self) {
        self.departures = 0;
    }

    /// References of stuck numbers from `from` on are counted anew: `count` says how many have a
    /// page. The next number whose page nobody has, and that page, which is free now; none when all
    /// have been counted.
    pub fn recount(&mut self, from: u32, count: impl Fn(Ppn) -> u64) -> Option<(u32, Ppn)> {
        for number in from..self.fresh {
            let Some(ppn) = self.page(number) else { continue };
            if !self.is_stuck(number) {
                continue;
            }
            let references = count(ppn);
            self.references[number as usize] = references.min(u64::from(self.most)) as u8;
            if references == 0 {
                self.unreclaimed -= 1;
                self.free(number);
                return Some((number, ppn));
            }
        }
        None
    }

    /// A page was copied.
    #[inline]
    pub fn moved(&mut self, old: Ppn, new: Ppn) {
        let number = std::mem::take(&mut self.of_page[old.index()]);
        if let Some(number) = unpack(number) {
            self.of_page[new.index()] = pack(Some(number));
            self.pages[number as usize] = pack(Some(new.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// Against a plain table of who has which page.
    #[test]
    fn numbers_are_what_a_plain_table_says() {
        const MOST: u8 = 3;
        let mut rng = Rng::new(5, Purpose::Workload);
        let mut virtuals = VirtualPages::new(6, MOST, 40);
        // Page, true count of references, and whether more were there than are counted.
        let mut plain: Vec<Option<(Ppn, u64, bool)>> = vec![None; 6];
        for step in 0..20_000 {
            let number = rng.below(6);
            let ppn = Ppn(rng.below(40));
            let is_taken = plain.iter().flatten().any(|&(page, ..)| page == ppn);
            match (rng.below(5), &mut plain[number as usize]) {
                (0, _) if !is_taken => {
                    virtuals.rested();
                    let added = virtuals.add(ppn);
                    assert_eq!(added.is_some(), plain.iter().any(Option::is_none), "step {step}");
                    if let Some(added) = added {
                        assert!(plain[added as usize].is_none(), "step {step}");
                        plain[added as usize] = Some((ppn, 1, false));
                    }
                }
                (1, Some((_, count, is_stuck))) => {
                    virtuals.joined(number, *count == 0);
                    *count += 1;
                    *is_stuck |= *count >= u64::from(MOST);
                }
                (2 | 3, Some((_, count, is_stuck))) if *count > 0 => {
                    *count -= 1;
                    let dies = *count == 0 && !*is_stuck;
                    assert_eq!(virtuals.left(number, *count == 0), dies, "step {step}");
                    if dies {
                        plain[number as usize] = None;
                    }
                }
                (4, Some((page, ..))) if !is_taken => {
                    virtuals.moved(*page, ppn);
                    *page = ppn;
                }
                _ if step % 50 == 0 => {
                    let counts = plain.clone();
                    let count = |ppn| {
                        let held = counts.iter().flatten().find(|&&(page, ..)| page == ppn);
                        held.expect("a number in use has a page").1
                    };
                    let mut from = 0;
                    virtuals.count_begins();
                    while let Some((freed, page)) = virtuals.recount(from, count) {
                        let held = plain[freed as usize].take();
                        assert_eq!(held.map(|one| (one.0, one.1)), Some((page, 0)), "step {step}");
                        from = freed + 1;
                    }
                    for held in plain.iter_mut().flatten() {
                        assert!(held.1 > 0, "step {step}: page {} is to be free", held.0);
                        held.2 = held.1 >= u64::from(MOST);
                    }
                }
                _ => {}
            }
            for (number, held) in (0..).zip(&plain) {
                assert_eq!(virtuals.page(number), held.map(|held| held.0), "step {step}");
                if let Some((ppn, _, is_stuck)) = *held {
                    assert_eq!(virtuals.of(ppn), Some(number));
                    assert_eq!(virtuals.is_stuck(number), is_stuck, "step {step}");
                }
            }
            let dead = plain.iter().flatten().filter(|held| held.1 == 0).count();
            assert_eq!(virtuals.unreclaimed() as usize, dead, "step {step}");
            assert!(dead == 0 || virtuals.may_exceed(dead as u32 - 1), "step {step}");
            assert_eq!(virtuals.in_use() as usize, plain.iter().flatten().count());
        }
    }

    #[test]
    fn a_number_rests_until_flash_knows() {
        let mut virtuals = VirtualPages::new(1, 9, 9);
        assert_eq!((virtuals.add(Ppn(3)), virtuals.waits_for_rest()), (Some(0), false));
        assert!(virtuals.left(0, true));
        assert_eq!((virtuals.add(Ppn(4)), virtuals.waits_for_rest()), (None, true));
        virtuals.rested();
        assert_eq!((virtuals.add(Ppn(4)), virtuals.waits_for_rest()), (Some(0), false));
    }

    #[test]
    fn numbers_that_are_found_again_leave_the_others_free() {
        let mut virtuals = VirtualPages::new(4, 255, 9);
        virtuals.restore([(1, Ppn(7), 2), (3, Ppn(5), 300)].into_iter());
        assert_eq!(virtuals.all().collect::<Vec<_>>(), [(1, Ppn(7)), (3, Ppn(5))]);
        assert!(!virtuals.is_stuck(1) && virtuals.is_stuck(3));
        let added: Vec<Option<u32>> = [1, 2, 3].map(|page| virtuals.add(Ppn(page))).to_vec();
        assert!(added.contains(&Some(0)) && added.contains(&Some(2)) && added[2].is_none());
    }

    /// One of two numbers rests: there is another to be taken.
    #[test]
    fn nobody_waits_for_rest_while_a_number_is_fresh() {
        let mut virtuals = VirtualPages::new(2, 9, 9);
        assert_eq!(virtuals.add(Ppn(3)), Some(0));
        assert!(virtuals.left(0, true));
        assert!(!virtuals.waits_for_rest());
        assert_eq!(virtuals.add(Ppn(3)), Some(1));
    }

    /// Up to three references are counted. A stuck page that nobody has was left three times: after
    /// three departures there may be one, not two, until references are counted anew.
    #[test]
    fn a_stuck_page_without_owners_was_left_as_often_as_is_counted() {
        let mut virtuals = VirtualPages::new(2, 3, 9);
        assert_eq!(virtuals.add(Ppn(3)), Some(0));
        assert_eq!(virtuals.references(0), 1);
        [2, 3, 3].into_iter().for_each(|references| {
            virtuals.joined(0, false);
            assert_eq!(virtuals.references(0), references);
        });
        for departures in 0..3 {
            assert!(!virtuals.may_exceed(0), "{departures} have left");
            assert!(!virtuals.left(0, false));
        }
        assert_eq!([0, 1].map(|unreclaimed| virtuals.may_exceed(unreclaimed)), [true, false]);
        virtuals.count_begins();
        assert!(!virtuals.may_exceed(0));
    }
}
