//! The two partitions: how large they are, and where the next step of RAM goes.

use crate::aps::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::Nanos;
use ftlab_ftl::parts::ram_data;

/// Bytes that a ghost is counted with: a page number.
const GHOST_BYTES: u64 = 4;
/// Fewest entries, and fewest pages, of a partition.
const LEAST_ITEMS: u64 = 2;

/// Sizes of the two partitions, which always sum to the budget.
#[derive(Clone, Debug)]
pub struct Partitions {
    budget: u64,
    map: u64,
    step: u64,
    least_map: u64,
    least_data: u64,
    entry_bytes: u64,
    page_bytes: u64,
    logical_pages: u64,
    ghost_steps: u64,
}

/// Who gets the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// Cached map entries.
    Map,
    /// Buffered pages.
    Data,
}

impl Partitions {
    /// Equal halves.
    pub fn new(config: &Config) -> Self {
        let aps = &config.own;
        let entry_bytes = u64::from(aps.entry_bytes);
        let page_bytes = config.device.unit_bytes();
        let logical_pages = config.device.logical_pages();
        let ram = ram_data::budget(config);
        let share = |share: f64| (ram as f64 * share) as u64;
        let mut partitions = Partitions {
            budget: ram,
            map: 0,
            step: share(aps.step).max(page_bytes),
            least_map: share(aps.min_share).max(LEAST_ITEMS * entry_bytes),
            least_data: share(aps.min_share).max(LEAST_ITEMS * page_bytes),
            entry_bytes,
            page_bytes,
            logical_pages,
            ghost_steps: u64::from(aps.ghost),
        };
        partitions.budget = ram.saturating_sub(partitions.ghost_bytes());
        partitions.map = partitions.budget / 2;
        partitions
    }

    /// Whether either partition can hold what it must at least.
    pub fn check(&self) -> Result<(), SettingError> {
        if self.map >= self.least_map && self.data_bytes() >= self.least_data {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "aps shares {} bytes (device.ram_bytes without ghost lists of {}) between map and data; \
             half of them must be at least {} for the map and {} for pages of {} (aps.min_share)",
            self.budget,
            self.ghost_bytes(),
            self.least_map,
            self.least_data,
            self.page_bytes
        )))
    }

    /// Bytes of both.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes of the map partition.
    pub fn map_bytes(&self) -> u64 {
        self.map
    }

    /// Bytes of the data partition.
    pub fn data_bytes(&self) -> u64 {
        self.budget - self.map
    }

    /// The map partition has this size, as before a power cut.
    pub fn restore(&mut self, map_bytes: u64) {
        assert!((self.least_map..=self.budget - self.least_data).contains(&map_bytes));
        self.map = map_bytes;
    }

    fn items(&self, bytes: u64, each: u64) -> u32 {
        (bytes / each).min(self.logical_pages) as u32
    }

    /// Map entries that fit.
    #[inline]
    pub fn entries(&self) -> u32 {
        self.items(self.map, self.entry_bytes)
    }

    /// Pages that fit.
    #[inline]
    pub fn frames(&self) -> u32 {
        self.items(self.data_bytes(), self.page_bytes)
    }

    /// Map entries that fit if the data partition is as small as it may become.
    pub fn most_entries(&self) -> u32 {
        self.items(self.budget - self.least_data, self.entry_bytes)
    }

    /// Pages that fit if the map partition is as small as it may become.
    pub fn most_frames(&self) -> u32 {
        self.items(self.budget - self.least_map, self.page_bytes)
    }

    /// Length of the ghost list of map entries.
    pub fn ghost_entries(&self) -> u32 {
        self.items(self.step * self.ghost_steps, self.entry_bytes).max(1)
    }

    /// Length of the ghost list of pages.
    pub fn ghost_pages(&self) -> u32 {
        self.items(self.step * self.ghost_steps, self.page_bytes).max(1)
    }

    /// Bytes of both ghost lists.
    pub fn ghost_bytes(&self) -> u64 {
        GHOST_BYTES * u64::from(self.ghost_entries() + self.ghost_pages())
    }

    /// With a step moved from one partition to the other, as far as its least size allows; none if
    /// nothing moves.
    pub fn shifted(&self, towards: Towards) -> Option<Partitions> {
        let map = match towards {
            Towards::Map => (self.map + self.step).min(self.budget - self.least_data),
            Towards::Data => self.map.saturating_sub(self.step).max(self.least_map),
        };
        (map != self.map).then(|| Partitions { map, ..self.clone() })
    }
}

