//! Levelling of wear: how far erases drift apart under each policy, what levelling costs, and that
//! blocks die exactly when their cycles are used up.

use crate::common::{flush, open, pages, place, submit, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::SettingError;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{BlockId, PlaneId};

const LOGICAL_BLOCKS: u64 = 80;

/// Fewest and most erases of a block, in the plane where they are farthest apart.
fn spread(device: &dyn Device) -> (u32, u32) {
    let (state, geometry) = (device.board().nand().state(), device.board().geometry());
    let in_plane = |plane| {
        let blocks = geometry.blocks_of(PlaneId(plane)).map(|block| state.block(BlockId(block)));
        let erases = blocks.filter(|known| !known.retired).map(|known| known.erases);
        erases.fold((u32::MAX, 0), |(least, most), erases| (least.min(erases), most.max(erases)))
    };
    let farthest = (0..geometry.planes()).map(in_plane).max_by_key(|(least, most)| most - least);
    farthest.expect("a device has a plane")
}

/// Fills the device, then rewrites a tenth of it at random: nine tenths are cold.
fn ninety_percent_cold(scheme: &str, pairs: &[(&str, &str)], writes: u32) -> Box<dyn Device> {
    let config = tiny(scheme, LOGICAL_BLOCKS, pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    let logical = config.device.logical_pages();
    for page in 0..logical {
        submit(device.as_mut(), &config, Op::Write, page);
    }
    device.start_measuring();
    let mut rng = Rng::new(5, Purpose::Workload);
    for number in 0..writes {
        let page = u64::from(rng.below((logical / 10) as u32));
        submit(device.as_mut(), &config, Op::Write, page);
        if number % 997 == 0 {
            device.audit().unwrap_or_else(|error| panic!("{scheme} {pairs:?}: {error}"));
            let cold = logical - 1 - u64::from(number) % (logical / 2);
            submit(device.as_mut(), &config, Op::Read, cold);
        }
    }
    device.audit().unwrap_or_else(|error| panic!("{scheme} {pairs:?}: {error}"));
    device
}

/// The schemes that level block by block: all but those that have lines whatever is set, which say
/// so.
fn that_level_blocks() -> impl Iterator<Item = &'static schemes::Row> {
    const LINES: [&str; 2] = ["learnedftl", "zns"];
    for name in LINES {
        let refused = tiny(name, LOGICAL_BLOCKS, &[("wear.policy", "static")]);
        let error = schemes::find(name).map(|(row, _)| (row.check)(&refused));
        let error = error.expect("in the table").expect_err("refused").to_string();
        assert!(error.contains("wear.policy = static"), "{error}");
    }
    schemes::TABLE.iter().filter(|row| !LINES.contains(&row.paper.name))
}

/// Without levelling the cold blocks are never erased again. With it erases stay together, whatever
/// the scheme, on one plane and on several.
#[test]
fn static_levelling_holds_the_spread_where_nine_tenths_are_cold() {
    const SPREAD: u32 = 20;
    for row in that_level_blocks() {
        for planes in ["1", "2"] {
            let name = row.paper.name;
            let own = [("device.planes", planes), ("wear.spread", "20")];
            let implicit = ninety_percent_cold(name, &own, 40_000);
            let (least, most) = spread(implicit.as_ref());
            assert!(least <= 1 && most > 5 * SPREAD, "{name}: {least} to {most} without levelling");
            assert_eq!(implicit.board().meter().programs(Cause::Wear), 0);

            let policy = [&own[..], &[("wear.policy", "static")]].concat();
            let levelled = ninety_percent_cold(name, &policy, 40_000);
            let (least, most) = spread(levelled.as_ref());
            let meter = levelled.board().meter();
            assert!(most - least <= SPREAD + SPREAD / 2, "{name}, {planes}: {least} to {most}");
            assert!(least > SPREAD, "{name}: every block took part");
            let moves = meter.events(Event::LevelledBlocks);
            assert_eq!(meter.erases_by_cause(Cause::Wear), moves, "{name}");
            assert!(meter.programs(Cause::Wear) <= moves * 4, "{name}: four pages a block");
            assert!(moves * 10 < meter.total_erases(), "{name}: {moves} moves are few");
        }
    }
}

/// Hot data that is rewritten at random beside data that is moved: under `dynamic` moved data goes
/// to worn blocks, so that the blocks of cold data are worn more than under `none`, and a policy
/// costs no copy of its own.
#[test]
fn dynamic_levelling_puts_moved_data_into_worn_blocks() {
    for row in schemes::TABLE {
        let name = row.paper.name;
        let worn = |policy: &str| {
            let pairs = [
                ("wear.policy", policy),
                ("gc.separate_frontiers", "true"),
                // Where pages are mapped, the free blocks to choose from: among the usual few the
                // most and the least worn are nearly the same, and what comes out is chance.
                ("gc.threshold", "12"),
                ("learnedftl.group_lines", "false"),
                // Folds in place leave merged data where the updates were written: the next test.
                ("replacement_block.mode", "append"),
            ];
            let config = tiny(name, LOGICAL_BLOCKS, &pairs);
            let mut device = open(name, &config);
            device.verify_reads();
            let logical = config.device.logical_pages() as u32;
            let mut rng = Rng::new(9, Purpose::Workload);
            for page in 0..logical {
                submit(device.as_mut(), &config, Op::Write, u64::from(page));
            }
            for _ in 0..30_000 {
                let page =
                    if rng.below(10) == 0 { rng.below(logical) } else { rng.below(logical / 5) };
                submit(device.as_mut(), &config, Op::Write, u64::from(page));
            }
            flush(device.as_mut());
            device.audit().expect("sound");
            let meter = device.board().meter();
            assert_eq!((meter.programs(Cause::Wear), meter.events(Event::LevelledBlocks)), (0, 0));
            let state = device.board().nand().state();
            let under = |page: u32| {
                let block = device.board().geometry().block_of(place(device.as_ref(), page));
                u64::from(state.block(block).erases)
            };
            let cold: u64 = (logical / 5..logical).map(under).sum();
            let all = u64::from(device.board().geometry().pages_per_block) * meter.total_erases();
            // Erases under cold pages, per mille of the erases of the device.
            cold * 1000 / all
        };
        let (implicit, dynamic) = (worn("implicit"), worn("dynamic"));
        assert!(dynamic > implicit, "{name}: {dynamic} under dynamic, {implicit} under implicit");
    }
}

/// Replacement blocks at fixed offsets, the default: nearly every fold is in place, into a unit
/// that was taken for host writes, so that there is no block to choose for what is merged. Each of
/// the few folds into a fresh block takes the most worn free one under `dynamic`, the least worn
/// one under `implicit`.
#[test]
fn folds_into_a_fresh_block_take_a_worn_one_under_dynamic_and_folds_in_place_take_none() {
    for policy in ["dynamic", "implicit"] {
        let name = "replacement_block";
        let config = tiny(name, LOGICAL_BLOCKS, &[("wear.policy", policy)]);
        let mut device = open(name, &config);
        let logical = config.device.logical_pages() as u32;
        let mut rng = Rng::new(9, Purpose::Workload);
        let (mut fresh, mut told_apart) = (0, 0);
        for number in 0..30_000 {
            let page = if number < logical { number } else { rng.below(logical / 5) };
            let board = device.board();
            let blocks = (0..board.geometry().blocks()).map(BlockId);
            let known = blocks.map(|block| board.nand().state().block(block));
            let free = known.filter(|block| block.programmed == 0).map(|block| block.erases);
            let (least, most) =
                free.fold((u32::MAX, 0), |ends, erases| (ends.0.min(erases), ends.1.max(erases)));
            submit(device.as_mut(), &config, Op::Write, u64::from(page));
            let board = device.board();
            let folded = board.meter().events(Event::FoldsOutOfPlace);
            if folded > fresh {
                let block = board.geometry().block_of(place(device.as_ref(), page));
                let erases = board.nand().state().block(block).erases;
                assert_eq!(erases, if policy == "dynamic" { most } else { least }, "{number}");
                told_apart += u32::from(least != most);
            }
            fresh = folded;
        }
        assert!(told_apart > 100, "{policy}: {told_apart} choices among unequal blocks");
        let in_place = device.board().meter().events(Event::FoldsInPlace);
        assert!(in_place > 20 * fresh, "{policy}: {in_place} in place, {fresh} into fresh blocks");
    }
}

#[test]
fn orders_of_free_blocks_and_policies_that_exclude_each_other_are_refused() {
    let check = |policy: &str, order: &str| {
        let pairs = [("wear.policy", policy), ("alloc.policy", order)];
        crate::common::config(&pairs).check()
    };
    for policy in ["implicit", "dynamic", "static"] {
        assert!(check(policy, "auto").is_ok() && check(policy, "min_erase").is_ok());
        let refused = check(policy, "fifo").expect_err("not by erases");
        assert!(matches!(refused, SettingError::Conflict(_)));
    }
    assert!(["auto", "fifo", "lifo"].iter().all(|order| check("none", order).is_ok()));
    let text = check("none", "min_erase").expect_err("that is implicit levelling").to_string();
    assert!(text.contains("alloc.policy = min_erase and wear.policy = none"), "{text}");
}

/// A tiny device whose blocks are good for 30 cycles is written until it ends: no block got more,
/// the first died by its 30th erase, and everything that was written can be read.
#[test]
fn blocks_die_by_the_erase_that_completes_their_cycles() {
    const CYCLES: u32 = 30;
    for row in schemes::TABLE {
        let name = row.paper.name;
        let pairs = [
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "30"),
            ("dftl.cmt_entries", "8"),
        ];
        let config = tiny(name, 20, &pairs);
        let mut device = open(name, &config);
        device.verify_reads();
        let logical = config.device.logical_pages() as u32;
        let mut rng = Rng::new(3, Purpose::Workload);
        let end = loop {
            let page = u64::from(rng.below(logical));
            if let Err(error) = device.submit(&pages(&config, Op::Write, page, 1)) {
                break error;
            }
        };
        let DeviceError::Fault(Fault::WornOut { retired_blocks, .. }) = end else {
            panic!("{name} ended with {end}");
        };
        let blocks = 0..device.board().geometry().blocks();
        let known = blocks.map(|block| *device.board().nand().state().block(BlockId(block)));
        let (dead, living): (Vec<_>, Vec<_>) = known.partition(|block| block.retired);
        assert_eq!(dead.len() as u32, retired_blocks, "{name}");
        assert!(dead.iter().all(|block| block.erases == CYCLES), "{name}");
        assert!(living.iter().all(|block| block.erases < CYCLES), "{name}");
        let died = device.board().meter().events(Event::WornOutBlocks);
        assert_eq!(died, u64::from(retired_blocks), "{name}");
        // Every page is there, in the version written last.
        device.audit().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// One page is rewritten for ever: in a log-block scheme its log blocks die without a merge, and
/// nothing but levelling ever touches the data blocks.
#[test]
fn static_levelling_reaches_blocks_that_no_merge_touches() {
    for row in that_level_blocks() {
        let name = row.paper.name;
        let pairs = [("wear.policy", "static"), ("wear.spread", "20")];
        let config = tiny(name, LOGICAL_BLOCKS, &pairs);
        let mut device = open(name, &config);
        device.verify_reads();
        for page in 0..config.device.logical_pages() {
            submit(device.as_mut(), &config, Op::Write, page);
        }
        for _ in 0..40_000 {
            submit(device.as_mut(), &config, Op::Write, 1);
            if row.buffers_data {
                flush(device.as_mut());
            }
        }
        device.audit().expect("the audit passes");
        let (least, most) = spread(device.as_ref());
        assert!(least > 40 && most - least <= 30, "{name}: {least} to {most} erases");
    }
}

/// The erase that uses up a block's cycles may be cut when it is done: the block is dead all the
/// same.
#[test]
fn a_block_whose_last_erase_was_cut_short_is_dead() {
    for row in schemes::TABLE {
        let name = row.paper.name;
        let pairs = [
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "30"),
            ("device.over_provisioning", "2x"),
        ];
        let config = tiny(name, 20, &pairs);
        let mut device = open(name, &config);
        let mut rng = Rng::new(3, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        let mut ended = None;
        while ended.is_none() {
            let faults = device.board_mut().nand_mut().faults_mut();
            faults.cut_power_after(u64::from(rng.below(12)), CutOutcome::Done);
            let stopped = loop {
                let page = u64::from(rng.below(logical));
                if let Err(error) = device.submit(&pages(&config, Op::Write, page, 1)) {
                    break error;
                }
            };
            ended = match stopped {
                DeviceError::Fault(Fault::PowerCut) => device.power_cycle().err(),
                other => Some(other),
            };
        }
        let worn = matches!(ended, Some(DeviceError::Fault(Fault::WornOut { .. })));
        assert!(worn, "{name}: {ended:?}");
        let state = device.board().nand().state();
        for block in (0..device.board().geometry().blocks()).map(BlockId) {
            let known = state.block(block);
            assert!(known.erases <= 30, "{name}: block {block} was erased {} times", known.erases);
        }
    }
}
