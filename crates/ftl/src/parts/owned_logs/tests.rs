use super::*;
use crate::settings::SharedSettings;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::RequestShape;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::Tag;

/// An engine, and three log blocks shared as `group` and `sharers` say.
fn logs(group: u32, sharers: u32) -> (Board, MergeEngine, OwnedLogs) {
    let mut config = SharedSettings::default();
    let pairs = [("device.pages_per_block", "4"), ("device.blocks_per_plane", "40")];
    for (key, value) in pairs {
        config.set(key, value).expect("legal");
    }
    let bytes = 8 * 4 * config.device.unit_bytes();
    config.device.set_capacity(bytes, 40);
    let board = Board::new(&config, 1, 64);
    let engine = MergeEngine::new(&board, &config);
    let shape = Shape { limit: 3, group, sharers };
    let rules = MergeRules { check: SequenceCheck::AllPages, partial: true };
    let logs = OwnedLogs::new(board.nand(), shape, rules, OwnedVictim::Fifo, 1);
    (board, engine, logs)
}

fn open(bench: &mut (Board, MergeEngine, OwnedLogs), owner: u32) -> Slot {
    let (board, engine, logs) = bench;
    let opened = logs.open(board, engine, Owner(owner), When::START);
    opened.expect("blocks are free").0
}

#[test]
fn an_owner_has_its_blocks_in_a_chain_the_newest_first() {
    let mut bench = logs(4, 1);
    assert_eq!((bench.2.owners(), bench.2.owner_of(Lbn(7))), (2, Owner(1)));
    let places: Vec<Slot> = (0..3).map(|_| open(&mut bench, 1)).collect();
    let logs = &mut bench.2;
    let chain = |logs: &OwnedLogs| logs.blocks_of(Owner(1)).collect::<Vec<_>>();
    assert_eq!(chain(logs), [places[2], places[1], places[0]]);
    assert_eq!((logs.count(Owner(1)), logs.count(Owner(0)), logs.free_blocks()), (3, 0, 0));
    logs.remove(places[1]);
    assert_eq!(chain(logs), [places[2], places[0]], "one out of the middle");
    logs.remove(places[2]);
    assert_eq!(logs.of(Owner(1)), Some(places[0]), "the newest gone, the one before is it");
    logs.remove(places[0]);
    assert_eq!((logs.of(Owner(1)), logs.count(Owner(1)), logs.free_blocks()), (None, 0, 3));
}

#[test]
fn a_shared_block_knows_its_owners_until_they_leave() {
    let mut bench = logs(1, 3);
    let place = open(&mut bench, 5);
    let other = open(&mut bench, 2);
    let logs = &mut bench.2;
    logs.join(place, Owner(7));
    logs.join(place, Owner(0));
    let sharers = |logs: &OwnedLogs| logs.sharers(place).map(|owner| owner.0).collect::<Vec<_>>();
    assert_eq!(sharers(logs), [5, 7, 0]);
    assert_eq!([5, 7, 0].map(|owner| logs.of(Owner(owner))), [Some(place); 3]);
    logs.leave(place, Owner(7));
    assert_eq!((sharers(logs), logs.of(Owner(7))), (vec![5, 0], None));
    logs.join(place, Owner(3));
    assert_eq!(sharers(logs), [5, 0, 3], "there is room for another");
    logs.remove(place);
    assert_eq!([5, 0, 3].map(|owner| logs.of(Owner(owner))), [None; 3]);
    assert_eq!((logs.of(Owner(2)), logs.len()), (Some(other), 1));
}

#[test]
#[should_panic(expected = "1 owners share this block already")]
fn nobody_joins_a_block_that_is_shared_by_as_many_as_may() {
    let mut bench = logs(1, 1);
    let place = open(&mut bench, 5);
    bench.2.join(place, Owner(6));
}

#[test]
fn an_owner_goes_on_with_no_more_blocks_than_it_may_have() {
    let mut bench = logs(4, 1);
    let places = [open(&mut bench, 1), open(&mut bench, 1)];
    let (board, engine, known) = &mut bench;
    for (place, lpn) in places.into_iter().zip([17, 22]) {
        let request =
            RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 4, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        let io = PageIo { lpn: Lpn(lpn), sectors: u64::MAX, cause, data, request };
        let written = known.append(place, board, engine, &io, When::START);
        assert!(written.is_ok(), "nothing fails here");
    }
    let blocks = places.map(|place| known.block(place));
    let mut found = logs(4, 1).2;
    assert_eq!(blocks.map(|block| found.resume(board, block, |_| 1)), [true, false]);
    assert_eq!((found.len(), found.count(Owner(1)), found.free_blocks()), (1, 1, 2));
    let mut found = logs(4, 1).2;
    assert_eq!(blocks.map(|block| found.resume(board, block, |_| 2)), [true, true]);
    let newest = found.of(Owner(1)).map(|place| (found.block(place), found.pages_used(place)));
    assert_eq!(newest, Some((blocks[1], 1)), "the younger one takes the next page");
}
