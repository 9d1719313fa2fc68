//! `ftlab reproduce`: the experiments of the papers, run again. Their files say what is run, what
//! was published and what is claimed; here they become runs, verdicts and one report.

mod definition;
mod evaluate;
mod folder;
mod jobs;
mod judge;
mod manifest;

pub use definition::EXPERIMENTS;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::Arc;

use ftlab_report::reproduction::{self, Reproduction};
use ftlab_report::result::RunResult;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::arguments::{ReproduceArguments, RunArguments};
use crate::execute::execute;
use crate::failure::{Failure, Outcome};
use crate::plan::plan;
use crate::print;
use crate::progress::{Progress, Whole, watch_for_interruption};
use crate::recording::{Recording, probe_window};
use crate::trace::inspected;
use definition::Definition;
use evaluate::{ABSENT, Evaluator, Found, INSPECTION, Lack, Results};
use folder::Folder;
use jobs::{Job, Setting, Work};
use judge::Circumstances;

/// An experiment and what it runs.
struct Experiment {
    definition: Definition,
    jobs: Vec<Job>,
}

/// A result with every key that any run has, for reading expressions before there is one.
fn complete() -> RunResult {
    let mut run = RunResult { waf: Some(1.0), ..RunResult::default() };
    run.map_cache.hit_ratio = Some(1.0);
    run.buffer.hit_ratio = Some(1.0);
    run.steady_state.reached = Some(true);
    run.wear.projected_bytes_written = Some(1);
    let mut causes = serde_json::to_value(run.waf_by_cause).unwrap_or_default();
    causes.as_object_mut().into_iter().flatten().for_each(|(_, value)| *value = json!(1.0));
    run.waf_by_cause = serde_json::from_value(causes).unwrap_or_default();
    run
}

/// Why an expression can be refused before any run. What is divided by zero, or looked for among
/// names that only a run knows, may still have a value.
fn refusable<'a>(lack: &'a Lack, text: &str) -> Option<&'a str> {
    const NAMED_BY_RUNS: [&str; 10] = [
        "events",
        "structures",
        "config",
        "inspection(",
        "phases",
        "probe",
        "series",
        "streams",
        "histogram",
        "service_time_ns",
    ];
    match lack {
        Lack::Invalid(reason) => Some(reason),
        Lack::Nothing(reason) if reason.starts_with(ABSENT) => {
            let named = NAMED_BY_RUNS.iter().any(|name| text.contains(name));
            (!named).then_some(reason)
        }
        _ => None,
    }
}

/// What was done for a job, whichever experiments share it.
#[derive(Clone)]
enum Done {
    Run(Found<RunResult>),
    Inspection(Found<Value>),
}

/// Plans, checks, runs, judges, writes, prints.
pub fn reproduce(typed: &ReproduceArguments) -> Outcome<()> {
    let trace_dir = typed.trace_dir.as_deref();
    if let Some(missing) = trace_dir.filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("--trace-dir {} is no folder", missing.display())));
    }
    let setting = Setting { quick: typed.quick, trace_dir };
    let mut experiments = Vec::new();
    for definition in select(&typed.names, typed.quick)? {
        let jobs = jobs::jobs(&definition, &setting)?;
        experiments.push(Experiment { definition, jobs });
    }
    for experiment in &experiments {
        experiment.check()?;
    }
    check_runs(&experiments)?;
    let folder = Folder::open(&typed.out, &manifest::of(typed, &experiments)?, typed.resume)?;
    watch_for_interruption()?;
    let done = run_all(&experiments, &folder, typed)?;
    let (reproduction, problems) = judged(&experiments, &done, typed);
    write(&folder, &experiments, &done, &reproduction)?;
    print::text(&reproduction::claims_text(&reproduction))?;
    let out = typed.out.display();
    print::text(&format!(
        "\nWritten: {out}/report.html, claims.json, claims.md, NAME/results.json"
    ))?;
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Failure::Run(problems.join("\nftlab: "))),
    }
}

