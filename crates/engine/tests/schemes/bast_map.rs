//! BAST with its block map on flash (`bast.map_on_flash`), as flash operations in order: what a
//! look-up reads, what a merge writes, how the area of map pages is cleaned, and what a power cut
//! leaves. Blocks have 4 pages and map pages 128 entries: with 300 logical blocks there are three.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy, entry, map_page};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{
    self, GcMapBlock, GcMapUpdate, Host, Merge, Pad, Recover, Translate, Trim, Wear,
};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::Ppn;

const ON: (&str, &str) = ("bast.map_on_flash", "on");
const TWO: (&str, &str) = ("bast.log_blocks", "2");
/// Logical blocks of three map pages.
const LARGE: u64 = 300;

/// An empty device.
fn empty(logical_blocks: u64, pairs: &[(&str, &str)]) -> Bench {
    let config = tiny("bast", logical_blocks, &[&[ON, TWO], pairs].concat());
    let device = open("bast", &config);
    Bench { config, device }
}

/// A device with these logical blocks written once, in place.
fn bench(filled: &[u64], pairs: &[(&str, &str)]) -> Bench {
    let mut bench = empty(LARGE, pairs);
    for block in filled {
        bench.submit(Op::Write, 4 * block, 4);
    }
    bench.device.start_measuring();
    bench
}

fn copies(from: [Ppn; 4], to: [Ppn; 4]) -> Vec<Operation> {
    from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to)).collect()
}

/// Reads, programs and map erases under a cause.
fn counts(bench: &Bench, cause: Cause) -> (u64, u64, u64) {
    let meter = bench.meter();
    (meter.reads(cause), meter.programs(cause), meter.erases_by_cause(cause))
}

#[test]
fn a_first_data_block_writes_its_map_page_and_later_writes_in_it_do_not() {
    let mut bench = bench(&[], &[]);
    let operations = bench.write(&[5]);
    let (five, first) = (bench.at(5), map_page(&bench, 0));
    assert_eq!(operations, [Program(five, Host), Program(first, Translate)], "nothing to read yet");
    assert_eq!(entry(&bench, 1), Some(bench.block(5)));
    assert_eq!(bench.write(&[6]), [Program(bench.at(6), Host)]);
    let operations = bench.write(&[9]);
    let second = map_page(&bench, 0);
    assert_ne!(first, second);
    assert_eq!(operations, [Program(bench.at(9), Host), Program(second, Translate)], "it is held");
    assert_eq!((entry(&bench, 1), entry(&bench, 2)), (Some(bench.block(5)), Some(bench.block(9))));
}

#[test]
fn a_full_merge_reads_the_old_map_page_unless_it_is_held_and_writes_one() {
    for (cache, held) in [("1", false), ("3", true)] {
        let mut bench = bench(&[1, 130, 260], &[("bast.map_cache_pages", cache)]);
        // The log blocks of logical blocks 1 and 130; memory saw map page 0, then 1.
        bench.write(&[5, 521]);
        let (data, log, from) = (bench.block(4), bench.block(5), bench.all_at([4, 5, 6, 7]));
        let (old, other) = (map_page(&bench, 0), map_page(&bench, 2));
        let operations = bench.write(&[1041]);
        let (new, to) = (map_page(&bench, 0), bench.all_at([4, 5, 6, 7]));
        let mut expected = if held { vec![] } else { vec![Read(other, Translate)] };
        expected.extend((!held).then_some(Read(old, GcMapUpdate)));
        expected.extend(copies(from, to));
        expected.extend([Program(new, GcMapUpdate), Erase(data, Merge), Erase(log, Merge)]);
        expected.push(Program(bench.at(1041), Host));
        assert_eq!(operations, expected, "{cache} map pages in memory");
        assert_eq!(entry(&bench, 1), Some(bench.block(4)));
        assert_eq!(counts(&bench, GcMapUpdate), (u64::from(!held), 1, 0));
        assert_eq!(bench.erases(), (1, 1, 0));
    }
}

