//! Every stand-in generates what its source prints, within the tolerance that its file states.
//! What is counted here is counted from records, by code that knows nothing of the generator.

use std::collections::HashMap;
use std::path::Path;

use ftlab_engine::request::Op;
use ftlab_trace::{Options, RealTrace, Record, Statistic, Statistics, Workload, WorkloadFile};

use crate::common::real_trace;

const PAGE: u64 = 2048;

/// Every file of `config/workloads` that is a stand-in, by name.
fn stand_ins() -> Vec<(String, WorkloadFile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/workloads");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = WorkloadFile::parse(&name, &text).unwrap();
        if file.is_stand_in() {
            all.push((name, file));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Depths of page accesses in a stack of the pages used before: a Fenwick tree over the times of
/// last use, doubled when it is full.
struct PageStack {
    last_use: HashMap<u64, usize>,
    tree: Vec<u32>,
    now: usize,
}

impl PageStack {
    fn new(accesses: usize) -> Self {
        Self { last_use: HashMap::new(), tree: vec![0; accesses + 1], now: 0 }
    }

    fn add(&mut self, mut place: usize, value: i32) {
        while place < self.tree.len() {
            self.tree[place] = self.tree[place].wrapping_add_signed(value);
            place += place & place.wrapping_neg();
        }
    }

    fn sum(&self, mut place: usize) -> usize {
        let mut sum = 0;
        while place > 0 {
            sum += self.tree[place] as usize;
            place -= place & place.wrapping_neg();
        }
        sum
    }

    /// Distinct pages used since this one was; none at its first use.
    fn distance(&mut self, page: u64) -> Option<usize> {
        self.now += 1;
        let now = self.now;
        let before = self.last_use.insert(page, now);
        let distance = before.map(|then| self.sum(now - 1) - self.sum(then));
        if let Some(then) = before {
            self.add(then, -1);
        }
        self.add(now, 1);
        distance
    }
}

fn pages(record: &Record) -> std::ops::RangeInclusive<u64> {
    record.offset_bytes / PAGE..=(record.end_bytes() - 1) / PAGE
}

/// Percent of page accesses to one of the `depth` pages used last.
fn recent_percent(records: &[Record], depth: usize) -> f64 {
    let accesses = records.iter().map(|record| pages(record).count()).sum();
    let mut stack = PageStack::new(accesses);
    let near = records.iter().flat_map(pages).filter(|page| {
        let distance = stack.distance(*page);
        distance.is_some_and(|distance| distance < depth)
    });
    100.0 * near.count() as f64 / accesses as f64
}

fn counted(records: &[Record]) -> Statistics {
    let mut counted = Statistics::default();
    let mut ends: HashMap<u32, u64> = HashMap::new();
    for record in records {
        counted.note(record, ends.get(&record.unit).copied());
        ends.insert(record.unit, record.end_bytes());
    }
    counted
}

fn measured(records: &[Record], counted: &Statistics, statistic: Statistic) -> f64 {
    match statistic {
        Statistic::Recent5000Percent => recent_percent(records, 5000),
        other => counted.value(other).expect("records were counted"),
    }
}

/// How arrivals burst: the coefficient of variation of the gaps, and the correlation of each gap
/// with the one after it.
fn burstiness(records: &[Record]) -> (f64, f64) {
    let gap = |pair: &[Record]| (pair[1].time_ns - pair[0].time_ns) as f64;
    let gaps: Vec<f64> = records.windows(2).map(gap).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    let products = gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
    (variance.sqrt() / mean, products.sum::<f64>() / count / variance)
}

/// The number that follows `word` in the text of a choice.
fn said_after(text: &str, word: &str) -> Option<f64> {
    let rest = text.split_once(word)?.1.trim_start();
    let end = rest.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').parse().unwrap())
}

/// What a stand-in's own choices say about its gaps: their coefficient of variation, and after how
/// many of them the state is drawn anew; none where the source prints the gaps themselves.
fn chosen_burstiness(file: &WorkloadFile) -> Option<(f64, f64)> {
    let chosen = |key: &str| file.chosen.iter().find(|(own, _)| own == key).map(|(_, text)| text);
    if chosen("gaps").is_some_and(|text| text.contains("Poisson")) {
        return Some((1.0, 1.0));
    }
    let text = chosen("gap_run")?;
    let variation = said_after(text, "coefficient of variation ")?;
    Some((variation, said_after(text, "drawn anew every ").unwrap()))
}

/// With the state kept for `run` gaps on average, neighbouring gaps have the covariance of their
/// means as often as the state stays.
fn correlation(variation: f64, run: f64) -> f64 {
    (1.0 - 1.0 / run) * (variation.powi(2) - 1.0) / (2.0 * variation.powi(2))
}

fn read(text: &str) -> Vec<Record> {
    let workload = Workload::parse(text, &Options::default(), 0).unwrap();
    workload.records().unwrap().collect::<Result<_, _>>().unwrap()
}

/// Of the longest stand-ins the beginning is enough for percentages; the others are read whole.
const REQUESTS_MAX: usize = 327_000;

#[test]
#[allow(clippy::print_stderr, reason = "the table of what was measured, for who looks")]
fn every_stand_in_has_the_published_statistics_of_its_source() {
    let all = stand_ins();
    assert_eq!(all.len(), NAMES.len());
    let (mut wrong, mut bursts) = (Vec::new(), 0);
    for (name, file) in &all {
        assert!(NAMES.contains(&name.as_str()), "{name} is in no table of the interface");
        assert!(file.about.ends_with("(synthetic stand-in)"), "{name}");
        let workload = Workload::parse(&file.spec, &Options::default(), 0).unwrap();
        let records: Vec<Record> =
            workload.records().unwrap().take(REQUESTS_MAX).map(Result::unwrap).collect();
        let counted = counted(&records);
        for one in &file.published {
            let got = measured(&records, &counted, one.statistic);
            let off = got - one.value;
            let key = one.statistic.key();
            eprintln!("{name:20} {key:24} published {:9} measured {got:9.3}", one.value);
            if off.abs() > one.tolerance {
                wrong.push(format!("{name} {key}: {got} is {off} from {}", one.value));
            }
        }
        if let Some((variation, run)) = chosen_burstiness(file) {
            bursts += 1;
            let (got, follows) = burstiness(&records);
            let expected = correlation(variation, run);
            eprintln!(
                "{name:20} gaps: variation chosen {variation:4} measured {got:.3}, correlation \
                 expected {expected:.3} measured {follows:.3}"
            );
            if (got / variation - 1.0).abs() > 0.03 || (follows - expected).abs() > 0.03 {
                wrong.push(format!("{name}: gaps vary by {got}, correlate by {follows}"));
            }
        }
    }
    assert!(wrong.is_empty(), "beyond their tolerance:\n{}", wrong.join("\n"));
    assert_eq!(bursts, 19, "all but openmail and HAT's synthetic ones, whose gaps are printed");
}

const NAMES: [&str; 22] = [
    "financial",
    "websearch",
    "cello99",
    "tpch",
    "fin1",
    "fin2",
    "web1",
    "web2",
    "web3",
    "openmail",
    "hat_synthetic_read",
    "hat_synthetic_write",
    "spc1",
    "tpcc_20",
    "hm_0",
    "mds_0",
    "prn_0",
    "prxy_0",
    "rsrch_0",
    "stg_0",
    "ts_0",
    "web_0",
];

#[test]
fn what_was_measured_under_a_scheme_is_reported_and_no_target() {
    for (name, file) in stand_ins() {
        for one in &file.reported {
            assert!(one.value > 0.0 && !one.from.is_empty() && !one.under.is_empty(), "{name}");
            assert!(Statistic::find(&one.name).is_err(), "{name}: {} is a target", one.name);
        }
    }
    let hit = |name: &str| {
        let all = stand_ins();
        let (_, file) = all.iter().find(|(known, _)| known == name).unwrap();
        file.reported[0].value
    };
    let published = ["financial", "web1", "fin2", "fin1", "openmail"].map(hit);
    assert_eq!(published, [63.0, 2.5, 76.7, 65.9, 47.1]);
}

#[test]
fn the_distance_of_a_page_is_the_number_of_others_used_since() {
    let mut stack = PageStack::new(16);
    let distances = [1, 2, 3, 1, 1, 2, 3].map(|page| stack.distance(page));
    assert_eq!(distances, [None, None, None, Some(2), Some(0), Some(2), Some(2)]);
}

/// A real prefix beside the stand-in whose statistics it shares, as far as a prefix can bear.
struct Prefix {
    file: &'static str,
    stand_in: &'static str,
    /// The prefix and the stand-in both have what is published, within this.
    alike: &'static [(Statistic, f64)],
    /// The prefix as a whole lies elsewhere (where, within a hundredth), but what is published
    /// lies between the least and the most of its tenths: a longer trace can have it.
    passing: &'static [(Statistic, f64)],
    /// Not even that: the prefix is of other hours than most of the trace.
    apart: &'static [(Statistic, f64)],
    /// Not published; the prefix and the stand-in are this near to each other.
    chosen: &'static [(Statistic, f64)],
    /// Coefficient of variation of the gaps, within a hundredth, where the stand-in cites it.
    variation: Option<f64>,
}

/// Financial1 begins with slow hours: within its first 10,000 requests the share of reads goes
/// from 11 to 67 %, and every tenth of them comes slower than the whole trace does on average.
/// WebSearch1 is alike throughout. Of hm_0 there are two busy minutes, with large requests; three
/// standard errors of a class are 3.5 points there.
const PREFIXES: [Prefix; 3] = [
    Prefix {
        file: "financial1-first-10000.ssdsim",
        stand_in: "fin1",
        alike: &[],
        passing: &[(Statistic::ReadPercent, 40.77), (Statistic::MeanBytes, 5527.91)],
        apart: &[(Statistic::GapMilliseconds, 25.96)],
        chosen: &[],
        variation: Some(3.2),
    },
    Prefix {
        file: "wsrch-small.mqsim",
        stand_in: "web1",
        alike: &[(Statistic::ReadPercent, 0.2), (Statistic::MeanBytes, 256.0)],
        passing: &[(Statistic::GapMilliseconds, 2.42)],
        apart: &[],
        chosen: &[(Statistic::Recent5000Percent, 1.0)],
        variation: Some(1.33),
    },
    Prefix {
        file: "msr-hm_0-1000.csv",
        stand_in: "hm_0",
        alike: &[(Statistic::MediumPercent, 3.5)],
        passing: &[(Statistic::SmallPercent, 64.2), (Statistic::LargePercent, 19.8)],
        apart: &[],
        chosen: &[],
        variation: None,
    },
];

#[test]
#[allow(clippy::print_stderr, reason = "the comparison itself")]
fn a_stand_in_is_like_the_real_prefix_where_the_prefix_is_like_the_whole() {
    let all = stand_ins();
    for prefix in &PREFIXES {
        let Some(path) = real_trace(prefix.file) else { continue };
        let (_, file) = all.iter().find(|(name, _)| name == prefix.stand_in).unwrap();
        let real = read(&path);
        let made = read(&file.spec);
        compare(prefix, file, &real, &made[..real.len()]);
        if let Some(cited) = prefix.variation {
            let (variation, _) = burstiness(&real);
            assert!((variation / cited - 1.0).abs() < 0.01, "{}: {variation}", prefix.file);
            let (_, text) = file.chosen.iter().find(|(key, _)| key == "gap_run").unwrap();
            assert_eq!(said_after(text, "have "), Some(cited), "{text}");
        }
        assert!(real.iter().all(|record| record.op != Op::Trim));
    }
}

#[allow(clippy::print_stderr, reason = "the comparison itself")]
fn compare(prefix: &Prefix, file: &WorkloadFile, real: &[Record], made: &[Record]) {
    let (real_counts, made_counts) = (counted(real), counted(made));
    for (key, statistic) in Statistic::ALL {
        let of_real = measured(real, &real_counts, statistic);
        let of_made = measured(made, &made_counts, statistic);
        let printed = file.published.iter().find(|one| one.statistic == statistic);
        let said = printed.map_or("not printed".into(), |one| one.value.to_string());
        eprintln!(
            "{} {key:24} published {said:>11} prefix {of_real:9.3} stand-in {of_made:9.3}",
            prefix.stand_in
        );
        let of = |list: &[(Statistic, f64)]| {
            list.iter().find(|(own, _)| *own == statistic).map(|(_, value)| *value)
        };
        if let Some(near) = of(prefix.chosen) {
            assert!((of_made - of_real).abs() <= near, "{key}: {of_made} made, {of_real}");
        }
        let Some(printed) = printed else { continue };
        if let Some(near) = of(prefix.alike) {
            assert!((of_real - printed.value).abs() <= near, "{key}: the prefix has {of_real}");
            assert!((of_made - of_real).abs() <= near, "{key}: {of_made} made, {of_real}");
            continue;
        }
        let tenths = real.chunks(real.len().div_ceil(10));
        let values: Vec<f64> =
            tenths.map(|tenth| measured(tenth, &counted(tenth), statistic)).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let between = least <= printed.value && printed.value <= most;
        let (known, passing) = match (of(prefix.passing), of(prefix.apart)) {
            (Some(known), None) => (known, true),
            (None, Some(known)) => (known, false),
            _ => panic!("{key} is published, and nothing is said about it"),
        };
        assert!((of_real - known).abs() <= 0.01, "{key}: the prefix has {of_real}");
        assert_eq!(between, passing, "{key}: {least} to {most} by tenths");
        assert!((of_made - printed.value).abs() < (of_real - printed.value).abs(), "{key}");
    }
}

#[test]
fn a_real_trace_is_recognised_by_how_it_begins_in_any_format() {
    let all = stand_ins();
    let known = |name: &str| {
        let (_, file) = all.iter().find(|(known, _)| known == name).unwrap();
        file.real.fingerprint.clone().unwrap()
    };
    for (file, stand_in) in [
        ("financial1-first-1000.spc", "fin1"),
        ("financial1-first-10000.ssdsim", "financial"),
        ("wsrch-small.mqsim", "web1"),
    ] {
        let Some(path) = real_trace(file) else { continue };
        let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
        assert_eq!(RealTrace::fingerprint_of(&workload).unwrap(), known(stand_in), "{file}");
    }
    assert_ne!(known("fin1"), known("web1"));
}
