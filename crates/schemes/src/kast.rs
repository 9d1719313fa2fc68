//! # Idea
//! Updates go to a small log in which every block serves at most K logical blocks, so that no merge
//! is longer than K rebuilds: the longest wait is chosen, not suffered. Streams that begin at the
//! beginning of a logical block get log blocks of their own, which become data blocks as they are.
//!
//! # Paper
//! Cho, Shin, Eom, "KAST: K-associative sector translation for NAND flash memory in real-time
//! systems", DATE 2009. Which block takes a write, and what makes room, is silent there (we know
//! the abstract): it follows uC/FS, a file system whose manual names KAST as its model (behaviour
//! observed, `docs/papers/others.md#kast`).
//!
//! # Structures
//! P: pages per block. Block table; at most Nlog update blocks: sequential ones (SUB), each of one
//! logical block from its page 0 on, a share of them at most, and random ones (RUB), each with at
//! most K owners. A logical block has at most one update block, and all its log pages are there.
//!
//! # Read
//! The newest copy: in the update block of the logical block, else in the data block.
//!
//! # Write
//! See [`Kast::step`]: a page that its data block has room for goes there; else the steps of the
//! logical block's SUB, of its RUB, or those that find it an update block.
//!
//! # Reclaim
//! One page written is one merge at most: the place that a merge frees is taken before anything
//! else is asked. A merge is at most the rebuild of K logical blocks and the erase of their old
//! data blocks and of the RUB. So a page waits for at most K P (read + program) + (K + 1) erase
//! before its own program, and K = P bounds all larger K. What else can make it wait: a failed
//! program or erase, `wear.policy = static` (a data block more), strays of a power cut (before the
//! first write).
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins. A log block that is
//! the beginning of a logical block goes on as a SUB, one whose valid pages belong to at most K
//! logical blocks as a RUB; others, and those whose logical block has another, are merged before
//! the next write. What an interrupted merge left of an old data block moves to the free places of
//! the new one.
//!
//! # Deviations
//! Of uC/FS: no second merge for one page (a full SUB is not merged when a place was just freed; a
//! RUB's owner leaves it for a SUB only if that needs no other merge); no more SUBs than allowed
//! (an idle one makes way, or the write counts as random); the last gap of a nearly full SUB is
//! filled, not left open; an idle SUB must be roomy to become a RUB, as its notes say and its code
//! does not. First writes go to the data block, as in every scheme here. Trims are ours.
//!
//! # Settings
//! Group `kast`.

mod ranks;
mod settings;
mod steps;

use ranks::{Ranks, Written};
pub use settings::{KastSettings, MergePriority};
use steps::Step;

use crate::kast::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::zeroed;
use ftlab_ftl::answers::Room;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped};
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::merge_engine::Sources;
use ftlab_ftl::parts::owned_logs::{MergeRules, OwnedLogs, OwnedVictim, Owner, Shape};
use ftlab_ftl::parts::sequential_area::SequentialArea;
use ftlab_ftl::parts::sequential_log::{OpenLog, SequentialLog};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Kast;

/// KAST.
#[derive(Clone)]
pub struct Kast {
    base: BlockMapped,
    sequential: SequentialArea,
    random: OwnedLogs,
    /// Write requests so far.
    requests: u64,
    /// Pages written to update blocks so far, and update blocks taken over.
    turn: u64,
    /// When each SUB, and each RUB, was last written.
    sub_written: Vec<Written>,
    rub_written: Vec<Written>,
    ranks: Ranks,
    /// Nlog.
    limit: u32,
    pages_per_block: u32,
    settings: KastSettings,
}

/// Nlog.
fn log_blocks(config: &Config) -> u64 {
    let KastSettings { log_pct, log_blocks, .. } = &config.own;
    block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, 1)
}

/// K, as far as it has an effect.
fn owners(config: &Config) -> u32 {
    config.own.K.min(config.device.units_per_block())
}

impl Scheme for Kast {
    const PAPER: Paper = Paper {
        name: "kast",
        title: "KAST: K-associative sector translation for NAND flash memory in real-time systems",
        authors: "Cho, Shin, Eom",
        venue: "DATE",
        year: 2009,
        sections: "log blocks of at most K logical blocks, several sequential log blocks; allocation, \
                   conversion and padding as in uC/FS",
        deviations: &[
            "which update block takes a write, and what makes room, is taken from uC/FS: the paper \
             could not be read",
            "one merge per page written at most, where uC/FS may need two",
            "never more sequential update blocks than allowed, where uC/FS may exceed the number",
            "gaps of a nearly full sequential update block are filled, where uC/FS leaves them",
            "first writes go to the data block; trims and their record pages are added",
        ],
        family: Family::LogBlock,
        class: Classification::with_log(
            "several sequential, the others shared by K at most",
            "K:1",
        ),
    };
    const PRESETS: &'static [Preset] =
        &[("k1", &[("kast.K", "1")]), ("k4", &[("kast.K", "4")]), ("k8", &[("kast.K", "8")])];
    type Settings = KastSettings;
    type Survivor = ();

