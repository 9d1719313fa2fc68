//! The content of the flash as data: to be saved, and to be put onto an erased device before its
//! scheme recovers from it as after a power cut.
//!
//! What this is not: an operation. Nothing here takes time or is counted.

use super::cell_mode::CellMode;
use super::state::{Oob, OobRead, PageKind};
use super::{Nand, Payload};
use crate::board::when::When;
use crate::units::{BlockId, Ppn, Tag};

/// A page as it lies on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredPage<'a> {
    /// Erased.
    Free,
    /// Unreadable, out-of-band area and all: a program that failed or did not finish.
    Torn,
    /// Host data, or a pad.
    Data {
        /// The out-of-band area.
        oob: Oob,
        /// The version.
        tag: Tag,
        /// Sectors that hold data; all of them where the device keeps no account.
        sectors: u64,
        /// Whether no retry brings the data back.
        unreadable: bool,
    },
    /// Parity of a stripe.
    Parity {
        /// The out-of-band area.
        oob: Oob,
        /// What tells the pages that it covers apart.
        parity: u32,
    },
    /// A page of a map, a checkpoint or a trim record; its words, unless it was superseded.
    Words {
        /// The out-of-band area.
        oob: Oob,
        /// What it holds, at most the entries of a page.
        words: Option<&'a [u32]>,
    },
}

/// What a block is known by besides its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBlock {
    /// Erases since the device was built.
    pub erases: u32,
    /// Whether a failed program made it read-only.
    pub read_only: bool,
    /// Whether it is out of use.
    pub retired: bool,
    /// Whether an interrupted erase left it undefined.
    pub undefined: bool,
    /// Whether it is used with one bit a cell.
    pub slc: bool,
    /// Those of its erases that ended SLC mode.
    pub slc_erases: u32,
}

impl Nand {
    /// A page as it lies on flash.
    pub fn stored_page(&self, ppn: Ppn) -> StoredPage<'_> {
        match self.state.oob(ppn) {
            OobRead::Free => StoredPage::Free,
            OobRead::Torn => StoredPage::Torn,
            OobRead::Written(oob) if oob.kind.holds_words() => {
                let words = self.has_payload(ppn).then(|| self.payload(ppn));
                StoredPage::Words { oob, words }
            }
            OobRead::Written(oob) if oob.kind == PageKind::Parity => {
                StoredPage::Parity { oob, parity: self.state.tag(ppn).0 }
            }
            OobRead::Written(oob) => StoredPage::Data {
                oob,
                tag: self.state.tag(ppn),
                sectors: self.state.mask(ppn),
                unreadable: self.state.is_unreadable(ppn),
            },
        }
    }

    /// What a block is known by besides its pages.
    pub fn stored_block(&self, block: BlockId) -> StoredBlock {
        let known = self.state.block(block);
        StoredBlock {
            erases: known.erases,
            read_only: known.read_only,
            retired: known.retired,
            undefined: known.undefined,
            slc: self.modes.of(block) == CellMode::Slc,
            slc_erases: self.modes.slc_erases(block).0,
        }
    }

    /// Puts a page onto a device on which nothing was programmed; pages of a block from the first
    /// on. What it holds counts as valid until the scheme recovers.
    ///
    /// # Errors
    /// When the device has no such page, it is taken, its number is none of the device's, or more
    /// words would be held than the scheme ever keeps alive. The error says which.
    pub fn restore_page(&mut self, ppn: Ppn, page: StoredPage<'_>) -> Result<(), String> {
        if page == StoredPage::Free {
            return Ok(());
        }
        if ppn.0 >= self.geometry.pages() || !self.state.is_free(ppn) {
            return Err(format!("page {ppn} is beyond the device, or there twice"));
        }
        // How old it was nobody says: it counts as programmed when it was put here.
        self.cells_programmed(ppn, When::START);
        match page {
            StoredPage::Free => {}
            StoredPage::Torn => self.state.store_torn(ppn),
            StoredPage::Data { oob, tag, sectors, unreadable } => {
                let is_other = oob.kind.holds_words() || oob.kind == PageKind::Parity;
                if is_other || oob.logical >= self.geometry.logical_pages {
                    return Err(format!("page {ppn} cannot be {oob:?}"));
                }
                self.advance_to(ppn, oob)?;
                self.state.store(ppn, oob, tag.0);
                self.state.set_mask(ppn, sectors);
                if unreadable {
                    self.state.set_unreadable(ppn);
                }
            }
            StoredPage::Parity { oob, parity } => {
                let Some(rain) = &mut self.rain else {
                    return Err(format!("page {ppn} is parity, and rain.stripe = 0"));
                };
                rain.is_put_back();
                if oob.kind != PageKind::Parity || oob.logical > 64 {
                    return Err(format!("page {ppn} cannot be {oob:?}"));
                }
                self.advance_to(ppn, oob)?;
                self.state.store(ppn, oob, parity);
            }
            StoredPage::Words { oob, words } => {
                let entries = self.geometry.entries_per_page() as usize;
                let fits = words.is_none_or(|words| words.len() <= entries);
                if !oob.kind.holds_words() || oob.logical >= self.geometry.logical_pages || !fits {
                    return Err(format!("page {ppn} cannot be {oob:?}"));
                }
                if words.is_some() && self.payloads.are_full() {
                    return Err(format!("page {ppn} is one map page more than the scheme keeps"));
                }
                self.advance_to(ppn, oob)?;
                let slot = words.map(|words| self.fill_slot(Payload::Words(words), false).0 + 1);
                self.state.store(ppn, oob, slot.unwrap_or(0));
                if slot.is_some() {
                    self.state.note_payload(self.geometry.block_of(ppn));
                }
            }
        }
        Ok(())
    }

    /// Puts what a block is known by besides its pages.
    ///
    /// # Errors
    /// When the device has no such block, or one that was bad from the start is not retired.
    pub fn restore_block(&mut self, block: BlockId, stored: StoredBlock) -> Result<(), String> {
        if block.0 >= self.geometry.blocks() {
            return Err(format!("block {block} is beyond the device"));
        }
        if (stored.slc || stored.slc_erases > 0) && !self.modes.are_there() {
            return Err(format!("block {block} was used with one bit of several; cells have one"));
        }
        if stored.slc_erases > stored.erases {
            return Err(format!("block {block} was erased less often than in SLC mode alone"));
        }
        let known = self.state.block_mut(block);
        if known.retired && !stored.retired {
            return Err(format!("block {block} is bad from the start, but holds something"));
        }
        if stored.retired && !known.retired {
            self.retired += 1;
        }
        known.erases = stored.erases;
        known.read_only = stored.read_only;
        known.retired = stored.retired;
        known.undefined = stored.undefined;
        known.touched |= stored.erases > 0;
        let mode = if stored.slc { CellMode::Slc } else { CellMode::Dense };
        self.modes.restore(block, mode, stored.slc_erases);
        self.clock.set_slc(block, stored.slc);
        Ok(())
    }

    /// Programs go on behind the highest sequence number.
    fn advance_to(&mut self, ppn: Ppn, oob: Oob) -> Result<(), String> {
        const LIMIT: u64 = 1 << 60;
        if oob.sequence == 0 || oob.sequence >= LIMIT {
            return Err(format!("page {ppn} cannot have the sequence number {}", oob.sequence));
        }
        self.sequence = self.sequence.max(oob.sequence);
        Ok(())
    }
}
