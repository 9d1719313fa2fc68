//! Sequences of writes and victims.

use super::super::Placement;
use super::super::tests::{Bench, victim};
use super::*;

impl Midas {
    /// These groups are in force, as if an epoch had ended or one of them had been given up.
    pub(in crate::parts) fn divide(&mut self, groups: Groups, how: Regrouped) {
        (self.groups, self.regrouped) = (groups, Some(how));
    }

    /// Valid share of what a group gave, in parts per million.
    pub(in crate::parts) fn given(&self, group: usize) -> Option<u64> {
        self.present[group].share()
    }

    pub(in crate::parts) fn hot_blocks(&self) -> u32 {
        self.hot_blocks
    }
}

pub(super) fn bench(pairs: &[(&str, &str)]) -> Bench {
    let all = [&[("midas.hot_wait", "0")], pairs].concat();
    Bench::new("midas", 64, &all)
}

pub(super) fn midas(bench: &mut Bench) -> &mut Midas {
    let Placement::Midas(midas) = &mut bench.policy else { unreachable!("made as such") };
    midas
}

/// Groups of these sizes, the hot one first, that are expected to keep so much.
pub(super) fn sized(bench: &mut Bench, sizes: &[u32], expected: &[u64]) {
    let midas = midas(bench);
    midas.groups = midas.groups.sized(sizes.iter().copied());
    for (known, &share) in midas.expected.valid.iter_mut().zip(expected) {
        *known = Some(share);
    }
}

/// So many of a block's eight pages were valid.
fn collected(class: u8, valid: u32, now: u64) -> Victim {
    Victim { block: 40, valid, ..victim(class, 0, now) }
}

/// Ten classes, one group: 0 is hot, 5 the first. A page that is overwritten three times in open
/// blocks of class 5 is hot; collected there it goes to class 5 and counts 1; overwritten, 2.
#[test]
fn a_page_is_hot_when_it_was_overwritten_young() {
    let mut bench = bench(&[]);
    let page = 7;
    for (block, class) in [(5, 5), (6, 0), (7, 5)] {
        bench.policy.opened(BlockId(block), class);
    }
    let write = |bench: &mut Bench, block| {
        let class = bench.write(page);
        bench.policy.placed(Lpn(page), BlockId(block));
        (class, midas(bench).filter.count(Lpn(page)))
    };
    assert_eq!([5, 5, 5].map(|to| write(&mut bench, to)), [(5, 0), (5, 1), (5, 2)]);
    assert_eq!(write(&mut bench, 6), (0, 3));
    bench.policy.closed(BlockId(6));
    assert_eq!(midas(&mut bench).hot_blocks, 1);
    let hot = Victim { block: 6, valid: 1, ..victim(0, 0, 4) };
    assert_eq!(bench.policy.victim(&hot), Goes::Whole(5));
    bench.policy.placed(Lpn(page), BlockId(7));
    bench.policy.collected(&hot);
    let midas_now = midas(&mut bench);
    assert_eq!((midas_now.filter.count(Lpn(page)), midas_now.hot_blocks), (1, 0));
    assert_eq!(write(&mut bench, 7), (5, 2));
    bench.trim(page);
    assert_eq!(midas(&mut bench).filter.count(Lpn(page)), 0, "its history ends");
}

/// A block that was opened long ago: its pages are old. w is 64 at first.
#[test]
fn an_update_of_an_old_page_makes_it_colder() {
    let mut bench = bench(&[]);
    bench.policy.opened(BlockId(5), 5);
    for turn in 0..3 {
        assert_eq!(bench.write(1), 5);
        bench.policy.placed(Lpn(1), BlockId(5));
        assert_eq!(midas(&mut bench).filter.count(Lpn(1)), turn);
    }
    bench.policy.closed(BlockId(5));
    bench.pass(64);
    assert_eq!(bench.write(1), 5);
    assert_eq!(midas(&mut bench).filter.count(Lpn(1)), 1, "one less than two");
}

