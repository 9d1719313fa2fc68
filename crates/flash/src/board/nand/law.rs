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
#[inline(always)]
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
    // Above the highest page that was programmed all are erased.
    if at.1 < state.block(at.0).top && !state.are_free(first, count) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::for_tests::{refused, settings};
    use crate::board::nand::oob::{Oob, PageKind};

    const DATA: Oob = Oob { logical: 5, kind: PageKind::Data, sequence: 1 };

    /// Eight blocks of four pages, all erased.
    fn device(bits: &str) -> (Geometry, State, CellModes) {
        let config = settings(&[
            ("device.blocks_per_plane", "8"),
            ("device.pages_per_block", "4"),
            ("device.bits_per_cell", bits),
        ]);
        let geometry = Geometry::new(&config.device);
        let (state, modes) =
            (State::new(&geometry, false), CellModes::new(&config.device, &geometry, false));
        (geometry, state, modes)
    }

    #[test]
    fn a_page_can_be_read_that_was_programmed_as_a_whole() {
        let (geometry, mut state, _) = device("1");
        state.store(Ppn(31), DATA, 1);
        state.store_torn(Ppn(1));
        let said = [31, 0, 1, 32].map(|page| refused(|| read(&geometry, &state, Ppn(page))));
        assert_eq!(said[0], "");
        assert_eq!(said[1], "read of page 0 (block 0, offset 0): nothing readable there (Free)");
        assert!(said[2].ends_with("nothing readable there (Torn)"));
        assert_eq!(said[3], "read of page 32: beyond the 32 pages");
    }

    /// Of four pages the second is programmed.
    #[test]
    fn pages_are_programmed_in_the_order_that_the_part_demands() {
        let (geometry, mut state, _) = device("1");
        state.store(Ppn(5), DATA, 1);
        let takes = |order, page| {
            let said = refused(|| program(&geometry, &state, order, Ppn(page)));
            let demanded = format!("nand.enforce_order = {}", order.name());
            assert!(said.is_empty() || said.ends_with(&demanded), "{said}");
            said.is_empty()
        };
        let orders = [ProgramOrder::Off, ProgramOrder::AscendingGapsOk, ProgramOrder::Strict];
        let taken = orders.map(|order| [4, 6, 7].map(|page| takes(order, page)));
        assert_eq!(taken, [[true, true, true], [false, true, true], [false, true, false]]);
        let said = refused(|| program(&geometry, &state, ProgramOrder::Strict, Ppn(7)));
        assert!(said.contains("pages up to offset 2 are programmed"), "{said}");
    }

    #[test]
    fn only_erased_pages_of_usable_blocks_are_programmed() {
        let (geometry, mut state, _) = device("1");
        state.store(Ppn(5), DATA, 1);
        state.block_mut(BlockId(2)).read_only = true;
        state.block_mut(BlockId(3)).retired = true;
        state.block_mut(BlockId(4)).undefined = true;
        // A program failed, then an erase; of another the erase was interrupted after that.
        (state.block_mut(BlockId(5)).read_only, state.block_mut(BlockId(5)).retired) = (true, true);
        (state.block_mut(BlockId(6)).read_only, state.block_mut(BlockId(6)).undefined) =
            (true, true);
        let said = |page| refused(|| program(&geometry, &state, ProgramOrder::Off, Ppn(page)));
        assert_eq!((said(31), said(0)), (String::new(), String::new()));
        assert_eq!(said(5), "program of page 5 (block 1, offset 1): it is not erased");
        assert_eq!(said(32), "program of page 32: beyond the 32 pages");
        for page in [8, 13, 16, 20, 24] {
            let why = "the block is retired, read-only or undefined";
            assert!(said(page).ends_with(why), "{}", said(page));
        }
        assert_eq!(
            program(&geometry, &state, ProgramOrder::Off, Ppn(6)),
            (BlockId(1), 2),
            "where it is"
        );
    }

    #[test]
    fn a_run_of_programs_needs_as_many_erased_pages_of_one_block() {
        let (geometry, mut state, _) = device("1");
        let order = ProgramOrder::Off;
        let run = |state: &State, first, count| {
            refused(|| program_run(&geometry, state, order, (Ppn(first), count)))
        };
        assert_eq!(program_run(&geometry, &state, order, (Ppn(5), 3)), (BlockId(1), 1));
        assert_eq!(run(&state, 4, 4), "");
        let longer = run(&state, 5, 4);
        assert_eq!(longer, "program of pages 5 to 8: they are not of one block");
        state.store(Ppn(6), DATA, 1);
        assert_eq!(run(&state, 4, 2), "", "the page behind it is none of it");
        let taken = "program of page 6 (block 1, offset 2): it is not erased";
        assert_eq!([run(&state, 4, 3), run(&state, 6, 1)], [taken, taken]);
    }

    #[test]
    fn a_block_has_a_page_for_each_word_line_where_cells_hold_one_bit() {
        let (geometry, _, mut modes) = device("2");
        modes.set(BlockId(1), CellMode::Slc);
        let said = [0, 3, 4, 5, 6, 7].map(|page| {
            let said = refused(|| cell_mode(&geometry, &modes, Ppn(page)));
            assert!(said.is_empty() || said.ends_with("in SLC mode the block has 2 pages"));
            said.is_empty()
        });
        assert_eq!(said, [true, true, true, true, false, false]);
        let (geometry, _, none) = device("1");
        assert_eq!(refused(|| cell_mode(&geometry, &none, Ppn(3))), "");
    }

    #[test]
    fn a_mode_is_chosen_for_erased_blocks_in_use_of_parts_that_have_two() {
        let (geometry, mut state, mut modes) = device("2");
        let of = |state: &State, modes: &CellModes, block| {
            refused(|| choose_slc(&geometry, state, modes, BlockId(block)))
        };
        assert_eq!([of(&state, &modes, 0), of(&state, &modes, 7)], ["", ""]);
        assert_eq!(of(&state, &modes, 8), "SLC mode of block 8: beyond the 8 blocks");
        state.store(Ppn(5), DATA, 1);
        let said = of(&state, &modes, 1);
        assert!(said.ends_with("1 pages are programmed in dense mode until its erase"), "{said}");
        modes.set(BlockId(1), CellMode::Slc);
        assert!(of(&state, &modes, 1).contains("in SLC mode until"));
        state.block_mut(BlockId(2)).retired = true;
        assert!(of(&state, &modes, 2).starts_with("SLC mode of block 2: 0 pages"));
        let (_, state, none) = device("1");
        assert!(of(&state, &none, 0).ends_with("cells of this part hold one bit"));
    }

    #[test]
    fn what_is_erased_holds_nothing_valid_and_is_in_use() {
        let (geometry, mut state, _) = device("1");
        state.store(Ppn(5), DATA, 1);
        state.block_mut(BlockId(2)).retired = true;
        let said = |block| refused(|| erase(&geometry, &state, BlockId(block)));
        assert_eq!([said(0), said(7)], ["", ""]);
        assert_eq!(said(1), "erase of block 1: it still holds 1 valid pages");
        assert_eq!(said(2), "erase of block 2: it was retired");
        assert_eq!(said(8), "erase of block 8: beyond the 8 blocks");
    }

    #[test]
    fn only_valid_pages_become_invalid_and_only_others_valid() {
        let (geometry, mut state, _) = device("1");
        assert_eq!(invalidate(&geometry, Ppn(5), Some(3)), 3);
        let said = refused(|| invalidate(&geometry, Ppn(5), None));
        assert_eq!(said, "invalidation of page 5 (block 1, offset 1): it is not valid");
        state.store(Ppn(5), DATA, 1);
        let again = |state: &State, page| refused(|| revalidate(&geometry, state, Ppn(page)));
        assert_eq!(again(&state, 5), "validation of page 5: it is valid already");
        assert!(again(&state, 6).contains("nothing readable"));
        let _ = state.clear_valid(BlockId(1), Ppn(5));
        assert_eq!(again(&state, 5), "");
    }

    #[test]
    fn a_move_is_refused_for_pages_of_another_sort_or_such_as_cannot_be_read() {
        let (geometry, mut state, _) = device("1");
        state.store(Ppn(5), DATA, 1);
        let said = |page| refused(|| -> () { refuse_move(&geometry, &state, Ppn(page)) });
        assert_eq!(said(5), "page 5 moves with others that are not of its kind");
        assert!(said(6).contains("nothing readable there"));
    }
}
