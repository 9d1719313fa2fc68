//! The map in learned segments: which groups memory holds, what is learned, and who is told of
//! moved pages.

use crate::leaftl::settings::{Config, Superseded};
use crate::leaftl::sizes::{Sizes, conflict_bytes};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::units::{BlockId, Lpn, Nanos, Ppn, pack, unpack, zeroed};
use ftlab_ftl::parts::learned::{
    Found, Group, Groups, Point, Scale, Segment, Sizes as GroupSizes, packed,
};
use ftlab_ftl::parts::page_space::{Moved, PageOwner, PageSpace};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;
use ftlab_ftl::parts::trim_records::TrimRecords;

/// What memory has of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residency {
    /// Nothing.
    Absent,
    /// Its newest levels; older ones are on flash.
    Newer,
    /// All of it.
    Whole,
}

/// Who changed a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Writes, trims, and whoever does not know.
    Host,
    /// Pages that collection moved.
    Collection,
}

/// Segments, and what belongs to them.
#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) sizes: Sizes,
    pub(super) gamma: u32,
    pub(super) scale: Scale,
    pub(super) groups: Groups,
    pub(super) trims: TrimRecords,
    /// Residency of each group, whether flash says something else ([`CHANGED`]), and whether that
    /// is collection's doing alone ([`MOVED`]).
    states: Vec<u8>,
    /// Groups in memory by last use; none where memory holds all.
    pub(super) order: SlotLists<1>,
    /// Bytes of each group in memory, and of all.
    pub(super) bytes_of: Vec<u16>,
    /// The group that was looked up last: it does not leave.
    pub(super) held: u32,
    /// Of a group in use, and the bytes that it takes more once memory has all of it; none where
    /// that was not reckoned since anything changed.
    pub(super) growth: Option<(u32, u64)>,
    pub(super) bytes: u64,
    /// Most that they were.
    most: u64,
    totals: GroupSizes,
    /// When what was loaded of each group is there; none where memory holds all.
    loads: Vec<When>,
    /// Place of each map page, plus one.
    pub(super) gtd: Vec<u32>,
    /// Pages of a flush, of one block as a rule, that were programmed and not learned yet, upwards
    /// by logical number.
    pub(super) fresh: Vec<(u32, u32)>,
    /// Pages moved out of the present victim.
    pub(super) moved: Vec<(u32, u32)>,
    scratch: Box<Group>,
    /// A group's levels as flash has them, and a group on its way there; none while in use.
    pub(super) older: Option<Box<Group>>,
    pub(super) packed: Option<Box<Group>>,
    pub(super) points: Vec<Point>,
    pub(super) words: Vec<u32>,
    sorts: bool,
    pub(super) superseded: Superseded,
    /// What a level of a look-up takes, if anything.
    level_time: Option<Nanos>,
}

/// Levels within which 99 % of look-ups end, as published.
const FEW_LEVELS: u32 = 9;

/// Flash says something else of a group.
const CHANGED: u8 = 4;

/// Nothing of that is the host's doing.
const MOVED: u8 = 8;

impl Map {
    /// Nothing mapped. Map pages that were never written are on flash by assumption.
    pub(super) fn new(board: &Board, config: &Config, trims: TrimRecords) -> Self {
        let sizes = Sizes::new(config);
        let geometry = board.geometry();
        let (groups, own) = (sizes.groups as usize, &config.own);
        let on_flash = if sizes.parts > 0 { sizes.groups } else { 0 };
        Map {
            sizes,
            gamma: own.gamma,
            scale: Scale::new(u64::from(geometry.pages())),
            groups: Groups::new(sizes.groups, sizes.group_pages),
            trims,
            states: zeroed(on_flash as usize),
            order: SlotLists::new(on_flash),
            bytes_of: zeroed(groups),
            held: 0,
            growth: None,
            bytes: 0,
            most: 0,
            totals: GroupSizes::default(),
            loads: zeroed(on_flash as usize),
            gtd: zeroed(sizes.parts as usize),
            fresh: Vec::with_capacity(sizes.run() as usize),
            moved: Vec::with_capacity(geometry.pages_per_block as usize),
            scratch: Box::new(Group::new(sizes.group_pages)),
            older: Some(Box::new(Group::new(sizes.group_pages))),
            packed: Some(Box::new(Group::new(sizes.group_pages))),
            points: Vec::with_capacity(sizes.group_pages as usize),
            words: zeroed(geometry.entries_per_page() as usize),
            sorts: own.gc_sorts,
            superseded: own.superseded,
            level_time: own.charge_lookup.then_some(own.level_time.0),
        }
    }

