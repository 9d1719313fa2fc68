//! Combined workloads: phases and mixes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_trace::fuzzing::fuzz_combination(data));
