//! Power cuts at every program and erase of a workload, the interrupted operation undone, done or
//! torn; recovery is itself cut. Every completed write is there afterwards, flushed trims stay
//! trimmed, and the device goes on working.
//!
//! A failure names its case in one line: `FTLAB_CRASH="variant;seed;cut;outcome;recut"`, which
//! replays it alone when set in the environment (variants are numbered as in `variants::all`).

mod common;

use common::faults;
use common::variants::{self, Variant};
use common::{chosen, mixed, open, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{Lpn, Tag};

const LOGICAL_BLOCKS: u64 = 10;
const REQUESTS: usize = 90;

/// What a page may hold after a cut.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Version of the last completed write, 0 for none or trimmed.
    newest: u32,
    /// Versions that an unflushed trim or an interrupted request leaves possible.
    possible: Vec<u32>,
    /// Every version ever written, for schemes that may lose some.
    history: Vec<u32>,
}

/// The host's memory of what it wrote.
struct Host {
    pages: Vec<Page>,
    next_tag: u32,
    sectors_per_page: u64,
}

impl Host {
    fn new(config: &Config) -> Self {
        Host {
            pages: vec![Page::default(); config.device.logical_pages() as usize],
            next_tag: 0,
            sectors_per_page: config.device.unit_bytes() / 512,
        }
    }

    fn range(&self, request: &Request) -> std::ops::Range<usize> {
        let first = request.first_sector / self.sectors_per_page;
        let count = u64::from(request.sectors) / self.sectors_per_page;
        first as usize..(first + count) as usize
    }

    /// Notes a request; `completed` is false for the one that the cut interrupted.
    fn note(&mut self, request: &Request, completed: bool) {
        let range = self.range(request);
        match request.op {
            Op::Write => {
                for page in &mut self.pages[range] {
                    self.next_tag += 1;
                    page.history.push(self.next_tag);
                    if completed {
                        page.newest = self.next_tag;
                        page.possible.clear();
                    } else {
                        page.possible.push(self.next_tag);
                    }
                }
            }
            Op::Trim => {
                for page in &mut self.pages[range] {
                    let earlier = page.history.clone();
                    page.possible.extend(earlier);
                    page.possible.push(0);
                    if completed {
                        page.newest = 0;
                    }
                }
            }
            // Trims that completed before a flush are final.
            Op::Flush if completed => {
                for page in self.pages.iter_mut().filter(|page| page.newest == 0) {
                    page.possible.clear();
                }
            }
            Op::Flush | Op::Read => {}
        }
    }

    fn check(&self, device: &dyn Device, durable: bool, case: &str) {
        for (lpn, page) in self.pages.iter().enumerate() {
            let found = match device.locate(Lpn(lpn as u32)) {
                Location::Flash(ppn) => device.board().nand().state().tag(ppn),
                Location::Ram(tag) => tag,
                Location::Nowhere => Tag(0),
            }
            .0;
            let legal = if durable {
                found == page.newest || page.possible.contains(&found)
            } else {
                found == 0 || page.history.contains(&found)
            };
            assert!(legal, "{case}: page {lpn} holds version {found}, legal is {page:?}");
        }
    }
}

#[derive(Clone, Copy)]
struct Case {
    seed: u64,
    cut: u64,
    outcome: CutOutcome,
    recut: Option<u64>,
}

/// Runs one case. Returns whether the cut and the cut of the recovery happened.
fn run(variant: &Variant, number: usize, config: &Config, case: Case) -> (bool, bool) {
    let line = format!(
        "FTLAB_CRASH=\"{};{number};{};{};{:?};{:?}\"",
        variant.scheme, case.seed, case.cut, case.outcome, case.recut
    );
    let mut device = open(variant.scheme, config);
    device.verify_reads();
    let mut host = Host::new(config);
    let requests = mixed(config, 2 * REQUESTS, case.seed);
    let (before, behind) = requests.split_at(REQUESTS);
    device.board_mut().nand_mut().faults_mut().cut_power_after(case.cut, case.outcome);
    let interrupted = before.iter().find(|request| match device.submit(request) {
        Ok(_) => {
            host.note(request, true);
            false
        }
        Err(DeviceError::Fault(Fault::PowerCut)) => {
            host.note(request, false);
            host.next_tag = device.last_version().0;
            true
        }
        Err(error) => panic!("{line}: {error}"),
    });
    if interrupted.is_none() {
        return (false, false);
    }
    let recut = recover(device.as_mut(), case, &line);
    if let Err(error) = device.audit() {
        panic!("{line}: after recovery: {error}");
    }
    host.check(device.as_ref(), variant.durable, &line);
    for request in behind {
        if let Err(error) = device.submit(request) {
            panic!("{line}: after recovery: {error}");
        }
    }
    if let Err(error) = device.audit() {
        panic!("{line}: at the end: {error}");
    }
    (true, recut)
}

/// Recovers, the first time with a cut at operation `recut` of the recovery.
fn recover(device: &mut dyn Device, case: Case, line: &str) -> bool {
    if let Some(recut) = case.recut {
        device.board_mut().nand_mut().faults_mut().cut_recovery_after(recut, case.outcome);
        match device.power_cycle() {
            Ok(_) => {
                device.board_mut().nand_mut().faults_mut().forget_cut();
                return false;
            }
            Err(DeviceError::Fault(Fault::PowerCut)) => {}
            Err(error) => panic!("{line}: recovery: {error}"),
        }
    }
    if let Err(error) = device.power_cycle() {
        panic!("{line}: recovery: {error}");
    }
    case.recut.is_some()
}

