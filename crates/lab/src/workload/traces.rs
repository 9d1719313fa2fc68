//! Traces that several runs read in the same way: each is decoded once and held in memory, as long
//! as there is room. What finds none is decoded by every run for itself, with the same outcome.

use std::sync::{Arc, Mutex, PoisonError};

use ftlab_trace::Decoded;

use crate::error::Result;
use crate::observer::{Counts, Observer, Steps};
use crate::workload::choice::WorkloadChoice;

/// Memory of all traces that are held, in bytes: 32 a request and, where lines are out of order or
/// dropped, some more.
pub const HELD_BYTES_MAX: u64 = 1 << 30;
/// That of one; while it is read its size is not known, so that the others must leave as much.
const ONE_BYTES_MAX: u64 = HELD_BYTES_MAX / 2;

/// The traces that are held.
#[derive(Default)]
pub struct Traces {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Those that were asked for last are last.
    traces: Vec<Entry>,
}

struct Entry {
    /// What is read, and how.
    reading: String,
    /// None where it is not held: too large, broken, or no single trace.
    decoded: Option<Arc<Decoded>>,
}

impl Entry {
    fn bytes(&self) -> u64 {
        self.decoded.as_ref().map_or(0, |decoded| decoded.bytes())
    }

    fn is_read(&self) -> bool {
        self.decoded.as_ref().is_some_and(|decoded| Arc::strong_count(decoded) > 1)
    }
}

impl Traces {
    /// The records of a workload, if it is a trace that can be held. Who asks for one that is being
    /// decoded waits for it.
    pub fn of(
        &self,
        choice: &WorkloadChoice,
        observer: &dyn Observer,
    ) -> Result<Option<Arc<Decoded>>> {
        if choice.is_generated() {
            return Ok(None);
        }
        let reading = format!("{} {:?}", choice.text, choice.options);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = held.traces.iter().position(|entry| entry.reading == reading) {
            let entry = held.traces.remove(at);
            let decoded = entry.decoded.clone();
            held.traces.push(entry);
            return Ok(decoded);
        }
        if !held.makes_room() {
            return Ok(None);
        }
        let workload = choice.open_own(0)?;
        let steps = Steps::of(observer, Counts::FirstPass, "decoding the trace", None);
        let decoded = workload.decoded_while(ONE_BYTES_MAX, || steps.advance())?.map(Arc::new);
        held.traces.push(Entry { reading, decoded: decoded.clone() });
        Ok(decoded)
    }
}

impl Held {
    /// Forgets traces that nobody reads, those that were asked for long ago first, until another
    /// one has room; false where that does not suffice.
    fn makes_room(&mut self) -> bool {
        let others = HELD_BYTES_MAX - ONE_BYTES_MAX;
        let mut bytes: u64 = self.traces.iter().map(Entry::bytes).sum();
        self.traces.retain(|entry| {
            let goes = bytes > others && entry.bytes() > 0 && !entry.is_read();
            bytes -= if goes { entry.bytes() } else { 0 };
            !goes
        });
        bytes <= others
    }
}
