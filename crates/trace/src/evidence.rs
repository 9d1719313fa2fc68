//! What the numbers of a sample say about their units, where a format leaves them open.
//!
//! A unit is only decided when the alternative would be implausible; otherwise the caller must
//! state it, and the error says what each choice would imply.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Result, TraceError};
use crate::filter::EventFilter;
use crate::formats::context::{Context, Scales};
use crate::formats::format::{Certainty, Format, TextFormat};
use crate::formats::line::Line;
use crate::options::{SizeUnit, TimeUnit};
use crate::order::STRAY_NS;
use crate::size::human_bytes;
use ftlab_flash::request::Op;

/// More requests per second than any storage device serves.
const RATE_MAX: f64 = 1e8;
/// Longer than any trace: two centuries, in seconds.
const SPAN_SECONDS_MAX: f64 = 200.0 * 365.25 * 86_400.0;
/// Larger than any read or write that a block layer issues.
const SIZE_BYTES_MAX: f64 = (1u64 << 30) as f64;
/// Fewer rows than this decide nothing about units.
const ROWS_MIN: usize = 3;

/// One line of the sample in the raw units of its columns.
pub(crate) struct Row {
    /// Time in units, as nanoseconds would count it if the unit were 1 s.
    time_billionths: u128,
    decimals: usize,
    unit: u32,
    first_sector: u64,
    size: u64,
    op: Op,
}

/// The rows of a sample that can be read.
pub(crate) fn rows<'a>(text: &TextFormat, lines: impl Iterator<Item = &'a [u8]>) -> Vec<Row> {
    let raw = Scales { time_ns: 1, size_bytes: 1 };
    let mut context = Context::new(raw, EventFilter::default());
    let mut rows = Vec::new();
    for line in lines {
        let Ok(Line::Request(record)) = (text.parse)(line, &mut context) else {
            continue;
        };
        let (whole, decimals) =
            time_text((text.time_column)(line).unwrap_or_default().trim_ascii());
        rows.push(Row {
            time_billionths: whole,
            decimals,
            unit: record.unit,
            first_sector: record.offset_bytes / 512,
            size: record.size_bytes,
            op: record.op,
        });
    }
    rows
}

/// Do the offsets of a format that counts sectors look like bytes: many, all multiples of 512?
pub(crate) fn offsets_are_bytes(rows: &[Row]) -> bool {
    const ROWS_ENOUGH: usize = 50;
    rows.len() >= ROWS_ENOUGH && rows.iter().all(|row| row.first_sector.is_multiple_of(512))
}

/// The time column in billionths of its unit, and how many decimals matter.
fn time_text(text: &[u8]) -> (u128, usize) {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let fraction = text.get(point + 1..).unwrap_or_default();
    let used = fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    let decimals = if point < text.len() { used.max(1) } else { 0 };
    let whole = crate::number::integer(&text[..point]).unwrap_or(0);
    let part = crate::number::scaled(&text[point..], 1_000_000_000).unwrap_or(0);
    (u128::from(whole) * 1_000_000_000 + u128::from(part), decimals)
}

/// Times of the rows, without those that the reader will drop as stray.
fn times_without_strays(rows: &[Row], time_unit: TimeUnit) -> Vec<u128> {
    let day = u128::from(STRAY_NS) * 1_000_000_000 / u128::from(time_unit.nanoseconds());
    let far = |a: &Row, b: &Row| a.time_billionths.abs_diff(b.time_billionths) > day;
    let is_stray = |index: usize| {
        index > 0
            && index + 1 < rows.len()
            && far(&rows[index], &rows[index - 1])
            && far(&rows[index], &rows[index + 1])
    };
    (0..rows.len()).filter(|&index| !is_stray(index)).map(|i| rows[i].time_billionths).collect()
}

/// What a choice of units implies for the sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implied {
    time_unit: TimeUnit,
    size_unit: SizeUnit,
    span_seconds: f64,
    rate: f64,
    size_mean: f64,
    size_max: f64,
}

