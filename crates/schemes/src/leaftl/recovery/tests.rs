use crate::leaftl::bench_tests::{Bench, PAGES};
use ftlab_flash::rng::{Purpose, Rng};

/// Pages here and there and in rows, some of them trimmed, so that blocks are collected and groups
/// leave memory; all of it is flushed, in the end and on the way.
#[test]
fn a_power_cut_leaves_every_flushed_page_and_trim_as_it_was() {
    for gamma in ["0", "4"] {
        for memory in ["100", "400", "auto"] {
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
                it = it.cut();
                it.check();
                // Cut again before anything is written.
                if round % 2 == 1 {
                    it = it.cut();
                    it.check();
                }
            }
            assert!(it.board.meter().total_erases() > 50, "blocks are collected");
        }
    }
}

/// Memory that keeps its content keeps the buffer and pages that nobody flushed.
#[test]
fn a_power_cut_takes_nothing_from_a_memory_that_keeps_its_content() {
    for memory in ["100", "auto"] {
        let pairs = [("device.ram_nonvolatile", "true"), ("leaftl.map_bytes", memory)];
        let mut it = Bench::new(&pairs);
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..6 {
            for _ in 0..300 {
                let lpn = rng.below(PAGES);
                if rng.below(6) == 0 { it.trim(lpn) } else { it.write(lpn) }
            }
            it = it.cut();
            it.check();
        }
    }
}
