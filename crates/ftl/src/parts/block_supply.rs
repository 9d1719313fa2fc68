//! Erased blocks for schemes that use whole blocks: one free pool per plane, the moment from which
//! each pool's blocks may be programmed, and the way back (erase, or retirement).
//!
//! A block is wanted in a plane; when that plane has none left, the plane with the most free
//! blocks lends one, so that a device runs dry only as a whole. What this is not: the budget.
//! Schemes declare how many blocks they hold at most.
//!
//! Blocks that were given back are erased at once, or marked for a later erase where a scheme asks
//! for that.

use std::collections::VecDeque;

use crate::parts::free_pool::FreePool;
use crate::parts::wear::{FreeRule, Levelling};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::settings::WearPolicy;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

/// What a block is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It stays in use: the last free block is not for that.
    Growth,
    /// A merge, which gives another block back when it ends. What is merged lives longer than what
    /// was just written: under `wear.policy = dynamic` it takes the most worn block.
    Merge,
    /// Levelling, which gives another block back: the most worn one.
    Wear,
}

/// The erased blocks of a device.
#[derive(Clone, Debug)]
pub struct BlockSupply {
    pools: Vec<FreePool>,
    /// When the last erase of each plane was over.
    ready: Vec<When>,
    free: u32,
    /// The plane that the next shared block comes from.
    turn: u32,
    /// Data that levelling may move, by logical block.
    pub(super) levelling: Option<Levelling>,
    /// Merged data takes worn blocks.
    dynamic: bool,
    /// Blocks to be erased, the oldest first, with what they were and what they were left for;
    /// `None`: they are erased at once.
    marked: Option<VecDeque<(BlockId, BlockRole, Cause)>>,
}

impl BlockSupply {
    /// All blocks of an erased device.
    pub fn new(board: &Board, config: &SharedSettings) -> Self {
        let geometry = board.geometry();
        let rule = FreeRule::of(config);
        let pool = |plane| FreePool::untouched(board.nand(), PlaneId(plane), rule);
        let pools: Vec<FreePool> = (0..geometry.planes()).map(pool).collect();
        BlockSupply {
            free: pools.iter().map(FreePool::len).sum(),
            pools,
            ready: vec![When::START; geometry.planes() as usize],
            turn: 0,
            levelling: Levelling::new(
                config,
                board.nand(),
                geometry.logical_blocks().div_ceil(geometry.planes()),
            ),
            dynamic: config.wear.policy == WearPolicy::Dynamic,
            marked: None,
        }
    }

    /// From now on blocks given back are only marked, and erased by [`BlockSupply::erase_marked`].
    pub fn mark_only(&mut self, board: &Board) {
        self.marked = Some(VecDeque::with_capacity(board.geometry().blocks() as usize));
    }

    /// Blocks that are marked, to be erased.
    pub fn marked(&self) -> u32 {
        self.marked.as_ref().map_or(0, |marked| marked.len() as u32)
    }

    /// A block that holds nothing valid is no longer needed: erased, or marked.
    pub fn give_back(
        &mut self,
        board: &mut Board,
        block: BlockId,
        (role, cause): (BlockRole, Cause),
        after: When,
    ) -> Result<When, Fault> {
        match &mut self.marked {
            Some(marked) => {
                marked.push_back((block, role, cause));
                Ok(after)
            }
            None => self.release(board, block, role, cause, after),
        }
    }

    /// Erases the block marked first; `None` if none is.
    pub fn erase_marked(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let Some((block, role, cause)) = self.marked.as_mut().and_then(VecDeque::pop_front) else {
            return Ok(None);
        };
        self.release(board, block, role, cause, after).map(Some)
    }

    /// Free blocks of the device.
    pub fn free_blocks(&self) -> u32 {
        self.free
    }

    /// Blocks in the pools.
    fn listed_blocks(&self) -> u32 {
        self.pools.iter().map(FreePool::len).sum()
    }

    /// Shared blocks take the planes in turn.
    pub fn next_plane(&mut self) -> PlaneId {
        let plane = self.turn;
        self.turn = (self.turn + 1) % self.pools.len() as u32;
        PlaneId(plane)
    }

