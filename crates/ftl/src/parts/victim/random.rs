//! Any candidate with an invalid page, drawn uniformly.

use super::candidates::{BlockSet, first_with_invalid, is_worth};
use super::{Census, Choice, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;

/// Draws before the candidates are walked in turn instead.
const DRAWS: u32 = 32;

/// Candidates to draw from.
#[derive(Clone, Debug)]
pub struct Random {
    candidates: BlockSet,
}

impl VictimPolicy for Random {
    fn new(context: &VictimContext<'_>) -> Self {
        Random { candidates: BlockSet::new(context.blocks.clone()) }
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

    fn choose(&self, known: &Census<'_>, rng: &mut Rng) -> Choice {
        let members = self.candidates.members();
        if members.is_empty() {
            return Choice { victim: None, steps: 0 };
        }
        let pages = known.pages();
        for draw in 1..=DRAWS {
            let block = members[rng.below(members.len() as u32) as usize];
            if is_worth(known, block, pages) {
                return Choice { victim: Some(block), steps: draw };
            }
        }
        let start = rng.below(members.len() as u32) as usize;
        let turn = members[start..].iter().chain(&members[..start]).copied();
        let choice = first_with_invalid(known, turn);
        Choice { steps: choice.steps + DRAWS, ..choice }
    }
}
