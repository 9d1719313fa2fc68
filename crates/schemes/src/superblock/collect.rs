//! Collection inside a superblock, and levelling of wear.

use super::{HotRule, Superblock};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event, Level};
use ftlab_flash::units::{BlockId, Lpn, Ppn};
use ftlab_ftl::parts::block_supply::Need;
use ftlab_ftl::parts::data_blocks::{Lbn, lpn_of_page};
use ftlab_ftl::parts::superblocks::{Sbn, Stream};

impl Superblock {
    /// Leaves a superblock that has a U-block with a block fewer, unless a program fails: then
    /// something of it is done, and whoever asked asks again.
    pub(super) fn collect(
        &mut self,
        board: &mut Board,
        sbn: Sbn,
        after: When,
    ) -> Result<When, Fault> {
        self.erased.clear();
        let collected = self.collect_one(board, sbn, after);
        self.table.weigh(board.nand(), sbn);
        let mut done = collected?;
        // Only now: levelling might move what is being collected.
        while let Some(plane) = self.erased.pop() {
            let Some(block) = self.supply.due_block(board.nand(), plane) else { continue };
            let owner = self.table.owner(block).expect("levelling knows blocks of superblocks");
            let levelled = self.level(board, (owner, block), done);
            self.table.weigh(board.nand(), owner);
            done = levelled?;
        }
        Ok(done)
    }

    fn collect_one(&mut self, board: &mut Board, sbn: Sbn, after: When) -> Result<When, Fault> {
        let valid = |block: BlockId| board.nand().valid_pages(block);
        // (a) A block without valid page is erased. If it was a D-block and a U-block has nothing
        // but valid pages, that takes its place: a switch merge.
        let dead = self.table.blocks(sbn).find(|&block| valid(block) == 0);
        if let Some(dead) = dead {
            let pages = board.geometry().pages_per_block;
            let complete = |&block: &BlockId| valid(block) == pages;
            let successor = match self.table.role(sbn, dead) {
                BlockRole::Data => self.table.update_blocks(sbn).find(complete),
                _ => None,
            };
            match successor {
                Some(_) => board.merge_switch(),
                None => board.event(Event::DeadLogBlocks, 1),
            }
            return self.erase(board, (sbn, dead), successor, Cause::Merge, after);
        }
        // (b) The open U-block begins with a logical block's pages in order, and one block holds
        // the others and nothing else: the U-block is completed, the other erased. A partial merge.
        if let Some((open, source)) = self.completable(board, sbn) {
            return self.complete(board, sbn, (open, source), after);
        }
        // (c) Valid pages of the least valid blocks are gathered. A full merge.
        self.gather(board, sbn, after)
    }

    /// The block that writes go to and the one that is left without valid page when the logical
    /// block begun there is completed.
    fn completable(&self, board: &Board, sbn: Sbn) -> Option<(BlockId, BlockId)> {
        let (geometry, nand) = (board.geometry(), board.nand());
        let (open, top) = self.table.open(nand, sbn, Stream::Hot)?;
        if nand.valid_pages(open) < top || self.table.role(sbn, open) == BlockRole::Data {
            return None;
        }
        let (lbn, _) = Lbn::of(geometry, lpn_of_page(board, geometry.page(open, 0)));
        let at = |offset: u32| self.index.get(lbn.page(geometry, offset));
        if (0..top).any(|offset| at(offset) != Some(geometry.page(open, offset))) {
            return None;
        }
        let mut rest = (top..geometry.pages_per_block).filter_map(at).map(|p| geometry.block_of(p));
        let source = rest.next()?;
        let count = 1 + rest.clone().count() as u32;
        let alone = rest.all(|block| block == source) && nand.valid_pages(source) == count;
        alone.then_some((open, source))
    }

