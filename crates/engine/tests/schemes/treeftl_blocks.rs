//! TreeFTL over a map of blocks, as flash operations in order: the cases of Fig. 2 and the order of
//! Fig. 3 with groups of logical blocks, what folds do to a map page, and what is refused. Blocks
//! have 4 pages and map pages 128 entries: a group is 512 pages, and 300 logical blocks have three.

use crate::common::{flush, mixed, open, pages, record, tiny, version};
use crate::fast_bench::{Bench, copy, entry, map_page};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{GcMapUpdate, Host, Merge, ReadModifyWrite, Translate};
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::{Lpn, Tag};

/// Pages of a group.
const G: u64 = 512;
/// Logical blocks of three groups.
const LARGE: u64 = 300;

/// An empty device of three groups with so many frames.
fn bench(frames: u64, pairs: &[(&str, &str)]) -> Bench {
    let ram = (512 * frames).to_string();
    let own = [("treeftl.map", "block"), ("treeftl.seq_pages", "3"), ("device.ram_bytes", &ram)];
    let config = tiny("treeftl", LARGE, &[&own, pairs].concat());
    let mut device = open("treeftl", &config);
    device.verify_reads();
    Bench { config, device }
}

fn programs(bench: &Bench, pages: [u32; 4]) -> [Operation; 4] {
    bench.all_at(pages).map(|place| Program(place, Host))
}

/// Fig. 2. A: both pages are cached, nothing happens on flash. B: the map page is, the data page is
/// read. C: neither is, the map page of the block map is read, then the data page.
#[test]
fn the_three_cases_of_a_random_write() {
    let mut bench = bench(64, &[("treeftl.bypass_map", "flash")]);
    assert_eq!(bench.submit(Op::Read, 0, 1), [], "no map page was ever written");
    // A sequential request fills block 2, whose map page has a frame, and block 130, whose has
    // none.
    let filled = bench.submit(Op::Write, 8, 4);
    assert_eq!(filled, programs(&bench, [8, 9, 10, 11]));
    let filled = bench.submit(Op::Write, G + 8, 4);
    let g = G as u32;
    assert_eq!(filled[..4], programs(&bench, [g + 8, g + 9, g + 10, g + 11]));
    assert_eq!(filled[4..], [Program(map_page(&bench, 1), Translate)]);
    assert_eq!(entry(&bench, 130), Some(bench.block(g + 8)));
    // Case B, then case A.
    let old = bench.at(9);
    assert_eq!(bench.write(&[9]), [Read(old, ReadModifyWrite)]);
    assert_eq!(bench.write(&[9]), []);
    assert!(matches!(bench.device.locate(Lpn(9)), Location::Ram(_)));
    assert!(bench.device.board().nand().state().is_valid(old), "flash keeps the older version");
    // Case C, then case A.
    let (map, old) = (map_page(&bench, 1), bench.at(g + 9));
    let case_c = bench.write(&[G + 9]);
    assert_eq!(case_c, [Read(map, Translate), Read(old, ReadModifyWrite)]);
    assert_eq!(bench.write(&[G + 9]), []);
    assert_eq!(bench.submit(Op::Read, G + 9, 1), []);
    let counted = [Event::MapLookups, Event::MapHits, Event::BufferLookups, Event::BufferHits];
    // The first read missed, the last one hit; B missed the data, C both, each A hit both.
    assert_eq!(counted.map(|event| bench.events(event)), [6, 4, 6, 3]);
}

