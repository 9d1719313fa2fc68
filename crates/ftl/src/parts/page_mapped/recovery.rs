//! Page-mapped data after a power cut: found again by out-of-band areas, or by a table that
//! outlived it.

use super::{PageMapped, PageTable};
use crate::parts::oob_scan;
use crate::parts::page_space::PageSpace;
use crate::parts::trim_records::{RecordedTrims, TrimRecords};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{Oob, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn, pack, zeroed};

/// What flash tells of the host's pages after a power cut.
pub struct Found {
    /// Of each logical page the last program, and where; 0 for none.
    newest: Vec<(u64, u32)>,
    trims: TrimRecords,
    recorded: RecordedTrims,
}

impl Found {
    /// The page that was written last for a logical one, and when, unless a flushed trim came
    /// later.
    pub fn newest(&self, lpn: Lpn) -> Option<(u64, Ppn)> {
        let (sequence, ppn) = self.newest[lpn.index()];
        let is_trimmed = self.trims.is_dead(&self.recorded, lpn, sequence);
        (sequence > 0 && !is_trimmed).then_some((sequence, Ppn(ppn)))
    }
}

/// Who makes a table of what flash tells.
pub trait Finder<T> {
    /// Whether a page is the table's own and not a logical page: every one is shown.
    fn takes(&mut self, ppn: Ppn, oob: &Oob) -> bool;
    /// The table.
    fn table(&mut self, board: &mut Board, found: &Found, after: When) -> Result<(T, When), Fault>;
}

/// A table without pages of its own: of packed physical pages.
struct Plain<F>(Option<F>);

impl<T, F: FnOnce(&mut Board, Vec<u32>, When) -> (T, When)> Finder<T> for Plain<F> {
    fn takes(&mut self, _: Ppn, _: &Oob) -> bool {
        false
    }

    fn table(&mut self, board: &mut Board, found: &Found, after: When) -> Result<(T, When), Fault> {
        let mut entries: Vec<u32> = zeroed(found.newest.len());
        for (lpn, entry) in (0..).map(Lpn).zip(&mut entries) {
            *entry = pack(found.newest(lpn).map(|(_, ppn)| ppn.0));
        }
        let table = self.0.take().expect("a table is made once");
        Ok(table(board, entries, after))
    }
}

impl<T: PageTable> PageMapped<T> {
    /// Goes on with what flash tells alone: of each logical page the highest sequence number wins,
    /// unless a flushed trim came later. `table` makes a table of it (packed physical pages).
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        how: (u32, u64),
        table: impl FnOnce(&mut Board, Vec<u32>, When) -> (T, When),
        after: When,
    ) -> Result<(Self, When), Fault> {
        Self::recover_with(board, config, how, &mut Plain(Some(table)), after)
    }

    /// The same of a table with pages of its own on flash.
    pub fn recover_with(
        board: &mut Board,
        config: &SharedSettings,
        (threshold, seed): (u32, u64),
        finder: &mut impl Finder<T>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let geometry = board.geometry().clone();
        let mut newest: Vec<(u64, u32)> = vec![(0, 0); geometry.logical_pages as usize];
        let segments = TrimRecords::segments(&geometry) as usize;
        let mut newest_record: Vec<(u64, u32)> = vec![(0, 0); segments];
        // Step 1: every page's out-of-band area; the highest sequence number wins.
        let scanned = oob_scan::device(board, T::EXTENT, after, |ppn, oob| {
            let list = match oob.kind {
                PageKind::Pad | PageKind::Parity => return,
                PageKind::TrimRecord => &mut newest_record,
                _ if finder.takes(ppn, &oob) => return,
                _ => &mut newest,
            };
            let held = &mut list[oob.logical as usize];
            if oob.sequence > held.0 {
                *held = (oob.sequence, ppn.0);
            }
        })?;
        // Step 2: flushed trims hide what they came after.
        let records: Vec<(u32, Ppn)> = newest_record
            .iter()
            .enumerate()
            .filter(|(_, (sequence, _))| *sequence > 0)
            .map(|(segment, (_, ppn))| (segment as u32, Ppn(*ppn)))
            .collect();
        let (trims, recorded, when) = TrimRecords::recover(board, &records, scanned)?;
        let mut found = Found { newest, trims, recorded };
        let (table, when) = finder.table(board, &found, when)?;
        found.trims.forget_living(|lpn| table.entry(lpn).is_some());
        Self::revalidate(board, &table);
        // Step 3: blocks without a valid page are erased, the rest are candidates again.
        let (space, when) = PageSpace::recover(board, config, threshold, seed, when)?;
        Ok((Self::assemble(board, space, table, found.trims), when))
    }

    /// What the table says is valid.
    fn revalidate(board: &mut Board, table: &T) {
        for ppn in (0..board.geometry().logical_pages).filter_map(|lpn| table.entry(Lpn(lpn))) {
            if !T::SHARES || !board.nand().state().is_valid(ppn) {
                board.nand_mut().revalidate(ppn);
            }
        }
    }

    /// Goes on with table and trims that outlived the power cut, and of which no records were
    /// written: nothing is read.
    pub fn resume(
        board: &mut Board,
        config: &SharedSettings,
        (threshold, seed): (u32, u64),
        (table, trims): (T, TrimRecords),
        after: When,
    ) -> Result<(Self, When), Fault> {
        Self::revalidate(board, &table);
        let (space, when) = PageSpace::recover(board, config, threshold, seed, after)?;
        Ok((Self::assemble(board, space, table, trims), when))
    }
}
