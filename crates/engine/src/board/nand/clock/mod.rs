//! Time: what each operation books on which resource.
//!
//! `serial` is FlashSim's model: one server, operations one after another whatever their tokens.
//! `parallel` books cell time on the die (or plane) and transfers on the channel. Operations are
//! booked in call order, which is not the order of time: a two-step request (map read, then data
//! read) books its second step far ahead. Each resource therefore keeps its last few idle gaps, and
//! an operation takes the first that fits after its token.
//!
//! What the flash itself demands holds across requests, whatever their tokens: a page is read after
//! its program ended, pages of a block are programmed one after another and after its erase, and a
//! block is erased after everything that touched it.

mod resource;

use super::geometry::Geometry;
use crate::board::when::{Path, When};
use crate::config::{TimingProfile, TimingSettings};
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId, Ppn, zeroed};
use resource::Resource;

/// Busy time by kind of work, ns; independent of arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceTime {
    /// Cells being read.
    pub read: Nanos,
    /// Cells being programmed.
    pub program: Nanos,
    /// Blocks being erased.
    pub erase: Nanos,
    /// Channel transfers.
    pub transfer: Nanos,
    /// Waiting for a channel.
    pub bus_wait: Nanos,
    /// Controller time per host page.
    pub controller: Nanos,
    /// Controller time of searches.
    pub search: Nanos,
}

/// What the time between two moments was spent on; the parts sum to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSplit {
    /// Controller time per host page, and waiting for the controller.
    pub controller: Nanos,
    /// Operations on the map (translation, map blocks and updates in collection, checkpoints), with
    /// all their waits, cells and transfers.
    pub map: Nanos,
    /// Transfers of other operations, and waiting for channels.
    pub channel: Nanos,
    /// The rest: cells at work, and waiting for them.
    pub flash: Nanos,
}

/// Where an operation takes place.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The plane at work.
    pub plane: PlaneId,
    /// The page and its block; none for reads that find nothing.
    pub page: Option<(Ppn, BlockId)>,
}

impl Place {
    /// A plane, with no page in it that matters.
    pub fn plane(plane: PlaneId) -> Self {
        Place { plane, page: None }
    }
}

/// The clock of a device.
#[derive(Clone, Debug)]
pub struct Clock {
    serial: bool,
    read: Nanos,
    program: Nanos,
    erase: Nanos,
    transfer: Nanos,
    controller_page: Nanos,
    oob_read: Nanos,
    oob_write: Nanos,
    /// The one server of the serial profile is free from here; in the parallel profile, when the
    /// last request entered.
    server: Nanos,
    cells: Vec<Resource>,
    channels: Vec<Resource>,
    controller: Resource,
    cell_of_plane: Vec<u32>,
    channel_of_plane: Vec<u32>,
    /// When each page's program ends; empty in the serial profile.
    page_ready: Vec<Nanos>,
    /// When each block's last program or erase ends.
    block_written: Vec<Nanos>,
    /// When the last operation on each block ends.
    block_used: Vec<Nanos>,
    busy: ServiceTime,
    /// Serial profile: what was booked since the last admission.
    spent: PathSplit,
}

/// The shortest time that cells are ever booked for.
fn shortest_cell_time(timing: &TimingSettings) -> Nanos {
    let times =
        [timing.read.0, timing.program.0, timing.erase.0, timing.oob_read.0, timing.oob_write.0];
    times.into_iter().filter(|&time| time > 0).min().unwrap_or(0)
}

/// Later, after cells worked for `cause`.
#[inline]
fn passed(after: When, cause: Cause, done: Nanos) -> When {
    if cause.is_map() { after.until_by_map(done) } else { after.until(done) }
}

