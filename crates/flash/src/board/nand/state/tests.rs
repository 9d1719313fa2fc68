//! What is stored, moved and erased, on blocks of 100 pages: two words of marks each.

use super::*;
use crate::board::for_tests::{refused, settings};
use crate::board::nand::mover::Mover;

const PAGES: u32 = 100;

fn state(keep_masks: bool) -> State {
    let config = settings(&[("device.blocks_per_plane", "4"), ("device.pages_per_block", "100")]);
    State::new(&Geometry::new(&config.device), keep_masks)
}

/// The page at this offset of a block.
fn page(block: u32, offset: u32) -> Ppn {
    Ppn(block * PAGES + offset)
}

fn put(state: &mut State, ppn: Ppn, kind: PageKind, sequence: u64) {
    state.store(ppn, Oob { logical: ppn.0 + 7, kind, sequence }, ppn.0 + 1);
}

#[test]
fn a_page_tells_what_was_stored_of_it() {
    let mut state = state(false);
    for (offset, kind) in (0..).zip(PageKind::ALL) {
        let (ppn, sequence) = (page(1, offset), (1 << 60) - 1 - u64::from(offset));
        assert!(state.is_free(ppn) && !state.is_written(ppn) && !state.is_valid(ppn));
        put(&mut state, ppn, kind, sequence);
        let oob = OobRead::Written(Oob { logical: ppn.0 + 7, kind, sequence });
        assert_eq!((state.oob(ppn), state.tag(ppn)), (oob, Tag(ppn.0 + 1)));
        assert!(!state.is_free(ppn) && state.is_written(ppn) && state.is_valid(ppn));
        assert_eq!(state.block(BlockId(1)).last_program, sequence as u32);
        assert!(!state.is_unreadable(ppn));
        state.set_unreadable(ppn);
        assert!(state.is_unreadable(ppn) && state.oob(ppn) == oob && state.is_written(ppn));
        if kind != PageKind::Parity {
            assert_eq!(state.holds_host_data(ppn), offset < 2, "data and logs are the host's");
        }
        assert_eq!(kind.holds_words(), (2..5).contains(&offset), "maps, checkpoints, trims");
        assert_eq!(state.mask(ppn), u64::MAX, "nobody keeps account of sectors");
    }
    assert!(!state.is_written(page(4, 0)), "the device has no such page");
    let block = state.block_of(page(1, 99));
    assert_eq!((block.valid, block.programmed, block.top, block.touched), (7, 7, 7, true));
    assert_eq!(*state.block(BlockId(0)), BlockState::default());
}

#[test]
fn a_torn_page_is_programmed_and_tells_nothing() {
    let mut state = state(false);
    state.store_torn(page(1, 4));
    state.store_torn(page(1, 2));
    assert_eq!(state.oob(page(1, 4)), OobRead::Torn);
    assert!(!state.is_free(page(1, 4)) && !state.is_written(page(1, 4)));
    let block = state.block(BlockId(1));
    assert_eq!((block.valid, block.programmed, block.top, block.touched), (0, 2, 5, true));
}

/// Sequence numbers beyond 32 bits: 2^32 + 3 is eight behind 2^32 - 5.
#[test]
fn the_age_of_a_block_is_the_number_of_programs_since_its_last() {
    let mut state = state(false);
    put(&mut state, page(1, 0), PageKind::Data, 5);
    assert_eq!(state.block(BlockId(1)).age(12), 7);
    put(&mut state, page(1, 1), PageKind::Data, (1 << 32) - 5);
    assert_eq!(state.block(BlockId(1)).age((1 << 32) + 3), 8);
}

#[test]
fn a_page_becomes_valid_and_invalid_and_its_block_counts() {
    let mut state = state(false);
    for offset in [3, 64, 99] {
        put(&mut state, page(2, offset), PageKind::Data, 1);
    }
    let marks = |state: &State| [0, 1].map(|word| state.valid_marks(BlockId(2), word));
    assert_eq!(marks(&state), [1 << 3, 1 | 1 << 35]);
    assert_eq!(state.clear_valid(BlockId(2), page(2, 64)), Some(2));
    assert_eq!((marks(&state), state.block(BlockId(2)).valid), ([1 << 3, 1 << 35], 2));
    assert_eq!(state.clear_valid(BlockId(2), page(2, 64)), None);
    let valid = [3, 64, 99].map(|offset| state.is_valid_at(BlockId(2), offset));
    assert_eq!(valid, [true, false, true]);
    state.set_valid(page(2, 64));
    assert_eq!((marks(&state), state.block(BlockId(2)).valid), ([1 << 3, 1 | 1 << 35], 3));
    state.forget_validity();
    assert_eq!((marks(&state), state.block(BlockId(2)).valid), ([0, 0], 0));
}

