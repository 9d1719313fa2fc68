//! Group lines: every group of neighbouring logical pages writes to an open line of its own, so
//! that a line holds pages of one group, and a group is collected as a whole, in the order of its
//! pages (LearnedFTL, HPCA 2024).
//!
//! The space of lines stays as it is: its frontier of data is that of one group at a time, the open
//! lines of the others are parked here and change places with it. Closed lines of groups are
//! nobody's candidates: which are collected, and when, is said in `group_lines/collect.rs`.

mod collect;
#[cfg(test)]
mod tests;

use super::lines::{ALL, Open};
use super::{Frontier, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::units::{BlockId, Lpn, Ppn, zeroed};

/// The frontier of data.
const DATA: usize = Stream::Data as usize;

/// What is collected at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Every line of a group but the one that is opened for it.
    Group(u32),
    /// One line.
    Line(BlockId),
}

/// How it is told whether the map pages of a line that is collected have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapPages {
    /// By the most that there can be.
    AtMost,
    /// Where these do not fit, by how many there are.
    Counted,
}

/// When groups share lines, and when lines are collected.
#[derive(Clone, Copy, Debug)]
pub struct GroupRules {
    /// Logical pages of a group.
    pub pages: u32,
    /// Lines of a group, or of the map, from which on it is collected as a whole.
    pub most_lines: u32,
    /// Free lines below which others are collected.
    pub free_lines: u32,
    /// Whether groups write into lines of others before that.
    pub borrow: bool,
}

/// Open and closed lines by group.
#[derive(Clone, Debug)]
pub(super) struct GroupLines {
    rules: GroupRules,
    /// Lines that a group takes at least.
    needed: u32,
    /// Places in the next three of the groups that were ever written, plus one.
    place_of: Vec<u32>,
    /// Which group it is, its open line, and the pages that this takes; of `current` the line is
    /// the frontier of the space, and the room is not kept.
    written: Vec<u32>,
    parked: Vec<(Frontier, Open)>,
    rooms: Vec<u32>,
    current: u32,
    /// The group of the page that the host writes.
    wanted: u32,
    /// By line: its group plus one.
    group_of: Vec<u32>,
    /// Lines of each group, the one opened last first: that one plus one, and by line the next.
    last_of: Vec<u32>,
    before: Vec<u32>,
    /// Lines that each group holds, the open one among them.
    held: Vec<u32>,
    /// Closed lines, the one that was closed first at the front.
    closed: Vec<u32>,
    /// Whether the map has opened a line since its lines were counted.
    has_map_grown: bool,
    /// By group: the search in which it was last found to gain nothing.
    asked: Vec<u32>,
    search: u32,
    /// Lines that are being collected, and the valid pages of each; empty between collections.
    chosen: Vec<(BlockId, u32)>,
    /// By place in a group: the page that is to be moved, plus one. Empty between collections.
    sorted: Vec<u32>,
}

/// Groups of so many logical pages.
fn groups(logical_pages: u64, pages: u32) -> u64 {
    logical_pages.div_ceil(u64::from(pages))
}

/// Bytes by structure: of each line, its group and its place among the closed ones; of each group,
/// its open line, its lines and a count; and what a collection sorts: the places of the pages of a
/// group, and the pages themselves, which are read before the first is programmed.
pub fn ram_use(
    rules: &GroupRules,
    (logical_pages, lines): (u64, u64),
    page_bytes: u64,
) -> Vec<RamUse> {
    let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
    let pages = u64::from(rules.pages);
    vec![
        entry("group_lines", 12 * lines + 36 * groups(logical_pages, rules.pages)),
        entry("sorted_places", 4 * pages),
        entry("sorted_pages", pages * page_bytes),
    ]
}

impl GroupLines {
    /// Where the open line of a group is parked.
    fn place(&mut self, group: u32) -> usize {
        if self.place_of[group as usize] == 0 {
            self.written.push(group);
            self.parked.push(Default::default());
            self.rooms.push(0);
            self.place_of[group as usize] = self.written.len() as u32;
        }
        self.place_of[group as usize] as usize - 1
    }

    /// Whether a line is parked.
    fn is_parked(&self, line: BlockId) -> bool {
        let Some(group) = self.group_of[line.index()].checked_sub(1) else { return false };
        let place = self.place_of[group as usize].checked_sub(1);
        group != self.current
            && place.is_some_and(|place| self.parked[place as usize].0.block == Some(line))
    }

    fn add(&mut self, line: BlockId, group: u32) {
        self.group_of[line.index()] = group + 1;
        self.held[group as usize] += 1;
        self.before[line.index()] = self.last_of[group as usize];
        self.last_of[group as usize] = line.0 + 1;
    }

    fn remove(&mut self, line: BlockId, group: u32) {
        self.group_of[line.index()] = 0;
        self.held[group as usize] -= 1;
        let next = self.before[line.index()];
        let behind = self.lines(group).find(|other| self.before[other.index()] == line.0 + 1);
        match behind {
            Some(behind) => self.before[behind.index()] = next,
            None => self.last_of[group as usize] = next,
        }
    }

