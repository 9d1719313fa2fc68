//! A scheme whichever it is, for what is in front of it and for who looks at the whole: a buffer, an
//! audit. The way of requests is compiled for every scheme; these are compiled once, and ask through
//! one virtual call a page.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::{Location, Unsettled};
use ftlab_ftl::scheme::Scheme;

/// What a buffer and an audit ask of a scheme; each is the function of [`Scheme`] of that name.
pub(crate) trait AnyScheme {
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault>;
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault>;
    fn locate(&self, board: &Board, lpn: Lpn) -> Location;
    fn holder(&self, ppn: Ppn, written_for: Lpn) -> Lpn;
    fn unsettled(&self, board: &Board) -> Unsettled;
    fn self_check(&self, board: &Board) -> Result<(), String>;
    /// [`Scheme::READS_CONTENT`].
    fn reads_content(&self) -> bool;
}

impl<S: Scheme> AnyScheme for S {
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        Scheme::read(self, board, io, after)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        Scheme::write(self, board, io, after)
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        Scheme::locate(self, board, lpn)
    }

    fn holder(&self, ppn: Ppn, written_for: Lpn) -> Lpn {
        Scheme::holder(self, ppn, written_for)
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        Scheme::unsettled(self, board)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        Scheme::self_check(self, board)
    }

    fn reads_content(&self) -> bool {
        S::READS_CONTENT
    }
}
