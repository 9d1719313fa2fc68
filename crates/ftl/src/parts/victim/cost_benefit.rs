//! Benefit over cost, in the forms that were published; u is the share of a block's pages that are
//! valid, age the page programs since the block's last one. Every candidate is compared, in 128-bit
//! integers.
//!
//! Sources, a form each: DFTL 2014, 3.3 (cost is the valid pages to copy, benefit the space freed;
//! it adapts a reference that the text does not print, and orders blocks as greedy does); Kawaguchi
//! et al. 1995; the artifact of SepBIT, FAST 2022, which damps age by its root; Rosenblum and
//! Ousterhout 1992, whose cleaner reads the whole segment (1 + u); Chiang et al. 1999 (CAT), which
//! spares blocks that were erased often; Min et al., FAST 2012 (SFS), which has the heat of the
//! data for its age; the simulator of MiDAS, FAST 2024, whose root is of the host's pages.

use super::candidates::{BlockSet, is_worth};
use super::{Census, Choice, Equals, Heat, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;
use std::marker::PhantomData;

/// What one form says of a block.
pub trait Form: Clone + std::fmt::Debug {
    /// Whether blocks with as many valid pages are all as good.
    const BY_PAGES: bool = false;
    /// Whether age is that of the clock of a placement policy.
    const BY_CLOCK: bool = false;

    /// Benefit and cost: the higher their ratio, the better the victim. Whatever costs nothing is
    /// the best.
    fn score(block: &Block) -> (u128, u128);
}

/// What the forms look at.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    valid: u128,
    freed: u128,
    age: u128,
    /// In pages of the host, where that is asked for.
    host_age: u128,
    erases: u128,
    heat: Heat,
}

impl Block {
    fn new<F: Form>(known: &Census<'_>, block: BlockId) -> Self {
        let pages = known.pages();
        let valid = known.valid_pages(block);
        Block {
            valid: u128::from(valid),
            freed: u128::from(pages - valid),
            age: u128::from(known.age(block)),
            host_age: if F::BY_CLOCK { u128::from(known.host_age(block)) } else { 0 },
            erases: u128::from(known.erases(block)),
            heat: known.heat(block),
        }
    }
}

/// (1 - u) / u.
#[derive(Clone, Debug)]
pub struct Ratio;

impl Form for Ratio {
    const BY_PAGES: bool = true;

    fn score(block: &Block) -> (u128, u128) {
        (block.freed, block.valid)
    }
}

/// age * (1 - u) / 2u.
#[derive(Clone, Debug)]
pub struct Age;

impl Form for Age {
    fn score(block: &Block) -> (u128, u128) {
        (block.age * block.freed, 2 * block.valid)
    }
}

/// The root of age * (1 - u) / u. What is compared is its square.
#[derive(Clone, Debug)]
pub struct RootOfAge;

impl Form for RootOfAge {
    fn score(block: &Block) -> (u128, u128) {
        (block.age * block.freed * block.freed, block.valid * block.valid)
    }
}

/// The same, age being the pages that the host wrote since the block was full: what collection
/// writes makes nothing older.
#[derive(Clone, Debug)]
pub struct RootOfHostAge;

impl Form for RootOfHostAge {
    const BY_CLOCK: bool = true;

    fn score(block: &Block) -> (u128, u128) {
        (block.host_age * block.freed * block.freed, block.valid * block.valid)
    }
}

/// age * (1 - u) / (1 + u).
#[derive(Clone, Debug)]
pub struct Lfs;

impl Form for Lfs {
    fn score(block: &Block) -> (u128, u128) {
        (block.age * block.freed, block.freed + 2 * block.valid)
    }
}

/// Least u / (1 - u) * erases / age, the erase to come among them: else a block that was never
/// erased would cost nothing.
#[derive(Clone, Debug)]
pub struct Cat;

impl Form for Cat {
    fn score(block: &Block) -> (u128, u128) {
        (block.age * block.freed, block.valid * (block.erases + 1))
    }
}

/// (1 - u) / (u * hotness), hotness being the writes of the valid pages over their ages.
#[derive(Clone, Debug)]
pub struct Hotness;

impl Form for Hotness {
    fn score(block: &Block) -> (u128, u128) {
        let Heat { writes, ages } = block.heat;
        (block.freed * u128::from(ages), block.valid * u128::from(writes))
    }
}

/// Candidates in a set.
#[derive(Clone, Debug)]
pub struct CostBenefit<F> {
    candidates: BlockSet,
    form: PhantomData<F>,
}

impl<F: Form> VictimPolicy for CostBenefit<F> {
    fn new(context: &VictimContext<'_>) -> Self {
        CostBenefit { candidates: BlockSet::new(context.blocks.clone()), form: PhantomData }
    }

    fn closed(&mut self, _: &Census<'_>, block: BlockId) {
        self.candidates.insert(block);
    }

    fn invalidated(&mut self, _: BlockId, _: u32) {}

    fn removed(&mut self, block: BlockId) {
        self.candidates.remove(block);
    }

    fn has(&self, block: BlockId) -> bool {
        self.candidates.contains(block)
    }

    fn choose(&self, known: &Census<'_>, _: &mut Rng) -> Choice {
        let pages = known.pages();
        let mut best: Option<(BlockId, (u128, u128))> = None;
        for &block in self.candidates.members() {
            if !is_worth(known, block, pages) {
                continue;
            }
            let score = F::score(&Block::new::<F>(known, block));
            let better = best.is_none_or(|(held, other)| {
                let (left, right) = (score.0 * other.1, other.0 * score.1);
                // An empty block costs nothing; among equals the lowest number wins.
                match (score.1, other.1) {
                    (0, 0) => block < held,
                    (0, _) => true,
                    (_, 0) => false,
                    _ => left > right || (left == right && block < held),
                }
            });
            if better {
                best = Some((block, score));
            }
        }
        Choice {
            victim: best.map(|(block, _)| block),
            steps: self.candidates.members().len() as u32,
        }
    }

    /// Those with as many valid pages, where nothing else counts.
    fn equals(&self, known: &Census<'_>, victim: BlockId) -> Equals {
        let valid = known.valid_pages(victim);
        let as_many = |&block: &BlockId| F::BY_PAGES && known.valid_pages(block) == valid;
        Equals::of(victim, self.candidates.members().iter().copied().filter(as_many))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of eight pages three are valid; by the formulas, in numbers that have no divisor in common.
    #[test]
    fn benefit_and_cost_of_each_form() {
        let heat = Heat { writes: 13, ages: 17 };
        let block = Block { valid: 3, freed: 5, age: 7, host_age: 11, erases: 1, heat };
        assert_eq!(Ratio::score(&block), (5, 3));
        assert_eq!(Age::score(&block), (7 * 5, 2 * 3));
        assert_eq!(RootOfAge::score(&block), (7 * 25, 9));
        assert_eq!(RootOfHostAge::score(&block), (11 * 25, 9));
        // Over the pages of the block: (1 - u) is 5, (1 + u) is 8 + 3.
        assert_eq!(Lfs::score(&block), (7 * 5, 11));
        assert_eq!(Cat::score(&block), (7 * 5, 3 * 2));
        assert_eq!(Hotness::score(&block), (5 * 17, 3 * 13));
    }
}
