//! # Idea
//! Pages of equal content are programmed once, without a battery and without a unit that hashes: few
//! pages are hashed while the host waits, the others in idle time, and the flash itself holds what says
//! who shares what.
//!
//! # Paper
//! Chen, Luo, Zhang, CAFTL: a content-aware flash translation layer enhancing the lifespan of flash
//! memory based solid state drives (FAST 2011); `docs/papers/content.md#caftl`.
//!
//! # Structures
//! The primary map, 4 bytes per logical page: a physical page, or a virtual number (a bit says which).
//! The secondary map: page and references of each virtual number, `caftl.shared_pages` of them, and the
//! number of each page that has one. The fingerprints of hot values (`caftl.store_bytes`,
//! `caftl.store_hot`): SHA-1, CRC-32, page. A bit per physical page: not hashed yet. On flash the
//! journal of who has which number (`ftl/src/parts/sharing_journal.rs`). Per plane a write frontier, and
//! one for the journal.
//!
//! # Read
//! Primary map, secondary map where a number is there, one page.
//!
//! # Write
//! (1) Sampling: of every `caftl.unit` pages of a request the first is hashed; where its value is
//! unknown, the others are programmed without being hashed. (2) CRC-32 first (`caftl.prehash`): where
//! no fingerprint has it, the page is new, and its SHA-1 is computed behind its program
//! (`caftl.new_values`). (3) SHA-1: where it is known the logical page joins the owners of that page,
//! which gets a virtual number if it had one owner. (4) Otherwise a page is programmed, and its
//! fingerprint entered.
//!
//! # Idle
//! Pages that were not hashed are read and hashed, one a step; whose value is known joins that page and
//! dies (`caftl.out_of_line`).
//!
//! # Reclaim
//! As `ideal_page`. A page with a number moves by one entry of the secondary map: its copy bears the
//! number. A page is invalid when its last reference is gone; one with `caftl.references` of them is
//! never that, but `caftl.unreclaimed` such pages are freed together, by counting the primary map.
//!
//! # Recovery
//! All out-of-band areas are read, and the journal. A logical page is at its number where the journal
//! says so after its last program, else where it was programmed last; a number is at the copy that
//! bears it, or where the journal says. References are counted. What the journal did not hold yet is as
//! it was before: changes reach it before any block of data is erased, and with every flush.
//! Fingerprints are lost; idle time hashes everything again.
//!
//! # Deviations
//! Only abstract and later descriptions were at hand (`docs/papers/content.md`). Form and place of what
//! is on flash are ours, as is which fingerprints are hot. The first page of a unit is the
//! sample, not the one whose first bytes are the largest number. Hashing does not stop when a buffer in
//! front is full. Idle time compares with the fingerprints in memory alone. A page of which a request
//! writes a part is a value of its own.
//!
//! # Settings
//! The table below, `ideal_page`'s threshold (`gc.threshold`), and the groups `gc` and `alloc`.

mod recovery;
mod table;

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings;
use ftlab_flash::settings::{Bytes, Duration, SettingError};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::forward;
use ftlab_ftl::parts::page_mapped::{self, GC_LOW, PageMapped, PageTable};
use ftlab_ftl::parts::page_space::{Stream, Threshold};
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::parts::sharing_journal::{Shape, TOGETHER};
use ftlab_ftl::parts::values::{Values, is_sharable, is_value};
use ftlab_ftl::parts::virtual_pages;
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};
use table::Table;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<CaftlSettings>;

choices! {
    /// When a page whose CRC-32 is new gets its SHA-1.
    pub enum NewValues {
        /// Behind its program: the host does not wait, but what is hashed next does.
        Behind = "behind",
        /// In idle time, as pages that were not hashed at all.
        Idle = "idle",
    }
}

