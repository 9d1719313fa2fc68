//! # Idea
//! Adjacent logical blocks form a superblock. Inside it any page may lie anywhere, so that pages
//! that are rewritten often can be kept apart from the others; the map of its pages costs no
//! memory, because it lies in spare areas.
//!
//! # Paper
//! Kang, Jo, Kim, Lee, "A superblock-based flash translation layer for NAND flash memory", EMSOFT
//! 2006; Jung, Kang, Jo, Kim, Lee, "Superblock FTL", ACM TECS 9(4), 2010; DFTL 2014,
//! section 6; `docs/papers/others.md#superblock`. Read in abstracts and summaries only: what they
//! leave open is a setting, or a deviation.
//!
//! # Structures
//! P: pages per block. S: logical blocks of a superblock. D-blocks: its first blocks, as many as it
//! has logical blocks. U-blocks: what it has beyond, at most K, and at most the pool for all
//! superblocks (`parts::superblocks`). Superblock table: blocks and the newest page of each
//! superblock. The map has three levels: page global directory, page middle directories, page
//! tables. A piece of each is written with every page into its spare area, so that the newest
//! page's holds the directory (`parts::spare_map`); memory keeps what was read or written of the
//! superblocks used last. One bit per page: rewritten since the superblock's pages were last
//! gathered.
//!
//! # Read
//! Superblock table -> directory -> middle directory -> page table -> page. Up to three spare areas
//! are read first; fewer where pieces lie together, none for pieces in memory, nor for a superblock
//! without a block.
//!
//! # Write
//! The same look-up, because the pieces are written anew. Then to the next page of the superblock's
//! open block, whichever page it is. If that is full: a D-block while there are fewer than logical
//! blocks, else a U-block; at the limits, a collection first (see [`Superblock::make_room`]).
//!
//! # Reclaim
//! In the superblock itself if it has K U-blocks, else in a victim that has any. One case, from (a)
//! on: see [`Superblock::collect`]. Each leaves the superblock with at least one block fewer,
//! because its valid pages fit its D-blocks: with a U-block, at least a block's worth of pages is
//! not valid. A collection holds at most two blocks more than it began with, as each source is
//! erased as soon as it is empty; pages move one by one and the map tells the copy from the source
//! by its sequence number, so that nothing must wait. Hence blocks needed: logical ones, pool, two.
//!
//! # Recovery
//! Every spare area is read; the newest sequence number of a page wins. A block belongs to the
//! superblock of its pages. The blocks that were written first are D-blocks; the newest with room
//! goes on being written, the next one takes cold pages. Nothing is copied. Memory holds no map
//! yet, and no page counts as hot.
//!
//! # Deviations
//! Trims and their records are ours; a piece of the map that lost its page to a trim stays in
//! memory until a page of its range is programmed. What switch and partial merges are when pages
//! lie anywhere, and that hot means "rewritten since the last gathering", is our reading: see
//! `collect`. Cold pages fill a block of their own over several collections. If hot and cold blocks
//! apart would gain nothing, they are gathered in one. When few blocks are left because others were
//! retired, superblocks give up U-blocks before the pool is exhausted.
//!
//! # Settings
//! Group `superblock`.

mod collect;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::{HotRule, SuperblockSettings, SuperblockVictim};

use crate::superblock::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Tag, zeroed};
use ftlab_ftl::answers::{Location, Room};
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::block_supply::{BlockSupply, Need};
use ftlab_ftl::parts::block_survey::Survey;
use ftlab_ftl::parts::block_trims::BlockTrims;
use ftlab_ftl::parts::data_blocks::lpn_of_page;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::spare_map::SpareMap;
use ftlab_ftl::parts::superblocks::{Sbn, Stream, Superblocks};
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Superblock;

/// Blocks that a collection may hold beyond those that it began with: one of hot and one of cold
/// pages. One of them is in the reserve of every block-mapped scheme.
const GATHERED: u32 = 2;

/// Superblock FTL.
#[derive(Clone)]
pub struct Superblock {
    supply: BlockSupply,
    trims: BlockTrims,
    /// Where the newest copy of each page is; the controller finds that in the spare areas.
    index: LogIndex,
    map: SpareMap,
    table: Superblocks,
    /// One bit per page: rewritten since the superblock's pages were last gathered.
    rewritten: Vec<u32>,
    /// Blocks of a superblock with their valid pages, while sources are chosen.
    sources: Vec<(u32, BlockId)>,
    /// Planes of blocks that a collection erased.
    erased: Vec<PlaneId>,
    settings: SuperblockSettings,
}

