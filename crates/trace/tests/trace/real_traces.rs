//! Prefixes of published traces give exactly the counts that `awk` finds in them.

use crate::common::{inspect, real_trace};
use ftlab_trace::{Options, SizeUnit, TimeUnit, UnitSelection};

/// One file and what independent commands say about it.
struct Expected {
    file: &'static str,
    options: Options,
    format: &'static str,
    requests: u64,
    reads: u64,
    bytes: u64,
    units: usize,
    span_ns: u64,
}

fn expected(file: &'static str, format: &'static str) -> Expected {
    let options = Options::default();
    Expected { file, options, format, requests: 0, reads: 0, bytes: 0, units: 1, span_ns: 0 }
}

fn check(expected: &Expected) {
    let Some(path) = real_trace(expected.file) else {
        return;
    };
    let found = inspect(&path, &expected.options).unwrap();
    assert_eq!(found.format, expected.format, "{}", expected.file);
    assert_eq!(found.requests, expected.requests, "{}", expected.file);
    assert_eq!(found.reads, expected.reads, "{}", expected.file);
    assert_eq!(found.writes, expected.requests - expected.reads, "{}", expected.file);
    assert_eq!(found.bytes_read + found.bytes_written, expected.bytes, "{}", expected.file);
    assert_eq!(found.units.len(), expected.units, "{}", expected.file);
    assert_eq!(found.span_ns, expected.span_ns, "{}", expected.file);
    assert_eq!((found.out_of_order_lines, found.dropped.len()), (0, 0), "{}", expected.file);
}

#[test]
fn financial1_first_1000_spc_is_counted_exactly() {
    check(&Expected {
        requests: 949,
        reads: 183,
        bytes: 2_570_752,
        units: 16,
        span_ns: 28_442_623_000,
        ..expected("financial1-first-1000.spc", "spc")
    });
}

#[test]
fn financial1_first_10000_ssdsim_is_counted_exactly() {
    check(&Expected {
        requests: 10_000,
        reads: 4_077,
        bytes: 55_279_104,
        units: 22,
        span_ns: 259_601_203_125,
        ..expected("financial1-first-10000.ssdsim", "ssdsim")
    });
}

#[test]
fn tpcc_small_mqsim_is_counted_exactly() {
    check(&Expected {
        requests: 6_999,
        reads: 4_381,
        bytes: 59_718_656,
        units: 16,
        span_ns: 136_489_000,
        ..expected("tpcc-small.mqsim", "ssdsim")
    });
}

#[test]
fn wsrch_small_mqsim_is_counted_exactly() {
    check(&Expected {
        requests: 24_783,
        reads: 24_779,
        bytes: 382_117_888,
        units: 6,
        span_ns: 60_055_212_000,
        ..expected("wsrch-small.mqsim", "ssdsim")
    });
}

#[test]
fn websearch1_first_50000_disksim_is_counted_exactly() {
    check(&Expected {
        requests: 50_000,
        reads: 49_990,
        bytes: 775_356_416,
        units: 1,
        span_ns: 128_660_993_000,
        ..expected("websearch1-first-50000.disksim", "disksim")
    });
}

#[test]
fn financial1_first_50000_disksim_is_counted_exactly() {
    check(&Expected {
        options: Options { size_unit: Some(SizeUnit::Pages4k), ..Options::default() },
        requests: 50_000,
        reads: 29_199,
        bytes: 358_096_896,
        units: 1,
        span_ns: 853_403_229_000,
        ..expected("financial1-first-50000.disksim", "disksim")
    });
}

#[test]
fn msr_hm_0_1000_csv_is_counted_exactly() {
    check(&Expected {
        requests: 1_000,
        reads: 508,
        bytes: 9_689_600,
        units: 1,
        span_ns: 127_233_494_100,
        ..expected("msr-hm_0-1000.csv", "msr")
    });
}

#[test]
fn msr_web_1_first_100000_csv_gz_is_counted_exactly() {
    check(&Expected {
        requests: 100_000,
        reads: 61_553,
        bytes: 2_499_540_480,
        units: 1,
        span_ns: 13_818_221_385_300,
        ..expected("msr-web_1-first-100000.csv.gz", "msr")
    });
}

