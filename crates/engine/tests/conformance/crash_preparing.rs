//! Power cuts while a device is prepared (`--precondition`): filled in order, written at random as
//! fast as it takes requests, its caches cleaned, and the power gone for cold ones. What was
//! written is there afterwards, the device can be prepared once more, and what is measured then
//! works.

use crate::common::cuts::{Host, LOGICAL_BLOCKS, Spread};
use crate::common::{chosen, open, pages, tiny, variants};
use crate::crash::{is_all, keeps};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::Nanos;

/// Requests of what is measured behind a preparation.
const MEASURED: usize = 24;

#[derive(Clone, Copy)]
enum Step {
    Write {
        first: u64,
        pages: u64,
    },
    /// `cache=clean`.
    Clean,
    /// `cache=cold`.
    Cycle,
}

/// A block at a time in order, then as many single pages at random, then what is asked of caches.
fn steps(config: &Config, seed: u64) -> Vec<Step> {
    let (logical, block) =
        (config.device.logical_pages(), u64::from(config.device.units_per_block()));
    let mut rng = Rng::new(seed, Purpose::Workload);
    let fill = (0..logical).step_by(block as usize);
    let fill = fill.map(|first| Step::Write { first, pages: block.min(logical - first) });
    let anywhere =
        (0..logical).map(|_| Step::Write { first: rng.below(logical as u32).into(), pages: 1 });
    fill.chain(anywhere).chain([Step::Clean, Step::Cycle]).collect()
}

/// A device that is prepared, and the host's memory of it.
struct Prepared<'a> {
    device: Box<dyn Device>,
    host: Host,
    config: &'a Config,
    now: Nanos,
    name: &'a str,
}

impl Prepared<'_> {
    fn duplicate(&self) -> Self {
        Prepared { device: self.device.duplicate(), host: self.host.clone(), ..*self }
    }

    /// Whether the power went.
    fn does(&mut self, step: Step) -> bool {
        let (request, done) = match step {
            Step::Write { first, pages: count } => {
                self.now = self.now.max(self.device.next_slot());
                let request = pages(self.config, Op::Write, first, count);
                let request = Request { arrival: self.now, ..request };
                (Some(request), self.device.submit(&request).map(|_| ()))
            }
            Step::Clean => (None, self.device.clean_caches().map(|_| ())),
            Step::Cycle => (None, self.device.power_cycle().map(|_| ())),
        };
        let is_cut = match done {
            Ok(()) => false,
            Err(DeviceError::Fault(Fault::PowerCut)) => true,
            Err(error) => panic!("{}: {error}", self.name),
        };
        if let Some(request) = request {
            self.host.note(&request, !is_cut);
        }
        if is_cut {
            self.host.came_to(self.device.last_version());
        }
        is_cut
    }

    /// Behind a cut: recovers, is prepared once more from the beginning, and measured.
    fn begin_anew(mut self, steps: &[Step], line: &str) {
        let told = |error: String| -> ! { panic!("{line}: {error}") };
        self.device.power_cycle().unwrap_or_else(|error| told(error.to_string()));
        self.device.audit().unwrap_or_else(|error| told(format!("after recovery: {error}")));
        self.host.check(self.device.as_ref(), line);
        self.host.adopt(self.device.as_ref());
        self.now = self.now.max(self.device.idle_from());
        for &step in steps {
            assert!(!self.does(step), "{line}: nobody asked for another cut");
        }
        self.host.check(self.device.as_ref(), line);
        self.device.start_measuring();
        let mut requests = Spread::new(self.config, MEASURED, 5);
        while let Some(request) = requests.take(self.device.as_ref()) {
            self.device.submit(&request).unwrap_or_else(|error| told(error.to_string()));
            self.host.note(&request, true);
        }
        self.device.audit().unwrap_or_else(|error| told(format!("at the end: {error}")));
        self.host.check(self.device.as_ref(), line);
    }
}

/// Cuts at every operation of preparing, and at every one of the recovery that cold caches come
/// from.
fn cut_everywhere(scheme: &str, pairs: &[(&str, &str)], durable: bool, number: u64) -> (u64, u64) {
    let config = tiny(scheme, LOGICAL_BLOCKS, pairs);
    let host = Host::new((scheme, keeps(scheme, &config, durable)), &config);
    let mut device = open(scheme, &config);
    device.verify_reads();
    let name = format!("{scheme} {pairs:?}, preparing");
    let mut one = Prepared { device, host, config: &config, now: 0, name: &name };
    let steps = steps(&config, 40 + number);
    let (mut cuts, mut recuts) = (0u64, 0u64);
    for (place, &step) in steps.iter().enumerate() {
        for within in 0.. {
            let outcome = CutOutcome::ALL[((cuts + number) % 3) as usize];
            let mut cut = one.duplicate();
            let faults = cut.device.board_mut().nand_mut().faults_mut();
            match step {
                Step::Cycle => faults.cut_recovery_after(within, outcome),
                _ => faults.cut_power_after(within, outcome),
            }
            if !cut.does(step) {
                cut.device.board_mut().nand_mut().faults_mut().forget_cut();
                one = cut;
                break;
            }
            let line = format!("{name}, step {place}, cut at {within} ({outcome:?})");
            cut.begin_anew(&steps, &line);
            cuts += 1;
            recuts += u64::from(matches!(step, Step::Cycle));
        }
    }
    assert!(cuts > 50, "{name}: only {cuts} cuts");
    (cuts, recuts)
}

#[test]
#[allow(clippy::print_stdout, reason = "how many cuts there were is told")]
fn every_scheme_survives_cuts_while_it_is_prepared() {
    let rows = schemes::TABLE.iter().map(|row| (row.paper.name, &[][..], true));
    // Beside the defaults every variant with `FTLAB_ALL_CUTS`, and else some of them.
    let every = if is_all() { 1 } else { 6 };
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs, variant.durable));
    let all = rows.chain(variants.step_by(every)).enumerate();
    let (mut cuts, mut recuts) = (0, 0);
    for (number, (scheme, pairs, durable)) in all.filter(|(_, (scheme, ..))| chosen(scheme)) {
        let (more, again) = cut_everywhere(scheme, pairs, durable, number as u64);
        (cuts, recuts) = (cuts + more, recuts + again);
    }
    println!(
        "{cuts} cuts while devices were prepared, {recuts} of them in recoveries for cold caches"
    );
    assert!(recuts > 0 || std::env::var("FTLAB_ONLY").is_ok(), "no recovery programmed anything");
}
