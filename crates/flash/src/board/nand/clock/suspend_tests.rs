//! Reads that suspend or overtake: what was handed out about them stays true.

use super::*;
use crate::meter::Cause;
use crate::rng::{Purpose, Rng};
use crate::settings::Groups as _;
use crate::units::{BlockId, Ppn};

const READ: Nanos = 50_000;
const TRANSFER: Nanos = 10_000;
const ERASE: Nanos = 2_000_000;
const COST: Nanos = 20_000;

/// Cells and channels with the times above, and what a test adds.
pub(super) fn clock(pairs: &[(&str, &str)]) -> (Clock, Geometry) {
    let mut config = crate::board::settings::BoardSettings::default();
    let common = [
        ("timing.profile", "parallel"),
        ("timing.read", "50us"),
        ("timing.program", "300us"),
        ("timing.erase", "2ms"),
        ("timing.page_transfer", "10us"),
        ("timing.suspend_cost", "20us"),
        ("device.blocks_per_plane", "16"),
        ("device.pages_per_block", "8"),
    ];
    for (key, value) in common.iter().chain(pairs) {
        config.set(key, value).expect("legal settings");
    }
    config.check().expect("legal together");
    let geometry = Geometry::new(&config.device);
    (Clock::new(&config.timing, &geometry), geometry)
}

/// A read of a page of the first plane's second block, and when it is over.
fn read(clock: &mut Clock, geometry: &Geometry, offset: u32, after: When) -> Nanos {
    let page = (geometry.page(BlockId(1), offset), BlockId(1));
    let at = Place { plane: PlaneId(0), page: Some(page) };
    let done = clock.read_page(at, Cause::Host, after);
    clock.completion(done)
}

#[test]
fn reads_that_arrive_while_an_erase_is_being_suspended_queue() {
    for limit in ["1", "4"] {
        let pairs = [("timing.suspend", "erase"), ("timing.suspend_limit", limit)];
        let (mut clock, geometry) = clock(&pairs);
        let start = clock.admit(0);
        let _ = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start);
        let times = [100_000, 100_000, 105_000, 110_000, 115_000, 119_000];
        for (read_before, time) in (1..).zip(times) {
            let start = clock.admit(time);
            let done = read(&mut clock, &geometry, read_before as u32, start);
            assert_eq!(done, 100_000 + COST + read_before * READ + TRANSFER, "limit {limit}");
        }
    }
}

#[test]
fn the_limit_holds_for_an_erase_whatever_the_order_of_tokens() {
    let pairs = [("timing.suspend", "erase"), ("timing.suspend_limit", "1")];
    let (mut clock, geometry) = clock(&pairs);
    clock.timeline_mut().start(100);
    let start = clock.admit(0);
    let _ = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start);
    let first = read(&mut clock, &geometry, 0, When::at(1_500_000));
    assert_eq!(first, 1_500_000 + COST + READ + TRANSFER);
    for time in [1_200_000, 900_000, 600_000] {
        assert!(read(&mut clock, &geometry, 0, When::at(time)) > first);
    }
    let (spans, _) = clock.timeline_mut().take();
    assert_eq!(spans.iter().filter(|span| span.work == Work::Suspend).count(), 1);
}

/// The cells read until 50 us and erase after that; a read that comes before is not worse off than
/// one that comes after the erase began.
#[test]
fn a_read_that_waits_when_an_erase_could_begin_goes_first() {
    let behind = |time: Nanos| {
        let (mut clock, geometry) = clock(&[("timing.suspend", "erase")]);
        let start = clock.admit(0);
        let _ = read(&mut clock, &geometry, 0, start);
        let _ = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start);
        let start = clock.admit(time);
        let done = read(&mut clock, &geometry, 1, start);
        let erased = clock.free_from(PlaneId(0));
        (done, erased)
    };
    assert_eq!(behind(40_000), (2 * READ + TRANSFER, 2 * READ + ERASE));
    assert_eq!(behind(51_000), (51_000 + COST + READ + TRANSFER, 2 * READ + COST + ERASE));
}

/// Reads of one block, writes to the others of one plane, at random; returns when the cells were at
/// work for each read, as it was handed out.
fn handed_out(pairs: &[(&str, &str)], two_steps: bool) -> Vec<(Nanos, Nanos)> {
    let (mut clock, geometry) = clock(pairs);
    let mut rng = Rng::new(3, Purpose::Workload);
    let (mut time, mut block, mut offset) = (0, 2, 0);
    let mut reads = Vec::new();
    for _ in 0..20_000 {
        time += u64::from(rng.below(120_000));
        let start = clock.admit(time);
        let other = [Cause::Host, Cause::Gc][rng.below(2) as usize];
        if rng.below(8) == 0 {
            if offset == 8 {
                (block, offset) = (2 + (block - 1) % 10, 0);
                let _ = clock.erase_block(PlaneId(0), BlockId(block), Cause::Gc, start);
            }
            let page = (PlaneId(0), BlockId(block), geometry.page(BlockId(block), offset));
            let _ = clock.program_page(page, Load::Channel, other, start);
            offset += 1;
            continue;
        }
        let ahead = if two_steps && rng.below(2) == 0 { rng.below(200_000) } else { 0 };
        // Mostly old pages, sometimes the newest, whose program may not have begun.
        let page = match rng.below(4) {
            0 if offset > 0 => (geometry.page(BlockId(block), offset - 1), BlockId(block)),
            _ => (Ppn(8), BlockId(1)),
        };
        let at = Place { plane: PlaneId(0), page: Some(page) };
        let done = clock.read_cells(at, Cause::Host, When::at(time + u64::from(ahead)));
        reads.push((done.time() - READ, done.time()));
    }
    reads
}

#[test]
fn reads_that_were_handed_out_never_overlap_on_their_die() {
    for number in 0..12 {
        let pairs = [
            ("timing.suspend", ["none", "erase", "program_erase"][number % 3]),
            ("timing.read_priority", ["false", "true"][number / 3 % 2]),
            ("timing.suspend_limit", ["1", "4"][number / 6]),
        ];
        for two_steps in [false, true] {
            let mut reads = handed_out(&pairs, two_steps);
            reads.sort_unstable();
            assert!(reads.len() > 15_000);
            for pair in reads.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{pairs:?}, two steps {two_steps}: {pair:?}");
            }
        }
    }
}
