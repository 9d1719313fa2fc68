//! A device of 64 pages of four sectors under a scheme with its table in memory: what requests
//! take, what is counted, and what an audit finds.

use super::*;
use crate::for_tests::{
    CLEARS, CONTENT, DIVIDES, IN_HOST, IN_PCM, LAZY, TIGHT, Toy, at, config, request,
};
use crate::host::LongestQueue;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::meter::Event;
use ftlab_flash::request::Content;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::units::Ppn;

mod audits;
mod chunks;
mod event;
mod gaps;
mod power;

/// A page read, and a page programmed.
const READ: Nanos = 130_900;
const PROGRAM: Nanos = 405_900;

fn ssd<const TRAITS: u32>(pairs: &[(&str, &str)]) -> Ssd<Toy<TRAITS>> {
    Ssd::new(&config(pairs), (), 1).unwrap_or_else(|error| panic!("{error}"))
}

fn plain(pairs: &[(&str, &str)]) -> Ssd<Toy<0>> {
    ssd::<0>(pairs)
}

/// A page as a whole.
fn page(op: Op, lpn: u64) -> Request {
    request(op, 4 * lpn, 4)
}

fn flush() -> Request {
    request(Op::Flush, 0, 0)
}

fn served(closed: Option<Nanos>) -> Served {
    Served { closed, longest: LongestQueue::new(), completed: 0 }
}

fn done(device: &mut dyn Device, request: Request) -> Completion {
    device.submit(&request).expect("the device works")
}

/// Writes these pages, each by itself, at time 0.
fn write_each(device: &mut dyn Device, lpns: std::ops::Range<u64>) {
    for lpn in lpns {
        done(device, page(Op::Write, lpn));
    }
}

fn place(device: &dyn Device, lpn: u32) -> Ppn {
    match device.locate(Lpn(lpn)) {
        Location::Flash(ppn) => ppn,
        other => panic!("page {lpn} is not on flash: {other:?}"),
    }
}

#[test]
fn one_server_takes_requests_one_after_another() {
    let mut device = plain(&[]);
    assert_eq!(device.next_slot(), 0);
    let first = done(&mut device, at(1_000, page(Op::Write, 5)));
    assert_eq!((first.arrival, first.admitted, first.completed), (1_000, 1_000, 1_000 + PROGRAM));
    assert_eq!((first.stages.flash, first.stages.total()), (PROGRAM, PROGRAM));
    assert_eq!((device.next_slot(), device.idle_from()), (1_000 + PROGRAM, 1_000 + PROGRAM));
    let second = done(&mut device, at(2_000, page(Op::Read, 5)));
    assert_eq!((second.arrival, second.admitted), (2_000, first.completed));
    assert_eq!(second.completed, first.completed + READ);
    assert_eq!(second.stages.driver_queue, first.completed - 2_000);
    assert_eq!((device.board().meter().host().completed, device.last_version()), (2, Tag(1)));
    assert!(device.is_written(Lpn(5)) && !device.is_written(Lpn(4)));
}

#[test]
fn a_driver_may_hold_a_request_back() {
    let mut device = plain(&[]);
    let held = device.submit_at(&at(1_000, page(Op::Write, 5)), 9_000).expect("it works");
    assert_eq!((held.arrival, held.admitted, held.stages.driver_queue), (1_000, 9_000, 8_000));
    let held = device.submit_at(&at(10_000_000, page(Op::Write, 6)), 9_000).expect("it works");
    assert_eq!((held.arrival, held.admitted), (10_000_000, 10_000_000));
}

#[test]
fn pages_of_a_request_are_served_and_counted_together() {
    let mut device = plain(&[("timing.controller_page", "1us")]);
    let three = done(&mut device, request(Op::Write, 6, 7));
    assert_eq!(three.completed, 3 * (PROGRAM + 1_000), "a part of one, all of one, a part of one");
    let host = device.board().meter().host();
    assert_eq!((host.total_requests(), device.board().meter().programs(Cause::Host)), (1, 3));
    assert_eq!([1, 2, 3].map(|lpn| device.is_written(Lpn(lpn))), [true; 3]);
    assert_eq!(device.last_version(), Tag(3));
}