    fn complete(
        &mut self,
        board: &mut Board,
        sbn: Sbn,
        (open, source): (BlockId, BlockId),
        after: When,
    ) -> Result<When, Fault> {
        let (lbn, _) =
            Lbn::of(board.geometry(), lpn_of_page(board, board.geometry().page(open, 0)));
        let mut done = after;
        for offset in board.nand().state().block(open).top..board.geometry().pages_per_block {
            let Some(from) = self.index.get(lbn.page(board.geometry(), offset)) else { continue };
            let to = self.table.next_page(board.nand(), sbn, Stream::Hot);
            let to = to.expect("as many places as pages are missing");
            match self.move_page(board, (from, to), Cause::Merge, after) {
                Ok(copied) => done = done.join(copied),
                Err(Fault::ProgramFailed { known, .. }) => return Ok(known),
                Err(fault) => return Err(fault),
            }
        }
        board.merge_partial();
        let successor = match self.table.role(sbn, source) {
            BlockRole::Data => Some(open),
            _ => None,
        };
        self.erase(board, (sbn, source), successor, Cause::Merge, done)
    }

    /// Moves the valid pages of the chosen blocks to others, hot and cold ones apart, and erases
    /// them.
    fn gather(&mut self, board: &mut Board, sbn: Sbn, after: When) -> Result<When, Fault> {
        let apart = self.choose_apart(board, sbn);
        if !apart {
            self.choose_together(board, sbn);
            self.table.set_open(sbn, Stream::Hot, None);
        }
        let mut done = after;
        for place in 0..self.sources.len() {
            let source = self.sources[place].1;
            let mut moved = after;
            while let Some(from) = board.nand().state().next_valid(source, 0) {
                let stream = match apart {
                    true => self.stream(lpn_of_page(board, from)),
                    false => Stream::Hot,
                };
                let (to, ready) = match self.table.next_page(board.nand(), sbn, stream) {
                    Some(to) => (to, after),
                    None => {
                        let ready = self.open_block(board, (sbn, stream), Need::Merge, after)?;
                        let to = self.table.next_page(board.nand(), sbn, stream);
                        (to.expect("a fresh block has room"), ready)
                    }
                };
                match self.move_page(board, (from, to), Cause::Merge, ready) {
                    Ok(copied) => moved = moved.join(copied),
                    // What was moved was moved; the rest is chosen anew.
                    Err(Fault::ProgramFailed { known, .. }) => return Ok(known),
                    Err(fault) => return Err(fault),
                }
            }
            done = done.join(self.erase(board, (sbn, source), None, Cause::Merge, moved)?);
        }
        board.merge_full(self.sources.len() as u32);
        self.forget_rewritten(board, sbn);
        Ok(done)
    }

    /// Where a gathered page goes.
    fn stream(&self, lpn: Lpn) -> Stream {
        match self.settings.hot_rule {
            HotRule::UpdatedSinceLastGc if !self.is_rewritten(lpn) => Stream::Cold,
            HotRule::UpdatedSinceLastGc | HotRule::None => Stream::Hot,
        }
    }

    /// Chooses the fewest blocks, the least valid first, whose hot and whose cold pages need a
    /// block less than they are now; what has room takes them first and is no source. False if
    /// there are none, or not enough free blocks to fill two at once.
    pub(super) fn choose_apart(&mut self, board: &Board, sbn: Sbn) -> bool {
        let nand = board.nand();
        self.sort_blocks(board, sbn);
        let pages_per_block = board.geometry().pages_per_block;
        let open = [Stream::Hot, Stream::Cold].map(|stream| self.table.open(nand, sbn, stream));
        self.sources.retain(|&(_, block)| open.iter().flatten().all(|known| known.0 != block));
        let room = [Stream::Hot, Stream::Cold].map(|stream| self.table.room(nand, sbn, stream));
        let mut pages = [0, 0];
        for place in 0..self.sources.len() {
            let source = self.sources[place].1;
            let mut from = 0;
            while let Some(page) = nand.state().next_valid(source, from) {
                from = board.geometry().offset_of(page) + 1;
                pages[self.stream(lpn_of_page(board, page)) as usize] += 1;
            }
            let blocks = |stream: usize| {
                u32::saturating_sub(pages[stream], room[stream]).div_ceil(pages_per_block)
            };
            if blocks(0) + blocks(1) <= place as u32 {
                self.sources.truncate(place + 1);
                return blocks(0).min(1) + blocks(1).min(1) <= self.supply.free_blocks();
            }
        }
        false
    }

