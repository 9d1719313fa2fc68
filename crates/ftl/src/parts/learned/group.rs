//! The segments of one group of pages, in levels: insertion, look-up, compaction.
//!
//! Segments of a level do not overlap. A look-up goes from the newest level down; the first segment
//! that has the page answers. A new segment enters the top level: older ones there lose the pages
//! that it has, and go down a level where they still overlap it. What lower levels say of its pages
//! is superseded where it lies; compaction takes that out and lets segments rise.
//!
//! An accurate segment has the pages at its stride; of an approximate one, the conflict buffer
//! (CRB) of the group lists them. A page is listed once at most: the newest approximate segment has
//! it.

use super::members::Members;
use super::segment::{Scale, Segment};

/// Most pages of a group.
pub const GROUP_PAGES: u32 = 256;

/// Most segments of a group of `pages`: one that has as many is compacted before another enters.
/// One for each page, and some that are superseded.
pub const fn compacted_at(pages: u32) -> u32 {
    pages + pages / 4
}

/// Most segments while a group is put together from newer and older levels.
const MOST: usize = 2 * compacted_at(GROUP_PAGES) as usize;

/// A segment and its level, 0 being the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) level: u16,
    pub(super) segment: Segment,
}

/// The answer of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The segment that has the page.
    pub segment: Segment,
    /// Levels that were looked into.
    pub levels: u32,
}

/// What a group consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Accurate segments of more than one page.
    pub accurate: u32,
    /// Approximate segments.
    pub approximate: u32,
    /// Segments of one page.
    pub lone: u32,
    /// Pages listed in the conflict buffer.
    pub listed: u32,
    /// Levels.
    pub levels: u32,
    /// Whether a page is trimmed.
    pub trims: bool,
}

impl Sizes {
    /// Segments of every kind.
    pub fn segments(&self) -> u32 {
        self.accurate + self.approximate + self.lone
    }
}

/// One group.
#[derive(Clone, Debug)]
pub struct Group {
    placed: [Placed; MOST],
    count: usize,
    /// Of each listed page, the start of the segment that has it.
    owner: [u8; GROUP_PAGES as usize],
    listed: Members,
    /// Pages that were trimmed, whatever the segments say.
    trimmed: Members,
    /// Segments above which it is compacted.
    compacted_at: usize,
}

impl Group {
    /// An empty one of so many pages.
    pub fn new(pages: u32) -> Self {
        assert!((1..=GROUP_PAGES).contains(&pages), "{pages} pages are no group");
        Group {
            placed: [Placed::default(); MOST],
            count: 0,
            owner: [0; GROUP_PAGES as usize],
            listed: Members::NONE,
            trimmed: Members::NONE,
            compacted_at: compacted_at(pages) as usize,
        }
    }

    /// No segment, nothing trimmed.
    pub fn clear(&mut self) {
        (self.count, self.listed, self.trimmed) = (0, Members::NONE, Members::NONE);
    }

    pub(super) fn placed(&self) -> &[Placed] {
        &self.placed[..self.count]
    }

    pub(super) fn listed(&self) -> (&Members, &[u8; GROUP_PAGES as usize]) {
        (&self.listed, &self.owner)
    }

    /// Pages that were trimmed.
    pub fn trimmed(&self) -> Members {
        self.trimmed
    }

