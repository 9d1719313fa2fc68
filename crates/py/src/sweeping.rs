//! Sweeps from Python: the library's, in the folders of `ftlab sweep`.

use std::num::NonZero;
use std::path::PathBuf;

use ftlab_lab::sweep::{Definition, Folder, Merged, Running, Swept};
use ftlab_lab::{Error, Experiment, Observer, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::experiments::experiment;

/// A sweep as Python states it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What all runs share: the JSON of an experiment; with a file only the seed that draws
    /// samples.
    base: Value,
    /// The axes, as `--grid` takes them.
    grid: Option<String>,
    /// Or a file that says both.
    file: Option<PathBuf>,
    /// The folder.
    out: PathBuf,
    jobs: Option<i64>,
    resume: bool,
    shard: Option<String>,
    sample: Option<u32>,
}

impl Asked {
    /// What is swept, and the seed that draws samples.
    fn definition(&self) -> Result<(Definition, u64)> {
        let base = experiment(&self.base.to_string())?;
        let seed = base.seed;
        let Some(file) = &self.file else {
            return Ok((Definition::new(base, self.grid.as_deref().unwrap_or_default())?, seed));
        };
        let shown = file.display().to_string();
        if base != (Experiment { seed, ..Experiment::default() }) {
            return Err(Error::usage(format!(
                "the options of all runs stand in {shown}; legal beside it: seed, which draws samples"
            )));
        }
        let text = std::fs::read_to_string(file)
            .map_err(|error| Error::usage(format!("{shown} cannot be read ({error})")))?;
        let definition = Definition::from_toml(&text).map_err(|error| error.within(&shown))?;
        Ok((definition, seed))
    }

    fn running(&self) -> Result<Running> {
        Ok(Running {
            jobs: side_by_side(self.jobs)?,
            resume: self.resume,
            shard: self.shard.as_deref().map(str::parse).transpose()?,
            commit: ftlab::COMMIT.to_owned(),
        })
    }

    fn planned(&self, observer: &dyn Observer) -> Result<ftlab_lab::sweep::Sweep> {
        let (definition, seed) = self.definition()?;
        definition.plan(self.sample.map(|number| (number as usize, seed)), observer)
    }

    /// The points, which of them are refused, and how long the others might take, without a run.
    ///
    /// # Errors
    /// [`Error::Usage`]: what is not legal.
    pub fn plan(&self, observer: &dyn Observer) -> Result<String> {
        let running = self.running()?;
        let sweep = self.planned(observer)?;
        let there = Folder::existing(&self.out).and_then(|(folder, _)| folder.contents());
        let there = there.unwrap_or_default();
        let asked = sweep.asked(&there, running.shard);
        let estimate = asked.estimate();
        Ok(json!({
            "names": sweep.manifest.names,
            "points": sweep.manifest.points,
            "to_make": asked.wanted.len(),
            "seconds": estimate.seconds,
            "at_least": estimate.at_least,
        })
        .to_string())
    }

    /// Makes what is not there, and the table of all unless only a shard is made.
    ///
    /// # Errors
    /// [`Error::Usage`]: what is not legal; [`Error::Run`]: a folder that cannot be written.
    pub fn run(&self, observer: &dyn Observer) -> Result<String> {
        let running = self.running()?;
        let sweep = self.planned(observer)?;
        let folder = sweep.open(&self.out, &running)?;
        let swept = sweep.run(&folder, &running, observer)?;
        let merged = match running.shard {
            Some(_) => None,
            None => Some(folder.merge(&sweep.manifest)?),
        };
        Ok(told(Some(swept), merged.as_ref()))
    }
}

/// Writes the table of a folder that processes have filled.
///
/// # Errors
/// [`Error::Usage`]: a folder that holds no sweep; [`Error::Run`]: one that cannot be read or
/// written.
pub fn merge(out: &std::path::Path) -> Result<String> {
    let (folder, manifest) = Folder::existing(out)?;
    Ok(told(None, Some(&folder.merge(&manifest)?)))
}

fn told(swept: Option<Swept>, merged: Option<&Merged>) -> String {
    json!({
        "made": swept.map(|swept| swept.made),
        "kept": swept.map(|swept| swept.kept),
        "done": merged.map(|merged| merged.done),
        "failed": merged.map(|merged| &merged.failed),
        "refused": merged.map(|merged| &merged.refused),
        "missing": merged.map(|merged| merged.missing),
        "names": merged.map(|merged| &merged.names),
    })
    .to_string()
}

/// Runs side by side; as many as there are cores where nobody says.
///
/// # Errors
/// None, or fewer.
pub fn side_by_side(jobs: Option<i64>) -> ftlab_lab::Result<Option<NonZero<usize>>> {
    let checked = |jobs: i64| {
        let legal = || Error::usage(format!("jobs {jobs} is not legal; legal: 1 or more"));
        usize::try_from(jobs).ok().and_then(NonZero::new).ok_or_else(legal)
    };
    jobs.map(checked).transpose()
}
