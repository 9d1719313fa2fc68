//! Levels: what areas and thresholds stand at.

named! {
    /// What a scheme's areas and thresholds stand at: the last value told, kept over simulated
    /// time.
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
        /// Blocks of an update area: written, and the map not told yet.
        UpdateAreaBlocks = "update_area_blocks",
        /// Logical pages that are mapped by pages.
        PageMappedPages = "page_mapped_pages",
        /// Logical pages that are mapped by blocks.
        BlockMappedPages = "block_mapped_pages",
        /// Translation pages that the cache holds entries of (TPFTL's nodes).
        MapNodes = "map_nodes",
        /// Bytes of a compressed translation page in memory, mean over those there (S-FTL).
        MapPageBytes = "map_page_bytes",
        /// Bytes of compressed translation pages in memory, thousandths of their size on flash.
        MapCompressionPermille = "map_compression_permille",
        /// Logical pages that lie on a page of flash which is another one's as well: all but one of
        /// those that lie there.
        SharedPages = "shared_pages",
        /// Pages of flash that nobody has any more and that cannot be freed, because more shared
        /// them than are counted.
        UnreclaimedPages = "unreclaimed_pages",
        /// Valid pages of flash whose content was not hashed yet.
        UnhashedPages = "unhashed_pages",
        /// Learned segments in memory (`leaftl`).
        LearnedSegments = "learned_segments",
        /// Those of them that are approximate.
        ApproximateSegments = "approximate_segments",
        /// Bytes that they take, with what belongs to them.
        LearnedMapBytes = "learned_map_bytes",
        /// Most bytes that they took at any moment, before others had left as well.
        LearnedMapBytesMost = "learned_map_bytes_most",
        /// Bytes of the conflict buffers among them.
        ConflictBufferBytes = "conflict_buffer_bytes",
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
        /// Pages of the write buffer that are newer than on flash.
        BufferedPages = "buffered_pages",
        /// Frames that hold translation pages.
        MapFrames = "map_frames",
        /// Frames that hold data pages.
        DataFrames = "data_frames",
        /// Stress that `l_buffer` measured last: pages moved per thousand host pages.
        BufferStressPermille = "buffer_stress_permille",
        /// Entries that memory keeps beside its cache, of 8 bytes each: of pages that a collection
        /// had moved which failed before flash was told.
        AstrayEntries = "astray_entries",
        /// Map entries in memory.
        CachedEntries = "cached_entries",
        /// RAM for map entries, bytes.
        MapPartitionBytes = "map_partition_bytes",
        /// RAM for data pages, bytes.
        DataPartitionBytes = "data_partition_bytes",
        /// Associativity allowed, thousandths of a log block per group, mean over the groups (N-K).
        GroupLogsPermille = "group_logs_permille",
        /// Lifespan that a placement policy goes by, host pages (`sepbit`).
        PlacementLifespan = "placement_lifespan",
        /// Groups that a placement policy has: those with a size, and the last (`midas`).
        PlacementGroups = "placement_groups",
        /// Write amplification that its model expected of the groups of the last epoch that these
        /// were in force all through, thousandths.
        ExpectedWafPermille = "expected_waf_permille",
        /// Write amplification in that epoch, thousandths.
        EpochWafPermille = "epoch_waf_permille",
        /// Write amplification that its model expects of the best groups it found last, whether
        /// they came into force or not, thousandths.
        BestWafPermille = "best_waf_permille",
        /// Written pages in the queue that `sepbit` keeps (`placement.sepbit_window = fifo`).
        PlacementWindow = "placement_window",
        /// Pages that an SLC cache has room for, taken or not.
        SlcSizePages = "slc_size_pages",
        /// Those of them that are in its blocks, full or not.
        SlcUsedPages = "slc_used_pages",
        /// Lines that are free (`alloc.unit = line`).
        FreeLines = "free_lines",
        /// Zones that are neither empty nor full (`zns`).
        ActiveZones = "active_zones",
        /// Pages that learned models know the place of (`learnedftl`).
        ModelledPages = "modelled_pages",
        /// Lines that may still hold pages of a die that failed.
        LinesToRebuild = "lines_to_rebuild",
        /// Blocks that wait for a gap in which their data is moved (`refresh`).
        BlocksToRefresh = "blocks_to_refresh",
    }
}
