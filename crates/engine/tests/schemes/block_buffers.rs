//! Buffers whose pages leave in groups, as flash operations in order: BPLRU, FAB, l-buffer and the
//! map-aware one. Blocks have 4 pages: block 1 is pages 4 to 7.

use crate::fast_bench::Bench;
use ftlab_engine::board::nand::record::Operation::{self, Program, Read};
use ftlab_engine::meter::Cause::{Host, Pad};
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::units::{Lpn, Ppn};

const FRAMES_4: (&str, &str) = ("buffer.bytes", "2048");
const FRAMES_6: (&str, &str) = ("buffer.bytes", "3072");
const FRAMES_8: (&str, &str) = ("buffer.bytes", "4096");
const BPLRU: (&str, &str) = ("buffer.name", "bplru");
const FAB: (&str, &str) = ("buffer.name", "fab");
const L_BUFFER: (&str, &str) = ("buffer.name", "l_buffer");

/// A scheme with a buffer; `filled` blocks from block 1 on are on flash, the buffer is empty.
fn behind(scheme: &str, filled: u64, pairs: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::of(scheme, filled, pairs);
    bench.submit(Op::Flush, 0, 0);
    bench.device.start_measuring();
    bench
}

fn programs<const N: usize>(pages: [Ppn; N], causes: [Cause; N]) -> [Operation; N] {
    std::array::from_fn(|index| Program(pages[index], causes[index]))
}

/// Whether a page is in the buffer.
fn is_here(bench: &Bench, page: u32) -> bool {
    matches!(bench.device.locate(Lpn(page)), Location::Ram(_))
}

#[test]
fn bplru_reads_what_a_block_lacks_and_writes_it_in_order() {
    for scheme in ["fast", "bast"] {
        let mut bench = behind(scheme, 3, &[BPLRU, FRAMES_4]);
        bench.write(&[5, 9, 13, 10]);
        let old = bench.all_at([4, 6, 7]).map(|ppn| Read(ppn, Pad));
        // Block 1 was written longest ago.
        let operations = bench.write(&[14]);
        let new = programs(bench.all_at([4, 5, 6, 7]), [Pad, Host, Pad, Pad]);
        assert_eq!(operations[..3], old, "{scheme}");
        assert_eq!(operations[3..7], new, "{scheme}: a complete block from its first page on");
        let block = bench.block(4);
        assert!((4..8).all(|page| bench.place(page) == (block, page - 4)), "{scheme}");
        // One after another: every block becomes a data block without a copy.
        bench.submit(Op::Flush, 0, 0);
        bench.write(&[4]);
        bench.submit(Op::Flush, 0, 0);
        let (switch, partial, full) = bench.merges();
        assert!(switch >= 3 && partial == 0 && full == 0, "{scheme}: {:?}", bench.merges());
        assert_eq!(bench.meter().programs(Cause::Merge), 0, "{scheme}");
        assert_eq!(bench.events(Event::BufferPaddedBlocks), 4, "{scheme}");
    }
}

#[test]
fn pages_that_were_never_written_are_not_read_for_padding() {
    for (unwritten, others) in [("true", true), ("false", false)] {
        let pairs = [BPLRU, FRAMES_4, ("buffer.pad_unwritten", unwritten)];
        let mut bench = behind("fast", 0, &pairs);
        bench.write(&[5, 9, 13, 17]);
        let operations = bench.write(&[21]);
        match others {
            true => {
                let new = programs(bench.all_at([4, 5, 6, 7]), [Pad, Host, Pad, Pad]);
                assert_eq!(operations, new, "zeros in their places");
            }
            false => assert_eq!(operations, [Program(bench.at(5), Host)]),
        }
        assert_eq!(bench.device.is_written(Lpn(6)), others);
        bench.submit(Op::Read, 4, 4);
    }
}

