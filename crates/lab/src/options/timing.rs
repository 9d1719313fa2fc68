//! `--timing`: when requests arrive.

use std::fmt;
use std::str::FromStr;

use ftlab_engine::config::SsdSettings;
use ftlab_engine::units::Nanos;

use crate::error::{Error, Result};
use crate::options::text::as_text;

const LEGAL: &str = "trace, trace:SCALE (a number above 0, 0.5 = twice as fast), asap, \
                     closed:DEPTH (1 to 65536)";

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// As the workload says, its times multiplied by so many millionths.
    Arrivals {
        /// 1,000,000 leaves them as they are.
        scale_millionths: u64,
    },
    /// Each as soon as the device can take it.
    ClosedLoop {
        /// Requests in flight, in driver and device; none: the device's own queue depth.
        depth: Option<u32>,
    },
}

impl FromStr for Timing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::usage(format!("--timing '{text}' is not legal; legal: {LEGAL}"));
        match text.split_once(':') {
            None if text == "trace" => Ok(AS_RECORDED),
            None if text == "asap" => Ok(Timing::ClosedLoop { depth: None }),
            Some(("trace", scale)) => {
                let scale: f64 = scale.parse().map_err(|_| wrong())?;
                let millionths = (scale * 1e6).round();
                match (1.0..=1e15).contains(&millionths) {
                    true => Ok(Timing::Arrivals { scale_millionths: millionths as u64 }),
                    false => Err(wrong()),
                }
            }
            Some(("closed", depth)) => {
                let depth = depth.parse().ok().filter(|depth| (1..=65536).contains(depth));
                Ok(Timing::ClosedLoop { depth: Some(depth.ok_or_else(wrong)?) })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            AS_RECORDED => f.write_str("trace"),
            Timing::Arrivals { scale_millionths } => {
                write!(f, "trace:{}", scale_millionths as f64 / 1e6)
            }
            Timing::ClosedLoop { depth: None } => f.write_str("asap"),
            Timing::ClosedLoop { depth: Some(depth) } => write!(f, "closed:{depth}"),
        }
    }
}

as_text!(Timing);

/// Arrivals as the workload has them.
const AS_RECORDED: Timing = Timing::Arrivals { scale_millionths: 1_000_000 };

impl Timing {
    /// As it was stated; without that the workload decides. `own_depth` is that of a workload which
    /// is a closed loop itself.
    pub(crate) fn of(stated: Option<Self>, own_depth: Option<u32>) -> Result<Self> {
        match (stated, own_depth) {
            (None, Some(depth)) => Ok(Timing::ClosedLoop { depth: Some(depth) }),
            (None, None) => Ok(AS_RECORDED),
            (Some(timing @ Timing::Arrivals { .. }), Some(_)) => Err(Error::usage(format!(
                "--timing {timing}: this workload is a closed loop and has no arrivals; give it \
                 rate_iops=N, or use asap or closed:DEPTH"
            ))),
            (Some(timing), _) => Ok(timing),
        }
    }

    /// Requests that a closed loop keeps in flight; none: requests arrive by themselves.
    pub(crate) fn in_flight(self, config: &SsdSettings) -> Option<u32> {
        match self {
            Timing::Arrivals { .. } => None,
            Timing::ClosedLoop { depth } => Some(depth.unwrap_or_else(|| config.queue_depth())),
        }
    }

    /// What the workload's times are multiplied by; 1 in a closed loop.
    pub(crate) fn scale(self) -> f64 {
        match self {
            Timing::Arrivals { scale_millionths } => scale_millionths as f64 / 1e6,
            Timing::ClosedLoop { .. } => 1.0,
        }
    }

    /// When a request arrives that the workload has at `time`, counted from the first measured
    /// one; none: when the device can take it.
    pub(crate) fn arrival(self, time: Nanos) -> Option<Nanos> {
        match self {
            Timing::Arrivals { scale_millionths: 1_000_000 } => Some(time),
            Timing::Arrivals { scale_millionths } => {
                let scaled = u128::from(time) * u128::from(scale_millionths) / 1_000_000;
                // Centuries of simulated time are as good as any other wrong number.
                Some(u64::try_from(scaled).unwrap_or(u64::MAX / 4).min(u64::MAX / 4))
            }
            Timing::ClosedLoop { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(text: &str) -> Timing {
        let timing: Timing = text.parse().unwrap();
        assert_eq!(timing.to_string(), text);
        timing
    }

    #[test]
    fn scales_stretch_time_and_closed_loops_have_none() {
        let arrival = |text, time| timing(text).arrival(time);
        assert_eq!(arrival("trace", 1000), Some(1000));
        assert_eq!(arrival("trace:0.5", 1001), Some(500));
        assert_eq!(arrival("trace:2", 1000), Some(2000));
        assert_eq!(arrival("asap", 1000), None);
        assert_eq!(arrival("closed:4", 1000), None);
    }

    #[test]
    fn the_workload_decides_unless_told_otherwise() {
        let closed = |depth| Timing::ClosedLoop { depth };
        assert_eq!(Timing::of(None, Some(8)).unwrap(), closed(Some(8)));
        assert_eq!(Timing::of(Some(timing("asap")), Some(8)).unwrap(), closed(None));
        assert!(Timing::of(None, None).unwrap().arrival(7) == Some(7));
        let refusal = Timing::of(Some(timing("trace")), Some(1)).unwrap_err().to_string();
        assert!(refusal.contains("--timing trace:") && refusal.contains("rate_iops"), "{refusal}");
    }

    #[test]
    fn illegal_timings_say_what_is_legal() {
        for text in ["", "trace:0", "trace:-1", "trace:x", "closed:0", "closed", "fast", "asap:1"] {
            let refusal = text.parse::<Timing>().unwrap_err().to_string();
            assert!(refusal.contains("closed:DEPTH"), "{text}: {refusal}");
        }
    }
}
