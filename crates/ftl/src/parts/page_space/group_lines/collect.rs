//! Which lines of groups, and of the map, are collected, and how: the pages of a group move in the
//! order of their numbers, translation page by translation page.
//!
//! When the line of a group is full (a) the group is collected as a whole if it holds many lines;
//! (b) else the map's lines are if those are many; (c) else, where few lines are free, the line
//! that was closed first of a group with more than one: alone where the open line of its group has
//! room, or with all of its group. Where even that gains nothing: the closed line with fewest valid
//! pages.
//!
//! Where no more than one line is free, what is counted exactly is tried too before the last line
//! is opened: the map pages of a line, and the superseded pages of the map's own open line. Behind
//! a power cut that left no line free, this comes before the host takes the room that collection
//! needs.

#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod tests;

use super::super::lines::ALL;
use super::super::{PageOwner, PageSpace, Stream};
use super::{MapPages, What};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, Lpn, Ppn};

impl PageSpace {
    /// Sees to it that the page of data that the host writes, or a map page, has a line: of its
    /// group, of another one, or a free one. `first`: a power cut left few lines, and one that can
    /// be had is collected even where there is room.
    #[cold]
    pub(in super::super) fn make_group_room<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (stream, first): (Stream, bool),
        after: When,
    ) -> Result<When, Fault> {
        let Some(groups) = &self.groups else { return Ok(after) };
        let (rules, wanted) = (groups.rules, groups.wanted);
        let mut when = after;
        let most_held = rules.most_lines + groups.needed;
        if first && self.planes[ALL.index()].free.is_empty() {
            when = self.collect_any(board, owner, when)?.unwrap_or(when);
            self.select(wanted);
        }
        if stream == Stream::Data {
            let held = self.groups.as_ref().map_or(0, |groups| groups.held[wanted as usize]);
            let is_many = held + 1 >= most_held;
            if is_many && self.group_fits(board, owner, wanted) {
                when = self.collect_group(board, owner, wanted, when)?;
                self.select(wanted);
            }
            if self.room_of(wanted) > 0 {
                return Ok(when);
            }
        }
        when = self.collect_map_if_many(board, owner, rules.most_lines, when)?;
        if stream == Stream::Data && rules.borrow && self.is_short() && self.borrow(wanted) {
            return Ok(when);
        }
        let most = self.blocks_per_plane.saturating_mul(2);
        for _ in 0..most {
            if !self.is_short() {
                break;
            }
            match self.collect_any(board, owner, when)? {
                Some(collected) => when = collected,
                None if self.planes[ALL.index()].free.is_empty() => {
                    return Err(self.out_of_blocks(board, ALL).not_before(when));
                }
                None => break,
            }
            self.select(wanted);
            // A line that collection has opened for the group, or for others, has room.
            if stream == Stream::Data && self.room_of(wanted) > 0 {
                break;
            }
        }
        self.select(wanted);
        if stream == Stream::Data && self.room_of(wanted) == 0 && rules.borrow && self.is_short() {
            let _ = self.borrow(wanted);
        }
        Ok(when)
    }

    fn is_short(&self) -> bool {
        let limit = self.groups.as_ref().map_or(0, |groups| groups.rules.free_lines);
        self.planes[ALL.index()].free.len() < limit
    }

    /// The present page goes to the open line with most room; whether there is one.
    fn borrow(&mut self, wanted: u32) -> bool {
        let lender = self.roomiest_group();
        self.select(lender.unwrap_or(wanted));
        lender.is_some()
    }

    /// (b) The map's lines, where they are many more than its pages need.
    fn collect_map_if_many<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        most_lines: u32,
        after: When,
    ) -> Result<When, Fault> {
        let Some(groups) = self.groups.as_mut().filter(|groups| groups.has_map_grown) else {
            return Ok(after);
        };
        groups.has_map_grown = false;
        let Some(lines) = &self.lines else { return Ok(after) };
        let is_map = |line: &BlockId| self.stream_of[line.index()] == Stream::Map.mark();
        let all = (0..lines.book.lines()).map(BlockId).filter(is_map);
        let (count, valid) =
            all.fold((0, 0), |(count, valid), line| (count + 1, valid + lines.book.valid(line)));
        if count + 1 < most_lines + lines.book.lines_for(valid) {
            return Ok(after);
        }
        let mut when = after;
        self.close_full(board.nand(), ALL);
        for line in (0..self.blocks_per_plane).map(BlockId) {
            if self.is_map(line) && self.is_worth_it(line) && self.fits(board, owner, line) {
                when = self.collect(board, owner, line, when)?;
            }
        }
        Ok(when)
    }

    /// Whether a line is closed and holds fewer valid pages than it has room for.
    fn is_worth_it(&self, line: BlockId) -> bool {
        let frontiers = &self.planes[ALL.index()].frontiers;
        let is_open = frontiers.iter().any(|frontier| frontier.block == Some(line));
        let Some(lines) = &self.lines else { return false };
        !is_open && self.stream_of[line.index()] != 0 && lines.book.taken(line) < lines.book.full()
    }

    /// (c), and what there is beyond it; none where nothing is gained.
    fn collect_any<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let collected = self.collect_some(board, owner, MapPages::AtMost, after)?;
        if collected.is_some() || self.planes[ALL.index()].free.len() > 1 {
            return Ok(collected);
        }
        match self.collect_some(board, owner, MapPages::Counted, after)? {
            None => self.renew_map_line(board, owner, after),
            collected => Ok(collected),
        }
    }

    fn collect_some<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        map: MapPages,
        after: When,
    ) -> Result<Option<When>, Fault> {
        self.close_full(board.nand(), ALL);
        match self.first_of_many(board, owner, map) {
            Some(What::Group(group)) => self.collect_group(board, owner, group, after).map(Some),
            Some(What::Line(line)) => self.collect_line(board, owner, line, after).map(Some),
            None => self.collect_emptiest(board, owner, map, after),
        }
    }

    /// Collects the map's open line into a free one, where that gains room.
    fn renew_map_line<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let frontier = self.planes[ALL.index()].frontiers[Stream::Map.index()];
        let Some(lines) = &self.lines else { return Ok(None) };
        let Some(line) = frontier.block else { return Ok(None) };
        let valid = lines.book.valid(line);
        let gains = valid + self.room_at(&frontier) < lines.book.full();
        if !gains || self.units_for(valid) > self.planes[ALL.index()].free.len() {
            return Ok(None);
        }
        self.close(board.nand(), ALL, Stream::Map);
        self.collect(board, owner, line, after).map(Some)
    }

    /// The line that was closed first of a group with more than one, where collecting it, or its
    /// group, gains a line.
    fn first_of_many<O: PageOwner>(
        &mut self,
        board: &Board,
        owner: &mut O,
        map: MapPages,
    ) -> Option<What> {
        let search = self.groups.as_ref()?.search.wrapping_add(1).max(1);
        self.groups.as_mut()?.search = search;
        for turn in 0..self.groups.as_ref()?.closed.len() {
            let (groups, lines) = (self.groups.as_ref()?, self.lines.as_ref()?);
            let line = BlockId(groups.closed[turn]);
            let group = groups.group_of[line.index()].checked_sub(1)?;
            if groups.held[group as usize] < 2 {
                continue;
            }
            let valid = lines.book.valid(line);
            if valid <= self.room_of(group) && self.line_fits(board, owner, (line, map), 0) {
                return Some(What::Line(line));
            }
            // Once for all of its lines.
            if groups.asked[group as usize] == search {
                continue;
            }
            if self.group_fits(board, owner, group) {
                return Some(What::Group(group));
            }
            self.groups.as_mut()?.asked[group as usize] = search;
        }
        None
    }

    /// Whether the free lines hold the pages of a group and the map pages that go with them, and
    /// collecting it gains a line.
    fn group_fits<O: PageOwner>(&self, board: &Board, owner: &mut O, group: u32) -> bool {
        let (Some(groups), Some(lines)) = (&self.groups, &self.lines) else { return false };
        let of_group = groups.lines(group);
        let (count, valid) = of_group
            .clone()
            .fold((0, 0), |(count, valid), line| (count + 1, valid + lines.book.valid(line)));
        let data = lines.book.lines_for(valid);
        let Some(line) = of_group.min() else { return false };
        data < count && self.map_fits(board, owner, (line, valid, count), data)
    }

    /// Whether the free lines hold so many of data and the map pages of a line.
    fn line_fits<O: PageOwner>(
        &self,
        board: &Board,
        owner: &mut O,
        (line, map): (BlockId, MapPages),
        data: u32,
    ) -> bool {
        let Some(lines) = &self.lines else { return false };
        self.map_fits(board, owner, (line, lines.book.valid(line), 1), data)
            || (map == MapPages::Counted
                && self.lines_fit(data, owner.map_writes(self, board, line)))
    }

    /// Whether the free lines hold so many of data and the map pages of so many that move out of so
    /// many lines: each translation page once for the group's pages, and once a line for guests.
    fn map_fits<O: PageOwner>(
        &self,
        board: &Board,
        owner: &mut O,
        (line, valid, count): (BlockId, u32, u32),
        data: u32,
    ) -> bool {
        let parts = board.geometry().logical_pages.div_ceil(board.geometry().entries_per_page());
        let pages = owner.most_map_writes(self, line, valid).min(parts.saturating_mul(count + 1));
        self.lines_fit(data, pages)
    }

    /// Whether there are so many free lines, and those that so many map pages take.
    fn lines_fit(&self, data: u32, map_pages: u32) -> bool {
        data + self.opens((ALL, Stream::Map), map_pages) <= self.planes[ALL.index()].free.len()
    }

    /// The closed line, of a group or of the map, that gains most.
    fn collect_emptiest<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        map: MapPages,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let room = self.room_of_all();
        let borrows = self.groups.as_ref().is_some_and(|groups| groups.rules.borrow);
        let Some(lines) = &self.lines else { return Ok(None) };
        let is_parked = |line| self.groups.as_ref().is_some_and(|groups| groups.is_parked(line));
        let fits = |owner: &mut O, line: BlockId| match self.is_map(line) {
            true => self.fits(board, owner, line),
            false => {
                let valid = lines.book.valid(line);
                let room = if borrows { room } else { self.room_of(self.group_of(line)) };
                let data = self.units_for(valid.saturating_sub(room));
                self.line_fits(board, owner, (line, map), data)
            }
        };
        let mut best: Option<(u32, BlockId)> = None;
        for line in (0..lines.book.lines()).map(BlockId) {
            let taken = lines.book.taken(line);
            if best.is_none_or(|(least, _)| taken < least)
                && self.is_worth_it(line)
                && !is_parked(line)
                && fits(owner, line)
            {
                best = Some((taken, line));
            }
        }
        let Some((_, line)) = best else { return Ok(None) };
        match self.is_map(line) {
            true => self.collect(board, owner, line, after).map(Some),
            false => self.collect_line(board, owner, line, after).map(Some),
        }
    }

    /// Collects every line of a group, the open one too, into lines that are opened for it.
    fn collect_group<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        group: u32,
        after: When,
    ) -> Result<When, Fault> {
        self.select(group);
        self.close(board.nand(), ALL, Stream::Data);
        board.event(Event::GroupsCollected, 1);
        self.empty_lines(board, owner, (What::Group(group), group), after)
    }

    /// Collects one line of a group.
    fn collect_line<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        line: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let group = self.group_of(line);
        self.empty_lines(board, owner, (What::Line(line), group), after)
    }

    /// Moves the pages of a group's lines in their order, then those of others, and erases them.
    fn empty_lines<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (what, group): (What, u32),
        after: When,
    ) -> Result<When, Fault> {
        let Some(groups) = &mut self.groups else { return Ok(after) };
        let mut chosen = std::mem::take(&mut groups.chosen);
        let is_meant = |line: &u32| match what {
            What::Line(one) => *line == one.0,
            What::Group(_) => groups.group_of[*line as usize] == group + 1,
        };
        let meant = groups.closed.iter().copied().filter(is_meant).map(BlockId);
        let lines = self.lines.as_ref();
        chosen.extend(meant.map(|line| (line, lines.map_or(0, |lines| lines.book.valid(line)))));
        self.moving = true;
        let moved = self.move_group_pages(board, owner, (&chosen, group, what), after);
        let moved = moved.and_then(|done| self.move_guests(board, owner, &chosen, done));
        self.moving = false;
        let erased = moved.and_then(|done| self.erase_lines(board, &chosen, done));
        chosen.clear();
        if let Some(groups) = &mut self.groups {
            groups.chosen = chosen;
        }
        erased
    }

    /// Erases lines that hold nothing valid; each held so many pages.
    fn erase_lines(
        &mut self,
        board: &mut Board,
        lines: &[(BlockId, u32)],
        emptied: When,
    ) -> Result<When, Fault> {
        let mut done = emptied;
        for &(line, copied) in lines {
            board.victim(copied);
            self.reclaimed += 1;
            self.stream_of[line.index()] = 0;
            let erased = self.release(board, line, BlockRole::Data, Cause::Gc, emptied)?;
            done = done.join(erased);
        }
        Ok(done)
    }

    /// Moves a group's pages out of its lines, translation page by translation page.
    fn move_group_pages<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (chosen, group, what): (&[(BlockId, u32)], u32, What),
        after: When,
    ) -> Result<When, Fault> {
        let Some(groups) = &mut self.groups else { return Ok(after) };
        let mut sorted = std::mem::take(&mut groups.sorted);
        let pages = groups.rules.pages;
        let entries = board.geometry().entries_per_page();
        for &(line, _) in chosen {
            for page in self.valid_pages(board.nand(), line) {
                if let OobRead::Written(oob) = board.nand().state().oob(page)
                    && self.group_of_page(Lpn(oob.logical)) == group
                {
                    sorted[(oob.logical % pages) as usize] = page.0 + 1;
                }
            }
        }
        let mut done = after;
        let mut end = Ok(());
        for part in sorted.chunks_mut(entries as usize) {
            if end.is_ok() && part.iter().any(|&page| page != 0) {
                match self.move_part(board, owner, (part, group, what), after) {
                    Ok(moved) => done = done.join(moved),
                    Err(fault) => end = Err(fault),
                }
            }
            part.fill(0);
        }
        if let Some(groups) = &mut self.groups {
            groups.sorted = sorted;
        }
        end.map(|()| done)
    }

    /// Moves pages of one translation page, and lets the owner write it, also where not all could
    /// be moved.
    fn move_part<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (part, group, what): (&[u32], u32, What),
        after: When,
    ) -> Result<When, Fault> {
        let (mut done, mut is_at_home) = (after, true);
        for &page in part.iter().filter(|&&page| page != 0) {
            is_at_home &= self.aim(group, what);
            let old = Ppn(page - 1);
            let line = self.unit_of(board.geometry().block_of(old));
            let from = (line, Some(Stream::Data), old);
            match self.move_page(board, owner, from, Cause::Gc, after) {
                Ok(moved) => done = moved.map_or(done, |moved| done.join(moved)),
                Err(fault) => {
                    let _ = owner.before_erase(self, board, done);
                    return Err(fault);
                }
            }
        }
        match is_at_home {
            true => owner.part_moved(self, board, done),
            false => owner.before_erase(self, board, done),
        }
    }

    /// Moves what is left in lines: pages of other groups, to the lines of these. The owner hears
    /// of what was moved, also where not all could be.
    fn move_guests<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        chosen: &[(BlockId, u32)],
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for &(line, _) in chosen {
            let (mut slot, mut moved_any) = (0, false);
            while let Some(lines) = &self.lines
                && let Some(old) = lines.next_valid(board.nand(), line, &mut slot)
            {
                let OobRead::Written(oob) = board.nand().state().oob(old) else {
                    unreachable!("a valid page is readable");
                };
                let _ = self.aim(self.group_of_page(Lpn(oob.logical)), What::Line(line));
                let from = (line, Some(Stream::Data), old);
                match self.move_page(board, owner, from, Cause::Gc, after) {
                    Ok(moved) => done = moved.map_or(done, |moved| done.join(moved)),
                    Err(fault) => {
                        let _ = owner.before_erase(self, board, done);
                        return Err(fault);
                    }
                }
                moved_any = true;
            }
            if moved_any {
                done = owner.before_erase(self, board, done)?;
            }
        }
        Ok(done)
    }

    /// The next page that moves is of this group: to its open line, or to a line that is opened for
    /// it; where a line is collected alone, to one of another group that has room before that.
    /// Whether it is a line of its own.
    fn aim(&mut self, group: u32, what: What) -> bool {
        self.select(group);
        let borrows = self.groups.as_ref().is_some_and(|groups| groups.rules.borrow);
        if self.room_of(group) > 0 || matches!(what, What::Group(_)) || !borrows {
            return true;
        }
        !self.borrow(group)
    }

    fn group_of(&self, line: BlockId) -> u32 {
        self.groups.as_ref().map_or(0, |groups| groups.group_of[line.index()] - 1)
    }
}
