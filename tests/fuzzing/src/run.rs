//! Targets that are run, and what is told of it.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::{Corpus, Target};

/// Of a target at a time, where all are run.
const SLICE: Duration = Duration::from_millis(500);
/// No input takes longer: in what is compiled for tests, on a machine that does something else.
const LONGEST: Duration = Duration::from_secs(20);
/// Inputs between two looks at the clock.
const STRIDE: u64 = 64;

/// What was run of a target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Inputs.
    pub executions: u64,
    /// Those that were legal, where the target tells.
    pub legal: Option<u64>,
    /// For which they took.
    pub took: Duration,
    /// The one that took longest.
    pub slowest: (u64, Duration),
}

/// Runs input `number` of a target: how long it took, and whether it was legal, where the target
/// tells.
///
/// # Panics
/// When it panics or takes too long; says how it is run again.
pub fn run(target: &Target, corpus: &Corpus, seed: u64, number: u64) -> (Duration, Option<bool>) {
    let data = corpus.input(seed, number);
    let begun = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| (target.call)(&data)));
    let took = begun.elapsed();
    let again = || {
        let name = target.name;
        format!("FTLAB_FUZZ_SEED={seed} FTLAB_FUZZ_INPUT={name}:{number}, {}", data.escape_ascii())
    };
    let Ok(legal) = ended else { panic!("a panic, again by {}", again()) };
    assert!(took < LONGEST, "{took:?}, again by {}", again());
    (took, legal)
}

/// Runs all targets in turns, for half a second each at a time, until all together have had so many
/// executions and each at least `least`, or so much time.
pub fn run_all(
    targets: &[Target],
    seed: u64,
    (executions, time, least): (u64, Duration, u64),
) -> Vec<Outcome> {
    let corpora: Vec<Corpus> = targets.iter().map(Target::corpus).collect();
    let mut outcomes = vec![Outcome::default(); targets.len()];
    let begun = Instant::now();
    loop {
        for ((target, corpus), outcome) in targets.iter().zip(&corpora).zip(&mut outcomes) {
            let slice = Instant::now();
            let until = SLICE.min(time / targets.len() as u32);
            loop {
                for _ in 0..STRIDE {
                    let (took, legal) = run(target, corpus, seed, outcome.executions);
                    if let Some(legal) = legal {
                        *outcome.legal.get_or_insert(0) += u64::from(legal);
                    }
                    if took > outcome.slowest.1 {
                        outcome.slowest = (outcome.executions, took);
                    }
                    outcome.executions += 1;
                }
                if slice.elapsed() >= until {
                    break;
                }
            }
            outcome.took += slice.elapsed();
        }
        let all: u64 = outcomes.iter().map(|outcome| outcome.executions).sum();
        let enough = outcomes.iter().all(|outcome| outcome.executions >= least);
        if enough && (all >= executions || begun.elapsed() >= time) {
            return outcomes;
        }
    }
}

/// As a table of Markdown.
#[must_use]
pub fn table(targets: &[Target], outcomes: &[Outcome]) -> String {
    let mut text =
        "| target | executions | of them legal | seconds | a second | the slowest |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut line = |name: &str, outcome: &Outcome| {
        let seconds = outcome.took.as_secs_f64();
        // A clock that stands still tells no rate.
        let rate = if seconds > 0.0 {
            format!("{:.0}", outcome.executions as f64 / seconds)
        } else {
            "-".to_owned()
        };
        let legal = outcome.legal.map_or("-".to_owned(), |legal| legal.to_string());
        let (number, took) = outcome.slowest;
        let _ = writeln!(
            text,
            "| {name} | {} | {legal} | {seconds:.1} | {rate} | {number}: {:.1} ms |",
            outcome.executions,
            took.as_secs_f64() * 1e3
        );
    };
    let mut all = Outcome::default();
    for (target, outcome) in targets.iter().zip(outcomes) {
        line(target.name, outcome);
        all.executions += outcome.executions;
        all.took += outcome.took;
        if outcome.slowest.1 > all.slowest.1 {
            all.slowest = outcome.slowest;
        }
    }
    line("all", &all);
    text
}
