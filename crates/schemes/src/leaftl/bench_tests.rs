//! A device of 512 pages, and which version of each page was written last.

use crate::for_tests;
use crate::leaftl::Leaftl;
use crate::leaftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::when::When;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::Location;
use ftlab_ftl::scheme::Scheme as _;

pub const PAGES: u32 = 512;

pub struct Bench {
    config: Config,
    pub board: Board,
    pub scheme: Leaftl,
    /// The version of each page, 0 for none.
    newest: Vec<u32>,
    versions: u32,
}

impl Bench {
    /// Groups of 16 pages, and a buffer of 16.
    pub fn new(pairs: &[(&str, &str)]) -> Bench {
        let mut config = Config::default();
        let small = [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "8"),
            ("leaftl.group_pages", "16"),
            ("leaftl.buffer_bytes", "8KiB"),
        ];
        for (key, value) in small.iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        config.device.set_capacity(u64::from(PAGES) * 512, 128);
        let mut board = Board::new(&config, 1, Leaftl::payload_pages(&config));
        let scheme = Leaftl::format(&mut board, &config, 1).expect("nothing fails");
        Bench { config, board, scheme, newest: vec![0; PAGES as usize], versions: 0 }
    }

    fn io(&self, lpn: u32) -> PageIo {
        let sectors = self.board.geometry().all_sectors();
        PageIo { sectors, data: Tag(self.versions), ..for_tests::page(lpn) }
    }

    pub fn write(&mut self, lpn: u32) {
        self.versions += 1;
        self.newest[lpn as usize] = self.versions;
        let io = self.io(lpn);
        let done = self.scheme.write(&mut self.board, &io, When::START).expect("nothing fails");
        self.scheme.behind_request(&mut self.board, done).expect("nothing fails");
    }

    pub fn trim(&mut self, lpn: u32) {
        self.newest[lpn as usize] = 0;
        let io = self.io(lpn);
        let _ = self.scheme.trim(&mut self.board, &io, When::START).expect("nothing fails");
    }

    pub fn read(&mut self, lpn: u32) -> Tag {
        let io = self.io(lpn);
        self.scheme.read(&mut self.board, &io, When::START).expect("nothing fails").1
    }

    pub fn flush(&mut self) {
        let _ = self.scheme.flush(&mut self.board, When::START).expect("nothing fails");
    }

    /// The power goes and comes back.
    pub fn cut(mut self) -> Bench {
        self.board.nand_mut().cut_power();
        let survivor = self.scheme.power_off();
        self.board.power_on();
        let (board, config) = (&mut self.board, &self.config);
        let recovered = Leaftl::recover(board, config, 1, survivor, When::START);
        let scheme = recovered.expect("nothing fails").0;
        self.board.end_recovery();
        Bench { scheme, ..self }
    }

    /// Every page is where its newest version is, and is read from there.
    pub fn check(&mut self) {
        assert_eq!(self.scheme.self_check(&self.board), Ok(()));
        for lpn in 0..PAGES {
            let expected = Tag(self.newest[lpn as usize]);
            let located = match self.scheme.locate(&self.board, Lpn(lpn)) {
                Location::Flash(ppn) => self.board.nand().state().tag(ppn),
                Location::Ram(tag) => tag,
                Location::Nowhere => Tag(0),
            };
            assert_eq!(located, expected, "page {lpn}");
            assert_eq!(self.read(lpn), expected, "page {lpn}");
        }
    }
}