    fn minimum_blocks(config: &Config) -> u64 {
        let own = log_blocks(config) + u64::from(config.own.reserve);
        BlockMapped::minimum_blocks(config, own)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let logs = log_blocks(config);
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, logs)),
            ("update_block_owners", logs * u64::from(owners(config)) * 4),
            // Block, next page and time of the last write.
            ("update_blocks", logs * 12),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        Ok(Kast::on(BlockMapped::new(board, config), board, config, seed))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let subs = self.sequential.len();
        let mut when = self.base.merge_strays(board, &mut self.sequential, after)?;
        if self.sequential.len() != subs {
            self.rank_all(board);
        }
        self.requests += u64::from(io.request.index == 0);
        let mut settled = false;
        let done = loop {
            let step = self.step(board, io, settled);
            match step {
                Step::ConvertSub(place) => self.convert(board, place),
                Step::TurnSub(place) => {
                    self.convert(board, place);
                    settled = true;
                }
                Step::MergeSub(_) | Step::MergeRub(_) | Step::MergeSomeRub | Step::LeaveRub(_) => {
                    when = self.make_room(board, step, io, when)?;
                    settled = true;
                }
                _ => match self.perform(board, step, io, when) {
                    // The RUB takes no more pages: it is as good as full.
                    Err(Fault::ProgramFailed { known, .. }) => when = known,
                    other => break other?,
                },
            }
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        for (_, log) in self.sequential.open_logs() {
            let owner = log.open_log().map(|open| open.owner);
            if let Some(lbn) = owner.filter(|lbn| self.random.of(Owner(lbn.0)).is_some()) {
                return Err(format!("logical block {} has two update blocks", lbn.0));
            }
        }
        self.check_ranks(board)?;
        self.random.self_check(board)?;
        self.base.self_check(board, self.in_use())
    }

    forward!(base: payload_pages, read, trim, flush, locate);

    fn room(&self) -> Room {
        Room { free_blocks: self.limit - self.in_use(), threshold: 1 }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut kast = Kast::on(base, board, config, seed);
        kast.resume(board, &found.logs);
        let done = kast.base.evacuate(board, &found.leftovers, erased)?;
        Ok((kast, done))
    }
}

impl Kast {
    /// Without an update block yet.
    fn on(base: BlockMapped, board: &Board, config: &Config, seed: u64) -> Self {
        let settings = config.own.clone();
        let limit = log_blocks(config) as u32;
        let subs = (u64::from(limit) * u64::from(settings.sub_max_pct)).div_ceil(100) as u32;
        let sequential = SequentialArea::new(board.geometry(), subs, subs);
        let shape = Shape { limit, group: 1, sharers: owners(config) };
        let rules = MergeRules { check: settings.seq_check, partial: true };
        let random = OwnedLogs::new(board.nand(), shape, rules, OwnedVictim::Lru, seed);
        Kast {
            base,
            sub_written: zeroed(sequential.places() as usize),
            rub_written: zeroed(limit as usize),
            ranks: Ranks::new(sequential.places(), limit),
            sequential,
            random,
            requests: 0,
            turn: 0,
            limit,
            pages_per_block: board.geometry().pages_per_block,
            settings,
        }
    }

    /// Update blocks in use.
    fn in_use(&self) -> u32 {
        self.sequential.len() + self.random.len()
    }

