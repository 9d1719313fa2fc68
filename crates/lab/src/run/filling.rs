//! Preparing a device as `--precondition` says.
//!
//! Everything goes through the device like any other request, as fast as it can take it; afterwards
//! every count is forgotten and the clock starts anew, while flash and maps stay, and caches as
//! they are asked for.

use ftlab_engine::config::{DeviceSettings, UnwrittenRead};
use ftlab_engine::meter::Level;
use ftlab_engine::occupancy;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Lpn, Nanos, SECTOR_BYTES};
use ftlab_report::result::{Inherited, Precondition, SteadyState};
use ftlab_trace::Workload;

use crate::error::{Error, Result};
use crate::observer::{Counts, Steps};
use crate::options::precondition::{Cache, Mode, share};
use crate::plan::footprint::Footprint;
use crate::plan::layout::Layout;
use crate::plan::scheme_plan::SchemePlan;
use crate::run::steady::Rounds;
use crate::run::stream::RequestStream;

/// Bytes of a request of `wipc` (SNIA Solid State Storage Performance Test Specification 2.0.2,
/// workload-independent preconditioning).
const WIPC_BYTES: u64 = 128 * 1024;

/// How much of what it [`counts`] a mode takes, where that is known beforehand.
pub fn length(mode: &Mode, device: &DeviceSettings) -> Option<u64> {
    let pages = device.logical_pages();
    match *mode {
        Mode::None | Mode::Touch | Mode::Steady(_) | Mode::Snapshot(_) => None,
        Mode::Model => Some(pages),
        Mode::Fill => Some(pages.div_ceil(u64::from(device.units_per_block()))),
        Mode::Prefix(count) | Mode::Warmup(count) => Some(count),
        Mode::Random(millionths) => Some(share(pages, millionths)),
        Mode::Wipc => Some(2 * (pages * device.unit_bytes()).div_ceil(WIPC_BYTES)),
    }
}

/// What a mode counts in.
pub fn counts(mode: &Mode) -> Counts {
    match mode {
        Mode::Model => Counts::Pages,
        Mode::Snapshot(_) => Counts::Bytes,
        _ => Counts::Requests,
    }
}

/// What was done to a device.
#[derive(Clone)]
pub struct Prepared {
    /// For the result.
    pub precondition: Precondition,
    /// Whether it settled, where that was examined.
    pub steady_state: SteadyState,
    /// A sentence for the result, where preparing did not do what it is for.
    pub warning: Option<String>,
}

/// The workload, whose own requests prepare the device in some modes.
pub struct Own<'a> {
    /// To be read from its start.
    pub workload: &'a Workload,
    /// Where it lies.
    pub layout: &'a Layout,
    /// What will be measured, but for what is taken from it here.
    pub requests: &'a mut RequestStream,
}

/// Drives a device as fast as it takes requests.
pub struct Filler<'a> {
    device: &'a mut dyn Device,
    steps: &'a Steps<'a>,
    now: Nanos,
    /// When everything written so far is done.
    done: Nanos,
    sectors_per_page: u64,
    pages_per_block: u64,
}

impl<'a> Filler<'a> {
    /// Starts at the device's own time.
    pub fn new(device: &'a mut dyn Device, steps: &'a Steps<'a>) -> Self {
        let geometry = device.board().geometry();
        let sectors_per_page = u64::from(geometry.sectors_per_page());
        let pages_per_block = u64::from(geometry.pages_per_block);
        Filler { device, steps, now: 0, done: 0, sectors_per_page, pages_per_block }
    }

