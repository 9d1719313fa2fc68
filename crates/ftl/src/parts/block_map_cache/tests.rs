//! Three map pages of 128 entries, the last of 44, under two levels of a few entries and pages.

use super::*;
use crate::parts::block_supply::BlockSupply;
use crate::parts::log_bench_tests::take_all_but;
use crate::settings::SharedSettings;
use ftlab_flash::meter::BlockRole;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{BlockId, pack};

const ENTRIES: u32 = 300;
const TRANSLATE: Cause = Cause::Translate;
const RULES: CacheRules = CacheRules { promote_hits: 2, batch: false };
const BATCH: CacheRules = CacheRules { promote_hits: 2, batch: true };

struct Bench {
    board: Board,
    supply: BlockSupply,
    map: BlockMapCache,
    /// The table: the data block of each logical block, plus one.
    words: Vec<u32>,
}

/// So many entries, pages by recency and pages by frequency.
fn sizes(entries: u32, spatial: u32, frequent: u32) -> CacheSizes {
    CacheSizes { entries, spatial, frequent }
}

impl Bench {
    /// Blocks of four pages; entry e is mapped to block e, and flash says so of `written` map
    /// pages.
    fn new(sizes: CacheSizes, rules: CacheRules, written: &[u32]) -> Bench {
        Bench::of_dies("1", sizes, rules, written)
    }

    fn of_dies(dies: &str, sizes: CacheSizes, rules: CacheRules, written: &[u32]) -> Bench {
        let mut config = SharedSettings::default();
        for (key, value) in [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "4"),
            ("device.blocks_per_plane", "400"),
            ("device.dies", dies),
            ("timing.profile", "parallel"),
        ] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 32);
        let supply = BlockSupply::new(&board, &config);
        let map = BlockMapCache::new(board.geometry(), ENTRIES, sizes, rules);
        let is_written = |entry: &u32| written.contains(&(entry / 128));
        let word = |entry| if is_written(&entry) { pack(Some(entry)) } else { 0 };
        let mut it = Bench { board, supply, map, words: (0..ENTRIES).map(word).collect() };
        for &part in written {
            let Bench { board, supply, map, words } = &mut it;
            let mut backing = Backing { supply, table: |entry| words[entry as usize] };
            let what = (part, |_| true);
            let done = map.area.write(board, &mut backing, what, Cause::Merge, When::START);
            assert!(done.is_ok());
        }
        it
    }

    fn look_up(&mut self, entry: u32) -> When {
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        let known = map.look_up(board, &mut backing, entry, When::START).expect("it is answered");
        self.check();
        known
    }

    fn bring(&mut self, entry: u32) -> When {
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        let known = map.bring(board, &mut backing, entry, TRANSLATE, When::START);
        let known = known.expect("there is room");
        self.check();
        known
    }

    /// A logical block has another data block.
    fn change(&mut self, entry: u32, block: u32) {
        let _ = self.bring(entry);
        self.words[entry as usize] = pack(Some(block));
        let Bench { supply, map, words, .. } = self;
        map.change(&Backing { supply, table: |entry| words[entry as usize] }, entry);
        self.check();
    }

    fn check(&self) {
        let table = |entry: u32| self.words[entry as usize];
        self.map.self_check(&self.board, table).expect("memory and flash say what the table says");
    }

    fn events<const N: usize>(&self, events: [Event; N]) -> [u64; N] {
        events.map(|event| self.board.meter().events(event))
    }

    /// Map pages that were read and written since they were made.
    fn flash(&self) -> (u64, u64) {
        (self.board.meter().reads(TRANSLATE), self.board.meter().programs(TRANSLATE))
    }

    fn on_flash(&self, entry: u32) -> u32 {
        let page = self.map.area.location(entry / 128).expect("the map page was written");
        self.board.nand().payload(page)[entry as usize % 128]
    }

    /// Which map pages level 2 holds, by recency and by frequency.
    fn pages(&self) -> (Vec<u32>, Vec<u32>) {
        let of = |cache: &Cmt| cache.slots().map(|slot| cache.lpn(slot).0).collect();
        (of(&self.map.spatial), of(&self.map.frequent))
    }

    fn holds(&self, entry: u32) -> bool {
        self.map.entries.find(key(entry)).is_some()
    }

    fn is_changed(&self, entry: u32) -> bool {
        let entries = &self.map.entries;
        entries.find(key(entry)).is_some_and(|slot| entries.is_dirty(slot))
    }

    /// Takes every free block: one of them. The block that the area writes is full.
    fn exhaust(&mut self) -> BlockId {
        while self.board.geometry().offset_of(self.last_page()) < 3 {
            self.rewrite(0);
        }
        take_all_but(0, &mut self.supply, &self.board).pop().expect("some were free")
    }

    fn rewrite(&mut self, part: u32) {
        let Bench { board, supply, map, words } = self;
        let mut backing = Backing { supply, table: |entry| words[entry as usize] };
        let what = (part, |_| false);
        let done = map.area.write(board, &mut backing, what, Cause::Merge, When::START);
        assert!(done.is_ok());
    }

    /// The page of the area that was written last.
    fn last_page(&self) -> Ppn {
        let pages = self.map.area.parts().filter_map(|part| self.map.area.location(part));
        pages.max().expect("something was written")
    }
}

