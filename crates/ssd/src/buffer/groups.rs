//! Buffered pages by neighbourhood: the pages of one logical block, or of one translation page.
//! Groups are kept in order of use; what leaves together is a group or a part of it.

use super::Leaving;
use ftlab_flash::units::{Divisor, Lpn, pack, unpack, zeroed};
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;

/// Groups of buffered pages, each in a slot while it has a page.
#[derive(Clone)]
pub(crate) struct Groups {
    size: Divisor,
    pages_per_group: u32,
    /// Words of a group's bitmap.
    words: usize,
    /// Slot of each group, plus one.
    slot_of: Vec<u32>,
    /// Number of the group in each slot.
    number: Vec<u32>,
    /// Buffered pages of the group in each slot.
    count: Vec<u32>,
    /// One bit per page of the group in each slot.
    here: Vec<u64>,
    order: SlotLists<1>,
    free: Vec<u32>,
    used: u32,
}

/// A page that entered or left its group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    /// Slot of the group.
    pub group: Slot,
    /// Pages that the group has now; none: it gave up its slot.
    pub count: u32,
}

impl Groups {
    /// No groups; at most `most` at once, of `pages_per_group` pages each.
    pub fn new(most: u32, pages_per_group: u32, logical_pages: u32) -> Self {
        let words = pages_per_group.div_ceil(64) as usize;
        Groups {
            size: Divisor::new(pages_per_group),
            pages_per_group,
            words,
            slot_of: zeroed(logical_pages.div_ceil(pages_per_group) as usize),
            number: zeroed(most as usize),
            count: zeroed(most as usize),
            here: zeroed(most as usize * words),
            order: SlotLists::new(most),
            free: Vec::with_capacity(most as usize),
            used: 0,
        }
    }

    /// Pages of a group, buffered or not.
    pub fn pages_per_group(&self) -> u32 {
        self.pages_per_group
    }

    /// Groups with a buffered page.
    pub fn len(&self) -> u32 {
        self.order.len(0)
    }

    /// The slot of a buffered page's group, and the page's place in the group.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> (Slot, u32) {
        let (number, offset) = self.size.both(lpn.0);
        let slot = unpack(self.slot_of[number as usize]).expect("the page's group has a page");
        (Slot(slot), offset)
    }

    /// Buffered pages of a group.
    pub fn count(&self, group: Slot) -> u32 {
        self.count[group.index()]
    }

    /// First page of a group, buffered or not.
    pub fn first(&self, group: Slot) -> Lpn {
        Lpn(self.number[group.index()] * self.pages_per_group)
    }

    /// A page enters; a group's first page makes the group the one used last.
    pub fn enter(&mut self, lpn: Lpn) -> Membership {
        let (number, offset) = self.size.both(lpn.0);
        let slot = match unpack(self.slot_of[number as usize]) {
            Some(slot) => slot,
            None => {
                let slot = self.free.pop().unwrap_or(self.used);
                self.used = self.used.max(slot + 1);
                self.slot_of[number as usize] = pack(Some(slot));
                self.number[slot as usize] = number;
                self.order.push(0, Slot(slot));
                slot
            }
        };
        let (word, bit) = (offset as usize / 64, 1u64 << (offset % 64));
        let word = &mut self.here[slot as usize * self.words + word];
        assert!(*word & bit == 0, "page {lpn} entered twice");
        *word |= bit;
        self.count[slot as usize] += 1;
        Membership { group: Slot(slot), count: self.count[slot as usize] }
    }

    /// A page leaves.
    pub fn leave(&mut self, lpn: Lpn) -> Membership {
        let (slot, offset) = self.of(lpn);
        let (word, bit) = (offset as usize / 64, 1u64 << (offset % 64));
        let word = &mut self.here[slot.index() * self.words + word];
        assert!(*word & bit != 0, "page {lpn} left without having entered");
        *word &= !bit;
        self.count[slot.index()] -= 1;
        let count = self.count[slot.index()];
        if count == 0 {
            self.order.remove(slot);
            self.slot_of[self.number[slot.index()] as usize] = 0;
            self.free.push(slot.0);
        }
        Membership { group: slot, count }
    }

    /// A group becomes the one used last.
    #[inline]
    pub fn touch(&mut self, group: Slot) {
        self.order.remove(group);
        self.order.push(0, group);
    }

    /// A group becomes the one used longest ago.
    pub fn age(&mut self, group: Slot) {
        self.order.remove(group);
        self.order.push_oldest(0, group);
    }

    /// The group used longest ago.
    pub fn oldest(&self) -> Option<Slot> {
        self.order.oldest(0)
    }

    /// First page and number of pages of a group on a device of so many.
    pub fn range(&self, group: Slot, logical_pages: u32) -> (Lpn, u32) {
        let first = self.first(group);
        (first, self.pages_per_group.min(logical_pages - first.0))
    }

    /// All buffered pages of a group leave, upwards.
    pub fn leave_whole(&self, group: Slot, pages: &HeldPages, leaving: &mut Leaving) {
        let slot = |lpn| pages.find(lpn).expect("pages of groups are buffered");
        leaving.slots.extend(self.pages(group).map(slot));
    }

    /// The buffered pages of a group, upwards.
    pub fn pages(&self, group: Slot) -> impl Iterator<Item = Lpn> + '_ {
        let first = self.first(group).0;
        let words = &self.here[group.index() * self.words..][..self.words];
        (0..self.pages_per_group)
            .filter(|&offset| words[offset as usize / 64] >> (offset % 64) & 1 == 1)
            .map(move |offset| Lpn(first + offset))
    }

    /// Whether the groups hold `pages` pages in all.
    pub fn self_check(&self, pages: u32) -> Result<(), String> {
        let mut sum = 0;
        for group in self.order.from_oldest(0) {
            let here = self.pages(group).count() as u32;
            if here != self.count(group) {
                let first = self.first(group);
                let counted = self.count(group);
                return Err(format!("the group of page {first} counts {counted}, has {here}"));
            }
            sum += here;
        }
        match sum == pages {
            true => Ok(()),
            false => Err(format!("groups hold {sum} pages, the buffer {pages}")),
        }
    }
}
