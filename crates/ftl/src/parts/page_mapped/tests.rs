//! What a table of pages is asked for when its blocks are collected, what the host may do with a
//! page, and what the scheme needs.

mod after_cuts;
mod requests;

use super::*;
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::meter::BlockRole;
use ftlab_flash::request::RequestShape;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::unpack;

/// Where pages are, and how often it was asked before a victim was erased.
struct Plain {
    entries: Vec<Option<Ppn>>,
    asked: u32,
}

impl Plain {
    fn new() -> Self {
        Plain { entries: vec![None; 24], asked: 0 }
    }
}

impl PageTable for Plain {
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.entries[lpn.index()]
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.entries[lpn.index()] = ppn;
    }

    fn moved(&mut self, _: &mut Board, page: Moved) {
        let place = self.entries.iter().position(|&entry| entry == Some(page.old));
        self.entries[place.expect("a valid page is somebody's")] = Some(page.new);
    }

    fn settle(&mut self, _: &mut Board, after: When) -> When {
        self.asked += 1;
        after
    }
}

/// A table that writes three pages before a victim is erased, if it has something to write, and
/// that gives copies of the host's pages the numbers from 100 on.
struct Recording {
    plain: Plain,
    is_unrecorded: bool,
}

impl PageTable for Recording {
    const RECORDS: u32 = 3;

    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.plain.entry(lpn)
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.plain.change(lpn, ppn);
    }

    fn moved(&mut self, board: &mut Board, page: Moved) {
        self.plain.moved(board, page);
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        self.plain.settle(board, after)
    }

    fn is_unrecorded(&self) -> bool {
        self.is_unrecorded
    }

    fn new_name(&self, _: Ppn, (kind, number): (PageKind, u32)) -> Option<(PageKind, u32)> {
        (kind == PageKind::Data).then_some((PageKind::Log, 100 + number))
    }

    fn renames(&self) -> bool {
        true
    }
}

/// Thirteen blocks of four pages, of which 24 are logical.
struct Bench<T> {
    config: SharedSettings,
    board: Board,
    base: PageMapped<T>,
}

impl<T: PageTable> Bench<T> {
    fn new(table: T) -> Self {
        let bench = Self::of(table, &[]);
        assert!(bench.board.nand().moves_runs(), "the short way, where nothing is renamed");
        bench
    }

    /// The same with these settings.
    fn of(table: T, pairs: &[(&str, &str)]) -> Self {
        let mut config = SharedSettings::default();
        let common = [
            ("device.pages_per_block", "4"),
            ("device.blocks_per_plane", "13"),
            ("device.logical_bytes", "48KiB"),
        ];
        let all = common.iter().chain(pairs);
        all.for_each(|(key, value)| config.set(key, value).expect("legal"));
        let board = Board::new(&config, 1, 8);
        let base = PageMapped::new(&board, &config, 3, table, 1);
        Bench { config, board, base }
    }

    /// A page of the host's with these data.
    fn io(lpn: u32, data: u32) -> PageIo {
        let (lpn, data) = (Lpn(lpn), Tag(data));
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        PageIo { lpn, sectors: 15, cause: Cause::Host, data, request }
    }

    fn write(&mut self, lpn: u32) {
        let io = Self::io(lpn, 1);
        let room = self.base.make_room(&mut self.board, &io, When::START);
        let (place, ready) = room.expect("there is room");
        assert!(self.base.put(&mut self.board, &io, place, ready).is_ok());
    }

    /// The block where a page is.
    fn block_of(&self, lpn: u32) -> BlockId {
        let ppn = self.base.map.table.entry(Lpn(lpn)).expect("it was written");
        self.board.geometry().block_of(ppn)
    }

    /// Writes these pages in turn until the meter has counted something.
    fn write_until(&mut self, pages: impl Iterator<Item = u32>, counted: impl Fn(&Board) -> u64) {
        for lpn in pages.take(100) {
            if counted(&self.board) > 0 {
                return;
            }
            self.write(lpn);
        }
        panic!("a hundred pages were written on flash of 52");
    }
}

#[test]
fn a_table_writes_for_a_victim_that_holds_something_or_when_it_has_something_to_write() {
    let mut bench = Bench::new(Recording { plain: Plain::new(), is_unrecorded: false });
    (0..4).for_each(|lpn| bench.write(lpn));
    let victim = bench.block_of(0);
    let writes = |bench: &mut Bench<Recording>| {
        let PageMapped { space, map, .. } = &mut bench.base;
        map.map_writes(space, &bench.board, victim)
    };
    assert_eq!(writes(&mut bench), 3, "four pages are to be moved");
    assert_eq!(bench.base.map.most_map_writes(&bench.base.space, victim, 4), 3);
    (0..4).for_each(|lpn| bench.write(lpn));
    assert_eq!(bench.board.nand().valid_pages(victim), 0);
    assert_eq!(writes(&mut bench), 0, "it is erased as it is");
    bench.base.map.table.is_unrecorded = true;
    assert_eq!(writes(&mut bench), 3, "what is unrecorded goes first");
}

