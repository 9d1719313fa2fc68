//! `ftlab trace`: what is in a trace, converting it, learning from it, and two side by side.

use ftlab_lab::{Error, Result, ResultFile, workloads};
use ftlab_report::inspection;
use ftlab_trace::{Compared, convert};

use crate::arguments::{
    CompareWorkloadsArguments, ConvertArguments, FitArguments, InspectArguments, TraceCommand,
};
use crate::conversion;
use crate::find_subset::print_subset;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Runs one of them.
pub fn trace(command: &TraceCommand, watch: &Watch) -> Result<()> {
    match command {
        TraceCommand::Inspect(typed) => inspect_trace(typed, watch),
        TraceCommand::Convert(typed) => convert_trace(typed),
        TraceCommand::FindSubset(typed) => print_subset(typed, watch),
        TraceCommand::Fit(typed) => fit(typed, watch),
        TraceCommand::Compare(typed) => compare(typed, watch),
    }
}

fn inspect_trace(typed: &InspectArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let claim = |path| ResultFile::claim(path, &watch.unfinished);
    let page = typed.html.as_deref().map(claim).transpose()?;
    let inspection = conversion::inspection(typed)?;
    let (found, value) = inspection.run(&Progress::new(false, watch))?;
    if let Some(page) = page {
        page.publish(&inspection::write(&format!("Workload {}", found.name), &value))?;
    }
    if typed.json { print::json(&value) } else { print::text(&found.to_string()) }
}

fn convert_trace(typed: &ConvertArguments) -> Result<()> {
    let workload = workloads::open(&typed.input, &conversion::reading(&typed.reading)?)?;
    let done = convert(&workload, &typed.output)?;
    let side_by_side = match done.units {
        0 | 1 => String::new(),
        units => format!("; {units} units laid side by side"),
    };
    let skipped = done.skipped.map_or_else(String::new, |told| format!("\nWarning: {told}"));
    print::text(&format!(
        "{}: {} requests written{side_by_side}{skipped}",
        typed.output.display(),
        done.requests
    ))
}

fn fit(typed: &FitArguments, watch: &Watch) -> Result<()> {
    let path = &typed.output;
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(Error::usage(format!(
            "--output {} is no workload file; legal: a new file that ends in .toml",
            path.display()
        )));
    }
    watch.begin()?;
    let file = ResultFile::claim(path, &watch.unfinished)?;
    let twin = conversion::twin(typed)?.run(&Progress::new(false, watch))?;
    file.publish(twin.file.as_bytes())?;
    print_rows(&["trace", "twin"], &twin.rows)?;
    print_warnings("", &twin.warnings)?;
    print::text(&format!("{} written; --workload {} runs it", path.display(), path.display()))
}

fn compare(typed: &CompareWorkloadsArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let found = conversion::pair(typed)?.run(&Progress::new(false, watch))?;
    match typed.json {
        true => print::json(&found.json),
        false => {
            print::text(&format!("A: {}\nB: {}\n", found.names[0], found.names[1]))?;
            print_rows(&["A", "B"], &found.rows)?;
            let [of_a, of_b] = &found.warnings;
            print_warnings(" (A)", of_a)?;
            print_warnings(" (B)", of_b)
        }
    }
}

fn print_warnings(of: &str, warnings: &[String]) -> Result<()> {
    warnings.iter().try_for_each(|warning| print::text(&format!("Warning{of}: {warning}")))
}

fn print_rows(names: &[&str; 2], rows: &[Compared]) -> Result<()> {
    let number = |value: Option<f64>| match value {
        None => "-".to_owned(),
        Some(value) if value.abs() >= 1000.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.3}"),
    };
    let row = |row: &Compared| {
        let relation = match (row.ratio, row.difference) {
            (Some(ratio), _) => format!("x {ratio:.3}"),
            (None, Some(points)) => format!("{points:+.2}"),
            (None, None) => "-".to_owned(),
        };
        vec![row.name.clone(), number(row.a), number(row.b), relation]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    print::numbers(&["statistic", names[0], names[1], "ratio or points"], &rows)
}
