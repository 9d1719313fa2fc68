//! When parity is programmed, and where.

use super::Stream;
use super::bench_tests::{Bench, rng};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};

const STRIPE: (&str, &str) = ("rain.stripe", "4");
const LAST: (&str, &str) = ("rain.rotate", "false");

fn bench(more: &[(&str, &str)]) -> Bench {
    Bench::of_lines(&[&[STRIPE, LAST], more].concat())
}

/// A flush programs the parity of what a stripe holds so far to its next page, once; the whole is
/// programmed again when it is full.
#[test]
fn a_flush_programs_what_a_stripe_has_so_far() {
    let mut bench = bench(&[("rain.flush", "partial")]);
    bench.write_all(0..1);
    assert_ne!(bench.flush(), When::START, "its program is waited for");
    assert_eq!((bench.row(0, 0).as_str(), bench.programs(Cause::Parity)), ("dP..", 1));
    bench.audit();
    assert_eq!(
        (bench.flush(), bench.programs(Cause::Parity)),
        (When::START, 1),
        "nothing is loose"
    );
    bench.write_all(1..3);
    bench.audit();
    assert_eq!(bench.row(0, 0), "dPdP", "the last block takes the whole");
    assert_eq!(bench.row(0, 1), "d...");
}

/// Where its program fails, the page behind takes it.
#[test]
fn parity_that_fails_goes_to_the_next_page() {
    let mut bench = bench(&[("rain.flush", "partial")]);
    bench.write_all(0..1);
    bench.board.nand_mut().faults_mut().fail_program_after(0);
    let _ = bench.flush();
    // The stripe is full then: its last block takes the whole.
    assert_eq!((bench.row(0, 0).as_str(), bench.count(Event::ProgramFailures)), ("dxPP", 1));
    bench.audit();
    // Behind the last page of data that is the one that takes the whole.
    let mut bench = self::bench(&[("rain.flush", "partial")]);
    bench.write_all(0..2);
    bench.board.nand_mut().faults_mut().fail_program_after(0);
    let _ = bench.flush();
    assert_eq!([bench.row(0, 0), bench.row(0, 1)], ["ddxP", "...."]);
    bench.audit();
    bench.write_all(2..4);
    bench.audit();
    bench.read_all();
}

/// Pages that hold nothing fill the stripe up, and its parity follows; the next page begins
/// another.
#[test]
fn a_flush_fills_a_stripe_up() {
    let mut bench = bench(&[("rain.flush", "pad")]);
    bench.write_all(0..1);
    let _ = bench.flush();
    assert_eq!((bench.row(0, 0).as_str(), bench.row(0, 1).as_str()), ("daaP", "...."));
    assert_eq!(bench.count(Event::PaddedStripePages), 2);
    bench.audit();
    assert_eq!((bench.flush(), bench.count(Event::PaddedStripePages)), (When::START, 2));
    let next = bench.write(1);
    assert_eq!(bench.slot_of(next), (0, 0, 1, 0));
}

#[test]
fn a_pad_that_fails_is_none() {
    let mut bench = bench(&[("rain.flush", "pad")]);
    bench.write_all(0..1);
    bench.board.nand_mut().faults_mut().fail_program_after(0);
    let _ = bench.flush();
    assert_eq!((bench.row(0, 0).as_str(), bench.count(Event::PaddedStripePages)), ("dxaP", 1));
    bench.audit();
}

/// Capacitors see to what a flush would: nothing is programmed.
#[test]
fn capacitors_spare_a_flush_its_parity() {
    for flush in ["capacitor", "partial"] {
        let mut bench = bench(&[("rain.flush", flush)]);
        bench.write_all(0..1);
        let _ = bench.flush();
        let expected = if flush == "partial" { "dP.." } else { "d..." };
        assert_eq!(bench.row(0, 0), expected);
    }
    let mut bench = Bench::of_lines(&[]);
    bench.write_all(0..1);
    assert_eq!(
        (bench.flush(), bench.row(0, 0).as_str()),
        (When::START, "d..."),
        "no parity at all"
    );
}

/// Parity that fails leaves its stripe without, which is told once, and the line shorter by a
/// block.
#[test]
fn a_stripe_without_parity_is_told_once() {
    let mut bench = bench(&[]);
    bench.write_all(0..2);
    // The third page works.
    bench.board.nand_mut().faults_mut().fail_program_after(1);
    bench.write_all(2..3);
    assert_eq!(bench.row(0, 0), "dddx");
    assert_eq!(bench.count(Event::UnprotectedPages), 3);
    bench.audit();
    bench.write_all(3..5);
    assert_eq!(bench.row(0, 1), "ddP.", "the last block that works");
    assert_eq!(bench.count(Event::UnprotectedPages), 3);
    bench.audit();
    bench.read_all();
}

/// Every stream has a stripe of its own, and a flush sees to them all.
#[test]
fn a_flush_sees_to_every_open_line() {
    for (flush, rows) in [("partial", ["dP..", "mP.."]), ("pad", ["daaP", "maaP"])] {
        let mut bench = bench(&[("rain.flush", flush)]);
        bench.write_all(0..1);
        let _ = bench.write_map(0);
        assert_ne!(bench.flush(), When::START);
        assert_eq!([bench.row(0, 0), bench.row(1, 0)], rows, "{flush}");
        assert!(bench.open_of(Stream::Map).is_some());
        bench.audit();
    }
}

/// Flushes at any moment, programs that fail, and gaps: lines stay what they say.
#[test]
fn flushes_and_failures_leave_lines_as_they_say() {
    for (flush, unit) in [("partial", "2048"), ("pad", "2048"), ("capacitor", "1024")] {
        for rotate in ["true", "false"] {
            let more = [
                ("rain.flush", flush),
                ("device.mapping_unit", unit),
                ("rain.rotate", rotate),
                ("device.blocks_per_plane", "20"),
            ];
            let mut bench = Bench::of_lines(&[&[STRIPE], &more[..]].concat());
            let mut rng = rng();
            for _ in 0..60 {
                if rng.below(5) == 0 {
                    let after = u64::from(rng.below(6));
                    bench.board.nand_mut().faults_mut().fail_program_after(after);
                }
                bench.write_any(4, 60, &mut rng);
                let _ = bench.write_map(rng.below(8));
                let _ = bench.flush();
                bench.audit();
            }
            bench.read_all();
        }
    }
}
