//! What DFTL needs, known before any run: blocks, payloads, memory, thresholds.

use crate::board::nand::geometry::Geometry;
use crate::config::Config;
use crate::parts::checkpoint::Checkpoints;
use crate::parts::map_recovery::Consistency;
use crate::parts::page_space::{PageSpace, Threshold};
use crate::parts::translation::Translation;
use crate::parts::trim_records::TrimRecords;
use crate::schemes::{Memory, RamUse};

/// Least threshold of a device with one plane.
const FLOOR: u32 = 3;

pub(super) fn threshold(config: &Config) -> u32 {
    Threshold::resolve(config, config.scheme.dftl.gc_threshold_blocks, floor(config))
}

/// Least threshold: a data target, a map target for the updates of that victim, a map copy target;
/// where there are several planes, two blocks more for the map pages that other planes' collections
/// send home.
pub(super) fn floor(config: &Config) -> u32 {
    if config.device.plane_count() > 1 { FLOOR + 2 } else { FLOOR }
}

pub(super) fn gtd_bytes(config: &Config) -> u64 {
    4 * u64::from(Translation::pages(&Geometry::new(&config.device)))
}

/// Entries of the CMT: as set, else what the budget holds, else the paper's 8192; never more than
/// there are logical pages.
pub(super) fn entries(config: &Config) -> u32 {
    let dftl = &config.scheme.dftl;
    let wanted = match (dftl.cmt_entries.0, config.device.ram_bytes.0) {
        (Some(entries), _) => u64::from(entries),
        (None, Some(budget)) => {
            let gtd = if dftl.gtd_in_budget { gtd_bytes(config) } else { 0 };
            budget.0.saturating_sub(gtd) / u64::from(dftl.entry_bytes)
        }
        (None, None) => 8192,
    };
    wanted.clamp(2, config.device.logical_pages().max(2)) as u32
}

/// Words that a checkpoint saves at most: changed entries with their pages, or the directory.
pub(super) fn saved_words(config: &Config, entries: u64) -> u64 {
    let dftl = &config.scheme.dftl;
    match dftl.consistency {
        Consistency::Replay => 2 * entries,
        Consistency::Gtd if dftl.gtd_sync_every > 0 => gtd_bytes(config) / 4,
        Consistency::Gtd | Consistency::Battery => 0,
    }
}

/// Pages that two checkpoints take at most.
fn checkpoint_pages(config: &Config) -> u64 {
    let saved = saved_words(config, u64::from(entries(config)));
    let open = 3 * config.device.plane_count();
    Checkpoints::most_pages(Geometry::new(&config.device).entries_per_page(), saved, open)
}

/// Physical blocks that DFTL needs: data, map, checkpoints, records, and a reserve per plane.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let device = &config.device;
    let geometry = Geometry::new(device);
    let planes = device.plane_count();
    let pages = u64::from(device.units_per_block());
    let entries = u64::from(entries(config));
    // Writes without look-up leave a superseded page behind every cached entry.
    let stale = if config.scheme.dftl.write_miss_fetch { 0 } else { entries };
    let data = (device.logical_pages() + stale).div_ceil(planes).div_ceil(pages);
    let map = u64::from(Translation::pages(&geometry))
        + u64::from(TrimRecords::segments(&geometry))
        + checkpoint_pages(config);
    let reserve = u64::from(PageSpace::reserve(threshold(config).min(64), 3));
    planes * (data + map.div_ceil(planes).div_ceil(pages) + 1 + reserve)
}

/// Map, checkpoint and record pages that are alive at once.
pub(super) fn payload_pages(config: &Config) -> u64 {
    let geometry = Geometry::new(&config.device);
    // Map pages and records, and those that replace them while both are alive.
    let map = Translation::pages(&geometry) + TrimRecords::segments(&geometry);
    u64::from(map)
        + u64::from(map / 8)
        + u64::from(geometry.pages_per_block)
        + checkpoint_pages(config)
}

/// Bytes by structure.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
    let cmt = u64::from(entries(config)) * u64::from(config.scheme.dftl.entry_bytes);
    let checkpoint = 4 * saved_words(config, u64::from(entries(config)));
    vec![
        entry("cmt", cmt, Memory::Sram),
        entry("gtd", gtd_bytes(config), Memory::Sram),
        entry("checkpoint_buffer", checkpoint, Memory::Dram),
        entry("valid_counts", u64::from(geometry.blocks()) * 2, Memory::Dram),
        entry("valid_bitmap", u64::from(geometry.pages()).div_ceil(8), Memory::Dram),
        entry("trim_records", TrimRecords::ram_bytes(&geometry), Memory::Dram),
    ]
}
