//! `--ram`: how much SRAM the controller has.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::options::capacity::bytes;
use crate::options::text::as_text;

/// SRAM of the controller, which bounds map caches, log maps and write buffer together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ram {
    /// This many bytes, at least 1.
    Bytes(u64),
    /// As much as another scheme takes on the same device, or one of its structures:
    /// `like:SCHEME` or `like:SCHEME.structure`.
    Like(String),
}

impl FromStr for Ram {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("like:") {
            Some(like) => Ok(Ram::Like(like.to_owned())),
            None => Ok(Ram::Bytes(bytes("--ram", text)?)),
        }
    }
}

impl fmt::Display for Ram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ram::Bytes(bytes) => bytes.fmt(f),
            Ram::Like(like) => write!(f, "like:{like}"),
        }
    }
}

as_text!(Ram);
