//! What the merge engine asks of a scheme's sequential log blocks.

use crate::parts::data_blocks::Lbn;
use crate::parts::merge_engine::MergeEngine;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;

/// Who may take the pages of a logical block before a full merge rebuilds it.
pub trait Absorb {
    /// Merges the sequential log block of `lbn`, if it has one with something valid: then no other
    /// log block holds a valid page of `lbn`. Returns whether that was so, and the moment from
    /// which the reclaim may go on.
    fn absorb(
        &mut self,
        engine: &mut MergeEngine,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<(bool, When), Fault>;
}

/// Schemes without sequential log blocks.
impl Absorb for () {
    fn absorb(
        &mut self,
        _: &mut MergeEngine,
        _: &mut Board,
        _: Lbn,
        after: When,
    ) -> Result<(bool, When), Fault> {
        Ok((false, after))
    }
}
