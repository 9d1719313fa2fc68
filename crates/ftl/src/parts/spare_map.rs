//! A map of three levels that lives in the spare areas of the pages it maps.
//!
//! Every group of pages (a superblock) has a directory, below it middle directories, below them
//! page tables. Whoever programs a page writes the directory, the page's middle directory and its
//! page table into the same spare area. So the newest copy of a piece lies with the page of its
//! range that was programmed last; a look-up reads at most three spare areas, and fewer where
//! pieces lie together. Memory holds what was read or written of the groups used last.
//!
//! What this is not: where a page is. That the scheme knows (`log_index`); this part says what it
//! costs to know it.
//!
//! A piece is lost with its page if that was trimmed and its block erased before another page of
//! the range was programmed. No paper has trims; here the piece stays in memory until then.

use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::settings::DeviceSettings;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{BlockId, Divisor, Lpn, Nanos, Ppn, pack, unpack, zeroed};

/// Bytes of a spare area that every page needs: logical page and sequence number.
const FIXED_BYTES: u64 = 8;
/// Bytes of the error correcting code, per 512 bytes of a page (one bit corrected).
const CODE_BYTES: u64 = 3;

/// How the map of a group is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Pages of a group.
    pub pages: u32,
    /// Entries of a page table.
    pub table: u32,
    /// Page tables of a middle directory.
    pub middle: u32,
    /// Middle directories of a group.
    pub directory: u32,
    /// Bits of an entry: a page of the group's blocks, or none.
    pub entry_bits: u32,
}

impl Layout {
    /// For groups of `pages` pages that lie in up to `places` physical ones. Three levels of about
    /// equal fan-out need the fewest entries in one spare area.
    pub fn new(pages: u32, places: u32) -> Self {
        let root = |power: u32, of: u32| {
            (1u64..).find(|n| n.pow(power) >= u64::from(of)).expect("powers grow") as u32
        };
        let table = root(3, pages);
        let middle = root(2, pages.div_ceil(table));
        let directory = pages.div_ceil(table * middle);
        Layout { pages, table, middle, directory, entry_bits: u32::BITS - places.leading_zeros() }
    }

    /// Bytes of a spare area with one piece of each level.
    pub fn spare_bytes(&self, device: &DeviceSettings) -> u64 {
        let bits = u64::from((self.table + self.middle + self.directory) * self.entry_bits);
        FIXED_BYTES + device.page_bytes.0.div_ceil(512) * CODE_BYTES + bits.div_ceil(8)
    }

    /// Bytes of the page tables of one group in memory.
    pub fn group_bytes(&self) -> u64 {
        (u64::from(self.pages) * u64::from(self.entry_bits)).div_ceil(8)
    }

    fn pieces(&self) -> u32 {
        1 + self.directory + self.pages.div_ceil(self.table)
    }

    /// The pieces that a page of the group belongs to: directory, middle directory, page table.
    #[inline]
    fn pieces_of(&self, page: u32) -> [u32; 3] {
        let table = page / self.table;
        [0, 1 + table / self.middle, 1 + self.directory + table]
    }
}

/// Where the pieces are, and which of them memory holds.
#[derive(Clone, Debug)]
pub struct SpareMap {
    layout: Layout,
    by_group: Divisor,
    /// Page whose spare area holds the newest copy of each piece, plus one.
    homes: Vec<u32>,
    /// How long reading a spare area takes; none: as a page read.
    length: Option<Nanos>,
    /// Place of each group in memory, plus one.
    slots: Vec<u32>,
    /// Group of each place.
    groups: Vec<u32>,
    /// When what was read last for a place was there.
    ready: Vec<When>,
    /// One bit per place and piece.
    loaded: Vec<u64>,
    words: usize,
    order: SlotLists<1>,
}

impl SpareMap {
    /// Nothing mapped; memory holds the pieces of `most` groups.
    pub fn new(layout: Layout, groups: u32, most: u32, length: Option<Nanos>) -> Self {
        let most = most.min(groups);
        let words = layout.pieces().div_ceil(64) as usize;
        SpareMap {
            layout,
            by_group: Divisor::new(layout.pages),
            homes: zeroed(groups as usize * layout.pieces() as usize),
            length,
            slots: zeroed(groups as usize),
            groups: Vec::with_capacity(most as usize),
            ready: vec![When::START; most as usize],
            loaded: zeroed(most as usize * words),
            words,
            order: SlotLists::new(most),
        }
    }

