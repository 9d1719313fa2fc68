//! A device: host queue, then the buffer, then the scheme, then the meter.
//!
//! [`Ssd`] is generic over the scheme, so that nothing is dispatched below a request; but a buffer and
//! an audit ask whichever scheme there is, page by page.

use std::ops::ControlFlow;

use crate::audit::{Audit, Whole};
use crate::buffer::{Below, Front};
use crate::contents::Contents;
pub use crate::device::{Device, DeviceError, Served};
use crate::fit;
use crate::host::settings::Hints;
use crate::later::Later;
use crate::ledger::Ledger;
use crate::outstanding::Outstanding;
use crate::page_split::PageSplit;
use crate::settings::SsdSettings;
use chunk::Alike;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::clock::PathSplit;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{Completion, Op, PageIo, Request, RequestShape, Unreadable};
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Nanos, PlaneId, Tag};
use ftlab_ftl::answers::{Location, Room};
use ftlab_ftl::parts::page_space::settings::GcMode;
use ftlab_ftl::scheme::{Scheme, SchemeConfig};

mod caches;
mod chunk;
mod gaps;
mod later;
mod power;
mod taken;
mod taking;
mod versions;

/// A device under one scheme. It begins on a line of the cache, wherever it lies.
#[derive(Clone)]
#[repr(align(64))]
pub struct Ssd<S: Scheme> {
    board: Board,
    /// None only while a recovery is under way or after it was cut itself.
    scheme: Option<S>,
    /// What takes the host's data first.
    buffer: Option<Front>,
    survivor: Option<S::Survivor>,
    config: SsdSettings,
    /// What the scheme sees of it, and its own settings.
    seen: SchemeConfig<S::Settings>,
    seed: u64,
    streams: u32,
    /// What a request says about where its data belongs.
    hints: Hints,
    /// Where units say which part of a workload a request is of, too: the unit is the remainder.
    unit_stride: Option<u32>,
    outstanding: Outstanding,
    last_completion: Nanos,
    /// The device's clock when measuring began: time 0 of arrivals and completions.
    epoch: Nanos,
    split: PageSplit,
    next_tag: u32,
    /// What was written, where the scheme looks at it.
    contents: Contents,
    ledger: Ledger,
    /// Pages of the present request that could not be read.
    unreadable: Option<Unreadable>,
    obey_trims: bool,
    /// Whether the scheme works in gaps between requests.
    idle_work: bool,
    /// Requests in chunks that are left to be counted together.
    alike: Alike,
    /// Where completions are known only when their time comes: requests that wait for theirs.
    later: Option<Box<Later>>,
}

/// What whoever asks for the scheme relies on.
const RECOVERED: &str = "the scheme is there unless a recovery was cut";

impl<S: Scheme> Ssd<S> {
    /// A formatted device; fails when the settings do not fit together.
    ///
    /// # Errors
    /// Says which settings do not, and what is legal.
    pub fn new(config: &SsdSettings, own: S::Settings, seed: u64) -> Result<Self, SettingError> {
        config.check()?;
        let seen = fit::seen::<S>(config, own);
        fit::check::<S>(config, &seen)?;
        let minimum = S::minimum_blocks(&seen);
        if config.usable_blocks() < minimum {
            return Err(config.too_few_blocks(S::PAPER.name, minimum));
        }
        let mut board = Board::new(config, seed, S::payload_pages(&seen));
        board.furnish(&S::ram_use(&seen));
        let depth = config.queue_depth() as usize;
        board.connect(config.host.link((depth, S::host_copies(&seen) as usize)));
        let scheme = S::format(&mut board, &seen, seed).map_err(|fault| {
            SettingError::Conflict(format!("{} could not be formatted: {fault}", S::PAPER.name))
        })?;
        let geometry = board.geometry();
        let mut ssd = Ssd {
            scheme: Some(scheme),
            buffer: Front::new(
                &board,
                &config.buffer,
                &config.buffers,
                config.device.ram_nonvolatile,
            ),
            survivor: None,
            seed,
            streams: config.host.streams,
            hints: config.host.hints,
            unit_stride: None,
            outstanding: Outstanding::new(depth),
            last_completion: 0,
            epoch: 0,
            split: PageSplit::new(geometry, config.io.partial_write),
            next_tag: 0,
            contents: Contents::default(),
            ledger: Ledger::new(geometry.logical_pages),
            unreadable: None,
            obey_trims: config.io.trim,
            idle_work: config.gc.mode != GcMode::Foreground
                || config.repairs()
                || S::works_in_gaps(&seen),
            alike: Alike::default(),
            later: board.nand().clock().is_event_driven().then(|| Box::new(Later::new(depth))),
            config: config.clone(),
            seen,
            board,
        };
        // What comes now may be preparation: the scheme is told when measuring is asked for.
        ssd.forget_measured();
        Ok(ssd)
    }

