//! The canonical form of a spec: what its digest is taken of.

use std::fmt;

use super::arrivals::Arrivals;
use super::distribution::Distribution;
use super::spec::SyntheticSpec;

impl fmt::Display for SyntheticSpec {
    /// The canonical form: every setting resolved, in a fixed order. Parsing it gives the same
    /// workload on any device that holds it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.mode.name())?;
        match &self.block_sizes[..] {
            [(bytes, _)] => write!(out, "bs={bytes}")?,
            split => {
                let parts: Vec<String> = split
                    .iter()
                    .map(|(bytes, share)| format!("{bytes}/{}", Percent(*share)))
                    .collect();
                write!(out, "bssplit={}", parts.join(":"))?;
            }
        }
        write!(out, ",span={},offset={},count={}", self.span_bytes, self.offset_bytes, self.count)?;
        if self.mode.is_mixed() {
            write!(out, ",rwmixread={}", Percent(self.read_millionths))?;
        }
        if self.mode.is_random() {
            self.write_distribution(out)?;
        }
        match &self.arrivals {
            Arrivals::ClosedLoop { depth } => write!(out, ",iodepth={depth}")?,
            Arrivals::Fixed { milli_iops } => {
                write!(out, ",rate_iops={}", Milli(*milli_iops))?;
            }
            Arrivals::Poisson { milli_iops } => {
                write!(out, ",rate_iops={},rate_process=poisson", Milli(*milli_iops))?;
            }
            Arrivals::Gaps { parts, run } => {
                let part =
                    |(mean_ns, share): &(u64, u64)| format!("{mean_ns}ns/{}", Percent(*share));
                let parts: Vec<String> = parts.iter().map(part).collect();
                write!(out, ",gaps={},gap_run={run}", parts.join(":"))?;
            }
        }
        write!(out, ",seed={}", self.seed)
    }
}

impl SyntheticSpec {
    fn write_distribution(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distribution {
            Distribution::Uniform => write!(out, ",random_distribution=random")?,
            Distribution::Zipf(theta) => write!(out, ",random_distribution=zipf:{theta}")?,
            Distribution::Pareto(h) => write!(out, ",random_distribution=pareto:{h}")?,
            Distribution::HotCold { space_millionths, access_millionths } => write!(
                out,
                ",random_distribution=hotcold:{}/{}",
                Percent(space_millionths),
                Percent(access_millionths)
            )?,
        }
        if self.distribution != Distribution::Uniform {
            write!(out, ",scatter={}", u8::from(self.scatter))?;
        }
        if self.block_sizes.iter().map(|(bytes, _)| *bytes).min() != Some(self.align_bytes) {
            write!(out, ",blockalign={}", self.align_bytes)?;
        }
        if let Some(distances) = &self.stack {
            let point = |(depth, share): &(u64, u64)| format!("{depth}/{}", Percent(*share));
            let points: Vec<String> = distances.points.iter().map(point).collect();
            write!(out, ",stack={}", points.join(":"))?;
        }
        if self.sequential_millionths > 0 {
            write!(out, ",seq_fraction={}", self.sequential_millionths as f64 / 1e6)?;
        }
        Ok(())
    }
}

/// Millionths shown as a percentage without rounding.
struct Percent(u64);

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0 as f64 / 1e4)
    }
}

/// Thousandths shown without rounding.
struct Milli(u64);

impl fmt::Display for Milli {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0 as f64 / 1e3)
    }
}
