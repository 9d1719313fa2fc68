//! `--precondition`: what was asked to be done to each scheme's device before the measurement. How
//! it is done is in `run/filling.rs`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use ftlab_engine::schemes;

use crate::error::{Error, Result};
use crate::options::text::as_text;

const LEGAL: &str = "none, fill, touch, wipc, prefix:N, warmup:N, random:Nx (such as random:2x), \
                     steady or steady:Nx (rounds of N times the capacity), model, snapshot:FILE \
                     (its name without a comma), per scheme: touch,SCHEME=fill, and once for all \
                     cache=warm, cache=clean or cache=cold";

const WHOLE: u64 = 1_000_000;

/// One way to prepare a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    None,
    /// The logical space, once, in order.
    Fill,
    /// Every page that the workload reads or overwrites, once, in order.
    Touch,
    /// The first requests of the workload, as writes; the run goes on behind them.
    Prefix(u64),
    /// So many requests of the workload, as writes, before all of it: a generated workload is that
    /// much longer, any other is read from its start, as often as that takes.
    Warmup(u64),
    /// Random page writes, so many millionths of the logical pages.
    Random(u64),
    /// SNIA's workload-independent preconditioning: the capacity twice in order, 128 KiB at a time.
    Wipc,
    /// `wipc`, then rounds of random page writes, of so many millionths of the logical pages each,
    /// until they take the same time.
    Steady(u64),
    /// The occupancy of blocks that long random writing leads to, put onto the flash at once.
    Model,
    /// The flash of another run, from a file.
    Snapshot(PathBuf),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::None => f.write_str("none"),
            Mode::Fill => f.write_str("fill"),
            Mode::Touch => f.write_str("touch"),
            Mode::Prefix(requests) => write!(f, "prefix:{requests}"),
            Mode::Warmup(requests) => write!(f, "warmup:{requests}"),
            Mode::Random(millionths) => write!(f, "random:{}x", times(*millionths)),
            Mode::Wipc => f.write_str("wipc"),
            Mode::Steady(WHOLE) => f.write_str("steady"),
            Mode::Model => f.write_str("model"),
            Mode::Snapshot(path) => write!(f, "snapshot:{}", path.display()),
            Mode::Steady(millionths) => write!(f, "steady:{}x", times(*millionths)),
        }
    }
}

impl Mode {
    /// What becomes of the map cache where nobody says so: what ftlab wrote to fill the flash is
    /// not the workload's doing, and what it changed is written back; what the workload's own
    /// requests changed is part of it.
    pub fn cache(&self) -> Cache {
        match self {
            Mode::None | Mode::Prefix(_) | Mode::Warmup(_) => Cache::Warm,
            Mode::Fill | Mode::Touch | Mode::Random(_) | Mode::Wipc | Mode::Steady(_) => {
                Cache::Clean
            }
            Mode::Model | Mode::Snapshot(_) => Cache::Clean,
        }
    }

    /// Whether requests of the workload prepare the device.
    pub fn takes_requests(&self) -> bool {
        matches!(self, Mode::Prefix(_) | Mode::Warmup(_))
    }

    /// Whether memory begins empty in any case: what is put onto the flash at once is found by the
    /// scheme's recovery.
    pub fn begins_by_recovery(&self) -> bool {
        matches!(self, Mode::Model | Mode::Snapshot(_))
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => match text {
                "none" => Some(Mode::None),
                "fill" => Some(Mode::Fill),
                "touch" => Some(Mode::Touch),
                "wipc" => Some(Mode::Wipc),
                "steady" => Some(Mode::Steady(WHOLE)),
                "model" => Some(Mode::Model),
                _ => None,
            },
            Some(("prefix", count)) => {
                count.parse().ok().filter(|&count| count > 0).map(Mode::Prefix)
            }
            Some(("warmup", count)) => {
                count.parse().ok().filter(|&count| count > 0).map(Mode::Warmup)
            }
            Some(("random", times)) => millionths(times).map(Mode::Random),
            Some(("steady", times)) => millionths(times).map(Mode::Steady),
            Some(("snapshot", path)) if !path.is_empty() => Some(Mode::Snapshot(path.into())),
            Some(_) => None,
        }
    }
}

/// `1.5x` in millionths.
fn millionths(times: &str) -> Option<u64> {
    let times: f64 = times.strip_suffix('x')?.parse().ok()?;
    let millionths = (times * 1e6).round();
    (1.0..=1e12).contains(&millionths).then_some(millionths as u64)
}

fn times(millionths: u64) -> f64 {
    millionths as f64 / 1e6
}

/// Millionths of a number, rounded down.
pub(crate) fn share(number: u64, millionths: u64) -> u64 {
    (u128::from(number) * u128::from(millionths) / 1_000_000) as u64
}

/// What becomes of map caches when a device is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// They stay as preparing left them, with changed entries that are written later.
    Warm,
    /// They hold what they held; changed entries are written back.
    Clean,
    /// Cleaned, and then empty: as behind a power cut and the recovery from it.
    Cold,
}

impl Cache {
    const WORD: &'static str = "cache";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "warm" => Some(Cache::Warm),
            "clean" => Some(Cache::Clean),
            "cold" => Some(Cache::Cold),
            _ => None,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Warm => "warm",
            Cache::Clean => "clean",
            Cache::Cold => "cold",
        }
    }
}

