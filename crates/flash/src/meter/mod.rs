//! Counts by operation and cause, histograms and windows; derives nothing.
//!
//! What is a ratio, a percentile or a joule is worked out by the report, from these.

mod buckets;
mod classes;
mod counts;
mod groups;
mod latency;
mod pieces;
mod streams;
mod window_times;
mod windows;

pub use classes::{ClassCounts, ClassGroup};
pub use counts::Counts;
pub use latency::{LatencyMeter, LatencyStatistics};
pub use pieces::Piece;
pub use streams::StreamCounts;
pub use windows::{Responses, Totals, Window, Windows};

pub use crate::names::{BlockRole, Cause, Event, Level};
use std::ops::Range;

use crate::request::{CLASSES_MAX, Completion, Op, Request, STREAMS_MAX};
use crate::units::Nanos;
use pieces::Pieces;

/// Values of all levels, each plus one; 0 where nothing was told.
pub type Levels = [u64; Level::COUNT];

/// Counts of merges, and of page-mapped victims under the same names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merges {
    /// Nothing was copied.
    pub switch: u64,
    /// Some pages were copied.
    pub partial: u64,
    /// Log blocks merged in full (page-mapped: victims with every page valid, which never happens).
    pub full: u64,
    /// Data blocks rebuilt by full merges.
    pub full_data_blocks: u64,
    /// Full merges by number of data blocks.
    pub associativity: Vec<u64>,
}

/// What the host asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Requests by operation, as the host sent them: read, write, trim, flush.
    pub requests: [u64; 4],
    /// Those of them that reached the device in pieces.
    pub split: u64,
    /// Their pieces.
    pub pieces: u64,
    /// Requests completed.
    pub completed: u64,
    /// Requests that failed or that a power cut interrupted.
    pub interrupted: u64,
    /// Requests that completed with an error: a page could not be read.
    pub failed: u64,
    /// Host pages that could not be read, each time they were asked for.
    pub unreadable_pages: u64,
    /// Pages by operation: read, write, trim.
    pub pages: [u64; 3],
    /// Sectors by operation: read, write, trim.
    pub sectors: [u64; 3],
}

impl HostCounts {
    /// Requests of all kinds.
    pub fn total_requests(&self) -> u64 {
        self.requests.iter().sum()
    }
}

/// All counts of a run.
#[derive(Clone, Debug)]
pub struct Meter {
    reads: [u64; Cause::COUNT],
    programs: [u64; Cause::COUNT],
    erases: [u64; BlockRole::COUNT],
    erases_by_cause: [u64; Cause::COUNT],
    /// Reads and programs that no host page is, and erases: what windows show as GC.
    overhead_programs: u64,
    total_erases: u64,
    oob_reads: u64,
    events: [u64; Event::COUNT],
    merges: Merges,
    host: HostCounts,
    streams: [StreamCounts; STREAMS_MAX],
    classes: [ClassCounts; CLASSES_MAX],
    latency: LatencyMeter,
    windows: Windows,
    pieces: Pieces,
}

impl Meter {
    /// Zeroes for a device of so many pages a block.
    pub fn new(pages_per_block: u32) -> Self {
        Meter {
            reads: [0; Cause::COUNT],
            programs: [0; Cause::COUNT],
            erases: [0; BlockRole::COUNT],
            erases_by_cause: [0; Cause::COUNT],
            overhead_programs: 0,
            total_erases: 0,
            oob_reads: 0,
            events: [0; Event::COUNT],
            merges: Merges {
                switch: 0,
                partial: 0,
                full: 0,
                full_data_blocks: 0,
                associativity: vec![0; pages_per_block as usize + 1],
            },
            host: HostCounts::default(),
            streams: [StreamCounts::default(); STREAMS_MAX],
            classes: [ClassCounts::default(); CLASSES_MAX],
            latency: LatencyMeter::new(),
            windows: Windows::new(),
            pieces: Pieces::default(),
        }
    }

    /// Page reads by cause.
    pub fn reads(&self, cause: Cause) -> u64 {
        self.reads[cause as usize]
    }

    /// Page programs by cause.
    pub fn programs(&self, cause: Cause) -> u64 {
        self.programs[cause as usize]
    }

