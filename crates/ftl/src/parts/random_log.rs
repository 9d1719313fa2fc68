//! Shared log blocks: any page goes to the next page of the newest one, a bounded number of blocks,
//! reclaimed from the oldest.
//!
//! What this is not: the merge (see `merge_engine`).

#[cfg(test)]
mod order_tests;

use std::collections::VecDeque;

use crate::answers::Room;
use crate::parts::block_supply::Need;
use crate::parts::merge_cost::MergeCost;
use crate::parts::merge_engine::MergeEngine;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::{Geometry, PlacementOrder};
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::choices;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn};

choices! {
    /// Which shared log block is reclaimed.
    pub enum LogVictim {
        /// The one that was opened first; as places are refilled in the order in which they are
        /// freed, also what the public code calls round robin.
        Fifo = "fifo",
        /// The one with fewest valid pages, the oldest among equals.
        Greedy = "greedy",
        /// The one that is merged most cheaply: fewest logical blocks with valid pages in it, then
        /// fewest valid pages, the oldest among equals.
        FewestDataBlocks = "fewest_data_blocks",
    }
}

/// Blocks that recovery may hold beyond the limit until they are merged.
const SURPLUS: usize = 16;

/// The shared log blocks, oldest first.
#[derive(Clone, Debug)]
pub struct RandomLog {
    blocks: VecDeque<BlockId>,
    /// Most that there is room for.
    most: usize,
    /// Next offset of the newest block; the block's end when it takes no more.
    next: u32,
    limit: u32,
    pages_per_block: u32,
    victim: LogVictim,
    /// Only under [`LogVictim::FewestDataBlocks`].
    cost: Option<MergeCost>,
    /// What copies are programmed as: recovery tells blocks of data from log blocks by it.
    copies_as: PageKind,
    /// The stripe that its blocks are of, if it is one of several logs side by side.
    stripe: Option<Stripe>,
}

/// Every so many planes, in the order of channels, then dies, then planes.
#[derive(Clone, Copy, Debug)]
struct Stripe {
    /// The turn of the next block's plane, modulo the planes; of the first one the stripe's number,
    /// which is beyond them where there are more stripes than planes.
    turn: u32,
    stripes: u32,
}

impl RandomLog {
    /// Room for `limit` blocks.
    pub fn new(nand: &Nand, limit: u32, victim: LogVictim) -> Self {
        let pages_per_block = nand.geometry().pages_per_block;
        RandomLog {
            blocks: VecDeque::with_capacity(limit as usize + SURPLUS),
            most: limit as usize + SURPLUS,
            next: pages_per_block,
            limit,
            pages_per_block,
            victim,
            cost: (victim == LogVictim::FewestDataBlocks).then(|| MergeCost::new(nand.geometry())),
            copies_as: PageKind::Log,
            stripe: None,
        }
    }

    /// The same for copies that are there to stay: page-mapped data blocks.
    pub fn of_data(nand: &Nand, limit: u32, victim: LogVictim) -> Self {
        RandomLog { copies_as: PageKind::Data, ..RandomLog::new(nand, limit, victim) }
    }

    /// The same, its blocks taken from the planes of stripe `number` of `stripes`, in turn.
    pub fn striped(
        nand: &Nand,
        limit: u32,
        victim: LogVictim,
        (number, stripes): (u32, u32),
    ) -> Self {
        let units = nand.geometry().units_per_flash_page;
        assert!(units == 1, "a turn is a plane, not one of {units} units of a flash page");
        let stripe = Some(Stripe { turn: number, stripes });
        RandomLog { stripe, ..RandomLog::new(nand, limit, victim) }
    }

    /// Whether a plane is of this log's stripe.
    pub fn lives_in(&self, nand: &Nand, plane: PlaneId) -> bool {
        let geometry = nand.geometry();
        self.stripe.is_none_or(|mut stripe| {
            (0..geometry.planes()).any(|_| stripe.next_plane(geometry) == plane)
        })
    }

    /// Blocks that may be opened without a merge.
    pub fn free_blocks(&self) -> u32 {
        self.limit.saturating_sub(self.blocks.len() as u32)
    }

    /// Free log blocks; one is enough.
    pub fn room(&self) -> Room {
        Room { free_blocks: self.free_blocks(), threshold: 1 }
    }

    /// Blocks in use.
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// More blocks than allowed, after a recovery: merge before anything else.
    #[inline]
    pub fn is_over_limit(&self) -> bool {
        self.blocks.len() as u32 > self.limit
    }

