//! Plans and runs: what is known before, side by side, and ended.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ftlab_lab::workloads::find_subset;
use ftlab_lab::{
    Capacity, Counts, Error, Experiment, Mode, Observer, Probe, Ram, Reading, RunResult, Silent,
    Task, Timing, Unfinished, Work,
};

pub(crate) fn small(schemes: &str, workload: &str) -> Experiment {
    Experiment {
        schemes: schemes.into(),
        device: "dftl2014".to_owned(),
        capacity: Some(Capacity::Bytes(8 << 20)),
        set: ["device.over_provisioning=0.2"].into_iter().collect(),
        workload: workload.to_owned(),
        precondition: "fill".parse().unwrap(),
        ..Experiment::default()
    }
}

const WRITES: &str = "randwrite:bs=2k,span=100%,count=20000,seed=3";
const MIXED: &str = "randrw:bs=4k,span=100%,count=9000,rwmixread=40,rate_iops=200";

/// A result without what depends on the machine.
fn without_wall(mut run: RunResult) -> RunResult {
    run.wall = Default::default();
    run.made = Default::default();
    run
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_plan_tells_what_will_run() {
    let experiment = Experiment {
        precondition: "fill,dftl=touch".parse().unwrap(),
        timing: Some("closed:4".parse().unwrap()),
        ram: Some("2KiB".parse().unwrap()),
        ram_strict: true,
        ..small("ideal_page,dftl:gtd,fast", WRITES)
    };
    let room = experiment.compare().unwrap();
    assert_eq!(room.plan().schemes().len(), 3, "the cache leaves room for its directory");
    let mut experiment = experiment;
    experiment.set.push("dftl.gtd_in_budget=false");
    let plan = experiment.compare().unwrap();
    let plan = plan.plan();
    assert_eq!(plan.schemes().collect::<Vec<_>>(), ["ideal_page", "fast"]);
    assert!(plan.warnings().iter().any(|text| text.contains("dftl:gtd takes")));
    assert_eq!((plan.capacity_bytes(), plan.requests_known()), (8 << 20, Some(20_000)));
    assert_eq!(plan.timing().to_string(), "closed:4");
    let depths: Vec<u32> = plan.configs().map(|config| config.queue_depth()).collect();
    assert_eq!(depths, [4, 4]);
    assert!(plan.preconditions().all(|mode| mode.to_string() == "fill"));
    assert_eq!(plan.description().unwrap().name, WRITES);
}

#[test]
fn everything_that_can_be_refused_is_refused_before_a_run() {
    let home = tempfile::tempdir().unwrap();
    let taken = home.path().join("rows.csv");
    std::fs::write(&taken, "mine").unwrap();
    let base = || small("dftl", WRITES);
    let refused = |experiment: Experiment, word: &str| match experiment.plan() {
        Err(Error::Usage(text)) => assert!(text.contains(word), "{text}"),
        Err(other) => panic!("{word}: {other:?}"),
        Ok(_) => panic!("{word} was not refused"),
    };
    refused(Experiment { schemes: Default::default(), ..base() }, "no scheme is named");
    refused(Experiment { device: "dftl2041".to_owned(), ..base() }, "'dftl2014'");
    refused(Experiment { workload: "oltp_dem".to_owned(), ..base() }, "'oltp_demo'");
    refused(Experiment { passes: Some(0), ..base() }, "--loop 0");
    let both = Experiment { passes: Some(2), until: Some("worn-out".parse().unwrap()), ..base() };
    refused(both, "--loop");
    refused(Experiment { unit: "each".parse().unwrap(), ..base() }, "--unit each");
    refused(Experiment { probe: Some("20000:1".parse().unwrap()), ..base() }, "0 to 19999");
    refused(Experiment { requests_out: Some(taken.clone()), ..base() }, "exists");
    refused(Experiment { requests_out: Some("rows.txt".into()), ..base() }, ".parquet");
    refused(Experiment { requests_out: Some("none/rows.csv".into()), ..base() }, "is no folder");
    refused(Experiment { save_snapshot: Some(taken.clone()), ..base() }, "exists");
    refused(Experiment { save_snapshot: Some("none/x.snap".into()), ..base() }, "is no folder");
    let set = ["device.ram_nonvolatile=true", "device.over_provisioning=0.2"];
    let after = Some(home.path().join("after.snap"));
    let lasting = Experiment { set: set.into_iter().collect(), save_snapshot: after, ..base() };
    refused(lasting, "--save-snapshot");
    let windows = ["zns.mode=raw", "zns.zrwa=16", "device.ram_nonvolatile=true"];
    let filled = || Experiment { set: windows.into_iter().collect(), ..small("zns", WRITES) };
    refused(filled(), "--precondition fill does not go with the windows of zns (zns.zrwa = 16)");
    let cold = "none,cache=cold".parse().unwrap();
    refused(Experiment { precondition: cold, ..filled() }, "keeps its memory over a power cut");
    // What no text can say cannot be said without text either.
    for depth in [0, u32::MAX] {
        let timing = Some(Timing::ClosedLoop { depth: Some(depth) });
        refused(Experiment { timing, ..base() }, "closed:DEPTH");
    }
    refused(Experiment { capacity: Some(Capacity::Bytes(0)), ..base() }, "--capacity");
    refused(Experiment { ram: Some(Ram::Bytes(0)), ..base() }, "--ram");
    refused(Experiment { probe: Some(Probe { from: 0, count: 0 }), ..base() }, "--probe");
    for mode in
        [Mode::Steady(0), Mode::Random(u64::MAX), Mode::Prefix(0), Mode::Snapshot("".into())]
    {
        refused(Experiment { precondition: mode.into(), ..base() }, "--precondition");
    }
    assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    let two = small("dftl,fast", WRITES).plan().unwrap().run(&Silent).unwrap_err();
    assert_eq!(two, Error::Usage("a run takes one scheme".to_owned()));
}

/// Two experiments on two threads of one process, and each alone.
#[test]
fn experiments_side_by_side_are_what_they_are_alone() {
    let alone =
        |experiment: &Experiment| without_wall(experiment.plan().unwrap().run(&Silent).unwrap());
    let experiments = [small("dftl", WRITES), small("fast", MIXED)];
    let expected = experiments.each_ref().map(alone);
    assert_ne!(expected[0], expected[1]);
    let together = std::thread::scope(|threads| {
        let started = experiments.each_ref().map(|one| threads.spawn(|| alone(one)));
        started.map(|thread| thread.join().unwrap())
    });
    assert_eq!(together, expected);
    // A plan may be made in one thread and run in another, twice.
    let plan = experiments[0].plan().unwrap();
    let run = || without_wall(plan.run(&Silent).unwrap());
    let again = std::thread::scope(|threads| threads.spawn(run).join().unwrap());
    assert_eq!((&again, run()), (&expected[0], again.clone()));
}

#[test]
fn a_comparison_gives_a_result_per_scheme_whatever_becomes_of_the_others() {
    let compared = small("dftl,ideal_page", MIXED).compare().unwrap().run(None, &Silent).unwrap();
    let runs = compared.complete().unwrap().runs;
    let names: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    assert_eq!(names, ["dftl", "ideal_page"]);
    let alone = small("dftl", MIXED).plan().unwrap().run(&Silent).unwrap();
    assert_eq!(without_wall(runs[0].clone()), without_wall(alone));

    let mut worn = small("ideal_page,dftl", "randwrite:bs=2k,span=100%,count=50x");
    worn.set.push("nand.erase_failure_rate=0.5");
    let compared = worn.compare().unwrap().run(None, &Silent).unwrap();
    assert!(compared.results.iter().all(|result| matches!(result, Err(Error::Run(_)))));
    let all = compared.complete().err().unwrap().to_string();
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines[0].starts_with("ideal_page: device worn out"), "{all}");
    assert!(lines[1].starts_with("dftl: device worn out"), "{all}");
}