impl Clock {
    /// An idle clock at time 0.
    pub fn new(timing: &TimingSettings, geometry: &Geometry) -> Self {
        let planes = geometry.planes();
        let cell = |plane: u32| {
            if timing.plane_parallel { plane } else { geometry.die_of(PlaneId(plane)) }
        };
        let cells = if timing.plane_parallel { planes } else { geometry.dies() };
        let serial = timing.profile == TimingProfile::Serial;
        let per_page = |count: u32| zeroed(if serial { 0 } else { count as usize });
        Clock {
            serial,
            read: timing.read.0,
            program: timing.program.0,
            erase: timing.erase.0,
            transfer: timing.page_transfer.0,
            controller_page: timing.controller_page.0,
            oob_read: timing.oob_read.0,
            oob_write: timing.oob_write.0,
            server: 0,
            cells: vec![Resource::new(shortest_cell_time(timing)); cells as usize],
            channels: vec![Resource::new(timing.page_transfer.0); geometry.channels as usize],
            controller: Resource::new(timing.controller_page.0),
            cell_of_plane: (0..planes).map(cell).collect(),
            channel_of_plane: (0..planes).map(|p| geometry.channel_of(PlaneId(p))).collect(),
            page_ready: per_page(geometry.pages()),
            block_written: per_page(geometry.blocks()),
            block_used: per_page(geometry.blocks()),
            busy: ServiceTime::default(),
            spent: PathSplit::default(),
        }
    }

    /// Whether this is the serial profile.
    pub fn is_serial(&self) -> bool {
        self.serial
    }

    /// Busy time by kind so far.
    pub fn service_time(&self) -> ServiceTime {
        self.busy
    }

    /// Busy times are counted from zero again; what is booked stays booked.
    pub fn start_measuring(&mut self) {
        self.busy = ServiceTime::default();
    }

    /// A request enters the device; its operations may start from the returned moment.
    #[inline]
    pub fn admit(&mut self, time: Nanos) -> When {
        self.server = self.server.max(time);
        self.spent = PathSplit::default();
        When::at(time)
    }

    /// When a request is done whose last token is `when`.
    #[inline]
    pub fn completion(&self, when: When) -> Nanos {
        if self.serial { self.server } else { when.time() }
    }

    /// What the time from `start` (when the request's operations could begin) to the completion of
    /// its last token was spent on. In the serial profile: of the request admitted last.
    pub fn split(&self, start: Nanos, done: When) -> PathSplit {
        let mut rest = self.completion(done).saturating_sub(start);
        let mut take = |wanted: Nanos| {
            let taken = wanted.min(rest);
            rest -= taken;
            taken
        };
        let Path { controller, map, channel } = done.path();
        let spent = if self.serial {
            self.spent
        } else {
            let [controller, map, channel] = [controller, map, channel].map(Nanos::from);
            PathSplit { controller, map, channel, flash: 0 }
        };
        let (controller, map) = (take(spent.controller), take(spent.map));
        let channel = take(spent.channel);
        PathSplit { controller, map, channel, flash: rest }
    }

    #[inline]
    fn serve(&mut self, length: Nanos) -> When {
        self.server += length;
        When::at(self.server)
    }

    /// The server works for `cause`; `transfer` of `length` is spent on the channel.
    #[inline]
    fn serve_for(&mut self, cause: Cause, length: Nanos, transfer: Nanos) -> When {
        if cause.is_map() {
            self.spent.map += length;
        } else {
            self.spent.channel += transfer;
        }
        self.serve(length)
    }

    /// Controller time for one page of host data.
    #[inline]
    pub fn host_page(&mut self, after: When) -> When {
        if self.controller_page == 0 {
            return after;
        }
        self.busy.controller += self.controller_page;
        if self.serial {
            self.spent.controller += self.controller_page;
            return self.serve(self.controller_page);
        }
        let start = self.controller.book(after.time(), self.controller_page);
        after.until_by_controller(start + self.controller_page)
    }

    /// Controller time of a search.
    pub fn search(&mut self, length: Nanos, after: When) -> When {
        self.busy.search += length;
        if self.serial {
            return self.serve(length);
        }
        let start = self.controller.book(after.time(), length);
        When::at(start + length)
    }

    #[inline]
    fn cell(&mut self, plane: PlaneId) -> &mut Resource {
        &mut self.cells[self.cell_of_plane[plane.index()] as usize]
    }

    /// One page from the cells to the controller.
    #[inline]
    pub fn read_page(&mut self, at: Place, cause: Cause, after: When) -> When {
        self.busy.read += self.read;
        self.busy.transfer += self.transfer;
        if self.serial {
            return self.serve_for(cause, self.read + self.transfer, self.transfer);
        }
        let sensed = self.sense(at, cause, after, self.read);
        self.over_channel(at.plane, cause, sensed)
    }