/// Counted over the records by a few lines of Python; the disk has 1,309,896 sectors of 256 bytes.
#[test]
fn hpl_ajw_1week_srt_gz_is_counted_exactly() {
    let Some(path) = real_trace("hpl-ajw-1week.srt.gz") else {
        return;
    };
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!((found.format.as_str(), found.requests, found.reads), ("srt", 44_519, 13_040));
    let ends: Vec<_> = found.units.iter().map(|unit| (unit.unit, unit.end_bytes)).collect();
    let units = [0x7_0000, 0x8_0000, 0x8_0001];
    assert!(ends.iter().map(|(unit, _)| *unit).eq(units), "{ends:?}");
    assert!(ends[1].1 <= 1_309_896 * 256, "{ends:?}");
}

#[test]
fn one_capture_in_two_formats_gives_the_same_requests() {
    // The DiskSim file lost its device column and rounded sizes to pages; time, order and
    // operation of the requests of both must agree line by line.
    let (Some(pages), Some(sectors)) =
        (real_trace("websearch1-first-50000.disksim"), real_trace("wsrch-small.mqsim"))
    else {
        return;
    };
    let read = |path: &str| crate::common::read_all(path, &Options::default()).unwrap();
    let (pages, sectors) = (read(&pages), read(&sectors));
    assert!(sectors.len() > 20_000);
    for (page, sector) in pages.iter().zip(&sectors) {
        assert_eq!((page.time_ns, page.op), (sector.time_ns, sector.op));
        assert!(page.size_bytes.abs_diff(sector.size_bytes) < 4096);
    }
}

#[test]
fn a_disksim_file_with_sizes_in_pages_demands_the_unit() {
    let Some(path) = real_trace("financial1-first-50000.disksim") else {
        return;
    };
    let error = inspect(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("--size-unit sectors (mean request 559 B"), "{error}");
    assert!(error.contains("--size-unit pages4k (mean request 4.37 KiB"), "{error}");
    let also_with_the_format_stated = inspect(&path, &crate::common::format("disksim"));
    assert!(also_with_the_format_stated.is_err());
}

/// Its first thousand addresses are all multiples of 8, so that it was taken for pages of 4 KiB and
/// read eight times as much. In all of it 3,808 requests begin where the one before ended, as
/// sectors; as pages 4 do.
#[test]
fn dtrs_first_20000_disksim_gz_is_read_in_sectors() {
    check(&Expected {
        requests: 20_000,
        reads: 19_465,
        bytes: 2_069_061 * 512,
        span_ns: 5_247_802_400_000,
        ..expected("dtrs-first-20000.disksim.gz", "ssdsim")
    });
}

#[test]
fn one_unit_keeps_its_addresses_and_several_lie_side_by_side() {
    let Some(path) = real_trace("financial1-first-10000.ssdsim") else {
        return;
    };
    let only = |units: &str| {
        let options = Options { units: units.parse().unwrap(), ..Options::default() };
        inspect(&path, &options).unwrap()
    };
    let (zero, one, both) = (only("0"), only("1"), only("0,1"));
    assert_eq!(both.requests, zero.requests + one.requests);
    let side_by_side =
        zero.units[0].end_bytes.next_multiple_of(1 << 20) + one.strict_capacity_bytes;
    assert_eq!(both.strict_capacity_bytes, side_by_side);
    assert_eq!(both.footprint_pages, zero.footprint_pages + one.footprint_pages);
    assert_eq!(both.dropped[0].lines + both.requests, 10_000);
    assert_eq!("0,1".parse::<UnitSelection>().unwrap(), UnitSelection::Only(vec![0, 1]));
}

#[test]
fn what_is_no_trace_of_a_known_format_is_refused_with_its_first_line() {
    let Some(path) = real_trace("README.md") else {
        return;
    };
    let error = inspect(&path, &Options::default()).unwrap_err();
    assert_eq!(error.file(), Some(&*path), "{error}");
    assert!(error.legal().is_some_and(|legal| legal.contains("blkparse: ")), "{error}");
}

#[test]
fn a_head_is_a_prefix_and_says_so() {
    let Some(path) = real_trace("msr-web_1-first-100000.csv.gz") else {
        return;
    };
    let options = Options { head: Some(1234), ..Options::default() };
    let found = inspect(&path, &options).unwrap();
    assert_eq!((found.requests, found.prefix), (1234, true));
    assert_eq!(found.compression, "gzip");
}

#[test]
fn stated_units_override_what_is_shared() {
    let Some(path) = real_trace("financial1-first-50000.disksim") else {
        return;
    };
    let options = Options {
        size_unit: Some(SizeUnit::Pages4k),
        time_unit: Some(TimeUnit::Microseconds),
        ..Options::default()
    };
    let found = inspect(&path, &options).unwrap();
    assert_eq!(found.time_unit, "us");
    assert_eq!(found.span_ns, 853_403_229, "853429.443 - 26.214 us");
}
