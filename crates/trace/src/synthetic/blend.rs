//! `blend:70/(A)+30/(B),count=N,gaps=...`: every request is drawn from one of several inline specs
//! by their shares, under one process of arrivals. What a part says about sizes, operations and
//! addresses holds for its requests alone: small ones to many cold positions beside large ones to
//! few hot ones, journals beside random writes, a skew of its own for each. With `turns=N` the
//! parts take turns, as tasks do: one request in N draws its part, the others come from that of the
//! request before.

use std::fmt;

use super::arrivals::{Arrivals, Clock};
use super::canonical::{AsPart, Percent, Written};
use super::generator::Generator;
use super::make::Make;
use super::random::{Purpose, Stream};
use super::settings::{KEYS, Settings, number, wrong};
use super::spec::{Mode, SyntheticSpec, count_of, requests_for};
use crate::combination::split_outside;
use crate::error::{Result, TraceError, unknown_name};
use crate::record::Record;
use crate::size::parse_millionths;
use ftlab_flash::rng::mix;

/// Keys of a blend, behind its parts.
pub(super) const BLEND_KEYS: [&str; 10] = [
    "addresses",
    "turns",
    "count",
    "io_size",
    "gaps",
    "gap_run",
    "rate_iops",
    "rate_process",
    "iodepth",
    "seed",
];
/// Is this a key of an inline spec that a blend decides for all of its parts?
fn is_decided(key: &str) -> bool {
    BLEND_KEYS.contains(&key) && !["addresses", "turns", "seed"].contains(&key)
}
/// Most parts.
const PARTS_MAX: usize = 64;

/// The text of a blend, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlendText {
    /// The share of each part as it is written, a percentage, and its text.
    pub parts: Vec<(String, String)>,
    /// The settings behind the parts, as they are written.
    pub settings: String,
}

impl BlendText {
    /// Takes a text apart; none where it does not begin like a blend.
    ///
    /// # Errors
    /// Unbalanced parentheses, parts without a share, empty parts, too many of them.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let Some(rest) = text.strip_prefix("blend:") else { return Ok(None) };
        let unbalanced = || illegal("parentheses do not match", rest);
        let pieces = split_outside(rest, ',').ok_or_else(unbalanced)?;
        let (first, settings) = pieces.split_first().ok_or_else(unbalanced)?;
        let mut parts = Vec::new();
        for piece in split_outside(first, '+').ok_or_else(unbalanced)? {
            let (share, part) = piece
                .split_once('/')
                .ok_or_else(|| illegal("a part of the blend has no share", piece))?;
            let part = part.trim();
            let inside = part.strip_prefix('(').map(|open| {
                open.strip_suffix(')').ok_or_else(|| illegal("there is text after ')'", part))
            });
            let part = inside.transpose()?.unwrap_or(part).trim();
            if part.is_empty() {
                return Err(illegal("a part of the blend is empty", piece));
            }
            parts.push((share.trim().to_owned(), part.to_owned()));
        }
        match parts.len() <= PARTS_MAX {
            true => Ok(Some(Self { parts, settings: settings.join(",") })),
            false => Err(illegal("too many parts", rest)),
        }
    }

    /// The spec of a named workload as a part: what the blend decides is left out.
    #[must_use]
    pub fn part_of(spec: &str) -> String {
        let (mode, settings) = spec.split_once(':').unwrap_or((spec, ""));
        let kept: Vec<&str> = settings
            .split(',')
            .filter(|one| one.split_once('=').is_none_or(|(key, _)| !is_decided(key.trim())))
            .collect();
        format!("{mode}:{}", kept.join(","))
    }
}

impl fmt::Display for BlendText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.parts.iter().map(|(share, part)| format!("{share}/({part})")).collect();
        write!(out, "blend:{}", parts.join("+"))?;
        match self.settings.is_empty() {
            true => Ok(()),
            false => write!(out, ",{}", self.settings),
        }
    }
}

fn illegal(problem: &str, value: &str) -> TraceError {
    wrong(
        problem,
        value,
        &format!(
            "blend:PERCENT/(SPEC)+PERCENT/(SPEC),KEY=VALUE,... with up to {PARTS_MAX} parts, each \
             an inline spec or the name of one, percentages adding up to 100"
        ),
    )
}

/// Several inline specs of which requests are drawn, every setting resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Blend {
    /// The share of each part in millionths, which add up to a million, and its spec.
    pub parts: Vec<(u64, SyntheticSpec)>,
    /// Does each part have addresses of its own, behind those of the parts before it?
    pub own_addresses: bool,
    /// Of so many requests one draws its part; the shares are met in the mean all the same.
    pub turns: u64,
    /// Number of requests.
    pub count: u64,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// The seed.
    pub seed: u64,
}

impl Blend {
    /// Parses a blend for a device of `logical_bytes`, 0 if that is not known.
    ///
    /// # Errors
    /// As [`SyntheticSpec::parse`]; also keys of a part that the blend decides, and shares that do
    /// not add up.
    pub(super) fn parse(text: &BlendText, logical_bytes: u64) -> Result<Self> {
        let settings = Settings::parse(&text.settings, &BLEND_KEYS)?;
        let mut parts = Vec::with_capacity(text.parts.len());
        for (share, part) in &text.parts {
            let share = parse_millionths(share.trim_end_matches('%'))
                .filter(|millionths| *millionths > 0)
                .ok_or_else(|| illegal("a share of the blend is illegal", share))?;
            parts.push((share, part_spec(part, logical_bytes)?));
        }
        if parts.iter().map(|(share, _)| share).sum::<u64>() != 1_000_000 {
            return Err(illegal("the shares of the blend do not add up", &text.to_string()));
        }
        let own_addresses = match settings.get("addresses") {
            None | Some("same") => false,
            Some("own") => true,
            Some(other) => return Err(unknown_name("addresses", other, &["same", "own"])),
        };
        let blend = Self {
            count: count(&settings, &parts)?,
            parts,
            own_addresses,
            turns: number(&settings, "turns", 1, 1)?,
            arrivals: Arrivals::parse(&settings)?,
            seed: number(&settings, "seed", 1, 0)?,
        };
        blend.check_room(logical_bytes)?;
        Ok(blend)
    }

