//! The fuzz targets of `fuzz/` on the stable toolchain, without libFuzzer: the same functions, and inputs
//! that begin with the same corpora (`fuzz/corpus/TARGET`) and are mutated by a seed. There is no
//! coverage that guides them.

mod mutate;
mod run;

use std::fs;
use std::path::PathBuf;

pub use mutate::{Corpus, Random};
pub use run::{Outcome, run, run_all, table};

/// What a fuzzer feeds.
#[derive(Clone, Copy)]
pub struct Target {
    /// Of its file in `fuzz/fuzz_targets` and its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Panics when a promise is broken.
    pub call: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target { name: "device", call: ftlab_lab::fuzzing::fuzz_device },
    Target { name: "experiment", call: ftlab_lab::fuzzing::fuzz_experiment },
    Target { name: "nbd", call: ftlab_nbd::fuzzing::fuzz_conversation },
    Target { name: "operations", call: ftlab_engine::fuzzing::operations },
    Target { name: "results", call: ftlab_lab::fuzzing::fuzz_results },
    Target { name: "snapshot", call: ftlab_lab::fuzzing::fuzz_snapshot },
    Target { name: "trace_combination", call: ftlab_trace::fuzzing::fuzz_combination },
    Target { name: "trace_compact", call: ftlab_trace::fuzzing::fuzz_compact },
    Target { name: "trace_compression", call: ftlab_trace::fuzzing::fuzz_compression },
    Target { name: "trace_filter", call: ftlab_trace::fuzzing::fuzz_filter },
    Target { name: "trace_lines", call: ftlab_trace::fuzzing::fuzz_lines },
    Target { name: "trace_pipeline", call: ftlab_trace::fuzzing::fuzz_trace },
    Target { name: "trace_spec", call: ftlab_trace::fuzzing::fuzz_spec },
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
