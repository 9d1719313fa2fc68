//! What the host may do with a page, what is done in a gap, and sizes.

use super::*;
use ftlab_flash::meter::Event;

/// A table that writes trims down itself, and in which pages could share.
struct Noting(Plain);

impl PageTable for Noting {
    const SHARES: bool = true;
    const RECORDS_TRIMS: bool = true;

    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.0.entry(lpn)
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.0.change(lpn, ppn);
    }

    fn moved(&mut self, board: &mut Board, page: Moved) {
        self.0.moved(board, page);
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        self.0.settle(board, after)
    }
}

/// Trims pages 3 and 4, of which the first was written: what that says, whether the page is valid
/// still, and whether a record is to be written.
fn trimmed<T: PageTable>(table: T) -> ([bool; 2], bool, bool) {
    let mut bench = Bench::new(table);
    bench.write(3);
    let ppn = bench.base.map.table.entry(Lpn(3)).expect("it was written");
    let trimmed = [3, 4].map(|lpn| bench.base.trim(&mut bench.board, Lpn(lpn)));
    assert_eq!(bench.base.map.table.entry(Lpn(3)), None);
    assert!(!bench.base.trim(&mut bench.board, Lpn(3)), "there is none any more");
    let is_valid = bench.board.nand().state().is_valid(ppn);
    (trimmed, is_valid, bench.base.map.trims.next_pending().is_some())
}

#[test]
fn a_trimmed_page_is_nowhere_and_recorded_unless_the_table_does_that() {
    assert_eq!(trimmed(Plain::new()), ([true, false], false, true));
    assert_eq!(trimmed(Noting(Plain::new())), ([true, false], false, false));
}

#[test]
fn a_flush_writes_one_record_for_the_pages_of_a_segment() {
    let mut bench = Bench::new(Plain::new());
    (0..3).for_each(|lpn| bench.write(lpn));
    (0..2).for_each(|lpn| assert!(bench.base.trim(&mut bench.board, Lpn(lpn))));
    let flush = |bench: &mut Bench<Plain>| {
        let done = bench.base.flush(&mut bench.board, When::START).expect("there is room");
        (done != When::START, bench.board.meter().programs(Cause::Trim))
    };
    assert_eq!(flush(&mut bench), (true, 1));
    let first = bench.base.map.trims.location(0).expect("it was flushed");
    assert!(bench.board.nand().state().is_valid(first));
    assert_eq!(flush(&mut bench), (false, 1), "nothing is left to record");
    assert!(bench.base.trim(&mut bench.board, Lpn(2)));
    assert_eq!(flush(&mut bench), (true, 2));
    assert!(!bench.board.nand().state().is_valid(first), "another one replaces it");
}

#[test]
fn a_record_that_collection_moved_is_where_it_moved_to() {
    let mut bench = Bench::new(Plain::new());
    let (kind, done) = (PageKind::TrimRecord, When::START.into());
    let page = Moved { logical: 0, kind, old: Ppn(9), new: Ppn(12), done, newer: false };
    bench.base.map.moved(&mut bench.board, page);
    assert_eq!(bench.base.map.trims.location(0), Some(Ppn(12)));
}

#[test]
fn a_page_reads_as_it_was_written_and_one_that_was_not_as_nothing() {
    let mut bench = Bench::new(Plain::new());
    let io = Bench::<Plain>::io(3, 7);
    let room = bench.base.make_room(&mut bench.board, &io, When::START);
    let (place, ready) = room.expect("there is room");
    let written = bench.base.put(&mut bench.board, &io, place, ready).expect("there is room");
    let (done, data) = bench.base.read(&mut bench.board, &io, written).expect("nothing fails");
    assert_eq!(data, Tag(7));
    assert_ne!(done, written, "a read takes its time");
    let other = Bench::<Plain>::io(4, 0);
    let (_, data) = bench.base.read(&mut bench.board, &other, written).expect("nothing fails");
    assert_eq!(data, Tag(0));
}

/// Blocks have four pages.
#[test]
fn a_plane_has_room_while_a_page_of_an_open_block_is_left() {
    let mut bench = Bench::new(Plain::new());
    let rooms = [0, 1, 2, 3, 4].map(|lpn| {
        let room = bench.base.has_room(PlaneId(0));
        bench.write(lpn);
        room
    });
    assert_eq!(rooms, [false, true, true, true, false]);
}

/// Pages are whole: those that keep something of what they supersede read it, which takes time.
/// Blocks have four pages.
#[test]
fn a_page_is_put_without_its_time_while_an_open_block_has_a_page() {
    let mut bench = Bench::of(Plain::new(), &[("io.partial_write", "whole_page")]);
    assert!(bench.board.writes_alike());
    let put = |bench: &mut Bench<Plain>, lpn| {
        let free_from = |bench: &Bench<Plain>| bench.board.nand().plane_free_from(PlaneId(0));
        let before = free_from(bench);
        let (io, place) = (Bench::<Plain>::io(lpn, 7), (PlaneId(0), Stream::Data));
        let put = bench.base.put_untimed(&mut bench.board, &io, place);
        assert_eq!(free_from(bench), before, "no time is booked");
        (put, bench.board.meter().programs(Cause::Host))
    };
    assert_eq!(put(&mut bench, 3), (None, 0), "no block is open");
    [3, 4].into_iter().for_each(|lpn| bench.write(lpn));
    let old = bench.base.map.table.entry(Lpn(3)).expect("it was written");
    let new = Ppn(old.0 + 2);
    assert_eq!(put(&mut bench, 3), (Some(new), 3), "behind page 4");
    assert_eq!(bench.base.map.table.entry(Lpn(3)), Some(new));
    assert_eq!(bench.board.nand().state().tag(new), Tag(7));
    let is_valid = |bench: &Bench<Plain>, ppn| bench.board.nand().state().is_valid(ppn);
    assert_eq!([old, new].map(|ppn| is_valid(&bench, ppn)), [false, true]);
    assert_eq!(put(&mut bench, 5), (Some(Ppn(old.0 + 3)), 4));
    assert_eq!(put(&mut bench, 3), (None, 4), "the block is full");
    assert_eq!(bench.base.map.table.entry(Lpn(3)), Some(new));
    assert!(is_valid(&bench, new));
}

