//! Results that stood in any number of files: each run once, with its scalars alone, so that
//! thousands fit into memory and onto a page. What a run was asked (`asked.rs`) and its numbers are
//! kept; `explore` and `diff` know nothing else.

use crate::asked::{about, is_setting};
use crate::flatten::{Flat, flatten, text};
use crate::metrics::{ENERGY_MODEL, SECTIONS};
use crate::result::{Made, RunResult, Wall};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// Most runs that are gathered: some 80 KiB each while they are, a quarter of it for the page of a
/// sweep, and 1 KiB on a page.
pub const GATHERED_MAX: usize = 20_000;

/// What came of a run in words, which no table of metrics has.
pub(crate) const OUTCOMES: &[(&str, &str)] = &[
    ("audit", "audit"),
    ("steady_state.reached", "steady state reached"),
    ("steady_state.gc_ran", "blocks reclaimed"),
];

/// What makes the run again.
pub(crate) const COMMAND: &str = "made.command";

/// Whether a page has a column for it, or needs it for one.
fn is_told(path: &str) -> bool {
    static METRICS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        SECTIONS.iter().flat_map(|section| section.metrics).map(|metric| metric.path).collect()
    });
    is_setting(path)
        || about(path).is_some()
        || OUTCOMES.iter().any(|(outcome, _)| *outcome == path)
        || METRICS.contains(path)
        || path == COMMAND
        // Without any there is no mean.
        || path.ends_with(".system.N")
}

/// What is kept of a run.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The file in which it stands, the most telling one where it stands in several.
    pub place: String,
    /// Its scalars by path.
    pub flat: Flat,
    /// What its reader must know.
    pub warnings: Vec<String>,
    /// A digest of all that came out, curves and windows too; what depends on the machine, and who
    /// made it when, is left out.
    pub outcome: u64,
    /// A digest of everything.
    whole: u64,
}

impl Gathered {
    /// What is kept of a run that stands in that file.
    ///
    /// # Panics
    /// Never: a result has string keys only.
    #[must_use]
    pub fn of(place: &str, run: RunResult) -> Self {
        let flat = flatten(&run);
        let whole = digest(&run);
        let warnings = run.warnings.clone();
        let told = RunResult {
            made: Made::default(),
            version: String::new(),
            wall: Wall::default(),
            ..run
        };
        Gathered { place: place.to_owned(), flat, warnings, outcome: digest(&told), whole }
    }

    /// A text among its scalars; empty where there is none.
    #[must_use]
    pub fn word(&self, path: &str) -> &str {
        self.flat.get(path).and_then(|value| value.as_str()).unwrap_or_default()
    }

    /// What a page tells of it among other runs, a fifth of it: not the settings in which none of
    /// them differ, and no number that no column shows.
    #[must_use]
    pub fn for_page(self, settings: &Settings) -> Self {
        let told = |path: &str, value: &Value| {
            !value.is_null() && !settings.are_same(path) && is_told(path)
        };
        let flat = self.flat.into_iter().filter(|(path, value)| told(path, value)).collect();
        Gathered { flat, ..self }
    }

    fn equals(&self, other: &Self) -> bool {
        self.whole == other.whole && self.flat == other.flat && self.warnings == other.warnings
    }
}

/// Which settings differ among runs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The one value of each; none where there are several.
    values: HashMap<String, Option<String>>,
}

impl Settings {
    /// Takes in those of a run.
    pub fn add(&mut self, flat: &Flat) {
        for (path, value) in flat.iter().filter(|(path, _)| is_setting(path)) {
            let value = text(Some(value));
            match self.values.get_mut(path) {
                None => drop(self.values.insert(path.clone(), Some(value))),
                Some(known) if known.as_ref() != Some(&value) => *known = None,
                Some(_) => {}
            }
        }
    }

    fn are_same(&self, path: &str) -> bool {
        path != ENERGY_MODEL && self.values.get(path).is_some_and(Option::is_some)
    }
}

