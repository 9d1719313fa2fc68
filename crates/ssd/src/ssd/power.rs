//! The power goes and comes back: what the scheme left behind, and how long its recovery takes.

use super::Ssd;
use crate::device::DeviceError;
use ftlab_flash::units::Nanos;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    /// The power goes, if it has not, and comes back.
    pub(super) fn cycle_power(&mut self) -> Result<Nanos, DeviceError> {
        self.come_to_rest();
        self.board.nand_mut().cut_power();
        if let Some(scheme) = self.scheme.take() {
            self.survivor = Some(scheme.power_off());
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.power_off(&mut self.board);
        }
        let survivor = self.survivor.clone().expect("left behind by the scheme or a cut recovery");
        self.board.power_on();
        let from = self.absolute_idle_from();
        let start = self.board.nand_mut().clock_mut().enter(from);
        let (scheme, done) = S::recover(&mut self.board, &self.seen, self.seed, survivor, start)?;
        let done = self.board.nand_mut().clock_mut().settle(done);
        self.board.end_recovery();
        self.scheme = Some(scheme);
        self.survivor = None;
        self.settle_after_recovery();
        self.last_completion = self.board.nand().clock().completion(done).max(from);
        Ok(self.last_completion - from)
    }
}
