//! What the integration tests share.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]

use std::path::{Path, PathBuf};

use ftlab_trace::{Inspection, InspectionOptions, Options, Record, Result, TraceError, Workload};

/// A folder of small files, gone with the value.
pub struct Files(tempfile::TempDir);

impl Files {
    /// A new, empty folder.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file and returns its path as text.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("a temporary file");
        path.display().to_string()
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder itself, as text.
    pub fn folder(&self) -> String {
        self.0.path().display().to_string()
    }
}

/// All records of a workload.
pub fn read_all(text: &str, options: &Options) -> Result<Vec<Record>> {
    Workload::parse(text, options, 1 << 30)?.records()?.collect()
}

/// The error that reading a workload ends in.
pub fn error_of(text: &str, options: &Options) -> TraceError {
    match read_all(text, options) {
        Ok(records) => panic!("{text}: no error, but {} records", records.len()),
        Err(error) => error,
    }
}

/// Inspects with pages of 4 KiB and extents of 256 KiB.
pub fn inspect(text: &str, options: &Options) -> Result<Inspection> {
    ftlab_trace::inspect(text, options, 1 << 30, &InspectionOptions::default())
}

/// Options with a format stated.
pub fn format(name: &str) -> Options {
    Options { format: Some(name.into()), ..Options::default() }
}

/// A real trace beside the workspace, or `None` with the reason printed.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real_trace(name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: ../shared/traces/{name} is absent");
        return None;
    }
    Some(path.display().to_string())
}
