//! The block that was filled first, passing over blocks without an invalid page.

use super::candidates::{BlockList, first_with_invalid};
use super::{Census, Choice, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;

/// Candidates in the order in which they were filled.
#[derive(Clone, Debug)]
pub struct Fifo {
    candidates: BlockList,
}

impl VictimPolicy for Fifo {
    fn new(context: &VictimContext<'_>) -> Self {
        Fifo { candidates: BlockList::new(context.blocks.clone()) }
    }

    fn closed(&mut self, _: &Census<'_>, block: BlockId) {
        self.candidates.push(block);
    }

    fn invalidated(&mut self, _: BlockId, _: u32) {}

    fn removed(&mut self, block: BlockId) {
        self.candidates.remove(block);
    }

    fn has(&self, block: BlockId) -> bool {
        self.candidates.contains(block)
    }

    fn choose(&self, known: &Census<'_>, _: &mut Rng) -> Choice {
        first_with_invalid(known, self.candidates.iter())
    }
}
