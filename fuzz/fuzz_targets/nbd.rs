//! Conversations of a network block device.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ftlab_nbd::fuzzing::fuzz_conversation(data));
