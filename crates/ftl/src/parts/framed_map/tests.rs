//! Three map pages of 128 entries, the last of 44: with a frame, without one, and without a block.

use super::*;
use crate::parts::block_supply::BlockSupply;
use crate::parts::log_bench_tests::take_all_but;
use crate::settings::SharedSettings;
use ftlab_flash::meter::BlockRole;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{BlockId, pack};

const SIZES: FrameSizes = FrameSizes { maps: 2, data: 4 };
const UPDATE: Cause = Cause::GcMapUpdate;

struct Bench {
    board: Board,
    supply: BlockSupply,
    map: FramedMap,
    /// The table: the data block of each logical block, plus one.
    words: Vec<u32>,
}

impl Bench {
    /// 300 logical blocks of four pages.
    fn new() -> Bench {
        let mut config = SharedSettings::default();
        for (key, value) in [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "4"),
            ("timing.profile", "parallel"),
        ] {
            config.set(key, value).expect("legal");
        }
        config.device.set_capacity(300 * 4 * 512, 400);
        let board = Board::new(&config, 1, 32);
        let supply = BlockSupply::new(&board, &config);
        let map = FramedMap::new(board.geometry(), SIZES);
        Bench { board, supply, map, words: vec![0; 300] }
    }

    fn announce(&mut self, entry: u32) -> When {
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        map.announce(board, &mut backing, entry, When::START).expect("nothing fails")
    }

    /// A logical block that was announced has another data block.
    fn change(&mut self, entry: u32, block: u32) {
        self.words[entry as usize] = pack(Some(block));
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        let done = map.change(board, &mut backing, entry, UPDATE, When::START);
        assert!(done.is_ok());
        self.check();
    }

    fn map_block(&mut self, entry: u32, block: u32) {
        let _ = self.announce(entry);
        self.change(entry, block);
    }

    fn read(&mut self, part: u32) -> When {
        let Bench { board, map, .. } = self;
        map.read(board, part, Cause::Translate, When::START).expect("nothing fails")
    }

    /// Looked up, that is read, by requests.
    fn looked_up(&self) -> u64 {
        self.board.meter().reads(Cause::Translate)
    }

    fn write(&mut self, part: u32) -> When {
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        map.write(board, &mut backing, part, When::START).expect("there is room")
    }

    fn admit(&mut self, part: u32, ready: When) -> Slot {
        let Bench { board, supply, map, words } = self;
        let backing = Backing { supply, table: |entry| words[entry as usize] };
        map.admit(board, &backing, part, ready)
    }

    fn check(&self) {
        let table = |entry: u32| self.words[entry as usize];
        self.map.self_check(&self.board, table).expect("memory and flash say what the table says");
    }

    /// Map pages that were read and written for changes.
    fn updates(&self) -> (u64, u64) {
        (self.board.meter().reads(UPDATE), self.board.meter().programs(UPDATE))
    }

    fn entry(&self, entry: u32) -> (Option<u32>, bool) {
        let maps = &self.map.frames.maps;
        let block = maps.entry(key(entry)).expect("its map page is in memory");
        (block.map(|block| block.0), maps.is_dirty(key(entry)))
    }

    fn on_flash(&self, entry: u32) -> u32 {
        let page = self.map.area.location(entry / 128).expect("the map page was written");
        self.board.nand().payload(page)[entry as usize % 128]
    }

    /// Takes every free block: one of them.
    fn exhaust(&mut self) -> BlockId {
        take_all_but(0, &mut self.supply, &self.board).pop().expect("some were free")
    }
}

/// What was never written is not read; what was read last is read once, until it is written or
/// another one is read.
#[test]
fn a_map_page_without_a_frame_is_read_and_written_at_once() {
    let mut it = Bench::new();
    assert_eq!(it.map.area_blocks(), 0);
    it.map_block(3, 50);
    assert_eq!((it.updates(), it.map.area_blocks()), ((0, 1), 1));
    it.map_block(4, 51);
    assert_eq!((it.updates(), it.on_flash(3), it.on_flash(4)), ((1, 2), 51, 52));
    let first = it.announce(5);
    assert_ne!(first, When::START, "a read takes time");
    let again = it.announce(6);
    assert_eq!((it.updates().0, again.join(first)), (2, again), "it is there when it was read");
    // Of map page 1 nothing is read, but the working page is that from now on.
    let _ = it.announce(130);
    assert_eq!(it.updates().0, 2);
    let _ = it.announce(6);
    assert_eq!(it.updates().0, 3);
    assert_eq!((it.read(1), it.looked_up()), (When::START, 0), "it was never written");
    assert_ne!(it.read(0), When::START);
    assert_eq!(it.looked_up(), 1);
}

