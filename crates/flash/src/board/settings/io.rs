//! The group `io`: what the device does with odd requests.

use crate::{choices, settings};

choices! {
    /// What a write of part of a page does.
    pub enum PartialWrite {
        /// Counts as a whole page, as FlashSim does.
        WholePage = "whole_page",
        /// Reads the old page first when some of its sectors survive.
        Rmw = "rmw",
    }
}

choices! {
    /// What a read of a page that was never written does.
    pub enum UnwrittenRead {
        /// Costs one page read, as FlashSim does.
        ChargeRead = "charge_read",
        /// Costs nothing and returns zeros.
        ZeroFree = "zero_free",
        /// Such pages are written before the run, as SSDsim does; the rest is charged.
        Preload = "preload",
    }
}

settings! {
    /// What the device does with odd requests.
    pub struct IoSettings in "io" {
        /// A write of part of a page.
        partial_write: PartialWrite = PartialWrite::WholePage, legal("", |_| true),
            source("docs/papers/others.md#requests-and-pages");
        /// A read of a page that was never written.
        unwritten_read: UnwrittenRead = UnwrittenRead::ChargeRead, legal("", |_| true),
            source("docs/papers/others.md#requests-and-pages");
        /// Whether trims are obeyed (off: counted and ignored, as in the papers' simulators).
        trim: bool = true, legal("", |_| true), source("docs/papers/others.md#requests-and-pages");
    }
}
