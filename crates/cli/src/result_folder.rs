//! The folder of a comparison: claimed before any work, complete when it gets its name, and gone if
//! nothing is done that would be missed.
//!
//! Until then it is `NAME.unfinished` beside it. A lock that ends with the process that holds it
//! keeps others out, so that what a killed process left behind is in nobody's way; runs that are
//! done lie there one by one, for `--resume`.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ftlab_lab::{CompleteFile, Error, KeptRuns, Result, RunResult, Unfinished};
use ftlab_report::writers::Document;

use crate::output::{Files, written};

/// The file that is locked; it holds the number of the process.
const LOCK: &str = "lock";
/// Where runs are kept.
const RUNS: &str = "runs";

/// A folder that appears under its name only when it is complete.
#[derive(Debug)]
pub struct ResultFolder {
    /// As it was asked for.
    typed: PathBuf,
    final_path: PathBuf,
    /// Where it is until then.
    place: PathBuf,
    kept: KeptRuns,
    /// Runs that a command before this one left there.
    left: usize,
    is_named: bool,
    _lock: File,
}

impl ResultFolder {
    /// Claims `path`, which must be new or an empty folder, and belongs to nobody else from now on.
    /// With `resume` runs that are kept for it are gone on with.
    pub fn claim(path: &Path, resume: bool, unfinished: &Unfinished) -> Result<Self> {
        let shown = path.display();
        refuse_occupied(path)?;
        let cannot =
            |error: io::Error| Error::usage(format!("--out {shown} cannot be written ({error})"));
        let final_path = std::path::absolute(path).map_err(cannot)?;
        let (Some(parent), Some(name)) = (final_path.parent(), final_path.file_name()) else {
            return Err(Error::usage(format!("--out {shown} names no folder")));
        };
        fs::create_dir_all(parent).map_err(cannot)?;
        let mut beside = name.to_owned();
        beside.push(".unfinished");
        let place = parent.join(&beside);
        let claimed = claim_place(&place, resume).map_err(cannot)?;
        let place_shown = path.with_file_name(&beside).display().to_string();
        let lock = match claimed {
            Claimed::Here(lock) => lock,
            Claimed::ByOther(process) => {
                return Err(Error::usage(format!(
                    "--out {shown} belongs to another ftlab at work{process}, which has claimed \
                     {place_shown}; legal: another folder"
                )));
            }
            Claimed::Unknown => {
                return Err(Error::usage(format!(
                    "--out {shown}: {place_shown} is there, and locks do not work in that folder \
                     to tell whether another ftlab is at work; legal: --resume if none is, \
                     another folder, or to remove it"
                )));
            }
        };
        // Whoever had the place before may have given it its name meanwhile.
        refuse_occupied(path)?;
        let kept = KeptRuns::new(path, &place.join(RUNS), &program(), unfinished.claim(&place));
        let left = kept.count();
        if left > 0 && !resume {
            return Err(Error::usage(format!(
                "--out {shown}: {place_shown} holds {} of a command that ended early; legal: the \
                 same command with --resume, another folder, or to remove it",
                runs(left)
            )));
        }
        if left == 0 {
            clear(&place).map_err(cannot)?;
        }
        let typed = path.to_owned();
        Ok(ResultFolder { typed, final_path, place, kept, left, is_named: false, _lock: lock })
    }

    /// The same for people.
    pub fn shown(&self) -> String {
        self.typed.display().to_string()
    }

    fn place_shown(&self) -> String {
        let name = self.place.file_name().unwrap_or_default();
        self.typed.with_file_name(name).display().to_string()
    }

    /// Where it is until then, for what writes files of its own there.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Where runs are kept, one by one.
    pub fn kept(&self) -> &KeptRuns {
        &self.kept
    }

