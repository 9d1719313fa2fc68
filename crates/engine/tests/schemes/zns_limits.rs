//! What zones do at their limits: settings that just go together, a last zone that is shorter, one
//! that a power cut left a page short, frames of windows by zone, and what a reset waits for.

use crate::common::{LATENCIES, fill, flush, open, pages, place, submit, tiny};
use ftlab_engine::board::nand::clock::timeline::Work;
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::config::Config;
use ftlab_engine::future::Future;
use ftlab_engine::meter::{Cause, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

type Pairs<'a> = &'a [(&'a str, &'a str)];

const TWO: (&str, &str) = ("device.channels", "2");
const RAW: (&str, &str) = ("zns.mode", "raw");
const ONE: Pairs<'_> = &[RAW, TWO, ("zns.max_active", "1"), ("zns.max_open", "1")];

fn opened(blocks: u64, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny("zns", blocks, pairs);
    let mut device = open("zns", &config);
    device.verify_reads();
    (config, device)
}

/// What `check` says of settings that are legal one by one.
fn checked(pairs: Pairs<'_>) -> Result<(), String> {
    let mut config = tiny("zns", 24, &[]);
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal alone"));
    let (row, _) = schemes::find("zns").expect("in the table");
    (row.check)(&config).map_err(|error| error.to_string())
}

/// An open zone is active, and so are the zones that the host's log writes: one for each class of
/// data (of four handles and of moved pages five), and one for the records of trims.
#[test]
fn as_many_zones_are_active_as_are_open_or_written() {
    let limits = |open, active| [("zns.max_open", open), ("zns.max_active", active)];
    assert_eq!(checked(&limits("3", "3")), Ok(()));
    let error = checked(&limits("4", "3")).expect_err("an open zone is active");
    assert!(error.contains("zns.max_open = 4 is more than zns.max_active = 3"), "{error}");
    let apart = ("gc.separate_frontiers", "true");
    let classes = [("gc.placement", "hint"), ("host.hints", "column"), ("placement.handles", "4")];
    for (more, wanted, least) in [(&[][..], "2", "1"), (&[apart], "3", "2"), (&classes, "6", "5")] {
        assert_eq!(checked(&[&limits("1", wanted)[..], more].concat()), Ok(()), "{more:?}");
        let error = checked(&[&limits("1", least)[..], more].concat()).expect_err("too few");
        let words = format!("write {wanted} zones at once, and zns.max_active = {least}");
        assert!(error.contains(&words), "{more:?}: {error}");
    }
    // A workload that writes zones writes as many as it likes.
    assert_eq!(checked(&[&limits("1", "1")[..], &[RAW]].concat()), Ok(()));
    assert_eq!(checked(&[("zns.max_active", "15"), RAW]), Ok(()));
}

/// The drive moves no page of which the host knows the place, and a zone is on whole channels.
#[test]
fn a_drive_that_would_move_pages_or_divide_channels_is_refused() {
    let four = ("device.channels", "4");
    let refused: [(Pairs<'_>, &str); 6] = [
        (&[four, ("rain.stripe", "3")], "rain.stripe = 3 does not go with zns"),
        (&[four, ("nand.failing_die", "1")], "nand.failing_die = 1 does not go with zns"),
        (&[("refresh.reads", "1000")], "refresh.reads = 1000"),
        (&[("timing.copyback", "true")], "the host copies"),
        (&[four, ("zns.width", "3")], "zns.width = 3 does not divide the 4 channels"),
        (&[four, ("zns.width", "8")], "zns.width = 8 does not divide the 4 channels"),
    ];
    for (pairs, words) in refused {
        let error = checked(pairs).expect_err(words);
        assert!(error.contains(words), "{error}");
    }
    for width in ["1", "2", "4"] {
        assert_eq!(checked(&[four, ("zns.width", width)]), Ok(()), "{width} of 4 channels");
    }
    assert_eq!(checked(&[("timing.copyback", "true"), ("zns.copy_in_device", "true")]), Ok(()));
}

/// Where the workload writes them, a drive needs the blocks of its zones alone, whole ones.
#[test]
fn raw_zones_need_the_blocks_of_whole_zones() {
    let (row, _) = schemes::find("zns").expect("in the table");
    // Logical pages are 4 a logical block; blocks of a zone are those of one number in all planes
    // of its channels.
    let cases: [(u64, Pairs<'_>, u64); 4] = [
        (25, &[RAW], 25),
        (25, &[RAW, TWO], 13 * 2),
        (25, &[RAW, ("device.channels", "4"), ("zns.width", "2"), ("device.dies", "2")], 7 * 4),
        (24, &[RAW, TWO, ("zns.zone_capacity", "75%")], 16 * 2),
    ];
    for (blocks, pairs, expected) in cases {
        let config = tiny("zns", blocks, pairs);
        assert_eq!((row.minimum_blocks)(&config), expected, "{pairs:?}");
    }
}

/// Half a zone is left at the end of 25 blocks: it is full with four pages, and active no more.
#[test]
fn the_last_zone_is_full_where_the_pages_end() {
    let (config, mut device) = opened(25, ONE);
    let device = device.as_mut();
    device.submit(&pages(&config, Op::Write, 96, 4)).expect("all of the last zone");
    device.submit(&pages(&config, Op::Write, 0, 1)).expect("it is the only active zone now");
    device.audit().expect("sound");
    device.power_cycle().expect("it recovers");
    device.submit(&pages(&config, Op::Write, 1, 7)).expect("it goes on");
    device.submit(&pages(&config, Op::Write, 8, 1)).expect("another one");
    (96..100).for_each(|page| submit(device, &config, Op::Read, page));
}

/// The program of the fourth page was torn: the zone takes seven pages, and is active no more with
/// the last of them.
#[test]
fn a_zone_that_a_power_cut_left_short_is_active_until_it_has_no_room() {
    let (config, mut device) = opened(24, ONE);
    let device = device.as_mut();
    (0..3).for_each(|page| submit(device, &config, Op::Write, page));
    device.board_mut().nand_mut().faults_mut().cut_power_after(0, CutOutcome::Torn);
    assert!(device.submit(&pages(&config, Op::Write, 3, 1)).is_err(), "the power goes");
    device.power_cycle().expect("it recovers");
    (3..6).for_each(|page| submit(device, &config, Op::Write, page));
    let refused = |device: &dyn Device, page| {
        let write = pages(&config, Op::Write, page, 1);
        device.duplicate().submit(&write).expect_err("refused").to_string()
    };
    let error = refused(device, 8);
    assert!(error.contains("1 zones are half written already"), "{error}");
    submit(device, &config, Op::Write, 6);
    let error = refused(device, 7);
    assert!(error.contains("zone 0 took 7 pages and has room for no more"), "{error}");
    submit(device, &config, Op::Write, 8);
    (0..7).for_each(|page| submit(device, &config, Op::Read, page));
    device.audit().expect("sound");
}

/// A zone of two blocks of four pages each takes so many pages in any order, by granules.
fn windows(pages: &str, granule: &str, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let windows = [
        TWO,
        RAW,
        ("zns.max_active", "3"),
        ("zns.max_open", "3"),
        ("zns.zrwa", pages),
        ("zns.zrwa_granule", granule),
        ("device.ram_nonvolatile", "true"),
    ];
    opened(24, &[&windows[..], pairs].concat())
}

/// How long these pages take, one after the other.
fn take(device: &mut dyn Device, config: &Config, all: &[u64]) -> Vec<Nanos> {
    let write = |page| pages(config, Op::Write, page, 1);
    all.iter().map(|&page| device.submit(&write(page)).expect("it works").device()).collect()
}

const PARALLEL: (&str, &str) = ("timing.profile", "parallel");

/// Page 4 moves the pointer over all four pages of the window, and takes the frame of page 0, whose
/// program is over first. The frames of pages 2 and 3 are those of zone 0 alone.
#[test]
fn each_zone_has_frames_of_its_own_which_wait_for_their_own_programs() {
    let pairs = [PARALLEL, ("host.queue_depth", "1")];
    let (config, mut device) = windows("4", "4", &pairs);
    let device = device.as_mut();
    let alone = take(device, &config, &[0, 1, 2, 3]);
    assert!(alone.iter().all(|time| time == &alone[0]), "{alone:?}");
    let behind = take(device, &config, &[4])[0];
    assert!(behind > alone[0], "{behind}");
    let elsewhere = take(&mut *device.duplicate(), &config, &[8, 9, 10, 11]);
    assert_eq!(elsewhere, alone, "frames of a zone that wrote nothing are free");
    let here = take(&mut *device.duplicate(), &config, &[7, 6]);
    assert!(here[0] > alone[0], "page 3 is being programmed: {here:?}");
}

/// Pages 3 and 4 of a zone take the frames of its pages 0 and 1, wherever the zone begins.
#[test]
fn a_frame_is_free_when_its_page_is_programmed_in_every_zone() {
    let pairs = [PARALLEL, ("host.queue_depth", "1")];
    let (config, device) = windows("3", "3", &pairs);
    let times = |zone: u64| {
        let all: Vec<u64> = (8 * zone..8 * zone + 8).collect();
        take(&mut *device.duplicate(), &config, &all)
    };
    let first = times(0);
    assert!(first[3] > first[0], "{first:?}");
    (1..4).for_each(|zone| assert_eq!(times(zone), first, "zone {zone}"));
}

/// The zone is reset while its page 11 waits for the program of page 8: its frame is free with it,
/// and that of page 9, which no program was under way for, is free at once.
#[test]
fn the_reset_of_a_zone_frees_the_frames_of_its_own_pages() {
    let ram = ("timing.ram_page", "1us");
    let (config, mut device) = windows("3", "1", &[PARALLEL, ram, ("host.queue_depth", "8")]);
    let device = device.as_mut();
    let before = take(device, &config, &[8, 9, 10, 11]);
    assert!(before[3] > 100_000, "{before:?}");
    device.submit(&pages(&config, Op::Trim, 8, 8)).expect("a whole zone is reset");
    let same = take(&mut *device.duplicate(), &config, &[16])[0];
    let other = take(&mut *device.duplicate(), &config, &[17])[0];
    assert!(same > before[0] && other < same, "{same} {other}");
    assert!(other < 10_000, "{other}");
}

/// In memory are the pages behind the pointers, whatever takes them away: pointers, a reset, a
/// flush.
#[test]
fn the_meter_knows_how_many_pages_windows_hold() {
    let (config, mut device) = windows("6", "3", &[]);
    let device = device.as_mut();
    let held = |device: &dyn Device| device.board().meter().level_now(Level::BufferedPages);
    (0..6).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(held(device), Some(6));
    submit(device, &config, Op::Write, 6);
    assert_eq!(held(device), Some(4), "three of them passed");
    (8..13).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(held(device), Some(9));
    device.submit(&pages(&config, Op::Trim, 0, 8)).expect("a whole zone is reset");
    assert_eq!(held(device), Some(5));
    // Granules are counted from the first page of a zone: pages 8 to 10 are one, of the next one a
    // page lacks.
    let before = device.board().meter().total_programs();
    flush(device);
    assert_eq!(device.board().meter().total_programs() - before, 3);
    assert_eq!(held(device), Some(2));
    device.power_cycle().expect("it recovers");
    assert_eq!(held(device), Some(2));
    device.audit().expect("sound");
}

/// A victim on one channel, its copies on another: it is erased when they are programmed.
#[test]
fn a_zone_is_reset_when_its_copies_are_on_flash() {
    let pairs = [&[TWO, ("zns.width", "1"), PARALLEL][..], &LATENCIES].concat();
    let (config, mut device) = opened(24, &pairs);
    let device = device.as_mut();
    fill(device, &config);
    device.board_mut().nand_mut().timeline_mut().start(20_000);
    let mut rng = Rng::new(5, Purpose::Workload);
    for _ in 0..500 {
        submit(device, &config, Op::Write, rng.below(96).into());
    }
    let (spans, left_out) = device.board_mut().nand_mut().timeline_mut().take();
    assert_eq!(left_out, 0);
    let (mut copied, mut seen) = (0, 0);
    for span in spans {
        match (span.work, span.cause) {
            (Work::Program, Cause::Gc) => copied = span.end,
            (Work::Erase, Cause::Gc) => {
                assert!(span.start >= copied, "{} before {copied}", span.start);
                seen += u32::from(copied > 0);
                copied = 0;
            }
            _ => {}
        }
    }
    assert!(seen > 50, "{seen} collections");
}

/// Page 0 is written as the first page of the workload, and again as the second, for ever: by what
/// is to come they belong apart. What the preparation wrote counts for nothing.
#[test]
fn an_oracle_begins_where_measuring_begins() {
    let mut config = tiny("zns", 24, &[("gc.placement", "fk"), ("device.over_provisioning", "3x")]);
    let mut pass = Future::pass(config.device.logical_pages() as u32);
    [0, 0].into_iter().for_each(|page| pass.written(page).expect("few"));
    config.future = Some(pass.done());
    let mut device = open("zns", &config);
    let device = device.as_mut();
    fill(device, &config);
    device.start_measuring();
    let block = |device: &dyn Device| device.board().geometry().block_of(place(device, 0));
    submit(device, &config, Op::Write, 0);
    let soon = block(device);
    submit(device, &config, Op::Write, 0);
    assert_ne!(block(device), soon, "it dies with the next write, and this one never");
}
