//! Lines as a power cut leaves them: drawn, and found again.

use super::bench_tests::{Bench, rng, settings};
use super::{Open, Stream};
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::board::nand::fault::CutOutcome;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event, Level};
use ftlab_flash::units::BlockId;

const STRIPE: (&str, &str) = ("rain.stripe", "4");
/// Parity in the last column.
const LAST: (&str, &str) = ("rain.rotate", "false");

fn drawn(pairs: &[(&str, &str)], rows: &[&str]) -> Bench {
    let mut bench = Bench::of_lines(pairs);
    bench.draw(0, rows);
    bench
}

/// Whether a line is torn, where it is written on, and whether all that its stripe lacks is parity.
fn found(bench: &Bench) -> (bool, Open, bool) {
    let (lines, nand) = (bench.space.lines.as_ref().expect("lines"), bench.board.nand());
    let (open, is_full) = lines.find_end(nand, BlockId(0));
    (lines.is_torn(nand, BlockId(0)), open, is_full)
}

fn at(row: u32, first: u32, column: u32, parity: Option<u32>, loose: u32) -> Open {
    Open { row, first, column, unit: 0, parity, loose, ready: When::START }
}

#[test]
fn a_line_with_parity_is_written_on_behind_its_last_page() {
    let cases: [(&[&str], Open, bool); 7] = [
        (&[], at(0, 0, 0, None, 0), false),
        (&["dd.."], at(0, 0, 2, Some(3), 2), false),
        (&["ddd."], at(0, 0, 4, Some(3), 3), true),
        (&["dddP"], at(1, 0, 0, Some(3), 0), false),
        (&["dddP", "d..."], at(1, 0, 1, Some(3), 1), false),
        // The second block was passed over: it was to take the parity.
        (&["d.d."], at(0, 0, 3, Some(1), 2), false),
        (&["dddP", "dddP", "dddP", "dddP"], at(4, 0, 0, None, 0), false),
    ];
    for (rows, open, is_full) in cases {
        let bench = drawn(&[STRIPE, LAST], rows);
        let (is_torn, found, full) = found(&bench);
        assert_eq!((is_torn, found, full), (false, open, is_full), "{rows:?}");
    }
}

#[test]
fn a_line_without_parity_is_written_on_behind_its_last_page() {
    let cases: [(&[&str], Open); 3] = [
        (&["dd.."], at(0, 0, 2, None, 0)),
        (&["dddd"], at(1, 0, 0, None, 0)),
        (&["dddd", "ddd."], at(1, 0, 3, None, 0)),
    ];
    for (rows, open) in cases {
        assert_eq!(found(&drawn(&[], rows)), (false, open, false), "{rows:?}");
    }
}

/// Of eight dies in stripes of four the first stripe is full.
#[test]
fn the_second_stripe_of_a_row_follows_the_first() {
    let eight = [STRIPE, LAST, ("device.dies", "2")];
    let open = |rows: &[&str]| found(&drawn(&eight, rows));
    assert_eq!(open(&["dddP...."]), (false, at(0, 4, 4, Some(7), 0), false));
    assert_eq!(open(&["dddPd..."]), (false, at(0, 4, 5, Some(7), 1), false));
    assert_eq!(open(&["dddPddd."]), (false, at(0, 4, 8, Some(7), 3), true));
    // The first stripe lacks its parity still.
    assert_eq!(open(&["ddd....."]), (false, at(0, 0, 4, Some(3), 3), true));
    assert_eq!(open(&["dddPdddP"]), (false, at(1, 0, 0, Some(3), 0), false));
}

/// Blocks of a torn line hold less than they did when it was filled.
#[test]
fn a_line_is_torn_where_a_block_lacks_pages_that_were_written_before_others() {
    let eight = [STRIPE, LAST, ("device.dies", "2")];
    let torn = |pairs: &[(&str, &str)], rows: &[&str]| found(&drawn(pairs, rows)).0;
    // Without parity every page before the last one was written.
    assert!(torn(&[], &[".d.."]));
    assert!(!torn(&[], &["d..."]));
    assert!(torn(&[], &["dd..", "d..."]), "two blocks lack the first row");
    assert!(torn(&[], &["dddd", ".d.."]));
    // One block of the last stripe may have been passed over for its parity, no more.
    assert!(!torn(&[STRIPE, LAST], &["d.d."]));
    assert!(torn(&[STRIPE, LAST], &["..d."]));
    assert!(torn(&[STRIPE, LAST], &["ddd.", "ddd.", "d..."]), "parity of two rows is gone");
    assert!(!torn(&[STRIPE, LAST], &["dddP", "d..."]));
    // Of a stripe that is behind none.
    assert!(torn(&eight, &["d.dPd..."]));
    assert!(!torn(&eight, &["dddPd.d."]));
    assert!(torn(&eight, &["dddPd...", "d......."]), "the second stripe lacks its first row");
}

