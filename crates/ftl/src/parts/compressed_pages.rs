//! Translation pages in memory, counted as what they take when runs of consecutive physical pages
//! are stored as their heads; in order of use.
//!
//! A bit per entry says where runs begin, so that an entry is found by the rank of its bit. The
//! entries themselves are kept as they are here, and what they would take is counted along: a
//! change looks at two places of the page, whatever its size.

use crate::parts::map_cache::MapCache;
use crate::parts::recent_map_pages::RecentMapPages;
use crate::parts::slots::Slot;
use crate::parts::translation::{Translation, goes_on};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::units::{Lpn, Ppn, zeroed};

choices! {
    /// What a compressed translation page takes, never more than uncompressed.
    pub enum SizeFormula {
        /// A bit per entry, and 4 bytes per run.
        Abstract = "abstract",
        /// Two bits per entry, and 4 bytes per run.
        Wiscsee = "wiscsee",
        /// Its size on flash: no compression.
        Raw = "raw",
    }
}

/// Bytes of one physical page number: a run's head, or an entry on flash.
const WORD: u64 = 4;

/// What compressed translation pages take.
#[derive(Clone, Copy, Debug)]
pub struct PageSize {
    /// By which rule.
    pub formula: SizeFormula,
    /// Entries of a page on flash (E).
    pub entries: u32,
}

impl PageSize {
    /// Bytes of a page on flash, the most that it takes in memory.
    pub fn raw(self) -> u64 {
        WORD * u64::from(self.entries)
    }

    /// Bytes of a page of so many runs: the bits that say where runs begin, and the physical page
    /// of each run's head.
    #[inline]
    pub fn bytes(self, runs: u32) -> u64 {
        let bits = match self.formula {
            SizeFormula::Abstract => 1,
            SizeFormula::Wiscsee => 2,
            SizeFormula::Raw => return self.raw(),
        };
        let bitmap = (bits * u64::from(self.entries)).div_ceil(8);
        self.raw().min(bitmap + WORD * u64::from(runs))
    }
}

/// Compressed translation pages.
#[derive(Clone, Debug)]
pub struct CompressedPages {
    pages: RecentMapPages,
    /// Runs of the page in each slot.
    runs: Vec<u32>,
    /// What all of them take.
    bytes: u64,
    size: PageSize,
    /// Pages compressed since it was last asked for.
    compressed: u64,
    logical_pages: u32,
}

/// Whether a run begins at an entry.
#[inline]
fn is_head(words: &[u32], place: usize) -> bool {
    place == 0 || !goes_on(words[place - 1], words[place])
}

/// Runs of a page.
fn runs(words: &[u32]) -> u32 {
    (0..words.len()).filter(|&place| is_head(words, place)).count() as u32
}

impl CompressedPages {
    /// Room for `frames` pages.
    pub fn new(geometry: &Geometry, size: PageSize, frames: u32) -> Self {
        CompressedPages {
            pages: RecentMapPages::new(geometry, frames),
            runs: zeroed(frames as usize),
            bytes: 0,
            size,
            compressed: 0,
            logical_pages: geometry.logical_pages,
        }
    }

    /// The translation page of a page's entry.
    pub fn part_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.size.entries
    }

    /// The pages, for looking.
    pub fn pages(&self) -> &RecentMapPages {
        &self.pages
    }

    /// What they take together.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What they would take uncompressed.
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.pages.len()) * self.size.raw()
    }

    /// How often a page was compressed since this was last asked.
    #[inline]
    pub fn take_compressed(&mut self) -> u64 {
        std::mem::take(&mut self.compressed)
    }

    /// A translation page is used: when it was there; none if it is not.
    #[inline]
    pub fn use_page(&mut self, part: u32) -> Option<When> {
        self.pages.use_page(part)
    }

    /// Compresses a page that was just read; there must be a frame.
    pub fn insert(
        &mut self,
        board: &Board,
        translation: &Translation,
        part: u32,
        ready: When,
    ) -> Slot {
        let slot = self.pages.insert(board, translation, part, ready);
        self.runs[slot.index()] = runs(self.entries(slot));
        self.bytes += self.size.bytes(self.runs[slot.index()]);
        self.compressed += 1;
        slot
    }

    /// Drops a page; flash must know its changes by now.
    pub fn remove(&mut self, slot: Slot) {
        self.bytes -= self.size.bytes(self.runs[slot.index()]);
        self.pages.remove(slot);
    }

    /// The entries of a page that stand for logical pages.
    fn entries(&self, slot: Slot) -> &[u32] {
        let first = self.pages.part(slot) * self.size.entries;
        let count = self.size.entries.min(self.logical_pages - first);
        &self.pages.words(slot)[..count as usize]
    }

    /// Heads among an entry and the one behind it: all that a change of the entry can make or
    /// unmake.
    #[inline]
    fn heads_at(&self, slot: Slot, place: usize) -> u32 {
        let words = self.entries(slot);
        let behind = place + 1 < words.len() && is_head(words, place + 1);
        u32::from(is_head(words, place)) + u32::from(behind)
    }
}

