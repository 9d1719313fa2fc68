//! One test per parameter: what the setting promises, in exact numbers, so that a device that
//! ignores it fails here.

use std::collections::BTreeSet;

use crate::common::{
    CONTROLLER, ERASE, LATENCIES, PROGRAM, READ, TRANSFER, fill, mixed, open, pages, place, record,
    submit, tiny,
};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Meter};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::dftl::Dftl;
use ftlab_engine::schemes::fast::Fast;
use ftlab_engine::schemes::open as open_as;
use ftlab_engine::ssd::{Device, Ssd};
use ftlab_flash::settings::Groups;

#[test]
fn serial_time_is_the_sum_of_counts_times_latencies() {
    for scheme in ["ideal_page", "dftl", "fast"] {
        let config = tiny(scheme, 24, &LATENCIES);
        let mut device = open(scheme, &config);
        let mut served = 0;
        for request in mixed(&config, 4000, 7) {
            served += device.submit(&request).expect("the device works").device();
        }
        let meter = device.board().meter();
        let (reads, programs) = (meter.total_reads(), meter.total_programs());
        let [host_reads, host_writes, _] = meter.host().pages;
        assert!(meter.total_erases() > 100 && programs > host_writes, "{scheme} collects");
        let time = device.board().nand().clock().service_time();
        assert_eq!(time.read, reads * READ, "{scheme}");
        assert_eq!(time.program, programs * PROGRAM, "{scheme}");
        assert_eq!(time.erase, meter.total_erases() * ERASE, "{scheme}");
        assert_eq!(time.transfer, (reads + programs) * TRANSFER, "{scheme}");
        assert_eq!(time.controller, (host_reads + host_writes) * CONTROLLER, "{scheme}");
        assert_eq!(time.bus_wait, 0, "{scheme}: one server waits for nothing");
        let sum = time.read + time.program + time.erase + time.transfer + time.controller;
        assert_eq!(device.idle_from(), sum, "{scheme}: all requests arrive at 0");
        assert_eq!(served, sum, "{scheme}: one request at a time");
    }
}

#[test]
fn reading_an_entry_saves_the_transfer_of_every_load() {
    let run = |transfer: &str| {
        let mut pairs = LATENCIES.to_vec();
        pairs.extend([("dftl.cmt_entries", "4"), ("dftl.map_read_xfer", transfer)]);
        let config = tiny("dftl", 64, &pairs);
        let mut device = open("dftl", &config);
        for request in mixed(&config, 3000, 5) {
            device.submit(&request).expect("the device works");
        }
        let meter = device.board().meter();
        let loads = meter.events(Event::MapLookups) - meter.events(Event::MapHits);
        assert!(loads > 1000);
        (device.idle_from(), loads, meter.total_reads(), meter.total_programs())
    };
    let (page, entry) = (run("page"), run("entry"));
    assert_eq!((page.1, page.2, page.3), (entry.1, entry.2, entry.3), "only time differs");
    assert_eq!(page.0 - entry.0, page.1 * TRANSFER);
}

#[test]
fn a_miss_loads_as_many_neighbours_as_set_and_none_of_another_map_page() {
    // 128 entries to a page of 512 bytes.
    for (prefetch, missed, hits) in [(0, 10, 0), (1, 10, 1), (5, 10, 5), (5, 126, 1), (5, 127, 0)] {
        let text = prefetch.to_string();
        let pairs = [("dftl.cmt_entries", "16"), ("dftl.prefetch", text.as_str())];
        let config = tiny("dftl", 64, &pairs);
        let mut device = open("dftl", &config);
        let device = device.as_mut();
        submit(device, &config, Op::Read, missed);
        let meter = |device: &dyn Device| {
            let meter = device.board().meter();
            [Event::PrefetchedEntries, Event::MapHits].map(|event| meter.events(event))
        };
        assert_eq!(meter(device), [hits, 0], "{prefetch} after {missed}");
        for page in missed + 1..=missed + hits {
            submit(device, &config, Op::Read, page);
        }
        assert_eq!(meter(device), [hits, hits], "{prefetch} after {missed}");
        assert_eq!(device.board().meter().reads(Cause::Translate), 1);
        submit(device, &config, Op::Read, missed + hits + 1);
        assert_eq!(meter(device)[1], hits, "the next one is a miss");
        assert_eq!(device.board().meter().reads(Cause::Translate), 2);
    }
}

