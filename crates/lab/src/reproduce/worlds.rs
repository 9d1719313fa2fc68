//! How far printed statements depend on what their paper leaves open: each is judged in many
//! worlds, of a candidate for every choice and a seed of the stand-ins each.
//!
//! The first world is the best reading, the second the text to the letter. Each further one takes,
//! of some drawn at random, the one whose pairs of candidates came least often before, so that any
//! two choices, and the seed, are as independent of each other as so many worlds allow. Fewer
//! worlds are the first of more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ftlab_engine::rng::{Purpose, Rng};
use ftlab_report::reproduction::{PaperWorlds, Statement, World as Column};

use crate::error::{Error, Result};
use crate::reproduce::decided::decided_by;
use crate::reproduce::definition::{Claim, ClaimKind, Definition};
use crate::reproduce::evaluate::{Evaluator, Found, INSPECTION, Results};
use crate::reproduce::jobs::{Job, Length, Setting};
use crate::reproduce::judge;
use crate::reproduce::readings::{Candidate, Choice, Reading, Readings};
use crate::reproduce::running::{Maker, kept};
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
///
/// # Errors
/// Nothing that could be judged in worlds; a file of readings of several papers.
pub fn design(files: &Files, definitions: &[Arc<Definition>], count: u32) -> Result<Vec<World>> {
    let mut worlds: Vec<World> = Vec::new();
    for (name, readings) in files {
        let judges = |one: &&Arc<Definition>| {
            one.reading.as_ref() == Some(name) && one.claims.iter().any(|claim| claim.printed)
        };
        let own: Vec<Arc<Definition>> = definitions.iter().filter(judges).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let paper = own[0].paper;
        let alone = own.iter().all(|one| one.paper == paper)
            && worlds
                .iter()
                .all(|known| known.file == *name || known.definitions[0].paper != paper);
        if !alone {
            return Err(Error::usage(format!(
                "--worlds: readings '{name}' are not of one paper alone, or not its only ones"
            )));
        }
        let own = Arc::new(own);
        let mut plan = Plan::new(readings);
        for number in 1..=count as usize {
            let reading = match number {
                1 => Reading::best(readings),
                2 => Reading::literal(readings),
                _ => plan.next(readings),
            };
            let (file, definitions) = (name.clone(), Arc::clone(&own));
            worlds.push(World { number, file, reading, definitions });
        }
    }
    match worlds.is_empty() {
        true => Err(Error::usage(
            "--worlds: none of these experiments stands on readings and judges a printed statement",
        )),
        false => Ok(worlds),
    }
}

/// Draws worlds that differ from each other.
struct Plan {
    rng: Rng,
    /// The candidates of every choice, and of the seed.
    levels: Vec<Vec<usize>>,
    /// How often two candidates of two choices came together.
    pairs: BTreeMap<[(usize, usize); 2], u32>,
}

impl Plan {
    /// Among so many the next world is chosen.
    const DRAWN: u32 = 200;

    fn new(readings: &Readings) -> Self {
        let mut levels: Vec<Vec<usize>> =
            readings.choices.iter().map(|one| one.plausible()).collect();
        levels.push((0..SEEDS as usize).collect());
        Plan { rng: Rng::new(1, Purpose::Workload), levels, pairs: BTreeMap::new() }
    }

    fn next(&mut self, readings: &Arc<Readings>) -> Reading {
        let draws: Vec<Vec<usize>> = (0..Self::DRAWN).map(|_| self.draw()).collect();
        let cost = |world: &Vec<usize>| -> u32 {
            Self::pairs_of(world).map(|pair| self.pairs.get(&pair).map_or(0, |n| n * n)).sum()
        };
        let mut chosen = draws.into_iter().min_by_key(cost).unwrap_or_default();
        for pair in Self::pairs_of(&chosen) {
            *self.pairs.entry(pair).or_default() += 1;
        }
        let seed = chosen.pop().unwrap_or_default() as u64;
        Reading { of: Arc::clone(readings), chosen, seed_shift: seed * SEED_STEP }
    }

