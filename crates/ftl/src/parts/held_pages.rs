//! The host's pages in memory: which frame holds which page, in which version, with which sectors.
//! Which page leaves next is the business of the buffer or the scheme that owns them.

use crate::parts::slots::Slot;
use crate::settings::SharedSettings;
use ftlab_flash::board::when::Moment;
use ftlab_flash::units::{Lpn, Tag, pack, unpack, zeroed};

/// RAM that map and data share in a scheme that holds both, where `device.ram_bytes` says nothing:
/// the 64 MiB of TreeFTL 2013, and of a device smaller than its 32 GiB the same share, 1/512; at
/// least DFTL's 32 KiB. All of 64 MiB would take a small device's data in, and nothing would reach
/// flash.
pub fn default_ram(config: &SharedSettings) -> u64 {
    let capacity = config.device.logical_pages() * config.device.unit_bytes();
    (capacity / 512).clamp(32 << 10, 64 << 20)
}

/// A page in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// The page.
    pub lpn: Lpn,
    /// Its version.
    pub tag: Tag,
    /// Sectors of it that are here, bit 0 = first; the others are on flash, if anywhere.
    pub sectors: u64,
    /// Whether flash holds an older version or none.
    pub dirty: bool,
    /// When it is here; of an empty frame, when it is free.
    pub ready: Moment,
}

/// Frames and what they hold.
#[derive(Clone, Debug)]
pub struct HeldPages {
    /// Frame of each logical page, plus one.
    slot_of: Vec<u32>,
    frames: Vec<Held>,
    /// Frames without a page; the last one is taken next.
    free: Vec<u32>,
    /// Pages that are here.
    held: u32,
    dirty: u32,
}

impl HeldPages {
    /// Empty frames.
    pub fn new(frames: u32, logical_pages: u32) -> Self {
        HeldPages {
            slot_of: zeroed(logical_pages as usize),
            frames: vec![Held::default(); frames as usize],
            free: (0..frames).rev().collect(),
            held: 0,
            dirty: 0,
        }
    }

    /// Frames.
    pub fn frames(&self) -> u32 {
        self.frames.len() as u32
    }

    /// Pages that are here.
    #[inline]
    pub fn len(&self) -> u32 {
        self.held
    }

    /// Pages that are newer here than on flash.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Whether no page is here.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Whether no frame is free.
    pub fn is_full(&self) -> bool {
        self.held == self.frames()
    }

