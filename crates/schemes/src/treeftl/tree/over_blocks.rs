//! The tree over a map of blocks (`treeftl.map = block`): a map page names logical blocks, so its
//! group is every page of these. Blocks and their updates are those of the replacement-block
//! scheme, whose block map lies on flash; its map pages share the frames (`parts::framed_map`).
//!
//! Within its group a page leaves by its number, so that a logical block takes the pages that leave
//! in order; what is written while it stays (a flush, idle gaps) goes by group in the same order.

use super::base::TreeBase;
use super::{Frames, PageTree, Pruning, sizes};
use crate::replacement_block::ReplacementBlock;
use crate::treeftl::settings::{Config, chains};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::settings::PartialWrite;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::answers::Room;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::framed_map::FrameSizes;
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::merge_engine::block_map::BlockMapKind;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::scheme::Scheme;

/// Data and replacement blocks, and their map in frames.
#[derive(Clone)]
pub struct OverBlocks {
    blocks: ReplacementBlock,
    rmw: bool,
    all_sectors: u64,
}

/// Where the block map is.
fn kind<P: Pruning>(config: &Config<P::Settings>) -> BlockMapKind {
    let (maps, data) = sizes::slots::<P>(config);
    BlockMapKind::Framed(FrameSizes { maps, data })
}

impl OverBlocks {
    fn of<O>(blocks: ReplacementBlock, board: &Board, config: &Config<O>) -> Self {
        OverBlocks {
            blocks,
            rmw: config.io.partial_write == PartialWrite::Rmw,
            all_sectors: board.geometry().all_sectors(),
        }
    }

    /// With what was found after a power cut; no frame is in use.
    pub(super) fn recover<P: Pruning>(
        board: &mut Board,
        config: &Config<P::Settings>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let below = chains(config);
        let how = (&below, Some(kind::<P>(config)));
        let (blocks, done) = ReplacementBlock::resume(base, found, board, how, erased)?;
        Ok((Self::of(blocks, board, config), done))
    }

    /// Trims that memory kept over a power cut hold again.
    pub(super) fn trim_again(&mut self, board: &mut Board, trimmed: &[Lpn]) {
        trimmed.iter().for_each(|&lpn| self.blocks.base.forget(board, lpn));
    }
}

impl<P: Pruning> PageTree<P, OverBlocks> {
    /// An empty tree above an erased device.
    pub(super) fn over_blocks(board: &Board, config: &Config<P::Settings>) -> Self {
        let mut base = BlockMapped::new(board, config);
        base.map_on_flash(board, kind::<P>(config));
        let blocks = ReplacementBlock::on(base, board, &chains(config));
        Self::above(board, config, OverBlocks::of(blocks, board, config))
    }
}

impl TreeBase for OverBlocks {
    const IN_ORDER: bool = true;

    #[inline]
    fn frames(&self) -> &Frames {
        &self.blocks.base.engine.framed().frames
    }

    #[inline]
    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.blocks.base.engine.framed_mut().0.frames
    }

    fn load(&self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        self.blocks.base.engine.framed().read(board, part, Cause::Translate, after)
    }

    fn admit(&mut self, board: &Board, part: u32, ready: When) -> Slot {
        let (map, backing) = self.blocks.base.engine.framed_mut();
        map.admit(board, &backing, part, ready)
    }

    fn write_map(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        let (map, mut backing) = self.blocks.base.engine.framed_mut();
        map.write(board, &mut backing, part, after)
    }

    fn needs_old(&self, io: &PageIo) -> bool {
        self.rmw && io.sectors != self.all_sectors
    }

    fn current(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        self.blocks.base.engine.newest(board.nand(), lpn)
    }

    /// The entry leads to the chain of the logical block, out-of-band areas to the page.
    fn search(
        &self,
        board: &mut Board,
        lpn: Lpn,
        known: When,
    ) -> Result<(When, Option<Ppn>), Fault> {
        let found = self.blocks.search(board, lpn, known)?;
        Ok((found, self.current(board, lpn)))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        self.blocks.write(board, io, known)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        self.blocks.trim(board, io, known)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.blocks.flush(board, after)
    }

    fn changed_entries(&self) -> u64 {
        self.frames().changed().count() as u64
    }

    /// Changed map pages are written only when the tree prunes them.
    fn clean_map(&mut self, _: &mut Board, after: When) -> Result<When, Fault> {
        Ok(after)
    }

    /// Folds wait until blocks are needed.
    fn idle(&mut self, _: &mut Board, _: When) -> Result<Option<When>, Fault> {
        Ok(None)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.blocks.self_check(board)
    }

    fn room(&self) -> Room {
        self.blocks.room()
    }

    /// Out-of-band areas tell more than the map did.
    fn power_off(&self, _: bool) -> Option<Survivor> {
        None
    }

    fn unrecorded_trims(&self) -> Vec<Lpn> {
        self.blocks.base.unrecorded_trims().collect()
    }
}
