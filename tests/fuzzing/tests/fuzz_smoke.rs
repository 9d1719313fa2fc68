//! Every fuzz target on the stable toolchain, for `FTLAB_FUZZ_SECONDS` in all (default 4), or with
//! `FTLAB_FUZZ_EXECUTIONS` (`make fuzz-long`) until all together have had so many executions.
//! `FTLAB_FUZZ_SEED` picks the seed; a failure says how its input is run again.
#![allow(clippy::print_stdout, reason = "what was run is told")]

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use ftlab_fuzzing::{TARGETS, place, run, run_all, table};

/// Inputs of every target at least.
const LEAST: u64 = 200;
/// Bytes of a member of a corpus at most.
const SEED_BYTES_MAX: usize = 10 << 10;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

#[test]
fn no_target_panics_on_mutated_input() {
    let seed = number("FTLAB_FUZZ_SEED").unwrap_or(1);
    if let Ok(input) = std::env::var("FTLAB_FUZZ_INPUT") {
        let (name, input) = input.split_once(':').expect("FTLAB_FUZZ_INPUT=TARGET:NUMBER");
        let target = TARGETS.iter().find(|target| target.name == name).expect("a target's name");
        let input = input.parse().expect("a number");
        let (took, legal) = run(target, &target.corpus(), seed, input);
        return println!("{name}:{input} took {took:?}, legal: {legal:?}");
    }
    let executions = number("FTLAB_FUZZ_EXECUTIONS");
    let seconds = match executions {
        Some(_) => number("FTLAB_FUZZ_SECONDS").unwrap_or(u64::MAX / 2),
        None => number("FTLAB_FUZZ_SECONDS").unwrap_or(4),
    };
    let ends = (executions.unwrap_or(u64::MAX), Duration::from_secs(seconds), LEAST);
    let outcomes = run_all(&TARGETS, seed, ends);
    println!("seed {seed}\n{}", table(&TARGETS, &outcomes));
    for (target, outcome) in TARGETS.iter().zip(&outcomes) {
        assert!(outcome.executions >= LEAST, "{}: {outcome:?}", target.name);
        // Where all is refused nothing of what is legal was looked at.
        assert_ne!(outcome.legal, Some(0), "{}: nothing was legal", target.name);
    }
}

/// Snapshots to begin with are accepted as far as a right digest goes. `FTLAB_FUZZ_WRITE` writes
/// them anew, which a new version of their format asks for.
#[test]
fn snapshots_of_the_corpus_are_those_of_this_version() {
    let folder = place("corpus/snapshot");
    for (number, bytes) in ftlab_lab::fuzzing::snapshots().iter().enumerate() {
        let path = folder.join(format!("{number}"));
        if std::env::var("FTLAB_FUZZ_WRITE").is_ok() {
            fs::write(&path, bytes).expect("the corpus can be written");
        }
        let known = fs::read(&path).expect("it is in the corpus");
        assert!(
            ftlab_lab::fuzzing::is_snapshot(&known),
            "{} is none any more: FTLAB_FUZZ_WRITE=1 cargo test -p ftlab-fuzzing",
            path.display()
        );
    }
}

/// The names of the files of a folder of `fuzz/`, without their ending.
fn names(folder: &str) -> BTreeSet<String> {
    let files = fs::read_dir(place(folder)).expect("it is there");
    let name = |file: fs::DirEntry| {
        let name = file.file_name().into_string().expect("our names are UTF-8");
        name.trim_end_matches(".rs").to_owned()
    };
    files.map(|file| name(file.expect("it can be read"))).collect()
}

/// libFuzzer and these tests have the same targets, each with a corpus of small files.
#[test]
fn every_target_is_known_to_libfuzzer_and_has_a_corpus() {
    let own: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names("fuzz_targets"), own);
    assert_eq!(names("corpus"), own);
    let manifest = fs::read_to_string(place("Cargo.toml")).expect("it is there");
    for target in TARGETS {
        let bin = format!("[[bin]]\nname = \"{0}\"\npath = \"fuzz_targets/{0}.rs\"", target.name);
        assert!(manifest.contains(&bin), "fuzz/Cargo.toml has no {}", target.name);
        let corpus = target.corpus();
        let large = corpus.seeds().iter().find(|seed| seed.len() > SEED_BYTES_MAX);
        assert!(large.is_none(), "{}: {:?} bytes", target.name, large.map(Vec::len));
        assert!(corpus.seeds().len() > 2, "{}: hardly a corpus", target.name);
    }
}
