//! Queues of full blocks, one for each group of a placement policy but the last (`midas`): whose
//! oldest block is a victim when its group is too large, before `gc.victim` chooses one in the last
//! group, and what becomes of blocks when groups change.
//!
//! Sizes are of segments, so that every plane may have as many blocks of a group. A block without
//! an invalid page is no victim: it goes on to the next group as it is. Maps have no queue; they
//! are victims as blocks of the last group are. Where nobody in the last group can be collected,
//! the queues are looked through.

#[cfg(test)]
mod tests;

use super::{PageSpace, Stream};
use crate::parts::block_queues::BlockQueues;
use crate::parts::placement::Regrouped;
use crate::parts::placement::midas::Role;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

/// The queues of all planes.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    blocks: BlockQueues,
    classes: u8,
    /// What each class was when groups changed last.
    roles: Vec<Role>,
}

impl Queues {
    /// Empty queues; none where no policy wants any.
    pub(super) fn new(config: &SharedSettings, geometry: &Geometry) -> Option<Self> {
        let classes = config.data_classes();
        let count = usize::from(classes) * geometry.planes() as usize;
        config.gc.placement.queues_blocks().then(|| Queues {
            blocks: BlockQueues::new(count, geometry.blocks()),
            classes,
            roles: vec![Role::Last; usize::from(classes)],
        })
    }

    fn place(&self, plane: PlaneId, class: u8) -> usize {
        plane.index() * usize::from(self.classes) + usize::from(class)
    }

    /// The class whose queue a block waits in.
    fn class_of(&self, block: BlockId) -> Option<u8> {
        self.blocks.queue_of(block).map(|queue| (queue % usize::from(self.classes)) as u8)
    }
}

impl PageSpace {
    /// Whether a block waits in a queue.
    pub(super) fn is_queued(&self, block: BlockId) -> bool {
        self.queues.as_ref().is_some_and(|queues| queues.blocks.queue_of(block).is_some())
    }

    /// Groups with a queue.
    fn queued_groups(&self) -> u8 {
        let groups = self.placing.as_ref().and_then(|placing| placing.groups());
        groups.map_or(0, |groups| groups.queued())
    }

    /// A full block of a group that has a queue waits there; whether it does.
    pub(super) fn waits_in_queue(&mut self, nand: &Nand, block: BlockId) -> bool {
        let queued = self.queued_groups();
        let Some(queues) = &mut self.queues else { return false };
        let class = Stream::class_of_mark(self.stream_of[block.index()]);
        let Some(class) = class.filter(|&class| class < queued) else { return false };
        let queue = queues.place(nand.geometry().plane_of_block(block), class);
        queues.blocks.push(queue, block);
        true
    }

    /// A block is no candidate any more, in a queue or not.
    pub(super) fn leaves_candidates(&mut self, plane: PlaneId, block: BlockId) {
        if !self.queues.as_mut().is_some_and(|queues| queues.blocks.remove(block)) {
            self.planes[plane.index()].victims.removed(block);
        }
    }

    /// Who waits behind a block in its queue.
    pub(super) fn behind_in_queue(&self, block: BlockId) -> Option<BlockId> {
        self.queues.as_ref()?.blocks.behind(block)
    }

    /// A block that waits in a queue does so before another one of that.
    pub(super) fn takes_place(&mut self, block: BlockId, before: Option<BlockId>) {
        let (Some(queues), Some(before)) = (&mut self.queues, before) else { return };
        let queue = queues.blocks.queue_of(block);
        if queue.is_some() && queue == queues.blocks.queue_of(before) && block != before {
            queues.blocks.remove(block);
            queues.blocks.insert_before(before, block);
        }
    }

    /// The oldest block of the first group that is too large.
    pub(super) fn victim_of_queues(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
    ) -> Option<BlockId> {
        self.queues.as_ref()?;
        for class in 0..self.queued_groups() {
            while let Some(oldest) = self.beyond_size(plane, class) {
                if self.census(board.nand()).valid_pages(oldest) < self.pages_per_block {
                    return Some(oldest);
                }
                self.goes_on(board, (plane, class), oldest);
            }
        }
        None
    }

    /// The oldest full block of a group that has more than it may, beside the open one.
    fn beyond_size(&self, plane: PlaneId, class: u8) -> Option<BlockId> {
        let queues = self.queues.as_ref()?;
        let groups = self.placing.as_ref()?.groups()?;
        let queue = queues.place(plane, class);
        let is_beyond = queues.blocks.len(queue) > groups.size(class).saturating_sub(1);
        is_beyond.then(|| queues.blocks.iter(queue).next()).flatten()
    }

    /// A block without an invalid page goes to the next group as it is.
    fn goes_on(&mut self, board: &mut Board, (plane, class): (PlaneId, u8), block: BlockId) {
        let groups = self.placing.as_ref().and_then(|placing| placing.groups());
        let next = groups.map_or(class, |groups| groups.next(class));
        if let Some(placing) = &mut self.placing {
            placing.handed_on(block, class, self.pages_per_block);
        }
        self.leaves_candidates(plane, block);
        self.reclass(block, next);
        self.put_up(board.nand(), block);
        board.event(Event::BlocksHandedOn, 1);
    }

    fn reclass(&mut self, block: BlockId, class: u8) {
        self.stream_of[block.index()] = Stream::of_class(class).mark();
        if let Some(placing) = &mut self.placing {
            placing.reclassed(block, class);
        }
    }

