//! # Idea
//! DFTL with a small cache, and a copy of the map in the memory of the host, which is cheap: the
//! host sends along where it believes a page is, and a read takes one access to flash nearly
//! always.
//!
//! # Paper
//! Budilovsky, Toledo, Zuck: Prototyping a high-performance low-cost solid-state disk, SYSTOR 2011;
//! `docs/papers/others.md#hmb`. `hmb.mode = dma` is the later form, NVMe's host memory buffer. The
//! paper was not at hand: what follows is its abstract and that chapter.
//!
//! # Structures
//! As DFTL: translation pages, their directory, a cache of `hmb.cache_entries` entries. In the
//! host's memory up to `hmb.bytes` of map chunks, `hmb.chunk_entries` entries each.
//!
//! # Read
//! The entry is cached: as DFTL. Else the host's entry is looked at (the *hint*). It holds if the
//! page it names is marked valid and carries the logical number in its spare area: one access. If
//! it is not marked valid, that is known at once; if it belongs to another logical page now, the
//! read was in vain. Under `hmb.mode = dma` the entry that held is cached, so that the next access
//! needs no look over the link; where a changed entry has to leave for it, that is done behind the
//! request, for the last such page of it. Then, and where the host knows nothing, the translation
//! page is read as in DFTL, and its chunk is sent to the host.
//!
//! # Write
//! The superseded page is found in the same way; its spare area is read to verify the hint, which
//! takes a page read that counts as translation. The
//! new entry goes to the cache, and with the completion to the host (`hmb.upload`).
//!
//! # Reclaim
//! As DFTL. The host is not told: hints of moved pages are stale until they are used.
//!
//! # Recovery
//! The map on flash is authoritative, as in DFTL without checkpoints. The host's copy is lost with
//! the power, or kept (`hmb.host_memory`); kept hints are verified like any other.
//!
//! # Deviations
//! How hints are verified is ours (the paper: a tag in each chunk); so are `hmb.upload` and the
//! chunks' order of leaving; an entry sent alone (a write's, a correction) makes no chunk leave.
//! Sending chunks and entries to the host takes no time: nobody waits for it. A hint comes with the
//! first page of a command that gets past a write buffer. A hint that says "nowhere" cannot be
//! verified and counts as missing.
//!
//! # Settings
//! The table below, and the groups `gc` and `alloc`.

mod host_map;
mod settings;

use host_map::HostMap;
pub use settings::{HintMode, HmbSettings, HostMemory, Upload};

use crate::hmb::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::{Bytes, SettingError};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::demand_mapped::{self, CACHE_BYTES, DemandMapped, Kept, Needs};
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// Bytes of a cached entry, LPN and PPN, and of one in the host's memory.
const ENTRY_BYTES: u64 = 8;
const HOST_ENTRY_BYTES: u64 = 4;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Hmb;

/// DFTL with a copy of the map in the host's memory.
#[derive(Clone)]
pub struct Hmb {
    base: DemandMapped<Cmt>,
    host: HostMap,
    settings: HmbSettings,
    /// When the hint of the present command is here, once it was sent: with the first page that
    /// comes here, which need not be the command's first.
    arrived: Option<When>,
    /// The page whose entry is cached behind the request.
    wanted: Option<Lpn>,
}

/// What outlives a power cut: of the device, and of the host.
#[derive(Clone)]
pub struct Survivor {
    map: Kept<Cmt>,
    host: Option<HostMap>,
}

fn entries(config: &Config) -> u32 {
    let budget = config.map_budget().unwrap_or(CACHE_BYTES);
    let wanted = config.own.cache_entries.0.map_or(budget / ENTRY_BYTES, u64::from);
    wanted.clamp(2, config.device.logical_pages().max(2)) as u32
}

fn entries_per_page(config: &Config) -> u32 {
    Geometry::new(&config.device).entries_per_page()
}

fn chunk_entries(config: &Config) -> u32 {
    config.own.chunk_entries.0.unwrap_or_else(|| entries_per_page(config))
}

