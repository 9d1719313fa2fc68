//! Files of a store, and when what is written to them surely stays.
//!
//! Everything that a store does to its folder goes through here, so that a test can follow it and
//! let the machine fail between any two steps (`failing.rs`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

#[cfg(test)]
use crate::trail::{Step, note};

/// What a file ends in that has no name of its own yet.
pub const UNFINISHED: &str = ".unfinished";

/// An open file.
#[derive(Debug)]
pub struct Kept {
    file: File,
    #[cfg(test)]
    path: PathBuf,
}

impl Kept {
    /// An empty one; what was there is gone.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(true).read(true).write(true).open(path)?;
        #[cfg(test)]
        note(|| Step::Create(path.to_owned()));
        Ok(Kept::of(file, path))
    }

    /// One that is there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Kept::of(file, path))
    }

    #[cfg_attr(not(test), allow(unused_variables, reason = "tests follow it by its name"))]
    fn of(file: File, path: &Path) -> Self {
        Kept {
            file,
            #[cfg(test)]
            path: path.to_owned(),
        }
    }

    /// Bytes from `at` on.
    pub fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(test)]
        note(|| Step::Write(self.path.clone(), at, bytes.to_vec()));
        self.file.write_all_at(bytes, at)
    }

    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)
    }

    /// What was written stays when the machine stops.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        #[cfg(test)]
        note(|| Step::Sync(self.path.clone()));
        Ok(())
    }
}

/// A file that is there as a whole or not at all, and stays when the machine stops.
pub fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(UNFINISHED);
    let aside = PathBuf::from(aside);
    let file = Kept::create(&aside)?;
    file.write_all_at(bytes, 0)?;
    file.sync()?;
    fs::rename(&aside, path)?;
    #[cfg(test)]
    note(|| Step::Rename(aside.clone(), path.to_owned()));
    sync_folder(path.parent().expect("a file of a folder"))
}

/// Names that were made or changed stay when the machine stops.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    #[cfg(test)]
    note(|| Step::SyncFolder);
    Ok(())
}

/// What nobody reads; where it cannot be removed it takes room only.
pub fn remove(path: &Path) {
    #[cfg(test)]
    note(|| Step::Remove(path.to_owned()));
    let _ = fs::remove_file(path);
}
