use super::*;
use crate::parts::log_bench_tests::Bench;

fn append(it: &mut Bench, log: &mut RandomLog, lpns: impl IntoIterator<Item = u32>) {
    for lpn in lpns {
        let io = it.host.write(lpn);
        let done = log.append(&mut it.board, &mut it.engine, &io, When::START);
        assert!(done.is_ok(), "{done:?}");
    }
}

fn blocks(log: &RandomLog) -> Vec<u32> {
    log.blocks().map(|block| block.0).collect()
}

#[test]
fn a_log_says_how_many_blocks_it_has_and_may_have() {
    let mut it = Bench::new(&[]);
    let mut log = RandomLog::new(it.board.nand(), 3, LogVictim::Fifo);
    assert!(log.is_empty());
    assert_eq!((log.len(), log.room()), (0, Room { free_blocks: 3, threshold: 1 }));
    assert_eq!(log.open_block(), None);
    append(&mut it, &mut log, 0..5);
    assert_eq!((log.len(), log.free_blocks(), log.limit()), (2, 1, 3));
    assert_eq!(log.open_block(), Some(log.block(1)));
    assert!(!log.is_empty() && !log.is_exhausted() && !log.is_over_limit());
    log.set_limit(2);
    assert_eq!((log.free_blocks(), log.limit()), (0, 2));
    assert!(!log.is_exhausted() && !log.is_over_limit(), "the newest block has room");
    append(&mut it, &mut log, 5..8);
    assert_eq!(log.open_block(), None);
    assert!(log.is_exhausted() && !log.is_over_limit());
    log.set_limit(1);
    assert!(log.is_over_limit());
    let places = [log.block(0), log.block(1), BlockId(9)].map(|block| log.position(block));
    assert_eq!(places, [Some(0), Some(1), None]);
    it.check(2);
}

/// Blocks 0 and 1 are closed, with four and three valid pages; block 2 is open, with one.
#[test]
fn a_block_that_is_written_is_no_candidate_and_one_that_was_closed_is() {
    let mut it = Bench::new(&[]);
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Greedy);
    append(&mut it, &mut log, 0..9);
    it.trim(5);
    assert_eq!(log.choose(&mut it.board, When::START).0, 1);
    assert_eq!(log.choose_dead_first(&mut it.board, When::START).0, 1, "as the policy says");
    log.close();
    assert_eq!(log.open_block(), None);
    assert_eq!(log.choose(&mut it.board, When::START).0, 2);
}

#[test]
fn the_oldest_dead_block_comes_before_the_oldest() {
    let mut it = Bench::new(&[]);
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    append(&mut it, &mut log, 0..13);
    let looked_at = |it: &Bench| it.board.meter().events(Event::VictimSearchSteps);
    assert_eq!(log.choose_dead_first(&mut it.board, When::START).0, 0, "none is dead");
    assert_eq!(looked_at(&it), 3, "all that are closed");
    (4..12).for_each(|lpn| it.trim(lpn));
    assert_eq!(log.choose_dead_first(&mut it.board, When::START).0, 1);
    assert_eq!(looked_at(&it), 3 + 2, "the oldest, and the dead one behind it");
    assert_eq!(log.choose(&mut it.board, When::START).0, 0);
}

#[test]
fn the_newest_block_is_written_on_unless_it_is_the_one_that_leaves() {
    let mut it = Bench::new(&[]);
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    append(&mut it, &mut log, 0..5);
    let (first, second) = (log.block(0), log.block(1));
    log.remove(0);
    assert_eq!((blocks(&log), log.open_block()), (vec![second.0], Some(second)));
    append(&mut it, &mut log, [5]);
    assert_eq!(it.valid_pages(second), 2);
    log.remove(0);
    assert_eq!((log.len(), log.open_block()), (0, None));
    append(&mut it, &mut log, [6]);
    assert!(log.block(0) != first && log.block(0) != second, "another one");
    // A failed program closes the newest.
    it.fail_program_after(0);
    let io = it.host.write(7);
    let failed = log.append(&mut it.board, &mut it.engine, &io, When::START);
    assert!(matches!(failed, Err(Fault::ProgramFailed { .. })));
    assert_eq!(log.open_block(), None);
    append(&mut it, &mut log, [7]);
    assert_eq!(log.len(), 2);
    it.check(4);
}

