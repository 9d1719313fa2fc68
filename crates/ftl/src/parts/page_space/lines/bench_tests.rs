//! A small device whose map memory holds, page by page, for the tests of lines, of the SLC cache
//! and of groups: what the host wrote last is known here, and compared.

use super::super::{GroupRules, Moved, PageOwner, PageSpace, Stream};
use super::ALL;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, Tag};

pub type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Collection begins below so many free lines, or blocks of a plane.
pub const THRESHOLD: u32 = 3;

/// Where pages and map pages are, and what its space has told it.
#[derive(Clone, Default)]
pub struct Map {
    pub pages: Vec<Option<Ppn>>,
    pub parts: Vec<Option<Ppn>>,
    /// What it says that it writes for a victim: at most, and as counted.
    pub most: u32,
    pub counted: u32,
    /// How often it was asked before an erase, and behind the pages of a translation page.
    pub asked: u32,
    pub parts_moved: u32,
    pub waits: bool,
    /// Pages of which a version that is valid on flash was superseded without a look at the map.
    pub superseded: Vec<u32>,
    /// What it says instead of that it has written.
    pub refuses: Option<Fault>,
    /// Logical numbers of the pages of the host that moved.
    pub moved: Vec<u32>,
}

impl PageOwner for Map {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, _: BlockId) -> u32 {
        self.counted
    }

    fn most_map_writes(&self, _: &PageSpace, _: BlockId, _: u32) -> u32 {
        self.most
    }

    fn wants(&mut self, kind: PageKind, logical: u32, _: Ppn) -> bool {
        let known = self.superseded.iter().position(|&page| kind.is_host_data() && page == logical);
        // It is found out once.
        known.map(|place| self.superseded.remove(place)).is_none()
    }

    fn wants_all(&self) -> bool {
        self.superseded.is_empty()
    }

    fn waits_for_every_erase(&self) -> bool {
        self.waits
    }

    fn moved(&mut self, _: &mut Board, page: Moved) {
        let number = page.logical as usize;
        let place = match page.kind {
            PageKind::Map => &mut self.parts[number],
            _ => &mut self.pages[number],
        };
        assert_eq!(*place, Some(page.old), "page {number} of {:?} was there", page.kind);
        *place = Some(page.new);
        if page.kind.is_host_data() {
            self.moved.push(page.logical);
        }
    }

    fn before_erase(
        &mut self,
        _: &mut PageSpace,
        _: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.asked += 1;
        self.refuses.map_or(Ok(after), Err)
    }

    fn part_moved(&mut self, _: &mut PageSpace, _: &mut Board, after: When) -> Result<When, Fault> {
        self.parts_moved += 1;
        Ok(after)
    }
}

#[derive(Clone)]
pub struct Bench {
    pub config: SharedSettings,
    pub board: Board,
    pub space: PageSpace,
    pub map: Map,
    /// The version of each page that the host wrote last, and the last one of all.
    versions: Vec<u32>,
    last: u32,
    /// Pages of every request.
    pub request: u32,
    /// How data is divided, where it is.
    rules: Option<GroupRules>,
}

/// Four dies of twelve blocks of four pages, of which 96 are logical.
pub fn settings(pairs: Pairs<'_>) -> SharedSettings {
    let mut config = SharedSettings::default();
    let usual = [
        ("device.channels", "4"),
        ("device.pages_per_block", "4"),
        ("device.blocks_per_plane", "12"),
        ("device.logical_bytes", "192KiB"),
    ];
    usual.iter().chain(pairs).for_each(|(key, value)| config.set(key, value).expect("legal"));
    config
}

impl Bench {
    pub fn new(pairs: Pairs<'_>) -> Self {
        Self::of(settings(pairs))
    }

    /// The same of lines.
    pub fn of_lines(pairs: Pairs<'_>) -> Self {
        Self::of(settings(&[&[("alloc.unit", "line")], pairs].concat()))
    }

    pub fn of(config: SharedSettings) -> Self {
        let board = Board::new(&config, 1, 64);
        let space = PageSpace::new(&board, &config, THRESHOLD, 1);
        let pages = board.geometry().logical_pages as usize;
        let map = Map { pages: vec![None; pages], parts: vec![None; 16], ..Map::default() };
        let versions = vec![0; pages];
        Bench { config, board, space, map, versions, last: 0, request: 1, rules: None }
    }

    /// Data is divided in groups from now on.
    pub fn divide(mut self, rules: GroupRules) -> Self {
        self.space.divide_in_groups(&self.board, rules);
        self.rules = Some(rules);
        self
    }

