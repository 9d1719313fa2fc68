//! The folder of a sweep. A result is a file named by what decides it, so that resuming is looking,
//! and processes on many machines write into one folder without talking: equal names hold equal
//! bytes. Results are written aside and renamed.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::sweep::plan::Manifest;

const MANIFEST: &str = "sweep.json";
const RUNS: &str = "runs";
const FAILED: &str = "failed";
const TIMES: &str = "times";
/// What files are called that do not have their names yet.
const UNFINISHED: &str = ".unfinished-";
/// An unfinished file that nobody wrote to for so long was left behind by a process that was
/// killed; writing one takes milliseconds.
const STALE: Duration = Duration::from_secs(3600);

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What was said.
    pub reason: String,
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Where this process notes times, once it has noted one.
    times: Mutex<Option<fs::File>>,
}

/// What lies in a folder, by the keys of runs.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    made: HashSet<String>,
    failed: HashSet<String>,
}

impl Contents {
    /// Whether a run was made.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.made.contains(key)
    }

    /// Whether a run was tried and has no result.
    #[must_use]
    pub fn has_failed(&self, key: &str) -> bool {
        self.failed.contains(key) && !self.has(key)
    }
}

impl Folder {
    /// Begins in a new or empty folder. One that holds a sweep goes on with `resume`; with
    /// `together` (shards) also without, where it holds the same sweep. A sweep with other points
    /// takes the place of the one before, and what was run stays.
    pub fn open(path: &Path, manifest: &Manifest, resume: bool, together: bool) -> Result<Self> {
        let shown = path.display();
        let cannot = |error: std::io::Error| {
            Error::usage(format!("--out {shown} cannot be written ({error})"))
        };
        let folder = Folder::at(path);
        let is_new = match path.exists() {
            true => fs::read_dir(path).map_err(cannot)?.next().is_none(),
            false => true,
        };
        // Another shard may be about to begin: all there is so far are its empty folders.
        let begins = !is_new
            && together
            && !path.join(MANIFEST).exists()
            && folder.is_begun().map_err(cannot)?;
        if !is_new && !begins {
            let before = folder.manifest()?;
            let is_same = before == *manifest;
            if !(resume || together && is_same) {
                return Err(Error::usage(match together {
                    true => format!(
                        "--out {shown} holds another sweep; legal: a new or empty folder, that of \
                         the same sweep, or --resume, which goes on with this one and keeps what \
                         was run"
                    ),
                    false => format!(
                        "--out {shown} holds a sweep; legal: a new or empty folder, or --resume, \
                         which makes only what is not there"
                    ),
                }));
            }
            folder.clean();
            if is_same {
                return Ok(folder);
            }
        }
        for part in [RUNS, FAILED, TIMES] {
            fs::create_dir_all(path.join(part)).map_err(cannot)?;
        }
        let mut text = serde_json::to_vec_pretty(manifest)
            .map_err(|error| Error::Run(format!("the sweep has no JSON form: {error}")))?;
        text.push(b'\n');
        folder.write(MANIFEST, &text)?;
        Ok(folder)
    }

    fn at(path: &Path) -> Self {
        Folder { path: path.to_owned(), times: Mutex::default() }
    }

