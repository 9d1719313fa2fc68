//! Victims that idle time left half moved (`gc.idle_pages`): who goes on with them, and who leaves
//! them alone.

use crate::common::{fill, open, pages, record, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;

/// Idle steps move one page, and find a victim in nearly every gap.
const PIECES: [(&str, &str); 4] =
    [("device.planes", "2"), ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "8")];

fn full(scheme: &str, pairs: &[(&str, &str)]) -> (Box<dyn Device>, Config) {
    let config = tiny(scheme, 64, &[&PIECES[..], pairs].concat());
    let mut device = open(scheme, &config);
    device.verify_reads();
    fill(device.as_mut(), &config);
    (device, config)
}

/// Writes a page: at once, or after a gap that ends when one idle step has begun.
fn write(device: &mut dyn Device, config: &Config, page: u64, gap: bool) -> Vec<Operation> {
    let arrival = if gap { device.idle_from() + 1 } else { 0 };
    let request = Request { arrival, ..pages(config, Op::Write, page, 1) };
    record(device, |device| {
        device.submit(&request).expect("the device works");
    })
}

/// What copies were made for collection, by plane.
fn copied_in(device: &dyn Device, operations: &[Operation]) -> [u32; 2] {
    let mut copied = [0; 2];
    for operation in operations {
        if let Operation::Read(page, Cause::Gc) = operation {
            copied[device.board().geometry().plane_of(*page).index()] += 1;
        }
    }
    copied
}

/// The victim that was begun last, unless it was erased since.
fn follow(device: &dyn Device, operations: &[Operation], left: &mut Option<BlockId>, gap: bool) {
    for operation in operations {
        match operation {
            Operation::Read(page, Cause::Gc) if gap => {
                *left = Some(device.board().geometry().block_of(*page));
            }
            Operation::Erase(block, _) if *left == Some(*block) => *left = None,
            _ => {}
        }
    }
}

/// Every page of a request lies in the plane of its number. A plane that collects because the host
/// waits finishes what idle time began there, and nothing that it began in the other plane: the
/// host would wait for a victim that gains it nothing.
#[test]
fn the_host_waits_for_no_victim_that_idle_time_began_in_another_plane() {
    let (mut device, config) = full("ideal_page", &[("device.over_provisioning", "0.6")]);
    let device = device.as_mut();
    let mut rng = Rng::new(9, Purpose::Workload);
    let (mut left, mut beside, mut finished) = (None, 0, 0);
    for number in 0..30_000u64 {
        let page = u64::from(rng.below(config.device.logical_pages() as u32));
        let gap = number % 12 == 0;
        let before = left;
        let operations = write(device, &config, page, gap);
        follow(device, &operations, &mut left, gap);
        let copied = copied_in(device, &operations);
        if gap || copied == [0, 0] {
            continue;
        }
        let home = (page % 2) as usize;
        assert_eq!(copied[1 - home], 0, "request {number}: {operations:?}");
        let plane = |block| device.board().geometry().plane_of_block(block).index();
        beside += u32::from(before.is_some_and(|block| plane(block) != home));
        finished += u32::from(before.is_some() && left.is_none());
    }
    assert!(beside > 20 && finished > 20, "{beside} beside one left, {finished} finished");
    device.audit().expect("the audit passes");
}

/// Map pages of a collection go to the plane of their map page, which may have to collect map
/// blocks first (`make_map_room`). One that idle time began there is none of them: it would be
/// erased, and once more when somebody goes on with it.
#[test]
fn a_map_block_that_idle_time_began_is_not_collected_for_room() {
    let pairs = [("dftl.cmt_entries", "4"), ("gc.mode", "idle"), ("device.pages_per_block", "8")];
    for seed in 1..=5 {
        let (mut device, config) = full("dftl", &pairs);
        let device = device.as_mut();
        let logical = config.device.logical_pages() as u32;
        let mut rng = Rng::new(seed, Purpose::Workload);
        for number in 0..6000 {
            let hot = rng.below(10) < 8;
            let page = rng.below(if hot { logical / 8 } else { logical });
            write(device, &config, u64::from(page), number % 6 == 0);
            if number % 10 == 0 {
                device.audit().unwrap_or_else(|error| panic!("seed {seed}, {number}: {error}"));
            }
        }
        let begun = device.board().meter().events(Event::IdleVictims);
        assert!(begun > 100, "seed {seed}: {begun} victims");
    }
}
