//! LAST's decisions and reclaims (`docs/papers/others.md#last`) as flash operations in order.
//! Blocks have 4 pages: logical block 1 is pages 4 to 7. By default requests of 3 pages or more are
//! sequential.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{self, Host, Merge, Migrate};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op::Write;
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

/// Three log blocks: one sequential, one hot, one cold.
const THREE: (&str, &str) = ("last.log_blocks", "3");
/// Five: one sequential, two hot, two cold.
const FIVE: (&str, &str) = ("last.log_blocks", "5");

fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    Bench::of("last", filled, pairs)
}

fn level(bench: &Bench, level: Level) -> u64 {
    bench.meter().level_now(level).expect("told from the start")
}

/// Sequential, hot and cold log blocks.
fn areas(bench: &Bench) -> [u64; 3] {
    [Level::SequentialLogBlocks, Level::HotLogBlocks, Level::ColdLogBlocks]
        .map(|area| level(bench, area))
}

fn programs<const N: usize>(bench: &Bench, lpns: [u32; N]) -> Vec<Operation> {
    bench.all_at(lpns).map(|ppn| Program(ppn, Host)).to_vec()
}

fn copies(from: &[Ppn], to: &[Ppn]) -> Vec<Operation> {
    from.iter().zip(to).flat_map(|(&from, &to)| copy(from, to)).collect()
}

#[test]
fn first_writes_go_to_the_data_block_whatever_their_size_and_to_the_log_if_that_is_set() {
    let mut in_place = bench(0, &[]);
    in_place.submit(Write, 4, 4);
    in_place.write(&[9]);
    assert_eq!((in_place.events(Event::InPlaceWrites), areas(&in_place)), (5, [0, 0, 0]));
    let mut logged = bench(0, &[("last.first_write", "log")]);
    logged.submit(Write, 4, 4);
    logged.write(&[9]);
    assert_eq!((logged.events(Event::InPlaceWrites), areas(&logged)), (0, [1, 0, 1]));
}

#[test]
fn the_size_of_a_request_decides_and_seq_cmp_decides_at_the_threshold() {
    for (rule, sequential, random) in [("gt", 1, 2), ("ge", 2, 1)] {
        let mut bench = bench(3, &[("last.seq_cmp", rule)]);
        bench.write(&[4]);
        bench.submit(Write, 8, 2);
        bench.submit(Write, 12, 3);
        let requests = [Event::SequentialRequests, Event::RandomRequests].map(|e| bench.events(e));
        assert_eq!(requests, [sequential, random], "{rule}");
        assert_eq!(bench.events(Event::SequentialLogWrites), 3 + 2 * (sequential - 1), "{rule}");
    }
    let mut four = bench(2, &[("last.seq_pages", "3")]);
    four.submit(Write, 4, 3);
    assert_eq!(four.events(Event::RandomRequests), 1, "three pages are not above three");
}

#[test]
fn small_writes_of_a_stream_are_not_recognised_unless_continuation_is() {
    let mut weak = bench(1, &[]);
    weak.submit(Write, 4, 3);
    weak.write(&[7]);
    assert_eq!(weak.place(7), ((weak.block(7)), 0), "the first page of a cold block");
    assert_ne!(weak.block(7), weak.block(4), "the weakness that DFTL 2014 names");
    let mut strong = bench(1, &[("last.seq_continuation", "true")]);
    strong.submit(Write, 4, 3);
    strong.write(&[7]);
    assert_eq!(strong.place(7), (strong.block(4), 3), "it goes on where the stream was");
}

#[test]
fn a_full_sequential_overwrite_costs_one_erase_and_no_copy() {
    let mut bench = bench(2, &[THREE]);
    let (first, second) = (bench.block(4), bench.block(8));
    let operations = bench.submit(Write, 4, 4);
    assert_eq!(operations, programs(&bench, [4, 5, 6, 7]), "four appends and nothing else");
    assert_eq!(areas(&bench), [1, 0, 0]);
    let operations = bench.submit(Write, 8, 4);
    let mut expected = vec![Erase(first, Merge)];
    expected.extend(programs(&bench, [8, 9, 10, 11]));
    assert_eq!(operations, expected);
    assert_ne!(bench.block(8), second);
    assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 0, 0)));
    assert_eq!(bench.meter().programs(Merge), 0);
}

