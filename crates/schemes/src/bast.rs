//! # Idea
//! Data is mapped by whole blocks; a logical block that is updated gets a log block of its own,
//! mapped by pages, and a log block that was written in order becomes the data block without
//! copies.
//!
//! # Paper
//! Kim, Kim, Noh, Min, Cho, "A space-efficient flash translation layer for CompactFlash systems",
//! IEEE TCE 48(2), 2002 (block associative sector translation); merges as in DFTL 2014, section 2,
//! Fig. 5; `docs/papers/others.md#bast`.
//!
//! # Structures
//! P: pages per block. Nl: logical blocks. Nlog: log blocks. Block table of Nl entries; per log
//! block its owner and the list of the logical pages in its pages. The paper's block table lies on
//! flash, in map pages with a directory in memory (`bast.map_on_flash`, `parts::flash_map`).
//!
//! # Read
//! The newest copy in the log block of the page's logical block, if there is one, else the data
//! page: with the map on flash after a look-up, as before every write and every trim of a data
//! page.
//!
//! # Write
//! To the data block while the page's place there is erased; then to the next page of the logical
//! block's log block. None: one is taken, after a merge if all are in use. Full: merged, and a new
//! one is taken.
//!
//! # Reclaim
//! A log block L of data block D that holds pages 0 to P-1 in order becomes the data block (switch:
//! one erase). One that holds pages 0 to j-1 in order and nothing else is completed from D
//! (partial: P-j copies, one erase). Any other, one whose page was written twice among them, is
//! merged with D into a fresh block (full: P copies, two erases). With the map on flash each of
//! them, like a first data block, writes one map page before the old data block is erased.
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins. Blocks get roles by
//! where their pages lie (`parts::block_survey`); a block with pages of one logical block goes on
//! as its log block. What interrupted merges left moves to the free places of the new data block,
//! or is merged before the next write. Map pages are read and corrected, never believed.
//!
//! # Deviations
//! Trims and their records are ours (a small area of blocks, taken at the first flushed trim).
//! Where the flash demands ascending programs, writes to a data block that would go backwards go to
//! the log, and holes of a rebuilt block are padded if no page may be left out. A log block in
//! which nothing is valid is erased, not merged. After a power cut the order of log blocks is that
//! of their newest pages. Of the up to three entries that a merge changes in the original's map
//! page, the block table has one; lists of log blocks and free blocks are in memory.
//!
//! # Settings
//! Group `bast`.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_flash::units::Tag;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped, Found};
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::flash_map::FlashMap;
use ftlab_ftl::parts::map_area::MapArea;
use ftlab_ftl::parts::merge_engine::block_map::BlockMapKind;
use ftlab_ftl::parts::owned_logs::{MergeRules, OwnedLogs, OwnedVictim, SequenceCheck, Shape};
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<BastSettings>;

