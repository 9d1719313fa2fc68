//! # Idea
//! A map of lines: where pages that were written together lie side by side, one segment of eight
//! bytes says where all of them are, exactly or within gamma pages. The host's pages are buffered
//! and written in the order of their numbers, so that lines are long.
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
//! after the other: a page behind each one of the host's, or all at once (`leaftl.drain`); what is
//! superseded is looked up and marked. The pages of a block are then
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
//! The out-of-band areas of all pages; of each logical page the highest sequence number wins,
//! unless a flushed trim came later. What map pages do not say is learned again, and the buffer is
//! lost. Under `device.ram_nonvolatile` buffer, map and trims survive as they are, and trims need
//! no records.
//!
//! # Deviations
//! A place that is only nearly known is also read (cell time) when its page is superseded or
//! trimmed: the counts of valid pages are exact. What is learned never says a page of another run,
//! so that the page read names the right one. Segments that a recovery learns are exact: which
//! pages were written together is not on flash. Trims are ours, as are the form of map pages, the
//! bits that an intercept has behind the point, and the choice of planes: whichever is free first
//! takes the next block, whatever `alloc.order` says. Counts of valid pages lie in RAM; the paper
//! has bitmaps on flash. What a read pushes out of memory is written behind its answer. A page that
//! cannot be read still tells its out-of-band area.
//!
//! # Settings
//! `leaftl.*`, and the groups `gc` and `alloc`.

#[cfg(test)]
mod bench_tests;
mod buffer;
mod learning;
mod map;
mod paging;
mod recovery;
mod settings;
mod sizes;
mod store;
#[cfg(test)]
mod tests;

pub use recovery::Survivor;
pub use settings::{LeaftlSettings, Leaving, SegmentBytes, Superseded};

use map::Map;
use settings::{Config, Drain};
use sizes::Sizes;
use store::Store;

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::{Location, Room, Unsettled};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped;
use ftlab_ftl::parts::learned::{Found, Segment};
use ftlab_ftl::parts::page_space::PageSpace;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::trim_records::TrimRecords;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Leaftl;

