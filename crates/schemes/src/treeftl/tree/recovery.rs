//! The tree and power cuts.
//!
//! A volatile memory loses the data pages that were not written out; flash alone tells the rest.
//! One that keeps its content (`device.ram_nonvolatile`) loses nothing: changed data pages, and the
//! translation pages with changed entries, are where they were, trims hold, and everything else is
//! read again when it is used. Over a map of pages that recovery programs nothing; over a map of
//! blocks it is the base's, which corrects map pages on flash, and the data pages are where they
//! were.

use super::base::TreeBase;
use super::over_blocks::OverBlocks;
use super::over_pages::{self, OverPages};
use super::{PageTree, Pruning};
use crate::treeftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::demand_mapped::{DemandMapped, Needs};
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::map_recovery::{Entries, Survivor};
use ftlab_ftl::parts::slots::Slot;

/// What is left of a tree when the power goes.
#[derive(Clone, Debug)]
pub struct TreeSurvivor {
    /// Of the map, if more than flash tells.
    map: Option<Survivor>,
    /// Trimmed pages that neither flash nor that map tells of.
    trimmed: Vec<Lpn>,
    /// Data pages newer than flash, that written longest ago first.
    data: Vec<Held>,
    lost: u64,
}

impl<P: Pruning, B: TreeBase> PageTree<P, B> {
    /// The power goes.
    pub(super) fn survivor(&self) -> TreeSurvivor {
        let map = self.base.power_off(self.nonvolatile);
        if self.nonvolatile {
            let trimmed = self.base.unrecorded_trims();
            let data = self.held().dirty().copied().collect();
            return TreeSurvivor { map, trimmed, data, lost: 0 };
        }
        let lost = u64::from(self.held().dirty_data());
        TreeSurvivor { map, trimmed: Vec::new(), data: Vec::new(), lost }
    }

    /// Data pages that survived are in memory again, below their translation pages.
    fn readmit(&mut self, board: &mut Board, (data, lost): (Vec<Held>, u64), when: When) {
        for held in data {
            let map = self.readopt(board, held.lpn, when);
            let (slot, _) = self.held_mut().enter(held.lpn, map);
            self.held_mut().write(slot, held.tag, held.sectors, when);
            let parent = self.held().parent(slot);
            self.order.used_data(board, parent, slot);
        }
        self.levels.note();
        self.tell_levels(board);
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, lost);
    }

    /// A translation page is in memory again; recovery has read it.
    fn readopt(&mut self, board: &mut Board, lpn: Lpn, ready: When) -> Slot {
        let part = self.held().part_of(lpn);
        self.held().maps.find(part).unwrap_or_else(|| {
            let slot = self.base.admit(board, part, ready);
            self.order.loaded(board, slot);
            slot
        })
    }
}

impl<P: Pruning> PageTree<P, OverPages> {
    /// Goes on with what flash and the survivor tell.
    pub(super) fn rebuild(
        board: &mut Board,
        config: &Config<P::Settings>,
        seed: u64,
        survivor: TreeSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let TreeSurvivor { map, data, lost, .. } = survivor;
        let map = map.expect("a map of pages leaves what it knew");
        let needs = Needs::plain(config);
        let cache = over_pages::frames::<P>(board, config);
        // Entries that only a scan told go to flash; those that survived go back to memory.
        let room = if config.device.ram_nonvolatile { u32::MAX } else { 0 };
        let mut changed: Entries = Vec::new();
        let (base, when) = DemandMapped::recover_with(
            board,
            config,
            (&needs, seed),
            (map, room),
            |entries| {
                changed = entries.to_vec();
                cache
            },
            after,
        )?;
        let mut tree = Self::above(board, config, base);
        for (lpn, ppn) in changed {
            tree.readopt(board, lpn, when);
            tree.held_mut().change(lpn, ppn);
        }
        tree.readmit(board, (data, lost), when);
        Ok((tree, when))
    }
}

impl<P: Pruning> PageTree<P, OverBlocks> {
    /// Goes on with what flash and the survivor tell.
    pub(super) fn rebuild(
        board: &mut Board,
        config: &Config<P::Settings>,
        survivor: TreeSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let TreeSurvivor { trimmed, data, lost, .. } = survivor;
        let (mut base, when) = OverBlocks::recover::<P>(board, config, after)?;
        base.trim_again(board, &trimmed);
        let mut tree = Self::above(board, config, base);
        tree.readmit(board, (data, lost), when);
        Ok((tree, when))
    }
}
