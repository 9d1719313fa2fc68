//! A tree as a scheme: what its order of pruning does not change.

use super::{PageTree, Pruning, TreeSurvivor, sizes};
use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::when::When;
use crate::config::{Config, SettingError};
use crate::parts::demand_mapped::{self, Needs};
use crate::request::PageIo;
use crate::schemes::forward::forward;
use crate::schemes::{Location, Paper, Preset, RamUse, Scheme, Unsettled};
use crate::units::{Lpn, Tag};

impl<P: Pruning> Scheme for PageTree<P> {
    const PAPER: Paper = P::PAPER;
    const PRESETS: &'static [Preset] = P::PRESETS;
    const BUFFERS_DATA: bool = true;
    type Survivor = TreeSurvivor;

    fn works_in_gaps(config: &Config) -> bool {
        config.scheme.treeftl.idle_flush
    }

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        Needs::plain(config).minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        Needs::plain(config).payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        sizes::ram_use::<P>(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        Ok(Self::new(board, config, seed))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.read_page(board, io, after)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.write_page(board, io, after)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.trim_page(board, io, after)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.write_all(board, after)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.work_in_gap(board, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.examine(board)
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.find(board, lpn)
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        self.count_unsettled(board)
    }

    forward!(base: room);

    fn power_off(self) -> TreeSurvivor {
        self.survivor()
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: TreeSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        Self::rebuild(board, config, seed, survivor, after)
    }
}