    /// Where the addresses of each part begin, and behind these where all of them end; none above
    /// 2^64.
    fn bases(&self) -> Option<Vec<u64>> {
        let (mut bases, mut end) = (vec![0u64], 0u64);
        for (_, spec) in &self.parts {
            let own_end = spec.offset_bytes + spec.span_bytes;
            end = if self.own_addresses { end.checked_add(own_end)? } else { end.max(own_end) };
            bases.push(if self.own_addresses { end } else { 0 });
        }
        *bases.last_mut()? = end;
        Some(bases)
    }

    fn check_room(&self, logical_bytes: u64) -> Result<()> {
        let end = self.bases().and_then(|bases| bases.last().copied());
        if end.is_some_and(|end| logical_bytes == 0 || end <= logical_bytes) {
            return Ok(());
        }
        let legal = format!("offset + span of all parts together up to {logical_bytes} bytes");
        Err(wrong("the parts of the blend reach beyond the device", "addresses=own", &legal))
    }

    /// The requests.
    pub fn records(&self) -> BlendGenerator {
        BlendGenerator::new(self)
    }
}

fn part_spec(text: &str, logical_bytes: u64) -> Result<SyntheticSpec> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let Some(mode) = Mode::find(word.trim()) else {
        return Err(illegal("a part of a blend is no inline spec", text));
    };
    let settings = Settings::parse(rest, &KEYS)?;
    for key in BLEND_KEYS.into_iter().filter(|key| is_decided(key)) {
        settings.refuse(key, false, "behind the parts of the blend, for all of them")?;
    }
    SyntheticSpec::of(mode, &settings, logical_bytes)
        .map(|spec| SyntheticSpec { count: u64::MAX, ..spec })
}

/// As of an inline spec; `Nx` is N times the spans of all parts.
fn count(settings: &Settings<'_>, parts: &[(u64, SyntheticSpec)]) -> Result<u64> {
    let mean = |spec: &SyntheticSpec| -> u128 {
        spec.block_sizes.iter().map(|(bytes, share)| u128::from(bytes * share)).sum()
    };
    let weight: u128 = parts.iter().map(|(share, spec)| u128::from(*share) * mean(spec)).sum();
    let span = parts.iter().fold(0u64, |sum, (_, spec)| sum.saturating_add(spec.span_bytes));
    count_of(settings, span, |bytes, millionths| {
        requests_for(bytes, millionths, weight / 1_000_000)
    })
}

impl fmt::Display for Blend {
    /// The canonical form, as that of an inline spec.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |(share, spec): &(u64, SyntheticSpec)| {
            format!("{}/({})", Percent(*share), AsPart(spec))
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        let addresses = if self.own_addresses { "own" } else { "same" };
        write!(out, "blend:{},addresses={addresses}", parts.join("+"))?;
        if self.turns > 1 {
            write!(out, ",turns={}", self.turns)?;
        }
        write!(out, ",count={}", self.count)?;
        write!(out, "{},seed={}", Written(&self.arrivals), self.seed)
    }
}

/// Iterator over the records of a blend.
pub struct BlendGenerator {
    /// Cumulative shares in millionths, the requests of each part, and where its addresses begin.
    parts: Vec<(u64, Generator, u64)>,
    choice: Stream,
    turns: u64,
    /// The part of the last request.
    at: usize,
    clock: Clock,
    issued: u64,
    count: u64,
}

impl BlendGenerator {
    fn new(blend: &Blend) -> Self {
        let bases = blend.bases().expect("the parts were found to have room");
        let (mut until, mut parts) = (0, Vec::with_capacity(blend.parts.len()));
        for (index, (share, spec)) in blend.parts.iter().enumerate() {
            until += share;
            // Parts of the same seed draw differently, and all do under another seed of the blend.
            let seed = mix(blend.seed ^ mix(mix(spec.seed).wrapping_add(index as u64)));
            let spec = SyntheticSpec { seed, ..spec.clone() };
            let base = if blend.own_addresses { bases[index] } else { 0 };
            parts.push((until, Generator::new(spec), base));
        }
        Self {
            parts,
            choice: Stream::new(blend.seed, Purpose::Choice),
            turns: blend.turns,
            at: 0,
            clock: Clock::new(blend.arrivals.clone(), blend.seed),
            issued: 0,
            count: blend.count,
        }
    }
}

impl Make for BlendGenerator {
    fn issued(&self) -> u64 {
        self.issued
    }

    fn left(&self) -> u64 {
        self.count - self.issued
    }

    fn make(&mut self) -> Record {
        assert!(self.issued < self.count, "no request is left");
        if self.issued == 0 || self.turns == 1 || self.choice.below(self.turns) == 0 {
            let drawn = self.choice.below(1_000_000);
            let chosen = self.parts.iter().position(|(until, ..)| drawn < *until);
            self.at = chosen.expect("the shares add up to a million");
        }
        let (_, generator, base) = &mut self.parts[self.at];
        let record = generator.make();
        self.issued += 1;
        Record {
            time_ns: self.clock.arrival(),
            offset_bytes: record.offset_bytes + *base,
            ..record
        }
    }
}
