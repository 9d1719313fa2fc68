//! When requests arrive: a closed loop, equal distances, Poisson, or a mixture of exponential gaps
//! (hyper-exponential, with bursts that last when `gap_run` is above 1).

use super::random::{Purpose, Stream};
use super::settings::{Settings, number, wrong};
use crate::error::{Result, unknown_name};
use crate::size::parse_millionths;

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// As soon as one of `depth` slots is free; every record has the time 0.
    ClosedLoop {
        /// Requests in flight.
        depth: u32,
    },
    /// At equal distances.
    Fixed {
        /// Requests in 1000 s.
        milli_iops: u64,
    },
    /// At exponential distances.
    Poisson {
        /// Requests in 1000 s, on average.
        milli_iops: u64,
    },
    /// At exponential distances whose mean is drawn from a few. With means m and shares p the
    /// squared coefficient of variation is `2 * sum(p m^2) / sum(p m)^2 - 1`.
    Gaps {
        /// Means in nanoseconds and their shares in millionths, which add up to a million.
        parts: Vec<(u64, u64)>,
        /// The mean is drawn anew after this many gaps on average; 1 = for every gap.
        run: u64,
    },
}

/// Most parts of `gaps`.
const PARTS_MAX: usize = 16;

const GAPS: &str = "MEAN/PERCENT with colons between (0.3ms/80:40ms/20), percentages adding up to \
                    100, or one MEAN; a MEAN is above 0 and up to 1000 s, in ns, us, ms or s";

impl Arrivals {
    /// `iodepth`, `rate_iops` with `rate_process`, or `gaps` with `gap_run`.
    pub(super) fn parse(settings: &Settings<'_>) -> Result<Self> {
        if let Some(text) = settings.get("gaps") {
            for key in ["rate_iops", "rate_process", "iodepth"] {
                settings.refuse(key, false, "without gaps")?;
            }
            return Ok(Self::Gaps { parts: gaps(text)?, run: number(settings, "gap_run", 1, 1)? });
        }
        settings.refuse("gap_run", false, "with gaps")?;
        let Some(text) = settings.get("rate_iops") else {
            settings.refuse("rate_process", false, "with rate_iops")?;
            let depth = number(settings, "iodepth", 1, 1)?;
            let depth = u32::try_from(depth)
                .map_err(|_| wrong("iodepth is illegal", &depth.to_string(), "1 to 2^32 - 1"))?;
            return Ok(Self::ClosedLoop { depth });
        };
        settings.refuse("iodepth", false, "without rate_iops (a closed loop)")?;
        let milli_iops = crate::number::scaled(text.as_bytes(), 1000)
            .ok()
            .filter(|rate| (1..=1_000_000_000_000).contains(rate))
            .ok_or_else(|| wrong("rate_iops is illegal", text, "0.001 to 1000000000 per second"))?;
        match settings.get("rate_process") {
            None | Some("linear") => Ok(Self::Fixed { milli_iops }),
            Some("poisson") => Ok(Self::Poisson { milli_iops }),
            Some(text) => Err(unknown_name("rate_process", text, &["linear", "poisson"])),
        }
    }
}

fn gaps(text: &str) -> Result<Vec<(u64, u64)>> {
    let illegal = |part: &str| wrong("gaps are illegal", part, GAPS);
    if !text.contains('/') {
        return Ok(vec![(duration_ns(text).ok_or_else(|| illegal(text))?, 1_000_000)]);
    }
    let mut parts = Vec::new();
    for part in text.split(':') {
        let (mean, percent) = part.split_once('/').ok_or_else(|| illegal(part))?;
        let mean = duration_ns(mean).ok_or_else(|| illegal(part))?;
        let share = parse_millionths(percent.trim_end_matches('%'));
        parts.push((mean, share.filter(|share| *share > 0).ok_or_else(|| illegal(part))?));
    }
    let whole = parts.iter().map(|(_, share)| share).sum::<u64>() == 1_000_000;
    match whole && parts.len() <= PARTS_MAX {
        true => Ok(parts),
        false => Err(illegal(text)),
    }
}