/// Good for one run of the program only, as the hasher is the standard library's.
fn digest(run: &RunResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    let bytes = serde_json::to_vec(run).expect("a result has string keys only");
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Runs in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    runs: Vec<Gathered>,
    /// Places in `runs` by digest.
    known: HashMap<u64, Vec<usize>>,
    copies: usize,
}

/// More runs than can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {GATHERED_MAX} runs")]
pub struct TooMany;

impl Collection {
    /// Adds a run, unless it is there: the result of one run often stands in several files, its own
    /// and that of a comparison. Of these the one named `results.json` is told, whose folder says
    /// what it belongs to.
    ///
    /// # Errors
    /// There are [`GATHERED_MAX`] already.
    pub fn add(&mut self, run: Gathered) -> Result<(), TooMany> {
        let same = self.known.entry(run.whole).or_default();
        if let Some(index) = same.iter().copied().find(|index| self.runs[*index].equals(&run)) {
            self.copies += 1;
            let kept = &mut self.runs[index];
            if telling(&run.place) && !telling(&kept.place) {
                kept.place = run.place;
            }
            return Ok(());
        }
        if self.runs.len() == GATHERED_MAX {
            return Err(TooMany);
        }
        same.push(self.runs.len());
        self.runs.push(run);
        Ok(())
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> &[Gathered] {
        &self.runs
    }

    /// How often a run came that was there already.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.copies
    }
}

fn telling(place: &str) -> bool {
    place.ends_with("results.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::SECTIONS;
    use serde_json::json;

    fn run(scheme: &str, waf: f64) -> RunResult {
        RunResult { scheme: scheme.to_owned(), waf: Some(waf), ..RunResult::default() }
    }

    #[test]
    fn a_run_in_several_files_is_one() {
        let mut all = Collection::default();
        for (place, run) in [
            ("out/runs/1.json", run("dftl", 1.5)),
            ("out/fig1/results.json", run("dftl", 1.5)),
            ("out/runs/2.json", run("dftl", 1.25)),
            ("out/runs/3.json", run("dftl", 1.5)),
        ] {
            all.add(Gathered::of(place, run)).unwrap();
        }
        let places: Vec<&str> = all.runs().iter().map(|run| run.place.as_str()).collect();
        assert_eq!((places, all.copies()), (vec!["out/fig1/results.json", "out/runs/2.json"], 2));
    }

    #[test]
    fn runs_that_differ_in_a_curve_alone_are_two_outcomes() {
        let (one, mut two, mut later) = (run("dftl", 1.5), run("dftl", 1.5), run("dftl", 1.5));
        two.cdf.all = vec![(100, 1.0)];
        later.wall.seconds = 3.0;
        later.made.commit = "abc".to_owned();
        let [one, two, later] = [one, two, later].map(|run| Gathered::of("", run));
        assert_eq!((one.outcome == two.outcome, one.outcome == later.outcome), (false, true));
        let mut all = Collection::default();
        for run in [one, two, later] {
            all.add(run).unwrap();
        }
        assert_eq!((all.runs().len(), all.copies()), (3, 0));
    }

    #[test]
    fn settings_that_are_the_same_are_left_out_and_no_metric_misses_them() {
        let with = |op: f64, model: &str| {
            let mut run = run("dftl", 1.5);
            run.energy_uj.total = 7.0;
            let config = json!({"op": op, "energy": {"model": model}, "gc": {"victim": "greedy"}});
            run.config = config.as_object().unwrap().clone();
            Gathered::of("", run)
        };
        let runs = [with(0.1, "none"), with(0.2, "none")];
        let mut settings = Settings::default();
        runs.iter().for_each(|run| settings.add(&run.flat));
        for run in runs {
            let short = run.clone().for_page(&settings);
            assert!(short.flat.contains_key("config.op"));
            assert!(!short.flat.contains_key("config.gc.victim"));
            for metric in SECTIONS.iter().flat_map(|section| section.metrics) {
                assert_eq!(metric.value(&short.flat), metric.value(&run.flat), "{}", metric.path);
            }
        }
    }
}
