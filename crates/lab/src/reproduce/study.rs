//! An experiment and what it runs: every expression is read before anything runs, and again over
//! what the runs left behind.

use std::collections::BTreeMap;
use std::sync::Arc;

use ftlab_report::result::RunResult;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::reproduce::definition::{Definition, Stated};
use crate::reproduce::evaluate::{ABSENT, Evaluator, Found, Lack, Results};
use crate::reproduce::jobs::{Job, Setting, jobs};
use crate::reproduce::judge;
use crate::reproduce::readings::Reading;

/// An experiment and what it runs.
pub struct Study {
    /// Its file.
    pub definition: Arc<Definition>,
    /// What is chosen where its paper leaves something open.
    pub reading: Option<Reading>,
    /// Runs and inspections, in the order of the file.
    pub jobs: Vec<Job>,
}

/// What was done for a job, whichever experiments share it.
#[derive(Clone)]
pub enum Done {
    /// Made, taken from the folder, missing or failed.
    Run(Found<RunResult>),
    /// The same of an inspection.
    Inspection(Found<Value>),
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
    const NAMED_BY_RUNS: [&str; 12] = [
        "events",
        "classes",
        "structures",
        "config",
        "inspection(",
        "phases",
        "tail",
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

impl Study {
    /// The experiments with their runs.
    pub fn all(definitions: &[Arc<Definition>], setting: &Setting<'_>) -> Result<Vec<Self>> {
        let study = |definition: &Arc<Definition>| {
            let jobs = jobs(definition, setting)?;
            let reading = definition.reading.as_ref().and_then(|name| setting.readings.get(name));
            Ok(Study { definition: Arc::clone(definition), reading: reading.cloned(), jobs })
        };
        definitions.iter().map(study).collect()
    }

    /// Every expression is read, and every run that one names is there, before anything runs.
    pub fn check(&self) -> Result<()> {
        let evaluator = self.evaluator(self.supposed());
        let refused = |what: &str, text: &str| {
            Err(Error::usage(format!("{}: {what}: {text}", self.definition.name)))
        };
        for claim in &self.definition.claims {
            let published = match &claim.published {
                Some(Stated::Text(text)) if claim.holds.is_none() => Some(text),
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

    /// Results with every key, as if all was done.
    pub fn supposed(&self) -> Results {
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
        results
    }

    pub fn evaluator(&self, results: Results) -> Evaluator {
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
    pub fn results(&self, done: &BTreeMap<String, Done>) -> Results {
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
