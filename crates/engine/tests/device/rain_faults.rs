//! What pages and dies that fail cost and leave behind, and when parity is programmed: by closed
//! forms, and by cuts at the worst moments.

use crate::common::driving::{Load, drive};
use crate::common::{fill, pages, submit, version};
use crate::rain::{
    EIGHT, LINE, ROOM, STRIPE, audited, count, device, programs, read_all, write_random,
};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{BlockId, PlaneId, Ppn};

const WIDE: (&str, &str) = ("device.over_provisioning", "1.5x");

/// Where a logical page lies.
fn place(device: &dyn Device, page: u32) -> Ppn {
    crate::common::place(device, page)
}

/// Logical pages of the first stripe: seven that the host wrote first, one after another.
fn neighbours(device: &dyn Device) -> Vec<u32> {
    let geometry = device.board().geometry();
    let offset = geometry.offset_of(place(device, 100));
    let block = |page| geometry.block_of(place(device, page));
    let line = |page| block(page).0 % geometry.blocks_per_plane;
    let beside =
        |page: &u32| geometry.offset_of(place(device, *page)) == offset && line(*page) == line(100);
    (90..111).filter(beside).collect()
}

/// A parity page is programmed as soon as the data of its stripe is there, beside the others: the
/// time of sequential writes rises as the number of programs does.
#[test]
fn sequential_time_with_parity_is_n_by_n_less_one() {
    let time = |stripe: &str| {
        let more = [
            LINE,
            ("rain.stripe", stripe),
            ("device.over_provisioning", "3x"),
            ("timing.profile", "parallel"),
            ("timing.page_transfer", "1us"),
            ("timing.program", "300us"),
        ];
        let (config, mut device) = device("ideal_page", 64, &[&EIGHT[..], &more].concat());
        let requests: Vec<Request> = (0..config.device.logical_pages())
            .map(|page| pages(&config, Op::Write, page, 1))
            .collect();
        drive(device.as_mut(), &requests, Load::Closed(32));
        device.idle_from() as f64
    };
    let without = time("0");
    for (stripe, exact) in [("8", 8.0 / 7.0), ("4", 4.0 / 3.0), ("2", 2.0)] {
        let ratio = time(stripe) / without;
        assert!((ratio / exact - 1.0).abs() < 0.03, "{stripe}: {ratio} instead of {exact}");
    }
}

/// The cells of a page that failed do not come back because the page moved: when another page of
/// its stripe fails, that one is lost.
#[test]
fn two_pages_of_a_stripe_that_fail_one_after_another_lose_the_second() {
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, ROOM]].concat());
    device.verify_reads();
    fill(device.as_mut(), &config);
    let stripe = neighbours(device.as_ref());
    assert_eq!(stripe.len(), 7, "{stripe:?}");
    let other = *stripe.iter().find(|&&page| page != 100).expect("seven pages");
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    submit(device.as_mut(), &config, Op::Read, 100);
    submit(device.as_mut(), &config, Op::Write, 0);
    assert_eq!(programs(device.as_ref(), Cause::Rebuild), 1, "it is elsewhere");
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    submit(device.as_mut(), &config, Op::Read, u64::from(other));
    assert_eq!(count(device.as_ref(), Event::LostPages), 1);
    assert_eq!(device.board().meter().host().unreadable_pages, 1);
    // What was moved in time is there.
    submit(device.as_mut(), &config, Op::Read, 100);
    assert_eq!(device.board().meter().host().unreadable_pages, 1);
    audited(device.as_ref(), "two of a stripe");
}

/// A power cut makes no cells whole.
#[test]
fn a_page_that_failed_fails_behind_a_power_cut() {
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, ROOM]].concat());
    device.verify_reads();
    fill(device.as_mut(), &config);
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    submit(device.as_mut(), &config, Op::Read, 100);
    device.board_mut().nand_mut().cut_power();
    device.power_cycle().expect("it starts");
    let before = device.board().meter().reads(Cause::Rebuild);
    submit(device.as_mut(), &config, Op::Read, 100);
    assert_eq!(device.board().meter().reads(Cause::Rebuild), before + 7);
    assert_eq!(device.board().meter().host().unreadable_pages, 0);
}

/// No second fault in a stripe: no page is lost, and each costs n - 1 reads, again and again.
#[test]
fn single_faults_lose_nothing_and_cost_n_less_one_reads_each() {
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, ROOM]].concat());
    device.verify_reads();
    fill(device.as_mut(), &config);
    // Pages of stripes of their own.
    for (turn, page) in (0..70).map(|turn| (turn, turn * 7)) {
        device.board_mut().nand_mut().faults_mut().fail_read_after(0);
        submit(device.as_mut(), &config, Op::Read, page);
        assert_eq!(device.board().meter().reads(Cause::Rebuild), 7 * (turn + 1));
        assert_eq!(count(device.as_ref(), Event::RebuiltPages), turn + 1);
    }
    assert_eq!(count(device.as_ref(), Event::LostPages), 0);
    read_all(device.as_mut(), &config);
    assert_eq!(device.board().meter().host().unreadable_pages, 0);
}

