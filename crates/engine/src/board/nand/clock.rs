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

use super::geometry::Geometry;
use crate::board::when::When;
use crate::config::{TimingProfile, TimingSettings};
use crate::units::{BlockId, Nanos, PlaneId, Ppn, zeroed};

/// Idle gaps that a resource remembers; with fewer, cached-map schemes lose throughput that a real
/// device would give them.
const GAPS: usize = 16;

/// One thing that does one operation at a time.
#[derive(Clone, Debug, Default)]
struct Resource {
    /// Free from here on.
    tail: Nanos,
    /// Idle spans before the tail, oldest first, `gap_count` of them.
    gaps: [(Nanos, Nanos); GAPS],
    gap_count: usize,
    /// Gaps below this length serve nobody.
    shortest: Nanos,
}

impl Resource {
    /// Idle; no operation on it is shorter than `shortest`.
    fn new(shortest: Nanos) -> Self {
        Resource { shortest, ..Resource::default() }
    }

    /// Books `length` as early as possible at or after `after`; returns the start.
    #[inline]
    fn book(&mut self, after: Nanos, length: Nanos) -> Nanos {
        if after < self.tail
            && self.gap_count > 0
            && let Some(start) = self.book_in_gap(after, length)
        {
            return start;
        }
        let start = self.tail.max(after);
        if start > self.tail {
            self.remember(self.gap_count, (self.tail, start));
        }
        self.tail = start + length;
        start
    }

    fn book_in_gap(&mut self, after: Nanos, length: Nanos) -> Option<Nanos> {
        let index =
            (0..self.gap_count).find(|&i| self.gaps[i].0.max(after) + length <= self.gaps[i].1)?;
        let (gap_start, gap_end) = self.gaps[index];
        let start = gap_start.max(after);
        self.gaps.copy_within(index + 1..self.gap_count, index);
        self.gap_count -= 1;
        // What is left behind the operation first, so that `index` stays right for what is left
        // before it.
        self.remember(index, (start + length, gap_end));
        self.remember(index, (gap_start, start));
        Some(start)
    }

    /// Inserts a gap in time order; the oldest is forgotten when there is no room.
    fn remember(&mut self, mut place: usize, gap: (Nanos, Nanos)) {
        if gap.1 - gap.0 < self.shortest.max(1) {
            return;
        }
        if self.gap_count == GAPS {
            if place == 0 {
                return;
            }
            self.gaps.copy_within(1..GAPS, 0);
            self.gap_count -= 1;
            place -= 1;
        }
        self.gaps.copy_within(place..self.gap_count, place + 1);
        self.gaps[place] = gap;
        self.gap_count += 1;
    }
}

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
}

