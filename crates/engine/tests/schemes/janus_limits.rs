//! Janus-FTL at its limits: pads that fail, levels after trims, planes that block-mapped blocks
//! have filled, and a worn-out device.

use crate::common::{fill, open, pages, record, submit, tiny, version};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn levels(device: &dyn Device) -> (Option<u64>, Option<u64>) {
    let meter = device.board().meter();
    (meter.level_now(Level::PageMappedPages), meter.level_now(Level::BlockMappedPages))
}

/// The first page of a logical block is its third: two pads go before it. The program of the first
/// fails, and counts as a failed program like any other.
#[test]
fn a_pad_that_fails_is_a_failed_program() {
    let pairs = [("janus.target", "all_block"), ("nand.enforce_order", "strict")];
    let config = tiny("janus", 40, &pairs);
    let mut device = open("janus", &config);
    let device = device.as_mut();
    device.verify_reads();
    device.board_mut().nand_mut().faults_mut().fail_program_after(0);
    submit(device, &config, Op::Write, 6);
    assert_eq!(event(device, Event::ProgramFailures), 1);
    submit(device, &config, Op::Read, 6);
    device.audit().expect("sound");
}

/// What is trimmed is in neither area, from then on.
#[test]
fn levels_follow_trims() {
    let pairs = [("janus.target", "fixed"), ("janus.fixed_pct", "50")];
    let config = tiny("janus", 40, &pairs);
    let mut device = open("janus", &config);
    let device = device.as_mut();
    fill(device, &config);
    submit(device, &config, Op::Write, 14);
    assert_eq!(levels(device), (Some(4), Some(156)));
    submit(device, &config, Op::Trim, 21);
    assert_eq!(levels(device), (Some(4), Some(155)), "a page of a block-mapped block");
    submit(device, &config, Op::Trim, 14);
    assert_eq!(levels(device), (Some(3), Some(155)), "a page of the page-mapped area");
    (24..28).for_each(|page| submit(device, &config, Op::Trim, page));
    assert_eq!(levels(device), (Some(3), Some(151)), "all pages of a block");
}

/// Most data has its home in plane 0, and fills it: pages go to the other plane. A defusion falls
/// due when the page-mapped area opens a block, wherever that is, or takes in a logical block, and
/// with no other write.
#[test]
fn a_defusion_falls_due_with_a_block_or_a_fusion() {
    let mut due = 0;
    for seed in 0..24 {
        let pairs = [
            ("janus.target", "fixed"),
            ("janus.fixed_pct", "10"),
            ("janus.defuse_rule", ["coldest", "sequential", "both"][seed as usize % 3]),
            ("device.planes", "2"),
            ("device.pages_per_block", "8"),
            ("device.over_provisioning", "0.01"),
        ];
        let config = tiny("janus", 60, &pairs);
        let mut device = open("janus", &config);
        let device = device.as_mut();
        device.verify_reads();
        let lbns: Vec<u64> = (0..60).filter(|lbn| lbn % 2 == 0 || lbn % 5 == 0).collect();
        for lbn in &lbns {
            (0..8).for_each(|page| submit(device, &config, Op::Write, 8 * lbn + page));
        }
        let mut rng = Rng::new(seed, Purpose::Workload);
        for _ in 0..300 {
            let lbn = lbns[rng.below(lbns.len() as u32) as usize];
            let first = rng.below(8);
            let pages = if rng.below(3) == 0 { 0..8 } else { first..first + 1 };
            for page in pages {
                let before = (event(device, Event::Defusions), event(device, Event::Fusions));
                let page = 8 * lbn + u64::from(page);
                let operations = record(device, |device| submit(device, &config, Op::Write, page));
                let after = (event(device, Event::Defusions), event(device, Event::Fusions));
                // The host's page, or what collection moved into the block before it.
                let opens = operations.iter().any(|operation| {
                    let Operation::Program(ppn, cause) = operation else { return false };
                    ppn.0 % 8 == 0 && *cause != Cause::Convert
                });
                due += u64::from(opens);
                assert!(after.0 - before.0 <= 1, "one at a time");
                let needless = after.0 > before.0 && after.1 == before.1 && !opens;
                assert!(!needless, "seed {seed}, page {page}: {operations:?}");
            }
        }
        device.audit().expect("sound");
    }
    assert!(due > 500, "{due} blocks opened");
}

