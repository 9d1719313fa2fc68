//! `ftlab calibrate`, from the command line.

use serde_json::Value;

use crate::common::Bench;

const BASE: &str = "about = \"a small drive\"  # kept
source = \"a test\"
[device]
channels = 2 # of the base
dies = 2
blocks_per_plane = 160
pages_per_block = 32
over_provisioning = 0.25
endurance_cycles = 3000
[timing]
profile = \"parallel\"
read = \"40us\" # of the base
program = \"300us\"
page_transfer = \"10us\"
[energy]
model = \"none\"
";

/// Reads of 90 us alone and 4 at once.
const FIO: &str = r#"fio: a line of text
{"fio version": "fio-3.33", "global options": {"direct": "1", "ioengine": "libaio"}, "jobs": [
{"jobname": "a", "groupid": 0, "job options": {"rw": "randread", "bs": "2k", "iodepth": "1"}, "read":
 {"iops": 11000, "total_ios": 90000, "lat_ns": {"mean": 90000, "percentile": {"50.000000": 89000}}}},
{"jobname": "b", "groupid": 1, "job options": {"rw": "randread", "bs": "4k", "iodepth": "4"}, "read":
 {"iops": 24000, "total_ios": 90000, "lat_ns": {"mean": 166000}}},
{"jobname": "both", "groupid": 2, "job options": {"rw": "randrw"}, "read": {"iops": 1}}]}
"#;

const WAYS: &str = "--channels 2 --dies 2 --planes 1";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("base.toml", BASE);
    bench.file("fio.json", FIO);
    bench
}

#[test]
fn a_device_is_fitted_told_and_runs() {
    let bench = bench();
    let fit = format!("calibrate fio.json --base base.toml {WAYS} --requests 300 --out");
    let said = bench.ftlab(&format!("{fit} my.toml --html page.html")).ok();
    for words in [
        "base.toml: 2 channels x 2 dies x 1 plane\nfrom fio.json (fio-3.33)",
        "timing.read (page read, cells to register)",
        "Not identifiable from these probes: timing.program and timing.erase (no probe writes); left as in the base.",
        "Topology: stated, no other was tried.",
        "4 KiB randread at depth 4",
        "Left out: fio.json: both: rw=randrw is no probe",
        "Simulated and measured differ by",
        "my.toml, page.html; --device my.toml runs on it",
    ] {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
    let device = std::fs::read_to_string(bench.path("my.toml")).unwrap();
    for words in [
        "# Fitted by ftlab calibrate fio.json --base base.toml",
        "# Not identifiable from these probes: timing.program and timing.erase (no probe writes); left as in the base.",
        "program = \"300us\"",
        "about = \"Calibrated from base.toml: 2 channels x 2 dies x 1 plane\"",
    ] {
        assert!(device.contains(words), "'{words}' is not in: {device}");
    }
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("data-metric=\"probes.0.measured.mean_ns\""));
    let run = "run --scheme ideal_page --device my.toml --capacity 16MiB --json run.json --workload \
               randread:bs=2k,count=400 --timing closed:1 --precondition touch";
    bench.ftlab(run).ok();
    let run: Value =
        serde_json::from_slice(&std::fs::read(bench.path("run.json")).unwrap()).unwrap();
    let mean = run["latency_ns"]["read"]["system"]["mean"].as_f64().unwrap();
    assert!((mean / 90_000.0 - 1.0).abs() < 0.05, "{mean}");

    let json: Value =
        serde_json::from_str(&bench.ftlab(&format!("{fit} two.toml --json")).ok()).unwrap();
    assert_eq!(json["schema"], "ftlab-calibration/1");
    assert_eq!(json["topology"]["channels"], 2);
    assert_eq!(json["probes"].as_array().unwrap().len(), 2);
    assert_eq!(json["parameters"][1]["interval"], Value::Null);
    assert_eq!(json["files"][0][1], "fio-3.33");
    let two = std::fs::read_to_string(bench.path("two.toml")).unwrap();
    assert_eq!(device, two, "the same for any number of threads, any time");
}

