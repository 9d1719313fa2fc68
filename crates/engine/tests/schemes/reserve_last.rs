//! LAST's hot partition where it reserves nothing that it does not fill, and logs that are a share
//! of the active region. Blocks have 4 pages: logical block 1 is pages 4 to 7.

use crate::common::{config, open, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;

/// Five log blocks: one sequential, two hot, two cold.
const FIVE: (&str, &str) = ("last.log_blocks", "5");
const AS_USED: (&str, &str) = ("last.hot_reserve", "as_used");

fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    Bench::of("last", filled, pairs)
}

/// Hot and cold log blocks.
fn areas(bench: &Bench) -> [u64; 2] {
    [Level::HotLogBlocks, Level::ColdLogBlocks]
        .map(|area| bench.meter().level_now(area).expect("told from the start"))
}

/// Pages that nobody writes twice: none is hot, and half of the log stays empty, unless the cold
/// partition has it.
#[test]
fn cold_pages_fill_blocks_that_the_hot_partition_does_not() {
    let pages: Vec<u64> = (1..=9).flat_map(|block| [4 * block, 4 * block + 1]).collect();
    for (reserve, filled) in [("fixed", 2), ("as_used", 4)] {
        let mut bench = bench(9, &[FIVE, ("last.hot_reserve", reserve)]);
        let free = pages.split_at(4 * filled).0;
        bench.write(free);
        assert_eq!((areas(&bench), bench.merges().2), ([0, filled as u64], 0), "{reserve}");
        let operations = bench.write(&pages[4 * filled..=4 * filled]);
        assert_eq!(bench.merges().2, 1, "{reserve}: the log is full");
        assert!(operations.len() > 2, "{reserve}");
    }
}

/// A hot page takes a block back: the oldest cold one, of the pages of block 1 alone, is merged.
#[test]
fn the_first_hot_page_takes_a_block_back_from_the_cold_partition() {
    let mut bench = bench(9, &[FIVE, AS_USED, ("last.cold_victim", "fifo")]);
    bench.write(&[4, 5, 6, 7, 8, 12, 16, 20, 9, 13, 17, 21, 10, 14, 18, 22]);
    assert_eq!(areas(&bench), [0, 4]);
    let (log, data) = (bench.block(8), bench.block(23));
    let sources = bench.all_at([4, 5, 6, 7]);
    let first = bench.block(4);
    let operations = bench.write(&[22]);
    // Every page of block 1 was in the victim; its old data block holds none that counts.
    let targets = bench.all_at([4, 5, 6, 7]);
    let mut expected: Vec<_> =
        sources.iter().zip(&targets).flat_map(|(&from, &to)| copy(from, to)).collect();
    assert_eq!(operations[..8], expected[..]);
    expected.clear();
    assert!(operations.contains(&Erase(first, Merge)));
    assert_eq!(operations.last(), Some(&Program(bench.at(22), Host)));
    assert_eq!((areas(&bench), bench.events(Event::HotLogWrites)), ([1, 3], 1));
    assert_ne!(bench.block(22), log);
    assert_ne!(bench.block(22), data, "in a hot block of its own");
}

/// A hot block in which nothing is valid is given up when the cold partition is full, where a fixed
/// reserve keeps it.
#[test]
fn a_dead_hot_block_is_the_cold_partitions_when_that_is_full() {
    for (reserve, areas_then, merges) in [("fixed", [2, 2], 1), ("as_used", [1, 3], 0)] {
        let mut bench = bench(9, &[FIVE, ("last.hot_reserve", reserve)]);
        // Page 4 is cold, then hot: its versions fill a hot block and begin another.
        bench.write(&[4, 4, 4, 4, 4, 4]);
        assert_eq!(areas(&bench), [2, 1], "{reserve}");
        bench.write(&[8, 12, 16, 20, 24, 28, 32]);
        assert_eq!(areas(&bench), [2, 2], "{reserve}");
        let operations = bench.write(&[36]);
        assert_eq!(areas(&bench), areas_then, "{reserve}");
        assert_eq!(bench.merges().2, merges, "{reserve}");
        if merges == 0 {
            let [Erase(dead, Merge), Program(page, Host)] = operations[..] else {
                panic!("an erase and the page: {operations:?}");
            };
            assert_eq!(page, bench.at(36));
            assert_ne!(bench.block(4), dead);
            assert_eq!(bench.events(Event::DeadHotBlocks), 1);
        }
    }
}

#[test]
fn a_partition_that_is_lent_and_one_that_is_adapted_exclude_each_other() {
    let (row, _) = schemes::find("last").expect("in the table");
    let both = config(&[AS_USED, ("last.adapt", "true")]);
    let refusal = (row.check)(&both).expect_err("refused").to_string();
    assert!(refusal.contains("last.adapt") && refusal.contains("as_used"), "{refusal}");
}

