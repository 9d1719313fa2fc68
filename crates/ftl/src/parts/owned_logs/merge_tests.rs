use super::*;
use crate::parts::log_bench_tests::Bench;

const BAST: Shape = Shape { limit: 3, group: 1, sharers: 1 };
const SHARED: Shape = Shape { limit: 3, group: 1, sharers: 3 };
const RULES: MergeRules = MergeRules { check: SequenceCheck::AllPages, partial: true };

fn logs(it: &Bench, shape: Shape, rules: MergeRules, victim: OwnedVictim) -> OwnedLogs {
    OwnedLogs::new(it.board.nand(), shape, rules, victim, 1)
}

/// Opens a block for the owners of these pages and writes them to it.
fn write(it: &mut Bench, logs: &mut OwnedLogs, lpns: &[u32]) -> Slot {
    let owner = |lpn: u32| Owner(lpn / 4);
    let opened = logs.open(&it.board, &mut it.engine, owner(lpns[0]), When::START);
    let place = opened.expect("blocks are free").0;
    for &lpn in lpns {
        if logs.sharers(place).all(|known| known != owner(lpn)) {
            logs.join(place, owner(lpn));
        }
        append(it, logs, place, lpn);
    }
    place
}

fn append(it: &mut Bench, logs: &mut OwnedLogs, place: Slot, lpn: u32) {
    let io = it.host.write(lpn);
    let done = logs.append(place, &mut it.board, &mut it.engine, &io, When::START);
    assert!(done.is_ok());
}

/// What the merge of a block of these pages is; it is done and seen to lose nothing.
fn merged(rules: MergeRules, data: &[u32], pages: &[u32], trimmed: &[u32]) -> Merge {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, SHARED, rules, OwnedVictim::Fifo);
    it.in_place(data.iter().copied());
    let place = write(&mut it, &mut logs, pages);
    trimmed.iter().for_each(|&lpn| it.trim(lpn));
    let kind = logs.outlook(place, &it.board, &it.engine);
    let done = logs.merge(place, &mut it.board, &mut it.engine, &mut (), When::START);
    assert!(done.is_ok());
    let merges = it.board.meter().merges();
    let counted = [merges.switch, merges.partial, merges.full];
    assert_eq!(counted, [Merge::Switch, Merge::Partial, Merge::Full].map(|m| u64::from(m == kind)));
    let at_merge = it.board.meter().events(Event::LogPagesAtMerge);
    assert_eq!((at_merge, logs.len()), (pages.len() as u64, 0));
    it.check(0);
    kind
}

#[test]
fn only_a_block_with_every_page_in_its_place_is_switched_and_only_the_first_ones_are_completed() {
    use Merge::{Full, Partial, Switch};
    assert_eq!(merged(RULES, &[0, 1, 2, 3], &[0, 1, 2, 3], &[]), Switch);
    assert_eq!(merged(RULES, &[0, 1, 2, 3], &[0, 1], &[]), Partial);
    assert_eq!(merged(RULES, &[0, 1, 2, 3], &[0, 2], &[]), Full, "not at its place");
    assert_eq!(merged(RULES, &[0, 1, 2, 3], &[0, 5, 2, 3], &[]), Full, "of two logical blocks");
    assert_eq!(merged(RULES, &[], &[0, 1, 2, 3], &[1]), Switch, "trimmed since");
    let valid = MergeRules { check: SequenceCheck::ValidPages, partial: true };
    assert_eq!(merged(valid, &[], &[0, 1, 2, 3], &[]), Switch);
    assert_eq!(merged(valid, &[], &[0, 1, 2, 3], &[1]), Full, "trimmed since");
    let never = MergeRules { check: SequenceCheck::None, partial: true };
    assert_eq!(merged(never, &[], &[0, 1, 2, 3], &[]), Full);
    let no_partial = MergeRules { check: SequenceCheck::AllPages, partial: false };
    assert_eq!(merged(no_partial, &[3], &[0, 1], &[]), Full);
    assert_eq!(merged(no_partial, &[3], &[0, 1, 2, 3], &[]), Switch);
}

