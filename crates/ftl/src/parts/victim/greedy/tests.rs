use super::*;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::rng::Purpose;
use ftlab_flash::settings::{Amount, Groups as _};
use ftlab_flash::units::{Lpn, PlaneId, Ppn, Tag};

/// What the policy is told, kept as plainly as can be: candidates with their valid pages, in
/// the order of what was told of them last.
#[derive(Default)]
struct Naive(Vec<(BlockId, u32)>);

impl Naive {
    fn put(&mut self, block: BlockId, valid: u32) {
        self.0.retain(|&(one, _)| one != block);
        self.0.push((block, valid));
    }

    /// The victim, then those as good.
    fn best(&self, pages: u32) -> Vec<BlockId> {
        let lossy = self.0.iter().filter(|&&(_, valid)| valid < pages);
        let Some(fewest) = lossy.map(|&(_, valid)| valid).min() else { return Vec::new() };
        let best = self.0.iter().filter(|&&(_, valid)| valid == fewest);
        best.map(|&(block, _)| block).collect()
    }
}

fn board(blocks: u32, pages: u32) -> Board {
    let mut config = SharedSettings::default();
    let device = [("device.blocks_per_plane", blocks), ("device.pages_per_block", pages)];
    for (key, value) in device {
        config.set(key, &value.to_string()).expect("legal settings");
    }
    Board::new(&config, 1, 0)
}

/// A block loses so many pages, of which the policy is told.
fn lose(board: &mut Board, greedy: &mut Greedy, block: u32, pages: u32) {
    for _ in 0..pages {
        let page = board.nand().state().next_valid(BlockId(block), 0).expect("a valid page");
        let left = board.nand_mut().invalidate(page);
        greedy.invalidated(BlockId(block), left);
    }
}

fn fill(board: &mut Board, block: BlockId) {
    let pages = board.geometry().pages_per_block;
    let request = RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
    let io = PageIo { lpn: Lpn(0), sectors: 1, cause: Cause::Host, data: Tag(1), request };
    for page in block.0 * pages..(block.0 + 1) * pages {
        let (page, kind) = (Ppn(page), PageKind::Data);
        assert!(board.program_update(page, None, &io, kind, When::START).is_ok());
    }
}

/// Against a plain list, through thousands of blocks that fill up, lose pages and leave: with
/// the best victim always, any, and all of them, so that the horizon goes up and down. With
/// notes that are numbered anew on the way.
#[test]
fn what_is_chosen_is_what_a_plain_list_says() {
    compare_with_plain_list(400, 16);
    compare_with_plain_list(1_082, 4);
}

fn context(blocks: u32, pages: u32) -> VictimContext<'static> {
    let (plane, blocks, one) = (PlaneId(0), 0..blocks, Amount::Count(1));
    VictimContext { plane, blocks, pages, choices: one, window: one, own: None }
}

fn compare_with_plain_list(blocks: u32, pages: u32) {
    let mut board = board(blocks, pages);
    let (mut rng, mut heights) = (Rng::new(5, Purpose::Workload), Vec::new());
    let context = context(blocks, pages);
    let mut greedy = Greedy::new(&context);
    let mut naive = Naive::default();
    for step in 0..60_000 {
        let block = BlockId(rng.below(blocks));
        let valid = board.nand().valid_pages(block);
        let known = naive.0.iter().any(|&(one, _)| one == block);
        // Few and many candidates by turns.
        let shrinks = step / 15_000 % 2 == 1;
        if step == 30_000 {
            greedy.notes = u32::MAX - 50;
        }
        if !known && !shrinks && board.nand().state().block(block).top == 0 {
            fill(&mut board, block);
            greedy.closed(&Census::of(board.nand()), block);
            naive.put(block, pages);
        } else if known && valid > 0 && rng.below(if shrinks { 4 } else { 40 }) > 0 {
            let page = board.nand().state().next_valid(block, 0).expect("a valid page");
            let left = board.nand_mut().invalidate(page);
            greedy.invalidated(block, left);
            naive.put(block, left);
        } else if let Some(&victim) = naive.best(pages).first() {
            let victim = if rng.below(8) == 0 && known { block } else { victim };
            greedy.removed(victim);
            naive.0.retain(|&(one, _)| one != victim);
            while let Some(page) = board.nand().state().next_valid(victim, 0) {
                board.nand_mut().invalidate(page);
            }
            let role = ftlab_flash::meter::BlockRole::Data;
            assert!(board.erase(victim, role, Cause::Gc, When::START).is_ok());
        }
        let best = naive.best(pages);
        let choice = greedy.choose(&Census::of(board.nand()), &mut rng);
        assert_eq!(choice.victim, best.first().copied(), "step {step}");
        assert_eq!(choice.steps as usize, naive.0.len(), "step {step}");
        if let Some(victim) = choice.victim {
            let equals = greedy.equals(&Census::of(board.nand()), victim);
            let others: Vec<BlockId> = best.iter().copied().skip(1).collect();
            let shown = others.len().min(equals.blocks().len());
            assert_eq!(equals.blocks()[..shown], others[..shown], "step {step}");
            assert!(shown == others.len() || shown == super::super::EQUALS, "step {step}");
        }
        heights.push(greedy.horizon);
    }
    assert!(greedy.notes < 60_000, "notes were numbered anew");
    let turns = heights.windows(3).filter(|h| (h[0] < h[1]) != (h[1] < h[2])).count();
    assert!(turns > 10, "the horizon went up and down {turns} times");
}

