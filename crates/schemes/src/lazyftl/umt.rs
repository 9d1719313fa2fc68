//! What LazyFTL keeps of the map in memory: the update mapping table (UMT), and whole GMT pages in
//! an LRU list behind it.
//!
//! The UMT has an entry for every page that the GMT does not know yet, under its logical page; and
//! per block of UBA and CBA the distinct GMT pages that its entries belong to ([`Untold`]).

use super::settings::Sizes;
use super::untold::Untold;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn};
use ftlab_ftl::parts::cmt::Cmt;
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::marks::Marks;
use ftlab_ftl::parts::page_space::{PageSpace, Stream};
use ftlab_ftl::parts::recent_map_pages::RecentMapPages;
use ftlab_ftl::parts::translation::Translation;

/// The streams of UBA and CBA.
const UBA: Stream = Stream::Data;
const CBA: Stream = Stream::MovedData;

/// UMT and cached GMT pages.
#[derive(Clone)]
pub struct LazyMap {
    /// The UMT. Of an entry `dirty` is the paper's update flag, `unresolved` its invalidate flag.
    umt: Cmt,
    /// Pages whose entry has the update flag, to be found by GMT page.
    marked: Marks,
    /// The same by place on flash.
    untold: Untold,
    gmt: RecentMapPages,
    /// Trimmed pages that the GMT has not been told of; some have been written since.
    trimmed: Vec<Lpn>,
    /// The page that is being written: its entry stays, whatever is converted meanwhile.
    pinned: Option<Lpn>,
    /// Per plane: the block that is being converted.
    converting: Vec<Option<BlockId>>,
    sizes: Sizes,
    entries_per_page: u32,
    pages_per_block: u32,
    blocks_per_plane: u32,
}

impl LazyMap {
    /// Empty.
    pub fn new(geometry: &Geometry, sizes: Sizes) -> Self {
        LazyMap {
            umt: Cmt::unordered(geometry.logical_pages, sizes.entries),
            marked: Marks::new(geometry.logical_pages),
            untold: Untold::new(geometry, sizes.entries),
            gmt: RecentMapPages::new(geometry, sizes.gmt_pages),
            trimmed: Vec::with_capacity(sizes.trimmed as usize),
            pinned: None,
            converting: vec![None; geometry.planes() as usize],
            sizes,
            entries_per_page: geometry.entries_per_page(),
            pages_per_block: geometry.pages_per_block,
            blocks_per_plane: geometry.blocks_per_plane,
        }
    }

    /// Whether the UMT has a page.
    #[inline]
    pub fn has(&self, lpn: Lpn) -> bool {
        self.umt.find(lpn).is_some()
    }

    /// The page is about to be written; until [`LazyMap::unpin`] its entry stays.
    #[inline]
    pub fn pin(&mut self, lpn: Lpn) {
        self.pinned = Some(lpn);
    }

    /// It is written.
    #[inline]
    pub fn unpin(&mut self) {
        self.pinned = None;
    }

    /// Nothing was written after all: a page that got an entry for that is again where the GMT
    /// says.
    pub fn drop_unwritten(&mut self, lpn: Lpn) {
        if let Some(slot) = self.umt.find(lpn)
            && !self.umt.is_dirty(slot)
        {
            self.umt.remove(slot);
        }
    }

    /// A page gets an entry without anybody having looked where its old version is.
    #[inline]
    pub fn enter_blindly(&mut self, lpn: Lpn) {
        let slot = self.umt.insert(lpn, None, When::START);
        self.umt.set_unresolved(slot, true);
    }

    /// The cached GMT page with a page's entry, used once more.
    #[inline]
    pub fn use_gmt(&mut self, part: u32) -> Option<When> {
        self.gmt.use_page(part)
    }