#[test]
fn a_map_page_in_a_frame_is_changed_there_and_written_without_a_read() {
    let mut it = Bench::new();
    it.map_block(131, 50);
    let read = it.read(1);
    it.admit(1, read);
    it.check();
    assert_eq!([131, 132].map(|entry| it.entry(entry)), [(Some(50), false), (None, false)]);
    let announced = it.announce(132);
    assert_eq!(announced.join(read), announced, "it changes when it is there");
    it.change(132, 51);
    assert_eq!((it.updates(), it.entry(132)), ((0, 1), (Some(51), true)));
    assert_eq!(it.on_flash(132), 0);
    let done = it.write(1);
    assert_ne!(done, When::START, "a program takes time");
    it.check();
    assert_eq!([131, 132].map(|entry| it.entry(entry)), [(Some(50), false), (Some(51), false)]);
    assert_eq!((it.on_flash(132), it.looked_up()), (52, 1));
    assert_eq!(it.board.meter().programs(Cause::Translate), 1);
    // One that was never written says that nothing is mapped.
    it.admit(2, When::START);
    assert_eq!(it.entry(299), (None, false));
}

/// The working page holds what flash said before the frame changed it.
#[test]
fn a_working_page_is_forgotten_when_its_map_page_gets_a_frame() {
    let mut it = Bench::new();
    [3, 131].into_iter().for_each(|entry| it.map_block(entry, 50));
    let _ = it.announce(3);
    it.admit(1, When::START);
    let _ = it.announce(4);
    assert_eq!(it.updates().0, 1, "that of another map page is not");
    let frame = it.admit(0, When::START);
    it.map_block(3, 51);
    let _ = it.write(0);
    it.map.frames.maps.remove(frame);
    let _ = it.announce(3);
    assert_eq!(it.updates().0, 2);
}

/// The last block of the device fails when the changed map page is written: memory keeps it, and
/// has it at once when it is asked for, until a block is given back.
#[test]
fn a_map_page_that_finds_no_block_is_kept_until_there_is_one() {
    let mut it = Bench::new();
    for (entry, block) in [(131, 50), (132, 51), (133, 52)] {
        it.map_block(entry, block);
    }
    let free = it.exhaust();
    let _ = it.announce(134);
    it.board.nand_mut().faults_mut().fail_program_after(0);
    it.change(134, 53);
    assert_eq!(it.on_flash(134), 0);
    assert_eq!((it.read(1), it.looked_up()), (When::START, 0), "memory has all of it");
    it.admit(1, When::START);
    it.check();
    assert_eq!([133, 134].map(|entry| it.entry(entry)), [(Some(52), false), (Some(53), true)]);
    let done = it.supply.release(&mut it.board, free, BlockRole::Log, UPDATE, When::START);
    assert!(done.is_ok());
    let _ = it.announce(3);
    it.check();
    assert_eq!(it.on_flash(134), 54);
}

/// Map pages 0 and 1 are found; block 131 moved since, and 3 did not.
#[test]
fn after_a_power_cut_what_flash_does_not_say_is_written() {
    let mut it = Bench::new();
    [3, 131].into_iter().for_each(|entry| it.map_block(entry, 50));
    let pages = [0, 1, 2].map(|part| it.map.area.location(part));
    let block = pages[0].map(|page| it.board.geometry().block_of(page));
    let newest = pages.map(|page| pack(page.map(|page| page.0))).to_vec();
    let found = FoundMapPages { newest, blocks: block.into_iter().collect() };
    it.words[131] = pack(Some(60));
    let Bench { board, supply, map, words } = &mut it;
    let mut backing = Backing { supply, table: |entry| words[entry as usize] };
    let recovered = FramedMap::recover(board, &mut backing, &found, SIZES, When::START);
    let (again, done) = recovered.expect("nothing fails");
    *map = again;
    assert_ne!(done, When::START, "it takes time");
    it.check();
    assert_eq!((it.on_flash(3), it.on_flash(131)), (51, 61));
    let meter = it.board.meter();
    assert_eq!((meter.reads(Cause::Recover), meter.programs(Cause::Recover)), (2, 1));
    assert!(it.map.frames.maps.is_empty() && it.map.area_blocks() == 1);
}