/// Fig. 3: the group used longest ago gives up its data pages in ascending order, the one accessed
/// last at the end, then its map page. Blocks 1 and 2 take their pages in order, and the map page
/// says where they are.
#[test]
fn a_group_of_logical_blocks_is_pruned_in_order() {
    // Two map pages, and pages 9, 5, 4 and 6 of the first group.
    let mut bench = bench(7, &[]);
    assert_eq!(bench.write(&[9, 5, 4, 6, G]), []);
    let leaves = |bench: &mut Bench, write: u64, page: u32| {
        let operations = bench.write(&[write]);
        assert_eq!(operations, [Program(bench.at(page), Host)], "page {page} leaves");
    };
    leaves(&mut bench, G + 1, 4);
    leaves(&mut bench, G + 2, 5);
    leaves(&mut bench, G + 3, 9);
    // The page accessed last, then the map page, which was never on flash.
    leaves(&mut bench, G + 4, 6);
    let operations = bench.write(&[G + 5]);
    assert_eq!(operations, [Program(map_page(&bench, 0), Translate)]);
    let places = [4, 5, 6].map(|page| bench.place(page));
    let block = bench.block(4);
    assert_eq!(places, [(block, 0), (block, 1), (block, 2)], "in order, in the data block");
    assert_eq!([1, 2].map(|lbn| entry(&bench, lbn)), [Some(block), Some(bench.block(9))]);
    // Case C again: the older version of page 5 is loaded, page 512 leaves for the map page, 513
    // for the data page, in order into the data block of block 128.
    let (map, old) = (map_page(&bench, 0), bench.at(5));
    let operations = bench.write(&[5]);
    let g = G as u32;
    let expected = [
        Program(bench.at(g), Host),
        Read(map, Translate),
        Program(bench.at(g + 1), Host),
        Read(old, ReadModifyWrite),
    ];
    assert_eq!(operations, expected);
    assert_eq!((bench.place(g).1, bench.place(g + 1).1), (0, 1));
}

/// A page that leaves a second time goes to a replacement block; the map says nothing new, so the
/// map page leaves without a program.
#[test]
fn updates_that_leave_make_a_chain_and_leave_the_map_alone() {
    let mut bench = bench(2, &[]);
    bench.submit(Op::Write, 4, 4);
    let old = bench.place(5);
    bench.write(&[5]);
    // A map page with the last page of its group takes its frame: page 5 first, then map page 0.
    let operations = bench.write(&[G]);
    let (new, map) = (bench.at(5), map_page(&bench, 0));
    assert_eq!(operations, [Program(new, Host), Program(map, Translate)]);
    assert_ne!(bench.block(5), old.0);
    assert_eq!(bench.place(5).1, old.1, "the same place of the next block of the chain");
    bench.write(&[5]);
    let clean = bench.events(Event::EvictClean);
    let before = map_page(&bench, 0);
    bench.write(&[G]);
    assert_eq!((map_page(&bench, 0), entry(&bench, 1)), (before, Some(old.0)));
    assert_eq!(bench.events(Event::EvictClean), clean + 1);
}

/// A fold gives a logical block another data block. Its map page changes in memory, if it has a
/// frame; else it is read and written at once, as collection does with the map of pages.
#[test]
fn a_fold_changes_a_map_page_in_memory_or_on_flash() {
    for cached in [true, false] {
        // One replacement block is all there is.
        let pairs = [("replacement_block.spare_pct", "0.5"), ("treeftl.bypass_map", "flash")];
        let mut bench = bench(16, &pairs);
        bench.submit(Op::Write, 4, 4);
        bench.submit(Op::Write, G + 8, 4);
        bench.write(&[6]);
        flush(bench.device.as_mut());
        let (data, unit, from) = (bench.block(4), bench.block(6), bench.all_at([4, 5, 7]));
        if !cached {
            // Nothing is cached after a power cut.
            bench.device.power_cycle().expect("it recovers");
        }
        bench.write(&[G + 8]);
        let old = map_page(&bench, 0);
        let operations = record(bench.device.as_mut(), flush);
        bench.device.audit().expect("sound");
        // Block 1 is folded for page 520, in place.
        let to = bench.all_at([4, 5, 7]);
        let copies = from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to));
        let mut expected: Vec<Operation> = copies.collect();
        if !cached {
            expected.insert(0, Read(old, GcMapUpdate));
            expected.push(Program(map_page(&bench, 0), GcMapUpdate));
        }
        let written = bench.at(G as u32 + 8);
        expected.extend([Erase(data, Merge), Program(written, Host)]);
        assert_eq!(operations, expected, "cached: {cached}");
        assert_eq!(bench.block(4), unit);
        let told = if cached { data } else { unit };
        assert_eq!(entry(&bench, 1), Some(told), "what flash says");
    }
}

