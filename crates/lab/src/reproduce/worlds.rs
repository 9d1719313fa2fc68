//! How far printed statements depend on what their paper leaves open: each is judged in many
//! worlds, of a candidate for every choice and a seed of the stand-ins each.
//!
//! The first world is the best reading, the second the text to the letter. The others are balanced:
//! of every choice, and of the seeds, each candidate comes equally often, in an order of its own
//! that neither depends on other choices nor on the number of worlds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ftlab_engine::rng::{Purpose, Rng};
use ftlab_report::reproduction::{PaperWorlds, Statement, World as Column};

use crate::error::Result;
use crate::reproduce::definition::{Claim, ClaimKind, Definition};
use crate::reproduce::evaluate::{Evaluator, Found, INSPECTION, Results};
use crate::reproduce::jobs::{Job, Length, Setting};
use crate::reproduce::judge;
use crate::reproduce::readings::{Candidate, Choice, Reading};
use crate::reproduce::running::{Maker, kept};
use crate::reproduce::studies::studies;
use crate::reproduce::study::{Done, Study};
use crate::reproduce::under::Files;

/// Stand-ins of the same statistics that differ by their seed.
const SEEDS: u64 = 5;

/// Between the seeds of one stand-in, so that those of its parts do not meet.
const SEED_STEP: u64 = 1000;

/// One world of one paper.
pub struct World {
    number: usize,
    /// As experiments name its file of readings.
    file: String,
    reading: Reading,
    /// The experiments that judge what the paper prints.
    definitions: Arc<Vec<Arc<Definition>>>,
}

/// So many worlds of every paper that has readings and printed statements.
pub fn design(files: &Files, definitions: &[Arc<Definition>], count: u32) -> Vec<World> {
    let mut worlds = Vec::new();
    for (name, readings) in files {
        let judges = |one: &&Arc<Definition>| {
            one.reading.as_ref() == Some(name) && one.claims.iter().any(|claim| claim.printed)
        };
        let own: Vec<Arc<Definition>> = definitions.iter().filter(judges).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let own = Arc::new(own);
        let among: Vec<Vec<usize>> = readings.choices.iter().map(|one| one.plausible()).collect();
        let mut columns: Vec<Balanced> = (0..=among.len()).map(Balanced::new).collect();
        for number in 1..=count as usize {
            let reading = match number {
                1 => Reading::best(readings),
                2 => Reading::literal(readings),
                _ => {
                    let mut drawn = Reading::best(readings);
                    for (place, candidates) in among.iter().enumerate() {
                        drawn.chosen[place] = candidates[columns[place].next(candidates.len())];
                    }
                    let seed = columns[among.len()].next(SEEDS as usize) as u64;
                    Reading { seed_shift: seed * SEED_STEP, ..drawn }
                }
            };
            let (file, definitions) = (name.clone(), Arc::clone(&own));
            worlds.push(World { number, file, reading, definitions });
        }
    }
    worlds
}

/// Numbers below a bound, each once before any comes again.
struct Balanced {
    rng: Rng,
    left: Vec<usize>,
}

impl Balanced {
    fn new(column: usize) -> Self {
        Balanced { rng: Rng::new(column as u64, Purpose::Workload), left: Vec::new() }
    }

    fn next(&mut self, bound: usize) -> usize {
        if self.left.is_empty() {
            self.left = (0..bound).collect();
        }
        let at = self.rng.below(self.left.len() as u32) as usize;
        self.left.swap_remove(at)
    }
}

impl World {
    /// Its runs, as many requests of each as its experiment says.
    pub fn studies(&self, trace_dir: Option<&Path>) -> Result<Vec<Study>> {
        let readings = BTreeMap::from([(self.file.clone(), self.reading.clone())]);
        studies(
            &self.definitions,
            &Setting { length: Length::World, trace_dir, readings: &readings },
        )
    }

