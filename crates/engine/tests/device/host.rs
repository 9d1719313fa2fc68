//! The host path: order under every scheduler, shares, time by stage, the link.

use crate::common::driving::{Load, arriving, drive, drive_and_ask, number, ordered};
use crate::common::{config, open, pages, size, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::host::{Driver, SchedulerKind};
use ftlab_engine::meter::Piece;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};

const PARALLEL: [(&str, &str); 5] = [
    ("timing.profile", "parallel"),
    ("device.channels", "2"),
    ("device.dies", "2"),
    ("timing.page_transfer", "20us"),
    ("timing.controller_page", "3us"),
];

const LINK: [(&str, &str); 2] = [("host.link_bandwidth", "40MB"), ("host.command_overhead", "5us")];

/// Ways to set up the host, for tests that hold under all of them.
fn hosts() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all = Vec::new();
    for (_, scheduler) in SchedulerKind::ALL {
        for (streams, arbitration) in [("1", "fifo"), ("3", "round_robin"), ("2", "weighted")] {
            all.push(vec![
                ("host.scheduler", *scheduler),
                ("host.streams", streams),
                ("host.arbitration", arbitration),
                ("host.driver_queue_depth", "12"),
                ("host.reads_before_write", "3"),
            ]);
        }
    }
    all
}

#[test]
fn overlapping_requests_keep_their_order_and_every_read_is_right_under_every_scheduler() {
    for scheme in ["ideal_page", "dftl", "fast"] {
        for host in hosts() {
            for load in [Load::Open, Load::Closed(24)] {
                let pairs = [&host[..], &PARALLEL, &[("host.queue_depth", "3")]].concat();
                let config = tiny(scheme, 24, &pairs);
                let mut device = open(scheme, &config);
                device.verify_reads();
                let requests = arriving(&config, 1500, 300_000, 7);
                let done = drive(device.as_mut(), &requests, load);
                let at = format!("{scheme} {host:?}");
                // Everything is served, once.
                let mut place = vec![None; requests.len()];
                for (index, (request, _)) in done.iter().enumerate() {
                    assert_eq!(place[number(request)].replace(index), None, "{at}: served twice");
                }
                assert_eq!(done.len(), requests.len(), "{at}");
                assert_eq!(device.board().meter().host().completed, requests.len() as u64, "{at}");
                for (later, two) in requests.iter().enumerate() {
                    for (earlier, one) in requests.iter().enumerate().take(later) {
                        let kept = place[earlier] < place[later];
                        assert!(kept || !ordered(one, two), "{at}: {two:?} passed {one:?}");
                    }
                }
                assert!(device.verified_reads() > 500, "{at}");
                device.audit().unwrap_or_else(|error| panic!("{at}: {error}"));
            }
        }
    }
}

/// Requests that are there and not admitted, counted at every arrival: under every scheduler and
/// arbitration the driver says the same, whether its own queue holds them or not.
#[test]
fn the_longest_queue_is_the_most_requests_that_wait_at_once() {
    for (clock, slots) in [(&PARALLEL[..], "3"), (&[("timing.profile", "serial")], "4")] {
        for host in hosts() {
            for (gap, load) in
                [(2_000_000, Load::Open), (150_000, Load::Open), (0, Load::Closed(24))]
            {
                let pairs = [&host[..], clock, &[("host.queue_depth", slots)]].concat();
                let config = tiny("ideal_page", 24, &pairs);
                let mut device = open("ideal_page", &config);
                let requests = arriving(&config, 600, gap.max(1), 7);
                let (done, longest) = drive_and_ask(device.as_mut(), &requests, load);
                let waits = |at| {
                    let there = |done: &Completion| done.arrival <= at && at < done.admitted;
                    done.iter().filter(|(_, done)| there(done)).count() as u64
                };
                let expected = done.iter().map(|(_, done)| waits(done.arrival)).max();
                assert_eq!(Some(longest), expected, "{host:?}, {gap} ns apart");
                // More than the driver's queue holds, where requests come faster than they go.
                assert!(gap != 150_000 || longest > 100, "{longest}");
            }
        }
    }
}

