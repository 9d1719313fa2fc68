//! Devices fitted to measurements: what was planted in a simulated drive comes back, with an
//! interval; what probes do not tell is said not to be told; a real drive's published figures.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ftlab_lab::calibrate::{Calibrated, JOB_FILE, Request};
use ftlab_lab::{Error, Experiment, RunResult, Silent};
use ftlab_report::calibration::{Parameter, Probe, Topology};

/// A device that is small enough to be simulated as it is, without a scale model.
const BASE: &str = "about = \"a small drive\"
source = \"a test\"
[device]
channels = 2
dies = 2
blocks_per_plane = 64
pages_per_block = 32
over_provisioning = 0.5
endurance_cycles = 3000
[timing]
profile = \"parallel\"
read = \"40us\"
program = \"300us\"
erase = \"2ms\"
page_transfer = \"10us\"
[host]
link_duplex = \"full\"
link_bandwidth = \"1GB\"
command_overhead = \"3us\"
[energy]
model = \"none\"
";

/// The same flash in more dies, with other times.
fn planted() -> String {
    let more = BASE.replace("dies = 2", "dies = 4").replace("plane = 64", "plane = 32");
    [("40us", "62us"), ("300us", "520us"), ("10us", "17us"), ("3us", "4.5us"), ("1GB", "420MB")]
        .iter()
        .fold(more, |text, (from, to)| text.replace(&format!("\"{from}\""), &format!("\"{to}\"")))
}

/// The planted values, ns and bytes a second; the erase is the base's.
const PLANTED: [(&str, f64); 6] = [
    ("timing.read", 62_000.0),
    ("timing.program", 520_000.0),
    ("timing.erase", 2_000_000.0),
    ("timing.page_transfer", 17_000.0),
    ("host.command_overhead", 4_500.0),
    ("host.link_bandwidth", 420e6),
];

/// The planted ways.
const WAYS: Topology = Topology { channels: 2, dies: 4, planes: 1 };

/// Whether the planted ways were chosen, or are not told from those that were.
fn is_among(done: &Calibrated) -> bool {
    done.found.topologies.iter().any(|tried| tried.topology == WAYS && tried.alike)
}

/// Requests of a probe.
const REQUESTS: u64 = 250;

/// A folder with the base and a drive.
struct Bench {
    home: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Bench { home: tempfile::tempdir().unwrap() };
        std::fs::write(bench.path("base.toml"), BASE).unwrap();
        std::fs::write(bench.path("planted.toml"), planted()).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A run of the planted drive, as its users would make it: many more requests than the fit
    /// simulates, from another seed, and from the first of them on.
    fn run(&self, pattern: &str, bytes: u64, depth: u32) -> RunResult {
        let count = (40 * REQUESTS * 4096 / bytes).min(10 * REQUESTS).max(64 * u64::from(depth));
        let state = match pattern {
            "randwrite" => "steady:0.25x",
            "write" => "wipc",
            _ => "touch",
        };
        let experiment = Experiment {
            schemes: "ideal_page".into(),
            device: self.text("planted.toml"),
            workload: format!("{pattern}:bs={bytes},count={count},seed=77"),
            seed: 78,
            precondition: state.parse().unwrap(),
            timing: Some(format!("closed:{depth}").parse().unwrap()),
            set: ["host.queue_depth=32"].into_iter().collect(),
            ..Experiment::default()
        };
        experiment.plan().unwrap().run(&Silent).unwrap()
    }

