//! What every block-mapped scheme has, with or without log blocks: the block map with its merge
//! engine, trims and their records, the number of blocks that the device must have, and the way
//! back after a power cut.
//!
//! What this is not: a scheme. Where a page goes that finds no free place in its data block, and
//! what is merged when, is the scheme's.
//!
//! After a power cut every block that holds the newest copy of something is a data block, a log
//! block that the scheme goes on with, or a *stray*: one that the scheme has no use for. Strays are
//! read like log blocks, and merged before the next write.

#[cfg(test)]
mod tests;

use crate::answers::Location;
use crate::parts::block_supply::BlockSupply;
use crate::parts::block_survey::{Survey, Survivor};
use crate::parts::block_trims::BlockTrims;
use crate::parts::data_blocks::DataBlocks;
use crate::parts::log_recovery;
use crate::parts::map_area::FoundMapPages;
use crate::parts::merge_engine::block_map::{BlockMap, BlockMapKind};
use crate::parts::merge_engine::{Absorb, MergeEngine};
use crate::parts::random_log::{LogVictim, RandomLog};
use crate::parts::record_area::RecordArea;
use crate::parts::trim_records::TrimRecords;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::DeviceSettings;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};

/// Free blocks beyond data, logs and records. A merge needs one; power cuts can leave a second one
/// with a record area that was being emptied, a third with pages that a torn place kept from home,
/// a fourth when cuts in recovery have torn the rest of that log block (`tests/faults_fast.rs`
/// needs all four). This is no bound: a third merge cut like that, its recovery cut once for every
/// page of another log block, ends with `DeviceFull` on a device without a spare block.
pub const RESERVE: u32 = 4;

choices! {
    /// Where the first write of a page goes, in schemes with log blocks.
    pub enum FirstWrite {
        /// To its place in the data block.
        DataBlock = "data_block",
        /// To the log like any other.
        Log = "log",
    }
}

/// What every block-mapped scheme has.
#[derive(Clone, Debug)]
pub struct BlockMapped {
    /// Block map, newest log copies, free blocks, and the merges.
    pub engine: MergeEngine,
    trims: BlockTrims,
    strays: RandomLog,
}

/// Log blocks of a scheme that was found after a power cut.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Log blocks, the oldest first: the scheme goes on with them, or gives them to
    /// [`BlockMapped::stray`].
    pub logs: Vec<Survivor>,
    /// What interrupted merges left of old data blocks: for `log_recovery::evacuate`, or
    /// [`BlockMapped::stray`].
    pub leftovers: Vec<Survivor>,
    /// Map pages, for `MergeEngine::recover_map`.
    pub map_pages: FoundMapPages,
}

choices! {
    /// What a log is a share of.
    pub enum LogBase {
        /// The logical capacity.
        Capacity = "capacity",
        /// The active region (`device.active_region`): what the workload touches.
        ActiveRegion = "active_region",
    }
}

impl LogBase {
    /// Whether what the log `key` is a share of is known.
    ///
    /// # Errors
    /// Says that it is not, and how it can be told.
    pub fn check(self, device: &DeviceSettings, key: &str) -> Result<(), SettingError> {
        match self == LogBase::ActiveRegion && device.active_pages().is_none() {
            false => Ok(()),
            true => Err(SettingError::Conflict(format!(
                "{key} = active_region, but device.active_region = auto: only a run counts what its \
                 workload touches; legal: device.active_region = BYTES"
            ))),
        }
    }
}

/// Log blocks as `percent` of the logical blocks, rounded up, or as many as `blocks` says; at least
/// `least`.
pub fn log_blocks(device: &DeviceSettings, percent: f64, blocks: Option<u32>, least: u64) -> u64 {
    log_blocks_of(device, LogBase::Capacity, (percent, blocks), least)
}

/// The same of the active region, as long as it is not known of all that it can be.
pub fn log_blocks_of(
    device: &DeviceSettings,
    base: LogBase,
    (percent, blocks): (f64, Option<u32>),
    least: u64,
) -> u64 {
    let pages = match base {
        LogBase::Capacity => device.logical_pages(),
        LogBase::ActiveRegion => device.active_pages().unwrap_or(device.logical_pages()),
    };
    let whole = pages.div_ceil(u64::from(device.units_per_block()));
    match blocks {
        Some(blocks) => u64::from(blocks).max(least),
        None => ((whole as f64 * percent / 100.0).ceil() as u64).max(least),
    }
}

impl BlockMapped {
    /// Nothing mapped, every block erased.
    pub fn new(board: &Board, config: &SharedSettings) -> Self {
        BlockMapped {
            engine: MergeEngine::new(board, config),
            trims: BlockTrims::new(board.geometry()),
            strays: RandomLog::new(board.nand(), 0, LogVictim::Fifo),
        }
    }

    /// Physical blocks for the logical capacity and `own` blocks of the scheme: planes are filled
    /// in turn, so each holds its share, rounded up.
    pub fn minimum_blocks(config: &SharedSettings, own: u64) -> u64 {
        let geometry = Geometry::new(&config.device);
        let planes = u64::from(geometry.planes());
        let used = u64::from(geometry.logical_blocks()) + own;
        used.div_ceil(planes) * planes + u64::from(RecordArea::blocks(&geometry) + RESERVE)
    }

    /// Most trim records alive at once: one and the one that replaces it, per segment.
    pub fn payload_pages(config: &SharedSettings) -> u64 {
        2 * u64::from(TrimRecords::segments(&Geometry::new(&config.device)))
    }

