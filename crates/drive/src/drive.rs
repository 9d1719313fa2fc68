//! The drive: requests of clients through a device, and the bytes behind what it finds.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use ftlab_engine::board::nand::record::{Change, Operation};
use ftlab_engine::board::nand::restore::StoredPage;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos, Ppn, SECTOR_BYTES, Tag};
use ftlab_lab::{Observer, Result, RunResult, Seen, Served, Serving, flash_image};
use ftlab_nbd::{Abilities, BlockSizes, Error, Export, Extent};
use ftlab_trace::{Record, TraceWriter};

use crate::arena::Arena;
use crate::pace::Pace;
use crate::payloads::Payloads;
use crate::store::{Group, Image, Shape, Store};

/// Bytes of a request to the device; what clients send is longer at times.
const REQUEST_BYTES: u64 = 1 << 20;
/// Versions are numbers of 32 bits; so many are left when writing ends.
const VERSIONS_LEFT: u32 = 1 << 20;
/// Extents that are told at most for one question.
const EXTENTS: usize = 4096;

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
    /// Loses every so manieth page.
    canary: Option<NonZero<u64>>,
    inner: Mutex<Inner>,
}

struct Inner {
    served: Served,
    payloads: Payloads,
    /// The last version that preparing wrote: nobody knows its data, which reads as zeroes.
    prepared: Tag,
    operations: Vec<Operation>,
    changes: Vec<Change>,
    arrival: Nanos,
    completed: Nanos,
    requests: u64,
    /// Counted where some of them are lost.
    pages_written: u64,
    /// A bit for every logical page that was read or written.
    touched: Vec<u64>,
    store: Option<Store>,
    group: Group,
    /// Words of phase-change memory as the store has them.
    pcm: Vec<u32>,
    record: Option<TraceWriter<BufWriter<File>>>,
    /// When the first request arrived.
    first_arrival: Nanos,
    /// Why nothing is served any more.
    broken: Option<String>,
}

