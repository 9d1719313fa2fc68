//! What a store did to its folder, step by step, and what of it is there when the machine fails.
//!
//! The machine is as bad as a disk and a file system may be: of what was not made stable each name
//! and each sector is there or not, on its own; a file may have the length of what it lacks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ftlab_engine::rng::Rng;

/// One thing that was done.
#[derive(Clone, Debug)]
pub enum Step {
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    SyncFolder,
}

thread_local! {
    static TRAIL: RefCell<Option<Vec<Step>>> = const { RefCell::new(None) };
}

/// A step of this thread, where somebody follows.
pub fn note(step: impl FnOnce() -> Step) {
    TRAIL.with_borrow_mut(|trail| {
        if let Some(steps) = trail {
            steps.push(step());
        }
    });
}

/// From now on the steps of this thread are followed.
pub fn follow() {
    TRAIL.set(Some(Vec::new()));
}

/// Steps so far.
pub fn length() -> usize {
    TRAIL.with_borrow(|trail| trail.as_ref().map_or(0, Vec::len))
}

/// All steps; nobody follows any more.
pub fn end() -> Vec<Step> {
    TRAIL.take().unwrap_or_default()
}

/// What survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survives {
    /// All that was done: the process was killed, and the machine went on.
    Everything,
    /// What was made stable, and nothing else.
    Stable,
    /// That, and of the rest whatever chance says.
    Some,
}

const SECTOR: usize = 512;

/// A file, whatever it is called.
#[derive(Clone, Default)]
struct Content {
    stable: Vec<u8>,
    written: Vec<(u64, Vec<u8>)>,
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    file.resize(file.len().max(at + bytes.len()), 0);
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Content {
    fn sync(&mut self) {
        for (at, bytes) in std::mem::take(&mut self.written) {
            put(&mut self.stable, at as usize, &bytes);
        }
    }

    fn survives(&self, survives: Survives, rng: &mut Rng) -> Vec<u8> {
        let mut left = self.stable.clone();
        for (at, bytes) in &self.written {
            let (mut at, mut bytes) = (*at as usize, bytes.as_slice());
            while !bytes.is_empty() {
                let (part, behind) = bytes.split_at(bytes.len().min(SECTOR - at % SECTOR));
                match survives {
                    Survives::Stable => {}
                    Survives::Some if rng.below(2) == 0 => {
                        if rng.below(4) == 0 {
                            left.resize(left.len().max(at + part.len()), 0);
                        }
                    }
                    _ => put(&mut left, at, part),
                }
                (at, bytes) = (at + part.len(), behind);
            }
        }
        left
    }
}

/// Fills a folder with what is there of these steps.
pub fn leave(steps: &[Step], survives: Survives, rng: &mut Rng, folder: &Path) {
    let mut contents: Vec<Content> = Vec::new();
    let mut now: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut stable = now.clone();
    // What changed names since the folder was made stable, and the file that was meant.
    let mut changes: Vec<(&Step, usize)> = Vec::new();
    for step in steps {
        match step {
            Step::Create(path) => {
                contents.push(Content::default());
                now.insert(path.clone(), contents.len() - 1);
                changes.push((step, contents.len() - 1));
            }
            Step::Write(path, at, bytes) => {
                // A file that was removed may be held open still.
                if let Some(&file) = now.get(path) {
                    contents[file].written.push((*at, bytes.clone()));
                }
            }
            Step::Sync(path) => {
                if let Some(&file) = now.get(path) {
                    contents[file].sync();
                }
            }
            Step::Rename(from, to) => {
                let file = now.remove(from).expect("it was there");
                now.insert(to.clone(), file);
                changes.push((step, file));
            }
            Step::Remove(path) => {
                now.remove(path);
                changes.push((step, 0));
            }
            Step::SyncFolder => {
                stable.clone_from(&now);
                changes.clear();
            }
        }
    }
    for (step, file) in changes {
        let is_there = match survives {
            Survives::Everything => true,
            Survives::Stable => false,
            Survives::Some => rng.below(2) == 0,
        };
        match step {
            Step::Create(path) if is_there => drop(stable.insert(path.clone(), file)),
            Step::Rename(from, to) if is_there => {
                stable.remove(from);
                stable.insert(to.clone(), file);
            }
            Step::Remove(path) if is_there => drop(stable.remove(path)),
            _ => {}
        }
    }
    for (path, file) in stable {
        let name = path.file_name().expect("a file of the folder");
        fs::write(folder.join(name), contents[file].survives(survives, rng)).unwrap();
    }
}