#[test]
fn a_block_that_holds_nothing_valid_is_erased_and_is_no_merge() {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, BAST, RULES, OwnedVictim::Fifo);
    let place = write(&mut it, &mut logs, &[0, 1]);
    [0, 1].into_iter().for_each(|lpn| it.trim(lpn));
    let done = logs.merge(place, &mut it.board, &mut it.engine, &mut (), When::START);
    assert!(done.is_ok() && logs.is_empty());
    let meter = it.board.meter();
    assert_eq!((meter.events(Event::DeadLogBlocks), meter.events(Event::LogPagesAtMerge)), (1, 0));
    assert_eq!((meter.merges().switch, meter.merges().partial, meter.merges().full), (0, 0, 0));
    it.check(0);
}

/// Three owners share three blocks.
#[test]
fn a_block_has_room_until_it_is_full_or_failed_and_counts_whom_a_full_merge_rebuilds() {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, SHARED, RULES, OwnedVictim::Fifo);
    assert!(logs.is_empty());
    let full = write(&mut it, &mut logs, &[4, 5, 6, 9]);
    assert_eq!((logs.len(), logs.is_empty()), (1, false));
    let open = write(&mut it, &mut logs, &[0, 1, 2]);
    let room =
        |logs: &OwnedLogs, it: &Bench| [full, open].map(|p| logs.has_room(it.board.nand(), p));
    assert_eq!(room(&logs, &it), [false, true]);
    assert_eq!([full, open].map(|place| logs.pages_used(place)), [4, 3]);
    assert_eq!([full, open].map(|place| logs.data_blocks(place, &it.board)), [2, 1]);
    let used = [full, open, Slot(2)].map(|place| logs.is_used(place));
    assert_eq!(used, [true, true, false]);
    let emptied = |logs: &OwnedLogs, it: &Bench| [1, 0].map(|o| logs.emptied(Owner(o), &it.board));
    assert_eq!(emptied(&logs, &it), [None; 2], "pages are valid");
    [4, 5, 6, 9].into_iter().for_each(|lpn| it.trim(lpn));
    [0, 1, 2].into_iter().for_each(|lpn| it.trim(lpn));
    assert_eq!(emptied(&logs, &it), [Some(full), None], "the other one has room");
    it.fail_program_after(0);
    let io = it.host.write(0);
    let failed = logs.append(open, &mut it.board, &mut it.engine, &io, When::START);
    assert!(failed.is_err());
    assert_eq!(room(&logs, &it), [false; 2]);
    assert_eq!(emptied(&logs, &it), [Some(full), Some(open)], "it takes no page any more");
}

/// Of two planes, logical block 1 lives in the second.
#[test]
fn the_log_block_of_a_single_logical_block_lies_in_its_plane() {
    let mut it = Bench::new(&[("device.planes", "2")]);
    let mut logs = logs(&it, BAST, RULES, OwnedVictim::Fifo);
    for lpn in [4, 0, 12] {
        let place = write(&mut it, &mut logs, &[lpn]);
        let plane = it.board.geometry().plane_of_block(logs.block(place));
        assert_eq!(plane, Lbn(lpn / 4).plane(it.board.geometry()));
    }
}

fn choose(it: &mut Bench, logs: &mut OwnedLogs, among: Option<Owner>) -> Slot {
    logs.choose(&mut it.board, &it.engine, among, When::START).0
}

/// Places 0 to 2; place 1 is given back in between.
#[test]
fn round_robin_passes_places_that_are_not_in_use() {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, BAST, RULES, OwnedVictim::RoundRobin);
    let places = [0, 4, 8].map(|lpn| write(&mut it, &mut logs, &[lpn]));
    let turns = [(); 4].map(|()| choose(&mut it, &mut logs, None));
    assert_eq!(turns, [places[0], places[1], places[2], places[0]]);
    let done = logs.merge(places[1], &mut it.board, &mut it.engine, &mut (), When::START);
    assert!(done.is_ok());
    let turns = [(); 3].map(|()| choose(&mut it, &mut logs, None));
    assert_eq!(turns, [places[2], places[0], places[2]]);
    assert_eq!(choose(&mut it, &mut logs, Some(Owner(0))), places[0], "of one owner, its oldest");
}

