//! Pages of two sectors in frames over a map on flash: what is read, written and lost there.

use super::*;
use crate::parts::cmt::{CachePolicyKind, Cmt};
use crate::parts::demand_mapped::Needs;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::Ppn;

const NEEDS: Needs = Needs { threshold: 5, checkpoint_words: 0, stale_pages: 0 };
const PART: u64 = 0b01;
const REST: u64 = 0b10;
const WHOLE: u64 = 0b11;

struct Bench {
    config: SharedSettings,
    board: Board,
    base: DemandMapped<Cmt>,
    data: RamData,
}

fn io(lpn: u32, sectors: u64, tag: u32) -> PageIo {
    let (lpn, data) = (Lpn(lpn), Tag(tag));
    let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
    PageIo { lpn, sectors, cause: Cause::Host, data, request }
}

impl Bench {
    /// Partial writes read what they keep; dies and the controller's memory work side by side.
    fn new(pairs: &[(&str, &str)]) -> Bench {
        let mut config = SharedSettings::default();
        let common = [
            ("device.page_bytes", "1024"),
            ("device.pages_per_block", "8"),
            ("io.partial_write", "rmw"),
            ("timing.profile", "parallel"),
            ("timing.ram_page", "2us"),
        ];
        for (key, value) in common.iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        config.device.set_capacity(600 * 1024, 0);
        config.device.blocks_per_plane = 200;
        let board = Board::new(&config, 1, 256);
        let cache = Cmt::new(CachePolicyKind::Lru, 600, 16, 0.5);
        let base = DemandMapped::new(&board, &config, &NEEDS, cache, 1);
        let data = RamData::new(&board, 4);
        Bench { config, board, base, data }
    }

    /// The cache holds the entry of a page.
    fn translate(&mut self, lpn: u32) {
        let entry = self.base.map.translation.entry(&self.board, Lpn(lpn));
        self.base.map.cache.insert(Lpn(lpn), entry, When::START);
    }

    /// The entry leaves the cache: flash alone says where the page is.
    fn forget(&mut self, lpn: u32) {
        let written =
            self.base.write_back(&mut self.board, Lpn(lpn), Cause::Translate, When::START);
        assert!(written.is_ok());
        let slot = self.base.map.cache.find(Lpn(lpn)).expect("it is cached");
        self.base.map.cache.remove(slot);
    }

    /// Flash holds all of a page, and the cache its entry.
    fn store(&mut self, lpn: u32, version: u32) -> Ppn {
        self.translate(lpn);
        let io = io(lpn, WHOLE, version);
        let written = self.base.write(&mut self.board, &io, When::START);
        assert!(written.is_ok());
        match self.base.locate(&self.board, Lpn(lpn)) {
            Location::Flash(page) => page,
            other => panic!("written, and {other:?}"),
        }
    }

    /// A frame with what the host wrote.
    fn put(&mut self, lpn: u32, sectors: u64, version: u32) -> Slot {
        let (slot, free) = self.data.enter(Lpn(lpn), When::START);
        let _ = self.data.put(&mut self.board, slot, &io(lpn, sectors, version), free);
        slot
    }

    /// A frame with what was read from flash.
    fn fill(&mut self, lpn: u32, tag: Tag) -> Slot {
        let (slot, free) = self.data.enter(Lpn(lpn), When::START);
        let _ = self.data.fill(&mut self.board, slot, tag, free);
        slot
    }

    /// No retry brings a page back.
    fn lose(&mut self, page: Ppn) {
        self.board.nand_mut().faults_mut().fail_read_after(0);
        let read = self.board.read(page, Cause::Rebuild, When::START).expect("the device works");
        assert_eq!(read.1, Tag::UNREADABLE);
    }

    fn get_merged(&mut self, slot: Slot, lpn: u32, sectors: u64, known: When) -> (When, Tag) {
        let wanted = io(lpn, sectors, 0);
        let Bench { board, base, data, .. } = self;
        data.get_merged(base, board, (slot, &wanted), known).expect("nothing fails")
    }

    fn write_out(&mut self, slot: Slot) -> (When, bool) {
        let Bench { board, base, data, .. } = self;
        data.write_out(base, board, slot, When::START).expect("nothing fails")
    }

    fn held(&self, slot: Slot) -> (u32, u64, bool) {
        let Held { tag, sectors, dirty, .. } = *self.data.pages().get(slot);
        (tag.0, sectors & WHOLE, dirty)
    }

    fn dirty_pages(&self) -> Option<u64> {
        self.board.meter().level_now(Level::BufferedPages)
    }

    fn locate(&self, lpn: u32) -> Location {
        self.data.locate(&self.base, &self.board, Lpn(lpn))
    }
}

