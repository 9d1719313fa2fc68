//! Data blocks that are withheld from collection until their owner says so: every block that is
//! closed, for schemes that tell the map late where its pages are; or blocks that the owner asked
//! for, and writes itself, for schemes that map some blocks as a whole.

use super::PageOwner;
use super::{PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::nand::{Nand, Payload};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, PlaneId, Ppn, zeroed};

/// The withheld blocks of the device.
#[derive(Clone, Debug)]
pub(super) struct Withheld {
    /// Per plane: what the host wrote, and what was moved, in the order in which it was closed.
    /// Blocks that the owner took are in no list.
    lists: Vec<[Vec<BlockId>; 2]>,
    /// 1 for a block that is withheld.
    member: Vec<u8>,
    /// How many there are.
    count: u32,
    /// Whether every closed data block is withheld.
    closing: bool,
    /// Pages of the withheld blocks of each plane that hold nothing valid.
    unused: Vec<u32>,
}

impl Withheld {
    fn new(geometry: &Geometry, closing: bool) -> Self {
        let most = geometry.blocks_per_plane as usize;
        let lists = || [Vec::with_capacity(most), Vec::with_capacity(most)];
        Withheld {
            lists: (0..geometry.planes()).map(|_| lists()).collect(),
            member: zeroed(geometry.blocks() as usize),
            count: 0,
            closing,
            unused: vec![0; geometry.planes() as usize],
        }
    }
}

impl PageSpace {
    /// From now on closed data blocks are withheld, and moved data has a frontier of its own
    /// whatever `gc.separate_frontiers` says.
    pub fn withhold(&mut self, nand: &Nand) {
        assert!(self.placing.is_none(), "who withholds blocks divides data itself");
        self.moved_data = Stream::MovedData;
        self.hears_of_losses = true;
        self.withheld = Some(Withheld::new(nand.geometry(), true));
    }

    /// From now on blocks that the owner takes are withheld.
    pub fn withhold_taken(&mut self, nand: &Nand) {
        self.hears_of_losses = true;
        self.withheld = Some(Withheld::new(nand.geometry(), false));
    }

    /// After a power cut, these blocks are withheld as before. Those that are open are when they
    /// are closed; until then they are nothing for levelling either.
    pub fn withhold_again(&mut self, nand: &Nand, blocks: impl Iterator<Item = BlockId>) {
        for block in blocks {
            let plane = nand.geometry().plane_of_block(block);
            let frontiers = &self.planes[plane.index()].frontiers;
            if !frontiers.iter().any(|frontier| frontier.block == Some(block)) {
                self.is_candidate_no_more(nand, block);
                self.hold(nand, block);
            }
        }
        let Some(mut levelling) = self.levelling.take() else { return };
        for block in self.open_blocks().filter(|&block| self.holds_back(block)) {
            let plane = nand.geometry().plane_of_block(block);
            levelling.removed(plane, block.0 - nand.geometry().blocks_of(plane).start);
        }
        self.levelling = Some(levelling);
    }

    /// Data blocks of a stream that are open or withheld in a plane.
    #[inline]
    pub fn update_blocks(&self, plane: PlaneId, stream: Stream) -> u32 {
        let known = &self.planes[plane.index()];
        let open = |frontier: Stream| known.frontiers[frontier as usize].block;
        // What levelling writes is of the stream that it took the pages from.
        let holds = |block: BlockId| self.stream_of[block.index()] == stream as u8 + 1;
        debug_assert!(open(stream).is_none_or(holds), "a frontier holds its own stream");
        let worn = open(Stream::Worn).is_some_and(holds);
        u32::from(open(stream).is_some())
            + u32::from(worn)
            + self.withheld(plane, stream).len() as u32
    }

    /// The withheld blocks of a stream, the one that was closed first at the front.
    #[inline]
    pub fn withheld(&self, plane: PlaneId, stream: Stream) -> &[BlockId] {
        let held = self.withheld.as_ref().expect("this space withholds blocks");
        &held.lists[plane.index()][Self::list_of(stream)]
    }

