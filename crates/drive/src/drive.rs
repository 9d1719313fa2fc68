//! The drive: requests of clients through a device, and the bytes behind what it finds.
//!
//! All connections of clients share one lock: requests reach a device one after another. A flush
//! waits for the disk outside the lock; a checkpoint holds it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use ftlab_engine::config::ClockKind;
use ftlab_engine::request::Op;
use ftlab_engine::schemes::Location;
use ftlab_engine::units::{Lpn, Nanos, SECTOR_BYTES, Tag};
use ftlab_lab::{Observer, Result, RunResult, Seen, Served, Serving};
use ftlab_nbd::wire::EXTENTS;
use ftlab_nbd::{Abilities, BlockSizes, Error, Export, Extent};
use ftlab_trace::TraceWriter;

use crate::arena::Arena;
use crate::medium::{Medium, restore};
use crate::pace::Pace;
use crate::payloads::Payloads;
use crate::store::{Folder, Group, Shape, Store};
use crate::watched::Watched;

/// Bytes of a request to the device; what clients send is longer at times.
const REQUEST_BYTES: u64 = 1 << 20;
/// Pages that are looked up for one question about extents, and under one lock.
const LOOKED_UP: u64 = 1 << 16;
const UNDER_ONE_LOCK: u64 = 1 << 10;

/// A simulated drive with data.
pub struct Drive {
    serving: Serving,
    pace: Pace,
    size: u64,
    page_bytes: u64,
    description: String,
    obeys_trims: bool,
    began: Instant,
    started: String,
    recovered: Option<Nanos>,
    /// Bytes at the end of the log of a store that did not count.
    left_out: u64,
    medium: Mutex<Medium>,
    /// Whether answers wait for no simulated time any more; the condition tells those that do.
    ending: Mutex<bool>,
    ended: Condvar,
}

/// A device that is new, or as a store holds it.
struct Found {
    served: Served,
    payloads: Payloads,
    store: Option<Store>,
    prepared: Tag,
    recovered: Option<Nanos>,
    left_out: u64,
}

fn found(serving: &Serving, folder: Option<Folder<'_>>, observer: &dyn Observer) -> Result<Found> {
    if serving.config().timing.clock == ClockKind::Event {
        return Err(ftlab_lab::Error::usage(
            "timing.clock = event knows completions when simulated time reaches them, and clients of a \
             drive want each answer at once; legal: timing.clock = call_order",
        ));
    }
    let identity = serving.identity();
    let mut blank = serving.blank(observer)?;
    let geometry = blank.device.board().geometry();
    let (pages, page_bytes) =
        (geometry.pages(), u64::from(geometry.sectors_per_page()) * SECTOR_BYTES);
    let (mut store, mut image) = (None, None);
    if let Some(folder) = folder {
        serving.found_from_flash()?;
        let (pages_per_block, words_max) = (geometry.pages_per_block, geometry.entries_per_page());
        let shape = Shape { identity: &identity, page_bytes, pages_per_block, words_max };
        let opened = Store::open(folder, shape)?;
        (store, image) = (Some(opened.0), opened.1);
    }
    let arena = Arena::new(page_bytes as usize, store.as_ref().map(Store::data));
    let mut payloads = Payloads::new(arena, pages);
    let Some(image) = image else {
        drop(blank);
        let served = serving.open(observer)?;
        let prepared = served.device.last_version();
        return Ok(Found { served, payloads, store, prepared, recovered: None, left_out: 0 });
    };
    if serving.is_prepared() {
        return Err(ftlab_lab::Error::usage(
            "--precondition is for a new drive, and --store holds one; legal: --precondition none",
        ));
    }
    let took = restore(&image, blank.device.as_mut(), &mut payloads).map_err(|why| {
        let path = folder.map_or(Path::new(""), |folder| folder.path).display();
        ftlab_lab::Error::Usage(format!(
            "--store {path}: {why}; legal: a store that is not damaged"
        ))
    })?;
    let (prepared, left_out) = (Tag(image.prepared), image.left_out);
    Ok(Found { served: blank, payloads, store, prepared, recovered: Some(took), left_out })
}

