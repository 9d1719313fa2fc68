//! # Idea
//! Padding a block ("plugging") saves the scheme below a merge; writing pages as they are
//! ("logging") saves reads and programs now. Which is better depends on how hard the scheme works.
//!
//! # Paper
//! Chang, Su, "Plugging versus logging: a new approach to write buffer management for solid-state
//! disks", DAC 2011. Known from its abstract: the buffer watches the stress of collection below and
//! chooses between sequential and less random writes. The rule is reconstructed (open,
//! `docs/papers/others.md#l-buffer`).
//!
//! # Leaves
//! Stress: pages that the scheme below moved (collection, merges, migrations, conversions, wear)
//! per page that the host wrote, over the last `l_buffer.stress_window` host pages. Low: the block
//! written longest ago, plugged if at most `l_buffer.plug_if_missing_le` of its pages are missing,
//! otherwise as it is: sequentiality is cheap to buy. High: the block with most buffered pages, as
//! it is: fewest write-outs, nothing added. A block that has the buffer for itself is written as it
//! is, in order.
//!
//! # Settings
//! Group `l_buffer`; `buffer.pad_unwritten`.

use super::fullest::Fullest;
use super::groups::Groups;
use super::{BufferPaper, Leaving, Policy, Why};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::{Cause, Event, Level, Meter};
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

settings! {
    /// Settings of `l_buffer`.
    pub struct LBufferSettings in "l_buffer" {
        /// Under low stress a block is plugged if at most so many of its pages are missing; auto:
        /// half of them, where a full merge copies as many pages as plugging would.
        plug_if_missing_le: Optional<u32> = Optional(None),
            legal("auto, or 0..=65536", |v| v.0.is_none_or(|n| n <= 65536)),
            source("open: docs/papers/others.md#l-buffer; reconstructed");
        /// Host pages over which stress is measured.
        stress_window: u32 = 1000, legal("1..=1000000000", |v| (1..=1_000_000_000).contains(v)),
            source("open: docs/papers/others.md#l-buffer");
        /// Stress is high above so many moved pages per thousand host pages.
        stress_high: u32 = 1000, legal("0..=1000000", |v| *v <= 1_000_000),
            source("open; ftlab: a page moved per page written");
    }
}

/// Pages that a scheme moves on its own account.
const MOVES: [Cause; 8] = [
    Cause::Gc,
    Cause::GcMapBlock,
    Cause::GcMapUpdate,
    Cause::Merge,
    Cause::Migrate,
    Cause::Convert,
    Cause::Wear,
    Cause::Refresh,
];

/// Blocks in order of their last write and by buffered pages, and the stress below.
#[derive(Clone)]
pub(super) struct LBuffer {
    blocks: Groups,
    fullest: Fullest,
    logical_pages: u32,
    plug: u32,
    window: u64,
    high: u64,
    /// Host pages of the present window.
    writes: u64,
    /// Pages moved when the window began.
    moved: u64,
    stressed: bool,
}

impl Policy for LBuffer {
    const PAPER: BufferPaper = BufferPaper {
        name: "l_buffer",
        title: "Plugging versus logging: a new approach to write buffer management for \
                solid-state disks",
        authors: "Chang, Su",
        venue: "DAC",
        year: 2011,
        leaves: "under low stress the block written longest ago, plugged if little is missing; \
                 under high stress the block with most buffered pages",
        deviations: &["the stress monitor and the decision rule are reconstructed, not read"],
    };
    const READS: Option<bool> = None;

    type Settings = LBufferSettings;

    fn new(frames: u32, geometry: &Geometry, settings: &Self::Settings) -> Self {
        let block = geometry.pages_per_block;
        LBuffer {
            blocks: Groups::new(frames, block, geometry.logical_pages),
            fullest: Fullest::new(frames),
            logical_pages: geometry.logical_pages,
            plug: settings.plug_if_missing_le.0.unwrap_or(block / 2),
            window: u64::from(settings.stress_window),
            high: u64::from(settings.stress_high),
            writes: 0,
            moved: 0,
            stressed: false,
        }
    }

    fn entered(&mut self, _: Slot, lpn: Lpn) {
        self.writes += 1;
        let page = self.blocks.enter(lpn);
        self.blocks.touch(page.group);
        self.fullest.entered(page);
    }

    fn used(&mut self, _: Slot, lpn: Lpn, write: bool) {
        if write {
            self.writes += 1;
            let (block, _) = self.blocks.of(lpn);
            self.blocks.touch(block);
            self.fullest.used(block);
        }
    }

    fn left(&mut self, _: Slot, lpn: Lpn) {
        self.fullest.left(self.blocks.leave(lpn));
    }

    fn choose(&mut self, pages: &HeldPages, _: Why, board: &mut Board, leaving: &mut Leaving) {
        if self.writes >= self.window {
            self.measure(board);
        }
        let victim = if self.stressed { self.fullest.block() } else { self.blocks.oldest() };
        let Some(block) = victim else { return };
        leaving.compared = self.blocks.len();
        self.blocks.leave_whole(block, pages, leaving);
        let (first, all) = self.blocks.range(block, self.logical_pages);
        let missing = all - self.blocks.count(block);
        let plugs = !self.stressed && missing <= self.plug && self.blocks.len() > 1;
        board.event(if plugs { Event::PlugDecisions } else { Event::LogDecisions }, 1);
        leaving.padded = (plugs && missing > 0).then_some((first, all));
    }

    fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
        self.fullest.self_check(&self.blocks)?;
        self.blocks.self_check(pages.len())
    }
}

impl LBuffer {
    /// A window is over.
    fn measure(&mut self, board: &mut Board) {
        let moved = moved(board.meter());
        // Counts begin anew when measuring does.
        let since = moved.checked_sub(self.moved).unwrap_or(moved);
        let stress = 1000 * since / self.writes;
        self.stressed = stress > self.high;
        (self.moved, self.writes) = (moved, 0);
        board.level(Level::BufferStressPermille, stress);
    }
}

fn moved(meter: &Meter) -> u64 {
    MOVES.iter().map(|&cause| meter.programs(cause)).sum()
}
