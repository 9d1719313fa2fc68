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

    /// That of a scheme without a workload, whose mode needs none.
    pub fn alone(run: &'a SchemePlan, seed: u64) -> Self {
        Preparation { run, seed, verify: false, footprint: None }
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
        let prepared = filler.prepare(run, seed, footprint, own).map_err(|error| error.of(name))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::observer::Silent;
    use crate::options::capacity::Capacity;

    fn base() -> Experiment {
        Experiment {
            schemes: "dftl".into(),
            device: "slc_small".to_owned(),
            capacity: Some(Capacity::Bytes(8 << 20)),
            set: ["device.over_provisioning=0.3"].into_iter().collect(),
            workload: "randwrite:bs=4k,span=4MiB,count=200,seed=5".to_owned(),
            precondition: "fill".parse().unwrap(),
            ..Experiment::default()
        }
    }

    fn planned(experiment: &Experiment) -> Plan {
        experiment.plan_with(&Silent).unwrap()
    }

    /// Whether what another experiment prepares is like what the base does.
    fn is_like(base: &Plan, other: &Experiment) -> bool {
        let plan = planned(other);
        Preparation::of(base, &base.runs[0]).is_like(&Preparation::of(&plan, &plan.runs[0]))
    }

    #[test]
    fn what_shapes_a_device_tells_preparations_apart_and_nothing_else_does() {
        let plan = planned(&base());
        let with = |change: &dyn Fn(&mut Experiment)| {
            let mut other = base();
            change(&mut other);
            is_like(&plan, &other)
        };
        assert!(with(&|other| other.workload = other.workload.replace("seed=5", "seed=6")));
        assert!(with(&|other| other.workload = other.workload.replace("count=200", "count=9")));
        assert!(with(&|other| other.tail = true));
        assert!(with(&|other| other.passes = Some(2)));
        assert!(!with(&|other| other.seed = 2));
        assert!(!with(&|other| other.verify = true));
        assert!(!with(&|other| other.precondition = "random:1x".parse().unwrap()));
        assert!(!with(&|other| other.precondition = "fill,cache=cold".parse().unwrap()));
        assert!(!with(&|other| other.schemes = "tpftl".into()));
        assert!(!with(&|other| other.set.push("dftl.cmt_entries=100")));
        assert!(!with(&|other| other.capacity = Some(Capacity::Bytes(16 << 20))));
        assert!(!with(&|other| other.timing = Some("closed:4".parse().unwrap())));
    }

    #[test]
    fn pages_that_are_touched_tell_preparations_apart() {
        let touch = Experiment { precondition: "touch".parse().unwrap(), ..base() };
        let plan = planned(&touch);
        let longer = touch.workload.replace("count=200", "count=2000");
        assert!(is_like(&plan, &touch));
        assert!(!is_like(&plan, &Experiment { workload: longer, ..touch }));
    }

    #[test]
    fn only_what_takes_no_request_of_the_workload_can_be_shared() {
        let shared = |mode: &str| {
            let plan = planned(&Experiment { precondition: mode.parse().unwrap(), ..base() });
            Preparation::of(&plan, &plan.runs[0]).can_be_shared()
        };
        for mode in ["fill", "touch", "wipc", "random:1x", "steady"] {
            assert!(shared(mode), "{mode}");
        }
        for mode in ["none", "prefix:50", "warmup:50"] {
            assert!(!shared(mode), "{mode}");
        }
    }
}
