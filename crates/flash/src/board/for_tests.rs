//! Boards for tests, and what is done to them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::request::RequestShape;
use crate::settings::Groups as _;

/// Settings that are legal alone; what they are together is the test's affair.
pub fn settings(pairs: &[(&str, &str)]) -> BoardSettings {
    let mut config = BoardSettings::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    config
}

/// An erased device.
pub fn board(pairs: &[(&str, &str)]) -> Board {
    Board::new(&settings(pairs), 1, 0)
}

/// What the host writes to a page as a whole.
pub fn io(lpn: u32, data: Tag) -> PageIo {
    let first_lpn = Lpn(lpn);
    let request = RequestShape { first_lpn, pages: 1, index: 0, sectors: 4, hint: None };
    PageIo { lpn: first_lpn, sectors: u64::MAX, cause: Cause::Host, data, request }
}

/// Programs a page with this version of logical page 5; when it is done.
pub fn write(board: &mut Board, page: u32, version: u32) -> Result<Nanos, Fault> {
    let (io, kind) = (io(5, Tag(version)), PageKind::Data);
    let done = board.program_update(Ppn(page), None, &io, kind, When::START)?;
    Ok(board.nand().clock().completion(done))
}

/// Programs a page with these words of part 3 of a map; when it is done.
pub fn write_words(board: &mut Board, page: u32, words: &[u32]) -> Result<Nanos, Fault> {
    let (what, payload) = ((PageKind::Map, 3), Payload::Words(words));
    let done = board.program_payload(Ppn(page), what, payload, Cause::Translate, When::START)?;
    Ok(board.nand().clock().completion(done))
}

/// Reads a page: when that is done, and the version that it holds.
pub fn read(board: &mut Board, page: u32) -> Result<(Nanos, Tag), Fault> {
    let (done, version) = board.read(Ppn(page), Cause::Host, When::START)?;
    Ok((board.nand().clock().completion(done), version))
}

/// Erases a block; when that is done.
pub fn erase(board: &mut Board, block: u32) -> Result<Nanos, Fault> {
    let done = board.erase(BlockId(block), BlockRole::Data, Cause::Gc, When::START)?;
    Ok(board.nand().clock().completion(done))
}

/// What this is refused with; empty where it is not.
pub fn refused<T>(what: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(_) => String::new(),
        Err(said) => match said.downcast::<String>() {
            Ok(text) => *text,
            Err(_) => "refused without a reason".to_owned(),
        },
    }
}
