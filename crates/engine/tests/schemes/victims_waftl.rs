//! WAFTL's page-mapped blocks: which is collected, what counts as a conversion, how many there are.
//! Blocks have 4 pages.

use crate::common::{config, pages};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::record::Operation::Erase;
use ftlab_engine::meter::Cause::{Convert, Gc};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::schemes;

/// Three migrations of single pages fill two page-mapped blocks. The younger one has a superseded
/// page (36): it is collected, not the older one, every page of which is valid. Block 2 becomes
/// page-mapped with page 9; page 10 follows without a conversion.
#[test]
fn the_emptiest_page_mapped_block_is_collected_and_a_block_is_converted_once() {
    let pairs =
        [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "2"), ("waftl.pmb_convert_pct", "100")];
    let mut bench = Bench::of("waftl", 3, &pairs);
    bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
    bench.device.start_measuring();
    bench.write(&[36]);
    let oldest = bench.block(9);
    assert_eq!(bench.events(Event::Conversions), 2, "blocks 2 and 3");
    bench.write(&[10, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    assert_eq!(bench.events(Event::Conversions), 2, "block 2 was page-mapped");
    let younger = bench.block(10);
    assert_ne!(younger, oldest);
    bench.write(&[17, 21, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    let meter = bench.meter();
    assert_eq!((meter.programs(Gc), meter.programs(Convert)), (3, 0), "10, 17 and 21");
    assert_eq!(bench.block(9), oldest);
    assert_ne!(bench.block(10), younger);
}

/// A failed program closes a page-mapped block early, and the copy goes to a block beyond the
/// limit. That block must not stay one too many: the closed one is emptied into it at once. It once
/// stayed, so that each such failure took two blocks from the device: the bad one and the one in
/// its place.
#[test]
fn a_failed_program_leaves_no_page_mapped_block_beyond_the_limit() {
    let pairs =
        [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "1"), ("waftl.pmb_convert_pct", "100")];
    for failing in 0..4 {
        let mut bench = Bench::of("waftl", 3, &pairs);
        bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
        bench.device.start_measuring();
        // Block 1 is rewritten by four programs; then 9, 12, 13 and 20 become page-mapped.
        bench.device.board_mut().nand_mut().faults_mut().fail_program_after(4 + failing);
        bench.write(&[36]);
        assert_eq!(bench.events(Event::ProgramFailures), 1);
        assert_eq!(bench.meter().programs(Gc), failing, "what was in the closed block moves on");
        assert_eq!([9, 12, 13, 20].map(|lpn| bench.block(lpn)), [bench.block(9); 4]);
        assert_eq!(bench.device.board().nand().retired_blocks(), 1);
    }
}

/// The bundled devices of DFTL 2014 and ADAPT 2012 have 256 blocks beyond the 8192 exported, and
/// the zone takes 246 of them. WAFTL's defaults were refused there; now two blocks are page-mapped.
/// A number that does not fit is refused still, and a capacity that is chosen brings its own
/// blocks.
#[test]
fn as_many_blocks_are_page_mapped_as_a_given_device_has_room_for() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let blocks = |planes: &str, count: &str, pairs: &[(&str, &str)]| {
        let given = [("device.planes", planes), ("device.blocks_per_plane", count)];
        let config = config(&[&given, pairs].concat());
        let logical = config.device.logical_pages() / u64::from(config.device.pages_per_block);
        (config.usable_blocks(), (row.minimum_blocks)(&config), logical)
    };
    assert_eq!(blocks("1", "8448", &[]), (8448, 8448, 8192));
    assert_eq!(blocks("1", "8448", &[("waftl.pmb_blocks", "1")]).1, 8447);
    assert_eq!(blocks("1", "8448", &[("waftl.pmb_blocks", "3")]).1, 8449, "refused");
    assert_eq!(blocks("1", "8448", &[("device.logical_bytes", "1GiB")]).1, 8446 + 246);
    assert_eq!(blocks("1", "8448", &[("nand.factory_bad_blocks", "5")]).1, 8447, "one is bad");
    let (usable, minimum, _) = blocks("4", "2112", &[]);
    assert!(minimum <= usable, "{minimum} of {usable}");
    // With more to spare the share counts.
    let (usable, minimum, logical) = blocks("1", "9000", &[("device.over_provisioning", "0.1")]);
    let share = (logical * 3).div_ceil(100);
    assert_eq!(minimum, logical + 2 * share + 8446 - 8192 - 246);
    assert!(usable > minimum);
}

/// Two pages of four are valid in the only page-mapped block. By default they are not moved on, to
/// gain two: a full area would otherwise copy nearly whole blocks for a page each.
#[test]
fn a_block_half_of_which_is_valid_is_converted_by_default() {
    for (pairs, converts) in [(&[][..], true), (&[("waftl.pmb_convert_pct", "51")][..], false)] {
        let sizes = [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "1")];
        let mut bench = Bench::of("waftl", 3, &[&sizes, pairs].concat());
        bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
        bench.write(&[36, 12, 13, 14, 15, 28, 28, 28, 28, 28, 28, 28]);
        bench.device.start_measuring();
        bench.write(&[0]);
        let meter = bench.meter();
        assert_eq!((meter.programs(Gc) > 0, meter.programs(Convert) > 0), (!converts, converts));
    }
}

