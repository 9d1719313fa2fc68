//! What the files of a store are called, and how one is refused.

use std::path::{Path, PathBuf};

use ftlab_lab::Error;

pub const DESCRIPTION: &str = "drive.json";
pub const LOCK: &str = "lock";
pub const DATA: &str = "data";
pub const FLUSHED: &str = "flushed";
pub const FLASH: &str = "flash";
pub const LOG: &str = "log";
/// Of all that is in the folder.
pub const VERSION: u64 = 2;

pub fn named(path: &Path, what: &str, generation: u64) -> PathBuf {
    path.join(format!("{what}.{generation}"))
}

pub fn refused(path: &Path, why: &str) -> Error {
    Error::usage(format!(
        "--store: {} {why}; legal: a new or empty folder, or that of a drive of this scheme and \
         these settings",
        path.display()
    ))
}
