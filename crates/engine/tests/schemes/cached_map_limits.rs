//! Schemes that cache their map, on a device that cannot write any more: what was done is not
//! reported as failed, what was not done has changed nothing, and every page can be read.

use crate::common::{open, pages, tiny, version};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::{Device, DeviceError};

type Pairs = &'static [(&'static str, &'static str)];

const TWO_ENTRIES: (&str, &str) = ("tpftl.cache_bytes", "24B");
const BEHIND: Pairs = &[
    ("dftl.cmt_entries", "4"),
    ("dftl.writeback", "after_completion"),
    ("dftl.writeback_entries", "3"),
];
const BLIND: Pairs = &[
    ("dftl.cmt_entries", "4"),
    ("dftl.writeback", "after_completion"),
    ("dftl.write_miss_fetch", "false"),
];

/// Groups of 16 pages, of which memory holds one for sure; a buffer of two pages.
const LEARNED: Pairs =
    &[("leaftl.group_pages", "16"), ("leaftl.map_bytes", "1B"), ("leaftl.buffer_bytes", "1KiB")];
const NEAR: Pairs = &[
    ("leaftl.group_pages", "16"),
    ("leaftl.map_bytes", "1B"),
    ("leaftl.gamma", "4"),
    ("leaftl.flush", "fullest"),
];

/// Scheme, settings, logical blocks.
const CASES: [(&str, Pairs, u64); 15] = [
    ("dftl", &[("dftl.cmt_entries", "4")], 60),
    ("dftl", BEHIND, 60),
    ("dftl", BLIND, 60),
    ("hmb", &[("hmb.cache_entries", "2")], 60),
    ("hmb", &[("hmb.cache_entries", "2"), ("hmb.mode", "dma")], 60),
    ("waftl", &[("waftl.pmb_cache_bytes", "512B")], 200),
    ("leaftl", LEARNED, 60),
    ("leaftl", NEAR, 60),
    ("tpftl", &[TWO_ENTRIES], 60),
    ("tpftl", &[TWO_ENTRIES, ("tpftl.batch", "false")], 60),
    ("learnedftl", &[TWO_ENTRIES], 60),
    ("learnedftl", &[TWO_ENTRIES, ("learnedftl.group_lines", "false")], 60),
    ("cdftl", &[("cdftl.cmt_entries", "2"), ("cdftl.ctp_pages", "1")], 60),
    ("sftl", &[("device.ram_bytes", "600B")], 200),
    ("sftl", &[("device.ram_bytes", "600B"), ("sftl.dirty_buf_share", "0")], 200),
];

/// A device whose erases fail more and more, written until it refuses a write.
fn worn_out(scheme: &str, config: &Config, seed: u64) -> Box<dyn Device> {
    let mut device = open(scheme, config);
    device.verify_reads();
    let mut rng = Rng::new(seed, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    for _ in 0..200_000 {
        let page = u64::from(rng.below(logical));
        if device.submit(&pages(config, Op::Write, page, 1)).is_err() {
            return device;
        }
    }
    panic!("{scheme} does not wear out");
}

fn each_worn_out(mut act: impl FnMut(&str, &mut dyn Device, &Config, &mut Rng)) {
    for (scheme, own, blocks) in CASES {
        for seed in 0..10 {
            let pairs = [own, &[("nand.erase_failure_rate", "0.2")]].concat();
            let config = tiny(scheme, blocks, &pairs);
            let mut device = worn_out(scheme, &config, seed);
            let case = format!("{scheme} {own:?}, seed {seed}");
            let mut rng = Rng::new(100 + seed, Purpose::Workload);
            act(&case, device.as_mut(), &config, &mut rng);
            device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
        }
    }
}

/// No changed entry can leave: every page is read all the same, without a place for its own.
#[test]
fn every_page_of_a_worn_out_device_can_be_read() {
    each_worn_out(|case, device, config, rng| {
        let logical = config.device.logical_pages();
        for _ in 0..30 {
            // Writes that are refused, or not.
            let page = u64::from(rng.below(logical as u32));
            match device.submit(&pages(config, Op::Write, page, 1)) {
                Ok(_) | Err(DeviceError::Fault(_)) => {}
                Err(error) => panic!("{case}: {error}"),
            }
        }
        for page in 0..logical {
            let read = device.submit(&pages(config, Op::Read, page, 1));
            read.unwrap_or_else(|error| panic!("{case}, page {page}: {error}"));
        }
    });
}

/// A write that a worn-out device reports as failed has not happened; a trim neither; no read
/// fails.
#[test]
fn what_is_reported_as_failed_has_changed_nothing() {
    let mut failed = 0;
    each_worn_out(|case, device, config, rng| {
        for _ in 0..300 {
            let page = rng.below(config.device.logical_pages() as u32);
            let before = version(device, page);
            let op = [Op::Write, Op::Write, Op::Read, Op::Trim][rng.below(4) as usize];
            if device.submit(&pages(config, op, u64::from(page), 1)).is_err() {
                failed += 1;
                assert!(op != Op::Read, "{case}, page {page}");
                assert_eq!(version(device, page), before, "{case}, page {page}: {op:?}");
            }
        }
    });
    assert!(failed > 500, "{failed} failed");
}

/// A map write that fails is counted as an entry that left when the entry has left, not before.
#[test]
fn an_entry_that_cannot_leave_is_not_counted_as_one_that_left() {
    each_worn_out(|case, device, config, rng| {
        if case.starts_with("waftl") {
            return;
        }
        let left = |device: &dyn Device| device.board().meter().events(Event::EvictDirty);
        let programs = |device: &dyn Device| device.board().meter().total_programs();
        for _ in 0..300 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            let before = (left(device), programs(device));
            let _ = device.submit(&pages(config, Op::Write, page, 1));
            if programs(device) == before.1 {
                assert_eq!(left(device), before.0, "{case}: nothing was written");
            }
        }
    });
}
