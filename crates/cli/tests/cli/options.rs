//! What the options of a run mean, seen in its result.

use crate::common::{Bench, schemes};
use serde_json::Value;

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25";

fn warned(run: &Value, word: &str) -> bool {
    run["warnings"].as_array().unwrap().iter().any(|text| text.as_str().unwrap().contains(word))
}

#[test]
fn a_run_without_reclaiming_says_so_with_free_blocks_and_threshold() {
    let bench = Bench::new();
    let run = bench.run(&format!("--scheme dftl {SMALL} --workload write:bs=64k,span=1M,count=4"));
    assert_eq!(run["steady_state"]["gc_ran"], false);
    assert!(
        warned(&run, "80 blocks were never written") || warned(&run, " of 80 blocks"),
        "{run:#}"
    );
    assert!(warned(&run, "starts below 3") && warned(&run, "--precondition steady"), "{run:#}");
    let filled = bench.run(&format!(
        "--scheme dftl {SMALL} --workload randwrite:bs=2k,span=100%,count=2x --precondition fill"
    ));
    assert_eq!(filled["steady_state"]["gc_ran"], true);
    assert!(!warned(&filled, "did not run"), "{filled:#}");
}

#[test]
fn preconditioning_writes_what_it_says_and_statistics_start_clean() {
    let bench = Bench::new();
    // Two reads of page 5, then pages 8 and 9 written twice, the last write in part.
    let csv = "time_us,op,offset_bytes,size_bytes\n0,R,10240,2048\n10,R,10240,512\n\
               20,W,16384,4096\n30,W,16384,2560\n";
    bench.file("t.csv", csv);
    for scheme in schemes() {
        let run = |mode: &str| {
            bench.run(&format!("--scheme {scheme} {SMALL} --workload t.csv --precondition {mode}"))
        };
        let pages = |run: &Value| run["precondition"]["pages_written"].as_u64().unwrap();
        let touch = run("touch");
        assert_eq!((pages(&touch), touch["precondition"]["mode"].as_str()), (3, Some("touch")));
        assert_eq!(touch["host"]["write_pages"], 4, "{scheme}: only the run is counted");
        assert!(touch["events"].get("unwritten_reads").is_none(), "{scheme}: page 5 was written");
        let none = run("none");
        assert_eq!((pages(&none), &none["events"]["unwritten_reads"]), (0, &2.into()));
        assert_eq!(pages(&run("fill")), 4096);
        assert_eq!(pages(&run("random:0.5x")), 2048);
        assert_eq!(pages(&run(&format!("none,{scheme}=touch"))), 3);
        // The first three requests become writes; the fourth is measured, from time 0 on.
        let prefix = run("prefix:3");
        assert_eq!(pages(&prefix), 4);
        assert_eq!(
            (&prefix["workload"]["requests"], &prefix["host"]["write_pages"]),
            (&1.into(), &2.into())
        );
        let latency = &prefix["latency_ns"]["all"]["system"];
        // Two programs of 405.9 us; pure block mapping copies a third page and erases a block, a
        // hint from the host takes 1 us.
        let more = match scheme {
            "block" => 130_900 + 405_900 + 1_500_000,
            "hmb" => 1_000,
            // A CRC-32 of the first page, of 2 KiB: the second is not hashed.
            "caftl" => 2_000,
            _ => 0,
        };
        // A scheme that holds data in RAM has both pages there, and RAM that takes no time.
        let row = ftlab_engine::schemes::TABLE.iter().find(|row| row.paper.name == scheme).unwrap();
        let service = if row.buffers_data { 0 } else { 811_800 + more };
        assert_eq!(latency["max"], service, "{scheme}");
        let simulated = prefix["simulated_s"].as_f64().unwrap();
        assert!((simulated - service as f64 / 1e9).abs() < 1e-12, "{scheme}: {simulated}");
    }
}