/// Four pages written over and over leave nothing in their blocks that could be moved.
#[test]
fn a_dead_victim_waits_for_a_table_only_if_that_has_something_to_write() {
    let erases = |board: &Board| board.meter().total_erases();
    let mut bench = Bench::new(Plain::new());
    bench.write_until((0..4).cycle(), erases);
    assert_eq!(bench.base.map.table.asked, 0, "a table without records is not asked");
    for (is_unrecorded, asked) in [(false, 0), (true, 1)] {
        let mut bench = Bench::new(Recording { plain: Plain::new(), is_unrecorded });
        bench.write_until((0..4).cycle(), erases);
        assert_eq!(bench.base.map.table.plain.asked, asked, "unrecorded: {is_unrecorded}");
    }
}

/// All pages in any order, so that victims hold valid ones. After a power cut nothing but its
/// name says whose a copy is.
#[test]
fn copies_bear_the_names_that_the_table_gives_them() {
    let mut bench = Bench::new(Recording { plain: Plain::new(), is_unrecorded: false });
    let copies = |board: &Board| board.meter().programs(Cause::Gc);
    let mut rng = Rng::new(7, Purpose::Workload);
    bench.write_until((0..24).chain(std::iter::repeat_with(|| rng.below(24))), copies);
    let mut renamed = 0;
    for lpn in 0..24 {
        let ppn = bench.base.map.table.entry(Lpn(lpn)).expect("all were written");
        let OobRead::Written(oob) = bench.board.nand().state().oob(ppn) else {
            panic!("page {lpn} can be read");
        };
        match oob.kind {
            PageKind::Log => renamed += u64::from(oob.logical == 100 + lpn),
            kind => assert_eq!((kind, oob.logical), (PageKind::Data, lpn), "as the host wrote it"),
        }
    }
    assert_eq!(renamed, copies(&bench.board));
}

#[test]
#[should_panic(expected = "page 9 holds a part of a table that writes none")]
fn a_table_without_pages_of_its_own_is_told_of_none_that_moved() {
    let mut bench = Bench::new(Plain::new());
    let (kind, done) = (PageKind::Checkpoint, When::START.into());
    let page = Moved { logical: 0, kind, old: Ppn(9), new: Ppn(12), done, newer: false };
    bench.base.map.moved(&mut bench.board, page);
}

/// Pages that move one by one ask from when on: not before what collection waits for, at most
/// later.
#[test]
fn what_could_move_may_move_then_where_the_table_holds_nothing_up() {
    let mut bench = Bench::new(Plain::new());
    let done = bench.board.erase(BlockId(12), BlockRole::Data, Cause::Gc, When::START);
    let done = done.expect("nothing fails");
    assert_ne!(done, When::START, "an erase takes its time");
    assert_eq!(bench.base.map.may_move(done), done);
}

/// 20,000 pages of 512 bytes, of which a record of trims covers 126 x 32: five records and those
/// that replace them. Two blocks of two pages side by side, 5,000 times for data, then threshold 4,
/// three frontiers and a spare of each plane, and 3 x 2 for ten records. Two planes, lines of two
/// planes, and two sets of lines of two channels each come to the same.
#[test]
fn a_device_has_blocks_for_data_reserve_and_two_records_a_segment() {
    let mut config = SharedSettings::default();
    let pairs = [
        ("device.planes", "2"),
        ("device.pages_per_block", "2"),
        ("device.page_bytes", "512"),
        ("device.logical_bytes", "10240000"),
    ];
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    assert_eq!(payload_pages(&config), 10);
    assert_eq!(minimum_blocks(&config, 4), 2 * 5000 + 2 * 8 + 6);
    config.set("alloc.unit", "line").expect("legal");
    assert_eq!(minimum_blocks(&config, 4), 2 * 5000 + 2 * 8 + 6);
    config.set("device.planes", "1").expect("legal");
    config.set("device.channels", "4").expect("legal");
    config.zones = Some(ZoneRules {
        channels: 2,
        rows: 2,
        max_open: 14,
        copy_in_device: false,
        raw: false,
        finish_after_cut: false,
    });
    assert_eq!(minimum_blocks(&config, 4), 2 * 5000 + 2 * 8 + 6);
}
