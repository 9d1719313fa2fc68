//! Levelling of wear: which free block is taken for what, and when data that nobody rewrites must
//! leave a block that is hardly worn.
//!
//! `none`: free blocks as `alloc.policy` orders them. `implicit`: the free block with fewest
//! erases, whatever for (FlashSim's rule, `docs/papers/others.md#flash-rules`). `dynamic`: the
//! least worn one for host writes, the most worn one for data that is moved, which has shown that
//! it lives long. `static`: `implicit`, and once the erases of a plane's blocks are more than
//! `wear.spread` apart, data moves from the least worn block that was left alone for long to the
//! most worn free one. One block moves per reclaimed one, and only if it gains more than half the
//! spread, so that levelling cannot feed itself.
//!
//! What this is not: a mover. Page-mapped and log-block parts move their data in their own ways.

use std::collections::VecDeque;

use crate::parts::alloc::FreeOrder;
use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use crate::settings::SharedSettings;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::settings::WearPolicy;
use ftlab_flash::units::{BlockId, PlaneId, zeroed};

/// How a pool of free blocks hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeRule {
    /// Which block is next.
    pub order: FreeOrder,
    /// Whether the most worn one can be asked for as well; then blocks never used count as blocks
    /// without an erase, however many there are.
    pub both_ends: bool,
}

impl FreeRule {
    /// What the settings ask for, which were checked together.
    pub fn of(config: &SharedSettings) -> Self {
        let policy = config.wear.policy;
        let own = if policy == WearPolicy::None { FreeOrder::Fifo } else { FreeOrder::MinErase };
        FreeRule {
            order: config.alloc.policy.0.unwrap_or(own),
            both_ends: matches!(policy, WearPolicy::Dynamic | WearPolicy::Static),
        }
    }
}

/// Where data lies that may be moved, by plane: a closed block, or the data block of a logical one.
/// Nodes are numbers within the plane.
#[derive(Clone, Debug)]
pub struct Levelling {
    planes: Vec<PlaneWear>,
    spread: u32,
}

#[derive(Clone, Debug)]
struct PlaneWear {
    /// Most erases of a block.
    most: u32,
    /// Erases of all blocks since the start, or the last recovery.
    erased: u64,
    /// Placed so recently that it may be hot: node, its placement, erases of the plane by then.
    recent: VecDeque<(u32, u64, u64)>,
    /// Most of them.
    recent_max: usize,
    /// Number of each node's last placement; 0: holds nothing that could be moved.
    placement: Vec<u64>,
    placements: u64,
    /// Erases of the block where each node is.
    worn: Vec<u32>,
    /// Left alone for long, the least worn first.
    cold: IndexedHeap,
    /// Erases of the plane after which what was not placed anew counts as cold.
    age: u64,
}

impl Levelling {
    /// For `nodes` nodes per plane; nothing unless `wear.policy = static`.
    pub fn new(config: &SharedSettings, nand: &Nand, nodes: u32) -> Option<Self> {
        if config.wear.policy != WearPolicy::Static {
            return None;
        }
        let plane = |_| PlaneWear::new(nodes, nand.geometry().blocks_per_plane);
        let planes = (0..nand.geometry().planes()).map(plane).collect();
        Some(Levelling { planes, spread: config.wear.spread })
    }

    /// After a power cut: the erases that blocks have had are known from the flash. Those of blocks
    /// that are `set_aside` are none of its business.
    pub fn recover(&mut self, nand: &Nand, set_aside: impl Fn(BlockId) -> bool) {
        for (number, plane) in (0u32..).zip(&mut self.planes) {
            let blocks = nand.geometry().blocks_of(PlaneId(number)).map(BlockId);
            let levelled = blocks.filter(|&block| !set_aside(block));
            let erases = levelled.map(|block| nand.state().block(block));
            let usable = erases.filter(|known| !known.retired).map(|known| known.erases);
            plane.most = usable.max().unwrap_or(0);
        }
    }

    /// A node's data now lies in a block with so many erases.
    pub fn placed(&mut self, plane: PlaneId, node: u32, erases: u32) {
        self.planes[plane.index()].placed(node, erases);
    }

    /// A node's data is gone, or about to be moved.
    pub fn removed(&mut self, plane: PlaneId, node: u32) {
        self.planes[plane.index()].removed(node);
    }

    /// A block was erased, for the `erases`-th time.
    pub fn erased(&mut self, plane: PlaneId, erases: u32) {
        let known = &mut self.planes[plane.index()];
        known.erased += 1;
        known.most = known.most.max(erases);
    }

    /// The node whose data should move into a free block with `worn` erases, if any should.
    pub fn due(&mut self, plane: PlaneId, worn: u32) -> Option<u32> {
        let known = &mut self.planes[plane.index()];
        known.age_recent();
        let coldest = known.cold.min()?.0;
        let erases = known.worn[coldest as usize];
        let apart = known.most.saturating_sub(erases) > self.spread;
        let gains = worn > erases.saturating_add(self.spread / 2);
        (apart && gains).then_some(coldest)
    }
}

