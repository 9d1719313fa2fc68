//! An experiment's cross products, turned into runs: each is a command line that anybody can
//! repeat. Runs that several experiments share are the same job. Keys of kept runs are digests of
//! these command lines, so that whoever repeats a run by its command repeats what the key stands
//! for.

use std::collections::BTreeMap;
use std::path::Path;

use ftlab_engine::schemes;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inspection::Inspection;
use crate::options::text::quoted;
use crate::plan::asked::Asked;
use crate::reproduce::bundle::sha256;
use crate::reproduce::definition::{Definition, InspectionBlock, RunBlock, Variant};
use crate::reproduce::options::{Collected, OF_WORKLOAD};
use crate::reproduce::readings::Reading;
use crate::workload::resolve::{is_replaced, real_can_replace, with_shifted_seeds};

/// What the command adds to every run.
pub struct Setting<'a> {
    /// How much of each.
    pub length: Length,
    /// Where real traces are.
    pub trace_dir: Option<&'a Path>,
    /// What is chosen where a paper leaves something open, by the name of its readings.
    pub readings: &'a BTreeMap<String, Reading>,
}

/// How much of a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// All of it.
    Whole,
    /// The first requests, as many as `quick` says.
    Quick,
    /// The first requests, as many as `worlds` says.
    World,
}

impl Length {
    /// The requests of a run, where they are limited.
    fn of(self, definition: &Definition) -> Option<u64> {
        match self {
            Length::Whole => None,
            Length::Quick => definition.quick,
            Length::World => definition.worlds,
        }
    }
}

/// One run or inspection of an experiment.
pub struct Job {
    /// Its name in the experiment.
    pub id: String,
    /// The name of its workload there.
    pub workload: String,
    /// The name of its scheme there; none for an inspection.
    pub scheme: Option<String>,
    /// What is typed behind `ftlab` to repeat it.
    pub words: Vec<String>,
    /// What is done.
    pub work: Work,
    /// What it needs and is not there.
    pub missing: Option<String>,
    /// Whether its workload is the paper's recorded trace by its own words.
    pub whole: bool,
}

impl Job {
    /// The same for the same work, and for no other.
    #[must_use]
    pub fn key(&self) -> String {
        sha256(self.words.join("\0").as_bytes())[..24].to_owned()
    }

    /// The command line that repeats it, with words quoted as shells need them.
    #[must_use]
    pub fn command(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        format!("ftlab {}", words.join(" "))
    }

    /// Whether device, scheme, settings and workload are there, without running anything.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.work {
            Work::Run(experiment) => {
                Asked::of(experiment)?.workload(experiment, None)?;
            }
            Work::Inspection(inspection) => inspection.check()?,
        }
        Ok(())
    }
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// What `ftlab run` does.
    Run(Box<Experiment>),
    /// What `ftlab trace inspect` does.
    Inspection(Box<Inspection>),
}

/// The jobs of an experiment, in the order of its file.
pub fn jobs(of: &Definition, setting: &Setting<'_>) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for block in &of.runs {
        for workload in &block.workloads {
            for variant in variants(block) {
                for scheme in &block.schemes {
                    jobs.push(run(of, setting, block, (workload, variant, scheme))?);
                }
            }
        }
    }
    for block in &of.inspections {
        for workload in &block.workloads {
            jobs.push(inspection(of, setting, block, workload)?);
        }
    }
    let of_kind = |job: &Job| (job.id.clone(), job.scheme.is_some());
    let mut ids: Vec<_> = jobs.iter().map(of_kind).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::usage(format!("{}: run '{}' is there twice", of.name, pair[0].0)));
    }
    Ok(jobs)
}

fn variants(block: &RunBlock) -> Vec<Option<&Variant>> {
    match block.variants.is_empty() {
        true => vec![None],
        false => block.variants.iter().map(Some).collect(),
    }
}