    /// Whether a block is withheld.
    #[inline]
    pub fn is_withheld(&self, block: BlockId) -> bool {
        self.withheld.as_ref().is_some_and(|held| held.member[block.index()] == 1)
    }

    /// A withheld block becomes a candidate like any other.
    pub fn release_candidate(&mut self, nand: &Nand, block: BlockId) {
        let plane = nand.geometry().plane_of_block(block);
        let held = self.withheld.as_mut().expect("this space withholds blocks");
        assert_eq!(held.member[block.index()], 1, "block {block} is not withheld");
        held.member[block.index()] = 0;
        held.unused[plane.index()] -= self.pages_per_block - nand.valid_pages(block);
        held.count -= 1;
        if held.closing {
            for list in &mut held.lists[plane.index()] {
                list.retain(|&other| other != block);
            }
        }
        self.is_in_use(nand, block);
        self.put_up(nand, block);
    }

    /// Whether the next page of a stream takes a fresh block. A full one is closed.
    #[inline]
    pub fn needs_block(&mut self, nand: &Nand, plane: PlaneId, stream: Stream) -> bool {
        let frontier = self.planes[plane.index()].frontiers[stream.index()];
        if frontier.block.is_some() && frontier.next < self.pages_per_block {
            return false;
        }
        self.close(nand, plane, stream);
        true
    }

    /// Withheld blocks of the device.
    pub fn withheld_blocks(&self) -> u32 {
        self.withheld.as_ref().expect("this space withholds blocks").count
    }

    /// Withheld blocks of the device, and pages in them that hold data.
    pub fn withheld_pages(&self, geometry: &Geometry) -> (u32, u64) {
        let held = self.withheld.as_ref().expect("this space withholds blocks");
        let unused: u64 = held.unused.iter().map(|&pages| u64::from(pages)).sum();
        let blocks = self.withheld_blocks();
        (blocks, u64::from(blocks) * u64::from(geometry.pages_per_block) - unused)
    }

    /// Pages that a plane still takes, with withheld blocks counted as full.
    pub fn room_in(&self, plane: PlaneId) -> u32 {
        let known = &self.planes[plane.index()];
        let blocks = self.blocks_per_plane - Self::reserve(self.threshold.0, 2);
        let unused = self.withheld.as_ref().map_or(0, |held| held.unused[plane.index()]);
        let most = blocks.saturating_sub(known.retired) * self.pages_per_block;
        most.saturating_sub(known.valid + unused)
    }

    /// The plane with most room.
    pub fn roomiest(&self) -> PlaneId {
        let planes = (0..self.planes.len() as u32).map(PlaneId);
        planes.rev().max_by_key(|&plane| self.room_in(plane)).expect("a device has a plane")
    }

    /// The plane that takes a host page beside blocks that the owner took: its own, or the one with
    /// most room once such blocks have filled that. Other spaces keep to its own.
    #[inline(always)]
    pub fn place_beside_withheld(&self, board: &mut Board, io: &PageIo) -> PlaneId {
        let plane = self.place_host(board, io);
        let taken = self.withheld.as_ref().is_some_and(|held| !held.closing);
        if taken && self.room_in(plane) == 0 { self.roomiest() } else { plane }
    }

    /// The plane that gives a block to the owner: `home` while it has room for all pages of one,
    /// else the plane with most room; none where no plane has as much.
    pub fn plane_with_block(&self, home: PlaneId) -> Option<PlaneId> {
        let has_room = |plane: PlaneId| self.room_in(plane) >= self.pages_per_block;
        Some(home).filter(|&home| has_room(home)).or_else(|| {
            let roomiest = self.roomiest();
            has_room(roomiest).then_some(roomiest)
        })
    }

