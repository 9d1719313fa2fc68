//! Placement hints on their way from a workload to handles.

use ftlab_lab::{Experiment, RunResult, Silent};

use crate::runs::small;

fn result(workload: &str, set: &[&str]) -> RunResult {
    let always = ["gc.placement=hint", "placement.handles=4", "device.over_provisioning=0.4"];
    let set = always.iter().chain(set).copied().collect();
    let experiment = Experiment { set, ..small("ideal_page", workload) };
    experiment.plan().unwrap().run(&Silent).unwrap()
}

/// Pages that the host wrote by handle, and what was counted as none.
fn written(run: &RunResult) -> (Vec<u64>, u64) {
    let pages = run.classes.iter().map(|class| class.host_pages).collect();
    (pages, run.events.get("pages_without_hint").copied().unwrap_or(0))
}

/// The parts of a mix are units 0, 1 and 2, also where parts are told apart above the units and
/// streams share them out by the remainder: with three streams the mark is no power of two.
#[test]
fn parts_of_a_mix_have_the_handles_of_their_units_whatever_the_streams() {
    let part = |count: u32| format!("(randwrite:bs=2k,span=32K,count={count},rate_iops=100)");
    let mix = format!("mix:{}+{}+{}", part(100), part(50), part(25));
    for streams in ["host.streams=1", "host.streams=3", "host.streams=16"] {
        let run = result(&mix, &["host.hints=unit", streams]);
        assert_eq!(written(&run).0, [100, 50, 25, 0, 0], "{streams}");
        let parts: Vec<u64> = run.phases.iter().map(|phase| phase.requests).collect();
        assert_eq!(parts, [100, 50, 25], "{streams}");
    }
}

/// A column that is asked for and is not there is told, and not one that half of the requests have.
#[test]
fn a_workload_without_hints_is_told_where_the_column_is_asked_for() {
    let write = |hint: &str| format!("randwrite:bs=2k,span=32K,count=50,rate_iops=100{hint}");
    let told = |run: &RunResult| run.warnings.iter().any(|text| text.contains("none of the"));
    let run = result(&write(""), &["host.hints=column"]);
    assert_eq!(written(&run), (vec![50, 0, 0, 0, 0], 50));
    assert!(told(&run), "{:?}", run.warnings);
    let mix = format!("mix:({})+({})", write(",hint=0"), write(""));
    let run = result(&mix, &["host.hints=column"]);
    assert_eq!(written(&run), (vec![100, 0, 0, 0, 0], 50));
    assert!(!told(&run), "{:?}", run.warnings);
}
