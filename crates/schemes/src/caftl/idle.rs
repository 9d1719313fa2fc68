//! What idle time does: pages that were not hashed are, and whose like is known joins it.

use super::Caftl;
use super::table::Table;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::parts::page_mapped::PageTable;
use ftlab_ftl::parts::sharing_journal::TOGETHER;
use ftlab_ftl::parts::values::{is_sharable, is_value};

impl Caftl {
    /// Hashes the next page that was not, and joins it to its like.
    pub(super) fn hash_next(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Table { unhashed, values, owners, .. } = &mut self.base.map.table;
        if unhashed.is_empty() || !values.has_room() {
            return Ok(None);
        }
        let next = unhashed.next(self.idle_from).or_else(|| unhashed.next(Ppn(0)));
        let Some(ppn) = next else { return Ok(None) };
        unhashed.remove(ppn);
        self.idle_from = Ppn(ppn.0 + 1);
        let (read, value) = board.read(ppn, Cause::Dedup, after)?;
        if !is_value(value) {
            return Ok(Some(read));
        }
        let hashed = board.hash(self.sha1_time, read);
        let done = match values.sharable(board, value) {
            // Another page: one that is to be hashed is not among those that were.
            Some(twin) => {
                debug_assert_ne!(twin, ppn, "it was not hashed");
                // Its out-of-band area names one who has it.
                let owner = owners.first(ppn);
                self.join(board, (value, owner), hashed)?
            }
            None => {
                board.event(Event::ValueEvictions, u64::from(values.written(value, ppn)));
                Some(hashed)
            }
        };
        self.tell(board);
        Ok(done)
    }

    /// A page, one of whose owners is this one, holds the same as another page that is known: who
    /// has one of them alone goes to the other. Where both are shared they stay, because nobody
    /// knows who shares them.
    fn join(
        &mut self,
        board: &mut Board,
        (value, owner): (Tag, Option<Lpn>),
        after: When,
    ) -> Result<Option<When>, Fault> {
        // A device that is worn out stays as it is.
        let ready = match self.ready_for(board, TOGETHER, after) {
            Ok(ready) => ready,
            Err(fault) => return fault.unless_worn_out(),
        };
        // What room was made for may have moved both, or lost one.
        let table = &mut self.base.map.table;
        let page =
            owner.and_then(|owner| table.entry(owner)).filter(|&ppn| is_sharable(board, ppn));
        let (Some(page), Some(twin)) = (page, table.values.sharable(board, value)) else {
            return Ok(Some(ready));
        };
        let has_number = |ppn| table.virtuals.of(ppn).is_some();
        let (from, to) = match (has_number(page), has_number(twin)) {
            (true, true) => return Ok(Some(ready)),
            (true, false) => (twin, page),
            (false, _) => (page, twin),
        };
        table.now = board.nand().sequence();
        if !table.gets_number(to) {
            board.event(Event::SharingRefused, 1);
            return Ok(Some(ready));
        }
        table.values.written(value, to);
        let owner = table.owners.first(from).expect("a valid page without a number has an owner");
        board.event(Event::JoinedPages, 1);
        self.leave_for(board, owner, to);
        let done = board.dram(4, ready);
        Ok(Some(self.recount(board, done)))
    }
}