fn run(
    of: &Definition,
    setting: &Setting<'_>,
    block: &RunBlock,
    (workload, variant, scheme): (&str, Option<&Variant>, &str),
) -> Result<Job> {
    let id = match variant {
        Some(variant) => format!("{workload}/{}/{scheme}", variant.name),
        None => format!("{workload}/{scheme}"),
    };
    let labelled = of.schemes.get(scheme);
    let name = labelled.map_or(scheme, |labelled| labelled.scheme.as_str());
    let reading = reading(of, setting);
    let refused = |text: String| refused(of, &id, &text);
    let mut own = Collected::default();
    own.add(&of.options);
    own.add(&block.options);
    own.add_some(of.workloads.get(workload).map(|label| &label.options));
    own.add_some(variant.map(|variant| &variant.options));
    own.add_some(labelled.map(|labelled| &labelled.options));
    // A real trace takes no settings: what changes the stand-in stays with it.
    let found = source(of, setting, (Some(name), workload), own.changes_workload())?;
    let mut options = Collected::default();
    for chosen in reading.into_iter().flat_map(|one| one.options(Some(name), workload)) {
        options.add(chosen);
    }
    if found.recorded {
        options.leave(|key| key.starts_with(OF_WORKLOAD));
    }
    // A preset is what the experiment compares.
    if let Ok((_, preset)) = schemes::find(name) {
        options.leave(|key| preset.iter().any(|(known, _)| *known == key));
    }
    options.add_collected(own);
    let changes_workload = options.changes_workload();
    if let Some(requests) = setting.length.of(of) {
        options.shorten(requests);
    }
    let mut words: Vec<String> =
        ["run", "--scheme", name, "--workload", &found.text].map(str::to_owned).to_vec();
    words.extend(options.words().map_err(refused)?);
    let mut experiment = options.experiment().map_err(refused)?;
    experiment.schemes = name.into();
    experiment.workload.clone_from(&found.text);
    // Settings have no effect on a real trace, and a stand-in with settings has none.
    if let Some(folder) = found.real.filter(|_| !changes_workload) {
        words.extend(["--trace-dir".to_owned(), folder.display().to_string()]);
        experiment.trace_dir = Some(folder.to_owned());
    }
    words.push("--quiet".to_owned());
    let work = Work::Run(Box::new(experiment));
    let (workload, scheme) = (workload.to_owned(), Some(scheme.to_owned()));
    let left_out = setting.length == Length::Quick && !block.quick;
    let left_out = left_out.then(|| "it has no quick form (--quick)".to_owned());
    let (missing, whole) = (found.missing.or(left_out), found.whole);
    Ok(Job { id, workload, scheme, words, work, missing, whole })
}

fn inspection(
    of: &Definition,
    setting: &Setting<'_>,
    block: &InspectionBlock,
    workload: &str,
) -> Result<Job> {
    let found = source(of, setting, (None, workload), false)?;
    let mut options = Collected::default();
    options.add_some(of.workloads.get(workload).map(|label| &label.options));
    options.add(&block.options);
    let refused = |text: String| refused(of, workload, &text);
    let mut words: Vec<String> = ["trace", "inspect", &found.text].map(str::to_owned).to_vec();
    words.extend(options.words().map_err(refused)?);
    let (mut reading, counting) = options.inspection().map_err(refused)?;
    if let Some(folder) = found.real {
        words.extend(["--trace-dir".to_owned(), folder.display().to_string()]);
        reading.trace_dir = Some(folder.to_owned());
    }
    let inspection = Inspection { workload: found.text.clone(), reading, counting };
    let work = Work::Inspection(Box::new(inspection));
    let id = workload.to_owned();
    let Source { missing, whole, .. } = found;
    Ok(Job { id: id.clone(), workload: id, scheme: None, words, work, missing, whole })
}

fn refused(of: &Definition, id: &str, text: &str) -> Error {
    Error::usage(format!("{}: run '{id}': {text}", of.name))
}

/// What was chosen where the paper of this experiment leaves something open.
fn reading<'a>(of: &Definition, setting: &Setting<'a>) -> Option<&'a Reading> {
    of.reading.as_ref().and_then(|name| setting.readings.get(name))
}

/// What a name of a workload stands for.
struct Source<'a> {
    /// As it is run.
    text: String,
    /// The folder of real traces, where one could take its place.
    real: Option<&'a Path>,
    /// Whether one does, or it is recorded anyway: then it is as it is.
    recorded: bool,
    missing: Option<String>,
    whole: bool,
}

fn source<'a>(
    of: &Definition,
    setting: &Setting<'a>,
    (scheme, name): (Option<&str>, &str),
    is_changed: bool,
) -> Result<Source<'a>> {
    let label = of.workloads.get(name);
    if let Some(file) = label.and_then(|label| label.file.as_ref()) {
        let path = setting.trace_dir.map(|folder| folder.join(file));
        let there = path.as_ref().is_some_and(|path| path.exists());
        let missing = (!there).then(|| format!("it needs {file} in --trace-dir"));
        let text = path.map_or_else(|| file.clone(), |path| path.display().to_string());
        let whole = label.is_some_and(|label| label.whole);
        return Ok(Source { text, real: None, recorded: true, missing, whole });
    }
    let text = match label {
        Some(label) => label.workload.clone().unwrap_or_default(),
        None => name.to_owned(),
    };
    let real = match setting.trace_dir.filter(|_| !is_changed) {
        Some(folder) if real_can_replace(&text, folder)? => Some(folder),
        _ => None,
    };
    let recorded = match real {
        Some(folder) => is_replaced(&text, folder)?,
        None => false,
    };
    let mut found = Source { text, real, recorded, missing: None, whole: false };
    if let (Some(reading), false) = (reading(of, setting), recorded) {
        if let Some(other) = reading.workload(scheme, name) {
            other.clone_into(&mut found.text);
        }
        if reading.seed_shift > 0 {
            found.text = with_shifted_seeds(&found.text, reading.seed_shift)?;
        }
        if let Some(folder) = real {
            found.real = real_can_replace(&found.text, folder)?.then_some(folder);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