#[test]
fn interleaved_streams_end_in_switches_where_fast_thrashes() {
    let run = |scheme: &str, pairs: &[(&str, &str)]| {
        let mut all = vec![("device.pages_per_block", "8")];
        all.extend(pairs);
        let mut bench = Bench::of(scheme, 9, &all);
        for round in 0..3 {
            for half in [0, 4] {
                for stream in 0..3 {
                    bench.submit(Write, 8 * (1 + 3 * round + stream) + half, 4);
                }
            }
        }
        (bench.merges(), bench.meter().programs(Merge), bench.meter().total_erases())
    };
    let last = run("last", &[("last.log_blocks", "8"), ("last.seq_share", "0.375")]);
    assert_eq!(last, ((6, 0, 0), 0, 6), "three are still open, six are switched, no copy");
    let one = run("last", &[("last.log_blocks", "8"), ("last.seq_share", "0.125")]);
    assert!(one.1 > 30, "one sequential block is not enough for three streams: {one:?}");
    let fast = run("fast", &[("fast.log_blocks", "8")]);
    assert_eq!(fast, ((2, 6, 0), 24, 8), "only the stream that opened last is switched");
}

#[test]
fn a_full_area_merges_the_block_written_longest_ago() {
    let pairs = [("last.log_blocks", "8"), ("last.seq_share", "0.25"), ("last.seq_pages", "1")];
    let mut bench = bench(3, &pairs);
    let [second, third] = [bench.block(8), bench.block(12)];
    bench.submit(Write, 4, 2);
    bench.submit(Write, 8, 2);
    bench.submit(Write, 6, 2);
    let (ten, eleven) = (bench.at(10), bench.at(11));
    let operations = bench.submit(Write, 12, 2);
    let mut expected = copies(&[ten, eleven], &bench.all_at([10, 11]));
    expected.push(Erase(second, Merge));
    expected.extend(programs(&bench, [12, 13]));
    assert_eq!(operations, expected, "block 1 was opened before block 2, but written after it");
    assert_eq!((bench.merges(), areas(&bench)), ((0, 1, 0), [2, 0, 0]));
    assert_ne!(bench.block(12), third);
}

#[test]
fn sw_miss_merges_and_begins_anew_or_goes_to_the_random_log() {
    let mut anew = bench(1, &[THREE]);
    let data = anew.block(4);
    anew.submit(Write, 4, 3);
    let seven = anew.at(7);
    let operations = anew.submit(Write, 4, 3);
    let mut expected = copies(&[seven], &[anew.at(7)]);
    expected.push(Erase(data, Merge));
    expected.extend(programs(&anew, [4, 5, 6]));
    assert_eq!(operations, expected);
    assert_eq!((anew.merges(), areas(&anew)), ((0, 1, 0), [1, 0, 0]));

    let mut random = bench(2, &[THREE, ("last.sw_miss", "to_random")]);
    let data = random.block(4);
    random.submit(Write, 4, 3);
    let log = random.block(4);
    let operations = random.submit(Write, 5, 3);
    assert_eq!(operations, programs(&random, [5, 6, 7]));
    assert_eq!(random.place(5), (random.block(6), 0), "in a random block");
    assert_eq!(random.place(7), (log, 3), "the sequential block stays open, and this is its next");
    assert_eq!(areas(&random), [1, 0, 1]);
    let sources = random.all_at([4, 5, 6, 7]);
    let operations = random.submit(Write, 8, 3);
    let mut expected = copies(&sources, &random.all_at([4, 5, 6, 7]));
    expected.extend([Erase(data, Merge), Erase(log, Merge)]);
    expected.extend(programs(&random, [8, 9, 10]));
    assert_eq!(operations, expected, "its pages have newer copies: merged in full");
    assert_eq!(random.events(Event::SequentialFullMerges), 1);
}

#[test]
fn an_unaligned_stream_begins_in_the_middle_and_its_merge_fills_the_front() {
    let mut bench = bench(2, &[THREE]);
    let data = bench.block(4);
    let operations = bench.submit(Write, 5, 3);
    assert_eq!(operations, programs(&bench, [5, 6, 7]));
    assert_eq!((bench.place(5).1, areas(&bench)), (1, [1, 0, 0]), "at its own offset");
    let four = bench.at(4);
    let operations = bench.submit(Write, 8, 3);
    let mut expected = copies(&[four], &[bench.at(4)]);
    expected.push(Erase(data, Merge));
    expected.extend(programs(&bench, [8, 9, 10]));
    assert_eq!(operations, expected, "no switch without the front");
    assert_eq!((bench.merges(), bench.place(4)), ((0, 1, 0), (bench.block(5), 0)));
}