    /// Refuses to go on with the runs of another command, once the plans are made.
    pub fn check_resumed(&self) -> Result<()> {
        if self.left == 0 || self.kept.found() > 0 {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--resume: none of the {} in {} is of this command as it is now (schemes, settings, \
             workload, program); legal: the command that began it, another folder, or to remove it",
            runs(self.left),
            self.place_shown()
        )))
    }

    /// The error with which a command ends, with what is kept and how to go on.
    pub fn given_up(&self, error: Error) -> Error {
        if matches!(error, Error::Usage(_)) {
            // The same command would come to the same end; runs of one before it stay.
            if self.left == 0 {
                let _ = fs::remove_dir_all(self.place.join(RUNS));
            }
            return error;
        }
        let count = self.kept.count();
        if count == 0 {
            return error;
        }
        let told = format!(
            "{} kept in {}: the same command with --resume makes the others",
            match count {
                1 => "1 finished run is".to_owned(),
                _ => format!("{count} finished runs are"),
            },
            self.place_shown()
        );
        match error {
            Error::Cancelled(_) => Error::Cancelled(format!("interrupted; {told}")),
            Error::Run(why) => Error::Run(format!("{why}\n{told}")),
            usage @ Error::Usage(_) => usage,
        }
    }

    /// Writes files about `runs` into it, or into the folder `within` it where that is not empty.
    pub fn write(&self, within: &str, files: Files, title: &str, runs: &[RunResult]) -> Result<()> {
        let document = Document { title, runs, comparison: true };
        let cannot = |error: io::Error| self.cannot(&error);
        let folder = self.place.join(within);
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (file, format) in files {
            fs::write(folder.join(file), written(format, &document)?).map_err(cannot)?;
        }
        Ok(())
    }

    /// Gives the folder its name.
    pub fn publish(&mut self) -> Result<()> {
        self.name().map_err(|error| self.cannot(&error))
    }

    fn name(&mut self) -> io::Result<()> {
        if self.final_path.exists() {
            // Only an empty folder can be removed this way: files that appeared meanwhile stay.
            fs::remove_dir(&self.final_path)?;
        }
        fs::rename(&self.place, &self.final_path)?;
        self.is_named = true;
        let runs = self.final_path.join(RUNS);
        if runs.exists() {
            fs::remove_dir_all(runs)?;
        }
        fs::remove_file(self.final_path.join(LOCK))
    }

    /// The failure of a write to it.
    pub fn cannot(&self, error: &io::Error) -> Error {
        let shown = self.final_path.display();
        Error::Run(format!("results cannot be written to {shown} ({error})"))
    }
}

impl Drop for ResultFolder {
    /// Nothing is left where nothing was done.
    fn drop(&mut self) {
        if !self.is_named && self.kept.count() == 0 {
            let _ = fs::remove_dir_all(&self.place);
        }
    }
}

/// Gives all files their names: the results first, which are never lost for a file of requests that
/// cannot get its own.
pub fn publish(folder: &mut ResultFolder, beside: Vec<CompleteFile>) -> Result<()> {
    folder.publish()?;
    let errors: Vec<Error> = beside.into_iter().filter_map(|file| file.publish().err()).collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::Run(format!(
            "{}; the results in {} are complete",
            Error::together(&errors),
            folder.shown()
        ))),
    }
}

fn runs(count: usize) -> String {
    format!("{count} finished run{}", if count == 1 { "" } else { "s" })
}

fn refuse_occupied(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let shown = path.display();
    let mut entries = fs::read_dir(path)
        .map_err(|error| Error::usage(format!("--out {shown} is not a folder ({error})")))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!(
            "--out {shown} is not empty, and nothing is overwritten; legal: a new or empty folder"
        ))),
    }
}

/// What becomes of a claim.
enum Claimed {
    /// It holds, with its lock.
    Here(File),
    /// Somebody else has it; which process that is, as far as it is known.
    ByOther(String),
    /// It was there, and nobody can tell whether somebody has it.
    Unknown,
}

/// Makes the folder if it is not there, and locks it.
fn claim_place(place: &Path, resume: bool) -> io::Result<Claimed> {
    /// Each of them is lost to somebody who gave the folder its name, or removed it, meanwhile.
    const TRIES: usize = 16;
    let path = place.join(LOCK);
    for _ in 0..TRIES {
        let is_new = match fs::create_dir(place) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        let opened =
            File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        match lock(&file) {
            Ok(true) if !is_there(&file, &path) => continue,
            Ok(false) => {
                let mut process = String::new();
                let _ = file.read_to_string(&mut process);
                let told = if process.is_empty() { "" } else { &format!(" (process {process})") };
                return Ok(Claimed::ByOther(told.to_owned()));
            }
            Err(_) if !is_new && !resume => return Ok(Claimed::Unknown),
            Ok(true) | Err(_) => {}
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        return Ok(Claimed::Here(file));
    }
    Err(io::Error::other(format!("{} comes and goes", place.display())))
}

/// Whether the file is locked now; not where somebody else has it.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether what was opened still lies at its path.
#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |file: fs::Metadata, path: fs::Metadata| {
        (file.dev(), file.ino()) == (path.dev(), path.ino())
    };
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(file, path)| same(file, path))
}

