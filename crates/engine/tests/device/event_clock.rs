//! The two clocks on whole devices: what must be equal is, and what an event-driven one cannot know
//! beforehand is refused.

use crate::common::{config, open, pages, size};
use ftlab_engine::config::{Config, SettingError};
use ftlab_engine::host::Driver;
use ftlab_engine::meter::Piece;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};

const EVENT: (&str, &str) = ("timing.clock", "event");

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A device with dies and channels, of `pairs` besides.
fn parallel(scheme: &str, pairs: Pairs<'_>) -> Config {
    let common = [
        ("timing.profile", "parallel"),
        ("timing.read", "50us"),
        ("timing.program", "300us"),
        ("timing.erase", "2ms"),
        ("timing.page_transfer", "10us"),
        ("timing.controller_page", "2us"),
        ("device.page_bytes", "2KiB"),
        ("device.pages_per_block", "16"),
        ("device.over_provisioning", "0.3"),
    ];
    let mut config = config(&[&common, pairs].concat());
    size(scheme, &mut config, 48);
    config
}

/// Reads and writes of one page and of several, and trims.
fn requests(config: &Config, count: usize, gap: u32, largest: u32) -> Vec<Request> {
    let logical = config.device.logical_pages();
    let mut rng = Rng::new(11, Purpose::Workload);
    let mut arrival = 0;
    let request = |_| {
        arrival += u64::from(rng.below(2 * gap.max(1)));
        let length = 1 + u64::from(rng.below(largest));
        let first = u64::from(rng.below((logical - length) as u32));
        let op = [Op::Write, Op::Read, Op::Write, Op::Read, Op::Trim][rng.below(5) as usize];
        Request { arrival, ..pages(config, op, first, length) }
    };
    (0..count).map(request).collect()
}

/// Serves all as a run does; the device, and when the last one was done.
fn served(
    scheme: &str,
    config: &Config,
    requests: &[Request],
    in_flight: Option<u32>,
) -> (Box<dyn Device>, Nanos) {
    let mut device = open(scheme, config);
    device.verify_reads();
    let mut driver = Driver::new(device.config(), in_flight);
    let mut requests = requests.to_vec();
    for chunk in requests.chunks_mut(100) {
        driver.submit_all(device.as_mut(), chunk).unwrap_or_else(|error| panic!("{error}"));
    }
    let last = driver.complete_all(device.as_mut());
    device.audit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
    (device, last)
}

fn with_event(config: &Config) -> Config {
    let mut config = config.clone();
    config.set(EVENT.0, EVENT.1).expect("legal");
    config
}

/// Why a scheme does not go with the event-driven clock; none if it does.
fn refused(scheme: &str, config: &Config) -> Option<String> {
    let (row, preset) = schemes::find(scheme).expect("a scheme of the table");
    let mut config = with_event(config);
    for (key, value) in preset {
        config.set(key, value).expect("presets are legal");
    }
    match (row.open)(&config, 1) {
        Ok(_) => None,
        Err(SettingError::Conflict(why)) => Some(why),
        Err(other) => panic!("{scheme}: {other}"),
    }
}

/// One die, one request at a time, nothing to overtake: nothing is asked for out of the order of
/// time, so that both clocks say the same of every request.
#[test]
fn with_one_die_and_one_request_at_a_time_both_clocks_say_the_same() {
    for copyback in ["false", "true"] {
        for in_flight in [None, Some(1)] {
            let pairs = [("host.queue_depth", "1"), ("timing.copyback", copyback)];
            let config = parallel("ideal_page", &pairs);
            // As many writes as there is room for: copies of a collection may pass each other.
            let count = if copyback == "true" { 4_000 } else { 600 };
            let requests = requests(&config, count, 200_000, 1);
            let (one, last) = served("ideal_page", &config, &requests, in_flight);
            let (two, ended) = served("ideal_page", &with_event(&config), &requests, in_flight);
            assert_eq!(last, ended, "copyback {copyback}, in flight {in_flight:?}");
            let [one, two] = [&one, &two].map(|device| device.board().meter());
            assert_eq!(one.counts(), two.counts());
            assert_eq!(one.latency().stages(), two.latency().stages());
            for (one, two) in one.latency().all().iter().zip(&two.latency().all()) {
                assert_eq!(one.cumulative(), two.cumulative());
                assert_eq!((one.sum(), one.range()), (two.sum(), two.range()));
            }
            assert!(one.latency().all()[0].count() > 400);
        }
    }
}