/// What does not work cannot be lacking, nor a stripe that takes no data.
#[test]
fn blocks_that_do_not_work_tear_no_line() {
    // Block 12 is the second column's.
    let bad = ("nand.factory_bad_blocks", "12");
    assert!(!found(&drawn(&[bad], &["d.d."])).0);
    assert!(!found(&drawn(&[bad], &["d.dd", "d..."])).0);
    // Of eight dies the first three columns are planes 0, 2 and 4: one block is left of the stripe.
    let bad = ("nand.factory_bad_blocks", "0,24,48");
    let eight = [STRIPE, LAST, ("device.dies", "2"), bad];
    assert_eq!(found(&drawn(&eight, &["....dd.."])), (false, at(0, 4, 6, Some(7), 2), false));
}

/// A block whose program fails takes no more; the stripe goes on, and its parity too.
#[test]
fn a_stripe_with_a_failed_block_is_written_on() {
    let bench = drawn(&[STRIPE, LAST], &["dF.."]);
    assert_eq!(found(&bench), (false, at(0, 0, 2, Some(3), 1), false));
    // Who was to take the parity failed: the last one that is left takes it.
    let bench = drawn(&[STRIPE, ("rain.rotate", "true")], &["dddP", "d.F."]);
    let (is_torn, open, is_full) = found(&bench);
    assert_eq!((is_torn, open.column, open.parity, is_full), (false, 3, Some(1), false));
}

/// Half of a flash page of two units counts as one that is written.
#[test]
fn a_flash_page_counts_from_its_first_unit() {
    let mut bench = Bench::of_lines(&[("device.mapping_unit", "1024")]);
    bench.write_all(0..9);
    let (_, open, _) = found(&bench);
    assert_eq!(open, at(1, 0, 1, None, 0));
    bench.cut();
    bench.audit();
    bench.read_all();
    let next = bench.write(9);
    assert_eq!(bench.slot_of(next), (0, 1, 1, 0), "capacitors filled the flash page up");
}

/// Of three half-written lines of data the one with most room is written on, and the stripe of
/// each other one gets its parity as it is.
#[test]
fn the_line_with_most_room_is_written_on() {
    let mut bench = Bench::of_lines(&[STRIPE, LAST]);
    bench.draw(0, &["dddP", "dd.."]);
    bench.draw(1, &["dd.."]);
    bench.draw(2, &["dddP", "d..."]);
    bench.cut();
    bench.audit();
    assert_eq!(bench.open_of(Stream::Data), Some(BlockId(1)));
    assert_eq!([bench.row(0, 1), bench.row(1, 0), bench.row(2, 1)], ["dd.P", "dd..", "d..P"]);
    assert_eq!(bench.programs(Cause::Parity), 2 + 2);
    assert_eq!(bench.free(0), 9);
    let next = bench.write(95);
    assert_eq!(bench.slot_of(next), (1, 2, 0, 0));
    bench.audit();
    assert_eq!(bench.row(1, 0), "dddP");
    bench.read_all();
}

/// A stripe that lacks nothing but its parity gets it, and the line is written on behind it.
#[test]
fn a_full_stripe_gets_its_parity_after_a_power_cut() {
    let mut bench = drawn(&[STRIPE, LAST], &["ddd."]);
    bench.cut();
    bench.audit();
    assert_eq!(bench.row(0, 0), "dddP");
    let next = bench.write(90);
    assert_eq!(bench.slot_of(next), (0, 0, 1, 0));
    bench.read_all();
    // Where that was the line's last one it is full.
    let mut bench = drawn(&[STRIPE, LAST], &["dddP", "dddP", "dddP", "ddd."]);
    bench.cut();
    bench.audit();
    assert_eq!((bench.row(0, 3).as_str(), bench.open_of(Stream::Data)), ("dddP", None));
}

/// Lines are told apart by their first page: data, and a map. What holds nothing valid is erased,
/// what was never touched is not.
#[test]
fn lines_are_sorted_by_what_they_hold() {
    let mut bench = Bench::of_lines(&[]);
    bench.draw(1, &["m..."]);
    bench.draw(2, &["m..."]);
    bench.draw(4, &["dddd", "dd.."]);
    bench.cut();
    bench.audit();
    assert_eq!(bench.open_of(Stream::Map), Some(BlockId(2)), "the newer map page");
    assert_eq!(bench.open_of(Stream::Data), Some(BlockId(4)));
    assert_eq!((bench.valid(2), bench.valid(4)), (1, 6));
    assert_eq!(bench.board.meter().erases_by_cause(Cause::Recover), 1, "one block of line 1");
    assert_eq!((bench.free(0), bench.level(Level::FreeLines)), (10, Some(10)));
}

/// Lines that are full are candidates in the order in which they were filled.
#[test]
fn full_lines_come_back_in_the_order_of_their_age() {
    let mut bench = Bench::of_lines(&[("gc.victim", "fifo")]);
    let full = ["dddd"; 4];
    bench.draw(3, &full);
    bench.draw(1, &full);
    bench.draw(2, &full);
    bench.cut();
    bench.audit();
    [0, 16, 32].into_iter().for_each(|page| bench.forget(page));
    let plane = super::ALL;
    let (victim, _) = bench.space.choose(&mut bench.board, plane, When::START);
    assert_eq!(victim, Some(BlockId(3)), "it was filled first");
    assert_eq!(bench.open_of(Stream::Data), None);
    assert_eq!(bench.space.lines.as_ref().expect("lines").used_room(), 3 * 16);
}

