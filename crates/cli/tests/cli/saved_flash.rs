//! Snapshots: what one run left on the flash is what the next one starts from.

use crate::common::{Bench, schemes};
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --capacity 2MiB --set device.over_provisioning=0.5";
const WRITES: &str = "--workload randwrite:bs=2k,span=100%,count=2x,seed=5";
const READS: &str = "--workload read:bs=2k,span=100%,count=1x --verify";

/// Every scheme: half of the device written in order, all of it at random, then saved. The next run
/// reads every page back in the version that was saved, its caches cold.
#[test]
fn every_page_reads_back_under_every_scheme() {
    let bench = Bench::new();
    for scheme in schemes() {
        let line = format!("--scheme {scheme} {DEVICE}");
        let saved = bench
            .run(&format!("{line} {WRITES} --precondition fill --save-snapshot {scheme}.snapshot"));
        let mode = format!("--precondition snapshot:{scheme}.snapshot");
        let run = bench.run(&format!("{line} {READS} {mode}"));
        assert_eq!(run["verified_reads"], 1024, "{scheme}");
        assert!(run["events"].get("unwritten_reads").is_none(), "{scheme}: {run:#}");
        let said = run["precondition"]["mode"].as_str().unwrap();
        assert!(said.starts_with(&format!("snapshot:{scheme}.snapshot (sha256 ")), "{said}");
        let held = match scheme {
            "hat" | "ca_ssd" => "flash and memory that outlives the power",
            _ => "flash",
        };
        let ends = format!(", {held}, rebuilt by recovery)");
        assert!(said.ends_with(&ends), "{said}");
        assert_eq!(run["precondition"]["cache"], "cold", "{scheme}");
        assert_eq!(run["precondition"]["pages_written"], 0);
        // Going on costs about what it cost before.
        let more = bench.run(&format!("{line} {WRITES} --verify {mode}"));
        let waf = |run: &Value| run["waf"].as_f64().unwrap();
        let ratio = waf(&more) / waf(&saved);
        assert!((0.5..1.6).contains(&ratio), "{scheme}: {} after {}", waf(&more), waf(&saved));
    }
}

/// Buffers, sector masks, several planes, dead blocks and trims: what was acknowledged is there.
#[test]
fn settings_that_change_what_lies_on_the_flash_come_back_too() {
    let bench = Bench::new();
    for (number, options) in [
        "--scheme dftl --set dftl.cmt_entries=64 --set io.partial_write=rmw",
        "--scheme ideal_page --buffer lru --set buffer.bytes=64KiB",
        "--scheme fast --set device.channels=2 --set device.planes=2",
        "--scheme dftl --set nand.factory_bad_rate=0.05 --set nand.program_failure_rate=0.0002",
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("{options} {DEVICE}");
        let work = "--workload randwrite:bs=1k,span=100%,count=4000,seed=5 --precondition fill";
        bench.run(&format!("{line} {work} --save-snapshot {number}"));
        let run = bench.run(&format!("{line} {READS} --precondition snapshot:{number}"));
        assert_eq!(run["verified_reads"], 1024, "{options}");
    }
}

/// What the flash holds does not depend on how much memory looks at it, nor on when blocks die. A
/// buffer's pages are flushed before, and a cache begins cold.
#[test]
fn another_size_of_memory_or_another_endurance_reads_the_same_flash() {
    let bench = Bench::new();
    for scheme in ["dftl", "cdftl", "hat", "treeftl"] {
        let line = format!("--scheme {scheme} {DEVICE}");
        let saved = format!("{line} --ram 64KiB {WRITES} --precondition fill");
        bench.run(&format!("{saved} --save-snapshot {scheme}.snapshot"));
        for other in ["--ram 32KiB", "--ram 256KiB", "--set device.endurance_cycles=500"] {
            let mode = format!("--precondition snapshot:{scheme}.snapshot");
            let run = bench.run(&format!("{line} {other} {READS} {mode}"));
            assert_eq!(run["verified_reads"], 1024, "{scheme} {other}");
        }
    }
}

