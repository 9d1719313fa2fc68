//! What a power cut leaves of the map: the out-of-band areas of all pages, the map pages, and
//! flushed trims; or memory as it was, where it keeps its content.

#[cfg(test)]
mod tests;

use crate::leaftl::map::{By, Map};
use crate::leaftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, Lpn, Ppn, unpack};
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::learned::{Group, Segment};
use ftlab_ftl::parts::oob_scan::{self, Extent};
use ftlab_ftl::parts::trim_records::TrimRecords;

/// What outlives a power cut: the pages of the buffer and the map, trims among it, where their
/// memory does; how many pages were lost where it does not.
#[derive(Clone, Debug, Default)]
pub struct Survivor {
    pub(super) pages: Vec<Held>,
    pub(super) map: Option<Box<Map>>,
    pub(super) lost: u64,
}

/// Of each logical page, record segment and map page the newest: sequence number, page.
struct Newest {
    pages: Vec<(u64, u32)>,
    records: Vec<(u64, u32)>,
    parts: Vec<(u64, u32)>,
}

impl Map {
    /// Goes on with what flash tells: of each logical page the highest sequence number wins, unless
    /// a flushed trim came later. What the map pages do not say is learned again, exactly, because
    /// nobody knows any more which pages were written together.
    pub(super) fn recover(
        board: &mut Board,
        config: &Config,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (newest, scanned) = scan(board, config, after)?;
        let found = newest.records.iter().enumerate().filter(|(_, record)| record.0 > 0);
        let records: Vec<(u32, Ppn)> =
            found.map(|(segment, &(_, ppn))| (segment as u32, Ppn(ppn))).collect();
        let (mut trims, recorded, mut when) = TrimRecords::recover(board, &records, scanned)?;
        let mut places: Vec<Option<Ppn>> = Vec::with_capacity(newest.pages.len());
        for (lpn, &(sequence, ppn)) in (0..).map(Lpn).zip(&newest.pages) {
            let is_there = sequence > 0 && !trims.is_dead(&recorded, lpn, sequence);
            places.push(is_there.then_some(Ppn(ppn)));
            if is_there {
                board.nand_mut().revalidate(Ppn(ppn));
            }
        }
        trims.forget_living(|lpn| places[lpn.index()].is_some());
        let mut map = Map::new(board, config, trims);
        for (part, &(sequence, page)) in (0..).zip(&newest.parts) {
            if sequence > 0 {
                (when, _) = board.read(Ppn(page), Cause::Recover, when)?;
                board.nand_mut().revalidate(Ppn(page));
                map.set_location(part, Ppn(page));
            }
        }
        map.learn_again(board, &places);
        Ok((map, when))
    }

    /// Goes on with the map that memory has kept. The first page of every block tells its age, the
    /// map pages what else is valid; nothing is written: cut again, recovery begins from the same
    /// memory.
    pub(super) fn recover_kept(
        kept: Self,
        board: &mut Board,
        config: &Config,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let map = kept.out_of_use(Map::new(board, config, TrimRecords::new(board.geometry())));
        let mut when = after;
        for block in (0..board.geometry().blocks()).map(BlockId) {
            let (read, _) = oob_scan::first_page(board, block, after)?;
            when = when.join(read);
        }
        for page in map.gtd.iter().copied().filter_map(unpack).map(Ppn) {
            (when, _) = board.read(page, Cause::Recover, when)?;
            board.nand_mut().revalidate(page);
        }
        for lpn in (0..board.geometry().logical_pages).map(Lpn) {
            if let Some(page) = map.locate(board, lpn) {
                board.nand_mut().revalidate(page);
            }
        }
        Ok((map, when))
    }

    /// Pages that are not where the map pages say are learned, those that are nowhere are trimmed.
    fn learn_again(&mut self, board: &mut Board, places: &[Option<Ppn>]) {
        let pages = self.sizes.group_pages;
        let mut on_flash = Group::new(pages);
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        for group in 0..self.sizes.groups {
            if self.is_on_flash() {
                self.unpack(board, group, &mut on_flash);
            }
            let end = ((group + 1) * pages).min(places.len() as u32);
            for lpn in (group * pages..end).map(Lpn) {
                let (_, offset) = self.place_of(lpn);
                let found = on_flash.find(offset);
                let told = found.and_then(|found| self.surely(board, lpn, found.segment));
                match places[lpn.index()] {
                    Some(place) if told != Some(place) => changed.push((lpn.0, place.0)),
                    None if found.is_some() => gone.push(lpn),
                    _ => {}
                }
            }
        }
        self.learn(board, (&mut changed, By::Host), 0);
        for lpn in gone {
            self.trim(lpn);
        }
    }

    /// Where a segment says that a page is, if there is no doubt: its run may be an older one than
    /// the page's newest version is of, or erased.
    fn surely(&self, board: &Board, lpn: Lpn, segment: Segment) -> Option<Ppn> {
        let (_, offset) = self.place_of(lpn);
        let said = Ppn(segment.predict(offset, self.scale) as u32);
        if Self::is_it(board, lpn, said) || segment.is_accurate() {
            return Self::is_it(board, lpn, said).then_some(said);
        }
        let mut nearby = self.nearby(board, lpn, said);
        let (first, second) = (nearby.next(), nearby.next());
        first.filter(|_| second.is_none())
    }

    /// A page was trimmed.
    pub(super) fn trim(&mut self, lpn: Lpn) {
        let (group, offset) = self.place_of(lpn);
        self.change(group, |known| known.trim(offset));
        if self.is_on_flash() {
            self.found_newer(group);
        }
    }
}

/// Reads every out-of-band area.
fn scan(board: &mut Board, config: &Config, after: When) -> Result<(Newest, When), Fault> {
    let geometry = board.geometry();
    let parts = crate::leaftl::sizes::Sizes::new(config).parts;
    let mut newest = Newest {
        pages: vec![(0, 0); geometry.logical_pages as usize],
        records: vec![(0, 0); TrimRecords::segments(geometry) as usize],
        parts: vec![(0, 0); parts as usize],
    };
    let done = oob_scan::device(board, Extent::Ascending, after, |ppn, oob| {
        let list = match oob.kind {
            PageKind::Pad | PageKind::Checkpoint | PageKind::Parity => return,
            PageKind::TrimRecord => &mut newest.records,
            PageKind::Map => &mut newest.parts,
            PageKind::Data | PageKind::Log => &mut newest.pages,
        };
        let held = &mut list[oob.logical as usize];
        if oob.sequence > held.0 {
            *held = (oob.sequence, ppn.0);
        }
    })?;
    Ok((newest, done))
}