    /// The scheme, for tests that look inside.
    pub fn scheme(&self) -> &S {
        self.scheme.as_ref().expect(RECOVERED)
    }

    /// The device as an audit looks at it; none where the scheme did not recover.
    fn whole(&self) -> Option<Whole<'_>> {
        let (board, buffer, ledger) = (&self.board, self.buffer.as_ref(), &self.ledger);
        self.scheme.as_ref().map(|scheme| Whole { board, scheme, buffer, ledger })
    }

    /// Counts and times begin anew.
    fn forget_measured(&mut self) {
        self.come_to_rest();
        self.epoch = self.absolute_idle_from().max(self.board.pcm_idle_from());
        self.last_completion = self.epoch;
        self.board.start_measuring();
        self.outstanding.clear();
        self.ledger.start_measuring();
    }

    /// The buffer, if there is one, and what is below it.
    #[inline(always)]
    fn parts(&mut self) -> (Option<&mut Front>, Below<'_, S>) {
        let scheme = self.scheme.as_mut();
        let below = Below {
            scheme: scheme.expect(RECOVERED),
            board: &mut self.board,
            ledger: &mut self.ledger,
        };
        (self.buffer.as_mut(), below)
    }

    /// When everything is done, on the device's own clock.
    fn absolute_idle_from(&self) -> Nanos {
        self.board.nand().clock().idle_from().max(self.last_completion)
    }

    /// When a request enters the device that may do so from `at`. In the serial profile that is
    /// not before the server is free, for example of an idle step that overran the arrival.
    #[inline(always)]
    fn admit(&mut self, at: Nanos) -> (Nanos, When) {
        let admitted = self.outstanding.admit(at);
        let clock = self.board.nand_mut().clock_mut();
        let start = clock.admit(admitted);
        (clock.completion(start).max(admitted), start)
    }

    /// When an admitted request has crossed the link, and the token from which its pages start.
    #[inline]
    fn send_command(&mut self, request: &Request, admitted: Nanos, start: When) -> (Nanos, When) {
        let stays_in_host = S::MAPS_IN_HOST && request.op == Op::Trim;
        if self.board.link().is_free() || stays_in_host {
            return (admitted, start);
        }
        let sectors = if request.op == Op::Write { request.sectors } else { 0 };
        let sent = self.board.link_mut().send(admitted, sectors);
        (sent, self.board.nand_mut().clock_mut().begin(sent))
    }

    #[inline(always)]
    fn serve<const PLAIN: bool>(
        &mut self,
        request: &Request,
        (first, pages): (u32, u32),
        start: When,
    ) -> Result<When, DeviceError> {
        if request.op == Op::Flush {
            return self.serve_flush(start);
        }
        let sectors = request.sectors;
        let hint = self.hints.of(request, self.unit_stride);
        let shape = RequestShape { first_lpn: Lpn(first), pages, index: 0, sectors, hint };
        let mut done = start.join(self.serve_page::<PLAIN>(request, shape, start)?);
        for index in 1..pages {
            let other = RequestShape { index, ..shape };
            done = done.join(self.serve_page::<PLAIN>(request, other, start)?);
            if !PLAIN {
                done = self.board.nand_mut().clock_mut().narrow(done);
            }
        }
        Ok(done)
    }

    #[cold]
    fn serve_flush(&mut self, start: When) -> Result<When, DeviceError> {
        let (buffer, mut below) = self.parts();
        let written = match buffer {
            Some(buffer) => buffer.flush(&mut below.any(), start)?,
            None => start,
        };
        Ok(below.scheme.flush(below.board, written)?)
    }

    #[inline(always)]
    fn serve_page<const PLAIN: bool>(
        &mut self,
        whole: &Request,
        request: RequestShape,
        start: When,
    ) -> Result<When, DeviceError> {
        let lpn = Lpn(request.first_lpn.0 + request.index);
        let sectors = self.split.sectors(whole, lpn.0);
        let mut io = PageIo { lpn, sectors, cause: Cause::Host, data: Tag(0), request };
        match whole.op {
            Op::Read => self.read_page::<PLAIN>(&io, start),
            Op::Write => {
                io.data = self.version_of_write(whole, lpn)?;
                self.write_page::<PLAIN>(&io, start)
            }
            Op::Trim => self.trim_page(&io, whole, start),
            Op::Flush => unreachable!("a flush has no pages"),
        }
    }

    /// Serves a request that began at `begun`, then does what the scheme has to do behind it. When
    /// the request was done, and what was noted of its time.
    #[inline(always)]
    fn serve_and_settle<const PLAIN: bool>(
        &mut self,
        request: &Request,
        pages: (u32, u32),
        (begun, start): (Nanos, When),
    ) -> Result<(Nanos, PathSplit), DeviceError> {
        let done = self.serve::<PLAIN>(request, pages, start)?;
        let clock = self.board.nand().clock();
        let times = (clock.completion(done).max(begun), clock.noted(done));
        let (_, below) = self.parts();
        below.scheme.behind_request(below.board, done)?;
        if !PLAIN && self.idle_work && self.board.nand_mut().must_refresh(done) {
            self.refresh_at_once(done)?;
        }
        Ok(times)
    }

    #[inline(always)]
    fn read_page<const PLAIN: bool>(
        &mut self,
        io: &PageIo,
        start: When,
    ) -> Result<When, DeviceError> {
        let (buffer, mut below) = self.parts();
        let ready = below.board.nand_mut().clock_mut().host_page(start);
        let (done, found) = match buffer {
            Some(buffer) if !PLAIN => buffer.read(&mut below.any(), io, ready)?,
            _ => below.scheme.read(below.board, io, ready)?,
        };
        if !PLAIN {
            self.ledger.found(found);
        }
        if found == Tag::UNREADABLE {
            self.note_unreadable(io.lpn)?;
            return Ok(done);
        }
        if let Some(expected) = self.ledger.expected(io.lpn) {
            self.ledger.compared();
            if expected != found {
                return Err(DeviceError::WrongData { lpn: io.lpn, expected, found });
            }
        }
        Ok(done)
    }

    #[inline(always)]
    fn write_page<const PLAIN: bool>(
        &mut self,
        io: &PageIo,
        start: When,
    ) -> Result<When, DeviceError> {
        let (buffer, mut below) = self.parts();
        let ready = below.board.nand_mut().clock_mut().host_page(start);
        let done = match buffer {
            Some(buffer) if !PLAIN => buffer.write(&mut below.any(), io, ready)?,
            _ => below.scheme.write(below.board, io, ready)?,
        };
        self.ledger.wrote(io.lpn, io.data);
        Ok(done)
    }

    fn trim_page(
        &mut self,
        io: &PageIo,
        request: &Request,
        start: When,
    ) -> Result<When, DeviceError> {
        // A page is only forgotten as a whole; a trim of part of it is ignored, as drives do.
        if !self.obey_trims || !self.split.covers(request, io.lpn.0) {
            return Ok(start);
        }
        let shape = self.split.covered(request, io.lpn.0, io.request);
        let (buffer, below) = self.parts();
        if let Some(buffer) = buffer {
            buffer.trim(below.board, io.lpn);
        }
        let io = PageIo { request: shape, ..*io };
        let done = below.scheme.trim(below.board, &io, start)?;
        self.ledger.forgot(io.lpn);
        Ok(done)
    }
}