#[test]
fn the_next_valid_page_is_found_in_every_word() {
    let mut state = state(false);
    assert_eq!(state.next_valid(BlockId(2), 0), None);
    for offset in [3, 70, 99] {
        put(&mut state, page(2, offset), PageKind::Data, 1);
    }
    put(&mut state, page(3, 0), PageKind::Data, 1);
    for (from, found) in [(0, 3), (3, 3), (4, 70), (64, 70), (70, 70), (71, 99), (99, 99)] {
        assert_eq!(state.next_valid(BlockId(2), from), Some(page(2, found)), "from {from}");
    }
    assert_eq!(state.next_valid(BlockId(2), 100), None);
}

#[test]
fn who_glances_at_a_page_hears_of_its_block() {
    let state = state(false);
    for page in 0..4 * PAGES {
        assert_eq!(state.glance_at(Ppn(page)).0, BlockId(page / PAGES));
    }
}

#[test]
fn pages_are_free_together_where_each_of_them_is() {
    let mut state = state(false);
    put(&mut state, page(1, 10), PageKind::Data, 1);
    let free = [(0, 10), (0, 11), (10, 1), (9, 3), (11, 89)]
        .map(|(offset, count)| state.are_free(page(1, offset), count));
    assert_eq!(free, [true, false, false, false, true]);
}

#[test]
fn a_copy_has_a_number_and_a_kind_of_its_own_and_what_is_lost_stays_lost() {
    for keep_masks in [false, true] {
        let mut state = state(keep_masks);
        for (offset, lost) in [(0, false), (1, true)] {
            let (from, to) = (page(1, offset), page(2, 70 + offset));
            put(&mut state, from, PageKind::Data, 9);
            state.set_mask(from, 0b11 + u64::from(offset));
            if lost {
                state.set_unreadable(from);
            }
            state.store_copy((BlockId(2), 70 + offset), (from, to), PageKind::Log, 50);
            let oob = Oob { logical: from.0 + 7, kind: PageKind::Log, sequence: 50 };
            assert_eq!(state.oob(to), OobRead::Written(oob));
            assert_eq!((state.tag(to), state.is_unreadable(to)), (Tag(from.0 + 1), lost));
            let mask = if keep_masks { 0b11 + u64::from(offset) } else { u64::MAX };
            assert_eq!(state.mask(to), mask);
            assert!(state.is_valid(to) && state.is_valid(from));
        }
        let block = state.block(BlockId(2));
        assert_eq!((block.valid, block.programmed, block.top), (2, 2, 72));
        assert_eq!((block.last_program, block.touched), (50, true));
    }
}

/// A kind with bits set becomes one without: they do not add up.
#[test]
fn a_copy_has_nothing_of_the_kind_that_it_is_of() {
    let mut state = state(false);
    put(&mut state, page(1, 0), PageKind::Log, 7);
    state.copy_record((page(1, 0), page(2, 0)), PageKind::Data, 8);
    let oob = Oob { logical: PAGES + 7, kind: PageKind::Data, sequence: 8 };
    assert_eq!(state.oob(page(2, 0)), OobRead::Written(oob));
    assert!(!state.is_valid(page(2, 0)), "whoever copies a run counts and marks it");
    state.count_programs((BlockId(2), 0), 1, 8);
    assert!(state.is_valid(page(2, 0)));
}

/// A block between two others that stay as they are.
fn full() -> State {
    let mut state = state(true);
    for block in 1..4 {
        for offset in [0, 99] {
            put(&mut state, page(block, offset), PageKind::Data, 1);
            state.set_mask(page(block, offset), 0b101);
        }
    }
    state
}

fn expect_others_as_they_were(state: &State) {
    for ppn in [page(1, 99), page(3, 0)] {
        assert!(state.is_written(ppn) && state.mask(ppn) == 0b101, "page {ppn}");
    }
    assert_eq!(state.block(BlockId(1)).programmed, 2);
    assert_eq!(state.block(BlockId(3)).top, 100);
}

