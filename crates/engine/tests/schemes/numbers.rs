//! What every scheme does with each of its variants in one workload, counted and timed: operations
//! by cause, erases by role, events, response times, where pages lie, what a recovery costs. That
//! these numbers are right, the worked examples say; here it is seen when one moves that nobody
//! meant to move.

use crate::common::variants::{self, Variant};
use crate::common::{LATENCIES, chosen, mixed_contents, open, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{BlockRole, Cause, Event, LatencyStatistics, Level, Meter};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;
use std::fmt::Write;

/// Logical blocks of the devices, and requests before and behind a power cut.
const BLOCKS: u64 = 24;
const REQUESTS: [usize; 2] = [900, 300];
/// Beside each variant's own settings: whatever costs time does, and two planes work side by side.
const DEVICE: [(&str, &str); 5] = [
    ("device.page_bytes", "1024"),
    ("timing.dram_access", "1ns"),
    ("timing.oob_read", "13ns"),
    ("timing.profile", "parallel"),
    ("device.planes", "2"),
];

fn prepared(variant: &Variant) -> (Config, Box<dyn Device>) {
    let pairs = [&LATENCIES, &DEVICE[..], variant.pairs].concat();
    let config = tiny(variant.scheme, BLOCKS, &pairs);
    let mut device = open(variant.scheme, &config);
    device.verify_reads();
    (config, device)
}

/// Requests close behind each other, with a gap now and then in which the device is idle; the sum
/// of the free blocks that it says it has behind each of them.
fn drive(device: &mut dyn Device, requests: &[Request]) -> u64 {
    let mut free = 0;
    for (number, request) in requests.iter().enumerate() {
        let gap = if number % 40 == 39 { 5_000_000 } else { 300 };
        let arrival = device.next_slot().max(device.idle_from()) + gap;
        // Now and then the last page in part.
        let whole = number % 7 > 0 || request.op == Op::Trim || request.sectors < 2;
        let sectors = request.sectors - u32::from(!whole);
        let request = Request { arrival, sectors, ..*request };
        device.submit(&request).unwrap_or_else(|why| panic!("{request:?}: {why}"));
        free += u64::from(device.room().free_blocks);
    }
    device.audit().expect("sound");
    free
}

/// What is not 0, by name.
fn told<'a>(line: &mut String, title: &str, all: impl Iterator<Item = (&'a str, u64)>) {
    let mut named = all.filter(|&(_, count)| count > 0).peekable();
    if named.peek().is_some() {
        write!(line, "; {title}").expect("a string grows");
    }
    named.for_each(|(name, count)| write!(line, " {name} {count}").expect("a string grows"));
}

fn counted(line: &mut String, meter: &Meter) {
    let causes = |count: fn(&Meter, Cause) -> u64| {
        Cause::ALL.iter().map(move |&cause| (cause.name(), count(meter, cause)))
    };
    told(line, "reads", causes(Meter::reads));
    told(line, "programs", causes(Meter::programs));
    told(line, "erases", causes(Meter::erases_by_cause));
    told(line, "of", BlockRole::ALL.iter().map(|&role| (role.name(), meter.erases(role))));
    let merges = meter.merges();
    let kinds = [("switch", merges.switch), ("partial", merges.partial), ("full", merges.full)];
    told(line, "merges", kinds.into_iter());
    told(line, "events", Event::ALL.iter().map(|&event| (event.name(), meter.events(event))));
    let level = |&level: &Level| (level.name(), meter.level_now(level).unwrap_or(0));
    told(line, "levels", Level::ALL.iter().map(level));
}

/// Sums of response times, and a number that differs where any page lies elsewhere.
fn timed(line: &mut String, device: &dyn Device) {
    let sum = |all: &[LatencyStatistics]| all.iter().map(LatencyStatistics::sum).sum::<u128>();
    let latency = device.board().meter().latency();
    let [reads, writes] = [sum(latency.read()), sum(latency.write())];
    write!(line, "; reads {reads} ns, writes {writes} ns").expect("a string grows");
    let mut places = 0_u64;
    for page in 0..device.board().geometry().logical_pages {
        let place = match device.locate(Lpn(page)) {
            Location::Nowhere => 0,
            Location::Ram(tag) => 1 + u64::from(tag.0),
            Location::Flash(ppn) => (1 << 40) + u64::from(ppn.0),
        };
        places = (places ^ place).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    }
    write!(line, "; places {places:x}").expect("a string grows");
}

/// Up to a power cut in full; behind it what it took to find everything again, and sums; what
/// writing changed entries of the map back comes to.
fn numbers(variant: &Variant) -> String {
    let (config, mut device) = prepared(variant);
    let device = device.as_mut();
    let requests = mixed_contents(&config, REQUESTS.iter().sum(), 7);
    let (before, behind) = requests.split_at(REQUESTS[0]);
    let mut line = variant.scheme.to_owned();
    let pair = |(key, value): &(&str, &str)| format!(" {key}={value}");
    line.extend(variant.pairs.iter().map(pair));
    let free = drive(device, before);
    counted(&mut line, device.board().meter());
    write!(line, "; free blocks {free}").expect("a string grows");
    timed(&mut line, device);
    match device.power_cycle() {
        Ok(time) => write!(line, "\n    found again in {time} ns").expect("a string grows"),
        Err(error) => panic!("{line}: {error}"),
    }
    let free = drive(device, behind);
    write!(line, "; free blocks {free}").expect("a string grows");
    let meter = device.board().meter();
    let all = [meter.total_reads(), meter.total_programs(), meter.total_erases()];
    write!(line, "; reads, programs, erases {all:?}").expect("a string grows");
    told(
        &mut line,
        "recovery",
        [
            ("reads", meter.reads(Cause::Recover)),
            ("programs", meter.programs(Cause::Recover)),
            ("of spare areas", meter.oob_reads()),
        ]
        .into_iter(),
    );
    timed(&mut line, device);
    write!(line, "\n    {} entries changed", device.changed_entries()).expect("a string grows");
    let (row, _) = schemes::find(variant.scheme).expect("it is there");
    match (row.uncleanable)(&config) {
        Some(why) => write!(line, ", and stay: {why}").expect("a string grows"),
        None => {
            let written = device.clean_caches().expect("the device works");
            let left = device.changed_entries();
            write!(line, ", {written} written, {left} left").expect("a string grows");
        }
    }
    timed(&mut line, device);
    device.audit().expect("sound");
    line
}

#[test]
fn every_scheme_does_what_it_did() {
    for row in schemes::TABLE {
        let name = row.paper.name;
        if !chosen(name) {
            continue;
        }
        let plain = Variant { scheme: name, pairs: &[], durable: false };
        let is_its = |variant: &&Variant| variant.scheme.split(':').next() == Some(name);
        let mut lines = vec![numbers(&plain)];
        lines.extend(variants::all().filter(is_its).map(numbers));
        insta::assert_snapshot!(format!("numbers_{name}"), lines.join("\n"));
    }
}
