//! Collection that ends in its middle, because blocks wear out while pages move and nothing is left
//! for the translation pages that must say so: where those pages lie is known all the same.

use crate::common::{chosen, pages, tiny, version};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::Tag;

type Pairs = &'static [(&'static str, &'static str)];

/// Scheme, settings. Caches are small, so that most pages that move are in none.
const CASES: [(&str, Pairs); 12] = [
    ("dftl", &[("dftl.cmt_entries", "4")]),
    ("dftl", &[("dftl.cmt_entries", "4"), ("dftl.consistency", "battery")]),
    ("dftl", &[("dftl.cmt_entries", "4"), ("dftl.checkpoint_interval", "200")]),
    ("dftl", &[("dftl.cmt_entries", "4"), ("dftl.write_miss_fetch", "false")]),
    ("cdftl", &[("cdftl.cmt_entries", "2"), ("cdftl.ctp_pages", "1")]),
    ("sftl", &[("device.ram_bytes", "2KiB")]),
    ("tpftl", &[("tpftl.cache_bytes", "24B")]),
    ("tpftl", &[("tpftl.cache_bytes", "24B"), ("device.ram_nonvolatile", "true")]),
    ("learnedftl", &[("tpftl.cache_bytes", "24B"), ("learnedftl.train_min", "1")]),
    ("learnedftl", &[("tpftl.cache_bytes", "24B"), ("learnedftl.group_lines", "false")]),
    ("hmb", &[("hmb.cache_entries", "2")]),
    ("treeftl", &[("device.ram_bytes", "3KiB")]),
];

/// What a page must hold: what was written last, or what a request that failed would have left.
struct Host {
    held: Vec<(u32, u32)>,
}

impl Host {
    fn submit(&mut self, device: &mut dyn Device, request: &Request, case: &str) -> bool {
        let page = request.first_sector as usize;
        let next = device.last_version().0 + 1;
        let done = match device.submit(request) {
            Ok(_) => true,
            Err(DeviceError::Fault(_)) => false,
            Err(error) => panic!("{case}, page {page}: {error}"),
        };
        match (request.op, done) {
            (Op::Write, true) => self.held[page] = (next, next),
            (Op::Write, false) => self.held[page].1 = next,
            (_, done) => assert!(done, "{case}: page {page} cannot be read"),
        }
        done
    }

    fn compare(&self, device: &dyn Device, case: &str) {
        for (page, &(last, failed)) in self.held.iter().enumerate() {
            let found = version(device, page as u32);
            let is_known = found == Tag(last) || found == Tag(failed);
            assert!(is_known, "{case}: page {page} holds {found:?}, not {last} or {failed}");
        }
    }
}

/// Writes at random until so many were refused; the device goes on after each.
fn written_until_refused(
    device: &mut dyn Device,
    page: impl Fn(u32) -> Request,
    case: &str,
) -> Host {
    let logical = device.board().geometry().logical_pages;
    let mut host = Host { held: vec![(0, 0); logical as usize] };
    let mut rng = Rng::new(7, Purpose::Workload);
    let (mut refused, mut sound) = (0, 0);
    while refused < 20 && sound < 20_000 {
        sound += 1;
        if !host.submit(device, &page(rng.below(logical)), case) {
            refused += 1;
            device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
        }
    }
    assert!(refused > 0, "{case} does not wear out");
    host
}

/// What memory kept of such pages is over with the power, unless a battery keeps it; what recovery
/// read of the pages themselves says where they are. The level said what had been before.
fn told_after_recovery(device: &mut dyn Device, case: &str) {
    let told = |device: &dyn Device| device.board().meter().level_now(Level::AstrayEntries);
    let before = told(device);
    if device.power_cycle().is_err() {
        return;
    }
    let kept = case.contains("battery") || case.contains("nonvolatile");
    match kept {
        true => assert!(told(device) <= before, "{case}"),
        false => assert_eq!(told(device), before.map(|_| 0), "{case}"),
    }
}

/// A failed program shortens what pages move to: what was reckoned to hold them, and their
/// translation pages, does not. The map forgot where they went: it named pages that were invalid,
/// then erased.
#[test]
fn pages_that_moved_before_a_collection_failed_are_where_they_went() {
    let mut astray = 0;
    for (scheme, own) in CASES.into_iter().filter(|(scheme, _)| chosen(scheme)) {
        for (seed, blocks) in [(1, 24), (2, 24), (3, 60), (4, 60), (5, 60), (6, 100)] {
            let pairs = [own, &[("nand.program_failure_rate", "0.05")]].concat();
            let config = tiny(scheme, blocks, &pairs);
            let case = format!("{scheme} {own:?}, seed {seed}");
            let (row, _) = schemes::find(scheme).expect("a scheme of the table");
            let mut device = (row.open)(&config, seed).expect("opens");
            device.verify_reads();
            let write = |page: u32| pages(&config, Op::Write, u64::from(page), 1);
            let mut host = written_until_refused(device.as_mut(), write, &case);
            assert!(device.board().meter().events(Event::ProgramFailures) > 0, "{case}");
            host.compare(device.as_ref(), &case);
            // What memory keeps for it beside what `ram_use` says.
            astray += device.board().meter().level_now(Level::AstrayEntries).unwrap_or(0);
            for round in 0..3 {
                for page in 0..config.device.logical_pages() {
                    for op in [Op::Read, Op::Write] {
                        host.submit(device.as_mut(), &pages(&config, op, page, 1), &case);
                        let audit = device.audit();
                        audit.unwrap_or_else(|error| panic!("{case}, page {page}: {error}"));
                    }
                }
                host.compare(device.as_ref(), &format!("{case}, round {round}"));
            }
            told_after_recovery(device.as_mut(), &case);
        }
    }
    assert!(astray > 0 || !chosen("dftl"), "no entry is kept when writes are refused");
}