/// The shortest time that cells are ever booked for.
fn shortest_cell_time(timing: &TimingSettings) -> Nanos {
    let times =
        [timing.read.0, timing.program.0, timing.erase.0, timing.oob_read.0, timing.oob_write.0];
    times.into_iter().filter(|&time| time > 0).min().unwrap_or(0)
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
        When::at(time)
    }

    /// When a request is done whose last token is `when`.
    #[inline]
    pub fn completion(&self, when: When) -> Nanos {
        if self.serial { self.server } else { when.time() }
    }

    #[inline]
    fn serve(&mut self, length: Nanos) -> When {
        self.server += length;
        When::at(self.server)
    }

    /// Controller time for one page of host data.
    #[inline]
    pub fn host_page(&mut self, after: When) -> When {
        if self.controller_page == 0 {
            return after;
        }
        self.busy.controller += self.controller_page;
        if self.serial {
            return self.serve(self.controller_page);
        }
        let start = self.controller.book(after.time(), self.controller_page);
        When::at(start + self.controller_page)
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
    pub fn read_page(&mut self, at: Place, after: When) -> When {
        self.busy.read += self.read;
        self.busy.transfer += self.transfer;
        if self.serial {
            return self.serve(self.read + self.transfer);
        }
        let sensed = self.sense(at, after, self.read);
        When::at(self.over_channel(at.plane, sensed))
    }

    /// One page from the cells to the register, no further.
    pub fn read_cells(&mut self, at: Place, after: When) -> When {
        self.busy.read += self.read;
        if self.serial {
            return self.serve(self.read);
        }
        When::at(self.sense(at, after, self.read))
    }

    /// Cells at work for a read, after the page was programmed.
    #[inline]
    fn sense(&mut self, at: Place, after: When, length: Nanos) -> Nanos {
        let mut from = after.time();
        if let Some((ppn, _)) = at.page {
            from = from.max(self.page_ready[ppn.index()]);
        }
        let sensed = self.cell(at.plane).book(from, length) + length;
        if let Some((_, block)) = at.page {
            let used = &mut self.block_used[block.index()];
            *used = sensed.max(*used);
        }
        sensed
    }

    #[inline]
    fn over_channel(&mut self, plane: PlaneId, after: Nanos) -> Nanos {
        if self.transfer == 0 {
            return after;
        }
        let channel = &mut self.channels[self.channel_of_plane[plane.index()] as usize];
        let start = channel.book(after, self.transfer);
        self.busy.bus_wait += start - after;
        start + self.transfer
    }

    /// One page from the controller to the cells, after the pages below it and the block's erase.
    #[inline]
    pub fn program_page(&mut self, plane: PlaneId, ppn: Ppn, block: BlockId, after: When) -> When {
        self.busy.program += self.program;
        self.busy.transfer += self.transfer;
        if self.serial {
            return self.serve(self.program + self.transfer);
        }
        let loaded = self.over_channel(plane, after.time());
        let length = self.program;
        let from = loaded.max(self.block_written[block.index()]);
        let done = self.cell(plane).book(from, length) + length;
        self.page_ready[ppn.index()] = done;
        self.block_written[block.index()] = done;
        let used = &mut self.block_used[block.index()];
        *used = done.max(*used);
        When::at(done)
    }

    /// One block erased, after everything that touched it.
    #[inline]
    pub fn erase_block(&mut self, plane: PlaneId, block: BlockId, after: When) -> When {
        self.busy.erase += self.erase;
        if self.serial {
            return self.serve(self.erase);
        }
        let length = self.erase;
        let from = after.time().max(self.block_used[block.index()]);
        let done = self.cell(plane).book(from, length) + length;
        self.block_written[block.index()] = done;
        self.block_used[block.index()] = done;
        When::at(done)
    }

    /// One out-of-band area read in normal operation.
    pub fn read_oob(&mut self, at: Place, after: When) -> When {
        if self.oob_read == 0 {
            return after;
        }
        self.busy.read += self.oob_read;
        if self.serial {
            return self.serve(self.oob_read);
        }
        When::at(self.sense(at, after, self.oob_read))
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
mod tests {
    use super::*;

    #[test]
    fn a_later_booking_leaves_a_gap_that_an_earlier_token_fills() {
        let mut die = Resource::default();
        assert_eq!(die.book(100, 10), 100);
        assert_eq!(die.book(0, 40), 0, "the gap before 100 is used");
        assert_eq!(die.book(0, 70), 110, "what does not fit goes to the end");
        assert_eq!(die.book(0, 60), 40, "the rest of the gap is exactly 60 long");
        assert_eq!(die.book(0, 1), 180);
    }

    #[test]
    fn bookings_never_overlap() {
        let mut rng = crate::rng::Rng::new(3, crate::rng::Purpose::Workload);
        let mut die = Resource::default();
        let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
        for round in 0..2_000u64 {
            let after = round * 5 + u64::from(rng.below(200));
            let length = 1 + u64::from(rng.below(20));
            let start = die.book(after, length);
            assert!(start >= after);
            spans.push((start, start + length));
        }
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].1 <= w[1].0), "two operations at once");
    }

    /// A closed loop of random two-step requests (map read, then data read), one number per read:
    /// the plane.
    fn two_steps(count: usize, planes: u32) -> Vec<[u32; 2]> {
        let mut rng = crate::rng::Rng::new(17, crate::rng::Purpose::Workload);
        (0..count).map(|_| [rng.below(planes), rng.below(planes)]).collect()
    }

    fn device() -> (Clock, Geometry) {
        let mut config = crate::config::Config::default();
        let pairs = [
            ("device.channels", "4"),
            ("device.dies", "4"),
            ("timing.profile", "parallel"),
            ("timing.read", "50us"),
            ("timing.page_transfer", "10us"),
        ];
        for (key, value) in pairs {
            config.set(key, value).expect("legal settings");
        }
        let geometry = Geometry::new(&config.device);
        (Clock::new(&config.timing, &geometry), geometry)
    }

    /// Requests per second of the booking clock.
    fn booked(requests: &[[u32; 2]], depth: usize) -> f64 {
        let (mut clock, _) = device();
        let mut outstanding = std::collections::BinaryHeap::new();
        let mut last = 0;
        for request in requests {
            let mut now = 0;
            if outstanding.len() == depth {
                let std::cmp::Reverse(done) = outstanding.pop().expect("a full queue");
                now = done;
            }
            let map = clock.read_page(Place::plane(PlaneId(request[0])), When::at(now));
            let data = clock.read_page(Place::plane(PlaneId(request[1])), map);
            outstanding.push(std::cmp::Reverse(data.time()));
            last = last.max(data.time());
        }
        requests.len() as f64 / last as f64 * 1e9
    }

    /// The same, event by event: every resource serves its queue in the order of arrival.
    fn event_driven(requests: &[[u32; 2]], depth: usize) -> f64 {
        use std::cmp::Reverse;
        let (_, geometry) = device();
        let dies = geometry.dies() as usize;
        let mut free_from = vec![0u64; dies + geometry.channels as usize];
        // Time, order, request, stage: 0 and 2 want a die, 1 and 3 a channel, 4 is the end.
        let mut events = std::collections::BinaryHeap::new();
        let mut order = 0u64;
        let mut next = depth.min(requests.len());
        for request in 0..next {
            events.push(Reverse((0u64, order, request, 0usize)));
            order += 1;
        }
        let mut last = 0;
        while let Some(Reverse((time, _, request, stage))) = events.pop() {
            order += 1;
            if stage == 4 {
                last = last.max(time);
                if next < requests.len() {
                    events.push(Reverse((time, order, next, 0)));
                    next += 1;
                }
                continue;
            }
            let die = requests[request][stage / 2] as usize;
            let (resource, length) = match stage % 2 {
                0 => (die, 50_000),
                _ => (dies + geometry.channel_of(PlaneId(die as u32)) as usize, 10_000),
            };
            let start = free_from[resource].max(time);
            free_from[resource] = start + length;
            events.push(Reverse((start + length, order, request, stage + 1)));
        }
        requests.len() as f64 / last as f64 * 1e9
    }

    #[test]
    fn booking_in_call_order_stays_within_seven_percent_of_an_event_driven_device() {
        let requests = two_steps(40_000, 16);
        for depth in [1, 16, 64] {
            let (ours, reference) = (booked(&requests, depth), event_driven(&requests, depth));
            let error = ours / reference - 1.0;
            println!("depth {depth}: {ours:.0} against {reference:.0} a second ({error:+.3})");
            assert!(error.abs() < 0.07, "depth {depth}: {ours} against {reference} a second");
        }
    }
}
