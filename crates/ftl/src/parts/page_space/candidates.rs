//! Blocks, or lines, that can be collected: how they come to be candidates, what policies compare
//! them by, and what they hold.

use super::{PageSpace, Stream};
use crate::parts::line_book::valid_in;
use crate::parts::victim::Census;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::{BlockId, PlaneId, Ppn};

impl PageSpace {
    /// The frontier's block becomes a candidate, unless it is withheld.
    pub(super) fn close(&mut self, nand: &Nand, plane: PlaneId, stream: Stream) {
        if let Some(block) = self.planes[plane.index()].frontiers[stream.index()].block.take() {
            self.note_closed(block);
            self.zone_is_full(stream);
            if self.line_of_group_closed(block) {
                return;
            }
            if self.holds_back(block) {
                self.hold(nand, block);
            } else {
                self.put_up(nand, block);
            }
        }
    }

    /// What policies compare candidates by.
    #[inline]
    pub(super) fn census<'a>(&'a self, nand: &'a Nand) -> Census<'a> {
        Census::new(nand, self.lines.as_ref().map(|lines| &lines.book))
    }

    /// The plane of a block; the only one of lines.
    #[inline]
    pub(super) fn plane_of_unit(&self, nand: &Nand, unit: BlockId) -> PlaneId {
        if self.lines.is_some() { PlaneId(0) } else { nand.geometry().plane_of_block(unit) }
    }

    /// A block, or a line, becomes a candidate.
    pub(super) fn put_up(&mut self, nand: &Nand, block: BlockId) {
        if self.waits_in_queue(nand, block) {
            return;
        }
        let census = Census::new(nand, self.lines.as_ref().map(|lines| &lines.book));
        let plane = self.plane_of_unit(nand, block);
        self.planes[plane.index()].victims.closed(&census, block);
    }

    /// Pages of a block, or of a line, that collecting it moves.
    #[inline]
    pub fn valid_in(&self, nand: &Nand, victim: BlockId) -> u32 {
        match &self.lines {
            None => nand.valid_pages(victim),
            Some(lines) => lines.book.valid(victim),
        }
    }

    /// Those pages.
    pub fn valid_pages<'a>(
        &self,
        nand: &'a Nand,
        victim: BlockId,
    ) -> impl Iterator<Item = Ppn> + use<'a> {
        self.blocks_of_unit(victim).flat_map(move |block| valid_in(nand, block))
    }

    /// From now on levelling knows of a block, open or full: one that is left half written for long
    /// is as cold as what lies in it.
    pub(super) fn is_in_use(&mut self, nand: &Nand, block: BlockId) {
        let plane = self.plane_of_unit(nand, block);
        if let Some(levelling) = &mut self.levelling {
            let node = block.0 - nand.geometry().blocks_of(plane).start;
            levelling.placed(plane, node, nand.state().block(block).erases);
        }
    }

    pub(super) fn is_candidate_no_more(&mut self, nand: &Nand, block: BlockId) {
        let plane = self.plane_of_unit(nand, block);
        self.leaves_candidates(plane, block);
        if let Some(levelling) = &mut self.levelling {
            levelling.removed(plane, block.0 - nand.geometry().blocks_of(plane).start);
        }
    }
}