/// Level 1, the page that was read, the same often enough, a page that was never written, and
/// another one.
#[test]
fn a_look_up_is_answered_by_an_entry_a_page_the_directory_or_flash() {
    use Event::{DirectoryHits, FrequencyHits, MapHits, MapLookups, SecondLevelHits};
    let mut it = Bench::new(sizes(8, 1, 1), RULES, &[0, 1]);
    let mut expected = 0;
    for (entry, hits, reads, pages) in [
        (3, [0, 0, 0, 0], 1, (vec![0], vec![])),
        (3, [1, 0, 0, 0], 1, (vec![0], vec![])),
        (4, [2, 0, 1, 0], 1, (vec![0], vec![])),
        (5, [3, 0, 2, 0], 1, (vec![], vec![0])),
        (6, [4, 0, 3, 1], 1, (vec![], vec![0])),
        (260, [5, 1, 3, 1], 1, (vec![], vec![0])),
        (130, [5, 1, 3, 1], 2, (vec![1], vec![0])),
        (260, [6, 1, 3, 1], 2, (vec![1], vec![0])),
    ] {
        let known = it.look_up(entry);
        expected += 1;
        let found = it.events([MapHits, DirectoryHits, SecondLevelHits, FrequencyHits]);
        assert_eq!((found, it.flash()), (hits, (reads, 0)), "look-up {expected}, of {entry}");
        assert_eq!((it.pages(), it.holds(entry)), (pages, true), "look-up {expected}");
        assert_eq!(known == When::START, entry == 260, "what was read is there when it was");
    }
    assert_eq!(it.events([MapLookups, Event::PromotedMapPages]), [8, 1]);
    assert_eq!(it.map.area_blocks(), 1);
}

/// Level 1 holds one entry, level 2 nothing.
#[test]
fn a_changed_entry_that_leaves_is_written_where_no_page_takes_it() {
    use Event::{AbsorbedEvictions, BatchedEvictions, EvictClean, EvictDirty};
    let mut it = Bench::new(sizes(1, 0, 0), RULES, &[]);
    it.change(3, 50);
    assert_eq!(it.map.area_blocks(), 0, "nothing is written yet");
    assert_ne!(it.bring(4), When::START, "3 is written first");
    // The map page was written for the first time: nothing is read for that, nor for 4.
    assert_eq!((it.flash(), it.on_flash(3)), ((0, 1), 51));
    assert_eq!(it.events([EvictClean, EvictDirty]), [0, 1]);
    let _ = it.bring(5);
    assert_eq!((it.flash(), it.events([EvictClean, EvictDirty])), ((1, 1), [1, 1]));
    it.change(5, 51);
    let _ = it.bring(6);
    assert_eq!((it.flash(), it.on_flash(3), it.on_flash(5)), ((3, 2), 51, 52));
    let events = [EvictClean, EvictDirty, AbsorbedEvictions, BatchedEvictions];
    assert_eq!(it.events(events), [1, 2, 0, 0]);
    assert_eq!(it.events([Event::PromotedMapPages, Event::SecondLevelEvictions]), [0, 0]);
}

/// 3 and 4 of a map page were changed, 130 of another; 3 leaves for 5.
#[test]
fn entries_of_a_map_page_are_written_together_where_that_is_the_rule() {
    for (rules, together) in [(RULES, false), (BATCH, true)] {
        let mut it = Bench::new(sizes(3, 0, 0), rules, &[0, 1]);
        for entry in [3, 4, 130] {
            it.change(entry, 200 + entry);
        }
        let before = it.flash();
        let _ = it.bring(5);
        // The page of 3 is read to be written, and then for 5.
        assert_eq!(it.flash(), (before.0 + 2, before.1 + 1), "{together}");
        let fourth = if together { 205 } else { 5 };
        assert_eq!([3, 4, 130].map(|entry| it.on_flash(entry)), [204, fourth, 131]);
        assert_eq!([4, 130].map(|entry| it.is_changed(entry)), [!together, true]);
        assert_eq!(it.events([Event::BatchedEvictions]), [u64::from(together)]);
        assert!(!it.holds(3) && it.holds(5));
    }
}