impl Scheme for Superblock {
    const PAPER: Paper = Paper {
        name: "superblock",
        title: "A superblock-based flash translation layer for NAND flash memory",
        authors: "Kang, Jo, Kim, Lee; Jung, Kang, Jo, Kim, Lee",
        venue: "EMSOFT; ACM TECS 9(4) 2010",
        year: 2006,
        sections: "superblocks, map of three levels in spare areas, collection with hot and cold \
                   pages apart (from abstracts and summaries)",
        deviations: &[
            "trims and their record pages are added; map pieces that lose their page to a trim stay \
             in memory",
            "switch: a U-block of valid pages takes the place of a D-block without one; partial: a \
             U-block that begins with a logical block's pages in order is completed if that empties \
             a block",
            "hot pages are those rewritten since their superblock's pages were last gathered",
        ],
        family: Family::LogBlock,
        class: Classification {
            kind: "hybrid",
            granularity: "superblocks, their blocks by page",
            update_blocks: "of one superblock each",
            associativity: "S:M",
            full_merge: true,
        },
    };
    const PRESETS: &'static [Preset] = &[("mixed", &[("superblock.hot_rule", "none")])];
    type Settings = SuperblockSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        settings::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        let own = settings::limits(config).pool + GATHERED - 1;
        BlockMapped::minimum_blocks(config, u64::from(own))
    }

    fn payload_pages(config: &Config) -> u64 {
        BlockMapped::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let limits = settings::limits(config);
        let superblocks = u64::from(geometry.logical_blocks().div_ceil(limits.logical));
        let most = u64::from(config.own.map_cache_superblocks).min(superblocks);
        let rewritten = match config.own.hot_rule {
            HotRule::UpdatedSinceLastGc => u64::from(geometry.logical_pages).div_ceil(8),
            HotRule::None => 0,
        };
        let own = [
            ("superblock_table", superblocks * 4),
            ("update_blocks", u64::from(limits.pool) * 4),
            ("map_cache", most * settings::layout(config).group_bytes()),
            ("rewritten_bits", rewritten),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        let supply = BlockSupply::new(board, config);
        let trims = BlockTrims::new(board.geometry());
        Ok(Superblock::on(board, config, supply, trims))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        if self.table.len(self.table.of(io.lpn)) == 0 {
            return board.read_unwritten(io.lpn, after);
        }
        let known = self.map.lookup(board, io.lpn, after)?;
        match self.index.get(io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let sbn = self.table.of(io.lpn);
        let mut when = after;
        while self.table.is_over_pool() {
            when = self.collect_victim(board, when)?;
        }
        let mut looked_up = false;
        let done = loop {
            let Some(ppn) = self.table.next_page(board.nand(), sbn, Stream::Hot) else {
                when = self.make_room(board, sbn, when)?;
                continue;
            };
            if !looked_up {
                when = self.map.lookup(board, io.lpn, when)?;
                looked_up = true;
            }
            let old = self.index.get(io.lpn);
            match board.program_update(ppn, old, io, PageKind::Log, when) {
                Ok(done) => {
                    if let Some(old) = old {
                        board.nand_mut().invalidate(old);
                        self.set_rewritten(io.lpn);
                    }
                    self.index.set(io.lpn, ppn);
                    self.map.programmed(io.lpn, ppn);
                    break done;
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    // The block takes no more; another may need a collection first.
                    board.event(Event::ProgramFailures, 1);
                    when = known;
                }
                Err(fault) => return Err(fault),
            }
        };
        self.table.updated(sbn);
        self.table.weigh(board.nand(), sbn);
        self.trims.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if let Some(old) = self.index.take(io.lpn) {
            board.nand_mut().invalidate(old);
            self.table.weigh(board.nand(), self.table.of(io.lpn));
            self.trims.trim(io.lpn);
        }
        Ok(after)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.trims.flush(board, &mut self.supply, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let (own, records) = (self.table.total(), self.trims.blocks());
        let what = format!("{own} belong to superblocks, {records} hold trim records");
        self.supply.self_check(board, own + records, &what)?;
        self.table.self_check(board.nand())?;
        self.map.self_check(board)
    }

    fn locate(&self, _: &Board, lpn: Lpn) -> Location {
        self.index.get(lpn).map_or(Location::Nowhere, Location::Flash)
    }

    fn room(&self) -> Room {
        Room { free_blocks: self.table.free_in_pool(), threshold: 1 }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        // Step 1: the newest copies, by sequence number and flushed trims.
        let (survey, trims, scanned) = Survey::take(board, after)?;
        // Step 2: what holds none of them is erased.
        let (supply, erased) = BlockSupply::recover(board, config, Survey::role, scanned)?;
        let (mut found, records) = Survey::survivors(board);
        let trims = BlockTrims::recovered(board.nand(), trims, &records);
        let mut scheme = Superblock::on(board, config, supply, trims);
        // Step 3: pages, and the pieces of the map that lie with them.
        for (lpn, ppn) in survey.newest() {
            scheme.index.set(lpn, ppn);
            scheme.map.found(board, lpn, ppn);
        }
        // Step 4: blocks belong to the superblock of their pages, the oldest first.
        found.sort_by_key(|block| block.newest);
        for block in found.iter().map(|found| found.block) {
            let page = board.nand().state().next_valid(block, 0).expect("it holds a page");
            let sbn = scheme.table.of(lpn_of_page(board, page));
            scheme.supply.placed(board.nand(), block);
            scheme.table.add(sbn, block);
            scheme.table.updated(sbn);
            let known = board.nand().state().block(block);
            if !known.read_only && known.top < board.geometry().pages_per_block {
                let hot = scheme.table.open(board.nand(), sbn, Stream::Hot).map(|open| open.0);
                scheme.table.set_open(sbn, Stream::Cold, hot);
                scheme.table.set_open(sbn, Stream::Hot, Some(block));
            }
            scheme.table.weigh(board.nand(), sbn);
        }
        Ok((scheme, erased))
    }
}

impl Superblock {
    /// Nothing mapped.
    fn on(board: &Board, config: &Config, mut supply: BlockSupply, trims: BlockTrims) -> Self {
        let geometry = board.geometry();
        let settings = config.own.clone();
        let (limits, layout) = (settings::limits(config), settings::layout(config));
        let superblocks = geometry.logical_blocks().div_ceil(limits.logical);
        let length = settings.oob_read.0.map(|length| length.0);
        supply.level_by_block(board, config);
        let weighed = settings.victim == SuperblockVictim::FewestValid;
        let table = Superblocks::new(geometry, limits, weighed);
        Superblock {
            supply,
            trims,
            index: LogIndex::new(geometry),
            map: SpareMap::new(layout, superblocks, settings.map_cache_superblocks, length),
            rewritten: zeroed(geometry.logical_pages.div_ceil(32) as usize),
            sources: Vec::with_capacity(table.most() as usize),
            erased: Vec::with_capacity(table.most() as usize),
            table,
            settings,
        }
    }

    /// Gives the superblock's open stream a block, or reclaims one; the caller asks again.
    #[cold]
    fn make_room(&mut self, board: &mut Board, sbn: Sbn, after: When) -> Result<When, Fault> {
        // K U-blocks: one of this superblock's.
        if self.table.is_exhausted(sbn) {
            return self.collect(board, sbn, after);
        }
        // The pool is exhausted: one of the victim's.
        let pool = self.table.needs_update_block(sbn) && self.table.free_in_pool() == 0;
        // So is the device: what a collection may need is not given away.
        let scarce = self.supply.free_blocks() <= GATHERED && self.table.in_pool() > 0;
        if pool || scarce {
            return self.collect_victim(board, after);
        }
        self.open_block(board, (sbn, Stream::Hot), Need::Growth, after)
    }

    /// Collects in the victim among the superblocks with U-blocks.
    fn collect_victim(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let table = &self.table;
        let (victim, steps) = match self.settings.victim {
            SuperblockVictim::Lru => (table.by_update().next(), 1),
            SuperblockVictim::FewestValid => (table.fewest_valid(), table.updated_superblocks()),
        };
        let victim = victim.expect("a superblock has a U-block");
        let chosen = board.search(Search::Block, steps, after);
        self.collect(board, victim, chosen)
    }

    /// A block more, with room for a stream.
    fn open_block(
        &mut self,
        board: &mut Board,
        (sbn, stream): (Sbn, Stream),
        need: Need,
        after: When,
    ) -> Result<When, Fault> {
        if self.table.is_full(sbn) {
            return Err(self.supply.exhausted(board, after));
        }
        let (block, ready) = self.supply.take(board, self.table.plane(sbn), need, after)?;
        self.supply.placed(board.nand(), block);
        self.table.add(sbn, block);
        self.table.set_open(sbn, stream, Some(block));
        self.table.weigh(board.nand(), sbn);
        board.level(Level::RandomLogBlocks, u64::from(self.table.in_pool()));
        Ok(ready)
    }

    fn set_rewritten(&mut self, lpn: Lpn) {
        self.rewritten[lpn.index() / 32] |= 1 << (lpn.0 % 32);
    }

    fn is_rewritten(&self, lpn: Lpn) -> bool {
        self.rewritten[lpn.index() / 32] >> (lpn.0 % 32) & 1 == 1
    }
}
