//! Words and units for what expressions ask of a run.

use minijinja::value::Value as Bound;
use serde_json::Value;

/// A number that a run has.
pub struct Metric {
    pub words: String,
    /// Empty where it is a plain number.
    pub unit: &'static str,
}

fn metric(words: impl Into<String>, unit: &'static str) -> Metric {
    Metric { words: words.into(), unit }
}

/// JSON of a value; a number that is not finite is none.
pub fn plain(value: &Bound) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A function of one run, and what else it is given.
pub fn of_call(name: &str, more: &[String]) -> Option<Metric> {
    let found = match (name, more) {
        ("mean", []) => metric("mean response", "ms"),
        ("device_mean", []) => metric("mean time in the device", "ms"),
        ("queue_mean", []) => metric("mean time in the driver's queue", "ms"),
        ("sd", []) => metric("standard deviation of the response", "ms"),
        ("device_sd", []) => metric("standard deviation of the time in the device", "ms"),
        ("queue_sd", []) => metric("standard deviation of the time in the driver's queue", "ms"),
        ("elapsed", []) => metric("service time", "s"),
        ("energy", []) => metric("energy", "J"),
        ("erases", []) => metric("erased blocks", ""),
        ("programs", []) => metric("programmed pages", ""),
        ("reads", []) => metric("pages read from flash", ""),
        ("requests", []) => metric("requests", ""),
        ("p", [share]) => metric(format!("{share}th percentile of the response"), "ms"),
        ("cdf_at", [time]) => metric(format!("share of requests done within {time} ms"), ""),
        _ => return None,
    };
    Some(found)
}

/// Where two curves of the response cross.
pub fn crossing(other: &str) -> String {
    format!(
        "share of requests up to which its response is not slower than that of {other}, and slower beyond,"
    )
}

/// A path of a result (`run`) or of an inspection.
pub fn of_path(function: &str, path: &[String]) -> Option<Metric> {
    if !matches!(function, "run" | "inspection") {
        return None;
    }
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    Some(match names[..] {
        ["waf"] => metric("pages programmed per page written (WAF)", ""),
        ["simulated_s"] => metric("simulated time", "s"),
        ["host", "longest_queue"] => metric("longest queue before the device", ""),
        ["flash", "total_reads"] => metric("pages read from flash", ""),
        ["flash", "total_programs"] => metric("programmed pages", ""),
        ["flash", "erases", kind] => metric(format!("erased {kind} blocks"), ""),
        ["flash", "reads", cause] => metric(format!("pages read for {}", for_cause(cause)), ""),
        ["flash", "programs", cause] => {
            metric(format!("pages programmed for {}", for_cause(cause)), "")
        }
        ["merges", "full_data_blocks"] => metric("data blocks rebuilt by full merges", ""),
        ["merges", kind] => metric(format!("{kind} merges"), ""),
        ["map_cache", "hit_ratio"] => metric("hit ratio of the map cache", ""),
        ["buffer", "hit_ratio"] => metric("hit ratio of the buffer", ""),
        ["map_cache", name] => metric(format!("map cache: {}", spaced(name)), ""),
        ["events", name] => metric(format!("events ‘{}’", spaced(name)), ""),
        ["service_time_ns", part] => metric(format!("service time, {}", spaced(part)), "ns"),
        ["energy_uj", ref part @ ..] => {
            metric(format!("energy, {}", spaced(&part.join(" "))), "µJ")
        }
        ["ram_bytes", "structures", name, "bytes"] => {
            metric(format!("memory of {}", spaced(name)), "bytes")
        }
        ["ram_bytes", memory] => metric(format!("memory, {}", spaced(memory)), "bytes"),
        ["phases", part, "latency_ns", which, ref rest @ ..] => {
            let number = part.parse::<usize>().map_or(0, |part| part + 1);
            let of = format!("{}{} of part {number}", response("response", rest), of_kind(which));
            metric(of, "ns")
        }
        ["latency_ns", which, time, ref rest @ ..] => {
            let time = match time {
                "system" => "response",
                "device" => "time in the device",
                _ => "time in the driver's queue",
            };
            metric(format!("{}{}", response(time, rest), of_kind(which)), "ns")
        }
        _ => {
            let words: Vec<String> = names.iter().map(|name| spaced(name)).collect();
            let last = names.last().copied().unwrap_or_default();
            let unit = match last {
                _ if last.ends_with("_ns") || names[0].ends_with("_ns") => "ns",
                _ if last.ends_with("bytes") => "bytes",
                _ => "",
            };
            metric(words.join(", "), unit)
        }
    })
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

fn of_kind(which: &str) -> &'static str {
    match which {
        "read" => " of reads",
        "write" => " of writes",
        _ => "",
    }
}

fn response(time: &str, rest: &[&str]) -> String {
    match rest {
        ["mean"] => format!("mean {time}"),
        ["max"] => format!("longest {time}"),
        ["stddev"] => format!("standard deviation of the {time}"),
        ["percentile", share] => {
            let share = share.trim_end_matches('0').trim_end_matches('.');
            format!("{share}th percentile of the {time}")
        }
        _ => format!("{time}, {}", spaced(&rest.join(" "))),
    }
}

/// What pages are read and programmed for, by the name of the cause.
fn for_cause(cause: &str) -> String {
    match cause {
        "host" => "the host".to_owned(),
        "gc" => "garbage collection".to_owned(),
        "gc_map_block" => "collecting map blocks".to_owned(),
        "gc_map_update" => "map updates of collected pages".to_owned(),
        "translate" => "translation".to_owned(),
        "merge" => "merges".to_owned(),
        "migrate" => "migration".to_owned(),
        "fold" => "folding an SLC cache".to_owned(),
        "parity" => "parity over dies".to_owned(),
        "rebuild" => "what failed, moved".to_owned(),
        "refresh" => "refreshing".to_owned(),
        "dedup" => "finding equal contents".to_owned(),
        "read_modify_write" => "read-modify-write".to_owned(),
        other => spaced(other),
    }
}

/// The unit of a number that is divided by so much.
pub fn scaled(unit: &str, divisor: f64) -> Option<&'static str> {
    let is = |wanted: f64| (divisor - wanted).abs() < 0.5;
    match unit {
        "ns" if is(1e3) => Some("µs"),
        "ns" if is(1e6) => Some("ms"),
        "ns" if is(1e9) => Some("s"),
        "µJ" if is(1e3) => Some("mJ"),
        "µJ" if is(1e6) => Some("J"),
        "bytes" if is(1024.0) => Some("KiB"),
        _ => None,
    }
}
