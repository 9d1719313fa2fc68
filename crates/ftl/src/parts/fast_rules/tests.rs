use super::*;
use crate::parts::log_bench_tests::Bench;
use crate::parts::random_log::LogVictim;
use Row::{InPlace, Random, Sequential};
use SequentialRule::{Append, Gap, Open, Rewrite};

fn fast(it: &Bench, first_write: FirstWrite, rewrite: RewriteRule, gap: GapRule) -> FastLog {
    let base = BlockMapped::new(&it.board, &it.config);
    let random = RandomLog::new(it.board.nand(), 2, LogVictim::Fifo);
    FastLog::new(base, random, FastRules { first_write, rewrite, gap })
}

/// Writes a page; the row that it ended in, and how often the random log was reclaimed.
fn write(it: &mut Bench, log: &mut FastLog, lpn: u32, stream: Stream) -> (Row, u32) {
    let mut reclaims = 0;
    let io = it.host.write(lpn);
    let reclaim = |log: &mut FastLog, board: &mut Board, when: When| {
        reclaims += 1;
        let (engine, victim) = (&mut log.base.engine, log.random.block(0));
        let done = engine.reclaim(board, victim, &mut log.sequential, when)?;
        log.random.remove(0);
        Ok(done)
    };
    let done = log.write(&mut it.board, &io, stream, reclaim, When::START);
    (done.expect("nothing fails for good").0, reclaims)
}

fn rows(it: &mut Bench, log: &mut FastLog, lpns: &[u32]) -> Vec<Row> {
    let zero = |lpn: u32| Stream::AtOffsetZero(lpn.is_multiple_of(4));
    lpns.iter().map(|&lpn| write(it, log, lpn, zero(lpn)).0).collect()
}

fn check(it: &mut Bench, log: &mut FastLog) {
    let others = log.random.len() + u32::from(log.sequential.open_log().is_some());
    std::mem::swap(&mut it.engine, &mut log.base.engine);
    it.check(others);
    std::mem::swap(&mut it.engine, &mut log.base.engine);
}

/// The first writes of pages go to the data block or not; then rows 2, 5, 7 and 8, and 3 and 4 on
/// the way to row 2.
#[test]
fn a_write_ends_in_the_row_that_the_rules_say() {
    let mut it = Bench::new(&[]);
    let full = (RewriteRule::FullMerge, GapRule::FullMerge);
    let mut log = fast(&it, FirstWrite::DataBlock, full.0, full.1);
    let first = rows(&mut it, &mut log, &[0, 1, 2, 3, 4]);
    assert_eq!(first, [InPlace; 5], "rows 0 and 1");
    let again = rows(&mut it, &mut log, &[0, 1, 3, 1, 0, 4]);
    let (open, append, gap) = (Sequential(Open), Sequential(Append), Sequential(Gap));
    assert_eq!(again, [open, append, gap, Random, open, open]);
    check(&mut it, &mut log);
    let merges = it.board.meter().merges();
    assert_eq!((merges.full, merges.partial), (1, 1), "the gap; page 0 alone in its block");

    let mut it = Bench::new(&[]);
    let mut log = fast(&it, FirstWrite::Log, full.0, GapRule::PartialWithRequest);
    let rows = rows(&mut it, &mut log, &[0, 1, 3, 5]);
    assert_eq!(rows, [open, append, gap, Random]);
    let merges = it.board.meter().merges();
    assert_eq!((merges.full, merges.partial), (0, 1), "with the page on the way");
    check(&mut it, &mut log);
}

/// Row 6: page 0 again, which begins no stream; row 7: page 3 behind page 1.
#[test]
fn rewrites_and_gaps_go_to_the_random_log_where_the_rules_say_so() {
    let rewrites = [(RewriteRule::FullMerge, Sequential(Rewrite)), (RewriteRule::ToRandom, Random)];
    let gaps = [(GapRule::PartialWithRequest, Sequential(Gap)), (GapRule::ToRandom, Random)];
    for (rewrite, row_6) in rewrites {
        for (gap, row_7) in gaps {
            for (lpn, row) in [(0, row_6), (3, row_7)] {
                let mut it = Bench::new(&[]);
                let mut log = fast(&it, FirstWrite::Log, rewrite, gap);
                rows(&mut it, &mut log, &[0, 1]);
                let (found, _) = write(&mut it, &mut log, lpn, Stream::AtOffsetZero(false));
                assert_eq!(found, row, "page {lpn} under {rewrite:?}, {gap:?}");
                check(&mut it, &mut log);
            }
        }
    }
}

/// Two blocks of four pages: the ninth page waits for a merge, and one that fails for another
/// block.
#[test]
fn the_random_log_is_reclaimed_when_it_takes_no_page_and_no_sooner() {
    let mut it = Bench::new(&[]);
    let mut log = fast(&it, FirstWrite::Log, RewriteRule::FullMerge, GapRule::FullMerge);
    let run = Stream::ByRun(false);
    let reclaims = |it: &mut Bench, log: &mut FastLog, lpn| {
        let (row, reclaims) = write(it, log, lpn, run);
        assert_eq!(row, Random);
        reclaims
    };
    let done: Vec<u32> = (0..9).map(|lpn| reclaims(&mut it, &mut log, lpn)).collect();
    assert_eq!(done, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    it.fail_program_after(0);
    assert_eq!(reclaims(&mut it, &mut log, 9), 1, "its block is closed, and no other is free");
    check(&mut it, &mut log);
    log.random.set_limit(0);
    assert_eq!(write(&mut it, &mut log, 12, Stream::ByRun(true)), (Sequential(Open), 2));
    check(&mut it, &mut log);
}

/// Three log blocks, the oldest first: the beginnings of two logical blocks, and a shared one. The
/// random log may have one block.
#[test]
fn after_a_power_cut_the_youngest_beginning_goes_on_and_what_is_too_much_is_merged() {
    let mut it = Bench::new(&[]);
    it.in_place(0..16);
    let [old, young, shared] = [[0, 1], [4, 5], [2, 9]].map(|lpns| it.log_block(&lpns));
    it.board.nand_mut().cut_power();
    it.board.power_on();
    let recovered = BlockMapped::recover(&mut it.board, &it.config, When::START);
    let (base, found, _) = recovered.expect("nothing fails here");
    it.board.end_recovery();
    let mut log = fast(&it, FirstWrite::Log, RewriteRule::FullMerge, GapRule::FullMerge);
    log.base = base;
    log.random.set_limit(1);
    assert!(log.resume(&mut it.board, found, |_, _| false, When::START).is_ok());
    assert_eq!(log.sequential.open_log().map(|open| (open.block, open.next)), Some((young, 2)));
    assert_eq!(log.random.blocks().collect::<Vec<_>>(), [shared]);
    assert_eq!(it.valid_pages(old), 2, "read until it is merged");
    assert_eq!(rows(&mut it, &mut log, &[6]), [Sequential(Append)]);
    assert_eq!(it.valid_pages(old), 0, "merged before the write");
    check(&mut it, &mut log);
}
