//! Time: what each operation books on which resource.
//!
//! `serial` is FlashSim's model: one server, operations one after another whatever their tokens; a
//! request's device time is the sum of all that was booked before its call returned. `parallel`
//! books cell time on the die (or plane) and transfers on the channel. Operations are booked in
//! call order, which is not the order of time: a two-step request (map read, then data read) books
//! its second step far ahead. Each resource therefore keeps its last few idle gaps, and an
//! operation takes the first that fits after its token. Where commands can be joined, overtaken or
//! suspended, the cells keep their commands instead (`schedule.rs`).
//!
//! What the flash itself demands holds across requests, whatever their tokens: a page is read after
//! its program ended, pages of a block are programmed one after another and after its erase, and a
//! block is erased after everything that touched it.
//!
//! Under `timing.clock = event` no time is known before simulated time reaches it (`event/mod.rs`);
//! `later.rs` says what each operation is there. All ways of this clock are then closed but the
//! long one, which turns off where it would book.

mod companions;
mod event;
mod later;
mod memories;
mod operations;
mod ready;
mod repeat;
pub mod resource;
mod schedule;
mod short;
mod slc;
mod spent;
pub mod timeline;
mod together;

use super::geometry::Geometry;
use crate::board::settings::{ClockKind, TimingProfile, TimingSettings};
use crate::board::when::{Path, When};
use crate::settings::Durations;
use crate::units::{BlockId, Nanos, PlaneId};
use companions::Companions;
use event::Controller;
pub use event::Ended;
pub use memories::RamWork;
pub use operations::{Load, Place};
use ready::Ready;
pub use repeat::Booked;
use resource::Resource;
use schedule::{Rules, Schedule};
use slc::SlcTimes;
pub use spent::{CellOperations, PathSplit, ServiceTime};
use timeline::{Timeline, Unit, Work};

/// Cell time of a page operation.
#[derive(Clone, Debug)]
struct PageTime {
    one: Nanos,
    /// By page type: offset in the block modulo the length; empty: `one` for all.
    by_type: Vec<Nanos>,
}

impl PageTime {
    fn new(one: Nanos, by_type: &Durations) -> Self {
        PageTime { one, by_type: by_type.0.iter().map(|time| time.0).collect() }
    }

    #[inline]
    fn at(&self, offset: impl FnOnce() -> u32) -> Nanos {
        if self.by_type.is_empty() {
            return self.one;
        }
        self.by_type[offset() as usize % self.by_type.len()]
    }

    fn all(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.by_type.iter().copied().chain([self.one])
    }
}

/// Where a plane is.
#[derive(Clone, Copy, Debug)]
struct Site {
    cells: u32,
    channel: u32,
    /// Over the whole device.
    die: u32,
    /// In its die.
    plane: u32,
    unit: Unit,
}

/// How operations are booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// On one server, whatever page they are of.
    OneServer,
    /// On the cells and on the channel that a page needs, and nowhere else.
    CellsAndChannel,
    /// Whatever may come between, and a channel that takes no time left alone.
    Long,
}

/// The clock of a device.
#[derive(Clone, Debug)]
pub struct Clock {
    serial: bool,
    /// How operations are booked while nobody draws them.
    way: Way,
    read: PageTime,
    program: PageTime,
    erase: Nanos,
    slc: SlcTimes,
    /// A flash page over the channel.
    transfer: Nanos,
    /// A mapping unit over the channel.
    unit_transfer: Nanos,
    /// Logarithm of the mapping units of a flash page.
    unit_shift: u32,
    controller_page: Nanos,
    oob_read: Nanos,
    oob_write: Nanos,
    copyback: bool,
    copyback_same_parity: bool,
    pages_per_block: u32,
    /// The one server of the serial profile is free from here; in the parallel profile, when the
    /// last request entered.
    server: Nanos,
    /// When the program booked last ends (parallel).
    newest_program: Nanos,
    cells: Vec<Resource>,
    /// In place of `cells` where commands can be joined, overtaken or suspended; else empty.
    schedules: Vec<Schedule>,
    rules: Rules,
    /// Per die where programs can be joined; else empty.
    companions: Vec<Companions>,
    channels: Vec<Resource>,
    controller: Resource,
    ram: Resource,
    dram: Resource,
    sites: Vec<Site>,
    ready: Ready,
    /// When the page in each plane's register was sensed; empty where a read moves all of it.
    register_ready: Vec<Nanos>,
    /// When the program of the copyback under way ends, where its cells are booked already.
    booked_copy: Option<Nanos>,
    busy: ServiceTime,
    done: CellOperations,
    /// What was done on a short way, in neither of these two: each takes the same time.
    shortly: CellOperations,
    /// Serial profile: what was booked since the last admission.
    spent: PathSplit,
    timeline: Timeline,
    /// Where times are known only when they come.
    event: Option<Box<Controller>>,
    /// Cells of the device, each of which is a die, a plane or all dies of a channel.
    cells_stations: u32,
}

