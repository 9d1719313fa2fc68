//! Each scheduler and each arbitration on hand-made queues.

use super::arbitration::Arbiter;
use super::queue::Queue;
use super::settings::HostSettings;
use super::*;
use crate::settings::SsdSettings;
use ftlab_flash::request::{Op, Request};
use ftlab_flash::settings::Groups as _;

const PAGE: u64 = 8;

/// One page at a page number.
fn request(op: Op, page: u64) -> Request {
    let sectors = if op == Op::Flush { 0 } else { PAGE as u32 };
    Request {
        arrival: 0,
        op,
        first_sector: page * PAGE,
        sectors,
        unit: 0,
        stream: None,
        content: None,
    }
}

fn settings(pairs: &[(&str, &str)]) -> HostSettings {
    let mut config = SsdSettings::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap();
    }
    config.check().unwrap();
    config.host
}

/// The numbers of the requests in the order in which they go, all of them there from the start.
/// `busy` says which pages lie on a die at work.
fn order(
    pairs: &[(&str, &str)],
    requests: &[Request],
    busy: impl Fn(&Request) -> bool,
) -> Vec<usize> {
    let settings = settings(pairs);
    let mut queue = Queue::new(1, 64);
    let mut numbers: Vec<usize> = (0..requests.len()).collect();
    for request in requests {
        queue.push(*request, 0, 0, None);
    }
    let mut scheduler = settings.new_scheduler();
    let ready_from = |request: &Request| if busy(request) { 11 } else { 10 };
    let mut order = Vec::new();
    while queue.len() > 0 {
        let view = View { arrived: queue.arrived(0), stream: 0, now: 10, ready_from: &ready_from };
        let index = scheduler.choose(&view);
        queue.take(index);
        order.push(numbers.remove(index));
    }
    order
}

fn reads(pages: &[u64]) -> Vec<Request> {
    pages.iter().map(|&page| request(Op::Read, page)).collect()
}

#[test]
fn fcfs_keeps_the_order_of_arrival() {
    let requests = reads(&[5, 1, 9, 1]);
    assert_eq!(order(&[], &requests, |_| true), [0, 1, 2, 3]);
}

#[test]
fn the_elevator_goes_up_and_starts_again_at_the_bottom() {
    // From 0 up: 1, 5, 9; equal pages in order of arrival.
    let requests = reads(&[5, 1, 9, 1]);
    let pairs = [("host.scheduler", "elevator")];
    assert_eq!(order(&pairs, &requests, |_| false), [1, 0, 2, 3], "the second 1 is behind by then");
    // A sequential neighbour is at, not behind, the end of the one before.
    assert_eq!(order(&pairs, &reads(&[3, 0, 2, 1]), |_| false), [1, 3, 2, 0]);
}

#[test]
fn reads_go_first_until_a_write_has_waited_for_enough_of_them() {
    let mut requests = vec![request(Op::Write, 100), request(Op::Write, 101)];
    requests.extend(reads(&[1, 2, 3, 4, 5]));
    let first = |limit| {
        let pairs = [("host.scheduler", "read_first"), ("host.reads_before_write", limit)];
        order(&pairs, &requests, |_| false)
    };
    assert_eq!(first("32"), [2, 3, 4, 5, 6, 0, 1]);
    assert_eq!(first("2"), [2, 3, 0, 4, 5, 1, 6]);
    assert_eq!(first("1"), [2, 0, 3, 1, 4, 5, 6]);
}

#[test]
fn out_of_order_passes_over_busy_dies_and_takes_the_oldest_when_all_are() {
    let pairs = [("host.scheduler", "out_of_order")];
    let requests = reads(&[0, 1, 2, 3]);
    let even = |request: &Request| (request.first_sector / PAGE).is_multiple_of(2);
    assert_eq!(order(&pairs, &requests, even), [1, 3, 0, 2]);
    assert_eq!(order(&pairs, &requests, |_| true), [0, 1, 2, 3]);
    assert_eq!(order(&pairs, &requests, |_| false), [0, 1, 2, 3]);
    // A write goes where some die is idle; a read of a busy die lets it pass.
    let mixed = [request(Op::Read, 0), request(Op::Write, 7)];
    assert_eq!(order(&pairs, &mixed, |request| request.op == Op::Read), [1, 0]);
    assert_eq!(order(&pairs, &mixed, |_| true), [0, 1]);
}

