//! # Idea
//! Below a log-block scheme random writes cost full merges. Buffer whole blocks, and write each one
//! complete and in order: then every merge is a switch.
//!
//! # Paper
//! Kim, Ahn, "BPLRU: a buffer management scheme for improving random writes in flash storage",
//! FAST 2008.
//!
//! # Leaves
//! Logical blocks in order of their last write; reads change nothing and are not kept. The block
//! written longest ago leaves with all its buffered pages.
//! Page padding: pages that are missing are read, and the block is written from its first page to
//! its last.
//! LRU compensation: a block written sequentially to its last page will hardly be written again; it
//! becomes the next one to leave.
//!
//! # Settings
//! Group `bplru`; `buffer.pad_unwritten`.

use super::groups::Groups;
use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::units::{Lpn, zeroed};
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

choices! {
    /// When a block that leaves is padded.
    pub enum Padding {
        /// Always.
        Always = "always",
        /// When at least half of its pages are buffered.
        IfHalf = "if_half",
    }
}

settings! {
    /// Settings of `bplru`.
    pub struct BplruSettings in "bplru" {
        /// When a block that leaves is padded.
        pad: Padding = Padding::Always, legal("", |_| true),
            source("BPLRU 2008; if_half: a public variant (docs/papers/others.md#bplru)");
        /// Whether a block written sequentially to its end becomes the next one to leave.
        compensation: bool = true, legal("", |_| true), source("BPLRU 2008");
    }
}

/// The block was not written from its first page on.
const NOT_SEQUENTIAL: u32 = u32::MAX;

/// Blocks in order of their last write.
#[derive(Clone)]
pub(super) struct Bplru {
    blocks: Groups,
    /// Offset that continues the sequential write of the block in each slot.
    next: Vec<u32>,
    settings: BplruSettings,
    logical_pages: u32,
}

impl Policy for Bplru {
    const PAPER: BufferPaper = BufferPaper {
        name: "bplru",
        title: "BPLRU: a buffer management scheme for improving random writes in flash storage",
        authors: "Kim, Ahn",
        venue: "FAST",
        year: 2008,
        leaves: "the block written longest ago, completed with pages from flash",
        deviations: &["pages that were never written are programmed as zeros, without a read"],
    };
    const READS: Option<bool> = None;

    type Settings = BplruSettings;

    fn new(frames: u32, geometry: &Geometry, settings: &Self::Settings) -> Self {
        Bplru {
            blocks: Groups::new(frames, geometry.pages_per_block, geometry.logical_pages),
            next: zeroed(frames as usize),
            settings: settings.clone(),
            logical_pages: geometry.logical_pages,
        }
    }

    fn entered(&mut self, _: Slot, lpn: Lpn) {
        let entered = self.blocks.enter(lpn);
        if entered.count == 1 {
            self.next[entered.group.index()] = 0;
        }
        self.written(lpn);
    }

    fn used(&mut self, _: Slot, lpn: Lpn, write: bool) {
        if write {
            self.written(lpn);
        }
    }

    fn left(&mut self, _: Slot, lpn: Lpn) {
        self.blocks.leave(lpn);
    }

    fn choose(&mut self, pages: &HeldPages, _: Why, _: &mut Board, leaving: &mut Leaving) {
        let Some(block) = self.blocks.oldest() else { return };
        leaving.compared = self.blocks.len();
        self.blocks.leave_whole(block, pages, leaving);
        let (first, all) = self.blocks.range(block, self.logical_pages);
        let here = self.blocks.count(block);
        let pads = match self.settings.pad {
            Padding::Always => true,
            Padding::IfHalf => 2 * here >= all,
        };
        leaving.padded = (pads && here < all).then_some((first, all));
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        self.blocks.self_check(pages.len())
    }
}

impl Bplru {
    fn written(&mut self, lpn: Lpn) {
        let (block, offset) = self.blocks.of(lpn);
        let next = &mut self.next[block.index()];
        *next = match offset {
            offset if offset == *next => offset + 1,
            0 => 1,
            _ => NOT_SEQUENTIAL,
        };
        if self.settings.compensation && *next == self.blocks.pages_per_group() {
            self.blocks.age(block);
        } else {
            self.blocks.touch(block);
        }
    }
}
