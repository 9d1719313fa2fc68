//! Requests in chunks leave what single requests leave: pages, times and all that is counted.

use super::*;
use ftlab_flash::meter::Piece;

/// Requests of a generator: how many of a hundred are not writes of a page, or of a part of one.
fn requests(count: usize, others: u32, seed: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed, Purpose::Workload);
    let mut arrival = 0;
    let mut drawn = |_| {
        arrival += Nanos::from(rng.below(3)) * 300_000;
        let first = u64::from(rng.below(240));
        let of_page = match rng.below(5) {
            0 => request(Op::Write, first / 4 * 4, 1 + rng.below(4)),
            _ => page(Op::Write, first / 4),
        };
        let request = match rng.below(100) {
            other if other >= others => of_page,
            other if other % 8 == 0 => flush(),
            other if other % 8 == 1 => page(Op::Trim, first / 4),
            other if other % 8 < 5 => request(Op::Read, first, 1 + rng.below(12)),
            _ => request(Op::Write, first, 1 + rng.below(12)),
        };
        let unit = rng.below(3);
        at(arrival, Request { unit, ..request })
    };
    (0..count).map(&mut drawn).collect()
}

/// What is left: all that is counted, what flash and the map hold, when all was done, and what
/// waited.
#[derive(Debug, PartialEq)]
struct Left {
    meter: String,
    pages: Vec<(Tag, bool)>,
    places: Vec<Location>,
    ends: [Nanos; 3],
    waited: u64,
    version: Tag,
}

fn left(device: &dyn Device, served: &Served) -> Left {
    device.audit().expect("the device is sound");
    let state = device.board().nand().state();
    let pages = (0..device.board().geometry().pages()).map(Ppn);
    Left {
        meter: format!("{:?}", device.board().meter()),
        pages: pages.map(|ppn| (state.tag(ppn), state.is_valid(ppn))).collect(),
        places: (0..64).map(|lpn| device.locate(Lpn(lpn))).collect(),
        ends: [device.idle_from(), device.next_slot(), served.completed],
        waited: served.longest.longest(),
        version: device.last_version(),
    }
}

/// A device whose clock is beyond several windows when measuring begins.
fn begun(pairs: &[(&str, &str)]) -> Ssd<Toy<0>> {
    let mut device = plain(pairs);
    done(&mut device, at(7_654_321, page(Op::Write, 9)));
    device.start_measuring();
    device
}

fn in_chunks(pairs: &[(&str, &str)], closed: bool, all: &[Request], size: usize) -> Left {
    let mut device = begun(pairs);
    let mut served = served(closed.then_some(0));
    for chunk in all.chunks(size) {
        device.submit_all(&mut chunk.to_vec(), &mut served).expect("the device works");
    }
    device.complete_all(&mut served);
    left(&device, &served)
}

fn one_by_one(pairs: &[(&str, &str)], closed: bool, all: &[Request]) -> Left {
    let mut device = begun(pairs);
    let mut served = served(None);
    let mut now = 0;
    for request in all {
        now = device.next_slot().max(now);
        let arrival = if closed { now } else { request.arrival };
        let completion = done(&mut device, at(arrival, *request));
        served.longest.passes(completion.arrival, completion.admitted);
        served.completed = served.completed.max(completion.completed);
    }
    left(&device, &served)
}

/// Both leave the same, of writes of pages alone and of all kinds of requests.
fn compare(pairs: &[(&str, &str)]) {
    for (closed, others, size) in [(true, 0, 1000), (true, 3, 37), (true, 40, 16), (false, 40, 100)]
    {
        let all = requests(700, others, 3);
        let chunks = in_chunks(pairs, closed, &all, size);
        let single = one_by_one(pairs, closed, &all);
        assert!(chunks == single, "{pairs:?} {closed} {others}\n{chunks:?}\n{single:?}");
    }
}

#[test]
fn of_one_server() {
    compare(&[]);
    compare(&[("timing.controller_page", "3us"), ("timing.page_transfer", "40us")]);
    compare(&[("host.queue_depth", "3")]);
    compare(&[("timing.read_pages", "20us,60us"), ("timing.program_pages", "200us,600us")]);
    compare(&[("timing.program", "0ns")]);
}

#[test]
fn of_dies_side_by_side() {
    let parallel = ("timing.profile", "parallel");
    compare(&[parallel]);
    compare(&[parallel, ("timing.page_transfer", "40us"), ("host.queue_depth", "1")]);
    let dies = [parallel, ("timing.page_transfer", "40us"), ("device.dies", "2")];
    compare(&[&dies[..], &[("device.blocks_per_plane", "12")]].concat());
    let slow = [parallel, ("timing.page_transfer", "500us"), ("host.queue_depth", "4")];
    compare(&slow);
    compare(&[parallel, ("timing.program_pages", "200us,600us"), ("host.queue_depth", "2")]);
    compare(&[parallel, ("timing.controller_page", "3us")]);
}

#[test]
fn of_devices_that_do_more_than_serve_pages() {
    compare(&[("host.link_bandwidth", "10MB")]);
    compare(&[("host.streams", "3")]);
    compare(&[("gc.mode", "both")]);
    compare(&[("buffer.name", "lru"), ("buffer.bytes", "8192")]);
    compare(&[("io.partial_write", "rmw")]);
}

