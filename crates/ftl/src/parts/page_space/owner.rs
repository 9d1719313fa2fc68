//! Who keeps the map of the pages in a space, and what it is told of pages that move.

use super::PageSpace;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{BlockId, Lpn, Ppn, Tag};

/// A page that collection moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Logical number of the page, of the map part, of the record.
    pub logical: u32,
    /// What the page is.
    pub kind: PageKind,
    /// Where it was.
    pub old: Ppn,
    /// Where it is.
    pub new: Ppn,
    /// When the copy is complete.
    pub done: Moment,
    /// Whether what is there now came from memory.
    pub newer: bool,
}

impl Moved {
    /// A page of a run, where it is now.
    #[inline(always)]
    pub fn of(mover: &Mover, new: Ppn) -> Self {
        let Mover { old, logical, kind, done } = *mover;
        Moved { logical, kind, old, new, done, newer: false }
    }
}

/// A version of a host page that memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newer {
    /// The version.
    pub tag: Tag,
    /// Its sectors.
    pub sectors: u64,
    /// When memory has it.
    pub ready: Moment,
}

impl Newer {
    /// Its write.
    pub(super) fn page(self, lpn: Lpn, cause: Cause) -> PageIo {
        let sectors = self.sectors.count_ones();
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors, hint: None };
        PageIo { lpn, sectors: self.sectors, cause, data: self.tag, request }
    }
}

/// Who keeps the map of the pages in the space.
pub trait PageOwner {
    /// Map pages that [`PageOwner::before_erase`] writes to the victim's own plane after moving
    /// `victim`, a data block.
    fn map_writes(&mut self, space: &PageSpace, board: &Board, victim: BlockId) -> u32;

    /// The same for any victim with so many valid pages, at most and quickly told.
    fn most_map_writes(&self, _: &PageSpace, _victim: BlockId, valid: u32) -> u32 {
        valid
    }

    /// Whether a valid page must be kept; false when the owner knows that it is superseded.
    fn wants(&mut self, _kind: PageKind, _logical: u32, _old: Ppn) -> bool {
        true
    }

    /// Whether that is so of every valid page.
    fn wants_all(&self) -> bool {
        true
    }

    /// What is written in place of a copy of a host page, because memory holds a newer version.
    fn newer(&mut self, _logical: u32) -> Option<Newer> {
        None
    }

    /// Among blocks that are as good by the policy, the one with the smallest weight is collected.
    /// `None`: the owner has no preference.
    fn weight(&mut self, _: &PageSpace, _: &Board, _victim: BlockId) -> Option<u32> {
        None
    }

    /// Whether memory may hold such versions. Pages move one by one then: what is written in place
    /// of a copy is no copy.
    fn holds_newer(&self) -> bool {
        false
    }

    /// The kind and the number that the copy of a host page gets, where the owner has another name
    /// for it than the one that it bears.
    fn new_name(&self, _old: Ppn, _name: (PageKind, u32)) -> Option<(PageKind, u32)> {
        None
    }

    /// Whether it may have. Pages move one by one then.
    fn renames(&self) -> bool {
        false
    }

    /// Whether [`PageOwner::before_erase`] is asked before a data victim is erased of which nothing
    /// had to be moved.
    fn waits_for_every_erase(&self) -> bool {
        false
    }

    /// Whether every page of a victim moves as soon as it can: nothing holds collection up, and to
    /// be told of moved pages takes no time.
    fn at_once(&self, _: &Board) -> bool {
        true
    }

    /// Whether the data pages of a victim are written in the order of their logical numbers; one by
    /// one then, since that is not the order in which they lie.
    fn sorts(&self) -> bool {
        false
    }

    /// When the next page of a victim may be moved that could be at `after`: an owner who has no
    /// place for more of what it must note of moved pages holds collection up
    /// ([`PageOwner::at_once`]).
    fn may_move(&self, after: When) -> When {
        after
    }

    /// These pages of a data block are about to be told of. An owner who notes them far apart in
    /// memory looks at all of those places first, one after another and at nothing else: one page
    /// after the other each would be waited for.
    fn glance_at(&self, _moved: &[Mover]) {}

    /// A page was moved; the old copy is about to be erased.
    fn moved(&mut self, board: &mut Board, page: Moved);

    /// The same of pages that hold no words, were moved [at once](PageOwner::at_once), and lie from
    /// `first` on now.
    #[inline]
    fn run_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        for (new, mover) in (first.0..).map(Ppn).zip(moved) {
            self.moved(board, Moved::of(mover, new));
        }
    }

    /// The same of pages that hold words of the scheme.
    #[inline]
    fn words_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        for (new, mover) in (first.0..).map(Ppn).zip(moved) {
            self.moved(board, Moved::of(mover, new));
        }
    }

    /// Every valid page of a data victim was moved; what must reach flash before the erase goes
    /// out now.
    fn before_erase(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault>;

    /// The same of the valid pages of one translation page, which moved in the order of their
    /// numbers.
    fn part_moved(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.before_erase(space, board, after)
    }
}