/// The experiments that were asked for, each once.
fn select(names: &[String], quick: bool) -> Outcome<Vec<Definition>> {
    let mut chosen: Vec<Definition> = Vec::new();
    for name in names {
        if name == "all" {
            for bundled in EXPERIMENTS {
                let experiment = bundled.experiment()?;
                if !quick || experiment.quick.is_some() {
                    chosen.push(experiment);
                }
            }
            continue;
        }
        let experiment = definition::find(name)?;
        if quick && experiment.quick.is_none() {
            return Err(Failure::usage(format!(
                "{name} has no quick form (`ftlab list experiments --table`)"
            )));
        }
        chosen.push(experiment);
    }
    for (index, one) in chosen.iter().enumerate() {
        if chosen[..index].iter().any(|other| other.name == one.name) {
            return Err(Failure::usage(format!("experiment '{}' is named twice", one.name)));
        }
    }
    match chosen.is_empty() {
        true => Err(Failure::usage("there is no such experiment (`ftlab list experiments`)")),
        false => Ok(chosen),
    }
}

/// Devices, schemes, settings and workloads of all runs, before the first one begins.
fn check_runs(experiments: &[Experiment]) -> Outcome<()> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for Experiment { definition, jobs } in experiments {
        for job in jobs.iter().filter(|job| job.missing.is_none()) {
            if seen.insert(job.key()) {
                job.check().map_err(|failure| {
                    Failure::usage(format!("{}: run '{}': {failure}", definition.name, job.id))
                })?;
            }
        }
    }
    Ok(())
}

impl Experiment {
    /// Every expression is read, and every run that one names is there, before anything runs.
    fn check(&self) -> Outcome<()> {
        let mut results = Results::default();
        for job in &self.jobs {
            match job.scheme {
                Some(_) => {
                    results.runs.insert(job.id.clone(), Found::Done(Arc::new(complete())));
                }
                None => {
                    results.inspections.insert(job.id.clone(), Found::Done(Arc::default()));
                }
            }
        }
        let evaluator = self.evaluator(results);
        let refused = |what: &str, text: &str| {
            Err(Failure::usage(format!("{}: {what}: {text}", self.definition.name)))
        };
        for claim in &self.definition.claims {
            let published = match &claim.published {
                Some(definition::Stated::Text(text)) if claim.holds.is_none() => Some(text),
                _ => None,
            };
            for text in published.into_iter().chain(&claim.measured).chain(&claim.holds) {
                if let Err(lack) = evaluator.value(text, &[])
                    && let Some(reason) = refusable(&lack, text)
                {
                    return refused(&format!("claim '{}'", claim.name), reason);
                }
            }
        }
        for (figure, lack) in judge::figures(&self.definition, &evaluator).1 {
            if let Some(reason) = refusable(&lack, &figure.value) {
                return refused(&format!("figure '{}'", figure.title), reason);
            }
        }
        Ok(())
    }

    fn evaluator(&self, results: Results) -> Evaluator {
        let mut workloads: Vec<&str> = Vec::new();
        let mut schemes: Vec<&str> = Vec::new();
        for job in &self.jobs {
            if !workloads.contains(&job.workload.as_str()) {
                workloads.push(&job.workload);
            }
            if let Some(scheme) = job.scheme.as_deref().filter(|name| !schemes.contains(name)) {
                schemes.push(scheme);
            }
        }
        let globals = [
            ("published", self.definition.published.clone()),
            ("workloads", json!(workloads)),
            ("schemes", json!(schemes)),
        ];
        Evaluator::new(results, &globals)
    }

    /// What its jobs left behind.
    fn results(&self, done: &BTreeMap<String, Done>) -> Results {
        let mut results = Results::default();
        for job in &self.jobs {
            match done.get(&job.key()) {
                Some(Done::Run(found)) => {
                    results.runs.insert(job.id.clone(), found.clone());
                }
                Some(Done::Inspection(found)) => {
                    results.inspections.insert(job.id.clone(), found.clone());
                }
                None => {}
            }
        }
        results
    }
}

