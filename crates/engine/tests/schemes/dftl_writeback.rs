//! DFTL as HAT 2010 reads it: changed entries that leave the CMT are written behind the request
//! (`dftl.writeback = after_completion`).

use crate::common::{config, mixed, open, pages, record, submit, tiny};
use ftlab_engine::board::nand::clock::timeline::{Span, Work};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

/// HAT's reading of DFTL: a changed entry is written when its request is done. The same operations
/// in another order, and on a device whose planes work side by side no request waits for them.
#[test]
fn a_changed_entry_can_leave_when_its_request_is_done() {
    let run = |writeback: &str| {
        let settings = config(&[
            ("dftl.cmt_entries", "2"),
            ("dftl.cmt_policy", "lru"),
            ("dftl.checkpoint_interval", "0"),
            ("device.planes", "4"),
            ("timing.profile", "parallel"),
            ("timing.plane_parallel", "true"),
            ("dftl.writeback", writeback),
        ]);
        let mut device = open("dftl", &settings);
        let device = device.as_mut();
        [1, 1280, 2].iter().for_each(|&page| submit(device, &settings, Op::Write, page));
        let idle = device.idle_from();
        let mut request = pages(&settings, Op::Read, 1, 1);
        request.arrival = idle;
        let mut device_time = 0;
        let operations = record(device, |device| {
            device_time = device.submit(&request).expect("works").device();
        });
        let count = |event| device.board().meter().events(event);
        let cache = (count(Event::MapLookups), count(Event::MapHits), count(Event::EvictDirty));
        (operations, device_time, cache)
    };
    let (before, waited, cache) = run("in_request");
    let (behind, hidden, same) = run("after_completion");
    let causes = |operations: &[Operation]| -> Vec<(bool, Cause)> {
        let cause = |operation: &Operation| match *operation {
            Operation::Read(_, cause) => (false, cause),
            Operation::Program(_, cause) => (true, cause),
            other => panic!("{other:?}"),
        };
        operations.iter().map(cause).collect()
    };
    let (read, program) = ((false, Cause::Translate), (true, Cause::Translate));
    let host = (false, Cause::Host);
    // The old translation page of the entry that leaves is implicit: its read has no page to
    // record.
    assert_eq!(causes(&before), [program, read, host]);
    assert_eq!(causes(&behind), [read, host, program]);
    assert_eq!(cache, same);
    let timing = config(&[]).timing.clone();
    assert_eq!(hidden, 2 * timing.read.0, "the map, then the page");
    assert!(waited >= hidden + timing.program.0, "{waited} ns with the write-back in the request");
}

/// Which entry leaves is settled before the new one comes, whatever the policy: under
/// `after_completion` the new one is never the one that leaves, and segments are no larger.
#[test]
fn when_a_changed_entry_is_written_decides_nothing_about_what_stays() {
    for policy in ["psu_real_ghost", "slru", "lru", "lfu"] {
        for fetch in ["true", "false"] {
            let [before, after] = ["in_request", "after_completion"].map(|writeback| {
                let pairs = [
                    ("dftl.cmt_entries", "5"),
                    ("dftl.cmt_policy", policy),
                    ("dftl.checkpoint_interval", "0"),
                    ("dftl.write_miss_fetch", fetch),
                    ("dftl.writeback", writeback),
                ];
                let config = tiny("dftl", 60, &pairs);
                let mut device = open("dftl", &config);
                for request in mixed(&config, 3000, 7) {
                    device.submit(&request).expect("works");
                }
                device.audit().expect("the device is sound");
                let count = |event| device.board().meter().events(event);
                let gone = [Event::EvictClean, Event::EvictDirty, Event::ReturnedEvictions];
                let left: u64 = gone.into_iter().map(count).sum();
                [count(Event::MapLookups), count(Event::MapHits), left]
            });
            assert_eq!(before, after, "{policy}, write_miss_fetch = {fetch}");
            assert!(before[1] > 100, "{policy}: {before:?}");
        }
    }
}

