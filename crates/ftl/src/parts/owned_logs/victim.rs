//! Which owned log block is merged to make room.

use super::{OPEN, OwnedLogs, Owner};
use crate::parts::merge_engine::MergeEngine;
use crate::parts::slots::Slot;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::choices;

choices! {
    /// Which log block is merged to make room.
    pub enum OwnedVictim {
        /// The one that was written longest ago.
        Lru = "lru",
        /// The one that was opened first.
        Fifo = "fifo",
        /// Any, drawn uniformly: while all places are in use the draw is a place, whatever order
        /// they were opened in, else a turn in that order.
        Random = "random",
        /// The places of the log in turn.
        RoundRobin = "round_robin",
        /// One without a valid page, else one to switch, else one to complete, else one to merge in
        /// full; among equals the one written longest ago. Of many, the 256 written longest ago are
        /// looked at.
        Cheapest = "cheapest",
    }
}

/// Blocks that `cheapest` looks at: of a large log, one that is cheap now still is when it is among
/// the oldest, or has become cheaper.
pub(super) const LOOKED_AT: usize = 256;

impl OwnedLogs {
    /// The block to merge, and when it is found: of all, or of one owner's.
    pub fn choose(
        &mut self,
        board: &mut Board,
        engine: &MergeEngine,
        among: Option<Owner>,
        after: When,
    ) -> (Slot, When) {
        let candidates = among.map_or(self.len(), |owner| self.count(owner));
        assert!(candidates > 0, "there is no log block to merge");
        let (place, steps) = match self.victim {
            OwnedVictim::Fifo => (self.oldest(among), 1),
            OwnedVictim::Lru => (self.oldest(among), candidates),
            OwnedVictim::Random => {
                let draw = self.rng.below(candidates) as usize;
                let drawn = match among {
                    Some(owner) => self.blocks_of(owner).nth(draw),
                    // Without a walk where every place is in use: the draw is the place.
                    None if self.free_blocks() == 0 => Some(Slot(draw as u32)),
                    None => self.places().nth(draw),
                };
                (drawn, 1)
            }
            OwnedVictim::RoundRobin => match among {
                Some(_) => (self.oldest(among), 1),
                None => self.next_in_turn(),
            },
            OwnedVictim::Cheapest => {
                let cost = |&place: &Slot| match board.nand().valid_pages(self.block(place)) {
                    0 => None,
                    _ => Some(self.outlook(place, board, engine)),
                };
                let cheapest = match among {
                    // The newest come first here, and the last of equals is the oldest.
                    Some(owner) => self.blocks_of(owner).max_by(|a, b| cost(b).cmp(&cost(a))),
                    None => self.places().take(LOOKED_AT).min_by_key(cost),
                };
                let looked_at = among.map_or(candidates.min(LOOKED_AT as u32), |_| candidates);
                (cheapest, looked_at)
            }
        };
        (place.expect("there are candidates"), board.search(Search::Block, steps, after))
    }

    fn oldest(&self, among: Option<Owner>) -> Option<Slot> {
        match among {
            Some(owner) => self.blocks_of(owner).last(),
            None => self.lists.oldest(OPEN),
        }
    }

    fn next_in_turn(&mut self) -> (Option<Slot>, u32) {
        let places = self.shape.limit;
        let start = self.turn;
        let turns = (0..places).map(|step| Slot((start + step) % places));
        let found = turns.zip(1..).find(|(place, _)| self.lists.list_of(*place) == Some(OPEN));
        let (place, steps) = found.expect("there are candidates");
        self.turn = (place.0 + 1) % places;
        (Some(place), steps)
    }
}
