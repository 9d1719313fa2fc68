//! Suspended programs and erases, and reads that go first, against times derived by hand.
//!
//! In every formula R is a page read, P a program, E an erase, T a transfer, all in ns.

use crate::common::clock_bench::{Bench, COST, E, P, Pairs, R, SUSPEND, T};

/// Copies of a collection do not push back the programs that requests wait for.
#[test]
fn only_reads_that_a_request_waits_for_overtake_and_suspend() {
    let mut bench = Bench::new(&[
        ("timing.read_priority", "true"),
        ("timing.suspend", "program_erase"),
        ("timing.suspend_cost", "20us"),
    ]);
    let start = bench.at(0);
    for page in 0..2 {
        let _ = bench.program((0, 0, page), start);
    }
    let start = bench.at(50_000);
    let copied = bench.copy_back(0, (1, 0), (2, 0), start);
    assert_eq!(bench.end(copied), T + 2 * P + R + P);
    let read = bench.read((0, 3, 0), start);
    assert_eq!(bench.end(read), 50_000 + COST + R + T);
}

#[test]
fn a_read_waits_for_an_erase_or_suspends_it() {
    let run = |pairs: Pairs<'_>| {
        let mut bench = Bench::new(pairs);
        let start = bench.at(0);
        let erased = bench.erase((0, 0), start);
        assert_eq!(bench.end(erased), E, "its completion is handed out at once");
        let start = bench.at(100_000);
        let read = bench.read((0, 1, 0), start);
        let behind = bench.erase((0, 2), start);
        [bench.end(read), bench.end(behind)]
    };
    assert_eq!(run(&[]), [E + R + T, 2 * E + R]);
    // The read's time and the cost are felt by what comes behind.
    assert_eq!(run(&SUSPEND), [100_000 + COST + R + T, 2 * E + COST + R]);
}

/// While an erase is suspended, further reads are served before it goes on, at no further cost;
/// later ones suspend it again, until the limit.
#[test]
fn an_erase_is_suspended_as_often_as_the_limit_allows() {
    let limit = [SUSPEND.as_slice(), &[("timing.suspend_limit", "2")]].concat();
    let mut bench = Bench::new(&limit);
    let start = bench.at(0);
    let _ = bench.erase((0, 0), start);
    let mut read_at = |time, page| {
        let start = bench.at(time);
        let read = bench.read((0, 1, page), start);
        bench.end(read)
    };
    // Suspended at 100 us; the cells read until 170 us, then for the second read until 220 us.
    assert_eq!(read_at(100_000, 0), 100_000 + COST + R + T);
    assert_eq!(read_at(150_000, 1), 100_000 + COST + 2 * R + T);
    // Going on since 220 us, suspended again at 300 us until 370 us.
    assert_eq!(read_at(300_000, 2), 300_000 + COST + R + T);
    // Twice is the limit: the rest of the erase comes first.
    let erased = E + 2 * COST + 3 * R;
    assert_eq!(read_at(500_000, 3), erased + R + T);
}

#[test]
fn programs_are_suspended_only_where_the_part_can() {
    let run = |what: &str| {
        let mut bench = Bench::new(&[("timing.suspend", what), ("timing.suspend_cost", "20us")]);
        let start = bench.at(0);
        let _ = bench.program((0, 0, 0), start);
        let start = bench.at(50_000);
        let other = bench.read((0, 1, 0), start);
        let start = bench.at(60_000);
        let same = bench.read((0, 0, 0), start);
        [bench.end(other), bench.end(same)]
    };
    assert_eq!(run("erase"), [T + P + R + T, T + P + 2 * R + T]);
    // The page under program cannot be read before its program ends, which is later now.
    assert_eq!(run("program_erase"), [50_000 + COST + R + T, T + P + COST + R + R + T]);
}

/// Suspending pays only if it is quicker than waiting.
#[test]
fn an_operation_that_is_nearly_done_is_not_suspended() {
    let mut bench = Bench::new(&SUSPEND);
    let start = bench.at(0);
    let _ = bench.erase((0, 0), start);
    let start = bench.at(E - COST);
    let read = bench.read((0, 1, 0), start);
    assert_eq!(bench.end(read), E + R + T);
}

#[test]
fn a_read_with_priority_goes_before_what_has_not_begun() {
    let run = |pairs: Pairs<'_>| {
        let mut bench = Bench::new(pairs);
        let start = bench.at(0);
        // One program runs from T, two wait.
        for page in 0..3 {
            let _ = bench.program((0, 0, page), start);
        }
        let start = bench.at(50_000);
        let read = bench.read((0, 1, 0), start);
        let second = bench.read((0, 1, 1), start);
        let start = bench.at(60_000);
        let behind = bench.erase((0, 2), start);
        // The last page's program was put off by both reads.
        let page = bench.read((0, 0, 2), start);
        [read, second, behind, page].map(|when| bench.end(when))
    };
    let programs = T + 3 * P;
    let plain = [programs + R + T, programs + 2 * R + T];
    let last = programs + 2 * R + E;
    assert_eq!(run(&[]), [plain[0], plain[1], last, last + R + T]);
    let first = T + P + R + T;
    // The erase has not begun when the page is there, so its reader goes before it too.
    let page = programs + 2 * R + R + T;
    assert_eq!(run(&[("timing.read_priority", "true")]), [first, first + R, last, page]);
}
