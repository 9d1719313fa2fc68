//! A small device under a merge engine, for the tests of log blocks: which version of each page the
//! host wrote last is known here, and compared with what is read.

use super::block_supply::{BlockSupply, Need};
use super::data_blocks::Lbn;
use super::merge_engine::MergeEngine;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Tag};

pub const LOGICAL_BLOCKS: u32 = 8;
const BLOCKS: u64 = 24;

pub struct Bench {
    pub config: SharedSettings,
    pub board: Board,
    pub engine: MergeEngine,
    pub host: Host,
}

/// The naive model: the version of each logical page, 0 for none.
pub struct Host {
    newest: Vec<u32>,
    versions: u32,
}

impl Host {
    /// The host writes a page: its next version.
    pub fn write(&mut self, lpn: u32) -> PageIo {
        self.versions += 1;
        self.newest[lpn as usize] = self.versions;
        let (lpn, data) = (Lpn(lpn), Tag(self.versions));
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data, request }
    }

    /// The host trims a page.
    pub fn trimmed(&mut self, lpn: u32) -> PageIo {
        let io = self.write(lpn);
        self.newest[lpn as usize] = 0;
        io
    }
}

impl Bench {
    /// Four pages a block and one plane, if nothing else is said; eight logical blocks.
    pub fn new(pairs: &[(&str, &str)]) -> Bench {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4")].iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        let block = u64::from(config.device.pages_per_block) * config.device.unit_bytes();
        config.device.set_capacity(u64::from(LOGICAL_BLOCKS) * block, BLOCKS);
        let board = Board::new(&config, 1, 64);
        let engine = MergeEngine::new(&board, &config);
        let pages = board.geometry().logical_pages as usize;
        let host = Host { newest: vec![0; pages], versions: 0 };
        Bench { config, board, engine, host }
    }

    /// Writes pages straight to their places.
    pub fn in_place(&mut self, lpns: impl IntoIterator<Item = u32>) {
        for lpn in lpns {
            let io = self.host.write(lpn);
            let written = self.engine.write_in_place(&mut self.board, &io, When::START);
            assert!(written.is_ok(), "{written:?}");
        }
    }

    /// Writes pages one after the other to a log block.
    pub fn log_block(&mut self, lpns: &[u32]) -> BlockId {
        let need = Need::Growth;
        let taken = self.engine.supply.take(&self.board, PlaneId(0), need, When::START);
        let block = taken.expect("blocks are free").0;
        for (offset, &lpn) in (0..).zip(lpns) {
            let io = self.host.write(lpn);
            let ppn = self.board.geometry().page(block, offset);
            let old = self.engine.newest(self.board.nand(), Lpn(lpn));
            let log = PageKind::Log;
            let written = self.board.program_update(ppn, old, &io, log, When::START);
            assert!(written.is_ok(), "{written:?}");
            self.engine.logged(&mut self.board, Lpn(lpn), ppn);
        }
        block
    }

    /// The host trims a page.
    pub fn trim(&mut self, lpn: u32) {
        self.host.newest[lpn as usize] = 0;
        assert!(self.engine.forget(&mut self.board, Lpn(lpn)), "there was a page {lpn}");
    }

    pub fn data_block(&self, lbn: u32) -> Option<BlockId> {
        self.engine.data.block(Lbn(lbn))
    }

    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.board.nand().valid_pages(block)
    }

    /// Lets a program fail: 0, the next one.
    pub fn fail_program_after(&mut self, programs: u64) {
        self.board.nand_mut().faults_mut().fail_program_after(programs);
    }

    /// A moment at which something else in a plane is over that took long.
    pub fn later(&mut self, plane: PlaneId) -> When {
        let taken = self.engine.supply.take(&self.board, plane, Need::Growth, When::START);
        let (block, mut when) = taken.expect("blocks are free");
        for _ in 0..4 {
            let erased = self.board.erase(block, BlockRole::Data, Cause::Wear, when);
            when = erased.expect("nothing fails here");
        }
        let role = BlockRole::Data;
        let given = self.engine.supply.release(&mut self.board, block, role, Cause::Wear, when);
        given.expect("nothing fails here")
    }

    /// Every page reads as the host wrote it last, nothing but that is valid on flash, and every
    /// block is free, a data block, or one of `others`.
    pub fn check(&mut self, others: u32) {
        let written = self.host.newest.iter().filter(|&&version| version > 0).count() as u32;
        for lpn in 0..self.host.newest.len() as u32 {
            let version = self.host.newest[lpn as usize];
            let newest = self.engine.newest(self.board.nand(), Lpn(lpn));
            let read = newest.map(|ppn| {
                let read = self.board.read(ppn, Cause::Host, When::START);
                read.expect("nothing fails here").1
            });
            assert_eq!(read, (version > 0).then_some(Tag(version)), "page {lpn}");
        }
        let blocks = (0..self.board.geometry().blocks()).map(BlockId);
        let valid: u32 = blocks.map(|block| self.board.nand().valid_pages(block)).sum();
        assert_eq!(valid, written, "one valid copy of each page");
        self.engine.self_check(&self.board, others).expect("no block is lost");
    }
}

/// Takes every free block but so many.
pub fn take_all_but(free: u32, supply: &mut BlockSupply, board: &Board) -> Vec<BlockId> {
    let count = supply.free_blocks() - free;
    let mut take = || supply.take(board, PlaneId(0), Need::Merge, When::START);
    (0..count).map(|_| take().expect("some are free").0).collect()
}

/// Whether a moment is no earlier than another.
pub fn is_not_before(when: When, other: When) -> bool {
    when.join(other) == when
}