    /// The next append must wait for a merge.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.next == self.pages_per_block && self.blocks.len() as u32 >= self.limit
    }

    /// The newest block takes no more pages.
    pub fn close(&mut self) {
        self.next = self.pages_per_block;
    }

    /// Closed blocks: those that can be reclaimed.
    fn candidates(&self) -> usize {
        let open = usize::from(self.next < self.pages_per_block);
        let candidates = self.blocks.len() - open;
        assert!(candidates > 0, "the log is exhausted, so it holds a closed block");
        candidates
    }

    /// The block to reclaim, by its place, and when it is found.
    pub fn choose(&mut self, board: &mut Board, after: When) -> (usize, When) {
        let candidates = self.candidates();
        let (place, steps) = match self.victim {
            LogVictim::Fifo => (0, 1),
            LogVictim::Greedy => {
                let valid = |&place: &usize| board.nand().valid_pages(self.blocks[place]);
                let least = (0..candidates).min_by_key(valid);
                (least.unwrap_or(0), candidates)
            }
            LogVictim::FewestDataBlocks => (self.cheapest(board, candidates), candidates),
        };
        (place, board.search(Search::Block, steps as u32, after))
    }

    /// The block to reclaim: the oldest in which nothing is valid, or else as the policy says.
    pub fn choose_dead_first(&mut self, board: &mut Board, after: When) -> (usize, When) {
        if self.victim != LogVictim::Fifo {
            // Nothing is cheaper, so the policy finds it.
            return self.choose(board, after);
        }
        let candidates = self.candidates();
        let dead = |&place: &usize| board.nand().valid_pages(self.blocks[place]) == 0;
        let found = (0..candidates).find(dead);
        let steps = found.map_or(candidates, |place| place + 1);
        (found.unwrap_or(0), board.search(Search::Block, steps as u32, after))
    }

    fn cheapest(&mut self, board: &Board, candidates: usize) -> usize {
        let cost = self.cost.as_mut().expect("made for this policy");
        let mut best = (0, (u32::MAX, u32::MAX));
        for place in 0..candidates {
            if let Some(less) = cost.below(board, self.blocks[place], best.1) {
                best = (place, less);
            }
        }
        best.0
    }

    /// The block at a place.
    pub fn block(&self, place: usize) -> BlockId {
        self.blocks[place]
    }

    /// The block at a place was reclaimed, or handed to somebody else.
    pub fn remove(&mut self, place: usize) {
        if place + 1 == self.blocks.len() {
            self.close();
        }
        let block = self.blocks.remove(place).expect("a block of the log");
        if let Some(cost) = &mut self.cost {
            cost.forget(block);
        }
    }

    /// All blocks, the oldest first.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = BlockId> + '_ {
        self.blocks.iter().copied()
    }

    /// Where a block is, if it is one of these.
    pub fn position(&self, block: BlockId) -> Option<usize> {
        self.blocks.iter().position(|&known| known == block)
    }

    /// The block that takes the next page, if one has room.
    pub fn open_block(&self) -> Option<BlockId> {
        if self.next == self.pages_per_block { None } else { self.blocks.back().copied() }
    }

    /// Most blocks in use.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets how many blocks may be in use, at most as many as there was room for at the start.
    pub fn set_limit(&mut self, limit: u32) {
        assert!(
            limit as usize + SURPLUS <= self.most,
            "a log made for {} blocks cannot have {limit}",
            self.most - SURPLUS
        );
        self.limit = limit;
    }

    /// Moves a closed block behind the other closed ones: it is the last to be reclaimed. The block
    /// being written stays the newest.
    pub fn requeue(&mut self, place: usize) {
        let block = self.blocks.remove(place).expect("a block of the log");
        let newest = usize::from(self.next < self.pages_per_block);
        self.blocks.insert(self.blocks.len() - newest, block);
    }

    /// Adds a block found after a power cut, oldest first; the last one goes on being written.
    pub fn resume(&mut self, nand: &Nand, block: BlockId) {
        let known = nand.state().block(block);
        self.blocks.push_back(block);
        self.next = if known.read_only { self.pages_per_block } else { known.top };
    }

    /// The page that the next append goes to, opening a block if need be.
    fn next_page(
        &mut self,
        board: &Board,
        engine: &mut MergeEngine,
        need: Need,
        after: When,
    ) -> Result<(Ppn, When), Fault> {
        let mut ready = after;
        if self.next == self.pages_per_block {
            let plane = match &mut self.stripe {
                None => engine.supply.next_plane(),
                Some(stripe) => stripe.next_plane(board.geometry()),
            };
            let (block, erased) = engine.supply.take(board, plane, need, after)?;
            self.blocks.push_back(block);
            self.next = 0;
            ready = erased;
        }
        let block = *self.blocks.back().expect("opened above");
        Ok((board.geometry().page(block, self.next), ready))
    }

    /// Appends a host page. A failed program closes the block and is handed back: whether another
    /// may be opened is the scheme's to say.
    #[inline]
    pub fn append(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let (ppn, ready) = self.next_page(board, engine, Need::Growth, after)?;
        let old = engine.newest(board.nand(), io.lpn);
        match board.program_update(ppn, old, io, PageKind::Log, ready) {
            Ok(done) => {
                self.next += 1;
                engine.logged(board, io.lpn, ppn);
                board.event(Event::RandomLogWrites, 1);
                Ok(done)
            }
            Err(failed @ Fault::ProgramFailed { .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.close();
                Err(failed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Appends a copy of a page whose newest version is at `from`; goes beyond the limit if need
    /// be.
    pub fn append_copy(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        (lpn, from): (Lpn, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut after = after;
        loop {
            let (ppn, ready) = self.next_page(board, engine, Need::Merge, after)?;
            match board.copy(from, ppn, self.copies_as, cause, ready) {
                Ok(done) => {
                    self.next += 1;
                    board.nand_mut().discard(from);
                    engine.logs.set(lpn, ppn);
                    return Ok(done);
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    after = known;
                    board.event(Event::ProgramFailures, 1);
                    self.close();
                }
                Err(fault) => return Err(fault),
            }
        }
    }
}

impl Stripe {
    fn next_plane(&mut self, geometry: &Geometry) -> PlaneId {
        let plane = geometry.static_plane(PlacementOrder::ChannelDiePlane, self.turn);
        self.turn = (self.turn + self.stripes) % geometry.planes();
        plane
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::merge_engine::lbn_of_page;
    use crate::settings::SharedSettings;
    use ftlab_flash::request::RequestShape;
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Tag;
    use std::collections::BTreeSet;

    fn io(lpn: u32) -> PageIo {
        let lpn = Lpn(lpn);
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data: Tag(1), request }
    }

    /// Logical blocks and valid pages of a block, counted page by page.
    fn cost(board: &Board, block: BlockId) -> (usize, u32) {
        let pages = (0..4).map(|offset| board.geometry().page(block, offset));
        let valid: Vec<_> = pages.filter(|&ppn| board.nand().state().is_valid(ppn)).collect();
        let blocks: BTreeSet<_> = valid.iter().map(|&ppn| lbn_of_page(board, ppn)).collect();
        (blocks.len(), valid.len() as u32)
    }

    #[test]
    fn the_cheapest_victim_is_the_one_that_counting_every_closed_block_finds() {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "64")] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 64);
        let mut engine = MergeEngine::new(&board, &config);
        let mut log = RandomLog::new(board.nand(), 5, LogVictim::FewestDataBlocks);
        let mut rng = Rng::new(7, Purpose::Workload);
        let mut found = BTreeSet::new();
        for _ in 0..6000 {
            // Half of the writes go to three logical blocks; some pages are superseded elsewhere.
            let lpn = if rng.below(2) == 0 { rng.below(12) } else { rng.below(200) };
            if rng.below(8) == 0 {
                engine.forget(&mut board, Lpn(lpn));
                continue;
            }
            if log.is_exhausted() {
                let (place, _) = log.choose(&mut board, When::START);
                let victims = 0..log.candidates();
                let costs: Vec<_> = victims.map(|place| cost(&board, log.block(place))).collect();
                let cheapest = costs.iter().min().expect("a closed block");
                assert_eq!(
                    Some(place),
                    costs.iter().position(|cost| cost == cheapest),
                    "{costs:?}"
                );
                found.insert(*cheapest);
                let victim = log.block(place);
                let merged = engine.reclaim(&mut board, victim, &mut (), When::START);
                assert!(merged.is_ok());
                log.remove(place);
            }
            let written = log.append(&mut board, &mut engine, &io(lpn), When::START);
            assert!(written.is_ok());
        }
        assert!(found.len() > 4, "victims of many costs: {found:?}");
    }
}
