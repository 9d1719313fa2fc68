//! Copies of pages, over the channel or within their plane.

use super::clock::{Clock, Load, Place};
use super::fault::{Fault, ReadVerdict};
use super::record::Operation;
use super::state::{OobRead, PageKind};
use super::{Nand, PageWrite, Payload, law};
use crate::board::when::When;
use crate::meter::{Cause, Event, Meter};
use crate::units::Ppn;

impl Nand {
    /// Reads a page and programs it elsewhere with a new sequence number; the source stays valid.
    /// Where the part copies back (`timing.copyback`) and both pages lie in one plane, nothing
    /// crosses the channel.
    #[inline]
    pub(in crate::board) fn copy(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if self.plain && !self.clock.copies_back_at_all() {
            law::read(&self.geometry, &self.state, from);
            let geometry = &self.geometry;
            meter.read(cause);
            let read = self.clock.read_page(Place::of(geometry, from), cause, after);
            if !self.state.holds_host_data(from) {
                return self.copy_payload(meter, (from, to), kind, cause, read);
            }
            let at = law::program(&self.geometry, &self.state, self.order, to);
            self.sequence += 1;
            self.state.store_copy(at, (from, to), kind, self.sequence);
            return Ok(self.book_plainly(meter, (at.0, to), cause, read));
        }
        self.copy_with_care(meter, (from, to), kind, cause, after)
    }

    /// The same of a page of host data under another kind and number, over the channel.
    pub(in crate::board) fn copy_renamed(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        (kind, logical): (PageKind, u32),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        assert!(
            self.state.holds_host_data(from),
            "page {from} holds words, which have their number"
        );
        let read = self.read(meter, from, cause, after)?;
        let page = self.page_again(from, logical, kind);
        self.program(meter, to, page, cause, read)
    }

    /// What is programmed elsewhere of a page of host data.
    #[inline]
    fn page_again(&self, from: Ppn, logical: u32, kind: PageKind) -> PageWrite {
        PageWrite {
            logical,
            kind,
            tag: self.state.tag(from),
            sectors: self.state.mask(from),
            // Never an older version instead, and never what the failed read returned.
            unreadable: self.state.is_unreadable(from),
        }
    }

    /// The same by way of somebody who has the page in between, and says from when on it is back.
    pub(in crate::board) fn copy_by_way_of(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
        back: impl FnOnce(&mut Clock, When) -> When,
    ) -> Result<When, Fault> {
        let read = self.read(meter, from, cause, after)?;
        let ready = back(&mut self.clock, read);
        self.program_copy(meter, (from, to), kind, cause, ready)
    }

    fn copy_with_care(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let result = self.copy_page(meter, (from, to), kind, cause, after);
        if self.load == Load::Register {
            self.load = Load::Channel;
            meter.event(Event::Copybacks, u64::from(result.is_ok()));
        }
        result
    }

    /// Reads a page into its plane's register for a program from there. If the read needs retries,
    /// the controller corrects the page, which is then loaded over the channel like any other.
    fn read_for_copyback(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let verdict = self.judge_read(from, after);
        if verdict == ReadVerdict::NoPower {
            return Err(Fault::PowerCut);
        }
        law::read(&self.geometry, &self.state, from);
        if verdict == ReadVerdict::Uncorrectable && self.is_known_out(from) {
            return self.read_elsewhere(meter, from, after);
        }
        let (at, target) = (self.place(from), (to, self.geometry.block_of(to)));
        self.cells_sensed(from);
        meter.read(cause);
        self.record.add(Operation::Read(from, cause));
        if verdict != ReadVerdict::Works {
            let done = self.clock.read_cells(at, cause, after);
            return self.read_again(meter, from, verdict, cause, done);
        }
        self.load = Load::Register;
        Ok(self.clock.read_for_program(at, target, cause, after))
    }

    /// A page that holds words was read: they move on, and the page that held them is invalid.
    fn copy_payload(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        read: When,
    ) -> Result<When, Fault> {
        let OobRead::Written(oob) = self.state.oob(from) else {
            panic!("copy of page {from}: nothing readable there");
        };
        let payload = Payload::Update { old: Some(from), edits: &[] };
        self.program_payload(meter, to, (kind, oob.logical), payload, cause, read)
    }

    #[inline]
    fn copy_page(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let read = match self.clock.copies_back(&self.geometry, from, to) {
            true => self.read_for_copyback(meter, (from, to), cause, after)?,
            false => self.read(meter, from, cause, after)?,
        };
        self.program_copy(meter, (from, to), kind, cause, read)
    }

    /// Programs what was read of a page at `read`.
    #[inline]
    fn program_copy(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        read: When,
    ) -> Result<When, Fault> {
        let OobRead::Written(oob) = self.state.oob(from) else {
            panic!("copy of page {from}: nothing readable there");
        };
        if !oob.kind.is_host_data() {
            return self.copy_payload(meter, (from, to), kind, cause, read);
        }
        let page = self.page_again(from, oob.logical, kind);
        self.program(meter, to, page, cause, read)
    }
}
