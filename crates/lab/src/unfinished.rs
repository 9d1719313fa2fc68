//! Files and folders that do not have their names yet. They go away when they are dropped; a
//! program that ends without dropping anything removes them by this list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A list of files and folders that are not finished. Clones are the same list: a handler of
/// signals keeps one, an [`Observer`](crate::Observer) hands out the others.
///
/// It holds at most one path for every run of a command, and a few more.
#[derive(Clone, Debug, Default)]
pub struct Unfinished(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Unfinished {
    fn list(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a path on the list, until what is returned is dropped.
    #[must_use = "the path leaves the list when this is dropped"]
    pub fn claim(&self, path: &Path) -> Claimed {
        self.list().insert(path.to_owned());
        Claimed { list: self.clone(), path: path.to_owned() }
    }

    /// Removes everything on the list, for the end of a program. A path that has its name by now is
    /// none of these any more, and what cannot be removed stays.
    pub fn remove_all(&self) {
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
pub struct Claimed {
    list: Unfinished,
    path: PathBuf,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.list.list().remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_yet_is_removed_and_nothing_else() {
        let list = Unfinished::default();
        let home = tempfile::tempdir().unwrap();
        let [folder, file, done] = ["folder", "file", "done"].map(|name| home.path().join(name));
        fs::create_dir(&folder).unwrap();
        for path in [&file, &done, &folder.join("inside")] {
            fs::write(path, "x").unwrap();
        }
        let _unfinished = [list.claim(&folder), list.clone().claim(&file)];
        drop(list.claim(&done));
        list.remove_all();
        assert!(!folder.exists() && !file.exists() && done.exists());
    }
}
