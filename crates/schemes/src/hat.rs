//! # Idea
//! Ideal page mapping whose whole table lies in phase-change memory, on a path of its own, with the
//! entries in use in a small memory: translation hides behind the flash.
//!
//! # Paper
//! Hu et al., HAT (2010), sections III.A and III.B, Algorithm 1, Figs 5 to 7;
//! `docs/papers/hat2010.md`.
//!
//! # Structures
//! SMT, the slow mapping table: the physical page of every logical page, 4 bytes each, in
//! phase-change memory. QMT, the quick mapping table: `hat.qmt_entries` entries of {LPN, PPN, U} in
//! the controller cache, in order of use; U says that the entry differs from the SMT's. Per plane a
//! write frontier.
//!
//! # Read
//! Fig. 6: (1) search the QMT; on a miss (2) search the SMT, which (3) gives the PPN; (4) read the
//! flash page. Beside (4): (a) the tail of a full QMT is written back if its U is set, (b) the new
//! entry becomes the head.
//!
//! # Write
//! Fig. 7: (1) write a clean flash page. Beside it: (a) search the QMT; on a miss in a full QMT (b)
//! its tail is written back if U is set; (c) the entry becomes the head, with U set.
//!
//! # Reclaim
//! As `ideal_page`. The entry of a moved page changes in the QMT if it is there (U is set), else in
//! the SMT: beside the copies, or before the erase (`hat.gc_smt_update`). Beside the copies an
//! entry is posted when its copy is complete; while the queue (`hat.pcm_queue`) is full no further
//! page is copied and the victim is not erased.
//!
//! # Writes of the SMT
//! Tails leave one at a time, as Algorithm 1 has it. By default each is a write of its own, 90 us;
//! then a request of 32 pages waits for 32 of them, which contradicts IV.B.2: the map's update ends
//! with the data's write at every size from 4 to 128 sectors. A chip that programs several entries
//! at once (`hat.pcm_entries_per_write`) repairs that: neighbours in the SMT, which lie in one
//! aligned unit, are one write if the queue holds them together, and the unit's write has not begun
//! when the last of them is posted. Requests write neighbours, whose entries grow old together and
//! leave together; entries that lie apart are never one write.
//!
//! # Recovery
//! The SMT keeps its content. The changed entries of the QMT are lost with the power, and nothing
//! in the SMT says which those were: the out-of-band areas are read as in `ideal_page`, then the
//! whole SMT, which is corrected where it is wrong. What the queue has taken is as good as written
//! (a few entries that a capacitor saves): after a power cut the port is idle. Under
//! `device.ram_nonvolatile` the QMT survives, nothing is read, and trims need no records.
//!
//! # Deviations
//! The paper leaves open: how the page that a write supersedes is found
//! (`hat.write_miss_smt_read`), who tells the SMT about collected pages, how many entries its
//! memory programs at once (`hat.pcm_entries_per_write`), recovery, trims. Algorithm 1 as printed
//! deletes the tail on every write into a full QMT; the text says on a miss (`hat.alg1_literal`). A
//! partial write (`io.partial_write = rmw`) that misses waits for the SMT, since it reads the old
//! page first.
//!
//! # Settings
//! The table below, and the groups `gc` and `alloc`.

mod settings;
mod tables;
#[cfg(test)]
mod tests;

pub use settings::{HatSettings, SmtUpdate};

use crate::hat::settings::Config;
use crate::hat::tables::{Tables, unit};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, PlaneId, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::forward;
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::page_mapped::{self, GC_LOW, PageMapped};
use ftlab_ftl::parts::page_space::Stream;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::trim_records::TrimRecords;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// The controller cache of Table 4, which is the QMT's by default.
const CONTROLLER_CACHE: u64 = 128 << 10;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Hat;

/// The page-mapped FTL with its table in phase-change memory.
#[derive(Clone)]
pub struct Hat {
    base: PageMapped<Tables>,
    settings: HatSettings,
    nonvolatile: bool,
}

/// What outlives a power cut: the SMT, and with non-volatile memory the QMT and the trims.
#[derive(Clone)]
pub struct Survivor {
    smt: Vec<u32>,
    memory: Option<(Cmt, TrimRecords)>,
}

/// Entries of the QMT: as set, else what the queue leaves of the budget holds, else the paper's 128
/// KB; never more than there are logical pages.
fn entries(config: &Config) -> u32 {
    let hat = &config.own;
    let left = config.map_budget().map(|budget| budget.saturating_sub(queue_bytes(config)));
    let budget = left.unwrap_or(CONTROLLER_CACHE);
    let wanted = hat.qmt_entries.0.map_or(budget / u64::from(hat.qmt_entry_bytes), u64::from);
    wanted.clamp(1, config.device.logical_pages()) as u32
}

fn qmt_bytes(config: &Config) -> u64 {
    u64::from(entries(config)) * u64::from(config.own.qmt_entry_bytes)
}

/// Bytes of the entries that the queue holds.
fn queue_bytes(config: &Config) -> u64 {
    let hat = &config.own;
    u64::from(hat.pcm_queue) * u64::from(hat.qmt_entry_bytes)
}

