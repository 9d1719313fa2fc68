//! A device as the outside drives it: the one object-safe boundary, one virtual call per host
//! request.

use std::fmt;
use std::ops::ControlFlow;

use crate::audit::Audit;
use crate::contents::CONTENTS_MAX;
use crate::host::LongestQueue;
use crate::settings::SsdSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::request::{Completion, Request};
use ftlab_flash::units::{Lpn, Nanos, Tag};
use ftlab_ftl::answers::{Location, Room};

/// Why a request could not be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// The flash or the scheme gave up.
    Fault(Fault),
    /// The request reaches beyond the device.
    OutOfRange {
        /// First sector of the request.
        first_sector: u64,
        /// Its sectors.
        sectors: u32,
        /// Sectors that the device exports.
        capacity: u64,
    },
    /// What was written cannot be told apart any more.
    TooManyContents,
    /// A read returned something else than was written last.
    WrongData {
        /// The page.
        lpn: Lpn,
        /// The version written last.
        expected: Tag,
        /// The version found.
        found: Tag,
    },
}

impl From<Fault> for DeviceError {
    fn from(fault: Fault) -> Self {
        DeviceError::Fault(fault)
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Fault(fault) => fault.fmt(f),
            DeviceError::OutOfRange { first_sector, sectors, capacity } => write!(
                f,
                "sectors {first_sector} to {} lie beyond the device, which has {capacity}",
                first_sector + u64::from(*sectors)
            ),
            DeviceError::TooManyContents => write!(
                f,
                "the workload writes more contents than can be told apart: {CONTENTS_MAX} different \
                 ones, or {} pages of which none is like another",
                u32::MAX - 1
            ),
            DeviceError::WrongData { lpn, expected, found } => write!(
                f,
                "page {lpn} reads back version {found}, but version {expected} was written last"
            ),
        }
    }
}

impl std::error::Error for DeviceError {}

/// What becomes of requests that are served in a row.
#[derive(Clone, Debug)]
pub struct Served {
    /// When the last request of a closed loop arrived; none where requests arrive by themselves.
    pub(crate) closed: Option<Nanos>,
    /// What waited for the device.
    pub(crate) longest: LongestQueue,
    /// When the last of them all was done.
    pub(crate) completed: Nanos,
}

