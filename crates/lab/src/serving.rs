//! A device that requests reach from outside, as clients send them: planned and prepared as that of
//! a run, without a workload, and told in the same result.
//!
//! Who brings the requests, and what becomes of their data, is not this crate's business.

use ftlab_engine::config::{Config, UnwrittenRead};
use ftlab_engine::schemes::Row;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;
use ftlab_report::derive::{RunFacts, derive, json};
use ftlab_report::result::{RunResult, Workload};
use serde_json::{Map, Value};

use crate::devices;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::memory::peak_rss_bytes;
use crate::memory_use::sized;
use crate::observer::Observer;
use crate::options::precondition::Mode;
use crate::plan::scheme_plan::SchemePlan;
use crate::plan::snapshot::binding_settings;
use crate::run::filling::Prepared;
use crate::run::preparing::{Preparation, Ready};
use crate::run::{execute, rest, warnings};
use crate::selection;

/// Settings under which something besides the flash outlives a power cut, and the value under which
/// nothing does: a key by its last part.
const FLASH_ALONE: [(&str, &str); 3] =
    [("consistency", "replay"), ("host_memory", "lost"), ("ram_nonvolatile", "false")];

/// A device as it was planned.
pub struct Serving {
    run: SchemePlan,
    experiment: Experiment,
}

/// A device to be driven.
pub struct Served {
    /// The device, on which nothing was measured yet.
    pub device: Box<dyn Device>,
    prepared: Prepared,
}

/// What whoever drove a device knows of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where its requests came from.
    pub name: String,
    /// When they arrived, as the option says it.
    pub timing: String,
    /// What makes the like again.
    pub command: String,
    /// Requests.
    pub requests: u64,
    /// Distinct logical pages that were read or written.
    pub footprint_pages: u64,
    /// When the last request was done, ns.
    pub simulated_ns: Nanos,
    /// Since the first one, seconds.
    pub wall_seconds: f64,
    /// When serving began, RFC 3339 in UTC.
    pub started: String,
    /// More that a reader must see.
    pub warnings: Vec<String>,
}

impl Experiment {
    /// Plans a device that is driven from outside; of the options `schemes` (one), `device`,
    /// `capacity`, `buffer`, `set`, `precondition` and `seed` count.
    ///
    /// # Errors
    /// [`Error::Usage`]: what is not legal, or needs a workload.
    pub fn serving(&self, observer: &dyn Observer) -> Result<Serving> {
        let device = devices::find(&self.device)?;
        let overrides = selection::overrides(&self.set, self.buffer.as_deref())?;
        let mut chosen = selection::choose(&self.schemes, &device.config, &overrides)?;
        if chosen.len() != 1 {
            return Err(Error::usage("a drive has one scheme; legal: --scheme NAME"));
        }
        sized(&mut chosen, self.capacity, "a drive")?;
        let chosen = chosen.swap_remove(0);
        if chosen.config.io.unwritten_read == UnwrittenRead::Preload {
            return Err(Error::usage(
                "io.unwritten_read = preload needs a workload that is known beforehand, and a drive \
                 has none; legal: another value",
            ));
        }
        if let Some(die) = chosen.config.nand.failing_die.0 {
            return Err(Error::usage(format!(
                "nand.failing_die = {die} is nothing for a drive, whose store does not keep that a \
                 die has failed; legal: auto"
            )));
        }
        let run = SchemePlan::new(chosen, &self.precondition, self.seed, observer)?;
        let legal = matches!(
            run.mode,
            Mode::None | Mode::Fill | Mode::Random(_) | Mode::Wipc | Mode::Steady(_)
        );
        if !legal {
            return Err(Error::usage(format!(
                "--precondition {} is nothing for a drive; legal: none, fill, random:Nx, wipc, \
                 steady[:Nx]",
                run.mode
            )));
        }
        Ok(Serving { run, experiment: self.clone() })
    }
}

