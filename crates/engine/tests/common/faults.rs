//! The faults under which every scheme and every variant is tested. Devices that lose blocks have
//! some to spare.

/// Settings of one kind of fault.
pub type Faults = &'static [(&'static str, &'static str)];

/// Bad blocks from the start: one in six, and one by name, in the first plane.
pub const FACTORY: Faults = &[("nand.factory_bad_rate", "0.17"), ("nand.factory_bad_blocks", "2")];
/// Programs that fail.
pub const PROGRAM: Faults =
    &[("nand.program_failure_rate", "0.002"), ("device.over_provisioning", "6x")];
/// Erases that fail.
pub const ERASE: Faults =
    &[("nand.erase_failure_rate", "0.01"), ("device.over_provisioning", "6x")];
/// Reads that need retries, and reads that no retry helps.
pub const READ: Faults = &[
    ("nand.read_error_rate", "0.01"),
    ("nand.read_retry_rate", "0.05"),
    ("nand.read_retries", "3"),
];
/// All of them.
pub const MIXED: Faults = &[
    ("nand.factory_bad_rate", "0.1"),
    ("nand.program_failure_rate", "0.002"),
    ("nand.erase_failure_rate", "0.004"),
    ("nand.read_error_rate", "0.004"),
    ("nand.read_retry_rate", "0.02"),
    ("device.over_provisioning", "8x"),
];

/// Every kind, and none.
pub const ALL: &[Faults] = &[&[], FACTORY, PROGRAM, ERASE, READ, MIXED];