    /// The lines of a group.
    fn lines(&self, group: u32) -> impl Iterator<Item = BlockId> + Clone + '_ {
        let line = |plus_one: u32| plus_one.checked_sub(1).map(BlockId);
        std::iter::successors(line(self.last_of[group as usize]), move |one| {
            line(self.before[one.index()])
        })
    }
}

impl PageSpace {
    /// From now on data is divided into groups. After a power cut, every line of data is given to
    /// the group of its first valid page, and groups go on writing the ones that have room.
    pub fn divide_in_groups(&mut self, board: &Board, rules: GroupRules) {
        let logical = u64::from(board.geometry().logical_pages);
        let count = groups(logical, rules.pages) as usize;
        let Some(lines) = &self.lines else { unreachable!("groups are of lines") };
        let all = lines.book.lines();
        self.groups = Some(Box::new(GroupLines {
            rules,
            needed: rules.pages.div_ceil(lines.book.full()),
            place_of: zeroed(count),
            written: Vec::with_capacity(count),
            parked: Vec::with_capacity(count),
            rooms: Vec::with_capacity(count),
            current: 0,
            wanted: 0,
            group_of: zeroed(all as usize),
            last_of: zeroed(count),
            before: zeroed(all as usize),
            held: zeroed(count),
            closed: Vec::with_capacity(all as usize),
            has_map_grown: true,
            asked: zeroed(count),
            search: 0,
            chosen: Vec::with_capacity(all as usize),
            sorted: zeroed(rules.pages as usize),
        }));
        self.find_groups(board.nand());
    }

    fn find_groups(&mut self, nand: &Nand) {
        let open = self.planes[ALL.index()].frontiers[DATA];
        let Some(lines) = &self.lines else { return };
        let parked = lines.open[DATA];
        let is_data = |line: &BlockId| self.stream_of[line.index()] == Stream::Data.mark();
        let mut found: Vec<BlockId> =
            (0..lines.book.lines()).map(BlockId).filter(is_data).collect();
        found.sort_by_key(|&line| (std::cmp::Reverse(self.census(nand).age(line)), line.0));
        self.planes[ALL.index()].frontiers[DATA] = Frontier::default();
        for line in found {
            let group = self.first_group(nand, line);
            let end = if open.block == Some(line) {
                Some((open, parked))
            } else {
                self.is_candidate_no_more(nand, line);
                self.end_of_line(nand, line)
            };
            let groups = self.groups.as_mut().expect("made above");
            groups.add(line, group);
            let place = groups.place(group);
            let place = &mut groups.parked[place];
            match end {
                Some(end) if place.0.block.is_none() => *place = end,
                Some(end) if end.0.next < place.0.next => {
                    groups.closed.extend(place.0.block.map(|line| line.0));
                    *place = end;
                }
                _ => groups.closed.push(line.0),
            }
        }
        let groups = self.groups.as_mut().expect("made above");
        let full = self.pages_per_block;
        let room = |frontier: &Frontier| frontier.block.map_or(0, |_| full - frontier.next);
        groups.rooms.clear();
        groups.rooms.extend(groups.parked.iter().map(|(frontier, _)| room(frontier)));
        let first = groups.place(0);
        let (frontier, open) = groups.parked[first];
        self.planes[ALL.index()].frontiers[DATA] = frontier;
        if let Some(lines) = &mut self.lines {
            lines.open[DATA] = open;
        }
    }

    /// The group of the first valid page of a line.
    fn first_group(&self, nand: &Nand, line: BlockId) -> u32 {
        let lpn = self.valid_pages(nand, line).find_map(|page| match nand.state().oob(page) {
            OobRead::Written(oob) => Some(Lpn(oob.logical)),
            OobRead::Free | OobRead::Torn => None,
        });
        lpn.map_or(0, |lpn| self.group_of_page(lpn))
    }

    pub(super) fn group_of_page(&self, lpn: Lpn) -> u32 {
        self.groups.as_ref().map_or(0, |groups| lpn.0 / groups.rules.pages)
    }

    /// Whether a page lies in a line of another group.
    pub fn is_guest(&self, board: &Board, lpn: Lpn, at: Ppn) -> bool {
        let line = self.unit_of(board.geometry().block_of(at));
        let Some(groups) = &self.groups else { return false };
        groups.group_of[line.index()] != self.group_of_page(lpn) + 1
    }

    /// The host writes this page next.
    pub fn write_for(&mut self, lpn: Lpn) {
        let group = self.group_of_page(lpn);
        if let Some(groups) = &mut self.groups {
            groups.wanted = group;
            self.select(group);
        }
    }

