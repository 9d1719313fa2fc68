//! How a trace is read: `--format`, `--unit`, `--filter` and the other options of that kind.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use ftlab_engine::config::{Duration, Value as _};
use ftlab_trace::{Filter, Options, Parts, SizeUnit, TimeUnit, UnitSelection};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::memory::available_bytes;
use crate::options::text::{Written, as_text, whole};

/// How a trace is read. What is not stated is found out from the content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Reading {
    /// Folder with real traces: one whose stand-in is asked for is used in its place.
    pub trace_dir: Option<PathBuf>,
    /// With `trace_dir`: only the units of the real trace that come nearest to what the stand-in's
    /// source prints.
    pub find_subset: bool,
    /// Trace format, a name of [`FORMATS`](ftlab_trace::formats::FORMATS).
    pub format: Option<String>,
    /// Unit of the time column: `ns`, `filetime`, `us`, `ms`, `s`.
    pub time_unit: Option<Written<TimeUnit>>,
    /// Unit of the size column: `bytes`, `sectors`, `kib`, `pages2k` to `pages16k`.
    pub size_unit: Option<Written<SizeUnit>>,
    /// What several files are to each other: `in_order` or `by_time`.
    pub parts: Option<Written<Parts>>,
    /// Which ASUs, volumes or disks: `all`, numbers with commas between them, or `each`.
    pub unit: Units,
    /// Which requests count: `op=read+write`, `from=10s`, ... with commas between them.
    pub filter: Option<Written<Filter>>,
    /// Only so many requests, at least 1.
    #[serde(with = "whole::optional")]
    pub head: Option<u64>,
    /// Backward steps of time up to this are sorted, larger ones are errors.
    pub reorder_window: ReorderWindow,
    /// Up to so many malformed lines are skipped and counted; 0: the first one is an error.
    #[serde(with = "whole")]
    pub skip_bad: u64,
}

impl Reading {
    /// The names of these options.
    pub const OPTIONS: [&'static str; 11] = [
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
    ];

    /// The same for the reader of traces.
    ///
    /// # Errors
    /// Formats that are unknown, units that are to be run apart, a head of no request.
    pub(crate) fn options(&self) -> Result<Options> {
        if let Some(name) = &self.format {
            ftlab_trace::formats::find(name)?;
        }
        let Units::Together(units) = &self.unit else {
            return Err(Error::usage(
                "--unit each: only `ftlab compare` runs units apart; legal: all, or numbers with \
                 commas between them",
            ));
        };
        if self.head == Some(0) {
            return Err(Error::usage("--head 0 leaves no request; legal: 1 or more"));
        }
        Ok(Options {
            format: self.format.clone(),
            time_unit: self.time_unit.as_deref().copied(),
            size_unit: self.size_unit.as_deref().copied(),
            parts: self.parts.as_deref().copied(),
            units: units.clone(),
            filter: self.filter.as_deref().cloned().unwrap_or_default(),
            head: self.head,
            reorder_window_ns: self.reorder_window.0,
            skip_bad: self.skip_bad,
            request_bytes_max: available_bytes().unwrap_or(u64::MAX),
            ..Options::default()
        })
    }
}

/// `--unit`: which ASUs, volumes or disks of a trace, and whether together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Units {
    /// These, side by side on one device.
    Together(UnitSelection),
    /// Every one apart, on devices of its own: `each`, for comparisons.
    Each,
}

impl Default for Units {
    fn default() -> Self {
        Units::Together(UnitSelection::All)
    }
}

impl FromStr for Units {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.eq_ignore_ascii_case("each") {
            true => Ok(Units::Each),
            false => Ok(Units::Together(text.parse()?)),
        }
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Units::Together(units) => f.write_str(units.list().as_deref().unwrap_or("all")),
            Units::Each => f.write_str("each"),
        }
    }
}

as_text!(Units);

/// `--reorder-window`: how far back in time a trace may step, in nanoseconds; 1 s unless stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderWindow(pub u64);

impl Default for ReorderWindow {
    fn default() -> Self {
        ReorderWindow(Options::default().reorder_window_ns)
    }
}

impl FromStr for ReorderWindow {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Duration::parse(text).map(|duration| ReorderWindow(duration.0)).ok_or_else(|| {
            Error::usage(format!(
                "--reorder-window '{text}' is not legal; legal: {}",
                Duration::legal()
            ))
        })
    }
}

impl fmt::Display for ReorderWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}

as_text!(ReorderWindow);
