//! What flash permits; the only place that refuses an operation.
//!
//! A refusal is a broken invariant of a scheme, so it panics with block, page and rule.

use super::cell_mode::{CellMode, CellModes};
use super::geometry::Geometry;
use super::state::State;
use crate::board::settings::ProgramOrder;
use crate::units::{BlockId, Ppn};

/// Reading needs a programmed, readable page.
#[inline]
pub fn read(geometry: &Geometry, state: &State, ppn: Ppn) {
    if !state.is_written(ppn) {
        refuse_read(geometry, state, ppn);
    }
}

#[cold]
fn refuse_read(geometry: &Geometry, state: &State, ppn: Ppn) -> ! {
    assert!(ppn.0 < geometry.pages(), "read of page {ppn}: beyond the {} pages", geometry.pages());
    panic!(
        "read of page {ppn} (block {}, offset {}): nothing readable there ({:?})",
        geometry.block_of(ppn),
        geometry.offset_of(ppn),
        state.oob(ppn)
    );
}

/// Programming needs an erased page of a usable block, in the order that the device demands; the
/// block and the page's place in it.
#[inline]
pub fn program(
    geometry: &Geometry,
    state: &State,
    order: ProgramOrder,
    ppn: Ppn,
) -> (BlockId, u32) {
    let (block, offset) = state.place(ppn);
    let is_legal = state.is_free(ppn) && {
        let known = state.block(block);
        !(known.read_only | known.retired | known.undefined) && in_order(order, offset, known.top)
    };
    if !is_legal {
        refuse_program(geometry, state, order, ppn);
    }
    (block, offset)
}

/// A block in SLC mode has a page for each word line and no more.
#[inline]
pub fn cell_mode(geometry: &Geometry, modes: &CellModes, ppn: Ppn) {
    if modes.are_there() {
        let (block, offset) = (geometry.block_of(ppn), geometry.offset_of(ppn));
        let pages = modes.pages_of(geometry, block);
        assert!(
            offset < pages,
            "program of page {ppn} (block {block}, offset {offset}): in SLC mode the block has \
             {pages} pages"
        );
    }
}

/// A mode is chosen before the first program after an erase, on parts that have more than one.
pub fn choose_slc(geometry: &Geometry, state: &State, modes: &CellModes, block: BlockId) {
    assert!(modes.are_there(), "SLC mode of block {block}: cells of this part hold one bit");
    assert!(
        block.0 < geometry.blocks(),
        "SLC mode of block {block}: beyond the {} blocks",
        geometry.blocks()
    );
    let known = state.block(block);
    assert!(
        known.programmed == 0 && !known.retired,
        "SLC mode of block {block}: {} pages are programmed in {} mode until its erase",
        known.programmed,
        if modes.of(block) == CellMode::Slc { "SLC" } else { "dense" }
    );
}

/// The same of so many consecutive pages of one block, programmed one after another.
pub fn program_run(
    geometry: &Geometry,
    state: &State,
    order: ProgramOrder,
    (first, count): (Ppn, u32),
) -> (BlockId, u32) {
    let at = program(geometry, state, order, first);
    let last = first.0 + count - 1;
    assert!(
        at.1 + count <= geometry.pages_per_block,
        "program of pages {first} to {last}: they are not of one block"
    );
    if !state.are_free(first, count) {
        let taken = (first.0..=last).map(Ppn).find(|&ppn| !state.is_free(ppn));
        refuse_program(geometry, state, order, taken.unwrap_or(first));
    }
    at
}

/// Of a valid page that moves with others: it must be readable, and of their sort.
#[cold]
pub fn refuse_move(geometry: &Geometry, state: &State, ppn: Ppn) -> ! {
    read(geometry, state, ppn);
    panic!("page {ppn} moves with others that are not of its kind");
}

#[inline]
fn in_order(order: ProgramOrder, offset: u32, top: u32) -> bool {
    match order {
        ProgramOrder::Off => true,
        ProgramOrder::AscendingGapsOk => offset >= top,
        ProgramOrder::Strict => offset == top,
    }
}

#[cold]
fn refuse_program(geometry: &Geometry, state: &State, order: ProgramOrder, ppn: Ppn) -> ! {
    assert!(
        ppn.0 < geometry.pages(),
        "program of page {ppn}: beyond the {} pages",
        geometry.pages()
    );
    let (block, offset) = state.place(ppn);
    let known = state.block(block);
    assert!(
        state.is_free(ppn),
        "program of page {ppn} (block {block}, offset {offset}): it is not erased"
    );
    assert!(
        !(known.read_only || known.retired || known.undefined),
        "program of page {ppn} (block {block}, offset {offset}): the block is retired, read-only \
         or undefined"
    );
    panic!(
        "program of page {ppn} (block {block}, offset {offset}): pages up to offset {} are \
         programmed and nand.enforce_order = {}",
        known.top,
        order.name()
    );
}

/// Erasing needs a block without a valid page.
#[inline]
pub fn erase(geometry: &Geometry, state: &State, block: BlockId) {
    assert!(
        block.0 < geometry.blocks(),
        "erase of block {block}: beyond the {} blocks",
        geometry.blocks()
    );
    let known = state.block(block);
    assert!(!known.retired, "erase of block {block}: it was retired");
    assert!(known.valid == 0, "erase of block {block}: it still holds {} valid pages", known.valid);
}

/// Only a valid page can become invalid: of one that did its block keeps so many.
#[inline]
pub fn invalidate(geometry: &Geometry, ppn: Ppn, kept: Option<u32>) -> u32 {
    kept.unwrap_or_else(|| refuse_invalidation(geometry, ppn))
}

#[cold]
fn refuse_invalidation(geometry: &Geometry, ppn: Ppn) -> ! {
    panic!(
        "invalidation of page {ppn} (block {}, offset {}): it is not valid",
        geometry.block_of(ppn),
        geometry.offset_of(ppn)
    );
}

/// Only a readable page can be marked valid, after a power cut.
pub fn revalidate(geometry: &Geometry, state: &State, ppn: Ppn) {
    read(geometry, state, ppn);
    assert!(!state.is_valid(ppn), "validation of page {ppn}: it is valid already");
}
