//! What every scheme says of its sizes with each of its variants: the blocks that it needs at
//! least, and bytes of memory by structure. That the formulas are right, examples of the schemes
//! say where a paper does; here it is seen when one changes.

use crate::common::variants;
use crate::common::{chosen, tiny};
use ftlab_engine::schemes;
use std::fmt::Write;

/// Devices, each beside a variant's own settings: several planes and translation pages; large
/// enough that shares of it are no least sizes; and that one with little memory.
const DEVICES: [(u64, &[(&str, &str)]); 3] = [
    (24, &[("device.pages_per_block", "16"), ("device.planes", "2")]),
    (700, &LARGE),
    (700, &[LARGE[0], LARGE[1], LARGE[2], ("device.ram_bytes", "60000")]),
];
const LARGE: [(&str, &str); 3] =
    [("device.pages_per_block", "64"), ("device.page_bytes", "2048"), ("device.channels", "4")];

/// Settings, and a line for each device: blocks, and bytes by structure.
fn sizes(scheme: &str, pairs: &[(&str, &str)]) -> String {
    let (row, preset) = schemes::find(scheme).expect("it is there");
    let mut lines = scheme.to_string();
    for (key, value) in preset.iter().chain(pairs) {
        write!(lines, " {key}={value}").expect("a string grows");
    }
    for (blocks, device) in DEVICES {
        let config = tiny(scheme, blocks, &[device, pairs].concat());
        write!(lines, "\n    blocks {}", (row.minimum_blocks)(&config)).expect("a string grows");
        for used in (row.ram_use)(&config) {
            write!(lines, ", {} {} {:?}", used.structure, used.bytes, used.memory)
                .expect("a string grows");
        }
    }
    lines
}

#[test]
fn every_scheme_says_what_it_said_of_its_sizes() {
    for row in schemes::TABLE {
        let name = row.paper.name;
        if !chosen(name) {
            continue;
        }
        let is_its = |variant: &&variants::Variant| variant.scheme.split(':').next() == Some(name);
        let own =
            variants::all().filter(is_its).map(|variant| sizes(variant.scheme, variant.pairs));
        let mut lines: Vec<String> = std::iter::once(sizes(name, &[])).chain(own).collect();
        lines.dedup();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}
