//! An opaque token of time: the moment after which the next operation may start.
//!
//! Data flow is the dependency graph: what must follow takes the token of what precedes, what runs
//! side by side starts from the same token and ends in [`When::join`]. Schemes never look inside,
//! so that another clock can be put behind the gate without touching them.

use crate::units::Nanos;

/// The moment after which the next operation may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a dropped token loses a dependency"]
pub struct When(Nanos);

impl When {
    /// Before everything.
    pub const START: When = When(0);

    #[inline]
    pub(crate) fn at(time: Nanos) -> Self {
        When(time)
    }

    #[inline]
    pub(crate) fn time(self) -> Nanos {
        self.0
    }

    /// After both.
    #[inline]
    pub fn join(self, other: When) -> When {
        When(self.0.max(other.0))
    }
}