    /// What fio would write of the drive. Every time of a probe is longer by what `shared` says, and its
    /// rate less; every figure is multiplied by what `error` says.
    fn measure(
        &self,
        name: &str,
        probes: &[(&str, u64, u32)],
        mut shared: impl FnMut() -> f64,
        mut error: impl FnMut() -> f64,
    ) {
        let mut jobs = Vec::new();
        for (group, &(pattern, bytes, depth)) in probes.iter().enumerate() {
            let shared = shared();
            let result = self.run(pattern, bytes, depth);
            let writes = pattern.ends_with("write");
            let (side, latency) = match writes {
                true => ("write", &result.latency_ns.write.system),
                false => ("read", &result.latency_ns.read.system),
            };
            let p = &latency.percentile;
            let percentiles = [("50", p.p50), ("90", p.p90), ("95", p.p95), ("99", p.p99)];
            let mut list = String::new();
            for (key, value) in percentiles {
                let comma = if list.is_empty() { "" } else { ", " };
                write!(list, "{comma}\"{key}.000000\": {}", value as f64 * shared * error())
                    .unwrap();
            }
            jobs.push(format!(
                "{{\"jobname\": \"{pattern}-{bytes}-{depth}\", \"groupid\": {group}, \"error\": 0, \
                 \"job options\": {{\"rw\": \"{pattern}\", \"bs\": \"{bytes}\", \"iodepth\": \
                 \"{depth}\"}}, \"{side}\": {{\"iops\": {}, \"total_ios\": 100000, \"lat_ns\": \
                 {{\"mean\": {}, \"percentile\": {{{list}}}}}}}}}",
                result.iops / shared * error(),
                latency.mean * shared * error(),
            ));
        }
        let text = format!(
            "{{\"fio version\": \"fio-3.33\", \"global options\": {{\"direct\": \"1\", \
             \"ioengine\": \"libaio\"}}, \"jobs\": [{}]}}",
            jobs.join(",\n")
        );
        std::fs::write(self.path(name), text).unwrap();
    }

    fn request(&self, name: &str) -> Request {
        Request {
            files: vec![self.text(name)],
            base: self.text("base.toml"),
            channels: vec![2],
            dies: vec![2],
            planes: vec![1],
            requests: Some(REQUESTS),
            seed: 1,
            command: "ftlab calibrate".to_owned(),
            ..Request::default()
        }
    }
}

/// At random and in order, alone and many, small and large.
const PROBES: [(&str, u64, u32); 9] = [
    ("randread", 4096, 1),
    ("randread", 4096, 64),
    ("randread", 131_072, 1),
    ("write", 4096, 1),
    ("write", 131_072, 4),
    ("read", 4096, 4),
    ("read", 131_072, 64),
    ("randwrite", 4096, 1),
    ("randwrite", 4096, 16),
];

/// Those that are simulated quickly: many in flight take long until all of them have come round, and
/// few random writes are what their addresses make of them (the longer tests have both).
const QUICK: [(&str, u64, u32); 9] = [
    ("randread", 4096, 1),
    ("randread", 4096, 16),
    ("randread", 65_536, 4),
    ("randread", 131_072, 1),
    ("read", 4096, 4),
    ("read", 131_072, 4),
    ("write", 4096, 1),
    ("write", 4096, 16),
    ("write", 65_536, 1),
];

fn parameter<'a>(done: &'a Calibrated, key: &str) -> &'a Parameter {
    done.found.parameters.iter().find(|one| one.key == key).unwrap()
}

/// What came out, for whoever reads why a test failed.
fn told(done: &Calibrated) -> String {
    let mut text = String::new();
    for one in &done.found.parameters {
        let Parameter { key, value, interval, why, at_least, at_most, .. } = one;
        let sum = one.sum().unwrap_or_default();
        writeln!(text, "{key}: {value:.0} {interval:.0?} {why} {at_least:?} {at_most:?} {sum}")
            .unwrap();
    }
    for probe in &done.found.probes {
        let ratio = probe.simulated.mean_ns / probe.measured.mean_ns;
        writeln!(text, "{}: {ratio:.4} of its mean, fitted {}", probe.name(), probe.fitted)
            .unwrap();
    }
    text + &done.found.words.join("\n")
}

