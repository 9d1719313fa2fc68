//! The oracle among placement policies: what the first pass says of every page is what happens.
//! Each overwrite is held against it in builds that are checked as tests are.

use ftlab_lab::{Experiment, Silent};

use crate::runs::small;

/// Requests of any size and place, sectors and all: two writes, a trim and a read in turn.
fn requests(capacity: u64) -> String {
    let mut text = String::from("time_us,op,offset_bytes,size_bytes\n");
    let mut state = 7u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for number in 0..6000 {
        let op = ["write", "write", "trim", "read"][number % 4];
        let (sectors, size) = (capacity / 512 / 4, 1 + next(40));
        let first = next(sectors - size);
        text += &format!("{},{op},{},{}\n", number * 500, first * 512, size * 512);
    }
    text
}

#[test]
fn pages_die_when_the_first_pass_says() {
    let files = tempfile::tempdir().expect("a folder");
    let trace = files.path().join("mixed.csv");
    std::fs::write(&trace, requests(8 << 20)).expect("a file");
    let trace = trace.display().to_string();
    let base = small("ideal_page", &trace);
    for (scheme, more, precondition) in [
        ("ideal_page", &[][..], "none"),
        ("ideal_page", &[], "fill"),
        ("dftl", &["dftl.cmt_entries=64"], "fill"),
        ("ideal_page", &["device.mapping_unit=512"], "fill"),
    ] {
        let set = ["device.over_provisioning=0.3", "gc.placement=fk"].iter().chain(more).copied();
        let experiment = Experiment {
            schemes: scheme.into(),
            set: set.collect(),
            precondition: precondition.parse().unwrap(),
            ..base.clone()
        };
        let run = experiment.plan().unwrap().run(&Silent).unwrap();
        let used = run.classes.iter().filter(|class| class.host_pages > 0).count();
        assert!(used >= 4, "{scheme} {more:?} {precondition}: {:?}", run.classes);
    }
}

#[test]
fn an_oracle_that_would_know_another_run_is_refused() {
    let set = ["device.over_provisioning=0.3", "gc.placement=fk", "io.trim=false"];
    let experiment = Experiment {
        set: set.into_iter().collect(),
        ..small("ideal_page", "randwrite:bs=2k,span=100%,count=100")
    };
    let refused = experiment.plan().map(|_| ()).expect_err("refused").to_string();
    assert!(refused.contains("io.trim = false"), "{refused}");
}
