//! # Idea
//! The drive has zones that are written from front to back and reset as a whole, and neither a map
//! of pages nor collection; a log on the host's side has both.
//!
//! # Paper
//! Bjørling, Aghayev, Holmes et al., ZNS: Avoiding the Block Interface Tax for Flash-based SSDs
//! (USENIX ATC 2021); NVMe Zoned Namespace Command Set; FEMU's zones. None was at hand:
//! `docs/papers/zns.md`.
//!
//! # Structures
//! Drive: the write pointer and state of every zone, 8 bytes each. A zone is a line, the blocks
//! with one number of all planes of `zns.width` channels. Host: the page table, 4 bytes a logical
//! page, and what is valid of every zone; one zone that is written for every class of
//! `gc.placement`, and one for the records of trims. With `zns.mode = raw` there is no log: the
//! workload writes the zones, and the drive may hold a window behind each write pointer
//! (`zns.zrwa`).
//!
//! # Read
//! The host looks up and reads one page.
//!
//! # Write
//! The host appends the page to the zone of its class, and updates its table. A page in a window
//! stays in memory until the write pointer passes it.
//!
//! # Reclaim
//! When a zone is full and fewer than `zns.reserve` are empty: the host chooses a victim
//! (`gc.victim`), reads its valid pages over the link and appends them to zones, unless the drive
//! copies them (`zns.copy_in_device`); then it resets the victim, which erases its blocks.
//!
//! # Recovery
//! Drive: a zone is written up to the last page that was programmed; what windows held is there.
//! Host: as the page FTL, from the out-of-band area of every page; zones that are half written are
//! written on, or finished (`zns.after_cut`), but not where that would leave too few empty ones to
//! collect with.
//!
//! # Deviations
//! The host's work takes no time, but for what crosses the link: requests as under any scheme, a
//! command for each page that its collection reads, for each that it appends, and for each reset
//! and finish; none for a copy within the drive. A program that fails leaves a hole in its zone, of
//! which an append tells the host: a page that is copied is then read and sent again. A zone is the
//! same blocks each time. The drive's memory is 8 bytes a zone whatever the zones hold, and the
//! frames of windows.
//!
//! # Settings
//! The table in `zns/settings.rs`, and the groups `gc`, `placement` and `alloc` but for
//! `alloc.unit`.

mod raw;
mod settings;

use raw::RawZones;
pub use settings::{AfterCut, ZnsSettings, ZoneMode};

use crate::zns::settings::{Config, threshold, zoned};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::answers::{Location, Room, Unsettled};
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::page_mapped::{self, PageMapped, PageTable};
use ftlab_ftl::parts::page_space::{Moved, PageSpace};
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Zns;

/// A zoned drive, and who writes it.
#[derive(Clone)]
pub struct Zns {
    writer: Writer,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "a device has one of them")]
enum Writer {
    /// A page log of the host's.
    Log(HostLog),
    /// The workload itself.
    Raw(RawZones),
}

/// The host's log.
type HostLog = PageMapped<HostTable>;

/// The host's page table: nobody waits for its memory.
#[derive(Clone)]
struct HostTable {
    /// Physical page of each logical page, plus one.
    entries: Vec<u32>,
}

impl PageTable for HostTable {
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
    }

    fn settle(&mut self, _: &mut Board, after: When) -> When {
        after
    }
}

impl Scheme for Zns {
    const PAPER: Paper = Paper {
        name: "zns",
        title: "ZNS: Avoiding the Block Interface Tax for Flash-based SSDs",
        authors: "Bjørling, Aghayev, Holmes, Ramesh, Le Moal, Ganger, Amvrosiadis",
        venue: "USENIX ATC",
        year: 2021,
        sections: "zones as the command set has them; the log of the host is ours",
        deviations: &[
            "the paper was not at hand: what docs/papers/zns.md says is implemented",
            "the host's work takes no time but on the link",
            "a program that fails leaves a hole in its zone",
            "a zone is the same blocks each time",
            "a window (zns.zrwa) is in memory that outlives the power, and no page in it is passed over",
            "trims are the host's, and recorded in its log",
        ],
        family: Family::Page,
        class: Classification { update_blocks: "all", ..Classification::PAGES },
    };
    const DIVIDES_DATA: bool = true;
    const MAPS_IN_HOST: bool = true;
    type Settings = ZnsSettings;
    /// Pages in windows.
    type Survivor = Vec<Held>;

