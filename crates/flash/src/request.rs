//! The only input of the simulator, and the only output of a request.

use std::fmt;
use std::num::NonZeroU64;

use crate::names::Cause;
use crate::rng::mix;
use crate::units::{Lpn, Nanos, Tag};

/// Most streams that a host has.
pub const STREAMS_MAX: usize = 16;

/// Most classes of data that a placement policy has.
pub const CLASSES_MAX: usize = 16;

/// What the host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Declare sectors unused (discard, unmap).
    Trim,
    /// Make everything that completed durable; carries no address.
    Flush,
}

/// One host request. Addresses are in sectors of 512 bytes from the start of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the host issues it, in nanoseconds from the start of the workload.
    pub arrival: Nanos,
    /// What it asks for.
    pub op: Op,
    /// First sector (512 B).
    pub first_sector: u64,
    /// Number of sectors, at least 1 (0 for a flush).
    pub sectors: u32,
    /// Whose it is: what a trace calls ASU, volume, disk or device; 0 where it does not say. A host
    /// of several streams tells them apart by it.
    pub unit: u32,
    /// Which stream of data it belongs to, where the trace or the workload says so: a placement
    /// hint.
    pub stream: Option<u8>,
    /// What a write puts there, where the trace or the workload says so.
    pub content: Option<Content>,
}

/// Which bytes a write puts on the device: equal numbers stand for equal bytes, different ones for
/// different bytes. Traces have it from a hash of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Content(NonZeroU64);

impl Content {
    /// The bytes that have this number. 0 has another one, which only chance gives to others.
    pub fn new(number: u64) -> Self {
        const ZERO: NonZeroU64 = NonZeroU64::new(0x9E37_79B9_7F4A_7C15).unwrap();
        Content(NonZeroU64::new(number).unwrap_or(ZERO))
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// The bytes from so many sectors (512 B) behind its beginning on: those of equal contents are
    /// equal. Its beginning is the content itself.
    #[must_use]
    pub fn from_sector(self, sectors: u64) -> Self {
        match sectors {
            0 => self,
            _ => Content::new(mix(self.number().wrapping_add(mix(sectors)))),
        }
    }
}

/// One page of a request, as a scheme sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageIo {
    /// The logical page.
    pub lpn: Lpn,
    /// Sectors of the page that the request touches, bit 0 = first sector.
    pub sectors: u64,
    /// What the page operations of this request are counted under: the host, or a buffer.
    pub cause: Cause,
    /// What a write puts there (unused by reads).
    pub data: Tag,
    /// The request it belongs to.
    pub request: RequestShape,
}

/// Size and position of a request, because some schemes decide by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestShape {
    /// First logical page of the request; of a trim the first one that it covers.
    pub first_lpn: Lpn,
    /// Pages that the request touches; of a trim those that it covers.
    pub pages: u32,
    /// This page's place in the request, `0 .. pages`.
    pub index: u32,
    /// Its size in sectors of 512 bytes: less than its pages hold where it begins or ends inside
    /// one.
    pub sectors: u32,
    /// What the host says about where it belongs (`host.hints`); none: nothing.
    pub hint: Option<u8>,
}

/// What the time from a request's arrival to its completion was spent on, in nanoseconds, along the
/// path that decided when it was done. The stages sum to [`Completion::system`] exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// In the driver's queue: from arrival to admission by the device.
    pub driver_queue: Nanos,
    /// On the link to the host, with waiting for it.
    pub host_link: Nanos,
    /// In the controller, with waiting for it.
    pub controller: Nanos,
    /// In the write buffer.
    pub buffer: Nanos,
    /// In operations on the map, with all their waits.
    pub map: Nanos,
    /// In the flash: cells at work, and waiting for them.
    pub flash: Nanos,
    /// On the channels, with waiting for them.
    pub channel: Nanos,
}

impl Stages {
    /// How many stages there are.
    pub const COUNT: usize = 7;

    /// Every stage, in the order in which a request goes through them.
    pub fn all(&self) -> [Nanos; Stages::COUNT] {
        let Stages { driver_queue, host_link, controller, buffer, map, flash, channel } = *self;
        [driver_queue, host_link, controller, buffer, map, flash, channel]
    }

    /// Sum of all, ns.
    pub fn total(&self) -> Nanos {
        self.all().iter().sum()
    }
}

/// When a request went through the device, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the host issued it.
    pub arrival: Nanos,
    /// When the device admitted it (a slot of its queue was free).
    pub admitted: Nanos,
    /// When its last page was done.
    pub completed: Nanos,
    /// What the time was spent on.
    pub stages: Stages,
    /// Pages that could not be read: the request completed, with an error.
    pub unreadable: Option<Unreadable>,
}

/// Pages of a request whose data is lost: no retry brought them back. Nothing is returned for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The first of them.
    pub first: Lpn,
    /// How many there are, at least 1.
    pub pages: u32,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unreadable { first, pages } = self;
        write!(f, "page {first} cannot be read ({pages} of the request)")
    }
}

impl Completion {
    /// Time in the host's queue, ns.
    pub fn queue(&self) -> Nanos {
        self.admitted - self.arrival
    }

    /// Time in the device, ns.
    pub fn device(&self) -> Nanos {
        self.completed - self.admitted
    }

    /// Queue plus device: what the host waits, ns.
    pub fn system(&self) -> Nanos {
        self.completed - self.arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_its_number_and_0_is_one_as_well() {
        assert_eq!(Content::new(7).number(), 7);
        assert_ne!(Content::new(0), Content::new(1));
    }

    #[test]
    fn what_lies_behind_the_beginning_of_a_content_is_another_and_equal_for_equal_ones() {
        let content = Content::new(7);
        assert_eq!(content.from_sector(0), content);
        assert_ne!(content.from_sector(4), content);
        assert_eq!(content.from_sector(4), Content::new(7).from_sector(4));
        assert_ne!(content.from_sector(4), content.from_sector(8));
        assert_ne!(content.from_sector(4), Content::new(8).from_sector(4));
    }

    #[test]
    fn stages_are_told_in_the_order_of_their_way_and_sum_up() {
        let stages = Stages {
            driver_queue: 1,
            host_link: 20,
            controller: 300,
            buffer: 4_000,
            map: 50_000,
            flash: 600_000,
            channel: 7_000_000,
        };
        assert_eq!(stages.all(), [1, 20, 300, 4_000, 50_000, 600_000, 7_000_000]);
        assert_eq!(stages.total(), 7_654_321);
    }

    #[test]
    fn a_request_waits_in_the_queue_and_in_the_device() {
        let (arrival, admitted, completed) = (1_000, 1_030, 1_400);
        let stages = Stages::default();
        let done = Completion { arrival, admitted, completed, stages, unreadable: None };
        assert_eq!((done.queue(), done.device(), done.system()), (30, 370, 400));
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_first_page_and_how_many_there_are() {
        let lost = Unreadable { first: Lpn(12), pages: 3 };
        assert_eq!(lost.to_string(), "page 12 cannot be read (3 of the request)");
    }
}