/// What may be opened without a merge: each partition has its own blocks, and the one with fewest
/// of them merges first; or the cold one has those that the hot one does not use.
#[test]
fn free_log_blocks_are_those_that_the_next_page_may_need() {
    let hot = [4; 6];
    let cases: [(&[_], &[u64], u32); 4] = [
        (&[FIVE], &[], 2),
        // Both hot blocks and one of two cold ones are open.
        (&[FIVE], &hot, 0),
        (&[FIVE, AS_USED], &hot, 1),
        // No hot partition: one of four cold blocks is open.
        (&[FIVE, ("last.hot_share", "0")], &[4], 3),
    ];
    for (pairs, pages, free) in cases {
        let mut bench = bench(9, pairs);
        bench.write(pages);
        assert_eq!(bench.device.room().free_blocks, free, "{pairs:?} {pages:?}");
    }
}

/// Half of ten logical blocks, or half of the four that the workload touches: FAST's random log
/// takes sixteen pages before it merges, or four.
#[test]
fn a_log_is_a_share_of_the_capacity_or_of_the_active_region() {
    let share = [("fast.log_pct", "50"), ("device.active_region", "8KiB")];
    for (base, free) in [("capacity", 16), ("active_region", 4)] {
        let pairs = [&share[..], &[("fast.log_base", base)]].concat();
        let mut bench = Bench::of("fast", 9, &pairs);
        let unit = bench.config.device.unit_bytes();
        assert_eq!(bench.config.device.active_pages(), Some(8192 / unit));
        let pages: Vec<u64> = (0..=free).map(|n| 4 * (1 + n % 9) + 1 + n / 9).collect();
        bench.write(&pages[..free as usize]);
        assert_eq!(bench.merges(), (0, 0, 0), "{base}");
        bench.write(&pages[free as usize..]);
        assert_eq!(bench.merges(), (0, 0, 1), "{base}");
    }
    for scheme in ["fast", "last"] {
        let (pct, base) = (format!("{scheme}.log_pct"), format!("{scheme}.log_base"));
        let (row, _) = schemes::find(scheme).expect("in the table");
        let blocks = |region: &str, base_value: &str| {
            let pairs = [
                (pct.as_str(), "50"),
                (base.as_str(), base_value),
                ("device.active_region", region),
            ];
            (row.minimum_blocks)(&tiny(scheme, 20, &pairs))
        };
        // 20 logical blocks of 2 KiB: 10 log blocks, or 4 of 8 (16 KiB).
        assert_eq!(blocks("16KiB", "capacity") - blocks("16KiB", "active_region"), 6, "{scheme}");
        assert_eq!(blocks("1GiB", "capacity"), blocks("1GiB", "active_region"), "{scheme}");
        // Not known: refused, whatever asks.
        let unknown = tiny(scheme, 20, &[(base.as_str(), "active_region")]);
        let refusal = (row.check)(&unknown).expect_err("refused").to_string();
        assert!(refusal.contains(&base) && refusal.contains("device.active_region"), "{refusal}");
        let known = tiny(scheme, 20, &[(&base, "active_region"), ("device.active_region", "8KiB")]);
        assert!(open(scheme, &known).audit().is_ok());
    }
}

/// Page 4 is hot, but was trimmed. The cold partition gives a block back for it, by a merge of
/// logical block 1, which leaves its place there free: it is written to that. The block that the hot
/// partition did not need is the cold one's again, and nothing is merged for it.
#[test]
fn a_block_that_the_hot_partition_did_not_open_after_all_is_lent_again() {
    let mut bench = bench(9, &[FIVE, AS_USED, ("last.cold_victim", "fifo")]);
    bench.write(&[4, 5, 6, 7, 8, 12, 16, 20, 9, 13, 17, 21, 10, 14, 18, 22]);
    bench.submit(Op::Trim, 4, 1);
    bench.write(&[4]);
    assert_eq!((areas(&bench), bench.merges().2), ([0, 3], 1));
    assert_eq!(bench.place(4), (bench.block(5), 0));
    bench.write(&[24]);
    assert_eq!((areas(&bench), bench.merges().2), ([0, 4], 1));
}

/// A stream that began in the middle of its block was a sequential log block before the power cut,
/// and is one again.
#[test]
fn a_stream_that_began_in_the_middle_goes_on_after_a_power_cut() {
    let mut bench = bench(9, &[FIVE]);
    bench.submit(Op::Write, 5, 3);
    let sequential = |bench: &Bench| bench.meter().level_now(Level::SequentialLogBlocks);
    assert_eq!(sequential(&bench), Some(1));
    bench.device.board_mut().nand_mut().cut_power();
    bench.device.power_cycle().expect("it recovers");
    assert_eq!(sequential(&bench), Some(1));
}
