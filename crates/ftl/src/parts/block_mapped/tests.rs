use super::*;
use crate::parts::data_blocks::{Lbn, accepts, in_order};
use crate::parts::log_bench_tests::Bench;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::meter::{BlockRole, Cause};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::BlockId;

/// Compares what the base reads with what the host wrote; `logs` are blocks of the test.
fn check(it: &mut Bench, base: &mut BlockMapped, logs: u32) {
    base.self_check(&it.board, logs).expect("no block is lost");
    let others = logs + base.trims.blocks() + base.strays.len();
    std::mem::swap(&mut it.engine, &mut base.engine);
    it.check(others);
    std::mem::swap(&mut it.engine, &mut base.engine);
}

/// The base and what else was found after a power cut.
fn recovered(it: &mut Bench) -> (BlockMapped, Found) {
    it.board.nand_mut().cut_power();
    it.board.power_on();
    let done = BlockMapped::recover(&mut it.board, &it.config, When::START);
    let (base, found, _) = done.expect("nothing fails here");
    it.board.end_recovery();
    (base, found)
}

/// Page 1 was trimmed and flushed, page 2 was written again behind that.
#[test]
fn a_flushed_trim_holds_after_a_power_cut_until_the_page_is_written() {
    let mut it = Bench::new(&[]);
    let mut base = BlockMapped::new(&it.board, &it.config);
    let write = |it: &mut Bench, base: &mut BlockMapped, lpn: u32| {
        let io = it.host.write(lpn);
        assert!(base.takes_in_place(&it.board, io.lpn));
        assert!(base.write_in_place(&mut it.board, &io, When::START).is_ok());
        base.written(io.lpn);
        assert!(!base.takes_in_place(&it.board, io.lpn), "its place is taken");
        let read = base.read(&mut it.board, &io, When::START).expect("nothing fails");
        assert_eq!(read.1, io.data);
    };
    (0..3).for_each(|lpn| write(&mut it, &mut base, lpn));
    let io = it.host.trimmed(1);
    base.trim(&mut it.board, &io);
    assert_eq!(base.unrecorded_trims().collect::<Vec<_>>(), [Lpn(1)]);
    assert_eq!(base.locate(&it.board, Lpn(1)), Location::Nowhere);
    assert_eq!(base.trims.blocks(), 0);
    assert!(base.flush(&mut it.board, When::START).is_ok());
    assert_eq!((base.unrecorded_trims().count(), base.trims.blocks()), (0, 1));
    let (mut base, found) = recovered(&mut it);
    assert!(found.logs.is_empty() && found.leftovers.is_empty());
    assert_eq!(base.locate(&it.board, Lpn(1)), Location::Nowhere);
    assert_eq!(it.board.meter().events(Event::InPlaceWrites), 3);
    for lpn in [0, 2] {
        assert!(matches!(base.locate(&it.board, Lpn(lpn)), Location::Flash(_)), "page {lpn}");
    }
    write(&mut it, &mut base, 3);
    base.trims.trim(Lpn(3));
    // Page 1 is of the same segment, whose record is written anew.
    assert_eq!(base.unrecorded_trims().collect::<Vec<_>>(), [1, 3].map(Lpn));
    base.written(Lpn(3));
    assert_eq!(base.unrecorded_trims().collect::<Vec<_>>(), [Lpn(1)], "3 was written since");
}

/// Three log blocks; the scheme takes one, and not the first that it is offered.
#[test]
fn log_blocks_that_a_scheme_does_not_take_are_read_and_merged_before_the_next_write() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let [oldest, refused, taken] = [&[1, 4][..], &[2, 9], &[3, 12]].map(|p| it.log_block(p));
    let (mut base, found) = recovered(&mut it);
    assert_eq!(
        found.logs.iter().map(|log| log.block).collect::<Vec<_>>(),
        [oldest, refused, taken]
    );
    let mut offered = Vec::new();
    base.hand_over_youngest(&it.board, &found.logs, 2, |_, log| {
        offered.push(log.block);
        log.block == taken
    });
    assert_eq!(offered, [refused, taken]);
    assert_eq!(base.strays.blocks().collect::<Vec<_>>(), [oldest, refused]);
    check(&mut it, &mut base, 1);
    assert!(base.merge_strays(&mut it.board, &mut (), When::START).is_ok());
    assert!(base.strays.is_empty());
    assert_eq!(it.valid_pages(taken), 1, "page 3 went along with its logical block");
    check(&mut it, &mut base, 1);
}

/// A merge had copied page 0 when the power went.
#[test]
fn what_a_cut_merge_left_moves_to_the_new_data_block() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let target = it.log_block(&[]);
    let (io, slot) = (it.host.write(0), it.board.geometry().page(target, 0));
    let old = Some(it.board.geometry().page(BlockId(0), 0));
    let done = it.board.program_update(slot, old, &io, PageKind::Data, When::START);
    assert!(done.is_ok());
    let (mut base, found) = recovered(&mut it);
    assert_eq!(found.leftovers.iter().map(|log| log.block).collect::<Vec<_>>(), [BlockId(0)]);
    assert!(base.evacuate(&mut it.board, &found.leftovers, When::START).is_ok());
    assert_eq!((base.engine.data.block(Lbn(0)), it.valid_pages(target)), (Some(target), 4));
    check(&mut it, &mut base, 0);
}

