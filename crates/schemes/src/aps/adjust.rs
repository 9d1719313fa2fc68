//! An adjustment: a step of RAM moves from one partition to the other, and what has lost its place
//! leaves.

use super::Aps;
use super::partition::Partitions;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;

impl Aps {
    /// Counts requests by their first page; the last of an interval adjusts the partitions.
    #[inline]
    pub(super) fn next_request(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        if io.request.index > 0 {
            return Ok(after);
        }
        self.interval.requests += 1;
        if self.interval.requests < self.settings.interval {
            return Ok(after);
        }
        self.adjust(board, after)
    }

    /// Moves a step of RAM to where it would have saved more; what has lost its place leaves.
    #[cold]
    fn adjust(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let Some(towards) = self.interval.close(board) else { return Ok(after) };
        let Some(shifted) = self.partitions.shifted(towards) else { return Ok(after) };
        let made = self.shift_to(board, shifted, after);
        self.interval.begin(board);
        made
    }

    fn shift_to(
        &mut self,
        board: &mut Board,
        shifted: Partitions,
        after: When,
    ) -> Result<When, Fault> {
        // What has lost its place leaves before the sizes change: a power cut in between finds
        // partitions that hold what they may. A worn-out device cannot write what would have to
        // leave, and keeps its partitions: the request goes on.
        let made = self.shrink_to(board, &shifted, after).map(Some);
        let Some(when) = made.or_else(Fault::unless_worn_out)? else { return Ok(after) };
        self.partitions = shifted;
        board.event(Event::Repartitions, 1);
        self.tell_sizes(board);
        Ok(when)
    }

    /// What finds no place in smaller partitions leaves.
    fn shrink_to(
        &mut self,
        board: &mut Board,
        shifted: &Partitions,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = self.shrink_map(board, shifted.entries(), after)?;
        while self.data.pages().len() > shifted.frames() {
            when = self.evict_page(board, when)?;
        }
        Ok(when)
    }

    /// The entries that have lost their place leave, those used longest ago; what of them has
    /// changed is written a map page at a time.
    fn shrink_map(&mut self, board: &mut Board, most: u32, after: When) -> Result<When, Fault> {
        let cache = &self.base.map.cache;
        let surplus = cache.len().saturating_sub(most);
        self.leaving.clear();
        self.leaving
            .extend(cache.oldest_first().take(surplus as usize).map(|slot| cache.lpn(slot)));
        self.leaving.sort_unstable();
        let mut done = Ok(after);
        while let Ok(ready) = done
            && self.base.map.cache.len() > most
        {
            done = self.evict_entry(board, ready);
        }
        self.leaving.clear();
        done
    }
}
