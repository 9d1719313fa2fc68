//! # Idea
//! A page-mapped and a block-mapped area share the device, and the boundary between them follows
//! the workload. A block of the block-mapped area that gets a hole is *fused* into the page-mapped
//! area without a flash operation; a logical block that need not be page-mapped is *defused*:
//! gathered into a block of its own. The two take the place of merges.
//!
//! # Paper
//! Kwon, Ranjitkar, Ko, Noh, Baek, Shin: Janus-FTL: finding the optimal point on the spectrum
//! between page and block mapping schemes, EMSOFT 2010; by its abstracts and
//! `docs/papers/others.md#janus`, as the paper could not be read. Its parts by file: fusion, and
//! what a write does, here; the boundary and its cost model in `boundary`; the write buffer block
//! and defusion in `gather`.
//!
//! # Structures
//! P pages per block, T page-mapped logical blocks that there shall be (`boundary`). Block table:
//! the block of each block-mapped logical block (`block_table`, `owner_of`), every page at its
//! offset. Page table for the page-mapped area; one index here (`pages`), its bytes counted by
//! area. A write buffer block (`open`): a logical block that is being rewritten in order.
//!
//! # Read
//! Page table or block table; one page read.
//!
//! # Write
//! Page-mapped: as `ideal_page`, the next page of the frontier. Block-mapped: at its place, if that
//! is free. If not, and it is the first page of its logical block (or the area is `all_block`), the
//! write buffer block takes it and what follows in order; else the block is fused and the page is
//! page-mapped. A logical block that holds nothing begins block-mapped.
//!
//! # Reclaim
//! The page-mapped area is collected as under `ideal_page`. Fusion: the block gives up its place in
//! the block table; it is a page-mapped block with invalid pages from then on. Defusion, while
//! there are more than T page-mapped logical blocks, one for each block that the area opens or
//! takes in by fusion: the logical block that `janus.defuse_rule` names is copied into a fresh
//! block (`Cause::Convert`, at most P copies).
//!
//! # Recovery
//! The out-of-band area of every page; the highest sequence number wins. A block that holds all
//! pages of one logical block, each at its place, and no other, is block-mapped.
//!
//! # Deviations
//! See `PAPER.deviations`. Under `nand.enforce_order = strict` a gather fills gaps with pads. Wear
//! levelling moves a block-mapped block into the page-mapped area, as pages. A failed program of a
//! block-mapped block fuses it.
//!
//! # Settings
//! Group `janus` (`settings`), and the groups `gc` and `alloc`.

mod boundary;
mod gather;
mod settings;

use crate::janus::settings::Config;
use boundary::Boundary;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::forward;
use ftlab_ftl::parts::data_blocks::{DataBlocks, Lbn, accepts, home_of, in_order, lpn_of_page};
use ftlab_ftl::parts::oob_scan::Extent;
use ftlab_ftl::parts::page_mapped::{self, PageMapped, PageTable};
use ftlab_ftl::parts::page_space::{Moved, Stream};
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};
pub use settings::{DefuseRule, JanusSettings, Target};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Janus;

/// Page and block mapping with a moving boundary.
#[derive(Clone)]
pub struct Janus {
    /// Where every page is, and the page-mapped area.
    base: PageMapped<Index>,
    /// Block of each block-mapped logical block, plus one. True while the block says so too.
    block_table: Vec<u32>,
    /// Logical block of each physical one that is or was block-mapped, plus one.
    owner_of: Vec<u32>,
    /// The write buffer block, and the logical block that is being rewritten.
    open: Option<(Lbn, BlockId)>,
    /// Pages that hold data.
    live: u64,
    boundary: Boundary,
    target: Target,
    order: ProgramOrder,
}

/// Physical page of each logical page, plus one. The controller looks into it at no cost.
#[derive(Clone)]
struct Index(Vec<u32>);

impl PageTable for Index {
    /// Pages of block-mapped blocks may be left out.
    const EXTENT: Extent = Extent::AnyOffset;

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.0[lpn.index()]).map(Ppn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.0[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
    }

    #[inline]
    fn moved(&mut self, _: &mut Board, page: Moved) {
        self.change(Lpn(page.logical), Some(page.new));
    }

    fn settle(&mut self, _: &mut Board, after: When) -> When {
        after
    }
}

