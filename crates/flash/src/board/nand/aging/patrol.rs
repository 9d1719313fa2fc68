//! When a patrol comes by a block: block after block, one at a time, round and round.

use crate::units::{BlockId, Nanos};

/// A patrol over all blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patrol {
    /// Between two blocks.
    step: Nanos,
    /// Between two visits of one.
    round: Nanos,
}

impl Patrol {
    /// It comes to block 0 after one step.
    pub(super) fn new(step: Nanos, blocks: u32) -> Self {
        Patrol { step, round: step.saturating_mul(u64::from(blocks)) }
    }

    /// When it first comes by a block at this moment or later; never is `Nanos::MAX`.
    pub(super) fn visit(&self, block: BlockId, earliest: Nanos) -> Nanos {
        let first = self.step.saturating_mul(u64::from(block.0) + 1);
        let late = earliest.saturating_sub(first);
        first.saturating_add(late.div_ceil(self.round).saturating_mul(self.round))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_turn_in_every_round() {
        let patrol = Patrol::new(10, 4);
        assert_eq!([0, 1, 2, 3].map(|block| patrol.visit(BlockId(block), 0)), [10, 20, 30, 40]);
        assert_eq!([0, 3].map(|block| patrol.visit(BlockId(block), 40)), [50, 40]);
        assert_eq!([50, 51, 90].map(|earliest| patrol.visit(BlockId(0), earliest)), [50, 90, 90]);
        assert_eq!(patrol.visit(BlockId(0), Nanos::MAX), Nanos::MAX, "and there is an end");
    }
}
