//! Models of translation pages as sequences of operations: who is read once and who twice, what a
//! write takes back, what a collection learns. A line is 128 pages of 512 bytes on four planes, as
//! many as a translation page has entries.

use crate::common::{flush, open, pages, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Two entries are cached.
const LINE: Pairs<'_> = &[
    ("device.planes", "4"),
    ("device.pages_per_block", "32"),
    ("tpftl.cache_bytes", "20B"),
    ("tpftl.request_prefetch", "false"),
    ("tpftl.selective_prefetch", "false"),
];

fn device(scheme: &str, blocks: u64, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny(scheme, blocks, &[LINE, pairs].concat());
    let device = open(scheme, &config);
    (config, device)
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn write_all(device: &mut dyn Device, config: &Config, pages: impl Iterator<Item = u64>) {
    pages.for_each(|page| submit(device, config, Op::Write, page));
}

/// Groups of two translation pages, collected as soon as they hold twice the lines that they need.
const PAIR: Pairs<'_> = &[("learnedftl.gc_lines", "2"), ("learnedftl.trans_per_group", "2")];
/// A page of the second one.
const OTHER: u64 = 255;

/// Reads pages one by one: how many of them were read once, by the model.
fn modelled(device: &mut dyn Device, config: &Config, pages: impl Iterator<Item = u64>) -> u64 {
    let before = event(device, Event::ModelReads);
    pages.for_each(|page| submit(device, config, Op::Read, page));
    event(device, Event::ModelReads) - before
}

/// Map pages that collection has read and written.
fn map_updates(device: &dyn Device) -> (u64, u64) {
    let meter = device.board().meter();
    (meter.reads(Cause::GcMapUpdate), meter.programs(Cause::GcMapUpdate))
}

/// The same since then.
fn since(device: &dyn Device, (reads, programs): (u64, u64)) -> (u64, u64) {
    let now = map_updates(device);
    (now.0 - reads, now.1 - programs)
}

/// Writes to a group until it is collected, and nothing else.
fn collect(device: &mut dyn Device, config: &Config, page: u64) {
    let before = event(device, Event::GroupsCollected);
    for _ in 0..2000 {
        submit(device, config, Op::Write, page);
        if event(device, Event::GroupsCollected) > before {
            return;
        }
    }
    panic!("the group of page {page} is never collected");
}

/// Pages of a stride fill half a translation page or all of it; a page of the other one of the
/// group is rewritten until that is collected, and each of these is then read once.
#[test]
fn pages_collected_together_are_read_once() {
    for stride in [1, 2] {
        let (config, mut device) = device("learnedftl", 96, PAIR);
        let device = device.as_mut();
        let all = || (0..64).map(move |turn| turn * stride);
        write_all(device, &config, all());
        // Single pages: no row is learned of them.
        assert_eq!(event(device, Event::ExactPages), 0);
        let map = map_updates(device);
        collect(device, &config, OTHER);
        assert_eq!(event(device, Event::ModelTrainings), 1, "stride {stride}");
        assert_eq!(event(device, Event::ExactPages), 64, "stride {stride}");
        // All that the page maps was moved: memory knows what it says, and does not read it.
        assert_eq!(since(device, map), (0, 1), "stride {stride}");
        let reads = record(device, |device| {
            assert_eq!(modelled(device, &config, all()), 64, "stride {stride}");
        });
        let places: Vec<_> = all().map(|page| place(device, page as u32)).collect();
        let expected: Vec<_> =
            places.into_iter().map(|page| Operation::Read(page, Cause::Host)).collect();
        assert_eq!(reads, expected, "a read of a page, and none of the map");
        device.audit().expect("every bit is true");
    }
}

/// Where that is asked for, collection reads a translation page before it writes it.
#[test]
fn collection_reads_what_it_updates_and_not_what_it_rewrites() {
    for (own, reads) in [("update", 1), ("rewrite", 0)] {
        let pairs = [PAIR, &[("learnedftl.map_after_gc", own)]].concat();
        let (config, mut device) = device("learnedftl", 96, &pairs);
        let device = device.as_mut();
        write_all(device, &config, 0..64);
        let map = map_updates(device);
        collect(device, &config, OTHER);
        assert_eq!(since(device, map), (reads, 1), "{own}");
        device.audit().expect("every bit is true");
    }
}

/// A write clears the bit of its page, and no other.
#[test]
fn a_page_that_is_written_is_read_twice_again() {
    let (config, mut device) = device("learnedftl", 96, PAIR);
    let device = device.as_mut();
    write_all(device, &config, 0..64);
    collect(device, &config, OTHER);
    submit(device, &config, Op::Write, 5);
    submit(device, &config, Op::Trim, 7);
    // Others take its place in the cache.
    write_all(device, &config, 600..604);
    let before = event(device, Event::DoubleReads);
    assert_eq!(modelled(device, &config, 0..64), 62);
    assert_eq!(event(device, Event::DoubleReads) - before, 1, "page 7 is nowhere");
    device.audit().expect("every bit is true");
}

/// `train_min` pages are too few, one more is enough.
#[test]
fn a_model_is_trained_of_more_pages_than_train_min() {
    for (pages, trained) in [(30, 0), (31, 1)] {
        let (config, mut device) = device("learnedftl", 96, PAIR);
        write_all(device.as_mut(), &config, 0..pages);
        collect(device.as_mut(), &config, OTHER);
        assert_eq!(event(device.as_ref(), Event::ModelTrainings), trained, "{pages}");
    }
}

/// A request of pages in a row is a model at once; one that is shorter than what a piece knows
/// changes nothing but its own bits.
#[test]
fn a_request_in_a_row_replaces_the_pieces_that_know_less() {
    let (config, mut device) = device("learnedftl", 96, &[]);
    let device = device.as_mut();
    device.submit(&pages(&config, Op::Write, 0, 32)).expect("works");
    // Pieces of 16 places at first.
    assert_eq!(event(device, Event::ModelInitialisations), 2);
    assert_eq!(event(device, Event::ExactPages), 32);
    write_all(device, &config, 600..604);
    assert_eq!(modelled(device, &config, 0..32), 32);
    // Four of sixteen: the other twelve are more.
    device.submit(&pages(&config, Op::Write, 4, 4)).expect("works");
    assert_eq!(event(device, Event::ModelInitialisations), 2);
    write_all(device, &config, 600..604);
    assert_eq!(modelled(device, &config, 0..32), 28);
    device.audit().expect("every bit is true");
}

/// Nothing of the models outlives the power, and collection learns them again.
#[test]
fn models_are_lost_with_the_power_and_trained_again() {
    for nonvolatile in ["false", "true"] {
        let pairs = [PAIR, &[("device.ram_nonvolatile", nonvolatile)]].concat();
        let (config, mut device) = device("learnedftl", 96, &pairs);
        let device = device.as_mut();
        write_all(device, &config, 0..64);
        collect(device, &config, OTHER);
        flush(device);
        device.power_cycle().expect("recovery works");
        assert_eq!(modelled(device, &config, 0..64), 0, "{nonvolatile}");
        collect(device, &config, OTHER);
        write_all(device, &config, 600..604);
        assert_eq!(modelled(device, &config, 0..64), 64, "{nonvolatile}");
        device.audit().expect("every bit is true");
    }
}

/// With every entry in memory no model is ever asked.
#[test]
fn a_cache_of_all_entries_asks_no_model() {
    let pairs = [("tpftl.cache_bytes", "1MiB"), ("learnedftl.gc_lines", "2")];
    let (config, mut device) = device("learnedftl", 64, &pairs);
    let device = device.as_mut();
    let logical = config.device.logical_pages();
    // Each entry is loaded once.
    write_all(device, &config, 0..logical);
    let mut rng = Rng::new(3, Purpose::Workload);
    for _ in 0..6 * logical {
        let page = u64::from(rng.below(logical as u32));
        let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
        submit(device, &config, op, page);
    }
    assert!(event(device, Event::ModelTrainings) > 0, "there are models");
    assert_eq!(event(device, Event::ModelReads), 0);
    device.audit().expect("every bit is true");
}

/// A device whose lines are nearly all taken: groups write to the lines of others, and what is a
/// guest there is nobody's model.
#[test]
fn groups_borrow_lines_where_few_are_free() {
    let (config, mut device) = device("learnedftl", 300, &[("device.over_provisioning", "0.02")]);
    let device = device.as_mut();
    let logical = config.device.logical_pages() as u32;
    write_all(device, &config, 0..u64::from(logical));
    let mut rng = Rng::new(4, Purpose::Workload);
    for _ in 0..4 * logical {
        submit(device, &config, Op::Write, u64::from(rng.below(logical)));
    }
    assert!(event(device, Event::BorrowedPages) > 0);
    device.audit().expect("the device is sound");
    let before = event(device, Event::ModelReads);
    for page in 0..logical {
        let at = device.locate(Lpn(page));
        submit(device, &config, Op::Read, u64::from(page));
        assert_eq!(device.locate(Lpn(page)), at, "a read moves nothing");
    }
    let read = event(device, Event::ModelReads) - before
        + event(device, Event::DoubleReads)
        + event(device, Event::EntryReads);
    assert_eq!(read, u64::from(logical), "each page was read once, by one of three ways");
}

/// Random writes of several groups with reads between: every read is compared.
#[test]
fn what_models_say_is_what_was_written() {
    for pairs in
        [&[][..], &[("learnedftl.borrow", "false")], &[("learnedftl.map_after_gc", "update")]]
    {
        let more = [pairs, &[("learnedftl.train_min", "8")]].concat();
        let (config, mut device) = device("learnedftl", 96, &more);
        let device = device.as_mut();
        device.verify_reads();
        let logical = config.device.logical_pages() as u32;
        let mut rng = Rng::new(9, Purpose::Workload);
        for turn in 0..8 * logical {
            let run = 1 + u64::from(rng.below(8));
            let page = u64::from(rng.below(logical)).min(u64::from(logical) - run);
            let op = if turn % 2 == 0 { Op::Read } else { Op::Write };
            device
                .submit(&pages(&config, op, page, run))
                .unwrap_or_else(|error| panic!("{pairs:?}: {error}"));
        }
        assert!(event(device, Event::ModelReads) > 100, "{pairs:?}: models were asked");
        assert!(event(device, Event::GroupsCollected) > 0, "{pairs:?}");
        device.audit().expect("every bit is true");
    }
}

/// What groups of lines have no use for is refused, and says what is legal.
#[test]
fn what_does_not_go_with_groups_of_lines_is_refused() {
    for (key, value) in [
        ("gc.mode", "both"),
        ("gc.victim", "fifo"),
        ("gc.threshold", "12"),
        ("gc.separate_frontiers", "true"),
        ("gc.unit", "die"),
        ("gc.trigger", "garbage_share"),
        ("gc.placement", "sepbit"),
        ("alloc.unit", "line"),
        ("wear.policy", "static"),
    ] {
        let config = tiny("learnedftl", 24, &[(key, value)]);
        let (row, _) = schemes::find("learnedftl").expect("in the table");
        let error = (row.check)(&config).expect_err(key).to_string();
        let begin = format!("{key} = {value} does not go with learnedftl, ");
        assert!(error.contains(&begin) && error.contains("; legal: "), "{error}");
    }
}