    /// Chooses the fewest blocks, the least valid first, whose pages fit a block less. There are
    /// such, at worst all: a superblock's valid pages fit its D-blocks, and it has a U-block more.
    fn choose_together(&mut self, board: &Board, sbn: Sbn) {
        self.sort_blocks(board, sbn);
        let pages_per_block = board.geometry().pages_per_block;
        let mut pages = 0;
        let last = self.sources.iter().zip(0..).position(|(&(valid, _), place)| {
            pages += valid;
            pages.div_ceil(pages_per_block) <= place
        });
        let last = last.expect("a superblock with a U-block has a block's worth of other pages");
        self.sources.truncate(last + 1);
    }

    fn sort_blocks(&mut self, board: &Board, sbn: Sbn) {
        self.sources.clear();
        let valid = |block: BlockId| (board.nand().valid_pages(block), block);
        self.sources.extend(self.table.blocks(sbn).map(valid));
        self.sources.sort_unstable();
    }

    /// Nothing of a superblock counts as rewritten any more.
    fn forget_rewritten(&mut self, board: &Board, sbn: Sbn) {
        let pages = self.table.pages(sbn, board.geometry());
        for page in pages {
            self.rewritten[page as usize / 32] &= !(1 << (page % 32));
        }
    }

    /// Moves a page within its superblock; the map is looked up first, because it changes.
    fn move_page(
        &mut self,
        board: &mut Board,
        (from, to): (Ppn, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let lpn = lpn_of_page(board, from);
        let known = self.map.lookup(board, lpn, after)?;
        let copied = board.copy(from, to, PageKind::Data, cause, known);
        if let Err(Fault::ProgramFailed { .. }) = copied {
            board.event(Event::ProgramFailures, 1);
        }
        let done = copied?;
        board.nand_mut().discard(from);
        self.index.set(lpn, to);
        self.map.programmed(lpn, to);
        Ok(done)
    }

    /// Erases a block without valid page; `successor` takes its place among the D-blocks.
    fn erase(
        &mut self,
        board: &mut Board,
        (sbn, block): (Sbn, BlockId),
        successor: Option<BlockId>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let role = self.table.role(sbn, block);
        self.map.forget_block(board, block);
        self.table.remove(sbn, block, successor);
        self.supply.removed(board.nand(), block);
        board.level(Level::RandomLogBlocks, u64::from(self.table.in_pool()));
        self.erased.push(board.geometry().plane_of_block(block));
        self.supply.release(board, block, role, cause, after)
    }

    /// Static levelling: what lies in this, the least worn block that was left alone for long moves
    /// to the most worn free block of its plane, if erases are too far apart there. Pages keep
    /// their order; what is left of the new block's room is used like the old one's.
    fn level(
        &mut self,
        board: &mut Board,
        (sbn, block): (Sbn, BlockId),
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(block);
        if self.table.is_full(sbn) {
            return Ok(after);
        }
        if board.nand().valid_pages(block) == 0 {
            board.event(Event::DeadLogBlocks, 1);
            let done = self.erase(board, (sbn, block), None, Cause::Merge, after);
            self.erased.pop();
            return done;
        }
        let (target, ready) = self.supply.take(board, plane, Need::Wear, after)?;
        self.supply.placed(board.nand(), target);
        self.table.add(sbn, target);
        let mut done = ready;
        while let Some(from) = board.nand().state().next_valid(block, 0) {
            let to = board.geometry().page(target, board.nand().state().block(target).top);
            match self.move_page(board, (from, to), Cause::Wear, ready) {
                Ok(copied) => done = done.join(copied),
                // Both blocks stay; the next collection takes the fuller one's pages with the
                // others.
                Err(Fault::ProgramFailed { known, .. }) => return Ok(known),
                Err(fault) => return Err(fault),
            }
        }
        board.event(Event::LevelledBlocks, 1);
        self.table.take_over(sbn, block, target);
        let successor = match self.table.role(sbn, block) {
            BlockRole::Data => Some(target),
            _ => None,
        };
        let erased = self.erase(board, (sbn, block), successor, Cause::Wear, done);
        self.erased.pop();
        erased
    }
}
