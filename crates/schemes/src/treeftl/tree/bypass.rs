//! Sequential requests: data goes to flash and comes from there, and the tree is kept true.

use super::base::TreeBase;
use super::{PageTree, Pruning};
use crate::treeftl::settings::{BypassCopy, BypassMap, HitScope};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::Tag;
use ftlab_ftl::parts::held_pages::Held;

impl<P: Pruning, B: TreeBase> PageTree<P, B> {
    /// Writes a page of a sequential request to flash.
    pub(super) fn write_through(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let written = self.write_past(board, io, after);
        self.end_on_fault(board, written)
    }

    /// Reads a page of a sequential request from flash, unless a version of it is cached.
    pub(super) fn read_through(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        let read = self.read_past(board, io, after);
        self.end_on_fault(board, read)
    }

    /// A request that a fault ends leaves its working page as a translation page like any other.
    fn end_on_fault<T>(&mut self, board: &mut Board, end: Result<T, Fault>) -> Result<T, Fault> {
        if end.is_err() {
            self.keep_working_page(board);
        }
        end
    }

    fn keep_working_page(&mut self, board: &mut Board) {
        if let Some(part) = self.working.take() {
            let map = self.held().maps.find(part).expect("the working page is in memory");
            self.order.loaded(board, map);
        }
    }

    fn write_past(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        board.event(Event::BypassedPages, 1);
        let known = self.translate_bypassing(board, io, after)?;
        self.count_data(board, io);
        let Some(data) = self.held().find(io.lpn) else {
            let done = self.base.write(board, io, known)?;
            return self.finish_bypass(board, io, done);
        };
        // A cached version is superseded. What a partial write keeps of it goes along.
        let Held { sectors, tag, ready, .. } = *self.held().get(data);
        let kept = sectors & !io.sectors & self.all_sectors;
        let lost = kept != 0 && tag == Tag::UNREADABLE;
        let version = if lost { Tag::UNREADABLE } else { io.data };
        let merged = PageIo { sectors: io.sectors | kept, data: version, ..*io };
        // It leaves when its successor is on flash: a cut before that finds it where it was.
        let done = self.base.write(board, &merged, known.waits_for_buffer(ready))?;
        match self.settings.bypass_invalidate {
            BypassCopy::Drop => {
                self.drop_data(data, done);
                // Now, while a working page counts as well.
                self.tell_levels(board);
            }
            BypassCopy::Update => {
                let parent = self.held().parent(data);
                self.order.used_data(board, parent, data);
                let done = board.ram_pages(RamWork::Data, 1, done);
                self.held_mut().write(data, version, merged.sectors, done);
                self.held_mut().written_out(data);
            }
        }
        self.finish_bypass(board, io, done)
    }

    fn read_past(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        board.event(Event::BypassedPages, 1);
        let known = match self.translate_bypassing(board, io, after) {
            Ok(known) => known,
            Err(fault) => {
                self.count_data(board, io);
                return self.read_without_frame(board, io, (fault, after));
            }
        };
        self.count_data(board, io);
        let (done, tag) = match self.held().find(io.lpn) {
            Some(data) => self.read_held(board, data, known),
            None => self.base.read(board, io, known)?,
        };
        Ok((self.finish_bypass(board, io, done)?, tag))
    }

    fn count_data(&self, board: &mut Board, io: &PageIo) {
        if self.settings.hit_scope == HitScope::All {
            board.event(Event::BufferLookups, 1);
            board.event(Event::BufferHits, u64::from(self.held().find(io.lpn).is_some()));
        }
    }

    /// Makes sure that an entry is in memory, in a frame or in the working page.
    fn translate_bypassing(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let counted = self.settings.hit_scope == HitScope::All;
        let part = self.held().part_of(io.lpn);
        let cached = self.held().maps.find(part);
        if self.working == Some(part) {
            let map = cached.expect("the working page is in memory");
            return Ok(after.waits_for_map(self.held().maps.ready(map)));
        }
        if self.settings.bypass_map == BypassMap::Cached || cached.is_some() {
            let (map, known) = self.translate(board, io.lpn, counted, after)?;
            if self.held().find(io.lpn).is_none() {
                self.use_map(board, map);
            }
            return Ok(known);
        }
        assert!(self.working.is_none(), "one working page at a time");
        board.event(Event::MapLookups, u64::from(counted));
        let mut when = after;
        // After a recovery the frames may be one page fuller than they should.
        while self.used() > self.frames {
            when = self.evict(board, None, when)?;
        }
        // Before the working page counts as well.
        self.tell_levels(board);
        let map = self.load_map(board, part, when)?;
        self.working = Some(part);
        Ok(self.held().maps.ready(map))
    }

    /// The request is done with a page. With its last page in a translation page the working page
    /// goes back to flash, if it changed.
    fn finish_bypass(&mut self, board: &mut Board, io: &PageIo, done: When) -> Result<When, Fault> {
        let Some(part) = self.working else { return Ok(done) };
        let last = io.request.index + 1 == io.request.pages;
        let end = self.held().end_of(part);
        if !last && io.lpn.0 + 1 < end {
            return Ok(done);
        }
        let map = self.held().maps.find(part).expect("the working page is in memory");
        let mut written = done;
        if self.held().maps.dirty_entries(map) > 0 {
            match self.base.write_map(board, part, done) {
                Ok(end) => {
                    board.event(Event::MapPageFlushes, 1);
                    written = end;
                }
                Err(Fault::PowerCut) => return Err(Fault::PowerCut),
                // What was asked for is on flash. That nothing more can be written is for the next
                // write to say.
                Err(_) => {
                    self.keep_working_page(board);
                    return Ok(done);
                }
            }
        }
        self.held_mut().maps.remove(map);
        self.working = None;
        Ok(written)
    }
}
