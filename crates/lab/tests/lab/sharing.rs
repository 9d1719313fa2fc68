//! Runs of a sweep share devices and traces, and come out as if each had made its own.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;

use ftlab_engine::own::{Maker, OwnVictim, VictimCandidates};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::sweep::{Definition, Running, Swept};
use ftlab_lab::{Capacity, Counts, Error, Experiment, Observer, Silent, Task, Work};

fn base() -> Experiment {
    Experiment {
        device: "slc_small".to_owned(),
        capacity: Some(Capacity::Bytes(8 << 20)),
        set: ["device.over_provisioning=0.4", "device.oob_bytes=64"].into_iter().collect(),
        ..Experiment::default()
    }
}

fn swept(grid: &str, base: &Experiment, out: &Path, how: &Running) -> Result<Swept, Error> {
    let sweep = Definition::new(base.clone(), grid)?.plan(None, &Silent)?;
    sweep.run(&sweep.open(out, how)?, how, &Silent)
}

fn jobs(number: usize) -> Running {
    Running { jobs: NonZero::new(number), ..Running::default() }
}

/// What lies in a part of a folder of results.
fn files(out: &Path, part: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(out.join(part)).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// What every run of a sweep makes by itself, as a sweep keeps it: a result, or why there is none.
fn alone(grid: &str, base: &Experiment) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let sweep = Definition::new(base.clone(), grid).unwrap().plan(None, &Silent).unwrap();
    let (mut runs, mut failed) = (BTreeMap::new(), BTreeMap::new());
    for (key, run) in &sweep.runs {
        match run.experiment.plan().and_then(|plan| plan.run(&Silent)) {
            Ok(mut result) => {
                result.wall = Default::default();
                (result.made.host, result.made.started) = Default::default();
                runs.insert(key.clone(), serde_json::to_string(&result).unwrap());
            }
            Err(error) => {
                let reason = serde_json::json!({ "reason": error.to_string() });
                failed.insert(key.clone(), reason.to_string());
            }
        }
    }
    (runs, failed)
}

const WORKLOADS: &str = "workload=(randwrite:bs=4k,span=4MiB,count=500,seed=5),\
                         (randrw:bs=4k,span=4MiB,count=500,rwmixread=40,seed=6)";

/// For any number of jobs, in any order, and whatever a shard leaves to others.
#[test]
fn every_scheme_makes_of_a_shared_device_what_it_makes_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let grid = format!("scheme=all precondition=fill,touch,random:0.5x {WORKLOADS}");
    let (expected, failed) = alone(&grid, &base());
    let swept = |name: &str, grid: &str, how: &Running| {
        let swept = swept(grid, &base(), &out(name), how).unwrap();
        (swept, files(&out(name), "runs"))
    };
    assert_eq!(expected.len(), TABLE.len() * 3 * 2, "{failed:?}");
    let (one, made) = swept("one", &grid, &jobs(1));
    assert_eq!((made == expected, one.failed), (true, 0));
    // The pages that are touched differ from workload to workload.
    assert_eq!(one.shared, expected.len() / 3, "{one:?}");
    let (two, made) = swept("two", &grid, &jobs(2));
    assert_eq!((made == expected, two.shared), (true, one.shared));
    let backwards =
        format!("{WORKLOADS} precondition=random:0.5x,touch,fill scheme=family:cached_map");
    let made = swept("backwards", &backwards, &jobs(1)).1;
    assert!(made.values().all(|run| expected.values().any(|own| own == run)));
    assert!(made.len() >= 6 * 3);
    for shard in ["2/3", "3/3", "1/3"] {
        let how = Running { shard: Some(shard.parse().unwrap()), ..jobs(2) };
        swept("shards", &backwards, &how);
    }
    assert!(files(&out("shards"), "runs") == made);
}

