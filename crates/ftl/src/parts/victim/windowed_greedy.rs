//! Most invalid pages among the `gc.window` blocks that were filled first; a share of the
//! candidates, rounded up, where that is one.
//!
//! Source: Hu et al., SYSTOR 2009: greedy within a window of the oldest blocks bounds the search
//! and keeps young blocks, whose pages still die, out of it.

use super::candidates::{BlockList, first_with_invalid};
use super::{Census, Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::settings::Amount;
use ftlab_flash::units::BlockId;

/// Candidates in the order in which they were filled.
#[derive(Clone, Debug)]
pub struct WindowedGreedy {
    candidates: BlockList,
    window: Amount,
}

impl WindowedGreedy {
    fn window(&self) -> usize {
        self.window.of(self.candidates.len())
    }
}

impl VictimPolicy for WindowedGreedy {
    fn new(context: &VictimContext<'_>) -> Self {
        WindowedGreedy {
            candidates: BlockList::new(context.blocks.clone()),
            window: context.window,
        }
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
        let oldest = self.candidates.iter().take(self.window());
        let best = oldest.min_by_key(|&block| known.valid_pages(block));
        let steps = self.candidates.iter().take(self.window()).count() as u32;
        match best {
            Some(block) if known.valid_pages(block) < known.pages() => {
                Choice { victim: Some(block), steps }
            }
            _ => {
                let choice = first_with_invalid(known, self.candidates.iter().skip(self.window()));
                Choice { steps: choice.steps + steps, ..choice }
            }
        }
    }

    /// Those of the window with as few valid pages.
    fn equals(&self, known: &Census<'_>, victim: BlockId) -> Equals {
        let valid = known.valid_pages(victim);
        let window = self.candidates.iter().take(self.window());
        Equals::of(victim, window.filter(|&block| known.valid_pages(block) == valid))
    }
}
