//! Map pages on flash: E entries each (E = page bytes / 4) in an area of their own, found by a
//! directory in memory.
//!
//! A map page that was never written says that nothing is mapped; the directory tells that, without
//! a read. Nobody needs the map on flash after a power cut: out-of-band areas say more. Levelling
//! does not move map pages.
//!
//! A map page that a device without a free block cannot write when it must be is *kept*: memory
//! holds all of it, beyond what memory was given, until it is written.
//!
//! What this is not: what memory holds of the map pages, which is [`crate::parts::flash_map`],
//! [`crate::parts::block_map_cache`] or [`crate::parts::framed_map`]; nor the table itself, which
//! the owner has, and hands over as a function ([`Backing`]).

use crate::parts::block_supply::BlockSupply;
use crate::parts::numbered_area::NumberedArea;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::nand::{Nand, Payload};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, Ppn, pack, unpack, zeroed};

/// Map pages found after a power cut.
#[derive(Clone, Debug, Default)]
pub struct FoundMapPages {
    /// The newest map page of each number, plus one.
    pub newest: Vec<u32>,
    /// The blocks that hold them.
    pub blocks: Vec<BlockId>,
}

/// What a map page is written with: the words of the table that the map is a copy of, by number of
/// the entry, and where blocks come from.
pub struct Backing<'a, T: Fn(u32) -> u32> {
    /// Erased blocks.
    pub supply: &'a mut BlockSupply,
    /// The word of an entry; 0: not mapped.
    pub table: T,
}

/// The directory, and the area with all map pages.
#[derive(Clone, Debug)]
pub struct MapArea {
    /// Physical page of each map page, plus one.
    directory: Vec<u32>,
    area: NumberedArea,
    /// Map pages that memory holds because they could not be written.
    kept: Vec<bool>,
    kept_pages: u32,
    /// Place and word of what a map page is written with.
    edits: Vec<(u32, u32)>,
    entries: u32,
    entries_per_page: u32,
}

