//! What an experiment says about schemes and devices, read as far as no workload is needed for it.

use ftlab_engine::config::Config;
use ftlab_engine::future::Known;

use crate::devices;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::observer::Observer;
use crate::options::text::legal;
use crate::plan::future;
use crate::plan::repeat::Repeat;
use crate::selection::{self, Chosen};
use crate::workload::choice::WorkloadChoice;

/// Schemes with their settings, and those of the workload.
pub struct Asked {
    /// The schemes, in the order asked for, with the device as its file has it.
    pub chosen: Vec<Chosen>,
    /// Settings of the workload.
    pub changes: Vec<(String, String)>,
    /// How often the workload is run.
    pub repeat: Repeat,
}

impl Asked {
    /// Reads what can be read without the workload.
    pub fn of(experiment: &Experiment) -> Result<Self> {
        check_values(experiment)?;
        let device = devices::find(&experiment.device)?;
        let buffer = experiment.buffer.as_deref();
        let mut overrides = selection::overrides(&experiment.set, buffer)?;
        let changes = selection::workload_changes(&mut overrides)?;
        let mut chosen = selection::choose(&experiment.schemes, &device.config, &overrides)?;
        let repeat = Repeat::of(experiment.until, experiment.passes)?;
        for one in chosen.iter_mut().filter(|_| repeat == Repeat::UntilWornOut) {
            one.config.wear.blocks_die = true;
        }
        for one in &mut chosen {
            decide_itself(&mut one.config, experiment)?;
        }
        // Settings are judged before the workload is read.
        future::tell(&mut chosen, &Known::default());
        Ok(Asked { chosen, changes, repeat })
    }

    /// The schemes, in the order asked for.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.chosen.iter().map(|one| one.name.as_str())
    }

    /// The workload of the same experiment, which is not opened yet; see [`WorkloadChoice::new`].
    pub fn workload(
        &self,
        experiment: &Experiment,
        observer: Option<&dyn Observer>,
    ) -> Result<WorkloadChoice> {
        WorkloadChoice::new(&experiment.workload, &experiment.reading(), &self.changes, observer)
    }
}

/// The own policies of a program, and the settings that have them asked. Schemes that run side by
/// side count apart how often.
fn decide_itself(config: &mut Config, experiment: &Experiment) -> Result<()> {
    let own = &experiment.own;
    let mut set = |key: &str, text: &str| {
        let before = config.describe().into_iter().find(|one| one.key == key);
        config.set(key, text).map_err(|error| Error::usage(error.to_string()))?;
        let after = config.describe().into_iter().find(|one| one.key == key);
        let is_other = before.map(|one| one.value) != after.map(|one| one.value);
        if is_other && experiment.set.state(key) {
            return Err(Error::usage(format!(
                "{key} is stated, and a policy of the calling program decides in its place; legal: \
                 one of the two"
            )));
        }
        Ok(())
    };
    if own.victim.is_some() {
        set("gc.victim", "own")?;
    }
    if own.placement.is_some() {
        set("gc.placement", "own")?;
    }
    if own.cache.is_some() {
        set("dftl.cmt_policy", "own")?;
    }
    config.own = own.counted_apart();
    Ok(())
}

/// Options that were built without text must be what their text may say.
fn check_values(experiment: &Experiment) -> Result<()> {
    experiment.capacity.iter().try_for_each(legal)?;
    experiment.timing.iter().try_for_each(legal)?;
    experiment.ram.iter().try_for_each(legal)?;
    experiment.probe.iter().try_for_each(legal)?;
    legal(&experiment.precondition)
}
