//! How a run was made, and the device before it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the device was prepared before the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Precondition {
    /// The mode as given: `none`, `fill`, `touch`, `prefix:N`, ...
    pub mode: String,
    /// Requests issued.
    pub requests: u64,
    /// Logical pages written.
    pub pages_written: u64,
    /// Blocks erased meanwhile.
    pub erases: u64,
    /// How map cache and write buffer were left: `warm`, as preparing left them; `clean`, written
    /// back and kept; `cold`, written back and emptied. Empty in results of versions before that.
    pub cache: String,
    /// Changed map entries that were written back for that.
    pub written_back: u64,
    /// What the measured part found in memory and has to write.
    pub inherited: Inherited,
}

/// What memory held when the measured part began and flash did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Inherited {
    /// Changed entries of the map cache.
    pub changed_map_entries: u64,
    /// Pages of data in the write buffer.
    pub buffered_pages: u64,
}

impl Inherited {
    /// Whether there was anything.
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Inherited::default()
    }
}

/// By what a run was made: enough to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Made {
    /// The command of this run and of those that it was compared with, which share the size of the
    /// device; its working folder is not told, and `DIR` stands for a new one.
    pub command: String,
    /// When requests arrived, as `--timing` takes it.
    pub timing: String,
    /// Which requests of the workload counted, as `--filter` takes it; null: all.
    pub filter: Option<String>,
    /// Commit of the program; empty where a program that uses the library does not tell.
    pub commit: String,
    /// How the program was compiled: `optimised`, or `with debug assertions`.
    pub build: String,
    /// Name of the machine and its cores; empty with `--reproducible`.
    pub host: String,
    /// When the run began, RFC 3339 in UTC; empty with `--reproducible`.
    pub started: String,
}
