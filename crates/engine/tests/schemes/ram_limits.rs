//! Schemes that share RAM between map and data at their limits.

use crate::common::{mixed, open, tiny};

/// One entry more than there are pages: group 1 is one place. An entry that is displaced past the
/// hole of the accessed one takes that place; it does not leave the levels with its page in RAM.
#[test]
fn group_1_of_jtl_may_be_a_single_place() {
    // Entries of 64 bytes and pages of 512: 1, 3 and 4 pages.
    for (ram, share, entries) in
        [("640", "0.2001", 2), ("1792", "0.1429", 4), ("2368", "0.13514", 5)]
    {
        for stops in ["true", "false"] {
            for reads in ["true", "false"] {
                let pairs = [
                    ("device.ram_bytes", ram),
                    ("jtl.map_share", share),
                    ("jtl.entry_bytes", "64"),
                    ("jtl.hole_stops_cascade", stops),
                    ("jtl.cache_reads", reads),
                    ("jtl.seq_pages", "4"),
                    ("device.ram_nonvolatile", "true"),
                ];
                let config = tiny("jtl", 24, &pairs);
                let mut device = open("jtl", &config);
                device.verify_reads();
                let case = format!("{entries} entries, stops: {stops}, reads: {reads}");
                for request in mixed(&config, 1000, 6) {
                    device.submit(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
                    device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
                }
                device.power_cycle().unwrap_or_else(|error| panic!("{case}: {error}"));
                device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
            }
        }
    }
}