/// Buffers, depths of closed loops, verified reads and repetitions are no exception.
#[test]
fn what_is_around_the_device_may_differ() {
    let folder = tempfile::tempdir().unwrap();
    let grid = format!(
        "scheme=dftl,fast precondition=fill,(fill,cache=warm) timing=closed:1,closed:4,asap \
         loop=1,2 verify=true,false {WORKLOADS}"
    );
    let base = Experiment { buffer: Some("lru".to_owned()), ..base() };
    let swept = swept(&grid, &base, folder.path(), &jobs(2)).unwrap();
    assert!(files(folder.path(), "runs") == alone(&grid, &base).0);
    // Depths 1 and 4 and the device's own, two schemes, two caches, verified or not.
    assert_eq!((swept.made, swept.shared), (96, 96 - 3 * 2 * 2 * 2));
}

/// Blocks fail until none is left: that is the fate of every run that begins with the device.
#[test]
fn a_device_that_cannot_be_prepared_fails_all_its_runs_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = base();
    base.set.push("nand.program_failure_rate=0.5");
    let grid = format!("scheme=ideal_page precondition=fill,none {WORKLOADS} tail=true,false");
    let swept = swept(&grid, &base, folder.path(), &jobs(2)).unwrap();
    let (runs, failed) = alone(&grid, &base);
    assert!(failed.values().any(|reason| reason.contains("during preconditioning")), "{failed:?}");
    assert_eq!(files(folder.path(), "failed"), failed);
    assert!(files(folder.path(), "runs") == runs);
    assert_eq!((swept.failed, swept.shared), (failed.len(), 3));
}

/// Ends everything once a device is being prepared.
struct Impatient;

impl Observer for Impatient {
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a> {
        let ends = work.counts == Counts::Requests && work.label.ends_with("(preparing)");
        Box::new(Ending(ends))
    }
}

struct Ending(bool);

impl Task for Ending {
    fn advance(&self, _: u64) -> ControlFlow<()> {
        if self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn whoever_waits_for_a_device_is_cancelled_with_who_prepares_it() {
    let folder = tempfile::tempdir().unwrap();
    let grid = format!("scheme=ideal_page precondition=random:4x {WORKLOADS} tail=true,false");
    let sweep = Definition::new(base(), &grid).unwrap().plan(None, &Silent).unwrap();
    let how = jobs(3);
    let open = sweep.open(folder.path(), &how).unwrap();
    let ended = sweep.run(&open, &how, &Impatient).unwrap_err();
    assert!(matches!(&ended, Error::Cancelled(why) if why.contains("--resume")), "{ended}");
    assert!(files(folder.path(), "runs").is_empty() && files(folder.path(), "failed").is_empty());
    assert_eq!(sweep.run(&open, &how, &Silent).unwrap().made, 4);
}

/// Lines out of order, dropped, and a second unit.
#[test]
fn a_trace_that_is_held_makes_what_one_makes_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let line = |at: u64| {
        let time = if at % 50 == 7 { at - 2 } else { at };
        let op = if at.is_multiple_of(3) { 'r' } else { 'w' };
        format!("{},{},4096,{op},{}.{:03}\n", at % 2, at * 7 % 400 * 8, time / 100, time % 100 * 10)
    };
    let trace = folder.path().join("trace.spc");
    std::fs::write(&trace, (0..900).map(line).collect::<String>()).unwrap();
    let base = Experiment { workload: trace.display().to_string(), ..base() };
    let grid = "scheme=dftl,fast precondition=fill,touch,warmup:1500,prefix:100 unit=0,all \
                head=500,2000 loop=1,2";
    let out = folder.path().join("out");
    let swept = swept(grid, &base, &out, &jobs(2)).unwrap();
    let (runs, failed) = alone(grid, &base);
    assert!(files(&out, "runs") == runs);
    assert_eq!(files(&out, "failed"), failed);
    assert!(swept.made >= 32 && swept.shared > 0, "{swept:?}");
}

/// A result is named by what a text can hold, and a device that is duplicated shares its policies.
#[test]
fn policies_of_a_program_have_no_place_in_a_sweep() {
    struct First;
    impl OwnVictim for First {
        fn choose(&self, _: &VictimCandidates) -> usize {
            0
        }
    }
    let mut base = base();
    base.own.victim = Some(Maker::victim("first", || First));
    let refused = Definition::new(base, "scheme=ideal_page").unwrap().plan(None, &Silent);
    let message = refused.err().expect("refused").to_string();
    assert!(message.contains("have no place in a sweep"), "{message}");
}
