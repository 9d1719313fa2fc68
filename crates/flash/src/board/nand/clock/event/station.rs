//! What does one thing at a time: the cells of a die, a channel, the controller; and what waits for
//! it.

use std::collections::VecDeque;

use crate::units::Nanos;

/// What a station does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Idle,
    /// Something is under way.
    Works,
    /// A program or erase is being suspended.
    Suspends,
}

/// One station.
#[derive(Clone, Debug, Default)]
pub struct Station {
    /// When what waits came, and which operation it is; first come first.
    pub queue: VecDeque<(Nanos, u64)>,
    pub phase: Phase,
    /// The operations of the command under way: several, where planes joined.
    pub running: Vec<u64>,
    /// Those of a command that is suspended, and how long it would still take.
    pub suspended: Vec<u64>,
    pub rest: Nanos,
    pub began: Nanos,
    pub until: Nanos,
    /// Number of the work under way: an end that was foreseen for another is none.
    pub work: u32,
    /// Operations that were taken and are not over, in order, some that are over among them.
    pub open: VecDeque<u64>,
    /// How long those of them take together that have not begun.
    pub backlog: Nanos,
    /// Whether it is looked at before time moves on.
    pub dirty: bool,
    /// Whether nobody draws it.
    pub silent: bool,
}

impl Station {
    /// An operation waits; of those that came at the same moment the first asked for goes first.
    pub fn enqueue(&mut self, waiting: (Nanos, u64)) {
        let place = self.queue.partition_point(|other| *other < waiting);
        self.queue.insert(place, waiting);
    }
}