/// The mode of each scheme: one for all, and exceptions, as in `touch,ideal_page=fill`; and what
/// becomes of the map caches of all, where that is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    all: Mode,
    exceptions: Vec<(String, Mode)>,
    cache: Option<Cache>,
}

impl From<Mode> for Modes {
    fn from(all: Mode) -> Self {
        Modes { all, exceptions: Vec::new(), cache: None }
    }
}

impl Default for Modes {
    fn default() -> Self {
        Mode::None.into()
    }
}

impl FromStr for Modes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |part: &str| {
            Error::usage(format!("--precondition '{part}' is not legal; legal: {LEGAL}"))
        };
        let (mut all, mut cache) = (None, None);
        let mut exceptions: Vec<(String, Mode)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            // The name of a file may hold anything.
            let named = part.split_once('=').filter(|(scheme, _)| !scheme.contains("snapshot:"));
            let (scheme, mode) = named.map_or((None, part), |(s, m)| (Some(s), m));
            if scheme == Some(Cache::WORD) {
                let asked = Cache::parse(mode).filter(|_| cache.is_none());
                cache = Some(asked.ok_or_else(|| wrong(part))?);
                continue;
            }
            let mode = Mode::parse(mode).ok_or_else(|| wrong(part))?;
            match scheme {
                None if all.is_none() => all = Some(mode),
                None => return Err(wrong(text)),
                Some(scheme) => {
                    schemes::find(scheme)?;
                    if exceptions.iter().any(|(known, _)| known == scheme) {
                        return Err(wrong(text));
                    }
                    exceptions.push((scheme.to_owned(), mode));
                }
            }
        }
        Ok(Modes { all: all.unwrap_or(Mode::None), exceptions, cache })
    }
}

impl fmt::Display for Modes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)?;
        self.exceptions.iter().try_for_each(|(scheme, mode)| write!(f, ",{scheme}={mode}"))?;
        self.cache.iter().try_for_each(|cache| write!(f, ",{}={}", Cache::WORD, cache.name()))
    }
}

as_text!(Modes);

impl Modes {
    /// What becomes of the map caches, where it is stated; else [`Mode::cache`] tells.
    pub fn cache(&self) -> Option<Cache> {
        self.cache
    }

    /// The mode of a scheme, named with its preset or without.
    pub fn of(&self, scheme: &str) -> Mode {
        let base = scheme.split(':').next().unwrap_or(scheme);
        let named = |name: &str| self.exceptions.iter().find(|(known, _)| known == name);
        named(scheme).or_else(|| named(base)).map_or(&self.all, |(_, mode)| mode).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mode_for_all_and_exceptions_per_scheme() {
        let modes = Modes::from_str("touch,ideal_page=fill,dftl:gtd=none").unwrap();
        assert_eq!(modes.to_string(), "touch,ideal_page=fill,dftl:gtd=none");
        assert_eq!(modes.of("ideal_page"), Mode::Fill);
        assert_eq!(modes.of("dftl"), Mode::Touch);
        assert_eq!(modes.of("dftl:gtd"), Mode::None);
        assert_eq!(Modes::from_str("ideal_page=fill").unwrap().of("dftl"), Mode::None);
        assert_eq!(Modes::from_str("random:1.5x").unwrap().of("dftl"), Mode::Random(1_500_000));
        for text in ["random:1.5x", "wipc", "steady", "steady:0.25x", "model", "snapshot:a=b.snap"]
        {
            assert_eq!(Modes::from_str(text).unwrap().of("dftl").to_string(), text);
        }
    }

    #[test]
    fn map_caches_are_left_as_asked_for_under_any_mode() {
        for (text, cache) in [
            ("warmup:300000", None),
            ("warmup:300000,cache=clean", Some(Cache::Clean)),
            ("fill,dftl=touch,cache=cold", Some(Cache::Cold)),
            ("fill,cache=warm", Some(Cache::Warm)),
        ] {
            let modes = Modes::from_str(text).unwrap();
            assert_eq!((modes.cache(), modes.to_string()), (cache, text.to_owned()));
        }
        let modes = Modes::from_str("cache=cold, warmup:5").unwrap();
        assert_eq!(modes.of("dftl"), Mode::Warmup(5));
        assert_eq!(modes.to_string(), "warmup:5,cache=cold");
        assert_eq!(Modes::from_str("cache=clean").unwrap().to_string(), "none,cache=clean");
    }

    #[test]
    fn illegal_modes_say_what_is_legal() {
        for text in [
            "",
            "full",
            "prefix:0",
            "prefix:x",
            "warmup",
            "warmup:0",
            "warmup:2x",
            "fill,cache=hot",
            "fill,cache=cold,cache=cold",
            "fill,cache",
            "random:2",
            "random:-1x",
            "steady:2",
            "snapshot:",
            "fill,touch",
            "snapshot:a,b.snap",
            "dftl=snapshot:a,b.snap",
        ] {
            let refusal = Modes::from_str(text).unwrap_err().to_string();
            assert!(refusal.contains("random:Nx"), "{text}: {refusal}");
            assert!(refusal.contains("without a comma"), "{text}: {refusal}");
        }
        let two = Modes::from_str("dftl=snapshot:a,fast=snapshot:b").unwrap();
        assert_eq!(two.of("fast"), Mode::Snapshot("b".into()), "a snapshot for each scheme");
        assert!(Modes::from_str("dftlx=fill").unwrap_err().to_string().contains("nearest: dftl"));
    }
}
