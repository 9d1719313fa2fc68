//! Values that were written lately, and the page that holds each: a table of bounded size from what
//! is to be written to where the same lies already. The value that was written longest ago leaves,
//! of those that are not kept as *hot* because they were written again.
//!
//! A value stands for the hash of its bytes: equal values, equal bytes ([`Tag`]).
//!
//! What this is not: who has a page. Flash is asked whether it is still valid.

use ftlab_flash::board::Board;
use ftlab_flash::rng::mix;
use ftlab_flash::units::{Ppn, Tag, pack, unpack, zeroed};

use super::slots::Slot;
use super::slots::slab::Slab;
use super::slots::slot_list::SlotLists;

/// Bytes of an entry: an MD5 hash of 16 bytes, a page, neighbours in the order of use.
pub const ENTRY_BYTES: u64 = 16 + 4 + 8;

#[derive(Clone, Copy, Debug)]
struct Value {
    tag: Tag,
    ppn: Ppn,
    /// The next of the same bucket, plus one.
    next: u32,
}

/// What a page holds, and whether it cannot be read any more.
pub fn held(board: &Board, ppn: Ppn) -> (Tag, bool) {
    let state = board.nand().state();
    (state.tag(ppn), state.is_unreadable(ppn))
}

/// Whether others may come to a page: what is lost is nobody's, and nobody comes to a die that is
/// known to have failed.
pub fn is_sharable(board: &Board, ppn: Ppn) -> bool {
    let nand = board.nand();
    let die = nand.geometry().die_of(nand.geometry().plane_of(ppn));
    !held(board, ppn).1 && nand.known_failed_die() != Some(die)
}

/// Whether it stands for bytes: neither what a write buffer could not read nor what it fills up
/// pages with that nobody wrote.
pub fn is_value(tag: Tag) -> bool {
    tag != Tag::UNREADABLE && tag != Tag(0)
}

/// The table.
#[derive(Clone, Debug)]
pub struct Values {
    capacity: u32,
    known: Slab<Value>,
    order: SlotLists<2>,
    /// Most hot values.
    hot: u32,
    /// First value of each bucket, plus one; as many as the next power of two.
    buckets: Vec<u32>,
}

const COLD: usize = 0;
const HOT: usize = 1;

impl Values {
    /// Empty, for so many values, all alike.
    pub fn new(capacity: u32) -> Self {
        Self::keeping(capacity, 0)
    }

    /// The same, up to `hot` of which are kept that were written again while they were known. Of
    /// more the one that was written longest ago is as new as what was written once.
    pub fn keeping(capacity: u32, hot: u32) -> Self {
        Values {
            capacity,
            hot,
            known: Slab::new(capacity),
            order: SlotLists::new(capacity),
            buckets: zeroed(capacity.max(1).next_power_of_two() as usize),
        }
    }

    /// What finds a value by its hash: the next of its bucket, 4 bytes a value, and the buckets.
    pub fn index_bytes(capacity: u32) -> u64 {
        4 * (u64::from(capacity) + u64::from(capacity.max(1)).next_power_of_two())
    }

    /// How many are known.
    pub fn len(&self) -> u32 {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The page that holds a value.
    #[inline]
    pub fn find(&self, tag: Tag) -> Option<Ppn> {
        self.slot(tag).map(|slot| self.known[slot].ppn)
    }

    /// The same of a page that others may come to.
    pub fn sharable(&self, board: &Board, tag: Tag) -> Option<Ppn> {
        self.find(tag).filter(|&ppn| is_sharable(board, ppn))
    }

    /// Whether it ever holds a value.
    pub fn has_room(&self) -> bool {
        self.capacity > 0
    }

    /// Every value with its page, the one that would leave first first.
    pub fn all(&self) -> impl Iterator<Item = (Tag, Ppn)> + '_ {
        let slots = self.order.from_oldest(COLD).chain(self.order.from_oldest(HOT));
        slots.map(|slot| (self.known[slot].tag, self.known[slot].ppn))
    }

