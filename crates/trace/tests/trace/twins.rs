//! Twins: that a learned generator has the statistics of what it was learned from, and that its
//! file is read strictly.

use crate::common::Files;
use ftlab_trace::{
    Compared, Model, Options, Profile, Record, TraceError, TwinFit, Workload, WorkloadFile,
    side_by_side,
};

/// Two writers side by side, a small hot set, and large reads of cold extents.
const SOURCE: &str = "blend:40/(write:bs=8k,span=64M,streams=2,wrap=16M,passes=2)+\
    35/(randwrite:bs=4k,offset=64M,span=64M,random_distribution=zipf:1.1,scatter=128k)+\
    25/(randread:bs=64k,offset=128M,span=512M),count=30000,gaps=0.2ms/90:20ms/10,gap_run=8,seed=3";

fn open(text: &str) -> Workload {
    Workload::parse(text, &Options::default(), 0).unwrap()
}

fn learned(workload: &Workload) -> (Model, u64) {
    let mut fit = TwinFit::new();
    for record in workload.records().unwrap() {
        fit.note(&record.unwrap());
    }
    let requests = fit.requests();
    (fit.model().unwrap(), requests)
}

fn records(workload: &Workload) -> Vec<Record> {
    workload.records().unwrap().map(Result::unwrap).collect()
}

fn compared(a: &Workload, b: &Workload) -> Vec<Compared> {
    let profile = |workload: &Workload| {
        Profile::of(workload, 4096, |_| Ok::<_, TraceError>(()), Workload::describe).unwrap()
    };
    side_by_side(&profile(a), &profile(b)).unwrap()
}

fn row<'a>(rows: &'a [Compared], name: &str) -> &'a Compared {
    rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}: {rows:?}"))
}

