//! A tree as a scheme: what its order of pruning does not change.

use super::over_blocks::OverBlocks;
use super::over_pages::OverPages;
use super::{PageTree, Pruning, TreeSurvivor, block_sizes, sizes};
use crate::replacement_block::ReplacementBlock;
use crate::treeftl::settings::TreeMap;
use crate::treeftl::settings::{Config, TreeOwn};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::answers::{Location, Room, Unsettled};
use ftlab_ftl::parts::demand_mapped::{self, Needs};
use ftlab_ftl::scheme::{Paper, Preset, Scheme};

/// A tree over the map that `treeftl.map` names.
#[derive(Clone)]
pub enum Tree<P> {
    /// Over a map of pages.
    Pages(Box<PageTree<P, OverPages>>),
    /// Over a map of blocks.
    Blocks(Box<PageTree<P, OverBlocks>>),
}

/// What the tree does, whatever it stands on.
macro_rules! tree {
    ($tree:expr, $known:ident => $do:expr) => {
        match $tree {
            Tree::Pages($known) => $do,
            Tree::Blocks($known) => $do,
        }
    };
}

/// Whether the map is one of blocks.
fn of_blocks<O>(config: &Config<O>) -> bool {
    config.own.treeftl.map == TreeMap::Block
}

impl<P: Pruning> Scheme for Tree<P> {
    const PAPER: Paper = P::PAPER;
    const PRESETS: &'static [Preset] = P::PRESETS;
    const BUFFERS_DATA: bool = true;
    type Settings = TreeOwn<P::Settings>;
    type Survivor = TreeSurvivor;

    fn works_in_gaps(config: &Config<P::Settings>) -> bool {
        config.own.treeftl.idle_flush
    }

    fn stands_on(config: &Config<P::Settings>) -> Option<&'static str> {
        P::STANDS_ON.or(of_blocks(config).then_some(ReplacementBlock::PAPER.name))
    }

    fn check(config: &Config<P::Settings>) -> Result<(), SettingError> {
        match of_blocks(config) {
            true => block_sizes::check(config),
            false => demand_mapped::check(config),
        }
    }

    fn minimum_blocks(config: &Config<P::Settings>) -> u64 {
        match of_blocks(config) {
            true => block_sizes::minimum_blocks(config),
            false => Needs::plain(config).minimum_blocks(config),
        }
    }

    fn payload_pages(config: &Config<P::Settings>) -> u64 {
        match of_blocks(config) {
            true => block_sizes::payload_pages(config),
            false => Needs::plain(config).payload_pages(config),
        }
    }

    fn ram_use(config: &Config<P::Settings>) -> Vec<RamUse> {
        sizes::ram_use::<P>(config)
    }

    fn format(board: &mut Board, config: &Config<P::Settings>, seed: u64) -> Result<Self, Fault> {
        Ok(match of_blocks(config) {
            true => Tree::Blocks(Box::new(PageTree::over_blocks(board, config))),
            false => Tree::Pages(Box::new(PageTree::over_pages(board, config, seed))),
        })
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        tree!(self, tree => tree.serve(board, |tree, board| tree.read_page(board, io, after)))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        tree!(self, tree => tree.serve(board, |tree, board| tree.write_page(board, io, after)))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        tree!(self, tree => tree.serve(board, |tree, board| tree.trim_page(board, io, after)))
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        tree!(self, tree => tree.write_all(board, after))
    }

    fn uncleanable(config: &Config<P::Settings>) -> Option<&'static str> {
        let why = "changed pages of its block map are written only when the tree prunes them";
        of_blocks(config).then_some(why)
    }

    fn changed_entries(&self) -> u64 {
        tree!(self, tree => tree.changed_entries())
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        tree!(self, tree => tree.clean_map(board, after))
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        tree!(self, tree => tree.work_in_gap(board, after))
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        tree!(self, tree => tree.examine(board))
    }

    #[inline]
    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        tree!(self, tree => tree.find(board, lpn))
    }

    #[inline]
    fn find_ahead(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        tree!(self, tree => tree.find_ahead(board, lpn))
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        tree!(self, tree => tree.count_unsettled(board))
    }

    fn room(&self) -> Room {
        tree!(self, tree => tree.room())
    }

    fn power_off(self) -> TreeSurvivor {
        tree!(self, tree => tree.survivor())
    }

    fn recover(
        board: &mut Board,
        config: &Config<P::Settings>,
        seed: u64,
        survivor: TreeSurvivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        if of_blocks(config) {
            let (tree, done) = PageTree::<P, OverBlocks>::rebuild(board, config, survivor, after)?;
            return Ok((Tree::Blocks(Box::new(tree)), done));
        }
        let (tree, done) = PageTree::<P, OverPages>::rebuild(board, config, seed, survivor, after)?;
        Ok((Tree::Pages(Box::new(tree)), done))
    }
}
