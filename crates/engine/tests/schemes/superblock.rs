//! Superblock FTL: what a cold and a cached look-up cost, each case of collection, and the bounds,
//! as flash operations in order. Blocks have 4 pages; with two logical blocks to a superblock,
//! superblock 0 is pages 0 to 7, its page tables cover 2 pages each and its middle directories 4.

use crate::common::{mixed, open, pages, submit, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::config::{Config, SettingError};
use ftlab_engine::meter::Cause::{Host, Merge, Translate};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::units::{BlockId, Ppn};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const TWO: (&str, &str) = ("superblock.S", "2");
const ONE_UPDATE: (&str, &str) = ("superblock.K_max", "1");
/// Of 8 logical blocks.
const POOL_OF_FOUR: (&str, &str) = ("superblock.pool_pct", "50");
const POOL_OF_TWO: (&str, &str) = ("superblock.pool_pct", "25");

/// Eight logical blocks, the first `filled` of them written once, in order.
fn bench(scheme: &str, filled: u64, pairs: Pairs<'_>) -> Bench {
    let config = tiny("superblock", 8, pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    for page in 0..4 * filled {
        submit(device.as_mut(), &config, Op::Write, page);
    }
    device.start_measuring();
    Bench { config, device }
}

fn read(bench: &mut Bench, lpn: u64) -> Vec<Operation> {
    bench.submit(Op::Read, lpn, 1)
}

/// Look-ups, those that memory answered, spare areas read.
fn lookups(bench: &Bench) -> (u64, u64, u64) {
    let [all, hits] = [Event::SpareMapLookups, Event::SpareMapHits].map(|e| bench.events(e));
    (all, hits, bench.meter().oob_reads())
}

/// Blocks erased without a merge.
fn dead(bench: &Bench) -> u64 {
    bench.events(Event::DeadLogBlocks)
}

fn used_blocks(bench: &Bench) -> u64 {
    let state = bench.device.board().nand().state();
    let blocks = (0..bench.device.board().geometry().blocks()).map(BlockId);
    blocks.filter(|&block| state.block(block).programmed > 0).count() as u64
}

fn copies<const N: usize>(from: [Ppn; N], to: [Ppn; N]) -> Vec<Operation> {
    from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to)).collect()
}

/// Memory for the map of one superblock; superblock 0 was written in order, superblock 1 after it.
fn cold(pairs: Pairs<'_>) -> Bench {
    let all = [&[TWO, ("superblock.map_cache_superblocks", "1")], pairs].concat();
    bench("superblock", 3, &all)
}

/// Directory with page 7, which was written last; middle directory of pages 0 to 3 with page 3;
/// page table of pages 0 and 1 with page 1.
#[test]
fn a_cold_read_reads_three_spare_areas_and_a_cached_one_none() {
    let mut bench = cold(&[]);
    let [directory, middle, table] = bench.all_at([7, 3, 1]);
    let translation = [directory, middle, table].map(|ppn| Read(ppn, Translate));
    let expected = [&translation[..], &[Read(bench.at(0), Host)]].concat();
    assert_eq!(read(&mut bench, 0), expected);
    assert_eq!(lookups(&bench), (1, 0, 3));
    assert_eq!(read(&mut bench, 1), [Read(table, Host)], "the same page table");
    assert_eq!(
        read(&mut bench, 3),
        [Read(middle, Host)],
        "its table came with the middle directory"
    );
    assert_eq!(lookups(&bench), (3, 2, 3));
    let five = bench.at(5);
    let expected = [Read(five, Translate), Read(bench.at(4), Host)];
    assert_eq!(read(&mut bench, 4), expected, "the other middle directory came with the top one");
    assert_eq!(lookups(&bench), (4, 2, 4));
    // Superblock 1 takes the place in memory: page 11 was its last. Then 7 has all pieces at once.
    let eleven = bench.at(11);
    assert_eq!(read(&mut bench, 11), [Read(eleven, Translate), Read(eleven, Host)]);
    assert_eq!(read(&mut bench, 7), [Read(directory, Translate), Read(directory, Host)]);
    assert_eq!(lookups(&bench), (6, 2, 6));
}