impl Drive {
    /// Makes the device and prepares it, or finds it in a store. `record`: the requests go there as a
    /// compact trace.
    ///
    /// # Errors
    /// Those of [`Serving::open`], a store that cannot be used, a record that cannot be begun.
    pub fn open(
        serving: Serving,
        pace: Pace,
        (store, record): (Option<&Path>, Option<File>),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let identity = serving.identity();
        let blank = serving.blank(observer)?;
        let geometry = blank.device.board().geometry().clone();
        let page_bytes = u64::from(geometry.sectors_per_page()) * SECTOR_BYTES;
        let mut store = match store {
            None => None,
            Some(path) => {
                serving.found_from_flash()?;
                let (pages_per_block, words_max) =
                    (geometry.pages_per_block, geometry.entries_per_page());
                let shape = Shape { identity: &identity, page_bytes, pages_per_block, words_max };
                Some(Store::open(path, shape)?)
            }
        };
        let image = store.as_mut().and_then(|(_, image)| image.take());
        let mut store = store.map(|(store, _)| store);
        if image.is_some() && serving.is_prepared() {
            return Err(ftlab_lab::Error::usage(
                "--precondition is for a new drive, and --store holds one; legal: --precondition none",
            ));
        }
        let file = store.as_ref().map(Store::data).transpose()?;
        let arena = Arena::new(page_bytes as usize, file);
        let mut payloads = Payloads::new(arena, geometry.pages());
        let mut recovered = None;
        let mut served = match &image {
            None => serving.open(observer)?,
            Some(image) => {
                let mut served = blank;
                recovered =
                    Some(restore(image, served.device.as_mut(), &mut payloads).map_err(|why| {
                        let path = store.as_ref().map(|store| store.path().display().to_string());
                        ftlab_lab::Error::Usage(format!(
                            "--store {}: {why}; legal: a store that is not damaged",
                            path.unwrap_or_default()
                        ))
                    })?);
                served
            }
        };
        let cannot = |error: io::Error| {
            ftlab_lab::Error::Run(format!("the store or the record cannot be written ({error})"))
        };
        let fresh = served.device.last_version();
        let prepared = image.as_ref().map_or(fresh, |image| Tag(image.prepared));
        if let Some(store) = &mut store {
            store.checkpoint(served.device.as_ref(), prepared, &payloads).map_err(cannot)?;
        }
        served.device.note_versions();
        served.device.board_mut().nand_mut().record_mut().start_with_changes();
        let record = record.map(|file| TraceWriter::new(BufWriter::new(file))).transpose();
        let config = serving.config();
        let inner = Inner {
            payloads,
            prepared,
            operations: Vec::new(),
            changes: Vec::new(),
            arrival: 0,
            completed: 0,
            requests: 0,
            pages_written: 0,
            touched: vec![0; (geometry.logical_pages as usize).div_ceil(64)],
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
            size: u64::from(geometry.logical_pages) * page_bytes,
            page_bytes,
            description: format!("ftlab: {} on {}", serving.scheme(), config.device.name),
            obeys_trims: config.io.trim,
            began: Instant::now(),
            started: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            recovered,
            canary: None,
            inner: Mutex::new(inner),
            serving,
        })
    }

    /// From now on every `n`th page that is written keeps the data of the version before it, without
    /// a word to its client: for tests that must find that out.
    pub fn lose_every(&mut self, n: Option<NonZero<u64>>) {
        self.canary = n;
    }

    /// How long the scheme's recovery took, in simulated time, where the drive was found in a store.
    #[must_use]
    pub fn recovered_in(&self) -> Option<Nanos> {
        self.recovered
    }

    /// Flushes, and leaves a store that needs no log. A drive that failed leaves it as it is.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn close(&self) -> Result<(), String> {
        if self.inner().store.is_none() || self.failure().is_some() {
            return Ok(());
        }
        self.flush().map_err(|_| self.failure().unwrap_or_default())?;
        let mut inner = self.inner();
        inner.checkpoint().map_err(|error| format!("the store cannot be written ({error})"))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result so far, as of a run. `command`: what serves the like again; `audited`: after a look
    /// at the whole device, during which nobody is answered.
    ///
    /// # Errors
    /// The audit did not pass.
    pub fn result(&self, command: &str, audited: bool) -> Result<RunResult> {
        let inner = self.inner();
        let mut warnings = vec![
            "Requests came from clients, as they liked: another time these numbers need not come out \
             again. --record keeps the requests, for any scheme to be run on them."
                .to_owned(),
        ];
        if inner.requests == 0 {
            warnings.push("No client sent a request.".to_owned());
        }
        if let Some(n) = self.canary {
            warnings.push(format!("Every {n}th page that was written was lost, as was asked for."));
        }
        if let Some(why) = &inner.broken {
            warnings.push(format!("The drive failed, and served nothing from then on: {why}."));
        }
        let seen = Seen {
            name: "clients of a block device".to_owned(),
            timing: format!("served:{}", self.pace),
            command: command.to_owned(),
            requests: inner.requests,
            footprint_pages: inner.touched.iter().map(|word| u64::from(word.count_ones())).sum(),
            simulated_ns: inner.completed,
            wall_seconds: self.began.elapsed().as_secs_f64(),
            started: self.started.clone(),
            warnings,
        };
        self.serving.result(&inner.served, seen, audited)
    }

    /// Why the drive serves nothing any more, if so.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.inner().broken.clone()
    }

    /// Ends the record of requests.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end_record(&self) -> io::Result<()> {
        let Some(writer) = self.inner().record.take() else { return Ok(()) };
        writer.finish()?.flush()
    }

    /// Answers when the device would.
    fn answer(&self, completed: Nanos) {
        let due = self.pace.answered(completed);
        if let Some(left) =
            due.checked_sub(self.began.elapsed()).filter(|left| *left > Duration::ZERO)
        {
            std::thread::sleep(left);
        }
    }

    /// Serves every part of a stretch, each no longer than a request to the device and, but for the
    /// first, from the beginning of a page on.
    fn in_parts(
        &self,
        (offset, length): (u64, u64),
        mut serve: impl FnMut(&mut Inner, u64, u64) -> Result<Nanos, Error>,
    ) -> Result<(), Error> {
        let step = REQUEST_BYTES.next_multiple_of(self.page_bytes);
        let mut completed = 0;
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let next = end.min((at / step + 1) * step);
            let mut inner = self.inner();
            completed = serve(&mut inner, at, next - at)?.max(completed);
            drop(inner);
            at = next;
        }
        self.answer(completed);
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.pace.simulated(self.began.elapsed())
    }

    /// Whole pages within a stretch: first and behind the last.
    fn whole_pages(&self, offset: u64, length: u64) -> (u64, u64) {
        let first = offset.div_ceil(self.page_bytes);
        (first, ((offset + length) / self.page_bytes).max(first))
    }

    fn write_zeroes(&self, offset: u64, length: u64) -> Result<(), Error> {
        let zeroes = vec![0; REQUEST_BYTES.next_multiple_of(self.page_bytes) as usize];
        self.in_parts((offset, length), |inner, at, length| {
            inner.write(self, at, &zeroes[..length as usize])
        })
    }

    fn trim_pages(&self, (first, end): (u64, u64)) -> Result<(), Error> {
        let stretch = (first * self.page_bytes, (end - first) * self.page_bytes);
        self.in_parts(stretch, |inner, at, length| {
            let completion = inner.submit(self, Op::Trim, at, length)?;
            inner.follow()?;
            Ok(completion.completed)
        })
    }

    fn made_stable(&self, fua: bool) -> Result<(), Error> {
        if fua { self.flush() } else { Ok(()) }
    }
}

