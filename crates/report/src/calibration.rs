//! A device fitted to measurements of a drive (`ftlab calibrate`): what was found, as JSON, as
//! tables of text and as a page.
//!
//! It shows numbers. How they were fitted is the laboratory's (`ftlab_lab::calibrate`).

pub mod page;
pub mod tables;

use serde::Serialize;

use crate::format::Quantity;

/// Name and version of the JSON.
pub const SCHEMA: &str = "ftlab-calibration/1";

/// Percentiles that are shown of every probe, under fio's keys, with their shares.
pub const PERCENTILES: [(&str, f64); 6] = [
    ("50.000000", 0.5),
    ("90.000000", 0.9),
    ("95.000000", 0.95),
    ("99.000000", 0.99),
    ("99.900000", 0.999),
    ("99.990000", 0.9999),
];

/// A device that was fitted.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Version of ftlab.
    pub version: String,
    /// The command that does it again.
    pub command: String,
    /// Files of fio that were read, with the version of fio that wrote each.
    pub files: Vec<(String, String)>,
    /// The device that the fit began with, and whose settings hold where nothing was fitted.
    pub base: String,
    /// Its settings that were overridden, `KEY=VALUE`.
    pub set: Vec<String>,
    /// The topology that fits best, or the base's own where that is not told from it and its misfit
    /// is no greater than by a twentieth.
    pub topology: Topology,
    /// All topologies that were tried, the chosen one first, then by their misfit.
    pub topologies: Vec<Tried>,
    /// The fitted times.
    pub parameters: Vec<Parameter>,
    /// What was measured, and the same simulated on the fitted device.
    pub probes: Vec<Probe>,
    /// Jobs that are no probes, and why.
    pub left_out: Vec<(String, String)>,
    /// An interval that reaches further from the value than this factor is none.
    pub identified_within: f64,
    /// Typical distance of simulated from measured: root mean square of the logarithms of their
    /// ratios, of the figures that were fitted.
    pub misfit: f64,
    /// What a reader must see beside the numbers: what lies far off, by how much, and what the
    /// simulated drive probably lacks.
    pub words: Vec<String>,
    /// Runs that were simulated.
    pub simulations: u64,
}

impl Calibration {
    /// The topology in words.
    #[must_use]
    pub fn ways(&self) -> String {
        let some = |count: u32, one: &str, several: &str| {
            format!("{count} {}", if count == 1 { one } else { several })
        };
        let Topology { channels, dies, planes } = self.topology;
        format!(
            "{} x {} x {}",
            some(channels, "channel", "channels"),
            some(dies, "die", "dies"),
            some(planes, "plane", "planes")
        )
    }

    /// What is not identifiable, why, and what stands in its place: a sentence for all of which the
    /// same is told.
    #[must_use]
    pub fn unknown(&self) -> Vec<String> {
        let open: Vec<&Parameter> =
            self.parameters.iter().filter(|one| one.interval.is_none()).collect();
        let like = |one: &Parameter| (one.why.clone(), one.place(false));
        let mut all = Vec::new();
        for (place, first) in open.iter().enumerate() {
            if open[..place].iter().any(|other| like(other) == like(first)) {
                continue;
            }
            let same = open[place..].iter().filter(|other| like(other) == like(first));
            let keys: Vec<&str> = same.map(|one| one.key.as_str()).collect();
            all.push(format!(
                "Not identifiable from these probes: {} ({}); {}.",
                listed(&keys),
                first.why,
                first.place(keys.len() > 1)
            ));
        }
        all
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Ways of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Topology {
    /// Channels.
    pub channels: u32,
    /// Dies of a package.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
}

impl std::fmt::Display for Topology {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Topology { channels, dies, planes } = self;
        write!(f, "{channels} x {dies} x {planes}")
    }
}

/// A topology that was tried.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tried {
    /// Which.
    #[serde(flatten)]
    pub topology: Topology,
    /// How far it was looked at.
    pub stage: Stage,
    /// Root mean square of the logarithms of simulated over measured, at its own best times, each
    /// weighed by how much is expected of it (what the fit makes small, and topologies are chosen
    /// by); of an estimate: of estimated over measured, means and rates alone.
    pub misfit: f64,
    /// Whether the probes do not tell it from the chosen one.
    pub alike: bool,
}

/// How far a topology was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Its times were fitted by simulations of all probes.
    Fitted,
    /// Its times were fitted roughly, by short simulations.
    Screened,
    /// Not compared: the steps of its fit ran out, and its times were still getting better.
    RanOut,
    /// Not compared: a queueing model alone, without a simulation, found it behind others.
    NotCompared,
}

