//! Closed blocks, and the share of garbage among what is written.

use super::*;

const DATA: Place = (FIRST, Stream::Data);

#[test]
fn closed_blocks_that_hold_garbage_are_those_that_nobody_else_has() {
    let mut rig = Rig::new(&[("slc.dynamic_share", "1"), ("device.bits_per_cell", "2")], 16, 2);
    let _full = rig.block(DATA, 4);
    let (data, map) = (rig.block(DATA, 3), rig.block((FIRST, Stream::Map), 0));
    let begun = rig.block(DATA, 1);
    rig.begin(begun, Cause::Gc);
    let emptied = rig.block(DATA, 1);
    rig.space.collecting = Some(emptied);
    // Two blocks of the cache, of two pages each: the first is full and has lost one.
    let cached: Vec<Ppn> = (0..4).map(|page| rig.write((FIRST, Stream::Slc), page)).collect();
    rig.invalidate(cached[0]);
    let open = rig.write(DATA, 0);
    rig.invalidate(open);
    let first = rig.board.geometry().block_of(cached[0]);
    assert!(rig.space.is_cached(first) && rig.board.nand().valid_pages(first) < 4);
    let closed: Vec<BlockId> = rig.space.closed_blocks(&rig.board, FIRST).collect();
    assert_eq!(closed, [data, map]);
}

/// Two of eight pages are superseded, two of a block: a quarter of all, and half of that. What is
/// neither written nor free, since it is out of use, counts for neither.
#[test]
fn more_garbage_than_the_share_of_what_is_written_is_collected() {
    for (share, collects) in [("0.3", false), ("0.25", false), ("0.2", true)] {
        let pairs = [("gc.trigger", "garbage_share"), ("gc.garbage_share", share)];
        let mut rig = Rig::new(&pairs, 8, 2);
        let (_full, victim) = (rig.block(DATA, 4), rig.block(DATA, 2));
        rig.keep_free(FIRST, 4);
        rig.space.planes[0].retired = 2;
        let Rig { board, space, owner, .. } = &mut rig;
        let _ = space.collect_share(board, owner, DATA, When::START).expect("nothing fails");
        assert_eq!(!rig.holds(victim), collects, "{share}");
    }
}

/// The request ends in the middle of its second flash page, which is not programmed with the first
/// one: no transfer is booked for it, that the program would wait for.
#[test]
fn what_a_request_leaves_half_written_is_announced_to_nobody() {
    let ends_after = |pages: u32| {
        let pairs = [
            ("device.page_bytes", "8KiB"),
            ("device.mapping_unit", "4KiB"),
            ("timing.multi_plane_program", "true"),
            ("timing.page_transfer", "10us"),
        ];
        let mut rig = Rig::new(&pairs, 8, 2);
        let Rig { board, space, .. } = &mut rig;
        let mut done = When::START;
        for index in 0..2 {
            let request = RequestShape { first_lpn: Lpn(0), pages, index, ..io(0).request };
            let io = PageIo { lpn: Lpn(index), request, ..io(0) };
            let plane = space.place_host(board, &io);
            let what = (&io, PageKind::Data, None);
            done = space.write(board, (plane, Stream::Data), what, done).expect("there is room").1;
        }
        ends(board, done)
    };
    let alone = ends_after(2);
    assert_eq!(ends_after(3), alone);
    assert_eq!(ends_after(4), alone + 10_000, "the whole of it is");
}

/// The second page of a request of two was announced, so that its transfer is booked behind the
/// first one's; it comes by itself, which announces nothing else.
#[test]
fn a_page_that_comes_alone_takes_the_transfer_that_was_booked_for_it() {
    let pairs = [("timing.multi_plane_program", "true"), ("timing.page_transfer", "10us")];
    let mut rig = Rig::new(&pairs, 8, 2);
    let both = RequestShape { pages: 2, ..io(0).request };
    let ends = [PageIo { request: both, ..io(0) }, io(1)].map(|io| {
        let Rig { board, space, .. } = &mut rig;
        let plane = space.place_host(board, &io);
        let what = (&io, PageKind::Data, None);
        let written = space.write(board, (plane, Stream::Data), what, When::START);
        ends(board, written.expect("there is room").1)
    });
    assert_eq!(ends, [220_000, 220_000], "two transfers, and a program of both");
}
