//! The inline spec: `mode:key=value,key=value`, with fio's words and strict keys.

use super::arrivals::Arrivals;
use super::distribution::Distribution;
use super::settings::{Settings, number, wrong};
use super::stack::StackDistances;
use crate::error::{Result, TraceError, nearest, unknown_name};
use crate::size::{parse_bytes, parse_millionths, parse_share_or_bytes};

/// fio's `rw=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandomRead,
    /// Random writes.
    RandomWrite,
    /// Random trims.
    RandomTrim,
    /// Sequential reads and writes, each at its own position.
    Mixed,
    /// Random reads and writes.
    RandomMixed,
}

impl Mode {
    /// Every mode with its word; the first word of a mode is the canonical one.
    pub const ALL: [(&'static str, Self); 9] = [
        ("randwrite", Self::RandomWrite),
        ("randread", Self::RandomRead),
        ("randrw", Self::RandomMixed),
        ("randtrim", Self::RandomTrim),
        ("write", Self::Write),
        ("read", Self::Read),
        ("rw", Self::Mixed),
        ("readwrite", Self::Mixed),
        ("trim", Self::Trim),
    ];

    /// The mode of that word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, mode)| *mode)
    }

    /// The word of the mode.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn is_random(self) -> bool {
        !matches!(self, Self::Read | Self::Write | Self::Trim | Self::Mixed)
    }

    pub(super) fn is_mixed(self) -> bool {
        matches!(self, Self::Mixed | Self::RandomMixed)
    }
}

/// A synthetic workload, every setting resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticSpec {
    /// What the requests do.
    pub mode: Mode,
    /// Sizes in bytes and their shares in millionths, which add up to a million.
    pub block_sizes: Vec<(u64, u64)>,
    /// Where the span begins, in bytes.
    pub offset_bytes: u64,
    /// The part of the device that is used, in bytes.
    pub span_bytes: u64,
    /// Number of requests.
    pub count: u64,
    /// Share of reads in a mix, in millionths.
    pub read_millionths: u64,
    /// Which blocks random requests go to.
    pub distribution: Distribution,
    /// Are hot blocks scattered over the span instead of lying side by side?
    pub scatter: bool,
    /// What random addresses are multiples of, in bytes.
    pub align_bytes: u64,
    /// How often random requests go to what was requested lately; none: never on purpose.
    pub stack: Option<StackDistances>,
    /// Share of random requests that start where the one before ended, in millionths.
    pub sequential_millionths: u64,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// The seed.
    pub seed: u64,
}

const MODES: [&str; 9] =
    ["randwrite", "randread", "randrw", "randtrim", "write", "read", "rw", "readwrite", "trim"];

impl SyntheticSpec {
    /// Does the text begin like an inline spec: a mode, alone or before a colon?
    pub fn recognises(text: &str) -> bool {
        Mode::find(text.split(':').next().unwrap_or_default()).is_some()
    }

    /// Parses a spec for a device of `logical_bytes` (0 if that is not known: then shares of it
    /// are errors and `span` must be given).
    ///
    /// # Errors
    /// Unknown modes and keys, with the nearest legal one; values out of range, with the range;
    /// keys that would have no effect.
    pub fn parse(text: &str, logical_bytes: u64) -> Result<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let mode = Mode::find(word.trim())
            .ok_or_else(|| unknown_name("synthetic workload", word.trim(), &MODES))?;
        let settings = Settings::parse(rest)?;
        settings.refuse("rwmixread", mode.is_mixed(), "with rw or randrw")?;
        settings.refuse("random_distribution", mode.is_random(), "with a rand mode")?;
        for key in ["seq_fraction", "blockalign", "stack"] {
            settings.refuse(key, mode.is_random(), "with a rand mode")?;
        }
        let block_sizes = block_sizes(&settings)?;
        let (offset_bytes, span_bytes) = region(&settings, &block_sizes, logical_bytes)?;
        let distribution = match settings.get("random_distribution") {
            Some(value) => parse_distribution(value)?,
            None => Distribution::Uniform,
        };
        let skewed = distribution != Distribution::Uniform;
        settings.refuse("scatter", skewed, "with random_distribution=zipf, pareto or hotcold")?;
        let align_bytes = alignment(&settings, &block_sizes, span_bytes)?;
        Ok(Self {
            mode,
            count: count(&settings, &block_sizes, span_bytes)?,
            block_sizes,
            offset_bytes,
            span_bytes,
            read_millionths: share(&settings, "rwmixread", 500_000)?,
            distribution,
            scatter: scatter(&settings)?,
            align_bytes,
            stack: stack(&settings, span_bytes / align_bytes)?,
            sequential_millionths: fraction(&settings)?,
            arrivals: Arrivals::parse(&settings)?,
            seed: number(&settings, "seed", 1, 0)?,
        })
    }

    /// Requests in flight, if the loop is closed.
    pub fn closed_loop_depth(&self) -> Option<u32> {
        match self.arrivals {
            Arrivals::ClosedLoop { depth } => Some(depth),
            _ => None,
        }
    }
}

