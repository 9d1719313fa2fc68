//! Files that a run writes beside its result: a row per request, and trace events.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::{CompleteFile, refuse_existing};
use crate::plan::plan::Plan;
use crate::run::requests_file::RequestsFile;
use crate::run::trace_file::TraceFile;
use crate::unfinished::Unfinished;

/// Where they go, of one run.
pub struct Paths {
    requests: Option<PathBuf>,
    trace: Option<PathBuf>,
}

impl Paths {
    /// Those of the run of a plan of one scheme.
    pub fn of(plan: &Plan) -> Self {
        Paths { requests: plan.requests_out.clone(), trace: plan.trace_out.clone() }
    }

    /// Those of one of several schemes.
    pub fn of_scheme(plan: &Plan, scheme: &str) -> Self {
        let Paths { requests, trace } = Paths::of(plan);
        let own = |path: PathBuf| path_for_scheme(&path, scheme);
        Paths { requests: requests.map(own), trace: trace.map(own) }
    }

    /// Whether they can be claimed beside the folder of results `out`: they must be new.
    pub fn check(&self, out: Option<&Path>) -> Result<()> {
        let Paths { requests, trace } = self;
        requests.iter().try_for_each(|path| RequestsFile::check_place(path, out))?;
        trace.iter().try_for_each(|path| TraceFile::check_place(path, out))?;
        requests.iter().chain(trace).try_for_each(|path| refuse_existing(path))
    }

    /// Whether all of them are there, from a run before.
    pub fn are_there(&self) -> bool {
        self.requests.iter().chain(&self.trace).all(|path| path.exists())
    }

    /// Claims them; they were found free before.
    pub fn begin(&self, unfinished: &Unfinished) -> Result<Files> {
        let requests = self.requests.as_deref().map(|path| RequestsFile::begin(path, unfinished));
        let trace = self.trace.as_deref().map(|path| TraceFile::begin(path, unfinished));
        Ok(Files { requests: requests.transpose()?, trace: trace.transpose()? })
    }
}

/// The files of one run; they go away if they are dropped.
#[derive(Default)]
pub struct Files {
    /// A row per request.
    pub requests: Option<RequestsFile>,
    /// What the device did for some requests.
    pub trace: Option<TraceFile>,
}

impl Files {
    /// Completes them; their names are still to be given.
    pub fn complete(self) -> Result<Vec<CompleteFile>> {
        let requests = self.requests.map(RequestsFile::complete);
        requests.into_iter().chain(self.trace.map(TraceFile::complete)).collect()
    }
}

/// `requests.csv` of the scheme `dftl:gtd` is `requests-dftl-gtd.csv`.
fn path_for_scheme(path: &Path, scheme: &str) -> PathBuf {
    path_with(path, &scheme.replace(':', "-"))
}

/// `requests.csv` of the unit 3 is `requests-unit-3.csv`, from which those of its schemes follow.
pub fn path_for_unit(path: &Path, unit: u32) -> PathBuf {
    path_with(path, &format!("unit-{unit}"))
}

fn path_with(path: &Path, part: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{part}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_goes_before_the_extension() {
        let path = |text| path_for_scheme(Path::new(text), "dftl:gtd");
        assert_eq!(path("out/a.b.csv"), Path::new("out/a.b-dftl-gtd.csv"));
        let unit = path_for_unit(Path::new("out/a.b.csv"), 3);
        assert_eq!(path_for_scheme(&unit, "fast"), Path::new("out/a.b-unit-3-fast.csv"));
        assert_eq!(path("rows"), Path::new("rows-dftl-gtd"));
    }
}
