//! # Idea
//! Dropping a clean page costs nothing, writing a dirty one costs a program and later an erase: let
//! clean pages go first, as long as they are not in use.
//!
//! # Paper
//! Park, Jung, Kang, Kim, Lee, "CFLRU: a replacement algorithm for flash memory", CASES 2006. There
//! it is the page cache of an operating system; here the same rule rules the device's buffer.
//!
//! # Leaves
//! Pages in order of use, read ones among them. In the clean-first region, the `cflru.window` used
//! longest ago, the clean page used longest ago; where all of them are dirty, the page used longest
//! ago of all. A window of one page is LRU.
//!
//! # Settings
//! Group `cflru`.

use super::lru::{Lru, all_dirty};
use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::settings;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

settings! {
    /// Settings of `cflru`.
    pub struct CflruSettings in "cflru" {
        /// w: size of the clean-first region, as a share of the buffer; one page at least.
        window: f64 = 0.25, legal("above 0, up to 1", |v| *v > 0.0 && *v <= 1.0),
            source("CFLRU 2006: static window; its size is open");
    }
}

/// Pages in order of use, and the region where clean ones go first.
#[derive(Clone)]
pub(super) struct Cflru {
    order: Lru,
    window: usize,
}

impl Policy for Cflru {
    const PAPER: BufferPaper = BufferPaper {
        name: "cflru",
        title: "CFLRU: a replacement algorithm for flash memory",
        authors: "Park, Jung, Kang, Kim, Lee",
        venue: "CASES",
        year: 2006,
        leaves: "the clean page used longest ago among the oldest, else the oldest page",
        deviations: &[
            "a buffer of the device, not the page cache of an operating system",
            "the window is fixed; the paper's adaptive one is not there",
        ],
    };
    const READS: Option<bool> = Some(true);

    type Settings = CflruSettings;

    fn new(frames: u32, geometry: &Geometry, settings: &Self::Settings) -> Self {
        let window = (f64::from(frames) * settings.window).round() as usize;
        Cflru { order: Lru::new(frames, geometry, &()), window: window.max(1) }
    }

    fn entered(&mut self, slot: Slot, lpn: Lpn) {
        self.order.entered(slot, lpn);
    }

    fn used(&mut self, slot: Slot, lpn: Lpn, write: bool) {
        self.order.used(slot, lpn, write);
    }

    fn left(&mut self, slot: Slot, lpn: Lpn) {
        self.order.left(slot, lpn);
    }

    fn choose(&mut self, pages: &HeldPages, why: Why, _: &mut Board, leaving: &mut Leaving) {
        match why {
            Why::Space => {
                let mut window = self.order.oldest_first().take(self.window);
                let clean = window.position(|slot| !pages.get(slot).dirty);
                leaving.compared = clean.map_or(self.window, |place| place + 1) as u32;
                leaving.slots.extend(self.order.oldest_first().nth(clean.unwrap_or(0)));
            }
            Why::Idle => leaving.slots.extend(self.order.oldest_dirty(pages)),
            Why::Flush => all_dirty(pages, leaving),
        }
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        self.order.self_check(pages)
    }
}
