//! After a power cut: who lies where, by out-of-band areas and the journal.

use super::settings::Config;
use super::sizes::shape;
use super::table::Table;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{Oob, OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};
use ftlab_ftl::parts::page_mapped::{Finder, Found, PageMapped};
use ftlab_ftl::parts::page_owners::PageOwners;
use ftlab_ftl::parts::sharing_journal::{Said, SharingJournal, Told};

/// Maps and blocks as flash tells them.
pub(super) fn recover(
    board: &mut Board,
    config: &Config,
    how: (u32, u64),
    after: When,
) -> Result<(PageMapped<Table>, When), Fault> {
    let named = vec![(0, 0); shape(config).numbers as usize];
    let mut finder = Shared { config, journal: Vec::new(), named };
    PageMapped::recover_with(board, config, how, &mut finder, after)
}

/// Pages that are no logical page's own.
struct Shared<'a> {
    config: &'a Config,
    journal: Vec<(Ppn, Oob)>,
    /// Of each number the last copy that bears it, and where; 0 for none.
    named: Vec<(u64, u32)>,
}

impl Shared<'_> {
    /// The page of every number, plus one.
    fn pages_of_numbers(&self, board: &Board, told: &Told) -> Vec<u32> {
        let numbers = (0..).zip(&self.named);
        numbers.map(|(number, &named)| pack(page_of(board, named, told.page(number)))).collect()
    }
}

/// The page of a number: the last copy that bears it, or, if that is not younger than what the
/// journal tells (of the last program before), an older program that the journal names, if it is
/// still there.
fn page_of(
    board: &Board,
    (sequence, named): (u64, u32),
    (told, since): (Option<Ppn>, u64),
) -> Option<u32> {
    if sequence > since {
        return Some(named);
    }
    told.filter(|&ppn| was_there(board, ppn, since)).map(|ppn| ppn.0)
}

/// Whether a logical page was programmed after that.
fn is_after(newest: Option<(u64, Ppn)>, since: u64) -> bool {
    newest.is_some_and(|(sequence, _)| sequence > since)
}

/// Whether what a page holds was programmed by then.
fn was_there(board: &Board, ppn: Ppn, since: u64) -> bool {
    matches!(board.nand().state().oob(ppn), OobRead::Written(oob)
        if oob.kind.is_host_data() && oob.sequence <= since)
}

impl Finder<Table> for Shared<'_> {
    fn takes(&mut self, ppn: Ppn, oob: &Oob) -> bool {
        match oob.kind {
            PageKind::Checkpoint => self.journal.push((ppn, *oob)),
            PageKind::Log => {
                let held = &mut self.named[oob.logical as usize];
                *held = (*held).max((oob.sequence, ppn.0));
            }
            _ => return false,
        }
        true
    }

    fn table(
        &mut self,
        board: &mut Board,
        found: &Found,
        after: When,
    ) -> Result<(Table, When), Fault> {
        let shape = shape(self.config);
        let (journal, told, when) = SharingJournal::recover(board, shape, &self.journal, after)?;
        let pages = self.pages_of_numbers(board, &told);
        let mut entries: Vec<u32> = zeroed(shape.logical_pages as usize);
        let mut has_owner: Vec<bool> = vec![false; pages.len()];
        for (lpn, entry) in (0..).map(Lpn).zip(&mut entries) {
            let newest = found.newest(lpn);
            let (said, since) = told.said(lpn);
            *entry = match said {
                Said::Number(number) if !is_after(newest, since) => {
                    has_owner[number as usize] = true;
                    pages[number as usize]
                }
                Said::Nowhere if !is_after(newest, since) => pack(None),
                _ => pack(newest.map(|(_, ppn)| ppn.0)),
            };
        }
        let owners = PageOwners::of(entries, board.geometry().pages());
        let mut table = Table::of(board, self.config, owners, journal);
        let numbers = (0..).zip(&pages).zip(has_owner).filter(|(_, has_owner)| *has_owner);
        let Table { owners, virtuals, .. } = &mut table;
        virtuals.restore(numbers.filter_map(|((number, &page), _)| {
            let ppn = Ppn(unpack(page)?);
            Some((number, ppn, owners.all(ppn).count() as u64))
        }));
        // Fingerprints are lost.
        for lpn in (0..shape.logical_pages).map(Lpn) {
            if let Some(ppn) = table.owners.page(lpn) {
                table.unhashed.insert(ppn);
            }
        }
        // Every entry of the primary map is looked at for the count of references.
        let counted = board.dram(shape.logical_pages, when);
        Ok((table, counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests;

    /// Two pages are written. What the journal tells is of the program that it names last.
    #[test]
    fn a_number_is_that_of_its_last_copy_or_of_what_the_journal_named_since() {
        let mut board = Board::new(&Config::default(), 1, 0);
        let io = for_tests::page(5);
        let [older, younger] = [0, 1].map(|ppn| {
            let written = board.program_update(Ppn(ppn), None, &io, PageKind::Data, When::START);
            let _ = written.expect("nothing fails");
            match board.nand().state().oob(Ppn(ppn)) {
                OobRead::Written(oob) => oob.sequence,
                other => panic!("it was written: {other:?}"),
            }
        });
        let (first, second, erased) = (Some(Ppn(0)), Some(Ppn(1)), Some(Ppn(2)));
        let none = (0, 0);
        let page = |named, told| page_of(&board, named, told);
        assert_eq!(page((younger, 1), (first, older)), Some(1), "copied since");
        assert_eq!(page((younger, 1), (first, younger)), Some(0), "told since it was copied");
        assert_eq!(page(none, (first, older)), Some(0));
        assert_eq!(page(none, (second, older)), None, "written since, on an erased page");
        assert_eq!(page(none, (erased, younger)), None);
        assert_eq!(page(none, (None, 0)), None);
    }
}