    /// Takes an erased block, in `plane` if it has one; it may be programmed from the returned
    /// moment.
    pub fn take(
        &mut self,
        board: &Board,
        plane: PlaneId,
        need: Need,
        after: When,
    ) -> Result<(BlockId, When), Fault> {
        let kept = u32::from(need == Need::Growth);
        if self.free <= kept {
            return Err(self.exhausted(board, after));
        }
        let plane = if self.pools[plane.index()].is_empty() {
            let most = (0..self.pools.len()).rev().max_by_key(|&p| self.pools[p].len());
            most.expect("a device has a plane")
        } else {
            plane.index()
        };
        let pool = &mut self.pools[plane];
        let worn = need == Need::Wear || (need == Need::Merge && self.dynamic);
        let block = if worn { pool.take_worn() } else { pool.take() };
        let block = block.expect("this pool is not empty");
        self.free -= 1;
        Ok((block, after.waits_for(self.ready[plane])))
    }

    /// The logical block (by its number within the plane) that levelling should move to the most
    /// worn free block of the plane; none while the last free block is the only one.
    pub(super) fn due(&mut self, plane: PlaneId) -> Option<u32> {
        let levelling = self.levelling.as_mut()?;
        let worn = self.pools[plane.index()].most_worn()?;
        if self.free > 1 { levelling.due(plane, worn) } else { None }
    }

    /// From now on levelling knows data by the block that it lies in, not by its logical block.
    pub fn level_by_block(&mut self, board: &Board, config: &SharedSettings) {
        let nand = board.nand();
        self.levelling = Levelling::new(config, nand, board.geometry().blocks_per_plane);
        if let Some(levelling) = &mut self.levelling {
            levelling.recover(nand, |_| false);
        }
    }

    /// A block was put to use, for data that levelling may move.
    pub fn placed(&mut self, nand: &Nand, block: BlockId) {
        if let Some(levelling) = &mut self.levelling {
            let plane = nand.geometry().plane_of_block(block);
            let node = block.0 - nand.geometry().blocks_of(plane).start;
            levelling.placed(plane, node, nand.state().block(block).erases);
        }
    }

    /// A block is about to be released.
    pub fn removed(&mut self, nand: &Nand, block: BlockId) {
        if let Some(levelling) = &mut self.levelling {
            let plane = nand.geometry().plane_of_block(block);
            levelling.removed(plane, block.0 - nand.geometry().blocks_of(plane).start);
        }
    }

    /// The block whose data levelling should move to the most worn free block of its plane, where
    /// levelling knows blocks.
    pub fn due_block(&mut self, nand: &Nand, plane: PlaneId) -> Option<BlockId> {
        let node = self.due(plane)?;
        Some(BlockId(nand.geometry().blocks_of(plane).start + node))
    }

    /// Every block is free, in use (`used` of them, by whatever), or retired.
    pub fn self_check(&self, board: &Board, used: u32, what: &str) -> Result<(), String> {
        let blocks = board.geometry().blocks();
        let (free, listed, retired) =
            (self.free, self.listed_blocks(), board.nand().retired_blocks());
        if free == listed && free + used + retired == blocks {
            return Ok(());
        }
        Err(format!(
            "{free} blocks count as free ({listed} are listed), {what}, {retired} are retired: of \
             {blocks} blocks"
        ))
    }

    /// The error of a device without a free block, known at `known`.
    #[cold]
    pub fn exhausted(&self, board: &Board, known: When) -> Fault {
        let retired_blocks = board.nand().retired_blocks();
        let fault = match board.nand().retired_since() {
            0 => Fault::DeviceFull {
                free_blocks: self.free,
                candidates: board.geometry().blocks() - retired_blocks - self.free,
                known: 0,
            },
            _ => Fault::WornOut { retired_blocks, known: 0 },
        };
        fault.not_before(known)
    }