fn duration_ns(text: &str) -> Option<u64> {
    // The bare second comes last: every unit ends in its letter.
    const UNITS: [(&str, u64); 4] =
        [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let text = text.trim();
    let (suffix, scale) = UNITS.iter().find(|(suffix, _)| text.ends_with(suffix))?;
    let number = text[..text.len() - suffix.len()].trim();
    let nanos = crate::number::scaled(number.as_bytes(), *scale).ok()?;
    (1..=1_000_000_000_000).contains(&nanos).then_some(nanos)
}

/// The time that rates count in.
const NANOS_OF_1000_S: u64 = 1_000_000_000_000;

/// Arrival times, one after the other.
pub(super) struct Clock {
    arrivals: Arrivals,
    pace: Pace,
    stream: Stream,
    now_ns: u64,
    part: Option<usize>,
}

impl Clock {
    pub(super) fn new(arrivals: Arrivals, seed: u64) -> Self {
        let pace = match arrivals {
            Arrivals::ClosedLoop { .. } => Pace::None,
            Arrivals::Fixed { milli_iops } => Pace::Even(EvenSteps::new(milli_iops)),
            Arrivals::Poisson { .. } | Arrivals::Gaps { .. } => Pace::Drawn,
        };
        let stream = Stream::new(seed, Purpose::Arrival);
        Self { arrivals, pace, stream, now_ns: 0, part: None }
    }

    /// Arrival of the next request, in nanoseconds.
    #[inline]
    pub(super) fn arrival(&mut self) -> u64 {
        match &mut self.pace {
            Pace::None => 0,
            Pace::Even(steps) => {
                let now = self.now_ns;
                // Beyond 584 years it begins anew.
                self.now_ns = now.wrapping_add(steps.next());
                now
            }
            Pace::Drawn => self.drawn_arrival(),
        }
    }

    fn drawn_arrival(&mut self) -> u64 {
        let now = self.now_ns;
        let mean = match &self.arrivals {
            Arrivals::ClosedLoop { .. } | Arrivals::Fixed { .. } => unreachable!("no gap is drawn"),
            Arrivals::Poisson { milli_iops } => NANOS_OF_1000_S as f64 / *milli_iops as f64,
            Arrivals::Gaps { parts, run } => {
                let kept = self.part.filter(|_| *run > 1 && self.stream.below(*run) > 0);
                let part = kept.unwrap_or_else(|| draw(parts, &mut self.stream));
                self.part = Some(part);
                parts[part].0 as f64
            }
        };
        let gap = -libm::log1p(-self.stream.unit()) * mean;
        self.now_ns = now.saturating_add(libm::round(gap) as u64);
        now
    }
}

/// What a clock asks itself for every request, in fewer words than [`Arrivals`] has.
enum Pace {
    None,
    Even(EvenSteps),
    Drawn,
}

/// The distances of arrivals at an even rate, each a whole number of nanoseconds, their sum rounded
/// down: what a division of 128 bits per request would say.
struct EvenSteps {
    /// A step, rounded down, and what is left over.
    step_ns: u64,
    rest: u64,
    /// What was left over so far, less than a nanosecond.
    owed: u64,
    /// Such parts in a nanosecond.
    parts: u64,
}

impl EvenSteps {
    fn new(milli_iops: u64) -> Self {
        let (step_ns, rest) = (NANOS_OF_1000_S / milli_iops, NANOS_OF_1000_S % milli_iops);
        Self { step_ns, rest, owed: 0, parts: milli_iops }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.owed += self.rest;
        let more = u64::from(self.owed >= self.parts);
        self.owed -= more * self.parts;
        self.step_ns + more
    }
}

/// Index of one of the parts, by their shares in millionths.
fn draw(parts: &[(u64, u64)], stream: &mut Stream) -> usize {
    if parts.len() == 1 {
        return 0;
    }
    let mut left = stream.below(1_000_000);
    for (index, (_, share)) in parts.iter().enumerate() {
        if left < *share {
            return index;
        }
        left -= share;
    }
    parts.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps_of(parts: Vec<(u64, u64)>, run: u64, count: u64) -> Vec<f64> {
        let mut clock = Clock::new(Arrivals::Gaps { parts, run }, 1);
        let times: Vec<u64> = (0..=count).map(|_| clock.arrival()).collect();
        times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    fn mean_and_squared_variation(gaps: &[f64]) -> (f64, f64) {
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        (mean, square / (mean * mean) - 1.0)
    }

    #[test]
    fn a_mixture_has_the_mean_and_the_variation_of_its_formula() {
        // p = 0.9 at 1 us, 0.1 at 31 us: mean 4 us, 2 (0.9 + 96.1) / 16 - 1 = 11.125.
        for run in [1, 10] {
            let gaps = gaps_of(vec![(1000, 900_000), (31_000, 100_000)], run, 1_000_000);
            let (mean, squared) = mean_and_squared_variation(&gaps);
            assert!((mean - 4000.0).abs() < 150.0, "run {run}: mean {mean}");
            assert!((squared - 11.125).abs() < 0.6, "run {run}: squared variation {squared}");
        }
    }

    #[test]
    fn long_runs_make_neighbouring_gaps_alike() {
        let correlation = |run| {
            let gaps = gaps_of(vec![(1000, 500_000), (9000, 500_000)], run, 200_000);
            let (mean, squared) = mean_and_squared_variation(&gaps);
            let product: f64 = gaps.windows(2).map(|g| (g[0] - mean) * (g[1] - mean)).sum();
            product / (gaps.len() as f64 * squared * mean * mean)
        };
        // Kept with 19 of 20: 0.95 * var(mean) / var(gap) = 0.95 * 16 / 57 = 0.267.
        assert!(correlation(1).abs() < 0.02, "{}", correlation(1));
        assert!((correlation(20) - 0.267).abs() < 0.03, "{}", correlation(20));
    }

    #[test]
    fn even_arrivals_are_those_of_one_division_each() {
        for milli_iops in [1, 7, 1000, 999_983, 3_000_000, 1_000_000_000, 1_000_000_000_000] {
            let mut clock = Clock::new(Arrivals::Fixed { milli_iops }, 1);
            for issued in 0..10_000u128 {
                let exact = issued * 1_000_000_000_000 / u128::from(milli_iops);
                assert_eq!(clock.arrival(), exact as u64, "{issued} at {milli_iops}");
            }
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration_ns("133.5ms"), Some(133_500_000));
        assert_eq!(duration_ns("50 us"), Some(50_000));
        assert_eq!(duration_ns("2s"), Some(2_000_000_000));
        assert_eq!(duration_ns("7ns"), Some(7));
        for wrong in ["", "5", "0ms", "-1ms", "2000s", "ms"] {
            assert_eq!(duration_ns(wrong), None, "{wrong}");
        }
    }
}
