//! What a folder of results belongs to: the command, the program, the experiments, and every file
//! that a run may read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::jobs::Job;
use super::{Experiment, definition};
use crate::arguments::ReproduceArguments;
use crate::failure::{Failure, Outcome};

/// What must be the same for a folder to go on with: command, experiments, program.
pub fn of(typed: &ReproduceArguments, experiments: &[Experiment]) -> Outcome<Value> {
    let program = std::env::current_exe()
        .and_then(std::fs::read)
        .map_err(|error| Failure::Run(format!("the program cannot read itself ({error})")))?;
    let run = |job: &Job| json!({"id": job.id, "file": job.key(), "command": job.command()});
    let of = |experiment: &Experiment| {
        json!({
            "name": experiment.definition.name,
            "sha256": experiment.definition.sha256,
            "runs": experiment.jobs.iter().map(run).collect::<Vec<_>>(),
        })
    };
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "program_sha256": definition::sha256(&program),
        "quick": typed.quick,
        "trace_dir": typed.trace_dir,
        "inputs": inputs(typed, experiments)?,
        "experiments": experiments.iter().map(of).collect::<Vec<_>>(),
    }))
}

/// Every file that a run may read, with length and time of change, and where relative paths begin.
fn inputs(typed: &ReproduceArguments, experiments: &[Experiment]) -> Outcome<Value> {
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    if let Some(folder) = &typed.trace_dir {
        let entries = std::fs::read_dir(folder).map_err(|error| {
            Failure::usage(format!("--trace-dir {} cannot be read ({error})", folder.display()))
        })?;
        paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    for word in experiments.iter().flat_map(|one| &one.jobs).flat_map(|job| &job.words) {
        let parts = word.split(['=', ':', ',', '+', '(', ')']).chain([word.as_str()]);
        paths.extend(parts.filter(|part| !part.is_empty()).map(PathBuf::from));
    }
    let stamp = |path: &PathBuf| {
        let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(json!([path, found.len(), changed.as_nanos().to_string()]))
    };
    let files: Vec<Value> = paths.iter().filter_map(stamp).collect();
    let from = match files.is_empty() {
        true => Value::Null,
        false => json!(std::env::current_dir().ok()),
    };
    Ok(json!({"files": files, "from": from}))
}