/// Candidates multiply while the horizon stands low, pages die below it, and then one leaves
/// that is beyond it: fewer are in lists than there should be by now, and the horizon stays.
#[test]
fn a_horizon_that_comes_down_never_goes_up() {
    let mut board = board(1082, 4);
    let context = context(1082, 4);
    let (mut greedy, mut naive) = (Greedy::new(&context), Naive::default());
    let close = |board: &mut Board, greedy: &mut Greedy, naive: &mut Naive, block| {
        fill(board, block);
        greedy.closed(&Census::of(board.nand()), block);
        naive.put(block, 4);
    };
    let lose = |board: &mut Board, greedy: &mut Greedy, naive: &mut Naive, block, pages| {
        for _ in 0..pages {
            let page = board.nand().state().next_valid(block, 0).expect("a valid page");
            let left = board.nand_mut().invalidate(page);
            greedy.invalidated(block, left);
            naive.put(block, left);
        }
    };
    (0..200).for_each(|block| close(&mut board, &mut greedy, &mut naive, BlockId(block)));
    (0..30).for_each(|block| lose(&mut board, &mut greedy, &mut naive, BlockId(block), 3));
    greedy.removed(BlockId(199));
    naive.0.retain(|&(one, _)| one != BlockId(199));
    let low = greedy.horizon;
    assert_eq!(low, 1);
    (200..1_076).for_each(|block| close(&mut board, &mut greedy, &mut naive, BlockId(block)));
    (30..67).for_each(|block| lose(&mut board, &mut greedy, &mut naive, BlockId(block), 3));
    lose(&mut board, &mut greedy, &mut naive, BlockId(40), 1);
    assert!(greedy.listed > greedy.most_listed && greedy.listed <= greedy.enough());
    greedy.removed(BlockId(39));
    naive.0.retain(|&(one, _)| one != BlockId(39));
    assert!(greedy.horizon <= low);
    for block in (700..740).chain(41..60) {
        let valid = board.nand().valid_pages(BlockId(block));
        lose(&mut board, &mut greedy, &mut naive, BlockId(block), valid.min(2));
        let choice = greedy.choose(&Census::of(board.nand()), &mut Rng::new(1, Purpose::Victim));
        assert_eq!(choice.victim, naive.best(4).first().copied(), "block {block}");
    }
}

/// Far from being chosen, block 150 and then block 140 lose a page, between which the numbers of
/// notes end; 180 had lost one before. When all others are gone, 180 goes first, and 140 last.
#[test]
fn the_order_of_notes_outlives_their_numbers() {
    let mut board = board(1082, 4);
    let mut greedy = Greedy::new(&context(1082, 4));
    for block in (0..200).map(BlockId) {
        fill(&mut board, block);
        greedy.closed(&Census::of(board.nand()), block);
    }
    (0..30).for_each(|block| lose(&mut board, &mut greedy, block, 3));
    greedy.removed(BlockId(199));
    assert_eq!(greedy.horizon, 1);
    lose(&mut board, &mut greedy, 180, 1);
    greedy.notes = u32::MAX - 1;
    lose(&mut board, &mut greedy, 150, 1);
    assert_eq!(greedy.notes, u32::MAX);
    lose(&mut board, &mut greedy, 140, 1);
    assert_eq!(greedy.notes, 199 + 1, "each candidate's last, and one more");
    (0..30).for_each(|block| greedy.removed(BlockId(block)));
    let mut order = Vec::new();
    while let Some(victim) =
        greedy.choose(&Census::of(board.nand()), &mut Rng::new(1, Purpose::Victim)).victim
    {
        greedy.removed(victim);
        order.push(victim.0);
    }
    assert_eq!(order, [180, 150, 140]);
}

/// Filled from the highest number down, given up by their list and taken up again: those that
/// lost a page at once go in the order in which they were full.
#[test]
fn blocks_that_are_full_are_noted_one_after_the_other() {
    let mut board = board(1082, 4);
    let mut greedy = Greedy::new(&context(1082, 4));
    for block in (0..200).rev().map(BlockId) {
        fill(&mut board, block);
        if block.0 >= 100 {
            let page = board.nand().state().next_valid(block, 0).expect("a valid page");
            board.nand_mut().invalidate(page);
        }
        greedy.closed(&Census::of(board.nand()), block);
    }
    (0..30).for_each(|block| lose(&mut board, &mut greedy, block, 3));
    greedy.removed(BlockId(99));
    assert_eq!(greedy.horizon, 1, "the others are in no list");
    (0..30).for_each(|block| greedy.removed(BlockId(block)));
    for expected in [199, 198, 197] {
        let mut rng = Rng::new(1, Purpose::Victim);
        let victim = greedy.choose(&Census::of(board.nand()), &mut rng).victim;
        assert_eq!(victim, Some(BlockId(expected)));
        greedy.removed(BlockId(expected));
    }
}