    /// A value was written, and this page holds it: whether another had to leave for it.
    pub fn written(&mut self, tag: Tag, ppn: Ppn) -> bool {
        if let Some(slot) = self.slot(tag) {
            self.known[slot].ppn = ppn;
            self.written_again(slot);
            return false;
        }
        if self.capacity == 0 {
            return false;
        }
        let is_full = self.known.len() == self.capacity;
        if is_full {
            let oldest = self.order.oldest(COLD).or_else(|| self.order.oldest(HOT));
            self.remove(oldest.expect("a full table has an oldest value"));
        }
        let bucket = self.bucket(tag);
        let slot = self.known.add(Value { tag, ppn, next: self.buckets[bucket] });
        self.buckets[bucket] = pack(Some(slot.0));
        self.order.push(COLD, slot);
        is_full
    }

    fn written_again(&mut self, slot: Slot) {
        if self.hot == 0 {
            self.order.renew(slot);
            return;
        }
        self.order.remove(slot);
        self.order.push(HOT, slot);
        if self.order.len(HOT) > self.hot {
            let oldest = self.order.oldest(HOT).expect("one was just put there");
            self.order.remove(oldest);
            self.order.push(COLD, oldest);
        }
    }

    /// The page of a value was copied.
    #[inline]
    pub fn moved(&mut self, tag: Tag, (old, new): (Ppn, Ppn)) {
        if let Some(slot) = self.slot(tag)
            && self.known[slot].ppn == old
        {
            self.known[slot].ppn = new;
        }
    }

    /// A page was copied, which may have been lost in that.
    pub fn page_moved(&mut self, board: &Board, (old, new): (Ppn, Ppn)) {
        let (tag, is_lost) = held(board, new);
        self.moved(tag, (old, new));
        if is_lost {
            self.forget_page(board, new);
        }
    }

    /// Nobody is to come to this page any more.
    pub fn forget_page(&mut self, board: &Board, ppn: Ppn) {
        let (tag, _) = held(board, ppn);
        if self.find(tag) == Some(ppn) {
            self.forget(tag);
        }
    }

    /// The same of a page that a logical one has left, once nobody has it.
    pub fn forget_dead(&mut self, board: &Board, old: Option<Ppn>) {
        if let Some(old) = old
            && !board.nand().state().is_valid(old)
        {
            self.forget_page(board, old);
        }
    }

    /// The same of a page whose content a read has found lost.
    pub fn forget_lost(&mut self, board: &Board, (ppn, tag): (Option<Ppn>, Tag)) {
        if tag == Tag::UNREADABLE
            && let Some(ppn) = ppn
        {
            self.forget_page(board, ppn);
        }
    }

    /// Whether every value is held by the valid page that is said to hold it.
    ///
    /// # Errors
    /// Says which is not.
    pub fn check(&self, board: &Board) -> Result<(), String> {
        let is_held = |&(tag, ppn): &(Tag, Ppn)| {
            held(board, ppn).0 == tag && board.nand().state().is_valid(ppn)
        };
        match self.all().find(|one| !is_held(one)) {
            Some((tag, ppn)) => {
                let (found, _) = held(board, ppn);
                Err(format!("page {ppn} is to hold value {tag}, and holds {found}, or is invalid"))
            }
            None => Ok(()),
        }
    }

    /// A value is not to be found any more.
    fn forget(&mut self, tag: Tag) {
        if let Some(slot) = self.slot(tag) {
            self.remove(slot);
        }
    }

    /// Forgets those that do not pass.
    pub fn retain(&mut self, keep: impl Fn(Tag, Ppn) -> bool) {
        let gone: Vec<Tag> =
            self.all().filter(|&(tag, ppn)| !keep(tag, ppn)).map(|(tag, _)| tag).collect();
        gone.into_iter().for_each(|tag| self.forget(tag));
    }

    fn remove(&mut self, slot: Slot) {
        let Value { tag, next, .. } = self.known[slot];
        let bucket = self.bucket(tag);
        let mut link = self.buckets[bucket];
        if unpack(link) == Some(slot.0) {
            self.buckets[bucket] = next;
        } else {
            while let Some(before) = unpack(link).map(Slot) {
                link = self.known[before].next;
                if unpack(link) == Some(slot.0) {
                    self.known[before].next = next;
                    break;
                }
            }
        }
        self.order.remove(slot);
        self.known.remove(slot);
    }

