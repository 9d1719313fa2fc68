//! Stand-ins, combinations and real traces in their place, as a user meets them.

use crate::common::{Bench, traces};
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --capacity 1GiB";

fn result(bench: &Bench, options: &str) -> Value {
    bench.run(&format!("--scheme ideal_page {DEVICE} {options}"))
}

/// A real trace as text, or none, with the reason printed.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn real_trace(name: &str) -> Option<String> {
    let path = traces().map(|folder| folder.join(name)).filter(|path| path.exists());
    if path.is_none() {
        eprintln!("skipped: ../shared/traces/{name} is absent");
    }
    path.map(|path| path.display().to_string())
}

/// Writes a file of the folder `t`.
fn trace_file(bench: &Bench, name: &str, bytes: &[u8]) {
    std::fs::create_dir_all(bench.path("t")).unwrap();
    bench.file(&format!("t/{name}"), bytes);
}

#[test]
fn whatever_is_made_from_a_stand_in_says_so() {
    let bench = Bench::new();
    let run = result(&bench, "--workload financial --set workload.requests=2000");
    assert_eq!(run["workload"]["name"], "financial:requests=2000");
    assert_eq!(
        (&run["workload"]["synthetic"], &run["workload"]["requests"]),
        (&true.into(), &2000.into())
    );
    assert!(run["workload"]["stand_in"].as_str().unwrap().contains("Table 4"));
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("synthetic stand-in"), "{warnings}");
    assert!(warnings.contains("shortened: 2,000 of 327,000 requests"), "{warnings}");
    let compared = format!("compare --schemes ideal_page,dftl {DEVICE} --out out");
    let table = bench.ftlab(&format!("{compared} --workload fin1:count=2000,rwmixread=90")).ok();
    assert!(table.contains("synthetic stand-in") && table.contains("need not fit"), "{table}");
    let page = std::fs::read_to_string(bench.path("out/report.html")).unwrap();
    assert!(page.contains("synthetic stand-in: generated to published statistics"));
    assert!(page.contains("shortened: 2,000 of 300,000 requests"));
}

#[test]
fn a_combination_reports_the_response_of_every_part() {
    let bench = Bench::new();
    let load = "load=(write:bs=64k,span=4M,rate_iops=10)";
    let work = "(randread:bs=2k,span=4M,count=300,rate_iops=5)";
    for (text, names) in [
        (
            format!("phases:{load},(financial:count=100),{work}"),
            ["load", "financial", &work[1..work.len() - 1]],
        ),
        (
            format!("mix:{load}+(financial:count=100)+{work}"),
            ["load", "financial", &work[1..work.len() - 1]],
        ),
    ] {
        let bench = Bench::new();
        let options = format!("--workload {text} --address dense --set host.streams=3 --verify");
        let run = result(&bench, &options);
        let phases = run["phases"].as_array().unwrap();
        let own: Vec<&str> = phases.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(own, names);
        let requests: Vec<u64> =
            phases.iter().map(|one| one["requests"].as_u64().unwrap()).collect();
        assert_eq!((requests[0], requests[2]), (64, 300), "{text}");
        let of =
            |index: usize, what: &str| phases[index]["latency_ns"][what]["N"].as_u64().unwrap();
        assert_eq!((of(0, "write"), of(0, "read"), of(2, "read")), (64, 0, 300));
        let sum: u64 = (0..3).map(|index| of(index, "all")).sum();
        assert_eq!(run["latency_ns"]["all"]["system"]["N"], sum);
        assert!(run["workload"]["stand_in"].is_string());
    }
    let text = format!("phases:{load},{work}");
    let compared = format!("compare --schemes ideal_page,dftl {DEVICE} --workload {text} --out o");
    let table = bench.ftlab(&compared).ok();
    assert!(table.contains("Response by part of the workload") && table.contains("1: load"));
    let page = std::fs::read_to_string(bench.path("o/report.html")).unwrap();
    assert!(page.contains("data-chart=\"phases\""));
    let plain = result(&bench, "--workload randread:bs=2k,span=4M,count=10");
    assert!(plain.get("phases").is_none());
}