#[test]
fn a_prefix_that_leaves_nothing_to_measure_is_refused() {
    let bench = Bench::new();
    let line = format!(
        "run --scheme dftl {SMALL} --workload write:bs=2k,span=1M,count=10 --precondition prefix:10"
    );
    bench.ftlab(&line).refused(2, &["nothing is left to measure", "all 10 requests"]);
}

#[test]
fn devices_that_preload_find_every_page_that_is_read_first() {
    let bench = Bench::new();
    let csv = "time_us,op,offset_bytes,size_bytes\n0,W,0,2048\n9,R,0,4096\n20,R,8192,2048\n";
    bench.file("t.csv", csv);
    let line = "--scheme ideal_page --device ssdsim2010 --capacity 8MiB --workload t.csv";
    let run = bench.run(line);
    let mode = run["precondition"]["mode"].as_str().unwrap();
    assert_eq!(mode, "none, then preload of 2 pages");
    assert!(run["events"].get("unwritten_reads").is_none());
    let charged = bench.run(&format!("{line} --set io.unwritten_read=charge_read"));
    assert_eq!(charged["events"]["unwritten_reads"], 2);
}

#[test]
fn timing_decides_arrivals() {
    let bench = Bench::new();
    let rows: String = (0..100).map(|n| format!("{},W,{},2048\n", n * 1000, n * 2048)).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    let run = |timing: &str| {
        let line = format!("--scheme ideal_page {SMALL} --workload t.csv --timing {timing}");
        let run = bench.run(&line);
        let queue = run["latency_ns"]["all"]["queue"]["mean"].as_f64().unwrap();
        (run["simulated_s"].as_f64().unwrap(), queue, run["config"]["host"]["queue_depth"].clone())
    };
    let program = 405.9e-6;
    let (as_recorded, queue, depth) = run("trace");
    assert!((as_recorded - (99e-3 + program)).abs() < 1e-9, "{as_recorded}");
    assert_eq!((queue, depth), (0.0, "auto".into()));
    let (twice_as_fast, _, _) = run("trace:0.5");
    assert!((twice_as_fast - (49.5e-3 + program)).abs() < 1e-9, "{twice_as_fast}");
    let (loop_time, queue, _) = run("asap");
    assert!((loop_time - 100.0 * program).abs() < 1e-9, "{loop_time}");
    assert_eq!(queue, 0.0, "a closed loop of one never waits");
    assert_eq!(run("closed:8").2, 8);
}

#[test]
fn a_memory_budget_shrinks_caches_and_marks_what_does_not_fit() {
    let bench = Bench::new();
    let work = "--workload randwrite:bs=2k,span=100%,count=1x";
    let run = bench.run(&format!("--scheme dftl {SMALL} {work} --ram 4KiB"));
    assert_eq!(run["ram_bytes"]["structures"]["cmt"]["bytes"], 4096);
    let over = run["ram_bytes"]["over_budget"].as_u64().unwrap();
    assert_eq!(over > 0, warned(&run, "Over the memory budget"));
    let like = bench.run(&format!("--scheme dftl {SMALL} {work} --ram like:dftl.cmt"));
    let changed = "--set workload.seed=5";
    let other = bench.run(&format!("--scheme dftl {SMALL} {work} {changed} --ram like:dftl.cmt"));
    assert_eq!(
        other["ram_bytes"], like["ram_bytes"],
        "the workload's settings are not the scheme's"
    );
    // 8192 entries by default, yet never more than the 4096 logical pages.
    assert_eq!(like["config"]["device"]["ram_bytes"], 4 * 4096);
    let line = format!("compare --schemes ideal_page,dftl {SMALL} {work} --out out");
    bench.ftlab(&format!("{line} --ram 10 --ram-strict")).ok();
    let left = bench.json("out/results.json");
    let left = left.as_array().unwrap();
    assert_eq!((left.len(), &left[0]["scheme"]), (1, &"ideal_page".into()));
    assert!(warned(&left[0], "dftl takes") && warned(&left[0], "--ram allows 10"), "{left:#?}");
}

