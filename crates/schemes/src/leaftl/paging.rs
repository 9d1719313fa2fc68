//! Groups between memory and flash: loaded when they are asked for, written when they leave and
//! have changed, as `docs/papers/leaftl2023.md#caching` says.

use crate::leaftl::map::{By, Map, Residency};
use crate::leaftl::settings::Superseded;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, PlaneId, Ppn};
use ftlab_ftl::parts::learned::{Found, Group, packed};
use ftlab_ftl::parts::page_space::{PageSpace, Stream};
use ftlab_ftl::parts::slots::Slot;

impl Map {
    /// Makes sure that memory can tell where a page is; when it can.
    #[inline]
    pub(super) fn look_up(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let (group, offset) = self.place_of(lpn);
        self.held = group;
        if !self.can_tell(group, offset) {
            return self.load(board, group, after);
        }
        board.event(Event::MapHits, 1);
        self.renew(group);
        Ok(after.waits_for_map(self.ready(group)))
    }

    /// Whether what memory has of a group tells where a page is.
    #[inline]
    fn can_tell(&self, group: u32, offset: u8) -> bool {
        match self.residency(group) {
            Residency::Whole => true,
            Residency::Absent => false,
            Residency::Newer => {
                self.groups.is_trimmed(group, offset) || self.groups.find(group, offset).is_some()
            }
        }
    }

    /// As [`Map::look_up`] where nothing can leave memory: what the map page says is used and
    /// forgotten. The segment that has the page, and when it is known.
    #[cold]
    pub(super) fn look_up_past(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<(Option<Found>, When), Fault> {
        let (group, offset) = self.place_of(lpn);
        if self.can_tell(group, offset) {
            let known = self.look_up(board, lpn, after)?;
            return Ok((self.find(lpn), known));
        }
        board.event(Event::MapLookups, 1);
        let read = self.read_part(board, self.part_of(group), Cause::Translate, after)?;
        let mut older = self.older.take().expect("nobody else has it");
        self.unpack(board, group, &mut older);
        let found = older.find(offset);
        self.older = Some(older);
        Ok((found, read))
    }

    /// Reads a group's map page: its older levels go below those in memory.
    #[cold]
    fn load(&mut self, board: &mut Board, group: u32, after: When) -> Result<When, Fault> {
        let read = self.read_part(board, self.part_of(group), Cause::Translate, after)?;
        self.complete(board, group, read);
        Ok(read)
    }

    /// A group's map page is read at `read`: memory has all of it.
    fn complete(&mut self, board: &Board, group: u32, read: When) {
        let mut older = self.older.take().expect("nobody else has it");
        self.unpack(board, group, &mut older);
        self.change(group, |known| known.put_above(&older));
        self.older = Some(older);
        self.set_residency(group, Residency::Whole);
        self.set_ready(group, read);
        self.renew(group);
    }

    /// Groups used longest ago leave until the bytes fit; the one used last always does.
    #[inline]
    pub(super) fn fit(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        match self.sizes.map_bytes {
            Some(most) if self.bytes > most => self.make_fit(space, board, most, after),
            _ => Ok(after),
        }
    }

    #[cold]
    fn make_fit(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        most: u64,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while self.bytes > most {
            let oldest = self.order.oldest(0).expect("bytes are those of groups in memory").0;
            if self.order.len(0) == 1 {
                // By itself it fits once nothing in it is superseded.
                self.compact_group(board, oldest);
                self.tell(board);
                break;
            }
            if oldest == self.held {
                self.renew(oldest);
                continue;
            }
            when = self.evict(space, board, oldest, when)?;
            self.tell(board);
        }
        Ok(when)
    }

    /// A group leaves; its map page is written first if it has changed.
    fn evict(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        group: u32,
        after: When,
    ) -> Result<When, Fault> {
        let changed = self.is_changed(group);
        let mut done = after;
        if changed {
            done = self.write_part(space, board, self.part_of(group), after)?;
        }
        board.event(if changed { Event::EvictDirty } else { Event::EvictClean }, 1);
        if self.residency(group) != Residency::Absent {
            self.drop_group(group);
        }
        Ok(done)
    }

    /// Writes a map page with all that memory knows of its groups. What memory does not know is
    /// read from the old one, which is superseded. Groups of which memory has newer levels only
    /// leave. Where collection alone changed them this is its map update (DFTL 2014, Table 5).
    pub(super) fn write_part(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        after: When,
    ) -> Result<When, Fault> {
        let place = (space.home(board.nand(), part), Stream::Map);
        let ready = space.make_room(board, self, place, after)?;
        if !self.groups_of(part).any(|group| self.is_changed(group)) {
            // Collection has written it.
            return Ok(ready);
        }
        self.write_part_to(space, board, (part, place), ready)
    }

    /// The same where room is made.
    pub(super) fn write_part_to(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (part, place): (u32, (PlaneId, Stream)),
        after: When,
    ) -> Result<When, Fault> {
        let mut ready = after;
        let old = self.location(part);
        let groups = self.groups_of(part);
        let mut changed = groups.clone().filter(|&group| self.is_changed(group));
        let by_collection = changed.all(|group| self.is_moved_alone(group));
        let cause = if by_collection { Cause::GcMapUpdate } else { Cause::Translate };
        if groups.clone().any(|group| self.residency(group) != Residency::Whole) {
            ready = self.read_part(board, part, cause, ready)?;
        }
        let mut words = std::mem::take(&mut self.words);
        words.fill(0);
        for group in groups.clone() {
            ready = self.pack_group(board, group, &mut words, ready)?;
        }
        let written = space.program(board, place, ready, |board, new, ready| {
            let payload = Payload::Words(&words);
            board.program_payload(new, (PageKind::Map, part), payload, cause, ready)
        });
        self.words = words;
        let (new, done) = written?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        self.set_location(part, new);
        for group in groups {
            match self.residency(group) {
                Residency::Absent => {}
                Residency::Newer => self.drop_group(group),
                Residency::Whole => self.set_clean(group),
            }
        }
        Ok(done)
    }

    /// Puts a group, as it is now, into the words of its map page. Where its approximate segments
    /// leave no room in its place, some pages are read for where they are.
    fn pack_group(
        &mut self,
        board: &mut Board,
        group: u32,
        words: &mut [u32],
        after: When,
    ) -> Result<When, Fault> {
        if self.residency(group) != Residency::Whole && group == self.held {
            // Who has looked it up still needs it.
            self.complete(board, group, after);
        }
        // A group that is still on its way from flash is packed when it is there.
        let after = after.waits_for_map(self.ready(group));
        let mut known = self.packed.take().expect("nobody else has it");
        self.groups.load(group, &mut known);
        if self.residency(group) != Residency::Whole {
            let mut older = self.older.take().expect("nobody else has it");
            self.unpack(board, group, &mut older);
            known.put_above(&older);
            self.older = Some(older);
        }
        let (pages, mut ready) = (self.sizes.group_pages, Ok(after));
        packed::fit(&mut known, (pages, self.scale), |segment| {
            let lpn = Lpn(group * pages + u32::from(segment.start));
            if let Some(place) = self.fresh(lpn) {
                // Its old place may be erased by now.
                return place.0;
            }
            let said = Ppn(segment.predict(segment.start, self.scale) as u32);
            if let Ok(when) = ready {
                ready = self.check_prediction(board, said, when);
            }
            self.resolve(board, lpn, segment).expect("the page is within gamma pages").0
        });
        packed::pack(&known, self.scale, &mut words[self.words_of(group)]);
        self.packed = Some(known);
        ready
    }

    /// Reads the out-of-band area of a page that an approximate segment told: cell time.
    pub(super) fn check_prediction(
        &self,
        board: &mut Board,
        said: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::PredictionChecks, 1);
        board.read_entry(Some(said), 0, Cause::Translate, after)
    }

