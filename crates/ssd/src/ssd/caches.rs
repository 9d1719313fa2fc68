//! Memory that holds what flash does not, made to agree with it between preparation and
//! measurement.

use super::Ssd;
use crate::device::DeviceError;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    /// A buffer is written out, then what the scheme can write of its map.
    pub(super) fn write_caches_back(&mut self) -> Result<u64, DeviceError> {
        self.come_to_rest();
        let from = self.absolute_idle_from();
        let start = self.board.nand_mut().clock_mut().enter(from);
        let (buffer, mut below) = self.parts();
        let written = match buffer {
            Some(buffer) => buffer.flush(&mut below.any(), start)?,
            None => start,
        };
        let flushed = below.scheme.flush(below.board, written)?;
        let changed = below.scheme.changed_entries();
        let done = below.scheme.clean_map(below.board, flushed)?;
        let done = self.board.nand_mut().clock_mut().settle(done);
        self.last_completion = self.board.nand().clock().completion(done).max(from);
        Ok(changed)
    }
}
