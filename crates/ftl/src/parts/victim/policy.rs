//! What a victim policy is: what it is built from, what it is told, and what it answers.

use std::ops::Range;

use super::census::Census;
use crate::own::{Maker, OwnVictim};
use ftlab_flash::rng::Rng;
use ftlab_flash::settings::Amount;
use ftlab_flash::units::{BlockId, PlaneId};

/// What a policy is built from.
pub struct VictimContext<'a> {
    /// The plane whose blocks are candidates; where lines are, the first one.
    pub plane: PlaneId,
    /// The numbers of all that can be candidates.
    pub blocks: Range<u32>,
    /// Pages of a candidate.
    pub pages: u32,
    /// Candidates that d_choices draws.
    pub choices: Amount,
    /// Oldest blocks that windowed_greedy looks at.
    pub window: Amount,
    /// Whom `own` asks.
    pub own: Option<&'a Maker<dyn OwnVictim>>,
}

/// A chosen block, and how many candidates a plain implementation compares to find it: by the
/// policy's definition, not by how fast ours finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The victim; none when no candidate holds an invalid page.
    pub victim: Option<BlockId>,
    /// Candidates compared.
    pub steps: u32,
}

/// Most candidates that [`VictimPolicy::equals`] names.
pub const EQUALS: usize = 32;

/// Candidates that a policy finds as good as its victim.
#[derive(Clone, Copy, Debug)]
pub struct Equals {
    blocks: [BlockId; EQUALS],
    length: usize,
}

impl Equals {
    /// The first ones of these, but for the victim itself.
    pub(super) fn of(victim: BlockId, blocks: impl Iterator<Item = BlockId>) -> Self {
        let mut equals = Equals { blocks: [victim; EQUALS], length: 0 };
        for block in blocks.filter(|&block| block != victim).take(EQUALS) {
            equals.blocks[equals.length] = block;
            equals.length += 1;
        }
        equals
    }

    /// The blocks.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks[..self.length]
    }
}

/// How a victim is chosen among the full blocks of one plane.
pub trait VictimPolicy {
    /// A policy without candidates.
    fn new(context: &VictimContext<'_>) -> Self;
    /// A block is full and becomes a candidate.
    fn closed(&mut self, known: &Census<'_>, block: BlockId);
    /// A page of a block became invalid; the block may be no candidate.
    fn invalidated(&mut self, block: BlockId, valid: u32);
    /// Looks at what changes when a page of a block becomes invalid, so that it is at hand. What is
    /// seen means nothing.
    fn glance_at(&self, _block: BlockId) -> u32 {
        0
    }
    /// A candidate leaves.
    fn removed(&mut self, block: BlockId);
    /// Whether a block is a candidate; for audits.
    fn has(&self, block: BlockId) -> bool;
    /// Chooses without removing.
    fn choose(&self, known: &Census<'_>, rng: &mut Rng) -> Choice;
    /// Candidates that are as good as the victim that was just chosen; at most [`EQUALS`]. None
    /// where the policy ranks every candidate, or draws.
    fn equals(&self, _known: &Census<'_>, victim: BlockId) -> Equals {
        Equals::of(victim, std::iter::empty())
    }
}
