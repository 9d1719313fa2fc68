//! Times of blocks that are used with one bit a cell. The gate says which they are.

use super::{Clock, Place};
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

    /// Whether what a job is of is.
    #[inline]
    pub fn has_page(&self, at: Place) -> bool {
        at.page.is_some_and(|(_, block)| self.has(block))
    }

    pub fn all(&self) -> impl Iterator<Item = Nanos> + '_ {
        let used = !self.blocks.is_empty();
        [self.read, self.program, self.erase].into_iter().filter(move |_| used)
    }
}

impl Clock {
    /// Whether a block is in SLC mode from now on.
    pub fn set_slc(&mut self, block: BlockId, slc: bool) {
        if let Some(slot) = self.slc.blocks.get_mut(block.index()) {
            *slot = u8::from(slc);
        }
    }
}
