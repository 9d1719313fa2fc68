//! What a result says of itself where its numbers could mislead.

use ftlab_lab::{Experiment, RunResult, Silent};

use crate::runs::small;

fn result(experiment: &Experiment) -> RunResult {
    experiment.plan().unwrap().run(&Silent).unwrap()
}

#[track_caller]
fn says(run: &RunResult, words: &str) -> bool {
    run.warnings.iter().any(|warning| warning.contains(words))
}

const FLOOD: &str = "randwrite:bs=2k,span=100%,count=9000,rate_iops=100000,seed=2";

#[test]
fn a_load_that_the_device_cannot_take_is_told_with_what_it_could() {
    let scale = |run: &RunResult| -> f64 {
        let told = run.warnings.iter().find(|text| text.starts_with("Overloaded: ")).unwrap();
        let (_, after) = told.split_once("--timing trace:").unwrap();
        after.split(' ').next().unwrap().parse().unwrap()
    };
    let base = small("ideal_page", FLOOD);
    let once = scale(&result(&base));
    let stated = Experiment { timing: Some("trace:0.5".parse().unwrap()), ..base.clone() };
    assert!((scale(&result(&stated)) / once - 1.0).abs() < 0.1, "the same time for the same work");
    let again = Experiment { passes: Some(3), ..base.clone() };
    assert!((scale(&result(&again)) / once - 1.0).abs() < 0.2, "passes do not hide it");
    let stretch = format!("trace:{once}");
    let stretched = Experiment { timing: Some(stretch.parse().unwrap()), ..base.clone() };
    assert!(!says(&result(&stretched), "Overloaded: "), "the advice helps");
    let closed = Experiment { timing: Some("asap".parse().unwrap()), ..base };
    assert!(!says(&result(&closed), "Overloaded"));
}

#[test]
fn a_device_that_is_on_its_way_is_told_and_one_that_settled_is_not() {
    let writes = "randwrite:bs=2k,span=100%,count=12000,rate_iops=100,seed=2";
    let young = Experiment { precondition: "none".parse().unwrap(), ..small("ideal_page", writes) };
    let run = result(&young);
    assert!(says(&run, "Not at rest") && says(&run, "programmed beyond"), "{:?}", run.warnings);
    assert!(run.steady_state.extra_programs.unwrap().trends);
    let settled = Experiment { precondition: "random:4x".parse().unwrap(), ..young };
    let run = result(&settled);
    assert!(!says(&run, "Not at rest"), "{:?}", run.warnings);
    assert!(!run.steady_state.extra_programs.unwrap().trends);
}

#[test]
fn reads_that_find_no_data_are_told() {
    let reads = "randread:bs=2k,span=50%,count=500,rate_iops=100";
    let empty = Experiment { precondition: "none".parse().unwrap(), ..small("dftl", reads) };
    assert!(says(&result(&empty), "500 of the pages read (100.0 %) held no data"));
    let free = Experiment { set: ["io.unwritten_read=zero_free"].into_iter().collect(), ..empty };
    assert!(says(&result(&free), "each cost nothing"));
    let touched = Experiment { precondition: "touch".parse().unwrap(), ..free };
    assert!(!says(&result(&touched), "held no data"));
}

#[test]
fn runs_that_were_compared_tell_the_command_of_the_comparison() {
    let mut experiment = small("dftl,fast", "randwrite:bs=2k,span=100%,count=500");
    experiment.set.push("dftl.cmt_entries=512");
    let runs = experiment.compare().unwrap().run(None, &Silent).unwrap().complete().unwrap().runs;
    let expected = "ftlab compare --schemes dftl,fast --device dftl2014 --capacity 8388608 --set \
                    device.over_provisioning=0.2 --set dftl.cmt_entries=512 --workload \
                    randwrite:bs=2k,span=100%,count=500 --precondition fill --out DIR";
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.made.command == expected), "{:?}", runs[0].made);
}

