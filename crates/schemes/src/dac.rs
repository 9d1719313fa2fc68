//! # Idea
//! DFTL's idea for a map of blocks, on devices so large that even that is too much for memory: the
//! block table lies on flash, and memory holds single entries of it over whole map pages. Below it
//! any block-mapped scheme.
//!
//! # Paper
//! Qin, Wang, Liu, Shao: Demand-Based Block-Level Address Mapping in Large-Scale NAND Flash Storage
//! Systems, CODES+ISSS 2010; as its abstract and `docs/papers/others.md#dac` tell it.
//!
//! # Structures
//! Map pages of E entries (E = page bytes / 4), each the data block of a logical block; a directory
//! of them in memory. Level 1: `dac.l1_entries` single entries, the least recently used leaves.
//! Level 2: two caches of map pages, one for spatial locality (`dac.spatial_pages`, the least
//! recently used leaves) and one for frequency (`dac.freq_pages`, the least frequently used
//! leaves). All of it is `parts::block_map_cache`. The data blocks and their updates are the base's
//! (`dac.base`), with its settings: `replacement_block.*` or `bast.*`.
//!
//! # Read
//! Translate: level 1; else level 2, spatial, then frequency, and the entry is copied to level 1;
//! else the map page is read and enters the spatial cache. Then as the base, from the data block
//! on. Over BAST a page in a log block is not translated: the list of its pages, in memory, says
//! where it is.
//!
//! # Write
//! Translate, then as the base. A first data block, and every merge, changes an entry in level 1
//! alone; the flash learns of it when the entry or its page leaves.
//!
//! # Reclaim
//! A changed entry that leaves level 1 is absorbed by its map page in level 2, or else written: a
//! read and a program, the other changed entries of that page with it if `dac.batch_evict`. A
//! changed page that leaves level 2 takes what level 1 knows better along and is programmed without
//! a read. `dac.promote_hits` hits move a page from the spatial to the frequency cache. When the
//! area of the map pages is full, the block with fewest of them that count is emptied. Data: merges
//! or folds of the base; the entry of a logical block that is merged is translated like any other.
//!
//! # Recovery
//! As the base: out-of-band areas tell more than the map does. Map pages are read and corrected,
//! never believed; both levels begin empty, also under `device.ram_nonvolatile`. What cannot be
//! corrected for want of a block stays in memory, beyond its size, until it can.
//!
//! # Deviations
//! The paper was not at hand: base, thresholds and sizes are settings. A page that is promoted
//! moves, so that no page is in both caches. What else the base keeps in memory (lists of log
//! pages, links of replacement blocks) stays there, and its memory is counted. `bast.map_on_flash`,
//! a cache of its own, is refused.
//!
//! # Settings
//! Group `dac`, and the group of the base.

mod settings;
mod sizes;

pub use settings::{DacBase, DacOwn, DacSettings};

use crate::bast::Bast;
use crate::dac::settings::{Config, chains, logs};
use crate::replacement_block::ReplacementBlock;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::{Location, Room};
use ftlab_ftl::parts::block_map_cache::CacheRules;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::merge_engine::block_map::BlockMapKind;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Dac;

/// A block-mapped scheme whose block table is on flash, behind two levels of cache.
#[derive(Clone)]
pub enum Dac {
    /// Over chains of replacement blocks.
    Replacement(ReplacementBlock),
    /// Over one log block per logical block.
    Bast(Bast),
}

/// What the base does, whichever it is.
macro_rules! base {
    ($dac:expr, $base:ident => $do:expr) => {
        match $dac {
            Dac::Replacement($base) => $do,
            Dac::Bast($base) => $do,
        }
    };
}

/// The map on flash, and how much of it is in memory.
fn map(config: &Config) -> BlockMapKind {
    let DacSettings { promote_hits, batch_evict, .. } = config.own.dac;
    BlockMapKind::Cached(sizes::sizes(config), CacheRules { promote_hits, batch: batch_evict })
}

impl Scheme for Dac {
    const PAPER: Paper = Paper {
        name: "dac",
        title: "Demand-based block-level address mapping in large-scale NAND flash storage systems",
        authors: "Qin, Wang, Liu, Shao",
        venue: "CODES+ISSS",
        year: 2010,
        sections: "as its abstract tells it",
        deviations: &[
            "the paper was not at hand: the scheme below, thresholds and sizes are settings",
            "a map page that is promoted leaves the cache where it was",
            "lists of log pages and links of replacement blocks are in memory",
            "trims and their record pages are added",
        ],
        family: Family::CachedMap,
        class: Classification {
            kind: "block",
            granularity: "block",
            update_blocks: "those of the scheme below",
            associativity: "1:K or 1:1",
            full_merge: true,
        },
    };
    const PRESETS: &'static [Preset] = &[("bast", &[("dac.base", "bast")])];
    type Settings = DacOwn;
    type Survivor = ();

    fn stands_on(config: &Config) -> Option<&'static str> {
        Some(match config.own.dac.base {
            DacBase::BlockWithReplacement => ReplacementBlock::PAPER.name,
            DacBase::Bast => Bast::PAPER.name,
        })
    }

    fn check(config: &Config) -> Result<(), SettingError> {
        sizes::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        sizes::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        sizes::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        sizes::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let mut base = BlockMapped::new(board, config);
        base.map_on_flash(board, map(config));
        Ok(match config.own.dac.base {
            DacBase::BlockWithReplacement => {
                Dac::Replacement(ReplacementBlock::on(base, board, &chains(config)))
            }
            DacBase::Bast => Dac::Bast(Bast::on(base, board, &logs(config), seed)),
        })
    }

    // Look-ups and changes of the map are where the base asks its merge engine for a data block
    // (`parts::block_map`).
    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        base!(self, base => base.read(board, io, after))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        base!(self, base => base.write(board, io, after))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        base!(self, base => base.trim(board, io, after))
    }

    fn uncleanable(_: &Config) -> Option<&'static str> {
        Some("changed entries of its block map are written only when they leave")
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        base!(self, base => base.flush(board, after))
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        base!(self, base => base.self_check(board))
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        base!(self, base => base.locate(board, lpn))
    }

    fn room(&self) -> Room {
        base!(self, base => base.room())
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let map = Some(map(config));
        match config.own.dac.base {
            DacBase::BlockWithReplacement => {
                let below = chains(config);
                let how = (&below, map);
                let (base, done) = ReplacementBlock::resume(base, found, board, how, erased)?;
                Ok((Dac::Replacement(base), done))
            }
            DacBase::Bast => {
                let below = logs(config);
                let how = (&below, seed, map);
                let (base, done) = Bast::resume(base, &found, board, how, erased)?;
                Ok((Dac::Bast(base), done))
            }
        }
    }
}