/// Chunks that the host's memory holds: at most the whole map.
fn chunks(config: &Config) -> u32 {
    let whole = config.device.logical_pages().div_ceil(u64::from(chunk_entries(config)));
    let chunk_bytes = HOST_ENTRY_BYTES * u64::from(chunk_entries(config));
    let held = config.own.bytes.0.map_or(whole, |bytes| bytes.0 / chunk_bytes);
    held.min(whole) as u32
}

fn empty_host(config: &Config) -> HostMap {
    HostMap::new(config.device.logical_pages() as u32, chunk_entries(config), chunks(config))
}

fn cmt(config: &Config) -> Cmt {
    let pages = config.device.logical_pages() as u32;
    Cmt::new(CachePolicyKind::Lru, pages, entries(config), 0.0)
}

impl Scheme for Hmb {
    const PAPER: Paper = Paper {
        name: "hmb",
        title: "Prototyping a high-performance low-cost solid-state disk",
        authors: "Budilovsky, Toledo, Zuck",
        venue: "SYSTOR",
        year: 2011,
        sections: "abstract",
        deviations: &[
            "the paper was not at hand: what its abstract and docs/papers/others.md#hmb say is \
             implemented",
            "a hint is verified by the mark of its page and the spare area, not by a chunk tag",
            "what is sent to the host when is a setting (hmb.upload), and takes no time",
            "a hint that says \"nowhere\" counts as missing",
            "trims and their record pages are added",
        ],
        family: Family::CachedMap,
        class: Classification::PAGES,
    };
    const DIVIDES_DATA: bool = true;
    type Settings = HmbSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        let (chunk, page) = (chunk_entries(config), entries_per_page(config));
        if page % chunk != 0 {
            return Err(SettingError::Conflict(format!(
                "hmb.chunk_entries = {chunk} does not divide a translation page of {page} entries"
            )));
        }
        let chunk_bytes = HOST_ENTRY_BYTES * u64::from(chunk);
        if let Some(Bytes(bytes @ 1..)) = config.own.bytes.0
            && bytes < chunk_bytes
        {
            return Err(SettingError::Conflict(format!(
                "hmb.bytes = {bytes} holds no chunk of hmb.chunk_entries = {chunk} entries, which \
                 takes {chunk_bytes} bytes; 0 is for no host memory"
            )));
        }
        let wanted = ENTRY_BYTES * u64::from(entries(config));
        match config.map_budget() {
            Some(budget) if config.own.cache_entries.0.is_some() && wanted > budget => {
                Err(SettingError::Conflict(format!(
                    "hmb.cache_entries = {} takes {wanted} bytes, device.ram_bytes leaves {budget}",
                    entries(config),
                )))
            }
            _ => Ok(()),
        }
    }

    forward!(Needs::plain => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let cached = ENTRY_BYTES * u64::from(entries(config));
        let chunk = HOST_ENTRY_BYTES * u64::from(chunk_entries(config));
        let host = u64::from(chunks(config)) * chunk;
        let own = [
            RamUse { structure: "cmt", bytes: cached, memory: Memory::Sram },
            RamUse { structure: "host_map", bytes: host, memory: Memory::Host },
        ];
        Needs::plain(config).ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let needs = Needs::plain(config);
        let base = DemandMapped::new(board, config, &needs, cmt(config), seed);
        Ok(Self::over(config, base, empty_host(config)))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let mut after = self.receive(board, io, after);
        if self.base.map.cache.find(io.lpn).is_none() {
            after = self.look_up(board, after);
            if let Some(ppn) = self.hint(board, io.lpn) {
                if belongs_to(board, ppn, io.lpn) {
                    // One access to flash: the spare area that verifies the hint comes with the
                    // page.
                    board.event(Event::HintHits, 1);
                    board.event(Event::MapLookups, 1);
                    let (done, tag) = board.read(ppn, io.cause, after)?;
                    if self.settings.mode == HintMode::Dma {
                        self.cache_read(board, io.lpn, done);
                    }
                    return Ok((done, tag));
                }
                // Another logical page lives there now: read in vain.
                board.event(Event::StaleHints, 1);
                (after, _) = board.read(ppn, Cause::Translate, after)?;
            }
        }
        let answer = match self.translate(board, io.lpn, after) {
            Ok(known) => self.base.read(board, io, known)?,
            Err(fault) => {
                // No entry can leave the cache for that of this page.
                let after = fault.goes_on_without(after)?;
                self.base.read_alone(board, io, after)?
            }
        };
        self.answer(board, io.lpn);
        Ok(answer)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.find_old(board, io, after)?;
        let done = self.base.write(board, io, known)?;
        self.sent(board, io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.find_old(board, io, after)?;
        let done = self.base.trim(board, io.lpn, known)?;
        self.sent(board, io.lpn);
        Ok(done)
    }

    /// An entry that a read wanted is cached at the cost of a map write.
    #[inline]
    fn behind_request(&mut self, board: &mut Board, done: When) -> Result<(), Fault> {
        self.arrived = None;
        if let Some(lpn) = self.wanted.take()
            && self.base.map.cache.find(lpn).is_none()
        {
            // The request is done: where nothing can leave, the entry is not cached.
            let _ = self.cache_hint(board, lpn, done).map(Some).or_else(Fault::unless_worn_out)?;
        }
        Ok(())
    }

    forward!(base: flush, clean_map, changed_entries, idle, locate, unsettled, room);
    forward!(base: refresh_at_once);
    forward!(base.space: measuring_begins);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.space.self_check(board)?;
        // What verifies must be the truth.
        for lpn in (0..board.geometry().logical_pages).map(Lpn) {
            let Some(ppn) = self.host.known(lpn) else { continue };
            let verified = board.nand().state().is_valid(ppn) && belongs_to(board, ppn, lpn);
            if verified && self.base.map.current(board, lpn) != Some(ppn) {
                return Err(format!("page {lpn}: the host's {ppn} passes, and is old"));
            }
        }
        Ok(())
    }

    fn power_off(self) -> Survivor {
        let kept = self.settings.host_memory == HostMemory::Kept;
        Survivor { map: self.base.keep(), host: kept.then_some(self.host) }
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        Survivor { map, host }: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let needs = Needs::plain(config);
        let cache = (entries(config), cmt(config));
        let (base, when) = map.recover(board, config, (&needs, seed), cache, after)?;
        Ok((Self::over(config, base, host.unwrap_or_else(|| empty_host(config))), when))
    }
}

