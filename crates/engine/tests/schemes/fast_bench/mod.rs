//! A small device of a log-block scheme whose flash operations are recorded, for worked examples.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod model;

use ftlab_engine::board::nand::record::Operation::{self, Program, Read};
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause::Merge;
use ftlab_engine::meter::{BlockRole, Event, Meter};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Lpn, Ppn};

use crate::common::{open, pages, tiny};

/// A small device whose operations are recorded.
pub struct Bench {
    /// Its settings.
    pub config: Config,
    /// The device.
    pub device: Box<dyn Device>,
}

impl Bench {
    /// FAST with ten logical blocks, `filled` of them (from block 1 on) written once, in place.
    pub fn new(filled: u64, pairs: &[(&str, &str)]) -> Bench {
        Bench::of("fast", filled, pairs)
    }

    /// The same of any scheme of the table.
    pub fn of(scheme: &str, filled: u64, pairs: &[(&str, &str)]) -> Bench {
        let config = tiny(scheme, 10, pairs);
        let device = open(scheme, &config);
        let pages = u64::from(config.device.pages_per_block);
        let mut bench = Bench { config, device };
        for block in 1..=filled {
            bench.submit(Op::Write, pages * block, pages);
        }
        bench.device.start_measuring();
        bench
    }

    pub fn submit(&mut self, op: Op, first: u64, count: u64) -> Vec<Operation> {
        self.device.board_mut().nand_mut().record_mut().start();
        let request = pages(&self.config, op, first, count);
        self.device.submit(&request).expect("nothing fails here");
        self.device.audit().expect("the device is sound");
        self.device.board_mut().nand_mut().record_mut().take()
    }

    /// Writes single pages, one request each; the operations of all of them.
    pub fn write(&mut self, lpns: &[u64]) -> Vec<Operation> {
        lpns.iter().flat_map(|&lpn| self.submit(Op::Write, lpn, 1)).collect()
    }

    /// Where a page is.
    pub fn at(&self, lpn: u32) -> Ppn {
        match self.device.locate(Lpn(lpn)) {
            Location::Flash(ppn) => ppn,
            other => panic!("page {lpn} is not on flash: {other:?}"),
        }
    }

    /// Where pages are.
    pub fn all_at<const N: usize>(&self, lpns: [u32; N]) -> [Ppn; N] {
        lpns.map(|lpn| self.at(lpn))
    }

    /// The block that a page is in, and its place there.
    pub fn place(&self, lpn: u32) -> (BlockId, u32) {
        let geometry = self.device.board().geometry();
        (geometry.block_of(self.at(lpn)), geometry.offset_of(self.at(lpn)))
    }

    pub fn block(&self, lpn: u32) -> BlockId {
        self.place(lpn).0
    }

    pub fn meter(&self) -> &Meter {
        self.device.board().meter()
    }

    pub fn events(&self, event: Event) -> u64 {
        self.meter().events(event)
    }

    /// Switch, partial and full merges so far.
    pub fn merges(&self) -> (u64, u64, u64) {
        let merges = self.meter().merges();
        (merges.switch, merges.partial, merges.full)
    }

    /// Erases of data, log and map blocks so far.
    pub fn erases(&self) -> (u64, u64, u64) {
        let role = |role| self.meter().erases(role);
        (role(BlockRole::Data), role(BlockRole::Log), role(BlockRole::Map))
    }
}

/// Where a page of the block map is.
pub fn map_page(bench: &Bench, part: u32) -> Ppn {
    let nand = bench.device.board().nand();
    let holds = |ppn: &Ppn| match nand.state().oob(*ppn) {
        OobRead::Written(oob) => {
            oob.kind == PageKind::Map && oob.logical == part && nand.state().is_valid(*ppn)
        }
        OobRead::Free | OobRead::Torn => false,
    };
    let mut found = (0..nand.geometry().pages()).map(Ppn).filter(holds);
    let page = found.next().expect("this map page was written");
    assert_eq!(found.next(), None, "one at most is alive");
    page
}

/// What the block map on flash says of a logical block, 128 of them to a map page.
pub fn entry(bench: &Bench, lbn: u32) -> Option<BlockId> {
    let words = bench.device.board().nand().payload(map_page(bench, lbn / 128));
    words[lbn as usize % 128].checked_sub(1).map(BlockId)
}

/// The copy of one page in a merge.
pub fn copy(from: Ppn, to: Ppn) -> [Operation; 2] {
    [Read(from, Merge), Program(to, Merge)]
}