#[test]
fn a_block_of_which_less_than_half_is_here_is_not_padded_under_if_half() {
    let mut bench = behind("fast", 4, &[BPLRU, FRAMES_4, ("bplru.pad", "if_half")]);
    bench.write(&[5, 9, 11, 13]);
    let operations = bench.write(&[17]);
    assert_eq!(operations, [Program(bench.at(5), Host)], "one page of four");
    let lacking = bench.all_at([8, 10]).map(|ppn| Read(ppn, Pad));
    let operations = bench.write(&[18]);
    assert_eq!(operations[..2], lacking, "two pages of four");
}

#[test]
fn a_block_written_sequentially_to_its_end_leaves_next() {
    for (compensation, leaves) in [("true", 8), ("false", 5)] {
        let pairs = [BPLRU, FRAMES_8, ("bplru.compensation", compensation)];
        let mut bench = behind("ideal_page", 0, &pairs);
        bench.write(&[5, 8, 9, 10, 11, 13, 17, 21]);
        bench.write(&[25]);
        assert!(!is_here(&bench, leaves), "page {leaves} left, compensation {compensation}");
        assert_eq!(bench.events(Event::BufferRuns), 1, "as one request");
        let left = if leaves == 8 { 4 } else { 1 };
        assert_eq!(bench.events(Event::BufferFlushes), left);
    }
    // Not in order: the block was written last, and stays.
    let mut bench = behind("ideal_page", 0, &[BPLRU, FRAMES_8]);
    bench.write(&[5, 8, 10, 9, 11, 13, 17, 21, 25]);
    assert!(is_here(&bench, 8) && !is_here(&bench, 5));
}

#[test]
fn fab_writes_the_block_with_most_pages_and_among_equals_the_oldest() {
    let mut bench = behind("ideal_page", 0, &[FAB, FRAMES_6]);
    bench.write(&[4, 5, 8, 10, 9, 13]);
    let operations = bench.write(&[16]);
    let whole = bench.all_at([8, 9, 10]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, whole, "three pages of block 2, upwards, and nothing else");
    bench.write(&[12, 17]);
    // Two pages each of blocks 1, 3 and 4.
    bench.write(&[21]);
    let here = [4, 5, 12, 13, 16, 17].map(|page| is_here(&bench, page));
    assert_eq!(here, [false, false, true, true, true, true], "block 1 was written longest ago");
    // A rewrite makes block 3 the younger one, and adds no page.
    bench.write(&[12, 22, 25]);
    let here = [12, 13, 16, 17].map(|page| is_here(&bench, page));
    assert_eq!(here, [true, true, false, false]);
    assert_eq!(bench.meter().programs(Pad), 0);
}

/// Page 9 is not here: 8 leaves alone, 10 and 11 as one request.
#[test]
fn pages_of_a_block_that_do_not_follow_each_other_leave_as_several_requests() {
    let mut bench = behind("ideal_page", 0, &[FAB, FRAMES_6]);
    bench.write(&[4, 8, 10, 11, 13, 17]);
    let operations = bench.write(&[21]);
    assert_eq!(operations, bench.all_at([8, 10, 11]).map(|ppn| Program(ppn, Host)));
    assert_eq!([Event::BufferFlushes, Event::BufferRuns].map(|event| bench.events(event)), [3, 2]);
}

#[test]
fn l_buffer_plugs_a_block_that_lacks_little_and_logs_one_that_lacks_much() {
    let pairs = [L_BUFFER, FRAMES_6, ("l_buffer.plug_if_missing_le", "1")];
    let mut bench = behind("fast", 4, &pairs);
    bench.write(&[5, 8, 9, 11, 13, 17]);
    let operations = bench.write(&[14]);
    assert_eq!(operations, [Program(bench.at(5), Host)], "three pages lack: as it is");
    let lacking = bench.at(10);
    let operations = bench.write(&[18]);
    assert_eq!(operations[0], Read(lacking, Pad), "one page lacks: plugged");
    assert_eq!(bench.meter().programs(Pad), 1);
    let decisions = [Event::PlugDecisions, Event::LogDecisions].map(|event| bench.events(event));
    assert_eq!(decisions, [1, 1]);
}