/// Whether a page carries a logical number in its spare area; the caller pays for reading it.
fn belongs_to(board: &Board, ppn: Ppn, lpn: Lpn) -> bool {
    match board.nand().state().oob(ppn) {
        OobRead::Written(oob) => oob.kind.is_host_data() && oob.logical == lpn.0,
        OobRead::Free | OobRead::Torn => false,
    }
}

impl Hmb {
    fn over(config: &Config, base: DemandMapped<Cmt>, host: HostMap) -> Self {
        Hmb { base, host, settings: config.own.clone(), arrived: None, wanted: None }
    }

    /// A command arrives, with its hint: no page of it is looked for before.
    fn receive(&mut self, board: &mut Board, io: &PageIo, after: When) -> When {
        if self.settings.mode == HintMode::Dma {
            return after;
        }
        let known = self.arrived.filter(|_| io.request.index > 0);
        let arrived = known.unwrap_or_else(|| board.host_memory(self.settings.hint_us.0, after));
        self.arrived = Some(arrived);
        after.waits_for_map(arrived)
    }

    /// The cache does not know the page: the device looks into the host's memory, unless the hint
    /// came with the command.
    fn look_up(&mut self, board: &mut Board, after: When) -> When {
        match self.settings.mode {
            HintMode::Hint => after,
            HintMode::Dma => board.host_memory(self.settings.hint_us.0, after),
        }
    }

    /// Where the host believes a page is, if flash holds a page there that counts.
    fn hint(&mut self, board: &mut Board, lpn: Lpn) -> Option<Ppn> {
        let Some(ppn) = self.host.hint(lpn) else {
            board.event(Event::MissingHints, 1);
            return None;
        };
        if board.nand().state().is_valid(ppn) {
            return Some(ppn);
        }
        board.event(Event::StaleHints, 1);
        None
    }

