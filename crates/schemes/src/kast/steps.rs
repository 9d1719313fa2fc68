//! KAST's choice of update blocks: which of them takes a page, and what makes room (the letters
//! are those of `docs/papers/others.md#kast`). Nothing is done here, and nothing changed.

use super::Kast;
use ftlab_flash::board::Board;
use ftlab_flash::request::PageIo;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::owned_logs::Owner;
use ftlab_ftl::parts::sequential_log::OpenLog;
use ftlab_ftl::parts::slots::Slot;

/// What is done next about one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To its place in the data block.
    InPlace,
    /// The next page of a SUB.
    AppendSub(Slot),
    /// Beyond the next page of a SUB: the gap is filled with copies.
    PadSub(Slot),
    /// A new SUB begins with the page.
    OpenSub,
    /// To the logical block's RUB.
    AppendRub(Slot),
    /// The logical block's SUB goes on as its RUB. Nothing is written.
    TurnSub(Slot),
    /// The logical block becomes an owner of this RUB, with the page.
    JoinRub(Slot),
    /// A new RUB begins with the page.
    OpenRub,
    /// Somebody else's SUB becomes a RUB. Nothing is written.
    ConvertSub(Slot),
    /// A SUB is merged.
    MergeSub(Slot),
    /// A RUB is merged.
    MergeRub(Slot),
    /// The RUB that `kast.victim` names is merged.
    MergeSomeRub,
    /// The logical block is merged out of its RUB.
    LeaveRub(Slot),
}

impl Kast {
    /// Whether so many pages are more than a share of a block.
    fn exceeds(&self, pages: u32, percent: u32) -> bool {
        u64::from(pages) * 100 > u64::from(self.pages_per_block) * u64::from(percent)
    }

    /// What comes next for a page; `settled`: something was merged for it before, or its SUB has
    /// become a RUB.
    #[inline]
    pub(super) fn step(&self, board: &Board, io: &PageIo, settled: bool) -> Step {
        if self.base.takes_in_place(board, io.lpn) {
            return Step::InPlace;
        }
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        if let Some(place) = self.sequential.of(lbn) {
            return self.step_with_sub(place, offset);
        }
        match self.random.of(Owner(lbn.0)) {
            Some(place) => self.step_with_rub(board, place, io, settled),
            None => self.step_without(offset == 0, settled),
        }
    }

    /// The logical block has a SUB.
    fn step_with_sub(&self, place: Slot, offset: u32) -> Step {
        let next = self.stream(place).next;
        let roomy = self.exceeds(self.pages_per_block - next, self.settings.convert_sub_pct);
        match offset {
            _ if offset == next => Step::AppendSub(place),
            // A small gap, or a SUB that is nearly full anyway.
            _ if offset > next
                && !(roomy && self.exceeds(offset - next, self.settings.pad_sub_pct)) =>
            {
                Step::PadSub(place)
            }
            // A large gap, or a page that it holds.
            _ if roomy => Step::TurnSub(place),
            _ => Step::MergeSub(place),
        }
    }

    /// The logical block has a RUB.
    fn step_with_rub(&self, board: &Board, place: Slot, io: &PageIo, settled: bool) -> Step {
        let left = io.request.pages - io.request.index;
        let (_, offset) = Lbn::of(board.geometry(), io.lpn);
        let stream = offset == 0
            && u64::from(left) * 100
                >= u64::from(self.pages_per_block)
                    * u64::from(self.settings.merge_rub_start_sub_pct);
        // Without it the place of a RUB that has no other owner is free.
        let room = self.has_place() || self.random.sharers(place).count() == 1;
        if stream && room && !settled && !self.sequential.is_exhausted() {
            Step::LeaveRub(place)
        } else if self.random.has_room(board.nand(), place) {
            Step::AppendRub(place)
        } else {
            Step::MergeRub(place)
        }
    }

    /// The logical block has no update block: it gets one, a SUB if the page is its first.
    fn step_without(&self, first: bool, settled: bool) -> Step {
        if settled {
            // What was merged left a place.
            return if first && !self.sequential.is_exhausted() {
                Step::OpenSub
            } else {
                Step::OpenRub
            };
        }
        // (A) A full SUB costs an erase.
        if let Some(full) = self.fullest_sub().filter(|&place| self.free_pages(place) == 0) {
            return Step::MergeSub(full);
        }
        let mut sub = first;
        if first && self.sequential.is_exhausted() {
            if let Some(step) = self.make_sub_room() {
                return step;
            }
            sub = false;
        }
        if self.has_place() {
            return if sub { Step::OpenSub } else { Step::OpenRub };
        }
        if !sub {
            // (B) The RUB with fewest owners, and most room among these.
            if let Some(place) = self.ranks.joinable.min() {
                return Step::JoinRub(place);
            }
            // (C) An idle SUB that is roomy; the next turn joins it.
            if self.shares()
                && let Some(place) = self.ranks.roomy.min().filter(|&place| self.is_idle(place))
            {
                return Step::ConvertSub(place);
            }
        }
        // (D) A SUB that is nearly full; any, if there is no RUB.
        match self.fullest_sub() {
            Some(place) if self.is_nearly_full(place) || self.random.is_empty() => {
                Step::MergeSub(place)
            }
            // (E) A RUB.
            _ => Step::MergeSomeRub,
        }
    }

    /// A SUB is wanted and there are as many as there may be; `None`: they are all in use.
    fn make_sub_room(&self) -> Option<Step> {
        if let Some(place) = self.fullest_sub().filter(|&place| self.is_nearly_full(place)) {
            return Some(Step::MergeSub(place));
        }
        let idle = self.sequential.oldest().filter(|&place| self.is_idle(place))?;
        Some(if self.is_roomy(idle) { Step::ConvertSub(idle) } else { Step::MergeSub(idle) })
    }

    /// Whether an update block can be opened without a merge.
    fn has_place(&self) -> bool {
        self.in_use() < self.limit
    }

    /// Whether a RUB can have several owners.
    fn shares(&self) -> bool {
        self.settings.K.min(self.pages_per_block) > 1
    }

    /// The stream of a SUB.
    pub(super) fn stream(&self, place: Slot) -> OpenLog {
        self.sequential.log(place).open_log().expect("a place in use has a block")
    }

    pub(super) fn free_pages(&self, place: Slot) -> u32 {
        self.pages_per_block - self.stream(place).next
    }

    pub(super) fn is_roomy(&self, place: Slot) -> bool {
        self.exceeds(self.free_pages(place), self.settings.convert_sub_pct)
    }

    fn is_nearly_full(&self, place: Slot) -> bool {
        !self.exceeds(self.free_pages(place), self.settings.merge_sub_pct)
    }

    /// The SUB with fewest free pages.
    fn fullest_sub(&self) -> Option<Slot> {
        self.ranks.by_room.min()
    }

    fn is_idle(&self, place: Slot) -> bool {
        let least = u64::from(self.settings.sub_min_idle);
        self.requests - self.sub_written[place.index()].request >= least
    }
}
