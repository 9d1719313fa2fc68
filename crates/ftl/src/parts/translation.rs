//! Translation pages and the global translation directory (GTD) that finds them.
//!
//! The map of logical to physical pages lies on flash, E entries of 4 bytes to a page (E = page
//! bytes / 4); the GTD holds one entry per translation page. A translation page that was never
//! written stands for "nothing mapped": it is on flash by assumption, costs a read like any other,
//! and takes no room. Source: DFTL 2014, 3.1 and 3.2.
//!
//! On a device near its end a collection may fail between moving pages and writing their
//! translation pages. Memory then keeps where those pages are, beside the directory, until their
//! translation pages are written next; whoever reads one reads it with that. `ram_use` says what a
//! device needs that works, and has none of it: how many entries of 8 bytes there are is a level,
//! `astray_entries` (`docs/papers/dftl2014.md#collection`).

use std::collections::BTreeMap;

use crate::parts::page_space::{PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::nand::{Payload, replace_words};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Level};
use ftlab_flash::units::{Divisor, Lpn, PlaneId, Ppn, pack, unpack, zeroed};

/// The directory, and the way to the pages that it points to.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Physical page of each translation page, plus one.
    gtd: Vec<u32>,
    entries_per_page: u32,
    by_part: Divisor,
    logical_pages: u32,
    /// Pages of data that flash does not say the place of, because collection failed: logical and
    /// packed physical page. Empty on a device that works; never more than there are logical pages.
    astray: BTreeMap<u32, u32>,
}

/// Whether an entry, as stored (physical page plus one, 0 for nowhere), goes on with the run of the
/// one before it: the next physical page, or nowhere like that one.
#[inline]
pub fn goes_on(before: u32, word: u32) -> bool {
    if before == 0 { word == 0 } else { word == before + 1 }
}

/// How a translation page is written.
#[derive(Clone, Copy, Debug)]
pub struct MapWrite {
    /// Plane whose map frontier takes it.
    pub plane: PlaneId,
    /// Why.
    pub cause: Cause,
}

impl Translation {
    /// Nothing mapped.
    pub fn new(geometry: &Geometry) -> Self {
        Self::from_gtd(geometry, zeroed(Self::pages(geometry) as usize))
    }

    /// A directory that survived.
    pub fn from_gtd(geometry: &Geometry, gtd: Vec<u32>) -> Self {
        assert_eq!(gtd.len(), Self::pages(geometry) as usize);
        Translation {
            gtd,
            entries_per_page: geometry.entries_per_page(),
            by_part: Divisor::new(geometry.entries_per_page()),
            logical_pages: geometry.logical_pages,
            astray: BTreeMap::new(),
        }
    }

    /// Translation pages of the device (Nt).
    pub fn pages(geometry: &Geometry) -> u32 {
        geometry.logical_pages.div_ceil(geometry.entries_per_page())
    }

    /// The directory itself.
    pub fn gtd(&self) -> &[u32] {
        &self.gtd
    }

    /// The translation page (MVPN) that holds a page's entry, and the entry's place in it.
    #[inline]
    pub fn part_of(&self, lpn: Lpn) -> (u32, u32) {
        self.by_part.both(lpn.0)
    }

    /// The same without the place, as a function that holds no borrow.
    pub fn part_function(&self) -> impl Fn(u32) -> u32 + use<> {
        let by_part = self.by_part;
        move |lpn| by_part.quotient(lpn)
    }

    /// Logical pages whose entries one translation page holds.
    #[inline]
    pub fn lpns_of(&self, part: u32) -> std::ops::Range<u32> {
        let first = part * self.entries_per_page;
        first..(first + self.entries_per_page).min(self.logical_pages)
    }

    /// Where a translation page is (MPPN).
    #[inline]
    pub fn location(&self, part: u32) -> Option<Ppn> {
        unpack(self.gtd[part as usize]).map(Ppn)
    }

    /// A translation page was moved.
    #[inline]
    pub fn moved(&mut self, part: u32, ppn: Ppn) {
        self.gtd[part as usize] = pack(Some(ppn.0));
    }

    /// An entry as flash has it, without charge: the caller has read the page.
    #[inline(always)]
    pub fn entry(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        if self.has_astray()
            && let Some(&word) = self.astray.get(&lpn.0)
        {
            return unpack(word).map(Ppn);
        }
        self.entry_at(board, self.part_of(lpn))
    }

    /// The same by translation page and place, as flash has it whatever went astray.
    #[inline(always)]
    pub fn entry_at(&self, board: &Board, (part, place): (u32, u32)) -> Option<Ppn> {
        let page = self.location(part)?;
        unpack(board.nand().payload_word(page, place)).map(Ppn)
    }

