//! Streams of host requests and power cuts on every scheme.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_engine::fuzzing::operations(data));