impl Inner {
    /// Brings a request to the device, and follows what that does to its flash. Bytes are those of
    /// whole sectors around the stretch.
    fn submit(&mut self, drive: &Drive, op: Op, at: u64, length: u64) -> Result<Completion, Error> {
        if self.broken.is_some() {
            return Err(Error::Io);
        }
        let first_sector = at / SECTOR_BYTES;
        let sectors = ((at + length).div_ceil(SECTOR_BYTES) - first_sector) as u32;
        let device = &mut self.served.device;
        let now = match drive.pace {
            Pace::Off => device.next_slot(),
            Pace::Real(_) => drive.now(),
        };
        self.arrival = self.arrival.max(now);
        let request = Request { arrival: self.arrival, op, first_sector, sectors, unit: 0 };
        // A broken law of the flash panics: whoever else is served must be told, not cut off.
        let served = catch_unwind(AssertUnwindSafe(|| device.submit(&request)));
        let completion = match served {
            Ok(Ok(completion)) => completion,
            Err(_) => {
                return Err(self.fail(format!("{op:?} of {length} bytes at {at}: a bug of ftlab")));
            }
            Ok(Err(error)) => {
                return Err(self.fail(format!("{op:?} of {length} bytes at {at}: {error}")));
            }
        };
        self.requests += 1;
        self.completed = self.completed.max(completion.completed);
        if matches!(op, Op::Read | Op::Write) {
            for page in at / drive.page_bytes..(at + length).div_ceil(drive.page_bytes) {
                self.touched[page as usize / 64] |= 1 << (page % 64);
            }
        }
        if self.requests == 1 {
            self.first_arrival = self.arrival;
        }
        if let Some(record) = &mut self.record {
            let time_ns = self.arrival - self.first_arrival;
            let offset_bytes = first_sector * SECTOR_BYTES;
            // Readers of traces leave out flushes without a size.
            let size_bytes = u64::from(sectors.max(1)) * SECTOR_BYTES;
            let record = record.write(&Record { time_ns, op, offset_bytes, size_bytes, unit: 0 });
            if let Err(error) = record {
                return Err(self.fail(format!("the record cannot be written ({error})")));
            }
        }
        Ok(completion)
    }

    #[cold]
    fn fail(&mut self, why: String) -> Error {
        self.broken.get_or_insert(why);
        Error::Io
    }

    /// Follows programs and erases: which page carries which version.
    fn follow(&mut self) -> Result<(), Error> {
        let nand = self.served.device.board_mut().nand_mut();
        nand.record_mut().drain(&mut self.operations, &mut self.changes);
        let (nand, payloads) = (&*nand, &mut self.payloads);
        let state = nand.state();
        let carries = |ppn| match nand.stored_page(ppn) {
            StoredPage::Data { tag, .. } => Some(tag),
            _ => None,
        };
        // A page that was programmed and erased at once carries nothing any more.
        for operation in &self.operations {
            if let Operation::Program(ppn, _) = *operation {
                match carries(ppn) {
                    Some(tag) => payloads.programmed(ppn, tag),
                    None => payloads.gone(ppn),
                }
            }
        }
        for operation in &self.operations {
            if let Operation::Erase(block, _) = *operation {
                let geometry = nand.geometry();
                for ppn in (0..geometry.pages_per_block).map(|offset| geometry.page(block, offset))
                {
                    if state.is_free(ppn) || carries(ppn).is_none() {
                        payloads.gone(ppn);
                    }
                }
            }
        }
        self.payloads.release();
        if self.store.is_some() {
            self.tell_store()
                .map_err(|error| self.fail(format!("the store cannot be written ({error})")))?;
        }
        let device = &self.served.device;
        self.payloads.look_through(|lpn, version| device.locate(lpn) == Location::Ram(version));
        Ok(())
    }

