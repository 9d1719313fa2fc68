//! Translation pages and the global translation directory (GTD) that finds them.
//!
//! The map of logical to physical pages lies on flash, E entries of 4 bytes to a page (E = page
//! bytes / 4); the GTD holds one entry per translation page. A translation page that was never
//! written stands for "nothing mapped": it is on flash by assumption, costs a read like any other,
//! and takes no room. Source: DFTL 2014, 3.1 and 3.2.

use crate::parts::page_space::{PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{Divisor, Lpn, PlaneId, Ppn, pack, unpack, zeroed};

/// The directory, and the way to the pages that it points to.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Physical page of each translation page, plus one.
    gtd: Vec<u32>,
    entries_per_page: u32,
    by_part: Divisor,
    logical_pages: u32,
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
        Translation {
            gtd: zeroed(Self::pages(geometry) as usize),
            entries_per_page: geometry.entries_per_page(),
            by_part: Divisor::new(geometry.entries_per_page()),
            logical_pages: geometry.logical_pages,
        }
    }

    /// A directory that survived.
    pub fn from_gtd(geometry: &Geometry, gtd: Vec<u32>) -> Self {
        assert_eq!(gtd.len(), Self::pages(geometry) as usize);
        Translation {
            gtd,
            entries_per_page: geometry.entries_per_page(),
            by_part: Divisor::new(geometry.entries_per_page()),
            logical_pages: geometry.logical_pages,
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
        let (part, place) = self.part_of(lpn);
        let page = self.location(part)?;
        unpack(board.nand().payload(page)[place as usize]).map(Ppn)
    }

    /// Reads a translation page.
    #[inline]
    pub fn read(
        &self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        match self.location(part) {
            Some(ppn) => board.read(ppn, cause, after).map(|(done, _)| done),
            None => board.read_implicit(part, cause, after),
        }
    }

    /// Writes a translation page anew with some entries changed (place and packed physical page);
    /// the old page, which the caller has read, becomes invalid. There must be room.
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
        let place = (how.plane, Stream::Map);
        let (new, done) = space.program(board, place, after, |board, new, ready| {
            let payload = Payload::Update { old, edits };
            board.program_payload(new, (PageKind::Map, part), payload, how.cause, ready)
        })?;
        if let Some(old) = old {
            space.note_invalid(board.nand(), old);
        }
        self.gtd[part as usize] = pack(Some(new.0));
        Ok(done)
    }
}
