//! An experiment's cross products, turned into runs: each is a command line that anybody can
//! repeat. Runs that several experiments share are the same job.

use std::path::Path;

use clap::Parser as _;

use super::definition::{Definition, InspectionBlock, OptionValue, Options, RunBlock, Variant};
use crate::arguments::{Arguments, Command, InspectArguments, RunArguments, TraceCommand};
use crate::failure::{Failure, Outcome};
use crate::workloads::{self, WorkloadChoice};
use crate::{devices, selection};

/// Options that an experiment cannot give: they write files, or are the command's own.
const RESERVED: [&str; 6] =
    ["scheme", "workload", "json", "requests-out", "save-snapshot", "trace-dir"];

/// What the command adds to every run.
pub struct Setting<'a> {
    /// Only the first requests of each.
    pub quick: bool,
    /// Where real traces are.
    pub trace_dir: Option<&'a Path>,
}

/// One run or inspection of an experiment.
pub struct Job {
    /// Its name in the experiment.
    pub id: String,
    /// The name of its workload there.
    pub workload: String,
    /// The name of its scheme there; none for an inspection.
    pub scheme: Option<String>,
    /// What is typed behind `ftlab`.
    pub words: Vec<String>,
    /// What it needs and is not there.
    pub missing: Option<String>,
    /// Whether its workload is the paper's recorded trace by its own words.
    pub whole: bool,
}

impl Job {
    /// The same for the same work.
    pub fn key(&self) -> String {
        super::definition::sha256(self.words.join("\0").as_bytes())[..24].to_owned()
    }

    /// The command line that repeats it.
    pub fn command(&self) -> String {
        let quoted = |word: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%".contains(c);
            match !word.is_empty() && word.chars().all(plain) {
                true => word.clone(),
                false => format!("'{}'", word.replace('\'', r"'\''")),
            }
        };
        let words: Vec<String> = self.words.iter().map(quoted).collect();
        format!("ftlab {}", words.join(" "))
    }

    /// As clap understands it.
    pub fn parse(&self) -> Outcome<Work> {
        let words = std::iter::once("ftlab").chain(self.words.iter().map(String::as_str));
        let parsed = Arguments::try_parse_from(words).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::usage(format!("run '{}': {}", self.id, first.trim_start_matches("error: ")))
        })?;
        match parsed.command {
            Command::Run(typed) => Ok(Work::Run(Box::new(typed))),
            Command::Trace(TraceCommand::Inspect(typed)) => Ok(Work::Inspection(Box::new(typed))),
            _ => Err(Failure::Run(format!("run '{}' is no run: a bug", self.id))),
        }
    }
}

impl Job {
    /// Whether device, scheme, settings and workload are there, without running anything.
    pub fn check(&self) -> Outcome<()> {
        match self.parse()? {
            Work::Run(typed) => {
                let simulation = &typed.simulation;
                let device = devices::find(&simulation.device.device)?;
                let mut overrides = selection::overrides(&simulation.device)?;
                let changes = selection::workload_changes(&mut overrides)?;
                selection::choose(&typed.scheme, &device.config, &overrides)?;
                WorkloadChoice::new(&simulation.workload, &simulation.reading, &changes)?;
            }
            Work::Inspection(typed) => {
                WorkloadChoice::new(&typed.file, &typed.reading, &[])?;
            }
        }
        Ok(())
    }
}

/// What a job does.
pub enum Work {
    /// `ftlab run`.
    Run(Box<RunArguments>),
    /// `ftlab trace inspect`.
    Inspection(Box<InspectArguments>),
}

/// The jobs of an experiment, in the order of its file.
pub fn jobs(of: &Definition, setting: &Setting<'_>) -> Outcome<Vec<Job>> {
    let mut jobs = Vec::new();
    for block in &of.runs {
        for workload in &block.workloads {
            for variant in variants(block) {
                for scheme in &block.schemes {
                    jobs.push(run(of, setting, block, (workload, variant, scheme))?);
                }
            }
        }
    }
    for block in &of.inspections {
        for workload in &block.workloads {
            jobs.push(inspection(of, setting, block, workload)?);
        }
    }
    let of_kind = |job: &Job| (job.id.clone(), job.scheme.is_some());
    let mut ids: Vec<_> = jobs.iter().map(of_kind).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::usage(format!("{}: run '{}' is there twice", of.name, pair[0].0)));
    }
    for job in &jobs {
        job.parse().map_err(|failure| Failure::usage(format!("{}: {failure}", of.name)))?;
    }
    Ok(jobs)
}

