//! Blocks that are bad when the device leaves the factory: named, or drawn at a rate.
//!
//! They count as retired from the start. How many there are follows from the settings alone, and
//! how many of them lie in each plane too; which they are follows from the seed.

use super::Nand;
use crate::board::settings::BoardSettings;
use crate::board::settings::factory_bad::{drawn_in, named};
use crate::rng::{Purpose, Rng};
use crate::units::{BlockId, PlaneId};

/// The factory-bad blocks, in order.
pub(super) fn bad_blocks(config: &BoardSettings, seed: u64) -> Vec<BlockId> {
    let mut bad = named(&config.nand);
    let mut rng = Rng::new(seed, Purpose::FactoryBad);
    let per_plane = config.device.blocks_per_plane;
    for plane in 0..config.device.plane_count() {
        let first = plane as u32 * per_plane;
        let mut left = drawn_in(&config.device, &config.nand, plane);
        // There are good blocks left in every plane: the settings were checked together.
        while left > 0 {
            left -= u64::from(bad.insert(first + rng.below(per_plane)));
        }
    }
    bad.into_iter().map(BlockId).collect()
}

impl Nand {
    pub(super) fn retire_factory_bad(&mut self) {
        for &block in &self.factory_bad {
            self.state.block_mut(block).retired = true;
        }
        self.retired = self.factory_bad.len() as u32;
    }

    /// After a power cut: a block whose last erase was cut short when it was done is known by its
    /// number of erases.
    pub(super) fn retire_aged(&mut self) {
        for number in 0..self.geometry.blocks() {
            let known = self.state.block_mut(BlockId(number));
            let is_worn_out = self.modes.is_worn_out(BlockId(number), known.erases);
            if !known.retired && is_worn_out && known.programmed == 0 {
                known.retired = true;
                self.retired += 1;
            }
        }
    }

    /// Blocks that were bad from the start, in order.
    pub fn factory_bad(&self) -> &[BlockId] {
        &self.factory_bad
    }

    /// Those of one plane.
    pub fn factory_bad_in(&self, plane: PlaneId) -> &[BlockId] {
        let range = self.geometry.blocks_of(plane);
        let place = |number: u32| self.factory_bad.partition_point(|block| block.0 < number);
        &self.factory_bad[place(range.start)..place(range.end)]
    }

    /// Blocks retired since the device was built.
    pub fn retired_since(&self) -> u32 {
        self.retired - self.factory_bad.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Groups as _;

    /// Two planes of 16 blocks, which endure three cycles; blocks 3 and 16 are bad.
    fn nand() -> Nand {
        let mut config = BoardSettings::default();
        for (key, value) in [
            ("device.planes", "2"),
            ("device.blocks_per_plane", "16"),
            ("device.endurance_cycles", "3"),
            ("wear.blocks_die", "true"),
            ("nand.factory_bad_blocks", "3,16"),
        ] {
            config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
        }
        Nand::new(&config, 1, 0)
    }

    #[test]
    fn a_bad_block_is_of_one_plane() {
        let nand = nand();
        let of = |plane| nand.factory_bad_in(PlaneId(plane));
        assert_eq!((of(0), of(1)), (&[BlockId(3)][..], &[BlockId(16)][..]));
    }

    /// Empty at its end; a bad one; one that holds a page at its end, which was erased before; one
    /// with a cycle left.
    #[test]
    fn a_block_whose_last_erase_was_cut_short_retires_when_power_is_back() {
        let mut nand = nand();
        for (block, erases) in [(1, 3), (3, 3), (5, 3), (7, 2)] {
            nand.state.block_mut(BlockId(block)).erases = erases;
        }
        nand.state.block_mut(BlockId(5)).programmed = 1;
        nand.retire_aged();
        nand.retire_aged();
        let retired = [1, 3, 5, 7].map(|block| nand.state.block(BlockId(block)).retired);
        assert_eq!(retired, [true, true, false, false]);
        assert_eq!((nand.retired_blocks(), nand.retired_since()), (3, 1));
        for block in [8, 9, 10] {
            nand.state.block_mut(BlockId(block)).erases = 3;
        }
        nand.retire_aged();
        assert_eq!((nand.retired_blocks(), nand.retired_since()), (6, 4));
    }

    /// Of sixteen blocks of a plane four are drawn; two more are named.
    #[test]
    fn as_many_blocks_are_drawn_in_every_plane() {
        let config = crate::board::for_tests::settings(&[
            ("device.planes", "2"),
            ("device.blocks_per_plane", "16"),
            ("nand.factory_bad_rate", "0.25"),
            ("nand.factory_bad_blocks", "3,16"),
        ]);
        let mut drawn = Vec::new();
        for seed in 0..60 {
            let nand = Nand::new(&config, seed, 0);
            let bad = nand.factory_bad();
            assert!(bad.is_sorted() && [3, 16].iter().all(|&block| bad.contains(&BlockId(block))));
            let of = |plane| nand.factory_bad_in(PlaneId(plane)).len();
            assert_eq!((of(0), of(1), bad.len()), (5, 5, 10));
            assert!(bad.iter().all(|&block| nand.state.block(block).retired));
            assert_eq!((nand.retired_blocks(), nand.retired_since()), (10, 0));
            drawn.extend_from_slice(bad);
        }
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 32, "it can be any of them");
    }
}