#[test]
fn a_request_beyond_the_device_is_refused_and_counted_by_nobody() {
    let mut device = plain(&[]);
    let (first_sector, sectors, capacity) = (254, 4, 256);
    let beyond = DeviceError::OutOfRange { first_sector, sectors, capacity };
    assert_eq!(device.submit(&request(Op::Read, 254, 4)), Err(beyond));
    assert_eq!(device.board().meter().host().total_requests(), 0);
}

#[test]
#[should_panic(expected = "a Write request must have at least one sector")]
fn a_write_has_a_sector() {
    let _ = plain(&[]).submit(&request(Op::Write, 4, 0));
}

/// A sector takes 512 us over the link, a command 3 us.
#[test]
fn commands_and_data_cross_the_link() {
    let pairs = [("host.link_bandwidth", "1MB"), ("host.command_overhead", "3us")];
    let mut device = plain(&pairs);
    let write = done(&mut device, page(Op::Write, 5));
    assert_eq!(write.completed, 3_000 + 4 * 512_000 + PROGRAM);
    assert_eq!((write.stages.host_link, write.stages.flash), (3_000 + 4 * 512_000, PROGRAM));
    let read = done(&mut device, at(10_000_000, page(Op::Read, 5)));
    assert_eq!(read.completed - read.admitted, 3_000 + READ + 4 * 512_000);
    assert_eq!(read.stages.host_link, 3_000 + 4 * 512_000);
    let trim = done(&mut device, at(20_000_000, page(Op::Trim, 5)));
    assert_eq!(trim.completed - trim.admitted, 3_000);
    let mut mapped = ssd::<IN_HOST>(&pairs);
    done(&mut mapped, page(Op::Write, 5));
    let trim = done(&mut mapped, at(20_000_000, page(Op::Trim, 5)));
    assert_eq!(trim.completed - trim.admitted, 0, "the host's own affair");
}

#[test]
fn a_page_is_forgotten_as_a_whole_where_trims_are_obeyed() {
    let mut device = plain(&[]);
    write_each(&mut device, 0..4);
    done(&mut device, request(Op::Trim, 2, 9));
    let written = |device: &dyn Device| [0, 1, 2, 3].map(|lpn| device.is_written(Lpn(lpn)));
    assert_eq!(written(&device), [true, false, true, true], "page 1 alone is covered");
    assert_eq!(device.locate(Lpn(1)), Location::Nowhere);
    let mut deaf = plain(&[("io.trim", "false")]);
    done(&mut deaf, page(Op::Write, 1));
    let trim = done(&mut deaf, at(10_000_000, page(Op::Trim, 1)));
    assert_eq!((trim.completed - trim.admitted, deaf.is_written(Lpn(1))), (0, true));
    assert_eq!(deaf.board().meter().host().total_requests(), 2);
}

#[test]
fn reads_are_held_against_what_was_written_last() {
    let mut device = plain(&[]);
    device.verify_reads();
    device.note_versions();
    done(&mut device, page(Op::Write, 5));
    done(&mut device, page(Op::Write, 5));
    done(&mut device, request(Op::Read, 16, 12));
    assert_eq!(device.versions_found(), [Tag(0), Tag(2), Tag(0)]);
    assert_eq!(device.verified_reads(), 3);
    done(&mut device, flush());
    assert!(device.versions_found().is_empty());
    device.ledger.wrote(Lpn(5), Tag(9));
    let (lpn, expected, found) = (Lpn(5), Tag(9), Tag(2));
    let wrong = DeviceError::WrongData { lpn, expected, found };
    assert_eq!(device.submit(&page(Op::Read, 5)), Err(wrong));
    assert_eq!(device.board().meter().host().interrupted, 1);
    let audited = device.audit().expect_err("it is another version");
    assert_eq!(audited, "page 5 is located in version 2, but 9 was written last");
}

