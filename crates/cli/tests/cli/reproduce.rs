//! `ftlab reproduce` with experiments of a user's own, and the files of the bundled ones.

use crate::common::Bench;
use serde_json::Value;

const EXPERIMENT: &str = r#"
title = "Erases of small writes"
paper = "ftlab"
item = "Trial"
about = "Random writes to a small device under two schemes."
unknown = ["The paper does not say how full the device was: filled once."]
quick = 500

[options]
device = "dftl2014"
capacity = "4MiB"
precondition = "fill"
set = ["device.over_provisioning=0.2"]

[workloads]
writes = { workload = "randwrite:bs=2k,span=4M,count=3000,seed=1" }
real = { file = "t.csv" }

[[runs]]
workloads = ["writes"]
schemes = ["ideal_page", "dftl"]
variants = [
    { name = "20pct" },
    { name = "50pct", options = { set = ["device.over_provisioning=0.5"] } },
]

[[runs]]
workloads = ["real"]
schemes = ["ideal_page"]

[[inspections]]
workloads = ["writes"]
options = { page-size = "2KiB" }

[published]
page = { erases = 50, switch = 20, partial = 30 }

[[claims]]
name = "sum"
text = "Every erase is a merge."
source = "Table 1"
kind = "identity"
published = "published.page.erases"
measured = "published.page.switch + published.page.partial"

[[claims]]
name = "all-writes"
text = "Nothing is read."
source = "Table 1"
kind = "identity"
published = 0
measured = "inspection('writes').reads"

[[claims]]
name = "room"
text = "More spare blocks mean fewer erases."
source = "Table 1"
kind = "relation"
headline = true
measured = "[erases('writes/20pct/dftl'), erases('writes/50pct/dftl')]"
holds = "erases('writes/50pct/dftl') < erases('writes/20pct/dftl')"

[[claims]]
name = "never"
text = "DFTL erases nothing."
source = "Table 1"
kind = "relation"
holds = "erases('writes/20pct/dftl') == 0"
if_fails = "Its map is written too."
supported_by = ["own.room"]

[[claims]]
name = "twice"
text = "DFTL erases twice as much."
source = "Table 1"
kind = "magnitude"
published = 2
measured = "erases('writes/20pct/dftl') / erases('writes/20pct/ideal_page')"
tolerance = { relative = 0.01 }
judged = "the workload is the paper's"

[[claims]]
name = "beyond"
text = "A magnitude of another workload."
source = "Table 1"
kind = "magnitude"
published = 2
measured = "erases('writes/20pct/dftl') / erases('writes/20pct/ideal_page')"
tolerance = { relative = 0.01 }

[[claims]]
name = "of-the-real"
text = "The real trace is written."
source = "Table 1"
kind = "relation"
holds = "run('real/ideal_page').host.write_pages > 0"

[[figures]]
title = "Erases"
form = "bars"
groups = ["20pct", "50pct"]
series = ["ideal_page", "dftl"]
value = "erases('writes/' ~ g ~ '/' ~ s)"
y = "erases"
published = { "20pct.dftl" = 50 }
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("own.toml", EXPERIMENT);
    bench
}

