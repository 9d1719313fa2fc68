//! Power cuts at every program and erase of a workload, the interrupted operation undone, done or
//! torn; recovery is itself cut. Every completed write is there afterwards, flushed trims stay
//! trimmed, and the device goes on working.
//!
//! A failure names its case in one line: scheme, number of the variant in `variants::all`, seed,
//! where the power is cut and how (after how many requests the count begins), and where the
//! recovery is.

use crate::common::cuts::{
    Case, Cuts, GAP_EVERY, Keeps, LOGICAL_BLOCKS, Points, Spread, every_cut, hundred_cuts, run,
};
use crate::common::faults;
use crate::common::long_cuts::Long;
use crate::common::variants::{self, Variant};
use crate::common::{chosen, flush, mixed, open, pages, submit, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::{Config, GcMode};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::{self, Family};
use ftlab_engine::ssd::DeviceError;

/// Cuts that a workload must have, so that it tells something.
const LEAST_CUTS: u64 = 50;

/// What outlives a cut under these settings: of a scheme that holds data in RAM, or the map of what
/// pages share, what was flushed.
pub fn keeps(scheme: &str, config: &Config, durable: bool) -> Keeps {
    let (row, _) = schemes::find(scheme).expect("a scheme of the table");
    match durable {
        true if row.buffers_data && config.device.ram_nonvolatile => Keeps::Everything,
        true if !row.keeps_writes => Keeps::Flushed,
        true => Keeps::Everything,
        false => Keeps::Something,
    }
}

#[test]
fn every_scheme_survives_a_cut_at_every_operation() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let config = tiny(row.paper.name, LOGICAL_BLOCKS, &[]);
        let keeps = keeps(row.paper.name, &config, true);
        let all = Points { outcomes: &CutOutcome::ALL, every: 1, least: LEAST_CUTS };
        every_cut((row.paper.name, keeps), usize::MAX >> 40, &config, all);
    }
}

/// Whether nothing is left out (`make test-long`).
pub fn is_all() -> bool {
    std::env::var("FTLAB_ALL_CUTS").is_ok()
}

/// At every fifth operation with one outcome each, in turns; with `FTLAB_ALL_CUTS` at every one
/// with all of them. Those that are to work in gaps are cut in gaps.
#[test]
#[allow(clippy::print_stdout, reason = "how many cuts there were is told")]
fn every_variant_survives_cuts_at_its_operations() {
    let variants = variants::all().enumerate().filter(|(_, variant)| chosen(variant.scheme));
    let (mut total, mut unseen) = (Cuts::default(), Vec::new());
    for (number, variant) in variants {
        let config = tiny(variant.scheme, LOGICAL_BLOCKS, variant.pairs);
        let keeps = keeps(variant.scheme, &config, variant.durable);
        let (outcomes, every) = match is_all() {
            true => (&CutOutcome::ALL[..], 1),
            false => (&CutOutcome::ALL[number % 3..][..1], 5),
        };
        let keeps = (variant.scheme, keeps);
        let points = Points { outcomes, every, least: LEAST_CUTS };
        let mut cuts = every_cut(keeps, number, &config, points);
        let is_idle = is_to_work_in_gaps(variant.scheme, &config);
        if is_idle && cuts.in_gaps == 0 {
            cuts += cuts_in_gaps(keeps, number, &config);
        }
        unseen.extend((is_idle && cuts.in_gaps == 0).then_some((variant.scheme, variant.pairs)));
        total += cuts;
    }
    println!("{total:?}");
    assert!(unseen.is_empty(), "not cut in the gaps before writes: {unseen:?}");
}

/// Whether a scheme does something between requests under these settings.
pub fn is_to_work_in_gaps(scheme: &str, config: &Config) -> bool {
    let flushes = scheme.starts_with("treeftl") && config.scheme.treeftl.idle_flush;
    config.gc.mode != GcMode::Foreground || flushes
}

/// Cuts at the first operation of every request that comes behind a gap, of a variant that works in
/// gaps rarely.
fn cuts_in_gaps(variant: (&str, Keeps), number: usize, config: &Config) -> Cuts {
    let name = format!("{}, number {number}, in gaps", variant.0);
    let long = Long { variant, name: &name, config, seed: 11 + number as u64, requests: 3000 };
    let ends = long.ends(|_, _| {});
    let begins = |request: usize| request.checked_sub(1).map_or(0, |before| ends[before]);
    let behind_gaps = (0..ends.len()).step_by(GAP_EVERY);
    let points = behind_gaps.filter(|&request| begins(request) < ends[request]).map(begins);
    long.cut_at(&points.collect::<Vec<u64>>(), &ends)
}

