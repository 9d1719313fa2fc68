//! A sweep that can begin: its points, which of them are the same run, and which cannot be run.

use std::collections::BTreeMap;

use ftlab_trace::{Combination, Description};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::observer::Observer;
use crate::options::capacity::Capacity;
use crate::options::precondition::{Cache, Mode};
use crate::options::timing::Timing;
use crate::plan::asked::Asked;
use crate::plan::first_pass::{description, log_of_footprint, needs_footprint};
use crate::plan::repeat::Repeat;
use crate::plan::snapshot::Snapshot;
use crate::selection::Chosen;
use crate::sweep::definition::Definition;
use crate::sweep::points::{Point, sample};
use crate::workload::choice::WorkloadChoice;

/// Hexadecimal digits of a key.
const KEY_DIGITS: usize = 32;

/// Options that are not in a key as they are: they are in the effective configuration, in the
/// workload as it is resolved, or change no result.
const NOT_IN_KEY: [&str; 9] = [
    "schemes",
    "device",
    "buffer",
    "set",
    "workload",
    "trace-dir",
    "requests-out",
    "trace-out",
    "save-snapshot",
];

/// A point as a sweep keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// A value for each name, as in [`Definition::names`]; null where an axis is not for its
    /// scheme.
    pub values: Vec<Option<String>>,
    /// What names its result; empty where it cannot be run.
    pub key: String,
    /// Why it cannot be run, where that shows before anything runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

impl Kept {
    /// In words: `scheme=dftl cache=64KiB`.
    #[must_use]
    pub fn told(&self, names: &[String]) -> String {
        let one = |(name, value): (&String, &Option<String>)| {
            value.as_ref().map(|value| format!("{name}={value}"))
        };
        names.iter().zip(&self.values).filter_map(one).collect::<Vec<_>>().join(" ")
    }
}

/// What a sweep's folder says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// What heads the values of points, axis by axis.
    pub names: Vec<String>,
    /// Which of these repeats a run with other seeds.
    pub seed: Option<usize>,
    /// All points, in order.
    pub points: Vec<Kept>,
}

/// A sweep that can begin.
pub struct Sweep {
    /// What its folder says.
    pub manifest: Manifest,
    /// The runs by their keys, each once.
    pub runs: BTreeMap<String, Run>,
}

/// One run of a sweep.
pub struct Run {
    /// What is run.
    pub experiment: Experiment,
    /// What was said of its files, so that no run computes their digest again; none for workloads
    /// that are generated.
    pub described: Option<Description>,
    /// What its device is prepared from, as far as that can be told beforehand: runs in which it is
    /// the same are worked off together. None where nothing can be shared.
    pub device: Option<String>,
    /// The trace that it reads and how, where what is decoded of it can be held for other runs.
    pub trace: Option<String>,
}

impl Definition {
    /// Judges every combination, or so many of them, drawn by a seed, as far as that can be done
    /// without reading a trace but for its digest.
    ///
    /// # Errors
    /// What concerns all points: too many of them, a workload that cannot be read again.
    pub fn plan(&self, sampled: Option<(usize, u64)>, observer: &dyn Observer) -> Result<Sweep> {
        if self.base.own != Default::default() {
            return Err(Error::usage(
                "policies of the calling program have no place in a sweep, whose results are named by \
                 what a text can hold; legal: runs and comparisons",
            ));
        }
        let beside = [&self.base.requests_out, &self.base.trace_out, &self.base.save_snapshot];
        if beside.iter().any(|path| path.is_some()) {
            return Err(Error::usage(
                "--requests-out, --trace-out and --save-snapshot are of one run; legal: the command \
                 of a point",
            ));
        }
        let mut points = self.points()?;
        if let Some((number, seed)) = sampled {
            points = sample(points, number, seed);
        }
        let mut digests = BTreeMap::new();
        let (mut kept, mut runs) = (Vec::with_capacity(points.len()), BTreeMap::new());
        for Point { values, run } in points {
            let judged = run.and_then(|experiment| judge(experiment, &mut digests, observer));
            kept.push(match judged {
                Ok((key, run)) => {
                    runs.entry(key.clone()).or_insert(run);
                    Kept { values, key, refused: String::new() }
                }
                Err(Error::Cancelled(text)) => return Err(Error::Cancelled(text)),
                Err(error) => Kept { values, key: String::new(), refused: error.to_string() },
            });
        }
        let seeds = self.axes.iter().flat_map(|axis| &axis.names).position(|name| name.is_seed());
        let manifest = Manifest {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            names: self.names(),
            seed: seeds,
            points: kept,
        };
        Ok(Sweep { manifest, runs })
    }
}

