//! The generated workloads behind one face: an inline spec, a blend of several, or a twin.

use std::fmt;

use super::arrivals::Arrivals;
use super::blend::{Blend, BlendText};
use super::spec::{Mode, SyntheticSpec};
use super::twin::Twin;
use crate::error::{Result, TraceError, nearest};

/// A generated workload, every setting resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Synthetic {
    /// An inline spec.
    Inline(Box<SyntheticSpec>),
    /// Requests drawn from several.
    Blend(Blend),
    /// Learned from a trace.
    Twin(Box<Twin>),
}

impl Synthetic {
    /// Does the text begin like a generated workload: a mode, `blend` or `twin`, before a colon?
    pub fn recognises(text: &str) -> bool {
        text.starts_with("blend:") || text.starts_with("twin:") || SyntheticSpec::recognises(text)
    }

    /// Parses its text for a device of `logical_bytes` (0 if that is not known: then shares of it
    /// are errors).
    ///
    /// # Errors
    /// Unknown names and keys, with the nearest legal one; values out of range, with the range;
    /// keys that would have no effect.
    pub fn parse(text: &str, logical_bytes: u64) -> Result<Self> {
        if text.starts_with("twin:") {
            return Twin::parse(text).map(Box::new).map(Self::Twin);
        }
        match BlendText::parse(text)? {
            Some(blend) => Blend::parse(&blend, logical_bytes).map(Self::Blend),
            None => SyntheticSpec::parse(text, logical_bytes).map(Box::new).map(Self::Inline),
        }
    }

    /// The error about a file that is missing: one whose name looks like an inline spec is most
    /// likely a misspelt one.
    pub(crate) fn hint(text: &str, error: TraceError) -> TraceError {
        let word = text.split(':').next().unwrap_or_default();
        let words = Mode::ALL.iter().map(|(name, _)| *name).chain(["blend", "twin"]);
        let near = nearest(word, words.clone())
            .filter(|mode| strsim::damerau_levenshtein(mode, word) <= 2);
        match near {
            Some(mode) => TraceError::new(format!(
                "neither a file nor a synthetic workload (did you mean '{mode}'?)"
            ))
            .with_value(text.as_bytes())
            .with_legal(format!(
                "a trace file, or one of {}",
                words.collect::<Vec<_>>().join(", ")
            )),
            None => error,
        }
    }

    /// Number of requests.
    pub fn count(&self) -> u64 {
        match self {
            Self::Inline(spec) => spec.count,
            Self::Blend(blend) => blend.count,
            Self::Twin(twin) => twin.count,
        }
    }

    /// Another number of requests, of the same statistics.
    pub(crate) fn set_count(&mut self, count: u64) {
        match self {
            Self::Inline(spec) => spec.count = count,
            Self::Blend(blend) => blend.count = count,
            Self::Twin(twin) => twin.count = count,
        }
    }

    /// Requests in flight, if the loop is closed.
    pub fn closed_loop_depth(&self) -> Option<u32> {
        let arrivals = match self {
            Self::Inline(spec) => &spec.arrivals,
            Self::Blend(blend) => &blend.arrivals,
            Self::Twin(_) => return None,
        };
        match arrivals {
            Arrivals::ClosedLoop { depth } => Some(*depth),
            _ => None,
        }
    }
}

impl fmt::Display for Synthetic {
    /// The canonical form.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(spec) => spec.fmt(out),
            Self::Blend(blend) => blend.fmt(out),
            Self::Twin(twin) => twin.fmt(out),
        }
    }
}