/// Whatever room a given device has beyond everything else, none or some: a budget takes memory,
/// and never makes a device too small that is large enough without one.
#[test]
fn a_budget_never_asks_for_blocks_that_a_given_device_does_not_have() {
    let (row, _) = schemes::find("waftl").expect("in the table");
    let mut placed = [0, 0];
    for planes in ["1", "2"] {
        for blocks in (2400..6400).step_by(25) {
            let blocks = blocks.to_string();
            let given = [
                ("device.planes", planes),
                ("device.blocks_per_plane", blocks.as_str()),
                ("device.over_provisioning", "0.036"),
            ];
            let free = config(&given);
            let tight = config(&[&given[..], &[("device.ram_bytes", "1KiB")]].concat());
            let fits = |config| (row.minimum_blocks)(config) <= config.usable_blocks();
            assert!(fits(&tight) || !fits(&free), "{planes} planes of {blocks} blocks");
            let structures = (row.ram_use)(&tight);
            let on_flash = structures.iter().any(|used| used.structure == "map_cache");
            placed[usize::from(on_flash)] += usize::from(fits(&tight));
        }
    }
    assert!(placed[0] > 20 && placed[1] > 20, "in memory, on flash: {placed:?}");
}

/// However low the bound is: a page-mapped block that holds nothing valid is collected, and nothing
/// is converted for it.
#[test]
fn a_page_mapped_block_without_a_valid_page_is_only_erased() {
    let pairs =
        [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "1"), ("waftl.pmb_convert_pct", "0")];
    let mut bench = Bench::of("waftl", 3, &pairs);
    bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
    bench.write(&[36]);
    // 9, 12, 13 and 20 fill the block, and are written to the zone again.
    let block = bench.block(9);
    assert_eq!([12, 13, 20].map(|lpn| bench.block(lpn)), [block; 3]);
    bench.write(&[9, 12, 13, 20, 36, 36, 36, 36, 36, 36, 36]);
    bench.device.start_measuring();
    let operations = bench.write(&[37]);
    assert!(operations.contains(&Erase(block, Gc)), "{operations:?}");
    assert_eq!(bench.merges(), (1, 0, 0), "a victim of which nothing was copied");
    assert_eq!(bench.meter().programs(Convert), 0);
}

/// A migration that goes by gaps adapts the threshold once, when it is over. Its four pages found
/// room that was free: four of a logical block are few then.
#[test]
fn the_threshold_follows_a_migration_in_gaps_when_it_is_over() {
    let pairs = [
        ("waftl.buffer_blocks", "3"),
        ("waftl.pmb_blocks", "2"),
        ("waftl.migrate", "background"),
        ("waftl.threshold", "dynamic"),
        ("gc.mode", "both"),
        ("timing.erase", "1ms"),
    ];
    let mut bench = Bench::of("waftl", 3, &pairs);
    bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
    bench.device.start_measuring();
    let mut read = pages(&bench.config, Op::Read, 0, 1);
    let mut flips = |bench: &mut Bench, gap: u64| {
        read.arrival = bench.device.idle_from() + gap;
        bench.device.submit(&read).expect("unwritten");
        bench.device.audit().expect("sound");
        (bench.events(Event::ZoneMigrations), bench.events(Event::ThresholdFlips))
    };
    assert_eq!(flips(&mut bench, 1), (1, 0), "one logical block is moved");
    assert_eq!(flips(&mut bench, 1_000_000_000), (1, 1), "all are");
}