/// What the flash does follows from the order of calls, which both clocks keep, for every scheme
/// that both take and that does not ask which plane is free first: at any queue depth, whatever
/// overtakes.
#[test]
fn both_clocks_do_the_same_to_the_flash_under_every_scheme() {
    let pairs = [
        ("device.dies", "2"),
        ("device.planes", "2"),
        ("host.queue_depth", "8"),
        ("timing.suspend", "program_erase"),
        ("timing.read_priority", "true"),
    ];
    let (mut compared, mut slower) = (0, 0);
    for row in schemes::TABLE {
        let scheme = row.paper.name;
        if !crate::common::chosen(scheme) {
            continue;
        }
        let config = parallel(scheme, &pairs);
        if let Some(why) = refused(scheme, &config) {
            assert!(why.contains("timing.clock = event"), "{scheme}: {why}");
            continue;
        }
        let requests = requests(&config, 3_000, 300_000, 5);
        for in_flight in [None, Some(8)] {
            let (one, last) = served(scheme, &config, &requests, in_flight);
            let (two, ended) = served(scheme, &with_event(&config), &requests, in_flight);
            let [one, two] = [&one, &two].map(|device| device.board());
            slower += usize::from(ended != last);
            if scheme == "leaftl" {
                // Its flushes go to the plane that is free first, which the clocks do not agree
                // upon.
                let [one, two] = [one, two].map(|board| board.meter().total_programs() as f64);
                assert!((two / one - 1.0).abs() < 0.02, "{scheme}: {one} and {two} programs");
                continue;
            }
            assert_eq!(one.meter().counts(), two.meter().counts(), "{scheme}");
            assert_eq!(one.meter().host(), two.meter().host(), "{scheme}");
            let cells = [one, two].map(|board| board.nand().clock().cell_operations());
            assert_eq!(cells[0], cells[1], "{scheme}");
            let work = [one, two].map(|board| board.nand().clock().service_time());
            let kinds = work.map(|time| (time.read, time.program, time.erase, time.transfer));
            assert_eq!(kinds[0], kinds[1], "{scheme}");
            let (all, others) = two.nand().clock().operations_and_inexact();
            println!("{scheme}, {in_flight:?}: {others} of {all} operations wait for others'");
        }
        compared += 1;
    }
    assert!(compared == 0 || std::env::var("FTLAB_ONLY").is_ok() || compared > 15, "{compared}");
    assert!(compared < 15 || slower > 5, "{slower} of {compared} differ at all");
}

