//! DAC as flash operations in order: what each level of its cache answers, what leaves and how, and
//! what merges and folds do to the map. Blocks have 4 pages and map pages 128 entries: with 300
//! logical blocks there are three.

use crate::common::{config, mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy, entry, map_page};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::config::SettingError;
use ftlab_engine::meter::Cause::{GcMapBlock, GcMapUpdate, Host, Merge, Recover, Translate};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Memory};
use ftlab_engine::ssd::DeviceError;

/// Logical blocks of three map pages.
const LARGE: u64 = 300;
const LOGS: (&str, &str) = ("bast.log_blocks", "2");

/// An empty device over BAST: entries of level 1, map pages of both caches of level 2.
fn bench([entries, spatial, frequent]: [&str; 3], pairs: &[(&str, &str)]) -> Bench {
    let levels = [
        ("dac.l1_entries", entries),
        ("dac.spatial_pages", spatial),
        ("dac.freq_pages", frequent),
        LOGS,
    ];
    let config = tiny("dac:bast", LARGE, &[&levels, pairs].concat());
    let mut device = open("dac:bast", &config);
    device.verify_reads();
    Bench { config, device }
}

/// Writes logical blocks once, in place.
fn fill(bench: &mut Bench, blocks: impl IntoIterator<Item = u64>) {
    blocks.into_iter().for_each(|block| {
        bench.submit(Op::Write, 4 * block, 4);
    });
}

/// Reads the first page of a logical block.
fn read(bench: &mut Bench, block: u64) -> Vec<Operation> {
    bench.submit(Op::Read, 4 * block, 1)
}

fn counts<const N: usize>(bench: &Bench, events: [Event; N]) -> [u64; N] {
    events.map(|event| bench.events(event))
}

#[test]
fn a_first_data_block_changes_an_entry_in_level_1_and_flash_learns_when_it_leaves() {
    for batch in ["false", "true"] {
        let mut bench = bench(["2", "0", "0"], &[("dac.batch_evict", batch)]);
        assert_eq!(bench.write(&[4]), [Program(bench.at(4), Host)]);
        assert_eq!(bench.write(&[8, 5]), [8, 5].map(|page| Program(bench.at(page), Host)));
        // Block 2 was used longest ago; nothing is to be read, there is no map page yet.
        let operations = bench.write(&[12]);
        let old = map_page(&bench, 0);
        assert_eq!(operations, [Program(old, Translate), Program(bench.at(12), Host)]);
        assert_eq!(entry(&bench, 2), Some(bench.block(8)));
        assert_eq!(entry(&bench, 1).is_some(), batch == "true", "the other changed entry");
        // Block 1 leaves: read and written, unless it went along before. What there is of block 4
        // only the map page knows by now.
        let operations = bench.write(&[16]);
        let new = map_page(&bench, 0);
        let mut expected = match batch {
            "false" => vec![Read(old, Translate), Program(new, Translate)],
            _ => vec![],
        };
        expected.extend([Read(new, Translate), Program(bench.at(16), Host)]);
        assert_eq!(operations, expected, "batch_evict = {batch}");
        assert_eq!([1, 2].map(|lbn| entry(&bench, lbn)), [4, 8].map(|p| Some(bench.block(p))));
        let left = [Event::EvictDirty, Event::EvictClean, Event::BatchedEvictions];
        let one_by_one = u64::from(batch == "false");
        assert_eq!(counts(&bench, left), [1 + one_by_one, 1 - one_by_one, 1 - one_by_one]);
    }
}