/// What an operation costs, ns.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    read: Nanos,
    program: Nanos,
    erase: Nanos,
}

impl Costs {
    /// Unloaded times of the device.
    pub fn new(config: &Config) -> Self {
        let timing = &config.timing;
        Costs {
            read: timing.read.0 + timing.page_transfer.0,
            program: timing.program.0 + timing.page_transfer.0,
            erase: timing.erase.0,
        }
    }
}

/// Flash work up to a moment, ns of garbage collection among it, and evictions.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    collection: u128,
    host_programs: u64,
    clean: u64,
    dirty: u64,
}

impl Marks {
    fn of(board: &Board, costs: &Costs) -> Self {
        let meter = board.meter();
        let collecting = [Cause::Gc, Cause::GcMapBlock, Cause::GcMapUpdate];
        let time = |cause| {
            u128::from(meter.reads(cause)) * u128::from(costs.read)
                + u128::from(meter.programs(cause)) * u128::from(costs.program)
                + u128::from(meter.erases_by_cause(cause)) * u128::from(costs.erase)
        };
        Marks {
            collection: collecting.into_iter().map(time).sum(),
            host_programs: meter.programs(Cause::Host),
            clean: meter.events(Event::EvictClean),
            dirty: meter.events(Event::EvictDirty),
        }
    }

    fn since(&self, before: &Marks) -> Marks {
        // Where measuring began in between, counts began again.
        let began = self.host_programs < before.host_programs
            || self.collection < before.collection
            || self.clean < before.clean
            || self.dirty < before.dirty;
        let before = if began { Marks::default() } else { *before };
        Marks {
            collection: self.collection - before.collection,
            host_programs: self.host_programs - before.host_programs,
            clean: self.clean - before.clean,
            dirty: self.dirty - before.dirty,
        }
    }
}

/// Counts of the present interval, and the benefits that follow from them.
#[derive(Clone, Debug)]
pub struct Interval {
    costs: Costs,
    /// Requests.
    pub requests: u32,
    /// Map misses whose entry left last.
    pub map_hits: u64,
    /// Reads of pages that left the buffer last.
    pub read_hits: u64,
    /// Writes of pages that left the buffer last.
    pub write_hits: u64,
    marks: Marks,
}

impl Interval {
    /// Nothing happened yet; what the board did before belongs to no interval.
    pub fn new(board: &Board, config: &Config) -> Self {
        let costs = Costs::new(config);
        let marks = Marks::of(board, &costs);
        Interval { costs, requests: 0, map_hits: 0, read_hits: 0, write_hits: 0, marks }
    }

    /// The interval begins now: what the board did since the last one is an adjustment's.
    pub fn begin(&mut self, board: &Board) {
        self.marks = Marks::of(board, &self.costs);
    }

