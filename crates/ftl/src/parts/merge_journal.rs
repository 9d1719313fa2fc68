//! What merges and superseding writes did that some schemes want to hear of: log blocks in which
//! nothing is valid any more, and logical blocks that were rebuilt.
//!
//! Nothing is noted unless a scheme asked for it. What it asked for it takes away after every step;
//! beyond the agreed number nothing is noted, and a log block is then found when its turn comes.

use crate::parts::data_blocks::Lbn;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::{BlockId, Ppn};

/// Notes for a scheme.
#[derive(Clone, Debug, Default)]
pub struct MergeJournal {
    emptied: Vec<BlockId>,
    rebuilt: Vec<Lbn>,
    /// Most of each; what a vector happens to have room for is not duplicated with it.
    most: (usize, usize),
}

impl MergeJournal {
    /// Notes up to `emptied` blocks and `rebuilt` logical blocks at a time; 0: none.
    pub fn listening(emptied: usize, rebuilt: usize) -> Self {
        MergeJournal {
            emptied: Vec::with_capacity(emptied),
            rebuilt: Vec::with_capacity(rebuilt),
            most: (emptied, rebuilt),
        }
    }

    /// A log page was invalidated.
    #[inline]
    pub fn superseded(&mut self, nand: &Nand, ppn: Ppn) {
        let block = nand.geometry().block_of(ppn);
        if self.emptied.len() < self.most.0 && nand.valid_pages(block) == 0 {
            self.emptied.push(block);
        }
    }

    /// A logical block has a new data block.
    #[inline]
    pub fn rebuilt(&mut self, lbn: Lbn) {
        if self.rebuilt.len() < self.most.1 {
            self.rebuilt.push(lbn);
        }
    }

    /// A block that held nothing valid when it was noted; it may have been erased since.
    #[inline]
    pub fn take_emptied(&mut self) -> Option<BlockId> {
        self.emptied.pop()
    }

    /// A logical block that was rebuilt; log pages that merges left alone are where they were.
    #[inline]
    pub fn take_rebuilt(&mut self) -> Option<Lbn> {
        self.rebuilt.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_rebuilt_is_noted_up_to_the_agreed_number() {
        let mut journal = MergeJournal::listening(0, 2);
        assert_eq!(journal.take_rebuilt(), None);
        (4..7).map(Lbn).for_each(|lbn| journal.rebuilt(lbn));
        assert_eq!(journal.take_rebuilt(), Some(Lbn(5)), "the third was not noted");
        assert_eq!(journal.take_rebuilt(), Some(Lbn(4)));
        assert_eq!(journal.take_rebuilt(), None);
    }

    #[test]
    fn who_does_not_listen_hears_nothing() {
        let mut journal = MergeJournal::default();
        journal.rebuilt(Lbn(4));
        assert_eq!((journal.take_rebuilt(), journal.take_emptied()), (None, None));
    }
}