#[test]
fn a_twin_has_the_statistics_of_what_it_was_learned_from() {
    let source = open(SOURCE);
    let (model, requests) = learned(&source);
    let twin = Workload::of_model("twin", model, requests).unwrap();
    let rows = compared(&source, &twin);
    let points = [
        ("read_percent", 1.0),
        ("small_percent", 3.0),
        ("large_percent", 2.0),
        ("gaps_of_zero_percent", 0.5),
        // The widest: a stream that meets what is known goes on elsewhere, and a second pass over a
        // region begins after another one than the first.
        ("following_percent", 8.0),
        ("begins_within_256_percent", 9.0),
        ("begins_within_4096_percent", 11.0),
        ("extents_within_64_percent", 5.0),
        ("hits_of_256_pages_percent", 5.0),
        ("hits_of_4096_pages_percent", 5.0),
    ];
    let far = |found: &Compared, most: f64| found.difference.is_none_or(|off| off.abs() > most);
    let mut wrong: Vec<&Compared> = points
        .iter()
        .map(|(name, most)| (row(&rows, name), *most))
        .filter(|(found, most)| far(found, *most))
        .map(|(found, _)| found)
        .collect();
    let ratios = [
        ("requests", 0.0),
        ("mean_bytes", 0.05),
        ("gap_ms", 0.05),
        ("gap_cv", 0.1),
        ("footprint_pages", 0.1),
        ("pages_per_extent", 0.15),
    ];
    let far = |found: &Compared, most: f64| found.ratio.is_none_or(|x| (x - 1.0).abs() > most);
    wrong.extend(
        ratios
            .iter()
            .map(|(name, most)| (row(&rows, name), *most))
            .filter(|(found, most)| far(found, *most))
            .map(|(found, _)| found),
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What would be the same for any workload tells nothing: another source is told apart.
#[test]
fn two_different_workloads_differ_in_their_statistics() {
    let other = open("randread:bs=4k,span=256M,count=30000,rate_iops=100");
    let rows = compared(&open(SOURCE), &other);
    assert!(row(&rows, "read_percent").difference.unwrap() > 50.0);
    assert!(row(&rows, "following_percent").difference.unwrap() < -20.0);
    assert!(row(&rows, "gap_cv").ratio.unwrap() < 0.1);
    let same = compared(&other, &other);
    assert!(same.iter().all(|row| row.a == row.b), "{same:?}");
}

#[test]
fn a_file_gives_the_twin_that_was_learned_and_a_seed_another_one() {
    let (model, requests) = learned(&open(SOURCE));
    let files = Files::new();
    let path = files.write("t.toml", format!("spec = \"twin:count=9\"\n{}", model.written()));
    let twin = Workload::of_model("twin", model, requests).unwrap();
    let all = records(&twin);
    let read = open(&format!("twin:file={path},count={requests},seed=1"));
    assert_eq!(records(&read), all);
    assert_eq!(read.describe().unwrap().sha256, twin.describe().unwrap().sha256);
    assert_eq!(read.requests_known(), Some(requests));
    let other = open(&format!("twin:file={path},count={requests},seed=2"));
    assert_ne!(records(&other), all);
    let options = Options { head: Some(100), ..Options::default() };
    let text = format!("twin:file={path},count={requests}");
    assert_eq!(records(&Workload::parse(&text, &options, 0).unwrap()), all[..100]);
    assert!(all.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
}

/// The smallest sources: one request, one place, everything at once.
#[test]
fn every_source_can_be_learned() {
    for text in [
        "randwrite:bs=4k,span=4k,count=1",
        "randread:bs=512,span=512,count=50",
        "write:bs=1M,span=64M,count=200",
        "randwrite:bs=4k,span=1G,count=400,iodepth=4",
        "rw:bssplit=512/50:96k/50,span=4M,streams=3,count=500",
    ] {
        let source = open(text);
        let (model, requests) = learned(&source);
        let all = records(&Workload::of_model("twin", model, 3 * requests).unwrap());
        assert_eq!(all.len() as u64, 3 * requests, "{text}");
        assert!(all.iter().all(|record| record.size_bytes > 0 && record.unit == 0), "{text}");
    }
    assert!(TwinFit::new().model().is_err(), "nothing was learned");
}

#[test]
fn files_of_twins_are_read_strictly() {
    let (model, _) = learned(&open("randwrite:bs=4k,span=1M,count=50"));
    let good = format!("spec = \"twin:count=9,seed=4\"\n{}", model.written());
    assert!(WorkloadFile::parse("t.toml", &good).unwrap().is_twin());
    for (from, to, part) in [
        ("[twin.sizes]", "[twin.size]", "did you mean 'sizes'"),
        ("columns = \"part", "columns = \"parts", "the columns are others"),
        ("span_bytes = ", "span_bytes = 1", "multiple of 131072"),
        ("count=9,seed=4", "count=0", "at least 1"),
        ("count=9,seed=4", "cuont=9", "did you mean 'count'"),
        ("count=9,seed=4", "seed=4", "needs its length"),
        ("twin:count=9,seed=4", "randread:span=1M", "belong together"),
        ("rows = [", "rowz = [", "did you mean 'rows'"),
        ("rows = [\n", "rows = [\n  [1, 2],\n", "a row is illegal"),
        ("rows = [\n", "rows = [\n  [0, 9, 0, 0, 0, 1],\n", "numbers below"),
        ("rows = [\n", "rows = [\n  [-1, 0, 0, 0, 0, 1],\n", "a wrong row"),
        ("[twin]", "[learned]\nfrom = 1\n[twin]", "unknown key"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        let message = match WorkloadFile::parse("t.toml", &bad) {
            Ok(_) => panic!("{to} is taken"),
            Err(error) => error.to_string(),
        };
        assert!(message.starts_with("t.toml") && message.contains(part), "{to}: {message}");
    }
    let message = Workload::parse("twin:count=5", &Options::default(), 0).err().unwrap();
    assert!(message.to_string().contains("twin:file=FILE.toml"), "{message}");
}
