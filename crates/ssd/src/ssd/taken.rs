//! Times of a request that was taken.

use ftlab_flash::board::nand::clock::PathSplit;
use ftlab_flash::units::Nanos;

/// How a request went, on the device's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub arrival: Nanos,
    pub admitted: Nanos,
    /// Across the link.
    pub begun: Nanos,
    /// Done, but for the link.
    pub ready: Nanos,
    pub completed: Nanos,
    /// What the time from `begun` to `ready` was spent on, as it was noted.
    pub noted: PathSplit,
}
