//! What crosses the link for a host that has the map, beside its copies: trims, records of them,
//! resets, finishes, and the rest of pages that are written in part.

use crate::common::{open, pages, submit, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

type Pairs<'a> = &'a [(&'a str, &'a str)];

const COMMAND: Nanos = 3_000;
const COMMANDS: (&str, &str) = ("host.command_overhead", "3us");
const PROGRAM: Nanos = 405_900;
const ERASE: Nanos = 1_500_000;

fn opened(pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny("zns", 24, pairs);
    let device = open("zns", &config);
    (config, device)
}

/// How long the device takes over a request.
fn takes(device: &mut dyn Device, request: &Request) -> Nanos {
    device.submit(request).expect("the device works").device()
}

/// Zones that the workload writes are reset by its trims: one command, and the erase.
#[test]
fn a_reset_is_one_command() {
    let (config, mut device) = opened(&[("zns.mode", "raw"), COMMANDS]);
    (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let trim = pages(&config, Op::Trim, 0, 4);
    assert_eq!(takes(device.as_mut(), &trim), COMMAND + ERASE);
    // What is not written is not reset.
    assert_eq!(takes(device.as_mut(), &pages(&config, Op::Trim, 8, 4)), 0);
}

/// A trim of a log's is the host's, and takes the drive nothing. The record of it is a page that
/// the host appends: a command with its data, beside that of the flush.
#[test]
fn the_record_of_a_trim_crosses_the_link() {
    let (config, mut device) = opened(&[COMMANDS, ("host.link_bandwidth", "10MB")]);
    let device = device.as_mut();
    (0..4).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(takes(device, &pages(&config, Op::Trim, 2, 1)), 0);
    assert_eq!(device.board().meter().events(Event::LogLinkBytes), 0);
    let flush = Request { sectors: 0, ..pages(&config, Op::Flush, 0, 1) };
    assert_eq!(takes(device, &flush), COMMAND + (COMMAND + 51_200) + PROGRAM);
    assert_eq!(device.board().meter().events(Event::LogLinkBytes), 512);
}

/// The host asks for the old page while the die is still at work: that command is over when the
/// page can be read, and only the one that sends the rest back comes behind the read.
#[test]
fn the_host_asks_before_it_reads() {
    let pairs = [
        ("device.page_bytes", "2048"),
        ("io.partial_write", "rmw"),
        ("timing.profile", "parallel"),
        ("host.queue_depth", "4"),
    ];
    let ends = |pairs: Pairs<'_>| {
        let (config, mut device) = opened(pairs);
        let whole = pages(&config, Op::Write, 0, 1);
        device.submit(&whole).expect("the device works");
        let part = Request { sectors: 1, ..whole };
        let done = device.submit(&part).expect("the device works").completed;
        assert!(device.board().meter().events(Event::LogLinkBytes) > 0);
        done
    };
    let free = ends(&pairs);
    let slow = ends(&[&pairs[..], &[COMMANDS]].concat());
    // The first write's command, and the one behind the read.
    assert_eq!(slow - free, 2 * COMMAND);
}

/// A zone that is finished takes a command, and the pages that it lacks.
#[test]
fn a_finish_is_a_command() {
    let recovers = |pairs: Pairs<'_>| {
        let finish = [("zns.after_cut", "finish")];
        let (config, mut device) = opened(&[&finish[..], pairs].concat());
        submit(device.as_mut(), &config, Op::Write, 0);
        let took = device.power_cycle().expect("it recovers");
        assert_eq!(device.board().meter().events(Event::ZoneFinishes), 1);
        took
    };
    assert_eq!(recovers(&[COMMANDS]) - recovers(&[]), COMMAND);
}
