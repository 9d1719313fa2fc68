//! Benefit over cost, with or without age.
//!
//! DFTL 2014, 3.3: cost is the valid pages to copy, benefit the space freed; it adapts a reference
//! that the text does not print. `cost_benefit` is that ratio, (P - v) / v, which orders blocks as
//! greedy does. `cost_benefit_age` is Kawaguchi et al. 1995: age * (1 - u) / 2u, with age counted
//! in page programs since the block's last one. Every candidate is compared, in 128-bit integers.

use super::candidates::{BlockSet, is_worth};
use super::{Census, Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;

/// Candidates in a set; `AGE` chooses the form.
#[derive(Clone, Debug)]
pub struct CostBenefit<const AGE: bool> {
    candidates: BlockSet,
}

impl<const AGE: bool> CostBenefit<AGE> {
    /// Score as a fraction.
    fn score(known: &Census<'_>, block: BlockId) -> (u128, u128) {
        let pages = known.pages();
        let valid = known.valid_pages(block);
        let freed = u128::from(pages - valid);
        if !AGE {
            return (freed, u128::from(valid));
        }
        let age = known.age(block);
        (u128::from(age) * freed, 2 * u128::from(valid))
    }
}

impl<const AGE: bool> VictimPolicy for CostBenefit<AGE> {
    fn new(context: &VictimContext<'_>) -> Self {
        CostBenefit { candidates: BlockSet::new(context.nand, context.plane) }
    }

    fn closed(&mut self, _: &Census<'_>, block: BlockId) {
        self.candidates.insert(block);
    }

    fn invalidated(&mut self, _: BlockId, _: u32) {}

    fn removed(&mut self, block: BlockId) {
        self.candidates.remove(block);
    }

    fn choose(&self, known: &Census<'_>, _: &mut Rng) -> Choice {
        let pages = known.pages();
        let mut best: Option<(BlockId, (u128, u128))> = None;
        for &block in self.candidates.members() {
            if !is_worth(known, block, pages) {
                continue;
            }
            let score = Self::score(known, block);
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

    /// Without age: those with as many valid pages.
    fn equals(&self, known: &Census<'_>, victim: BlockId) -> Equals {
        let valid = known.valid_pages(victim);
        let as_many = |&block: &BlockId| !AGE && known.valid_pages(block) == valid;
        Equals::of(victim, self.candidates.members().iter().copied().filter(as_many))
    }
}
