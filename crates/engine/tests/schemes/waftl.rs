//! WAFTL's write path, migrations and page-mapped blocks (`docs/papers/others.md#waftl`) as flash
//! operations in order. Blocks have 4 pages: logical block 1 is pages 4 to 7. A block with fewer
//! than 2 buffered pages, or with 2 updates of such, goes to page-mapped blocks (PMB), others are
//! rewritten (BMB).

use crate::common::{config, open, pages, tiny};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{self, Convert, Gc, Host, Merge, Migrate, Pad};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::{Lpn, Ppn, Tag};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const ZONE_OF_THREE: (&str, &str) = ("waftl.buffer_blocks", "3");
const ONE_PMB: (&str, &str) = ("waftl.pmb_blocks", "1");
const TWO_PMBS: (&str, &str) = ("waftl.pmb_blocks", "2");
const WHILE_IT_GAINS: (&str, &str) = ("waftl.pmb_convert_pct", "100");

/// Copies of pages under a cause.
fn copies<const N: usize>(from: [Ppn; N], to: [Ppn; N], cause: Cause) -> Vec<Operation> {
    from.into_iter().zip(to).flat_map(|(f, t)| [Read(f, cause), Program(t, cause)]).collect()
}

/// A zone of three blocks that holds page 20 alone; logical blocks 1 to 3 are block-mapped.
fn settled(pairs: Pairs<'_>) -> Bench {
    let mut bench = Bench::of("waftl", 3, &[&[ZONE_OF_THREE, WHILE_IT_GAINS], pairs].concat());
    bench.write(&[20]);
    bench.device.start_measuring();
    bench
}

