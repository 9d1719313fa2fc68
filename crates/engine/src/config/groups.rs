//! The shared groups of settings: device, energy, host, gc, alloc, wear, io, nand.

use super::SettingError;
use super::value::{Bytes, Duration, Energy, Optional};
use crate::board::nand::geometry::PlacementOrder;
use crate::host::{Arbitration, Duplex, STREAMS_MAX, SchedulerKind, parse_weights};
use crate::parts::free_pool::FreeOrder;
use crate::parts::victim::VictimKind;
use crate::parts::wear::WearPolicy;
use crate::{choices, settings};

settings! {
    /// Geometry, capacity and memory of the device.
    pub struct DeviceSettings in "device" {
        /// Name of the device profile.
        name: String = "unnamed".to_string(), legal("", |_| true), source("ftlab");
        /// Channels of the device.
        channels: u32 = 1, legal("1..=256", |v| (1..=256).contains(v)), source("datasheet");
        /// Packages per channel.
        packages: u32 = 1, legal("1..=64", |v| (1..=64).contains(v)), source("datasheet");
        /// Dies per package.
        dies: u32 = 1, legal("1..=64", |v| (1..=64).contains(v)), source("datasheet");
        /// Planes per die.
        planes: u32 = 1, legal("1..=16", |v| (1..=16).contains(v)), source("datasheet");
        /// Erase blocks per plane; `--capacity` changes it.
        blocks_per_plane: u32 = 1024,
            legal("2..=4294967295", |v| *v >= 2), source("datasheet");
        /// Pages per erase block (P).
        pages_per_block: u32 = 64, legal("2..=4096", |v| (2..=4096).contains(v)),
            source("datasheet");
        /// Bytes of a page (S).
        page_bytes: Bytes = Bytes(2048),
            legal("512 B to 32 KiB", |v| (512..=32768).contains(&v.0)), source("datasheet");
        /// Bytes that one map entry points to, a page's bytes over a power of two; auto: a page.
        /// Smaller units gather in the controller until a flash page is full.
        mapping_unit: Optional<Bytes> = Optional(None), legal("", |_| true),
            source("drives with 4 KiB maps over 16 KiB pages");
        /// Bytes of a page's out-of-band area (O).
        oob_bytes: Bytes = Bytes(64), legal("", |_| true), source("datasheet");
        /// Physical over logical capacity, less one.
        over_provisioning: f64 = 0.03125,
            legal("above 0, up to 100", |v| *v > 0.0 && *v <= 100.0), source("DFTL 2014, 4");
        /// Exported bytes; auto: physical capacity / (1 + over_provisioning), in whole blocks.
        logical_bytes: Optional<Bytes> = Optional(None), legal("", |_| true), source("ftlab");
        /// SRAM of the controller, for maps and buffers; auto: the scheme's own default.
        ram_bytes: Optional<Bytes> = Optional(None), legal("", |_| true), source("ftlab");
        /// Whether controller RAM survives a power cut (battery or supercapacitor, as the papers of
        /// RAM-managing schemes assume). Schemes and buffers that hold data or changed map entries
        /// in RAM lose nothing then; otherwise what was not flushed is lost.
        ram_nonvolatile: bool = false, legal("", |_| true),
            source("TreeFTL 2013, III; DRAM and SRAM lose their content");
        /// Program/erase cycles that a block endures (SLC about 100 k, MLC about 10 k).
        endurance_cycles: u64 = 100_000, legal("1 or more", |v| *v >= 1), source("datasheet");
    }
}

impl DeviceSettings {
    /// Planes of the whole device.
    pub fn plane_count(&self) -> u64 {
        u64::from(self.channels)
            * u64::from(self.packages)
            * u64::from(self.dies)
            * u64::from(self.planes)
    }

    /// Erase blocks of the whole device.
    pub fn physical_blocks(&self) -> u64 {
        self.plane_count() * u64::from(self.blocks_per_plane)
    }