impl Implied {
    pub(crate) fn new(rows: &[Row], time_unit: TimeUnit, size_unit: SizeUnit) -> Self {
        let times = times_without_strays(rows, time_unit);
        let first = times.iter().min().copied().unwrap_or(0);
        let last = times.iter().max().copied().unwrap_or(0);
        let span_seconds = (last - first) as f64 / 1e9 * time_unit.nanoseconds() as f64 / 1e9;
        let steps = times.len().saturating_sub(1) as f64;
        let transfers = || rows.iter().filter(|row| matches!(row.op, Op::Read | Op::Write));
        let bytes = |row: &Row| row.size as f64 * size_unit.bytes() as f64;
        Self {
            time_unit,
            size_unit,
            span_seconds,
            rate: if span_seconds > 0.0 { steps / span_seconds } else { 0.0 },
            size_mean: transfers().map(bytes).sum::<f64>() / transfers().count().max(1) as f64,
            size_max: transfers().map(bytes).fold(0.0, f64::max),
        }
    }

    fn time_is_absurd(&self) -> bool {
        self.rate > RATE_MAX || self.span_seconds > SPAN_SECONDS_MAX
    }

    fn time_words(&self) -> String {
        format!(
            "--time-unit {} (the first lines span {}, {} requests/s)",
            self.time_unit.name(),
            seconds_words(self.span_seconds),
            rate_words(self.rate)
        )
    }

    fn size_words(&self) -> String {
        format!(
            "--size-unit {} (mean request {}, largest {})",
            self.size_unit.name(),
            human_bytes(self.size_mean as u64),
            human_bytes(self.size_max as u64)
        )
    }

    /// Refuses a rate or a span that no trace has, with the flag that is likely right.
    pub(crate) fn refuse_absurd_time(&self, rows: &[Row]) -> Result<()> {
        if rows.len() < ROWS_MIN || !self.time_is_absurd() {
            return Ok(());
        }
        let likely = TimeUnit::ALL
            .iter()
            .map(|(_, unit)| Self::new(rows, *unit, self.size_unit))
            .filter(|implied| !implied.time_is_absurd() && implied.rate > 0.0)
            .min_by(|a, b| a.rate_distance().total_cmp(&b.rate_distance()))
            .map_or("--time-unit".to_owned(), |implied| implied.time_words());
        Err(TraceError::new(format!(
            "times in {} imply {} requests/s over {}, which is absurd",
            self.time_unit.name(),
            rate_words(self.rate),
            seconds_words(self.span_seconds)
        ))
        .with_legal(format!("state the unit; likely {likely}")))
    }

    /// How far the rate is from a usual one, in powers of ten.
    fn rate_distance(&self) -> f64 {
        (self.rate.log10() - 2.5).abs()
    }

    /// Refuses reads and writes of more than 1 GiB, with the flag that is likely right.
    pub(crate) fn refuse_absurd_size(&self, rows: &[Row], format: &Format) -> Result<()> {
        if format.certainty == Certainty::Stated || self.size_max <= SIZE_BYTES_MAX {
            return Ok(());
        }
        let likely = SizeUnit::ALL
            .iter()
            .rev()
            .map(|(_, unit)| Self::new(rows, self.time_unit, *unit))
            .find(|implied| implied.size_max <= SIZE_BYTES_MAX)
            .map_or("--size-unit bytes".to_owned(), |implied| implied.size_words());
        Err(TraceError::new(format!(
            "sizes in {} imply a request of {}, which is absurd",
            self.size_unit.name(),
            human_bytes(self.size_max as u64)
        ))
        .with_legal(format!("state the unit; likely {likely}")))
    }
}

/// Is every time the same, so that none says anything about its unit?
pub(crate) fn times_are_one(rows: &[Row]) -> bool {
    rows.windows(2).all(|two| two[0].time_billionths == two[1].time_billionths)
}

