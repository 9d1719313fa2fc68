//! Several sequential log blocks: at most one per logical block, a bounded number in all, in order
//! of their last write.
//!
//! What this is not: a judge of which writes are sequential (the scheme's), or of a single block's
//! stream and merge (`sequential_log`).

#[cfg(test)]
mod choice_tests;

use crate::parts::data_blocks::Lbn;
use crate::parts::merge_engine::{Absorb, MergeEngine};
use crate::parts::sequential_log::{Merge, OpenLog, SequentialLog};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::choices;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{pack, unpack, zeroed};

choices! {
    /// Which sequential log block is merged when the area is full.
    pub enum SequentialVictim {
        /// The one written longest ago.
        Lru = "lru",
        /// The one whose merge is cheapest (switch, partial, full), then the one written longest
        /// ago.
        Cheapest = "cheapest",
    }
}

/// The lists that a place can be in.
const OPEN: usize = 0;
const FREE: usize = 1;

/// Blocks that recovery may hold beyond the limit until they are merged.
const SURPLUS: u32 = 16;

/// A set of sequential log blocks.
#[derive(Clone, Debug)]
pub struct SequentialArea {
    logs: Vec<SequentialLog>,
    /// Open places by last write, and free ones.
    lists: SlotLists<2>,
    /// Place of each logical block's log block, plus one.
    place_of: Vec<u32>,
    limit: u32,
    most: u32,
}

impl SequentialArea {
    /// Room for `limit` blocks now, never more than `most`.
    pub fn new(geometry: &Geometry, limit: u32, most: u32) -> Self {
        assert!(limit <= most, "an area for {most} blocks cannot have {limit}");
        let places = most + SURPLUS;
        let mut lists = SlotLists::new(places);
        (0..places).for_each(|place| lists.push(FREE, Slot(place)));
        SequentialArea {
            logs: vec![SequentialLog::default(); places as usize],
            lists,
            place_of: zeroed(geometry.logical_blocks() as usize),
            limit,
            most,
        }
    }

    /// RAM of `blocks` sequential log blocks: block, owner and next offset of each.
    pub fn ram_bytes(blocks: u64) -> u64 {
        blocks * SequentialLog::RAM_BYTES
    }

    /// Blocks in use.
    pub fn len(&self) -> u32 {
        self.lists.len(OPEN)
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next block needs a merge first.
    pub fn is_exhausted(&self) -> bool {
        self.len() >= self.limit
    }

    /// More blocks than allowed: merge before anything else.
    pub fn is_over_limit(&self) -> bool {
        self.len() > self.limit
    }

    /// Most blocks in use.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets how many blocks may be in use.
    pub fn set_limit(&mut self, limit: u32) {
        assert!(limit <= self.most, "an area for {} blocks cannot have {limit}", self.most);
        self.limit = limit;
    }

    /// The log block of a logical block.
    #[inline]
    pub fn of(&self, lbn: Lbn) -> Option<Slot> {
        unpack(self.place_of[lbn.index()]).map(Slot)
    }

    /// One log block, to ask its rules.
    #[inline]
    pub fn log(&self, place: Slot) -> &SequentialLog {
        &self.logs[place.index()]
    }

    /// Log blocks in use, the one written longest ago first.
    pub fn open_logs(&self) -> impl Iterator<Item = (Slot, &SequentialLog)> + '_ {
        self.lists.from_oldest(OPEN).map(|place| (place, &self.logs[place.index()]))
    }

    /// The block written longest ago.
    pub fn oldest(&self) -> Option<Slot> {
        self.lists.oldest(OPEN)
    }

    /// The block to merge, of a full area, and when it is found. Where the area is to shrink, one
    /// that a switch would do for is the last choice.
    pub fn choose(
        &self,
        board: &mut Board,
        engine: &MergeEngine,
        (rule, shrinking): (SequentialVictim, bool),
        after: When,
    ) -> (Slot, When) {
        let lru = rule == SequentialVictim::Lru;
        let oldest = self.oldest().expect("a full area has a block");
        if lru && !shrinking {
            return (oldest, after);
        }
        let found = board.search(Search::Block, self.len(), after);
        let cost = |(_, log): &(Slot, &SequentialLog)| {
            let merge = log.outlook(board, engine);
            let switched = shrinking && merge == Some(Merge::Switch);
            (switched, merge.filter(|_| !lru))
        };
        let least = self.open_logs().min_by_key(cost);
        (least.map_or(oldest, |(place, _)| place), found)
    }

    /// Opens a block for the logical block of `io`, which has none, beginning with that page; the
    /// area is not exhausted.
    pub fn open(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let (owner, _) = Lbn::of(board.geometry(), io.lpn);
        assert!(self.of(owner).is_none(), "logical block {} has a log block", owner.0);
        assert!(!self.is_exhausted(), "{} of {} blocks are in use", self.len(), self.limit);
        let place = self.lists.oldest(FREE).expect("the limit leaves places");
        self.use_place(place, owner);
        self.act((place, owner), |log| log.open(board, engine, io, after))
    }

