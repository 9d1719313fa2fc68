//! # Idea
//! A write-back cache: what is rewritten soon is rewritten in memory, and flash sees the last
//! version only.
//!
//! # Paper
//! DFTL 2014, section 5.3 and Fig. 14: memory that a scheme's map does not need becomes a
//! write-back data cache. The paper names no replacement; least recently used is the usual one.
//!
//! # Leaves
//! The page that was neither written nor read for longest, by itself. If pages that were read are
//! kept too (`buffer.cache_reads`), a clean one just goes. A flush of the host writes all dirty
//! pages in order of their numbers, those that follow each other as one request.

use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;

/// Pages in order of use.
#[derive(Clone)]
pub(super) struct Lru {
    pages: SlotLists<1>,
}

impl Policy for Lru {
    const PAPER: BufferPaper = BufferPaper {
        name: "lru",
        title: "A write-back cache on a DFTL-based SSD",
        authors: "Gupta, Kim, Urgaonkar",
        venue: "J. Comput. Sci. Technol. 29(2), section 5.3",
        year: 2014,
        leaves: "the page used longest ago",
        deviations: &["the paper names no replacement policy; least recently used is ours"],
    };
    const READS: Option<bool> = Some(false);

    type Settings = ();

    fn new(frames: u32, _: &Geometry, (): &()) -> Self {
        Lru { pages: SlotLists::new(frames) }
    }

    fn entered(&mut self, slot: Slot, _: Lpn) {
        self.pages.push(0, slot);
    }

    fn used(&mut self, slot: Slot, _: Lpn, _: bool) {
        self.pages.remove(slot);
        self.pages.push(0, slot);
    }

    fn left(&mut self, slot: Slot, _: Lpn) {
        self.pages.remove(slot);
    }

    fn choose(&mut self, pages: &HeldPages, why: Why, _: &mut Board, leaving: &mut Leaving) {
        match why {
            Why::Space => {
                leaving.compared = pages.len();
                leaving.slots.extend(self.pages.oldest(0));
            }
            Why::Idle => leaving.slots.extend(self.oldest_dirty(pages)),
            Why::Flush => all_dirty(pages, leaving),
        }
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        match self.pages.len(0) == pages.len() {
            true => Ok(()),
            false => Err(format!("{} pages in order, {} held", self.pages.len(0), pages.len())),
        }
    }
}

impl Lru {
    /// The dirty page used longest ago.
    pub fn oldest_dirty(&self, pages: &HeldPages) -> Option<Slot> {
        self.oldest_first().find(|&slot| pages.get(slot).dirty)
    }

    /// The pages, the one used longest ago first.
    pub fn oldest_first(&self) -> impl Iterator<Item = Slot> + '_ {
        self.pages.from_oldest(0)
    }
}

/// All dirty pages, upwards.
pub(super) fn all_dirty(pages: &HeldPages, leaving: &mut Leaving) {
    leaving.slots.extend(pages.all().filter(|&slot| pages.get(slot).dirty));
    leaving.slots.sort_unstable_by_key(|&slot| pages.get(slot).lpn);
}
