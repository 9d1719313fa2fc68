//! Shared log blocks in stripes: one random log per bank of the device, written side by side, page
//! by page in turn, so that consecutive writes meet different channels and dies.
//!
//! Each stripe has its share of the blocks and its own order of age. As all are written in turn,
//! they fill together, and the oldest block of the stripe whose turn it is is the oldest of all but
//! for what failed programs and reclaims have shifted. What this is not: a judge of what a
//! reclaimed page's fate is.

#[cfg(test)]
mod tests;

use crate::answers::Room;
use crate::parts::merge_engine::MergeEngine;
use crate::parts::random_log::{LogVictim, RandomLog};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::BlockId;

/// Logs side by side.
#[derive(Clone, Debug)]
pub struct StripedLog {
    stripes: Vec<RandomLog>,
    /// The stripe that takes the next page.
    turn: usize,
}

impl StripedLog {
    /// `stripes` logs that share `limit` blocks, at least one each.
    pub fn new(nand: &Nand, limit: u32, victim: LogVictim, stripes: u32) -> Self {
        assert!(limit >= stripes, "{stripes} stripes share {limit} log blocks");
        let log = |number| {
            let share = limit / stripes + u32::from(number < limit % stripes);
            match stripes {
                // Like any shared log.
                1 => RandomLog::new(nand, share, victim),
                _ => RandomLog::striped(nand, share, victim, (number, stripes)),
            }
        };
        StripedLog { stripes: (0..stripes).map(log).collect(), turn: 0 }
    }

    /// Blocks in use.
    pub fn len(&self) -> u32 {
        self.stripes.iter().map(RandomLog::len).sum()
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Blocks that may be opened without a merge.
    pub fn free_blocks(&self) -> u32 {
        self.stripes.iter().map(RandomLog::free_blocks).sum()
    }

    /// Free log blocks; one is enough.
    pub fn room(&self) -> Room {
        Room { free_blocks: self.free_blocks(), threshold: 1 }
    }

    /// The stripe that must be reclaimed before the next append, if one must.
    #[inline]
    pub fn exhausted(&mut self) -> Option<&mut RandomLog> {
        let stripe = &mut self.stripes[self.turn];
        (stripe.is_exhausted() || stripe.is_over_limit()).then_some(stripe)
    }

    /// Appends a host page to the stripe whose turn it is. A failed program closes that block and
    /// is handed back.
    #[inline]
    pub fn append(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let done = self.stripes[self.turn].append(board, engine, io, after)?;
        self.turn = (self.turn + 1) % self.stripes.len();
        Ok(done)
    }

    /// Takes up a block found after a power cut, in its plane's stripe if that has room, else in
    /// the first that has; false if none has.
    pub fn resume(&mut self, nand: &Nand, block: BlockId) -> bool {
        let plane = nand.geometry().plane_of_block(block);
        let stripes = &mut self.stripes;
        let own = stripes.iter().position(|log| log.free_blocks() > 0 && log.lives_in(nand, plane));
        let any = || stripes.iter().position(|log| log.free_blocks() > 0);
        let Some(place) = own.or_else(any) else { return false };
        stripes[place].resume(nand, block);
        true
    }
}
