//! What a map writes about itself: checkpoints of changed entries or of the directory, and records
//! of trims.

use super::CachedMap;
use crate::parts::map_cache::MapCache;
use crate::parts::page_space::{PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{PlaneId, pack};

impl<C: MapCache> CachedMap<C> {
    /// Writes a checkpoint of the changed entries and drops the previous one: not while collection
    /// has left pages of which neither these nor flash tell.
    #[cold]
    pub fn save_changed_entries(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        if self.translation.has_astray() {
            return Ok(after);
        }
        self.drop_given_up(space, board);
        let changed = self.cache.changed();
        let words = changed.map(|(lpn, ppn)| [lpn.0, pack(ppn.map(|ppn| ppn.0))]);
        let parts = self.checkpoints.begin(board.nand_mut(), space.open_blocks(), words);
        self.write_checkpoint(space, board, parts, after)
    }

    /// Writes a copy of the directory and drops the previous one.
    #[cold]
    pub fn save_directory(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.drop_given_up(space, board);
        let words = self.translation.gtd().iter().map(|&page| [page]);
        let parts = self.checkpoints.begin(board.nand_mut(), space.open_blocks(), words);
        self.write_checkpoint(space, board, parts, after)
    }

    fn drop_given_up(&mut self, space: &mut PageSpace, board: &mut Board) {
        while let Some(unfinished) = self.checkpoints.next_given_up() {
            space.invalidate(board, unfinished);
        }
    }

    fn write_checkpoint(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        parts: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        for part in 0..parts {
            when = self.write_checkpoint_page(space, board, part, when).inspect_err(|_| {
                self.checkpoints.give_up(board.nand_mut());
            })?;
        }
        while let Some(old) = self.checkpoints.next_superseded() {
            space.invalidate(board, old);
        }
        board.event(Event::Checkpoints, 1);
        Ok(when)
    }

    fn write_checkpoint_page(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        after: When,
    ) -> Result<When, Fault> {
        let place = (space.home(board.nand(), part), Stream::Map);
        let ready = space.make_room(board, self, place, after)?;
        let what = (PageKind::Checkpoint, self.checkpoints.logical(part));
        let checkpoints = &mut self.checkpoints;
        let (new, done) = space.program(board, place, ready, |board, new, ready| {
            let (page, cause) = (checkpoints.next_page(), Cause::Checkpoint);
            let done = board.program_payload(new, what, page, cause, ready)?;
            checkpoints.programmed();
            Ok(done)
        })?;
        self.checkpoints.written(part, new);
        Ok(done)
    }

    /// Writes the record of one pending segment of trims.
    pub fn record_trims(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let plane = PlaneId(0);
        let ready = space.make_room(board, self, (plane, Stream::Map), after)?;
        let (segment, old) = self.trims.next_pending().expect("the caller looked");
        self.trims.fill(segment, board.nand().sequence(), &mut self.words);
        let words = &self.words;
        let place = (plane, Stream::Map);
        let (new, done) = space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::TrimRecord, segment);
            board.program_payload(new, what, Payload::Words(words), Cause::Trim, ready)
        })?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        self.trims.recorded(segment, new);
        Ok(done)
    }
}
