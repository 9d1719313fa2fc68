//! Workloads by themselves, without a device.

use ftlab_trace::Workload;

use crate::error::Result;
use crate::observer::{Observer, Silent};
use crate::options::reading::Reading;
use crate::workload::choice::WorkloadChoice;
use crate::workload::subset::{Found, search};

/// Opens a workload: a trace file, a folder or glob of parts, `-`, a bundled workload, or an inline
/// spec, read as `reading` says.
///
/// # Errors
/// What cannot be read, units in doubt, names and settings that are unknown.
pub fn open(text: &str, reading: &Reading) -> Result<Workload> {
    WorkloadChoice::new(text, reading, &[], Some(&Silent))?.open(0)
}

/// Searches the units of the trace `text` for those that together have the published statistics of
/// the stand-in `like`, watched.
///
/// # Errors
/// Unknown stand-ins, stand-ins without the statistics, traces that cannot be read, and
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn find_subset(
    text: &str,
    reading: &Reading,
    like: &str,
    observer: &dyn Observer,
) -> Result<Found> {
    let choice = WorkloadChoice::new(text, reading, &[], Some(observer))?;
    search(&Workload::parse(&choice.text, &reading.options()?, 0)?, like, observer)
}
