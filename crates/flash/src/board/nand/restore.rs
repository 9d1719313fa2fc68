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
                // A pad has no version; what memory keeps of one is where its words are.
                tag: if oob.kind.is_host_data() { self.state.tag(ppn) } else { Tag(0) },
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
                // That of a pad would be taken for a place of words.
                let tag = if oob.kind.is_host_data() { tag.0 } else { 0 };
                self.state.store(ppn, oob, tag);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::board::for_tests::{board, erase, write, write_words};
    use crate::board::nand::fault::CutOutcome;
    use crate::meter::Cause;

    /// 28 logical pages on eight blocks of four.
    const SMALL: [(&str, &str); 2] =
        [("device.blocks_per_plane", "8"), ("device.pages_per_block", "4")];

    fn small(pairs: &[(&str, &str)]) -> Board {
        board(&[&SMALL, pairs].concat())
    }

    fn oob(logical: u32, kind: PageKind, sequence: u64) -> Oob {
        Oob { logical, kind, sequence }
    }

    fn data(logical: u32, kind: PageKind, sequence: u64) -> StoredPage<'static> {
        let oob = oob(logical, kind, sequence);
        StoredPage::Data { oob, tag: Tag(9), sectors: u64::MAX, unreadable: false }
    }

    /// Why a page cannot be put there; empty where it can.
    fn put(board: &mut Board, page: u32, stored: StoredPage<'_>) -> String {
        board.nand_mut().restore_page(Ppn(page), stored).err().unwrap_or_default()
    }

    #[test]
    fn what_was_put_on_flash_lies_there() {
        let mut board = small(&[("io.partial_write", "rmw")]);
        let words: Vec<u32> = (1..=512).collect();
        let map = oob(27, PageKind::Map, 11);
        let lost = oob(27, PageKind::Log, 12);
        let pages = [
            StoredPage::Free,
            StoredPage::Torn,
            data(0, PageKind::Data, 1),
            StoredPage::Data { oob: lost, tag: Tag(8), sectors: 0b101, unreadable: true },
            StoredPage::Data {
                oob: oob(3, PageKind::Pad, 2),
                tag: Tag(0),
                sectors: u64::MAX,
                unreadable: false,
            },
            StoredPage::Words { oob: map, words: Some(&words) },
            StoredPage::Words { oob: oob(1, PageKind::Checkpoint, 13), words: None },
        ];
        for (number, page) in (0..).zip(pages) {
            assert_eq!(put(&mut board, number, page), "");
        }
        for (number, page) in (0..).zip(pages) {
            assert_eq!(board.nand().stored_page(Ppn(number)), page, "page {number}");
        }
        assert_eq!((board.nand().sequence(), board.nand().payload_pages()), (13, 1));
        assert_eq!(write(&mut board, 7, 1).map(|_| board.nand().sequence()), Ok(14));
        // Block 1 knows that one of its pages holds words, and gives them back.
        for page in 4..8 {
            board.nand_mut().discard(Ppn(page));
        }
        assert!(erase(&mut board, 1).is_ok());
        assert_eq!(board.nand().payload_pages(), 0);
    }

    #[test]
    fn words_are_told_until_they_are_superseded() {
        let mut board = small(&[]);
        assert!(write_words(&mut board, 0, &[4, 5]).is_ok());
        let told = |board: &Board| match board.nand().stored_page(Ppn(0)) {
            StoredPage::Words { words, .. } => words.map(|words| words[..3].to_vec()),
            _ => None,
        };
        assert_eq!(told(&board), Some(vec![4, 5, 0]));
        board.nand_mut().invalidate(Ppn(0));
        assert_eq!(told(&board), None);
    }

    /// The power goes when a pad is programmed, behind a page of a map: until a recovery is over it
    /// keeps a place for words, which was put back as its version and taken for a place that the
    /// other device gives back with it.
    #[test]
    fn a_pad_is_put_back_without_a_place_for_words() {
        for version in [None, Some(Tag(1))] {
            let mut board = small(&[]);
            assert!(write_words(&mut board, 4, &[6]).is_ok());
            board.nand_mut().faults_mut().cut_power_after(0, CutOutcome::Done);
            let (what, words) = ((PageKind::Pad, 0), Payload::Words(&[]));
            let cut = board.program_payload(Ppn(5), what, words, Cause::Pad, When::START);
            assert!(cut.is_err() && board.nand().has_payload(Ppn(5)));
            let mut other = small(&[]);
            assert_eq!(put(&mut other, 4, board.nand().stored_page(Ppn(4))), "");
            let pad = match board.nand().stored_page(Ppn(5)) {
                StoredPage::Data { oob, tag, sectors, unreadable } => {
                    StoredPage::Data { oob, tag: version.unwrap_or(tag), sectors, unreadable }
                }
                page => panic!("{page:?}"),
            };
            assert_eq!(put(&mut other, 5, pad), "");
            other.nand_mut().cut_power();
            other.power_on();
            other.nand_mut().revalidate(Ppn(4));
            other.end_recovery();
            let nand = other.nand();
            assert_eq!((nand.payload_pages(), nand.has_payload(Ppn(5))), (1, false));
            assert_eq!(nand.payload(Ppn(4))[0], 6);
        }
    }

    #[test]
    fn a_page_is_put_on_an_erased_page_of_the_device() {
        let mut board = small(&[]);
        assert_eq!(put(&mut board, 31, data(0, PageKind::Data, 1)), "");
        for page in [31, 32] {
            let said = put(&mut board, page, data(0, PageKind::Data, 2));
            assert_eq!(said, format!("page {page} is beyond the device, or there twice"));
        }
    }

    #[test]
    fn a_page_of_data_bears_a_number_of_the_device_and_holds_no_words() {
        let mut board = small(&[]);
        assert_eq!(put(&mut board, 0, data(27, PageKind::Data, 1)), "");
        for other in
            [data(28, PageKind::Data, 2), data(0, PageKind::Map, 2), data(0, PageKind::Parity, 2)]
        {
            assert!(put(&mut board, 1, other).starts_with("page 1 cannot be Oob"), "{other:?}");
        }
    }

    #[test]
    fn a_page_of_words_bears_a_number_of_the_device_and_as_many_words_as_fit() {
        let mut board = small(&[]);
        let words = [7; 513];
        let mut stored = |page, logical, kind, count| {
            let words = Some(&words[..count]);
            put(&mut board, page, StoredPage::Words { oob: oob(logical, kind, 1), words })
        };
        assert_eq!(stored(0, 27, PageKind::Map, 512), "");
        for (logical, kind, count) in
            [(28, PageKind::Map, 1), (0, PageKind::Data, 1), (0, PageKind::Map, 513)]
        {
            assert!(stored(1, logical, kind, count).starts_with("page 1 cannot be Oob"));
        }
    }

    /// Of no pages that the scheme declares 256 are kept all the same.
    #[test]
    fn no_more_words_are_put_than_the_scheme_keeps() {
        let mut board = board(&[]);
        let mut stored = |page, words| {
            let oob = oob(0, PageKind::Map, 1);
            put(&mut board, page, StoredPage::Words { oob, words })
        };
        let words: &[u32] = &[1];
        assert!((0..256).all(|page| stored(page, Some(words)).is_empty()));
        let said = stored(256, Some(words));
        assert_eq!(said, "page 256 is one map page more than the scheme keeps");
        assert_eq!(stored(256, None), "", "it holds nothing");
    }

    #[test]
    fn a_sequence_number_is_there_and_below_two_to_the_sixtieth() {
        let mut board = small(&[]);
        for (page, sequence) in [(0, 0), (0, 1 << 60), (0, u64::MAX)] {
            let said = put(&mut board, page, data(0, PageKind::Data, sequence));
            assert_eq!(said, format!("page 0 cannot have the sequence number {sequence}"));
        }
        assert_eq!(put(&mut board, 0, data(0, PageKind::Data, (1 << 60) - 1)), "");
        assert_eq!(put(&mut board, 1, data(0, PageKind::Data, 7)), "");
        assert_eq!(board.nand().sequence(), (1 << 60) - 1, "the highest one counts");
    }

    /// Two dies, of which every page of the second is the parity of the first.
    #[test]
    fn parity_is_put_where_there_is_some_and_covers_64_pages_at_most() {
        let parity =
            |kind, logical| StoredPage::Parity { oob: oob(logical, kind, 2), parity: 0xABCD_EF01 };
        let said = put(&mut small(&[]), 0, parity(PageKind::Parity, 1));
        assert_eq!(said, "page 0 is parity, and rain.stripe = 0");
        let mut board = small(&[("device.dies", "2"), ("rain.stripe", "2")]);
        assert_eq!(put(&mut board, 0, parity(PageKind::Parity, 64)), "");
        assert_eq!(board.nand().stored_page(Ppn(0)), parity(PageKind::Parity, 64));
        assert_eq!(board.nand().sequence(), 2);
        for (kind, logical) in [(PageKind::Parity, 65), (PageKind::Data, 1)] {
            let said = put(&mut board, 1, parity(kind, logical));
            assert!(said.starts_with("page 1 cannot be Oob"), "{said}");
        }
    }

    /// Erases of parity that was put are known to nobody: it may cover what is gone, which is no
    /// fault.
    #[test]
    fn parity_that_was_put_may_be_of_pages_that_are_gone() {
        let mut board = small(&[("device.dies", "2"), ("rain.stripe", "2")]);
        let stored = StoredPage::Parity { oob: oob(1, PageKind::Parity, 2), parity: 1 };
        assert_eq!(put(&mut board, 32, stored), "");
        assert!(board.nand().check_parity(Ppn(32)).is_err(), "until a recovery begins");
        board.nand_mut().cut_power();
        board.power_on();
        assert_eq!(board.nand().check_parity(Ppn(32)), Ok(()));
    }

    #[test]
    fn the_age_of_what_was_put_begins_there() {
        let mut board = small(&[("refresh.days", "1")]);
        assert_eq!(board.nand().finds_old_data_at(), None);
        assert_eq!(put(&mut board, 0, data(0, PageKind::Data, 1)), "");
        assert!(board.nand().finds_old_data_at().is_some());
    }

    #[test]
    fn what_a_block_was_known_by_it_is_known_by_again() {
        let mut board = small(&[("device.bits_per_cell", "2")]);
        let stored = StoredBlock {
            erases: 7,
            read_only: true,
            retired: true,
            undefined: true,
            slc: true,
            slc_erases: 7,
        };
        let usual = StoredBlock { erases: 1, ..StoredBlock::default() };
        for (block, stored) in [(0, StoredBlock::default()), (6, usual), (7, stored)] {
            assert_eq!(board.nand_mut().restore_block(BlockId(block), stored), Ok(()));
            assert_eq!(board.nand().stored_block(BlockId(block)), stored);
        }
        let touched = [0, 6, 7].map(|block| board.nand().state().block(BlockId(block)).touched);
        assert_eq!(touched, [false, true, true]);
        assert_eq!((board.nand().retired_blocks(), board.nand().retired_since()), (1, 1));
        assert_eq!(board.nand_mut().restore_block(BlockId(7), stored), Ok(()));
        assert_eq!(board.nand().retired_blocks(), 1, "it was out of use already");
    }

    /// With a bit a cell a page is read in 20 us instead of 130.9 us.
    #[test]
    fn a_block_that_is_put_in_slc_mode_takes_its_times() {
        let mut board = small(&[("device.bits_per_cell", "2")]);
        let slc = StoredBlock { slc: true, ..StoredBlock::default() };
        assert_eq!(board.nand_mut().restore_block(BlockId(0), slc), Ok(()));
        assert_eq!(put(&mut board, 0, data(0, PageKind::Data, 1)), "");
        assert_eq!(crate::board::for_tests::read(&mut board, 0), Ok((20_000, Tag(9))));
    }

    #[test]
    fn what_no_block_can_be_known_by_is_refused() {
        let put = |board: &mut Board, block, stored: StoredBlock| {
            board.nand_mut().restore_block(BlockId(block), stored).err().unwrap_or_default()
        };
        let usual = StoredBlock::default();
        let mut one_bit = small(&[("nand.factory_bad_blocks", "3")]);
        assert_eq!(put(&mut one_bit, 8, usual), "block 8 is beyond the device");
        let said = put(&mut one_bit, 3, StoredBlock { erases: 1, ..usual });
        assert_eq!(said, "block 3 is bad from the start, but holds something");
        assert_eq!(put(&mut one_bit, 3, StoredBlock { retired: true, ..usual }), "");
        assert_eq!(one_bit.nand().retired_blocks(), 1);
        for other in
            [StoredBlock { slc: true, ..usual }, StoredBlock { erases: 1, slc_erases: 1, ..usual }]
        {
            assert!(put(&mut one_bit, 0, other).ends_with("cells have one"));
        }
        let mut two_bits = small(&[("device.bits_per_cell", "2")]);
        let said = put(&mut two_bits, 0, StoredBlock { erases: 1, slc_erases: 2, ..usual });
        assert_eq!(said, "block 0 was erased less often than in SLC mode alone");
        assert_eq!(put(&mut two_bits, 0, StoredBlock { erases: 1, slc_erases: 1, ..usual }), "");
    }
}
