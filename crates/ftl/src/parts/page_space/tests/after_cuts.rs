//! What recovery makes of open blocks and of those that were never used, and what is refreshed.

use super::*;

const DATA: Place = (FIRST, Stream::Data);
const MOVED: Place = (FIRST, Stream::MovedData);

fn open(rig: &Rig, stream: Stream) -> Option<BlockId> {
    rig.space.planes[0].frontiers[stream.index()].block
}

/// Blocks that were erased come first while most are untouched, then the untouched ones from the
/// front.
#[test]
fn behind_a_power_cut_untouched_blocks_are_taken_from_the_front() {
    let mut rig = Rig::new(&[], 8, 2);
    let victim = rig.block(DATA, 0);
    let full = [rig.block(DATA, 4), rig.block(DATA, 4)];
    let _ = rig.collect(victim).expect("nothing fails");
    rig.recover(2);
    let next = [0; 3].map(|_| rig.block(DATA, 4).0);
    assert_eq!((full, next), ([1, 2].map(BlockId), [0, 3, 4]));
}

/// Few blocks are free: who finds one open block keeps it for collection, which cannot do without.
#[test]
fn the_only_open_block_is_kept_for_moved_pages_where_they_have_a_stream() {
    let half = |pairs: &[(&str, &str)], streams: &[Place]| {
        let mut rig = Rig::new(pairs, 8, 2);
        streams.iter().for_each(|&place| {
            let _ = rig.write(place, 0);
        });
        rig.recover(16);
        (open(&rig, Stream::Data), open(&rig, Stream::MovedData))
    };
    let (first, second) = (Some(BlockId(0)), Some(BlockId(1)));
    assert_eq!(half(&[], &[DATA]), (None, first));
    assert_eq!(half(&[], &[DATA, MOVED]), (second, first), "each has one");
    assert_eq!(half(&[("gc.separate_frontiers", "false")], &[DATA]), (first, None));
    assert_eq!(half(&[("gc.placement", "hint")], &[DATA]), (first, None), "classes lend pages");
}

/// A block that is due, so often was it read, and whose owner has more to write than there is room
/// for unless it `fits`; gaps have begun with it or not. Whether it was moved, and whether there
/// was something to do.
fn refreshed(fits: bool, begun: bool) -> (bool, bool) {
    let mut rig = Rig::new(&[("refresh.reads", "2"), ("gc.idle_pages", "1")], 8, 2);
    let block = rig.block(DATA, 2);
    let page = rig.board.geometry().page(block, 3);
    for _ in 0..4 {
        let _ = rig.board.read(page, Cause::Host, When::START).expect("nothing fails");
    }
    rig.owner.most = Some(100);
    rig.owner.map_writes.insert(block, if fits { 0 } else { 100 });
    if begun {
        rig.begin(block, Cause::Refresh);
    }
    let Rig { board, space, owner, .. } = &mut rig;
    let step = space.refresh_at_once(board, owner, When::START).expect("nothing fails");
    (!rig.holds(block), step.is_some())
}

#[test]
fn what_is_due_twice_over_waits_while_free_blocks_do_not_hold_it() {
    for begun in [false, true] {
        assert_eq!(refreshed(false, begun), (false, false), "begun: {begun}");
        assert_eq!(refreshed(true, begun), (true, true), "begun: {begun}");
    }
}