/// Page 0 is on flash and so is its entry; the cache holds two clean entries of others.
fn with_clean_cache(fetch: &str) -> (Ssd<Dftl>, Config) {
    let pairs = [
        ("dftl.cmt_entries", "2"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
        ("dftl.write_miss_fetch", fetch),
    ];
    let config = tiny("dftl", 24, &pairs);
    let mut device = open_as::<Dftl>(&config, 1).expect("legal settings");
    device.verify_reads();
    submit(&mut device, &config, Op::Write, 0);
    submit(&mut device, &config, Op::Read, 50);
    submit(&mut device, &config, Op::Read, 51);
    (device, config)
}

#[test]
fn a_write_miss_without_fetch_reads_no_map_and_leaves_a_stale_page_until_eviction() {
    let write = |device: &mut Ssd<Dftl>, config: &Config| {
        record(device, |device| submit(device, config, Op::Write, 0))
    };
    let (mut device, config) = with_clean_cache("true");
    let operations = write(&mut device, &config);
    let [Operation::Read(_, Cause::Translate), Operation::Program(_, Cause::Host)] = operations[..]
    else {
        panic!("a miss loads its entry: {operations:?}");
    };
    let settled = device.audit().expect("the audit passes");
    assert_eq!((settled.valid_data_pages, settled.stale_pages), (1, 0));

    let (mut device, config) = with_clean_cache("false");
    let old = place(&device, 0);
    let operations = write(&mut device, &config);
    assert_eq!(operations, [Operation::Program(place(&device, 0), Cause::Host)]);
    let audit = device.audit().expect("the audit passes");
    assert_eq!((audit.valid_data_pages, audit.stale_pages), (2, 1));
    assert!(device.board().nand().state().is_valid(old), "nobody knows of the old version");
    // Two misses evict the entry, which meets its page in flash.
    submit(&mut device, &config, Op::Read, 52);
    assert_eq!(device.audit().expect("the audit passes").stale_pages, 1);
    submit(&mut device, &config, Op::Read, 53);
    let audit = device.audit().expect("the audit passes");
    assert_eq!((audit.valid_data_pages, audit.stale_pages), (1, 0));
    assert!(!device.board().nand().state().is_valid(old));
    submit(&mut device, &config, Op::Read, 0);
}

/// Reads that each of four writes needs: the first half of a new page, the same half again, the
/// other half, all of it.
fn reads_of_partial_writes(scheme: &str, mode: &str) -> [u64; 4] {
    let pairs = [("device.page_bytes", "2048"), ("io.partial_write", mode)];
    let config = tiny(scheme, 24, &pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    let count = |meter: &Meter| meter.reads(Cause::ReadModifyWrite);
    [(20, 2), (20, 2), (22, 2), (20, 4)].map(|(first_sector, sectors)| {
        let before = count(device.board().meter());
        let request = Request {
            arrival: 0,
            op: Op::Write,
            first_sector,
            sectors,
            unit: 0,
            stream: None,
            content: None,
        };
        device.submit(&request).expect("the device works");
        count(device.board().meter()) - before
    })
}

#[test]
fn a_partial_write_reads_what_survives_it_and_only_under_rmw() {
    for scheme in ["ideal_page", "dftl", "fast"] {
        assert_eq!(reads_of_partial_writes(scheme, "rmw"), [0, 0, 1, 0], "{scheme}");
        assert_eq!(reads_of_partial_writes(scheme, "whole_page"), [0; 4], "{scheme}");
    }
    // The read is of the old version and comes before the program.
    let pairs = [("device.page_bytes", "2048"), ("io.partial_write", "rmw")];
    let config = tiny("ideal_page", 24, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    submit(device, &config, Op::Write, 5);
    let old = place(device, 5);
    let half = Request { sectors: 2, ..pages(&config, Op::Write, 5, 1) };
    let operations = record(device, |device| {
        device.submit(&half).expect("the device works");
    });
    assert_eq!(
        operations,
        [
            Operation::Read(old, Cause::ReadModifyWrite),
            Operation::Program(place(device, 5), Cause::Host),
        ]
    );
}

#[test]
fn a_read_of_an_unwritten_page_costs_one_read_or_nothing() {
    for scheme in ["ideal_page", "dftl", "fast"] {
        for (mode, reads) in [("charge_read", 1), ("zero_free", 0)] {
            let mut pairs = LATENCIES.to_vec();
            pairs.push(("io.unwritten_read", mode));
            let config = tiny(scheme, 24, &pairs);
            let mut device = open(scheme, &config);
            submit(device.as_mut(), &config, Op::Read, 3);
            let meter = device.board().meter();
            assert_eq!(meter.events(Event::UnwrittenReads), 1, "{scheme}, {mode}");
            assert_eq!(meter.reads(Cause::Host), reads, "{scheme}, {mode}");
            let all = meter.total_reads();
            assert_eq!(all - reads, u64::from(scheme == "dftl"), "one load of the map entry");
            assert_eq!(device.idle_from(), CONTROLLER + all * (READ + TRANSFER), "{scheme}");
        }
    }
}

/// Planes of the places of these pages, written in this order at the same moment.
fn planes(order: &str, written: [u32; 8]) -> [u32; 8] {
    let pairs = [
        ("device.channels", "2"),
        ("device.dies", "2"),
        ("device.planes", "2"),
        ("timing.profile", "parallel"),
        ("alloc.order", order),
    ];
    let config = tiny("ideal_page", 64, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    written.map(|page| {
        submit(device, &config, Op::Write, u64::from(page));
        device.board().geometry().plane_of(place(device, page)).0
    })
}

/// Planes are numbered 4 * channel + 2 * die + plane; the first word of an order varies fastest.
#[test]
fn static_orders_place_pages_by_number_and_the_dynamic_one_by_load() {
    let orders = [
        ("channel_die_plane", [0, 4, 2, 6, 1, 5, 3, 7]),
        ("channel_plane_die", [0, 4, 1, 5, 2, 6, 3, 7]),
        ("die_channel_plane", [0, 2, 4, 6, 1, 3, 5, 7]),
        ("die_plane_channel", [0, 2, 1, 3, 4, 6, 5, 7]),
        ("plane_channel_die", [0, 1, 4, 5, 2, 3, 6, 7]),
        ("plane_die_channel", [0, 1, 2, 3, 4, 5, 6, 7]),
    ];
    let next_eight = [8, 9, 10, 11, 12, 13, 14, 15];
    let of_plane_0 = [0, 8, 16, 24, 32, 40, 48, 56];
    for (order, expected) in orders {
        assert_eq!(planes(order, next_eight), expected, "{order}");
        assert_eq!(planes(order, of_plane_0), [0; 8], "{order}");
    }
    // The four dies in turn, then their second planes, which are as busy and hold nothing yet.
    for written in [next_eight, of_plane_0] {
        assert_eq!(planes("dynamic", written), [0, 2, 4, 6, 1, 3, 5, 7]);
    }
}

#[test]
fn bug_compatible_merges_spend_a_program_on_a_trimmed_page_and_then_copy_the_waste() {
    let run = |compat: &str| {
        let pairs = [("fast.log_blocks", "2"), ("fast.bug_compat", compat)];
        let config = tiny("fast", 24, &pairs);
        let mut device = open_as::<Fast>(&config, 1).expect("legal");
        device.verify_reads();
        fill(&mut device, &config);
        submit(&mut device, &config, Op::Trim, 2);
        // The random log block fills with rewrites of page 1; the fifth merges logical block 0.
        let mut merged = Vec::new();
        // The write that finds the log full goes there too, after the merge.
        for writes in [4, 3] {
            for _ in 0..writes {
                submit(&mut device, &config, Op::Write, 1);
            }
            merged.push(record(&mut device, |device| submit(device, &config, Op::Write, 1)));
        }
        for page in 0..4 {
            submit(&mut device, &config, Op::Read, page);
        }
        device.audit().expect("the audit passes");
        let merge = |operations: &[Operation], program: bool| {
            let of = |operation: &&Operation| match operation {
                Operation::Read(_, cause) => !program && *cause == Cause::Merge,
                Operation::Program(_, cause) => program && *cause == Cause::Merge,
                Operation::Erase(..) => false,
            };
            operations.iter().filter(of).count()
        };
        [0, 1].map(|turn| (merge(&merged[turn], false), merge(&merged[turn], true)))
    };
    assert_eq!(run("false"), [(3, 3), (3, 3)], "pages 0, 1 and 3, each time");
    assert_eq!(
        run("true"),
        [(3, 4), (4, 4)],
        "and a page for what was page 2; then that is copied"
    );
}

/// The mistake is in merges of shared log blocks alone: row 6 of
/// `docs/papers/others.md#fast` has none.
#[test]
fn bug_compatible_merges_of_the_sequential_block_waste_nothing() {
    let run = |compat: &str| {
        let config = tiny("fast", 24, &[("fast.log_blocks", "2"), ("fast.bug_compat", compat)]);
        let mut device = open_as::<Fast>(&config, 1).expect("legal");
        (0..4).for_each(|page| submit(&mut device, &config, Op::Write, page));
        submit(&mut device, &config, Op::Trim, 3);
        (0..2).for_each(|page| submit(&mut device, &config, Op::Write, page));
        record(&mut device, |device| submit(device, &config, Op::Write, 1)).len()
    };
    assert_eq!(run("false"), run("true"));
}

/// Two pages overwritten and one trimmed; then a victim whose pages move without marks.
#[test]
fn marks_of_superseded_pages_are_counted_and_take_their_time_after_the_newer_version() {
    let run = |profile: &str, mark: &str| {
        let pairs = [
            ("timing.profile", profile),
            ("timing.oob_write", mark),
            ("timing.read", "50us"),
            ("timing.program", "200us"),
            ("timing.page_transfer", "120us"),
        ];
        let config = tiny("ideal_page", 24, &pairs);
        let mut device = open("ideal_page", &config);
        let device = device.as_mut();
        fill(device, &config);
        device.start_measuring();
        submit(device, &config, Op::Write, 3);
        let overwritten = device.idle_from();
        // Before the newer version is there nobody waits for a mark: the die is idle until 120 us.
        let read = Request { arrival: 1, ..pages(&config, Op::Read, 9, 1) };
        let read = device.submit(&read).expect("works");
        submit(device, &config, Op::Write, 4);
        submit(device, &config, Op::Trim, 5);
        assert_eq!(device.board().nand().oob_writes(), 3);
        (device.board().nand().clock().service_time().program, overwritten, read.device())
    };
    for profile in ["serial", "parallel"] {
        let (free, charged) = (run(profile, "0ns"), run(profile, "7us"));
        assert_eq!(charged.0 - free.0, 3 * 7_000, "{profile}");
        assert_eq!((free.1, charged.1), (320_000, 327_000), "{profile}");
        if profile == "parallel" {
            assert_eq!(charged.2, free.2, "the read goes before the program and its mark");
        }
    }
    let config = tiny("ideal_page", 24, &[("timing.oob_write", "7us")]);
    let mut device = open("ideal_page", &config);
    fill(device.as_mut(), &config);
    device.start_measuring();
    let mut rng = Rng::new(5, Purpose::Workload);
    for _ in 0..3000 {
        let page = u64::from(rng.below(config.device.logical_pages() as u32));
        submit(device.as_mut(), &config, Op::Write, page);
    }
    assert!(device.board().meter().programs(Cause::Gc) > 1000);
    assert_eq!(device.board().nand().oob_writes(), 3000, "moved pages go with their block");
}

#[test]
fn searches_cost_a_step_per_candidate_or_one_each_or_nothing() {
    for profile in ["serial", "parallel"] {
        let run = |scheme: &str, model: &str| {
            let pairs = [
                ("timing.profile", profile),
                ("search.model", model),
                ("search.step_time", "11ns"),
                ("dftl.cmt_entries", "16"),
                ("dftl.checkpoint_interval", "0"),
                ("fast.log_blocks", "5"),
                ("fast.victim", "greedy"),
            ];
            let config = tiny(scheme, 24, &pairs);
            let mut device = open(scheme, &config);
            for request in mixed(&config, 2000, 9) {
                device.submit(&request).expect("the device works");
            }
            let meter = device.board().meter();
            let steps = [Event::VictimSearchSteps, Event::CacheSearchSteps]
                .map(|event| meter.events(event));
            let operations = (meter.total_reads(), meter.total_programs(), meter.total_erases());
            let search = device.board().nand().clock().service_time().search;
            (
                steps,
                search,
                operations,
                device.idle_from(),
                meter.events(Event::EvictClean) + meter.events(Event::EvictDirty),
            )
        };
        for scheme in ["ideal_page", "dftl", "fast"] {
            let (none, scan, list) =
                (run(scheme, "none"), run(scheme, "scan"), run(scheme, "list"));
            let sum = |steps: [u64; 2]| steps[0] + steps[1];
            assert_eq!(none.0, scan.0, "{scheme}: the same candidates, charged or not");
            assert_eq!((none.1, scan.1, list.1), (0, sum(scan.0) * 11, sum(list.0) * 11));
            assert_eq!(none.2, scan.2, "{scheme}: time changes no operation");
            assert!(
                list.0[0] > 0 && list.0[0] < scan.0[0],
                "{scheme}: several candidates a search"
            );
            // Beside the flash a search can hide; before a single server it cannot.
            assert!(none.3 <= list.3 && list.3 <= scan.3, "{scheme} {profile}");
            if profile == "serial" {
                assert_eq!((list.3 - none.3, scan.3 - none.3), (list.1, scan.1), "{scheme}");
            }
            // A full cache of sixteen entries is searched for every eviction.
            assert_eq!((scan.0[1], list.0[1]), (16 * scan.4, scan.4), "{scheme}");
        }
    }
}

/// The order of the list is its own; a group that can be set must not be missing from it.
#[test]
fn every_group_that_can_be_set_is_listed() {
    let mut config = Config::default();
    let names = |groups: Vec<&'static str>| groups.into_iter().collect::<BTreeSet<_>>();
    let listed = names(config.groups().iter().map(|group| group.name()).collect());
    let settable = names(config.groups_mut().iter().map(|group| group.name()).collect());
    assert_eq!(listed, settable);
    assert!(listed.contains("device") && listed.contains("bplru") && listed.contains("dftl"));
}
