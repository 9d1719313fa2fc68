//! # Idea
//! A map of lines: where pages that were written together lie side by side, one segment of eight
//! bytes says where all of them are, exactly or within gamma pages. The host's pages are buffered and
//! written in the order of their numbers, so that lines are long.
//!
//! # Paper
//! Sun, Li, Zhou, Huang: LeaFTL: A Learning-Based Flash Translation Layer for Solid-State Drives,
//! ASPLOS 2023; `docs/papers/leaftl2023.md`.
//!
//! # Structures
//! Groups of 256 pages (`parts::learned`). Of each, segments (S, L, K, I) in levels, newest above;
//! the conflict buffer (CRB) lists the pages of approximate ones; trimmed pages are marked. Write
//! buffer of pages, `leaftl.buffer_bytes`. Where memory has no room for all groups: map pages on
//! flash with some groups each, a directory of them, and the groups used last in memory, all of
//! them or their newest levels.
//!
//! # Read
//! Buffer; else the levels of the page's group, the newest first, which may have to be read from
//! flash. The first segment that has the page says where it is. What an accurate one says is read,
//! and is it. What an approximate one says is read; the out-of-band area there names the pages of
//! gamma on either side, and where it is another page, the right one is read as well.
//!
//! # Write
//! To the buffer. Full, it is written out in the order of logical numbers, a block of one plane
//! after the other; what is superseded is looked up and marked. The pages of a block are then
//! learned, group by group, by greedy regression (`parts::learned`): the new segments enter the top
//! level, old ones there lose pages or go down. Every `leaftl.compact_every` pages all groups are
//! compacted.
//!
//! # Reclaim
//! The valid pages of a victim are written in the order of their numbers and learned like a flush.
//! Their groups are not read for that: the new segments are newer levels of groups that may be on
//! flash. What then has no room in memory is written behind the erase.
//!
//! # Recovery
//! The out-of-band areas of all pages; of each logical page the highest sequence number wins, unless
//! a flushed trim came later. What map pages do not say is learned again. The buffer is lost unless
//! `device.ram_nonvolatile`.
//!
//! # Deviations
//! A place that is only nearly known is also read (cell time) when its page is superseded or
//! trimmed: the counts of valid pages are exact. What is learned never says a page of another run,
//! so that the page read names the right one. Segments that a recovery learns are exact: which pages
//! were written together is not on flash. Trims are ours, as are the form of map pages, the bits that
//! an intercept has behind the point, and the choice of planes: whichever is free first takes the
//! next block, whatever `alloc.order` says. Counts of valid pages lie in RAM; the paper has bitmaps
//! on flash.
//!
//! # Settings
//! `leaftl.*`, and the groups `gc` and `alloc`.

mod buffer;
mod map;
mod paging;
mod recovery;
mod settings;
mod sizes;

pub use recovery::Survivor;
pub use settings::{LeaftlSettings, Leaving, SegmentBytes, Superseded};

use buffer::{Buffer, stale_pages};
use map::Map;
use settings::Config;
use sizes::Sizes;

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, PlaneId, Ppn, Tag, zeroed};
use ftlab_ftl::answers::{Location, Room, Unsettled};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped;
use ftlab_ftl::parts::learned::{Found, Segment};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::trim_records::TrimRecords;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Leaftl;

/// Page mapping by learned segments.
#[derive(Clone)]
pub struct Leaftl {
    space: PageSpace,
    map: Map,
    buffer: Buffer,
    /// Pages written since groups were compacted, and after how many they are.
    written: u64,
    compact_every: u64,
    /// A fault or a power cut came before groups could leave.
    outgrown: bool,
    keeps_buffer: bool,
    record: Vec<u32>,
}

