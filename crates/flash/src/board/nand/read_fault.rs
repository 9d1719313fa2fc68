//! Page reads that need retries, and pages that no retry brings back.
//!
//! A retry costs what a page read costs and is counted as one. Of host data a read that fails in
//! spite of all retries loses the page: it reads as an error, its copies do too, until it is
//! written anew. Map pages, checkpoints and trim records are taken to be stored with a stronger
//! code (as the few pages on which everything else depends are in real devices), so that they cost
//! every retry and are read in the end; so are out-of-band areas, of which a read never fails. Of a
//! die that fails as a whole such pages are taken to have a second copy elsewhere, where no parity
//! covers them.

use super::Nand;
use super::fault::{Fault, ReadVerdict};
use super::record::{Change, Operation};
use super::state::OobRead;
use super::units::Source;
use crate::board::when::When;
use crate::meter::{Cause, Event, Meter};
use crate::units::Ppn;

impl Nand {
    /// Retries that a verdict asks for, counted.
    pub(super) fn retries(&self, meter: &mut Meter, verdict: ReadVerdict) -> u32 {
        let retries = match verdict {
            ReadVerdict::Works | ReadVerdict::NoPower => 0,
            ReadVerdict::Retried(retries) => retries,
            ReadVerdict::Uncorrectable => self.faults.read_retries(),
        };
        meter.event(Event::ReadRetries, u64::from(retries));
        retries
    }

    /// What happens to a read. What comes from the controller or from a register does not fail;
    /// where mapping units are smaller than flash pages, a unit is what is lost.
    #[inline]
    pub(super) fn judge_read(&mut self, ppn: Ppn, after: When) -> ReadVerdict {
        let is_out = self.is_out(ppn);
        let worse = self.retry_bound(ppn, after);
        let lost = || is_out || self.state.is_unreadable(ppn);
        if !self.units.are_small() {
            return self.faults.on_read(lost, worse);
        }
        match self.source(ppn) {
            Source::Cells => self.faults.on_read(lost, worse),
            // The register of a die that failed cannot be read either.
            Source::Register if is_out => self.faults.on_read(lost, worse),
            _ if self.faults.has_power() => ReadVerdict::Works,
            _ => ReadVerdict::NoPower,
        }
    }

    /// A page read failed: retries, and what is left of the page when they were in vain.
    #[cold]
    pub(super) fn read_again(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        verdict: ReadVerdict,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        // A die that failed as a whole does not answer: nobody asks it twice.
        let has_failed = self.asks_dead_die(meter, self.geometry.plane_of(ppn));
        let retries = if has_failed { 0 } else { self.retries(meter, verdict) };
        for _ in 0..retries {
            done = {
                let at = self.place(ppn);
                self.clock.read_page(at, cause, done)
            };
            self.cells_sensed(ppn);
            meter.read(cause);
            self.record.add(Operation::Read(ppn, cause));
        }
        match verdict {
            ReadVerdict::Uncorrectable => self.read_elsewhere(meter, ppn, done),
            _ => Ok(done),
        }
    }

    /// What a page holds that cannot be read: from its stripe, or else it is lost.
    #[cold]
    pub(super) fn read_elsewhere(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        if self.state.is_unreadable(ppn) {
            return Ok(after);
        }
        let is_data =
            matches!(self.state.oob(ppn), OobRead::Written(oob) if oob.kind.is_host_data());
        if is_data {
            self.cells_are_gone(ppn);
        }
        if (is_data || self.is_out(ppn))
            && let Some(rebuilt) = self.read_stripe(meter, ppn, after)?
        {
            self.note_failing(ppn);
            return Ok(rebuilt);
        }
        if is_data {
            self.state.set_unreadable(ppn);
            self.record.change(Change::Lost(ppn));
            meter.event(Event::LostPages, 1);
        }
        Ok(after)
    }
}
