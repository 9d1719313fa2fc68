//! Chains of replacement blocks behind data blocks: which blocks belong to a logical block, in what
//! order, how many there are in all, and which chain was written longest ago.
//!
//! What this is not: the data block itself (the block map's), or a judge of what goes where.

use crate::answers::Room;
use crate::parts::data_blocks::Lbn;
use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::choices;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{BlockId, pack, unpack, zeroed};

choices! {
    /// Which chain is folded when blocks are needed.
    pub enum ChainVictim {
        /// The longest; among equals the one written longest ago.
        Longest = "longest",
        /// The one written longest ago.
        Lru = "lru",
    }
}

/// The lists that a place can be in.
const USED: usize = 0;
const FREE: usize = 1;

/// The replacement blocks of one logical block.
#[derive(Clone, Copy, Debug)]
struct Chain {
    owner: Lbn,
    first: BlockId,
    last: BlockId,
    blocks: u32,
}

const NO_CHAIN: Chain = Chain { owner: Lbn(0), first: BlockId(0), last: BlockId(0), blocks: 0 };

/// The part of a key that puts the longest chain on top of a heap.
fn by_most(blocks: u32) -> u64 {
    u64::from(u32::MAX - blocks)
}

/// Every chain that has a replacement block.
#[derive(Clone, Debug)]
pub struct ReplacementChains {
    chains: Vec<Chain>,
    /// Used places by last write, and free ones.
    lists: SlotLists<2>,
    /// Used places, the longest chain on top, the one written longest ago among equals.
    by_length: IndexedHeap,
    /// Writes so far.
    clock: u64,
    /// Place of each logical block's chain, plus one.
    place_of: Vec<u32>,
    /// The next and the previous block of each replacement block's chain, plus one.
    next: Vec<u32>,
    previous: Vec<u32>,
    blocks: u32,
    limit: u32,
}

impl ReplacementChains {
    /// Room for `limit` replacement blocks.
    pub fn new(geometry: &Geometry, limit: u32) -> Self {
        let mut lists = SlotLists::new(limit);
        (0..limit).for_each(|place| lists.push(FREE, Slot(place)));
        ReplacementChains {
            chains: vec![NO_CHAIN; limit as usize],
            lists,
            by_length: IndexedHeap::new(limit),
            clock: 0,
            place_of: zeroed(geometry.logical_blocks() as usize),
            next: zeroed(geometry.blocks() as usize),
            previous: zeroed(geometry.blocks() as usize),
            blocks: 0,
            limit,
        }
    }

    /// RAM of the next page to append to, per replacement block: most chains have but one.
    pub fn position_bytes(limit: u64) -> u64 {
        limit * 2
    }