impl Scheme for Leaftl {
    const PAPER: Paper = Paper {
        name: "leaftl",
        title: "LeaFTL: a learning-based flash translation layer for solid-state drives",
        authors: "Sun, Li, Zhou, Huang",
        venue: "ASPLOS 2023",
        year: 2023,
        sections: "3.1-3.8, by notes on it and its public code",
        deviations: &[
            "the place of a superseded page that is only nearly known is read, unless \
             leaftl.superseded = free",
            "a segment never says a page that was not written with its own",
            "segments that a recovery learns again are exact",
            "the form of map pages, the scale of intercepts and the choice of planes are ours",
            "counts of valid pages lie in RAM",
            "trims and their record pages are added",
        ],
        family: Family::CachedMap,
        class: Classification { granularity: "learned segment", ..Classification::PAGES },
    };
    const PRESETS: &'static [Preset] = &[
        ("memory", &[("leaftl.map_on_flash", "false")]),
        ("gamma4", &[("leaftl.gamma", "4")]),
        (
            "code",
            &[("leaftl.bytes", "code"), ("leaftl.flush", "fullest"), ("leaftl.superseded", "free")],
        ),
    ];
    const BUFFERS_DATA: bool = true;
    const DIVIDES_DATA: bool = true;
    type Settings = LeaftlSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        Sizes::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        Sizes::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        Sizes::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        Sizes::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let space = PageSpace::new(board, config, Sizes::threshold(config), seed);
        let map = Map::new(board, config, TrimRecords::new(board.geometry()));
        Ok(Self::assemble(board, config, space, map))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.map.learn_moved(board);
        board.event(Event::BufferLookups, 1);
        let slot = self.buffer.pages.find(io.lpn);
        let lacks = |slot: Slot| io.sectors & !self.buffer.pages.get(slot).sectors != 0;
        if let Some(slot) = slot.filter(|&slot| !lacks(slot)) {
            board.event(Event::BufferHits, 1);
            return Ok(self.buffer.get(board, slot, after));
        }
        let known = self.map.look_up(board, io.lpn, after)?;
        let (group, offset) = self.map.place_of(io.lpn);
        let found = self.map.groups.find(group, offset);
        let answer = match (slot, found) {
            (None, found) => self.read_flash(board, io, found, known)?,
            // The other sectors were never written.
            (Some(slot), None) => self.buffer.get(board, slot, known),
            (Some(slot), found) => {
                let (read, below) = self.read_flash(board, io, found, known)?;
                let (done, tag) = self.buffer.get(board, slot, read);
                (done, if below == Tag::UNREADABLE { below } else { tag })
            }
        };
        // Groups leave behind the answer; a device at its end has no room for what they say.
        let left = self.fit(board, answer.0).map(Some).or_else(Fault::unless_worn_out)?;
        self.outgrown = left.is_none();
        Ok(answer)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.buffer.pages.find(io.lpn) {
            board.event(Event::BufferHits, 1);
            return Ok(self.buffer.put(board, slot, io, after));
        }
        if self.buffer.pages.is_full() {
            // The page waits for its frame alone.
            let _ = self.write_out(board, false, after)?;
        }
        let (slot, free) = self.buffer.pages.enter(io.lpn);
        Ok(self.buffer.put(board, slot, io, after.waits_for_buffer(free)))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        let known = self.look_up(board, io.lpn, after)?;
        let (old, known) = self.map.exact(board, io.lpn, known)?;
        if let Some(slot) = self.buffer.pages.find(io.lpn) {
            let free = self.buffer.pages.get(slot).ready;
            self.buffer.leave(board, slot, free);
        }
        let Some(old) = old else { return Ok(known) };
        self.space.invalidate(board, old);
        self.map.trim(io.lpn);
        self.map.trims.trim(io.lpn);
        self.space.trimmed(io.lpn);
        self.fit(board, known)
    }

    /// The buffer is written out, and pending trims are recorded.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        let mut when = self.write_out(board, true, after)?;
        while self.map.trims.next_pending().is_some() {
            when = self.record_trims(board, when)?;
        }
        self.fit(board, when)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.map.learn_moved(board);
        let step = self.space.collect_idle(board, &mut self.map, after)?;
        step.map(|done| self.fit(board, done)).transpose()
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)?;
        self.buffer.pages.self_check()?;
        self.map.self_check()?;
        let fits = self.map.sizes.map_bytes.is_none_or(|most| self.map.bytes <= most);
        if !fits && !self.outgrown {
            return Err(format!("segments take {} bytes of memory", self.map.bytes));
        }
        Ok(())
    }

    fn changed_entries(&self) -> u64 {
        self.map.changed_segments()
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        let Leaftl { space, map, .. } = self;
        let done = map.clean(space, board, after)?;
        self.fit(board, done)
    }

    fn uncleanable(config: &Config) -> Option<&'static str> {
        let in_memory = Sizes::new(config).parts == 0;
        in_memory.then_some("memory has all of its map, and flash none")
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        let below = self.map.locate(board, lpn);
        let Some(slot) = self.buffer.pages.find(lpn) else {
            return below.map_or(Location::Nowhere, Location::Flash);
        };
        let held = self.buffer.pages.get(slot);
        let whole = !held.sectors & self.buffer.all_sectors == 0;
        // Sectors that only flash holds may be lost there.
        let lost = below.is_some_and(|ppn| !whole && board.nand().state().is_unreadable(ppn));
        Location::Ram(if lost { Tag::UNREADABLE } else { held.tag })
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        let ram_pages = u64::from(self.buffer.pages.len());
        Unsettled { stale_pages: stale_pages(&self.buffer, &self.map, board), ram_pages }
    }

    fn room(&self) -> Room {
        self.space.room()
    }

    forward!(space: measuring_begins);

    fn power_off(self) -> Survivor {
        let pages = &self.buffer.pages;
        match self.keeps_buffer {
            true => Survivor { pages: pages.all().map(|slot| *pages.get(slot)).collect(), lost: 0 },
            false => Survivor { pages: Vec::new(), lost: u64::from(pages.dirty()) },
        }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (map, when) = Map::recover(board, config, after)?;
        let threshold = Sizes::threshold(config);
        let (space, when) = PageSpace::recover(board, config, threshold, seed, when)?;
        let mut scheme = Self::assemble(board, config, space, map);
        for held in &survivor.pages {
            let (slot, _) = scheme.buffer.pages.enter(held.lpn);
            scheme.buffer.pages.write(slot, held.tag, held.sectors, When::START);
        }
        scheme.outgrown = true;
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, survivor.lost);
        Ok((scheme, when))
    }
}

