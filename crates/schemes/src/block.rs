//! # Idea
//! One physical block per logical block, every page at its own offset. A page that was written
//! before can only be written again by rewriting its block.
//!
//! # Paper
//! The block-mapping FTL that Hu et al. (HAT, 2010), II, and the DFTL papers compare with; commonly
//! credited to Shinohara, US Patent 5,905,993, 1999 (which we have not read);
//! `docs/papers/others.md#block-map`.
//!
//! # Structures
//! P: pages per block. Nl: logical blocks. Block table of Nl entries; one rewrite under way.
//!
//! # Read
//! The page at its offset of the mapped block. While a request rewrites the block: in the new block
//! if it is there already.
//!
//! # Write
//! A free offset of the mapped block takes the page. Otherwise the block is rewritten into a clean
//! one: every other valid page is copied, the host's pages are written at their offsets, the block
//! is mapped anew and the old one erased. All pages of a request that lie in one logical block are
//! one rewrite (`block.coalesce_request`).
//!
//! # Reclaim
//! The rewrite is all there is: it takes a block and gives one back, at once or later
//! (`block.erase_now`).
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins. Of the two blocks of
//! an interrupted rewrite the new one is mapped, and what the old one still holds moves to the
//! free offsets of the new one.
//!
//! # Deviations
//! Trims and their records are ours. Where the flash demands ascending programs, a page below the
//! highest programmed offset forces a rewrite; where it demands every page in order, gaps are
//! filled with pads (the DFTL paper calls the scheme infeasible there).
//!
//! # Settings
//! Group `block`.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_ftl::answers::Room;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped};
use ftlab_ftl::parts::block_rewrite::BlockRewrite;
use ftlab_ftl::parts::data_blocks::{Lbn, accepts, padded};
use ftlab_ftl::parts::merge_engine::Sources;
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