#[test]
fn a_changed_entry_is_absorbed_by_its_page_and_the_page_is_written_without_a_read() {
    let mut bench = bench(["2", "1", "0"], &[]);
    // Map page 0 is written once, for block 1; 2 and 3 are in level 1, changed.
    fill(&mut bench, [1, 2, 3]);
    let old = map_page(&bench, 0);
    let operations = read(&mut bench, 1);
    // Block 2 leaves for block 1: its page is not in memory. Then that page is read.
    let page = map_page(&bench, 0);
    let found = Read(bench.at(4), Host);
    let write_back = [Read(old, Translate), Program(page, Translate)];
    assert_eq!(operations, [&write_back[..], &[Read(page, Translate), found]].concat());
    // Block 3 leaves for block 2: absorbed. Block 2 is found in the page.
    bench.device.start_measuring();
    assert_eq!(read(&mut bench, 2), [Read(bench.at(8), Host)]);
    let answered = [Event::MapLookups, Event::MapHits, Event::SecondLevelHits];
    assert_eq!(counts(&bench, answered), [1, 1, 1]);
    assert_eq!(bench.events(Event::AbsorbedEvictions), 1);
    assert_eq!(entry(&bench, 3), None, "flash does not know");
    // Map page 1 comes into being, and is wanted in memory: page 0 leaves.
    fill(&mut bench, [130, 131, 132]);
    let (one, zero) = (map_page(&bench, 1), map_page(&bench, 0));
    assert_eq!(zero, page);
    let operations = read(&mut bench, 130);
    let (new, written) = (map_page(&bench, 1), map_page(&bench, 0));
    let expected = [
        // Block 131 leaves level 1, and map page 0 level 2.
        Read(one, Translate),
        Program(new, Translate),
        Program(written, Translate),
        Read(new, Translate),
        Read(bench.at(520), Host),
    ];
    assert_eq!(operations, expected);
    assert_eq!(entry(&bench, 3), Some(bench.block(12)), "what was absorbed");
    assert_eq!(counts(&bench, [Event::SecondLevelEvictions, Event::EvictDirty]), [1, 3]);
}

#[test]
fn a_page_that_leaves_takes_along_what_level_1_knows_better() {
    let mut bench = bench(["3", "1", "0"], &[]);
    fill(&mut bench, [130, 131, 132, 1, 2, 3, 4]);
    // Level 1: 2, 3, 4. Map page 0 comes: 2 is written first, for which it is not there yet.
    read(&mut bench, 1);
    // 3 is absorbed; 4 and 1 stay.
    read(&mut bench, 2);
    assert_eq!(bench.events(Event::AbsorbedEvictions), 1);
    bench.device.start_measuring();
    // Map page 0 leaves for map page 1, with 3, and with 4, which level 1 dropped just then:
    // absorbed.
    read(&mut bench, 130);
    assert_eq!([3, 4].map(|lbn| entry(&bench, lbn)), [12, 16].map(|p| Some(bench.block(p))));
    assert_eq!(counts(&bench, [Event::AbsorbedEvictions, Event::BatchedEvictions]), [1, 0]);
    // Blocks 5, 6 and 7 get data blocks, and map page 0 comes again; 6 was used longest ago.
    fill(&mut bench, [5, 6, 7]);
    assert_eq!([5, 6, 7].map(|lbn| entry(&bench, lbn)), [None; 3]);
    read(&mut bench, 5);
    read(&mut bench, 7);
    bench.device.start_measuring();
    // 6 is absorbed, then the page is written with 5, 6 and 7.
    let operations = read(&mut bench, 131);
    let expected = [
        Program(map_page(&bench, 0), Translate),
        Read(map_page(&bench, 1), Translate),
        Read(bench.at(524), Host),
    ];
    assert_eq!(operations, expected);
    let known = [5, 6, 7].map(|lbn| entry(&bench, lbn));
    assert_eq!(known, [20, 24, 28].map(|page| Some(bench.block(page))));
    assert_eq!(counts(&bench, [Event::AbsorbedEvictions, Event::BatchedEvictions]), [1, 2]);
    // So they leave clean.
    bench.device.start_measuring();
    for block in [130, 132] {
        assert_eq!(read(&mut bench, block), [Read(bench.at(4 * block as u32), Host)]);
    }
    assert_eq!(counts(&bench, [Event::EvictClean, Event::EvictDirty]), [2, 0]);
}

