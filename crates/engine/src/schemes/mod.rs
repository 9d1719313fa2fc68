//! The schemes: what every one of them must do, and THE table of those that exist.
//!
//! A new scheme is one file beside this one, its `mod` line and its row in the table. Names on the
//! command line, in results and in tests come from the table.

pub mod adapt;
pub mod aps;
pub mod bast;
pub mod block;
pub mod cdftl;
pub mod cftl;
pub mod dac;
pub mod dftl;
pub mod fast;
pub mod faster;
pub(crate) mod forward;
pub mod hat;
pub mod hmb;
pub mod ideal_page;
pub mod janus;
pub mod jtl;
pub mod kast;
pub mod last;
pub mod lazyftl;
pub mod mast;
pub mod nk;
pub mod replacement_block;
pub mod sftl;
pub mod superblock;
pub mod tpftl;
pub mod treeftl;
pub mod treeftl_page_lru;
pub mod waftl;

use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::when::When;
use crate::buffer::{self, BufferKind};
use crate::config::{Config, Group, SettingError, nearest};
use crate::request::PageIo;
use crate::ssd::{Device, Ssd};
use crate::units::{Lpn, Ppn, Tag};

/// Settings as key and value.
pub type Pairs = &'static [(&'static str, &'static str)];

/// A named set of settings.
pub type Preset = (&'static str, Pairs);

/// Where a scheme comes from and what it is.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Name in the table.
    pub name: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Its authors.
    pub authors: &'static str,
    /// Where it was published.
    pub venue: &'static str,
    /// When.
    pub year: u32,
    /// Sections that are implemented.
    pub sections: &'static str,
    /// Where the implementation departs from it, and why.
    pub deviations: &'static [&'static str],
    /// Its family.
    pub family: Family,
    /// How it appears in a classification such as DFTL 2014, Table 1.
    pub class: Classification,
}

crate::choices! {
    /// Families of schemes.
    pub enum Family {
        /// The whole page table in memory.
        Page = "page",
        /// Blocks are mapped as a whole.
        Block = "block",
        /// Blocks are mapped as a whole, updates go to page-mapped log blocks.
        LogBlock = "log_block",
        /// The page table is on flash, a part of it cached.
        CachedMap = "cached_map",
        /// Map and data share the memory.
        RamManaging = "ram_managing",
    }
}

impl Family {
    /// Whether the family's data blocks hold a page at the offset that its number gives, so that
    /// pages of one flash page need not be written one after another.
    pub fn programs_at_fixed_offsets(self) -> bool {
        matches!(self, Family::Block | Family::LogBlock)
    }
}

/// A row of DFTL 2014, Table 1.
#[derive(Clone, Copy, Debug)]
pub struct Classification {
    /// Block, hybrid or page.
    pub kind: &'static str,
    /// What one map entry covers.
    pub granularity: &'static str,
    /// How the update blocks are divided.
    pub update_blocks: &'static str,
    /// Data blocks to update blocks.
    pub associativity: &'static str,
    /// Whether full merges happen.
    pub full_merge: bool,
}

/// A memory that a structure lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// SRAM of the controller: what `--ram` bounds.
    Sram,
    /// DRAM beside the controller.
    Dram,
    /// Phase-change memory.
    Pcm,
    /// Memory of the host.
    Host,
}

impl Memory {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Memory::Sram => "sram",
            Memory::Dram => "dram",
            Memory::Pcm => "pcm",
            Memory::Host => "host",
        }
    }
}

/// Bytes of one structure of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamUse {
    /// The structure.
    pub structure: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where it lives.
    pub memory: Memory,
}

/// Structures in DRAM that belong to this implementation: they make reclaiming, trims and recovery
/// possible or fast, and no paper has them there.
const AIDS: &[&str] = &["valid_counts", "valid_bitmap", "trim_records", "checkpoint_buffer"];

impl RamUse {
    /// Whether DRAM is refreshed for this structure: it is there, and it is the scheme's own.
    pub fn is_refreshed(&self) -> bool {
        self.memory == Memory::Dram && self.bytes > 0 && !AIDS.contains(&self.structure)
    }
}

/// Where the newest version of a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// On flash.
    Flash(Ppn),
    /// In memory, in this version.
    Ram(Tag),
    /// Nowhere: never written, or trimmed.
    Nowhere,
}

/// What the audit cannot see from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Valid pages on flash that hold superseded host data (schemes that invalidate late).
    pub stale_pages: u64,
    /// Host pages whose newest version is in memory.
    pub ram_pages: u64,
}

/// Free blocks and what they are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Free blocks (log schemes: free log blocks), in the plane with fewest.
    pub free_blocks: u32,
    /// Reclaiming starts below this many.
    pub threshold: u32,
}

