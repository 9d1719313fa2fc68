//! A clock alone, for times derived by hand.

use ftlab_engine::board::nand::clock::{Clock, Load, Place};
use ftlab_engine::board::nand::geometry::Geometry;
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause;
use ftlab_engine::units::{BlockId, Nanos, PlaneId};

use super::config;

pub const R: Nanos = 50_000;
pub const P: Nanos = 300_000;
pub const E: Nanos = 2_000_000;
pub const T: Nanos = 10_000;

pub const COST: Nanos = 20_000;
pub const SUSPEND: [(&str, &str); 2] =
    [("timing.suspend", "erase"), ("timing.suspend_cost", "20us")];

pub type Pairs<'a> = &'a [(&'a str, &'a str)];

pub const TIMES: Pairs<'static> = &[
    ("timing.profile", "parallel"),
    ("timing.read", "50us"),
    ("timing.program", "300us"),
    ("timing.erase", "2ms"),
    ("timing.page_transfer", "10us"),
    ("device.blocks_per_plane", "16"),
    ("device.pages_per_block", "8"),
];

pub const TWO_PLANES: (&str, &str) = ("device.planes", "2");
pub const TWO_DIES: (&str, &str) = ("device.dies", "2");

pub fn parallel(pairs: Pairs<'_>) -> Config {
    let all: Vec<_> = TIMES.iter().chain(pairs).copied().collect();
    let config = config(&all);
    config.check().unwrap_or_else(|error| panic!("{error}"));
    config
}

/// A clock alone, with the operations of the flash by plane, block of the plane and page.
pub struct Bench {
    pub clock: Clock,
    pub geometry: Geometry,
}

impl Bench {
    pub fn new(pairs: Pairs<'_>) -> Self {
        let config = parallel(pairs);
        let geometry = Geometry::new(&config.device);
        Bench { clock: Clock::new(&config.timing, &geometry), geometry }
    }

    pub fn block(&self, plane: u32, block: u32) -> BlockId {
        BlockId(self.geometry.blocks_of(PlaneId(plane)).start + block)
    }

    pub fn at(&mut self, time: Nanos) -> When {
        self.clock.admit(time)
    }

    pub fn read(&mut self, (plane, block, page): (u32, u32, u32), after: When) -> When {
        let block = self.block(plane, block);
        let at =
            Place { plane: PlaneId(plane), page: Some((self.geometry.page(block, page), block)) };
        self.clock.read_page(at, Cause::Host, after)
    }

    pub fn program(&mut self, (plane, block, page): (u32, u32, u32), after: When) -> When {
        let block = self.block(plane, block);
        let target = (PlaneId(plane), block, self.geometry.page(block, page));
        self.clock.program_page(target, Load::Channel, Cause::Host, after)
    }

    pub fn erase(&mut self, (plane, block): (u32, u32), after: When) -> When {
        let block = self.block(plane, block);
        self.clock.erase_block(PlaneId(plane), block, Cause::Gc, after)
    }

    /// A copy within the plane that never uses the channel.
    pub fn copy_back(&mut self, plane: u32, from: (u32, u32), to: (u32, u32), after: When) -> When {
        let [source, target] = [from, to].map(|(block, _)| self.block(plane, block));
        let page = self.geometry.page(source, from.1);
        let at = Place { plane: PlaneId(plane), page: Some((page, source)) };
        let read = self.clock.read_cells(at, Cause::Gc, after);
        let target = (PlaneId(plane), target, self.geometry.page(target, to.1));
        self.clock.program_page(target, Load::Register, Cause::Gc, read)
    }

    pub fn end(&self, when: When) -> Nanos {
        self.clock.completion(when)
    }

    /// Two programs at once in planes `0` and `other`, their ends.
    pub fn two_programs(&mut self, other: u32) -> [Nanos; 2] {
        let start = self.at(0);
        [0, other].map(|plane| {
            let done = self.program((plane, 0, 0), start);
            self.end(done)
        })
    }

    /// Two reads at once in planes `0` and `other`, their ends.
    pub fn two_reads(&mut self, other: u32) -> [Nanos; 2] {
        let start = self.at(0);
        [0, other].map(|plane| {
            let done = self.read((plane, 0, 0), start);
            self.end(done)
        })
    }

    /// Two erases at once in planes `0` and `other`, their ends.
    pub fn two_erases(&mut self, other: u32) -> [Nanos; 2] {
        let start = self.at(0);
        [0, other].map(|plane| {
            let done = self.erase((plane, 0), start);
            self.end(done)
        })
    }
}