/// One clean block for the block-mapped area, one for a rewrite, in each plane.
const CLEAN: u64 = 2;

fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, config.own.gc_low)
}

impl Scheme for Janus {
    const PAPER: Paper = Paper {
        name: "janus",
        title: "Janus-FTL: finding the optimal point on the spectrum between page and block \
                mapping schemes",
        authors: "Kwon, Ranjitkar, Ko, Noh, Baek, Shin",
        venue: "EMSOFT 2010",
        year: 2010,
        sections: "the two areas, fusion and defusion, as its abstracts describe them",
        deviations: &[
            "the paper itself could not be read: the cost model's constants, its interval and the \
             rule for defusion are settings of ours",
            "a logical block that holds nothing begins block-mapped",
            "a block-mapped logical block that is rewritten from its first page on goes to a write \
             buffer block, one at a time; it is fused when the order breaks",
            "the areas share the free blocks; block-mapped blocks prefer the plane of their number",
            "trims and their record pages are added",
        ],
        family: Family::LogBlock,
        class: Classification {
            kind: "hybrid",
            granularity: "page or block, by workload",
            update_blocks: "the page-mapped area",
            associativity: "N:M",
            full_merge: false,
        },
    };
    type Settings = JanusSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        page_mapped::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        let clean = CLEAN * config.device.plane_count();
        page_mapped::minimum_blocks(config, threshold(config)) + clean
    }

    fn payload_pages(config: &Config) -> u64 {
        // A pad is alive for a moment.
        page_mapped::payload_pages(config) + 1
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let (geometry, janus) = (Geometry::new(&config.device), &config.own);
        let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
        let table = page_mapped::table_bytes(config);
        let page_table = match janus.target {
            // The model may make the area as large as the device.
            Target::CostModel | Target::AllPage => table,
            Target::Fixed => (table * u64::from(janus.fixed_pct)).div_ceil(100),
            Target::AllBlock => 0,
        };
        let flags = u64::from(geometry.logical_blocks()).div_ceil(8);
        let own = [
            entry("page_table", page_table, Memory::Sram),
            entry("block_table", DataBlocks::ram_bytes(&geometry), Memory::Sram),
            entry("area_flags", flags, Memory::Sram),
            entry("write_counts", u64::from(geometry.logical_blocks()) * 4, Memory::Dram),
        ];
        page_mapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let table = Index(zeroed(board.geometry().logical_pages as usize));
        let base = PageMapped::new(board, config, threshold(config), table, seed);
        Ok(Janus::on(base, board, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.base.read(board, io, after)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        if self.target == Target::AllPage {
            self.boundary.enter(lbn);
            let plane = self.base.space.place_host(board, io);
            let live = self.live;
            let done = self.append(board, io, plane, after)?;
            // Nothing crosses the boundary, so that nobody else would tell.
            if self.live > live {
                self.tell(board);
            }
            return Ok(done);
        }
        let by_block = self.block_of(lbn).is_some();
        if self.boundary.count(lbn, offset, by_block) {
            self.tell(board);
        }
        let known = self.break_order(board, lbn, offset, after)?;
        let fused = self.boundary.page_mapped();
        let known = match self.write_by_block(board, io, known)? {
            Ok(done) => return Ok(done),
            Err(known) => known,
        };
        // By page, as there is no place for it, in a plane that block-mapped blocks have not
        // filled.
        self.fuse(board, lbn);
        let plane = self.base.space.place_beside_withheld(board, io);
        let opened = self.base.space.needs_block(board.nand(), plane, Stream::Data);
        let done = self.append(board, io, plane, known)?;
        // More page-mapped than there shall be: one goes for each that came, and each block opened.
        let by_page = self.boundary.page_mapped();
        if (opened || by_page > fused) && by_page > self.boundary.most() {
            // The page is written, whether or not a worn-out device has room for this.
            let defused = self.defuse(board, lbn, done);
            return defused.or_else(|fault| Ok(fault.unless_worn_out()?.unwrap_or(done)));
        }
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if self.base.trim(board, io.lpn) {
            self.live -= 1;
            let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
            let block = self.block_of(lbn);
            // A block-mapped block without a page is nobody's.
            if block.is_some_and(|block| board.nand().valid_pages(block) == 0) {
                self.unmap(board, lbn);
            }
            self.tell(board);
        }
        Ok(after)
    }

    forward!(base: flush, idle, locate, room);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.space.self_check(board)?;
        let logical = (0..board.geometry().logical_blocks()).map(Lbn);
        let mapped = logical.clone().filter(|&lbn| self.block_of(lbn).is_some()).count() as u32;
        let held = self.base.space.withheld_blocks();
        let open = self.open.is_some_and(|(lbn, block)| self.is_held_for(lbn, block));
        if mapped + u32::from(open) != held {
            return Err(format!("{mapped} logical blocks are block-mapped, {held} blocks are"));
        }
        for lbn in logical {
            let Some(block) = self.block_of(lbn) else { continue };
            let mut offset = 0;
            while let Some(ppn) = board.nand().state().next_valid(block, offset) {
                offset = board.geometry().offset_of(ppn) + 1;
                if lpn_of_page(board, ppn) != lbn.page(board.geometry(), offset - 1) {
                    return Err(format!(
                        "page {ppn} is not at its place in logical block {}",
                        lbn.0
                    ));
                }
            }
        }
        let live = (0..board.geometry().logical_pages).map(Lpn);
        let live = live.filter(|&lpn| self.entry(lpn).is_some()).count() as u64;
        match live == self.live {
            true => Ok(()),
            false => Err(format!("{} pages count as live, {live} are", self.live)),
        }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let how = (threshold(config), seed);
        let table = |_: &mut Board, entries, when| (Index(entries), when);
        let (base, when) = PageMapped::recover(board, config, how, table, after)?;
        let mut janus = Janus::on(base, board, config);
        janus.recognise(board);
        Ok((janus, when))
    }
}