#[test]
fn hits_move_a_page_to_the_frequency_cache_where_one_use_after_another_does_not_push_it_out() {
    for (hits, stays) in [("2", true), ("3", false)] {
        let mut bench = bench(["1", "1", "1"], &[("dac.promote_hits", hits)]);
        fill(&mut bench, [1, 2, 3, 130, 131, 132]);
        // Map page 1 is in memory. Map page 0 is read for block 2, and hit by 1 and 2.
        [2, 1, 2].into_iter().for_each(|block| {
            read(&mut bench, block);
        });
        assert_eq!(bench.events(Event::PromotedMapPages), u64::from(stays));
        // Map page 1 passes through the spatial cache.
        let loaded = read(&mut bench, 130);
        assert_eq!(loaded, [Read(map_page(&bench, 1), Translate), Read(bench.at(520), Host)]);
        let found = read(&mut bench, 1);
        let miss = [Read(map_page(&bench, 0), Translate), Read(bench.at(4), Host)];
        assert_eq!(found, miss[usize::from(stays)..], "after {hits} hits");
        assert_eq!(bench.events(Event::FrequencyHits), u64::from(stays));
        // A page that comes again starts anew.
        read(&mut bench, 2);
        assert_eq!(bench.events(Event::PromotedMapPages), u64::from(stays));
    }
}

#[test]
fn the_page_used_least_often_leaves_the_frequency_cache() {
    let mut bench = bench(["1", "1", "2"], &[("dac.promote_hits", "1")]);
    fill(&mut bench, [1, 2, 130, 131, 260, 261, 262]);
    // A page is read, promoted by the next look-up, and used again.
    let visit = |bench: &mut Bench, blocks: &[u64]| {
        blocks.iter().for_each(|&block| {
            read(bench, block);
        });
    };
    visit(&mut bench, &[2, 1, 2, 1]);
    visit(&mut bench, &[130, 131]);
    assert_eq!(bench.events(Event::PromotedMapPages), 2);
    // Page 1 was used last, page 0 more often: page 1 leaves for page 2.
    visit(&mut bench, &[260, 261]);
    assert_eq!(bench.events(Event::PromotedMapPages), 3);
    assert_eq!(read(&mut bench, 1), [Read(bench.at(4), Host)], "page 0 is there");
    let missed = [Read(map_page(&bench, 1), Translate), Read(bench.at(520), Host)];
    assert_eq!(read(&mut bench, 130), missed, "page 1 is not");
}

#[test]
fn without_a_spatial_cache_pages_enter_the_one_by_frequency() {
    let mut bench = bench(["1", "0", "1"], &[]);
    fill(&mut bench, [1, 2, 3]);
    read(&mut bench, 1);
    bench.device.start_measuring();
    assert_eq!(read(&mut bench, 2), [Read(bench.at(8), Host)]);
    assert_eq!(counts(&bench, [Event::FrequencyHits, Event::PromotedMapPages]), [1, 0]);
}

/// The log blocks are those of blocks 1 and 2; block 3 takes the one of 1. Level 1 has the entry of
/// block 1 by then, or has dropped it for block 3 and must look it up.
#[test]
fn a_merge_changes_the_entry_in_memory_and_looks_it_up_first() {
    for (entries, held) in [("3", true), ("2", false)] {
        let mut bench = bench([entries, "0", "0"], &[]);
        fill(&mut bench, [1, 2, 3, 130, 131, 132]);
        bench.write(&[5, 9]);
        bench.device.start_measuring();
        let (data, log, from) = (bench.block(4), bench.block(5), bench.all_at([4, 5, 6, 7]));
        let [zero, one] = [0, 1].map(|part| map_page(&bench, part));
        let operations = bench.write(&[13]);
        let to = bench.all_at([4, 5, 6, 7]);
        let mut expected = match held {
            // Block 132, changed, leaves for block 3.
            true => vec![Read(one, Translate), Program(map_page(&bench, 1), Translate)],
            false => vec![],
        };
        expected.push(Read(zero, Translate));
        expected.extend((!held).then_some(Read(zero, GcMapUpdate)));
        expected.extend(from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to)));
        expected.extend([Erase(data, Merge), Erase(log, Merge), Program(bench.at(13), Host)]);
        assert_eq!(operations, expected, "{entries} entries");
        assert_eq!(entry(&bench, 1), Some(data), "flash still names the block that was erased");
        assert_ne!(bench.block(4), data);
    }
}