fn smallest(block_sizes: &[(u64, u64)]) -> u64 {
    block_sizes.iter().map(|(bytes, _)| *bytes).min().unwrap_or(1)
}

fn largest(block_sizes: &[(u64, u64)]) -> u64 {
    block_sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(1)
}

/// `bs=4k`, or `bssplit=4k/60:8k/40`.
fn block_sizes(settings: &Settings<'_>) -> Result<Vec<(u64, u64)>> {
    let split = match (settings.get("bs"), settings.get("bssplit")) {
        (Some(_), Some(split)) => {
            return Err(wrong("bs and bssplit exclude each other", split, "one of them"));
        }
        (bs, None) => return Ok(vec![(block_size(bs.unwrap_or("4k"))?, 1_000_000)]),
        (None, Some(split)) => split,
    };
    let legal = "SIZE/PERCENT with colons between, percentages adding up to 100";
    let mut sizes = Vec::new();
    for part in split.split(':') {
        let (size, percent) =
            part.split_once('/').ok_or_else(|| wrong("bssplit lacks a percentage", part, legal))?;
        let share = parse_millionths(percent.trim_end_matches('%'))
            .ok_or_else(|| wrong("bssplit has a wrong percentage", part, legal))?;
        sizes.push((block_size(size)?, share));
    }
    if sizes.iter().map(|(_, share)| share).sum::<u64>() != 1_000_000 {
        return Err(wrong("bssplit does not add up", split, legal));
    }
    Ok(sizes)
}

fn block_size(text: &str) -> Result<u64> {
    let bytes = parse_bytes(text)?;
    if bytes == 0 || bytes % 512 != 0 || bytes > 1 << 30 {
        return Err(wrong("block size is illegal", text, "a multiple of 512 bytes, up to 1G"));
    }
    Ok(bytes)
}

/// `blockalign=`, by default the smallest block.
fn alignment(settings: &Settings<'_>, block_sizes: &[(u64, u64)], span: u64) -> Result<u64> {
    let Some(text) = settings.get("blockalign") else {
        return Ok(smallest(block_sizes));
    };
    let room = span - largest(block_sizes);
    parse_bytes(text).ok().filter(|b| *b > 0 && b % 512 == 0 && *b <= room).ok_or_else(|| {
        wrong("blockalign is illegal", text, "a multiple of 512, so small that the span has two")
    })
}

/// `stack=`; the span must leave room outside the stack.
fn stack(settings: &Settings<'_>, positions: u64) -> Result<Option<StackDistances>> {
    let Some(text) = settings.get("stack") else {
        return Ok(None);
    };
    let distances = StackDistances::parse(text)?;
    let needed = 2 * distances.depth();
    if positions < needed {
        let legal = format!("a span of at least {needed} times blockalign, twice the depth");
        return Err(wrong("span is too small for the stack", text, &legal));
    }
    Ok(Some(distances))
}

/// `offset=` and `span=`, in bytes or as shares of the device.
fn region(
    settings: &Settings<'_>,
    block_sizes: &[(u64, u64)],
    logical_bytes: u64,
) -> Result<(u64, u64)> {
    let step = smallest(block_sizes);
    let place = |key: &str, default: &'static str| {
        let text = settings.get(key).unwrap_or(default);
        if text.ends_with('%') && logical_bytes == 0 {
            let problem = format!("{key} is a share of a capacity that is not known");
            return Err(wrong(&problem, text, "bytes, or a device with a capacity"));
        }
        Ok((text, parse_share_or_bytes(text, logical_bytes)?))
    };
    let (offset_text, offset) = place("offset", "0")?;
    let offset = if offset_text.ends_with('%') { offset - offset % step } else { offset };
    if offset % 512 != 0 || (logical_bytes > 0 && offset >= logical_bytes) {
        return Err(wrong("offset is illegal", offset_text, "a multiple of 512 on the device"));
    }
    let (span_text, span) = place("span", "100%")?;
    // A share of the whole device, by default or stated, ends where the device ends.
    let whole = settings.get("span").is_none();
    let span = if whole { span - offset } else { span };
    let span = span - span % step;
    if span < largest(block_sizes) {
        return Err(wrong("span holds not one block", span_text, "at least the largest block"));
    }
    let end = offset.checked_add(span);
    if end.is_none_or(|end| logical_bytes > 0 && end > logical_bytes) {
        let legal = format!("offset + span up to {logical_bytes} bytes");
        return Err(wrong("span reaches beyond the device", span_text, &legal));
    }
    Ok((offset, span))
}

