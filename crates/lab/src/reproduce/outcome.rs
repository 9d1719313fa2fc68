//! What a reproduction came to: verdicts and pictures, and files.

use std::collections::BTreeMap;
use std::sync::Arc;

use ftlab_report::reproduction::{self, Reproduction};
use ftlab_report::result::RunResult;
use serde_json::Value;

use crate::error::Result;
use crate::reproduce::evaluate::{Found, INSPECTION};
use crate::reproduce::folder::{self, Folder};
use crate::reproduce::jobs::Job;
use crate::reproduce::judge::{self, Circumstances};
use crate::reproduce::readings::{Choice, Reading};
use crate::reproduce::request::Request;
use crate::reproduce::study::{Done, Study};
use crate::reproduce::words::Teller;

/// What a reproduction came to.
pub struct Outcome {
    /// Verdicts and pictures.
    pub reproduction: Reproduction,
    /// Runs that failed, and expressions that have no value although they should.
    pub problems: Vec<String>,
}

/// Judges what the runs left behind.
pub fn judged(request: &Request, studies: &[Study], done: &BTreeMap<String, Done>) -> Outcome {
    let mut problems = Vec::new();
    let mut all = Reproduction {
        schema: reproduction::SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        quick: request.quick,
        trace_dir: request.trace_dir.is_some(),
        claims: Vec::new(),
        experiments: Vec::new(),
        worlds: Vec::new(),
    };
    for study in studies {
        let (of_study, claims) = judged_one(request, study, done, &mut problems);
        all.claims.extend(claims);
        all.experiments.push(of_study);
    }
    Outcome { reproduction: all, problems }
}

fn judged_one(
    request: &Request,
    study: &Study,
    done: &BTreeMap<String, Done>,
    problems: &mut Vec<String>,
) -> (reproduction::Experiment, Vec<reproduction::Claim>) {
    let Study { definition, reading, jobs } = study;
    let recorded = recorded(jobs, done);
    let evaluator = study.evaluator(study.results(done));
    let circumstances = Circumstances { quick: request.quick, recorded: &recorded };
    let (mut claims, mut wrong) = judge::claims(definition, &evaluator, &circumstances);
    for claim in &mut claims {
        claim.target = reading.as_ref().is_some_and(|one| one.was_fitted_to(&claim.name));
    }
    let teller = Teller { evaluator: &evaluator, jobs };
    for (claim, defined) in claims.iter_mut().zip(&definition.claims) {
        claim.measures = teller.told(defined, &claim.measured);
    }
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
    let experiment = reproduction::Experiment {
        name: definition.name.clone(),
        title: definition.title.clone(),
        paper: definition.paper.title().to_owned(),
        item: definition.item.clone(),
        about: definition.about.clone(),
        unknown: definition.unknown.clone(),
        readings: read(reading.as_ref()).collect(),
        runs,
        figures,
    };
    (experiment, claims)
}

/// What was chosen where the paper leaves something open, choice by choice.
fn read(reading: Option<&Reading>) -> impl Iterator<Item = reproduction::Chosen> {
    reading.into_iter().flat_map(Reading::pairs).map(|(choice, candidate)| {
        let Choice { name, question, text, kind, best, literal, .. } = choice;
        let ground = match &candidate.name {
            own if own == best => kind.name(),
            own if own == literal => "to the letter",
            _ => "not the best",
        };
        reproduction::Chosen {
            question: question.clone(),
            text: text.clone(),
            about: candidate.about.clone(),
            choice: name.clone(),
            candidate: candidate.name.clone(),
            ground: ground.to_owned(),
        }
    })
}

/// The outcomes of claims by name, each under the one reading that they were judged by.
pub fn verdicts(claims: &[reproduction::Claim]) -> BTreeMap<String, reproduction::Outcome> {
    let outcome = |claim: &reproduction::Claim| {
        let outcome = reproduction::Outcome { verdict: claim.verdict, near: claim.near.best };
        (claim.name.clone(), outcome)
    };
    claims.iter().map(outcome).collect()
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

/// Writes report, claims, and the results of each experiment.
pub fn write(
    folder: &Folder,
    studies: &[Study],
    done: &BTreeMap<String, Done>,
    reproduction: &Reproduction,
) -> Result<()> {
    for Study { definition, jobs, .. } in studies {
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
    for (paper, text) in reproduction::paper_markdown(reproduction) {
        folder.write(&format!("claims/{paper}.md"), text.as_bytes())?;
    }
    reproduction::pages(reproduction).try_for_each(|(name, page)| folder.write(&name, &page))
}
