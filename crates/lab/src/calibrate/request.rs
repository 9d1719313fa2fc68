//! What is asked for, and what came of it.

use std::num::NonZero;

use ftlab_engine::config::{ClockKind, Config};
use ftlab_engine::schemes;
use ftlab_report::calibration::{self, Calibration, Topology};

use crate::calibrate::device_file;
use crate::calibrate::fio;
use crate::calibrate::identified::IDENTIFIED_WITHIN;
use crate::calibrate::jobs::Understood;
use crate::calibrate::observations::{misfit, ratios};
use crate::calibrate::problems::Target;
use crate::calibrate::scale::in_topology;
use crate::calibrate::search::{Found, Search};
use crate::calibrate::simulate::{Effort, SCHEME, Simulator};
use crate::calibrate::times::{Bound, Time};
use crate::calibrate::words::{doubt, words};
use crate::devices::{self, DeviceText};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::observer::{Counts, Observer, Work};
use crate::options::precondition::Modes;
use crate::options::settings::{Settings, pairs};
use crate::selection;

/// How far from the base topologies reach: a factor to either side.
const REACH: u32 = 4;
/// Most channels, dies of a package and planes of a die that are tried where nothing is stated.
const MOST: [u32; 3] = [32, 16, 4];
/// Requests of a probe that are simulated, at least.
const REQUESTS_LEAST: u64 = 100;
/// Most topologies.
const TOPOLOGIES_MAX: usize = 512;

/// A calibration that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files that fio wrote.
    pub files: Vec<String>,
    /// The device to begin with: bundled, or a TOML file.
    pub base: String,
    /// A host write buffer in front of it.
    pub buffer: Option<String>,
    /// Its settings that are overridden.
    pub set: Settings,
    /// Channels to try; powers of two about the base's where there is none.
    pub channels: Vec<u32>,
    /// Dies of a package to try, alike.
    pub dies: Vec<u32>,
    /// Planes of a die to try, alike.
    pub planes: Vec<u32>,
    /// How devices are prepared before probes that write; as the job file brings the drive where
    /// nothing is stated.
    pub precondition: Option<Modes>,
    /// Requests of a probe that are simulated, at least 100; 4000 where nothing is stated.
    pub requests: Option<u64>,
    /// Seed of the devices.
    pub seed: u64,
    /// Simulations side by side; as many as cores where nothing is stated.
    pub jobs: Option<NonZero<usize>>,
    /// The command line, for the file that is written.
    pub command: String,
}

/// A device that was fitted.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// What was found.
    pub found: Calibration,
    /// The device file.
    pub device: String,
}

impl Request {
    /// Reads, searches, and writes the device file.
    ///
    /// # Errors
    /// [`Error::Usage`]: fewer than 100 requests of a probe, files that fio did not write or that
    /// hold no probe, a base that is not legal; [`Error::Run`] where a run fails;
    /// [`Error::Cancelled`].
    pub fn run(&self, observer: &dyn Observer) -> Result<Calibrated> {
        let requests = self.requests.unwrap_or(Effort::REQUESTS);
        if requests < REQUESTS_LEAST {
            return Err(Error::usage(format!(
                "requests = {requests} are too few for the percentiles of a probe; legal: \
                 {REQUESTS_LEAST} or more"
            )));
        }
        let (files, mut understood) = self.read()?;
        let DeviceText { text, .. } = devices::text_of(&self.base)?;
        let overrides = selection::overrides(&self.set, self.buffer.as_deref())?;
        let base = devices::find(&self.base)?.config;
        let config = selection::choose(&SCHEME.into(), &base, &overrides)?.remove(0).config;
        config.check()?;
        self.refuse_event_clock(&config)?;
        let topologies = self.topologies(&config)?;
        let work = Work { label: "fitting", length: None, counts: Counts::Requests };
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let jobs = self.jobs.map_or(cores, NonZero::get);
        let experiment = Experiment {
            device: self.base.clone(),
            buffer: self.buffer.clone(),
            set: self.set.clone(),
            seed: self.seed,
            ..Experiment::default()
        };
        let task = observer.begins(&work);
        let modes = self.precondition.clone();
        let simulator = Simulator::new(experiment, config.clone(), modes, jobs, task)?;
        if !simulator.blocks_are_whole() {
            understood.leave_tails_of_writes(simulator.seldom_erased(), simulator.blocks_larger());
        }
        let effort = Effort::of(requests);
        let target = Target { simulator: &simulator, measured: &understood.measured, effort };
        let search = Search { target, topologies: &topologies, base: own_topology(&config) };
        let result = search.run()?;
        let simulations = simulator.runs();
        drop(simulator);
        let found = self.told(&files, understood, result, &config);
        let found = Calibration { simulations, ..found };
        let set = pairs(&overrides)?;
        let device = device_file::written(&text, &config, &set, &found)?;
        Ok(Calibrated { found, device })
    }

