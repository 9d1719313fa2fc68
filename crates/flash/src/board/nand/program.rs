//! What a program carries, and the ledger that the audit compares counts with.

use super::state::PageKind;
use crate::units::{Ppn, Tag};

/// What a program puts into a page's out-of-band area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Logical page of host data.
    pub logical: u32,
    /// Data or log.
    pub kind: PageKind,
    /// Version, for checking.
    pub tag: Tag,
    /// Sectors that the page holds afterwards.
    pub sectors: u64,
    /// Whether what it should hold was lost: it reads as an error until it is written anew.
    pub unreadable: bool,
}

/// What a new map, checkpoint or trim-record page holds.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// These words; the rest is zero.
    Words(&'a [u32]),
    /// The words of an older page (zeroes when there is none) with single words replaced. The
    /// older page becomes invalid.
    Update {
        /// The page that it replaces.
        old: Option<Ppn>,
        /// Word number and new value.
        edits: &'a [(u32, u32)],
    },
}

/// Programs as the flash saw them since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramLedger {
    /// Sequence number when measuring began.
    pub(super) sequence_before: u64,
    /// Programs that failed: counted, but without a sequence number.
    pub(super) failed: u64,
    /// Programs that a power cut interrupted after the fact: with a number, but not counted.
    pub(super) interrupted: u64,
}
