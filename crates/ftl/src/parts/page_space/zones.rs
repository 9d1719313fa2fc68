//! Lines as the zones of a host: which are open, what the host sends to copy and to reset them, and
//! what becomes of those that a power cut left half written.
//!
//! A zone is empty, open, closed or full. Empty ones are free, full ones candidates; each stream
//! writes to one of the others, which is *active*. Of these at most `max_open` are open: to open
//! another one the drive closes the one that was written longest ago. What lines are, and which
//! part of a line a zone is, says [`crate::parts::zone_rules`].
//!
//! The log of the host is the map of pages on lines, and what the host does beside them is three
//! calls of page space: a page was written, a page is copied, a zone is reset. What a drive refuses
//! is a fault (`Refused`) that ends the run.

use super::lines::ALL;
use super::{Frontier, PageSpace, Place, Stream};
use crate::parts::zone_rules::ZoneRules;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event, Level};
use ftlab_flash::units::{BlockId, Ppn};

/// The zones of a host.
#[derive(Clone, Debug)]
pub(super) struct Zones {
    pub(super) rules: ZoneRules,
    /// Streams whose zone is open, the one that was written longest ago first.
    open: Vec<Stream>,
}

impl Zones {
    /// None where lines are the drive's own.
    pub(super) fn new(config: &SharedSettings) -> Option<Self> {
        let rules = config.zones?;
        Some(Zones { rules, open: Vec::with_capacity(Stream::COUNT) })
    }

    /// A page goes to the zone of a stream; how many zones the drive closes for that.
    fn write(&mut self, stream: Stream) -> u64 {
        let known = self.open.iter().position(|&other| other == stream);
        let (gone, closed) = match known {
            Some(place) => (Some(place), 0),
            None if self.open.len() >= self.rules.max_open as usize => (Some(0), 1),
            None => (None, 0),
        };
        gone.map(|place| self.open.remove(place));
        self.open.push(stream);
        closed
    }
}

impl PageSpace {
    /// A page was written to the zone of a stream.
    pub(super) fn zone_written(&mut self, board: &mut Board, stream: Stream) {
        let Some(zones) = &mut self.zones else { return };
        board.event(Event::ZoneCloses, zones.write(stream));
        if !self.zone_has_room(stream) {
            self.zone_is_full(stream);
            self.tell_zones(board);
        }
    }

    /// Whether the zone of a stream takes another page.
    pub fn zone_has_room(&self, stream: Stream) -> bool {
        self.open_zone(stream).is_some()
    }

    /// The zone that a stream writes to, as long as it has room.
    pub fn open_zone(&self, stream: Stream) -> Option<BlockId> {
        let frontier = &self.planes[ALL.index()].frontiers[stream.index()];
        frontier.block.filter(|_| frontier.next < self.pages_per_block)
    }

    /// Whether lines are zones, which a host writes.
    pub fn is_the_hosts(&self) -> bool {
        self.zones.is_some()
    }

    /// Whether the host says by itself which zone a page goes to.
    pub(super) fn has_raw_zones(&self) -> bool {
        self.zones.as_ref().is_some_and(|zones| zones.rules.raw)
    }

