//! Times of blocks that are used with one bit a cell. The gate says which they are.

use crate::board::settings::TimingSettings;
use crate::units::{BlockId, Nanos, zeroed};

/// Blocks in SLC mode, and what they take.
#[derive(Clone, Debug)]
pub(super) struct SlcTimes {
    pub read: Nanos,
    pub program: Nanos,
    pub erase: Nanos,
    /// 1: in SLC mode. Empty where cells hold one bit anyway.
    blocks: Vec<u8>,
}

impl SlcTimes {
    pub fn new(timing: &TimingSettings, blocks: u32) -> Self {
        SlcTimes {
            read: timing.slc_read.0,
            program: timing.slc_program.0,
            erase: timing.slc_erase.0,
            blocks: zeroed(blocks as usize),
        }
    }

    /// Whether a block is in SLC mode.
    #[inline]
    pub fn has(&self, block: BlockId) -> bool {
        self.blocks.get(block.index()) == Some(&1)
    }

    /// Whether a block is from now on.
    pub fn set(&mut self, block: BlockId, slc: bool) {
        if let Some(slot) = self.blocks.get_mut(block.index()) {
            *slot = u8::from(slc);
        }
    }

    pub fn all(&self) -> impl Iterator<Item = Nanos> + '_ {
        let used = !self.blocks.is_empty();
        [self.read, self.program, self.erase].into_iter().filter(move |_| used)
    }
}
