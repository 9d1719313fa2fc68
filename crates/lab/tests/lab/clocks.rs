//! Runs under an event-driven clock: what they come to, and what does not go with it.

use ftlab_lab::{Experiment, RunResult, Silent};

use crate::runs::small;

const LOAD: &str = "randrw:bs=2k,span=100%,count=4000,rwmixread=50,iodepth=8,seed=3";

/// Four dies behind two channels.
fn clocked(clock: &str, workload: &str) -> Experiment {
    let mut experiment = small("ideal_page", workload);
    for pair in ["profile=parallel", "page_transfer=10us", &format!("clock={clock}")] {
        experiment.set.push(format!("timing.{pair}"));
    }
    experiment.set.push("device.channels=2");
    experiment.set.push("device.dies=2");
    experiment
}

fn result(experiment: &Experiment) -> RunResult {
    experiment.plan().unwrap().run(&Silent).unwrap()
}

#[test]
fn both_clocks_run_the_same_to_the_flash_and_nearly_as_long() {
    let [one, two] = ["call_order", "event"].map(|clock| result(&clocked(clock, LOAD)));
    assert_eq!(one.flash.total_programs, two.flash.total_programs);
    assert_eq!(one.flash.total_erases, two.flash.total_erases);
    assert_eq!(one.host.read_requests, two.host.read_requests);
    let [one, two] = [one, two].map(|run| run.latency_ns.all.system.mean);
    let ratio = two / one;
    assert!((ratio - 0.9756).abs() < 0.002, "mean response {one} and {two}: {ratio:.4}");
}

#[test]
fn whoever_hears_of_single_requests_is_refused() {
    let event = clocked("event", LOAD);
    let refused = |experiment: &Experiment, words: &str| {
        let error = experiment.plan().err().unwrap_or_else(|| panic!("{words} was planned"));
        let text = error.to_string();
        assert!(text.contains(words) && text.contains("timing.clock = event"), "{text}");
        let other = Experiment { set: clocked("call_order", LOAD).set, ..experiment.clone() };
        let other = other.plan().err().map(|error| error.to_string());
        assert_eq!(other, None, "{words}: the other clock takes it");
    };
    refused(&Experiment { probe: Some("10:5".parse().unwrap()), ..event.clone() }, "--probe");
    refused(&Experiment { tail: true, ..event.clone() }, "--tail");
    refused(&Experiment { passes: Some(2), ..event.clone() }, "--loop");
    let file = |name: &str| Some(name.into());
    refused(&Experiment { requests_out: file("rows.csv"), ..event.clone() }, "--requests-out");
    refused(&Experiment { trace_out: file("trace.json"), ..event.clone() }, "--trace-out");
    let mut other_depth = Experiment { timing: Some("closed:3".parse().unwrap()), ..event.clone() };
    other_depth.set.push("host.queue_depth=8");
    refused(&other_depth, "a closed loop of 3 requests");
    let part = "bs=2k,span=100%,count=100,rate_iops=50";
    let parts = format!("mix:(randwrite:{part})+(randread:{part})");
    refused(&clocked("event", &parts), "combined");
}
