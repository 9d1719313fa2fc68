//! The device and the bytes behind what it finds: what one request does to both, to the store and
//! to the record.
//!
//! The gate's record of operations, drained behind each request, is what the drive knows of its
//! flash; whoever does not serve pays nothing for it. Reads are answered with the versions that the
//! scheme found (`Device::versions_found`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use ftlab_engine::board::nand::record::{Change, Operation};
use ftlab_engine::board::nand::restore::StoredPage;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos, Ppn, SECTOR_BYTES, Tag};
use ftlab_lab::{Served, flash_image};
use ftlab_nbd::Error;
use ftlab_trace::{Record, TraceWriter};

use crate::pace::Pace;
use crate::payloads::Payloads;
use crate::store::{Flush, Group, Image, Store};
use crate::watched::Watched;

/// Versions are numbers of 32 bits; so many are left when writing ends.
const VERSIONS_LEFT: u32 = 1 << 20;

/// Bytes of slots that may wait for a flush; then the store is flushed without being asked to.
const WAITING_BYTES: u64 = 64 << 20;

/// What requests reach one after another.
pub struct Medium {
    pub served: Served,
    pub page_bytes: u64,
    pub pace: Pace,
    /// When the clients' time began.
    pub began: Instant,
    /// Loses every so manieth page.
    pub canary: Option<NonZero<u64>>,
    /// What is written down for whoever watches, if anybody does.
    pub watched: Option<Watched>,
    pub payloads: Payloads,
    /// The last version that preparing wrote: nobody knows its data, which reads as zeroes.
    pub prepared: Tag,
    pub operations: Vec<Operation>,
    pub changes: Vec<Change>,
    pub arrival: Nanos,
    pub completed: Nanos,
    pub requests: u64,
    /// How many there were at the last flush.
    pub flushed_requests: u64,
    /// Counted where some of them are lost.
    pub pages_written: u64,
    /// A bit for every logical page that was read or written.
    pub touched: Vec<u64>,
    pub store: Option<Store>,
    pub group: Group,
    /// Words of phase-change memory as the store has them.
    pub pcm: Vec<u32>,
    pub record: Option<TraceWriter<BufWriter<File>>>,
    /// When the first request arrived.
    pub first_arrival: Nanos,
    /// Why nothing is served any more.
    pub broken: Option<String>,
}

impl Medium {
    /// Whether anything is served: a device that broke is asked nothing any more.
    pub fn serves(&self) -> Result<(), Error> {
        if self.broken.is_none() { Ok(()) } else { Err(Error::Io) }
    }

    /// Brings a request to the device, and follows what that does to its flash. Bytes are those of
    /// whole sectors around the stretch.
    pub fn submit(&mut self, op: Op, at: u64, length: u64) -> Result<Completion, Error> {
        self.serves()?;
        let first_sector = at / SECTOR_BYTES;
        let sectors = ((at + length).div_ceil(SECTOR_BYTES) - first_sector) as u32;
        let device = &mut self.served.device;
        let now = match self.pace {
            Pace::Off => device.next_slot(),
            Pace::Real(_) => self.pace.simulated(self.began.elapsed()),
        };
        self.arrival = self.arrival.max(now);
        let request = Request {
            arrival: self.arrival,
            op,
            first_sector,
            sectors,
            unit: 0,
            stream: None,
            content: None,
        };
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
        if let Some(watched) = &mut self.watched {
            watched.begin(self.requests, (op, at, length), &completion);
        }
        if matches!(op, Op::Read | Op::Write) {
            for page in at / self.page_bytes..(at + length).div_ceil(self.page_bytes) {
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
            let record = record.write(&Record {
                time_ns,
                op,
                offset_bytes,
                size_bytes,
                unit: 0,
                stream: None,
                content: None,
            });
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
    pub fn follow(&mut self) -> Result<(), Error> {
        let nand = self.served.device.board_mut().nand_mut();
        nand.record_mut().drain(&mut self.operations, &mut self.changes);
        let (nand, payloads) = (&*nand, &mut self.payloads);
        if let Some(watched) = &mut self.watched {
            watched.follow(&self.operations, nand.geometry());
        }
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
            self.tell_store().map_err(|error| self.store_failed(&error))?;
        }
        let device = &self.served.device;
        self.payloads.look_through(|lpn, version| device.locate(lpn) == Location::Ram(version));
        let (appended, flushed) = self.store.as_ref().map_or((0, 0), Store::told);
        self.payloads.settle(appended, flushed);
        if self.payloads.waiting_bytes() > WAITING_BYTES {
            self.sync()?;
        }
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
                Change::Superseded(ppn) | Change::PassedOver(ppn) | Change::Lost(ppn) => {
                    let _ = pages.insert(ppn);
                }
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

    pub fn checkpoint(&mut self) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        store.checkpoint(self.served.device.as_ref(), self.prepared, &self.payloads)
    }

    /// What was answered stays when the machine stops.
    fn sync(&mut self) -> Result<(), Error> {
        let synced = self.flush().map_or(Ok(()), |flush| flush.run());
        synced.map_err(|error| self.store_failed(&error))
    }

    /// What makes that so, for whoever does not want to hold others up meanwhile.
    pub fn flush(&self) -> Option<Flush> {
        self.store.as_ref().map(Store::flush)
    }

    pub fn store_failed(&mut self, error: &io::Error) -> Error {
        self.fail(format!("the store cannot be written ({error})"))
    }

    /// The newest data of a page, from byte `from` of it on.
    fn newest(&mut self, lpn: Lpn, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let state = self.served.device.board().nand().state();
        let version = match self.served.device.locate(lpn) {
            Location::Flash(ppn) => state.version(ppn),
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

    pub fn write(&mut self, at: u64, data: &[u8]) -> Result<Nanos, Error> {
        self.serves()?;
        let page_bytes = self.page_bytes;
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
        if let Some(n) = self.canary {
            let before = self.pages_written;
            self.pages_written += behind - first;
            let due = (before / n + 1) * n.get() - before - 1;
            if first + due < behind {
                let mut whole = vec![0; page_bytes as usize];
                self.newest(Lpn((first + due) as u32), 0, &mut whole)?;
                lost = Some((first + due, whole));
            }
        }
        let completion = self.submit(Op::Write, at, data.len() as u64)?;
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
                return Err(self.store_failed(&error));
            }
        }
        self.follow()?;
        Ok(completion.completed)
    }

    pub fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<Nanos, Error> {
        let page_bytes = self.page_bytes;
        let completion = self.submit(Op::Read, at, bytes.len() as u64)?;
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
pub fn restore(
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
    let carried: Vec<(u32, u32, bool)> = (0..geometry.pages())
        .filter_map(|ppn| match nand.stored_page(Ppn(ppn)) {
            StoredPage::Data { tag, unreadable, .. } => {
                let is_newest = nand.state().is_valid(Ppn(ppn)) && !unreadable;
                Some((ppn, tag.0, is_newest && tag.0 > image.prepared))
            }
            _ => None,
        })
        .collect();
    payloads.restore(image.versions.clone(), &carried)?;
    device.start_measuring();
    Ok(took)
}