    /// A block of any queue of which collecting gains something, the first group coming first.
    pub(super) fn any_in_queues(&self, nand: &Nand, plane: PlaneId) -> Option<BlockId> {
        let queues = self.queues.as_ref()?;
        let census = self.census(nand);
        let all =
            (0..queues.classes).flat_map(|class| queues.blocks.iter(queues.place(plane, class)));
        let mut all = all.filter(|&block| census.valid_pages(block) < self.pages_per_block);
        all.next()
    }

    /// Groups may have changed: nobody waits in a queue that there is no more, open blocks of a
    /// class that is something else now take no more pages, and what is beyond a new size belongs
    /// to the last group.
    #[inline]
    pub(super) fn regroup(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        match self.placing.as_mut().and_then(|placing| placing.regrouped()) {
            None => Ok(after),
            Some(what) => self.regroup_as(board, what, after),
        }
    }

    #[cold]
    fn regroup_as(
        &mut self,
        board: &mut Board,
        what: Regrouped,
        after: When,
    ) -> Result<When, Fault> {
        if let Some(placing) = &self.placing {
            placing.tell_groups(board);
        }
        if what == Regrouped::Told {
            return Ok(after);
        }
        let planes = (0..self.planes.len() as u32).map(PlaneId);
        for plane in planes.clone() {
            self.leave_queues(board, plane, what);
        }
        self.count_as_last(board.nand());
        let mut done = after;
        for plane in planes {
            done = done.join(self.close_changed(board, plane, after)?);
        }
        self.note_roles();
        Ok(done)
    }

    /// Blocks of queues that there are no more, and those beyond a size that is new, are candidates
    /// of the last group.
    fn leave_queues(&mut self, board: &mut Board, plane: PlaneId, what: Regrouped) {
        let (queued, classes) =
            (self.queued_groups(), self.queues.as_ref().map_or(0, |q| q.classes));
        for class in 0..classes {
            loop {
                let block = match class < queued {
                    true if what == Regrouped::Sized => self.beyond_size(plane, class),
                    true => None,
                    false => self
                        .queues
                        .as_ref()
                        .and_then(|queues| queues.blocks.iter(queues.place(plane, class)).next()),
                };
                let Some(block) = block else { break };
                let groups = self.placing.as_ref().and_then(|placing| placing.groups());
                let last = groups.map_or(0, |groups| groups.first_of_last());
                self.leaves_candidates(plane, block);
                self.reclass(block, last);
                self.put_up(board.nand(), block);
                board.event(Event::BlocksHandedOn, 1);
            }
        }
    }

    /// Candidates of no queue count as of a class of the last group.
    fn count_as_last(&mut self, nand: &Nand) {
        let Some(groups) = self.placing.as_ref().and_then(|placing| placing.groups()).copied()
        else {
            return;
        };
        for block in (0..self.stream_of.len() as u32).map(BlockId) {
            let class = Stream::class_of_mark(self.stream_of[block.index()]);
            let Some(class) = class else { continue };
            let last = groups.class_in_last(class);
            let plane = self.plane_of_unit(nand, block);
            if last != class && self.planes[plane.index()].victims.has(block) {
                self.reclass(block, last);
            }
        }
    }

    /// Open blocks of classes that are something else than before take no more pages; the hot class
    /// takes the same pages in a queue or not.
    fn close_changed(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        let Some(groups) = self.placing.as_ref().and_then(|placing| placing.groups()).copied()
        else {
            return Ok(done);
        };
        for class in 1..groups.last() {
            let (before, now) = (self.role_before(class), groups.role(class));
            let is_other = before != Some(now) || now == Role::Unused;
            let frontier = self.planes[plane.index()].frontiers[Stream::of_class(class).index()];
            let Some(block) = frontier.block.filter(|_| is_other) else { continue };
            // It was filled as what the class was: it is of the last group.
            self.reclass(block, groups.first_of_last());
            self.close_early(board, block, after)?;
            if self.lines.is_none() {
                done = done.join(board.finish_flash_page(block, Cause::Gc, after));
            }
        }
        Ok(done)
    }

    fn role_before(&self, class: u8) -> Option<Role> {
        self.queues.as_ref().map(|queues| queues.roles[usize::from(class)])
    }

    fn note_roles(&mut self) {
        let Some(groups) = self.placing.as_ref().and_then(|placing| placing.groups()).copied()
        else {
            return;
        };
        if let Some(queues) = &mut self.queues {
            for (class, role) in (0..).zip(&mut queues.roles) {
                *role = groups.role(class);
            }
        }
    }

    /// Full blocks of a group wait in its queue, and nobody else does.
    pub(super) fn check_queues(&self) -> Result<(), String> {
        let Some(queues) = &self.queues else { return Ok(()) };
        for (number, &mark) in self.stream_of.iter().enumerate() {
            let block = BlockId(number as u32);
            let Some(class) = queues.class_of(block) else { continue };
            if Stream::class_of_mark(mark) != Some(class) {
                return Err(format!(
                    "block {block} waits in the queue of class {class}: its mark is {mark}"
                ));
            }
            let is_candidate = |plane: &super::Plane| plane.victims.has(block);
            let is_open = |plane: &super::Plane| {
                plane.frontiers.iter().any(|frontier| frontier.block == Some(block))
            };
            if self.planes.iter().any(is_open) {
                return Err(format!("block {block} waits in a queue and is open"));
            }
            let plane = number / self.blocks_per_plane as usize;
            if self.planes.get(plane).is_some_and(is_candidate) {
                return Err(format!("block {block} waits in a queue and is a candidate beside"));
            }
        }
        Ok(())
    }
}
