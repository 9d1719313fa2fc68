//! The gate: every flash operation of every scheme passes here, in this order: law, state, time,
//! count.
//!
//! Where nothing can fail and nobody writes operations down it takes a short way through the same
//! four (`Nand::plain`); a victim's pages move as a run, and a merge copies in runs (`run.rs`).
//!
//! What this is not: a place that knows schemes. An operation takes a [`Cause`] and the moment
//! after which it may start ([`When`]), and returns when it is done or a [`Fault`].

mod aging;
pub mod cell_mode;
pub mod clock;
mod copy;
mod erase;
mod factory;
pub mod fault;
pub mod geometry;
mod law;
mod mover;
pub mod oob;
mod payload;
mod power;
mod program;
mod rain;
mod read_fault;
#[cfg(test)]
mod read_tests;
pub mod record;
pub mod restore;
pub mod run;
pub mod state;
#[cfg(test)]
mod tests;
pub mod units;

use aging::Aging;
pub use aging::DueFor;
use cell_mode::{CellMode, CellModes};
use clock::timeline::Timeline;
use clock::{Clock, Load, Place};
use fault::{Fault, FaultPlan, ReadVerdict};
use geometry::Geometry;
use payload::Payloads;
pub use payload::{Draft, Drafting, Payload, replace_words};
pub use program::PageWrite;
use program::ProgramLedger;
pub use rain::FAILING_MAX;
use rain::Rain;
use record::{Operation, OperationRecord};
use state::{OobRead, State};
use units::{Source, Units};

use super::when::When;
use crate::board::settings::{BoardSettings, PartialWrite, ProgramOrder};
use crate::meter::{Cause, Meter};
use crate::units::{BlockId, Nanos, PlaneId, Ppn};

/// The flash of a device behind its gate.
#[derive(Clone, Debug)]
pub struct Nand {
    geometry: Geometry,
    state: State,
    modes: CellModes,
    clock: Clock,
    units: Units,
    faults: FaultPlan,
    payloads: Payloads,
    order: ProgramOrder,
    sequence: u64,
    retired: u32,
    /// Blocks that were bad from the start, in order; they count as retired.
    factory_bad: Vec<BlockId>,
    /// Programs that took a sequence number or a page without being counted, and the reverse, since
    /// measuring began: what the audit needs to compare counts with the flash itself.
    ledger: ProgramLedger,
    /// True while a scheme recovers: out-of-band reads are charged as page reads.
    recovering: bool,
    /// Whether the operation under way crosses the channel; only a copyback does not.
    load: Load,
    /// Out-of-band areas written to mark a page as superseded, since measuring began.
    oob_writes: u64,
    record: OperationRecord,
    /// Parity over dies.
    rain: Option<Box<Rain>>,
    /// Reads of blocks and age of data, where they count.
    aging: Option<Box<Aging>>,
    /// Every operation works, and is nothing but law, state, time and count: the short way.
    plain: bool,
    /// Somebody may plan failures or writes operations down: no short way any more.
    watched: bool,
}

/// Payload slots beyond what a scheme declares: both versions of pages that a power cut left.
const SPARE_PAYLOAD_SLOTS: u64 = 256;

impl Nand {
    /// An erased device that keeps the payload of up to `payload_pages` live pages.
    pub fn new(config: &BoardSettings, seed: u64, payload_pages: u64) -> Self {
        let geometry = Geometry::new(&config.device);
        let slots = (payload_pages + SPARE_PAYLOAD_SLOTS).min(u64::from(geometry.pages())) as u32;
        let mut nand = Nand {
            state: State::new(&geometry, config.io.partial_write == PartialWrite::Rmw),
            clock: Clock::new(&config.timing, &geometry),
            units: Units::new(&geometry),
            faults: FaultPlan::new(&config.nand, seed),
            payloads: Payloads::new(slots, geometry.entries_per_page()),
            order: config.nand.enforce_order,
            sequence: 0,
            retired: 0,
            modes: CellModes::new(&config.device, &geometry, config.wear.blocks_die),
            factory_bad: factory::bad_blocks(config, seed),
            ledger: ProgramLedger::default(),
            recovering: false,
            load: Load::Channel,
            oob_writes: 0,
            record: OperationRecord::default(),
            rain: Rain::new(config),
            aging: Aging::new(config, geometry.blocks()),
            plain: false,
            watched: false,
            geometry,
        };
        nand.retire_factory_bad();
        nand.look_whether_plain();
        nand
    }

    /// Sizes of the device.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What the flash holds, for looking, never for deciding about time.
    #[inline]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How many bits the cells of each block hold.
    #[inline]
    pub fn modes(&self) -> &CellModes {
        &self.modes
    }

    /// The first program of an erased block will be in SLC mode.
    pub fn choose_slc(&mut self, block: BlockId) {
        law::choose_slc(&self.geometry, &self.state, &self.modes, block);
        self.set_mode(block, CellMode::Slc);
    }

