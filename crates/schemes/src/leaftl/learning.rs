//! What the map learns of pages that were written or moved, and its compaction.

use crate::leaftl::map::{By, Map, Residency};
use crate::leaftl::sizes::PAGE_BYTES;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{Lpn, PlaneId, Ppn};
use ftlab_ftl::parts::learned::{Point, Tolerance, learn};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};

impl Map {
    /// Learns where pages are (logical, physical), a run at a time: what lies in one block, in
    /// consecutive pages, upwards by logical number; `by` whose doing. `gamma` is how far segments
    /// may be off.
    pub(super) fn learn(
        &mut self,
        board: &mut Board,
        (pages, by): (&mut [(u32, u32)], By),
        gamma: u32,
    ) {
        pages.sort_unstable_by_key(|&(_, ppn)| ppn);
        let (group_pages, geometry) = (self.sizes.group_pages, board.geometry().clone());
        let goes_on = |a: &(u32, u32), b: &(u32, u32)| {
            a.0 < b.0 && a.1 + 1 == b.1 && geometry.offset_of(Ppn(b.1)) > 0
        };
        for run in pages.chunk_by(goes_on) {
            let tolerance = Tolerance { gamma, first: run[0].1, last: run[run.len() - 1].1 };
            for here in run.chunk_by(|a, b| a.0 / group_pages == b.0 / group_pages) {
                self.learn_group(board, (here, by), tolerance);
            }
        }
        self.tell(board);
    }

    /// The same of the pages of one group in one run.
    fn learn_group(
        &mut self,
        board: &mut Board,
        (pages, by): (&[(u32, u32)], By),
        tolerance: Tolerance,
    ) {
        let (group, _) = self.place_of(Lpn(pages[0].0));
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        let offset = |lpn: u32| (lpn % self.sizes.group_pages) as u8;
        points.extend(pages.iter().map(|&(lpn, ppn)| Point { offset: offset(lpn), ppn }));
        let scale = self.scale;
        let compactions = self.change(group, |known| {
            let mut compactions = 0;
            learn(&points, tolerance, scale, |segment, members| {
                let kind = match (segment.is_lone(), segment.is_accurate()) {
                    (true, _) => Event::LearnedLone,
                    (false, true) => Event::LearnedAccurate,
                    (false, false) => Event::LearnedApproximate,
                };
                board.event(kind, 1);
                compactions += u64::from(known.insert(segment, members));
            });
            compactions
        });
        board.event(Event::GroupCompactions, compactions);
        self.points = points;
        if self.residency(group) == Residency::Absent {
            self.set_residency(group, Residency::Newer);
        }
        self.set_changed(group, by);
        self.renew(group);
    }

    /// The pages of a flush are learned.
    pub(super) fn learn_fresh(&mut self, board: &mut Board) {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.shed(board, fresh.len() as u32);
        let gamma = self.gamma;
        self.learn(board, (&mut fresh, By::Host), gamma);
        fresh.clear();
        self.fresh = fresh;
    }

    /// Every group in memory is compacted.
    pub(super) fn compact(&mut self, board: &mut Board) {
        for group in 0..self.sizes.groups {
            if !self.groups.is_empty(group) {
                self.compact_group(board, group);
            }
        }
        self.tell(board);
    }

    /// A group is compacted. Where memory has all of it, pages that no segment has any more need no
    /// mark of having been trimmed.
    pub(super) fn compact_group(&mut self, board: &mut Board, group: u32) {
        let is_whole = self.residency(group) == Residency::Whole;
        self.change(group, |known| {
            known.compact();
            if is_whole {
                known.drop_needless_trims();
            }
        });
        board.event(Event::GroupCompactions, 1);
    }

    /// Bytes that memory would take over [`crate::leaftl::sizes::Sizes::most_bytes`] if so many
    /// pages were learned.
    pub(super) fn excess(&self, pages: u32) -> u64 {
        let most = self.sizes.most_bytes().unwrap_or(u64::MAX);
        (self.bytes + PAGE_BYTES * u64::from(pages)).saturating_sub(most)
    }

