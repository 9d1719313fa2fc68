//! A scheme for tests of what is around one: a table of pages in memory. What a scheme says of
//! itself beyond that are bits of `TRAITS`.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::request::{Op, PageIo, Request};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{Lpn, Nanos, Ppn, Tag, pack, unpack, zeroed};
use ftlab_ftl::answers::Unsettled;
use ftlab_ftl::forward;
use ftlab_ftl::parts::page_mapped::{self, PageMapped, PageTable};
use ftlab_ftl::parts::page_space::{Moved, Stream};
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme, SchemeConfig};

use crate::settings::SsdSettings;

/// It divides data as others say.
pub const DIVIDES: u32 = 1;
/// It keeps the host's data in its own memory (says so; it does not).
pub const BUFFERS: u32 = 2;
/// The host has the map.
pub const IN_HOST: u32 = 4;
/// It looks at contents.
pub const CONTENT: u32 = 8;
/// Its data blocks have pages at fixed offsets.
pub const OFFSETS: u32 = 16;
/// It works in gaps whatever `gc.mode` says.
pub const GAPS: u32 = 32;
/// Its table is in phase-change memory.
pub const IN_PCM: u32 = 64;
/// Memory of the host has a part of it.
pub const HOST_MEMORY: u32 = 128;
/// It declares one page of records.
pub const TIGHT: u32 = 256;
/// It does nothing in gaps that it is given.
pub const LAZY: u32 = 512;
/// It makes room for what is due at once, again and again, and moves nothing.
pub const CLEARS: u32 = 1024;

#[derive(Clone)]
pub struct Toy<const TRAITS: u32> {
    base: PageMapped<Table>,
    /// Entries that it says have changed.
    pub changed: u64,
    /// Pages that it says share one.
    pub shared: u64,
    /// How often it made room.
    pub cleared: u64,
    pcm: Vec<u32>,
}

#[derive(Clone)]
struct Table {
    entries: Vec<u32>,
}

impl PageTable for Table {
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.entries[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
    }

    fn moved(&mut self, _: &mut Board, page: Moved) {
        self.change(Lpn(page.logical), Some(page.new));
    }

    fn settle(&mut self, _: &mut Board, after: When) -> When {
        after
    }
}

type Config = SchemeConfig<()>;

fn threshold(config: &Config) -> u32 {
    page_mapped::threshold(config, 3)
}

impl<const TRAITS: u32> Toy<TRAITS> {
    /// It looks for a page elsewhere from now on; a fault.
    pub fn misplace(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.base.map.table.change(lpn, ppn);
    }

    fn memory() -> Vec<u32> {
        vec![0; if TRAITS & IN_PCM != 0 { 2 } else { 0 }]
    }
}

impl<const TRAITS: u32> Scheme for Toy<TRAITS> {
    const PAPER: Paper = Paper {
        name: "toy",
        title: "",
        authors: "",
        venue: "",
        year: 0,
        sections: "",
        deviations: &[],
        family: if TRAITS & OFFSETS != 0 { Family::Block } else { Family::Page },
        class: Classification::PAGES,
    };
    const DIVIDES_DATA: bool = TRAITS & DIVIDES != 0;
    const BUFFERS_DATA: bool = TRAITS & BUFFERS != 0;
    const MAPS_IN_HOST: bool = TRAITS & IN_HOST != 0;
    const READS_CONTENT: bool = TRAITS & CONTENT != 0;
    type Settings = ();
    type Survivor = ();

    fn works_in_gaps(_: &Config) -> bool {
        TRAITS & GAPS != 0
    }

    fn minimum_blocks(config: &Config) -> u64 {
        page_mapped::minimum_blocks(config, threshold(config))
    }

    fn payload_pages(config: &Config) -> u64 {
        if TRAITS & TIGHT != 0 { 1 } else { page_mapped::payload_pages(config) }
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
        let is_in_pcm = TRAITS & IN_PCM != 0;
        let memory = if is_in_pcm { Memory::Pcm } else { Memory::Dram };
        let table = entry("page_table", page_mapped::table_bytes(config), memory);
        let sent = if TRAITS & HOST_MEMORY != 0 { 8 } else { 0 };
        vec![table, entry("sent", sent, Memory::Host)]
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let entries = zeroed(board.geometry().logical_pages as usize);
        let table = Table { entries };
        let base = PageMapped::new(board, config, threshold(config), table, seed);
        Ok(Toy { base, changed: 0, shared: 0, cleared: 0, pcm: Self::memory() })
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.base.read(board, io, after)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (place, ready) = self.base.make_room(board, io, after)?;
        self.base.put(board, io, place, ready)
    }

    const WRITES_ALIKE: bool = true;

    fn write_alike(&mut self, board: &mut Board, io: &PageIo) -> Option<Ppn> {
        let place = (self.base.space.place(board.nand(), io.lpn), Stream::Data);
        self.base.has_room(place.0).then(|| self.base.put_untimed(board, io, place))?
    }

    fn would_write_alike(&self, board: &Board, lpn: Lpn) -> bool {
        self.base.has_room(self.base.space.place(board.nand(), lpn))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let _ = self.base.trim(board, io.lpn);
        Ok(after)
    }

    fn changed_entries(&self) -> u64 {
        self.changed
    }

    fn clean_map(&mut self, _: &mut Board, after: When) -> Result<When, Fault> {
        self.changed = 0;
        Ok(after)
    }

    fn unsettled(&self, _: &Board) -> Unsettled {
        Unsettled { shared_pages: self.shared, ..Unsettled::default() }
    }

    fn pcm(&self) -> &[u32] {
        &self.pcm
    }

    fn pcm_mut(&mut self) -> &mut [u32] {
        &mut self.pcm
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        if TRAITS & LAZY != 0 { Ok(None) } else { self.base.idle(board, after) }
    }

    fn refresh_at_once(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        if TRAITS & CLEARS != 0 {
            self.cleared += 1;
            return Ok(Some(after));
        }
        self.base.refresh_at_once(board, after)
    }

    forward!(base: flush, locate, room);
    forward!(base.space: measuring_begins, self_check);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let table = |_: &mut Board, entries, when| (Table { entries }, when);
        let how = (threshold(config), seed);
        let (base, when) = PageMapped::recover(board, config, how, table, after)?;
        Ok((Toy { base, changed: 0, shared: 0, cleared: 0, pcm: Self::memory() }, when))
    }
}

/// Twenty-four blocks of eight pages of four sectors, a third of them exported.
pub fn config(pairs: &[(&str, &str)]) -> SsdSettings {
    let mut config = SsdSettings::default();
    let small = [
        ("device.blocks_per_plane", "24"),
        ("device.pages_per_block", "8"),
        ("device.page_bytes", "2048"),
        ("device.over_provisioning", "2x"),
    ];
    for (key, value) in small.iter().chain(pairs) {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    config
}

/// A request that arrives at the beginning.
pub fn request(op: Op, first_sector: u64, sectors: u32) -> Request {
    let (unit, stream, content) = (0, None, None);
    Request { arrival: 0, op, first_sector, sectors, unit, stream, content }
}

/// One that arrives later.
pub fn at(arrival: Nanos, request: Request) -> Request {
    Request { arrival, ..request }
}