/// Notes what begins, and ends the work of some label once so much of it is done.
#[derive(Default)]
struct Ending {
    label: String,
    after: u64,
    done: AtomicU64,
    begun: Mutex<Vec<(String, Option<u64>, Counts)>>,
    unfinished: Unfinished,
}

impl Observer for Ending {
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a> {
        self.begun.lock().unwrap().push((work.label.to_owned(), work.length, work.counts));
        Box::new(Watched { ending: self, ends: work.label == self.label })
    }

    fn unfinished(&self) -> Unfinished {
        self.unfinished.clone()
    }
}

struct Watched<'a> {
    ending: &'a Ending,
    ends: bool,
}

impl Task for Watched<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        let done = self.ending.done.fetch_add(count, Ordering::Relaxed) + count;
        match self.ends && done >= self.ending.after {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

fn ending(label: &str, after: u64) -> Ending {
    Ending { label: label.to_owned(), after, ..Ending::default() }
}

#[test]
fn an_observer_hears_of_every_request() {
    let watched = ending("", u64::MAX);
    let experiment = small("dftl", WRITES);
    experiment.plan_with(&watched).unwrap().run(&watched).unwrap();
    // `fill` writes a block at a time: 8 MiB are 64 of them.
    let expected = [
        ("dftl (preparing)", Some(64), Counts::Requests),
        ("dftl", Some(20_000), Counts::Requests),
        ("dftl (auditing)", None, Counts::Pages),
    ];
    let expected = expected.map(|(label, length, counts)| (label.to_owned(), length, counts));
    assert_eq!(*watched.begun.lock().unwrap(), expected);
    let audited = watched.done.into_inner() - 20_064;
    assert!(audited >= 4096 && audited.is_multiple_of(64), "{audited} pages of touched blocks");
}

/// What takes its time beside the requests can be ended as well: each piece by its label, once
/// something of it is done.
#[test]
fn every_pass_can_be_ended() {
    let home = tempfile::tempdir().unwrap();
    let snapshot = home.path().join("before.snap");
    let filled = Experiment { save_snapshot: Some(snapshot.clone()), ..small("dftl", WRITES) };
    filled.plan().unwrap().run(&Silent).unwrap();

    let trace = home.path().join("trace.spc");
    // Thirty units of sizes and shares of reads of their own: many subsets are considered.
    let line = |turn: u64| {
        let unit = turn * turn % 61 % 30;
        let op = if turn.is_multiple_of(unit + 2) { 'w' } else { 'r' };
        format!("{unit},{},{},{op},{turn}.0\n", 8 * turn, 512 * (1 + unit * unit % 13))
    };
    std::fs::write(&trace, (0..20_000).map(line).collect::<String>()).unwrap();
    let trace = trace.display().to_string();
    let of_trace = Experiment { address: "modulo".parse().unwrap(), ..small("dftl", &trace) };
    let modelled =
        Experiment { precondition: "model".parse().unwrap(), ..small("ideal_page", WRITES) };
    let loaded = Experiment {
        precondition: format!("snapshot:{}", snapshot.display()).parse().unwrap(),
        ..small("dftl", WRITES)
    };
    let saved =
        Experiment { save_snapshot: Some(home.path().join("after.snap")), ..small("dftl", WRITES) };
    let files = entries(home.path());
    for (experiment, label) in [
        (&of_trace, format!("digest of {trace}")),
        (&modelled, "ideal_page (preparing)".to_owned()),
        (&loaded, format!("digest of {}", snapshot.display())),
        (&loaded, "dftl (preparing)".to_owned()),
        (&saved, "dftl (auditing)".to_owned()),
        (&saved, "dftl (saving)".to_owned()),
    ] {
        let watched = ending(&label, 1);
        let ended = experiment.plan_with(&watched).and_then(|plan| plan.run(&watched));
        let begun = watched.begun.into_inner().unwrap();
        assert_eq!(begun.last().map(|(label, ..)| label), Some(&label));
        assert!(matches!(ended, Err(Error::Cancelled(_))), "{label}: {ended:?}");
        assert_eq!(entries(home.path()), files, "{label}");
    }
    for label in ["counting by unit", "searching subsets of units"] {
        let ended = find_subset(&trace, &Reading::default(), "financial", &ending(label, 1));
        assert!(matches!(ended, Err(Error::Cancelled(_))), "{label}");
    }
}

#[test]
fn what_is_cancelled_ends_at_once_and_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let cancelled = Error::Cancelled("interrupted; nothing was written".to_owned());
    let experiment = Experiment {
        requests_out: Some(home.path().join("rows.csv")),
        save_snapshot: Some(home.path().join("after.snap")),
        ..small("dftl", WRITES)
    };
    let watched = ending("dftl", 8192);
    let plan = experiment.plan_with(&watched).unwrap();
    assert_eq!(plan.run(&watched).unwrap_err(), cancelled);
    assert_eq!(entries(home.path()), 0);
    // The same plan can still be run, and then there is something to write.
    plan.run(&Silent).unwrap();
    assert_eq!(entries(home.path()), 2);

    let mut several = small("dftl,fast,ideal_page", WRITES);
    several.requests_out = Some(home.path().join("more.csv"));
    let comparison = several.compare().unwrap();
    let compared = comparison.run(None, &ending("fast", 4096)).unwrap();
    assert_eq!(compared.results[1], Err(cancelled.clone()));
    assert!(compared.results[0].is_ok() && compared.results[2].is_ok());
    assert_eq!(compared.complete().err(), Some(cancelled.clone()));
    assert_eq!(entries(home.path()), 2);

    let touched = Experiment { precondition: "touch".parse().unwrap(), ..small("dftl", WRITES) };
    let first_pass = ending("finding the pages that are touched", 1);
    assert_eq!(touched.plan_with(&first_pass).err(), Some(cancelled));
}

