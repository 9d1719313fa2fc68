//! Log blocks that belong to somebody: an owner is a logical block, or a group of neighbouring
//! ones, and only its pages go to its log blocks. A bounded number of blocks in all; a block is
//! merged when its owner needs another and may not have one, or when a stranger needs a block and
//! none is left.
//!
//! BAST has one log block per logical block, N-K mapping up to K per group of N; KAST lets up to K
//! logical blocks own one block together. What this is not: a judge of when to merge (the
//! scheme's), or the merge itself (`merge_engine`).

#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod tests;
mod victim;

pub use victim::OwnedVictim;

use crate::answers::Room;
use crate::parts::block_supply::Need;
use crate::parts::data_blocks::Lbn;
use crate::parts::merge_engine::{Absorb, MergeEngine, lbn_of_page};
use crate::parts::sequential_log::{Merge, OpenLog, SequentialLog};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::units::{BlockId, Lpn, Ppn, pack, unpack, zeroed};

choices! {
    /// When the pages of a log block count as in order, so that no full merge is needed.
    pub enum SequenceCheck {
        /// Every page that was written lies at its own offset; it may have been trimmed since.
        AllPages = "all_pages",
        /// Every page that was written lies at its own offset and is valid.
        ValidPages = "valid_pages",
        /// Never: every merge is a full merge.
        None = "none",
    }
}

/// Somebody with log blocks: a logical block, or a group of them, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub u32);

impl Owner {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who may own how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Log blocks in all.
    pub limit: u32,
    /// Logical blocks to an owner: neighbours with the same number divided by this.
    pub group: u32,
    /// Owners that may share a log block; 1 where an owner may have several.
    pub sharers: u32,
}

/// What merges are allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeRules {
    /// Which log blocks are in order.
    pub check: SequenceCheck,
    /// Whether a log block that holds the beginning of its logical block is completed.
    pub partial: bool,
}

/// The lists that a place can be in.
const OPEN: usize = 0;
const FREE: usize = 1;

/// The log blocks, their owners, and the order in which they are merged.
#[derive(Clone, Debug)]
pub struct OwnedLogs {
    blocks: Vec<u32>,
    /// Next offset of the block at each place.
    next: Vec<u32>,
    /// Owners of the block at each place, plus one: `shape.sharers` entries, the used ones first.
    owners: Vec<u32>,
    /// The block at each place is its owner's newest but one, plus one (one sharer only).
    older: Vec<u32>,
    /// Place of each owner's newest block, plus one.
    newest_of: Vec<u32>,
    /// Blocks of each owner.
    count_of: Vec<u32>,
    /// Places in use, by last write (lru, cheapest) or by opening; and free ones.
    lists: SlotLists<2>,
    shape: Shape,
    rules: MergeRules,
    victim: OwnedVictim,
    /// The place that round robin looks at next.
    turn: u32,
    rng: Rng,
    pages_per_block: u32,
}

