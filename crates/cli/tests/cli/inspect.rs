//! `ftlab trace inspect`: its text, its page, and its curve against the simulator.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Bench, traces};

/// 8 MiB in pages of 2 KiB: 4096 of them.
const DEVICE: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25";
const LRU: &str = "--scheme dftl --set dftl.cmt_policy=lru";
const SIZES: [u64; 7] = [2, 3, 7, 64, 300, 1000, 4000];

/// Reads and writes of 512 bytes to 16 KiB, some unaligned, mostly near the start; with `trims`
/// some trims, whole pages and parts.
fn mixed(requests: u64, trims: bool) -> String {
    let mut text = "time_us,op,offset_bytes,size_bytes\n".to_owned();
    let mut state = 1u64;
    for number in 0..requests {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dice = state >> 33;
        let span = if dice.is_multiple_of(4) { 15_800 } else { 3000 };
        let op = match dice / 4 % 16 {
            0 if trims => "trim",
            0..6 => "read",
            _ => "write",
        };
        let (sector, sectors) = (dice / 64 % span, dice / 7 % 32 + 1);
        writeln!(text, "{},{op},{},{}", number * 700, sector * 512, sectors * 512).unwrap();
    }
    text
}

fn inspect(bench: &Bench, words: &str) -> Value {
    serde_json::from_str(&bench.ftlab(&format!("trace inspect {words} --json")).ok()).unwrap()
}

/// What the curve says about one size.
fn misses_at(curve: &Value, size: u64) -> u64 {
    let sizes = curve["sizes"].as_array().unwrap();
    let index = sizes.iter().position(|listed| listed.as_u64() == Some(size)).unwrap();
    curve["misses"][index].as_u64().unwrap()
}

fn asked() -> String {
    let sizes: Vec<String> = SIZES.iter().map(u64::to_string).collect();
    format!("--cache-entries {}", sizes.join(","))
}

/// Every size, with and without collection: exactly the misses that the simulator counts.
#[test]
fn the_curve_of_map_entries_is_what_dftl_misses() {
    let bench = Bench::new();
    bench.file("t.csv", mixed(4000, false));
    let mut collected = 0;
    for (workload, count) in [("t.csv", 4000), ("randwrite:bs=2k,span=8M,count=3x", 12_288)] {
        let found = inspect(&bench, &format!("{workload} --device dftl2014 {}", asked()));
        assert_eq!(found["requests"], count);
        let curve = &found["map_cache"]["entries"];
        for size in SIZES {
            let entries = format!("--set dftl.cmt_entries={size}");
            let run = bench.run(&format!("{LRU} {DEVICE} --workload {workload} {entries}"));
            let cache = &run["map_cache"];
            assert_eq!(cache["lookups"], curve["lookups"], "{workload} {size}");
            assert_eq!(cache["misses"], misses_at(curve, size), "{workload} {size}");
            collected += run["flash"]["total_erases"].as_u64().unwrap();
        }
    }
    assert!(collected > 1000, "collection must not disturb the order of use: {collected} erases");
}

/// A real trace of 22 units, side by side and packed: the units' pages stay apart in both.
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn the_curve_of_a_real_trace_is_what_dftl_misses() {
    let Some(folder) = traces() else {
        eprintln!("skipped: ../shared/traces is absent");
        return;
    };
    let bench = Bench::new();
    let trace = folder.join("financial1-first-10000.ssdsim").display().to_string();
    let found = inspect(&bench, &format!("{trace} --device dftl2014 --cache-entries 512,4096"));
    let curve = &found["map_cache"]["entries"];
    for size in [512, 4096] {
        for address in ["strict", "dense"] {
            let run = bench.run(&format!(
                "{LRU} --device dftl2014 --capacity auto --address {address} --workload {trace} \
                 --set dftl.cmt_entries={size}"
            ));
            assert_eq!(run["map_cache"]["lookups"], curve["lookups"], "{address}");
            assert_eq!(run["map_cache"]["misses"], misses_at(curve, size), "{address} {size}");
        }
    }
}

