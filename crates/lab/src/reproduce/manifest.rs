//! What a folder of results belongs to: the command, the program, the experiments, and every file
//! that a run may read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::reproduce::jobs::Job;
use crate::reproduce::request::Request;
use crate::reproduce::study::Study;
use crate::reproduce::under::Files;

/// What is reproduced.
pub struct Told<'a> {
    /// The readings that experiments stand on.
    pub files: &'a Files,
    /// Experiments under the reading that is told.
    pub told: &'a [Study],
    /// The same under the text to the letter.
    pub literal: Option<&'a [Study]>,
}

/// What must be the same for a folder to go on with: command, experiments, readings, program. How
/// many worlds are made may change.
pub fn of(request: &Request, studies: &Told<'_>, program_sha256: &str) -> Result<Value> {
    let run = |job: &Job| json!({"id": job.id, "file": job.key(), "command": job.command()});
    let of = |study: &Study| {
        json!({
            "name": study.definition.name,
            "sha256": study.definition.sha256,
            "runs": study.jobs.iter().map(run).collect::<Vec<_>>(),
        })
    };
    let both: Vec<&Study> =
        studies.told.iter().chain(studies.literal.into_iter().flatten()).collect();
    let readings: Vec<Value> = studies
        .files
        .values()
        .map(|file| json!({"name": file.name, "sha256": file.sha256}))
        .collect();
    let literal = studies.literal;
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "program_sha256": program_sha256,
        "quick": request.quick,
        "trace_dir": request.trace_dir,
        "inputs": inputs(request, &both)?,
        "readings": readings,
        "experiments": studies.told.iter().map(of).collect::<Vec<_>>(),
        "literal": literal.map(|all| all.iter().map(of).collect::<Vec<_>>()),
    }))
}

/// Every file that a run may read, with length and time of change, and where relative paths begin.
fn inputs(request: &Request, studies: &[&Study]) -> Result<Value> {
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    if let Some(folder) = &request.trace_dir {
        let entries = std::fs::read_dir(folder).map_err(|error| {
            Error::usage(format!("--trace-dir {} cannot be read ({error})", folder.display()))
        })?;
        paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    for word in studies.iter().flat_map(|one| &one.jobs).flat_map(|job| &job.words) {
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