    fn check(config: &Config) -> Result<(), SettingError> {
        settings::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        settings::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        page_mapped::payload_pages(config)
    }

    /// A victim's.
    fn host_copies(config: &Config) -> u32 {
        settings::zoned(config).full_line()
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        settings::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let zoned = zoned(config);
        if config.own.mode == ZoneMode::Raw {
            let writer = Writer::Raw(RawZones::new(board, &zoned, seed));
            return Ok(Zns { writer });
        }
        let table = HostTable { entries: zeroed(board.geometry().logical_pages as usize) };
        let log = PageMapped::new(board, &zoned, threshold(&zoned), table, seed);
        Ok(Zns { writer: Writer::Log(log) })
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        match &mut self.writer {
            Writer::Log(log) => log.read(board, io, after),
            Writer::Raw(zones) => zones.read(board, io, after),
        }
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        match &mut self.writer {
            Writer::Log(log) => {
                let (place, ready) = log.make_room(board, io, after)?;
                log.put(board, io, place, ready)
            }
            Writer::Raw(zones) => zones.write(board, io, after),
        }
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        match &mut self.writer {
            Writer::Log(log) => {
                let _ = log.trim(board, io.lpn);
                Ok(after)
            }
            Writer::Raw(zones) => zones.trim(board, io, after),
        }
    }

    /// What was written to a zone is there.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        match &mut self.writer {
            Writer::Log(log) => log.flush(board, after),
            Writer::Raw(zones) => zones.flush(board, after),
        }
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        match &mut self.writer {
            Writer::Log(log) => log.idle(board, after),
            Writer::Raw(_) => Ok(None),
        }
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        match &self.writer {
            Writer::Log(log) => log.locate(board, lpn),
            Writer::Raw(zones) => zones.locate(lpn),
        }
    }

    fn room(&self) -> Room {
        self.space().room()
    }

    fn measuring_begins(&mut self, board: &mut Board) {
        if let Writer::Log(log) = &mut self.writer {
            log.space.measuring_begins(board);
        }
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        match &self.writer {
            Writer::Log(log) => log.space.self_check(board),
            Writer::Raw(zones) => zones.self_check(board),
        }
    }

    fn unsettled(&self, _: &Board) -> Unsettled {
        match &self.writer {
            Writer::Log(_) => Unsettled::default(),
            Writer::Raw(zones) => zones.unsettled(),
        }
    }

    fn power_off(self) -> Self::Survivor {
        match self.writer {
            Writer::Log(_) => Vec::new(),
            Writer::Raw(zones) => zones.kept(),
        }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        kept: Self::Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let zoned = zoned(config);
        if config.own.mode == ZoneMode::Raw {
            let (zones, when) = RawZones::recover(board, &zoned, (seed, &kept), after)?;
            return Ok((Zns { writer: Writer::Raw(zones) }, when));
        }
        let table = |_: &mut Board, entries, when| (HostTable { entries }, when);
        let how = (threshold(&zoned), seed);
        let (log, when) = PageMapped::recover(board, &zoned, how, table, after)?;
        Ok((Zns { writer: Writer::Log(log) }, when))
    }
}

impl Zns {
    fn space(&self) -> &PageSpace {
        match &self.writer {
            Writer::Log(log) => &log.space,
            Writer::Raw(zones) => &zones.space,
        }
    }
}

#[cfg(test)]
mod tests;