/// Makes every run once, or takes it from the folder.
fn run_all(
    experiments: &[Experiment],
    folder: &Folder,
    typed: &ReproduceArguments,
) -> Outcome<BTreeMap<String, Done>> {
    let mut unique: BTreeMap<String, &Job> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for job in experiments.iter().flat_map(|experiment| &experiment.jobs) {
        let key = job.key();
        if unique.insert(key.clone(), job).is_none() {
            order.push(key);
        }
    }
    // Keys are digests: long runs and short ones come mixed, so that the time left can be told from
    // those that are made.
    order.sort_unstable();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(typed.jobs.map_or(cores, usize::from))
        .build()
        .map_err(|error| Failure::Run(format!("threads cannot be started: {error}")))?;
    let progress = Progress::new(typed.quiet);
    let to_make = |key: &&String| unique[*key].missing.is_none() && !folder.keeps(key);
    let whole = progress.whole("runs", order.len(), order.iter().filter(to_make).count());
    let one = |key: &String| run_one(unique[key], key, folder, (&progress, &whole));
    // One job at a time by each thread.
    let results: Vec<Outcome<Done>> =
        pool.install(|| order.par_iter().with_max_len(1).map(one).collect());
    let interrupted = |result: &Outcome<Done>| matches!(result, Err(Failure::Interrupted));
    if results.iter().any(interrupted) {
        return Err(Failure::Paused(format!(
            "interrupted; what was done is kept: the same command with --resume goes on in {}",
            typed.out.display()
        )));
    }
    order.into_iter().zip(results).map(|(key, result)| Ok((key, result?))).collect()
}

/// One job; its failure is a finding, unless it was interrupted or cannot be kept.
fn run_one(
    job: &Job,
    key: &str,
    folder: &Folder,
    (progress, whole): (&Progress, &Whole),
) -> Outcome<Done> {
    let work = job.parse()?;
    if let Some(reason) = &job.missing {
        whole.pass_over()?;
        return Ok(match work {
            Work::Run(_) => Done::Run(Found::Missing(reason.clone())),
            Work::Inspection(_) => Done::Inspection(Found::Missing(reason.clone())),
        });
    }
    let kept = folder.kept(key);
    let made = kept.is_none();
    let done = match work {
        Work::Run(typed) => {
            let again = kept.and_then(|bytes| ftlab_report::read_json(&bytes).ok()?.pop());
            Done::Run(once(folder, key, again, || simulate(&typed, progress))?)
        }
        Work::Inspection(typed) => {
            let again = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let look = || inspected(&typed, progress).map(|(_, value)| value);
            Done::Inspection(once(folder, key, again, look)?)
        }
    };
    if made {
        whole.advance()?
    } else {
        whole.pass_over()?
    }
    Ok(done)
}

/// What was kept, or what `make` makes, which is kept.
fn once<T: serde::Serialize>(
    folder: &Folder,
    key: &str,
    kept: Option<T>,
    make: impl FnOnce() -> Outcome<T>,
) -> Outcome<Found<T>> {
    if let Some(result) = kept {
        return Ok(Found::Done(Arc::new(result)));
    }
    match make() {
        Ok(result) => {
            folder.keep(key, &folder::json(&result)?)?;
            Ok(Found::Done(Arc::new(result)))
        }
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        Err(failure) => Ok(Found::Failed(failure.to_string())),
    }
}

/// A run of our own; a broken promise of the engine is the finding of this run alone.
fn simulate(typed: &RunArguments, progress: &Progress) -> Outcome<RunResult> {
    let run = || simulate_once(typed, progress);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(Failure::Run("the engine broke a promise (panic)".to_owned())))
}

fn simulate_once(typed: &RunArguments, progress: &Progress) -> Outcome<RunResult> {
    let (plan, workload) = plan(&typed.scheme, &typed.simulation, None)?;
    let probe = probe_window(typed.recording.probe.as_deref(), plan.requests_known)?;
    let [run] = plan.runs.as_slice() else {
        return Err(Failure::usage("a run takes one scheme"));
    };
    execute(&plan, run, &workload, progress, Recording { requests: None, probe })
}

