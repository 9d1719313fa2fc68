//! Work between requests: what buffer and scheme do while the host asks for nothing.
//!
//! Blocks that are due for refresh move by the scheme's own idle steps: in gaps, in which the
//! scheme is asked again when the patrol next finds something, and behind a request what is due
//! twice over.

use super::Ssd;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::Nanos;
use ftlab_ftl::scheme::Scheme;

/// Blocks, or lines, that are refreshed behind one request at most, beside one that a gap has begun
/// with.
const AT_ONCE_MAX: usize = 4;

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
                Some(buffer) => buffer.idle(&mut below.any(), start)?,
                None => None,
            };
            if done.is_none() && scheme_works {
                done = below.scheme.idle(below.board, start)?;
            }
            let Some(done) = done else {
                // Data that is young now may be too old before the gap ends.
                match self.board.nand().finds_old_data_at() {
                    Some(at) if at > from && at < until => {
                        from = at;
                        continue;
                    }
                    _ => break,
                }
            };
            let end = self.board.nand().clock().completion(done);
            let (_, below) = self.parts();
            below.scheme.behind_request(below.board, done)?;
            // A step that takes no time must not be taken for ever.
            from = end.max(from + 1);
        }
        Ok(())
    }

    /// What cannot wait for a gap, behind a request that was done at `done`: data that was read
    /// twice as often as it should, or is twice as old, is moved, and nobody waits for that but who
    /// needs the same flash.
    #[cold]
    pub(super) fn refresh_at_once(&mut self, done: When) -> Result<(), Fault> {
        let refreshed = |board: &Board| {
            let meter = board.meter();
            meter.events(Event::RefreshedForReads) + meter.events(Event::RefreshedForAge)
        };
        let before = refreshed(&self.board);
        // One request does not pay for a whole device. Making room is a step by itself.
        let due = self.board.nand_mut().blocks_to_refresh_at_once(done).min(AT_ONCE_MAX);
        let mut when = done;
        for _ in 0..2 * due {
            if refreshed(&self.board) - before >= AT_ONCE_MAX as u64 {
                break;
            }
            let (_, below) = self.parts();
            let Some(moved) = below.scheme.refresh_at_once(below.board, when)? else { break };
            below.scheme.behind_request(below.board, moved)?;
            when = moved;
        }
        let at_once = refreshed(&self.board) - before;
        self.board.event(Event::RefreshedAtOnce, at_once);
        Ok(())
    }
}
