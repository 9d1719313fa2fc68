//! Twins: requests that have the statistics of a trace that they were learned from
//! (`ftlab trace fit`).
//!
//! Every request gets a class by the class of the one before (follows one of the latest requests,
//! goes where one began before, into a known extent, or opens one), a place by the stack distances
//! and neighbourhoods of that class, and a size that is that of the request before at this place,
//! or drawn. Stack distances are counted together in places and in extents of 128 KiB, so that a
//! twin has the locality of single pages as well as that of blocks. Shares are learned by part of
//! the trace: growth and phases stay where they were. Arrivals are a Markov chain of paces.
//!
//! The LRU stack model is that of Mattson et al. 1970 and Spirn 1976; everything else is ours.
//! Nothing that was measured under a scheme has a part in it.

mod class;
mod file;
mod fit;
mod generator;
mod history;
mod model;
mod recency;
mod tables;
mod wanted;

use std::fmt;

use crate::digest;
use crate::error::{Result, TraceError};
use crate::synthetic::settings::{Settings, number, wrong};

pub(crate) use file::from_table;
pub use fit::TwinFit;
pub use generator::TwinGenerator;
pub(crate) use history::History;
pub use model::Model;

/// Keys of a twin that can be changed; its file cannot.
pub(super) const CHANGEABLE: [&str; 2] = ["count", "seed"];
/// Keys of a twin.
const TWIN_KEYS: [&str; 3] = ["file", "count", "seed"];

/// A generated workload that was learned from a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    model: Model,
    /// Number of requests.
    pub count: u64,
    seed: u64,
}

impl Twin {
    /// Parses `twin:file=FILE.toml,count=N,seed=N` and reads the file.
    ///
    /// # Errors
    /// Unknown keys, a file that cannot be read or holds no twin.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let settings = Settings::parse(text.strip_prefix("twin:").unwrap_or(text), &TWIN_KEYS)?;
        let file = settings.get("file").ok_or_else(|| {
            TraceError::new("a twin needs its file").with_legal("twin:file=FILE.toml,count=N")
        })?;
        let model = file::read(file)?;
        Self::of(&settings, model)
    }

    /// The twin of a model; `text` is `twin:count=N,seed=N`.
    ///
    /// # Errors
    /// Unknown keys, numbers that are out of range.
    pub(crate) fn with_model(text: &str, model: Model) -> Result<Self> {
        let settings = Settings::parse(text.strip_prefix("twin:").unwrap_or(text), &TWIN_KEYS)?;
        settings.refuse("file", false, "nowhere in the spec of the file itself")?;
        Self::of(&settings, model)
    }

    fn of(settings: &Settings<'_>, model: Model) -> Result<Self> {
        let count = settings
            .get("count")
            .ok_or_else(|| wrong("a twin needs its length", "twin", "count=N requests"))
            .and_then(|_| number(settings, "count", 1, 1))?;
        Ok(Self { model, count, seed: number(settings, "seed", 1, 0)? })
    }

    /// The requests.
    pub fn records(&self) -> TwinGenerator {
        TwinGenerator::new(&self.model, self.count, self.seed)
    }
}

impl fmt::Display for Twin {
    /// The canonical form: the model by its digest.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = digest::of_text(&self.model.written());
        write!(out, "twin:model={model},count={},seed={}", self.count, self.seed)
    }
}
