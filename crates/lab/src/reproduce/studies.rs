//! The experiments of the papers, run again. Their files say what is run, what was published and
//! what is claimed; here they become runs, verdicts and one report.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::reproduce::definition::Definition;
use crate::reproduce::folder::Folder;
use crate::reproduce::jobs::{Job, Length, Setting};
use crate::reproduce::manifest;
use crate::reproduce::outcome::{Outcome, judged, verdicts, write};
use crate::reproduce::readings::Reading;
use crate::reproduce::request::{Request, Under, select};
use crate::reproduce::running::{Maker, run_all};
use crate::reproduce::study::Study;
use crate::reproduce::under::{Files, all, files_of, from_file};
use crate::reproduce::worlds::{self, World};

/// A reproduction that can begin: every file was read, every run and every expression checked.
pub struct Studies {
    request: Request,
    files: Files,
    /// Under the reading that the report tells in full.
    told: Vec<Study>,
    /// Under the text to the letter, for its verdicts.
    literal: Option<Vec<Study>>,
    worlds: Vec<World>,
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
        let definitions: Vec<Arc<Definition>> =
            select(&self.names, self.quick)?.into_iter().map(Arc::new).collect();
        let files = files_of(definitions.iter().map(Arc::as_ref))?;
        let length = if self.quick { Length::Quick } else { Length::Whole };
        let under = |readings: &BTreeMap<String, Reading>| {
            Study::all(&definitions, &Setting { length, trace_dir, readings })
        };
        let told = match &self.reading {
            Under::Both | Under::Best => all(&files, Reading::best),
            Under::Literal => all(&files, Reading::literal),
            Under::File(path) => from_file(&files, path)?,
        };
        let told = under(&told)?;
        told.iter().try_for_each(Study::check)?;
        let literal = match self.reading {
            Under::Both => Some(under(&all(&files, Reading::literal))?),
            Under::Best | Under::Literal | Under::File(_) => None,
        };
        let mut seen = BTreeSet::new();
        check_runs(&told, &mut seen)?;
        literal.iter().try_for_each(|studies| check_runs(studies, &mut seen))?;
        let worlds = match self.worlds {
            Some(count) => worlds::design(&files, &definitions, count.get())?,
            None => Vec::new(),
        };
        for world in &worlds {
            check_runs(&world.studies(trace_dir)?, &mut seen)?;
        }
        Ok(Studies { request: self.clone(), files, told, literal, worlds })
    }
}

/// Devices, schemes, settings and workloads of all runs, before the first one begins.
fn check_runs(studies: &[Study], seen: &mut BTreeSet<String>) -> Result<()> {
    for Study { definition, jobs, .. } in studies {
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
    /// Every run and inspection that the report tells of, with the name of its experiment; some
    /// share their work.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &Job)> {
        self.told.iter().flat_map(|Study { definition, jobs, .. }| {
            jobs.iter().map(|job| (definition.name.as_str(), job))
        })
    }

    /// Begins in a new or empty folder, or with `resume` goes on in one in which the same
    /// reproduction by the same program began; `program_sha256` tells programs apart. Worlds may be
    /// added to one that is done: those of a smaller number are among those of a larger one.
    ///
    /// # Errors
    /// A folder that holds something else or cannot be written.
    pub fn open(&self, out: &Path, resume: bool, program_sha256: &str) -> Result<Folder> {
        let told = manifest::Told {
            files: &self.files,
            told: &self.told,
            literal: self.literal.as_deref(),
        };
        let manifest = manifest::of(&self.request, &told, program_sha256)?;
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
        let maker = Maker::new(folder, threads, observer)?;
        let both = self.told.iter().chain(self.literal.iter().flatten());
        let done = run_all(both, &maker)?;
        let mut outcome = judged(&self.request, &self.told, &done);
        let told = verdicts(&outcome.reproduction.claims);
        let (best, literal) = match (&self.request.reading, &self.literal) {
            (Under::Both, Some(studies)) => {
                let literal = judged(&self.request, studies, &done);
                outcome.problems.extend(
                    literal.problems.iter().map(|text| format!("read to the letter: {text}")),
                );
                (Some(told), Some(verdicts(&literal.reproduction.claims)))
            }
            (Under::Literal, _) => (None, Some(told)),
            (Under::Both | Under::Best, _) => (Some(told), None),
            (Under::File(_), _) => (None, None),
        };
        let reproduction = &mut outcome.reproduction;
        reproduction.set_verdicts(best.as_ref(), literal.as_ref());
        if !self.worlds.is_empty() {
            let trace_dir = self.request.trace_dir.as_deref();
            reproduction.set_worlds(worlds::found(&self.worlds, trace_dir, &maker)?);
        }
        write(folder, &self.told, &done, &outcome.reproduction)?;
        Ok(outcome)
    }
}
