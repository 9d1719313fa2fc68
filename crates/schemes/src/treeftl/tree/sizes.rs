//! How many frames the tree has, and what it keeps beside them.

use crate::treeftl::settings::Config;
use crate::treeftl::settings::{BypassMap, TreeMap};
use crate::treeftl::tree::{Pruning, block_sizes};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_ftl::parts::demand_mapped::{Needs, gtd_bytes};
use ftlab_ftl::parts::held_pages::default_ram;
use ftlab_ftl::parts::translation::Translation;

/// A translation page and a data page below it.
const FEWEST: u64 = 2;

/// Translation pages of the device.
fn map_pages<O>(config: &Config<O>) -> u64 {
    let geometry = Geometry::new(&config.device);
    match config.own.treeftl.map {
        TreeMap::Page => u64::from(Translation::pages(&geometry)),
        TreeMap::Block => block_sizes::map_pages(&geometry),
    }
}

/// Pages whose place a translation page tells.
fn group<O>(config: &Config<O>) -> u64 {
    let geometry = Geometry::new(&config.device);
    u64::from(geometry.entries_per_page())
        * match config.own.treeftl.map {
            TreeMap::Page => 1,
            TreeMap::Block => u64::from(geometry.pages_per_block),
        }
}

/// Bytes of the directory of translation pages.
fn directory_bytes<O>(config: &Config<O>) -> u64 {
    match config.own.treeftl.map {
        TreeMap::Page => gtd_bytes(config),
        TreeMap::Block => block_sizes::directory_bytes(config),
    }
}

/// RAM of the tree.
fn ram<O>(config: &Config<O>) -> u64 {
    config.map_budget().unwrap_or_else(|| default_ram(config))
}

/// Frames, each for a page of either kind; no more than there are pages.
pub fn frames<P: Pruning>(config: &Config<P::Settings>) -> u32 {
    let budget = ram(config);
    let (beside, per_frame) = match config.own.treeftl.gtd_in_budget {
        true if P::BYTES_PER_FRAME > 0 => (directory_bytes(config), P::BYTES_PER_FRAME),
        true => (directory_bytes(config) + P::ram_use(config).bytes, 0),
        false => (0, 0),
    };
    let all = map_pages(config) + config.device.logical_pages();
    let frames = budget.saturating_sub(beside) / (config.device.unit_bytes() + per_frame);
    frames.min(all).max(FEWEST) as u32
}

/// Bytes of LATTE: a time of 4 bytes and an offset of 2 per group (ours,
/// `docs/papers/treeftl2013.md#structures`), or of 4 where 2 do not number the pages of a group,
/// for as many groups as the memory can hold.
pub fn latte_bytes<O>(config: &Config<O>) -> u64 {
    let budget = ram(config);
    let offset = if group(config) > 1 << 16 { 4 } else { 2 };
    (4 + offset) * map_pages(config).min(budget / config.device.unit_bytes())
}

/// Translation pages and data pages that may be in memory; together no more than there are frames,
/// but for the working page of a sequential request.
pub(super) fn slots<P: Pruning>(config: &Config<P::Settings>) -> (u32, u32) {
    let frames = u64::from(frames::<P>(config));
    let working = u64::from(config.own.treeftl.bypass_map == BypassMap::Flash);
    let maps = map_pages(config).min(frames) + working;
    (maps as u32, config.device.logical_pages().min(frames) as u32)
}

/// Bytes of the links between the levels, beside entries and directory: a bit per page of every
/// group that may be cached, which says whether the page is; and per frame, over pages, the 4 bytes
/// of the address that no longer stands in the entry above it (in RAM or on flash, one of both),
/// over blocks, where the entry names another thing, page number and frame in 8.
fn link_bytes<P: Pruning>(config: &Config<P::Settings>) -> u64 {
    let frames = u64::from(frames::<P>(config));
    let per_frame = match config.own.treeftl.map {
        TreeMap::Page => 4,
        TreeMap::Block => 8,
    };
    frames * per_frame + frames.min(map_pages(config)) * group(config).div_ceil(8)
}

/// Bytes by structure: the frames, the links between them, and what the scheme keeps to find its
/// victims.
pub(super) fn ram_use<P: Pruning>(config: &Config<P::Settings>) -> Vec<RamUse> {
    let bytes = u64::from(frames::<P>(config)) * config.device.unit_bytes();
    let frames = RamUse { structure: "frames", bytes, memory: Memory::Sram };
    let bytes = link_bytes::<P>(config);
    let links = RamUse { structure: "tree_links", bytes, memory: Memory::Sram };
    let own = [frames, P::ram_use(config), links];
    match config.own.treeftl.map {
        TreeMap::Page => Needs::plain(config).ram_use(config, &own),
        TreeMap::Block => block_sizes::ram_use(config, &own),
    }
}