fn variants(block: &RunBlock) -> Vec<Option<&Variant>> {
    match block.variants.is_empty() {
        true => vec![None],
        false => block.variants.iter().map(Some).collect(),
    }
}

fn run(
    of: &Definition,
    setting: &Setting<'_>,
    block: &RunBlock,
    (workload, variant, scheme): (&str, Option<&Variant>, &str),
) -> Outcome<Job> {
    let id = match variant {
        Some(variant) => format!("{workload}/{}/{scheme}", variant.name),
        None => format!("{workload}/{scheme}"),
    };
    let found = source(of, setting, workload);
    let labelled = of.schemes.get(scheme);
    let mut options = Collected::default();
    options.add(&of.options);
    options.add(&block.options);
    options.add_some(found.options);
    options.add_some(variant.map(|variant| &variant.options));
    options.add_some(labelled.map(|labelled| &labelled.options));
    let name = labelled.map_or(scheme, |labelled| labelled.scheme.as_str());
    let mut words: Vec<String> =
        ["run", "--scheme", name, "--workload", &found.text].map(str::to_owned).to_vec();
    options.head(setting, of);
    options.write(&mut words).map_err(|text| refused(of, &id, &text))?;
    found.real(setting, &mut words)?;
    words.push("--quiet".to_owned());
    let scheme = Some(scheme.to_owned());
    let Source { missing, whole, .. } = found;
    Ok(Job { id, workload: workload.to_owned(), scheme, words, missing, whole })
}

fn inspection(
    of: &Definition,
    setting: &Setting<'_>,
    block: &InspectionBlock,
    workload: &str,
) -> Outcome<Job> {
    let found = source(of, setting, workload);
    let mut options = Collected::default();
    options.add_some(found.options);
    options.add(&block.options);
    let mut words: Vec<String> = ["trace", "inspect", &found.text].map(str::to_owned).to_vec();
    options.write(&mut words).map_err(|text| refused(of, workload, &text))?;
    found.real(setting, &mut words)?;
    let id = workload.to_owned();
    let Source { missing, whole, .. } = found;
    Ok(Job { id: id.clone(), workload: id, scheme: None, words, missing, whole })
}

fn refused(of: &Definition, id: &str, text: &str) -> Failure {
    Failure::usage(format!("{}: run '{id}': {text}", of.name))
}

/// What a name of a workload stands for.
struct Source<'a> {
    text: String,
    options: Option<&'a Options>,
    missing: Option<String>,
    whole: bool,
}

fn source<'a>(of: &'a Definition, setting: &Setting<'_>, name: &str) -> Source<'a> {
    let Some(label) = of.workloads.get(name) else {
        return Source { text: name.to_owned(), options: None, missing: None, whole: false };
    };
    let options = Some(&label.options);
    let Some(file) = &label.file else {
        let text = label.workload.clone().unwrap_or_default();
        return Source { text, options, missing: None, whole: false };
    };
    let path = setting.trace_dir.map(|folder| folder.join(file));
    let there = path.as_ref().is_some_and(|path| path.exists());
    let missing = (!there).then(|| format!("it needs {file} in --trace-dir"));
    let text = path.map_or_else(|| file.clone(), |path| path.display().to_string());
    Source { text, options, missing, whole: label.whole }
}

impl Source<'_> {
    /// A real trace takes the place of a stand-in where the user has it.
    fn real(&self, setting: &Setting<'_>, words: &mut Vec<String>) -> Outcome<()> {
        // A real trace takes no settings: what changes the stand-in stays with it.
        let changed = |word: &String| word.starts_with("workload.");
        if let Some(folder) = setting.trace_dir
            && !words.iter().any(changed)
            && workloads::real_can_replace(&self.text, folder)?
        {
            words.extend(["--trace-dir".to_owned(), folder.display().to_string()]);
        }
        Ok(())
    }
}

/// Options that are put together: a later one replaces an earlier one, `set` is added to.
#[derive(Default)]
struct Collected {
    set: Vec<String>,
    others: Options,
}