/// Eight logical blocks: 30 % of them are 2.4.
#[test]
fn a_log_is_a_share_of_the_logical_blocks_or_of_the_active_ones() {
    let mut config = Bench::new(&[]).config;
    assert_eq!(log_blocks(&config.device, 30.0, None, 2), 3);
    assert_eq!(log_blocks(&config.device, 30.0, None, 5), 5);
    assert_eq!(log_blocks(&config.device, 30.0, Some(4), 3), 4);
    let base = LogBase::ActiveRegion;
    assert_eq!(log_blocks_of(&config.device, base, (100.0, None), 1), 8, "not known");
    let check = |config: &SharedSettings, base: LogBase| base.check(&config.device, "x").is_ok();
    assert!(!check(&config, base) && check(&config, LogBase::Capacity));
    let bytes = (3 * 4 * config.device.unit_bytes()).to_string();
    config.set("device.active_region", &bytes).expect("legal");
    assert_eq!(log_blocks_of(&config.device, base, (100.0, None), 1), 3);
    assert!(check(&config, base) && check(&config, LogBase::Capacity));
}

/// Eleven blocks, or twelve where two planes share them, one or more for records, four in reserve.
#[test]
fn a_device_has_blocks_for_what_is_stored_for_records_and_for_merges() {
    for (planes, used) in [("1", 11), ("2", 12)] {
        let it = Bench::new(&[("device.planes", planes)]);
        let records = u64::from(RecordArea::blocks(it.board.geometry()));
        assert_eq!(BlockMapped::minimum_blocks(&it.config, 3), used + records + 4);
        let segments = u64::from(TrimRecords::segments(it.board.geometry()));
        assert_eq!((segments, BlockMapped::payload_pages(&it.config)), (1, 2));
        assert_eq!(DataBlocks::ram_bytes(it.board.geometry()), 8 * 4);
        let structures = BlockMapped::ram_use(&it.config, &[("own", 5)]);
        let bytes: Vec<_> = structures.iter().map(|ram| (ram.structure, ram.bytes)).collect();
        let trims = TrimRecords::ram_bytes(it.board.geometry())
            + RecordArea::ram_bytes(it.board.geometry());
        assert_eq!(bytes, [("block_table", 32), ("own", 5), ("trim_records", trims)]);
    }
}

/// Pages of 512 bytes: a record tells of 4,032 pages at most, and there are 5,000.
#[test]
fn each_trim_record_and_its_successor_are_alive_at_once() {
    let mut config = Bench::new(&[("device.page_bytes", "512")]).config;
    config.set("device.logical_bytes", &(5000 * 512).to_string()).expect("legal");
    assert_eq!(BlockMapped::payload_pages(&config), 4);
}

#[test]
fn a_page_goes_to_its_place_only_where_the_flash_takes_it() {
    use ProgramOrder::{AscendingGapsOk, Off, Strict};
    for (order, taken) in [
        (Off, [true, true, true]),
        (AscendingGapsOk, [false, true, true]),
        (Strict, [false, true, false]),
    ] {
        assert_eq!([1, 2, 3].map(|offset| in_order(order, offset, 2)), taken, "{order:?}");
    }
    let mut it = Bench::new(&[]);
    let takes = |it: &Bench, lpn| it.engine.data.takes_in_place(it.board.nand(), Lpn(lpn));
    assert!(it.engine.data.is_empty() && takes(&it, 0), "there is no data block yet");
    it.in_place([0]);
    assert!(!it.engine.data.is_empty());
    assert_eq!([0, 1].map(|lpn| takes(&it, lpn)), [false, true]);
    let page = |it: &Bench, block| it.board.geometry().page(block, 3);
    let [failed, retired] = [it.log_block(&[4]), it.log_block(&[])];
    let accepted = |it: &Bench, block| accepts(it.board.nand(), Off, page(it, block));
    assert_eq!([failed, retired].map(|block| accepted(&it, block)), [true; 2]);
    it.fail_program_after(0);
    let (io, slot) = (it.host.write(5), it.board.geometry().page(failed, 1));
    let done = it.board.program_update(slot, None, &io, PageKind::Log, When::START);
    assert!(done.is_err());
    it.board.nand_mut().faults_mut().fail_erase_after(0);
    assert!(it.board.erase(retired, BlockRole::Log, Cause::Merge, When::START).is_err());
    assert_eq!([failed, retired].map(|block| accepted(&it, block)), [false; 2]);
}

#[test]
fn a_block_map_on_flash_is_found_again_after_a_power_cut() {
    let mut it = Bench::new(&[]);
    let kind = BlockMapKind::Written(1);
    let mut base = BlockMapped::new(&it.board, &it.config);
    base.map_on_flash(&it.board, kind);
    for lpn in [0, 9] {
        let io = it.host.write(lpn);
        assert!(base.write_in_place(&mut it.board, &io, When::START).is_ok());
    }
    let blocks = base.engine.block_map.as_ref().map(BlockMap::area_blocks);
    assert_eq!((blocks, it.board.meter().programs(Cause::Translate)), (Some(1), 2));
    base.self_check(&it.board, 0).expect("it says what the table says");
    let (mut base, found) = recovered(&mut it);
    let (board, pages) = (&mut it.board, &found.map_pages);
    assert!(base.engine.recover_map(board, pages, kind, When::START).is_ok());
    assert_eq!(base.engine.block_map.as_ref().map(BlockMap::area_blocks), Some(1));
    base.self_check(&it.board, 0).expect("the map is what it was");
    for lpn in [0, 9] {
        assert!(matches!(base.locate(&it.board, Lpn(lpn)), Location::Flash(_)), "page {lpn}");
    }
}