    /// The same map where whatever is in use only for a moment is that of another one, since a
    /// power cut may have come in such a moment.
    pub(super) fn out_of_use(self, other: Map) -> Map {
        let Map { scratch, older, packed, points, words, .. } = other;
        Map { scratch, older, packed, points, words, ..self }
    }

    /// Whether groups may be on flash alone.
    #[inline]
    pub(super) fn is_on_flash(&self) -> bool {
        self.sizes.parts > 0
    }

    /// The group of a page, and the page's offset in it.
    #[inline]
    pub(super) fn place_of(&self, lpn: Lpn) -> (u32, u8) {
        (lpn.0 / self.sizes.group_pages, (lpn.0 % self.sizes.group_pages) as u8)
    }

    #[inline]
    pub(super) fn residency(&self, group: u32) -> Residency {
        match self.states.get(group as usize).map_or(2, |state| state & 3) {
            0 => Residency::Absent,
            1 => Residency::Newer,
            _ => Residency::Whole,
        }
    }

    pub(super) fn set_residency(&mut self, group: u32, residency: Residency) {
        if let Some(state) = self.states.get_mut(group as usize) {
            *state = *state & !3 | residency as u8;
        }
    }

    pub(super) fn is_changed(&self, group: u32) -> bool {
        self.states.get(group as usize).is_some_and(|state| state & CHANGED != 0)
    }

    /// Whether flash says something else of a group, and nothing of that is the host's doing.
    pub(super) fn is_moved_alone(&self, group: u32) -> bool {
        self.states.get(group as usize).is_some_and(|state| state & MOVED != 0)
    }

    pub(super) fn set_changed(&mut self, group: u32, by: By) {
        if let Some(state) = self.states.get_mut(group as usize) {
            let is_moved = by == By::Collection && *state & (CHANGED | MOVED) != CHANGED;
            *state = *state & !MOVED | CHANGED | if is_moved { MOVED } else { 0 };
        }
    }

    /// Flash says of a group what memory does.
    pub(super) fn set_clean(&mut self, group: u32) {
        if let Some(state) = self.states.get_mut(group as usize) {
            *state &= !(CHANGED | MOVED);
        }
    }

    /// When what was loaded of a group is there.
    #[inline]
    pub(super) fn ready(&self, group: u32) -> When {
        self.loads.get(group as usize).copied().unwrap_or(When::START)
    }

    pub(super) fn set_ready(&mut self, group: u32, ready: When) {
        self.loads[group as usize] = ready;
    }

    /// A group is used, and stays longest.
    #[inline]
    pub(super) fn renew(&mut self, group: u32) {
        if !self.is_on_flash() {
            return;
        }
        match self.order.list_of(Slot(group)) {
            Some(_) => self.order.renew(Slot(group)),
            None => self.order.push(0, Slot(group)),
        }
    }

    /// Where a map page is.
    pub(super) fn location(&self, part: u32) -> Option<Ppn> {
        unpack(self.gtd[part as usize]).map(Ppn)
    }

    pub(super) fn set_location(&mut self, part: u32, ppn: Ppn) {
        self.growth = None;
        self.gtd[part as usize] = pack(Some(ppn.0));
    }

    /// The map page of a group.
    pub(super) fn part_of(&self, group: u32) -> u32 {
        group / self.sizes.groups_per_part
    }

    /// Groups of a map page.
    pub(super) fn groups_of(&self, part: u32) -> std::ops::Range<u32> {
        let first = part * self.sizes.groups_per_part;
        first..(first + self.sizes.groups_per_part).min(self.sizes.groups)
    }

    /// Words of a group in its map page.
    pub(super) fn words_of(&self, group: u32) -> std::ops::Range<usize> {
        let first = (group % self.sizes.groups_per_part) * self.sizes.group_words;
        first as usize..(first + self.sizes.group_words) as usize
    }

