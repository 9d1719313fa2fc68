//! Pages of one host request that go to several planes of one die: the clock is told, so that one
//! multi-plane command programs them (`timing.multi_plane_program`).

use super::{PageSpace, Place, Stream};
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
        // Classes fill their blocks at different speeds: offsets would hardly ever meet. Nor does a
        // line know which of its pages a request is.
        if self.lines.is_some() || self.order == PlacementOrder::Dynamic || self.placing.is_some() {
            return;
        }
        let geometry = board.geometry();
        let PageIo { request, lpn, .. } = io;
        // By flash page: the write of its last mapping unit programs it.
        let units = geometry.units_per_flash_page;
        let own = lpn.0 / units;
        let stream = self.next_host_stream(plane, request.pages);
        let offset = self.next_offset((plane, stream));
        // A mapping unit that does not complete its flash page is not programmed yet.
        if !(offset + 1).is_multiple_of(units) {
            return;
        }
        let last = units - 1;
        if lpn.0 % units != last {
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
            let there = self.next_offset((other, stream));
            // One command is of one mode of cells.
            self.next_host_stream(other, request.pages) == stream
                && !self.must_wait((other, stream))
                && there.is_multiple_of(units)
                && (any_offset || there + last == offset)
        };
        let companions = rest.filter(on_die).filter(follows).count() as u32;
        board.nand_mut().announce(plane, companions, io.cause);
    }

    /// Whether the open block of a frontier has a page left.
    pub(super) fn has_page(&self, (plane, stream): Place) -> bool {
        let frontier = &self.planes[plane.index()].frontiers[stream.index()];
        frontier.block.is_some() && frontier.next < self.pages_of(stream)
    }

    /// Place in its block of the next host page in a plane.
    fn next_offset(&self, place: Place) -> u32 {
        let (plane, stream) = place;
        let next = self.planes[plane.index()].frontiers[stream.index()].next;
        if self.has_page(place) { next } else { 0 }
    }

    /// Whether the next host page of a plane waits for a collection, or for a fold.
    fn must_wait(&self, place: Place) -> bool {
        let (plane, stream) = place;
        let short = match stream {
            Stream::Slc => !self.cache_can_open(plane),
            _ => self.planes[plane.index()].free.len() < self.collection_limit(plane),
        };
        !self.has_page(place) && short
    }
}
