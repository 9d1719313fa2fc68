//! What is counted, by name: causes of operations, roles of blocks, events, and levels.
//!
//! These enums are the only list of such names; results, reports and tests take them from here.

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

mod level;
pub use level::Level;

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
        /// Moving pages out of an SLC cache into dense blocks.
        Fold = "fold",
        /// Parity over the dies of a line.
        Parity = "parity",
        /// Bringing back what a die or a page lost from the rest of its stripe, and moving it.
        Rebuild = "rebuild",
        /// Moving data that was read often or is old, before its cells lose it.
        Refresh = "refresh",
        /// Finding and joining equal contents behind the host's back, and recording on flash which
        /// logical pages share one.
        Dedup = "dedup",
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
        /// Those of them that an entry answered which covers several pages.
        RunHits = "run_hits",
        /// Those of them that the block table answered.
        BlockTableHits = "block_table_hits",
        /// Those of them that were answered from a second level, of whole translation pages.
        SecondLevelHits = "second_level_hits",
        /// Those of them that a cache of map pages by frequency answered (DAC).
        FrequencyHits = "frequency_hits",
        /// Those of them that no cache answered, the map page never having been written: nothing in
        /// it is mapped.
        DirectoryHits = "directory_hits",
        /// Map pages that moved from the cache by recency to the one by frequency (DAC).
        PromotedMapPages = "promoted_map_pages",
        /// Entries, or map pages where whole pages are cached, that left the cache unchanged.
        EvictClean = "evict_clean",
        /// Entries, or map pages, that left the cache changed, each with a map write.
        EvictDirty = "evict_dirty",
        /// Changed entries that left the cache and were wanted again before they were written:
        /// neither among evict_clean nor among evict_dirty.
        ReturnedEvictions = "returned_evictions",
        /// Changed entries that a neighbour's map write took along.
        BatchedEvictions = "batched_evictions",
        /// Changed entries that left the first level of a cache for the second, without a map
        /// write.
        AbsorbedEvictions = "absorbed_evictions",
        /// Translation pages that left a second level, among evict_clean and evict_dirty.
        SecondLevelEvictions = "second_level_evictions",
        /// Cached translation pages programmed as a whole: changed ones, and others where the
        /// scheme says so.
        MapPageFlushes = "map_page_flushes",
        /// Changed entries put in a buffer of their own, their translation page not being in
        /// memory.
        MapBufferedEntries = "map_buffered_entries",
        /// Map writes that took all entries of a translation page out of such a buffer.
        MapBufferFlushes = "map_buffer_flushes",
        /// Accurate segments of more than one page that were learned (`leaftl`).
        LearnedAccurate = "learned_accurate",
        /// Approximate segments that were learned.
        LearnedApproximate = "learned_approximate",
        /// Segments of one page that were learned.
        LearnedLone = "learned_lone",
        /// Look-ups that a learned segment answered.
        SegmentLookups = "segment_lookups",
        /// Levels that they looked into.
        SegmentLevels = "segment_levels",
        /// Those of them that looked into more than nine.
        DeepSegmentLookups = "deep_segment_lookups",
        /// Reads of pages that an approximate segment told the place of.
        ApproximateReads = "approximate_reads",
        /// Those of them that read another page first.
        Mispredictions = "mispredictions",
        /// Pages read because their out-of-band area tells where a superseded page is.
        PredictionChecks = "prediction_checks",
        /// Groups of learned segments that were compacted.
        GroupCompactions = "group_compactions",
        /// Times that a translation page in memory was compressed: loaded, or its runs changed.
        Recompressions = "recompressions",
        /// Entries loaded before anybody asked.
        PrefetchedEntries = "prefetched_entries",
        /// Those of them that somebody asked for before they left.
        PrefetchedUsed = "prefetched_used",
        /// Host pages read whose map entry was cached (`tpftl`, `learnedftl`).
        EntryReads = "entry_reads",
        /// Host pages read where a learned model said they are.
        ModelReads = "model_reads",
        /// Host pages read after their translation page (`tpftl`, `learnedftl`).
        DoubleReads = "double_reads",
        /// Models that collection trained, each of a translation page.
        ModelTrainings = "model_trainings",
        /// Pieces of models that a sequential write replaced.
        ModelInitialisations = "model_initialisations",
        /// Pages that either found to be where the model says.
        ExactPages = "exact_pages",
        /// Host pages written to the line of another group.
        BorrowedPages = "borrowed_pages",
        /// Groups of translation pages whose lines were collected together.
        GroupsCollected = "groups_collected",
        /// Map entries that garbage collection changed in the cache alone (lazy copying).
        LazyUpdates = "lazy_updates",
        /// Superseded pages that became invalid when the map was next written, not when they were
        /// superseded.
        DeferredInvalidations = "deferred_invalidations",
        /// Translation pages written because an update area was full.
        ConvertedMapPages = "converted_map_pages",
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
        /// Pages used of log blocks that were merged: with the number of merges, how full they
        /// were.
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
        /// Conversions given up, one of the pages having been written or become hot.
        AbortedConversions = "aborted_conversions",
        /// Block-mapped logical blocks that became page-mapped, as one of their pages changed
        /// (CFTL).
        Reversions = "reversions",
        /// Block-mapped blocks that became page-mapped as they were.
        Fusions = "fusions",
        /// Page-mapped logical blocks that were gathered into a block of their own.
        Defusions = "defusions",
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
        /// Pages that found no room in a block of their class, for want of free ones, and opened
        /// none (`gc.placement`).
        ClassesBorrowed = "classes_borrowed",
        /// Full blocks that went to another group as they were, without a copy: beyond a size that
        /// shrank, of a group that was given up, or without an invalid page (`midas`).
        BlocksHandedOn = "blocks_handed_on",
        /// Pages of the host that came without a hint, and went to the first handle (`gc.placement
        /// = hint`).
        PagesWithoutHint = "pages_without_hint",
        /// Those whose hint names no handle, and that went to the last one.
        PagesBeyondHandles = "pages_beyond_handles",
        /// Pages of the host that an SLC cache took (`slc`).
        SlcPages = "slc_pages",
        /// Pages that it would have taken, and that went to a dense block because it was full.
        SlcFullPages = "slc_full_pages",
        /// Pages of requests that go past it (`slc.path = small`).
        SlcBypassedPages = "slc_bypassed_pages",
        /// Blocks emptied into dense ones.
        SlcFolds = "slc_folds",
        /// Blocks erased in which nothing was valid any more.
        SlcDeadBlocks = "slc_dead_blocks",
        /// Pages that were superseded or trimmed before they were folded.
        SlcDeadPages = "slc_dead_pages",
        /// Erases that ended SLC mode; among the results' erases by mode.
        SlcErases = "slc_erases",
        /// Programs that failed.
        ProgramFailures = "program_failures",
        /// Erases that failed.
        EraseFailures = "erase_failures",
        /// Blocks that died of age; the erase that was their last counts as failed.
        WornOutBlocks = "worn_out_blocks",
        /// Blocks whose data was moved to level wear.
        LevelledBlocks = "levelled_blocks",
        /// Blocks (lines) whose data was moved because of reads in them (`refresh.reads`).
        RefreshedForReads = "refreshed_for_reads",
        /// Those whose data was moved because of its age (`refresh.days`).
        RefreshedForAge = "refreshed_for_age",
        /// Those among both that did not wait for a gap.
        RefreshedAtOnce = "refreshed_at_once",
        /// Page reads repeated because the one before failed.
        ReadRetries = "read_retries",
        /// Pages of host data that no retry brought back.
        LostPages = "lost_pages",
        /// Pages that no retry brought back, and that the rest of their stripe did (`rain`).
        RebuiltPages = "rebuilt_pages",
        /// Pages of stripes that were completed without parity, the die or block for it having
        /// failed.
        UnprotectedPages = "unprotected_pages",
        /// Pages that hold nothing, programmed to complete a stripe at a flush (`rain.flush =
        /// pad`).
        PaddedStripePages = "padded_stripe_pages",
        /// Dies that failed as a whole (`nand.failing_die`).
        FailedDies = "failed_dies",
        /// Pages that the host's reads and writes looked for in the write buffer.
        BufferLookups = "buffer_lookups",
        /// Those that were there, with every sector that a read asked for.
        BufferHits = "buffer_hits",
        /// Pages that the buffer wrote out.
        BufferFlushes = "buffer_flushes",
        /// Requests in which it did.
        BufferRuns = "buffer_runs",
        /// Those of them that were completed with pages that were not in the buffer.
        BufferPaddedBlocks = "buffer_padded_blocks",
        /// Clean pages that left the buffer.
        BufferCleanDrops = "buffer_clean_drops",
        /// Decisions to write a block with what it lacks (`l_buffer`).
        PlugDecisions = "plug_decisions",
        /// Decisions to write a block as it is (`l_buffer`).
        LogDecisions = "log_decisions",
        /// Pages of sequential requests that went past a cache of data.
        BypassedPages = "bypassed_pages",
        /// Entries made, changed or removed in TreeFTL's last access table.
        LatteOps = "latte_ops",
        /// Dirty pages that were in the buffer's memory when the power went.
        LostBufferedPages = "lost_buffered_pages",
        /// Map misses whose entry was in the ghost list: it had just left (`aps`).
        GhostMapHits = "ghost_map_hits",
        /// Reads of pages that had just left the buffer.
        GhostReadHits = "ghost_read_hits",
        /// Writes of pages that had just left the buffer.
        GhostWriteHits = "ghost_write_hits",
        /// Times that RAM went from one partition to the other.
        Repartitions = "repartitions",
        /// Accesses that moved other entries down the levels (`jtl`).
        Cascades = "cascades",
        /// Entries that they moved down.
        CascadeSteps = "cascade_steps",
        /// Pages whose content was hashed before they were written, padding of a buffer's among
        /// them.
        HashedPages = "hashed_pages",
        /// Those of them whose content was on flash already: nothing was programmed.
        ValueHits = "value_hits",
        /// Values that left the table of recently written ones for others.
        ValueEvictions = "value_evictions",
        /// Pages of which a short hash was computed first (`caftl`).
        PrehashedPages = "prehashed_pages",
        /// Pages that were programmed without being hashed, because another page of their request
        /// was new.
        SampledOut = "sampled_out",
        /// Pages whose content was found to be on flash already after they had been programmed:
        /// they joined that page.
        JoinedPages = "joined_pages",
        /// Pages whose content was there, which were programmed all the same, or in idle time
        /// stayed where they were, because nothing more can be shared.
        SharingRefused = "sharing_refused",
        /// Pages on flash whose references were counted anew, so that those without any were freed.
        ReferenceRecounts = "reference_recounts",
        /// Copies that stayed in their plane's register (`timing.copyback`).
        Copybacks = "copybacks",
        /// Pages passed over so that copies stay in their plane (`gc.skip_for_parity`).
        SkippedPages = "skipped_pages",
        /// Pages moved in the controller's RAM.
        RamOps = "ram_ops",
        /// Entries read or written of tables in DRAM.
        DramAccesses = "dram_accesses",
        /// Entries read from phase-change memory.
        PcmReads = "pcm_reads",
        /// Entries written to phase-change memory.
        PcmWrites = "pcm_writes",
        /// Looks into the host's memory, or hints that came with commands.
        HostMemoryReads = "host_memory_reads",
        /// Entries that the device lacked and the host's memory had right.
        HintHits = "hint_hits",
        /// Entries that the host's memory had wrong: written or moved since they were sent.
        StaleHints = "stale_hints",
        /// Entries that neither the device nor the host's memory had.
        MissingHints = "missing_hints",
        /// Chunks of the map sent to the host's memory.
        UploadedChunks = "uploaded_chunks",
        /// Zones that the host reset (`zns`).
        ZoneResets = "zone_resets",
        /// Zones that the host finished before they were full.
        ZoneFinishes = "zone_finishes",
        /// Open zones that the drive closed to open others (`zns.max_open`).
        ZoneCloses = "zone_closes",
        /// Pages that the host's collection read and wrote again.
        HostCopies = "host_copies",
        /// Bytes over the link in both directions beside requests: of these pages, and of pages
        /// that a write covers in part.
        LogLinkBytes = "log_link_bytes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_the_map_are_four() {
        let of_map: Vec<&str> =
            Cause::ALL.iter().filter(|cause| cause.is_map()).map(|cause| cause.name()).collect();
        assert_eq!(of_map, ["translate", "gc_map_block", "gc_map_update", "checkpoint"]);
    }
}
