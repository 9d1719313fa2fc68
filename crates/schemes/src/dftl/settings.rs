//! The settings of `dftl`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::parts::cmt::CachePolicyKind;
use ftlab_ftl::parts::map_recovery::Consistency;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// The translation pages of a new device.
    pub enum InitialMap {
        /// On flash by assumption, until first changed.
        Implicit = "implicit",
        /// Written before anything else, as FlashSim does.
        Written = "written",
    }
}

choices! {
    /// What a map read moves over the channel.
    pub enum MapTransfer {
        /// The whole page.
        Page = "page",
        /// One entry: cell time alone.
        Entry = "entry",
    }
}

choices! {
    /// When a changed entry that leaves the cache is written.
    pub enum WriteBack {
        /// Before the entry that takes its place is loaded; the request waits.
        InRequest = "in_request",
        /// When the request is done; nobody waits but who needs the same flash afterwards: later
        /// requests, in the serial profile the next one.
        AfterCompletion = "after_completion",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<DftlSettings>;

settings! {
    /// Settings of `dftl`.
    pub struct DftlSettings in "dftl" {
        /// Entries of the CMT; auto: what device.ram_bytes holds, else
        /// dftl.auto_entries.
        cmt_entries: Optional<u32> = Optional(None),
            legal("auto, or 2..=536870912", |v| v.0.is_none_or(|n| (2..=1 << 29).contains(&n))),
            source("DFTL 2014, 5.3: 32 KB at 4 B");
        /// Entries of the CMT where neither dftl.cmt_entries nor device.ram_bytes says how many.
        auto_entries: u32 = 8192, legal("2..=536870912", |v| (2..=1 << 29).contains(v)),
            source("DFTL 2014, 5.3; HAT 2010, Table 4: 128 KB at 8 B");
        /// Bytes that an entry is counted with: 4 as the paper counts, 8 with LPN and PPN.
        entry_bytes: u32 = 4, legal("1..=64", |v| (1..=64).contains(v)),
            source("DFTL 2014, 3.1: 4; docs/papers/dftl2014.md#left-open");
        /// Whether the directory takes room from the CMT under device.ram_bytes.
        gtd_in_budget: bool = false, legal("", |_| true),
            source("docs/papers/dftl2014.md#structures: FlashSim");
        /// Which entry leaves the CMT.
        cmt_policy: CachePolicyKind = CachePolicyKind::PsuRealGhost, legal("", |_| true),
            source("FlashSim; DFTL 2014, 3.2: segmented LRU");
        /// Share of the better segment (slru: protected; psu_real_ghost: REAL).
        slru_protected: f64 = 0.8, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("FlashSim: 6552 of 8192 entries");
        /// Whether an eviction also writes the other changed entries of its translation page.
        batch_evict: bool = false, legal("", |_| true),
            source("DFTL 2014, 3.2 allows it; Table 5 shows it off");
        /// Entries of the same translation page loaded after a missed one; never causes a map
        /// write.
        prefetch: u32 = 0, legal("0..=65535", |v| *v <= 65535), source("DFTL 2014, 3.2");
        /// Whether a write that misses loads its entry first.
        write_miss_fetch: bool = true, legal("", |_| true),
            source("DFTL 2014, Algorithm 1; HAT 2010 says no");
        /// When a changed entry that leaves the cache is written.
        writeback: WriteBack = WriteBack::InRequest, legal("", |_| true),
            source("DFTL 2014, Algorithm 1; HAT 2010, IV.B.2 has it behind the request");
        /// Changed entries that can wait for the end of their request under after_completion; one
        /// more makes the request wait until one of them is written.
        writeback_entries: u32 = 32, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("ftlab: requests of 64 KB in pages of 2 KB");
        /// Whether collection changes cached entries in the CMT alone.
        lazy_copying: bool = true, legal("", |_| true), source("DFTL 2014, 3.3");
        /// Translation pages of a new device.
        init_map: InitialMap = InitialMap::Implicit, legal("", |_| true),
            source("docs/papers/dftl2014.md#left-open");
        /// What a map read moves over the channel.
        map_read_xfer: MapTransfer = MapTransfer::Page, legal("", |_| true),
            source("HAT 2010, IV.B.1");
        /// What survives a power cut.
        consistency: Consistency = Consistency::Replay, legal("", |_| true),
            source("DFTL 2014, 3.3");
        /// Page programs between checkpoints under replay; 0 takes none.
        checkpoint_interval: u64 = 16384, legal("0, or 64 and more", |v| *v == 0 || *v >= 64),
            source("ftlab");
        /// Page programs between copies of the directory on flash under gtd; 0 makes none, and the
        /// directory survives in non-volatile memory.
        gtd_sync_every: u64 = 0, legal("0, or 64 and more", |v| *v == 0 || *v >= 64),
            source("DFTL 2014, 3.3");
        /// Free blocks per plane below which collection starts, and at which it stops; two more
        /// where the device has several planes.
        gc_threshold_blocks: u32 = 3, legal("3..=1000000", |v| (3..=1_000_000).contains(v)),
            source("docs/papers/dftl2014.md#collection: FlashSim");
    }
}
