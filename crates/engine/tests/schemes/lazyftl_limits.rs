//! Schemes that write without looking where the old page is: how much their collections may owe, and
//! what a write leaves that did not happen.

use crate::common::{open, pages, submit, tiny};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::DeviceError;

/// Blocks of 64 pages whose entries lie in 128 GMT pages, and the least area: converting a block
/// writes nearly a block of GMT pages. A collection in the middle of that converts one more, not two.
#[test]
fn a_collection_converts_one_block_at_most() {
    for cold in ["auto", "50"] {
        let pairs = [
            ("device.pages_per_block", "64"),
            ("lazyftl.uba_cba_blocks", "2"),
            ("lazyftl.cba_percent", cold),
        ];
        let config = tiny("lazyftl", 256, &pairs);
        let mut device = open("lazyftl", &config);
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..60_000 {
            let page = rng.below(config.device.logical_pages() as u32);
            submit(device.as_mut(), &config, Op::Write, u64::from(page));
        }
        device.audit().unwrap_or_else(|error| panic!("{cold}: {error}"));
    }
}

/// The write that a worn-out device refuses leaves the page as it was, whoever wrote without a look.
#[test]
fn a_write_that_fails_hides_nothing() {
    let blind = ("dftl.write_miss_fetch", "false");
    for (scheme, own) in [("lazyftl", ("lazyftl.uba_cba_blocks", "2")), ("dftl", blind)] {
        for seed in 0..40 {
            let pairs = [
                own,
                ("wear.blocks_die", "true"),
                ("device.endurance_cycles", "6"),
                ("dftl.cmt_entries", "8"),
            ];
            let config = tiny(scheme, 40, &pairs);
            let mut device = open(scheme, &config);
            device.verify_reads();
            let mut rng = Rng::new(seed, Purpose::Workload);
            let logical = config.device.logical_pages() as u32;
            let end = loop {
                let page = u64::from(rng.below(logical));
                if let Err(error) = device.submit(&pages(&config, Op::Write, page, 1)) {
                    break error;
                }
            };
            assert!(matches!(end, DeviceError::Fault(_)), "{scheme}: {end}");
            device.audit().unwrap_or_else(|error| panic!("{scheme}, seed {seed}: {error}"));
        }
    }
}
