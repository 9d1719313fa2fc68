//! Workloads by name: bundled ones and files of the user's own stand for an inline spec.

use std::cmp::Ordering;
use std::path::Path;

use ftlab_engine::config::nearest;
use ftlab_report::format::count;
use ftlab_trace::synthetic::with_changes;
use ftlab_trace::{
    Combination, Filter, Options, SyntheticSpec, UnitSelection, Workload, WorkloadFile,
};

use crate::arguments::ReadingArguments;
use crate::devices::{Bundled, bundled};
use crate::failure::{Failure, Outcome};
use crate::find_subset;
use crate::trace_dir::{self, Instead, Whole};

/// Every bundled workload: one file in `config/workloads`, one name here.
pub const WORKLOADS: &[Bundled] = bundled!(
    "workloads": "financial", "websearch", "cello99", "tpch", "fin1", "fin2", "web1", "web2",
    "web3", "openmail", "hat_synthetic_read", "hat_synthetic_write", "spc1", "tpcc_20", "hm_0",
    "mds_0", "prn_0", "prxy_0", "rsrch_0", "stg_0", "ts_0", "web_0", "oltp_demo"
);

/// The workload file of a bundled workload.
pub fn bundled_file(bundled: &Bundled) -> Outcome<WorkloadFile> {
    let file = format!("config/workloads/{}.toml", bundled.name);
    Ok(WorkloadFile::parse(&file, bundled.text)?)
}

/// A workload file of the user's own.
pub fn own_file(path: &str) -> Outcome<WorkloadFile> {
    let content = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{path}: cannot be read ({error})")))?;
    Ok(WorkloadFile::parse(path, &content)?)
}

/// What was chosen with `--workload`, before it is opened.
#[derive(Clone, Debug)]
pub struct WorkloadChoice {
    /// Its name in results.
    pub name: String,
    /// A path, `-`, or an inline spec.
    pub text: String,
    /// How a trace is read.
    pub options: Options,
    /// The stand-ins in it.
    pub stand_ins: Vec<StandIn>,
    /// Sentences for every result: what `--trace-dir` did.
    pub notes: Vec<String>,
    /// What the requests of a real trace are compared with once they are counted.
    pub whole: Option<Whole>,
}

/// What a result must say about a stand-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// Its name.
    pub name: String,
    /// What it was fitted to.
    pub source: String,
    /// Settings were changed, so that published statistics need not hold any more.
    pub changed: bool,
    /// Requests that it has as it is bundled; none where that depends on the device.
    pub requests: Option<u64>,
    /// Requests that are made of it; none as above.
    pub made: Option<u64>,
}

impl StandIn {
    /// Its source, and in which respects it is not what was fitted to it.
    fn says(&self, head: Option<u64>) -> String {
        let mut said = self.source.clone();
        if self.changed {
            said += "; with settings changed, so that it need not fit";
        }
        let made = self.made.map(|made| made.min(head.unwrap_or(u64::MAX)));
        if let (Some(made), Some(whole)) = (made, self.requests) {
            let (few, all) = (count(made), count(whole));
            match made.cmp(&whole) {
                Ordering::Less => said += &format!("; shortened: {few} of {all} requests"),
                Ordering::Equal => {}
                Ordering::Greater => {
                    said += &format!("; prolonged: {few} requests instead of {all}");
                }
            }
        }
        said
    }
}

/// Requests that a spec makes; none where that depends on the device.
fn requests_of(spec: &str) -> Option<u64> {
    SyntheticSpec::parse(spec, 0).ok().map(|spec| spec.count)
}