/// Writes these pages: the plane of each.
fn planes<T: PageTable, const N: usize>(bench: &mut Bench<T>, lpns: [u32; N]) -> [u32; N] {
    lpns.map(|lpn| {
        bench.write(lpn);
        bench.board.geometry().plane_of_block(bench.block_of(lpn)).0
    })
}

/// Of two planes pages of even numbers are at home in the first one, those of odd numbers in the
/// second. Each has eight blocks of four pages, six of which are a reserve (the threshold of three,
/// two streams of data and a spare): eight valid pages are its share.
#[test]
fn a_page_goes_to_its_plane_unless_that_has_its_share_and_pages_can_share() {
    let pairs = [("device.planes", "2"), ("device.blocks_per_plane", "8")];
    let mut sharing = Bench::of(Noting(Plain::new()), &pairs);
    assert_eq!(planes(&mut sharing, [2, 4, 1, 2, 3]), [0, 0, 1, 0, 1]);
    assert_eq!(planes(&mut sharing, [0, 6, 8, 10, 12, 14]), [0; 6]);
    assert_eq!(planes(&mut sharing, [16, 18, 5]), [1, 1, 1], "the first one has eight");
    let mut alone = Bench::of(Plain::new(), &pairs);
    assert_eq!(planes(&mut alone, [0, 2, 4, 6, 8, 10, 12, 14]), [0; 8]);
    assert_eq!(planes(&mut alone, [16, 18, 5]), [0, 0, 1]);
}

/// Idle time collects blocks with garbage where few blocks are free, and nothing on a device that
/// is empty. Few are those below a thousand times the threshold: all thirteen.
#[test]
fn a_gap_collects_when_there_is_something_to_collect() {
    let mut bench = Bench::of(Plain::new(), &[("gc.mode", "both"), ("gc.idle_factor", "1000")]);
    let idle = |bench: &mut Bench<Plain>| {
        let step = bench.base.idle(&mut bench.board, When::START).expect("nothing fails");
        (step.map(|done| done != When::START), bench.board.meter().events(Event::IdleVictims))
    };
    assert_eq!(idle(&mut bench), (None, 0));
    (0..4).cycle().take(9).for_each(|lpn| bench.write(lpn));
    assert_eq!(idle(&mut bench), (Some(true), 1));
    assert_eq!(bench.board.meter().total_erases(), 1);
}

#[test]
fn a_block_that_was_read_twice_the_limit_of_two_is_moved_at_once() {
    let mut bench = Bench::of(Plain::new(), &[("refresh.reads", "2"), ("gc.mode", "both")]);
    (0..5).for_each(|lpn| bench.write(lpn));
    let refresh = |bench: &mut Bench<Plain>| {
        let step = bench.base.refresh_at_once(&mut bench.board, When::START);
        step.expect("nothing fails").map(|done| done != When::START)
    };
    let old = bench.block_of(1);
    for reads in 0..4 {
        assert_eq!(refresh(&mut bench), None, "after {reads} reads");
        let io = Bench::<Plain>::io(1, 0);
        assert!(bench.base.read(&mut bench.board, &io, When::START).is_ok());
    }
    assert_eq!(refresh(&mut bench), Some(true));
    assert_ne!(bench.block_of(1), old);
    assert_eq!(bench.board.meter().programs(Cause::Refresh), 4);
}

#[test]
fn a_table_that_records_nothing_is_not_waited_for() {
    let mut bench = Bench::new(Plain::new());
    let done = bench.board.erase(BlockId(12), BlockRole::Data, Cause::Gc, When::START);
    let done = done.expect("nothing fails");
    assert_ne!(done, When::START);
    let PageMapped { space, map, .. } = &mut bench.base;
    assert_eq!(map.table.record(space, &mut bench.board, done), Ok(done));
}

#[test]
fn collection_begins_no_later_than_with_two_free_blocks() {
    let config = |threshold: Option<&str>| {
        let mut config = SharedSettings::default();
        if let Some(threshold) = threshold {
            config.set("gc.threshold", threshold).expect("legal");
        }
        config
    };
    assert_eq!([1, 2, 5].map(|own| threshold(&config(None), own)), [2, 2, 5]);
    assert_eq!(threshold(&config(Some("7")), 5), 7);
    let refused = ["1", "2"].map(|threshold| check(&config(Some(threshold))).is_err());
    assert_eq!(refused, [true, false]);
}

/// 13 blocks of four pages, 24 of which are logical: a bit each, and 5 bytes for their one record.
#[test]
fn memory_holds_what_every_scheme_has_behind_what_is_its_own() {
    let bench = Bench::new(Plain::new());
    let own = RamUse { structure: "own", bytes: 5, memory: Memory::Sram };
    let found = ram_use(&bench.config, std::slice::from_ref(&own));
    let found: Vec<(&str, u64)> = found.iter().map(|one| (one.structure, one.bytes)).collect();
    let expected = [("own", 5), ("valid_counts", 26), ("valid_bitmap", 7), ("trim_records", 3 + 5)];
    assert_eq!(found, expected);
    assert_eq!(table_bytes(&bench.config), 96);
}
