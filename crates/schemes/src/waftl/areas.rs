//! Which area each block belongs to, where the newest copies of a logical block are, and how many
//! pages are mapped which way over time.
//!
//! What this is not: the maps. They are the shared log index and the block table.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::Level;
use ftlab_flash::units::{BlockId, Lpn, Ppn, zeroed};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::merge_engine::MergeEngine;
use ftlab_ftl::parts::told::Told;

/// Where the newest copy of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// In the buffer zone.
    Zone,
    /// In a page-mapped block.
    ByPage,
    /// At its place in a block-mapped block.
    ByBlock,
}

/// Pages of a logical block by area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// In the buffer zone.
    pub buffered: u32,
    /// In page-mapped blocks.
    pub by_page: u32,
    /// At their places.
    pub by_block: u32,
}

/// Areas of blocks, and what is told about them.
#[derive(Clone, Debug)]
pub struct Areas {
    /// 1: buffer zone, 2: page-mapped, 0: neither so far. A block that left its area is asked for no
    /// more: the index names no page of one that was erased, nor of a data block.
    of_block: Vec<u8>,
    /// Pages mapped by pages and by blocks; those in the zone are neither.
    pages: [u32; 2],
    told: Told<3>,
    pages_per_block: u32,
}

const ZONE: u8 = 1;
const BY_PAGE: u8 = 2;

impl Areas {
    /// Of an empty device.
    pub fn new(geometry: &Geometry) -> Self {
        Areas {
            of_block: zeroed(geometry.blocks() as usize),
            pages: [0; 2],
            told: Told::new([
                Level::BufferZoneBlocks,
                Level::PageMappedPages,
                Level::BlockMappedPages,
            ]),
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// A block belongs to the buffer zone now.
    #[inline]
    pub fn joins_zone(&mut self, block: BlockId) {
        self.of_block[block.index()] = ZONE;
    }

    /// A block is page-mapped now.
    #[inline]
    pub fn joins_by_page(&mut self, block: BlockId) {
        self.of_block[block.index()] = BY_PAGE;
    }

    /// Where the newest copy of a page is, if not nowhere or in what a power cut left.
    #[inline]
    pub fn of(&self, board: &Board, engine: &MergeEngine, lpn: Lpn) -> Option<Area> {
        match engine.logs.get(lpn) {
            Some(ppn) => self.of_copy(ppn),
            None => engine.data.newest(board.nand(), lpn).map(|_| Area::ByBlock),
        }
    }

    /// The area of a page outside data blocks.
    #[inline]
    pub fn of_copy(&self, ppn: Ppn) -> Option<Area> {
        match self.of_block[(ppn.0 / self.pages_per_block) as usize] {
            ZONE => Some(Area::Zone),
            BY_PAGE => Some(Area::ByPage),
            _ => None,
        }
    }

    /// The copy of a page in the buffer zone, if that is the newest.
    #[inline]
    pub fn buffered(&self, engine: &MergeEngine, lpn: Lpn) -> Option<Ppn> {
        engine.logs.get(lpn).filter(|&ppn| self.of_copy(ppn) == Some(Area::Zone))
    }

    /// The copy of a page in a page-mapped block, if that is the newest.
    #[inline]
    pub fn by_page(&self, logs: &LogIndex, lpn: Lpn) -> Option<Ppn> {
        logs.get(lpn).filter(|&ppn| self.of_copy(ppn) == Some(Area::ByPage))
    }

    /// Counts the pages of a logical block.
    pub fn census(&self, board: &Board, engine: &MergeEngine, lbn: Lbn) -> Census {
        let mut census = Census::default();
        for offset in 0..board.geometry().pages_per_block {
            match self.of(board, engine, lbn.page(board.geometry(), offset)) {
                Some(Area::Zone) => census.buffered += 1,
                Some(Area::ByPage) => census.by_page += 1,
                Some(Area::ByBlock) => census.by_block += 1,
                None => {}
            }
        }
        census
    }

    /// A page's newest copy is somewhere else now.
    #[inline]
    pub fn moved(&mut self, from: Option<Area>, to: Option<Area>) {
        for (area, step) in [(from, u32::MAX), (to, 1)] {
            match area {
                Some(Area::ByPage) => self.pages[0] = self.pages[0].wrapping_add(step),
                Some(Area::ByBlock) => self.pages[1] = self.pages[1].wrapping_add(step),
                Some(Area::Zone) | None => {}
            }
        }
    }

    /// A logical block was rebuilt.
    pub fn rebuilt(&mut self, before: Census, after: Census) {
        self.pages[0] = self.pages[0] + after.by_page - before.by_page;
        self.pages[1] = self.pages[1] + after.by_block - before.by_block;
    }

    /// Pages mapped by pages and by blocks.
    pub fn pages(&self) -> [u32; 2] {
        self.pages
    }

    /// Takes over what was counted anew.
    pub fn recounted(&mut self, pages: [u32; 2]) {
        self.pages = pages;
        self.told.forget();
    }

    /// Tells the levels, if they changed; the zone has `zone` blocks.
    #[inline]
    pub fn tell(&mut self, board: &mut Board, zone: u32) {
        let [by_page, by_block] = self.pages;
        self.told.tell(board, [zone, by_page, by_block].map(u64::from));
    }
}
