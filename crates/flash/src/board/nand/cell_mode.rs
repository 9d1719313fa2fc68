//! Modes of cells: as many bits in each as the part has, or one (SLC mode).
//!
//! The law: a block's mode is chosen by its first program after an erase and holds until the next
//! one. With one bit a cell a word line holds one page and not as many as the part has bits, so
//! that a block of P pages has P / bits of them; it is faster, and wears differently. An erase
//! counts as of the mode that it ends. Which blocks are used how a scheme decides. A part with
//! dense cells never takes the gate's short way, others pay nothing.

use super::geometry::Geometry;
use crate::board::settings::DeviceSettings;
use crate::units::{BlockId, zeroed};

/// How many bits each cell of a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMode {
    /// As many as the part has.
    Dense,
    /// One.
    Slc,
}

/// The modes of the blocks of a part with more than one bit a cell; of others nothing is kept.
#[derive(Clone, Debug)]
pub struct CellModes {
    /// Pages of a block in SLC mode.
    slc_pages: u32,
    /// 1: the block is in SLC mode, or will be with its first program.
    slc: Vec<u8>,
    /// Erases that ended SLC mode, since the device was built and before measuring began.
    erases: Vec<u32>,
    erases_before: Vec<u32>,
    /// Cycles that a block endures in dense mode and in SLC mode, where blocks die of age.
    endurance: Option<(u64, u64)>,
}

impl CellModes {
    /// Every block erased.
    pub(super) fn new(device: &DeviceSettings, geometry: &Geometry, blocks_die: bool) -> Self {
        let blocks = if device.bits_per_cell > 1 { geometry.blocks() as usize } else { 0 };
        let endurance = (device.endurance_cycles, device.slc_endurance_cycles);
        CellModes {
            slc_pages: geometry.slc_pages(),
            slc: zeroed(blocks),
            erases: zeroed(blocks),
            erases_before: zeroed(blocks),
            endurance: blocks_die.then_some(endurance),
        }
    }

    /// Whether blocks can be used in either mode.
    #[inline]
    pub fn are_there(&self) -> bool {
        !self.slc.is_empty()
    }

    /// The mode of a block; of an erased one that which its first program will have.
    #[inline]
    pub fn of(&self, block: BlockId) -> CellMode {
        match self.slc.get(block.index()) {
            Some(1) => CellMode::Slc,
            _ => CellMode::Dense,
        }
    }

    /// Pages that a block has in its mode.
    pub fn pages_of(&self, geometry: &Geometry, block: BlockId) -> u32 {
        match self.of(block) {
            CellMode::Slc => self.slc_pages,
            CellMode::Dense => geometry.pages_per_block,
        }
    }

    /// Of the erases of a block those that ended SLC mode: since the device was built, and before
    /// measuring began.
    pub fn slc_erases(&self, block: BlockId) -> (u32, u32) {
        let of = |counts: &[u32]| counts.get(block.index()).copied().unwrap_or(0);
        (of(&self.erases), of(&self.erases_before))
    }

    pub(super) fn set(&mut self, block: BlockId, mode: CellMode) {
        if let Some(slot) = self.slc.get_mut(block.index()) {
            *slot = u8::from(mode == CellMode::Slc);
        }
    }

    /// A block was erased; the mode that this ended.
    pub(super) fn erased(&mut self, block: BlockId) -> CellMode {
        let mode = self.of(block);
        if mode == CellMode::Slc {
            self.erases[block.index()] += 1;
            self.slc[block.index()] = 0;
        }
        mode
    }

    /// Puts what was saved.
    pub(super) fn restore(&mut self, block: BlockId, mode: CellMode, erases: u32) {
        self.set(block, mode);
        if let Some(slot) = self.erases.get_mut(block.index()) {
            *slot = erases;
        }
    }

    pub(super) fn mark_measured_from_here(&mut self) {
        self.erases_before.copy_from_slice(&self.erases);
    }

    /// Whether a block with so many erases has reached the end of its life, where blocks do: each
    /// erase takes the share of it that its mode takes.
    pub(super) fn is_worn_out(&self, block: BlockId, erases: u32) -> bool {
        let Some((dense, slc)) = self.endurance else { return false };
        let in_slc = u64::from(self.slc_erases(block).0);
        let in_dense = u64::from(erases) - in_slc;
        if in_slc == 0 {
            return in_dense >= dense;
        }
        let [worn, end] = [
            u128::from(in_dense) * u128::from(slc) + u128::from(in_slc) * u128::from(dense),
            u128::from(dense) * u128::from(slc),
        ];
        worn >= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::settings::BoardSettings;
    use crate::settings::Groups as _;

    const BLOCK: BlockId = BlockId(3);

    /// Cells of two bits, which endure 3 cycles, or 30 with one.
    fn modes() -> CellModes {
        let mut config = BoardSettings::default();
        for (key, value) in [
            ("device.bits_per_cell", "2"),
            ("device.endurance_cycles", "3"),
            ("device.slc_endurance_cycles", "30"),
        ] {
            config.set(key, value).expect("legal");
        }
        CellModes::new(&config.device, &Geometry::new(&config.device), true)
    }

    /// So many erases of each mode: whether the block is worn out.
    fn is_worn_out(dense: u32, slc: u32) -> bool {
        let mut modes = modes();
        for _ in 0..dense {
            assert_eq!(modes.erased(BLOCK), CellMode::Dense);
        }
        for _ in 0..slc {
            modes.set(BLOCK, CellMode::Slc);
            assert_eq!(modes.erased(BLOCK), CellMode::Slc);
        }
        modes.is_worn_out(BLOCK, dense + slc)
    }

    /// A dense cycle takes a third of a life, one with a bit a cell a thirtieth.
    #[test]
    fn every_erase_takes_the_share_of_a_life_that_its_mode_takes() {
        assert_eq!([(2, 0), (3, 0)].map(|(dense, slc)| is_worn_out(dense, slc)), [false, true]);
        let mixed = [(0, 29), (0, 30), (2, 9), (2, 10), (1, 19), (1, 20)];
        let worn = mixed.map(|(dense, slc)| is_worn_out(dense, slc));
        assert_eq!(worn, [false, true, false, true, false, true]);
    }

    #[test]
    fn what_was_erased_before_measuring_began_and_what_was_saved_is_known() {
        let mut modes = modes();
        modes.restore(BLOCK, CellMode::Slc, 7);
        assert_eq!((modes.of(BLOCK), modes.slc_erases(BLOCK)), (CellMode::Slc, (7, 0)));
        modes.mark_measured_from_here();
        assert_eq!(modes.erased(BLOCK), CellMode::Slc);
        assert_eq!((modes.of(BLOCK), modes.slc_erases(BLOCK)), (CellMode::Dense, (8, 7)));
        modes.restore(BlockId(4), CellMode::Dense, 0);
        assert_eq!((modes.of(BlockId(4)), modes.slc_erases(BlockId(4))), (CellMode::Dense, (0, 0)));
    }
}