/// Page 5 is on flash, page 6 nowhere; of both the host wrote the first sector since.
#[test]
fn a_read_takes_from_flash_what_the_frame_lacks_and_keeps_it() {
    let mut it = Bench::new(&[]);
    it.store(5, 3);
    let [slot, alone] = [5, 6].map(|lpn| it.put(lpn, PART, 7));
    let in_memory = it.get_merged(slot, 5, PART, When::START);
    assert_eq!((in_memory.1, it.board.meter().total_reads()), (Tag(7), 0));
    assert_ne!(in_memory.0, When::START, "a way through memory");
    let merged = it.get_merged(slot, 5, WHOLE, When::START);
    assert_eq!((merged.1, it.board.meter().reads(Cause::Host)), (Tag(7), 1));
    assert_eq!(merged.0.join(in_memory.0), merged.0, "it waits for the flash");
    assert_eq!(it.held(slot), (7, WHOLE, true), "what the host wrote stays");
    let again = it.get_merged(slot, 5, REST, When::START);
    assert_eq!(again.0.join(merged.0), again.0, "it was there when it had been read");
    assert_eq!(it.board.meter().reads(Cause::Host), 1);
    assert_eq!(it.get_merged(alone, 6, WHOLE, When::START).1, Tag(7));
    assert_eq!((it.board.meter().total_reads(), it.held(alone)), (1, (7, PART, true)));
}

/// Errors have the size of a page: the sector that was written since is read, the whole is not.
#[test]
fn what_flash_lost_is_lost_where_the_frame_lacks_it() {
    let mut it = Bench::new(&[]);
    let page = it.store(5, 3);
    let slot = it.put(5, PART, 7);
    assert_eq!(it.locate(5), Location::Ram(Tag(7)));
    it.lose(page);
    assert_eq!(it.get_merged(slot, 5, WHOLE, When::START).1, Tag::UNREADABLE);
    assert_eq!(it.held(slot), (7, PART, true), "nothing came");
    assert_eq!(it.get_merged(slot, 5, PART, When::START).1, Tag(7));
    assert_eq!(it.locate(5), Location::Ram(Tag::UNREADABLE));
    let _ = it.data.put(&mut it.board, slot, &io(5, REST, 8), When::START);
    assert_eq!(it.locate(5), Location::Ram(Tag(8)), "all of it is here");
}

#[test]
fn the_newest_version_is_in_a_frame_only_where_the_host_wrote_it() {
    let mut it = Bench::new(&[]);
    let page = it.store(5, 3);
    assert_eq!([5, 6].map(|lpn| it.locate(lpn)), [Location::Flash(page), Location::Nowhere]);
    let slot = it.fill(5, Tag(3));
    assert_eq!(it.locate(5), Location::Flash(page), "as on flash");
    let _ = it.data.put(&mut it.board, slot, &io(5, WHOLE, 7), When::START);
    assert_eq!(it.locate(5), Location::Ram(Tag(7)));
    it.put(6, PART, 8);
    assert_eq!(it.locate(6), Location::Ram(Tag(8)));
}

/// Flash holds an older version of page 5, and none of 6 and 8; page 7 is as on flash.
#[test]
fn an_audit_allows_for_dirty_pages_and_their_older_versions() {
    let mut it = Bench::new(&[]);
    it.store(5, 3);
    it.store(7, 4);
    it.put(5, WHOLE, 8);
    it.put(6, PART, 9);
    it.fill(7, Tag(4));
    it.put(8, PART, 9);
    let expected = Unsettled { stale_pages: 1, ram_pages: 3, shared_pages: 0 };
    assert_eq!(it.data.unsettled(&it.base, &it.board), expected);
}

/// Only a cached entry says where the old page is: that of 5 does, that of 6 says that there is
/// none, and that of 7 is on flash.
#[test]
fn the_old_page_of_a_partial_write_is_read_where_its_entry_says() {
    let mut it = Bench::new(&[]);
    it.store(5, 3);
    it.translate(6);
    it.store(7, 4);
    it.forget(7);
    let old = [5, 6, 7].map(|lpn| {
        let Bench { board, base, data, .. } = &mut it;
        data.load_old(base, board, Lpn(lpn), When::START).expect("nothing fails")
    });
    assert_eq!(old.map(|old| old.map(|(tag, _)| tag)), [Some(Tag(3)), None, None]);
    assert!(old[0].is_some_and(|(_, read)| read != When::START), "a read takes time");
    assert_eq!(it.board.meter().reads(Cause::ReadModifyWrite), 1);
}