    /// Makes room for a GMT page: the one used longest ago leaves.
    pub fn make_gmt_room(&mut self, board: &mut Board, after: When) -> When {
        if !self.gmt.is_full() {
            return after;
        }
        board.event(Event::EvictClean, 1);
        self.gmt.remove(self.gmt.oldest());
        board.search(Search::Cached, self.sizes.gmt_pages, after)
    }

    /// Update flag = 0, which [`LazyMap::marked`] does not say any more. What is nowhere needs no
    /// entry any more, unless it is just being written.
    #[inline]
    fn clean_in(&mut self, lpn: Lpn, gmt_holds: bool) {
        let Some(slot) = self.umt.find(lpn) else { return };
        let ppn = self.umt.ppn(slot);
        if gmt_holds {
            self.gmt.follow(lpn, ppn);
        }
        match ppn {
            Some(ppn) => {
                self.untold.forget(ppn);
                self.umt.clean(slot);
            }
            None if self.pinned == Some(lpn) => self.umt.clean(slot),
            None => self.umt.remove(slot),
        }
    }

    /// A GMT page was read from flash.
    pub fn load_gmt(&mut self, board: &Board, gmt: &Translation, part: u32, ready: When) {
        let _ = self.gmt.insert(board, gmt, part, ready);
    }

    /// Whether no more pages can be trimmed before the GMT is told of some.
    pub fn trims_are_full(&self) -> bool {
        self.trimmed.len() as u32 >= self.sizes.trimmed
    }

    /// A trimmed page that the GMT has not been told of; none when it knows all.
    pub fn next_trimmed(&mut self) -> Option<Lpn> {
        while let Some(lpn) = self.trimmed.pop() {
            if self.is_dirty(lpn) && self.entry(lpn) == Some(None) {
                return Some(lpn);
            }
        }
        None
    }

