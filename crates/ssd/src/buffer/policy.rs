//! What a buffer's policy is: where it comes from, what it is told, and what it lets leave.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

/// Where a buffer comes from and what it does.
#[derive(Clone, Copy, Debug)]
pub struct BufferPaper {
    /// Name in the table.
    pub name: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Its authors.
    pub authors: &'static str,
    /// Where it was published.
    pub venue: &'static str,
    /// When.
    pub year: u32,
    /// What leaves when room is needed.
    pub leaves: &'static str,
    /// Where the implementation departs from the paper, and why.
    pub deviations: &'static [&'static str],
}

/// Why pages are to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A page needs a frame.
    Space,
    /// There is nothing else to do, and something is dirty.
    Idle,
    /// The host wants everything on flash, and something is dirty.
    Flush,
}

/// What leaves together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    /// Frames of the pages, upwards by page. Pages that follow each other leave as one request.
    pub slots: Vec<Slot>,
    /// First page and number of pages of a range that is written as a whole: what is not in the
    /// buffer is read and written with the rest. All pages that leave lie in it.
    pub padded: Option<(Lpn, u32)>,
    /// How many pages or groups a search looked at.
    pub compared: u32,
}

/// Which pages leave together. Told of every page that enters, is used again, or leaves.
pub(crate) trait Policy {
    /// Where it comes from.
    const PAPER: BufferPaper;
    /// Whether pages that were read are kept too, unless `buffer.cache_reads` says otherwise; none:
    /// they cannot be.
    const READS: Option<bool>;

    /// Its settings; `()` where it has none.
    type Settings;

    /// For so many frames.
    fn new(frames: u32, geometry: &Geometry, settings: &Self::Settings) -> Self;
    /// A page entered a frame, because it was written or read.
    fn entered(&mut self, slot: Slot, lpn: Lpn);
    /// A buffered page was written again, or read.
    fn used(&mut self, slot: Slot, lpn: Lpn, write: bool);
    /// A page left its frame.
    fn left(&mut self, slot: Slot, lpn: Lpn);
    /// Says what leaves; the buffer is not empty, and `leaving` is.
    fn choose(&mut self, pages: &HeldPages, why: Why, board: &mut Board, leaving: &mut Leaving);
    /// Whether its tables agree with the frames.
    fn self_check(&self, pages: &HeldPages) -> Result<(), String>;
}
