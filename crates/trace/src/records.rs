//! The records of a workload, wherever they come from, behind one face.

use std::sync::Arc;

use crate::bad_lines::BadLines;
use crate::combined::CombinedRecords;
use crate::decoded::{Decoded, Replayed};
use crate::detect::Detection;
use crate::error::{Result, TraceError};
use crate::events::{Events, Files};
use crate::formats::context::Context;
use crate::formats::format::{BinaryFormat, Encoding, FilesOf, Format, Open};
use crate::merged::Merged;
use crate::mixed::Same;
use crate::options::{Options, Parts};
use crate::ordered::{MergedInOrder, OneByOne, OrderedRecords};
use crate::reader::{Opened, TraceRecords};
use crate::record::{Place, Record};
use crate::record_stream::RecordStream;
use crate::summary::Summary;
use crate::synthetic::{Generator, Make, Synthetic};
use crate::text::TextEvents;

/// Are the files read at the same time?
fn is_merged(format: &Format, files: &Files, parts: Option<Parts>) -> bool {
    files.parts.len() > 1
        && match format.files() {
            FilesOf::Parts => parts == Some(Parts::ByTime),
            FilesOf::OneTime => true,
            FilesOf::Whole => false,
        }
}

/// All files at the same time.
fn merge(
    files: Files,
    context: Context,
    format: &'static Format,
    options: &Options,
) -> Result<Merged> {
    let opener = Box::new(move |files, context| open_events(files, context, format));
    let in_order = format.binary().is_some_and(|one| matches!(one.open, Open::Batches(_)));
    Merged::new(files, context, options.reorder_window_ns, !in_order, opener)
}

/// Files behind the face that all formats share.
fn open_events(
    mut files: Files,
    context: Context,
    format: &'static Format,
) -> Result<Box<dyn Events>> {
    let part = files.parts.start;
    if part > 0 && format.binary().is_some() {
        let text = files.open(part)?;
        let same = Same { format, context: &context, first: &files.names[0] };
        same.check(&files.names[part], text.head(), text.head_is_whole())?;
        files.first = Some(text);
    }
    Ok(match &format.encoding {
        Encoding::Text(text) => Box::new(TextEvents::new(files, context, format, text)?),
        Encoding::Binary(binary) => match binary.open {
            Open::Events(open) => open(files, context, format)?,
            Open::Batches(open) => Box::new(OneByOne::new(open(files, context)?)),
        },
    })
}

/// The records of a workload, in order of time.
pub struct Records {
    inner: Inner,
}

enum Inner {
    Trace(Box<TraceRecords>),
    Ordered(Box<OrderedRecords>),
    Replayed(Replayed),
    Synthetic(Box<Generated<Generator>>),
    Drawn(Box<Generated<Box<dyn Make + Send>>>),
    Combined(Box<CombinedRecords<Records>>),
}

impl Inner {
    fn drawn(records: Box<dyn Make + Send>, head: Option<u64>, name: &str) -> Self {
        Self::Drawn(Box::new(Generated::new(records, head, name)))
    }
}

impl Records {
    /// Those of a trace, by what was found out about it.
    ///
    /// # Errors
    /// A binary trace whose files cannot be opened or whose header is wrong.
    pub(crate) fn of_trace(files: Files, detection: &Detection, options: Options) -> Result<Self> {
        let mut context = Context::new(detection.scales(), options.filter.events.clone());
        context.from_ns = options.filter.from_ns;
        context.parts = options.parts;
        context.semicolons = detection.semicolons;
        context.guessed = detection.guessed();
        context.bad_lines = BadLines::up_to(options.skip_bad);
        let bad_lines = context.bad_lines.clone();
        let names = Arc::clone(&files.names);
        let format = detection.format;
        let merged = is_merged(format, &files, options.parts);
        if let Encoding::Binary(BinaryFormat { open: Open::Batches(open), .. }) = &format.encoding {
            let batches = match merged {
                true => Box::new(MergedInOrder(merge(files, context, format, &options)?)),
                false => open(files, context)?,
            };
            let records = OrderedRecords::new(names, batches, options);
            return Ok(Self { inner: Inner::Ordered(Box::new(records)) });
        }
        let events = match &format.encoding {
            Encoding::Text(text) if !merged => {
                Opened::Text(Box::new(TextEvents::new(files, context, format, text)?))
            }
            _ if merged => Opened::Binary(Box::new(merge(files, context, format, &options)?)),
            _ => Opened::Binary(open_events(files, context, format)?),
        };
        let records = TraceRecords::new(names, events, format.files(), bad_lines, options);
        Ok(Self { inner: Inner::Trace(Box::new(records)) })
    }

    /// Those of a trace that was read before.
    pub(crate) fn replayed(decoded: Arc<Decoded>) -> Self {
        Self { inner: Inner::Replayed(Replayed::new(decoded)) }
    }

