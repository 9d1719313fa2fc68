//! Levels of the meter that are told when they have changed, not at every step.

use ftlab_flash::board::Board;
use ftlab_flash::meter::Level;

/// Levels, and what they were last told to be.
#[derive(Clone, Debug)]
pub struct Told<const LEVELS: usize> {
    levels: [Level; LEVELS],
    values: Option<[u64; LEVELS]>,
}

impl<const LEVELS: usize> Told<LEVELS> {
    /// Nothing told yet.
    pub fn new(levels: [Level; LEVELS]) -> Self {
        Told { levels, values: None }
    }

    /// They are told again next time, changed or not.
    pub fn forget(&mut self) {
        self.values = None;
    }

    /// Tells all of them if one has changed.
    #[inline]
    pub fn tell(&mut self, board: &mut Board, values: [u64; LEVELS]) {
        if self.values == Some(values) {
            return;
        }
        self.values = Some(values);
        self.levels.into_iter().zip(values).for_each(|(level, value)| board.level(level, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;

    #[test]
    fn all_are_told_when_one_has_changed_or_was_forgotten() {
        let mut board = Board::new(&SharedSettings::default(), 1, 0);
        let levels = [Level::HotLogBlocks, Level::ColdLogBlocks];
        let mut told = Told::new(levels);
        let now = |board: &Board| levels.map(|level| board.meter().level_now(level));
        told.tell(&mut board, [0, 2]);
        assert_eq!(now(&board), [Some(0), Some(2)]);
        board.level(Level::HotLogBlocks, 7);
        told.tell(&mut board, [0, 2]);
        assert_eq!(now(&board), [Some(7), Some(2)], "nothing to tell");
        told.tell(&mut board, [0, 3]);
        assert_eq!(now(&board), [Some(0), Some(3)]);
        board.level(Level::ColdLogBlocks, 7);
        told.forget();
        told.tell(&mut board, [0, 3]);
        assert_eq!(now(&board), [Some(0), Some(3)]);
    }
}