fn every_cut(variant: &Variant, number: usize) {
    let config = tiny(variant.scheme, LOGICAL_BLOCKS, variant.pairs);
    let seed = 11 + number as u64;
    for outcome in CutOutcome::ALL {
        let mut cut = 0;
        loop {
            let mut recut = None;
            let (happened, _) = run(variant, number, &config, Case { seed, cut, outcome, recut });
            if !happened {
                assert!(cut > 50, "{}: the workload hardly touched flash", variant.scheme);
                break;
            }
            // Every seventh cut: the recovery is cut at each of its operations as well.
            for again in 0.. {
                if cut % 7 != 0 {
                    break;
                }
                recut = Some(again);
                if !run(variant, number, &config, Case { seed, cut, outcome, recut }).1 {
                    break;
                }
            }
            cut += 1;
        }
    }
}

#[test]
fn every_scheme_survives_a_cut_at_every_operation() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let variant = Variant { scheme: row.paper.name, pairs: &[], durable: true };
        every_cut(&variant, usize::MAX >> 40);
    }
}

#[test]
fn every_variant_survives_a_cut_at_every_operation() {
    let variants = variants::all().enumerate().filter(|(_, variant)| chosen(variant.scheme));
    for (number, variant) in variants {
        every_cut(variant, number);
    }
}

/// Cuts on devices with every kind of fault at once, the recovery cut as well: what a failure left
/// (blocks read-only or retired, pages that cannot be read) is there after recovery as before.
#[test]
fn every_variant_survives_cuts_among_faults() {
    let rows = schemes::TABLE.iter().map(|row| (row.paper.name, Default::default(), true));
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs, variant.durable));
    let all = rows.chain(variants).enumerate().filter(|(_, (scheme, ..))| chosen(scheme));
    for (number, (scheme, own, durable)) in all {
        let pairs = [own, faults::MIXED, &[("nand.program_failure_rate", "0.01")]].concat();
        let config = tiny(scheme, LOGICAL_BLOCKS, &pairs);
        let variant = Variant { scheme, pairs: own, durable };
        let mut cuts = 0;
        for turn in 0..60u64 {
            let outcome = CutOutcome::ALL[(turn % 3) as usize];
            let recut = (turn % 2 == 1).then_some(turn / 6);
            let case = Case { seed: 500 + number as u64, cut: turn * 5, outcome, recut };
            cuts += u32::from(run(&variant, number, &config, case).0);
        }
        assert!(cuts > 20, "{scheme} {own:?}: only {cuts} cuts happened");
    }
}

/// Many cuts in a row on one device: what one recovery leaves half done the next one finds. Two of
/// three devices have faults as well: programs and erases that fail, or every kind.
#[test]
fn devices_survive_a_hundred_cuts_in_a_row() {
    const FAILING: [(&str, &str); 3] = [
        ("nand.program_failure_rate", "0.002"),
        ("nand.erase_failure_rate", "0.002"),
        ("device.over_provisioning", "15"),
    ];
    let mixed_faults = [faults::MIXED, &[("device.over_provisioning", "18")]].concat();
    let devices = [&[], &FAILING[..], &mixed_faults[..]];
    let thrice = devices.iter().flat_map(|failing| variants::all().map(move |one| (failing, one)));
    let chosen_ones = thrice.enumerate().filter(|(_, (_, variant))| chosen(variant.scheme));
    for (number, (failing, variant)) in chosen_ones {
        // Every third device has several translation pages and two planes.
        let (blocks, planes) = if number % 3 == 0 { (170, "2") } else { (LOGICAL_BLOCKS, "1") };
        let pairs = [variant.pairs, failing, &[("device.planes", planes)]].concat();
        let config = tiny(variant.scheme, blocks, &pairs);
        let mut device = open(variant.scheme, &config);
        device.verify_reads();
        let mut host = Host::new(&config);
        let requests = mixed(&config, 6000, number as u64);
        let mut requests = requests.iter();
        for round in 0..100u64 {
            let line = format!("{} variant {number} round {round}", variant.scheme);
            let outcome = CutOutcome::ALL[(round % 3) as usize];
            let faults = device.board_mut().nand_mut().faults_mut();
            faults.cut_power_after(round * 7 % 61, outcome);
            for request in requests.by_ref() {
                match device.submit(request) {
                    Ok(_) => host.note(request, true),
                    Err(DeviceError::Fault(Fault::PowerCut)) => {
                        host.note(request, false);
                        host.next_tag = device.last_version().0;
                        break;
                    }
                    Err(error) => panic!("{line}: {error}"),
                }
            }
            if let Err(error) = device.power_cycle() {
                panic!("{line}: {error}");
            }
            device.board_mut().nand_mut().faults_mut().forget_cut();
            if let Err(error) = device.audit() {
                panic!("{line}: {error}");
            }
            host.check(device.as_ref(), variant.durable, &line);
            host.adopt(device.as_ref());
            host.read_all(device.as_mut(), &config, &line);
        }
    }
}

impl Host {
    /// Reads every page through the device: recovered state that would misread later is found here.
    fn read_all(&self, device: &mut dyn Device, config: &Config, line: &str) {
        for page in 0..self.pages.len() as u64 {
            if let Err(error) = device.submit(&common::pages(config, Op::Read, page, 1)) {
                panic!("{line}: {error}");
            }
        }
    }

    /// After a cut, what is there is what counts from now on.
    fn adopt(&mut self, device: &dyn Device) {
        for (lpn, page) in self.pages.iter_mut().enumerate() {
            let found = match device.locate(Lpn(lpn as u32)) {
                Location::Flash(ppn) => device.board().nand().state().tag(ppn).0,
                Location::Ram(tag) => tag.0,
                Location::Nowhere => 0,
            };
            page.newest = found;
            // An unflushed trim may still come back after the next cut.
            if found != 0 {
                page.possible.clear();
            }
        }
    }
}
