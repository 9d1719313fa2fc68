//! The settings of `zns`, and what follows from them before any run.

use ftlab_flash::board::nand::geometry::PlacementOrder;
use ftlab_flash::board::settings::{NandSettings, PartialWrite, WearPolicy};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::{Optional, SettingError};
use ftlab_flash::{choices, settings};
use ftlab_ftl::parts::alloc::AllocUnit;
use ftlab_ftl::parts::page_mapped::{self, GC_LOW};
use ftlab_ftl::parts::page_space::settings::GcSettings;
use ftlab_ftl::parts::placement::CLASSES_MAX;
use ftlab_ftl::parts::placement::settings::PlacementSettings;
use ftlab_ftl::parts::zone_rules::ZoneRules;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Who writes zones.
    pub enum ZoneMode {
        /// A log of the host's, under the workload: any page can be written.
        HostLog = "host_log",
        /// The workload: it writes zones from front to back, and trims them as a whole.
        Raw = "raw",
    }
}

choices! {
    /// What the host does after a power cut with zones that are half written.
    pub enum AfterCut {
        /// Writes them on.
        GoOn = "go_on",
        /// Finishes them, and begins others.
        Finish = "finish",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<ZnsSettings>;

settings! {
    /// Settings of `zns`.
    pub struct ZnsSettings in "zns" {
        /// Who writes zones.
        mode: ZoneMode = ZoneMode::HostLog, legal("", |_| true), source("docs/papers/zns.md");
        /// Empty zones below which the host collects, and at which it stops.
        reserve: u32 = GC_LOW, legal("2..=1000000", |v| (2..=1_000_000).contains(v)),
            source("open: docs/papers/zns.md; as ideal_page.gc_low");
        /// Channels that a zone is spread over, a divisor of the device's: fewer make more and
        /// smaller zones; auto: all.
        width: Optional<u32> = Optional(None),
            legal("auto, or 1..=4096", |v| v.0.is_none_or(|n| (1..=4096).contains(&n))),
            source("docs/papers/zns.md: FEMU");
        /// Zones that can be open at once; to open another one the drive closes one.
        max_open: u32 = 14, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("docs/papers/zns.md: WD ZN540");
        /// Zones that can be open or closed at once: half written.
        max_active: u32 = 14, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("docs/papers/zns.md: WD ZN540");
        /// Share of a zone that can be written: so much of each of its blocks, a flash page at
        /// least.
        zone_capacity: f64 = 1.0, legal("above 0 and up to 1, for example 0.75 or 75%",
            |v| *v > 0.0 && *v <= 1.0),
            source("docs/papers/zns.md: FEMU");
        /// Whether the drive copies what the host collects (Simple Copy), instead of the host
        /// reading and writing it.
        copy_in_device: bool = false, legal("", |_| true), source("docs/papers/zns.md");
        /// Pages from the write pointer of a zone on that can be written in any order, and again
        /// (ZRWA, raw): the drive holds them; 0: none.
        zrwa: u32 = 0, legal("0..=1048576", |v| *v <= 1 << 20),
            source("docs/papers/zns.md: NVMe, FEMU");
        /// Pages that the write pointer moves by where there is such a window, a divisor of it.
        zrwa_granule: u32 = 1, legal("1..=1048576", |v| (1..=1 << 20).contains(v)),
            source("open: docs/papers/zns.md");
        /// What the host does after a power cut with zones that are half written.
        after_cut: AfterCut = AfterCut::GoOn, legal("", |_| true),
            source("open: docs/papers/zns.md");
    }
}

/// Flash pages of each block of a zone that are written.
fn rows(config: &Config) -> u32 {
    let all = config.device.units_per_block() / config.device.units_per_page();
    // A share that is a whole number of pages is that number, though its product falls short of it.
    ((config.own.zone_capacity * f64::from(all) + 1e-9) as u32).max(1)
}

fn width(config: &Config) -> u32 {
    config.own.width.0.unwrap_or(config.device.channels)
}

/// The same device with lines as zones, whose pages follow one another in a fixed order.
pub(super) fn zoned(config: &Config) -> Config {
    let mut zoned = config.clone();
    zoned.shared.alloc.unit = AllocUnit::Line;
    if zoned.shared.alloc.order == PlacementOrder::Dynamic {
        zoned.shared.alloc.order = PlacementOrder::ChannelDiePlane;
    }
    zoned.shared.zones = Some(ZoneRules {
        channels: width(config),
        rows: rows(config),
        max_open: config.own.max_open,
        copy_in_device: config.own.copy_in_device,
        raw: config.own.mode == ZoneMode::Raw,
        finish_after_cut: config.own.after_cut == AfterCut::Finish,
    });
    zoned
}

/// Empty zones below which the host collects.
pub(super) fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, config.own.reserve)
}

