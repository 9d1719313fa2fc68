//! Read disturb and retention on devices: what is moved, when and how often, what a power cut
//! leaves of counts and ages, and where the settings mean nothing.

use crate::common::outcome::same;
use crate::common::{config, fill, open, pages, place, submit, tiny, version};
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{BlockRole, Cause, Event, Level};
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Nanos};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const SECOND: Nanos = 1_000_000_000;
const DAY: Nanos = 86_400 * SECOND;
const TEN: (&str, &str) = ("refresh.reads", "10");
const ONE_DAY: (&str, &str) = ("refresh.days", "1");
/// Those that hold no data in memory.
const PAGE_MAPS: [&str; 9] =
    ["ideal_page", "ca_ssd", "caftl", "hat", "dftl", "cdftl", "tpftl", "sftl", "hmb"];

fn device(scheme: &str, more: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny(scheme, 8, more);
    let device = open(scheme, &config);
    (config, device)
}

/// A request of one page, so long after the device fell idle.
fn after_gap(device: &mut dyn Device, config: &Config, (op, page): (Op, u64), gap: Nanos) {
    let arrival = device.idle_from() + gap;
    let request = Request { arrival, ..pages(config, op, page, 1) };
    device.submit(&request).expect("the device works");
}

fn count(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn moved(device: &dyn Device) -> (u64, u64) {
    (count(device, Event::RefreshedForReads), count(device, Event::RefreshedForAge))
}

/// Blocks that hold valid pages of data.
fn blocks_with_data(device: &dyn Device) -> u64 {
    let nand = device.board().nand();
    let holds = |block: &u32| {
        let first = nand.state().next_valid(BlockId(*block), 0);
        first.is_some_and(|ppn| nand.state().is_valid(ppn))
    };
    (0..nand.geometry().blocks()).filter(holds).count() as u64
}

/// The oracle: so many reads of one page, and nothing else, move its block once per limit.
#[test]
fn reads_of_one_page_move_its_block_once_per_limit() {
    for scheme in PAGE_MAPS {
        let (config, mut device) = device(scheme, &[TEN]);
        fill(device.as_mut(), &config);
        device.start_measuring();
        for _ in 0..105 {
            after_gap(device.as_mut(), &config, (Op::Read, 5), SECOND);
        }
        assert_eq!(moved(device.as_ref()), (105 / 10, 0), "{scheme}");
        assert_eq!(count(device.as_ref(), Event::RefreshedAtOnce), 0, "{scheme}");
        let meter = device.board().meter();
        assert_eq!(meter.programs(Cause::Refresh), 10 * 4, "{scheme}: four pages each");
        assert_eq!(meter.reads(Cause::Refresh), 10 * 4, "{scheme}");
        assert_eq!(meter.erases_by_cause(Cause::Refresh), 10, "{scheme}");
        assert_eq!(meter.level_now(Level::BlocksToRefresh), Some(0), "{scheme}");
        device.audit().expect("the device is sound");
    }
}

/// A move behind a request is that move and nothing else: what gaps have begun, or would do, is
/// left for gaps. It was another step of theirs.
#[test]
fn what_cannot_wait_is_moved_alone() {
    let gaps = [("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.least_invalid", "0")];
    let (config, mut device) = device("ideal_page", &[&[TEN], &gaps[..]].concat());
    let device = device.as_mut();
    fill(device, &config);
    (0..32).step_by(2).for_each(|page| submit(device, &config, Op::Write, page));
    // Time for a first piece.
    after_gap(device, &config, (Op::Read, 31), 1);
    let collected = |device: &dyn Device| {
        let meter = device.board().meter();
        (
            meter.programs(Cause::Gc),
            meter.erases_by_cause(Cause::Gc),
            count(device, Event::IdleVictims),
        )
    };
    let before = collected(device);
    assert_eq!(before.2, 1, "a gap has begun with a victim");
    (0..60).for_each(|_| submit(device, &config, Op::Read, 31));
    assert_eq!(count(device, Event::RefreshedAtOnce), 3);
    assert_eq!(collected(device), before);
    after_gap(device, &config, (Op::Read, 0), SECOND);
    assert!(collected(device) > before, "the next gap goes on with it");
    device.audit().expect("the device is sound");
}

/// `gc.idle_pages` is of what is refreshed as well, where gaps are used for nothing else.
#[test]
fn what_is_refreshed_moves_in_pieces_without_collection_in_gaps() {
    for (piece, copies) in [("0", [4, 4]), ("1", [1, 2])] {
        let (config, mut device) = device("ideal_page", &[TEN, ("gc.idle_pages", piece)]);
        fill(device.as_mut(), &config);
        (0..10).for_each(|_| submit(device.as_mut(), &config, Op::Read, 5));
        let after_next = copies.map(|_| {
            after_gap(device.as_mut(), &config, (Op::Read, 0), 1);
            device.board().meter().programs(Cause::Refresh)
        });
        assert_eq!(after_next, copies, "{piece} pages a piece");
        after_gap(device.as_mut(), &config, (Op::Read, 0), SECOND);
        assert_eq!(device.board().meter().programs(Cause::Refresh), 4);
        assert_eq!(device.board().meter().programs(Cause::Gc), 0);
        device.audit().expect("the device is sound");
    }
}

/// The patrol stands still while the device is off: what grew old then is found a block at a time
/// when it is on again, however often it had come by before. All of it was found at once.
#[test]
fn what_grew_old_on_a_shelf_is_found_by_the_patrol() {
    let set = [("refresh.days", "3"), ("refresh.off_days", "30"), ("refresh.patrol", "1000s")];
    let (config, mut device) = device("ideal_page", &set);
    (0..32).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let round = 1000 * SECOND * Nanos::from(device.board().geometry().blocks());
    after_gap(device.as_mut(), &config, (Op::Read, 0), 5 * round);
    device.power_cycle().expect("it recovers");
    after_gap(device.as_mut(), &config, (Op::Read, 0), 500 * SECOND);
    assert_eq!(moved(device.as_ref()), (0, 0));
    let mut found = Vec::new();
    for _ in 0..8 {
        after_gap(device.as_mut(), &config, (Op::Read, 0), 1000 * SECOND);
        found.push(moved(device.as_ref()).1);
    }
    assert_eq!(found, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// The oracle: a device that nobody asks for anything moves every block with data once per limit.
#[test]
fn an_idle_device_moves_all_its_data_once_per_limit() {
    for timing in ["serial", "parallel"] {
        for scheme in PAGE_MAPS {
            let (config, mut device) = device(scheme, &[ONE_DAY, ("timing.profile", timing)]);
            (0..32).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
            let blocks = blocks_with_data(device.as_ref());
            assert!(blocks >= 8, "{scheme}: eight blocks of data, and those of the map");
            // The patrol takes less than a minute for a round.
            after_gap(device.as_mut(), &config, (Op::Read, 0), 10 * DAY + DAY / 2);
            // A map page that tells where data has gone is young.
            let (for_reads, for_age) = moved(device.as_ref());
            assert!(for_reads == 0 && (80..=10 * blocks).contains(&for_age), "{scheme}: {for_age}");
            assert!(scheme != "ideal_page" || for_age == 80 && blocks == 8, "{for_age}");
            let copies = device.board().meter().programs(Cause::Refresh);
            assert!(copies >= 10 * 32, "{scheme} {timing}: every page, ten times");
            device.audit().expect("the device is sound");
        }
    }
}

/// Data that was written a day and a half ago is old in a day, and young data is not.
#[test]
fn only_what_is_old_is_moved() {
    let (config, mut device) = device("ideal_page", &[("refresh.days", "2")]);
    (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    after_gap(device.as_mut(), &config, (Op::Write, 4), 3 * DAY / 2);
    let young = place(device.as_ref(), 4);
    let old = [0, 1, 2, 3].map(|page| place(device.as_ref(), page));
    after_gap(device.as_mut(), &config, (Op::Read, 4), DAY);
    assert_eq!(moved(device.as_ref()), (0, 1));
    assert_eq!(place(device.as_ref(), 4), young);
    assert!([0, 1, 2, 3].iter().zip(old).all(|(&page, old)| place(device.as_ref(), page) != old));
}

/// Without a gap a patrol finds data that is twice too old behind whatever request comes then.
#[test]
fn data_that_is_twice_too_old_does_not_wait_for_a_gap() {
    let set = [("refresh.days", "0.000001"), ("refresh.patrol", "1ms"), ("timing.program", "5ms")];
    let (config, mut device) = device("ideal_page", &set);
    (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let first = place(device.as_ref(), 0);
    for turn in 0..60 {
        submit(device.as_mut(), &config, Op::Write, 4 + turn % 4);
    }
    assert_ne!(place(device.as_ref(), 0), first, "300 ms of writes, 172.8 ms are twice the limit");
    let (for_reads, for_age) = moved(device.as_ref());
    assert!(for_reads == 0 && for_age >= 1);
    assert_eq!(count(device.as_ref(), Event::RefreshedAtOnce), for_age);
}

/// A block that the host writes to is closed early, and its page moves; the next write opens
/// another.
#[test]
fn an_open_block_is_closed_early() {
    let (config, mut device) = device("ideal_page", &[TEN]);
    submit(device.as_mut(), &config, Op::Write, 0);
    let first = place(device.as_ref(), 0);
    for _ in 0..11 {
        after_gap(device.as_mut(), &config, (Op::Read, 0), SECOND);
    }
    assert_eq!(moved(device.as_ref()), (1, 0));
    submit(device.as_mut(), &config, Op::Write, 1);
    let geometry = device.board().geometry();
    let [moved, written] = [0, 1].map(|page| place(device.as_ref(), page));
    assert_ne!(geometry.block_of(moved), geometry.block_of(first));
    assert_eq!(geometry.block_of(written), geometry.block_of(moved), "it goes on with that block");
    device.audit().expect("the device is sound");
}

/// Reads of translation pages wear out the patience of their blocks as well.
#[test]
fn map_blocks_are_refreshed() {
    let small = ("dftl.cmt_entries", "2");
    let config = tiny("dftl", 64, &[small, ("refresh.reads", "100")]);
    let mut device = open("dftl", &config);
    fill(device.as_mut(), &config);
    device.start_measuring();
    for turn in 0..1500 {
        after_gap(device.as_mut(), &config, (Op::Read, turn * 37 % 256), SECOND);
    }
    let meter = device.board().meter();
    assert!(meter.reads(Cause::Translate) > 1000, "hardly an entry is cached");
    let refreshed = meter.erases_by_cause(Cause::Refresh);
    assert!(refreshed >= 10, "{refreshed} of {} reads", meter.reads(Cause::Translate));
    let data = meter.erases(BlockRole::Data);
    assert!(data == 0, "{data} blocks of data, none of which was read a hundred times");
    device.audit().expect("the device is sound");
}

/// Counts and ages outlive a cut; what recovery reads counts like all reads, and what the device
/// was off adds to the age of its data.
#[test]
fn counts_and_ages_outlive_a_power_cut() {
    let set = [("refresh.reads", "100"), ("refresh.days", "3"), ("refresh.off_days", "2")];
    let (config, mut device) = device("ideal_page", &set);
    (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    for _ in 0..90 {
        submit(device.as_mut(), &config, Op::Read, 1);
    }
    device.power_cycle().expect("it recovers");
    for _ in 0..5 {
        after_gap(device.as_mut(), &config, (Op::Read, 1), SECOND);
    }
    assert_eq!(moved(device.as_ref()), (0, 0), "90, 4 pages of a scan, and 5");
    for _ in 0..2 {
        after_gap(device.as_mut(), &config, (Op::Read, 1), SECOND);
    }
    assert_eq!(moved(device.as_ref()), (1, 0), "100 before the last one");
    after_gap(device.as_mut(), &config, (Op::Read, 1), DAY + DAY / 2);
    assert_eq!(moved(device.as_ref()), (1, 0), "the data was written anew then");
    device.power_cycle().expect("it recovers");
    after_gap(device.as_mut(), &config, (Op::Read, 1), DAY / 2);
    assert_eq!(moved(device.as_ref()), (1, 1), "a day and a half, and two off");
}

/// What nobody refreshes costs more and more retries, as its reads, its age and its wear say; what
/// is refreshed does not.
#[test]
fn reads_of_worn_cells_cost_retries() {
    let part = [("refresh.p0", "0.01"), ("nand.read_retries", "1"), ("refresh.reads", "1000")];
    let retried = |more: Pairs<'_>, reads: u64, gap: Nanos| {
        let (config, mut device) = device("ideal_page", &[&part[..], more].concat());
        (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
        for _ in 0..9000 {
            after_gap(device.as_mut(), &config, (Op::Read, 1), SECOND);
        }
        device.start_measuring();
        after_gap(device.as_mut(), &config, (Op::Read, 1), gap);
        for _ in 0..reads {
            after_gap(device.as_mut(), &config, (Op::Read, 1), SECOND);
        }
        count(device.as_ref(), Event::ReadRetries) as f64 / reads as f64
    };
    let near = |found: f64, expected: f64, what: &str| {
        assert!((found / expected - 1.0).abs() < 0.15, "{what}: {found} instead of {expected}");
    };
    let still = ("refresh.moves", "false");
    // Retries are reads, too: 9000 reads cost about 600 of them.
    near(retried(&[still], 4000, 0), 0.01 * (1.0 + 12.0), "12 times the limit in the middle");
    near(retried(&[], 8000, 0), 0.01 * 1.5, "half the limit in the middle");
    let old = [still, ("refresh.days", "10")];
    near(retried(&old, 4000, 30 * DAY), 0.01 * (1.0 + 12.5) * 4.1, "and three times too old");
}

/// A device whose limits are never reached does what one without them does, at the same times.
#[test]
fn limits_that_are_never_reached_change_nothing() {
    let set = [("refresh.reads", "1000000000"), ("refresh.days", "36500")];
    for scheme in ["ideal_page", "hat", "dftl", "tpftl", "leaftl"] {
        same((scheme, &set), (scheme, &[]), &[]);
    }
}

/// What is read often lies in lines: all blocks of its line move.
#[test]
fn lines_move_as_a_whole() {
    let lines = [
        ("alloc.unit", "line"),
        ("alloc.order", "channel_die_plane"),
        ("device.channels", "4"),
        ("rain.stripe", "4"),
        ("device.over_provisioning", "2x"),
    ];
    let (config, mut device) = device("ideal_page", &[&lines[..], &[TEN]].concat());
    // A line of 12 pages of data, and a part of the next one.
    (0..14).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    for _ in 0..11 {
        after_gap(device.as_mut(), &config, (Op::Read, 1), SECOND);
    }
    assert_eq!(moved(device.as_ref()), (1, 0));
    assert_eq!(device.board().meter().programs(Cause::Refresh), 12);
    assert_eq!(device.board().meter().erases_by_cause(Cause::Refresh), 4);
    // The open line.
    for _ in 0..11 {
        after_gap(device.as_mut(), &config, (Op::Read, 13), SECOND);
    }
    assert!(moved(device.as_ref()).0 >= 2);
    (0..14).for_each(|page| assert_ne!(version(device.as_ref(), page).0, 0));
    device.audit().expect("the device is sound");
}

/// A block of an SLC cache is folded.
#[test]
fn a_block_of_a_cache_is_folded() {
    let part = [("device.bits_per_cell", "2"), ("slc.static_blocks", "4")];
    let (config, mut device) = device("ideal_page", &[&part[..], &[TEN]].concat());
    (0..5).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    for page in [0, 4] {
        for _ in 0..11 {
            after_gap(device.as_mut(), &config, (Op::Read, page), SECOND);
        }
    }
    assert_eq!(moved(device.as_ref()), (2, 0), "a full block, and the open one");
    assert_eq!(count(device.as_ref(), Event::SlcFolds), 2);
    let meter = device.board().meter();
    assert_eq!((meter.programs(Cause::Refresh), meter.programs(Cause::Fold)), (3, 0));
    device.audit().expect("the device is sound");
}

/// A worn block bears less: of a hundred reads eight fewer for each tenth of its life that is used,
/// with a slope of 0.8.
#[test]
fn a_worn_block_bears_fewer_reads() {
    let set = [("refresh.wear_slope", "0.8"), ("device.endurance_cycles", "10")];
    let (config, mut device) =
        device("ideal_page", &[&set[..], &[("refresh.reads", "100")]].concat());
    let erases = |device: &dyn Device| {
        let nand = device.board().nand();
        nand.state().block(nand.geometry().block_of(place(device, 5))).erases
    };
    fill(device.as_mut(), &config);
    while erases(device.as_ref()) < 5 {
        // In order: victims are all garbage, so that nothing is read for copies.
        fill(device.as_mut(), &config);
    }
    let worn = u64::from(erases(device.as_ref()));
    device.start_measuring();
    let limit = 100 - 8 * worn;
    for _ in 0..limit {
        after_gap(device.as_mut(), &config, (Op::Read, 5), SECOND);
    }
    assert_eq!(moved(device.as_ref()), (0, 0), "{worn} erases");
    after_gap(device.as_mut(), &config, (Op::Read, 5), SECOND);
    assert_eq!(moved(device.as_ref()), (1, 0), "{worn} erases");
}

/// A page that several logical pages share is read for all of them, and moves with all of them.
#[test]
fn reads_of_all_who_share_a_page_count_together() {
    let (config, mut device) = device("ca_ssd", &[TEN]);
    device.verify_reads();
    for page in [3, 9, 14] {
        let content = Some(Content::new(7));
        let request = Request { content, ..pages(&config, Op::Write, page, 1) };
        device.submit(&request).expect("the device works");
    }
    (20..23).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let before = place(device.as_ref(), 3);
    for page in [3, 9, 14, 3, 9, 14, 3, 9, 14, 3, 9] {
        after_gap(device.as_mut(), &config, (Op::Read, page), SECOND);
    }
    let after = [3, 9, 14].map(|page| place(device.as_ref(), page));
    assert!(after[0] != before && after == [after[0]; 3], "{before} to {after:?}");
    assert_eq!(moved(device.as_ref()), (1, 0));
    device.audit().expect("the device is sound");
}

/// What holds nothing is not looked for: a long gap beside dead blocks is over at once.
#[test]
fn dead_blocks_keep_no_gap_busy() {
    let (config, mut device) = device("ideal_page", &[ONE_DAY, ("refresh.patrol", "1us")]);
    // The second time leaves blocks that hold nothing, and that nobody erases yet.
    (0..2).for_each(|_| (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Write, page)));
    (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Trim, page));
    after_gap(device.as_mut(), &config, (Op::Read, 0), 3000 * DAY);
    assert_eq!(moved(device.as_ref()), (0, 0));
    // And what is written to one that was open then is found.
    submit(device.as_mut(), &config, Op::Write, 1);
    after_gap(device.as_mut(), &config, (Op::Read, 1), 2 * DAY);
    assert!(moved(device.as_ref()).1 > 0);
}

/// What disturbs is sensing: the other units of a flash page that is in the register come from
/// there.
#[test]
fn units_that_come_from_a_register_disturb_nothing() {
    let unit = [("device.page_bytes", "2048"), ("device.mapping_unit", "512")];
    let (config, mut device) = device("ideal_page", &[&unit[..], &[TEN]].concat());
    fill(device.as_mut(), &config);
    for _ in 0..10 {
        // The first senses, and three follow from the register.
        (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Read, page));
        submit(device.as_mut(), &config, Op::Read, 60);
    }
    assert_eq!(device.board_mut().nand_mut().blocks_to_refresh(When::START), 2, "ten each");
    after_gap(device.as_mut(), &config, (Op::Read, 0), SECOND);
    assert_eq!(moved(device.as_ref()), (2, 0));
}

/// Memory is charged for what counts: 4 bytes a block each for reads, ages and what is due.
#[test]
fn counts_take_memory() {
    let bytes = |pairs: Pairs<'_>| {
        let config = tiny("ideal_page", 8, pairs);
        let (row, _) = schemes::find("ideal_page").expect("a scheme of the table");
        let all: u64 = (row.ram_use)(&config).iter().map(|one| one.bytes).sum();
        (all, config.device.physical_blocks())
    };
    let (without, blocks) = bytes(&[]);
    assert_eq!(bytes(&[TEN]).0, without + 8 * blocks);
    assert_eq!(bytes(&[TEN, ONE_DAY]).0, without + 12 * blocks);
    let nothing_moves = [TEN, ("refresh.p0", "0.1"), ("refresh.moves", "false")];
    assert_eq!(bytes(&nothing_moves).0, without, "nobody counts but the cells");
}

fn refusal(scheme: &str, pairs: Pairs<'_>) -> String {
    let (row, _) = schemes::find(scheme).expect("a scheme of the table");
    let config = config(pairs);
    let all = config.check().and_then(|()| (row.check)(&config));
    all.expect_err("it is refused").to_string()
}

#[test]
fn settings_that_mean_nothing_are_refused_in_words() {
    let cases: [(&str, Pairs<'_>, &str); 8] = [
        ("fast", &[TEN], "refresh.reads = 10"),
        ("lazyftl", &[ONE_DAY], "refresh.days = 1"),
        ("ideal_page", &[("refresh.wear_slope", "0.5")], "needs refresh.reads"),
        ("ideal_page", &[TEN, ("refresh.off_days", "3")], "needs refresh.days"),
        ("ideal_page", &[TEN, ("refresh.patrol", "3s")], "needs refresh.days"),
        ("ideal_page", &[("refresh.p0", "0.1")], "needs refresh.reads or refresh.days"),
        ("ideal_page", &[TEN, ("refresh.moves", "false")], "needs refresh.p0"),
        ("learnedftl", &[TEN], "learnedftl"),
    ];
    for (scheme, pairs, words) in cases {
        let text = refusal(scheme, pairs);
        assert!(text.contains(words), "{pairs:?}: {text}");
    }
}