    fn draw(&mut self) -> Vec<usize> {
        let Plan { rng, levels, .. } = self;
        levels.iter().map(|of| of[rng.below(of.len() as u32) as usize]).collect()
    }

    /// Pairs of candidates, and each candidate with itself, so that all come equally often.
    fn pairs_of(world: &[usize]) -> impl Iterator<Item = [(usize, usize); 2]> {
        let own = |at: usize| (at, world[at]);
        (0..world.len()).flat_map(move |a| (a..world.len()).map(move |b| [own(a), own(b)]))
    }
}

impl World {
    /// Its runs, as many requests of each as its experiment says.
    pub fn studies(&self, trace_dir: Option<&Path>) -> Result<Vec<Study>> {
        let readings = BTreeMap::from([(self.file.clone(), self.reading.clone())]);
        Study::all(
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
    while !all.iter().flatten().all(Asked::is_judged) {
        let wanted = || all.iter().flatten().flat_map(Asked::wanted);
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
    /// Of the printed claims, in their order; none before anything was judged.
    outcomes: Option<Vec<Option<bool>>>,
}

impl Asked {
    fn new(study: Study) -> Self {
        let to_make = uses(&study, study.supposed());
        Asked { study, made: BTreeSet::new(), to_make, outcomes: None }
    }

    fn is_judged(&self) -> bool {
        self.to_make.is_empty() && self.outcomes.is_some()
    }

    fn wanted(&self) -> impl Iterator<Item = &Job> {
        self.study.jobs.iter().filter(|job| self.to_make.contains(&name_of(job)))
    }

    /// Judges by what was made; runs that turn out to be asked for as well are to be made.
    fn judge(&mut self, of: impl Fn(&Job) -> Option<Done>) {
        if self.is_judged() {
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
        self.outcomes = Some(printed(&self.study.definition).map(outcome).collect());
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
            let outcomes = asked.iter().flat_map(|one| one.outcomes.iter().flatten().copied());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(choices: usize) -> Arc<Readings> {
        let choice = |number: usize| {
            let candidates: String = (0..2 + number % 3)
                .map(|one| format!("[[choices.candidates]]\nname = 'c{one}'\nabout = 'A'\n"))
                .collect();
            format!(
                "[[choices]]\nname = 'n{number}'\nquestion = 'Q'\nkind = 'ours'\ntext = 'T'\n\
                 why = 'W'\nliteral = 'c0'\nbest = 'c1'\n{candidates}"
            )
        };
        let text: String = (0..choices).map(choice).collect();
        Arc::new(toml_edit::de::from_str(&format!("about = ''\njudged_by = ''\n{text}")).unwrap())
    }

    /// Two candidates of two choices come together about as often as any other two.
    #[test]
    fn any_two_choices_are_balanced_in_32_worlds_and_fewer_are_the_first_of_more() {
        let of = readings(10);
        let draw = |count: usize| {
            let mut plan = Plan::new(&of);
            (0..count).map(|_| plan.next(&of)).collect::<Vec<_>>()
        };
        let drawn = draw(32);
        for (one, other) in drawn.iter().zip(draw(9)) {
            assert_eq!((&one.chosen, one.seed_shift), (&other.chosen, other.seed_shift));
        }
        for a in 0..10 {
            for b in a + 1..10 {
                let (most_a, most_b) =
                    (of.choices[a].candidates.len(), of.choices[b].candidates.len());
                let even = 32.0 / (most_a * most_b) as f64;
                for one in 0..most_a {
                    for two in 0..most_b {
                        let both =
                            |world: &&Reading| (world.chosen[a], world.chosen[b]) == (one, two);
                        let count = drawn.iter().filter(both).count() as f64;
                        assert!(
                            (count - even).abs() <= 3.0,
                            "{a}={one} {b}={two}: {count} of {even}"
                        );
                    }
                }
            }
        }
    }
}