/// Idle gaps that a channel remembers. A collection books two transfers for each page of its
/// victim, a program apart; between them other dies of the channel must find room.
fn channel_gaps(geometry: &Geometry) -> usize {
    (4 * geometry.pages_per_block as usize).min(1024)
}

/// Commands of one die that are known at most: what collecting two blocks books ahead.
fn commands_kept(geometry: &Geometry) -> usize {
    (4 * geometry.pages_per_block as usize + 64).min(1024)
}

/// The planes of the device, and how many of them the cells are divided into.
fn sites(timing: &TimingSettings, geometry: &Geometry) -> (Vec<Site>, u32) {
    let site = |plane: u32| {
        let die = geometry.die_of(PlaneId(plane));
        let channel = geometry.channel_of(PlaneId(plane));
        let (cells, unit) = match (timing.plane_parallel, timing.die_interleave) {
            (true, _) => (plane, Unit::Plane(plane)),
            (false, true) => (die, Unit::Die(die)),
            (false, false) => (channel, Unit::Die(die)),
        };
        Site { cells, channel, die, plane: plane % geometry.planes_per_die, unit }
    };
    let sites: Vec<Site> = (0..geometry.planes()).map(site).collect();
    let cells = sites.last().map_or(0, |last| last.cells + 1);
    (sites, cells)
}

impl Clock {
    /// An idle clock at time 0.
    pub fn new(timing: &TimingSettings, geometry: &Geometry) -> Self {
        let serial = timing.profile == TimingProfile::Serial;
        let read = PageTime::new(timing.read.0, &timing.read_pages);
        let program = PageTime::new(timing.program.0, &timing.program_pages);
        let rules = Rules::new(timing);
        let (sites, cells) = sites(timing, geometry);
        let (plain, scheduled) = if rules.are_plain() { (cells, 0) } else { (0, cells) };
        let announced = if rules.join(Work::Program) { geometry.dies() } else { 0 };
        let others = [timing.erase.0, timing.oob_read.0, timing.oob_write.0];
        let dense_only = geometry.bits_per_cell == 1;
        let slc = SlcTimes::new(timing, if dense_only { 0 } else { geometry.blocks() });
        let times = read.all().chain(program.all()).chain(others).chain(slc.all());
        let shortest = times.filter(|&time| time > 0).min().unwrap_or(0);
        let per_page = |count: u32| if serial { 0 } else { count };
        let (pages, blocks) = (per_page(geometry.pages()), per_page(geometry.blocks()));
        let unit_transfer = timing.page_transfer.0 / u64::from(geometry.units_per_flash_page);
        let registers = if geometry.units_per_flash_page > 1 { geometry.planes() } else { 0 };
        let channel = |_| Resource::with_gaps(unit_transfer, channel_gaps(geometry));
        let alike = read.by_type.is_empty() && program.by_type.is_empty() && dense_only;
        let bare = scheduled == 0 && announced == 0 && registers == 0;
        let event = (timing.clock == ClockKind::Event && !serial)
            .then(|| Box::new(Controller::new(rules, cells, geometry)));
        let way = match (alike && event.is_none(), serial) {
            (true, true) => Way::OneServer,
            (true, false) if bare && timing.page_transfer.0 > 0 => Way::CellsAndChannel,
            _ => Way::Long,
        };
        Clock {
            serial,
            way,
            read,
            program,
            erase: timing.erase.0,
            slc,
            transfer: timing.page_transfer.0,
            unit_transfer,
            unit_shift: geometry.units_per_flash_page.trailing_zeros(),
            controller_page: timing.controller_page.0,
            oob_read: timing.oob_read.0,
            oob_write: timing.oob_write.0,
            copyback: timing.copyback,
            copyback_same_parity: timing.copyback_same_parity,
            pages_per_block: geometry.pages_per_block,
            server: 0,
            newest_program: 0,
            cells: (0..plain).map(|_| Resource::new(shortest)).collect(),
            schedules: (0..scheduled).map(|_| Schedule::new(commands_kept(geometry))).collect(),
            rules,
            companions: vec![Companions::default(); announced as usize],
            channels: (0..geometry.channels).map(channel).collect(),
            controller: Resource::new(timing.controller_page.0),
            ram: Resource::new(0),
            dram: Resource::new(timing.dram_access.0),
            sites,
            ready: Ready::new(pages, blocks, geometry),
            register_ready: vec![0; registers as usize],
            booked_copy: None,
            busy: ServiceTime::default(),
            done: CellOperations::default(),
            shortly: CellOperations::default(),
            spent: PathSplit::default(),
            timeline: Timeline::default(),
            event,
            cells_stations: cells,
        }
    }

