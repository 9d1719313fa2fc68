//! The update blocks of KAST in the orders in which they are chosen, so that no choice looks at all
//! of them. Where two are alike, the one written longest ago comes first.

use std::cmp::Reverse;

use super::Kast;
use ftlab_flash::board::Board;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;

/// More than any P times Nlog: keeps priorities above zero.
const LEAST_PRIORITY: u64 = 1 << 40;

/// When an update block was last written.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
pub(super) struct Written {
    /// Write requests until then.
    pub request: u64,
    /// Pages until then: no two update blocks have the same.
    pub turn: u64,
}

/// Orders of choice.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// SUBs by free pages.
    pub by_room: IndexedHeap,
    /// SUBs with room enough to become a RUB.
    pub roomy: IndexedHeap,
    /// RUBs that take another page and another owner, by owners and pages used.
    pub joinable: IndexedHeap,
    /// RUBs by `full_then_idle`, the next to be merged first.
    pub to_merge: IndexedHeap,
}

impl Ranks {
    /// Of no update block yet.
    pub fn new(subs: u32, rubs: u32) -> Self {
        Ranks {
            by_room: IndexedHeap::new(subs),
            roomy: IndexedHeap::new(subs),
            joinable: IndexedHeap::new(rubs),
            to_merge: IndexedHeap::new(rubs),
        }
    }
}

fn put(heap: &mut IndexedHeap, place: Slot, key: Option<(u64, u64)>) {
    match (heap.contains(place), key) {
        (true, Some(key)) => heap.change(place, key),
        (false, Some(key)) => heap.push(place, key),
        (true, None) => heap.remove(place),
        (false, None) => {}
    }
}

impl Kast {
    /// A place for a SUB was written, taken or freed.
    pub(super) fn rank_sub(&mut self, place: Slot) {
        let open = self.sequential.log(place).open_log().is_some();
        let turn = self.sub_written[place.index()].turn;
        let key = open.then(|| (u64::from(self.free_pages(place)), turn));
        let roomy = (open && self.is_roomy(place)).then_some((0, turn));
        put(&mut self.ranks.by_room, place, key);
        put(&mut self.ranks.roomy, place, roomy);
    }

    /// A place for a RUB was written, joined, left, taken or freed.
    pub(super) fn rank_rub(&mut self, board: &Board, place: Slot) {
        let (join, merge) = match self.random.is_used(place) {
            true => (self.join_key(board, place), Some(self.merge_key(board, place))),
            false => (None, None),
        };
        put(&mut self.ranks.joinable, place, join);
        put(&mut self.ranks.to_merge, place, merge);
    }

    /// All places, in the order in which their blocks are listed.
    pub(super) fn rank_all(&mut self, board: &Board) {
        let subs: Vec<Slot> = self.sequential.open_logs().map(|(place, _)| place).collect();
        for place in subs {
            self.turn += 1;
            self.sub_written[place.index()].turn = self.turn;
        }
        let rubs: Vec<Slot> = self.random.places().collect();
        for place in rubs {
            self.turn += 1;
            self.rub_written[place.index()].turn = self.turn;
        }
        (0..self.sequential.places()).for_each(|place| self.rank_sub(Slot(place)));
        (0..self.limit).for_each(|place| self.rank_rub(board, Slot(place)));
    }

    /// Where a RUB stands among those that another owner can join; `None`: it takes none.
    fn join_key(&self, board: &Board, place: Slot) -> Option<(u64, u64)> {
        let owners = self.random.sharers(place).count() as u64;
        let most = u64::from(self.settings.K.min(self.pages_per_block));
        let takes = most > 1 && owners < most && self.random.has_room(board.nand(), place);
        let used = u64::from(self.random.pages_used(place));
        takes.then(|| (owners << 32 | used, self.rub_written[place.index()].turn))
    }

    /// Where a RUB stands among those to be merged. Of two with room, that with more of
    /// used + (requests - written) / Nlog comes first; requests are the same for both.
    fn merge_key(&self, board: &Board, place: Slot) -> (u64, u64) {
        let Written { request, turn } = self.rub_written[place.index()];
        let used = u64::from(self.random.pages_used(place)) * u64::from(self.limit);
        match self.random.has_room(board.nand(), place) {
            true => (LEAST_PRIORITY + request - used, turn),
            false => (0, turn),
        }
    }

    /// Every choice is the one that looking at all blocks would give.
    pub(super) fn check_ranks(&self, board: &Board) -> Result<(), String> {
        let subs = || self.sequential.open_logs().map(|(place, _)| place);
        let fullest = subs().min_by_key(|&place| self.free_pages(place));
        let roomy = subs().find(|&place| self.is_roomy(place));
        let join = |place: &Slot| self.join_key(board, *place).map(|(rank, _)| rank);
        let joinable = self.random.places().filter(|place| join(place).is_some());
        let joinable = joinable.min_by_key(|place| join(place));
        let limit = u128::from(self.limit);
        // Exactly, in units of 1 / Nlog.
        let priority = |place: &Slot| match self.random.has_room(board.nand(), *place) {
            true => {
                let idle = self.requests - self.rub_written[place.index()].request;
                u128::from(self.random.pages_used(*place)) * limit + u128::from(idle)
            }
            false => u128::MAX,
        };
        let to_merge = self.random.places().min_by_key(|place| Reverse(priority(place)));
        let ranks = &self.ranks;
        for (what, scanned, ranked) in [
            ("fullest SUB", fullest, ranks.by_room.min()),
            ("roomy SUB", roomy, ranks.roomy.min()),
            ("RUB to join", joinable, ranks.joinable.min()),
            ("RUB to merge", to_merge, ranks.to_merge.min()),
        ] {
            if scanned != ranked {
                return Err(format!("the {what} is {scanned:?}, the order says {ranked:?}"));
            }
        }
        Ok(())
    }
}