impl Serving {
    /// The scheme as it was asked for.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.run.chosen.name
    }

    /// Its row of the table.
    #[must_use]
    pub fn row(&self) -> &'static Row {
        self.run.chosen.row
    }

    /// The settings in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.run.chosen.config
    }

    /// Whether anything is done to the device before it is served.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.run.mode != Mode::None
    }

    /// Whether the device is found again from its flash and phase-change memory alone.
    ///
    /// # Errors
    /// [`Error::Usage`]: a setting says that something else outlives a power cut.
    pub fn found_from_flash(&self) -> Result<()> {
        let (row, config) = (self.row(), self.config());
        for described in config.describe() {
            let (group, name) = described.key.rsplit_once('.').unwrap_or(("", &described.key));
            let reads = group == "device" || row.reads(config, group);
            let legal = FLASH_ALONE.iter().find(|(key, _)| *key == name);
            let Some((_, legal)) = legal.filter(|_| reads) else { continue };
            let value = match json(&described.value) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            if value != *legal {
                return Err(Error::usage(format!(
                    "--store keeps flash and phase-change memory, and under {} = {value} something \
                     else outlives a power cut; legal: {}={legal}",
                    described.key, described.key
                )));
            }
        }
        Ok(())
    }

    /// The scheme and the settings that say what lies on its flash: what a store must be of.
    #[must_use]
    pub fn identity(&self) -> Map<String, Value> {
        let row = self.row();
        let mut all = Map::new();
        all.insert("scheme".to_owned(), row.paper.name.into());
        all.extend(binding_settings(row, self.config(), self.experiment.seed));
        all
    }

    /// Makes the device and prepares it.
    ///
    /// # Errors
    /// [`Error::Run`]: it cannot be prepared; [`Error::Cancelled`].
    pub fn open(&self, observer: &dyn Observer) -> Result<Served> {
        let ready = Preparation::alone(&self.run, self.experiment.seed).make(None, observer)?;
        let Ready { device, prepared } = ready;
        Ok(Served { device, prepared })
    }

    /// Makes the device as it leaves the factory, for what a store holds to be put onto it.
    ///
    /// # Errors
    /// As of [`Serving::open`].
    pub fn blank(&self, observer: &dyn Observer) -> Result<Served> {
        let mode = Mode::None;
        let run = SchemePlan { chosen: self.run.chosen.clone(), mode, snapshot: None, ..self.run };
        let ready = Preparation::alone(&run, self.experiment.seed).make(None, observer)?;
        let Ready { device, prepared } = ready;
        Ok(Served { device, prepared })
    }

    /// The result so far. `audited`: after a look at the whole device, as at the end of a run.
    ///
    /// # Errors
    /// [`Error::Run`]: the audit did not pass.
    pub fn result(&self, served: &Served, seen: Seen, audited: bool) -> Result<RunResult> {
        let Served { device, prepared } = served;
        let (device, name) = (device.as_ref(), self.scheme());
        if audited {
            device
                .audit()
                .map_err(|why| Error::Run(format!("{name}: the audit did not pass: {why}")))?;
        }
        let [reads, writes, ..] = device.board().meter().host().requests;
        let accesses = (reads + writes).max(1);
        let mut warnings = warnings::of_device(&self.run, device);
        warnings.extend(prepared.warning.clone());
        warnings.extend(seen.warnings);
        let facts = RunFacts {
            row: self.row(),
            config: self.config().clone(),
            scheme: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workload: Workload {
                name: seen.name,
                requests: seen.requests,
                read_ratio: reads as f64 / accesses as f64,
                footprint_pages: seen.footprint_pages,
                address: "strict".to_owned(),
                ..Workload::default()
            },
            seed: self.experiment.seed,
            precondition: prepared.precondition.clone(),
            steady_state: prepared.steady_state.clone(),
            warnings,
            simulated_ns: seen.simulated_ns,
            longest_queue: 0,
            wall_seconds: seen.wall_seconds,
            worn_out: None,
        };
        let mut result = derive(device, facts);
        if !audited {
            result.audit.clear();
        }
        let steady = &mut result.steady_state;
        (steady.response, steady.extra_programs) = rest::trends(&result.series);
        result.wall.peak_rss_bytes = peak_rss_bytes();
        result.made = execute::made_by(seen.command, seen.timing, seen.started);
        Ok(result)
    }
}