/// Groups 0 1 2 3: with three victims of group 2 in a row, one more than allowed, the host
/// waiting, 2 and 3 become one. A write between, or a victim of another group, begins anew.
#[test]
fn a_group_that_gives_victim_after_victim_is_given_up() {
    let mut bench = bench(&[("midas.victims_in_a_row", "2")]);
    sized(&mut bench, &[2, 5, 7], &[0, 500_000, 700_000, 900_000]);
    let groups = |bench: &mut Bench| {
        let groups = midas(bench).groups;
        (groups.count(), groups.is_chain())
    };
    for (class, now) in [(2, 7), (2, 7), (1, 7), (2, 7), (2, 7), (2, 8), (2, 8)] {
        bench.policy.collected(&collected(class, 8, now));
        assert_eq!(bench.policy.regrouped(), None);
    }
    bench.policy.collected(&collected(2, 8, 8));
    assert_eq!(groups(&mut bench), (3, true));
    assert_eq!(bench.policy.regrouped(), Some(Regrouped::Merged));
    assert_eq!(bench.policy.regrouped(), None, "told once");
    let expected = midas(&mut bench).expected.valid;
    assert_eq!(expected[..4], [Some(0), Some(500_000), None, None]);
    // Of the last group, which is a chain already.
    (0..5).for_each(|_| bench.policy.collected(&collected(9, 8, 9)));
    assert_eq!(groups(&mut bench), (3, true));
    // Of the first: one group is left.
    (0..3).for_each(|_| bench.policy.collected(&collected(1, 8, 9)));
    assert_eq!(groups(&mut bench), (1, true));
}

/// An epoch of 256 pages: victims from the 86th page on are looked at, and judged after the 128th.
#[test]
fn a_group_that_is_not_as_expected_is_given_up_once_an_epoch() {
    // Expected 0, 50, 70 and 90 %; found in the window by group: as said.
    for (found, left, chain) in [
        ([0, 4, 6, 7], 4, false),
        // 5/8 is more than a tenth beyond 0.5; so is 3/8 below it, and 0.5 below 0.7.
        ([0, 5, 6, 7], 1, true),
        ([0, 3, 6, 7], 1, true),
        ([0, 4, 4, 7], 3, true),
        ([1, 4, 6, 7], 1, true),
        // Only the last group is off.
        ([0, 4, 6, 6], 4, true),
    ] {
        let mut bench = bench(&[]);
        sized(&mut bench, &[2, 5, 7], &[0, 500_000, 700_000, 900_000]);
        midas(&mut bench).expected.since = Some(0);
        let collect = |bench: &mut Bench, found: [u32; 4]| {
            let now = bench.policy_clock();
            for (class, valid) in [0, 1, 2, 9].into_iter().zip(found) {
                bench.policy.collected(&collected(class, valid, now));
            }
        };
        collect(&mut bench, [8; 4]);
        bench.pass(90);
        bench.write(1);
        collect(&mut bench, found);
        bench.pass(36);
        bench.write(1);
        assert_eq!(midas(&mut bench).groups.count(), 4, "not judged yet");
        bench.write(1);
        let groups = midas(&mut bench).groups;
        assert_eq!((groups.count(), groups.is_chain()), (left, chain), "{found:?}");
        assert_eq!(midas(&mut bench).expected.since, None, "judged");
    }
}

