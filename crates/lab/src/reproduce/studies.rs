//! The experiments of the papers, run again. Their files say what is run, what was published and
//! what is claimed; here they become runs, verdicts and one report.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;

use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::reproduce::folder::Folder;
use crate::reproduce::jobs::{Job, Setting, jobs};
use crate::reproduce::manifest;
use crate::reproduce::outcome::{Outcome, judged, write};
use crate::reproduce::request::{Request, select};
use crate::reproduce::running::run_all;
use crate::reproduce::study::Study;

/// A reproduction that can begin: every file was read, every run and every expression checked.
pub struct Studies {
    request: Request,
    studies: Vec<Study>,
}

impl Request {
    /// Refuses everything that can be refused before anything runs.
    ///
    /// # Errors
    /// [`Error::Usage`]: experiments that are unknown or not legal, and runs in them whose device,
    /// scheme, settings or workload are not there.
    pub fn plan(&self) -> Result<Studies> {
        let trace_dir = self.trace_dir.as_deref();
        if let Some(missing) = trace_dir.filter(|folder| !folder.is_dir()) {
            return Err(Error::usage(format!("--trace-dir {} is no folder", missing.display())));
        }
        let setting = Setting { quick: self.quick, trace_dir };
        let mut studies = Vec::new();
        for definition in select(&self.names, self.quick)? {
            let jobs = jobs(&definition, &setting)?;
            studies.push(Study { definition, jobs });
        }
        studies.iter().try_for_each(Study::check)?;
        check_runs(&studies)?;
        Ok(Studies { request: self.clone(), studies })
    }
}

/// Devices, schemes, settings and workloads of all runs, before the first one begins.
fn check_runs(studies: &[Study]) -> Result<()> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for Study { definition, jobs } in studies {
        for job in jobs.iter().filter(|job| job.missing.is_none()) {
            if seen.insert(job.key()) {
                job.check().map_err(|error| {
                    Error::usage(format!("{}: run '{}': {error}", definition.name, job.id))
                })?;
            }
        }
    }
    Ok(())
}

impl Studies {
    /// Every run and inspection, with the name of its experiment; some share their work.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &Job)> {
        self.studies.iter().flat_map(|Study { definition, jobs }| {
            jobs.iter().map(|job| (definition.name.as_str(), job))
        })
    }

    /// Begins in a new or empty folder, or with `resume` goes on in one in which the same
    /// reproduction by the same program began; `program_sha256` tells programs apart.
    ///
    /// # Errors
    /// A folder that holds something else or cannot be written.
    pub fn open(&self, out: &Path, resume: bool, program_sha256: &str) -> Result<Folder> {
        let manifest = manifest::of(&self.request, &self.studies, program_sha256)?;
        Folder::open(out, &manifest, resume)
    }

    /// Makes all runs, `threads` at a time (as many as cores where nothing is stated), takes those
    /// that the folder keeps, judges, and writes the report. A run that fails is a finding.
    ///
    /// # Errors
    /// A folder that cannot be written; [`Error::Cancelled`], and what was done is kept.
    pub fn run(
        &self,
        folder: &Folder,
        threads: Option<NonZero<usize>>,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        let done = run_all(&self.studies, folder, threads, observer)?;
        let outcome = judged(&self.request, &self.studies, &done);
        write(folder, &self.studies, &done, &outcome.reproduction)?;
        Ok(outcome)
    }
}
