//! Taking up a log-block scheme where a power cut left it: maps from the survey, and what an
//! interrupted merge left of an old data block.
//!
//! Nothing is rebuilt: pages move to the free places of the newer data block, or to the log. So a
//! recovery takes at most a log block more than it gives back, and what one recovery leaves half
//! done the next one finds as it finds everything else.

use crate::parts::block_survey::{Roles, Survey, Survivor};
use crate::parts::data_blocks::accepts;
use crate::parts::merge_engine::MergeEngine;
use crate::parts::random_log::RandomLog;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::Lpn;

/// Fills empty maps with what the survey and the chosen roles describe.
pub fn fill(board: &Board, engine: &mut MergeEngine, survey: &Survey, roles: &Roles) {
    for &(lbn, block) in &roles.data {
        engine.map_block(board.nand(), lbn, block);
    }
    for (lpn, ppn) in survey.newest() {
        if engine.data.page(board.geometry(), lpn) != Some(ppn) {
            engine.logs.set(lpn, ppn);
        }
    }
}

/// Whether a block is what is left of a data block whose successor is there: it was written as a
/// data block itself, or the successor holds newer copies of pages that lie here.
pub fn is_succeeded(board: &Board, engine: &MergeEngine, log: &Survivor) -> bool {
    let Some(lbn) = log.home else {
        return false;
    };
    let geometry = board.geometry();
    let newer_at_home = (0..geometry.pages_per_block).any(|offset| {
        let here = board.nand().state().oob(geometry.page(log.block, offset));
        let home = engine.data.newest(board.nand(), lbn.page(geometry, offset));
        matches!(here, OobRead::Written(_)) && home.is_some()
    });
    log.newest_data > 0 || newer_at_home
}

/// Finishes interrupted merges: moves the newest copies out of such blocks, to their places in the
/// data block where those are free, to the log otherwise. Then the blocks are erased.
pub fn evacuate(
    board: &mut Board,
    engine: &mut MergeEngine,
    log: &mut RandomLog,
    leftovers: &[Survivor],
    after: When,
) -> Result<When, Fault> {
    let mut done = after;
    for leftover in leftovers {
        done = evacuate_block(board, engine, log, leftover, done)?;
    }
    Ok(done)
}

fn evacuate_block(
    board: &mut Board,
    engine: &mut MergeEngine,
    log: &mut RandomLog,
    leftover: &Survivor,
    after: When,
) -> Result<When, Fault> {
    let block = leftover.block;
    let lbn = leftover.home.expect("only blocks of one logical block are given up");
    let mut done = after;
    let mut from = 0;
    while let Some(old) = board.nand().state().next_valid(block, from) {
        from = board.geometry().offset_of(old) + 1;
        let lpn = lbn.page(board.geometry(), from - 1);
        done = done.join(rehouse(board, engine, log, lpn, after)?);
    }
    engine.supply.release(board, block, BlockRole::Data, Cause::Recover, done)
}

fn rehouse(
    board: &mut Board,
    engine: &mut MergeEngine,
    log: &mut RandomLog,
    lpn: Lpn,
    mut after: When,
) -> Result<When, Fault> {
    let old = engine.logs.get(lpn).expect("indexed when the maps were made");
    let slot = engine.data.page(board.geometry(), lpn);
    let place = slot.filter(|&ppn| accepts(board.nand(), engine.data.order(), ppn));
    if let Some(place) = place {
        match board.copy(old, place, PageKind::Data, Cause::Recover, after) {
            Ok(done) => {
                board.nand_mut().discard(old);
                engine.logs.take(lpn);
                return Ok(done);
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                after = known;
            }
            Err(fault) => return Err(fault),
        }
    }
    log.append_copy(board, engine, (lpn, old), Cause::Recover, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::data_blocks::Lbn;
    use crate::settings::SharedSettings;
    use PageKind::{Data, Log};
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{BlockId, Tag};

    /// Programs pages (block, offset, logical page, kind) in this order, cuts the power, and says
    /// of the one block with host data that is nobody's data block whether it is succeeded.
    fn succeeded(pages: &[(u32, u32, u32, PageKind)]) -> bool {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "16")] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 64);
        for &(block, offset, lpn, kind) in pages {
            let lpn = Lpn(lpn);
            let request =
                RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
            let io = PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data: Tag(1), request };
            let ppn = board.geometry().page(BlockId(block), offset);
            assert!(board.program_update(ppn, None, &io, kind, When::START).is_ok());
        }
        board.nand_mut().cut_power();
        board.power_on();
        let (survey, ..) = Survey::take(&mut board, When::START).expect("nothing fails here");
        let roles = Survey::roles(&board);
        let mut engine = MergeEngine::new(&board, &config);
        fill(&board, &mut engine, &survey, &roles);
        assert_eq!(roles.data, [(Lbn(1), BlockId(1))], "the successor, or the only data block");
        let [log] = &roles.logs[..] else { panic!("one block is left over: {:?}", roles.logs) };
        is_succeeded(&board, &engine, log)
    }

    /// A merge copied page 4 from a log block, and was cut before it copied 5 to 7 from the old
    /// data block: no page there has a newer copy, yet it must be emptied and given up.
    #[test]
    fn an_old_data_block_is_succeeded_before_the_first_of_its_pages_is_copied() {
        assert!(succeeded(&[(0, 1, 5, Data), (0, 2, 6, Data), (0, 3, 7, Data), (1, 0, 4, Data)]));
    }

    /// What was a log block and became a data block by a switch merge was never written as one.
    #[test]
    fn a_block_with_a_newer_copy_at_home_is_succeeded_whatever_it_was_written_as() {
        assert!(succeeded(&[(0, 0, 4, Log), (0, 1, 5, Log), (1, 0, 4, Data)]));
    }

    #[test]
    fn a_log_block_beside_the_pages_of_its_data_block_goes_on_as_a_log_block() {
        assert!(!succeeded(&[(1, 0, 4, Data), (1, 1, 5, Data), (0, 2, 6, Log)]));
        assert!(!succeeded(&[(1, 0, 4, Data), (0, 0, 6, Log), (0, 1, 9, Log)]), "not at home");
    }
}
