//! Collecting by the share of garbage (`gc.trigger = garbage_share`), as log-structured stores do:
//! as soon as more than `gc.garbage_share` of what is written in a plane is superseded, whatever is
//! free. The threshold of free blocks stands beside it.

use super::{PageOwner, PageSpace, Stream};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, PlaneId};

use super::settings::GcTrigger;

/// A share in parts per million: the state of the engine has no fractions.
const WHOLE: u64 = 1_000_000;

/// The share in force, in parts per million; none: free blocks alone decide.
pub(super) fn of(config: &SharedSettings) -> Option<u64> {
    let share = (config.gc.garbage_share * WHOLE as f64).round() as u64;
    (config.gc.trigger == GcTrigger::GarbageShare).then_some(share)
}

impl PageSpace {
    /// Pages of a frontier that are written before anything is looked at: all, or none where every
    /// write may collect, or goes to a class.
    pub(super) fn usable(&self) -> u32 {
        if self.looks_always() { 0 } else { self.pages_per_block }
    }

    /// Whether no write takes the short way, so that those that do pay nothing for this.
    fn looks_always(&self) -> bool {
        self.garbage_share.is_some()
            || self.placing.is_some()
            || self.slc.is_some()
            || self.lines.is_some()
    }

    /// Whether a write goes on with its block, that was only stopped because every one is; a full
    /// one was closed.
    pub(super) fn needs_no_block(&self, (plane, stream): (PlaneId, Stream)) -> bool {
        let frontier = &self.planes[plane.index()].frontiers[stream.index()];
        self.looks_always() && frontier.block.is_some()
    }

    /// Collects a victim of a plane that holds too much garbage, if one holds enough, before the
    /// host writes a page to it.
    pub(super) fn collect_share<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, stream): (PlaneId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        let Some(share) = self.garbage_share else { return Ok(after) };
        if stream.class().is_none() {
            return Ok(after);
        }
        let known = &self.planes[plane.index()];
        let blocks = self.blocks_per_plane - known.free.len() - known.retired;
        let left = |frontier: &super::Frontier| u64::from(self.room_at(frontier));
        let whole = u64::from(blocks) * u64::from(self.pages_per_block);
        let room = self.lines.as_ref().map_or(whole, |lines| lines.used_room());
        let written = room - known.frontiers.iter().map(left).sum::<u64>();
        // A line of which a block failed has room for less than it holds.
        let garbage = written.saturating_sub(u64::from(known.valid));
        if garbage * WHOLE <= share * written {
            return Ok(after);
        }
        let after = self.finish_paused(board, owner, plane, after)?;
        self.close_full(board.nand(), plane);
        let pages = u64::from(self.pages_per_block);
        let (choice, found) = self.choose(board, plane, after);
        let census = self.census(board.nand());
        let is_worth = |block: &BlockId| {
            (pages - u64::from(census.valid_pages(*block))) * WHOLE >= share * pages
        };
        // What the policy chooses regardless of garbage may hold too little of it. Where it goes by
        // nothing else, no other block holds more.
        let victim = choice.filter(is_worth).or_else(|| {
            if self.planes[plane.index()].victims.name_the_emptiest() {
                return None;
            }
            let all = self.closed_blocks(board, plane).filter(|block| !self.is_map(*block));
            all.filter(is_worth).min_by_key(|&block| census.valid_pages(block))
        });
        let Some(victim) = victim.filter(|&block| self.fits(board, owner, block)) else {
            return Ok(found);
        };
        // No scheme that collects so weighs blocks that are as good (`PageOwner::weight`).
        self.collect_and_level(board, owner, victim, found)
    }
}
