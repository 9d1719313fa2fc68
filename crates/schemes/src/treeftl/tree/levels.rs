//! How many frames hold translation pages and how many hold data, as the meter is told.

use super::Frames;
use ftlab_flash::board::Board;
use ftlab_flash::meter::Level;

/// Frames of each kind: translation pages, data pages.
type Counts = (u32, u32);

/// What the meter knows, and whether that may have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    noted: bool,
    told: Option<Counts>,
}

impl Levels {
    /// Frames of each kind have changed.
    #[inline]
    pub fn note(&mut self) {
        self.noted = true;
    }

    /// Tells how many there are if that is news: a page that comes where another one left is none.
    #[inline]
    pub fn tell(&mut self, board: &mut Board, frames: &Frames) {
        if !std::mem::take(&mut self.noted) {
            return;
        }
        let (maps, data) = (frames.maps.len(), frames.data_pages());
        if self.told != Some((maps, data)) {
            self.told = Some((maps, data));
            board.level(Level::MapFrames, u64::from(maps));
            board.level(Level::DataFrames, u64::from(data));
        }
    }
}
