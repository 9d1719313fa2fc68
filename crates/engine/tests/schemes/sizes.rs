//! What every scheme says of its sizes with each of its variants: the blocks that it needs at least, and
//! bytes of memory by structure. That the formulas are right, examples of the schemes say where a paper
//! does; here it is seen when one changes.

use crate::common::variants;
use crate::common::{chosen, tiny};
use ftlab_engine::schemes;
use std::fmt::Write;

/// Logical blocks of the devices.
const BLOCKS: u64 = 24;
/// Beside each variant's own settings: a device of several planes whose translation pages are several.
const DEVICE: [(&str, &str); 2] = [("device.pages_per_block", "16"), ("device.planes", "2")];

/// One line: settings, blocks, and bytes by structure.
fn sizes(scheme: &str, pairs: &[(&str, &str)]) -> String {
    let config = tiny(scheme, BLOCKS, &[&DEVICE[..], pairs].concat());
    let (row, preset) = schemes::find(scheme).expect("it is there");
    let mut line = scheme.to_string();
    for (key, value) in preset.iter().chain(pairs) {
        write!(line, " {key}={value}").expect("a string grows");
    }
    write!(line, ": blocks {}", (row.minimum_blocks)(&config)).expect("a string grows");
    for used in (row.ram_use)(&config) {
        write!(line, ", {} {} {:?}", used.structure, used.bytes, used.memory)
            .expect("a string grows");
    }
    line
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
