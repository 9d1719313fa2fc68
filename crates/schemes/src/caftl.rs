//! # Idea
//! Pages of equal content are programmed once, without a battery and without a unit that hashes:
//! few pages are hashed while the host waits, the others in idle time, and the flash itself holds
//! what says who shares what.
//!
//! # Paper
//! Chen, Luo, Zhang, CAFTL: a content-aware flash translation layer enhancing the lifespan of flash
//! memory based solid state drives (FAST 2011); `docs/papers/content.md#caftl`.
//!
//! # Structures
//! The primary map, 4 bytes per logical page: a physical page, or a virtual number (a bit says
//! which). The secondary map: page and references of each virtual number, `caftl.shared_pages` of
//! them, and the number of each page that has one. The fingerprints of hot values
//! (`caftl.store_bytes`, `caftl.store_hot`): SHA-1, CRC-32, page. A bit per physical page: not
//! hashed yet. On flash the journal of who has which number (`ftl/src/parts/sharing_journal.rs`).
//! Per plane a write frontier, and one for the journal.
//!
//! # Read
//! Primary map, secondary map where a number is there, one page.
//!
//! # Write
//! (1) Sampling: of every `caftl.unit` pages of a request the first is hashed; where its value is
//! unknown, the others are programmed without being hashed. (2) CRC-32 first (`caftl.prehash`):
//! where no fingerprint has it, the page is new, and its SHA-1 is computed behind its program
//! (`caftl.new_values`). (3) SHA-1: where it is known the logical page joins the owners of that
//! page, which gets a virtual number if it had one owner. (4) Otherwise a page is programmed, and
//! its fingerprint entered.
//!
//! # Idle
//! Pages that were not hashed are read and hashed, one a step; whose value is known joins that page
//! and dies (`caftl.out_of_line`).
//!
//! # Reclaim
//! As `ideal_page`. A page with a number moves by one entry of the secondary map: its copy bears
//! the number. A page is invalid when its last reference is gone; one with `caftl.references` of
//! them is never that, but `caftl.unreclaimed` such pages are freed together, by counting the
//! primary map.
//!
//! # Recovery
//! All out-of-band areas are read, and the journal. A logical page is at its number where the
//! journal says so after its last program, else where it was programmed last; a number is at the
//! copy that bears it, or where the journal says. References are counted. What the journal did not
//! hold yet is as it was before: changes reach it before any block of data is erased, and with
//! every flush. Fingerprints are lost; idle time hashes everything again.
//!
//! # Deviations
//! Only abstract and later descriptions were at hand (`docs/papers/content.md`). Form and place of
//! what is on flash are ours, as is which fingerprints are hot. The first page of a unit is the
//! sample, not the one whose first bytes are the largest number. Hashing does not stop when a
//! buffer in front is full. Idle time compares with the fingerprints in memory alone. A page of
//! which a request writes a part is a value of its own.
//!
//! # Settings
//! The table below, `ideal_page`'s threshold (`gc.threshold`), and the groups `gc` and `alloc`.

mod idle;
mod recovery;
mod settings;
mod sizes;
mod table;

pub use settings::CaftlSettings;
use settings::{Config, NewValues};

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::{Duration, SettingError};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::forward;
use ftlab_ftl::parts::page_mapped::{PageMapped, PageTable};
use ftlab_ftl::parts::page_space::Stream;
use ftlab_ftl::parts::sharing_journal::TOGETHER;
use ftlab_ftl::parts::values::is_value;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};
use table::Table;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Caftl;

/// The page-mapped FTL that stores equal contents once, and says so on flash.
#[derive(Clone)]
pub struct Caftl {
    base: PageMapped<Table>,
    crc_time: u64,
    sha1_time: u64,
    settings: CaftlSettings,
    sample: Sample,
    /// Pages of this request whose SHA-1 is computed behind it.
    behind: u32,
    /// Where idle time looks next.
    idle_from: Ppn,
}

/// The unit of a request that is being written.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Its first page.
    unit: Option<Lpn>,
    /// The page of it that came last, by its place.
    place: u32,
    /// Whether the value of the first that came was known: the others are hashed.
    is_known: bool,
}

impl Caftl {
    fn over(config: &Config, base: PageMapped<Table>) -> Self {
        let scaled = |time: Duration| time.0 * config.device.unit_bytes() / sizes::HASHED_BYTES;
        let settings = config.own.clone();
        let (crc_time, sha1_time) = (scaled(settings.crc_us), scaled(settings.sha1_us));
        Caftl {
            base,
            crc_time,
            sha1_time,
            settings,
            sample: Sample::default(),
            behind: 0,
            idle_from: Ppn(0),
        }
    }

    /// Step 1: whether a page is the sample of its unit, the first of it that comes, and whether it
    /// is hashed while the host waits.
    fn is_hashed(&mut self, io: &PageIo) -> (bool, bool) {
        let RequestShape { first_lpn, index, .. } = io.request;
        let place = index % self.settings.unit;
        let unit = Lpn(first_lpn.0 + index - place);
        let is_next = self.sample.unit == Some(unit) && place > self.sample.place;
        if !is_next {
            self.sample = Sample { unit: Some(unit), place, is_known: false };
        }
        self.sample.place = place;
        (!is_next, !is_next || self.sample.is_known)
    }