/// A die that is known to have failed is asked for nothing: seven reads bring a page of it back,
/// and no erase is tried on it.
#[test]
fn a_die_that_is_known_to_have_failed_is_left_alone() {
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, WIDE]].concat());
    device.verify_reads();
    fill(device.as_mut(), &config);
    let geometry = device.board().geometry();
    let dead = PlaneId(3);
    let on_it: Vec<u32> = (0..config.device.logical_pages() as u32)
        .filter(|&page| geometry.plane_of(place(device.as_ref(), page)) == dead)
        .collect();
    device.board_mut().nand_mut().faults_mut().fail_die_after(3, 0);
    // Something is asked of it, and it is known.
    (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    assert_eq!(count(device.as_ref(), Event::FailedDies), 1);
    let nand = device.board().nand();
    let left: Vec<u32> = on_it
        .into_iter()
        .filter(|&page| nand.geometry().plane_of(place(device.as_ref(), page)) == dead)
        .collect();
    assert!(left.len() > 20, "{}", left.len());
    for page in left {
        let before =
            (device.board().meter().total_reads(), device.board().meter().reads(Cause::Rebuild));
        submit(device.as_mut(), &config, Op::Read, u64::from(page));
        let meter = device.board().meter();
        assert_eq!(meter.total_reads() - before.0, 7, "page {page}");
        assert_eq!(meter.reads(Cause::Rebuild) - before.1, 7, "page {page}");
    }
    let erases = |device: &dyn Device| -> u32 {
        let nand = device.board().nand();
        let blocks = nand.geometry().blocks_of(dead).map(BlockId);
        blocks.map(|block| nand.state().block(block).erases).sum()
    };
    let before = erases(device.as_ref());
    write_random(device.as_mut(), &config, 3 * config.device.logical_pages(), 5);
    assert_eq!(erases(device.as_ref()), before);
    assert_eq!(count(device.as_ref(), Event::EraseFailures), 0);
    audited(device.as_ref(), "left alone");
}

/// Nothing is moved where nothing has what the die held.
#[test]
fn without_parity_nobody_programs_what_is_lost() {
    let (config, mut device) = device("ideal_page", 64, &[&EIGHT[..], &[LINE, WIDE]].concat());
    fill(device.as_mut(), &config);
    device.board_mut().nand_mut().faults_mut().fail_die_after(3, 5);
    write_random(device.as_mut(), &config, 200, 3);
    assert_eq!(device.board().nand().failed_die(), Some(3));
    assert_eq!(programs(device.as_ref(), Cause::Rebuild), 0);
    assert_eq!(device.board().meter().reads(Cause::Rebuild), 0);
    audited(device.as_ref(), "without parity");
}

/// After no program at all: the die has failed when measuring begins, though the host only reads.
#[test]
fn a_die_fails_though_nothing_is_programmed() {
    let die = ("nand.failing_die", "3");
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, WIDE, die]].concat());
    device.verify_reads();
    fill(device.as_mut(), &config);
    device.start_measuring();
    read_all(device.as_mut(), &config);
    assert!(device.board().meter().reads(Cause::Rebuild) > 100);
    assert_eq!(count(device.as_ref(), Event::FailedDies), 1);
    assert_eq!(device.board().meter().host().unreadable_pages, 0);
}