settings! {
    /// Settings of `caftl`.
    pub struct CaftlSettings in "caftl" {
        /// Bytes of memory for fingerprints: 40 each.
        store_bytes: Bytes = Bytes(1 << 20), legal("0 to 64GiB", |v| v.0 <= 1 << 36),
            source("open: docs/papers/content.md#caftl");
        /// Share of them kept for values that were written again; 0: all leave in the same order.
        store_hot: f64 = 0.75, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Pages of a request of which one is hashed first; 1 hashes every page.
        unit: u32 = 8, legal("1..=65536", |v| (1..=65_536).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Whether a CRC-32 is looked for before a SHA-1 is computed.
        prehash: bool = true, legal("", |_| true),
            source("docs/papers/content.md#caftl");
        /// What a CRC-32 of 4 KiB takes the controller.
        crc_us: Duration = Duration(4_000), legal("0 to 10ms", |v| v.0 <= 10_000_000),
            source("open: docs/papers/content.md#caftl");
        /// What a SHA-1 of 4 KiB takes the controller.
        sha1_us: Duration = Duration(47_000), legal("0 to 10ms", |v| v.0 <= 10_000_000),
            source("open: docs/papers/content.md#caftl");
        /// When a page whose CRC-32 is new gets its SHA-1.
        new_values: NewValues = NewValues::Behind, legal("", |_| true),
            source("open: docs/papers/content.md#caftl");
        /// Whether idle time hashes what was not, and joins what is equal.
        out_of_line: bool = true, legal("", |_| true),
            source("docs/papers/content.md#caftl");
        /// Pages of flash that can be shared at a time: virtual numbers, no more than logical pages.
        shared_pages: u32 = 65_536, legal("1..=268435456", |v| (1..=1 << 28).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Most references of a page that are counted; a page that has them is never invalid.
        references: u32 = 255, legal("2..=255", |v| (2..=255).contains(v)),
            source("docs/papers/content.md#caftl");
        /// Pages that are so and that nobody has any more, above which references are counted anew.
        unreclaimed: u32 = 64, legal("0..=1048576", |v| *v <= 1 << 20),
            source("ftlab: docs/papers/content.md#caftl");
        /// Changes of who shares what after which they are written to flash; 0, and any number above
        /// what half a page holds: so many.
        flush: u32 = 0, legal("0, or 3..=1048576", |v| *v == 0 || (TOGETHER..=1 << 20).contains(v)),
            source("open: docs/papers/content.md#caftl");
    }
}

/// Bytes of a fingerprint: SHA-1, CRC-32, page, the logical page that it was written for, neighbours in
/// the order of use.
const FINGERPRINT_BYTES: u64 = 20 + 4 + 4 + 4 + 8;
/// Bytes that find the fingerprint of a page that moves or dies.
const PAGE_INDEX_BYTES: u64 = 8;
/// Bytes whose hashing takes the times that the settings say.
const HASHED_BYTES: u64 = 4096;
/// Least threshold: a data target, a target for the journal, a target for copies of its pages.
const FLOOR: u32 = 3;

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

fn threshold(config: &Config) -> u32 {
    Threshold::resolve(config, GC_LOW, FLOOR)
}

fn fingerprints(config: &Config) -> u32 {
    (config.own.store_bytes.0 / FINGERPRINT_BYTES).min(1 << 28) as u32
}

fn shape(config: &Config) -> Shape {
    let geometry = Geometry::new(&config.device);
    let numbers = config.own.shared_pages.min(geometry.logical_pages);
    Shape::new(&geometry, numbers, config.own.flush)
}

/// Pages of the journal that are alive at once, with the one that is being written.
fn records(config: &Config) -> u64 {
    u64::from(shape(config).pages()) + 1
}

impl Caftl {
    fn over(config: &Config, base: PageMapped<Table>) -> Self {
        let scaled = |time: Duration| time.0 * config.device.unit_bytes() / HASHED_BYTES;
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

    /// Step 1: whether a page is the sample of its unit, the first of it that comes, and whether it is
    /// hashed while the host waits.
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
        self.base.map.table.forget_dead(board, old);
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
        table.forget_dead(board, old);
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

    /// Hashes the next page that was not, and joins it to its like.
    fn hash_next(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let Table { unhashed, values, owners, .. } = &mut self.base.map.table;
        if unhashed.is_empty() || !values.has_room() {
            return Ok(None);
        }
        let next = unhashed.next(self.idle_from).or_else(|| unhashed.next(Ppn(0)));
        let Some(ppn) = next else { return Ok(None) };
        unhashed.remove(ppn);
        self.idle_from = Ppn(ppn.0 + 1);
        let (read, value) = board.read(ppn, Cause::Dedup, after)?;
        if !is_value(value) {
            return Ok(Some(read));
        }
        let hashed = board.hash(self.sha1_time, read);
        let done = match values.sharable(board, value) {
            Some(twin) if twin != ppn => {
                // Its out-of-band area names one who has it.
                let owner = owners.first(ppn);
                self.join(board, (value, owner), hashed)?
            }
            Some(_) => Some(hashed),
            None => {
                board.event(Event::ValueEvictions, u64::from(values.written(value, ppn)));
                Some(hashed)
            }
        };
        self.tell(board);
        Ok(done)
    }

    /// A page, one of whose owners is this one, holds the same as another page that is known: who has
    /// one of them alone goes to the other. Where both are shared they stay, because nobody knows who
    /// shares them.
    fn join(
        &mut self,
        board: &mut Board,
        (value, owner): (Tag, Option<Lpn>),
        after: When,
    ) -> Result<Option<When>, Fault> {
        // A device that is worn out stays as it is.
        let ready = match self.ready_for(board, TOGETHER, after) {
            Ok(ready) => ready,
            Err(fault) => return fault.unless_worn_out(),
        };
        // What room was made for may have moved both, or lost one.
        let table = &mut self.base.map.table;
        let page = owner.and_then(|owner| table.entry(owner)).filter(|&ppn| is_sharable(board, ppn));
        let (Some(page), Some(twin)) = (page, table.values.sharable(board, value)) else {
            return Ok(Some(ready));
        };
        let has_number = |ppn| table.virtuals.of(ppn).is_some();
        let (from, to) = match (has_number(page), has_number(twin)) {
            (true, true) => return Ok(Some(ready)),
            (true, false) => (twin, page),
            (false, _) => (page, twin),
        };
        table.now = board.nand().sequence();
        if !table.gets_number(to) {
            board.event(Event::SharingRefused, 1);
            return Ok(Some(ready));
        }
        table.values.written(value, to);
        let owner = table.owners.first(from).expect("a valid page without a number has an owner");
        board.event(Event::JoinedPages, 1);
        self.leave_for(board, owner, to);
        let done = board.dram(4, ready);
        Ok(Some(self.recount(board, done)))
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
        Threshold::check(config, FLOOR)?;
        if config.gc.placement == PlacementKind::Hint {
            return Err(SettingError::Conflict(
                "gc.placement = hint and caftl exclude each other: a page that several share has no \
                 hint of its own; legal: none, sep_gc"
                    .to_owned(),
            ));
        }
        if shape(config).changes() < TOGETHER {
            return Err(SettingError::Conflict(format!(
                "device.page_size: half a page of {} bytes holds fewer than the {TOGETHER} changes that \
                 caftl makes together; legal: at least 128 bytes",
                config.device.unit_bytes()
            )));
        }
        Ok(())
    }

    fn minimum_blocks(config: &Config) -> u64 {
        let device = &config.device;
        // One more than there may be, before they are counted anew; all in one plane, as all pages of
        // the journal may be, because collection writes those to the plane of its victim.
        let beside = u64::from(config.own.unreclaimed) + 1 + records(config);
        let beside = beside.div_ceil(u64::from(device.units_per_block()));
        let data = config.blocks_for(device.logical_pages());
        let reserve = config.blocks_beside_data(threshold(config));
        device.plane_count() * (data + beside + 1 + reserve)
    }

    fn payload_pages(config: &Config) -> u64 {
        records(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
        let physical = u64::from(Geometry::new(&config.device).pages());
        let shape = shape(config);
        let numbers = u64::from(shape.numbers);
        let fingerprints = fingerprints(config);
        let own = [
            entry("primary_map", page_mapped::table_bytes(config)),
            entry("secondary_map", virtual_pages::NUMBER_BYTES * numbers),
            entry("number_index", virtual_pages::INDEX_BYTES * numbers),
            entry("fingerprints", FINGERPRINT_BYTES * u64::from(fingerprints)),
            entry(
                "fingerprint_index",
                Values::index_bytes(fingerprints) + PAGE_INDEX_BYTES * u64::from(fingerprints),
            ),
            entry("unhashed_bitmap", physical.div_ceil(8)),
            entry("journal", shape.ram_bytes()),
        ];
        let mut structures = page_mapped::ram_use(config, &own);
        // Trims are in the journal.
        structures.retain(|one| one.structure != "trim_records");
        structures
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let table = Table::new(board, config);
        let base = PageMapped::new(board, config, threshold(config), table, seed);
        Ok(Self::over(config, base))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let table = &self.base.map.table;
        let ppn = table.entry(io.lpn);
        let has_number = ppn.is_some_and(|ppn| table.virtuals.of(ppn).is_some());
        let known = board.dram(1 + u32::from(has_number), after);
        let (done, tag) = self.base.read(board, io, known)?;
        if tag == Tag::UNREADABLE
            && let Some(ppn) = ppn
        {
            // Nobody else is to come to what is lost.
            self.base.map.table.values.forget_page(board, ppn);
        }
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
        self.base.map.table.forget_dead(board, Some(old));
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

    forward!(base: locate, room);
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
        let how = (threshold(config), seed);
        let (base, when) = recovery::recover(board, config, how, after)?;
        Ok((Self::over(config, base), when))
    }
}
