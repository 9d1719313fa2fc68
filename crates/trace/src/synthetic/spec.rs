//! The inline spec: `mode:key=value,key=value`, with fio's words and strict keys.

use super::arrivals::Arrivals;
use super::distribution::Distribution;
use super::reshuffle::Reshuffling;
use super::settings::{KEYS, Settings, number, wrong};
use super::stack::{StackDistances, StackUnit};
use super::values::ValueShares;
use super::writers::Sequence;
use crate::error::{Result, unknown_name};
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
    /// How sequential requests run through the span.
    pub sequence: Sequence,
    /// Extents that are scattered over the span, in bytes, each with its blocks side by side; none
    /// where the hottest blocks lie at the beginning.
    pub scatter_bytes: Option<u64>,
    /// How what is hot changes; none: it stays so.
    pub reshuffle: Option<Reshuffling>,
    /// What random addresses are multiples of, in bytes.
    pub align_bytes: u64,
    /// How often random requests go to what was requested lately; none: never on purpose.
    pub stack: Option<StackDistances>,
    /// What the depth of the stack is counted in.
    pub stack_unit: StackUnit,
    /// Share of random requests that start where the one before ended, in millionths.
    pub sequential_millionths: u64,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// Stream of data that every request says it belongs to.
    pub stream: Option<u8>,
    /// What requests write, where the spec says how much of it is the same.
    pub values: Option<ValueShares>,
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
        Self::of(mode, &Settings::parse(rest, &KEYS)?, logical_bytes)
    }

    /// The same of settings that were taken apart.
    pub(super) fn of(mode: Mode, settings: &Settings<'_>, logical_bytes: u64) -> Result<Self> {
        settings.refuse("rwmixread", mode.is_mixed(), "with rw or randrw")?;
        settings.refuse("random_distribution", mode.is_random(), "with a rand mode")?;
        for key in ["seq_fraction", "blockalign", "stack"] {
            settings.refuse(key, mode.is_random(), "with a rand mode")?;
        }
        for key in ["streams", "wrap"] {
            settings.refuse(key, !mode.is_random(), "with read, write, trim or rw")?;
        }
        settings.refuse("passes", settings.get("wrap").is_some(), "with wrap")?;
        settings.refuse("stack_unit", settings.get("stack").is_some(), "with stack")?;
        let block_sizes = block_sizes(settings)?;
        let (offset_bytes, span_bytes) = region(settings, &block_sizes, logical_bytes)?;
        let distribution = match settings.get("random_distribution") {
            Some(value) => parse_distribution(value)?,
            None => Distribution::Uniform,
        };
        let skewed = distribution != Distribution::Uniform;
        settings.refuse("scatter", skewed, "with random_distribution=zipf, pareto or hotcold")?;
        let fresh = skewed && settings.get("stack").is_none();
        let why = "with random_distribution=zipf, pareto or hotcold and without stack";
        settings.refuse("reshuffle", fresh, why)?;
        let align_bytes = alignment(settings, &block_sizes, span_bytes)?;
        Ok(Self {
            mode,
            count: count(settings, &block_sizes, span_bytes)?,
            offset_bytes,
            span_bytes,
            read_millionths: share(settings, "rwmixread", 500_000)?,
            distribution,
            sequence: sequence(settings, &block_sizes, span_bytes)?,
            scatter_bytes: scatter(settings, align_bytes, span_bytes)?,
            reshuffle: reshuffle(settings)?,
            align_bytes,
            stack: stack(settings, span_bytes / align_bytes)?,
            stack_unit: stack_unit(settings, largest(&block_sizes) / align_bytes)?,
            sequential_millionths: fraction(settings)?,
            arrivals: Arrivals::parse(settings)?,
            stream: hint(settings)?,
            values: values(settings, mode)?,
            seed: number(settings, "seed", 1, 0)?,
            block_sizes,
        })
    }
}

/// `hint=`.
fn hint(settings: &Settings<'_>) -> Result<Option<u8>> {
    let Some(text) = settings.get("hint") else { return Ok(None) };
    let legal = "a stream of data from 0 to 255";
    text.parse().map(Some).map_err(|_| wrong("hint is illegal", text, legal))
}

/// Most values that writes repeat.
const VALUES_MAX: u64 = 1 << 40;

/// `dedupe_percentage=`, `dedupe_values=` and `dedupe_distribution=`.
fn values(settings: &Settings<'_>, mode: Mode) -> Result<Option<ValueShares>> {
    let writes = !matches!(mode, Mode::Read | Mode::RandomRead | Mode::Trim | Mode::RandomTrim);
    settings.refuse("dedupe_percentage", writes, "with a mode that writes")?;
    let is_said = settings.get("dedupe_percentage").is_some();
    for key in ["dedupe_values", "dedupe_distribution"] {
        settings.refuse(key, is_said, "with dedupe_percentage")?;
    }
    if !is_said {
        return Ok(None);
    }
    let distribution = match settings.get("dedupe_distribution") {
        Some(text) => parse_distribution(text)?,
        None => Distribution::Uniform,
    };
    let values = number(settings, "dedupe_values", 1024, 1)?;
    if values > VALUES_MAX {
        let legal = format!("1 to {VALUES_MAX}");
        return Err(wrong("dedupe_values is too large", &values.to_string(), &legal));
    }
    let repeated_millionths = share(settings, "dedupe_percentage", 0)?;
    Ok(Some(ValueShares { repeated_millionths, values, distribution }))
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
    let weight = block_sizes.iter().map(|(bytes, share)| u128::from(bytes * share)).sum();
    count_of(settings, span, |bytes, millionths| requests_for(bytes, millionths, weight))
}

