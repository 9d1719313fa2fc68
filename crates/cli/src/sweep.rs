//! `ftlab sweep`: many runs into one folder, and what came of them.

use std::fs;
use std::num::NonZero;

use ftlab_lab::sweep::{
    Asked, Contents, Definition, Effects, Folder, Merged, Running, Shared, Sweep, Swept,
};
use ftlab_lab::{Error, Experiment, Result};
use ftlab_report::format::{NOT_APPLICABLE, Quantity, count};
use ftlab_report::sweep::by_reason;

use crate::arguments::{RecordingArguments, SweepArguments, SweepCommand};
use crate::conversion;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Points that are told one by one, where several have the same fate.
const TOLD: usize = 5;

/// Plans, tells, runs, merges, prints.
pub fn sweep(typed: &SweepArguments, watch: &Watch) -> Result<()> {
    if let Some(SweepCommand::Merge { folder }) = &typed.command {
        let (folder, manifest) = Folder::existing(folder)?;
        return tell(&folder, &folder.merge(&manifest)?, None);
    }
    let out = typed.out.as_deref().ok_or_else(|| Error::usage("--out DIR is missing"))?;
    let definition = definition(typed)?;
    let running = Running {
        jobs: typed.jobs.and_then(|jobs| NonZero::new(usize::from(jobs))),
        resume: typed.resume,
        shard: typed.shard.as_deref().map(str::parse).transpose()?,
        commit: env!("FTLAB_COMMIT").to_owned(),
    };
    watch.begin()?;
    let progress = Progress::new(typed.simulation.meeting.quiet, watch);
    let seed = typed.simulation.meeting.seed;
    let sampled = typed.sample.map(|number| (number as usize, seed));
    let sweep = definition.plan(sampled, &progress)?;
    if typed.dry_run {
        let there = Folder::existing(out).and_then(|(folder, _)| folder.contents());
        return print::text(&before(&sweep, &there.unwrap_or_default(), &running));
    }
    let folder = sweep.open(out, &running)?;
    print::text(&before(&sweep, &folder.contents()?, &running))?;
    let swept = sweep.run(&folder, &running, &progress)?;
    drop(progress);
    if running.shard.is_some() {
        return print::text(&format!(
            "{}; `ftlab sweep merge {}` makes one table when all shards are done",
            told(swept),
            out.display()
        ));
    }
    tell(&folder, &folder.merge(&sweep.manifest)?, Some(swept))
}

/// What is swept, as a file or the command line says.
fn definition(typed: &SweepArguments) -> Result<Definition> {
    let base =
        conversion::experiment(&typed.schemes, &typed.simulation, &RecordingArguments::default())?;
    match (&typed.file, &typed.grid) {
        (Some(file), _) => {
            // The seed draws samples.
            let seed = base.seed;
            let nothing = Experiment { schemes: "".into(), seed, ..Experiment::default() };
            if base != nothing {
                return Err(Error::usage(format!(
                    "the options of all runs stand in {}; legal beside it: --out, --resume, --shard, \
                     --sample, --seed (which draws it), --dry-run, --jobs and --quiet, or no file and --grid",
                    file.display()
                )));
            }
            let text = fs::read_to_string(file).map_err(|error| {
                Error::usage(format!("{} cannot be read ({error})", file.display()))
            })?;
            Definition::from_toml(&text).map_err(|error| error.within(&file.display().to_string()))
        }
        (None, grid) => Definition::new(base, grid.as_deref().unwrap_or_default()),
    }
}

/// What will be run, how long it might take, and what will not.
fn before(sweep: &Sweep, there: &Contents, running: &Running) -> String {
    let asked = sweep.asked(there, running.shard);
    let to_make = asked.wanted.len();
    let mut lines = vec![format!("Points     {}", count(sweep.manifest.points.len() as u64))];
    let shard = if running.shard.is_some() { " of this shard" } else { "" };
    lines.push(format!(
        "Runs       {} to make{shard}{}",
        count(to_make as u64),
        match asked.kept {
            0 => String::new(),
            kept => format!(", {} are there", count(kept as u64)),
        }
    ));
    lines.extend(shared(&asked));
    if to_make > 0 {
        let estimate = asked.estimate();
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let jobs = running.jobs.map_or(cores, NonZero::get).min(to_make);
        let seconds = Quantity::Nanoseconds.format(estimate.seconds / jobs as f64 * 1e9);
        let more = if estimate.at_least { "more than " } else { "about " };
        lines.push(format!(
            "Time       {more}{seconds} with {jobs} at a time, if the runs of a scheme take as long as its \
             first"
        ));
    }
    let refused: Vec<(String, String)> = sweep
        .manifest
        .points
        .iter()
        .filter(|point| !point.refused.is_empty())
        .map(|point| (point.told(&sweep.manifest.names), point.refused.clone()))
        .collect();
    lines.extend(reasons("Refused", &refused));
    lines.join("\n")
}