/// The file's name is taken while the run goes on: the run is not lost with its snapshot.
#[cfg(unix)]
#[test]
fn a_snapshot_that_cannot_be_saved_leaves_the_result() {
    let bench = Bench::new();
    let line = format!("run --scheme ideal_page {DEVICE} {WRITES} --json r.json");
    let folder = bench.path("lost");
    std::fs::create_dir(&folder).unwrap();
    let ended = bench.ftlab_meanwhile(&format!("{line} --save-snapshot lost/s"), || {
        // The unfinished file is there from the start on; without its folder it has no place.
        while std::fs::read_dir(&folder).unwrap().count() == 0 {
            std::thread::yield_now();
        }
        std::fs::remove_dir_all(&folder).unwrap();
    });
    assert_eq!(ended.code, 1, "{}", ended.err);
    for words in ["no snapshot was saved", "lost/s", "the result above is complete, and so is"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert!(ended.out.contains("ideal_page"), "{}", ended.out);
    assert_eq!(bench.json("r.json")["scheme"], "ideal_page");
}

#[test]
fn another_device_or_scheme_is_refused_with_the_key_that_differs() {
    let bench = Bench::new();
    bench.run(&format!("--scheme dftl {DEVICE} {WRITES} --save-snapshot s"));
    let refused = |line: &str, words: &[&str]| {
        let line = format!("run {line} {READS} --precondition snapshot:s");
        bench.ftlab(&line).refused(2, words);
    };
    refused(
        &format!("--scheme dftl {}", DEVICE.replace("2MiB", "4MiB")),
        &["does not fit dftl", "device.logical_bytes was 2097152, this run has 4194304"],
    );
    refused(&format!("--scheme fast {DEVICE}"), &["the flash of dftl"]);
    refused(
        &format!("--scheme dftl {DEVICE} --set dftl.cmt_entries=64"),
        &["dftl.cmt_entries was auto, this run has 64"],
    );
    refused(&format!("--scheme dftl {DEVICE} --set device.ram_nonvolatile=true"), &["memory"]);
    let kept = format!("run --scheme dftl {DEVICE} {WRITES} --set device.ram_nonvolatile=true");
    bench.ftlab(&format!("{kept} --save-snapshot t")).refused(2, &["--save-snapshot"]);
    // A directory that only memory had cannot come back from flash.
    let gtd = format!("--scheme dftl:gtd {DEVICE}");
    bench.run(&format!("{gtd} {WRITES} --save-snapshot g"));
    let line = format!("run {gtd} {READS} --precondition snapshot:g");
    bench.ftlab(&line).refused(1, &["did not find every page", "dftl.consistency"]);
    // Nothing is overwritten, and nothing unfinished is left behind.
    let again = format!("run --scheme dftl {DEVICE} {WRITES} --save-snapshot s");
    bench.ftlab(&again).refused(2, &["s exists", "nothing is overwritten"]);
    assert!(bench.entries().iter().all(|name| !name.starts_with('.')), "{:?}", bench.entries());
}

/// Cut short at any length, changed in any byte, lengthened, empty, or something else.
#[test]
fn broken_and_foreign_files_are_refused() {
    let bench = Bench::new();
    let line = "--scheme ideal_page --device dftl2014 --capacity 256KiB";
    bench.run(&format!("{line} --workload randwrite:bs=2k,count=100 --save-snapshot s"));
    let good = std::fs::read(bench.path("s")).unwrap();
    let refused = |bytes: &[u8], words: &[&str]| {
        bench.file("broken", bytes);
        bench
            .ftlab(&format!("run {line} {READS} --precondition snapshot:broken"))
            .refused(2, &[&["snapshot:broken"], words].concat());
    };
    for length in [0, 1, 15, 16, 19] {
        refused(&good[..length], &["no snapshot of ftlab"]);
    }
    for length in (20..good.len()).step_by(good.len() / 12).chain([good.len() - 1]) {
        refused(&good[..length], &["damaged or cut short"]);
    }
    for place in (16..good.len()).step_by(good.len() / 16).chain([17, 19, good.len() - 1]) {
        let mut bytes = good.clone();
        bytes[place] ^= 0x10;
        refused(&bytes, &["damaged or cut short"]);
    }
    refused(&[&good[..], b"x"].concat(), &["damaged or cut short"]);
    refused(b"time_us,op,offset_bytes,size_bytes\n0,W,0,2048\n", &["no snapshot of ftlab"]);
    let absent = format!("run {line} {READS} --precondition snapshot:absent");
    bench.ftlab(&absent).refused(2, &["snapshot:absent", "cannot be read"]);
    bench.file("s", &good);
    bench.run(&format!("{line} {READS} --precondition snapshot:s"));
}
