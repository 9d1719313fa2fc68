//! A comparison that ends early: what is done is kept, belongs to one command at a time, and is
//! gone on with.

use crate::common::Bench;

/// The last one takes ten times as long as the others: a signal that is sent when the first is done
/// comes before its end.
const LINE: &str = "compare --schemes ideal_page,dftl,bast --device dftl2014 --capacity 64MiB \
                    --workload randwrite:bs=2k,span=32M,count=1000000 --reproducible --jobs 1 --out";

/// Runs that lie there.
fn kept(bench: &Bench, out: &str) -> Vec<String> {
    let runs = std::fs::read_dir(bench.path(&format!("{out}.unfinished/runs")));
    let names = runs.into_iter().flatten().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

fn bytes(bench: &Bench, file: &str) -> Vec<u8> {
    std::fs::read(bench.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Whatever the signal: the finished scheme is not made again, and results are those of one go.
#[cfg(unix)]
#[test]
fn finished_schemes_outlive_a_signal_and_the_rest_is_made_with_resume() {
    let bench = Bench::new();
    bench.ftlab(&format!("{LINE} whole")).ok();
    for (out, signal, code, told) in [
        ("a", "-INT", 130, "interrupted; {kept} kept in a.unfinished"),
        ("b", "-TERM", 143, "ended by SIGTERM; {kept} kept in b.unfinished"),
        ("c", "-KILL", -1, ""),
    ] {
        let line = format!("{LINE} {out}");
        let ended = bench.ended_by(signal, &line, || !kept(&bench, out).is_empty());
        let before = kept(&bench, out);
        // A slow machine may be done with the second one before the signal comes.
        let [has, those] = match before.len() {
            1 => ["1 finished run is", "1 finished run"],
            _ => ["2 finished runs are", "2 finished runs"],
        };
        ended.refused(code, &[&told.replace("{kept}", has)]);
        let has_quick = before.iter().any(|name| name.starts_with("ideal_page-"));
        assert!(has_quick && before.len() <= 2, "{before:?}");
        let stamp = |name: &str| {
            let path = bench.path(&format!("{out}.unfinished/runs/{name}"));
            std::fs::metadata(path).unwrap().modified().unwrap()
        };
        let made: Vec<_> = before.iter().map(|name| stamp(name)).collect();
        // It is in the way of whoever does not know of it, and of another command.
        let words = [&format!("holds {those}"), "--resume", "or to remove it"];
        bench.ftlab(&line).refused(2, &words);
        let other = format!("{line} --seed 2 --resume");
        let none = format!("--resume: none of the {those}");
        bench.ftlab(&other).refused(2, &[&none, "legal"]);
        assert_eq!(kept(&bench, out), before);
        assert_eq!(before.iter().map(|name| stamp(name)).collect::<Vec<_>>(), made);
        bench.ftlab(&format!("{line} --resume")).ok();
        for file in ["results.json", "results.csv", "report.html"] {
            let whole = bytes(&bench, &format!("whole/{file}"));
            assert!(bytes(&bench, &format!("{out}/{file}")) == whole, "{signal}: {file}");
        }
    }
    let mut entries = bench.entries();
    entries.retain(|name| !["a", "b", "c", "whole"].contains(&name.as_str()));
    assert!(entries.is_empty(), "{entries:?}");
    assert_eq!(std::fs::read_dir(bench.path("a")).unwrap().count(), 3);
}

/// Rows of a finished scheme are kept with it; without them it is made again.
#[cfg(unix)]
#[test]
fn rows_of_requests_are_kept_with_their_scheme() {
    let bench = Bench::new();
    let line = "compare --schemes ideal_page,dftl --device dftl2014 --capacity 64MiB --jobs 1 \
                --workload randwrite:bs=2k,span=32M,count=400000 --requests-out r.csv --out out";
    let ended = bench.ended_by("-INT", line, || !kept(&bench, "out").is_empty());
    ended.refused(130, &["1 finished run"]);
    assert_eq!(bench.entries(), ["out.unfinished", "r-ideal_page.csv"]);
    let rows = bytes(&bench, "r-ideal_page.csv");
    std::fs::remove_file(bench.path("r-ideal_page.csv")).unwrap();
    let other = bench.ftlab(&format!("{line} --resume"));
    other.refused(2, &["none of the 1 finished run"]);
    std::fs::write(bench.path("r-ideal_page.csv"), &rows).unwrap();
    bench.ftlab(&format!("{line} --resume")).ok();
    assert_eq!(bench.entries(), ["out", "r-dftl.csv", "r-ideal_page.csv"]);
    assert!(bytes(&bench, "r-ideal_page.csv") == rows, "nothing is overwritten");
    let lines = |file| bytes(&bench, file).iter().filter(|byte| **byte == b'\n').count();
    assert_eq!((lines("r-ideal_page.csv"), lines("r-dftl.csv")), (400_001, 400_001));
}

/// The second one found out when all its work was done.
#[cfg(unix)]
#[test]
fn a_folder_belongs_to_one_command_at_a_time() {
    let bench = Bench::new();
    let long = "compare --schemes ideal_page --device dftl2014 --out out --workload \
                randwrite:bs=2k,span=1G,count=1000000000";
    let ended = bench.ended_by("-TERM", long, || {
        let claimed = bench.path("out.unfinished/lock").exists();
        if claimed {
            for option in ["", " --resume"] {
                let words = ["--out out belongs to another ftlab at work (process ", "legal:"];
                bench.ftlab(&format!("{LINE} out{option}")).refused(2, &words);
            }
        }
        claimed
    });
    ended.refused(143, &["ended by SIGTERM; nothing was written"]);
    assert!(bench.entries().is_empty(), "{:?}", bench.entries());
    // What was killed before anything was done is in nobody's way.
    let killed = bench.ended_by("-KILL", long, || bench.path("out.unfinished/lock").exists());
    killed.refused(-1, &[]);
    assert_eq!(bench.entries(), ["out.unfinished"]);
    let short = "compare --schemes ideal_page --device dftl2014 --out out --workload \
                 randwrite:bs=2k,span=1M,count=10";
    bench.ftlab(short).ok();
    assert_eq!(bench.entries(), ["out"]);
}

/// One scheme that a device does not fit kept all others from it.
#[test]
fn schemes_that_a_device_does_not_fit_are_left_out_of_all_by_name() {
    let bench = Bench::new();
    let work = "--device dftl2014 --capacity 8MiB --workload randwrite:bs=2k,span=4M,count=200";
    for (option, out, reason) in [
        ("--buffer lru", "aps", "so a buffer in front of it would hold the same pages twice"),
        ("--set device.mapping_unit=1KiB", "fast", "puts pages at fixed offsets of data blocks"),
    ] {
        let folder = format!("without-{out}");
        let line = |schemes: &str| format!("compare --schemes {schemes} {work} {option} --out");
        let table = bench.ftlab(&format!("{} {folder}", line("all"))).ok();
        assert!(table.contains(&format!("Left out: {out} (")), "{table}");
        assert!(table.contains(reason), "{table}");
        let runs = bench.json(&format!("{folder}/results.json"));
        let names: Vec<&str> =
            runs.as_array().unwrap().iter().map(|run| run["scheme"].as_str().unwrap()).collect();
        assert!(!names.contains(&out) && names.contains(&"dftl"), "{names:?}");
        // Whoever names it wants it.
        let named = format!("{} named", line(&format!("dftl,{out}")));
        bench.ftlab(&named).refused(2, &[out, reason]);
    }
    // A device of one size: what a scheme needs is said before any run.
    let line = "compare --schemes all --device dftl2014 --set device.over_provisioning=0.0001 \
                --workload randwrite:bs=2k,span=1M,count=10 --out none";
    let words = ["no scheme that was asked for can run on this device", "needs at least"];
    bench.ftlab(line).refused(2, &words);
}
