//! The run of a plan for one scheme.

use ftlab_engine::ssd::Device;
use ftlab_report::result::RunResult;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::files::{CompleteFile, ResultFile};
use crate::observer::{Observer, Silent};
use crate::plan::plan::{Known, Plan, planned};
use crate::plan::snapshot;
use crate::run::beside::Paths;
use crate::run::execute::execute;
use crate::run::recording::Recording;
use crate::selection::Chosen;

impl Experiment {
    /// Plans the runs, and refuses everything that can be refused before one begins. That can take
    /// passes over the workload: one over any trace, more for `capacity = "auto"`, for
    /// `precondition = "touch"` and for devices that preload; [`Experiment::plan_with`] is watched
    /// meanwhile. A plan of several schemes can be looked at; [`Experiment::compare`] runs them.
    ///
    /// # Errors
    /// [`Error::Usage`]: names, values and combinations that are not legal, files that cannot be
    /// read or exist already.
    pub fn plan(&self) -> Result<Plan> {
        self.plan_with(&Silent)
    }

    /// The same, watched.
    ///
    /// # Errors
    /// As [`Experiment::plan`], and [`Error::Cancelled`].
    pub fn plan_with(&self, observer: &dyn Observer) -> Result<Plan> {
        let plan = planned(self, Known::default(), observer)?;
        if let [run] = plan.runs.as_slice() {
            Paths::of(&plan).check(None)?;
            let snapshot = self.save_snapshot.as_deref();
            snapshot.map(|path| snapshot::check_wanted(path, &run.chosen)).transpose()?;
        }
        Ok(plan)
    }
}

/// A run that is done.
pub struct Finished {
    /// What came out.
    pub result: RunResult,
    device: Box<dyn Device>,
    chosen: Chosen,
    seed: u64,
    /// Where the snapshot goes, if one is wanted.
    snapshot: Option<ResultFile>,
}

impl Finished {
    /// Writes the snapshot that the experiment asks for, if it does, watched.
    ///
    /// # Errors
    /// The device fails while it is flushed, or the file cannot be written, and
    /// [`Error::Cancelled`]; then no file is left.
    pub fn save_snapshot(mut self, observer: &dyn Observer) -> Result<RunResult> {
        if let Some(file) = self.snapshot {
            snapshot::save(file, self.device.as_mut(), (&self.chosen, self.seed), observer)?;
        }
        Ok(self.result)
    }
}

impl Plan {
    /// Runs the scheme of this plan, writes the files that the experiment asks for, and returns the
    /// result.
    ///
    /// # Errors
    /// [`Error::Usage`] where the plan has several schemes ([`Experiment::compare`] runs those) or
    /// the workload turns out to be illegal, [`Error::Run`] where the run fails, and
    /// [`Error::Cancelled`]. No file is left then, but where the run is done and only its snapshot
    /// fails, the files of requests and of trace events stay.
    pub fn run(&self, observer: &dyn Observer) -> Result<RunResult> {
        self.run_and_keep(observer)?.save_snapshot(observer)
    }

    /// The same, but that the snapshot is still to be written: whatever becomes of that, the result
    /// is there.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_and_keep(&self, observer: &dyn Observer) -> Result<Finished> {
        let [run] = self.runs.as_slice() else {
            return Err(Error::usage("a run takes one scheme"));
        };
        let unfinished = observer.unfinished();
        let beside = Paths::of(self);
        beside.check(None)?;
        let mut files = beside.begin(&unfinished)?;
        let snapshot = self.save_snapshot.as_deref();
        let snapshot = snapshot.map(|path| {
            snapshot::check_wanted(path, &run.chosen)?;
            ResultFile::begin(path, &unfinished)
        });
        let snapshot = snapshot.transpose()?;
        let recording = Recording::of(self, &mut files);
        let (result, device) = match &self.opened {
            Some(workload) => execute(self, run, workload, observer, recording)?,
            None => {
                let workload = self.workload.open(self.layout.capacity_bytes)?;
                execute(self, run, &workload, observer, recording)?
            }
        };
        files.complete()?.into_iter().try_for_each(CompleteFile::publish)?;
        Ok(Finished { result, device, chosen: run.chosen.clone(), seed: self.seed, snapshot })
    }
}
