//! The fuzz targets of `fuzz/` on the stable toolchain, without libFuzzer: the same functions, and
//! inputs that begin with the same corpora (`fuzz/corpus/TARGET`) and are mutated by a seed. There
//! is no coverage that guides them.

mod mutate;
mod run;

use std::fs;
use std::path::PathBuf;

pub use mutate::Corpus;
pub use run::{Outcome, run, run_all, table};

/// What a fuzzer feeds.
#[derive(Clone, Copy)]
pub struct Target {
    /// Of its file in `fuzz/fuzz_targets` and its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Panics when a promise is broken; whether the bytes were legal, where the target tells.
    pub call: fn(&[u8]) -> Option<bool>,
}

/// A target that does not tell.
fn silent(call: fn(&[u8]), data: &[u8]) -> Option<bool> {
    call(data);
    None
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target { name: "device", call: |data| Some(ftlab_lab::fuzzing::fuzz_device(data)) },
    Target { name: "experiment", call: |data| Some(ftlab_lab::fuzzing::fuzz_experiment(data)) },
    Target { name: "nbd", call: |data| silent(ftlab_nbd::fuzzing::fuzz_conversation, data) },
    Target { name: "operations", call: |data| silent(ftlab_engine::fuzzing::operations, data) },
    Target { name: "results", call: |data| Some(ftlab_lab::fuzzing::fuzz_results(data)) },
    Target { name: "snapshot", call: |data| Some(ftlab_lab::fuzzing::fuzz_snapshot(data)) },
    Target {
        name: "trace_combination",
        call: |data| silent(ftlab_trace::fuzzing::fuzz_combination, data),
    },
    Target { name: "trace_compact", call: |data| silent(ftlab_trace::fuzzing::fuzz_compact, data) },
    Target {
        name: "trace_compression",
        call: |data| silent(ftlab_trace::fuzzing::fuzz_compression, data),
    },
    Target { name: "trace_filter", call: |data| silent(ftlab_trace::fuzzing::fuzz_filter, data) },
    Target { name: "trace_lines", call: |data| silent(ftlab_trace::fuzzing::fuzz_lines, data) },
    Target { name: "trace_pipeline", call: |data| silent(ftlab_trace::fuzzing::fuzz_trace, data) },
    Target { name: "trace_spec", call: |data| silent(ftlab_trace::fuzzing::fuzz_spec, data) },
];

/// A folder or file of `fuzz/`.
#[must_use]
pub fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name)
}

impl Target {
    /// Its corpus, in the order of the files' names.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn corpus(&self) -> Corpus {
        let folder = place("corpus").join(self.name);
        let files = fs::read_dir(&folder);
        let files = files.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        paths.sort();
        let seeds: Vec<Vec<u8>> =
            paths.iter().map(|path| fs::read(path).expect("it was listed")).collect();
        assert!(!seeds.is_empty(), "{} is empty", folder.display());
        Corpus::new(seeds)
    }
}