/// A flash translation layer.
///
/// It decides where pages go and when blocks are reclaimed. It never counts, computes time,
/// allocates memory after [`Scheme::format`], or asks which clock or buffer is in use.
pub trait Scheme: Sized + 'static {
    /// Where it comes from.
    const PAPER: Paper;
    /// Named sets of settings, so that `--scheme dftl:gtd` works: name, then key and value.
    const PRESETS: &'static [Preset] = &[];
    /// Whether it buffers the host's data itself: then no buffer has a place in front of it.
    const BUFFERS_DATA: bool = false;
    /// Whether idle gaps are used whatever `gc.mode` says.
    fn works_in_gaps(_config: &Config) -> bool {
        false
    }

    /// What outlives a power cut besides the flash; `()` for most.
    type Survivor: Clone;

    /// The scheme that it stands on as a whole, whose settings are its own as well.
    fn stands_on(_config: &Config) -> Option<&'static str> {
        None
    }
    /// Legality of the settings for this scheme beyond what each key checks.
    fn check(_config: &Config) -> Result<(), SettingError> {
        Ok(())
    }
    /// Physical blocks that it needs for the logical capacity of `config`.
    fn minimum_blocks(config: &Config) -> u64;
    /// Most map, checkpoint and trim-record pages that are alive at once.
    fn payload_pages(config: &Config) -> u64;
    /// Bytes by structure, known before any run.
    fn ram_use(config: &Config) -> Vec<RamUse>;

    /// Starts on an erased device.
    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault>;
    /// Reads one page: when it is there, and the version found.
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault>;
    /// Writes one page.
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault>;
    /// Forgets one page.
    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault>;
    /// What is left to do behind a request (of the host, or of a buffer in a gap) that is done at
    /// `done`: nobody waits for it but who needs the same flash afterwards.
    fn behind_request(&mut self, _board: &mut Board, _done: When) -> Result<(), Fault> {
        Ok(())
    }
    /// Makes everything that completed durable.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault>;
    /// One bounded step of work in an idle gap; `None` when there is nothing to do.
    fn idle(&mut self, _board: &mut Board, _after: When) -> Result<Option<When>, Fault> {
        Ok(None)
    }

    /// Whether the scheme's own structures agree with the flash; the audit asks.
    fn self_check(&self, _board: &Board) -> Result<(), String> {
        Ok(())
    }
    /// Where a page is; changes nothing and costs nothing.
    fn locate(&self, board: &Board, lpn: Lpn) -> Location;
    /// What the audit must allow for.
    fn unsettled(&self, _board: &Board) -> Unsettled {
        Unsettled::default()
    }
    /// Free blocks and threshold, for the warning that nothing was reclaimed.
    fn room(&self) -> Room;

    /// What it keeps in phase-change memory, word by word: part of what outlives a power cut, and
    /// of a snapshot. Empty for most.
    fn pcm(&self) -> &[u32] {
        &[]
    }
    /// The same, to be put back before the scheme recovers.
    fn pcm_mut(&mut self) -> &mut [u32] {
        &mut []
    }

    /// The power goes: what is left of the scheme's memory.
    fn power_off(self) -> Self::Survivor;
    /// Starts from what flash holds, and from what survived.
    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Self::Survivor,
        after: When,
    ) -> Result<(Self, When), Fault>;
}

macro_rules! scheme_table {
    ($( $name:ident => $scheme:path, $settings:path; )*) => {
        /// Settings of every scheme in the table.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct SchemeSettings {
            $(
                #[doc = concat!("Settings of `", stringify!($name), "`.")]
                pub $name: $settings,
            )*
        }

        impl SchemeSettings {
            pub(crate) fn groups(&self) -> Vec<(&'static str, &dyn Group)> {
                vec![ $( (stringify!($name), &self.$name as &dyn Group), )* ]
            }

            pub(crate) fn group_mut(&mut self, name: &str) -> Option<&mut dyn Group> {
                match name {
                    $( stringify!($name) => Some(&mut self.$name), )*
                    _ => None,
                }
            }
        }

        /// Every scheme, in the order of the table.
        pub const TABLE: &[Row] = &[ $( Row {
            paper: <$scheme as Scheme>::PAPER,
            presets: <$scheme as Scheme>::PRESETS,
            stands_on: <$scheme as Scheme>::stands_on,
            check: check::<$scheme>,
            minimum_blocks: <$scheme as Scheme>::minimum_blocks,
            ram_use: ram_use::<$scheme>,
            buffers_data: <$scheme as Scheme>::BUFFERS_DATA,
            open: open_device::<$scheme>,
        }, )* ];

        /// Runs `$body` once for every scheme of the table, as the type `S`.
        #[macro_export]
        macro_rules! for_each_scheme {
            ($S:ident => $body:block) => {{
                $( { type $S = $crate::schemes::$name::Rostered; $body } )*
            }};
        }
    };
}

/// Builds a formatted device from settings and a seed.
pub type OpenDevice = fn(&Config, u64) -> Result<Box<dyn Device>, SettingError>;

