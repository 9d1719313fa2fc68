//! # Idea
//! All writes go to a small page-mapped buffer zone first. When it is full it is emptied, a logical
//! block at a time: what is accessed often or at random moves to page-mapped blocks, the rest
//! becomes part of block-mapped ones. How much is mapped which way follows the workload.
//!
//! # Paper
//! Wei, Gong, Pathak, Veeravalli, Zeng, Okada, "WAFTL: A workload adaptive flash translation layer
//! with data partition", MSST 2011; from its abstract and from what ADAPT 2012, II.B and IV.A, says
//! about it; `docs/papers/others.md#waftl`. The paper itself could not be read: what follows from
//! neither is a setting. Its parts by file: the three areas in `areas`; migration out of the buffer
//! zone, and what makes room for it, in `migration`; the map of page-mapped blocks in `page_map`;
//! what all of them take in `sizes`.
//!
//! # Structures
//! P: pages per block. Nl: logical blocks. Nz: blocks of the buffer zone (`zone`). Np: most
//! page-mapped blocks (PMB; `by_page`), written one after the other. Block table of Nl entries for
//! the block-mapped blocks (BMB). Zone map of Nz * P entries. PMB map: Np * P entries in memory; or
//! on flash, E = page bytes / 4 entries to a map page by number of the logical page, with a
//! directory and the map pages used last in memory (`map`, `parts::flash_map`, settings below). One
//! index here: a page is in one of the maps at most. Writes to buffered pages, per logical block
//! (`updates`).
//!
//! # Read
//! Zone map, PMB map, block table, in this order: a copy in the zone is newer than one in a PMB,
//! which is newer than the page of the BMB. With the PMB map on flash, a look-up reads a map page
//! that memory does not hold (`Cause::Translate`); none is needed for pages in the zone, and for
//! logical blocks without a page-mapped page, which the block table tells by a bit.
//!
//! # Write
//! The next page of the zone, whatever it is. If the zone is full, a migration first. The older
//! copy is looked up like for a read; if it is in a PMB, its map entry is cleared.
//!
//! # Reclaim
//! Migration: for every logical block with pages in the zone, in the order in which the zone holds
//! them: highly accessed or few pages: appended to the PMB frontier (`Cause::Migrate`). Otherwise
//! the BMB is rewritten, its missing pages read from the old one (`Cause::Merge`). Zone blocks are
//! erased as they become empty. A sequential write of a block costs two programs a page, once in
//! the zone and once in the BMB, and an erase for each of the two.
//! PMB: when all Np are full, the one with fewest valid pages is emptied into a new frontier
//! (`Cause::Gc`). If half of its pages or more are valid (`pmb_convert_pct`) that gains too little:
//! its logical blocks become block-mapped (`Cause::Convert`).
//!
//! PMB map on flash: entries change in memory. A map page that memory does not hold is read for
//! that, and a changed one is written when it leaves (`Translate` if a look-up needs its place,
//! else `GcMapUpdate`). A migration brings the map page of what it moves, a rewrite that of what it
//! takes in. Collection changes what memory holds (lazy copying), and reads any other map page once
//! for all pages of the victim there.
//!
//! No deadlock, whatever the workload. The device has Nl + Nz + Np + 1 blocks beside trim records
//! and map pages, each with blocks of their own, and the reserve of all block-mapped schemes. A
//! rewrite of a BMB takes one free block (of the reserve) and gives the old one back; the first BMB
//! of a logical block is one of Nl. Collecting a PMB takes one (the + 1) and gives the victim back.
//! Neither needs the other's, nor a zone block. Each collection makes at least one page free, or,
//! with little to gain, a conversion frees P pages: at most Np * P collections in a row, and a
//! conversion needs rewrites only. So each buffered page finds its place, and every migration ends
//! with an empty zone. A failed program opens a PMB beyond Np; collections follow until Np are
//! left.
//!
//! # Recovery
//! As for all log-block schemes (`parts::log_recovery`). Pages of PMBs are programmed as data, so
//! that their blocks are known from those of the zone; both go on as what they were. A block of
//! either that happens to hold pages of one logical block alone, each at its place, may become its
//! BMB. `updates` is lost, and a dynamic threshold begins anew. Map pages are read and corrected,
//! never believed; what strays change before the first write is corrected then.
//!
//! # Deviations
//! See `PAPER.deviations`.
//!
//! # Settings
//! Group `waftl` (`settings`).