#[test]
fn what_overlaps_keeps_its_order_and_a_flush_is_passed_by_nothing() {
    for (_, scheduler) in SchedulerKind::ALL {
        let pairs = [("host.scheduler", *scheduler)];
        let place = |requests: &[Request], number: usize| {
            let order = order(&pairs, requests, |request| request.op != Op::Read);
            order.iter().position(|&at| at == number).unwrap()
        };
        let after_write = [request(Op::Write, 9), request(Op::Read, 9), request(Op::Read, 1)];
        assert!(place(&after_write, 0) < place(&after_write, 1), "{scheduler}");
        let after_trim = [request(Op::Trim, 9), request(Op::Write, 9), request(Op::Read, 1)];
        assert!(place(&after_trim, 0) < place(&after_trim, 1), "{scheduler}");
        let flush = [request(Op::Write, 9), request(Op::Flush, 0), request(Op::Read, 1)];
        assert_eq!(order(&pairs, &flush, |_| false), [0, 1, 2], "{scheduler}");
    }
}

/// The streams that go first, `turns` of them, each with twenty requests waiting.
fn turns(pairs: &[(&str, &str)], turns: usize) -> Vec<u32> {
    let settings = settings(pairs);
    let mut queue = Queue::new(settings.streams, 64);
    for page in 0..20 * u64::from(settings.streams) {
        // Stream 0 first, all of it.
        queue.push(request(Op::Read, page), (page / 20) as u32, 0, None);
    }
    let mut arbiter = Arbiter::new(&settings);
    let mut turn = |_| {
        let arrived = queue.arrived(0);
        let stream = arbiter.choose(arrived);
        let index = arrived.iter().position(|waiting| waiting.stream == stream).unwrap();
        queue.take(index);
        stream
    };
    (0..turns).map(&mut turn).collect()
}

#[test]
fn streams_take_turns_as_the_rule_says() {
    let streams = ("host.streams", "3");
    assert_eq!(turns(&[streams], 4), [0, 0, 0, 0], "the oldest first");
    assert_eq!(turns(&[streams, ("host.arbitration", "round_robin")], 6), [0, 1, 2, 0, 1, 2]);
    let weighted = [streams, ("host.arbitration", "weighted"), ("host.weights", "3,1,1")];
    // Whole rounds have exact shares; nobody waits for the heavy stream's whole turn.
    let seen = turns(&weighted, 20);
    let share = |stream| seen.iter().filter(|&&seen| seen == stream).count();
    assert_eq!([share(0), share(1), share(2)], [12, 4, 4], "{seen:?}");
    assert_eq!(seen[..5], [0, 1, 2, 0, 0]);
    // A stream that has run out is passed over: nobody waits for it.
    let seen = turns(&weighted, 60);
    assert_eq!(seen.iter().filter(|&&stream| stream == 0).count(), 20);
}

/// The streams that go by weight when the ready ones, bit by bit, are as given turn by turn.
fn turns_of_ready(weights: &[u32], ready: impl Iterator<Item = u32>) -> Vec<u32> {
    let text: Vec<String> = weights.iter().map(u32::to_string).collect();
    let (streams, text) = (weights.len().to_string(), text.join(","));
    let settings = settings(&[
        ("host.streams", &streams),
        ("host.arbitration", "weighted"),
        ("host.weights", &text),
    ]);
    let mut arbiter = Arbiter::new(&settings);
    let mut turn = |ready: u32| {
        let mut queue = Queue::new(settings.streams, 1);
        for stream in (0..settings.streams).filter(|stream| ready >> stream & 1 == 1) {
            queue.push(request(Op::Read, 0), stream, 0, None);
        }
        arbiter.choose(queue.arrived(0))
    };
    ready.map(&mut turn).collect()
}

/// A heavy stream that is there every second turn took what the others were owed: with credits
/// clamped whenever the ready streams changed, stream 1 never went.
#[test]
fn a_stream_that_comes_and_goes_does_not_starve_the_others() {
    let ready = (0..3000).map(|turn| if turn % 2 == 0 { 0b111 } else { 0b011 });
    let seen = turns_of_ready(&[1, 1, 1000], ready);
    let share = |stream| seen.iter().filter(|&&seen| seen == stream).count();
    assert!(share(0).abs_diff(share(1)) <= 1, "{} and {}", share(0), share(1));
    assert!(share(2) > 1490, "{}", share(2));
}