/// 3 leaves level 1 while level 2 holds its page; 4 is still there when the page leaves.
#[test]
fn a_page_that_took_a_changed_entry_is_written_as_a_whole_when_it_leaves() {
    use Event::SecondLevelEvictions;
    use Event::{AbsorbedEvictions, BatchedEvictions, EvictClean, EvictDirty};
    let events =
        [EvictClean, EvictDirty, AbsorbedEvictions, BatchedEvictions, SecondLevelEvictions];
    for (frequent, place) in [(0, (1, 0)), (1, (0, 1))] {
        let mut it = Bench::new(sizes(2, place.0, place.1), RULES, &[0, 1, 2]);
        it.change(3, 50);
        it.change(4, 51);
        let _ = it.bring(4);
        let _ = it.bring(5);
        assert_eq!((it.events(events), it.flash()), ([0, 0, 1, 0, 0], (1, 0)), "{frequent}");
        it.change(4, 52);
        let _ = it.bring(130);
        // 5 left clean; page 0 was written without a read, with 4, which is clean now.
        assert_eq!((it.events(events), it.flash()), ([1, 1, 1, 1, 1], (2, 1)), "{frequent}");
        assert_eq!([3, 4, 5].map(|entry| it.on_flash(entry)), [51, 53, 6]);
        assert!(!it.is_changed(4) && it.holds(4));
        let pages = if frequent == 0 { (vec![1], vec![]) } else { (vec![], vec![1]) };
        assert_eq!(it.pages(), pages);
        let _ = it.bring(260);
        assert_eq!((it.events(events), it.flash()), ([3, 1, 1, 1, 2], (3, 1)), "{frequent}");
    }
}

/// Two dies. Page 0 was read in the first one, long after page 1; it goes to the second one, where
/// nothing else is done, and nothing is read for page 1, which takes its place.
#[test]
fn a_page_that_took_an_entry_is_written_when_it_has_been_read() {
    let mut it = Bench::of_dies("2", sizes(1, 2, 1), RULES, &[0, 1]);
    (0..2).for_each(|_| it.rewrite(0));
    let old = it.map.area.location(0).expect("written");
    let _ = it.bring(130);
    for _ in 0..5 {
        assert!(it.board.read(old, Cause::Merge, When::START).is_ok());
    }
    let read = it.bring(3);
    it.change(3, 50);
    for entry in [4, 5, 131] {
        let _ = it.bring(entry);
    }
    assert_eq!((it.pages(), it.flash()), ((vec![1], vec![0]), (2, 0)));
    let written = it.bring(132);
    assert_eq!((it.pages(), it.flash()), ((vec![], vec![1]), (2, 1)));
    assert!(written != read && written.join(read) == written);
    let die = |page| it.board.geometry().plane_of(page);
    assert_ne!(die(old), die(it.last_page()), "nothing else makes the second wait");
}

/// Page 0 takes 3 and is used often; page 1 is then used as often, and later once more.
#[test]
fn a_page_that_is_promoted_takes_its_changes_along_and_the_one_used_least_leaves() {
    use Event::{PromotedMapPages, SecondLevelEvictions};
    let mut it = Bench::new(sizes(1, 1, 1), RULES, &[0, 1]);
    it.change(3, 50);
    for entry in [4, 5] {
        let _ = it.bring(entry);
    }
    assert_eq!((it.pages(), it.events([PromotedMapPages])), ((vec![], vec![0]), [1]));
    assert_eq!((it.flash(), it.on_flash(3)), ((1, 0), 4), "nothing is written yet");
    for entry in [130, 131] {
        let _ = it.bring(entry);
        assert_eq!(it.pages(), (vec![1], vec![0]), "{entry}");
    }
    let _ = it.bring(132);
    assert_eq!((it.pages(), it.flash()), ((vec![], vec![1]), (2, 1)));
    assert_eq!(it.on_flash(3), 51);
    assert_eq!(it.events([PromotedMapPages, SecondLevelEvictions]), [2, 1]);
    // An unchanged one leaves without a write.
    for entry in [3, 4, 5] {
        let _ = it.bring(entry);
    }
    assert_eq!((it.pages(), it.flash()), ((vec![], vec![0]), (3, 1)));
}

