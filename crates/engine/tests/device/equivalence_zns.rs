//! A host's log on zones beside the page FTL on lines: the flash sees the same; what differs is who
//! copies, and what crosses the link for that.

use crate::common::outcome::{Outcome, mix, random, run, sequential, streams};
use crate::common::{config, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes;

type Pairs<'a> = &'a [(&'a str, &'a str)];

const LINE: (&str, &str) = ("alloc.unit", "line");
const IN_DEVICE: (&str, &str) = ("zns.copy_in_device", "true");
const BLOCKS: u64 = 48;

const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("device.channels", "4"), ("timing.profile", "parallel")],
    &[("device.channels", "2"), ("device.dies", "2"), ("gc.separate_frontiers", "true")],
    &[("device.planes", "2"), ("gc.victim", "cost_benefit_age"), ("gc.threshold", "3")],
    &[("device.channels", "2"), ("gc.victim", "fifo"), ("wear.policy", "dynamic")],
    &[("device.page_bytes", "2048"), ("device.mapping_unit", "1024"), ("io.partial_write", "rmw")],
    &[("device.dies", "2"), ("gc.placement", "sepbit"), ("nand.enforce_order", "strict")],
    &[("device.channels", "2"), ("gc.mode", "both"), ("gc.idle_pages", "2")],
    &[
        ("device.channels", "2"),
        ("nand.factory_bad_rate", "0.05"),
        ("device.over_provisioning", "2x"),
    ],
    &[
        ("device.channels", "2"),
        ("nand.program_failure_rate", "0.003"),
        ("nand.erase_failure_rate", "0.003"),
        ("device.over_provisioning", "4x"),
    ],
];

/// What only one of the two counts: its memory, its resets and closed zones, what the host copies.
const OWN: [Event; 5] = [
    Event::DramAccesses,
    Event::ZoneResets,
    Event::ZoneCloses,
    Event::HostCopies,
    Event::LogLinkBytes,
];

fn lined(device: Pairs<'_>) -> Vec<(&'static str, &'static str)> {
    let own = |(key, value): &(&str, &str)| {
        (&*key.to_string().leak(), &*value.to_string().leak()) as (&'static str, &'static str)
    };
    device.iter().map(own).chain([LINE]).collect()
}

fn both(
    device: Pairs<'_>,
    zoned: Pairs<'_>,
    requests: fn(&Config) -> Vec<Request>,
) -> [Outcome; 2] {
    let lines = lined(device);
    let like = tiny("ideal_page", BLOCKS, &lines);
    let page = run(("ideal_page", &lines), &like, requests);
    let zones = [device, zoned].concat();
    [page, run(("zns", &zones), &like, requests)]
}

fn event(outcome: &Outcome, event: Event) -> u64 {
    outcome.events[event as usize]
}

/// One class, zones that are lines, copies in the drive: operation by operation the page FTL on
/// lines, at the same times.
#[test]
fn zones_that_the_drive_copies_are_lines_of_the_page_ftl() {
    for device in DEVICES {
        for requests in [random, sequential, streams, mix] {
            let mut two = both(device, &[IN_DEVICE], requests);
            let erases: u64 = two[1].erases.iter().sum();
            assert!(erases > 100, "{device:?}: {erases} erases");
            assert_eq!(event(&two[1], Event::HostCopies), 0);
            for one in &mut two {
                OWN.iter().for_each(|&event| one.events[event as usize] = 0);
            }
            assert!(two[0].operations == two[1].operations, "{device:?}: operations");
            two.iter_mut().for_each(|one| one.operations.clear());
            assert_eq!(two[0], two[1], "{device:?}");
        }
    }
}

