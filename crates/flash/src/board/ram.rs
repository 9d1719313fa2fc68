//! The controller's RAM and the DRAM beside it, as schemes and buffers use them.
//!
//! What they hold is the owner's, in its own tables; here is what using it costs. A device whose
//! memory is free (`timing.ram_page` and `timing.dram_access` at 0) only counts.

pub use super::nand::clock::RamWork;

use super::Board;
use super::when::When;
use crate::board::settings::BoardSettings;
use crate::memory::RamUse;
use crate::meter::Event;
use crate::units::Nanos;

/// Bytes that `timing.ram_page` is given for.
const RAM_PAGE_BYTES: u64 = 2048;

/// What uses of RAM and DRAM take.
#[derive(Clone, Debug)]
pub(super) struct Ram {
    /// One page of the device moved in the controller's RAM.
    page: Nanos,
    /// One access to the DRAM.
    access: Nanos,
    /// Whether a table that the scheme keeps in DRAM must be refreshed.
    refreshed: bool,
}

impl Ram {
    pub fn new(config: &BoardSettings) -> Self {
        Ram {
            page: config.timing.ram_page.0 * config.device.unit_bytes() / RAM_PAGE_BYTES,
            access: config.timing.dram_access.0,
            refreshed: false,
        }
    }
}

impl Ram {
    /// Whether what is kept in DRAM is there in no time, unless a scheme says otherwise.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.access == 0
    }
}

impl Board {
    /// Moves `pages` pages within the controller's RAM (written into it, read out of it, copied):
    /// counted as `ram_ops`. The time is the server's in the serial profile, the RAM's own in the
    /// parallel one; it counts to the stage `buffer` for data and `map` for parts of the map.
    #[inline]
    pub fn ram_pages(&mut self, what: RamWork, pages: u32, after: When) -> When {
        self.meter.event(Event::RamOps, u64::from(pages));
        let length = u64::from(pages) * self.ram.page;
        if length == 0 {
            return after;
        }
        self.nand.clock_mut().move_in_ram(what, length, after)
    }

    /// Reads or writes `accesses` entries of a table in DRAM, one after another. Counts to the
    /// stage `map`, where it takes time at all (`timing.dram_access`).
    #[inline(always)]
    pub fn dram(&mut self, accesses: u32, after: When) -> When {
        self.dram_at(accesses, self.ram.access, after)
    }

    /// As [`Board::dram`], where a scheme says itself how long an access of it takes.
    #[inline(always)]
    pub fn dram_at(&mut self, accesses: u32, access: Nanos, after: When) -> When {
        self.dram_untimed(accesses);
        let length = u64::from(accesses) * access;
        if length == 0 {
            return after;
        }
        self.nand.clock_mut().access_dram(length, after)
    }

    /// The same without their time, which whoever calls books together with that of others.
    #[inline(always)]
    pub fn dram_untimed(&mut self, accesses: u32) {
        self.meter.event(Event::DramAccesses, u64::from(accesses));
    }

    /// Waits `length` for what the host's memory says about a part of the map: the latency of the
    /// link, on which as many looks as there are can be under way.
    pub fn host_memory(&mut self, length: Nanos, after: When) -> When {
        self.meter.event(Event::HostMemoryReads, 1);
        let clock = self.nand.clock_mut();
        clock.host_memory_is_read(length);
        let end = clock.earliest(after) + length;
        clock.waits_for_port(0, end, after)
    }

    /// Whether the DRAM is refreshed for a table of the scheme's: it is part of the design, which
    /// could not do without.
    pub fn refreshes_dram(&self) -> bool {
        self.ram.refreshed
    }

