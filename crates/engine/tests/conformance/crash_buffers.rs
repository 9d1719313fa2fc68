//! Power cuts at every operation of devices with a buffer: RAM that forgets loses what was not
//! flushed and nothing that was; RAM that keeps its content loses nothing.

use crate::common::buffers::{BUFFERS, PLAIN};
use crate::common::cuts::{Keeps, LOGICAL_BLOCKS, Points, every_cut};
use crate::common::{chosen, tiny};
use crate::crash::is_all;
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::schemes::{self, Row};

/// Cuts that a workload must have, so that it tells something; a buffer keeps much from flash.
const LEAST_CUTS: u64 = 30;

/// At every so many operations.
fn cuts(every: u64, scheme: &str, number: usize, pairs: &[(&str, &str)], keeps: Keeps) {
    let memory = match keeps {
        Keeps::Everything => "true",
        _ => "false",
    };
    let pairs = [pairs, &[("device.ram_nonvolatile", memory)]].concat();
    let config = tiny(scheme, LOGICAL_BLOCKS, &pairs);
    let points = Points { outcomes: &CutOutcome::ALL, every, least: LEAST_CUTS };
    every_cut((scheme, keeps), number, &config, points);
}

#[test]
fn every_buffer_loses_what_was_not_flushed_and_nothing_else() {
    for scheme in ["ideal_page", "fast"].into_iter().filter(|scheme| chosen(scheme)) {
        for (number, buffer) in BUFFERS.iter().enumerate() {
            cuts(1, scheme, number, buffer, Keeps::Flushed);
        }
    }
}

#[test]
fn every_buffer_in_nonvolatile_memory_loses_nothing() {
    for scheme in ["ideal_page", "fast"].into_iter().filter(|scheme| chosen(scheme)) {
        for (number, buffer) in BUFFERS.iter().enumerate() {
            cuts(1, scheme, number, buffer, Keeps::Everything);
        }
    }
}

/// At every third operation, with `FTLAB_ALL_CUTS` at every one.
#[test]
fn every_scheme_recovers_behind_a_buffer() {
    let every = if is_all() { 1 } else { 3 };
    // One that buffers data itself takes no buffer in front, and none stands between a host's map
    // and the flash.
    let takes_one = |row: &&Row| chosen(row.paper.name) && !row.buffers_data && !row.maps_in_host;
    for row in schemes::TABLE.iter().filter(takes_one) {
        cuts(every, row.paper.name, 40, PLAIN, Keeps::Flushed);
        let keeps = if row.keeps_writes { Keeps::Everything } else { Keeps::Flushed };
        cuts(every, row.paper.name, 41, PLAIN, keeps);
    }
}
