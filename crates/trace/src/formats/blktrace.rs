//! blktrace's own binary files: a file for each CPU, `NAME.blktrace.N`, read as one trace in order
//! of time (`--workload NAME` finds them all; so does a glob).
//!
//! Events of 48 bytes, in the byte order of the machine that wrote them, each followed by data of
//! its own length. Time counts nanoseconds, sectors 512 bytes, sizes bytes. As in blkparse's text
//! one action counts (D, issued to the device, unless `--filter action=` says otherwise), and the
//! unit is `major * 2^20 + minor`. Names of processes come from the notices in the stream, so that
//! `process=` takes names as well as numbers. Source: Linux, `include/uapi/linux/blktrace_api.h`.

use std::collections::BTreeMap;

use ftlab_flash::request::Op;

use super::blkparse::ACTION;
use super::context::Context;
use super::format::{BinaryFormat, Certainty, Encoding, FilesOf, Format, Open, Takes};
use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files, fill};
use crate::filter::EventFilter;
use crate::options::{SizeUnit, TimeUnit};
use crate::order::Placed;
use crate::record::{Place, Record};
use crate::source::Text;
use crate::summary::DropReason;

const COLUMNS: &str = "events of 48 bytes: magic 0x65617407, sequence, time(ns), sector(512 B), \
                       size(bytes), action, pid, device, cpu, error, length of what follows";

/// The row.
pub const FORMAT: Format = Format {
    name: "blktrace",
    columns: COLUMNS,
    origin: "blktrace (Linux), binary files of all CPUs",
    time_unit: TimeUnit::Nanoseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Stated,
    header: None,
    takes: Takes::ACTION_AND_PROCESS,
    encoding: Encoding::Binary(BinaryFormat {
        recognises,
        open: Open::Events(open),
        files: FilesOf::Whole,
        units_given: false,
    }),
};

const EVENT_BYTES: usize = 48;
/// `0x65617400` with the version, 7, in the last byte.
const MAGIC: u32 = 0x6561_7407;
/// Files open at the same time: CPUs of the largest machines.
const CPUS_MAX: usize = 4096;

/// Categories, in the upper half of `action`.
mod category {
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const FLUSH: u32 = 1 << 2;
    pub(super) const PASS_THROUGH: u32 = 1 << 9;
    pub(super) const NOTICE: u32 = 1 << 10;
    pub(super) const DISCARD: u32 = 1 << 13;
}

/// The letters by which blkparse names the actions 1 to 17; the lower half of `action` counts them.
const LETTERS: &[u8] = b"QMFGSRDCPUTIXBAad";

fn recognises(head: &[u8]) -> bool {
    let magic = head.first_chunk().map(|bytes: &[u8; 4]| u32::from_le_bytes(*bytes));
    magic.is_some_and(|magic| magic == MAGIC || magic.swap_bytes() == MAGIC)
}

fn open(mut files: Files, context: Context, _: &'static Format) -> Result<Box<dyn Events>> {
    let parts = files.names.len();
    if parts > CPUS_MAX {
        return Err(TraceError::new("too many files")
            .with_value(parts.to_string().as_bytes())
            .with_legal(format!("up to {CPUS_MAX}, one for each CPU")));
    }
    let mut cpus = Vec::with_capacity(parts);
    for part in 0..parts {
        let mut cpu = Cpu::new(part as u32, files.open(part)?);
        cpu.advance().map_err(|error| cpu.locate(&files, error))?;
        cpus.push(cpu);
    }
    let action = context.events.action.unwrap_or(ACTION);
    let merged = Merged { files, cpus, filter: context.events, action, names: BTreeMap::new() };
    Ok(Box::new(merged))
}

/// One event.
#[derive(Clone, Copy, Debug)]
struct Head {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    follows: u16,
}

/// The file of one CPU, one event ahead.
struct Cpu {
    part: u32,
    text: Text,
    swapped: bool,
    next: Option<Head>,
    /// What follows the next event: the name of a process, a message.
    data: Vec<u8>,
    events: u64,
}

impl Cpu {
    fn new(part: u32, text: Text) -> Self {
        Self { part, text, swapped: false, next: None, data: Vec::new(), events: 0 }
    }

    /// Reads one event ahead.
    fn advance(&mut self) -> Result<()> {
        let mut bytes = [0; EVENT_BYTES];
        self.next = None;
        self.events += 1;
        match fill(&mut self.text, &mut bytes)? {
            0 => return Ok(()),
            EVENT_BYTES => {}
            read => return Err(cut(read, EVENT_BYTES)),
        }
        let magic = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        self.swapped = magic.swap_bytes() == MAGIC;
        if magic != MAGIC && !self.swapped {
            return Err(TraceError::new("not an event of blktrace")
                .with_value(format!("{magic:#010x}").as_bytes())
                .with_legal("magic 0x65617407 (version 7) in either byte order"));
        }
        let head = self.parse(&bytes);
        self.data.resize(usize::from(head.follows), 0);
        let read = fill(&mut self.text, &mut self.data)?;
        if read < self.data.len() {
            return Err(cut(read, self.data.len()));
        }
        self.next = Some(head);
        Ok(())
    }

