//! `ftlab list schemes --table` against DFTL 2014, Table 1.

use crate::common::Bench;
use serde_json::Value;

/// The columns of the print, its words shortened to those of the list: scheme, type, mapping
/// granularity, division of update blocks, associativity (data : update), full merges. N data
/// blocks, M log blocks, of which m sequential, S blocks in a superblock, K replacement blocks.
const PRINTED: [(&str, [&str; 4], bool); 7] = [
    ("replacement_block", ["block", "block", "replacement", "1:K"], true),
    ("bast", ["hybrid", "data blocks by block, log blocks by page", "one per", "1:M"], true),
    (
        "fast",
        [
            "hybrid",
            "data blocks by block, log blocks by page",
            "1 sequential + (M-1) random",
            "random N:(M-1), sequential 1:1",
        ],
        true,
    ),
    ("superblock", ["hybrid", "superblocks, their blocks by page", "superblock", "S:M"], true),
    (
        "last",
        [
            "hybrid",
            "data and sequential log blocks by block, random log blocks by page",
            "m sequential + (M-m) random, hot and cold",
            "random N:(M-m), sequential 1:1",
        ],
        true,
    ),
    ("dftl", ["page", "page", "all data blocks", "N:N"], false),
    ("ideal_page", ["page", "page", "all", "N:N"], false),
];

#[test]
fn schemes_are_classified_as_printed() {
    let listed = Bench::new().ftlab("list schemes --json").ok();
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    for (name, [kind, granularity, update, associativity], full_merge) in PRINTED {
        let row = listed.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row["kind"], kind, "{name}");
        assert_eq!(row["granularity"], granularity, "{name}");
        // The print leaves this open for schemes without a division; ours says what there is.
        assert!(row["update_blocks"].as_str().unwrap().contains(update), "{name}: {row}");
        assert_eq!(row["associativity"], associativity, "{name}");
        assert_eq!(row["full_merge"], full_merge, "{name}");
    }
    let table = Bench::new().ftlab("list schemes --table").ok();
    let columns = ["kind", "granularity", "update_blocks", "associativity", "full_merge"];
    // Below the line that begins the table.
    let heading = table.lines().nth(1).unwrap();
    for column in columns {
        assert!(heading.contains(column), "{column}");
    }
}