    /// Looks at an entry on flash, so that it is at hand; what it probably is.
    #[inline]
    pub fn glance(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        let (part, place) = self.part_of(lpn);
        let page = self.location(part)?;
        unpack(board.nand().glance_at_word(page, place)).map(Ppn)
    }

    /// Whether memory keeps places of pages that moved and that flash does not say.
    #[inline]
    pub fn has_astray(&self) -> bool {
        !self.astray.is_empty()
    }

    /// How many those are.
    fn astray(&self) -> u64 {
        self.astray.len() as u64
    }

    /// Whose places those are.
    pub fn astray_pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.astray.keys().copied().map(Lpn)
    }

    /// A page was moved, and its translation page could not be written.
    #[cold]
    pub fn went_astray(&mut self, board: &mut Board, lpn: Lpn, ppn: Ppn) {
        self.astray.insert(lpn.0, pack(Some(ppn.0)));
        self.tell_astray(board);
    }

    fn tell_astray(&self, board: &mut Board) {
        board.level(Level::AstrayEntries, self.astray());
    }

    /// A recovery found the map: what the level said before it is over.
    pub fn tell_astray_after_recovery(&self, board: &mut Board) {
        if board.meter().level_now(Level::AstrayEntries).is_some() {
            self.tell_astray(board);
        }
    }

    /// What became of such a page is known elsewhere.
    #[cold]
    pub fn found_again(&mut self, board: &mut Board, lpn: Lpn) {
        if self.astray.remove(&lpn.0).is_some() {
            self.tell_astray(board);
        }
    }

    /// Places in a translation page of such pages, and where those are.
    pub fn astray_in(&self, part: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let lpns = self.lpns_of(part);
        let first = lpns.start;
        self.astray.range(lpns).map(move |(&lpn, &word)| (lpn - first, word))
    }

    /// Edits of a translation page, and what else it must say.
    #[cold]
    fn with_astray(&self, part: u32, edits: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let is_edited = |place: u32| edits.iter().any(|&(edited, _)| edited == place);
        let others = self.astray_in(part).filter(|&(place, _)| !is_edited(place));
        others.chain(edits.iter().copied()).collect()
    }

    /// Reads a translation page.
    #[inline(always)]
    pub fn read(
        &self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        match self.location(part) {
            Some(ppn) => board.read_words(ppn, cause, after),
            None => board.read_implicit(part, cause, after),
        }
    }

    /// Writes a translation page anew with some entries changed (place and packed physical page);
    /// the old page, which the caller has read, becomes invalid. There must be room.
    #[inline(always)]
    pub fn write(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        edits: &[(u32, u32)],
        how: MapWrite,
        after: When,
    ) -> Result<When, Fault> {
        let old = self.location(part);
        if let Some(old) = old
            && !self.has_astray()
            && let Some(new) = space.short_map_page(board, how.plane)
        {
            if let Some(done) = board.program_on_server(how.cause) {
                self.update(space, board, (part, old, new), edits, how);
                return Ok(done.token());
            }
            let done = board.time_page(new, how.cause, after);
            self.update(space, board, (part, old, new), edits, how);
            return Ok(done);
        }
        self.write_with_care(space, board, (part, old), edits, how, after)
    }

    /// The short way, but for its time.
    #[inline(always)]
    fn update(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (part, old, new): (u32, Ppn, Ppn),
        edits: &[(u32, u32)],
        how: MapWrite,
    ) {
        let edit = replace_words(edits);
        space.update_map_untimed(board, how.plane, (old, new), (part, how.cause), edit);
        self.gtd[part as usize] = pack(Some(new.0));
    }

    #[inline(never)]
    fn write_with_care(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (part, old): (u32, Option<Ppn>),
        edits: &[(u32, u32)],
        how: MapWrite,
        after: When,
    ) -> Result<When, Fault> {
        let place = (how.plane, Stream::Map);
        let all;
        let edits = match self.has_astray() {
            true => {
                all = self.with_astray(part, edits);
                &all
            }
            false => edits,
        };
        let (new, done) = space.program(board, place, after, |board, new, ready| {
            let payload = Payload::Update { old, edits };
            board.program_payload(new, (PageKind::Map, part), payload, how.cause, ready)
        })?;
        if let Some(old) = old {
            space.note_invalid(board.nand(), old);
        }
        self.gtd[part as usize] = pack(Some(new.0));
        if self.has_astray() {
            let lpns = self.lpns_of(part);
            self.astray.retain(|lpn, _| !lpns.contains(lpn));
            self.tell_astray(board);
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;

    /// So many logical pages of so many bytes, of which none is mapped.
    fn device(pages: u64, page_bytes: u32) -> (Board, PageSpace, Translation) {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", &page_bytes.to_string()).expect("legal");
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "8")] {
            config.set(key, value).expect("legal");
        }
        let bytes = pages * config.device.page_bytes.0;
        config.device.set_capacity(bytes, 0);
        config.device.blocks_per_plane = 64;
        let board = Board::new(&config, 1, 8);
        let space = PageSpace::new(&board, &config, 3, 1);
        let map = Translation::new(board.geometry());
        (board, space, map)
    }

    const HOW: MapWrite = MapWrite { plane: PlaneId(0), cause: Cause::Translate };

    /// The level is how many such places memory keeps: none once their translation page is written,
    /// and none when a recovery has found the map without them.
    #[test]
    fn the_level_is_what_memory_keeps() {
        let (mut board, mut space, mut map) = device(24, 2048);
        let level = |board: &Board| board.meter().level_now(Level::AstrayEntries);
        map.tell_astray_after_recovery(&mut board);
        assert_eq!(level(&board), None, "a device that works has none of it");
        for (lpn, astray) in [(5, 1), (6, 2), (5, 2)] {
            map.went_astray(&mut board, Lpn(lpn), Ppn(9 + lpn));
            assert_eq!((level(&board), map.astray()), (Some(astray), astray));
        }
        map.found_again(&mut board, Lpn(6));
        assert_eq!((level(&board), map.astray()), (Some(1), 1));
        let found = Translation::new(board.geometry());
        let _ = map.write(&mut space, &mut board, 0, &[], HOW, When::START).expect("has room");
        assert_eq!((level(&board), map.astray()), (Some(0), 0));
        assert_eq!(map.entry(&board, Lpn(5)), Some(Ppn(14)), "flash says it");
        map.went_astray(&mut board, Lpn(7), Ppn(3));
        found.tell_astray_after_recovery(&mut board);
        assert_eq!((level(&board), found.astray()), (Some(0), 0));
    }

    /// Of 128 entries a page: page 133 is the sixth of translation page 1.
    #[test]
    fn a_translation_page_says_where_pages_are_that_went_astray() {
        let (mut board, mut space, mut map) = device(40 * 4, 512);
        let mut write = |map: &mut Translation, board: &mut Board, edits: &[(u32, u32)]| {
            let _ = map.write(&mut space, board, 1, edits, HOW, When::START).expect("has room");
        };
        // The first time, and again: the short way, which a device that works takes.
        write(&mut map, &mut board, &[(4, 41), (5, 51)]);
        write(&mut map, &mut board, &[(4, 42)]);
        let level = |board: &Board| board.meter().level_now(Level::AstrayEntries);
        assert_eq!(level(&board), None, "nothing went astray yet");
        for (lpn, ppn) in [(133, 60), (134, 70), (100, 90)] {
            map.went_astray(&mut board, Lpn(lpn), Ppn(ppn));
        }
        assert!(map.has_astray());
        assert_eq!(map.astray_pages().collect::<Vec<_>>(), [100, 133, 134].map(Lpn));
        // Place, and physical page plus one.
        assert_eq!(map.astray_in(1).collect::<Vec<_>>(), [(5, 61), (6, 71)]);
        // What is written of a page is newer than where it went astray.
        write(&mut map, &mut board, &[(6, 72), (7, 80)]);
        let page = map.location(1).expect("it was written");
        assert_eq!(board.nand().payload(page)[3..9], [0, 42, 61, 72, 80, 0]);
        assert_eq!((map.astray(), level(&board)), (1, Some(1)), "that of translation page 0");
        assert_eq!(map.entry(&board, Lpn(100)), Some(Ppn(90)));
    }

    /// Of translation pages 0 and 1 only the latter was written: page 133 is its sixth.
    #[test]
    fn whoever_looks_ahead_sees_what_flash_says() {
        let (mut board, mut space, mut map) = device(40 * 4, 512);
        let _ = map.write(&mut space, &mut board, 1, &[(5, 51)], HOW, When::START).expect("room");
        for (lpn, ppn) in [(5, None), (132, None), (133, Some(Ppn(50)))] {
            let seen = map.glance(&board, Lpn(lpn));
            assert_eq!((seen, map.entry(&board, Lpn(lpn))), (ppn, ppn), "{lpn}");
        }
        map.went_astray(&mut board, Lpn(133), Ppn(9));
        assert_eq!(map.entry(&board, Lpn(133)), Some(Ppn(9)));
        assert_eq!(map.glance(&board, Lpn(133)), Some(Ppn(50)), "it does not know better");
        assert_eq!(map.entry_at(&board, (1, 5)), Some(Ppn(50)), "nor does flash");
    }

    #[test]
    fn a_translation_page_is_where_it_was_moved_to() {
        let (_, _, mut map) = device(40 * 4, 512);
        for ppn in [200, 300] {
            map.moved(1, Ppn(ppn));
            assert_eq!([0, 1].map(|part| map.location(part)), [None, Some(Ppn(ppn))]);
        }
    }
}
