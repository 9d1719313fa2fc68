//! What was planted in a simulated drive comes back.

use ftlab_lab::Silent;
use ftlab_lab::calibrate::{JOB_FILE, Request};
use ftlab_report::calibration::Probe;

use crate::calibration::bench::{
    BASE, Bench, PLANTED, PROBES, QUICK, REQUESTS, WAYS, parameter, planted, told,
};

/// Nothing of the drive is shared with the fit but the simulator: neither addresses, nor seeds, nor
/// lengths. What a short simulation draws otherwise is left: so many percent of the values, and as
/// many of a page's read, which is told from a command only by what deep reads wait for.
fn planted_comes_back(probes: &[(&str, u64, u32)], requests: u64, within: f64, of_reads: f64) {
    let bench = Bench::new();
    bench.measure("fio.json", probes, || 1.0, || 1.0);
    let requests = Some(requests);
    let request = Request { dies: vec![2, 4], requests, ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    let found = &done.found;
    assert_eq!(found.topology, WAYS);
    let alike = found.topologies.iter().filter(|tried| tried.alike).count();
    assert_eq!((found.topologies.len(), alike), (2, 1), "{:?}", found.topologies);
    let near = |name: &str, value: f64, planted: f64, within: f64| {
        let off = (value / planted).ln().abs();
        assert!(off < within, "{name}: {value} of {planted}\n{}", told(&done));
    };
    for (key, value) in PLANTED {
        let one = parameter(&done, key);
        assert!(one.interval.is_none_or(|[low, high]| low < value && value < high), "{one:?}");
        match key {
            "timing.read" if one.interval.is_some() => near(key, one.value, value, of_reads),
            // Cells and command follow each other in every read: their sum is what probes tell.
            "timing.read" | "host.command_overhead" => {}
            // It hides in the tails, and in the draws of random writes.
            "timing.erase" => near(key, one.value, value, 5.0 * within),
            _ => near(key, one.value, value, within),
        }
    }
    let sum = |of: &dyn Fn(&str) -> f64| of("timing.read") + of("host.command_overhead");
    let planted = |key: &str| PLANTED.iter().find(|(known, _)| *known == key).unwrap().1;
    let fitted = |key: &str| parameter(&done, key).value;
    near("read and command", sum(&fitted), sum(&planted), within);
    // Which is told in words, with an interval that holds it.
    let command = parameter(&done, "host.command_overhead");
    let together = command.together.as_ref().expect("a sum");
    assert_eq!(together.of, "timing.read + host.command_overhead");
    let [low, high] = together.interval;
    assert!(low < sum(&planted) && sum(&planted) < high && high < 1.2 * low, "{together:?}");
    let unknown = found.unknown().join("\n");
    assert!(unknown.contains("not told apart, but together: timing.read"), "{unknown}");
    assert!(done.device.contains("not told apart, but together"), "{}", done.device);
    for key in ["timing.program", "timing.page_transfer"] {
        assert!(parameter(&done, key).interval.is_some(), "{:?}", parameter(&done, key));
    }
    for probe in &found.probes {
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(off < 0.10, "{}: {off}", probe.name());
    }
    // The device file runs, and gives what was measured.
    std::fs::write(bench.path("planted.toml"), &done.device).unwrap();
    let deepest = found.probes.iter().filter(|one| (one.pattern, one.bytes) == ("randread", 4096));
    let deepest = deepest.max_by_key(|one| one.depth).unwrap();
    let again = bench.run("randread", 4096, deepest.depth);
    let ratio = again.iops / deepest.measured.iops;
    // At depth 16 on other dies than those that the few requests of the fit came to wait for.
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    assert!(done.device.contains("# fitted: 95 %"), "{}", done.device);
}

#[test]
fn planted_times_and_topology_come_back() {
    // So few requests wait half a percent longer at depth 16 than those of the drive.
    planted_comes_back(&QUICK, REQUESTS, 0.01, 0.02);
}

/// Everything as a user has it who states nothing: topologies about the base's, and the probes of
/// the job file that is shipped.
#[test]
#[ignore = "minutes of simulations: make test-long"]
fn planted_ways_come_back_from_the_job_file_that_is_shipped() {
    let mut probes = Vec::new();
    for pattern in ["read", "randread", "write", "randwrite"] {
        for (bytes, name) in [(4096, "4k"), (131_072, "128k")] {
            for depth in [1, 4, 16, 64] {
                let section = format!("[{pattern}-{name}-{depth}]");
                assert!(JOB_FILE.contains(&section), "{section}");
                probes.push((pattern, bytes, depth));
            }
        }
    }
    assert_eq!(probes.len(), 32);
    let bench = Bench::new();
    bench.measure("fio.json", &probes, || 1.0, || 1.0);
    let (channels, dies, planes) = Default::default();
    let requests = Some(1000);
    let request = Request { channels, dies, planes, requests, ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    println!("{}\n{}", told(&done), done.found.topology_verdict());
    assert_eq!(done.found.topology, WAYS, "{:?}", done.found.topologies);
    for (key, value) in PLANTED {
        let one = parameter(&done, key);
        let [low, high] = one.interval.unwrap_or_else(|| panic!("{one:?}"));
        assert!(low < value && value < high, "{one:?}");
        // What is left to a command, a fifteenth of a read of a page, and to an erase, which random
        // writes wait for, of which a thousand are no large sample.
        let rough = ["host.command_overhead", "timing.erase"].contains(&key);
        let within = if rough { 0.08 } else { 0.01 };
        assert!((one.value / value).ln().abs() < within, "{one:?}");
    }
}

#[test]
#[ignore = "half a minute of simulations: make test-long"]
fn planted_times_come_back_within_a_percent_by_longer_simulations() {
    // Deep reads tell cells from a command by a quarter of a page's read, and no better.
    planted_comes_back(&PROBES, 4000, 0.01, 0.02);
}

/// Figures of a drive in the seeds and lengths of the fit itself, without any noise: whatever has
/// an interval comes back, a command's time, too.
#[test]
#[ignore = "half a minute of simulations: make test-long"]
fn without_any_noise_all_that_has_an_interval_comes_back_within_a_percent() {
    let bench = Bench::new();
    bench.measure("fio.json", &QUICK, || 1.0, || 1.0);
    let request = Request { dies: vec![4], ..bench.request("fio.json") };
    // What was fitted to another drive is one, whose figures are known to the last digit.
    let drive = request.run(&Silent).unwrap();
    let of = |probe: &Probe| ((probe.pattern, probe.bytes, probe.depth), probe.simulated.clone());
    let figures: Vec<_> = drive.found.probes.iter().map(of).collect();
    bench.write("exact.json", &figures);
    let done = Request { files: vec![bench.text("exact.json")], ..request }.run(&Silent).unwrap();
    println!("{}\n\n{}", told(&drive), told(&done));
    let mut known = 0;
    for one in &done.found.parameters {
        let planted = parameter(&drive, &one.key).value;
        if let Some([low, high]) = one.interval {
            known += 1;
            assert!((one.value / planted).ln().abs() < 0.01, "{planted}: {one:?}");
            assert!(low < planted && planted < high, "{planted}: {one:?}");
        }
    }
    assert!(known >= 5, "{}", told(&done));
    for probe in &done.found.probes {
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(off < 0.002, "{off}: {probe:?}");
    }
}

/// A drive of eight times the blocks, each four times as large, is simulated by a scale model:
/// reads, transfers and programs come back within two percent, and intervals hold what was planted.
/// Random writes, which wait for whole collections, come out too short, which is told; what an
/// erase takes is known as a part of what a page takes alone.
#[test]
#[ignore = "half a minute of simulations: make test-long"]
fn a_large_drive_comes_back_from_its_scale_model() {
    let bench = Bench::new();
    let large = |text: String, blocks: &str, more: &str| {
        text.replace("pages_per_block = 32", "pages_per_block = 128")
            .replace(blocks, more)
            .replace("\"2ms\"", "\"8ms\"")
    };
    let base = large(BASE.to_owned(), "plane = 64", "plane = 512");
    let drive = large(planted(), "plane = 32", "plane = 256");
    std::fs::write(bench.path("base.toml"), base).unwrap();
    std::fs::write(bench.path("planted.toml"), drive).unwrap();
    bench.measure("fio.json", &PROBES, || 1.0, || 1.0);
    let request = Request { dies: vec![4], requests: Some(800), ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    for (key, value) in PLANTED {
        let one = parameter(&done, key);
        if !["host.command_overhead", "timing.erase"].contains(&key) {
            assert!((one.value / value).ln().abs() < 0.02, "{key}: {} of {value}", one.value);
        }
        assert!(one.interval.is_none_or(|[low, high]| low < value && value < high), "{one:?}");
    }
    for key in ["timing.read", "timing.program", "timing.page_transfer"] {
        assert!(parameter(&done, key).interval.is_some(), "{:?}", parameter(&done, key));
    }
    let erase = parameter(&done, "timing.erase");
    assert_eq!(erase.interval, None);
    let page = erase.together.as_ref().expect("a sum");
    assert_eq!(page.of, "timing.program + timing.erase / 128");
    let planted = 520_000.0 + 8e6 / 128.0;
    assert!((page.value / planted).ln().abs() < 0.02, "{page:?}");
    let [low, high] = page.interval;
    assert!(low < planted && planted < high && high < 1.3 * low, "{page:?}");
    let deep = |one: &&Probe| one.pattern == "randwrite" && one.depth == 16;
    let deep = done.found.probes.iter().find(deep).unwrap();
    let ratio = deep.simulated.mean_ns / deep.measured.mean_ns;
    assert!((0.5..0.65).contains(&ratio), "no longer as the book and the words have it: {ratio}");
    let said = done.found.words.join("\n");
    assert!(said.contains("Percentiles of writes are shown, not fitted"), "{said}");
    assert!(said.contains("the device's blocks are 4 times as large"), "{said}");
    // No other cause is told of what the smaller blocks make, and no tail that they have.
    assert!(said.contains("Blocks that are simulated smaller than they are"), "{said}");
    for cause in ["Less to spare than the base has", "Alone its writes wait", "read retries"] {
        let writes = said.lines().filter(|line| line.contains("write: off by"));
        let told: Vec<&str> = writes.filter(|line| line.contains(cause)).collect();
        assert!(told.is_empty(), "{told:?}");
    }
}
