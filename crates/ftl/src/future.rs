//! What becomes of every page that a workload writes, for a placement policy that is an oracle
//! (`gc.placement = fk`): found in a pass over the workload before the device is made.

use std::fmt;
use std::sync::Arc;

/// Of a page that is neither overwritten nor trimmed.
pub const NEVER: u32 = u32::MAX;

/// When pages die, in pages that the host has written by then; fewer than 2^32 of them.
#[derive(Clone, Debug, Default)]
pub struct Future {
    /// Of each logical page the first write or trim.
    first: Vec<u32>,
    /// Of each write, when what it wrote dies.
    death: Vec<u32>,
}

/// A pass over a workload.
#[derive(Debug)]
pub struct FirstPass {
    future: Future,
    /// Of each page its last write plus one; 0 where it holds nothing.
    last: Vec<u32>,
}

impl Future {
    /// Begins a pass over a workload for a device of so many pages.
    #[must_use]
    pub fn pass(logical_pages: u32) -> FirstPass {
        let pages = logical_pages as usize;
        let future = Future { first: vec![NEVER; pages], death: Vec::new() };
        FirstPass { future, last: vec![0; pages] }
    }

    /// Of each logical page the first write or trim, [`NEVER`] for none.
    #[must_use]
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// Writes that the pass saw.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.death.len() as u64
    }

    /// When what the `number`-th write wrote dies; [`NEVER`], too, beyond the last one.
    #[must_use]
    pub fn death_of_write(&self, number: u64) -> u32 {
        self.death.get(number as usize).copied().unwrap_or(NEVER)
    }
}

impl FirstPass {
    /// The next page that is written.
    ///
    /// # Errors
    /// There are 2^32 - 2 of them already, which are all that are told apart.
    pub fn written(&mut self, page: u32) -> Result<(), TooLong> {
        let now = self.ends(page)?;
        self.future.death.push(NEVER);
        self.last[page as usize] = now + 1;
        Ok(())
    }

    /// A page is trimmed before the next write.
    ///
    /// # Errors
    /// As [`FirstPass::written`].
    pub fn trimmed(&mut self, page: u32) -> Result<(), TooLong> {
        let _ = self.ends(page)?;
        self.last[page as usize] = 0;
        Ok(())
    }

    /// What a page holds dies now.
    fn ends(&mut self, page: u32) -> Result<u32, TooLong> {
        let now = moment(self.future.death.len())?;
        let first = &mut self.future.first[page as usize];
        *first = now.min(*first);
        if let Some(written) = self.last[page as usize].checked_sub(1) {
            self.future.death[written as usize] = now;
        }
        Ok(now)
    }

    /// All that was seen.
    #[must_use]
    pub fn done(self) -> Known {
        Known(Arc::new(self.future))
    }
}

/// The moment after so many writes.
fn moment(writes: usize) -> Result<u32, TooLong> {
    u32::try_from(writes).ok().filter(|&now| now < NEVER - 1).ok_or(TooLong)
}

/// A workload writes more pages than can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("gc.placement = fk knows the future of at most 2^32 - 2 written pages")
    }
}

impl std::error::Error for TooLong {}

/// A future that devices share; equal to itself alone.
#[derive(Clone, Debug, Default)]
pub struct Known(pub Arc<Future>);

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Known {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_dies_with_the_next_write_or_trim_of_its_page() {
        let mut pass = Future::pass(4);
        for page in [0, 1, 0] {
            pass.written(page).expect("few");
        }
        pass.trimmed(1).expect("few");
        pass.trimmed(2).expect("few");
        pass.written(1).expect("few");
        let Known(future) = pass.done();
        assert_eq!(future.first(), [0, 1, 3, NEVER]);
        let deaths = [0, 1, 2, 3, 4].map(|write| future.death_of_write(write));
        assert_eq!(deaths, [2, 3, NEVER, NEVER, NEVER]);
    }

    #[test]
    fn no_more_pages_are_told_apart_than_two_less_than_32_bits_can_count() {
        assert_eq!([moment(0), moment(0xFFFF_FFFD)], [Ok(0), Ok(0xFFFF_FFFD)]);
        assert_eq!([moment(0xFFFF_FFFE), moment(1 << 32)], [Err(TooLong); 2]);
        assert!(TooLong.to_string().ends_with("at most 2^32 - 2 written pages"));
    }

    #[test]
    fn a_future_counts_its_writes_and_is_equal_to_itself_alone() {
        let mut pass = Future::pass(2);
        [0, 1, 0].into_iter().for_each(|page| pass.written(page).expect("few"));
        let known = pass.done();
        assert_eq!(known.0.writes(), 3);
        assert_eq!(known, known.clone());
        assert_ne!(known, Future::pass(2).done());
        assert_eq!(Known::default().0.writes(), 0);
    }

    #[test]
    fn what_was_trimmed_dies_once() {
        let mut pass = Future::pass(1);
        pass.written(0).expect("few");
        pass.trimmed(0).expect("few");
        pass.written(0).expect("few");
        let Known(future) = pass.done();
        assert_eq!([0, 1].map(|write| future.death_of_write(write)), [1, NEVER]);
    }
}
