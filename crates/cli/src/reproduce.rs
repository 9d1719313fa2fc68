//! `ftlab reproduce`: the experiments of the papers, run again, into a folder that can be gone on
//! with.

use std::num::NonZero;

use ftlab_lab::reproduce::{Request, sha256};
use ftlab_lab::{Error, Result};
use ftlab_report::reproduction;

use crate::arguments::ReproduceArguments;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Plans, checks, runs, judges, writes, prints.
pub fn reproduce(typed: &ReproduceArguments, watch: &Watch) -> Result<()> {
    let ReproduceArguments { names, quick, trace_dir, .. } = typed;
    let request = Request {
        names: names.clone(),
        quick: *quick,
        trace_dir: trace_dir.clone(),
        reading: typed.reading.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        worlds: typed.worlds.and_then(NonZero::new),
    };
    let studies = request.plan()?;
    let program = std::env::current_exe()
        .and_then(std::fs::read)
        .map_err(|error| Error::Run(format!("the program cannot read itself ({error})")))?;
    let folder = studies.open(&typed.out, typed.resume, &sha256(&program))?;
    watch.begin()?;
    let progress = Progress::new(typed.quiet, watch);
    let threads = typed.jobs.and_then(|jobs| NonZero::new(usize::from(jobs)));
    let outcome = studies.run(&folder, threads, &progress)?;
    drop(progress);
    print::text(&reproduction::claims_text(&outcome.reproduction))?;
    let out = typed.out.display();
    print::text(&format!(
        "\nWritten: {out}/report.html, claims.json, claims.md, claims/PAPER.md, NAME/results.json"
    ))?;
    match outcome.problems.is_empty() {
        true => Ok(()),
        false => Err(Error::Run(outcome.problems.join("\n"))),
    }
}
