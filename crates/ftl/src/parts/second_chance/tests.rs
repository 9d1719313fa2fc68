use super::*;
use crate::parts::log_bench_tests::Bench;
use crate::parts::random_log::LogVictim;
use ftlab_flash::units::Lpn;

/// Counts up to four are three bits: 36 for three blocks of four pages.
#[test]
fn memory_is_the_bits_of_a_count_for_each_log_page() {
    let it = Bench::new(&[]);
    assert_eq!(SecondChances::ram_bytes(it.board.geometry(), 3, 4), 5);
    assert_eq!(SecondChances::ram_bytes(it.board.geometry(), 3, 1), 2);
}

#[test]
fn a_copy_takes_its_count_along_and_an_erase_forgets_those_of_its_block_alone() {
    let mut it = Bench::new(&[]);
    let _ = it.log_block(&[]);
    let (block, next) = (it.log_block(&[0, 1]), it.log_block(&[2]));
    assert_eq!((block, next), (BlockId(1), BlockId(2)));
    let page = |it: &Bench, lpn| it.engine.newest(it.board.nand(), Lpn(lpn)).expect("written");
    let mut chances = SecondChances::new(it.board.geometry());
    let [kept, moved, other] = [0, 1, 2].map(|lpn| page(&it, lpn));
    [kept, moved, moved, other].into_iter().for_each(|page| chances.give(page));
    assert_eq!([kept, moved, other].map(|page| chances.given(page)), [1, 2, 1]);
    let mut log = RandomLog::new(it.board.nand(), 4, LogVictim::Fifo);
    let what = (moved, 3);
    let carried = chances.carry(&mut log, &mut it.board, &mut it.engine, what, When::START);
    assert!(carried.is_ok());
    assert_eq!((page(&it, 1), log.len()), (it.board.geometry().page(log.block(0), 0), 1));
    assert_eq!(chances.given(page(&it, 1)), 5);
    chances.forget(it.board.geometry(), block);
    assert_eq!([kept, moved, other].map(|page| chances.given(page)), [0, 0, 1]);
    it.check(4);
}
