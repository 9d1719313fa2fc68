//! What is refused for want of blocks is known when all that was done on the way to it is over.

use super::*;
use crate::parts::cmt::Cmt;
use crate::parts::demand_mapped::{DemandMapped, Needs};
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{Nanos, Tag};

/// Two planes of four blocks of four pages, of which 24 are logical; programs take 200 us.
fn settings() -> SharedSettings {
    let mut config = SharedSettings::default();
    let pairs = [
        ("device.planes", "2"),
        ("device.pages_per_block", "4"),
        ("device.blocks_per_plane", "4"),
        ("timing.profile", "parallel"),
        ("timing.program", "200us"),
        ("gc.separate_frontiers", "true"),
    ];
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    let bytes = 24 * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = 4;
    config
}

fn io(page: u32) -> PageIo {
    let request = RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 1, hint: None };
    PageIo { lpn: Lpn(page), sectors: 1, cause: Cause::Host, data: Tag(1), request }
}

fn ends(board: &Board, when: When) -> Nanos {
    board.nand().clock().completion(when)
}

/// Programs pages of a plane, one behind the other, until no block is left: when the last one is
/// there, and what refuses the next.
fn fill(space: &mut PageSpace, board: &mut Board, place: (PlaneId, Stream)) -> (When, Fault) {
    let mut done = When::START;
    for page in 0.. {
        let written = space.write(board, place, (&io(page % 24), PageKind::Data, None), done);
        match written {
            Ok((_, written)) => done = written,
            Err(fault) => return (done, fault),
        }
    }
    unreachable!("a plane has an end");
}

/// Who is told of moved pages, and from when on it may write of them.
#[derive(Default)]
struct Told(Option<When>);

impl PageOwner for Told {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, _: BlockId) -> u32 {
        0
    }

    fn moved(&mut self, _: &mut Board, _: Moved) {}

    fn before_erase(
        &mut self,
        _: &mut PageSpace,
        _: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.0 = Some(after);
        Ok(after)
    }
}

/// It began with the request, whatever had been written or moved before the want of room was known:
/// also what it reads.
#[test]
fn a_read_without_a_place_begins_when_the_want_of_one_is_known() {
    let config = settings();
    let mut board = Board::new(&config, 1, 8);
    let cache = Cmt::unordered(24, 4);
    let needs = Needs { threshold: 1, checkpoint_words: 0, stale_pages: 0 };
    let mut base = DemandMapped::new(&board, &config, &needs, cache, 1);
    let (full, fault) = fill(&mut base.space, &mut board, (PlaneId(0), Stream::Data));
    let known = fault.goes_on_without(When::START).expect("no block is left");
    assert_eq!(ends(&board, known), ends(&board, full), "16 pages, one behind the other");
    assert_eq!(ends(&board, full), 16 * 200_000);
    // Nothing of its own plane holds it up.
    let (done, _) = base.read_placeless(&mut board, &io(1), fault, When::START).expect("is read");
    assert!(ends(&board, done) > 16 * 200_000, "read by {}", ends(&board, done));
    let other = Fault::PowerCut;
    assert_eq!(base.read_placeless(&mut board, &io(1), other, When::START), Err(other));
}

/// Copies of a victim go side by side: a collection that finds no room for the rest is known to
/// have failed when they are there, and what flash is told of them is written behind them.
#[test]
fn a_collection_without_room_has_failed_when_its_copies_are_there() {
    let config = settings();
    let mut board = Board::new(&config, 1, 8);
    let mut space = PageSpace::new(&board, &config, 1, 1);
    let place = (PlaneId(0), Stream::Data);
    // Block 0 keeps three of its pages, and two pages are left for moved ones.
    for page in 0..6 {
        let moved = if page < 4 { Stream::Data } else { Stream::MovedData };
        let at = (PlaneId(0), moved);
        let _ = space.write(&mut board, at, (&io(page), PageKind::Data, None), When::START);
    }
    let (full, _) = fill(&mut space, &mut board, place);
    let page = board.geometry().page(BlockId(0), 1);
    space.invalidate(&mut board, page);
    let mut owner = Told::default();
    let refused = space.collect(&mut board, &mut owner, BlockId(0), When::START);
    let known = refused.expect_err("one page finds no room").goes_on_without(When::START);
    let known = ends(&board, known.expect("no block is left"));
    let told = ends(&board, owner.0.expect("two pages were moved"));
    assert!(known >= ends(&board, full) + 2 * 200_000, "{known} ns");
    assert_eq!(told, known);
}

/// What a policy knows as a segment is a zone where lines are zones, whatever the device has: of
/// two channels with three of four pages of each block, in place of four channels and all of them.
#[test]
fn a_segment_of_a_policy_is_a_zone() {
    let mut config = settings();
    let pairs = [("device.planes", "1"), ("device.channels", "4"), ("gc.placement", "fk")];
    let others = [("alloc.unit", "line"), ("gc.separate_frontiers", "false")];
    pairs.iter().chain(&others).for_each(|(key, value)| config.set(key, value).expect("legal"));
    let board = Board::new(&config, 1, 8);
    let known = |config: &SharedSettings| {
        let context = placing::context(config, board.geometry(), (1, 0));
        (context.segment_pages, context.unit_pages, context.segments)
    };
    assert_eq!(known(&config), (16, 16, 4));
    config.zones = Some(ZoneRules {
        channels: 2,
        rows: 3,
        max_open: 14,
        copy_in_device: false,
        raw: false,
        finish_after_cut: false,
    });
    assert_eq!(known(&config), (6, 6, 8));
}
