//! Experiments as Python states them, which is their JSON form: every field is the library's, so
//! that a new one is there without a line here.

use ftlab_lab::{Error, Experiment, Inspection, Result};

/// An experiment from JSON.
///
/// # Errors
/// [`Error::Usage`]: an unknown name or a value that is not legal.
pub fn experiment(text: &str) -> Result<Experiment> {
    serde_json::from_str(text).map_err(|error| Error::usage(plain(&error)))
}

/// What is to be looked into: options of reading with the workload, and options of counting.
///
/// # Errors
/// As [`experiment`].
pub fn inspection(reading: &str, counting: &str) -> Result<Inspection> {
    let experiment = experiment(reading)?;
    let counting = serde_json::from_str(counting).map_err(|error| Error::usage(plain(&error)))?;
    Ok(Inspection {
        workload: experiment.workload.clone(),
        reading: experiment.reading(),
        counting,
    })
}

/// What is wrong, without a place in a text that nobody wrote.
fn plain(error: &serde_json::Error) -> String {
    let told = error.to_string();
    told.rsplit_once(" at line ").map_or(told.clone(), |(told, _)| told.to_owned())
}

/// The JSON form, without what has its default.
///
/// # Errors
/// [`Error::Usage`]: a path that is not UTF-8.
pub fn json(experiment: &Experiment) -> Result<String> {
    serde_json::to_string(experiment)
        .map_err(|error| Error::usage(format!("the experiment has no JSON form: {error}")))
}