/// What a program that ends without dropping anything must remove is on the observer's list.
#[test]
fn files_are_on_the_list_until_they_have_their_names() {
    let home = tempfile::tempdir().unwrap();
    let watched = ending("", u64::MAX);
    let mut several = small("dftl,fast", MIXED);
    several.requests_out = Some(home.path().join("rows.csv"));
    let compared = several.compare().unwrap().run(None, &watched).unwrap();
    let complete = compared.complete().unwrap();
    assert_eq!(entries(home.path()), 2, "without their names");
    let mut files = complete.beside.into_iter();
    files.next().unwrap().publish().unwrap();
    watched.unfinished.remove_all();
    assert_eq!(entries(home.path()), 1, "rows-dftl.csv has its name, the other one is gone");
    assert!(files.next().unwrap().path().ends_with("rows-fast.csv"));
    assert!(home.path().join("rows-dftl.csv").is_file());
}

/// A probe hears of single requests; nothing else of the result may know that.
#[test]
fn requests_in_chunks_and_single_requests_are_the_same_run() {
    let rated = "randrw:bs=4k,span=100%,count=5000,rwmixread=40,rate_iops=200";
    let poisson =
        "randrw:bs=5k,blockalign=1k,span=100%,count=5000,rate_iops=500,rate_process=poisson";
    for (workload, timing, precondition) in [
        (WRITES, "asap", "fill"),
        (rated, "trace:0.5", "prefix:1017"),
        (poisson, "trace", "touch"),
        (MIXED, "closed:1", "random:0.5x"),
    ] {
        let alone = Experiment {
            timing: Some(timing.parse().unwrap()),
            precondition: precondition.parse().unwrap(),
            capacity: Some(Capacity::Bytes(64 << 20)),
            ..small("dftl", workload)
        };
        let watched = Experiment { probe: Some("0:1".parse().unwrap()), ..alone.clone() };
        let run = |experiment: &Experiment| {
            let mut run = without_wall(experiment.plan().unwrap().run(&Silent).unwrap());
            run.probe = None;
            serde_json::to_value(run).unwrap()
        };
        assert_eq!(run(&alone), run(&watched), "{workload} {timing} {precondition}");
    }
}
