//! Probes, simulated: on the way of every run (an [`Experiment`], planned and run), on a scale
//! model of the device, in the state in which the job file that is shipped brings a drive.
//!
//! Probes that read find what they read written in order. Those that write in order begin on a full
//! device, those that write at random on one whose random writes have settled (`steady`). Runs
//! whose devices are prepared alike share the preparation, as those of a sweep do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ftlab_engine::config::{Config, Optional, TimingProfile};
use ftlab_report::RunResult;
use ftlab_report::calibration::{Figures, Topology};
use rayon::prelude::*;

use crate::calibrate::parameters::Parameter;
use crate::calibrate::probe::{Pattern, Probe};
use crate::calibrate::scale::{Scaled, in_topology, pages_per_block, scaled};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::observer::{Silent, Task, going_on};
use crate::options::precondition::Modes;
use crate::options::timing::Timing;
use crate::plan::plan::Plan;
use crate::run::execute::execute_from;
use crate::run::preparing::{Preparation, Ready};
use crate::run::recording::Recording;
use crate::selection::{self, Chosen};

/// The scheme under which drives are simulated: its map lies in memory and costs nothing.
pub const SCHEME: &str = "ideal_page";
/// Requests that a device holds where neither its file nor anybody else says.
const QUEUE_DEPTH: u32 = 32;

/// Requests of a brief simulation at least, where a whole one has as many.
const BRIEF_LEAST: u64 = 250;

/// Rounds of a closed loop, each of as many requests as are in flight, before those that count: all
/// of the first come at once, so that its requests wait less than those behind them.
const LEAD_ROUNDS: u64 = 8;
/// The part of a workload that counts.
const COUNTED: &str = "counted";

/// How long probes are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Requests at most.
    pub requests: u64,
    /// Mapping units that they ask for, about.
    pub units: u64,
    /// Requests at least, times the depth, beside those that are left out at the beginning and the
    /// end.
    pub rounds: u64,
}

impl Effort {
    /// Requests of a probe where nobody says.
    pub const REQUESTS: u64 = 4_000;

    /// So many requests, fewer where they are large.
    pub fn of(requests: u64) -> Self {
        Effort { requests, units: 8 * requests, rounds: 16 }
    }

    /// A quarter of it, to rank topologies.
    pub fn brief(self) -> Self {
        let requests = (self.requests / 4).max(BRIEF_LEAST.min(self.requests));
        Effort { requests, units: 8 * requests, rounds: self.rounds / 2 }
    }

    fn requests_of(self, probe: Probe, unit_bytes: u64) -> u64 {
        let units = probe.bytes.div_ceil(unit_bytes).max(1);
        let count = (self.units / units).min(self.requests);
        count.max(self.rounds * u64::from(probe.depth))
    }
}

/// A device at one point of the search, and the probes that are wanted of it.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its topology.
    pub topology: Topology,
    /// The times that are not the base's.
    pub times: Vec<(Parameter, f64)>,
    /// Which probes.
    pub probes: Vec<Probe>,
    /// How long.
    pub effort: Effort,
    /// Which addresses are drawn, and the seed of the device: another draw is another repetition.
    pub draw: u64,
}

/// Probes of a point that may begin with the like of one device.
struct Group {
    /// Their places in the point.
    places: Vec<usize>,
    probes: Vec<Probe>,
    runs: Vec<Experiment>,
    /// All that their figures follow from, within one search.
    key: String,
}

/// Simulates drives.
pub struct Simulator<'a> {
    base: Experiment,
    config: Config,
    writes_from: Option<Modes>,
    pool: rayon::ThreadPool,
    /// What was simulated, by what it follows from.
    known: Mutex<BTreeMap<String, Vec<Figures>>>,
    task: Box<dyn Task + 'a>,
    runs: AtomicU64,
}