    /// The frontier of data is that of a group from now on.
    pub(super) fn select(&mut self, group: u32) {
        let (Some(groups), Some(lines)) = (&mut self.groups, &mut self.lines) else { return };
        if groups.current == group {
            return;
        }
        let frontier = &mut self.planes[ALL.index()].frontiers[DATA];
        let place = groups.place(groups.current);
        groups.parked[place] = (*frontier, lines.open[DATA]);
        groups.rooms[place] = frontier.block.map_or(0, |_| self.pages_per_block - frontier.next);
        let place = groups.place(group);
        (*frontier, lines.open[DATA]) = groups.parked[place];
        groups.current = group;
    }

    /// Pages that the open line of a group still takes.
    fn room_of(&self, group: u32) -> u32 {
        let Some(groups) = &self.groups else { return 0 };
        match groups.current == group {
            true => self.room_at(&self.planes[ALL.index()].frontiers[DATA]),
            false => match groups.place_of[group as usize].checked_sub(1) {
                Some(place) => groups.rooms[place as usize],
                None => 0,
            },
        }
    }

    /// The group whose open line has most room, the first of equals, if one has any.
    fn roomiest_group(&mut self) -> Option<u32> {
        self.note_room();
        let groups = self.groups.as_ref()?;
        let most = groups.rooms.iter().copied().max().filter(|&room| room > 0)?;
        let all = groups.written.iter().zip(&groups.rooms);
        all.filter(|&(_, &room)| room == most).map(|(&group, _)| group).min()
    }

    /// Pages that all open lines of groups still take.
    fn room_of_all(&mut self) -> u32 {
        self.note_room();
        self.groups.as_ref().map_or(0, |groups| groups.rooms.iter().sum())
    }

    /// Notes the room of the present group beside that of the others.
    fn note_room(&mut self) {
        let room = self.room_at(&self.planes[ALL.index()].frontiers[DATA]);
        if let Some(groups) = &mut self.groups {
            let place = groups.place(groups.current);
            groups.rooms[place] = room;
        }
    }

    /// A line of data was opened: it is the present group's.
    pub(super) fn line_of_group_opened(&mut self, line: BlockId) {
        let is_map = self.is_map(line);
        match &mut self.groups {
            Some(groups) if is_map => groups.has_map_grown = true,
            Some(groups) => groups.add(line, groups.current),
            None => {}
        }
    }

    /// A line of data is closed; whether it is a group's, and no candidate.
    pub(super) fn line_of_group_closed(&mut self, line: BlockId) -> bool {
        let is_map = self.is_map(line);
        let Some(groups) = self.groups.as_mut().filter(|_| !is_map) else { return false };
        groups.closed.push(line.0);
        true
    }

    /// A line is emptied.
    pub(super) fn line_of_group_freed(&mut self, line: BlockId) {
        let Some(groups) = &mut self.groups else { return };
        if let Some(group) = groups.group_of[line.index()].checked_sub(1) {
            groups.remove(line, group);
            groups.closed.retain(|&other| other != line.0);
        }
    }

    /// Whether a line holds data of groups.
    pub(super) fn is_of_group(&self, line: BlockId) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.group_of[line.index()] != 0)
    }

    /// Free lines, and below how many others are collected.
    pub fn group_room(&self) -> Option<crate::answers::Room> {
        let threshold = self.groups.as_ref()?.rules.free_lines;
        let free_blocks = self.planes[ALL.index()].free.len();
        Some(crate::answers::Room { free_blocks, threshold })
    }

    /// Every line of data is of one group, open or closed, and counted once.
    pub(super) fn check_groups(&self, nand: &Nand) -> Result<(), String> {
        let (Some(groups), Some(lines)) = (&self.groups, &self.lines) else { return Ok(()) };
        let mut held = vec![0; groups.held.len()];
        for (line, &group) in groups.group_of.iter().enumerate() {
            let is_data = self.stream_of[line] == Stream::Data.mark();
            if is_data != (group > 0) {
                return Err(format!("line {line} is data: {is_data}, and of group {group} - 1"));
            }
            if is_data {
                held[group as usize - 1] += 1;
            }
        }
        if held != groups.held {
            return Err(format!("groups count {:?} lines and have {held:?}", groups.held));
        }
        let mut open = 0;
        for (&group, &(parked, stands)) in groups.written.iter().zip(&groups.parked) {
            let group = group as usize;
            let is_current = groups.current as usize == group;
            let frontier =
                if is_current { self.planes[ALL.index()].frontiers[DATA] } else { parked };
            let Some(line) = frontier.block else { continue };
            open += 1;
            let stands = if is_current { lines.open[DATA] } else { stands };
            let (left, counted) =
                (lines.left(nand, line, &stands), self.pages_per_block - frontier.next);
            if groups.group_of[line.index()] as usize != group + 1 || left != counted {
                return Err(format!(
                    "the open line {line} of group {group} counts {counted} slots left, has {left}"
                ));
            }
        }
        let all: u32 = held.iter().sum();
        if open + groups.closed.len() as u32 != all {
            let closed = groups.closed.len();
            return Err(format!(
                "{open} open and {closed} closed lines are not the {all} there are"
            ));
        }
        Ok(())
    }
}