    /// Bytes of a mapping unit: what the engine calls a page.
    pub fn unit_bytes(&self) -> u64 {
        self.mapping_unit.0.unwrap_or(self.page_bytes).0
    }

    /// Mapping units of a flash page.
    pub fn units_per_page(&self) -> u32 {
        (self.page_bytes.0 / self.unit_bytes()) as u32
    }

    /// Mapping units of an erase block.
    pub fn units_per_block(&self) -> u32 {
        self.pages_per_block * self.units_per_page()
    }

    /// Mapping units that the device exports.
    pub fn logical_pages(&self) -> u64 {
        match self.logical_bytes.0 {
            Some(bytes) => bytes.0 / self.unit_bytes(),
            None => {
                let share = 1.0 + self.over_provisioning;
                // The epsilon keeps 8448 / 1.03125 at 8192 whatever the rounding.
                let blocks = (self.physical_blocks() as f64 / share + 1e-6) as u64;
                blocks * u64::from(self.units_per_block())
            }
        }
    }

    /// Exports at least `bytes` and sizes the flash for it: over-provisioning as set, yet never
    /// fewer than `minimum_blocks` (the scheme's own minimum).
    pub fn set_capacity(&mut self, bytes: u64, minimum_blocks: u64) {
        let block_bytes = self.page_bytes.0 * u64::from(self.pages_per_block);
        let logical_blocks = bytes.div_ceil(block_bytes).max(1);
        self.logical_bytes = Optional(Some(Bytes(logical_blocks * block_bytes)));
        let wanted = (logical_blocks as f64 * (1.0 + self.over_provisioning)).ceil() as u64;
        let blocks = wanted.max(minimum_blocks);
        self.blocks_per_plane = blocks.div_ceil(self.plane_count()).max(2) as u32;
    }
}

choices! {
    /// How energy is counted.
    pub enum EnergyModel {
        /// So much per operation.
        PerOperation = "per_operation",
        /// Voltage times current times busy time.
        Current = "current",
    }
}

