//! What an inspection says about traces small enough to count by hand, and about real ones that
//! were counted independently.

use std::collections::BTreeSet;

use crate::common::{Files, inspect, real_trace};
use ftlab_trace::inspect::{MissCurve, SEQUENTIAL, SizeClass};
use ftlab_trace::{Inspection, InspectionOptions, Options};

/// Our CSV: time in microseconds, op, offset and size in bytes.
fn csv(rows: &[(u64, &str, u64, u64)]) -> String {
    let mut text = "time_us,op,offset_bytes,size_bytes\n".to_owned();
    for (time, op, offset, size) in rows {
        text += &format!("{time},{op},{offset},{size}\n");
    }
    text
}

fn of_csv(rows: &[(u64, &str, u64, u64)], settings: &InspectionOptions) -> Inspection {
    let files = Files::new();
    let path = files.write("t.csv", csv(rows));
    ftlab_trace::inspect(&path, &Options::default(), 0, settings).unwrap()
}

#[test]
fn sizes_fall_into_their_classes() {
    let kib = |n: u64| n << 10;
    let found = of_csv(
        &[
            (0, "read", 0, 512),
            (1, "write", 0, kib(4)),
            (2, "write", 0, kib(4) + 512),
            (3, "read", 0, kib(16) - 512),
            (4, "write", 0, kib(16)),
            (5, "trim", 0, kib(64)),
        ],
        &InspectionOptions::default(),
    );
    let class = |name: &str, limits: (u64, Option<u64>), counts: (u64, u64), shares: (f64, f64)| {
        SizeClass {
            class: name.into(),
            bytes_min: limits.0,
            bytes_max: limits.1,
            reads: counts.0,
            writes: counts.1,
            share: shares.0,
            share_of_writes: shares.1,
        }
    };
    assert_eq!(
        found.size_classes,
        [
            class("small", (1, Some(4096)), (1, 1), (0.4, 1.0 / 3.0)),
            class("medium", (4097, Some(16_383)), (1, 1), (0.4, 1.0 / 3.0)),
            class("large", (16_384, None), (0, 1), (0.2, 1.0 / 3.0)),
        ]
    );
    assert_eq!(found.read_ratio, 0.4);
}

#[test]
fn sequential_means_starting_where_the_one_before_ended() {
    let found = of_csv(
        &[
            (0, "write", 0, 4096),
            (1, "read", 4096, 4096),
            (2, "write", 8192, 512),
            (3, "write", 8192, 512),
            (4, "flush", 0, 0),
            (5, "trim", 8704, 512),
        ],
        &InspectionOptions::default(),
    );
    assert_eq!(found.sequentiality, 3.0 / 5.0);
    assert_eq!(found.sequentiality_definition, SEQUENTIAL);
    assert!(found.to_string().contains(&format!("60.00 %: {SEQUENTIAL}")));
}

