//! Which format a trace has and in which units, from its first lines and never from its name.

use crate::container;
use crate::error::{Result, TraceError};
use crate::evidence::{self, Implied, Row};
use crate::filter::EventFilter;
use crate::formats::context::{Context, Guessed, Scales};
use crate::formats::format::{Certainty, Encoding, Format, TextFormat};
use crate::formats::line::Line;
use crate::formats::{self, FORMATS};
use crate::lines::{Lines, exchange_separators};
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
    /// Did the data alone decide it? Neither the file nor its format nor the caller said so.
    pub time_unit_guessed: bool,
    /// Unit of the size column.
    pub size_unit: SizeUnit,
    /// Why this unit, in words.
    pub size_unit_why: String,
    /// Did the data alone decide it?
    pub size_unit_guessed: bool,
    /// Do semicolons stand where the format has commas?
    pub semicolons: bool,
}

impl Detection {
    pub(crate) fn scales(&self) -> Scales {
        Scales::new(self.time_unit, self.size_unit)
    }

    /// The unit of time, where the data alone decided it.
    pub(crate) fn time_guess(&self) -> Option<Guess> {
        let guess = Guess { unit: self.time_unit.name().into(), why: self.time_unit_why.clone() };
        self.time_unit_guessed.then_some(guess)
    }

    /// The unit of sizes, where the data alone decided it.
    pub(crate) fn size_guess(&self) -> Option<Guess> {
        let guess = Guess { unit: self.size_unit.name().into(), why: self.size_unit_why.clone() };
        self.size_unit_guessed.then_some(guess)
    }

    pub(crate) fn guessed(&self) -> Guessed {
        Guessed { time: self.time_unit_guessed, size: self.size_unit_guessed }
    }
}

/// A unit that the data alone decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Its name on the command line; those of several parts with commas between them.
    pub unit: String,
    /// Why this unit, in words; of several parts behind the name of each.
    pub why: String,
}

impl Guess {
    /// Adds the guess about a part of that name to those about the others.
    pub(crate) fn join(all: &mut Option<Self>, part: &str, guess: Option<Self>) {
        let Some(Self { unit, why }) = guess else { return };
        let why = format!("{part}: {why}");
        match all {
            None => *all = Some(Self { unit, why }),
            Some(all) => {
                all.unit += &format!(", {unit}");
                all.why += &format!(" | {why}");
            }
        }
    }
}

/// A unit, why it is that, and whether the data alone decided it.
struct Decided<U> {
    unit: U,
    why: String,
    guessed: bool,
}

impl<U> Decided<U> {
    /// By the caller, the file or the document of its format.
    fn known(unit: U, why: impl Into<String>) -> Self {
        Self { unit, why: why.into(), guessed: false }
    }

    /// By the data.
    fn guess((unit, why): (U, String)) -> Self {
        Self { unit, why, guessed: true }
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

    /// The lines themselves.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|(_, line)| &line[..])
    }