    fn column(&self) -> Column {
        let names = |(choice, candidate): (&Choice, &Candidate)| {
            (choice.name.clone(), candidate.name.clone())
        };
        Column {
            number: self.number,
            choices: self.reading.pairs().map(names).collect(),
            seed: 1 + self.reading.seed_shift / SEED_STEP,
        }
    }
}

/// Makes the runs that printed statements ask for, and judges each statement in each world.
pub fn found(
    worlds: &[World],
    trace_dir: Option<&Path>,
    maker: &Maker<'_>,
) -> Result<Vec<PaperWorlds>> {
    let mut all: Vec<Vec<Asked>> = Vec::new();
    for world in worlds {
        all.push(world.studies(trace_dir)?.into_iter().map(Asked::new).collect());
    }
    // What an expression asks for can depend on what it found before.
    let mut failed = BTreeMap::new();
    loop {
        let wanted = || all.iter().flatten().flat_map(Asked::wanted);
        if wanted().next().is_none() {
            break;
        }
        let made = maker.make(wanted(), "runs of worlds", |done| match done {
            Done::Run(Found::Done(_)) | Done::Inspection(Found::Done(_)) => None,
            other => Some(other),
        })?;
        failed.extend(made.into_iter().filter_map(|(key, other)| Some((key, other?))));
        for asked in all.iter_mut().flatten() {
            asked.judge(|job| failed.get(&job.key()).cloned().or_else(|| kept(job, maker.folder)));
        }
    }
    Ok(told(worlds, &all))
}

/// An experiment in a world: which runs its printed statements ask for, and their outcomes.
struct Asked {
    study: Study,
    /// Names of runs that were asked for, and are made.
    made: BTreeSet<String>,
    /// Names of runs that are asked for, and are to be made.
    to_make: BTreeSet<String>,
    /// Of the printed claims, in their order.
    outcomes: Vec<Option<bool>>,
}

impl Asked {
    fn new(study: Study) -> Self {
        let to_make = uses(&study, study.supposed());
        Asked { study, made: BTreeSet::new(), to_make, outcomes: Vec::new() }
    }

    fn wanted(&self) -> impl Iterator<Item = &Job> {
        self.study.jobs.iter().filter(|job| self.to_make.contains(&name_of(job)))
    }

    /// Judges by what was made; runs that turn out to be asked for as well are to be made.
    fn judge(&mut self, of: impl Fn(&Job) -> Option<Done>) {
        if self.to_make.is_empty() {
            return;
        }
        self.made.append(&mut self.to_make);
        let mut done = BTreeMap::new();
        for job in self.study.jobs.iter().filter(|job| self.made.contains(&name_of(job))) {
            if let Some(found) = of(job) {
                done.insert(job.key(), found);
            }
        }
        let mut results = Results::default();
        for job in self.study.jobs.iter().filter(|job| !self.made.contains(&name_of(job))) {
            let missing = "not made yet".to_owned();
            match job.scheme {
                Some(_) => drop(results.runs.insert(job.id.clone(), Found::Missing(missing))),
                None => {
                    drop(results.inspections.insert(job.id.clone(), Found::Missing(missing)));
                }
            }
        }
        let own = self.study.results(&done);
        results.runs.extend(own.runs);
        results.inspections.extend(own.inspections);
        let evaluator = self.study.evaluator(results);
        let whole = self.study.definition.worlds.is_none();
        let outcome = |claim: &Claim| match claim.kind {
            ClaimKind::Magnitude if !whole => None,
            _ => judge::agrees(claim, &evaluator).ok(),
        };
        self.outcomes = printed(&self.study.definition).map(outcome).collect();
        let used = evaluator.used();
        let names: BTreeSet<String> = self.study.jobs.iter().map(name_of).collect();
        self.to_make = used
            .into_iter()
            .filter(|name| names.contains(name) && !self.made.contains(name))
            .collect();
    }
}

/// As an evaluator tells what was used.
fn name_of(job: &Job) -> String {
    match job.scheme {
        Some(_) => job.id.clone(),
        None => format!("{INSPECTION}{}", job.id),
    }
}