    pub fn io(&self, page: u32, version: u32) -> PageIo {
        let (lpn, pages) = (Lpn(page), self.request);
        let sectors = self.board.geometry().sectors_per_page();
        let request =
            RequestShape { first_lpn: lpn, pages, index: 0, sectors: pages * sectors, hint: None };
        let sectors = self.board.geometry().all_sectors();
        PageIo { lpn, sectors, cause: Cause::Host, data: Tag(version), request }
    }

    pub fn try_write(&mut self, page: u32) -> Result<Ppn, Fault> {
        self.last += 1;
        let io = self.io(page, self.last);
        let Bench { board, space, map, .. } = self;
        space.write_for(io.lpn);
        let plane = space.place_host(board, &io);
        let place = (plane, space.host_stream(board, &io));
        let ready = space.make_room(board, map, place, When::START)?;
        let old = map.pages[io.lpn.index()];
        let (new, _) = space.write(board, place, (&io, PageKind::Data, old), ready)?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        map.pages[io.lpn.index()] = Some(new);
        self.versions[io.lpn.index()] = self.last;
        Ok(new)
    }

    /// The host writes a page: where it is.
    pub fn write(&mut self, page: u32) -> Ppn {
        self.try_write(page).unwrap_or_else(|fault| panic!("page {page}: {fault}"))
    }

    /// The same of each of these.
    pub fn write_all(&mut self, pages: impl IntoIterator<Item = u32>) {
        pages.into_iter().for_each(|page| {
            let _ = self.write(page);
        });
    }

    /// So many of the first `among` pages, in any order, with an audit behind each.
    pub fn write_any(&mut self, count: u32, among: u32, rng: &mut Rng) {
        for _ in 0..count {
            let _ = self.write(rng.below(among));
            self.audit();
        }
    }

