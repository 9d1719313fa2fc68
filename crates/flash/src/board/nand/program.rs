//! Programs: what a host's page carries, the short way and the long one, and the ledger that the
//! audit compares counts with.

use super::clock::Load;
use super::fault::{CutOutcome, Fault, Verdict};
use super::payload::{Payload, replace_words};
use super::record::{Change, Operation};
use super::state::{Oob, PageKind};
use super::{Nand, law};
use crate::board::when::When;
use crate::meter::{Cause, Meter};
use crate::units::{BlockId, Nanos, Ppn, Tag};

/// What a program puts into a page's out-of-band area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Logical page of host data.
    pub logical: u32,
    /// Data or log.
    pub kind: PageKind,
    /// Version, for checking.
    pub tag: Tag,
    /// Sectors that the page holds afterwards.
    pub sectors: u64,
    /// Whether what it should hold was lost: it reads as an error until it is written anew.
    pub unreadable: bool,
}

/// Programs as the flash saw them since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramLedger {
    /// Sequence number when measuring began.
    pub(super) sequence_before: u64,
    /// Programs that failed: counted, but without a sequence number.
    pub(super) failed: u64,
    /// Programs that a power cut interrupted after the fact: with a number, but not counted.
    pub(super) interrupted: u64,
}

impl Nand {
    /// A page is marked invalid that was never programmed: nothing is until its block is erased,
    /// and whoever reads out-of-band areas finds one that tells nothing.
    pub fn pass_over(&mut self, ppn: Ppn) {
        assert!(self.state.is_free(ppn), "page {ppn} is not free");
        self.state.store_torn(ppn);
        self.record.change(Change::PassedOver(ppn));
    }

    pub(in crate::board) fn program(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        page: PageWrite,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if self.plain {
            return Ok(self.program_plainly(meter, ppn, page, cause, after));
        }
        self.program_with_care(meter, ppn, page, cause, after)
    }

    /// The short way of a program ([`Nand::is_plain`]). What cannot fail hands over no `Result`:
    /// one on the way of every page, with a fault of forty bytes in its place, would go through
    /// memory.
    #[inline(always)]
    pub(in crate::board) fn program_plainly(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        page: PageWrite,
        cause: Cause,
        after: When,
    ) -> When {
        let block = self.store_plainly(ppn, page);
        self.book_plainly(meter, (block, ppn), cause, after)
    }

    /// The same without its time, which is that of a program before ([`Clock::book_again`]) or told
    /// behind it ([`Nand::time_program`]).
    ///
    /// [`Clock::book_again`]: super::clock::Clock::book_again
    #[inline(always)]
    pub(in crate::board) fn program_untimed(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        page: PageWrite,
        cause: Cause,
    ) {
        debug_assert!(self.plain, "page {ppn}: only what cannot fail is programmed without time");
        self.store_plainly(ppn, page);
        meter.program(cause);
    }

    /// The time of a program of which all else is done, and which could begin at this moment: when
    /// the page was in the register, and when it is programmed.
    #[inline(always)]
    pub(in crate::board) fn time_program(&mut self, ppn: Ppn, from: Nanos) -> (Nanos, Nanos) {
        let block = self.geometry.block_of(ppn);
        self.clock.program_from((self.geometry.plane_of_block(block), block, ppn), from)
    }

    /// Law and state of a program that works; the block.
    #[inline(always)]
    fn store_plainly(&mut self, ppn: Ppn, page: PageWrite) -> BlockId {
        let at = law::program(&self.geometry, &self.state, self.order, ppn);
        self.sequence += 1;
        let oob = Oob { logical: page.logical, kind: page.kind, sequence: self.sequence };
        self.state.store_at(at, ppn, oob, page.tag.0);
        self.state.set_mask(ppn, page.sectors);
        if page.unreadable {
            self.state.set_unreadable(ppn);
        }
        at.0
    }

    /// Time and count of a program that works.
    #[inline(always)]
    pub(super) fn book_plainly(
        &mut self,
        meter: &mut Meter,
        (block, ppn): (BlockId, Ppn),
        cause: Cause,
        after: When,
    ) -> When {
        meter.program(cause);
        if self.load == Load::Channel
            && let Some(done) = self.clock.program_on_server(cause)
        {
            return done.token();
        }
        let plane = self.geometry.plane_of_block(block);
        self.clock.program_page((plane, block, ppn), self.load, cause, after)
    }

    /// What happens to a program: on a die that failed, nothing good. One of parity that capacitors
    /// save is not left half done.
    fn judge_program(&mut self, meter: &mut Meter, ppn: Ppn, kind: PageKind) -> Verdict {
        match self.faults.on_program(self.units.completes(ppn)) {
            Verdict::Works if self.asks_dead_die(meter, self.geometry.plane_of(ppn)) => {
                Verdict::Fails
            }
            Verdict::Cut(CutOutcome::Torn) if kind == PageKind::Parity && self.saves_parity() => {
                Verdict::Cut(CutOutcome::Done)
            }
            verdict => verdict,
        }
    }

    /// A program that may fail, gather with others or be written down.
    fn program_with_care(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        page: PageWrite,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        law::program(&self.geometry, &self.state, self.order, ppn);
        law::cell_mode(&self.geometry, &self.modes, ppn);
        let verdict = self.judge_program(meter, ppn, page.kind);
        if verdict == Verdict::Works || verdict == Verdict::Cut(CutOutcome::Done) {
            self.sequence += 1;
            let oob = Oob { logical: page.logical, kind: page.kind, sequence: self.sequence };
            self.state.store(ppn, oob, page.tag.0);
            self.state.set_mask(ppn, page.sectors);
            if page.unreadable {
                self.state.set_unreadable(ppn);
            }
        }
        self.finish_program(meter, verdict, ppn, cause, after)
    }

