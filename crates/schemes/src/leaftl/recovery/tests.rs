use crate::leaftl::bench_tests::{Bench, PAGES};
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::rng::{Purpose, Rng};

/// The least memory there is, one that is larger, and one that holds all of the map.
const MEMORIES: [&str; 3] = ["212", "400", "auto"];

/// The power goes: in odd rounds once more before anything is asked of what came back.
fn cut(it: Bench, round: u32) -> Bench {
    let mut it = if round % 2 == 1 { it.cut().cut() } else { it.cut() };
    it.check();
    it
}

/// Groups were written when they left memory, where it has no room for all of them.
fn assert_groups_left(it: &Bench, memory: &str) {
    let (parts, left) =
        (it.scheme.store.map.sizes.parts, it.board.meter().events(Event::EvictDirty));
    assert_eq!((parts > 0, left > 0), (memory != "auto", memory != "auto"), "{memory}");
}

/// Pages here and there and in rows, some of them trimmed; all of it is flushed, in the end and on
/// the way. Six rounds are 2,000 pages and more, which fill 250 blocks of 8. The device has 128:
/// the others were erased before.
#[test]
fn a_power_cut_leaves_every_flushed_page_and_trim_as_it_was() {
    for gamma in ["0", "4"] {
        for memory in MEMORIES {
            let pairs = [("leaftl.gamma", gamma), ("leaftl.map_bytes", memory)];
            let mut it = Bench::new(&pairs);
            let mut rng = Rng::new(3, Purpose::Workload);
            for round in 0..6 {
                for _ in 0..150 {
                    let first = rng.below(PAGES);
                    match rng.below(6) {
                        0 => it.trim(first),
                        1 => (first..PAGES.min(first + 12)).for_each(|lpn| it.write(lpn)),
                        _ => it.write(first),
                    }
                }
                it.flush();
                it = cut(it, round);
            }
            assert_groups_left(&it, memory);
            let meter = it.board.meter();
            assert!(meter.programs(Cause::Host) >= 2000, "{}", meter.programs(Cause::Host));
            assert!(meter.total_erases() >= 2000 / 8 - 128, "{}", meter.total_erases());
            assert!(meter.programs(Cause::Trim) > 0, "trims are recorded");
        }
    }
}

/// Memory that keeps its content keeps the buffer and pages that nobody flushed, and trims, which
/// need no records then.
#[test]
fn a_power_cut_takes_nothing_from_a_memory_that_keeps_its_content() {
    for gamma in ["0", "4"] {
        for memory in MEMORIES {
            let kept = ("device.ram_nonvolatile", "true");
            let mut it = Bench::new(&[kept, ("leaftl.gamma", gamma), ("leaftl.map_bytes", memory)]);
            let mut rng = Rng::new(5, Purpose::Workload);
            for round in 0..6 {
                for step in 0..300 {
                    let lpn = rng.below(PAGES);
                    if rng.below(6) == 0 {
                        it.trim(lpn)
                    } else {
                        it.write(lpn)
                    }
                    // Pending trims would be recorded here.
                    if step == 150 {
                        it.flush();
                    }
                }
                it = cut(it, round);
            }
            assert_groups_left(&it, memory);
            assert_eq!(it.board.meter().programs(Cause::Trim), 0);
        }
    }
}