/// The same, where `requests` says how many of them move so many bytes times so many millionths.
pub(super) fn count_of(
    settings: &Settings<'_>,
    span: u64,
    requests: impl Fn(u64, u64) -> Option<u64>,
) -> Result<u64> {
    let legal = "a number of requests, or Nx for N times the span";
    let (text, count) = match (settings.get("count"), settings.get("io_size")) {
        (Some(_), Some(text)) => {
            return Err(wrong("count and io_size exclude each other", text, "one of them"));
        }
        (None, Some(text)) => (text, requests(parse_bytes(text)?, 1_000_000)),
        (count, None) => {
            let text = count.unwrap_or("1x");
            let parsed = match text.strip_suffix('x') {
                Some(times) => crate::number::scaled(times.as_bytes(), 1_000_000)
                    .map(|millionths| requests(span, millionths)),
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

/// Requests that move `bytes * millionths / 10^6`, rounded up; `weight` is their mean size in
/// millionths of a byte.
pub(super) fn requests_for(bytes: u64, millionths: u64, weight: u128) -> Option<u64> {
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

/// `scatter=`: 0 (off), 1 (each block by itself), or the size of the extents that are scattered.
fn scatter(settings: &Settings<'_>, align: u64, span: u64) -> Result<Option<u64>> {
    match settings.get("scatter") {
        None | Some("0") => Ok(None),
        Some("1") => Ok(Some(align)),
        Some(text) => {
            let legal = |bytes: &u64| *bytes > 0 && bytes.is_multiple_of(align) && *bytes <= span;
            parse_bytes(text).ok().filter(legal).map(Some).ok_or_else(|| {
                let legal = format!(
                    "0 (off), 1 (each block by itself), or the size of an extent: a multiple of \
                     {align} bytes, up to the span"
                );
                wrong("scatter is illegal", text, &legal)
            })
        }
    }
}

/// `reshuffle=SIZE`, or `SIZE/PERCENT` of the ranks.
fn reshuffle(settings: &Settings<'_>) -> Result<Option<Reshuffling>> {
    let Some(text) = settings.get("reshuffle") else { return Ok(None) };
    let read = || {
        let (size, percent) = text.split_once('/').unwrap_or((text, "20"));
        let every_bytes = parse_bytes(size).ok().filter(|bytes| *bytes > 0)?;
        let share_millionths = parse_millionths(percent.trim_end_matches('%'))?;
        let legal = 1..=1_000_000;
        legal.contains(&share_millionths).then_some(Reshuffling { every_bytes, share_millionths })
    };
    let legal = "SIZE or SIZE/PERCENT: bytes of requests from one change to the next, share of the \
                 blocks that trade places (the hottest; 20)";
    read().map(Some).ok_or_else(|| wrong("reshuffle is illegal", text, legal))
}

/// Most streams side by side: each is held.
const STREAMS_MAX: u64 = 65_536;

/// `streams=`, `wrap=` and `passes=`.
fn sequence(settings: &Settings<'_>, block_sizes: &[(u64, u64)], span: u64) -> Result<Sequence> {
    let (step, most) = (smallest(block_sizes), largest(block_sizes));
    let streams = number(settings, "streams", 1, 1)?;
    let part_bytes = (span / streams) - (span / streams) % step;
    if streams > STREAMS_MAX || part_bytes < most {
        let text = streams.to_string();
        let legal = format!(
            "1 to {STREAMS_MAX}, and so few that the largest block fits into each one's part of \
             the span"
        );
        return Err(wrong("streams are illegal", &text, &legal));
    }
    let Some(text) = settings.get("wrap") else {
        return Ok(Sequence { streams, part_bytes, wrap_bytes: part_bytes, passes: 0 });
    };
    let fits = |bytes: &u64| bytes.is_multiple_of(step) && (most..=part_bytes).contains(bytes);
    let wrap_bytes = parse_bytes(text).ok().filter(fits).ok_or_else(|| {
        let legal = format!("a multiple of {step} bytes from {most} to {part_bytes}");
        wrong("wrap is illegal", text, &legal)
    })?;
    // Passes over the whole part are passes without end.
    let passes = number(settings, "passes", 0, 1)?;
    let passes = if wrap_bytes == part_bytes { 0 } else { passes };
    Ok(Sequence { streams, part_bytes, wrap_bytes, passes })
}

/// Most blocks of a request where the stack counts blocks: each is moved.
const STACK_BLOCKS_MAX: u64 = 4096;

/// `stack_unit=`, where the largest request has so many blocks.
fn stack_unit(settings: &Settings<'_>, blocks: u64) -> Result<StackUnit> {
    let Some(text) = settings.get("stack_unit") else {
        return Ok(StackUnit::default());
    };
    let names = StackUnit::ALL.map(|(name, _)| name);
    let found = StackUnit::ALL.iter().find(|(name, _)| *name == text);
    let unit = found.ok_or_else(|| unknown_name("stack_unit", text, &names))?.1;
    if unit == StackUnit::Blocks && blocks > STACK_BLOCKS_MAX {
        let legal = format!("requests of up to {STACK_BLOCKS_MAX} times blockalign");
        return Err(wrong(
            "stack_unit=blocks with such large requests",
            &blocks.to_string(),
            &legal,
        ));
    }
    Ok(unit)
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
