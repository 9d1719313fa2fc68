//! What memory holds of the map pages on flash, what a look-up costs, and what is written when.

use super::*;
use crate::parts::log_bench_tests::take_all_but;
use crate::settings::SharedSettings;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::BlockId;

const CAUSE: Cause = Cause::Merge;

/// Three map pages of 128 entries, in blocks of four pages; the table says of every entry its
/// number plus one and `says`.
struct Bench {
    board: Board,
    supply: BlockSupply,
    map: FlashMap,
    says: [u32; 3],
}

impl Bench {
    /// Memory holds so many map pages.
    fn new(most: u32) -> Bench {
        let mut config = SharedSettings::default();
        let pairs = [("device.page_bytes", "512"), ("device.pages_per_block", "4")];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let board = Board::new(&config, 1, 16);
        let supply = BlockSupply::new(&board, &config);
        let map = FlashMap::new(board.geometry(), 300, most);
        Bench { board, supply, map, says: [0; 3] }
    }

    /// Does this with the map, and what it is written with.
    fn with<T>(
        &mut self,
        act: impl FnOnce(&mut FlashMap, &mut Board, &mut Backing<'_, &dyn Fn(u32) -> u32>) -> T,
    ) -> T {
        let says = self.says;
        let table = move |entry: u32| entry + 1 + says[entry as usize / 128];
        let mut backing =
            Backing { supply: &mut self.supply, table: &table as &dyn Fn(u32) -> u32 };
        act(&mut self.map, &mut self.board, &mut backing)
    }

    fn bring(&mut self, part: u32, stay: Stay) -> When {
        self.with(|map, board, backing| {
            let brought = map.bring(board, backing, part, (stay, CAUSE), When::START);
            brought.expect("there is room")
        })
    }

    /// Writes a map page that memory holds.
    fn write(&mut self, part: u32) {
        self.with(|map, board, backing| {
            let ready = map.make_room(board, backing.supply, CAUSE, When::START);
            let ready = ready.expect("there is room");
            assert!(map.write(board, backing, part, CAUSE, ready).is_ok());
        });
    }

    /// Whether memory holds each map page.
    fn held(&self) -> [bool; 3] {
        [0, 1, 2].map(|part| self.map.holds(part))
    }

    fn changed(&self) -> [bool; 3] {
        [0, 1, 2].map(|part| self.map.is_changed(part))
    }

    fn operations(&self, cause: Cause) -> (u64, u64) {
        (self.board.meter().reads(cause), self.board.meter().programs(cause))
    }

    /// Takes every free block; the area has none of its own yet.
    fn fill(&mut self) -> Vec<BlockId> {
        assert_eq!(self.map.area.blocks_in_use(), 0);
        take_all_but(0, &mut self.supply, &self.board)
    }

    /// Looks up the first entry of a map page: whether memory answered, whether the directory did,
    /// and how many pages were read.
    fn look_up(&mut self, part: u32) -> (u64, u64, u64) {
        let count = |bench: &Bench| {
            let events = |event| bench.board.meter().events(event);
            let reads = bench.board.meter().reads(Cause::Translate);
            (events(Event::MapHits), events(Event::DirectoryHits), reads)
        };
        let before = count(self);
        let found = self.with(|map, board, backing| {
            map.look_up(board, backing, 128 * part, When::START).expect("nothing fails")
        });
        let after = count(self);
        let reads = after.2 - before.2;
        assert!(reads == 0 || found != When::START, "a read takes its time");
        (after.0 - before.0, after.1 - before.1, reads)
    }
}

/// 4 bytes for each of three map pages and of three blocks of their area; of a page that memory
/// holds its 512 bytes, and it never holds more than there are.
#[test]
fn memory_is_directory_and_cached_pages() {
    let bench = Bench::new(2);
    let geometry = bench.board.geometry();
    let of = |most| FlashMap::ram_use(geometry, 300, most);
    assert_eq!(of(2), [("map_directory", 24), ("map_cache", 1024)]);
    assert_eq!(of(7), [("map_directory", 24), ("map_cache", 3 * 512)]);
}

/// Page 0 was written and left memory, page 1 is there and was written, page 2 never was.
#[test]
fn a_look_up_is_answered_by_memory_or_the_directory_or_costs_a_read() {
    let mut bench = Bench::new(1);
    for part in [0, 1] {
        let _ = bench.bring(part, Stay::Newest);
        bench.write(part);
    }
    assert_eq!(bench.look_up(1), (1, 0, 0), "memory has it");
    assert_eq!(bench.look_up(2), (1, 1, 0), "the directory knows that it is nowhere");
    assert_eq!(bench.held(), [false, true, false], "nothing was brought for that");
    assert_eq!(bench.look_up(0), (0, 0, 1));
    assert_eq!(bench.held(), [true, false, false]);
    let _ = bench.bring(2, Stay::Newest);
    assert_eq!(bench.look_up(2), (1, 0, 0), "memory has it, written or not");
    bench.map.area.keep(1);
    assert_eq!(bench.look_up(1), (1, 0, 0), "it is kept beside the others");
    assert_eq!(bench.held(), [false, false, true]);
}

/// All that memory holds of a page that was kept is newer than what flash says.
#[test]
fn a_page_that_is_brought_is_read_unless_it_was_kept_or_never_written() {
    let mut bench = Bench::new(3);
    for part in [0, 1] {
        let _ = bench.bring(part, Stay::Newest);
        bench.write(part);
    }
    let pages = [0, 1].map(|part| bench.map.area.location(part));
    assert!(pages.iter().all(Option::is_some));
    let mut bench = Bench { map: FlashMap::over(bench.map.area.clone(), 3), ..bench };
    bench.map.area.keep(1);
    assert_eq!(bench.operations(CAUSE), (0, 2));
    assert_ne!(bench.bring(0, Stay::Newest), When::START);
    assert_eq!(bench.operations(CAUSE), (1, 2));
    assert_eq!(bench.bring(1, Stay::Newest), When::START);
    assert_eq!(bench.bring(2, Stay::Newest), When::START);
    assert_eq!((bench.operations(CAUSE), bench.held()), ((1, 2), [true; 3]));
}

#[test]
fn a_page_that_is_used_again_stays_longer_unless_it_is_not_to() {
    for (stay, held) in [(Stay::Newest, [true, false, true]), (Stay::Oldest, [false, true, true])] {
        let mut bench = Bench::new(2);
        let _ = bench.bring(0, Stay::Newest);
        let _ = bench.bring(1, Stay::Newest);
        let _ = bench.bring(0, stay);
        let _ = bench.bring(2, Stay::Newest);
        assert_eq!(bench.held(), held, "{stay:?}");
    }
    let mut bench = Bench::new(2);
    let _ = bench.bring(0, Stay::Newest);
    let _ = bench.bring(1, Stay::Oldest);
    let _ = bench.bring(2, Stay::Newest);
    assert_eq!(bench.held(), [true, false, true], "it stays until the next one comes");
}

/// Page 0 has changed in memory, page 1 is there as flash has it, page 2 is kept.
#[test]
fn what_memory_says_otherwise_than_flash_has_changed_or_was_kept() {
    let mut bench = Bench::new(2);
    for part in [0, 1] {
        let _ = bench.bring(part, Stay::Newest);
    }
    bench.map.change(0);
    bench.map.area.keep(2);
    assert_eq!(bench.changed(), [true, false, true]);
    bench.write(0);
    assert_eq!(bench.changed(), [false, false, true]);
}

/// No block is free when page 1 must be written: it is kept, and written when there is one.
#[test]
fn a_page_that_finds_no_block_is_kept_until_there_is_one() {
    let mut bench = Bench::new(2);
    let _ = bench.bring(1, Stay::Newest);
    bench.map.change(1);
    let mut taken = bench.fill();
    let keep = |bench: &mut Bench| {
        bench.with(|map, board, backing| {
            let kept = map.write_kept(board, backing, CAUSE, When::START);
            (kept.expect("nothing fails") != When::START, map.area.is_kept(1))
        })
    };
    bench.with(|map, board, backing| {
        assert!(map.write_or_keep(board, backing, 1, CAUSE, When::START).is_ok());
    });
    assert_eq!(keep(&mut bench), (false, true));
    let free = taken.pop().expect("some were free");
    let (role, cause) = (ftlab_flash::meter::BlockRole::Log, Cause::Wear);
    assert!(bench.supply.release(&mut bench.board, free, role, cause, When::START).is_ok());
    assert_eq!(keep(&mut bench), (true, false));
    assert_eq!(bench.operations(CAUSE), (0, 1));
}

/// The three map pages are on flash; then the table says something else of all entries of pages 0
/// and 1. Of page 0 memory knows that, which has changed it; page 1 is brought, and will be
/// written; page 2 is left where it is. One that is kept is written with what the table says.
#[test]
fn the_map_catches_up_with_a_table_that_was_changed_behind_its_back() {
    let mut bench = Bench::new(3);
    for part in [0, 1, 2] {
        let _ = bench.bring(part, Stay::Newest);
        bench.write(part);
    }
    let mut bench = Bench { map: FlashMap::over(bench.map.area.clone(), 3), ..bench };
    let _ = bench.bring(0, Stay::Newest);
    bench.says = [1000, 1000, 0];
    bench.map.change(0);
    let catch_up = |bench: &mut Bench| {
        bench.with(|map, board, backing| {
            let caught = map.catch_up(board, backing, CAUSE, When::START);
            caught.expect("there is room") != When::START
        })
    };
    let before = bench.operations(CAUSE);
    assert!(catch_up(&mut bench));
    assert_eq!(bench.operations(CAUSE), (before.0 + 1, before.1), "page 1 is read");
    assert_eq!((bench.held(), bench.changed()), ([true, true, false], [true, true, false]));
    let mut bench = Bench { map: FlashMap::over(bench.map.area.clone(), 3), ..bench };
    bench.map.area.keep(0);
    assert!(catch_up(&mut bench));
    assert_eq!(bench.operations(CAUSE), (before.0 + 2, before.1 + 1), "0 written, 1 read");
    assert_eq!((bench.held(), bench.changed()), ([false, true, false], [false, true, false]));
}

/// Without a block for it, a page that is kept is not brought for what it already says.
#[test]
fn what_is_kept_is_not_brought_to_catch_up() {
    let mut bench = Bench::new(3);
    bench.map.area.keep(0);
    let _ = bench.fill();
    bench.with(|map, board, backing| {
        assert!(map.catch_up(board, backing, CAUSE, When::START).is_ok());
    });
    assert_eq!((bench.held(), bench.changed()), ([false, true, true], [true; 3]));
}

/// After a power cut page 0 is found and says what the table says; page 1 was never written, and
/// the table has entries of it; of page 2 it has none.
#[test]
fn a_recovery_reads_what_it_finds_and_writes_what_is_missing() {
    let mut bench = Bench::new(3);
    let _ = bench.bring(0, Stay::Newest);
    bench.write(0);
    let page = bench.map.area.location(0).expect("it was written");
    let block = bench.board.geometry().block_of(page);
    let found = FoundMapPages { newest: vec![page.0 + 1, 0, 0], blocks: vec![block] };
    let table = |entry: u32| if entry < 256 { entry + 1 } else { 0 };
    let mut backing = Backing { supply: &mut bench.supply, table };
    let board = &mut bench.board;
    let recovered = FlashMap::recover(board, &mut backing, &found, (300, 3), When::START);
    let (map, done) = recovered.expect("there is room");
    assert_ne!(done, When::START);
    bench.map = map;
    assert_eq!(bench.operations(Cause::Recover), (1, 1));
    assert_eq!((bench.held(), bench.changed()), ([true, true, false], [false; 3]));
    let written = bench.map.area.location(1).expect("it was missing");
    assert_eq!(bench.board.nand().payload(written)[..2], [129, 130]);
    assert_eq!([0, 2].map(|part| bench.map.area.location(part)), [Some(page), None]);
}