/// Whether the order of service differs from that of arrival is the point of a scheduler.
#[test]
fn every_scheduler_but_fcfs_changes_the_order_of_a_loaded_device() {
    for (kind, scheduler) in SchedulerKind::ALL {
        let pairs = [&PARALLEL[..], &[("host.queue_depth", "3"), ("host.scheduler", scheduler)]];
        let config = tiny("ideal_page", 24, &pairs.concat());
        let mut device = open("ideal_page", &config);
        let done = drive(device.as_mut(), &arriving(&config, 1500, 300_000, 7), Load::Open);
        let moved = done.windows(2).filter(|w| number(&w[0].0) > number(&w[1].0)).count();
        assert_eq!(moved == 0, *kind == SchedulerKind::Fcfs, "{scheduler}: {moved}");
    }
}

#[test]
fn stages_sum_to_the_response_of_every_request() {
    let profiles: [&[(&str, &str)]; 2] = [&PARALLEL, &PARALLEL[3..]];
    for row in schemes::TABLE {
        for profile in profiles {
            for link in [&LINK[..], &LINK[..1], &LINK[1..], &[]] {
                // Groups of lines are not collected in gaps.
                let common = [
                    ("host.queue_depth", "4"),
                    ("gc.mode", "both"),
                    ("learnedftl.group_lines", "false"),
                ];
                let config = tiny(row.paper.name, 24, &[profile, link, &common].concat());
                let mut device = open(row.paper.name, &config);
                let done = drive(device.as_mut(), &arriving(&config, 3000, 400_000, 3), Load::Open);
                let mut sums = [0; 7];
                for (request, completion) in done {
                    let stages = completion.stages;
                    assert_eq!(stages.total(), completion.system(), "{request:?} {completion:?}");
                    assert_eq!(stages.driver_queue, completion.queue());
                    assert_eq!(
                        stages.host_link > 0,
                        !(link.is_empty() || row.maps_in_host && request.op == Op::Trim) && {
                            let data = matches!(request.op, Op::Read | Op::Write);
                            link.len() == 2 || link[0].0 == "host.command_overhead" || data
                        }
                    );
                    if matches!(request.op, Op::Read | Op::Write) {
                        sums.iter_mut()
                            .zip(stages.all())
                            .for_each(|(sum, t)| *sum += u128::from(t));
                    }
                }
                assert_eq!(device.board().meter().latency().stages(), sums);
                assert!(sums[2] > 0 && sums[5] > 0 && sums[6] > 0, "{sums:?}");
            }
        }
    }
}

/// Served with nothing to choose, the driver's own path gives the numbers of the direct one.
#[test]
fn one_stream_in_order_of_arrival_is_what_the_device_does_by_itself() {
    for profile in [&PARALLEL[..], &[]] {
        for load in [Load::Open, Load::Closed(4)] {
            let run = |host: &[(&str, &str)]| {
                let pairs = [profile, host, &[("host.queue_depth", "4")]].concat();
                let config = tiny("dftl", 24, &pairs);
                let mut device = open("dftl", &config);
                let mut requests = arriving(&config, 3000, 400_000, 5);
                requests.iter_mut().for_each(|request| request.unit = 0);
                drive(device.as_mut(), &requests, load)
            };
            let direct = run(&[]);
            assert!(
                direct.iter().any(|(_, completion)| completion.queue() > 0)
                    || matches!(load, Load::Closed(_))
            );
            assert!(run(&[("host.streams", "2"), ("host.driver_queue_depth", "4")]) == direct);
        }
    }
}