/// Sweeping the spare space of a log-block scheme moved nothing, and nobody said why.
#[test]
fn spare_space_that_no_log_uses_is_told_where_only_that_was_stated() {
    let run = |schemes: &str, set: &[&str]| {
        let writes = "randwrite:bs=2k,span=100%,count=500,seed=2";
        let mut experiment = small(schemes, writes);
        experiment.set = set.iter().copied().collect();
        result(&experiment)
    };
    for (scheme, spare) in [("fast", "50%"), ("bast", "50%"), ("kast", "70%"), ("faster", "60%")] {
        let stated = format!("device.over_provisioning={spare}");
        let told = run(scheme, &[&stated]);
        let sentence = format!("{scheme} has a log of a fixed size ({scheme}.log_pct = 3");
        assert!(says(&told, &sentence), "{:?}", told.warnings);
        assert!(says(&told, &format!("--set {scheme}.log_pct=PERCENT")), "{:?}", told.warnings);
        let log = format!("{scheme}.log_pct=20");
        assert!(!says(&run(scheme, &[&stated, &log]), "a log of a fixed size"), "it was stated");
        let log = format!("{scheme}.log_blocks=9");
        assert!(!says(&run(scheme, &[&stated, &log]), "a log of a fixed size"), "it was stated");
    }
    // 8 MiB in 64 blocks of 128 KiB, of which 50 % more are 32; the log of FAST is of two blocks.
    let told = run("fast", &["device.over_provisioning=50%"]);
    assert!(says(&told, "of 32 spare blocks it needs "), "{:?}", told.warnings);
    assert!(!says(&run("fast", &[]), "a log of a fixed size"), "nothing was stated");
    let few = run("fast", &["device.over_provisioning=7%"]);
    assert!(!says(&few, "a log of a fixed size"), "nearly all of it is used: {:?}", few.warnings);
    let page = run("ideal_page", &["device.over_provisioning=50%"]);
    assert!(!says(&page, "a log of a fixed size"), "it has no log");
}

/// A directory came on top of a cache that filled the budget.
#[test]
fn a_strict_budget_holds_the_directory_too() {
    let writes = "randwrite:bs=2k,span=100%,count=500,seed=2";
    let with = |schemes: &str, ram: &str, strict| Experiment {
        ram: Some(ram.parse().unwrap()),
        ram_strict: strict,
        ..small(schemes, writes)
    };
    for (scheme, ram) in [("dftl", 2000), ("cftl", 2000), ("tpftl", 2000), ("sftl", 3000)] {
        let text = ram.to_string();
        let lax = result(&with(scheme, &text, false));
        assert!(lax.ram_bytes.over_budget > 0, "{scheme}: {:?}", lax.ram_bytes);
        assert!(says(&lax, &format!("--ram-strict or --set {scheme}.gtd_in_budget=true")));
        let strict = result(&with(scheme, &text, true));
        assert_eq!(strict.ram_bytes.over_budget, 0, "{scheme}: {:?}", strict.ram_bytes);
        assert!(
            strict.ram_bytes.sram > ram * 9 / 10,
            "the cache takes the rest: {:?}",
            strict.ram_bytes
        );
        assert_eq!(strict.config[scheme]["gtd_in_budget"], true);
    }
    // A budget that the directory alone exceeds, and one that was to be filled by the cache alone.
    let refused = with("dftl", "20", true).plan().err().unwrap().to_string();
    assert!(refused.contains("dftl takes") && refused.contains("are missing"), "{refused}");
    let mut stated = with("dftl", "2000", true);
    stated.set.push("dftl.gtd_in_budget=false");
    assert!(stated.plan().err().unwrap().to_string().contains("--ram allows 2000"));
}

/// What nobody asks for under the policy in force is said, and nothing of what somebody does.
#[test]
fn settings_of_placement_that_nobody_hears_are_told() {
    let base = small("ideal_page", "randwrite:bs=2k,span=100%,count=200,hint=1,seed=2");
    let run = |set: &[&str]| {
        let all = ["device.over_provisioning=0.4"].iter().chain(set).copied();
        result(&Experiment { set: all.collect(), ..base.clone() })
    };
    let told = run(&["placement.handles=3", "host.hints=column", "placement.dac_min_move_age=5"]);
    let words = "Set without effect under gc.placement = none and gc.trigger = free_blocks: \
                 host.hints, placement.handles, placement.dac_min_move_age.";
    assert!(says(&told, words), "{:?}", told.warnings);
    // Heard by the policy, but not beside its other settings.
    let dram = "placement.times=dram";
    for (set, unheard) in [
        (&["gc.placement=mida", dram][..], "gc.trigger = free_blocks: placement.times."),
        (
            &[
                "gc.placement=hint",
                "host.hints=column",
                "placement.isolation=persistently",
                "placement.collection=last_handle",
            ],
            "gc.trigger = free_blocks: placement.collection.",
        ),
        (&["gc.placement=mida", "midas.epoch=2"], "gc.trigger = free_blocks: midas.*."),
        (
            &["gc.placement=sepbit", "placement.sepbit_lifespan=100", "placement.sepbit_victims=4"],
            "gc.trigger = free_blocks: placement.sepbit_victims.",
        ),
    ] {
        let told = run(set);
        assert!(says(&told, unheard), "{set:?}: {:?}", told.warnings);
    }
    assert!(!says(&run(&["gc.placement=sepbit", dram]), "Set without effect"));
    let heard = run(&["gc.placement=hint", "placement.handles=3", "host.hints=column"]);
    assert!(!says(&heard, "Set without effect"), "{:?}", heard.warnings);
}