    /// The probes of all files, and which fio wrote each.
    fn read(&self) -> Result<(Vec<(String, String)>, Understood)> {
        let mut understood = Understood::default();
        let mut files = Vec::new();
        for file in &self.files {
            for document in fio::read(file)? {
                understood.add(file, &document)?;
                let version = document.version.clone().unwrap_or_default();
                if !files.contains(&(file.clone(), version.clone())) {
                    files.push((file.clone(), version));
                }
            }
        }
        if understood.measured.is_empty() {
            let why = understood.left_out.iter().map(|(job, why)| format!("{job}: {why}"));
            return Err(Error::usage(format!(
                "there is no probe in {}:\n{}\nlegal: jobs of fio with rw = randread, read, \
                 randwrite or write (`ftlab calibrate --job-file` prints such)",
                self.files.join(", "),
                why.collect::<Vec<_>>().join("\n")
            )));
        }
        understood.refuse_repeated()?;
        Ok((files, understood))
    }

    /// Probes lie at other depths than what the device holds, and are told apart in one run from
    /// what leads into them: neither goes with an event-driven clock.
    fn refuse_event_clock(&self, config: &Config) -> Result<()> {
        match config.timing.clock {
            ClockKind::CallOrder => Ok(()),
            ClockKind::Event => Err(Error::usage(format!(
                "{} has timing.clock = event, which simulates a closed loop of no other depth than \
                 host.queue_depth, and probes have many; legal: --set timing.clock=call_order",
                self.base
            ))),
        }
    }

