//! Who waits in which queue, who leaves it, and what becomes of blocks when groups change.

use super::super::tests::{FIRST, Rig, SECOND};
use super::*;
use crate::parts::placement::midas::Groups;

/// Ten classes in two planes; groups with queues of these sizes are in force, the hot one first.
fn rig(sizes: &[u32]) -> Rig {
    let pairs = [("gc.placement", "midas"), ("gc.separate_frontiers", "false")];
    let mut rig = Rig::new(&pairs, 24, 2);
    divide(&mut rig, |groups| groups.sized(sizes.iter().copied()), Regrouped::Sized);
    rig
}

fn divide(rig: &mut Rig, groups: impl FnOnce(&Groups) -> Groups, how: Regrouped) {
    rig.space.placing.as_mut().expect("midas").divide(groups, how);
    let _ = rig.space.regroup(&mut rig.board, When::START).expect("nothing fails");
}

/// Full blocks of a class with so many valid pages.
fn blocks<const N: usize>(rig: &mut Rig, class: u8, valid: [u32; N]) -> [BlockId; N] {
    valid.map(|valid| rig.block((FIRST, Stream::of_class(class)), valid))
}

fn waiting(rig: &Rig, blocks: &[BlockId]) -> Vec<bool> {
    blocks.iter().map(|&block| rig.space.is_queued(block)).collect()
}

fn class(rig: &Rig, block: BlockId) -> u8 {
    rig.space.class_of(block)
}

/// Whether a block can be chosen in the last group.
fn is_candidate(rig: &Rig, block: BlockId) -> bool {
    rig.space.planes[0].victims.has(block)
}

/// Two of a group of two segments are one beyond the open one, in this plane alone.
#[test]
fn the_oldest_block_beyond_a_size_is_the_victim_of_its_plane() {
    let mut rig = rig(&[9, 2]);
    let of_group = blocks(&mut rig, 1, [3, 0]);
    let beside = rig.block((SECOND, Stream::of_class(1)), 0);
    assert_eq!(waiting(&rig, &[of_group[0], of_group[1], beside]), [true; 3]);
    assert_eq!(rig.space.victim_of_queues(&mut rig.board, FIRST), Some(of_group[0]));
    assert_eq!(rig.space.victim_of_queues(&mut rig.board, SECOND), None);
}

#[test]
fn a_block_without_garbage_goes_to_the_next_group_instead() {
    let mut rig = rig(&[1, 9]);
    let [full, other] = blocks(&mut rig, 0, [4, 3]);
    assert_eq!(rig.space.victim_of_queues(&mut rig.board, FIRST), Some(other));
    assert_eq!((class(&rig, full), class(&rig, other)), (1, 0));
    assert_eq!(waiting(&rig, &[full, other]), [true, true]);
    assert_eq!(rig.board.meter().events(Event::BlocksHandedOn), 1);
}

/// Where the last group has nobody: the oldest one with garbage of the first group that has one.
#[test]
fn queues_are_looked_through_for_garbage() {
    let mut rig = rig(&[9, 9]);
    let any = |rig: &Rig| rig.space.any_in_queues(rig.board.nand(), FIRST);
    let _full = blocks(&mut rig, 0, [4, 4]);
    assert_eq!(any(&rig), None);
    let [behind] = blocks(&mut rig, 1, [0]);
    assert_eq!(any(&rig), Some(behind));
    let [first, _] = blocks(&mut rig, 0, [3, 0]);
    assert_eq!(any(&rig), Some(first));
}

#[test]
fn a_block_takes_the_place_of_another_in_its_own_queue_alone() {
    let mut rig = rig(&[9, 9]);
    let [a, b, c, last] = blocks(&mut rig, 0, [1; 4]);
    let [other] = blocks(&mut rig, 1, [1]);
    let [candidate] = blocks(&mut rig, 9, [1]);
    let order = |rig: &Rig| {
        let next = |block: &BlockId| rig.space.behind_in_queue(*block);
        std::iter::successors(Some(a), next).collect::<Vec<_>>()
    };
    assert_eq!(order(&rig), [a, b, c, last]);
    for (block, before) in [
        (last, None),
        (last, Some(last)),
        (last, Some(other)),
        (other, Some(b)),
        (candidate, Some(b)),
        (b, Some(candidate)),
    ] {
        rig.space.takes_place(block, before);
        assert_eq!(order(&rig), [a, b, c, last], "{block} before {before:?}");
        assert_eq!(waiting(&rig, &[other, candidate]), [true, false]);
    }
    rig.space.takes_place(last, Some(b));
    assert_eq!(order(&rig), [a, last, b, c]);
}

