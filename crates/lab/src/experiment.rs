//! An experiment: the options of a run, typed, under the names that they have on the command line.

use std::path::PathBuf;

use ftlab_engine::own::OwnPolicies;
use ftlab_trace::{AddressMode, Filter, Parts, SizeUnit, TimeUnit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::options::capacity::Capacity;
use crate::options::precondition::Modes;
use crate::options::probe::Probe;
use crate::options::ram::Ram;
use crate::options::reading::{Reading, ReorderWindow, Units};
use crate::options::schemes::Schemes;
use crate::options::settings::Settings;
use crate::options::text::{Written, quoted, whole};
use crate::options::timing::Timing;
use crate::options::until::Until;

/// What is to be run: schemes, a device, a workload, and how they meet.
///
/// In TOML and JSON a field is called as the option on the command line (`precondition`,
/// `trace-dir`, `loop`) and holds the text that the option takes; numbers may stand as numbers.
/// What is left out has its default, and defaults are left out when an experiment is written. An
/// unknown name is an error that says which names there are.
///
/// ```
/// # fn main() -> Result<(), ftlab_lab::Error> {
/// let text = "schemes = 'dftl'\ndevice = 'dftl2014'\nworkload = 'financial'\ncapacity = '1GiB'\n";
/// let experiment = ftlab_lab::Experiment::from_toml(text)?;
/// assert_eq!(experiment.capacity, Some(ftlab_lab::Capacity::Bytes(1 << 30)));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Experiment {
    /// Schemes by name, `all`, or `family:NAME`.
    #[serde(alias = "scheme", skip_serializing_if = "is_default")]
    pub schemes: Schemes,
    /// A bundled device ([`DEVICES`](crate::devices::DEVICES)), or a path to a TOML file.
    #[serde(skip_serializing_if = "is_default")]
    pub device: String,
    /// What the device exports; as its file says where nothing is stated.
    #[serde(skip_serializing_if = "is_default")]
    pub capacity: Option<Capacity>,
    /// A host write buffer in front of every scheme, by name.
    #[serde(skip_serializing_if = "is_default")]
    pub buffer: Option<String>,
    /// Settings that are overridden, as `KEY=VALUE`.
    #[serde(skip_serializing_if = "is_default")]
    pub set: Settings,

    /// A trace file, a folder or glob of parts, `-` for standard input, a bundled workload
    /// ([`WORKLOADS`](crate::workloads::WORKLOADS)), or an inline spec.
    #[serde(skip_serializing_if = "is_default")]
    pub workload: String,
    /// Folder with real traces: one whose stand-in is asked for is used in its place.
    #[serde(skip_serializing_if = "is_default")]
    pub trace_dir: Option<PathBuf>,
    /// With `trace_dir`: only the units of the real trace that come nearest to what the stand-in's
    /// source prints.
    #[serde(skip_serializing_if = "is_default")]
    pub find_subset: bool,
    /// Trace format, a name of [`FORMATS`](ftlab_trace::formats::FORMATS); found out from the
    /// content where nothing is stated.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Option<String>,
    /// Unit of the time column: `ns`, `filetime`, `us`, `ms`, `s`.
    #[serde(skip_serializing_if = "is_default")]
    pub time_unit: Option<Written<TimeUnit>>,
    /// Unit of the size column: `bytes`, `sectors`, `kib`, `pages2k` to `pages16k`.
    #[serde(skip_serializing_if = "is_default")]
    pub size_unit: Option<Written<SizeUnit>>,
    /// What several files are to each other: `in_order` or `by_time`.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: Option<Written<Parts>>,
    /// Which ASUs, volumes or disks: `all`, numbers with commas between them, or `each`.
    #[serde(skip_serializing_if = "is_default")]
    pub unit: Units,
    /// Which requests count: `op=read+write`, `from=10s`, ... with commas between them.
    #[serde(skip_serializing_if = "is_default")]
    pub filter: Option<Written<Filter>>,
    /// Only so many requests, at least 1.
    #[serde(with = "whole::optional", skip_serializing_if = "is_default")]
    pub head: Option<u64>,
    /// Backward steps of time up to this are sorted, larger ones are errors.
    #[serde(skip_serializing_if = "is_default")]
    pub reorder_window: ReorderWindow,
    /// Up to so many malformed lines of a trace are skipped and counted; 0: the first one is an
    /// error.
    #[serde(with = "whole", skip_serializing_if = "is_default")]
    pub skip_bad: u64,

    /// Trace addresses on the device: `strict`, `modulo` or `dense`.
    #[serde(default = "strict", skip_serializing_if = "is_strict")]
    pub address: Written<AddressMode>,
    /// What is done to the devices before the measurement.
    #[serde(skip_serializing_if = "is_default")]
    pub precondition: Modes,
    /// When requests arrive; as the workload says where nothing is stated.
    #[serde(skip_serializing_if = "is_default")]
    pub timing: Option<Timing>,
    /// SRAM of the controller; `device.ram_bytes` where nothing is stated.
    #[serde(skip_serializing_if = "is_default")]
    pub ram: Option<Ram>,
    /// Leave out schemes that need more than `ram`.
    #[serde(skip_serializing_if = "is_default")]
    pub ram_strict: bool,
    /// Compare every read with what was written last.
    #[serde(skip_serializing_if = "is_default")]
    pub verify: bool,
    /// Repeat the workload until the device is worn out; not together with `passes`.
    #[serde(skip_serializing_if = "is_default")]
    pub until: Option<Until>,
    /// Run the workload so many times, at least once (`loop`).
    #[serde(rename = "loop", with = "whole::optional", skip_serializing_if = "is_default")]
    pub passes: Option<u64>,
    /// Seed of every random stream but that of an inline spec; 1 where nothing is stated.
    #[serde(with = "whole", skip_serializing_if = "is_one")]
    pub seed: u64,

    /// Requests under the microscope: the first and how many.
    #[serde(skip_serializing_if = "is_default")]
    pub probe: Option<Probe>,
    /// What the time of the slowest requests went into, and the ten worst one by one.
    #[serde(skip_serializing_if = "is_default")]
    pub tail: bool,
    /// A row per request to this new file, which ends in `.csv` or `.parquet`; of a comparison a
    /// file per scheme, `FILE-SCHEME`, and `FILE-unit-N-SCHEME` where units run apart.
    #[serde(skip_serializing_if = "is_default")]
    pub requests_out: Option<PathBuf>,
    /// What the device did for the requests of `probe`, or for the first 2000, as trace events for
    /// Perfetto, to this new file, which ends in `.json`; of a comparison a file per scheme as with
    /// `requests_out`.
    #[serde(skip_serializing_if = "is_default")]
    pub trace_out: Option<PathBuf>,
    /// Flash and phase-change memory as they are after a run of one scheme, to this new file.
    #[serde(skip_serializing_if = "is_default")]
    pub save_snapshot: Option<PathBuf>,

    /// Choices that the program makes itself in the place of a policy of a table; their settings
    /// are set to `own`. No option: a text cannot hold them.
    #[serde(skip)]
    pub own: OwnPolicies,
}