    /// Where a page is that is to be superseded or trimmed; memory can tell. An approximate segment
    /// tells it nearly, and what it says is read.
    pub(super) fn exact(
        &self,
        board: &mut Board,
        lpn: Lpn,
        known: When,
    ) -> Result<(Option<Ppn>, When), Fault> {
        if let Some(place) = self.fresh(lpn) {
            return Ok((Some(place), known));
        }
        let (group, offset) = self.place_of(lpn);
        let Some(found) = self.groups.find(group, offset) else { return Ok((None, known)) };
        let said = Ppn(found.segment.predict(offset, self.scale) as u32);
        let mut when = self.charge(board, found.levels, known);
        if !found.segment.is_accurate() && self.superseded == Superseded::Read {
            when = self.check_prediction(board, said, when)?;
        }
        let place = self.resolve(board, lpn, found.segment);
        assert!(place.is_some(), "page {lpn} is not where {:?} says", found.segment);
        Ok((place, when))
    }

    /// Writes every map page of which memory says something else.
    pub(super) fn clean(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let (mut when, mut from) = (after, 0);
        // What a collection changes while another one is written comes in a further round.
        loop {
            let changed = |group: &u32| self.is_changed(*group);
            let next = (from..self.sizes.groups).find(changed);
            let Some(group) = next.or_else(|| (0..from).find(changed)) else { return Ok(when) };
            when = self.write_part(space, board, self.part_of(group), when)?;
            from = group;
        }
    }

    /// Segments of groups that flash says something else of.
    pub(super) fn changed_segments(&self) -> u64 {
        let mut known = Group::new(self.sizes.group_pages);
        let mut segments = 0;
        for group in (0..self.sizes.groups).filter(|&group| self.is_changed(group)) {
            self.groups.load(group, &mut known);
            segments += known.len().max(1) as u64;
        }
        segments
    }

    /// Groups that a recovery found, none of them on flash as they are.
    pub(super) fn found_newer(&mut self, group: u32) {
        if self.order.list_of(Slot(group)).is_none() {
            self.set_residency(group, Residency::Newer);
            self.renew(group);
        }
        self.set_changed(group, By::Host);
    }
}