/// After [`settled`]: the zone is full. Logical block 1 has three buffered pages, 2 has one, 3 has
/// two that were rewritten, 5 has page 20.
fn with_full_mixed_zone(pairs: Pairs<'_>) -> Bench {
    let mut bench = settled(pairs);
    let operations = bench.write(&[4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
    assert_eq!(operations.len(), 11, "appends and nothing else");
    bench
}

fn levels(bench: &Bench) -> [Option<u64>; 3] {
    [Level::BufferZoneBlocks, Level::PageMappedPages, Level::BlockMappedPages]
        .map(|level| bench.meter().level_now(level))
}

#[test]
fn every_write_is_the_next_page_of_the_zone_first_writes_too() {
    let mut bench = Bench::of("waftl", 0, &[ZONE_OF_THREE]);
    let operations = bench.write(&[9, 4, 9, 38, 5]);
    assert!(
        operations.len() == 5
            && operations.iter().all(|operation| matches!(operation, Program(_, Host)))
    );
    let first = bench.block(4);
    assert_eq!(
        (bench.place(4), bench.place(9), bench.place(38)),
        ((first, 1), (first, 2), (first, 3))
    );
    assert_eq!(bench.place(5).1, 0, "of the next block");
    assert_eq!(bench.events(Event::RandomLogWrites), 5);
    assert_eq!(levels(&bench), [Some(2), Some(0), Some(0)]);
}

#[test]
fn a_full_zone_of_mixed_pages_is_emptied_block_by_logical_block() {
    let mut bench = with_full_mixed_zone(&[]);
    let zone = [4, 5, 6].map(|lpn| bench.block(lpn));
    let old = bench.block(7);
    let one = bench.all_at([4, 5, 6, 7]);
    let others = bench.all_at([9, 12, 13, 20]);
    let operations = bench.write(&[36]);

    // Block 1: three of four pages: rewritten, page 7 from the old block.
    let mut expected = copies(one, bench.all_at([4, 5, 6, 7]), Merge);
    expected.push(Erase(old, Merge));
    // Block 2: one page, block 3: hot, block 5: one page: page-mapped, in this order.
    let moved = bench.all_at([9, 12, 13, 20]);
    let appended = copies(others, moved, Migrate);
    expected.extend(&appended[..2]);
    expected.push(Erase(zone[0], Merge));
    expected.extend(&appended[2..6]);
    expected.push(Erase(zone[1], Merge));
    expected.extend(&appended[6..]);
    expected.extend([Erase(zone[2], Merge), Program(bench.at(36), Host)]);
    assert_eq!(operations, expected);

    let by_page = bench.block(9);
    assert_eq!([12, 13, 20].map(|lpn| bench.place(lpn)), [1, 2, 3].map(|offset| (by_page, offset)));
    assert_eq!(bench.erases(), (1, 3, 0), "a data block and three zone blocks");
    assert_eq!(bench.events(Event::ZoneMigrations), 1);
    assert_eq!(bench.events(Event::MigratedPages), 7);
    assert_eq!(bench.events(Event::BlockRewrites), 1);
    assert_eq!(bench.events(Event::Conversions), 2, "2 and 3; 5 had no block");
    assert_eq!(levels(&bench), [Some(1), Some(4), Some(9)]);
}

#[test]
fn a_sequential_overwrite_costs_two_programs_a_page_and_two_erases() {
    let mut bench = Bench::of("waftl", 0, &[("waftl.buffer_blocks", "1")]);
    for block in [1, 2, 1] {
        bench.submit(Op::Write, 4 * block, 4);
    }
    let (old, zone) = (bench.block(4), bench.block(7));
    assert_eq!(old, zone, "block 1 is in the zone; its data block holds nothing valid");
    bench.device.start_measuring();
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.submit(Op::Write, 8, 4);
    // Every page once to the zone (before) and once to the new block: the zone is emptied page by
    // page, though this zone block holds nothing but the block in order.
    let mut expected = copies(sources, bench.all_at([4, 5, 6, 7]), Merge);
    let Erase(data, Merge) = operations[8] else { panic!("{operations:?}") };
    assert!(data != zone && data != bench.block(4), "the old data block");
    expected.extend([Erase(data, Merge), Erase(zone, Merge)]);
    expected.extend(bench.all_at([8, 9, 10, 11]).map(|ppn| Program(ppn, Host)));
    assert_eq!(operations, expected);
    let meter = bench.meter();
    assert_eq!((meter.programs(Host), meter.programs(Merge)), (4, 4));
    assert_eq!(bench.erases(), (1, 1, 0));
}

#[test]
fn a_rewrite_pulls_in_page_mapped_pages_or_leaves_them() {
    for pull in [true, false] {
        let setting = ("waftl.pull_pmb", if pull { "true" } else { "false" });
        let mut bench = with_full_mixed_zone(&[setting, TWO_PMBS]);
        bench.write(&[36]);
        let (old, by_page) = (bench.block(14), bench.all_at([12, 13]));
        bench.write(&[14, 15, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
        let buffered = bench.all_at([14, 15]);
        bench.device.start_measuring();
        let operations = bench.write(&[36]);
        let mut expected = Vec::new();
        if pull {
            expected.extend(copies(by_page, bench.all_at([12, 13]), Merge));
        }
        expected.extend(copies(buffered, bench.all_at([14, 15]), Merge));
        expected.push(Erase(old, Merge));
        assert_eq!(operations[..expected.len()], expected, "pull_pmb = {pull}");
        let stayed = bench.all_at([12, 13]) == by_page;
        assert_eq!(stayed, !pull);
        assert_eq!(bench.place(15), (bench.block(14), 3), "at its own place");
        assert_eq!(bench.events(Event::Conversions), u64::from(pull), "block-mapped again");
        let by_page = if pull { 2 } else { 4 };
        assert_eq!(levels(&bench), [Some(1), Some(by_page), Some(13 - by_page)]);
    }
}

#[test]
fn where_page_mapped_pages_stay_behind_strict_order_pads_their_places() {
    let pairs = [("waftl.pull_pmb", "false"), ("nand.enforce_order", "strict"), TWO_PMBS];
    let mut bench = with_full_mixed_zone(&pairs);
    bench.write(&[36, 14, 15, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    let operations = bench.write(&[36]);
    let geometry = bench.device.board().geometry();
    let hole = |offset| Program(geometry.page(bench.block(14), offset), Pad);
    assert_eq!(operations[..2], [hole(0), hole(1)]);
    assert_eq!(bench.meter().programs(Pad), 2);
}

#[test]
fn full_page_mapped_blocks_are_collected_the_emptiest_first() {
    let mut bench = with_full_mixed_zone(&[ONE_PMB]);
    bench.write(&[36]);
    let victim = bench.block(9);
    // Pages 12 and 13 will be superseded: 9 and 20 stay.
    bench.write(&[12, 13, 14, 15, 28, 28, 28, 28, 28, 28, 28]);
    let survivors = bench.all_at([9, 20]);
    let rewritten = bench.all_at([12, 13, 14, 15]);
    let thirty_six = bench.at(36);
    bench.device.start_measuring();
    let operations = bench.write(&[0]);
    let mut expected = copies(survivors, bench.all_at([9, 20]), Gc);
    expected.push(Erase(victim, Gc));
    expected.extend(copies([thirty_six], bench.all_at([36]), Migrate));
    assert_eq!(operations[..expected.len()], expected, "36 is the oldest page of the zone");
    let merged = copies(rewritten, bench.all_at([12, 13, 14, 15]), Merge);
    assert_eq!(operations[expected.len()..][..8], merged);
    let frontier = bench.block(9);
    assert_eq!([20, 36, 28].map(|lpn| bench.place(lpn)), [1, 2, 3].map(|at| (frontier, at)));
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (2, 3, 0)), "some pages were copied");
    assert_eq!(bench.events(Event::Conversions), 0, "12 to 15 had left page mapping before");
}

#[test]
fn when_every_page_is_valid_the_logical_blocks_of_a_page_mapped_block_become_block_mapped() {
    let mut bench = with_full_mixed_zone(&[ONE_PMB]);
    bench.write(&[36]);
    let victim = bench.block(9);
    let olds = [8, 14].map(|lpn| bench.block(lpn));
    bench.write(&[36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    let sources = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15, 20, 36]);
    bench.device.start_measuring();
    let operations = bench.write(&[36]);
    let targets = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15, 20]);
    let from = |range: std::ops::Range<usize>| {
        let pairs = sources[range.clone()].iter().zip(&targets[range]);
        pairs.flat_map(|(&from, &to)| [Read(from, Convert), Program(to, Convert)])
    };
    // The first two zone blocks hold nothing valid any more.
    let mut expected = operations[..2].to_vec();
    assert!(expected.iter().all(|operation| matches!(operation, Erase(_, Merge))));
    expected.extend(from(0..4));
    expected.push(Erase(olds[0], Convert));
    expected.extend(from(4..8));
    expected.push(Erase(olds[1], Convert));
    expected.extend(from(8..9));
    expected.push(Erase(victim, Convert));
    let Program(appended, Migrate) = operations[expected.len() + 1] else {
        panic!("{operations:?}")
    };
    expected.extend([Read(sources[9], Migrate), Program(appended, Migrate)]);
    assert_eq!(operations[..expected.len()], expected);
    assert_eq!(bench.events(Event::Conversions), 3, "2, 3 and 5");
    let merges = bench.meter().merges();
    assert_eq!((merges.full, merges.full_data_blocks, merges.associativity[3]), (1, 3, 1));
    assert_eq!(levels(&bench), [Some(1), Some(0), Some(13)], "36 is in the zone again");
}

#[test]
fn a_lower_bound_on_what_collecting_gains_converts_earlier() {
    for (percent, converts) in [("100", false), ("50", true), ("51", false), ("0", true)] {
        let mut bench = with_full_mixed_zone(&[ONE_PMB, ("waftl.pmb_convert_pct", percent)]);
        bench.write(&[36, 12, 13, 14, 15, 28, 28, 28, 28, 28, 28, 28]);
        bench.device.start_measuring();
        bench.write(&[0]);
        let meter = bench.meter();
        // The victim holds two valid pages of four.
        assert_eq!(meter.programs(Gc) == 0, converts, "at {percent} %");
        assert_eq!(meter.programs(Convert) > 0, converts, "at {percent} %");
    }
}

/// Where the pages of a logical block go that were written so; pages 4 to 7 are block-mapped.
fn is_page_mapped(pairs: Pairs<'_>, writes: &[u64]) -> bool {
    let mut bench = settled(pairs);
    bench.write(writes);
    for _ in writes.len()..11 {
        bench.write(&[20]);
    }
    bench.device.start_measuring();
    bench.write(&[36]);
    assert_eq!(bench.events(Event::ZoneMigrations), 1);
    let rewritten = bench.events(Event::BlockRewrites) == 1;
    let offset = bench.place(writes[0] as u32).1;
    assert!(!rewritten || u64::from(offset) == writes[0] % 4, "at its own place");
    !rewritten
}

#[test]
fn each_criterion_sends_what_it_says_to_page_mapped_blocks() {
    const NUMBER: (&str, &str) = ("waftl.thr_kind", "pages_in_buffer");
    const COUNT: (&str, &str) = ("waftl.thr_kind", "access_count");
    let (few_and_cold, few_and_hot): (&[u64], &[u64]) = (&[5], &[5, 5, 5]);
    let (many_and_cold, many_and_hot): (&[u64], &[u64]) = (&[5, 6], &[5, 6, 5, 6]);
    // COUNT judges page 20 as well: it is written often, so that it is no rewrite.
    let table = [
        (NUMBER, [true, true, false, false]),
        (COUNT, [false, true, false, true]),
        (("waftl.thr_kind", "both"), [true, true, false, true]),
    ];
    for (kind, expected) in table {
        let writes = [few_and_cold, few_and_hot, many_and_cold, many_and_hot];
        assert_eq!(writes.map(|writes| is_page_mapped(&[kind], writes)), expected, "{kind:?}");
    }
    assert!(is_page_mapped(&[("waftl.bmb_min_pages", "3")], many_and_cold));
    assert!(!is_page_mapped(&[("waftl.bmb_min_pages", "1")], few_and_cold));
    assert!(!is_page_mapped(&[("waftl.hot_updates", "3")], many_and_hot));
    assert!(is_page_mapped(&[("waftl.hot_updates", "1")], &[5, 6, 5]));
}

#[test]
fn updates_count_within_one_stay_in_the_zone_only() {
    let mut bench = settled(&[]);
    // Two updates of page 5; its trim ends its stay. Then two cold pages.
    bench.write(&[5, 5, 5]);
    bench.submit(Op::Trim, 5, 1);
    bench.write(&[5, 6, 20, 20, 20, 20, 20, 20]);
    bench.device.start_measuring();
    bench.write(&[36]);
    assert_eq!(bench.events(Event::BlockRewrites), 1, "block 1 was cold");
}

#[test]
fn the_dynamic_threshold_follows_what_room_in_page_mapped_blocks_costs() {
    let pairs = [("waftl.threshold", "dynamic"), ONE_PMB];
    let mut bench = with_full_mixed_zone(&pairs);
    bench.write(&[36]);
    assert_eq!(bench.events(Event::ThresholdFlips), 1, "room was free: fewer than 4 pages are few");
    // Three cold pages of block 1 are few now, four of block 2 are not.
    bench.write(&[4, 5, 6, 8, 9, 10, 11, 36, 36, 36, 36]);
    bench.device.start_measuring();
    bench.write(&[36]);
    assert_eq!(bench.events(Event::BlockRewrites), 1, "block 2 alone");
    // 12, 13 and 20 were moved on; with page 4 they filled the block, and blocks 1, 3 and 5 had to
    // be converted. Two pages were appended, 4 and 36: 4 * 2 / (2 + 12) is less than a page.
    assert_eq!((bench.meter().programs(Gc), bench.meter().programs(Convert)), (3, 9));
    assert_eq!(bench.events(Event::ThresholdFlips), 1);
    bench.write(&[5, 21, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    bench.device.start_measuring();
    bench.write(&[36]);
    assert_eq!(bench.events(Event::BlockRewrites), 2, "a single cold page is not few any more");
}

#[test]
fn trimmed_pages_are_gone_from_zone_page_mapped_and_block_mapped_blocks() {
    let mut bench = with_full_mixed_zone(&[]);
    bench.submit(Op::Trim, 5, 1);
    bench.write(&[37]);
    assert_eq!(bench.meter().programs(Merge), 3, "4, 6 and 7");
    assert_eq!(levels(&bench), [Some(1), Some(4), Some(8)]);
    bench.submit(Op::Trim, 12, 1);
    assert_eq!(levels(&bench), [Some(1), Some(3), Some(8)], "from a page-mapped block");
    bench.submit(Op::Trim, 7, 1);
    assert_eq!(levels(&bench), [Some(1), Some(3), Some(7)], "from a block-mapped block");
    bench.submit(Op::Flush, 0, 0);
    bench.device.power_cycle().expect("recovers");
    bench.device.audit().expect("sound");
    for lpn in [5, 7, 12] {
        assert_eq!(bench.device.locate(Lpn(lpn)), Location::Nowhere);
    }
    assert_eq!(levels(&bench), [Some(1), Some(3), Some(7)], "counted anew after a cut");
}

#[test]
fn background_migration_takes_a_logical_block_a_gap_and_is_forced_when_the_zone_is_full() {
    let pairs = [("waftl.migrate", "background"), ("gc.mode", "both"), ("timing.erase", "1ms")];
    let mut bench = with_full_mixed_zone(&pairs);
    let zone = [4, 5, 6].map(|lpn| bench.block(lpn));
    bench.device.start_measuring();
    // A gap that is over before the first step is: one logical block is rewritten in it.
    let mut read = pages(&bench.config, Op::Read, 0, 1);
    read.arrival = bench.device.idle_from() + 1;
    bench.device.submit(&read).expect("unwritten");
    bench.device.audit().expect("sound");
    let programs = |cause| bench.meter().programs(cause);
    assert_eq!((programs(Merge), programs(Migrate)), (4, 0), "block 1");
    assert_eq!(bench.events(Event::ZoneMigrations), 1);
    // The next write finds the zone full and cannot wait: the rest, as part of the same migration.
    let operations = bench.write(&[36]);
    let erased = |block| operations.contains(&Erase(block, Merge));
    assert!(zone.into_iter().all(erased), "{operations:?}");
    assert_eq!(bench.meter().programs(Migrate), 4);
    assert_eq!(bench.events(Event::ZoneMigrations), 1);
    // A long gap does nothing while less than half the zone is full.
    bench.write(&[36, 36, 36]);
    read.arrival = bench.device.idle_from() + 1_000_000_000;
    bench.device.submit(&read).expect("unwritten");
    assert_eq!(bench.events(Event::ZoneMigrations), 1);
    bench.write(&[36, 36, 36, 36]);
    read.arrival = bench.device.idle_from() + 1_000_000_000;
    bench.device.submit(&read).expect("unwritten");
    assert_eq!(bench.events(Event::ZoneMigrations), 2);
    assert_eq!(levels(&bench)[0], Some(0), "everything was moved in the gap");
}

#[test]
fn settings_that_would_do_nothing_are_refused() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let refused = |pairs: Pairs<'_>| (row.check)(&config(pairs)).map_err(|e| e.to_string());
    let text = refused(&[("waftl.migrate", "background")]).expect_err("no idle work");
    assert!(text.contains("gc.mode"), "{text}");
    let dynamic = [("waftl.threshold", "dynamic"), ("waftl.thr_kind", "access_count")];
    let text = refused(&dynamic).expect_err("nothing to follow");
    assert!(text.contains("waftl.thr_kind"), "{text}");
    assert_eq!(refused(&[]), Ok(()));
}

/// The budget holds: a device without a spare block takes every page, then updates for ever, with
/// zone and page-mapped area as small as can be, pages scattered so that nothing is ever gained.
#[test]
fn the_smallest_legal_device_never_runs_dry() {
    const SMALL: [(&str, &str); 3] = [("waftl.buffer_blocks", "1"), ONE_PMB, WHILE_IT_GAINS];
    let cases: &[Pairs<'_>] = &[
        &[],
        &[("waftl.pull_pmb", "false")],
        &[("waftl.pull_pmb", "false"), ("nand.enforce_order", "strict")],
        &[("waftl.bmb_min_pages", "4"), ("waftl.buffer_blocks", "4"), ("waftl.pmb_blocks", "6")],
        &[("waftl.bmb_min_pages", "4"), ("waftl.pmb_convert_pct", "0")],
        &[("waftl.thr_kind", "access_count"), ("waftl.hot_updates", "1")],
        &[("waftl.threshold", "dynamic")],
    ];
    for case in cases {
        let pairs = [&SMALL, *case, &[("device.over_provisioning", "0.0001")]].concat();
        let config = tiny("waftl", 40, &pairs);
        let (row, _) = schemes::find("waftl").expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "no spare");
        let mut device = open("waftl", &config);
        device.verify_reads();
        let logical = config.device.logical_pages();
        let mut rng = Rng::new(4, Purpose::Workload);
        for number in 0..6000u64 {
            // First a page of every block in turn, so that each buffered block has one page.
            let page = match number {
                0..2000 => (number * 4 + number / 40 % 4) % logical,
                _ => u64::from(rng.below(logical as u32)),
            };
            let request = pages(&config, Op::Write, page, 1);
            device.submit(&request).unwrap_or_else(|error| panic!("{case:?}: {error}"));
            if number % 10 == 0 {
                device.audit().unwrap_or_else(|error| panic!("{case:?}: {error}"));
            }
        }
    }
}

/// A cut at every operation of a migration that rewrites, appends, collects and converts.
#[test]
fn a_migration_may_be_cut_at_every_operation() {
    let scenarios: &[Pairs<'_>] = &[
        &[],
        &[("waftl.pull_pmb", "false")],
        &[("waftl.migrate", "background"), ("gc.mode", "both")],
    ];
    for pairs in scenarios {
        for second in [&[12u64, 13, 14, 15, 28][..], &[36, 28][..]] {
            for outcome in CutOutcome::ALL {
                let cuts = (0..).take_while(|&cut| is_cut(pairs, second, cut, outcome)).count();
                assert!(cuts > 12, "{pairs:?} {second:?}: a migration of {cuts} operations");
            }
        }
    }
}

/// Whether the cut came before the migration was over.
fn is_cut(pairs: Pairs<'_>, second: &[u64], cut: u64, outcome: CutOutcome) -> bool {
    let mut bench = with_full_mixed_zone(&[&[ONE_PMB], pairs].concat());
    bench.write(&[36]);
    bench.write(second);
    for _ in second.len()..11 {
        bench.write(&[28]);
    }
    let before = versions(&bench);
    bench.device.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
    let mut request = pages(&bench.config, Op::Write, 0, 1);
    request.arrival = bench.device.idle_from() + 1_000_000_000;
    let case = format!("{pairs:?} {second:?} cut {cut} {outcome:?}");
    match bench.device.submit(&request) {
        Ok(_) => return false,
        Err(DeviceError::Fault(Fault::PowerCut)) => {}
        Err(error) => panic!("{case}: {error}"),
    }
    bench.device.power_cycle().unwrap_or_else(|error| panic!("{case}: {error}"));
    bench.device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(versions(&bench), before, "{case}");
    bench.write(&[0, 5, 9, 13, 17, 21, 25, 29, 33, 37, 1, 6, 10, 14, 18]);
    true
}

/// The version of every page but page 0.
fn versions(bench: &Bench) -> Vec<Option<Tag>> {
    let version = |lpn| match bench.device.locate(Lpn(lpn)) {
        Location::Flash(ppn) => Some(bench.device.board().nand().state().tag(ppn)),
        _ => None,
    };
    (1..40).map(version).collect()
}

/// Zone and page-mapped blocks are told apart by what their pages were programmed as.
#[test]
fn after_a_cut_the_zone_is_the_zone_and_page_mapped_pages_are_page_mapped() {
    let mut bench = with_full_mixed_zone(&[]);
    bench.write(&[37]);
    let before = levels(&bench);
    assert_eq!(before, [Some(1), Some(4), Some(9)]);
    let places = bench.all_at([9, 12, 13, 20, 37]);
    bench.device.board_mut().nand_mut().cut_power();
    bench.device.power_cycle().expect("recovers");
    bench.device.audit().expect("sound");
    assert_eq!((levels(&bench), bench.all_at([9, 12, 13, 20, 37])), (before, places));
    let zone = bench.block(37);
    bench.write(&[36]);
    assert_eq!(bench.place(36), (zone, 1), "the zone goes on where it was");
}

#[test]
fn memory_is_a_block_table_two_page_maps_lists_and_a_count_per_logical_block() {
    // 16 GiB in blocks of 64 pages of 2 KiB: 131072 logical blocks; 3 % are 3933 blocks.
    let (row, _) = schemes::find("waftl").expect("in the table");
    let bytes = |pairs: Pairs<'_>| {
        let config = config(&[&[("device.logical_bytes", "16GiB")], pairs].concat());
        let structures = (row.ram_use)(&config);
        let of = |name| structures.iter().find(|known| known.structure == name).map(|s| s.bytes);
        ["block_table", "buffer_zone_map", "page_mapped_map", "block_lists", "access_counts"]
            .map(|name| of(name).expect("reported"))
    };
    let map = 3933 * 64 * 4 + 3933 * 64 / 8;
    assert_eq!(bytes(&[]), [131_072 * 4, map, map, 2 * 3933 * 4, 131_072]);
    let fewer = [("waftl.pmb_blocks", "100"), ("waftl.thr_kind", "pages_in_buffer")];
    let small = 100 * 64 * 4 + 100 * 64 / 8;
    assert_eq!(bytes(&fewer), [131_072 * 4, map, small, (3933 + 100) * 4, 0]);
}
