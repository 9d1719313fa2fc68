//! Records of the compact form behind right checksums, alone and merged.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_trace::fuzzing::fuzz_compact(data));