mod areas;
mod migration;
mod page_map;
mod settings;
mod sizes;

use crate::waftl::settings::Config;
use areas::{Area, Areas, Census};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, Ppn, Tag, zeroed};
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::flash_map::{FlashMap, Stay};
use ftlab_ftl::parts::map_area::Backing;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};
pub use settings::{Criterion, Migrate, Threshold, WaftlSettings};
use sizes::{map_cache, page_mapped_blocks, zone_blocks};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Waftl;

/// WAFTL.
#[derive(Clone)]
pub struct Waftl {
    base: BlockMapped,
    /// The buffer zone.
    zone: RandomLog,
    /// The page-mapped blocks; the newest is the frontier.
    by_page: RandomLog,
    areas: Areas,
    /// The map of page-mapped blocks, where it is on flash.
    map: Option<FlashMap>,
    /// Writes of each logical block that found their page in the zone, up to 255.
    updates: Vec<u8>,
    /// Buffered pages from which a logical block is rewritten as a whole.
    bmb_min_pages: u32,
    /// What the present migration put into PMBs, and what was programmed to make room for it.
    appended: u64,
    made_room: u64,
    /// Zone blocks that the background migration under way has yet to empty.
    left: u32,
    /// Places of PMB copies during a rewrite that leaves them alone.
    kept: Vec<(Lpn, Ppn)>,
    /// A power cut left strays: pages are counted anew once they are merged.
    recount: bool,
    settings: WaftlSettings,
}