    /// Steps 2 and 3, hashing alone: until when, and whether the value is known.
    fn hash(&mut self, board: &mut Board, io: &PageIo, after: When) -> (When, bool) {
        let is_known = self.base.map.table.values.find(io.data).is_some();
        let hashed = match self.settings.prehash {
            true => board.prehash(self.crc_time, after),
            false => after,
        };
        if !is_known && self.settings.prehash {
            return (hashed, false);
        }
        // It may be another page of this request that it is compared with.
        let owed = if is_known { std::mem::take(&mut self.behind) } else { 0 };
        let hashes = 1 + owed;
        ((0..hashes).fold(hashed, |when, _| board.hash(self.sha1_time, when)), is_known)
    }

    /// Step 4 of a page that was looked for: its SHA-1 is known, or computed now, or later.
    fn program_new(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        is_known: bool,
        after: When,
    ) -> Result<When, Fault> {
        let has_sha1 = is_known || !self.settings.prehash;
        let gets_it = has_sha1 || self.settings.new_values == NewValues::Behind;
        let done = self.program(board, io, gets_it, after)?;
        self.behind += u32::from(gets_it && !has_sha1);
        Ok(done)
    }

    /// Writes changes of who shares what to flash, where there is no room for so many more.
    fn ready_for(&mut self, board: &mut Board, changes: u32, after: When) -> Result<When, Fault> {
        let Table { journal, virtuals, .. } = &self.base.map.table;
        let needs_number = changes == TOGETHER && virtuals.waits_for_rest();
        if journal.takes(changes) && !needs_number {
            return Ok(after);
        }
        self.record(board, after)
    }

    /// Writes changes of who shares what to flash.
    fn record(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let plane = self.base.space.home(board.nand(), self.base.map.table.journal.next());
        let place = (plane, Stream::Map);
        let ready = self.base.space.make_room(board, &mut self.base.map, place, after)?;
        let table = &mut self.base.map.table;
        // A collection has written them, if there was one.
        if !table.is_unrecorded() {
            table.virtuals.rested();
            return Ok(ready);
        }
        table.write_journal((&mut self.base.space, board), plane, ready)
    }

    /// Step 3: the content is there, and the logical page joins its owners; none where it cannot.
    fn share(
        &mut self,
        board: &mut Board,
        (lpn, value): (Lpn, Tag),
        after: When,
    ) -> Result<Option<When>, Fault> {
        let ready = self.ready_for(board, TOGETHER, after)?;
        let table = &mut self.base.map.table;
        // What room was made for may have moved it, or lost it.
        let Some(ppn) = table.values.sharable(board, value) else { return Ok(None) };
        table.values.written(value, ppn);
        if table.entry(lpn) == Some(ppn) {
            return Ok(Some(board.dram(1, ready)));
        }
        table.now = board.nand().sequence();
        if !table.gets_number(ppn) {
            board.event(Event::SharingRefused, 1);
            return Ok(None);
        }
        self.leave_for(board, lpn, ppn);
        // The primary map twice, the secondary map, the fingerprints.
        let done = board.dram(4, ready);
        Ok(Some(self.recount(board, done)))
    }

    /// A logical page goes to a page that is there.
    fn leave_for(&mut self, board: &mut Board, lpn: Lpn, ppn: Ppn) {
        let old = self.base.map.table.entry(lpn);
        self.base.written(board, lpn, ppn);
        self.base.map.table.values.forget_dead(board, old);
    }

    /// Step 4: a page is programmed.
    fn program(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        is_hashed: bool,
        after: When,
    ) -> Result<When, Fault> {
        let (place, ready) = self.base.make_room(board, io, after)?;
        let known = board.dram(2, ready);
        let old = self.base.map.table.entry(io.lpn);
        let done = self.base.put(board, io, place, known)?;
        let table = &mut self.base.map.table;
        table.values.forget_dead(board, old);
        let new = table.entry(io.lpn).expect("it was just written");
        if !is_value(io.data) {
            // Nobody is to share it.
        } else if !is_hashed {
            table.unhashed.insert(new);
        } else if table.values.written(io.data, new) {
            board.event(Event::ValueEvictions, 1);
        }
        Ok(self.recount(board, done))
    }

    /// Frees pages that nobody has any more and whose references were more than are counted, where
    /// there may be too many of them.
    fn recount(&mut self, board: &mut Board, after: When) -> When {
        let table = &mut self.base.map.table;
        if !table.virtuals.may_exceed(self.settings.unreclaimed) {
            return after;
        }
        board.event(Event::ReferenceRecounts, 1);
        table.virtuals.count_begins();
        let mut from = 0;
        while let Some((number, ppn)) = table.recount(from) {
            table.values.forget_page(board, ppn);
            self.base.space.invalidate(board, ppn);
            from = number + 1;
        }
        let entries = board.geometry().logical_pages;
        board.dram(entries, after)
    }

