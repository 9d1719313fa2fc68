//! Snapshots of a device's flash and phase-change memory that are read back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ftlab_lab::fuzzing::fuzz_snapshot(data);
});
