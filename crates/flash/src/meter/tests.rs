use super::*;
use crate::request::Stages;

#[test]
fn a_victim_is_a_switch_a_partial_or_a_full_merge_by_what_was_copied() {
    let mut meter = Meter::new(8);
    for copied in [0, 1, 3, 7, 7, 8] {
        meter.victim(copied, 8);
    }
    let Merges { switch, partial, full, .. } = *meter.merges();
    assert_eq!((switch, partial, full), (1, 4, 1));
}

/// A request that arrived at 0 and waited, link and flash, for a time each.
fn done(completed: Nanos) -> Completion {
    let stages = Stages { driver_queue: 2, flash: completed - 2, ..Stages::default() };
    Completion { arrival: 0, admitted: 2, completed, stages, unreadable: None }
}

/// Blocks of four pages: a merge of more data blocks than that counts as one of four.
#[test]
fn merges_are_counted_by_kind_and_full_ones_by_their_data_blocks() {
    let mut meter = Meter::new(4);
    (0..2).for_each(|_| meter.merge_switch());
    (0..3).for_each(|_| meter.merge_partial());
    [0, 2, 2, 9].into_iter().for_each(|data_blocks| meter.merge_full(data_blocks));
    let Merges { switch, partial, full, full_data_blocks, associativity } = meter.merges();
    assert_eq!((*switch, *partial, *full, *full_data_blocks), (2, 3, 4, 13));
    assert_eq!(associativity[..], [1, 0, 2, 0, 1]);
}

#[test]
fn what_is_not_programmed_for_the_hosts_data_is_overhead() {
    let mut meter = Meter::new(4);
    [Cause::Host, Cause::Gc, Cause::Merge].into_iter().for_each(|cause| meter.program(cause));
    meter.copies(Cause::Host, 5);
    meter.copies(Cause::Gc, 3);
    meter.erase(BlockRole::Data, Cause::Gc);
    assert_eq!((meter.programs(Cause::Host), meter.programs(Cause::Gc)), (6, 4));
    assert_eq!((meter.reads(Cause::Host), meter.reads(Cause::Gc)), (5, 3));
    let totals = Totals { host_pages_written: 0, overhead_programs: 5, erases: 1 };
    assert_eq!(meter.totals(), totals);
}

#[test]
fn requests_are_counted_with_their_pages_and_sectors() {
    let mut meter = Meter::new(4);
    (0..2).for_each(|_| meter.request(Op::Write, 3, 7));
    (0..2).for_each(|_| meter.requests_of_a_page(Op::Write, 4, 9));
    let host = meter.host();
    let written = Op::Write as usize;
    assert_eq!((host.requests[written], host.pages[written], host.sectors[written]), (10, 14, 32));
    assert_eq!(meter.totals().host_pages_written, 14);
    (0..2).for_each(|_| meter.interrupt());
    assert_eq!(meter.host().interrupted, 2);
}

/// The third of several streams; the first completion of a window asks for the free blocks.
#[test]
fn a_completion_is_of_its_stream_and_of_its_window() {
    let mut meter = Meter::new(4);
    let (op, sectors) = (Op::Read, 8);
    let request =
        Request { arrival: 0, op, first_sector: 0, sectors, unit: 2, stream: None, content: None };
    assert!(meter.complete(op, &done(10)));
    meter.sample_free_blocks(7);
    assert_eq!(meter.windows().all()[0].free_blocks_min, Some(7));
    assert_eq!(meter.whole(&done(10)), Some(done(10)));
    meter.stream(2, &request, &done(10));
    let stream = meter.streams()[2];
    assert_eq!((stream.reads, stream.bytes, stream.response_sum), (1, 8 * 512, 10));
    assert_eq!(meter.streams()[1], StreamCounts::default());
}
