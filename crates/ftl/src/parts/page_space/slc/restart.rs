//! The cache after a power cut: which blocks it has is told by the mode of their cells, and which
//! pages in them are valid by the map that the owner found.

use super::super::{Frontier, PageOwner, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::cell_mode::CellMode;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, PlaneId};

impl PageSpace {
    /// Whether a block was found that is set aside, and holds nothing: it is free for the cache, or
    /// out of use.
    pub(in super::super) fn found_static(&mut self, nand: &Nand, block: BlockId) -> bool {
        let plane = nand.geometry().plane_of_block(block);
        let Some(slc) = &mut self.slc else { return false };
        if !slc.is_static(block, plane) {
            return false;
        }
        let known = nand.state().block(block);
        let cache = &mut slc.planes[plane.index()];
        if known.retired {
            let from_start = nand.factory_bad_in(plane).contains(&block);
            cache.static_blocks -= u32::from(!from_start);
            return true;
        }
        let is_free = known.programmed == 0 && !known.read_only;
        if is_free {
            cache.static_free.push_back(block);
        }
        is_free
    }

    /// Whether a block with valid pages is one of the cache, which has it again then. The one with
    /// most room is written on.
    pub(in super::super) fn found_cached(&mut self, nand: &Nand, block: BlockId) -> bool {
        let Some(slc) = &mut self.slc else { return false };
        if nand.modes().of(block) == CellMode::Dense {
            return false;
        }
        let plane = nand.geometry().plane_of_block(block);
        let known = nand.state().block(block);
        let is_dynamic = !slc.is_static(block, plane);
        let cache = &mut slc.planes[plane.index()];
        cache.dynamic += u32::from(is_dynamic);
        self.stream_of[block.index()] = Stream::Slc.mark();
        let frontier = &mut self.planes[plane.index()].frontiers[Stream::Slc.index()];
        let open = known.top < slc.pages && !known.read_only;
        if open && (frontier.block.is_none() || known.top < frontier.next) {
            cache.closed.extend(frontier.block);
            *frontier = Frontier { block: Some(block), next: known.top };
        } else {
            cache.closed.push_back(block);
        }
        true
    }

    /// Every block of a plane was found: the cache knows the order in which its blocks were filled.
    pub(in super::super) fn sort_cache(&mut self, nand: &Nand, plane: PlaneId) {
        let Some(slc) = &mut self.slc else { return };
        let now = nand.sequence();
        let cache = &mut slc.planes[plane.index()];
        let age = |block: &BlockId| std::cmp::Reverse(nand.state().block(*block).age(now));
        cache.closed.make_contiguous().sort_unstable_by_key(age);
        // Found from the last block on.
        cache.static_free.make_contiguous().sort_unstable_by_key(|block| block.0);
    }

    /// A cut may have left fewer free blocks than a write may find: the cache gives its own back,
    /// and garbage is collected, before the first page is taken.
    pub(super) fn collect_after_cut<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        if !std::mem::take(&mut self.planes[plane.index()].collects_first) {
            return Ok(after);
        }
        self.collect_if_short(board, owner, plane, after)
    }
}
