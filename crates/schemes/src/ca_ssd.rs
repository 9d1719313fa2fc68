//! # Idea
//! Pages of equal content are programmed once: what is written is hashed, and where a page with
//! that hash was written lately and is still valid, the logical page is mapped to it and nothing
//! goes to flash. Fewer programs mean less garbage as well.
//!
//! # Paper
//! Gupta, Pisolkar, Urgaonkar, Sivasubramaniam, Leveraging value locality in optimizing NAND
//! flash-based SSDs (CA-SSD, FAST 2011); `docs/papers/content.md#ca-ssd`.
//!
//! # Structures
//! All in memory with a battery: the page table, 4 bytes per logical page; the owners of every
//! physical page (its first, 4 bytes; neighbours of each logical page among those that share, 8
//! bytes); the hash of what every physical page holds, 16 bytes; the table of values, the
//! `ca_ssd.values` hashes that were written last, each with its page (28 bytes, and an index). A
//! hash is told by the page's version: equal contents have equal versions. Per plane a write
//! frontier.
//!
//! # Read
//! Look up, read one page.
//!
//! # Write
//! (1) Hash the page (`ca_ssd.hash_us`). (2) Search the table of values. (3) Known, and its page is
//! valid: the logical page joins the owners of that page. Unknown: program the next page of the
//! frontier, and enter the value. (4) The logical page leaves the owners of its old page, which
//! dies with the last of them, and its value with it. Joining comes before leaving: who writes
//! again what is there already changes nothing.
//!
//! # Reclaim
//! As `ideal_page`. A copy changes the entries of all owners, and the table of values.
//!
//! # Recovery
//! Map and values are there when the power comes back; nothing is read. A program that the cut
//! interrupted has no owner. Where the map alone was saved (a snapshot, a store of a drive) the
//! table of values begins empty: what is there is shared by nobody who comes, and stays what it is.
//!
//! # Deviations
//! Only abstract and later descriptions were at hand (`docs/papers/content.md`). Left open by them:
//! the size of the table and its order, the time of a hash, collection, what a trim does (the page
//! leaves its owners). A dead page is not revived, though its value may be known. A page of which a
//! request writes a part is a value of its own: nobody tells the simulator what the rest holds.
//!
//! # Settings
//! The table below, `ideal_page`'s threshold (`gc.threshold`), and the groups `gc` and `alloc`.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_flash::settings::{Duration, SettingError};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::forward;
use ftlab_ftl::parts::page_mapped::{self, GC_LOW, PageMapped, PageTable};
use ftlab_ftl::parts::page_owners::{self, PageOwners};
use ftlab_ftl::parts::page_space::Moved;
use ftlab_ftl::parts::trim_records::TrimRecords;
use ftlab_ftl::parts::values::{self, Values, held, is_value};
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<CaSsdSettings>;

settings! {
    /// Settings of `ca_ssd`.
    pub struct CaSsdSettings in "ca_ssd" {
        /// Values that the table holds: those that were written last.
        values: u32 = 65_536, legal("0..=268435456", |v| *v <= 1 << 28),
            source("open: docs/papers/content.md#ca-ssd");
        /// What hashing a page takes the controller; 0 where that goes on while it is transferred.
        hash_us: Duration = Duration(0), legal("0 to 10ms", |v| v.0 <= 10_000_000),
            source("open: docs/papers/content.md#ca-ssd");
    }
}

/// Bytes of the hash of a physical page.
const HASH_BYTES: u64 = 16;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = CaSsd;

/// The page-mapped FTL that stores equal contents once.
#[derive(Clone)]
pub struct CaSsd {
    base: PageMapped<Table>,
    hash_time: u64,
}

/// What the battery keeps.
#[derive(Clone)]
struct Table {
    owners: PageOwners,
    values: Values,
    /// Entries that collection changed, their accesses to DRAM not yet made.
    changed: u32,
}

/// What outlives a power cut.
#[derive(Clone)]
pub struct Survivor {
    entries: Vec<u32>,
    values: Values,
    trims: TrimRecords,
}

impl PageTable for Table {
    const SHARES: bool = true;

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.owners.page(lpn)
    }

    #[inline]
    fn left_alone(&self, lpn: Lpn) -> Option<Ppn> {
        self.owners.left_alone(lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.owners.change(lpn, ppn);
    }

    /// A copy changes the entries of all owners, and what the table of values says.
    fn moved(&mut self, board: &mut Board, page: Moved) {
        let Moved { old, new, .. } = page;
        self.changed += self.owners.moved(old, new);
        self.values.page_moved(board, (old, new));
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        board.dram(std::mem::take(&mut self.changed), after)
    }
}

fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, GC_LOW)
}

impl CaSsd {
    fn over(config: &Config, base: PageMapped<Table>) -> Self {
        CaSsd { base, hash_time: config.own.hash_us.0 }
    }

    /// A logical page has left its page: a value that nobody has any more is not to be found.
    fn forget_dead(&mut self, board: &mut Board, old: Option<Ppn>) {
        let Table { owners, values, .. } = &mut self.base.map.table;
        values.forget_dead(board, old);
        board.level(Level::SharedPages, owners.further());
    }

