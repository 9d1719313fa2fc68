//! Blocks that an owner takes, and where others find room beside them.

use super::*;

/// Two planes of eight blocks, of which five are the reserve.
fn rig() -> Rig {
    let mut rig = Rig::new(&[], 8, 2);
    rig.space.withhold_taken(rig.board.nand());
    rig
}

fn take(rig: &mut Rig, plane: PlaneId) -> BlockId {
    let Rig { board, space, owner, .. } = rig;
    space.take_withheld(board, owner, plane, When::START).expect("a block is free").0
}

/// Of twelve pages three are valid and the four of a block are the owner's, whether it has written
/// them or not; another block is out of use.
#[test]
fn a_plane_takes_what_neither_valid_pages_nor_taken_blocks_fill() {
    let mut rig = rig();
    (0..3).for_each(|page| {
        let _ = rig.write((FIRST, Stream::Data), page);
    });
    let block = take(&mut rig, FIRST);
    assert_eq!([FIRST, SECOND].map(|plane| rig.space.room_in(plane)), [12 - 3 - 4, 12]);
    assert_eq!(rig.space.withheld_pages(rig.board.geometry()), (1, 0));
    let page = rig.board.geometry().page(block, 0);
    let Rig { board, space, .. } = &mut rig;
    let write =
        |board: &mut Board| board.program_update(page, None, &io(8), PageKind::Data, When::START);
    let _ = space.program_withheld(board, page, write).expect("nothing fails");
    assert_eq!(rig.space.withheld_pages(rig.board.geometry()), (1, 1));
    rig.space.planes[0].retired = 1;
    assert_eq!(rig.space.room_in(FIRST), 8 - 3 - 4);
    rig.space.planes[0].retired = 2;
    assert_eq!(rig.space.room_in(FIRST), 0);
}

#[test]
fn a_block_is_given_by_its_home_or_by_the_roomiest_plane_that_has_as_much() {
    let mut rig = rig();
    let mut given = Vec::new();
    for (first, second) in [(8, 0), (9, 0), (9, 8), (9, 9)] {
        (rig.space.planes[0].valid, rig.space.planes[1].valid) = (first, second);
        given.push((rig.space.plane_with_block(FIRST), rig.space.roomiest()));
    }
    let expected =
        [(Some(FIRST), SECOND), (Some(SECOND), SECOND), (Some(SECOND), SECOND), (None, FIRST)];
    assert_eq!(given, expected);
}

/// The first page's own plane is the first one.
#[test]
fn a_page_leaves_a_plane_that_taken_blocks_fill_and_no_other() {
    let place = |rig: &mut Rig, valid| {
        rig.space.planes[0].valid = valid;
        rig.space.place_beside_withheld(&mut rig.board, &io(0))
    };
    let mut taken = rig();
    assert_eq!([11, 12].map(|valid| place(&mut taken, valid)), [FIRST, SECOND]);
    let mut closing = Rig::new(&[], 8, 2);
    closing.space.withhold(closing.board.nand());
    assert_eq!([11, 12].map(|valid| place(&mut closing, valid)), [FIRST, FIRST]);
    let mut none = Rig::new(&[], 8, 2);
    assert_eq!([11, 12].map(|valid| place(&mut none, valid)), [FIRST, FIRST]);
}

/// What idle time has begun in a plane comes first where blocks are short, and only there.
#[test]
fn to_take_a_block_collects_where_fewer_are_free_than_the_threshold() {
    for (free, collects) in [(2, false), (1, true)] {
        let mut rig = rig();
        let victim = rig.block((FIRST, Stream::Data), 0);
        rig.begin(victim, Cause::Gc);
        rig.keep_free(FIRST, free);
        let _ = take(&mut rig, FIRST);
        assert_eq!(!rig.holds(victim), collects, "{free} free");
    }
}

#[test]
fn pads_fill_a_block_up_to_an_offset_one_behind_the_other() {
    let mut rig = rig();
    let block = take(&mut rig, FIRST);
    let Rig { board, space, .. } = &mut rig;
    let padded = space.pad_withheld(board, block, 3, When::START).expect("nothing fails");
    assert_eq!(board.nand().state().block(block).top, 3);
    assert_eq!((board.meter().programs(Cause::Pad), board.nand().valid_pages(block)), (3, 0));
    assert_eq!(ends(board, padded), 3 * 200_000);
}

/// Nine pages fill two blocks of four and begin a third. What levelling writes is of the stream that
/// it took the pages from.
#[test]
fn blocks_of_a_stream_are_the_closed_ones_the_open_one_and_that_of_levelling() {
    let mut rig = Rig::new(&[], 12, 2);
    rig.space.withhold(rig.board.nand());
    let blocks = |rig: &Rig, plane| {
        [Stream::Data, Stream::MovedData].map(|stream| rig.space.update_blocks(plane, stream))
    };
    assert_eq!(blocks(&rig, FIRST), [0, 0]);
    (0..9).for_each(|page| {
        let _ = rig.write((FIRST, Stream::Data), page);
    });
    assert_eq!(blocks(&rig, FIRST), [3, 0]);
    let _ = rig.write((FIRST, Stream::MovedData), 9);
    assert_eq!(blocks(&rig, FIRST), [3, 1]);
    rig.space.levelled = Stream::Data;
    let _ = rig.write((FIRST, Stream::Worn), 10);
    assert_eq!((blocks(&rig, FIRST), blocks(&rig, SECOND)), ([4, 1], [0, 0]));
}