impl Drive {
    /// Makes the device and prepares it, or finds it in a store. `record`: the requests go there as
    /// a compact trace.
    ///
    /// # Errors
    /// Those of [`Serving::open`], a store that cannot be used, a record that cannot be begun.
    pub fn open(
        serving: Serving,
        pace: Pace,
        (folder, record): (Option<Folder<'_>>, Option<File>),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let cannot = |error: io::Error| {
            ftlab_lab::Error::Run(format!("the store or the record cannot be written ({error})"))
        };
        let Found { mut served, payloads, mut store, prepared, recovered, left_out } =
            found(&serving, folder, observer)?;
        if let Some(store) = &mut store {
            store.checkpoint(served.device.as_ref(), prepared, &payloads).map_err(cannot)?;
        }
        served.device.note_versions();
        served.device.board_mut().nand_mut().record_mut().start_with_changes();
        let record = record.map(|file| TraceWriter::new(BufWriter::new(file))).transpose();
        let (config, began) = (serving.config(), Instant::now());
        let geometry = served.device.board().geometry();
        let page_bytes = u64::from(geometry.sectors_per_page()) * SECTOR_BYTES;
        let logical_pages = geometry.logical_pages;
        let medium = Medium {
            page_bytes,
            pace,
            began,
            canary: None,
            watched: None,
            payloads,
            prepared,
            operations: Vec::new(),
            changes: Vec::new(),
            arrival: 0,
            completed: 0,
            requests: 0,
            flushed_requests: 0,
            pages_written: 0,
            touched: vec![0; (logical_pages as usize).div_ceil(64)],
            pcm: if store.is_some() { served.device.pcm().to_vec() } else { Vec::new() },
            store,
            group: Group::default(),
            record: record.map_err(cannot)?,
            first_arrival: 0,
            broken: None,
            served,
        };
        Ok(Drive {
            pace,
            size: u64::from(logical_pages) * page_bytes,
            page_bytes,
            description: format!("ftlab: {} on {}", serving.scheme(), config.device.name),
            obeys_trims: config.io.trim,
            began,
            started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
            recovered,
            left_out,
            medium: Mutex::new(medium),
            ending: Mutex::new(false),
            ended: Condvar::new(),
            serving,
        })
    }

    /// From now on every `n`th page that is written keeps the data of the version before it,
    /// without a word to its client: for tests that must find that out.
    pub fn lose_every(&self, n: Option<NonZero<u64>>) {
        self.medium().canary = n;
    }

    /// How long the scheme's recovery took, in simulated time, where the drive was found in a
    /// store.
    #[must_use]
    pub fn recovered_in(&self) -> Option<Nanos> {
        self.recovered
    }

    /// From now on every answer comes at once, also those that are waited for already: what ends a
    /// drive must not wait for simulated time, which may be hours.
    pub fn end_waiting(&self) {
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.notify_all();
    }

