//! Sorting blocks after a power cut.

use std::cmp::Reverse;

use super::{Frontier, PageSpace, Stream};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::cell_mode::CellMode;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, PlaneId};

fn retired_in(nand: &Nand, plane: PlaneId) -> u32 {
    let blocks = nand.geometry().blocks_of(plane).map(BlockId);
    blocks.filter(|&block| nand.state().block(block).retired).count() as u32
}

impl PageSpace {
    /// After a power cut, once the owner has marked valid pages: sorts blocks into free ones,
    /// candidates and frontiers, erasing what an interrupted erase left undefined. Of the
    /// half-written blocks of a stream the emptiest goes on being written; the others wait for
    /// their collection. Candidates are known in the order of their last program.
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        threshold: u32,
        seed: u64,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut space = PageSpace::without_blocks(board, config, threshold, seed);
        space.placing_recovers(board);
        if let Some(levelling) = &mut space.levelling {
            let nand = board.nand();
            let slc = space.slc.as_deref();
            let is_static = |block| {
                let plane = nand.geometry().plane_of_block(block);
                slc.is_some_and(|slc| slc.is_static(block, plane))
            };
            levelling.recover(nand, is_static);
        }
        let mut when = after;
        if space.lines.is_some() {
            when = space.recover_lines(board, when)?;
            space.keep_for_collection(board, PlaneId(0));
            return Ok((space, when));
        }
        for plane in 0..board.geometry().planes() {
            let mut full = Vec::new();
            let mut untouched = board.geometry().blocks_of(PlaneId(plane)).end;
            space.planes[plane as usize].retired = retired_in(board.nand(), PlaneId(plane));
            for number in board.geometry().blocks_of(PlaneId(plane)).rev() {
                let block = BlockId(number);
                if space.found_static(board.nand(), block) {
                    continue;
                }
                let known = *board.nand().state().block(block);
                // Blocks that were bad from the start are among the untouched; the pool knows them.
                if !known.touched && untouched == number + 1 {
                    untouched = number;
                    continue;
                }
                if known.retired {
                    continue;
                }
                when = space.sort_block(board, block, &mut full, when)?;
            }
            space.planes[plane as usize].free.untouched_from(
                board.nand(),
                PlaneId(plane),
                untouched,
            );
            space.sort_cache(board.nand(), PlaneId(plane));
            // Policies go by the order in which blocks were filled.
            let now = board.nand().sequence();
            full.sort_unstable_by_key(|&block| Reverse(board.nand().state().block(block).age(now)));
            for &block in &full {
                space.put_up(board.nand(), block);
            }
            space.keep_for_collection(board, PlaneId(plane));
        }
        Ok((space, when))
    }

    /// Whether fewer blocks are free than between two writes: two were opened since a collection
    /// ended, of zones one, since none is opened but by who has made room.
    pub(super) fn has_few_free(&self, plane: PlaneId) -> bool {
        let opened = if self.is_the_hosts() { 1 } else { 2 };
        self.planes[plane.index()].free.len() + opened < self.collection_limit(plane)
    }

    /// A cut collection may have used free blocks that its victim's erase would have given back,
    /// and needs what is left of its targets: where blocks are short the next write collects before
    /// it takes a page.
    fn keep_for_collection(&mut self, board: &mut Board, plane: PlaneId) {
        if self.has_few_free(plane) {
            let known = &mut self.planes[plane.index()];
            known.usable = 0;
            known.collects_first = true;
            self.target_is_the_collections(board, plane);
        }
    }

    /// Where moved pages have a stream of their own, and no block of it was found: the block of
    /// data that can be written on is its target, which collection cannot do without, and not the
    /// host's.
    fn target_is_the_collections(&mut self, board: &mut Board, plane: PlaneId) {
        let moved = self.moved_data;
        let frontiers = &mut self.planes[plane.index()].frontiers;
        let (host, own) = (Stream::Data.index(), moved.index());
        // Without a stream of their own it is the host's block that they have.
        if self.placing.is_some() || frontiers[own].block.is_some() {
            return;
        }
        let Some(block) = frontiers[host].block else { return };
        frontiers.swap(host, own);
        self.stream_of[block.index()] = moved.mark();
        if let Some(lines) = &mut self.lines {
            lines.open.swap(host, own);
            self.hold_again(board, Stream::Data);
            self.hold_again(board, moved);
        }
    }

    fn sort_block(
        &mut self,
        board: &mut Board,
        block: BlockId,
        full: &mut Vec<BlockId>,
        after: When,
    ) -> Result<When, Fault> {
        let known = *board.nand().state().block(block);
        let plane = board.geometry().plane_of_block(block);
        if known.programmed == 0 && !known.read_only {
            self.planes[plane.index()].free.put(board.nand(), block);
            return Ok(after);
        }
        // A failed block whose erase was cut short after the fact is erased again, and retires.
        let mut stream = Self::stream_on_flash(board.nand(), block);
        if known.valid == 0 {
            return self.release(board, block, stream.role(), Cause::Recover, after);
        }
        if stream == Stream::Data {
            self.note_found(board.nand(), block);
        }
        self.planes[plane.index()].valid += known.valid;
        if self.found_cached(board.nand(), block) {
            return Ok(after);
        }
        // Of a cache that the drive no longer has: nobody writes on where a page is a whole word
        // line.
        let is_dense = board.nand().modes().of(block) == CellMode::Dense;
        let open = known.top < self.pages_per_block && !known.read_only && is_dense;
        stream = self.found_stream(plane, stream, open);
        self.stream_of[block.index()] = stream.mark();
        self.is_in_use(board.nand(), block);
        let frontier = self.planes[plane.index()].frontiers[stream.index()];
        if open && (frontier.block.is_none() || known.top < frontier.next) {
            full.extend(frontier.block);
            self.planes[plane.index()].frontiers[stream.index()] =
                Frontier { block: Some(block), next: known.top };
        } else {
            full.push(block);
        }
        Ok(after)
    }

    /// What a block was written with, from the first readable page.
    fn stream_on_flash(nand: &Nand, block: BlockId) -> Stream {
        let geometry = nand.geometry();
        let kind = (0..geometry.pages_per_block).find_map(|offset| {
            match nand.state().oob(geometry.page(block, offset)) {
                OobRead::Written(oob) => {
                    Some(oob.kind).filter(|kind| kind.is_host_data() || kind.holds_words())
                }
                OobRead::Free | OobRead::Torn => None,
            }
        });
        if kind.is_none_or(PageKind::is_host_data) { Stream::Data } else { Stream::Map }
    }
}