/// Requests that were served in a chunk before one that cannot be are counted.
#[test]
fn what_came_before_a_request_that_cannot_be_served_is_counted() {
    let mut device = plain(&[]);
    let mut all = [page(Op::Write, 0), page(Op::Write, 1), page(Op::Write, 64), page(Op::Write, 2)];
    let served = device.submit_all(&mut all, &mut served(Some(0)));
    assert!(matches!(served, Err(DeviceError::OutOfRange { first_sector: 256, .. })));
    assert_eq!(device.board().meter().host().completed, 2);
    assert_eq!(device.last_version(), Tag(2));
}

#[test]
fn reads_that_fail_are_counted_by_themselves() {
    let mut device = plain(&[]);
    let mut all: Vec<Request> = (0..6).map(|lpn| page(Op::Write, lpn)).collect();
    let mut how = served(Some(0));
    device.submit_all(&mut all, &mut how).expect("it works");
    device.board_mut().nand_mut().faults_mut().fail_read_after(2);
    let mut reads: Vec<Request> = (0..6).map(|lpn| page(Op::Read, lpn)).collect();
    device.submit_all(&mut reads, &mut how).expect("it works");
    device.complete_all(&mut how);
    let host = device.board().meter().host();
    assert_eq!((host.completed, host.unreadable_pages), (12, 1));
    assert_eq!(how.completed, 6 * PROGRAM + (6 + 4) * READ, "four retries");
}

/// Requests that go alike are left to be counted together over the end of a chunk; they are counted
/// before anything else is done, in the window in which they were done.
#[test]
fn what_is_left_of_chunks_is_counted_before_anything_else_is_done() {
    let all: Vec<Request> = (0..6).map(|lpn| page(Op::Write, lpn)).collect();
    let counted = |then: fn(&mut Ssd<Toy<0>>)| {
        let mut device = plain(&[]);
        let mut how = served(Some(0));
        for chunk in all.chunks(2) {
            device.submit_all(&mut chunk.to_vec(), &mut how).expect("it works");
        }
        let left = 6 - device.board().meter().host().completed;
        then(&mut device);
        (left, device.board().meter().host().completed)
    };
    assert_eq!(counted(|device| device.complete_all(&mut served(None))), (1, 6));
    assert_eq!(counted(|device| _ = device.board_mut()), (1, 6));
    assert_eq!(counted(|device| _ = done(device, at(7 * PROGRAM, page(Op::Read, 3)))), (1, 7));
    assert_eq!(counted(|device| _ = device.clean_caches()), (1, 6));
    assert_eq!(counted(|device| _ = device.power_cycle()), (1, 6));
    assert_eq!(counted(|device| device.start_measuring()), (1, 0));
    let again = |device: &mut Ssd<Toy<0>>| {
        device.start_measuring();
        let mut how = served(Some(0));
        device.submit_all(&mut [page(Op::Write, 0)], &mut how).expect("it works");
        device.complete_all(&mut how);
    };
    assert_eq!(counted(again), (1, 1));
}

/// Two requests in pieces come between chunks, the second right behind the first: a chunk that holds
/// nothing but pieces hands over none but them.
#[test]
fn pieces_between_chunks_are_counted_as_one_request() {
    let parallel = [
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "40us"),
        ("host.queue_depth", "1"),
    ];
    for pairs in [&[][..], &parallel] {
        count_pieces(begun(pairs));
    }
}

fn count_pieces(mut device: Ssd<Toy<0>>) {
    let mut how = served(Some(0));
    let mut chunk = |device: &mut Ssd<Toy<0>>, lpns: std::ops::Range<u64>| {
        let mut all: Vec<Request> = lpns.map(|lpn| page(Op::Write, lpn)).collect();
        device.submit_all(&mut all, &mut how).expect("it works");
    };
    chunk(&mut device, 0..5);
    for (of, lpns) in [(1, [5, 6]), (2, [7, 8])] {
        chunk(&mut device, 0..0);
        for lpn in lpns {
            device.board_mut().meter_mut().piece(Piece { of, pieces: 2 });
            chunk(&mut device, lpn..lpn + 1);
        }
    }
    chunk(&mut device, 9..14);
    device.complete_all(&mut served(None));
    let host = device.board().meter().host();
    assert_eq!((host.completed, host.split, host.pieces), (12, 2, 4));
    assert_eq!(device.board().meter().latency().write()[0].count(), 12);
}

/// The first comes at 1 us and does not wait; the second waits 2 us, until the first is done.
#[test]
fn a_request_that_waits_is_not_like_one_that_does_not() {
    let second = 1_000 + PROGRAM - 2_000;
    let all = [at(1_000, page(Op::Write, 0)), at(second, page(Op::Write, 1))];
    assert_eq!(in_chunks(&[], false, &all, 2), one_by_one(&[], false, &all));
}

/// Two pages that take no time, at the last nanosecond of a window.
#[test]
fn requests_are_counted_in_the_window_in_which_they_are_done() {
    let free = [("timing.program", "0ns")];
    let all = [0, 1].map(|lpn| at(999_999, page(Op::Write, lpn)));
    assert_eq!(in_chunks(&free, false, &all, 2), one_by_one(&free, false, &all));
}

#[test]
fn a_request_far_beyond_the_device_is_refused_in_a_chunk() {
    let mut all = [page(Op::Write, 0), page(Op::Read, 1 << 30)];
    let refused = plain(&[]).submit_all(&mut all, &mut served(Some(0)));
    assert!(matches!(refused, Err(DeviceError::OutOfRange { .. })));
}

#[test]
#[should_panic(expected = "a Write request must have at least one sector")]
fn a_write_of_a_chunk_has_a_sector() {
    let mut all = [page(Op::Write, 0), request(Op::Write, 5, 0)];
    let _ = plain(&[]).submit_all(&mut all, &mut served(Some(0)));
}
