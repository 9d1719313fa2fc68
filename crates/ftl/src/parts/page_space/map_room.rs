//! Room for map pages in the middle of a collection, and the closed blocks that it looks at.

use super::{PageOwner, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, PlaneId};

impl PageSpace {
    /// The plane of the victim whose pages were moved, and which is erased next.
    pub fn victims_plane(&self, board: &Board) -> Option<PlaneId> {
        let victim = self.collecting?;
        Some(self.plane_of_unit(board.nand(), victim))
    }

    /// Sees to it, in the middle of a collection, that a plane can take a map page without its last
    /// free block, by collecting map blocks there: their pages need no map update, so this never
    /// calls itself. A plane whose map blocks hold no garbage is left as it is.
    #[inline(always)]
    pub fn make_map_room<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        // The only plane has room: the victim was chosen so that it fits.
        match self.planes.len() {
            1 => Ok(after),
            _ => self.make_map_room_in(board, owner, plane, after),
        }
    }

    fn make_map_room_in<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        self.close_full(board.nand(), plane);
        for _ in 0..self.blocks_per_plane {
            let known = &self.planes[plane.index()];
            // A full one was closed, and no victim has the pages to fill the next one.
            let has_page = known.frontiers[Stream::Map.index()].block.is_some();
            if has_page || known.free.len() > 2 {
                break;
            }
            let garbage = self
                .closed_blocks(board, plane)
                .filter(|&block| self.is_map(block))
                .min_by_key(|&block| self.census(board.nand()).valid_pages(block));
            let Some(victim) = garbage.filter(|&block| self.fits(board, owner, block)) else {
                break;
            };
            when = self.collect(board, owner, victim, when)?;
        }
        Ok(when)
    }

    /// Closed blocks of a plane that hold an invalid page.
    pub(super) fn closed_blocks<'a>(
        &'a self,
        board: &'a Board,
        plane: PlaneId,
    ) -> impl Iterator<Item = BlockId> + 'a {
        let known = &self.planes[plane.index()];
        let open = |block| known.frontiers.iter().any(|frontier| frontier.block == Some(block));
        let all = match self.lines {
            None => board.geometry().blocks_of(plane),
            Some(_) => 0..self.blocks_per_plane,
        };
        all.map(BlockId)
            .filter(|&block| self.stream_of[block.index()] != 0 && Some(block) != self.collecting)
            .filter(|&block| !self.is_paused(block) && !self.is_withheld(block))
            .filter(|&block| !self.is_cached(block) && !self.is_of_group(block))
            .filter(move |&block| !open(block))
            .filter(|&block| self.census(board.nand()).valid_pages(block) < self.pages_per_block)
    }
}