#[test]
fn a_real_trace_takes_the_place_of_its_stand_in_and_is_recognised() {
    let Some(real) = real_trace("financial1-first-1000.spc") else { return };
    let bench = Bench::new();
    trace_file(&bench, "FINANCIAL1.spc", &std::fs::read(real).unwrap());
    let at = "--trace-dir t --head 500 --address dense";
    let run = result(&bench, &format!("--workload financial {at}"));
    assert_eq!(
        (&run["workload"]["synthetic"], &run["workload"]["requests"]),
        (&false.into(), &500.into())
    );
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("recognised by its first 900 requests"), "{warnings}");
    assert!(warnings.contains("used a part of it"), "{warnings}");
    let bench = Bench::new();
    trace_file(&bench, "Financial1.spc", b"0,8,512,w,0.0\n1,8,512,w,0.5\n");
    trace_file(&bench, "web_0.csv", b"128166372003061629,web,0,Read,0,4096,100\n");
    let run =
        |name: &str| bench.ftlab(&format!("run --scheme dftl {DEVICE} --workload {name} {at}"));
    run("financial").refused(2, &["Financial1.spc", "not the public"]);
    run("oltp_demo").refused(2, &["--trace-dir", "no effect"]);
    run("web_0:count=5").refused(2, &["no effect", "web_0.csv"]);
    assert!(run("web_0").ok().contains("not verified"));
    assert!(run("hm_0:count=50").ok().contains("holds no hm_0.csv"));
}

/// A stand-in of one's own whose public trace has four requests, of two units.
#[test]
fn a_real_trace_that_is_cut_or_longer_is_used_and_the_result_says_so() {
    let stand_in = "about = \"a\"\nsource = \"s\"\nreal_file = \"Mine.spc\"\nreal_requests = 4\n\
                    spec = \"randread:bs=4k,span=1M,count=99\"\n[published.mean_bytes]\n\
                    value = 4096\ntolerance = 0\nfrom = \"T\"\nwhy = \"w\"\nkeys = \"bs\"\n\
                    [chosen]\nrandread = \"r\"\nspan = \"s\"\ncount = \"c\"\n";
    let said = |requests: u64, options: &str| {
        let bench = Bench::new();
        bench.file("mine.toml", stand_in);
        let line = |turn: u64| format!("{},{},4096,w,{turn}.5\n", turn % 2, turn * 8);
        let lines: String = (0..requests).map(line).collect();
        trace_file(&bench, "Mine.spc", lines.as_bytes());
        let run = result(&bench, &format!("--workload mine.toml --trace-dir t {options}"));
        run["warnings"].to_string()
    };
    for (requests, options, sentence) in [
        (4, "", "t/Mine.spc holds all 4 requests of the public Mine.spc."),
        (3, "", "t/Mine.spc is cut: it holds 3 of the 4 requests that the public Mine.spc has."),
        (6, "", "longer than the public Mine.spc: it holds 6 requests, 2 more than the 4 of that"),
        // What was not asked for is there all the same.
        (4, "--unit 1", "holds all 4 requests"),
        (4, "--filter op=write,every=3,from=1s", "holds all 4 requests"),
    ] {
        let warnings = said(requests, options);
        assert!(warnings.contains(sentence), "{requests} {options}: {warnings}");
        assert_eq!(warnings.matches("public Mine.spc").count(), 1, "{warnings}");
    }
    // Of a cut trace a unit has the first of its own requests, not of all.
    assert!(said(3, "--unit 1").contains("Only the first 1 requests of unit 1 were run"));
    // Where reading ends early nothing is known about the rest.
    for options in ["--head 2", "--filter to=1s"] {
        assert!(!said(3, options).contains("is cut"), "{options}");
    }
}

/// Two disks of a machine in files of their own, recorded at the same time.
#[test]
fn files_that_overlap_are_merged_when_asked_and_refused_with_the_flag_otherwise() {
    let bench = Bench::new();
    for disk in 0..2u64 {
        let line = |turn: u64| {
            let time = 128_166_372_000_000_000 + (turn * 2 + disk) * 50_000_000;
            format!("{time},hm,{disk},Write,{},4096,9\n", turn * 4096)
        };
        let lines: String = (0..10).map(line).collect();
        trace_file(&bench, &format!("hm_{disk}.csv"), lines.as_bytes());
    }
    let line = format!("run --scheme ideal_page {DEVICE} --workload t/hm_*.csv");
    bench.ftlab(&line).refused(2, &["hm_1.csv:1", "--parts by_time", "time steps back by 85.00 s"]);
    bench.ftlab(&format!("{line} --parts by-time")).refused(2, &["did you mean 'by_time'"]);
    let run = result(&bench, "--workload t/hm_*.csv --parts by_time");
    assert_eq!(run["workload"]["requests"], 20);
    // Side by side: the second disk begins at the next MiB, so that no page is written twice.
    assert_eq!(run["workload"]["footprint_pages"], 40);
    bench.ftlab("trace convert t/hm_0.csv t/0.ftb").ok();
    bench.ftlab("trace convert t/hm_1.csv t/1.ftb").ok();
    let again = result(&bench, "--workload t/*.ftb --parts by_time");
    assert_eq!(again["latency_ns"], run["latency_ns"]);
    bench
        .ftlab(
            "run --scheme dftl --device dftl2014 --workload randread:bs=4k,span=1M --parts by_time",
        )
        .refused(2, &["--parts", "no effect"]);
}

