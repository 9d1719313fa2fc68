//! What a scheme is: where it comes from, what it sees of the settings, and what it must do.

use std::ops::{Deref, DerefMut};

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::{Group, Groups, SettingError};
use ftlab_flash::units::{Lpn, Ppn, Tag};

use crate::answers::{Location, Room, Unsettled};
use crate::settings::SharedSettings;

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

choices! {
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

impl Classification {
    /// Pages lie anywhere, and every data block takes updates.
    pub const PAGES: Classification = Classification {
        kind: "page",
        granularity: "page",
        update_blocks: "all data blocks",
        associativity: "N:N",
        full_merge: false,
    };

    /// Data blocks mapped as a whole, and log blocks mapped by pages for their updates: which ones,
    /// and how many data blocks share how many of them.
    pub const fn with_log(update_blocks: &'static str, associativity: &'static str) -> Self {
        Classification {
            kind: "hybrid",
            granularity: "data blocks by block, log blocks by page",
            update_blocks,
            associativity,
            full_merge: true,
        }
    }
}

/// What a scheme sees of the settings: the groups that all share, read as if they were its own
/// (`config.device`, `config.gc`), and its own ([`Scheme::Settings`]). Those of other schemes, of
/// the host and of a buffer in front of it are out of its sight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemeConfig<Own> {
    /// What every scheme sees.
    pub shared: SharedSettings,
    /// What only this one sees.
    pub own: Own,
}

impl<Own> SchemeConfig<Own> {
    /// The same device under a scheme that this one stands on, with settings that are a part of its
    /// own.
    pub fn part<Below: Clone>(&self, of: impl Fn(&Own) -> &Below) -> SchemeConfig<Below> {
        SchemeConfig { shared: self.shared.clone(), own: of(&self.own).clone() }
    }
}

impl<Own> Deref for SchemeConfig<Own> {
    type Target = SharedSettings;

    fn deref(&self) -> &SharedSettings {
        &self.shared
    }
}

impl<Own> DerefMut for SchemeConfig<Own> {
    fn deref_mut(&mut self) -> &mut SharedSettings {
        &mut self.shared
    }
}

impl<Own: Group> Groups for SchemeConfig<Own> {
    fn groups(&self) -> Vec<&dyn Group> {
        let mut groups = self.shared.groups();
        groups.push(&self.own);
        groups
    }

    fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
        let mut groups = self.shared.groups_mut();
        groups.push(&mut self.own);
        groups
    }
}

/// Requests of any scheme whose pages are looked at together, at most ([`Scheme::AHEAD`]).
pub const MOST_AHEAD: usize = 8;

