//! What is under way and ends early leaves nothing behind; what is done is never lost.

use crate::common::Bench;

/// Its folder is claimed, the rest is under way.
#[cfg(unix)]
fn claimed(bench: &Bench) -> bool {
    bench.entries().iter().any(|name| name == "out.unfinished")
}

#[cfg(unix)]
fn assert_interrupted(bench: &Bench, line: &str) {
    let before = bench.entries();
    let ended = bench.interrupted(line, || claimed(bench));
    ended.refused(130, &["interrupted; nothing was written"]);
    assert_eq!(bench.entries(), before, "{line}");
}

/// While it runs, while it lays out addresses, and while it looks for the pages that are touched.
#[cfg(unix)]
#[test]
fn an_interrupted_comparison_leaves_nothing_behind() {
    let bench = Bench::new();
    let spec = "randwrite:bs=2k,span=1G,count=1000000000";
    for (schemes, workload) in [
        ("all", spec.to_owned()),
        ("dftl", format!("phases:({spec}),({spec})")),
        ("dftl", format!("{spec} --precondition touch")),
    ] {
        let line = format!("compare --schemes {schemes} --device dftl2014 --out out --workload");
        assert_interrupted(&bench, &format!("{line} {workload}"));
    }
}

/// Units of one trace are planned one after another, a pass or more for each.
#[cfg(unix)]
#[test]
fn interrupted_units_leave_nothing_behind() {
    let bench = Bench::new();
    let mut lines = String::new();
    for turn in 0..100_000u64 {
        lines += &format!("{},{},4096,w,{turn}.5\n", turn % 200, turn % 500 * 8);
    }
    bench.file("long.spc", lines);
    let line = "compare --schemes ideal_page,dftl --device dftl2014 --unit each --out out \
                --requests-out rows.csv --workload";
    assert_interrupted(&bench, &format!("{line} long.spc --precondition touch --address dense"));
    bench.file("short.spc", "0,8,4096,w,0.1\n1,8,4096,w,0.2\n");
    assert_interrupted(&bench, &format!("{line} short.spc --loop 1000000000"));
}

/// The rows got their names first, and then the folder could not have its own.
#[test]
fn requests_within_the_results_are_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out")).unwrap();
    let line =
        "compare --schemes dftl --device dftl2014 --workload randwrite:bs=4k,span=1M,count=9";
    let words = ["--requests-out out/rows.csv lies in --out out", "legal: a file in another"];
    bench.ftlab(&format!("{line} --out out --requests-out out/rows.csv")).refused(2, &words);
    // The file of the scheme would have the name of the folder.
    let line = format!("{line} --out r-dftl.csv --requests-out r.csv");
    bench.ftlab(&line).refused(2, &["r-dftl.csv lies in --out"]);
    assert_eq!(bench.entries(), ["out"]);
    assert_eq!(std::fs::read_dir(bench.path("out")).unwrap().count(), 0);
}

/// A name that somebody else takes meanwhile cost all results.
#[test]
fn results_are_kept_when_a_file_of_requests_cannot_have_its_name() {
    let bench = Bench::new();
    let line = "compare --schemes ideal_page,dftl --device dftl2014 --out out --requests-out r.csv \
                --workload randwrite:bs=2k,span=64M,count=300000";
    let ended = bench.ftlab_meanwhile(line, || {
        let began = std::time::Instant::now();
        let under_way = || bench.entries().iter().filter(|name| name.starts_with(".unf")).count();
        while under_way() < 2 && began.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        bench.file("r-dftl.csv", "mine");
    });
    ended.refused(1, &["r-dftl.csv cannot be written", "the results in out are complete"]);
    assert_eq!(bench.entries(), ["out", "r-dftl.csv", "r-ideal_page.csv"]);
    assert_eq!(bench.json("out/results.json").as_array().unwrap().len(), 2);
    assert_eq!(std::fs::read(bench.path("r-dftl.csv")).unwrap(), b"mine");
}