/// The hot group may have two segments, so that of its two full blocks the older one leaves.
#[test]
fn what_is_beyond_a_new_size_is_of_the_last_group() {
    let mut rig = rig(&[3, 3]);
    let [old, young] = blocks(&mut rig, 0, [1, 1]);
    let others = blocks(&mut rig, 1, [1, 1]);
    divide(&mut rig, |groups| groups.sized([2, 3].into_iter()), Regrouped::Sized);
    assert_eq!(waiting(&rig, &[old, young, others[0], others[1]]), [false, true, true, true]);
    assert_eq!((is_candidate(&rig, old), class(&rig, old)), (true, 9));
    assert_eq!(rig.board.meter().events(Event::BlocksHandedOn), 1);
}

/// Group 2 is given up: it and the last one are one. No other has a new size.
#[test]
fn a_group_that_is_given_up_leaves_its_queue_and_no_other_does() {
    let mut rig = rig(&[3, 3, 3]);
    let kept = blocks(&mut rig, 1, [1, 1, 1]);
    let given_up = blocks(&mut rig, 2, [1, 1]);
    divide(&mut rig, |groups| groups.without(2), Regrouped::Merged);
    assert_eq!((waiting(&rig, &kept), waiting(&rig, &given_up)), (vec![true; 3], vec![false; 2]));
    assert!(given_up.into_iter().all(|block| is_candidate(&rig, block)));
    // The chain of five classes begins with class 5.
    assert_eq!(given_up.map(|block| class(&rig, block)), [5, 5]);
}

/// While there is one group, pages go along the classes of a chain.
#[test]
fn candidates_count_as_of_the_last_group() {
    let mut rig = rig(&[]);
    divide(&mut rig, |groups| groups.without(0), Regrouped::Merged);
    let [of_chain] = blocks(&mut rig, 7, [1]);
    let [last] = blocks(&mut rig, 9, [1]);
    divide(&mut rig, |groups| groups.sized([3, 3].into_iter()), Regrouped::Sized);
    assert_eq!((class(&rig, of_chain), class(&rig, last)), (9, 9));
    assert_eq!(waiting(&rig, &[of_chain, last]), [false, false]);
}

/// Class 1 is the group that it was, class 3 becomes one, class 5 is none before and after.
#[test]
fn open_blocks_of_classes_that_are_something_else_now_take_no_more() {
    let mut rig = rig(&[3, 3]);
    let open = [1, 3, 5, 9].map(|class| {
        let page = rig.write((FIRST, Stream::of_class(class)), 0);
        rig.board.geometry().block_of(page)
    });
    divide(&mut rig, |groups| groups.sized([3; 4].into_iter()), Regrouped::Sized);
    let is_open = |block: &BlockId| rig.space.open_blocks().any(|other| other == *block);
    assert_eq!(open.map(|block| is_open(&block)), [true, false, false, true]);
    assert_eq!(open.map(|block| class(&rig, block)), [1, 9, 9, 9]);
    assert!(is_candidate(&rig, open[1]) && is_candidate(&rig, open[2]));
}

/// A group that is too large may wait for the host with a dense block.
#[test]
fn a_gap_passes_over_a_dense_block_of_a_queue() {
    for (valid, of_queue) in [(3, false), (2, true)] {
        let mut rig = rig(&[1, 9]);
        rig.space.mode = super::super::GcMode::Idle;
        let [queued] = blocks(&mut rig, 0, [valid]);
        let [candidate] = blocks(&mut rig, 9, [1]);
        rig.keep_free(FIRST, 3);
        rig.keep_free(SECOND, 4);
        let Rig { board, space, owner, .. } = &mut rig;
        let step = space.collect_idle(board, owner, When::START).expect("nothing fails");
        assert!(step.is_some(), "{valid} valid pages");
        assert_eq!((rig.holds(queued), rig.holds(candidate)), (!of_queue, of_queue));
    }
}

#[test]
fn a_block_that_waits_in_the_queue_of_another_class_is_found_out() {
    let mut rig = rig(&[9, 9]);
    let [block] = blocks(&mut rig, 0, [1]);
    assert_eq!(rig.space.check_queues(), Ok(()));
    rig.space.stream_of[block.index()] = Stream::of_class(1).mark();
    assert!(rig.space.check_queues().expect_err("its mark is another").contains("class 0"));
}

/// Refreshing moves the block's page to the next group, and says nothing of a victim.
#[test]
fn a_block_that_was_refreshed_is_none_of_the_hot_group() {
    let mut rig = rig(&[9, 9]);
    let [block, _] = blocks(&mut rig, 0, [1, 1]);
    let hot = |rig: &mut Rig| rig.space.placing.as_mut().expect("midas").midas().hot_blocks();
    assert_eq!(hot(&mut rig), 2);
    let Rig { board, space, owner, .. } = &mut rig;
    let to = (block, Some(Stream::of_class(1)));
    let emptied = space.empty(board, owner, to, Cause::Refresh, When::START);
    let (copied, done) = emptied.expect("nothing fails");
    let role = (block, space.role(block));
    let _ = space.refreshed(board, role, copied, done).expect("nothing fails");
    assert_eq!(hot(&mut rig), 1);
}