impl<S: Scheme> Device for Ssd<S> {
    fn submit(&mut self, request: &Request) -> Result<Completion, DeviceError> {
        self.submit_at(request, request.arrival)
    }

    fn submit_at(&mut self, request: &Request, at: Nanos) -> Result<Completion, DeviceError> {
        match self.later {
            Some(_) => self.submit_and_wait(request, at),
            None => {
                self.count_alike();
                self.submit_one(request, at)
            }
        }
    }

    fn submit_all(
        &mut self,
        requests: &mut [Request],
        served: &mut Served,
    ) -> Result<(), DeviceError> {
        match self.is_plain() {
            _ if self.later.is_some() => self.submit_row_for_later(requests, served),
            true => self.submit_plain_row(requests, served),
            false => self.submit_row(requests, served),
        }
    }

    fn complete_all(&mut self, served: &mut Served) {
        self.count_alike();
        self.complete_rest(served);
    }

    fn next_slot(&self) -> Nanos {
        if self.later.is_some() {
            return self.board.nand().clock().now().saturating_sub(self.epoch);
        }
        self.slot_free_from()
    }

    fn ready_from(&self, request: &Request) -> Nanos {
        let nand = self.board.nand();
        let free_from = |plane| nand.plane_free_from(plane);
        let from = if request.op == Op::Read && self.split.check_range(request).is_ok() {
            let lpn = Lpn(self.split.page_of(request.first_sector) as u32);
            match self.find(lpn) {
                Location::Flash(ppn) => free_from(nand.geometry().plane_of(ppn)),
                Location::Ram(_) => 0,
                Location::Nowhere => free_from(nand.geometry().home_plane(lpn)),
            }
        } else {
            (0..nand.geometry().planes()).map(|plane| free_from(PlaneId(plane))).min().unwrap_or(0)
        };
        from.saturating_sub(self.epoch)
    }