#[test]
fn pages_that_cannot_be_read_are_told_with_the_first_of_them() {
    let mut device = plain(&[]);
    device.verify_reads();
    done(&mut device, request(Op::Write, 0, 16));
    device.board_mut().nand_mut().faults_mut().fail_read_after(1);
    let lost = done(&mut device, request(Op::Read, 0, 16)).unreadable;
    assert_eq!(lost, Some(Unreadable { first: Lpn(1), pages: 1 }));
    device.board_mut().nand_mut().faults_mut().fail_read_after(2);
    let lost = done(&mut device, request(Op::Read, 0, 16)).unreadable.expect("two of them");
    assert_eq!((lost.first, lost.pages), (Lpn(1), 2));
    assert_eq!(done(&mut device, page(Op::Read, 0)).unreadable, None);
    assert_eq!(device.verified_reads(), 3 + 2 + 1, "what is lost is not compared");
    device.audit().expect("what is lost is lost on flash");
}

/// The scheme hands over the page as lost, and flash has it.
#[test]
fn what_is_lost_is_lost_on_flash_in_the_version_written_last() {
    let mut device = plain(&[]);
    device.verify_reads();
    done(&mut device, page(Op::Write, 5));
    let (lpn, expected, found) = (Lpn(5), Tag(1), Tag(1));
    let wrong = Err(DeviceError::WrongData { lpn, expected, found });
    assert_eq!(device.note_unreadable(Lpn(5)), wrong, "it can be read");
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    done(&mut device, page(Op::Read, 5));
    assert_eq!(device.version_of(Lpn(5)), (Tag(1), true));
    device.ledger.wrote(Lpn(5), Tag(4));
    let wrong = DeviceError::WrongData { lpn, expected: Tag(4), found };
    assert_eq!(device.submit(&page(Op::Read, 5)), Err(wrong));
    assert_eq!(device.version_of(Lpn(6)), (Tag(0), false), "nowhere");
}

#[test]
fn versions_go_round_and_leave_out_two() {
    let mut device = plain(&[]);
    device.next_tag = u32::MAX - 2;
    done(&mut device, page(Op::Write, 5));
    assert_eq!(device.last_version(), Tag(u32::MAX - 1));
    done(&mut device, page(Op::Write, 5));
    assert_eq!(device.last_version(), Tag(1), "neither the highest nor 0");
}

fn with_content(lpn: u64, content: u64) -> Request {
    Request { content: Some(Content::new(content)), ..page(Op::Write, lpn) }
}

#[test]
fn equal_contents_are_equal_versions_where_the_scheme_looks_at_them() {
    let mut device = ssd::<CONTENT>(&[]);
    device.note_versions();
    [(0, 7), (1, 8), (2, 7)].into_iter().for_each(|(lpn, content)| {
        done(&mut device, with_content(lpn, content));
    });
    done(&mut device, page(Op::Write, 3));
    done(&mut device, request(Op::Read, 0, 16));
    assert_eq!(device.versions_found(), [1, 2, 1, 3].map(Tag));
    assert_eq!(device.last_version(), Tag(3));
    let mut deaf = plain(&[]);
    deaf.note_versions();
    for lpn in [0, 1] {
        done(&mut deaf, with_content(lpn, 7));
    }
    done(&mut deaf, request(Op::Read, 0, 8));
    assert_eq!(deaf.versions_found(), [1, 2].map(Tag));
}

#[test]
fn contents_are_told_apart_as_long_as_versions_do_not_go_round() {
    let mut device = ssd::<CONTENT>(&[]);
    device.next_tag = u32::MAX - 2;
    done(&mut device, page(Op::Write, 5));
    assert_eq!(device.submit(&page(Op::Write, 5)), Err(DeviceError::TooManyContents));
    let mut deaf = plain(&[]);
    deaf.next_tag = u32::MAX - 1;
    done(&mut deaf, page(Op::Write, 5));
}