    /// Erases a block that holds nothing valid; it comes back, or is retired.
    pub fn release(
        &mut self,
        board: &mut Board,
        block: BlockId,
        role: BlockRole,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        match board.erase(block, role, cause, after) {
            Ok(done) => {
                let plane = board.geometry().plane_of_block(block).index();
                self.pools[plane].put(board.nand(), block);
                self.ready[plane] = self.ready[plane].join(done);
                self.free += 1;
                if let Some(levelling) = &mut self.levelling {
                    let erases = board.nand().state().block(block).erases;
                    levelling.erased(PlaneId(plane as u32), erases);
                }
                Ok(done)
            }
            Err(Fault::EraseFailed { known, .. }) => {
                board.event(Event::EraseFailures, 1);
                Ok(known)
            }
            Err(fault) => Err(fault),
        }
    }

    /// After a power cut, once valid pages are marked: collects the erased blocks, and erases what
    /// holds nothing valid (what an interrupted erase left undefined among it).
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        role: impl Fn(&Board, BlockId) -> BlockRole,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut supply = BlockSupply::new(board, config);
        supply.free = 0;
        if let Some(levelling) = &mut supply.levelling {
            levelling.recover(board.nand(), |_| false);
        }
        let mut done = after;
        for plane in 0..board.geometry().planes() {
            let pool = FreePool::empty(board.nand(), PlaneId(plane), FreeRule::of(config));
            supply.pools[plane as usize] = pool;
            let mut untouched = board.geometry().blocks_of(PlaneId(plane)).end;
            for number in board.geometry().blocks_of(PlaneId(plane)).rev() {
                let block = BlockId(number);
                let known = *board.nand().state().block(block);
                // A failed program's block that was erased just before the cut is not retired yet.
                let usable = !known.retired && !known.read_only;
                if !known.touched && untouched == number + 1 {
                    untouched = number;
                } else if known.programmed == 0 && usable {
                    supply.pools[plane as usize].put(board.nand(), block);
                } else if known.valid == 0 && !known.retired {
                    let role = role(board, block);
                    let erased = supply.release(board, block, role, Cause::Recover, after)?;
                    done = done.join(erased);
                }
            }
            supply.pools[plane as usize].untouched_from(board.nand(), PlaneId(plane), untouched);
        }
        supply.free = supply.pools.iter().map(FreePool::len).sum();
        Ok((supply, done))
    }
}