    #[inline]
    fn bucket(&self, tag: Tag) -> usize {
        mix(u64::from(tag.0)) as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn slot(&self, tag: Tag) -> Option<Slot> {
        let mut link = self.buckets[self.bucket(tag)];
        while let Some(slot) = unpack(link).map(Slot) {
            let value = &self.known[slot];
            if value.tag == tag {
                return Some(slot);
            }
            link = value.next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::units::{BlockId, Lpn};

    /// Against a plain list in the order of writing.
    #[test]
    fn values_are_what_a_plain_list_says() {
        for capacity in [1, 2, 7, 8] {
            let mut rng = Rng::new(u64::from(capacity), Purpose::Workload);
            let mut values = Values::new(capacity);
            let mut plain: Vec<(Tag, Ppn)> = Vec::new();
            for step in 0..5_000 {
                let (tag, ppn) = (Tag(1 + rng.below(3 * capacity)), Ppn(rng.below(50)));
                let known = plain.iter().position(|&(one, _)| one == tag);
                match rng.below(6) {
                    0 => {
                        values.forget(tag);
                        plain.retain(|&(one, _)| one != tag);
                    }
                    1 => {
                        let other = Ppn(rng.below(50));
                        values.moved(tag, (ppn, other));
                        if let Some(value) = known.map(|at| &mut plain[at])
                            && value.1 == ppn
                        {
                            value.1 = other;
                        }
                    }
                    _ => {
                        let left = values.written(tag, ppn);
                        let leaves = known.is_none() && plain.len() as u32 == capacity;
                        assert_eq!(left, leaves, "step {step}");
                        plain.retain(|&(one, _)| one != tag);
                        if leaves {
                            plain.remove(0);
                        }
                        plain.push((tag, ppn));
                    }
                }
                assert!(values.all().eq(plain.iter().copied()), "step {step}");
                assert_eq!(values.len() as usize, plain.len());
                for tag in (1..=3 * capacity).map(Tag) {
                    let found = plain.iter().find(|&&(one, _)| one == tag).map(|&(_, ppn)| ppn);
                    assert_eq!(values.find(tag), found, "step {step}");
                }
            }
            values.retain(|tag, _| tag.0 % 2 == 0);
            assert!(values.all().all(|(tag, _)| tag.0 % 2 == 0));
        }
    }

    /// Of three places two are for values that were written again: others come and go in the third.
    #[test]
    fn hot_values_stay_while_others_come_and_go() {
        let mut values = Values::keeping(3, 2);
        let page = Ppn(7);
        let mut write = |tag| {
            values.written(Tag(tag), page);
            values.all().map(|(tag, _)| tag.0).collect::<Vec<u32>>()
        };
        assert_eq!([1, 2, 1, 2].map(&mut write)[3], [1, 2], "both are hot");
        assert_eq!([3, 4, 5].map(&mut write)[2], [5, 1, 2]);
        assert_eq!(write(5), [1, 2, 5], "1 is no more, and the next to leave");
        assert_eq!(write(6), [6, 2, 5]);
        assert_eq!(write(2), [6, 5, 2]);
    }

    /// 4 bytes a value, and 4 a bucket: the next power of two, at least one.
    #[test]
    fn buckets_are_the_next_power_of_two() {
        assert_eq!([0, 1, 5, 8].map(Values::index_bytes), [4, 8, 4 * (5 + 8), 4 * (8 + 8)]);
    }

    /// What a buffer could not read, and what nobody wrote, stands for no bytes.
    #[test]
    fn what_nobody_wrote_or_can_read_is_no_value() {
        assert_eq!([Tag(0), Tag::UNREADABLE, Tag(7)].map(is_value), [false, false, true]);
    }

    /// Three pages hold the same. Copied, a value is found in the new page, unless that was lost in
    /// it; nobody comes to a page that is lost, or to a die that is known to have failed.
    #[test]
    fn a_value_follows_its_page_and_nobody_shares_what_is_lost() {
        let mut config = SharedSettings::default();
        let bytes = 64 * config.device.page_bytes.0;
        config.device.set_capacity(bytes, bytes);
        let mut board = Board::new(&config, 1, 8);
        let write = |board: &mut Board, offset: u32| {
            let request =
                RequestShape { first_lpn: Lpn(offset), pages: 1, index: 0, sectors: 4, hint: None };
            let (lpn, data) = (Lpn(offset), Tag(7));
            let io = PageIo { lpn, sectors: 15, cause: Cause::Host, data, request };
            let page = board.geometry().page(BlockId(0), offset);
            let done = board.program_update(page, None, &io, PageKind::Data, When::START);
            done.map(|_| page)
        };
        let pages = [0, 1, 2].map(|offset| write(&mut board, offset).expect("it works"));
        let mut values = Values::new(4);
        assert!(values.is_empty() && values.has_room());
        values.written(Tag(7), pages[0]);
        assert!(!values.is_empty());
        assert_eq!(values.sharable(&board, Tag(7)), Some(pages[0]));
        assert_eq!(values.sharable(&board, Tag(8)), None);
        values.page_moved(&board, (pages[0], pages[1]));
        assert_eq!(values.find(Tag(7)), Some(pages[1]));
        board.nand_mut().faults_mut().fail_read_after(0);
        let _ = board.read(pages[2], Cause::Host, When::START);
        assert!(is_sharable(&board, pages[1]) && !is_sharable(&board, pages[2]));
        values.page_moved(&board, (pages[1], pages[2]));
        assert_eq!(values.find(Tag(7)), None);
        values.written(Tag(7), pages[1]);
        board.nand_mut().faults_mut().fail_die_after(0, 0);
        assert!(write(&mut board, 3).is_err());
        assert_eq!(board.nand().known_failed_die(), Some(0));
        assert_eq!((values.find(Tag(7)), values.sharable(&board, Tag(7))), (Some(pages[1]), None));
    }

    /// A table of no place knows nothing.
    #[test]
    fn a_table_without_room_takes_nothing() {
        let mut values = Values::new(0);
        assert!(!values.has_room());
        assert!(!values.written(Tag(1), Ppn(1)));
        assert_eq!((values.find(Tag(1)), values.len()), (None, 0));
    }

    /// A value is forgotten with the page that holds it, once that is dead: not while it is valid,
    /// and not with another page that holds the same.
    #[test]
    fn a_value_dies_with_its_page() {
        let mut config = SharedSettings::default();
        let bytes = 64 * config.device.page_bytes.0;
        config.device.set_capacity(bytes, bytes);
        let mut board = Board::new(&config, 1, 8);
        let (value, other) = (Tag(7), Tag(8));
        let mut write = |offset: u32, data: Tag| {
            let request =
                RequestShape { first_lpn: Lpn(offset), pages: 1, index: 0, sectors: 4, hint: None };
            let io = PageIo { lpn: Lpn(offset), sectors: 15, cause: Cause::Host, data, request };
            let page = board.geometry().page(BlockId(0), offset);
            let _ = board
                .program_update(page, None, &io, PageKind::Data, When::START)
                .expect("it works");
            page
        };
        let pages = [write(0, value), write(1, value), write(2, other)];
        let mut values = Values::new(4);
        values.written(value, pages[1]);
        values.written(other, pages[2]);
        assert_eq!(values.check(&board), Ok(()));
        values.forget_dead(&board, Some(pages[1]));
        assert_eq!(values.find(value), Some(pages[1]), "another logical page is there still");
        board.nand_mut().invalidate(pages[0]);
        values.forget_dead(&board, Some(pages[0]));
        assert_eq!(values.find(value), Some(pages[1]), "another page holds it");
        board.nand_mut().invalidate(pages[1]);
        let error = values.check(&board).expect_err("the page is dead");
        assert!(error.contains("value 7"), "{error}");
        values.forget_dead(&board, Some(pages[1]));
        assert_eq!((values.find(value), values.check(&board)), (None, Ok(())));
        values.forget_lost(&board, (Some(pages[2]), other));
        assert_eq!(values.find(other), Some(pages[2]), "it was read");
        values.forget_lost(&board, (Some(pages[2]), Tag::UNREADABLE));
        assert_eq!(values.find(other), None);
    }
}