    /// Blocks that hold pages of the UMT, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.untold.blocks()
    }

    /// Which blocks are to be converted: those of an area that is too full with so many blocks of
    /// UBA and CBA more; none while there is room.
    #[inline(always)]
    fn full(
        &self,
        space: &PageSpace,
        plane: PlaneId,
        (opening, moved): (u32, u32),
    ) -> Option<&'static [Stream]> {
        let updates = space.update_blocks(plane, UBA) + opening;
        let cold = space.update_blocks(plane, CBA) + moved;
        match self.sizes.cold {
            None => (updates + cold > self.sizes.area).then_some(&[UBA, CBA]),
            Some(limit) if cold > limit => Some(&[CBA]),
            Some(limit) => (updates > self.sizes.area - limit).then_some(&[UBA]),
        }
    }

    fn is_half_full(&self, space: &PageSpace, plane: PlaneId) -> bool {
        let used = space.update_blocks(plane, UBA) + space.update_blocks(plane, CBA);
        used * 2 > self.sizes.area
    }

    /// The block that is being converted; else the closed one whose entries touch the fewest GMT
    /// pages, of those the one closed first.
    fn cheapest(&self, space: &PageSpace, plane: PlaneId, streams: &[Stream]) -> Option<BlockId> {
        self.converting[plane.index()].or_else(|| {
            let blocks = streams.iter().flat_map(|&stream| space.withheld(plane, stream));
            blocks.copied().min_by_key(|&block| self.untold.distinct(block))
        })
    }

    /// Convert, up to the next GMT page that must be written, of a block in these streams. A block
    /// that has none left becomes a DBA block. Whether there was a block.
    fn convert(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (plane, streams): (PlaneId, &[Stream]),
        after: When,
    ) -> (bool, Option<u32>, When) {
        let mut when = after;
        if self.converting[plane.index()].is_none() {
            let closed = streams.iter().map(|&stream| space.withheld(plane, stream).len());
            when = board.search(Search::Block, closed.sum::<usize>() as u32, when);
        }
        let block = self.cheapest(space, plane, streams);
        self.converting[plane.index()] = block;
        let Some(block) = block else { return (false, None, when) };
        let part = self.untold.part_in(block);
        if part.is_none() {
            self.converting[plane.index()] = None;
            self.become_dba(space, board, block);
        }
        (true, part, when)
    }

    /// Convert while an area is too full; with `opening`, up to the next GMT page that must be
    /// written.
    #[inline(never)]
    fn convert_overdue(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (plane, opening): (PlaneId, Option<u32>),
        after: When,
    ) -> (Option<u32>, When) {
        let mut when = after;
        while let Some(streams) = self.full(space, plane, (opening.unwrap_or(0), 0)) {
            let (found, part, searched) = self.convert(space, board, (plane, streams), when);
            // A collection has room for one block's map pages; what is left waits for the next
            // write.
            if !found || part.is_some() || opening.is_none() {
                return (part, searched);
            }
            when = searched;
        }
        (None, when)
    }

    /// In an idle gap: the next GMT page of a conversion, while more than half of the area is used.
    pub fn convert_idle(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> (Option<u32>, When) {
        let mut when = after;
        while self.is_half_full(space, plane) {
            let (found, part, searched) = self.convert(space, board, (plane, &[UBA, CBA]), when);
            if !found || part.is_some() {
                return (part, searched);
            }
            when = searched;
        }
        (None, when)
    }

    /// The map knows every page of a block: it becomes a DBA block without a copy, and its entries
    /// leave the UMT.
    fn become_dba(&mut self, space: &mut PageSpace, board: &mut Board, block: BlockId) {
        board.nand().state().each_valid(block, |ppn, logical, _| {
            let lpn = Lpn(logical);
            if let Some(slot) = self.umt.find(lpn)
                && self.umt.ppn(slot) == Some(ppn)
                && self.pinned != Some(lpn)
            {
                self.umt.remove(slot);
            }
        });
        space.release_candidate(board.nand(), block);
        board.event(Event::Conversions, 1);
        self.tell_level(space, board);
    }

    /// Tells the meter how large the update area is.
    pub fn tell_level(&self, space: &PageSpace, board: &mut Board) {
        let planes = (0..board.geometry().planes()).map(PlaneId);
        let blocks = planes.map(|plane| {
            u64::from(space.update_blocks(plane, UBA)) + u64::from(space.update_blocks(plane, CBA))
        });
        board.level(Level::UpdateAreaBlocks, blocks.sum());
    }

    /// Every entry lies in a block of UBA or CBA, and every block counts its GMT pages right.
    pub fn self_check(&self, space: &PageSpace, board: &Board) -> Result<(), String> {
        let mut noted = 0;
        for block in self.blocks() {
            let mut different: Vec<u32> = self.untold.parts_in(block).collect();
            noted += different.len();
            different.sort_unstable();
            different.dedup();
            let open = space.open_blocks().any(|other| other == block);
            if different.len() as u32 != self.untold.distinct(block)
                || !(open || space.is_withheld(block))
            {
                return Err(format!(
                    "block {block} counts {} GMT pages and has {}; open: {open}, withheld: {}",
                    self.untold.distinct(block),
                    different.len(),
                    space.is_withheld(block)
                ));
            }
        }
        if let Some((lpn, _)) = self.changed().find(|(lpn, _)| !self.marked.holds(lpn.0)) {
            return Err(format!("the GMT is not told of page {lpn}, and nobody finds it"));
        }
        let entries = self.changed().filter(|(lpn, ppn)| {
            ppn.is_some_and(|ppn| {
                self.untold.part_at(ppn) == Some(lpn.0 / self.entries_per_page)
                    && board.nand().state().is_valid(ppn)
            })
        });
        let entries = entries.count();
        let changed = self.changed().filter(|(_, ppn)| ppn.is_some()).count();
        if entries != noted || changed != noted {
            return Err(format!(
                "the UMT has {changed} pages to tell the GMT of, {entries} of them noted with their \
                 blocks, which note {noted}"
            ));
        }
        Ok(())
    }
}

