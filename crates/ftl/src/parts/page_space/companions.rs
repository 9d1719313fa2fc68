//! Pages of one host request that go to several planes of one die: the clock is told, so that one
//! multi-plane command programs them (`timing.multi_plane_program`).

use super::{PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::PlacementOrder;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, PlaneId};

impl PageSpace {
    /// The plane that takes a host page. The first page of a request on a die announces those that
    /// follow on its other planes in the same turn of the static order.
    #[inline(always)]
    pub fn place_host(&self, board: &mut Board, io: &PageIo) -> PlaneId {
        let plane = self.place(board.nand(), io.lpn);
        if io.request.pages > 1 && board.nand().clock().takes_announcements() {
            self.announce(board, io, plane);
        }
        plane
    }

    #[cold]
    fn announce(&self, board: &mut Board, io: &PageIo, plane: PlaneId) {
        // Classes fill their blocks at different speeds: offsets would hardly ever meet.
        if self.order == PlacementOrder::Dynamic || self.placing.is_some() {
            return;
        }
        let geometry = board.geometry();
        let PageIo { request, lpn, .. } = io;
        // By flash page: the write of its last mapping unit programs it.
        let units = geometry.units_per_flash_page;
        let own = lpn.0 / units;
        let offset = self.next_offset(plane);
        // A mapping unit that does not complete its flash page is not programmed yet.
        if !(offset + 1).is_multiple_of(geometry.units_per_flash_page) {
            return;
        }
        let last = units - 1;
        if lpn.0 % units != last || offset % units != last {
            return;
        }
        let (first, end) = (request.first_lpn.0, request.first_lpn.0 + request.pages);
        let turn = own - own % geometry.planes();
        let plane_of = |flash_page| self.place(board.nand(), Lpn(flash_page * units));
        let on_die = |page: &u32| geometry.die_of(plane_of(*page)) == geometry.die_of(plane);
        if (turn.max(first.div_ceil(units))..own).any(|page| on_die(&page)) {
            return;
        }
        let any_offset = !board.nand().clock().joins_same_offsets_only();
        let rest = own + 1..turn.saturating_add(geometry.planes()).min(end / units);
        let follows = |page: &u32| {
            let other = plane_of(*page);
            let there = self.next_offset(other);
            !self.must_collect(other)
                && there.is_multiple_of(units)
                && (any_offset || there + last == offset)
        };
        let companions = rest.filter(on_die).filter(follows).count() as u32;
        board.nand_mut().announce(plane, companions, io.cause);
    }

    /// Place in its block of the next host page in a plane.
    fn next_offset(&self, plane: PlaneId) -> u32 {
        let frontier = &self.planes[plane.index()].frontiers[Stream::Data.index()];
        match frontier.block {
            Some(_) if frontier.next < self.pages_per_block => frontier.next,
            _ => 0,
        }
    }

    /// Whether the next host page of a plane waits for a collection.
    fn must_collect(&self, plane: PlaneId) -> bool {
        let known = &self.planes[plane.index()];
        let frontier = &known.frontiers[Stream::Data.index()];
        let has_page = frontier.block.is_some() && frontier.next < self.pages_per_block;
        !has_page && known.free.len() < self.collection_limit(plane)
    }
}