impl OwnedLogs {
    /// No log block yet.
    pub fn new(
        nand: &Nand,
        shape: Shape,
        rules: MergeRules,
        victim: OwnedVictim,
        seed: u64,
    ) -> Self {
        assert!(
            shape.limit > 0 && shape.group > 0 && shape.sharers > 0,
            "none is nobody's: {shape:?}"
        );
        let geometry = nand.geometry();
        let owners = geometry.logical_blocks().div_ceil(shape.group) as usize;
        let places = shape.limit as usize;
        let mut lists = SlotLists::new(shape.limit);
        (0..shape.limit).for_each(|place| lists.push(FREE, Slot(place)));
        OwnedLogs {
            blocks: zeroed(places),
            next: zeroed(places),
            owners: zeroed(places * shape.sharers as usize),
            older: zeroed(places),
            newest_of: zeroed(owners),
            count_of: zeroed(owners),
            lists,
            shape,
            rules,
            victim,
            turn: 0,
            rng: Rng::new(seed, Purpose::Victim),
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// Blocks in use.
    pub fn len(&self) -> u32 {
        self.lists.len(OPEN)
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Blocks that may be opened without a merge.
    pub fn free_blocks(&self) -> u32 {
        self.lists.len(FREE)
    }

    /// Free log blocks; one is enough.
    pub fn room(&self) -> Room {
        Room { free_blocks: self.free_blocks(), threshold: 1 }
    }

    /// Who owns the log pages of a logical block.
    #[inline]
    pub fn owner_of(&self, lbn: Lbn) -> Owner {
        Owner(lbn.0 / self.shape.group)
    }

    /// How many owners there are.
    pub fn owners(&self) -> u32 {
        self.newest_of.len() as u32
    }

    /// Place of an owner's newest log block.
    #[inline]
    pub fn of(&self, owner: Owner) -> Option<Slot> {
        unpack(self.newest_of[owner.index()]).map(Slot)
    }

    /// Log blocks of an owner, alone or together with others.
    #[inline]
    pub fn count(&self, owner: Owner) -> u32 {
        self.count_of[owner.index()]
    }

    /// Log blocks of an owner, the newest first.
    pub fn blocks_of(&self, owner: Owner) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors(self.of(owner), |place| unpack(self.older[place.index()]).map(Slot))
    }

    /// A log block of an owner that takes no more pages and holds nothing valid.
    pub fn emptied(&self, owner: Owner, board: &Board) -> Option<Slot> {
        let nand = board.nand();
        self.blocks_of(owner)
            .find(|&it| nand.valid_pages(self.block(it)) == 0 && !self.has_room(nand, it))
    }

    /// All log blocks: by last write or by opening, as the choice of victims needs it.
    pub fn places(&self) -> impl Iterator<Item = Slot> + '_ {
        self.lists.from_oldest(OPEN)
    }

    /// Whether there is a block at a place.
    pub fn is_used(&self, place: Slot) -> bool {
        self.lists.list_of(place) == Some(OPEN)
    }

    /// The block at a place.
    pub fn block(&self, place: Slot) -> BlockId {
        BlockId(self.blocks[place.index()])
    }

    /// Pages written to the block at a place.
    pub fn pages_used(&self, place: Slot) -> u32 {
        self.next[place.index()]
    }

    /// Whether the block at a place takes another page.
    #[inline]
    pub fn has_room(&self, nand: &Nand, place: Slot) -> bool {
        let full = self.next[place.index()] == self.pages_per_block;
        !full && !nand.state().block(self.block(place)).read_only
    }

    /// Owners of the block at a place.
    pub fn sharers(&self, place: Slot) -> impl Iterator<Item = Owner> + '_ {
        let first = place.index() * self.shape.sharers as usize;
        let all = &self.owners[first..first + self.shape.sharers as usize];
        all.iter().map_while(|&entry| unpack(entry).map(Owner))
    }

    /// One more logical block, or group, without a log block owns the block at a place.
    pub fn join(&mut self, place: Slot, owner: Owner) {
        let sharers = self.sharers(place).count();
        assert!(sharers < self.shape.sharers as usize, "{sharers} owners share this block already");
        assert!(
            self.count(owner) == 0 || self.shape.sharers == 1,
            "an owner that shares has one log block only"
        );
        self.owners[place.index() * self.shape.sharers as usize + sharers] = pack(Some(owner.0));
        self.older[place.index()] = self.newest_of[owner.index()];
        self.newest_of[owner.index()] = pack(Some(place.0));
        self.count_of[owner.index()] += 1;
    }

    /// An owner has nothing valid in the block at a place any more; the block may be nobody's then.
    pub fn leave(&mut self, place: Slot, owner: Owner) {
        let first = place.index() * self.shape.sharers as usize;
        let all = &mut self.owners[first..first + self.shape.sharers as usize];
        let known = all.iter().position(|&entry| entry == pack(Some(owner.0)));
        let known = known.expect("it is one of the owners");
        all[known..].rotate_left(1);
        *all.last_mut().expect("somebody may own it") = 0;
        self.count_of[owner.index()] -= 1;
        // Out of the owner's chain of blocks.
        let older = std::mem::take(&mut self.older[place.index()]);
        let newer = self.blocks_of(owner).find(|&it| self.older[it.index()] == pack(Some(place.0)));
        match newer {
            Some(newer) => self.older[newer.index()] = older,
            None => self.newest_of[owner.index()] = older,
        }
    }