#[test]
fn an_erase_empties_one_block() {
    let mut state = full();
    state.block_mut(BlockId(2)).undefined = true;
    state.wipe(BlockId(2));
    for ppn in [page(2, 0), page(2, 99)] {
        assert_eq!((state.oob(ppn), state.mask(ppn)), (OobRead::Free, 0));
    }
    let block = state.block(BlockId(2));
    assert_eq!((block.programmed, block.top, block.undefined, block.touched), (0, 0, false, true));
    expect_others_as_they_were(&state);
    state.wipe(BlockId(0));
    assert!(state.block(BlockId(0)).touched);
}

#[test]
fn an_interrupted_erase_leaves_nothing_that_can_be_read_in_one_block() {
    let mut state = full();
    state.tear_block(BlockId(2));
    assert!((0..PAGES).all(|offset| state.oob(page(2, offset)) == OobRead::Torn));
    let block = state.block(BlockId(2));
    assert_eq!((block.programmed, block.top, block.undefined), (100, 100, true));
    expect_others_as_they_were(&state);
}

/// Flash pages of four units: one that is full, one of which a unit is there, none.
#[test]
fn flash_pages_that_were_begun_are_filled_up() {
    for (units, torn) in [(1, vec![]), (4, vec![page(2, 5), page(2, 6), page(2, 7)])] {
        let mut state = state(false);
        for ppn in [page(1, 3), page(2, 4)] {
            put(&mut state, ppn, PageKind::Data, 1);
        }
        state.fill_flash_pages(units);
        let all = (0..4 * PAGES).map(Ppn);
        let found: Vec<Ppn> = all.filter(|&ppn| state.oob(ppn) == OobRead::Torn).collect();
        assert_eq!(found, torn);
    }
}

#[test]
fn erases_before_measuring_are_known_of_every_block_that_was_used() {
    let mut state = state(false);
    state.wipe(BlockId(3));
    state.block_mut(BlockId(3)).erases = 6;
    state.mark_measured_from_here();
    state.block_mut(BlockId(3)).erases += 1;
    let erases = |block| {
        let block = state.block(BlockId(block));
        (block.erases, block.erases_before)
    };
    assert_eq!([erases(0), erases(3)], [(0, 0), (7, 6)]);
}

#[test]
fn a_block_counts_the_pages_that_hold_words() {
    let mut state = state(false);
    for offset in 0..3 {
        put(&mut state, page(1, offset), PageKind::Map, 1);
        state.note_payload(BlockId(1));
    }
    state.drop_payload(BlockId(1), page(1, 1));
    assert_eq!(state.block(BlockId(1)).payloads, 2);
    assert_eq!([0, 1].map(|offset| state.tag(page(1, offset))), [Tag(101), Tag(0)]);
}

#[test]
fn a_block_tells_whether_its_valid_pages_hold_words() {
    let mut state = state(false);
    assert_eq!(state.hold_words(BlockId(1)), Some(false), "it holds nothing");
    put(&mut state, page(1, 0), PageKind::Map, 1);
    state.note_payload(BlockId(1));
    assert_eq!(state.hold_words(BlockId(1)), Some(true));
    put(&mut state, page(1, 70), PageKind::Checkpoint, 1);
    state.note_payload(BlockId(1));
    assert_eq!(state.hold_words(BlockId(1)), Some(true));
    put(&mut state, page(1, 71), PageKind::Data, 1);
    assert_eq!(state.hold_words(BlockId(1)), None, "some do, some do not");
    put(&mut state, page(1, 72), PageKind::Data, 1);
    assert_eq!(state.hold_words(BlockId(1)), None, "as many of either");
    for offset in [0, 70] {
        let _ = state.clear_valid(BlockId(1), page(1, offset));
    }
    assert_eq!(state.hold_words(BlockId(1)), Some(false), "those that do are not valid");
    for offset in [71, 72] {
        let _ = state.clear_valid(BlockId(1), page(1, offset));
    }
    assert_eq!(state.hold_words(BlockId(1)), Some(false));
}

/// Moves so many pages of block 1 to the pages from offset 5 of block 2 on.
fn moved(state: &mut State, words: bool, count: u32) -> Result<Vec<Mover>, Ppn> {
    let mut moved = Vec::new();
    state.move_valid((BlockId(1), words), (page(2, 5), count), 50, &mut moved)?;
    state.count_programs((BlockId(2), 5), count, 50 + u64::from(count) - 1);
    state.count_moved((BlockId(1), BlockId(2)), count, words);
    Ok(moved)
}