/// Page mapping by learned segments.
#[derive(Clone)]
pub struct Leaftl {
    store: Store,
    /// Buffer, map and trims outlive a power cut.
    keeps_memory: bool,
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
        config.check_no_lines("leaftl")?;
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
        self.store.map.learn_moved(board);
        let after = if self.store.outgrown { self.store.settle(board, after)? } else { after };
        board.event(Event::BufferLookups, 1);
        let slot = self.store.buffer.pages.find(io.lpn);
        let lacks = |slot: Slot| io.sectors & !self.store.buffer.pages.get(slot).sectors != 0;
        if let Some(slot) = slot.filter(|&slot| !lacks(slot)) {
            board.event(Event::BufferHits, 1);
            return Ok(self.store.buffer.get(board, slot, after));
        }
        if let Some(place) = self.store.map.fresh(io.lpn) {
            board.event(Event::MapLookups, 1);
            board.event(Event::MapHits, 1);
            let below = board.read(place, io.cause, after)?;
            return Ok(self.above(board, slot, below));
        }
        let is_past = std::mem::replace(&mut self.store.outgrown, true);
        let (found, known) = match is_past {
            true => self.store.map.look_up_past(board, io.lpn, after)?,
            false => {
                let known = self.store.map.look_up(board, io.lpn, after)?;
                (self.store.map.find(io.lpn), known)
            }
        };
        let answer = match (slot, found) {
            // The other sectors were never written.
            (Some(slot), None) => self.store.buffer.get(board, slot, known),
            (slot, found) => {
                let below = self.read_flash(board, io, found, known)?;
                self.above(board, slot, below)
            }
        };
        // Groups leave behind the answer.
        if !is_past {
            let _ = self.store.settle(board, answer.0)?;
        }
        Ok(answer)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.store.begin(board, after)?;
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.store.buffer.pages.find(io.lpn) {
            board.event(Event::BufferHits, 1);
            return Ok(self.store.buffer.put(board, slot, io, after));
        }
        if self.store.buffer.pages.is_full() {
            // The page waits for its frame alone.
            let _ = self.store.free_frame(board, after)?;
        }
        let (slot, free) = self.store.buffer.pages.enter(io.lpn);
        self.store.entered = true;
        Ok(self.store.buffer.put(board, slot, io, after.waits_for_buffer(free)))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.store.begin(board, after)?;
        // Learned behind the trim, the page would be back.
        if self.store.map.fresh(io.lpn).is_some() {
            self.store.close_run(board);
        }
        let known = self.store.look_up(board, io.lpn, after)?;
        let (old, known) = self.store.map.exact(board, io.lpn, known)?;
        if let Some(slot) = self.store.buffer.pages.find(io.lpn) {
            let was_leaving = self.store.buffer.forget(board, slot);
            // Out-of-band areas of the run may name it as one that is still to come. Any page that
            // is still to leave ends the run, also one that is too far away for that.
            if was_leaving && self.store.map.gamma > 0 {
                self.store.close_run(board);
            }
        }
        let Some(old) = old else { return Ok(known) };
        self.store.space.invalidate(board, old);
        self.store.map.trim(io.lpn);
        self.store.map.trims.trim(io.lpn);
        self.store.space.trimmed(io.lpn);
        self.store.settle(board, known)
    }

    /// The buffer is written out, and pending trims are recorded. What left the buffer behind
    /// earlier requests may still be on its way.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let after = self.store.begin(board, after)?;
        let mut when = self.store.write_out(board, true, after)?;
        self.store.outgrown = true;
        while !self.keeps_memory && self.store.map.trims.next_pending().is_some() {
            when = self.store.record_trims(board, when)?;
        }
        let done = self.store.settle(board, when)?;
        Ok(done.waits_for_buffer(self.store.left))
    }

    #[inline]
    fn behind_request(&mut self, board: &mut Board, done: When) -> Result<(), Fault> {
        match self.store.entered {
            true => self.store.drain_behind(board, done),
            false => Ok(()),
        }
    }

    /// A page of a flush that goes on; else a step of collection.
    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let begun = self.store.begin(board, after).map(Some).or_else(Fault::unless_worn_out)?;
        let Some(after) = begun else { return Ok(None) };
        if self.store.buffer.drain == Drain::Background && self.store.buffer.is_draining() {
            let drained = self.store.drain(board, after).map(Some);
            if let Some(done) = drained.or_else(Fault::unless_worn_out)? {
                return Ok(Some(done));
            }
        }
        self.store.outgrown = true;
        let step = self.store.space.collect_idle(board, &mut self.store.map, after)?;
        let done = self.store.settle(board, step.unwrap_or(after))?;
        Ok(step.map(|_| done))
    }

    fn refresh_at_once(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let begun = self.store.begin(board, after).map(Some).or_else(Fault::unless_worn_out)?;
        // The request was served, whatever the device has no room for.
        let Some(after) = begun else { return Ok(None) };
        self.store.outgrown = true;
        let step = self.store.space.refresh_at_once(board, &mut self.store.map, after)?;
        let done = self.store.settle(board, step.unwrap_or(after))?;
        Ok(step.map(|_| done))
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.store.space.self_check(board)?;
        self.store.buffer.pages.self_check()?;
        self.store.map.self_check()?;
        let fits = self.store.map.sizes.map_bytes.is_none_or(|most| self.store.map.bytes <= most);
        if !fits && !self.store.outgrown {
            return Err(format!("segments take {} bytes of memory", self.store.map.bytes));
        }
        Ok(())
    }

    fn changed_entries(&self) -> u64 {
        self.store.map.changed_segments()
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let after = self.store.begin(board, after)?;
        self.store.close_run(board);
        self.store.outgrown = true;
        let Store { space, map, .. } = &mut self.store;
        let done = map.clean(space, board, after)?;
        self.store.settle(board, done)
    }

    fn uncleanable(config: &Config) -> Option<&'static str> {
        let in_memory = Sizes::new(config).parts == 0;
        in_memory.then_some("memory has all of its map, and flash none")
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        let below = self.store.map.locate(board, lpn);
        let Some(slot) = self.store.buffer.pages.find(lpn) else {
            return below.map_or(Location::Nowhere, Location::Flash);
        };
        let held = self.store.buffer.pages.get(slot);
        let whole = !held.sectors & self.store.buffer.all_sectors == 0;
        // Sectors that only flash holds may be lost there.
        let lost = below.is_some_and(|ppn| !whole && board.nand().state().is_unreadable(ppn));
        Location::Ram(if lost { Tag::UNREADABLE } else { held.tag })
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        let ram_pages = u64::from(self.store.buffer.pages.len());
        Unsettled { stale_pages: self.store.stale_pages(board), ram_pages, ..Unsettled::default() }
    }

    fn room(&self) -> Room {
        self.store.space.room()
    }

    forward!(store.space: measuring_begins);

    fn power_off(self) -> Survivor {
        let Store { buffer, map, .. } = self.store;
        let pages = &buffer.pages;
        match self.keeps_memory {
            true => Survivor {
                pages: pages.all().map(|slot| *pages.get(slot)).collect(),
                map: Some(Box::new(map)),
                lost: 0,
            },
            false => Survivor { lost: u64::from(pages.dirty()), ..Survivor::default() },
        }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (map, when) = match survivor.map {
            Some(kept) => Map::recover_kept(*kept, board, config, after)?,
            None => Map::recover(board, config, after)?,
        };
        let threshold = Sizes::threshold(config);
        let (space, when) = PageSpace::recover(board, config, threshold, seed, when)?;
        let mut scheme = Self::assemble(board, config, space, map);
        for held in &survivor.pages {
            let (slot, _) = scheme.store.buffer.pages.enter(held.lpn);
            scheme.store.buffer.pages.write(slot, held.tag, held.sectors, When::START);
        }
        scheme.store.outgrown = true;
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, survivor.lost);
        Ok((scheme, when))
    }
}

