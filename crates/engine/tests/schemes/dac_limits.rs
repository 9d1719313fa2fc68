//! Block maps on flash at their limits: devices whose programs fail until no block is left, blocks
//! of few and of many pages, and what memory and device must have.

use crate::common::{config, mixed, open, pages, size, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::{self, Memory};
use ftlab_engine::ssd::{Device, DeviceError};

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Logical blocks of three map pages.
const LARGE: u64 = 300;

/// Schemes and settings, with as little of the map in memory as there can be, and with all levels.
const MAPS: [(&str, &[(&str, &str)]); 5] = [
    ("dac", &[("dac.l1_entries", "1"), ("dac.spatial_pages", "0"), ("dac.freq_pages", "0")]),
    ("dac:bast", &[("dac.l1_entries", "1"), ("dac.spatial_pages", "1"), ("dac.freq_pages", "0")]),
    (
        "dac:bast",
        &[
            ("dac.l1_entries", "2"),
            ("dac.spatial_pages", "1"),
            ("dac.freq_pages", "1"),
            ("dac.promote_hits", "1"),
        ],
    ),
    ("dac", &[("dac.l1_entries", "30"), ("dac.spatial_pages", "1"), ("dac.freq_pages", "0")]),
    ("bast", &[("bast.map_on_flash", "true"), ("bast.map_cache_pages", "1")]),
];

fn failing(scheme: &str, own: &[(&str, &str)]) -> Config {
    let failures = [
        ("nand.program_failure_rate", "0.03"),
        ("bast.log_blocks", "4"),
        ("replacement_block.spare_pct", "2"),
    ];
    tiny(scheme, LARGE, &[&failures, own].concat())
}

/// Goes on until a request says that the device is worn out, and some requests further.
fn wear_out(device: &mut dyn Device, config: &Config, seed: u64, what: &str) -> bool {
    let mut left = None;
    for request in mixed(config, 1500, seed) {
        match device.submit(&request) {
            Ok(_) => {}
            Err(DeviceError::Fault(Fault::WornOut { .. })) if request.op != Op::Read => {
                left.get_or_insert(60);
            }
            Err(other) => panic!("{what}, {:?}: {other:?}", request.op),
        }
        device.audit().unwrap_or_else(|error| panic!("{what}, {:?}: {error}", request.op));
        if let Some(more) = left.as_mut() {
            *more -= 1;
            if *more == 0 {
                return true;
            }
        }
    }
    false
}

/// Everything is read and compared.
fn read_all(device: &mut dyn Device, config: &Config, what: &str) {
    for page in 0..config.device.logical_pages() {
        let read = device.submit(&pages(config, Op::Read, page, 1));
        read.unwrap_or_else(|error| panic!("{what}, page {page}: {error:?}"));
    }
    device.audit().unwrap_or_else(|error| panic!("{what}: {error}"));
}

/// What was written stays readable, whatever the map would have to write for that; a write that is
/// refused changes nothing; and recovery needs no block.
#[test]
fn a_worn_out_device_is_read_and_comes_back_after_a_cut() {
    for (number, (scheme, own)) in MAPS.into_iter().enumerate() {
        let config = failing(scheme, own);
        let mut ended = 0;
        for seed in 0..12 {
            let what = format!("{scheme} {number}, seed {seed}");
            let mut device = open(scheme, &config);
            device.verify_reads();
            if !wear_out(device.as_mut(), &config, seed, &what) {
                continue;
            }
            ended += 1;
            read_all(device.as_mut(), &config, &what);
            for _ in 0..2 {
                let back = device.power_cycle();
                back.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                device.audit().unwrap_or_else(|error| panic!("{what}: {error}"));
                read_all(device.as_mut(), &config, &what);
            }
        }
        assert!(ended > 5, "{scheme} {number}: only {ended} devices ended");
    }
}

/// Every look-up is answered by level 1, by one of the two caches of pages, by the directory where
/// no map page was ever written, or by a read.
#[test]
fn look_ups_are_counted_by_what_answers_them() {
    let levels = [
        ("dac.l1_entries", "4"),
        ("dac.spatial_pages", "1"),
        ("dac.freq_pages", "1"),
        ("bast.log_blocks", "2"),
    ];
    let config = tiny("dac:bast", LARGE, &levels);
    let mut device = open("dac:bast", &config);
    let read = |device: &mut dyn Device, block: u64| {
        let before = Event::ALL.iter().map(|&event| device.board().meter().events(event));
        let before: Vec<u64> = before.collect();
        device.submit(&pages(&config, Op::Read, 4 * block, 1)).expect("the device works");
        let [lookups, hits, second, frequent, directory] = [
            Event::MapLookups,
            Event::MapHits,
            Event::SecondLevelHits,
            Event::FrequencyHits,
            Event::DirectoryHits,
        ]
        .map(|event| device.board().meter().events(event) - before[event as usize]);
        assert_eq!(lookups, 1);
        (hits, second, frequent, directory)
    };
    let device = device.as_mut();
    assert_eq!(read(device, 1), (1, 0, 0, 1), "the map is empty");
    assert_eq!(read(device, 1), (1, 0, 0, 0), "level 1, though there is nothing");
    for block in (0..8).chain(130..138) {
        device.submit(&pages(&config, Op::Write, 4 * block, 4)).expect("the device works");
    }
    assert_eq!(read(device, 300 - 1), (1, 0, 0, 1), "map page 2 was not written");
    assert_eq!(read(device, 0), (0, 0, 0, 0), "map page 0 is read");
    assert_eq!(read(device, 0), (1, 0, 0, 0));
    for block in [1, 2, 3, 4] {
        assert_eq!(read(device, block), (1, 1, 0, 0), "{block}: the cache by recency");
    }
    assert_eq!(read(device, 5), (1, 1, 1, 0), "four hits later the one by frequency");
    let meter = device.board().meter();
    let missed = meter.events(Event::MapLookups) - meter.events(Event::MapHits);
    assert!(meter.reads(Cause::Translate) >= missed);
}

/// Blocks of two pages, of which map and log blocks are full at once; and of 256.
#[test]
fn blocks_may_have_few_pages_or_many() {
    for (pages_per_block, blocks) in [("2", LARGE), ("256", 20)] {
        for (number, (scheme, own)) in MAPS.into_iter().enumerate() {
            let geometry = [("device.pages_per_block", pages_per_block)];
            let config = tiny(scheme, blocks, &[&geometry, own].concat());
            let mut device = open(scheme, &config);
            device.verify_reads();
            for round in 0..12_u64 {
                let outcome = CutOutcome::ALL[round as usize % 3];
                let faults = device.board_mut().nand_mut().faults_mut();
                faults.cut_power_after(400 + 97 * round, outcome);
                let what = format!("{scheme} {number}, {pages_per_block} pages, round {round}");
                let mut requests = mixed(&config, 2000, round).into_iter();
                let cut = requests.find_map(|request| device.submit(&request).err());
                assert_eq!(cut, Some(DeviceError::Fault(Fault::PowerCut)), "{what}");
                device.power_cycle().expect("recovers");
                device.audit().unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            let erases = device.board().meter().total_erases();
            assert!(erases > 20, "{scheme} {number}, {pages_per_block} pages: {erases} erases");
        }
    }
}

/// The device of DFTL 2014, 3 % of the blocks spare, takes DAC with 3 % of update blocks: 8192 data
/// blocks, 246 spare ones, 3 with trim records, 4 for merges and cuts, and 2 with the 16 map pages
/// and one that a cut may add.
#[test]
fn the_device_of_dftl_2014_is_large_enough() {
    let device = [
        ("device.pages_per_block", "64"),
        ("device.page_bytes", "2KiB"),
        ("device.blocks_per_plane", "8448"),
        ("device.over_provisioning", "0.03125"),
    ];
    let config = config(&device);
    assert_eq!(config.device.logical_pages(), 8192 * 64);
    let (row, _) = schemes::find("dac").expect("in the table");
    assert_eq!((row.minimum_blocks)(&config), 8448);
    open("dac", &config);
    let mut larger = config.clone();
    larger.set("replacement_block.spare_pct", "3.1").expect("legal");
    let refused = (row.open)(&larger, 1).err().expect("too few blocks").to_string();
    assert!(refused.contains("at least 8456 blocks"), "{refused}");
    assert!(refused.contains("raise device.over_provisioning"), "{refused}");
}

/// Shares that sum to 1 leave an entry for level 1: a page less in a cache whose size nobody gave.
#[test]
fn all_levels_together_take_no_more_than_the_budget() {
    let (row, _) = schemes::find("dac").expect("in the table");
    let taken = |pairs: &[(&str, &str)]| {
        let mut config = config(&[("device.page_bytes", "512")]);
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        size("dac", &mut config, 20_000);
        let used = (row.ram_use)(&config);
        let sram = used.iter().filter(|one| one.memory == Memory::Sram).map(|one| one.bytes);
        let bytes = |name| used.iter().find(|one| one.structure == name).expect("there").bytes;
        let levels = ["cached_entries", "spatial_pages", "frequent_pages"].map(bytes);
        (levels, sram.sum::<u64>())
    };
    let (levels, beside) = taken(&[]);
    let beside = beside - levels.iter().sum::<u64>();
    let shares = |spatial, frequent| [("dac.spatial_share", spatial), ("dac.freq_share", frequent)];
    for pages in 1..20 {
        let budget = beside + 512 * pages;
        let ram = budget.to_string() + "B";
        for split in [shares("1", "0"), shares("0", "1"), shares("0.5", "0.5")] {
            let (levels, sram) = taken(&[&split[..], &[("device.ram_bytes", &ram)]].concat());
            assert!(sram <= budget, "{sram} of {budget}: {levels:?}");
            assert!(levels[0] >= 8 && sram > budget - 1024, "{sram} of {budget}: {levels:?}");
        }
    }
    let ram = (beside + 2048).to_string() + "B";
    let given = [("device.ram_bytes", &ram[..]), ("dac.l1_entries", "10")];
    let (levels, _) = taken(&[&shares("0.5", "0.5")[..], &given].concat());
    assert_eq!(levels, [80, 1024, 512], "the cache by frequency makes way first");
}

/// Bytes by structure.
fn bytes(config: &Config, structure: &str) -> u64 {
    let (row, _) = schemes::find("dac").expect("in the table");
    let used = (row.ram_use)(config).into_iter().find(|one| one.structure == structure);
    used.expect("it has one").bytes
}

/// 32 KiB where no budget is given, map pages of 512 bytes, of which there are 80. Without sizes a
/// quarter each is 16 pages, and half are entries of 8 bytes. Entries that are given take what they
/// need from the caches that are not: from that for frequency first.
#[test]
fn entries_that_are_given_take_their_room_from_the_page_caches() {
    let cases: [(Pairs<'_>, [u64; 3]); 7] = [
        (&[], [2048, 16, 16]),
        // 20,800 bytes leave 23 pages.
        (&[("dac.l1_entries", "2600")], [2600, 16, 7]),
        (&[("dac.l1_entries", "2600"), ("dac.freq_pages", "10")], [2600, 13, 10]),
        // 22,528 bytes leave just 20.
        (&[("dac.l1_entries", "2816")], [2816, 16, 4]),
        (&[("dac.l1_entries", "3600")], [3600, 7, 0]),
        (&[("dac.l1_entries", "4096")], [4096, 0, 0]),
        (&[("dac.l1_entries", "5000")], [5000, 0, 0]),
    ];
    for (pairs, [entries, spatial, frequent]) in cases {
        let config = tiny("dac", 80 * 128, pairs);
        assert_eq!(bytes(&config, "cached_entries"), 8 * entries, "{pairs:?}");
        assert_eq!(bytes(&config, "spatial_pages"), 512 * spatial, "{pairs:?}");
        assert_eq!(bytes(&config, "frequent_pages"), 512 * frequent, "{pairs:?}");
    }
}

/// Sizes that are given may take all that the budget leaves and no byte more; sizes that are not
/// are as small as they must be.
#[test]
fn sizes_that_are_given_fit_the_budget_or_are_refused() {
    let (row, _) = schemes::find("dac").expect("in the table");
    let none = [("dac.spatial_pages", "0"), ("dac.freq_pages", "0")];
    let entries = |count| tiny("dac", 24, &[none[0], none[1], ("dac.l1_entries", count)]);
    let own = ["cached_entries", "spatial_pages", "frequent_pages"];
    let beside = (row.ram_use)(&entries("10"))
        .into_iter()
        .filter(|one| one.memory == Memory::Sram && !own.contains(&one.structure));
    let exact = beside.map(|one| one.bytes).sum::<u64>() + 80;
    let checked = |mut config: Config, bytes: u64| {
        config.set("device.ram_bytes", &bytes.to_string()).expect("legal");
        (row.check)(&config).map_err(|error| error.to_string())
    };
    assert_eq!(checked(entries("10"), exact), Ok(()));
    assert_eq!(checked(entries("10"), exact + 1), Ok(()));
    let error = checked(entries("10"), exact - 1).expect_err("a byte too few");
    assert!(error.contains("take 80 bytes, device.ram_bytes leaves 79"), "{error}");
    assert_eq!(checked(tiny("dac", 24, &[]), exact - 80), Ok(()), "one entry all the same");
    let shares = |spatial, frequent| {
        let pairs = [("dac.spatial_share", spatial), ("dac.freq_share", frequent)];
        (row.check)(&tiny("dac", 24, &pairs)).is_ok()
    };
    assert!(shares("0.5", "0.5") && !shares("0.5", "0.51"));
}

/// Its block table is cached; the rest is the scheme's below it, which has settings of its own.
#[test]
fn it_says_what_it_stands_on_and_why_its_cache_is_not_cleaned() {
    let (row, _) = schemes::find("dac").expect("in the table");
    for (base, name) in [("block_with_replacement", "replacement_block"), ("bast", "bast")] {
        let config = tiny("dac", 24, &[("dac.base", base)]);
        assert_eq!((row.stands_on)(&config), Some(name));
        assert!(row.reads(&config, name) && row.reads(&config, "dac"));
        let why = (row.uncleanable)(&config).expect("nothing cleans it");
        assert!(why.contains("when they leave"), "{why}");
    }
}
