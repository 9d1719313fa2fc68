//! WAFTL with the map of page-mapped blocks on flash (`waftl.pmb_cache_bytes`), as flash operations
//! in order: what a look-up reads, what a map page that leaves memory costs, what collection
//! changes, and what a power cut leaves. Blocks have 4 pages and map pages 128 entries: 80 logical
//! blocks have three map pages, of pages 0 to 127, 128 to 255 and 256 to 319. A logical block with
//! one buffered page becomes page-mapped.

use crate::common::conform::conform;
use crate::common::{config, mixed, open, pages, tiny};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::meter::Cause::{
    self, Gc, GcMapBlock, GcMapUpdate, Host, Merge, Migrate, Recover, Translate,
};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::schemes::{self, Location, Memory};
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::{Lpn, Ppn, Tag};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const CACHE: &str = "waftl.pmb_cache_bytes";
const ONE: (&str, &str) = (CACHE, "512");
const TWO: (&str, &str) = (CACHE, "1024");
/// All map pages.
const ALL: (&str, &str) = (CACHE, "1MiB");
const ZONE_OF_ONE: (&str, &str) = ("waftl.buffer_blocks", "1");
const ZONE_OF_TWO: (&str, &str) = ("waftl.buffer_blocks", "2");
const TWO_PMBS: (&str, &str) = ("waftl.pmb_blocks", "2");
const WHILE_IT_GAINS: (&str, &str) = ("waftl.pmb_convert_pct", "100");

/// An empty device with three map pages.
fn empty(pairs: Pairs<'_>) -> Bench {
    let fixed = [TWO_PMBS, WHILE_IT_GAINS];
    let config = tiny("waftl", 80, &[&fixed, pairs].concat());
    Bench { device: open("waftl", &config), config }
}

/// Pages 4, 132, 260 and 300 are page-mapped, page 8 is in the zone.
fn with_four(pairs: Pairs<'_>) -> (Bench, Vec<Operation>) {
    let mut bench = empty(&[&[ZONE_OF_ONE], pairs].concat());
    bench.write(&[4, 132, 260, 300]);
    bench.device.start_measuring();
    let operations = bench.write(&[8]);
    (bench, operations)
}

/// Where a map page is, if it was written.
fn map_page(bench: &Bench, part: u32) -> Option<Ppn> {
    let nand = bench.device.board().nand();
    let holds = |ppn: &Ppn| match nand.state().oob(*ppn) {
        OobRead::Written(oob) => {
            oob.kind == PageKind::Map && oob.logical == part && nand.state().is_valid(*ppn)
        }
        OobRead::Free | OobRead::Torn => false,
    };
    let mut found = (0..nand.geometry().pages()).map(Ppn).filter(holds);
    let page = found.next();
    assert_eq!(found.next(), None, "one at most is alive");
    page
}

fn written(bench: &Bench, part: u32) -> Ppn {
    map_page(bench, part).expect("this map page was written")
}

/// What a map page on flash says of a page.
fn entry(bench: &Bench, lpn: u32) -> Option<Ppn> {
    let words = bench.device.board().nand().payload(written(bench, lpn / 128));
    words[lpn as usize % 128].checked_sub(1).map(Ppn)
}

fn moved(from: Ppn, to: Ppn, cause: Cause) -> [Operation; 2] {
    [Read(from, cause), Program(to, cause)]
}

/// Look-ups, hits, and map pages that left memory unchanged and changed.
fn counts(bench: &Bench) -> [u64; 4] {
    [Event::MapLookups, Event::MapHits, Event::EvictClean, Event::EvictDirty]
        .map(|event| bench.events(event))
}

/// Operations that work on the map.
fn map_operations(bench: &Bench) -> u64 {
    let of = |cause| bench.meter().reads(cause) + bench.meter().programs(cause);
    [Translate, GcMapUpdate, GcMapBlock].into_iter().map(of).sum()
}