    /// Generated ones, `head` of them at most; `name` stands for the file.
    pub(crate) fn generated(spec: &Synthetic, head: Option<u64>, name: &str) -> Self {
        // Those of one inline spec are made in place, the others behind a pointer.
        let inner = match spec {
            Synthetic::Inline(spec) => {
                Inner::Synthetic(Box::new(Generated::new(spec.records(), head, name)))
            }
            Synthetic::Blend(blend) => Inner::drawn(Box::new(blend.records()), head, name),
            Synthetic::Twin(twin) => Inner::drawn(Box::new(twin.records()), head, name),
        };
        Self { inner }
    }

    /// Those of several workloads.
    pub(crate) fn combined(records: CombinedRecords<Self>) -> Self {
        Self { inner: Inner::Combined(Box::new(records)) }
    }

    fn stream(&self) -> &dyn RecordStream {
        match &self.inner {
            Inner::Trace(records) => &**records,
            Inner::Ordered(records) => &**records,
            Inner::Replayed(records) => records,
            Inner::Synthetic(records) => &**records,
            Inner::Drawn(records) => &**records,
            Inner::Combined(records) => &**records,
        }
    }

    /// Where the record yielded last was read.
    pub fn place(&self) -> Place {
        self.stream().place()
    }

    /// Requests that are made at once.
    pub const CHUNK: usize = 32;

    /// Gives up to `most` of the records that come next to `take`, until that has had enough; of a
    /// combination only one, because its part may be asked for. As [`Self::next`] behind them.
    #[inline]
    pub(crate) fn each_of(
        &mut self,
        most: usize,
        mut take: impl FnMut(&Record) -> bool,
    ) -> Option<Result<()>> {
        let most = match &mut self.inner {
            Inner::Synthetic(records) => return records.each_of(most, take).then_some(Ok(())),
            Inner::Drawn(records) => return records.each_of(most, take).then_some(Ok(())),
            Inner::Replayed(records) => return records.each_of(most, take).then_some(Ok(())),
            Inner::Ordered(records) if records.is_at_hand() => {
                records.each_of(most, take);
                return Some(Ok(()));
            }
            Inner::Combined(_) => 1,
            Inner::Trace(_) | Inner::Ordered(_) => most,
        };
        for _ in 0..most {
            match self.next()? {
                Ok(record) if take(&record) => {}
                Ok(_) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }

    /// Which part of a combination the record yielded last is from; 0 for any other workload.
    pub fn part(&self) -> usize {
        self.stream().part()
    }

    /// Names of the files; [`Place::part`] is an index into them.
    pub fn names(&self) -> &[String] {
        self.stream().names()
    }

    /// What was read, dropped and sorted so far.
    pub fn summary(&self) -> &Summary {
        self.stream().summary()
    }

    /// Adds file and line of the record yielded last to an error about it.
    pub fn locate(&self, error: TraceError) -> TraceError {
        let place = self.place();
        error.at(self.names()[place.part as usize].clone(), Some(place.line))
    }
}

impl Iterator for Records {
    type Item = Result<Record>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.inner {
            Inner::Trace(records) => records.next(),
            Inner::Ordered(records) => records.next(),
            Inner::Replayed(records) => records.next(),
            Inner::Synthetic(records) => records.next(),
            Inner::Drawn(records) => records.next(),
            Inner::Combined(records) => records.next(),
        }
    }
}

/// What a combination asks of each of its parts.
impl RecordStream for Records {
    fn place(&self) -> Place {
        self.stream().place()
    }

    fn part(&self) -> usize {
        self.stream().part()
    }

    fn names(&self) -> &[String] {
        self.stream().names()
    }

    fn summary(&self) -> &Summary {
        self.stream().summary()
    }
}

/// Generated records, as many as were asked for.
struct Generated<M> {
    records: M,
    /// Requests that are still to be made.
    left: u64,
    names: [String; 1],
    summary: Summary,
}

impl<M: Make> Generated<M> {
    fn new(records: M, head: Option<u64>, name: &str) -> Self {
        let left = records.left().min(head.unwrap_or(u64::MAX));
        Self { records, left, names: [name.into()], summary: Summary::default() }
    }

    /// As [`Records::each_of`]; false at the end. Making a record cannot fail.
    #[inline]
    fn each_of(&mut self, most: usize, mut take: impl FnMut(&Record) -> bool) -> bool {
        let most = self.left.min(most as u64);
        let mut made = 0;
        while made < most {
            made += 1;
            if !take(&self.records.make()) {
                break;
            }
        }
        self.left -= made;
        self.summary.requests += made;
        self.summary.origin_ns = self.summary.origin_ns.or((made > 0).then_some(0));
        made > 0
    }
}

impl<M: Make> Iterator for Generated<M> {
    type Item = Result<Record>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        self.summary.requests += 1;
        self.summary.origin_ns = Some(0);
        Some(Ok(self.records.make()))
    }
}

impl<M: Make> RecordStream for Generated<M> {
    fn place(&self) -> Place {
        Place { part: 0, line: self.records.issued() }
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }
}
