//! The choice of a program that uses ftlab as a library. It sees every candidate that collecting
//! gains something from; each counts as compared.

use super::candidates::{BlockSet, is_worth};
use super::{Census, Choice, VictimContext, VictimPolicy};
use crate::own::{Asked, OwnVictim, VictimCandidates};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{BlockId, PlaneId};

/// Candidates, and whom to ask.
#[derive(Clone, Debug)]
pub struct Own {
    plane: PlaneId,
    candidates: BlockSet,
    policy: Asked<dyn OwnVictim>,
}

impl VictimPolicy for Own {
    fn new(context: &VictimContext<'_>) -> Self {
        let maker = context.own.expect("`gc.victim = own` was checked to come with a policy");
        let candidates = BlockSet::new(context.blocks.clone());
        Own { plane: context.plane, candidates, policy: maker.made() }
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
        let pages_per_block = known.pages();
        let members = self.candidates.members().iter().copied();
        let mut blocks: Vec<BlockId> =
            members.filter(|&block| is_worth(known, block, pages_per_block)).collect();
        let steps = self.candidates.members().len() as u32;
        if blocks.is_empty() {
            return Choice { victim: None, steps };
        }
        blocks.sort_unstable_by_key(|block| block.0);
        let candidates = VictimCandidates {
            plane: self.plane.0,
            pages_per_block,
            blocks: blocks.iter().map(|block| block.0).collect(),
            valid: blocks.iter().map(|&block| known.valid_pages(block)).collect(),
            erases: blocks.iter().map(|&block| known.erases(block)).collect(),
            age: blocks.iter().map(|&block| known.age(block)).collect(),
        };
        let place = self.policy.ask().choose(&candidates);
        let victim = *blocks.get(place).unwrap_or_else(|| {
            panic!("an own policy chose victim {place} of {} candidates", blocks.len())
        });
        Choice { victim: Some(victim), steps }
    }
}
