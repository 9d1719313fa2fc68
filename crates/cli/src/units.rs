//! `ftlab compare --unit each`: every unit (ASU, volume, disk) of a trace as a comparison of its
//! own, on devices of its own. What is run is what `--unit N` runs, unit by unit.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use ftlab_report::describe::warnings;
use ftlab_report::format::{NOT_APPLICABLE, Quantity, count};
use ftlab_report::result::RunResult;
use ftlab_trace::Description;

use crate::arguments::{CompareArguments, ReadingArguments, SimulationArguments};
use crate::compare::{Compared, Comparison, publish};
use crate::failure::{Failure, Outcome};
use crate::output::{COMPARISON, ClosedFile, ResultFolder, UNION};
use crate::plan::asked;
use crate::print;
use crate::progress::Progress;
use crate::recording::path_for_unit;
use crate::workloads::WorkloadChoice;

/// Most units that one command runs apart.
const UNITS_MAX: usize = 256;

/// Most runs, of all units together: every result is held until all are written.
const RUNS_MAX: usize = 2048;

const NEEDS: &str = "--unit each runs every unit of a trace apart, but";

/// A unit that was run.
struct Done {
    unit: u32,
    capacity_bytes: u64,
    /// Its results among those of all units.
    runs: Range<usize>,
}

/// Finds the units, plans all of them, runs them one after another, writes, prints.
pub fn compare_each(typed: &CompareArguments, folder: ResultFolder) -> Outcome<()> {
    // What no unit can have should not take a pass over the trace to be said.
    let asked = asked(&typed.schemes, &typed.simulation)?;
    let schemes: Vec<&str> = asked.schemes().collect();
    let progress = Progress::new(typed.simulation.meeting.quiet);
    let units = units(&typed.simulation, asked.changes(), &progress)?;
    refuse_too_many_runs(units.len(), schemes.len())?;
    let planned = plan_all(typed, &units, &progress)?;
    let (mut all, mut runs): (Vec<Done>, Vec<RunResult>) = Default::default();
    let mut rows: Vec<(PathBuf, ClosedFile)> = Vec::new();
    let whole = progress.whole("units", planned.len(), planned.len());
    for (unit, comparison) in planned {
        let (part, capacity_bytes) = (name(unit), comparison.capacity_bytes());
        let compared = comparison.run(None, typed.jobs, &progress.within(&part));
        let Compared { runs: own, rows: more } = compared.map_err(|why| why.within(&part))?;
        let title = title_of(&part, &schemes, &own);
        folder.write(&format!("unit-{unit}"), COMPARISON, &title, &own)?;
        rows.extend(more);
        all.push(Done { unit, capacity_bytes, runs: runs.len()..runs.len() + own.len() });
        runs.extend(own);
        whole.advance()?;
    }
    drop((whole, progress));
    let title = title_of(&format!("{} apart", counted(all.len() as u64, "unit")), &schemes, &runs);
    folder.write("", UNION, &title, &runs)?;
    let written = written(typed, &rows);
    publish(typed, folder, rows)?;
    print::text(&title)?;
    let headings: Vec<String> = all.iter().map(|done| heading(done, &runs)).collect();
    print::text(&headings.join("\n"))?;
    print::text("")?;
    let (heading, rows) = table(&all, &schemes, &runs);
    print::numbers(&heading.iter().map(String::as_str).collect::<Vec<_>>(), &rows)?;
    print::text(&format!("\nWritten: {written}"))
}

fn name(unit: u32) -> String {
    format!("unit {unit}")
}

/// The heading of a report; a scheme that ran for several units is named once.
fn title_of(part: &str, schemes: &[&str], runs: &[RunResult]) -> String {
    let device = runs.first().map_or("", |run| run.device.as_str());
    format!("{} on {device}, {part}", that_ran(schemes, runs).join(", "))
}

/// Those of the schemes that ran, in the order asked for.
fn that_ran<'a>(schemes: &[&'a str], runs: &[RunResult]) -> Vec<&'a str> {
    let ran = |name: &&str| runs.iter().any(|run| run.scheme == *name);
    schemes.iter().copied().filter(ran).collect()
}

fn refuse(why: &str) -> Failure {
    Failure::usage(format!("{NEEDS} {why}"))
}

fn refuse_too_many_runs(units: usize, schemes: usize) -> Outcome<()> {
    if units * schemes <= RUNS_MAX {
        return Ok(());
    }
    Err(refuse(&format!(
        "{units} units under {schemes} schemes are {} runs; legal: up to {} (fewer schemes, or \
         --unit N for each of some units)",
        count((units * schemes) as u64),
        count(RUNS_MAX as u64)
    )))
}

