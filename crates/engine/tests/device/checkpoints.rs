//! Checkpoints of several pages that the power or a program does not let come to their end.

use crate::common::outcome::Pairs;
use crate::common::{open, pages, submit, tiny};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::Cause;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;

/// A checkpoint of 160 entries takes three pages of 128 words.
const CHECKPOINTS: Pairs<'_> = &[("dftl.cmt_entries", "160"), ("dftl.checkpoint_interval", "200")];
const ROOM: (&str, &str) = ("device.over_provisioning", "1.5x");
const PARITY: Pairs<'_> = &[
    ("alloc.unit", "line"),
    ("alloc.order", "channel_die_plane"),
    ("device.channels", "2"),
    ("device.dies", "2"),
    ("rain.stripe", "4"),
];

/// A checkpoint is taken after every 200 programs, some of which are not the host's.
const WRITES: u32 = 1000;

/// What one more write programs and erases, in order.
fn operations_of(device: &dyn Device, write: &Request) -> Vec<Operation> {
    let mut device = device.duplicate();
    device.board_mut().nand_mut().record_mut().start();
    device.submit(write).expect("the device works");
    let mut operations = device.board_mut().nand_mut().record_mut().take();
    operations.retain(|operation| !matches!(operation, Operation::Read(..)));
    operations
}

fn is_program(operation: &&Operation) -> bool {
    matches!(operation, Operation::Program(..))
}

fn is_for(operation: &Operation, cause: Cause) -> bool {
    matches!(operation, Operation::Program(_, of) if *of == cause)
}

fn is_part(operation: &Operation) -> bool {
    is_for(operation, Cause::Checkpoint)
}

/// The power goes at an operation of this write.
fn cut(device: &dyn Device, write: &Request, at: usize, outcome: CutOutcome) {
    let mut device = device.duplicate();
    device.board_mut().nand_mut().faults_mut().cut_power_after(at as u64, outcome);
    device.submit(write).expect_err("the power goes");
    device.power_cycle().expect("it recovers");
    device.audit().unwrap_or_else(|error| panic!("cut at operation {at}, {outcome:?}: {error}"));
}

/// A program of this write fails, behind so many that work.
fn fail(device: &dyn Device, write: &Request, programs: usize) {
    let mut device = device.duplicate();
    device.board_mut().nand_mut().faults_mut().fail_program_after(programs as u64);
    device.submit(write).expect("it is programmed elsewhere");
    let nand = device.board().nand();
    let mut blocks = (0..nand.geometry().blocks()).map(BlockId);
    assert!(blocks.any(|block| nand.state().block(block).read_only), "a program failed");
    device.audit().unwrap_or_else(|error| panic!("program {programs} failed: {error}"));
}

/// Words are kept of the pages that hold some and of no others, whichever operation from the first
/// of a checkpoint on is the last one, or fails. Parity behind a page of it is among them: that
/// page holds its words, though its program came to nothing for whoever asked for it.
#[test]
fn a_checkpoint_that_ends_early_leaves_the_words_of_its_pages_alone() {
    for (pairs, parity) in [(&[][..], false), (PARITY, true)] {
        let config = tiny("dftl", 100, &[CHECKPOINTS, &[ROOM], pairs].concat());
        let mut device = open("dftl", &config);
        let mut rng = Rng::new(5, Purpose::Workload);
        let (mut checkpoints, mut behind) = (0, 0);
        for _ in 0..WRITES {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            let write = pages(&config, Op::Write, page, 1);
            let operations = operations_of(device.as_ref(), &write);
            if let Some(first) = operations.iter().position(is_part) {
                checkpoints += 1;
                assert!(operations[first + 1..].iter().any(is_part), "it takes several pages");
                for at in first..operations.len() {
                    CutOutcome::ALL.iter().for_each(|&how| cut(device.as_ref(), &write, at, how));
                    if is_program(&&operations[at]) {
                        let before = operations[..at].iter().filter(is_program).count();
                        fail(device.as_ref(), &write, before);
                    }
                }
                let is_met =
                    |pair: &[Operation]| is_part(&pair[0]) && is_for(&pair[1], Cause::Parity);
                behind += operations.windows(2).filter(|pair| is_met(pair)).count();
            }
            submit(device.as_mut(), &config, Op::Write, page);
        }
        assert!(checkpoints > 5, "{checkpoints} checkpoints");
        assert_eq!(behind > 0, parity, "parity is programmed right behind a page of a checkpoint");
    }
}
