//! A 1 TiB device under FAST stays small where it is not used.

mod common;

use common::{config, open, pages, size};
use ftlab_engine::request::Op;

/// Resident memory of this process in bytes, where the system says.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says why")]
fn a_terabyte_with_a_small_footprint_stays_resident_small() {
    let Some(before) = resident_bytes() else {
        eprintln!("skipped: this system does not tell a process's peak memory");
        return;
    };
    let mut config = config(&[("device.pages_per_block", "64"), ("device.page_bytes", "2KiB")]);
    let blocks = (1u64 << 40) / (64 * 2048);
    size("fast", &mut config, blocks);
    let mut device = open("fast", &config);
    for round in 0..2 {
        for page in (0..32_768).step_by(8) {
            device.submit(&pages(&config, Op::Write, page + round, 7)).expect("written");
        }
    }
    for page in (0..32_768).step_by(3) {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("updated");
    }
    let grown = resident_bytes().expect("told before") - before;
    assert!(grown < 256 << 20, "a footprint of 64 MiB made {} MiB resident", grown >> 20);
}
