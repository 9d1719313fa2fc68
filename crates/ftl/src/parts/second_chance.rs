//! Second chances: how often each valid log page was kept in the log when its block was reclaimed
//! (Lim, Lee, Moon 2010, where it is one bit).
//!
//! The count stands at the physical page. A host write begins with none, because every count of a
//! block goes when the block is erased; a copy takes its count along. What this is not: a judge of
//! who gets one.

#[cfg(test)]
mod tests;

use crate::parts::merge_engine::{MergeEngine, lpn_of_page};
use crate::parts::random_log::RandomLog;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, Ppn, zeroed};

/// Chances given, by physical page.
#[derive(Clone, Debug)]
pub struct SecondChances {
    given: Vec<u8>,
}

impl SecondChances {
    /// None given yet.
    pub fn new(geometry: &Geometry) -> Self {
        SecondChances { given: zeroed(geometry.pages() as usize) }
    }

    /// RAM of counts up to `most` for the pages of so many log blocks.
    pub fn ram_bytes(geometry: &Geometry, log_blocks: u64, most: u32) -> u64 {
        let bits = u64::from(u32::BITS - most.leading_zeros());
        (log_blocks * u64::from(geometry.pages_per_block) * bits).div_ceil(8)
    }

    /// Chances that a valid log page was given.
    #[inline]
    pub fn given(&self, page: Ppn) -> u32 {
        u32::from(self.given[page.index()])
    }

    /// One more for a page that stays where it is.
    pub fn give(&mut self, page: Ppn) {
        self.given[page.index()] += 1;
    }

    /// Moves a valid log page to the end of a log, its count with it and `more` besides. The page's
    /// old place is not marked: its block is about to be erased.
    pub fn carry(
        &mut self,
        to: &mut RandomLog,
        board: &mut Board,
        engine: &mut MergeEngine,
        (page, more): (Ppn, u8),
        after: When,
    ) -> Result<When, Fault> {
        let lpn = lpn_of_page(board, page);
        let done = to.append_copy(board, engine, (lpn, page), Cause::Merge, after)?;
        let copy = engine.logs.get(lpn).expect("copied to a log block");
        self.given[copy.index()] = self.given[page.index()] + more;
        Ok(done)
    }

    /// A block is erased.
    pub fn forget(&mut self, geometry: &Geometry, block: BlockId) {
        let first = geometry.page(block, 0).index();
        self.given[first..first + geometry.pages_per_block as usize].fill(0);
    }
}