/// Five of six pages of host data are valid, in both words; one of them is lost.
#[test]
fn the_first_valid_pages_of_a_block_move_in_their_order() {
    for keep_masks in [false, true] {
        let mut state = state(keep_masks);
        for (offset, kind) in (0..).zip([PageKind::Log, PageKind::Data, PageKind::Pad]) {
            put(&mut state, page(0, offset), kind, 1);
        }
        for (offset, mask) in [(3, 0b11), (63, 0), (64, 0b101), (70, 0b1), (98, 0b1), (99, 0b111)] {
            let kind = if offset == 64 { PageKind::Log } else { PageKind::Data };
            put(&mut state, page(1, offset), kind, 9);
            state.set_mask(page(1, offset), mask);
        }
        state.set_unreadable(page(1, 64));
        let _ = state.clear_valid(BlockId(1), page(1, 63));
        let moved = moved(&mut state, false, 3).expect("all of one sort");
        let expected = [(3, PageKind::Data), (64, PageKind::Log), (70, PageKind::Data)];
        assert_eq!(moved.len(), 3);
        for ((index, mover), (offset, kind)) in (0..).zip(moved).zip(expected) {
            let (old, new) = (page(1, offset), page(2, 5 + index));
            assert_eq!((mover.old, mover.logical, mover.kind), (old, old.0 + 7, kind));
            let oob = Oob { logical: old.0 + 7, kind, sequence: 50 + u64::from(index) };
            assert_eq!((state.oob(new), state.tag(new)), (OobRead::Written(oob), state.tag(old)));
            assert_eq!(state.is_unreadable(new), offset == 64);
            assert_eq!(state.mask(new), state.mask(old));
            assert!(state.is_valid(new) && !state.is_valid(old));
        }
        assert_eq!(
            (state.next_valid(BlockId(1), 0), state.block(BlockId(1)).valid),
            (Some(page(1, 98)), 2)
        );
        let block = state.block(BlockId(2));
        assert_eq!((block.valid, block.programmed, block.top), (3, 3, 8));
        assert_eq!((block.last_program, block.payloads), (52, 0));
        assert!(state.is_free(page(2, 8)) && state.is_free(page(2, 4)));
    }
}

#[test]
fn words_move_with_their_pages() {
    let mut state = state(true);
    for offset in [0, 64, 65] {
        put(&mut state, page(1, offset), PageKind::Map, 9);
        state.note_payload(BlockId(1));
    }
    let moved = moved(&mut state, true, 2).expect("all of one sort");
    assert_eq!(moved.iter().map(|mover| mover.kind).collect::<Vec<_>>(), [PageKind::Map; 2]);
    let tags = [page(1, 0), page(1, 64), page(1, 65), page(2, 5), page(2, 6)];
    assert_eq!(tags.map(|page| state.tag(page).0), [0, 0, 166, 101, 165]);
    let payloads = [1, 2].map(|block| state.block(BlockId(block)).payloads);
    assert_eq!((payloads, state.block(BlockId(1)).valid), ([1, 2], 1));
}

#[test]
fn a_page_that_cannot_be_read_or_is_of_the_other_sort_does_not_move() {
    let mut torn = state(false);
    torn.store_torn(page(1, 70));
    torn.set_valid(page(1, 70));
    assert_eq!(moved(&mut torn, false, 1).err(), Some(page(1, 70)));
    for words in [false, true] {
        let mut state = state(false);
        let kind = if words { PageKind::Data } else { PageKind::Map };
        put(&mut state, page(1, 70), kind, 9);
        assert_eq!(moved(&mut state, words, 1).err(), Some(page(1, 70)));
    }
}

#[test]
fn as_many_pages_move_as_there_are_and_to_another_block() {
    let mut state = state(false);
    put(&mut state, page(1, 70), PageKind::Data, 9);
    let said = refused(|| moved(&mut state.clone(), false, 2));
    assert_eq!(said, "block 1 has 1 pages fewer than move to 205");
    let own =
        refused(|| state.move_valid((BlockId(1), false), (page(1, 90), 1), 50, &mut Vec::new()));
    assert_eq!(own, "pages of block 1 move to pages from 190 on, which are its own");
    let mut state = self::state(false);
    put(&mut state, page(1, 70), PageKind::Map, 9);
    state.note_payload(BlockId(1));
    state.drop_payload(BlockId(1), page(1, 70));
    let said = refused(|| moved(&mut state, true, 1));
    assert_eq!(said, "page 170 holds no payload");
}