/// Two planes that work by themselves: one is busy, one is not.
#[test]
fn flash_is_ready_when_the_die_of_the_first_page_or_any_is() {
    let pairs = [
        ("timing.profile", "parallel"),
        ("device.dies", "2"),
        ("device.blocks_per_plane", "12"),
        ("buffer.bytes", "8192"),
    ];
    let mut device = plain(&pairs);
    done(&mut device, page(Op::Write, 0));
    let busy = device.board().geometry().plane_of(place(&device, 0));
    let home = |lpn| device.board().geometry().home_plane(Lpn(lpn));
    let (same, other) = match home(2) == busy {
        true => (2, 3),
        false => (3, 2),
    };
    assert_eq!(device.ready_from(&page(Op::Read, 0)), PROGRAM);
    assert_eq!(device.ready_from(&page(Op::Read, same)), PROGRAM, "where it would be");
    assert_eq!(device.ready_from(&page(Op::Read, other)), 0);
    assert_eq!(device.ready_from(&page(Op::Write, 0)), 0, "any die");
    assert_eq!(device.ready_from(&request(Op::Read, 254, 4)), 0, "there is no such page");
    done(&mut device, page(Op::Write, 1));
    assert_eq!(device.ready_from(&page(Op::Write, 0)), PROGRAM);
    device.start_measuring();
    assert_eq!(device.measured_from(), PROGRAM);
    assert_eq!(device.ready_from(&page(Op::Read, 0)), 0, "on the clock of arrivals");
}

#[test]
fn a_page_in_memory_waits_for_no_flash() {
    let pairs = [("timing.profile", "parallel"), ("buffer.name", "lru"), ("buffer.bytes", "8192")];
    let mut device = plain(&pairs);
    write_each(&mut device, 0..5);
    assert!(matches!(device.locate(Lpn(4)), Location::Ram(Tag(5))));
    assert_eq!(device.ready_from(&page(Op::Read, 4)), 0);
    assert!(device.ready_from(&page(Op::Read, 0)) > 0, "it left");
}

#[test]
fn measuring_begins_at_time_0_with_nothing_counted() {
    let mut device = plain(&[]);
    device.verify_reads();
    done(&mut device, page(Op::Write, 5));
    done(&mut device, page(Op::Read, 5));
    device.start_measuring();
    assert_eq!((device.measured_from(), device.idle_from()), (PROGRAM + READ, 0));
    assert_eq!((device.next_slot(), device.verified_reads()), (0, 0));
    assert_eq!(device.board().meter().host().total_requests(), 0);
    let write = done(&mut device, at(7_000, page(Op::Write, 5)));
    assert_eq!((write.admitted, write.completed), (7_000, 7_000 + PROGRAM));
    assert_eq!((device.idle_from(), device.next_slot()), (7_000 + PROGRAM, 7_000 + PROGRAM));
}

#[test]
fn a_buffer_is_written_out_where_caches_are_to_be_clean() {
    let mut device = plain(&[("buffer.name", "lru"), ("buffer.bytes", "8192")]);
    done(&mut device, page(Op::Write, 0));
    assert_eq!(device.locate(Lpn(0)), Location::Ram(Tag(1)));
    let before = device.idle_from();
    assert_eq!(device.clean_caches(), Ok(0), "no entry of a map had changed");
    let _ = place(&device, 0);
    assert_eq!(device.idle_from(), before + PROGRAM);
    assert_eq!(device.board().meter().host().total_requests(), 1, "no request of the host");
}

#[test]
fn what_a_scheme_says_of_its_memory_is_handed_on() {
    let mut device = ssd::<IN_PCM>(&[]);
    device.scheme.as_mut().expect("there").changed = 3;
    assert_eq!((device.changed_entries(), device.clean_caches()), (3, Ok(3)));
    assert_eq!((device.changed_entries(), device.clean_caches()), (0, Ok(0)));
    device.pcm_mut()[1] = 7;
    assert_eq!(device.pcm(), [0, 7]);
    assert!(plain(&[]).pcm().is_empty());
}

#[test]
fn hints_go_by_what_a_unit_leaves_of_its_stride() {
    let pairs = [("gc.placement", "hint"), ("host.hints", "unit"), ("placement.handles", "4")];
    let blocks = |stride: Option<u32>| {
        let mut device = ssd::<DIVIDES>(&pairs);
        stride.into_iter().for_each(|stride| device.units_have_stride(stride));
        for (lpn, unit) in [(0, 1), (1, 3), (2, 0)] {
            done(&mut device, Request { unit, ..page(Op::Write, lpn) });
        }
        [0, 1, 2].map(|lpn| device.board().geometry().block_of(place(&device, lpn)))
    };
    let [one, three, zero] = blocks(Some(2));
    assert!(one == three && one != zero);
    let [one, three, zero] = blocks(None);
    assert!(one != three && one != zero && three != zero);
}

