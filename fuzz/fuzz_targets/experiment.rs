//! Experiments from TOML, and their plans.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ftlab_lab::fuzzing::fuzz_experiment(data);
});
