//! Sequential requests: data goes to flash and comes from there, and what RAM holds is kept true.

use super::Jtl;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Ppn, Tag};

/// A translation page that the present sequential request has read.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    part: u32,
    /// Where it was; elsewhere, it was written since.
    place: Option<Ppn>,
    ready: When,
}

impl Jtl {
    /// Writes a page of a sequential request to flash.
    pub(super) fn write_through(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        self.bypass(board, io);
        let cache = &self.base.map.cache;
        let known = match cache.find(io.lpn) {
            Some(slot) => after.waits_for_map(cache.ready(slot)),
            None => {
                let ready = self.make_place(board, after)?;
                let read = self.load_once(board, io, ready)?;
                self.begin(board, io.lpn, read);
                read
            }
        };
        let Some(slot) = self.data.pages().find(io.lpn) else {
            return self.base.write(board, io, known);
        };
        // The entry will go where entries without a page are. It gets its place there first: should
        // the device have no room for the entry that leaves, nothing was written.
        let ready = self.make_place(board, known)?;
        // What a partial write keeps of the version in RAM goes along. That version leaves when its
        // successor is on flash.
        let held = *self.data.pages().get(slot);
        let merged = self.data.merged(slot, io);
        let done = self.base.write(board, &merged, ready.waits_for_buffer(held.ready))?;
        self.data.supersede(slot, merged.data, done);
        self.sink_alone(board, io.lpn, slot, done);
        Ok(done)
    }

    /// Reads a page of a sequential request: from flash, unless it is in RAM. Nothing moves.
    pub(super) fn read_through(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        self.bypass(board, io);
        let cache = &self.base.map.cache;
        let Some(slot) = cache.find(io.lpn) else {
            let known = self.load_once(board, io, after)?;
            return self.base.read_mapped(board, io, known);
        };
        let known = after.waits_for_map(cache.ready(slot));
        match self.data.pages().find(io.lpn) {
            Some(frame) => self.data.get_merged(&mut self.base, board, (frame, io), known),
            None => self.base.read(board, io, known),
        }
    }

    /// Reads a page whose entry finds no place, because the one that would have to leave cannot be
    /// written any more: the translation page is read for this page alone. The page is not in RAM,
    /// where no page is without its entry.
    #[cold]
    pub(super) fn read_without_place(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        (fault, after): (Fault, When),
    ) -> Result<(When, Tag), Fault> {
        let after = fault.goes_on_without(after)?;
        board.event(Event::BufferLookups, 1);
        self.base.read_alone(board, io, after)
    }

    #[inline]
    fn bypass(&mut self, board: &mut Board, io: &PageIo) {
        board.event(Event::BypassedPages, 1);
        if io.request.index == 0 {
            self.loaded = None;
        }
    }

    /// Reads the translation page of a page of a sequential request, once for all its pages.
    fn load_once(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (part, _) = self.base.map.translation.part_of(io.lpn);
        let place = self.base.map.translation.location(part);
        if let Some(loaded) = self.loaded
            && (loaded.part, loaded.place) == (part, place)
        {
            return Ok(after.waits_for_map(loaded.ready));
        }
        let ready = self.base.load(board, part, after)?;
        self.loaded = Some(Loaded { part, place, ready });
        Ok(ready)
    }
}
