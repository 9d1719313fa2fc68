//! Results read back: whatever runs stand in folders and files, for `explore` and `diff`. Here
//! alone folders are walked.

use std::fs;
use std::path::{Path, PathBuf};

use ftlab_lab::{Counts, Error, Observer as _, Result, RunResult, Work};
use ftlab_report::gathered::{Collection, Gathered};
use ftlab_report::result::SCHEMA;
use ftlab_report::{ReadError, read_json};

use crate::progress::Progress;

/// Deepest folder that is looked into, below the one that was asked for.
const DEPTH_MAX: usize = 32;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The runs.
    pub runs: Collection,
    /// Files that hold results.
    pub files: usize,
    /// JSON files that are something else.
    pub passed_over: usize,
    /// Files that look like results and cannot be read, and why.
    pub unreadable: Vec<String>,
}

/// Reads every result in files and below folders, in the order of their names. Hidden files and
/// folders are unfinished; folders behind links are not entered.
pub fn gather(paths: &[PathBuf], progress: &Progress) -> Result<Found> {
    let mut found = Found::default();
    for path in paths {
        let files = files(path)?;
        let length = files.len() as u64;
        let counts = Counts::Parts { to_make: length };
        let label = path.display().to_string();
        let task = progress.begins(&Work { label: &label, length: Some(length), counts });
        let before = found.runs.runs().len() + found.runs.copies();
        for file in &files {
            found.add(file)?;
            if task.advance(1).is_break() {
                return Err(Error::cancelled());
            }
        }
        drop(task);
        if found.runs.runs().len() + found.runs.copies() == before {
            return Err(nothing(path, files.len(), &found.unreadable));
        }
    }
    Ok(found)
}

/// Nothing to show, which a typing error in a name would do as well.
fn nothing(path: &Path, files: usize, unreadable: &[String]) -> Error {
    let mut message = format!(
        "no result in {}: none of {files} JSON files in it holds a run; legal: what `ftlab run \
         --json`, compare and reproduce wrote, or folders with such files",
        path.display()
    );
    for reason in unreadable {
        message.push_str(&format!("\n{reason}"));
    }
    Error::usage(message)
}

impl Found {
    fn add(&mut self, file: &Path) -> Result<()> {
        let place = file.display().to_string();
        let runs = match fs::read(file) {
            Ok(bytes) => read(&bytes),
            Err(error) => Read::Unreadable(error.to_string()),
        };
        let runs = match runs {
            Read::Runs(runs) => runs,
            Read::Other => {
                self.passed_over += 1;
                return Ok(());
            }
            Read::Unreadable(reason) => {
                self.unreadable.push(format!("{place} cannot be read: {reason}"));
                return Ok(());
            }
        };
        self.files += 1;
        for run in runs {
            self.runs.add(Gathered::of(&place, run)).map_err(|error| {
                Error::usage(format!("{place}: {error}; legal: fewer folders at once"))
            })?;
        }
        Ok(())
    }
}

/// What a JSON file is.
enum Read {
    Runs(Vec<RunResult>),
    Other,
    Unreadable(String),
}

fn read(bytes: &[u8]) -> Read {
    // Of the same family: a newer format of results must not be passed over in silence.
    let family = SCHEMA.split('/').next().unwrap_or(SCHEMA);
    let is_result = |found: &str| found.split('/').next() == Some(family);
    match read_json(bytes) {
        Ok(runs) => Read::Runs(runs),
        Err(ReadError::Schema { found, .. }) if !is_result(&found) => Read::Other,
        Err(error) => Read::Unreadable(error.to_string()),
    }
}

/// The file itself, or every JSON file below the folder, by name.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if path.is_dir() {
        descend(path, 0, &mut files)?;
    } else if path.is_file() {
        files.push(path.to_owned());
    } else {
        return Err(Error::usage(format!(
            "{} is neither a file nor a folder; legal: results, or folders with results",
            path.display()
        )));
    }
    Ok(files)
}

fn descend(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::usage(format!("{} cannot be read ({error})", folder.display()))
    };
    if depth > DEPTH_MAX {
        return Err(Error::usage(format!(
            "{} lies deeper than {DEPTH_MAX} folders; legal: a folder nearer to the results",
            folder.display()
        )));
    }
    let entries = fs::read_dir(folder).map_err(cannot)?;
    let mut entries = entries.collect::<std::io::Result<Vec<_>>>().map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot)?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            descend(&path, depth + 1, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
