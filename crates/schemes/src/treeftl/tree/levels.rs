//! How many frames hold translation pages and how many hold data, as the meter is told.

use super::Frames;
use ftlab_flash::board::Board;
use ftlab_flash::meter::Level;

/// Frames of each kind: translation pages, data pages.
type Counts = (u32, u32);

/// What the meter knows, and what it is to be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    noted: Option<Counts>,
    told: Option<Counts>,
}

impl Levels {
    /// Frames of each kind have changed.
    #[inline]
    pub fn note(&mut self, frames: &Frames) {
        self.noted = Some((frames.maps.len(), frames.data_pages()));
    }

    /// Tells what was noted last, if it is news: a page that comes where another one left is none.
    #[inline]
    pub fn tell(&mut self, board: &mut Board) {
        if let Some((maps, data)) = self.noted.take()
            && self.told != Some((maps, data))
        {
            self.told = Some((maps, data));
            board.level(Level::MapFrames, u64::from(maps));
            board.level(Level::DataFrames, u64::from(data));
        }
    }
}