    /// The last request of a drive in a folder: a flush, as those of clients, so that what asks for
    /// the result behind it tells what the record tells. Nothing where nobody asked for anything
    /// since the last one, or the drive failed.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn last_flush(&self) -> Result<(), String> {
        let medium = self.medium();
        let nothing = medium.store.is_none() || medium.requests == medium.flushed_requests;
        if nothing || medium.broken.is_some() {
            return Ok(());
        }
        drop(medium);
        self.end_waiting();
        self.flush().map_err(|_| self.failure().unwrap_or_default())
    }

    /// Flushes without waiting for simulated time, and leaves a store that needs no log. A drive
    /// that failed leaves it as it is.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn close(&self) -> Result<(), String> {
        self.last_flush()?;
        let mut medium = self.medium();
        if medium.broken.is_some() {
            return Ok(());
        }
        medium.checkpoint().map_err(|error| format!("the store cannot be written ({error})"))
    }

    /// From now on what is reclaimed is written down.
    pub(crate) fn watch(&self) {
        let mut medium = self.medium();
        let watched = Watched::new(medium.served.device.board().nand());
        medium.watched = Some(watched);
    }

    pub(crate) fn started(&self) -> &str {
        &self.started
    }

    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    pub(crate) fn medium(&self) -> MutexGuard<'_, Medium> {
        self.medium.lock().unwrap_or_else(|poisoned| {
            // Somebody stopped in the middle of something: what is there fits together no more.
            let mut medium = poisoned.into_inner();
            medium.broken.get_or_insert_with(|| "a bug of ftlab, met between requests".to_owned());
            medium
        })
    }

    /// The result so far, as of a run. `command`: what serves the like again; `audited`: after a
    /// look at the whole device, during which nobody is answered.
    ///
    /// # Errors
    /// The audit did not pass.
    pub fn result(&self, command: &str, audited: bool) -> Result<RunResult> {
        let medium = self.medium();
        let mut warnings = vec![
            "Requests came from clients, as they liked: another time these numbers need not come out \
             again. --record keeps the requests, for any scheme to be run on them."
                .to_owned(),
        ];
        if medium.requests == 0 {
            warnings.push("No client sent a request.".to_owned());
        }
        if let Some(n) = medium.canary {
            warnings.push(format!("Every {n}th page that was written was lost, as was asked for."));
        }
        if self.left_out > 0 {
            warnings.push(format!(
                "{} bytes at the end of the log of the store were left out: a request that was not \
                 written as a whole, and what came behind it, none of it flushed.",
                self.left_out
            ));
        }
        if let Some(why) = &medium.broken {
            warnings.push(format!("The drive failed, and served nothing from then on: {why}."));
        }
        let seen = Seen {
            name: "clients of a block device".to_owned(),
            timing: format!("served:{}", self.pace),
            command: command.to_owned(),
            requests: medium.requests,
            footprint_pages: medium.touched.iter().map(|word| u64::from(word.count_ones())).sum(),
            simulated_ns: medium.completed,
            wall_seconds: self.began.elapsed().as_secs_f64(),
            started: self.started.clone(),
            warnings,
        };
        self.serving.result(&medium.served, seen, audited)
    }

    /// Why the drive serves nothing any more, if so.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.medium().broken.clone()
    }

    /// Ends the record of requests.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end_record(&self) -> io::Result<()> {
        let Some(writer) = self.medium().record.take() else { return Ok(()) };
        writer.finish()?.flush()
    }

    /// Answers when the device would, or once the drive ends.
    fn answer(&self, completed: Nanos) {
        let due = self.pace.answered(completed);
        let Some(left) =
            due.checked_sub(self.began.elapsed()).filter(|left| *left > Duration::ZERO)
        else {
            return;
        };
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.ended.wait_timeout_while(ending, left, |ending| !*ending));
    }

    /// Serves every part of a stretch, each no longer than a request to the device and, but for the
    /// first, from the beginning of a page on.
    fn in_parts(
        &self,
        (offset, length): (u64, u64),
        mut serve: impl FnMut(&mut Medium, u64, u64) -> Result<Nanos, Error>,
    ) -> Result<(), Error> {
        let step = REQUEST_BYTES.next_multiple_of(self.page_bytes);
        let mut completed = 0;
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let next = end.min((at / step + 1) * step);
            let mut medium = self.medium();
            completed = serve(&mut medium, at, next - at)?.max(completed);
            drop(medium);
            at = next;
        }
        self.answer(completed);
        Ok(())
    }

    /// Whole pages within a stretch: first and behind the last.
    fn whole_pages(&self, offset: u64, length: u64) -> (u64, u64) {
        let first = offset.div_ceil(self.page_bytes);
        (first, ((offset + length) / self.page_bytes).max(first))
    }

    fn write_zeroes(&self, offset: u64, length: u64) -> Result<(), Error> {
        let zeroes = vec![0; REQUEST_BYTES.next_multiple_of(self.page_bytes) as usize];
        self.in_parts((offset, length), |medium, at, length| {
            medium.write(at, &zeroes[..length as usize])
        })
    }

    fn trim_pages(&self, (first, end): (u64, u64)) -> Result<(), Error> {
        let stretch = (first * self.page_bytes, (end - first) * self.page_bytes);
        self.in_parts(stretch, |medium, at, length| {
            let completion = medium.submit(Op::Trim, at, length)?;
            medium.follow()?;
            Ok(completion.completed)
        })
    }

    fn made_stable(&self, fua: bool) -> Result<(), Error> {
        if fua { self.flush() } else { Ok(()) }
    }
}