#[test]
fn any_block_in_use_is_drawn_and_no_other() {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, BAST, RULES, OwnedVictim::Random);
    let places = [0, 4, 8].map(|lpn| write(&mut it, &mut logs, &[lpn]));
    let drawn = |it: &mut Bench, logs: &mut OwnedLogs| {
        let mut drawn: Vec<u32> = (0..50).map(|_| choose(it, logs, None).0).collect();
        drawn.sort();
        drawn.dedup();
        drawn
    };
    assert_eq!(drawn(&mut it, &mut logs), places.map(|place| place.0));
    let done = logs.merge(places[0], &mut it.board, &mut it.engine, &mut (), When::START);
    assert!(done.is_ok());
    assert_eq!(drawn(&mut it, &mut logs), [places[1].0, places[2].0]);
}

/// Of two logs one has opened its places in order, the other place 0 again behind the others: the
/// same seed draws the same places.
#[test]
fn where_all_places_are_in_use_a_draw_is_a_place_whatever_order_they_were_opened_in() {
    let drawn = |again: bool| -> Vec<Slot> {
        let mut it = Bench::new(&[]);
        let mut logs = logs(&it, BAST, RULES, OwnedVictim::Random);
        let places = [0, 4, 8].map(|lpn| write(&mut it, &mut logs, &[lpn]));
        assert_eq!(places, [0, 1, 2].map(Slot));
        if again {
            let done = logs.merge(Slot(0), &mut it.board, &mut it.engine, &mut (), When::START);
            assert!(done.is_ok());
            assert_eq!(write(&mut it, &mut logs, &[12]), Slot(0));
        }
        let order = if again { [1, 2, 0] } else { [0, 1, 2] };
        assert_eq!(logs.places().collect::<Vec<_>>(), order.map(Slot));
        (0..50).map(|_| choose(&mut it, &mut logs, None)).collect()
    };
    assert_eq!(drawn(true), drawn(false));
}

/// A block to be completed, one to switch, one without a valid page.
#[test]
fn the_cheapest_is_a_dead_one_then_one_to_switch() {
    let mut it = Bench::new(&[]);
    let mut logs = logs(&it, BAST, RULES, OwnedVictim::Cheapest);
    let [_, switch, dead] =
        [&[0, 1][..], &[4, 5, 6, 7], &[8]].map(|p| write(&mut it, &mut logs, p));
    assert_eq!(choose(&mut it, &mut logs, None), switch);
    it.trim(8);
    assert_eq!(choose(&mut it, &mut logs, None), dead);
}

/// Up to two owners share a block.
#[test]
fn an_owner_leaves_its_own_block_and_a_block_of_too_many_is_not_gone_on_with() {
    let mut it = Bench::new(&[]);
    let two = Shape { sharers: 2, ..SHARED };
    let mut known = logs(&it, two, RULES, OwnedVictim::Fifo);
    let places = [&[0, 4][..], &[8, 12], &[16, 20]].map(|lpns| write(&mut it, &mut known, lpns));
    let sharers = |logs: &OwnedLogs| {
        places.map(|place| logs.sharers(place).map(|owner| owner.0).collect::<Vec<_>>())
    };
    known.leave(places[2], Owner(4));
    assert_eq!(sharers(&known), [vec![0, 1], vec![2, 3], vec![5]]);
    known.remove(places[1]);
    assert_eq!(sharers(&known), [vec![0, 1], vec![], vec![5]]);
    let [three, pair] = [it.log_block(&[1, 5, 9]), it.log_block(&[2, 6])];
    let mut found = logs(&it, two, RULES, OwnedVictim::Fifo);
    let resumed = [three, pair].map(|block| found.resume(&it.board, block, |_| 1));
    assert_eq!((resumed, found.len()), ([false, true], 1));
}
