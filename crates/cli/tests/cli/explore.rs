//! `ftlab explore`: any results on one page; `ftlab diff`: what moved between two.

use crate::common::Bench;
use serde_json::Value;

const SMALL: &str =
    "--device dftl2014 --capacity 8MiB --workload randwrite:bs=2k,span=4M,count=2000";

fn compare(bench: &Bench, schemes: &str, more: &str, out: &str) {
    bench.ftlab(&format!("compare --schemes {schemes} {SMALL} {more} --out {out}")).ok();
}

/// What the page embeds.
fn embedded(bench: &Bench, page: &str) -> Value {
    let page = std::fs::read_to_string(bench.path(page)).unwrap();
    let start = "<script type=\"application/json\" id=\"results\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn column<'a>(embedded: &'a Value, path: &str) -> &'a Value {
    let columns = embedded["columns"].as_array().unwrap();
    columns.iter().find(|column| column["path"] == path).unwrap_or_else(|| panic!("no {path}"))
}

/// The word of each run.
fn words<'a>(embedded: &'a Value, path: &str) -> Vec<&'a str> {
    let column = column(embedded, path);
    let codes = column["codes"].as_array().unwrap().iter().map(|code| code.as_u64().unwrap());
    codes.map(|code| column["words"][code as usize].as_str().unwrap()).collect()
}

#[test]
fn runs_of_every_command_stand_on_one_page() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("all")).unwrap();
    compare(&bench, "ideal_page,dftl", "", "all/one");
    compare(&bench, "ideal_page,dftl", "--set gc.threshold=4", "all/two");
    bench.ftlab(&format!("run --scheme fast {SMALL} --json all/fast.json")).ok();
    // The same runs in a second file, something else, and what is not finished.
    std::fs::create_dir_all(bench.path("all/again")).unwrap();
    std::fs::copy(bench.path("all/one/results.json"), bench.path("all/again/copy.json")).unwrap();
    bench.file("all/manifest.json", "{\"version\": \"1\"}");
    std::fs::create_dir(bench.path("all/.one.unfinished-1")).unwrap();
    bench.file("all/.one.unfinished-1/results.json", "[");
    let told = bench.ftlab("explore all --out page.html").ok();
    let page = embedded(&bench, "page.html");
    assert_eq!(page["runs"], 5, "{told}");
    assert!(told.starts_with("5 runs in all\n"), "{told}");
    let files = "Files: 4 files of results; 1 other JSON file is something else; 2 runs stand in a \
                 second file as well";
    assert!(told.contains(files), "{told}");
    assert_eq!(words(&page, "scheme"), ["ideal_page", "dftl", "fast", "ideal_page", "dftl"]);
    let files = words(&page, "file");
    assert_eq!((files[0], files[2]), ("all/one/results.json", "all/fast.json"));
    assert_eq!(column(&page, "config.gc.threshold")["words"].as_array().unwrap().len(), 2);
    let results = bench.json("all/two/results.json");
    let waf: Vec<&Value> = column(&page, "waf")["values"].as_array().unwrap().iter().collect();
    assert_eq!(waf[3..], [&results[0]["waf"], &results[1]["waf"]]);
    let commands = &page["commands"];
    let last = commands["codes"][4].as_u64().unwrap() as usize;
    assert_eq!(commands["words"][last], results[1]["made"]["command"]);
    let text = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(!text.contains("\"series\":"), "scalars alone are embedded");
}

#[test]
fn a_page_of_nothing_and_over_something_is_refused() {
    let bench = Bench::new();
    compare(&bench, "dftl", "", "one");
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.file("empty/other.json", "[{\"verdict\": \"holds\"}]");
    let line = "explore one empty --out page.html";
    bench.ftlab(line).refused(2, &["no result in empty", "none of 1 JSON file", "legal:"]);
    bench.ftlab("explore nowhere --out page.html").refused(2, &["nowhere is neither", "legal:"]);
    assert!(!bench.path("page.html").exists());
    bench.file("page.html", "mine");
    let words = ["page.html exists", "nothing is overwritten"];
    bench.ftlab("explore one --out page.html").refused(2, &words);
    assert_eq!(std::fs::read(bench.path("page.html")).unwrap(), b"mine");
    assert_eq!(bench.entries(), ["empty", "one", "page.html"], "nothing unfinished is left");
}