    /// Prepares the device as the plan of its run says and starts the measurement. The requests of
    /// a prefix are taken from its `own`, and so are those that come before a generated workload; a
    /// page that the workload reads before it writes it is written first where the device asks for
    /// that (`io.unwritten_read = preload`).
    pub fn prepare(
        mut self,
        run: &SchemePlan,
        seed: u64,
        footprint: Option<&Footprint>,
        own: Option<Own<'_>>,
    ) -> Result<Prepared> {
        let mut name = run.mode.to_string();
        let logical = u64::from(self.device.board().geometry().logical_pages);
        let mut steady_state = SteadyState::default();
        match &run.mode {
            Mode::None => {}
            Mode::Fill => self.write_runs(0..logical)?,
            Mode::Touch => self.write_runs(known(footprint).touched.iter())?,
            Mode::Prefix(count) | Mode::Warmup(count) => {
                let own = own.expect("the workload is at hand whenever its requests prepare");
                if let Some(passes) = self.write_own(&run.mode, *count, own)? {
                    name = format!("{name} (the workload's own, in {passes} passes)");
                }
            }
            Mode::Random(millionths) => {
                let mut rng = Rng::new(seed, Purpose::Workload);
                self.write_random(&mut rng, share(logical, *millionths))?;
            }
            Mode::Wipc => self.write_twice()?,
            Mode::Steady(millionths) => {
                self.write_twice()?;
                steady_state = self.settle(seed, share(logical, *millionths).max(1))?;
            }
            Mode::Model => self.install_model(run.chosen.row.paper.name, seed)?,
            Mode::Snapshot(_) => {}
        }
        if let Some(snapshot) = &run.snapshot {
            snapshot.load(self.device, self.steps)?;
            self.device.start_measuring();
            name = snapshot.title();
        }
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
        let mut warning = matches!(run.mode, Mode::Warmup(_)).then(|| self.not_used_up()).flatten();
        let written_back = self.settle_caches(run.cache)?;
        let inherited = Inherited {
            changed_map_entries: self.device.changed_entries(),
            buffered_pages: self
                .device
                .board()
                .meter()
                .level_now(Level::BufferedPages)
                .unwrap_or(0),
        };
        warning = warning.or_else(|| unclean(run, &inherited));
        let found = if run.mode.begins_by_recovery() { Cache::Cold } else { run.cache };
        let meter = self.device.board().meter();
        let precondition = Precondition {
            mode: name,
            requests: meter.host().total_requests(),
            pages_written: meter.host().pages[Op::Write as usize],
            erases: meter.total_erases(),
            cache: found.name().to_owned(),
            written_back,
            inherited,
        };
        if !run.mode.begins_by_recovery() {
            // A power cycle was off as long already.
            self.device.board_mut().nand_mut().was_off();
        }
        self.device.start_measuring();
        Ok(Prepared { precondition, steady_state, warning })
    }

    /// The capacity twice in order, in requests of [`WIPC_BYTES`]; the last one of a pass is
    /// shorter where they do not divide the capacity.
    fn write_twice(&mut self) -> Result<()> {
        let logical = u64::from(self.device.board().geometry().logical_pages);
        let (sectors, step) = (logical * self.sectors_per_page, WIPC_BYTES / SECTOR_BYTES);
        for first in (0..sectors).step_by(step as usize).chain((0..sectors).step_by(step as usize))
        {
            self.write(first, step.min(sectors - first) as u32)?;
        }
        Ok(())
    }

    /// Puts the steady state of random writing onto the flash.
    fn install_model(&mut self, scheme: &str, seed: u64) -> Result<()> {
        let steps = self.steps;
        occupancy::install(self.device, scheme, seed, |pages| steps.advance_by(pages))
    }

    /// So many pages, each anywhere in the logical space.
    fn write_random(&mut self, rng: &mut Rng, pages: u64) -> Result<()> {
        let logical = self.device.board().geometry().logical_pages;
        for _ in 0..pages {
            let page = u64::from(rng.below(logical));
            self.write(page * self.sectors_per_page, self.sectors_per_page as u32)?;
        }
        Ok(())
    }

    /// Rounds of `pages` random writes until they settle, or until there were enough of them.
    fn settle(&mut self, seed: u64, pages: u64) -> Result<SteadyState> {
        let mut rng = Rng::new(seed, Purpose::Workload);
        let mut rounds = Rounds::default();
        while !rounds.are_over() {
            let began = self.done;
            self.write_random(&mut rng, pages)?;
            // A device that takes no time at all writes a page in a nanosecond.
            let nanoseconds = (self.done - began).max(1);
            rounds.add(pages as f64 * 1e9 / nanoseconds as f64);
        }
        Ok(rounds.verdict(pages))
    }

