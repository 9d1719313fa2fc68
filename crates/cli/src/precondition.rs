//! `--precondition`: what is done to a device before the measurement.
//!
//! Everything goes through the device like any other request, as fast as it can take it; afterwards
//! every count is forgotten and the clock starts anew, while flash, maps and caches stay.

use std::fmt;

use ftlab_engine::config::UnwrittenRead;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};
use ftlab_report::result::Precondition;

use crate::failure::{Failure, Outcome};
use crate::footprint::Footprint;
use crate::progress::Bar;
use crate::stream::RequestStream;

const LEGAL: &str = "none, fill, touch, prefix:N, random:Nx (such as random:2x), and per scheme: \
                     touch,SCHEME=fill";

/// One way to prepare a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    None,
    /// The logical space, once, in order.
    Fill,
    /// Every page that the workload reads or overwrites, once, in order.
    Touch,
    /// The first requests of the workload, as writes; the run goes on behind them.
    Prefix(u64),
    /// Random page writes, so many millionths of the logical pages.
    Random(u64),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::None => f.write_str("none"),
            Mode::Fill => f.write_str("fill"),
            Mode::Touch => f.write_str("touch"),
            Mode::Prefix(requests) => write!(f, "prefix:{requests}"),
            Mode::Random(millionths) => write!(f, "random:{}x", *millionths as f64 / 1e6),
        }
    }
}

impl Mode {
    /// Requests that it takes on a device of so many pages, where that is known beforehand.
    pub fn requests(self, logical_pages: u64, pages_per_block: u64) -> Option<u64> {
        match self {
            Mode::None | Mode::Touch => None,
            Mode::Fill => Some(logical_pages.div_ceil(pages_per_block)),
            Mode::Prefix(count) => Some(count),
            Mode::Random(millionths) => Some(share(logical_pages, millionths)),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => match text {
                "none" => Some(Mode::None),
                "fill" => Some(Mode::Fill),
                "touch" => Some(Mode::Touch),
                _ => None,
            },
            Some(("prefix", count)) => {
                count.parse().ok().filter(|&count| count > 0).map(Mode::Prefix)
            }
            Some(("random", times)) => {
                let times: f64 = times.strip_suffix('x')?.parse().ok()?;
                let millionths = (times * 1e6).round();
                (1.0..=1e12).contains(&millionths).then_some(Mode::Random(millionths as u64))
            }
            Some(_) => None,
        }
    }
}

/// Millionths of a number, rounded down.
fn share(number: u64, millionths: u64) -> u64 {
    (u128::from(number) * u128::from(millionths) / 1_000_000) as u64
}

/// The mode of each scheme: one for all, and exceptions.
#[derive(Clone, Debug)]
pub struct Modes {
    all: Mode,
    exceptions: Vec<(String, Mode)>,
}

impl Modes {
    /// Reads the option.
    pub fn parse(text: &str) -> Outcome<Self> {
        let wrong = |part: &str| {
            Failure::usage(format!("--precondition '{part}' is not legal; legal: {LEGAL}"))
        };
        let mut all = None;
        let mut exceptions: Vec<(String, Mode)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (scheme, mode) = part.split_once('=').map_or((None, part), |(s, m)| (Some(s), m));
            let mode = Mode::parse(mode).ok_or_else(|| wrong(part))?;
            match scheme {
                None if all.replace(mode).is_none() => {}
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
        Ok(Modes { all: all.unwrap_or(Mode::None), exceptions })
    }

    /// The mode of a scheme, named with its preset or without.
    pub fn of(&self, scheme: &str) -> Mode {
        let base = scheme.split(':').next().unwrap_or(scheme);
        let named = |name: &str| self.exceptions.iter().find(|(known, _)| known == name);
        named(scheme).or_else(|| named(base)).map_or(self.all, |(_, mode)| *mode)
    }
}

/// Drives a device as fast as it takes requests.
pub struct Filler<'a> {
    device: &'a mut dyn Device,
    bar: &'a Bar,
    now: Nanos,
    sectors_per_page: u64,
    pages_per_block: u64,
}

impl<'a> Filler<'a> {
    /// Starts at the device's own time.
    pub fn new(device: &'a mut dyn Device, bar: &'a Bar) -> Self {
        let geometry = device.board().geometry();
        let sectors_per_page = u64::from(geometry.sectors_per_page());
        let pages_per_block = u64::from(geometry.pages_per_block);
        Filler { device, bar, now: 0, sectors_per_page, pages_per_block }
    }