    /// The content is there: the logical page joins its owners.
    fn share(&mut self, board: &mut Board, io: &PageIo, ppn: Ppn, after: When) -> When {
        board.event(Event::ValueHits, 1);
        self.base.map.table.values.written(io.data, ppn);
        let known = board.dram(2, after);
        let old = self.base.map.table.entry(io.lpn);
        if old != Some(ppn) {
            self.base.written(board, io.lpn, ppn);
            self.forget_dead(board, old);
        }
        known
    }

    /// The content is new, or was not seen for long: it is programmed.
    fn program(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (place, ready) = self.base.make_room(board, io, after)?;
        let old = self.base.map.table.entry(io.lpn);
        let known = board.dram(2, ready);
        let done = self.base.put(board, io, place, known)?;
        self.forget_dead(board, old);
        let Table { owners, values, .. } = &mut self.base.map.table;
        let new = owners.page(io.lpn).expect("it was just written");
        if is_value(io.data) && values.written(io.data, new) {
            board.event(Event::ValueEvictions, 1);
        }
        Ok(done)
    }
}

impl Scheme for CaSsd {
    const PAPER: Paper = Paper {
        name: "ca_ssd",
        title: "Leveraging Value Locality in Optimizing NAND Flash-based SSDs (CA-SSD)",
        authors: "Gupta, Pisolkar, Urgaonkar, Sivasubramaniam",
        venue: "FAST",
        year: 2011,
        sections: "abstract",
        deviations: &[
            "the paper was not at hand: what its abstract and docs/papers/content.md#ca-ssd say is \
             implemented",
            "the table of values is by recency alone, and of open size (ca_ssd.values)",
            "a dead page is not revived, though its value may be known",
            "the battery is part of the scheme: map and values outlive the power whatever \
             device.ram_nonvolatile says, and nothing is ever recorded on flash",
            "a page that a request covers in part is a value of its own",
            "trims are added",
        ],
        family: Family::Page,
        class: Classification { update_blocks: "all", ..Classification::PAGES },
    };
    const DIVIDES_DATA: bool = true;
    const READS_CONTENT: bool = true;
    type Settings = CaSsdSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        page_mapped::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        page_mapped::minimum_blocks(config, threshold(config))
    }

    /// The map outlives the power by itself, with what was trimmed.
    fn payload_pages(_: &Config) -> u64 {
        0
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
        let logical = config.device.logical_pages();
        let physical = u64::from(Geometry::new(&config.device).pages());
        let own = [
            entry("page_table", page_owners::ENTRY_BYTES * logical),
            entry(
                "page_owners",
                page_owners::FIRST_BYTES * physical + page_owners::LINK_BYTES * logical,
            ),
            entry("page_hashes", HASH_BYTES * physical),
            entry("value_table", values::ENTRY_BYTES * u64::from(config.own.values)),
            entry("value_index", Values::index_bytes(config.own.values)),
        ];
        page_mapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let geometry = board.geometry();
        let owners = PageOwners::new(geometry.logical_pages, geometry.pages());
        let table = Table { owners, values: Values::new(config.own.values), changed: 0 };
        let base = PageMapped::new(board, config, threshold(config), table, seed);
        Ok(Self::over(config, base))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = board.dram(1, after);
        let (done, tag) = self.base.read(board, io, known)?;
        let Table { owners, values, .. } = &mut self.base.map.table;
        values.forget_lost(board, (owners.page(io.lpn), tag));
        Ok((done, tag))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        // Step 1: hash.
        let hashed = board.hash(self.hash_time, after);
        // Steps 2 to 4: known or not.
        match self.base.map.table.values.sharable(board, io.data) {
            Some(ppn) => Ok(self.share(board, io, ppn, hashed)),
            None => self.program(board, io, hashed),
        }
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = board.dram(1, after);
        let old = self.base.map.table.entry(io.lpn);
        if !self.base.trim(board, io.lpn) {
            return Ok(known);
        }
        self.forget_dead(board, old);
        Ok(board.dram(1, known))
    }

    /// The map outlives the power: there is nothing to save but parity.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.base.space.flush_parity(board, after)
    }

    forward!(base: idle, locate, room);
    forward!(base: refresh_at_once);
    forward!(base.space: measuring_begins);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.map.table.values.check(board)?;
        self.base.space.self_check(board)
    }

    fn holder(&self, ppn: Ppn, written_for: Lpn) -> Lpn {
        self.base.map.table.owners.first(ppn).unwrap_or(written_for)
    }

    fn unsettled(&self, _: &Board) -> Unsettled {
        Unsettled { shared_pages: self.base.map.table.owners.further(), ..Unsettled::default() }
    }

    fn pcm(&self) -> &[u32] {
        self.base.map.table.owners.entries()
    }

    fn pcm_mut(&mut self) -> &mut [u32] {
        self.base.map.table.owners.entries_mut()
    }

    fn power_off(self) -> Survivor {
        let (Table { owners, values, .. }, trims) = self.base.into_parts();
        Survivor { entries: owners.into_entries(), values, trims }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        Survivor { entries, mut values, trims }: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let owners = PageOwners::of(entries, board.geometry().pages());
        // Map and values change between two operations of the flash, so that a cut leaves both alike;
        // what they say of a page is asked of both all the same.
        values.retain(|tag, ppn| owners.first(ppn).is_some() && held(board, ppn) == (tag, false));
        let table = Table { owners, values, changed: 0 };
        let how = (threshold(config), seed);
        let (base, when) = PageMapped::resume(board, config, how, (table, trims), after)?;
        Ok((Self::over(config, base), when))
    }
}