#[test]
fn a_subset_of_units_is_found_and_used() {
    let Some(real) = real_trace("financial1-first-10000.ssdsim") else { return };
    let bench = Bench::new();
    let search = format!("trace find-subset {real}");
    let text = bench.ftlab(&search).ok();
    assert!(text.contains("every subset was considered") && text.contains("--unit"), "{text}");
    let found: Value =
        serde_json::from_str(&bench.ftlab(&format!("{search} --json")).ok()).unwrap();
    assert_eq!((&found["like"], &found["exact"]), (&"financial".into(), &true.into()));
    assert_eq!(found["nearest"].as_array().unwrap().len(), 5);
    bench.ftlab(&format!("{search} --like fin1")).refused(2, &["sequential_percent"]);
    bench.ftlab(&format!("{search} --like finacial")).refused(2, &["financial"]);
}

/// A stand-in of one's own and a made-up trace behind it: three units, of which the second has what
/// the source is said to print.
#[test]
fn the_nearest_units_of_a_real_trace_are_run_in_the_place_of_a_stand_in() {
    let published = |name: &str, value: f64, keys: &str| {
        format!(
            "[published.{name}]\nvalue = {value}\ntolerance = 1.0\nfrom = \"T\"\nwhy = \"w\"\n\
             keys = \"{keys}\"\n"
        )
    };
    let bench = Bench::new();
    let stand_in = format!(
        "about = \"a\"\nsource = \"s\"\nreal_file = \"Mine.spc\"\n\
         spec = \"randrw:rwmixread=75,bs=4k,span=1M,count=99,seq_fraction=0.5,rate_iops=5\"\n{}{}{}\
         [chosen]\nrandrw = \"r\"\nspan = \"s\"\ncount = \"c\"\nrate_iops = \"r\"\n",
        published("read_percent", 75.0, "rwmixread"),
        published("mean_bytes", 4096.0, "bs"),
        published("sequential_percent", 50.0, "seq_fraction"),
    );
    bench.file("mine.toml", stand_in);
    let mut lines = String::new();
    for turn in 0..40 {
        let op = if turn % 4 == 0 { 'w' } else { 'r' };
        lines += &format!("0,{},8192,w,{turn}.1\n", turn * 1000);
        lines += &format!("1,{},4096,{op},{turn}.2\n", turn / 2 * 100 + turn % 2 * 8);
        lines += &format!("2,{},512,r,{turn}.3\n", turn * 1000);
    }
    trace_file(&bench, "Mine.spc", lines.as_bytes());
    let line = "--workload mine.toml --trace-dir t --address dense";
    assert_eq!(result(&bench, line)["workload"]["requests"], 120);
    let run = result(&bench, &format!("{line} --find-subset"));
    assert_eq!(run["workload"]["requests"], 40);
    assert_eq!(run["workload"]["read_ratio"], 0.75);
    let warnings = run["warnings"].to_string();
    for words in ["Units 1 of t/Mine.spc were used", "number of requests is not compared"] {
        assert!(warnings.contains(words), "{warnings}");
    }
    let refused = |options: &str, words: &[&str]| {
        let line = format!("run --scheme ideal_page {DEVICE} --workload mine.toml {options}");
        bench.ftlab(&line).refused(2, words);
    };
    refused("--find-subset", &["--find-subset", "--trace-dir DIR"]);
    refused("--trace-dir t --find-subset --unit 1", &["--find-subset and --unit"]);
    let text = bench.ftlab("trace find-subset t/Mine.spc --like websearch").ok();
    assert!(text.contains("number of requests is not compared"), "{text}");
    assert!(!text.contains("300000 requests"), "{text}");
}

/// The public trace itself, as far as it is here.
#[test]
fn units_of_the_public_trace_are_chosen_in_a_run() {
    let Some(real) = real_trace("financial1-first-1000.spc") else { return };
    let bench = Bench::new();
    trace_file(&bench, "Financial1.spc", &std::fs::read(real).unwrap());
    let found: Value = {
        let search = "trace find-subset t/Financial1.spc --json";
        serde_json::from_str(&bench.ftlab(search).ok()).unwrap()
    };
    let run = result(&bench, "--workload financial --trace-dir t --find-subset --address dense");
    assert_eq!(run["workload"]["requests"], found["nearest"][0]["requests"]);
    assert!(found["target"]["requests"].is_f64(), "it follows from the duration of this trace");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("nearest to the source of financial"), "{warnings}");
}
