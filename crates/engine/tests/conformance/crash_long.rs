//! Power cuts on larger devices and in longer runs than `crash.rs` has: at numbers of the operation
//! that are spaced by a factor, so that what is rare, and what only a device in use does, is cut
//! too.
//!
//! `FTLAB_CUTS` says how many cuts each family of schemes gets (`make test-long`: a hundred
//! thousand); how many there were is printed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::common::cuts::{Case, Cuts};
use crate::common::long_cuts::{Long, log_spaced};
use crate::common::variants;
use crate::common::{chosen, tiny};
use crate::crash::{is_all, is_to_work_in_gaps, keeps};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::Cause;
use ftlab_engine::schemes::{self, Family};

/// Cuts of a family and requests of a run where nobody asks for more.
const FEW: (u64, usize) = (2_000, 1_500);
/// The same with `FTLAB_ALL_CUTS`.
const MANY: (u64, usize) = (100_000, 20_000);

/// A second size of devices: longer blocks, two planes, and maps of several translation pages.
const LARGER: [(&str, &str); 2] = [("device.pages_per_block", "16"), ("device.planes", "2")];
const BLOCKS: u64 = 64;

/// Cuts of a family, and requests of a run.
fn wanted() -> (u64, usize) {
    let all = is_all();
    let (cuts, requests) = if all { MANY } else { FEW };
    match std::env::var("FTLAB_CUTS") {
        Ok(text) => {
            let cuts = text.parse().unwrap_or_else(|_| panic!("FTLAB_CUTS={text} is no number"));
            (cuts, MANY.1)
        }
        Err(_) => (cuts, requests),
    }
}

type Pairs = &'static [(&'static str, &'static str)];

/// Every scheme of a family with its defaults, and every variant: scheme, settings, and whether
/// completed writes outlive a cut.
fn of(family: Family) -> Vec<(&'static str, Pairs, bool)> {
    let rows = schemes::TABLE.iter().map(|row| (row.paper.name, &[][..], true));
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs, variant.durable));
    let is_of = |scheme: &str| schemes::find(scheme).expect("it is there").0.paper.family == family;
    rows.chain(variants).filter(|(scheme, ..)| chosen(scheme) && is_of(scheme)).collect()
}

#[allow(clippy::print_stdout, reason = "how many cuts there were is asked for")]
fn survives_cuts_everywhere(family: Family) {
    let (wanted, requests) = wanted();
    let all = of(family);
    if all.is_empty() {
        return;
    }
    // Where there are few cuts a run has several of them, and other variants have none.
    let runs = all.len().min(wanted.div_ceil(20) as usize);
    let (begun, mut cuts, mut longest) = (Instant::now(), Cuts::default(), 0);
    let (mut idles, mut failed) = (false, Vec::new());
    for turn in 0..runs {
        let number = turn * all.len() / runs;
        let (scheme, own, durable) = all[number];
        let config = tiny(scheme, BLOCKS, &[&LARGER[..], own].concat());
        idles |= is_to_work_in_gaps(scheme, &config);
        let keeps = keeps(scheme, &config, durable);
        let name = format!("{scheme} {own:?}, {requests} requests on the larger device");
        let seed = 2000 + number as u64;
        let long = Long { variant: (scheme, keeps), name: &name, config: &config, seed, requests };
        let ends = long.ends(|_, _| {});
        let length = *ends.last().expect("there are requests");
        let share = wanted / runs as u64 + u64::from((turn as u64) < wanted % runs as u64);
        let points = log_spaced(share, length);
        // One that fails, and has said how, does not keep the others from being cut.
        match catch_unwind(AssertUnwindSafe(|| long.cut_at(&points, &ends))) {
            Ok(more) => cuts += more,
            Err(_) => failed.push(name.clone()),
        }
        longest = longest.max(length);
    }
    let Cuts { cuts, in_gaps, recuts } = cuts;
    println!(
        "{family}: {cuts} cuts in {runs} runs of up to {longest} operations, {in_gaps} of them in \
         gaps before writes, and {recuts} cuts of recoveries; {:.0} s",
        begun.elapsed().as_secs_f64(),
        family = family.name(),
    );
    assert!(failed.is_empty(), "not survived (see above): {failed:#?}");
    assert!(cuts >= wanted.min(100), "only {cuts} cuts");
    // A few may all come elsewhere.
    assert!(in_gaps > 0 || !idles || wanted < MANY.0, "no cut in a gap");
}

