//! What fio writes with `--output-format=json` or `json+`: read as it is, not yet understood.
//!
//! Of fio 3: version 2 told latencies in microseconds under other names. Known oddities that are
//! read: lines of text before and behind the JSON, several documents in one file (`--output` of
//! several runs), and keys `0.00` that stand several times in a list of percentiles (fio 3.1).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::{Error, Result};

/// One document.
#[derive(Clone, Debug, Deserialize)]
pub struct Document {
    /// Version of fio, such as `fio-3.33`.
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    /// Options of the section `[global]`.
    #[serde(rename = "global options", default)]
    pub global: BTreeMap<String, String>,
    /// The jobs.
    pub jobs: Option<Vec<Job>>,
    /// In the place of jobs where fio ran as a client.
    client_stats: Option<IgnoredAny>,
}

/// One entry of the jobs.
#[derive(Clone, Debug, Deserialize)]
pub struct Job {
    /// Its section in the job file.
    #[serde(rename = "jobname")]
    pub name: String,
    /// Jobs of one group ran at the same time.
    #[serde(default)]
    pub groupid: u64,
    /// Not 0 where it failed.
    #[serde(default)]
    pub error: i64,
    /// Its own options.
    #[serde(rename = "job options", default)]
    pub options: BTreeMap<String, String>,
    /// Its reads.
    pub read: Option<Side>,
    /// Its writes.
    pub write: Option<Side>,
    /// Whether its rate settled, where it was to run until then.
    pub steadystate: Option<SteadyState>,
    /// Both together, under `unified_rw_reporting`.
    pub mixed: Option<IgnoredAny>,
}

/// How a job ended that was to run until its rate had settled.
#[derive(Clone, Debug, Deserialize)]
pub struct SteadyState {
    /// 1 where it had.
    pub attained: Option<u64>,
}

/// What a job did in one direction.
#[derive(Clone, Debug, Deserialize)]
pub struct Side {
    /// Requests a second.
    pub iops: Option<f64>,
    /// Requests.
    #[serde(default)]
    pub total_ios: u64,
    /// From the call to submission, ns.
    pub slat_ns: Option<Latency>,
    /// From submission to completion, ns.
    pub clat_ns: Option<Latency>,
    /// Both together, ns.
    pub lat_ns: Option<Latency>,
}

/// One latency, ns.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Latency {
    /// Its mean.
    pub mean: Option<f64>,
    /// By fio's keys (`99.000000`).
    #[serde(default)]
    pub percentile: BTreeMap<String, f64>,
    /// With `json+`: requests by the middle of their bin.
    #[serde(default)]
    pub bins: BTreeMap<String, u64>,
}

/// The documents of a file, at least one, each with its jobs.
///
/// # Errors
/// What is no such file, with its name and, where it is JSON of another shape, its line.
pub fn read(file: &str) -> Result<Vec<Document>> {
    let bytes = std::fs::read(file)
        .map_err(|error| Error::usage(format!("{file}: cannot be read ({error})")))?;
    let text = String::from_utf8_lossy(&bytes);
    parse(file, &text)
}

/// The same of its text.
pub fn parse(file: &str, text: &str) -> Result<Vec<Document>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_object(text, at) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        let document = match stream.next() {
            Some(Ok(document)) => document,
            Some(Err(error)) => return Err(not_of_fio(file, text, start, &error)),
            None => break,
        };
        at = start + stream.byte_offset();
        check(file, text[..start].matches('\n').count() + 1, &document)?;
        found.push(document);
    }
    match found.is_empty() {
        false => Ok(found),
        true => Err(Error::usage(format!(
            "{file}: there is no JSON object in it that begins a line; legal: what fio 3 wrote with \
             --output-format=json+ or json"
        ))),
    }
}

/// Where the next line begins that opens an object, from a place on.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('{') {
            return Some(at + blanks);
        }
        at += line.len();
    }
    None
}

