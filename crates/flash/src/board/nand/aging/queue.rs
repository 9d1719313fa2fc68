//! Blocks that wait until their data is moved, in the order in which they came to be due.

use std::collections::VecDeque;

use crate::units::{BlockId, zeroed};

/// The blocks, each once.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    waiting: VecDeque<BlockId>,
    /// 1 for a block that is in it.
    member: Vec<u8>,
}

impl Queue {
    /// Nobody waits; room for all blocks.
    pub(super) fn new(blocks: u32) -> Self {
        let room = blocks as usize;
        Queue { waiting: VecDeque::with_capacity(room), member: zeroed(room) }
    }

    pub(super) fn has(&self, block: BlockId) -> bool {
        self.member[block.index()] == 1
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.waiting.iter().copied()
    }

    /// Puts a block behind the others, which is not among them.
    pub(super) fn push(&mut self, block: BlockId) {
        debug_assert!(!self.has(block), "block {block} waits already");
        self.member[block.index()] = 1;
        self.waiting.push_back(block);
    }

    /// Puts those that came behind the first `kept` in order.
    pub(super) fn sort_behind(&mut self, kept: usize, key: impl Fn(BlockId) -> u64) {
        let all = self.waiting.make_contiguous();
        all[kept..].sort_unstable_by_key(|&block| (key(block), block.0));
    }

    /// A block waits no more, if it did.
    pub(super) fn remove(&mut self, block: BlockId) {
        if std::mem::take(&mut self.member[block.index()]) == 0 {
            return;
        }
        // It is mostly the first one that is moved and erased.
        if self.waiting.front() == Some(&block) {
            self.waiting.pop_front();
        } else {
            self.waiting.retain(|&other| other != block);
        }
    }
}
