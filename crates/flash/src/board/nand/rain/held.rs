//! The stripes whose parity memory has.

use crate::units::Ppn;

/// Frontiers that can have a stripe open.
const OPEN_MAX: usize = 64;

/// Stripes whose parity memory has, each named by its first page.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// By frontier.
    pub(super) open: Vec<Option<Ppn>>,
    /// What capacitors saved, as long as recovery goes on.
    pub(super) saved: Vec<Ppn>,
}

impl Held {
    pub(super) fn new() -> Self {
        Held { open: vec![None; OPEN_MAX], saved: Vec::with_capacity(OPEN_MAX) }
    }

    pub(super) fn has(&self, stripe: Ppn) -> bool {
        self.open.contains(&Some(stripe)) || self.saved.contains(&stripe)
    }

    pub(super) fn power_on(&mut self, saves: bool) {
        for stripe in self.open.iter_mut().filter_map(Option::take).filter(|_| saves) {
            if !self.saved.contains(&stripe) {
                self.saved.push(stripe);
            }
        }
    }
}