impl Janus {
    fn on(mut base: PageMapped<Index>, board: &Board, config: &Config) -> Self {
        base.space.withhold_taken(board.nand());
        let geometry = board.geometry();
        let janus = &config.own;
        let spare = u64::from(geometry.blocks())
            .saturating_sub(u64::from(geometry.logical_blocks()))
            .saturating_sub(
                config.device.plane_count()
                    * (page_mapped::reserve(config, threshold(config)) + CLEAN),
            );
        Janus {
            base,
            block_table: zeroed(geometry.logical_blocks() as usize),
            owner_of: zeroed(geometry.blocks() as usize),
            open: None,
            live: 0,
            boundary: Boundary::new(geometry, janus, spare),
            target: janus.target,
            order: config.nand.enforce_order,
        }
    }

    /// The block of a block-mapped logical block. Levelling may have taken it away.
    #[inline]
    fn block_of(&self, lbn: Lbn) -> Option<BlockId> {
        let block = unpack(self.block_table[lbn.index()]).map(BlockId)?;
        self.is_held_for(lbn, block).then_some(block)
    }

    /// Whether a block is a logical block's own.
    #[inline]
    fn is_held_for(&self, lbn: Lbn, block: BlockId) -> bool {
        self.owner_of[block.index()] == lbn.0 + 1 && self.base.space.is_withheld(block)
    }

    fn map_block(&mut self, lbn: Lbn, block: BlockId) {
        self.block_table[lbn.index()] = pack(Some(block.0));
        self.boundary.leave(lbn);
    }

    /// A logical block's block becomes one of the page-mapped area.
    fn unmap(&mut self, board: &Board, lbn: Lbn) {
        if let Some(block) = self.block_of(lbn) {
            self.base.space.release_candidate(board.nand(), block);
        }
        self.block_table[lbn.index()] = 0;
    }

    /// Fusion: a block with a hole is page-mapped from now on. No flash operation.
    fn fuse(&mut self, board: &mut Board, lbn: Lbn) {
        let is_mapped = self.block_of(lbn).is_some();
        self.unmap(board, lbn);
        self.boundary.enter(lbn);
        if is_mapped {
            board.event(Event::Fusions, 1);
            self.tell(board);
        }
    }

