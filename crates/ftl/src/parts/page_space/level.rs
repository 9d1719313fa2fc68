//! Static levelling of wear: data that nobody rewrites moves from a block that is hardly worn to a
//! worn one, so that the young block comes into use.

use super::{PageOwner, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

impl PageSpace {
    /// Moves one block if the erases of the plane are too far apart. Copies and the erase are
    /// `Cause::Wear`; what the map learns of it counts like what it learns of a collection. A block
    /// is needed until the other is erased, so nothing moves while free ones are short.
    pub(super) fn level<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let Some(levelling) = &mut self.levelling else { return Ok(after) };
        let Some(worn) = self.planes[plane.index()].free.most_worn() else { return Ok(after) };
        let Some(node) = levelling.due(plane, worn) else { return Ok(after) };
        let victim = BlockId(board.geometry().blocks_of(plane).start + node);
        if !self.can_level(board, owner, victim) {
            return Ok(after);
        }
        let open = |stream: &Stream| {
            self.planes[plane.index()].frontiers[stream.index()].block == Some(victim)
        };
        if let Some(stream) = self.data_streams().chain([Stream::Map]).find(open) {
            self.close(board.nand(), plane, stream);
        }
        if self.is_withheld(victim) {
            self.release_candidate(board.nand(), victim);
        }
        let behind = self.behind_in_queue(victim);
        let is_map = self.is_map(victim);
        let role = if is_map { BlockRole::Map } else { BlockRole::Data };
        self.levelled = if is_map { Stream::Map } else { self.levelled_data(victim) };
        let worn = (victim, Some(Stream::Worn));
        let moved = self.empty(board, owner, worn, Cause::Wear, after);
        // Whether it is full or not: what comes next is none of this block's business.
        let target = self.planes[plane.index()].frontiers[Stream::Worn.index()].block;
        self.close(board.nand(), plane, Stream::Worn);
        let (_, mut done) = moved?;
        if let Some(target) = target {
            self.note_levelled(victim, target);
            self.takes_place(target, behind);
            done = board.finish_flash_page(target, Cause::Wear, done);
        }
        board.event(Event::LevelledBlocks, 1);
        self.release(board, victim, role, Cause::Wear, done)
    }

    /// Whether a free block is left when the worn one and the map pages of all moved pages are
    /// written.
    fn can_level<O: PageOwner>(&self, board: &Board, owner: &mut O, victim: BlockId) -> bool {
        let plane = board.geometry().plane_of_block(victim);
        let map_pages = if self.is_map(victim) { 0 } else { owner.map_writes(self, board, victim) };
        let map_blocks = self.opens((plane, Stream::Map), map_pages);
        self.planes[plane.index()].free.len() > 1 + map_blocks
    }
}
