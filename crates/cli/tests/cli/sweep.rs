//! Sweeps: a folder that is gone on with, shared, and merged to the same bytes whoever filled it.

use crate::common::{Bench, program};

const FILE: &str = "device = 'slc_small'\ncapacity = '32MiB'\nprecondition = 'fill'\n\
    workload = 'randwrite:bs=4k,span=16MiB,count=4000,seed=5'\n\
    [axes]\nscheme = ['dftl', 'fast']\nop = '20%..40%+10%'\n\
    cache = { values = ['16KiB', '64KiB'], only = 'dftl' }\nseed = [1, 2]\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("sweep.toml", FILE);
    bench
}

fn table(bench: &Bench, folder: &str) -> Vec<Vec<String>> {
    let file = bench.path(&format!("{folder}/results.csv"));
    let mut table = csv::ReaderBuilder::new().has_headers(false).from_path(file).unwrap();
    let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    table.records().map(|row| cells(row.unwrap())).collect()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    let at = table[0].iter().position(|heading| heading == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].clone()).collect()
}

fn results(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(bench.path(&format!("{folder}/runs"))).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

fn merged(bench: &Bench, folder: &str) -> [Vec<u8>; 3] {
    ["results.csv", "results.parquet", "report.html"]
        .map(|name| std::fs::read(bench.path(&format!("{folder}/{name}"))).unwrap())
}

/// 2 x 3 points of dftl for two caches and 3 of fast, each with two seeds.
#[test]
fn a_sweep_is_a_table_with_a_row_per_point() {
    let bench = bench();
    let told = bench.ftlab("sweep sweep.toml --out out").ok();
    assert!(told.contains("Points     18\n") && told.contains("Runs       18 to make\n"), "{told}");
    assert!(told.contains("18 made, 0 were there"), "{told}");
    let table = table(&bench, "out");
    assert_eq!(column(&table, "axis.scheme").iter().filter(|name| *name == "fast").count(), 6);
    let caches = column(&table, "axis.cache_bytes");
    assert_eq!((&*caches[0], &*caches[2], &*caches[12]), ("16384", "65536", ""));
    assert_eq!(&column(&table, "axis.op_fraction")[..5], ["0.2", "0.2", "0.2", "0.2", "0.3"]);
    assert!(column(&table, "status").iter().all(|status| status == "done"));
    // The same run by its own command has the same numbers.
    let run = bench.run(
        "--scheme dftl --device slc_small --capacity 32MiB --precondition fill --ram 16KiB \
         --set op=1 --workload randwrite:bs=4k,span=16MiB,count=4000,seed=5"
            .replace("op=1", "device.over_provisioning=20%")
            .as_str(),
    );
    assert_eq!(column(&table, "waf")[0], run["waf"].to_string());
    let seeds = column(&table, "latency_ns.all.system.mean");
    assert_ne!(seeds[0], seeds[1], "another seed is another workload");
}

/// What the page embeds.
fn embedded(bench: &Bench, folder: &str) -> (String, serde_json::Value) {
    let page = std::fs::read_to_string(bench.path(&format!("{folder}/report.html"))).unwrap();
    let start = "<script type=\"application/json\" id=\"results\">";
    let json = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    let json = serde_json::from_str(json).unwrap();
    (page, json)
}

/// The values of an axis or a metric, of every point.
fn on_page(page: &serde_json::Value, path: &str) -> Vec<String> {
    let columns = page["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["path"] == path).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    match column["codes"].as_array() {
        None => column["values"].as_array().unwrap().iter().map(ToString::to_string).collect(),
        Some(codes) => codes
            .iter()
            .map(|code| text(&column["words"][code.as_u64().unwrap() as usize]))
            .collect(),
    }
}

/// The page holds every point with its values and its command, and what explains the metrics.
#[test]
fn a_sweep_is_a_page_as_well() {
    let bench = bench();
    let told = bench.ftlab("sweep sweep.toml --out out").ok();
    assert!(told.contains("Written: out/report.html, "), "{told}");
    let (page, json) = embedded(&bench, "out");
    assert!(page.contains("<h1>A sweep over scheme, op, cache and seed: 18 points</h1>"));
    let table = table(&bench, "out");
    assert_eq!(on_page(&json, "axis.scheme"), column(&table, "axis.scheme"));
    assert_eq!(on_page(&json, "waf"), column(&table, "waf"));
    assert_eq!(on_page(&json, "axis.cache")[..3], ["16KiB", "16KiB", "64KiB"]);
    assert_eq!((&json["sweep"]["seed"], &json["runs"]), (&3.into(), &18.into()));
    let command = json["commands"]["words"][0].as_str().unwrap();
    assert_eq!(command, column(&table, "made.command")[0]);
    let first = &json["sweep"]["sensitivity"][0];
    // The caches of one scheme alone are a grid with holes.
    assert_eq!((&first["metric"], &first["complete"]), (&"response mean".into(), &false.into()));
    assert_eq!(first["alone"].as_array().unwrap().len(), 4);
    std::fs::remove_file(bench.path("out/report.html")).unwrap();
    let lost = &results(&bench, "out")[0].0;
    std::fs::remove_file(bench.path(&format!("out/runs/{lost}"))).unwrap();
    bench.ftlab("sweep merge out").ok();
    let (page, json) = embedded(&bench, "out");
    assert_eq!(json["runs"], 17);
    assert!(page.contains("1 point was not run yet."), "what is missing is told");
}

/// Capacities stated and those of device files.
#[test]
fn spans_may_be_shares_of_the_device() {
    let bench = Bench::new();
    let line = "sweep --device slc_small --workload randwrite:bs=4k,span=50%,count=400,seed=5";
    let told = bench.ftlab(&format!("{line} --grid scheme=dftl,fast --out out")).ok();
    assert!(told.contains("2 made, 0 were there") && !told.contains("Refused"), "{told}");
    let grid = "capacity=32MiB,64MiB";
    let told = bench.ftlab(&format!("{line} --schemes dftl --grid {grid} --out sizes")).ok();
    assert!(told.contains("2 made, 0 were there"), "{told}");
    let touched = column(&table(&bench, "sizes"), "workload.footprint_pages");
    assert_ne!(touched[0], touched[1], "{touched:?}");
}

/// Two shards that begin at once: the second finds the folders of the first, and no manifest yet.
/// What lies there otherwise is not written beside.
#[test]
fn shards_may_begin_at_the_same_moment() {
    let bench = bench();
    for part in ["runs", "failed", "times"] {
        std::fs::create_dir_all(bench.path(&format!("out/{part}"))).unwrap();
    }
    bench.ftlab("sweep sweep.toml --out out").refused(2, &["out/sweep.json cannot be read"]);
    let told = bench.ftlab("sweep sweep.toml --out out --shard 1/2").ok();
    assert!(told.contains("9 made, 0 were there"), "{told}");
    std::fs::create_dir(bench.path("mine")).unwrap();
    bench.file("mine/notes.txt", "x");
    let refused = bench.ftlab("sweep sweep.toml --out mine --shard 1/2");
    refused.refused(2, &["mine/sweep.json cannot be read"]);
}

/// A snapshot of the same name that holds something else is another start.
#[test]
fn a_run_from_another_snapshot_is_another_run() {
    let bench = Bench::new();
    let device = "--device slc_small --capacity 32MiB";
    let work = "--workload randwrite:bs=4k,span=16MiB,count=400,seed=5";
    let save = |seed: u32| {
        let count = 400 * seed;
        let work = format!("--workload randwrite:bs=4k,span=16MiB,count={count},seed={seed}");
        let line = format!("run --scheme dftl {device} {work} --save-snapshot aged.snapshot");
        bench.ftlab(&line).ok();
    };
    save(1);
    let line = format!(
        "sweep --schemes dftl {device} {work} --grid precondition=snapshot:aged.snapshot --out out"
    );
    assert!(bench.ftlab(&line).ok().contains("1 made, 0 were there"));
    assert!(bench.ftlab(&format!("{line} --resume")).ok().contains("0 made, 1 were there"));
    std::fs::remove_file(bench.path("aged.snapshot")).unwrap();
    save(2);
    assert!(bench.ftlab(&format!("{line} --resume")).ok().contains("1 made, 0 were there"));
}

/// Half by one process and half by others, in any order, is what one process alone makes.
#[test]
fn shards_together_are_the_same_bytes_as_one_sweep() {
    let bench = bench();
    bench.ftlab("sweep sweep.toml --out alone --jobs 1").ok();
    for shard in ["3/3", "1/3", "2/3"] {
        let told = bench.ftlab(&format!("sweep sweep.toml --out shared --shard {shard}")).ok();
        assert!(told.contains("6 made, 0 were there"), "{told}");
    }
    let told = bench.ftlab("sweep merge shared").ok();
    assert!(!told.contains("Missing"), "{told}");
    assert_eq!(results(&bench, "alone"), results(&bench, "shared"));
    assert_eq!(merged(&bench, "alone"), merged(&bench, "shared"));
}

#[test]
fn a_sweep_goes_on_and_a_changed_axis_runs_only_what_is_new() {
    let bench = bench();
    bench.ftlab("sweep sweep.toml --out out").ok();
    let words = ["holds a sweep", "--resume"];
    bench.file("wider.toml", FILE.replace("40%", "50%"));
    bench.ftlab("sweep wider.toml --out out --shard 1/2").refused(2, &["holds another sweep"]);
    bench.ftlab("sweep sweep.toml --out out").refused(2, &words);
    let lost = results(&bench, "out")[3].0.clone();
    std::fs::remove_file(bench.path(&format!("out/runs/{lost}"))).unwrap();
    let told = bench.ftlab("sweep sweep.toml --out out --resume").ok();
    assert!(told.contains("1 made, 17 were there"), "{told}");
    let told = bench.ftlab("sweep wider.toml --out out --resume").ok();
    assert!(told.contains("6 made, 18 were there"), "{told}");
    assert_eq!(table(&bench, "out").len(), 1 + 24);
}

/// What cannot be run is told before, what fails is a row with its reason, and both leave the
/// others alone.
#[test]
fn a_point_that_cannot_run_is_a_row_with_its_reason() {
    let bench = Bench::new();
    let line = "sweep --device slc_small --capacity 32MiB \
                --workload randwrite:bs=4k,span=16MiB,count=400,seed=5 --schemes dftl";
    let told = bench.ftlab(&format!("{line} --grid op=20%,7,30% --out out")).ok();
    assert_eq!(told.matches("Refused    scheme=dftl op=7: ").count(), 1, "{told}");
    let rows = table(&bench, "out");
    assert_eq!(column(&rows, "status"), ["done", "refused", "done"]);
    let told = bench.ftlab(&format!("{line} --grid capacity=8MiB,32MiB --out tight")).ok();
    assert!(told.contains("Refused    scheme=dftl capacity=8MiB: span reaches"), "{told}");
    // How far a trace reaches shows when its run is planned.
    bench.file("far.spc", "0,40000,4096,w,0.1\n0,8,4096,w,0.2\n");
    let line = "sweep --device slc_small --workload far.spc --schemes dftl --out far";
    let told = bench.ftlab(&format!("{line} --grid capacity=8MiB,32MiB")).ok();
    assert!(told.contains("Failed     scheme=dftl capacity=8MiB: "), "{told}");
    assert_eq!(column(&table(&bench, "far"), "status"), ["failed", "done"]);
    let again = bench.ftlab(&format!("{line} --grid capacity=8MiB,32MiB --resume"));
    assert!(again.ok().contains("0 made, 1 were there, 1 failed"), "it is tried again");
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let bench = bench();
    let told = bench.ftlab("sweep sweep.toml --out out --dry-run").ok();
    assert!(told.contains("18 to make") && told.contains("Time       "), "{told}");
    let told = bench.ftlab("sweep sweep.toml --out out --dry-run --sample 5 --seed 3").ok();
    assert!(told.contains("Points     5\n"), "{told}");
    assert_eq!(bench.entries(), ["sweep.toml"]);
    let words = ["the options of all runs stand in sweep.toml"];
    bench.ftlab("sweep sweep.toml --out out --verify").refused(2, &words);
    bench.ftlab("sweep --grid scheme=dftlx --out out").refused(2, &["dftl"]);
    bench.ftlab("sweep merge nowhere").refused(2, &["nowhere/sweep.json cannot be read"]);
    bench.file("bad.toml", "[axes]\nscheme = 'dftl'\nsed = [1]\n");
    bench.ftlab("sweep bad.toml --out out").refused(2, &["bad.toml: ", "did you mean 'seed'"]);
}

/// Killed at once, it leaves whole results only, and goes on.
#[cfg(unix)]
#[test]
fn a_killed_sweep_goes_on_from_whole_results() {
    let bench = Bench::new();
    bench.file("sweep.toml", FILE.replace("count=4000", "count=40000"));
    let mut killed = std::process::Command::new(program())
        .current_dir(bench.path(""))
        .args(["sweep", "sweep.toml", "--out", "out"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    let done = || std::fs::read_dir(bench.path("out/runs")).map_or(0, |entries| entries.count());
    while done() < 3 && began.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let kept = done();
    assert!(kept >= 3, "three runs within a minute");
    for (name, bytes) in results(&bench, "out").iter().filter(|(name, _)| !name.starts_with('.')) {
        assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "{name} is half there");
    }
    let told = bench.ftlab("sweep sweep.toml --out out --resume").ok();
    assert!(told.contains("were there") && !told.contains(" 0 were there"), "{told}");
    assert!(column(&table(&bench, "out"), "status").iter().all(|status| status == "done"));
}