/// Counted at every event, the requests in the system and in the device are what their times say;
/// the device never holds more than its depth.
#[test]
fn the_device_never_holds_more_than_its_depth_and_the_meter_counts_every_response() {
    for (_, scheduler) in SchedulerKind::ALL {
        let host = [("host.scheduler", *scheduler), ("host.queue_depth", "5")];
        let config = tiny("dftl", 24, &[&PARALLEL[..], &LINK, &host].concat());
        let mut device = open("dftl", &config);
        let done = drive(device.as_mut(), &arriving(&config, 4000, 300_000, 9), Load::Open);
        // Area under the number in the system, and under the number in the device, from events.
        let area = |enters: fn(&Completion) -> u64| {
            let mut events: Vec<(u64, i64)> = Vec::new();
            for (_, completion) in &done {
                // A slot that is freed can be taken in the same moment: departures first.
                events.extend([(enters(completion), 1), (completion.completed, -1)]);
            }
            events.sort_unstable();
            let (mut area, mut inside, mut most, mut before) = (0u128, 0i64, 0, 0);
            for (time, step) in events {
                area += u128::from(time - before) * inside as u128;
                inside += step;
                (most, before) = (most.max(inside), time);
            }
            assert_eq!(inside, 0);
            (area, most)
        };
        let (in_system, most) = area(|completion| completion.arrival);
        let (in_device, depth) = area(|completion| completion.admitted);
        let response: u128 = done.iter().map(|(_, c)| u128::from(c.system())).sum();
        let service: u128 = done.iter().map(|(_, c)| u128::from(c.device())).sum();
        assert_eq!(in_system, response, "{scheduler}");
        assert_eq!(in_device, service, "{scheduler}");
        assert_eq!(depth, 5, "{scheduler}: full, never fuller");
        assert!(most > 20, "{scheduler}: loaded, {most} at once");
        let latency = device.board().meter().latency().all();
        // Trims and flushes are no part of the meter's response times.
        let metered =
            |(request, _): &&(Request, Completion)| matches!(request.op, Op::Read | Op::Write);
        let part: u128 = done.iter().filter(metered).map(|(_, c)| u128::from(c.system())).sum();
        assert_eq!(latency[0].sum(), part, "{scheduler}");
    }
}

/// Two streams with all their requests there from the start, 1000 each.
fn shares(pairs: &[(&str, &str)]) -> (Vec<u32>, Box<dyn Device>) {
    let common = [("host.streams", "2"), ("host.driver_queue_depth", "1000")];
    let config = tiny("ideal_page", 64, &[&common[..], pairs].concat());
    let mut device = open("ideal_page", &config);
    let requests: Vec<Request> = (0..2000u32)
        .map(|number| {
            let page = u64::from(number) * 7 % config.device.logical_pages();
            Request { unit: number / 1000, ..pages(&config, Op::Read, page, 1) }
        })
        .collect();
    let done = drive(device.as_mut(), &requests, Load::Open);
    (done.iter().map(|(request, _)| request.unit).collect(), device)
}

#[test]
fn saturated_streams_get_the_shares_of_their_weights() {
    let first =
        |order: &[u32], turns: usize| order[..turns].iter().filter(|&&unit| unit == 0).count();
    let (order, device) = shares(&[("host.arbitration", "weighted"), ("host.weights", "3,1")]);
    for turns in 1..=1333 {
        let exact = turns as f64 * 0.75;
        assert!((first(&order, turns) as f64 - exact).abs() <= 1.0, "{turns} turns");
    }
    // The heavy stream is done after 1333 turns, the other goes on alone.
    let streams = device.board().meter().streams();
    assert_eq!((streams[0].reads, streams[1].reads), (1000, 1000));
    assert!(streams[0].response_sum < streams[1].response_sum);
    let total = device.board().meter().latency().all()[0].sum();
    assert_eq!(streams[0].response_sum + streams[1].response_sum, total);
    assert_eq!(streams[0].bytes, 1000 * 512);

    let (order, _) = shares(&[("host.arbitration", "round_robin")]);
    assert!((1..=2000).all(|turns| first(&order, turns) == turns.div_ceil(2)));
    let (order, _) = shares(&[("host.arbitration", "fifo")]);
    assert_eq!(first(&order, 1000), 1000, "the first stream arrived first");
}

/// The first write takes 405.9 us. When it is done a slot is free, and what has arrived by then is
/// all that a scheduler knows: nothing waits for a read that is still to come.
#[test]
fn a_decision_knows_what_has_arrived_and_no_more() {
    let order = |read_arrival| {
        let config = tiny("ideal_page", 24, &[("host.scheduler", "read_first")]);
        let mut device = open("ideal_page", &config);
        let at = |arrival, op, page| Request { arrival, ..pages(&config, op, page, 1) };
        let (first, second) = (at(0, Op::Write, 1), at(10_000, Op::Write, 2));
        let requests = [first, second, at(read_arrival, Op::Read, 3)];
        let done = drive(device.as_mut(), &requests, Load::Open);
        [done[1], done[2]].map(|(request, completion)| (request.op, completion.admitted))
    };
    assert_eq!(order(405_900), [(Op::Read, 405_900), (Op::Write, 536_800)]);
    assert_eq!(order(405_901), [(Op::Write, 405_900), (Op::Read, 811_800)]);
}

