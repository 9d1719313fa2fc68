//! `ftlab diff`: what differs between two results or folders of results, and what moved.

use std::path::Path;

use ftlab_lab::{Error, Result};
use ftlab_report::diff::{Side, diff, text};

use crate::arguments::DiffArguments;
use crate::gather::{Found, gather};
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Reads both, compares, prints.
pub fn print_diff(typed: &DiffArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let progress = Progress::new(false, watch);
    let [a, b] = [readable(&typed.a, &progress)?, readable(&typed.b, &progress)?];
    drop(progress);
    let names = [&typed.a, &typed.b].map(|path| path.display().to_string());
    let found = diff(
        Side { name: &names[0], runs: a.runs.runs() },
        Side { name: &names[1], runs: b.runs.runs() },
        typed.all,
    );
    if typed.json {
        let value = serde_json::to_value(&found)
            .map_err(|error| Error::Run(format!("no JSON form: {error}")))?;
        return print::json(&value);
    }
    print::text(&text(&found, typed.all))
}

/// All results of one side; of a comparison nothing may be missing unnoticed.
fn readable(path: &Path, progress: &Progress) -> Result<Found> {
    let found = gather(&[path.to_owned()], progress)?;
    match found.unreadable.is_empty() {
        true => Ok(found),
        false => Err(Error::usage(found.unreadable.join("\n"))),
    }
}
