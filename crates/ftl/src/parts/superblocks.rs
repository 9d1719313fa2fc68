//! Superblocks: runs of adjacent logical blocks that share their physical blocks, and which blocks
//! those are.
//!
//! A superblock of s logical blocks has up to s data blocks; what it has beyond them are update
//! blocks, at most so many for one superblock, and so many for all (the pool). The list of a
//! superblock begins with its data blocks; the oldest update block takes a place that becomes free
//! there, or another that the caller names. Up to two blocks of a superblock have room: one for
//! what is written, one for cold pages that were gathered.
//!
//! What this is not: a judge of which blocks are reclaimed when. That is the scheme's.

#[cfg(test)]
mod tests;

use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::BlockRole;
use ftlab_flash::units::{BlockId, Divisor, Lpn, PlaneId, Ppn, pack, unpack, zeroed};

/// Blocks of a superblock beyond data and update blocks: two that are being filled by a collection,
/// one by levelling, and what failed programs leave half filled meanwhile.
const SURPLUS: u32 = 8;

/// Number of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sbn(pub u32);

impl Sbn {
    /// The number as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a block with room takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Host writes, and pages gathered because they are rewritten often.
    Hot = 0,
    /// Pages gathered that are not.
    Cold = 1,
}

/// Sizes of superblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Logical blocks of a superblock (S).
    pub logical: u32,
    /// Update blocks of one superblock (K).
    pub updates: u32,
    /// Update blocks of all.
    pub pool: u32,
}

/// The blocks of every superblock.
#[derive(Clone, Debug)]
pub struct Superblocks {
    limits: Limits,
    logical_blocks: u32,
    planes: u32,
    by_pages: Divisor,
    /// `places` entries per superblock, each plus one.
    members: Vec<u32>,
    places: u32,
    counts: Vec<u32>,
    /// The block with room of each stream, plus one.
    open: [Vec<u32>; 2],
    /// Superblock of each physical block, plus one.
    owners: Vec<u32>,
    used: u32,
    in_pool: u32,
    /// Superblocks with update blocks, by their last update.
    by_update: SlotLists<1>,
    /// The same, where that is asked for, by the valid pages of the least valid block of each; the
    /// one updated longest ago first among equals.
    by_valid: Option<IndexedHeap>,
    /// Updates so far.
    clock: u64,
}

impl Superblocks {
    /// No block yet. If they are `weighed`, the superblock with the least valid block is known.
    pub fn new(geometry: &Geometry, limits: Limits, weighed: bool) -> Self {
        let count = geometry.logical_blocks().div_ceil(limits.logical);
        let places = limits.logical + limits.updates + SURPLUS;
        Superblocks {
            limits,
            logical_blocks: geometry.logical_blocks(),
            planes: geometry.planes(),
            by_pages: Divisor::new(limits.logical * geometry.pages_per_block),
            members: zeroed(count as usize * places as usize),
            places,
            counts: zeroed(count as usize),
            open: [zeroed(count as usize), zeroed(count as usize)],
            owners: zeroed(geometry.blocks() as usize),
            used: 0,
            in_pool: 0,
            by_update: SlotLists::new(count),
            by_valid: weighed.then(|| IndexedHeap::new(count)),
            clock: 0,
        }
    }