#[test]
fn a_block_that_is_queued_again_is_the_last_of_the_closed_ones() {
    let mut it = Bench::new(&[]);
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    append(&mut it, &mut log, 0..9);
    assert_eq!(blocks(&log), [0, 1, 2]);
    log.requeue(0);
    assert_eq!(blocks(&log), [1, 0, 2], "the one that is written stays the newest");
    append(&mut it, &mut log, 9..12);
    log.requeue(0);
    assert_eq!(blocks(&log), [0, 2, 1]);
    it.check(3);
}

/// The younger of two blocks has two pages when the power goes.
#[test]
fn after_a_power_cut_the_last_block_is_written_on_unless_it_failed() {
    let mut it = Bench::new(&[]);
    let [first, second] = [it.log_block(&[0, 1, 2]), it.log_block(&[4, 5])];
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    [first, second].into_iter().for_each(|block| log.resume(it.board.nand(), block));
    assert_eq!((blocks(&log), log.open_block()), (vec![0, 1], Some(second)));
    append(&mut it, &mut log, [6]);
    assert_eq!(it.valid_pages(second), 3);
    it.fail_program_after(0);
    let io = it.host.write(7);
    assert!(log.append(&mut it.board, &mut it.engine, &io, When::START).is_err());
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    [first, second].into_iter().for_each(|block| log.resume(it.board.nand(), block));
    assert_eq!(log.open_block(), None, "it is read-only");
    append(&mut it, &mut log, [7]);
    assert_eq!(log.len(), 3);
    it.check(3);
}

/// Two copies, the second of which fails once, in a log that may have one block.
#[test]
fn copies_go_beyond_the_limit_and_to_another_block_where_one_fails() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let mut log = RandomLog::new(it.board.nand(), 1, LogVictim::Fifo);
    append(&mut it, &mut log, [4]);
    it.fail_program_after(1);
    for lpn in [0, 1, 2].map(Lpn) {
        let from = it.engine.newest(it.board.nand(), lpn).expect("written above");
        let (page, cause) = ((lpn, from), Cause::Merge);
        let done = log.append_copy(&mut it.board, &mut it.engine, page, cause, When::START);
        assert!(done.is_ok());
    }
    assert_eq!((log.len(), log.is_over_limit()), (2, true));
    let valid: Vec<_> = log.blocks().map(|block| it.valid_pages(block)).collect();
    assert_eq!((valid, it.valid_pages(BlockId(0))), (vec![2, 2], 1));
    it.check(2);
}

/// The second of two stripes over four planes: 1 and 3 in turn.
#[test]
fn a_stripe_takes_its_blocks_from_every_so_many_planes() {
    let mut it = Bench::new(&[("device.planes", "4")]);
    let mut log = RandomLog::striped(it.board.nand(), 4, LogVictim::Fifo, (1, 2));
    let lives = [0, 1, 2, 3].map(|plane| log.lives_in(it.board.nand(), PlaneId(plane)));
    assert_eq!(lives, [false, true, false, true]);
    append(&mut it, &mut log, 0..16);
    let planes = log.blocks().map(|block| it.board.geometry().plane_of_block(block).0);
    assert_eq!(planes.collect::<Vec<_>>(), [1, 3, 1, 3]);
}

/// The last of five stripes over four planes goes on where the planes begin again.
#[test]
fn of_more_stripes_than_planes_each_begins_in_its_plane_and_takes_all_of_them() {
    let mut it = Bench::new(&[("device.planes", "4")]);
    let mut log = RandomLog::striped(it.board.nand(), 4, LogVictim::Fifo, (4, 5));
    assert!((0..4).all(|plane| log.lives_in(it.board.nand(), PlaneId(plane))));
    append(&mut it, &mut log, 0..16);
    let planes = log.blocks().map(|block| it.board.geometry().plane_of_block(block).0);
    assert_eq!(planes.collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn a_log_without_stripes_lives_in_all_planes() {
    let it = Bench::new(&[("device.planes", "4")]);
    let whole = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    assert!((0..4).all(|plane| whole.lives_in(it.board.nand(), PlaneId(plane))));
}
