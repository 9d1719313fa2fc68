//! What policies compare candidates by, be they blocks of a plane or lines of the device.
//!
//! A line is named by its number. What it has no room for counts as taken: collecting it does not
//! gain that.

use crate::parts::line_book::LineBook;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::{BlockId, Ppn};

/// How hot the data of a candidate is: writes over age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Writes of its valid pages.
    pub writes: u64,
    /// Ages of these pages, in pages that the host wrote.
    pub ages: u64,
}

impl Heat {
    /// Of data of which nothing is known.
    pub const UNKNOWN: Heat = Heat { writes: 1, ages: 1 };
}

/// Who knows how hot data is, and has a clock of the host's writes.
pub trait Heats {
    /// Of the valid pages of a candidate.
    fn heat(&self, candidate: BlockId) -> Heat;
    /// How many pages the host has written since a candidate was full.
    fn host_age(&self, candidate: BlockId) -> u64;
}

/// What is known of candidates.
#[derive(Clone, Copy)]
pub struct Census<'a> {
    nand: &'a Nand,
    lines: Option<&'a LineBook>,
    heats: Option<&'a dyn Heats>,
}

impl<'a> Census<'a> {
    /// Of the device's blocks, or of its lines.
    #[inline]
    pub fn new(nand: &'a Nand, lines: Option<&'a LineBook>) -> Self {
        Census { nand, lines, heats: None }
    }

    /// Of the device's blocks.
    #[inline]
    pub fn of(nand: &'a Nand) -> Self {
        Census { nand, lines: None, heats: None }
    }

    /// With somebody who knows how hot data is.
    #[must_use]
    pub fn with_heats(self, heats: Option<&'a dyn Heats>) -> Self {
        Census { heats, ..self }
    }

    /// Pages of a candidate.
    #[inline]
    pub fn pages(&self) -> u32 {
        match self.lines {
            None => self.nand.geometry().pages_per_block,
            Some(lines) => lines.full(),
        }
    }

    /// Those of them that collecting it does not gain.
    #[inline]
    pub fn valid_pages(&self, candidate: BlockId) -> u32 {
        match self.lines {
            None => self.nand.valid_pages(candidate),
            Some(lines) => lines.taken(candidate),
        }
    }

    /// Programs on the device since its last one.
    #[inline]
    pub fn age(&self, candidate: BlockId) -> u32 {
        let age = |block| self.nand.state().block(block).age(self.nand.sequence());
        match self.lines {
            None => age(candidate),
            Some(lines) => lines.blocks(candidate).map(age).min().unwrap_or(0),
        }
    }

    /// Its erases: of a line those of the block that has most.
    pub fn erases(&self, candidate: BlockId) -> u32 {
        let erases = |block| self.nand.state().block(block).erases;
        match self.lines {
            None => erases(candidate),
            Some(lines) => lines.blocks(candidate).map(erases).max().unwrap_or(0),
        }
    }

    /// How hot its data is.
    pub fn heat(&self, candidate: BlockId) -> Heat {
        self.heats.map_or(Heat::UNKNOWN, |heats| heats.heat(candidate))
    }

    /// Pages that the host has written since it was full, where somebody counts them.
    pub fn host_age(&self, candidate: BlockId) -> u64 {
        self.heats.map_or(0, |heats| heats.host_age(candidate))
    }

    /// Its pages.
    pub fn pages_in(&self, candidate: BlockId) -> impl Iterator<Item = Ppn> + use<'a> {
        let nand = self.nand;
        let blocks = self.lines.map(|lines| lines.blocks(candidate));
        let alone = blocks.is_none().then_some(candidate);
        blocks.into_iter().flatten().chain(alone).flat_map(move |block| {
            let geometry = nand.geometry();
            (0..geometry.pages_per_block).map(move |offset| geometry.page(block, offset))
        })
    }

    /// The flash.
    #[inline]
    pub fn nand(&self) -> &'a Nand {
        self.nand
    }
}