    /// A group as flash has it; the caller has read its page.
    pub(super) fn unpack(&self, board: &Board, group: u32, into: &mut Group) {
        match self.location(self.part_of(group)) {
            Some(page) => {
                let words = &board.nand().payload(page)[self.words_of(group)];
                packed::unpack(words, self.scale, into);
            }
            None => into.clear(),
        }
    }

    /// The newest segment in memory that has a page.
    #[inline]
    pub(super) fn find(&self, lpn: Lpn) -> Option<Found> {
        let (group, offset) = self.place_of(lpn);
        self.groups.find(group, offset)
    }

    /// Changes what memory has of a group.
    pub(super) fn change<R>(&mut self, group: u32, change: impl FnOnce(&mut Group) -> R) -> R {
        let Map { groups, scratch, totals, .. } = self;
        self.growth = None;
        groups.load(group, scratch);
        *totals -= scratch.sizes();
        let answer = change(scratch);
        *totals += scratch.sizes();
        groups.store(group, scratch);
        let bytes = self.sizes.bytes_of(&self.scratch) as u16;
        let held = &mut self.bytes_of[group as usize];
        self.bytes = self.bytes + u64::from(bytes) - u64::from(*held);
        self.most = self.most.max(self.bytes);
        *held = bytes;
        answer
    }

    /// Memory forgets a group.
    pub(super) fn drop_group(&mut self, group: u32) {
        self.growth = None;
        self.groups.load(group, &mut self.scratch);
        self.totals -= self.scratch.sizes();
        self.groups.forget(group);
        self.bytes -= u64::from(std::mem::take(&mut self.bytes_of[group as usize]));
        self.set_residency(group, Residency::Absent);
        self.set_clean(group);
        self.set_ready(group, When::START);
        self.order.remove(Slot(group));
    }

    /// What memory holds, for the meter.
    pub(super) fn tell(&self, board: &mut Board) {
        let approximate = u64::from(self.totals.approximate);
        board.level(Level::LearnedSegments, u64::from(self.totals.segments()));
        board.level(Level::ApproximateSegments, approximate);
        board.level(Level::LearnedMapBytes, self.bytes);
        board.level(Level::LearnedMapBytesMost, self.most);
        let conflict = u64::from(conflict_bytes(&self.totals));
        board.level(Level::ConflictBufferBytes, conflict);
    }

    /// Whether a page says of itself that it is `lpn`.
    pub(super) fn is_it(board: &Board, lpn: Lpn, page: Ppn) -> bool {
        match board.nand().state().oob(page) {
            OobRead::Written(oob) => oob.kind.is_host_data() && oob.logical == lpn.0,
            OobRead::Free | OobRead::Torn => false,
        }
    }

    /// The pages that the out-of-band area of page `said` may name as the place of `lpn`, of the
    /// gamma on either side, the latest first.
    pub(super) fn nearby(&self, board: &Board, lpn: Lpn, said: Ppn) -> impl Iterator<Item = Ppn> {
        let geometry = board.geometry();
        let (block, offset) = (geometry.block_of(said), geometry.offset_of(said));
        let last = (offset + self.gamma).min(geometry.pages_per_block - 1);
        let pages = (offset.saturating_sub(self.gamma)..=last).rev();
        pages
            .map(move |at| geometry.page(block, at))
            .filter(move |&page| Self::is_it(board, lpn, page))
    }

    /// Where a segment says that a page is: there, or near there by what the page's out-of-band
    /// area names. Of two versions that lie there the later one is of the run that was learned.
    pub(super) fn resolve(&self, board: &Board, lpn: Lpn, segment: Segment) -> Option<Ppn> {
        let (_, offset) = self.place_of(lpn);
        let said = Ppn(segment.predict(offset, self.scale) as u32);
        if Self::is_it(board, lpn, said) {
            return Some(said);
        }
        if segment.is_accurate() { None } else { self.nearby(board, lpn, said).next() }
    }

    /// Where a page is that a flush has programmed and not learned yet.
    #[inline]
    pub(super) fn fresh(&self, lpn: Lpn) -> Option<Ppn> {
        let place = self.fresh.binary_search_by_key(&lpn.0, |&(fresh, _)| fresh).ok()?;
        Some(Ppn(self.fresh[place].1))
    }

