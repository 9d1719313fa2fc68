//! What a map tells collection, and what it makes of pages that collection moves, whatever its
//! cache is.

mod written;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::parts::page_space::Stream;
use crate::parts::translation::MapWrite;
use crate::settings::SharedSettings;
use ftlab_flash::board::when::Moment;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{PlaneId, Tag};

/// A cache without bounds, which says what a test put there.
#[derive(Clone, Default)]
struct Table<const TAKES: bool> {
    entries: BTreeMap<u32, Option<Ppn>>,
    changed: BTreeSet<u32>,
    unresolved: BTreeSet<u32>,
    newer: Option<Newer>,
    prefers_cached: bool,
    /// Translation pages that are too much for memory.
    overdue: Vec<u32>,
}

impl<const TAKES: bool> MapCache for Table<TAKES> {
    const ADOPTS: bool = TAKES;

    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.entries.get(&lpn.0).copied()
    }

    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.changed.contains(&lpn.0)
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.entries.insert(lpn.0, ppn);
        self.changed.insert(lpn.0);
    }

    fn clean(&mut self, lpn: Lpn) {
        self.changed.remove(&lpn.0);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.changed.iter().map(|lpn| (Lpn(*lpn), self.entries[lpn]))
    }

    fn hands_over(&self) -> bool {
        self.newer.is_some()
    }

    fn newer(&self, _: Lpn) -> Option<Newer> {
        self.newer
    }

    fn prefers_cached(&self) -> bool {
        self.prefers_cached
    }

    fn unresolved(&self) -> u32 {
        self.unresolved.len() as u32
    }

    fn is_unresolved(&self, lpn: Lpn) -> bool {
        self.unresolved.contains(&lpn.0)
    }

    fn resolve(&mut self, lpn: Lpn) {
        assert!(self.unresolved.remove(&lpn.0), "page {lpn} was resolved before");
    }

    fn overdue(
        &mut self,
        _: &mut PageSpace,
        _: &mut Board,
        at: (PlaneId, Option<u32>),
        after: When,
    ) -> (Option<u32>, When) {
        assert_eq!(at, (PlaneId(0), None), "in the middle of a collection there");
        (self.overdue.pop(), after)
    }

    fn most_overdue(&self, _: &PageSpace, _: BlockId) -> u32 {
        self.overdue.len() as u32
    }
}

/// Two planes of blocks of eight pages, and the map of 600 pages: five translation pages of 128
/// entries, at home in the planes by turns.
struct Bench<const TAKES: bool> {
    board: Board,
    space: PageSpace,
    map: CachedMap<Table<TAKES>>,
}

const HOW: MapWrite = MapWrite { plane: PlaneId(0), cause: Cause::Translate };

impl<const TAKES: bool> Bench<TAKES> {
    fn new() -> Self {
        Self::of_blocks(100)
    }

    /// The same with so many blocks in a plane.
    fn of_blocks(blocks: u32) -> Self {
        Self::of_planes("2", blocks)
    }