/// Nothing of the drive is shared with the fit but the simulator: neither addresses, nor seeds, nor
/// lengths. What a short simulation draws otherwise is left: so many percent of the values.
fn planted_comes_back(probes: &[(&str, u64, u32)], requests: u64, within: f64) {
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
        assert!((value / planted).ln().abs() < within, "{name}: {value} of {planted}");
    };
    for (key, value) in PLANTED {
        let one = parameter(&done, key);
        assert!(one.interval.is_none_or(|[low, high]| low < value && value < high), "{one:?}");
        match key {
            // Cells and command follow each other in every read: their sum is what probes tell.
            "timing.read" | "host.command_overhead" => {}
            // It hides in the tails.
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
    let unknown = command.unknown().unwrap();
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
    planted_comes_back(&QUICK, REQUESTS, 0.01);
}

/// Reads of one page, one at a time: a queueing model gives the same for every topology, and those that
/// were cut off behind the nearest eight by their names alone were said to lie farther off.
#[test]
fn topologies_that_tie_are_not_said_to_lie_farther_off() {
    let bench = Bench::new();
    bench.measure("fio.json", &[("randread", 2048, 1)], || 1.0, || 1.0);
    let (channels, dies, planes) = Default::default();
    let request = Request { channels, dies, planes, ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    let (found, verdict) = (&done.found, done.found.topology_verdict());
    assert!(found.topologies.len() > 9, "{:?}", found.topologies);
    assert!(found.not_compared() > 0, "{:?}", found.topologies);
    assert_eq!(found.fitted_to_the_end() + found.not_compared(), found.topologies.len());
    assert!(verdict.contains("Not compared: ") && !verdict.contains("arther off"), "{verdict}");
    let rows = found.topology_rows();
    assert!(rows.iter().all(|row| !row[3].contains("farther off")), "{rows:?}");
    assert!(done.device.contains("# Not compared: "), "{}", done.device);
}

/// Everything as a user has it who states nothing: topologies about the base's, and the probes of the job
/// file that is shipped.
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
    assert!(is_among(&done), "{:?}", done.found.topologies);
    for (key, value) in PLANTED {
        let one = parameter(&done, key);
        let is_planted = done.found.topology == WAYS;
        let holds = one.interval.is_none_or(|[low, high]| low < value && value < high);
        assert!(holds || !is_planted, "{one:?}");
    }
}

#[test]
#[ignore = "half a minute of simulations: make test-long"]
fn planted_times_come_back_within_a_percent_by_longer_simulations() {
    planted_comes_back(&PROBES, 4000, 0.01);
}

/// A drive of eight times the blocks, each four times as large, is simulated by a scale model: reads,
/// transfers and programs come back within two percent, and intervals hold what was planted. Random
/// writes, which wait for whole collections, come out too short, which is told; what an erase takes is
/// known as a part of what a page takes alone.
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

/// A base whose link is the bottleneck of a drive that has none: what no figure depends on where it was
/// fitted is not set back to what every figure would depend on.
#[test]
fn a_limit_that_the_drive_has_not_is_told_as_such_and_not_put_back() {
    let bench = Bench::new();
    let slow = BASE.replace("\"1GB\"", "\"200MB\"");
    std::fs::write(bench.path("base.toml"), slow).unwrap();
    std::fs::write(bench.path("planted.toml"), BASE.replace("\"1GB\"", "\"3GB\"")).unwrap();
    let sized = |bytes| [("randread", bytes, 1), ("randread", bytes, 16)];
    let probes = [sized(2048), sized(65_536)].concat();
    bench.measure("fio.json", &probes, || 1.0, || 1.0);
    let done = bench.request("fio.json").run(&Silent).unwrap();
    println!("{}", told(&done));
    let link = parameter(&done, "host.link_bandwidth");
    // What few bytes take over such a link nobody tells from commands and channels: it is as fast as the
    // fastest probe, at least.
    assert_eq!(link.interval, None);
    let flows = done.found.probes.iter().map(|one| one.measured.iops * one.bytes as f64);
    let flow = flows.fold(0.0, f64::max);
    assert!(flow > 200e6 && link.value > flow, "{flow} {link:?}");
    assert_eq!((link.at_least, link.at_most), (Some(flow), None));
    assert!(done.device.contains("not identifiable from these probes: at least"));
    assert!(link.unknown().unwrap().contains("; it is at least "), "{:?}", link.unknown());
    let rate = |probe: &Probe| probe.simulated.iops / probe.measured.iops;
    let off = done.found.probes.iter().map(rate).map(|ratio| (ratio - 1.0).abs());
    assert!(off.fold(0.0, f64::max) < 0.05, "{:?}", done.found.probes);
}

/// Normal numbers, from a generator of its own.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn factor(&mut self, share: f64) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (share * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()).exp()
    }
}