/// Whether anything was done in the gaps between requests like those that are cut: without gaps
/// other pages are programmed, or a block map that erases late has erased by the next read.
fn works_in_gaps(scheme: &str, config: &Config) -> bool {
    let (row, _) = schemes::find(scheme).expect("it is in the table");
    let mut devices = [open(scheme, config), open(scheme, config)];
    let mut requests = Spread::new(config, 2000, 3);
    let mut erased = false;
    while let Some(request) = requests.take(devices[0].as_ref()) {
        let [spread, dense] = &mut devices;
        let before = spread.board().meter().total_erases();
        spread.submit(&request).expect("the device works");
        dense.submit(&Request { arrival: 0, ..request }).expect("the device works");
        let erases = spread.board().meter().total_erases() - before;
        erased |= request.op == Op::Read && row.paper.family == Family::Block && erases > 0;
    }
    let counts = devices.each_ref().map(|device| {
        let meter = device.board().meter();
        (meter.total_programs(), meter.total_erases())
    });
    erased || counts[0] != counts[1]
}

#[test]
fn gaps_between_requests_that_are_cut_are_worked_in() {
    let mut seen = 0;
    for variant in variants::all().filter(|variant| chosen(variant.scheme)) {
        let config = tiny(variant.scheme, LOGICAL_BLOCKS, variant.pairs);
        if is_to_work_in_gaps(variant.scheme, &config) {
            let works = works_in_gaps(variant.scheme, &config);
            assert!(works, "{} {:?}: no work in gaps", variant.scheme, variant.pairs);
            seen += 1;
        }
    }
    assert!(seen > 0 || std::env::var("FTLAB_ONLY").is_ok(), "no variant is to work in gaps");
}

/// Cuts on devices with every kind of fault at once, the recovery cut as well: what a failure left
/// (blocks read-only or retired, pages that cannot be read) is there after recovery as before.
#[test]
fn every_variant_survives_cuts_among_faults() {
    let rows = schemes::TABLE.iter().map(|row| (row.paper.name, Default::default(), true));
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs, variant.durable));
    let all = rows.chain(variants).enumerate().filter(|(_, (scheme, ..))| chosen(scheme));
    for (number, (scheme, own, durable)) in all {
        let pairs = [own, faults::MIXED, &[("nand.program_failure_rate", "0.01")]].concat();
        let config = tiny(scheme, LOGICAL_BLOCKS, &pairs);
        let mut cuts = 0;
        for turn in 0..60u64 {
            let outcome = CutOutcome::ALL[(turn % 3) as usize];
            let recut = (turn % 2 == 1).then_some(turn / 6);
            let (seed, cut) = (500 + number as u64, turn * 5);
            let case = Case { seed, warm_up: 0, cut, outcome, recut };
            let keeps = keeps(scheme, &config, durable);
            cuts += u32::from(run((scheme, keeps), number, &config, case));
        }
        assert!(cuts > 20, "{scheme} {own:?}: only {cuts} cuts happened");
    }
}

/// Cuts on devices in use whose map takes several translation pages, every third recovery cut as
/// well: whole translation pages come and go between collections.
#[test]
fn variants_with_a_map_on_flash_survive_cuts_among_several_translation_pages() {
    let on_flash = |scheme: &str| {
        let (row, _) = schemes::find(scheme).expect("a scheme of the table");
        let has_one = matches!(row.paper.family, Family::CachedMap | Family::RamManaging);
        has_one && chosen(scheme)
    };
    let variants = variants::all().enumerate().filter(|(_, variant)| on_flash(variant.scheme));
    for (number, variant) in variants {
        let pages = u64::from(tiny(variant.scheme, 1, variant.pairs).device.units_per_block());
        let config = tiny(variant.scheme, 480_u64.div_ceil(pages), variant.pairs);
        let seed = 900 + number as u64;
        // Devices with much spare space are in use later.
        let in_use = |&warm_up: &usize| {
            let mut device = open(variant.scheme, &config);
            for request in mixed(&config, warm_up, seed) {
                device.submit(&request).expect("the device works");
            }
            device.board().meter().total_erases() > 3
        };
        let warm_up = [400, 800, 1600].into_iter().find(in_use);
        let warm_up = warm_up.unwrap_or_else(|| {
            panic!("{} {:?}: nothing to collect", variant.scheme, variant.pairs)
        });
        for turn in 0..24u64 {
            let outcome = CutOutcome::ALL[(turn / 3 % 3) as usize];
            let recut = (turn % 3 == 2).then_some(turn / 4);
            let case = Case { seed, warm_up, cut: turn * 3, outcome, recut };
            let scheme = (variant.scheme, keeps(variant.scheme, &config, variant.durable));
            assert!(run(scheme, number, &config, case), "{}: no cut", variant.scheme);
        }
    }
}