/// One scheme of the table, behind functions.
#[derive(Clone, Copy)]
pub struct Row {
    /// Where it comes from.
    pub paper: Paper,
    /// Named sets of settings.
    pub presets: &'static [Preset],
    /// The scheme that it stands on as a whole.
    pub stands_on: fn(&Config) -> Option<&'static str>,
    /// Legality of the settings.
    pub check: fn(&Config) -> Result<(), SettingError>,
    /// Physical blocks that it needs.
    pub minimum_blocks: fn(&Config) -> u64,
    /// Bytes by structure.
    pub ram_use: fn(&Config) -> Vec<RamUse>,
    /// Whether it buffers the host's data itself.
    pub buffers_data: bool,
    /// Builds a formatted device.
    pub open: OpenDevice,
}

impl Row {
    /// Whether the settings of the scheme `group` have an effect here: its own, or those of what it
    /// stands on, which may stand on another one.
    pub fn reads(&self, config: &Config, group: &str) -> bool {
        let below = (self.stands_on)(config).and_then(|name| find(name).ok());
        self.paper.name == group || below.is_some_and(|(row, _)| row.reads(config, group))
    }
}

/// Legality of the settings for a scheme, with whatever is in front of it.
pub(crate) fn check<S: Scheme>(config: &Config) -> Result<(), SettingError> {
    let buffer = config.buffer.name;
    if S::BUFFERS_DATA && buffer != BufferKind::None {
        let name = S::PAPER.name;
        return Err(SettingError::Conflict(format!(
            "{name} keeps the host's data in its own memory, so a buffer in front of it would hold \
             the same pages twice: buffer.name = {} (--buffer) must be none",
            buffer.name()
        )));
    }
    S::check(config)
}

/// Bytes by structure of a scheme and of the buffer in front of it.
fn ram_use<S: Scheme>(config: &Config) -> Vec<RamUse> {
    let mut structures = S::ram_use(config);
    structures.extend(buffer::ram_use(config));
    structures
}

fn open_device<S: Scheme>(config: &Config, seed: u64) -> Result<Box<dyn Device>, SettingError> {
    Ok(Box::new(Ssd::<S>::new(config, seed)?))
}

scheme_table! {
    ideal_page => ideal_page::IdealPage, ideal_page::IdealPageSettings;
    block => block::Block, block::BlockSettings;
    replacement_block =>
        replacement_block::ReplacementBlock, replacement_block::ReplacementBlockSettings;
    bast => bast::Bast, bast::BastSettings;
    fast => fast::Fast, fast::FastSettings;
    faster => faster::Faster, faster::FasterSettings;
    superblock => superblock::Superblock, superblock::SuperblockSettings;
    last => last::Last, last::LastSettings;
    kast => kast::Kast, kast::KastSettings;
    mast => mast::Mast, mast::MastSettings;
    nk => nk::Nk, nk::NkSettings;
    waftl => waftl::Waftl, waftl::WaftlSettings;
    adapt => adapt::Adapt, adapt::settings::AdaptSettings;
    dftl => dftl::Dftl, dftl::DftlSettings;
    cdftl => cdftl::Cdftl, cdftl::CdftlSettings;
    dac => dac::Dac, dac::DacSettings;
    lazyftl => lazyftl::LazyFtl, lazyftl::LazyFtlSettings;
    cftl => cftl::Cftl, cftl::CftlSettings;
    janus => janus::Janus, janus::JanusSettings;
    hat => hat::Hat, hat::HatSettings;
    treeftl => treeftl::TreeFtl, treeftl::TreeftlSettings;
    treeftl_page_lru => treeftl_page_lru::TreePl, treeftl_page_lru::TreeftlPageLruSettings;
    aps => aps::Aps, aps::ApsSettings;
    jtl => jtl::Jtl, jtl::JtlSettings;
    hmb => hmb::Hmb, hmb::HmbSettings;
    tpftl => tpftl::Tpftl, tpftl::TpftlSettings;
    sftl => sftl::Sftl, sftl::SftlSettings;
}

/// The row of a scheme, and the settings of its preset, from `name` or `name:preset`.
pub fn find(name: &str) -> Result<(&'static Row, Pairs), SettingError> {
    let (base, preset) = name.split_once(':').map_or((name, None), |(b, p)| (b, Some(p)));
    let unknown = |legal: Vec<&str>, word: &str| SettingError::BadValue {
        key: "scheme".to_string(),
        value: name.to_string(),
        legal: match nearest(word, legal.iter().copied()) {
            Some(near) => format!("{} (nearest: {near})", legal.join(", ")),
            None => legal.join(", "),
        },
    };
    let names = || TABLE.iter().map(|row| row.paper.name).collect::<Vec<_>>();
    let row =
        TABLE.iter().find(|row| row.paper.name == base).ok_or_else(|| unknown(names(), base))?;
    let Some(preset) = preset else {
        return Ok((row, &[]));
    };
    let known = row.presets.iter().find(|(name, _)| *name == preset);
    known.map(|(_, settings)| (row, *settings)).ok_or_else(|| {
        let presets: Vec<&str> = row.presets.iter().map(|(name, _)| *name).collect();
        unknown(presets, preset)
    })
}
