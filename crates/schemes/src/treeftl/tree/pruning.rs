//! What a tree asks of the scheme that prunes it: the order in which pages leave.

use crate::treeftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::memory::RamUse;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::tree_frames::Frames;
use ftlab_ftl::scheme::{Paper, Preset};

/// A page that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// The data page whose entry is at this place of a translation page.
    Data(Slot, u32),
    /// A translation page.
    Map(Slot),
}

/// The order in which pages leave the tree.
pub trait Pruning: Clone + Send + Sync + 'static {
    /// Its settings beside those of the tree.
    type Settings: Clone + Send + Sync + 'static;

    /// Where it comes from.
    const PAPER: Paper;
    /// Named sets of settings.
    const PRESETS: &'static [Preset] = &[];

    /// The scheme whose tree it prunes, if that is another one; the settings are those of both.
    const STANDS_ON: Option<&'static str> = None;

    /// Bytes that it keeps for each frame.
    const BYTES_PER_FRAME: u64 = 0;

    /// What it keeps to find the page that leaves.
    fn ram_use(config: &Config<Self::Settings>) -> RamUse;
    /// An empty tree with room for so many pages of each kind.
    fn new(settings: &Self::Settings, maps: u32, data: u32) -> Self;
    /// A translation page came in.
    fn loaded(&mut self, board: &mut Board, map: Slot);
    /// A translation page was used, and no cached data page below it.
    fn used_map(&mut self, board: &mut Board, map: Slot);
    /// A cached data page was used; it may have just come in. `place`: its translation page, and
    /// the offset of its entry there.
    fn used_data(&mut self, board: &mut Board, place: (Slot, u32), data: Slot);
    /// A data page left.
    fn data_left(&mut self, map: Slot, data: Slot);
    /// A translation page left.
    fn map_left(&mut self, board: &mut Board, map: Slot);
    /// The page that leaves next, and how many time stamps the search for it compares. The
    /// translation page in use (`pinned`) stays; data pages below it may leave.
    fn next(&mut self, frames: &Frames, pinned: Option<Slot>) -> (Leaf, u32);
}
