//! Lines per second of the whole reading pipeline, per format and compression, with a checksum.
//!
//! `cargo bench -p ftlab-trace` measures two million lines; without `--bench` (as under
//! `cargo test --benches`) a few thousand are read, so that the benchmark itself stays tested.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use ftlab_trace::{Options, Workload};

const LINES_MEASURED: u64 = 2_000_000;
const LINES_TESTED: u64 = 5_000;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let lines = if measured { LINES_MEASURED } else { LINES_TESTED };
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("{:<12}{:>14}{:>12}  checksum", "input", "lines/s", "MB/s");
    for (name, line) in
        [("msr", msr as fn(&mut String, u64)), ("spc", spc), ("ssdsim", ssdsim), ("csv", csv)]
    {
        let mut text = if name == "csv" { csv_header() } else { String::new() };
        for number in 0..lines {
            line(&mut text, number);
        }
        let path = folder.path().join(name);
        std::fs::write(&path, &text).expect("a temporary file");
        read(name, &path, lines, text.len());
        if name == "msr" {
            let compact = folder.path().join("msr.ftb");
            let workload = Workload::parse(&path.display().to_string(), &Options::default(), 0);
            ftlab_trace::convert(&workload.expect("the format is recognised"), &compact)
                .expect("the folder is new");
            read("compact", &compact, lines, (lines * 28) as usize);
            let path = folder.path().join("msr.gz");
            compress(&path, text.as_bytes());
            read("msr (gzip)", &path, lines, text.len());
        }
    }
}

fn read(name: &str, path: &Path, lines: u64, bytes: usize) {
    let start = Instant::now();
    let workload = Workload::parse(&path.display().to_string(), &Options::default(), 0)
        .expect("the format is recognised");
    let mut checksum = 0u64;
    let mut requests = 0u64;
    for record in workload.records().expect("the file is there") {
        let record = record.expect("every line is legal");
        checksum = checksum
            .rotate_left(7)
            .wrapping_add(record.time_ns ^ record.offset_bytes ^ record.size_bytes << 32)
            .wrapping_add(record.op as u64);
        requests += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(requests, lines, "{name}: every line is a request");
    let rate = lines as f64 / seconds;
    println!("{name:<12}{rate:>14.0}{:>12.0}  {checksum:016x}", bytes as f64 / seconds / 1e6);
}

/// A number that looks random and depends on nothing but the line.
fn noise(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn msr(text: &mut String, number: u64) {
    let op = if noise(number) & 3 == 0 { "Read" } else { "Write" };
    let time = 128_166_385_365_934_025 + number * 12_345;
    let (offset, size) = (noise(number) % (1 << 25) * 4096, (noise(number) % 16 + 1) * 4096);
    writeln!(text, "{time},web,0,{op},{offset},{size},{}", noise(number) % 100_000).expect("text");
}

fn spc(text: &mut String, number: u64) {
    let (lba, size) = (noise(number) % (1 << 25), (noise(number) % 16 + 1) * 512);
    let micros = number * 731;
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    writeln!(text, "{},{lba},{size},w,{whole}.{part:06}", number % 5).expect("text");
}

fn ssdsim(text: &mut String, number: u64) {
    let (lba, size) = (noise(number) % (1 << 25) * 16, (noise(number) % 16 + 1) * 16);
    writeln!(text, "{} 0 {lba} {size} {}", number * 2_400_000, number % 2).expect("text");
}

fn csv_header() -> String {
    "time_us,op,offset_bytes,size_bytes\n".into()
}

fn csv(text: &mut String, number: u64) {
    let offset = noise(number) % (1 << 25) * 4096;
    writeln!(text, "{}.5,write,{offset},4096", number * 100).expect("text");
}

fn compress(path: &Path, text: &[u8]) {
    let file = std::fs::File::create(path).expect("a temporary file");
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(text).and_then(|()| out.finish().map(drop)).expect("compression");
}
