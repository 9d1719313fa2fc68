//! A map of which flash holds all and memory a part: a cache, directory, translation pages, and
//! what collection must tell them.
//!
//! The rules of DFTL 2014, 3.2 and 3.3 that its heirs share: lazy copying, batch update, writing
//! back single entries or whole translation pages. Which entry is loaded or leaves is the scheme's
//! business.

mod moved;
mod pair;
mod records;
#[cfg(test)]
mod tests;
mod writing;

use crate::parts::checkpoint::Checkpoints;
use crate::parts::map_cache::{Known, MapCache};
use crate::parts::page_space::{Moved, Newer, PageOwner, PageSpace};
use crate::parts::translation::Translation;
use crate::parts::trim_records::TrimRecords;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{BlockId, Lpn, Ppn, zeroed};
use pair::Pair;

/// Cache, directory and what belongs to them: the owner of every page in the space.
#[derive(Clone)]
pub struct CachedMap<C> {
    /// What memory knows of the map.
    pub cache: C,
    /// Directory and translation pages.
    pub translation: Translation,
    /// Trims and their records.
    pub trims: TrimRecords,
    /// Checkpoints of changed entries.
    pub checkpoints: Checkpoints,
    /// Whether collection changes cached entries in memory alone.
    pub lazy_copying: bool,
    /// Pages moved out of the present victim whose entry must be written (logical, physical).
    moved: Vec<Pair>,
    /// Entries to write to one translation page (place, packed physical page).
    edits: Vec<(u32, u32)>,
    /// Places of those whose write did not look up what it supersedes, then what that is (packed
    /// physical page); empty but for a moment.
    superseded: Vec<u32>,
    words: Vec<u32>,
}

impl<C: MapCache> PageOwner for CachedMap<C> {
    fn map_writes(&mut self, space: &PageSpace, board: &Board, victim: BlockId) -> u32 {
        if C::ADOPTS {
            return self.cache.most_overdue(space, victim);
        }
        let plane = board.geometry().plane_of_block(victim);
        let mut parts = self.parts_to_update((space, board), victim);
        parts.retain(|part| space.home_or_roomiest(board.nand(), part.first()) == plane);
        let count = parts.len() as u32;
        parts.clear();
        self.moved = parts;
        count
    }

    fn most_map_writes(&self, space: &PageSpace, victim: BlockId, valid: u32) -> u32 {
        if C::ADOPTS { self.cache.most_overdue(space, victim) } else { valid }
    }

    /// A version that a write without look-up superseded must not be copied: the copy would be
    /// younger than the version that counts. Before that write has reached flash it counts itself.
    fn wants(&mut self, kind: PageKind, logical: u32, old: Ppn) -> bool {
        if !kind.is_host_data() || self.wants_all() {
            return true;
        }
        let lpn = Lpn(logical);
        if !self.cache.is_unresolved(lpn) {
            return true;
        }
        let newest = self.cache.entry(lpn).flatten();
        let superseded = newest.is_some_and(|newest| newest != old);
        if superseded {
            self.cache.resolve(lpn);
        }
        !superseded
    }

    fn wants_all(&self) -> bool {
        self.cache.unresolved() == 0
    }

    fn holds_newer(&self) -> bool {
        self.cache.hands_over()
    }

    fn newer(&mut self, logical: u32) -> Option<Newer> {
        // A cache that did not say so has nothing, in runs of pages and page by page.
        if self.cache.hands_over() { self.cache.newer(Lpn(logical)) } else { None }
    }

    /// Translation pages that must be written on behalf of a data victim.
    fn weight(&mut self, space: &PageSpace, board: &Board, victim: BlockId) -> Option<u32> {
        if !self.cache.prefers_cached() {
            return None;
        }
        let mut parts = self.parts_to_update((space, board), victim);
        let count = parts.len() as u32;
        parts.clear();
        self.moved = parts;
        Some(count)
    }

    #[inline]
    fn glance_at(&self, moved: &[Mover]) {
        let seen =
            moved.iter().fold(0, |seen, page| seen ^ self.cache.glance_at(Lpn(page.logical)));
        std::hint::black_box(seen);
    }

    #[inline(always)]
    fn moved(&mut self, board: &mut Board, page: Moved) {
        match page.kind {
            PageKind::Map => self.translation.moved(page.logical, page.new),
            PageKind::Data | PageKind::Log => self.moved_data(board, page),
            _ => self.moved_record(page),
        }
    }

    /// The same as of single pages: of most memory has no entry, or one that says where they were.
    fn run_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        let is_plain = !C::ADOPTS && !self.translation.has_astray();
        let is_lazy = is_plain && self.lazy_copying;
        // Then flash names the valid copy of each page of which memory says nothing else.
        let is_resolved = is_plain && self.cache.unresolved() == 0;
        let mut lazy_updates = 0;
        for (new, mover) in (first.0..).map(Ppn).zip(moved) {
            let lpn = Lpn(mover.logical);
            let memory = self.cache.look(lpn);
            let says_old = match memory {
                Known::No if is_plain => {
                    self.cache.page_moved(lpn, new);
                    self.moved.push(Pair::new(lpn.0, new.0));
                    continue;
                }
                Known::AsOnFlash if is_resolved => {
                    debug_assert_eq!(self.translation.entry(board, lpn), Some(mover.old));
                    true
                }
                _ => self.known(board, lpn, memory) == Some(Some(mover.old)),
            };
            if is_lazy && says_old {
                self.cache.page_moved(lpn, new);
                self.cache.change(lpn, Some(new));
                lazy_updates += 1;
            } else {
                self.moved_data(board, Moved::of(mover, new));
            }
        }
        board.event(Event::LazyUpdates, lazy_updates);
    }

    fn words_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        for (new, mover) in (first.0..).map(Ppn).zip(moved) {
            match mover.kind {
                PageKind::Map => self.translation.moved(mover.logical, new),
                _ => self.moved(board, Moved::of(mover, new)),
            }
        }
    }

    /// Batch update: each translation page of moved entries is read and written once.
    fn before_erase(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.cache.pages_moved(board, false);
        self.update_moved(space, board, after)
    }

    fn part_moved(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.cache.pages_moved(board, true);
        self.update_moved(space, board, after)
    }
}

