//! FAST under failing programs and erases, under every program order and every variant of its
//! decision table: nothing is lost, failing blocks are retired, and the end is named.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::BlockId;

/// Settings that change which blocks can fail.
const SETTINGS: &[&[(&str, &str)]] = &[
    &[],
    &[("nand.enforce_order", "ascending_gaps_ok")],
    &[("nand.enforce_order", "strict")],
    &[("fast.log_blocks", "4"), ("fast.victim", "greedy")],
    &[("fast.sw_gap", "to_rw"), ("fast.sw_rewrite", "to_rw")],
    &[("fast.first_write", "log"), ("fast.rw_switch_check", "true")],
    &[("fast.first_write", "log"), ("nand.enforce_order", "strict"), ("fast.sw_gap", "full_merge")],
    &[("fast.detector", "request_size"), ("fast.log_blocks", "3"), ("io.partial_write", "rmw")],
    &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
];

/// Serves a mixed workload, auditing the whole device after every request.
fn serve(
    pairs: &[(&str, &str)],
    count: usize,
    seed: u64,
    plan: impl FnOnce(&mut dyn Device),
) -> Box<dyn Device> {
    let config = tiny("fast", 12, pairs);
    let mut device = open("fast", &config);
    device.verify_reads();
    plan(device.as_mut());
    for (number, request) in mixed(&config, count, seed).iter().enumerate() {
        let case = || format!("fast {pairs:?} seed {seed}, request {number}: {request:?}");
        device.submit(request).unwrap_or_else(|error| panic!("{}: {error}", case()));
        device.audit().unwrap_or_else(|error| panic!("{}: {error}", case()));
    }
    device
}

#[test]
fn every_variant_keeps_every_promise_under_random_faults() {
    for pairs in SETTINGS {
        for rates in [("0", "0"), ("0.004", "0"), ("0", "0.01"), ("0.004", "0.01")] {
            let faults = [
                ("nand.program_failure_rate", rates.0),
                ("nand.erase_failure_rate", rates.1),
                ("device.over_provisioning", "4x"),
            ];
            let all = [*pairs, &faults[..]].concat();
            let mut retired = 0;
            for seed in 1..=4 {
                let device = serve(&all, 1200, seed, |_| {});
                assert!(device.verified_reads() > 100, "reads were compared");
                retired += device.board().nand().retired_blocks();
            }
            assert_eq!(retired > 0, rates != ("0", "0"), "{all:?}: {retired} blocks retired");
        }
    }
}

#[test]
fn a_program_that_fails_costs_one_block_and_no_data_wherever_it_happens() {
    for pairs in SETTINGS {
        for failing in 0..400 {
            let device = serve(pairs, 160, 5, |device| {
                device.board_mut().nand_mut().faults_mut().fail_program_after(failing);
            });
            let meter = device.board().meter();
            if meter.events(Event::ProgramFailures) == 0 {
                assert!(failing > 150, "{pairs:?}: the workload hardly programmed anything");
                break;
            }
            assert!(device.board().nand().retired_blocks() <= 1, "{pairs:?}, program {failing}");
        }
    }
}

#[test]
fn an_erase_that_fails_costs_one_block_and_no_data_wherever_it_happens() {
    for pairs in SETTINGS {
        for failing in 0..200 {
            let device = serve(pairs, 160, 6, |device| {
                device.board_mut().nand_mut().faults_mut().fail_erase_after(failing);
            });
            let meter = device.board().meter();
            if meter.events(Event::EraseFailures) == 0 {
                assert!(failing > 25, "{pairs:?}: the workload hardly erased anything");
                break;
            }
            assert_eq!(device.board().nand().retired_blocks(), 1, "{pairs:?}, erase {failing}");
        }
    }
}

#[test]
fn a_device_without_spares_is_worn_out_by_name_and_stays_readable() {
    let config = tiny("fast", 12, &[("nand.erase_failure_rate", "0.2")]);
    let mut device = open("fast", &config);
    device.verify_reads();
    let fault = mixed(&config, 5000, 3).iter().find_map(|request| device.submit(request).err());
    let Some(DeviceError::Fault(Fault::WornOut { retired_blocks, .. })) = fault else {
        panic!("every fifth erase failed, but the device ended with {fault:?}");
    };
    assert!(retired_blocks > 2, "{retired_blocks} blocks were retired");
    let pages_read = config.device.logical_pages();
    for page in 0..pages_read {
        device.submit(&pages(&config, Op::Read, page, 1)).expect("what was written is there");
    }
}

