//! # Idea
//! The controller's RAM caches map entries and buffers data pages. How much each gets follows the
//! workload: two ghost lists remember what left last, and tell what a larger partition would have
//! saved.
//!
//! # Paper
//! Shim, Seo, Kim, Maeng: An adaptive partitioning scheme for DRAM-based cache in solid state
//! drives, MSST 2010, as TreeFTL 2013 (Wang, Wong), section II.B, describes it and compares with
//! it; `docs/papers/others.md#aps`. The paper itself was not at hand.
//!
//! # Structures
//! Map partition: single entries, least recently used first. Data partition: pages, read or
//! written, the same; changed ones are written back when they leave. Two ghost lists: numbers of
//! entries and of pages that left last. On flash: DFTL's data and translation pages.
//!
//! # Read
//! Map, then buffer, then flash. A miss looks into the ghost list of its kind. What was read enters
//! the buffer (`aps.cache_reads`).
//!
//! # Write
//! Into the buffer. A partial write of a page that is on flash loads it first (`aps.rmw`).
//!
//! # Adjustment
//! Every `aps.interval` requests, a step of RAM goes to the partition that would have saved more
//! time with it ([`partition::Interval::close`]). What the other loses leaves at once, and the
//! request that closed the interval waits for it.
//!
//! # Reclaim
//! DFTL's: lazy copying where the entry is cached, else batch update.
//!
//! # Recovery
//! From flash alone: dirty pages and changed entries in RAM are lost, but every page that was
//! programmed is found in its newest version, and a flush of the host writes all dirty pages. Under
//! `device.ram_nonvolatile` nothing is lost, and the partitions keep their sizes.
//!
//! # Deviations
//! Benefit, step, least share and length of the ghost lists are open in what is known of the paper.
//! Silent is it, too, on what a smaller map partition pushes out. Those entries are known at once,
//! so the changed ones among them are written a map page at a time, whatever `aps.batch_evict`
//! says. The ghost lists take their room from the budget, 4 bytes each. A page that leaves the
//! buffer is looked up like any other; the look-up counts. Sequential requests are treated like
//! others: TreeFTL 2013 has only itself and JTL bypass the RAM.
//!
//! # Settings
//! The table of `settings`; `device.ram_bytes` is the RAM of both partitions and the ghost lists,
//! by default 1/512 of the capacity (64 MiB of TreeFTL 2013's device; 32 KiB to 64 MiB).

mod adjust;
pub mod partition;
mod settings;

pub use settings::{ApsSettings, MapLookup};

use crate::aps::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::demand_mapped::{self, Along, DemandMapped, Needs};
use ftlab_ftl::parts::ghost_list::GhostList;
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::ram_data::{KeptPages, RamData};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};
use partition::{Interval, Partitions};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Aps;

/// Adaptive partitioning of the RAM between map and data.
#[derive(Clone)]
pub struct Aps {
    base: DemandMapped<Cmt>,
    data: RamData,
    /// Frames in order of use.
    order: SlotLists<1>,
    partitions: Partitions,
    interval: Interval,
    map_ghosts: GhostList,
    data_ghosts: GhostList,
    /// Pages, upwards, whose entries an adjustment pushes out; empty otherwise.
    leaving: Vec<Lpn>,
    settings: ApsSettings,
}

/// What a power cut leaves.
#[derive(Clone)]
pub struct ApsSurvivor {
    ram: (Survivor, KeptPages),
    /// Size of the map partition, where memory keeps its content.
    map_bytes: Option<u64>,
}