    /// One page from the cells to the register, no further.
    pub fn read_cells(&mut self, at: Place, cause: Cause, after: When) -> When {
        self.busy.read += self.read;
        if self.serial {
            return self.serve_for(cause, self.read, 0);
        }
        self.sense(at, cause, after, self.read)
    }

    /// Cells at work for a read, after the page was programmed.
    #[inline]
    fn sense(&mut self, at: Place, cause: Cause, after: When, length: Nanos) -> When {
        let mut from = after.time();
        if let Some((ppn, _)) = at.page {
            from = from.max(self.page_ready[ppn.index()]);
        }
        let sensed = self.cell(at.plane).book(from, length) + length;
        if let Some((_, block)) = at.page {
            let used = &mut self.block_used[block.index()];
            *used = sensed.max(*used);
        }
        passed(after, cause, sensed)
    }

    #[inline]
    fn over_channel(&mut self, plane: PlaneId, cause: Cause, after: When) -> When {
        if self.transfer == 0 {
            return after;
        }
        let channel = &mut self.channels[self.channel_of_plane[plane.index()] as usize];
        let start = channel.book(after.time(), self.transfer);
        self.busy.bus_wait += start - after.time();
        let done = start + self.transfer;
        if cause.is_map() { after.until_by_map(done) } else { after.until_by_channel(done) }
    }

    /// One page from the controller to the cells, after the pages below it and the block's erase.
    #[inline]
    pub fn program_page(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        cause: Cause,
        after: When,
    ) -> When {
        self.busy.program += self.program;
        self.busy.transfer += self.transfer;
        if self.serial {
            return self.serve_for(cause, self.program + self.transfer, self.transfer);
        }
        let loaded = self.over_channel(plane, cause, after);
        let length = self.program;
        let from = loaded.time().max(self.block_written[block.index()]);
        let done = self.cell(plane).book(from, length) + length;
        self.page_ready[ppn.index()] = done;
        self.block_written[block.index()] = done;
        let used = &mut self.block_used[block.index()];
        *used = done.max(*used);
        passed(loaded, cause, done)
    }

    /// One block erased, after everything that touched it.
    #[inline]
    pub fn erase_block(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cause: Cause,
        after: When,
    ) -> When {
        self.busy.erase += self.erase;
        if self.serial {
            return self.serve_for(cause, self.erase, 0);
        }
        let length = self.erase;
        let from = after.time().max(self.block_used[block.index()]);
        let done = self.cell(plane).book(from, length) + length;
        self.block_written[block.index()] = done;
        self.block_used[block.index()] = done;
        passed(after, cause, done)
    }

    /// One out-of-band area read in normal operation.
    pub fn read_oob(&mut self, at: Place, cause: Cause, after: When) -> When {
        if self.oob_read == 0 {
            return after;
        }
        self.busy.read += self.oob_read;
        if self.serial {
            return self.serve_for(cause, self.oob_read, 0);
        }
        self.sense(at, cause, after, self.oob_read)
    }

    /// One page marked as superseded in its out-of-band area. Nothing waits for the mark, but the
    /// cells are busy with it, and the block is not erased before.
    #[inline]
    pub fn write_oob(&mut self, plane: PlaneId, block: BlockId) {
        if self.oob_write > 0 {
            self.book_mark(plane, block);
        }
    }

    #[cold]
    fn book_mark(&mut self, plane: PlaneId, block: BlockId) {
        let length = self.oob_write;
        self.busy.program += length;
        if self.serial {
            self.server += length;
            return;
        }
        // The newer version was programmed by the request that entered last.
        let from = self.server.max(self.block_written[block.index()]);
        let done = self.cell(plane).book(from, length) + length;
        let used = &mut self.block_used[block.index()];
        *used = done.max(*used);
    }

    /// When a plane's cells are free for good; what `dynamic` placement asks for.
    #[inline]
    pub fn free_from(&self, plane: PlaneId) -> Nanos {
        if self.serial {
            return self.server;
        }
        self.cells[self.cell_of_plane[plane.index()] as usize].tail
    }

    /// When everything booked so far is done.
    pub fn idle_from(&self) -> Nanos {
        if self.serial {
            return self.server;
        }
        let tails = self.cells.iter().chain(&self.channels).map(|r| r.tail);
        tails.max().unwrap_or(0).max(self.controller.tail)
    }
}

#[cfg(test)]
mod tests;
