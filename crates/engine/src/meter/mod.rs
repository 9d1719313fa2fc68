//! Counts by operation and cause, histograms and windows; derives nothing.
//!
//! What is a ratio, a percentile or a joule is worked out by the report, from these.

mod counts;
mod latency;
mod streams;
mod windows;

pub use counts::Counts;
pub use latency::{LatencyMeter, LatencyStatistics};
pub use streams::StreamCounts;
pub use windows::{Window, Windows};

use crate::board::nand::geometry::Geometry;
use crate::host::STREAMS_MAX;
use crate::request::{Completion, Op, Request};

macro_rules! named {
    ($(#[$outer:meta])* pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $text:literal, )* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            /// Every one, in the order of results.
            pub const ALL: &'static [$name] = &[$( $name::$variant, )*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// Its name in results.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }
        }
    };
}

named! {
    /// Why an operation was done. The numbers are the columns of DFTL 2014, Table 5.
    pub enum Cause {
        /// The page that the host asked for.
        Host = "host",
        /// Reading the map for a request, writing back what made room for it: (3), (7).
        Translate = "translate",
        /// Moving data out of a victim: (1), (5).
        Gc = "gc",
        /// Moving map pages out of a victim: (2), (6).
        GcMapBlock = "gc_map_block",
        /// Telling the map where a victim's data went: (4), (8).
        GcMapUpdate = "gc_map_update",
        /// Merging log blocks with data blocks.
        Merge = "merge",
        /// Moving data between areas of a scheme.
        Migrate = "migrate",
        /// Changing how data is mapped.
        Convert = "convert",
        /// Filling pages that nobody asked to write.
        Pad = "pad",
        /// Reading what a partial write must keep.
        ReadModifyWrite = "read_modify_write",
        /// Recording trims.
        Trim = "trim",
        /// Saving RAM tables so that recovery need not scan everything.
        Checkpoint = "checkpoint",
        /// Levelling wear.
        Wear = "wear",
        /// Bringing the device back after a power cut.
        Recover = "recover",
    }
}

impl Cause {
    /// Whether the operation works on the map and not on data.
    #[inline]
    pub fn is_map(self) -> bool {
        matches!(
            self,
            Cause::Translate | Cause::GcMapBlock | Cause::GcMapUpdate | Cause::Checkpoint
        )
    }
}

named! {
    /// What a block was when it was erased.
    pub enum BlockRole {
        /// It held data.
        Data = "data",
        /// It held parts of a map, checkpoints or trim records.
        Map = "map",
        /// It was a log block.
        Log = "log",
    }
}