#[test]
fn page_mapped_schemes_survive_cuts_in_long_runs() {
    survives_cuts_everywhere(Family::Page);
}

#[test]
fn block_mapped_schemes_survive_cuts_in_long_runs() {
    survives_cuts_everywhere(Family::Block);
}

#[test]
fn log_block_schemes_survive_cuts_in_long_runs() {
    survives_cuts_everywhere(Family::LogBlock);
}

#[test]
fn schemes_with_a_cached_map_survive_cuts_in_long_runs() {
    survives_cuts_everywhere(Family::CachedMap);
}

#[test]
fn ram_managing_schemes_survive_cuts_in_long_runs() {
    survives_cuts_everywhere(Family::RamManaging);
}

/// A cut on the larger device: scheme, settings, seed, requests before the one that is cut, its
/// operation, and what becomes of that.
type Found = (&'static str, Pairs, u64, usize, u64, CutOutcome);

/// Cuts within or shortly before the collection of a whole group, behind which no line, or one, is
/// free and nothing fits into what is left unless it is counted.
const IN_GROUPS: [Found; 7] = [
    ("learnedftl", &[], 2000, 6493, 11, CutOutcome::Torn),
    ("learnedftl", SMALL, 2001, 1797, 6, CutOutcome::Undone),
    ("learnedftl", SMALL, 2001, 3088, 8, CutOutcome::Torn),
    ("learnedftl", SMALL, 2001, 7453, 6, CutOutcome::Torn),
    ("learnedftl", SMALL_KEPT, 2005, 8724, 6, CutOutcome::Undone),
    ("learnedftl", SMALL_KEPT, 2005, 11024, 2, CutOutcome::Done),
    ("learnedftl:unlearned", &[CACHE], 2009, 1644, 13, CutOutcome::Torn),
];
const CACHE: (&str, &str) = ("tpftl.cache_bytes", "70B");
const SMALL: Pairs = &[CACHE, ("learnedftl.train_min", "2")];
const SMALL_KEPT: Pairs = &[
    CACHE,
    ("device.pages_per_block", "8"),
    ("learnedftl.trans_per_group", "2"),
    ("device.ram_nonvolatile", "true"),
];
/// Requests behind those cuts, so that the host fills lines, and operations at each of which the
/// power goes again.
const BEHIND: usize = 200;
const AGAIN: u64 = 60;

#[test]
fn groups_that_are_cut_in_their_collection_are_collected_behind_it() {
    if !chosen("learnedftl") {
        return;
    }
    let mut failed = Vec::new();
    for (scheme, own, seed, warm_up, cut, outcome) in IN_GROUPS {
        let config = tiny(scheme, BLOCKS, &[&LARGER[..], own].concat());
        let keeps = keeps(scheme, &config, true);
        let name = format!("{scheme} {own:?}");
        let long =
            Long { variant: (scheme, keeps), name: &name, config: &config, seed, requests: MANY.1 };
        let case = Case { seed, warm_up, cut, outcome, recut: None };
        match catch_unwind(AssertUnwindSafe(|| long.cut_twice(case, BEHIND, AGAIN))) {
            Ok(0 | 1) => {}
            Ok(free) => failed.push(format!("{scheme}, {case:?}: {free} lines are free")),
            Err(_) => failed.push(format!("{scheme}, {case:?}")),
        }
    }
    assert!(failed.is_empty(), "not survived (see above): {failed:#?}");
}

/// Victims go in pieces, and blocks are levelled between them.
const LEVELLED: &[(&str, &str)] = &[
    ("wear.policy", "static"),
    ("wear.spread", "2"),
    ("gc.mode", "both"),
    ("gc.idle_pages", "1"),
    ("gc.idle_factor", "8"),
    ("device.planes", "2"),
    ("device.over_provisioning", "0.6"),
];

/// Schemes of page space that take these settings, with little memory, so that they meet flash.
const IN_PIECES: [(&str, Pairs); 12] = [
    ("ideal_page", &[]),
    ("ca_ssd", &[]),
    ("caftl", &[("caftl.unreclaimed", "1")]),
    ("dftl", &[("dftl.cmt_entries", "4")]),
    ("cdftl", &[("cdftl.cmt_entries", "3"), ("cdftl.ctp_pages", "1")]),
    ("tpftl", &[("tpftl.cache_bytes", "34B")]),
    ("sftl", &[("device.ram_bytes", "600B")]),
    ("hat", &[("hat.qmt_entries", "4")]),
    ("hmb", &[("hmb.cache_entries", "2")]),
    ("leaftl", &[]),
    ("aps", &[("device.ram_bytes", "6144"), ("aps.entry_bytes", "64")]),
    ("jtl", &[("device.ram_bytes", "6144"), ("jtl.entry_bytes", "64")]),
];

/// Static levelling where victims are left half moved by gaps: cuts in what levelling does, and in
/// requests that find such a victim. What a cut leaves of either goes on, or is begun anew.
#[test]
#[allow(clippy::print_stdout, reason = "how many cuts there were is told")]
fn levelling_beside_victims_in_pieces_survives_cuts() {
    let (mut cuts, mut all) = (Cuts::default(), Vec::new());
    for (number, (scheme, own)) in IN_PIECES.into_iter().enumerate() {
        if !chosen(scheme) {
            continue;
        }
        let config = tiny(scheme, 24, &[LEVELLED, own].concat());
        let variant = (scheme, keeps(scheme, &config, true));
        let (name, seed) = (format!("{scheme}, levelled"), 3000 + number as u64);
        let long = Long { variant, name: &name, config: &config, seed, requests: 3000 };
        // The victim that was begun last and is not erased yet, and which requests there are to
        // cut.
        let (mut half, mut marked) = (None, Vec::new());
        let ends = long.ends(|device, operations| {
            let mut levels = false;
            let found = half.is_some();
            for operation in operations {
                match *operation {
                    Operation::Read(page, Cause::Gc) => {
                        half = Some(device.board().geometry().block_of(page));
                    }
                    Operation::Erase(_, Cause::Wear) => levels = true,
                    Operation::Erase(block, _) if half == Some(block) => half = None,
                    _ => {}
                }
            }
            marked.push((levels, found && !operations.is_empty()));
        });
        let levels = marked.iter().filter(|(levels, _)| *levels).count();
        let both = marked.iter().filter(|(levels, found)| *levels && *found).count();
        let found = marked.iter().filter(|(_, found)| *found).count();
        all.push((scheme, levels, found, both));
        // All operations of up to eight requests that level, and of eight that find half a victim.
        let mut points = Vec::new();
        let mut left = (8, 8);
        for (request, &(levels, found)) in marked.iter().enumerate() {
            let takes = match (levels, found) {
                (true, _) if left.0 > 0 => {
                    left.0 -= 1;
                    true
                }
                (false, true) if left.1 > 0 && request % 3 == 0 => {
                    left.1 -= 1;
                    true
                }
                _ => false,
            };
            let first = request.checked_sub(1).map_or(0, |before| ends[before]);
            points.extend((first..ends[request]).filter(|_| takes));
        }
        cuts += long.cut_at(&points, &ends);
    }
    println!("{cuts:?}; requests that level, find a victim half moved, do both: {all:?}");
    let told =
        |&(_, levels, found, both): &(_, usize, usize, usize)| levels > 3 && found > 5 && both > 0;
    assert!(all.iter().all(told), "{all:?}");
    assert!(cuts.in_gaps > 0 || std::env::var("FTLAB_ONLY").is_ok(), "{cuts:?}");
}

/// A collection has used the last free zone when the power goes; the host took what was left of its
/// target, and the device was full: where moved pages have a stream of their own, the open zone is
/// the collection's.
#[test]
fn what_a_cut_collection_has_opened_is_left_to_it() {
    const ZONES: Pairs = &[
        ("device.channels", "4"),
        ("zns.width", "2"),
        ("zns.reserve", "2"),
        ("gc.separate_frontiers", "true"),
    ];
    if !chosen("zns") {
        return;
    }
    let config = tiny("zns", BLOCKS, &[&LARGER[..], ZONES].concat());
    let variant = ("zns", keeps("zns", &config, true));
    let (name, requests) = (format!("zns {ZONES:?}, collecting"), 955..965);
    let long = Long { variant, name: &name, config: &config, seed: 2134, requests: requests.end };
    let ends = long.ends(|_, _| {});
    let points: Vec<u64> = (ends[requests.start]..ends[requests.end - 1]).collect();
    // Every outcome at every operation.
    for skip in 0..3 {
        let cuts = long.cut_at(&points[skip.min(points.len())..], &ends).cuts;
        assert!(cuts > 10, "{name}: {cuts} cuts");
    }
}
