//! `--probe`: some requests under the microscope.

use std::fmt;
use std::str::FromStr;

use ftlab_report::probe::{PROBE_REQUESTS_MAX, ProbeWindow};

use crate::error::{Error, Result};
use crate::options::text::as_text;

/// Requests that are looked at closely: `FROM:COUNT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The first, counted from 0 in order of arrival among the measured requests.
    pub from: u64,
    /// How many, 1 to 2000.
    pub count: u32,
}

impl Probe {
    /// The window, where the workload is known to have `requests`.
    pub(crate) fn window(self, requests: Option<u64>) -> Result<ProbeWindow> {
        match requests {
            Some(requests) if self.from >= requests => Err(Error::usage(format!(
                "--probe {self} begins behind the workload, which has {requests} requests, 0 to {}",
                requests.saturating_sub(1)
            ))),
            _ => Ok(ProbeWindow { from: self.from, count: self.count }),
        }
    }
}

impl FromStr for Probe {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let probe = || {
            let (from, count) = text.split_once(':')?;
            let count =
                count.parse().ok().filter(|count| (1..=PROBE_REQUESTS_MAX).contains(count))?;
            Some(Probe { from: from.parse().ok()?, count })
        };
        probe().ok_or_else(|| {
            Error::usage(format!(
                "--probe '{text}' is not legal; legal: FROM:COUNT, FROM from 0, COUNT from 1 to \
                 {PROBE_REQUESTS_MAX}"
            ))
        })
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.count)
    }
}

as_text!(Probe);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_first_request_and_a_count() {
        let window = "7:2000".parse::<Probe>().unwrap().window(Some(8)).unwrap();
        assert_eq!((window.from, window.count), (7, 2000));
        for text in ["", "7", "7:0", "7:2001", "-1:5", "7:-5", "a:b", "1:2:3"] {
            let refusal = text.parse::<Probe>().unwrap_err().to_string();
            assert!(refusal.contains("FROM:COUNT") && refusal.contains("2000"), "{refusal}");
        }
        let beyond = "8:1".parse::<Probe>().unwrap().window(Some(8));
        let refusal = beyond.unwrap_err().to_string();
        assert!(refusal.contains("--probe 8:1 begins") && refusal.contains("0 to 7"), "{refusal}");
    }
}
