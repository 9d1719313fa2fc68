//! `treeftl:gc`: which of the policy's victims is preferred, and that the policy is obeyed.

use crate::common::{config, open, pages, record};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::units::BlockId;

/// 8192 pages in 16 translation pages, of which ten frames hold few.
fn settings(pairs: &[(&str, &str)]) -> Config {
    let mut config = config(pairs);
    config.set("device.ram_bytes", "20KiB").expect("a legal size");
    config.device.set_capacity(16 << 20, 0);
    config.device.blocks_per_plane += 16;
    config
}

/// A policy that ranks every block is obeyed: under `fifo` a victim is the block that was filled
/// first in its plane, of those that have lost a page. Blocks without an invalid page are passed
/// over.
#[test]
fn fifo_stays_the_order_of_filling() {
    let config = settings(&[("gc.victim", "fifo")]);
    let mut device = open("treeftl:gc", &config);
    let device = device.as_mut();
    let mut rng = Rng::new(9, Purpose::Workload);
    // Host data and moved data share a frontier: they are filled in the order in which they are
    // opened. By plane.
    let mut opened = vec![Vec::new(); device.board().geometry().planes() as usize];
    let (mut collected, mut passed_over, mut overruled) = (0, 0, 0);
    for write in 0..30_000 {
        let page = if write < 8192 { write } else { u64::from(rng.below(8192)) };
        // Full blocks that have lost a page before the request; more do so while it runs.
        let mut lost: Vec<BlockId> = Vec::new();
        for blocks in &opened {
            let full = &blocks[..blocks.len().saturating_sub(1)];
            let nand = device.board().nand();
            let is_lighter =
                |&&block: &&BlockId| nand.valid_pages(block) < config.device.pages_per_block;
            lost.extend(full.iter().filter(is_lighter));
        }
        let operations = record(device, |device| {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("the device works");
        });
        let geometry = device.board().geometry();
        for operation in operations {
            match operation {
                Operation::Program(ppn, Cause::Host | Cause::Gc)
                    if geometry.offset_of(ppn) == 0 =>
                {
                    let block = geometry.block_of(ppn);
                    opened[geometry.plane_of_block(block).index()].push(block);
                }
                Operation::Erase(block, Cause::Gc) => {
                    let known = &mut opened[geometry.plane_of_block(block).index()];
                    let place = known.iter().position(|&known| known == block);
                    let place = place.expect("a block that is collected was filled");
                    collected += 1;
                    passed_over += u32::from(place > 0);
                    overruled += u32::from(known[..place].iter().any(|old| lost.contains(old)));
                    known.remove(place);
                    lost.retain(|&other| other != block);
                }
                _ => {}
            }
        }
    }
    println!("{collected} victims, {passed_over} behind others, {overruled} overruled");
    assert!(collected > 300 && passed_over < collected, "{passed_over} of {collected} victims");
    assert_eq!(overruled, 0, "of {collected} victims");
}

/// Map updates of collections in idle gaps alone, for as many victims.
fn idle_updates(scheme: &str) -> (u64, u64) {
    let pairs = [("gc.mode", "idle"), ("gc.idle_factor", "4")];
    let mut config = settings(&pairs);
    // Enough room that victims are half garbage, as idle time wants them.
    config.device.blocks_per_plane += 84;
    let mut device = open(scheme, &config);
    let device = device.as_mut();
    let mut rng = Rng::new(9, Purpose::Workload);
    for write in 0..30_000 {
        let page = if write < 8192 { write } else { u64::from(rng.below(8192)) };
        // A gap of a second behind every eighth request.
        let arrival = write / 8 * 1_000_000_000;
        let request = Request { arrival, ..pages(&config, Op::Write, page, 1) };
        device.submit(&request).expect("the device works");
    }
    device.audit().expect("tree and flash agree");
    let meter = device.board().meter();
    (meter.programs(Cause::GcMapUpdate), meter.events(Event::IdleVictims))
}

/// The preference holds for victims of idle gaps too.
#[test]
fn victims_of_idle_gaps_are_preferred_alike() {
    let (updates, victims) = idle_updates("treeftl");
    let (updates_gc, victims_gc) = idle_updates("treeftl:gc");
    println!("{updates} of {victims}, {updates_gc} of {victims_gc}");
    assert!(victims > 100 && victims_gc > 100, "{victims} and {victims_gc} in gaps");
    assert!(updates_gc * victims < updates * victims_gc, "{updates}, {updates_gc} map updates");
}