#[test]
fn an_unaligned_stream_is_random_if_that_is_set_or_if_the_flash_wants_every_page_in_order() {
    for pair in [("last.sw_unaligned", "to_random"), ("nand.enforce_order", "strict")] {
        let mut bench = bench(1, &[THREE, pair]);
        bench.submit(Write, 5, 3);
        assert_eq!(areas(&bench), [0, 0, 1], "{pair:?}");
        assert_eq!(bench.events(Event::SequentialRequests), 1, "{pair:?}");
        bench.submit(Write, 4, 3);
        assert_eq!(areas(&bench), [1, 0, 1], "aligned: {pair:?}");
    }
    let mut gaps = bench(1, &[THREE, ("nand.enforce_order", "ascending_gaps_ok")]);
    gaps.submit(Write, 5, 3);
    assert_eq!(areas(&gaps), [1, 0, 0], "gaps are allowed; the front makes the merge a full one");
    gaps.submit(Write, 4, 3);
    assert_eq!(gaps.merges(), (0, 0, 1));
}

#[test]
fn copies_that_move_between_sequential_and_random_blocks_supersede_each_other() {
    let mut bench = bench(1, &[THREE]);
    bench.write(&[6]);
    let random = bench.at(6);
    bench.submit(Write, 4, 4);
    let sequential = bench.at(6);
    let valid = |bench: &Bench, ppn| bench.device.board().nand().state().is_valid(ppn);
    assert!(!valid(&bench, random) && valid(&bench, sequential));
    bench.write(&[6]);
    assert!(!valid(&bench, sequential));
    let newest = bench.at(6);
    bench.submit(Write, 4, 4);
    assert!(!valid(&bench, newest), "the merge took it along, the new stream superseded it");
    assert_eq!(bench.events(Event::SequentialFullMerges), 1);
}

#[test]
fn a_page_rewritten_within_the_window_is_hot() {
    let mut hot = bench(3, &[THREE, ("last.hot_window", "2")]);
    hot.write(&[5]);
    hot.write(&[9]);
    assert_eq!(areas(&hot), [0, 0, 1]);
    hot.write(&[5]);
    assert_eq!(areas(&hot), [0, 1, 1], "two writes ago");
    hot.write(&[13, 13, 9]);
    let writes = [Event::HotLogWrites, Event::ColdLogWrites].map(|event| hot.events(event));
    assert_eq!(writes, [2, 4], "5 and 13; 9 came back after three other writes");
    assert_eq!(hot.events(Event::RandomLogWrites), 6);
    for pair in [("last.hot_window", "0"), ("last.hot_share", "0")] {
        let mut none = bench(1, &[FIVE, pair]);
        none.write(&[5, 5, 5, 5, 5]);
        assert_eq!(none.events(Event::HotLogWrites), 0, "{pair:?}");
    }
}

#[test]
fn a_dead_hot_block_costs_one_erase() {
    let mut bench = bench(1, &[FIVE]);
    bench.write(&[5]);
    bench.write(&[5, 5, 5, 5]);
    let dead = bench.block(5);
    bench.write(&[5, 5, 5, 5]);
    assert_eq!(areas(&bench), [0, 2, 1]);
    let operations = bench.write(&[5]);
    assert_eq!(operations, [Erase(dead, Merge), Program(bench.at(5), Host)]);
    assert_eq!(bench.events(Event::DeadLogBlocks), 1);
    assert_eq!(bench.events(Event::DeadHotBlocks), 1);
    assert_eq!([Event::DemotedBlocks, Event::DemotedPages].map(|e| bench.events(e)), [0, 0]);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 0), (0, 1, 0)));
}

#[test]
fn without_a_dead_block_the_oldest_hot_one_is_demoted() {
    let mut bench = bench(1, &[THREE]);
    bench.write(&[5, 6]);
    let cold = bench.block(6);
    bench.write(&[5, 6, 5, 6]);
    let hot = bench.block(6);
    let [five, six] = bench.all_at([5, 6]);
    let operations = bench.write(&[5]);
    let geometry = bench.device.board().geometry();
    let [to_five, to_six] = [2, 3].map(|offset| geometry.page(cold, offset));
    let moved = |from, to| [Read(from, Migrate), Program(to, Migrate)];
    let mut expected = [moved(five, to_five), moved(six, to_six)].concat();
    expected.extend([Erase(hot, Merge), Program(bench.at(5), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.at(6), to_six);
    assert_eq!([Event::DemotedBlocks, Event::DemotedPages].map(|e| bench.events(e)), [1, 2]);
    assert_eq!(bench.events(Event::DeadHotBlocks), 0);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 0), (0, 1, 0)));
}

