//! CFTL: entries that cover runs, conversion of what is read, reversion of what is written, as
//! sequences of flash operations.

use crate::common::{config, fill, mixed, open, pages, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

/// Work in gaps; six entries of the page table, one of the block table.
const GAPS: (&str, &str) = ("gc.mode", "both");
const TABLES: (&str, &str) = ("cftl.cache_bytes", "64B");

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn by_block(device: &dyn Device) -> u64 {
    let level = |level| device.board().meter().level_now(level).expect("told");
    let all = u64::from(device.board().geometry().logical_pages);
    assert_eq!(level(Level::PageMappedPages) + level(Level::BlockMappedPages), all);
    level(Level::BlockMappedPages)
}

type Steps = Vec<(char, Cause)>;

fn kinds(operations: &[Operation]) -> Steps {
    let kind = |operation: &Operation| match *operation {
        Operation::Read(_, cause) => ('r', cause),
        Operation::Program(_, cause) => ('p', cause),
        Operation::Erase(_, cause) => ('e', cause),
    };
    operations.iter().map(kind).collect()
}

/// The operations that a request of one page took.
fn steps(device: &mut dyn Device, config: &Config, op: Op, page: u64) -> Steps {
    kinds(&record(device, |device| submit(device, config, op, page)))
}

/// The operations in a gap of so many nanoseconds and of the read of a page behind it.
fn gap(device: &mut dyn Device, config: &Config, length: u64, page: u64) -> Steps {
    let mut request = pages(config, Op::Read, page, 1);
    request.arrival = device.idle_from() + length;
    kinds(&record(device, |device| {
        device.submit(&request).expect("it works");
    }))
}

/// Four pages of logical block 2 that lie apart, read so often that they are worth a block.
fn scattered(device: &mut dyn Device, config: &Config, there: &[u64]) {
    for &page in there {
        submit(device, config, Op::Write, page);
        submit(device, config, Op::Write, 100 + page);
    }
    (0..4 * there.len()).for_each(|_| submit(device, config, Op::Read, there[0]));
}

/// Pages written one behind the other take one entry: the one that a miss loads answers for those
/// behind it.
#[test]
fn an_entry_answers_for_the_pages_behind_it() {
    let config = tiny("cftl", 170, &[TABLES, ("cftl.convert", "off")]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    let in_a_run =
        |page: u32| (page..page + 3).all(|p| place(device, p).0 + 1 == place(device, p + 1).0);
    let first = (128..250).find(|&page| in_a_run(page)).expect("written in sequence");
    let (translate, host) = (('r', Cause::Translate), ('r', Cause::Host));
    let first = u64::from(first);
    assert_eq!(steps(device, &config, Op::Read, first), [translate, host]);
    let before = event(device, Event::RunHits);
    (1..4).for_each(|behind| {
        assert_eq!(steps(device, &config, Op::Read, first + behind), [host]);
    });
    assert_eq!(event(device, Event::RunHits) - before, 3);
    // A write in the middle: three entries, and all still answer. Two others leave for them, one of
    // which the fill had changed.
    let split = [('p', Cause::Host), ('p', Cause::Translate)];
    assert_eq!(steps(device, &config, Op::Write, first + 1), split);
    for page in [first, first + 1, first + 2, first + 3] {
        assert_eq!(steps(device, &config, Op::Read, page), [host]);
    }
    device.audit().expect("sound");
}

/// With entries of one page the same misses as a cache of single entries has.
#[test]
fn without_run_lengths_every_page_is_a_miss() {
    let misses = |bits: &str| {
        let config =
            tiny("cftl", 170, &[TABLES, ("cftl.run_len_bits", bits), ("cftl.convert", "off")]);
        let mut device = open("cftl", &config);
        fill(device.as_mut(), &config);
        let before =
            event(device.as_ref(), Event::MapLookups) - event(device.as_ref(), Event::MapHits);
        (0..600).for_each(|page| submit(device.as_mut(), &config, Op::Read, page));
        event(device.as_ref(), Event::MapLookups) - event(device.as_ref(), Event::MapHits) - before
    };
    assert_eq!(misses("0"), 600);
    assert!(misses("6") < 120, "{} misses", misses("6"));
}

/// The whole way: a read-intensive logical block is gathered in a gap, each page at its offset, the
/// page map is written, and one entry answers for all; a write takes it apart without an operation
/// of its own.
#[test]
fn what_is_read_becomes_block_mapped_and_what_is_written_reverts() {
    let config = tiny("cftl", 170, &[TABLES, GAPS]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    scattered(device, &config, &[8, 9, 10, 11]);
    assert_eq!(event(device, Event::Conversions), 0, "not while requests come");
    let gathered = gap(device, &config, 1_000_000_000, 8);
    let (read, program) = (('r', Cause::Convert), ('p', Cause::Convert));
    // Its translation page is looked at, four pages are copied, and the translation page is told.
    let mut expected = vec![read];
    (0..4).for_each(|_| expected.extend([read, program]));
    expected.extend([read, program, ('r', Cause::Host)]);
    assert_eq!(gathered, expected);
    let geometry = device.board().geometry().clone();
    let block = geometry.block_of(place(device, 8));
    for (offset, page) in (8..12).enumerate() {
        assert_eq!(place(device, page), geometry.page(block, offset as u32));
    }
    assert_eq!((event(device, Event::Conversions), by_block(device)), (1, 4));
    // Six other entries push everything else out; the block table still answers.
    (0..7).for_each(|number| submit(device, &config, Op::Write, 300 + 20 * number));
    let before = event(device, Event::BlockTableHits);
    let host = ('r', Cause::Host);
    (8..12).for_each(|page| assert_eq!(steps(device, &config, Op::Read, page), [host]));
    assert_eq!(event(device, Event::BlockTableHits) - before, 4);
    // Reversion.
    assert_eq!(steps(device, &config, Op::Write, 9)[0], ('p', Cause::Host));
    assert_eq!((event(device, Event::Reversions), by_block(device)), (1, 0));
    assert_eq!(steps(device, &config, Op::Read, 10), [host], "known as a page now");
    device.audit().expect("sound");
}

/// A page that changes between two steps ends a conversion; what was copied stays where it is.
#[test]
fn a_conversion_ends_when_one_of_its_pages_changes() {
    let config = tiny("cftl", 170, &[GAPS, ("cftl.convert_pages", "1")]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    scattered(device, &config, &[8, 9, 10, 11]);
    let step = gap(device, &config, 1, 100);
    assert_eq!(step.iter().filter(|step| **step == ('p', Cause::Convert)).count(), 1, "{step:?}");
    submit(device, &config, Op::Write, 11);
    let after = gap(device, &config, 1_000_000_000, 108);
    assert_eq!(after, [('r', Cause::Host)], "the gap passes in idleness");
    let told = (event(device, Event::Conversions), event(device, Event::AbortedConversions));
    assert_eq!((told, by_block(device)), ((0, 1), 0));
    (8..12).for_each(|page| submit(device, &config, Op::Read, page));
    device.audit().expect("every page is where the map says");
}

/// Pages that are written often are not converted, however often they are read; nor is anything
/// where there are fewer reads than `cftl.read_thr` per write.
#[test]
fn hot_pages_and_rarely_read_ones_stay_page_mapped() {
    for (pairs, converted) in [
        (&[GAPS][..], 1),
        (&[GAPS, ("cftl.read_thr", "5")], 0),
        // Known by the newest filter alone: hot after one write.
        (&[GAPS, ("cftl.hot_thr", "0.5")], 0),
        // The filters that knew them were emptied by twelve other writes.
        (&[GAPS, ("cftl.hot_thr", "0.5"), ("cftl.decay_writes", "3")], 1),
        (&[GAPS, ("cftl.convert", "gc")], 0),
        (&[("cftl.convert", "idle")], 0),
    ] {
        let config = tiny("cftl", 170, pairs);
        let mut device = open("cftl", &config);
        let device = device.as_mut();
        scattered(device, &config, &[8, 9, 10, 11]);
        (0..12).for_each(|page| submit(device, &config, Op::Write, 200 + page));
        let _ = gap(device, &config, 1_000_000_000, 100);
        assert_eq!(event(device, Event::Conversions), converted, "{pairs:?}");
    }
}

/// Pads keep the places of missing pages, and none lies behind the last page; what is missing is
/// nowhere, and can be written. Pages that lie in place already are converted without a copy.
#[test]
fn blocks_with_missing_pages_and_blocks_in_place() {
    for order in ["off", "ascending_gaps_ok", "strict"] {
        let config = tiny("cftl", 170, &[GAPS, ("nand.enforce_order", order)]);
        let mut device = open("cftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        scattered(device, &config, &[9, 11]);
        let _ = gap(device, &config, 1_000_000_000, 9);
        assert_eq!((event(device, Event::Conversions), by_block(device)), (1, 4), "{order}");
        let block = device.board().geometry().block_of(place(device, 9));
        assert_eq!(place(device, 9), device.board().geometry().page(block, 1));
        assert_eq!(place(device, 11), device.board().geometry().page(block, 3));
        assert_eq!(device.board().meter().programs(Cause::Pad), 2, "{order}");
        assert_eq!(device.locate(Lpn(10)), Location::Nowhere);
        (8..12).for_each(|page| submit(device, &config, Op::Read, page));
        device.power_cycle().expect("what lies behind the pads is found");
        device.audit().expect("and the pads are nobody's");
        submit(device, &config, Op::Write, 10);
        (8..12).for_each(|page| submit(device, &config, Op::Read, page));
    }
    let config = tiny("cftl", 170, &[GAPS]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    (0..8).for_each(|page| submit(device, &config, Op::Write, page));
    (0..16).for_each(|_| submit(device, &config, Op::Read, 5));
    let there = place(device, 5);
    let in_place = gap(device, &config, 1_000_000_000, 5);
    assert_eq!(in_place, [('p', Cause::Convert), ('r', Cause::Host)], "the page map alone");
    assert_eq!((by_block(device), place(device, 5)), (4, there));
}

/// Behind collection: conversions happen in a device that is full and never idle, and nothing is
/// lost; map accesses and events match.
#[test]
fn conversions_behind_collection_and_counters() {
    let config = tiny("cftl", 170, &[TABLES, ("cftl.read_thr", "2")]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    let mut rng = Rng::new(6, Purpose::Workload);
    for _ in 0..6000 {
        // Half of the device is read, a quarter of it written.
        let (op, page) = match rng.below(10) {
            0..7 => (Op::Read, rng.below(340)),
            _ => (Op::Write, 510 + rng.below(170)),
        };
        submit(device, &config, op, u64::from(page));
    }
    for request in mixed(&config, 2000, 3) {
        device.submit(&request).expect("works");
    }
    device.audit().expect("sound");
    let known = |known| event(device, known);
    let (converted, reverted) = (known(Event::Conversions), known(Event::Reversions));
    assert!(converted > 20 && reverted > 5, "{converted} conversions, {reverted} reversions");
    assert_eq!(by_block(device), 4 * (converted - reverted));
    let misses = known(Event::MapLookups) - known(Event::MapHits);
    let meter = device.board().meter();
    let (reads, programs) = (meter.reads(Cause::Translate), meter.programs(Cause::Translate));
    assert_eq!(misses, reads - programs);
    assert_eq!(programs, known(Event::EvictDirty));
    assert!(known(Event::RunHits) > 100 && known(Event::BlockTableHits) > 100);
    let moved = meter.programs(Cause::Convert);
    assert!(moved <= (converted + known(Event::AbortedConversions)) * 5, "{moved} programs");
}

/// A power cut makes nothing of block-mapped blocks but that they are pages again; under
/// `device.ram_nonvolatile` they stay.
#[test]
fn block_mapped_blocks_after_a_power_cut() {
    for (nonvolatile, left) in [("true", 4), ("false", 0)] {
        let config = tiny("cftl", 170, &[GAPS, ("device.ram_nonvolatile", nonvolatile)]);
        let mut device = open("cftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        scattered(device, &config, &[8, 9, 10, 11]);
        let _ = gap(device, &config, 1_000_000_000, 8);
        let there = place(device, 10);
        device.power_cycle().expect("recovery works");
        assert_eq!((by_block(device), place(device, 10)), (left, there));
        mixed(&config, 500, 4).iter().for_each(|request| {
            device.submit(request).expect("it goes on");
        });
        device.audit().expect("and stays right");
    }
}

/// A cache that is larger than what the budget leaves beside 1 KiB of filters is refused.
#[test]
fn sizes_that_do_not_fit_are_refused() {
    let (row, _) = schemes::find("cftl").expect("it is in the table");
    let over = config(&[("cftl.cache_bytes", "8KiB"), ("device.ram_bytes", "4KiB")]);
    let refused = (row.check)(&over).expect_err("refused").to_string();
    assert!(refused.contains("device.ram_bytes leaves: 3072"), "{refused}");
}