/// What is done once for several runs.
fn shared(asked: &Asked<'_>) -> Option<String> {
    let told = |shared: Shared, what: &str| {
        (shared.made < shared.runs).then(|| {
            let plural = if shared.made == 1 { "" } else { "s" };
            let [made, runs] = [shared.made, shared.runs].map(|number| count(number as u64));
            format!("{made} {what}{plural} for {runs} runs")
        })
    };
    let all = [told(asked.devices(), "preparation"), told(asked.traces(), "decoded trace")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| format!("Shared     {}", all.join(", ")))
}

/// Why points have no result: each reason once, with the first points that it is of.
fn reasons(word: &str, points: &[(String, String)]) -> Vec<String> {
    let line = |(reason, points): &(&str, Vec<&str>)| {
        let more = points.len().saturating_sub(TOLD);
        let more =
            if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
        let shown: Vec<&str> = points.iter().take(TOLD).copied().collect();
        format!("{word:<11}{}{more}: {reason}", shown.join("; "))
    };
    by_reason(points).iter().map(line).collect()
}

fn told(swept: Swept) -> String {
    let failed = match swept.failed {
        0 => String::new(),
        failed => format!(", {} failed", count(failed as u64)),
    };
    let shared = match swept.shared {
        0 => String::new(),
        shared => format!(" ({} on a device prepared for another)", count(shared as u64)),
    };
    format!(
        "{} made{shared}, {} were there{failed}",
        count(swept.made as u64),
        count(swept.kept as u64)
    )
}

/// What came of it.
fn tell(folder: &Folder, merged: &Merged, swept: Option<Swept>) -> Result<()> {
    let out = folder.path().display();
    let mut lines = reasons("Failed", &merged.failed);
    match swept {
        // What is refused was told before the first run.
        Some(swept) => lines.insert(0, told(swept)),
        None => lines.extend(reasons("Refused", &merged.refused)),
    }
    lines.iter().try_for_each(|line| print::text(line))?;
    if merged.missing > 0 {
        print::text(&format!(
            "Missing    {} points were not run yet",
            count(merged.missing as u64)
        ))?;
    }
    if !merged.effects.is_empty() {
        print::text("\nWhat explains the differences (share of the variance over all points)")?;
        let mut heading = vec![""];
        heading.extend(merged.names.iter().map(String::as_str));
        heading.extend(["strongest pair beyond them", "left"]);
        let rows: Vec<Vec<String>> =
            merged.effects.iter().map(|(words, own)| row(words, own, &merged.names)).collect();
        print::numbers(&heading, &rows)?;
        if merged.effects.iter().any(|(_, own)| !own.complete) {
            print::text(
                "Not every combination is there, so that axes are not independent and shares overlap.",
            )?;
        }
    }
    print::text(&format!(
        "\nWritten: {out}/report.html, results.csv, results.parquet, runs/KEY.json"
    ))
}

/// The effects on one metric.
fn row(words: &str, effects: &Effects, names: &[String]) -> Vec<String> {
    let share = |share: f64| Quantity::Fraction.format(share);
    let logarithm = if effects.logarithmic { " (log)" } else { "" };
    let mut cells = vec![format!("{words}{logarithm}")];
    cells.extend((0..names.len()).map(|axis| {
        let own = effects.alone.iter().find(|(at, _)| *at == axis);
        own.map_or_else(String::new, |(_, own)| share(*own))
    }));
    let pair = effects.pairs.first();
    cells.push(pair.map_or_else(String::new, |(one, two, own)| {
        format!("{} and {}: {}", names[*one], names[*two], share(*own))
    }));
    if !effects.complete {
        cells.push(NOT_APPLICABLE.to_owned());
        return cells;
    }
    let known: f64 = effects.alone.iter().map(|(_, own)| own).sum::<f64>()
        + effects.pairs.iter().map(|(_, _, own)| own).sum::<f64>();
    cells.push(share((1.0 - known).clamp(0.0, 1.0)));
    cells
}