choices! {
    /// Which free offsets of a mapped block take a page.
    pub enum OffsetOrder {
        /// Any.
        OffsetFree = "offset_free",
        /// Those above the highest that was programmed.
        Ascending = "ascending",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<BlockSettings>;

settings! {
    /// Settings of `block`.
    pub struct BlockSettings in "block" {
        /// Whether the pages of a request in one logical block are written by one rewrite; else
        /// each page rewrites the block, as page by page simulators do.
        coalesce_request: bool = true, legal("", |_| true),
            source("open: docs/papers/others.md#block-map");
        /// Whether the old block of a rewrite is erased at once. If not it is marked, and erased in
        /// an idle gap (gc.mode = idle or both), or when free blocks are needed.
        erase_now: bool = true, legal("", |_| true), source("HAT 2010, II.B: marked for erase");
        /// Which free offsets of a mapped block take a page; nand.enforce_order can demand more.
        order: OffsetOrder = OffsetOrder::OffsetFree, legal("", |_| true),
            source("DFTL 2014, 2");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Block;

/// Free blocks that a write must find while others are only marked: what every device of the
/// scheme has when nothing is marked.
const FREE_FOR_A_WRITE: u32 = block_mapped::RESERVE;

/// The block-mapped FTL.
#[derive(Clone)]
pub struct Block {
    base: BlockMapped,
    rewrite: BlockRewrite,
    settings: BlockSettings,
    /// What the flash demands, and the setting on top of it.
    order: ProgramOrder,
}

impl Scheme for Block {
    const PAPER: Paper = Paper {
        name: "block",
        title: "Flash memory card with block memory address arrangement",
        authors: "Shinohara",
        venue: "US Patent 5,905,993",
        year: 1999,
        sections: "block table, write in place, rewrite of a block",
        deviations: &[
            "trims and their record pages are added",
            "the pages of a request in one block are one rewrite (block.coalesce_request)",
            "under nand.enforce_order, pages below the highest programmed offset force a rewrite, \
             and gaps are padded if strict",
        ],
        family: Family::Block,
        class: Classification {
            kind: "block",
            granularity: "block",
            update_blocks: "none",
            associativity: "none",
            full_merge: true,
        },
    };
    const PRESETS: &'static [ftlab_ftl::scheme::Preset] =
        &[("page_by_page", &[("block.coalesce_request", "false")])];
    type Settings = BlockSettings;
    type Survivor = ();

    fn minimum_blocks(config: &Config) -> u64 {
        // The new block of a rewrite is in the reserve; one is marked beside it.
        BlockMapped::minimum_blocks(config, u64::from(!config.own.erase_now))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let BlockSettings { coalesce_request, erase_now, .. } = config.own;
        let rewrite = if coalesce_request { BlockRewrite::RAM_BYTES } else { 0 };
        let blocks = u64::from(Geometry::new(&config.device).blocks());
        let marks = if erase_now { 0 } else { blocks * 4 };
        BlockMapped::ram_use(config, &[("rewrite", rewrite), ("marked_blocks", marks)])
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Block::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let done = if self.rewrite.continues_with(board, io) {
            self.rewrite.write(board, &mut self.base.engine, io, after)?
        } else {
            let ready = self.settle(board, after)?;
            let ready = self.base.merge_strays(board, &mut (), ready)?;
            self.place(board, io, ready)?
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let done = self.settle(board, after)?;
        self.base.trim(board, io);
        Ok(done)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let ready = self.settle(board, after)?;
        self.base.flush(board, ready)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.base.engine.supply.erase_marked(board, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board, self.rewrite.blocks() + self.base.engine.supply.marked())
    }

    forward!(base: payload_pages, read, locate);

    fn room(&self) -> Room {
        let threshold = if self.settings.erase_now { 1 } else { FREE_FOR_A_WRITE };
        Room { free_blocks: self.base.engine.supply.free_blocks(), threshold }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (mut base, found, erased) = BlockMapped::recover(board, config, after)?;
        base.hand_over(board, &found.logs, |_, _| false);
        let done = base.evacuate(board, &found.leftovers, erased)?;
        Ok((Block::on(base, board, config), done))
    }
}

impl Block {
    /// Without a rewrite under way.
    fn on(mut base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.own.clone();
        if !settings.erase_now {
            base.engine.supply.mark_only(board);
        }
        let order = match (padded(base.engine.data.order()), settings.order) {
            (ProgramOrder::Off, OffsetOrder::OffsetFree) => ProgramOrder::Off,
            _ => ProgramOrder::AscendingGapsOk,
        };
        Block { base, rewrite: BlockRewrite::default(), settings, order }
    }

    /// Ends what a request left half done because it failed, and erases marked blocks until the
    /// free ones are enough for a write.
    #[inline]
    fn settle(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        let mut when = self.rewrite.finish(board, engine, after)?;
        while engine.supply.free_blocks() < FREE_FOR_A_WRITE
            && let Some(done) = engine.supply.erase_marked(board, when)?
        {
            when = done;
        }
        Ok(when)
    }

    /// The offsets of the request's pages in this logical block, from this page on.
    fn offsets(&self, board: &Board, io: &PageIo) -> std::ops::Range<u32> {
        let pages_per_block = board.geometry().pages_per_block;
        let (_, offset) = Lbn::of(board.geometry(), io.lpn);
        let left = if self.settings.coalesce_request {
            io.request.first_lpn.0 + io.request.pages - io.lpn.0
        } else {
            1
        };
        offset..pages_per_block.min(offset + left)
    }

    /// Whether every one of these offsets of a logical block can be programmed, one after the
    /// other.
    fn takes_in_place(&self, board: &Board, lbn: Lbn, offsets: std::ops::Range<u32>) -> bool {
        let Some(block) = self.base.engine.data.block(lbn) else { return true };
        let page = |offset| board.geometry().page(block, offset);
        accepts(board.nand(), self.order, page(offsets.start))
            && offsets.skip(1).all(|offset| board.nand().state().is_free(page(offset)))
    }

    fn place(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        let offsets = self.offsets(board, io);
        // The offsets are free: the pages go there.
        if self.takes_in_place(board, lbn, offsets.clone()) {
            return self.base.write_in_place(board, io, after);
        }
        board.event(Event::BlockRewrites, 1);
        let engine = &mut self.base.engine;
        match offsets.len() {
            // One page: copies and the page in one go.
            1 => engine.rebuild(board, lbn, Some(io), Sources::Newest, after),
            // Several: the block stays open for them.
            _ => self.rewrite.begin(board, engine, io, offsets, after),
        }
    }
}
