//! LeaFTL at its limits: how much memory its map takes at worst, how deep look-ups go and what that
//! costs, who waits for a map page that is on its way, and what a power cut does to a tolerance.

use crate::common::{fill, flush, mixed, open, pages, place, submit, tiny, version};
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Tag;

fn level(device: &dyn Device, level: Level) -> u64 {
    device.board().meter().level_now(level).expect("told")
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Bytes that a structure of a scheme's memory takes at most.
fn bytes_of(config: &Config, structures: &[&str]) -> u64 {
    let (row, _) = schemes::find("leaftl").expect("in the table");
    let used = (row.ram_use)(config);
    let of = |name: &&str| used.iter().find(|used| used.structure == *name).expect(name).bytes;
    structures.iter().map(of).sum()
}

/// Whatever a flush and the collections in it put into memory before others leave is bytes that
/// `ram_use` states; and it is more than what stays.
#[test]
fn memory_never_holds_more_than_is_stated() {
    // The last three collect several victims for one page, also of several planes at a time.
    let devices: [&[(&str, &str)]; 8] = [
        &[("leaftl.buffer_bytes", "16KiB")],
        &[("leaftl.buffer_bytes", "4KiB"), ("leaftl.gamma", "4"), ("device.pages_per_block", "32")],
        &[("leaftl.buffer_bytes", "8KiB"), ("leaftl.bytes", "code"), ("gc.victim", "fifo")],
        &[("leaftl.buffer_bytes", "1KiB"), ("device.planes", "2"), ("alloc.order", "dynamic")],
        &[("leaftl.buffer_bytes", "8KiB"), ("leaftl.flush", "fullest"), ("gc.mode", "both")],
        &[("leaftl.buffer_bytes", "1KiB"), ("device.planes", "2"), ("gc.unit", "die")],
        &[
            ("leaftl.buffer_bytes", "1KiB"),
            ("gc.threshold_mode", "adaptive"),
            ("gc.threshold_max", "8"),
            ("gc.victim", "random"),
        ],
        &[
            ("leaftl.buffer_bytes", "4KiB"),
            ("nand.program_failure_rate", "0.001"),
            ("nand.erase_failure_rate", "0.001"),
            ("device.over_provisioning", "15x"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ];
    let mut over = 0;
    for own in devices {
        for (at_once, size) in [(1, "1B"), (20, "1KiB")] {
            let map: [(&str, &str); 4] = [
                ("device.pages_per_block", "16"),
                ("leaftl.group_pages", "16"),
                ("leaftl.map_bytes", size),
                ("device.ram_bytes", "64KiB"),
            ];
            let config = tiny("leaftl", 24, &[&map, own].concat());
            let mut device = open("leaftl", &config);
            let device = device.as_mut();
            let stays = bytes_of(&config, &["learned_map"]);
            let most = bytes_of(&config, &["learned_map", "unfitted_segments"]);
            fill(device, &config);
            let logical = config.device.logical_pages();
            let mut rng = Rng::new(at_once, Purpose::Workload);
            for _ in 0..3000 {
                let page = u64::from(rng.below(logical as u32));
                let run = at_once.min(logical - page);
                let op = if rng.below(4) == 0 { Op::Read } else { Op::Write };
                device.submit(&pages(&config, op, page, run)).expect("the device works");
                let reached = level(device, Level::LearnedMapBytesMost);
                assert!(reached <= most, "{own:?}, {size}: {reached} bytes, {most} are stated");
                assert!(level(device, Level::LearnedMapBytes) <= stays, "{own:?}, {size}");
            }
            over += u32::from(level(device, Level::LearnedMapBytesMost) > stays);
            device.audit().expect("the device is sound");
        }
    }
    assert!(over >= 12, "{over} of sixteen took more than what stays");
}

/// Where nothing can leave memory, what map pages say is used and forgotten: every page is read,
/// and memory takes no more than before, but for pages that a collection moves in vain.
#[test]
fn a_worn_out_device_is_read_past_memory() {
    let mut past = 0;
    for seed in 0..10 {
        let pairs = [
            ("leaftl.group_pages", "16"),
            ("leaftl.map_bytes", "1B"),
            ("leaftl.buffer_bytes", "1KiB"),
            ("nand.erase_failure_rate", "0.2"),
        ];
        let config = tiny("leaftl", 200, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let logical = config.device.logical_pages();
        let mut rng = Rng::new(seed, Purpose::Workload);
        let mut refused = 0;
        while refused < 5 {
            let page = u64::from(rng.below(logical as u32));
            refused += u32::from(device.submit(&pages(&config, Op::Write, page, 1)).is_err());
        }
        let stays = bytes_of(&config, &["learned_map"]);
        for page in 0..logical {
            let moved = |device: &dyn Device| device.board().meter().programs(Cause::Gc);
            let before = (level(device, Level::LearnedMapBytes), moved(device));
            submit(device, &config, Op::Read, page);
            let reached = level(device, Level::LearnedMapBytes);
            let most = before.0 + 13 * (moved(device) - before.1);
            // What had room before the read may load a group, which leaves behind it if it can.
            assert!(before.0 <= stays || reached <= most, "seed {seed}: {before:?}, {reached}");
            past += u32::from(before.0 > stays);
        }
        device.audit().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(past > 1000, "{past} reads where memory had no room");
}

/// What is due to be refreshed finds no room either, behind a read or in a gap: the read was
/// served. It failed.
#[test]
fn reads_of_a_worn_out_device_that_refreshes_are_served() {
    let mut at_once = 0;
    for seed in 0..10 {
        let pairs = [
            ("leaftl.group_pages", "16"),
            ("leaftl.map_bytes", "1B"),
            ("leaftl.buffer_bytes", "1KiB"),
            ("nand.erase_failure_rate", "0.2"),
            ("refresh.reads", "10"),
        ];
        let config = tiny("leaftl", 200, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let logical = config.device.logical_pages();
        let mut rng = Rng::new(seed, Purpose::Workload);
        let mut refused = 0;
        while refused < 5 {
            let page = u64::from(rng.below(logical as u32));
            refused += u32::from(device.submit(&pages(&config, Op::Write, page, 1)).is_err());
        }
        for number in 0..8 * logical {
            let gap = if number % 3 == 0 { 1_000_000_000 } else { 0 };
            let arrival = if gap > 0 { device.idle_from() + gap } else { 0 };
            let read = Request { arrival, ..pages(&config, Op::Read, number / 8 % logical, 1) };
            device.submit(&read).unwrap_or_else(|fault| panic!("seed {seed}, {number}: {fault}"));
            let due = device.board_mut().nand_mut().must_refresh(When::START);
            at_once += u32::from(due);
        }
        device.audit().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(at_once > 100, "{at_once} reads left something that cannot wait");
}

/// Each of thirteen pairs lies within the one before: the first is on the lowest of thirteen
/// levels. Look-ups beyond nine are counted, and each level takes its time where look-ups are
/// charged.
#[test]
fn deep_look_ups_are_counted_and_may_cost() {
    for (charged, of_level) in [("false", 0), ("true", 50), ("true", 80)] {
        let time = format!("{of_level}ns");
        let mut pairs = vec![
            ("device.pages_per_block", "16"),
            ("device.ram_bytes", "32KiB"),
            ("leaftl.buffer_bytes", "8KiB"),
            ("leaftl.charge_lookup", charged),
        ];
        if of_level == 80 {
            pairs.push(("leaftl.level_time", &time));
        }
        let config = tiny("leaftl", 24, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        for page in 0..13 {
            submit(device, &config, Op::Write, page);
            submit(device, &config, Op::Write, 40 - page);
            flush(device);
        }
        let mut read = |page| {
            let before =
                (event(device, Event::SegmentLevels), event(device, Event::DeepSegmentLookups));
            let done = device.submit(&pages(&config, Op::Read, page, 1)).expect("the device works");
            let levels = event(device, Event::SegmentLevels) - before.0;
            (done.device(), levels, event(device, Event::DeepSegmentLookups) - before.1)
        };
        let (newest, ninth, oldest) = (read(12), read(4), read(0));
        assert_eq!((newest.1, ninth.1, oldest.1), (1, 9, 13), "levels");
        assert_eq!((newest.2, ninth.2, oldest.2), (0, 0, 1), "deep");
        assert_eq!((ninth.0 - newest.0, oldest.0 - newest.0), (8 * of_level, 12 * of_level));
    }
}

/// A map page that is on its way is waited for by every page that needs it, whatever other map
/// pages were asked for meanwhile: two groups 4,096 apart kept their moments in one place.
#[test]
fn whoever_needs_a_map_page_waits_for_it() {
    let pairs = [
        ("timing.profile", "parallel"),
        ("device.channels", "8"),
        ("device.planes", "1"),
        ("leaftl.group_pages", "16"),
        ("leaftl.map_bytes", "2KiB"),
        ("leaftl.buffer_bytes", "8KiB"),
        ("device.ram_bytes", "64KiB"),
        ("timing.read", "100us"),
    ];
    let config = tiny("leaftl", (4096 + 300) * 4, &pairs);
    let mut device = open("leaftl", &config);
    let device = device.as_mut();
    fill(device, &config);
    flush(device);
    let geometry = device.board().geometry().clone();
    let plane = |device: &dyn Device, page| geometry.plane_of(place(device, page));
    // Of the first group a page, and another one on a plane that nobody else uses.
    let used = [plane(device, 0), geometry.home_plane(ftlab_engine::units::Lpn(0))];
    let other = (1..16).find(|&page| !used.contains(&plane(device, page))).expect("eight planes");
    let far = 4096 * 16;
    let at = 1 << 40;
    let mut read = |page: u32| {
        let request = Request { arrival: at, ..pages(&config, Op::Read, u64::from(page), 1) };
        device.submit(&request).expect("the device works").completed - at
    };
    let first = read(0);
    let between = read(far);
    let second = read(other);
    assert!(first >= 200_000 && between >= 200_000, "{first}, {between}: a map page and a page");
    assert!(second >= 200_000, "{second}: page {other} waits for the same map page");
}

/// Segments that a recovery learns are exact: a map with a tolerance is after a cut as large as one
/// without, compacted.
#[test]
fn a_power_cut_takes_a_tolerance_away() {
    let after = |gamma: &str| {
        let pairs = [
            ("device.pages_per_block", "16"),
            ("leaftl.buffer_bytes", "32KiB"),
            ("device.ram_bytes", "256KiB"),
            ("leaftl.gamma", gamma),
            ("device.oob_bytes", "132"),
            ("leaftl.superseded", "free"),
        ];
        let config = tiny("leaftl:memory", 100, &pairs);
        let mut device = open("leaftl:memory", &config);
        let device = device.as_mut();
        for request in mixed(&config, 3000, 4) {
            device.submit(&request).expect("the device works");
        }
        flush(device);
        let before = level(device, Level::LearnedMapBytes);
        device.power_cycle().expect("it recovers");
        device.audit().expect("the device is sound");
        let kinds = level(device, Level::ApproximateSegments);
        (before, level(device, Level::LearnedMapBytes), kinds)
    };
    let (exact, near) = (after("0"), after("16"));
    println!("{exact:?} {near:?}");
    assert_eq!((exact.1, exact.2), (near.1, near.2), "the same map after a cut");
    assert_eq!(near.2, 0, "nothing of it is approximate");
    assert!(exact.1 < exact.0, "what is learned again lies on one level: {exact:?}");
}

/// A full buffer that is emptied behind the host's pages holds up none of them for more than one
/// program; emptied as one piece, it holds up one page in each fill for all of them. What is
/// written together, where it lies and what is learned of it is the same.
#[test]
fn a_buffer_is_emptied_behind_the_host() {
    let program = 1_000_000;
    let run = |drain| {
        let pairs = [
            ("device.pages_per_block", "16"),
            ("device.ram_bytes", "32KiB"),
            ("leaftl.buffer_bytes", "8KiB"),
            ("leaftl.drain", drain),
            ("timing.read", "20us"),
            ("timing.program", "1ms"),
        ];
        let config = tiny("leaftl", 24, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        let logical = config.device.logical_pages();
        // Every page once, scattered: 5 and 384 have no common divisor.
        let (mut longest, mut waited) = (0, 0);
        for turn in 0..logical {
            let arrival = device.idle_from();
            let page = pages(&config, Op::Write, turn * 5 % logical, 1);
            let request = Request { arrival, ..page };
            let done = device.submit(&request).expect("the device works").completed - arrival;
            longest = longest.max(done);
            waited += u32::from(done >= program);
        }
        flush(device);
        device.audit().expect("the device is sound");
        let places: Vec<_> = (0..logical as u32).map(|page| place(device, page)).collect();
        (longest, waited, (places, level(device, Level::LearnedSegments)))
    };
    let (behind, at_once) = (run("background"), run("at_once"));
    assert_eq!(behind.1, 0, "who comes when the device is idle waits for no program");
    assert_eq!(at_once.1, 384 / 16 - 1, "one page for each fill but the last");
    assert!(at_once.0 >= 16 * program, "{} for a block", at_once.0);
    assert!(behind.2 == at_once.2, "the same map");
    let before = run("foreground");
    assert_eq!(before.1, 384 - 16, "whoever needs a frame waits for it");
    assert!(before.0 < 2 * program, "{} for a page", before.0);
    assert!(before.2 == at_once.2, "the same map");
}

/// A trim of the last page that leaves ends a run: the next one begins below it.
#[test]
fn a_trim_of_the_last_page_that_leaves_ends_its_run() {
    let pairs = [
        ("device.pages_per_block", "16"),
        ("device.ram_bytes", "32KiB"),
        ("leaftl.buffer_bytes", "2KiB"),
    ];
    let config = tiny("leaftl", 24, &pairs);
    let mut device = open("leaftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    // The four frames are full with 43; 40, 41 and 42 leave behind it and behind 0 and 1.
    for page in [40, 41, 42, 43, 0, 1] {
        submit(device, &config, Op::Write, page);
    }
    assert_eq!(level(device, Level::BufferedPages), 3, "43, 0 and 1");
    submit(device, &config, Op::Trim, 43);
    // 0 leaves, and is in no run with 42.
    (2..4).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(level(device, Level::BufferedPages), 3, "1, 2 and 3");
    device.audit().expect("the device is sound");
    [40, 41, 42, 0].into_iter().for_each(|page| submit(device, &config, Op::Read, page));
}

/// What left the buffer behind the host's back is not durable before it is programmed: a flush that
/// finds nothing in the buffer was done at once.
#[test]
fn a_flush_waits_for_what_left_the_buffer_before_it() {
    let pairs = [
        ("timing.profile", "parallel"),
        ("timing.program", "200us"),
        ("leaftl.buffer_bytes", "1B"),
    ];
    let config = tiny("leaftl", 24, &pairs);
    let mut device = open("leaftl", &config);
    submit(device.as_mut(), &config, Op::Write, 7);
    assert_eq!(level(device.as_ref(), Level::BufferedPages), 0, "page 7 left behind its write");
    let done = device.submit(&pages(&config, Op::Flush, 0, 0)).expect("the device works").completed;
    assert!(done >= 200_000, "durable at {done} ns, programmed 200,000 ns after it came");
}

/// Memory that keeps its content keeps trims: a version that was superseded there and then trimmed
/// came back, since flash still held one before it. Nothing need be recorded for that.
#[test]
fn a_trim_outlives_a_power_cut_where_memory_does() {
    for own in [("leaftl.gamma", "0"), ("leaftl.map_bytes", "1B")] {
        let pairs = [own, ("device.ram_nonvolatile", "true")];
        let config = tiny("leaftl", 60, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        for page in 0..config.device.logical_pages() {
            submit(device, &config, Op::Write, page);
        }
        submit(device, &config, Op::Write, 3);
        flush(device);
        // The second version is in the buffer when both are trimmed.
        submit(device, &config, Op::Write, 3);
        submit(device, &config, Op::Trim, 3);
        device.power_cycle().expect("it recovers");
        device.audit().expect("the device is sound");
        assert_eq!(version(device, 3), Tag(0), "page 3 was trimmed");
        flush(device);
        assert_eq!(device.board().meter().programs(Cause::Trim), 0, "memory is record enough");
        for page in 0..config.device.logical_pages() {
            submit(device, &config, Op::Read, page);
            submit(device, &config, Op::Write, page);
        }
        device.audit().expect("the device is sound");
    }
}

/// With a tolerance, the out-of-band area of a page names those that were to be programmed behind
/// it. Where that changes, a run ends: no page of it is looked for where that area does not name
/// it.
#[test]
fn a_run_ends_where_other_pages_follow_than_were_to() {
    // What comes between, at which place 43 then is, and how many runs that makes.
    for (change, place_of_43, runs) in
        [(None, 2, 1), (Some((Op::Trim, 41)), 1, 2), (Some((Op::Write, 42)), 3, 2)]
    {
        let pairs = [
            ("device.pages_per_block", "16"),
            ("device.ram_bytes", "32KiB"),
            ("leaftl.buffer_bytes", "2KiB"),
            ("leaftl.gamma", "2"),
        ];
        let config = tiny("leaftl", 24, &pairs);
        let mut device = open("leaftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        // Four frames: 40 leaves, 41, 43 and 46 are to follow.
        for page in [40, 41, 43, 46] {
            submit(device, &config, Op::Write, page);
        }
        assert_eq!(level(device, Level::BufferedPages), 3);
        if let Some((op, page)) = change {
            submit(device, &config, op, page);
        }
        flush(device);
        let places = [40, 43, 46].map(|page| place(device, page).0 % 16);
        assert_eq!(places, [0, place_of_43, place_of_43 + 1], "{change:?}");
        assert_eq!(level(device, Level::LearnedSegments), runs, "{change:?}");
        device.audit().expect("the device is sound");
        [40, 43, 46].into_iter().for_each(|page| submit(device, &config, Op::Read, page));
    }
}

/// The page that left last is written again, and leaves first when the buffer is flushed: what it
/// leaves with is a run of its own, of the four pages that may be learned together.
#[test]
fn a_page_that_left_last_and_leaves_first_begins_another_run() {
    let pairs = [
        ("device.pages_per_block", "16"),
        ("device.ram_bytes", "32KiB"),
        ("leaftl.buffer_bytes", "2KiB"),
        ("leaftl.drain", "foreground"),
    ];
    let config = tiny("leaftl", 24, &pairs);
    let mut device = open("leaftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    // 40 leaves for 99, which gives its frame back.
    for page in [40, 41, 42, 43, 99] {
        submit(device, &config, Op::Write, page);
    }
    submit(device, &config, Op::Trim, 99);
    submit(device, &config, Op::Write, 40);
    assert_eq!(level(device, Level::BufferedPages), 4, "40 again, beside 41 to 43");
    flush(device);
    assert_eq!([40, 41, 42, 43].map(|page| place(device, page).0 % 16), [1, 2, 3, 4]);
    assert_eq!(level(device, Level::LearnedSegments), 1);
    device.audit().expect("the device is sound");
}

/// A victim is taken when there is room for the map pages that it costs: the map itself asserts
/// that it writes no more of them than it reckoned with.
#[test]
fn a_victim_costs_no_more_map_pages_than_were_reckoned() {
    let mut before_erase = 0;
    for (bytes, threshold) in [("paper", "3"), ("paper", "6"), ("code", "3"), ("code", "6")] {
        for seed in 0..8 {
            let pairs = [
                ("leaftl.group_pages", "16"),
                ("leaftl.map_bytes", "1B"),
                ("leaftl.bytes", bytes),
                ("leaftl.buffer_bytes", "1B"),
                ("device.pages_per_block", "8"),
                ("gc.threshold", threshold),
            ];
            let config = tiny("leaftl", 60, &pairs);
            let mut device = open("leaftl", &config);
            for request in mixed(&config, 1500, seed) {
                device.submit(&request).expect("the device works");
            }
            device.audit().expect("the device is sound");
            before_erase += device.board().meter().programs(Cause::GcMapUpdate);
        }
    }
    assert!(before_erase > 100, "{before_erase} map pages were collection's doing");
}