fn printed(of: &Definition) -> impl Iterator<Item = &Claim> {
    of.claims.iter().filter(|claim| claim.printed)
}

/// The runs that the printed statements of an experiment ask for of these results.
fn uses(study: &Study, results: Results) -> BTreeSet<String> {
    let evaluator: Evaluator = study.evaluator(results);
    for claim in printed(&study.definition) {
        // Only what is asked for is wanted here.
        let _ = judge::agrees(claim, &evaluator);
    }
    evaluator.used()
}

/// The outcomes by paper.
fn told(worlds: &[World], all: &[Vec<Asked>]) -> Vec<PaperWorlds> {
    let mut papers: Vec<PaperWorlds> = Vec::new();
    for (world, asked) in worlds.iter().zip(all) {
        // A file of readings is of one paper.
        let paper = world.definitions[0].paper.name();
        if world.number == 1 {
            let statements = asked.iter().flat_map(|one| {
                let row = |claim: &Claim| Statement {
                    claim: format!("{}.{}", one.study.definition.name, claim.name),
                    text: claim.text.clone(),
                    outcomes: Vec::new(),
                    decided_by: String::new(),
                };
                printed(&one.study.definition).map(row).collect::<Vec<_>>()
            });
            papers.push(PaperWorlds {
                paper: paper.to_owned(),
                worlds: Vec::new(),
                statements: statements.collect(),
            });
        }
        if let Some(last) = papers.last_mut() {
            last.worlds.push(world.column());
            let outcomes = asked.iter().flat_map(|one| {
                let lacking = printed(&one.study.definition).count() - one.outcomes.len();
                one.outcomes.iter().copied().chain(std::iter::repeat_n(None, lacking))
            });
            for (row, outcome) in last.statements.iter_mut().zip(outcomes) {
                row.outcomes.push(outcome);
            }
        }
    }
    for paper in &mut papers {
        for row in &mut paper.statements {
            row.decided_by = decided_by(&paper.worlds, &row.outcomes);
        }
    }
    papers
}

/// The choice that decides a statement, in words.
fn decided_by(worlds: &[Column], outcomes: &[Option<bool>]) -> String {
    let judged: Vec<(&Column, bool)> = worlds
        .iter()
        .zip(outcomes)
        .filter_map(|(world, outcome)| Some((world, (*outcome)?)))
        .collect();
    let (of, hold) = (judged.len(), judged.iter().filter(|(_, holds)| *holds).count());
    match hold {
        _ if of == 0 => return "not judged in any world".to_owned(),
        0 => return format!("fails in all {of} worlds"),
        _ if hold == of => return format!("holds in all {of} worlds"),
        _ => {}
    }
    let head = format!("holds in {hold} of {of} worlds");
    let factors = worlds[0].choices.len() + 1;
    let best =
        (0..factors).map(|place| Factor::of(&judged, place)).min_by_key(|factor| factor.mistaken());
    let Some(factor) = best else { return head };
    match factor.mistaken() {
        0 => format!("{head}; {}", factor.exactly()),
        some if 2 * some <= hold.min(of - hold) => format!("{head}; {}", factor.mostly()),
        _ => format!("{head}; no single choice decides it"),
    }
}

/// How a statement came out by the candidates of one choice.
struct Factor {
    choice: String,
    /// Candidate, worlds in which it holds, worlds.
    candidates: Vec<(String, usize, usize)>,
}

impl Factor {
    fn of(judged: &[(&Column, bool)], place: usize) -> Self {
        let mut choice = "the seed".to_owned();
        let mut candidates: Vec<(String, usize, usize)> = Vec::new();
        for (world, holds) in judged {
            let candidate = match world.choices.get(place) {
                Some((name, candidate)) => {
                    choice.clone_from(name);
                    candidate.clone()
                }
                None => world.seed.to_string(),
            };
            let known = candidates.iter().position(|(name, ..)| *name == candidate);
            let at = known.unwrap_or_else(|| {
                candidates.push((candidate, 0, 0));
                candidates.len() - 1
            });
            candidates[at].1 += usize::from(*holds);
            candidates[at].2 += 1;
        }
        Factor { choice, candidates }
    }