/// A load of two temperatures: 56 pages of 64 hardly change, 8 are written over and over. The
/// model is asked after two capacities and an epoch, and has something to say; what it expects
/// comes into force if it is less than what was copied since.
#[test]
fn groups_come_into_force_when_they_write_less() {
    for (copies, comes) in [(0, false), (128, true)] {
        let pairs = [("midas.sampling", "1"), ("midas.epoch", "8"), ("midas.margin", "2")];
        let mut bench = bench(&pairs);
        midas(&mut bench).segments = 10;
        bench.policy.opened(BlockId(1), 5);
        let mut told = None;
        for turn in 0..64 * 11 {
            let page = if turn % 16 == 0 { 8 + turn / 16 % 56 } else { turn % 8 };
            bench.write(if turn < 64 { turn } else { page });
            // Copies of the first group.
            if turn % 64 == 63 && copies > 0 {
                (0..copies / 8).for_each(|_| {
                    bench.policy.collected(&collected(9, 8, u64::from(turn)));
                });
            }
            told = told.max(bench.policy.regrouped());
        }
        let midas = midas(&mut bench);
        assert!(midas.best.is_some_and(|waf| waf > 1_000_000), "{:?}", midas.best);
        let expected = if comes { Regrouped::Sized } else { Regrouped::Told };
        assert_eq!(told, Some(expected), "{:?}, {:?}", midas.best, midas.written.last());
        assert_eq!(midas.expected.waf, midas.best.filter(|_| comes), "only what is in force");
        assert_eq!(midas.groups.count() > 2, comes, "{:?}", midas.groups);
        assert_eq!(midas.expected.since.is_some(), comes, "only sizes are held against what is");
        let first = midas.groups.first();
        assert_eq!(first, if comes { 1 } else { 5 });
        // The epoch that ended had one group, and none that a model expected anything of.
        let says = bench.policy.model_says();
        assert!(says.held.is_none() && says.best.is_some(), "{says:?}");
        assert_eq!(bench.policy.class_group(0), None);
        assert_eq!(bench.policy.class_group(9).map(|group| group.segments), Some(10));
    }
}

/// Groups of an epoch are told when it has ended, with what was expected of them and what was: in
/// one of 256 pages 64 were copied. Where one was given up in it, the groups since then, and no
/// amplification. What was collected before belongs to other groups.
#[test]
fn an_epoch_is_told_as_one_when_it_is_over() {
    for is_given_up in [false, true] {
        let mut bench = bench(&[("midas.model_wait", "0"), ("midas.victims_in_a_row", "2")]);
        bench.write(0);
        sized(&mut bench, &[2, 5, 7], &[0, 500_000, 700_000, 900_000]);
        midas(&mut bench).expected.waf = Some(1_300_000);
        assert_eq!(bench.policy.class_group(1), None, "nothing has ended");
        for turn in 0..8 {
            bench.policy.collected(&collected([1, 9][turn % 2], 8, turn as u64));
        }
        if is_given_up {
            (0..3).for_each(|_| bench.policy.collected(&collected(2, 8, 99)));
            bench.policy.collected(&collected(1, 2, 100));
        }
        (1..=256).for_each(|turn| {
            bench.write(turn % 64);
        });
        let says = bench.policy.model_says();
        let group = |class| bench.policy.class_group(class);
        let was = |class| group(class).and_then(|group| group.valid_ppm);
        let expected = |class| group(class).and_then(|group| group.expected_valid_ppm);
        match is_given_up {
            false => {
                assert_eq!(says.held, Some((1300, 1250)));
                let known = [1, 2, 9].map(|class| (was(class), expected(class)));
                let all = Some(1_000_000);
                assert_eq!(
                    known,
                    [(all, Some(500_000)), (None, Some(700_000)), (all, Some(900_000))]
                );
            }
            true => {
                assert_eq!(says.held, None);
                assert_eq!((was(1), expected(1)), (Some(250_000), Some(500_000)));
                assert_eq!((group(2), was(9), expected(9)), (None, None, None));
            }
        }
    }
}

/// A block that goes on as it is: all of it is valid for the share of its group, and for the hot
/// group that it is of, and nothing of it was written. It is no victim in a row.
#[test]
fn a_block_that_is_handed_on_is_valid_and_not_written() {
    let mut bench = bench(&[("midas.victims_in_a_row", "1")]);
    sized(&mut bench, &[2, 5, 7], &[0, 500_000, 700_000, 900_000]);
    midas(&mut bench).expected.since = Some(0);
    bench.pass(100);
    bench.write(1);
    bench.policy.collected(&collected(1, 2, 100));
    (0..3).for_each(|block| bench.policy.handed_on(BlockId(block), 1, 8));
    let midas = midas(&mut bench);
    for counted in [&midas.present, &midas.expected.found] {
        assert_eq!(counted[1].share(), Some(26 * 1_000_000 / 32));
    }
    assert_eq!(midas.written.epoch_ends(), Some(3_000_000), "a page written, two copied");
    assert_eq!(midas.groups.count(), 4);
}