    /// A part of the map is written anew.
    pub fn write_map(&mut self, part: u32) -> Ppn {
        let Bench { board, space, map, .. } = self;
        let place = (space.home(board.nand(), part), Stream::Map);
        let ready = space.make_room(board, map, place, When::START).expect("there is room");
        let written = space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::Map, part);
            board.program_payload(new, what, Payload::Words(&[part]), Cause::Translate, ready)
        });
        let (new, _) = written.expect("nothing fails for good");
        if let Some(old) = map.parts[part as usize].replace(new) {
            space.invalidate(board, old);
        }
        new
    }

    /// The host forgets a page.
    pub fn forget(&mut self, page: u32) {
        if let Some(old) = self.map.pages[page as usize].take() {
            self.space.invalidate(&mut self.board, old);
        }
        self.versions[page as usize] = 0;
    }

    /// A gap; whether something was done in it.
    pub fn idle(&mut self) -> bool {
        let Bench { board, space, map, .. } = self;
        space.collect_idle(board, map, When::START).expect("nothing ends the run").is_some()
    }

    pub fn flush(&mut self) -> When {
        self.space.flush_parity(&mut self.board, When::START).expect("it works")
    }

    pub fn audit(&self) {
        self.space.self_check(&self.board).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Every page is read, and holds what was written last.
    pub fn read_all(&mut self) {
        for (page, &version) in self.versions.iter().enumerate() {
            match self.map.pages[page] {
                Some(place) => {
                    let read = self.board.read(place, Cause::Host, When::START);
                    let (_, tag) = read.expect("the power is on");
                    assert_eq!(tag, Tag(version), "page {page} at {place}");
                }
                None => assert_eq!(version, 0, "page {page} is lost"),
            }
        }
    }

    /// The power goes and comes back; of a write that was not over either version may be there.
    pub fn cut(&mut self) {
        self.board.nand_mut().cut_power();
        self.recover();
    }

    /// The power is back.
    pub fn recover(&mut self) {
        self.power_on();
        let recovered =
            PageSpace::recover(&mut self.board, &self.config, THRESHOLD, 1, When::START);
        let (space, _) = recovered.expect("nothing fails");
        self.space = space;
        if let Some(rules) = self.rules {
            self.space.divide_in_groups(&self.board, rules);
        }
        self.board.end_recovery();
    }

    /// The power is back, and the map says which pages are valid: those that were written last.
    pub fn power_on(&mut self) {
        self.board.power_on();
        let pages = self.map.pages.len();
        let (mut newest, mut parts) = (vec![(0, Ppn(0)); pages], vec![(0, Ppn(0)); 16]);
        for page in (0..self.board.geometry().pages()).map(Ppn) {
            let OobRead::Written(oob) = self.board.nand().state().oob(page) else { continue };
            let list = match oob.kind {
                PageKind::Pad | PageKind::Parity => continue,
                PageKind::Map => &mut parts,
                _ => &mut newest,
            };
            let held = &mut list[oob.logical as usize];
            *held = (oob.sequence, page).max(*held);
        }
        let place = |&(sequence, page): &(u64, Ppn)| (sequence > 0).then_some(page);
        self.map.pages = newest.iter().map(place).collect();
        self.map.parts = parts.iter().map(place).collect();
        for (number, version) in self.versions.iter_mut().enumerate() {
            let Some(place) = self.map.pages[number] else { continue };
            let Tag(found) = self.board.nand().state().tag(place);
            assert!(found == *version || found == self.last, "page {number}: version {found}");
            *version = found;
        }
        for &page in self.map.pages.iter().chain(&self.map.parts).flatten() {
            self.board.nand_mut().revalidate(page);
        }
    }

    /// Writes flash pages of a line as they are drawn, column by column, past the space: d data, m
    /// a map page, F data whose program fails, P parity, which comes last, and nothing. Data has
    /// the next logical numbers.
    pub fn draw(&mut self, line: u32, rows: &[&str]) {
        for (row, drawn) in (0..).zip(rows) {
            for kind in ['d', 'm', 'F', 'P'] {
                for (column, _) in drawn.chars().enumerate().filter(|&(_, one)| one == kind) {
                    self.draw_page(line, (row, column as u32), kind);
                }
            }
        }
    }

    fn draw_page(&mut self, line: u32, (row, column): (u32, u32), kind: char) {
        let lines = self.space.lines.as_ref().expect("a space of lines");
        let block = lines.block(BlockId(line), column);
        let units = self.board.geometry().units_per_flash_page;
        for unit in 0..units {
            let page = self.board.geometry().page(block, row * units + unit);
            let number = self.last;
            self.last += u32::from(kind == 'd');
            let io = self.io(number, self.last);
            let board = &mut self.board;
            let done = match kind {
                'P' => {
                    board.nand_mut().hold_parity(0, Some(page));
                    board.program_parity(page, When::START)
                }
                'm' => {
                    let what = (PageKind::Map, 0);
                    let words = Payload::Words(&[1]);
                    board.program_payload(page, what, words, Cause::Translate, When::START)
                }
                _ => {
                    if kind == 'F' {
                        board.nand_mut().faults_mut().fail_program_after(0);
                    }
                    board.program_update(page, None, &io, PageKind::Data, When::START)
                }
            };
            assert_eq!(done.is_ok(), kind != 'F', "{kind} at {page}");
            if kind == 'd' {
                self.map.pages[number as usize] = Some(page);
                self.versions[number as usize] = self.last;
            }
        }
    }

    /// The line of a page, its column, its flash page and its mapping unit, where lines are of
    /// single planes in the order of their numbers.
    pub fn slot_of(&self, page: Ppn) -> (u32, u32, u32, u32) {
        let geometry = self.board.geometry();
        let plane = geometry.plane_of(page);
        let line = geometry.block_of(page).0 - geometry.blocks_of(plane).start;
        let (offset, units) = (geometry.offset_of(page), geometry.units_per_flash_page);
        (line, plane.0, offset / units, offset % units)
    }

    pub fn count(&self, event: Event) -> u64 {
        self.board.meter().events(event)
    }

    pub fn programs(&self, cause: Cause) -> u64 {
        self.board.meter().programs(cause)
    }

    pub fn level(&self, level: Level) -> Option<u64> {
        self.board.meter().level_now(level)
    }

    pub fn free(&self, plane: u32) -> u32 {
        self.space.planes[plane as usize].free.len()
    }

    pub fn open_of(&self, stream: Stream) -> Option<BlockId> {
        self.space.planes[ALL.index()].frontiers[stream.index()].block
    }

    /// Valid pages of a line, or of a block.
    pub fn valid(&self, unit: u32) -> u32 {
        self.space.valid_in(self.board.nand(), BlockId(unit))
    }

    /// What kinds of pages a flash page of a line holds, column by column: d, m, a pad, Parity, and
    /// nothing.
    pub fn row(&self, line: u32, row: u32) -> String {
        let geometry = self.board.geometry();
        let one = |plane: u32| {
            let block = BlockId(geometry.blocks_of(PlaneId(plane)).start + line);
            let page = geometry.page(block, row * geometry.units_per_flash_page);
            match self.board.nand().state().oob(page) {
                OobRead::Written(oob) => match oob.kind {
                    PageKind::Parity => 'P',
                    PageKind::Pad => 'a',
                    PageKind::Map => 'm',
                    _ => 'd',
                },
                OobRead::Free => '.',
                OobRead::Torn => 'x',
            }
        };
        (0..geometry.planes()).map(one).collect()
    }
}

pub fn rng() -> Rng {
    Rng::new(7, Purpose::Workload)
}
