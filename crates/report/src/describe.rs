//! What ran, in words: for the head of the text table and of the page.

use crate::format::{Quantity, count};
use crate::result::{RunResult, Workload};

/// A name per run: its scheme, numbered where the same scheme ran more than once.
#[must_use]
pub fn labels(runs: &[RunResult]) -> Vec<String> {
    let named =
        |among: &[RunResult], name: &str| among.iter().filter(|run| run.scheme == name).count();
    let label = |(index, run): (usize, &RunResult)| match named(runs, &run.scheme) {
        1 => run.scheme.clone(),
        _ => format!("{} #{}", run.scheme, named(&runs[..=index], &run.scheme)),
    };
    runs.iter().enumerate().map(label).collect()
}

/// One fact about the runs: a word for it and a sentence.
pub type Fact = (&'static str, String);

/// What ran: workload, device, preparation, version, seed, audit. Where runs differ, the
/// sentence names the schemes.
#[must_use]
pub fn facts(runs: &[RunResult]) -> Vec<Fact> {
    let labels = labels(runs);
    let tell = |sentence: &dyn Fn(&RunResult) -> String| together(runs, &labels, sentence);
    let mut all = vec![
        ("Workload", tell(&of)),
        ("Requests", tell(&requests)),
        ("Device", tell(&|run| run.device.clone())),
        ("Preparation", format!("{}{}", tell(&precondition), erased_before(runs))),
        ("Steady state", tell(&steady_state)),
        ("Audit", tell(&audit)),
        ("Made by", tell(&made_by)),
    ];
    // Runs side by side begin one by one; RFC 3339 in UTC sorts by time.
    let began = runs.iter().map(|run| &run.made.started).filter(|time| !time.is_empty()).min();
    all.extend(began.map(|time| ("Began", time.clone())));
    if runs.iter().any(|run| !run.made.timing.is_empty()) {
        all.insert(2, ("Timing", tell(&timing)));
    }
    if runs.iter().any(|run| run.precondition.mode != "none" && !run.precondition.cache.is_empty())
    {
        let at = all.iter().position(|(name, _)| *name == "Preparation").map_or(0, |at| at + 1);
        all.insert(at, ("Caches", tell(&caches)));
    }
    if runs.iter().any(|run| guessed_units(&run.workload).is_some()) {
        let none = || "none".to_owned();
        let sentence = |run: &RunResult| guessed_units(&run.workload).unwrap_or_else(none);
        all.insert(1, ("Guessed units", tell(&sentence)));
    }
    all.extend(command(runs).map(|command| ("Command", command)));
    all
}

/// The command that makes these runs again, where one does.
fn command(runs: &[RunResult]) -> Option<String> {
    let first = &runs.first()?.made.command;
    let same = runs.iter().all(|run| run.made.command == *first);
    (same && !first.is_empty()).then(|| first.clone())
}

/// How the timing of requests begins that clients sent.
const SERVED: &str = "served";

fn is_served(run: &RunResult) -> bool {
    run.made.timing.split(':').next() == Some(SERVED)
}

/// What was run, and of what kind it is.
fn of(run: &RunResult) -> String {
    if is_served(run) {
        return format!("{} (as they came, not recorded)", run.workload.name);
    }
    workload(&run.workload, run.made.filter.as_deref())
}

fn timing(run: &RunResult) -> String {
    match run.made.timing.split_once(':').unwrap_or((&run.made.timing, "")) {
        ("trace", "") => "as the workload says".to_owned(),
        ("trace", scale) => format!("as the workload says, times {scale}"),
        ("asap", _) => "a closed loop at the device's queue depth".to_owned(),
        ("closed", depth) => format!("a closed loop of {depth} requests in flight"),
        (SERVED, "off") => "as clients asked, each answered as soon as it was served".to_owned(),
        (SERVED, "real") => "as clients asked, each answered at its simulated time".to_owned(),
        (SERVED, scale) => {
            let scale = scale.strip_prefix("real:").unwrap_or(scale);
            format!("as clients asked, each answered at its simulated time, times {scale}")
        }
        (other, _) => other.to_owned(),
    }
}

fn made_by(run: &RunResult) -> String {
    let made = &run.made;
    let mut text = format!("ftlab {}", run.version);
    if !made.commit.is_empty() {
        text.push_str(&format!(" ({})", made.commit));
    }
    text.push_str(&format!(", seed {}", run.seed));
    for part in [&made.build, &made.host] {
        if !part.is_empty() {
            text.push_str(&format!(", {part}"));
        }
    }
    text
}

/// The warnings, each once, with the schemes that it concerns. An audit that found something is
/// the first of them: the numbers of such a run mean nothing.
#[must_use]
pub fn warnings(runs: &[RunResult]) -> Vec<(String, String)> {
    let labels = labels(runs);
    let failed = |run: &RunResult| !matches!(run.audit.as_str(), "" | "passed");
    let mut all: Vec<(String, String)> = runs
        .iter()
        .zip(&labels)
        .filter(|(run, _)| failed(run))
        .map(|(run, label)| (label.clone(), format!("The audit did not pass: {}", run.audit)))
        .collect();
    let mut rows: Vec<(Vec<&str>, &str)> = Vec::new();
    for (run, label) in runs.iter().zip(&labels) {
        for warning in &run.warnings {
            match rows.iter_mut().find(|(_, text)| text == warning) {
                Some((who, _)) => who.push(label),
                None => rows.push((vec![label], warning)),
            }
        }
    }
    all.extend(rows.into_iter().map(|(who, text)| (who.join(", "), text.to_owned())));
    all
}

/// One sentence when all runs agree, else each distinct one behind its schemes.
fn together(
    runs: &[RunResult],
    labels: &[String],
    sentence: &dyn Fn(&RunResult) -> String,
) -> String {
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for (run, label) in runs.iter().zip(labels) {
        let text = sentence(run);
        match rows.iter_mut().find(|(known, _)| *known == text) {
            Some((_, who)) => who.push(label),
            None => rows.push((text, vec![label])),
        }
    }
    if let [(text, _)] = rows.as_slice() {
        return text.clone();
    }
    let parts: Vec<String> =
        rows.iter().map(|(text, who)| format!("{}: {text}", who.join(", "))).collect();
    parts.join("; ")
}

/// What was run, of what kind it is, and how much of it that was: `filter` is what let it through.
fn workload(workload: &Workload, filter: Option<&str>) -> String {
    let through =
        filter.map_or_else(String::new, |filter| format!(" that --filter {filter} lets through"));
    let units = workload.units.as_deref().map(units);
    let origin = match (&workload.stand_in, workload.synthetic, workload.prefix) {
        (Some(source), _, _) => {
            format!("synthetic stand-in: generated to published statistics, not recorded: {source}")
        }
        (None, true, _) => "synthetic: generated, not recorded on a real system".to_owned(),
        (None, false, Some(kept)) => match &units {
            None => {
                format!("a recorded trace, but only its first {} requests{through}", count(kept))
            }
            Some(units) => {
                let kept = count(kept);
                let origin = format!("a recorded trace, but only the first {kept} requests of");
                return format!("{} ({origin} {units}{through})", workload.name);
            }
        },
        (None, false, None) if filter.is_some() => {
            format!("a recorded trace, but only its requests{through}")
        }
        (None, false, None) if units.is_some() => "a recorded trace".to_owned(),
        (None, false, None) => "a recorded trace, whole".to_owned(),
    };
    let chosen = units.map_or_else(String::new, |units| format!("; {units} of the trace"));
    format!("{} ({origin}{chosen})", workload.name)
}

/// The units of a trace that the data alone decided, and why; none where all were known.
fn guessed_units(workload: &Workload) -> Option<String> {
    let guesses = [
        ("times", &workload.time_unit, &workload.time_unit_why, "--time-unit"),
        ("sizes", &workload.size_unit, &workload.size_unit_why, "--size-unit"),
    ];
    let told = guesses.into_iter().filter_map(|(column, unit, why, option)| {
        let (unit, why) = (unit.as_ref()?, why.as_deref().unwrap_or_default());
        Some(format!("{column} in {unit} by the data ({why}), {option} states it"))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Units that were chosen, from a list with commas.
fn units(list: &str) -> String {
    let word = if list.contains(',') { "units" } else { "unit" };
    format!("{word} {}", list.replace(',', ", "))
}

fn requests(run: &RunResult) -> String {
    let workload = &run.workload;
    let addresses = match workload.address.as_str() {
        "strict" if is_served(run) => "addresses as they came".to_owned(),
        "strict" => "addresses as recorded".to_owned(),
        "modulo" => "addresses folded into the device by remainder".to_owned(),
        "dense" => "addresses packed densely in order of first touch".to_owned(),
        other => format!("addresses {other}"),
    };
    let passes = match workload.passes {
        None => String::new(),
        Some(1) => " in one complete pass over the workload".to_owned(),
        Some(passes) => format!(" in {} complete passes over the workload", count(passes)),
    };
    format!(
        "{}{passes}, {} of them reads; {} distinct pages touched; {addresses}",
        count(workload.requests),
        Quantity::Fraction.format(workload.read_ratio),
        count(workload.footprint_pages),
    )
}

fn precondition(run: &RunResult) -> String {
    let before = &run.precondition;
    if before.mode == "none" {
        return "none: the device was empty when the measurement began".to_owned();
    }
    if before.mode == "model" {
        return "model: the occupancy of blocks that cleaning reaches under uniform random writes \
                was put onto the flash, and the scheme found its map by recovery"
            .to_owned();
    }
    if before.mode.starts_with("snapshot:") {
        return before.mode.clone();
    }
    format!("{}: {} pages written before the measurement", before.mode, count(before.pages_written))
}

/// How many blocks preparing erased, where it wrote anything.
fn erased_before(runs: &[RunResult]) -> String {
    let erases = || runs.iter().map(|run| run.precondition.erases);
    let written = runs.iter().any(|run| run.precondition.pages_written > 0);
    match (erases().min(), erases().max()) {
        (Some(least), Some(most)) if written && least == most => {
            format!(", and {} blocks erased", count(most))
        }
        (Some(least), Some(most)) if written => {
            format!(", and {} to {} blocks erased", count(least), count(most))
        }
        _ => String::new(),
    }
}

/// How memory was left when the measured part began, and what that part has to write of it.
fn caches(run: &RunResult) -> String {
    let before = &run.precondition;
    let mut told = before.cache.clone();
    if before.written_back > 0 {
        told += &format!(
            ", {} changed map entries having been written back",
            count(before.written_back)
        );
    }
    let inherited = [
        (before.inherited.changed_map_entries, "changed map entries"),
        (before.inherited.buffered_pages, "buffered pages"),
    ];
    let held: Vec<String> = inherited
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", count(*number)))
        .collect();
    if !held.is_empty() {
        told += &format!("; the measured part inherits {}", held.join(" and "));
    }
    told
}

fn steady_state(run: &RunResult) -> String {
    let state = &run.steady_state;
    let verdict = match state.reached {
        Some(true) => format!("reached after {} rounds", count(state.rounds)),
        Some(false) => format!("not reached in {} rounds", count(state.rounds)),
        None => "not examined".to_owned(),
    };
    let reclaim = if state.gc_ran {
        "blocks were reclaimed during the measured part"
    } else {
        "no block was reclaimed during the measured part"
    };
    let because = if state.explanation.is_empty() {
        String::new()
    } else {
        format!(" ({})", state.explanation)
    };
    format!("{verdict}{because}; {reclaim}")
}

fn audit(run: &RunResult) -> String {
    let reads = match run.verified_reads {
        0 => "no read was compared with what had been written".to_owned(),
        reads => format!("{} reads compared with what had been written", count(reads)),
    };
    let verdict = if run.audit.is_empty() { "not run" } else { &run.audit };
    format!("{verdict}; {reads}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scheme: &str) -> RunResult {
        RunResult { scheme: scheme.to_owned(), ..RunResult::default() }
    }

    #[test]
    fn schemes_that_ran_twice_are_numbered() {
        let runs = [run("dftl"), run("fast"), run("dftl")];
        assert_eq!(labels(&runs), ["dftl #1", "fast", "dftl #2"]);
    }

    #[test]
    fn a_warning_of_several_runs_is_said_once() {
        let mut runs = [run("dftl"), run("fast"), run("bast")];
        runs[0].warnings = vec!["Collection never ran.".to_owned()];
        runs[2].warnings = vec!["Collection never ran.".to_owned(), "Few requests.".to_owned()];
        let expected = [("dftl, bast", "Collection never ran."), ("bast", "Few requests.")]
            .map(|(who, text)| (who.to_owned(), text.to_owned()));
        assert_eq!(warnings(&runs), expected);
    }

    #[test]
    fn an_audit_that_found_something_is_the_first_warning() {
        let mut runs = [run("dftl"), run("fast")];
        runs[0].warnings = vec!["Few requests.".to_owned()];
        runs[0].audit = "passed".to_owned();
        runs[1].audit = "3 pages lost".to_owned();
        let (who, text) = warnings(&runs).remove(0);
        assert_eq!((who.as_str(), text.as_str()), ("fast", "The audit did not pass: 3 pages lost"));
    }

    #[test]
    fn a_prefix_and_a_synthetic_workload_are_called_so() {
        let mut source = Workload { name: "fin1".to_owned(), ..Workload::default() };
        assert!(workload(&source, None).contains("whole"));
        source.prefix = Some(10_000);
        assert!(workload(&source, None).contains("only its first 10,000 requests"));
        source.units = Some("0,2".to_owned());
        assert!(workload(&source, None).contains("only the first 10,000 requests of units 0, 2)"));
        let filtered = workload(&source, Some("op=write"));
        let first = "only the first 10,000 requests of units 0, 2 that --filter op=write lets";
        assert!(filtered.contains(first), "{filtered}");
        source.units = None;
        let filtered = workload(&source, Some("op=write"));
        assert!(
            filtered.contains("its first 10,000 requests that --filter op=write lets through)")
        );
        source.prefix = None;
        let filtered = workload(&source, Some("op=write"));
        assert!(filtered.contains("but only its requests that --filter op=write"), "{filtered}");
        source.units = Some("3".to_owned());
        assert!(workload(&source, None).contains("(a recorded trace; unit 3 of the trace)"));
        source.units = None;
        source.synthetic = true;
        assert!(workload(&source, None).contains("synthetic"));
        source.stand_in = Some("a table".to_owned());
        let said = workload(&source, None);
        assert!(
            said.contains("synthetic stand-in") && said.contains("recorded: a table)"),
            "{said}"
        );
    }

    #[test]
    fn one_command_makes_runs_again_that_were_compared() {
        let mut runs = [run("dftl"), run("fast")];
        assert_eq!(command(&runs), None);
        let line = "ftlab compare --schemes dftl,fast --device d --workload w --out DIR";
        runs.iter_mut().for_each(|run| run.made.command = line.to_owned());
        assert_eq!(command(&runs).as_deref(), Some(line));
        runs[1].made.command.push_str(" --seed 2");
        assert_eq!(command(&runs), None);
        runs[0].made.timing = "trace:2".to_owned();
        assert_eq!(timing(&runs[0]), "as the workload says, times 2");
        runs[0].made.timing = "served:real:10".to_owned();
        assert!(timing(&runs[0]).ends_with("at its simulated time, times 10"));
        runs[0].workload.name = "clients".to_owned();
        assert_eq!(of(&runs[0]), "clients (as they came, not recorded)");
        runs[0].made.timing = "trace:2".to_owned();
    }

    #[test]
    fn units_that_the_data_alone_decided_are_told_with_the_reason() {
        let mut runs = [run("dftl"), run("fast")];
        assert!(facts(&runs).iter().all(|(word, _)| *word != "Guessed units"));
        for run in &mut runs {
            run.workload.size_unit = Some("sectors".to_owned());
            run.workload.size_unit_why = Some("every size is a multiple of 8".to_owned());
        }
        let told = facts(&runs).into_iter().find(|fact| fact.0 == "Guessed units").unwrap().1;
        let expected = "sizes in sectors by the data (every size is a multiple of 8), --size-unit \
                        states it";
        assert_eq!(told, expected);
    }

    #[test]
    fn runs_that_differ_are_told_apart() {
        let mut runs = [run("dftl"), run("fast"), run("bast")];
        runs[1].device = "other".to_owned();
        let device = facts(&runs).into_iter().find(|fact| fact.0 == "Device").unwrap().1;
        assert_eq!(device, "dftl, bast: ; fast: other");
    }
}
