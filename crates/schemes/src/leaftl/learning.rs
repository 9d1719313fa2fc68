//! What the map learns of pages that were written or moved, and its compaction.

use crate::leaftl::map::{By, Map, Residency};
use crate::leaftl::sizes::PAGE_BYTES;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::parts::learned::{Point, Tolerance, learn};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};

impl Map {
    /// Learns where pages are (logical, physical), a run at a time: what lies in one block, in
    /// consecutive pages, upwards by logical number; `by` whose doing. `gamma` is how far segments
    /// may be off.
    pub(super) fn learn(
        &mut self,
        board: &mut Board,
        (pages, by): (&mut [(u32, u32)], By),
        gamma: u32,
    ) {
        pages.sort_unstable_by_key(|&(_, ppn)| ppn);
        let (group_pages, geometry) = (self.sizes.group_pages, board.geometry().clone());
        let goes_on = |a: &(u32, u32), b: &(u32, u32)| {
            a.0 < b.0 && a.1 + 1 == b.1 && geometry.offset_of(Ppn(b.1)) > 0
        };
        for run in pages.chunk_by(goes_on) {
            let tolerance = Tolerance { gamma, first: run[0].1, last: run[run.len() - 1].1 };
            for here in run.chunk_by(|a, b| a.0 / group_pages == b.0 / group_pages) {
                self.learn_group(board, (here, by), tolerance);
            }
        }
        self.tell(board);
    }

    /// The same of the pages of one group in one run.
    fn learn_group(
        &mut self,
        board: &mut Board,
        (pages, by): (&[(u32, u32)], By),
        tolerance: Tolerance,
    ) {
        let (group, _) = self.place_of(Lpn(pages[0].0));
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        let offset = |lpn: u32| (lpn % self.sizes.group_pages) as u8;
        points.extend(pages.iter().map(|&(lpn, ppn)| Point { offset: offset(lpn), ppn }));
        let scale = self.scale;
        let compactions = self.change(group, |known| {
            let mut compactions = 0;
            learn(&points, tolerance, scale, |segment, members| {
                let kind = match (segment.is_lone(), segment.is_accurate()) {
                    (true, _) => Event::LearnedLone,
                    (false, true) => Event::LearnedAccurate,
                    (false, false) => Event::LearnedApproximate,
                };
                board.event(kind, 1);
                compactions += u64::from(known.insert(segment, members));
            });
            compactions
        });
        board.event(Event::GroupCompactions, compactions);
        self.points = points;
        if self.residency(group) == Residency::Absent {
            self.set_residency(group, Residency::Newer);
        }
        self.set_changed(group, by);
        self.renew(group);
    }

    /// The pages of a flush are learned.
    pub(super) fn learn_fresh(&mut self, board: &mut Board) {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.shed(board, fresh.len() as u32);
        let gamma = self.gamma;
        self.learn(board, (&mut fresh, By::Host), gamma);
        fresh.clear();
        self.fresh = fresh;
    }

    /// Every group in memory is compacted.
    pub(super) fn compact(&mut self, board: &mut Board) {
        for group in 0..self.sizes.groups {
            if !self.groups.is_empty(group) {
                self.compact_group(board, group);
            }
        }
        self.tell(board);
    }

    /// A group is compacted. Where memory has all of it, pages that no segment has any more need no
    /// mark of having been trimmed.
    pub(super) fn compact_group(&mut self, board: &mut Board, group: u32) {
        let is_whole = self.residency(group) == Residency::Whole;
        self.change(group, |known| {
            known.compact();
            if is_whole {
                known.drop_needless_trims();
            }
        });
        board.event(Event::GroupCompactions, 1);
    }

    /// Bytes that memory would take over [`crate::leaftl::sizes::Sizes::most_bytes`] if so many pages
    /// were learned.
    pub(super) fn excess(&self, pages: u32) -> u64 {
        let most = self.sizes.most_bytes().unwrap_or(u64::MAX);
        (self.bytes + PAGE_BYTES * u64::from(pages)).saturating_sub(most)
    }

    /// Groups that may leave before pages are learned, those used longest ago first.
    fn may_leave(&self, changed: bool) -> impl Iterator<Item = u32> + '_ {
        let groups = self.order.from_oldest(0).map(|slot| slot.0);
        groups.filter(move |&group| self.is_changed(group) == changed && group != self.held)
    }

    /// Before pages are learned for which memory has no room: groups that flash knows as they are
    /// leave at once.
    fn shed(&mut self, board: &mut Board, pages: u32) {
        while self.excess(pages) > 0 {
            let Some(clean) = self.may_leave(false).next() else { return };
            board.event(Event::EvictClean, 1);
            self.drop_group(clean);
        }
    }

    /// [`Map::writes_before`] without a look at any group, at most: all that leave are as small as groups
    /// are.
    pub(super) fn most_writes_before(&self, pages: u32) -> u32 {
        self.excess(pages).div_ceil(self.sizes.least_group_bytes()) as u32
    }

    /// Map pages that have to be written before so many pages of a victim are learned, at most.
    pub(super) fn writes_before(&self, pages: u32) -> u32 {
        let mut excess = self.excess(pages);
        if excess == 0 {
            return 0;
        }
        let bytes = |group: u32| u64::from(self.bytes_of[group as usize]);
        excess = excess.saturating_sub(self.may_leave(false).map(bytes).sum());
        let mut writes = 0;
        for group in self.may_leave(true) {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(bytes(group));
            writes += 1;
        }
        writes
    }

    /// Before the pages of a victim are learned: where one request collects several, groups leave
    /// that else would leave behind it. Their map pages go to the plane of the victim, which has
    /// room for them.
    pub(super) fn fit_moved(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let pages = self.moved.len() as u32;
        let (most, mut written) = (self.writes_before(pages), 0);
        // The group in use is made whole where its part is written, and grows by what only flash knew
        // of it, which nobody reckons with.
        let may_grow = self.residency(self.held) != Residency::Whole;
        let mut done = after;
        loop {
            // Groups beside one that was written may have become such as leave at once.
            self.shed(board, pages);
            if self.excess(pages) == 0 {
                break;
            }
            let Some(group) = self.may_leave(true).next() else { break };
            let victim = space.collecting().expect("its pages were moved");
            let place = (board.geometry().plane_of_block(victim), Stream::Map);
            done = self.write_part_to(space, board, (self.part_of(group), place), done)?;
            board.event(Event::EvictDirty, 1);
            if self.residency(group) != Residency::Absent {
                self.drop_group(group);
            }
            written += 1;
            assert!(
                written <= most || may_grow,
                "{written} map pages for a victim, where {most} were reckoned with"
            );
        }
        Ok(done)
    }

    /// Pages of a collection that a fault ended are learned all the same.
    #[inline]
    pub(super) fn learn_moved(&mut self, board: &mut Board) {
        if self.moved.is_empty() {
            return;
        }
        let mut moved = std::mem::take(&mut self.moved);
        self.shed(board, moved.len() as u32);
        let gamma = self.gamma;
        self.learn(board, (&mut moved, By::Collection), gamma);
        moved.clear();
        self.moved = moved;
    }
}