/// Nothing can leave: 130 was changed, its page is not in memory, and no block is free.
#[test]
fn where_nothing_can_leave_a_look_up_is_answered_and_memory_keeps_what_it_has() {
    let mut it = Bench::new(sizes(1, 1, 0), RULES, &[0, 1]);
    it.change(130, 50);
    let page = it.map.spatial.find(key(1)).expect("read for the change");
    it.map.spatial.remove(page);
    let slot = it.map.spatial.insert(key(0), None, When::START);
    let late = it.bring(130);
    let free = it.exhaust();
    let reads = it.flash().0;
    assert_eq!((it.look_up(3), it.flash().0), (When::START, reads), "level 2 holds its page");
    it.map.spatial.remove(slot);
    it.map.spatial.insert(key(0), None, late);
    assert_ne!(it.look_up(3), When::START, "it waits for that page");
    assert_eq!((it.look_up(260), it.flash().0), (When::START, reads), "it was never written");
    for more in 1..=2 {
        assert_ne!(it.look_up(131), When::START);
        assert_eq!(it.flash().0, reads + more);
    }
    assert!(it.is_changed(130) && !it.holds(3));
    // What is kept is in memory, though flash has an older one.
    it.map.area.keep(0);
    let slot = it.map.spatial.find(key(0)).expect("put there above");
    it.map.spatial.remove(slot);
    assert_eq!((it.look_up(3), it.flash().0), (When::START, reads + 2));
    let done = it.supply.release(&mut it.board, free, BlockRole::Log, TRANSLATE, When::START);
    assert!(done.is_ok());
    let _ = it.look_up(131);
    assert_eq!((it.on_flash(130), it.holds(131)), (51, true));
}

/// Memory has all of a map page that was kept: entries of it are known without a read, leave for
/// nothing, and are written with it.
#[test]
fn a_map_page_that_was_kept_answers_and_absorbs_until_it_is_written() {
    let mut it = Bench::new(sizes(1, 1, 1), RULES, &[0, 1]);
    it.map.area.keep(0);
    assert_eq!((it.look_up(3), it.flash()), (When::START, (0, 0)));
    assert_eq!(
        it.events([Event::MapHits, Event::SecondLevelHits, Event::FrequencyHits]),
        [1, 1, 0]
    );
    it.change(3, 50);
    let _ = it.bring(4);
    assert_eq!((it.events([Event::AbsorbedEvictions]), it.flash()), ([1], (0, 0)));
    assert_eq!(it.pages(), (vec![], vec![]));
    let Bench { board, supply, map, words } = &mut it;
    let mut backing = Backing { supply, table: |entry| words[entry as usize] };
    let written = map.write_kept(board, &mut backing, TRANSLATE, When::START);
    assert_ne!(written.expect("there is room"), When::START, "a program takes time");
    it.check();
    assert_eq!((it.flash(), it.on_flash(3), it.map.area.is_kept(0)), ((0, 1), 51, false));
}

/// Map pages 0 and 1 are found; 130 was changed since, and 3 was not.
#[test]
fn after_a_power_cut_what_flash_does_not_say_is_written_and_nothing_is_cached() {
    let mut it = Bench::new(sizes(2, 1, 1), RULES, &[0, 1]);
    it.change(130, 50);
    let pages = [0, 1, 2].map(|part| it.map.area.location(part));
    let block = pages[0].map(|page| it.board.geometry().block_of(page));
    let newest = pages.map(|page| pack(page.map(|page| page.0))).to_vec();
    let found = FoundMapPages { newest, blocks: block.into_iter().collect() };
    let Bench { board, supply, map, words } = &mut it;
    let mut backing = Backing { supply, table: |entry| words[entry as usize] };
    let (what, how) = ((&found, ENTRIES), (sizes(2, 1, 1), RULES));
    let recovered = BlockMapCache::recover(board, &mut backing, what, how, When::START);
    let (again, done) = recovered.expect("nothing fails");
    *map = again;
    it.check();
    assert_ne!(done, When::START);
    assert_eq!((it.on_flash(3), it.on_flash(130), it.map.area_blocks()), (4, 51, 1));
    let meter = it.board.meter();
    assert_eq!((meter.reads(Cause::Recover), meter.programs(Cause::Recover)), (2, 1));
    assert!(!it.holds(130) && it.pages() == (vec![], vec![]));
}
