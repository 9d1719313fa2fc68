//! # Idea
//! A block map in which a logical block can have several blocks in a row: a page that was written
//! before goes to the same place of the next block of the chain. The rewrite is put off until
//! blocks are needed, and serves many updates then.
//!
//! # Paper
//! Ban, "Flash file system optimized for page-mode flash technologies", US Patent 5,937,425, 1999
//! (not read; by what is known of NFTL); "Replacement Block FTL" in DFTL 2014, Table 1;
//! `docs/papers/others.md#replacement-blocks`.
//!
//! # Structures
//! K: replacement blocks of a logical block. Block table (head of each chain), a link per physical
//! block; appending, the next page of each chain. The chain's order on flash follows from sequence
//! numbers.
//!
//! # Read
//! Offset fixed: the out-of-band areas of the page's place in each unit of the chain, from the
//! head, until one is free; the last used one is read. Appending: the areas of replacement pages
//! from the last one backwards, until the page is found, else the head's place.
//!
//! # Write
//! The first unit of the chain whose place is free takes the page, behind the newest copy; if there
//! is none, a unit is added. Appending: the head's place if it is free, else the next page of the
//! last unit.
//!
//! # Reclaim
//! A unit is needed, but the chain may not grow (`max_chain`) or no spare unit is left: that chain,
//! or the victim, is folded. If every live page lies in the last unit, or its place there is free,
//! in place: the last unit becomes the head, the others are erased. Else into a fresh unit, and K +
//! 1 are erased. Then the write is tried again; if its own chain is folded it goes along
//! (`own_fold`).
//!
//! Under `wear.policy = dynamic` a fresh unit is a worn one. A fold in place has no block to
//! choose: its unit was taken for host writes. With fixed offsets nearly all folds are in place.
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins, the unit that was
//! begun first comes first. What an interrupted fold left moves to the free places of the new head.
//!
//! # Deviations
//! Trims and their records are ours. The original links its units and marks them on flash; here
//! sequence numbers say the same. Folds start when `reserve` spare units are left, also if blocks
//! went bad. Places that program order forbids are passed over, and gaps padded where the flash
//! demands every page in order. The next page of an appended unit is known without a search.
//!
//! # Settings
//! Group `replacement_block`.

mod settings;

pub use settings::{OwnFold, ReplacementBlockSettings, ReplacementMode};

pub(crate) use crate::replacement_block::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, Ppn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped, Found};
use ftlab_ftl::parts::block_supply::Need;
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::data_blocks::{Lbn, accepts, padded};
use ftlab_ftl::parts::merge_engine::Sources;
use ftlab_ftl::parts::merge_engine::block_map::BlockMapKind;
use ftlab_ftl::parts::replacement_chains::{ChainVictim, ReplacementChains, length_of_folded};
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = ReplacementBlock;

/// Where a page can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Its place in the head of the chain, which there may not be yet.
    Head,
    /// A page of a replacement block.
    Unit(Ppn),
    /// A replacement block must be added.
    NewUnit,
}

/// The replacement-block FTL.
#[derive(Clone)]
pub struct ReplacementBlock {
    pub(crate) base: BlockMapped,
    chains: ReplacementChains,
    settings: ReplacementBlockSettings,
    order: ProgramOrder,
}

/// Spare blocks, the reserve among them.
pub(crate) fn spare_blocks(config: &Config) -> u64 {
    let ReplacementBlockSettings { spare_pct, reserve, .. } = config.own;
    block_mapped::log_blocks(&config.device, spare_pct, None, u64::from(reserve) + 1)
}

/// Replacement blocks of all chains together.
fn chain_blocks(config: &Config) -> u64 {
    spare_blocks(config) - u64::from(config.own.reserve)
}

impl Scheme for ReplacementBlock {
    const PAPER: Paper = Paper {
        name: "replacement_block",
        title: "Flash file system optimized for page-mode flash technologies",
        authors: "Ban",
        venue: "US Patent 5,937,425",
        year: 1999,
        sections: "chains of replacement blocks, folds in place and into a fresh block",
        deviations: &[
            "trims and their record pages are added",
            "chains are told from sequence numbers, not from links and marks on flash",
            "under nand.enforce_order, places below the highest programmed page are passed over, \
             and gaps are padded if strict",
        ],
        family: Family::Block,
        class: Classification {
            kind: "block",
            granularity: "block",
            update_blocks: "replacement blocks of one logical block each",
            associativity: "1:K",
            full_merge: true,
        },
    };
    const PRESETS: &'static [ftlab_ftl::scheme::Preset] =
        &[("nftl_n", &[("replacement_block.mode", "append")])];
    type Settings = ReplacementBlockSettings;
    type Survivor = ();

