//! What the tree stands on: the map on flash, of pages or of blocks, with the data that it maps.

use super::Frames;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::{Location, Room};
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::slots::Slot;

/// Pages on flash and their map there. The tree sees to it that the map page of a page is in a
/// frame before it is read, written or trimmed here.
pub trait TreeBase: 'static {
    /// Whether changed pages that are written while they stay go out by group, in ascending order;
    /// otherwise those written longest ago first.
    const IN_ORDER: bool;

    /// The frames.
    fn frames(&self) -> &Frames;
    /// The frames.
    fn frames_mut(&mut self) -> &mut Frames;

    /// Reads a map page on flash.
    fn load(&self, board: &mut Board, part: u32, after: When) -> Result<When, Fault>;
    /// A map page that was just read takes a frame.
    fn admit(&mut self, board: &Board, part: u32, ready: When) -> Slot;
    /// Writes a map page in a frame, of which memory holds every entry.
    fn write_map(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault>;

    /// Whether a write must know the page that it supersedes.
    fn needs_old(&self, io: &PageIo) -> bool;
    /// Where the newest copy of a page is on flash, whatever memory holds.
    fn current(&self, board: &Board, lpn: Lpn) -> Option<Ppn>;
    /// Where a page that is not in a frame probably is on flash, for whoever looks ahead.
    #[inline]
    fn find_ahead(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        self.current(board, lpn)
    }
    /// Finds the newest copy of a page on flash, its entry being known.
    fn search(
        &self,
        board: &mut Board,
        lpn: Lpn,
        known: When,
    ) -> Result<(When, Option<Ppn>), Fault>;
    /// The same of a page whose entry is at a place of a map page in a frame.
    #[inline]
    fn search_at(
        &self,
        board: &mut Board,
        _place: (Slot, u32),
        lpn: Lpn,
        known: When,
    ) -> Result<(When, Option<Ppn>), Fault> {
        self.search(board, lpn, known)
    }
    /// Writes a page.
    fn write(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault>;
    /// The same of a page whose entry is at a place of a map page in a frame.
    #[inline(always)]
    fn write_at(
        &mut self,
        board: &mut Board,
        _place: (Slot, u32),
        io: &PageIo,
        known: When,
    ) -> Result<When, Fault> {
        self.write(board, io, known)
    }
    /// Forgets a page.
    fn trim(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault>;
    /// Records trims.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault>;
    /// Map entries that memory has changed and that are not written.
    fn changed_entries(&self) -> u64;
    /// Writes them.
    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault>;
    /// Works in an idle gap.
    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault>;

    /// Whether blocks, map and flash agree.
    fn self_check(&self, board: &Board) -> Result<(), String>;
    /// Free blocks and what they are compared with.
    fn room(&self) -> Room;
    /// What is left of the map when the power goes, if more than flash tells.
    fn power_off(&self, nonvolatile: bool) -> Option<Survivor>;
    /// Trimmed pages that only memory knows of, beside what [`TreeBase::power_off`] tells.
    fn unrecorded_trims(&self) -> Vec<Lpn>;

    /// Reads a page.
    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<(When, Tag), Fault> {
        match self.search(board, io.lpn, known)? {
            (found, Some(ppn)) => board.read(ppn, io.cause, found),
            (found, None) => board.read_unwritten(io.lpn, found),
        }
    }

    /// Where the newest version of a page is on flash.
    #[inline]
    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.current(board, lpn).map_or(Location::Nowhere, Location::Flash)
    }
}
