//! Why something was not done, in the words that its user reads.

use ftlab_engine::config::{SettingError, nearest};
use ftlab_engine::occupancy::OccupancyError;
use ftlab_engine::ssd::DeviceError;
use ftlab_trace::TraceError;

/// Result of every fallible step.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. The text names the option, file and line, the value and what is
/// legal, with options as they are called on the command line (`--capacity`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What was asked for, or a file that was read, is not legal: nothing was run.
    #[error("{0}")]
    Usage(String),
    /// The run itself failed: audit, device full, device worn out, results that cannot be written.
    #[error("{0}")]
    Run(String),
    /// An observer ended it. What is kept and how to go on, where something is.
    #[error("{0}")]
    Cancelled(String),
}

/// Between errors that are told together: each has a line.
const NEXT: &str = "\n";

impl Error {
    /// Several errors of runs, each on a line of its own.
    #[must_use]
    pub fn together(errors: &[Error]) -> String {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(NEXT)
    }

    /// Bad usage or input.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage(message.into())
    }

    /// Ended by an observer, and nothing is left of it.
    #[must_use]
    pub fn cancelled() -> Self {
        Error::Cancelled("interrupted; nothing was written".to_owned())
    }

    /// A name that is in no table: the nearest legal name, then all of them.
    #[must_use]
    pub fn unknown(what: &str, name: &str, legal: &[&str]) -> Self {
        let near = match nearest(name, legal.iter().copied()) {
            Some(near) => format!(" (did you mean '{near}'?)"),
            None => String::new(),
        };
        Error::Usage(format!("unknown {what} '{name}'{near}; legal: {}", legal.join(", ")))
    }

    /// Names the scheme whose run failed; bad input is not the scheme's doing.
    pub(crate) fn of(self, scheme: &str) -> Self {
        match self {
            Error::Run(message) => Error::Run(format!("{scheme}: {message}")),
            other => other,
        }
    }

    /// Says which part of the workload it concerns, on every line.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        let told = |message: String| {
            format!("{part}: {}", message.replace(NEXT, &format!("{NEXT}{part}: ")))
        };
        match self {
            Error::Usage(message) => Error::Usage(told(message)),
            Error::Run(message) => Error::Run(told(message)),
            other => other,
        }
    }

    /// Settings that do not suit a scheme.
    pub(crate) fn unsuited(scheme: &str, error: &SettingError) -> Self {
        Error::Usage(format!("{scheme}: {error}"))
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Error::Usage(error.to_string())
    }
}

impl From<OccupancyError> for Error {
    fn from(error: OccupancyError) -> Self {
        match error {
            OccupancyError::Settings(error) => {
                Error::Usage(format!("--precondition model: {error}"))
            }
            OccupancyError::Device(error) => Error::Run(format!("during recovery: {error}")),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        Error::Run(error.to_string())
    }
}

impl From<SettingError> for Error {
    fn from(error: SettingError) -> Self {
        Error::Usage(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_says_which_part_it_concerns() {
        let two = [Error::Run("dftl: full".to_owned()), Error::Run("fast: full".to_owned())];
        let both = Error::Run(Error::together(&two)).within("unit 3");
        assert_eq!(both.to_string(), "unit 3: dftl: full\nunit 3: fast: full");
        assert_eq!(Error::cancelled().within("unit 3"), Error::cancelled());
    }
}