#[cfg(test)]
mod return_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    fn two_planes() -> (Board, BlockSupply) {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.planes", "2"), ("device.blocks_per_plane", "3")] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 64);
        let supply = BlockSupply::new(&board, &config);
        (board, supply)
    }

    #[test]
    fn a_plane_without_blocks_borrows_and_growth_leaves_the_last_block_to_merges() {
        let (board, mut supply) = two_planes();
        let mut planes = Vec::new();
        for _ in 0..5 {
            let (block, _) = supply.take(&board, PlaneId(0), Need::Growth, When::START).unwrap();
            planes.push(board.geometry().plane_of_block(block).0);
        }
        assert_eq!(planes, [0, 0, 0, 1, 1]);
        let refused = supply.take(&board, PlaneId(0), Need::Growth, When::START);
        assert_eq!(refused, Err(Fault::DeviceFull { free_blocks: 1, candidates: 5, known: 0 }));
        assert!(supply.take(&board, PlaneId(0), Need::Merge, When::START).is_ok());
        assert_eq!(supply.free_blocks(), 0);
    }

    #[test]
    fn a_block_of_a_plane_is_ready_only_after_the_last_erase_there() {
        let (mut board, mut supply) = two_planes();
        let (block, _) = supply.take(&board, PlaneId(1), Need::Growth, When::START).unwrap();
        let role = BlockRole::Log;
        let erased = supply.release(&mut board, block, role, Cause::Merge, When::START).unwrap();
        assert_eq!(supply.free_blocks(), 6);
        let (_, here) = supply.take(&board, PlaneId(1), Need::Growth, When::START).unwrap();
        let (_, there) = supply.take(&board, PlaneId(0), Need::Growth, When::START).unwrap();
        assert_eq!((here, there), (erased, When::START));
    }

    /// Three blocks a plane; block 5 was bad from the start, which is nobody's wear. Of the other
    /// five one is in use when the device is full.
    #[test]
    fn a_block_that_was_always_bad_is_no_candidate_of_a_full_device() {
        let mut config = SharedSettings::default();
        let pairs = [
            ("device.planes", "2"),
            ("device.blocks_per_plane", "3"),
            ("nand.factory_bad_blocks", "5"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let board = Board::new(&config, 1, 64);
        let mut supply = BlockSupply::new(&board, &config);
        assert_eq!(supply.free_blocks(), 5);
        assert!(supply.take(&board, PlaneId(0), Need::Growth, When::START).is_ok());
        let full = Fault::DeviceFull { free_blocks: 4, candidates: 1, known: 0 };
        assert_eq!(supply.exhausted(&board, When::START), full);
    }

    /// After a power cut, block 0 alone was ever used, and is erased: it is taken before the seven
    /// that are untouched, as before the cut.
    #[test]
    fn blocks_that_were_never_used_are_untouched_after_a_power_cut_too() {
        let mut config = SharedSettings::default();
        config.set("device.blocks_per_plane", "8").expect("legal");
        let mut board = Board::new(&config, 1, 64);
        let erased = board.erase(BlockId(0), BlockRole::Log, Cause::Merge, When::START);
        assert!(erased.is_ok());
        board.nand_mut().cut_power();
        board.power_on();
        let role = |_: &Board, block: BlockId| unreachable!("block {block} holds nothing");
        let (mut supply, _) =
            BlockSupply::recover(&mut board, &config, role, When::START).expect("nothing fails");
        assert_eq!(supply.free_blocks(), 8);
        let taken = [(); 3].map(|()| supply.take(&board, PlaneId(0), Need::Merge, When::START));
        assert_eq!(taken.map(|taken| taken.expect("eight are free").0.0), [0, 1, 2]);
    }

    /// Two planes of four blocks, by block; in the second one block 5, or another one, has no erase
    /// and lies still while others are erased five times. There are two logical blocks: the number
    /// of block 6 in its plane, 2, exists only where levelling knows blocks.
    fn levelled(still: u32) -> (Board, BlockSupply) {
        let mut config = SharedSettings::default();
        let pairs = [
            ("device.planes", "2"),
            ("device.blocks_per_plane", "4"),
            ("device.logical_bytes", "256KiB"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let mut board = Board::new(&config, 1, 64);
        let mut supply = BlockSupply::new(&board, &config);
        supply.level_by_block(&board, &config);
        let taken = [(); 3].map(|()| {
            supply.take(&board, PlaneId(1), Need::Merge, When::START).expect("four are free").0
        });
        assert_eq!(taken.map(|block| block.0), [4, 5, 6]);
        supply.placed(board.nand(), BlockId(still));
        let worn = if still == 6 { BlockId(5) } else { BlockId(6) };
        for _ in 0..5 {
            let (role, cause) = (BlockRole::Data, Cause::Merge);
            let done = supply.release(&mut board, worn, role, cause, When::START);
            assert!(done.is_ok());
            let taken = supply.take(&board, PlaneId(1), Need::Wear, When::START);
            assert_eq!(taken.expect("one was released").0, worn);
        }
        let done = supply.release(&mut board, worn, BlockRole::Data, Cause::Merge, When::START);
        assert!(done.is_ok());
        (board, supply)
    }

    #[test]
    fn what_was_removed_from_the_second_plane_is_not_due_there() {
        for still in [5, 6] {
            let (board, mut supply) = levelled(still);
            assert_eq!(supply.due_block(board.nand(), PlaneId(1)), Some(BlockId(still)));
            supply.removed(board.nand(), BlockId(still));
            assert_eq!(supply.due_block(board.nand(), PlaneId(1)), None);
        }
    }

    #[test]
    fn nothing_is_due_while_the_last_free_block_is_the_only_one() {
        let (board, mut supply) = levelled(5);
        for left in (1..6).rev() {
            let due = supply.due_block(board.nand(), PlaneId(1));
            assert_eq!(due, Some(BlockId(5)), "{} are free", left + 1);
            let plane = if left == 1 { PlaneId(1) } else { PlaneId(0) };
            let taken = supply.take(&board, plane, Need::Growth, When::START);
            assert!(taken.is_ok());
            assert_eq!(supply.free_blocks(), left);
        }
        assert_eq!(supply.due_block(board.nand(), PlaneId(1)), None);
    }
}
