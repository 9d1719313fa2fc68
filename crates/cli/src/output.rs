//! What result files hold, and which there are.

use ftlab_lab::{Error, Result, RunResult};
use ftlab_report::writers::{Document, writer};

/// Tells of which commit the program is that made a result; of a reproducible one, forgets what
/// differs between equal runs.
pub fn identify(result: &mut RunResult, reproducible: bool) {
    result.made.commit = env!("FTLAB_COMMIT").to_owned();
    if reproducible {
        result.wall = Default::default();
        (result.made.host, result.made.started) = Default::default();
    }
}

/// Files of results: name, and the writer that makes them.
pub type Files = &'static [(&'static str, &'static str)];

/// The files of a comparison.
pub const COMPARISON: Files =
    &[("results.json", "json"), ("results.csv", "csv"), ("report.html", "html")];

/// The files of several comparisons together, for programs.
pub const UNION: Files = &[("results.json", "json"), ("results.csv", "csv")];

/// What the writer of that name makes of the runs.
pub fn written(format: &str, document: &Document<'_>) -> Result<Vec<u8>> {
    let writer = writer(format)
        .ok_or_else(|| Error::Run(format!("the writer '{format}' is missing: a bug")))?;
    Ok((writer.write)(document))
}