impl Leaftl {
    fn assemble(board: &Board, config: &Config, space: PageSpace, map: Map) -> Self {
        let store = Store::new(board, config, space, map);
        Leaftl { store, keeps_memory: config.device.ram_nonvolatile }
    }

    /// What was read from flash, under what the buffer has of the page.
    fn above(
        &self,
        board: &mut Board,
        slot: Option<Slot>,
        (read, below): (When, Tag),
    ) -> (When, Tag) {
        let Some(slot) = slot else { return (read, below) };
        let (done, tag) = self.store.buffer.get(board, slot, read);
        (done, if below == Tag::UNREADABLE { below } else { tag })
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
        let known = self.store.map.charge(board, found.levels, known);
        if !found.segment.is_accurate() {
            return self.read_nearby(board, io, found.segment, known);
        }
        let (_, offset) = self.store.map.place_of(io.lpn);
        let place = Ppn(found.segment.predict(offset, self.store.map.scale) as u32);
        assert!(
            Map::is_it(board, io.lpn, place),
            "page {} is not at {place}, where {:?} says",
            io.lpn,
            found.segment
        );
        board.read(place, io.cause, known)
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
        let (_, offset) = self.store.map.place_of(io.lpn);
        let said = Ppn(segment.predict(offset, self.store.map.scale) as u32);
        let (read, tag) = board.read(said, io.cause, known)?;
        // The out-of-band area came with the page.
        if Map::is_it(board, io.lpn, said) {
            return Ok((read, tag));
        }
        board.event(Event::Mispredictions, 1);
        let right = self.store.map.resolve(board, io.lpn, segment);
        board.read(right.expect("the page is within gamma pages"), io.cause, read)
    }
}