    /// RAM of the links: 4 bytes per physical block (one way, as in the original).
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks()) * 4
    }

    /// Replacement blocks in use.
    pub fn len(&self) -> u32 {
        self.blocks
    }

    /// Whether none is in use.
    pub fn is_empty(&self) -> bool {
        self.blocks == 0
    }

    /// Replacement blocks that may still be taken.
    pub fn free_blocks(&self) -> u32 {
        self.limit - self.blocks
    }

    /// Free replacement blocks; one is enough.
    pub fn room(&self) -> Room {
        Room { free_blocks: self.free_blocks(), threshold: 1 }
    }

    /// Chains with a replacement block.
    pub fn chains(&self) -> u32 {
        self.lists.len(USED)
    }

    fn chain(&self, lbn: Lbn) -> Option<&Chain> {
        unpack(self.place_of[lbn.index()]).map(|place| &self.chains[place as usize])
    }

    /// Replacement blocks of a logical block.
    pub fn length(&self, lbn: Lbn) -> u32 {
        self.chain(lbn).map_or(0, |chain| chain.blocks)
    }

    /// The longest chain.
    pub fn longest(&self) -> u32 {
        self.by_length.min().map_or(0, |place| self.chains[place.index()].blocks)
    }

    /// The first replacement block of a logical block.
    #[inline]
    pub fn first(&self, lbn: Lbn) -> Option<BlockId> {
        self.chain(lbn).map(|chain| chain.first)
    }

    /// The last replacement block of a logical block.
    #[inline]
    pub fn last(&self, lbn: Lbn) -> Option<BlockId> {
        self.chain(lbn).map(|chain| chain.last)
    }

    /// The replacement block behind this one.
    #[inline]
    pub fn behind(&self, block: BlockId) -> Option<BlockId> {
        unpack(self.next[block.index()]).map(BlockId)
    }

    /// The replacement block before this one.
    #[inline]
    pub fn before(&self, block: BlockId) -> Option<BlockId> {
        unpack(self.previous[block.index()]).map(BlockId)
    }

    /// A logical block was written: its chain is the last to go by age.
    #[inline]
    pub fn touch(&mut self, lbn: Lbn) {
        if let Some(place) = unpack(self.place_of[lbn.index()]) {
            self.lists.remove(Slot(place));
            self.lists.push(USED, Slot(place));
            self.clock += 1;
            let (length, _) = self.by_length.key(Slot(place));
            self.by_length.change(Slot(place), (length, self.clock));
        }
    }

    /// Puts a block at the end of a logical block's chain.
    pub fn append(&mut self, lbn: Lbn, block: BlockId) {
        assert!(self.blocks < self.limit, "{} replacement blocks are the limit", self.limit);
        self.blocks += 1;
        self.next[block.index()] = 0;
        self.previous[block.index()] = 0;
        if let Some(place) = unpack(self.place_of[lbn.index()]) {
            let chain = &mut self.chains[place as usize];
            self.next[chain.last.index()] = pack(Some(block.0));
            self.previous[block.index()] = pack(Some(chain.last.0));
            chain.last = block;
            chain.blocks += 1;
            let (_, written) = self.by_length.key(Slot(place));
            self.by_length.change(Slot(place), (by_most(chain.blocks), written));
        } else {
            let place = self.lists.oldest(FREE).expect("no more chains than blocks");
            self.lists.remove(place);
            self.lists.push(USED, place);
            self.place_of[lbn.index()] = pack(Some(place.0));
            self.chains[place.index()] = Chain { owner: lbn, first: block, last: block, blocks: 1 };
            self.clock += 1;
            self.by_length.push(place, (by_most(1), self.clock));
        }
    }

    /// The chain to fold; `None` if there is none.
    pub fn victim(&self, rule: ChainVictim) -> Option<Lbn> {
        let chosen = match rule {
            ChainVictim::Lru => self.lists.oldest(USED),
            ChainVictim::Longest => self.by_length.min(),
        };
        chosen.map(|place| self.chains[place.index()].owner)
    }

    /// Forgets a chain; returns its first block. The links behind it hold until the blocks are used
    /// anew.
    pub fn dissolve(&mut self, lbn: Lbn) -> Option<BlockId> {
        let place = unpack(std::mem::take(&mut self.place_of[lbn.index()])).map(Slot)?;
        self.lists.remove(place);
        self.lists.push(FREE, place);
        self.by_length.remove(place);
        let chain = self.chains[place.index()];
        self.blocks -= chain.blocks;
        Some(chain.first)
    }
}

