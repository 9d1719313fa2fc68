//! Whether what is counted of blocks and pages is what flash holds.

use super::{Block, Midas};
use crate::parts::victim::Census;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::units::BlockId;

/// The logical pages of data that are valid in a block.
fn valid_data<'a>(known: &'a Census<'_>, block: BlockId) -> impl Iterator<Item = u32> + 'a {
    let state = known.nand().state();
    known.pages_in(block).filter(|&page| state.is_valid(page)).filter_map(|page| {
        match state.oob(page) {
            OobRead::Written(oob) => oob.kind.is_host_data().then_some(oob.logical),
            OobRead::Free | OobRead::Torn => None,
        }
    })
}

impl Midas {
    /// Hot blocks, and valid pages of each block: those that it is told of, and those on flash in
    /// blocks that it has seen opened.
    pub(super) fn check_blocks(&self, known: &Census<'_>) -> Result<(), String> {
        let is_hot = |block: &&Block| block.class == 1 && block.closed > 0;
        let counted = self.blocks.iter().filter(is_hot).count();
        if counted != self.hot_blocks as usize {
            return Err(format!("midas counts {} hot blocks, {counted} are", self.hot_blocks));
        }
        let mut held = vec![0u64; self.blocks.len() + 1];
        self.block_of.iter().for_each(|&unit| held[unit as usize] += 1);
        for (number, (block, held)) in (0..).zip(self.blocks.iter().zip(&held[1..])) {
            let counts = block.valid;
            if counts != *held {
                return Err(format!("midas counts {counts} pages in block {number}, {held} are"));
            }
            if block.opened == 0 {
                continue;
            }
            let on_flash = valid_data(known, BlockId(number)).count() as u64;
            if counts != on_flash {
                return Err(format!(
                    "midas counts {counts} pages in block {number}, {on_flash} are valid there"
                ));
            }
        }
        Ok(())
    }

    /// Whether pages are where they are said to be.
    pub(super) fn check_pages(&self, known: &Census<'_>) -> Result<(), String> {
        let mut here = vec![false; self.block_of.len()];
        let mut looked = vec![false; self.blocks.len() + 1];
        for &unit in &self.block_of {
            if unit == 0 || std::mem::replace(&mut looked[unit as usize], true) {
                continue;
            }
            for page in valid_data(known, BlockId(unit - 1)) {
                here[page as usize] |= self.block_of[page as usize] == unit;
            }
        }
        match (0..).zip(&self.block_of).find(|&(lpn, &unit)| unit > 0 && !here[lpn]) {
            None => Ok(()),
            Some((lpn, unit)) => {
                Err(format!("midas takes page {lpn} to be in block {}, where it is not", unit - 1))
            }
        }
    }
}
