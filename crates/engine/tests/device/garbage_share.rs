//! Collecting by the share of garbage (`gc.trigger = garbage_share`): which victim is taken, what
//! idle time has begun, and who refuses it.

use crate::common::{config, open, pages};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;

/// Pages of a block.
const BLOCK: u64 = 64;
/// Logical pages: 64 blocks.
const LOGICAL: u64 = 64 * BLOCK;

/// A device of 96 blocks, and its settings.
fn store(pairs: &[(&str, &str)]) -> (Box<dyn Device>, Config) {
    let mut config = config(&[("gc.trigger", "garbage_share"), ("device.pages_per_block", "64")]);
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    let bytes = LOGICAL * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = 96;
    (open("ideal_page", &config), config)
}

fn write(device: &mut dyn Device, config: &Config, page: u64, arrival: u64) {
    let request = Request { arrival, ..pages(config, Op::Write, page, 1) };
    let _ = device.submit(&request).expect("the device works");
}

/// Erases and pages moved.
fn collected(device: &dyn Device) -> (u64, u64) {
    let state = device.board().nand().state();
    let blocks = (0..device.board().geometry().blocks()).map(BlockId);
    let erases = blocks.map(|block| u64::from(state.block(block).erases)).sum();
    (erases, device.board().meter().programs(Cause::Gc))
}

/// The oldest block has lost one page of 64, and all others die one by one: what goes by age names
/// the oldest, which is not worth it, and the emptiest is taken instead.
#[test]
fn where_the_policy_names_a_block_with_too_little_garbage_the_emptiest_is_taken() {
    for victim in ["greedy", "fifo", "lru", "cost_benefit"] {
        let (mut device, config) = store(&[("gc.victim", victim)]);
        let ring = || BLOCK..LOGICAL;
        for page in (0..LOGICAL).chain([0]).chain(ring()).chain(ring()) {
            write(device.as_mut(), &config, page, 0);
        }
        device.audit().expect("the audit passes");
        let (erases, moved) = collected(device.as_ref());
        // Two rounds over 63 blocks; 15 % of all that is written may be garbage.
        assert!((2 * 63 - 15..2 * 63).contains(&erases), "{victim}: {erases} erases");
        assert_eq!(moved, 0, "{victim}");
        let oldest = device.board().nand().valid_pages(BlockId(0));
        assert_eq!(oldest, 63, "{victim}: the oldest block stays");
    }
}

/// More than the share is garbage, but it lies in the open block: there is no victim.
#[test]
fn garbage_in_the_open_block_finds_no_victim() {
    for victim in ["greedy", "fifo"] {
        let (mut device, config) = store(&[("gc.victim", victim), ("gc.garbage_share", "0.005")]);
        // Half of the last block is left.
        let filled = LOGICAL - BLOCK / 2;
        (0..filled).for_each(|page| write(device.as_mut(), &config, page, 0));
        (0..31).for_each(|_| write(device.as_mut(), &config, filled - 1, 0));
        assert_eq!(collected(device.as_ref()), (0, 0), "{victim}");
    }
}

/// Block 0 has 24 valid pages and a gap between requests moved one of them. When the share of
/// garbage has the plane collect, the rest of it goes first, and what idle time began is not left.
#[test]
fn a_victim_that_idle_time_began_is_finished_first() {
    let pairs = [("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "1000")];
    let (mut device, config) = store(&pairs);
    (0..LOGICAL).for_each(|page| write(device.as_mut(), &config, page, 0));
    (0..40).for_each(|page| write(device.as_mut(), &config, page, 0));
    assert_eq!(collected(device.as_ref()), (0, 0));
    // A gap that ends as soon as a step has begun.
    let later = device.idle_from() + 1;
    let mut dying = BLOCK..LOGICAL;
    write(device.as_mut(), &config, dying.next().expect("a page"), later);
    assert_eq!(collected(device.as_ref()), (0, 1), "one page of a victim");
    let mut written = 0;
    while collected(device.as_ref()).0 == 0 {
        write(device.as_mut(), &config, dying.next().expect("a page"), later);
        written += 1;
    }
    assert!((600..800).contains(&written), "15 % of some 4800 pages: {written}");
    assert_eq!(device.board().nand().state().block(BlockId(0)).erases, 1);
    // Its last 23 pages, and a block that was empty.
    assert_eq!(collected(device.as_ref()), (2, 24));
    device.audit().expect("the audit passes");
}

/// Withheld blocks, areas, logs, fixed offsets: they say when blocks are collected.
#[test]
fn schemes_that_say_themselves_when_they_collect_refuse_it() {
    for scheme in ["lazyftl", "janus", "cftl", "bast", "block", "adapt", "waftl", "treeftl", "dac"]
    {
        let (row, _) = schemes::find(scheme).expect("a scheme");
        let share = config(&[("gc.trigger", "garbage_share")]);
        let refused = (row.check)(&share).expect_err("refused").to_string();
        assert!(refused.contains("garbage_share") && refused.contains(scheme), "{refused}");
    }
}
