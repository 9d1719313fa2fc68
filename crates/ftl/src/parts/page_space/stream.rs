//! What is written to a frontier of its own: the host's data, moved data, maps, and classes of data
//! beside the first two where a placement policy has more.

use crate::parts::placement::CLASSES_MAX;
use ftlab_flash::meter::BlockRole;

/// What is written to a frontier of its own. The number of each is its place among the frontiers of
/// a plane, so that the hot path has nothing to work out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "classes are told apart by their numbers alone")]
pub enum Stream {
    /// Host data, and moved data too unless `gc.separate_frontiers`; class 0 of a placement policy.
    Data,
    /// Moved data under `gc.separate_frontiers`; class 1 of a placement policy.
    MovedData,
    /// Map pages, checkpoints, trim records.
    Map,
    /// What levelling moves out of one block into a worn one, data or map.
    Worn,
    Class2,
    Class3,
    Class4,
    Class5,
    Class6,
    Class7,
    Class8,
    Class9,
    Class10,
    Class11,
    Class12,
    Class13,
    Class14,
    Class15,
    /// What the host writes with one bit a cell.
    Slc,
}

use Stream::*;

/// By class of data.
const CLASSES: [Stream; CLASSES_MAX] = [
    Data, MovedData, Class2, Class3, Class4, Class5, Class6, Class7, Class8, Class9, Class10,
    Class11, Class12, Class13, Class14, Class15,
];

impl Stream {
    /// All of them: classes, map, what levelling moves, the SLC cache.
    pub(super) const COUNT: usize = CLASSES_MAX + 3;

    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Stream> {
        CLASSES.into_iter().chain([Map, Worn, Slc])
    }

    /// The one of a place among the frontiers of a plane.
    pub(super) fn at(place: usize) -> Stream {
        let found = Self::all().find(|stream| stream.index() == place);
        found.expect("every place is that of a stream")
    }

    /// Those of every class of data.
    pub fn classes() -> impl Iterator<Item = Stream> {
        CLASSES.into_iter()
    }

    /// The frontier of a class of data.
    #[inline]
    pub fn of_class(class: u8) -> Stream {
        CLASSES[class as usize]
    }

    /// Its place among the frontiers of a plane.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// What a block that it fills is marked with; 0 is none.
    #[inline(always)]
    pub(super) fn mark(self) -> u8 {
        self as u8 + 1
    }

    /// The class of data of a mark, unless it is none.
    pub(super) fn class_of_mark(mark: u8) -> Option<u8> {
        CLASSES.iter().position(|stream| stream.mark() == mark).map(|class| class as u8)
    }

    /// The class of data, unless it is none.
    pub(super) fn class(self) -> Option<u8> {
        Self::class_of_mark(self.mark())
    }

    pub(super) fn role(self) -> BlockRole {
        match self {
            Map => BlockRole::Map,
            _ => BlockRole::Data,
        }
    }
}