    /// Writes the next page of a block's stream.
    pub fn append(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        self.lists.renew(place);
        self.act((place, self.owner(place)), |log| log.append(board, engine, io, after))
    }

    /// Writes a page beyond the next one of a block's stream, the gap filled with copies.
    pub fn append_padded(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        self.lists.renew(place);
        self.act((place, self.owner(place)), |log| log.append_padded(board, engine, io, after))
    }

    /// Hands a block over to somebody who goes on writing it.
    pub fn give_up(&mut self, place: Slot) -> OpenLog {
        let given = self.act((place, self.owner(place)), |log| Ok(log.give_up()));
        given.ok().flatten().expect("a place in use has a block")
    }

    /// Places there are, in use or not: every [`Slot`] of this area is below this.
    pub fn places(&self) -> u32 {
        self.most + SURPLUS
    }

    /// Merges a block as cheaply as is right, with the host page `insert` put at its own place on
    /// the way.
    pub fn merge(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        self.act((place, self.owner(place)), |log| log.merge(board, engine, insert, after))
    }

    /// Merges a block in full.
    pub fn merge_in_full(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        self.act((place, self.owner(place)), |log| log.merge_in_full(board, engine, insert, after))
    }

    /// Goes on with a block found after a power cut; false if its logical block has one already, or
    /// there is no room.
    pub fn resume(&mut self, open: OpenLog) -> bool {
        if self.of(open.owner).is_some() || self.is_exhausted() {
            return false;
        }
        let place = self.lists.oldest(FREE).expect("the limit leaves places");
        self.use_place(place, open.owner);
        self.logs[place.index()] = SequentialLog::resumed(Some(open));
        true
    }

    fn use_place(&mut self, place: Slot, owner: Lbn) {
        self.lists.remove(place);
        self.lists.push(OPEN, place);
        self.place_of[owner.index()] = pack(Some(place.0));
    }

    /// Does something to a block that `owner` has; its place is free when the block is gone
    /// afterwards, also when what was done failed half way.
    fn act<T>(
        &mut self,
        (place, owner): (Slot, Lbn),
        act: impl FnOnce(&mut SequentialLog) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let log = &mut self.logs[place.index()];
        let result = act(log);
        if log.open_log().is_none() {
            self.place_of[owner.index()] = 0;
            self.lists.remove(place);
            self.lists.push(FREE, place);
        }
        result
    }

    fn owner(&self, place: Slot) -> Lbn {
        self.log(place).open_log().expect("a place in use has a block").owner
    }
}

