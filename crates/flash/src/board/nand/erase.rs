//! Erases, and blocks that are given up.

use super::cell_mode::CellMode;
use super::fault::{CutOutcome, Fault, Verdict};
use super::record::{Change, Operation};
use super::{Nand, law};
use crate::board::when::When;
use crate::meter::{BlockRole, Cause, Event, Meter};
use crate::units::BlockId;

impl Nand {
    pub(in crate::board) fn erase(
        &mut self,
        meter: &mut Meter,
        block: BlockId,
        role: BlockRole,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        law::erase(&self.geometry, &self.state, block);
        let plane = self.geometry.plane_of_block(block);
        // Nobody waits for a die that is known to have failed: its block is given up.
        let is_given_up = self.has_failed(plane) && self.faults.failure_is_known();
        let mut verdict = self.faults.on_erase();
        if verdict == Verdict::Works && self.asks_dead_die(meter, plane) {
            verdict = Verdict::Fails;
        }
        match verdict {
            Verdict::NoPower | Verdict::Cut(CutOutcome::Undone) => return Err(Fault::PowerCut),
            Verdict::Cut(CutOutcome::Torn) => {
                self.free_payloads(block);
                self.state.tear_block(block);
                self.is_empty_again(block);
                return Err(Fault::PowerCut);
            }
            Verdict::Works | Verdict::Fails | Verdict::Cut(CutOutcome::Done) => {}
        }
        self.free_payloads(block);
        self.state.wipe(block);
        self.is_empty_again(block);
        if is_given_up && verdict == Verdict::Fails {
            self.retire(block);
            return Err(Fault::EraseFailed { block, known: after });
        }
        let worn_by_program = self.state.block(block).read_only;
        let known = self.state.block_mut(block);
        known.erases += 1;
        let erases = known.erases;
        let mode = self.modes.erased(block);
        if verdict == Verdict::Cut(CutOutcome::Done) {
            self.clock.set_slc(block, false);
            return Err(Fault::PowerCut);
        }
        self.units.used(plane);
        let done = self.clock.erase_block(plane, block, cause, after);
        if mode == CellMode::Slc {
            self.clock.set_slc(block, false);
            meter.event(Event::SlcErases, 1);
        }
        meter.erase(role, cause);
        self.record.add(Operation::Erase(block, cause));
        let died = self.modes.is_worn_out(block, erases);
        if died {
            meter.event(Event::WornOutBlocks, 1);
        }
        if verdict == Verdict::Fails || worn_by_program || died {
            self.retire(block);
            return Err(Fault::EraseFailed { block, known: done });
        }
        Ok(done)
    }

    fn is_empty_again(&mut self, block: BlockId) {
        if let Some(rain) = &mut self.rain {
            rain.erased(&self.geometry, block, self.sequence);
        }
        self.cells_erased(block);
    }

    fn retire(&mut self, block: BlockId) {
        self.state.block_mut(block).retired = true;
        self.retired += 1;
        self.record.change(Change::Failure(block));
    }
}
