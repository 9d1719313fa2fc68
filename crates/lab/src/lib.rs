//! Experiments with flash translation layers, as a library: what is to be run is stated, planned,
//! run, compared and judged. It knows no terminal, no exit code and no arguments; the command
//! `ftlab` is built on it.
//!
//! An [`Experiment`] has one field per option of a run, and its [plan](Experiment::plan) refuses
//! everything that can be refused before a run. [`Plan::run`] runs one scheme,
//! [`Experiment::compare`] several side by side, and [`Experiment::compare_units`] every unit of a
//! trace apart. An [`Observer`] is told of progress and may cancel. There is no state but what is
//! passed in, so that any number of experiments can go on side by side in one process.
//!
//! Results are [`RunResult`]s, whose JSON is described in INTERFACE.md of the project; they are the
//! same on every machine and for any number of threads, except for `wall`.
//!
//! ```
//! use ftlab_lab::{Experiment, Silent};
//!
//! # fn main() -> Result<(), ftlab_lab::Error> {
//! let experiment = Experiment {
//!     schemes: "dftl".into(),
//!     device: "dftl2014".to_owned(),
//!     workload: "oltp_demo".to_owned(),
//!     head: Some(20_000),
//!     ..Experiment::default()
//! };
//! let result = experiment.plan()?.run(&Silent)?;
//! println!("{} pages programmed per page written", result.waf.unwrap_or_default());
//! # assert!(result.waf.is_some_and(|waf| waf >= 1.0));
//! # Ok(()) }
//! ```

mod bundled;
pub mod calibrate;
mod compare;
pub mod devices;
mod error;
mod experiment;
mod files;
pub mod flash_image;
pub mod fuzzing;
mod inspection;
mod kept;
mod memory;
mod memory_use;
mod observer;
mod options;
mod plan;
pub mod prices;
pub mod reproduce;
mod run;
mod selection;
mod serving;
mod settings_file;
mod sizing;
pub mod sweep;
mod twins;
mod unfinished;
mod units;
mod workload;

pub use bundled::Bundled;
pub use compare::{Compared, Comparison, Complete, check_beside};
pub use error::{Error, Result};
pub use experiment::Experiment;
pub use files::{CompleteFile, ResultFile};
pub use ftlab_report::RunResult;
pub use inspection::{Counting, Inspection, PageSize, Sizes};
pub use kept::KeptRuns;
pub use memory_use::{Memories, SchemeMemory};
pub use observer::{Counts, Observer, Silent, Task, Work};
pub use options::capacity::Capacity;
pub use options::precondition::{Cache, Mode, Modes};
pub use options::probe::Probe;
pub use options::ram::Ram;
pub use options::reading::{Reading, ReorderWindow, Units};
pub use options::schemes::Schemes;
pub use options::settings::Settings;
pub use options::text::{Written, quoted};
pub use options::timing::Timing;
pub use options::until::Until;
pub use plan::plan::Plan;
pub use run::finished::Finished;
pub use serving::{Seen, Served, Serving};
pub use twins::{Twin, TwinOf, WorkloadPair, WorkloadsCompared};
pub use unfinished::{Claimed, Unfinished};
pub use units::{RUNS_MAX, UNITS_MAX, UnitComparisons, unit_name};

/// Workloads: bundled files, opening them without a device, and the units of a trace that come
/// nearest to what a paper prints.
pub mod workloads {
    pub use crate::workload::files::{WORKLOADS, bundled_file, own_file};
    pub use crate::workload::opening::{find_subset, open};
    pub use crate::workload::subset::{Found, list};
}