    /// The same with commas and semicolons exchanged.
    fn exchanged(&self) -> Self {
        let mut lines = self.lines.clone();
        lines.iter_mut().for_each(|(_, line)| exchange_separators(line));
        Self { lines, ..*self }
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
    container::refuse(name, first.head())?;
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
    let Recognised { format, why, exchanged } = match &options.format {
        Some(name) => stated_format(formats::find(name)?, sample),
        None => recognise(sample).ok_or_else(|| unknown(file, sample))?,
    };
    let semicolons = exchanged.is_some();
    let sample = exchanged.as_ref().unwrap_or(sample);
    let Encoding::Text(text) = &format.encoding else {
        return Err(TraceError::new(format!("not in the binary format {}", format.name))
            .with_legal(format.columns)
            .at(file, Some(1)));
    };
    check_first(file, sample, format, text, semicolons)?;
    if format.certainty == Certainty::Stated {
        let found = stated_by_the_file(file, format, why, options)?;
        return Ok(Detection { semicolons, ..found });
    }
    let rows = evidence::rows(text, sample.lines());
    if format.name == "tencent" && options.format.is_none() && evidence::offsets_are_bytes(&rows) {
        return Err(TraceError::new("every offset is a multiple of 512: offsets in bytes?")
            .with_legal("--format tencent_bytes (offsets in bytes) or tencent (in sectors)")
            .at(file, None));
    }
    let (format, why, time) = decide_time(file, sample, format, why, &rows, options)?;
    let size = decide_size(file, format, &rows, time.unit, options)?;
    let (time_unit, size_unit) = (time.unit, size.unit);
    let implied = Implied::new(&rows, time_unit, size_unit);
    if options.time_unit.is_none() {
        implied.refuse_absurd_time(&rows).map_err(|error| error.at(file, None))?;
    }
    if options.size_unit.is_none() {
        implied.refuse_absurd_size(&rows, format).map_err(|error| error.at(file, None))?;
    }
    Ok(Detection {
        format,
        why,
        time_unit,
        time_unit_why: time.why,
        time_unit_guessed: time.guessed,
        size_unit,
        size_unit_why: size.why,
        size_unit_guessed: size.guessed,
        semicolons,
    })
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
        time_unit_guessed: false,
        size_unit: format.size_unit,
        size_unit_why: "stated by the format".into(),
        size_unit_guessed: false,
        semicolons: false,
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

/// A format, why it is that, and the sample as it reads with commas where semicolons stand between
/// the columns.
struct Recognised {
    format: &'static Format,
    why: String,
    exchanged: Option<Sample>,
}

const SEMICOLONS: &str = "semicolons between the columns";

/// A format that was named, with semicolons where only so a line of the sample has its form.
fn stated_format(format: &'static Format, sample: &Sample) -> Recognised {
    let shaped = |sample: &Sample| format.text().is_some_and(|text| sample.lines().any(text.shape));
    let exchanged = Some(sample.exchanged()).filter(|other| !shaped(sample) && shaped(other));
    let why = if exchanged.is_some() { format!("stated; {SEMICOLONS}") } else { "stated".into() };
    Recognised { format, why, exchanged }
}

/// The format that most lines of the sample fit, if they fit any; with semicolons where no line
/// fits with commas.
fn recognise(sample: &Sample) -> Option<Recognised> {
    if let Some((format, why)) = fitting(sample) {
        return Some(Recognised { format, why, exchanged: None });
    }
    let exchanged = sample.exchanged();
    let (format, why) = fitting(&exchanged)?;
    let why = format!("{why}; {SEMICOLONS}");
    Some(Recognised { format, why, exchanged: Some(exchanged) })
}

/// The text format of a sample, if there is one.
pub(crate) fn format_of(sample: &Sample) -> Option<&'static Format> {
    recognise(sample).map(|found| found.format)
}

/// The format that most lines of the sample fit, by content and then by outer form.
fn fitting(sample: &Sample) -> Option<(&'static Format, String)> {
    let mut best: Option<(usize, usize, &'static Format)> = None;
    for (format, text) in formats::texts() {
        let mut context = plain_context(format);
        let mut fits =
            |line: &[u8]| format.is_header(line) || (text.parse)(line, &mut context).is_ok();
        let parsed = sample.lines().filter(|line| fits(line)).count();
        let shaped = sample.lines().filter(|line| (text.shape)(line)).count();
        // The first of equals wins: rows that share columns are told apart by their units later.
        if shaped > 0 && best.is_none_or(|(most, alike, _)| (parsed, shaped) > (most, alike)) {
            best = Some((parsed, shaped, format));
        }
    }
    let (_, shaped, format) = best?;
    let total = sample.lines.len();
    let why =
        format!("{shaped} of the first {total} data lines have the columns {}", format.columns);
    Some((format, why))
}

/// The error for lines that no format has.
fn unknown(file: &str, sample: &Sample) -> TraceError {
    if let Some(line) = sample.nul_line.filter(|line| *line < sample.lines[0].0) {
        return nul(file, line);
    }
    let (number, line) = &sample.lines[0];
    let legal: Vec<String> =
        FORMATS.iter().map(|format| format!("{}: {}", format.name, format.columns)).collect();
    TraceError::new("no known trace format has lines like this")
        .with_value(line)
        .with_legal(legal.join(" | "))
        .at(file, Some(*number))
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
    semicolons: bool,
) -> Result<()> {
    let mut context = plain_context(format);
    context.semicolons = semicolons;
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
                .with_value(&context.as_written(fault.value))
                .with_legal(fault.legal)
                .at(file, Some(number)))
        }
    }
}

type TimeDecision = (&'static Format, String, Decided<TimeUnit>);

fn decide_time(
    file: &str,
    sample: &Sample,
    format: &'static Format,
    why: String,
    rows: &[Row],
    options: &Options,
) -> Result<TimeDecision> {
    let stated = options.time_unit.map(|unit| Decided::known(unit, "stated"));
    if format.certainty != Certainty::Shared || options.format.is_some() {
        let documented =
            || Decided::known(format.time_unit, format!("documented for {}", format.name));
        return Ok((format, why, stated.unwrap_or_else(documented)));
    }
    let found = match stated {
        Some(stated) => stated,
        None => evidence::time_unit(rows, sample.whole)
            .map(Decided::guess)
            .map_err(|error| error.at(file, None))?,
    };
    let nanoseconds = found.unit == TimeUnit::Nanoseconds;
    let row = if nanoseconds { row_named("ssdsim") } else { row_named("disksim") };
    let why = format!(
        "{why}; disksim, ssdsim and mqsim share these columns and differ in the unit of time"
    );
    Ok((row, why, found))
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
) -> Result<Decided<SizeUnit>> {
    if let Some(unit) = options.size_unit {
        return Ok(Decided::known(unit, "stated"));
    }
    if format.certainty != Certainty::Shared {
        let why = format!("documented for {}", format.name);
        return Ok(Decided::known(format.size_unit, why));
    }
    // Whoever names SSDsim or MQSim has stated sectors; whoever names DiskSim has not, because
    // DiskSim files with sizes in pages are common.
    let stated = options.format.is_some() && format.time_unit == TimeUnit::Nanoseconds;
    let found = evidence::size_unit(rows, time_unit, stated);
    let (unit, why) = found.map_err(|error| error.at(file, None))?;
    Ok(Decided { unit, why, guessed: !stated })
}
