//! Placement hints of the host (`gc.placement = hint`): which handle takes a page, what is counted,
//! what must come out equal, and what handles of their own are worth.

use crate::common::outcome::same;
use crate::common::{config, open, pages, submit, tiny};
use ftlab_engine::meter::{Cause, ClassCounts, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

const HINT: (&str, &str) = ("gc.placement", "hint");
const UNIT: (&str, &str) = ("host.hints", "unit");
const COLUMN: (&str, &str) = ("host.hints", "column");
const ONE: (&str, &str) = ("placement.handles", "1");
const LAST: (&str, &str) = ("placement.collection", "last_handle");
const PERSISTENTLY: (&str, &str) = ("placement.isolation", "persistently");

/// With one handle nothing is divided, unless moved pages lie apart.
#[test]
fn one_handle_is_none_or_separate_frontiers() {
    for scheme in ["ideal_page", "dftl"] {
        same((scheme, &[HINT, UNIT, ONE, LAST]), (scheme, &[]), &[]);
        same((scheme, &[HINT, UNIT, ONE, PERSISTENTLY]), (scheme, &[]), &[]);
        same((scheme, &[HINT, UNIT, ONE]), (scheme, &[("gc.placement", "sep_gc")]), &[]);
    }
}

/// Three handles: streams 0 to 2 have one each, 3 and more the last, none the first; what names no
/// handle is counted, page by page.
#[test]
fn a_hint_that_is_absent_or_names_no_handle_is_counted() {
    let config = tiny("ideal_page", 24, &[HINT, COLUMN, ("placement.handles", "3")]);
    let mut device = open("ideal_page", &config);
    for (stream, count) in
        [(None, 1), (Some(0), 2), (Some(1), 3), (Some(2), 1), (Some(3), 1), (Some(255), 2)]
    {
        let request = Request { stream, ..pages(&config, Op::Write, 8, count) };
        let _ = device.submit(&request).expect("the device works");
    }
    submit(device.as_mut(), &config, Op::Read, 8);
    let meter = device.board().meter();
    let written: Vec<u64> = meter.classes().iter().map(|class| class.host_pages).collect();
    assert_eq!(written[..4], [3, 3, 4, 0]);
    assert_eq!(meter.events(Event::PagesWithoutHint), 1);
    assert_eq!(meter.events(Event::PagesBeyondHandles), 3);
}

/// A unit that a byte does not hold is beyond every handle, not one of them.
#[test]
fn a_large_unit_is_beyond_the_last_handle() {
    let config = tiny("ideal_page", 24, &[HINT, UNIT, ("placement.handles", "3")]);
    let mut device = open("ideal_page", &config);
    for unit in [256, 1024, 1 << 24, (1 << 24) + 1] {
        let request = Request { unit, ..pages(&config, Op::Write, 8, 1) };
        let _ = device.submit(&request).expect("the device works");
    }
    let meter = device.board().meter();
    assert_eq!(meter.events(Event::PagesBeyondHandles), 4);
    assert_eq!(meter.classes()[2].host_pages, 4);
    // Where a unit says of which part of a workload a request is, too, that is no handle.
    device.units_have_stride(1 << 20);
    for unit in [1, (1 << 20) + 1, (7 << 20) + 1] {
        let request = Request { unit, ..pages(&config, Op::Write, 8, 1) };
        let _ = device.submit(&request).expect("the device works");
    }
    assert_eq!(device.board().meter().classes()[1].host_pages, 3);
}

/// Blocks of 64 pages.
const BLOCK: u32 = 64;
const LOGICAL: u32 = 1 << 13;

/// Pages moved for each page written at random, and counts by class, on a device of so many blocks;
/// with a ring of so many pages beside it, one page of which is written with each of them.
fn moved_for_each(
    pairs: &[(&str, &str)],
    (random, ring, blocks): (u32, u32, u32),
) -> (f64, Vec<ClassCounts>) {
    let mut config = config(&[("device.pages_per_block", "64")]);
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    let bytes = u64::from(random + ring) * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = blocks;
    let mut device = open("ideal_page", &config);
    let mut rng = Rng::new(8, Purpose::Workload);
    let write = |device: &mut dyn Device, page: u32, stream: u8| {
        let request = pages(&config, Op::Write, u64::from(page), 1);
        device.submit(&Request { stream: Some(stream), ..request }).expect("the device works");
    };
    let (before, after) = (12 * random, 12 * random);
    for turn in 0..before + after {
        if ring > 0 {
            write(device.as_mut(), random + turn % ring, 1);
        }
        write(device.as_mut(), rng.below(random), 0);
        if turn + 1 == before {
            device.start_measuring();
        }
    }
    device.audit().expect("the audit passes");
    let meter = device.board().meter();
    (meter.programs(Cause::Gc) as f64 / f64::from(after), meter.classes().to_vec())
}

/// A ring that is written in order dies block by block: behind a handle of its own nothing of it is
/// moved, and what is written at random moves as much as alone with the space that the ring leaves.
#[test]
fn a_ring_with_a_handle_of_its_own_costs_its_space_and_nothing_else() {
    let (half, blocks) = (LOGICAL / 2, LOGICAL / BLOCK * 5 / 4);
    let hints = [HINT, COLUMN, ("placement.handles", "2")];
    let (beside, counts) = moved_for_each(&hints, (half, half, blocks));
    let ring = &counts[1];
    assert!(ring.victims > 500, "{ring:?}");
    let amplification = 1.0 + ring.copied_pages as f64 / ring.host_pages as f64;
    // The ring and its open block.
    let left = blocks - half / BLOCK - 1;
    let (alone, _) = moved_for_each(&[("gc.placement", "sep_gc")], (half, 0, left));
    let (mixed, _) = moved_for_each(&[], (half, half, blocks));
    println!(
        "ring {amplification:.4}; random beside it {beside:.3}, alone {alone:.3}, in one log \
         {mixed:.3}"
    );
    assert!(amplification < 1.01, "the ring: {amplification}");
    assert!((beside / alone - 1.0).abs() < 0.03, "beside {beside}, alone {alone}");
    assert!(mixed > 1.5 * beside, "in one log {mixed}, apart {beside}");
}

/// What a scheme buffers itself leaves without its hint, as from any buffer: every page counted as
/// one without, and nothing was divided.
#[test]
fn schemes_that_hold_data_themselves_refuse_hints() {
    let refused: Vec<&str> = schemes::TABLE
        .iter()
        .filter(|row| {
            let config = tiny(row.paper.name, 24, &[HINT, UNIT]);
            let opened = (row.open)(&config, 1).map(|_| ()).map_err(|error| error.to_string());
            opened.is_err_and(|text| text.contains("without the hint"))
        })
        .map(|row| row.paper.name)
        .collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(["leaftl", "aps", "jtl"].iter().all(|name| refused.contains(name)), "{refused:?}");
}
