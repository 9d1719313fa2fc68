//! The first pass over a workload: what must be known before addresses can be laid out.

use std::collections::BTreeMap;

use ftlab_flash::request::Op;
use ftlab_flash::units::WideDivisor;

use crate::error::{Result, TraceError};
use crate::footprint::PageSet;
use crate::record::{Place, Record};
use crate::records::Records;

/// Each unit's span is rounded up to this before the next one is laid beside it: 1 MiB, so that
/// units never share an erase block of any size that divides 1 MiB.
const SPAN_STEP_BYTES: u64 = 1 << 20;

/// How far each unit (ASU, volume, disk) of a workload reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSpans {
    ends: BTreeMap<u32, u64>,
    latest: Option<(u32, u64)>,
}

impl UnitSpans {
    /// Takes note of one record. A flush has no address and counts for nothing.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        if record.op == Op::Flush {
            return;
        }
        let end = record.end_bytes();
        if let Some((unit, known)) = self.latest
            && unit == record.unit
            && end <= known
        {
            return;
        }
        let known = self.ends.entry(record.unit).or_default();
        *known = end.max(*known);
        self.latest = Some((record.unit, *known));
    }

    /// Every unit in order of its number, with the first byte after its last request.
    pub fn ends(&self) -> impl Iterator<Item = (u32, u64)> {
        self.ends.iter().map(|(unit, end)| (*unit, *end))
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Was no address seen?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where each unit begins when they are laid side by side in order of number; a single unit
    /// keeps its addresses. `None` if the sum overflows 64 bits.
    pub(crate) fn bases(&self) -> Option<BTreeMap<u32, u64>> {
        let mut next = 0u64;
        let mut bases = BTreeMap::new();
        for (unit, end) in self.ends() {
            bases.insert(unit, next);
            next = next.checked_add(end.checked_next_multiple_of(SPAN_STEP_BYTES)?)?;
        }
        Some(bases)
    }

    /// Capacity that strict addressing needs, in bytes: the last unit's end, rounded up to sectors.
    /// `u64::MAX` where it does not fit 64 bits.
    pub fn capacity_bytes(&self) -> u64 {
        let last = self.ends.last_key_value();
        last.zip(self.bases())
            .and_then(|((unit, end), bases)| bases[unit].checked_add(*end))
            .and_then(|end| end.checked_next_multiple_of(512))
            .unwrap_or(if self.is_empty() { 0 } else { u64::MAX })
    }
}

/// What a first pass found.
pub struct Survey {
    /// Requests of every kind.
    pub requests: u64,
    /// Requests of one trace with those that were not asked for ([`Summary::requests_read`]).
    ///
    /// [`Summary::requests_read`]: crate::Summary::requests_read
    pub requests_read: Option<u64>,
    /// Arrival of the last request, in nanoseconds.
    pub last_time_ns: u64,
    /// How far each unit reaches.
    pub spans: UnitSpans,
    /// Whether a request has a placement hint.
    pub has_hints: bool,
    /// Whether any says what it writes.
    pub has_contents: bool,
    /// The largest request; none without one.
    pub largest: Option<Largest>,
    /// The request that reaches farthest in its unit; none without one.
    pub farthest: Option<Farthest>,
    extents: Option<Extents>,
}

/// The largest request of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Largest {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The file it stands in.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

/// The request that reaches farthest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farthest {
    /// The first byte after it.
    pub end_bytes: u64,
    /// The file it stands in.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

impl Largest {
    /// Refuses it on a device of that capacity.
    ///
    /// # Errors
    /// It is larger than the device, whatever the addresses.
    pub fn check(&self, capacity_bytes: u64) -> Result<()> {
        if self.size_bytes <= capacity_bytes {
            return Ok(());
        }
        Err(TraceError::new("request is larger than the device")
            .with_value(format!("{} bytes", self.size_bytes).as_bytes())
            .with_legal(format!(
                "up to {capacity_bytes} bytes, or a larger --capacity; is --size-unit right?"
            ))
            .at(self.file.clone(), Some(self.line)))
    }
}

/// Extents that were touched.
struct Extents {
    touched: PageSet,
    bytes: WideDivisor,
}

impl Survey {
    /// Goes through all records once; `extent_bytes` is the extent of dense addressing, none where
    /// nobody asks how many are touched. `noted` is called behind each record, and may end the
    /// pass.
    ///
    /// # Errors
    /// The first error of the records, or of `noted`.
    pub(crate) fn of<E: From<TraceError>>(
        records: &mut Records,
        extent_bytes: Option<u64>,
        mut noted: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        let mut survey = Self::new(extent_bytes);
        let (mut largest, mut place) = (0, Place::default());
        let (mut end, mut end_place) = (0, Place::default());
        while let Some(record) = records.next() {
            let record = record?;
            survey.note(&record);
            if record.size_bytes > largest {
                (largest, place) = (record.size_bytes, records.place());
            }
            if record.end_bytes() > end && record.op != Op::Flush {
                (end, end_place) = (record.end_bytes(), records.place());
            }
            noted()?;
        }
        survey.largest = (largest > 0).then(|| Largest {
            size_bytes: largest,
            file: records.names()[place.part as usize].clone(),
            line: place.line,
        });
        survey.farthest = (end > 0).then(|| Farthest {
            end_bytes: end,
            file: records.names()[end_place.part as usize].clone(),
            line: end_place.line,
        });
        Ok(survey)
    }

    /// Of no record yet; `extent_bytes` is the extent of dense addressing, if anybody asks for it.
    pub(crate) fn new(extent_bytes: Option<u64>) -> Self {
        let extents = |bytes: u64| Extents {
            touched: PageSet::default(),
            bytes: WideDivisor::new(bytes.max(1)),
        };
        Self {
            requests: 0,
            requests_read: None,
            last_time_ns: 0,
            spans: UnitSpans::default(),
            has_hints: false,
            has_contents: false,
            largest: None,
            farthest: None,
            extents: extent_bytes.map(extents),
        }
    }

    /// Takes note of one record, in order of time.
    #[inline]
    pub(crate) fn note(&mut self, record: &Record) {
        self.requests += 1;
        self.last_time_ns = record.time_ns;
        self.spans.note(record);
        self.has_hints |= record.stream.is_some();
        self.has_contents |= record.content.is_some();
        if let Some(Extents { touched, bytes }) = &mut self.extents
            && record.size_bytes > 0
            && record.op != Op::Flush
        {
            let last = bytes.quotient(record.end_bytes() - 1);
            touched.insert(record.unit, bytes.quotient(record.offset_bytes), last);
        }
    }

    /// Capacity that strict addressing needs, in bytes.
    pub fn strict_bytes(&self) -> u64 {
        self.spans.capacity_bytes()
    }

    /// Capacity that dense addressing needs, in bytes: touched extents times their size. None where
    /// the pass was told of no extent.
    pub fn dense_bytes(&self) -> Option<u64> {
        let bytes = |extents: &Extents| extents.touched.len().saturating_mul(extents.bytes.get());
        self.extents.as_ref().map(bytes)
    }
}
