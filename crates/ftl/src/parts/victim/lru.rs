//! The block whose pages were left alone for longest: the one that lost no page since.

use super::candidates::{BlockList, first_with_invalid};
use super::{Census, Choice, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;

/// Candidates, the one invalidated last at the end.
#[derive(Clone, Debug)]
pub struct Lru {
    candidates: BlockList,
}

impl VictimPolicy for Lru {
    fn new(context: &VictimContext<'_>) -> Self {
        Lru { candidates: BlockList::new(context.blocks.clone()) }
    }

    fn closed(&mut self, _: &Census<'_>, block: BlockId) {
        self.candidates.push(block);
    }

    fn invalidated(&mut self, block: BlockId, _: u32) {
        if self.candidates.contains(block) {
            self.candidates.remove(block);
            self.candidates.push(block);
        }
    }

    fn removed(&mut self, block: BlockId) {
        self.candidates.remove(block);
    }

    fn has(&self, block: BlockId) -> bool {
        self.candidates.contains(block)
    }

    fn choose(&self, known: &Census<'_>, _: &mut Rng) -> Choice {
        // A scan compares the times of all of them.
        let steps = self.candidates.iter().count() as u32;
        Choice { steps, ..first_with_invalid(known, self.candidates.iter()) }
    }
}