    fn minimum_blocks(config: &Config) -> u64 {
        BlockMapped::minimum_blocks(config, spare_blocks(config))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let positions = match config.own.mode {
            ReplacementMode::OffsetFixed => 0,
            ReplacementMode::Append => ReplacementChains::position_bytes(chain_blocks(config)),
        };
        let own = [
            ("replacement_links", ReplacementChains::ram_bytes(&geometry)),
            ("write_positions", positions),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(ReplacementBlock::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = self.base.engine.look_up(board, io.lpn, after)?;
        let found = self.search(board, io.lpn, known)?;
        self.base.read(board, io, found)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        let merged = self.base.merge_strays(board, &mut (), after)?;
        let mut when = self.base.engine.look_up(board, io.lpn, merged)?;
        let done = loop {
            let (place, found) = self.find_place(board, io.lpn, when)?;
            if let Some((victim, looked_at)) = self.must_fold(lbn, place) {
                // No unit to be had: fold, and try again. A second fold is only needed where bad
                // blocks left fewer spare units than the reserve.
                let chosen = match looked_at {
                    0 => found,
                    _ => board.search(Search::Block, looked_at, found),
                };
                if victim == lbn && self.settings.own_fold == OwnFold::WithPage {
                    break self.fold(board, victim, Some(io), chosen)?;
                }
                when = self.fold(board, victim, None, chosen)?;
                continue;
            }
            let written = match place {
                Place::Head => self.base.write_in_place(board, io, found),
                Place::Unit(slot) => self.program(board, slot, io, found),
                Place::NewUnit => self.add_unit(board, io, found),
            };
            match written {
                // That unit takes no more pages; the next one may.
                Err(Fault::ProgramFailed { known, .. }) => when = known,
                other => break other?,
            }
        };
        self.chains.touch(lbn);
        self.base.written(io.lpn);
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board, self.chains.len())
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.base.engine.look_up(board, io.lpn, after)?;
        self.base.trim(board, io);
        Ok(known)
    }

    forward!(base: payload_pages, flush, locate);
    forward!(chains: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        ReplacementBlock::resume(base, found, board, (config, None), erased)
    }
}

impl ReplacementBlock {
    /// With what was found after a power cut, the block map on flash if `map` says so.
    pub(crate) fn resume(
        base: BlockMapped,
        found: Found,
        board: &mut Board,
        (config, map): (&Config, Option<BlockMapKind>),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut scheme = ReplacementBlock::on(base, board, config);
        scheme.take_over(board, found.logs);
        let mut done = scheme.base.evacuate(board, &found.leftovers, after)?;
        if let Some(kind) = map {
            done = scheme.base.engine.recover_map(board, &found.map_pages, kind, done)?;
        }
        Ok((scheme, done))
    }

    /// Without a replacement block yet.
    pub(crate) fn on(mut base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.own.clone();
        let limit = chain_blocks(config) as u32;
        let order = padded(base.engine.data.order());
        let chains = ReplacementChains::new(board.geometry(), limit);
        base.engine.marks_merged = false;
        ReplacementBlock { base, chains, settings, order }
    }

    /// Looks for a page's newest copy by out-of-band areas, its entry being known.
    pub(crate) fn search(&self, board: &mut Board, lpn: Lpn, known: When) -> Result<When, Fault> {
        match self.settings.mode {
            ReplacementMode::OffsetFixed => self.walk(board, lpn, known).map(|(_, found)| found),
            ReplacementMode::Append => self.search_back(board, lpn, known),
        }
    }

