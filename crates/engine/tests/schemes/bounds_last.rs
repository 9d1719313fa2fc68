//! Bounds of LAST's partitions, with every log page valid and among failing programs.

use crate::common::{mixed, open, pages, tiny};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op::Write;
use ftlab_engine::request::Request;
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

/// Five log blocks: one sequential, two hot, two cold.
const FIVE: (&str, &str) = ("last.log_blocks", "5");

/// Everything that the audit and the limits of the partitions demand, after every request.
fn endures(device: &mut dyn Device, requests: impl IntoIterator<Item = Request>, limits: [u64; 3]) {
    let [sequential, hot, random] = limits;
    for request in requests {
        device.submit(&request).expect("room for every update");
        device.audit().expect("sound");
        let area = |area| device.board().meter().level_now(area).expect("told");
        assert!(area(Level::SequentialLogBlocks) <= sequential);
        assert!(area(Level::HotLogBlocks) <= hot);
        assert!(area(Level::HotLogBlocks) + area(Level::ColdLogBlocks) <= random);
    }
}

#[test]
fn partitions_keep_their_bounds_on_a_device_without_a_spare_block() {
    // Log blocks, sequential share, adapt: limits of sequential, hot, and both random partitions.
    let cases = [
        ("3", "0.0625", "false", [1, 1, 2]),
        ("3", "1", "true", [1, 1, 2]),
        ("8", "0.25", "false", [2, 3, 6]),
        ("8", "0.25", "true", [2, 5, 6]),
        ("9", "0.5", "true", [4, 4, 5]),
    ];
    for (blocks, share, adapt, limits) in cases {
        let pairs = [
            ("last.log_blocks", blocks),
            ("last.seq_share", share),
            ("last.adapt", adapt),
            ("last.hot_window", "40"),
            ("device.over_provisioning", "0.01"),
        ];
        let config = tiny("last", 12, &pairs);
        let (row, _) = schemes::find("last").expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config));
        let mut device = open("last", &config);
        device.verify_reads();
        endures(&mut *device, mixed(&config, 3000, 5), limits);
        let reclaims = [Event::DemotedPages, Event::DeadLogBlocks, Event::AreaTransfers];
        let [demoted, dead, shifted] = reclaims.map(|event| device.board().meter().events(event));
        assert!(dead > 50, "{blocks} {share} {adapt}: {dead} {demoted} {shifted}");
        assert!(
            if adapt == "false" { demoted > 0 } else { blocks == "3" || shifted > 0 },
            "{blocks} {share} {adapt}: {dead} {demoted} {shifted}"
        );
    }
}

#[test]
fn failing_programs_of_a_demotion_do_not_heap_up_cold_blocks() {
    // Each failed copy closes the cold block and opens another beyond the limit: that is made good
    // before the next copy, not when all pages of the hot block have moved. So one block may be too
    // many, and two if two copies in a row fail.
    for seed in 1..=4 {
        let pairs = [
            FIVE,
            ("last.hot_window", "4096"),
            ("device.pages_per_block", "32"),
            ("nand.program_failure_rate", "0.03"),
            ("device.over_provisioning", "100x"),
        ];
        let config = tiny("last", 4, &pairs);
        let mut device = open("last", &config);
        let mut most = 0;
        // Whatever is rewritten is hot, and valid until it is demoted.
        for number in 0..800 {
            let request = pages(&config, Write, (37 + 2 * seed) * number % 128, 1);
            device.submit(&request).expect("blocks to spare");
            let area = |area| device.board().meter().level_now(area).expect("told");
            most = most.max(area(Level::HotLogBlocks) + area(Level::ColdLogBlocks));
        }
        device.audit().expect("sound");
        let meter = device.board().meter();
        assert!(meter.events(Event::DemotedBlocks) > 5, "seed {seed}");
        assert!(most <= 4 + 2, "seed {seed}: {most} of 4 random log blocks");
    }
}
