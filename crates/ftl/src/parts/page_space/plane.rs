//! A plane's blocks: free ones, frontiers, candidates.

use super::lines::Lines;
use super::stream::Stream;
use crate::parts::free_pool::FreePool;
use crate::parts::victim::Victims;
use crate::parts::wear::FreeRule;
use crate::settings::SharedSettings;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::{BlockId, PlaneId};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frontier {
    pub block: Option<BlockId>,
    pub next: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Plane {
    pub free: FreePool,
    pub victims: Victims,
    pub frontiers: [Frontier; Stream::COUNT],
    pub threshold: u32,
    pub valid: u32,
    /// Blocks out of use.
    pub retired: u32,
    /// Pages of a frontier that are written before free blocks are looked at: all, or none where a
    /// power cut left so few free blocks that collection needs the rest of the frontier itself.
    pub usable: u32,
    /// The latter.
    pub collects_first: bool,
}

impl Plane {
    /// A plane, or the one of all lines, of which no block or line is free yet.
    pub fn without_blocks(
        nand: &Nand,
        config: &SharedSettings,
        plane: PlaneId,
        lines: Option<&Lines>,
    ) -> Self {
        let rule = FreeRule::of(config);
        let blocks = lines.map_or(nand.geometry().blocks_of(plane), |lines| 0..lines.book.lines());
        let (free, retired, pages) = match lines {
            None => (
                FreePool::empty(nand, plane, rule),
                nand.factory_bad_in(plane).len() as u32,
                nand.geometry().pages_per_block,
            ),
            Some(lines) => (lines.empty_pool(rule), lines.useless(), lines.book.full()),
        };
        Plane {
            free,
            victims: config.victims(plane, blocks, pages),
            frontiers: [Frontier::default(); Stream::COUNT],
            threshold: 0,
            valid: 0,
            retired,
            usable: 0,
            collects_first: false,
        }
    }
}
