//! The tree over a map of pages: DFTL's blocks, translation pages and collection.

use super::base::TreeBase;
use super::{Frames, PageTree, Pruning, sizes};
use crate::treeftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::answers::Room;
use ftlab_ftl::parts::cached_map::CachedMap;
use ftlab_ftl::parts::demand_mapped::{DemandMapped, Needs, Written};
use ftlab_ftl::parts::map_cache::Known;
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::slots::Slot;

/// The map of pages; the frames stand where other schemes have their cache.
pub type OverPages = DemandMapped<Frames>;

pub(super) fn frames<P: Pruning>(board: &Board, config: &Config<P::Settings>) -> Frames {
    let (maps, data) = sizes::slots::<P>(config);
    Frames::new(board.geometry(), maps, data, config.own.treeftl.gc_cached)
}

impl<P: Pruning> PageTree<P, OverPages> {
    /// An empty tree above an erased device.
    pub(super) fn over_pages(board: &Board, config: &Config<P::Settings>, seed: u64) -> Self {
        let frames = frames::<P>(board, config);
        let base = DemandMapped::new(board, config, &Needs::plain(config), frames, seed);
        Self::above(board, config, base)
    }
}

/// An entry as flash has it, whose translation page is in a frame.
#[inline(always)]
fn on_flash(
    map: &CachedMap<Frames>,
    board: &Board,
    (slot, offset): (Slot, u32),
    lpn: Lpn,
) -> Option<Ppn> {
    match map.translation.has_astray() {
        true => map.translation.entry(board, lpn),
        false => map.translation.entry_at(board, (map.cache.maps.part(slot), offset)),
    }
}

impl TreeBase for OverPages {
    const IN_ORDER: bool = false;

    #[inline]
    fn frames(&self) -> &Frames {
        &self.map.cache
    }

    #[inline]
    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.map.cache
    }

    #[inline(always)]
    fn load(&self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        DemandMapped::load(self, board, part, after)
    }

    #[inline(always)]
    fn admit(&mut self, board: &Board, part: u32, ready: When) -> Slot {
        self.map.cache.maps.insert(board, &self.map.translation, part, ready)
    }

    #[inline(always)]
    fn write_map(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        self.rewrite_whole_part(board, part, Cause::Translate, after)
    }

    #[inline]
    fn needs_old(&self, io: &PageIo) -> bool {
        DemandMapped::needs_old(self, io)
    }

    #[inline]
    fn current(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        self.map.current(board, lpn)
    }

    #[inline]
    fn search(
        &self,
        board: &mut Board,
        lpn: Lpn,
        known: When,
    ) -> Result<(When, Option<Ppn>), Fault> {
        // A map page without a frame was read for this page alone.
        Ok((known, self.map.current(board, lpn)))
    }

    #[inline(always)]
    fn search_at(
        &self,
        board: &mut Board,
        (map, offset): (Slot, u32),
        lpn: Lpn,
        known: When,
    ) -> Result<(When, Option<Ppn>), Fault> {
        let entry = match self.map.cache.maps.look_at(map, offset) {
            Known::Entry(entry) => entry,
            Known::AsOnFlash | Known::No => on_flash(&self.map, board, (map, offset), lpn),
        };
        Ok((known, entry))
    }

    #[inline]
    fn find_ahead(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        self.map.translation.glance(board, lpn)
    }

    #[inline(always)]
    fn write(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        DemandMapped::write(self, board, io, known)
    }

    #[inline(always)]
    fn write_at(
        &mut self,
        board: &mut Board,
        place: (Slot, u32),
        io: &PageIo,
        known: When,
    ) -> Result<When, Fault> {
        let new = match self.write_shortly(board, io) {
            Written::Shortly(new) => new,
            Written::Not(plane) => return self.write_with_care(board, *io, plane, known),
        };
        let old = match self.map.cache.maps.exchange_at(place, Some(new)) {
            Known::Entry(old) => old,
            Known::AsOnFlash | Known::No => on_flash(&self.map, board, place, io.lpn),
        };
        Ok(self.finish_write(board, io, (old, new), known))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        DemandMapped::trim(self, board, io.lpn, known)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        DemandMapped::flush(self, board, after)
    }

    fn changed_entries(&self) -> u64 {
        DemandMapped::changed_entries(self)
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        DemandMapped::clean_map(self, board, after)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        DemandMapped::idle(self, board, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)
    }

    fn room(&self) -> Room {
        DemandMapped::room(self)
    }

    fn power_off(&self, nonvolatile: bool) -> Option<Survivor> {
        Some(DemandMapped::power_off(self, nonvolatile))
    }

    /// The map that is left says it.
    fn unrecorded_trims(&self) -> Vec<Lpn> {
        Vec::new()
    }
}