/// What makes the two differ: a cache that is warm, trims, and prefetching; each by its amount.
#[test]
fn what_the_curve_leaves_out_is_named_and_nothing_else_differs() {
    let bench = Bench::new();
    bench.file("t.csv", mixed(4000, true));
    let found = inspect(&bench, &format!("t.csv --device dftl2014 {}", asked()));
    let curve = &found["map_cache"]["entries"];
    let run = |more: &str| {
        let line = format!("{LRU} {DEVICE} --workload t.csv --set dftl.cmt_entries=300 {more}");
        bench.run(&line)["map_cache"].clone()
    };
    // Trims look up too: pages that a trim covers as a whole.
    let plain = run("");
    let whole_pages: u64 = mixed(4000, true)
        .lines()
        .filter_map(|line| line.split_once(",trim,"))
        .map(|(_, place)| {
            let (offset, size) = place.split_once(',').unwrap();
            let (offset, size): (u64, u64) = (offset.parse().unwrap(), size.parse().unwrap());
            ((offset + size) / 2048).saturating_sub(offset.div_ceil(2048))
        })
        .sum();
    assert!(whole_pages > 100);
    let lookups = curve["lookups"].as_u64().unwrap();
    assert_eq!(plain["lookups"].as_u64().unwrap(), lookups + whole_pages);
    // With trims ignored the two agree again.
    let ignored = run("--set io.trim=false");
    assert_eq!(ignored["lookups"], lookups);
    assert_eq!(ignored["misses"], misses_at(curve, 300));
    // A cache that a preparation left full spares misses, at most one an entry.
    let warm = run("--set io.trim=false --precondition fill")["misses"].as_u64().unwrap();
    let cold = misses_at(curve, 300);
    assert!((cold.saturating_sub(300)..=cold).contains(&warm), "{warm} of {cold}");
    // Prefetching spares or costs some.
    let prefetched = run("--set io.trim=false --set dftl.prefetch=8");
    assert_eq!(prefetched["lookups"], lookups);
    assert_ne!(prefetched["misses"], misses_at(curve, 300));
}

/// A trace of three disks: a row per unit on the page, and none where one of them is asked for.
#[test]
fn units_have_rows_on_the_page_and_one_alone_has_none() {
    let bench = Bench::new();
    let line = |number: u64| {
        let (unit, op) = (number % 3 * 2, if number.is_multiple_of(4) { "w" } else { "r" });
        format!("{unit},{},4096,{op},{}.0\n", number * 8, number)
    };
    bench.file("t.spc", (0..90).map(line).collect::<String>());
    let found = inspect(&bench, "t.spc --html all.html");
    let units = found["units"].as_array().unwrap();
    let of = |key: &str| units.iter().map(|unit| unit[key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("unit"), of("requests")), (vec![0, 2, 4], vec![30, 30, 30]));
    assert_eq!(
        of("footprint_pages").iter().sum::<u64>(),
        found["footprint_pages"].as_u64().unwrap()
    );
    assert_eq!(of("bytes_read").iter().sum::<u64>(), found["bytes_read"].as_u64().unwrap());
    let page = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    assert!(page("all.html").contains("data-metric=\"units.2.iops\""));
    let one = inspect(&bench, "t.spc --unit 2 --html one.html");
    assert_eq!(one["units"].as_array().unwrap().len(), 1);
    assert!(!page("one.html").contains("data-metric=\"units."));
}

