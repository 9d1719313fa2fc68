//! What the tree does in idle gaps.

use super::base::TreeBase;
use super::{PageTree, Pruning};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_ftl::parts::slots::Slot;

impl<P: Pruning, B: TreeBase> PageTree<P, B> {
    /// Collects; then, under `treeftl.idle_flush`, writes one changed page, which stays here.
    /// What finds no room for that is left undone.
    pub(super) fn work_in_gap(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if let Some(done) = self.base.idle(board, after)? {
            return Ok(Some(done));
        }
        if !self.settings.idle_flush {
            return Ok(None);
        }
        if let Some(data) = self.next_to_write() {
            let written = self.write_out(board, data, after).map(Some);
            return written.or_else(Fault::unless_worn_out);
        }
        if self.held().maps.dirty_pages() == 0 {
            return Ok(None);
        }
        let slots = self.held().maps.capacity();
        let turn = self.idle_turn;
        let map = (0..slots)
            .map(|step| Slot((turn + step) % slots))
            .find(|&map| self.held().maps.holds(map) && self.held().maps.dirty_entries(map) > 0);
        let map = map.expect("a translation page has changed");
        self.idle_turn = map.0 + 1;
        // As of one that leaves no flush waits for it: the map on flash may stay behind.
        self.write_map(board, map, after).map(Some).or_else(Fault::unless_worn_out)
    }
}