impl Scheme for Waftl {
    const PAPER: Paper = Paper {
        name: "waftl",
        title: "WAFTL: A workload adaptive flash translation layer with data partition",
        authors: "Wei, Gong, Pathak, Veeravalli, Zeng, Okada",
        venue: "IEEE MSST",
        year: 2011,
        sections: "buffer zone, migration to page-mapped and block-mapped blocks, as its abstract \
                   and ADAPT 2012 describe them",
        deviations: &[
            "the paper itself could not be read: thresholds, the size of the page-mapped area and \
             its collection are settings of ours",
            "the page-mapped area's map is cached by whole map pages, least recently used first; it \
             is in memory as a whole without a budget (--ram), or where it fits",
            "what a budget leaves for that cache is less the directory, the lists of page-mapped \
             blocks and the access counts too, not the block table and the zone's map alone",
            "a bit in the block table says whether a logical block has page-mapped pages, so that \
             block-mapped ones need no look-up",
            "page-mapped blocks are bounded by waftl.pmb_pct and by the device's spare blocks; \
             beyond that, page-mapped logical blocks become block-mapped again",
            "a block-mapped block without a valid page is erased when it is next rewritten",
            "trims and their record pages are added",
        ],
        family: Family::LogBlock,
        class: Classification {
            kind: "hybrid",
            granularity: "page or block, by workload",
            update_blocks: "a buffer zone shared by all",
            associativity: "N:M",
            full_merge: true,
        },
    };
    const PRESETS: &'static [Preset] = &[
        ("frequency", &[("waftl.thr_kind", "access_count")]),
        ("dynamic", &[("waftl.threshold", "dynamic")]),
        ("background", &[("waftl.migrate", "background"), ("gc.mode", "both")]),
    ];
    type Settings = WaftlSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        let waftl = &config.own;
        if waftl.migrate == Migrate::Background {
            config.gc.check_gaps("waftl.migrate = background")?;
        }
        if waftl.threshold == Threshold::Dynamic && waftl.thr_kind == Criterion::AccessCount {
            return Err(SettingError::Conflict(
                "waftl.threshold = dynamic needs waftl.thr_kind = pages_in_buffer or both: \
                 access_count does not count buffered pages"
                    .to_string(),
            ));
        }
        sizes::check_cache(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        sizes::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        sizes::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        sizes::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Waftl::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = self.look_up(board, io.lpn, after)?;
        self.base.read(board, io, known)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = self.base.merge_strays(board, &mut (), after)?;
        if self.recount {
            when = self.settle(board, when)?;
        }
        let done = loop {
            if self.zone.is_exhausted() {
                // The zone is full: all its valid data leaves it, and the write waits for that.
                when = self.migrate(board, when)?;
            }
            match self.buffer(board, io, when) {
                // The zone block is closed; the zone may be full now.
                Err(Fault::ProgramFailed { known, .. }) => when = known,
                other => break other?,
            }
        };
        self.base.written(io.lpn);
        self.tell(board);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        // The mark goes to where the page is.
        let known = self.look_up(board, io.lpn, after)?;
        let area = self.areas.of(board, &self.base.engine, io.lpn);
        let known = match area {
            Some(Area::ByPage) => self.change_map(board, io.lpn, Stay::Newest, known)?,
            _ => known,
        };
        self.base.trim(board, io);
        self.areas.moved(area, None);
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        // What is not in the zone any more has not been accessed there.
        if self.updates[lbn.index()] > 0 && self.census(board, lbn).buffered == 0 {
            self.updates[lbn.index()] = 0;
        }
        self.tell(board);
        Ok(known)
    }

    /// Background migration: one logical block, or the erase of an empty zone block.
    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        if self.settings.migrate == Migrate::Foreground {
            return Ok(None);
        }
        if self.left == 0 {
            let full = self.zone.len() - u32::from(self.zone.open_block().is_some());
            let enough = u64::from(self.zone.limit()) * u64::from(self.settings.idle_start_pct);
            if full == 0 || u64::from(full) * 100 < enough {
                return Ok(None);
            }
            self.begin_migration(board, full);
        }
        let done = self.step(board, after, after)?;
        if self.left == 0 {
            self.end_migration(board);
        }
        self.tell(board);
        Ok(Some(done))
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let mut others = self.zone.len() + self.by_page.len();
        if let Some(map) = &self.map {
            map.self_check(board, page_map::words(&self.areas, &self.base.engine.logs))?;
            others += map.area_blocks();
        }
        self.base.self_check(board, others)?;
        // More only from a recovery to the next write.
        for (log, what) in [(&self.zone, "buffer zone"), (&self.by_page, "page-mapped")] {
            if log.is_over_limit() && !self.recount {
                return Err(format!("{} {what} blocks, {} at most", log.len(), log.limit()));
            }
        }
        let (counted, found) = (self.areas.pages(), self.count_pages(board));
        if counted != found {
            return Err(format!(
                "{counted:?} pages count as mapped by pages and by blocks, but {found:?} are"
            ));
        }
        let logical = board.geometry().logical_blocks();
        let updated = (0..logical).map(Lbn).filter(|lbn| self.updates[lbn.index()] > 0);
        match updated.into_iter().find(|&lbn| self.census(board, lbn).buffered == 0) {
            Some(lbn) => Err(format!("logical block {} has updates but no buffered page", lbn.0)),
            None => Ok(()),
        }
    }

    fn uncleanable(config: &Config) -> Option<&'static str> {
        let why = "changed map pages of its page-mapped blocks are written only when they leave";
        map_cache(config).is_some().then_some(why)
    }

    forward!(base: flush, locate);
    forward!(zone: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut waftl = Waftl::on(base, board, config);
        for log in &found.logs {
            if log.newest_data > 0 {
                waftl.by_page.resume(board.nand(), log.block);
                waftl.areas.joins_by_page(log.block);
            } else {
                waftl.zone.resume(board.nand(), log.block);
                waftl.areas.joins_zone(log.block);
            }
        }
        let mut done = waftl.base.evacuate(board, &found.leftovers, erased)?;
        if let Some(most) = map_cache(config) {
            let engine = &mut waftl.base.engine;
            let table = page_map::words(&waftl.areas, &engine.logs);
            let mut backing = Backing { supply: &mut engine.supply, table };
            let size = (board.geometry().logical_pages, most);
            let (map, known) =
                FlashMap::recover(board, &mut backing, &found.map_pages, size, done)?;
            waftl.map = Some(map);
            done = known;
        }
        let counted = waftl.count_pages(board);
        waftl.areas.recounted(counted);
        waftl.recount = true;
        waftl.tell(board);
        Ok((waftl, done))
    }
}

