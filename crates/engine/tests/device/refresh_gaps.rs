//! Refresh in gaps: what a power cut brings back, victims that were left half moved, and levelling
//! behind them.

use crate::common::{fill, open, pages, place, submit, tiny};
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Nanos, PlaneId};

const SECOND: Nanos = 1_000_000_000;
const DAY: Nanos = 86_400 * SECOND;
const TEN: (&str, &str) = ("refresh.reads", "10");
const PIECES: (&str, &str) = ("gc.idle_pages", "1");

/// A request of one page, so long after the device fell idle.
fn after_gap(device: &mut dyn Device, config: &Config, (op, page): (Op, u64), gap: Nanos) {
    let arrival = device.idle_from() + gap;
    let request = Request { arrival, ..pages(config, op, page, 1) };
    device.submit(&request).expect("the device works");
}

fn count(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// A trim that no flush recorded is undone by a cut: pages live again in a block that held nothing
/// when the patrol came by. Nobody looked for it any more, and its data was never moved.
#[test]
fn data_that_a_power_cut_brings_back_is_looked_for() {
    let set = [("refresh.days", "1"), ("refresh.patrol", "1s")];
    let config = tiny("ideal_page", 8, &set);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    (0..4).for_each(|page| submit(device, &config, Op::Write, page));
    let written = place(device, 0);
    (0..4).for_each(|page| submit(device, &config, Op::Trim, page));
    after_gap(device, &config, (Op::Read, 9), 2 * DAY);
    assert_eq!(count(device, Event::RefreshedForAge), 0, "the patrol found nothing in it");
    device.power_cycle().expect("it recovers");
    assert_eq!(place(device, 0), written, "the trims are gone");
    after_gap(device, &config, (Op::Read, 9), 200 * SECOND);
    assert_eq!(count(device, Event::RefreshedForAge), 1);
    assert_ne!(place(device, 0), written);
    device.audit().expect("the device is sound");
}

/// A victim that gaps have begun with, and a request finishes since it is due twice over by then,
/// was counted when it was begun, and did not wait for that request: it is none of those at once.
#[test]
fn what_gaps_have_begun_counts_as_theirs() {
    let config = tiny("ideal_page", 8, &[TEN, PIECES]);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    fill(device, &config);
    (0..10).for_each(|_| submit(device, &config, Op::Read, 7));
    // Time for the first of four pages.
    after_gap(device, &config, (Op::Read, 7), 1);
    assert_eq!(device.board().meter().programs(Cause::Refresh), 1);
    assert_eq!(count(device, Event::RefreshedForReads), 1);
    (0..12).for_each(|_| submit(device, &config, Op::Read, 7));
    assert_eq!(device.board().meter().programs(Cause::Refresh), 4, "a request has finished it");
    assert_eq!(count(device, Event::RefreshedForReads), 1);
    assert_eq!(count(device, Event::RefreshedAtOnce), 0);
    device.audit().expect("the device is sound");
}

/// Where a host that wrote without gaps took the room that the rest of a victim needed in pieces,
/// and only reads from then on, what is due moves in gaps all the same. It waited for the host to
/// collect; and under a map on flash, of which every piece may write a page, for room that a whole
/// victim needs less of.
#[test]
fn a_host_that_only_reads_leaves_no_victim_half_moved() {
    let small = [TEN, PIECES, ("device.over_provisioning", "0.1"), ("dftl.cmt_entries", "8")];
    let seeds = |scheme| (0..60).map(move |seed| (scheme, seed));
    for (scheme, seed) in ["ideal_page", "dftl"].into_iter().flat_map(seeds) {
        let config = tiny(scheme, 16, &small);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        fill(device, &config);
        let mut rng = Rng::new(seed, Purpose::Workload);
        (0..200).for_each(|_| submit(device, &config, Op::Write, rng.below(64).into()));
        (0..10).for_each(|_| submit(device, &config, Op::Read, 5));
        // Time for a first piece.
        after_gap(device, &config, (Op::Read, 5), 1);
        for _ in 0..rng.below(8) {
            submit(device, &config, Op::Write, rng.below(64).into());
        }
        for page in 0..64 {
            (0..3).for_each(|_| submit(device, &config, Op::Read, page));
        }
        after_gap(device, &config, (Op::Read, 0), SECOND);
        let before = count(device, Event::RefreshedForReads);
        for _ in 0..10 {
            after_gap(device, &config, (Op::Read, 9), SECOND);
        }
        // A gap, and no read behind it.
        let arrival = device.idle_from() + SECOND;
        let end = Request { arrival, ..pages(&config, Op::Flush, 0, 0) };
        device.submit(&end).expect("the device works");
        let waiting = device.board_mut().nand_mut().blocks_to_refresh(When::START);
        assert_eq!(waiting, 0, "{scheme}, seed {seed}: nothing keeps the gaps from it");
        assert!(count(device, Event::RefreshedForReads) > before, "{scheme}, seed {seed}");
        device.audit().unwrap_or_else(|error| panic!("{scheme}, seed {seed}: {error}"));
    }
}

/// Blocks of two planes that are moved at once, without a gap in between, leave levelling to do in
/// both: the second one's plane alone was levelled.
#[test]
fn every_plane_whose_victims_went_in_between_gaps_is_levelled() {
    let set = [
        TEN,
        PIECES,
        ("device.planes", "2"),
        ("wear.policy", "static"),
        ("wear.spread", "2"),
        ("device.over_provisioning", "0.5"),
    ];
    let config = tiny("ideal_page", 32, &set);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    fill(device, &config);
    for _ in 0..120 {
        // Both are due twice over behind the last two.
        for read in 0..40 {
            submit(device, &config, Op::Read, read % 2);
        }
        after_gap(device, &config, (Op::Read, 0), SECOND);
    }
    assert!(count(device, Event::RefreshedAtOnce) >= 120);
    let spread = [0, 1].map(|plane| {
        let (state, geometry) = (device.board().nand().state(), device.board().geometry());
        let erases = geometry.blocks_of(PlaneId(plane)).map(|at| state.block(BlockId(at)).erases);
        let (least, most) = (erases.clone().min(), erases.max());
        most.zip(least).map_or(0, |(most, least)| most - least)
    });
    assert!(spread[0].abs_diff(spread[1]) <= 2 && spread[0] < 8, "{spread:?} erases apart");
    device.audit().expect("the device is sound");
}