impl WorkloadChoice {
    /// Finds out what was meant; a file of that name comes before a bundled workload. `changes`
    /// are settings of the spec, as in `--set workload.KEY=VALUE`.
    pub fn new(
        text: &str,
        reading: &ReadingArguments,
        changes: &[(String, String)],
    ) -> Outcome<Self> {
        let options = options(reading)?;
        let folder = reading.trace_dir.as_deref();
        let found = resolved(text, folder, 0)?;
        if folder.is_some() && found.notes.is_empty() {
            return Err(Failure::usage(format!(
                "--trace-dir has no effect: '{text}' names no stand-in (`ftlab list workloads`)"
            )));
        }
        let mut choice = WorkloadChoice {
            name: text.to_owned(),
            text: found.text,
            options,
            stand_ins: found.stand_ins,
            notes: found.notes,
            whole: found.whole,
        };
        if reading.find_subset {
            choice.narrow(found.real.as_deref())?;
        }
        choice.change(changes)?;
        Ok(choice)
    }

    /// `--find-subset`: of the real trace, only the units that come nearest to its source.
    fn narrow(&mut self, real: Option<&str>) -> Outcome<()> {
        let Some(like) = real else {
            return Err(Failure::usage(
                "--find-subset has no effect without a real trace; legal: with --workload NAME and \
                 --trace-dir DIR that holds it, or `ftlab trace find-subset FILE --like NAME`",
            ));
        };
        if self.options.units != UnitSelection::default() {
            return Err(Failure::usage("--find-subset and --unit exclude each other"));
        }
        let workload = Workload::parse(&self.text, &Options::default(), 0)?;
        let found = find_subset::search(&workload, like)?;
        let units = found.unit_list();
        self.notes.push(format!(
            "Units {units} of {} were used: of all subsets they come nearest to the source of \
             {like} (distance {:.4}).",
            self.text, found.search.nearest[0].distance
        ));
        self.notes.extend(found.not_counted().map(str::to_owned));
        self.options.units = units.parse()?;
        Ok(())
    }

    /// `--set workload.KEY=VALUE`, which shows in the name.
    fn change(&mut self, changes: &[(String, String)]) -> Outcome<()> {
        if changes.is_empty() {
            return Ok(());
        }
        if Path::new(&self.text).exists() || !SyntheticSpec::recognises(&self.text) {
            return Err(Failure::usage(format!(
                "--set workload.{} has no effect: '{}' is not one generated workload (--head N \
                 shortens a trace)",
                changes[0].0, self.name
            )));
        }
        let list: Vec<String> =
            changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let separator = if self.name.contains(':') { ',' } else { ':' };
        self.name = format!("{}{separator}{}", self.name, list.join(","));
        let (spec, touched) = with_changes(&self.text, changes)?;
        self.text = spec;
        for stand_in in &mut self.stand_ins {
            stand_in.changed |= touched;
            stand_in.made = requests_of(&self.text);
        }
        Ok(())
    }

    /// What a result says the workload stands for.
    pub fn stands_for(&self) -> Option<String> {
        // The head of a combination is not that of any of its parts.
        let head = self.options.head.filter(|_| SyntheticSpec::recognises(&self.text));
        let one = |stand_in: &StandIn| match self.stand_ins.len() {
            1 => stand_in.says(head),
            _ => format!("{}: {}", stand_in.name, stand_in.says(head)),
        };
        let mut all: Vec<String> = self.stand_ins.iter().map(one).collect();
        if all.is_empty() {
            return None;
        }
        all.extend(self.head_of_combination());
        Some(all.join(" | "))
    }

    /// That `--head` leaves a part of a combination, if it does.
    fn head_of_combination(&self) -> Option<String> {
        let head = self.options.head.filter(|_| !SyntheticSpec::recognises(&self.text))?;
        let options = Options { head: None, ..self.options.clone() };
        let workload = Workload::parse(&self.text, &options, 0).ok();
        match workload.and_then(|workload| workload.requests_known()) {
            Some(whole) if head >= whole => None,
            Some(whole) => Some(format!("shortened: {} of {} requests", count(head), count(whole))),
            // With a trace among the parts, or as many as the device has pages.
            None => Some(format!("shortened: {} requests at most", count(head))),
        }
    }

    /// Opens it for a device of `logical_bytes`, 0 when that is not known yet.
    pub fn open(&self, logical_bytes: u64) -> Outcome<Workload> {
        Workload::parse(&self.text, &self.options, logical_bytes).map_err(|error| {
            let names = WORKLOADS.iter().map(|workload| workload.name);
            match nearest(&self.text, names).filter(|_| !Path::new(&self.text).exists()) {
                Some(near) => {
                    Failure::usage(format!("{error}; the nearest bundled workload is '{near}'"))
                }
                None => error.into(),
            }
        })
    }