/// In every run of turns in which both of two streams have something to send, whoever else comes
/// and goes, their turns by weight differ by at most one of each.
#[test]
fn shares_follow_the_weights_whenever_both_streams_are_ready() {
    let mut rng = ftlab_flash::rng::Rng::new(11, ftlab_flash::rng::Purpose::Workload);
    for _ in 0..40 {
        let streams = 2 + rng.below(5);
        let weights: Vec<u32> = (0..streams).map(|_| 1 + rng.below(12)).collect();
        let mut now = 1;
        let mut change = || {
            // One stream comes or goes now and then; somebody is always there.
            if rng.below(4) == 0 {
                now ^= 1 << rng.below(streams);
            }
            now = if now == 0 { 1 } else { now };
            now
        };
        let ready: Vec<u32> = (0..400).map(|_| change()).collect();
        let seen = turns_of_ready(&weights, ready.iter().copied());
        for one in 0..streams {
            for two in 0..one {
                let [weight_one, weight_two] = [one, two].map(|s| i64::from(weights[s as usize]));
                // Turns times the other's weight, since both are there: how far apart by now, and
                // the extremes so far.
                let (mut apart, mut least, mut most) = (0, 0, 0);
                for (&ready, &seen) in ready.iter().zip(&seen) {
                    let both = 1 << one | 1 << two;
                    if ready & both != both {
                        (apart, least, most) = (0, 0, 0);
                        continue;
                    }
                    apart +=
                        i64::from(seen == one) * weight_two - i64::from(seen == two) * weight_one;
                    (least, most) = (apart.min(least), apart.max(most));
                    let bound = weight_one + weight_two;
                    assert!(most - least <= bound, "{weights:?}: {one}, {two}: {least} to {most}");
                }
            }
        }
    }
}

#[test]
fn weights_that_do_not_fit_are_refused() {
    let check = |pairs: &[(&str, &str)]| {
        let mut config = SsdSettings::default();
        for (key, value) in pairs {
            config.set(key, value).map_err(|error| error.to_string())?;
        }
        config.check().map_err(|error| error.to_string())
    };
    let weighted = ("host.arbitration", "weighted");
    let refused = |pairs: &[(&str, &str)]| check(pairs).unwrap_err();
    assert!(refused(&[weighted, ("host.weights", "3,1")]).contains("set host.streams"));
    let three = [weighted, ("host.streams", "3"), ("host.weights", "3,1")];
    assert!(refused(&three).contains("host.streams is 3"));
    assert!(refused(&[("host.streams", "2"), ("host.weights", "3,1")]).contains("weighted"));
    for weights in ["", "3,", "0,1", "a", "1001", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"] {
        assert!(refused(&[("host.weights", weights)]).contains("1 to 1000"), "{weights}");
    }
    assert_eq!(check(&[weighted, ("host.streams", "2"), ("host.weights", "3, 1")]), Ok(()));
}

/// Two writes keep their order where they share a sector; those of neighbours need not.
#[test]
fn neighbours_do_not_keep_their_order() {
    let [zero, one] = [0, 1].map(|page| request(Op::Write, page));
    assert!(queue::keep_order(&zero, &zero));
    assert!(!queue::keep_order(&zero, &one) && !queue::keep_order(&one, &zero));
    assert_eq!(Queue::new(3, 5).room(), 15, "five of each stream");
}

/// One stream in order of arrival has nothing to choose, nor has a closed loop that keeps as many
/// requests in flight as the device takes.
#[test]
fn requests_go_straight_to_the_device_where_nothing_can_change_their_order() {
    let is_direct = |pairs: &[(&str, &str)], in_flight| {
        let mut config = SsdSettings::default();
        let four = [("host.queue_depth", "4")];
        for (key, value) in four.iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        Driver::new(&config, in_flight).is_direct()
    };
    assert!(is_direct(&[], None) && is_direct(&[], Some(4)));
    assert!(!is_direct(&[], Some(3)) && !is_direct(&[], Some(5)));
    assert!(!is_direct(&[("host.streams", "2")], None));
    assert!(!is_direct(&[("host.scheduler", "elevator")], None));
}
