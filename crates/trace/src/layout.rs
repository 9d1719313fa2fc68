//! Addresses of a trace turned into addresses of a device.
//!
//! Strict keeps them and refuses what lies beyond the device; modulo folds them; dense gives every
//! touched extent the next free slot in order of first touch, so that adjacency inside an extent
//! survives and the device need only be as large as the footprint. Dense tells units apart by
//! itself; the other two lay several units side by side and need their spans from a first pass.

use std::collections::BTreeMap;
use std::str::FromStr;

use ftlab_flash::request::{Op, Request};
use ftlab_flash::units::SECTOR_BYTES;
use rustc_hash::FxHashMap;

use crate::error::{Result, TraceError, unknown_name};
use crate::record::Record;
use crate::size::human_bytes;
use crate::survey::UnitSpans;

/// How addresses of a trace become addresses of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// As they are; beyond the device is an error.
    #[default]
    Strict,
    /// Remainder after division by the capacity.
    Modulo,
    /// Touched extents packed in order of first touch.
    Dense,
}

impl AddressMode {
    /// Every mode with its name on the command line.
    pub const ALL: [(&'static str, Self); 3] =
        [("strict", Self::Strict), ("modulo", Self::Modulo), ("dense", Self::Dense)];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for AddressMode {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(|(name, _)| name);
        let found = Self::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|(_, mode)| *mode).ok_or_else(|| unknown_name("address mode", text, &names))
    }
}

/// What laying out did to the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutCounts {
    /// Records mapped.
    pub records: u64,
    /// Requests that came out of them.
    pub requests: u64,
    /// Records widened to whole sectors.
    pub widened: u64,
    /// Records that became several requests because their pieces are not adjacent any more.
    pub split: u64,
}

/// Turns records into requests of 512-byte sectors. Memory grows with touched extents only.
pub struct AddressMap {
    mode: AddressMode,
    capacity_sectors: u64,
    bases: Option<BTreeMap<u32, u64>>,
    /// The unit of the record before, and the sector at which it begins; without `bases` the only
    /// unit there may be. Not for dense.
    latest_unit: Option<(u32, u64)>,
    needed_bytes: Option<u64>,
    extent_sectors: u64,
    slots: FxHashMap<(u32, u64), u64>,
    counts: LayoutCounts,
}