#[test]
fn a_migration_changes_map_pages_in_memory_and_one_that_leaves_is_written() {
    let mut bench = empty(&[ZONE_OF_ONE, ONE]);
    bench.write(&[4, 132, 260, 300]);
    let (from, zone) = (bench.all_at([4, 132, 260, 300]), bench.block(4));
    let operations = bench.write(&[8]);
    let to = bench.all_at([4, 132, 260, 300]);
    let (zero, one) = (written(&bench, 0), written(&bench, 1));
    // Map page 0 was never written, so it is not read; map page 1 takes its place, then 2.
    let mut expected = moved(from[0], to[0], Migrate).to_vec();
    expected.push(Program(zero, GcMapUpdate));
    expected.extend(moved(from[1], to[1], Migrate));
    expected.push(Program(one, GcMapUpdate));
    expected.extend(moved(from[2], to[2], Migrate));
    expected.extend(moved(from[3], to[3], Migrate));
    expected.extend([Erase(zone, Merge), Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((entry(&bench, 4), entry(&bench, 132)), (Some(to[0]), Some(to[1])));
    assert_eq!(map_page(&bench, 2), None, "in memory, changed");
    assert_eq!(counts(&bench), [0, 0, 0, 2], "migrations look nothing up for a request");
}

#[test]
fn a_hit_costs_nothing_a_miss_a_read_and_a_changed_page_that_leaves_a_program() {
    let (mut bench, _) = with_four(&[ONE]);
    let [four, far, last] = bench.all_at([4, 132, 300]);
    let (zero, one) = (written(&bench, 0), written(&bench, 1));
    let read = |bench: &mut Bench, page| bench.submit(Op::Read, page, 1);
    assert_eq!(read(&mut bench, 300), [Read(last, Host)], "map page 2 is there");
    let operations = read(&mut bench, 4);
    let two = Program(written(&bench, 2), Translate);
    assert_eq!(operations, [two, Read(zero, Translate), Read(four, Host)]);
    assert_eq!(read(&mut bench, 4), [Read(four, Host)]);
    assert_eq!(read(&mut bench, 132), [Read(one, Translate), Read(far, Host)], "0 is unchanged");
    assert_eq!(counts(&bench), [4, 2, 1, 3]);
    // The zone's map knows page 8, and the block table that nothing of block 3 is page-mapped.
    assert_eq!(read(&mut bench, 8).len(), 1);
    read(&mut bench, 12);
    assert_eq!(counts(&bench)[0], 4);
    // A page that was never written, of a block with a page-mapped one: the map says so.
    assert_eq!(read(&mut bench, 5), [Read(zero, Translate)]);
    assert_eq!(counts(&bench), [5, 2, 2, 3]);
}

#[test]
fn a_write_and_a_trim_look_up_what_they_supersede() {
    let (mut bench, _) = with_four(&[ONE]);
    let zero = written(&bench, 0);
    let operations = bench.write(&[4]);
    let two = Program(written(&bench, 2), Translate);
    assert_eq!(operations, [two, Read(zero, Translate), Program(bench.at(4), Host)]);
    assert_eq!(bench.write(&[4]), [Program(bench.at(4), Host)], "it is in the zone now");
    assert_eq!(counts(&bench)[..2], [1, 0]);
    let one = written(&bench, 1);
    let operations = bench.submit(Op::Trim, 132, 1);
    let zero = Program(written(&bench, 0), Translate);
    assert_eq!(operations, [zero, Read(one, Translate)]);
    assert_eq!(entry(&bench, 4), None, "the entry went when the page came to the zone");
    assert_eq!(bench.device.locate(Lpn(132)), Location::Nowhere);
    assert_eq!(counts(&bench), [2, 0, 0, 4]);
    assert_eq!(bench.submit(Op::Trim, 132, 1), [], "nothing of block 33 is page-mapped any more");
}

#[test]
fn a_rewrite_that_takes_in_page_mapped_pages_changes_their_map_page() {
    let (mut bench, _) = with_four(&[TWO]);
    bench.write(&[133, 134, 135]);
    // Memory holds map pages 1 and 2, both changed; the rewrite of block 33 takes in page 132.
    let from = bench.all_at([132, 133, 134, 135]);
    let operations = bench.write(&[12]);
    let to = bench.all_at([132, 133, 134, 135]);
    let copies: Vec<_> = from.iter().zip(to).flat_map(|(&f, t)| moved(f, t, Merge)).collect();
    assert!(operations.windows(8).any(|window| window == copies), "{operations:?}");
    assert_eq!(bench.meter().reads(GcMapUpdate), 1, "map page 0, where page 8 goes");
    assert_eq!(bench.meter().programs(GcMapUpdate), 2, "page 0 at first, page 2 now");
    assert_eq!(bench.submit(Op::Read, 132, 1), [Read(to[0], Host)], "no look-up: block-mapped");
}

/// Page-mapped block 1: pages 4 (superseded), 132, 260, 300; block 2: pages 20, 24, 28, 32.
fn with_a_victim(pairs: Pairs<'_>) -> Bench {
    let (mut bench, _) = with_four(pairs);
    bench.write(&[20, 24, 4]);
    bench.write(&[28]);
    bench
}

#[test]
fn collection_changes_what_memory_holds_and_reads_another_map_page_once() {
    for (cache, held) in [(ONE, false), (ALL, true)] {
        let mut bench = with_a_victim(&[cache]);
        let lazy = bench.events(Event::LazyUpdates);
        // The zone held 8, 20, 24 and 4: the PMB frontier is full, and the next page needs room.
        bench.write(&[36, 40, 44]);
        let (reads, programs) = (bench.meter().reads(GcMapUpdate), counts(&bench)[3]);
        let from = bench.all_at([132, 260, 300]);
        let operations = bench.write(&[48]);
        let to = bench.all_at([132, 260, 300]);
        for (from, to) in from.into_iter().zip(to) {
            let [read, program] = moved(from, to, Gc);
            assert!(operations.contains(&read) && operations.contains(&program), "{operations:?}");
        }
        let lazy = bench.events(Event::LazyUpdates) - lazy;
        if held {
            assert_eq!((lazy, map_operations(&bench)), (3, 0), "in memory alone");
            continue;
        }
        // Pages 260 and 300 are of one map page: it is read once, and 300 goes before what follows.
        assert_eq!(lazy, 0);
        let read = bench.meter().reads(GcMapUpdate) - reads;
        assert!(read >= 2 && counts(&bench)[3] > programs, "{read} map pages were read");
        let place = |ppn| operations.iter().position(|op| *op == Program(ppn, Gc)).expect("moved");
        assert_eq!(place(to[2]), place(to[1]) + 2, "one after the other");
    }
}

/// All map pages in memory: nothing is ever read or written for the map, and every operation is the
/// one of a map that is in memory. Settings on both sides: the device with the map's blocks;
/// `waftl.pmb_cache_bytes` = 1MiB here, auto without a budget there.
#[test]
fn with_every_map_page_in_memory_it_is_as_if_the_whole_map_were_there() {
    for pairs in [&[ZONE_OF_ONE][..], &[ZONE_OF_TWO, ("waftl.pull_pmb", "false")]] {
        let on_flash = empty(&[pairs, &[ALL]].concat()).config;
        let mut in_memory = on_flash.clone();
        in_memory.set(CACHE, "auto").expect("legal");
        let (mut ours, mut theirs) = (open("waftl", &on_flash), open("waftl", &in_memory));
        for request in mixed(&on_flash, 1500, 3) {
            let run = |device: &mut Box<dyn ftlab_engine::ssd::Device>| {
                device.board_mut().nand_mut().record_mut().start();
                let done = device.submit(&request).expect("nothing fails here");
                (device.board_mut().nand_mut().record_mut().take(), done.completed)
            };
            assert_eq!(run(&mut ours), run(&mut theirs), "{request:?}");
        }
        let meter = ours.board().meter();
        let (lookups, hits) = (meter.events(Event::MapLookups), meter.events(Event::MapHits));
        assert!(lookups > 100 && lookups == hits, "{hits} of {lookups}");
        assert_eq!(theirs.board().meter().events(Event::MapLookups), 0);
        ours.audit().expect("sound");
    }
}

#[test]
fn more_memory_never_misses_more() {
    for seed in 0..6 {
        let misses: Vec<u64> = (1..=6u64)
            .map(|held| {
                let bytes = (512 * held).to_string();
                let pairs = [(CACHE, bytes.as_str()), ZONE_OF_TWO, ("waftl.pmb_blocks", "12")];
                let config = tiny("waftl", 170, &pairs);
                let mut device = open("waftl", &config);
                if let Err(error) = conform(device.as_mut(), &mixed(&config, 700, seed)) {
                    panic!("{bytes} bytes, seed {seed}: {error}");
                }
                let meter = device.board().meter();
                meter.events(Event::MapLookups) - meter.events(Event::MapHits)
            })
            .collect();
        assert!(misses.is_sorted_by(|less, more| less >= more), "seed {seed}: {misses:?}");
        assert!(misses[0] > 50 && misses[5] == 0, "seed {seed}: {misses:?}");
    }
}

#[test]
fn the_area_of_map_pages_is_cleaned_and_bounded() {
    for pairs in [&[ONE, ZONE_OF_ONE][..], &[TWO, ZONE_OF_TWO, ("nand.enforce_order", "strict")]] {
        let config = tiny("waftl", 170, &[&[TWO_PMBS, WHILE_IT_GAINS], pairs].concat());
        let mut bench = Bench { device: open("waftl", &config), config };
        for request in mixed(&bench.config, 3000, 9) {
            bench.device.submit(&request).expect("nothing fails here");
        }
        bench.device.audit().expect("sound");
        let meter = bench.meter();
        assert!(meter.programs(GcMapBlock) > 0 && meter.erases_by_cause(GcMapBlock) > 10);
        let [lookups, hits, clean, dirty] = counts(&bench);
        assert!(hits > 0 && lookups > hits && clean > 0);
        assert_eq!(meter.programs(Translate) + meter.programs(GcMapUpdate), dirty);
        assert_eq!(meter.reads(Translate), lookups - hits, "one read for each miss");
    }
}

/// A cut at every operation of a workload that writes map pages all the time, the recovery itself
/// cut.
#[test]
fn the_map_is_right_after_a_cut_at_every_operation() {
    let scenarios: [Pairs<'_>; 3] = [
        &[ONE, ZONE_OF_ONE],
        &[TWO, ZONE_OF_TWO, ("waftl.pull_pmb", "false"), ("nand.enforce_order", "strict")],
        &[ONE, ZONE_OF_TWO, ("waftl.pmb_convert_pct", "50")],
    ];
    for (number, pairs) in scenarios.into_iter().enumerate() {
        for outcome in CutOutcome::ALL {
            let cuts = (0..).take_while(|&cut| is_cut(pairs, number as u64, cut, outcome)).count();
            assert!(cuts > 100, "{pairs:?}: {cuts} operations");
        }
    }
}

/// Whether the cut came before the workload was over.
fn is_cut(pairs: Pairs<'_>, seed: u64, cut: u64, outcome: CutOutcome) -> bool {
    let mut bench = empty(pairs);
    let requests = mixed(&bench.config, 120, seed);
    let (before, after) = requests.split_at(70);
    let case = format!("{pairs:?} cut {cut} {outcome:?}");
    bench.device.verify_reads();
    for request in before {
        bench.device.submit(request).expect("nothing fails here");
    }
    bench.submit(Op::Flush, 0, 0);
    bench.device.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
    let mut known = versions(&bench);
    let cut_at = after.iter().find(|request| {
        known = versions(&bench);
        match bench.device.submit(request) {
            Ok(_) => false,
            Err(DeviceError::Fault(Fault::PowerCut)) => true,
            Err(error) => panic!("{case}: {error}"),
        }
    });
    let Some(interrupted) = cut_at else { return false };
    // Recovery is cut too, somewhere, and begins again.
    bench.device.board_mut().nand_mut().faults_mut().cut_recovery_after(cut % 7, outcome);
    if bench.device.power_cycle().is_err() {
        bench.device.power_cycle().unwrap_or_else(|error| panic!("{case}: {error}"));
    }
    bench.device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
    let sectors = bench.config.device.unit_bytes() / 512;
    let first = interrupted.first_sector / sectors;
    let touched = first..first + u64::from(interrupted.sectors) / sectors;
    for (lpn, (now, was)) in versions(&bench).into_iter().zip(known).enumerate() {
        // Trims that were not flushed may be undone; nothing else may change.
        let kept = now == was || was.is_none() || touched.contains(&(lpn as u64));
        assert!(kept, "{case}: page {lpn} is {now:?}, was {was:?}");
    }
    bench.device.board_mut().nand_mut().faults_mut().forget_cut();
    for request in after {
        let done = bench.device.submit(request).map(|_| ()).map_err(|error| error.to_string());
        let sound = done.and_then(|()| bench.device.audit());
        sound.unwrap_or_else(|error| panic!("{case}, afterwards: {error}"));
    }
    true
}

/// The version of every page.
fn versions(bench: &Bench) -> Vec<Option<Tag>> {
    let version = |lpn| match bench.device.locate(Lpn(lpn)) {
        Location::Flash(ppn) => Some(bench.device.board().nand().state().tag(ppn)),
        _ => None,
    };
    (0..320).map(version).collect()
}

#[test]
fn recovery_reads_the_map_pages_and_writes_those_that_were_behind() {
    let (mut bench, _) = with_four(&[ONE]);
    // Memory alone knows of pages 260 and 300.
    let places = bench.all_at([4, 132, 260, 300]);
    assert_eq!(map_page(&bench, 2), None);
    bench.device.board_mut().nand_mut().cut_power();
    bench.device.power_cycle().expect("recovers");
    bench.device.audit().expect("sound");
    assert_eq!(bench.all_at([4, 132, 260, 300]), places);
    assert_eq!((entry(&bench, 260), entry(&bench, 300)), (Some(places[2]), Some(places[3])));
    assert_eq!(bench.meter().programs(Recover), 1, "map page 2");
    assert_eq!(entry(&bench, 4), Some(places[0]));
}

/// Logical block 33: page 134 is page-mapped, 132 and 135 are in the zone, 133 is in the old data
/// block. The cut tears the place of page 133 in the new one, so that recovery finds it none: a
/// stray, merged before the next write. That takes in page 134, which no map page knows of by then.
#[test]
fn what_strays_take_in_changes_map_pages_before_the_next_write() {
    let mut bench = empty(&[ZONE_OF_ONE, ONE]);
    bench.write(&[132, 133, 134, 135, 134, 20, 24, 260, 132, 135, 40, 44]);
    let by_page = bench.at(134);
    assert_eq!((entry(&bench, 134), entry(&bench, 20)), (Some(by_page), Some(bench.at(20))));
    // The look-up of page 132 brought map page 1: the rewrite programs page 132, then page 133.
    bench.device.board_mut().nand_mut().faults_mut().cut_power_after(1, CutOutcome::Torn);
    let request = pages(&bench.config, Op::Write, 48, 1);
    assert!(bench.device.submit(&request).is_err(), "cut");
    bench.device.power_cycle().expect("recovers");
    bench.device.audit().expect("sound");
    assert_eq!((bench.at(134), entry(&bench, 134)), (by_page, Some(by_page)));

    let (target, stray, zone) = (bench.block(132), bench.block(133), bench.block(40));
    assert_ne!(target, stray);
    let merged = bench.all_at([132, 133, 134, 135]);
    let buffered = bench.all_at([40, 44]);
    let (zero, one) = (written(&bench, 0), written(&bench, 1));
    let operations = bench.write(&[48]);
    let copies = merged.iter().zip(bench.all_at([132, 133, 134, 135]));
    let mut expected: Vec<_> = copies.flat_map(|(&f, t)| moved(f, t, Merge)).collect();
    expected.extend([Erase(target, Merge), Erase(stray, Merge)]);
    // Recovery left map page 2 in memory: page 1 is read, changed, and leaves for page 0.
    expected.push(Read(one, GcMapUpdate));
    expected.extend([Program(written(&bench, 1), GcMapUpdate), Read(zero, GcMapUpdate)]);
    for (from, to) in buffered.into_iter().zip(bench.all_at([40, 44])) {
        expected.extend(moved(from, to, Migrate));
    }
    expected.extend([Erase(zone, Merge), Program(bench.at(48), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(entry(&bench, 134), None, "block-mapped");
}

#[test]
fn a_cache_that_holds_no_map_page_or_more_than_the_budget_is_refused() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let refused = |pairs: Pairs<'_>| {
        let config = tiny("waftl", 80, pairs);
        (row.open)(&config, 1).err().map(|error| error.to_string())
    };
    let small = refused(&[(CACHE, "511")]).expect("refused");
    assert!(small.contains("511") && small.contains("at least 512"), "{small}");
    assert_eq!(refused(&[ONE]), None);
    // Blocks of 6 pages: the entries of logical block 21 lie in two map pages.
    let spread = refused(&[("device.pages_per_block", "6"), ONE]).expect("refused");
    assert!(spread.contains("at least 1024"), "{spread}");
    let over = refused(&[TWO, ("device.ram_bytes", "1000")]).expect("refused");
    assert!(over.contains("1024") && over.contains("1000"), "{over}");
    assert!(config(&[]).set(CACHE, "0").is_err());
}

/// 16 GiB in blocks of 64 pages of 2 KiB: 16384 map pages, their area 513 blocks and one for what a
/// power cut leaves. What a budget leaves beside the other structures is the cache.
#[test]
fn what_a_budget_leaves_beside_the_other_structures_is_the_cache() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let of = |pairs: Pairs<'_>| {
        let config = config(&[&[("device.logical_bytes", "16GiB")], pairs].concat());
        let structures = (row.ram_use)(&config);
        let of = |name| structures.iter().find(|used| used.structure == name).map(|u| u.bytes);
        let sram = structures.iter().filter(|used| used.memory == Memory::Sram);
        let sram = sram.map(|used| used.bytes).sum::<u64>();
        let map = ["page_mapped_map", "map_directory", "map_cache"].map(of);
        (sram, map, (row.minimum_blocks)(&config))
    };
    let (free, [whole, ..], blocks) = of(&[]);
    let whole = whole.expect("in memory");
    assert_eq!(whole, 3933 * 64 * 4 + 3933 * 64 / 8);
    let directory = 16384 * 4 + 513 * 4;
    let with = |budget: u64| of(&[("device.ram_bytes", &budget.to_string())]);
    // All of it fits, to the byte.
    assert_eq!(with(free), (free, [Some(whole), None, None], blocks));
    // A byte less: as many whole map pages as fit beside the directory, and blocks for all of them.
    let (sram, map, more) = with(free - 1);
    let held = (whole - 1 - directory) / 2048;
    assert_eq!(map, [None, Some(directory), Some(held * 2048)]);
    assert_eq!(sram, free - whole + directory + held * 2048);
    assert_eq!(more, blocks + 514);
    let few = free - whole + directory + 3 * 2048 + 2047;
    assert_eq!(with(few), (few - 2047, [None, Some(directory), Some(3 * 2048)], more));
    // Too little for one: one, over the budget.
    assert_eq!(with(1000), (free - whole + directory + 2048, with(1000).1, more));
    assert_eq!(with(1000).1[2], Some(2048));
    // A number that is set is that, rounded down to map pages.
    assert_eq!(of(&[(CACHE, "10000")]).1, [None, Some(directory), Some(4 * 2048)]);
    assert_eq!(of(&[(CACHE, "1GiB")]).1[2], Some(16384 * 2048), "no more than there are");
    // Where all of a map takes no more than the least cache, it is in memory.
    let few = [("waftl.pmb_blocks", "100"), ("device.ram_bytes", "1000")];
    assert_eq!(of(&few).1, [Some(100 * 264), None, None]);
}

/// The bundled devices have 10 blocks beyond everything else: none for map pages.
#[test]
fn a_given_device_without_blocks_for_map_pages_keeps_the_map_in_memory() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let given = [("device.blocks_per_plane", "8448"), ("device.ram_bytes", "1KiB")];
    let config = config(&given);
    assert!((row.minimum_blocks)(&config) <= config.usable_blocks());
    let structures = (row.ram_use)(&config);
    let map = structures.iter().find(|used| used.structure == "page_mapped_map");
    assert_eq!(map.map(|used| used.bytes), Some(2 * 264));
}

/// A budget that leaves two map pages: they are all that is used, and everything stays right.
#[test]
fn a_device_within_its_budget_works() {
    let base: Pairs<'_> = &[ZONE_OF_TWO, ("waftl.pmb_blocks", "60")];
    let (row, _) = schemes::find("waftl").expect("in the table");
    let with = |budget: &str| tiny("waftl", 170, &[base, &[("device.ram_bytes", budget)]].concat());
    let sram = |config: &ftlab_engine::config::Config| {
        let sram = (row.ram_use)(config).into_iter().filter(|used| used.memory == Memory::Sram);
        sram.map(|used| used.bytes).sum::<u64>()
    };
    let least = sram(&with("1"));
    let config = with(&(least + 200).to_string());
    assert_eq!(sram(&config), least, "one map page, not all of 990 bytes");
    let mut device = open("waftl", &config);
    if let Err(error) = conform(device.as_mut(), &mixed(&config, 1500, 4)) {
        panic!("{error}");
    }
    let meter = device.board().meter();
    assert!(meter.programs(GcMapUpdate) > 20 && meter.reads(Translate) > 20);
    let request = pages(&config, Op::Read, 0, 1);
    device.submit(&request).expect("goes on");
}