impl Collected {
    fn add(&mut self, options: &Options) {
        for (name, value) in options {
            match (name.as_str(), value) {
                ("set", OptionValue::List(list)) => {
                    for setting in list {
                        self.add_setting(setting);
                    }
                }
                _ => {
                    self.others.insert(name.clone(), value.clone());
                }
            }
        }
    }

    fn add_some(&mut self, options: Option<&Options>) {
        if let Some(options) = options {
            self.add(options);
        }
    }

    /// A later value of the same key wins, in its place at the end.
    fn add_setting(&mut self, setting: &str) {
        let key = |text: &str| text.split('=').next().unwrap_or_default().trim().to_owned();
        let own = key(setting);
        self.set.retain(|other| key(other) != own);
        self.set.push(setting.to_owned());
    }

    /// In the quick set, only the first requests behind those that prepare the device.
    fn head(&mut self, setting: &Setting<'_>, of: &Definition) {
        if let (true, Some(quick)) = (setting.quick, of.quick) {
            let taken = match self.others.get("precondition") {
                Some(OptionValue::Text(mode)) => mode
                    .split([',', '='])
                    .filter_map(|part| part.trim().strip_prefix("prefix:")?.parse::<i64>().ok())
                    .max(),
                _ => None,
            };
            let wanted = quick.cast_signed().saturating_add(taken.unwrap_or(0));
            let least = match self.others.get("head") {
                Some(OptionValue::Number(own)) => (*own).min(wanted),
                _ => wanted,
            };
            self.others.insert("head".to_owned(), OptionValue::Number(least));
        }
    }

    fn write(&self, words: &mut Vec<String>) -> Result<(), String> {
        for (name, value) in &self.others {
            if RESERVED.contains(&name.as_str()) {
                return Err(format!("option '{name}' cannot stand in an experiment"));
            }
            let flag = format!("--{name}");
            match value {
                OptionValue::Flag(true) => words.push(flag),
                OptionValue::Flag(false) => {}
                OptionValue::Number(number) => words.extend([flag, number.to_string()]),
                OptionValue::Text(text) => words.extend([flag, text.clone()]),
                OptionValue::List(_) if name != "set" => {
                    return Err(format!("option '{name}' takes one value"));
                }
                OptionValue::List(_) => {}
            }
        }
        for setting in &self.set {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::EXPERIMENTS;
    use super::*;

    #[test]
    fn every_experiment_file_is_bundled_and_everything_in_it_exists() {
        let folder = format!("{}/../../config/experiments", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), EXPERIMENTS.len());
        let mut checked = std::collections::BTreeSet::new();
        for bundled in EXPERIMENTS {
            let definition = bundled.experiment().unwrap();
            let jobs = jobs(&definition, &Setting { quick: false, trace_dir: None }).unwrap();
            for job in jobs.iter().filter(|job| job.missing.is_none()) {
                // A device and a scheme with their settings; labels make most of them alike.
                if checked.insert(job.key()) {
                    job.check().unwrap_or_else(|error| panic!("{}: {error}", job.id));
                }
            }
        }
    }

    #[test]
    fn what_supports_an_explanation_is_a_claim() {
        let all: Vec<Definition> =
            EXPERIMENTS.iter().map(|bundled| bundled.experiment().unwrap()).collect();
        let names: Vec<String> = all
            .iter()
            .flat_map(|one| one.claims.iter().map(|claim| format!("{}.{}", one.name, claim.name)))
            .collect();
        for claim in all.iter().flat_map(|one| &one.claims) {
            for name in &claim.supported_by {
                assert!(names.contains(name), "{}: no claim is called {name}", claim.name);
            }
        }
    }

    /// The table of a full run is of these experiments, not of former ones.
    #[test]
    fn the_documented_claims_are_those_of_the_files() {
        let file = format!("{}/../../docs/claims.md", env!("CARGO_MANIFEST_DIR"));
        let documented = std::fs::read_to_string(file).unwrap();
        let mut claims = 0;
        for bundled in EXPERIMENTS {
            let experiment = bundled.experiment().unwrap();
            claims += experiment.claims.len();
            for claim in &experiment.claims {
                let name = format!("`{}.{}`", bundled.name, claim.name);
                assert!(documented.contains(&name), "docs/claims.md lacks {name}");
            }
        }
        assert!(documented.contains(&format!("{claims} claims of {}", EXPERIMENTS.len())));
    }
}
