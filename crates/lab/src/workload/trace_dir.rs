//! `--trace-dir`: the real trace in the place of its stand-in, and whether it is the one meant.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use ftlab_report::format::count;
use ftlab_trace::{Options, RealTrace, Workload};

use crate::error::{Error, Result};

/// What `ftlab` reads, after the name of a file.
const SUFFIXES: [&str; 5] = ["", ".gz", ".bz2", ".zst", ".xz"];

/// What was used instead of a stand-in, or why the stand-in was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The real trace.
    Real {
        /// Its path.
        path: String,
        /// What it was recognised by, in words.
        verdict: String,
        /// How many requests the public one has, where that is known.
        whole: Option<Whole>,
    },
    /// The folder has none.
    Absent {
        /// In words.
        reason: String,
    },
}

/// How many requests a public trace has: a file with fewer or more is used, and the result says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Path of the file that is used.
    path: String,
    /// Name of the public one.
    file: String,
    requests: u64,
}

impl Whole {
    /// Is a file in which so many requests were counted only a part of the public one?
    pub fn is_cut(&self, counted: u64) -> bool {
        counted < self.requests
    }

    /// A sentence about a file in which so many requests were counted.
    pub fn verdict(&self, counted: u64) -> String {
        let Self { path, file, requests } = self;
        let (here, known) = (count(counted), count(*requests));
        match counted.cmp(requests) {
            Ordering::Equal => format!("{path} holds all {known} requests of the public {file}."),
            Ordering::Less => format!(
                "{path} is cut: it holds {here} of the {known} requests that the public {file} has."
            ),
            Ordering::Greater => format!(
                "{path} is longer than the public {file}: it holds {here} requests, {} more than \
                 the {known} of that one.",
                count(counted - requests)
            ),
        }
    }
}

/// Looks for the real trace of the stand-in `name` in `folder`.
///
/// # Errors
/// A folder that cannot be read, two files of that name, a file that is not that trace.
pub fn look(folder: &Path, name: &str, real: &RealTrace) -> Result<Instead> {
    let shown = folder.display();
    if real.file.is_empty() {
        let reason = format!("no public file is known for '{name}'");
        return Ok(Instead::Absent { reason });
    }
    let unreadable = |error: std::io::Error| {
        Error::usage(format!("--trace-dir {shown} cannot be read ({error}); legal: a folder"))
    };
    let is_it = |path: &PathBuf| {
        let own = path.file_name().map(|own| own.to_string_lossy().to_lowercase());
        let wanted = real.file.to_lowercase();
        SUFFIXES.iter().any(|suffix| own.as_deref() == Some(&format!("{wanted}{suffix}")))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if is_it(&path) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [] => {
            let reason = format!("{shown} holds no {} (plain, .gz, .bz2, .zst or .xz)", real.file);
            Ok(Instead::Absent { reason })
        }
        [path] => recognised(path, real),
        [first, second, ..] => Err(Error::usage(format!(
            "--trace-dir {shown} holds {} and {}; legal: one of them",
            first.display(),
            second.display()
        ))),
    }
}

/// Compares how the file begins with how the public trace does, where that is known.
fn recognised(path: &Path, real: &RealTrace) -> Result<Instead> {
    let path = path.display().to_string();
    let workload = Workload::parse(&path, &Options::default(), 0)?;
    let format = workload.format_name();
    let verdict = match &real.fingerprint {
        None => format!("not verified: known by its name and its format ({format}) only"),
        Some(known) => {
            let count = RealTrace::FINGERPRINT_REQUESTS;
            let own = RealTrace::fingerprint_of(&workload)?;
            if own != *known {
                return Err(Error::usage(format!(
                    "{path} is not the public {}: its first {count} requests are others; legal: \
                     that trace whole, or this file itself as --workload",
                    real.file
                )));
            }
            format!("recognised by its first {count} requests")
        }
    };
    let whole = real.requests.map(|requests| {
        let (path, file) = (path.clone(), real.file.clone());
        Whole { path, file, requests }
    });
    Ok(Instead::Real { path, verdict, whole })
}
