//! A small ADAPT device whose flash operations are recorded, and what its areas stand at.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::Level;
use ftlab_engine::request::Op;
use ftlab_engine::units::Ppn;

use crate::common::{open, tiny};
use crate::fast_bench::{Bench, copy};

/// Ten logical blocks, `filled` of them (from block 1 on) written once, in place.
pub fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    let config = tiny("adapt", 10, pairs);
    let device = open("adapt", &config);
    let mut bench = Bench { config, device };
    // One request, so that intervals are easily counted.
    if filled > 0 {
        bench.submit(Op::Write, 4, 4 * filled);
    }
    bench.device.start_measuring();
    bench
}

/// Where a level stands, if it was told.
pub fn level(bench: &Bench, level: Level) -> Option<u64> {
    bench.meter().level_now(level)
}

/// Limits of the sequential and the random area.
pub fn limits(bench: &Bench) -> (u64, u64) {
    let of = |known| level(bench, known).expect("told at the start");
    (of(Level::SequentialLogLimit), of(Level::RandomLogLimit))
}

/// Every page of these logical blocks is copied, block by block, each erased behind its copies.
pub fn rebuilt(sources: &[Ppn], targets: &[Ppn], data: Operation) -> Vec<Operation> {
    let pairs = sources.iter().zip(targets);
    let mut operations: Vec<Operation> = pairs.flat_map(|(&from, &to)| copy(from, to)).collect();
    operations.push(data);
    operations
}
