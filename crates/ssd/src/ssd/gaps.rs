//! Work between requests: what buffer and scheme do while the host asks for nothing.

use super::Ssd;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::units::Nanos;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    /// Lets buffer and scheme work while nothing else is to do.
    #[cold]
    pub(super) fn use_gap(&mut self, until: Nanos) -> Result<(), Fault> {
        let mut from = self.absolute_idle_from();
        while from < until {
            let start = self.board.nand_mut().clock_mut().admit(from);
            let scheme_works = self.idle_work;
            let (buffer, mut below) = self.parts();
            let mut done = match buffer {
                Some(buffer) => buffer.idle(&mut below, start)?,
                None => None,
            };
            if done.is_none() && scheme_works {
                done = below.scheme.idle(below.board, start)?;
            }
            let Some(done) = done else {
                break;
            };
            let end = self.board.nand().clock().completion(done);
            let (_, below) = self.parts();
            below.scheme.behind_request(below.board, done)?;
            // A step that takes no time must not be taken for ever.
            from = end.max(from + 1);
        }
        Ok(())
    }
}