    fn of_planes(planes: &str, blocks: u32) -> Self {
        let mut config = SharedSettings::default();
        let pairs = [
            ("device.planes", planes),
            ("device.pages_per_block", "8"),
            ("device.page_bytes", "512"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(600 * 512, 0);
        config.device.blocks_per_plane = blocks;
        let board = Board::new(&config, 1, 64);
        let space = PageSpace::new(&board, &config, 5, 1);
        let geometry = board.geometry();
        let parts = (Translation::new(geometry), TrimRecords::new(geometry));
        let checkpoints = Checkpoints::new(board.nand(), 16, 8);
        let map = CachedMap::new(geometry, Table::default(), parts.0, parts.1, checkpoints);
        Bench { board, space, map }
    }

    /// Programs a page of plane 0.
    fn write(&mut self, lpn: u32) -> Ppn {
        let request =
            RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 1, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        let io = PageIo { lpn: Lpn(lpn), sectors: 1, cause, data, request };
        let place = (PlaneId(0), Stream::Data);
        let what = (&io, PageKind::Data, None);
        let written = self.space.write(&mut self.board, place, what, When::START);
        written.expect("there is room").0
    }

    /// Collection moved a page of data.
    fn moved(&mut self, lpn: u32, old: u32, new: u32) {
        let (old, new, done) = (Ppn(old), Ppn(new), Moment::START);
        let kind = PageKind::Data;
        self.map.moved(&mut self.board, Moved { logical: lpn, kind, old, new, done, newer: false });
    }

    /// What memory says of an entry, what is to be written of moved pages, and how many entries
    /// changed in memory alone.
    fn after_move(&mut self, lpn: u32) -> (Option<Option<Ppn>>, Vec<(u32, u32)>, u64) {
        let list = std::mem::take(&mut self.map.moved);
        let updates = self.board.meter().events(Event::LazyUpdates);
        let list = list.into_iter().map(|page| (page.first(), page.second())).collect();
        (self.map.cache.entry(Lpn(lpn)), list, updates)
    }

    fn parts(&mut self, victim: BlockId) -> Vec<u32> {
        let parts = self.map.parts_to_update((&self.space, &self.board), victim);
        assert!(self.map.moved.is_empty(), "outside a collection");
        parts.into_iter().map(Pair::first).collect()
    }

    /// What flash says of a page.
    fn on_flash(&self, lpn: u32) -> Option<Ppn> {
        self.map.translation.entry(&self.board, Lpn(lpn))
    }

    /// Reads and programs of this cause.
    fn operations(&self, cause: Cause) -> (u64, u64) {
        let meter = self.board.meter();
        (meter.reads(cause), meter.programs(cause))
    }
}

/// Those that moving its pages would change, each once; of those that are at home elsewhere the
/// victim's plane takes none.
#[test]
fn a_victim_costs_the_translation_pages_of_entries_that_memory_does_not_take() {
    let mut bench = Bench::<false>::new();
    let homes = [0, 1, 2, 3, 4].map(|part| bench.space.home(bench.board.nand(), part).0);
    assert_eq!(homes, [0, 1, 0, 1, 0]);
    let pages = [0, 1, 130, 260, 390, 520].map(|lpn| bench.write(lpn));
    let victim = bench.board.geometry().block_of(pages[0]);
    assert_eq!(bench.parts(victim), [0, 1, 2, 3, 4]);
    let Bench { board, space, map } = &mut bench;
    assert_eq!(map.map_writes(space, board, victim), 3, "0, 2 and 4");
    assert_eq!(map.most_map_writes(space, victim, 7), 7, "one for each page at most");
    assert_eq!(map.weight(space, board, victim), None, "nobody asks for it");
    map.cache.prefers_cached = true;
    assert_eq!(map.weight(space, board, victim), Some(5));
    // Memory takes the entries of 0 and 130; page 1 needs translation page 0 all the same, and 260
    // was written again since.
    map.cache.entries =
        [(0, pages[0]), (130, pages[2]), (260, Ppn(500))].map(|(lpn, ppn)| (lpn, Some(ppn))).into();
    assert_eq!(map.weight(space, board, victim), Some(4));
    assert_eq!(bench.parts(victim), [0, 2, 3, 4]);
    bench.map.lazy_copying = false;
    assert_eq!(bench.parts(victim), [0, 1, 2, 3, 4], "memory takes nothing");
}

/// Translation page 3 has the number of page 3, and nothing else to do with it: were it not copied,
/// the map of 128 pages would be lost.
#[test]
fn what_a_write_without_look_up_superseded_is_not_copied() {
    let Bench { mut map, .. } = Bench::<false>::new();
    assert!(map.wants_all() && map.wants(PageKind::Data, 3, Ppn(5)));
    map.cache.change(Lpn(3), Some(Ppn(9)));
    map.cache.unresolved.insert(3);
    assert!(!map.wants_all());
    assert!(map.wants(PageKind::Map, 3, Ppn(5)));
    assert!(map.wants(PageKind::Data, 4, Ppn(5)), "another page");
    assert!(map.wants(PageKind::Data, 3, Ppn(9)), "the newest one");
    assert!(map.cache.is_unresolved(Lpn(3)), "nobody knows yet");
    assert!(!map.wants(PageKind::Data, 3, Ppn(5)), "superseded by page 9");
    assert!(map.wants_all(), "now it is known");
}

#[test]
fn collection_is_handed_the_newer_version_that_memory_holds() {
    let Bench { mut map, .. } = Bench::<false>::new();
    assert_eq!((map.holds_newer(), map.newer(3)), (false, None));
    let newer = Newer { tag: Tag(7), sectors: 1, ready: Moment::START };
    map.cache.newer = Some(newer);
    assert_eq!((map.holds_newer(), map.newer(3)), (true, Some(newer)));
}

#[test]
fn a_moved_page_changes_its_cached_entry_or_waits_for_its_translation_page() {
    let mut bench = Bench::<false>::new();
    bench.moved(3, 10, 20);
    assert_eq!(bench.after_move(3), (None, vec![(3, 20)], 0), "only flash knows it");
    bench.map.cache.entries.insert(3, Some(Ppn(10)));
    bench.moved(3, 10, 20);
    assert_eq!(bench.after_move(3), (Some(Some(Ppn(20))), vec![], 1), "in memory alone");
    bench.map.lazy_copying = false;
    bench.moved(3, 20, 30);
    assert_eq!(bench.after_move(3), (Some(Some(Ppn(30))), vec![(3, 30)], 1), "and on flash");
    // An entry that names another page says what is newer: it stays.
    bench.moved(3, 20, 40);
    assert_eq!(bench.after_move(3), (Some(Some(Ppn(30))), vec![(3, 40)], 1));
    // A write without look-up is about to supersede the page: its entry says where that is.
    bench.map.cache.entries.insert(4, None);
    bench.moved(4, 11, 21);
    assert_eq!(bench.after_move(4), (Some(None), vec![(4, 21)], 1), "there is no such write");
    bench.map.cache.unresolved.insert(4);
    bench.moved(4, 11, 21);
    assert_eq!(bench.after_move(4), (Some(Some(Ppn(21))), vec![], 1));
    assert!(!bench.map.cache.is_unresolved(Lpn(4)));
}

#[test]
fn memory_that_takes_all_entries_takes_those_of_moved_pages() {
    let mut bench = Bench::<true>::new();
    for (lpn, lazy_copying, updates) in [(3, true, 1), (4, false, 2)] {
        bench.map.lazy_copying = lazy_copying;
        bench.moved(lpn, 10, 20);
        assert_eq!(bench.after_move(lpn), (Some(Some(Ppn(20))), vec![], updates));
    }
    // An entry of nowhere, of a page that is about to be written, and of one that is not.
    for (lpn, lazy_copying, unresolved, updates) in
        [(5, true, true, 2), (6, false, true, 2), (7, false, false, 3)]
    {
        bench.map.lazy_copying = lazy_copying;
        bench.map.cache.entries.insert(lpn, None);
        if unresolved {
            bench.map.cache.unresolved.insert(lpn);
        }
        bench.moved(lpn, 10, 20);
        assert_eq!(bench.after_move(lpn), (Some(Some(Ppn(20))), vec![], updates), "{lpn}");
        assert!(!bench.map.cache.is_unresolved(Lpn(lpn)));
    }
}

/// Seven of eight pages are written again and again, so that victims have one to move, whose entry
/// memory takes. Translation page 1 is too much for it by then: it is read and written before the
/// victim is erased, once.
#[test]
fn what_is_too_much_for_memory_is_written_in_the_middle_of_a_collection() {
    let mut bench = Bench::<true>::of_blocks(8);
    bench.map.cache.change(Lpn(130), Some(Ppn(7)));
    bench.map.cache.overdue = vec![1];
    for count in 0..64 {
        let Bench { board, space, map } = &mut bench;
        let place = (PlaneId(0), Stream::Data);
        let _ = space.make_room(board, map, place, When::START).expect("there is garbage");
        let lpn = if count % 8 == 7 { 20 + count / 8 } else { count % 8 };
        let new = bench.write(lpn);
        if let Some(Some(old)) = bench.map.cache.entries.insert(lpn, Some(new)) {
            bench.space.invalidate(&mut bench.board, old);
        }
    }
    let events = [Event::LazyUpdates, Event::ConvertedMapPages];
    let [moved, written] = events.map(|event| bench.board.meter().events(event));
    assert!(moved > 0, "collection moved nothing");
    assert_eq!((written, bench.on_flash(130)), (1, Some(Ppn(7))));
    assert_eq!(bench.operations(Cause::GcMapUpdate), (1, 1));
    assert!(!bench.map.cache.is_dirty(Lpn(130)) && bench.map.cache.overdue.is_empty());
}

/// Pages 130 and 140, of translation page 1, and 3, of page 0. What is cached of them and has
/// changed is not written along: flash may hold what it supersedes.
#[test]
fn translation_pages_of_what_has_moved_are_read_and_written_once_each() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.change(Lpn(131), Some(Ppn(50)));
    for (lpn, new) in [(140, 22), (3, 23), (130, 21)] {
        bench.moved(lpn, 10, new);
    }
    let Bench { board, space, map } = &mut bench;
    let _ = map.part_moved(space, board, When::START).expect("there is room");
    let found = [3, 130, 131, 140].map(|lpn| bench.on_flash(lpn).map(|ppn| ppn.0));
    assert_eq!(found, [Some(23), Some(21), None, Some(22)]);
    assert_eq!(bench.operations(Cause::GcMapUpdate), (2, 2));
    assert!(bench.map.cache.is_dirty(Lpn(131)) && bench.map.moved.is_empty());
}

#[test]
fn entries_that_are_written_back_are_on_flash_and_the_others_have_still_changed() {
    let mut bench = Bench::<false>::new();
    (130..133).for_each(|lpn| bench.map.cache.change(Lpn(lpn), Some(Ppn(lpn + 500))));
    let Bench { board, space, map } = &mut bench;
    let these = [130, 131, 133].map(Lpn);
    let written = map.write_back_these(space, board, (1, &these), HOW, When::START);
    assert_eq!(written.expect("there is room").1, 2, "133 is not cached");
    let found = [130, 131, 132].map(|lpn| bench.on_flash(lpn).map(|ppn| ppn.0));
    assert_eq!(found, [Some(630), Some(631), None]);
    assert_eq!(bench.map.cache.changed.iter().collect::<Vec<_>>(), [&132]);
    assert_eq!(bench.operations(Cause::Translate), (1, 1));
}

/// A translation page of which nothing has changed is read, as its owner asked, and not written;
/// where collection may have written it on the way, it is not read either. As a whole it is written
/// all the same.
#[test]
fn a_translation_page_without_a_changed_entry_is_written_only_as_a_whole() {
    let mut bench = Bench::<false>::new();
    let Bench { board, space, map } = &mut bench;
    let (_, count) = map.write_back_part(space, board, 1, HOW, When::START).expect("has room");
    assert_eq!((count, bench.operations(Cause::Translate)), (0, (1, 0)));
    let Bench { board, space, map } = &mut bench;
    let _ = map.rewrite_whole_part(space, board, 1, HOW, When::START).expect("there is room");
    assert_eq!(bench.operations(Cause::Translate), (1, 1));
    assert!(bench.map.translation.location(1).is_some());
    let mut bench = Bench::<true>::new();
    let Bench { board, space, map } = &mut bench;
    let (_, count) = map.write_back_part(space, board, 1, HOW, When::START).expect("has room");
    assert_eq!((count, bench.operations(Cause::Translate)), (0, (0, 0)));
    let Bench { board, space, map } = &mut bench;
    map.cache.change(Lpn(130), Some(Ppn(7)));
    let (_, count) = map.write_back_part(space, board, 1, HOW, When::START).expect("has room");
    assert_eq!((count, bench.operations(Cause::Translate)), (1, (1, 1)));
    assert_eq!(bench.on_flash(130), Some(Ppn(7)));
}

/// Two pages of translation page 1 are on flash, in its map, and were written again without a
/// look-up; a third was written so for the first time.
#[test]
fn writing_a_translation_page_invalidates_what_writes_without_look_up_superseded() {
    let mut bench = Bench::<false>::new();
    let old = [130, 140].map(|lpn| bench.write(lpn));
    [130, 140]
        .into_iter()
        .zip(old)
        .for_each(|(lpn, ppn)| bench.map.cache.change(Lpn(lpn), Some(ppn)));
    let Bench { board, space, map } = &mut bench;
    let _ = map.write_whole_part(space, board, 1, HOW, When::START).expect("there is room");
    let new = [130, 140, 150].map(|lpn| {
        let new = bench.write(lpn);
        bench.map.cache.change(Lpn(lpn), Some(new));
        bench.map.cache.unresolved.insert(lpn);
        new
    });
    let Bench { board, space, map } = &mut bench;
    let (_, count) = map.write_whole_part(space, board, 1, HOW, When::START).expect("has room");
    assert_eq!((count, map.cache.unresolved()), (3, 0));
    let is_valid = |ppn| bench.board.nand().state().is_valid(ppn);
    assert_eq!((old.map(is_valid), new.map(is_valid)), ([false; 2], [true; 3]));
    assert_eq!(bench.board.meter().events(Event::DeferredInvalidations), 2);
    assert_eq!([130, 140, 150].map(|lpn| bench.on_flash(lpn)), new.map(Some));
}

/// It says what is not on flash: that page 130 is at 7, and page 131 nowhere. Not while moved pages
/// are known to neither.
#[test]
fn a_checkpoint_holds_the_changed_entries() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.change(Lpn(130), Some(Ppn(7)));
    bench.map.cache.change(Lpn(131), None);
    for (astray, taken) in [(false, 1), (true, 1)] {
        let Bench { board, space, map } = &mut bench;
        if astray {
            map.translation.went_astray(board, Lpn(3), Ppn(9));
        }
        let _ = map.save_changed_entries(space, board, When::START).expect("there is room");
        assert_eq!(board.meter().events(Event::Checkpoints), taken);
    }
    let [page] = bench.map.checkpoints.newest_pages()[..] else { panic!("one page is enough") };
    let words = bench.board.nand().payload(page);
    // Sequence (2), pages, length of the body: how many blocks are open (none), and the entries.
    assert_eq!(words[2..9], [1, 5, 0, 130, 8, 131, 0]);
}
