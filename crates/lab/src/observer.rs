//! Progress and cancellation: who watches a plan or a run is told what begins and how far it is,
//! and may end it. Every call takes its own observer, and nothing here is shared between calls.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::unfinished::Unfinished;

/// What a piece of work counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Requests of a pass over a workload before its run; such passes are mostly short.
    FirstPass,
    /// Bytes of files: to digest them, of a snapshot.
    Bytes,
    /// Logical pages of a device that is put into a state or audited.
    Pages,
    /// Subsets of units that are considered.
    Subsets,
    /// Requests of a workload: to prepare a device, to measure, to inspect, to find units.
    Requests,
    /// Whole parts: units of a trace, runs of a reproduction.
    Parts {
        /// How many of them take their time; the others were done before.
        to_make: u64,
    },
}

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work<'a> {
    /// A few words: a scheme, `dftl (preparing)`, `finding the units`.
    pub label: &'a str,
    /// How much there is of what it counts; none where that is not known.
    pub length: Option<u64>,
    /// What it counts.
    pub counts: Counts,
}

/// Watches plans and runs. Runs that go on side by side call it from their threads.
pub trait Observer: Sync {
    /// A piece of work begins; it ends when what is returned is dropped.
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a>;

    /// Where files are listed that do not have their names yet, for a program that may end without
    /// dropping them; by default a list at which nobody looks.
    fn unfinished(&self) -> Unfinished {
        Unfinished::default()
    }
}

/// A piece of work under way.
pub trait Task: Send + Sync {
    /// So much more is done, in steps of a few thousand requests, pages or subsets, of some 64 KiB
    /// or of one part. `Break` cancels:
    /// the call that was watched ends with [`Error::Cancelled`].
    fn advance(&self, count: u64) -> ControlFlow<()>;

    /// So many more parts were done before, or cannot be done.
    fn pass_over(&self, count: u64) -> ControlFlow<()> {
        self.advance(count)
    }
}

/// Watches nothing and ends nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn begins<'a>(&'a self, _: &Work<'_>) -> Box<dyn Task + 'a> {
        Box::new(Silent)
    }
}

impl Task for Silent {
    fn advance(&self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// An answer of an observer as a result.
pub(crate) fn going_on(answer: ControlFlow<()>) -> Result<()> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::cancelled()),
    }
}

/// What is done between two calls of an observer: so little that Ctrl-C is felt at once, so much
/// that nobody can measure the calls.
const STRIDE: u64 = 4096;
/// The same of bytes.
const STRIDE_BYTES: u64 = 64 << 10;

/// Counts single steps (requests, pages, bytes) for an observer, which hears of them in strides.
pub(crate) struct Steps<'a> {
    task: Box<dyn Task + 'a>,
    stride: u64,
    pending: Cell<u64>,
    ended: Cell<bool>,
}

impl<'a> Steps<'a> {
    pub(crate) fn of(
        observer: &'a dyn Observer,
        counts: Counts,
        label: &str,
        length: Option<u64>,
    ) -> Self {
        let task = observer.begins(&Work { label, length, counts });
        let stride = if counts == Counts::Bytes { STRIDE_BYTES } else { STRIDE };
        Steps { task, stride, pending: Cell::new(0), ended: Cell::new(false) }
    }

    /// Requests of a run.
    pub(crate) fn requests(observer: &'a dyn Observer, label: &str, length: Option<u64>) -> Self {
        Self::of(observer, Counts::Requests, label, length)
    }

    /// One more step is done; an error where the observer ends it.
    #[inline]
    pub(crate) fn advance(&self) -> Result<()> {
        self.advance_by(1)
    }

    /// So many steps more are done; an error where the observer ends it.
    #[inline]
    pub(crate) fn advance_by(&self, steps: u64) -> Result<()> {
        going_on(self.answer(steps))
    }

    /// So many steps more are done: what the observer answers. Once it ended the work it is not
    /// asked again.
    #[inline]
    pub(crate) fn answer(&self, steps: u64) -> ControlFlow<()> {
        let pending = self.pending.get() + steps;
        if pending < self.stride {
            self.pending.set(pending);
            return ControlFlow::Continue(());
        }
        if self.ended.get() {
            return ControlFlow::Break(());
        }
        self.pending.set(0);
        let answer = self.task.advance(pending);
        self.ended.set(answer.is_break());
        answer
    }

    /// Passes on what is read or written, of which every byte is a step.
    pub(crate) fn over<T>(&self, inner: T) -> Stepping<'_, T> {
        Stepping { inner, steps: self }
    }

    /// What made reading or writing fail: that the observer ended it, or `error`.
    pub(crate) fn why(&self, error: Error) -> Error {
        if self.ended.get() { Error::cancelled() } else { error }
    }
}

/// Reads or writes while an observer watches; fails once that ends it ([`Steps::why`]).
pub(crate) struct Stepping<'a, T> {
    inner: T,
    steps: &'a Steps<'a>,
}

impl<T> Stepping<'_, T> {
    fn step(&self, bytes: usize) -> io::Result<usize> {
        self.steps.advance_by(bytes as u64).map_err(|_| io::Error::other("cancelled"))?;
        Ok(bytes)
    }
}

impl<T: Read> Read for Stepping<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.step(bytes)
    }
}

impl<T: Write> Write for Stepping<'_, T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let bytes = self.inner.write(buffer)?;
        self.step(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Drop for Steps<'_> {
    /// What is left of the last stride. It is over, whatever the answer.
    fn drop(&mut self) {
        let pending = self.pending.get();
        if pending > 0 {
            let _ = self.task.advance(pending);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Writes down what it hears, and ends everything once so much is done.
    struct Noting {
        heard: Mutex<Vec<u64>>,
        until: u64,
    }

    impl Observer for Noting {
        fn begins<'a>(&'a self, _: &Work<'_>) -> Box<dyn Task + 'a> {
            Box::new(Hearing(self))
        }
    }

    struct Hearing<'a>(&'a Noting);

    impl Task for Hearing<'_> {
        fn advance(&self, count: u64) -> ControlFlow<()> {
            let mut heard = self.0.heard.lock().unwrap();
            heard.push(count);
            match heard.iter().sum::<u64>() < self.0.until {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        }
    }

    #[test]
    fn an_observer_hears_of_every_request_in_strides_and_may_end_the_work() {
        let noting = Noting { heard: Mutex::default(), until: 2 * STRIDE };
        let steps = Steps::requests(&noting, "some", None);
        let done = (0..).take_while(|_| steps.advance().is_ok()).count();
        assert_eq!(done as u64, 2 * STRIDE - 1, "the last one was told, and ended it");
        steps.advance().unwrap();
        drop(steps);
        assert_eq!(*noting.heard.lock().unwrap(), [STRIDE, STRIDE, 1]);
    }
}