/// Over replacement blocks: a page written again takes a second unit, and the fold changes the
/// entry in memory.
#[test]
fn folds_change_the_entry_in_memory() {
    let levels = [
        ("dac.l1_entries", "300"),
        ("replacement_block.spare_pct", "0.5"),
        ("replacement_block.reserve", "1"),
    ];
    let config = tiny("dac", LARGE, &levels);
    let device = open("dac", &config);
    let mut bench = Bench { config, device };
    fill(&mut bench, [1, 2]);
    let (data, from) = (bench.block(4), bench.all_at([4, 5, 7]));
    assert_eq!(bench.write(&[6]), [Program(bench.at(6), Host)], "a replacement block");
    let unit = bench.block(6);
    // One unit is all there is: block 1 is folded for block 2, in place.
    let operations = bench.write(&[8]);
    let to = bench.all_at([4, 5, 7]);
    let mut expected: Vec<Operation> =
        from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to)).collect();
    expected.extend([Erase(data, Merge), Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.block(4), bench.events(Event::FoldsInPlace)), (unit, 1));
    assert_eq!(bench.meter().programs(GcMapUpdate), 0, "in memory alone");
}

#[test]
fn a_page_in_a_log_block_is_found_without_the_map() {
    let mut bench = bench(["1", "0", "0"], &[]);
    fill(&mut bench, [1, 130]);
    bench.write(&[5, 521]);
    let (five, lookups) = (bench.at(5), bench.events(Event::MapLookups));
    assert_eq!(bench.submit(Op::Read, 5, 1), [Read(five, Host)]);
    assert_eq!(bench.events(Event::MapLookups), lookups);
}

#[test]
fn the_area_of_map_pages_is_cleaned() {
    let mut bench = bench(["1", "0", "0"], &[]);
    fill(&mut bench, 0..LARGE);
    let cleaned = bench.meter().erases_by_cause(GcMapBlock);
    // Three blocks of four pages, one written for every block of data but the first.
    assert!(cleaned > 60, "{cleaned} erased");
    assert!(bench.meter().programs(GcMapBlock) < cleaned, "nearly always without a copy");
}

#[test]
fn recovery_reads_the_map_pages_writes_those_that_memory_knew_better_and_begins_with_nothing() {
    let mut bench = bench(["4", "1", "1"], &[]);
    // Map page 1 is in memory.
    fill(&mut bench, [1, 130, 2, 3, 131, 132, 133, 134]);
    let old = [0, 1].map(|part| map_page(&bench, part));
    assert!(entry(&bench, 134).is_none() && entry(&bench, 3).is_some());
    bench.device.board_mut().nand_mut().record_mut().start();
    bench.device.power_cycle().expect("recovers");
    let operations = bench.device.board_mut().nand_mut().record_mut().take();
    bench.device.audit().expect("sound");
    let new = map_page(&bench, 1);
    let expected = [Read(old[0], Recover), Read(old[1], Recover), Program(new, Recover)];
    assert_eq!(operations, expected);
    assert_eq!(entry(&bench, 134), Some(bench.block(536)));
    assert_eq!(read(&mut bench, 130), [Read(new, Translate), Read(bench.at(520), Host)]);
}

/// Three map pages, a cut after each of so many operations, under both bases: nothing is lost, and
/// the map is right again.
#[test]
fn cuts_among_several_map_pages_lose_nothing() {
    for scheme in ["dac", "dac:bast"] {
        let pairs = [
            ("dac.l1_entries", "3"),
            ("dac.spatial_pages", "1"),
            ("dac.freq_pages", "1"),
            ("dac.promote_hits", "2"),
        ];
        let config = tiny(scheme, LARGE, &pairs);
        let mut device = open(scheme, &config);
        device.verify_reads();
        let mut rng = Rng::new(4, Purpose::Workload);
        let mut cuts = 0;
        for round in 0..60 {
            let outcome = CutOutcome::ALL[round % CutOutcome::ALL.len()];
            let after = u64::from(rng.below(300));
            device.board_mut().nand_mut().faults_mut().cut_power_after(after, outcome);
            let mut requests = mixed(&config, 1000, round as u64).into_iter();
            let cut = requests.find_map(|request| device.submit(&request).err());
            assert_eq!(cut, Some(DeviceError::Fault(Fault::PowerCut)), "{scheme}, round {round}");
            cuts += 1;
            device.power_cycle().expect("recovers");
            device.audit().unwrap_or_else(|error| panic!("{scheme}, round {round}: {error}"));
        }
        assert_eq!(cuts, 60);
    }
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for scheme in ["dac", "dac:bast"] {
        for blocks in [10, LARGE] {
            let pairs = [
                ("device.over_provisioning", "0.0001"),
                ("dac.l1_entries", "1"),
                ("dac.freq_pages", "0"),
                ("bast.log_blocks", "1"),
                ("replacement_block.spare_pct", "0.1"),
            ];
            let config = tiny(scheme, blocks, &pairs);
            let mut sized = config.clone();
            let (row, preset) = schemes::find(scheme).expect("in the table");
            preset.iter().for_each(|(key, value)| sized.set(key, value).expect("legal"));
            assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&sized), "none spare");
            let mut device = open(scheme, &config);
            device.verify_reads();
            for page in 0..config.device.logical_pages() {
                device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every page");
            }
            for request in mixed(&config, 1500, 9) {
                device.submit(&request).expect("room for every update");
            }
            device.audit().expect("sound");
        }
    }
}