/// What is written while it stays goes out by group, each in ascending order: a flush writes the
/// data pages, idle gaps the map pages behind them.
#[test]
fn a_flush_and_idle_gaps_write_a_group_in_order() {
    for idle in ["false", "true"] {
        let mut bench = bench(16, &[("treeftl.idle_flush", idle)]);
        bench.write(&[9, 5, 4, G + 1, G, 6]);
        let operations = record(bench.device.as_mut(), |device| match idle {
            "true" => {
                let later = pages(&bench.config, Op::Read, 4, 1);
                let later = Request { arrival: 10_000_000_000, ..later };
                device.submit(&later).expect("the device works");
            }
            _ => flush(device),
        });
        let g = G as u32;
        let mut expected: Vec<Operation> =
            [4, 5, 6, 9, g, g + 1].map(|page| Program(bench.at(page), Host)).to_vec();
        if idle == "true" {
            expected.extend([0, 1].map(|part| Program(map_page(&bench, part), Translate)));
        }
        assert_eq!(operations, expected, "idle: {idle}");
        assert_eq!(bench.submit(Op::Read, 5, 1), [], "it stays");
        bench.device.audit().expect("sound");
    }
}

/// Volatile memory loses what was not flushed, down to the version on flash; kept memory nothing.
/// What leaves of a chain that recovery found is written behind it.
#[test]
fn a_power_cut_takes_what_was_not_flushed() {
    for (kept, expected) in [("false", Tag(5)), ("true", Tag(6))] {
        let mut bench = bench(16, &[("device.ram_nonvolatile", kept)]);
        bench.submit(Op::Write, 4, 4);
        bench.write(&[5]);
        flush(bench.device.as_mut());
        bench.write(&[5]);
        bench.device.power_cycle().expect("it recovers");
        bench.device.audit().expect("tree and flash agree");
        assert_eq!(version(bench.device.as_ref(), 5), expected, "kept: {kept}");
        let lost = bench.events(Event::LostBufferedPages);
        assert_eq!(lost, u64::from(kept == "false"));
        assert_eq!(entry(&bench, 1), Some(bench.block(4)), "recovery wrote the map page");
    }
}

/// Memory that is kept keeps trims that no flush has recorded, over one cut and the next; what was
/// written after its trim stays.
#[test]
fn a_power_cut_takes_unrecorded_trims_of_volatile_memory_alone() {
    for kept in ["false", "true"] {
        let mut bench = bench(16, &[("device.ram_nonvolatile", kept)]);
        bench.submit(Op::Write, 4, 4);
        flush(bench.device.as_mut());
        bench.submit(Op::Trim, 5, 2);
        bench.write(&[6]);
        let newest = version(bench.device.as_ref(), 6);
        let (trimmed, written) = match kept {
            "true" => (Tag(0), newest),
            _ => (Tag(2), Tag(3)),
        };
        for round in 0..3 {
            bench.device.power_cycle().expect("it recovers");
            bench.device.audit().expect("tree and flash agree");
            let found = [5, 6].map(|page| version(bench.device.as_ref(), page));
            assert_eq!(found, [trimmed, written], "kept: {kept}, round {round}");
            bench.submit(Op::Read, 4, 4);
            if round == 1 {
                flush(bench.device.as_mut());
            }
        }
    }
}