impl MapCache for CompressedPages {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.pages.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.pages.is_dirty(lpn)
    }

    fn first_dirty(&self, lpns: std::ops::Range<u32>) -> Option<Lpn> {
        self.pages.first_dirty(lpns)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let slot = self.pages.find(lpn.0 / self.size.entries).expect("the page is in memory");
        let place = (lpn.0 % self.size.entries) as usize;
        let before = self.heads_at(slot, place);
        self.pages.change(lpn, ppn);
        let after = self.heads_at(slot, place);
        if after != before {
            let runs = &mut self.runs[slot.index()];
            self.bytes -= self.size.bytes(*runs);
            *runs = *runs + after - before;
            self.bytes += self.size.bytes(*runs);
            self.compressed += 1;
        }
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.pages.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.pages.changed()
    }

    fn self_check(&self) -> Result<(), String> {
        let mut bytes = 0;
        for slot in self.pages.slots() {
            let (known, counted) = (self.runs[slot.index()], runs(self.entries(slot)));
            if known != counted {
                let part = self.pages.part(slot);
                return Err(format!(
                    "translation page {part}: {known} runs known, {counted} there"
                ));
            }
            bytes += self.size.bytes(counted);
        }
        if bytes != self.bytes {
            return Err(format!("{} bytes of cached pages known, {bytes} there", self.bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::{BlockRole, Cause};
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::BlockId;

    #[test]
    fn runs_end_where_the_next_physical_page_is_not_the_next_one() {
        assert_eq!(runs(&[0, 0, 0]), 1, "nothing, three times");
        assert_eq!(runs(&[5, 6, 7]), 1);
        assert_eq!(runs(&[5, 6, 8]), 2);
        assert_eq!(runs(&[0, 1, 2]), 2, "physical page 0 does not follow nothing");
        assert_eq!(runs(&[5, 0, 0, 6]), 3);
        assert_eq!(runs(&[7, 6, 5]), 3, "not backwards");
    }

    /// `docs/papers/others.md#s-ftl`: a page written in sequence takes 68 bytes (abstract) or 132
    /// (wiscsee), a random one its 2048 on flash.
    #[test]
    fn a_page_of_one_run_is_small_and_one_of_single_entries_is_as_on_flash() {
        let sizes = |formula| {
            [1, 2, 100, 496, 512].map(|runs| PageSize { formula, entries: 512 }.bytes(runs))
        };
        assert_eq!(sizes(SizeFormula::Abstract), [68, 72, 464, 2048, 2048]);
        assert_eq!(sizes(SizeFormula::Wiscsee), [132, 136, 528, 2048, 2048]);
        assert_eq!(sizes(SizeFormula::Raw), [2048; 5]);
    }

    /// Entries change, first to what mostly goes on with a neighbour's run, then at random; pages
    /// come and go.
    #[test]
    fn runs_and_bytes_counted_along_are_those_counted_anew() {
        for (formula, name) in SizeFormula::ALL {
            let mut config = SharedSettings::default();
            config.set("device.page_bytes", "512").expect("legal");
            config.device.pages_per_block = 8;
            config.device.blocks_per_plane = 80;
            let board = Board::new(&config, 1, 8);
            let geometry = board.geometry();
            let entries = geometry.entries_per_page();
            let translation = Translation::new(geometry);
            let size = PageSize { formula: *formula, entries };
            let parts = Translation::pages(geometry);
            let mut pages = CompressedPages::new(geometry, size, 3);
            let mut rng = Rng::new(3, Purpose::Workload);
            let (mut least, mut most) = (u64::MAX, 0);
            for step in 0..20_000 {
                let part = match rng.below(4) {
                    _ if step > 10_000 => rng.below(3),
                    0 => parts - 1,
                    _ => rng.below(4),
                };
                if pages.use_page(part).is_none() {
                    if pages.pages().is_full() {
                        let slot = pages.pages().oldest();
                        let first = pages.pages().part(slot) * entries;
                        (first..first + entries).for_each(|lpn| pages.clean(Lpn(lpn)));
                        pages.remove(slot);
                    }
                    let _ = pages.insert(&board, &translation, part, When::START);
                }
                let first = part * entries;
                let lpn = first + rng.below(entries.min(geometry.logical_pages - first));
                let ppn = match rng.below(8) {
                    _ if step > 10_000 => Some(Ppn(rng.below(100_000))),
                    0 => None,
                    1 => Some(Ppn(rng.below(100))),
                    _ => Some(Ppn(1000 + lpn)),
                };
                pages.change(Lpn(lpn), ppn);
                pages.self_check().unwrap_or_else(|error| panic!("{name}: {error}"));
                least = least.min(pages.bytes());
                most = most.max(pages.bytes());
            }
            assert!(most > 2 * size.raw(), "{name}: some pages are not worth compressing");
            assert_eq!(least < size.raw(), *formula != SizeFormula::Raw, "{name}: some are");
        }
    }

    /// Translation pages of 128 entries, none of them on flash yet, of which two have a place.
    fn two() -> (Board, Translation, CompressedPages) {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        config.device.blocks_per_plane = 80;
        let board = Board::new(&config, 1, 8);
        let size = PageSize { formula: SizeFormula::Abstract, entries: 128 };
        let pages = CompressedPages::new(board.geometry(), size, 2);
        let translation = Translation::new(board.geometry());
        (board, translation, pages)
    }

    /// 16 bytes of bits and 4 bytes a run: a page that says nothing is one run, an entry in the
    /// middle of it makes it three, at its end two. A run that goes on further, or begins earlier,
    /// is as many; so is one that is elsewhere.
    #[test]
    fn a_page_is_compressed_when_it_comes_and_when_a_run_begins_or_ends() {
        let (board, translation, mut pages) = two();
        assert_eq!((pages.bytes(), pages.raw_bytes(), pages.take_compressed()), (0, 0, 0));
        let _ = pages.insert(&board, &translation, 1, When::START);
        assert_eq!((pages.bytes(), pages.raw_bytes(), pages.take_compressed()), (20, 512, 1));
        for (lpn, ppn, bytes, compressed) in [
            (130, Some(7), 28, 1),
            (130, Some(9), 28, 0),
            (131, Some(10), 28, 0),
            (129, Some(8), 28, 0),
            (255, Some(50), 32, 1),
            (131, None, 32, 0),
            (130, None, 32, 0),
            (129, None, 24, 1),
        ] {
            pages.change(Lpn(lpn), ppn.map(Ppn));
            let found = (pages.bytes(), pages.take_compressed(), pages.take_compressed());
            assert_eq!(found, (bytes, compressed, 0), "page {lpn} at {ppn:?}");
        }
        let slot = pages.insert(&board, &translation, 0, When::START);
        pages.change(Lpn(1), Some(Ppn(3)));
        assert_eq!((pages.bytes(), pages.raw_bytes(), pages.take_compressed()), (52, 1024, 2));
        pages.clean(Lpn(1));
        pages.remove(slot);
        assert_eq!((pages.bytes(), pages.raw_bytes(), pages.take_compressed()), (24, 512, 0));
    }

    /// Logical pages are as many as fill two translation pages and five entries of a third: what
    /// lies behind those is no entry.
    #[test]
    fn a_page_that_is_cut_short_has_the_runs_of_its_entries() {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        config.device.blocks_per_plane = 80;
        config.set("device.logical_bytes", &(512 * (2 * 128 + 5)).to_string()).expect("legal");
        let board = Board::new(&config, 1, 8);
        let size = PageSize { formula: SizeFormula::Abstract, entries: 128 };
        let mut pages = CompressedPages::new(board.geometry(), size, 2);
        assert_eq!([0, 127, 128, 260].map(|lpn| pages.part_of(Lpn(lpn))), [0, 0, 1, 2]);
        let slot = pages.insert(&board, &Translation::new(board.geometry()), 2, When::START);
        assert_eq!(pages.entries(slot).len(), 5);
        pages.change(Lpn(260), Some(Ppn(3)));
        assert_eq!(pages.bytes(), 16 + 2 * 4, "nothing begins behind the last entry");
    }

    /// Collection asks which entries flash does not say.
    #[test]
    fn a_changed_entry_is_told_until_flash_says_it() {
        let (board, translation, mut pages) = two();
        let _ = pages.insert(&board, &translation, 1, When::START);
        assert_eq!((pages.entry(Lpn(130)), pages.entry(Lpn(3))), (Some(None), None));
        pages.change(Lpn(130), Some(Ppn(9)));
        pages.change(Lpn(200), None);
        assert_eq!(pages.entry(Lpn(130)), Some(Some(Ppn(9))));
        assert_eq!([130, 131, 200].map(|lpn| pages.is_dirty(Lpn(lpn))), [true, false, true]);
        assert_eq!(pages.first_dirty(128..256), Some(Lpn(130)));
        let changed: Vec<_> = pages.changed().collect();
        assert_eq!(changed, [(Lpn(130), Some(Ppn(9))), (Lpn(200), None)]);
        pages.clean(Lpn(130));
        assert_eq!(
            (pages.first_dirty(128..256), pages.first_dirty(128..200)),
            (Some(Lpn(200)), None)
        );
        assert_eq!(pages.changed().collect::<Vec<_>>(), [(Lpn(200), None)]);
    }

    /// Of two pages the one that was not used since the other came is the oldest.
    #[test]
    fn a_page_that_is_used_tells_when_it_was_there_and_stays() {
        let (mut board, translation, mut pages) = two();
        let erased = board.erase(BlockId(0), BlockRole::Map, Cause::Wear, When::START);
        let later = erased.expect("nothing fails here");
        let _ = pages.insert(&board, &translation, 1, later);
        let _ = pages.insert(&board, &translation, 0, When::START);
        assert_eq!(pages.pages().part(pages.pages().oldest()), 1);
        let ready = [1, 0, 1, 2].map(|part| pages.use_page(part));
        assert_eq!(ready, [Some(later), Some(When::START), Some(later), None]);
        assert_eq!(pages.pages().part(pages.pages().oldest()), 0);
    }
}
