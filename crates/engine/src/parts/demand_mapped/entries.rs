//! Single entries that enter and leave the cache of a scheme that caches entries one by one.

use super::DemandMapped;
use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::when::When;
use crate::meter::{Cause, Event};
use crate::parts::cmt::{Cmt, Slot};
use crate::units::Lpn;

impl DemandMapped<Cmt> {
    /// Reads the translation page of an entry and caches the entry; there must be room.
    pub fn fetch(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<Slot, Fault> {
        let (part, _) = self.map.translation.part_of(lpn);
        let loaded = self.load(board, part, after)?;
        let ppn = self.map.translation.entry(board, lpn);
        Ok(self.map.cache.insert(lpn, ppn, loaded))
    }

    /// An entry leaves the cache. If it has changed, it is written to its translation page first;
    /// with `batch` the other changed entries of that page are written with it.
    pub fn evict(
        &mut self,
        board: &mut Board,
        victim: Slot,
        batch: bool,
        after: When,
    ) -> Result<When, Fault> {
        if !self.map.cache.is_dirty(victim) {
            board.event(Event::EvictClean, 1);
            self.map.cache.remove(victim);
            return Ok(after);
        }
        board.event(Event::EvictDirty, 1);
        let lpn = self.map.cache.lpn(victim);
        let done = if batch {
            let (part, _) = self.map.translation.part_of(lpn);
            let (written, along) = self.write_back_part(board, part, Cause::Translate, after)?;
            board.event(Event::BatchedEvictions, u64::from(along.saturating_sub(1)));
            written
        } else {
            self.write_back(board, lpn, Cause::Translate, after)?
        };
        self.map.cache.remove(victim);
        Ok(done)
    }
}
