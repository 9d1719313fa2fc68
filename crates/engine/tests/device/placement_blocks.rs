//! What is known of blocks under a placement policy: its memory, when a block was opened, and as of
//! which class one counts that was found after a power cut.

use crate::common::{open, pages, submit, tiny};
use ftlab_engine::meter::{ClassCounts, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

const HINT: (&str, &str) = ("gc.placement", "hint");
const SEPBIT: (&str, &str) = ("gc.placement", "sepbit");

/// The class of a block takes bits; when it was opened four bytes, where a policy asks for that.
#[test]
fn memory_is_told_of_classes_of_blocks() {
    let found = |pairs: &[(&str, &str)]| {
        let config = tiny("ideal_page", 24, pairs);
        let (row, _) = schemes::find("ideal_page").expect("a scheme");
        let all = (row.ram_use)(&config);
        let found = all.iter().find(|found| found.structure == "placement_blocks");
        let blocks = u64::from(open("ideal_page", &config).board().geometry().blocks());
        (found.map_or(0, |found| found.bytes), blocks)
    };
    assert_eq!(found(&[]).0, 0);
    for (pairs, bits, bytes) in [
        (&[("gc.placement", "sep_gc")][..], 1, 0),
        (&[("gc.placement", "mida")], 3, 0),
        (&[("gc.placement", "dac"), ("placement.classes", "16")], 4, 0),
        (&[SEPBIT], 3, 4),
        (&[SEPBIT, ("placement.sepbit_lifespan", "100")], 3, 0),
    ] {
        let (bytes_found, blocks) = found(pairs);
        assert_eq!(bytes_found, (bits * blocks).div_ceil(8) + bytes * blocks, "{pairs:?}");
    }
}

fn classes(device: &dyn Device) -> Vec<ClassCounts> {
    device.board().meter().classes()[..device.config().data_classes() as usize].to_vec()
}

/// Victims by class of which nobody knows when they were opened: blocks that were found after a
/// power cut.
fn found_victims(pairs: &[(&str, &str)], stream: u8) -> Vec<u64> {
    let config = tiny("ideal_page", 60, pairs);
    let mut device = open("ideal_page", &config);
    let mut rng = Rng::new(4, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    let mut write = |device: &mut dyn Device| {
        for _ in 0..1000 {
            let request = pages(&config, Op::Write, u64::from(rng.below(logical)), 1);
            let request = Request { stream: Some(stream), ..request };
            let _ = device.submit(&request).expect("the device works");
        }
    };
    write(device.as_mut());
    device.power_cycle().expect("it starts again");
    device.start_measuring();
    write(device.as_mut());
    device.audit().expect("the audit passes");
    classes(device.as_ref()).iter().map(|class| class.victims - class.timed_victims).collect()
}

/// Hints do not outlive a power cut: blocks that were found belong to the first handle, though
/// everything was written to the third. Under other policies they count as of class 1.
#[test]
fn blocks_found_after_a_power_cut_have_the_class_that_their_policy_says() {
    let hints = [HINT, ("host.hints", "column"), ("placement.handles", "4")];
    let hint = found_victims(&hints, 2);
    assert!(hint[0] >= 40, "{hint:?}");
    // Other classes go on with blocks that were open.
    assert!(hint[1..].iter().all(|&found| found <= 1), "{hint:?}");
    let sepbit = found_victims(&[SEPBIT, ("placement.sepbit_victims", "2")], 0);
    assert!(sepbit[1] >= 40, "{sepbit:?}");
    assert!(sepbit[0] <= 1 && sepbit[2..].iter().all(|&found| found <= 1), "{sepbit:?}");
}

/// Cold pages are written once, and levelling moves them from block to block while others are
/// written over and over. What they are in when they die counts from when they were written.
#[test]
fn levelling_does_not_make_blocks_young() {
    let pairs = [("gc.placement", "sep_gc"), ("wear.policy", "static"), ("wear.spread", "2")];
    let config = tiny("ideal_page", 60, &pairs);
    let mut device = open("ideal_page", &config);
    let per_block = u64::from(device.board().geometry().pages_per_block);
    let cold = 20 * per_block;
    (0..cold).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let (mut rng, hot) = (Rng::new(4, Purpose::Workload), 3000);
    for _ in 0..hot {
        submit(device.as_mut(), &config, Op::Write, cold + u64::from(rng.below(40)));
    }
    assert!(device.board().meter().events(Event::LevelledBlocks) > 40);
    device.start_measuring();
    (0..cold).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    (0..200).for_each(|_| submit(device.as_mut(), &config, Op::Write, cold));
    let counts = classes(device.as_ref());
    let lifespans: u64 = counts.iter().map(|class| class.lifespans).sum();
    // Twenty blocks of cold pages lived through all of the others; one or two may be left.
    assert!(lifespans >= 18 * hot, "{lifespans}: {counts:?}");
}