    /// Says what the scheme keeps where.
    pub fn furnish(&mut self, structures: &[RamUse]) {
        self.ram.refreshed = structures.iter().any(RamUse::is_refreshed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::nand::clock::PathSplit;
    use crate::memory::Memory;
    use crate::settings::Groups as _;
    use crate::units::PlaneId;
    use crate::{meter::Cause, units::Lpn};

    fn board(pairs: &[(&str, &str)]) -> Board {
        let mut config = BoardSettings::default();
        for (key, value) in pairs {
            config.set(key, value).expect("a legal setting");
        }
        Board::new(&config, 1, 0)
    }

    /// Pages of 4 KiB take twice what pages of 2 KiB take; the path says which was data.
    #[test]
    fn moving_pages_takes_time_by_their_size_and_counts_to_buffer_or_map() {
        for profile in ["serial", "parallel"] {
            let mut board = board(&[
                ("timing.profile", profile),
                ("timing.ram_page", "2us"),
                ("device.page_bytes", "4KiB"),
            ]);
            let start = board.nand_mut().clock_mut().admit(1_000);
            let data = board.ram_pages(RamWork::Data, 3, start);
            let map = board.ram_pages(RamWork::Map, 1, data);
            let clock = board.nand().clock();
            let expected = PathSplit { map: 4_000, buffer: 12_000, ..Default::default() };
            assert_eq!(clock.split(1_000, map), expected, "{profile}");
            assert_eq!(clock.completion(map), 17_000, "{profile}");
            assert_eq!((clock.service_time().ram, clock.idle_from()), (16_000, 17_000));
            assert_eq!(board.meter().events(Event::RamOps), 4);
        }
    }

    /// Two requests at once: RAM serves one after the other, and the wait counts as buffer. Flash
    /// works beside it in the parallel profile, not in the serial one.
    #[test]
    fn ram_is_a_port_of_its_own_in_the_parallel_profile() {
        let done = |profile| {
            let mut board = board(&[("timing.profile", profile), ("timing.ram_page", "2us")]);
            let start = board.nand_mut().clock_mut().admit(0);
            let first = board.ram_pages(RamWork::Data, 5, start);
            let second = board.ram_pages(RamWork::Data, 5, start);
            let read = board.nand.read_nothing(&mut board.meter, PlaneId(0), Cause::Host, start);
            let buffer = board.nand().clock().split(0, second).buffer;
            (first.time(), second.time(), read.expect("power is on").time(), buffer)
        };
        assert_eq!(done("parallel"), (10_000, 20_000, 130_900, 20_000));
        assert_eq!(done("serial"), (10_000, 20_000, 150_900, 20_000));
    }

    #[test]
    fn free_memory_is_counted_and_costs_nothing() {
        let mut board = board(&[]);
        let start = board.nand_mut().clock_mut().admit(500);
        assert_eq!(board.ram_pages(RamWork::Data, 7, start), start);
        assert_eq!(board.dram(3, start), start);
        assert_eq!(board.meter().events(Event::RamOps), 7);
        assert_eq!(board.meter().events(Event::DramAccesses), 3);
        assert_eq!(board.nand().clock().service_time().ram, 0);
    }

    #[test]
    fn accesses_to_dram_are_part_of_the_map_where_they_take_time() {
        for profile in ["serial", "parallel"] {
            let mut board = board(&[("timing.profile", profile), ("timing.dram_access", "100ns")]);
            let start = board.nand_mut().clock_mut().admit(0);
            let (done, _) = board.read_unwritten(Lpn(0), start).expect("power is on");
            let done = board.dram(2, done);
            let split = board.nand().clock().split(0, done);
            assert_eq!((split.map, split.flash), (200, 130_900), "{profile}");
        }
    }

    /// Schemes whose maps are elsewhere refresh nothing, though ftlab counts valid pages for them
    /// in DRAM.
    #[test]
    fn only_tables_of_the_scheme_itself_are_refreshed() {
        let refreshed =
            |structure, bytes, memory| RamUse { structure, bytes, memory }.is_refreshed();
        assert!(refreshed("page_table", 8, Memory::Dram));
        assert!(!refreshed("page_table", 0, Memory::Dram), "a table of no bytes is none");
        assert!(!refreshed("page_table", 8, Memory::Pcm));
        assert!(!refreshed("valid_bitmap", 8, Memory::Dram), "an aid of ftlab");
    }

    #[test]
    fn a_table_in_dram_is_refreshed_from_when_the_scheme_says_so() {
        let mut board = board(&[]);
        let table = |memory| RamUse { structure: "page_table", bytes: 8, memory };
        assert!(!board.refreshes_dram());
        board.furnish(&[table(Memory::Pcm), table(Memory::Dram)]);
        assert!(board.refreshes_dram());
        board.furnish(&[table(Memory::Pcm)]);
        assert!(!board.refreshes_dram());
    }

    #[test]
    fn a_look_at_the_host_s_memory_takes_its_latency() {
        let mut board = board(&[]);
        let start = board.nand_mut().clock_mut().admit(500);
        let done = board.host_memory(700, start);
        assert_eq!(board.nand().clock().completion(done), 1_200);
        assert_eq!(board.meter().events(Event::HostMemoryReads), 1);
    }
}
