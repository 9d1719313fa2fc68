//! FAST under power cuts: at every program and erase of a workload, the interrupted operation
//! undone, done or torn, under every program order and every variant of the decision table; and
//! recoveries that are cut again and again until one gets through.

mod common;

use common::{mixed, open, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::Lpn;

/// Settings that change what is on flash when the power goes.
const SETTINGS: &[&[(&str, &str)]] = &[
    &[],
    &[("nand.enforce_order", "ascending_gaps_ok")],
    &[("nand.enforce_order", "strict")],
    &[("fast.log_blocks", "4"), ("fast.victim", "greedy")],
    &[("fast.log_blocks", "4"), ("fast.sw_gap", "to_rw"), ("fast.sw_rewrite", "to_rw")],
    &[("fast.first_write", "log"), ("fast.rw_switch_check", "true")],
    &[("fast.first_write", "log"), ("nand.enforce_order", "strict"), ("fast.sw_gap", "full_merge")],
    &[("fast.detector", "request_size"), ("fast.log_blocks", "3"), ("io.partial_write", "rmw")],
    &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    &[("device.pages_per_block", "8"), ("fast.log_blocks", "3"), ("nand.enforce_order", "strict")],
    &[
        ("nand.program_failure_rate", "0.001"),
        ("nand.erase_failure_rate", "0.001"),
        ("device.over_provisioning", "9"),
    ],
];

/// What a page may hold.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Version of the last completed write; 0: none, or trimmed.
    newest: u32,
    /// Versions that an interrupted request or an unflushed trim leaves possible.
    possible: Vec<u32>,
}

/// What the host knows of its device.
struct Host {
    pages: Vec<Page>,
    /// Versions of every page since the device was built: what an unflushed trim may bring back.
    history: Vec<Vec<u32>>,
    sectors_per_page: u64,
}

impl Host {
    fn new(config: &Config) -> Self {
        let pages = config.device.logical_pages() as usize;
        Host {
            pages: vec![Page::default(); pages],
            history: vec![vec![0]; pages],
            sectors_per_page: config.device.page_bytes.0 / 512,
        }
    }

    /// Notes a request that begins with version `tag`.
    fn note(&mut self, request: &Request, mut tag: u32, completed: bool) {
        let first = (request.first_sector / self.sectors_per_page) as usize;
        let count = (u64::from(request.sectors) / self.sectors_per_page) as usize;
        if request.op == Op::Flush && completed {
            for page in self.pages.iter_mut().filter(|page| page.newest == 0) {
                page.possible.clear();
            }
        }
        for lpn in first..first + count {
            let page = &mut self.pages[lpn];
            match request.op {
                Op::Write => {
                    self.history[lpn].push(tag);
                    if completed {
                        *page = Page { newest: tag, possible: Vec::new() };
                    } else {
                        page.possible.push(tag);
                    }
                    tag += 1;
                }
                Op::Trim => {
                    page.possible = self.history[lpn].clone();
                    page.newest = if completed { 0 } else { page.newest };
                }
                Op::Read | Op::Flush => {}
            }
        }
    }

    fn holds(device: &dyn Device, lpn: usize) -> u32 {
        match device.locate(Lpn(lpn as u32)) {
            Location::Flash(ppn) => device.board().nand().state().tag(ppn).0,
            Location::Ram(tag) => tag.0,
            Location::Nowhere => 0,
        }
    }

    /// After a recovery: every page holds something legal, and that is the truth from now on.
    fn check(&mut self, device: &dyn Device, case: &str) {
        device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
        for (lpn, page) in self.pages.iter_mut().enumerate() {
            let found = Self::holds(device, lpn);
            assert!(
                found == page.newest || page.possible.contains(&found),
                "{case}: page {lpn} holds version {found}, legal is {page:?}"
            );
            // What an unflushed trim left possible may still come back after another cut.
            page.newest = found;
            if found != 0 {
                page.possible.clear();
            }
        }
    }
}