/// A page of a hot block, or of the first group, that is moved since its block is refreshed counts
/// as before.
#[test]
fn a_page_that_is_refreshed_stays_as_hot() {
    for is_refreshed in [false, true] {
        let mut bench = bench(&[]);
        for (block, class) in [(5, 5), (6, 5)] {
            bench.policy.opened(BlockId(block), class);
        }
        for _ in 0..3 {
            assert_eq!(bench.write(7), 5);
            bench.policy.placed(Lpn(7), BlockId(5));
        }
        let block = Victim { block: 5, is_refreshed, ..victim(5, 0, 3) };
        bench.policy.victim(&block);
        bench.policy.placed(Lpn(7), BlockId(6));
        let count = midas(&mut bench).filter.count(Lpn(7));
        assert_eq!(count, if is_refreshed { 2 } else { 1 });
    }
}

/// What levelling moves is as old as it was, and who is erased by anybody is no hot block any more.
#[test]
fn blocks_are_as_old_as_what_they_hold_and_empty_when_they_are_erased() {
    let mut bench = bench(&[]);
    bench.policy.opened(BlockId(5), 5);
    bench.policy.opened(BlockId(8), 0);
    bench.policy.closed(BlockId(8));
    bench.pass(40);
    bench.write(1);
    bench.policy.opened(BlockId(6), 5);
    assert_eq!([5, 6].map(|block| midas(&mut bench).age(BlockId(block))), [40, 0]);
    bench.policy.inherits(BlockId(5), BlockId(6));
    bench.policy.released(BlockId(5));
    assert_eq!(midas(&mut bench).age(BlockId(6)), 40);
    assert_eq!(midas(&mut bench).hot_blocks, 1);
    bench.policy.released(BlockId(8));
    assert_eq!(midas(&mut bench).hot_blocks, 0);
}

/// Without classes for a group between the hot one and the last there is no model.
#[test]
fn two_classes_have_no_model() {
    for pairs in [&[("placement.classes", "2")][..], &[("midas.groups", "0")]] {
        let mut bench = bench(pairs);
        (0..64 * 8).for_each(|turn| {
            bench.write(turn % 64);
        });
        assert_eq!(midas(&mut bench).best, None);
        assert_eq!(bench.policy.regrouped(), None);
    }
}

/// Full hot blocks are counted, whoever makes a block hot or full; a block that is still written is
/// none of them.
#[test]
fn hot_blocks_are_full_blocks_of_the_hot_group() {
    let mut bench = bench(&[]);
    let mut count = 0;
    let mut after = |what: &dyn Fn(&mut Placement)| {
        count += 1;
        what(&mut bench.policy);
        (count, midas(&mut bench).hot_blocks)
    };
    assert_eq!(after(&|policy| policy.opened(BlockId(8), 0)), (1, 0));
    assert_eq!(after(&|policy| policy.released(BlockId(8))), (2, 0));
    assert_eq!(after(&|policy| policy.opened(BlockId(8), 0)), (3, 0));
    assert_eq!(after(&|policy| policy.closed(BlockId(8))), (4, 1));
    assert_eq!(after(&|policy| policy.closed(BlockId(8))), (5, 1));
    assert_eq!(after(&|policy| policy.opened(BlockId(6), 5)), (6, 1));
    assert_eq!(after(&|policy| policy.closed(BlockId(6))), (7, 1));
    assert_eq!(after(&|policy| policy.reclassed(BlockId(8), 9)), (8, 0));
    assert_eq!(after(&|policy| policy.reclassed(BlockId(8), 0)), (9, 1));
    assert_eq!(after(&|policy| policy.opened(BlockId(7), 9)), (10, 1));
    assert_eq!(after(&|policy| policy.reclassed(BlockId(7), 0)), (11, 1), "it is open");
    assert_eq!(after(&|policy| policy.released(BlockId(8))), (12, 0));
}

