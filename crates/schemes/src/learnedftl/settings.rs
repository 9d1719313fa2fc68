//! The settings of `learnedftl`, and what it needs, known before any run.

use ftlab_flash::board::nand::geometry::{Geometry, PlacementOrder};
use ftlab_flash::board::settings::WearPolicy;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::{Optional, SettingError};
use ftlab_flash::{choices, settings};
use ftlab_ftl::parts::alloc::AllocUnit;
use ftlab_ftl::parts::demand_mapped::{Needs, floor, threshold};
use ftlab_ftl::parts::line_book::full_line;
use ftlab_ftl::parts::page_space::settings::{GcMode, GcSettings, GcUnit};
use ftlab_ftl::parts::page_space::{GroupRules, Threshold, groups_ram};
use ftlab_ftl::parts::translation::Translation;
use ftlab_ftl::scheme::SchemeConfig;

use super::models::Models;
use crate::tpftl::{self, TpftlSettings};

choices! {
    /// How a translation page is written whose pages a collection has moved.
    pub enum MapAfterGc {
        /// Without a read where memory knows all of its entries: they moved, or are cached.
        Rewrite = "rewrite",
        /// With a read.
        Update = "update",
    }
}

/// Its own settings, and those of what it stands on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedOwn {
    /// Its own.
    pub learnedftl: LearnedftlSettings,
    /// Those of the cache.
    pub tpftl: TpftlSettings,
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<LearnedOwn>;

settings! {
    /// Settings of `learnedftl`.
    pub struct LearnedftlSettings in "learnedftl" {
        /// Whether groups of translation pages have lines of their own, which are collected in the
        /// order of their pages; otherwise lines are shared, and gc.victim chooses them.
        group_lines: bool = true, legal("", |_| true), source("ftlab, to compare with tpftl");
        /// Translation pages of a group; auto: as many as a line holds the pages of, one at least.
        trans_per_group: Optional<u32> = Optional(None),
            legal("auto, or 1..=65536", |v| v.0.is_none_or(|n| (1..=1 << 16).contains(&n))),
            source("docs/papers/learnedftl2024.md");
        /// A model is trained of more pages than this, moved together; 4294967295: never.
        train_min: u32 = 30, legal("", |_| true), source("docs/papers/learnedftl2024.md");
        /// Whether pages of a request that lie in a row replace the piece of the model there.
        sequential_init: bool = true, legal("", |_| true),
            source("docs/papers/learnedftl2024.md");
        /// Lines of a group beyond those that it needs, or of the map, from which on all of them
        /// are collected.
        gc_lines: u32 = 5, legal("2..=65536", |v| (2..=65536).contains(v)),
            source("docs/papers/learnedftl2024.md");
        /// Free lines below which others are collected, the least that the device needs at least.
        free_lines: u32 = 3, legal("3..=65536", |v| (3..=65536).contains(v)),
            source("docs/papers/learnedftl2024.md");
        /// Whether a group writes to the open line of another one while few lines are free.
        borrow: bool = true, legal("", |_| true), source("open: docs/papers/learnedftl2024.md");
        /// How a translation page is written whose pages a collection has moved.
        map_after_gc: MapAfterGc = MapAfterGc::Rewrite, legal("", |_| true),
            source("open: docs/papers/learnedftl2024.md");
    }
}

/// The same device in lines, whose pages follow one another in a fixed order.
pub(super) fn on_lines(config: &Config) -> Config {
    let mut config = config.clone();
    config.alloc.unit = AllocUnit::Line;
    if config.alloc.order == PlacementOrder::Dynamic {
        config.alloc.order = PlacementOrder::ChannelDiePlane;
    }
    config
}

/// What the cache sees.
pub(super) fn cache(config: &Config) -> tpftl::Config {
    on_lines(config).part(|own| &own.tpftl)
}

/// The rules of groups.
pub(super) fn rules(config: &Config) -> GroupRules {
    let (own, geometry) = (&config.own.learnedftl, Geometry::new(&config.device));
    let entries = geometry.entries_per_page();
    let of_line = (full_line(&geometry, 0) / entries).max(1);
    let parts = own.trans_per_group.0.unwrap_or(of_line).min(Translation::pages(&geometry));
    let free_lines = Threshold::resolve(config, own.free_lines, floor(&on_lines(config)).min(3));
    GroupRules {
        pages: parts * entries,
        most_lines: own.gc_lines,
        free_lines: free_lines.max(own.free_lines),
        borrow: own.borrow,
    }
}