named! {
    /// What the gate cannot see.
    pub enum Event {
        /// Host reads of pages that were never written.
        UnwrittenReads = "unwritten_reads",
        /// Look-ups of the cached map.
        MapLookups = "map_lookups",
        /// Look-ups that were answered from the cache.
        MapHits = "map_hits",
        /// Entries that left the cache unchanged.
        EvictClean = "evict_clean",
        /// Entries that left the cache changed, each with a map write.
        EvictDirty = "evict_dirty",
        /// Changed entries that a neighbour's map write took along.
        BatchedEvictions = "batched_evictions",
        /// Entries loaded before anybody asked.
        PrefetchedEntries = "prefetched_entries",
        /// Map entries that garbage collection changed in the cache alone (lazy copying).
        LazyUpdates = "lazy_updates",
        /// Checkpoints completed.
        Checkpoints = "checkpoints",
        /// Changed map entries that a power cut lost.
        LostMapEntries = "lost_map_entries",
        /// Log writes appended to random log blocks.
        RandomLogWrites = "random_log_writes",
        /// Log writes appended to sequential log blocks.
        SequentialLogWrites = "sequential_log_writes",
        /// Sequential log blocks opened.
        SequentialLogOpens = "sequential_log_opens",
        /// Sequential log blocks merged in full; the other full merges are random log victims.
        SequentialFullMerges = "sequential_full_merges",
        /// Writes that went straight to their place in a data block.
        InPlaceWrites = "in_place_writes",
        /// Log blocks reclaimed without a merge, every page being superseded.
        DeadLogBlocks = "dead_log_blocks",
        /// Those of them that were in a hot partition.
        DeadHotBlocks = "dead_hot_blocks",
        /// Pages used of log blocks that were merged: with the number of merges, how full they were.
        LogPagesAtMerge = "log_pages_at_merge",
        /// Log pages that went into merged logical blocks, from whatever log block (MAST): with the
        /// number of data blocks rebuilt, what a merge was good for.
        MergedLogPages = "merged_log_pages",
        /// Data blocks rewritten because a page of theirs was.
        BlockRewrites = "block_rewrites",
        /// Chains of replacement blocks merged into their last block.
        FoldsInPlace = "folds_in_place",
        /// Chains of replacement blocks merged into a fresh block.
        FoldsOutOfPlace = "folds_out_of_place",
        /// Replacement blocks that those chains had.
        FoldedReplacements = "folded_replacements",
        /// Chains that had one replacement block when they were folded.
        FoldedChainsOf1 = "folded_chains_of_1",
        /// Chains that had two.
        FoldedChainsOf2 = "folded_chains_of_2",
        /// Three or four.
        FoldedChainsOf3To4 = "folded_chains_of_3_to_4",
        /// Five to eight.
        FoldedChainsOf5To8 = "folded_chains_of_5_to_8",
        /// More than eight.
        FoldedChainsOver8 = "folded_chains_over_8",
        /// Write requests taken for sequential.
        SequentialRequests = "sequential_requests",
        /// Write requests taken for random.
        RandomRequests = "random_requests",
        /// Log writes of pages taken for hot.
        HotLogWrites = "hot_log_writes",
        /// Log writes of pages taken for cold.
        ColdLogWrites = "cold_log_writes",
        /// Pages taken for hot that were moved to where the cold ones are.
        DemotedPages = "demoted_pages",
        /// Log blocks that were erased after that: reclaims of a hot partition that were no merges.
        DemotedBlocks = "demoted_blocks",
        /// Valid log pages copied to the end of the log instead of being merged.
        SecondChanceCopies = "second_chance_copies",
        /// Copied like that, and rewritten by the host before they were merged.
        SecondChancesRewritten = "second_chances_rewritten",
        /// Full log blocks put back to the end of the log untouched.
        AggregatedMoves = "aggregated_moves",
        /// Log pages moved to the isolation area.
        IsolationMoves = "isolation_moves",
        /// Data blocks merged a little at a time, before anything was exhausted.
        ProgressiveMerges = "progressive_merges",
        /// Data blocks merged because an area was exhausted.
        ForcedMerges = "forced_merges",
        /// Log blocks reused as soon as nothing in them was valid.
        EarlyReuses = "early_reuses",
        /// Questions to the historical access table.
        HistoryQueries = "history_queries",
        /// Questions that it answered with yes.
        HistoryHits = "history_hits",
        /// Answers that the next write of the page, or its merge, proved right.
        HistoryRight = "history_right",
        /// Answers that were proved wrong.
        HistoryWrong = "history_wrong",
        /// Log blocks that went from one area to the other.
        AreaTransfers = "area_transfers",
        /// Changes of the threshold between sequential and random.
        ThresholdFlips = "threshold_flips",
        /// Times that a buffer zone was emptied.
        ZoneMigrations = "zone_migrations",
        /// Pages moved by migrations.
        MigratedPages = "migrated_pages",
        /// Logical blocks, groups or log blocks that changed the way in which they are mapped.
        Conversions = "conversions",
        /// Look-ups of maps kept in spare areas.
        SpareMapLookups = "spare_map_lookups",
        /// Look-ups that memory answered.
        SpareMapHits = "spare_map_hits",
        /// Steps of searches for blocks to collect or merge (`search.model`).
        VictimSearchSteps = "victim_search_steps",
        /// Steps of searches for entries that leave a cache.
        CacheSearchSteps = "cache_search_steps",
        /// Victims reclaimed in idle gaps.
        IdleVictims = "idle_victims",
        /// Programs that failed.
        ProgramFailures = "program_failures",
        /// Erases that failed.
        EraseFailures = "erase_failures",
        /// Blocks that died of age; the erase that was their last counts as failed.
        WornOutBlocks = "worn_out_blocks",
        /// Blocks whose data was moved to level wear.
        LevelledBlocks = "levelled_blocks",
        /// Page reads repeated because the one before failed.
        ReadRetries = "read_retries",
        /// Pages of host data that no retry brought back.
        LostPages = "lost_pages",
        /// Copies that stayed in their plane's register (`timing.copyback`).
        Copybacks = "copybacks",
    }
}

