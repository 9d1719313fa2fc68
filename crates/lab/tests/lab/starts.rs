//! What runs start from: a warm-up before the workload, map caches as they are asked for, and a log
//! that is a share of what the workload touches.

use ftlab_engine::schemes;
use ftlab_lab::{Cache, Capacity, Error, Experiment, Mode, RunResult, Silent};

const WRITES: &str = "randwrite:bs=2k,span=100%,count=COUNT,seed=3";

fn writes(count: u64) -> String {
    WRITES.replace("COUNT", &count.to_string())
}

fn small(schemes: &str, workload: &str, precondition: &str) -> Experiment {
    let precondition = precondition.parse().unwrap();
    Experiment { precondition, ..crate::runs::small(schemes, workload) }
}

fn run(experiment: &Experiment) -> RunResult {
    experiment.plan().unwrap().run(&Silent).unwrap()
}

fn refusal(experiment: &Experiment) -> String {
    match experiment.plan() {
        Err(Error::Usage(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{} was not refused", experiment.precondition),
    }
}

/// The numbers, without the names of workload and preparation.
fn numbers(mut run: RunResult) -> serde_json::Value {
    run.wall = Default::default();
    run.made = Default::default();
    run.workload.name.clear();
    run.workload.sha256.clear();
    run.precondition.mode.clear();
    serde_json::to_value(run).unwrap()
}

/// A warm-up of a generated workload is a prefix of a longer one, so that its statistics are the
/// same; the run keeps its own name and length, however it is shortened.
#[test]
fn a_generated_workload_is_longer_by_its_warm_up() {
    for scheme in ["ideal_page", "dftl", "fast"] {
        let warm = small(scheme, &writes(2000), "warmup:7000");
        let plan = warm.plan().unwrap();
        assert_eq!(plan.requests_known(), Some(2000));
        assert!(plan.preconditions().all(|mode| *mode == Mode::Warmup(7000)));
        let warm = run(&warm);
        assert_eq!((warm.workload.requests, warm.precondition.requests), (2000, 7000));
        assert_eq!(
            (&*warm.workload.name, &*warm.precondition.mode),
            (&*writes(2000), "warmup:7000")
        );
        let alone = run(&small(scheme, &writes(2000), "none"));
        assert_eq!(warm.workload.sha256, alone.workload.sha256, "{scheme}: the same workload");
        let longer = run(&small(scheme, &writes(9000), "prefix:7000"));
        assert_eq!(numbers(warm.clone()), numbers(longer), "{scheme}");
        // `--head` shortens what is measured, not what comes before.
        let headed = Experiment { head: Some(2000), ..small(scheme, &writes(5000), "warmup:7000") };
        let headed = run(&headed);
        assert_eq!(headed.workload.requests, 2000);
        assert_eq!(headed.latency_ns, warm.latency_ns, "{scheme}");
        // Every pass of a loop begins behind the warm-up.
        let twice = Experiment { passes: Some(2), ..small(scheme, &writes(2000), "warmup:7000") };
        let twice = run(&twice);
        assert_eq!((twice.workload.requests, twice.precondition.requests), (4000, 7000));
    }
}

/// A device sized for its workload has room for the warm-up as well.
#[test]
fn the_capacity_that_a_workload_needs_is_that_of_its_warm_up_too() {
    let workload = "randwrite:bs=2k,span=16MiB,count=20,seed=3";
    let auto = Experiment {
        capacity: Some(Capacity::Auto),
        ..small("ideal_page", workload, "warmup:9000")
    };
    let result = run(&auto);
    assert_eq!((result.workload.requests, result.precondition.requests), (20, 9000));
}

/// A recorded trace goes round as often as its warm-up takes, and is then run from its start. Reads
/// are written too.
#[test]
fn a_trace_is_its_own_warm_up_and_begins_anew() {
    let file = tempfile::Builder::new().suffix(".spc").tempfile().unwrap();
    let lines: String = (0..300u64)
        .map(|turn| {
            let op = if turn % 3 == 0 { 'r' } else { 'w' };
            format!("0,{},2048,{op},{turn}.1\n", turn * 37 % 4096 * 4)
        })
        .collect();
    std::fs::write(file.path(), lines).unwrap();
    let path = file.path().display().to_string();
    let trace = |precondition: &str| small("ideal_page", &path, precondition);
    let none = run(&trace("none"));
    let once = run(&trace("warmup:300"));
    assert_eq!(once.precondition.mode, "warmup:300 (the workload's own, in 1 passes)");
    assert_eq!((once.precondition.requests, once.precondition.pages_written), (300, 300));
    let more = run(&trace("warmup:1000"));
    assert_eq!(more.precondition.mode, "warmup:1000 (the workload's own, in 4 passes)");
    assert_eq!(more.precondition.requests, 1000);
    for warm in [&once, &more] {
        assert_eq!(warm.workload.requests, 300, "all of them are measured");
        assert_eq!(warm.workload.read_ratio, none.workload.read_ratio);
        assert_eq!(warm.workload.footprint_pages, none.workload.footprint_pages);
    }
    // Two parts, one of them recorded: as a trace.
    let both = format!("phases:({path}),({},rate_iops=100)", writes(50));
    let both = run(&small("ideal_page", &both, "warmup:400"));
    assert_eq!(both.precondition.mode, "warmup:400 (the workload's own, in 2 passes)");
    assert_eq!(both.workload.requests, 350);
}

/// Long enough it uses the flash up; where it erased nothing the result says so.
#[test]
fn a_warm_up_that_is_too_short_is_told_of() {
    let told = |count: u64| {
        let result = run(&small("dftl", &writes(10), &format!("warmup:{count}")));
        let short = result.warnings.iter().any(|text| text.contains("did not use the flash up"));
        (short, result.precondition.erases > 0)
    };
    assert_eq!(told(500), (true, false));
    assert_eq!(told(12_000), (false, true));
}

#[test]
fn a_warm_up_is_the_same_for_all_and_of_a_workload_that_can_be_read_twice() {
    for precondition in ["warmup:5,dftl=warmup:6", "warmup:5,dftl=fill", "fill,dftl=warmup:5"] {
        let text = refusal(&small("ideal_page,dftl", &writes(50), precondition));
        assert!(text.contains("warmup:N must be the same for all schemes"), "{text}");
    }
    let text = refusal(&small("dftl", "-", "warmup:5"));
    assert!(text.contains("warmup:N reads the workload before the run does"), "{text}");
}

/// Changed entries that preparing left in a map cache are written in the measured part, or before
/// it; a cold cache misses at first. Cells are what the host wrote either way.
#[test]
fn map_caches_start_warm_clean_or_cold() {
    let reads = "randread:bs=2k,span=1MiB,count=300,seed=5";
    let with = |cache: Cache| {
        let precondition = format!("random:0.5x,cache={}", cache.name());
        let experiment = Experiment {
            set: ["device.over_provisioning=0.2", "dftl.cmt_entries=1024"].into_iter().collect(),
            verify: true,
            ..small("dftl", reads, &precondition)
        };
        assert_eq!(experiment.precondition.cache(), Some(cache));
        run(&experiment)
    };
    let [warm, clean, cold] = [Cache::Warm, Cache::Clean, Cache::Cold].map(with);
    for (run, left) in [(&warm, "warm"), (&clean, "clean"), (&cold, "cold")] {
        assert_eq!((&*run.precondition.mode, &*run.precondition.cache), ("random:0.5x", left));
    }
    let inherited = |run: &RunResult| run.precondition.inherited.changed_map_entries;
    assert!(inherited(&warm) > 0 && inherited(&clean) == 0 && inherited(&cold) == 0);
    for run in [&clean, &cold] {
        assert_eq!(run.precondition.written_back, inherited(&warm), "all that was changed");
    }
    let map_writes = |run: &RunResult| run.flash.programs.translate;
    assert!(map_writes(&warm) > 0, "changed entries leave");
    assert_eq!((map_writes(&clean), map_writes(&cold)), (0, 0), "nothing has changed");
    let hits = |run: &RunResult| run.map_cache.hit_ratio;
    assert!(hits(&clean) == hits(&warm), "the same is cached");
    assert!(hits(&cold) < hits(&warm));
    // No request of the host, and the writes of the map are those of preparing.
    assert_eq!(clean.precondition.requests, warm.precondition.requests);
}

/// Every row of the table: what cannot be had is refused in words, before anything runs.
#[test]
fn caches_that_cannot_be_cleaned_or_emptied_are_refused_by_name() {
    let mut refused = Vec::new();
    for row in schemes::TABLE {
        let name = row.paper.name;
        for cache in ["clean", "cold"] {
            let asked = small(name, &writes(50), &format!("fill,cache={cache}"));
            match asked.plan() {
                Ok(plan) => {
                    if cache == "clean" {
                        assert!(plan.configs().all(|config| (row.uncleanable)(config).is_none()));
                    }
                    let result = plan.run(&Silent).unwrap().precondition;
                    assert_eq!((&*result.mode, &*result.cache), ("fill", cache), "{name}");
                }
                Err(Error::Usage(text)) => {
                    assert_eq!(cache, "clean", "{text}");
                    let words = format!("cache=clean cannot be had of {name}: ");
                    assert!(text.contains(&words) && text.contains("legal: cache=cold"), "{text}");
                    refused.push(name);
                }
                Err(other) => panic!("{name}: {other:?}"),
            }
        }
    }
    assert_eq!(refused, ["dac", "lazyftl"]);
    let battery = Experiment {
        set: ["device.ram_nonvolatile=true"].into_iter().collect(),
        ..small("dftl", &writes(50), "fill,cache=cold")
    };
    let text = refusal(&battery);
    assert!(text.contains("device.ram_nonvolatile") && text.contains("cache=clean"), "{text}");
}

/// What ftlab wrote to fill the flash is written back before anything is measured; what the
/// workload's own requests changed stays, and so does what a scheme cannot write back, with a
/// warning.
#[test]
fn preparing_leaves_clean_caches_unless_the_workload_itself_prepared() {
    let with = |scheme: &str, precondition: &str| {
        run(&Experiment {
            set: ["device.over_provisioning=0.2"].into_iter().collect(),
            ..small(scheme, &writes(300), precondition)
        })
    };
    for mode in ["fill", "touch", "wipc", "random:0.5x", "steady"] {
        let before = with("dftl", mode).precondition;
        assert_eq!((&*before.cache, before.inherited.any()), ("clean", false), "{mode}");
        assert!(before.written_back > 0, "{mode}");
    }
    for mode in ["prefix:100", "warmup:100"] {
        let before = with("dftl", mode).precondition;
        assert_eq!((&*before.cache, before.inherited.any()), ("warm", true), "{mode}");
    }
    let stated = with("dftl", "fill,cache=warm").precondition;
    assert!(stated.cache == "warm" && stated.inherited.any());
    let cannot = with("lazyftl", "fill");
    assert!(cannot.precondition.cache == "warm" && cannot.precondition.inherited.any());
    let told = |run: &RunResult| run.warnings.iter().any(|one| one.contains("fill,cache=cold"));
    assert!(
        told(&cannot) && !told(&with("dftl", "fill")) && !told(&with("lazyftl", "fill,cache=cold"))
    );
    let model = with("ideal_page", "model").precondition;
    assert_eq!((&*model.cache, model.inherited.any()), ("cold", false));
    let text = refusal(&small("ideal_page", &writes(50), "model,cache=warm"));
    assert!(text.contains("recovery") && text.contains("cache=clean or cold"), "{text}");
}

/// 3 % of what the workload touches, which is counted before the run, and stated in the result.
#[test]
fn a_log_follows_the_pages_that_the_workload_touches() {
    // 512 of the device's 4,096 pages: a block for every 64.
    let workload = "randwrite:bs=2k,span=1MiB,count=20000,seed=3";
    let with = |set: &[&str]| {
        let fixed = ["device.over_provisioning=0.5", "fast.log_pct=50"];
        let set = fixed.iter().chain(set).copied().collect();
        Experiment { set, ..small("fast", workload, "none") }
    };
    let of_region = run(&with(&["fast.log_base=active_region"]));
    let stated = run(&with(&["fast.log_base=active_region", "device.active_region=1MiB"]));
    let by_number = run(&with(&["fast.log_blocks=4"]));
    let of_capacity = run(&with(&[]));
    let region = |run: &RunResult| run.config["device"]["active_region"].clone();
    assert_eq!(region(&of_region), region(&stated));
    assert_eq!(of_region.flash, stated.flash);
    assert_eq!(of_region.flash, by_number.flash, "half of eight blocks");
    assert!(of_capacity.flash.total_erases < of_region.flash.total_erases);
    let text =
        refusal(&Experiment { workload: "-".to_owned(), ..with(&["fast.log_base=active_region"]) });
    assert!(text.contains("--set device.active_region=BYTES"), "{text}");
}
