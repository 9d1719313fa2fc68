//! Runs of a comparison that are done, each kept at once in a file of its own, so that what ended
//! early can go on. It is no result: that is written when all runs are there.
//!
//! A file belongs to what its run follows from: scheme and effective settings, workload and how it
//! is read, preparation, timing, seed, and the program. Which other schemes were asked for is none
//! of it, unless they made the device another one.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ftlab_report::derive::json;
use ftlab_report::result::{RunResult, read_json};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::schemes::Schemes;
use crate::plan::plan::Plan;
use crate::plan::scheme_plan::SchemePlan;
use crate::reproduce::bundle::sha256;
use crate::unfinished::Claimed;

/// Hex digits of a digest that tell runs apart.
const DIGITS: usize = 24;

/// Where the runs of a comparison are kept until it is complete. Clones are the same place.
#[derive(Clone, Debug)]
pub struct KeptRuns(Arc<Place>);

#[derive(Debug)]
struct Place {
    /// Where the results go in the end.
    out: PathBuf,
    /// Where runs lie until then, a file each.
    folder: PathBuf,
    /// What tells this program from another.
    program: String,
    /// The place is removed at the end of the program until something lies in it.
    claim: Mutex<Option<Claimed>>,
    /// Runs that were found there.
    found: AtomicUsize,
}

impl KeptRuns {
    /// Keeps runs of `program` in `folder`, for results in `out`; `claim` ends when the first one
    /// is kept.
    #[must_use]
    pub fn new(out: &Path, folder: &Path, program: &str, claim: Claimed) -> Self {
        let kept = KeptRuns(Arc::new(Place {
            out: out.to_owned(),
            folder: folder.to_owned(),
            program: program.to_owned(),
            claim: Mutex::new(Some(claim)),
            found: AtomicUsize::new(0),
        }));
        if kept.count() > 0 {
            kept.last();
        }
        kept
    }

    /// Where the results go in the end.
    pub(crate) fn out(&self) -> &Path {
        &self.0.out
    }

    /// How many runs lie there.
    #[must_use]
    pub fn count(&self) -> usize {
        let files = fs::read_dir(&self.0.folder).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
    }

    /// How many of them plans that were made since then have a use for.
    #[must_use]
    pub fn found(&self) -> usize {
        self.0.found.load(Ordering::Relaxed)
    }

    /// The name of a run; none where it cannot be made again, as it reads standard input.
    pub(crate) fn name(&self, plan: &Plan, run: &SchemePlan) -> Option<String> {
        let workload = plan.description.as_ref()?;
        let chosen = &run.chosen;
        let settings: Map<String, Value> =
            chosen.config.describe().into_iter().map(|one| (one.key, json(&one.value))).collect();
        // Rows and trace events lie beside the results, under the names that the command gives
        // them.
        let own = Experiment {
            schemes: Schemes::default(),
            requests_out: None,
            trace_out: None,
            ..plan.experiment.clone()
        };
        let basis = serde_json::json!([
            env!("CARGO_PKG_VERSION"),
            self.0.program,
            own,
            chosen.name,
            settings,
            [&workload.name, &workload.sha256],
            [plan.requests_known, plan.layout.needed_bytes()],
            run.snapshot.as_ref().map(|snapshot| snapshot.digest()),
            plan.warnings,
        ]);
        let digest = sha256(basis.to_string().as_bytes());
        Some(format!("{}-{}", chosen.name.replace(':', "-"), &digest[..DIGITS]))
    }

    /// What was kept under a name, as a run of `plan`.
    pub(crate) fn take(&self, name: &str, plan: &Plan) -> Option<RunResult> {
        let mut run = read_json(&fs::read(self.path_of(name)).ok()?).ok()?.pop()?;
        run.made.command = plan.experiment.command();
        self.0.found.fetch_add(1, Ordering::Relaxed);
        Some(run)
    }

    /// Keeps a run; the file appears complete or not at all.
    pub(crate) fn keep(&self, name: &str, run: &RunResult) -> Result<()> {
        let folder = &self.0.folder;
        let cannot = |error: std::io::Error| {
            Error::Run(format!("{} cannot be written ({error})", self.path_of(name).display()))
        };
        let bytes = serde_json::to_vec(run)
            .map_err(|error| Error::Run(format!("a run has no JSON form: {error}")))?;
        fs::create_dir_all(folder).map_err(cannot)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
        file.write_all(&bytes).map_err(cannot)?;
        file.persist(self.path_of(name)).map_err(|error| cannot(error.error))?;
        self.last();
        Ok(())
    }

    /// A run is to be made again.
    pub(crate) fn forget(&self, name: &str) {
        // What is not there is forgotten.
        let _ = fs::remove_file(self.path_of(name));
    }

    /// From now on the place outlives the program.
    fn last(&self) {
        self.0.claim.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.0.folder.join(format!("{name}.json"))
    }
}
