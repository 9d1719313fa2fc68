//! What flash permits; the only place that refuses an operation.
//!
//! A refusal is a broken invariant of a scheme, so it panics with block, page and rule.

use super::geometry::Geometry;
use super::state::{OobRead, State};
use crate::board::settings::ProgramOrder;
use crate::units::{BlockId, Ppn};

/// Reading needs a programmed, readable page.
#[inline]
pub fn read(geometry: &Geometry, state: &State, ppn: Ppn) {
    assert!(ppn.0 < geometry.pages(), "read of page {ppn}: beyond the {} pages", geometry.pages());
    match state.oob(ppn) {
        OobRead::Written(_) => {}
        other => panic!(
            "read of page {ppn} (block {}, offset {}): nothing readable there ({other:?})",
            geometry.block_of(ppn),
            geometry.offset_of(ppn)
        ),
    }
}

/// Programming needs an erased page of a usable block, in the order that the device demands.
#[inline]
pub fn program(geometry: &Geometry, state: &State, order: ProgramOrder, ppn: Ppn) {
    assert!(
        ppn.0 < geometry.pages(),
        "program of page {ppn}: beyond the {} pages",
        geometry.pages()
    );
    let block = geometry.block_of(ppn);
    let offset = geometry.offset_of(ppn);
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
    let legal = match order {
        ProgramOrder::Off => true,
        ProgramOrder::AscendingGapsOk => offset >= known.top,
        ProgramOrder::Strict => offset == known.top,
    };
    assert!(
        legal,
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

/// Only a valid page can become invalid.
#[inline]
pub fn invalidate(geometry: &Geometry, state: &State, ppn: Ppn) {
    assert!(
        state.is_valid(ppn),
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
