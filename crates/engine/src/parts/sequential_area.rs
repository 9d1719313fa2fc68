//! Several sequential log blocks: at most one per logical block, a bounded number in all, in order
//! of their last write.
//!
//! What this is not: a judge of which writes are sequential (the scheme's), or of a single block's
//! stream and merge (`sequential_log`).

use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::parts::cmt::Slot;
use crate::parts::cmt::slot_list::SlotLists;
use crate::parts::data_blocks::Lbn;
use crate::parts::merge_engine::{Absorb, MergeEngine};
use crate::parts::sequential_log::{OpenLog, SequentialLog};
use crate::request::PageIo;
use crate::units::{pack, unpack, zeroed};

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

    /// Opens a block for the logical block of `io`, beginning with that page.
    pub fn open(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let (owner, _) = Lbn::of(board.geometry(), io.lpn);
        assert!(self.of(owner).is_none(), "logical block {} has a log block", owner.0);
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
        self.lists.remove(place);
        self.lists.push(OPEN, place);
        self.act((place, self.owner(place)), |log| log.append(board, engine, io, after))
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