#[test]
fn addresses_are_kept_folded_or_packed() {
    let bench = Bench::new();
    // One request of a page at 0, one at 1 TiB, one across an erase block's border far away.
    let far = 1u64 << 40;
    let csv = format!(
        "time_us,op,offset_bytes,size_bytes\n0,W,0,2048\n9,W,{far},2048\n20,W,{},4096\n",
        far + (1 << 30) - 2048
    );
    bench.file("t.csv", csv);
    let line = "--scheme ideal_page --device dftl2014 --workload t.csv";
    bench
        .ftlab(&format!("run {line}"))
        .refused(2, &["t.csv:3: ", "address beyond the device", "--address modulo"]);
    let dense = bench.run(&format!("{line} --address dense --capacity auto"));
    assert_eq!(dense["config"]["device"]["logical_bytes"], 4 * 131_072);
    assert_eq!(
        (&dense["workload"]["address"], &dense["workload"]["footprint_pages"]),
        (&"dense".into(), &4.into())
    );
    let folded = bench.run(&format!("{line} --address modulo --capacity 1MiB"));
    assert!(warned(&folded, "Addresses were folded"), "{folded:#}");
    assert_eq!(folded["workload"]["footprint_pages"], 2, "0 and 1 TiB share a page");
    let refused = format!("run {line} --address modulo --capacity auto");
    bench.ftlab(&refused).refused(2, &["stated capacity"]);
}

#[test]
fn a_device_of_ones_own_is_a_file() {
    let bench = Bench::new();
    bench.file(
        "mine.toml",
        "about = \"mine\"\n[device]\nblocks_per_plane = 200\nover_provisioning = \"20%\"\n\
         endurance_cycles = 3000\n[energy]\nmodel = \"none\"\n\
         [timing]\nread = \"50us\"\n[dftl]\ncmt_entries = 64\n",
    );
    let line = "--scheme dftl --device mine.toml --workload randread:bs=2k,span=100%,count=10";
    let run = bench.run(line);
    assert_eq!(
        (&run["device"], &run["config"]["device"]["physical_blocks"]),
        (&"mine".into(), &200.into())
    );
    assert_eq!(run["config"]["dftl"]["cmt_entries"], 64);
    assert_eq!(run["config"]["timing"]["read"], "50us");
    assert_eq!((&run["energy_uj"]["total"], run["audit"].as_str()), (&0.0.into(), Some("passed")));
    let text = bench.ftlab(&format!("run {line}")).ok();
    let energy = text.split("\nThroughput and energy\n").nth(1).expect("a section of its own");
    let row = energy.lines().nth(1).expect("a row");
    assert_eq!(row.split_whitespace().next_back(), Some("n/a"), "no joule is invented: {energy}");
}

#[test]
fn standard_input_is_a_workload_where_one_pass_is_enough() {
    let bench = Bench::new();
    let rows: String = (0..100).map(|n| format!("{n},W,{},2048\n", n * 2048)).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    let line = format!("run --scheme dftl {SMALL} --workload - --json piped.json");
    bench.ftlab_reading("t.csv", &line).ok();
    let from_file = bench.run(&format!("--scheme dftl {SMALL} --workload t.csv"));
    let piped = bench.json("piped.json");
    assert_eq!(piped["workload"]["sha256"], from_file["workload"]["sha256"]);
    assert_eq!(piped["flash"], from_file["flash"]);
    for (option, word) in [
        ("--capacity auto", "--capacity auto"),
        ("--address dense", "--address dense"),
        ("--precondition touch", "--precondition touch"),
        ("--set io.unwritten_read=preload", "preload"),
    ] {
        let line = format!("run --scheme dftl --device dftl2014 --workload - {option}");
        bench.ftlab_reading("t.csv", &line).refused(2, &["read only once", word, "first pass"]);
    }
    let line = "compare --schemes all --device dftl2014 --workload - --out out";
    bench.ftlab_reading("t.csv", line).refused(2, &["read only once", "every scheme"]);
    assert!(!bench.path("out").exists());
}
