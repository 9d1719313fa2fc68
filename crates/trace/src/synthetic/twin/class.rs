//! What a request is to those before it, and the ranges that numbers are counted in.

use super::history::{EXTENT_SECTORS, History};

/// What a request is to those before it; the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Begins where one of the latest requests ended, and one began there before.
    FollowAgain,
    /// Begins where one of the latest requests ended, and none did before.
    FollowNew,
    /// Begins where a request began that followed, the time before, on the one requested last.
    Replay,
    /// Begins where a request began.
    Again,
    /// Begins in an extent that was touched.
    Beside,
    /// Begins in an extent that was not.
    Fresh,
}

impl Class {
    pub const ALL: [Self; 6] =
        [Self::FollowAgain, Self::FollowNew, Self::Replay, Self::Again, Self::Beside, Self::Fresh];

    /// The class of a request that begins at `sector`, and the rank of the end that it follows.
    pub fn of(history: &History, sector: u64) -> (Self, usize) {
        let rank = history.ends().iter().position(|end| end.sector == sector);
        let begin = history.begin_at(sector);
        let class = match (rank, begin) {
            (Some(_), Some(_)) => Self::FollowAgain,
            (Some(_), None) => Self::FollowNew,
            (None, Some(id)) if history.expected() == Some(id) => Self::Replay,
            (None, Some(_)) => Self::Again,
            (None, None) if history.extent_at(sector / EXTENT_SECTORS).is_some() => Self::Beside,
            (None, None) => Self::Fresh,
        };
        (class, rank.unwrap_or(0))
    }
}

/// Where within a known extent a request begins at which none began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// On a sector that was touched.
    Touched,
    /// Right behind one.
    Behind,
    /// Elsewhere.
    Apart,
}

impl Within {
    pub const ALL: [Self; 3] = [Self::Touched, Self::Behind, Self::Apart];

    pub fn of(history: &History, sector: u64) -> Self {
        let inside = !sector.is_multiple_of(EXTENT_SECTORS);
        match () {
            () if history.is_touched(sector) => Self::Touched,
            () if inside && history.is_touched(sector - 1) => Self::Behind,
            () => Self::Apart,
        }
    }
}

/// The octave of a size in sectors.
pub(super) fn octave(sectors: u64) -> u64 {
    sectors.max(1).ilog2().into()
}

/// How much of a request was touched before: 0 nothing, 1 up to half, 2 more, 3 all of it.
pub(super) fn onto(history: &History, sector: u64, sectors: u64) -> u64 {
    let touched = history.touched_among(sector, sector + sectors);
    match () {
        () if touched == 0 => 0,
        () if 2 * touched <= sectors => 1,
        () if touched < sectors => 2,
        () => 3,
    }
}

/// The range that a number is counted in: by itself up to 2^`parts_log2`, from there on as many
/// ranges an octave.
pub(super) fn range(number: u64, parts_log2: u32) -> (u64, u64) {
    let octave = number.max(1).ilog2();
    if octave <= parts_log2 {
        return (number, number);
    }
    let width = 1 << (octave - parts_log2);
    let from = number / width * width;
    (from, from.saturating_add(width - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_every_number_once() {
        for parts in 0..4 {
            let mut next = 0;
            while next < 5000 {
                let (from, to) = range(next, parts);
                assert_eq!(from, next);
                assert!((from..=to).all(|number| range(number, parts) == (from, to)));
                assert!(to - from < (from >> parts).max(1) + 1);
                next = to + 1;
            }
        }
        assert_eq!(range(u64::MAX, 2).1, u64::MAX);
    }

    #[test]
    fn a_request_has_the_first_class_that_applies() {
        let mut history = History::new();
        let mut class = |sector| {
            let (class, rank) = Class::of(&history, sector);
            history.note(sector, 8, true);
            (class, rank)
        };
        use Class::{Again, Beside, FollowAgain, FollowNew, Fresh, Replay};
        assert_eq!(class(0), (Fresh, 0));
        assert_eq!(class(8), (FollowNew, 0));
        assert_eq!(class(100), (Beside, 0));
        assert_eq!(class(0), (Again, 0));
        assert_eq!(class(8), (FollowAgain, 0));
        assert_eq!(class(100), (Replay, 0));
        assert_eq!(class(16), (FollowNew, 1));
    }
}