fn empty_qmt(config: &Config, board: &Board) -> Cmt {
    let pages = board.geometry().logical_pages;
    Cmt::new(CachePolicyKind::Lru, pages, entries(config), 0.0)
}

fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, GC_LOW)
}

impl Scheme for Hat {
    const PAPER: Paper = Paper {
        name: "hat",
        title: "Achieving page-mapping FTL performance at block-mapping FTL cost by hiding address \
                translation",
        authors: "Hu, Jiang, Feng, Tian, Zhang, Liu, Tong, Qin, Wang",
        venue: "MSST",
        year: 2010,
        sections: "III.A, III.B",
        deviations: &[
            "a write that misses reads the slow table beside everything else to find the page that \
             it supersedes (hat.write_miss_smt_read); the paper does not say how it is found",
            "pages that collection moves change in the QMT, or in the SMT beside the copies \
             (hat.gc_smt_update); the paper is silent",
            "how many entries phase-change memory programs at once is open (one); with \
             hat.pcm_entries_per_write neighbours that are queued together are one write",
            "recovery reads all out-of-band areas and the SMT, which does not say what is old in it",
            "the tail leaves on a miss alone; Algorithm 1 as printed: hat.alg1_literal = true",
            "trims and their record pages are added",
        ],
        family: Family::CachedMap,
        class: Classification { update_blocks: "all", ..Classification::PAGES },
    };
    const DIVIDES_DATA: bool = true;
    type Settings = HatSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        page_mapped::check(config)?;
        let wanted = qmt_bytes(config) + queue_bytes(config);
        match config.map_budget() {
            Some(budget) if config.own.qmt_entries.0.is_some() && wanted > budget => {
                Err(SettingError::Conflict(format!(
                    "hat.qmt_entries = {} with the queue takes {wanted} bytes, device.ram_bytes leaves \
                     {budget}",
                    entries(config),
                )))
            }
            _ => Ok(()),
        }
    }

    fn minimum_blocks(config: &Config) -> u64 {
        page_mapped::minimum_blocks(config, threshold(config))
    }

    fn payload_pages(config: &Config) -> u64 {
        page_mapped::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let smt = page_mapped::table_bytes(config);
        let own = [
            RamUse { structure: "qmt", bytes: qmt_bytes(config), memory: Memory::Sram },
            RamUse { structure: "pcm_queue", bytes: queue_bytes(config), memory: Memory::Sram },
            RamUse { structure: "smt", bytes: smt, memory: Memory::Pcm },
        ];
        page_mapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let smt = zeroed(board.geometry().logical_pages as usize);
        let tables = Tables::new(config, empty_qmt(config, board), smt);
        let base = PageMapped::new(board, config, threshold(config), tables, seed);
        board.attach_pcm(config.own.pcm_queue);
        Ok(Self::over(config, base))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = self.translate(board, io.lpn, after);
        self.base.read(board, io, known)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let ready = self.take_entry(board, io, after);
        let (place, ready) = self.base.make_room(board, io, ready)?;
        self.base.put(board, io, place, ready)
    }

    const WRITES_ALIKE: bool = true;
    const ALIKE_ON_ONE_SERVER: bool = true;

    #[inline(always)]
    fn write_alike(&mut self, board: &mut Board, io: &PageIo) -> Option<Ppn> {
        let lpn = io.lpn;
        let (plane, found) = self.at_hand(board, lpn)?;
        let place = (plane, Stream::Data);
        let new = self.base.space.write_untimed(board, place, (io, PageKind::Data))?;
        let tables = &mut self.base.map.table;
        // Fig. 7, as `take_entry` has it.
        board.event(Event::MapLookups, 1);
        let old = match found {
            Some(slot) => {
                board.event(Event::MapHits, 1);
                tables.qmt.touch(slot);
                let old = tables.qmt.ppn(slot);
                tables.qmt.change(slot, Some(new));
                old
            }
            None => {
                let old = tables.slow(lpn);
                tables.enter_beside(board, (lpn, new), self.settings.write_miss_smt_read);
                old
            }
        };
        self.base.superseded(board, lpn, old);
        Some(new)
    }

    #[inline]
    fn would_write_alike(&self, board: &Board, lpn: Lpn) -> bool {
        self.at_hand(board, lpn).is_some()
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.translate(board, io.lpn, after);
        self.base.trim(board, io.lpn);
        Ok(known)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.nonvolatile {
            return Ok(after);
        }
        self.base.flush(board, after)
    }

    fn changed_entries(&self) -> u64 {
        let qmt = &self.base.map.table.qmt;
        qmt.slots().filter(|&slot| qmt.is_dirty(slot)).count() as u64
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let Tables { qmt, smt, per_write, .. } = &mut self.base.map.table;
        let changed: Vec<Slot> = qmt.slots().filter(|&slot| qmt.is_dirty(slot)).collect();
        let mut when = after;
        for slot in changed {
            let lpn = qmt.lpn(slot);
            smt[lpn.index()] = pack(qmt.ppn(slot).map(|ppn| ppn.0));
            when = board.pcm_write_in(unit(*per_write, lpn), when);
            qmt.clean(slot);
        }
        Ok(when)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let Tables { qmt, smt, .. } = &self.base.map.table;
        for slot in qmt.slots().filter(|&slot| !qmt.is_dirty(slot)) {
            let (lpn, quick) = (qmt.lpn(slot), qmt.ppn(slot));
            let slow = unpack(smt[lpn.index()]).map(Ppn);
            if quick != slow {
                return Err(format!("page {lpn}: U is clear, QMT {quick:?}, SMT {slow:?}"));
            }
        }
        self.base.space.self_check(board)
    }

    forward!(base: idle, locate, room);
    forward!(base: refresh_at_once);
    forward!(base.space: glance_at, measuring_begins);

    fn pcm(&self) -> &[u32] {
        &self.base.map.table.smt
    }

    fn pcm_mut(&mut self) -> &mut [u32] {
        &mut self.base.map.table.smt
    }

    fn power_off(self) -> Survivor {
        let (Tables { qmt, smt, .. }, trims) = self.base.into_parts();
        Survivor { smt, memory: self.nonvolatile.then_some((qmt, trims)) }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        Survivor { smt, memory }: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        board.attach_pcm(config.own.pcm_queue);
        let how = (threshold(config), seed);
        let (base, when) = match memory {
            Some((qmt, trims)) => {
                let with = (Tables::new(config, qmt, smt), trims);
                PageMapped::resume(board, config, how, with, after)?
            }
            None => {
                let tables = |board: &mut Board, found: Vec<u32>, when| {
                    // The SMT is read, and corrected where entries that had changed are lost.
                    let when = (0..smt.len()).fold(when, |when, _| board.pcm_read(when));
                    let pairs = found.iter().zip(&smt).enumerate();
                    let wrong: Vec<u32> = pairs
                        .filter(|(_, (found, old))| found != old)
                        .map(|(lpn, _)| lpn as u32)
                        .collect();
                    let tables = Tables::new(config, empty_qmt(config, board), found);
                    let post = |when, lpn: u32| board.pcm_write_in(tables.unit(Lpn(lpn)), when);
                    let when = wrong.into_iter().fold(when, post);
                    (tables, when)
                };
                PageMapped::recover(board, config, how, tables, after)?
            }
        };
        Ok((Self::over(config, base), when))
    }
}

