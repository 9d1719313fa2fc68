//! Results go to Python as their JSON, and come back as that for what is made of them here: the
//! table of the program, its CSV, its page.

use ftlab::identify;
use ftlab_lab::{Error, Result, RunResult};
use ftlab_report::read_json;
use ftlab_report::writers::{Document, writer};

/// The bytes of `ftlab run --json`.
pub fn json(mut result: RunResult, reproducible: bool) -> Result<String> {
    identify(&mut result, reproducible);
    let bytes = written("json", std::slice::from_ref(&result), false)?;
    String::from_utf8(bytes).map_err(|error| Error::Run(format!("a result is no UTF-8: {error}")))
}

/// What the writer of that name makes of results that were made or read.
pub fn rewritten(format: &str, texts: &[String], comparison: bool) -> Result<Vec<u8>> {
    let mut runs = Vec::with_capacity(texts.len());
    for text in texts {
        runs.extend(read_json(text.as_bytes()).map_err(|error| Error::usage(error.to_string()))?);
    }
    written(format, &runs, comparison)
}

fn written(format: &str, runs: &[RunResult], comparison: bool) -> Result<Vec<u8>> {
    let writer = writer(format).ok_or_else(|| {
        Error::usage(format!("no writer '{format}'; legal: text, json, csv, html"))
    })?;
    let names: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let device = runs.first().map_or("", |run| run.device.as_str());
    let title = format!("{} on {device}", names.join(", "));
    Ok((writer.write)(&Document { title: &title, runs, comparison }))
}
