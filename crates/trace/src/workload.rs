//! What follows `--workload`: a trace or an inline spec, behind one face, readable again and again.

use std::sync::Arc;

use crate::combination::{Combination, DEPTH_MAX, How};
use crate::combined::{CombinedRecords, depth_of};
use crate::decoded::Decoded;
use crate::detect::{Detection, Guess};
use crate::digest;
use crate::error::{Result, TraceError};
use crate::layout::AddressMap;
use crate::options::Options;
use crate::records::Records;
use crate::requests::Requests;
use crate::survey::Survey;
use crate::synthetic::{Model, Synthetic, Twin};
use crate::trace::{Trace, needs_second_pass};

/// A workload that can be read: a trace (one or more files, or standard input) or a synthetic one.
pub struct Workload {
    name: String,
    kind: Kind,
}

enum Kind {
    Trace(Box<Trace>),
    Synthetic { spec: Synthetic, head: Option<u64> },
    Combined(Combined),
}

/// Workloads one after another, or side by side.
struct Combined {
    how: How,
    parts: Vec<Part>,
    depth: Option<u32>,
    head: Option<u64>,
}

struct Part {
    /// Its name in results.
    name: String,
    workload: Workload,
}

/// What a result says about its workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// As the user wrote it.
    pub name: String,
    /// SHA-256 of the raw bytes of all parts as stored, or of the canonical spec. For standard
    /// input: of what was read so far.
    pub sha256: String,
    /// Was the workload generated?
    pub synthetic: bool,
    /// Name of the trace format, or `synthetic`.
    pub format: String,
    /// The canonical spec, if synthetic.
    pub canonical_spec: Option<String>,
    /// For a stand-in, what it stands for: its source. Filled in by who knows stand-ins by name.
    pub stand_in: Option<String>,
    /// Requests in flight, if the workload itself is a closed loop.
    pub closed_loop_depth: Option<u32>,
    /// Only this many requests are read (`--head`).
    pub head: Option<u64>,
    /// The unit of time and why it is that, where the data alone decided it; of a combination those
    /// of its parts.
    pub time_guess: Option<Guess>,
    /// The same of the unit of sizes.
    pub size_guess: Option<Guess>,
}

impl Workload {
    /// Finds out what `text` means: a combination if it begins with `phases:` or `mix:`, a
    /// generated workload if it begins with one of fio's `rw` words or `blend:` (and no file has
    /// that name), else a trace. `logical_bytes` is the capacity that shares in a spec refer to, 0
    /// if unknown.
    ///
    /// # Errors
    /// Missing or unreadable files, unknown formats, units in doubt, illegal specs.
    pub fn parse(text: &str, options: &Options, logical_bytes: u64) -> Result<Self> {
        Self::parse_within(text, options, logical_bytes, 0)
    }

    fn parse_within(
        text: &str,
        options: &Options,
        logical_bytes: u64,
        depth: usize,
    ) -> Result<Self> {
        let is_file = std::path::Path::new(text).exists();
        if !is_file && let Some(combination) = Combination::parse(text)? {
            let combined = Combined::open(&combination, options, logical_bytes, depth)?;
            let combined = Self { name: text.into(), kind: Kind::Combined(combined) };
            if depth == 0 && !combined.has_a_trace() {
                refuse_reading_options(text, options)?;
            }
            return Ok(combined);
        }
        if !is_file && Synthetic::recognises(text) {
            let spec = Synthetic::parse(text, logical_bytes)?;
            if depth == 0 {
                refuse_reading_options(text, options)?;
            }
            return Ok(Self {
                name: text.into(),
                kind: Kind::Synthetic { spec, head: options.head },
            });
        }
        let trace = Trace::open(text, options)?;
        Ok(Self { name: text.into(), kind: Kind::Trace(Box::new(trace)) })
    }

