//! # Idea
//! Any logical page may lie anywhere; the whole page table is in memory. The lower bound that the
//! papers normalise their schemes to ("Baseline", "page FTL").
//!
//! # Paper
//! Gupta, Kim, Urgaonkar et al., DFTL (J. Comput. Sci. Technol. 2014), section 2; spec 2.1.
//!
//! # Structures
//! The page table, one entry of 4 bytes per logical page, 0 for "nowhere"; the count of valid
//! pages of every block; per plane a write frontier.
//!
//! # Read
//! Look up (an access to DRAM), read one page.
//!
//! # Write
//! Look up, program the next page of the frontier, invalidate the old page, update the table.
//!
//! # Reclaim
//! When the frontier's block is full and fewer than `ideal_page.gc_low` blocks are free: choose a
//! victim, copy its valid pages through the frontier, erase it, until that many are free.
//!
//! # Recovery
//! Read the out-of-band area of every page; of each logical page the highest sequence number wins,
//! unless a flushed trim came later.
//!
//! # Deviations
//! Trims and their records are ours. FlashSim's collection stop (4 free blocks) equals its start.
//!
//! # Settings
//! `ideal_page.gc_low`, and the groups `gc` and `alloc`.

use crate::board::Board;
use crate::board::nand::Payload;
use crate::board::nand::fault::Fault;
use crate::board::nand::geometry::Geometry;
use crate::board::nand::state::PageKind;
use crate::board::when::When;
use crate::config::{Config, SettingError};
use crate::meter::Cause;
use crate::parts::oob_scan::{self, Extent};
use crate::parts::page_space::{Moved, PageOwner, PageSpace, Stream, Threshold};
use crate::parts::trim_records::TrimRecords;
use crate::request::PageIo;
use crate::schemes::{Classification, Family, Location, Memory, Paper, RamUse, Room, Scheme};
use crate::settings;
use crate::units::{BlockId, Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};

settings! {
    /// Settings of `ideal_page`.
    pub struct IdealPageSettings in "ideal_page" {
        /// Free blocks per plane below which collection starts, and at which it stops.
        gc_low: u32 = 4, legal("2..=1000000", |v| (2..=1_000_000).contains(v)),
            source("spec 2.1: FlashSim");
    }
}

/// Least threshold: the frontier's next block, and one that is being filled by copies.
const FLOOR: u32 = 2;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = IdealPage;

/// The page-mapped FTL with its whole table in memory.
pub struct IdealPage {
    space: PageSpace,
    map: Map,
    words: Vec<u32>,
}

struct Map {
    /// Physical page of each logical page, plus one.
    table: Vec<u32>,
    trims: TrimRecords,
    /// Entries that collection changed, their accesses to DRAM not yet made.
    changed: u32,
}

impl Map {
    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.table[lpn.index()]).map(Ppn)
    }
}

impl PageOwner for Map {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, _: BlockId) -> u32 {
        0
    }

    #[inline]
    fn moved(&mut self, _: &mut Board, page: Moved) {
        if page.kind == PageKind::TrimRecord {
            self.trims.moved(page.logical, page.new);
        } else {
            self.table[page.logical as usize] = pack(Some(page.new.0));
            self.changed += 1;
        }
    }

    fn before_erase(
        &mut self,
        _: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        Ok(board.dram(std::mem::take(&mut self.changed), after))
    }
}

fn threshold(config: &Config) -> u32 {
    Threshold::resolve(config, config.scheme.ideal_page.gc_low, FLOOR)
}