impl AddressMap {
    /// A map to a device of `capacity_bytes`. `spans` come from a first pass; without them strict
    /// and modulo take traces of a single unit only. `extent_bytes` matters for dense only: one
    /// erase block, a multiple of 512.
    ///
    /// # Errors
    /// A capacity or extent without a whole sector; spans whose sum overflows.
    pub fn new(
        mode: AddressMode,
        capacity_bytes: u64,
        extent_bytes: u64,
        spans: Option<&UnitSpans>,
    ) -> Result<Self> {
        if capacity_bytes < SECTOR_BYTES {
            return Err(TraceError::new("capacity holds no sector")
                .with_value(capacity_bytes.to_string().as_bytes())
                .with_legal("at least 512 bytes"));
        }
        if extent_bytes == 0 || !extent_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(TraceError::new("extent is not a whole number of sectors")
                .with_value(extent_bytes.to_string().as_bytes())
                .with_legal("a positive multiple of 512 bytes, usually one erase block"));
        }
        let overflow = || {
            TraceError::new("units laid side by side overflow 64 bits")
                .with_legal("fewer units (--unit), or --address dense")
        };
        let bases = match spans {
            Some(spans) if mode != AddressMode::Dense => Some(spans.bases().ok_or_else(overflow)?),
            _ => None,
        };
        Ok(Self {
            mode,
            capacity_sectors: capacity_bytes / SECTOR_BYTES,
            bases,
            latest_unit: None,
            needed_bytes: spans.map(UnitSpans::capacity_bytes),
            extent_sectors: extent_bytes / SECTOR_BYTES,
            slots: FxHashMap::default(),
            counts: LayoutCounts::default(),
        })
    }

    /// What was done so far.
    pub fn counts(&self) -> LayoutCounts {
        self.counts
    }

    /// The mode.
    pub fn mode(&self) -> AddressMode {
        self.mode
    }

    /// Appends the requests that `record` becomes, all with its arrival, in order of address.
    ///
    /// # Errors
    /// An address or footprint beyond the device, or a second unit where spans are not known; the
    /// caller adds the place (`Records::locate`).
    #[inline]
    pub fn map(&mut self, record: &Record, out: &mut Vec<Request>) -> Result<()> {
        match self.plain(record) {
            Some(request) => {
                out.push(request);
                self.count_plain(1);
                Ok(())
            }
            None => self.map_with_care(record, out),
        }
    }

    /// What most records become: sectors of the same unit as before, on the device. Whoever uses it
    /// counts it ([`Self::count_plain`]); none where [`Self::map`] must look closer.
    #[inline]
    pub(crate) fn plain(&self, record: &Record) -> Option<Request> {
        let (first, sectors) =
            (record.offset_bytes / SECTOR_BYTES, record.size_bytes / SECTOR_BYTES);
        let aligned = (record.offset_bytes | record.size_bytes).is_multiple_of(SECTOR_BYTES);
        let (unit, base) = self.latest_unit.filter(|_| self.mode == AddressMode::Strict)?;
        let is_plain = aligned
            && unit == record.unit
            && sectors <= u64::from(u32::MAX)
            && base + first + sectors <= self.capacity_sectors
            && record.op != Op::Flush;
        is_plain.then_some(Request {
            arrival: record.time_ns,
            op: record.op,
            first_sector: base + first,
            sectors: sectors as u32,
            unit: record.unit,
            stream: record.stream,
            content: record.content,
        })
    }

    /// Counts records that became what [`Self::plain`] says.
    #[inline]
    pub(crate) fn count_plain(&mut self, records: usize) {
        self.counts.records += records as u64;
        self.counts.requests += records as u64;
    }

    pub(crate) fn map_with_care(&mut self, record: &Record, out: &mut Vec<Request>) -> Result<()> {
        let before = out.len();
        if record.op == Op::Flush {
            out.push(Request {
                arrival: record.time_ns,
                op: Op::Flush,
                first_sector: 0,
                sectors: 0,
                unit: record.unit,
                stream: record.stream,
                content: record.content,
            });
        } else {
            let base = self.base(record)?;
            let end = record.end_bytes();
            let first = record.offset_bytes / SECTOR_BYTES;
            let sectors = end.div_ceil(SECTOR_BYTES) - first;
            let aligned = (record.offset_bytes | end).is_multiple_of(SECTOR_BYTES);
            self.counts.widened += u64::from(!aligned);
            let request = Request {
                arrival: record.time_ns,
                op: record.op,
                first_sector: first.saturating_add(base),
                sectors: u32::try_from(sectors).map_err(|_| too_large(record))?,
                unit: record.unit,
                stream: record.stream,
                content: record.content.filter(|_| aligned),
            };
            match self.mode {
                AddressMode::Strict => self.map_strict(request, out)?,
                AddressMode::Modulo => self.map_modulo(request, out)?,
                AddressMode::Dense => self.map_dense(record.unit, request, out)?,
            }
        }
        self.counts.records += 1;
        self.counts.requests += (out.len() - before) as u64;
        self.counts.split += u64::from(out.len() - before > 1);
        Ok(())
    }

    /// The sector at which the record's unit begins.
    #[inline]
    fn base(&mut self, record: &Record) -> Result<u64> {
        if self.mode == AddressMode::Dense {
            return Ok(0);
        }
        let base = match (&self.bases, self.latest_unit) {
            (_, Some((unit, base))) if unit == record.unit => return Ok(base),
            (Some(bases), _) => bases.get(&record.unit).map(|base| base / SECTOR_BYTES),
            (None, None) => Some(0),
            (None, Some((only, _))) => return Err(second_unit(only, record)),
        };
        let base = base.ok_or_else(|| {
            TraceError::new("unit was not seen in the first pass")
                .with_value(record.unit.to_string().as_bytes())
                .with_legal("a trace that does not change between two passes")
        })?;
        self.latest_unit = Some((record.unit, base));
        Ok(base)
    }

    fn map_strict(&self, request: Request, out: &mut Vec<Request>) -> Result<()> {
        let end = request.first_sector.saturating_add(u64::from(request.sectors));
        if end <= self.capacity_sectors {
            out.push(request);
            return Ok(());
        }
        let request_end = end.saturating_mul(SECTOR_BYTES);
        let needed = self.needed_bytes.unwrap_or(request_end);
        let whole = if self.needed_bytes.is_some() { "the trace" } else { "this request alone" };
        Err(TraceError::new(format!(
            "address beyond the device: the request ends at byte {request_end}, the device has \
             {} bytes, {whole} needs {needed} bytes ({})",
            self.capacity_sectors * SECTOR_BYTES,
            human_bytes(needed)
        ))
        .with_legal("--capacity auto or larger, --address modulo, or --address dense"))
    }

    fn map_modulo(&self, request: Request, out: &mut Vec<Request>) -> Result<()> {
        if u64::from(request.sectors) > self.capacity_sectors {
            return Err(TraceError::new("request is larger than the device")
                .with_value(format!("{} sectors", request.sectors).as_bytes())
                .with_legal(format!("up to {} sectors", self.capacity_sectors)));
        }
        let first_sector = request.first_sector % self.capacity_sectors;
        let until_end = self.capacity_sectors - first_sector;
        if u64::from(request.sectors) <= until_end {
            out.push(Request { first_sector, ..request });
            return Ok(());
        }
        let sectors = until_end as u32;
        let rest = request.content.map(|content| content.from_sector(until_end));
        out.push(Request { first_sector, sectors, ..request });
        let sectors = request.sectors - sectors;
        out.push(Request { first_sector: 0, sectors, content: rest, ..request });
        Ok(())
    }

    fn map_dense(&mut self, unit: u32, request: Request, out: &mut Vec<Request>) -> Result<()> {
        let before = out.len();
        let mut sector = request.first_sector;
        let end = sector + u64::from(request.sectors);
        while sector < end {
            let extent = sector / self.extent_sectors;
            let inside = sector % self.extent_sectors;
            let sectors = (self.extent_sectors - inside).min(end - sector);
            let next_slot = self.slots.len() as u64;
            let slot = *self.slots.entry((unit, extent)).or_insert(next_slot);
            let first_sector = slot * self.extent_sectors + inside;
            if first_sector + sectors > self.capacity_sectors {
                return Err(self.footprint_too_large());
            }
            match out[before..].last_mut() {
                Some(last) if last.first_sector + u64::from(last.sectors) == first_sector => {
                    last.sectors += sectors as u32;
                }
                _ => {
                    let behind = sector - request.first_sector;
                    let content = request.content.map(|content| content.from_sector(behind));
                    out.push(Request { first_sector, sectors: sectors as u32, content, ..request });
                }
            }
            sector += sectors;
        }
        Ok(())
    }

    #[cold]
    fn footprint_too_large(&self) -> TraceError {
        TraceError::new(format!(
            "footprint beyond the device: {} extents of {} touched so far, the device has {} bytes",
            self.slots.len(),
            human_bytes(self.extent_sectors * SECTOR_BYTES),
            self.capacity_sectors * SECTOR_BYTES
        ))
        .with_legal("--capacity auto or larger, a smaller extent, or --address modulo")
    }
}

#[cold]
fn second_unit(only: u32, record: &Record) -> TraceError {
    TraceError::new(format!("a second unit (after {only}) needs a first pass over the trace"))
        .with_value(record.unit.to_string().as_bytes())
        .with_legal(format!("a file instead of -, or one unit, as in --unit {only}"))
}

#[cold]
fn too_large(record: &Record) -> TraceError {
    TraceError::new("request is too large")
        .with_value(record.size_bytes.to_string().as_bytes())
        .with_legal("at most 1 TiB per request")
}
