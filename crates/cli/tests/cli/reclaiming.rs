//! Why nothing was reclaimed, in words; and that what they advise does start it.

use crate::common::{Bench, schemes};
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --set device.over_provisioning=0.25";

/// The sentences about what was not reclaimed.
fn said(run: &Value) -> Option<String> {
    let all = run["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let mut about =
        all.filter(|text| text.contains("GC did not run") || text.contains("No block was merged"));
    let first = about.next().map(str::to_owned);
    assert_eq!(about.next(), None, "said once");
    first
}

/// What follows `--option ` in the advice.
fn advised(text: &str, option: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("{option} "))?;
    Some(rest.split([' ', ',', '.']).next().unwrap().to_owned())
}

/// 6 MiB of writes to a device of 8 MiB that has 10 MiB of flash. Every piece of advice, followed,
/// makes collection run.
#[test]
fn free_blocks_are_named_and_the_advice_starts_collection() {
    let bench = Bench::new();
    let work = "--workload randwrite:bs=2k,span=1MiB,count=3072,seed=3";
    for scheme in ["ideal_page", "dftl", "hat", "cdftl", "tpftl"] {
        let line = format!("--scheme {scheme} {DEVICE} --capacity 8MiB {work}");
        let run = bench.run(&line);
        let text = said(&run).unwrap_or_else(|| panic!("{scheme}: {run:#}"));
        for words in ["blocks were never written", "are free", "collection starts below"] {
            assert!(text.contains(words), "{scheme}: {text}");
        }
        let loops = advised(&text, "--loop").unwrap_or_else(|| panic!("{scheme}: {text}"));
        let mode = advised(&text, "--precondition").unwrap_or_else(|| panic!("{scheme}: {text}"));
        let mut followed =
            vec![format!("{line} --loop {loops}"), format!("{line} --precondition {mode}")];
        if let Some(capacity) = advised(&text, "--capacity") {
            followed.push(line.replace("8MiB", &capacity));
        } else {
            assert_ne!(scheme, "ideal_page", "{text}");
        }
        for line in followed {
            let again = bench.run(&line);
            assert_eq!(again["steady_state"]["gc_ran"], true, "{line}: {text}");
            assert_eq!(said(&again), None, "{line}");
        }
        let loops: u64 = loops.parse().unwrap();
        assert!(loops <= 20, "{scheme}: {text}");
    }
}

/// Under gc.mode = idle a write collects only when the last free blocks are near, whatever
/// gc.threshold says: that limit is named, and what is advised reaches it without any gap.
#[test]
fn idle_collection_is_told_the_limit_that_writes_have() {
    let bench = Bench::new();
    let line = format!(
        "--scheme ideal_page {DEVICE} --capacity 8MiB --set gc.threshold=12 --timing asap \
         --workload randwrite:bs=2k,span=1MiB,count=3072,seed=3 --set gc.mode="
    );
    let text = said(&bench.run(&format!("{line}idle"))).unwrap();
    assert!(text.contains("or earlier in idle gaps between requests (gc.mode = idle)"), "{text}");
    let both = said(&bench.run(&format!("{line}both"))).unwrap();
    assert!(both.contains("collection starts below 12.") && !text.contains("below 12"), "{text}");
    for option in ["--loop", "--precondition"] {
        let value = advised(&text, option).unwrap_or_else(|| panic!("{option}: {text}"));
        let followed = format!("{option} {value} {line}");
        let again = bench.run(&format!("{followed}idle"));
        assert_eq!(again["steady_state"]["gc_ran"], true, "{option} {value}: {text}");
    }
}

/// Four pages fit into the block that is open, however the device was prepared.
#[test]
fn no_preparation_is_promised_to_help_a_few_pages() {
    let bench = Bench::new();
    let work = "--workload randwrite:bs=2k,span=1MiB,count=4,seed=3";
    for scheme in ["ideal_page", "dftl", "fast"] {
        let line = format!("--scheme {scheme} {DEVICE} --capacity 1MiB {work}");
        let text = said(&bench.run(&line)).unwrap_or_else(|| panic!("{scheme}"));
        assert!(text.contains("more of") && !text.contains("--precondition"), "{text}");
    }
}

/// Log-block schemes do not collect, they merge: first writes need none, and log blocks that are
/// left put it off.
#[test]
fn schemes_with_log_blocks_are_told_about_merges() {
    let bench = Bench::new();
    let line = |scheme: &str, work: &str| {
        format!("--scheme {scheme} {DEVICE} --capacity 8MiB --workload {work}")
    };
    for scheme in ["fast", "bast", "superblock", "last", "replacement_block"] {
        let once = bench.run(&line(scheme, "write:bs=2k,span=1MiB,count=512"));
        if once["steady_state"]["gc_ran"] == false {
            let text = said(&once).unwrap_or_else(|| panic!("{scheme}: {once:#}"));
            assert!(text.starts_with("No block was merged"), "{scheme}: {text}");
            assert!(text.contains("no page was written twice"), "{scheme}: {text}");
        }
    }
    // Pages 1 to 30 four times: the first page of a block would begin a sequential log block.
    let row = |n: u64| format!("{},W,{},2048\n", n * 1000, (1 + n % 30) * 2048);
    let rows: String = (0..120).map(row).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    let overwriting = line("fast", "t.csv").replace("8MiB", "16MiB");
    let text = said(&bench.run(&overwriting)).unwrap();
    for words in ["1 block for updates is free", "more of overwrites", "--precondition steady"] {
        assert!(text.contains(words), "{text}");
    }
    for option in ["--loop", "--precondition"] {
        let value = advised(&text, option).unwrap();
        let again = bench.run(&format!("{overwriting} {option} {value}"));
        assert_eq!(again["steady_state"]["gc_ran"], true, "{option} {value}: {text}");
        assert_eq!(said(&again), None);
    }
}

#[test]
fn workloads_that_write_nothing_or_stay_in_memory_are_told_apart() {
    let bench = Bench::new();
    let run = |options: &str| {
        let result = bench.run(&format!("{DEVICE} --capacity 8MiB {options}"));
        said(&result).unwrap_or_else(|| panic!("{result:#}"))
    };
    let reads = "--workload randread:bs=2k,span=1MiB,count=100";
    for scheme in ["ideal_page", "fast"] {
        let text = run(&format!("--scheme {scheme} {reads}"));
        assert!(text.contains("the workload writes nothing"), "{text}");
        assert!(!text.contains("--precondition"), "{text}");
    }
    let few = "--workload randwrite:bs=2k,span=16KiB,count=100";
    let text = run(&format!("--scheme ideal_page --buffer lru --set buffer.bytes=1MiB {few}"));
    assert!(text.contains("the write buffer (lru) held everything"), "{text}");
    let text = run(&format!("--scheme treeftl --ram 1MiB {few}"));
    assert!(text.contains("treeftl held everything"), "{text}");
}

/// Never where it ran, always where it did not, for every scheme.
#[test]
fn every_scheme_says_so_if_and_only_if_nothing_was_reclaimed() {
    let bench = Bench::new();
    for (work, times) in [("16", 0), ("2x", 1)] {
        let line =
            format!("{DEVICE} --capacity 2MiB --workload randwrite:bs=2k,count={work},seed=3");
        for scheme in schemes() {
            let run = bench.run(&format!("--scheme {scheme} {line}"));
            let ran = run["steady_state"]["gc_ran"] == true;
            assert_eq!(said(&run).is_none(), ran, "{scheme}: {run:#}");
            assert!(ran || times == 0, "{scheme}");
        }
    }
}