    /// Groups that may leave before pages are learned, those used longest ago first.
    fn may_leave(&self, changed: bool) -> impl Iterator<Item = u32> + '_ {
        let groups = self.order.from_oldest(0).map(|slot| slot.0);
        groups.filter(move |&group| self.is_changed(group) == changed && group != self.held)
    }

    /// Before pages are learned for which memory has no room: groups that flash knows as they are
    /// leave at once.
    fn shed(&mut self, board: &mut Board, pages: u32) {
        while self.excess(pages) > 0 {
            let Some(clean) = self.may_leave(false).next() else { return };
            board.event(Event::EvictClean, 1);
            self.drop_group(clean);
        }
    }

    /// [`Map::writes_before`] without a look at any group, at most: all that leave are as small as
    /// groups are, and the group in use grows to its largest; but no more leave than memory has
    /// beside it, and no map page is written twice.
    pub(super) fn most_writes_before(&self, pages: u32) -> u32 {
        let excess = self.excess(pages);
        if excess == 0 {
            return 0;
        }
        let is_whole = self.residency(self.held) == Residency::Whole;
        let growth = if is_whole { 0 } else { self.sizes.most_loaded_bytes() };
        let leaving = (excess + growth).div_ceil(self.sizes.least_group_bytes()) as u32;
        leaving.min(self.order.len(0)).min(self.sizes.parts)
    }

    /// Map pages that have to be written before so many pages of a victim are learned, at most. The
    /// group in use is made whole where its map page is written.
    pub(super) fn writes_before(&mut self, board: &Board, pages: u32) -> u32 {
        let mut excess = self.excess(pages);
        if excess == 0 {
            return 0;
        }
        let growth = self.growth_of_held(board);
        let bytes = |group: u32| u64::from(self.bytes_of[group as usize]);
        excess = excess.saturating_sub(self.may_leave(false).map(bytes).sum());
        let (mut writes, mut growing) = (0, Some(self.part_of(self.held)));
        for group in self.may_leave(true) {
            if excess == 0 {
                break;
            }
            if growing == Some(self.part_of(group)) {
                growing = None;
                excess += growth;
            }
            excess = excess.saturating_sub(bytes(group));
            writes += 1;
        }
        writes
    }

    /// Bytes that the group in use takes more once memory has all of it: reckoned once for all
    /// victims of a choice.
    fn growth_of_held(&mut self, board: &Board) -> u64 {
        if self.residency(self.held) == Residency::Whole {
            return 0;
        }
        if let Some((_, growth)) = self.growth.filter(|&(group, _)| group == self.held) {
            return growth;
        }
        let mut whole = self.packed.take().expect("nobody else has it");
        let mut older = self.older.take().expect("nobody else has it");
        self.groups.load(self.held, &mut whole);
        self.unpack(board, self.held, &mut older);
        whole.put_above(&older);
        let bytes = self.sizes.bytes_of(&whole);
        (self.packed, self.older) = (Some(whole), Some(older));
        let growth = bytes.saturating_sub(self.bytes_of[self.held as usize].into()).into();
        self.growth = Some((self.held, growth));
        growth
    }

    /// Before the pages of a victim are learned: where one request collects several, groups leave
    /// that else would leave behind it. Their map pages go to the plane of the victim, which has
    /// room for them.
    pub(super) fn fit_moved(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let pages = self.moved.len() as u32;
        let (most, mut written) = (self.writes_before(board, pages), 0);
        let mut done = after;
        loop {
            // Groups beside one that was written may have become such as leave at once.
            self.shed(board, pages);
            if self.excess(pages) == 0 {
                break;
            }
            let Some(group) = self.may_leave(true).next() else { break };
            let part = (self.part_of(group), (plane, Stream::Map));
            done = self.write_part_to(space, board, part, done)?;
            board.event(Event::EvictDirty, 1);
            if self.residency(group) != Residency::Absent {
                self.drop_group(group);
            }
            written += 1;
            assert!(
                written <= most,
                "{written} map pages for a victim, where {most} were reckoned with"
            );
        }
        Ok(done)
    }

    /// Pages of a collection that a fault ended are learned all the same.
    #[inline]
    pub(super) fn learn_moved(&mut self, board: &mut Board) {
        if self.moved.is_empty() {
            return;
        }
        let mut moved = std::mem::take(&mut self.moved);
        self.shed(board, moved.len() as u32);
        let gamma = self.gamma;
        self.learn(board, (&mut moved, By::Collection), gamma);
        moved.clear();
        self.moved = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaftl::settings::Config;
    use ftlab_flash::settings::Groups as _;
    use ftlab_ftl::parts::page_space::PageOwner as _;
    use ftlab_ftl::parts::trim_records::TrimRecords;

    const PLANE: PlaneId = PlaneId(0);

    /// Groups of 16 pages and a memory that holds hardly one. Memory has a page of group 0 that is
    /// newer than the others, which flash has; it has half of group 1, of which flash has nothing,
    /// beside it in its map page; and all of the first group of the next map page. Every page is a
    /// segment of its own.
    fn three_groups() -> (Board, PageSpace, Map) {
        let mut config = Config::default();
        let pairs = [
            ("device.pages_per_block", "16"),
            ("device.blocks_per_plane", "64"),
            ("leaftl.group_pages", "16"),
            ("leaftl.map_bytes", "1B"),
            ("leaftl.buffer_bytes", "1B"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let bytes = 48 * 16 * config.device.page_bytes.0;
        config.device.set_capacity(bytes, 16);
        let mut board = Board::new(&config, 1, 64);
        let mut space = PageSpace::new(&board, &config, 3, 1);
        let mut map = Map::new(&board, &config, TrimRecords::new(board.geometry()));
        let (pages, side) = (map.sizes.group_pages, map.sizes.groups_per_part);
        assert!(pages == 16 && side > 1, "{pages} pages a group, {side} groups a map page");
        // No two pages go together: segments of one page each.
        let scattered = |group: u32, count: u32| -> Vec<(u32, u32)> {
            (0..count).map(|at| (group * pages + at, 700 - 2 * at)).collect()
        };
        map.held = side;
        map.learn(&mut board, (&mut scattered(0, pages), By::Host), 0);
        let part = (0, (PLANE, Stream::Map));
        let _ = map.write_part_to(&mut space, &mut board, part, When::START).expect("has room");
        for (group, count) in [(0, 1), (1, pages / 2), (side, pages)] {
            map.learn(&mut board, (&mut scattered(group, count), By::Host), 0);
        }
        map.held = 0;
        (board, space, map)
    }

    /// The fewest pages for which something has to leave.
    fn one_too_many(map: &Map) -> u32 {
        (0..).find(|&moved| map.excess(moved) > 0).expect("memory has an end")
    }

    /// Group 0 is in use; what has to leave is group 1, then one of another map page. Once its map
    /// page is written group 0 is whole, and takes what group 1 gave back: a second one is written,
    /// where one was reckoned with.
    #[test]
    fn a_group_in_use_that_grows_is_reckoned_with() {
        let (mut board, mut space, mut map) = three_groups();
        assert_eq!(map.residency(0), Residency::Newer);
        let one_too_many = one_too_many(&map);
        assert!(map.excess(one_too_many) < map.bytes_of[1].into(), "group 1 is enough by itself");
        assert_eq!(map.writes_before(&board, one_too_many), 2);
        // The bytes of the smallest group would go 244 times into the largest growth.
        let most = map.most_writes_before(one_too_many);
        assert!((2..=map.sizes.parts).contains(&most), "{most} of {} map pages", map.sizes.parts);
        assert!(most <= 3, "{most}, where memory has three groups");
        map.moved = vec![(0, 0); one_too_many as usize];
        let written = map.fit_moved(&mut space, &mut board, PLANE, When::START);
        let _ = written.expect("has room, and no more is written than was reckoned with");
        assert_eq!(board.meter().events(Event::EvictDirty), 2);
        assert_eq!(map.residency(0), Residency::Whole);
        // A group that is whole does not grow: a page too many is 13 bytes at most, those of one
        // that leaves.
        assert_eq!(map.most_writes_before(self::one_too_many(&map)), 1);
    }

    /// Flash has fifteen pages of group 0 that memory has not, and none of group 1.
    #[test]
    fn what_one_group_grows_by_is_not_said_of_another() {
        let (board, _, mut map) = three_groups();
        assert!(map.growth_of_held(&board) > 0);
        map.held = 1;
        assert_eq!(map.growth_of_held(&board), 0);
    }

    /// The block with the map page is a victim with one valid page. If memory is full but for that,
    /// it costs what one page too many does in `a_group_in_use_that_grows_is_reckoned_with`,
    /// and what is said without a look at any group is no less.
    #[test]
    fn a_victim_is_told_the_map_pages_that_its_pages_push_out() {
        let (board, space, mut map) = three_groups();
        let victim = board.geometry().block_of(map.location(0).expect("it was written"));
        assert_eq!(space.valid_in(board.nand(), victim), 1);
        map.bytes += PAGE_BYTES * u64::from(one_too_many(&map) - 1);
        assert_eq!(one_too_many(&map), 1);
        assert_eq!(map.map_writes(&space, &board, victim), 2);
        assert_eq!(map.most_map_writes(&space, victim, 1), 3, "one for each group in memory");
    }

    /// A page that lies twice in a row is where it came to lie last.
    #[test]
    fn of_two_places_of_a_page_the_later_is_learned() {
        let (mut board, _, mut map) = three_groups();
        map.learn(&mut board, (&mut [(5, 101), (5, 100)], By::Host), 0);
        let found = map.find(Lpn(5)).expect("it was learned");
        assert_eq!(found.segment.predict(5, map.scale), 101);
    }

    /// What a fault kept from being learned is known all the same, and of no other page.
    #[test]
    fn moved_pages_are_where_they_moved_to() {
        let (board, _, mut map) = three_groups();
        map.moved = vec![(500, 77), (501, 78), (500, 79)];
        assert_eq!(
            [500, 501, 502].map(|lpn| map.locate(&board, Lpn(lpn))),
            [Some(Ppn(79)), Some(Ppn(78)), None]
        );
    }
}