/// Pages of 4 KiB: 0 1 | 1 | 0 | 5 6 7 | 1, and a trim that counts for nothing.
#[test]
fn reuse_of_a_trace_of_nine_page_accesses() {
    let page = |n: u64| n * 4096;
    let rows = [
        (0, "write", page(0), 2 * 4096),
        (10, "read", page(1) + 512, 512),
        (20, "write", page(0) + 512, 1024),
        (20, "read", page(5) + 4095 / 512 * 512, 2 * 4096),
        (30, "trim", page(0), 100 * 4096),
        (50, "write", page(1), 4096),
    ];
    let mut settings = InspectionOptions { map_entries: 2, ..InspectionOptions::default() };
    settings.cache_entries = vec![4];
    settings.cache_pages = vec![3];
    let found = of_csv(&rows, &settings);
    assert_eq!((found.footprint_pages, found.written_footprint_pages), (5, 2));

    // Positions: 0 - 1 - 1:1 0:2 5 - 6 - 7 - 1:5.
    let entries = &found.map_cache.entries;
    assert_eq!((entries.lookups, entries.compulsory_misses), (8, 5));
    let misses = |curve: &MissCurve, sizes: &[u64]| -> Vec<Option<u64>> {
        sizes.iter().map(|size| curve.misses_at(*size)).collect()
    };
    assert_eq!(entries.sizes, [1, 2, 3, 4, 5, 5000]);
    assert_eq!(misses(entries, &[1, 2, 3, 4, 5]), [7, 6, 6, 6, 5].map(Some));
    // Map pages of 4 KiB with two entries each: 2 KiB an entry.
    assert_eq!(found.map_cache.entry_bytes, 2048.0);
    let bytes = |curve: &MissCurve| curve.sizes_for_hits.last().unwrap().size_bytes;
    assert_eq!(bytes(entries), 5 * 2048);
    assert_eq!(bytes(&found.map_cache.translation_pages), 3 * 4096);
    assert_eq!(found.lru_stack.positions, entries.sizes);
    assert_eq!(found.lru_stack.shares_of_accesses[1], 0.25);

    // Map pages of two entries: 0 0:1 0:1 0:1 2 3 3:1 0:3.
    let pages = &found.map_cache.translation_pages;
    assert_eq!((found.map_cache.entries_per_page, pages.compulsory_misses), (2, 3));
    assert_eq!(misses(pages, &[1, 2, 3]), [4, 4, 3].map(Some));

    let updates = &found.update_frequency;
    assert_eq!((updates.written_pages, updates.page_writes, updates.rewritten_pages), (2, 4, 2));
    let gaps = &found.interarrival;
    assert_eq!((gaps.gaps, gaps.zero_gaps, gaps.max_ns), (5, 1, 20_000));
    let last = found.footprint_over_time.last().unwrap();
    assert_eq!((last.requests, last.time_ns, last.footprint_pages), (6, 50_000, 5));
    let growth: Vec<u64> = found.footprint_over_time.iter().map(|p| p.footprint_pages).collect();
    assert_eq!(growth, [2, 2, 2, 5, 5, 5]);
}

#[test]
fn a_request_that_spans_map_pages_looks_each_of_them_up() {
    let settings = InspectionOptions { map_entries: 3, ..InspectionOptions::default() };
    let rows = [(0, "write", 2 * 4096, 5 * 4096), (1, "read", 5 * 4096, 4096)];
    let pages = of_csv(&rows, &settings).map_cache.translation_pages;
    // Pages 2 | 3 4 5 | 6, then 5: map pages 0, 1 1 1, 2, 1.
    assert_eq!((pages.lookups, pages.compulsory_misses), (6, 3));
    assert_eq!((pages.misses_at(1), pages.misses_at(2)), (Some(4), Some(3)));
}

#[test]
fn units_do_not_share_pages() {
    let files = Files::new();
    let lines = "0,0,4096,w,0.0\n1,0,4096,w,0.1\n0,0,4096,r,0.2\n";
    let found = inspect(&files.write("t.spc", lines), &Options::default()).unwrap();
    assert_eq!((found.footprint_pages, found.map_cache.entries.misses_at(1)), (2, Some(3)));
    assert_eq!(found.map_cache.translation_pages.compulsory_misses, 2);
}

/// A row per unit: what came to it, where, when and how often.
#[test]
fn units_are_told_one_by_one() {
    let files = Files::new();
    let lines = "3,0,4096,w,0.0\n1,8,8192,r,0.5\n3,8,512,r,1.0\n3,0,512,w,2.0\n";
    let found = inspect(&files.write("t.spc", lines), &Options::default()).unwrap();
    let [one, three] = &found.units[..] else { panic!("{:?}", found.units) };
    assert_eq!((one.unit, three.unit), (1, 3));
    assert_eq!((one.requests, one.reads, one.writes, one.read_ratio), (1, 1, 0, 1.0));
    assert_eq!((one.bytes_read, one.bytes_written, one.end_bytes), (8192, 0, 12_288));
    assert_eq!((one.footprint_pages, one.written_footprint_pages), (2, 0));
    assert_eq!((one.first_ns, one.last_ns, one.iops), (500_000_000, 500_000_000, Some(0.5)));
    assert_eq!((three.requests, three.reads, three.writes), (3, 1, 2));
    assert_eq!((three.bytes_read, three.bytes_written), (512, 4608));
    assert_eq!((three.footprint_pages, three.written_footprint_pages), (2, 1));
    assert_eq!((three.first_ns, three.last_ns, three.iops), (0, 2_000_000_000, Some(1.5)));
}

