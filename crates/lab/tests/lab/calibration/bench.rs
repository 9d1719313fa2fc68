//! A small drive with other times than its base, what fio would write of it, and what is asked of
//! both.

use std::fmt::Write as _;
use std::path::PathBuf;

use ftlab_lab::calibrate::{Calibrated, Request};
use ftlab_lab::{Experiment, RunResult, Silent};
use ftlab_report::calibration::{Figures, PERCENTILES, Parameter, Topology};

/// A device that is small enough to be simulated as it is, without a scale model.
pub const BASE: &str = "about = \"a small drive\"
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
pub fn planted() -> String {
    let more = BASE.replace("dies = 2", "dies = 4").replace("plane = 64", "plane = 32");
    [("40us", "62us"), ("300us", "520us"), ("10us", "17us"), ("3us", "4.5us"), ("1GB", "420MB")]
        .iter()
        .fold(more, |text, (from, to)| text.replace(&format!("\"{from}\""), &format!("\"{to}\"")))
}

/// The planted values, ns and bytes a second; the erase is the base's.
pub const PLANTED: [(&str, f64); 6] = [
    ("timing.read", 62_000.0),
    ("timing.program", 520_000.0),
    ("timing.erase", 2_000_000.0),
    ("timing.page_transfer", 17_000.0),
    ("host.command_overhead", 4_500.0),
    ("host.link_bandwidth", 420e6),
];

/// The planted ways.
pub const WAYS: Topology = Topology { channels: 2, dies: 4, planes: 1 };

/// Whether the planted ways were chosen, or are not told from those that were.
pub fn is_among(done: &Calibrated) -> bool {
    done.found.topologies.iter().any(|tried| tried.topology == WAYS && tried.alike)
}

/// Requests of a probe.
pub const REQUESTS: u64 = 250;

/// A folder with the base and a drive.
pub struct Bench {
    home: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let bench = Bench { home: tempfile::tempdir().unwrap() };
        std::fs::write(bench.path("base.toml"), BASE).unwrap();
        std::fs::write(bench.path("planted.toml"), planted()).unwrap();
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A run of the planted drive, as its users would make it: many more requests than the fit
    /// simulates, from another seed, and from the first of them on.
    pub fn run(&self, pattern: &str, bytes: u64, depth: u32) -> RunResult {
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

    /// What fio would write of the drive. Every time of a probe is longer by what `shared` says,
    /// and its rate less; every figure is multiplied by what `error` says.
    pub fn measure(
        &self,
        name: &str,
        probes: &[(&str, u64, u32)],
        mut shared: impl FnMut() -> f64,
        mut error: impl FnMut() -> f64,
    ) {
        let mut all = Vec::new();
        for &(pattern, bytes, depth) in probes {
            let shared = shared();
            let result = self.run(pattern, bytes, depth);
            let latency = match pattern.ends_with("write") {
                true => &result.latency_ns.write.system,
                false => &result.latency_ns.read.system,
            };
            let p = &latency.percentile;
            let mut percentile_ns = [None; 6];
            for (own, value) in percentile_ns.iter_mut().zip([p.p50, p.p90, p.p95, p.p99]) {
                *own = Some(value as f64 * shared * error());
            }
            let iops = result.iops / shared * error();
            let mean_ns = latency.mean * shared * error();
            all.push(((pattern, bytes, depth), Figures { mean_ns, iops, percentile_ns }));
        }
        self.write(name, &all);
    }

    /// The same of figures.
    pub fn write(&self, name: &str, probes: &[((&str, u64, u32), Figures)]) {
        let job = |(group, ((pattern, bytes, depth), figures)): (usize, &((&str, u64, u32), _))| {
            let Figures { mean_ns, iops, percentile_ns } = figures;
            let known = PERCENTILES.iter().zip(percentile_ns);
            let list =
                known.filter_map(|((key, _), value)| Some(format!("\"{key}\": {}", (*value)?)));
            let list = list.collect::<Vec<_>>().join(", ");
            let side = if pattern.ends_with("write") { "write" } else { "read" };
            format!(
                "{{\"jobname\": \"{pattern}-{bytes}-{depth}\", \"groupid\": {group}, \"error\": 0, \
                 \"job options\": {{\"rw\": \"{pattern}\", \"bs\": \"{bytes}\", \"iodepth\": \
                 \"{depth}\"}}, \"{side}\": {{\"iops\": {iops}, \"total_ios\": 100000, \"lat_ns\": \
                 {{\"mean\": {mean_ns}, \"percentile\": {{{list}}}}}}}}}"
            )
        };
        let jobs: Vec<String> = probes.iter().enumerate().map(job).collect();
        let text = format!(
            "{{\"fio version\": \"fio-3.33\", \"global options\": {{\"direct\": \"1\", \
             \"ioengine\": \"libaio\"}}, \"jobs\": [{}]}}",
            jobs.join(",\n")
        );
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn request(&self, name: &str) -> Request {
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
pub const PROBES: [(&str, u64, u32); 9] = [
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

/// Those that are simulated quickly: many in flight take long until all of them have come round,
/// and few random writes are what their addresses make of them (the longer tests have both).
pub const QUICK: [(&str, u64, u32); 9] = [
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

pub fn parameter<'a>(done: &'a Calibrated, key: &str) -> &'a Parameter {
    done.found.parameters.iter().find(|one| one.key == key).unwrap()
}

/// What came out, for whoever reads why a test failed.
pub fn told(done: &Calibrated) -> String {
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