/// Many cuts in a row on one device: what one recovery leaves half done the next one finds. Two of
/// three devices have faults as well: programs and erases that fail, or every kind.
#[test]
fn devices_survive_a_hundred_cuts_in_a_row() {
    const FAILING: [(&str, &str); 3] = [
        ("nand.program_failure_rate", "0.002"),
        ("nand.erase_failure_rate", "0.002"),
        ("device.over_provisioning", "15x"),
    ];
    let mixed_faults = [faults::MIXED, &[("device.over_provisioning", "18x")]].concat();
    let devices = [&[], &FAILING[..], &mixed_faults[..]];
    let turns = |kind: usize| {
        // Large devices are every third as well: each kind of failure meets both sizes.
        let meets = move |(turn, _): &(usize, _)| is_all() || (turn / 3 + kind).is_multiple_of(3);
        variants::all().enumerate().filter(meets)
    };
    let thrice = devices.iter().enumerate().flat_map(|(kind, failing)| {
        turns(kind)
            .map(move |(turn, variant)| (kind * variants::all().count() + turn, failing, variant))
    });
    for (number, failing, variant) in thrice.filter(|(.., variant)| chosen(variant.scheme)) {
        // Every third device has several translation pages and two planes.
        let (blocks, planes) = if number % 3 == 0 { (170, "2") } else { (LOGICAL_BLOCKS, "1") };
        let pairs = [variant.pairs, failing, &[("device.planes", planes)]].concat();
        let config = tiny(variant.scheme, blocks, &pairs);
        let scheme = (variant.scheme, keeps(variant.scheme, &config, variant.durable));
        hundred_cuts(scheme, number, &config);
    }
}

/// Flushes that are cut behind their first program, before the page that it replaces is marked: each
/// leaves both on flash. Audits count what is alive, and of what came before nothing may be left.
#[test]
fn cut_flushes_leave_no_more_alive_than_a_scheme_declares() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let name = row.paper.name;
        let config = tiny(name, LOGICAL_BLOCKS, &[("device.over_provisioning", "15x")]);
        let mut device = open(name, &config);
        let mut cuts = 0;
        for round in 0..20 {
            submit(device.as_mut(), &config, Op::Write, round % 3);
            flush(device.as_mut());
            submit(device.as_mut(), &config, Op::Trim, round % 3);
            device.board_mut().nand_mut().faults_mut().cut_power_after(0, CutOutcome::Done);
            match device.submit(&pages(&config, Op::Flush, 0, 1)) {
                Err(DeviceError::Fault(Fault::PowerCut)) => cuts += 1,
                Ok(_) => device.board_mut().nand_mut().faults_mut().forget_cut(),
                Err(error) => panic!("{name}, round {round}: {error}"),
            }
            device.power_cycle().unwrap_or_else(|error| panic!("{name}, round {round}: {error}"));
            device.audit().unwrap_or_else(|error| panic!("{name}, round {round}: {error}"));
        }
        // Phase-change memory keeps the trims of CA-SSD: there is nothing to flush.
        assert_eq!(cuts, if name == "ca_ssd" { 0 } else { 20 }, "{name}: flushes that were cut");
    }
}

/// Lines of which a die fails on the way, between cuts, in one, or while a recovery is cut, and of
/// which single pages cannot be read either: what is lost is said to be, nothing older comes back.
#[test]
fn lines_survive_cuts_among_reads_that_fail_and_a_die_that_fails() {
    const READS: [(&str, &str); 3] = [
        ("nand.read_error_rate", "0.004"),
        ("nand.read_retry_rate", "0.02"),
        ("device.over_provisioning", "2x"),
    ];
    let all = variants::lines::VARIANTS.iter().chain(variants::lines::WITH_PARITY);
    let several = |variant: &&Variant| {
        let dies = |pair: &(&str, &str)| ["device.channels", "device.dies"].contains(&pair.0);
        variant.pairs.iter().any(dies)
    };
    let all = all.filter(several).enumerate().filter(|(_, variant)| chosen(variant.scheme));
    for (number, variant) in all {
        let device = |after: u64| {
            let after = after.to_string();
            let die = [("nand.failing_die", "1"), ("nand.die_fails_after", after.as_str())];
            let pairs = [variant.pairs, &READS, &die].concat();
            tiny(variant.scheme, LOGICAL_BLOCKS, &pairs)
        };
        for programs in [0, 40, 300] {
            let config = device(programs + number as u64);
            let scheme = (variant.scheme, keeps(variant.scheme, &config, variant.durable));
            hundred_cuts(scheme, number, &config);
        }
        let mut cuts = 0;
        for turn in 0..60u64 {
            let outcome = CutOutcome::ALL[(turn % 3) as usize];
            let recut = (turn % 2 == 1).then_some(turn / 6);
            let (seed, cut) = (700 + number as u64, turn * 3);
            let case = Case { seed, warm_up: 0, cut, outcome, recut };
            let config = device((cut + turn % 5).saturating_sub(2));
            let scheme = (variant.scheme, keeps(variant.scheme, &config, variant.durable));
            cuts += u32::from(run(scheme, number, &config, case));
        }
        assert!(cuts > 20, "{} {:?}: only {cuts} cuts happened", variant.scheme, variant.pairs);
    }
}

/// A cut collection has used the free blocks that its victim's erase would have given back. What is
/// left of its targets is not for the host: with one spare block the device would be full one day.
#[test]
fn what_a_cut_collection_needs_is_kept_for_it() {
    const TIGHT: [(&str, &str); 2] =
        [("device.pages_per_block", "16"), ("tpftl.cache_bytes", "70B")];
    let config = tiny("tpftl", LOGICAL_BLOCKS, &TIGHT);
    hundred_cuts(("tpftl", Keeps::Everything), 254, &config);
}