impl MapCache for LazyMap {
    const ADOPTS: bool = true;

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        match self.umt.find(lpn) {
            Some(slot) => Some(self.umt.ppn(slot)),
            None => self.gmt.entry(lpn),
        }
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        MapCache::is_dirty(&self.umt, lpn)
    }

    fn first_dirty(&self, lpns: std::ops::Range<u32>) -> Option<Lpn> {
        self.marked.next(lpns.start).filter(|&lpn| lpn < lpns.end).map(Lpn)
    }

    fn each_dirty(&self, lpns: std::ops::Range<u32>, mut each: impl FnMut(Lpn, Option<Ppn>, bool)) {
        self.marked.each(lpns, |lpn| {
            let slot = self.umt.find(Lpn(lpn)).expect("a page with the flag has an entry");
            each(Lpn(lpn), self.umt.ppn(slot), self.umt.is_unresolved(slot));
        });
    }

    /// Update flag = 1. The invalidate flag is inherited; an entry that is new has 0, because
    /// whoever changes it knows the old page.
    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let slot = match self.umt.find(lpn) {
            Some(slot) => slot,
            None => self.umt.insert(lpn, None, When::START),
        };
        if let (true, Some(old)) = (self.umt.is_dirty(slot), self.umt.ppn(slot)) {
            self.untold.forget(old);
        }
        self.umt.change(slot, ppn);
        self.marked.insert(lpn.0);
        match ppn {
            Some(new) => self.untold.note(new, lpn.0 / self.entries_per_page),
            None => self.trimmed.push(lpn),
        }
    }

    fn clean(&mut self, lpn: Lpn) {
        self.marked.remove(lpn.0);
        self.clean_in(lpn, self.gmt.find(lpn.0 / self.entries_per_page).is_some());
    }

    fn clean_places(&mut self, first: Lpn, places: impl Iterator<Item = u32>) {
        let gmt_holds = self.gmt.find(first.0 / self.entries_per_page).is_some();
        // Marks of one word go together.
        let (mut word, mut marks) = (0, 0);
        places.map(|place| first.0 + place).for_each(|lpn| {
            let next = lpn / 64;
            if next != word {
                self.marked.remove_of_word(word, marks);
                (word, marks) = (next, 0);
            }
            marks |= 1 << (lpn % 64);
            self.clean_in(Lpn(lpn), gmt_holds);
        });
        self.marked.remove_of_word(word, marks);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.umt.changed()
    }

    #[inline]
    fn unresolved(&self) -> u32 {
        MapCache::unresolved(&self.umt)
    }

    #[inline]
    fn is_unresolved(&self, lpn: Lpn) -> bool {
        MapCache::is_unresolved(&self.umt, lpn)
    }

    fn resolve(&mut self, lpn: Lpn) {
        self.umt.resolve(lpn);
    }

    #[inline(always)]
    fn overdue(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (plane, opening): (PlaneId, Option<u32>),
        after: When,
    ) -> (Option<u32>, When) {
        match self.full(space, plane, (opening.unwrap_or(0), 0)) {
            None => (None, after),
            Some(_) => self.convert_overdue(space, board, (plane, opening), after),
        }
    }

    /// One conversion, if the victim's pages open another block of the CBA.
    fn most_overdue(&self, space: &PageSpace, victim: BlockId) -> u32 {
        let plane = PlaneId(victim.0 / self.blocks_per_plane);
        match self.full(space, plane, (0, 1)) {
            None => 0,
            Some(streams) => self
                .cheapest(space, plane, streams)
                .map_or(self.pages_per_block, |block| self.untold.distinct(block)),
        }
    }

    fn held(&self, part: u32) -> Option<When> {
        self.gmt.find(part).map(|slot| self.gmt.ready(slot))
    }
}

#[cfg(test)]
mod tests;
