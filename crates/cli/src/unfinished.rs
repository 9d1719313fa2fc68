//! Files and folders that do not have their names yet. They go away when they are dropped; a second
//! Ctrl-C, which drops nothing, removes them by this list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ALL: Unfinished = Unfinished(Mutex::new(BTreeSet::new()));

/// At most one for every run of a command, and one more.
#[derive(Debug)]
struct Unfinished(Mutex<BTreeSet<PathBuf>>);

impl Unfinished {
    fn list(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&'static self, path: &Path) -> Claim {
        self.list().insert(path.to_owned());
        Claim { list: self, path: path.to_owned() }
    }

    /// A path that has its name by now is none of these any more, and what cannot be removed stays.
    fn remove(&self) {
        for path in self.list().iter() {
            let _ = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
    }
}

/// A path on the list, until this is dropped.
#[derive(Debug)]
pub struct Claim {
    list: &'static Unfinished,
    path: PathBuf,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.list.list().remove(&self.path);
    }
}

/// Puts a path on the list.
pub fn claim(path: &Path) -> Claim {
    ALL.claim(path)
}

/// Removes everything on the list; for the end of the program.
pub fn remove_all() {
    ALL.remove();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_yet_is_removed_and_nothing_else() {
        // A list of its own: other tests claim, too.
        static LIST: Unfinished = Unfinished(Mutex::new(BTreeSet::new()));
        let home = tempfile::tempdir().unwrap();
        let [folder, file, done] = ["folder", "file", "done"].map(|name| home.path().join(name));
        fs::create_dir(&folder).unwrap();
        for path in [&file, &done, &folder.join("inside")] {
            fs::write(path, "x").unwrap();
        }
        let _unfinished = [LIST.claim(&folder), LIST.claim(&file)];
        drop(LIST.claim(&done));
        LIST.remove();
        assert!(!folder.exists() && !file.exists() && done.exists());
    }
}