#[test]
fn an_inspected_stand_in_says_so_and_a_combination_names_its_parts() {
    let bench = Bench::new();
    let found = inspect(&bench, "mix:(fin1:count=100)+(web1:count=200)");
    let said = found["stand_in"].as_str().unwrap();
    assert!(said.contains("fin1: Hu") && said.contains("shortened: 200 of 300,000"), "{said}");
    assert_eq!(found["format_why"], "side by side: fin1 | web1");
    assert_eq!(found["time_unit_why"], "of every part as it was read");
    let text = bench.ftlab("trace inspect fin1:count=100 --html page.html").ok();
    assert!(text.contains("stand-in") && text.contains("100 of 300,000 requests"), "{text}");
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("The workload is a synthetic stand-in"));
    let plain = inspect(&bench, "randread:bs=4k,span=1M,count=10");
    assert!(plain.get("stand_in").is_none() && plain["format_why"] == "an inline spec");
    bench.ftlab("trace inspect webb1").refused(2, &["webb1", "nearest bundled workload is 'web1'"]);
}

#[test]
fn the_text_of_an_inspection() {
    let bench = Bench::new();
    bench.file("t.csv", mixed(4000, true));
    insta::assert_snapshot!(bench.ftlab("trace inspect t.csv").ok());
}

#[test]
fn a_page_holds_the_json_and_is_never_overwritten() {
    let bench = Bench::new();
    bench.file("t.csv", mixed(500, true));
    let printed = bench.ftlab("trace inspect t.csv --html t.html --json").ok();
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    let (_, rest) = page.split_once("id=\"results\">").unwrap();
    let (embedded, _) = rest.split_once("</script>").unwrap();
    let value: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(serde_json::from_str::<Value>(embedded).unwrap(), value);
    assert_eq!(value["schema"], "ftlab-inspection/1");
    bench.ftlab("trace inspect t.csv --html t.html").refused(2, &["t.html", "overwritten"]);
    assert_eq!(std::fs::read_to_string(bench.path("t.html")).unwrap(), page);
    // Nothing is left behind where the trace is bad.
    bench.file("bad.csv", "time_us,op,offset_bytes,size_bytes\n1,read,-4,512\n");
    bench.ftlab("trace inspect bad.csv --html bad.html").refused(2, &["bad.csv:2", "-4"]);
    assert_eq!(bench.entries(), ["bad.csv", "t.csv", "t.html"]);
}

#[test]
fn pages_map_pages_and_sizes_can_be_chosen() {
    let bench = Bench::new();
    bench.file("t.csv", mixed(500, false));
    let sizes = |words: &str| {
        let found = inspect(&bench, &format!("t.csv {words}"));
        let cache = &found["map_cache"];
        (
            found["page_bytes"].clone(),
            cache["entries_per_page"].clone(),
            cache["entry_bytes"].clone(),
        )
    };
    for (words, page, entries, entry_bytes) in [
        ("", 4096, 1024, 4.0),
        ("--page-size 8KiB", 8192, 2048, 4.0),
        ("--device dftl2014", 2048, 512, 4.0),
        ("--device dftl2014 --page-size 4k --map-entries 512", 4096, 512, 8.0),
    ] {
        assert_eq!(sizes(words), (page.into(), entries.into(), entry_bytes.into()), "{words}");
    }
    let found = inspect(&bench, "t.csv --cache-pages 1000000 --cache-entries 999,77777");
    let cache = &found["map_cache"];
    assert_eq!(
        misses_at(&cache["translation_pages"], 1_000_000),
        cache["translation_pages"]["compulsory_misses"].as_u64().unwrap()
    );
    assert!(misses_at(&cache["entries"], 999) >= misses_at(&cache["entries"], 77_777));
    for (words, parts) in [
        ("--page-size 1000", ["'1000'", "multiple of 512"]),
        ("--page-size 0", ["'0'", "16 MiB"]),
        ("--page-size 32M", ["'32M'", "16 MiB"]),
        ("--page-size some", ["'some'", "4KiB"]),
        ("--map-entries 0", ["--map-entries", "0"]),
        ("--cache-entries 5,x", ["--cache-entries", "x"]),
        ("--cache-pages 0", ["--cache-pages", "0"]),
        ("--html none/t.html", ["none/t.html", "cannot be written"]),
    ] {
        bench.ftlab(&format!("trace inspect t.csv {words}")).refused(2, &parts);
    }
}
