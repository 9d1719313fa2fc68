//! Mapping units smaller than a flash page: what a map entry points to is a unit, what the cells
//! read and program is a flash page of several.
//!
//! Everywhere else in the engine a page is a mapping unit. Units written one after another to a
//! block gather in the controller, which programs the flash page when its last unit is there
//! (write coalescing); until then they are read from there at no cost, and capacitors save them
//! from a power cut, as in drives that acknowledge such writes. A flash page that was just sensed
//! stays in its plane's register, so that its other units cost a transfer each and no cell time.
//! The model is ours; unit and page sizes are those of drives with 4 KiB maps over 16 KiB pages.

use super::geometry::Geometry;
use crate::units::{PlaneId, Ppn};

/// Where a unit is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The controller, where it waits for the rest of its flash page.
    Gathered,
    /// The register of its plane.
    Register,
    /// The cells.
    Cells,
}

/// Flash pages made of mapping units.
#[derive(Clone, Debug)]
pub struct Units {
    per_page: u32,
    /// Flash page in each plane's register plus one; 0: none.
    register: Vec<u32>,
}

impl Units {
    /// Empty registers.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let per_page = geometry.units_per_flash_page;
        let planes = if per_page == 1 { 0 } else { geometry.planes() as usize };
        Units { per_page, register: vec![0; planes] }
    }

    /// Whether units are smaller than flash pages.
    #[inline]
    pub(super) fn are_small(&self) -> bool {
        self.per_page > 1
    }

    /// Whether a program of this unit completes its flash page.
    #[inline]
    pub(super) fn completes(&self, ppn: Ppn) -> bool {
        self.per_page == 1 || (ppn.0 + 1).is_multiple_of(self.per_page)
    }

    /// Where a unit of a block written up to `top` is read from. `offset` is its place in the block.
    pub(super) fn source(&self, (plane, ppn): (PlaneId, Ppn), offset: u32, top: u32) -> Source {
        let gathered = top - top % self.per_page;
        if offset >= gathered {
            Source::Gathered
        } else if self.register[plane.index()] == ppn.0 / self.per_page + 1 {
            Source::Register
        } else {
            Source::Cells
        }
    }

    /// A flash page was sensed.
    pub(super) fn sensed(&mut self, plane: PlaneId, ppn: Ppn) {
        self.register[plane.index()] = ppn.0 / self.per_page + 1;
    }

    /// A plane's register holds something else now.
    #[inline]
    pub(super) fn used(&mut self, plane: PlaneId) {
        if self.are_small() {
            self.register[plane.index()] = 0;
        }
    }
}
