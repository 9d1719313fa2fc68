//! Where the block map of a log-block scheme is, if not in memory: on flash, every change written
//! at once (BAST), with changes that stay in memory until they leave (DAC), or in frames that it
//! shares with data (TreeFTL over blocks); and what merges and look-ups do with it.

use crate::parts::block_map_cache::{BlockMapCache, CacheRules, CacheSizes};
use crate::parts::data_blocks::{DataBlocks, Lbn};
use crate::parts::flash_map::{FlashMap, Stay};
use crate::parts::framed_map::{FrameSizes, FramedMap};
use crate::parts::map_area::{Backing, FoundMapPages};
use crate::parts::merge_engine::MergeEngine;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{Lpn, pack};

/// How much of a block map on flash is in memory.
#[derive(Clone, Copy, Debug)]
pub enum BlockMapKind {
    /// So many map pages; every change is written at once.
    Written(u32),
    /// Entries and pages; changes are written when they leave.
    Cached(CacheSizes, CacheRules),
    /// Pages in frames, which their owner fills and clears.
    Framed(FrameSizes),
}

/// A block map on flash.
#[derive(Clone, Debug)]
pub enum BlockMap {
    /// Every change is written at once.
    Written(Box<FlashMap>),
    /// Changes are written when they leave.
    Cached(Box<BlockMapCache>),
    /// Changes are written when the owner of the frames says so.
    Framed(Box<FramedMap>),
}

impl BlockMap {
    /// Nothing mapped.
    pub fn new(board: &Board, kind: BlockMapKind) -> Self {
        let (geometry, entries) = (board.geometry(), board.geometry().logical_blocks());
        match kind {
            BlockMapKind::Written(most) => {
                BlockMap::Written(Box::new(FlashMap::new(geometry, entries, most)))
            }
            BlockMapKind::Cached(sizes, rules) => {
                BlockMap::Cached(Box::new(BlockMapCache::new(geometry, entries, sizes, rules)))
            }
            BlockMapKind::Framed(sizes) => {
                BlockMap::Framed(Box::new(FramedMap::new(geometry, sizes)))
            }
        }
    }

    /// Blocks of the area with the map pages.
    pub fn area_blocks(&self) -> u32 {
        match self {
            BlockMap::Written(map) => map.area_blocks(),
            BlockMap::Cached(map) => map.area_blocks(),
            BlockMap::Framed(map) => map.area_blocks(),
        }
    }

    /// What flash and memory say is what the block table says.
    pub fn self_check(&self, board: &Board, data: &DataBlocks) -> Result<(), String> {
        match self {
            BlockMap::Written(map) => map.self_check(board, words(data)),
            BlockMap::Cached(map) => map.self_check(board, words(data)),
            BlockMap::Framed(map) => map.self_check(board, words(data)),
        }
    }
}

/// What merges and look-ups do with a block map on flash; nothing where it is in memory.
impl MergeEngine {
    /// Finds out where a logical page is: nothing to look up if it is in a log block.
    #[inline]
    pub fn look_up_page(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        if self.block_map.is_none() || self.logs.get(lpn).is_some() {
            return Ok(after);
        }
        self.look_up(board, lpn, after)
    }

    /// Finds out which data block a logical page has.
    #[inline]
    pub fn look_up(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), lpn);
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        match map {
            BlockMap::Written(map) => map.look_up(board, &mut backing, lbn.0, after),
            BlockMap::Cached(map) => map.look_up(board, &mut backing, lbn.0, after),
            // The owner of the frames has looked it up.
            BlockMap::Framed(_) => Ok(after),
        }
    }

    /// Before a logical block gets another data block: what is written of the map then has its
    /// place in memory and on flash, so that the merge does not fail for want of a block when it
    /// has done its work.
    #[inline]
    pub(super) fn before_map_update(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        match map {
            BlockMap::Written(map) => {
                let kept = map.write_kept(board, &mut backing, Cause::GcMapUpdate, after)?;
                let ready = map.make_room(board, backing.supply, Cause::GcMapBlock, kept)?;
                let how = (Stay::Newest, Cause::GcMapUpdate);
                map.bring(board, &mut backing, map.part_of(lbn.0), how, ready)
            }
            BlockMap::Cached(map) => {
                let kept = map.write_kept(board, &mut backing, Cause::GcMapUpdate, after)?;
                map.bring(board, &mut backing, lbn.0, Cause::GcMapUpdate, kept)
            }
            BlockMap::Framed(map) => map.announce(board, &mut backing, lbn.0, after),
        }
    }

    /// A logical block has another data block: its map page is written, or its entry changed. This
    /// does not fail for want of a block.
    #[inline]
    pub(super) fn update_map(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        match map {
            BlockMap::Written(map) => {
                map.write_or_keep(board, &mut backing, map.part_of(lbn.0), cause, after)
            }
            BlockMap::Cached(map) => {
                map.change(&backing, lbn.0);
                Ok(after)
            }
            BlockMap::Framed(map) => map.change(board, &mut backing, lbn.0, cause, after),
        }
    }

    /// Map pages in frames.
    ///
    /// # Panics
    /// If the map is somewhere else.
    #[inline]
    pub fn framed(&self) -> &FramedMap {
        match &self.block_map {
            Some(BlockMap::Framed(map)) => map,
            _ => unreachable!("the owner of the frames asked for a map in frames"),
        }
    }

    /// The same, to change it, and the block table.
    #[inline]
    pub fn framed_mut(&mut self) -> (&mut FramedMap, Backing<'_, impl Fn(u32) -> u32>) {
        match &mut self.block_map {
            Some(BlockMap::Framed(map)) => {
                (map, Backing { supply: &mut self.supply, table: words(&self.data) })
            }
            _ => unreachable!("the owner of the frames asked for a map in frames"),
        }
    }

    /// The map of blocks on flash, if that is where it is, and the block table.
    fn map_and_backing(&mut self) -> Option<(&mut BlockMap, Backing<'_, impl Fn(u32) -> u32>)> {
        let map = self.block_map.as_mut()?;
        Some((map, Backing { supply: &mut self.supply, table: words(&self.data) }))
    }

    /// The same after a power cut, with the map pages that were found.
    pub fn recover_map(
        &mut self,
        board: &mut Board,
        found: &FoundMapPages,
        kind: BlockMapKind,
        after: When,
    ) -> Result<When, Fault> {
        let entries = board.geometry().logical_blocks();
        let mut backing = Backing { supply: &mut self.supply, table: words(&self.data) };
        let (map, done) = match kind {
            BlockMapKind::Written(most) => {
                let size = (entries, most);
                let (map, done) = FlashMap::recover(board, &mut backing, found, size, after)?;
                (BlockMap::Written(Box::new(map)), done)
            }
            BlockMapKind::Cached(sizes, rules) => {
                let (what, how) = ((found, entries), (sizes, rules));
                let (map, done) = BlockMapCache::recover(board, &mut backing, what, how, after)?;
                (BlockMap::Cached(Box::new(map)), done)
            }
            BlockMapKind::Framed(sizes) => {
                let (map, done) = FramedMap::recover(board, &mut backing, found, sizes, after)?;
                (BlockMap::Framed(Box::new(map)), done)
            }
        };
        self.block_map = Some(map);
        Ok(done)
    }
}

/// The block table as words of map pages.
fn words(data: &DataBlocks) -> impl Fn(u32) -> u32 {
    |lbn| pack(data.block(Lbn(lbn)).map(|block| block.0))
}
