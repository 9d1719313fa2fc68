//! Results go to Python as their JSON, and come back as that for what is made of them here: the
//! table of the program, its CSV, its page, and the same tables for a notebook.

use ftlab::identify;
use ftlab_lab::{Error, Result, RunResult};
use ftlab_report::describe::{facts, labels, warnings};
use ftlab_report::metrics::{SECTIONS, flatten_all};
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
    written(format, &read(texts)?, comparison)
}

fn read(texts: &[String]) -> Result<Vec<RunResult>> {
    let mut runs = Vec::with_capacity(texts.len());
    for text in texts {
        runs.extend(read_json(text.as_bytes()).map_err(|error| Error::usage(error.to_string()))?);
    }
    Ok(runs)
}

/// The results of a file, or of a comparison: one JSON each.
pub fn apart(text: &str) -> Result<Vec<String>> {
    let runs = read(&[text.to_owned()])?;
    let one = |run: &RunResult| {
        let bytes = written("json", std::slice::from_ref(run), false)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    runs.iter().map(one).collect()
}

/// The tables of the program as a piece of HTML, without style: a notebook has its own.
pub fn notebook(texts: &[String]) -> Result<String> {
    let runs = read(texts)?;
    let flats = flatten_all(&runs);
    let mut html = String::from("<table>");
    for (word, sentence) in facts(&runs) {
        html.push_str(&format!("<tr><th>{}</th><td>{}</td></tr>", safe(word), safe(&sentence)));
    }
    html.push_str("</table>");
    for section in SECTIONS {
        let metrics = section.shown(&flats);
        if metrics.is_empty() {
            continue;
        }
        html.push_str(&format!("<h4>{}</h4><table><tr><th></th>", safe(section.title)));
        let heading = metrics.iter().map(|metric| format!("<th>{}</th>", safe(metric.label)));
        html.extend(heading);
        html.push_str("</tr>");
        for (label, flat) in labels(&runs).iter().zip(&flats) {
            html.push_str(&format!("<tr><th>{}</th>", safe(label)));
            html.extend(metrics.iter().map(|one| format!("<td>{}</td>", safe(&one.text(flat)))));
            html.push_str("</tr>");
        }
        html.push_str("</table>");
    }
    for (schemes, warning) in warnings(&runs) {
        html.push_str(&format!("<p><b>Warning ({})</b>: {}</p>", safe(&schemes), safe(&warning)));
    }
    Ok(html)
}

fn safe(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
