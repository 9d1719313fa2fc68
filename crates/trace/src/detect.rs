//! Which format a trace has and in which units, from its first lines and never from its name.

use crate::error::{Result, TraceError};
use crate::evidence::{self, Implied, Row};
use crate::filter::EventFilter;
use crate::formats::context::{Context, Scales};
use crate::formats::format::{Certainty, Encoding, Format, TextFormat};
use crate::formats::line::Line;
use crate::formats::{self, FORMATS};
use crate::lines::Lines;
use crate::options::{Options, SizeUnit, TimeUnit};
use crate::source::Text;

/// Data lines looked at.
const SAMPLE_LINES: usize = 1000;

/// What was found out about a trace, and why.
#[derive(Clone, Debug)]
pub struct Detection {
    /// The row of the table.
    pub format: &'static Format,
    /// Why this format, in words.
    pub why: String,
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// Why this unit, in words.
    pub time_unit_why: String,
    /// Unit of the size column.
    pub size_unit: SizeUnit,
    /// Why this unit, in words.
    pub size_unit_why: String,
}

impl Detection {
    pub(crate) fn scales(&self) -> Scales {
        Scales::new(self.time_unit, self.size_unit)
    }
}

/// The first data lines of a file.
pub(crate) struct Sample {
    lines: Vec<(u64, Vec<u8>)>,
    /// Does the sample hold every line of the file?
    pub(crate) whole: bool,
    /// The first line with a NUL byte.
    pub(crate) nul_line: Option<u64>,
}