#[test]
fn a_cold_write_reads_the_pieces_that_it_writes_anew() {
    let mut bench = cold(&[]);
    let translation = bench.all_at([7, 3, 1]).map(|ppn| Read(ppn, Translate));
    let operations = bench.write(&[0]);
    assert_eq!(operations, [&translation[..], &[Program(bench.at(0), Host)]].concat());
    // Directory, middle directory and page table lie with the new page 0 now.
    read(&mut bench, 11);
    let zero = bench.at(0);
    assert_eq!(read(&mut bench, 0), [Read(zero, Translate), Read(zero, Host)]);
}

#[test]
fn a_superblock_without_a_block_needs_no_look_up() {
    let mut bench = cold(&[]);
    assert_eq!(read(&mut bench, 16), []);
    assert_eq!((lookups(&bench), bench.meter().events(Event::UnwrittenReads)), ((0, 0, 0), 1));
    // Superblock 1 has page 12's middle directory nowhere: memory has the directory, which says so.
    assert_eq!(read(&mut bench, 12), []);
    assert_eq!(lookups(&bench), (1, 1, 0));
}

/// Three spare areas and the page: four page reads, or what `superblock.oob_read` says, three
/// times.
#[test]
fn a_spare_area_takes_a_page_read_or_what_is_set() {
    let took = |pairs: Pairs<'_>| {
        let mut bench = cold(pairs);
        let request = pages(&bench.config, Op::Read, 0, 1);
        let completion = bench.device.submit(&request).expect("works");
        assert_eq!(bench.meter().reads(Translate), 3);
        completion.device()
    };
    assert_eq!(took(&[]), 4 * 130_900);
    assert_eq!(took(&[("superblock.oob_read", "20us")]), 130_900 + 3 * 20_000);
    let mut config = Config::default();
    assert!(config.set("superblock.oob_read", "0us").is_err(), "it would hide the scheme's cost");
}

/// Case (a): a U-block of valid pages takes the place of the D-block that it superseded.
#[test]
fn a_full_sequential_overwrite_of_a_logical_block_costs_one_erase_and_no_copy() {
    let mut bench = bench("superblock", 2, &[TWO, ONE_UPDATE]);
    let data = bench.block(0);
    let operations = bench.submit(Op::Write, 0, 4);
    assert_eq!(operations, bench.all_at([0, 1, 2, 3]).map(|ppn| Program(ppn, Host)));
    assert_eq!(bench.merges(), (0, 0, 0), "the switch waits until a block is wanted");
    let operations = bench.write(&[4]);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(4), Host)]);
    assert_eq!((bench.merges(), dead(&bench), bench.erases()), ((1, 0, 0), 0, (1, 0, 0)));
}

#[test]
fn overwriting_the_device_in_order_costs_one_erase_per_block_and_no_copy() {
    for pairs in [&[TWO][..], &[], &[("superblock.S", "3"), POOL_OF_FOUR]] {
        let mut bench = bench("superblock", 8, pairs);
        for _ in 0..5 {
            (0..8).for_each(|block| drop(bench.submit(Op::Write, 4 * block, 4)));
        }
        let waiting = used_blocks(&bench) - 8;
        assert_eq!(bench.meter().total_programs(), 160, "{pairs:?}: no copy");
        assert_eq!(bench.meter().total_erases(), 40 - waiting, "{pairs:?}");
        let (switches, ..) = bench.merges();
        assert_eq!(switches + dead(&bench), 40 - waiting, "{pairs:?}");
    }
}

/// Case (a): a U-block without valid page.
#[test]
fn a_dead_update_block_is_erased_without_a_merge() {
    let pairs = [TWO, ("superblock.K_max", "2"), POOL_OF_FOUR];
    let mut bench = bench("superblock", 2, &pairs);
    bench.write(&[0]);
    let first = bench.block(0);
    bench.write(&[0; 7]);
    assert_eq!(bench.meter().total_erases(), 0, "two U-blocks are full");
    assert_eq!(bench.write(&[0]), [Erase(first, Merge), Program(bench.at(0), Host)]);
    assert_eq!((bench.merges(), dead(&bench), bench.erases()), ((0, 0, 0), 1, (0, 1, 0)));
}

