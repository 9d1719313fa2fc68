//! What is written to a frontier of its own: the host's data, moved data, maps, and classes of data
//! beside the first two where a placement policy has more.

use crate::parts::placement::CLASSES_MAX;
use ftlab_flash::meter::BlockRole;

/// What is written to a frontier of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Host data, and moved data too unless `gc.separate_frontiers`; class 0 of a placement policy.
    Data,
    /// Moved data under `gc.separate_frontiers`; class 1 of a placement policy.
    MovedData,
    /// Map pages, checkpoints, trim records.
    Map,
    /// What levelling moves out of one block into a worn one, data or map.
    Worn,
    /// A class of data from 2 on.
    Class(u8),
}

impl Stream {
    /// Those of every space.
    const PLAIN: usize = 4;
    /// All of them.
    pub(super) const COUNT: usize = Stream::PLAIN + CLASSES_MAX - 2;

    /// The frontier of a class of data.
    #[inline]
    pub fn of_class(class: u8) -> Stream {
        match class {
            0 => Stream::Data,
            1 => Stream::MovedData,
            class => Stream::Class(class),
        }
    }

    /// Its place among the frontiers of a plane.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        match self {
            Stream::Data => 0,
            Stream::MovedData => 1,
            Stream::Map => 2,
            Stream::Worn => 3,
            Stream::Class(class) => Stream::PLAIN + class as usize - 2,
        }
    }

    /// What a block that it fills is marked with; 0 is none.
    #[inline(always)]
    pub(super) fn mark(self) -> u8 {
        self.index() as u8 + 1
    }

    /// The stream of a mark.
    pub(super) fn of_mark(mark: u8) -> Option<Stream> {
        Some(match mark {
            0 => return None,
            1 => Stream::Data,
            2 => Stream::MovedData,
            3 => Stream::Map,
            4 => Stream::Worn,
            class => Stream::Class(class - 1 - Stream::PLAIN as u8 + 2),
        })
    }

    /// The class of data, unless it is none.
    pub(super) fn class(self) -> Option<u8> {
        match self {
            Stream::Data => Some(0),
            Stream::MovedData => Some(1),
            Stream::Class(class) => Some(class),
            Stream::Map | Stream::Worn => None,
        }
    }

    pub(super) fn role(self) -> BlockRole {
        match self {
            Stream::Map => BlockRole::Map,
            Stream::Data | Stream::MovedData | Stream::Worn | Stream::Class(_) => BlockRole::Data,
        }
    }
}