    /// The frame that holds a page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Slot> {
        unpack(self.slot_of[lpn.index()]).map(Slot)
    }

    /// What a frame holds.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Held {
        &self.frames[slot.index()]
    }

    /// A free frame takes a page; returns the frame and when it was free.
    #[inline]
    pub fn enter(&mut self, lpn: Lpn) -> (Slot, Moment) {
        assert!(!self.is_full(), "all {} frames are taken", self.frames());
        let ready = self.free_from();
        (self.take(Held { lpn, ready, ..Held::default() }), ready)
    }

    /// When the frame is free that the next page takes; there must be one.
    #[inline(always)]
    pub fn free_from(&self) -> Moment {
        let slot = self.free.last().expect("a frame is free");
        self.frames[*slot as usize].ready
    }

    /// A free frame takes a page with what is here of it; there must be one.
    #[inline(always)]
    pub fn take(&mut self, held: Held) -> Slot {
        let slot = self.free.pop().expect("a frame is free");
        self.held += 1;
        self.dirty += u32::from(held.dirty);
        self.slot_of[held.lpn.index()] = pack(Some(slot));
        self.frames[slot as usize] = held;
        Slot(slot)
    }

    /// The host wrote sectors of the page in a frame; they are there at `ready`.
    #[inline]
    pub fn write(&mut self, slot: Slot, tag: Tag, sectors: u64, ready: impl Into<Moment>) {
        let held = &mut self.frames[slot.index()];
        self.dirty += u32::from(!held.dirty);
        held.dirty = true;
        held.tag = tag;
        held.sectors |= sectors;
        held.ready = ready.into();
    }

    /// The page in a frame was read from flash as a whole; it is there at `ready`. What the host
    /// wrote stays.
    #[inline]
    pub fn fill(&mut self, slot: Slot, tag: Tag, ready: impl Into<Moment>) {
        let held = &mut self.frames[slot.index()];
        if !held.dirty {
            held.tag = tag;
        }
        held.sectors = u64::MAX;
        held.ready = ready.into();
    }

    /// Flash now holds what the frame holds.
    #[inline]
    pub fn clean(&mut self, slot: Slot) {
        let held = &mut self.frames[slot.index()];
        self.dirty -= u32::from(held.dirty);
        held.dirty = false;
        // What was not here was read to be written with it.
        held.sectors = u64::MAX;
    }

    /// Flash holds what the frame holds from `done` on.
    pub fn clean_from(&mut self, slot: Slot, done: impl Into<Moment>) {
        self.clean(slot);
        self.frames[slot.index()].ready = done.into();
    }

    /// A page leaves; its frame is free from `ready`.
    #[inline]
    pub fn leave(&mut self, slot: Slot, ready: impl Into<Moment>) {
        let held = &mut self.frames[slot.index()];
        self.slot_of[held.lpn.index()] = 0;
        self.dirty -= u32::from(held.dirty);
        held.ready = ready.into();
        self.held -= 1;
        self.free.push(slot.0);
    }

    /// Whether a frame holds a page.
    pub fn holds(&self, slot: Slot) -> bool {
        self.find(self.get(slot).lpn) == Some(slot)
    }

    /// The frames that hold a page.
    pub fn all(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.frames()).map(Slot).filter(|&slot| self.holds(slot))
    }

    /// Whether the counts agree with the frames.
    pub fn self_check(&self) -> Result<(), String> {
        let held = self.all().count() as u32;
        let dirty = self.all().filter(|&slot| self.get(slot).dirty).count() as u32;
        if (held, dirty) != (self.held, self.dirty) {
            return Err(format!(
                "the buffer counts {} pages, {} of them dirty, but holds {held} and {dirty}",
                self.held, self.dirty
            ));
        }
        if self.held + self.free.len() as u32 != self.frames() {
            return Err(format!(
                "of {} frames of the buffer {} hold a page and {} are free",
                self.frames(),
                self.held,
                self.free.len()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::board::Board;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::settings::Groups as _;

    /// The share 1/512 of a device, between 32 KiB and 64 MiB.
    #[test]
    fn ram_is_a_share_of_the_device_within_bounds() {
        let mut config = SharedSettings::default();
        config.device.pages_per_block = 64;
        config.device.blocks_per_plane = 1 << 20;
        let mut ram = |bytes: u64| {
            config.set("device.logical_bytes", &bytes.to_string()).expect("legal");
            default_ram(&config)
        };
        assert_eq!([1 << 20, 24 << 20, 1 << 30].map(&mut ram), [32 << 10, 48 << 10, 2 << 20]);
        assert_eq!(ram(64 << 30), 64 << 20);
    }

    #[test]
    fn a_frame_holds_what_was_put_into_it_until_it_leaves() {
        let mut pages = HeldPages::new(2, 10);
        assert!(pages.is_empty() && !pages.is_full());
        let [one, two] = [3, 5].map(|lpn| pages.enter(Lpn(lpn)).0);
        assert!(pages.is_full() && !pages.is_empty());
        assert_eq!((pages.frames(), pages.len(), pages.dirty()), (2, 2, 0));
        assert_eq!([3, 4, 5].map(|lpn| pages.find(Lpn(lpn))), [Some(one), None, Some(two)]);
        let held = |pages: &HeldPages, slot: Slot| {
            let Held { lpn, tag, sectors, dirty, .. } = *pages.get(slot);
            (lpn.0, tag.0, sectors, dirty)
        };
        pages.write(one, Tag(7), 0b011, Moment::START);
        pages.write(one, Tag(8), 0b110, Moment::START);
        assert_eq!((held(&pages, one), pages.dirty()), ((3, 8, 0b111, true), 1));
        // What the host wrote stays when the rest is read.
        [one, two].into_iter().for_each(|slot| pages.fill(slot, Tag(2), Moment::START));
        assert_eq!(held(&pages, one), (3, 8, u64::MAX, true));
        assert_eq!((held(&pages, two), pages.dirty()), ((5, 2, u64::MAX, false), 1));
        (0..2).for_each(|_| pages.clean(one));
        assert_eq!((held(&pages, one), pages.dirty()), ((3, 8, u64::MAX, false), 0));
        pages.write(two, Tag(9), 0b1, Moment::START);
        pages.leave(one, Moment::START);
        assert_eq!((pages.find(Lpn(3)), pages.len(), pages.dirty()), (None, 1, 1));
        assert_eq!([one, two].map(|slot| pages.holds(slot)), [false, true]);
        assert_eq!(pages.all().collect::<Vec<_>>(), [two]);
        pages.clean_from(two, Moment::START);
        assert_eq!((held(&pages, two).3, pages.dirty()), (false, 0));
        // The frame that is free again is taken.
        assert_eq!(pages.enter(Lpn(7)).0, one);
        assert_eq!(held(&pages, one), (7, 0, 0, false), "and is empty");
        pages.write(one, Tag(4), 0b10, Moment::START);
        pages.self_check().expect("sound");
        pages.leave(one, Moment::START);
        assert_eq!((pages.dirty(), pages.len()), (0, 1));
        pages.self_check().expect("sound");
    }

    /// Of three frames the third was never used; the first two come free again, one after the
    /// other, and the first one later in time.
    #[test]
    fn a_page_takes_the_frame_that_came_free_last_with_what_is_here_of_it() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let mut board = Board::new(&config, 1, 8);
        let read = board.read_implicit(0, Cause::Translate, When::START).expect("nothing fails");
        let (later, start) = (Moment::from(read), Moment::START);
        assert!(later > start, "a read takes its time");
        let mut pages = HeldPages::new(3, 10);
        let page = |lpn| Held { lpn: Lpn(lpn), tag: Tag(lpn), dirty: true, ..Held::default() };
        let [one, two] = [3, 5].map(|lpn| pages.take(page(lpn)));
        assert_eq!((pages.len(), pages.dirty(), pages.get(two).tag), (2, 2, Tag(5)));
        assert_eq!(pages.free_from(), start, "no page was in the third");
        for (slot, ready) in [(two, start), (one, later)] {
            pages.leave(slot, ready);
            assert_eq!(pages.free_from(), ready);
        }
        assert_eq!(pages.take(Held { dirty: false, ..page(7) }), one);
        assert_eq!((pages.free_from(), pages.dirty(), pages.find(Lpn(3))), (start, 0, None));
        pages.self_check().expect("sound");
    }
}
