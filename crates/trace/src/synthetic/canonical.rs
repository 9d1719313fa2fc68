//! The canonical form of a spec: what its digest is taken of.

use std::fmt;

use super::arrivals::Arrivals;
use super::distribution::Distribution;
use super::reshuffle::Reshuffling;
use super::spec::SyntheticSpec;
use super::stack::StackUnit;
use super::values::ValueShares;
use super::writers::Sequence;

impl fmt::Display for SyntheticSpec {
    /// The canonical form: every setting resolved, in a fixed order. Parsing it gives the same
    /// workload on any device that holds it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_place(out)?;
        write!(out, ",count={}", self.count)?;
        self.write_choices(out)?;
        write!(out, "{},seed={}", Written(&self.arrivals), self.seed)
    }
}

/// A spec as a part of a blend: without what the blend decides.
pub(super) struct AsPart<'a>(pub &'a SyntheticSpec);

impl fmt::Display for AsPart<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write_place(out)?;
        self.0.write_choices(out)?;
        write!(out, ",seed={}", self.0.seed)
    }
}

/// Arrivals as settings, each with a comma before it.
pub(super) struct Written<'a>(pub &'a Arrivals);

impl fmt::Display for Written<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Arrivals::ClosedLoop { depth } => write!(out, ",iodepth={depth}"),
            Arrivals::Fixed { milli_iops } => write!(out, ",rate_iops={}", Milli(*milli_iops)),
            Arrivals::Poisson { milli_iops } => {
                write!(out, ",rate_iops={},rate_process=poisson", Milli(*milli_iops))
            }
            Arrivals::Gaps { parts, run } => {
                let part =
                    |(mean_ns, share): &(u64, u64)| format!("{mean_ns}ns/{}", Percent(*share));
                let parts: Vec<String> = parts.iter().map(part).collect();
                write!(out, ",gaps={},gap_run={run}", parts.join(":"))
            }
        }
    }
}

impl SyntheticSpec {
    /// Mode, sizes, span and offset.
    fn write_place(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        write!(out, ",span={},offset={}", self.span_bytes, self.offset_bytes)
    }

    /// What the requests do and where they go.
    fn write_choices(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mode.is_mixed() {
            write!(out, ",rwmixread={}", Percent(self.read_millionths))?;
        }
        match self.mode.is_random() {
            true => self.write_distribution(out)?,
            false => self.write_sequence(out)?,
        }
        if let Some(stream) = self.stream {
            write!(out, ",hint={stream}")?;
        }
        let Some(ValueShares { repeated_millionths, values, distribution }) = &self.values else {
            return Ok(());
        };
        write!(out, ",dedupe_percentage={},dedupe_values={values}", Percent(*repeated_millionths))?;
        write!(out, ",dedupe_distribution={}", Drawn(*distribution))
    }

    /// One stream that wraps where its span ends was written without these.
    fn write_sequence(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sequence { streams, part_bytes, wrap_bytes, passes } = self.sequence;
        if streams > 1 {
            write!(out, ",streams={streams}")?;
        }
        if wrap_bytes != part_bytes {
            write!(out, ",wrap={wrap_bytes}")?;
            if passes > 0 {
                write!(out, ",passes={passes}")?;
            }
        }
        Ok(())
    }

    fn write_distribution(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, ",random_distribution={}", Drawn(self.distribution))?;
        if self.distribution != Distribution::Uniform {
            match self.scatter_bytes {
                None => write!(out, ",scatter=0")?,
                Some(extent) if extent == self.align_bytes => write!(out, ",scatter=1")?,
                Some(extent) => write!(out, ",scatter={extent}")?,
            }
        }
        if let Some(Reshuffling { every_bytes, share_millionths }) = self.reshuffle {
            write!(out, ",reshuffle={every_bytes}/{}", Percent(share_millionths))?;
        }
        if self.block_sizes.iter().map(|(bytes, _)| *bytes).min() != Some(self.align_bytes) {
            write!(out, ",blockalign={}", self.align_bytes)?;
        }
        if let Some(distances) = &self.stack {
            let point = |(depth, share): &(u64, u64)| format!("{depth}/{}", Percent(*share));
            let points: Vec<String> = distances.points.iter().map(point).collect();
            write!(out, ",stack={}", points.join(":"))?;
            // What is counted in requests was written without this.
            if self.stack_unit != StackUnit::default() {
                write!(out, ",stack_unit={}", self.stack_unit.name())?;
            }
        }
        if self.sequential_millionths > 0 {
            write!(out, ",seq_fraction={}", self.sequential_millionths as f64 / 1e6)?;
        }
        Ok(())
    }
}

/// A distribution as it is written.
struct Drawn(Distribution);

impl fmt::Display for Drawn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Distribution::Uniform => write!(out, "random"),
            Distribution::Zipf(theta) => write!(out, "zipf:{theta}"),
            Distribution::Pareto(h) => write!(out, "pareto:{h}"),
            Distribution::HotCold { space_millionths, access_millionths } => {
                write!(out, "hotcold:{}/{}", Percent(space_millionths), Percent(access_millionths))
            }
        }
    }
}

/// Millionths shown as a percentage without rounding.
pub(super) struct Percent(pub u64);

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