    /// Where a page is on flash; changes nothing and costs nothing.
    pub(super) fn locate(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        if let Some(&(_, ppn)) = self.moved.iter().rev().find(|&&(moved, _)| moved == lpn.0) {
            return Some(Ppn(ppn));
        }
        if let Some(place) = self.fresh(lpn) {
            return Some(place);
        }
        let (group, offset) = self.place_of(lpn);
        let mut found = self.groups.find(group, offset);
        let decides = found.is_some() || self.groups.is_trimmed(group, offset);
        if self.residency(group) != Residency::Whole && !decides {
            let part = self.location(self.part_of(group));
            let words = part.map(|page| &board.nand().payload(page)[self.words_of(group)]);
            found = words.and_then(|words| packed::find(words, self.scale, offset));
        }
        let segment = found?.segment;
        let place = self.resolve(board, lpn, segment);
        assert!(place.is_some(), "page {lpn} is not where {segment:?} says");
        place
    }

    /// Whether bytes and kinds are what the groups have, groups what they must be, and residency
    /// what the lists say.
    pub(super) fn self_check(&self) -> Result<(), String> {
        let mut known = Group::new(self.sizes.group_pages);
        let (mut bytes, mut segments) = (0, 0);
        for group in 0..self.sizes.groups {
            self.groups.load(group, &mut known);
            known.self_check().map_err(|error| format!("group {group}: {error}"))?;
            bytes += u64::from(self.sizes.bytes_of(&known));
            segments += known.len() as u32;
            let listed = self.is_on_flash() && self.order.list_of(Slot(group)).is_some();
            let resident = self.residency(group) != Residency::Absent;
            if self.is_on_flash() && listed != resident || !resident && !known.is_empty() {
                return Err(format!(
                    "group {group} is {:?}, in the list: {listed}, {} segments",
                    self.residency(group),
                    known.len()
                ));
            }
        }
        if (bytes, segments) != (self.bytes, self.totals.segments()) {
            return Err(format!(
                "{segments} segments of {bytes} bytes in memory, {} of {} counted",
                self.totals.segments(),
                self.bytes
            ));
        }
        Ok(())
    }

    /// What look-ups cost in memory, and how they are counted.
    #[inline]
    pub(super) fn charge(&self, board: &mut Board, levels: u32, after: When) -> When {
        board.event(Event::SegmentLookups, 1);
        board.event(Event::SegmentLevels, u64::from(levels));
        if levels > FEW_LEVELS {
            board.event(Event::DeepSegmentLookups, 1);
        }
        match self.level_time {
            Some(time) => board.dram_at(levels, time, after),
            None => after,
        }
    }

    /// Reads a map page.
    pub(super) fn read_part(
        &self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        match self.location(part) {
            Some(page) => board.read(page, cause, after).map(|(done, _)| done),
            None => board.read_implicit(part, cause, after),
        }
    }
}

impl PageOwner for Map {
    /// Moved pages are learned in memory, and what that pushes out is written when the victim is
    /// erased: before it, where memory has no room for them even so.
    fn map_writes(&mut self, space: &PageSpace, board: &Board, victim: BlockId) -> u32 {
        self.writes_before(board, space.valid_in(board.nand(), victim))
    }

    fn most_map_writes(&self, _: &PageSpace, _: BlockId, valid: u32) -> u32 {
        self.most_writes_before(valid)
    }

    fn sorts(&self) -> bool {
        self.sorts
    }

    fn moved(&mut self, _: &mut Board, page: Moved) {
        match page.kind {
            PageKind::Map => self.set_location(page.logical, page.new),
            PageKind::TrimRecord => self.trims.moved(page.logical, page.new),
            _ => match self.fresh.binary_search_by_key(&page.logical, |&(lpn, _)| lpn) {
                Ok(place) => self.fresh[place].1 = page.new.0,
                Err(_) => self.moved.push((page.logical, page.new.0)),
            },
        }
    }

    fn before_erase(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let victim = space.collecting().expect("its pages were moved");
        let plane = board.geometry().plane_of_block(victim);
        let done = self.fit_moved(space, board, plane, after);
        // Whatever came of that: a page that moves again is learned where it is then.
        self.learn_moved(board);
        done
    }
}