/// Zones of the host that are written at once: of each class, and of records of trims.
fn written_at_once(config: &Config) -> u32 {
    let classes = u32::from(config.data_classes()).max(1 + u32::from(config.gc.separate_frontiers));
    classes + 1
}

/// Bytes by structure: the drive's are those of its zones, 8 each; the log's are the host's.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let zoned = zoned(config);
    let bytes = 8 * u64::from(zoned.units());
    let mut all = vec![RamUse { structure: "zones", bytes, memory: Memory::Sram }];
    if config.own.zrwa > 0 {
        let bytes = u64::from(window_frames(config)) * config.device.unit_bytes();
        all.push(RamUse { structure: "zone_windows", bytes, memory: Memory::Dram });
    }
    if config.own.mode == ZoneMode::HostLog {
        let bytes = page_mapped::table_bytes(config);
        let map = RamUse { structure: "page_table", bytes, memory: Memory::Host };
        let log = page_mapped::ram_use(&zoned, &[map]);
        all.extend(log.into_iter().map(|structure| RamUse { memory: Memory::Host, ..structure }));
    }
    all
}

/// Pages that windows hold at once: those of all zones that are active.
pub(super) fn window_frames(config: &Config) -> u32 {
    config.own.zrwa * config.own.max_active
}

/// Zones of the logical capacity of a device with zones; the last one may end early.
pub(super) fn raw_zones(zoned: &Config) -> u64 {
    zoned.device.logical_pages().div_ceil(u64::from(zoned.full_line()))
}

fn conflict<T>(text: String) -> Result<T, SettingError> {
    Err(SettingError::Conflict(text))
}

/// Whether the settings go together.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    check_shape(config)?;
    check_limits(config)?;
    check_window(config)?;
    check_device(config)?;
    if config.own.mode == ZoneMode::Raw {
        check_raw(config)?;
    }
    let zoned = zoned(config);
    zoned.shared.check().map_err(|error| {
        SettingError::Conflict(format!("zones are lines (alloc.unit = line): {error}"))
    })?;
    page_mapped::check(&zoned)
}

fn check_shape(config: &Config) -> Result<(), SettingError> {
    let (channels, width) = (config.device.channels, width(config));
    if width > channels || channels % width != 0 {
        return conflict(format!(
            "zns.width = {width} does not divide the {channels} channels of the device \
             (device.channels); legal: auto, or a divisor"
        ));
    }
    Ok(())
}

fn check_limits(config: &Config) -> Result<(), SettingError> {
    let ZnsSettings { max_open, max_active, .. } = config.own;
    if max_open > max_active {
        return conflict(format!(
            "zns.max_open = {max_open} is more than zns.max_active = {max_active}, and an open zone is \
             active; legal: up to {max_active}"
        ));
    }
    if config.own.mode == ZoneMode::Raw {
        return Ok(());
    }
    let wanted = written_at_once(config);
    if wanted > max_active {
        return conflict(format!(
            "{} classes of data and the records of trims write {wanted} zones at once, and \
             zns.max_active = {max_active}; legal: fewer classes (gc.placement = {}), or a drive of more \
             active zones",
            wanted - 1,
            config.gc.placement.name()
        ));
    }
    Ok(())
}

fn check_window(config: &Config) -> Result<(), SettingError> {
    let ZnsSettings { zrwa, zrwa_granule, .. } = config.own;
    if zrwa == 0 && zrwa_granule == ZnsSettings::default().zrwa_granule {
        return Ok(());
    }
    if config.own.mode == ZoneMode::HostLog {
        return conflict(format!(
            "zns.zrwa = {zrwa}, zns.zrwa_granule = {zrwa_granule} under zns.mode = host_log, which \
             appends; legal: their defaults, or zns.mode = raw"
        ));
    }
    if !config.device.ram_nonvolatile {
        return conflict(format!(
            "zns.zrwa = {zrwa} is of memory that outlives the power, which device.ram_nonvolatile = \
             false denies; legal: device.ram_nonvolatile = true"
        ));
    }
    let zone = zoned(config).full_line();
    if zrwa > zone {
        return conflict(format!(
            "zns.zrwa = {zrwa} is more than a zone, which has {zone} pages; legal: up to that"
        ));
    }
    if zrwa == 0 || zrwa % zrwa_granule != 0 {
        return conflict(format!(
            "zns.zrwa_granule = {zrwa_granule} does not divide zns.zrwa = {zrwa}; legal: a divisor of a \
             window that is not 0"
        ));
    }
    Ok(())
}

