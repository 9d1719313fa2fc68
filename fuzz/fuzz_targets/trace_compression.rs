//! Decompression of arbitrary bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_trace::fuzzing::fuzz_compression(data));