/// The unit of time of a five-column trace, if the data decide.
///
/// DiskSim prints milliseconds as a float, SSDsim and MQSim nanoseconds as an integer. A fraction
/// decides for ms unless the rate would be high and the clock finer than 1 us (seconds with six
/// decimals look like that). Integers decide for ns only where ms would mean less than one request
/// per second.
pub(crate) fn time_unit(rows: &[Row], whole: bool) -> Result<(TimeUnit, String)> {
    let implied = |unit| Implied::new(rows, unit, SizeUnit::Sectors);
    let (ms, ns) = (implied(TimeUnit::Milliseconds), implied(TimeUnit::Nanoseconds));
    let decimals = rows.iter().map(|row| row.decimals).max().unwrap_or(0);
    if ms.span_seconds == 0.0 && whole {
        let unit = if decimals > 0 { TimeUnit::Milliseconds } else { TimeUnit::Nanoseconds };
        return Ok((unit, "every time is the same, so the unit does not matter".into()));
    }
    if decimals > 0 && (1e-3..=2e4).contains(&ms.rate) && (decimals <= 3 || ms.rate <= 1e3) {
        return Ok((
            TimeUnit::Milliseconds,
            format!("times have fractions, as DiskSim's ms; {}", ms.time_words()),
        ));
    }
    if decimals == 0 && (1e-3..=5e6).contains(&ns.rate) && ms.rate < 1.0 {
        return Ok((
            TimeUnit::Nanoseconds,
            format!("times are integers, and ms would be implausible; {}", ns.time_words()),
        ));
    }
    let choices: Vec<String> =
        [TimeUnit::Milliseconds, TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Seconds]
            .into_iter()
            .map(implied)
            .filter(|implied| !implied.time_is_absurd())
            .map(|implied| implied.time_words())
            .collect();
    Err(TraceError::new(
        "the unit of time is in doubt: disksim (ms), ssdsim and mqsim (ns) share these columns",
    )
    .with_legal(format!("--format NAME or one of {}", choices.join(", "))))
}

/// What alignment and adjacency say about the unit of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Sectors,
    Pages,
    Nothing,
}

/// The unit of sizes of a five-column trace, if the data decide: sectors or 4 KiB pages.
/// `stated` means that the caller named a format that documents sectors.
pub(crate) fn size_unit(
    rows: &[Row],
    time_unit: TimeUnit,
    stated: bool,
) -> Result<(SizeUnit, String)> {
    let (alignment, alignment_why) = alignment(rows);
    let starts = Adjacency::new(rows);
    let (adjacency, adjacency_why) = starts.verdict();
    let why = |a: &str, b: &str| {
        [a, b].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    };
    match (alignment, adjacency) {
        (Verdict::Sectors, Verdict::Sectors | Verdict::Nothing)
        | (Verdict::Nothing, Verdict::Sectors) => {
            return Ok((SizeUnit::Sectors, why(&alignment_why, &adjacency_why)));
        }
        (Verdict::Pages, Verdict::Pages | Verdict::Nothing)
        | (Verdict::Nothing, Verdict::Pages)
            if !stated =>
        {
            return Ok((SizeUnit::Pages4k, why(&alignment_why, &adjacency_why)));
        }
        (Verdict::Nothing, Verdict::Nothing) if stated => {
            return Ok((SizeUnit::Sectors, "documented for the format stated".into()));
        }
        _ => {}
    }
    let words = |unit| Implied::new(rows, time_unit, unit).size_words();
    let counts = starts.exact.words("the one before ends");
    let against = [alignment_why, adjacency_why].into_iter().filter(|why| !why.is_empty());
    let said: Vec<String> = std::iter::once(counts).chain(against).collect();
    Err(TraceError::new(format!(
        "the unit of the size column is in doubt: files with these columns count sectors of 512 B \
         or pages of 4 KiB there, and the data do not decide ({})",
        said.join("; ")
    ))
    .with_legal(format!("{} or {}", words(SizeUnit::Sectors), words(SizeUnit::Pages4k))))
}

/// Sectors in a 4 KiB page.
const PAGE_SECTORS: u64 = 8;
/// Distinct addresses from which an alignment means something.
const ALIGNED_MIN: usize = 50;

/// Sizes that are all multiples of 8 sectors are sectors; addresses all aligned to at least the
/// page reading of sizes that are not, are pages: sectors would leave a hole after every request.
/// That holds no longer where most sizes are multiples of 8: such requests leave no hole.
fn alignment(rows: &[Row]) -> (Verdict, String) {
    let size_step = rows.iter().fold(0, |step, row| common_divisor(step, row.size));
    let address_step = rows.iter().fold(0, |step, row| common_divisor(step, row.first_sector));
    let addresses: BTreeSet<u64> = rows.iter().map(|row| row.first_sector).collect();
    let page_aligned = address_step.is_multiple_of(PAGE_SECTORS * size_step.max(1));
    let in_pages = rows.iter().filter(|row| row.size.is_multiple_of(PAGE_SECTORS)).count();
    if size_step != 0 && size_step.is_multiple_of(PAGE_SECTORS) {
        let scarce = addresses.len() < ALIGNED_MIN;
        if !page_aligned || scarce {
            return (Verdict::Sectors, format!("every size is a multiple of {size_step}"));
        }
    } else if page_aligned
        && address_step != 0
        && addresses.len() >= ALIGNED_MIN
        && in_pages < rows.len() / 2
    {
        let why = format!(
            "every address is a multiple of {address_step} sectors although sizes count in steps \
             of {size_step}"
        );
        return (Verdict::Pages, why);
    }
    (Verdict::Nothing, String::new())
}