    /// Whether a block is in SLC mode from now on.
    pub fn set_slc(&mut self, block: BlockId, slc: bool) {
        self.slc.set(block, slc);
    }

    /// Busy time by kind so far.
    pub fn service_time(&self) -> ServiceTime {
        let CellOperations { reads, programs, .. } = self.shortly;
        let mut busy = self.busy;
        busy.read += reads * self.read.one;
        busy.program += programs * self.program.one;
        busy.transfer += reads * self.unit_transfer + programs * self.transfer;
        busy.transfer_in += programs * self.transfer;
        busy.bus_wait += self.event.as_ref().map_or(0, |event| event.bus_wait());
        busy
    }

    /// Operations of the cells so far.
    pub fn cell_operations(&self) -> CellOperations {
        self.done.combined(&self.shortly, |long, short| long + short)
    }

    /// The record of what each unit did when.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// Busy times are counted from zero again; what is booked stays booked.
    pub fn start_measuring(&mut self) {
        self.busy = ServiceTime::default();
        self.done = CellOperations::default();
        self.shortly = CellOperations::default();
        if let Some(event) = &mut self.event {
            event.forget_bus_wait();
        }
    }

    /// A request enters the device; its operations may start from the returned moment. Whoever may
    /// have an event-driven clock lets it [enter](Clock::enter).
    #[inline]
    pub fn admit(&mut self, time: Nanos) -> When {
        self.server = self.server.max(time);
        self.spent = PathSplit::default();
        When::at(time)
    }

    /// An admitted request has crossed the link at `time`. The one server waits for it; parallel
    /// resources do not, because another request may be across earlier.
    #[inline]
    pub fn begin(&mut self, time: Nanos) -> When {
        if self.serial { self.admit(time) } else { When::at(time) }
    }

    /// When a request is done whose last token is `when`, which names a moment ([`Clock::settle`]).
    #[inline]
    pub fn completion(&self, when: When) -> Nanos {
        debug_assert!(self.serial || !when.is_pending(), "{when:?} is not known yet");
        if self.serial { self.server } else { when.time() }
    }

    /// The same where time has come to it: of what an event-driven clock was run to.
    ///
    /// # Panics
    /// When the token names operations that are not over.
    pub fn known(&self, when: When) -> Nanos {
        assert!(!when.is_pending(), "{when:?} is not known yet");
        self.completion(when)
    }

    /// What the time from `start` (when the request's operations could begin) to the completion of
    /// its last token was spent on. In the serial profile: of the request admitted last.
    #[inline]
    pub fn split(&self, start: Nanos, done: When) -> PathSplit {
        self.noted(done).within(self.completion(done).saturating_sub(start))
    }

    /// What was noted on the way to a token, which may be more than its request waited for
    /// ([`PathSplit::within`]).
    #[inline]
    pub fn noted(&self, done: When) -> PathSplit {
        if self.serial {
            return self.spent;
        }
        let Path { controller, map, buffer, channel } = done.path();
        let [controller, map, buffer, channel] =
            [controller, map, buffer, channel].map(Nanos::from);
        PathSplit { controller, map, buffer, channel, flash: 0 }
    }

    /// When a plane's cells are free for good; what `dynamic` placement asks for. Under an
    /// event-driven clock, when they would be if nothing else came.
    #[inline]
    pub fn free_from(&self, plane: PlaneId) -> Nanos {
        if self.serial {
            return self.server;
        }
        let cells = self.sites[plane.index()].cells as usize;
        if let Some(event) = &self.event {
            return event.free_from(cells as u32);
        }
        match self.schedules.get(cells) {
            Some(schedule) => schedule.tail(),
            None => self.cells[cells].tail,
        }
    }

    /// When everything booked so far is done; under an event-driven clock the present, which is
    /// that after [`Clock::run_to_rest`].
    pub fn idle_from(&self) -> Nanos {
        if self.serial {
            return self.server;
        }
        if let Some(event) = &self.event {
            return event.now();
        }
        let others = [&self.controller, &self.ram, &self.dram];
        let resources = self.cells.iter().chain(&self.channels).chain(others);
        let tails = resources.map(|resource| resource.tail);
        tails.chain(self.schedules.iter().map(Schedule::tail)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod operation_tests;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod short_tests;
#[cfg(test)]
mod suspend_tests;
#[cfg(test)]
mod tests;
