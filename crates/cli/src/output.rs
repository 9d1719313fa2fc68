//! Result files: nothing is overwritten, and nothing unfinished is left behind.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ftlab_report::result::RunResult;
use ftlab_report::writers::{Document, writer};
use tempfile::{NamedTempFile, TempDir, TempPath};

use crate::failure::{Failure, Outcome};
use crate::unfinished::{self, Claim};

/// Files of results: name, and the writer that makes them.
pub type Files = &'static [(&'static str, &'static str)];

/// The files of a comparison.
pub const COMPARISON: Files =
    &[("results.json", "json"), ("results.csv", "csv"), ("report.html", "html")];

/// The files of several comparisons together, for programs.
pub const UNION: Files = &[("results.json", "json"), ("results.csv", "csv")];

/// What the writer of that name makes of the runs.
pub fn written(format: &str, document: &Document<'_>) -> Outcome<Vec<u8>> {
    let writer = writer(format)
        .ok_or_else(|| Failure::Run(format!("the writer '{format}' is missing: a bug")))?;
    Ok((writer.write)(document))
}

/// A folder that appears under its name only when it is complete. Until then it is a hidden
/// sibling, which goes away when this is dropped.
#[derive(Debug)]
pub struct ResultFolder {
    final_path: PathBuf,
    folder: TempDir,
    _claim: Claim,
}

impl ResultFolder {
    /// Claims `path`, which must be new or an empty folder.
    pub fn claim(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        if path.exists() {
            let entries = fs::read_dir(path).map_err(|error| {
                Failure::usage(format!("--out {shown} is not a folder ({error})"))
            })?;
            if entries.count() > 0 {
                return Err(Failure::usage(format!(
                    "--out {shown} is not empty, and nothing is overwritten; legal: a new or \
                     empty folder"
                )));
            }
        }
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("--out {shown} cannot be written ({error})"))
        };
        let absolute = std::path::absolute(path).map_err(cannot)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(Failure::usage(format!("--out {shown} names no folder")));
        };
        fs::create_dir_all(parent).map_err(cannot)?;
        let folder = tempfile::Builder::new()
            .prefix(&format!(".{}.unfinished-", name.to_string_lossy()))
            .tempdir_in(parent)
            .map_err(cannot)?;
        let _claim = unfinished::claim(folder.path());
        Ok(ResultFolder { final_path: absolute, folder, _claim })
    }

    /// Writes files about `runs` into it, or into the folder `within` it where that is not empty.
    pub fn write(
        &self,
        within: &str,
        files: Files,
        title: &str,
        runs: &[RunResult],
    ) -> Outcome<()> {
        let document = Document { title, runs, comparison: true };
        let cannot = |error: std::io::Error| self.cannot(&error);
        let folder = self.folder.path().join(within);
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (file, format) in files {
            fs::write(folder.join(file), written(format, &document)?).map_err(cannot)?;
        }
        Ok(())
    }

    /// Gives the folder its name.
    pub fn publish(self) -> Outcome<()> {
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

    fn cannot(&self, error: &std::io::Error) -> Failure {
        let shown = self.final_path.display();
        Failure::Run(format!("results cannot be written to {shown} ({error})"))
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

/// A file that appears under its name only when it is complete.
#[derive(Debug)]
pub struct ResultFile {
    final_path: PathBuf,
    file: NamedTempFile,
    claim: Claim,
}

impl ResultFile {
    /// Claims `path`, which must be new.
    pub fn claim(path: &Path) -> Outcome<Self> {
        refuse_existing(path)?;
        Self::begin(path)
    }

    /// The same for a path that was found free before: whether it still is shows when the file is
    /// to get its name, so that nothing is lost for it.
    pub fn begin(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let cannot =
            |error: std::io::Error| Failure::usage(format!("{shown} cannot be written ({error})"));
        let absolute = std::path::absolute(path).map_err(cannot)?;
        let parent = absolute.parent().unwrap_or(Path::new("."));
        let file =
            tempfile::Builder::new().prefix(".unfinished-").tempfile_in(parent).map_err(cannot)?;
        let claim = unfinished::claim(file.path());
        Ok(ResultFile { final_path: absolute, file, claim })
    }

    /// Writes the bytes and gives the file its name.
    pub fn publish(mut self, bytes: &[u8]) -> Outcome<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush());
        written.map_err(|error| self.cannot(&error))?;
        self.persist()
    }

    /// The file itself, for what writes piece by piece.
    pub fn handle(&self) -> Outcome<File> {
        self.file.as_file().try_clone().map_err(|error| self.cannot(&error))
    }

    /// Gives the file its name.
    pub fn persist(self) -> Outcome<()> {
        self.close()?.publish()
    }

    /// Closes the file, whose name is still to come.
    pub fn close(self) -> Outcome<ClosedFile> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o644);
            self.file.as_file().set_permissions(mode).map_err(|error| self.cannot(&error))?;
        }
        let (final_path, file) = (self.final_path, self.file.into_temp_path());
        Ok(ClosedFile { final_path, file, _claim: self.claim })
    }

    /// The failure of a write to this file.
    pub fn cannot(&self, error: &std::io::Error) -> Failure {
        cannot_write(&self.final_path.display().to_string(), error)
    }
}

/// A file that is complete, closed, and still without its name; it goes away when this is dropped.
#[derive(Debug)]
pub struct ClosedFile {
    final_path: PathBuf,
    file: TempPath,
    _claim: Claim,
}

impl ClosedFile {
    /// Gives the file its name.
    pub fn publish(self) -> Outcome<()> {
        let shown = self.final_path.display().to_string();
        let named = self.file.persist_noclobber(&self.final_path);
        named.map_err(|error| cannot_write(&shown, &error.error))
    }
}

/// Nothing is overwritten.
pub fn refuse_existing(path: &Path) -> Outcome<()> {
    match path.exists() {
        false => Ok(()),
        true => Err(Failure::usage(format!(
            "{} exists, and nothing is overwritten; legal: the name of a new file",
            path.display()
        ))),
    }
}

fn cannot_write(shown: &str, error: &std::io::Error) -> Failure {
    Failure::Run(format!("{shown} cannot be written ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_claim_that_is_dropped_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        drop(ResultFolder::claim(&home.path().join("out")).unwrap());
        drop(ResultFile::claim(&home.path().join("run.json")).unwrap());
        assert_eq!(entries(home.path()), 0);
    }

    #[test]
    fn published_results_stand_alone_under_their_name() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("deep/out");
        fs::create_dir_all(&out).unwrap();
        let claimed = ResultFolder::claim(&out).unwrap();
        let runs = [RunResult::default()];
        claimed.write("", UNION, "nothing", &runs).unwrap();
        claimed.write("part", COMPARISON, "nothing", &runs).unwrap();
        claimed.publish().unwrap();
        assert_eq!((entries(&out), entries(&out.join("part"))), (3, 3));
        assert_eq!(entries(out.parent().unwrap()), 1);
        assert!(ResultFolder::claim(&out).unwrap_err().to_string().contains("not empty"));
        let file = home.path().join("run.json");
        ResultFile::claim(&file).unwrap().publish(b"{}").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"{}");
        assert!(ResultFile::claim(&file).unwrap_err().to_string().contains("exists"));
    }
}
