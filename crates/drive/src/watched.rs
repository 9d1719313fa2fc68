//! What was reclaimed lately, written down while somebody watches: which pages of an erased block
//! were moved before, and where to. Told by the gate's record of operations alone.
//!
//! Nothing here decides anything, and who does not watch pays nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ftlab_engine::board::nand::Nand;
use ftlab_engine::board::nand::geometry::Geometry;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::Cause;
use ftlab_engine::request::{Completion, Op};
use ftlab_engine::units::{BlockId, Nanos, Ppn};

/// Reclaims that are kept.
pub const KEPT: usize = 24;
/// Erased blocks of one that are told page by page; the others are counted.
pub const VICTIMS: usize = 8;
/// Blocks, not erased yet, whose moved pages are remembered.
const PENDING: usize = 4096;

/// A request during which blocks were erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaim {
    /// From 1 on, since somebody watches.
    pub number: u64,
    /// Which request of the drive it was, from 1 on.
    pub request: u64,
    /// What it asked for.
    pub op: Op,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub bytes: u64,
    /// When it was done, in simulated time.
    pub at: Nanos,
    /// How long that took, in simulated time.
    pub response: Nanos,
    /// Pages that were moved during it.
    pub copied: u32,
    /// Blocks that were erased during it.
    pub erased: u32,
    /// The first of them.
    pub victims: Vec<Victim>,
}

/// An erased block, as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Which.
    pub block: BlockId,
    /// Why it was erased.
    pub cause: Cause,
    /// Its pages in order: `m` moved, `s` superseded, `.` never written.
    pub pages: String,
    /// Blocks that the moved pages went to, and how many.
    pub to: Vec<(BlockId, u32)>,
}

/// What is written down.
pub struct Watched {
    /// A bit per page of flash that is programmed.
    programmed: Vec<u64>,
    /// Of blocks that were not erased yet: place and new block of every page that was moved.
    moved: BTreeMap<BlockIndex, Vec<(u32, BlockId)>>,
    current: Option<Reclaim>,
    kept: VecDeque<Arc<Reclaim>>,
    number: u64,
}

type BlockIndex = u32;

/// Whether pages that are read for this cause are read to be moved.
fn moves(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Gc
            | Cause::GcMapBlock
            | Cause::Merge
            | Cause::Migrate
            | Cause::Convert
            | Cause::Wear
            | Cause::Refresh
            | Cause::Dedup
    )
}

impl Watched {
    /// Begins, with flash as it is.
    pub fn new(nand: &Nand) -> Self {
        let (state, geometry) = (nand.state(), nand.geometry());
        let mut programmed = vec![0; (geometry.pages() as usize).div_ceil(64)];
        let touched = (0..geometry.blocks()).filter(|block| state.block(BlockId(*block)).top > 0);
        for block in touched {
            for offset in 0..geometry.pages_per_block {
                let ppn = geometry.page(BlockId(block), offset);
                if !state.is_free(ppn) {
                    programmed[ppn.0 as usize / 64] |= 1 << (ppn.0 % 64);
                }
            }
        }
        Watched {
            programmed,
            moved: BTreeMap::new(),
            current: None,
            kept: VecDeque::with_capacity(KEPT),
            number: 0,
        }
    }

    /// A request was served; what it did is followed next.
    pub fn begin(&mut self, request: u64, asked: (Op, u64, u64), completion: &Completion) {
        let (op, offset, bytes) = asked;
        self.current = Some(Reclaim {
            number: 0,
            request,
            op,
            offset,
            bytes,
            at: completion.completed,
            response: completion.completed.saturating_sub(completion.arrival),
            copied: 0,
            erased: 0,
            victims: Vec::new(),
        });
    }

    /// What the request did to the flash.
    pub fn follow(&mut self, operations: &[Operation], geometry: &Geometry) {
        let Some(mut current) = self.current.take() else { return };
        let mut read: Option<(Ppn, Cause)> = None;
        for operation in operations {
            match *operation {
                Operation::Read(ppn, cause) => read = moves(cause).then_some((ppn, cause)),
                Operation::Program(to, cause) => {
                    self.programmed[to.0 as usize / 64] |= 1 << (to.0 % 64);
                    if let Some((from, _)) = read.take().filter(|(_, why)| *why == cause) {
                        current.copied += 1;
                        self.note_move(geometry, from, geometry.block_of(to));
                    }
                }
                Operation::Erase(block, cause) => {
                    current.erased += 1;
                    let victim = self.victim(geometry, block, cause);
                    if current.victims.len() < VICTIMS {
                        current.victims.push(victim);
                    }
                }
            }
        }
        if current.erased == 0 {
            return;
        }
        self.number += 1;
        current.number = self.number;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(Arc::new(current));
    }

    fn note_move(&mut self, geometry: &Geometry, from: Ppn, to: BlockId) {
        let moved = self.moved.entry(geometry.block_of(from).0).or_default();
        if moved.len() < geometry.pages_per_block as usize {
            moved.push((geometry.offset_of(from), to));
        }
        if self.moved.len() > PENDING {
            self.moved.pop_first();
        }
    }

    /// A block at its erase; its pages are free from now on.
    fn victim(&mut self, geometry: &Geometry, block: BlockId, cause: Cause) -> Victim {
        let mut pages: Vec<u8> = Vec::with_capacity(geometry.pages_per_block as usize);
        for offset in 0..geometry.pages_per_block {
            let ppn = geometry.page(block, offset);
            let (word, bit) = (&mut self.programmed[ppn.0 as usize / 64], 1 << (ppn.0 % 64));
            pages.push(if *word & bit == 0 { b'.' } else { b's' });
            *word &= !bit;
        }
        let mut to: Vec<(BlockId, u32)> = Vec::new();
        for (offset, target) in self.moved.remove(&block.0).unwrap_or_default() {
            pages[offset as usize] = b'm';
            match to.iter_mut().find(|(known, _)| *known == target) {
                Some((_, count)) => *count += 1,
                None => to.push((target, 1)),
            }
        }
        Victim { block, cause, pages: String::from_utf8(pages).expect("three letters"), to }
    }

    /// Those kept that come behind this number.
    pub fn behind(&self, number: u64) -> Vec<Arc<Reclaim>> {
        self.kept.iter().filter(|reclaim| reclaim.number > number).cloned().collect()
    }
}