    /// A twin that is in no file yet: as many requests as `count` says, of seed 1.
    ///
    /// # Errors
    /// A count of 0.
    pub fn of_model(name: &str, model: Model, count: u64) -> Result<Self> {
        let twin = Twin::with_model(&format!("twin:count={count},seed=1"), model)?;
        let spec = Synthetic::Twin(Box::new(twin));
        Ok(Self { name: name.into(), kind: Kind::Synthetic { spec, head: None } })
    }

    /// Is it a single generated one, which can go on for as long as one likes?
    pub fn is_generated(&self) -> bool {
        matches!(self.kind, Kind::Synthetic { .. })
    }

    /// The same with so many requests more, of the same statistics, if [`Self::is_generated`].
    #[must_use]
    pub fn prolonged(mut self, more: u64) -> Self {
        if let Kind::Synthetic { spec, head } = &mut self.kind {
            let asked = spec.count().min(head.take().unwrap_or(u64::MAX));
            spec.set_count(asked.saturating_add(more));
        }
        self
    }

    /// The records of a single trace, to be held for others that read it in the same way; none of
    /// any other workload, where they take more than so many bytes, and where they end in an error.
    /// `noted` is called behind each record, and may end the pass.
    ///
    /// # Errors
    /// Files that cannot be opened any more, and those of `noted`.
    pub fn decoded_while<E: From<TraceError>>(
        &self,
        bytes_max: u64,
        noted: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Decoded>, E> {
        match &self.kind {
            Kind::Trace(trace) if trace.can_be_read_again() => {
                Decoded::read(trace.records()?, bytes_max, noted)
            }
            _ => Ok(None),
        }
    }

    /// The same trace, read from what was decoded of it.
    #[must_use]
    pub fn held(mut self, decoded: Arc<Decoded>) -> Self {
        if let Kind::Trace(trace) = &mut self.kind {
            trace.hold(decoded);
        }
        self
    }

    /// The records, from the start.
    ///
    /// # Errors
    /// Files that cannot be opened any more; standard input for a second time.
    pub fn records(&self) -> Result<Records> {
        Ok(match &self.kind {
            Kind::Trace(trace) => trace.records()?,
            Kind::Synthetic { spec, head } => Records::generated(spec, *head, &self.name),
            Kind::Combined(all) => {
                let parts = all.parts.iter().map(|part| part.workload.records());
                Records::combined(CombinedRecords::new(all.how, parts, all.head)?)
            }
        })
    }

    /// The requests that the records become under `map`, from the start.
    ///
    /// # Errors
    /// As [`Self::records`].
    pub fn requests(&self, map: AddressMap) -> Result<Requests> {
        Ok(Requests::new(self.records()?, map))
    }

    /// Goes through all records once; `extent_bytes` is the extent of dense addressing.
    ///
    /// # Errors
    /// Any error of the records; standard input, which could not be read again afterwards.
    pub fn survey(&self, extent_bytes: u64) -> Result<Survey> {
        self.survey_while(Some(extent_bytes), || Ok(()))
    }

    /// The same, without counting extents where there is none; `noted` is called behind each
    /// record, and may end the pass.
    ///
    /// # Errors
    /// As [`Self::survey`], and those of `noted`.
    pub fn survey_while<E: From<TraceError>>(
        &self,
        extent_bytes: Option<u64>,
        noted: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Survey, E> {
        if !self.can_be_read_again() {
            return Err(needs_second_pass().into());
        }
        let mut records = self.records()?;
        let mut survey = Survey::of(&mut records, extent_bytes, noted)?;
        survey.requests_read = records.summary().requests_read();
        Ok(survey)
    }

    /// Can the records be read more than once? Only standard input cannot.
    pub fn can_be_read_again(&self) -> bool {
        match &self.kind {
            Kind::Trace(trace) => trace.can_be_read_again(),
            // Standard input is no part of a combination.
            Kind::Synthetic { .. } | Kind::Combined(_) => true,
        }
    }

    /// Must its addresses be known before they can be laid out? Those of a single generated
    /// workload begin at 0 of the device.
    pub fn needs_survey(&self) -> bool {
        !matches!(self.kind, Kind::Synthetic { .. })
    }

    /// May its records be others on a device of another capacity? Those of a trace are not.
    pub fn depends_on_capacity(&self) -> bool {
        !matches!(self.kind, Kind::Trace(_))
    }

    /// How it is combined, with the names of its parts; none for any other workload.
    pub fn parts(&self) -> Option<(How, Vec<String>)> {
        match &self.kind {
            Kind::Combined(all) => {
                Some((all.how, all.parts.iter().map(|part| part.name.clone()).collect()))
            }
            _ => None,
        }
    }

    /// Name, digest and kind. The digest of a trace takes a pass over its files.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn describe(&self) -> Result<Description> {
        self.describe_while(|_| Ok(()))
    }

    /// The same; `noted` is told of the bytes as they are read for a digest, and may end the pass.
    ///
    /// # Errors
    /// As [`Self::describe`], and those of `noted`.
    pub fn describe_while<E: From<TraceError>>(
        &self,
        mut noted: impl FnMut(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<Description, E> {
        self.described(&mut noted)
    }

    fn described<E: From<TraceError>>(
        &self,
        noted: &mut impl FnMut(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<Description, E> {
        Ok(match &self.kind {
            Kind::Trace(trace) => Description {
                name: self.name.clone(),
                sha256: trace.sha256(noted)?,
                synthetic: false,
                format: trace.format_name().into(),
                canonical_spec: None,
                stand_in: None,
                closed_loop_depth: None,
                head: trace.head(),
                time_guess: trace.detection().time_guess(),
                size_guess: trace.detection().size_guess(),
            },
            Kind::Synthetic { spec, head } => Description {
                name: self.name.clone(),
                sha256: digest::of_text(&spec.to_string()),
                synthetic: true,
                format: "synthetic".into(),
                canonical_spec: Some(spec.to_string()),
                stand_in: None,
                closed_loop_depth: spec.closed_loop_depth(),
                head: *head,
                time_guess: None,
                size_guess: None,
            },
            Kind::Combined(all) => all.described(&self.name, noted)?,
        })
    }

    /// What was found out about the trace; `None` for a synthetic workload.
    pub fn detection(&self) -> Option<&Detection> {
        match &self.kind {
            Kind::Trace(trace) => Some(trace.detection()),
            Kind::Synthetic { .. } | Kind::Combined(_) => None,
        }
    }

    /// Name of the trace format, `synthetic`, `phases` or `mix`.
    pub fn format_name(&self) -> &'static str {
        match &self.kind {
            Kind::Trace(trace) => trace.format_name(),
            Kind::Synthetic { .. } => "synthetic",
            Kind::Combined(all) => all.how.word(),
        }
    }

    /// How the (first) file is compressed: none, gzip, bzip2, zstd or xz.
    pub fn compression(&self) -> &'static str {
        match &self.kind {
            Kind::Trace(trace) => trace.compression(),
            Kind::Synthetic { .. } | Kind::Combined(_) => "none",
        }
    }

    /// Requests in flight, if the workload itself is a closed loop.
    pub fn closed_loop_depth(&self) -> Option<u32> {
        match &self.kind {
            Kind::Trace(_) => None,
            Kind::Synthetic { spec, .. } => spec.closed_loop_depth(),
            Kind::Combined(all) => all.depth,
        }
    }

    /// Number of requests, where it is known without reading.
    pub fn requests_known(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace(_) => None,
            Kind::Synthetic { spec, head } => Some(spec.count().min(head.unwrap_or(u64::MAX))),
            Kind::Combined(all) => {
                let known = all.parts.iter().map(|part| part.workload.requests_known());
                let sum = known.sum::<Option<u64>>()?;
                Some(sum.min(all.head.unwrap_or(u64::MAX)))
            }
        }
    }

    /// As the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Were its units numbered by file or by name? Then those of another workload with the same
    /// numbers are others.
    ///
    /// # Errors
    /// Files that cannot be opened any more.
    pub(crate) fn units_are_given(&self) -> Result<bool> {
        match &self.kind {
            Kind::Trace(trace) => trace.units_are_given(),
            Kind::Synthetic { .. } => Ok(true),
            Kind::Combined(all) => {
                for part in &all.parts {
                    if all.how == How::Mix || part.workload.units_are_given()? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Is any part of it read from a file?
    fn has_a_trace(&self) -> bool {
        match &self.kind {
            Kind::Trace(_) => true,
            Kind::Synthetic { .. } => false,
            Kind::Combined(all) => all.parts.iter().any(|part| part.workload.has_a_trace()),
        }
    }
}

/// What is said about reading a trace would have no effect on requests that are generated.
fn refuse_reading_options(text: &str, options: &Options) -> Result<()> {
    let Options { head, reorder_window_ns, request_bytes_max, .. } = *options;
    let without = Options { head, reorder_window_ns, request_bytes_max, ..Options::default() };
    if *options == without {
        return Ok(());
    }
    Err(TraceError::new(
        "--format, --time-unit, --size-unit, --parts, --unit, --filter and --skip-bad have no \
         effect on a workload that is generated",
    )
    .with_value(text.as_bytes())
    .with_legal("them with a trace; --head with any workload"))
}

impl Combined {
    fn open(
        combination: &Combination,
        options: &Options,
        logical_bytes: u64,
        depth: usize,
    ) -> Result<Self> {
        if depth == DEPTH_MAX {
            return Err(TraceError::new("combinations are nested too deeply")
                .with_legal(format!("up to {DEPTH_MAX} within each other")));
        }
        // The head of the whole, not of every part.
        let whole = Options { head: None, ..options.clone() };
        let mut parts = Vec::with_capacity(combination.parts.len());
        for part in &combination.parts {
            if part.text == "-" {
                return Err(TraceError::new("standard input cannot be part of a combination")
                    .with_legal("a file")
                    .at("-", None));
            }
            let is_file = std::path::Path::new(&part.text).exists();
            if !is_file && part.text.contains('=') && !part.text.contains([':', '(']) {
                return Err(TraceError::new(
                    "a part is a single setting: a workload with commas or plus signs of its own \
                     stands in parentheses",
                )
                .with_value(part.text.as_bytes())
                .with_legal("phases:(randread:bs=4k,span=1M),..."));
            }
            let workload = Workload::parse_within(&part.text, &whole, logical_bytes, depth + 1)?;
            parts.push(Part { name: part.name.clone(), workload });
        }
        let how = combination.how;
        let depths =
            parts.iter().map(|part| (part.name.as_str(), part.workload.closed_loop_depth()));
        let closed = depth_of(how, depths)?;
        Ok(Self { how, parts, depth: closed, head: options.head })
    }

    /// Its digest is that of the names and digests of its parts.
    fn described<E: From<TraceError>>(
        &self,
        name: &str,
        noted: &mut impl FnMut(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<Description, E> {
        let mut text = self.how.word().to_owned();
        let mut synthetic = false;
        let (mut time_guess, mut size_guess) = (None, None);
        for part in &self.parts {
            let described = part.workload.described(noted)?;
            Guess::join(&mut time_guess, &part.name, described.time_guess);
            Guess::join(&mut size_guess, &part.name, described.size_guess);
            synthetic |= described.synthetic;
            text.push_str(&format!("\n{} {}", part.name, described.sha256));
        }
        Ok(Description {
            name: name.into(),
            sha256: digest::of_text(&text),
            synthetic,
            format: self.how.word().into(),
            canonical_spec: None,
            stand_in: None,
            closed_loop_depth: self.depth,
            head: self.head,
            time_guess,
            size_guess,
        })
    }
}
