//! Copies of DFTL's directory on flash (`dftl.gtd_sync_every`).

use crate::common::{open, pages, submit, tiny};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

/// 138 translation pages: a copy of the directory takes two pages.
fn with_directory_copies(every: &str) -> (Box<dyn Device>, Config) {
    let pairs = [
        ("dftl.cmt_entries", "8"),
        ("dftl.consistency", "gtd"),
        ("dftl.gtd_sync_every", every),
        ("device.pages_per_block", "16"),
    ];
    let config = tiny("dftl", 1100, &pairs);
    let mut device = open("dftl", &config);
    device.verify_reads();
    (device, config)
}

#[test]
fn copies_of_the_directory_are_written_as_often_as_set_and_bound_the_scan() {
    let run = |every: u64| {
        let (mut device, config) = with_directory_copies(&every.to_string());
        let mut rng = Rng::new(8, Purpose::Workload);
        for _ in 0..6000 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            submit(device.as_mut(), &config, Op::Write, page);
        }
        // Eight clean entries drive the changed ones out: nothing can be lost.
        (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Read, page));
        let tags = |device: &dyn Device| -> Vec<_> {
            let pages = 0..config.device.logical_pages() as u32;
            pages.map(|page| device.locate(Lpn(page))).collect()
        };
        let before = tags(device.as_ref());
        let meter = device.board().meter();
        let (copies, pages) = (meter.events(Event::Checkpoints), meter.programs(Cause::Checkpoint));
        let programs = meter.total_programs();
        device.start_measuring();
        device.power_cycle().expect("recovery works");
        device.audit().expect("the audit passes");
        assert_eq!(device.board().meter().events(Event::LostMapEntries), 0);
        assert_eq!(tags(device.as_ref()), before, "every {every}");
        (copies, pages, programs, device.board().meter().oob_reads())
    };
    let (memory, never, rare, often) = (run(0), run(1 << 40), run(4000), run(128));
    assert_eq!((memory.0, never.0), (0, 0));
    for (every, run) in [(4000, rare), (128, often)] {
        assert_eq!(run.1, 2 * run.0);
        // A write that collects may overrun the interval.
        assert!(run.0 <= run.2 / every && run.0 + 2 >= run.2 * 9 / 10 / every, "{every}: {run:?}");
    }
    // A copy that is younger or older by chance; either spares most of the scan.
    for run in [rare, often] {
        assert!(memory.3 < run.3 && run.3 < never.3 / 2, "{memory:?} {run:?} {never:?}");
    }
}

/// Power cuts everywhere, in the middle of copies too: no more is lost than the entries that were
/// changed in memory and the write that was under way.
#[test]
fn a_cut_copy_of_the_directory_loses_no_more_than_memory_would() {
    let (mut device, config) = with_directory_copies("64");
    let device = device.as_mut();
    let pages_of_device = config.device.logical_pages() as u32;
    let mut rng = Rng::new(21, Purpose::Workload);
    let version = |device: &dyn Device, page: u32| match device.locate(Lpn(page)) {
        Location::Flash(ppn) => device.board().nand().state().tag(ppn).0,
        _ => 0,
    };
    for cut in 0..120u64 {
        let mut expected: Vec<u32> = (0..pages_of_device).map(|p| version(device, p)).collect();
        let lost_before = device.board().meter().events(Event::LostMapEntries);
        let outcome = CutOutcome::ALL[(cut % 3) as usize];
        device.board_mut().nand_mut().faults_mut().cut_power_after(150 + cut, outcome);
        let interrupted = loop {
            let page = rng.below(pages_of_device);
            let request = pages(&config, Op::Write, u64::from(page), 1);
            if device.submit(&request).is_err() {
                break page;
            }
            expected[page as usize] = device.last_version().0;
        };
        device.power_cycle().expect("recovery works");
        let wrong = (0..pages_of_device)
            .filter(|&page| page != interrupted && version(device, page) != expected[page as usize])
            .count() as u64;
        let lost = device.board().meter().events(Event::LostMapEntries) - lost_before;
        assert!(
            wrong <= lost && lost <= 8,
            "cut {cut}: {wrong} pages went back, {lost} entries lost"
        );
    }
    assert!(device.board().meter().events(Event::Checkpoints) > 150);
}
