//! # Idea
//! Media players write long runs. The block with most buffered pages is nearest to a complete one:
//! writing it out costs the scheme below the least per page, and frees the most memory.
//!
//! # Paper
//! Jo, Kang, Park, Kim, Lee, "FAB: flash-aware buffer management policy for portable media
//! players", IEEE Trans. Consumer Electronics 52(2), 2006.
//!
//! # Leaves
//! The logical block with most buffered pages, with all of them and nothing else; among equals the
//! one written longest ago. Reads change nothing and are not kept.

use super::fullest::Fullest;
use super::groups::Groups;
use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

/// Blocks by how many of their pages are here.
#[derive(Clone)]
pub(super) struct Fab {
    blocks: Groups,
    fullest: Fullest,
}

impl Policy for Fab {
    const PAPER: BufferPaper = BufferPaper {
        name: "fab",
        title: "FAB: flash-aware buffer management policy for portable media players",
        authors: "Jo, Kang, Park, Kim, Lee",
        venue: "IEEE Trans. Consumer Electronics 52(2)",
        year: 2006,
        leaves: "the block with most buffered pages",
        deviations: &["pages that were read are not kept"],
    };
    const READS: Option<bool> = None;

    type Settings = ();

    fn new(frames: u32, geometry: &Geometry, (): &()) -> Self {
        Fab {
            blocks: Groups::new(frames, geometry.pages_per_block, geometry.logical_pages),
            fullest: Fullest::new(frames),
        }
    }

    fn entered(&mut self, _: Slot, lpn: Lpn) {
        self.fullest.entered(self.blocks.enter(lpn));
    }

    fn used(&mut self, _: Slot, lpn: Lpn, write: bool) {
        if write {
            self.fullest.used(self.blocks.of(lpn).0);
        }
    }

    fn left(&mut self, _: Slot, lpn: Lpn) {
        self.fullest.left(self.blocks.leave(lpn));
    }

    fn choose(&mut self, pages: &HeldPages, _: Why, _: &mut Board, leaving: &mut Leaving) {
        leaving.compared = self.blocks.len();
        if let Some(block) = self.fullest.block() {
            self.blocks.leave_whole(block, pages, leaving);
        }
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        self.fullest.self_check(&self.blocks)?;
        self.blocks.self_check(pages.len())
    }
}