#[test]
fn a_file_that_is_cut_is_told_and_the_others_are_shown() {
    let bench = Bench::new();
    compare(&bench, "dftl", "", "all");
    bench.file("all/cut.json", "[{\"schema\": \"ftlab/1\", \"sch");
    bench.file("all/newer.json", "{\"schema\": \"ftlab/9\"}");
    let told = bench.ftlab("explore all --out page.html").ok();
    for words in ["Warning: all/cut.json cannot be read", "Warning: all/newer.json", "\"ftlab/9\""]
    {
        assert!(told.contains(words), "{words} is not in {told}");
    }
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("cut.json cannot be read"));
    // Of two sides that are compared nothing may be missing.
    bench.ftlab("diff all all").refused(2, &["all/cut.json cannot be read", "all/newer.json"]);
}

#[test]
fn two_runs_of_other_settings_are_told_apart() {
    let bench = Bench::new();
    let line = format!("run --scheme dftl {SMALL}");
    bench.ftlab(&format!("{line} --set dftl.cmt_entries=1024 --json a.json")).ok();
    bench.ftlab(&format!("{line} --set dftl.cmt_entries=64 --json b.json")).ok();
    let told = bench.ftlab("diff a.json b.json").ok();
    let lines: Vec<Vec<&str>> =
        told.lines().map(|line| line.split_whitespace().collect()).collect();
    let (a, b) = (bench.json("a.json"), bench.json("b.json"));
    let setting = ["dftl.cmt_entries", "1024", "64"];
    assert!(lines.iter().any(|line| *line == setting), "{told}");
    assert!(!told.contains("Different"), "{told}");
    let value: Value =
        serde_json::from_str(&bench.ftlab("diff a.json b.json --json").ok()).unwrap();
    let metrics = value["pairs"][0]["metrics"].as_array().unwrap();
    let hits = metrics.iter().find(|metric| metric["path"] == "map_cache.hit_ratio").unwrap();
    let of = |run: &Value| run["map_cache"]["hit_ratio"].as_f64().unwrap();
    assert_eq!((hits["a"].as_f64(), hits["b"].as_f64()), (Some(of(&a)), Some(of(&b))));
    assert_eq!(hits["change"].as_f64(), Some((of(&b) - of(&a)) / of(&a)));
    assert_eq!(hits["verdict"], "worse");
    assert!(metrics.iter().all(|metric| metric["a"] != metric["b"]), "only what moved");
    let all: Value =
        serde_json::from_str(&bench.ftlab("diff a.json b.json --all --json").ok()).unwrap();
    assert!(all["pairs"][0]["metrics"].as_array().unwrap().len() > metrics.len());
}

#[test]
fn folders_are_matched_and_equal_ones_say_so() {
    let bench = Bench::new();
    compare(&bench, "ideal_page,dftl,fast", "", "a");
    compare(&bench, "dftl,ideal_page", "", "b");
    let told = bench.ftlab("diff a b").ok();
    assert!(told.contains("A: a (3 runs)\nB: b (2 runs)"), "{told}");
    assert!(told.contains("Only in A: fast on randwrite:bs=2k,span=4M,count=2000"), "{told}");
    let still = told.lines().find(|line| line.starts_with("No metric moved, nothing differs: "));
    let still = still.unwrap_or_else(|| panic!("{told}"));
    assert!(still.contains("dftl on") && still.contains("ideal_page on"), "{told}");
    let same = bench.ftlab("diff a/results.json a").ok();
    assert!(same.contains("No metric moved, nothing differs: "), "{same}");
    bench.ftlab("diff a missing").refused(2, &["missing is neither a file nor a folder"]);
}
