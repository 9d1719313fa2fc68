//! Result files: nothing is overwritten, and nothing unfinished is left behind.

use std::fs;
use std::path::{Path, PathBuf};

use ftlab_lab::{Claimed, CompleteRequests, Error, Result, RunResult, Unfinished};
use ftlab_report::writers::{Document, writer};
use tempfile::TempDir;

/// Tells of which commit the program is that made a result; of a reproducible one, forgets what
/// differs between equal runs.
pub fn identify(result: &mut RunResult, reproducible: bool) {
    result.made.commit = env!("FTLAB_COMMIT").to_owned();
    if reproducible {
        result.wall = Default::default();
        (result.made.host, result.made.started) = Default::default();
    }
}

/// Files of results: name, and the writer that makes them.
pub type Files = &'static [(&'static str, &'static str)];

/// The files of a comparison.
pub const COMPARISON: Files =
    &[("results.json", "json"), ("results.csv", "csv"), ("report.html", "html")];

/// The files of several comparisons together, for programs.
pub const UNION: Files = &[("results.json", "json"), ("results.csv", "csv")];

/// What the writer of that name makes of the runs.
pub fn written(format: &str, document: &Document<'_>) -> Result<Vec<u8>> {
    let writer = writer(format)
        .ok_or_else(|| Error::Run(format!("the writer '{format}' is missing: a bug")))?;
    Ok((writer.write)(document))
}

/// A folder that appears under its name only when it is complete. Until then it is a hidden
/// sibling, which goes away when this is dropped.
#[derive(Debug)]
pub struct ResultFolder {
    /// As it was asked for.
    typed: PathBuf,
    final_path: PathBuf,
    folder: TempDir,
    _claim: Claimed,
}

impl ResultFolder {
    /// Claims `path`, which must be new or an empty folder.
    pub fn claim(path: &Path, unfinished: &Unfinished) -> Result<Self> {
        let shown = path.display();
        if path.exists() {
            let entries = fs::read_dir(path).map_err(|error| {
                Error::usage(format!("--out {shown} is not a folder ({error})"))
            })?;
            if entries.count() > 0 {
                return Err(Error::usage(format!(
                    "--out {shown} is not empty, and nothing is overwritten; legal: a new or \
                     empty folder"
                )));
            }
        }
        let cannot = |error: std::io::Error| {
            Error::usage(format!("--out {shown} cannot be written ({error})"))
        };
        let absolute = std::path::absolute(path).map_err(cannot)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(Error::usage(format!("--out {shown} names no folder")));
        };
        fs::create_dir_all(parent).map_err(cannot)?;
        let folder = tempfile::Builder::new()
            .prefix(&format!(".{}.unfinished-", name.to_string_lossy()))
            .tempdir_in(parent)
            .map_err(cannot)?;
        let _claim = unfinished.claim(folder.path());
        Ok(ResultFolder { typed: path.to_owned(), final_path: absolute, folder, _claim })
    }

    /// The name that it is to have, as it was asked for.
    pub fn path(&self) -> &Path {
        &self.typed
    }

    /// The same for people.
    pub fn shown(&self) -> String {
        self.typed.display().to_string()
    }

    /// Writes files about `runs` into it, or into the folder `within` it where that is not empty.
    pub fn write(&self, within: &str, files: Files, title: &str, runs: &[RunResult]) -> Result<()> {
        let document = Document { title, runs, comparison: true };
        let cannot = |error: std::io::Error| self.cannot(&error);
        let folder = self.folder.path().join(within);
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (file, format) in files {
            fs::write(folder.join(file), written(format, &document)?).map_err(cannot)?;
        }
        Ok(())
    }

    /// The folder as it is until then, for what writes files of its own there.
    pub fn unfinished(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its name.
    pub fn publish(self) -> Result<()> {
        let cannot = |error: std::io::Error| self.cannot(&error);
        readable_by_all(self.folder.path()).map_err(cannot)?;
        if self.final_path.exists() {
            // Only an empty folder can be removed this way: files that appeared meanwhile stay.
            fs::remove_dir(&self.final_path).map_err(cannot)?;
        }
        fs::rename(self.folder.path(), &self.final_path).map_err(cannot)?;
        // It has moved; there is nothing left to remove.
        let _ = self.folder.keep();
        Ok(())
    }

    /// The failure of a write to this folder.
    pub fn cannot(&self, error: &std::io::Error) -> Error {
        let shown = self.final_path.display();
        Error::Run(format!("results cannot be written to {shown} ({error})"))
    }
}

/// Gives all files their names: the results first, which are never lost for a file of requests that
/// cannot get its own.
pub fn publish(folder: ResultFolder, rows: Vec<CompleteRequests>) -> Result<()> {
    let out = folder.shown();
    folder.publish()?;
    let errors: Vec<Error> = rows.into_iter().filter_map(|file| file.publish().err()).collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::Run(format!(
            "{}; the results in {out} are complete",
            Error::together(&errors)
        ))),
    }
}

/// Temporary folders are private; a result is an ordinary folder.
#[cfg(unix)]
fn readable_by_all(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn readable_by_all(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_claim_that_is_dropped_leaves_nothing_behind() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        drop(ResultFolder::claim(&home.path().join("out"), &list).unwrap());
        assert_eq!(entries(home.path()), 0);
    }

    #[test]
    fn published_results_stand_alone_under_their_name() {
        let (home, list) = (tempfile::tempdir().unwrap(), Unfinished::default());
        let out = home.path().join("deep/out");
        fs::create_dir_all(&out).unwrap();
        let claimed = ResultFolder::claim(&out, &list).unwrap();
        let runs = [RunResult::default()];
        claimed.write("", UNION, "nothing", &runs).unwrap();
        claimed.write("part", COMPARISON, "nothing", &runs).unwrap();
        claimed.publish().unwrap();
        assert_eq!((entries(&out), entries(&out.join("part"))), (3, 3));
        assert_eq!(entries(out.parent().unwrap()), 1);
        assert!(ResultFolder::claim(&out, &list).unwrap_err().to_string().contains("not empty"));
    }
}