impl Leaftl {
    fn assemble(board: &Board, config: &Config, space: PageSpace, map: Map) -> Self {
        Leaftl {
            space,
            buffer: Buffer::new(board, config, map.sizes.frames),
            map,
            written: 0,
            compact_every: config.own.compact_every,
            outgrown: false,
            keeps_buffer: config.device.ram_nonvolatile,
            record: zeroed(board.geometry().entries_per_page() as usize),
        }
    }

    /// Reads a page from where its segment says that it is.
    fn read_flash(
        &self,
        board: &mut Board,
        io: &PageIo,
        found: Option<Found>,
        known: When,
    ) -> Result<(When, Tag), Fault> {
        let Some(found) = found else { return board.read_unwritten(io.lpn, known) };
        let known = self.map.charge(board, found.levels, known);
        if !found.segment.is_accurate() {
            return self.read_nearby(board, io, found.segment, known);
        }
        let (_, offset) = self.map.place_of(io.lpn);
        let place = found.segment.predict(offset, self.map.scale) as u32;
        board.read(Ppn(place), io.cause, known)
    }

    /// Reads the page that an approximate segment says, and the right one where it is another.
    fn read_nearby(
        &self,
        board: &mut Board,
        io: &PageIo,
        segment: Segment,
        known: When,
    ) -> Result<(When, Tag), Fault> {
        board.event(Event::ApproximateReads, 1);
        let (_, offset) = self.map.place_of(io.lpn);
        let said = Ppn(segment.predict(offset, self.map.scale) as u32);
        let (read, tag) = board.read(said, io.cause, known)?;
        // The out-of-band area came with the page.
        if Map::is_it(board, io.lpn, said) {
            return Ok((read, tag));
        }
        board.event(Event::Mispredictions, 1);
        let right = self.map.resolve(board, io.lpn, segment);
        board.read(right.expect("the page is within gamma pages"), io.cause, read)
    }

    /// Writes the record of one segment of pending trims.
    fn record_trims(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let place = (PlaneId(0), Stream::Map);
        let Leaftl { space, map, record, .. } = self;
        let ready = space.make_room(board, map, place, after)?;
        let (segment, old) = map.trims.next_pending().expect("the caller looked");
        map.trims.fill(segment, board.nand().sequence(), record);
        let (new, done) = space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::TrimRecord, segment);
            board.program_payload(new, what, Payload::Words(record), Cause::Trim, ready)
        })?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        map.trims.recorded(segment, new);
        Ok(done)
    }
}