    /// Page reads of all causes.
    pub fn total_reads(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// Page programs of all causes.
    pub fn total_programs(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Block erases by role.
    pub fn erases(&self, role: BlockRole) -> u64 {
        self.erases[role as usize]
    }

    /// Block erases by cause.
    pub fn erases_by_cause(&self, cause: Cause) -> u64 {
        self.erases_by_cause[cause as usize]
    }

    /// Block erases of all roles.
    pub fn total_erases(&self) -> u64 {
        self.total_erases
    }

    /// Out-of-band areas read.
    pub fn oob_reads(&self) -> u64 {
        self.oob_reads
    }

    /// How often an event was named.
    pub fn events(&self, event: Event) -> u64 {
        self.events[event as usize]
    }

    /// Merges and victims.
    pub fn merges(&self) -> &Merges {
        &self.merges
    }

    /// The host's requests.
    pub fn host(&self) -> &HostCounts {
        &self.host
    }

    /// Requests of each stream; counted only where the host has several.
    pub fn streams(&self) -> &[StreamCounts; STREAMS_MAX] {
        &self.streams
    }

    /// Response times.
    pub fn latency(&self) -> &LatencyMeter {
        &self.latency
    }

    /// Response time and collection over simulated time.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    #[inline]
    pub(crate) fn read(&mut self, cause: Cause) {
        self.reads[cause as usize] += 1;
    }

    #[inline]
    pub(crate) fn program(&mut self, cause: Cause) {
        self.programs[cause as usize] += 1;
        self.overhead_programs += u64::from(cause != Cause::Host);
    }

    /// So many pages were read and programmed elsewhere.
    #[inline]
    pub(crate) fn copies(&mut self, cause: Cause, count: u32) {
        self.reads[cause as usize] += u64::from(count);
        self.programs[cause as usize] += u64::from(count);
        self.overhead_programs += u64::from(if cause == Cause::Host { 0 } else { count });
    }

    #[inline]
    pub(crate) fn erase(&mut self, role: BlockRole, cause: Cause) {
        self.erases[role as usize] += 1;
        self.erases_by_cause[cause as usize] += 1;
        self.total_erases += 1;
    }

    #[inline]
    pub(crate) fn oob_read(&mut self) {
        self.oob_reads += 1;
    }

    #[inline]
    pub(crate) fn event(&mut self, event: Event, count: u64) {
        self.events[event as usize] += count;
    }

    #[inline]
    pub(crate) fn victim(&mut self, copied: u32, pages_per_block: u32) {
        match copied {
            0 => self.merges.switch += 1,
            n if n < pages_per_block => self.merges.partial += 1,
            _ => self.merges.full += 1,
        }
    }

    pub(crate) fn merge_switch(&mut self) {
        self.merges.switch += 1;
    }

    pub(crate) fn merge_partial(&mut self) {
        self.merges.partial += 1;
    }

    pub(crate) fn merge_full(&mut self, data_blocks: u32) {
        self.merges.full += 1;
        self.merges.full_data_blocks += u64::from(data_blocks);
        let last = self.merges.associativity.len() - 1;
        self.merges.associativity[(data_blocks as usize).min(last)] += 1;
    }

    /// The next request that is counted is a piece of one that the host sent.
    pub fn piece(&mut self, piece: Piece) {
        self.pieces.next(piece);
    }

    /// The request counted last will be completed after others were counted: the piece that it is
    /// of another, to be told again ([`Meter::piece`]) before it is.
    pub fn set_aside(&mut self) -> Option<Piece> {
        self.pieces.set_aside()
    }

    /// Whether what is counted next is of a whole request, not of a piece of one.
    #[inline]
    pub fn counts_whole_requests(&self) -> bool {
        self.pieces.is_whole()
    }

    /// What is counted next, of a request that is taken or done, is of this piece of another; of a
    /// whole request, if none is told.
    pub fn present_is(&mut self, piece: Option<Piece>) {
        self.pieces.present_is(piece);
    }

    /// How the host's request went of which `completion` was counted last: none while others of its
    /// pieces are to come.
    #[inline]
    pub fn whole(&self, completion: &Completion) -> Option<Completion> {
        self.pieces.whole(completion)
    }

    /// Counts a request of so many pages and sectors.
    #[inline]
    pub fn request(&mut self, op: Op, pages: u64, sectors: u64) {
        let kind = op as usize;
        if self.pieces.is_whole() {
            self.host.requests[kind] += 1;
        } else {
            self.request_in_pieces(kind);
        }
        if kind < 3 {
            self.host.pages[kind] += pages;
            self.host.sectors[kind] += sectors;
        }
    }

    /// Counts so many requests of a page each, of so many sectors together, none of which is a
    /// piece of another.
    #[inline]
    pub fn requests_of_a_page(&mut self, op: Op, requests: u64, sectors: u64) {
        self.host.requests[op as usize] += requests;
        self.host.pages[op as usize] += requests;
        self.host.sectors[op as usize] += sectors;
    }

    #[cold]
    fn request_in_pieces(&mut self, kind: usize) {
        let is_new = self.pieces.begins();
        self.host.requests[kind] += u64::from(is_new);
        if !self.pieces.is_whole() {
            self.host.split += u64::from(is_new);
            self.host.pieces += 1;
        }
    }

    /// A level now stands at `value`.
    pub(crate) fn level(&mut self, level: Level, value: u64) {
        self.windows.level(level, value);
    }

    /// What a level was last told to stand at.
    pub fn level_now(&self, level: Level) -> Option<u64> {
        self.windows.level_now(level)
    }

    /// Counts a completed request of one of several streams, the one that was counted last.
    pub fn stream(&mut self, stream: u32, request: &Request, completion: &Completion) {
        let whole = self.pieces.whole(completion);
        self.streams[stream as usize].record(request, whole.as_ref());
    }

    /// Counts a completed request; true when free blocks should be sampled.
    #[inline]
    pub fn complete(&mut self, op: Op, completion: &Completion) -> bool {
        match self.pieces.is_whole() {
            true => self.count(op, completion),
            false => self.complete_in_pieces(op, completion),
        }
    }

    #[cold]
    fn complete_in_pieces(&mut self, op: Op, completion: &Completion) -> bool {
        let whole = self.pieces.done(completion);
        whole.is_some_and(|whole| self.count(op, &whole))
    }

    #[inline(always)]
    fn count(&mut self, op: Op, completion: &Completion) -> bool {
        self.host.completed += 1;
        if let Some(unreadable) = completion.unreadable {
            self.unreadable(unreadable.pages);
        }
        self.latency.record(op, completion, 1);
        let totals = self.totals();
        self.windows.record(op, completion, totals)
    }

    /// What windows show the growth of.
    #[inline(always)]
    pub fn totals(&self) -> Totals {
        Totals {
            host_pages_written: self.host.pages[Op::Write as usize],
            overhead_programs: self.overhead_programs,
            erases: self.total_erases,
        }
    }

    /// The window in which the request completed that was counted last.
    #[inline]
    pub fn present_window(&self) -> Range<Nanos> {
        self.windows.present()
    }

    /// Counts requests that completed one after another, `completion` as the last of them, each as
    /// long and by the same stages, readable, and in the window of the request counted before;
    /// `totals` are those of when the last was done.
    ///
    /// # Panics
    /// When a piece of a request is among them.
    #[inline]
    pub fn complete_alike(
        &mut self,
        op: Op,
        completion: &Completion,
        requests: u32,
        totals: Totals,
    ) {
        assert!(self.pieces.is_whole(), "pieces of a request are counted one by one");
        self.host.completed += u64::from(requests);
        self.latency.record(op, completion, requests);
        self.windows.record_alike(op, completion, requests, totals);
    }

    /// How many blocks are free now, in the plane with fewest.
    #[cold]
    pub fn sample_free_blocks(&mut self, free_blocks: u32) {
        self.windows.sample_free_blocks(free_blocks);
    }

    #[cold]
    fn unreadable(&mut self, pages: u32) {
        self.host.failed += 1;
        self.host.unreadable_pages += u64::from(pages);
    }

    /// Counts a request that failed, or that a power cut interrupted.
    pub fn interrupt(&mut self) {
        self.host.interrupted += self.pieces.fail();
    }

    pub(crate) fn reset(&mut self) {
        self.reads.fill(0);
        self.programs.fill(0);
        self.erases.fill(0);
        self.erases_by_cause.fill(0);
        self.overhead_programs = 0;
        self.total_erases = 0;
        self.oob_reads = 0;
        self.events.fill(0);
        let merges = &mut self.merges;
        (merges.switch, merges.partial, merges.full, merges.full_data_blocks) = (0, 0, 0, 0);
        merges.associativity.fill(0);
        self.host = HostCounts::default();
        self.streams.fill(StreamCounts::default());
        for class in &mut self.classes {
            *class = ClassCounts { group: class.group, ..ClassCounts::default() };
        }
        self.latency.reset();
        self.windows.reset();
        self.pieces.reset();
    }
}

#[cfg(test)]
mod tests;
