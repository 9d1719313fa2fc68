//! How large lines are, and what goes with them: twelve planes, two channels of three dies of two,
//! blocks of eight flash pages of two units.

use super::*;
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::settings::Groups as _;

const DEVICE: [(&str, &str); 7] = [
    ("device.channels", "2"),
    ("device.dies", "3"),
    ("device.planes", "2"),
    ("device.blocks_per_plane", "10"),
    ("device.pages_per_block", "8"),
    ("device.page_bytes", "4096"),
    ("device.mapping_unit", "2048"),
];
const LINES: (&str, &str) = ("alloc.unit", "line");

fn config(pairs: &[(&str, &str)]) -> SharedSettings {
    let mut config = SharedSettings::default();
    let all = [&DEVICE, pairs].concat();
    all.iter().for_each(|(key, value)| config.set(key, value).expect("legal alone"));
    config
}

fn said(pairs: &[(&str, &str)]) -> String {
    let checked = config(pairs).check();
    checked.map_or_else(|error| error.to_string(), |()| String::new())
}

fn zones(channels: u32, rows: u32) -> ZoneRules {
    let (copy_in_device, raw, finish_after_cut) = (false, false, false);
    ZoneRules { channels, rows, max_open: 4, copy_in_device, raw, finish_after_cut }
}

#[test]
fn pages_take_blocks_of_every_plane() {
    let blocks = |pages| config(&[]).blocks_for(pages);
    assert_eq!([0, 1, 12 * 16, 12 * 16 + 1, 12 * 32 - 11].map(blocks), [0, 1, 1, 2, 2]);
}

/// Of twelve planes, stripes of three dies leave eight; a die that failed takes two more.
#[test]
fn pages_take_lines_without_parity_and_without_the_die_that_fails() {
    let lines = |pairs: &[_], pages| config(&[&[LINES], pairs].concat()).blocks_for(pages);
    assert_eq!([192, 193].map(|pages| lines(&[], pages)), [1, 2]);
    let stripes = [("rain.stripe", "3")];
    assert_eq!([128, 129].map(|pages| lines(&stripes, pages)), [1, 2]);
    let fails = [("nand.failing_die", "0")];
    assert_eq!([160, 161].map(|pages| lines(&fails, pages)), [1, 2]);
    let both = [stripes[0], fails[0]];
    assert_eq!([96, 97].map(|pages| lines(&both, pages)), [1, 2]);
    // Lines that hold nothing then are reckoned as if they held a page; they are refused.
    let one = [("device.channels", "1"), ("device.dies", "1"), fails[0]];
    assert_eq!(lines(&one, 7), 7);
}

#[test]
fn a_line_is_of_all_planes_and_a_zone_of_its_channels() {
    let mut config = config(&[LINES]);
    assert_eq!((config.full_line(), config.line_sets(), config.units()), (192, 1, 10));
    config.zones = Some(zones(1, 5));
    assert_eq!((config.full_line(), config.line_sets(), config.units()), (6 * 5 * 2, 2, 20));
}

#[test]
fn parity_and_a_die_that_fails_need_lines() {
    assert_eq!([said(&[]), said(&[LINES])], [""; 2]);
    let stripes = [("rain.stripe", "3")];
    assert_eq!(said(&[LINES, stripes[0]]), "");
    assert!(said(&stripes).starts_with("rain.stripe = 3 needs alloc.unit = line: parity is over"));
    let fails = [("nand.failing_die", "5")];
    assert_eq!(said(&[LINES, fails[0]]), "");
    assert!(said(&fails).starts_with("nand.failing_die = 5 needs alloc.unit = line: a plane"));
}

#[test]
fn lines_go_with_one_collection_one_order_and_one_sort_of_blocks() {
    let refused = [
        ("slc.static_blocks", "3"),
        ("slc.dynamic_share", "0.5"),
        ("gc.unit", "die"),
        ("wear.policy", "static"),
        ("alloc.order", "dynamic"),
    ];
    for (key, value) in refused {
        let cells = ("device.bits_per_cell", "2");
        assert_eq!(said(&[cells, (key, value)]), "", "{key} = {value}");
        let words = said(&[LINES, cells, (key, value)]);
        let begin = format!("alloc.unit = line and {key} = {value} exclude each other: ");
        assert!(words.starts_with(&begin), "{words}");
    }
}

#[test]
fn stripes_are_of_dies_in_the_order_of_channels_and_copies_go_through_the_controller() {
    let stripes = ("rain.stripe", "3");
    let order = ("alloc.order", "die_channel_plane");
    assert_eq!(said(&[LINES, order]), "");
    let words = said(&[LINES, stripes, order]);
    assert!(
        words.starts_with("rain.stripe = 3 and alloc.order = die_channel_plane exclude"),
        "{words}"
    );
    let copies = ("timing.copyback", "true");
    assert_eq!(said(&[LINES, copies]), "");
    let words = said(&[LINES, stripes, copies]);
    assert!(words.starts_with("rain.stripe = 3 and timing.copyback = true exclude"), "{words}");
}

/// One die, and a stripe of two dies: nothing is left of either. Of four dies in stripes of two one
/// is left beside the die that fails.
#[test]
fn a_die_that_fails_leaves_another() {
    let with = |channels, stripe| {
        let dies = [("device.channels", channels), ("device.dies", "1"), ("nand.failing_die", "0")];
        said(&[&[LINES, ("rain.stripe", stripe)][..], &dies].concat())
    };
    assert_eq!([with("2", "0"), with("4", "2")], [""; 2]);
    let none = "nand.failing_die leaves no die that a page could be moved to";
    assert!(with("1", "0").starts_with(none) && with("2", "2").starts_with(none));
}