/// Every probe with an error of `shared` that its figures have in common, and every figure with one of
/// `own`: the settings whose intervals are told, and those that do not hold what was planted. The planted
/// ways are one of two, chosen or not told from those that are; an interval is of its own ways.
fn told_and_wrong(
    probes: &[(&str, u64, u32)],
    seeds: std::ops::RangeInclusive<u64>,
    [shared, own]: [f64; 2],
) -> (Vec<&'static str>, Vec<String>) {
    let bench = Bench::new();
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for seed in seeds {
        let [mut of_probes, mut of_figures] = [seed, seed + 1000].map(|seed| {
            let mut noise = Noise(seed);
            (0..20).for_each(|_| {
                noise.uniform();
            });
            noise
        });
        bench.measure("fio.json", probes, || of_probes.factor(shared), || of_figures.factor(own));
        let request = Request { dies: vec![2, 4], ..bench.request("fio.json") };
        let done = request.run(&Silent).unwrap();
        assert!(is_among(&done), "seed {seed}: {:?}", done.found.topologies);
        for (key, value) in PLANTED {
            let Some([low, high]) = parameter(&done, key).interval else { continue };
            all.push(key);
            if !(low < value && value < high) {
                wrong.push(format!("seed {seed}, {key}: {low} to {high}, not {value}"));
            }
        }
    }
    (all, wrong)
}

/// A sample of the next tests, which take long.
#[test]
fn with_errors_of_five_percent_intervals_hold_what_was_planted() {
    let alone = (1..8).map(|power| ("randread", 1024 << power, 1));
    let many = [("randread", 4096, 4), ("randread", 4096, 16), ("read", 131_072, 4)];
    let probes: Vec<_> = alone.chain(many).collect();
    let (all, wrong) = told_and_wrong(&probes, 1..=1, [0.05, 0.0]);
    assert!(all.len() >= 2, "{all:?}");
    assert!(all.contains(&"timing.page_transfer"), "{all:?}");
    assert!(wrong.is_empty(), "{} of {all:?}: {wrong:?}", wrong.len());
}

/// The same where every figure errs by itself, of writes, too.
#[test]
fn with_errors_of_each_figure_intervals_hold_what_was_planted() {
    let (all, wrong) = told_and_wrong(&QUICK, 2..=2, [0.0, 0.05]);
    for key in ["timing.program", "timing.page_transfer"] {
        assert!(all.contains(&key), "{key}: {all:?}");
    }
    assert!(wrong.is_empty(), "{} of {all:?}: {wrong:?}", wrong.len());
}

#[test]
#[ignore = "a minute of simulations: make test-long"]
fn of_many_intervals_nineteen_in_twenty_hold_what_was_planted_where_figures_err_alone() {
    let (all, wrong) = told_and_wrong(&QUICK, 1..=16, [0.0, 0.05]);
    println!("{} of {}: {wrong:?}", wrong.len(), all.len());
    assert!(
        all.len() >= 32 && wrong.len() * 20 <= all.len(),
        "{} of {all:?}: {wrong:?}",
        wrong.len()
    );
}

#[test]
#[ignore = "a minute of simulations: make test-long"]
fn of_many_intervals_nineteen_in_twenty_hold_what_was_planted_where_probes_err_as_a_whole() {
    let (all, wrong) = told_and_wrong(&QUICK, 1..=16, [0.05, 0.0]);
    println!("{} of {}: {wrong:?}", wrong.len(), all.len());
    assert!(
        all.len() >= 32 && wrong.len() * 20 <= all.len(),
        "{} of {all:?}: {wrong:?}",
        wrong.len()
    );
}

