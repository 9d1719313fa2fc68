//! `--timing`: when requests arrive.

use ftlab_engine::config::SsdSettings;
use ftlab_engine::units::Nanos;

use crate::failure::{Failure, Outcome};

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

impl Timing {
    /// Reads the option; without it the workload decides. `own_depth` is that of a workload which
    /// is a closed loop itself.
    pub fn parse(text: Option<&str>, own_depth: Option<u32>) -> Outcome<Self> {
        let Some(text) = text else {
            return Ok(match own_depth {
                Some(depth) => Timing::ClosedLoop { depth: Some(depth) },
                None => Timing::Arrivals { scale_millionths: 1_000_000 },
            });
        };
        let wrong = || Failure::usage(format!("--timing '{text}' is not legal; legal: {LEGAL}"));
        let timing = match text.split_once(':') {
            None if text == "trace" => Timing::Arrivals { scale_millionths: 1_000_000 },
            None if text == "asap" => Timing::ClosedLoop { depth: None },
            Some(("trace", scale)) => {
                let scale: f64 = scale.parse().map_err(|_| wrong())?;
                let millionths = (scale * 1e6).round();
                if !(1.0..=1e15).contains(&millionths) {
                    return Err(wrong());
                }
                Timing::Arrivals { scale_millionths: millionths as u64 }
            }
            Some(("closed", depth)) => {
                let depth = depth.parse().ok().filter(|depth| (1..=65536).contains(depth));
                Timing::ClosedLoop { depth: Some(depth.ok_or_else(wrong)?) }
            }
            _ => return Err(wrong()),
        };
        if own_depth.is_some() && matches!(timing, Timing::Arrivals { .. }) {
            return Err(Failure::usage(format!(
                "--timing {text}: this workload is a closed loop and has no arrivals; give it \
                 rate_iops=N, or use asap or closed:DEPTH"
            )));
        }
        Ok(timing)
    }

    /// Requests that a closed loop keeps in flight; none: requests arrive by themselves.
    pub fn in_flight(self, config: &SsdSettings) -> Option<u32> {
        match self {
            Timing::Arrivals { .. } => None,
            Timing::ClosedLoop { depth } => Some(depth.unwrap_or_else(|| config.queue_depth())),
        }
    }

    /// When a request arrives that the workload has at `time`, counted from the first measured
    /// one; none: when the device can take it.
    pub fn arrival(self, time: Nanos) -> Option<Nanos> {
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

    #[test]
    fn scales_stretch_time_and_closed_loops_have_none() {
        let arrival = |text, time| Timing::parse(Some(text), None).unwrap().arrival(time);
        assert_eq!(arrival("trace", 1000), Some(1000));
        assert_eq!(arrival("trace:0.5", 1001), Some(500));
        assert_eq!(arrival("trace:2", 1000), Some(2000));
        assert_eq!(arrival("asap", 1000), None);
        assert_eq!(arrival("closed:4", 1000), None);
    }

    #[test]
    fn the_workload_decides_unless_told_otherwise() {
        let closed = |depth| Timing::ClosedLoop { depth };
        assert_eq!(Timing::parse(None, Some(8)).unwrap(), closed(Some(8)));
        assert_eq!(Timing::parse(Some("asap"), Some(8)).unwrap(), closed(None));
        assert!(Timing::parse(None, None).unwrap().arrival(7) == Some(7));
        let refusal = Timing::parse(Some("trace"), Some(1)).unwrap_err().to_string();
        assert!(refusal.contains("rate_iops"), "{refusal}");
    }

    #[test]
    fn illegal_timings_say_what_is_legal() {
        for text in ["", "trace:0", "trace:-1", "trace:x", "closed:0", "closed", "fast", "asap:1"] {
            let refusal = Timing::parse(Some(text), None).unwrap_err().to_string();
            assert!(refusal.contains("closed:DEPTH"), "{text}: {refusal}");
        }
    }
}
