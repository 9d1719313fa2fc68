//! Mapping units smaller than a flash page: what a map entry points to is a unit, what the cells
//! read and program is a flash page of several.
//!
//! Everywhere else in the engine a page is a mapping unit. Units written one after another to a
//! block gather in the controller, which programs the flash page when its last unit is there
//! (write coalescing); until then they are read from there at no cost, and capacitors save them
//! from a power cut, as in drives that acknowledge such writes. A flash page that was just sensed
//! stays in its plane's register, so that its other units cost a transfer each and no cell time.
//! Registers are followed in the order of calls, not of time: an operation that is booked ahead
//! takes the register at once. What capacitors program at a cut is neither counted nor charged. The
//! model is ours; unit and page sizes are those of drives with 4 KiB maps over 16 KiB pages.

use super::Nand;
use super::geometry::Geometry;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId, Ppn, zeroed};

/// Where a unit is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The controller, where it waits for the rest of its flash page.
    Gathered,
    /// The register of its plane.
    Register,
    /// The cells.
    Cells,
}

/// Flash pages made of mapping units.
#[derive(Clone, Debug)]
pub struct Units {
    per_page: u32,
    /// Flash page in each plane's register plus one; 0: none.
    register: Vec<u32>,
    /// When the units of each block's unfinished flash page are all in the controller, ns, or the
    /// operation after which they are.
    gathered: Vec<Nanos>,
}

impl Units {
    /// Empty registers.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let per_page = geometry.units_per_flash_page;
        let of = |count: u32| if per_page == 1 { 0 } else { count as usize };
        Units {
            per_page,
            register: zeroed(of(geometry.planes())),
            gathered: zeroed(of(geometry.blocks())),
        }
    }

    /// Whether units are smaller than flash pages.
    #[inline]
    pub(super) fn are_small(&self) -> bool {
        self.per_page > 1
    }

    /// Whether a program of this unit completes its flash page.
    #[inline]
    pub(super) fn completes(&self, ppn: Ppn) -> bool {
        self.per_page == 1 || (ppn.0 + 1).is_multiple_of(self.per_page)
    }

    /// A flash page was sensed.
    pub(super) fn sensed(&mut self, plane: PlaneId, ppn: Ppn) {
        self.register[plane.index()] = ppn.0 / self.per_page + 1;
    }

    /// A plane's register holds something else now.
    #[inline]
    pub(super) fn used(&mut self, plane: PlaneId) {
        if self.are_small() {
            self.register[plane.index()] = 0;
        }
    }

    /// After a power cut registers are empty, and nothing is gathering.
    pub(super) fn power_on(&mut self) {
        self.register.fill(0);
    }
}

impl Nand {
    /// Where a unit is read from. A flash page whose program failed stays in the controller until
    /// its block is collected.
    pub(super) fn source(&self, ppn: Ppn) -> Source {
        let block = self.geometry.block_of(ppn);
        let known = self.state.block(block);
        let units = self.units.per_page;
        let failed = if known.read_only { units } else { 0 };
        let on_flash = (known.top - known.top % units).saturating_sub(failed);
        if self.geometry.offset_of(ppn) >= on_flash {
            return Source::Gathered;
        }
        let plane = self.geometry.plane_of_block(block);
        match self.units.register[plane.index()] == ppn.0 / units + 1 {
            true => Source::Register,
            false => Source::Cells,
        }
    }

    /// Reads a unit from wherever it is.
    pub(super) fn read_unit(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        let at = self.place(ppn);
        match self.source(ppn) {
            Source::Gathered => self.when_gathered(ppn, after),
            Source::Register => self.clock.transfer_unit(at, cause, after),
            Source::Cells => {
                self.units.sensed(at.plane, ppn);
                self.cells_sensed(ppn);
                self.clock.read_page(at, cause, after)
            }
        }
    }

    /// After the data of a gathering flash page is in the controller; for units that are on flash
    /// the clock waits by itself.
    pub(super) fn when_gathered(&self, ppn: Ppn, after: When) -> When {
        match self.source(ppn) {
            Source::Gathered => {
                let block = self.geometry.block_of(ppn);
                after.waits_for(When::at(self.units.gathered[block.index()]))
            }
            Source::Register | Source::Cells => after,
        }
    }

