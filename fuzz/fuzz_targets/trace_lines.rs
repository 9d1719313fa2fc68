//! Every line parser on every line of the input.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_trace::fuzzing::fuzz_lines(data));