impl Experiment {
    /// The names of all options.
    pub const OPTIONS: [&'static str; 31] = [
        "schemes",
        "device",
        "capacity",
        "buffer",
        "set",
        "workload",
        "trace-dir",
        "find-subset",
        "format",
        "time-unit",
        "size-unit",
        "parts",
        "unit",
        "filter",
        "head",
        "reorder-window",
        "skip-bad",
        "address",
        "precondition",
        "timing",
        "ram",
        "ram-strict",
        "verify",
        "until",
        "loop",
        "seed",
        "probe",
        "tail",
        "requests-out",
        "trace-out",
        "save-snapshot",
    ];

    /// An experiment from TOML.
    ///
    /// # Errors
    /// An unknown name, or a value that is not legal, with its line and what is legal. Whether
    /// everything goes together shows when it is planned.
    pub fn from_toml(text: &str) -> Result<Self> {
        toml_edit::de::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..at].matches('\n').count() + 1;
            Error::usage(format!("line {line}: {}", error.message().trim().replace('\n', "; ")))
        })
    }

    /// The experiment as TOML, without what has its default.
    ///
    /// # Errors
    /// A path that is not UTF-8, which TOML cannot hold.
    pub fn to_toml(&self) -> Result<String> {
        toml_edit::ser::to_string_pretty(self)
            .map_err(|error| Error::usage(format!("the experiment has no TOML form: {error}")))
    }

    /// The command line of the same experiment, without the files that it writes, which a
    /// comparison needs a folder for: `run` where one scheme is named, else `compare`. Empty where
    /// a path is not UTF-8, and where a program decides itself.
    #[must_use]
    pub fn command(&self) -> String {
        if self.own != OwnPolicies::default() {
            return String::new();
        }
        let own =
            Experiment { requests_out: None, trace_out: None, save_snapshot: None, ..self.clone() };
        let Ok(values) = serde_json::to_value(own) else { return String::new() };
        let schemes = quoted(&self.schemes.to_string());
        let mut words = vec![match self.schemes.is_one() {
            true => format!("ftlab run --scheme {schemes}"),
            false => format!("ftlab compare --schemes {schemes}"),
        }];
        for name in Self::OPTIONS.iter().filter(|name| **name != "schemes") {
            match values.get(name) {
                None | Some(Value::Null | Value::Bool(false)) => {}
                Some(Value::Bool(true)) => words.push(format!("--{name}")),
                Some(Value::Array(list)) => {
                    let texts = list.iter().filter_map(Value::as_str);
                    words.extend(texts.map(|text| format!("--{name} {}", quoted(text))));
                }
                Some(Value::String(text)) => words.push(format!("--{name} {}", quoted(text))),
                Some(other) => words.push(format!("--{name} {other}")),
            }
        }
        if !self.schemes.is_one() {
            words.push("--out DIR".to_owned());
        }
        words.join(" ")
    }

    /// How its workload is read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        Reading {
            trace_dir: self.trace_dir.clone(),
            find_subset: self.find_subset,
            format: self.format.clone(),
            time_unit: self.time_unit.clone(),
            size_unit: self.size_unit.clone(),
            parts: self.parts.clone(),
            unit: self.unit.clone(),
            filter: self.filter.clone(),
            head: self.head,
            reorder_window: self.reorder_window,
            skip_bad: self.skip_bad,
        }
    }

    /// The same experiment with its workload read in another way.
    #[must_use]
    pub fn with_reading(self, reading: Reading) -> Self {
        let Reading { trace_dir, find_subset, format, time_unit, size_unit, .. } = reading;
        let Reading { parts, unit, filter, head, reorder_window, skip_bad, .. } = reading;
        Experiment {
            trace_dir,
            find_subset,
            format,
            time_unit,
            size_unit,
            parts,
            unit,
            filter,
            head,
            reorder_window,
            skip_bad,
            ..self
        }
    }
}

impl Default for Experiment {
    /// No scheme, no device, no workload; the defaults of the command line otherwise.
    fn default() -> Self {
        Experiment {
            schemes: Schemes::default(),
            device: String::new(),
            capacity: None,
            buffer: None,
            set: Settings::default(),
            workload: String::new(),
            trace_dir: None,
            find_subset: false,
            format: None,
            time_unit: None,
            size_unit: None,
            parts: None,
            unit: Units::default(),
            filter: None,
            head: None,
            reorder_window: ReorderWindow::default(),
            skip_bad: 0,
            address: strict(),
            precondition: Modes::default(),
            timing: None,
            ram: None,
            ram_strict: false,
            verify: false,
            until: None,
            passes: None,
            seed: 1,
            probe: None,
            tail: false,
            requests_out: None,
            trace_out: None,
            save_snapshot: None,
            own: OwnPolicies::default(),
        }
    }
}

fn strict() -> Written<AddressMode> {
    Written::known(AddressMode::Strict.name(), AddressMode::Strict)
}

fn is_strict(address: &Written<AddressMode>) -> bool {
    **address == AddressMode::Strict
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_one(seed: &u64) -> bool {
    *seed == 1
}
