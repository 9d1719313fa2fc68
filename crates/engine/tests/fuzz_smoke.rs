//! The fuzz target of operation streams on a stable toolchain: seeded random bytes for
//! `FTLAB_FUZZ_SECONDS` seconds (default 2). A failure prints the seed that repeats it.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use ftlab_engine::rng::{Purpose, Rng};

fn bytes(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed, Purpose::Workload);
    let length = 20 + rng.below(1600);
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

#[test]
fn random_operation_streams_break_no_promise() {
    let seconds = std::env::var("FTLAB_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut seed = 0;
    while Instant::now() < end || seed < 100 {
        let data = bytes(seed);
        if catch_unwind(|| ftlab_engine::fuzzing::operations(&data)).is_err() {
            panic!("the stream of seed {seed} breaks a promise (see above)");
        }
        seed += 1;
    }
    println!("{seed} streams");
}