impl<'a> Simulator<'a> {
    /// Of drives like `base`, of whose options the device, its settings and the seed count, on so
    /// many threads. `writes_from` prepares probes that write; as above where nothing is stated.
    ///
    /// # Errors
    /// A device that is not legal, or has one server.
    pub fn new(
        base: Experiment,
        config: Config,
        writes_from: Option<Modes>,
        jobs: usize,
        task: Box<dyn Task + 'a>,
    ) -> Result<Self> {
        if config.timing.profile == TimingProfile::Serial {
            return Err(Error::usage(format!(
                "{} is a device of one server (timing.profile = serial), which has no topology; \
                 legal: a base with timing.profile = parallel, such as tlc_nvme",
                base.device
            )));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let (known, runs) = (Mutex::default(), AtomicU64::new(0));
        Ok(Simulator { base, config, writes_from, pool, known, task, runs })
    }

    /// The settings of the base.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether blocks are simulated as large as they are; tails of writes, which a collection and
    /// its erase make, are not those of the device where they are not.
    pub fn blocks_are_whole(&self) -> bool {
        pages_per_block(&self.config) == self.config.device.pages_per_block
    }

    /// How many times as large the device's blocks are as those that are simulated.
    pub fn blocks_larger(&self) -> f64 {
        f64::from(self.config.device.pages_per_block) / f64::from(pages_per_block(&self.config))
    }

    /// Bytes of a write that seldom meets an erase on blocks as they are simulated: of a quarter of
    /// a block, every fourth at most.
    pub fn seldom_erased(&self) -> u64 {
        self.config.device.page_bytes.0 * u64::from(pages_per_block(&self.config) / 4)
    }

    /// Runs so far.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// What probes of these devices come to, in the order in which they were asked for; the same
    /// for any number of threads. What was simulated before is not simulated again.
    ///
    /// # Errors
    /// A device that is not legal or does not bear its probes, and [`Error::Cancelled`].
    pub fn figures(&self, points: &[Point]) -> Result<Vec<Vec<Figures>>> {
        let mut groups: Vec<(usize, Group)> = Vec::new();
        for (place, point) in points.iter().enumerate() {
            let own = self.groups(point)?.into_iter();
            groups.extend(own.map(|group| (place, group)));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted: BTreeMap<&str, &Group> = groups
            .iter()
            .map(|(_, group)| (group.key.as_str(), group))
            .filter(|(key, _)| !known.contains_key(*key))
            .collect();
        let wanted: Vec<(&str, &Group)> = wanted.into_iter().collect();
        let done: Vec<Result<Vec<Figures>>> = self
            .pool
            .install(|| wanted.par_iter().map(|(_, group)| self.simulate(group)).collect());
        for ((key, _), figures) in wanted.iter().zip(done) {
            known.insert((*key).to_owned(), figures?);
        }
        let mut all: Vec<Vec<Figures>> =
            points.iter().map(|point| vec![Figures::default(); point.probes.len()]).collect();
        for (place, group) in &groups {
            for (probe, figures) in group.places.iter().zip(&known[&group.key]) {
                all[*place][*probe] = figures.clone();
            }
        }
        Ok(all)
    }

    /// The probes of a point by the devices that they begin with. Times that do not concern a probe
    /// are left as they are in the base, so that what they would not change is not simulated again.
    fn groups(&self, point: &Point) -> Result<Vec<Group>> {
        let both = [self.shared(point, false)?, self.shared(point, true)?];
        let one = |places: Vec<usize>| {
            let probes = places.iter().map(|place| point.probes[*place]);
            let shared = &both[usize::from(point.probes[places[0]].pattern.writes())];
            let runs: Vec<Experiment> =
                probes.clone().map(|probe| self.experiment(shared, point, probe)).collect();
            let key = runs.iter().map(|run| format!("{} {:?}", run.workload, run.timing));
            let key = format!(
                "{} {} {}",
                point.draw,
                shared.join(" "),
                key.collect::<Vec<_>>().join(" ")
            );
            Group { probes: probes.collect(), places, runs, key }
        };
        Ok(places(&point.probes).into_iter().map(one).collect())
    }

    /// Probes that begin with the like of one device.
    fn simulate(&self, group: &Group) -> Result<Vec<Figures>> {
        let mut first: Option<(Plan, Ready)> = None;
        let mut all = Vec::with_capacity(group.runs.len());
        for (experiment, probe) in group.runs.iter().zip(&group.probes) {
            let plan = experiment.plan_with(&Silent)?;
            let [run] = plan.runs.as_slice() else {
                return Err(Error::usage("a drive has one scheme"));
            };
            let preparation = Preparation::of(&plan, run);
            let like = first
                .as_ref()
                .filter(|(other, _)| preparation.is_like(&Preparation::of(other, &other.runs[0])));
            let taken = like.map(|(_, ready)| ready.duplicate());
            let (result, next) = match preparation.can_be_shared() {
                false => (plan.run(&Silent)?, None),
                true => {
                    let ready = match taken {
                        Some(ready) => ready,
                        None => preparation.make(None, &Silent)?,
                    };
                    let again = group.runs.len() > 1 && first.is_none();
                    let next = again.then(|| ready.duplicate());
                    let workload = plan.workload.open(plan.layout.capacity_bytes)?;
                    let own = Recording::default();
                    (execute_from(ready, &plan, run, &workload, &Silent, own)?, next)
                }
            };
            if let Some(ready) = next {
                first = Some((plan, ready));
            }
            self.runs.fetch_add(1, Ordering::Relaxed);
            going_on(self.task.advance(result.workload.requests))?;
            all.push(figures(&result, *probe)?);
        }
        Ok(all)
    }

    /// The settings of a point that all its probes share that write, or that read.
    fn shared(&self, point: &Point, writes: bool) -> Result<Vec<String>> {
        let config = in_topology(&self.config, point.topology);
        let row = ftlab_engine::schemes::find(SCHEME)?.0;
        let name = SCHEME.to_owned();
        let Scaled { set, erase } =
            scaled(&Chosen { name, by_name: true, row, config: config.clone() });
        let Optional(depth) = config.host.queue_depth;
        let depth = depth.unwrap_or(QUEUE_DEPTH);
        let mut all = selection::overrides(&self.base.set, self.base.buffer.as_deref())?;
        all.extend(set.iter().map(|(key, text)| format!("{key}={text}")));
        all.push(format!("host.queue_depth={depth}"));
        let mut times = point.times.clone();
        times.retain(|(parameter, _)| parameter.concerns(writes));
        if times.iter().all(|(parameter, _)| *parameter != Parameter::Erase) {
            times.push((Parameter::Erase, Parameter::Erase.base(&config)));
        }
        for (parameter, value) in times {
            let value = if parameter == Parameter::Erase { value * erase } else { value };
            let settings = parameter.settings(value, &self.config);
            all.extend(settings.into_iter().map(|(key, text)| format!("{key}={text}")));
        }
        Ok(all)
    }

    /// The run of a probe: what leads into the closed loop, what counts, and what keeps it going
    /// until all that counts is done.
    fn experiment(&self, shared: &[String], point: &Point, probe: Probe) -> Experiment {
        let requests = point.effort.requests_of(probe, self.config.device.unit_bytes());
        let Probe { pattern, bytes, depth } = probe;
        let precondition = match (pattern, &self.writes_from) {
            (Pattern::RandRead | Pattern::Read, _) => "touch".parse(),
            (_, Some(modes)) => Ok(modes.clone()),
            // As the job file leaves the drive: a device on which spare blocks are still free
            // writes without an erase, and the longer a probe is the fewer of its requests do.
            (Pattern::Write, None) => "wipc,cache=warm".parse(),
            (Pattern::RandWrite, None) => "steady:0.25x,cache=warm".parse(),
        };
        let part = |name: &str, count: u64, seed: u64| {
            let seed = 3 * point.draw + seed;
            format!("{name}=({}:bs={bytes},count={count},seed={seed})", pattern.name())
        };
        let depth_requests = u64::from(depth);
        let parts = [
            part("lead", LEAD_ROUNDS * depth_requests, 1),
            part(COUNTED, requests, 2),
            part("end", depth_requests, 3),
        ];
        Experiment {
            schemes: SCHEME.into(),
            buffer: None,
            set: shared.iter().map(String::as_str).collect(),
            workload: format!("phases:{}", parts.join(",")),
            precondition: precondition.expect("a mode that is legal"),
            timing: Some(Timing::ClosedLoop { depth: Some(depth) }),
            seed: self.base.seed.wrapping_add(point.draw),
            ..self.base.clone()
        }
    }
}

/// Places of probes that may share a device: those that write, by their order of addresses.
fn places(probes: &[Probe]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for pattern in [Pattern::RandWrite, Pattern::Write] {
        let places: Vec<usize> =
            (0..probes.len()).filter(|place| probes[*place].pattern == pattern).collect();
        if !places.is_empty() {
            all.push(places);
        }
    }
    let reads = (0..probes.len()).filter(|place| !probes[*place].pattern.writes());
    all.extend(reads.map(|place| vec![place]));
    all
}

/// Of the part that counts. Its rate follows from its mean: so many requests are always in flight.
fn figures(result: &RunResult, probe: Probe) -> Result<Figures> {
    let counted = result.phases.iter().find(|part| part.name == COUNTED);
    let latency = counted.map(|part| match probe.pattern.writes() {
        true => &part.latency_ns.write,
        false => &part.latency_ns.read,
    });
    let Some(latency) = latency.filter(|latency| latency.count > 0) else {
        return Err(Error::Run(format!("{probe}: none of its requests was completed")));
    };
    let p = &latency.percentile;
    let percentiles = [p.p50, p.p90, p.p95, p.p99, p.p99_9, p.p99_99];
    Ok(Figures {
        mean_ns: latency.mean,
        iops: f64::from(probe.depth) * 1e9 / latency.mean.max(1.0),
        percentile_ns: percentiles.map(|time| Some(time as f64)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::{Counts, Observer as _, Work};

    #[test]
    fn probes_that_write_share_a_device_by_their_order_of_addresses() {
        let probe = |pattern, depth| Probe { pattern, bytes: 4096, depth };
        let probes = [
            probe(Pattern::RandRead, 1),
            probe(Pattern::RandWrite, 1),
            probe(Pattern::Write, 1),
            probe(Pattern::RandWrite, 4),
        ];
        assert_eq!(places(&probes), [vec![1, 3], vec![2], vec![0]]);
    }

    /// All of what comes first comes at once and waits for less: four rounds from there on would
    /// have a mean a tenth too low.
    #[test]
    fn the_beginning_of_a_closed_loop_does_not_count() {
        let work = Work { label: "", length: None, counts: Counts::Requests };
        let config = crate::devices::find("tlc_nvme").unwrap().config;
        let base = Experiment { device: "tlc_nvme".to_owned(), ..Experiment::default() };
        let simulator = Simulator::new(base, config, None, 1, Silent.begins(&work)).unwrap();
        let mean = |requests| {
            let topology = Topology { channels: 8, dies: 4, planes: 2 };
            let probes = vec![Probe { pattern: Pattern::RandRead, bytes: 131_072, depth: 64 }];
            let effort = Effort { requests, units: 32 * requests, rounds: 1 };
            let point = Point { topology, times: Vec::new(), probes, effort, draw: 0 };
            simulator.figures(&[point]).unwrap()[0][0].mean_ns
        };
        let (brief, long) = (mean(256), mean(4096));
        assert!((brief / long - 1.0).abs() < 0.03, "{brief} {long}");
    }

    #[test]
    fn a_probe_is_long_enough_for_its_depth_and_short_where_requests_are_large() {
        let count = |bytes, depth| {
            Effort::of(4_000).requests_of(Probe { pattern: Pattern::Read, bytes, depth }, 4096)
        };
        assert_eq!([count(4096, 1), count(131_072, 1), count(131_072, 256)], [4_000, 1_000, 4_096]);
        assert_eq!(Effort::of(4_000).brief().requests, 1_000);
    }
}