impl Sample {
    /// From the first bytes of the decompressed text; `whole` if these are all.
    pub(crate) fn new(head: &[u8], whole: bool) -> Self {
        let end = if whole {
            head.len()
        } else {
            // The last line may be cut: it is left out unless it is the only one.
            memchr::memrchr(b'\n', head).map_or(head.len(), |last| last + 1)
        };
        let mut text = Lines::new(&head[..end]);
        let mut lines = Vec::new();
        let (mut whole, mut nul_line) = (whole, None);
        loop {
            let number = text.number() + 1;
            match text.next() {
                Ok(Some(line)) if is_skipped(line) => {}
                Ok(Some(line)) => lines.push((number, line.to_vec())),
                Ok(None) => break,
                // The reader itself reports it when it comes to that line.
                Err(crate::lines::LineError::Nul) => {
                    nul_line = nul_line.or(Some(number));
                    whole = false;
                }
                Err(_) => break,
            }
            if lines.len() == SAMPLE_LINES {
                whole = false;
                break;
            }
        }
        Self { lines, whole, nul_line }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Blank and comment lines carry no request.
pub(crate) fn is_skipped(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.is_empty() || text[0] == b'#'
}

/// Format and units of a trace by its first file: by its first bytes, then by its first lines.
///
/// # Errors
/// Those of [`detect`]; a file that is empty or no trace.
pub(crate) fn of_file(name: &str, first: &Text, options: &Options) -> Result<Detection> {
    let stated = options.format.as_deref().map(formats::find).transpose()?;
    if let Some(format) = formats::binary_of(first.head())
        && stated.is_none_or(|stated| stated.name == format.name)
    {
        return binary(name, format, options);
    }
    let sample = Sample::new(first.head(), first.head_is_whole());
    if !sample.is_empty() {
        return detect(name, &sample, options);
    }
    match (stated.filter(|stated| stated.binary().is_some()), sample.nul_line) {
        // Not as it should begin: its own reader knows best what is wrong.
        (Some(format), Some(_)) => binary(name, format, options),
        (_, Some(line)) => Err(nul(name, line)),
        (_, None) => Err(empty(name, first)),
    }
}

fn empty(name: &str, text: &Text) -> TraceError {
    match text.failure() {
        Some(error) => {
            TraceError::new(format!("reading stopped here ({error}): truncated or corrupt file"))
                .with_legal("a complete file, plain or compressed with gzip, bzip2, zstd or xz")
        }
        None => TraceError::new("holds no request: empty, or blank and comment lines only")
            .with_legal("at least one line of a known trace format"),
    }
    .at(name, Some(1))
}

/// Format and units of a sample.
///
/// # Errors
/// No format fits, the units are in doubt, or they imply absurd values.
pub(crate) fn detect(file: &str, sample: &Sample, options: &Options) -> Result<Detection> {
    let (format, why) = match &options.format {
        Some(name) => (formats::find(name)?, "stated".to_owned()),
        None => recognise(file, sample)?,
    };
    let Encoding::Text(text) = &format.encoding else {
        return Err(TraceError::new(format!("not in the binary format {}", format.name))
            .with_legal(format.columns)
            .at(file, Some(1)));
    };
    check_first(file, sample, format, text)?;
    if format.certainty == Certainty::Stated {
        return stated_by_the_file(file, format, why, options);
    }
    let rows = evidence::rows(text, sample.lines.iter().map(|(_, line)| &line[..]));
    if format.name == "tencent" && options.format.is_none() && evidence::offsets_are_bytes(&rows) {
        return Err(TraceError::new("every offset is a multiple of 512: offsets in bytes?")
            .with_legal("--format tencent_bytes (offsets in bytes) or tencent (in sectors)")
            .at(file, None));
    }
    let (format, why, time_unit, time_unit_why) =
        decide_time(file, sample, format, why, &rows, options)?;
    let (size_unit, size_unit_why) = decide_size(file, format, &rows, time_unit, options)?;
    let implied = Implied::new(&rows, time_unit, size_unit);
    if options.time_unit.is_none() {
        implied.refuse_absurd_time(&rows).map_err(|error| error.at(file, None))?;
    }
    if options.size_unit.is_none() {
        implied.refuse_absurd_size(&rows, format).map_err(|error| error.at(file, None))?;
    }
    Ok(Detection { format, why, time_unit, time_unit_why, size_unit, size_unit_why })
}

fn stated_by_the_file(
    file: &str,
    format: &'static Format,
    why: String,
    options: &Options,
) -> Result<Detection> {
    let time_differs = options.time_unit.filter(|unit| *unit != format.time_unit);
    let size_differs = options.size_unit.filter(|unit| *unit != format.size_unit);
    if let Some(wrong) =
        time_differs.map(TimeUnit::name).or_else(|| size_differs.map(SizeUnit::name))
    {
        return Err(TraceError::new(format!("format {} states its own units", format.name))
            .with_value(wrong.as_bytes())
            .with_legal(format.columns)
            .at(file, None));
    }
    Ok(Detection {
        format,
        why,
        time_unit: format.time_unit,
        time_unit_why: "stated by the format".into(),
        size_unit: format.size_unit,
        size_unit_why: "stated by the format".into(),
    })
}

/// The format's own units and no filter.
fn plain_context(format: &Format) -> Context {
    Context::new(Scales::new(format.time_unit, format.size_unit), EventFilter::default())
}

/// A binary format says everything itself.
///
/// # Errors
/// Units that were stated and differ.
pub(crate) fn binary(file: &str, format: &'static Format, options: &Options) -> Result<Detection> {
    let why = match &options.format {
        Some(_) => "stated".to_owned(),
        None => format!("its first bytes are those of {}", format.name),
    };
    stated_by_the_file(file, format, why, options)
}

/// The format that most lines of the sample fit, by content and then by outer form.
fn recognise(file: &str, sample: &Sample) -> Result<(&'static Format, String)> {
    let mut best: Option<(usize, usize, &'static Format)> = None;
    for (format, text) in formats::texts() {
        let mut context = plain_context(format);
        let mut fits =
            |line: &[u8]| format.is_header(line) || (text.parse)(line, &mut context).is_ok();
        let parsed = sample.lines.iter().filter(|(_, line)| fits(line)).count();
        let shaped = sample.lines.iter().filter(|(_, line)| (text.shape)(line)).count();
        // The first of equals wins: rows that share columns are told apart by their units later.
        if shaped > 0 && best.is_none_or(|(most, alike, _)| (parsed, shaped) > (most, alike)) {
            best = Some((parsed, shaped, format));
        }
    }
    let Some((_, shaped, format)) = best else {
        if let Some(line) = sample.nul_line.filter(|line| *line < sample.lines[0].0) {
            return Err(nul(file, line));
        }
        let (number, line) = &sample.lines[0];
        let legal: Vec<String> =
            FORMATS.iter().map(|format| format!("{}: {}", format.name, format.columns)).collect();
        return Err(TraceError::new("no known trace format has lines like this")
            .with_value(line)
            .with_legal(legal.join(" | "))
            .at(file, Some(*number)));
    };
    let total = sample.lines.len();
    let why =
        format!("{shaped} of the first {total} data lines have the columns {}", format.columns);
    Ok((format, why))
}

/// The error for bytes that are no text.
pub(crate) fn nul(file: &str, line: u64) -> TraceError {
    TraceError::new("NUL byte in line: binary data")
        .with_legal("a text trace, plain or compressed with gzip, bzip2, zstd or xz")
        .at(file, Some(line))
}

/// If not one line of the sample can be read, the first one says why.
fn check_first(
    file: &str,
    sample: &Sample,
    format: &'static Format,
    text: &'static TextFormat,
) -> Result<()> {
    let mut context = plain_context(format);
    let mut first = None;
    for (number, line) in &sample.lines {
        match (text.parse)(line, &mut context) {
            Ok(Line::Request(_)) => return Ok(()),
            Ok(Line::Other(_)) => {}
            Err(_) if format.is_header(line) => {}
            Err(fault) => {
                first.get_or_insert((*number, fault));
            }
        }
    }
    match first {
        None => Ok(()),
        Some((number, fault)) => {
            Err(TraceError::new(format!("{} ({})", fault.problem, format.name))
                .with_value(&fault.value)
                .with_legal(fault.legal)
                .at(file, Some(number)))
        }
    }
}

type TimeDecision = (&'static Format, String, TimeUnit, String);

fn decide_time(
    file: &str,
    sample: &Sample,
    format: &'static Format,
    why: String,
    rows: &[Row],
    options: &Options,
) -> Result<TimeDecision> {
    let stated = options.time_unit.map(|unit| (unit, "stated".to_owned()));
    if format.certainty != Certainty::Shared || options.format.is_some() {
        let documented = (format.time_unit, format!("documented for {}", format.name));
        let (unit, unit_why) = stated.unwrap_or(documented);
        return Ok((format, why, unit, unit_why));
    }
    let (unit, unit_why) = match stated {
        Some(stated) => stated,
        None => evidence::time_unit(rows, sample.whole).map_err(|error| error.at(file, None))?,
    };
    let row =
        if unit == TimeUnit::Nanoseconds { row_named("ssdsim") } else { row_named("disksim") };
    let why = format!(
        "{why}; disksim, ssdsim and mqsim share these columns and differ in the unit of time"
    );
    Ok((row, why, unit, unit_why))
}

fn row_named(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).expect("the table has this row")
}

fn decide_size(
    file: &str,
    format: &'static Format,
    rows: &[Row],
    time_unit: TimeUnit,
    options: &Options,
) -> Result<(SizeUnit, String)> {
    if let Some(unit) = options.size_unit {
        return Ok((unit, "stated".into()));
    }
    if format.certainty != Certainty::Shared {
        return Ok((format.size_unit, format!("documented for {}", format.name)));
    }
    // Whoever names SSDsim or MQSim has stated sectors; whoever names DiskSim has not, because
    // DiskSim files with sizes in pages are common.
    let stated = options.format.is_some() && format.time_unit == TimeUnit::Nanoseconds;
    evidence::size_unit(rows, time_unit, stated).map_err(|error| error.at(file, None))
}
