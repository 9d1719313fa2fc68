//! Several files read at the same time: their events as one stream in order of time.
//!
//! Each file is opened when the merged stream comes to its first request and closed at its end, so
//! that memory grows with the number of files that overlap and not with the number of files. When
//! that is, a look ahead finds out: every file is read up to its first request, and read again from
//! its start when its time has come. Steps back within a file stay, no larger than they are there;
//! the reader sorts them as ever.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files};
use crate::formats::context::Context;
use crate::order::{Filtered, StrayFilter};
use crate::record::Place;
use crate::summary::DropReason;

/// Files open at the same time.
const OPEN_MAX: usize = 512;

/// Opens one of the files, as its format does.
pub(crate) type Opener = Box<dyn Fn(Files, Context) -> Result<Box<dyn Events>>>;

/// The events of several files in order of time; equal times in order of the files.
pub(crate) struct Merged {
    files: Files,
    context: Context,
    opener: Opener,
    /// Files begin up to this before their first request.
    window_ns: u64,
    /// Are strays dropped? What is in order by its format has none.
    sift: bool,
    /// Files that are not open yet with the time of their first request, the next one last.
    waiting: Vec<(u64, usize)>,
    /// Files without a request, the next one last: they overlap with none, and are read one by one
    /// behind all others for what is counted in them.
    empty: Vec<usize>,
    open: BinaryHeap<Stream>,
    place: Place,
}

impl Merged {
    /// Reads every file up to its first request. `sift`: strays are dropped.
    ///
    /// # Errors
    /// A file that cannot be opened, or in which something is broken before its first request.
    pub(crate) fn new(
        files: Files,
        context: Context,
        window_ns: u64,
        sift: bool,
        opener: Opener,
    ) -> Result<Self> {
        // Where reading may begin late in a file, it is the file's own time that says so.
        let context = Context { from_ns: 0, ..context };
        let place = Place { part: files.parts.start as u32, line: 0 };
        let (waiting, empty) = (Vec::with_capacity(files.parts.len()), Vec::new());
        let open = BinaryHeap::new();
        let mut all = Self { files, context, opener, window_ns, sift, waiting, empty, open, place };
        for part in all.files.parts.clone() {
            match all.first_request_ns(part)? {
                Some(first_ns) => all.waiting.push((first_ns, part)),
                None => all.empty.push(part),
            }
        }
        all.waiting.sort_unstable_by(|a, b| b.cmp(a));
        all.empty.reverse();
        Ok(all)
    }

    /// When the first request of a file is; none where it has no request.
    fn first_request_ns(&self, part: usize) -> Result<Option<u64>> {
        let mut stream = self.stream(part)?;
        while stream.advance()? {
            if matches!(stream.next, Event::Request(_)) {
                return Ok(Some(stream.time_ns));
            }
        }
        Ok(None)
    }

    fn stream(&self, part: usize) -> Result<Stream> {
        let events = (self.opener)(self.files.only(part), self.context.for_file(part as u32))?;
        Ok(Stream {
            part,
            events,
            strays: self.sift.then(StrayFilter::default),
            next: Event::Header,
            time_ns: 0,
            failed: None,
            ended: false,
        })
    }

    /// Opens the files that the next event may be in.
    fn open_due(&mut self) -> Result<()> {
        while let Some(&(first_ns, part)) = self.waiting.last() {
            let now_ns = self.open.peek().map(|stream| stream.time_ns);
            if now_ns.is_some_and(|now_ns| first_ns.saturating_sub(self.window_ns) > now_ns) {
                break;
            }
            if self.open.len() == OPEN_MAX {
                return Err(TraceError::new("too many files overlap in time")
                    .with_legal(format!("up to {OPEN_MAX} at any time"))
                    .at(self.files.names[part].clone(), None));
            }
            self.waiting.pop();
            self.open(part, first_ns)?;
        }
        while self.open.is_empty()
            && let Some(part) = self.empty.pop()
        {
            self.open(part, 0)?;
        }
        Ok(())
    }

    fn open(&mut self, part: usize, first_ns: u64) -> Result<()> {
        let mut stream = self.stream(part)?;
        stream.time_ns = first_ns;
        if stream.advance_or_keep() {
            self.open.push(stream);
        }
        Ok(())
    }
}

impl Events for Merged {
    fn next_event(&mut self) -> Result<Option<Event>> {
        self.open_due()?;
        let Some(mut earliest) = self.open.peek_mut() else {
            return Ok(None);
        };
        self.place = earliest.events.place();
        if let Some(error) = earliest.failed.take() {
            PeekMut::pop(earliest);
            return Err(error);
        }
        let event = earliest.next;
        if !earliest.advance_or_keep() {
            PeekMut::pop(earliest);
        }
        Ok(Some(event))
    }

    fn place(&self) -> Place {
        self.place
    }
}

/// One file, an event ahead, without requests that are far from both their neighbours: one that is
/// late by a century would hold its file back until all others have ended.
struct Stream {
    part: usize,
    events: Box<dyn Events>,
    strays: Option<StrayFilter>,
    next: Event,
    /// Time of the next event; what is no request comes with what was before it.
    time_ns: u64,
    /// Why there is no next event; said once every event before it was.
    failed: Option<TraceError>,
    ended: bool,
}

impl Stream {
    /// As [`Self::advance`], an error kept as what comes next.
    fn advance_or_keep(&mut self) -> bool {
        self.advance().unwrap_or_else(|error| {
            self.failed = Some(error);
            true
        })
    }

    /// Reads one event ahead; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            let filtered = match (self.ended, self.events_next()?) {
                (_, Some(Event::Request(placed))) => match &mut self.strays {
                    Some(strays) => strays.push(placed),
                    None => Filtered::Kept(placed),
                },
                (_, Some(other)) => {
                    self.next = other;
                    return Ok(true);
                }
                (true, None) => return Ok(false),
                (false, None) => {
                    self.ended = true;
                    self.strays.as_mut().map_or(Filtered::Nothing, StrayFilter::finish)
                }
            };
            match filtered {
                Filtered::Nothing => {}
                Filtered::Kept(placed) => {
                    self.time_ns = placed.record.time_ns;
                    self.next = Event::Request(placed);
                    return Ok(true);
                }
                Filtered::Stray(placed) => {
                    self.next = Event::Dropped(DropReason::StrayTime, placed.place);
                    return Ok(true);
                }
            }
        }
    }

    fn events_next(&mut self) -> Result<Option<Event>> {
        if self.ended { Ok(None) } else { self.events.next_event() }
    }

    fn key(&self) -> (u64, usize) {
        (self.time_ns, self.part)
    }
}

impl Ord for Stream {
    /// Reversed, because the heap of the standard library gives its largest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Stream {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Stream {}
