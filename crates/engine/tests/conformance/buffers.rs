//! Buffers in front of schemes on tiny devices: after every request the whole device is audited,
//! and every read returns the version written last.

use crate::common::buffers::{BUFFERS, PLAIN, SCHEMES};
use crate::common::conform::conform;
use crate::common::faults;
use crate::common::{chosen, mixed_contents, open, tiny};
use ftlab_engine::buffer;
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Row};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const BLOCKS: u64 = 24;
const PARALLEL: Pairs<'_> = &[("device.planes", "2"), ("timing.profile", "parallel")];
/// Four sectors to a page, and writes of part of a page keep the rest.
const SECTORS: Pairs<'_> =
    &[("device.page_bytes", "2048"), ("io.partial_write", "rmw"), ("buffer.bytes", "16384")];

/// Requests of a few sectors each, so that many pages are written in part.
fn ragged(config: &Config, count: usize, seed: u64) -> Vec<Request> {
    let sectors = config.device.logical_pages() * config.device.unit_bytes() / 512;
    let mut rng = Rng::new(seed, Purpose::Workload);
    let request = |_| {
        let near = if rng.below(2) == 0 { 1 } else { 8 };
        let first = u64::from(rng.below(sectors as u32 / near));
        let length = (1 + u64::from(rng.below(11))).min(sectors - first);
        let (op, length) = match rng.below(20) {
            0..11 => (Op::Write, length),
            11..17 => (Op::Read, length),
            17..19 => (Op::Trim, length),
            _ => (Op::Flush, 0),
        };
        Request {
            arrival: 0,
            op,
            first_sector: first,
            sectors: length as u32,
            unit: 0,
            stream: None,
            // What whole pages of some hold, one of three contents.
            content: (length % 3 == 0).then(|| Content::new(1 + first % 3)),
        }
    };
    (0..count).map(request).collect()
}

fn run(scheme: &str, pairs: Pairs<'_>, seed: u64) {
    let config = tiny(scheme, BLOCKS, pairs);
    let mut device = open(scheme, &config);
    let partial = pairs.contains(&("io.partial_write", "rmw"));
    let mut requests =
        if partial { ragged(&config, 600, seed) } else { mixed_contents(&config, 600, seed) };
    for (number, request) in requests.iter_mut().enumerate() {
        // A gap now and then, so that idle work happens.
        request.arrival = number as u64 / 8 * 30_000_000;
    }
    if let Err(error) = conform(device.as_mut(), &requests) {
        panic!("{scheme} {pairs:?} seed {seed}, {error}");
    }
    assert!(device.verified_reads() > 100, "reads were really compared");
    let meter = device.board().meter();
    for event in [Event::BufferLookups, Event::BufferHits, Event::BufferFlushes] {
        assert!(meter.events(event) > 50, "{scheme} {pairs:?}: hardly any {event:?}");
    }
    let roomy = pairs.iter().any(|(key, _)| *key == "device.over_provisioning");
    assert!(meter.total_erases() > 0 || roomy, "{scheme} {pairs:?}: nothing was ever erased");
}

#[test]
fn every_buffer_of_the_table_is_tested() {
    for row in buffer::TABLE {
        let name = ("buffer.name", row.name);
        assert!(BUFFERS.iter().any(|buffer| buffer.contains(&name)), "{}", row.name);
    }
}

#[test]
fn every_buffer_keeps_every_promise_in_front_of_schemes_of_every_kind() {
    for scheme in SCHEMES.into_iter().filter(|scheme| chosen(scheme)) {
        for (number, buffer) in BUFFERS.iter().enumerate() {
            for geometry in [&[], PARALLEL, SECTORS] {
                run(scheme, &[*buffer, geometry].concat(), number as u64);
            }
            let faults = [faults::READ, faults::PROGRAM, faults::MIXED][number % 3];
            run(scheme, &[*buffer, SECTORS, faults].concat(), 50 + number as u64);
        }
    }
}

#[test]
fn every_scheme_keeps_every_promise_behind_a_buffer() {
    // One that buffers data itself takes no buffer in front, and none stands between a host's map
    // and the flash.
    let takes_one = |row: &&Row| chosen(row.paper.name) && !row.buffers_data && !row.maps_in_host;
    for row in schemes::TABLE.iter().filter(takes_one) {
        let padding: Pairs<'_> = &[("buffer.name", "bplru"), ("buffer.bytes", "8192")];
        run(row.paper.name, PLAIN, 1);
        run(row.paper.name, &[PARALLEL, padding].concat(), 2);
        run(row.paper.name, &[padding, &[("nand.enforce_order", "strict")]].concat(), 3);
    }
}
