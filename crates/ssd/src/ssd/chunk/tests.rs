//! Which ways are taken for requests: what comes of it is the same whichever it is, so that only
//! this tells.

use super::*;
use crate::for_tests::{CONTENT, Toy, config, request};
use crate::host::LongestQueue;
use ftlab_flash::board::nand::clock::Booked;

fn ssd<const TRAITS: u32>(pairs: &[(&str, &str)]) -> Ssd<Toy<TRAITS>> {
    Ssd::new(&config(pairs), (), 1).unwrap_or_else(|error| panic!("{error}"))
}

fn plain(pairs: &[(&str, &str)]) -> Ssd<Toy<0>> {
    ssd::<0>(pairs)
}

fn served(closed: Option<Nanos>) -> Served {
    Served { closed, longest: LongestQueue::new(), completed: 0 }
}

fn write(lpn: u64) -> Request {
    request(Op::Write, 4 * lpn, 4)
}

#[test]
fn a_write_of_a_page_or_of_a_part_of_one_is_of_that_page() {
    let device = plain(&[]);
    let page = |op, first, sectors| device.only_page(&request(op, first, sectors));
    assert_eq!([page(Op::Write, 20, 4), page(Op::Write, 21, 2)], [Some(5); 2]);
    assert_eq!(page(Op::Write, 252, 4), Some(63), "the last one");
    assert_eq!(page(Op::Write, 256, 4), None, "beyond the device");
    assert_eq!([page(Op::Write, 22, 4), page(Op::Read, 20, 4)], [None; 2]);
    assert_eq!(page(Op::Write, 20, 0), None);
}

#[test]
fn writes_come_in_rows_as_long_as_the_scheme_and_the_window_have_room() {
    let mut device = plain(&[]);
    assert!(!device.would_write_alike(&write(5)), "no block is open");
    device.submit_one(&write(0), 0).expect("it works");
    assert!(device.would_write_alike(&write(5)) && !device.would_write_alike(&write(64)));
    (device.alike.left, device.alike.booked) = (2, Booked::default());
    let mut row = Row::default();
    let in_row = [5, 6, 7].map(|lpn| device.write_in_row(&write(lpn), &mut row));
    assert_eq!((in_row, row.requests, row.sectors), ([true, true, false], 2, 8));
    assert!(matches!(device.write_untimed(&write(7)), Some(Ppn(3))));
    assert_eq!(device.next_tag, 4);
    assert!(device.write_untimed(&request(Op::Read, 0, 4)).is_none());
}

/// 40 us on the channel, then 100 us of the cells; one request at a time.
#[test]
fn writes_are_timed_without_a_token() {
    let mut device = plain(&[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "40us"),
        ("timing.program", "100us"),
        ("host.queue_depth", "1"),
    ]);
    let (mut how, mut row) = (served(Some(0)), Row::default());
    device.submit_one(&write(0), 0).expect("it works");
    assert!(device.write_timed(&mut write(5), &mut how, &mut row));
    assert_eq!((how.completed, row.requests), (280_000, 0), "others may be like it");
    assert!(device.alike.takes_write(280_000, (320_000, 420_000)));
    assert!(device.write_timed(&mut write(6), &mut how, &mut row));
    assert_eq!((how.completed, row.last, row.requests), (420_000, 420_000, 1));
    assert!(!device.write_timed(&mut request(Op::Read, 0, 4), &mut how, &mut row));
}

/// Nobody counts how they were served but a clock on the wall; this is what decides it.
#[test]
fn rows_of_writes_are_booked_where_nothing_else_takes_time() {
    let kind = |pairs: &[_], closed: Option<Nanos>| plain(pairs).rows(&served(closed));
    let parallel = ("timing.profile", "parallel");
    assert_eq!(kind(&[], Some(0)), rows::BOOKED_AT_ONCE);
    assert_eq!(kind(&[], None), rows::NONE, "requests arrive by themselves");
    assert_eq!(kind(&[("host.queue_depth", "3")], Some(0)), rows::NONE);
    let transfer = ("timing.page_transfer", "40us");
    assert_eq!(kind(&[parallel, transfer], Some(0)), rows::BOOKED_SINGLY);
    assert_eq!(kind(&[parallel, transfer], None), rows::NONE);
    assert_eq!(kind(&[parallel, transfer, ("timing.controller_page", "3us")], Some(0)), rows::NONE);
    assert_eq!(ssd::<CONTENT>(&[]).rows(&served(Some(0))), rows::NONE);
    let is_plain = |pairs: &[_]| plain(pairs).is_plain();
    assert!(is_plain(&[]));
    let more = [
        &[("host.link_bandwidth", "10MB")][..],
        &[("host.streams", "3")],
        &[("gc.mode", "both")],
        &[("buffer.name", "lru"), ("buffer.bytes", "8192")],
    ];
    assert_eq!(more.map(is_plain), [false; 4]);
}