impl Scheme for Aps {
    const PAPER: Paper = Paper {
        name: "aps",
        title: "An adaptive partitioning scheme for DRAM-based cache in solid state drives",
        authors: "Shim, Seo, Kim, Maeng",
        venue: "MSST 2010; TreeFTL, 2013, II.B",
        year: 2010,
        sections: "as TreeFTL 2013 describes it",
        deviations: &[
            "the benefit is our formula; step, least share and ghost lists are settings",
            "the ghost lists take their room from the budget",
            "pages that leave the buffer are looked up in the map like any other",
            "trims and their record pages are added",
        ],
        family: Family::RamManaging,
        class: Classification::PAGES,
    };
    const BUFFERS_DATA: bool = true;
    const DIVIDES_DATA: bool = true;
    type Settings = ApsSettings;
    type Survivor = ApsSurvivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        Partitions::new(config).check()
    }

    forward!(Needs::plain => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let partitions = Partitions::new(config);
        let sram = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
        let own = [
            sram("map_partition", partitions.map_bytes()),
            sram("data_partition", partitions.data_bytes()),
            sram("ghost_lists", partitions.ghost_bytes()),
        ];
        Needs::plain(config).ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let partitions = Partitions::new(config);
        let cmt = cmt(&partitions, board.geometry().logical_pages);
        let base = DemandMapped::new(board, config, &Needs::plain(config), cmt, seed);
        Ok(Self::assemble(board, config, base, partitions))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let after = self.next_request(board, io, after)?;
        // The map, then the buffer.
        let known = self.look_up_to_read(board, io.lpn, MapLookup::First, after)?;
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.data.pages().find(io.lpn) {
            self.order.renew(slot);
            if self.data.covers(slot, io) {
                board.event(Event::BufferHits, 1);
                return Ok(self.data.get(board, slot, known));
            }
            let known = self.look_up_to_read(board, io.lpn, MapLookup::OnDemand, known)?;
            return self.data.get_merged(&mut self.base, board, (slot, io), known);
        }
        // A miss: would a larger buffer have had it?
        let ghost = self.data_ghosts.remove(io.lpn);
        if ghost {
            board.event(Event::GhostReadHits, 1);
            self.interval.read_hits += 1;
        }
        let known = self.look_up_to_read(board, io.lpn, MapLookup::OnDemand, known)?;
        let (done, tag) = self.base.read_mapped(board, io, known)?;
        if self.settings.cache_reads && RamData::is_worth_a_frame(tag) {
            // The host does not wait for the frame. A worn-out device has none, and is read.
            let frame = self.take_frame(board, io.lpn, after);
            if let Some((slot, free)) = frame.map(Some).or_else(Fault::unless_worn_out)? {
                let _ = self.data.fill(board, slot, tag, done.waits_for_buffer(free));
            }
        } else if ghost {
            self.data_ghosts.add(io.lpn);
        }
        Ok((done, tag))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.next_request(board, io, after)?;
        let mut known = self.look_up(board, io.lpn, MapLookup::First, after)?;
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.data.pages().find(io.lpn) {
            board.event(Event::BufferHits, 1);
            self.order.renew(slot);
            return Ok(self.data.put(board, slot, io, known));
        }
        if self.data_ghosts.remove(io.lpn) {
            board.event(Event::GhostWriteHits, 1);
            self.interval.write_hits += 1;
        }
        let mut old = None;
        if self.settings.rmw && self.data.is_partial(io) {
            known = self.look_up(board, io.lpn, MapLookup::OnDemand, known)?;
            old = self.data.load_old(&self.base, board, io.lpn, known)?;
        }
        let (slot, free) = self.take_frame(board, io.lpn, known)?;
        Ok(self.data.put_over(board, (slot, io), old, free))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.translate(board, io.lpn, after)?;
        if let Some(slot) = self.data.pages().find(io.lpn) {
            let free = self.data.pages().get(slot).ready;
            self.drop_page(board, slot, free);
        }
        self.data_ghosts.remove(io.lpn);
        self.base.trim(board, io.lpn, known)
    }

    /// Every dirty page is written and stays in the buffer, clean.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut done = after;
        let slots = self.data.to_flush();
        for &slot in &slots {
            let written = self.write_out(board, slot, after)?;
            done = done.join(written);
        }
        self.data.flushed(slots);
        self.base.flush(board, done)
    }

    forward!(base: clean_map, changed_entries, idle, room);
    forward!(base: refresh_at_once);
    forward!(data over base: locate, unsettled);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.data.self_check(&self.base, board)?;
        let (entries, pages) = (self.base.map.cache.len(), self.data.pages().len());
        let (most_entries, most_pages) = (self.partitions.entries(), self.partitions.frames());
        if entries > most_entries || pages > most_pages || pages != self.order.len(0) {
            return Err(format!(
                "{entries} entries of {most_entries} and {pages} pages of {most_pages} are in \
                 memory, {} pages in order of use",
                self.order.len(0)
            ));
        }
        for lpn in (0..board.geometry().logical_pages).map(Lpn) {
            let twice = (self.map_ghosts.contains(lpn) && self.base.map.cache.find(lpn).is_some())
                || (self.data_ghosts.contains(lpn) && self.data.pages().find(lpn).is_some());
            if twice {
                return Err(format!("page {lpn} is cached, and a ghost too"));
            }
        }
        Ok(())
    }

    fn power_off(self) -> ApsSurvivor {
        let ram = self.data.power_off(&self.base, self.order.from_oldest(0));
        let nonvolatile = !self.base.records_trims;
        ApsSurvivor { ram, map_bytes: nonvolatile.then_some(self.partitions.map_bytes()) }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        ApsSurvivor { ram: (map, data), map_bytes }: ApsSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut partitions = Partitions::new(config);
        if let Some(bytes) = map_bytes {
            partitions.restore(bytes);
        }
        let empty = cmt(&partitions, board.geometry().logical_pages);
        let (needs, known) = (Needs::plain(config), (map, partitions.entries()));
        let (base, when) =
            DemandMapped::recover(board, config, (&needs, seed), known, empty, after)?;
        let mut aps = Self::assemble(board, config, base, partitions);
        for held in &data.pages {
            let slot = aps.data.restore(held);
            aps.order.push(0, slot);
        }
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, data.lost);
        Ok((aps, when))
    }
}

