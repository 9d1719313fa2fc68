//! A plane's blocks: free ones, frontiers, candidates.

use super::stream::Stream;
use crate::parts::free_pool::FreePool;
use crate::parts::victim::Victims;
use ftlab_flash::units::BlockId;

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
    /// A plane, or the one of all lines, with these free blocks and lines, and no more of them in
    /// use.
    pub fn new(free: FreePool, victims: Victims, retired: u32) -> Self {
        Plane {
            free,
            victims,
            frontiers: [Frontier::default(); Stream::COUNT],
            threshold: 0,
            valid: 0,
            retired,
            usable: 0,
            collects_first: false,
        }
    }

    /// The next page of a stream's open block is written, and valid.
    #[inline(always)]
    pub fn page_written(&mut self, stream: Stream) {
        self.frontiers[stream as usize].next += 1;
        self.valid += 1;
    }
}