/// Three in flight, one in the device: the read arrives when the first write is done, and the
/// decision of that moment knows it.
#[test]
fn in_a_closed_loop_the_next_request_is_there_when_the_slot_is_free() {
    let config = tiny("ideal_page", 24, &[("host.scheduler", "read_first")]);
    let mut device = open("ideal_page", &config);
    let request = |op, page| pages(&config, op, page, 1);
    let writes = [1, 2, 3].map(|page| request(Op::Write, page));
    let requests = [&writes[..], &[request(Op::Read, 9)]].concat();
    let done = drive(device.as_mut(), &requests, Load::Closed(3));
    let seen = done.iter().map(|(request, c)| (request.op, c.arrival, c.admitted));
    let expected = [
        (Op::Write, 0, 0),
        (Op::Read, 405_900, 405_900),
        (Op::Write, 0, 536_800),
        (Op::Write, 0, 942_700),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

#[test]
fn a_full_driver_queue_keeps_a_scheduler_from_looking_further() {
    // Nine writes, then a read that could pass them all.
    let run = |depth| {
        let pairs = [("host.scheduler", "read_first"), ("host.driver_queue_depth", depth)];
        let config = tiny("ideal_page", 24, &pairs);
        let mut device = open("ideal_page", &config);
        let mut requests: Vec<Request> =
            (0..9).map(|page| pages(&config, Op::Write, page, 1)).collect();
        requests.push(pages(&config, Op::Read, 50, 1));
        let done = drive(device.as_mut(), &requests, Load::Open);
        done.iter().position(|(request, _)| request.op == Op::Read).unwrap()
    };
    assert_eq!(run("128"), 0, "all wait from the start");
    assert_eq!(run("4"), 6, "it joins when six have gone");
    assert_eq!(run("1"), 9);
}

/// A parallel device with one channel per die, so that the flash is faster than the link.
fn linked(pairs: &[(&str, &str)]) -> Config {
    let common = [
        ("timing.profile", "parallel"),
        ("device.channels", "8"),
        ("device.page_bytes", "4096"),
        ("timing.read", "50us"),
        ("timing.program", "200us"),
        ("timing.page_transfer", "10us"),
        ("timing.controller_page", "2us"),
    ];
    let mut config = config(&common);
    for (key, value) in pairs {
        config.set(key, value).unwrap();
    }
    size("ideal_page", &mut config, 256);
    config
}

#[test]
fn unloaded_latency_is_the_device_s_plus_command_and_data() {
    // 4096 B at 64 MB/s: 64 us; twice that for two pages, which the flash serves side by side.
    let config = linked(&[("host.link_bandwidth", "64MB"), ("host.command_overhead", "5us")]);
    let mut device = open("ideal_page", &config);
    let mut arrival = 0;
    let mut time = |op, count| {
        arrival += 1_000_000_000;
        let request = Request { arrival, ..pages(&config, op, 0, count) };
        let done = drive(device.as_mut(), &[request], Load::Open)[0].1;
        (done.system(), done.stages.host_link)
    };
    assert_eq!(time(Op::Write, 1), (5_000 + 64_000 + 2_000 + 10_000 + 200_000, 69_000));
    assert_eq!(time(Op::Read, 1), (5_000 + 2_000 + 50_000 + 10_000 + 64_000, 69_000));
    // The second page waits 2 us for the controller.
    assert_eq!(time(Op::Write, 2), (5_000 + 128_000 + 4_000 + 10_000 + 200_000, 133_000));
    assert_eq!(time(Op::Read, 2), (5_000 + 4_000 + 50_000 + 10_000 + 128_000, 133_000));
    assert_eq!(time(Op::Trim, 2), (5_000, 5_000));
    assert_eq!(time(Op::Flush, 0).1, 5_000);
}

/// Nanoseconds per request of a device whose link is saturated, away from both ends of the run.
fn saturated(op: Op, duplex: &str) -> f64 {
    let config = linked(&[
        ("host.link_bandwidth", "64MB"),
        ("host.command_overhead", "1us"),
        ("host.link_duplex", duplex),
    ]);
    let mut device = open("ideal_page", &config);
    let page = |number: u64| number * 3 % config.device.logical_pages();
    let fill: Vec<Request> = (0..512).map(|n| pages(&config, Op::Write, page(n), 1)).collect();
    drive(device.as_mut(), &fill, Load::Closed(32));
    device.start_measuring();
    let requests: Vec<Request> = (0..2000).map(|n| pages(&config, op, page(n % 512), 1)).collect();
    let done = drive(device.as_mut(), &requests, Load::Closed(32));
    let mut times: Vec<u64> = done.iter().map(|(_, completion)| completion.completed).collect();
    times.sort_unstable();
    (times[1900] - times[100]) as f64 / 1800.0
}

/// 4096 B at 64 MB/s take 64 us and a command 1 us; the flash could serve eight requests in 60 us
/// (reads) or 210 us (writes).
#[test]
fn a_saturated_link_moves_exactly_its_bandwidth() {
    let close = |measured: f64, expected: f64| (measured / expected - 1.0).abs() < 0.001;
    for duplex in ["half", "full"] {
        let write = saturated(Op::Write, duplex);
        assert!(close(write, 65_000.0), "{duplex}: {write} ns");
    }
    let read = saturated(Op::Read, "full");
    assert!(close(read, 64_000.0), "commands cross the other way: {read} ns");
    // Commands among the data: what booking in order of service costs is bounded.
    let read = saturated(Op::Read, "half");
    assert!((65_000.0..65_000.0 * 1.02).contains(&read), "{read} ns");
}

/// The driver hears of each piece; the host sent one request, whether its pieces go straight to the
/// device or wait in the driver's queue.
#[test]
fn pieces_are_served_one_by_one_and_count_as_what_the_host_sent() {
    for (scheduler, is_direct) in [("fcfs", true), ("elevator", false)] {
        let config = tiny("ideal_page", 24, &[("host.scheduler", scheduler)]);
        let mut device = open("ideal_page", &config);
        let mut driver = Driver::new(device.config(), None);
        assert_eq!(driver.is_direct(), is_direct);
        let mut sectors = Vec::new();
        let mut served = |_: &mut dyn Device, request: &Request, _: &Completion| {
            sectors.push(request.first_sector);
            Ok::<(), DeviceError>(())
        };
        for page in [3, 9] {
            let request = pages(&config, Op::Write, page, 1);
            let piece = Piece { of: 7, pieces: 2 };
            let taken = driver.submit_piece(device.as_mut(), &request, piece, &mut served);
            taken.expect("the device works");
        }
        driver.finish(device.as_mut(), &mut served).expect("the device works");
        assert_eq!(sectors, [3, 9], "{scheduler}: pages of one sector");
        let host = device.board().meter().host();
        let counts = (host.requests[1], host.completed, host.split, host.pieces, host.pages[1]);
        assert_eq!(counts, (1, 1, 1, 2, 2), "{scheduler}");
    }
}

/// Trims take no time here. At 0 two requests are in flight, the third comes because one of them is
/// done: by then the device, which is free, has taken the other one too.
#[test]
fn who_comes_for_a_completion_comes_behind_all_that_went_by_then() {
    let config = tiny("ideal_page", 24, &[("host.scheduler", "elevator")]);
    let mut device = open("ideal_page", &config);
    let trims = [5, 1, 3].map(|page| pages(&config, Op::Trim, page, 1));
    let done = drive(device.as_mut(), &trims, Load::Closed(2));
    let order: Vec<u64> = done.iter().map(|(request, _)| request.first_sector).collect();
    assert!(done.iter().all(|(_, done)| done.completed == 0), "{done:?}");
    assert_eq!(order, [1, 5, 3], "upwards from 0: 1, then 5; 3 was not there");
}
