//! Results and kept runs that are read back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ftlab_lab::fuzzing::fuzz_results(data);
});