/// Requests that start where another ended, by either reading of sizes.
#[derive(Default)]
struct Starts {
    by_sectors: usize,
    by_pages: usize,
}

impl Starts {
    fn note(&mut self, at_sectors: bool, at_pages: bool) {
        self.by_sectors += usize::from(at_sectors);
        self.by_pages += usize::from(at_pages);
    }

    /// Which reading has `enough` of them, and how many times those of the other.
    fn verdict(&self, enough: usize, (sectors, pages): (usize, usize), tiny: bool) -> Verdict {
        if self.by_sectors >= enough && self.by_sectors >= sectors * self.by_pages && !tiny {
            return Verdict::Sectors;
        }
        if self.by_pages >= enough && self.by_pages >= pages * self.by_sectors {
            return Verdict::Pages;
        }
        Verdict::Nothing
    }

    /// The two counts in words.
    fn words(&self, what: &str) -> String {
        format!(
            "{} requests start where {what} if sizes are sectors, {} if pages",
            self.by_sectors, self.by_pages
        )
    }
}

/// Requests that start where another of their unit ended, under either reading: the one just
/// before, which chance seldom meets; only where those are too few, any earlier one.
struct Adjacency {
    rows: usize,
    exact: Starts,
    earlier: Starts,
    /// Sizes around 1 are how pages of small requests look: one-sector neighbours prove nothing.
    tiny: bool,
}

impl Adjacency {
    fn new(rows: &[Row]) -> Self {
        let (mut sector_ends, mut page_ends) = (BTreeSet::new(), BTreeSet::new());
        let mut latest = BTreeMap::new();
        let (mut exact, mut earlier) = (Starts::default(), Starts::default());
        let mut total = 0u64;
        for row in rows {
            let start = (row.unit, row.first_sector);
            earlier.note(sector_ends.contains(&start), page_ends.contains(&start));
            let sectors = row.first_sector.saturating_add(row.size);
            let pages = row.first_sector.saturating_add(row.size.saturating_mul(PAGE_SECTORS));
            if let Some((by_sectors, by_pages)) = latest.insert(row.unit, (sectors, pages)) {
                exact.note(by_sectors == row.first_sector, by_pages == row.first_sector);
            }
            sector_ends.insert((row.unit, sectors));
            page_ends.insert((row.unit, pages));
            total = total.saturating_add(row.size);
        }
        Self { rows: rows.len(), exact, earlier, tiny: total < 2 * rows.len() as u64 }
    }

    fn verdict(&self) -> (Verdict, String) {
        let enough = (self.rows / 100).max(8);
        let (verdict, counts) = if self.exact.by_sectors.max(self.exact.by_pages) >= enough {
            let verdict = self.exact.verdict(enough, (4, 4), self.tiny);
            (verdict, self.exact.words("the one before ends"))
        } else {
            let verdict = self.earlier.verdict(enough, (2, 4), self.tiny);
            (verdict, self.earlier.words("an earlier one ends"))
        };
        match verdict {
            Verdict::Sectors => (verdict, format!("{counts}: sectors")),
            Verdict::Pages => (verdict, format!("{counts}: pages")),
            Verdict::Nothing => (verdict, String::new()),
        }
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A duration for people.
pub(crate) fn seconds_words(seconds: f64) -> String {
    const YEAR: f64 = 365.25 * 86_400.0;
    let (value, unit) = match seconds {
        s if s >= 2.0 * YEAR => (s / YEAR, "years"),
        s if s >= 2.0 * 86_400.0 => (s / 86_400.0, "days"),
        s if s >= 7200.0 => (s / 3600.0, "h"),
        s if s >= 1.0 || s == 0.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    format!("{value:.2} {unit}")
}

fn rate_words(rate: f64) -> String {
    if rate >= 1e7 || (rate > 0.0 && rate < 0.01) {
        format!("{rate:.1e}")
    } else {
        format!("{rate:.2}")
    }
}