    fn parse(&self, bytes: &[u8; EVENT_BYTES]) -> Head {
        let word = |at: usize| {
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            if self.swapped { word.swap_bytes() } else { word }
        };
        let long = |at: usize| {
            let long = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            if self.swapped { long.swap_bytes() } else { long }
        };
        let follows = u16::from_le_bytes(bytes[46..48].try_into().expect("two bytes"));
        Head {
            time_ns: long(8),
            sector: long(16),
            bytes: word(24),
            action: word(28),
            pid: word(32),
            device: word(36),
            follows: if self.swapped { follows.swap_bytes() } else { follows },
        }
    }

    fn locate(&self, files: &Files, error: TraceError) -> TraceError {
        error.at(files.names[self.part as usize].clone(), Some(self.events))
    }
}

#[cold]
fn cut(read: usize, wanted: usize) -> TraceError {
    TraceError::new(format!("file ends within an event ({read} of {wanted} bytes)"))
        .with_legal("a complete file")
}

/// The files of all CPUs in order of time.
struct Merged {
    files: Files,
    cpus: Vec<Cpu>,
    filter: EventFilter,
    action: u8,
    /// Names of processes by number, as far as the stream told them.
    names: BTreeMap<u32, Vec<u8>>,
}

impl Merged {
    /// What one event asks for.
    fn decide(
        &mut self,
        head: Head,
        data: &[u8],
    ) -> Result<std::result::Result<Record, DropReason>> {
        let (action, category) = (head.action & 0xffff, head.action >> 16);
        if category & category::NOTICE != 0 {
            if action == 0 && !self.filter.processes.is_empty() {
                let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
                self.names.insert(head.pid, data[..end].to_vec());
            }
            return Ok(Err(DropReason::NotARequest));
        }
        let letter = (action as usize).checked_sub(1).and_then(|index| LETTERS.get(index));
        if letter != Some(&self.action) {
            return Ok(Err(DropReason::ActionNotSelected));
        }
        let name = self.names.get(&head.pid).map_or(&b""[..], Vec::as_slice);
        if !self.filter.takes_process(head.pid.to_string().as_bytes(), name) {
            return Ok(Err(DropReason::ProcessNotSelected));
        }
        let op = match category {
            of if of & category::DISCARD != 0 => Op::Trim,
            of if of & category::WRITE != 0 && head.bytes > 0 => Op::Write,
            of if of & category::FLUSH != 0 && head.bytes == 0 => Op::Flush,
            _ => Op::Read,
        };
        let no_data = head.bytes == 0 && op != Op::Flush;
        if no_data || category & category::PASS_THROUGH != 0 {
            return Ok(Err(DropReason::NoOperation));
        }
        let offset_bytes = head.sector.checked_mul(512).filter(|_| op != Op::Flush);
        let record = Record {
            time_ns: head.time_ns,
            op,
            offset_bytes: offset_bytes.unwrap_or(0),
            size_bytes: u64::from(head.bytes),
            unit: head.device,
            stream: None,
            content: None,
        };
        if op != Op::Flush
            && offset_bytes.is_none_or(|offset| offset.checked_add(record.size_bytes).is_none())
        {
            return Err(TraceError::new("address overflows 64 bits")
                .with_value(head.sector.to_string().as_bytes())
                .with_legal("an end below 16 EiB"));
        }
        Ok(Ok(record))
    }
}

impl Events for Merged {
    fn next_event(&mut self) -> Result<Option<Event>> {
        let earliest = self
            .cpus
            .iter()
            .enumerate()
            .filter_map(|(index, cpu)| cpu.next.map(|head| (head.time_ns, index)))
            .min();
        let Some((_, index)) = earliest else {
            return Ok(None);
        };
        let head = self.cpus[index].next.expect("it was the earliest");
        let place = Place { part: self.cpus[index].part, line: self.cpus[index].events };
        let data = std::mem::take(&mut self.cpus[index].data);
        let decided = self.decide(head, &data);
        let cpu = &mut self.cpus[index];
        cpu.data = data;
        let decided = decided.map_err(|error| cpu.locate(&self.files, error))?;
        cpu.advance().map_err(|error| cpu.locate(&self.files, error))?;
        Ok(Some(match decided {
            Ok(record) => Event::Request(Placed { record, place }),
            Err(reason) => Event::Dropped(reason, place),
        }))
    }

    fn place(&self) -> Place {
        Place { part: 0, line: self.cpus.first().map_or(1, |cpu| cpu.events) }
    }
}
