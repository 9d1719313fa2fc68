//! Copies of pages, over the channel or within their plane.

use super::clock::Load;
use super::fault::Fault;
use super::state::{OobRead, PageKind};
use super::{Nand, PageWrite, Payload};
use crate::board::when::When;
use crate::meter::{Cause, Event, Meter};
use crate::units::Ppn;

impl Nand {
    /// Reads a page and programs it elsewhere with a new sequence number; the source stays valid.
    /// Where the part copies back (`timing.copyback`) and both pages lie in one plane, nothing crosses
    /// the channel.
    pub(in crate::board) fn copy(
        &mut self,
        meter: &mut Meter,
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !self.clock.copies_back(&self.geometry, from, to) {
            return self.copy_page(meter, (from, to), kind, cause, after);
        }
        self.load = Load::Register;
        let result = self.copy_page(meter, (from, to), kind, cause, after);
        self.load = Load::Channel;
        meter.event(Event::Copybacks, u64::from(result.is_ok()));
        result
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
        let OobRead::Written(oob) = self.state.oob(from) else {
            panic!("copy of page {from}: nothing readable there");
        };
        let read = self.read(meter, from, cause, after)?;
        if !oob.kind.is_host_data() {
            let payload = Payload::Update { old: Some(from), edits: &[] };
            return self.program_payload(meter, to, (kind, oob.logical), payload, cause, read);
        }
        let page = PageWrite {
            logical: oob.logical,
            kind,
            tag: self.state.tag(from),
            sectors: self.state.mask(from),
            // Never an older version instead, and never what the failed read returned.
            unreadable: self.state.is_unreadable(from),
        };
        self.program(meter, to, page, cause, read)
    }
}