/// Requests of the host that come in pieces, with others under way that are whole or of other
/// pieces, are counted as the call-order clock counts them; their pieces are taken while requests
/// before them end.
#[test]
fn pieces_are_told_apart_while_others_are_under_way() {
    for in_flight in [None, Some(2), Some(8)] {
        let depth = in_flight.unwrap_or(4).to_string();
        let pairs = [("device.dies", "2"), ("host.queue_depth", depth.as_str())];
        let config = parallel("ideal_page", &pairs);
        let mut requests = requests(&config, 2_000, 60_000, 1);
        // One of three comes whole, one in two pieces, one in three.
        let mut pieces = Vec::new();
        for of in (0..).take_while(|of| 2 * of < 2_000) {
            let count = 1 + of as u32 % 3;
            pieces.extend((0..count).map(|_| (count > 1).then_some(Piece { of, pieces: count })));
        }
        requests.truncate(pieces.len());
        for index in 1..requests.len() {
            if pieces[index].is_some_and(|piece| pieces[index - 1] == Some(piece)) {
                requests[index].op = requests[index - 1].op;
            }
        }
        let counts = [config.clone(), with_event(&config)].map(|config| {
            let mut device = open("ideal_page", &config);
            let mut driver = Driver::new(device.config(), in_flight);
            for (request, piece) in requests.clone().iter_mut().zip(&pieces) {
                let taken = match piece {
                    Some(piece) => driver.submit_alone(device.as_mut(), request, *piece),
                    None => driver.submit_all(device.as_mut(), std::slice::from_mut(request)),
                };
                taken.unwrap_or_else(|error| panic!("{error}"));
            }
            driver.complete_all(device.as_mut());
            device.audit().unwrap_or_else(|error| panic!("{error}"));
            let meter = device.board().meter();
            let counted = meter.latency().all().iter().map(|all| all.count()).collect::<Vec<_>>();
            (*meter.host(), counted)
        });
        assert_eq!(counts[0], counts[1], "in flight {in_flight:?}");
        let (host, _) = &counts[1];
        assert!(host.split > 300 && host.pieces > 2 * host.split, "{host:?}");
    }
}

/// Pieces of small mapping units, buffers and links are operations like others.
#[test]
fn units_buffers_and_links_go_with_it() {
    // Mean response of event over call order, as it was measured: with arrivals of their own, and
    // four in flight. With arrivals of their own many requests wait at once behind a collection,
    // which they pass.
    let own: [(Pairs<'_>, [f64; 2]); 4] = [
        (&[("device.mapping_unit", "512")], [0.9991, 0.9969]),
        (&[("buffer.name", "lru"), ("buffer.bytes", "32KiB")], [0.7538, 0.9157]),
        (&[("host.link_bandwidth", "100MB"), ("host.command_overhead", "3us")], [0.7317, 0.8882]),
        (&[("host.link_bandwidth", "100MB"), ("host.link_duplex", "full")], [0.7613, 0.9073]),
    ];
    for (pairs, measured) in own {
        let shape = [("device.channels", "2"), ("device.dies", "2"), ("host.queue_depth", "4")];
        let config = parallel("ideal_page", &[&shape, pairs].concat());
        let requests = requests(&config, 3_000, 200_000, 6);
        for (in_flight, expected) in [None, Some(4)].into_iter().zip(measured) {
            let (one, _) = served("ideal_page", &config, &requests, in_flight);
            let (two, _) = served("ideal_page", &with_event(&config), &requests, in_flight);
            assert_eq!(one.board().meter().counts(), two.board().meter().counts(), "{pairs:?}");
            let mean = |device: &dyn Device| {
                let all = &device.board().meter().latency().all()[0];
                all.sum() as f64 / all.count() as f64
            };
            let ratio = mean(two.as_ref()) / mean(one.as_ref());
            assert!((ratio - expected).abs() < 0.002, "{pairs:?}, {in_flight:?}: {ratio:.4}");
        }
    }
}

#[test]
fn what_needs_a_moment_at_once_is_refused_with_words() {
    let refuses = |scheme: &str, pairs: Pairs<'_>, word: &str| {
        let config = parallel(scheme, pairs);
        let why = refused(scheme, &config).unwrap_or_else(|| panic!("{word} is taken"));
        assert!(why.contains(word) && why.contains("timing.clock = call_order"), "{why}");
    };
    refuses("ideal_page", &[("gc.mode", "both")], "gc.mode = both");
    refuses("ideal_page", &[("host.scheduler", "read_first")], "host.scheduler = read_first");
    refuses("ideal_page", &[("host.streams", "2")], "host.streams = 2");
    refuses("ideal_page", &[("refresh.reads", "1000")], "refresh");
    refuses("hat", &[], "phase-change memory");
    let both = [("timing.copyback", "true"), ("timing.multi_plane_program", "true")];
    refuses("ideal_page", &[&[("device.planes", "2")][..], &both].concat(), "timing.copyback");
    refuses("zns", &[("alloc.unit", "line")], "link");
    refuses("hmb", &[], "the host's memory");
    let buffer = [("buffer.name", "lru"), ("buffer.bytes", "16KiB"), ("buffer.idle_flush", "true")];
    refuses("ideal_page", &buffer, "buffer.idle_flush = true");
    let parity = [("device.dies", "4"), ("alloc.unit", "line"), ("rain.stripe", "4")];
    refuses("ideal_page", &parity, "rain.stripe = 4");
    let mut serial = parallel("ideal_page", &[("timing.profile", "serial")]);
    serial.set(EVENT.0, EVENT.1).expect("legal by itself");
    let why = serial.check().expect_err("one server has no queue of its own").to_string();
    assert!(why.contains("timing.clock = event needs timing.profile = parallel"), "{why}");
}