    fn set_mode(&mut self, block: BlockId, mode: CellMode) {
        self.modes.set(block, mode);
        self.clock.set_slc(block, mode == CellMode::Slc);
    }

    /// The clock.
    #[inline]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The clock, for the device around a scheme, which admits requests.
    #[inline]
    pub fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The next page programmed on this plane's die has so many companions (see
    /// [`Clock::announce`]).
    pub fn announce(&mut self, plane: PlaneId, companions: u32, cause: Cause) {
        self.clock.announce(plane, companions, cause);
    }

    /// What each die, channel and the controller does when, for Gantt charts.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        self.clock.timeline_mut()
    }

    /// The plan of failures, for tests and fault campaigns.
    pub fn faults_mut(&mut self) -> &mut FaultPlan {
        (self.watched, self.plain) = (true, false);
        &mut self.faults
    }

    /// The record of operations.
    pub fn record_mut(&mut self) -> &mut OperationRecord {
        (self.watched, self.plain) = (true, false);
        &mut self.record
    }

    fn look_whether_plain(&mut self) {
        let works = !self.watched && self.faults.is_quiet();
        let simple = !self.units.are_small() && !self.modes.are_there();
        self.plain = works && simple && self.rain.is_none() && self.aging.is_none();
    }

    /// Whether every operation works and is nothing but law, state, time and count.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether the power is on.
    pub fn has_power(&self) -> bool {
        self.faults.has_power()
    }

    /// Sequence number of the last program; recovery measures age by it.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Programs that must have been counted since measuring began, told from the sequence numbers
    /// on flash alone.
    pub fn programs_on_flash(&self) -> u64 {
        let ledger = &self.ledger;
        self.sequence - ledger.sequence_before - ledger.interrupted + ledger.failed
    }

    /// Pages marked as superseded since measuring began; a device that keeps the mark in the
    /// out-of-band area writes it there (`timing.oob_write`).
    pub fn oob_writes(&self) -> u64 {
        self.oob_writes
    }

    /// Blocks out of use: those that were bad from the start and those retired since.
    pub fn retired_blocks(&self) -> u32 {
        self.retired
    }

    /// Valid pages of a block.
    #[inline]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.state.block(block).valid
    }

    /// When a plane is free for good.
    #[inline]
    pub fn plane_free_from(&self, plane: PlaneId) -> Nanos {
        self.clock.free_from(plane)
    }

    /// Behind `after` and everything that a plane has been given to do.
    pub fn behind_plane(&mut self, plane: PlaneId, after: When) -> When {
        self.clock.behind(plane, after)
    }

    #[inline(always)]
    pub(super) fn read(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if self.plain {
            law::read(&self.geometry, &self.state, ppn);
            meter.read(cause);
            return Ok(match self.clock.read_on_server(cause) {
                Some(done) => done.token(),
                None => self.time_read(ppn, cause, after),
            });
        }
        self.read_with_care(meter, ppn, cause, after)
    }

    /// The time of a read of which all else is done.
    #[inline(never)]
    fn time_read(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        self.clock.read_page(Place::of(&self.geometry, ppn), cause, after)
    }

    /// A page read that may fail, come from elsewhere or be written down.
    #[inline(never)]
    fn read_with_care(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let verdict = self.judge_read(ppn, after);
        if verdict == ReadVerdict::NoPower {
            return Err(Fault::PowerCut);
        }
        law::read(&self.geometry, &self.state, ppn);
        if verdict == ReadVerdict::Uncorrectable && self.is_known_out(ppn) {
            return self.read_elsewhere(meter, ppn, after);
        }
        let done = self.sense(ppn, cause, after);
        meter.read(cause);
        self.record.add(Operation::Read(ppn, cause));
        match verdict {
            ReadVerdict::Works => Ok(done),
            _ => self.read_again(meter, ppn, verdict, cause, done),
        }
    }

    /// Time of a page read, from the cells or from wherever a unit is.
    pub(super) fn sense(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        if self.units.are_small() {
            return self.read_unit(ppn, cause, after);
        }
        self.cells_sensed(ppn);
        self.clock.read_page(self.place(ppn), cause, after)
    }

    /// A page read that finds nothing: time and count without a page.
    pub(super) fn read_nothing(
        &mut self,
        meter: &mut Meter,
        plane: PlaneId,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !self.faults.has_power() {
            return Err(Fault::PowerCut);
        }
        self.units.used(plane);
        let done = self.clock.read_page(Place::plane(plane), cause, after);
        meter.read(cause);
        Ok(done)
    }

    /// A read of which nothing to speak of crosses the channel.
    pub(super) fn read_cells(
        &mut self,
        meter: &mut Meter,
        (plane, page): (PlaneId, Option<Ppn>),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !self.faults.has_power() {
            return Err(Fault::PowerCut);
        }
        if let Some(ppn) = page
            && self.asks_dead_die(meter, plane)
            && self.is_known_out(ppn)
        {
            return self.read_elsewhere(meter, ppn, after);
        }
        if let Some(ppn) = page
            && self.units.are_small()
            && self.source(ppn) != Source::Cells
        {
            // An entry of what is in the controller or a register costs nothing to speak of.
            meter.read(cause);
            return Ok(self.when_gathered(ppn, after));
        }
        self.units.used(plane);
        let at = page.map_or(Place::plane(plane), |ppn| self.place(ppn));
        let mut done = self.clock.read_cells(at, cause, after);
        meter.read(cause);
        if let Some(ppn) = page {
            let worse = self.retry_bound(ppn, after);
            let verdict = self.faults.on_read(|| false, worse);
            self.cells_sensed(ppn);
            for _ in 0..self.retries(meter, verdict) {
                done = self.clock.read_cells(at, cause, done);
                meter.read(cause);
                self.cells_sensed(ppn);
            }
        }
        Ok(done)
    }

    pub(super) fn read_oob(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<(When, OobRead), Fault> {
        if !self.faults.has_power() {
            return Err(Fault::PowerCut);
        }
        let at = self.place(ppn);
        if self.asks_dead_die(meter, at.plane) && !self.state.is_free(ppn) {
            return self.read_failed_oob(meter, ppn, after);
        }
        self.units.used(at.plane);
        self.cells_sensed(ppn);
        let done = if self.recovering {
            meter.read(Cause::Recover);
            self.clock.read_page(at, Cause::Recover, after)
        } else {
            self.clock.read_oob(at, Cause::Host, after)
        };
        meter.oob_read();
        Ok((done, self.state.oob(ppn)))
    }

    /// A spare area read for the part of a map that it holds: the cells are sensed as for any page,
    /// in `length`, or as long as a page read takes, transfer and all.
    pub(super) fn read_spare(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        length: Option<Nanos>,
        after: When,
    ) -> Result<When, Fault> {
        if !self.faults.has_power() {
            return Err(Fault::PowerCut);
        }
        law::read(&self.geometry, &self.state, ppn);
        let at = self.place(ppn);
        if self.asks_dead_die(meter, at.plane) && self.is_known_out(ppn) {
            return self.read_elsewhere(meter, ppn, after);
        }
        self.units.used(at.plane);
        // Its code is stronger than that of data: it may need retries, and is read in the end.
        let worse = self.retry_bound(ppn, after);
        let verdict = self.faults.on_read(|| false, worse);
        let mut done = after;
        for _ in 0..=self.retries(meter, verdict) {
            self.cells_sensed(ppn);
            done = match length {
                Some(length) => self.clock.read_spare(at, Cause::Translate, length, done),
                None => self.clock.read_page(at, Cause::Translate, done),
            };
            meter.read(Cause::Translate);
            meter.oob_read();
            self.record.add(Operation::Read(ppn, Cause::Translate));
        }
        Ok(done)
    }

    #[inline]
    fn place(&self, ppn: Ppn) -> Place {
        Place::of(&self.geometry, ppn)
    }

    /// Marks a page as superseded; returns how many valid pages its block keeps.
    #[inline]
    pub fn invalidate(&mut self, ppn: Ppn) -> u32 {
        self.supersede(ppn).1
    }

    /// The same, with the block.
    #[inline(always)]
    pub fn supersede(&mut self, ppn: Ppn) -> (BlockId, u32) {
        let block = self.geometry.block_of(ppn);
        self.mark(block, ppn);
        (block, self.forget(block, ppn))
    }

    /// Marks a page of a block as superseded on flash.
    #[inline(always)]
    fn mark(&mut self, block: BlockId, ppn: Ppn) {
        if self.units.are_small() {
            if self.source(ppn) == Source::Gathered {
                // Nothing of it is on flash yet.
                return;
            }
            self.units.used(self.geometry.plane_of(ppn));
        }
        self.oob_writes += 1;
        if self.clock.marks_take_time() {
            self.clock.write_oob(self.geometry.plane_of_block(block), block);
        }
    }

    /// Makes a page invalid without a mark on flash: its block is erased next, or it never held
    /// anything. Returns how many valid pages its block keeps.
    #[inline]
    pub fn discard(&mut self, ppn: Ppn) -> u32 {
        self.forget(self.geometry.block_of(ppn), ppn)
    }

    #[inline(always)]
    fn forget(&mut self, block: BlockId, ppn: Ppn) -> u32 {
        let kept = self.state.clear_valid(block, ppn);
        let kept = law::invalidate(&self.geometry, ppn, kept);
        // The block tells without a look at the page, whose record is far away in memory.
        if self.state.block(block).payloads > 0 && self.has_payload(ppn) {
            self.give_back_payload(ppn);
        }
        kept
    }

    /// Marks a page as holding the newest version, after a power cut erased the marks.
    pub fn revalidate(&mut self, ppn: Ppn) {
        law::revalidate(&self.geometry, &self.state, ppn);
        self.state.set_valid(ppn);
    }
}