    /// Takes a free block that is withheld, and that the owner writes; collects first where it is
    /// due.
    pub fn take_withheld<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<(BlockId, When), Fault> {
        let limit = self.collection_limit(plane);
        let mut when = after;
        if self.planes[plane.index()].free.len() < limit {
            when = self.collect_until(board, owner, plane, limit, when)?;
        }
        let pool = &mut self.planes[plane.index()].free;
        let taken = if self.dynamic { pool.take_worn() } else { pool.take() };
        let Some(block) = taken else {
            return Err(self.out_of_blocks(board, plane).not_before(when));
        };
        self.stream_of[block.index()] = Stream::Data.mark();
        self.hold(board.nand(), block);
        Ok((block, when))
    }

    /// Programs a page of a withheld block. After a failed program the block takes no more.
    pub fn program_withheld(
        &mut self,
        board: &mut Board,
        ppn: Ppn,
        program: impl FnOnce(&mut Board) -> Result<When, Fault>,
    ) -> Result<When, Fault> {
        let result = program(board);
        match &result {
            Ok(_) => {
                let plane = board.geometry().plane_of(ppn);
                self.planes[plane.index()].valid += 1;
                let held = self.withheld.as_mut().expect("this space withholds blocks");
                held.unused[plane.index()] -= 1;
            }
            Err(Fault::ProgramFailed { .. }) => board.event(Event::ProgramFailures, 1),
            Err(_) => {}
        }
        result
    }