/// The units of which `--unit N` would find a request, ascending; one pass over the trace.
fn units(
    typed: &SimulationArguments,
    changes: &[(String, String)],
    progress: &Progress,
) -> Outcome<Vec<u32>> {
    if typed.reading.find_subset {
        return Err(refuse(
            "--find-subset chooses some to be run together; legal: one of the two options",
        ));
    }
    let reading = ReadingArguments { unit: "all".to_owned(), ..typed.reading.clone() };
    let mut choice = WorkloadChoice::new(&typed.workload, &reading, changes)?;
    if choice.is_standard_input() {
        return Err(refuse(
            "--workload - (standard input) can be read only once, and every unit reads it from \
             its start; legal: a file",
        ));
    }
    // Both count the requests of a unit, not those of the trace.
    choice.options.head = None;
    choice.options.filter.every = 1;
    let workload = choice.open(0)?;
    if workload.detection().is_none() {
        let what = match workload.parts() {
            Some(_) => "is a combination, whose parts number their units each for itself",
            None => "is generated and has none",
        };
        // Among them why --trace-dir found no trace to put in its place.
        let notes: String = choice.notes.iter().map(|note| format!(". {note}")).collect();
        return Err(refuse(&format!("'{}' {what}; legal: a trace{notes}", choice.name)));
    }
    // Units may follow one another, each by a clock of its own.
    choice.options.any_order =
        choice.options.filter.from_ns == 0 && choice.options.filter.to_ns == u64::MAX;
    let workload = choice.open(0)?;
    let bar = progress.bar("finding the units", None);
    let mut units = BTreeSet::new();
    let mut latest = None;
    for record in workload.records()? {
        let unit = record?.unit;
        if latest.replace(unit) != Some(unit) {
            units.insert(unit);
        }
        bar.advance()?;
    }
    if units.len() > UNITS_MAX {
        return Err(refuse(&format!(
            "'{}' has {}; legal: up to {UNITS_MAX} (a list, --unit N,N, runs those together on one \
             device)",
            choice.name,
            counted(units.len() as u64, "unit")
        )));
    }
    Ok(units.into_iter().collect())
}

/// Refuses what can be refused of any unit before the first one runs.
fn plan_all(
    typed: &CompareArguments,
    units: &[u32],
    progress: &Progress,
) -> Outcome<Vec<(u32, Comparison)>> {
    let whole = progress.whole("planning the units", units.len(), units.len());
    let rows = typed.recording.requests_out.as_deref();
    // The same files for all.
    let mut described: Option<Description> = None;
    let plan = |&unit: &u32| {
        let mut simulation = typed.simulation.clone();
        simulation.reading.unit = unit.to_string();
        let rows = rows.map(|path| path_for_unit(path, unit));
        let known = described.as_ref();
        let planned = Comparison::plan(typed, &simulation, rows.as_deref(), known);
        let (comparison, _) = planned.map_err(|failure| failure.within(&name(unit)))?;
        described = described.take().or_else(|| comparison.description().cloned());
        whole.advance()?;
        Ok((unit, comparison))
    };
    units.iter().map(plan).collect()
}

/// Which files there are, in words.
fn written(typed: &CompareArguments, rows: &[(PathBuf, ClosedFile)]) -> String {
    let out = typed.out.display();
    let mut written = format!(
        "{out}/results.json, results.csv; of each unit {out}/unit-N/results.json, results.csv, \
         report.html"
    );
    if let [(first, _), more @ ..] = rows {
        written.push_str(&format!("; {}", first.display()));
        if !more.is_empty() {
            written.push_str(&format!(" and {} more files of requests", more.len()));
        }
    }
    written
}

/// What ran on the devices of a unit, on a line.
fn heading(done: &Done, runs: &[RunResult]) -> String {
    let own = &runs[done.runs.clone()];
    // The same under every scheme.
    let workload = &own[0].workload;
    let device = Quantity::Bytes.format(done.capacity_bytes as f64);
    let warnings = match warnings(own).len() as u64 {
        0 => String::new(),
        some => format!("; {} in its report.html", counted(some, "warning")),
    };
    format!(
        "{}: {}, {} of them reads; {} touched; device of {device}{warnings}",
        name(done.unit),
        counted(workload.requests, "request"),
        Quantity::Fraction.format(workload.read_ratio),
        counted(workload.footprint_pages, "distinct page")
    )
}

fn counted(number: u64, word: &str) -> String {
    format!("{} {word}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A row per unit: its requests, and of every scheme mean response and write amplification; empty
/// where `--ram-strict` left a scheme out for this unit.
fn table(all: &[Done], schemes: &[&str], runs: &[RunResult]) -> (Vec<String>, Vec<Vec<String>>) {
    let schemes = that_ran(schemes, runs);
    let mut heading = vec!["unit".to_owned(), "requests".to_owned()];
    heading.extend(schemes.iter().flat_map(|name| [format!("{name} mean"), format!("{name} WAF")]));
    let row = |done: &Done| {
        let own = &runs[done.runs.clone()];
        let mut row = vec![done.unit.to_string(), count(own[0].workload.requests)];
        for name in &schemes {
            let run = own.iter().find(|run| run.scheme == *name);
            row.extend(run.map_or_else(Default::default, mean_and_waf));
        }
        row
    };
    (heading, all.iter().map(row).collect())
}

fn mean_and_waf(run: &RunResult) -> [String; 2] {
    let summary = &run.latency_ns.all.system;
    let mean = (summary.count > 0).then(|| Quantity::Nanoseconds.format(summary.mean));
    let waf = run.waf.map(|waf| Quantity::Ratio.format(waf));
    [mean, waf].map(|text| text.unwrap_or_else(|| NOT_APPLICABLE.to_owned()))
}