named! {
    /// What a scheme's areas and thresholds stand at: the last value told, kept over simulated time.
    pub enum Level {
        /// Sequential log blocks in use.
        SequentialLogBlocks = "sequential_log_blocks",
        /// Most sequential log blocks that may be in use.
        SequentialLogLimit = "sequential_log_limit",
        /// Random log blocks in use.
        RandomLogBlocks = "random_log_blocks",
        /// Most random log blocks that may be in use.
        RandomLogLimit = "random_log_limit",
        /// Log blocks with pages that are rewritten often.
        HotLogBlocks = "hot_log_blocks",
        /// Log blocks with pages that are not.
        ColdLogBlocks = "cold_log_blocks",
        /// Log blocks with pages that outlived their chances (FASTer).
        IsolationBlocks = "isolation_blocks",
        /// Blocks of a zone that takes all writes first.
        BufferZoneBlocks = "buffer_zone_blocks",
        /// Logical pages that are mapped by pages.
        PageMappedPages = "page_mapped_pages",
        /// Logical pages that are mapped by blocks.
        BlockMappedPages = "block_mapped_pages",
        /// ADAPT's delta of the last interval, thousandths.
        DeltaPermille = "delta_permille",
        /// ADAPT's phi of the last interval, pages per full merge.
        PhiPages = "phi_pages",
        /// ADAPT's theta: pages of a request above which it is sequential.
        ThetaPages = "theta_pages",
        /// ADAPT's historical access table, bytes.
        HistoryBytes = "history_bytes",
        /// ADAPT's prediction hit rate of the last interval, thousandths (`adapt.hit_rate_def`).
        HistoryHitPermille = "history_hit_permille",
        /// Longest chain of replacement blocks.
        LongestChain = "longest_chain",
        /// Associativity allowed, thousandths of a log block per group, mean over the groups (N-K).
        GroupLogsPermille = "group_logs_permille",
    }
}

/// Values of all levels, each plus one; 0 where nothing was told.
pub type Levels = [u64; Level::COUNT];

/// Counts of merges, and of page-mapped victims under the same names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merges {
    /// Nothing was copied.
    pub switch: u64,
    /// Some pages were copied.
    pub partial: u64,
    /// Log blocks merged in full (page-mapped: victims with every page valid, which never happens).
    pub full: u64,
    /// Data blocks rebuilt by full merges.
    pub full_data_blocks: u64,
    /// Full merges by number of data blocks.
    pub associativity: Vec<u64>,
}

/// What the host asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Requests by operation: read, write, trim, flush.
    pub requests: [u64; 4],
    /// Requests completed.
    pub completed: u64,
    /// Requests that failed or that a power cut interrupted.
    pub interrupted: u64,
    /// Requests that completed with an error: a page could not be read.
    pub failed: u64,
    /// Host pages that could not be read, each time they were asked for.
    pub unreadable_pages: u64,
    /// Pages by operation: read, write, trim.
    pub pages: [u64; 3],
    /// Sectors by operation: read, write, trim.
    pub sectors: [u64; 3],
}

impl HostCounts {
    /// Requests of all kinds.
    pub fn total_requests(&self) -> u64 {
        self.requests.iter().sum()
    }
}

/// All counts of a run.
#[derive(Clone, Debug)]
pub struct Meter {
    reads: [u64; Cause::COUNT],
    programs: [u64; Cause::COUNT],
    erases: [u64; BlockRole::COUNT],
    erases_by_cause: [u64; Cause::COUNT],
    /// Reads and programs that no host page is, and erases: what windows show as GC.
    overhead_programs: u64,
    total_erases: u64,
    oob_reads: u64,
    events: [u64; Event::COUNT],
    merges: Merges,
    host: HostCounts,
    streams: [StreamCounts; STREAMS_MAX],
    latency: LatencyMeter,
    windows: Windows,
}

impl Meter {
    /// Zeroes for a device.
    pub fn new(geometry: &Geometry) -> Self {
        Meter {
            reads: [0; Cause::COUNT],
            programs: [0; Cause::COUNT],
            erases: [0; BlockRole::COUNT],
            erases_by_cause: [0; Cause::COUNT],
            overhead_programs: 0,
            total_erases: 0,
            oob_reads: 0,
            events: [0; Event::COUNT],
            merges: Merges {
                switch: 0,
                partial: 0,
                full: 0,
                full_data_blocks: 0,
                associativity: vec![0; geometry.pages_per_block as usize + 1],
            },
            host: HostCounts::default(),
            streams: [StreamCounts::default(); STREAMS_MAX],
            latency: LatencyMeter::new(),
            windows: Windows::new(),
        }
    }

    /// Page reads by cause.
    pub fn reads(&self, cause: Cause) -> u64 {
        self.reads[cause as usize]
    }

    /// Page programs by cause.
    pub fn programs(&self, cause: Cause) -> u64 {
        self.programs[cause as usize]
    }

