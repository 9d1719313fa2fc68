//! What a scheme answers when it is asked about itself.

use ftlab_flash::units::{Ppn, Tag};

/// Where the newest version of a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// On flash.
    Flash(Ppn),
    /// In memory, in this version.
    Ram(Tag),
    /// Nowhere: never written, or trimmed.
    Nowhere,
}

/// What the audit cannot see from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Valid pages on flash that hold superseded host data (schemes that invalidate late).
    pub stale_pages: u64,
    /// Host pages whose newest version is in memory.
    pub ram_pages: u64,
    /// Host pages that lie on a page of flash which is another one's as well: all but one of those
    /// that lie there.
    pub shared_pages: u64,
}

/// Free blocks and what they are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Free blocks (log schemes: free log blocks), in the plane with fewest.
    pub free_blocks: u32,
    /// Reclaiming starts below this many.
    pub threshold: u32,
}
