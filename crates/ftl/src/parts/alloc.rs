//! The group `alloc`: where pages and blocks are taken from.

use ftlab_flash::board::nand::geometry::PlacementOrder;
use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};

choices! {
    /// Which free block is taken next.
    pub enum FreeOrder {
        /// The one with the fewest erases, the lowest number among equals: FlashSim's
        /// implicit wear levelling (`docs/papers/others.md#flash-rules`).
        MinErase = "min_erase",
        /// The one that was freed first.
        Fifo = "fifo",
        /// The one that was freed last.
        Lifo = "lifo",
    }
}

choices! {
    /// What is allocated, filled and collected as one.
    pub enum AllocUnit {
        /// A block, of a plane that collects by itself.
        Plane = "plane",
        /// A line: the blocks with one number of all planes, filled side by side.
        Line = "line",
    }
}

settings! {
    /// Where pages and blocks are taken from.
    pub struct AllocSettings in "alloc" {
        /// What is allocated, filled and collected as one, under page-mapped schemes that fill
        /// blocks from front to back: a block of a plane, or a line over all of them.
        unit: AllocUnit = AllocUnit::Plane, legal("", |_| true),
            source("docs/papers/lines.md");
        /// How the planes take turns for host writes.
        order: PlacementOrder = PlacementOrder::ChannelDiePlane, legal("", |_| true),
            source("HAT 2010, 4; SSDsim");
        /// Which free block is taken next; auto: as wear.policy says, min_erase unless that is
        /// none, then fifo.
        policy: Optional<FreeOrder> = Optional(None), legal("", |_| true),
            source("docs/papers/others.md#flash-rules");
    }
}
