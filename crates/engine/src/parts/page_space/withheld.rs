//! Data blocks that are closed but withheld from collection, for schemes that tell the map late
//! where their pages are: such a block becomes a candidate when its owner says so.

use super::{PageSpace, Stream};
use crate::board::nand::Nand;
use crate::board::nand::geometry::Geometry;
use crate::units::{BlockId, PlaneId, zeroed};

/// The withheld blocks of the device.
#[derive(Clone, Debug)]
pub(super) struct Withheld {
    /// Per plane: what the host wrote, and what was moved, in the order in which it was closed.
    lists: Vec<[Vec<BlockId>; 2]>,
    /// 1 for a block in a list.
    member: Vec<u8>,
}

impl Withheld {
    fn new(geometry: &Geometry) -> Self {
        let most = geometry.blocks_per_plane as usize;
        let lists = || [Vec::with_capacity(most), Vec::with_capacity(most)];
        Withheld {
            lists: (0..geometry.planes()).map(|_| lists()).collect(),
            member: zeroed(geometry.blocks() as usize),
        }
    }
}

impl PageSpace {
    /// From now on closed data blocks are withheld, and moved data has a frontier of its own whatever
    /// `gc.separate_frontiers` says.
    pub fn withhold(&mut self, nand: &Nand) {
        self.moved_data = Stream::MovedData;
        self.withheld = Some(Withheld::new(nand.geometry()));
    }

    /// The same after a power cut; `blocks` hold pages of which the map does not know yet.
    pub fn withhold_again(&mut self, nand: &Nand, blocks: impl Iterator<Item = BlockId>) {
        self.withhold(nand);
        for block in blocks {
            let plane = nand.geometry().plane_of_block(block);
            let frontiers = &self.planes[plane.index()].frontiers;
            if !frontiers.iter().any(|frontier| frontier.block == Some(block)) {
                self.is_candidate_no_more(nand, block);
                self.hold(nand, block);
            }
        }
    }

    /// Data blocks of a stream that are open or withheld in a plane.
    #[inline]
    pub fn update_blocks(&self, plane: PlaneId, stream: Stream) -> u32 {
        let is_open = |frontier: &super::Frontier| {
            let holds = |block: BlockId| self.stream_of[block.index()] == stream as u8 + 1;
            frontier.block.is_some_and(holds)
        };
        let open = self.planes[plane.index()].frontiers.iter().filter(|f| is_open(f)).count();
        open as u32 + self.withheld(plane, stream).len() as u32
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
        for list in &mut held.lists[plane.index()] {
            list.retain(|&other| other != block);
        }
        self.is_in_use(nand, block);
        self.planes[plane.index()].victims.closed(nand, block);
    }

    /// Whether the next page of a stream takes a fresh block. A full one is closed.
    #[inline]
    pub fn needs_block(&mut self, nand: &Nand, plane: PlaneId, stream: Stream) -> bool {
        let frontier = self.planes[plane.index()].frontiers[stream as usize];
        if frontier.block.is_some() && frontier.next < self.pages_per_block {
            return false;
        }
        self.close(nand, plane, stream);
        true
    }

    fn list_of(stream: Stream) -> usize {
        match stream {
            Stream::Data => 0,
            Stream::MovedData => 1,
            Stream::Map | Stream::Worn => unreachable!("only data is withheld, by what it is"),
        }
    }

    /// Whether a block is withheld when it is closed.
    pub(super) fn holds_back(&self, block: BlockId) -> bool {
        self.withheld.is_some() && !self.is_map(block)
    }

    pub(super) fn hold(&mut self, nand: &Nand, block: BlockId) {
        let plane = nand.geometry().plane_of_block(block);
        let moved = self.stream_of[block.index()] == Stream::MovedData as u8 + 1;
        let stream = if moved { Stream::MovedData } else { Stream::Data };
        if let Some(levelling) = &mut self.levelling {
            levelling.removed(plane, block.0 - nand.geometry().blocks_of(plane).start);
        }
        let held = self.withheld.as_mut().expect("this space withholds blocks");
        held.member[block.index()] = 1;
        held.lists[plane.index()][Self::list_of(stream)].push(block);
    }
}