    /// Finds out where a page is, or that it is nowhere: reads the spare areas of what memory does
    /// not hold, one after the other.
    #[inline]
    pub fn lookup(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::SpareMapLookups, 1);
        let (group, page) = self.by_group.both(lpn.0);
        let slot = self.use_slot(group);
        let mut when = after.waits_for_map(self.ready[slot]);
        let mut hit = true;
        for piece in self.layout.pieces_of(page) {
            let Some(home) = self.home(group, piece) else { continue };
            if !self.is_loaded(slot, piece) {
                hit = false;
                when = board.read_spare(home, self.length, when)?;
                self.load(board, slot, home);
                self.ready[slot] = when;
            }
        }
        board.event(Event::SpareMapHits, u64::from(hit));
        Ok(when)
    }

    /// A page was programmed at `ppn`, with its pieces.
    #[inline]
    pub fn programmed(&mut self, lpn: Lpn, ppn: Ppn) {
        let (group, page) = self.by_group.both(lpn.0);
        let slot = self.use_slot(group);
        for piece in self.layout.pieces_of(page) {
            self.set_home(group, piece, Some(ppn));
            self.set_loaded(slot, piece);
        }
    }

    /// A block with nothing valid is about to be erased: pieces that still lie there stay in
    /// memory.
    pub fn forget_block(&mut self, board: &Board, block: BlockId) {
        for offset in 0..board.nand().state().block(block).top {
            let ppn = board.geometry().page(block, offset);
            let OobRead::Written(oob) = board.nand().state().oob(ppn) else { continue };
            let (group, page) = self.by_group.both(oob.logical);
            for piece in self.layout.pieces_of(page) {
                if self.home(group, piece) == Some(ppn) {
                    self.set_home(group, piece, None);
                }
            }
        }
    }

    /// After a power cut: a page was found. Its pieces are the newest unless a younger page of
    /// their range is found as well.
    pub fn found(&mut self, board: &Board, lpn: Lpn, ppn: Ppn) {
        let age = |ppn: Ppn| match board.nand().state().oob(ppn) {
            OobRead::Written(oob) => oob.sequence,
            OobRead::Free | OobRead::Torn => 0,
        };
        let (group, page) = self.by_group.both(lpn.0);
        for piece in self.layout.pieces_of(page) {
            if self.home(group, piece).is_none_or(|home| age(home) < age(ppn)) {
                self.set_home(group, piece, Some(ppn));
            }
        }
    }

    /// Every piece lies with a page of its range.
    pub fn self_check(&self, board: &Board) -> Result<(), String> {
        let pieces = self.layout.pieces() as usize;
        for (number, &home) in self.homes.iter().enumerate() {
            let Some(home) = unpack(home).map(Ppn) else { continue };
            let (group, piece) = ((number / pieces) as u32, (number % pieces) as u32);
            let right = match board.nand().state().oob(home) {
                OobRead::Written(oob) => {
                    let (found, page) = self.by_group.both(oob.logical);
                    found == group && self.layout.pieces_of(page).contains(&piece)
                }
                OobRead::Free | OobRead::Torn => false,
            };
            if !right {
                return Err(format!(
                    "piece {piece} of the map of superblock {group} is said to lie with page {home}"
                ));
            }
        }
        Ok(())
    }

    /// The place of a group, which is now the one used last; another leaves if there is none.
    #[inline]
    fn use_slot(&mut self, group: u32) -> usize {
        let slot = match unpack(self.slots[group as usize]) {
            Some(slot) => {
                self.order.remove(Slot(slot));
                slot
            }
            None => self.enter(group),
        };
        self.order.push(0, Slot(slot));
        slot as usize
    }

    fn enter(&mut self, group: u32) -> u32 {
        let slot = if self.groups.len() < self.ready.len() {
            self.groups.push(group);
            self.groups.len() as u32 - 1
        } else {
            let oldest = self.order.oldest(0).expect("memory holds a group");
            self.order.remove(oldest);
            self.slots[self.groups[oldest.index()] as usize] = 0;
            self.groups[oldest.index()] = group;
            oldest.0
        };
        self.slots[group as usize] = pack(Some(slot));
        self.ready[slot as usize] = When::START;
        self.loaded[slot as usize * self.words..][..self.words].fill(0);
        slot
    }

    /// A spare area was read: memory has every piece whose newest copy lies there.
    fn load(&mut self, board: &Board, slot: usize, home: Ppn) {
        let OobRead::Written(oob) = board.nand().state().oob(home) else {
            unreachable!("pieces lie with programmed pages");
        };
        let (group, page) = self.by_group.both(oob.logical);
        for piece in self.layout.pieces_of(page) {
            if self.home(group, piece) == Some(home) {
                self.set_loaded(slot, piece);
            }
        }
    }

    #[inline]
    fn is_loaded(&self, slot: usize, piece: u32) -> bool {
        self.loaded[slot * self.words + piece as usize / 64] >> (piece % 64) & 1 == 1
    }

    #[inline]
    fn set_loaded(&mut self, slot: usize, piece: u32) {
        self.loaded[slot * self.words + piece as usize / 64] |= 1 << (piece % 64);
    }

    #[inline]
    fn home(&self, group: u32, piece: u32) -> Option<Ppn> {
        unpack(self.homes[self.number(group, piece)]).map(Ppn)
    }

    #[inline]
    fn set_home(&mut self, group: u32, piece: u32, home: Option<Ppn>) {
        let number = self.number(group, piece);
        self.homes[number] = pack(home.map(|ppn| ppn.0));
    }

    #[inline]
    fn number(&self, group: u32, piece: u32) -> usize {
        group as usize * self.layout.pieces() as usize + piece as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::meter::{BlockRole, Cause};
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Tag;

    /// 8 blocks of 64 pages: three levels of eight. 16 + 2 blocks have 1152 pages, so 11 bits.
    #[test]
    fn a_superblock_of_eight_blocks_fits_64_bytes_and_one_of_sixteen_does_not() {
        let device = DeviceSettings::default();
        let layout = |blocks: u32| Layout::new(blocks * 64, (2 * blocks + 2) * 64);
        let eight = layout(8);
        assert_eq!((eight.table, eight.middle, eight.directory), (8, 8, 8));
        assert_eq!((eight.entry_bits, eight.spare_bytes(&device)), (11, 8 + 12 + 33));
        assert_eq!((eight.group_bytes(), eight.pieces()), (704, 1 + 8 + 64));
        let sixteen = layout(16);
        assert_eq!((sixteen.table, sixteen.middle, sixteen.directory), (11, 10, 10));
        assert_eq!(sixteen.spare_bytes(&device), 8 + 12 + 47, "31 entries of 12 bits");
    }

    #[test]
    fn every_page_belongs_to_one_piece_of_each_level() {
        for pages in [1, 2, 4, 7, 32, 60, 64, 512, 1000] {
            let layout = Layout::new(pages, 3 * pages);
            for page in 0..pages {
                let [top, middle, table] = layout.pieces_of(page);
                assert_eq!(top, 0);
                assert!((1..=layout.directory).contains(&middle), "{pages} {page}: {middle}");
                assert!((1 + layout.directory..layout.pieces()).contains(&table));
            }
        }
    }

    /// Groups of 73 pieces, so that their marks take two words; memory holds two of three groups.
    #[test]
    fn memory_knows_the_pieces_of_each_group_apart() {
        let mut map = SpareMap::new(Layout::new(512, 18 * 64), 3, 2, None);
        let slots = [map.use_slot(0), map.use_slot(2)];
        assert_eq!(slots, [0, 1]);
        let held = |map: &SpareMap| -> Vec<(usize, u32)> {
            let pieces = |slot: usize| (0..73).map(move |piece| (slot, piece));
            let all = pieces(0).chain(pieces(1));
            all.filter(|&(slot, piece)| map.is_loaded(slot, piece)).collect()
        };
        for (slot, piece) in [(0, 70), (0, 5), (1, 6), (1, 72)] {
            map.set_loaded(slot, piece);
        }
        assert_eq!(held(&map), [(0, 5), (0, 70), (1, 6), (1, 72)]);
        // Group 0 was used before group 2, and makes way for group 1, of which nothing is known.
        assert_eq!(map.use_slot(1), 0);
        assert_eq!(held(&map), [(1, 6), (1, 72)]);
        map.set_loaded(0, 64);
        assert_eq!((map.use_slot(0), held(&map)), (1, vec![(0, 64)]), "group 2 made way");
    }

    /// Two groups of eight pages, which have a directory (piece 0), two middle directories (1, 2)
    /// and four page tables (3 to 6) each. Memory holds the pieces of one group.
    fn device() -> (Board, SpareMap) {
        let mut config = SharedSettings::default();
        let pairs = [("device.pages_per_block", "4"), ("device.blocks_per_plane", "8")];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let board = Board::new(&config, 1, 8);
        let layout = Layout::new(8, 32);
        assert_eq!((layout.table, layout.middle, layout.directory, layout.pieces()), (2, 2, 2, 7));
        (board, SpareMap::new(layout, 2, 1, None))
    }

    /// The host writes this page, and its pieces with it.
    fn write(board: &mut Board, map: &mut SpareMap, lpn: u32, ppn: u32) {
        let (lpn, ppn) = (Lpn(lpn), Ppn(ppn));
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        let io = PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data: Tag(1), request };
        let done = board.program_update(ppn, None, &io, PageKind::Data, When::START);
        assert!(done.is_ok());
        map.programmed(lpn, ppn);
    }

    /// Pages 0, 1, 2 and 4 of the first group at 0, 1, 2 and 3; page 8 of the second at 8.
    fn written() -> (Board, SpareMap) {
        let (mut board, mut map) = device();
        for (lpn, ppn) in [(0, 0), (1, 1), (2, 2), (4, 3), (8, 8)] {
            write(&mut board, &mut map, lpn, ppn);
        }
        (board, map)
    }

    /// Where the pieces of a group lie.
    fn homes(map: &SpareMap, group: u32) -> [Option<u32>; 7] {
        [0, 1, 2, 3, 4, 5, 6].map(|piece| map.home(group, piece).map(|ppn| ppn.0))
    }

    const FIRST: [Option<u32>; 7] = [Some(3), Some(2), Some(3), Some(1), Some(2), Some(3), None];
    const SECOND: [Option<u32>; 7] = [Some(8), Some(8), None, Some(8), None, None, None];

    #[test]
    fn a_piece_lies_with_the_page_of_its_range_that_was_programmed_last() {
        let (board, map) = written();
        assert_eq!((homes(&map, 0), homes(&map, 1)), (FIRST, SECOND));
        assert_eq!(map.self_check(&board), Ok(()));
    }

    /// How many spare areas are read for a page; where some are, that takes time.
    fn reads(board: &mut Board, map: &mut SpareMap, lpn: u32) -> u64 {
        let before = board.meter().reads(Cause::Translate);
        let hits = board.meter().events(Event::SpareMapHits);
        let done = map.lookup(board, Lpn(lpn), When::START).expect("nothing fails");
        let count = board.meter().reads(Cause::Translate) - before;
        assert_eq!(board.meter().events(Event::SpareMapHits) - hits, u64::from(count == 0));
        assert!(count == 0 || done != When::START);
        count
    }

    /// The second group was used last. Of page 1 directory, middle directory and page table lie
    /// with three pages; with the first of them lies what page 4 needs, with the second what page 2
    /// does. The page table of page 7 was never written.
    #[test]
    fn a_look_up_reads_what_memory_does_not_hold_of_the_pages_pieces() {
        let (mut board, mut map) = written();
        assert_eq!(reads(&mut board, &mut map, 8), 0, "memory has them since they were written");
        assert_eq!(reads(&mut board, &mut map, 1), 3);
        assert_eq!([4, 2, 0, 7].map(|lpn| reads(&mut board, &mut map, lpn)), [0; 4]);
        assert_eq!(reads(&mut board, &mut map, 8), 1, "all three lie together");
        assert_eq!(reads(&mut board, &mut map, 2), 2, "the first group has left");
        assert_eq!(board.meter().events(Event::SpareMapLookups), 8);
    }

    /// The pages of block 0 were trimmed, and it is erased; directory and middle directory lie with
    /// page 6 in block 1 by then. A look-up of page 8 drives the first group out of memory.
    #[test]
    fn pieces_that_lie_in_an_erased_block_are_read_no_more() {
        let (mut board, mut map) = written();
        write(&mut board, &mut map, 6, 4);
        (0..4).for_each(|ppn| assert_eq!(board.nand_mut().invalidate(Ppn(ppn)), 3 - ppn));
        map.forget_block(&board, BlockId(0));
        let (role, cause) = (BlockRole::Data, Cause::Gc);
        assert!(board.erase(BlockId(0), role, cause, When::START).is_ok());
        let left = [Some(4), None, Some(4), None, None, None, Some(4)];
        assert_eq!((homes(&map, 0), homes(&map, 1)), (left, SECOND));
        assert_eq!(map.self_check(&board), Ok(()));
        assert_eq!(reads(&mut board, &mut map, 8), 1);
        assert_eq!(reads(&mut board, &mut map, 6), 1, "all three lie together");
        assert_eq!(reads(&mut board, &mut map, 1), 0, "the directory is in memory by now");
    }

    /// In whatever order a scan finds the pages.
    #[test]
    fn after_a_power_cut_the_youngest_page_of_its_range_has_a_piece() {
        let pages = [(0, 0), (1, 1), (2, 2), (4, 3), (8, 8)];
        for backwards in [false, true] {
            let (board, before) = written();
            let mut map = SpareMap::new(before.layout, 2, 1, None);
            let mut pages = pages;
            if backwards {
                pages.reverse();
            }
            pages.iter().for_each(|&(lpn, ppn)| map.found(&board, Lpn(lpn), Ppn(ppn)));
            assert_eq!((homes(&map, 0), homes(&map, 1)), (FIRST, SECOND), "{backwards}");
        }
    }
}