    /// The superblock of a page.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> Sbn {
        Sbn(self.by_pages.quotient(lpn.0))
    }

    /// Logical blocks of a superblock; the last may have fewer. It has as many data blocks at most.
    pub fn share(&self, sbn: Sbn) -> u32 {
        self.limits.logical.min(self.logical_blocks - sbn.0 * self.limits.logical)
    }

    /// Its logical pages.
    pub fn pages(&self, sbn: Sbn, geometry: &Geometry) -> std::ops::Range<u32> {
        let pages = self.limits.logical * geometry.pages_per_block;
        sbn.0 * pages..((sbn.0 + 1) * pages).min(geometry.logical_pages)
    }

    /// Most blocks of a superblock.
    pub fn most(&self) -> u32 {
        self.places
    }

    /// The plane that its blocks lie in: superblock i lives in plane i mod planes.
    pub fn plane(&self, sbn: Sbn) -> PlaneId {
        PlaneId(sbn.0 % self.planes)
    }

    /// Its blocks, data blocks first.
    #[inline]
    pub fn blocks(&self, sbn: Sbn) -> impl ExactSizeIterator<Item = BlockId> + '_ {
        let first = sbn.index() * self.places as usize;
        let members = &self.members[first..first + self.len(sbn) as usize];
        members.iter().map(|&stored| BlockId(stored - 1))
    }

    /// Its update blocks, the oldest first.
    pub fn update_blocks(&self, sbn: Sbn) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks(sbn).skip(self.share(sbn) as usize)
    }

    /// How many blocks it has.
    #[inline]
    pub fn len(&self, sbn: Sbn) -> u32 {
        self.counts[sbn.index()]
    }

    /// Blocks of all superblocks.
    pub fn total(&self) -> u32 {
        self.used
    }

    /// Update blocks of all superblocks.
    pub fn in_pool(&self) -> u32 {
        self.in_pool
    }

    /// Update blocks that may still be taken.
    pub fn free_in_pool(&self) -> u32 {
        self.limits.pool.saturating_sub(self.in_pool)
    }

    /// More update blocks than allowed, after a recovery or a failure.
    #[inline]
    pub fn is_over_pool(&self) -> bool {
        self.in_pool > self.limits.pool
    }

    /// Whether its next block is an update block.
    pub fn needs_update_block(&self, sbn: Sbn) -> bool {
        self.len(sbn) >= self.share(sbn)
    }

    /// Whether it has all the update blocks that it may have.
    pub fn is_exhausted(&self, sbn: Sbn) -> bool {
        self.len(sbn) >= self.share(sbn) + self.limits.updates
    }

    /// Whether there is no place for another block at all.
    pub fn is_full(&self, sbn: Sbn) -> bool {
        self.len(sbn) == self.places
    }

    /// The superblock of a block.
    pub fn owner(&self, block: BlockId) -> Option<Sbn> {
        unpack(self.owners[block.index()]).map(Sbn)
    }

    /// Data block or update block.
    pub fn role(&self, sbn: Sbn, block: BlockId) -> BlockRole {
        if self.place(sbn, block) < self.share(sbn) { BlockRole::Data } else { BlockRole::Log }
    }

    /// Superblocks with update blocks, the one that was updated longest ago first.
    pub fn by_update(&self) -> impl Iterator<Item = Sbn> + '_ {
        self.by_update.from_oldest(0).map(|slot| Sbn(slot.0))
    }

    /// How many those are.
    pub fn updated_superblocks(&self) -> u32 {
        self.by_update.len(0)
    }

    /// The one of them whose least valid block has fewest valid pages, where they are weighed.
    pub fn fewest_valid(&self) -> Option<Sbn> {
        self.by_valid.as_ref()?.min().map(|slot| Sbn(slot.0))
    }

    /// Valid pages of a superblock's blocks changed.
    #[inline]
    pub fn weigh(&mut self, nand: &Nand, sbn: Sbn) {
        let known = self.by_valid.as_ref().filter(|heap| heap.contains(Slot(sbn.0)));
        let Some((_, updated)) = known.map(|heap| heap.key(Slot(sbn.0))) else { return };
        let least = self.least_valid(nand, sbn);
        let heap = self.by_valid.as_mut().expect("weighed");
        heap.change(Slot(sbn.0), (least, updated));
    }

    fn least_valid(&self, nand: &Nand, sbn: Sbn) -> u64 {
        let valid = self.blocks(sbn).map(|block| nand.valid_pages(block));
        u64::from(valid.min().expect("it has an update block"))
    }

    /// The host wrote a page of a superblock.
    #[inline]
    pub fn updated(&mut self, sbn: Sbn) {
        if self.by_update.list_of(Slot(sbn.0)).is_some() {
            self.by_update.renew(Slot(sbn.0));
            self.clock += 1;
            if let Some(heap) = &mut self.by_valid {
                let (least, _) = heap.key(Slot(sbn.0));
                heap.change(Slot(sbn.0), (least, self.clock));
            }
        }
    }

    /// The block with room of a stream, and its next offset.
    #[inline]
    pub fn open(&self, nand: &Nand, sbn: Sbn, stream: Stream) -> Option<(BlockId, u32)> {
        let block = unpack(self.open[stream as usize][sbn.index()]).map(BlockId)?;
        let known = nand.state().block(block);
        let room = !known.read_only && known.top < nand.geometry().pages_per_block;
        room.then_some((block, known.top))
    }

    /// The next page of a stream.
    #[inline]
    pub fn next_page(&self, nand: &Nand, sbn: Sbn, stream: Stream) -> Option<Ppn> {
        let (block, top) = self.open(nand, sbn, stream)?;
        Some(nand.geometry().page(block, top))
    }

    /// Pages that a stream takes without another block.
    pub fn room(&self, nand: &Nand, sbn: Sbn, stream: Stream) -> u32 {
        let pages = nand.geometry().pages_per_block;
        self.open(nand, sbn, stream).map_or(0, |(_, top)| pages - top)
    }

    /// The block that a stream writes from now on, if any.
    pub fn set_open(&mut self, sbn: Sbn, stream: Stream, block: Option<BlockId>) {
        self.open[stream as usize][sbn.index()] = pack(block.map(|block| block.0));
    }

    /// Adds a block behind the others.
    pub fn add(&mut self, sbn: Sbn, block: BlockId) {
        assert!(!self.is_full(sbn), "superblock {} has {} blocks already", sbn.0, self.places);
        let place = sbn.index() * self.places as usize + self.len(sbn) as usize;
        self.members[place] = pack(Some(block.0));
        self.owners[block.index()] = pack(Some(sbn.0));
        self.counts[sbn.index()] += 1;
        self.used += 1;
        if self.len(sbn) > self.share(sbn) {
            self.in_pool += 1;
            if self.len(sbn) == self.share(sbn) + 1 {
                self.by_update.push(0, Slot(sbn.0));
                self.clock += 1;
                if let Some(heap) = &mut self.by_valid {
                    heap.push(Slot(sbn.0), (0, self.clock));
                }
            }
        }
    }

    /// Takes a block out; if it was a data block, `successor` takes its place, or the oldest update
    /// block does.
    pub fn remove(&mut self, sbn: Sbn, block: BlockId, successor: Option<BlockId>) {
        let first = sbn.index() * self.places as usize;
        let mut gap = self.place(sbn, block);
        if let Some(successor) = successor {
            let from = self.place(sbn, successor);
            self.members[first + gap as usize] = pack(Some(successor.0));
            gap = from;
        }
        let end = first + self.len(sbn) as usize;
        self.members.copy_within(first + gap as usize + 1..end, first + gap as usize);
        self.members[end - 1] = 0;
        self.owners[block.index()] = 0;
        for open in &mut self.open {
            if open[sbn.index()] == pack(Some(block.0)) {
                open[sbn.index()] = 0;
            }
        }
        if self.len(sbn) > self.share(sbn) {
            self.in_pool -= 1;
            if self.len(sbn) == self.share(sbn) + 1 {
                self.by_update.remove(Slot(sbn.0));
                if let Some(heap) = &mut self.by_valid {
                    heap.remove(Slot(sbn.0));
                }
            }
        }
        self.counts[sbn.index()] -= 1;
        self.used -= 1;
    }

    /// A block's pages moved to `target`, which takes the next pages of the streams that wrote
    /// there.
    pub fn take_over(&mut self, sbn: Sbn, block: BlockId, target: BlockId) {
        for open in &mut self.open {
            if open[sbn.index()] == pack(Some(block.0)) {
                open[sbn.index()] = pack(Some(target.0));
            }
        }
    }

    /// Lists, owners, counts and weights agree.
    pub fn self_check(&self, nand: &Nand) -> Result<(), String> {
        if let Some(heap) = &self.by_valid {
            let wrong = |sbn: &Sbn| heap.key(Slot(sbn.0)).0 != self.least_valid(nand, *sbn);
            if heap.count() != self.by_update.len(0) || self.by_update().any(|sbn| wrong(&sbn)) {
                return Err("superblocks are not in order of their least valid blocks".into());
            }
        }
        let (mut used, mut in_pool) = (0, 0);
        for sbn in (0..self.counts.len() as u32).map(Sbn) {
            used += self.len(sbn);
            in_pool += self.len(sbn).saturating_sub(self.share(sbn));
            if let Some(block) = self.blocks(sbn).find(|&block| self.owner(block) != Some(sbn)) {
                return Err(format!("superblock {} lists block {block}, not its own", sbn.0));
            }
        }
        let owned = self.owners.iter().filter(|&&owner| owner != 0).count() as u32;
        if (used, in_pool, owned) == (self.used, self.in_pool, self.used) {
            return Ok(());
        }
        Err(format!(
            "superblocks list {used} blocks ({in_pool} to update), own {owned}, and count {} ({})",
            self.used, self.in_pool
        ))
    }

    fn place(&self, sbn: Sbn, block: BlockId) -> u32 {
        let place = self.blocks(sbn).position(|known| known == block);
        place.expect("a block of this superblock") as u32
    }
}