    /// RAM of the block table and the trims, before the structures of the scheme's `own`.
    pub fn ram_use(config: &SharedSettings, own: &[(&'static str, u64)]) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let entry = |(structure, bytes)| RamUse { structure, bytes, memory: Memory::Sram };
        let trims = BlockTrims::ram_bytes(&geometry);
        let mut structures = vec![entry(("block_table", DataBlocks::ram_bytes(&geometry)))];
        structures.extend(own.iter().copied().map(entry));
        structures.push(RamUse { structure: "trim_records", bytes: trims, memory: Memory::Dram });
        structures
    }

    /// Reads the newest copy: in a log block if the index says so, else in the data block.
    #[inline]
    pub fn read(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        match self.engine.newest(board.nand(), io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, after),
            None => board.read_unwritten(io.lpn, after),
        }
    }

    /// Whether a page can go straight to its place in the data block.
    #[inline]
    pub fn takes_in_place(&self, board: &Board, lpn: Lpn) -> bool {
        self.engine.data.takes_in_place(board.nand(), lpn)
    }

    /// Writes a page straight to its place, in a new data block if there is none.
    #[inline]
    pub fn write_in_place(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::InPlaceWrites, 1);
        self.engine.write_in_place(board, io, after)
    }

    /// A page was written: trims before it no longer hold. Every write of a scheme ends with this.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        self.trims.written(lpn);
    }

    /// Forgets a page.
    pub fn trim(&mut self, board: &mut Board, io: &PageIo) {
        self.forget(board, io.lpn);
    }

    /// Trims a page; its place in the map is known.
    pub fn forget(&mut self, board: &mut Board, lpn: Lpn) {
        if self.engine.forget(board, lpn) {
            self.trims.trim(lpn);
        }
    }

    /// Trimmed pages of which flash does not say so yet, or not all of it.
    pub fn unrecorded_trims(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.trims.unrecorded()
    }

    /// Records trims.
    pub fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.trims.flush(board, &mut self.engine.supply, after)
    }

    /// Every block is free, a data block, one of the scheme's `logs`, a stray, a record or map
    /// block, or retired; a map on flash is right.
    pub fn self_check(&self, board: &Board, logs: u32) -> Result<(), String> {
        let mut others = logs + self.trims.blocks() + self.strays.len();
        if let Some(map) = &self.engine.block_map {
            map.self_check(board, &self.engine.data)?;
            others += map.area_blocks();
        }
        self.engine.self_check(board, others)
    }

    /// Where the newest copy of a page is.
    pub fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.engine.newest(board.nand(), lpn).map_or(Location::Nowhere, Location::Flash)
    }

    /// Merges strays, if a power cut left any: the first thing that a write does.
    #[inline]
    pub fn merge_strays(
        &mut self,
        board: &mut Board,
        absorb: &mut impl Absorb,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while !self.strays.is_empty() {
            let victim = self.strays.block(0);
            when = self.engine.reclaim(board, victim, absorb, when)?;
            self.strays.remove(0);
        }
        Ok(when)
    }

    /// Starts from what flash holds: newest copies, trims, records and data blocks. What else holds
    /// something is returned, for the scheme to go on with.
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        after: When,
    ) -> Result<(Self, Found, When), Fault> {
        // Step 1: the newest copies, by sequence number and flushed trims.
        let (survey, trims, scanned) = Survey::take(board, after)?;
        // Step 2: what holds none of them is erased; the rest gets roles.
        let (supply, erased) = BlockSupply::recover(board, config, Survey::role, scanned)?;
        let roles = Survey::roles(board);
        let mut base = BlockMapped::new(board, config);
        base.trims = BlockTrims::recovered(board.nand(), trims, &roles.records);
        base.engine.supply = supply;
        log_recovery::fill(board, &mut base.engine, &survey, &roles);
        let succeeded = |log: &Survivor| log_recovery::is_succeeded(board, &base.engine, log);
        let map_pages = survey.map_pages(&roles);
        let (leftovers, logs) = roles.logs.into_iter().partition(succeeded);
        Ok((base, Found { logs, leftovers, map_pages }, erased))
    }

    /// From now on the block map is on flash.
    pub fn map_on_flash(&mut self, board: &Board, kind: BlockMapKind) {
        self.engine.block_map = Some(BlockMap::new(board, kind));
    }

    /// A block found after a power cut that the scheme does not go on with.
    pub fn stray(&mut self, board: &Board, block: &Survivor) {
        self.strays.resume(board.nand(), block.block);
    }

    /// Log blocks found after a power cut, the oldest first, for the scheme to go on with: those
    /// that it does not take are strays.
    pub fn hand_over(
        &mut self,
        board: &Board,
        logs: &[Survivor],
        mut takes: impl FnMut(&Board, &Survivor) -> bool,
    ) {
        for log in logs {
            if !takes(board, log) {
                self.stray(board, log);
            }
        }
    }

    /// The same where the scheme takes so many at most. After a merge that was cut there can be
    /// more: the oldest are merged first.
    pub fn hand_over_youngest(
        &mut self,
        board: &Board,
        logs: &[Survivor],
        most: u32,
        takes: impl FnMut(&Board, &Survivor) -> bool,
    ) {
        let (oldest, youngest) = logs.split_at(logs.len().saturating_sub(most as usize));
        self.hand_over(board, oldest, |_, _| false);
        self.hand_over(board, youngest, takes);
    }

    /// Moves what is left of old data blocks to the free places of their successors, and what finds
    /// none to the strays.
    pub fn evacuate(
        &mut self,
        board: &mut Board,
        leftovers: &[Survivor],
        after: When,
    ) -> Result<When, Fault> {
        log_recovery::evacuate(board, &mut self.engine, &mut self.strays, leftovers, after)
    }
}