/// What the drive would do with the host's pages on its own.
fn check_device(config: &Config) -> Result<(), SettingError> {
    let moves = |what: String| {
        conflict(format!(
            "{what} does not go with zns: the drive would move pages, and the host knows where they \
             are; legal: none of it"
        ))
    };
    if config.rain.stripe > 0 {
        return moves(format!("rain.stripe = {}", config.rain.stripe));
    }
    if let Some(die) = config.nand.failing_die.0 {
        return moves(format!("nand.failing_die = {die}"));
    }
    if config.timing.copyback && !config.own.copy_in_device {
        return conflict(
            "timing.copyback = true is of copies within a plane, and the host copies; legal: \
             timing.copyback = false, or zns.copy_in_device = true"
                .to_owned(),
        );
    }
    if config.refresh.is_on() {
        let refresh = &config.refresh;
        return moves(format!(
            "refresh.reads = {}, refresh.days = {}",
            refresh.reads, refresh.days
        ));
    }
    Ok(())
}

/// Nothing collects what the workload writes itself.
fn check_raw(config: &Config) -> Result<(), SettingError> {
    let (own, usual) = (&config.own, ZnsSettings::default());
    let is_collecting = own.reserve != usual.reserve
        || own.copy_in_device != usual.copy_in_device
        || own.after_cut != usual.after_cut;
    if is_collecting || config.gc != GcSettings::default() {
        return conflict(
            "zns.mode = raw has no log: zns.reserve, zns.copy_in_device, zns.after_cut and all of gc say \
             how a log is collected; legal: their defaults"
                .to_owned(),
        );
    }
    if own.max_active > RAW_ACTIVE {
        return conflict(format!(
            "zns.max_active = {} under zns.mode = raw; legal: up to {RAW_ACTIVE} there",
            own.max_active
        ));
    }
    check_raw_pages(config)?;
    check_good_blocks(config)
}

/// Nothing places what the workload writes itself: it says where every page goes.
fn check_raw_pages(config: &Config) -> Result<(), SettingError> {
    if config.placement != PlacementSettings::default() {
        return conflict(
            "zns.mode = raw has no classes: placement says how a log divides data; legal: the \
             defaults of the group"
                .to_owned(),
        );
    }
    if config.wear.policy == WearPolicy::Dynamic {
        return conflict(
            "wear.policy = dynamic under zns.mode = raw, where nothing is moved; legal: implicit \
             or none"
                .to_owned(),
        );
    }
    if config.io.partial_write == PartialWrite::Rmw {
        return conflict(
            "io.partial_write = rmw under zns.mode = raw, where no page is written twice; legal: \
             whole_page"
                .to_owned(),
        );
    }
    Ok(())
}

/// A raw zone is as long as every other, and stays so.
fn check_good_blocks(config: &Config) -> Result<(), SettingError> {
    let nand = &config.nand;
    let rates = [
        ("nand.program_failure_rate", nand.program_failure_rate),
        ("nand.erase_failure_rate", nand.erase_failure_rate),
        ("nand.factory_bad_rate", nand.factory_bad_rate),
    ];
    if let Some((key, rate)) = rates.into_iter().find(|(_, rate)| *rate > 0.0) {
        return conflict(format!(
            "{key} = {rate} under zns.mode = raw: a zone with a bad block is shorter than its \
             addresses; legal: 0"
        ));
    }
    if nand.factory_bad_blocks != NandSettings::default().factory_bad_blocks {
        return conflict(format!(
            "nand.factory_bad_blocks = {} under zns.mode = raw: a zone with a bad block is shorter \
             than its addresses; legal: none",
            nand.factory_bad_blocks
        ));
    }
    Ok(())
}

/// Most zones that a workload can have half written: one class of data each, and one for the last
/// zone, which may end before its line does.
const RAW_ACTIVE: u32 = CLASSES_MAX as u32 - 1;

/// Physical blocks: data, records, and a reserve of zones; those of all zones where nothing is
/// collected.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let zoned = zoned(config);
    if config.own.mode == ZoneMode::Raw {
        let planes = config.device.plane_count() / u64::from(zoned.line_sets());
        return planes * raw_zones(&zoned);
    }
    page_mapped::minimum_blocks(&zoned, threshold(&zoned))
}