/// Case (b): the pool has one U-block; superblock 0 must give it up for superblock 1.
#[test]
fn a_sequential_beginning_is_completed_if_that_empties_a_block() {
    let mut bench = bench("superblock", 4, &[TWO]);
    let data = bench.block(0);
    bench.write(&[0, 1]);
    let from = bench.all_at([2, 3]);
    let operations = bench.write(&[8]);
    let mut expected = copies(from, bench.all_at([2, 3]));
    expected.extend([Erase(data, Merge), Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.place(3), (bench.block(0), 3), "behind the pages that were written");
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (1, 0, 0)));
}

/// Pages 1 and 2 are no beginning, and 0 with 2 and 3 elsewhere is not completed either where page
/// 1 lies in a third block: what they have in common with others is gathered.
#[test]
fn anything_else_is_gathered() {
    let mut bench = bench("superblock", 4, &[TWO]);
    let (data, update) = (bench.block(0), {
        bench.write(&[1, 2]);
        bench.block(1)
    });
    let from = bench.all_at([0, 3]);
    let operations = bench.write(&[8]);
    // The cold pages 0 and 3 and the open block's room: two blocks less one, as 2 fit nowhere else.
    assert_eq!(bench.merges(), (0, 0, 1), "{operations:?}");
    let gathered =
        bench.all_at([0, 1, 2, 3]).map(|ppn| bench.device.board().geometry().block_of(ppn));
    assert!(gathered.iter().all(|&block| block == gathered[0] && block != data), "{gathered:?}");
    assert_eq!(bench.meter().programs(Merge), 4, "{from:?}");
    assert!(operations.contains(&Erase(data, Merge)) && operations.contains(&Erase(update, Merge)));
}

/// Superblock 0 with its two U-blocks: U1 holds page 0, U2 pages 4, 1 and 5, all of them rewritten;
/// D-blocks hold 2 and 3, 6 and 7, which were not.
fn hot_and_cold(scheme: &str) -> (Bench, [BlockId; 4]) {
    let pairs = [TWO, ("superblock.K_max", "2"), POOL_OF_FOUR];
    let mut bench = bench(scheme, 2, &pairs);
    bench.write(&[0, 0, 0, 1, 1, 4, 1, 5]);
    let blocks = [bench.block(0), bench.block(2), bench.block(6), bench.block(5)];
    assert_eq!((bench.meter().total_erases(), used_blocks(&bench)), (0, 4));
    (bench, blocks)
}