    /// Looks at the page's place in each unit from the head, up to the first free one behind the
    /// newest copy. An out-of-band area is read for each.
    fn walk(&self, board: &mut Board, lpn: Lpn, after: When) -> Result<(Place, When), Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), lpn);
        let newest = self.base.engine.newest(board.nand(), lpn);
        let newest = newest.map(|ppn| board.geometry().block_of(ppn));
        let mut passed = newest.is_none();
        let head = self.base.engine.data.block(lbn);
        if head.is_none() && passed {
            return Ok((Place::Head, after));
        }
        let mut when = after;
        let mut unit = head.or_else(|| self.chains.first(lbn));
        while let Some(block) = unit {
            let slot = board.geometry().page(block, offset);
            (when, _) = board.read_oob(slot, when)?;
            if passed && accepts(board.nand(), self.order, slot) {
                return Ok((if head == unit { Place::Head } else { Place::Unit(slot) }, when));
            }
            passed |= newest == unit;
            unit = if head == unit { self.chains.first(lbn) } else { self.chains.behind(block) };
        }
        Ok((Place::NewUnit, when))
    }

    /// Looks at replacement pages from the last one backwards until the page is found, else at its
    /// place in the head. An out-of-band area is read for each.
    fn search_back(&self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), lpn);
        let newest = self.base.engine.newest(board.nand(), lpn);
        let mut when = after;
        let mut unit = self.chains.last(lbn);
        while let Some(block) = unit {
            for offset in (0..board.nand().state().block(block).top).rev() {
                let page = board.geometry().page(block, offset);
                (when, _) = board.read_oob(page, when)?;
                if newest == Some(page) {
                    return Ok(when);
                }
            }
            unit = self.chains.before(block);
        }
        if let Some(page) = self.base.engine.data.page(board.geometry(), lpn) {
            (when, _) = board.read_oob(page, when)?;
        }
        Ok(when)
    }

    /// Where the next write of a page goes.
    fn find_place(&self, board: &mut Board, lpn: Lpn, after: When) -> Result<(Place, When), Fault> {
        if self.settings.mode == ReplacementMode::OffsetFixed {
            return self.walk(board, lpn, after);
        }
        let (lbn, _) = Lbn::of(board.geometry(), lpn);
        let engine = &self.base.engine;
        let replaced = engine.logs.get(lpn).is_some();
        let mut when = after;
        if let Some(slot) = engine.data.page(board.geometry(), lpn) {
            (when, _) = board.read_oob(slot, when)?;
            if !replaced && accepts(board.nand(), self.order, slot) {
                return Ok((Place::Head, when));
            }
        } else if !replaced {
            return Ok((Place::Head, when));
        }
        let place = self.chains.last(lbn).and_then(|last| {
            let top = board.nand().state().block(last).top;
            let slot = (top < board.geometry().pages_per_block)
                .then(|| board.geometry().page(last, top))?;
            accepts(board.nand(), self.order, slot).then_some(Place::Unit(slot))
        });
        Ok((place.unwrap_or(Place::NewUnit), when))
    }

    /// The chain to fold before a unit is taken for this place, if one must be, and how many were
    /// looked at to choose it.
    fn must_fold(&self, lbn: Lbn, place: Place) -> Option<(Lbn, u32)> {
        let spare = match place {
            Place::Unit(_) => return None,
            Place::Head if self.base.engine.data.block(lbn).is_some() => return None,
            // A new head is no spare unit, but must not take the reserve either.
            Place::Head => u32::MAX,
            Place::NewUnit => self.chains.free_blocks(),
        };
        let longest = self.settings.max_chain.0.unwrap_or(u32::MAX);
        if place == Place::NewUnit && self.chains.length(lbn) >= longest {
            return Some((lbn, 0));
        }
        let reserved = self.base.engine.supply.free_blocks() <= self.settings.reserve;
        let looked_at = match self.settings.victim {
            ChainVictim::Longest => self.chains.chains(),
            ChainVictim::Lru => 1,
        };
        let victim = (spare == 0 || reserved).then(|| self.chains.victim(self.settings.victim));
        Some((victim.flatten()?, looked_at))
    }

    /// Writes a page to a replacement block.
    fn program(
        &mut self,
        board: &mut Board,
        slot: Ppn,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        let old = engine.newest(board.nand(), io.lpn);
        let (block, offset) = (board.geometry().block_of(slot), board.geometry().offset_of(slot));
        let padded = engine.pad_to(board, block, offset, after);
        let written =
            padded.and_then(|start| board.program_update(slot, old, io, PageKind::Log, start));
        match written {
            Ok(done) => {
                // The chain's order says which copy is the newest: no mark.
                if let Some(old) = old {
                    board.nand_mut().discard(old);
                }
                engine.logs.set(io.lpn, slot);
                Ok(done)
            }
            Err(failed @ Fault::ProgramFailed { .. }) => {
                board.event(Event::ProgramFailures, 1);
                Err(failed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Adds a unit to the chain and writes the page there.
    fn add_unit(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        let plane = lbn.plane(board.geometry());
        let (block, ready) = self.base.engine.supply.take(board, plane, Need::Growth, after)?;
        self.chains.append(lbn, block);
        board.level(Level::LongestChain, u64::from(self.chains.longest()));
        let first = if self.settings.mode == ReplacementMode::Append { 0 } else { offset };
        let slot = board.geometry().page(block, first);
        self.program(board, slot, io, ready)
    }

    /// Live pages of a logical block that the last unit would have to take beside the host page
    /// `insert`; `None` if it cannot.
    fn missing_in(
        &self,
        board: &Board,
        (lbn, last): (Lbn, BlockId),
        insert: Option<&PageIo>,
    ) -> Option<u32> {
        let (nand, geometry) = (board.nand(), board.geometry());
        let mut missing = 0;
        for offset in 0..geometry.pages_per_block {
            let lpn = lbn.page(geometry, offset);
            let slot = geometry.page(last, offset);
            let free = accepts(nand, self.order, slot);
            match self.base.engine.newest(nand, lpn) {
                _ if insert.is_some_and(|io| io.lpn == lpn) => {
                    free.then_some(())?;
                }
                None => {}
                Some(newest) if newest == slot => {}
                // Appended: it lies in the last unit, but not at its place.
                Some(newest) if geometry.block_of(newest) == last => return None,
                Some(_) if free => missing += 1,
                Some(_) => return None,
            }
        }
        Some(missing)
    }

    /// Folds a chain: one unit holds every live page afterwards, and the host page `insert` at its
    /// place; the others are erased.
    #[cold]
    fn fold(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        let last = self.chains.last(lbn).expect("a chain to fold has a replacement block");
        let replacements = u64::from(self.chains.length(lbn));
        let copies = self.missing_in(board, (lbn, last), insert);
        let engine = &mut self.base.engine;
        let mut folded = Err(after);
        if let Some(copies) = copies {
            folded = match engine.complete(board, (lbn, last, 0..0), insert, after) {
                Ok(done) => Ok((done, copies)),
                Err(Fault::ProgramFailed { known, .. }) => Err(known),
                Err(fault) => return Err(fault),
            };
        }
        let (kept, mut done) = match folded {
            // In place: the last unit is the head.
            Ok((done, copies)) => {
                board.event(Event::FoldsInPlace, 1);
                if copies == 0 {
                    board.merge_switch()
                } else {
                    board.merge_partial()
                }
                (Some(last), done)
            }
            // Out of place.
            Err(from) => {
                let done = engine.rebuild(board, lbn, insert, Sources::Newest, from)?;
                board.event(Event::FoldsOutOfPlace, 1);
                board.merge_full(1);
                (None, done)
            }
        };
        board.event(Event::FoldedReplacements, replacements);
        board.event(length_of_folded(replacements), 1);
        let mut unit = self.chains.dissolve(lbn);
        board.level(Level::LongestChain, u64::from(self.chains.longest()));
        while let Some(block) = unit {
            unit = self.chains.behind(block);
            if kept != Some(block) {
                done = done.join(self.base.engine.release_log(board, block, done)?);
            }
        }
        Ok(done)
    }

    /// Takes over the units found after a power cut.
    fn take_over(&mut self, board: &mut Board, mut units: Vec<Survivor>) {
        units.sort_by_key(|unit| unit.oldest);
        let fixed = self.settings.mode == ReplacementMode::OffsetFixed;
        let longest = self.settings.max_chain.0.unwrap_or(u32::MAX);
        let chains = &mut self.chains;
        self.base.hand_over(board, &units, |_, unit| {
            let owner = if fixed { unit.home } else { unit.owner };
            let takes = |lbn: &Lbn| chains.free_blocks() > 0 && chains.length(*lbn) < longest;
            owner.filter(takes).map(|lbn| chains.append(lbn, unit.block)).is_some()
        });
        board.level(Level::LongestChain, u64::from(self.chains.longest()));
    }
}