impl Export for Drive {
    fn size(&self) -> u64 {
        self.size
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn block_sizes(&self) -> BlockSizes {
        BlockSizes { minimum_bytes: 1, preferred_bytes: (self.page_bytes as u32).max(512) }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            read_only: false,
            trim: self.obeys_trims,
            fast_zero: self.obeys_trims,
            multi_connection: true,
        }
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.in_parts((offset, bytes.len() as u64), |medium, at, length| {
            let from = (at - offset) as usize;
            medium.read(at, &mut bytes[from..from + length as usize])
        })
    }

    fn write(&self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), Error> {
        self.in_parts((offset, bytes.len() as u64), |medium, at, length| {
            let from = (at - offset) as usize;
            medium.write(at, &bytes[from..from + length as usize])
        })?;
        self.made_stable(fua)
    }

    fn flush(&self) -> Result<(), Error> {
        let mut medium = self.medium();
        let completed = medium.submit(Op::Flush, 0, 0)?.completed;
        medium.follow()?;
        medium.flushed_requests = medium.requests;
        let flush = medium.flush();
        drop(medium);
        // Others are served while the disk of the machine takes its time.
        if let Some(flush) = flush {
            flush.run().map_err(|error| self.medium().store_failed(&error))?;
        }
        self.answer(completed);
        Ok(())
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), Error> {
        let (first, end) = self.whole_pages(offset, length);
        if self.obeys_trims && first < end {
            self.trim_pages((first, end))?;
        }
        self.made_stable(fua)
    }

    fn zero(&self, offset: u64, length: u64, may_trim: bool, fua: bool) -> Result<(), Error> {
        let (first, end) = self.whole_pages(offset, length);
        if !may_trim || !self.obeys_trims || first == end {
            self.write_zeroes(offset, length)?;
            return self.made_stable(fua);
        }
        let (begins, ends) = (first * self.page_bytes, end * self.page_bytes);
        self.write_zeroes(offset, begins - offset)?;
        self.write_zeroes(ends, offset + length - ends)?;
        self.trim_pages((first, end))?;
        // A scheme may keep what it was told to forget.
        for page in first..end {
            let medium = self.medium();
            medium.serves()?;
            let kept = medium.served.device.locate(Lpn(page as u32)) != Location::Nowhere;
            drop(medium);
            if kept {
                self.write_zeroes(page * self.page_bytes, self.page_bytes)?;
            }
        }
        self.made_stable(fua)
    }

    fn zeroes_fast(&self, offset: u64, length: u64, may_trim: bool) -> bool {
        // Parts of pages are written.
        let whole =
            offset.is_multiple_of(self.page_bytes) && length.is_multiple_of(self.page_bytes);
        self.obeys_trims && may_trim && whole
    }

    fn status(&self, offset: u64, length: u32, extents: &mut Vec<Extent>) -> Result<(), Error> {
        // Of a long stretch the beginning is told: whoever asked asks on behind that.
        let first = offset / self.page_bytes;
        let end = (offset + u64::from(length)).min((first + LOOKED_UP) * self.page_bytes);
        let (mut at, before) = (offset, extents.len());
        while at < end {
            let medium = self.medium();
            medium.serves()?;
            let locked = end.min((at / self.page_bytes + UNDER_ONE_LOCK) * self.page_bytes);
            while at < locked {
                let page = at / self.page_bytes;
                let hole = medium.served.device.locate(Lpn(page as u32)) == Location::Nowhere;
                let next = end.min((page + 1) * self.page_bytes);
                let length_bytes = (next - at) as u32;
                let told = extents.len() - before;
                match extents[before..].last_mut() {
                    Some(last) if last.hole == hole => last.length_bytes += length_bytes,
                    _ if told == EXTENTS => return Ok(()),
                    _ => extents.push(Extent { length_bytes, hole, zero: hole }),
                }
                at = next;
            }
        }
        Ok(())
    }
}