/// A part of page 5 is written over what flash has of it, which is read; all of page 6 over
/// nothing, and over an older version later.
#[test]
fn a_page_that_is_written_out_stays_as_flash_has_it() {
    let mut it = Bench::new(&[]);
    it.store(5, 3);
    it.translate(6);
    let [part, whole] = [(5, PART), (6, WHOLE)].map(|(lpn, sectors)| it.put(lpn, sectors, 7));
    assert_eq!(it.dirty_pages(), Some(2));
    let old_reads = |it: &Bench| it.board.meter().reads(Cause::ReadModifyWrite);
    let events = |it: &Bench| it.board.meter().events(Event::BufferFlushes);
    for (slot, lpn, reads, left) in [(part, 5, 1, 1), (whole, 6, 1, 0)] {
        let (done, stays) = it.write_out(slot);
        assert!(stays && done != When::START);
        assert_eq!((it.held(slot), old_reads(&it)), ((7, WHOLE, false), reads), "page {lpn}");
        assert_eq!((it.dirty_pages(), events(&it)), (Some(left), 2 - left));
        let Location::Flash(page) = it.locate(lpn) else { panic!("page {lpn} is on flash") };
        let state = it.board.nand().state();
        assert_eq!((state.tag(page), state.mask(page)), (Tag(7), WHOLE), "page {lpn}");
    }
    let _ = it.data.put(&mut it.board, whole, &io(6, WHOLE, 8), When::START);
    assert!(it.write_out(whole).1);
    assert_eq!(old_reads(&it), 1, "all of it is new");
    assert_eq!(it.board.meter().programs(Cause::Host), 4);
}

/// What flash does not have is not lost with what it has: page 6 has one sector alone.
#[test]
fn a_page_whose_other_sectors_flash_lost_is_lost_when_it_is_written_out() {
    let mut it = Bench::new(&[]);
    let page = it.store(5, 3);
    it.translate(6);
    it.lose(page);
    let [lost, alone] = [5, 6].map(|lpn| it.put(lpn, PART, 7));
    assert!(!it.write_out(lost).1);
    assert!(it.write_out(alone).1);
    let Location::Flash(page) = it.locate(6) else { panic!("it was written") };
    assert_eq!(it.board.nand().state().mask(page), PART);
    it.store(7, 4);
    let whole = it.put(7, WHOLE, 8);
    assert!(it.write_out(whole).1);
}

/// What a frame holds is programmed when it is there, which is long after the start.
#[test]
fn a_page_is_written_out_when_it_is_in_its_frame() {
    let mut it = Bench::new(&[("device.channels", "2")]);
    it.translate(6);
    let page = it.store(5, 3);
    let late = (0..4).fold(When::START, |when, _| {
        it.board.read(page, Cause::Host, when).expect("nothing fails").0
    });
    let (slot, _) = it.data.enter(Lpn(6), When::START);
    let _ = it.data.fill(&mut it.board, slot, Tag(0), late);
    let there = it.data.put(&mut it.board, slot, &io(6, WHOLE, 7), When::START);
    assert_eq!(there.join(late), there, "it is put over what was there");
    let (done, _) = it.write_out(slot);
    assert!(done != there && done.join(there) == done);
}

/// Partial pages with a version on flash, and those that are lost already.
#[test]
fn flash_may_lose_what_it_alone_holds_in_part() {
    let mut it = Bench::new(&[]);
    it.store(5, 3);
    it.store(6, 4);
    it.translate(7);
    let slots = [(5, PART), (6, WHOLE), (7, PART)].map(|(lpn, sectors)| it.put(lpn, sectors, 8));
    let lost = it.fill(8, Tag::UNREADABLE);
    let may = |slot| it.data.may_be_lost(&it.base, slot);
    assert_eq!(slots.map(may), [true, false, false]);
    assert!(may(lost));
}

/// Two dirty pages and a clean one, in the order that the scheme says.
#[test]
fn a_power_cut_leaves_pages_where_memory_keeps_its_content_and_loses_dirty_ones_elsewhere() {
    for (nonvolatile, kept, lost) in [("true", &[7, 5, 6][..], 0), ("false", &[], 2)] {
        let mut it = Bench::new(&[("device.ram_nonvolatile", nonvolatile)]);
        let page = it.store(5, 3);
        let slots = [it.put(7, WHOLE, 8), it.fill(5, Tag(3)), it.put(6, PART, 9)];
        let (map, left) = it.data.power_off(&it.base, slots.into_iter());
        let lpns: Vec<u32> = left.pages.iter().map(|held| held.lpn.0).collect();
        assert_eq!((&lpns[..], left.lost), (kept, lost), "{nonvolatile}");
        it.board.nand_mut().cut_power();
        it.board.power_on();
        let empty = Cmt::new(CachePolicyKind::Lru, 600, 16, 0.5);
        let (needs, survivor) = ((&NEEDS, 1), (map, 16));
        let Bench { config, board, .. } = &mut it;
        let recovered = DemandMapped::recover(board, config, needs, survivor, empty, When::START);
        let (base, _) = recovered.expect("nothing fails");
        assert_eq!(base.locate(&it.board, Lpn(5)), Location::Flash(page), "{nonvolatile}");
    }
}
