//! # Idea
//! A scheme that caches its map pays a map page for every changed entry that leaves its cache.
//! Dirty pages whose entries share a translation page should leave together: one map page then
//! takes the changes of all of them.
//!
//! # Paper
//! Ours, after the open question of DFTL 2014, section 5.3: how to share memory between map and
//! data. LazyFTL, TPFTL and TreeFTL put the same idea into the scheme.
//!
//! # Leaves
//! Groups of pages by translation page (page size over four bytes of an entry), in order of their
//! last write; reads change nothing and are not kept. The group written longest ago leaves, lowest
//! page first; of a group of more than `map_aware.pages_max` pages so many, and the rest stays
//! next.
//!
//! # Settings
//! Group `map_aware`.

use super::groups::Groups;
use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

settings! {
    /// Settings of `map_aware`.
    pub struct MapAwareSettings in "map_aware" {
        /// Most pages that leave together; auto: all of the group. Bounds how long a write can
        /// wait.
        pages_max: Optional<u32> = Optional(None),
            legal("auto, or 1..=65536", |v| v.0.is_none_or(|n| (1..=65536).contains(&n))),
            source("ftlab");
    }
}

/// Groups in order of their last write.
#[derive(Clone)]
pub(super) struct MapAware {
    groups: Groups,
    pages_max: usize,
}

impl Policy for MapAware {
    const PAPER: BufferPaper = BufferPaper {
        name: "map_aware",
        title: "A write buffer that knows translation pages (ftlab's own)",
        authors: "ftlab",
        venue: "after DFTL 2014, section 5.3",
        year: 2026,
        leaves: "the pages of the translation page written longest ago",
        deviations: &[],
    };
    const READS: Option<bool> = None;

    type Settings = MapAwareSettings;

    fn new(frames: u32, geometry: &Geometry, settings: &Self::Settings) -> Self {
        let pages_max = settings.pages_max.0.unwrap_or(u32::MAX);
        let entries = geometry.entries_per_page();
        MapAware {
            groups: Groups::new(frames, entries, geometry.logical_pages),
            pages_max: pages_max as usize,
        }
    }

    fn entered(&mut self, _: Slot, lpn: Lpn) {
        let page = self.groups.enter(lpn);
        self.groups.touch(page.group);
    }

    fn used(&mut self, _: Slot, lpn: Lpn, write: bool) {
        if write {
            let (group, _) = self.groups.of(lpn);
            self.groups.touch(group);
        }
    }

    fn left(&mut self, _: Slot, lpn: Lpn) {
        self.groups.leave(lpn);
    }

    fn choose(&mut self, pages: &HeldPages, _: Why, _: &mut Board, leaving: &mut Leaving) {
        let Some(group) = self.groups.oldest() else { return };
        leaving.compared = self.groups.len();
        self.groups.leave_whole(group, pages, leaving);
        leaving.slots.truncate(self.pages_max);
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        self.groups.self_check(pages.len())
    }
}