/// Three map pages, a cut after each of so many operations: what memory kept is there, and the map
/// is right again.
#[test]
fn cuts_among_several_map_pages_lose_nothing_that_memory_kept() {
    for (kept, scheme) in [("true", "treeftl"), ("true", "treeftl_page_lru"), ("false", "treeftl")]
    {
        let pairs = [
            ("treeftl.map", "block"),
            ("device.ram_bytes", "4KiB"),
            ("device.ram_nonvolatile", kept),
        ];
        let config = tiny(scheme, LARGE, &pairs);
        let mut device = open(scheme, &config);
        if kept == "true" {
            device.verify_reads();
        }
        let mut rng = Rng::new(7, Purpose::Workload);
        for round in 0..60 {
            let outcome = CutOutcome::ALL[round % CutOutcome::ALL.len()];
            let after = u64::from(rng.below(300));
            device.board_mut().nand_mut().faults_mut().cut_power_after(after, outcome);
            let mut requests = mixed(&config, 2000, round as u64).into_iter();
            let cut = requests.find_map(|request| device.submit(&request).err());
            assert_eq!(cut, Some(DeviceError::Fault(Fault::PowerCut)), "{scheme}, round {round}");
            device.power_cycle().expect("recovers");
            device.audit().unwrap_or_else(|error| panic!("{scheme}, round {round}: {error}"));
        }
        for page in 0..4 * LARGE {
            device.submit(&pages(&config, Op::Read, page, 1)).expect("every page can be read");
        }
    }
}

/// Bytes: the frames, LATTE with a group for each of three map pages, their directory, and the
/// links of replacement blocks; no table of blocks in memory.
#[test]
fn memory_is_that_of_the_tree_and_of_the_chains() {
    let bench = bench(16, &[]);
    let (row, _) = schemes::find("treeftl").expect("it is in the table");
    let structures = (row.ram_use)(&bench.config);
    let bytes = |name: &str| {
        structures.iter().find(|known| known.structure == name).map(|known| known.bytes)
    };
    assert_eq!((bytes("frames"), bytes("latte")), (Some(16 * 512), Some(6 * 3)));
    assert_eq!((bytes("block_table"), bytes("gtd")), (None, None));
    let blocks = u64::from(bench.device.board().geometry().blocks());
    assert_eq!(bytes("replacement_links"), Some(4 * blocks));
    assert!(bytes("map_directory").is_some_and(|bytes| bytes >= 4 * 3));
    // Where 2 bytes do not number the pages of a group, LATTE takes 4 for it.
    let mut large = bench.config.clone();
    for (key, value) in [("device.page_bytes", "2048"), ("device.pages_per_block", "256")] {
        large.set(key, value).expect("legal");
    }
    let structures = (row.ram_use)(&large);
    let latte = structures.iter().find(|known| known.structure == "latte");
    assert_eq!(latte.map(|known| known.bytes), Some(8), "512 blocks of 256 pages");
}

/// What only a map of pages can do is refused by name.
#[test]
fn what_needs_a_map_of_pages_is_refused() {
    let (row, _) = schemes::find("treeftl").expect("it is in the table");
    for (key, value) in [("treeftl.gc_cached", "true"), ("device.mapping_unit", "512")] {
        let pairs = [("treeftl.map", "block"), ("device.page_bytes", "2048")];
        let mut config = tiny("treeftl", 10, &pairs);
        (row.check)(&config).expect("legal");
        config.set(key, value).expect("a legal value");
        let refused = (row.check)(&config).expect_err("refused").to_string();
        assert!(refused.contains(key) && refused.contains("treeftl.map = block"), "{refused}");
    }
}

/// Settings have an effect where the tree, or what it stands on, reads them, and nowhere else.
#[test]
fn the_settings_of_what_the_tree_stands_on_are_its_own() {
    for (scheme, map, expected) in [
        ("treeftl", "page", &["treeftl"][..]),
        ("treeftl", "block", &["replacement_block", "treeftl"]),
        ("treeftl_page_lru", "page", &["treeftl", "treeftl_page_lru"]),
        ("treeftl_page_lru", "block", &["replacement_block", "treeftl", "treeftl_page_lru"]),
    ] {
        let config = tiny(scheme, 10, &[("treeftl.map", map)]);
        let (row, _) = schemes::find(scheme).expect("it is in the table");
        let names = schemes::TABLE.iter().map(|row| row.paper.name);
        let read: Vec<&str> = names.filter(|name| row.reads(&config, name)).collect();
        assert_eq!(read, expected, "{scheme}, {map}");
    }
}