fn not_of_fio(file: &str, text: &str, start: usize, error: &serde_json::Error) -> Error {
    let before = text[..start].matches('\n').count();
    let line = before + error.line().max(1);
    let told = error.to_string();
    let what = told.split(" at line ").next().unwrap_or_default();
    Error::usage(format!(
        "{file}:{line}: {what}; legal: what fio 3 wrote with --output-format=json+ or json"
    ))
}

/// Refuses a document, which begins in that line, that is not of fio 3 or has no job.
fn check(file: &str, line: usize, document: &Document) -> Result<()> {
    let refuse = |why: &str| Err(Error::usage(format!("{file}:{line}: {why}")));
    let Some(version) = &document.version else {
        return refuse(
            "the key 'fio version' is missing; legal: what fio 3 wrote with --output-format=json+ or \
             json",
        );
    };
    if version.trim_start_matches("fio-").split(['.', '-']).next() != Some("3") {
        return refuse(&format!(
            "written by {version}, whose latencies may have other names and units; legal: fio 3"
        ));
    }
    match (&document.jobs, &document.client_stats) {
        (Some(jobs), _) if !jobs.is_empty() => Ok(()),
        (None, Some(_)) => refuse(
            "written by a client of fio servers (client_stats), which mixes machines; legal: the \
             output of a fio that ran beside its drive",
        ),
        _ => refuse(
            "there is no job in it ('jobs'); legal: the output of a fio that ran one job or more",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refusal(text: &str) -> String {
        parse("f.json", text).unwrap_err().to_string()
    }

    const ONE: &str = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {
        "iops": 10.5, "total_ios": 4, "clat_ns": {"mean": 3.0, "percentile":
        {"50.000000": 2, "0.00": 0, "0.00": 0}, "bins": {"3": 4}}}}]}"#;

    #[test]
    fn text_around_the_json_and_keys_that_stand_twice_are_read() {
        let text = format!("fio: a warning\nnote: both\n{ONE}\nbehind it\n{ONE}\n");
        let found = parse("f.json", &text).unwrap();
        assert_eq!(found.len(), 2);
        let side = found[1].jobs.as_ref().unwrap()[0].read.as_ref().unwrap();
        let clat = side.clat_ns.as_ref().unwrap();
        assert_eq!((side.iops, clat.mean, clat.bins["3"]), (Some(10.5), Some(3.0), 4));
        assert_eq!(clat.percentile["50.000000"], 2.0);
    }

    #[test]
    fn what_fio_did_not_write_is_refused_with_file_line_and_field() {
        for none in ["hello\n", "[1,2]\n"] {
            let none = refusal(none);
            assert!(none.starts_with("f.json: there is no JSON object in it"), "{none}");
        }
        assert!(refusal("{}").starts_with("f.json:1: the key 'fio version' is missing"));
        let cut = refusal(&ONE[..60]);
        assert!(cut.starts_with("f.json:1: EOF while parsing"), "{cut}");
        let wrong = refusal(&format!("text\n{}", ONE.replace("10.5", "\"many\"")));
        assert!(wrong.starts_with("f.json:3: invalid type: string \"many\""), "{wrong}");
        let old = refusal(&ONE.replace("fio-3.33", "fio-2.16"));
        assert!(old.starts_with("f.json:1: written by fio-2.16, whose latencies"), "{old}");
        let later = refusal(&format!("text\n{}", ONE.replace("fio-3.33", "fio-30.1")));
        assert!(later.starts_with("f.json:2: written by fio-30.1"), "{later}");
        for known in ["fio-3", "3.1", "fio-3.28-dirty", "fio-3-rc1"] {
            assert!(parse("f.json", &ONE.replace("fio-3.33", known)).is_ok(), "{known}");
        }
        let none = refusal(r#"{"fio version": "fio-3.33", "jobs": []}"#);
        assert!(none.starts_with("f.json:1: there is no job in it ('jobs'); legal: "), "{none}");
        let client = refusal(r#"{"fio version": "fio-3.33", "client_stats": []}"#);
        assert!(client.contains("fio servers (client_stats)"), "{client}");
    }
}