#[cfg(not(unix))]
fn is_there(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Removes all but the lock.
fn clear(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// What tells this program from one that was built later: commit, length and time of change.
fn program() -> String {
    let found = std::env::current_exe().and_then(fs::metadata).ok();
    let stamp = found.and_then(|found| {
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} {}", found.len(), changed.as_nanos()))
    });
    format!("{} {}", env!("FTLAB_COMMIT"), stamp.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{COMPARISON, UNION};

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    fn refusal(path: &Path, resume: bool) -> String {
        ResultFolder::claim(path, resume, &Unfinished::default()).unwrap_err().to_string()
    }

    #[test]
    fn a_claim_that_is_dropped_leaves_nothing_behind() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        drop(ResultFolder::claim(&home.path().join("out"), false, &list).unwrap());
        assert_eq!(entries(home.path()), 0);
    }

    #[test]
    fn published_results_stand_alone_under_their_name() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        let out = home.path().join("deep/out");
        fs::create_dir_all(&out).unwrap();
        let mut claimed = ResultFolder::claim(&out, false, &list).unwrap();
        let runs = [RunResult::default()];
        claimed.write("", UNION, "nothing", &runs).unwrap();
        claimed.write("part", COMPARISON, "nothing", &runs).unwrap();
        claimed.publish().unwrap();
        drop(claimed);
        assert_eq!((entries(&out), entries(&out.join("part"))), (3, 3));
        assert_eq!(entries(out.parent().unwrap()), 1);
        assert!(refusal(&out, false).contains("not empty"));
    }

    /// A claim ends with its lock, whatever is left of the folder.
    #[test]
    fn a_folder_is_claimed_once() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        let out = home.path().join("out");
        let first = ResultFolder::claim(&out, false, &list).unwrap();
        for resume in [false, true] {
            let why = refusal(&out, resume);
            let process = format!("(process {})", std::process::id());
            assert!(why.contains("another ftlab at work") && why.contains(&process), "{why}");
        }
        drop(first);
        let stale = home.path().join("out.unfinished");
        fs::create_dir(&stale).unwrap();
        fs::write(stale.join(LOCK), "1").unwrap();
        fs::create_dir(stale.join("unit-3")).unwrap();
        drop(ResultFolder::claim(&out, false, &list).unwrap());
        assert_eq!(entries(home.path()), 0, "nobody has it, and nothing is kept there");
    }

    #[test]
    fn runs_that_are_kept_are_neither_removed_nor_taken_for_others() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        let out = home.path().join("out");
        let claimed = ResultFolder::claim(&out, false, &list).unwrap();
        let runs = home.path().join("out.unfinished/runs");
        fs::create_dir(&runs).unwrap();
        fs::write(runs.join("dftl-00.json"), "{}").unwrap();
        let told = claimed.given_up(Error::cancelled()).to_string();
        assert!(told.contains("1 finished run is kept in") && told.contains("--resume"), "{told}");
        let refused = claimed.given_up(Error::Run("dftl: worn out".to_owned())).to_string();
        assert!(refused.starts_with("dftl: worn out\n1 finished run is kept"), "{refused}");
        drop(claimed);
        let why = refusal(&out, false);
        assert!(why.contains("holds 1 finished run") && why.contains("--resume"), "{why}");
        let again = ResultFolder::claim(&out, true, &list).unwrap();
        list.remove_all();
        let why = again.check_resumed().unwrap_err().to_string();
        assert!(why.contains("none of the 1 finished run") && why.contains("legal"), "{why}");
        assert_eq!(again.given_up(Error::usage("no")), Error::usage("no"));
        drop(again);
        assert_eq!(entries(&runs), 1);
    }

    /// Bad input ends the same command the same way every time.
    #[test]
    fn nothing_is_kept_of_bad_input() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        let claimed = ResultFolder::claim(&home.path().join("out"), false, &list).unwrap();
        let runs = home.path().join("out.unfinished/runs");
        fs::create_dir(&runs).unwrap();
        fs::write(runs.join("dftl-00.json"), "{}").unwrap();
        assert_eq!(claimed.given_up(Error::usage("no")), Error::usage("no"));
        drop(claimed);
        assert_eq!(entries(home.path()), 0);
    }
}