    /// Writes the page.
    fn perform(
        &mut self,
        board: &mut Board,
        step: Step,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        let owner = Owner(lbn.0);
        self.turn += 1;
        let written = Written { request: self.requests, turn: self.turn };
        let (place, ready) = match step {
            Step::InPlace => return self.base.write_in_place(board, io, after),
            Step::AppendSub(place) | Step::PadSub(place) => {
                self.sub_written[place.index()] = written;
                let done = match step {
                    Step::PadSub(_) => {
                        self.sequential.append_padded(place, board, engine, io, after)?
                    }
                    _ => self.sequential.append(place, board, engine, io, after)?,
                };
                self.rank_sub(place);
                return Ok(done);
            }
            Step::OpenSub => {
                let done = self.sequential.open(board, engine, io, after)?;
                if let Some(place) = self.sequential.of(lbn) {
                    self.sub_written[place.index()] = written;
                    self.rank_sub(place);
                }
                self.tell(board);
                return Ok(done);
            }
            Step::AppendRub(place) => (place, after),
            Step::JoinRub(place) => {
                self.random.join(place, owner);
                (place, after)
            }
            Step::OpenRub => {
                let opened = self.random.open(board, engine, owner, after)?;
                self.tell(board);
                opened
            }
            _ => unreachable!("{step:?} writes nothing"),
        };
        self.rub_written[place.index()] = written;
        let done = self.random.append(place, board, &mut self.base.engine, io, ready);
        self.rank_rub(board, place);
        done
    }

    /// Merges what the step says.
    #[cold]
    fn make_room(
        &mut self,
        board: &mut Board,
        step: Step,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        let done = match step {
            Step::MergeSub(place) => {
                let done = self.sequential.merge(place, board, engine, None, after)?;
                self.rank_sub(place);
                done
            }
            Step::MergeRub(place) => self.merge_rub(board, place, after)?,
            Step::MergeSomeRub => {
                let (place, found) = match self.settings.victim {
                    MergePriority::Lru => self.random.choose(board, engine, None, after),
                    MergePriority::FullThenIdle => {
                        let place = self.ranks.to_merge.min();
                        let found = board.search(Search::Block, self.random.len(), after);
                        (place.expect("no SUB was to be merged, so there is a RUB"), found)
                    }
                };
                self.merge_rub(board, place, found)?
            }
            Step::LeaveRub(place) => {
                let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
                self.leave(board, place, lbn, after)?
            }
            _ => unreachable!("{step:?} merges nothing"),
        };
        self.tell(board);
        Ok(done)
    }

    fn merge_rub(&mut self, board: &mut Board, place: Slot, after: When) -> Result<When, Fault> {
        let done = self.random.merge(place, board, &mut self.base.engine, &mut (), after)?;
        self.rank_rub(board, place);
        Ok(done)
    }

    /// Merges one owner out of its RUB, which is erased if that was the only one.
    fn leave(
        &mut self,
        board: &mut Board,
        place: Slot,
        lbn: Lbn,
        after: When,
    ) -> Result<When, Fault> {
        if self.random.sharers(place).count() == 1 {
            return self.merge_rub(board, place, after);
        }
        let mut pages = (0..self.pages_per_block).map(|offset| lbn.page(board.geometry(), offset));
        let mut done = after;
        // Otherwise all its pages there were trimmed.
        if pages.any(|lpn| self.base.engine.logs.get(lpn).is_some()) {
            done = self.base.engine.rebuild(board, lbn, None, Sources::Newest, after)?;
            board.merge_full(1);
        }
        self.random.leave(place, Owner(lbn.0));
        self.rank_rub(board, place);
        Ok(done)
    }

    /// A SUB goes on as a RUB of the same owner.
    fn convert(&mut self, board: &mut Board, place: Slot) {
        let OpenLog { block, owner, .. } = self.sequential.give_up(place);
        let taken = self.random.take_over(board.nand(), block, Owner(owner.0));
        self.turn += 1;
        let written = Written { turn: self.turn, ..self.sub_written[place.index()] };
        self.rub_written[taken.index()] = written;
        self.rank_sub(place);
        self.rank_rub(board, taken);
        board.event(Event::Conversions, 1);
        self.tell(board);
    }

    fn tell(&self, board: &mut Board) {
        board.level(Level::SequentialLogBlocks, u64::from(self.sequential.len()));
        board.level(Level::RandomLogBlocks, u64::from(self.random.len()));
    }

    /// Takes over the log blocks found after a power cut.
    fn resume(&mut self, board: &Board, logs: &[Survivor]) {
        let (sequential, random) = (&mut self.sequential, &mut self.random);
        self.base.hand_over_youngest(board, logs, self.limit, |board, log| {
            let begun = SequentialLog::found(log)
                .filter(|open| open.first == 0 && random.of(Owner(open.owner.0)).is_none());
            begun.is_some_and(|open| sequential.resume(open))
                || random.resume(board, log.block, |owner| {
                    u32::from(sequential.of(Lbn(owner.0)).is_none())
                })
        });
        self.rank_all(board);
    }
}