    pub(in crate::board) fn program_payload(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        (kind, logical): (PageKind, u32),
        payload: Payload<'_>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !self.plain {
            return self.program_payload_with_care(
                meter,
                ppn,
                (kind, logical),
                payload,
                cause,
                after,
            );
        }
        if let Payload::Update { old: Some(old), edits } = payload {
            let pages = (old, ppn);
            let done = self.time_page(ppn, cause, after);
            self.update_untimed(meter, pages, (kind, logical), replace_words(edits), cause);
            return Ok(done);
        }
        let at = law::program(&self.geometry, &self.state, self.order, ppn);
        let slot = self.fill_slot(payload, true);
        self.store_words(at, ppn, (kind, logical), slot.0);
        Ok(self.book_plainly(meter, (at.0, ppn), cause, after))
    }

    /// The short way of a page that replaces an older one with words of it changed
    /// ([`Nand::is_plain`]), without its time, which is booked already: how many valid pages the
    /// older one's block keeps. `edit` says whether it changes any ([`replace_words`]).
    #[inline(always)]
    pub(in crate::board) fn update_untimed(
        &mut self,
        meter: &mut Meter,
        pages: (Ppn, Ppn),
        what: (PageKind, u32),
        edit: impl FnOnce(&mut [u32]) -> bool,
        cause: Cause,
    ) -> (BlockId, u32) {
        meter.program(cause);
        self.update_uncounted(pages, what, edit)
    }

    /// The same, which nobody has counted.
    #[inline(always)]
    pub(in crate::board) fn update_uncounted(
        &mut self,
        (old, new): (Ppn, Ppn),
        what: (PageKind, u32),
        edit: impl FnOnce(&mut [u32]) -> bool,
    ) -> (BlockId, u32) {
        debug_assert!(self.plain, "page {new}: only what cannot fail is programmed without time");
        let at = law::program(&self.geometry, &self.state, self.order, new);
        let (slot, block) = self.hand_over(old);
        let is_changed = edit(self.payloads.words_mut(slot));
        self.store_words(at, new, what, slot.0);
        if is_changed {
            self.mark(block, old);
        }
        // The new page may be of the same block.
        (block, self.state.block(block).valid)
    }

    /// The time of a program of which all else follows.
    #[inline]
    pub(in crate::board) fn time_page(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        let block = self.geometry.block_of(ppn);
        let target = (self.geometry.plane_of_block(block), block, ppn);
        self.clock.program_page(target, self.load, cause, after)
    }

    #[inline(always)]
    fn store_words(
        &mut self,
        at: (BlockId, u32),
        ppn: Ppn,
        (kind, logical): (PageKind, u32),
        slot: u32,
    ) {
        self.sequence += 1;
        self.state.store_words(at, ppn, Oob { logical, kind, sequence: self.sequence }, slot);
    }

    fn program_payload_with_care(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        (kind, logical): (PageKind, u32),
        payload: Payload<'_>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let at = law::program(&self.geometry, &self.state, self.order, ppn);
        law::cell_mode(&self.geometry, &self.modes, ppn);
        let verdict = self.judge_program(meter, ppn, kind);
        let done = verdict == Verdict::Works;
        if done || verdict == Verdict::Cut(CutOutcome::Done) {
            let slot = self.fill_slot(payload, done);
            self.store_words(at, ppn, (kind, logical), slot.0);
        }
        let result = self.finish_program(meter, verdict, ppn, cause, after);
        if let Payload::Update { old: Some(old), edits } = payload
            && done
        {
            self.record.change(Change::Superseded(old));
            let (_, block) = self.hand_over(old);
            // A move leaves no mark: the old page's block is erased next.
            if !edits.is_empty() {
                self.mark(block, old);
            }
        }
        result
    }

    #[inline]
    fn finish_program(
        &mut self,
        meter: &mut Meter,
        verdict: Verdict,
        ppn: Ppn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !matches!(verdict, Verdict::NoPower | Verdict::Cut(CutOutcome::Undone)) {
            self.cells_programmed(ppn, after);
        }
        match verdict {
            Verdict::Works => {
                let done = self.book_program(ppn, cause, after);
                meter.program(cause);
                self.record.add(Operation::Program(ppn, cause));
                Ok(done)
            }
            Verdict::Cut(CutOutcome::Done) => {
                self.ledger.interrupted += 1;
                Err(Fault::PowerCut)
            }
            Verdict::NoPower | Verdict::Cut(CutOutcome::Undone) => Err(Fault::PowerCut),
            Verdict::Cut(CutOutcome::Torn) => {
                self.state.store_torn(ppn);
                Err(Fault::PowerCut)
            }
            Verdict::Fails => {
                self.ledger.failed += 1;
                let known = self.book_program(ppn, cause, after);
                meter.program(cause);
                self.state.store_torn(ppn);
                let block = self.geometry.block_of(ppn);
                self.state.block_mut(block).read_only = true;
                self.record.change(Change::Failure(block));
                Err(Fault::ProgramFailed { block, known })
            }
        }
    }

    #[inline]
    fn book_program(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        let block = self.geometry.block_of(ppn);
        let plane = self.geometry.plane_of_block(block);
        self.data_is_there(after);
        let ready = match self.units.are_small() {
            true => match self.gather(ppn, after) {
                Some(ready) => ready,
                None => return after,
            },
            false => after,
        };
        self.clock.program_page((plane, block, ppn), self.load, cause, ready)
    }
}