    /// Copies a page to its place in a withheld block; what it is a copy of becomes invalid.
    pub fn copy_withheld(
        &mut self,
        board: &mut Board,
        (old, new): (Ppn, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let copied = self.program_withheld(board, new, |board| {
            board.copy(old, new, PageKind::Data, cause, after)
        })?;
        self.invalidate(board, old);
        Ok(copied)
    }

    /// Fills a withheld block up to an offset with pads: a scan of blocks that are written in order
    /// looks no further than the first erased page. After a failed program the block takes no more.
    pub fn pad_withheld(
        &self,
        board: &mut Board,
        block: BlockId,
        offset: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for hole in board.nand().state().block(block).top..offset {
            let ppn = board.geometry().page(block, hole);
            let what = (PageKind::Pad, 0);
            let padded = board.program_payload(ppn, what, Payload::Words(&[]), Cause::Pad, done);
            if let Err(Fault::ProgramFailed { .. }) = padded {
                board.event(Event::ProgramFailures, 1);
            }
            done = padded?;
            board.nand_mut().discard(ppn);
        }
        Ok(done)
    }

    /// A withheld block that holds nothing valid is erased.
    pub fn erase_withheld(
        &mut self,
        board: &mut Board,
        block: BlockId,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.release_candidate(board.nand(), block);
        self.is_candidate_no_more(board.nand(), block);
        self.stream_of[block.index()] = 0;
        self.release(board, block, BlockRole::Data, cause, after)
    }

    /// Withheld blocks are in the lists of their plane, and their unused pages are counted right.
    pub(super) fn check_withheld(&self, nand: &Nand) -> Result<(), String> {
        let Some(held) = &self.withheld else { return Ok(()) };
        let mut count = 0;
        for (index, lists) in held.lists.iter().enumerate() {
            let plane = PlaneId(index as u32);
            let blocks = || nand.geometry().blocks_of(plane).map(BlockId);
            let blocks = || blocks().filter(|&block| self.is_withheld(block));
            let unused: u32 = blocks().map(|b| self.pages_per_block - nand.valid_pages(b)).sum();
            let listed = lists.iter().flatten().filter(|&&block| self.is_withheld(block)).count();
            let all = blocks().count();
            count += all;
            if unused != held.unused[index] || listed != if held.closing { all } else { 0 } {
                return Err(format!(
                    "{all} blocks of plane {index} are withheld, {listed} are listed; they count {} \
                     unused pages and have {unused}",
                    held.unused[index]
                ));
            }
        }
        if count as u32 != held.count {
            return Err(format!("{} blocks count as withheld, {count} are", held.count));
        }
        Ok(())
    }

    /// A page of a block became invalid; if the block is withheld, it is not free for others.
    #[inline]
    pub(super) fn note_unused(&mut self, block: BlockId, plane: PlaneId) {
        if let Some(held) = &mut self.withheld
            && held.member[block.index()] == 1
        {
            held.unused[plane.index()] += 1;
        }
    }

    #[inline]
    fn list_of(stream: Stream) -> usize {
        match stream {
            Stream::Data => 0,
            Stream::MovedData => 1,
            _ => unreachable!("only data is withheld, by what it is"),
        }
    }

    /// Whether a block is withheld when it is closed.
    pub(super) fn holds_back(&self, block: BlockId) -> bool {
        self.withheld.as_ref().is_some_and(|held| held.closing) && !self.is_map(block)
    }

    pub(super) fn hold(&mut self, nand: &Nand, block: BlockId) {
        let plane = nand.geometry().plane_of_block(block);
        let moved = self.stream_of[block.index()] == Stream::MovedData.mark();
        let stream = if moved { Stream::MovedData } else { Stream::Data };
        if self.holds_back(block) {
            if let Some(levelling) = &mut self.levelling {
                levelling.removed(plane, block.0 - nand.geometry().blocks_of(plane).start);
            }
        } else {
            self.is_in_use(nand, block);
        }
        let held = self.withheld.as_mut().expect("this space withholds blocks");
        held.member[block.index()] = 1;
        held.unused[plane.index()] += self.pages_per_block - nand.valid_pages(block);
        held.count += 1;
        if held.closing {
            held.lists[plane.index()][Self::list_of(stream)].push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::restore::StoredPage;
    use ftlab_flash::board::nand::state::Oob;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Tag;

    /// What levelling would move of eight blocks after a power cut and many erases around it:
    /// block 2 holds two pages of data and block 5 is full. `again` are withheld as before the cut.
    fn due_after_a_cut(again: &[BlockId]) -> Option<u32> {
        let mut config = SharedSettings::default();
        let pairs = [
            ("device.pages_per_block", "4"),
            ("device.blocks_per_plane", "8"),
            ("wear.policy", "static"),
            ("wear.spread", "4"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let bytes = 4 * config.device.page_bytes.0;
        config.device.set_capacity(bytes, 8);
        let mut board = Board::new(&config, 1, 0);
        let sectors = board.geometry().all_sectors();
        for (number, (block, pages)) in (1..).zip([(BlockId(2), 2), (BlockId(5), 4)]) {
            for offset in 0..pages {
                let ppn = board.geometry().page(block, offset);
                let sequence = u64::from(10 * number + offset);
                let oob = Oob { logical: offset % 4, kind: PageKind::Data, sequence };
                let page = StoredPage::Data { oob, tag: Tag(1), sectors, unreadable: false };
                board.nand_mut().restore_page(ppn, page).expect("an erased page");
            }
        }
        let recovered = PageSpace::recover(&mut board, &config, 2, 1, When::START);
        let (mut space, _) = recovered.expect("nothing fails");
        space.withhold(board.nand());
        space.withhold_again(board.nand(), again.iter().copied());
        let levelling = space.levelling.as_mut().expect("static");
        (0..8).for_each(|_| levelling.erased(PlaneId(0), 9));
        levelling.due(PlaneId(0), 9)
    }

    /// A block that was being filled when the power went is held back as it was before, and
    /// levelling must not take it before it is closed; a full one is levelled unless it is
    /// withheld.
    #[test]
    fn after_a_power_cut_levelling_takes_neither_an_open_nor_a_withheld_block() {
        assert_eq!(due_after_a_cut(&[]), Some(5));
        assert_eq!(due_after_a_cut(&[BlockId(2)]), Some(5));
        assert_eq!(due_after_a_cut(&[BlockId(2), BlockId(5)]), None);
    }
}
