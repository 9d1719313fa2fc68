//! Janus-FTL's two operations as sequences of flash operations: fusion without any, defusion with
//! at most a copy per page; block mapping alone; and what moves the boundary.

use crate::common::{config, fill, mixed, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Memory};
use ftlab_engine::ssd::Device;

fn bench(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = tiny("janus", 40, pairs);
    let mut device = open("janus", &config);
    device.verify_reads();
    (config, device)
}

fn write(device: &mut dyn Device, config: &Config, lpn: u64) -> Vec<Operation> {
    record(device, |device| submit(device, config, Op::Write, lpn))
}

fn write_all(device: &mut dyn Device, config: &Config, lpns: &[u64]) -> Vec<Operation> {
    record(device, |device| lpns.iter().for_each(|&lpn| submit(device, config, Op::Write, lpn)))
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn levels(device: &dyn Device) -> (Option<u64>, Option<u64>) {
    let meter = device.board().meter();
    (meter.level_now(Level::PageMappedPages), meter.level_now(Level::BlockMappedPages))
}

/// The pages of a logical block, as physical pages.
fn places(device: &dyn Device, lbn: u32) -> Vec<u32> {
    (4 * lbn..4 * lbn + 4).map(|page| place(device, page).0).collect()
}

fn is_block_mapped(device: &dyn Device, lbn: u32) -> bool {
    let places = places(device, lbn);
    places[0].is_multiple_of(4) && places.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// A page in the middle of a block-mapped block is rewritten: one program. The block is fused, its
/// other pages are where they were, page-mapped.
#[test]
fn fusion_is_no_flash_operation() {
    let (config, mut device) = bench(&[("janus.target", "fixed"), ("janus.fixed_pct", "50")]);
    let device = device.as_mut();
    fill(device, &config);
    assert!((0..40).all(|lbn| is_block_mapped(device, lbn)), "written in order, each at its place");
    assert_eq!(events(device, Event::InPlaceWrites), 120, "all but the first of each block");
    let before = places(device, 3);
    let operations = write(device, &config, 14);
    assert!(matches!(operations[..], [Operation::Program(_, Cause::Host)]), "{operations:?}");
    let after = places(device, 3);
    assert_eq!((after[0], after[1], after[3]), (before[0], before[1], before[3]));
    assert_ne!(after[2], before[2]);
    assert_eq!(events(device, Event::Fusions), 1);
    assert_eq!(levels(device), (Some(4), Some(156)));
    // The next pages of this logical block are page-mapped writes: one program, no fusion.
    let operations = write_all(device, &config, &[12, 15, 14]);
    assert_eq!(operations.len(), 3, "{operations:?}");
    assert_eq!(events(device, Event::Fusions), 1);
}

/// One of forty logical blocks may be page-mapped. When a second is fused, the coldest (the only
/// other) is gathered: three copies and no read of what is not there. It is block-mapped again.
#[test]
fn defusion_copies_a_page_once() {
    let pairs =
        [("janus.target", "fixed"), ("janus.fixed_pct", "1"), ("janus.defuse_rule", "coldest")];
    let (config, mut device) = bench(&pairs);
    let device = device.as_mut();
    fill(device, &config);
    submit(device, &config, Op::Trim, 13);
    submit(device, &config, Op::Write, 14);
    assert_eq!(device.board().meter().reads(Cause::Convert), 0);
    let from = [place(device, 12), place(device, 14), place(device, 15)];
    let operations = write(device, &config, 22);
    assert_eq!(events(device, Event::Defusions), 1);
    let convert: Vec<&Operation> = operations
        .iter()
        .filter(|op| {
            matches!(op, Operation::Read(_, Cause::Convert) | Operation::Program(_, Cause::Convert))
        })
        .collect();
    let [
        Operation::Read(a, _),
        Operation::Program(to, _),
        Operation::Read(b, _),
        Operation::Program(_, _),
        Operation::Read(c, _),
        Operation::Program(last, _),
    ] = convert[..]
    else {
        panic!("three copies: {operations:?}");
    };
    assert_eq!([*a, *b, *c], from);
    assert_eq!((to.0 % 4, last.0), (0, to.0 + 3), "each at its offset");
    assert_eq!(place(device, 12), *to);
    assert_eq!(levels(device), (Some(4), Some(155)));
    device.audit().expect("map, flash and host agree");
}

/// A logical block that is rewritten from its first page to its last goes to the write buffer
/// block: one erase, no copy. When the order breaks, both blocks are fused without an operation.
#[test]
fn a_rewrite_in_order_is_one_erase_and_no_copy() {
    let (config, mut device) = bench(&[("janus.target", "fixed")]);
    let device = device.as_mut();
    fill(device, &config);
    let old = place(device, 20).0 / 4;
    let operations = write_all(device, &config, &[20, 21, 22, 23]);
    let expected_erase = matches!(operations[4], Operation::Erase(block, _) if block.0 == old);
    assert!(operations.len() == 5 && expected_erase, "{operations:?}");
    assert!(is_block_mapped(device, 5));
    assert_eq!((events(device, Event::BlockRewrites), events(device, Event::Fusions)), (1, 0));
    let operations = write_all(device, &config, &[24, 25, 40]);
    assert_eq!(operations.len(), 3, "another block begins at its first page: {operations:?}");
    assert_eq!(events(device, Event::Fusions), 1, "of logical block 6");
    assert_eq!(place(device, 24).0 + 1, place(device, 25).0);
    assert_eq!(place(device, 26).0 + 1, place(device, 27).0);
    device.audit().expect("map, flash and host agree");
}

/// Everything block-mapped: a page in the middle costs a copy of each other page, an erase and its
/// own program, and no logical block is ever page-mapped.
#[test]
fn with_everything_block_mapped_a_page_costs_its_block() {
    let (config, mut device) = bench(&[("janus.target", "all_block")]);
    let device = device.as_mut();
    fill(device, &config);
    assert_eq!(device.board().meter().total_programs(), 160);
    // The rewrite stays open until the order breaks.
    let first = write(device, &config, 14);
    assert_eq!(first.len(), 5, "two copies before it, itself: {first:?}");
    let second = write(device, &config, 33);
    assert!(
        matches!(
            second[..],
            [
                Operation::Read(_, Cause::Convert),
                Operation::Program(_, Cause::Convert),
                Operation::Erase(_, Cause::Convert),
                Operation::Read(_, Cause::Convert),
                Operation::Program(_, Cause::Convert),
                Operation::Program(_, Cause::Host)
            ]
        ),
        "the rest of the block before, then a copy of page 32: {second:?}"
    );
    let mut rng = Rng::new(3, Purpose::Workload);
    let before = device.board().meter().programs(Cause::Convert);
    for _ in 0..1000 {
        submit(device, &config, Op::Write, u64::from(rng.below(160)));
    }
    let copies = device.board().meter().programs(Cause::Convert) - before;
    assert!((2500..=3000).contains(&copies), "about three copies a write: {copies}");
    assert_eq!(device.board().meter().programs(Cause::Gc), 0);
    assert_eq!((events(device, Event::Fusions), events(device, Event::Defusions)), (0, 0));
    assert_eq!(levels(device).0, Some(0));
}

/// Four hot logical blocks are written at random, the rest in order: the model keeps the hot ones
/// page-mapped and the others block-mapped, at fewer programs than with everything block-mapped.
#[test]
fn the_boundary_follows_the_workload() {
    let run = |target: &str| {
        let (config, mut device) = bench(&[("janus.target", target), ("janus.eval_every", "200")]);
        let device = device.as_mut();
        fill(device, &config);
        let mut rng = Rng::new(6, Purpose::Workload);
        let mut cursor = 16;
        for _ in 0..1500 {
            for _ in 0..3 {
                submit(device, &config, Op::Write, u64::from(rng.below(16)));
            }
            if rng.below(4) == 0 {
                (cursor..cursor + 4).for_each(|lpn| submit(device, &config, Op::Write, lpn));
                cursor = if cursor + 4 == 160 { 16 } else { cursor + 4 };
            }
        }
        device.audit().expect("map, flash and host agree");
        let cold = (4..40).filter(|&lbn| is_block_mapped(device, lbn)).count();
        (device.board().meter().total_programs(), cold)
    };
    let (model, cold) = run("cost_model");
    let (all_block, _) = run("all_block");
    assert!(cold >= 34, "{cold} of 36 cold logical blocks are block-mapped");
    assert!(model * 3 < all_block * 2, "{model} programs, {all_block} with block mapping");
}

/// The page table's bytes are those of the page-mapped area.
#[test]
fn memory_is_counted_by_area() {
    let bytes = |pairs: &[(&str, &str)]| {
        let config = tiny("janus", 40, pairs);
        let (row, _) = schemes::find("janus").expect("in the table");
        let used = (row.ram_use)(&config);
        let sram = used.iter().filter(|entry| entry.memory == Memory::Sram);
        let sum: u64 = sram.map(|entry| entry.bytes).sum();
        sum
    };
    // Forty logical blocks of four pages: 160 bytes of block table, 5 of flags.
    assert_eq!(bytes(&[("janus.target", "all_block")]), 165);
    assert_eq!(bytes(&[("janus.target", "all_page")]), 165 + 640);
    assert_eq!(bytes(&[("janus.target", "fixed"), ("janus.fixed_pct", "25")]), 165 + 160);
}

/// A capacity that is no multiple of a block: the last logical block has fewer pages, and takes
/// part in everything, recovery included.
#[test]
fn the_last_logical_block_may_be_cut_short() {
    for scheme in ["janus", "cftl"] {
        let config = config(&[
            ("device.pages_per_block", "4"),
            ("device.page_bytes", "512"),
            ("device.logical_bytes", "19KiB"),
            ("device.blocks_per_plane", "60"),
        ]);
        assert_eq!(config.device.logical_pages(), 38);
        let mut device = open(scheme, &config);
        device.verify_reads();
        for request in mixed(&config, 2000, 3) {
            device.submit(&request).expect("the device works");
        }
        device.power_cycle().expect("it recovers");
        for request in mixed(&config, 500, 4) {
            device.submit(&request).expect("the device works");
        }
        device.audit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
    }
}