/// The power goes while requests are under way: what both find again is the same, and the
/// event-driven recovery, whose reads wait in queues, takes as long as the other within a few
/// percent.
#[test]
fn recoveries_take_as_long_by_both_clocks() {
    for scheme in ["ideal_page", "dftl", "fast", "bast", "tpftl", "lazyftl"] {
        let pairs = [("device.planes", "2"), ("device.channels", "2"), ("host.queue_depth", "8")];
        let config = parallel(scheme, &pairs);
        let requests = requests(&config, 1_500, 50_000, 4);
        let recovered = |config: &Config| {
            let (mut device, _) = served(scheme, config, &requests, Some(8));
            let nanos = device.power_cycle().unwrap_or_else(|error| panic!("{scheme}: {error}"));
            device.audit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
            let pages =
                (0..config.device.logical_pages()).map(|page| device.locate(Lpn(page as u32)));
            (nanos, pages.collect::<Vec<_>>())
        };
        let (one, places) = recovered(&config);
        let (two, found) = recovered(&with_event(&config));
        assert_eq!(places, found, "{scheme}");
        let ratio = two as f64 / one as f64;
        assert!((0.95..1.05).contains(&ratio), "{scheme}: {two} ns, by the other clock {one}");
    }
}

/// A single request is that of a host that waits for it, also after others that were not waited
/// for.
#[test]
fn a_single_request_is_waited_for() {
    let config = with_event(&parallel("ideal_page", &[("device.dies", "2")]));
    let mut device = open("ideal_page", &config);
    let mut driver = Driver::new(device.config(), Some(32));
    let mut writes: Vec<_> = (0..40).map(|page| pages(&config, Op::Write, page, 1)).collect();
    driver.submit_all(device.as_mut(), &mut writes).expect("it works");
    let read = Request { arrival: device.next_slot(), ..pages(&config, Op::Read, 3, 1) };
    let done = device.submit(&read).expect("it works");
    assert!(done.completed >= done.admitted + 60_000 && done.stages.total() == done.system());
    let last = driver.complete_all(device.as_mut());
    assert!(last >= 300_000 && device.board().meter().host().completed == 41);
    device.start_measuring();
    assert_eq!(device.next_slot(), 0, "measuring begins when all is done");
    // With every slot taken a request that arrives now waits for the first that is free.
    let mut writes: Vec<_> = (0..32).map(|page| pages(&config, Op::Write, page, 1)).collect();
    driver = Driver::new(device.config(), Some(32));
    driver.submit_all(device.as_mut(), &mut writes).expect("it works");
    let read = Request { arrival: device.next_slot(), ..pages(&config, Op::Read, 3, 1) };
    let done = device.submit(&read).expect("it works");
    // The first page is through the controller, over the channel, and programmed.
    assert_eq!((done.arrival, done.admitted), (0, 2_000 + 10_000 + 300_000));
}
