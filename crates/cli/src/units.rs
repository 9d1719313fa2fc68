//! `ftlab compare --unit each`: every unit (ASU, volume, disk) of a trace as a comparison of its
//! own, on devices of its own: what is written and printed of them.

use std::ops::Range;

use ftlab_lab::{
    CompleteFile, Counts, Error, Experiment, Observer as _, Result, RunResult, UnitComparisons,
    Work, unit_name,
};
use ftlab_report::describe::warnings;
use ftlab_report::format::{NOT_APPLICABLE, Quantity, count};

use crate::arguments::CompareArguments;
use crate::output::{COMPARISON, UNION, identify};
use crate::print;
use crate::progress::Progress;
use crate::result_folder::{ResultFolder, publish};

/// A unit that was run.
struct Done {
    unit: u32,
    capacity_bytes: u64,
    /// Its results among those of all units.
    runs: Range<usize>,
}

/// Plans all units, runs them one after another, writes, prints.
pub fn compare_each(
    experiment: &Experiment,
    typed: &CompareArguments,
    folder: &mut ResultFolder,
    progress: Progress,
) -> Result<()> {
    let reproducible = typed.simulation.meeting.reproducible;
    let planned = experiment.compare_units(Some(folder.kept()), &progress)?;
    folder.check_resumed()?;
    let UnitComparisons { schemes, units } = planned;
    let (mut all, mut runs): (Vec<Done>, Vec<RunResult>) = Default::default();
    let mut rows: Vec<CompleteFile> = Vec::new();
    let length = units.len() as u64;
    let counts = Counts::Parts { to_make: length };
    let whole = progress.begins(&Work { label: "units", length: Some(length), counts });
    for (unit, comparison) in units {
        let (part, capacity_bytes) = (unit_name(unit), comparison.plan().capacity_bytes());
        let compared = comparison.run(typed.jobs(), &progress.within(&part));
        let complete = compared.and_then(|compared| compared.complete());
        let mut complete = complete.map_err(|error| error.within(&part))?;
        complete.runs.iter_mut().for_each(|run| identify(run, reproducible));
        let title = title_of(&part, &schemes, &complete.runs);
        folder.write(&format!("unit-{unit}"), COMPARISON, &title, &complete.runs)?;
        rows.extend(complete.beside);
        all.push(Done { unit, capacity_bytes, runs: runs.len()..runs.len() + complete.runs.len() });
        runs.extend(complete.runs);
        if whole.advance(1).is_break() {
            return Err(Error::cancelled());
        }
    }
    drop(whole);
    drop(progress);
    let title = title_of(&format!("{} apart", counted(all.len() as u64, "unit")), &schemes, &runs);
    folder.write("", UNION, &title, &runs)?;
    let written = written(&folder.shown(), &rows);
    publish(folder, rows)?;
    print::text(&title)?;
    let headings: Vec<String> = all.iter().map(|done| heading(done, &runs)).collect();
    print::text(&headings.join("\n"))?;
    print::text("")?;
    let (heading, rows) = table(&all, &schemes, &runs);
    print::numbers(&heading.iter().map(String::as_str).collect::<Vec<_>>(), &rows)?;
    print::text(&format!("\nWritten: {written}"))
}

/// The heading of a report; a scheme that ran for several units is named once.
fn title_of(part: &str, schemes: &[String], runs: &[RunResult]) -> String {
    let device = runs.first().map_or("", |run| run.device.as_str());
    format!("{} on {device}, {part}", that_ran(schemes, runs).join(", "))
}

/// Those of the schemes that ran, in the order asked for.
fn that_ran<'a>(schemes: &'a [String], runs: &[RunResult]) -> Vec<&'a str> {
    let ran = |name: &&str| runs.iter().any(|run| run.scheme == *name);
    schemes.iter().map(String::as_str).filter(ran).collect()
}

/// Which files there are, in words.
fn written(out: &str, rows: &[CompleteFile]) -> String {
    let mut written = format!(
        "{out}/results.json, results.csv; of each unit {out}/unit-N/results.json, results.csv, \
         report.html"
    );
    if let [first, more @ ..] = rows {
        written.push_str(&format!("; {}", first.path().display()));
        if !more.is_empty() {
            written.push_str(&format!(" and {} more files beside them", more.len()));
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
        unit_name(done.unit),
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
fn table(all: &[Done], schemes: &[String], runs: &[RunResult]) -> (Vec<String>, Vec<Vec<String>>) {
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