#[test]
fn switch_and_partial_merges_write_their_map_page_before_the_old_block_is_erased() {
    let mut bench = bench(&[1, 2, 3], &[]);
    let (one, two) = (bench.block(4), bench.block(8));
    bench.submit(Op::Write, 4, 4);
    let operations = bench.write(&[4]);
    let switched = Program(map_page(&bench, 0), GcMapUpdate);
    assert_eq!(operations, [switched, Erase(one, Merge), Program(bench.at(4), Host)]);
    bench.write(&[8, 9, 8 + 4 * 100]);
    let from = bench.all_at([10, 11]);
    let log = bench.block(8);
    // The log blocks are those of 1 and 2; the one of 1 is written again, so 2 is the victim.
    bench.write(&[5]);
    let operations = bench.write(&[12]);
    let mut expected: Vec<Operation> = from
        .into_iter()
        .zip(bench.all_at([10, 11]))
        .flat_map(|(from, to)| copy(from, to))
        .collect();
    expected.extend([Program(map_page(&bench, 0), GcMapUpdate), Erase(two, Merge)]);
    expected.push(Program(bench.at(12), Host));
    assert_eq!(operations, expected, "P-j copies, one map page, one erase");
    assert_eq!((bench.merges(), entry(&bench, 2)), ((1, 1, 0), Some(log)));
    assert_eq!(counts(&bench, GcMapUpdate), (0, 2, 0));
}

#[test]
fn a_look_up_that_memory_cannot_answer_reads_one_map_page() {
    let mut bench = bench(&[1, 130, 260], &[("bast.map_cache_pages", "2")]);
    let read = |bench: &mut Bench, page: u64| bench.submit(Op::Read, page, 1);
    let [zero, one, two] = [0, 1, 2].map(|part| map_page(&bench, part));
    // Pages 1 and 2 were used last.
    let (a, b, c) = (bench.at(4), bench.at(521), bench.at(1041));
    assert_eq!(read(&mut bench, 4), [Read(zero, Translate), Read(a, Host)], "page 1 leaves");
    assert_eq!(read(&mut bench, 1041), [Read(c, Host)]);
    assert_eq!(read(&mut bench, 521), [Read(one, Translate), Read(b, Host)], "page 0 leaves");
    assert_eq!(read(&mut bench, 1041), [Read(c, Host)], "now page 1 is the older one");
    let map_reads = |bench: &Bench| bench.meter().reads(Translate);
    assert_eq!((bench.events(Event::MapLookups), bench.events(Event::MapHits)), (4, 2));
    read(&mut bench, 4 * 100);
    assert_eq!(map_reads(&bench), 3, "that nothing was written there, only the map page knows");
    let operations = bench.submit(Op::Trim, 521, 1);
    assert_eq!(operations, [Read(one, Translate)], "a mark goes to where the page is");
    assert_eq!(bench.submit(Op::Read, 4, 4)[0], Read(a, Host), "one look-up is enough for all");
    assert_eq!(map_reads(&bench), 4);
    assert_eq!(two, map_page(&bench, 2), "nothing was written");
}

#[test]
fn a_page_in_a_log_block_is_found_without_the_map() {
    let mut bench = bench(&[1, 130], &[]);
    bench.write(&[5, 521]);
    let (five, lookups) = (bench.at(5), bench.events(Event::MapLookups));
    assert_eq!(bench.submit(Op::Read, 5, 1), [Read(five, Host)]);
    assert_eq!(bench.submit(Op::Trim, 5, 1), []);
    assert_eq!(bench.events(Event::MapLookups), lookups);
}

#[test]
fn a_map_page_that_was_never_written_is_known_to_map_nothing() {
    let mut bench = bench(&[1], &[]);
    assert_eq!(bench.submit(Op::Read, 1041, 1), []);
    assert_eq!((counts(&bench, Translate), bench.events(Event::MapHits)), ((0, 0, 0), 1));
}