    /// Whether nothing lies there but what the beginning of a sweep puts there before its manifest.
    fn is_begun(&self) -> std::io::Result<bool> {
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            if ![RUNS, FAILED, TIMES].contains(&&*name) && !name.starts_with(UNFINISHED) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One that holds a sweep.
    pub fn existing(path: &Path) -> Result<(Self, Manifest)> {
        let folder = Folder::at(path);
        let manifest = folder.manifest()?;
        Ok((folder, manifest))
    }

    fn manifest(&self) -> Result<Manifest> {
        let file = self.path.join(MANIFEST);
        let wrong = |why: String| {
            Error::usage(format!(
                "{} {why}; legal: the folder of a sweep (`ftlab sweep ... --out DIR`)",
                file.display()
            ))
        };
        let bytes = fs::read(&file).map_err(|error| wrong(format!("cannot be read ({error})")))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("does not describe a sweep ({error})")))
    }

    /// Removes what processes left behind that were killed while they wrote.
    fn clean(&self) {
        for part in ["", RUNS, FAILED] {
            let Ok(entries) = fs::read_dir(self.path.join(part)) else { continue };
            for entry in entries.flatten() {
                let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
                let age = entry.metadata().and_then(|data| data.modified());
                let age = age.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
                if is_ours && age.is_some_and(|age| age > STALE) {
                    // Whoever is at it still has it open, and will say that it could not be named.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What lies there now: a list is much cheaper than a question for each of many runs.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn contents(&self) -> Result<Contents> {
        Ok(Contents { made: self.keys(RUNS)?, failed: self.keys(FAILED)? })
    }

    fn keys(&self, part: &str) -> Result<HashSet<String>> {
        let folder = self.path.join(part);
        let cannot = |error: std::io::Error| {
            Error::Run(format!("{} cannot be read ({error})", folder.display()))
        };
        let mut keys = HashSet::new();
        for entry in fs::read_dir(&folder).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name();
            keys.extend(
                name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned),
            );
        }
        Ok(keys)
    }

    /// Whether a run was made.
    pub fn has(&self, key: &str) -> bool {
        self.result(key).exists()
    }

    /// The file of a result.
    pub fn result(&self, key: &str) -> PathBuf {
        self.path.join(RUNS).join(format!("{key}.json"))
    }

    /// Why a run that was tried has no result.
    pub fn failure(&self, key: &str) -> Option<Failure> {
        let bytes = fs::read(self.path.join(FAILED).join(format!("{key}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Keeps a result; that it failed before is forgotten.
    pub fn keep(&self, key: &str, bytes: &[u8]) -> Result<()> {
        self.write(&format!("{RUNS}/{key}.json"), bytes)?;
        let _ = fs::remove_file(self.path.join(FAILED).join(format!("{key}.json")));
        Ok(())
    }

    /// Keeps why there is none.
    pub fn keep_failure(&self, key: &str, failure: &Failure) -> Result<()> {
        let bytes = serde_json::to_vec(failure)
            .map_err(|error| Error::Run(format!("no JSON form: {error}")))?;
        self.write(&format!("{FAILED}/{key}.json"), &bytes)
    }

    /// Notes how long a run took, in a file of this process: times differ between equal runs, so
    /// that results do not hold them. Its name is drawn, and new: process numbers of machines that
    /// share a folder may be the same.
    pub fn note_time(&self, key: &str, seconds: f64) -> Result<()> {
        let folder = self.path.join(TIMES);
        let cannot = |error: std::io::Error| {
            Error::Run(format!("{} cannot be written ({error})", folder.display()))
        };
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *times {
            Some(file) => file,
            None => {
                let file = tempfile::Builder::new()
                    .prefix("")
                    .suffix(".csv")
                    .rand_bytes(12)
                    .tempfile_in(&folder)
                    .map_err(cannot)?;
                readable(file.as_file()).map_err(cannot)?;
                times.insert(file.keep().map_err(|error| cannot(error.error))?.0)
            }
        };
        file.write_all(format!("{key},{seconds:.6}\n").as_bytes()).map_err(cannot)
    }

    /// Writes a file, which appears complete or not at all, in the place of one of its name.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_with(name, |file| file.write_all(bytes))
    }

    /// The same, written piece by piece.
    pub fn write_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut fs::File) -> std::io::Result<()>,
    ) -> Result<()> {
        let target = self.path.join(name);
        let parent = target.parent().unwrap_or(&self.path);
        let cannot = |error: std::io::Error| {
            Error::Run(format!("{} cannot be written ({error})", target.display()))
        };
        let mut file =
            tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(parent).map_err(cannot)?;
        write(file.as_file_mut()).map_err(cannot)?;
        readable(file.as_file()).map_err(cannot)?;
        file.persist(&target).map_err(|error| cannot(error.error))?;
        Ok(())
    }
}

/// Files of a folder that is shared are for all to read; those that are drawn begin otherwise.
fn readable(file: &fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}