    /// Is it standard input, which can be read only once?
    pub fn is_standard_input(&self) -> bool {
        self.text == "-"
    }
}

/// Does the text name a stand-in, alone or in a combination, whose real trace could take its place?
/// One with settings of its own (`financial:count=5`) has none.
pub fn real_can_replace(text: &str, folder: &Path) -> Outcome<bool> {
    if resolved(text, None, 0)?.stand_ins.is_empty() {
        return Ok(false);
    }
    let plain = WORKLOADS.iter().any(|workload| workload.name == text);
    Ok(plain || resolved(text, Some(folder), 0).is_ok())
}

/// What a text means once names are looked up.
#[derive(Default)]
struct Resolved {
    text: String,
    stand_ins: Vec<StandIn>,
    /// Real traces that took the place of stand-ins, and stand-ins that had to stay.
    notes: Vec<String>,
    /// The stand-in whose real trace is used.
    real: Option<String>,
    /// What that trace has, where it is the whole workload.
    whole: Option<Whole>,
}

/// The text with specs in the place of the names of workloads, or with `--trace-dir` the paths of
/// real traces. A file of that name comes first; settings may follow: `financial:count=1000`.
fn resolved(text: &str, folder: Option<&Path>, depth: usize) -> Outcome<Resolved> {
    /// Far more than combinations may be nested; the reader says how many.
    const DEPTH_MAX: usize = 16;
    let as_it_is = || Resolved { text: text.to_owned(), ..Resolved::default() };
    let exists = Path::new(text).exists();
    if !exists
        && depth < DEPTH_MAX
        && let Some(combination) = Combination::parse(text)?
    {
        return resolved_parts(combination, folder, depth);
    }
    let is_file = text.ends_with(".toml");
    if exists && !is_file {
        return Ok(as_it_is());
    }
    let (name, settings) = match is_file {
        true => (text, ""),
        false => text.split_once(':').unwrap_or((text, "")),
    };
    let file = match WORKLOADS.iter().find(|workload| workload.name == name) {
        Some(bundled) => bundled_file(bundled)?,
        None if is_file => own_file(text)?,
        None => return Ok(as_it_is()),
    };
    let mut notes = Vec::new();
    if let Some(folder) = folder.filter(|_| file.is_stand_in()) {
        match trace_dir::look(folder, name, &file.real)? {
            Instead::Real { path, .. } if !settings.is_empty() => {
                return Err(Failure::usage(format!(
                    "{text}: settings have no effect on the real trace {path}; legal: {name} alone"
                )));
            }
            Instead::Real { path, verdict, whole } => {
                let note = match file.real.note.as_str() {
                    "" => String::new(),
                    note => format!(" Note: {note}."),
                };
                notes.push(format!(
                    "The real trace {path} was used in the place of the stand-in {name}: \
                     {verdict}.{note}"
                ));
                let real = Some(name.to_owned());
                return Ok(Resolved { text: path, stand_ins: Vec::new(), notes, real, whole });
            }
            Instead::Absent { reason } => {
                notes.push(format!("The stand-in {name} was used: {reason}."));
            }
        }
    }
    let mut changes = Vec::new();
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            Failure::usage(format!("{text}: '{setting}' has no value; legal: {name}:KEY=VALUE"))
        })?;
        changes.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let (spec, changed) = with_changes(&file.spec, &changes)?;
    let stand_ins = match file.is_stand_in() {
        true => vec![StandIn {
            name: name.to_owned(),
            source: file.source,
            changed,
            requests: requests_of(&file.spec),
            made: requests_of(&spec),
        }],
        false => Vec::new(),
    };
    Ok(Resolved { text: spec, stand_ins, notes, ..Resolved::default() })
}

