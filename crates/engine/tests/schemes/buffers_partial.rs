//! Pages of which a buffer has some sectors and flash the others, or nobody: what is read, what is
//! kept, and what padding makes of them. Pages have four sectors, blocks and buffers four pages.

use crate::buffers::sectors;
use crate::common::{flush, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation::{self, Program, Read};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause::{Host, Pad};
use ftlab_engine::request::{Op, Unreadable};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

/// A page map behind a buffer, which checks what is read.
fn device(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let common =
        [("device.page_bytes", "2048"), ("io.partial_write", "rmw"), ("buffer.bytes", "8192")];
    let config = tiny("ideal_page", 10, &[&common, pairs].concat());
    let mut device = open("ideal_page", &config);
    device.verify_reads();
    (config, device)
}

fn write(device: &mut dyn Device, page: u64, from: u64, count: u32) {
    device.submit(&sectors(Op::Write, page, from, count)).expect("the device works");
}

/// What of these sectors of a page could not be read.
fn read(device: &mut dyn Device, page: u64, from: u64, count: u32) -> Option<Unreadable> {
    let request = sectors(Op::Read, page, from, count);
    let completion = device.submit(&request).expect("the run goes on");
    device.audit().expect("the device is sound");
    completion.unreadable
}

const LOST: Option<Unreadable> = Some(Unreadable { first: Lpn(5), pages: 1 });

/// Pages 4 to 11 are on flash, where page 5 cannot be read; 4 to 7 are not in the buffer.
fn with_a_lost_page(pairs: &[(&str, &str)]) -> Box<dyn Device> {
    let (config, mut device) = device(pairs);
    for first in [4, 8] {
        (first..first + 4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
        flush(device.as_mut());
    }
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    assert_eq!(read(device.as_mut(), 5, 0, 4), LOST);
    device
}

#[test]
fn what_a_buffer_lacks_of_a_page_is_lost_where_flash_has_lost_it() {
    let mut device = with_a_lost_page(&[("buffer.name", "lru")]);
    let device = device.as_mut();
    write(device, 5, 1, 2);
    assert_eq!(read(device, 5, 1, 2), None, "both are here");
    assert_eq!(read(device, 5, 0, 4), LOST);
    assert_eq!(read(device, 5, 3, 1), LOST, "errors have the size of a page");
    write(device, 5, 0, 1);
    assert_eq!(read(device, 5, 0, 3), None);
    assert_eq!(read(device, 5, 2, 2), LOST, "the last one is not here yet");
    write(device, 5, 3, 1);
    assert_eq!(read(device, 5, 0, 4), None, "nothing of the lost page is needed");
    // Beside a page that flash can read.
    write(device, 6, 1, 2);
    assert_eq!(read(device, 6, 0, 4), None);
}

/// A page that was written out stays as clean where reads are kept, all of it, because what it
/// lacked was read to be written with it. Where that could not be read, the page is lost on flash,
/// and here as well.
#[test]
fn a_page_that_is_lost_on_flash_is_not_kept_as_whole() {
    let mut device = with_a_lost_page(&[("buffer.name", "cflru")]);
    let device = device.as_mut();
    write(device, 5, 1, 2);
    write(device, 6, 1, 2);
    flush(device);
    let operations = record(device, |device| assert_eq!(read(device, 6, 0, 4), None));
    assert!(operations.is_empty(), "page 6 is here, with the sectors that flash had");
    assert_eq!(read(device, 5, 0, 4), LOST);
    assert_eq!(read(device, 5, 1, 2), LOST, "errors have the size of a page");
}

/// The first and the last sector of page 5 were never written: they are nowhere, and a copy of the
/// page for padding does not make zeros of them. Who writes the others anew keeps nothing.
#[test]
fn padding_copies_the_sectors_that_a_page_has() {
    let (config, mut device) =
        device(&[("buffer.name", "bplru"), ("buffer.pad_unwritten", "false")]);
    let device = device.as_mut();
    let has = |device: &dyn Device, page| {
        let ppn = place(device, page);
        (ppn, device.board().nand().state().mask(ppn))
    };
    let flushed = |device: &mut dyn Device| -> Vec<Operation> { record(device, flush) };
    write(device, 5, 1, 2);
    assert_eq!(flushed(device).len(), 1, "4, 6 and 7 were never written");
    let (old, held) = has(device, 5);
    assert_eq!(held, 0b0110);
    submit(device, &config, Op::Write, 4);
    let operations = flushed(device);
    let (four, five) = (has(device, 4), has(device, 5));
    assert_eq!(operations, [Read(old, Pad), Program(four.0, Host), Program(five.0, Pad)]);
    assert_eq!((four.1, five.1), (0b1111, 0b0110));
    write(device, 5, 1, 2);
    let operations = flushed(device);
    let now = [4, 5].map(|page| place(device, page));
    assert_eq!(operations, [Read(four.0, Pad), Program(now[0], Pad), Program(now[1], Host)]);
    device.audit().expect("the device is sound");
}