impl Absorb for SequentialArea {
    fn absorb(
        &mut self,
        engine: &mut MergeEngine,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<(bool, When), Fault> {
        match self.of(lbn) {
            Some(place) => self.act((place, lbn), |log| log.absorb(engine, board, lbn, after)),
            None => Ok((false, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::{Cause, Event};
    use ftlab_flash::request::RequestShape;
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{BlockId, Lpn, Tag};

    const MOST: u32 = 4;
    const OWNERS: u32 = 7;

    struct Bench {
        board: Board,
        engine: MergeEngine,
        area: SequentialArea,
        /// The naive model: owner, first and next offset, the one written longest ago first.
        model: Vec<(u32, u32, u32)>,
    }

    fn bench(limit: u32) -> Bench {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "64")] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 64);
        let engine = MergeEngine::new(&board, &config);
        let area = SequentialArea::new(board.geometry(), limit, MOST);
        Bench { board, engine, area, model: Vec::new() }
    }

    fn io(owner: u32, offset: u32) -> PageIo {
        let lpn = Lpn(4 * owner + offset);
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data: Tag(1), request }
    }

    impl Bench {
        fn place(&self, owner: u32) -> Slot {
            self.area.of(Lbn(owner)).expect("the model has this owner")
        }

        /// Opens, or writes the next page, or merges what stands in the way.
        fn write(&mut self, owner: u32, first: u32) {
            let known = self.model.iter().position(|log| log.0 == owner);
            let (board, engine) = (&mut self.board, &mut self.engine);
            match known.map(|at| self.model[at]) {
                Some((_, _, 4)) => self.merge(owner, false),
                Some((_, begun, next)) => {
                    let place = self.area.of(Lbn(owner)).expect("the model has this owner");
                    let page = io(owner, next);
                    let written = self.area.append(place, board, engine, &page, When::START);
                    assert!(written.is_ok());
                    self.model.retain(|log| log.0 != owner);
                    self.model.push((owner, begun, next + 1));
                }
                None if self.model.len() < self.area.limit() as usize => {
                    let page = io(owner, first);
                    let opened = self.area.open(board, engine, &page, When::START);
                    assert!(opened.is_ok());
                    self.model.push((owner, first, first + 1));
                }
                None => {
                    assert!(self.area.is_exhausted());
                    self.merge(self.model[0].0, false);
                }
            }
        }

        fn merge(&mut self, owner: u32, in_full: bool) {
            let place = self.place(owner);
            let (board, engine) = (&mut self.board, &mut self.engine);
            let merged = match in_full {
                true => self.area.merge_in_full(place, board, engine, None, When::START),
                false => self.area.merge(place, board, engine, None, When::START),
            };
            assert!(merged.is_ok());
            self.model.retain(|log| log.0 != owner);
        }

        fn absorb(&mut self, owner: u32) {
            let (board, engine) = (&mut self.board, &mut self.engine);
            let (absorbed, _) =
                self.area.absorb(engine, board, Lbn(owner), When::START).expect("no fault");
            assert_eq!(absorbed, self.model.iter().any(|log| log.0 == owner));
            self.model.retain(|log| log.0 != owner);
        }

        fn check(&self) {
            let open = |(_, log): (Slot, &SequentialLog)| {
                let open = log.open_log().expect("a place in use has a block");
                (open.owner.0, open.first, open.next)
            };
            assert_eq!(self.area.open_logs().map(open).collect::<Vec<_>>(), self.model);
            assert_eq!(self.area.len() as usize, self.model.len());
            assert_eq!(self.area.is_empty(), self.model.is_empty());
            assert_eq!(self.area.is_over_limit(), self.area.len() > self.area.limit());
            assert_eq!(self.area.oldest(), self.model.first().map(|log| self.place(log.0)));
            for owner in 0..OWNERS {
                let known = self.model.iter().any(|log| log.0 == owner);
                assert_eq!(self.area.of(Lbn(owner)).is_some(), known, "owner {owner}");
            }
            self.engine.self_check(&self.board, self.area.len()).expect("no block is lost");
        }
    }

    #[test]
    fn an_area_is_a_plain_list_of_logs_by_last_write_whatever_happens() {
        let mut bench = bench(2);
        let mut rng = Rng::new(4, Purpose::Workload);
        for _ in 0..4000 {
            let (owner, first) = (rng.below(OWNERS), rng.below(2));
            let any = bench.model.get(rng.below(MOST) as usize).map(|log| log.0);
            match (rng.below(20), any) {
                (0, Some(open)) => bench.merge(open, false),
                (1, Some(open)) => bench.merge(open, true),
                (2, _) => bench.absorb(owner),
                (3, _) => bench.area.set_limit(1 + rng.below(MOST)),
                _ => bench.write(owner, first),
            }
            bench.check();
        }
        let merges = bench.board.meter().merges();
        assert!(merges.switch > 40 && merges.partial > 100 && merges.full > 50, "{merges:?}");
        assert!(bench.board.meter().events(Event::SequentialLogOpens) > 500);
    }

    #[test]
    fn a_smaller_limit_counts_at_once_and_blocks_stay_until_they_are_merged() {
        let mut bench = bench(3);
        (0..3).for_each(|owner| bench.write(owner, 0));
        assert!(bench.area.is_exhausted() && !bench.area.is_over_limit());
        bench.area.set_limit(1);
        assert_eq!((bench.area.len(), bench.area.is_over_limit()), (3, true));
        bench.merge(0, false);
        bench.merge(1, false);
        assert!(bench.area.is_exhausted() && !bench.area.is_over_limit());
        bench.check();
    }

    #[test]
    fn a_block_whose_pages_are_all_superseded_is_erased_and_absorbs_nothing() {
        let mut bench = bench(1);
        bench.write(3, 0);
        assert!(bench.engine.forget(&mut bench.board, Lpn(12)));
        let (board, engine) = (&mut bench.board, &mut bench.engine);
        let (absorbed, _) =
            bench.area.absorb(engine, board, Lbn(3), When::START).expect("no fault");
        assert!(!absorbed, "others hold the newest copies");
        bench.model.clear();
        bench.check();
        assert_eq!(bench.board.meter().events(Event::DeadLogBlocks), 1);
    }

    #[test]
    fn recovery_takes_one_block_per_owner_and_no_more_than_the_limit() {
        let mut bench = bench(2);
        let found = |block, owner, next| OpenLog {
            block: BlockId(block),
            owner: Lbn(owner),
            first: 0,
            next,
        };
        let logs = [found(9, 5, 1), found(8, 5, 2), found(7, 1, 3), found(6, 2, 1)];
        assert_eq!(logs.map(|log| bench.area.resume(log)), [true, false, true, false]);
        let resumed = bench.area.open_logs().filter_map(|(_, log)| log.open_log());
        assert_eq!(resumed.collect::<Vec<_>>(), [logs[0], logs[2]]);
        assert!(bench.area.is_exhausted());
    }
}