/// What it needs as a scheme with its map on flash, on lines.
pub(super) fn needs(config: &Config) -> Needs {
    let lines = on_lines(config);
    match config.own.learnedftl.group_lines {
        true => Needs { threshold: rules(config).free_lines, ..Needs::plain(&lines) },
        false => Needs { threshold: threshold(&lines, 3), ..Needs::plain(&lines) },
    }
}

/// Physical blocks: those of such a scheme; lines that groups do not share, and one more of each
/// where they never do.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let lines = on_lines(config);
    let least = needs(config).minimum_blocks(&lines);
    if !config.own.learnedftl.group_lines {
        return least;
    }
    let geometry = Geometry::new(&config.device);
    let (pages, full) = (rules(config).pages, u64::from(full_line(&geometry, 0)));
    let logical = config.device.logical_pages();
    let groups = logical.div_ceil(u64::from(pages));
    let whole = (groups - 1) * u64::from(pages).div_ceil(full);
    let last = (logical - (groups - 1) * u64::from(pages)).div_ceil(full);
    let more = if config.own.learnedftl.borrow { 0 } else { groups };
    let apart = (whole + last + more).saturating_sub(config.blocks_of_lines(logical));
    least + config.device.plane_count() * (apart + 2)
}

trait OfLines {
    fn blocks_of_lines(&self, pages: u64) -> u64;
}

impl OfLines for Config {
    fn blocks_of_lines(&self, pages: u64) -> u64 {
        on_lines(self).blocks_for(pages)
    }
}

/// Bytes by structure: the cache, the models, the lines of groups, and what every such scheme has.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
    let mut own = vec![
        entry("cmt", tpftl::sizes::cache_bytes(&cache(config)), Memory::Sram),
        entry("models", Models::bytes(&geometry), Memory::Dram),
    ];
    if config.own.learnedftl.group_lines {
        let lines = u64::from(config.device.blocks_per_plane);
        let of = (config.device.logical_pages(), lines);
        own.extend(groups_ram(&rules(config), of, config.device.unit_bytes()));
    }
    needs(config).ram_use(&on_lines(config), &own)
}

/// Whether the settings go together: groups of lines are collected by rules of their own.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    tpftl::sizes::check(&cache(config))?;
    let conflict = |key: &str, value: &str, why: &str| {
        let text = format!("{key} = {value} does not go with learnedftl, {why}");
        Err(SettingError::Conflict(text))
    };
    if config.wear.policy == WearPolicy::Static {
        let why = "whose lines are levelled as a whole; legal: implicit, dynamic, none";
        return conflict("wear.policy", config.wear.policy.name(), why);
    }
    if config.gc.unit != GcUnit::Plane {
        let why = "whose lines are of all dies anyway; legal: plane";
        return conflict("gc.unit", config.gc.unit.name(), why);
    }
    if config.gc.skip_for_parity {
        let why = "whose pages are in lines, not in blocks of a plane; legal: false";
        return conflict("gc.skip_for_parity", "true", why);
    }
    if !config.own.learnedftl.group_lines {
        return ftlab_ftl::parts::demand_mapped::check(&on_lines(config));
    }
    let why = "which collects groups of lines by rules of its own (learnedftl.gc_lines, \
               learnedftl.free_lines); legal: the default, or learnedftl.group_lines = false";
    let (gc, usual) = (&config.gc, GcSettings::default());
    if gc.mode != GcMode::Foreground {
        return conflict("gc.mode", gc.mode.name(), why);
    }
    if gc.victim != usual.victim {
        return conflict("gc.victim", gc.victim.name(), why);
    }
    if gc.threshold != usual.threshold {
        return conflict("gc.threshold", &gc.threshold, why);
    }
    if gc.separate_frontiers {
        return conflict("gc.separate_frontiers", "true", why);
    }
    Ok(())
}
