use super::*;
use crate::parts::log_bench_tests::Bench;

fn append(it: &mut Bench, log: &mut StripedLog, lpns: impl IntoIterator<Item = u32>) {
    for lpn in lpns {
        let io = it.host.write(lpn);
        assert!(log.append(&mut it.board, &mut it.engine, &io, When::START).is_ok());
    }
}

/// Five blocks to two stripes, of planes 0 and 1: three and two.
#[test]
fn stripes_are_written_in_turn_and_each_is_exhausted_by_itself() {
    let mut it = Bench::new(&[("device.planes", "2")]);
    let mut log = StripedLog::new(it.board.nand(), 5, LogVictim::Fifo, 2);
    assert!(log.is_empty());
    assert_eq!((log.len(), log.room()), (0, Room { free_blocks: 5, threshold: 1 }));
    append(&mut it, &mut log, 0..3);
    for (lpn, plane) in [(0, 0), (1, 1), (2, 0)] {
        let ppn = it.engine.newest(it.board.nand(), ftlab_flash::units::Lpn(lpn)).expect("there");
        assert_eq!(it.board.geometry().plane_of(ppn).0, plane, "page {lpn}");
    }
    assert_eq!((log.len(), log.is_empty(), log.free_blocks()), (2, false, 3));
    append(&mut it, &mut log, 3..16);
    assert_eq!((log.len(), log.free_blocks()), (4, 1));
    assert!(log.exhausted().is_none(), "the first stripe has a third block");
    append(&mut it, &mut log, [16]);
    let stripe = log.exhausted().expect("the second one has none");
    assert_eq!(stripe.len(), 2);
    stripe.set_limit(1);
    assert!(log.exhausted().is_some(), "over its limit");
    it.check(5);
}

#[test]
fn a_block_found_after_a_power_cut_joins_the_stripe_of_its_plane_while_that_has_room() {
    let mut it = Bench::new(&[("device.planes", "2")]);
    let [a, b, c] = [[0], [1], [2]].map(|lpns| it.log_block(&lpns));
    let planes = [a, b, c].map(|block| it.board.geometry().plane_of_block(block).0);
    assert_eq!(planes, [0; 3]);
    let mut log = StripedLog::new(it.board.nand(), 2, LogVictim::Fifo, 2);
    let resumed = [a, b, c].map(|block| log.resume(it.board.nand(), block));
    assert_eq!(resumed, [true, true, false]);
    assert_eq!([0, 1].map(|stripe| log.stripes[stripe].block(0)), [a, b], "else any that has");
    // Of the second plane, where the first stripe has room as well.
    let other = it.board.geometry().blocks_of(ftlab_flash::units::PlaneId(1)).start;
    let mut log = StripedLog::new(it.board.nand(), 4, LogVictim::Fifo, 2);
    assert!(log.resume(it.board.nand(), BlockId(other)));
    assert_eq!([0, 1].map(|stripe| log.stripes[stripe].len()), [0, 1]);
}
