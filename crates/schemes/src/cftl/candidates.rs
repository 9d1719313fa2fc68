//! Which logical blocks are worth a block of their own, and the one that is being gathered.
//!
//! Reads and writes are counted by logical block in a window of host writes; hot pages are known by
//! Bloom filters. What is read often enough waits in a short queue until there is time.

use std::collections::VecDeque;

use super::settings::{CftlSettings, NEVER_HOT};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{BlockId, Lpn, zeroed};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::hot_filter::HotFilter;

/// Logical blocks that wait at most.
const QUEUE: usize = 64;

/// A logical block that is being gathered, page by page.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The logical block.
    pub lbn: Lbn,
    /// The block that is being filled.
    pub block: BlockId,
    /// The page that is next.
    pub next: u32,
}

/// Counts, filters and the queue.
#[derive(Clone, Debug)]
pub struct Candidates {
    hot: HotFilter,
    /// Reads and writes of each logical block, 16 bits each.
    counts: Vec<u32>,
    /// The window that they were counted in.
    window_of: Vec<u32>,
    window: u32,
    window_writes: u32,
    writes: u32,
    read_thr: u32,
    queue: VecDeque<Lbn>,
    pages_per_block: u32,
}

impl Candidates {
    /// Nothing is known.
    pub fn new(geometry: &Geometry, settings: &CftlSettings) -> Self {
        let CftlSettings { hot_bf, bf_bits, bf_hashes, hot_thr, .. } = *settings;
        let threshold = if hot_thr < NEVER_HOT { hot_thr } else { f64::INFINITY };
        Candidates {
            hot: HotFilter::new((hot_bf, bf_bits, bf_hashes), settings.decay_writes, threshold),
            counts: zeroed(geometry.logical_blocks() as usize),
            window_of: zeroed(geometry.logical_blocks() as usize),
            window: 0,
            window_writes: settings.window_writes,
            writes: 0,
            read_thr: settings.read_thr,
            queue: VecDeque::with_capacity(QUEUE),
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// Reads and writes of a logical block in this window.
    fn counts(&mut self, lbn: Lbn) -> (u32, u32) {
        if self.window_of[lbn.index()] != self.window {
            self.window_of[lbn.index()] = self.window;
            self.counts[lbn.index()] = 0;
        }
        let both = self.counts[lbn.index()];
        (both & 0xFFFF, both >> 16)
    }

    fn set_counts(&mut self, lbn: Lbn, (reads, writes): (u32, u32)) {
        self.counts[lbn.index()] = reads.min(0xFFFF) | writes.min(0xFFFF) << 16;
    }

    /// A page was read; its logical block waits to be converted once it is read-intensive.
    #[inline]
    pub fn read(&mut self, lbn: Lbn, is_mapped: bool) {
        let (reads, writes) = self.counts(lbn);
        self.set_counts(lbn, (reads + 1, writes));
        if !is_mapped && self.is_read_intensive(lbn) && self.queue.len() < QUEUE {
            // Looking through a queue of 64 now and then is not what is measured here.
            if !self.queue.contains(&lbn) {
                self.queue.push_back(lbn);
            }
        }
    }

    /// A page was written.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        let lbn = Lbn(lpn.0 / self.pages_per_block);
        let (reads, writes) = self.counts(lbn);
        self.set_counts(lbn, (reads, writes + 1));
        self.hot.written(lpn);
        self.writes += 1;
        if self.writes == self.window_writes {
            self.writes = 0;
            self.window = self.window.wrapping_add(1);
        }
    }

    fn is_read_intensive(&mut self, lbn: Lbn) -> bool {
        let (reads, writes) = self.counts(lbn);
        reads >= self.read_thr.saturating_mul(writes.max(1))
    }

    /// Whether a logical block is read-intensive still, and none of its pages hot.
    pub fn is_worth_it(&mut self, lbn: Lbn) -> bool {
        self.is_read_intensive(lbn) && !self.is_hot(lbn)
    }

    /// Whether a page of a logical block is hot.
    pub fn is_hot(&self, lbn: Lbn) -> bool {
        let mut pages = lbn.0 * self.pages_per_block..(lbn.0 + 1) * self.pages_per_block;
        pages.any(|lpn| self.hot.is_hot(Lpn(lpn)))
    }

    /// The logical block that has waited longest.
    pub fn first(&self) -> Option<Lbn> {
        self.queue.front().copied()
    }

    /// It waits no more; whether it is to be converted again is counted anew.
    pub fn drop_first(&mut self) {
        if let Some(lbn) = self.queue.pop_front() {
            self.counts[lbn.index()] = 0;
        }
    }
}