    /// A unit comes to the controller at `after`; returns when its flash page can be programmed, if
    /// it was the last.
    pub(super) fn gather(&mut self, ppn: Ppn, after: When) -> Option<When> {
        let block = self.geometry.block_of(ppn);
        let first = self.geometry.offset_of(ppn).is_multiple_of(self.units.per_page);
        let before = When::at(self.units.gathered[block.index()]);
        let all = if first { after } else { after.join(before) };
        let gathered = self.clock.narrow(all).time();
        self.units.gathered[block.index()] = gathered;
        let ready = after.waits_for(When::at(gathered));
        if !self.units.completes(ppn) {
            return None;
        }
        let plane = self.geometry.plane_of_block(block);
        self.units.used(plane);
        Some(ready)
    }

    /// Programs a flash page that is still gathering as it is, the rest of it empty: its block
    /// takes no more pages.
    pub(in crate::board) fn finish_flash_page(
        &mut self,
        block: BlockId,
        cause: Cause,
        after: When,
    ) -> When {
        let top = self.state.block(block).top;
        let units = self.units.per_page;
        if top.is_multiple_of(units) || self.state.block(block).read_only {
            return after;
        }
        let ready = after.waits_for(When::at(self.units.gathered[block.index()]));
        for offset in top..top.next_multiple_of(units) {
            self.state.store_torn(self.geometry.page(block, offset));
        }
        let last = self.geometry.page(block, top.next_multiple_of(units) - 1);
        let plane = self.geometry.plane_of_block(block);
        self.units.used(plane);
        self.clock.program_page((plane, block, last), self.load, cause, ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::board::nand::state::PageKind;
    use crate::board::settings::BoardSettings;
    use crate::request::{PageIo, RequestShape};
    use crate::settings::Groups as _;
    use crate::units::{Lpn, Tag};

    /// The fourth unit is there at once, the third only at 3 ms: the flash page waits for all of
    /// them, and so does a read of the third.
    #[test]
    fn a_flash_page_is_programmed_when_its_last_unit_has_come() {
        let mut config = BoardSettings::default();
        for (key, value) in [
            ("device.mapping_unit", "512"),
            ("timing.profile", "parallel"),
            ("timing.program", "300us"),
            ("timing.page_transfer", "40us"),
        ] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 0);
        let request =
            RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
        let write = |board: &mut Board, page: u32, after: Nanos| {
            let (cause, data) = (Cause::Host, Tag(1));
            let io = PageIo { lpn: Lpn(page), sectors: u64::MAX, cause, data, request };
            let done = board.program_update(Ppn(page), None, &io, PageKind::Data, When::at(after));
            done.map(When::time).unwrap_or(Nanos::MAX)
        };
        assert_eq!([0, 1].map(|page| write(&mut board, page, 0)), [0, 0]);
        assert_eq!(write(&mut board, 2, 3_000_000), 3_000_000);
        let read = board.read(Ppn(2), Cause::Host, When::START).map(|(done, _)| done.time());
        assert!(matches!(read, Ok(3_000_000)), "it is not there before");
        assert_eq!(write(&mut board, 3, 0), 3_000_000 + 40_000 + 300_000);
        let block = board.geometry().block_of(Ppn(3));
        let next = board.finish_flash_page(block, Cause::Host, When::at(5));
        assert_eq!(next.time(), 5, "nothing gathers");
        assert_eq!(write(&mut board, 4, 9_000_000), 9_000_000);
        let done = board.finish_flash_page(block, Cause::Host, When::START);
        assert_eq!(done.time(), 9_000_000 + 40_000 + 300_000);
    }

    const READ: Nanos = 130_900;
    const PROGRAM: Nanos = 405_900;

    /// Flash pages of four units on two planes of blocks of 64 flash pages: a block has 256 units.
    fn small(pairs: &[(&str, &str)]) -> Board {
        let units = [("device.mapping_unit", "512"), ("device.planes", "2")];
        crate::board::for_tests::board(&[&units[..], pairs].concat())
    }

    /// Programs these units; when the last of them is done.
    fn fill(board: &mut Board, units: std::ops::Range<u32>) -> Nanos {
        units.fold(0, |_, unit| {
            let done = crate::board::for_tests::write(board, unit, unit + 1);
            done.expect("power is on")
        })
    }

    /// A flash page crosses in 40 us, a unit in 10.
    #[test]
    fn units_beside_one_that_was_sensed_come_from_the_register() {
        let mut board = small(&[("timing.page_transfer", "40us")]);
        let mut at = fill(&mut board, 0..12);
        assert_eq!(at, 3 * (40_000 + PROGRAM));
        let read = |board: &mut Board, unit| {
            let before = board.nand().clock().idle_from();
            let done = crate::board::for_tests::read(board, unit);
            assert_eq!(done.map(|(_, version)| version), Ok(Tag(unit + 1)));
            board.nand().clock().idle_from() - before
        };
        let (sensed, transferred) = (READ + 10_000, 10_000);
        let times = [5, 7, 4, 8, 9, 5].map(|unit| read(&mut board, unit));
        assert_eq!(times, [sensed, transferred, transferred, sensed, transferred, sensed]);
        // A read of nothing in that plane uses its register.
        let nothing = board.read_implicit(0, Cause::Host, When::START);
        assert!(nothing.is_ok());
        assert_eq!([5, 6].map(|unit| read(&mut board, unit)), [sensed, transferred]);
        // So does a program, and the power takes what is in it.
        at = fill(&mut board, 12..16);
        assert_eq!(board.nand().clock().idle_from(), at);
        assert_eq!([5, 6].map(|unit| read(&mut board, unit)), [sensed, transferred]);
        board.nand_mut().cut_power();
        board.power_on();
        assert_eq!(read(&mut board, 6), sensed);
    }

    #[test]
    fn an_entry_of_what_is_at_hand_costs_nothing() {
        let mut board = small(&[]);
        let at = fill(&mut board, 0..9);
        let entry = |board: &mut Board, unit| {
            let done = board.read_entry(Some(Ppn(unit)), 0, Cause::Translate, When::START);
            assert!(done.is_ok());
            board.nand().clock().idle_from() - at
        };
        assert_eq!([8, 4].map(|unit| entry(&mut board, unit)), [0, READ]);
        assert!(crate::board::for_tests::read(&mut board, 5).is_ok());
        assert_eq!([6, 2].map(|unit| entry(&mut board, unit)), [2 * READ, 3 * READ]);
        assert_eq!(board.meter().reads(Cause::Translate), 4);
    }

    #[test]
    fn nothing_is_marked_of_what_still_gathers() {
        let mut board = small(&[]);
        let _ = fill(&mut board, 0..6);
        assert_eq!((board.nand_mut().invalidate(Ppn(4)), board.nand().oob_writes()), (5, 0));
        assert_eq!((board.nand_mut().invalidate(Ppn(3)), board.nand().oob_writes()), (4, 1));
    }

    /// What is read from the cells can be lost, what is read from elsewhere cannot.
    #[test]
    fn reads_of_cells_fail_and_others_do_not() {
        let mut board = small(&[]);
        let _ = fill(&mut board, 0..9);
        let read = |board: &mut Board, unit| {
            crate::board::for_tests::read(board, unit).map(|(_, version)| version)
        };
        assert_eq!(read(&mut board, 0), Ok(Tag(1)));
        board.nand_mut().faults_mut().fail_read_after(0);
        assert_eq!([8, 1].map(|unit| read(&mut board, unit)), [Ok(Tag(9)), Ok(Tag(2))]);
        assert_eq!(read(&mut board, 4), Ok(Tag::UNREADABLE));
        board.nand_mut().cut_power();
        for unit in [8, 1, 5] {
            assert_eq!(read(&mut board, unit), Err(crate::board::nand::fault::Fault::PowerCut));
        }
    }

    #[test]
    fn what_still_gathers_asks_nothing_of_its_die() {
        let mut board = small(&[("nand.failing_die", "0")]);
        let _ = fill(&mut board, 0..1);
        board.nand_mut().count_until_die_fails();
        let read = crate::board::for_tests::read(&mut board, 0);
        assert_eq!(read.map(|(_, version)| version), Ok(Tag(1)));
        assert_eq!(board.nand().known_failed_die(), None);
    }

    /// A register of a die that failed says nothing.
    #[test]
    fn the_register_of_a_die_that_failed_cannot_be_read() {
        let mut board = small(&[("nand.failing_die", "0")]);
        let _ = fill(&mut board, 0..4);
        assert!(crate::board::for_tests::read(&mut board, 0).is_ok());
        board.nand_mut().count_until_die_fails();
        let read = crate::board::for_tests::read(&mut board, 1);
        assert_eq!(read.map(|(_, version)| version), Ok(Tag::UNREADABLE));
    }

    /// Pages of two types; the flash page that gathers is the first of its block, or the second.
    #[test]
    fn a_flash_page_that_is_finished_early_takes_the_time_of_its_type() {
        for (units, first, time) in [(2, 0, 100_000), (6, 100_000, 200_000)] {
            let mut board = small(&[("timing.program_pages", "100us,200us")]);
            let _ = fill(&mut board, 0..units);
            let block = board.geometry().block_of(Ppn(0));
            let done = board.finish_flash_page(block, Cause::Host, When::START);
            assert_eq!(board.nand().clock().completion(done), first + time);
            assert_eq!(board.nand().state().block(block).top, units.next_multiple_of(4));
        }
    }
}
