//! Power going and coming back, and the moment from which is measured.

use super::cell_mode::CellMode;
use super::{Nand, ProgramLedger};
use crate::meter::Meter;
use crate::units::{BlockId, PlaneId};

impl Nand {
    /// Takes the power away between two operations.
    pub fn cut_power(&mut self) {
        self.faults.cut_now();
        self.look_whether_plain();
    }

    /// Power is back: everything that only RAM knew is gone, and recovery begins.
    pub(in crate::board) fn power_on(&mut self, meter: &mut Meter) {
        self.faults.power_on();
        self.was_off();
        // Every die is asked what it is.
        if let Some(die) = self.failed_die() {
            let plane = PlaneId(die * self.geometry.planes_per_die);
            assert!(self.asks_dead_die(meter, plane), "plane {plane} is of die {die}");
        }
        self.state.forget_validity();
        // Capacitors programmed the flash pages whose units were still gathering.
        self.units.power_on();
        self.retire_aged();
        self.state.fill_flash_pages(self.geometry.units_per_flash_page);
        self.rain_recovers();
        self.forget_chosen_modes();
        self.recovering = true;
        self.look_whether_plain();
    }

    /// A mode that was chosen and not programmed in is a thought of memory.
    fn forget_chosen_modes(&mut self) {
        if !self.modes.are_there() {
            return;
        }
        for block in (0..self.geometry.blocks()).map(BlockId) {
            if self.state.block(block).programmed == 0 {
                self.set_mode(block, CellMode::Dense);
            }
        }
    }

    pub(in crate::board) fn end_recovery(&mut self) {
        self.recovering = false;
        self.forget_superseded();
        self.rain_has_recovered();
        self.cells_recovered();
    }

    /// From now on programs count until a die fails that is to (`nand.failing_die`).
    pub fn count_until_die_fails(&mut self) {
        self.faults.count_until_die_fails();
        self.look_whether_plain();
    }

    pub(in crate::board) fn start_measuring(&mut self) {
        self.clock.start_measuring();
        self.oob_writes = 0;
        self.ledger = ProgramLedger { sequence_before: self.sequence, ..ProgramLedger::default() };
        self.state.mark_measured_from_here();
        self.modes.mark_measured_from_here();
    }
}
