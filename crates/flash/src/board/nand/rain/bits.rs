//! A bit for every page, until its block is erased.

use super::super::geometry::Geometry;
use crate::units::{BlockId, Ppn, zeroed};

#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(pages: u32) -> Self {
        Bits(zeroed((pages as usize).div_ceil(64)))
    }

    #[inline]
    pub(super) fn has(&self, page: Ppn) -> bool {
        self.0[page.index() / 64] >> (page.0 % 64) & 1 > 0
    }

    pub(super) fn set(&mut self, page: Ppn) {
        self.0[page.index() / 64] |= 1 << (page.0 % 64);
    }

    pub(super) fn erased(&mut self, geometry: &Geometry, block: BlockId) {
        for offset in 0..geometry.pages_per_block {
            let page = geometry.page(block, offset);
            self.0[page.index() / 64] &= !(1 << (page.0 % 64));
        }
    }
}