    /// Makes sure that the entry of a page that is written or trimmed is cached.
    fn find_old(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut after = self.receive(board, io, after);
        if self.base.map.cache.find(io.lpn).is_none() {
            after = self.look_up(board, after);
            if let Some(ppn) = self.hint(board, io.lpn) {
                after = board.read_spare(ppn, None, after)?;
                if belongs_to(board, ppn, io.lpn) {
                    board.event(Event::HintHits, 1);
                    board.event(Event::MapLookups, 1);
                    return self.cache_hint(board, io.lpn, after);
                }
                board.event(Event::StaleHints, 1);
            }
        }
        self.translate(board, io.lpn, after)
    }

    /// A verified hint becomes a cached entry. Making room for it may collect garbage, which may
    /// move the page: the entry is taken afterwards.
    fn cache_hint(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let ready = self.make_room(board, after)?;
        let ppn = self.base.map.translation.entry(board, lpn);
        self.base.map.cache.insert(lpn, ppn, ready);
        Ok(ready)
    }

    /// The verified hint of a read becomes a cached entry, which no read waits for.
    fn cache_read(&mut self, board: &mut Board, lpn: Lpn, done: When) {
        let cache = &mut self.base.map.cache;
        let mut ready = done;
        if cache.is_full() {
            let victim = cache.victim();
            if cache.is_dirty(victim) {
                self.wanted = Some(lpn);
                return;
            }
            ready = board.search(Search::Cached, cache.len(), done);
            board.event(Event::EvictClean, 1);
            cache.remove(victim);
        }
        let ppn = self.base.map.translation.entry(board, lpn);
        self.base.map.cache.insert(lpn, ppn, ready);
    }

    /// As DFTL: makes sure that the entry of a page is cached. What was read goes to the host.
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        if let Some(known) = self.base.look_up(board, lpn, after) {
            return Ok(known);
        }
        let ready = self.make_room(board, after)?;
        let known = self.base.fetch(board, lpn, ready)?;
        self.upload(board, lpn);
        Ok(known)
    }

    fn make_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let cache = &mut self.base.map.cache;
        if !cache.is_full() {
            return Ok(after);
        }
        let victim = cache.victim();
        let after = board.search(Search::Cached, cache.len(), after);
        self.base.evict(board, victim, false, after)
    }

    /// The chunk of a page goes to the host, as memory and the translation page at hand say.
    fn upload(&mut self, board: &mut Board, lpn: Lpn) {
        board.event(Event::UploadedChunks, 1);
        let map = &self.base.map;
        self.host.load(lpn, |lpn| map.current(board, lpn));
    }

    /// A read is answered: the host learns what it had wrong.
    fn answer(&mut self, board: &Board, lpn: Lpn) {
        let now = self.base.map.current(board, lpn);
        if self.host.known(lpn) != now {
            self.host.learn(lpn, now);
        }
    }

    /// A write or trim is complete.
    fn sent(&mut self, board: &Board, lpn: Lpn) {
        if self.settings.upload == Upload::OnWrite {
            self.answer(board, lpn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::board::when::Moment;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::request::RequestShape;

    /// Pages of one command know it arrived; the next one arrives by itself, though a fault ended
    /// the one before without a word.
    #[test]
    fn every_command_arrives() {
        let mut config = Config::default();
        config.own.mode = HintMode::Hint;
        let mut board = Board::new(&config, 1, Hmb::payload_pages(&config));
        let mut hmb = Hmb::format(&mut board, &config, 1).expect("it is large enough");
        let mut receive = |index: u32, after: When| {
            let request =
                RequestShape { first_lpn: Lpn(0), pages: 2, index, sectors: 1, hint: None };
            let (cause, data) = (Cause::Host, Tag(1));
            let io = PageIo { lpn: Lpn(index), sectors: 1, cause, data, request };
            hmb.receive(&mut board, &io, after)
        };
        let first = receive(0, When::START);
        assert_ne!(Moment::from(first), Moment::START);
        assert_eq!(Moment::from(receive(1, first)), Moment::from(first), "of the same command");
        assert_ne!(Moment::from(receive(0, first)), Moment::from(first), "another one");
    }
}
