//! # Idea
//! N neighbouring logical blocks form a group that shares up to K log blocks, mapped by pages; N
//! and K are set for the application. (1, 1) is BAST, one group with all log blocks is FAST without
//! a sequential block.
//!
//! # Paper
//! Park, Cheon, Kang, Roh, Cho, Kim, "A reconfigurable FTL (flash translation layer) architecture
//! for NAND flash-based applications", ACM TECS 7(4), 2008. K that changes at run time
//! (`nk:adaptive`) after Koo, Shin, "Adaptive log block mapping scheme for log buffer-based FTL",
//! IWSSPS 2009. Order of merges and default N and K as in wiscsee;
//! `docs/papers/others.md#n-k-mapping`.
//!
//! # Structures
//! P: pages per block. Nl: logical blocks. Nlog: log blocks. Block table of Nl entries; log page
//! table of Nlog * P entries; per log block its group; per group its log blocks, in the order in
//! which they were opened, and, where K changes, K and what the last merges gave and cost.
//!
//! # Read
//! The newest copy in the group's log blocks, if there is one, else the data page.
//!
//! # Write
//! To the data block while the page's place there is erased; then to the next page of the group's
//! newest log block. That is full: another is taken, after a merge within the group if it has K,
//! and after merges among all if too many are in use.
//!
//! # Reclaim
//! The cheapest first (by setting): a log block without a valid page is erased; one that holds a
//! logical block in order becomes its data block; one that holds the beginning of one in order and
//! nothing else is completed; else each logical block with a valid page in it is rebuilt from all
//! of the group's log blocks. Then it is erased, and so are others of the group that are left
//! empty.
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins. A block with pages of
//! one group goes on as its log block while the group may have another. What interrupted merges
//! left moves to the free places of the new data block, or is merged before the next write.
//!
//! # Deviations
//! Trims and their records are ours. Where the flash demands ascending programs, writes to a data
//! block that would go backwards go to the log, and holes of a rebuilt block are padded if no page
//! may be left out. Merging begins when no log block is left, not at 80 % (`nk.start_pct`,
//! `nk.stop_pct`). By which rule K changes is ours (`nk/associativity.rs`), and it changes per
//! group; it begins anew after a power cut, after which log blocks are in the order of their newest
//! pages.
//!
//! # Settings
//! Group `nk`.

mod associativity;
mod settings;

pub use settings::NkSettings;

use crate::nk::settings::Config;
use associativity::{Associativity, Reclaimed};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::owned_logs::{MergeRules, OwnedLogs, Owner, Shape};
use ftlab_ftl::parts::sequential_log::Merge;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Nk;

/// N-K mapping.
#[derive(Clone)]
pub struct Nk {
    base: BlockMapped,
    logs: OwnedLogs,
    k: Associativity,
    /// Log blocks in use beyond which merging begins, and at which it stops.
    start: u32,
    stop: u32,
    erase_emptied: bool,
}

/// Nlog.
fn log_blocks(config: &Config) -> u64 {
    let NkSettings { log_pct, log_blocks, .. } = &config.own;
    block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, 1)
}