    /// Page reads of all causes.
    pub fn total_reads(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// Page programs of all causes.
    pub fn total_programs(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Block erases by role.
    pub fn erases(&self, role: BlockRole) -> u64 {
        self.erases[role as usize]
    }

    /// Block erases by cause.
    pub fn erases_by_cause(&self, cause: Cause) -> u64 {
        self.erases_by_cause[cause as usize]
    }

    /// Block erases of all roles.
    pub fn total_erases(&self) -> u64 {
        self.total_erases
    }

    /// Out-of-band areas read.
    pub fn oob_reads(&self) -> u64 {
        self.oob_reads
    }

    /// How often an event was named.
    pub fn events(&self, event: Event) -> u64 {
        self.events[event as usize]
    }

    /// Merges and victims.
    pub fn merges(&self) -> &Merges {
        &self.merges
    }

    /// The host's requests.
    pub fn host(&self) -> &HostCounts {
        &self.host
    }

    /// Requests of each stream; counted only where the host has several.
    pub fn streams(&self) -> &[StreamCounts; STREAMS_MAX] {
        &self.streams
    }

    /// Response times.
    pub fn latency(&self) -> &LatencyMeter {
        &self.latency
    }

    /// Response time and collection over simulated time.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    #[inline]
    pub(crate) fn read(&mut self, cause: Cause) {
        self.reads[cause as usize] += 1;
    }

    #[inline]
    pub(crate) fn program(&mut self, cause: Cause) {
        self.programs[cause as usize] += 1;
        self.overhead_programs += u64::from(cause != Cause::Host);
    }

    #[inline]
    pub(crate) fn erase(&mut self, role: BlockRole, cause: Cause) {
        self.erases[role as usize] += 1;
        self.erases_by_cause[cause as usize] += 1;
        self.total_erases += 1;
    }

    #[inline]
    pub(crate) fn oob_read(&mut self) {
        self.oob_reads += 1;
    }

    #[inline]
    pub(crate) fn event(&mut self, event: Event, count: u64) {
        self.events[event as usize] += count;
    }

    #[inline]
    pub(crate) fn victim(&mut self, copied: u32, pages_per_block: u32) {
        match copied {
            0 => self.merges.switch += 1,
            n if n < pages_per_block => self.merges.partial += 1,
            _ => self.merges.full += 1,
        }
    }

    pub(crate) fn merge_switch(&mut self) {
        self.merges.switch += 1;
    }

    pub(crate) fn merge_partial(&mut self) {
        self.merges.partial += 1;
    }

    pub(crate) fn merge_full(&mut self, data_blocks: u32) {
        self.merges.full += 1;
        self.merges.full_data_blocks += u64::from(data_blocks);
        let last = self.merges.associativity.len() - 1;
        self.merges.associativity[(data_blocks as usize).min(last)] += 1;
    }

    #[inline]
    pub(crate) fn request(&mut self, op: Op, pages: u64, sectors: u64) {
        let kind = op as usize;
        self.host.requests[kind] += 1;
        if kind < 3 {
            self.host.pages[kind] += pages;
            self.host.sectors[kind] += sectors;
        }
    }

    /// A level now stands at `value`.
    pub(crate) fn level(&mut self, level: Level, value: u64) {
        self.windows.level(level, value);
    }

    /// What a level was last told to stand at.
    pub fn level_now(&self, level: Level) -> Option<u64> {
        self.windows.level_now(level)
    }

    /// Counts a completed request of one of several streams.
    pub(crate) fn stream(&mut self, stream: u32, request: &Request, completion: &Completion) {
        self.streams[stream as usize].record(request, completion);
    }

    /// Counts a completed request; true when free blocks should be sampled.
    #[inline]
    pub(crate) fn complete(&mut self, op: Op, completion: &Completion) -> bool {
        self.host.completed += 1;
        if let Some(unreadable) = completion.unreadable {
            self.unreadable(unreadable.pages);
        }
        self.latency.record(op, completion);
        let written = self.host.pages[Op::Write as usize];
        let overhead = (written, self.overhead_programs, self.total_erases);
        self.windows.record(completion, overhead)
    }

    #[cold]
    pub(crate) fn sample_free_blocks(&mut self, free_blocks: u32) {
        self.windows.sample_free_blocks(free_blocks);
    }

    #[cold]
    pub(crate) fn unreadable(&mut self, pages: u32) {
        self.host.failed += 1;
        self.host.unreadable_pages += u64::from(pages);
    }

    pub(crate) fn interrupt(&mut self) {
        self.host.interrupted += 1;
    }

    pub(crate) fn reset(&mut self) {
        self.reads.fill(0);
        self.programs.fill(0);
        self.erases.fill(0);
        self.erases_by_cause.fill(0);
        self.overhead_programs = 0;
        self.total_erases = 0;
        self.oob_reads = 0;
        self.events.fill(0);
        let merges = &mut self.merges;
        (merges.switch, merges.partial, merges.full, merges.full_data_blocks) = (0, 0, 0, 0);
        merges.associativity.fill(0);
        self.host = HostCounts::default();
        self.streams.fill(StreamCounts::default());
        self.latency.reset();
        self.windows.reset();
    }
}