    /// Ascending pages, neighbours of one logical block together.
    fn write_runs(&mut self, pages: impl Iterator<Item = u64>) -> Result<()> {
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

    fn write_run(&mut self, run: Option<(u64, u64)>) -> Result<()> {
        let Some((first, length)) = run else {
            return Ok(());
        };
        self.write(first * self.sectors_per_page, (length * self.sectors_per_page) as u32)
    }

    fn write_prefix(&mut self, count: u64, requests: &mut RequestStream) -> Result<()> {
        // One record can become several requests, so records are counted, not requests.
        while let Some(request) = requests.next_of_first(count) {
            let request = request?;
            if matches!(request.op, Op::Read | Op::Write) {
                self.write(request.first_sector, request.sectors)?;
            }
        }
        Ok(())
    }

    /// Requests of the workload; how often it was begun for that, where these are not the first of
    /// what is measured.
    fn write_own(&mut self, mode: &Mode, count: u64, own: Own<'_>) -> Result<Option<u64>> {
        let Own { workload, layout, requests } = own;
        match mode {
            Mode::Warmup(_) if !workload.is_generated() => {
                self.write_round_and_round(count, workload, layout).map(Some)
            }
            _ => self.write_prefix(count, requests).map(|()| None),
        }
    }

    /// The first `count` requests of a workload, and as many again from its start as that takes;
    /// how often it was begun.
    fn write_round_and_round(
        &mut self,
        count: u64,
        workload: &Workload,
        layout: &Layout,
    ) -> Result<u64> {
        let (mut left, mut passes) = (count, 0);
        while left > 0 {
            let mut requests = RequestStream::new(workload.requests(layout.map()?)?);
            self.write_prefix(left, &mut requests)?;
            let taken = requests.records_taken();
            if taken == 0 {
                return Err(Error::usage("--precondition warmup:N: the workload has no request"));
            }
            (left, passes) = (left - taken, passes + 1);
        }
        Ok(passes)
    }

    /// That the flash is not used up, where nothing of it had to be erased.
    fn not_used_up(&self) -> Option<String> {
        let board = self.device.board();
        let state = board.nand().state();
        let blocks = (0..board.geometry().blocks()).map(|block| state.block(BlockId(block)));
        let untouched = blocks.filter(|block| !block.touched && !block.retired).count();
        (board.meter().total_erases() == 0).then(|| {
            format!(
                "The warm-up did not use the flash up: nothing was erased, and {untouched} of {} \
                 blocks were never written; --precondition warmup:N with a larger N would.",
                board.geometry().blocks()
            )
        })
    }

    /// Leaves buffer and map cache as they are asked for; how many changed map entries were written
    /// back for that.
    fn settle_caches(&mut self, cache: Cache) -> Result<u64> {
        let failed =
            |error| Error::Run(format!("during preconditioning, cache={}: {error}", cache.name()));
        if cache == Cache::Warm {
            return Ok(0);
        }
        let written_back = self.device.clean_caches().map_err(failed)?;
        if cache == Cache::Cold {
            self.device.power_cycle().map_err(failed)?;
        }
        Ok(written_back)
    }

    fn write(&mut self, first_sector: u64, sectors: u32) -> Result<()> {
        self.now = self.now.max(self.device.next_slot());
        let request = Request {
            arrival: self.now,
            op: Op::Write,
            first_sector,
            sectors,
            unit: 0,
            stream: None,
            content: None,
        };
        let completion = self
            .device
            .submit(&request)
            .map_err(|error| Error::Run(format!("during preconditioning: {error}")))?;
        self.done = self.done.max(completion.completed);
        self.steps.advance()
    }
}

/// That caches begin as preparing left them where they would be clean, had the scheme a way.
fn unclean(run: &SchemePlan, inherited: &Inherited) -> Option<String> {
    let why = run.unclean.filter(|_| !run.mode.begins_by_recovery() || inherited.any())?;
    let entries = match inherited.changed_map_entries {
        0 => "what they changed".to_owned(),
        changed => format!("{changed} changed map entries"),
    };
    Some(format!(
        "Map caches begin as preparing left them ({why}): {entries} will be written in the measured \
         part and are charged to it; --precondition {},cache=cold begins without them.",
        run.mode
    ))
}

fn known(footprint: Option<&Footprint>) -> &Footprint {
    footprint.expect("a first pass is made whenever a mode or the device asks for it")
}