impl<C: MapCache> CachedMap<C> {
    /// A map of these parts; lazy copying is on.
    pub fn new(
        geometry: &Geometry,
        cache: C,
        translation: Translation,
        trims: TrimRecords,
        checkpoints: Checkpoints,
    ) -> Self {
        let places = geometry.entries_per_page() as usize;
        // A victim is a block of one plane, or of each; or the pages of a translation page.
        let most = geometry.pages_per_block as usize * geometry.planes() as usize;
        let most = most.max(places);
        CachedMap {
            cache,
            translation,
            trims,
            checkpoints,
            lazy_copying: true,
            moved: Vec::with_capacity(most),
            edits: Vec::with_capacity(places),
            superseded: Vec::with_capacity(places),
            words: zeroed(places),
        }
    }

    /// An entry that memory holds; none if only flash knows.
    #[inline]
    pub fn cached(&self, board: &Board, lpn: Lpn) -> Option<Option<Ppn>> {
        self.known(board, lpn, self.cache.look(lpn))
    }

    /// Changes an entry that memory holds; what it was.
    #[inline(always)]
    pub fn exchange(&mut self, board: &Board, lpn: Lpn, ppn: Option<Ppn>) -> Option<Ppn> {
        let before = self.cache.exchange(lpn, ppn);
        self.known(board, lpn, before).expect("the entry was translated")
    }

    #[inline]
    fn known(&self, board: &Board, lpn: Lpn, memory: Known) -> Option<Option<Ppn>> {
        match memory {
            Known::No => None,
            Known::AsOnFlash => Some(self.translation.entry(board, lpn)),
            Known::Entry(entry) => Some(entry),
        }
    }

    /// An entry as memory has it, else as flash has it; costs nothing.
    #[inline(always)]
    pub fn current(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        self.cache.entry(lpn).unwrap_or_else(|| self.translation.entry(board, lpn))
    }

    /// Whether a page that moves costs no map write, because its entry is cached.
    fn is_lazy(&self, board: &Board, lpn: Lpn, ppn: Ppn) -> bool {
        self.lazy_copying && self.cached(board, lpn) == Some(Some(ppn))
    }

    /// The translation pages, each once, that moving a data block's pages would change on flash, in
    /// the list of moved pages, which is empty outside a collection.
    fn parts_to_update(&mut self, on: (&PageSpace, &Board), victim: BlockId) -> Vec<Pair> {
        let (space, board) = on;
        let mut parts = std::mem::take(&mut self.moved);
        for ppn in space.valid_pages(board.nand(), victim) {
            if let OobRead::Written(oob) = board.nand().state().oob(ppn)
                && !self.is_lazy(board, Lpn(oob.logical), ppn)
            {
                parts.push(Pair::new(self.translation.part_of(Lpn(oob.logical)).0, 0));
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    #[cold]
    fn moved_record(&mut self, page: Moved) {
        match page.kind {
            PageKind::TrimRecord => self.trims.moved(page.logical, page.new),
            PageKind::Checkpoint => self.checkpoints.moved(page.logical, page.new),
            kind => unreachable!("a page of kind {kind:?} is never valid"),
        }
    }

    /// Lazy copying: a cached entry changes in memory and flash learns of it at its eviction; any
    /// other entry waits for the batch update.
    #[inline(never)]
    fn moved_data(&mut self, board: &mut Board, page: Moved) {
        let lpn = Lpn(page.logical);
        self.cache.page_moved(lpn, page.new);
        // What is cached may be what the list of pages that went astray says.
        let astray = self.translation.has_astray().then(|| {
            let known = self.cached(board, lpn);
            self.translation.found_again(board, lpn);
            known
        });
        if page.newer {
            self.cache.wrote_newer(lpn);
        }
        if C::ADOPTS && self.lazy_copying && !self.cache.is_unresolved(lpn) {
            // Wherever memory knew the page: it takes the entry.
            self.cache.change(lpn, Some(page.new));
            board.event(Event::LazyUpdates, 1);
            return;
        }
        match astray.unwrap_or_else(|| self.cached(board, lpn)) {
            Some(Some(ppn)) if ppn == page.old => {
                self.cache.change(lpn, Some(page.new));
                if self.lazy_copying {
                    board.event(Event::LazyUpdates, 1);
                    return;
                }
            }
            Some(None) if self.cache.is_unresolved(lpn) => {
                // A write without look-up is about to supersede this page: now it is known.
                self.cache.change(lpn, Some(page.new));
                self.cache.resolve(lpn);
                return;
            }
            _ if C::ADOPTS => {
                self.cache.change(lpn, Some(page.new));
                board.event(Event::LazyUpdates, 1);
                return;
            }
            _ => {}
        }
        self.moved.push(Pair::new(page.logical, page.new.0));
    }
}
