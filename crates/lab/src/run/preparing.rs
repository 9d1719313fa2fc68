//! A device at the beginning of what is measured, and what it is made from.

use ftlab_engine::ssd::Device;

use crate::error::{Error, Result};
use crate::observer::{Observer, Steps};
use crate::options::precondition::Mode;
use crate::plan::footprint::Footprint;
use crate::plan::plan::Plan;
use crate::plan::scheme_plan::SchemePlan;
use crate::plan::snapshot::Snapshot;
use crate::run::filling::{Filler, Own, Prepared, counts, length};
use crate::selection::Chosen;

/// All that a device is prepared from: whoever prepares it has nothing else at hand, but for the
/// requests of the workload where these prepare it. So what is [like](Self::is_like) another one
/// leads to the same device, bit by bit.
#[derive(Clone, Copy)]
pub struct Preparation<'a> {
    run: &'a SchemePlan,
    seed: u64,
    verify: bool,
    footprint: Option<&'a Footprint>,
}

impl<'a> Preparation<'a> {
    /// That of one scheme of a plan.
    pub fn of(plan: &'a Plan, run: &'a SchemePlan) -> Self {
        let Plan { seed, verify, ref footprint, .. } = *plan;
        Preparation { run, seed, verify, footprint: footprint.as_ref() }
    }

    /// Whether other runs can begin with a duplicate of the device: something is done to it, and
    /// that without requests of the workload.
    pub fn can_be_shared(&self) -> bool {
        !self.run.mode.takes_requests() && (self.run.mode != Mode::None || self.footprint.is_some())
    }

    /// Whether both make the same device, and tell the same of it. Every field is named, so that
    /// one that is added must be compared, too.
    pub fn is_like(&self, other: &Self) -> bool {
        let Preparation { run, seed, verify, footprint } = *self;
        let SchemePlan { chosen, mode, cache, unclean, snapshot } = run;
        // How a scheme was asked for changes nothing about it.
        let Chosen { name, by_name: _, row, config } = chosen;
        let theirs = other.run;
        let file = snapshot.as_ref().map(Snapshot::digest);
        seed == other.seed
            && verify == other.verify
            && *mode == theirs.mode
            && *cache == theirs.cache
            && *unclean == theirs.unclean
            && file == theirs.snapshot.as_ref().map(Snapshot::digest)
            && *name == theirs.chosen.name
            && row.paper.name == theirs.chosen.row.paper.name
            && *config == theirs.chosen.config
            && footprint == other.footprint
    }

    /// Makes the device; with requests of the workload where [`Mode::takes_requests`].
    pub fn make(&self, own: Option<Own<'_>>, observer: &dyn Observer) -> Result<Ready> {
        let Preparation { run, seed, verify, footprint } = *self;
        let Chosen { name, row, config, .. } = &run.chosen;
        let mut device = (row.open)(config, seed).map_err(|error| Error::unsuited(name, &error))?;
        if verify {
            device.verify_reads();
        }
        let label = format!("{name} (preparing)");
        let expected = length(&run.mode, &config.device);
        let steps = Steps::of(observer, counts(&run.mode), &label, expected);
        let filler = Filler::new(device.as_mut(), &steps);
        let prepared =
            filler.prepare(run, seed, footprint, own).map_err(|error| error.of(name))?;
        Ok(Ready { device, prepared })
    }
}

/// A device at the beginning of what is measured.
pub struct Ready {
    /// The device.
    pub device: Box<dyn Device>,
    /// What was done to it.
    pub prepared: Prepared,
}

impl Ready {
    /// Another one like it, for another run.
    pub fn duplicate(&self) -> Self {
        Ready { device: self.device.duplicate(), prepared: self.prepared.clone() }
    }
}