#[test]
fn what_reads_alone_do_not_tell_is_said_not_to_be_told() {
    let bench = Bench::new();
    bench.measure("fio.json", &[("randread", 4096, 1), ("randread", 2048, 1)], || 1.0, || 1.0);
    let request = Request { channels: vec![1, 2], dies: vec![1, 2], ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    for key in ["timing.program", "timing.erase"] {
        let one = parameter(&done, key);
        assert_eq!((one.interval, one.why.as_str()), (None, "no probe writes"), "{key}");
        assert_eq!(one.value, one.base);
    }
    // Two sizes at one depth are two equations, and there are four times that they could be of.
    let known = done.found.parameters.iter().filter(|one| one.interval.is_some()).count();
    assert!(known <= 2, "{:?}", done.found.parameters);
    assert!(done.found.topology_verdict().contains("not identifiable from these probes"));
    let alike = done.found.topologies.iter().filter(|tried| tried.alike).count();
    assert!(alike >= 2, "{:?}", done.found.topologies);
    assert!(done.device.contains(
        "# Not identifiable from these probes: timing.program (no probe writes); left as in"
    ));
    assert!(done.device.contains("# Topologies that these probes do not tell apart"));
    // Not told apart is no reason to write down one that misses the probes by more.
    let best = done.found.topologies.iter().map(|tried| tried.misfit).fold(f64::INFINITY, f64::min);
    let chosen = done.found.topologies[0];
    assert!(chosen.misfit <= 1.05 * best + 0.002, "{:?}", done.found.topologies);
}

fn refusal(request: &Request) -> String {
    match request.run(&Silent) {
        Err(Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_input_is_refused_before_anything_is_simulated() {
    let bench = Bench::new();
    std::fs::write(bench.path("text.json"), "nothing\n").unwrap();
    std::fs::write(
        bench.path("none.json"),
        "{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"mixed\", \"job options\": \
         {\"rw\": \"randrw\"}}]}",
    )
    .unwrap();
    assert!(refusal(&bench.request("absent.json")).contains("absent.json: cannot be read"));
    assert!(refusal(&bench.request("text.json")).contains("text.json: no JSON in it"));
    let none = refusal(&bench.request("none.json"));
    assert!(none.contains("there is no probe in") && none.contains("mixed: rw=randrw"), "{none}");
    bench.measure("fio.json", &[("randread", 4096, 1)], || 1.0, || 1.0);
    let with = |change: &dyn Fn(&mut Request)| {
        let mut request = bench.request("fio.json");
        change(&mut request);
        refusal(&request)
    };
    assert!(with(&|request| request.base = "tlc_nvm".to_owned()).contains("'tlc_nvme'"));
    let serial = with(&|request| request.base = "dftl2014".to_owned());
    assert!(serial.contains("one server"), "{serial}");
    let few = with(&|request| request.requests = Some(10));
    assert!(few.starts_with("requests = 10 are too few") && few.ends_with("100 or more"), "{few}");
    let blocks = with(&|request| request.planes = vec![16]);
    assert!(blocks.contains("too few blocks"), "{blocks}");
    assert!(with(&|request| request.set.push("gc.vctim=fifo")).contains("gc.victim"));
    let event = with(&|request| request.set.push("timing.clock=event"));
    assert!(event.contains("no other depth than host.queue_depth"), "{event}");
    assert!(event.contains("legal: --set timing.clock=call_order"), "{event}");
    std::fs::copy(bench.path("fio.json"), bench.path("again.json")).unwrap();
    let again = bench.text("again.json");
    let twice = with(&|request| request.files.push(again.clone()));
    assert!(twice.contains("randread:bs=4096,iodepth=1 was measured twice"), "{twice}");
    assert!(twice.contains("fio.json: ") && twice.contains("again.json: "), "{twice}");
}

/// A SATA drive of three-bit cells, no particular one.
const SATA: &str = "about = \"a SATA drive\"
source = \"a test\"
[device]
channels = 4
dies = 4
blocks_per_plane = 64
pages_per_block = 32
page_bytes = \"16KiB\"
mapping_unit = \"4KiB\"
over_provisioning = 0.5
endurance_cycles = 3000
[timing]
profile = \"parallel\"
read = \"60us\"
program = \"900us\"
erase = \"3ms\"
page_transfer = \"20us\"
[host]
queue_depth = 32
link_bandwidth = \"550MB\"
[energy]
model = \"none\"
";

/// Files of a real drive as they were published, at these depths.
fn published(depths: &[u32]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/fio/intel_d3_s4610");
    let of = |pattern: &str| {
        let pattern = pattern.to_owned();
        depths.iter().map(move |depth| format!("{pattern}-{depth}-1.json"))
    };
    let names = of("randread").chain(of("randwrite"));
    names.map(|name| folder.join(name).display().to_string()).collect()
}

/// What the book tells of all fourteen: reads are met, writes are not, and what the fit bends for them lies
/// on an end of where it is looked for, which is no measurement.
#[test]
#[ignore = "minutes of simulations: make test-long"]
fn the_published_drive_of_the_book_has_no_interval_where_there_is_no_optimum_or_an_end() {
    let bench = Bench::new();
    let request = Request {
        files: published(&[1, 2, 4, 8, 16, 32, 64]),
        base: "tlc_nvme".to_owned(),
        set: ["host.queue_depth=32"].into_iter().collect(),
        channels: vec![4],
        dies: vec![4],
        planes: vec![2],
        precondition: Some("fill".parse().unwrap()),
        requests: Some(500),
        ..bench.request("none.json")
    };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    assert_eq!((done.found.probes.len(), done.found.left_out.len()), (14, 0));
    for probe in done.found.probes.iter().filter(|probe| probe.pattern == "randread") {
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(probe.fitted && off < 0.05, "{probe:?}");
    }
    let said = done.found.words.join("\n");
    let ran_out = said.contains("its steps ran out");
    let ended = |one: &Parameter| said.contains(&format!("{} came to the end", one.key));
    for one in &done.found.parameters {
        assert!(one.interval.is_none() || !(ran_out || ended(one)), "{one:?}\n{said}");
        let others = done.found.parameters.iter().filter(|one| ended(one));
        let others: Vec<String> = others.map(|one| one.key.clone()).collect();
        assert!(one.interval.is_none() || one.given == others, "{one:?}");
    }
    // Whatever bends for writes that the base cannot have is told, or they are left out.
    let writes: Vec<&Probe> =
        done.found.probes.iter().filter(|one| one.pattern == "randwrite").collect();
    let program = parameter(&done, "timing.program");
    assert_eq!(program.interval, None, "{program:?}");
    assert!(writes.iter().all(|one| !one.fitted) || ended(program), "{program:?}");
    if writes.iter().all(|one| !one.fitted) {
        assert_eq!(program.value, program.base, "{program:?}");
    }
}

/// Figures of a real drive as they were published, whose state nobody tells. Its writes are answered
/// from memory, which the base lacks: no program comes near them, so that they are left out, in words.
#[test]
fn a_real_drive_is_read_and_fitted_and_what_is_off_is_told() {
    let bench = Bench::new();
    std::fs::write(bench.path("sata.toml"), SATA).unwrap();
    // More depths, on a larger base, as in the book: in the next test.
    let request = Request {
        files: published(&[1, 4, 16]),
        base: bench.text("sata.toml"),
        channels: vec![4],
        dies: vec![4],
        planes: vec![1],
        precondition: Some("none".parse().unwrap()),
        requests: Some(200),
        ..bench.request("fio.json")
    };
    let done = request.run(&Silent).unwrap();
    assert_eq!((done.found.probes.len(), done.found.left_out.len()), (6, 0));
    let read = parameter(&done, "timing.read");
    // One size of requests does not tell a page's read from what else each of them takes.
    assert!((80e3..140e3).contains(&read.value), "{read:?}");
    assert_eq!(read.interval, None, "{read:?}");
    assert!(!read.why.is_empty(), "{read:?}");
    let said = done.found.words.join("\n");
    let program = parameter(&done, "timing.program");
    assert_eq!(program.value, program.base, "{program:?}");
    assert!(program.why.contains("all curves of writes lie too far off"), "{program:?}");
    for probe in &done.found.probes {
        assert_eq!(probe.fitted, probe.pattern == "randread", "{probe:?}");
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(!probe.fitted || off < 0.1, "{probe:?}");
    }
    for words in [
        "4 KiB randwrite: off by",
        "So far off it is not fitted",
        "A drive that answers before cells are programmed looks so",
        "lat_percentiles=1",
    ] {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
    assert!((0.01..0.15).contains(&done.found.misfit), "{}", done.found.misfit);
}