    /// Classes of data without a zone.
    pub fn free_classes(&self) -> impl Iterator<Item = Stream> + '_ {
        let frontiers = &self.planes[ALL.index()].frontiers;
        Stream::classes().filter(|stream| frontiers[stream.index()].block.is_none())
    }

    /// The zone of a class is full: the class is free for another one.
    pub fn leave_zone(&mut self, board: &mut Board, stream: Stream) {
        self.close(board.nand(), ALL, stream);
        self.tell_zones(board);
    }

    /// The zone of a page.
    pub fn zone_of(&self, nand: &Nand, page: Ppn) -> BlockId {
        self.unit_of(nand.geometry().block_of(page))
    }

    /// The host resets a zone of which no page is valid any more, full or not.
    ///
    /// # Errors
    /// As an erase, where the power goes.
    pub fn reset_zone(
        &mut self,
        board: &mut Board,
        zone: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let frontiers = &self.planes[ALL.index()].frontiers;
        let is_open = |stream: &Stream| frontiers[stream.index()].block == Some(zone);
        if let Some(stream) = Stream::all().find(is_open) {
            self.close(board.nand(), ALL, stream);
        }
        self.is_candidate_no_more(board.nand(), zone);
        self.stream_of[zone.index()] = 0;
        let reset = self.release(board, zone, BlockRole::Data, Cause::Host, after);
        self.tell_zones(board);
        reset
    }

    /// The zone of a stream is full, or was finished.
    pub(super) fn zone_is_full(&mut self, stream: Stream) {
        if let Some(zones) = &mut self.zones {
            zones.open.retain(|&other| other != stream);
        }
    }

    /// How many zones are active.
    pub(super) fn tell_zones(&self, board: &mut Board) {
        if self.zones.is_some() {
            let frontiers = &self.planes[ALL.index()].frontiers;
            let is_active = |frontier: &&Frontier| {
                frontier.block.is_some() && frontier.next < self.pages_per_block
            };
            board.level(Level::ActiveZones, frontiers.iter().filter(is_active).count() as u64);
        }
    }

    /// Copies a page to the next one of a stream: within the drive, or by way of the host.
    #[inline(always)]
    pub(super) fn move_copy(
        &mut self,
        board: &mut Board,
        place: Place,
        (old, kind): (Ppn, PageKind),
        cause: Cause,
        after: When,
    ) -> Result<(Ppn, When), Fault> {
        let by_host = self.zones.as_ref().is_some_and(|zones| !zones.rules.copy_in_device);
        self.program(board, place, after, |board, new, ready| match by_host {
            true => board.copy_by_host(old, new, kind, cause, ready),
            false => board.copy(old, new, kind, cause, ready),
        })
    }

    /// The host resets a zone: when the drive knows.
    pub fn zone_reset(&self, board: &mut Board, after: When) -> When {
        if self.zones.is_none() {
            return after;
        }
        board.event(Event::ZoneResets, 1);
        board.command(after)
    }

    /// After a power cut, before candidates are put up: finishes the zones in `full` that are not,
    /// since nobody writes them on, and those of the streams where the host does not go on with
    /// them and has enough others to collect with.
    pub(super) fn finish_found_zones(
        &mut self,
        board: &mut Board,
        full: &mut Vec<BlockId>,
        after: When,
    ) -> Result<When, Fault> {
        let Some(zones) = self.zones.as_ref().filter(|zones| !zones.rules.raw) else {
            return Ok(after);
        };
        // A collection that was cut has its target half written, and needs it where too few zones
        // are empty to begin another.
        let finishes_all = zones.rules.finish_after_cut && !self.has_few_free(ALL);
        let mut done = after;
        for &line in full.iter() {
            let Some((frontier, open)) = self.end_of_line(board.nand(), line) else { continue };
            // Nobody levels zones: the stream of levelling is there to be borrowed.
            self.planes[ALL.index()].frontiers[Stream::Worn.index()] = frontier;
            let lines = self.lines.as_mut().expect("zones are lines");
            lines.open[Stream::Worn.index()] = open;
            done = done.join(self.finish_zone(board, (line, Stream::Worn), after)?);
            self.planes[ALL.index()].frontiers[Stream::Worn.index()] = Frontier::default();
        }
        if finishes_all {
            done = done.join(self.finish_open_zones(board, full, after)?);
        }
        self.tell_zones(board);
        Ok(done)
    }

    /// Finishes the zones that could be written on.
    fn finish_open_zones(
        &mut self,
        board: &mut Board,
        full: &mut Vec<BlockId>,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for stream in Stream::all() {
            let frontier = self.planes[ALL.index()].frontiers[stream.index()];
            let Some(line) = frontier.block else { continue };
            done = done.join(self.finish_zone(board, (line, stream), after)?);
            self.planes[ALL.index()].frontiers[stream.index()] = Frontier::default();
            full.push(line);
        }
        Ok(done)
    }

    /// Fills a zone up with pages that hold nothing, so that it is active no more.
    fn finish_zone(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::ZoneFinishes, 1);
        let after = board.command(after);
        let mut done = after;
        while self.planes[ALL.index()].frontiers[stream.index()].next < self.pages_per_block {
            let (padded, _) = self.pad_slot(board, (line, stream), after)?;
            done = done.join(padded);
        }
        Ok(done)
    }
}