#[test]
fn demotion_into_a_full_cold_partition_merges_there_first() {
    let mut bench = bench(3, &[THREE]);
    bench.write(&[5, 9, 13, 14]);
    let cold = bench.block(13);
    bench.write(&[5, 9, 5, 9]);
    let hot = bench.block(9);
    let data = bench.block(12);
    let [five, nine] = bench.all_at([5, 9]);
    let sources = bench.all_at([12, 13, 14, 15]);
    let operations = bench.write(&[5]);
    let mut expected = copies(&sources, &bench.all_at([12, 13, 14, 15]));
    expected.extend([Erase(data, Merge), Erase(cold, Merge)]);
    let new_cold = bench.block(9);
    let geometry = bench.device.board().geometry();
    for (offset, from) in [(0, five), (1, nine)] {
        let to = geometry.page(new_cold, offset);
        expected.extend([Read(from, Migrate), Program(to, Migrate)]);
    }
    expected.extend([Erase(hot, Merge), Program(bench.at(5), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.merges(), areas(&bench)), ((0, 0, 1), [0, 1, 1]));
}

#[test]
fn the_cold_victim_is_the_one_with_fewest_logical_blocks_or_as_set() {
    for (policy, expected) in [("fewest_data_blocks", 1), ("greedy", 2), ("fifo", 0)] {
        let pairs = [("last.log_blocks", "4"), ("last.hot_share", "0")];
        let mut bench = bench(6, &[pairs[0], pairs[1], ("last.cold_victim", policy)]);
        // Four logical blocks; two; three, of which 24 is written again: three valid pages.
        bench.write(&[5, 9, 13, 17]);
        bench.write(&[21, 22, 25, 26]);
        bench.write(&[24, 10, 14, 24]);
        let blocks = [bench.block(5), bench.block(21), bench.block(10)];
        let operations = bench.write(&[6]);
        let erased = operations.iter().filter_map(|operation| match operation {
            Erase(block, _) => blocks.iter().position(|log| log == block),
            _ => None,
        });
        assert_eq!(erased.collect::<Vec<_>>(), [expected], "{policy}");
        let valid = [4, 2, 3][expected];
        assert_eq!(bench.meter().merges().associativity[valid], 1, "{policy}");
    }
}

#[test]
fn a_dead_cold_block_goes_before_any_merge() {
    for policy in ["fewest_data_blocks", "greedy", "fifo"] {
        let pairs = [("last.log_blocks", "4"), ("last.hot_share", "0")];
        let mut bench = bench(4, &[pairs[0], pairs[1], ("last.cold_victim", policy)]);
        bench.write(&[5, 9, 13, 17]);
        bench.write(&[6, 6, 6, 6]);
        let dead = bench.block(6);
        bench.write(&[6, 10, 14, 18]);
        let operations = bench.write(&[7]);
        assert_eq!(operations, [Erase(dead, Merge), Program(bench.at(7), Host)], "{policy}");
        let dead = [Event::DeadLogBlocks, Event::DeadHotBlocks].map(|event| bench.events(event));
        assert_eq!(dead, [1, 0], "{policy}");
    }
}

#[test]
fn adapt_gives_the_hot_partition_a_block_when_as_many_died_as_it_may_have() {
    for (adapt, most) in [("false", 2), ("true", 3)] {
        let mut bench = bench(1, &[FIVE, ("last.adapt", adapt)]);
        let grows: Vec<u64> = (0..30)
            .map(|_| {
                bench.write(&[5]);
                areas(&bench)[1]
            })
            .collect();
        assert_eq!(grows.iter().max(), Some(&most), "adapt = {adapt}");
        assert_eq!(bench.events(Event::AreaTransfers), most - 2);
        // The first reclaim is at the tenth write: one page cold, two hot blocks full.
        assert_eq!(grows.iter().position(|&hot| hot == 3), (most == 3).then_some(17));
    }
}

#[test]
fn adapt_takes_a_block_from_the_hot_partition_when_its_pages_outlive_it() {
    let mut bench = bench(9, &[FIVE, ("last.adapt", "true")]);
    let mut seen = Vec::new();
    for round in 0..12 {
        for block in 1..=9 {
            bench.write(&[4 * block + 1 + round % 2]);
            seen.push(areas(&bench));
        }
    }
    assert!(bench.events(Event::DemotedPages) > 20);
    assert_eq!(bench.events(Event::AreaTransfers), 1, "one block is the least");
    assert!(seen.contains(&[0, 2, 2]) && seen.contains(&[0, 1, 3]), "{seen:?}");
    assert!(seen.iter().all(|&[_, hot, cold]| hot <= 2 && hot + cold <= 4), "{seen:?}");
}

#[test]
fn demotion_never_loops_when_every_log_page_is_valid() {
    // Every page is rewritten in turn, one per request and never two of a block in a row: with a
    // window over all of them each rewrite is hot, and no log page is superseded before it is
    // moved.
    for pairs in [[THREE, ("last.hot_window", "4096")], [FIVE, ("last.adapt", "true")]] {
        let mut bench = bench(9, &pairs);
        let mut most = 0;
        for round in 0..60 {
            let lpn = |block: u64| 4 * block + round % 4;
            for block in 1..=9 {
                most = most.max(bench.write(&[lpn(block)]).len());
            }
        }
        let demoted = bench.events(Event::DemotedPages);
        assert!(demoted > 100, "{demoted}");
        // At worst a request demotes 4 pages and merges for room twice, 4 blocks of 4 pages each.
        assert!(most <= 2 * 4 + 2 * (4 * (2 * 4 + 1) + 1) + 2, "{most} operations in one request");
    }
}

#[test]
fn without_hot_blocks_and_streams_it_is_fast_without_a_sequential_block() {
    // LAST: no request is above 4096 pages, no hot partition. FAST: no request has 4096 pages.
    for victim in ["greedy", "fewest_data_blocks"] {
        let run = |scheme: &str, pairs: &[(&str, &str)]| {
            let config = tiny(scheme, 16, pairs);
            let mut device = open(scheme, &config);
            device.board_mut().nand_mut().record_mut().start();
            for request in mixed(&config, 3000, 11) {
                device.submit(&request).expect("room for every update");
            }
            let meter = device.board().meter();
            assert_eq!(meter.events(Event::SequentialLogWrites), 0);
            assert!(meter.merges().full > 100);
            device.board_mut().nand_mut().record_mut().take()
        };
        let last = run(
            "last",
            &[
                ("last.log_blocks", "5"),
                ("last.hot_share", "0"),
                ("last.seq_pages", "4096"),
                ("last.cold_victim", victim),
            ],
        );
        let fast = run(
            "fast",
            &[
                ("fast.log_blocks", "5"),
                ("fast.detector", "request_size"),
                ("fast.detector_pages", "4096"),
                ("fast.victim", victim),
            ],
        );
        assert!(last == fast, "{victim}: the same operations in the same order");
    }
}

#[test]
fn cold_pages_kept_apart_wait_for_others_of_their_logical_block() {
    let run = |scheme: &str, pairs: &[(&str, &str)]| {
        let config = tiny(scheme, 60, pairs);
        let mut device = open(scheme, &config);
        let mut write = |page: u64| {
            device.submit(&pages(&config, Write, page, 1)).expect("room for every update");
        };
        (0..config.device.logical_pages()).for_each(&mut write);
        // Nineteen of twenty writes go to eight pages; the others to one block after the other.
        for number in 0..6000 {
            match number % 20 {
                0 => write(80 + number / 20 % 160),
                _ => write(4 * (number % 8) + 1),
            }
        }
        let meter = device.board().meter();
        meter.programs(Merge) + meter.programs(Cause::Migrate)
    };
    let last = run("last", &[("last.log_blocks", "12"), ("last.hot_window", "24")]);
    let fast = run("fast", &[("fast.log_blocks", "12"), ("fast.detector", "request_size")]);
    assert!(2 * last < fast, "{last} copies; FAST makes {fast}");
}

#[test]
fn memory_is_a_page_map_of_the_random_blocks_only() {
    let config = tiny("last", 200, &[("last.log_blocks", "32"), ("last.hot_window", "100")]);
    let (row, _) = schemes::find("last").expect("in the table");
    let bytes = |structure: &str| {
        let found = (row.ram_use)(&config).into_iter().find(|ram| ram.structure == structure);
        found.unwrap_or_else(|| panic!("{structure} is listed")).bytes
    };
    assert_eq!(bytes("block_table"), 200 * 4);
    assert_eq!(bytes("log_page_table"), 30 * 4 * 4 + 30 * 4 / 8, "32 less 1/16 sequential ones");
    assert_eq!(bytes("sequential_blocks"), 2 * 12);
    assert_eq!(bytes("recent_writes"), 100 * 4);
}