settings! {
    /// Energy of operations.
    pub struct EnergySettings in "energy" {
        /// Per operation, or voltage times current times time.
        model: EnergyModel = EnergyModel::PerOperation, legal("", |_| true), source("spec 1.8");
        /// One page read (per_operation).
        read: Energy = Energy(4_720_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// One page program (per_operation).
        program: Energy = Energy(38_040_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// One block erase (per_operation).
        erase: Energy = Energy(527_680_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// Supply in millivolts (current).
        millivolts: u64 = 3300, legal("1..=100000", |v| (1..=100_000).contains(v)),
            source("HAT 2010, Table 4");
        /// Flash current while it works, in microamperes (current).
        flash_microamperes: u64 = 25_000,
            legal("1..=10000000", |v| (1..=10_000_000).contains(v)), source("HAT 2010, Table 4");
        /// Whether a flash page operation draws current during its transfer too (current).
        flash_during_transfer: bool = true, legal("", |_| true), source("spec 1.8");
        /// DRAM current during an access, in microamperes (current).
        dram_microamperes: u64 = 125_000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// How long an access draws it (current); auto: timing.dram_access, or where that is 0 the
        /// row cycle of an SDRAM, 60 ns. HAT prints none.
        dram_access_time: Optional<Duration> = Optional(None), legal("", |_| true),
            source("SDRAM datasheets, tRC; the value of auto is ours");
        /// DRAM current of refresh, in microamperes (current): all the time, in devices whose
        /// scheme keeps a table in DRAM. Valid counts and bitmaps, trim records and checkpoint
        /// buffers are aids of ftlab and no such tables.
        dram_refresh_microamperes: u64 = 3000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// Phase-change memory current during a read, in microamperes (current).
        pcm_read_microamperes: u64 = 8000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// Phase-change memory current during a write, in microamperes (current).
        pcm_write_microamperes: u64 = 35_000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// One access to DRAM (per_operation).
        dram_access: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// Refresh of the DRAM for a second, where the scheme keeps a table there (per_operation).
        dram_refresh: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// One entry read from phase-change memory (per_operation).
        pcm_read: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// One entry written to phase-change memory (per_operation).
        pcm_write: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
    }
}

settings! {
    /// The host's side of the device.
    pub struct HostSettings in "host" {
        /// Requests that the device holds at once; auto: 1 serial, 32 parallel.
        queue_depth: Optional<u32> = Optional(None),
            legal("auto, or 1..=65536", |v| v.0.is_none_or(|d| (1..=65536).contains(&d))),
            source("ARCHITECTURE 4");
        /// Which waiting request goes to the device next.
        scheduler: SchedulerKind = SchedulerKind::Fcfs, legal("", |_| true), source("ftlab");
        /// Requests of a stream that the driver's queue holds; when it is full, the host waits.
        driver_queue_depth: u32 = 128,
            legal("1..=65536", |v| (1..=65536).contains(v)), source("Linux, nr_requests");
        /// Reads in a row that read_first sends while something else waits.
        reads_before_write: u32 = 32, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("Linux mq-deadline, writes_starved 2 of fifo_batch 16");
        /// Requests in a row that out_of_order sends before the oldest one.
        passes_before_oldest: u32 = 64, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("ftlab");
        /// Streams of the host, each with a queue of its own; a request belongs to stream
        /// (ASU, volume or disk of its trace record) modulo streams.
        streams: u32 = 1, legal("1..=16", |v| (1..=STREAMS_MAX as u32).contains(v)),
            source("NVMe Base Specification, submission queues");
        /// How streams take turns.
        arbitration: Arbitration = Arbitration::Fifo, legal("", |_| true),
            source("NVMe Base Specification, command arbitration");
        /// Requests of each stream per turn under weighted, such as 4,1; auto: one each.
        weights: String = "auto".to_string(),
            legal("auto, or numbers from 1 to 1000 with commas, one for every stream",
                |v| parse_weights(v).is_some()),
            source("NVMe Base Specification, command arbitration");
        /// Whether both directions of the link to the host work at once.
        link_duplex: Duplex = Duplex::Half, legal("", |_| true), source("SATA; PCIe is full");
        /// Bytes per second over the link to the host, in each direction; 0: no limit.
        link_bandwidth: Bytes = Bytes(0),
            legal("0 (no limit), or 1KB to 1TB (a second)",
                |v| v.0 == 0 || (1000..=1_000_000_000_000).contains(&v.0)),
            source("datasheet");
        /// Time of a command on the link, before the device begins.
        command_overhead: Duration = Duration(0), legal("", |_| true), source("datasheet");
    }
}

impl HostSettings {
    /// Legality of the settings together.
    pub(super) fn check(&self) -> Result<(), SettingError> {
        let weights = parse_weights(&self.weights).unwrap_or_default().len();
        if weights > 0 && self.arbitration != Arbitration::Weighted {
            return Err(SettingError::Conflict(format!(
                "host.weights = {} has no meaning under host.arbitration = {}; set it to weighted",
                self.weights,
                self.arbitration.name()
            )));
        }
        if self.arbitration != Arbitration::Fifo && self.streams == 1 {
            return Err(SettingError::Conflict(format!(
                "host.arbitration = {} has no meaning with one stream; set host.streams",
                self.arbitration.name()
            )));
        }
        if weights > 0 && weights != self.streams as usize {
            return Err(SettingError::Conflict(format!(
                "host.weights = {} names {weights} streams, host.streams is {}",
                self.weights, self.streams
            )));
        }
        Ok(())
    }
}

choices! {
    /// When garbage is collected.
    pub enum GcMode {
        /// Only when a write finds too few free blocks.
        Foreground = "foreground",
        /// In gaps between requests; in the foreground only when the last free block is near.
        Idle = "idle",
        /// In gaps, and in the foreground at the threshold.
        Both = "both",
    }
}

choices! {
    /// What a threshold in percent is a share of.
    pub enum ThresholdBase {
        /// The blocks of the plane.
        Plane = "plane",
        /// The blocks beyond the logical capacity.
        Spare = "spare",
    }
}

choices! {
    /// Whether the threshold moves.
    pub enum ThresholdMode {
        /// As set.
        Fixed = "fixed",
        /// Up while victims are cheap, down while they are dear.
        Adaptive = "adaptive",
    }
}

choices! {
    /// What collects at a time.
    pub enum GcUnit {
        /// The plane that is short of blocks.
        Plane = "plane",
        /// With it the planes of its die that are within a block of collecting, from the same
        /// moment: multi-plane commands can serve them together.
        Die = "die",
    }
}

settings! {
    /// Garbage collection of page-mapped blocks.
    pub struct GcSettings in "gc" {
        /// How a victim block is chosen.
        victim: VictimKind = VictimKind::Greedy, legal("", |_| true), source("spec 1.9");
        /// Free blocks per plane below which collection starts, a number of blocks or a share
        /// such as 20%; auto: the scheme's own (ideal_page.gc_low, dftl.gc_threshold_blocks).
        threshold: String = "auto".to_string(),
            legal("auto, a number of blocks, or a percentage above 0% and below 100%",
                |v| crate::parts::page_space::Threshold::parse(v).is_some()),
            source("DFTL 2014, 3.3");
        /// What a percentage is a share of.
        threshold_base: ThresholdBase = ThresholdBase::Plane, legal("", |_| true),
            source("HAT 2010, 4");
        /// Fixed, or adaptive between the threshold and gc.threshold_max.
        threshold_mode: ThresholdMode = ThresholdMode::Fixed, legal("", |_| true),
            source("DFTL 2014, 3.3: adjustable, rule ours");
        /// Highest threshold in blocks per plane that the adaptive rule may reach.
        threshold_max: u32 = 16, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("ftlab");
        /// In the foreground, in idle gaps, or both.
        mode: GcMode = GcMode::Foreground, legal("", |_| true), source("spec 1.7");
        /// In idle gaps, collect while fewer than this many times the threshold are free.
        idle_factor: u32 = 2, legal("1..=1000", |v| (1..=1000).contains(v)), source("ftlab");
        /// Pages that an idle step of collection moves before a request may come between; 0: a
        /// whole victim, 1: preemption between page copies.
        idle_pages: u32 = 0, legal("0..=65536", |v| *v <= 65536), source("ftlab");
        /// Whether a plane collects alone, or all planes of its die that are about to.
        unit: GcUnit = GcUnit::Plane, legal("", |_| true), source("HAT 2010, 4: per plane");
        /// Whether collected pages go to a write frontier of their own.
        separate_frontiers: bool = false, legal("", |_| true), source("spec 2.1: FlashSim shares");
        /// Candidates that d_choices draws.
        choices: u32 = 10, legal("1..=10000", |v| (1..=10_000).contains(v)),
            source("Van Houdt 2013");
        /// Oldest blocks that windowed_greedy looks at.
        window: u32 = 64, legal("1..=16777216", |v| (1..=1 << 24).contains(v)),
            source("Hu et al. 2009");
    }
}

choices! {
    /// What a search for a victim costs.
    pub enum SearchModel {
        /// Nothing; the candidates that a scan would compare are counted.
        None = "none",
        /// A step for every candidate compared.
        Scan = "scan",
        /// One step, whatever the number of candidates: a list is kept in order.
        List = "list",
    }
}

settings! {
    /// Searches for victims: collection, merges, entries that leave a cache.
    pub struct SearchSettings in "search" {
        /// How steps are counted and whether they cost.
        model: SearchModel = SearchModel::None, legal("", |_| true),
            source("TreeFTL 2013, Fig. 6; spec 4.1 tree.lru_cost_us");
        /// Controller time of one step (scan, list): a memory access and a comparison on a core of
        /// a few hundred MHz.
        step_time: Duration = Duration(100), legal("", |_| true), source("ftlab");
        /// Energy of one step (scan, list): such a core at 100 mW.
        step_energy: Energy = Energy(10_000), legal("", |_| true), source("ftlab");
    }
}

settings! {
    /// Where pages and blocks are taken from.
    pub struct AllocSettings in "alloc" {
        /// How the planes take turns for host writes.
        order: PlacementOrder = PlacementOrder::ChannelDiePlane, legal("", |_| true),
            source("HAT 2010, 4; SSDsim");
        /// Which free block is taken next; auto: as wear.policy says, min_erase unless that is
        /// none, then fifo.
        policy: Optional<FreeOrder> = Optional(None), legal("", |_| true), source("spec 1.2");
    }
}

settings! {
    /// How evenly blocks wear, and whether they die.
    pub struct WearSettings in "wear" {
        /// How wear is levelled.
        policy: WearPolicy = WearPolicy::Implicit, legal("", |_| true), source("spec 1.2; ours");
        /// Erases that blocks of a plane may be apart before static levelling moves cold data.
        spread: u32 = 100, legal("2..=4000000000", |v| (2..=4_000_000_000).contains(v)),
            source("ftlab");
        /// Whether a block is retired by the erase that completes its device.endurance_cycles;
        /// otherwise none dies of age. `--until worn-out` sets it.
        blocks_die: bool = false, legal("", |_| true), source("ftlab");
    }
}

choices! {
    /// What a write of part of a page does.
    pub enum PartialWrite {
        /// Counts as a whole page, as FlashSim does.
        WholePage = "whole_page",
        /// Reads the old page first when some of its sectors survive.
        Rmw = "rmw",
    }
}

choices! {
    /// What a read of a page that was never written does.
    pub enum UnwrittenRead {
        /// Costs one page read, as FlashSim does.
        ChargeRead = "charge_read",
        /// Costs nothing and returns zeros.
        ZeroFree = "zero_free",
        /// Such pages are written before the run, as SSDsim does; the rest is charged.
        Preload = "preload",
    }
}

settings! {
    /// What the device does with odd requests.
    pub struct IoSettings in "io" {
        /// A write of part of a page.
        partial_write: PartialWrite = PartialWrite::WholePage, legal("", |_| true),
            source("spec 1.3");
        /// A read of a page that was never written.
        unwritten_read: UnwrittenRead = UnwrittenRead::ChargeRead, legal("", |_| true),
            source("spec 1.3");
        /// Whether trims are obeyed (off: counted and ignored, as in the papers' simulators).
        trim: bool = true, legal("", |_| true), source("spec 1.3");
    }
}

choices! {
    /// In what order pages of a block may be programmed.
    pub enum ProgramOrder {
        /// Any free page, as the papers' simulators allow.
        Off = "off",
        /// Upwards; gaps may be left.
        AscendingGapsOk = "ascending_gaps_ok",
        /// Upwards without a gap, as large-block parts demand.
        Strict = "strict",
    }
}

settings! {
    /// Laws and faults of the flash.
    pub struct NandSettings in "nand" {
        /// In what order pages of a block may be programmed.
        enforce_order: ProgramOrder = ProgramOrder::Off, legal("", |_| true), source("spec 1.2");
        /// Share of programs that fail and make their block read-only.
        program_failure_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of erases that fail and retire their block.
        erase_failure_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of blocks that are bad from the start: that many, spread evenly over the planes.
        factory_bad_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Further blocks that are bad from the start, by number.
        factory_bad_blocks: String = "none".to_string(),
            legal("none, or block numbers with commas between them",
                |v| NandSettings::named_bad_blocks(v).is_some()),
            source("ftlab");
        /// Share of page reads that no retry brings back. Host data is lost until it is written
        /// anew; map pages have a stronger code and are read with the last retry.
        read_error_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of page reads that need retries: 1 to nand.read_retries, each number as likely.
        read_retry_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Retries before a read is given up; each costs and counts as a page read.
        read_retries: u32 = 4, legal("1..=64", |v| (1..=64).contains(v)), source("ftlab");
    }
}