    /// Segments.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it says nothing of any page.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.trimmed.is_empty()
    }

    /// The segments as they lie: level, and what it is.
    pub fn segments(&self) -> impl Iterator<Item = (u16, Segment)> + '_ {
        self.placed().iter().map(|placed| (placed.level, placed.segment))
    }

    /// A segment goes behind all others, as it was stored; `members` are the pages of an
    /// approximate one.
    pub(super) fn append(&mut self, placed: Placed, members: Members) {
        self.placed[self.count] = placed;
        self.count += 1;
        if !placed.segment.is_accurate() {
            members.iter().for_each(|page| self.owner[usize::from(page)] = placed.segment.start);
            self.listed = self.listed.or(&members);
        }
    }

    pub(super) fn set_trimmed(&mut self, trimmed: Members) {
        self.trimmed = trimmed;
    }

    /// A page was trimmed.
    pub fn trim(&mut self, offset: u8) {
        self.trimmed.insert(offset);
    }

    /// Marks of trimmed pages go where no segment has the page; there must be no older levels
    /// elsewhere.
    pub fn drop_needless_trims(&mut self) {
        let mut said = Members::NONE;
        for index in 0..self.count {
            said = said.or(&self.members(self.placed[index].segment));
        }
        self.trimmed = self.trimmed.and(&said);
    }

    /// Pages of a segment of this group.
    pub fn members(&self, segment: Segment) -> Members {
        if segment.is_accurate() {
            return segment.strided();
        }
        let mut members = Members::NONE;
        let owned = |page: &u8| self.owner[usize::from(*page)] == segment.start;
        self.listed.iter().filter(owned).for_each(|page| members.insert(page));
        members
    }

    /// The newest segment that has a page.
    pub fn find(&self, offset: u8) -> Option<Found> {
        if self.trimmed.has(offset) {
            return None;
        }
        let (listed, owner) = (self.listed.has(offset), self.owner[usize::from(offset)]);
        let has = |placed: &&Placed| has(placed.segment, offset, listed.then_some(owner));
        let placed = self.placed().iter().find(has)?;
        Some(Found { segment: placed.segment, levels: u32::from(placed.level) + 1 })
    }

    /// A new segment with its pages; whether the group had to be compacted first.
    pub fn insert(&mut self, segment: Segment, members: Members) -> bool {
        let compacts = self.count >= self.compacted_at;
        if compacts {
            self.compact();
        }
        self.trimmed = self.trimmed.minus(&members);
        if !segment.is_accurate() {
            self.take_over(&members);
        }
        let mut index = 0;
        while index < self.count && self.placed[index].level == 0 {
            let old = self.placed[index].segment;
            if old.is_apart(segment) {
                index += 1;
                continue;
            }
            match self.shrink(index, &members) {
                None => {}
                Some(left) if left.is_apart(segment) => index += 1,
                Some(_) => self.push_down(index),
            }
        }
        self.put(Placed { level: 0, segment });
        if !segment.is_accurate() {
            members.iter().for_each(|page| self.owner[usize::from(page)] = segment.start);
            self.listed = self.listed.or(&members);
        }
        self.close_gaps();
        compacts
    }

    /// Levels of which nothing is left go.
    fn close_gaps(&mut self) {
        let (mut before, mut level) = (self.placed[0].level, 0);
        for placed in &mut self.placed[..self.count] {
            level += u16::from(placed.level != before);
            before = std::mem::replace(&mut placed.level, level);
        }
    }

    /// Older approximate segments lose what a new one has, wherever they are.
    fn take_over(&mut self, members: &Members) {
        let mut index = 0;
        while !self.listed.and(members).is_empty() && index < self.count {
            let segment = self.placed[index].segment;
            let touched = !segment.is_accurate() && !self.members(segment).and(members).is_empty();
            if !touched || self.shrink(index, members).is_some() {
                index += 1;
            }
        }
    }

    /// A segment loses pages: its ends come closer, and what is left of it is returned; one without
    /// pages goes.
    fn shrink(&mut self, index: usize, lost: &Members) -> Option<Segment> {
        let old = self.placed[index].segment;
        let members = self.members(old);
        let left = members.minus(lost);
        if !old.is_accurate() {
            self.listed = self.listed.minus(&members.and(lost));
        }
        let (Some(first), Some(last)) = (left.first(), left.last()) else {
            self.placed.copy_within(index + 1..self.count, index);
            self.count -= 1;
            return None;
        };
        if !old.is_accurate() && first != old.start {
            left.iter().for_each(|page| self.owner[usize::from(page)] = first);
        }
        let new = old.between(first, last);
        self.placed[index].segment = new;
        Some(new)
    }

    /// A segment of the top level goes down one; where it overlaps another there, a level is put in
    /// between.
    fn push_down(&mut self, index: usize) {
        let segment = self.placed[index].segment;
        self.placed.copy_within(index + 1..self.count, index);
        self.count -= 1;
        let below = self.placed[..self.count].iter().filter(|placed| placed.level == 1);
        if below.into_iter().any(|placed| !placed.segment.is_apart(segment)) {
            for placed in &mut self.placed[..self.count] {
                placed.level += u16::from(placed.level > 0);
            }
        }
        self.put(Placed { level: 1, segment });
    }

    /// Puts a segment where its level and its start say.
    fn put(&mut self, new: Placed) {
        let key = |placed: &Placed| (placed.level, placed.segment.start);
        let at = self.placed().partition_point(|placed| key(placed) < key(&new));
        self.placed.copy_within(at..self.count, at + 1);
        self.placed[at] = new;
        self.count += 1;
    }

    /// Takes out of every segment what newer ones and trims supersede, and lets each rise to right
    /// below the lowest newer one that it overlaps. What a look-up finds stays what it was.
    pub fn compact(&mut self) {
        let (mut seen, mut index) = (self.trimmed, 0);
        while index < self.count {
            let members = self.members(self.placed[index].segment);
            if self.shrink(index, &seen).is_some() {
                index += 1;
            }
            seen = seen.or(&members);
        }
        // Lowest level so far that has something above or at each page, plus one.
        let mut covered = [0u16; GROUP_PAGES as usize];
        for placed in &mut self.placed[..self.count] {
            let range = usize::from(placed.segment.start)..=usize::from(placed.segment.last());
            placed.level = covered[range.clone()].iter().copied().max().unwrap_or(0);
            covered[range].fill(placed.level + 1);
        }
        let key = |placed: &Placed| (placed.level, placed.segment.start);
        self.placed[..self.count].sort_unstable_by_key(key);
    }

    /// Older levels, as flash has them, go below these.
    pub fn put_above(&mut self, older: &Group) {
        let levels = self.placed().last().map_or(0, |placed| placed.level + 1);
        let mut said = self.trimmed;
        for index in 0..self.count {
            said = said.or(&self.members(self.placed[index].segment));
        }
        let listed = older.listed.minus(&said);
        for placed in older.placed() {
            let Placed { level, segment } = *placed;
            if segment.is_accurate() {
                self.append(Placed { level: level + levels, segment }, Members::NONE);
                continue;
            }
            let left = older.members(segment).and(&listed);
            let (Some(first), Some(last)) = (left.first(), left.last()) else { continue };
            self.append(
                Placed { level: level + levels, segment: segment.between(first, last) },
                left,
            );
        }
        self.trimmed = self.trimmed.or(&older.trimmed.minus(&said));
        self.close_gaps();
        if self.count > self.compacted_at {
            self.compact();
        }
    }

    /// An approximate segment of one page that is known to be elsewhere becomes an accurate one.
    pub(super) fn correct(&mut self, index: usize, ppn: u32, scale: Scale) {
        let page = self.placed[index].segment.start;
        self.listed.remove(page);
        self.placed[index].segment = Segment::lone(page, ppn, scale);
    }

    /// What it consists of.
    pub fn sizes(&self) -> Sizes {
        let levels = self.placed().last().map_or(0, |placed| u32::from(placed.level) + 1);
        let (listed, trims) = (self.listed.len(), !self.trimmed.is_empty());
        let mut sizes = Sizes { levels, listed, trims, ..Sizes::default() };
        for placed in self.placed() {
            if placed.segment.is_lone() {
                sizes.lone += 1;
            } else if placed.segment.is_accurate() {
                sizes.accurate += 1;
            } else {
                sizes.approximate += 1;
            }
        }
        sizes
    }

    /// How often pages of its approximate segments begin or end a run, within each.
    pub fn changes(&self) -> u32 {
        let approximate = self.placed().iter().filter(|placed| !placed.segment.is_accurate());
        approximate.map(|placed| self.members(placed.segment).changes()).sum()
    }

    /// Whether levels and conflict buffer are what they have to be.
    ///
    /// # Errors
    /// Says what is not.
    pub fn self_check(&self) -> Result<(), String> {
        for pair in self.placed().windows(2) {
            let key = |placed: &Placed| (placed.level, placed.segment.start);
            let [above, below] = pair else { unreachable!("windows of two") };
            let apart = above.level != below.level || above.segment.is_apart(below.segment);
            if key(above) >= key(below) || !apart || below.level > above.level + 1 {
                return Err(format!("segments {above:?} and {below:?} do not follow each other"));
            }
        }
        let mut listed = 0;
        for placed in self.placed().iter().filter(|placed| !placed.segment.is_accurate()) {
            let members = self.members(placed.segment);
            listed += members.len();
            let ends = (Some(placed.segment.start), Some(placed.segment.last()));
            if (members.first(), members.last()) != ends {
                return Err(format!("{placed:?} has the pages {members:?}"));
            }
        }
        if listed != self.listed.len() {
            return Err(format!("{listed} pages of approximate segments, {:?}", self.listed));
        }
        Ok(())
    }
}

/// Whether a segment has a page, which the approximate segment that begins at `owner` has if it is
/// listed.
#[inline]
pub(super) fn has(segment: Segment, offset: u8, owner: Option<u8>) -> bool {
    if offset < segment.start || offset > segment.last() {
        return false;
    }
    match segment.is_accurate() {
        true => u32::from(offset - segment.start).is_multiple_of(segment.stride()),
        false => owner == Some(segment.start),
    }
}

#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;