impl Waftl {
    /// With every area empty.
    fn on(base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.own.clone();
        let geometry = board.geometry();
        let pages = geometry.pages_per_block;
        let (zone, by_page) = (zone_blocks(config) as u32, page_mapped_blocks(config) as u32);
        Waftl {
            base,
            zone: RandomLog::new(board.nand(), zone, LogVictim::Fifo),
            by_page: RandomLog::of_data(board.nand(), by_page, LogVictim::Greedy),
            areas: Areas::new(geometry),
            map: map_cache(config)
                .map(|most| FlashMap::new(geometry, geometry.logical_pages, most)),
            updates: zeroed(geometry.logical_blocks() as usize),
            bmb_min_pages: settings.bmb_min_pages.0.unwrap_or(pages.div_ceil(2)).min(pages),
            appended: 0,
            made_room: 0,
            left: 0,
            kept: Vec::with_capacity(pages as usize),
            recount: false,
            settings,
        }
    }

    #[inline]
    fn tell(&mut self, board: &mut Board) {
        self.areas.tell(board, self.zone.len());
    }

    fn census(&self, board: &Board, lbn: Lbn) -> Census {
        self.areas.census(board, &self.base.engine, lbn)
    }

    /// Pages mapped by pages and by blocks, one by one.
    fn count_pages(&self, board: &Board) -> [u32; 2] {
        let valid = |block: BlockId| board.nand().valid_pages(block);
        let data = (0..board.geometry().logical_blocks()).map(Lbn);
        let data = data.filter_map(|lbn| self.base.engine.data.block(lbn));
        [self.by_page.blocks().map(valid).sum(), data.map(valid).sum()]
    }

    /// What a power cut left beyond the limits is dealt with before the first write.
    #[cold]
    fn settle(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let counted = self.count_pages(board);
        self.areas.recounted(counted);
        let mut when = self.catch_up_map(board, after)?;
        while self.by_page.is_over_limit() {
            when = self.reclaim(board, when)?;
        }
        if self.zone.is_over_limit() {
            when = self.migrate(board, when)?;
        }
        self.recount = false;
        Ok(when)
    }

    /// Appends a host page to the zone.
    #[inline]
    fn buffer(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        // The mark goes to the copy that this one supersedes: where is it?
        let mut known = self.look_up(board, io.lpn, after)?;
        let area = self.areas.of(board, &self.base.engine, io.lpn);
        if area == Some(Area::ByPage) {
            known = self.change_map(board, io.lpn, Stay::Newest, known)?;
        }
        let done = self.zone.append(board, &mut self.base.engine, io, known)?;
        self.areas.moved(area, Some(Area::Zone));
        self.areas.joins_zone(self.block_of_copy(board, io.lpn));
        if area == Some(Area::Zone) {
            let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
            let updates = &mut self.updates[lbn.index()];
            *updates = updates.saturating_add(1);
        }
        Ok(done)
    }

    fn block_of_copy(&self, board: &Board, lpn: Lpn) -> BlockId {
        let copy = self.base.engine.logs.get(lpn).expect("just appended");
        board.geometry().block_of(copy)
    }
}