    /// The group of this request.
    fn tell_store(&mut self) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let device = self.served.device.as_ref();
        let (nand, geometry) = (device.board().nand(), device.board().geometry());
        let (mut erased, mut blocks, mut pages) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for operation in &self.operations {
            match *operation {
                Operation::Erase(block, _) => drop(erased.insert(block)),
                Operation::Program(ppn, _) => drop(pages.insert(ppn)),
                Operation::Read(..) => {}
            }
        }
        for change in &self.changes {
            match *change {
                Change::Superseded(ppn) | Change::Lost(ppn) => drop(pages.insert(ppn)),
                Change::Failure(block) => {
                    blocks.insert(block);
                    pages.extend((0..geometry.pages_per_block).map(|at| geometry.page(block, at)));
                }
            }
        }
        let group = &mut self.group;
        group.clear();
        erased.iter().for_each(|block| group.erased(block.0));
        blocks.extend(&erased);
        blocks.iter().for_each(|block| group.block(block.0, nand.stored_block(*block)));
        for ppn in pages {
            let page = nand.stored_page(ppn);
            if page != StoredPage::Free {
                group.page(ppn.0, page);
            }
        }
        for (version, slot, checksum) in self.payloads.written() {
            group.version(version, slot, checksum);
        }
        for (index, (known, word)) in self.pcm.iter_mut().zip(device.pcm()).enumerate() {
            if known != word {
                *known = *word;
                group.pcm(index as u32, *word);
            }
        }
        if group.is_empty() {
            return Ok(());
        }
        store.append(group)?;
        if store.is_long() { self.checkpoint() } else { Ok(()) }
    }

    fn checkpoint(&mut self) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        store.checkpoint(self.served.device.as_ref(), self.prepared, &self.payloads)
    }

    /// What was answered stays when the machine stops.
    fn sync(&mut self) -> Result<(), Error> {
        let Some(store) = &self.store else { return Ok(()) };
        let synced = self.payloads.sync().and_then(|()| store.sync());
        synced.map_err(|error| self.fail(format!("the store cannot be written ({error})")))
    }

    /// The newest data of a page, from byte `from` of it on.
    fn newest(&mut self, lpn: Lpn, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let state = self.served.device.board().nand().state();
        let version = match self.served.device.locate(lpn) {
            Location::Flash(ppn) if state.is_unreadable(ppn) => Tag::UNREADABLE,
            Location::Flash(ppn) => state.tag(ppn),
            Location::Ram(version) => version,
            Location::Nowhere => Tag(0),
        };
        self.bytes_of(lpn, version, from, bytes)
    }

    fn bytes_of(
        &mut self,
        lpn: Lpn,
        version: Tag,
        from: usize,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        if version == Tag::UNREADABLE {
            return Err(Error::Io);
        }
        match self.payloads.read(version, from, bytes) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => return Err(self.fail(format!("the store cannot be read ({error})"))),
        }
        if version <= self.prepared {
            bytes.fill(0);
            return Ok(());
        }
        Err(self
            .fail(format!("page {lpn} is found in version {version}, of which there is no data")))
    }

    fn write(&mut self, drive: &Drive, at: u64, data: &[u8]) -> Result<Nanos, Error> {
        let page_bytes = drive.page_bytes;
        let end = at + data.len() as u64;
        let (first, behind) = (at / page_bytes, end.div_ceil(page_bytes));
        if self.served.device.last_version().0 > u32::MAX - VERSIONS_LEFT {
            return Err(self.fail(
                "4,293,918,719 pages were written, and no more can be told apart".to_owned(),
            ));
        }
        // What of the first and the last page stays is read before these are written.
        let mut edges: [Option<Vec<u8>>; 2] = [None, None];
        for (edge, page) in edges.iter_mut().zip([first, behind - 1]) {
            let (begins, ends) = (page * page_bytes, (page + 1) * page_bytes);
            if at > begins || end < ends {
                let mut whole = vec![0; page_bytes as usize];
                self.newest(Lpn(page as u32), 0, &mut whole)?;
                let (from, to) = (at.max(begins), end.min(ends));
                whole[(from - begins) as usize..(to - begins) as usize]
                    .copy_from_slice(&data[(from - at) as usize..(to - at) as usize]);
                *edge = Some(whole);
            }
        }
        let mut lost = None;
        if let Some(n) = drive.canary {
            let before = self.pages_written;
            self.pages_written += behind - first;
            let due = (before / n + 1) * n.get() - before - 1;
            if first + due < behind {
                let mut whole = vec![0; page_bytes as usize];
                self.newest(Lpn((first + due) as u32), 0, &mut whole)?;
                lost = Some((first + due, whole));
            }
        }
        let completion = self.submit(drive, Op::Write, at, data.len() as u64)?;
        let last = self.served.device.last_version().0;
        for page in first..behind {
            let version = Tag(last - (behind - 1 - page) as u32);
            let edge = match page {
                page if lost.as_ref().is_some_and(|(lost, _)| *lost == page) => {
                    lost.as_ref().map(|(_, before)| before.as_slice())
                }
                page if page == first => edges[0].as_deref(),
                page if page == behind - 1 => edges[1].as_deref(),
                _ => None,
            };
            let bytes = edge.unwrap_or_else(|| {
                let from = (page * page_bytes - at) as usize;
                &data[from..from + page_bytes as usize]
            });
            if let Err(error) = self.payloads.write(version, Lpn(page as u32), bytes) {
                return Err(self.fail(format!("the store cannot be written ({error})")));
            }
        }
        self.follow()?;
        Ok(completion.completed)
    }

    fn read(&mut self, drive: &Drive, at: u64, bytes: &mut [u8]) -> Result<Nanos, Error> {
        let page_bytes = drive.page_bytes;
        let completion = self.submit(drive, Op::Read, at, bytes.len() as u64)?;
        let first = at / page_bytes;
        let found = self.served.device.versions_found().to_vec();
        let mut from = 0;
        for (page, version) in (first..).zip(found) {
            let begins = (at + from as u64) - page * page_bytes;
            let length = (page_bytes - begins).min((bytes.len() - from) as u64) as usize;
            let part = &mut bytes[from..from + length];
            self.bytes_of(Lpn(page as u32), version, begins as usize, part)?;
            from += length;
        }
        debug_assert_eq!(from, bytes.len(), "every page of a read is found in some version");
        self.follow()?;
        Ok(completion.completed)
    }
}

