//! Workloads by name: bundled ones and files of the user's own stand for an inline spec.

use std::path::Path;

use ftlab_engine::config::nearest;
use ftlab_trace::{Filter, Options, SyntheticSpec, Workload};

use crate::arguments::ReadingArguments;
use crate::devices::{Bundled, bundled};
use crate::failure::{Failure, Outcome};
use crate::settings_file::SettingsFile;

/// Every bundled workload: one file in `config/workloads`, one name here.
pub const WORKLOADS: &[Bundled] = bundled!("workloads": "oltp_demo");

/// Keys of a workload file.
const KEYS: &[&str] = &["about", "source", "spec"];

/// A workload file.
pub struct NamedWorkload {
    /// What it is, in a line.
    pub about: String,
    /// Where its numbers come from.
    pub source: String,
    /// The inline spec.
    pub spec: String,
}

impl NamedWorkload {
    /// Reads the content of a workload file.
    pub fn parse(file: &str, text: &str) -> Outcome<Self> {
        let parsed = SettingsFile::parse(file, text, KEYS)?;
        if let Some(setting) = parsed.settings.first() {
            let legal = KEYS.join(", ");
            let problem = format!("{file}:{}: a workload file has no sections", setting.line);
            return Err(Failure::usage(format!("{problem}; legal keys: {legal}")));
        }
        let Some(spec) = parsed.head("spec") else {
            return Err(Failure::usage(format!("{file}: the key 'spec' is missing")));
        };
        // A capacity of 0 is "not known": shares of the device are for the run to judge.
        if !spec.contains('%') {
            SyntheticSpec::parse(spec, 0)
                .map_err(|error| Failure::usage(format!("{file}: spec: {error}")))?;
        }
        let head = |key: &str| parsed.head(key).unwrap_or_default().to_owned();
        Ok(NamedWorkload { about: head("about"), source: head("source"), spec: spec.to_owned() })
    }
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
}

impl WorkloadChoice {
    /// Finds out what was meant; a file of that name comes before a bundled workload.
    pub fn new(text: &str, reading: &ReadingArguments) -> Outcome<Self> {
        let options = options(reading)?;
        let choice = |spec: &str| WorkloadChoice {
            name: text.to_owned(),
            text: spec.to_owned(),
            options: options.clone(),
        };
        if text.ends_with(".toml") {
            let content = std::fs::read_to_string(text)
                .map_err(|error| Failure::usage(format!("{text}: cannot be read ({error})")))?;
            return Ok(choice(&NamedWorkload::parse(text, &content)?.spec));
        }
        if Path::new(text).exists() {
            return Ok(choice(text));
        }
        match WORKLOADS.iter().find(|workload| workload.name == text) {
            Some(bundled) => Ok(choice(&NamedWorkload::parse(text, bundled.text)?.spec)),
            None => Ok(choice(text)),
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

/// What was stated about a trace.
pub fn options(reading: &ReadingArguments) -> Outcome<Options> {
    let time_unit = reading.time_unit.as_deref().map(str::parse).transpose()?;
    let size_unit = reading.size_unit.as_deref().map(str::parse).transpose()?;
    if let Some(name) = &reading.format {
        ftlab_trace::formats::find(name)?;
    }
    if reading.head == Some(0) {
        return Err(Failure::usage("--head 0 leaves no request; legal: 1 or more"));
    }
    Ok(Options {
        format: reading.format.clone(),
        time_unit,
        size_unit,
        units: reading.unit.parse()?,
        filter: reading.filter.as_deref().map_or_else(|| Ok(Filter::default()), str::parse)?,
        head: reading.head,
        reorder_window_ns: duration("--reorder-window", &reading.reorder_window)?,
        ..Options::default()
    })
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

    #[test]
    fn every_workload_file_is_bundled_legal_and_described() {
        for bundled in WORKLOADS {
            let workload = NamedWorkload::parse(bundled.name, bundled.text).unwrap();
            assert!(!workload.about.is_empty() && !workload.source.is_empty());
        }
        let folder = format!("{}/../../config/workloads", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), WORKLOADS.len());
    }

    #[test]
    fn a_misspelt_key_of_a_workload_file_names_the_nearest() {
        let refused = NamedWorkload::parse("w.toml", "about = \"x\"\nspecs = \"randread\"\n");
        let message = refused.err().unwrap().to_string();
        assert!(message.starts_with("w.toml:2: ") && message.contains("'spec'"), "{message}");
        let section = NamedWorkload::parse("w.toml", "spec = \"randread:span=1M\"\n[a]\nb = 1\n");
        assert!(section.err().unwrap().to_string().contains("w.toml:3: "));
    }
}