/// A flash translation layer.
///
/// It decides where pages go and when blocks are reclaimed. It never counts, computes time,
/// allocates memory after [`Scheme::format`], or asks which clock or buffer is in use. It is plain
/// data, so that a device can be duplicated.
pub trait Scheme: Clone + Send + Sync + 'static {
    /// Where it comes from.
    const PAPER: Paper;
    /// Named sets of settings, so that `--scheme dftl:gtd` works: name, then key and value.
    const PRESETS: &'static [Preset] = &[];
    /// Whether it buffers the host's data itself: then no buffer has a place in front of it.
    const BUFFERS_DATA: bool = false;
    /// Whether what completed outlives the power although it was not flushed, if no buffer held it.
    /// Not so where what is written may be found on flash, and that is noted there later.
    const KEEPS_WRITES: bool = !Self::BUFFERS_DATA;
    /// Whether a placement policy or an SLC cache can say where the host's pages go: it maps pages,
    /// fills every block from front to back, and leaves it to page space which it fills.
    const DIVIDES_DATA: bool = false;
    /// Whether it looks at what pages hold: then writes of equal contents come with equal versions
    /// ([`PageIo::data`]), where the workload says what is written.
    const READS_CONTENT: bool = false;
    /// Whether the host has the map: then nothing that holds its pages has a place in the drive, in
    /// front of it, and a trim is the host's: what crosses the link for it the scheme sends.
    const MAPS_IN_HOST: bool = false;
    /// Most pages that the host copies at once beside what requests ask for; 0: none.
    fn host_copies(_config: &SchemeConfig<Self::Settings>) -> u32 {
        0
    }
    /// Whether idle gaps are used whatever `gc.mode` says.
    fn works_in_gaps(_config: &SchemeConfig<Self::Settings>) -> bool {
        false
    }

    /// Its settings: its own group; where it stands on other schemes, theirs as well.
    type Settings: Clone + Send + Sync + 'static;
    /// What outlives a power cut besides the flash; `()` for most.
    type Survivor: Clone + Send + Sync;

    /// The scheme that it stands on as a whole, whose settings are its own as well.
    fn stands_on(_config: &SchemeConfig<Self::Settings>) -> Option<&'static str> {
        None
    }
    /// Legality of the settings for this scheme beyond what each key checks.
    fn check(_config: &SchemeConfig<Self::Settings>) -> Result<(), SettingError> {
        Ok(())
    }
    /// Physical blocks that it needs for the logical capacity of `config`.
    fn minimum_blocks(config: &SchemeConfig<Self::Settings>) -> u64;
    /// Most map, checkpoint and trim-record pages that are alive at once.
    fn payload_pages(config: &SchemeConfig<Self::Settings>) -> u64;
    /// Bytes by structure, known before any run.
    fn ram_use(config: &SchemeConfig<Self::Settings>) -> Vec<RamUse>;

    /// Starts on an erased device.
    fn format(
        board: &mut Board,
        config: &SchemeConfig<Self::Settings>,
        seed: u64,
    ) -> Result<Self, Fault>;
    /// Reads one page: when it is there, and the version found.
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault>;
    /// Writes one page.
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault>;
    /// Whether [`Scheme::write_alike`] ever does anything.
    const WRITES_ALIKE: bool = false;
    /// Whether it does so on one server alone, whose [`Board::present`] is when the page is written:
    /// what its map takes goes on beside the flash. [`Scheme::write_alike`] is then asked only where
    /// [`Board::serves_at_once`].
    const ALIKE_ON_ONE_SERVER: bool = false;
    /// Writes one page as [`Scheme::write`] does, but for the time, and says where: nothing is due
    /// that anybody waits for but what every such write does, a program and what [`Board::dram`]
    /// takes for its map, so that the device can tell its time. None, with nothing done, where it is
    /// not so. Asked only where [`Board::writes_alike`] or [`Board::writes_by_cells`], of requests of
    /// a single page, behind which nothing is left to do.
    fn write_alike(&mut self, _board: &mut Board, _io: &PageIo) -> Option<Ppn> {
        None
    }
    /// Whether it would, of a page like this.
    fn would_write_alike(&self, _board: &Board, _lpn: Lpn) -> bool {
        false
    }
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

    /// Moves a block whose data cannot wait for a gap, if one can be moved, and does nothing else:
    /// one step. Of schemes that leave their blocks to page space ([`Scheme::DIVIDES_DATA`]).
    fn refresh_at_once(&mut self, _board: &mut Board, _after: When) -> Result<Option<When>, Fault> {
        Ok(None)
    }

    /// Whether the scheme's own structures agree with the flash; the audit asks.
    fn self_check(&self, _board: &Board) -> Result<(), String> {
        Ok(())
    }
    /// Why [`Scheme::clean_map`] leaves entries in memory that the map does not say where it lies;
    /// none for schemes that keep no such entries, or write all of them.
    fn uncleanable(_config: &SchemeConfig<Self::Settings>) -> Option<&'static str> {
        None
    }
    /// Map entries that memory has changed and that are not written to where the map lies.
    fn changed_entries(&self) -> u64 {
        0
    }
    /// Writes them; what is cached stays cached.
    fn clean_map(&mut self, _board: &mut Board, after: When) -> Result<When, Fault> {
        Ok(after)
    }

    /// What came before was preparation: what a scheme observes of its workload may begin anew
    /// here, where its settings say so. Flash, maps and caches stay.
    fn measuring_begins(&mut self, _board: &mut Board) {}

    /// Where a page is; changes nothing and costs nothing.
    fn locate(&self, board: &Board, lpn: Lpn) -> Location;
    /// Requests whose pages are looked at together before they are served, at most [`MOST_AHEAD`]:
    /// as many as a core waits for at a time, and few enough that what is found for one is still at
    /// hand when the last of them is served.
    const AHEAD: usize = MOST_AHEAD;
    /// Where a page probably is on flash, for [`Scheme::glance_at`]: looks at what serving a request
    /// of the page begins with, so that it is at hand then, and may be wrong.
    #[inline]
    fn find_ahead(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        match self.locate(board, lpn) {
            Location::Flash(ppn) => Some(ppn),
            _ => None,
        }
    }
    /// Looks at what changes when this page dies, so that it is at hand. What is seen means nothing.
    /// Whose victims are in a page space, and whose requests are short, hands it on to that.
    #[inline]
    fn glance_at(&self, board: &Board, ppn: Ppn) -> u32 {
        board.nand().state().glance_at(ppn).1
    }
    /// Looks at what so many requests to come may change beside their own pages, as
    /// [`Scheme::glance_at`] does.
    #[inline]
    fn glance_ahead(&self, _board: &Board, _requests: usize) -> u32 {
        0
    }
    /// The page whose data a page of flash holds that was written for `written_for`: another one
    /// where pages of equal content share it.
    fn holder(&self, _ppn: Ppn, written_for: Lpn) -> Lpn {
        written_for
    }
    /// What the audit must allow for.
    fn unsettled(&self, _board: &Board) -> Unsettled {
        Unsettled::default()
    }
    /// Free blocks and threshold, for the warning that nothing was reclaimed.
    fn room(&self) -> Room;

    /// What it keeps in phase-change memory or in memory with a battery, word by word: part of what
    /// outlives a power cut, and of a snapshot. Empty for most.
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
        config: &SchemeConfig<Self::Settings>,
        seed: u64,
        survivor: Self::Survivor,
        after: When,
    ) -> Result<(Self, When), Fault>;
}

#[cfg(test)]
mod tests;
