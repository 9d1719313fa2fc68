//! A page that moves in a run: what the gate lists, the clock times and the owner is told of.

use super::oob::PageKind;
use crate::board::when::Moment;
use crate::units::Ppn;

/// A page that moves.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// Where it was.
    pub old: Ppn,
    /// Its logical number: of the page, of the map part, of the record.
    pub logical: u32,
    /// What it is.
    pub kind: PageKind,
    /// When the copy is complete.
    pub done: Moment,
}

impl Mover {
    /// In a list that is to be filled.
    pub(super) const NONE: Mover =
        Mover { old: Ppn(0), logical: 0, kind: PageKind::Data, done: Moment::START };
}
