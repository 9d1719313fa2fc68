//! Work that Python waits for: done by a thread of its own, while the calling one has the
//! interpreter's lock only for the moments in which it looks for Ctrl-C and tells of progress.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ftlab_lab::{Counts, Error, Observer, Result, Task, Work};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::policies::Policies;

/// How often the calling thread looks up: often enough for a bar that moves, so seldom that nobody
/// can measure it.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A piece of work as progress tells of it: number, words, what it counts, how much is done, how
/// much there is, whether it is over.
type Told = (usize, String, &'static str, u64, Option<u64>, bool);

/// Hears of the work and ends it.
#[derive(Default)]
pub struct Watching {
    is_ended: Arc<AtomicBool>,
    /// Pieces of work that are told of; nobody asked for any where it is `None`.
    pieces: Option<Mutex<Vec<Arc<Piece>>>>,
}

/// A piece of work.
struct Piece {
    label: String,
    counts: &'static str,
    length: Option<u64>,
    done: AtomicU64,
    is_over: AtomicBool,
}

/// The same, under way.
struct Doing<'a> {
    piece: Arc<Piece>,
    is_ended: &'a AtomicBool,
}

impl Observer for Watching {
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a> {
        let piece = Arc::new(Piece {
            label: work.label.to_owned(),
            counts: counted(work.counts),
            length: work.length,
            done: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        if let Some(pieces) = &self.pieces {
            pieces.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&piece));
        }
        Box::new(Doing { piece, is_ended: &self.is_ended })
    }
}

impl Task for Doing<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        self.piece.done.fetch_add(count, Ordering::Relaxed);
        match self.is_ended.load(Ordering::Relaxed) {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        }
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.piece.is_over.store(true, Ordering::Relaxed);
    }
}

fn counted(counts: Counts) -> &'static str {
    match counts {
        Counts::Requests | Counts::FirstPass => "requests",
        Counts::Bytes => "bytes",
        Counts::Pages => "pages",
        Counts::Subsets => "subsets",
        Counts::Parts { .. } => "parts",
    }
}

impl Watching {
    /// What is to be told now; what is over is told once more, and then forgotten. Numbers count
    /// from `first`, which goes on by what was forgotten.
    fn told(&self, numbers: &mut Vec<usize>, next: &mut usize) -> Vec<Told> {
        let Some(pieces) = &self.pieces else { return Vec::new() };
        let mut pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
        while numbers.len() < pieces.len() {
            numbers.push(*next);
            *next += 1;
        }
        let mut told = Vec::with_capacity(pieces.len());
        let mut kept = Vec::new();
        for (piece, number) in pieces.drain(..).zip(numbers.drain(..)) {
            let (done, is_over) =
                (piece.done.load(Ordering::Relaxed), piece.is_over.load(Ordering::Relaxed));
            let (label, length) = (piece.label.clone(), piece.length);
            told.push((number, label, piece.counts, done, length, is_over));
            if !is_over {
                kept.push((piece, number));
            }
        }
        (*pieces, *numbers) = kept.into_iter().unzip();
        told
    }
}

/// Does the work while other threads of Python go on. `progress` is called with a list of what goes
/// on, several times a second.
///
/// # Errors
/// What the work gives, and what a handler of a signal (Ctrl-C) or `progress` raises, which ends
/// it.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watching) -> Result<T> + Send,
) -> PyResult<T> {
    watched_under(py, progress, &Policies::default(), work)
}

/// The same of work that asks own policies.
///
/// # Errors
/// What any of them raised as well.
pub fn watched_under<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    policies: &Policies,
    work: impl FnOnce(&Watching) -> Result<T> + Send,
) -> PyResult<T> {
    let pieces = progress.as_ref().map(|_| Mutex::default());
    let watching = Watching { pieces, is_ended: policies.is_ended() };
    let (done, failure) = py.detach(|| wait(&watching, progress.as_ref(), policies, work));
    match failure.or_else(|| policies.error()) {
        Some(failure) => Err(failure),
        None => raised(py, done),
    }
}

fn wait<T: Send>(
    watching: &Watching,
    progress: Option<&Py<PyAny>>,
    policies: &Policies,
    work: impl FnOnce(&Watching) -> Result<T> + Send,
) -> (Result<T>, Option<PyErr>) {
    let mut failure = None;
    let done = thread::scope(|scope| {
        let (over, told) = channel::<()>();
        let working = move || {
            let done = work(watching);
            drop(over);
            done
        };
        let named = thread::Builder::new().name("ftlab".to_owned());
        let worker = match named.spawn_scoped(scope, working) {
            Ok(worker) => worker,
            Err(error) => return Err(Error::Run(format!("a thread cannot be started: {error}"))),
        };
        let (mut numbers, mut next) = (Vec::new(), 0);
        let mut look_up = || {
            Python::attach(|py| {
                py.check_signals()?;
                policies.error().map_or(Ok(()), Err)?;
                let pieces = watching.told(&mut numbers, &mut next);
                match progress {
                    Some(progress) => progress.call1(py, (pieces,)).map(drop),
                    None => Ok(()),
                }
            })
        };
        while told.recv_timeout(LOOK_UP) == Err(RecvTimeoutError::Timeout) {
            if failure.is_none() {
                failure = look_up().err();
                if failure.is_some() {
                    watching.is_ended.store(true, Ordering::Relaxed);
                }
            }
            // A policy that is being asked just now may take as long as it likes to answer.
            if failure.is_some() {
                let _ = Python::attach(|py| policies.interrupt(py));
            }
        }
        if failure.is_none() {
            failure = look_up().err();
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    (done, failure)
}