fn claims(bench: &Bench, out: &str) -> Vec<Value> {
    let bytes = std::fs::read(bench.path(&format!("{out}/claims.json"))).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn verdicts(claims: &[Value]) -> Vec<(&str, &str)> {
    claims
        .iter()
        .map(|claim| (claim["name"].as_str().unwrap(), claim["verdict"].as_str().unwrap()))
        .collect()
}

#[test]
fn each_kind_of_claim_is_judged_by_its_own_rule() {
    let bench = bench();
    let text = bench.ftlab("reproduce own.toml --out out").ok();
    assert!(text.contains("own.room"), "{text}");
    let outcomes = "identities: 2 hold, 0 fail, 0 not judged; relations: 1 hold, 1 fail, 1 not \
                    judged; magnitudes: 0 hold, 1 fail, 1 not judged.";
    assert!(text.contains(&format!("7 claims of 1 experiments; {outcomes}")), "{text}");
    let found = claims(&bench, "out");
    let expected = [
        ("own.sum", "holds"),
        ("own.all-writes", "holds"),
        ("own.room", "holds"),
        ("own.never", "fails"),
        ("own.twice", "fails"),
        ("own.beyond", "not_judged"),
        ("own.of-the-real", "not_judged"),
    ];
    assert_eq!(verdicts(&found), expected);
    let explanation = |index: usize| found[index]["explanation"].as_str().unwrap();
    assert_eq!(explanation(3), "Its map is written too.");
    assert_eq!(found[3]["supported_by"][0], "own.room");
    assert!(explanation(5).contains("not the paper's"));
    assert_eq!(explanation(6), "Not run: it needs t.csv in --trace-dir.");
    let ratio = found[4]["ratio"].as_f64().unwrap();
    assert!((ratio - found[4]["measured"].as_f64().unwrap() / 2.0).abs() < 1e-12);
    let results = std::fs::read(bench.path("out/own/results.json")).unwrap();
    let results: Vec<Value> = serde_json::from_slice(&results).unwrap();
    assert_eq!(results.len(), 4, "the run without its trace has no result");
    for (measured, run) in [(0, 1), (1, 3)] {
        let erases = results[run]["flash"]["total_erases"].as_f64();
        assert_eq!(found[2]["measured"][measured].as_f64(), erases);
    }
    let page = std::fs::read_to_string(bench.path("out/own/report.html")).unwrap();
    assert!(page.contains("randwrite:bs=2k,span=4M,count=3000,seed=1"), "the commands are shown");
    // What numbers are, in words; what the file says, behind a disclosure.
    for words in [
        "erased blocks of dftl on writes, 20pct</th>",
        "erased blocks of dftl on writes, 20pct ÷ erased blocks of ideal_page on writes, 20pct",
        "Measured: the printed page switch + the printed page partial",
        "Measured: reads of writes",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let (shown, _) = page.split_once("erases(").unwrap();
    assert!(shown.rfind("<details").unwrap() > shown.rfind("</details>").unwrap_or(0));
    let index = std::fs::read_to_string(bench.path("out/report.html")).unwrap();
    assert!(index.contains("1 holds, 1 fails, 1 not judged"), "relations");
    assert!(bench.path("out/plotly.js").exists());
    let markdown = std::fs::read_to_string(bench.path("out/claims/ftlab.md")).unwrap();
    assert!(markdown.contains("`own.twice`"));
}

const READINGS: &str = r#"about = "A"
judged_by = "one statement"

[[choices]]
name = "spare"
question = "How many blocks are spare?"
kind = "ours"
text = "Nothing is said."
why = "Any number will do."
literal = "many"
best = "few"

[[choices.candidates]]
name = "few"
about = "a fifth"
apply = [{ options = { set = ["device.over_provisioning=0.2"] } }]

[[choices.candidates]]
name = "many"
about = "as many as data"
apply = [{ options = { set = ["device.over_provisioning=1"] } }]
"#;

const ON_READINGS: &str = r#"title = "Copies"
paper = "dftl2014"
item = "none"
about = "Whether anything is copied."
reading = "./r.toml"
worlds = 7000

[options]
device = "slc_small"
capacity = "16MiB"
precondition = "fill"

[[runs]]
workloads = ["randwrite:bs=2k,span=16M,count=8000"]
schemes = ["ideal_page"]

[[claims]]
name = "copies"
text = "Half as many pages are copied as are written."
source = "nowhere"
kind = "relation"
printed = true
holds = "run('randwrite:bs=2k,span=16M,count=8000/ideal_page').waf > 1.5"
"#;

/// Two readings, a file of the user's own, and worlds that a second command goes on with.
#[test]
fn a_statement_is_judged_under_readings_and_in_worlds() {
    let bench = Bench::new();
    bench.file("r.toml", READINGS);
    bench.file("own.toml", ON_READINGS);
    bench.ftlab("reproduce own.toml --worlds 4 --out out").ok();
    let worlds = |out: &str| claims(&bench, out)[0]["worlds"].clone();
    let of = |out: &str, side: &str| claims(&bench, out)[0]["verdicts"][side].clone();
    assert_eq!((of("out", "literal"), of("out", "best")), ("fails".into(), "holds".into()));
    assert_eq!(worlds("out")["of"], 4);
    bench.ftlab("reproduce own.toml --worlds 24 --resume --out out").ok();
    let found = worlds("out");
    assert_eq!(found["of"], 24);
    let words = found["decided_by"].as_str().unwrap();
    assert!(words.ends_with("; fails only with spare = many"), "{words}");
    for page in ["own/report.html", "worlds/dftl2014.html"] {
        let page = std::fs::read_to_string(bench.path(&format!("out/{page}"))).unwrap();
        assert!(page.contains("aria-label=\"Statements by world\""), "the picture");
    }
    bench.file("mine.toml", "['./r.toml']\nspare = 'many'\n");
    bench.ftlab("reproduce own.toml --reading mine.toml --out mine").ok();
    assert_eq!(verdicts(&claims(&bench, "mine")), [("own.copies", "fails")]);
    bench.file("wrong.toml", "['./r.toml']\nspare = 'mny'\n");
    let wrong = bench.ftlab("reproduce own.toml --reading wrong.toml --out w");
    wrong.refused(2, &["wrong.toml", "'mny'", "many"]);
    bench.ftlab("reproduce own.toml --reading some --out w").refused(2, &["literal, best"]);
    bench.file("plain.toml", ON_READINGS.replace("reading = \"./r.toml\"\n", ""));
    bench.ftlab("reproduce plain.toml --worlds 3 --out w").refused(2, &["--worlds", "readings"]);
}

/// The command that the manifest gives for a run repeats it.
#[test]
fn a_run_is_repeated_by_its_command() {
    let bench = bench();
    bench.ftlab("reproduce own.toml --out out --jobs 1").ok();
    let manifest = std::fs::read(bench.path("out/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let run = &manifest["experiments"][0]["runs"][3];
    assert_eq!(run["id"], "writes/50pct/dftl");
    let command = run["command"].as_str().unwrap().replace('\'', "");
    let again = bench.run(command.strip_prefix("ftlab run ").unwrap());
    let kept = std::fs::read(bench.path("out/own/results.json")).unwrap();
    let kept: Vec<Value> = serde_json::from_slice(&kept).unwrap();
    assert_eq!(again["flash"], kept[3]["flash"]);
    assert_eq!(again["latency_ns"], kept[3]["latency_ns"]);
}

#[test]
fn a_real_file_is_found_in_the_folder_of_traces() {
    let bench = bench();
    std::fs::create_dir(bench.path("traces")).unwrap();
    bench.file("traces/t.csv", "time_us,op,offset_bytes,size_bytes\n100,W,0,2048\n");
    bench.ftlab("reproduce own.toml --trace-dir traces --out out").ok();
    assert_eq!(verdicts(&claims(&bench, "out"))[6], ("own.of-the-real", "holds"));
    bench.ftlab("reproduce own.toml --trace-dir none --out o").refused(2, &["none is no folder"]);
}

/// What was done stays done: the second command makes only the run that is missing.
#[test]
fn a_reproduction_goes_on_where_it_was_interrupted() {
    let bench = bench();
    bench.ftlab("reproduce own.toml --out out").ok();
    let before = claims(&bench, "out");
    let folder = bench.path("out/runs");
    let mut kept: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    kept.sort();
    let text = std::fs::read_to_string(&kept[0]).unwrap();
    let mark = "\"marked as kept\"";
    for path in &kept {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, text.replace("\"passed\"", mark)).unwrap();
    }
    std::fs::remove_file(&kept[0]).unwrap();
    bench.ftlab("reproduce own.toml --out out").refused(2, &["not empty", "--resume"]);
    bench.ftlab("reproduce own.toml --quick --out out --resume").refused(2, &["'quick' differs"]);
    bench.ftlab("reproduce own.toml --out out --resume").ok();
    assert_eq!(claims(&bench, "out"), before);
    let again = std::fs::read_to_string(&kept[0]).unwrap();
    assert_eq!(text.contains("passed"), again.contains("passed"), "it was made again");
    let results = std::fs::read_to_string(bench.path("out/own/results.json")).unwrap();
    assert!(results.contains(mark), "the others were taken up as they were");
}

/// Ctrl-C when only one long run is left: the others are kept, and the message says how to go on.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_done_and_says_how_to_go_on() {
    let bench = bench();
    let long = EXPERIMENT
        .replacen(
            "writes = {",
            "long = { workload = \"randwrite:bs=2k,span=4M,count=1000000000\" }\nwrites = {",
            1,
        )
        .replacen(
            "[[runs]]",
            "[[runs]]\nworkloads = [\"long\"]\nschemes = [\"ideal_page\"]\n\n[[runs]]",
            1,
        );
    bench.file("long.toml", long);
    let runs = bench.path("out/runs");
    let kept = || std::fs::read_dir(&runs).map_or(0, |entries| entries.count());
    // Four runs and an inspection.
    let ended = bench.interrupted("reproduce long.toml --out out --jobs 2", || kept() == 5);
    ended.refused(130, &["interrupted; what was done is kept", "--resume goes on in out"]);
    for entry in std::fs::read_dir(&runs).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(text.contains("count=3000") && !text.contains("count=1000000000"), "{text}");
    }
    assert!(!bench.path("out/report.html").exists());
}

#[test]
fn the_quick_form_is_short_and_judges_no_magnitude() {
    let bench = bench();
    bench.ftlab("reproduce own.toml --quick --out out").ok();
    let found = claims(&bench, "out");
    assert_eq!(verdicts(&found)[4], ("own.twice", "not_judged"));
    assert!(found[4]["explanation"].as_str().unwrap().contains("shortened"));
    let results = std::fs::read(bench.path("out/own/results.json")).unwrap();
    let results: Vec<Value> = serde_json::from_slice(&results).unwrap();
    assert!(results.iter().all(|run| run["workload"]["requests"] == 500));
}

/// Every mistake of a file is found before anything runs.
#[test]
fn mistakes_are_refused_with_their_place() {
    let refused = |from: &str, to: &str, words: &[&str]| {
        let bench = Bench::new();
        assert!(EXPERIMENT.contains(from), "{from}");
        bench.file("own.toml", EXPERIMENT.replacen(from, to, 1));
        bench.ftlab("reproduce own.toml --out out").refused(2, words);
        assert!(!bench.path("out").exists(), "nothing is begun");
    };
    refused("title =", "titel =", &["own.toml:2", "titel"]);
    refused("tolerance = { relative", "tolerance = { relativ", &["own.toml:", "relativ"]);
    refused("kind = \"relation\"", "kind = \"order\"", &["own.toml:", "order", "relation"]);
    refused("erases('writes/50pct/dftl')]", "erases('writes/60pct/dftl')]", &["writes/60pct/dftl"]);
    refused("inspection('writes')", "inspection('write')", &["'write' is no run", "writes"]);
    refused("[erases(", "[erases((", &["claim 'room'", "no expression"]);
    refused("host.write_pages", "host.write_page", &["claim 'of-the-real'", "no such value"]);
    refused("\"ideal_page\", \"dftl\"]\nvariants", "\"ideal_pge\"]\nvariants", &["ideal_pge"]);
    refused("over_provisioning=0.5", "over_provisionin=0.5", &["device.over_provisioning"]);
    refused("device = \"dftl2014\"", "device = \"dftl2015\"", &["dftl2014"]);
    refused("judged = \"the workload is the paper's\"", "judged = \"\"", &["'twice'", "why"]);
    refused("tolerance = { relative = 0.01 }\njudged", "judged", &["'twice'", "tolerance"]);
    refused("holds = \"erases('writes/20pct/dftl') == 0\"\n", "", &["'never'", "'holds'"]);
    refused("\"20pct.dftl\" = 50", "\"30pct.dftl\" = 50", &["'30pct.dftl'", "GROUP.SERIES"]);
    refused("file = \"t.csv\"", "", &["workloads.real"]);
    refused("precondition = \"fill\"", "precondtion = \"fill\"", &["--precondtion"]);
    refused("precondition = \"fill\"", "head = \"x\"", &["'x' for '--head <N>'", "digit"]);
    refused("precondition = \"fill\"", "timing = \"later\"", &["20pct", "--timing 'later'"]);
    refused("precondition = \"fill\"", "json = \"x.json\"", &["'json' cannot stand"]);
    refused("name = \"50pct\"", "name = \"20pct\"", &["is there twice"]);
    refused("name = \"all-writes\"", "name = \"sum\"", &["'sum' is there twice"]);
    let bench = bench();
    bench.ftlab("reproduce own.tom --out out").refused(2, &["unknown experiment 'own.tom'"]);
    bench.ftlab("reproduce own.toml own.toml --out out").refused(2, &["named twice"]);
    let bench = Bench::new();
    let never_quick = EXPERIMENT.replacen("quick = 500", "", 1);
    bench.file("own.toml", never_quick.replacen("[[runs]]", "[[runs]]\nquick = false", 1));
    let words = ["'quick = false' has no effect", "not part of the quick set"];
    bench.ftlab("reproduce own.toml --out out").refused(2, &words);
}

/// A run that fails is a finding: the others are kept, and the exit code says so.
#[test]
fn a_run_that_fails_leaves_the_rest_and_is_told() {
    let bench = Bench::new();
    let full = EXPERIMENT
        .replace("span=4M", "span=8M")
        .replace("capacity = \"4MiB\"", "capacity = \"4MiB\"\naddress = \"strict\"");
    bench.file("own.toml", full);
    let ended = bench.ftlab("reproduce own.toml --out out");
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(ended.err.contains("run 'writes/20pct/ideal_page' failed"), "{}", ended.err);
    let found = claims(&bench, "out");
    assert_eq!(verdicts(&found)[0], ("own.sum", "holds"));
    assert!(found[2]["explanation"].as_str().unwrap().contains("because a run failed"));
}