/// A device as the outside drives it. It is plain data: it may go to another thread, and several
/// may duplicate it at once.
pub trait Device: Send + Sync {
    /// Serves one request as soon as a slot of the queue is free; arrivals must not go backwards.
    /// Under an event-driven clock this is a host that waits for each: nothing else arrives before
    /// it is done.
    fn submit(&mut self, request: &Request) -> Result<Completion, DeviceError>;
    /// Serves a request that a driver held until `at`, on the clock of arrivals; neither `at` nor
    /// the later of `at` and the arrival may go backwards.
    fn submit_at(&mut self, request: &Request, at: Nanos) -> Result<Completion, DeviceError>;
    /// Serves requests one after another, which changes nothing but how fast that goes. Those of a
    /// closed loop arrive when the device can take them, whatever they say. They are all counted
    /// once [`Device::complete_all`] was called, or something else was done with the device.
    ///
    /// # Errors
    /// Of the first request that cannot be served; those before it are.
    fn submit_all(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError>;
    /// Completes and counts all that [`Device::submit_all`] took: nothing arrives any more. Only an
    /// event-driven clock leaves anything to be completed.
    fn complete_all(&mut self, served: &mut Served);
    /// The earliest moment, on the clock of arrivals, at which another request could be admitted
    /// (closed loops ask). Under an event-driven clock the present: with every slot taken nobody
    /// knows when one will be free, and a request that arrives then waits in front of the device.
    fn next_slot(&self) -> Nanos;
    /// When the flash that a request needs is idle, as far as can be told before it is served, on
    /// the clock of arrivals: for a read the die of its first page, for others any die.
    fn ready_from(&self, request: &Request) -> Nanos;
    /// Everything counted so far is forgotten and the clock starts at 0; flash, maps and caches
    /// stay as they are.
    fn start_measuring(&mut self);
    /// Checks the whole device.
    fn audit(&self) -> Result<Audit, String> {
        match self.audit_while(&mut |_| ControlFlow::Continue(()))? {
            ControlFlow::Continue(audit) => Ok(audit),
            ControlFlow::Break(()) => unreachable!("nobody ends it"),
        }
    }
    /// The same; `noted` is told of the pages as they are looked at, and may end it.
    fn audit_while(
        &self,
        noted: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Audit>, String>;
    /// Flash and counts.
    fn board(&self) -> &Board;
    /// Flash and counts, to plan faults.
    fn board_mut(&mut self) -> &mut Board;
    /// The settings in force.
    fn config(&self) -> &SsdSettings;
    /// Free blocks and threshold.
    fn room(&self) -> Room;
    /// Reads that were compared with what was written.
    fn verified_reads(&self) -> u64;
    /// The version that the last page of a host write got.
    fn last_version(&self) -> Tag;
    /// From now on a request's unit says of which part of a workload it is, too: what hints go by
    /// (`host.hints = unit`) is its remainder by `stride`, which is above 0.
    fn units_have_stride(&mut self, stride: u32);
    /// From now on every read notes which versions it found.
    fn note_versions(&mut self);
    /// The versions that the last request found, page by page, if it was a read: 0 where nothing
    /// was, [`Tag::UNREADABLE`] where data is lost. Empty unless [noted](Device::note_versions).
    fn versions_found(&self) -> &[Tag];
    /// Whether a page was written and not trimmed since.
    fn is_written(&self, lpn: Lpn) -> bool;
    /// Where a page is.
    fn locate(&self, lpn: Lpn) -> Location;
    /// When everything submitted so far is done, on the clock of arrivals.
    fn idle_from(&self) -> Nanos;
    /// The device's own clock at time 0 of arrivals.
    fn measured_from(&self) -> Nanos;
    /// What the scheme keeps in phase-change memory, word by word; empty for most.
    fn pcm(&self) -> &[u32];
    /// The same, to be put back before the scheme recovers from it.
    fn pcm_mut(&mut self) -> &mut [u32];
    /// Cuts the power if it is not off already, turns it on again and lets the scheme recover;
    /// returns how long that took.
    fn power_cycle(&mut self) -> Result<Nanos, DeviceError>;
    /// Map entries that memory has changed and that are not written to where the map lies.
    fn changed_entries(&self) -> u64;
    /// Writes a buffer out and changed map entries back: what is cached stays, and is clean, if the
    /// scheme can do that; no request of the host is counted. Returns how many entries had changed.
    fn clean_caches(&mut self) -> Result<u64, DeviceError>;
    /// Compares every read with what was written last, from now on (before the first write).
    fn verify_reads(&mut self);
    /// A second device in the same state, down to its caches and what it is about to draw: the same
    /// requests give the same answers. Memory that this one never touched becomes resident in it.
    fn duplicate(&self) -> Box<dyn Device>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_which_sectors_or_pages_they_are_about() {
        let beyond = DeviceError::OutOfRange { first_sector: 90, sectors: 20, capacity: 100 };
        let words = "sectors 90 to 110 lie beyond the device, which has 100";
        assert_eq!(beyond.to_string(), words);
        let (lpn, expected, found) = (Lpn(3), Tag(7), Tag(5));
        let wrong = DeviceError::WrongData { lpn, expected, found };
        let words = "page 3 reads back version 5, but version 7 was written last";
        assert_eq!(wrong.to_string(), words);
        let many = DeviceError::TooManyContents.to_string();
        assert!(many.contains("268435456 different ones, or 4294967294 pages of which"), "{many}");
        let fault = DeviceError::from(Fault::PowerCut);
        assert_eq!(fault.to_string(), Fault::PowerCut.to_string());
    }
}
