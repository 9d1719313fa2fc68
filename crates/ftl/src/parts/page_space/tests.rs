//! A device with a space of pages, and who owns these; what is refused for want of blocks is known
//! when all that was done on the way to it is over.

mod after_cuts;
mod collect;
mod gaps;
mod home;
mod of_lines;
mod owners;
mod rooms;
mod withheld_blocks;
mod zones_of_hosts;

use super::idle::Paused;
use super::*;
use crate::parts::cmt::Cmt;
use crate::parts::demand_mapped::{DemandMapped, Needs};
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{Nanos, Tag};
use std::collections::BTreeMap;

pub(super) const FIRST: PlaneId = PlaneId(0);
pub(super) const SECOND: PlaneId = PlaneId(1);

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

pub(super) fn io(page: u32) -> PageIo {
    let request = RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 1, hint: None };
    PageIo { lpn: Lpn(page), sectors: 1, cause: Cause::Host, data: Tag(1), request }
}

pub(super) fn ends(board: &Board, when: When) -> Nanos {
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

/// Who owns the pages of a space: what it says of victims, and what it was told.
#[derive(Default)]
pub(super) struct Owner {
    /// Map pages that it writes for all pages of a block; of others none.
    pub(super) map_writes: BTreeMap<BlockId, u32>,
    /// For which blocks it was asked.
    pub(super) counted: Vec<BlockId>,
    /// Most of them, where it is not one for each page.
    pub(super) most: Option<u32>,
    pub(super) weights: BTreeMap<BlockId, u32>,
    /// From when on it may write of what was moved.
    pub(super) told: Option<When>,
    pub(super) moved: Vec<Moved>,
    /// What memory has of every page.
    newer: Option<Newer>,
    /// Whether it writes a page of what was moved.
    writes: bool,
    /// The plane of the victim that was emptied.
    emptied: Option<PlaneId>,
}

impl PageOwner for Owner {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, victim: BlockId) -> u32 {
        self.counted.push(victim);
        self.map_writes.get(&victim).copied().unwrap_or(0)
    }

    fn most_map_writes(&self, _: &PageSpace, _: BlockId, valid: u32) -> u32 {
        self.most.unwrap_or(valid)
    }

    fn weight(&mut self, _: &PageSpace, _: &Board, victim: BlockId) -> Option<u32> {
        self.weights.get(&victim).copied()
    }

    fn newer(&mut self, _: u32) -> Option<Newer> {
        self.newer
    }

    fn holds_newer(&self) -> bool {
        self.newer.is_some()
    }

    fn moved(&mut self, _: &mut Board, page: Moved) {
        self.moved.push(page);
    }

    fn before_erase(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.told = Some(after);
        self.emptied = space.victims_plane(board);
        if self.writes {
            let place = (FIRST, Stream::Map);
            let _ = space.write(board, place, (&io(0), PageKind::Data, None), after)?;
        }
        Ok(after)
    }
}

/// A device, its space, and who owns the pages.
pub(super) struct Rig {
    pub(super) config: SharedSettings,
    pub(super) board: Board,
    pub(super) space: PageSpace,
    pub(super) owner: Owner,
}

impl Rig {
    /// An erased one with these settings beside those above, so many blocks a plane, and this
    /// threshold.
    pub(super) fn new(pairs: &[(&str, &str)], blocks: u32, threshold: u32) -> Rig {
        let mut config = settings();
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.blocks_per_plane = blocks;
        Rig::of(config, threshold)
    }

    fn of(config: SharedSettings, threshold: u32) -> Rig {
        let board = Board::new(&config, 1, 8);
        let space = PageSpace::new(&board, &config, threshold, 1);
        Rig { config, board, space, owner: Owner::default() }
    }

    /// What recovery makes of the flash as it is.
    pub(super) fn recover(&mut self, threshold: u32) {
        let found = PageSpace::recover(&mut self.board, &self.config, threshold, 1, When::START);
        self.space = found.expect("nothing fails").0;
    }

    pub(super) fn write(&mut self, place: Place, page: u32) -> Ppn {
        let what = (&io(page), PageKind::Data, None);
        let written = self.space.write(&mut self.board, place, what, When::START);
        written.expect("there is room").0
    }

    pub(super) fn invalidate(&mut self, page: Ppn) {
        self.space.invalidate(&mut self.board, page);
    }

    /// A full block, or line, of which only the last pages are valid, so many; a candidate.
    pub(super) fn block(&mut self, place: Place, valid: u32) -> BlockId {
        let pages = self.space.pages_per_block;
        let written: Vec<Ppn> = (0..pages).map(|page| self.write(place, page)).collect();
        written[..(pages - valid) as usize].iter().for_each(|&page| self.invalidate(page));
        self.space.close_full(self.board.nand(), place.0);
        self.space.unit_of(self.board.geometry().block_of(written[0]))
    }

    /// Leaves so many blocks of a plane free.
    pub(super) fn keep_free(&mut self, plane: PlaneId, blocks: u32) {
        let pool = &mut self.space.planes[plane.index()].free;
        while pool.len() > blocks {
            pool.take().expect("not empty");
        }
    }

    /// Moves what a block holds, and erases it.
    pub(super) fn collect(&mut self, victim: BlockId) -> Result<When, Fault> {
        let Rig { board, space, owner, .. } = self;
        space.collect(board, owner, victim, When::START)
    }

    /// Idle time has begun with a victim, of which nothing is moved yet.
    fn begin(&mut self, victim: BlockId, cause: Cause) {
        self.space.is_candidate_no_more(self.board.nand(), victim);
        self.space.paused = Some(Paused::new(victim, Some(Stream::MovedData), cause));
    }

    /// Whether a block is in use, open or full.
    pub(super) fn holds(&self, block: BlockId) -> bool {
        self.space.stream_of[block.index()] != 0
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
    let mut owner = Owner::default();
    let refused = space.collect(&mut board, &mut owner, BlockId(0), When::START);
    let known = refused.expect_err("one page finds no room").goes_on_without(When::START);
    let known = ends(&board, known.expect("no block is left"));
    let told = ends(&board, owner.told.expect("two pages were moved"));
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