/// Verdicts and pictures, and what went wrong.
fn judged(
    experiments: &[Experiment],
    done: &BTreeMap<String, Done>,
    typed: &ReproduceArguments,
) -> (Reproduction, Vec<String>) {
    let mut problems = Vec::new();
    let mut all = Reproduction {
        schema: reproduction::SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        quick: typed.quick,
        trace_dir: typed.trace_dir.is_some(),
        claims: Vec::new(),
        experiments: Vec::new(),
    };
    for experiment in experiments {
        let Experiment { definition, jobs } = experiment;
        let recorded = recorded(jobs, done);
        let evaluator = experiment.evaluator(experiment.results(done));
        let circumstances = Circumstances { quick: typed.quick, recorded: &recorded };
        let (claims, mut wrong) = judge::claims(definition, &evaluator, &circumstances);
        all.claims.extend(claims);
        let (figures, of_figures) = judge::figures(definition, &evaluator);
        wrong.extend(of_figures.into_iter().filter_map(|(figure, lack)| {
            Some(format!("figure '{}': {}", figure.title, lack.wrong()?))
        }));
        problems.extend(wrong.into_iter().map(|text| format!("{}: {text}", definition.name)));
        let runs: Vec<reproduction::Run> = jobs.iter().map(|job| shown(job, done)).collect();
        let failed = jobs.iter().filter_map(|job| match done.get(&job.key()) {
            Some(Done::Run(Found::Failed(text)) | Done::Inspection(Found::Failed(text))) => {
                Some(format!("{}: run '{}' failed: {text}", definition.name, job.id))
            }
            _ => None,
        });
        problems.extend(failed);
        all.experiments.push(reproduction::Experiment {
            name: definition.name.clone(),
            title: definition.title.clone(),
            paper: definition.paper.title().to_owned(),
            item: definition.item.clone(),
            about: definition.about.clone(),
            unknown: definition.unknown.clone(),
            runs,
            figures,
        });
    }
    (all, problems)
}

/// What was done with recorded traces, by name, and whether each is the whole of the paper's.
fn recorded(jobs: &[Job], done: &BTreeMap<String, Done>) -> BTreeMap<String, bool> {
    let mut recorded = BTreeMap::new();
    for job in jobs {
        let asked = job.whole || job.words.iter().any(|word| word == "--trace-dir");
        match done.get(&job.key()) {
            Some(Done::Run(Found::Done(run))) if !run.workload.synthetic => {
                recorded.insert(job.id.clone(), asked && run.workload.prefix.is_none());
            }
            Some(Done::Inspection(Found::Done(found)))
                if found.get("format").is_some_and(|format| format != "synthetic") =>
            {
                let cut = found.get("prefix").and_then(Value::as_bool) == Some(true);
                recorded.insert(format!("{INSPECTION}{}", job.id), asked && !cut);
            }
            _ => {}
        }
    }
    recorded
}

/// The row of a run.
fn shown(job: &Job, done: &BTreeMap<String, Done>) -> reproduction::Run {
    let mut row = reproduction::Run {
        id: job.id.clone(),
        command: job.command(),
        lacking: None,
        response_ns_mean: None,
        response_ns_p99: None,
        service_ns: None,
        waf: None,
        erases: None,
        energy_uj: None,
        requests: None,
        stand_in: None,
        warnings: Vec::new(),
    };
    match done.get(&job.key()) {
        Some(Done::Run(Found::Done(run))) => {
            let system = &run.latency_ns.all.system;
            row.response_ns_mean = Some(system.mean);
            row.response_ns_p99 = Some(system.percentile.p99);
            row.service_ns = Some(run.service_time_ns.total);
            row.waf = run.waf;
            row.erases = Some(run.flash.total_erases);
            row.energy_uj = Some(run.energy_uj.total);
            row.requests = Some(run.workload.requests);
            row.stand_in.clone_from(&run.workload.stand_in);
            row.warnings.clone_from(&run.warnings);
        }
        Some(Done::Inspection(Found::Done(found))) => {
            row.requests = found.get("requests").and_then(Value::as_u64);
        }
        Some(
            Done::Run(Found::Missing(reason) | Found::Failed(reason))
            | Done::Inspection(Found::Missing(reason) | Found::Failed(reason)),
        ) => row.lacking = Some(reason.clone()),
        None => {}
    }
    row
}

fn write(
    folder: &Folder,
    experiments: &[Experiment],
    done: &BTreeMap<String, Done>,
    reproduction: &Reproduction,
) -> Outcome<()> {
    for Experiment { definition, jobs } in experiments {
        let result = |job: &Job| match done.get(&job.key()) {
            Some(Done::Run(Found::Done(run))) => Some(Arc::clone(run)),
            _ => None,
        };
        let runs: Vec<Arc<RunResult>> = jobs.iter().filter_map(result).collect();
        let runs: Vec<&RunResult> = runs.iter().map(Arc::as_ref).collect();
        folder.write(&format!("{}/results.json", definition.name), &folder::json(&runs)?)?;
    }
    folder.write("claims.json", &folder::json(&reproduction.claims)?)?;
    folder.write("claims.md", reproduction::claims_markdown(reproduction).as_bytes())?;
    folder.write("report.html", &reproduction::write(reproduction))
}