/// An idle step moves no more pages than a page of the host lets move.
#[test]
fn a_step_in_a_gap_is_bounded() {
    let pace = ("rain.rebuild_pages", "5");
    let (config, mut device) =
        device("ideal_page", 64, &[&EIGHT[..], &[LINE, STRIPE, WIDE, pace]].concat());
    fill(device.as_mut(), &config);
    device.board_mut().nand_mut().faults_mut().fail_die_after(3, 0);
    (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let before = programs(device.as_ref(), Cause::Rebuild);
    // Less time than a program takes: one step begins, and is not begun again.
    let arrival = device.idle_from() + 1;
    device.submit(&Request { arrival, ..pages(&config, Op::Read, 5, 1) }).expect("it works");
    let moved = programs(device.as_ref(), Cause::Rebuild) - before;
    assert!((1..=5).contains(&moved), "{moved}");
}

/// Writes until the power goes, which it does at a planned program; versions as the host knows
/// them, and the page that was being written.
fn write_until_cut(device: &mut dyn Device, newest: &mut [u32], pages_of: &Config) -> u32 {
    for turn in 0.. {
        let page = turn * 13 % newest.len() as u32;
        match device.submit(&pages(pages_of, Op::Write, u64::from(page), 1)) {
            Ok(_) => newest[page as usize] = device.last_version().0,
            Err(DeviceError::Fault(Fault::PowerCut)) => return page,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("the power goes before that")
}

/// A cut at each program of many in a row, parity among them, with a die that failed before, with
/// one that fails afterwards: capacitors save the parity, and every page is there.
#[test]
fn cuts_at_parity_pages_lose_nothing_that_capacitors_save() {
    let (config, mut first) =
        device("ideal_page", 40, &[&EIGHT[..], &[LINE, STRIPE, WIDE]].concat());
    first.verify_reads();
    fill(first.as_mut(), &config);
    write_random(first.as_mut(), &config, 300, 3);
    let mut parities = 0;
    for cut in 0..40u64 {
        for outcome in CutOutcome::ALL {
            for before in [true, false] {
                let what = format!("cut at {cut} ({outcome:?}), die failed before: {before}");
                let mut device = first.duplicate();
                let faults = device.board_mut().nand_mut().faults_mut();
                faults.cut_power_after(cut, outcome);
                if before {
                    faults.fail_die_after(6, cut / 2);
                }
                let logical = config.device.logical_pages() as u32;
                let mut newest: Vec<u32> =
                    (0..logical).map(|page| version(device.as_ref(), page).0).collect();
                let parity = programs(device.as_ref(), Cause::Parity);
                let page = write_until_cut(device.as_mut(), &mut newest, &config);
                parities += programs(device.as_ref(), Cause::Parity) - parity;
                device.power_cycle().unwrap_or_else(|error| panic!("{what}: {error}"));
                if !before {
                    device.board_mut().nand_mut().faults_mut().fail_die_after(6, 0);
                    submit(device.as_mut(), &config, Op::Write, u64::from(page));
                    newest[page as usize] = device.last_version().0;
                }
                for other in (0..logical).filter(|&other| other != page) {
                    let found = version(device.as_ref(), other).0;
                    assert_eq!(found, newest[other as usize], "{what}: page {other}");
                }
                read_all(device.as_mut(), &config);
                assert_eq!(device.board().meter().host().unreadable_pages, 0, "{what}");
                audited(device.as_ref(), &what);
            }
        }
    }
    assert!(parities > 100, "{parities}");
}

/// What was flushed is there although its copies lie in stripes that are not full, on a die that
/// fails, when the power goes: before a victim is erased they get their parity.
#[test]
fn what_was_flushed_outlives_collection_a_die_and_a_cut() {
    for flush in ["partial", "pad"] {
        let more = [LINE, STRIPE, ROOM, ("rain.flush", flush)];
        let (config, mut first) = device("ideal_page", 40, &[&EIGHT[..], &more].concat());
        first.verify_reads();
        fill(first.as_mut(), &config);
        write_random(first.as_mut(), &config, 2 * config.device.logical_pages(), 3);
        let logical = config.device.logical_pages() as u32;
        let mut written = vec![false; logical as usize];
        let mut collections = 0;
        let mut rng = Rng::new(4, Purpose::Workload);
        for turn in 0..10_000 {
            if collections > 5 {
                break;
            }
            if turn % 40 == 0 {
                crate::common::flush(first.as_mut());
                // What is overwritten from now on may be lost.
                written.fill(false);
            }
            let page = rng.below(logical);
            let copied = programs(first.as_ref(), Cause::Gc);
            submit(first.as_mut(), &config, Op::Write, u64::from(page));
            written[page as usize] = true;
            if programs(first.as_ref(), Cause::Gc) == copied {
                continue;
            }
            // A victim was erased for this page: whichever die fails next, and the power goes
            // before anybody could do something about it.
            collections += 1;
            for die in 0..8 {
                let mut device = first.duplicate();
                let faults = device.board_mut().nand_mut().faults_mut();
                faults.fail_die_after(die, 0);
                faults.cut_power_after(1, CutOutcome::Undone);
                let mut newest = vec![0; logical as usize];
                let interrupted = write_until_cut(device.as_mut(), &mut newest, &config);
                device.power_cycle().expect("it starts");
                let is_kept = |&page: &u32| {
                    let at = page as usize;
                    !written[at] && newest[at] == 0 && page != interrupted
                };
                for page in (0..logical).filter(is_kept) {
                    let before = device.board().meter().host().unreadable_pages;
                    submit(device.as_mut(), &config, Op::Read, u64::from(page));
                    let unreadable = device.board().meter().host().unreadable_pages - before;
                    assert_eq!(unreadable, 0, "{flush}, die {die}: page {page}");
                }
            }
        }
        assert!(collections > 5, "{flush}: {collections}");
    }
}
