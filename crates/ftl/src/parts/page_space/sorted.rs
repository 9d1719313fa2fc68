//! Moving a victim's pages in the order of their logical numbers, for owners whose map is smaller
//! for neighbours that lie side by side.

use super::{PageOwner, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, Ppn};

impl PageSpace {
    /// Moves up to `most` valid pages of a data block upwards by logical number; how many, and
    /// when.
    pub(super) fn move_sorted<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let mut order = std::mem::take(&mut self.by_number);
        order.clear();
        let mut offset = 0;
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let OobRead::Written(oob) = board.nand().state().oob(page) else {
                unreachable!("a valid page is readable");
            };
            order.push((oob.logical, page.0));
        }
        order.sort_unstable();
        let moved = self.move_these(board, owner, (victim, stream, &order, most), cause, after);
        self.by_number = order;
        moved
    }

    fn move_these<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, pages, most): (BlockId, Option<Stream>, &[(u32, u32)], u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let (mut copied, mut done) = (0, after);
        for &(_, page) in pages {
            if copied == most {
                break;
            }
            let moved = self.move_page(board, owner, (victim, stream, Ppn(page)), cause, after)?;
            copied += u32::from(moved.is_some());
            done = moved.map_or(done, |moved| done.join(moved));
        }
        Ok((copied, done))
    }
}
