//! Where hot blocks lie: a bijection of blocks that moves extents and leaves blocks within one
//! beside each other. With extents of one block every hot block lies by itself.

use super::permutation::Permutation;

/// One bijection of the blocks of a span.
pub(crate) struct Scatter {
    extents: Permutation,
    /// Blocks of an extent.
    extent_blocks: u64,
    /// Blocks of whole extents; those behind them stay where they are.
    moved: u64,
}

impl Scatter {
    pub(crate) fn new(blocks: u64, extent_blocks: u64, seed: u64) -> Self {
        let extents = blocks / extent_blocks;
        Self {
            extents: Permutation::new(extents.max(1), seed),
            extent_blocks,
            moved: extents * extent_blocks,
        }
    }

    /// Where a block goes.
    #[inline]
    pub(crate) fn apply(&self, block: u64) -> u64 {
        if self.extent_blocks == 1 {
            return self.extents.apply(block);
        }
        if block >= self.moved {
            return block;
        }
        let (extent, inside) = (block / self.extent_blocks, block % self.extent_blocks);
        self.extents.apply(extent) * self.extent_blocks + inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extents_move_whole_and_no_two_blocks_meet(
            blocks in 1u64..3000, extent in 1u64..100, seed in any::<u64>(),
        ) {
            let extent = extent.min(blocks);
            let scatter = Scatter::new(blocks, extent, seed);
            let mut seen = vec![false; blocks as usize];
            for block in 0..blocks {
                let place = scatter.apply(block);
                prop_assert!(!std::mem::replace(&mut seen[place as usize], true));
                prop_assert_eq!(place % extent, block % extent);
                if block % extent > 0 {
                    prop_assert_eq!(place, scatter.apply(block - 1) + 1);
                }
            }
        }

        #[test]
        fn extents_of_one_block_are_the_permutation_of_blocks(
            blocks in 1u64..3000, seed in any::<u64>(),
        ) {
            let (scatter, plain) = (Scatter::new(blocks, 1, seed), Permutation::new(blocks, seed));
            prop_assert!((0..blocks).all(|block| scatter.apply(block) == plain.apply(block)));
        }
    }
}