/// The map cache, empty.
fn cmt(partitions: &Partitions, pages: u32) -> Cmt {
    Cmt::new(CachePolicyKind::Lru, pages, partitions.most_entries(), 0.0)
}

impl Aps {
    fn assemble(
        board: &mut Board,
        config: &Config,
        base: DemandMapped<Cmt>,
        partitions: Partitions,
    ) -> Self {
        let pages = board.geometry().logical_pages;
        let aps = Aps {
            base,
            data: RamData::new(board, partitions.most_frames()),
            order: SlotLists::new(partitions.most_frames()),
            interval: Interval::new(board, config),
            map_ghosts: GhostList::new(partitions.ghost_entries(), pages),
            data_ghosts: GhostList::new(partitions.ghost_pages(), pages),
            // The entries of a step, and one that its bytes cut.
            leaving: Vec::with_capacity(partitions.ghost_entries() as usize + 1),
            partitions,
            settings: config.own.clone(),
        };
        aps.tell_sizes(board);
        aps
    }

    /// Sizes of the two partitions.
    pub fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    fn tell_sizes(&self, board: &mut Board) {
        board.level(Level::MapPartitionBytes, self.partitions.map_bytes());
        board.level(Level::DataPartitionBytes, self.partitions.data_bytes());
    }

    /// Translates at one of the two moments at which it can be due.
    #[inline]
    fn look_up(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        moment: MapLookup,
        after: When,
    ) -> Result<When, Fault> {
        if self.settings.lookup == moment { self.translate(board, lpn, after) } else { Ok(after) }
    }

    /// The same for a read. Where what would have to leave for the entry cannot be written any
    /// more, the translation page is read for this page alone.
    #[inline]
    fn look_up_to_read(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        moment: MapLookup,
        after: When,
    ) -> Result<When, Fault> {
        let found = self.look_up(board, lpn, moment, after).map(Some);
        match found.or_else(Fault::unless_worn_out)? {
            Some(known) => Ok(known),
            None => self.base.load(board, self.base.map.translation.part_of(lpn).0, after),
        }
    }

    /// Makes sure that a page's entry is cached; when it is known.
    #[inline]
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        if let Some(known) = self.base.look_up(board, lpn, after) {
            return Ok(known);
        }
        if self.map_ghosts.remove(lpn) {
            board.event(Event::GhostMapHits, 1);
            self.interval.map_hits += 1;
        }
        let mut when = after;
        while self.base.map.cache.len() >= self.partitions.entries() {
            when = self.evict_entry(board, when)?;
        }
        self.base.fetch(board, lpn, when)
    }

    /// The entry used longest ago becomes a ghost; if it has changed, it is written first, in an
    /// adjustment with the others of its map page that leave too.
    fn evict_entry(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let cache = &self.base.map.cache;
        let victim = cache.victim();
        let lpn = cache.lpn(victim);
        let found = board.search(Search::Cached, cache.len(), after);
        let part_of = self.base.map.translation.part_function();
        let part = part_of(lpn.0);
        let first = self.leaving.partition_point(|other| part_of(other.0) < part);
        let mates = self.leaving[first..].partition_point(|other| part_of(other.0) == part);
        let along = match self.settings.batch_evict {
            true => Along::Part,
            false => Along::These(&self.leaving[first..first + mates]),
        };
        let done = self.base.evict_along(board, victim, along, found)?;
        self.map_ghosts.add(lpn);
        Ok(done)
    }

    /// A frame for a page, and when it can be filled.
    fn take_frame(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        let mut ready = after;
        while self.data.pages().len() >= self.partitions.frames() {
            ready = self.evict_page(board, ready)?;
        }
        let (slot, ready) = self.data.enter(lpn, ready);
        self.order.push(0, slot);
        Ok((slot, ready))
    }

    /// The page used longest ago becomes a ghost; a dirty one is written first.
    fn evict_page(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let victim = self.order.oldest(0).expect("a full buffer holds a page");
        let held = *self.data.pages().get(victim);
        let found = board.search(Search::Cached, self.data.pages().len(), after);
        let mut done = found;
        if held.dirty {
            done = self.write_out(board, victim, found)?;
        } else {
            board.event(Event::BufferCleanDrops, 1);
        }
        if self.data.pages().find(held.lpn).is_some() {
            self.drop_page(board, victim, done);
        }
        self.data_ghosts.add(held.lpn);
        Ok(done)
    }

    /// Writes a dirty page to flash. It stays, clean, unless flash lost sectors of it.
    fn write_out(&mut self, board: &mut Board, slot: Slot, after: When) -> Result<When, Fault> {
        let lpn = self.data.pages().get(slot).lpn;
        let known = self.translate(board, lpn, after)?;
        let (done, whole) = self.data.write_out(&mut self.base, board, slot, known)?;
        if !whole {
            self.drop_page(board, slot, done);
        }
        Ok(done)
    }

    fn drop_page(&mut self, board: &mut Board, slot: Slot, free: impl Into<Moment>) {
        self.order.remove(slot);
        self.data.leave(board, slot, free);
    }
}