/// Digests of workloads, by what is read and how.
type Digests = BTreeMap<String, Description>;

/// The key of a run, and what is run.
fn judge(
    experiment: Experiment,
    digests: &mut Digests,
    observer: &dyn Observer,
) -> Result<(String, Run)> {
    let asked = Asked::of(&experiment)?;
    let choice = asked.workload(&experiment, None)?;
    if choice.is_standard_input() {
        return Err(Error::usage("--workload - can be read once only; legal: a file, or a spec"));
    }
    let own = asked.chosen.first().filter(|_| asked.chosen.len() == 1).ok_or_else(|| {
        Error::usage("a point of a sweep has one scheme; legal: an axis scheme=NAME,NAME")
    })?;
    let mut options = serde_json::to_value(&experiment)
        .map_err(|error| Error::usage(format!("the run has no JSON form: {error}")))?;
    let members: &mut Map<String, Value> =
        options.as_object_mut().expect("an experiment is a table of options");
    // A share in a spec is one of the device.
    let device = &own.config.device;
    let capacity_bytes = match experiment.capacity {
        Some(Capacity::Bytes(bytes)) => bytes,
        Some(Capacity::Auto) => 0,
        None => device.logical_pages() * device.unit_bytes(),
    };
    let reading = format!("{} {capacity_bytes} {:?}", choice.text, experiment.reading());
    members.retain(|name, _| !NOT_IN_KEY.contains(&name.as_str()));
    let described = match digests.get(&reading) {
        Some(known) => known.clone(),
        None => {
            let opened = choice.open_own(capacity_bytes)?;
            let known = description(&opened, observer)?;
            digests.insert(reading, known.clone());
            known
        }
    };
    let settings: Map<String, Value> = own
        .config
        .describe()
        .into_iter()
        .map(|one| (one.key.to_owned(), ftlab_report::derive::json(&one.value)))
        .collect();
    // What a device starts from is what its file holds, whatever its name.
    let snapshot = match experiment.precondition.of(&own.name) {
        Mode::Snapshot(path) => Some(Snapshot::open(&path, observer)?.digest().to_owned()),
        _ => None,
    };
    let decides = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scheme": own.name,
        "settings": settings,
        "workload": choice.name,
        "spec": if described.synthetic { choice.text.as_str() } else { "" },
        "digest": described.sha256,
        "snapshot": snapshot,
        "options": options,
    });
    let device = device_of(&experiment, own, &decides["settings"], (&choice, &described));
    let described = (!described.synthetic).then_some(described);
    let is_single = described.is_some() && !matches!(Combination::parse(&choice.text), Ok(Some(_)));
    let is_held = is_single && asked.repeat == Repeat::Once;
    let trace = is_held.then(|| choice.reading());
    Ok((key_of(&decides), Run { experiment, described, device, trace }))
}

/// A name for all that a value says.
fn key_of(value: &Value) -> String {
    let text = serde_json::to_vec(value).expect("a JSON value has a text");
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    digest[..KEY_DIGITS].to_owned()
}

/// What the device is prepared from. Whether it really is the same is seen when the runs are
/// planned: this says only which of them are worth a comparison.
fn device_of(
    experiment: &Experiment,
    own: &Chosen,
    settings: &Value,
    (choice, described): (&WorkloadChoice, &Description),
) -> Option<String> {
    let modes = &experiment.precondition;
    let mode = modes.of(&own.name);
    let by_pages = needs_footprint(std::slice::from_ref(own), modes);
    if mode.takes_requests() || mode == Mode::None && !by_pages {
        return None;
    }
    let by_workload =
        by_pages || experiment.capacity == Some(Capacity::Auto) || log_of_footprint(own);
    let timing = Timing::of(experiment.timing, described.closed_loop_depth).ok()?;
    let depth = if let Timing::ClosedLoop { depth } = timing { depth } else { None };
    Some(key_of(&json!({
        "scheme": own.name,
        "settings": settings,
        "seed": experiment.seed,
        "verify": experiment.verify,
        "mode": mode.to_string(),
        "cache": modes.cache().map(Cache::name),
        "capacity": experiment.capacity.map(|capacity| capacity.to_string()),
        "ram": experiment.ram.as_ref().map(|ram| ram.to_string()),
        "ram_strict": experiment.ram_strict,
        "depth": depth,
        "pages": by_workload.then(|| format!("{} {}", choice.reading(), experiment.address)),
    })))
}