#[test]
fn what_cannot_be_fitted_is_refused_and_nothing_is_written() {
    let bench = bench();
    bench.file("there.toml", "mine");
    let before = bench.entries();
    for (line, words) in [
        ("calibrate --base base.toml --out my.toml", vec!["FIO.json"]),
        ("calibrate fio.json --out my.toml", vec!["--base"]),
        ("calibrate fio.json --base base.toml", vec!["--out"]),
        ("calibrate fio.json --base base.toml --out my.json", vec!["ends in .toml"]),
        (
            "calibrate fio.json --base base.toml --out my.toml --html my.toml",
            vec!["--out and --html are both my.toml"],
        ),
        ("calibrate fio.json --base base.toml --out there.toml", vec!["there.toml exists"]),
        ("calibrate fio.json --base bas.toml --out my.toml", vec!["bas.toml: cannot be read"]),
        ("calibrate fio.json --base tlc_nvm --out my.toml", vec!["tlc_nvm", "'tlc_nvme'"]),
        ("calibrate fio.json --base dftl2014 --out my.toml", vec!["one server", "parallel"]),
        (
            "calibrate fio.json --base base.toml --set timing.clock=event --out my.toml",
            vec!["timing.clock = event", "legal: --set timing.clock=call_order"],
        ),
        (
            "calibrate fio.json ./fio.json --base base.toml --out my.toml",
            vec!["was measured twice, by fio.json: a and by ./fio.json: a"],
        ),
        (
            "calibrate base.toml --base base.toml --out my.toml",
            vec!["base.toml: there is no JSON object in it"],
        ),
        ("calibrate no.json --base base.toml --out my.toml", vec!["no.json: cannot be read"]),
        (
            "calibrate fio.json --base base.toml --channels 0 --out my.toml",
            vec!["--channels", "1..=256"],
        ),
        (
            "calibrate fio.json --base base.toml --precondition full --out my.toml",
            vec!["--precondition 'full'", "steady"],
        ),
        ("calibrate --job-file fio.json", vec!["cannot be used with"]),
        ("calibrate --job-file --html page.html", vec!["cannot be used with", "--html"]),
        ("calibrate --job-file --json", vec!["cannot be used with", "--json"]),
        ("calibrate --job-file --set host.queue_depth=1", vec!["cannot be used with", "--set"]),
        ("calibrate --job-file --requests 400", vec!["cannot be used with", "--requests"]),
    ] {
        bench.ftlab(line).refused(2, &words);
    }
    bench.file("none.json", FIO.replace("randread", "randrw"));
    bench.ftlab("calibrate none.json --base base.toml --out my.toml").refused(
        2,
        &["no probe in none.json", "none.json: a: rw=randrw is no probe", "--job-file"],
    );
    let after: Vec<String> =
        bench.entries().into_iter().filter(|name| name != "none.json").collect();
    assert_eq!(after, before);
}

#[test]
fn the_job_file_has_the_probes_that_are_asked_for_and_says_that_it_destroys() {
    let text = Bench::new().ftlab("calibrate --job-file").ok();
    assert!(text.contains("DESTROYS EVERY BYTE"), "{text}");
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    for pattern in ["read", "write", "randread", "randwrite"] {
        for size in ["4k", "128k"] {
            for depth in [1, 4, 16, 64] {
                let name = format!("[{pattern}-{size}-{depth}]");
                assert_eq!(sections.iter().filter(|one| **one == name).count(), 1, "{name}");
            }
        }
    }
    let steady = sections.iter().position(|one| *one == "[precondition-random]").unwrap();
    let writes = sections.iter().position(|one| one.starts_with("[randwrite")).unwrap();
    assert_eq!((sections.len(), sections[1]), (35, "[precondition-in-order]"));
    assert!(text.contains("\nsteadystate=iops_slope:0.02%\n"), "{text}");
    assert_eq!(writes, steady + 1, "random writes are measured in steady state");
}