    /// Opens a log block for an owner; it may be written from the returned moment. The block of a
    /// single logical block lies in that one's plane, others take the planes in turn.
    pub fn open(
        &mut self,
        board: &Board,
        engine: &mut MergeEngine,
        owner: Owner,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        let plane = match self.shape {
            Shape { group: 1, sharers: 1, .. } => Lbn(owner.0).plane(board.geometry()),
            _ => engine.supply.next_plane(),
        };
        let (block, ready) = engine.supply.take(board, plane, Need::Growth, after)?;
        let place = self.use_place(block, 0);
        self.join(place, owner);
        Ok((place, ready))
    }

    /// Goes on with a block that somebody else wrote until now.
    pub fn take_over(&mut self, nand: &Nand, block: BlockId, owner: Owner) -> Slot {
        let next = nand.state().block(block).top.min(self.pages_per_block);
        let place = self.use_place(block, next);
        self.join(place, owner);
        place
    }

    fn use_place(&mut self, block: BlockId, next: u32) -> Slot {
        let place = self.lists.oldest(FREE).expect("the scheme asked for free blocks");
        self.lists.remove(place);
        self.lists.push(OPEN, place);
        self.blocks[place.index()] = block.0;
        self.next[place.index()] = next;
        place
    }

    /// Appends a host page to the block at a place, which has room. A failed program leaves the
    /// block without room.
    #[inline]
    pub fn append(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let ppn = board.geometry().page(self.block(place), self.next[place.index()]);
        let old = engine.newest(board.nand(), io.lpn);
        match board.program_update(ppn, old, io, PageKind::Log, after) {
            Ok(done) => {
                self.next[place.index()] += 1;
                if matches!(self.victim, OwnedVictim::Lru | OwnedVictim::Cheapest) {
                    self.lists.remove(place);
                    self.lists.push(OPEN, place);
                }
                engine.logged(board, io.lpn, ppn);
                board.event(Event::RandomLogWrites, 1);
                Ok(done)
            }
            Err(failed @ Fault::ProgramFailed { .. }) => {
                board.event(Event::ProgramFailures, 1);
                Err(failed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// How the block at a place can be merged: a switch if it holds every page of one logical block
    /// in order, partial if it holds the first ones in order and nothing else.
    pub fn outlook(&self, place: Slot, board: &Board, engine: &MergeEngine) -> Merge {
        let Some(open) = self.in_order(place, board) else { return Merge::Full };
        match SequentialLog::kind(board, engine, open, None) {
            Merge::Partial if !self.rules.partial => Merge::Full,
            kind => kind,
        }
    }

    /// Logical blocks with a valid page in the block at a place: what a full merge rebuilds.
    pub fn data_blocks(&self, place: Slot, board: &Board) -> u32 {
        let valid = |from: u32| board.nand().state().next_valid(self.block(place), from);
        let next = |ppn: &Ppn| valid(board.geometry().offset_of(*ppn) + 1);
        let pages = || std::iter::successors(valid(0), next);
        let known = |ppn: &Ppn| {
            let lbn = lbn_of_page(board, *ppn);
            pages().take_while(|other| other < ppn).any(|other| lbn_of_page(board, other) == lbn)
        };
        pages().filter(|ppn| !known(ppn)).count() as u32
    }

    fn in_order(&self, place: Slot, board: &Board) -> Option<OpenLog> {
        let (block, next) = (self.block(place), self.next[place.index()]);
        let mut home = None;
        for offset in 0..next {
            let ppn = board.geometry().page(block, offset);
            let OobRead::Written(oob) = board.nand().state().oob(ppn) else { return None };
            let (lbn, own) = Lbn::of(board.geometry(), Lpn(oob.logical));
            let fits = match self.rules.check {
                SequenceCheck::AllPages => true,
                SequenceCheck::ValidPages => board.nand().state().is_valid(ppn),
                SequenceCheck::None => false,
            };
            if !fits || own != offset || home.is_some_and(|home| home != lbn) {
                return None;
            }
            home = Some(lbn);
        }
        home.map(|owner| OpenLog { block, owner, first: 0, next })
    }

    /// Merges the block at a place as cheaply as is right and gives it back. A block that holds
    /// nothing valid is erased; that is no merge.
    pub fn merge(
        &mut self,
        place: Slot,
        board: &mut Board,
        engine: &mut MergeEngine,
        absorb: &mut impl Absorb,
        after: When,
    ) -> Result<When, Fault> {
        let block = self.block(place);
        let dead = board.nand().valid_pages(block) == 0;
        if !dead {
            board.event(Event::LogPagesAtMerge, u64::from(self.next[place.index()]));
        }
        let open = if dead { None } else { self.in_order(place, board) };
        let cheap = open.map(|open| (open, self.outlook(place, board, engine)));
        let done = match cheap {
            Some((open, Merge::Switch)) => {
                board.merge_switch();
                engine.adopt(board, open.owner, block, after)?
            }
            Some((open, Merge::Partial)) => {
                let target = (open.owner, block, open.first..open.next);
                match engine.complete(board, target, None, after) {
                    Ok(done) => {
                        board.merge_partial();
                        done
                    }
                    Err(Fault::ProgramFailed { known, .. }) => {
                        engine.reclaim(board, block, absorb, known)?
                    }
                    Err(fault) => return Err(fault),
                }
            }
            _ => engine.reclaim(board, block, absorb, after)?,
        };
        self.remove(place);
        Ok(done)
    }

    /// The block at a place was merged, or handed to somebody else.
    pub fn remove(&mut self, place: Slot) {
        let first = place.index() * self.shape.sharers as usize;
        while let Some(owner) = unpack(self.owners[first]) {
            self.leave(place, Owner(owner));
        }
        self.lists.remove(place);
        self.lists.push(FREE, place);
    }

    /// Goes on with a block found after a power cut, the oldest first; false if there is no room,
    /// or its valid pages belong to too many owners, or to one that has `most` blocks already.
    pub fn resume(&mut self, board: &Board, block: BlockId, most: impl Fn(Owner) -> u32) -> bool {
        if self.free_blocks() == 0 {
            return false;
        }
        let known = *board.nand().state().block(block);
        let place = self.use_place(block, known.top.min(self.pages_per_block));
        let mut offset = 0;
        while let Some(ppn) = board.nand().state().next_valid(block, offset) {
            offset = board.geometry().offset_of(ppn) + 1;
            let owner = self.owner_of(lbn_of_page(board, ppn));
            if self.sharers(place).any(|known| known == owner) {
                continue;
            }
            let full = self.sharers(place).count() == self.shape.sharers as usize;
            if full || self.count(owner) >= most(owner) {
                self.remove(place);
                return false;
            }
            self.join(place, owner);
        }
        true
    }

    /// Every valid page of a log block is one of an owner's.
    pub fn self_check(&self, board: &Board) -> Result<(), String> {
        for place in self.places() {
            let block = self.block(place);
            let mut offset = 0;
            while let Some(ppn) = board.nand().state().next_valid(block, offset) {
                offset = board.geometry().offset_of(ppn) + 1;
                let lbn = lbn_of_page(board, ppn);
                let owner = self.owner_of(lbn);
                if !self.sharers(place).any(|known| known == owner) {
                    return Err(format!(
                        "page {ppn} of log block {block} belongs to logical block {}, which does \
                         not own it",
                        lbn.0
                    ));
                }
            }
        }
        Ok(())
    }
}
