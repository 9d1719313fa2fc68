//! What CFTL has in memory of its maps: the cached page table, and below it the cached block table.
//! Where both know a page the page table counts; where a page changes, its logical block is
//! page-mapped from then on.

use super::sizes::Sizes;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::parts::cached_blocks::MappedBlocks;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::page_runs::PageRuns;

/// Both tables.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Cached page table.
    pub runs: PageRuns,
    /// Block-mapped logical blocks, and the cached block table.
    pub blocks: MappedBlocks,
    /// The logical block that is being made block-mapped, until the host changes one of its pages.
    pub converting: Option<Lbn>,
    /// Logical blocks that became page-mapped since this was last asked.
    reverted: u64,
    pages_per_block: u32,
    logical_pages: u32,
}

/// Pages that both tables cover at most, and what a request and a conversion add before entries
/// leave: all that reversions and collection can turn into single entries of the page table.
fn most_covered(geometry: &Geometry, sizes: &Sizes, longest: u32) -> u64 {
    let runs = u64::from(sizes.pages + 2) * u64::from(longest);
    runs + u64::from(sizes.blocks + 2) * u64::from(geometry.pages_per_block)
}

impl Cache {
    /// Empty.
    pub(super) fn new(geometry: &Geometry, sizes: &Sizes, longest: u32) -> Self {
        Cache {
            runs: PageRuns::new(geometry, longest, most_covered(geometry, sizes, longest)),
            blocks: MappedBlocks::new(geometry, sizes.blocks),
            converting: None,
            reverted: 0,
            pages_per_block: geometry.pages_per_block,
            logical_pages: geometry.logical_pages,
        }
    }

    /// The logical block of a page.
    #[inline]
    pub fn lbn(&self, lpn: Lpn) -> Lbn {
        Lbn(lpn.0 / self.pages_per_block)
    }

    /// Pages of a logical block.
    pub fn pages_of(&self, lbn: Lbn) -> std::ops::Range<u32> {
        let first = lbn.0 * self.pages_per_block;
        first..(first + self.pages_per_block).min(self.logical_pages)
    }

    /// How many logical blocks became page-mapped since this was last asked.
    #[inline]
    pub fn take_reverted(&mut self) -> u64 {
        std::mem::take(&mut self.reverted)
    }

    /// Reversion: a block-mapped logical block is page-mapped from now on. A change of tables
    /// alone: the page map on flash has said all along where its pages are, and what the cached
    /// block table knew goes to the cached page table.
    pub fn revert(&mut self, lbn: Lbn) {
        if !self.blocks.is_mapped(lbn) {
            return;
        }
        if self.blocks.holds(lbn) {
            let at = |blocks: &MappedBlocks, lpn| blocks.entry(lpn).expect("the cache holds it");
            let ready = self.blocks.use_block(lbn).expect("the cache holds it");
            for lpn in self.pages_of(lbn).map(Lpn) {
                if self.runs.find(lpn.0).is_none() {
                    self.runs.cover(lpn, at(&self.blocks, lpn), ready);
                }
            }
            let _ = self.blocks.take(lbn);
        }
        self.blocks.unmap(lbn);
        self.reverted += 1;
    }

    /// The host has changed a page: a conversion of its logical block is in vain.
    #[inline]
    pub fn host_changed(&mut self, lpn: Lpn) {
        if self.converting == Some(self.lbn(lpn)) {
            self.converting = None;
        }
    }

    /// A conversion moved a page.
    pub fn converted(&mut self, lpn: Lpn, ppn: Ppn) {
        self.runs.change(lpn, Some(ppn));
    }

    /// What the cached block table knows needs no place in the page table: runs that lie within a
    /// logical block and say the same leave.
    pub fn drop_runs_within(&mut self, lbn: Lbn) {
        let pages = self.pages_of(lbn);
        let mut lpn = pages.start;
        while lpn < pages.end {
            let Some(slot) = self.runs.find(lpn) else {
                lpn += 1;
                continue;
            };
            let run = *self.runs.run(slot);
            if run.first >= pages.start && run.first + run.count <= pages.end {
                self.runs.remove(slot);
            }
            lpn = run.first + run.count;
        }
    }
}

impl MapCache for Cache {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.runs.entry(lpn).or_else(|| self.blocks.entry(lpn))
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.runs.is_dirty(lpn.0)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.revert(self.lbn(lpn));
        self.runs.change(lpn, ppn);
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.runs.clean(lpn.0);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.runs.changed()
    }

    fn self_check(&self) -> Result<(), String> {
        self.runs.self_check()
    }
}

#[cfg(test)]
mod tests;