settings! {
    /// Settings of `bast`.
    pub struct BastSettings in "bast" {
        /// Log blocks in percent of the logical capacity, rounded up; a plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2");
        /// Log blocks as a number; auto: by bast.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Which log block is merged when a logical block without one needs one and none is left.
        victim: OwnedVictim = OwnedVictim::Lru, legal("", |_| true),
            source("docs/papers/others.md#bast: sources disagree");
        /// When a log block is in order, so that it can be switched or completed.
        seq_check: SequenceCheck = SequenceCheck::AllPages, legal("", |_| true),
            source("docs/papers/others.md#bast");
        /// Whether a log block that holds the beginning of its logical block is completed; off: it
        /// is merged in full.
        partial: bool = true, legal("", |_| true),
            source("DFTL 2014, Fig. 5; off as in MB-flashsim");
        /// Whether the block map is on flash, in map pages with a directory in memory; off: it is
        /// in memory, and looking and changing cost nothing.
        map_on_flash: bool = false, legal("", |_| true),
            source("Kim et al. 2002 (docs/papers/others.md#bast)");
        /// Map pages in memory where the map is on flash, the ones used last; one is what an update
        /// needs in any case.
        map_cache_pages: u32 = 1, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("ftlab");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Bast;

/// BAST.
#[derive(Clone)]
pub struct Bast {
    pub(super) base: BlockMapped,
    logs: OwnedLogs,
}

/// Map pages that memory holds, where the map is on flash.
fn map_cache(config: &Config) -> Option<u32> {
    let BastSettings { map_on_flash, map_cache_pages, .. } = config.own;
    map_on_flash.then_some(map_cache_pages)
}

/// Nlog.
pub(super) fn log_blocks(config: &Config) -> u64 {
    let BastSettings { log_pct, log_blocks, .. } = &config.own;
    block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, 1)
}

impl Scheme for Bast {
    const PAPER: Paper = Paper {
        name: "bast",
        title: "A space-efficient flash translation layer for CompactFlash systems",
        authors: "Kim, Kim, Noh, Min, Cho",
        venue: "IEEE Transactions on Consumer Electronics 48(2)",
        year: 2002,
        sections: "one log block per logical block; switch, partial and full merge",
        deviations: &[
            "trims and their record pages are added",
            "under nand.enforce_order, data-block writes that go backwards go to the log, and \
             holes of rebuilt blocks are padded if strict",
            "map pages (bast.map_on_flash) hold data blocks only; lists of log blocks and free \
             blocks are in memory",
            "a log block without a valid page is erased, not merged",
            "after a power cut log blocks are ordered by their newest pages",
        ],
        family: Family::LogBlock,
        class: Classification::with_log("one per updated data block", "1:M"),
    };
    type Settings = BastSettings;
    type Survivor = ();

    fn minimum_blocks(config: &Config) -> u64 {
        let geometry = Geometry::new(&config.device);
        let blocks = |_| u64::from(MapArea::blocks(&geometry, geometry.logical_blocks()));
        let map = map_cache(config).map_or(0, blocks);
        BlockMapped::minimum_blocks(config, log_blocks(config) + map)
    }

    fn payload_pages(config: &Config) -> u64 {
        let geometry = Geometry::new(&config.device);
        let pages = |_| MapArea::payload_pages(&geometry, geometry.logical_blocks());
        BlockMapped::payload_pages(config) + map_cache(config).map_or(0, pages)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let pages = u64::from(geometry.pages_per_block);
        let logs = log_blocks(config);
        // A page of a log block is known by its offset in the logical block.
        let entry = if pages <= 256 { 1 } else { 2 };
        let own = [("log_page_lists", logs * pages * entry), ("log_blocks", logs * 8)];
        let mut structures = BlockMapped::ram_use(config, &own);
        if let Some(most) = map_cache(config) {
            structures.retain(|known| known.structure != "block_table");
            let map = FlashMap::ram_use(&geometry, geometry.logical_blocks(), most);
            let entry = |(structure, bytes)| RamUse { structure, bytes, memory: Memory::Sram };
            structures.splice(0..0, map.map(entry));
        }
        structures
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let mut base = BlockMapped::new(board, config);
        if let Some(most) = map_cache(config) {
            base.map_on_flash(board, BlockMapKind::Written(most));
        }
        Ok(Bast::on(base, board, config, seed))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = self.base.engine.look_up_page(board, io.lpn, after)?;
        self.base.read(board, io, known)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let merged = self.base.merge_strays(board, &mut (), after)?;
        // Whether the page's place is erased says the data block.
        let mut when = self.base.engine.look_up(board, io.lpn, merged)?;
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        let owner = self.logs.owner_of(lbn);
        let done = loop {
            // The data page is erased, or there is no data block yet: straight to its place.
            if self.base.takes_in_place(board, io.lpn) {
                break self.base.write_in_place(board, io, when)?;
            }
            match self.logs.of(owner) {
                // The next page of the log block; the older copy becomes invalid.
                Some(log) if self.logs.has_room(board.nand(), log) => {
                    match self.logs.append(log, board, &mut self.base.engine, io, when) {
                        // The log block takes no more, and is merged like a full one.
                        Err(Fault::ProgramFailed { known, .. }) => when = known,
                        other => break other?,
                    }
                }
                // The log block is full: merged, so that the table is asked again.
                Some(log) => {
                    when = self.logs.merge(log, board, &mut self.base.engine, &mut (), when)?;
                }
                // No log block, and none left: another logical block's is merged.
                None if self.logs.free_blocks() == 0 => {
                    let (victim, found) = self.logs.choose(board, &self.base.engine, None, when);
                    when = self.logs.merge(victim, board, &mut self.base.engine, &mut (), found)?;
                }
                None => (_, when) = self.logs.open(board, &mut self.base.engine, owner, when)?,
            }
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        // The mark goes to where the page is.
        let known = self.base.engine.look_up_page(board, io.lpn, after)?;
        self.base.trim(board, io);
        Ok(known)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.logs.self_check(board)?;
        self.base.self_check(board, self.logs.len())
    }

    forward!(base: flush, locate);
    forward!(logs: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let how = (config, seed, map_cache(config).map(BlockMapKind::Written));
        Bast::resume(base, &found, board, how, erased)
    }
}

impl Bast {
    /// With what was found after a power cut, the block map on flash if `map` says so.
    pub(super) fn resume(
        base: BlockMapped,
        found: &Found,
        board: &mut Board,
        (config, seed, map): (&Config, u64, Option<BlockMapKind>),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut bast = Bast::on(base, board, config, seed);
        let logs = &mut bast.logs;
        let takes = |board: &Board, log: &Survivor| logs.resume(board, log.block, |_| 1);
        bast.base.hand_over(board, &found.logs, takes);
        let mut done = bast.base.evacuate(board, &found.leftovers, after)?;
        if let Some(kind) = map {
            done = bast.base.engine.recover_map(board, &found.map_pages, kind, done)?;
        }
        Ok((bast, done))
    }

    /// Without a log block yet.
    pub(super) fn on(base: BlockMapped, board: &Board, config: &Config, seed: u64) -> Self {
        let BastSettings { victim, seq_check, partial, .. } = config.own;
        let shape = Shape { limit: log_blocks(config) as u32, group: 1, sharers: 1 };
        let rules = MergeRules { check: seq_check, partial };
        Bast { base, logs: OwnedLogs::new(board.nand(), shape, rules, victim, seed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// A byte tells one of 256 pages apart, of more it takes two.
    #[test]
    fn the_lists_of_log_pages_take_an_offset_a_page() {
        for (pages, bytes) in [("256", 10 * 256), ("257", 10 * 257 * 2)] {
            let mut config = Config::default();
            for (key, value) in [("device.pages_per_block", pages), ("bast.log_blocks", "10")] {
                config.set(key, value).expect("legal");
            }
            let known = Bast::ram_use(&config);
            let lists = known.iter().find(|used| used.structure == "log_page_lists");
            assert_eq!(lists.map(|used| used.bytes), Some(bytes), "{pages}");
        }
    }
}