    fn tell(&self, board: &mut Board) {
        let Table { owners, virtuals, unhashed, .. } = &self.base.map.table;
        board.level(Level::SharedPages, owners.further());
        board.level(Level::UnreclaimedPages, u64::from(virtuals.unreclaimed()));
        board.level(Level::UnhashedPages, unhashed.len());
    }
}

impl Scheme for Caftl {
    const PAPER: Paper = Paper {
        name: "caftl",
        title: "CAFTL: A Content-Aware Flash Translation Layer Enhancing the Lifespan of Flash Memory \
                based Solid State Drives",
        authors: "Chen, Luo, Zhang",
        venue: "FAST",
        year: 2011,
        sections: "abstract",
        deviations: &[
            "the paper was not at hand: what its abstract and docs/papers/content.md#caftl say is \
             implemented",
            "form and place of what flash holds are ours: a journal of which logical page has which \
             virtual number, and of where numbers are",
            "which fingerprints are hot is a rule of ours (caftl.store_hot); idle time compares with those \
             in memory alone",
            "the first page of a unit is its sample: the contents that a request brings are one number",
            "hashing does not stop when a buffer in front is full",
            "pages whose references are no longer counted are freed once there are too many of them \
             (caftl.unreclaimed)",
            "fingerprints are never on flash: after a power cut idle time hashes everything again",
            "a page that a request covers in part is a value of its own",
            "trims are added, and are in the journal",
            "device.ram_nonvolatile saves nothing: what the journal does not hold is as it was before",
        ],
        family: Family::Page,
        class: Classification { update_blocks: "all", ..Classification::PAGES },
    };
    const KEEPS_WRITES: bool = false;
    const DIVIDES_DATA: bool = true;
    const READS_CONTENT: bool = true;
    type Settings = CaftlSettings;
    type Survivor = ();

    fn works_in_gaps(config: &Config) -> bool {
        config.own.out_of_line
    }

    fn check(config: &Config) -> Result<(), SettingError> {
        sizes::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        sizes::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        sizes::records(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        sizes::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let table = Table::new(board, config);
        let base = PageMapped::new(board, config, sizes::threshold(config), table, seed);
        Ok(Self::over(config, base))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let table = &self.base.map.table;
        let ppn = table.entry(io.lpn);
        let has_number = ppn.is_some_and(|ppn| table.virtuals.of(ppn).is_some());
        let known = board.dram(1 + u32::from(has_number), after);
        let (done, tag) = self.base.read(board, io, known)?;
        self.base.map.table.values.forget_lost(board, (ppn, tag));
        Ok((done, tag))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (is_sample, is_hashed) = self.is_hashed(io);
        if !is_hashed {
            board.event(Event::SampledOut, 1);
            let done = self.program(board, io, false, after)?;
            self.tell(board);
            return Ok(done);
        }
        let (hashed, is_known) = self.hash(board, io, after);
        let shared = match is_known {
            true => self.share(board, (io.lpn, io.data), hashed)?,
            false => None,
        };
        self.sample.is_known |= is_sample && is_known;
        let done = match shared {
            Some(done) => {
                board.event(Event::ValueHits, 1);
                done
            }
            None => self.program_new(board, io, is_known, hashed)?,
        };
        self.tell(board);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = board.dram(1, after);
        let table = &self.base.map.table;
        let Some(old) = table.entry(io.lpn) else { return Ok(known) };
        let ready = self.ready_for(board, 1, known)?;
        let old = self.base.map.table.entry(io.lpn).unwrap_or(old);
        self.base.map.table.now = board.nand().sequence();
        self.base.trim(board, io.lpn);
        self.base.map.table.values.forget_dead(board, Some(old));
        self.tell(board);
        let done = board.dram(1, ready);
        Ok(self.recount(board, done))
    }

    fn behind_request(&mut self, board: &mut Board, done: When) -> Result<(), Fault> {
        for _ in 0..std::mem::take(&mut self.behind) {
            let _ = board.hash(self.sha1_time, done);
        }
        Ok(())
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let recorded = match self.base.map.table.is_unrecorded() {
            true => self.record(board, after)?,
            false => after,
        };
        self.base.flush(board, recorded)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        match self.base.idle(board, after)? {
            None if self.settings.out_of_line => self.hash_next(board, after),
            done => Ok(done),
        }
    }

    forward!(base: refresh_at_once, locate, room);
    forward!(base.space: measuring_begins);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.map.table.check(board)?;
        self.base.space.self_check(board)
    }

    fn holder(&self, ppn: Ppn, written_for: Lpn) -> Lpn {
        self.base.map.table.owners.first(ppn).unwrap_or(written_for)
    }

    fn unsettled(&self, _: &Board) -> Unsettled {
        let Table { owners, virtuals, .. } = &self.base.map.table;
        Unsettled {
            stale_pages: u64::from(virtuals.unreclaimed()),
            shared_pages: owners.further(),
            ..Unsettled::default()
        }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): Self::Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let how = (sizes::threshold(config), seed);
        let (base, when) = recovery::recover(board, config, how, after)?;
        Ok((Self::over(config, base), when))
    }
}