/// Which bar of the histogram of chain lengths a folded chain belongs to.
pub fn length_of_folded(replacements: u64) -> Event {
    match replacements {
        0..=1 => Event::FoldedChainsOf1,
        2 => Event::FoldedChainsOf2,
        3..=4 => Event::FoldedChainsOf3To4,
        5..=8 => Event::FoldedChainsOf5To8,
        _ => Event::FoldedChainsOver8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;

    /// Against a list in order of age that is searched from its beginning.
    #[test]
    fn the_longest_chain_and_the_oldest_are_what_a_search_of_all_finds() {
        let mut config = SharedSettings::default();
        config.set("device.blocks_per_plane", "64").expect("legal");
        let geometry = Geometry::new(&config.device);
        let mut chains = ReplacementChains::new(&geometry, 12);
        // Logical block and length, the one written longest ago first.
        let mut model: Vec<(Lbn, u32)> = Vec::new();
        let mut free: Vec<u32> = (0..12).collect();
        let mut used = vec![Vec::new(); 6];
        let mut rng = Rng::new(3, Purpose::Workload);
        let mut ties = 0;
        for _ in 0..5000 {
            let lbn = Lbn(rng.below(6));
            let at = model.iter().position(|&(known, _)| known == lbn);
            match rng.below(3) {
                0 if !free.is_empty() => {
                    let block = free.remove(0);
                    used[lbn.index()].push(block);
                    chains.append(lbn, BlockId(block));
                    match at {
                        Some(at) => model[at].1 += 1,
                        None => model.push((lbn, 1)),
                    }
                }
                1 => {
                    chains.touch(lbn);
                    if let Some(at) = at {
                        let touched = model.remove(at);
                        model.push(touched);
                    }
                }
                _ if rng.below(4) == 0 => {
                    chains.dissolve(lbn);
                    free.append(&mut used[lbn.index()]);
                    model.retain(|&(known, _)| known != lbn);
                }
                _ => {}
            }
            let longest = model.iter().map(|&(_, length)| length).max();
            let first = model.iter().find(|&&(_, length)| Some(length) == longest);
            ties += model.iter().filter(|&&(_, length)| Some(length) == longest).count() / 2;
            assert_eq!(chains.longest(), longest.unwrap_or(0));
            assert_eq!(chains.victim(ChainVictim::Longest), first.map(|&(lbn, _)| lbn));
            assert_eq!(chains.victim(ChainVictim::Lru), model.first().map(|&(lbn, _)| lbn));
        }
        assert!(ties > 500, "{ties} choices among equals");
    }

    /// Keys as they differ, not as they compare roughly: a heap has the smallest on top.
    #[test]
    fn a_longer_chain_is_above_a_shorter_one_however_long_they_are() {
        for blocks in [0, 1, 100_000, u32::MAX - 1] {
            assert_eq!(by_most(blocks), by_most(blocks + 1) + 1, "{blocks}");
        }
    }

    #[test]
    fn chains_are_linked_both_ways_and_counted_against_the_limit() {
        let geometry = Geometry::new(&SharedSettings::default().device);
        let mut chains = ReplacementChains::new(&geometry, 6);
        assert!(chains.is_empty());
        [(2, 5), (7, 6), (2, 8)]
            .into_iter()
            .for_each(|(lbn, block)| chains.append(Lbn(lbn), BlockId(block)));
        assert_eq!((chains.len(), chains.chains(), chains.free_blocks()), (3, 2, 3));
        assert!(!chains.is_empty());
        let all = [2, 7, 1].map(Lbn);
        assert_eq!(all.map(|lbn| chains.length(lbn)), [2, 1, 0]);
        let [first, last] = [5, 8].map(BlockId);
        assert_eq!(all.map(|lbn| chains.first(lbn)), [Some(first), Some(BlockId(6)), None]);
        assert_eq!(all.map(|lbn| chains.last(lbn)), [Some(last), Some(BlockId(6)), None]);
        assert_eq!([first, last].map(|block| chains.behind(block)), [Some(last), None]);
        assert_eq!([first, last].map(|block| chains.before(block)), [None, Some(first)]);
        assert_eq!(ReplacementChains::position_bytes(3), 6);
        let blocks = u64::from(geometry.blocks());
        assert_eq!(ReplacementChains::ram_bytes(&geometry), 4 * blocks);
    }

    #[test]
    fn folded_chains_are_counted_in_bars_that_double() {
        use Event::{
            FoldedChainsOf1, FoldedChainsOf2, FoldedChainsOf3To4, FoldedChainsOf5To8,
            FoldedChainsOver8,
        };
        let bars = [1, 2, 3, 4, 5, 8, 9].map(length_of_folded);
        let (three, five) = (FoldedChainsOf3To4, FoldedChainsOf5To8);
        assert_eq!(
            bars,
            [FoldedChainsOf1, FoldedChainsOf2, three, three, five, five, FoldedChainsOver8]
        );
    }
}
