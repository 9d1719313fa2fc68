//! Requests whose completion is known only when its time comes.

use super::*;

/// Two dies that work side by side.
const DIES: [(&str, &str); 4] = [
    ("timing.profile", "parallel"),
    ("timing.clock", "event"),
    ("device.dies", "2"),
    ("device.blocks_per_plane", "12"),
];

fn waiting(more: &[(&str, &str)]) -> Ssd<Toy<0>> {
    let mut device = plain(&[&DIES, more].concat());
    done(&mut device, at(7_654_321, page(Op::Write, 9)));
    device.start_measuring();
    device
}

fn writes(lpns: std::ops::Range<u64>) -> Vec<Request> {
    lpns.map(|lpn| page(Op::Write, lpn)).collect()
}

#[test]
fn requests_wait_for_their_time_under_an_event_driven_clock() {
    let pairs = [
        ("timing.profile", "parallel"),
        ("timing.clock", "event"),
        ("device.dies", "2"),
        ("device.blocks_per_plane", "12"),
        ("host.queue_depth", "2"),
    ];
    let mut device = plain(&pairs);
    let mut how = served(Some(0));
    let mut all: Vec<Request> = (0..4).map(|lpn| page(Op::Write, lpn)).collect();
    device.submit_all(&mut all, &mut how).expect("it works");
    assert_eq!(all.iter().map(|one| one.arrival).collect::<Vec<_>>(), [0, 0, PROGRAM, PROGRAM]);
    assert_eq!((device.board().meter().host().completed, how.completed), (2, PROGRAM));
    device.complete_all(&mut how);
    assert_eq!((device.board().meter().host().completed, how.completed), (4, 2 * PROGRAM));
    assert_eq!((device.idle_from(), device.next_slot()), (2 * PROGRAM, 2 * PROGRAM));
    let read = done(&mut device, at(10_000_000, page(Op::Read, 0)));
    assert_eq!(
        (read.arrival, read.admitted, read.completed),
        (10_000_000, 10_000_000, 10_000_000 + READ)
    );
    assert_eq!(read.stages.flash, READ);
    device.start_measuring();
    assert_eq!((device.measured_from(), device.next_slot()), (10_000_000 + READ, 0));
    device.audit().expect("it is sound");
}

/// Two of three are under way; the third is admitted when they are done.
#[test]
fn one_of_three_requests_waits_where_two_are_held_at_once() {
    let mut device = waiting(&[("host.queue_depth", "2")]);
    let mut how = served(None);
    device.submit_all(&mut writes(0..3), &mut how).expect("it works");
    device.complete_all(&mut how);
    assert_eq!((how.longest.longest(), how.completed), (1, 2 * PROGRAM));
}

#[test]
fn a_host_that_waits_is_told_of_its_own_request() {
    let mut device = waiting(&[("host.queue_depth", "4")]);
    let mut how = served(None);
    device.submit_all(&mut writes(0..2), &mut how).expect("it works");
    let read = done(&mut device, at(300_000, page(Op::Read, 40)));
    assert_eq!((read.arrival, read.admitted, read.completed), (300_000, 300_000, PROGRAM + READ));
    assert_eq!(device.board().meter().host().completed, 3);
}

#[test]
fn what_is_under_way_is_done_before_measuring_begins_or_the_power_goes() {
    let mut device = waiting(&[("host.queue_depth", "4")]);
    let from = device.measured_from();
    let mut how = served(None);
    device.submit_all(&mut writes(0..2), &mut how).expect("it works");
    assert_eq!(device.board().meter().host().completed, 0);
    device.start_measuring();
    assert_eq!(device.measured_from(), from + PROGRAM);
    device.complete_all(&mut how);
    assert_eq!(device.board().meter().host().completed, 0, "they were before");
    device.submit_all(&mut writes(0..2), &mut how).expect("it works");
    device.power_cycle().expect("it recovers");
    assert_eq!(device.board().meter().host().completed, 2);
    device.audit().expect("it is sound");
}

/// A sector takes 512 us over the link, a command 3 us.
#[test]
fn commands_and_data_cross_the_link_when_their_time_comes() {
    let link = [("host.link_bandwidth", "1MB"), ("host.command_overhead", "3us")];
    let mut device = waiting(&link);
    let taken = |device: &mut dyn Device, request| {
        let from = device.idle_from() + 1_000;
        let taken = done(device, at(from, request));
        assert_eq!((taken.arrival, taken.admitted), (from, from));
        (taken.completed - from, taken.stages.host_link)
    };
    let crossing = 3_000 + 4 * 512_000;
    assert_eq!(taken(&mut device, page(Op::Write, 5)), (crossing + PROGRAM, crossing));
    assert_eq!(taken(&mut device, page(Op::Read, 5)), (crossing + READ, crossing));
    assert_eq!(taken(&mut device, flush()), (3_000, 3_000));
    assert_eq!(taken(&mut device, page(Op::Trim, 5)), (3_000, 3_000));
}

/// Nothing overtakes anything then.
#[test]
fn requests_of_many_pages_that_come_alone_take_as_long_as_under_the_other_clock() {
    let times = |clock: &str| {
        let pairs = [&DIES[..1], &DIES[2..], &[("timing.clock", clock)]].concat();
        let mut device = plain(&pairs);
        let mut rng = Rng::new(5, Purpose::Workload);
        let mut times = Vec::new();
        for _ in 0..200 {
            let write = request(Op::Write, 4 * u64::from(rng.below(49)), 64);
            let from = device.idle_from() + 1_000;
            let completion = done(&mut device, at(from, write));
            times.push(completion.completed - from);
        }
        assert!(device.board().meter().total_erases() > 100);
        times
    };
    assert_eq!(times("event"), times("call_order"));
}

/// Seven pages are loaded by a request each, two of a plane after one another; the fourth plane has
/// one of them and six more to read, each asked for behind another of the seven, which are none of
/// the request's.
#[test]
fn a_request_waits_for_each_of_its_pages_and_for_nothing_between_them() {
    let pairs = [
        ("device.channels", "4"),
        ("device.dies", "1"),
        ("host.queue_depth", "32"),
        ("buffer.name", "lru"),
        ("buffer.bytes", "65536"),
        ("buffer.cache_reads", "true"),
    ];
    let mut device = plain(&[&DIES[..2], &DIES[3..], &pairs].concat());
    write_each(&mut device, 0..64);
    device.clean_caches().expect("it works");
    // The frames that the writes had are forgotten.
    device.power_cycle().expect("it recovers");
    device.start_measuring();
    let planes = [0, 1, 2, 3, 4, 5, 6, 7, 11, 15, 19, 23, 27]
        .map(|lpn| device.board().geometry().plane_of(place(&device, lpn)).0);
    assert_eq!(planes, [0, 1, 2, 3, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
    let each = [3, 0, 7, 1, 11, 2, 15, 4, 19, 5, 23, 6, 27];
    let mut each = each.map(|lpn| page(Op::Read, lpn));
    let mut how = served(None);
    device.submit_all(&mut each, &mut how).expect("it works");
    let read = done(&mut device, request(Op::Read, 0, 7 * 4));
    assert_eq!((read.admitted, read.completed), (0, 2 * READ));
    assert_eq!(device.board().nand().clock().operations_and_inexact().1, 0);
    device.complete_all(&mut how);
    assert_eq!(how.completed, (1 + 6) * READ);
}
