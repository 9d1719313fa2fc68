//! Most invalid pages among `gc.choices` candidates drawn at random with replacement; a share of
//! them, rounded up, where that is one.
//!
//! Source: Van Houdt 2013, where a few choices come close to greedy at constant cost.

use super::candidates::{BlockSet, first_with_invalid};
use super::{Census, Choice, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::settings::Amount;
use ftlab_flash::units::BlockId;

/// Candidates to draw from.
#[derive(Clone, Debug)]
pub struct DChoices {
    candidates: BlockSet,
    choices: Amount,
}

impl VictimPolicy for DChoices {
    fn new(context: &VictimContext<'_>) -> Self {
        DChoices { candidates: BlockSet::new(context.blocks.clone()), choices: context.choices }
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
        let choices = self.choices.of(members.len()) as u32;
        let drawn = (0..choices)
            .map(|_| members[rng.below(members.len() as u32) as usize])
            .min_by_key(|&block| known.valid_pages(block));
        let pages = known.pages();
        match drawn {
            Some(block) if known.valid_pages(block) < pages => {
                Choice { victim: Some(block), steps: choices }
            }
            _ => {
                let choice = first_with_invalid(known, members.iter().copied());
                Choice { steps: choice.steps + choices, ..choice }
            }
        }
    }
}