#[test]
fn l_buffer_under_stress_writes_the_fullest_block_as_it_is() {
    let pairs =
        [L_BUFFER, FRAMES_6, ("l_buffer.stress_window", "8"), ("l_buffer.stress_high", "0")];
    let mut bench = behind("fast", 9, &pairs);
    let stress = |bench: &Bench| bench.meter().level_now(Level::BufferStressPermille).unwrap_or(0);
    let mut rng = Rng::new(1, Purpose::Workload);
    let mut page = || 4 + u64::from(rng.below(36));
    while stress(&bench) == 0 {
        bench.write(&[page()]);
        assert!(bench.meter().host().pages[1] < 1000, "merges must come");
    }
    let moved = bench.meter().programs(Cause::Merge);
    assert!(moved > 0, "stress is what is moved below");
    let (plugged, logged) = (bench.events(Event::PlugDecisions), bench.events(Event::LogDecisions));
    let padded = bench.meter().programs(Pad);
    // The measure stands for the next eight pages at least: at most one of them leaves first.
    while bench.events(Event::LogDecisions) == logged {
        bench.write(&[page()]);
    }
    assert_eq!(bench.events(Event::PlugDecisions), plugged);
    assert_eq!(bench.meter().programs(Pad), padded, "nothing is added");
}

#[test]
fn a_block_alone_in_the_l_buffer_is_written_in_order_as_it_is() {
    let pairs = [("device.pages_per_block", "8"), L_BUFFER, FRAMES_4];
    let mut bench = behind("ideal_page", 1, &pairs);
    bench.write(&[11, 10, 8, 9]);
    let operations = bench.write(&[12]);
    let written = bench.all_at([8, 9, 10, 11]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, written, "four lack, and four may be plugged, but nothing else is here");
}

#[test]
fn pages_of_a_translation_page_leave_together() {
    // 512-byte pages hold 128 entries: pages 0 to 127 are of the first translation page.
    let device = |pages_max: &str| {
        let pairs = [("buffer.name", "map_aware"), FRAMES_4, ("map_aware.pages_max", pages_max)];
        let config = crate::common::tiny("dftl", 70, &pairs);
        Bench { device: crate::common::open("dftl", &config), config }
    };
    let mut bench = device("auto");
    bench.write(&[7, 130, 5, 140, 200]);
    let here = [5, 7, 130, 140, 200].map(|page| is_here(&bench, page));
    assert_eq!(here, [false, false, true, true, true], "the group written longest ago, whole");
    assert_eq!(bench.events(Event::BufferFlushes), 2);
    let mut bench = device("1");
    bench.write(&[7, 130, 5, 140, 200]);
    assert_eq!([5, 7].map(|page| is_here(&bench, page)), [false, true], "one at a time");
    bench.write(&[201]);
    assert_eq!([7, 130].map(|page| is_here(&bench, page)), [false, true], "the rest stays next");
}

/// Entries that leave the cached map together cost fewer map pages.
#[test]
fn leaving_by_translation_page_saves_dftl_map_writes() {
    let map_writes = |name: &str| {
        let buffer = [("buffer.name", name), ("buffer.bytes", "16KiB")];
        // A map page takes along what the cache holds for it.
        let cache = [("dftl.cmt_entries", "8"), ("dftl.batch_evict", "true")];
        let pairs = [buffer, cache].concat();
        let config = crate::common::tiny("dftl", 250, &pairs);
        let mut device = crate::common::open("dftl", &config);
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..6000 {
            let page = u64::from(rng.below(1000));
            crate::common::submit(device.as_mut(), &config, Op::Write, page);
        }
        device.board().meter().programs(Cause::Translate)
    };
    let (plain, aware) = (map_writes("lru"), map_writes("map_aware"));
    assert!(2 * aware < plain, "{aware} map writes instead of {plain}");
}
