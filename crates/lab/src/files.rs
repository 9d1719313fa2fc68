//! Files of results: nothing is overwritten, and nothing unfinished is left behind. Everything that
//! a run writes beside its result goes through here.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Result};
use crate::unfinished::{Claimed, Unfinished};

/// A file that appears under its name only when it is complete.
#[derive(Debug)]
pub struct ResultFile {
    typed: PathBuf,
    final_path: PathBuf,
    file: NamedTempFile,
    claim: Claimed,
}

impl ResultFile {
    /// Claims `path`, which must be new; until it has its name the file is on the list
    /// `unfinished`.
    ///
    /// # Errors
    /// Something of that name exists, or the folder is missing or cannot be written.
    pub fn claim(path: &Path, unfinished: &Unfinished) -> Result<Self> {
        refuse_existing(path)?;
        Self::begin(path, unfinished)
    }

    /// The same for a path that was found free before: whether it still is shows when the file is
    /// to get its name, so that nothing is lost for it.
    pub(crate) fn begin(path: &Path, unfinished: &Unfinished) -> Result<Self> {
        let shown = path.display();
        let cannot =
            |error: std::io::Error| Error::usage(format!("{shown} cannot be written ({error})"));
        let absolute = std::path::absolute(path).map_err(cannot)?;
        let parent = absolute.parent().unwrap_or(Path::new("."));
        let file =
            tempfile::Builder::new().prefix(".unfinished-").tempfile_in(parent).map_err(cannot)?;
        let claim = unfinished.claim(file.path());
        Ok(ResultFile { typed: path.to_owned(), final_path: absolute, file, claim })
    }

    /// Writes the bytes and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written, or something has its name by now.
    pub fn publish(mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush());
        written.map_err(|error| self.cannot(&error))?;
        self.persist()
    }

    /// The file itself, for what writes piece by piece.
    ///
    /// # Errors
    /// The system's own.
    pub fn handle(&self) -> Result<File> {
        self.file.as_file().try_clone().map_err(|error| self.cannot(&error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Something has that name by now; nothing is overwritten.
    pub fn persist(self) -> Result<()> {
        self.complete()?.publish()
    }

    /// Closes the file, whose name is still to come.
    pub(crate) fn complete(self) -> Result<CompleteFile> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o644);
            self.file.as_file().set_permissions(mode).map_err(|error| self.cannot(&error))?;
        }
        let ResultFile { typed, final_path, file, claim } = self;
        Ok(CompleteFile { typed, final_path, file: file.into_temp_path(), _claim: claim })
    }

    /// The failure of a write to this file.
    pub(crate) fn cannot(&self, error: &std::io::Error) -> Error {
        cannot_write(&self.final_path.display().to_string(), error)
    }
}

/// A file that is complete, closed, and still without its name; it goes away when this is dropped.
#[derive(Debug)]
pub struct CompleteFile {
    typed: PathBuf,
    final_path: PathBuf,
    file: TempPath,
    _claim: Claimed,
}

impl CompleteFile {
    /// The name that it is to have, as it was asked for.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.typed
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Something has that name by now; nothing is overwritten.
    pub fn publish(self) -> Result<()> {
        let shown = self.final_path.display().to_string();
        let named = self.file.persist_noclobber(&self.final_path);
        named.map_err(|error| cannot_write(&shown, &error.error))
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file needs a folder that is there.
pub(crate) fn check_folder(option: &str, path: &Path) -> Result<()> {
    match folder_of(path).is_dir() {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "{option} {}: {} is no folder; legal: a file in a folder that exists",
            path.display(),
            folder_of(path).display()
        ))),
    }
}

/// A file that a run writes beside the folder of results `out` lies in a folder that is there and
/// not in that one.
pub(crate) fn check_beside(option: &str, path: &Path, out: Option<&Path>) -> Result<()> {
    if let Some(out) = out.filter(|out| lies_in(path, out)) {
        return Err(Error::usage(format!(
            "{option} {} lies in --out {}, which takes results only and must be empty; legal: a \
             file in another folder",
            path.display(),
            out.display()
        )));
    }
    check_folder(option, path)
}

/// Is `path`, which need not exist, the folder `out` or in it? What is there is told without its
/// links and steps back.
fn lies_in(path: &Path, out: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |path: &Path| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    let real_out = out.canonicalize().ok().or_else(|| real(out));
    match real(path).zip(real_out) {
        Some((path, out)) => path.starts_with(out),
        None => absolute(path).starts_with(absolute(out)),
    }
}

/// Nothing is overwritten.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    match path.exists() {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "{} exists, and nothing is overwritten; legal: the name of a new file",
            path.display()
        ))),
    }
}

fn cannot_write(shown: &str, error: &std::io::Error) -> Error {
    Error::Run(format!("{shown} cannot be written ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_under_its_name_once_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let (file, list) = (home.path().join("run.json"), Unfinished::default());
        drop(ResultFile::claim(&file, &list).unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "a claim that was dropped");
        ResultFile::claim(&file, &list).unwrap().publish(b"{}").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"{}");
        assert!(ResultFile::claim(&file, &list).unwrap_err().to_string().contains("exists"));
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