    /// The interval is over: who gets the next step of RAM; nobody if neither ghost list was hit,
    /// or if both promise the same. The next interval begins.
    ///
    /// What a step more for the map would have saved: each ghost hit a map read, and the dirty
    /// share of the interval's evictions a read and a program. What a step more for data would have
    /// saved: each ghost hit of a read a page read, each of a write a program and what collection
    /// took per host page programmed. All in ns, rounded down; 128 bits hold the products of any
    /// counts.
    pub fn close(&mut self, board: &Board) -> Option<Towards> {
        let now = Marks::of(board, &self.costs);
        let during = now.since(&self.marks);
        let [read, program] = [self.costs.read, self.costs.program].map(u128::from);
        let [map_hits, read_hits, write_hits] =
            [self.map_hits, self.read_hits, self.write_hits].map(u128::from);
        let evictions = u128::from(during.clean + during.dirty).max(1);
        let written = map_hits * u128::from(during.dirty) * (read + program) / evictions;
        let map = map_hits * read + written;
        let collection = during.collection / u128::from(during.host_programs).max(1);
        let data = read_hits * read + write_hits * (program + collection);
        *self = Interval {
            requests: 0,
            map_hits: 0,
            read_hits: 0,
            write_hits: 0,
            marks: now,
            costs: self.costs,
        };
        match map.cmp(&data) {
            std::cmp::Ordering::Greater => Some(Towards::Map),
            std::cmp::Ordering::Less => Some(Towards::Data),
            std::cmp::Ordering::Equal => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::board::nand::Payload;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::BlockRole;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{BlockId, Ppn};

    fn config(pairs: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        let times = [("timing.read", "100ns"), ("timing.program", "1000ns")];
        for (key, value) in times.iter().chain(pairs) {
            config.set(key, value).expect("a legal setting");
        }
        config
    }

    /// Ghost hits of the map, of reads and of writes and evictions (clean, dirty) of an interval,
    /// and who gets the next step.
    fn verdict(board: &mut Board, hits: [u64; 3], evictions: [u64; 2]) -> Option<Towards> {
        let mut interval = Interval::new(board, &config(&[]));
        board.event(Event::EvictClean, evictions[0]);
        board.event(Event::EvictDirty, evictions[1]);
        [interval.map_hits, interval.read_hits, interval.write_hits] = hits;
        interval.close(board)
    }

    #[test]
    fn the_partition_that_would_have_saved_more_time_gets_the_step() {
        let mut board = Board::new(&config(&[]), 1, 0);
        // A map read is 100 ns, as is a page read; a program is 1000 ns.
        let mut clean = |hits| verdict(&mut board, hits, [0, 0]);
        assert_eq!(clean([0, 0, 0]), None, "no ghost was hit");
        assert_eq!(clean([4, 3, 0]), Some(Towards::Map));
        assert_eq!(clean([3, 4, 0]), Some(Towards::Data));
        assert_eq!(clean([9, 0, 1]), Some(Towards::Data));
        assert_eq!(clean([10, 0, 1]), None, "both would have saved 1000 ns");
        assert_eq!(clean([11, 0, 1]), Some(Towards::Map));
        // Every second entry that left was dirty: a miss costs 100 + 1100 / 2.
        let mut half = |hits| verdict(&mut board, hits, [3, 3]);
        assert_eq!(half([1, 6, 0]), Some(Towards::Map), "650 against 600");
        assert_eq!(half([1, 7, 0]), Some(Towards::Data), "650 against 700");
    }

    /// An interval as long as its setting allows, of nothing but dirty evictions: their product
    /// with the hits passes 64 bits.
    #[test]
    fn long_intervals_do_not_wrap() {
        let mut board = Board::new(&config(&[]), 1, 0);
        let most = 1_000_000_000;
        let map = verdict(&mut board, [most, most, 0], [0, most]);
        assert_eq!(map, Some(Towards::Map), "1200 s against 100 s");
        let data = verdict(&mut board, [most, 0, 2 * most], [0, most]);
        assert_eq!(data, Some(Towards::Data), "1200 s against 2000 s");
    }

    /// A board that has worked before, as after a power cut: the interval that begins there does
    /// not count it.
    #[test]
    fn an_interval_begins_where_the_board_is() {
        let mut board = Board::new(&config(&[]), 1, 0);
        board.event(Event::EvictDirty, 10);
        let verdict = verdict(&mut board, [1, 2, 0], [1, 0]);
        assert_eq!(verdict, Some(Towards::Data), "clean evictions: 100 against 200");
    }

    /// Only what happened in the interval counts, whether or not measuring began within it.
    #[test]
    fn intervals_count_their_own_evictions() {
        let mut board = Board::new(&config(&[]), 1, 0);
        let mut interval = Interval::new(&board, &config(&[]));
        board.event(Event::EvictDirty, 10);
        assert_eq!(interval.close(&board), None);
        board.event(Event::EvictClean, 1);
        (interval.map_hits, interval.read_hits) = (1, 2);
        assert_eq!(interval.close(&board), Some(Towards::Data), "clean evictions: 100 against 200");
        board.start_measuring();
        board.event(Event::EvictDirty, 1);
        (interval.map_hits, interval.read_hits) = (1, 2);
        assert_eq!(interval.close(&board), Some(Towards::Map), "all dirty: 1200 against 200");
    }

    /// Two programs, three reads and an erase for the sake of collection, one program for the
    /// host's.
    fn collects(board: &mut Board) {
        let mut program = |page, cause| {
            let what = (PageKind::Pad, 0);
            board.program_payload(Ppn(page), what, Payload::Words(&[]), cause, When::START)
        };
        let causes = [Cause::Gc, Cause::Gc, Cause::Host];
        (0..).zip(causes).for_each(|(page, cause)| _ = program(page, cause).expect("works"));
        for cause in [Cause::GcMapUpdate, Cause::GcMapUpdate, Cause::GcMapBlock] {
            let _ = board.read_words(Ppn(0), cause, When::START).expect("works");
        }
        (0..3).for_each(|page| _ = board.nand_mut().discard(Ppn(page)));
        let erased = board.erase(BlockId(0), BlockRole::Data, Cause::Gc, When::START);
        let _ = erased.expect("works");
    }

    /// A read is 107 ns, a program 1007, an erase 5000.
    const TIMES: [(&str, &str); 2] = [("timing.page_transfer", "7ns"), ("timing.erase", "5us")];

    /// All of that was collection, for one page of the host's: 2 * 1007 + 3 * 107 + 5000 = 7335 ns
    /// that a write from memory would have saved beside its own program.
    #[test]
    fn a_write_that_memory_takes_saves_its_share_of_collection() {
        for (host, map_hits, towards) in [
            (1, 77, Towards::Data),
            (1, 78, Towards::Map),
            // Two host pages: 3667 ns each.
            (2, 43, Towards::Data),
            (2, 44, Towards::Map),
        ] {
            let config = config(&TIMES);
            let mut board = Board::new(&config, 1, 0);
            let mut interval = Interval::new(&board, &config);
            collects(&mut board);
            assert_eq!(Marks::of(&board, &interval.costs).collection, 7335);
            if host == 2 {
                let what = (PageKind::Pad, 0);
                let none = Payload::Words(&[]);
                let programmed =
                    board.program_payload(Ppn(0), what, none, Cause::Host, When::START);
                let _ = programmed.expect("works");
            }
            (interval.map_hits, interval.write_hits) = (map_hits, 1);
            assert_eq!(interval.close(&board), Some(towards), "{host} {map_hits}");
        }
    }

    /// Differences; where any count fell, measuring began in between, and all of them are counts
    /// since.
    #[test]
    fn what_happened_since_is_counted_from_where_measuring_began() {
        let since = |now: [u64; 4]| {
            let marks = |[collection, host_programs, clean, dirty]: [u64; 4]| Marks {
                collection: collection.into(),
                host_programs,
                clean,
                dirty,
            };
            let Marks { collection, host_programs, clean, dirty } =
                marks(now).since(&marks([10, 20, 30, 40]));
            [collection as u64, host_programs, clean, dirty]
        };
        assert_eq!(since([11, 22, 33, 44]), [1, 2, 3, 4]);
        assert_eq!(since([10, 22, 33, 44]), [0, 2, 3, 4]);
        assert_eq!(since([11, 20, 33, 44]), [1, 0, 3, 4]);
        assert_eq!(since([11, 22, 30, 44]), [1, 2, 0, 4]);
        assert_eq!(since([11, 22, 33, 40]), [1, 2, 3, 0]);
        assert_eq!(since([10, 20, 30, 40]), [0; 4]);
        for fallen in [[9, 22, 33, 44], [11, 19, 33, 44], [11, 22, 29, 44], [11, 22, 33, 39]] {
            assert_eq!(since(fallen), fallen);
        }
    }

    /// 64 MiB on a device that can use them: a step is 1 MiB, the ghosts are 131,072 entries and
    /// 512 pages and take their bytes first.
    #[test]
    fn halves_steps_and_least_shares() {
        let mut config = config(&[("device.ram_bytes", "64MiB")]);
        config.device.set_capacity(1 << 40, 0);
        let partitions = Partitions::new(&config);
        assert_eq!((partitions.ghost_entries(), partitions.ghost_pages()), (131_072, 512));
        assert_eq!(partitions.ghost_bytes(), 4 * (131_072 + 512));
        assert_eq!(partitions.budget(), (64 << 20) - partitions.ghost_bytes());
        assert_eq!(partitions.map_bytes(), partitions.budget() / 2);
        // All but 1/64 of it: entries of 8 bytes, pages of 2048.
        let most = 66_582_528 - (1 << 20);
        assert_eq!(partitions.budget() - (1 << 20), most);
        assert_eq!((partitions.most_entries(), partitions.most_frames()), (8_191_744, 31_999));
        for (towards, other) in [(Towards::Map, Towards::Data), (Towards::Data, Towards::Map)] {
            let mut now = partitions.clone();
            let mut steps = 0;
            while let Some(next) = now.shifted(towards) {
                let moved = next.map_bytes().abs_diff(now.map_bytes());
                assert!(moved <= 1 << 20 && next.map_bytes() + next.data_bytes() == next.budget());
                (now, steps) = (next, steps + 1);
            }
            assert_eq!(steps, 31, "the last step is a part of one");
            assert_eq!(now.map_bytes().min(now.data_bytes()), 1 << 20, "1/64 stays");
            assert!(now.shifted(other).is_some());
        }
    }
}
