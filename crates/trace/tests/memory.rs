//! Memory does not grow with the length of a trace: ten times the requests on the same pages take
//! the same bytes at their peak, read and inspected, as text, compressed and in the compact form.
#![allow(unsafe_code, reason = "counting allocations needs a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ftlab_trace::{InspectionOptions, Options, Workload, convert, inspect};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that `work` holds at most beyond what was held before it.
fn peak_of(work: impl FnOnce()) -> usize {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

fn read(path: &str, requests: u64) {
    let workload = Workload::parse(path, &Options::default(), 0).unwrap();
    let read = workload.records().unwrap().map(Result::unwrap).count();
    assert_eq!(read as u64, requests);
}

/// MSR text of so many requests, 100 us apart, on 4,096 pages.
fn msr(requests: u64) -> String {
    let mut text = String::new();
    for number in 0..requests {
        let time = 128_166_385_365_934_025 + number * 1_000;
        let page = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        let op = if number % 3 == 0 { "Read" } else { "Write" };
        writeln!(text, "{time},web,0,{op},{},4096,{}", page * 4096, 100 + number % 900).unwrap();
    }
    text
}

/// Peaks of reading the text, the text compressed and the compact form, and of inspecting the text.
fn peaks(folder: &Path, requests: u64) -> [usize; 4] {
    let path = |suffix: &str| folder.join(format!("{requests}{suffix}"));
    let shown = |suffix: &str| path(suffix).display().to_string();
    let text = msr(requests);
    std::fs::write(path(".csv"), &text).unwrap();
    let file = std::fs::File::create(path(".gz")).unwrap();
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap();
    drop(text);
    let workload = Workload::parse(&shown(".csv"), &Options::default(), 0).unwrap();
    convert(&workload, &path(".ftb")).unwrap();
    drop(workload);
    let inspected = peak_of(|| {
        let settings = InspectionOptions::default();
        let found = inspect(&shown(".csv"), &Options::default(), 0, &settings).unwrap();
        assert_eq!((found.requests, found.footprint_pages), (requests, 4096));
    });
    let read = |suffix: &str| peak_of(|| read(&shown(suffix), requests));
    [read(".csv"), read(".gz"), read(".ftb"), inspected]
}

// One test only: another one would allocate at the same time.
#[test]
#[allow(clippy::print_stderr, reason = "the peaks, for who looks")]
fn ten_times_the_requests_take_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    let short = peaks(folder.path(), 60_000);
    let long = peaks(folder.path(), 600_000);
    for (what, (short, long)) in
        ["text", "gzip", "compact", "inspection"].iter().zip(short.into_iter().zip(long))
    {
        eprintln!("{what:12} {short:>9} bytes at most, of ten times the requests {long:>9}");
        // Points of a curve and names of files differ by a few bytes; a byte a request would be
        // half a megabyte.
        assert!(long <= short + (16 << 10), "{what}: {short} bytes, then {long}");
        assert!(short < 8 << 20, "{what}: {short} bytes");
    }
}