/// Case (c): U1 and both D-blocks are the least valid ones that free a block: three for two.
#[test]
fn hot_and_cold_pages_are_gathered_in_blocks_of_their_own() {
    let (mut bench, [first, low, high, second]) = hot_and_cold("superblock");
    let (hot, cold_low, cold_high) =
        (bench.all_at([0]), bench.all_at([2, 3]), bench.all_at([6, 7]));
    let operations = bench.write(&[7]);
    let mut expected = copies(hot, bench.all_at([0]));
    expected.push(Erase(first, Merge));
    expected.extend(copies(cold_low, bench.all_at([2, 3])));
    expected.push(Erase(low, Merge));
    let cold_block = bench.block(6);
    let seven = bench.device.board().geometry().page(cold_block, 3);
    expected.extend(copies(cold_high, [bench.at(6), seven]));
    expected.extend([Erase(high, Merge), Program(bench.at(7), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.place(7), (bench.block(0), 1), "writes go on in the block of hot pages");
    assert_eq!((bench.block(2), bench.block(3)), (cold_block, cold_block));
    assert_eq!(bench.block(4), second, "the most valid block stays");
    let merges = bench.meter().merges();
    assert_eq!((merges.full, merges.full_data_blocks), (1, 3));
    assert_eq!((bench.meter().programs(Merge), bench.erases()), (5, (2, 1, 0)));
}

/// Pages 0 and 7 share the block of hot pages, then younger copies of 2, 3 and 7 surround page 0.
/// Gathered again it is cold: it was not rewritten since it was gathered first.
#[test]
fn hot_means_rewritten_since_the_last_gathering() {
    let (mut bench, _) = hot_and_cold("superblock");
    bench.write(&[7, 2, 3]);
    let hot = bench.block(0);
    assert_eq!([7, 2, 3].map(|page| bench.block(page)), [hot; 3]);
    bench.write(&[7, 2, 3, 7]);
    assert_eq!(bench.merges().2, 1, "one gathering so far");
    let operations = bench.write(&[2]);
    assert_eq!(bench.merges().2, 2, "{operations:?}");
    assert_eq!(bench.block(0), bench.block(6), "with page 6, which was never rewritten");
    assert_ne!(bench.block(0), bench.block(3), "page 3 is hot");
    assert_ne!(bench.block(3), hot, "which was moved to a block of its own");
}

/// Without the rule two blocks suffice, and what is written next joins what was gathered.
#[test]
fn without_the_rule_gathered_pages_share_a_block_with_what_is_written_next() {
    let (mut bench, [first, low, ..]) = hot_and_cold("superblock:mixed");
    let from = (bench.all_at([0]), bench.all_at([2, 3]));
    let operations = bench.write(&[7]);
    let mut expected = copies(from.0, bench.all_at([0]));
    expected.push(Erase(first, Merge));
    expected.extend(copies(from.1, bench.all_at([2, 3])));
    expected.extend([Erase(low, Merge), Program(bench.at(7), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.place(7), (bench.block(0), 3));
    assert_eq!(bench.block(2), bench.block(0));
}

/// Superblock 0 was written longest ago; superblock 1 has a block without valid page.
#[test]
fn the_victim_is_the_one_written_longest_ago_or_the_one_with_fewest_valid_pages() {
    let operations = |victim: &str| {
        let pairs = [TWO, POOL_OF_TWO, ("superblock.victim", victim)];
        let mut bench = bench("superblock", 6, &pairs);
        let blocks = (bench.block(0), bench.block(8));
        bench.write(&[0, 8, 9, 10, 11]);
        let erased = bench.write(&[16]).into_iter().find_map(|operation| match operation {
            Erase(block, _) => Some(block),
            _ => None,
        });
        (erased.expect("a block was wanted"), blocks, bench.merges())
    };
    let (erased, (longest_ago, _), merges) = operations("lru");
    assert_eq!((erased, merges), (longest_ago, (0, 1, 0)), "three copies");
    let (erased, (_, dead), merges) = operations("fewest_valid");
    assert_eq!((erased, merges), (dead, (1, 0, 0)), "no copy");
}

/// Of 8 logical blocks in threes the last superblock has two: it has two D-blocks, not three.
#[test]
fn the_last_superblock_may_have_fewer_blocks() {
    let pairs = [("superblock.S", "3"), ONE_UPDATE, POOL_OF_FOUR];
    let mut bench = bench("superblock", 8, &pairs);
    bench.submit(Op::Write, 24, 4);
    assert_eq!(used_blocks(&bench), 9);
    bench.write(&[28]);
    assert_eq!((bench.merges(), used_blocks(&bench)), ((1, 0, 0), 9));
}

/// Data blocks and the pool are all that is held between requests, and a device of exactly as many
/// blocks as declared (two more for collections, three for power cuts, three for trim records) goes
/// on for ever although every logical page is valid.
#[test]
fn no_more_blocks_are_held_than_declared_and_collections_always_end() {
    let settings: [(Pairs<'_>, u64); 5] = [
        (&[], 1),
        (&[TWO, ONE_UPDATE], 1),
        (&[TWO, POOL_OF_FOUR], 4),
        (&[("superblock.S", "3"), POOL_OF_TWO, ("superblock.victim", "fewest_valid")], 2),
        (&[("superblock.S", "8"), ("superblock.pool_pct", "100")], 8),
    ];
    for ((pairs, pool), scheme) in
        settings.into_iter().flat_map(|s| ["superblock", "superblock:mixed"].map(|n| (s, n)))
    {
        let mut bench =
            bench(scheme, 8, &[pairs, &[("device.over_provisioning", "0.01")]].concat());
        let blocks = u64::from(bench.device.board().geometry().blocks());
        assert_eq!(blocks, 8 + pool + 2 + 3 + 3, "{pairs:?}");
        let mut rng = Rng::new(7, Purpose::Workload);
        for _ in 0..4000 {
            let page = u64::from(rng.below(32));
            submit(bench.device.as_mut(), &bench.config, Op::Write, page);
            assert!(used_blocks(&bench) <= 8 + pool, "{pairs:?}: {}", used_blocks(&bench));
        }
        bench.device.audit().expect("sound");
        (0..32).for_each(|page| drop(read(&mut bench, page)));
    }
}

#[test]
fn the_spare_area_bounds_the_superblock() {
    let row = schemes::find("superblock").expect("a scheme").0;
    let check = |pairs: Pairs<'_>| (row.check)(&crate::common::config(pairs));
    assert!(check(&[]).is_ok(), "8 blocks of 64 pages need 53 of 64 bytes");
    let Err(SettingError::Conflict(text)) = check(&[("superblock.S", "16")]) else {
        panic!("16 blocks do not fit");
    };
    assert!(text.contains("needs spare areas of 67 bytes"), "{text}");
    assert!(check(&[("superblock.S", "16"), ("device.oob_bytes", "128")]).is_ok());
    assert!(check(&[("device.oob_bytes", "52")]).is_err());
}

/// 1 GiB in blocks of 64 pages of 2 KiB, 1024 superblocks of 512 pages.
#[test]
fn memory_is_two_tables_the_cached_maps_and_a_bit_per_page_if_the_rule_asks_for_it() {
    let bytes = |pairs: Pairs<'_>| {
        let mut config = crate::common::config(pairs);
        crate::common::size("superblock", &mut config, 8192);
        let structures = (schemes::find("superblock").expect("a scheme").0.ram_use)(&config);
        ["block_table", "superblock_table", "update_blocks", "map_cache", "rewritten_bits"].map(
            |name| {
                let found = structures.iter().find(|use_| use_.structure == name);
                found.expect("reported").bytes
            },
        )
    };
    // 246 update blocks; 704 bytes for each of 128 maps.
    assert_eq!(bytes(&[]), [32_768, 4096, 984, 90_112, 65_536]);
    assert_eq!(bytes(&[("superblock.hot_rule", "none")]), [32_768, 4096, 984, 90_112, 0]);
    let small = bytes(&[("superblock.map_cache_superblocks", "1")]);
    assert_eq!(small, [32_768, 4096, 984, 704, 65_536]);
}

/// After a power cut memory holds no map; writes go on in the block that was being written.
#[test]
fn after_a_power_cut_the_open_block_goes_on_and_the_map_is_read_again() {
    let mut bench = bench("superblock", 2, &[TWO]);
    bench.write(&[0, 5]);
    let open = bench.block(5);
    bench.device.power_cycle().expect("recovers");
    bench.device.start_measuring();
    // The directory lies with page 5, the middle directory of pages 0 to 3 with 0, the table with
    // 3.
    let translation = bench.all_at([5, 0, 3]).map(|ppn| Read(ppn, Translate));
    let expected = [&translation[..], &[Read(bench.at(2), Host)]].concat();
    assert_eq!(read(&mut bench, 2), expected);
    bench.write(&[6]);
    assert_eq!(bench.place(6), (open, 2));
}

/// Every program of a workload fails once, in turn, those of merges and levelling among them:
/// nothing is lost, and the block is retired when it is erased.
#[test]
fn any_program_may_fail() {
    for victim in ["lru", "fewest_valid"] {
        any_program_may_fail_with(victim);
    }
}

fn any_program_may_fail_with(victim: &str) {
    let pairs = [
        TWO,
        POOL_OF_TWO,
        ("superblock.victim", victim),
        ("wear.policy", "static"),
        ("wear.spread", "2"),
        ("device.over_provisioning", "1"),
    ];
    let config = tiny("superblock", 8, &pairs);
    let requests = mixed(&config, 150, 11);
    let mut retired = 0;
    for failing in 0.. {
        let mut device = open("superblock", &config);
        device.verify_reads();
        device.board_mut().nand_mut().faults_mut().fail_program_after(failing);
        for (number, request) in requests.iter().enumerate() {
            let at = || format!("program {failing}, request {number}");
            device.submit(request).unwrap_or_else(|error| panic!("{}: {error}", at()));
            device.audit().unwrap_or_else(|error| panic!("{}: {error}", at()));
        }
        let meter = device.board().meter();
        if meter.events(Event::ProgramFailures) == 0 {
            assert!(failing > 300, "only {failing} programs");
            break;
        }
        retired += device.board().nand().retired_blocks();
    }
    assert!(retired > 100, "{retired} blocks were retired");
}
