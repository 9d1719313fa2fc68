//! How blocks come back: marked first and erased later, or found after a power cut; and which one
//! is taken for what.

use super::*;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::Ppn;

/// One plane of six blocks of four pages.
fn device(pairs: &[(&str, &str)]) -> (Board, SharedSettings) {
    let mut config = SharedSettings::default();
    let common = [("device.pages_per_block", "4"), ("device.blocks_per_plane", "6")];
    common.iter().chain(pairs).for_each(|(key, value)| config.set(key, value).expect("legal"));
    (Board::new(&config, 1, 64), config)
}

fn program(board: &mut Board, block: u32) -> Result<Ppn, Fault> {
    let ppn = board.geometry().page(BlockId(block), 0);
    let what = (PageKind::Map, block);
    let payload = Payload::Words(&[7]);
    let done = board.program_payload(ppn, what, payload, Cause::Translate, When::START);
    done.map(|_| ppn)
}

const WHY: (BlockRole, Cause) = (BlockRole::Log, Cause::Merge);

#[test]
fn a_block_that_is_given_back_is_erased_at_once_or_when_its_turn_comes() {
    let (mut board, config) = device(&[]);
    let mut supply = BlockSupply::new(&board, &config);
    let taken = [(); 3].map(|()| {
        supply.take(&board, PlaneId(0), Need::Growth, When::START).expect("six are free").0
    });
    let given = supply.give_back(&mut board, taken[0], WHY, When::START).expect("it works");
    assert_ne!(given, When::START, "erased at once");
    assert_eq!((supply.free_blocks(), supply.marked()), (4, 0));
    assert_eq!(supply.erase_marked(&mut board, When::START), Ok(None));
    supply.mark_only(&board);
    for (block, marked) in [(taken[2], 1), (taken[1], 2)] {
        assert_eq!(supply.give_back(&mut board, block, WHY, When::START), Ok(When::START));
        assert_eq!((supply.free_blocks(), supply.marked()), (4, marked));
    }
    let erases = |board: &Board, block: BlockId| board.nand().state().block(block).erases;
    let done = supply.erase_marked(&mut board, When::START).expect("it works");
    assert!(done.is_some_and(|done| done != When::START));
    assert_eq!((erases(&board, taken[2]), erases(&board, taken[1])), (1, 0), "the first one first");
    assert_eq!((supply.free_blocks(), supply.marked()), (5, 1));
    assert!(supply.erase_marked(&mut board, When::START).expect("it works").is_some());
    assert_eq!((supply.free_blocks(), supply.marked()), (6, 0));
}

/// The last block of the plane holds a valid page, and block 2 one that is not valid; block 1 was
/// retired; 0, 3 and 4 were never used.
#[test]
fn after_a_power_cut_what_holds_something_valid_is_not_free_and_the_rest_is_erased() {
    let (mut board, config) = device(&[]);
    let kept = program(&mut board, 5).expect("nothing fails");
    assert!(program(&mut board, 2).is_ok());
    board.nand_mut().faults_mut().fail_erase_after(0);
    let failed = board.erase(BlockId(1), BlockRole::Log, Cause::Merge, When::START);
    assert!(matches!(failed, Err(Fault::EraseFailed { .. })));
    board.nand_mut().cut_power();
    board.power_on();
    board.nand_mut().revalidate(kept);
    let role = |_: &Board, block: BlockId| {
        assert_eq!(block, BlockId(2), "no other one is erased");
        BlockRole::Log
    };
    let found = BlockSupply::recover(&mut board, &config, role, When::START);
    let (mut supply, done) = found.expect("nothing fails");
    assert_ne!(done, When::START);
    assert_eq!((supply.free_blocks(), board.meter().erases_by_cause(Cause::Recover)), (4, 1));
    let mut taken: Vec<u32> = std::iter::from_fn(|| {
        supply.take(&board, PlaneId(0), Need::Merge, When::START).ok().map(|(block, _)| block.0)
    })
    .collect();
    taken.sort_unstable();
    assert_eq!(taken, [0, 2, 3, 4]);
    assert!(board.nand().state().is_valid(kept));
}

/// Blocks 0 and 1 are free after one erase and three. What grows takes the least worn one,
/// levelling the most worn; merged data takes it where the policy says that it lives long.
#[test]
fn the_most_worn_block_is_for_levelling_and_where_it_is_said_for_merged_data() {
    let all = [Need::Growth, Need::Merge, Need::Wear];
    for (policy, worn) in [("dynamic", [false, true, true]), ("static", [false, false, true])] {
        let taken = all.map(|need| {
            let (mut board, config) = device(&[("wear.policy", policy)]);
            let mut supply = BlockSupply::new(&board, &config);
            let all = supply.free_blocks();
            for _ in 0..all {
                assert!(supply.take(&board, PlaneId(0), Need::Merge, When::START).is_ok());
            }
            for (block, erases) in [(0, 1), (1, 3)] {
                for _ in 1..erases {
                    let (role, cause) = WHY;
                    assert!(board.erase(BlockId(block), role, cause, When::START).is_ok());
                }
                let (role, cause) = WHY;
                let block = BlockId(block);
                assert!(supply.release(&mut board, block, role, cause, When::START).is_ok());
            }
            supply.take(&board, PlaneId(0), need, When::START).expect("two are free").0
        });
        assert_eq!(taken.map(|block| block == BlockId(1)), worn, "{policy}");
    }
}