impl PlaneWear {
    fn new(nodes: u32, blocks: u32) -> Self {
        let most_recent = 2 * (nodes as usize + blocks as usize);
        PlaneWear {
            most: 0,
            erased: 0,
            recent: VecDeque::with_capacity(most_recent),
            recent_max: most_recent,
            placement: zeroed(nodes as usize),
            placements: 0,
            worn: zeroed(nodes as usize),
            cold: IndexedHeap::new(nodes),
            age: u64::from(blocks),
        }
    }

    fn placed(&mut self, node: u32, erases: u32) {
        self.removed(node);
        self.placements += 1;
        self.placement[node as usize] = self.placements;
        self.worn[node as usize] = erases;
        if self.recent.len() == self.recent_max {
            self.settle_oldest();
        }
        self.recent.push_back((node, self.placements, self.erased));
    }

    fn removed(&mut self, node: u32) {
        self.placement[node as usize] = 0;
        if self.cold.contains(Slot(node)) {
            self.cold.remove(Slot(node));
        }
    }

    /// What was placed long ago and not since is cold.
    fn age_recent(&mut self) {
        while self.recent.front().is_some_and(|oldest| oldest.2 + self.age <= self.erased) {
            self.settle_oldest();
        }
    }

    fn settle_oldest(&mut self) {
        let Some((node, placement, _)) = self.recent.pop_front() else { return };
        if self.placement[node as usize] == placement {
            let key = (u64::from(self.worn[node as usize]), u64::from(node));
            self.cold.push(Slot(node), key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::board::nand::restore::StoredBlock;
    use ftlab_flash::settings::Groups as _;

    fn levelling(pairs: &[(&str, &str)]) -> Option<Levelling> {
        let mut config = SharedSettings::default();
        config.set("device.blocks_per_plane", "4").expect("legal");
        for (key, value) in pairs {
            config.set(key, value).expect("legal");
        }
        let board = ftlab_flash::board::Board::new(&config, 1, 0);
        Levelling::new(&config, board.nand(), 4)
    }

    #[test]
    fn only_static_levelling_moves_data() {
        assert!(levelling(&[]).is_none() && levelling(&[("wear.policy", "dynamic")]).is_none());
    }

    /// Four blocks: after four erases without being placed anew data is cold; the least worn of it
    /// moves once the erases are more than 10 apart and the free block is worn enough.
    #[test]
    fn the_least_worn_of_what_is_cold_moves_when_the_spread_is_exceeded() {
        let pairs = [("wear.policy", "static"), ("wear.spread", "10")];
        let mut levelling = levelling(&pairs).expect("static");
        let plane = PlaneId(0);
        for (node, erases) in [(0, 3), (1, 2), (2, 5), (3, 1)] {
            levelling.placed(plane, node, erases);
        }
        for erases in [9, 10, 11] {
            levelling.erased(plane, erases);
        }
        levelling.placed(plane, 3, 2);
        assert_eq!(levelling.due(plane, 13), None, "nothing is cold yet");
        levelling.erased(plane, 12);
        assert_eq!(levelling.due(plane, 13), None, "12 - 2 is not more than 10");
        levelling.erased(plane, 13);
        assert_eq!(levelling.due(plane, 7), None, "7 is not more than 2 + 5");
        assert_eq!(levelling.due(plane, 8), Some(1), "not node 3, which was placed anew");
        levelling.removed(plane, 1);
        assert_eq!(levelling.due(plane, 8), None, "node 0 is at 3");
        levelling.erased(plane, 14);
        assert_eq!(levelling.due(plane, 9), Some(0));
    }

    /// Before a power cut block 3 was erased twelve times, and block 2, which is retired, twenty
    /// times. What lies in a block that was never erased is due to move when it is cold, though no
    /// erase since the cut was of a block as worn; the retired block calls for nothing.
    #[test]
    fn after_a_power_cut_the_erases_of_flash_say_how_far_apart_they_are() {
        let mut config = SharedSettings::default();
        for (key, value) in
            [("device.blocks_per_plane", "4"), ("wear.policy", "static"), ("wear.spread", "10")]
        {
            config.set(key, value).expect("legal");
        }
        let due_with = |worn: [u32; 2], set_aside: Option<BlockId>| {
            let mut board = ftlab_flash::board::Board::new(&config, 1, 0);
            for (block, erases) in [(3, worn[0]), (2, worn[1])] {
                let known = board.nand().stored_block(BlockId(block));
                let known = StoredBlock { erases, retired: block == 2, ..known };
                board.nand_mut().restore_block(BlockId(block), known).expect("legal");
            }
            let mut levelling = Levelling::new(&config, board.nand(), 4).expect("static");
            levelling.recover(board.nand(), |block| set_aside == Some(block));
            levelling.placed(PlaneId(0), 0, 0);
            (0..4).for_each(|_| levelling.erased(PlaneId(0), 1));
            levelling.due(PlaneId(0), 12)
        };
        assert_eq!(due_with([12, 20], None), Some(0));
        assert_eq!(due_with([10, 20], None), None, "10 - 0 is not more than 10");
        assert_eq!(due_with([12, 20], Some(BlockId(3))), None, "others level that block");
    }
}