impl MapArea {
    /// Nothing of so many entries mapped.
    pub fn new(geometry: &Geometry, entries: u32) -> Self {
        let pages = Self::pages(geometry, entries);
        MapArea {
            directory: zeroed(pages as usize),
            area: NumberedArea::of_size(geometry, PageKind::Map, Self::area(geometry, pages)),
            kept: vec![false; pages as usize],
            kept_pages: 0,
            edits: Vec::with_capacity(geometry.entries_per_page() as usize),
            entries,
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// The same with the map pages that were found after a power cut.
    pub fn resume(board: &Board, found: &FoundMapPages, entries: u32) -> Self {
        let mut map = MapArea::new(board.geometry(), entries);
        let parts = map.directory.len();
        map.directory.copy_from_slice(&found.newest[..parts]);
        found.blocks.iter().for_each(|&block| map.area.resume(board.nand(), block));
        map
    }

    /// After a power cut, the table being known: reads every map page that was found and writes
    /// those anew that say something else than the table, or keeps them.
    pub fn recover(
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        found: &FoundMapPages,
        entries: u32,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut area = MapArea::resume(board, found, entries);
        let mut when = after;
        for part in area.parts() {
            if let Some(page) = area.location(part) {
                (when, _) = board.read(page, Cause::Recover, when)?;
            }
            if area.differs(board.nand(), &backing.table, part) {
                when = area.write_or_keep(board, backing, part, Cause::Recover, when)?;
            }
        }
        Ok((area, when))
    }

    /// Map pages of so many entries.
    pub fn pages(geometry: &Geometry, entries: u32) -> u32 {
        entries.div_ceil(geometry.entries_per_page())
    }

    /// Blocks that a device needs for it: the area, and one that a power cut during the emptying of
    /// a block leaves until the next merge.
    pub fn blocks(geometry: &Geometry, entries: u32) -> u32 {
        Self::area(geometry, Self::pages(geometry, entries)) + 1
    }

    /// Blocks of the area: room for twice the map pages, and one. Were all full, the block with
    /// fewest live pages would be less than half alive.
    fn area(geometry: &Geometry, pages: u32) -> u32 {
        (2 * pages).div_ceil(geometry.pages_per_block) + 1
    }

    /// Most map pages alive at once, as records are counted: one and its successor per number.
    pub fn payload_pages(geometry: &Geometry, entries: u32) -> u64 {
        2 * u64::from(Self::pages(geometry, entries))
    }

    /// RAM: 4 bytes per map page and per block of the area.
    pub fn directory_bytes(geometry: &Geometry, entries: u32) -> u64 {
        let pages = Self::pages(geometry, entries);
        (u64::from(pages) + u64::from(Self::area(geometry, pages))) * 4
    }

    /// Every map page.
    pub fn parts(&self) -> std::ops::Range<u32> {
        0..self.directory.len() as u32
    }

    /// The map page of an entry.
    #[inline]
    pub fn part_of(&self, entry: u32) -> u32 {
        entry / self.entries_per_page
    }

    /// The entries of a map page.
    pub fn entries_of(&self, part: u32) -> std::ops::Range<u32> {
        let first = part * self.entries_per_page;
        first..(first + self.entries_per_page).min(self.entries)
    }

    /// Where a map page is, if it was ever written.
    #[inline]
    pub fn location(&self, part: u32) -> Option<Ppn> {
        unpack(self.directory[part as usize]).map(Ppn)
    }

    /// Sees to it that the area takes another page.
    pub fn make_room(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let directory = &mut self.directory;
        let moved = |part: u32, ppn: Ppn| directory[part as usize] = pack(Some(ppn.0));
        let ready = self.area.make_room(board, supply, cause, moved, after)?;
        self.area.open(board, supply, ready)
    }

    /// Memory holds all of a map page until it is written: there was no block for it.
    pub fn keep(&mut self, part: u32) {
        self.kept_pages += u32::from(!self.kept[part as usize]);
        self.kept[part as usize] = true;
    }

    /// Whether memory holds a map page because it could not be written.
    #[inline]
    pub fn is_kept(&self, part: u32) -> bool {
        self.kept[part as usize]
    }

    /// Writes all of a map page, or keeps it if there is no block for that.
    pub fn write_or_keep(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let room = self.make_room(board, backing.supply, cause, after);
        let written =
            room.and_then(|ready| self.write(board, backing, (part, |_| true), cause, ready));
        written.or_else(|fault| {
            fault.unless_worn_out::<When>()?;
            self.keep(part);
            Ok(after)
        })
    }

    /// Tries to write the map pages that were kept.
    pub fn write_kept(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        if self.kept_pages > 0 {
            for part in self.parts() {
                if self.is_kept(part) {
                    when = self.write_or_keep(board, backing, part, cause, when)?;
                }
            }
        }
        Ok(when)
    }

    /// Writes a map page with what the table says of the entries that are `new`, and with what
    /// flash says of the others; the old page becomes invalid. Whoever writes knows the other
    /// entries, by reading or otherwise. A page that was kept is written with all that memory
    /// holds.
    pub fn write(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        (part, new): (u32, impl Fn(u32) -> bool),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let old = self.location(part);
        let first = self.entries_of(part).start;
        let mut edits = std::mem::take(&mut self.edits);
        edits.clear();
        let differences = self.differences(board.nand(), &backing.table, part);
        let whole = self.is_kept(part);
        edits.extend(differences.filter(|&(place, _)| whole || new(first + place)));
        let written = self.area.program(board, backing.supply, after, |board, new, ready| {
            let payload = Payload::Update { old, edits: &edits };
            board.program_payload(new, (PageKind::Map, part), payload, cause, ready)
        });
        self.edits = edits;
        let (new, done) = written?;
        self.directory[part as usize] = pack(Some(new.0));
        self.kept_pages -= u32::from(whole);
        self.kept[part as usize] = false;
        Ok(done)
    }

    /// Blocks of the area.
    pub fn blocks_in_use(&self) -> u32 {
        self.area.blocks_in_use()
    }

    /// What the map pages say is what the table says, but for those kept and for entries that
    /// `may_differ`, and no other page of the area is alive.
    pub fn self_check(
        &self,
        board: &Board,
        table: impl Fn(u32) -> u32,
        may_differ: impl Fn(u32) -> bool,
    ) -> Result<(), String> {
        let mut written = 0;
        for part in self.parts() {
            let page = self.location(part);
            written += u32::from(page.is_some());
            if let Some(page) = page.filter(|&page| !board.nand().state().is_valid(page)) {
                return Err(format!("map page {part} is said to be at {page}, which is not valid"));
            }
            let first = self.entries_of(part).start;
            let mut wrong = self.differences(board.nand(), &table, part);
            let excused = |entry| self.is_kept(part) || may_differ(entry);
            if let Some((place, word)) = wrong.find(|&(place, _)| !excused(first + place)) {
                return Err(format!(
                    "map page {part} at {page:?} has another word for entry {} than {word}",
                    first + place
                ));
            }
        }
        match self.area.valid_pages(board.nand()) {
            valid if valid == written => Ok(()),
            valid => Err(format!("{written} map pages were written, {valid} are valid")),
        }
    }

    /// The entries of a map page that are not on flash what the table says: their places, and that.
    pub(super) fn differences(
        &self,
        nand: &Nand,
        table: &impl Fn(u32) -> u32,
        part: u32,
    ) -> impl Iterator<Item = (u32, u32)> {
        let words = self.location(part).map(|page| nand.payload(page));
        let entries = self.entries_of(part);
        let first = entries.start;
        entries
            .map(move |entry| (entry - first, table(entry)))
            .filter(move |&(place, word)| word != words.map_or(0, |words| words[place as usize]))
    }

    /// Whether a map page says something else than the table.
    pub fn differs(&self, nand: &Nand, table: &impl Fn(u32) -> u32, part: u32) -> bool {
        self.differences(nand, table, part).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::log_bench_tests::take_all_but;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::BlockRole;
    use ftlab_flash::settings::Groups as _;

    const CAUSE: Cause = Cause::Merge;
    /// Three map pages of 128 entries, the last of which is not full.
    const ENTRIES: u32 = 300;

    /// Six blocks of four pages of 512 bytes.
    fn device() -> (Board, BlockSupply) {
        let mut config = SharedSettings::default();
        for (key, value) in [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "4"),
            ("device.blocks_per_plane", "6"),
        ] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 16);
        let supply = BlockSupply::new(&board, &config);
        (board, supply)
    }

    /// What the table says of an entry when it was last changed in this round.
    fn word(entry: u32, round: u32) -> u32 {
        1000 * round + entry + 1
    }

    #[test]
    fn sizes() {
        let (board, _) = device();
        let geometry = board.geometry();
        assert_eq!(MapArea::pages(geometry, ENTRIES), 3);
        assert_eq!(MapArea::payload_pages(geometry, ENTRIES), 6, "each, and its successor");
        assert_eq!(MapArea::blocks(geometry, ENTRIES), 4, "six pages, and two blocks more");
        assert_eq!(MapArea::directory_bytes(geometry, ENTRIES), 4 * (3 + 3));
        assert_eq!(MapArea::blocks(geometry, 5 * 128), 5, "ten pages, and two blocks more");
        let area = MapArea::new(geometry, ENTRIES);
        assert_eq!([127, 128, 299].map(|entry| area.part_of(entry)), [0, 1, 2]);
        assert_eq!(
            (area.parts(), area.entries_of(1), area.entries_of(2)),
            (0..3, 128..256, 256..300)
        );
    }

    /// No block is free when two of three map pages must be written: memory keeps them whole, until
    /// there is one.
    #[test]
    fn what_finds_no_block_is_kept_and_written_whole_when_there_is_one() {
        let (mut board, mut supply) = device();
        let mut area = MapArea::new(board.geometry(), ENTRIES);
        let mut taken = take_all_but(0, &mut supply, &board);
        let mut backing = Backing { supply: &mut supply, table: |entry| word(entry, 1) };
        for part in [0, 2, 0] {
            let done = area.write_or_keep(&mut board, &mut backing, part, CAUSE, When::START);
            assert!(done.is_ok());
        }
        let kept = |area: &MapArea| [0, 1, 2].map(|part| area.is_kept(part));
        assert_eq!(kept(&area), [true, false, true]);
        let done = area.write_kept(&mut board, &mut backing, CAUSE, When::START);
        assert!(done.is_ok());
        assert_eq!((kept(&area), board.meter().programs(CAUSE)), ([true, false, true], 0));
        let free = taken.pop().expect("some were free");
        let done = backing.supply.release(&mut board, free, BlockRole::Log, CAUSE, When::START);
        assert!(done.is_ok());
        let done = area.write_kept(&mut board, &mut backing, CAUSE, When::START);
        assert!(done.is_ok());
        assert_eq!((kept(&area), board.meter().programs(CAUSE)), ([false; 3], 2));
        assert_eq!(area.location(1), None);
        for part in [0, 2] {
            let page = area.location(part).expect("written");
            let words = &board.nand().payload(page)[..area.entries_of(part).len()];
            let whole: Vec<u32> = area.entries_of(part).map(|entry| word(entry, 1)).collect();
            assert_eq!(words, whole);
        }
        // Nothing is kept any more, so that nothing is written.
        let done = area.write_kept(&mut board, &mut backing, CAUSE, When::START);
        assert!(done.is_ok());
        assert_eq!(board.meter().programs(CAUSE), 2);
    }

    /// The table has changed throughout; the first time entry 3 alone is said to be new, the second
    /// time none is, but memory had kept the page.
    #[test]
    fn a_page_is_written_with_what_is_new_and_one_that_was_kept_with_everything() {
        let (mut board, mut supply) = device();
        let mut area = MapArea::new(board.geometry(), ENTRIES);
        let mut backing = Backing { supply: &mut supply, table: |entry| word(entry, 1) };
        let done = area.write_or_keep(&mut board, &mut backing, 0, CAUSE, When::START);
        assert!(done.is_ok());
        let said = |area: &MapArea, board: &Board| {
            let page = area.location(0).expect("written");
            [2, 3].map(|place| board.nand().payload(page)[place])
        };
        let mut backing = Backing { supply: &mut supply, table: |entry| word(entry, 2) };
        let new = (0, |entry| entry == 3);
        let done = area.write(&mut board, &mut backing, new, CAUSE, When::START);
        assert!(done.is_ok());
        assert_eq!(said(&area, &board), [word(2, 1), word(3, 2)]);
        area.keep(0);
        let done = area.write(&mut board, &mut backing, (0, |_| false), CAUSE, When::START);
        assert!(done.is_ok());
        assert_eq!((said(&area, &board), area.is_kept(0)), ([word(2, 2), word(3, 2)], false));
    }
}