fn resolved_parts(
    mut combination: Combination,
    folder: Option<&Path>,
    depth: usize,
) -> Outcome<Resolved> {
    let mut all = Resolved::default();
    for part in &mut combination.parts {
        let own = resolved(&part.text, folder, depth + 1)?;
        *part = part.with_text(own.text);
        all.stand_ins.extend(own.stand_ins);
        all.notes.extend(own.notes);
    }
    all.text = combination.to_string();
    Ok(all)
}

/// What was stated about a trace.
pub fn options(reading: &ReadingArguments) -> Outcome<Options> {
    let time_unit = reading.time_unit.as_deref().map(str::parse).transpose()?;
    let size_unit = reading.size_unit.as_deref().map(str::parse).transpose()?;
    if let Some(name) = &reading.format {
        ftlab_trace::formats::find(name)?;
    }
    if is_each(reading) {
        return Err(Failure::usage(
            "--unit each: only `ftlab compare` runs units apart; legal: all, or numbers with \
             commas between them",
        ));
    }
    if reading.head == Some(0) {
        return Err(Failure::usage("--head 0 leaves no request; legal: 1 or more"));
    }
    Ok(Options {
        format: reading.format.clone(),
        time_unit,
        size_unit,
        parts: reading.parts.as_deref().map(str::parse).transpose()?,
        units: reading.unit.parse()?,
        filter: reading.filter.as_deref().map_or_else(|| Ok(Filter::default()), str::parse)?,
        head: reading.head,
        reorder_window_ns: duration("--reorder-window", &reading.reorder_window)?,
        ..Options::default()
    })
}

/// Is every unit to be run apart (`--unit each`)?
pub fn is_each(reading: &ReadingArguments) -> bool {
    reading.unit.eq_ignore_ascii_case("each")
}