/// Half of the memory for single entries, a quarter for each cache of pages; what the base and the
/// directory need comes first.
#[test]
fn memory_is_split_among_the_levels() {
    let (row, _) = schemes::find("dac").expect("a scheme of the table");
    let of = |pairs: &[(&str, &str)]| {
        let uses = (row.ram_use)(&config(pairs));
        assert!(uses.iter().all(|one| one.structure != "block_table"), "it is on flash");
        let bytes = |name| {
            let used = uses.iter().find(|one| one.structure == name).expect("there");
            assert_eq!(used.memory, Memory::Sram);
            used.bytes
        };
        let levels = ["cached_entries", "spatial_pages", "frequent_pages"].map(bytes);
        let sram = uses.iter().filter(|one| one.memory == Memory::Sram).map(|one| one.bytes);
        (levels, sram.sum::<u64>())
    };
    // 16 GiB in blocks of 128 KiB: 131,072 entries, 256 map pages of 2 KiB.
    let large = [("device.logical_bytes", "16GiB"), ("device.blocks_per_plane", "140000")];
    let with = |pairs: &[(&str, &str)]| of(&[&large[..], pairs].concat());
    assert_eq!(with(&[]).0, [16 << 10, 8 << 10, 8 << 10]);
    assert_eq!(
        with(&[("dac.spatial_share", "0"), ("dac.freq_share", "0.5")]).0,
        [16 << 10, 0, 16 << 10]
    );
    assert_eq!(with(&[("dac.l1_entries", "100"), ("dac.entry_bytes", "6")]).0[0], 600);
    for budget in [512 << 10, 1 << 20] {
        let bytes = format!("{budget}B");
        let (levels, sram) = with(&[("dac.base", "bast"), ("device.ram_bytes", &bytes)]);
        assert!(sram <= budget && sram > budget - 2048, "{sram} of {budget}");
        assert!(levels[1] == levels[2] && levels[1] > 0, "{levels:?}");
    }
    // A level never holds more than there is.
    let small = of(&[]);
    assert_eq!(small.0[1..], [2048 * 2, 2048 * 2], "1,000 logical blocks: two map pages");
}

#[test]
fn what_does_not_fit_or_makes_no_sense_is_refused() {
    let (row, _) = schemes::find("dac").expect("a scheme of the table");
    let refused = |pairs: &[(&str, &str)]| {
        matches!((row.check)(&config(pairs)), Err(SettingError::Conflict(_)))
    };
    let ram = ("device.ram_bytes", "16KiB");
    assert!(refused(&[
        ram,
        ("dac.spatial_pages", "2"),
        ("dac.freq_pages", "2"),
        ("dac.l1_entries", "2000")
    ]));
    assert!(!refused(&[
        ("dac.spatial_pages", "2"),
        ("dac.freq_pages", "2"),
        ("dac.l1_entries", "1000")
    ]));
    assert!(refused(&[("dac.spatial_share", "0.6"), ("dac.freq_share", "0.6")]));
    assert!(refused(&[("dac.base", "bast"), ("bast.map_on_flash", "on")]), "one map is enough");
    assert!(!refused(&[("bast.map_on_flash", "on")]), "that is not the base");
}