/// Sums over windows, cells, bins and units are those of the whole trace.
#[test]
fn what_is_counted_in_parts_adds_up_to_the_whole() {
    let spec = "randrw:rwmixread=40,bssplit=2k/30:4k/40:48k/30,span=64M,count=20000,\
                rate_iops=700,rate_process=poisson,seed=5";
    let found = inspect(spec, &Options::default()).unwrap();
    let (load, cells) = (&found.load_over_time, &found.addresses_over_time);
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let wanted = (found.reads, found.writes);
    assert_eq!((sum(&load.reads), sum(&load.writes)), wanted);
    assert_eq!((sum(&cells.reads), sum(&cells.writes)), wanted);
    let bins = found.size_bins.iter();
    let of_bins =
        bins.fold((0, 0), |(reads, writes), bin| (reads + bin.reads, writes + bin.writes));
    assert_eq!(of_bins, wanted);
    let bytes = (found.bytes_read, found.bytes_written);
    assert_eq!((sum(&load.bytes_read), sum(&load.bytes_written)), bytes);
    let unit = found.units[0];
    assert_eq!((found.units.len(), unit.reads, unit.bytes_written), (1, wanted.0, bytes.1));
    assert_eq!(unit.footprint_pages, found.footprint_pages);
    assert_eq!(unit.written_footprint_pages, found.written_footprint_pages);
    let sizes: Vec<u64> = found.size_bins.iter().map(|bin| bin.bytes_to).collect();
    assert_eq!(sizes, [2048, 4096, 65_536]);
    let most = found.sizes.common[0];
    assert_eq!((most.bytes, most.requests), (4096, most.reads + most.writes));
    let rate = load.iops_mean.unwrap();
    assert!((600.0..800.0).contains(&rate) && load.iops_max.unwrap() > rate, "{rate}");
}

#[test]
fn nothing_but_flushes_and_trims_has_no_reuse() {
    let settings = InspectionOptions::default();
    let found = of_csv(&[(0, "flush", 0, 0), (1, "trim", 0, 4096)], &settings);
    assert_eq!((found.footprint_pages, found.lru_stack.page_accesses), (0, 0));
    assert!(found.map_cache.entries.sizes_for_hits.is_empty());
    let text = found.to_string();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

/// One pass in order uses no entry twice, but every map page.
#[test]
fn sizes_of_map_pages_are_shown_where_no_entry_is_hit_again() {
    let spec = "read:bs=4k,span=4M,count=1000";
    let text = inspect(spec, &Options::default()).unwrap().to_string();
    let row = text.lines().find(|line| line.starts_with("  for 50 % of hits"));
    let row = row.unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("none is hit again") && row.contains("1 map page ("), "{text}");
}

#[test]
fn a_footprint_beyond_all_memory_is_refused_with_its_line() {
    let files = Files::new();
    let path = files.write("t.csv", csv(&[(0, "read", 0, 512), (1, "read", 0, 1 << 40)]));
    let tiny = InspectionOptions::of_pages(512, 256 << 10);
    let error = ftlab_trace::inspect(&path, &Options::default(), 0, &tiny).unwrap_err();
    assert_eq!(error.line(), Some(3), "{error}");
    assert!(error.to_string().contains("--page-size"), "{error}");
}

/// Of two wrong records the first is told, however far apart they are.
#[test]
fn the_first_of_two_wrong_records_is_told() {
    let settings = InspectionOptions::of_pages(512, 1 << 20);
    // So far apart in time and number that they are not put in order together.
    for between in [20, 62, 63, 64, 98, 126, 127, 128, 300] {
        // The first lines are looked at before, to find out the format.
        let row = |turn: u64| match turn {
            5000 => (turn * 60_000_000, "read", 0, 1 << 40),
            _ if turn == 5001 + between => (turn * 60_000_000, "raed", 0, 4096),
            _ => (turn * 60_000_000, "read", 0, 4096),
        };
        let rows: Vec<_> = (0..=5001 + between).map(row).collect();
        let files = Files::new();
        let path = files.write("t.csv", csv(&rows));
        let told = ftlab_trace::inspect(&path, &Options::default(), 0, &settings).unwrap_err();
        assert_eq!(told.line(), Some(5002), "{between}: {told}");
    }
}