    fn start_measuring(&mut self) {
        self.forget_measured();
        self.board.nand_mut().count_until_die_fails();
        if let Some(scheme) = &mut self.scheme {
            scheme.measuring_begins(&mut self.board);
        }
    }

    fn audit_while(
        &self,
        noted: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Audit>, String> {
        let whole = self.whole().ok_or("the scheme did not recover")?;
        whole.audit(S::payload_pages(&self.seen), noted)
    }

    fn board(&self) -> &Board {
        &self.board
    }

    fn board_mut(&mut self) -> &mut Board {
        self.count_alike();
        &mut self.board
    }

    fn config(&self) -> &SsdSettings {
        &self.config
    }

    fn room(&self) -> Room {
        self.scheme().room()
    }

    fn verified_reads(&self) -> u64 {
        self.ledger.verified_reads()
    }

    fn last_version(&self) -> Tag {
        Tag(self.next_tag)
    }

    fn units_have_stride(&mut self, stride: u32) {
        self.unit_stride = Some(stride);
    }

    fn note_versions(&mut self) {
        self.ledger.note_found();
    }

    fn versions_found(&self) -> &[Tag] {
        self.ledger.all_found()
    }

    fn is_written(&self, lpn: Lpn) -> bool {
        self.ledger.is_written(lpn)
    }

    fn locate(&self, lpn: Lpn) -> Location {
        self.find(lpn)
    }

    fn idle_from(&self) -> Nanos {
        self.absolute_idle_from() - self.epoch
    }

    fn measured_from(&self) -> Nanos {
        self.epoch
    }

    fn pcm(&self) -> &[u32] {
        self.scheme().pcm()
    }

    fn pcm_mut(&mut self) -> &mut [u32] {
        self.scheme.as_mut().expect(RECOVERED).pcm_mut()
    }

    fn power_cycle(&mut self) -> Result<Nanos, DeviceError> {
        self.cycle_power()
    }

    fn changed_entries(&self) -> u64 {
        self.scheme().changed_entries()
    }

    fn clean_caches(&mut self) -> Result<u64, DeviceError> {
        self.write_caches_back()
    }

    fn verify_reads(&mut self) {
        self.ledger.verify(self.board.geometry().logical_pages);
    }

    fn duplicate(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
