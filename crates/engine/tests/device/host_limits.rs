//! Limits of the host path: what a link may cost, who waits how long, what goes wrong in order.

use crate::common::driving::{Load, drive};
use crate::common::{config, open, pages, size, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::host::{Driver, SchedulerKind};
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::{Device, DeviceError};

/// Thirty-two dies with reads of three lengths, like a TLC drive, 64 requests in flight.
fn drive_like(pairs: &[(&str, &str)]) -> Config {
    let common = [
        ("timing.profile", "parallel"),
        ("device.channels", "8"),
        ("device.dies", "4"),
        ("device.page_bytes", "4KiB"),
        ("timing.read_pages", "56us,77us,106us"),
        ("timing.program", "800us"),
        ("timing.page_transfer", "5us"),
        ("host.queue_depth", "64"),
    ];
    let mut config = config(&[&common[..], pairs].concat());
    size("ideal_page", &mut config, 300);
    config
}

/// Requests per second and mean response, ns, of random single pages with 64 in flight; and the
/// share of the run that its end takes, from the last arrival on.
fn saturated(pairs: &[(&str, &str)], writes: u32) -> (f64, f64, f64) {
    let config = drive_like(pairs);
    let mut device = open("ideal_page", &config);
    let count = 8_000;
    let fill: Vec<Request> = (0..count).map(|page| pages(&config, Op::Write, page, 1)).collect();
    drive(device.as_mut(), &fill, Load::Closed(64));
    device.start_measuring();
    let mut rng = Rng::new(3, Purpose::Workload);
    let requests: Vec<Request> = (0..30_000)
        .map(|_| {
            let op = if rng.below(100) < writes { Op::Write } else { Op::Read };
            pages(&config, op, u64::from(rng.below(count as u32)), 1)
        })
        .collect();
    let done = drive(device.as_mut(), &requests, Load::Closed(64));
    let span = done.iter().map(|(_, completion)| completion.completed).max().unwrap() as f64;
    let system = &device.board().meter().latency().all()[0];
    let mean = system.sum() as f64 / system.count() as f64;
    let last = done.iter().map(|(_, completion)| completion.arrival).max().unwrap() as f64;
    (done.len() as f64 / span * 1e9, mean, 1.0 - last / span)
}

/// A link with room to spare costs next to nothing in throughput: 3.2 GB/s carry 700 thousand pages
/// a second, the flash reads 390 thousand at most.
#[test]
fn an_unsaturated_link_does_not_hold_up_the_device() {
    for writes in [0, 30] {
        let (free, ..) = saturated(&[], writes);
        for duplex in ["half", "full"] {
            let link = [
                ("host.link_bandwidth", "3200MB"),
                ("host.command_overhead", "100ns"),
                ("host.link_duplex", duplex),
            ];
            let (linked, ..) = saturated(&link, writes);
            assert!(linked > 0.93 * free, "{duplex}, {writes} % writes: {linked} of {free}");
        }
    }
}

/// Little's law, from two things measured apart: 64 requests are always in flight, so throughput
/// times mean response is 64, but for the end of the run.
#[test]
fn throughput_times_mean_response_is_the_number_in_flight() {
    let link = [("host.link_bandwidth", "300MB"), ("host.command_overhead", "2us")];
    for pairs in [&[][..], &link[..]] {
        let (throughput, response, end) = saturated(pairs, 30);
        let number = throughput * response / 1e9;
        assert!(end < 0.02, "a long run");
        assert!((64.0 * (1.0 - end)..=64.01).contains(&number), "{number} in flight, end {end}");
    }
}

/// The same where most of them wait in the driver, in whatever order they go.
#[test]
fn a_closed_loop_keeps_its_number_in_driver_and_device_under_every_scheduler() {
    for (_, scheduler) in SchedulerKind::ALL {
        let host = [("host.scheduler", *scheduler), ("host.queue_depth", "16")];
        let (throughput, response, end) = saturated(&host, 30);
        let number = throughput * response / 1e9;
        assert!(end < 0.02, "{scheduler}: a long run, end {end}");
        let least = 64.0 * (1.0 - end);
        assert!((least..=64.01).contains(&number), "{scheduler}: {number} in flight, end {end}");
    }
}

/// Little's law for requests that arrive by themselves: who looks at 40,000 random moments sees as
/// many requests in the system on average as the meter's throughput times its mean response, within
/// what such a sample can tell.
#[test]
fn what_is_seen_at_random_moments_is_throughput_times_mean_response() {
    for (_, scheduler) in SchedulerKind::ALL {
        let host = [("host.scheduler", *scheduler), ("host.queue_depth", "16")];
        let link = [("host.link_bandwidth", "600MB"), ("host.command_overhead", "1us")];
        let config = drive_like(&[&host[..], &link].concat());
        let mut device = open("ideal_page", &config);
        let fill: Vec<Request> = (0..4000).map(|page| pages(&config, Op::Write, page, 1)).collect();
        drive(device.as_mut(), &fill, Load::Closed(64));
        device.start_measuring();
        let mut rng = Rng::new(8, Purpose::Workload);
        let mut arrival = 0;
        let requests: Vec<Request> = (0..20_000)
            .map(|_| {
                arrival += u64::from(rng.below(80_000));
                let op = if rng.below(10) < 3 { Op::Write } else { Op::Read };
                Request { arrival, ..pages(&config, op, u64::from(rng.below(4000)), 1) }
            })
            .collect();
        let done = drive(device.as_mut(), &requests, Load::Open);
        let span = done.iter().map(|(_, completion)| completion.completed).max().unwrap();
        let system = &device.board().meter().latency().all()[0];
        let throughput = system.count() as f64 / span as f64;
        let by_law = throughput * system.sum() as f64 / system.count() as f64;
        // Seen: arrived by then, less completed by then.
        let mut arrivals: Vec<u64> = requests.iter().map(|request| request.arrival).collect();
        let mut ends: Vec<u64> = done.iter().map(|(_, completion)| completion.completed).collect();
        arrivals.sort_unstable();
        ends.sort_unstable();
        let mut seen = 0;
        let moments = 40_000;
        for _ in 0..moments {
            let moment = (u64::from(rng.below(1 << 30)) * span) >> 30;
            seen += arrivals.partition_point(|&time| time <= moment)
                - ends.partition_point(|&time| time <= moment);
        }
        let seen = seen as f64 / f64::from(moments);
        assert!((8.0..100.0).contains(&by_law), "{scheduler}: loaded, not drowned: {by_law}");
        assert!((seen / by_law - 1.0).abs() < 0.03, "{scheduler}: {seen} seen, {by_law} by law");
    }
}

/// Stream 0 has a thousand turns to one of the others and ends; the other two then share alike.
#[test]
fn what_a_stream_was_owed_beside_others_is_forgotten() {
    let pairs = [
        ("host.streams", "3"),
        ("host.arbitration", "weighted"),
        ("host.weights", "1000,1,1"),
        ("host.driver_queue_depth", "1000"),
    ];
    let config = tiny("ideal_page", 64, &pairs);
    let mut device = open("ideal_page", &config);
    let read = |unit, arrival| Request { unit, arrival, ..pages(&config, Op::Read, 3, 1) };
    let service = config.timing.read.0;
    let mut requests = vec![read(0, 0); 500];
    requests.extend(vec![read(1, 0); 600]);
    requests.extend(vec![read(2, 499 * service); 600]);
    let done = drive(device.as_mut(), &requests, Load::Open);
    let order: Vec<u32> = done.iter().map(|(request, _)| request.unit).collect();
    let end = order.iter().rposition(|&unit| unit == 0).unwrap() + 1;
    let of_two = order[end..end + 240].iter().filter(|&&unit| unit == 2).count();
    assert!((110..=130).contains(&of_two), "{of_two} of 240 turns");
}

/// A read beyond the device is a named error under every scheduler.
#[test]
fn a_request_beyond_the_device_is_named_under_every_scheduler() {
    for (_, scheduler) in SchedulerKind::ALL {
        let pairs = [("host.scheduler", *scheduler), ("timing.profile", "parallel")];
        let config = tiny("ideal_page", 24, &pairs);
        let mut device = open("ideal_page", &config);
        let mut driver = Driver::new(device.config(), None);
        let mut served =
            |_: &mut dyn Device, _: &Request, _: &Completion| Ok::<(), DeviceError>(());
        let mut send = |request: Request| driver.submit(device.as_mut(), &request, &mut served);
        let mut failed = None;
        for first_sector in [0, 1 << 40, u64::MAX - 1, 8] {
            let request = Request { first_sector, ..pages(&config, Op::Read, 0, 1) };
            failed = failed.or(send(request).err());
        }
        let failed = failed.or(driver.finish(device.as_mut(), &mut served).err());
        assert!(matches!(failed, Some(DeviceError::OutOfRange { .. })), "{scheduler}: {failed:?}");
    }
}

/// One request in the device at a time; the rest of the sectors wait together.
#[test]
fn a_flush_leaves_the_elevator_where_it_is() {
    let pairs = [("host.scheduler", "elevator"), ("host.queue_depth", "1")];
    let config = tiny("ideal_page", 64, &pairs);
    let mut device = open("ideal_page", &config);
    let read = |page, arrival| Request { arrival, ..pages(&config, Op::Read, page, 1) };
    let flush = Request { op: Op::Flush, first_sector: 0, sectors: 0, ..read(0, 1) };
    let requests = [read(60, 0), flush, read(10, 2), read(70, 3)];
    let done = drive(device.as_mut(), &requests, Load::Open);
    let order: Vec<u64> = done.iter().map(|(request, _)| request.first_sector).collect();
    assert_eq!(order, [60, 0, 70, 10], "the sweep goes on from 61");
}

/// Reads of one busy die against reads of idle ones: the oldest goes after as many as set.
#[test]
fn out_of_order_passes_the_oldest_request_no_more_often_than_set() {
    let passes = |limit: &str| {
        let pairs = [
            ("host.scheduler", "out_of_order"),
            ("host.passes_before_oldest", limit),
            ("host.queue_depth", "2"),
            ("host.driver_queue_depth", "1000"),
            ("timing.profile", "parallel"),
            ("device.channels", "4"),
            ("timing.program", "1s"),
        ];
        let config = tiny("ideal_page", 64, &pairs);
        let mut device = open("ideal_page", &config);
        for page in 0..64 {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
        }
        device.start_measuring();
        // A second of programming keeps the first channel busy; the read of its page 4 waits.
        let mut requests = vec![pages(&config, Op::Write, 0, 1), pages(&config, Op::Read, 4, 1)];
        let others = (0..300).map(|number| pages(&config, Op::Read, 1 + number % 3, 1));
        requests.extend(others);
        let done = drive(device.as_mut(), &requests, Load::Open);
        done.iter().position(|(request, _)| request.first_sector == 4).unwrap() - 1
    };
    for limit in [1, 5, 40] {
        let passed = passes(&limit.to_string());
        assert!(passed <= limit, "{passed} went before it, {limit} may");
    }
    assert!(passes("40") > 20, "it does wait for an idle die");
}

/// Two writes of somebody else fill the device when the loop begins: its first requests wait for
/// them, and no more are in flight than it keeps.
#[test]
fn a_closed_loop_can_begin_on_a_device_at_work() {
    for (_, scheduler) in SchedulerKind::ALL {
        for streams in ["1", "2"] {
            let pairs = [
                ("host.scheduler", *scheduler),
                ("host.streams", streams),
                ("host.queue_depth", "2"),
                ("timing.profile", "parallel"),
            ];
            let config = tiny("ideal_page", 24, &pairs);
            let mut device = open("ideal_page", &config);
            for page in [1, 2] {
                device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
            }
            let busy_until = device.next_slot();
            assert!(busy_until > 0, "full");
            let requests: Vec<Request> =
                (0..40).map(|page| pages(&config, Op::Read, page, 1)).collect();
            let done = drive(device.as_mut(), &requests, Load::Closed(4));
            assert_eq!(done.len(), 40, "{scheduler}");
            assert!(done.iter().all(|(_, completion)| completion.admitted >= busy_until));
            for (_, at) in &done {
                let inside = |(_, other): &&(Request, Completion)| {
                    other.arrival <= at.arrival && at.arrival < other.completed
                };
                assert!(done.iter().filter(inside).count() <= 4, "{scheduler}");
            }
        }
    }
}

/// On a half-duplex link a read's command can pass a long write's in a gap before data that are
/// booked. It then works at once: that the write is still crossing is nothing to idle dies.
#[test]
fn a_command_that_crosses_earlier_begins_earlier() {
    let config = linked_dies();
    let mut device = open("ideal_page", &config);
    for page in 0..16 {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
    }
    device.start_measuring();
    let mut serve =
        |op, page, count| device.submit(&pages(&config, op, page, count)).expect("works").stages;
    // Its data are on the link from 21 us on; no write fits before them.
    serve(Op::Read, 0, 1);
    // Crosses until 150 us and programs one of the dies until 360; the next crosses until 407.
    serve(Op::Write, 4, 1);
    serve(Op::Write, 8, 4);
    for page in [1, 2, 3] {
        let stages = serve(Op::Read, page, 1);
        assert_eq!((stages.flash, stages.channel), (10_000, 10_000), "page {page}: {stages:?}");
    }
}

/// Four dies on channels of their own whose reads may overtake, behind a link of 64 us per page.
fn linked_dies() -> Config {
    let mut config = config(&[
        ("timing.profile", "parallel"),
        ("timing.read_priority", "true"),
        ("timing.read", "10us"),
        ("timing.program", "200us"),
        ("timing.page_transfer", "10us"),
        ("timing.controller_page", "0us"),
        ("device.channels", "4"),
        ("device.page_bytes", "4KiB"),
        ("host.queue_depth", "8"),
        ("host.link_bandwidth", "64MB"),
        ("host.command_overhead", "1us"),
    ]);
    size("ideal_page", &mut config, 64);
    config
}
