//! A probe: requests of one kind and size, of which so many are always in flight.

use std::fmt;

/// What requests do, as fio calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// Reads at random addresses.
    RandRead,
    /// Reads in order.
    Read,
    /// Writes at random addresses.
    RandWrite,
    /// Writes in order.
    Write,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 4] =
        [Pattern::RandRead, Pattern::Read, Pattern::RandWrite, Pattern::Write];

    /// Its name in fio, and in inline specs of ours.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::RandRead => "randread",
            Pattern::Read => "read",
            Pattern::RandWrite => "randwrite",
            Pattern::Write => "write",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Pattern::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Pattern::RandWrite | Pattern::Write)
    }

    /// Whether its addresses are random.
    pub fn is_random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite)
    }
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probe {
    /// What they do.
    pub pattern: Pattern,
    /// Bytes of each.
    pub bytes: u64,
    /// How many are in flight.
    pub depth: u32,
}

/// Pattern and size: probes that differ in their depth alone.
pub type Curve = (Pattern, u64);

impl Probe {
    /// The curve that it is a point of.
    pub fn curve(self) -> Curve {
        (self.pattern, self.bytes)
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Probe { pattern, bytes, depth } = self;
        write!(f, "{}:bs={bytes},iodepth={depth}", pattern.name())
    }
}
