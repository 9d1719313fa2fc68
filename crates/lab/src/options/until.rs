//! `--until`: when a run ends, if not with its workload.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::options::text::as_text;

/// When a run ends, if not with its workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When so many blocks died of age that the device cannot go on: `worn-out`.
    WornOut,
}

impl FromStr for Until {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "worn-out" => Ok(Until::WornOut),
            _ => Err(Error::usage(format!("--until '{text}' is not legal; legal: worn-out"))),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("worn-out")
    }
}

as_text!(Until);
