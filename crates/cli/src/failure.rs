//! Why a command ended without doing what was asked, and the exit code that says so.

use std::fmt;

use ftlab_engine::config::{SettingError, nearest};
use ftlab_engine::ssd::DeviceError;
use ftlab_trace::TraceError;

/// Result of every fallible step of a command.
pub type Outcome<T> = Result<T, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// What was typed or read is not legal.
    Usage(String),
    /// The run itself failed: audit, device full, device worn out.
    Run(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-C, and what was done is kept: where, and how to go on.
    Paused(String),
}

/// Between failures that are told together: each has its line, as if it stood alone.
const NEXT: &str = "\nftlab: ";

impl Failure {
    /// Several failures of runs.
    pub fn together(failures: &[Failure]) -> String {
        failures.iter().map(ToString::to_string).collect::<Vec<_>>().join(NEXT)
    }

    /// Bad usage or input.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Usage(message.into())
    }

    /// A name that is in no table: the nearest legal name, then all of them.
    pub fn unknown(what: &str, name: &str, legal: &[&str]) -> Self {
        let near = match nearest(name, legal.iter().copied()) {
            Some(near) => format!(" (did you mean '{near}'?)"),
            None => String::new(),
        };
        Failure::Usage(format!("unknown {what} '{name}'{near}; legal: {}", legal.join(", ")))
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Run(_) => 1,
            Failure::Usage(_) => 2,
            // What shells report of a program that SIGINT ended.
            Failure::Interrupted | Failure::Paused(_) => 130,
        }
    }

    /// Names the scheme whose run failed; bad input is not the scheme's doing.
    pub fn of(self, scheme: &str) -> Self {
        match self {
            Failure::Run(message) => Failure::Run(format!("{scheme}: {message}")),
            other => other,
        }
    }

    /// Says which part of the workload it concerns, on every line.
    pub fn within(self, part: &str) -> Self {
        let told = |message: String| {
            format!("{part}: {}", message.replace(NEXT, &format!("{NEXT}{part}: ")))
        };
        match self {
            Failure::Usage(message) => Failure::Usage(told(message)),
            Failure::Run(message) => Failure::Run(told(message)),
            other => other,
        }
    }

    /// Settings that do not suit a scheme.
    pub fn unsuited(scheme: &str, error: &SettingError) -> Self {
        Failure::Usage(format!("{scheme}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Run(message) | Failure::Paused(message) => {
                f.write_str(message)
            }
            Failure::Interrupted => f.write_str("interrupted; nothing was written"),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Failure::Run(error.to_string())
    }
}

impl From<SettingError> for Failure {
    fn from(error: SettingError) -> Self {
        Failure::Usage(error.to_string())
    }
}
