//! What outlives a power cut where memory may be non-volatile as a whole.

use super::{DemandMapped, Needs};
use crate::parts::map_cache::MapCache;
use crate::parts::map_recovery::Survivor;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn};

/// Nothing but the flash, or the directory and the cache as it is.
///
/// A cache that survives is not written out: a recovery that is cut begins again from the same
/// memory, which must still say where the map is.
#[derive(Clone, Debug)]
pub struct Kept<C> {
    map: Survivor,
    cache: Option<C>,
}

impl<C: MapCache> DemandMapped<C> {
    /// The power goes; under `device.ram_nonvolatile` memory keeps everything.
    pub fn keep(self) -> Kept<C> {
        let nonvolatile = !self.records_trims;
        let map = self.power_off(nonvolatile);
        Kept { map, cache: nonvolatile.then_some(self.map.cache) }
    }
}

impl<C: MapCache> Kept<C> {
    /// Goes on with the cache that survived; without one, with what flash tells: changed entries
    /// that `room` has place for go to `empty`, more of them are written to their translation
    /// pages.
    pub fn recover(
        self,
        board: &mut Board,
        config: &SharedSettings,
        needs: (&Needs, u64),
        (room, mut empty): (u32, C),
        after: When,
    ) -> Result<(DemandMapped<C>, When), Fault> {
        let room = if self.cache.is_some() { u32::MAX } else { room };
        let again = |changed: &[(Lpn, Option<Ppn>)]| match self.cache {
            Some(kept) => {
                let known = changed.iter().all(|&(lpn, ppn)| kept.entry(lpn) == Some(ppn));
                assert!(known, "what memory kept is the map");
                kept
            }
            None => {
                empty.fill(changed);
                empty
            }
        };
        DemandMapped::recover_with(board, config, needs, (self.map, room), again, after)
    }
}
