//! The tree and power cuts.
//!
//! A volatile memory loses the data pages that were not written out; flash alone tells the rest. One
//! that keeps its content (`device.ram_nonvolatile`) loses nothing: changed data pages, and the
//! translation pages with changed entries, are where they were, everything else is read again when
//! it is used. That recovery programs nothing, so that it can be cut at any point.

use super::{PageTree, Pruning};
use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::when::When;
use crate::config::Config;
use crate::meter::Event;
use crate::parts::demand_mapped::{DemandMapped, Needs};
use crate::parts::held_pages::Held;
use crate::parts::map_cache::MapCache;
use crate::parts::map_recovery::{Entries, Survivor};
use crate::units::Lpn;

/// What is left of a tree when the power goes.
#[derive(Clone, Debug)]
pub struct TreeSurvivor {
    map: Survivor,
    /// Data pages newer than flash, that written longest ago first.
    data: Vec<Held>,
    lost: u64,
}

impl<P: Pruning> PageTree<P> {
    /// The power goes.
    pub(super) fn survivor(&self) -> TreeSurvivor {
        let nonvolatile = !self.base.records_trims;
        let map = self.base.power_off(nonvolatile);
        if nonvolatile {
            return TreeSurvivor { map, data: self.held().dirty().copied().collect(), lost: 0 };
        }
        TreeSurvivor { map, data: Vec::new(), lost: u64::from(self.held().dirty_data()) }
    }

    /// Goes on with what flash and the survivor tell.
    pub(super) fn rebuild(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: TreeSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let TreeSurvivor { map, data, lost } = survivor;
        let needs = Needs::plain(config);
        let cache = Self::cache(board, config);
        // Entries that only a scan told go to flash; those that survived go back to memory.
        let room = if config.device.ram_nonvolatile { u32::MAX } else { 0 };
        let mut changed: Entries = Vec::new();
        let (base, when) = DemandMapped::recover(
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
        for held in data {
            tree.readopt(board, held.lpn, when);
            let (slot, _) = tree.held_mut().enter(held.lpn);
            tree.held_mut().write(slot, held.tag, held.sectors, when);
            let parent = tree.held().parent(held.lpn);
            tree.order.used_data(board, parent, slot);
        }
        tree.tell_levels(board);
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, lost);
        Ok((tree, when))
    }

    /// A translation page is in memory again; recovery has read it.
    fn readopt(&mut self, board: &mut Board, lpn: Lpn, ready: When) {
        let (part, _) = self.base.map.translation.part_of(lpn);
        if self.held().maps.find(part).is_none() {
            let map = &mut self.base.map;
            let slot = map.cache.maps.insert(board, &map.translation, part, ready);
            self.order.loaded(board, slot);
        }
    }
}