fn duration(flag: &str, text: &str) -> Outcome<u64> {
    use ftlab_engine::config::{Duration, Value};
    Duration::parse(text).map(|duration| duration.0).ok_or_else(|| {
        Failure::usage(format!("{flag} '{text}' is not legal; legal: {}", Duration::legal()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser as _;

    fn choice(text: &str, changes: &[(&str, &str)]) -> Outcome<WorkloadChoice> {
        let typed = ["ftlab", "trace", "inspect", text];
        let Command::Trace(command) = Arguments::parse_from(typed).command else {
            panic!("not a trace command")
        };
        let crate::arguments::TraceCommand::Inspect(typed) = command else {
            panic!("not an inspection")
        };
        let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        let changes: Vec<_> = changes.iter().map(own).collect();
        WorkloadChoice::new(text, &typed.reading, &changes)
    }

    #[test]
    fn every_workload_file_is_bundled_legal_and_described() {
        for bundled in WORKLOADS {
            let workload = bundled_file(bundled).unwrap();
            assert!(!workload.about.is_empty() && !workload.source.is_empty());
        }
        let folder = format!("{}/../../config/workloads", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), WORKLOADS.len());
    }

    #[test]
    fn a_stand_in_says_what_it_stands_for_and_whether_it_was_changed() {
        let plain = choice("financial", &[]).unwrap();
        assert!(plain.stands_for().unwrap().contains("Table 4"));
        let longer = choice("financial", &[("requests", "1000")]).unwrap();
        assert_eq!(longer.name, "financial:requests=1000");
        assert!(longer.text.contains("count=1000,"), "{}", longer.text);
        assert_eq!(
            longer.stands_for().unwrap(),
            format!("{}; shortened: 1,000 of 327,000 requests", plain.stands_for().unwrap()),
            "its length is no statistic, but it is not the source's"
        );
        let mut headed = plain.clone();
        headed.options.head = Some(500);
        assert_eq!(headed.stands_for(), choice("financial:count=500", &[]).unwrap().stands_for());
        headed.options.head = Some(1_000_000);
        assert_eq!(headed.stands_for(), plain.stands_for(), "there are not so many");
        let longer = choice("web1:count=600000", &[]).unwrap().stands_for().unwrap();
        assert!(longer.ends_with("; prolonged: 600,000 requests instead of 300,000"), "{longer}");
        let other = choice("financial:rwmixread=50,count=7", &[]).unwrap();
        assert!(other.text.contains("rwmixread=50,") && other.text.contains("count=7,"));
        assert!(other.stands_for().unwrap().contains("need not fit"));
        assert_eq!(choice("oltp_demo", &[]).unwrap().stands_for(), None);
    }

    /// A made-up trace of three units; one alone reads 99 % and has the size of a web search.
    #[test]
    fn a_real_trace_is_narrowed_to_the_units_that_come_nearest() {
        let file = tempfile::Builder::new().suffix(".spc").tempfile().unwrap();
        let mut lines = String::new();
        for turn in 0..100u64 {
            let searched = if turn == 0 { 'w' } else { 'r' };
            let at = if turn % 7 == 0 { turn * 30 } else { 1_000_000 - turn * 64 };
            lines += &format!("0,{},4096,w,{turn}.1\n", turn * 8);
            lines += &format!("1,{at},15360,{searched},{turn}.2\n");
            lines += &format!("2,{},512,w,{turn}.3\n", 7 * turn);
        }
        std::fs::write(file.path(), lines).unwrap();
        let path = file.path().display().to_string();
        let mut narrowed = choice(&path, &[]).unwrap();
        narrowed.narrow(Some("websearch")).unwrap();
        assert_eq!(narrowed.options.units, "1".parse().unwrap());
        let notes = narrowed.notes.join(" ");
        assert!(notes.contains(&format!("Units 1 of {path} were used")), "{notes}");
        assert!(notes.contains("nearest to the source of websearch (distance "), "{notes}");
        assert!(notes.contains("number of requests is not compared"), "{notes}");
        let count = narrowed.open(0).unwrap().records().unwrap().count();
        assert_eq!(count, 100, "the other units are left out");
        // Units that were chosen by hand are not chosen again.
        let refusal = narrowed.narrow(Some("websearch")).unwrap_err().to_string();
        assert!(refusal.contains("--find-subset and --unit"), "{refusal}");
        let refusal = choice(&path, &[]).unwrap().narrow(None).unwrap_err().to_string();
        assert!(refusal.contains("--trace-dir DIR"), "{refusal}");
    }

    #[test]
    fn names_inside_combinations_become_specs_and_stay_names() {
        let spec = "randread:bs=4k,span=1M,rate_iops=5";
        let both = choice(&format!("phases:(financial:count=5),web1,({spec})"), &[]).unwrap();
        let parts = Combination::parse(&both.text).unwrap().unwrap().parts;
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["financial", "web1", spec]);
        assert!(parts[0].text.starts_with("randrw:") && parts[0].text.contains("count=5,"));
        let said = both.stands_for().unwrap();
        assert!(said.contains("financial: Gupta") && said.contains("web1: Hu"), "{said}");
        assert!(said.contains("shortened: 5 of 327,000 requests | web1"), "{said}");
        assert_eq!(both.open(0).unwrap().parts().unwrap().1, names);
    }

    /// The head of a combination was that of none of its parts, and nothing said so.
    #[test]
    fn the_head_of_a_combination_shortens_the_whole() {
        let mut both = choice("phases:financial,web1", &[]).unwrap();
        let all = both.open(0).unwrap().requests_known().unwrap();
        let said = |choice: &WorkloadChoice| choice.stands_for().unwrap();
        assert!(!said(&both).contains("shortened"), "{}", said(&both));
        both.options.head = Some(5);
        let ending = format!(" | shortened: 5 of {} requests", count(all));
        assert!(said(&both).ends_with(&ending), "{}", said(&both));
        both.options.head = Some(all);
        assert!(!said(&both).contains("shortened"), "{}", said(&both));
    }

    #[test]
    fn changes_that_would_do_nothing_are_refused() {
        let refusal = |text, changes: &[_]| choice(text, changes).unwrap_err().to_string();
        assert!(refusal("-", &[("requests", "5")]).contains("no effect"));
        assert!(refusal("financial:cuont=5", &[]).contains("'count'"));
        assert!(refusal("financial:count", &[]).contains("has no value"));
    }
}