/// A time of the device.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// The setting.
    pub key: String,
    /// In words.
    pub about: String,
    /// Of all its numbers: nanoseconds, or bytes a second.
    pub unit: &'static str,
    /// In the base.
    pub base: f64,
    /// In the fitted device: the best fit's, or the base's where no figure depends on either.
    pub value: f64,
    /// Where the value lies with 95 % confidence; null where it is not identifiable.
    pub interval: Option<[f64; 2]>,
    /// Settings that came to the end of where they are looked for: the interval holds on condition
    /// that they are there. Empty where there is no interval, or no such setting.
    pub given: Vec<String>,
    /// Why its interval, or that of its sum with another, is of the model alone; empty where
    /// nothing speaks against it.
    pub doubt: String,
    /// Why it is not identifiable; empty where it is.
    pub why: String,
    /// Where it is not identifiable, and yet the base's does not fit: what it is at least, by the
    /// fastest probe or, where no figure depends on the fitted value or that lies at the end of
    /// where it is looked for, the other times as they are.
    pub at_least: Option<f64>,
    /// The same of what it is at most.
    pub at_most: Option<f64>,
    /// Where it is not identifiable, and its sum with another is.
    pub together: Option<Together>,
}

/// A sum of two times of which the probes do not tell how it is divided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// Which, such as `timing.read + host.command_overhead`.
    pub of: String,
    /// In the fitted device, ns.
    pub value: f64,
    /// Where it lies with 95 % confidence, ns.
    pub interval: [f64; 2],
    /// Settings that came to the end of where they are looked for, as of [`Parameter::given`].
    pub given: Vec<String>,
}

impl Parameter {
    /// What stands in the place of a measurement where it is not identifiable, of so many of which
    /// the same is told.
    fn place(&self, several: bool) -> String {
        let place = match (self.limit(), self.value == self.base, several) {
            (Some(limit), ..) => format!("it is {limit}, beside the other fitted values"),
            (None, true, _) => "left as in the base".to_owned(),
            (None, false, false) => {
                "its value goes with the other fitted ones and is no measurement".to_owned()
            }
            (None, false, true) => {
                "their values go with the other fitted ones and are no measurements".to_owned()
            }
        };
        self.sum().map_or(place.clone(), |sum| format!("{place}; {sum}"))
    }

    /// Its interval in words, and on what condition it holds; none where there is none.
    #[must_use]
    pub fn range(&self) -> Option<String> {
        Some(self.between(self.interval?, &self.given))
    }

    /// What is known of it and another together.
    #[must_use]
    pub fn sum(&self) -> Option<String> {
        let Together { of, value, interval, given } = self.together.as_ref()?;
        Some(format!(
            "not told apart, but together: {of} = {}, 95 % {}",
            self.quantity().format(*value),
            self.between(*interval, given)
        ))
    }

    /// An interval in words, on what condition it holds, and why it says less of the drive than it
    /// seems to.
    fn between(&self, interval: [f64; 2], given: &[String]) -> String {
        let [low, high] = interval.map(|value| self.quantity().format(value));
        let given = match given {
            [] => String::new(),
            given => format!(" (conditional on {})", given.join(", ")),
        };
        match self.doubt.as_str() {
            "" => format!("{low} to {high}{given}"),
            doubt => format!("of the model alone, {low} to {high}{given}: {doubt}"),
        }
    }

    /// `at least 3 GB/s`, where that is all that is known.
    #[must_use]
    pub fn limit(&self) -> Option<String> {
        let shown = |words: &str, value: f64| format!("{words} {}", self.quantity().format(value));
        let least = self.at_least.map(|value| shown("at least", value));
        least.or(self.at_most.map(|value| shown("at most", value)))
    }

    /// How its numbers are read.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        match self.unit {
            "ns" => Quantity::Nanoseconds,
            _ => Quantity::BytesPerSecond,
        }
    }
}

/// A probe: requests of one kind, size and depth.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    /// Jobs that measured it, `FILE: JOB`.
    pub jobs: Vec<String>,
    /// `randread`, `read`, `randwrite` or `write`.
    pub pattern: &'static str,
    /// Bytes of a request.
    pub bytes: u64,
    /// Requests in flight.
    pub depth: u32,
    /// What fio measured.
    pub measured: Figures,
    /// The same of the fitted device.
    pub simulated: Figures,
    /// Whether it was fitted; not where its curve lies so far off that its figures would only bend
    /// the times of the others.
    pub fitted: bool,
    /// Which of its percentiles the simulated device can have, so that they are fitted where the
    /// probe is.
    pub tails: Tails,
    /// Logarithm of simulated over measured, of the mean, of the rate and of the percentiles that
    /// were fitted: the root mean square.
    pub misfit: f64,
}

impl Probe {
    /// In words: `4 KiB randread at depth 16`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} at depth {}", self.curve(), self.depth)
    }

    /// The same without the depth: probes that lie on one curve.
    #[must_use]
    pub fn curve(&self) -> String {
        format!("{} {}", Quantity::Bytes.format(self.bytes as f64), self.pattern)
    }
}

/// Percentiles that are fitted: not those that the smaller blocks of the simulated device decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tails {
    /// Up to the 99th.
    Fitted,
    /// The median.
    Median,
    /// None.
    Shown,
}

/// What is known of the requests of a probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Mean response time, ns.
    pub mean_ns: f64,
    /// Requests a second.
    pub iops: f64,
    /// Response times that a share of the requests did not exceed, ns, as in [`PERCENTILES`]; null
    /// where nothing is known.
    pub percentile_ns: [Option<f64>; 6],
}