impl Scheme for IdealPage {
    const PAPER: Paper = Paper {
        name: "ideal_page",
        title: "Ideal page-mapped FTL (the Baseline of DFTL)",
        authors: "Gupta, Kim, Urgaonkar",
        venue: "J. Comput. Sci. Technol. 29(2)",
        year: 2014,
        sections: "2, 3.4",
        deviations: &["trims and their record pages are added"],
        family: Family::Page,
        class: Classification {
            kind: "page",
            granularity: "page",
            update_blocks: "all",
            associativity: "N:N",
            full_merge: false,
        },
    };
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        Threshold::check(config, FLOOR)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        let device = &config.device;
        let planes = device.plane_count();
        let per_plane = device.logical_pages().div_ceil(planes);
        let data = per_plane.div_ceil(u64::from(device.units_per_block()));
        let geometry = Geometry::new(device);
        let records = u64::from(TrimRecords::segments(&geometry))
            .div_ceil(u64::from(device.units_per_block()));
        let reserve = PageSpace::reserve(threshold(config).min(64), 3);
        planes * (data + u64::from(reserve)) + 2 * records
    }

    fn payload_pages(config: &Config) -> u64 {
        // A record and the one that replaces it, per segment.
        2 * u64::from(TrimRecords::segments(&Geometry::new(&config.device)))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
        vec![
            entry("page_table", u64::from(geometry.logical_pages) * 4, Memory::Dram),
            entry("valid_counts", u64::from(geometry.blocks()) * 2, Memory::Dram),
            entry("valid_bitmap", u64::from(geometry.pages()).div_ceil(8), Memory::Dram),
            entry("trim_records", TrimRecords::ram_bytes(&geometry), Memory::Dram),
        ]
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let geometry = board.geometry();
        Ok(IdealPage {
            map: Map {
                table: zeroed(geometry.logical_pages as usize),
                trims: TrimRecords::new(geometry),
                changed: 0,
            },
            words: zeroed(geometry.entries_per_page() as usize),
            space: PageSpace::new(board, config, threshold(config), seed),
        })
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let after = board.dram(1, after);
        match self.map.lookup(io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, after),
            None => board.read_unwritten(io.lpn, after),
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let plane = self.space.place_host(board, io);
        let ready = self.space.make_room(board, &mut self.map, (plane, Stream::Data), after)?;
        // Looked up after collection, which may have moved the old version; then updated.
        let old = self.map.lookup(io.lpn);
        let ready = board.dram(2, ready);
        let place = (plane, Stream::Data);
        let (new, done) = self.space.program(board, place, ready, |board, new, ready| {
            board.program_update(new, old, io, PageKind::Data, ready)
        })?;
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.table[io.lpn.index()] = pack(Some(new.0));
        self.map.trims.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut after = board.dram(1, after);
        if let Some(old) = self.map.lookup(io.lpn) {
            self.space.invalidate(board, old);
            self.map.table[io.lpn.index()] = 0;
            self.map.trims.trim(io.lpn);
            after = board.dram(1, after);
        }
        Ok(after)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut when = after;
        while self.map.trims.next_pending().is_some() {
            when = self.record_trims(board, when)?;
        }
        Ok(when)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.space.collect_idle(board, &mut self.map, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)
    }

    fn locate(&self, _: &Board, lpn: Lpn) -> Location {
        self.map.lookup(lpn).map_or(Location::Nowhere, Location::Flash)
    }

    fn room(&self) -> Room {
        self.space.room()
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let geometry = board.geometry().clone();
        let mut newest: Vec<(u64, u32)> = vec![(0, 0); geometry.logical_pages as usize];
        let segments = TrimRecords::segments(&geometry) as usize;
        let mut newest_record: Vec<(u64, u32)> = vec![(0, 0); segments];
        // Step 1: every page's out-of-band area; the highest sequence number wins.
        let scanned = oob_scan::device(board, Extent::Ascending, after, |ppn, oob| {
            let list = match oob.kind {
                PageKind::TrimRecord => &mut newest_record,
                _ => &mut newest,
            };
            let held = &mut list[oob.logical as usize];
            if oob.sequence > held.0 {
                *held = (oob.sequence, ppn.0);
            }
        })?;
        // Step 2: flushed trims hide what they came after.
        let records: Vec<(u32, Ppn)> = newest_record
            .iter()
            .enumerate()
            .filter(|(_, (sequence, _))| *sequence > 0)
            .map(|(segment, (_, ppn))| (segment as u32, Ppn(*ppn)))
            .collect();
        let (mut trims, recorded, mut when) = TrimRecords::recover(board, &records, scanned)?;
        let mut table: Vec<u32> = zeroed(geometry.logical_pages as usize);
        for (lpn, &(sequence, ppn)) in newest.iter().enumerate() {
            let dead = trims.is_dead(&recorded, Lpn(lpn as u32), sequence);
            if sequence > 0 && !dead {
                table[lpn] = pack(Some(ppn));
                board.nand_mut().revalidate(Ppn(ppn));
            }
        }
        trims.forget_living(|lpn| table[lpn.index()] != 0);
        // Step 3: blocks without a valid page are erased, the rest are candidates again.
        let (space, sorted) = PageSpace::recover(board, config, threshold(config), seed, when)?;
        when = sorted;
        let words = zeroed(geometry.entries_per_page() as usize);
        Ok((IdealPage { space, map: Map { table, trims, changed: 0 }, words }, when))
    }
}

impl IdealPage {
    /// Writes the record of one pending segment.
    fn record_trims(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let plane = PlaneId(0);
        let ready = self.space.make_room(board, &mut self.map, (plane, Stream::Map), after)?;
        let (segment, old) = self.map.trims.next_pending().expect("the caller looked");
        self.map.trims.fill(segment, board.nand().sequence(), &mut self.words);
        let words = &self.words;
        let place = (plane, Stream::Map);
        let (new, done) = self.space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::TrimRecord, segment);
            board.program_payload(new, what, Payload::Words(words), Cause::Trim, ready)
        })?;
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.trims.recorded(segment, new);
        Ok(done)
    }
}
