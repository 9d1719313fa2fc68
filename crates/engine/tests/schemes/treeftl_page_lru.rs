//! Tree-PL: exact LRU over all cached pages, and what a translation page's data pages have to do
//! with its own place in that order.

use crate::common::{config, open, record, submit};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::ssd::Device;

/// Entries of a translation page: page numbers of group g begin at g * E.
const E: u64 = 512;

/// Nine frames: groups a (offsets 0, 1 and 3, the last access at 1), b (0 and 2, at 2) and c, as in
/// Fig. 3; then page 0 is used again.
fn figure_3(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let mut config = config(pairs);
    config.set("device.ram_bytes", "18KiB").expect("nine frames");
    let mut device = open("treeftl_page_lru", &config);
    for page in [0, 3, 1, E, E + 2, 2 * E, 0] {
        submit(device.as_mut(), &config, Op::Write, page);
    }
    assert_eq!(device.board().meter().total_programs(), 0, "everything has its frame");
    (config, device)
}

/// What these writes to group c program: the number of the page, negative and less one for
/// translation pages; a group per write.
fn leaving(device: &mut dyn Device, config: &Config, writes: u64) -> Vec<Vec<i64>> {
    let one = |offset: u64| {
        let operations = record(device, |device| {
            submit(device, config, Op::Write, 2 * E + offset);
        });
        let programmed = operations.iter().filter_map(|operation| match operation {
            Operation::Program(ppn, _) => match device.board().nand().state().oob(*ppn) {
                OobRead::Written(oob) if oob.kind == PageKind::Map => {
                    Some(-i64::from(oob.logical) - 1)
                }
                OobRead::Written(oob) => Some(i64::from(oob.logical)),
                other => panic!("page {ppn} holds {other:?}"),
            },
            _ => None,
        });
        programmed.collect()
    };
    (1..=writes).map(one).collect()
}

const B: i64 = E as i64;

/// The page used longest ago leaves, wherever it hangs; translation pages with the last of theirs.
#[test]
fn pages_leave_in_the_order_of_their_last_use() {
    let (config, mut device) = figure_3(&[]);
    let left = leaving(device.as_mut(), &config, 6);
    // 2 * E itself was used before page 0.
    assert_eq!(left, [vec![3], vec![1], vec![B], vec![B + 2], vec![-2], vec![2 * B]]);
    // Every cached page was compared for each.
    assert_eq!(device.board().meter().events(Event::CacheSearchSteps), 6 * 9);
}

/// Without `touch_parent` a translation page is as old as its own last use; it still waits for its
/// data pages, and leaves directly behind the last of them.
#[test]
fn a_translation_page_may_keep_its_own_time() {
    let (config, mut device) = figure_3(&[("treeftl_page_lru.touch_parent", "false")]);
    let left = leaving(device.as_mut(), &config, 7);
    let expected = [vec![3], vec![1], vec![B], vec![B + 2], vec![-2], vec![2 * B], vec![0]];
    assert_eq!(left, expected);
    let left = leaving(device.as_mut(), &config, 8);
    assert_eq!(left[7], [-1], "group a's, which page 0 had kept");
}

/// Without `ctp_needs_no_cdp` the oldest page may be a translation page with data pages, which
/// leave with it in one go.
#[test]
fn data_pages_may_leave_with_their_translation_page() {
    let pairs = [
        ("treeftl_page_lru.touch_parent", "false"),
        ("treeftl_page_lru.ctp_needs_no_cdp", "false"),
    ];
    let (config, mut device) = figure_3(&pairs);
    let left = leaving(device.as_mut(), &config, 5);
    // Group a's translation page was loaded first of all: four frames are free then.
    assert_eq!(left, [vec![0, 1, 3, -1], vec![], vec![], vec![], vec![B, B + 2, -2]]);
    device.audit().expect("tree and flash agree");
    assert_eq!(device.board().meter().programs(Cause::Translate), 2);
}
