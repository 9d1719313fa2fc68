//! Any workload to our CSV or our compact binary, compressed as the name of the output says.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::{Result, TraceError};
use crate::formats::csv::MoreColumns;
use crate::formats::{compact, csv};
use crate::record::Record;
use crate::records::Records;
use crate::survey::{Survey, UnitSpans};
use crate::workload::Workload;

/// What a conversion wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Requests written.
    pub requests: u64,
    /// Units laid side by side (1 = addresses kept).
    pub units: usize,
    /// Which malformed lines were left out, if any were.
    pub skipped: Option<String>,
}

/// Writes `workload` to `out`: as our compact binary if its name ends in `.ftb`, else as our CSV;
/// with `.gz` or `.zst` behind that compressed. CSV has no units: several are laid side by side,
/// which takes a first pass. Placement hints and contents stay: CSV has a column for each where
/// there are any. A conversion that fails leaves no output behind.
///
/// # Errors
/// An output that exists; from standard input a second unit, or a hint behind a request without
/// one, for a CSV; whatever reading the workload or writing gives.
pub fn convert(workload: &Workload, out: &Path) -> Result<Conversion> {
    let name = out.display().to_string();
    let survey = match workload.can_be_read_again() && !is_compact(&name) {
        true => Some(workload.survey_while(None, || Ok::<_, TraceError>(()))?),
        false => None,
    };
    let file = create(out, &name)?;
    let converted = write_all(workload, survey.as_ref(), file, &name);
    if converted.is_err() {
        // The first error is the one that matters; what is left to remove may already be gone.
        let _ = std::fs::remove_file(out);
    }
    converted
}

/// Writes records to the new file `out` as our compact binary, stored plain; they are in order of
/// time, and the first of them is at 0 of the workload. Whoever made the records has seen to it
/// that they are legal. A file that fails is not left behind.
///
/// # Errors
/// An output that exists or cannot be written.
pub fn keep_records(records: impl IntoIterator<Item = Record>, out: &Path) -> Result<u64> {
    let name = out.display().to_string();
    let failed = |error: io::Error| TraceError::new(cannot_write(&error)).at(&name, None);
    let file = create(out, &name)?;
    let write = || {
        let mut records = records.into_iter().peekable();
        let origin_ns = records.peek().map_or(0, |record| record.time_ns);
        let mut writer = compact::Writer::new(BufWriter::new(file), origin_ns, true)?;
        let mut requests = 0;
        for record in records {
            writer.write(&Record { time_ns: record.time_ns - origin_ns, ..record })?;
            requests += 1;
        }
        writer.finish()?.flush()?;
        Ok(requests)
    };
    write().map_err(|error| {
        // The first error is the one that matters; what is left to remove may already be gone.
        let _ = std::fs::remove_file(out);
        failed(error)
    })
}

/// A new file.
fn create(out: &Path, name: &str) -> Result<File> {
    OpenOptions::new().write(true).create_new(true).open(out).map_err(|error| {
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        let problem = if exists { "exists already".into() } else { cannot_write(&error) };
        TraceError::new(problem).with_legal("the name of a new file").at(name, None)
    })
}

/// Does the name ask for the compact binary?
fn is_compact(name: &str) -> bool {
    let stored = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    stored.ends_with(".ftb")
}

fn cannot_write(error: &io::Error) -> String {
    format!("cannot be written ({error})")
}

fn write_all(
    workload: &Workload,
    survey: Option<&Survey>,
    file: File,
    name: &str,
) -> Result<Conversion> {
    let failed = |error: io::Error| TraceError::new(cannot_write(&error)).at(name, None);
    let file = BufWriter::new(file);
    let units_given = is_compact(name) && workload.units_are_given()?;
    let records = workload.records()?;
    if name.ends_with(".gz") {
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        let conversion = write_records(units_given, records, survey, &mut out, name)?;
        out.finish().and_then(|mut file| file.flush()).map_err(failed)?;
        Ok(conversion)
    } else if name.ends_with(".zst") {
        let mut out = zstd::Encoder::new(file, 0).map_err(failed)?;
        let conversion = write_records(units_given, records, survey, &mut out, name)?;
        out.finish().and_then(|mut file| file.flush()).map_err(failed)?;
        Ok(conversion)
    } else {
        let mut out = file;
        let conversion = write_records(units_given, records, survey, &mut out, name)?;
        out.flush().map_err(failed)?;
        Ok(conversion)
    }
}

fn write_records(
    units_given: bool,
    records: Records,
    survey: Option<&Survey>,
    out: &mut impl Write,
    name: &str,
) -> Result<Conversion> {
    if is_compact(name) {
        write_compact(units_given, records, out, name)
    } else {
        write_csv(records, survey, out, name)
    }
}

fn write_compact(
    units_given: bool,
    mut records: Records,
    out: &mut impl Write,
    name: &str,
) -> Result<Conversion> {
    let failed = |error: io::Error| TraceError::new(cannot_write(&error)).at(name, None);
    let mut next = records.next().transpose()?;
    let origin_ns = records.summary().origin_ns.unwrap_or(0);
    let mut writer = compact::Writer::new(out, origin_ns, units_given).map_err(failed)?;
    let mut requests = 0;
    while let Some(record) = next {
        writer.write(&record).map_err(failed)?;
        requests += 1;
        next = records.next().transpose()?;
    }
    writer.finish().map_err(failed)?;
    Ok(Conversion { requests, units: 1, skipped: records.summary().skipped() })
}

fn write_csv(
    mut records: Records,
    survey: Option<&Survey>,
    out: &mut impl Write,
    name: &str,
) -> Result<Conversion> {
    let failed = |error: io::Error| TraceError::new(cannot_write(&error)).at(name, None);
    let overflow = || TraceError::new("units laid side by side overflow 64 bits").at(name, None);
    let spans = survey.map(|survey| &survey.spans);
    let bases = match spans {
        Some(spans) => Some(spans.bases().ok_or_else(overflow)?),
        None => None,
    };
    let mut next = records.next().transpose()?;
    // What can be read once says whether there are hints by its first request.
    let with = match survey {
        Some(survey) => MoreColumns { hints: survey.has_hints, contents: survey.has_contents },
        None => next.map_or_else(MoreColumns::default, |first| MoreColumns {
            hints: first.stream.is_some(),
            contents: first.content.is_some(),
        }),
    };
    csv::write_header(out, with).map_err(failed)?;
    let mut only = None;
    let mut requests = 0;
    while let Some(mut record) = next {
        let first = match (record.stream, record.content) {
            (Some(_), _) if !with.hints => Some("placement hint"),
            (_, Some(_)) if !with.contents => Some("content"),
            _ => None,
        };
        if let Some(first) = first {
            let error = TraceError::new(format!("a first {first} behind requests without one"))
                .with_legal("a file instead of -, or an output whose name ends in .ftb");
            return Err(records.locate(error));
        }
        if let Some(bases) = &bases {
            // A flush has no address, so its unit need not have a span.
            let base = bases.get(&record.unit).copied().unwrap_or(0);
            record.offset_bytes = record.offset_bytes.checked_add(base).ok_or_else(overflow)?;
        } else if *only.get_or_insert(record.unit) != record.unit {
            let error = TraceError::new("a second unit on standard input")
                .with_legal("a file instead of -, or one unit (--unit)");
            return Err(records.locate(error));
        }
        csv::write_record(out, &record, with).map_err(failed)?;
        requests += 1;
        next = records.next().transpose()?;
    }
    let units = spans.map_or(1, UnitSpans::len);
    Ok(Conversion { requests, units, skipped: records.summary().skipped() })
}