    /// What is tried: every combination of what was stated, else of powers of two about the base's
    /// own; of those that were not stated in all three only what the device can be.
    fn topologies(&self, config: &Config) -> Result<Vec<Topology>> {
        let own = own_topology(config);
        let row = schemes::find(SCHEME)?.0;
        let tried = |stated: &[u32], own: u32, most: u32| match stated {
            [] => about(own, most),
            stated => stated.to_vec(),
        };
        let [most_channels, most_dies, most_planes] = MOST;
        let mut all = Vec::new();
        for channels in tried(&self.channels, own.channels, most_channels) {
            for dies in tried(&self.dies, own.dies, most_dies) {
                for planes in tried(&self.planes, own.planes, most_planes) {
                    all.push(Topology { channels, dies, planes });
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.len() > TOPOLOGIES_MAX {
            return Err(Error::usage(format!(
                "{} topologies are too many; legal: up to {TOPOLOGIES_MAX}, as combinations of \
                 --channels, --dies and --planes",
                all.len()
            )));
        }
        let can_be = |topology: &Topology| {
            let other = in_topology(config, *topology);
            let blocks = other.device.physical_blocks();
            other.check().is_ok() && (row.minimum_blocks)(&other) <= blocks
        };
        let legal: Vec<Topology> = all.iter().copied().filter(can_be).collect();
        let lost = |name: &str, stated: &[u32], of: fn(&Topology) -> u32| {
            let lost = stated.iter().filter(|value| !legal.iter().any(|one| of(one) == **value));
            lost.map(|value| format!("--{name} {value}")).collect::<Vec<_>>()
        };
        let lost = [
            lost("channels", &self.channels, |one| one.channels),
            lost("dies", &self.dies, |one| one.dies),
            lost("planes", &self.planes, |one| one.planes),
        ]
        .concat();
        let every = [&self.channels, &self.dies, &self.planes].iter().all(|one| !one.is_empty());
        if lost.is_empty() && !legal.is_empty() && !(every && legal.len() < all.len()) {
            return Ok(legal);
        }
        let wrong: Vec<String> =
            all.iter().filter(|one| !can_be(one)).map(ToString::to_string).collect();
        let lost = match lost.is_empty() {
            true => String::new(),
            false => format!("nothing is left of {}: ", lost.join(", ")),
        };
        Err(Error::usage(format!(
            "{lost}{} cannot be {} (channels x dies x planes): illegal numbers, or too few blocks in \
             a plane for the scheme; legal: others, or a larger device",
            self.base,
            wrong.join(", ")
        )))
    }

    /// What was found, as it is told.
    fn told(
        &self,
        files: &[(String, String)],
        understood: Understood,
        result: Found,
        config: &Config,
    ) -> Calibration {
        let Found { topology, tried, times, simulated, fitted, notes } = result;
        let parameters =
            times.into_iter().map(|Time { parameter, value, interval, given, bound, together }| {
                calibration::Parameter {
                    key: parameter.key().to_owned(),
                    about: parameter.about().to_owned(),
                    unit: parameter.unit(),
                    base: parameter.base(config),
                    value,
                    interval: interval.as_ref().ok().copied(),
                    given: given.into_iter().map(|one| one.key().to_owned()).collect(),
                    doubt: String::new(),
                    why: interval.err().unwrap_or_default(),
                    at_least: bound.and_then(|bound| match bound {
                        Bound::AtLeast(value) => Some(value),
                        Bound::AtMost(_) => None,
                    }),
                    at_most: bound.and_then(|bound| match bound {
                        Bound::AtLeast(_) => None,
                        Bound::AtMost(value) => Some(value),
                    }),
                    together,
                }
            });
        let mut parameters: Vec<calibration::Parameter> = parameters.collect();
        let noted = understood.notes();
        let mut logs = Vec::new();
        let mut probes = Vec::new();
        let both = understood.measured.into_iter().zip(simulated).zip(fitted);
        for ((measured, simulated), fitted) in both {
            let own: Vec<f64> =
                ratios(&measured.fitted(), &simulated).into_iter().map(|(log, _)| log).collect();
            if fitted {
                logs.extend_from_slice(&own);
            }
            probes.push(calibration::Probe {
                jobs: vec![measured.job],
                pattern: measured.probe.pattern.name(),
                bytes: measured.probe.bytes,
                depth: measured.probe.depth,
                measured: measured.figures,
                simulated,
                fitted,
                tails: measured.tails,
                misfit: misfit(own.into_iter()),
            });
        }
        for one in &mut parameters {
            if one.interval.is_some() || one.together.is_some() {
                one.doubt = doubt(one, &probes);
            }
        }
        let (figures, whole) = (logs.len(), misfit(logs.into_iter()));
        let mut said = words(&probes, &parameters, tried.len(), (figures, whole));
        said.extend(notes);
        said.extend(noted);
        Calibration {
            schema: calibration::SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.clone(),
            files: files.to_vec(),
            base: self.base.clone(),
            set: self.set.as_slice().to_vec(),
            topology,
            topologies: tried,
            parameters,
            probes,
            left_out: understood.left_out,
            identified_within: IDENTIFIED_WITHIN,
            misfit: whole,
            words: said,
            simulations: 0,
        }
    }
}

fn own_topology(config: &Config) -> Topology {
    let device = &config.device;
    Topology { channels: device.channels, dies: device.dies, planes: device.planes }
}

/// Powers of two from a quarter to four times the base's own, and that one.
fn about(own: u32, most: u32) -> Vec<u32> {
    let (least, most) = ((own / REACH).max(1), (own * REACH).min(most.max(own)));
    let powers = (0..31).map(|power| 1_u32 << power);
    let mut all: Vec<u32> =
        powers.filter(|power| (least..=most).contains(power)).chain([own]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::scale::scaled;

    #[test]
    fn topologies_are_powers_of_two_about_the_base_and_what_it_can_be() {
        assert_eq!(about(8, 32), [2, 4, 8, 16, 32]);
        assert_eq!(about(1, 16), [1, 2, 4]);
        assert_eq!(about(6, 32), [1, 2, 4, 6, 8, 16]);
        let config = devices::find("tlc_nvme").unwrap().config;
        let all = Request::default().topologies(&config).unwrap();
        assert!(all.contains(&Topology { channels: 8, dies: 4, planes: 2 }));
        let largest = Topology { channels: 32, dies: 16, planes: 4 };
        assert!(!all.contains(&largest), "2048 planes leave eleven blocks in each");
        let stated =
            Request { channels: vec![32], dies: vec![16], planes: vec![4], ..Request::default() };
        let refusal = stated.topologies(&config).unwrap_err().to_string();
        assert!(refusal.contains("cannot be 32 x 16 x 4"), "{refusal}");
        let one = Request { channels: vec![8, 4096], ..Request::default() };
        let refusal = one.topologies(&config).unwrap_err().to_string();
        assert!(refusal.starts_with("nothing is left of --channels 4096: "), "{refusal}");
    }

    /// What is tried without a word of the user's can be simulated: of little to spare in many
    /// planes a model of two dozen rows would have had too few blocks for the scheme.
    #[test]
    fn every_topology_that_is_tried_has_a_scale_model() {
        let mut tried = 0;
        for name in ["tlc_nvme", "qlc_nvme", "consumer_tlc", "ssdsim2010", "slc_small"] {
            let config = devices::find(name).unwrap().config;
            let config = selection::choose(&SCHEME.into(), &config, &[]).unwrap().remove(0).config;
            for topology in Request::default().topologies(&config).unwrap() {
                let config = in_topology(&config, topology);
                let (name, row) = (SCHEME.to_owned(), schemes::find(SCHEME).unwrap().0);
                let chosen = selection::Chosen { name, by_name: true, row, config };
                let mut small = chosen.config.clone();
                for (key, text) in scaled(&chosen).set {
                    small.set(key, &text).unwrap();
                }
                let (least, blocks) =
                    ((row.minimum_blocks)(&small), small.device.physical_blocks());
                assert!(
                    least <= blocks && small.check().is_ok(),
                    "{topology}: {least} of {blocks}"
                );
                tried += 1;
            }
        }
        assert!(tried > 100, "{tried}");
    }
}