/// Five thousand requests of two units, many times what is looked at together, with pages that come
/// back soon, late and never: against sets and a list.
#[test]
fn long_traces_are_counted_as_by_sets_and_a_list() {
    let mut text = String::new();
    let mut stack: Vec<(u64, u64)> = Vec::new();
    let (mut written, mut positions, mut compulsory) = (BTreeSet::new(), Vec::new(), 0);
    let mut state = 1u64;
    for turn in 0..5000u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = state >> 33;
        let unit = random % 2;
        // Around the borders of what a table of pages may hold together, far away, and anywhere.
        let first = match random % 5 {
            0 => 255 + turn % 3,
            1 => (1 << 30) + random % 40,
            2 => 16 * (random % 20) + 15,
            _ => random % 3000,
        };
        let pages = 1 + random / 7 % 3;
        let op = if (random / 11).is_multiple_of(3) { 'w' } else { 'r' };
        text += &format!("{unit},{},{},{op},{turn}.5\n", 8 * first, 4096 * pages);
        for page in first..first + pages {
            let key = (unit, page);
            if op == 'w' {
                written.insert(key);
            }
            match stack.iter().rposition(|known| *known == key) {
                Some(place) => {
                    positions.push((stack.len() - place) as u64);
                    stack.remove(place);
                }
                None => compulsory += 1,
            }
            stack.push(key);
        }
    }
    let sizes = [3, 64, 700];
    let mut settings = InspectionOptions::of_pages(4096, 1 << 20);
    settings.cache_entries = sizes.to_vec();
    let files = Files::new();
    let path = files.write("t.spc", text);
    let found = ftlab_trace::inspect(&path, &Options::default(), 0, &settings).unwrap();
    assert_eq!(found.footprint_pages, stack.len() as u64);
    assert_eq!(found.written_footprint_pages, written.len() as u64);
    let curve = &found.map_cache.entries;
    assert_eq!(curve.compulsory_misses, compulsory);
    assert_eq!(curve.lookups, compulsory + positions.len() as u64);
    for size in sizes {
        let late = positions.iter().filter(|position| **position > size).count() as u64;
        let place = curve.sizes.iter().position(|known| *known == size).expect("asked for");
        assert_eq!(curve.misses[place], compulsory + late, "{size} entries");
    }
}

#[test]
fn the_text_is_short_and_in_order() {
    let spec = "randrw:rwmixread=40,bs=4k,span=4M,count=3000,rate_iops=500,seed=2";
    let text = inspect(spec, &Options::default()).unwrap().to_string();
    assert!(text.lines().count() < 50, "{text}");
    let labels = ["requests", "size classes", "interarrival", "footprint", "updates", "map cache"];
    let places: Vec<usize> = labels
        .iter()
        .map(|label| text.lines().position(|line| line.starts_with(label)).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
}

/// File, requests by class of size, page accesses, first touches, and those within 5000 and within
/// 100 positions.
type Counted = (&'static str, [u64; 3], u64, u64, u64, u64);

/// Counted by a program of its own that keeps the stack as a list.
const REAL: [Counted; 3] = [
    ("financial1-first-10000.ssdsim", [6108, 3584, 308], 22_511, 7322, 15_135, 11_217),
    ("wsrch-small.mqsim", [24, 14_890, 9869], 93_312, 93_029, 278, 0),
    ("tpcc-small.mqsim", [50, 6797, 152], 20_669, 20_470, 143, 66),
];

#[test]
fn real_traces_have_the_reuse_that_was_counted_independently() {
    for (file, classes, accesses, first, within_5000, within_100) in REAL {
        let Some(path) = real_trace(file) else { continue };
        let found = inspect(&path, &Options::default()).unwrap();
        let counts = |class: &SizeClass| class.reads + class.writes;
        let sizes: Vec<u64> = found.size_classes.iter().map(counts).collect();
        assert_eq!(sizes, classes, "{file}");
        let curve = &found.map_cache.entries;
        assert_eq!((curve.lookups, curve.compulsory_misses), (accesses, first), "{file}");
        let hits = |size: u64| curve.lookups - curve.misses_at(size).unwrap();
        assert_eq!((hits(5000), hits(100)), (within_5000, within_100), "{file}");
    }
}
