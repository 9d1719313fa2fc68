//! Lines on devices: where pages go, what is collected and erased, blocks that fail, what is found
//! again, and what lines do not go together with. Parity: `rain`.

use crate::common::outcome::{mix, random, run, sequential};
use crate::common::{config, fill, mixed, open, pages, place, submit, tiny};
use crate::rain::{EIGHT, LINE, Pairs, ROOM, audited, device, write_random};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Lpn, PlaneId, Ppn};

const STRIPE: (&str, &str) = ("rain.stripe", "4");

#[test]
fn pages_of_a_line_go_channel_by_channel_then_die_by_die_then_to_the_next_page() {
    let pairs = [LINE, ("device.channels", "2"), ("device.dies", "2"), ("device.planes", "2")];
    let (config, mut device) = device("ideal_page", 24, &pairs);
    (0..20).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let geometry = device.board().geometry();
    let at = |page| {
        let found = place(device.as_ref(), page);
        let plane = geometry.plane_of(found);
        let number = geometry.block_of(found).0 - geometry.blocks_of(plane).start;
        (
            number,
            geometry.offset_of(found),
            geometry.channel_of(plane),
            geometry.die_of(plane) % 2,
            plane.0 % 2,
        )
    };
    for page in 0..16u32 {
        let turn = page % 8;
        let expected = (0, page / 8, turn % 2, turn / 2 % 2, turn / 4);
        assert_eq!(at(page), expected, "page {page}");
    }
}

/// One plane: a line is a block, and nothing tells the two apart, operation by operation.
#[test]
fn lines_of_one_plane_are_blocks() {
    let more: [Pairs<'_>; 6] = [
        &[],
        &[("gc.victim", "cost_benefit_age")],
        &[("gc.victim", "windowed_greedy"), ("wear.policy", "dynamic")],
        &[("gc.trigger", "garbage_share"), ("device.over_provisioning", "1.5x")],
        &[("gc.placement", "sepbit"), ("device.over_provisioning", "1.5x")],
        &[("nand.factory_bad_rate", "0.1"), ("device.over_provisioning", "2x")],
    ];
    for scheme in ["ideal_page", "hat", "dftl", "tpftl"] {
        for pairs in more {
            let lines = [pairs, &[LINE]].concat();
            let like = tiny(scheme, 24, pairs);
            for requests in [random, sequential, mix] {
                let mut two = [pairs, &lines].map(|pairs| run((scheme, pairs), &like, requests));
                // Room for a page that follows is looked for in other words.
                assert!(two[0].operations == two[1].operations, "{scheme} {pairs:?}: operations");
                two.iter_mut().for_each(|one| one.operations.clear());
                assert_eq!(two[0], two[1], "{scheme} {pairs:?}");
            }
        }
    }
}

/// Whole lines are erased: as many erases in every plane.
#[test]
fn a_line_is_collected_and_erased_as_one() {
    let (config, mut device) = device("ideal_page", 64, &[&EIGHT[..], &[LINE]].concat());
    fill(device.as_mut(), &config);
    write_random(device.as_mut(), &config, 4 * config.device.logical_pages(), 3);
    audited(device.as_ref(), "lines");
    let nand = device.board().nand();
    let erases = |plane: u32| -> u32 {
        let blocks = nand.geometry().blocks_of(PlaneId(plane)).map(BlockId);
        blocks.map(|block| nand.state().block(block).erases).sum()
    };
    let all: Vec<u32> = (0..8).map(erases).collect();
    assert!(all[0] > 20 && all.iter().all(|&one| one == all[0]), "{all:?}");
}

/// Blocks that are bad make lines shorter; a line in which nothing can be written is never opened.
#[test]
fn a_line_without_room_is_none() {
    // Line 2 has no good block, of line 3 one is left, which has no parity.
    let bad = "2,3,52,53,102,103,152";
    for (stripe, opened) in [("0", true), ("4", false)] {
        let mut config = config(&[
            ("device.pages_per_block", "4"),
            ("device.page_bytes", "512"),
            ("device.channels", "4"),
            ("device.blocks_per_plane", "50"),
            ("nand.factory_bad_blocks", bad),
            ("device.logical_bytes", "153600"),
            LINE,
            ("rain.stripe", stripe),
        ]);
        config.device.blocks_per_plane = 50;
        let mut device = open("ideal_page", &config);
        fill(device.as_mut(), &config);
        write_random(device.as_mut(), &config, 3 * config.device.logical_pages(), 3);
        audited(device.as_ref(), stripe);
        let nand = device.board().nand();
        let line = |number: u32| {
            let blocks = (0..4).map(|plane| BlockId(plane * 50 + number));
            blocks.filter(|&block| nand.state().block(block).touched).count()
        };
        assert_eq!(line(2), 0, "rain.stripe = {stripe}");
        assert_eq!(line(3) > 0, opened, "rain.stripe = {stripe}: the only good block");
        assert_eq!(line(4), 4);
    }
}