impl Scheme for Nk {
    const PAPER: Paper = Paper {
        name: "nk",
        title: "A reconfigurable FTL (flash translation layer) architecture for NAND flash-based \
                applications",
        authors: "Park, Cheon, Kang, Roh, Cho, Kim",
        venue: "ACM TECS 7(4)",
        year: 2008,
        sections: "groups of N logical blocks with at most K log blocks; merges within the group",
        deviations: &[
            "trims and their record pages are added",
            "under nand.enforce_order, data-block writes that go backwards go to the log, and \
             holes of rebuilt blocks are padded if strict",
            "merging begins when no log block is left; nk.start_pct and nk.stop_pct begin earlier",
            "the rule by which nk.dynamic changes K is ours, per group and not per data block; K \
             begins anew after a power cut",
        ],
        family: Family::LogBlock,
        class: Classification::with_log("up to K per group of N data blocks", "N:K"),
    };
    const PRESETS: &'static [Preset] = &[("adaptive", &[("nk.dynamic", "on")])];
    type Settings = NkSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        let settings = &config.own;
        let (least, most) = associativity::range(settings, log_blocks(config) as u32);
        let ordered = [
            ("nk.stop_pct", settings.stop_pct, "nk.start_pct", settings.start_pct),
            ("nk.k_min", least, "nk.k_max", most),
            (
                "nk.grow_below_pct",
                settings.grow_below_pct,
                "nk.shrink_from_pct",
                settings.shrink_from_pct,
            ),
        ];
        for (low, value, high, bound) in ordered {
            if value > bound {
                let text = format!("{low} = {value} is more than {high} = {bound}");
                return Err(SettingError::Conflict(text));
            }
        }
        Ok(())
    }

    fn minimum_blocks(config: &Config) -> u64 {
        BlockMapped::minimum_blocks(config, log_blocks(config))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let (settings, logs) = (&config.own, log_blocks(config));
        let groups = u64::from(geometry.logical_blocks().div_ceil(settings.N));
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, logs)),
            ("log_blocks", logs * 8),
            ("group_table", groups * 4 + Associativity::ram_bytes(settings, groups)),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        Ok(Nk::on(BlockMapped::new(board, config), board, config, seed))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = self.base.merge_strays(board, &mut (), after)?;
        let group = self.logs.owner_of(Lbn::of(board.geometry(), io.lpn).0);
        let done = loop {
            // The data page is erased, or there is no data block yet: straight to its place.
            if self.base.takes_in_place(board, io.lpn) {
                break self.base.write_in_place(board, io, when)?;
            }
            // The next page of the group's newest log block; the older copy becomes invalid.
            let newest = self.logs.of(group);
            if let Some(log) = newest.filter(|&log| self.logs.has_room(board.nand(), log)) {
                match self.logs.append(log, board, &mut self.base.engine, io, when) {
                    // The log block takes no more; another may need a merge first.
                    Err(Fault::ProgramFailed { known, .. }) => when = known,
                    other => break other?,
                }
            } else {
                when = self.make_room(board, group, when)?;
                // A merge may have given the page a free place: asked again.
                if !self.base.takes_in_place(board, io.lpn) {
                    (_, when) = self.logs.open(board, &mut self.base.engine, group, when)?;
                }
            }
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.logs.self_check(board)?;
        self.base.self_check(board, self.logs.len())
    }

    forward!(base: payload_pages, read, trim, flush, locate);
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
        let mut nk = Nk::on(base, board, config, seed);
        nk.base.hand_over(board, &found.logs, |board, log| {
            nk.logs.resume(board, log.block, |group| nk.k.of(group))
        });
        let done = nk.base.evacuate(board, &found.leftovers, erased)?;
        Ok((nk, done))
    }
}

impl Nk {
    /// Without a log block yet.
    fn on(base: BlockMapped, board: &mut Board, config: &Config, seed: u64) -> Self {
        let settings = &config.own;
        let limit = log_blocks(config) as u32;
        let shape = Shape { limit, group: settings.N, sharers: 1 };
        let rules = MergeRules { check: settings.seq_check, partial: settings.partial };
        let logs = OwnedLogs::new(board.nand(), shape, rules, settings.victim, seed);
        let share = |percent: u32| (u64::from(limit) * u64::from(percent) / 100).max(1) as u32;
        Nk {
            base,
            k: Associativity::new(board, settings, logs.owners(), limit),
            logs,
            start: share(settings.start_pct),
            stop: share(settings.stop_pct),
            erase_emptied: settings.erase_emptied,
        }
    }

    /// Merges until the group may have another log block and one may be opened.
    fn make_room(&mut self, board: &mut Board, group: Owner, after: When) -> Result<When, Fault> {
        let mut when = after;
        // The group has its K: one of its own.
        while self.logs.count(group) >= self.k.of(group) {
            let victim = match self.logs.of(group) {
                Some(only) if self.logs.count(group) == 1 => only,
                _ => {
                    let found = self.logs.choose(board, &self.base.engine, Some(group), when);
                    when = found.1;
                    found.0
                }
            };
            when = self.merge(board, victim, when)?;
        }
        // Too many in use: of all.
        if self.logs.len() >= self.start {
            while self.logs.len() >= self.stop {
                let (victim, found) = self.logs.choose(board, &self.base.engine, None, when);
                when = self.merge(board, victim, found)?;
            }
        }
        Ok(when)
    }

    /// Merges a log block, and erases what that leaves empty in its group.
    fn merge(&mut self, board: &mut Board, victim: Slot, after: When) -> Result<When, Fault> {
        let group = self.logs.sharers(victim).next().expect("a log block has an owner");
        let rebuilt = match self.logs.outlook(victim, board, &self.base.engine) {
            _ if board.nand().valid_pages(self.logs.block(victim)) == 0 => 0,
            Merge::Switch => 0,
            Merge::Partial => 1,
            Merge::Full => self.logs.data_blocks(victim, board),
        };
        let reclaimed = Reclaimed { pages: self.logs.pages_used(victim), data_blocks: rebuilt };
        let mut done = self.logs.merge(victim, board, &mut self.base.engine, &mut (), after)?;
        self.k.merged(board, group, reclaimed);
        if !self.erase_emptied {
            return Ok(done);
        }
        while let Some(emptied) = self.logs.emptied(group, board) {
            let reclaimed = Reclaimed { pages: self.logs.pages_used(emptied), data_blocks: 0 };
            done = self.logs.merge(emptied, board, &mut self.base.engine, &mut (), done)?;
            self.k.merged(board, group, reclaimed);
        }
        Ok(done)
    }
}
