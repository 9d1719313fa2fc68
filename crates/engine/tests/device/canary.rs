//! Deliberately wrong schemes: the conformance test must reject every one of them, or it proves
//! nothing about the right ones.

use crate::common::conform::conform_audited;
use crate::common::{mixed, tiny};
use ftlab_engine::board::Board;
use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::board::when::When;
use ftlab_engine::config::SettingError;
use ftlab_engine::request::PageIo;
use ftlab_engine::schemes::ideal_page::{IdealPage, IdealPageSettings};
use ftlab_engine::schemes::{Location, Paper, RamUse, Room, Scheme, SchemeConfig, Unsettled};
use ftlab_engine::ssd::Ssd;
use ftlab_engine::units::{Lpn, Tag};

/// What a canary does wrong.
const NOTHING: u8 = 0;
const LOSES_A_WRITE: u8 = 1;
const READS_THE_NEIGHBOUR: u8 = 2;
const FORGETS_TRIMS: u8 = 3;
const TAKES_A_SHORT_CUT: u8 = 4;
const WRITES_TWICE: u8 = 5;
/// Nothing, but it says that it buffers the host's data itself.
const NOTHING_BUT_BUFFERS: u8 = 6;

/// The ideal page map with one fault.
#[derive(Clone)]
struct Canary<const WRONG: u8> {
    scheme: IdealPage,
    writes: u32,
}

impl<const WRONG: u8> Scheme for Canary<WRONG> {
    const PAPER: Paper = IdealPage::PAPER;
    const BUFFERS_DATA: bool = WRONG == NOTHING_BUT_BUFFERS;
    type Settings = IdealPageSettings;
    type Survivor = ();

    fn check(config: &SchemeConfig<Self::Settings>) -> Result<(), SettingError> {
        IdealPage::check(config)
    }

    fn minimum_blocks(config: &SchemeConfig<Self::Settings>) -> u64 {
        IdealPage::minimum_blocks(config)
    }

    fn payload_pages(config: &SchemeConfig<Self::Settings>) -> u64 {
        IdealPage::payload_pages(config)
    }

    fn ram_use(config: &SchemeConfig<Self::Settings>) -> Vec<RamUse> {
        IdealPage::ram_use(config)
    }

    fn format(
        board: &mut Board,
        config: &SchemeConfig<Self::Settings>,
        seed: u64,
    ) -> Result<Self, Fault> {
        Ok(Canary { scheme: IdealPage::format(board, config, seed)?, writes: 0 })
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let mut io = *io;
        if WRONG == READS_THE_NEIGHBOUR {
            io.lpn = Lpn(io.lpn.0 ^ 1);
        }
        self.scheme.read(board, &io, after)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.writes += 1;
        match WRONG {
            // As simulators do that lose writes which collide with collection.
            LOSES_A_WRITE if self.writes.is_multiple_of(50) => Ok(after),
            TAKES_A_SHORT_CUT if self.writes.is_multiple_of(50) => {
                let mut io = *io;
                io.lpn = Lpn(io.lpn.0 ^ 1);
                self.scheme.write(board, &io, after)
            }
            WRITES_TWICE if self.writes.is_multiple_of(50) => {
                let mut other = *io;
                other.lpn = Lpn(io.lpn.0 ^ 1);
                let when = self.scheme.write(board, &other, after)?;
                self.scheme.write(board, io, when)
            }
            _ => self.scheme.write(board, io, after),
        }
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        match WRONG {
            FORGETS_TRIMS => Ok(after),
            _ => self.scheme.trim(board, io, after),
        }
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.scheme.flush(board, after)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.scheme.idle(board, after)
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.scheme.locate(board, lpn)
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        self.scheme.unsettled(board)
    }

    fn room(&self) -> Room {
        self.scheme.room()
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &SchemeConfig<Self::Settings>,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (scheme, when) = IdealPage::recover(board, config, seed, (), after)?;
        Ok((Canary { scheme, writes: 0 }, when))
    }
}

/// Whether a scheme is taken for a right one, audited after every request and after every fifth.
fn verdict<const WRONG: u8>(pairs: &[(&str, &str)]) -> Result<(), String> {
    let [verdict, of_fifths] = [1, 5].map(|stride| audited::<WRONG>(pairs, stride));
    assert_eq!(verdict.is_ok(), of_fifths.is_ok(), "{pairs:?}: {verdict:?}, {of_fifths:?}");
    verdict
}

fn audited<const WRONG: u8>(pairs: &[(&str, &str)], stride: usize) -> Result<(), String> {
    let config = tiny("ideal_page", 24, pairs);
    let mut device = Ssd::<Canary<WRONG>>::new(&config, config.scheme.ideal_page.clone(), 1)
        .expect("legal settings");
    conform_audited(&mut device, &mixed(&config, 900, 1), stride)
}

/// A buffer in front hides no fault: what it does not hold is found below.
const PLACES: [&[(&str, &str)]; 2] = [&[], &[("buffer.name", "lru"), ("buffer.bytes", "2048")]];

#[test]
fn a_right_scheme_passes() {
    for pairs in PLACES {
        assert_eq!(verdict::<NOTHING>(pairs), Ok(()));
    }
}

#[test]
fn every_wrong_scheme_is_rejected_with_the_page_that_shows_it() {
    for pairs in PLACES {
        let verdicts = [
            verdict::<LOSES_A_WRITE>(pairs),
            verdict::<READS_THE_NEIGHBOUR>(pairs),
            verdict::<FORGETS_TRIMS>(pairs),
            verdict::<TAKES_A_SHORT_CUT>(pairs),
            verdict::<WRITES_TWICE>(pairs),
        ];
        for (index, verdict) in verdicts.into_iter().enumerate() {
            let error = verdict.expect_err(&format!("canary {} was not rejected", index + 1));
            assert!(error.contains("page"), "canary {}: {error}", index + 1);
        }
    }
}

#[test]
fn a_scheme_that_buffers_data_itself_takes_no_buffer_in_front() {
    let config = |pairs| tiny("ideal_page", 24, pairs);
    let [alone, buffered] = PLACES.map(config);
    assert!(
        Ssd::<Canary<NOTHING_BUT_BUFFERS>>::new(&alone, alone.scheme.ideal_page.clone(), 1).is_ok()
    );
    let refusal =
        Ssd::<Canary<NOTHING_BUT_BUFFERS>>::new(&buffered, buffered.scheme.ideal_page.clone(), 1)
            .err()
            .expect("refused");
    let refusal = refusal.to_string();
    assert!(refusal.contains("same pages twice") && refusal.contains("buffer.name = lru"));
}
