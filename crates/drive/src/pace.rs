//! How simulated time and the time of clients go together.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ftlab_engine::units::Nanos;

/// When a client is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At once; requests arrive as fast as the device takes them.
    Off,
    /// When the device is done, simulated times multiplied by so many millionths; requests arrive
    /// when they do.
    Real(u64),
}

impl Pace {
    /// The simulated time after so much of the clients' time.
    pub fn simulated(self, passed: Duration) -> Nanos {
        let passed = passed.as_nanos();
        match self {
            Pace::Off => 0,
            Pace::Real(millionths) => {
                Nanos::try_from(passed * 1_000_000 / u128::from(millionths)).unwrap_or(Nanos::MAX)
            }
        }
    }

    /// The clients' time at which what is done at a simulated time is answered.
    pub fn answered(self, simulated: Nanos) -> Duration {
        match self {
            Pace::Off => Duration::ZERO,
            Pace::Real(millionths) => {
                let nanos = u128::from(simulated) * u128::from(millionths) / 1_000_000;
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "--timing '{text}' is not legal; legal: off, real, real:SCALE (a number from 0.001 \
                 to 1000, 10 = ten times slower)"
            )
        };
        let scale = match text.split_once(':') {
            None if text == "off" => return Ok(Pace::Off),
            None if text == "real" => 1.0,
            Some(("real", scale)) => scale.parse::<f64>().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        let legal = (0.001..=1000.0).contains(&scale);
        legal.then(|| Pace::Real((scale * 1e6).round() as u64)).ok_or_else(wrong)
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Pace::Off => f.write_str("off"),
            Pace::Real(1_000_000) => f.write_str("real"),
            Pace::Real(millionths) => write!(f, "real:{}", millionths as f64 / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_stretches_the_time_of_clients() {
        let pace: Pace = "real:10".parse().unwrap();
        assert_eq!(pace.to_string(), "real:10");
        assert_eq!(pace.answered(2_000), Duration::from_micros(20));
        assert_eq!(pace.simulated(Duration::from_micros(20)), 2_000);
        assert_eq!(
            ["off", "real"].map(|text| text.parse::<Pace>().unwrap().to_string()),
            ["off", "real"]
        );
    }

    #[test]
    fn what_is_not_legal_is_told_with_what_is() {
        for text in ["on", "real:", "real:0", "real:1e9", "real:NaN", "off:1"] {
            let error = text.parse::<Pace>().unwrap_err();
            assert!(error.contains(text) && error.contains("legal: off, real"), "{error}");
        }
    }
}