/// `count=N`, `count=Nx` (N times the span) or `io_size=BYTES`.
fn count(settings: &Settings<'_>, block_sizes: &[(u64, u64)], span: u64) -> Result<u64> {
    let legal = "a number of requests, or Nx for N times the span";
    let (text, count) = match (settings.get("count"), settings.get("io_size")) {
        (Some(_), Some(text)) => {
            return Err(wrong("count and io_size exclude each other", text, "one of them"));
        }
        (None, Some(text)) => (text, requests_for(parse_bytes(text)?, 1_000_000, block_sizes)),
        (count, None) => {
            let text = count.unwrap_or("1x");
            let parsed = match text.strip_suffix('x') {
                Some(times) => crate::number::scaled(times.as_bytes(), 1_000_000)
                    .map(|millionths| requests_for(span, millionths, block_sizes)),
                None => crate::number::integer(text.as_bytes()).map(Some),
            };
            (text, parsed.map_err(|why| wrong(&format!("count {}", why.words()), text, legal))?)
        }
    };
    match count {
        Some(count) if count > 0 => Ok(count),
        _ => Err(wrong("count is out of range", text, "1 to 2^64 - 1 requests")),
    }
}

/// Requests of the mean size that move `bytes * millionths / 10^6`, rounded up.
fn requests_for(bytes: u64, millionths: u64, block_sizes: &[(u64, u64)]) -> Option<u64> {
    let weight: u128 = block_sizes.iter().map(|(b, share)| u128::from(b * share)).sum();
    u64::try_from((u128::from(bytes) * u128::from(millionths)).div_ceil(weight)).ok()
}

fn share(settings: &Settings<'_>, key: &str, default: u64) -> Result<u64> {
    let Some(text) = settings.get(key) else {
        return Ok(default);
    };
    parse_millionths(text.trim_end_matches('%'))
        .ok_or_else(|| wrong(&format!("{key} is illegal"), text, "a percentage from 0 to 100"))
}

fn fraction(settings: &Settings<'_>) -> Result<u64> {
    let Some(text) = settings.get("seq_fraction") else {
        return Ok(0);
    };
    crate::number::scaled(text.as_bytes(), 1_000_000)
        .ok()
        .filter(|millionths| *millionths <= 1_000_000)
        .ok_or_else(|| wrong("seq_fraction is illegal", text, "0 to 1"))
}

fn scatter(settings: &Settings<'_>) -> Result<bool> {
    match settings.get("scatter") {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(text) => Err(wrong("scatter is illegal", text, "0 or 1")),
    }
}

fn parse_distribution(text: &str) -> Result<Distribution> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let positive = |default: &str, range: &str, legal: fn(f64) -> bool| {
        let text = if value.is_empty() { default } else { value };
        text.parse::<f64>()
            .ok()
            .filter(|number| legal(*number))
            .ok_or_else(|| wrong(&format!("{name} has an illegal parameter"), text, range))
    };
    match name {
        "random" if value.is_empty() => Ok(Distribution::Uniform),
        "zipf" => positive("1.2", "above 0, up to 100", |theta| theta > 0.0 && theta <= 100.0)
            .map(Distribution::Zipf),
        "pareto" => {
            positive("0.2", "above 0, below 1", |h| h > 0.0 && h < 1.0).map(Distribution::Pareto)
        }
        "hotcold" => {
            let legal = "hotcold:SPACE%/ACCESS%, each above 0 and up to 100";
            let part = |text: &str| {
                parse_millionths(text.trim_end_matches('%')).filter(|millionths| *millionths > 0)
            };
            value
                .split_once('/')
                .and_then(|(space, access)| Some((part(space)?, part(access)?)))
                .map(|(space_millionths, access_millionths)| Distribution::HotCold {
                    space_millionths,
                    access_millionths,
                })
                .ok_or_else(|| wrong("hotcold has an illegal parameter", value, legal))
        }
        _ => {
            Err(unknown_name("random_distribution", text, &["random", "zipf", "pareto", "hotcold"]))
        }
    }
}

/// A missing file whose name looks like an inline spec is most likely a misspelt one.
pub(crate) fn hint_at_modes(text: &str, error: TraceError) -> TraceError {
    let word = text.split(':').next().unwrap_or_default();
    let modes = Mode::ALL.iter().map(|(name, _)| *name);
    let near =
        nearest(word, modes.clone()).filter(|mode| strsim::damerau_levenshtein(mode, word) <= 2);
    match near {
        Some(mode) => TraceError::new(format!(
            "neither a file nor a synthetic workload (did you mean '{mode}'?)"
        ))
        .with_value(text.as_bytes())
        .with_legal(format!("a trace file, or one of {}", modes.collect::<Vec<_>>().join(", "))),
        None => error,
    }
}