#[test]
fn the_emptiest_block_of_the_area_is_cleaned_when_all_are_full() {
    // Map pages 1 and 2, then ten times map page 0: one block begins with 1, the others hold 0.
    let order = [130, 260, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let mut bench = bench(&order, &[]);
    let block_of =
        |bench: &Bench, part| bench.device.board().geometry().block_of(map_page(bench, part));
    let (old, newest) = (map_page(&bench, 1), block_of(&bench, 0));
    let first = block_of(&bench, 1);
    assert_eq!(block_of(&bench, 2), first, "both in the first of three blocks");
    assert_ne!(newest, first);
    let free = bench.device.room();
    // The second block holds nothing alive and is erased without a copy.
    let operations = bench.write(&[40]);
    let Erase(second, GcMapBlock) = operations[0] else { panic!("{operations:?}") };
    assert!(second != first && second != newest);
    let written = Program(map_page(&bench, 0), Translate);
    assert_eq!(operations[1..], [Program(bench.at(40), Host), written]);
    assert_eq!(map_page(&bench, 1), old);
    assert_eq!((counts(&bench, GcMapBlock), bench.erases()), ((0, 0, 1), (0, 0, 1)));
    assert_eq!(bench.device.room(), free, "log blocks have nothing to do with it");
}

#[test]
fn live_map_pages_of_a_block_that_is_cleaned_are_copied() {
    // Each of three blocks keeps one live page: 1, 2 and 0.
    let mut bench = bench(&[130, 0, 1, 2, 260, 3, 4, 5, 6, 7, 8, 9], &[]);
    let old = map_page(&bench, 1);
    let block = bench.device.board().geometry().block_of(old);
    let operations = bench.write(&[40]);
    let new = map_page(&bench, 1);
    let moved = [Read(old, GcMapBlock), Program(new, GcMapBlock), Erase(block, GcMapBlock)];
    assert_eq!(operations[..3], moved);
    let written = Program(map_page(&bench, 0), Translate);
    assert_eq!(operations[3..], [Program(bench.at(40), Host), written]);
    assert_eq!(counts(&bench, GcMapBlock), (1, 1, 1));
    assert_eq!(entry(&bench, 130), Some(bench.block(520)));
}

#[test]
fn a_map_page_whose_program_fails_goes_to_another_block() {
    let spare = [("device.over_provisioning", "5x")];
    let mut bench = bench(&[1, 2], &spare);
    let old = map_page(&bench, 0);
    bench.device.board_mut().nand_mut().faults_mut().fail_program_after(1);
    bench.write(&[13]);
    let new = map_page(&bench, 0);
    let geometry = bench.device.board().geometry();
    assert_ne!(geometry.block_of(old), geometry.block_of(new));
    assert_eq!((bench.events(Event::ProgramFailures), geometry.offset_of(new)), (1, 0));
    assert_eq!((entry(&bench, 1), entry(&bench, 3)), (Some(bench.block(4)), Some(bench.block(13))));
}

/// What recovery programs and erases, the scan aside.
fn recover(bench: &mut Bench) -> Vec<Operation> {
    bench.device.board_mut().nand_mut().record_mut().start();
    bench.device.power_cycle().expect("recovers");
    let operations = bench.device.board_mut().nand_mut().record_mut().take();
    bench.device.audit().expect("sound");
    operations
}

fn cut(bench: &mut Bench, operations: u64, outcome: CutOutcome, page: u64) {
    bench.device.board_mut().nand_mut().faults_mut().cut_power_after(operations, outcome);
    let request = pages(&bench.config, Op::Write, page, 1);
    let error = bench.device.submit(&request).expect_err("cut");
    assert_eq!(error, DeviceError::Fault(Fault::PowerCut));
}

#[test]
fn recovery_reads_the_map_pages_and_writes_none_that_is_right() {
    let mut bench = bench(&[1, 130], &[]);
    let expected = [0, 1].map(|part| Read(map_page(&bench, part), Recover));
    assert_eq!(recover(&mut bench), expected);
    bench.write(&[5]);
    assert_eq!(counts(&bench, GcMapUpdate), (0, 0, 0));
}

#[test]
fn recovery_writes_the_map_page_that_a_cut_merge_did_not() {
    for outcome in CutOutcome::ALL {
        let mut bench = bench(&[1, 130], &[]);
        bench.submit(Op::Write, 4, 4);
        let (old, one) = (map_page(&bench, 0), map_page(&bench, 1));
        let (data, log) = (bench.block(4), entry(&bench, 1));
        // The switch merge of logical block 1: its map page is the first program.
        cut(&mut bench, 0, outcome, 4);
        let operations = recover(&mut bench);
        let new = map_page(&bench, 0);
        let tail =
            &operations[operations.len() - if outcome == CutOutcome::Done { 2 } else { 3 }..];
        if outcome == CutOutcome::Done {
            assert_eq!(tail, [Read(new, Recover), Read(one, Recover)]);
        } else {
            let expected = [Read(old, Recover), Program(new, Recover), Read(one, Recover)];
            assert_eq!(tail, expected, "{outcome:?}");
        }
        assert_ne!(log, Some(data), "until then the old block was on flash");
        assert_eq!(entry(&bench, 1), Some(data), "the log block has become the data block");
    }
}

/// Eight map pages in three blocks of eight pages: 2, 2 and 4 of them are alive when the power goes
/// after the first copy out of the first block, and again and again while that goes on.
#[test]
fn a_block_too_many_after_a_cut_is_emptied_before_the_next_map_page_is_written() {
    let mut bench = empty(1024, &[("device.pages_per_block", "8")]);
    let parts = [0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5, 5, 6, 7, 4];
    let page = |number: u64, part: u64| 8 * (128 * part + number);
    for (number, part) in (0u64..).zip(parts) {
        bench.write(&[page(number, part)]);
    }
    let block_of =
        |bench: &Bench, part| bench.device.board().geometry().block_of(map_page(bench, part));
    let map_blocks = |bench: &Bench| {
        let mut blocks: Vec<u32> = (0..8).map(|part| block_of(bench, part).0).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    };
    let (first, moved, stays) = (block_of(&bench, 0), map_page(&bench, 0), map_page(&bench, 1));
    assert_eq!((block_of(&bench, 1), map_blocks(&bench)), (first, 3));
    cut(&mut bench, 1, CutOutcome::Undone, page(30, 3));
    recover(&mut bench);
    assert_eq!(map_blocks(&bench), 4, "one more while a block is emptied");
    assert!(map_page(&bench, 0) != moved && map_page(&bench, 1) == stays);
    for _ in 0..20 {
        cut(&mut bench, 0, CutOutcome::Torn, page(30, 3));
        recover(&mut bench);
        assert!(map_blocks(&bench) <= 4, "torn pages take no block for good");
    }
    let operations = bench.write(&[page(30, 3)]);
    let erased = operations.iter().filter(|it| matches!(it, Erase(_, GcMapBlock))).count();
    assert!(erased >= 1 && map_blocks(&bench) <= 3, "{operations:?}");
    let (written, newest) = (operations[operations.len() - 1], map_page(&bench, 3));
    assert_eq!(written, Program(newest, Translate));
}

/// The same workload with the map in memory and on flash: what is not map is the same, and the map
/// costs nothing in memory.
#[test]
fn only_map_operations_are_added() {
    let run = |pairs: &[(&str, &str)]| {
        let config = tiny("bast", LARGE, &[&[TWO], pairs].concat());
        let mut device = open("bast", &config);
        device.verify_reads();
        for request in mixed(&config, 5000, 4) {
            device.submit(&request).expect("no fault");
        }
        device.audit().expect("sound");
        let meter = device.board().meter().clone();
        let others = [Host, Merge, Pad, Trim, Wear]
            .map(|cause| (meter.reads(cause), meter.programs(cause), meter.erases_by_cause(cause)));
        let maps = [Translate, GcMapUpdate, GcMapBlock]
            .map(|cause| (meter.reads(cause), meter.programs(cause), meter.erases_by_cause(cause)));
        (others, maps, meter)
    };
    let (others, maps, off) = run(&[]);
    assert_eq!(maps, [(0, 0, 0); 3]);
    assert_eq!((off.events(Event::MapLookups), off.events(Event::MapHits)), (0, 0));
    for cache in ["1", "2", "3"] {
        let (same, maps, on) = run(&[ON, ("bast.map_cache_pages", cache)]);
        assert_eq!(same, others, "{cache} map pages in memory");
        let merges = on.merges();
        let [translate, update, clean] = maps;
        let merged = merges.switch + merges.partial + merges.full;
        assert_eq!(update.1, merged, "a map page for every merge");
        assert!(translate.1 > 100 && translate.1 <= LARGE, "and for every first data block");
        assert!(clean.2 > 100, "the area was cleaned");
        assert_eq!(translate.0, on.events(Event::MapLookups) - on.events(Event::MapHits));
        if cache == "3" {
            assert_eq!((translate.0, update.0), (0, 0), "all pages are held");
        } else {
            assert!(translate.0 > 500 && update.0 > 100, "{maps:?}");
        }
    }
}

#[test]
fn static_levelling_writes_a_map_page_for_every_block_that_it_moves() {
    let pairs = [ON, ("wear.policy", "static"), ("wear.spread", "5")];
    let config = tiny("bast", 20, &pairs);
    let mut device = open("bast", &config);
    for page in 0..80 {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("no fault");
    }
    for _ in 0..4000 {
        device.submit(&pages(&config, Op::Write, 1, 1)).expect("no fault");
    }
    device.audit().expect("sound");
    let meter = device.board().meter();
    let merges = meter.merges();
    let merged = merges.switch + merges.partial + merges.full;
    let levelled = meter.events(Event::LevelledBlocks);
    assert!(levelled > 20, "{levelled} moved");
    assert_eq!(meter.programs(GcMapUpdate), merged + levelled);
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for blocks in [10, LARGE] {
        let pairs = [ON, ("device.over_provisioning", "0.0001"), ("bast.log_blocks", "1")];
        let config = tiny("bast", blocks, &pairs);
        let (row, _) = schemes::find("bast").expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "none spare");
        let mut device = open("bast", &config);
        device.verify_reads();
        for page in 0..config.device.logical_pages() {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every page");
        }
        for request in mixed(&config, 2000, 9) {
            device.submit(&request).expect("room for every update");
            device.audit().expect("sound");
        }
    }
}

#[test]
fn memory_is_the_directory_and_the_map_pages_held() {
    let (row, _) = schemes::find("bast").expect("in the table");
    let structures = |pairs: &[(&str, &str)]| {
        let config = tiny("bast", LARGE, pairs);
        let all = (row.ram_use)(&config).into_iter();
        let map =
            all.filter(|known| known.structure.contains("map") || known.structure == "block_table");
        let map = map.map(|known| (known.structure, known.bytes)).collect::<Vec<_>>();
        (map, (row.minimum_blocks)(&config))
    };
    let (off, blocks) = structures(&[]);
    assert_eq!(off, [("block_table", 1200)]);
    let (on, more) = structures(&[ON, ("bast.map_cache_pages", "2")]);
    // Three map pages and three blocks for them, 4 bytes each; two pages of 512 bytes.
    assert_eq!(on, [("map_directory", 24), ("map_cache", 1024)]);
    assert_eq!(more, blocks + 4, "three, and one that a cut leaves");
    let (all, _) = structures(&[ON, ("bast.map_cache_pages", "9")]);
    assert_eq!(all[1], ("map_cache", 3 * 512), "no more than there are");
}