    /// Prepares the device as `mode` says and starts the measurement. The requests of a prefix
    /// are taken from `requests`; a page that the workload reads before it writes it is written
    /// first where the device asks for that (`io.unwritten_read = preload`).
    pub fn prepare(
        mut self,
        mode: Mode,
        seed: u64,
        footprint: Option<&Footprint>,
        requests: &mut RequestStream,
    ) -> Outcome<Precondition> {
        let logical = u64::from(self.device.board().geometry().logical_pages);
        match mode {
            Mode::None => {}
            Mode::Fill => self.write_runs(0..logical)?,
            Mode::Touch => self.write_runs(known(footprint).touched.iter())?,
            Mode::Prefix(count) => self.write_prefix(count, requests)?,
            Mode::Random(millionths) => {
                let mut rng = Rng::new(seed, Purpose::Workload);
                for _ in 0..share(logical, millionths) {
                    let page = u64::from(rng.below(logical as u32));
                    self.write(page * self.sectors_per_page, self.sectors_per_page as u32)?;
                }
            }
        }
        let mut name = mode.to_string();
        if self.device.config().io.unwritten_read == UnwrittenRead::Preload {
            let unwritten: Vec<u64> = known(footprint)
                .read_first
                .iter()
                .filter(|&page| !self.device.is_written(Lpn(page as u32)))
                .collect();
            if !unwritten.is_empty() {
                name = format!("{name}, then preload of {} pages", unwritten.len());
                self.write_runs(unwritten.into_iter())?;
            }
        }
        let meter = self.device.board().meter();
        let done = Precondition {
            mode: name,
            requests: meter.host().total_requests(),
            pages_written: meter.host().pages[Op::Write as usize],
            erases: meter.total_erases(),
        };
        self.device.start_measuring();
        Ok(done)
    }

    /// Ascending pages, neighbours of one logical block together.
    fn write_runs(&mut self, pages: impl Iterator<Item = u64>) -> Outcome<()> {
        let mut run: Option<(u64, u64)> = None;
        for page in pages {
            match &mut run {
                Some((first, length))
                    if *first + *length == page && page % self.pages_per_block != 0 =>
                {
                    *length += 1;
                }
                _ => {
                    self.write_run(run)?;
                    run = Some((page, 1));
                }
            }
        }
        self.write_run(run)
    }

    fn write_run(&mut self, run: Option<(u64, u64)>) -> Outcome<()> {
        let Some((first, length)) = run else {
            return Ok(());
        };
        self.write(first * self.sectors_per_page, (length * self.sectors_per_page) as u32)
    }

    fn write_prefix(&mut self, count: u64, requests: &mut RequestStream) -> Outcome<()> {
        // One record can become several requests, so records are counted, not requests.
        while let Some(request) = requests.next_of_first(count) {
            let request = request?;
            if matches!(request.op, Op::Read | Op::Write) {
                self.write(request.first_sector, request.sectors)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, first_sector: u64, sectors: u32) -> Outcome<()> {
        self.now = self.now.max(self.device.next_slot());
        let request = Request { arrival: self.now, op: Op::Write, first_sector, sectors, unit: 0 };
        self.device
            .submit(&request)
            .map_err(|error| Failure::Run(format!("during preconditioning: {error}")))?;
        self.bar.advance()
    }
}

fn known(footprint: Option<&Footprint>) -> &Footprint {
    footprint.expect("a first pass is made whenever a mode or the device asks for it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mode_for_all_and_exceptions_per_scheme() {
        let modes = Modes::parse("touch,ideal_page=fill,dftl:gtd=none").unwrap();
        assert_eq!(modes.of("ideal_page"), Mode::Fill);
        assert_eq!(modes.of("dftl"), Mode::Touch);
        assert_eq!(modes.of("dftl:gtd"), Mode::None);
        assert_eq!(Modes::parse("ideal_page=fill").unwrap().of("dftl"), Mode::None);
        assert_eq!(Modes::parse("random:1.5x").unwrap().of("dftl"), Mode::Random(1_500_000));
        assert_eq!(Mode::Random(1_500_000).to_string(), "random:1.5x");
    }

    #[test]
    fn illegal_modes_say_what_is_legal() {
        for text in ["", "full", "prefix:0", "prefix:x", "random:2", "random:-1x", "fill,touch"] {
            let refusal = Modes::parse(text).unwrap_err().to_string();
            assert!(refusal.contains("random:Nx"), "{text}: {refusal}");
        }
        assert!(Modes::parse("dftlx=fill").unwrap_err().to_string().contains("nearest: dftl"));
        // Modes of later issues are unknown, not stubs.
        for text in ["steady", "model", "snapshot:x", "wipc"] {
            assert!(Modes::parse(text).is_err(), "{text}");
        }
    }
}