/// A write that a worn-out device reports as failed has not happened.
#[test]
fn a_write_that_is_reported_as_failed_has_changed_nothing() {
    let mut failed = 0;
    for seed in 0..20 {
        let target = [("janus.target", "fixed"), ("janus.target", "cost_model")][seed as usize % 2];
        let few = ("janus.fixed_pct", "1");
        let pairs = [target, few, ("janus.eval_every", "20"), ("nand.erase_failure_rate", "0.2")];
        let config = tiny("janus", 60, &pairs);
        let mut device = open("janus", &config);
        let device = device.as_mut();
        let mut rng = Rng::new(100 + seed, Purpose::Workload);
        let mut failing = 0;
        for _ in 0..50_000 {
            if failing == 100 {
                break;
            }
            let page = rng.below(240);
            let before = version(device, page);
            if device.submit(&pages(&config, Op::Write, u64::from(page), 1)).is_err() {
                failing += 1;
                assert_eq!(version(device, page), before, "seed {seed}, page {page}");
            }
        }
        failed += failing;
        device.audit().expect("sound");
    }
    assert_eq!(failed, 2000);
}

/// What is block-mapped is so again after a power cut, where block mapping is asked for; where only
/// page mapping is, nothing is, though pages lie in order.
#[test]
fn block_mapped_blocks_are_recognised_after_a_power_cut() {
    for (target, by_page, by_block) in
        [("all_page", 160, 0), ("all_block", 0, 160), ("fixed", 4, 156), ("cost_model", 4, 156)]
    {
        let config = tiny("janus", 40, &[("janus.target", target)]);
        let mut device = open("janus", &config);
        let device = device.as_mut();
        fill(device, &config);
        submit(device, &config, Op::Write, 14);
        // Under `all_block` the rewrite of its block ends with the next page elsewhere.
        submit(device, &config, Op::Write, 0);
        (1..4).for_each(|page| submit(device, &config, Op::Write, page));
        let expected = (Some(by_page), Some(by_block));
        assert_eq!(levels(device), expected, "{target}");
        device.power_cycle().expect("it recovers");
        assert_eq!(levels(device), expected, "{target}, after a cut");
        device.audit().expect("sound");
    }
}

/// One tenth of forty logical blocks may be page-mapped: four are, and the fifth has one defused.
#[test]
fn as_many_logical_blocks_are_page_mapped_as_may_be() {
    let pairs = [("janus.target", "fixed"), ("janus.fixed_pct", "10")];
    let config = tiny("janus", 40, &pairs);
    let mut device = open("janus", &config);
    let device = device.as_mut();
    fill(device, &config);
    for (lbn, defused) in [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (6, 2)] {
        submit(device, &config, Op::Write, 4 * lbn + 2);
        assert_eq!(event(device, Event::Defusions), defused, "{lbn} were fused");
    }
    device.audit().expect("sound");
}

/// Its pages are trimmed while it is rewritten: when the order breaks there is nothing to copy, and
/// no block of it is left.
#[test]
fn a_rewrite_of_which_every_page_was_trimmed_ends_as_nobodys() {
    let config = tiny("janus", 40, &[("janus.target", "all_block")]);
    let mut device = open("janus", &config);
    let device = device.as_mut();
    fill(device, &config);
    (12..14).for_each(|page| submit(device, &config, Op::Write, page));
    device.submit(&pages(&config, Op::Trim, 12, 4)).expect("it works");
    assert_eq!(levels(device), (Some(0), Some(156)));
    (20..24).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(event(device, Event::BlockRewrites), 1, "that of pages 20 to 23");
    assert_eq!(event(device, Event::Defusions), 0);
    assert_eq!(levels(device), (Some(0), Some(156)));
    (12..16).for_each(|page| submit(device, &config, Op::Write, page));
    device.audit().expect("sound");
}

/// Pages of a logical block that were never written: where blocks are written without gaps those in
/// front of the last one are padded, none behind it; elsewhere none at all.
#[test]
fn pads_fill_gaps_and_no_ends_where_blocks_have_none() {
    for (order, pads) in [("strict", 1), ("ascending_gaps_ok", 0), ("off", 0)] {
        let pairs = [("janus.target", "all_block"), ("nand.enforce_order", order)];
        let config = tiny("janus", 40, &pairs);
        let mut device = open("janus", &config);
        let device = device.as_mut();
        [12, 14].into_iter().for_each(|page| submit(device, &config, Op::Write, page));
        assert_eq!(device.board().meter().programs(Cause::Pad), pads, "{order}");
        // A rewrite from the front: page 13 is padded again, page 15 is not there.
        submit(device, &config, Op::Write, 12);
        submit(device, &config, Op::Write, 40);
        assert_eq!(device.board().meter().programs(Cause::Pad), 2 * pads, "{order}");
        // That of page 14, where it had no place behind page 12, was one as well.
        assert_eq!(event(device, Event::BlockRewrites), 1 + pads, "{order}");
        device.audit().expect("sound");
    }
}
