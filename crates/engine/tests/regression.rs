//! Failures that were seen once, each told before its fix.

mod common;

use common::{config, pages};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;

/// DFTL on 64 planes ran full although every plane had room for its share. Map pages that collection
/// updates went to the victim's plane while their old copies died in others, so a busy plane gathered
/// hundreds of them, had to collect more, and gathered more still. They go to their home plane now.
#[test]
fn map_pages_do_not_gather_in_one_plane() {
    let mut config = config(&[
        ("device.channels", "4"),
        ("device.dies", "4"),
        ("device.planes", "4"),
        ("device.over_provisioning", "0.1"),
        ("gc.threshold", "20%"),
        ("gc.threshold_base", "spare"),
        ("timing.profile", "parallel"),
    ]);
    config.device.set_capacity(1 << 30, 0);
    let (row, _) = schemes::find("dftl").expect("a scheme of the table");
    assert!((row.minimum_blocks)(&config) <= config.device.physical_blocks());
    let mut device = (row.open)(&config, 1).expect("legal settings");
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(1, Purpose::Workload);
    for page in (0..logical).chain((0..logical).map(|_| rng.below(logical))) {
        let mut request = pages(&config, Op::Write, u64::from(page), 1);
        request.arrival = device.next_slot();
        device.submit(&request).expect("the device never runs full");
    }
    device.audit().expect("the audit passes");
}
