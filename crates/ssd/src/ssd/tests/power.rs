//! The power goes and comes back.

use super::*;

#[test]
fn a_device_that_recovers_has_what_was_written() {
    let mut device = plain(&[]);
    device.verify_reads();
    write_each(&mut device, 0..4);
    done(&mut device, page(Op::Trim, 3));
    done(&mut device, flush());
    let before = device.idle_from();
    let took = device.power_cycle().expect("it recovers");
    assert!(took > 0 && device.idle_from() == before + took, "{took}");
    assert_eq!([0, 1, 2, 3].map(|lpn| device.is_written(Lpn(lpn))), [true, true, true, false]);
    assert_eq!((device.last_version(), device.next_slot()), (Tag(4), 0));
    device.audit().expect("it is sound");
    done(&mut device, at(before + took, page(Op::Write, 5)));
    assert_eq!(device.last_version(), Tag(5));
}

#[test]
fn what_was_in_memory_is_lost_with_the_power_and_nobody_expects_it() {
    let pairs = [("buffer.name", "lru"), ("buffer.bytes", "8192")];
    let mut device = plain(&pairs);
    device.verify_reads();
    done(&mut device, page(Op::Write, 0));
    done(&mut device, flush());
    done(&mut device, page(Op::Write, 0));
    done(&mut device, page(Op::Write, 1));
    device.power_cycle().expect("it recovers");
    assert_eq!([0, 1].map(|lpn| device.is_written(Lpn(lpn))), [true, false]);
    device.note_versions();
    done(&mut device, request(Op::Read, 0, 8));
    assert_eq!(device.versions_found(), [Tag(1), Tag(0)]);
    let kept = [&pairs[..], &[("device.ram_nonvolatile", "true")]].concat();
    let mut device = plain(&kept);
    done(&mut device, page(Op::Write, 1));
    device.power_cycle().expect("it recovers");
    assert_eq!((device.locate(Lpn(1)), device.is_written(Lpn(1))), (Location::Ram(Tag(1)), true));
}

/// Flash of another device: its versions are not used again.
#[test]
fn a_device_goes_on_behind_the_versions_that_it_finds_on_flash() {
    let mut device = plain(&[]);
    for (place, lpn, version) in [(0, 5, 7), (1, 6, 9), (2, 5, 8)] {
        let (lpn, data) = (Lpn(lpn), Tag(version));
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        let io = PageIo { lpn, sectors: 15, cause: Cause::Host, data, request };
        let written =
            device.board.program_update(Ppn(place), None, &io, PageKind::Data, When::START);
        let _ = written.expect("nothing fails");
    }
    device.power_cycle().expect("it recovers");
    assert_eq!(device.last_version(), Tag(9));
    assert_eq!([place(&device, 5), place(&device, 6)], [Ppn(2), Ppn(1)]);
    done(&mut device, page(Op::Write, 5));
    device.power_cycle().expect("it recovers");
    assert_eq!(device.last_version(), Tag(10));
}