    /// Worlds that come out otherwise than most of the same candidate.
    fn mistaken(&self) -> usize {
        self.candidates.iter().map(|(_, hold, of)| (*hold).min(of - hold)).sum()
    }

    /// Where each candidate decides.
    fn exactly(&self) -> String {
        let names = |holds: bool| -> Vec<&str> {
            let own = |one: &&(String, usize, usize)| (one.1 > 0) == holds;
            self.candidates.iter().filter(own).map(|(name, ..)| name.as_str()).collect()
        };
        let (holding, failing) = (names(true), names(false));
        match holding.len() < failing.len() {
            true => format!("holds only with {} = {}", self.choice, holding.join(" or ")),
            false => format!("fails only with {} = {}", self.choice, failing.join(" or ")),
        }
    }

    /// How often with each candidate.
    fn mostly(&self) -> String {
        let of = |(name, hold, of): &(String, usize, usize)| format!("{name}: {hold} of {of}");
        let all: Vec<String> = self.candidates.iter().map(of).collect();
        format!("mostly by {} ({})", self.choice, all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(number: usize, start: &str, log: &str) -> Column {
        let pair = |name: &str, candidate: &str| (name.to_owned(), candidate.to_owned());
        let choices = vec![pair("start", start), pair("log", log)];
        Column { number, choices, seed: 1 + number as u64 % 5 }
    }

    fn worlds() -> Vec<Column> {
        let starts = ["full", "touched", "used_up"];
        let of = |number: usize| {
            column(
                number,
                starts[number % 3],
                if number.is_multiple_of(2) { "small" } else { "large" },
            )
        };
        (0..12).map(of).collect()
    }

    fn words(holds: impl Fn(&Column) -> Option<bool>) -> String {
        let worlds = worlds();
        let outcomes: Vec<Option<bool>> = worlds.iter().map(holds).collect();
        decided_by(&worlds, &outcomes)
    }

    #[test]
    fn a_choice_that_decides_is_named() {
        assert_eq!(words(|_| Some(true)), "holds in all 12 worlds");
        assert_eq!(words(|_| Some(false)), "fails in all 12 worlds");
        assert_eq!(words(|_| None), "not judged in any world");
        assert_eq!(
            words(|world| Some(world.choices[0].1 != "full")),
            "holds in 8 of 12 worlds; fails only with start = full"
        );
        assert_eq!(
            words(|world| (world.number != 3).then_some(world.choices[0].1 == "used_up")),
            "holds in 4 of 11 worlds; holds only with start = used_up"
        );
        let but_one = |world: &Column| Some(world.choices[1].1 == "small" && world.number != 4);
        assert_eq!(
            words(but_one),
            "holds in 5 of 12 worlds; mostly by log (small: 5 of 6, large: 0 of 6)"
        );
        let neither = |world: &Column| Some(world.number * 7 % 12 < 6);
        assert!(words(neither).ends_with("no single choice decides it"), "{}", words(neither));
    }

    #[test]
    fn candidates_come_equally_often_in_any_number_of_worlds() {
        let draw = |count: usize| {
            let mut column = Balanced::new(3);
            (0..count).map(|_| column.next(4)).collect::<Vec<_>>()
        };
        let drawn = draw(40);
        assert_eq!(drawn[..22], draw(22), "fewer worlds are the first of more");
        for block in drawn.chunks(4) {
            assert_eq!(block.iter().collect::<BTreeSet<_>>().len(), 4);
        }
        let mut other = Balanced::new(4);
        let other: Vec<usize> = (0..40).map(|_| other.next(4)).collect();
        assert_ne!(drawn, other, "columns are not alike");
    }
}