#[test]
fn a_page_in_the_buffer_is_read_from_there() {
    let mut device = plain(&[("buffer.name", "lru"), ("buffer.bytes", "8192")]);
    device.note_versions();
    done(&mut device, page(Op::Write, 0));
    done(&mut device, flush());
    done(&mut device, page(Op::Write, 0));
    assert_eq!(device.version_of(Lpn(0)), (Tag(2), false), "it is not lost");
    let read = done(&mut device, at(10_000_000, page(Op::Read, 0)));
    assert_eq!(device.versions_found(), [Tag(2)]);
    assert_eq!(read.completed, 10_000_000, "no flash is read");
}

/// A sector of the page is in the buffer, the others are lost.
#[test]
fn a_page_is_lost_whose_other_sectors_are() {
    let pairs = [("io.partial_write", "rmw"), ("buffer.name", "lru"), ("buffer.bytes", "8192")];
    let mut device = plain(&pairs);
    device.verify_reads();
    done(&mut device, page(Op::Write, 0));
    done(&mut device, flush());
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    done(&mut device, request(Op::Write, 0, 1));
    let lost = done(&mut device, page(Op::Read, 0)).unreadable;
    assert_eq!(lost, Some(Unreadable { first: Lpn(0), pages: 1 }));
    assert_eq!(device.version_of(Lpn(0)), (Tag(2), true));
}

#[test]
fn a_flush_writes_a_buffer_out_and_then_records_trims() {
    let mut device = plain(&[("buffer.name", "lru"), ("buffer.bytes", "8192")]);
    done(&mut device, page(Op::Write, 0));
    let flushed = done(&mut device, at(1_000_000, flush()));
    assert_eq!(flushed.completed - flushed.admitted, PROGRAM);
    done(&mut device, at(2_000_000, page(Op::Trim, 0)));
    assert_eq!(device.locate(Lpn(0)), Location::Nowhere);
    let flushed = done(&mut device, at(3_000_000, flush()));
    assert_eq!(flushed.completed - flushed.admitted, PROGRAM, "a page of records");
    let mut bare = plain(&[]);
    done(&mut bare, page(Op::Write, 0));
    assert_eq!(done(&mut bare, at(1_000_000, flush())).completed, 1_000_000);
}

#[test]
fn a_duplicate_goes_its_own_way() {
    let mut device = plain(&[]);
    done(&mut device, page(Op::Write, 0));
    let mut other = device.duplicate();
    assert_eq!(other.idle_from(), device.idle_from());
    done(other.as_mut(), page(Op::Write, 1));
    assert_eq!([device.is_written(Lpn(1)), other.is_written(Lpn(1))], [false, true]);
    assert_eq!((device.config().device.blocks_per_plane, device.room().threshold), (24, 3));
}

#[test]
fn streams_are_told_apart_by_the_unit_of_a_request() {
    let mut device = plain(&[("host.streams", "3"), ("host.queue_depth", "4")]);
    for unit in [0, 1, 4, 5, 4] {
        done(&mut device, Request { unit, ..page(Op::Write, 3) });
    }
    let streams = device.board().meter().streams();
    assert_eq!([0, 1, 2].map(|stream| streams[stream].writes), [1, 3, 1]);
    let mut alone = plain(&[]);
    done(&mut alone, page(Op::Write, 3));
    let first = &alone.board().meter().streams()[0];
    assert_eq!(first.writes, 0, "one stream is no stream");
}

#[test]
fn a_device_refuses_what_it_cannot_be_made_of() {
    let refused =
        |pairs| Ssd::<Toy<0>>::new(&config(pairs), (), 1).err().map(|error| error.to_string());
    assert_eq!(refused(&[]), None);
    let words = refused(&[("host.weights", "1,2")]).expect("one stream");
    assert!(words.contains("host.weights"), "{words}");
    let words = refused(&[("alloc.unit", "line")]).expect("not under this scheme");
    assert!(words.starts_with("alloc.unit = line does not go with toy"), "{words}");
    let words = refused(&[("device.over_provisioning", "0.1")]).expect("too many pages");
    assert!(words.starts_with("toy needs at least"), "{words}");
}