/// Pages of a victim are copies until it is empty: another block that is opened or erased does not
/// end that.
#[test]
fn a_victim_is_emptied_until_it_is_opened_or_erased_itself() {
    for ends in [true, false] {
        let mut bench = bench(&[]);
        bench.policy.opened(BlockId(5), 5);
        bench.policy.victim(&Victim { block: 5, ..victim(5, 0, 3) });
        bench.policy.released(BlockId(9));
        bench.policy.opened(BlockId(9), 5);
        assert_eq!(midas(&mut bench).emptied, Some(BlockId(5)));
        match ends {
            true => bench.policy.opened(BlockId(5), 5),
            false => bench.policy.released(BlockId(5)),
        }
        assert_eq!(midas(&mut bench).emptied, None);
    }
}

/// A page is where it was programmed last, and nowhere behind a trim. Only the first group and the
/// hot one say how hot it is; of one class that is the first group.
#[test]
fn a_page_was_in_the_block_that_it_was_programmed_to_last() {
    let mut bench = bench(&[]);
    for (block, class) in [(5, 5), (6, 9), (7, 0)] {
        bench.policy.opened(BlockId(block), class);
    }
    let mut was = |block| {
        bench.policy.placed(Lpn(1), BlockId(block));
        let midas = midas(&mut bench);
        (midas.was(Lpn(1)), [5, 6, 7].map(|block| midas.blocks[block].valid))
    };
    assert_eq!(was(5), (Was::First(0), [1, 0, 0]));
    assert_eq!(was(6), (Was::Elsewhere, [0, 1, 0]));
    assert_eq!(was(7), (Was::Hot, [0, 0, 1]));
    bench.trim(1);
    let now = midas(&mut bench);
    assert_eq!((now.was(Lpn(1)), now.blocks[7].valid), (Was::Elsewhere, 0));
    let mut one = self::bench(&[("placement.classes", "1")]);
    one.policy.opened(BlockId(5), 0);
    one.policy.placed(Lpn(1), BlockId(5));
    assert_eq!(midas(&mut one).was(Lpn(1)), Was::First(0));
}

/// w is 64, and stays so while only segments of the last group are collected, however many pages
/// are overwritten; a hot one of age 70 brings it to the mean of both.
#[test]
fn only_hot_segments_say_what_is_young() {
    let mut bench = bench(&[]);
    bench.policy.collected(&collected(9, 3, 0));
    (0..=70).for_each(|_| assert!(bench.write(1) < 10));
    assert_eq!(midas(&mut bench).filter.young(), 64);
    bench.policy.collected(&collected(0, 3, 70));
    assert!(bench.write(1) < 10);
    assert_eq!(midas(&mut bench).filter.young(), 67);
}

/// As many as are set, and a class each besides the hot group and the last.
#[test]
fn groups_are_as_many_as_there_are_classes_for() {
    for (groups, most) in [("14", 8), ("3", 3)] {
        assert_eq!(midas(&mut bench(&[("midas.groups", groups)])).most_groups(), most);
    }
    let config = super::super::tests::settings("midas", &[]);
    let context = super::super::tests::context(&config, 64);
    assert_eq!(segment_pages(&PlacementContext { segment_units: 2, ..context }), 16);
}

/// Valid shares cannot be judged before they are looked at.
#[test]
fn shares_are_judged_when_they_have_been_looked_at() {
    let of = |check_from, check_until| {
        MidasSettings { check_from, check_until, ..MidasSettings::default() }.check().is_ok()
    };
    assert_eq!((of(0.6, 0.5), of(0.5, 0.5), of(0.4, 0.5)), (false, true, true));
}