    /// Writes to the page-mapped area, as `ideal_page` does.
    #[inline]
    fn append(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let place = (plane, Stream::Data);
        let ready = self.base.make_room_in(board, place, after)?;
        let is_new = self.entry(io.lpn).is_none();
        let done = self.base.put(board, io, place, ready)?;
        self.live += u64::from(is_new);
        Ok(done)
    }

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.base.map.table.entry(lpn)
    }

    /// Whether a logical block holds a page.
    fn holds_a_page(&self, board: &Board, lbn: Lbn) -> bool {
        lbn.pages(board.geometry()).any(|lpn| self.entry(Lpn(lpn)).is_some())
    }

    /// Writes a page of the block-mapped area; otherwise says from when on it can go elsewhere.
    fn write_by_block(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<Result<When, When>, Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        let is_open = self.open.is_some_and(|(open, _)| open == lbn);
        if is_open {
            return self.write_open(board, io, after);
        }
        if let Some(block) = self.block_of(lbn) {
            let place = board.geometry().page(block, offset);
            if accepts(board.nand(), self.order, place) {
                board.event(Event::InPlaceWrites, 1);
                return self.write_at(board, io, place, after);
            }
        }
        // A write buffer block for a rewrite from the front, and for whatever must stay
        // block-mapped.
        let empty = !self.boundary.is_page_mapped(lbn) && !self.holds_a_page(board, lbn);
        let mapped = self.block_of(lbn).is_some();
        let begins = self.target == Target::AllBlock
            || (mapped && offset == 0)
            || (empty && in_order(self.order, offset, 0));
        if !begins {
            return Ok(Err(after));
        }
        match self.take_block(board, lbn, after)? {
            (Some(block), ready) if empty => {
                self.unmap(board, lbn);
                self.map_block(lbn, block);
                self.write_first(board, io, block, ready)
            }
            (Some(block), ready) => {
                self.open = Some((lbn, block));
                self.write_open(board, io, ready)
            }
            (None, ready) => Ok(Err(ready)),
        }
    }

    /// One page-mapped logical block becomes block-mapped, if the rule names one.
    #[cold]
    fn defuse(&mut self, board: &mut Board, but: Lbn, after: When) -> Result<When, Fault> {
        let (lbn, steps) = self.boundary.next(but);
        let found = board.search(Search::Block, steps, after);
        let Some(lbn) = lbn else { return Ok(found) };
        if !self.holds_a_page(board, lbn) {
            self.boundary.leave(lbn);
            return Ok(found);
        }
        match self.take_block(board, lbn, found)? {
            (Some(block), ready) => self.finish(board, (lbn, block), ready),
            (None, ready) => Ok(ready),
        }
    }

    /// Tells the meter where the boundary is.
    fn tell(&self, board: &mut Board) {
        let (_, by_block) = self.base.space.withheld_pages(board.geometry());
        board.level(Level::PageMappedPages, self.live - by_block);
        board.level(Level::BlockMappedPages, by_block);
    }

    /// After a power cut: finds the block-mapped blocks, and which logical blocks are page-mapped.
    fn recognise(&mut self, board: &mut Board) {
        let geometry = board.geometry();
        let mut found: Vec<(Lbn, BlockId)> = Vec::new();
        for lbn in (0..geometry.logical_blocks()).map(Lbn) {
            let there = |&lpn: &u32| self.entry(Lpn(lpn)).is_some();
            let count = lbn.pages(geometry).filter(there).count() as u32;
            if count == 0 {
                continue;
            }
            self.live += u64::from(count);
            let home = home_of(geometry, lbn, |lpn| self.entry(lpn))
                .filter(|&block| count == board.nand().valid_pages(block));
            match home {
                Some(block) if self.target != Target::AllPage => found.push((lbn, block)),
                _ => self.boundary.enter(lbn),
            }
        }
        self.base.space.withhold_again(board.nand(), found.iter().map(|&(_, block)| block));
        for (lbn, block) in found {
            self.owner_of[block.index()] = lbn.0 + 1;
            if self.base.space.is_withheld(block) {
                self.map_block(lbn, block);
            } else {
                // Written in order by chance, and going on to be written.
                self.boundary.enter(lbn);
            }
        }
        self.tell(board);
    }
}

#[cfg(test)]
mod tests;
