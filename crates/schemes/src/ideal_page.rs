//! # Idea
//! Any logical page may lie anywhere; the whole page table is in memory. The lower bound that the
//! papers normalise their schemes to ("Baseline", "page FTL").
//!
//! # Paper
//! Gupta, Kim, Urgaonkar et al., DFTL (J. Comput. Sci. Technol. 2014), section 2;
//! `docs/papers/others.md#ideal-page`.
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

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::forward;
use ftlab_ftl::parts::page_mapped::{self, PageMapped, PageTable};
use ftlab_ftl::parts::page_space::{Moved, Place, Stream};
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<IdealPageSettings>;

settings! {
    /// Settings of `ideal_page`.
    pub struct IdealPageSettings in "ideal_page" {
        /// Free blocks per plane below which collection starts, and at which it stops.
        gc_low: u32 = page_mapped::GC_LOW, legal("2..=1000000", |v| (2..=1_000_000).contains(v)),
            source("docs/papers/others.md#ideal-page: FlashSim");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = IdealPage;

/// The page-mapped FTL with its whole table in memory.
#[derive(Clone)]
pub struct IdealPage {
    base: PageMapped<Table>,
}

#[derive(Clone)]
struct Table {
    /// Physical page of each logical page, plus one.
    entries: Vec<u32>,
    /// Entries that collection changed, their accesses to DRAM not yet made.
    changed: u32,
}

impl PageTable for Table {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.entries[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
    }

    #[inline]
    fn moved(&mut self, _: &mut Board, page: Moved) {
        self.change(Lpn(page.logical), Some(page.new));
        self.changed += 1;
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        board.dram(std::mem::take(&mut self.changed), after)
    }
}

fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, config.own.gc_low)
}

impl IdealPage {
    /// Looked up after collection, which may have moved the old version; then updated.
    #[inline(always)]
    fn look_up_and_put(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: Place,
        ready: When,
    ) -> Result<When, Fault> {
        let known = board.dram(2, ready);
        self.base.put(board, io, place, known)
    }

    /// Apart from what nearly every write does.
    #[inline(never)]
    fn collect_and_put(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let (place, ready) = self.base.make_room_at(board, io, plane, after)?;
        self.look_up_and_put(board, io, place, ready)
    }
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
        class: Classification { update_blocks: "all", ..Classification::PAGES },
    };
    const DIVIDES_DATA: bool = true;
    type Settings = IdealPageSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        page_mapped::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        page_mapped::minimum_blocks(config, threshold(config))
    }

    fn payload_pages(config: &Config) -> u64 {
        page_mapped::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let bytes = page_mapped::table_bytes(config);
        let table = RamUse { structure: "page_table", bytes, memory: Memory::Dram };
        page_mapped::ram_use(config, &[table])
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let entries = zeroed(board.geometry().logical_pages as usize);
        let table = Table { entries, changed: 0 };
        Ok(IdealPage { base: PageMapped::new(board, config, threshold(config), table, seed) })
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = board.dram(1, after);
        self.base.read(board, io, known)
    }

    #[inline(always)]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let plane = self.base.space.place_host(board, io);
        match self.base.has_room(plane) {
            true => self.look_up_and_put(board, io, (plane, Stream::Data), after),
            false => self.collect_and_put(board, io, plane, after),
        }
    }

    const WRITES_ALIKE: bool = true;

    #[inline(always)]
    fn write_alike(&mut self, board: &mut Board, io: &PageIo) -> Option<Ppn> {
        let place = (self.base.space.place(board.nand(), io.lpn), Stream::Data);
        if !self.base.has_room(place.0) {
            return None;
        }
        let new = self.base.put_untimed(board, io, place)?;
        board.dram_untimed(2);
        Some(new)
    }

    #[inline]
    fn would_write_alike(&self, board: &Board, lpn: Lpn) -> bool {
        self.base.has_room(self.base.space.place(board.nand(), lpn))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = board.dram(1, after);
        Ok(if self.base.trim(board, io.lpn) { board.dram(1, known) } else { known })
    }

    forward!(base: flush, idle, locate, room);
    forward!(base: refresh_at_once);
    forward!(base.space: glance_at, measuring_begins, self_check);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let table = |_: &mut Board, entries, when| (Table { entries, changed: 0 }, when);
        let how = (threshold(config), seed);
        let (base, when) = PageMapped::recover(board, config, how, table, after)?;
        Ok((IdealPage { base }, when))
    }
}
