//! HAT's phase-change memory where it programs several entries at once, and what a longer queue
//! does.

use crate::common::{config, open, pages, record, tiny};
use crate::hat::{FLASH_WRITE, PCM_WRITE, TABLE_4};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

/// Long after everything: no port and no cell is busy.
const LATER: Nanos = 1_000_000_000_000;

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Two requests of four pages fill the QMT, a third sends the first one's entries out. By default
/// those are four writes of 90 us and the third request waits for them, which HAT 2010, IV.B.2 says
/// it does not; as neighbours of one unit they are a single write, behind the flash.
#[test]
fn entries_that_one_request_sends_out_are_one_write_where_the_memory_programs_them_together() {
    let with_units_of = |entries, first: u64| {
        let with = [
            ("device.channels", "4"),
            ("hat.qmt_entries", "8"),
            ("hat.pcm_entries_per_write", entries),
            ("hat.write_miss_smt_read", "false"),
            ("alloc.order", "channel_die_plane"),
        ];
        let config = config(&[&TABLE_4[..], &with[..]].concat());
        let mut device = open("hat", &config);
        let device = device.as_mut();
        device.verify_reads();
        let write = |device: &mut dyn Device, time, page| {
            let mut request = pages(&config, Op::Write, page, 4);
            request.arrival = time;
            device.submit(&request).expect("the device works").device()
        };
        write(device, 0, first);
        write(device, LATER / 2, 64);
        let mut took = 0;
        let operations = record(device, |device| took = write(device, LATER, 128));
        assert_eq!(operations.len(), 4, "four programs, whatever the map does");
        assert_eq!(events(device, Event::EvictDirty), 4);
        device.audit().expect("tables, flash and host agree");
        (events(device, Event::PcmWrites), took)
    };
    assert_eq!(with_units_of("1", 0), (4, 3 * PCM_WRITE + FLASH_WRITE));
    assert_eq!(with_units_of("2", 0), (2, PCM_WRITE + FLASH_WRITE));
    assert_eq!(with_units_of("16", 0), (1, FLASH_WRITE));
    // A unit is aligned: pages 14 and 15 are in one, 16 and 17 in the next.
    assert_eq!(with_units_of("16", 14), (2, PCM_WRITE + FLASH_WRITE));
}

/// Requests of one to eight pages, reads and writes, as they arrive: what all of them waited for
/// together, and how long they took.
fn at_a_rate(queue: &str, entries: &str, seed: u64) -> (Nanos, Nanos) {
    let with = [
        ("device.channels", "4"),
        ("device.over_provisioning", "1"),
        ("hat.pcm_queue", queue),
        ("hat.qmt_entries", entries),
    ];
    let config = tiny("hat", 300, &[&TABLE_4[..], &with[..]].concat());
    let mut device = open("hat", &config);
    let device = device.as_mut();
    let mut rng = Rng::new(seed, Purpose::Workload);
    let (mut arrival, mut took) = (0, 0);
    for _ in 0..4000 {
        arrival += u64::from(rng.below(1_600_000));
        let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
        let count = 1 + u64::from(rng.below(8));
        let page = u64::from(rng.below(config.device.logical_pages() as u32 - 8));
        let mut request = pages(&config, op, page, count);
        request.arrival = arrival;
        took += device.submit(&request).expect("the device works").system();
    }
    (device.board().nand().clock().service_time().pcm_wait, took)
}

/// A longer queue is never slower by itself. It was on Fin1, by a millionth: its entries lie beside
/// the QMT in the same 128 KB, so that the QMT held fewer and missed more often.
#[test]
fn a_longer_queue_is_never_slower_where_the_qmt_keeps_its_entries() {
    for seed in 1..=4 {
        let mut last = (Nanos::MAX, Nanos::MAX);
        for queue in ["1", "2", "4", "16", "64"] {
            let now = at_a_rate(queue, "200", seed);
            assert!(now.0 <= last.0 && now.1 <= last.1, "seed {seed}, {queue}: {now:?} {last:?}");
            last = now;
        }
        assert!(last.0 < at_a_rate("1", "200", seed).0 / 4, "with one they wait");
    }
}