/// Lines whose blocks die one after another: every failure on the way is answered, to the end.
#[test]
fn lines_wear_out_block_by_block() {
    for stripe in ["0", "4"] {
        let pairs = [
            ("device.channels", "4"),
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "20"),
            ("nand.program_failure_rate", "0.001"),
            ("rain.stripe", stripe),
            LINE,
            ("device.over_provisioning", "2x"),
        ];
        let (config, mut device) = device("ideal_page", 40, &pairs);
        let mut rng = Rng::new(3, Purpose::Workload);
        let mut written = 0;
        let end = loop {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            match device.submit(&pages(&config, Op::Write, page, 1)) {
                Ok(_) => written += 1,
                Err(error) => break error.to_string(),
            }
            if written % 500 == 0 {
                audited(device.as_ref(), stripe);
            }
        };
        assert!(end.contains("worn out"), "rain.stripe = {stripe}: {end}");
        assert!(written > 2000, "rain.stripe = {stripe}: {written}");
    }
}

/// What lines do not go together with is refused in words, before anything runs.
#[test]
fn what_does_not_go_with_lines_is_refused() {
    const CHANNELS: (&str, &str) = ("device.channels", "4");
    let cell = ("device.bits_per_cell", "3");
    let cases: &[(Pairs<'_>, &str)] = &[
        (&[LINE, cell, ("slc.static_blocks", "4")], "an SLC cache takes single blocks of a plane"),
        (&[LINE, cell, ("slc.dynamic_share", "0.5")], "slc.dynamic_share = 0.5"),
        (&[LINE, ("gc.unit", "die")], "a line is of all dies anyway"),
        (&[LINE, ("wear.policy", "static")], "static levelling moves single blocks"),
        (&[LINE, ("alloc.order", "dynamic")], "in a fixed order"),
        (&[("device.channels", "4"), STRIPE], "parity is over the dies of a line"),
        (&[LINE, ("device.channels", "3"), ("rain.stripe", "2")], "must divide the dies"),
        (
            &[LINE, ("device.channels", "4"), STRIPE, ("alloc.order", "plane_die_channel")],
            "legal: alloc.order = channel_die_plane",
        ),
        (
            &[
                LINE,
                ("device.channels", "4"),
                STRIPE,
                ("device.page_bytes", "2048"),
                ("device.mapping_unit", "512"),
                ("rain.flush", "pad"),
            ],
            "units gather to flash pages under capacitors",
        ),
        (&[("device.channels", "4"), ("nand.failing_die", "1")], "needs alloc.unit = line"),
        (&[LINE, ("nand.failing_die", "1")], "the device has dies 0 to 0"),
        (&[LINE, ("nand.die_fails_after", "9")], "nand.failing_die names none"),
        (&[LINE, ("nand.failing_die", "0")], "leaves no die"),
        (&[LINE, ("rain.rotate", "false")], "rain.stripe = 0 says that there are none"),
        (&[LINE, ("rain.flush", "pad")], "rain.stripe = 0 says that there are none"),
        (&[LINE, ("rain.rebuild_pages", "9")], "rain.stripe = 0 says that there are none"),
        (
            &[
                LINE,
                CHANNELS,
                STRIPE,
                ("rain.flush", "partial"),
                ("device.ram_nonvolatile", "true"),
            ],
            "rain.flush = partial and device.ram_nonvolatile = true exclude each other",
        ),
        (
            &[LINE, CHANNELS, STRIPE, ("timing.copyback", "true")],
            "rain.stripe = 4 and timing.copyback = true exclude each other",
        ),
    ];
    for (pairs, words) in cases {
        let config = config(pairs);
        let error = config.check().expect_err(words).to_string();
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
    for scheme in ["lazyftl", "fast", "block", "cftl", "janus", "treeftl", "leaftl"] {
        let config = config(&[LINE]);
        let (row, _) = schemes::find(scheme).expect("in the table");
        let error = (row.check)(&config).expect_err(scheme).to_string();
        assert!(error.contains("alloc.unit = line does not go with"), "{scheme}: {error}");
    }
}

/// Parity is of lines, and LeaFTL has none: neither is there for it, whoever asks how.
#[test]
fn leaftl_has_no_parity_in_any_way() {
    let planes: Pairs<'_> = &[("device.channels", "4"), ("alloc.order", "channel_die_plane")];
    let ways: [(Pairs<'_>, &str); 3] = [
        (&[("rain.stripe", "4")], "rain.stripe = 4 needs alloc.unit = line"),
        (&[("rain.stripe", "4"), LINE], "alloc.unit = line does not go with leaftl"),
        (&[LINE], "alloc.unit = line does not go with leaftl"),
    ];
    for scheme in ["leaftl", "leaftl:memory", "leaftl:gamma4", "leaftl:code"] {
        let (row, preset) = schemes::find(scheme).expect("in the table");
        for (way, words) in ways {
            let config = config(&[preset, planes, way].concat());
            let both = [config.check(), (row.check)(&config)];
            let refused: Vec<String> = both
                .into_iter()
                .filter_map(|one| one.err().map(|error| error.to_string()))
                .collect();
            assert!(
                refused.iter().any(|error| error.contains(words)),
                "{scheme} {way:?}: {refused:?}"
            );
        }
    }
}

/// Lines of which some pages are programmed and some are not, where no block is bad.
fn unfinished_lines(device: &dyn Device) -> usize {
    let (nand, geometry) = (device.board().nand(), device.board().geometry());
    let programmed = |line: &u32| -> u32 {
        let planes = (0..geometry.planes()).map(|plane| geometry.blocks_of(PlaneId(plane)).start);
        planes.map(|first| nand.state().block(BlockId(first + line)).programmed).sum()
    };
    let pages = device.config().device.pages_per_block * geometry.planes();
    let lines = 0..geometry.blocks_of(PlaneId(0)).len() as u32;
    lines.filter(|line| (1..pages).contains(&programmed(line))).count()
}

/// What lies on flash comes back on another device, lines, parity and all, and goes on.
#[test]
fn lines_are_found_again() {
    // Of several lines that were open for data one goes on being written.
    let cases = [("ideal_page", "none", 1), ("dftl", "none", 2), ("ideal_page", "sepbit", 3)];
    for (scheme, placement, least_open) in cases {
        for stripe in ["0", "4", "8"] {
            let placement = ("gc.placement", placement);
            let more = [LINE, ("rain.stripe", stripe), ROOM, placement];
            let (config, mut first) = device(scheme, 64, &[&EIGHT[..], &more].concat());
            for request in mixed(&config, 2000, 9) {
                first.submit(&request).expect("it works");
            }
            crate::common::flush(first.as_mut());
            let begun = unfinished_lines(first.as_ref());
            assert!(begun >= least_open, "{scheme}, {stripe}: {begun} lines are open");
            let mut second = open(scheme, &config);
            let (from, to) = (first.board().nand(), second.board_mut().nand_mut());
            for block in (0..from.geometry().blocks()).map(BlockId) {
                to.restore_block(block, from.stored_block(block)).expect("the same geometry");
            }
            for page in (0..from.geometry().pages()).map(Ppn) {
                to.restore_page(page, from.stored_page(page)).expect("the same geometry");
            }
            second.power_cycle().expect("it starts");
            first.power_cycle().expect("it starts");
            for page in (0..config.device.logical_pages() as u32).map(Lpn) {
                assert_eq!(first.locate(page), second.locate(page), "{scheme}, {stripe}: {page}");
            }
            write_random(second.as_mut(), &config, 3 * config.device.logical_pages(), 3);
            write_random(first.as_mut(), &config, 3 * config.device.logical_pages(), 3);
            audited(first.as_ref(), scheme);
            let places = |device: &dyn Device| -> Vec<_> {
                (0..config.device.logical_pages() as u32)
                    .map(|page| device.locate(Lpn(page)))
                    .collect()
            };
            assert_eq!(places(first.as_ref()), places(second.as_ref()), "{scheme}, {stripe}");
        }
    }
}