/// A request of `op` on pages 640 to 643, each of which pushes a changed entry out of a CMT of four
/// (pages 0 to 3): when it began and ended, and the map's reads and programs as the cells saw them.
fn pushes_four_out(profile: &str, op: Op, more: &[(&str, &str)]) -> (Nanos, Nanos, Vec<Span>) {
    let own = [
        ("dftl.cmt_entries", "4"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
        ("dftl.writeback", "after_completion"),
        ("timing.profile", profile),
    ];
    let settings = config(&[&own, more].concat());
    let mut device = open("dftl", &settings);
    let device = device.as_mut();
    (640..644).for_each(|page| submit(device, &settings, Op::Write, page));
    (0..4).for_each(|page| submit(device, &settings, Op::Write, page));
    let mut request = pages(&settings, op, 640, 4);
    request.arrival = device.idle_from();
    device.board_mut().nand_mut().timeline_mut().start(1000);
    let done = device.submit(&request).expect("works");
    let (mut spans, left_out) = device.board_mut().nand_mut().timeline_mut().take();
    assert_eq!(left_out, 0);
    let cells = |span: &Span| matches!(span.work, Work::Read | Work::Program);
    spans.retain(|span| cells(span) && span.cause == Cause::Translate);
    let from = device.measured_from();
    device.audit().expect("the device is sound");
    (done.admitted + from, done.completed + from, spans)
}

/// HAT 2010, II.C and IV.B.2, on DFTL: the map write follows the request. Behind each page, the
/// next page of the request waited for it.
#[test]
fn a_request_of_several_pages_ends_before_any_entry_is_written() {
    for profile in ["serial", "parallel"] {
        for op in [Op::Read, Op::Write, Op::Trim] {
            let (began, done, spans) = pushes_four_out(profile, op, &[]);
            let writes = spans.iter().filter(|span| span.work == Work::Program);
            let starts: Vec<Nanos> = writes.map(|span| span.start).collect();
            assert_eq!(starts.len(), 4, "{profile} {op:?}: all four are written");
            assert!(began < done, "{profile} {op:?}");
            assert!(starts.iter().all(|&start| start >= done), "{profile}: {starts:?}, {done}");
        }
    }
}

/// With places for two entries the request waits for two map writes, and the others follow it.
#[test]
fn a_request_waits_for_map_writes_only_for_want_of_places() {
    for profile in ["serial", "parallel"] {
        let places = [("dftl.writeback_entries", "2")];
        let (_, done, spans) = pushes_four_out(profile, Op::Read, &places);
        let writes = spans.iter().filter(|span| span.work == Work::Program);
        let (before, behind): (Vec<&Span>, Vec<_>) = writes.partition(|span| span.start < done);
        assert_eq!((before.len(), behind.len()), (2, 2), "{profile}");
        assert!(before.iter().all(|span| span.end <= done), "{profile}: it waits for their ends");
    }
}

/// Entries 11 and 12 are changed and fill the CMT. Page 10 of a request pushes 11 out; the request
/// goes on to 11, which is still there, and to 12, which had to leave for it.
#[test]
fn an_entry_that_waits_is_taken_back_without_a_map_operation() {
    let settings = config(&[
        ("dftl.cmt_entries", "2"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
        ("dftl.writeback", "after_completion"),
    ]);
    let mut device = open("dftl", &settings);
    let device = device.as_mut();
    [11, 12].iter().for_each(|&page| submit(device, &settings, Op::Write, page));
    let event = |device: &dyn Device, event| device.board().meter().events(event);
    let known = [
        Event::MapLookups,
        Event::MapHits,
        Event::EvictClean,
        Event::EvictDirty,
        Event::ReturnedEvictions,
    ];
    let before = known.map(|known| event(device, known));
    // 10 pushes 11 out, 11 comes back for 12, and 12 for 10, which was never changed.
    let operations = record(device, |device| {
        device.submit(&pages(&settings, Op::Read, 10, 3)).expect("works");
    });
    let after = known.map(|known| event(device, known));
    let host: Vec<&Operation> = operations
        .iter()
        .filter(|operation| !matches!(operation, Operation::Read(_, Cause::Host)))
        .collect();
    assert!(host.is_empty(), "nothing of the map is written, its page is implicit: {host:?}");
    let grown = [0, 1, 2, 3, 4].map(|place| after[place] - before[place]);
    // Out: 11 and 12, both back without a write, and 10.
    assert_eq!(grown, [3, 0, 1, 0, 2], "three misses");
    device.audit().expect("the device is sound");
}