/// An erase is interrupted: of the line a part is left, which is erased, and its pages are
/// elsewhere.
#[test]
fn power_cuts_at_every_operation_lose_nothing() {
    let layouts: [&[(&str, &str)]; 4] = [
        &[],
        &[STRIPE, ("device.blocks_per_plane", "16")],
        &[STRIPE, ("device.blocks_per_plane", "16"), ("rain.flush", "partial")],
        &[("rain.stripe", "2"), ("rain.flush", "pad"), ("device.blocks_per_plane", "16")],
    ];
    for pairs in layouts {
        let mut bench = Bench::of_lines(pairs);
        let mut rng = rng();
        bench.write_all(0..60);
        for round in 0..60 {
            let outcome = CutOutcome::ALL[round % 3];
            let after = u64::from(rng.below(30));
            bench.board.nand_mut().faults_mut().cut_power_after(after, outcome);
            while bench.try_write(rng.below(60)).is_ok() {}
            bench.recover();
            bench.audit();
            bench.read_all();
        }
    }
}

/// Parity that failed leaves its stripe without, which is told though the power went before.
#[test]
fn a_stripe_that_lost_its_parity_is_told_after_a_power_cut() {
    let mut bench = drawn(&[STRIPE, LAST], &["dddF"]);
    bench.cut();
    bench.audit();
    assert_eq!(bench.count(Event::UnprotectedPages), 3);
    let next = bench.write(90);
    assert_eq!(bench.slot_of(next), (0, 0, 1, 0));
    bench.audit();
}

/// Lines that were never touched are taken in their order, but for those without a good block.
#[test]
fn untouched_lines_stay_what_they_were() {
    // All blocks of the first, the third and the last line.
    let bad = "0,2,11,12,14,23,24,26,35,36,38,47";
    let fifo = ("alloc.policy", "fifo");
    let mut bench = Bench::of_lines(&[("nand.factory_bad_blocks", bad), fifo]);
    bench.draw(1, &["dddd"; 4]);
    bench.cut();
    bench.audit();
    assert_eq!((bench.free(0), bench.space.planes[0].retired), (8, 3));
    let next = bench.write(90);
    assert_eq!(bench.slot_of(next), (3, 0, 0, 0));
    bench.audit();
}

/// Nobody can tell where its next page would go.
#[test]
fn a_torn_line_is_not_written_on() {
    let mut bench = drawn(&[], &[".d.."]);
    bench.cut();
    bench.audit();
    assert_eq!((bench.open_of(Stream::Data), bench.valid(0)), (None, 1));
    assert!(bench.space.planes[0].victims.has(BlockId(0)));
}

/// A line that stands between two stripes is closed as it is.
#[test]
fn a_line_between_stripes_needs_no_parity() {
    let mut bench = Bench::of_lines(&[STRIPE, LAST]);
    bench.draw(0, &["dddP"]);
    bench.draw(1, &["dd.."]);
    bench.cut();
    bench.audit();
    assert_eq!(bench.open_of(Stream::Data), Some(BlockId(1)));
    assert_eq!([bench.row(0, 1), bench.row(1, 0)], ["....", "dd.."]);
    assert_eq!(bench.programs(Cause::Parity), 1);
}

/// Zones of four channels: one that is erased is empty, and the host does not reset it again.
#[test]
fn an_empty_zone_is_not_reset_after_a_power_cut() {
    let mut config = settings(&[("alloc.unit", "line")]);
    config.zones = Some(ZoneRules {
        channels: 4,
        rows: 4,
        max_open: 14,
        copy_in_device: false,
        raw: false,
        finish_after_cut: false,
    });
    let mut bench = Bench::of(config);
    bench.draw(0, &["d..."]);
    bench.draw(1, &["d..."]);
    let page = bench.map.pages[0].expect("it was drawn");
    let _ = bench.board.nand_mut().discard(page);
    let erased = bench.board.erase(BlockId(0), BlockRole::Data, Cause::Gc, When::START);
    assert!(erased.is_ok());
    bench.cut();
    bench.audit();
    assert_eq!((bench.count(Event::ZoneResets), bench.free(0)), (0, 11));
}

/// Under DAC a page's first write goes to region 0, an update one higher: also that of a page that
/// was found.
#[test]
fn a_policy_hears_of_the_pages_that_are_found() {
    let pairs = [("gc.placement", "dac"), ("device.blocks_per_plane", "40")];
    let mut bench = Bench::of_lines(&pairs);
    bench.write_any(120, 60, &mut rng());
    bench.write_all(0..1);
    bench.cut();
    bench.audit();
    for (page, class) in [(0, 1), (90, 0)] {
        let io = bench.io(page, 1);
        let Bench { board, space, .. } = &mut bench;
        assert_eq!(space.host_stream(board, &io), Stream::of_class(class), "page {page}");
    }
    bench.write_any(120, 60, &mut rng());
    bench.read_all();
}
