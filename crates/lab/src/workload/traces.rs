//! Traces that several runs read in the same way: each is decoded once and held in memory, as long
//! as there is room. What finds none is decoded by every run for itself, with the same outcome.

use std::sync::{Arc, Mutex, PoisonError};

use ftlab_trace::Decoded;

use crate::error::Result;
use crate::memory::available_bytes;
use crate::observer::{Counts, Observer, Steps};
use crate::workload::choice::WorkloadChoice;

/// Memory of all traces that are held, in bytes: 32 a request and, where lines are out of order or
/// dropped, some more.
const HELD_BYTES_MAX: u64 = 1 << 30;

/// The traces that are held.
pub struct Traces {
    held: Mutex<Held>,
}

struct Held {
    /// Memory of one. While it is read its size is not known, so that the others must leave as
    /// much.
    one_bytes_max: u64,
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

impl Default for Traces {
    /// As much as is stated above, or a quarter of the memory that is free where that is less.
    fn default() -> Self {
        let free = available_bytes().map_or(HELD_BYTES_MAX, |bytes| bytes / 4);
        Traces::within(HELD_BYTES_MAX.min(free))
    }
}

impl Traces {
    /// Holds so many bytes at most; a single one may take half of them.
    fn within(bytes_max: u64) -> Self {
        let held = Held { one_bytes_max: bytes_max / 2, traces: Vec::new() };
        Traces { held: Mutex::new(held) }
    }

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
        let reading = choice.reading();
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
        let decoded = workload.decoded_while(held.one_bytes_max, || steps.advance())?.map(Arc::new);
        held.traces.push(Entry { reading, decoded: decoded.clone() });
        Ok(decoded)
    }
}

impl Held {
    /// Forgets traces that nobody reads, those that were asked for long ago first, until another
    /// one has room; false where that does not suffice.
    fn makes_room(&mut self) -> bool {
        let others = self.one_bytes_max;
        let mut bytes: u64 = self.traces.iter().map(Entry::bytes).sum();
        self.traces.retain(|entry| {
            let goes = bytes > others && entry.bytes() > 0 && !entry.is_read();
            bytes -= if goes { entry.bytes() } else { 0 };
            !goes
        });
        bytes <= others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use crate::options::reading::Reading;

    /// 100 requests each, which take 3,216 bytes.
    fn traces(number: u64) -> (tempfile::TempDir, Vec<WorkloadChoice>) {
        let folder = tempfile::tempdir().unwrap();
        let choice = |trace: u64| {
            let path = folder.path().join(format!("{trace}.spc"));
            let line = |at: u64| format!("0,{},4096,w,{at}.5\n", at * trace % 64 * 8);
            std::fs::write(&path, (0..100).map(line).collect::<String>()).unwrap();
            choice(&path.display().to_string())
        };
        let choices = (1..=number).map(choice).collect();
        (folder, choices)
    }

    fn choice(text: &str) -> WorkloadChoice {
        WorkloadChoice::new(text, &Reading::default(), &[], Some(&Silent)).unwrap()
    }

    #[test]
    fn a_trace_is_decoded_once_for_all_who_read_it_in_the_same_way() {
        let (_folder, choices) = traces(1);
        let held = Traces::default();
        let of = |choice: &WorkloadChoice| held.of(choice, &Silent).unwrap();
        let (first, second) = (of(&choices[0]).unwrap(), of(&choices[0]).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        let mut shorter = choices[0].clone();
        shorter.options.head = Some(10);
        assert!(!Arc::ptr_eq(&first, &of(&shorter).unwrap()));
        assert!(of(&choice("randwrite:bs=4k,span=1MiB,count=5")).is_none());
    }

    #[test]
    fn memory_is_bounded_and_what_is_being_read_stays() {
        let (_folder, choices) = traces(4);
        // Half of it holds one and a half traces.
        let held = Traces::within(2 * 4800);
        let of = |number: usize| held.of(&choices[number], &Silent).unwrap();
        let place = |decoded: Option<Arc<Decoded>>| decoded.map(|held| Arc::as_ptr(&held));
        let first = of(0).expect("there is room");
        let second = place(of(1));
        let all = || held.held.lock().unwrap().traces.iter().map(Entry::bytes).sum::<u64>();
        assert!(all() <= 2 * 4800);
        assert!(of(2).is_some(), "the second one, which nobody reads, makes room");
        assert!(all() <= 2 * 4800);
        assert!(place(of(0)) == Some(Arc::as_ptr(&first)), "somebody reads the first one");
        let third = of(2).expect("it is still there");
        assert!(of(3).is_none(), "both that are held are being read");
        drop((first, third));
        assert!(of(3).is_some() && second.is_some());
        assert!(Traces::within(2 * 3000).of(&choices[0], &Silent).unwrap().is_none(), "too large");
    }
}