/// Where the host copies the flash sees the same: reads, programs, erases. Each page goes over the
/// link and back, which takes time where the link does.
#[test]
fn what_the_host_copies_crosses_the_link_twice() {
    let links: [Pairs<'_>; 2] = [
        &[("host.link_bandwidth", "10MB"), ("host.command_overhead", "3us")],
        &[("host.link_bandwidth", "10MB"), ("host.link_duplex", "full")],
    ];
    for device in DEVICES {
        let free = both(device, &[], mix);
        assert!(free[0].operations == free[1].operations, "{device:?}: a link that takes no time");
        for link in links {
            let slow = [*device, link].concat();
            let [page, zones] = both(&slow, &[], mix);
            let [.., inside] = both(&slow, &[IN_DEVICE], mix);
            // Which gaps are long enough for collection depends on time.
            if !device.contains(&("gc.mode", "both")) {
                assert!(page.operations == zones.operations, "{slow:?}");
                assert!(inside.operations == zones.operations, "{slow:?}");
            }
            let copies = event(&zones, Event::HostCopies);
            let has_room = device.iter().any(|(key, _)| *key == "device.over_provisioning");
            assert!(copies > 500 || has_room, "{slow:?}: {copies} copies");
            // Copies of records of trims among them.
            let moved = [Cause::Gc, Cause::GcMapBlock].map(|cause| zones.programs[cause as usize]);
            assert_eq!(copies, moved.iter().sum::<u64>(), "{slow:?}");
            assert!(event(&zones, Event::LogLinkBytes) >= 2 * 512 * copies);
            let total = |outcome: &Outcome| outcome.times.iter().sum::<u64>();
            assert!(copies == 0 || total(&zones) > total(&inside), "{slow:?}");
        }
    }
}

/// In the serial profile nothing overlaps: each copy takes two commands and twice its data longer,
/// each reset a command.
#[test]
fn copies_and_resets_take_as_long_as_the_link_does() {
    let link = [("host.link_bandwidth", "10MB"), ("host.command_overhead", "3us")];
    let writes = |config: &Config| -> Vec<Request> {
        let all = random(config);
        assert!(all.iter().all(|request| request.op == Op::Write));
        all
    };
    let [page, zones] = both(&link, &[], writes as fn(&Config) -> Vec<Request>);
    let total = |outcome: &Outcome| outcome.times.iter().sum::<u64>();
    let copies = event(&zones, Event::HostCopies);
    let resets = event(&zones, Event::ZoneResets);
    let data = 512 * 100;
    assert!(copies > 500 && resets > 100);
    assert_eq!(total(&zones) - total(&page), copies * (2 * 3000 + 2 * data) + resets * 3000);
}

/// What cannot be is said before anything is written.
#[test]
fn what_does_not_go_with_zones_is_refused() {
    let cases: [(Pairs<'_>, &str); 10] = [
        (
            &[("gc.placement", "hint"), ("placement.handles", "15"), ("zns.max_active", "14")],
            "16 classes of data and the records of trims write 17 zones at once, and zns.max_active = 14",
        ),
        (&[("zns.max_active", "1"), ("zns.max_open", "1")], "write 2 zones at once"),
        (&[("zns.max_open", "15")], "zns.max_open = 15 is more than zns.max_active = 14"),
        (&[("device.channels", "4"), ("zns.width", "3")], "zns.width = 3 does not divide the 4"),
        (&[("zns.width", "2")], "zns.width = 2 does not divide the 1 channels"),
        (&[("refresh.reads", "5")], "refresh.reads = 5"),
        (&[("timing.copyback", "true")], "timing.copyback = true is of copies within a plane"),
        (&[("rain.stripe", "4"), LINE, ("device.channels", "4")], "rain.stripe = 4"),
        (&[("wear.policy", "static")], "zones are lines (alloc.unit = line)"),
        (&[("buffer.name", "lru")], "buffer.name = lru (--buffer) must be none"),
    ];
    let (row, _) = schemes::find("zns").expect("in the table");
    for (pairs, expected) in cases {
        let error = (row.check)(&config(pairs)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{pairs:?}: {error}");
    }
}