/// A cut in a full merge of the sequential block finds the new data block, the old one and the
/// sequential block, each with a newest copy. The sequential block must not be taken for one that
/// is still being written: it goes, like the old data block, into the new one.
#[test]
fn a_cut_full_merge_of_the_sequential_block_leaves_one_data_block_and_no_log() {
    for outcome in CutOutcome::ALL {
        let mut bench = Bench::new(2, &[]);
        bench.write(&[4, 5, 6]);
        bench.device.board_mut().nand_mut().faults_mut().cut_power_after(1, outcome);
        // Row 6: page 4 is copied, then the cut hits the host's page 5.
        let request = pages(&bench.config, Op::Write, 5, 1);
        let cut = bench.device.submit(&request);
        assert_eq!(cut, Err(DeviceError::Fault(Fault::PowerCut)), "{outcome:?}");
        bench.device.power_cycle().expect("recovers");
        bench.device.audit().expect("sound");
        let [home, others @ ..] = [4, 6, 7, 5].map(|lpn| bench.block(lpn));
        assert_eq!(others[..2], [home, home], "{outcome:?}: pages 6 and 7 moved to page 4");
        assert_eq!(bench.place(6).1, 2, "at their own places");
        // The place of page 5 is torn in one outcome; only then does it need the log.
        assert!(others[2] == home || outcome == CutOutcome::Torn, "{outcome:?}");
        bench.write(&[8]);
        assert_eq!(bench.merges(), (0, 0, 0), "{outcome:?}: no sequential block was open");
    }
}

/// Sends the requests; whether the power went off on the way.
fn is_cut(bench: &mut Bench, requests: &[(Op, u64)]) -> bool {
    for &(op, page) in requests {
        let request = pages(&bench.config, op, page, u64::from(op != Op::Flush));
        match bench.device.submit(&request) {
            Ok(_) => {}
            Err(DeviceError::Fault(Fault::PowerCut)) => return true,
            Err(error) => panic!("{op:?} {page}: {error}"),
        }
    }
    false
}

/// The most that one interrupted merge can find taken: a record block that was being emptied, a log
/// block of what recovery could not put home, the target, and a second log block, because the rest
/// of the first was torn by cuts in recovery. All on a device without a block to spare.
#[test]
fn the_reserve_covers_a_cut_merge_after_a_cut_merge_after_a_cut_record_area() {
    let config = tiny(
        "fast",
        3600,
        &[
            ("device.pages_per_block", "8"),
            ("device.over_provisioning", "0.000001"),
            ("fast.log_blocks", "2"),
        ],
    );
    let device = open("fast", &config);
    let mut bench = Bench { config, device };
    for lbn in 0..3600 {
        let request = pages(&bench.config, Op::Write, 8 * lbn, 8);
        bench.device.submit(&request).expect("written in place");
    }
    let used = |bench: &Bench| {
        let state = |block| bench.device.board().nand().state().block(BlockId(block)).programmed;
        let blocks = bench.device.board().geometry().blocks();
        blocks - (0..blocks).filter(|&block| state(block) == 0).count() as u32
    };
    // The log is full: a sequential block, a random block with pages of eight owners.
    bench.device.submit(&pages(&bench.config, Op::Write, 8 * 100, 1)).expect("sequential");
    for lbn in 0..8 {
        bench.device.submit(&pages(&bench.config, Op::Write, 8 * lbn + 1, 1)).expect("random");
    }
    assert_eq!(used(&bench), 3602);
    // Eight segments of 4032 pages; three record blocks, full, with 2, 2 and 4 live records. The
    // next record finds the first being emptied: one of its two is moved when the power goes.
    let segments = [0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5, 5, 6, 7, 4];
    for (number, segment) in (0u64..).zip(segments) {
        let trims = [(Op::Trim, segment * 4032 + 100 + number), (Op::Flush, 0)];
        assert!(!is_cut(&mut bench, &trims));
    }
    assert_eq!(used(&bench), 3605);
    let cut = |bench: &mut Bench, operations| {
        let faults = bench.device.board_mut().nand_mut().faults_mut();
        faults.cut_power_after(operations, CutOutcome::Torn);
    };
    cut(&mut bench, 1);
    assert!(is_cut(&mut bench, &[(Op::Trim, 3000), (Op::Flush, 0)]));
    bench.device.power_cycle().expect("recovers");
    assert_eq!(used(&bench), 3606, "one more while a record block is emptied");

    // Page 2 of the first owner cannot be put at its place: a log block beyond the limit.
    cut(&mut bench, 2);
    assert!(is_cut(&mut bench, &[(Op::Write, 8 * 200 + 3)]));
    bench.device.power_cycle().expect("recovers");
    assert_eq!(used(&bench), 3607);
    // The same with the second owner; recovery is cut until that log block is full of torn pages.
    cut(&mut bench, 2);
    assert!(is_cut(&mut bench, &[(Op::Write, 8 * 200 + 3)]));
    for _ in 0..7 {
        let faults = bench.device.board_mut().nand_mut().faults_mut();
        faults.cut_recovery_after(0, CutOutcome::Torn);
        let error = bench.device.power_cycle().expect_err("cut again");
        assert_eq!(error, DeviceError::Fault(Fault::PowerCut));
    }
    assert_eq!(used(&bench), 3608, "the target and the old data block, both with newest copies");
    bench.device.power_cycle().expect("recovers with the last block");
    assert_eq!(used(&bench), 3608, "a second log block; the old data block is gone");
    bench.device.audit().expect("sound");
    assert!(!is_cut(&mut bench, &[(Op::Write, 8 * 200 + 3)]), "and work goes on");
    bench.device.audit().expect("sound");
}
