//! `ftlab trace fit` and `ftlab trace compare`, from the command line.

use serde_json::Value;

use crate::common::{Bench, traces};

const SOURCE: &str = "randrw:bssplit=4k/70:16k/30,span=16M,count=3000,rwmixread=40,\
                      random_distribution=zipf:1.1,scatter=64k,gaps=2ms,seed=5";

fn compared(bench: &Bench, words: &str) -> Value {
    serde_json::from_str(&bench.ftlab(&format!("trace compare {words} --json")).ok()).unwrap()
}

fn statistic<'a>(of: &'a Value, name: &str) -> &'a Value {
    let rows = of["statistics"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}: {of}"))
}

#[test]
fn what_was_learned_runs_and_is_compared() {
    let bench = Bench::new();
    bench.ftlab(&format!("trace convert {SOURCE} t.csv")).ok();
    let said = bench.ftlab("trace fit t.csv --head 2500 -o my.toml").ok();
    assert!(said.contains("read_percent") && said.contains("--workload my.toml"), "{said}");
    let file = std::fs::read_to_string(bench.path("my.toml")).unwrap();
    assert!(file.contains("options = \"--head 2500\"") && file.contains("requests = 2500"));
    assert!(file.contains("[\"requests\", 2500.0000, 2500.0000]"), "{file}");
    let run = "run --scheme dftl --device dftl2014 --capacity 32MiB --workload";
    bench.ftlab(&format!("{run} my.toml --verify --json a.json")).ok();
    bench.ftlab(&format!("{run} my.toml:count=100,seed=4 --json b.json")).ok();
    let of = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(bench.path(name)).unwrap()).unwrap()
    };
    assert_eq!(of("a.json")["workload"]["requests"], 2500);
    assert_eq!(of("b.json")["workload"]["requests"], 100);
    assert_ne!(of("a.json")["workload"]["sha256"], of("b.json")["workload"]["sha256"]);
    // What is said about reading is said about the trace.
    let both = compared(&bench, "t.csv my.toml --format csv --head 2500");
    let reads = statistic(&both, "read_percent");
    assert!((reads["a"].as_f64().unwrap() - 40.0).abs() < 3.0, "{reads}");
    assert!(reads["difference"].as_f64().unwrap().abs() < 3.0, "{reads}");
    let itself = compared(&bench, "t.csv t.csv");
    assert_eq!(statistic(&itself, "footprint_pages")["ratio"], 1.0);
    let text = bench.ftlab("trace compare t.csv financial:count=1000 --page-size 2k").ok();
    assert!(text.contains("ratio or points") && text.contains("hits_of_1024_pages"), "{text}");
}

#[test]
fn what_cannot_be_learned_or_compared_is_refused() {
    let bench = Bench::new();
    bench.file("flushes.csv", "time_us,op,offset_bytes,size_bytes\n1,flush,0,0\n2,flush,0,0\n");
    for (words, part) in [
        (format!("trace fit {SOURCE} -o my.csv"), "ends in .toml"),
        ("trace fit flushes.csv --format csv -o my.toml".to_owned(), "holds no request"),
        ("trace fit randtrim:span=1M -o my.toml".to_owned(), "no read and no write"),
        ("trace fit missing.csv -o my.toml".to_owned(), "missing.csv"),
        (format!("trace compare {SOURCE} {SOURCE} --format csv"), "no effect"),
        (format!("trace compare {SOURCE} {SOURCE} --page-size 3"), "multiple of 512"),
    ] {
        bench.ftlab(&words).refused(2, &[part]);
        assert!(!bench.path("my.toml").exists(), "{words}");
    }
    bench.file("once.csv", "time_us,op,offset_bytes,size_bytes\n1,read,0,512\n");
    for line in [format!("trace compare - {SOURCE}"), "trace fit - -o my.toml".to_owned()] {
        bench
            .ftlab_reading("once.csv", &line)
            .refused(2, &["standard input can be read only once"]);
    }
}

/// The first 10,000 requests of Financial1: size, footprint, gaps and reads of the twin are near.
#[test]
fn a_real_prefix_and_its_twin_are_alike() {
    let Some(folder) = traces() else { return };
    let bench = Bench::new();
    let trace = format!("{}/financial1-first-10000.ssdsim", folder.display());
    bench.ftlab(&format!("trace fit {trace} -o my.toml")).ok();
    let both = compared(&bench, &format!("{trace} my.toml"));
    for (name, most) in [("mean_bytes", 0.2), ("footprint_pages", 0.3), ("gap_ms", 0.15)] {
        let ratio = statistic(&both, name)["ratio"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < most, "{name}: {ratio}");
    }
    let reads = statistic(&both, "read_percent")["difference"].as_f64().unwrap();
    assert!(reads.abs() < 2.0, "{reads}");
}
