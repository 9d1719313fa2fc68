//! Two workloads by their statistics (`ftlab trace compare`), and a generator that is learned from
//! one (`ftlab trace fit`).

use std::fmt::Write as _;

use ftlab_trace::{Compared, Options, Profile, Synthetic, TwinFit, Workload, side_by_side};
use serde_json::{Value, json};
use toml_edit::Value as Toml;

use crate::error::{Error, Result};
use crate::inspection::PageSize;
use crate::observer::{Observer, Steps};
use crate::options::reading::Reading;
use crate::plan::first_pass::description;
use crate::workload::choice::WorkloadChoice;

/// Page of the footprint and of reuse where none is stated, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Two workloads that are to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadPair {
    /// As [`Experiment::workload`](crate::Experiment::workload).
    pub a: String,
    /// The same.
    pub b: String,
    /// How those of the two are read that are traces; `head` is of both.
    pub reading: Reading,
    /// Page of the footprint and of reuse; 4 KiB where none is stated.
    pub page_size: Option<PageSize>,
}

/// What was found of two workloads.
#[derive(Clone, Debug)]
pub struct WorkloadsCompared {
    /// Their names.
    pub names: [String; 2],
    /// A row per statistic.
    pub rows: Vec<Compared>,
    /// The same as JSON.
    pub json: Value,
    /// Of each of them, sentences that a reader must see beside the numbers.
    pub warnings: [Vec<String>; 2],
}

impl WorkloadPair {
    /// Reads both.
    ///
    /// # Errors
    /// What cannot be read or is not legal, and [`Error::Cancelled`].
    pub fn run(&self, observer: &dyn Observer) -> Result<WorkloadsCompared> {
        let a = WorkloadChoice::new(&self.a, &self.reading, &[], Some(observer))?;
        let b = WorkloadChoice::new(&self.b, &self.reading, &[], Some(observer))?;
        let bytes = self.page_size.map_or(PAGE_BYTES, PageSize::bytes);
        let [a, b] = both_readable(a, b);
        let [a, b] = [profile(&a, bytes, observer)?, profile(&b, bytes, observer)?];
        let rows = side_by_side(&a, &b)?;
        let json = json!({
            "schema": "ftlab-workloads/1",
            "page_bytes": bytes,
            "a": { "name": a.name, "sha256": a.sha256, "warnings": a.warnings },
            "b": { "name": b.name, "sha256": b.sha256, "warnings": b.warnings },
            "statistics": rows,
        });
        let warnings = [a.warnings, b.warnings];
        Ok(WorkloadsCompared { names: [a.name, b.name], rows, json, warnings })
    }
}

/// What is said about reading holds for the trace where only one of the two is one.
fn both_readable(mut a: WorkloadChoice, mut b: WorkloadChoice) -> [WorkloadChoice; 2] {
    let generated = |choice: &WorkloadChoice| Synthetic::recognises(&choice.text);
    let plain = |choice: &mut WorkloadChoice| {
        let Options { head, reorder_window_ns, request_bytes_max, .. } = choice.options;
        choice.options =
            Options { head, reorder_window_ns, request_bytes_max, ..Options::default() };
    };
    match (generated(&a), generated(&b)) {
        (true, false) => plain(&mut a),
        (false, true) => plain(&mut b),
        _ => {}
    }
    [a, b]
}

fn profile(choice: &WorkloadChoice, page_bytes: u64, observer: &dyn Observer) -> Result<Profile> {
    let mut profile = profile_of(&choice.open(0)?, page_bytes, observer)?;
    profile.name.clone_from(&choice.name);
    Ok(profile)
}

fn profile_of(workload: &Workload, page_bytes: u64, observer: &dyn Observer) -> Result<Profile> {
    let known = workload.requests_known().map(|requests| 2 * requests);
    let steps = Steps::requests(observer, workload.name(), known);
    let watch = |requests| steps.advance_by(requests);
    Profile::of(workload, page_bytes, watch, |workload| description(workload, observer))
}

/// A workload that a generator is to be learned from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TwinOf {
    /// As [`Experiment::workload`](crate::Experiment::workload), but for standard input.
    pub workload: String,
    /// How it is read.
    pub reading: Reading,
    /// The options of reading as they were stated, for the file.
    pub options: String,
}

/// A generator that was learned.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The workload file.
    pub file: String,
    /// What was found of the trace and its twin.
    pub rows: Vec<Compared>,
    /// Sentences about the trace that a reader must see beside these numbers.
    pub warnings: Vec<String>,
}

impl TwinOf {
    /// Learns, and compares what was learned with what it was learned from.
    ///
    /// # Errors
    /// What cannot be read or is not legal, a workload without a read or a write, and
    /// [`Error::Cancelled`].
    pub fn run(&self, observer: &dyn Observer) -> Result<Twin> {
        let choice = WorkloadChoice::new(&self.workload, &self.reading, &[], Some(observer))?;
        let workload = choice.open(0)?;
        let of = profile_of(&workload, PAGE_BYTES, observer)?;
        let steps = Steps::requests(observer, "learning", workload.requests_known());
        let mut fit = TwinFit::new();
        for record in workload.records()? {
            fit.note(&record?);
            steps.advance()?;
        }
        drop(steps);
        let (requests, left_out) = (fit.requests(), fit.left_out());
        if requests == 0 {
            let words = format!("{}: holds no read and no write to learn from", choice.name);
            return Err(Error::usage(words));
        }
        let model = fit.model()?;
        let written = model.written();
        let twin = Workload::of_model("twin", model, requests)?;
        let rows = side_by_side(&of, &profile_of(&twin, PAGE_BYTES, observer)?)?;
        let mut file = String::new();
        let quoted = |words: &str| Toml::from(words).to_string().trim().to_owned();
        let about = format!("Twin of {}: generated requests of its statistics", choice.name);
        let source = format!(
            "learned by `ftlab trace fit` from {requests} requests of {} (sha256 {})",
            choice.name, of.sha256
        );
        write!(
            file,
            "about = {}\nsource = {}\nspec = \"twin:count={requests},seed=1\"\n\n\
             # What it was learned from, and how far what is generated lies from that. Trims and\n\
             # flushes (left_out) are not learned. Pages are of 4 KiB, extents of 128 KiB.\n\
             [learned]\nname = {}\nsha256 = {}\nrequests = {requests}\nleft_out = {left_out}\n\
             options = {}\ncolumns = \"statistic, of the trace, of the twin\"\nstatistics = [\n",
            quoted(&about),
            quoted(&source),
            quoted(&choice.name),
            quoted(&of.sha256),
            quoted(&self.options),
        )
        .expect("a string takes every character");
        for row in &rows {
            let number =
                |value: Option<f64>| value.map_or("\"none\"".into(), |v| format!("{v:.4}"));
            writeln!(file, "  [\"{}\", {}, {}],", row.name, number(row.a), number(row.b))
                .expect("a string takes every character");
        }
        write!(file, "]\n\n{written}").expect("a string takes every character");
        Ok(Twin { file, rows, warnings: of.warnings })
    }
}