/// Submits until the power goes; true if it did.
fn drive(device: &mut dyn Device, host: &mut Host, requests: &[Request], case: &str) -> bool {
    for request in requests {
        let tag = device.last_version().0 + 1;
        match device.submit(request) {
            Ok(_) => host.note(request, tag, true),
            Err(DeviceError::Fault(Fault::PowerCut)) => {
                host.note(request, tag, false);
                return true;
            }
            Err(error) => panic!("{case}: {error}"),
        }
    }
    false
}

/// Recovers with a cut at operation 0, then 1, then 2, until a recovery gets through.
fn recover_stubbornly(device: &mut dyn Device, outcome: CutOutcome, case: &str) -> u64 {
    for again in 0.. {
        device.board_mut().nand_mut().faults_mut().cut_recovery_after(again, outcome);
        match device.power_cycle() {
            Ok(_) => {
                device.board_mut().nand_mut().faults_mut().forget_cut();
                return again;
            }
            Err(DeviceError::Fault(Fault::PowerCut)) => {}
            Err(error) => panic!("{case}, recovery {again}: {error}"),
        }
    }
    unreachable!("a recovery has a bounded number of operations")
}

fn every_cut(pairs: &[(&str, &str)], requests: usize, seed: u64) {
    let config = tiny("fast", 10, pairs);
    let workload = mixed(&config, 2 * requests, seed);
    let (before, behind) = workload.split_at(requests);
    for outcome in CutOutcome::ALL {
        let mut recut = 0;
        for cut in 0.. {
            let case = format!("fast {pairs:?} seed {seed} cut {cut} {outcome:?}");
            let mut device = open("fast", &config);
            let mut host = Host::new(&config);
            device.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
            if !drive(device.as_mut(), &mut host, before, &case) {
                assert!(cut > 200, "{case}: the workload hardly touched flash");
                break;
            }
            recut += recover_stubbornly(device.as_mut(), outcome, &case);
            host.check(device.as_ref(), &case);
            let cut_again = drive(device.as_mut(), &mut host, behind, &case);
            assert!(!cut_again, "{case}: the power went once");
            host.check(device.as_ref(), &format!("{case}, at the end"));
        }
        assert!(recut > 20, "fast {pairs:?}: recoveries hardly touched flash");
    }
}

#[test]
fn every_write_survives_a_cut_at_every_operation_and_cuts_of_every_recovery() {
    for (seed, pairs) in SETTINGS.iter().enumerate() {
        every_cut(pairs, 150, seed as u64 + 1);
    }
}

#[test]
fn a_device_survives_hundreds_of_cuts_in_a_row_at_random_moments() {
    for (number, pairs) in SETTINGS.iter().enumerate() {
        let config = tiny("fast", 10, pairs);
        for seed in 1..=6 {
            let mut rng = Rng::new(seed, Purpose::Fault);
            let mut device = open("fast", &config);
            let mut host = Host::new(&config);
            let workload = mixed(&config, 20_000, seed + 10 * number as u64);
            let mut done = 0;
            for round in 0..400 {
                let case = format!("fast {pairs:?} seed {seed} round {round}");
                let outcome = CutOutcome::ALL[rng.below(3) as usize];
                let cut = u64::from(rng.below(40));
                device.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
                let before = device.board().meter().host().total_requests();
                drive(device.as_mut(), &mut host, &workload[done..], &case);
                done += (device.board().meter().host().total_requests() - before) as usize;
                if rng.below(2) == 0 {
                    recover_stubbornly(device.as_mut(), outcome, &case);
                } else {
                    // The same early cut up to four times, then undisturbed.
                    let again = u64::from(1 + rng.below(4));
                    for _ in 0..rng.below(5) {
                        let faults = device.board_mut().nand_mut().faults_mut();
                        faults.cut_recovery_after(again, outcome);
                        match device.power_cycle() {
                            Ok(_) | Err(DeviceError::Fault(Fault::PowerCut)) => {}
                            Err(error) => panic!("{case}: {error}"),
                        }
                    }
                    device.board_mut().nand_mut().faults_mut().forget_cut();
                    device.power_cycle().unwrap_or_else(|error| panic!("{case}: {error}"));
                }
                host.check(device.as_ref(), &case);
            }
            assert!(done > 1000, "fast {pairs:?}: only {done} requests came through");
        }
    }
}