/// Puts onto a blank device what a store holds, and lets the scheme recover; how long that took.
fn restore(
    image: &Image,
    device: &mut dyn Device,
    payloads: &mut Payloads,
) -> Result<Nanos, String> {
    flash_image::read(&mut image.flash().as_slice(), device.board_mut().nand_mut())?;
    let pcm = device.pcm_mut();
    if pcm.len() != image.pcm.len() {
        return Err(format!(
            "it holds {} words of phase-change memory for {}",
            image.pcm.len(),
            pcm.len()
        ));
    }
    pcm.copy_from_slice(&image.pcm);
    let took =
        device.power_cycle().map_err(|error| format!("the scheme cannot recover: {error}"))?;
    // Recovery may have moved pages.
    let (nand, geometry) = (device.board().nand(), device.board().geometry());
    let carried: Vec<(u32, u32)> = (0..geometry.pages())
        .filter_map(|ppn| match nand.stored_page(Ppn(ppn)) {
            StoredPage::Data { tag, .. } => Some((ppn, tag.0)),
            _ => None,
        })
        .collect();
    payloads.restore(image.versions.clone(), &carried)?;
    device.start_measuring();
    Ok(took)
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
        self.in_parts((offset, bytes.len() as u64), |inner, at, length| {
            let from = (at - offset) as usize;
            inner.read(self, at, &mut bytes[from..from + length as usize])
        })
    }

    fn write(&self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), Error> {
        self.in_parts((offset, bytes.len() as u64), |inner, at, length| {
            let from = (at - offset) as usize;
            inner.write(self, at, &bytes[from..from + length as usize])
        })?;
        self.made_stable(fua)
    }

    fn flush(&self) -> Result<(), Error> {
        let mut inner = self.inner();
        let completed = inner.submit(self, Op::Flush, 0, 0)?.completed;
        inner.follow()?;
        inner.sync()?;
        drop(inner);
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
            if self.inner().served.device.locate(Lpn(page as u32)) != Location::Nowhere {
                self.write_zeroes(page * self.page_bytes, self.page_bytes)?;
            }
        }
        self.made_stable(fua)
    }

    fn status(&self, offset: u64, length: u32, extents: &mut Vec<Extent>) -> Result<(), Error> {
        let inner = self.inner();
        let (mut at, end) = (offset, offset + u64::from(length));
        let before = extents.len();
        while at < end {
            let page = at / self.page_bytes;
            let hole = inner.served.device.locate(Lpn(page as u32)) == Location::Nowhere;
            let next = end.min((page + 1) * self.page_bytes);
            let length_bytes = (next - at) as u32;
            let told = extents.len() - before;
            match extents[before..].last_mut() {
                Some(last) if last.hole == hole => last.length_bytes += length_bytes,
                _ if told == EXTENTS => break,
                _ => extents.push(Extent { length_bytes, hole, zero: hole }),
            }
            at = next;
        }
        Ok(())
    }
}
