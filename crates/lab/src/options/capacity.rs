//! `--capacity`: what the device exports.

use std::fmt;
use std::str::FromStr;

use ftlab_engine::config::{Bytes, Value};

use crate::error::{Error, Result};
use crate::options::text::as_text;

/// What the device exports, where that is not as its file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// This many bytes, at least 1: `16GiB`, `4MiB`.
    Bytes(u64),
    /// What the workload needs, which takes a pass over it: `auto`.
    Auto,
}

impl FromStr for Capacity {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Capacity::Auto),
            text => Ok(Capacity::Bytes(bytes("--capacity", text)?)),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Bytes(bytes) => bytes.fmt(f),
            Capacity::Auto => f.write_str("auto"),
        }
    }
}

as_text!(Capacity);

/// A size of at least one byte.
pub(crate) fn bytes(flag: &str, text: &str) -> Result<u64> {
    match Bytes::parse(text).filter(|bytes| bytes.0 > 0) {
        Some(bytes) => Ok(bytes.0),
        None => Err(Error::usage(format!(
            "{flag} '{text}' is not legal; legal: {}, above 0",
            Bytes::legal()
        ))),
    }
}