impl Hat {
    fn over(config: &Config, base: PageMapped<Tables>) -> Self {
        let settings = config.own.clone();
        Hat { base, settings, nonvolatile: config.device.ram_nonvolatile }
    }

    /// Where a page goes that is written, and its entry in the QMT if that is there; none where
    /// collection is due, or the write would wait for more than the flash: an entry that is still
    /// being loaded, or the port of the SMT.
    #[inline(always)]
    fn at_hand(&self, board: &Board, lpn: Lpn) -> Option<(PlaneId, Option<Slot>)> {
        let plane = self.base.space.place(board.nand(), lpn);
        let qmt = &self.base.map.table.qmt;
        let found = qmt.find(lpn);
        let is_there = match found {
            Some(slot) => qmt.ready(slot) <= board.present(),
            None => board.pcm_rests() && board.searches_are_free(),
        };
        let is_plain = is_there && self.base.has_room(plane) && !self.settings.alg1_literal;
        is_plain.then_some((plane, found))
    }

    /// Algorithm 1, Fig. 6: the entry of a page that is read; when it is known.
    #[inline]
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> When {
        let tables = &mut self.base.map.table;
        // (1) QMT hit: the entry becomes the head.
        if let Some(slot) = tables.search_qmt(board, lpn) {
            tables.qmt.touch(slot);
            return after.waits_for_map(tables.qmt.ready(slot));
        }
        // (2), (3) The SMT, with the LPN as offset.
        let known = board.pcm_read(after);
        // (a) beside (4), which starts from the same moment.
        // (b) The new head.
        tables.enter(board, lpn, known).1
    }

    /// Algorithm 1, Fig. 7: makes the entry of a page that is written the head of the QMT; when the
    /// flash can be written.
    #[inline]
    fn take_entry(&mut self, board: &mut Board, io: &PageIo, after: When) -> When {
        let tables = &mut self.base.map.table;
        // (a) Search the QMT.
        let found = tables.search_qmt(board, io.lpn);
        let mut ready = after;
        match found {
            Some(slot) => ready = after.waits_for_map(tables.qmt.ready(slot)),
            None if board.keeps_sectors(io) => ready = board.pcm_read(after),
            None if self.settings.write_miss_smt_read => board.pcm_read_beside(after),
            None => {}
        }
        // (b) beside (1), which starts from the same moment. The tail that leaves may be the entry.
        let mut kept = found;
        if found.is_some() && self.settings.alg1_literal {
            ready = tables.delete_tail_if_full(board, ready);
            kept = tables.qmt.find(io.lpn);
        }
        // (c) The head; the PPN follows with the page.
        match kept {
            Some(slot) => tables.qmt.touch(slot),
            None => ready = tables.enter(board, io.lpn, ready).1,
        }
        ready
    }
}
