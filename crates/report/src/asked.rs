//! What a run was asked to do, as against what came of it: the keys by which runs are told apart.
//! They are paths of the result; one of the configuration is called as on the command line.

use crate::flatten::Flat;
use crate::format::Quantity;
use ftlab_engine::config::{Duration, Energy, Share, Value as _};
use serde_json::Value;

/// What a key speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The run: scheme, device, preparation, settings.
    Run,
    /// The requests that it was given.
    Workload,
    /// The program and the machine that made it.
    Program,
}

impl About {
    /// Heading of such keys.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            About::Run => "Run",
            About::Workload => "Workload",
            About::Program => "Program",
        }
    }
}

/// Where the configuration stands in a result.
const CONFIG: &str = "config.";

/// Path, name and subject of every key outside of the configuration, in the order of tables.
const KEYS: &[(&str, &str, About)] = &[
    ("scheme", "scheme", About::Run),
    ("workload.name", "workload", About::Workload),
    ("workload.units", "units", About::Workload),
    ("device", "device", About::Run),
    ("precondition.mode", "precondition", About::Run),
    ("made.timing", "timing", About::Run),
    ("made.filter", "filter", About::Workload),
    ("seed", "seed", About::Run),
    ("workload.requests", "requests", About::Workload),
    ("workload.passes", "passes", About::Workload),
    ("workload.prefix", "prefix", About::Workload),
    ("workload.address", "address", About::Workload),
    ("workload.read_ratio", "read ratio", About::Workload),
    ("workload.footprint_pages", "footprint pages", About::Workload),
    ("workload.sha256", "workload's SHA-256", About::Workload),
    ("version", "version", About::Program),
    ("made.commit", "commit", About::Program),
    ("made.build", "build", About::Program),
    ("made.host", "host", About::Program),
];

/// The keys of a run with their values: those of the table first, then its configuration.
pub fn keys(flat: &Flat) -> impl Iterator<Item = (&str, &Value)> {
    let known = KEYS.iter().filter_map(|(path, ..)| Some((*path, flat.get(*path)?)));
    let config = flat.iter().filter(|(path, _)| path.starts_with(CONFIG));
    known.chain(config.map(|(path, value)| (path.as_str(), value)))
}

/// What it is called in tables.
#[must_use]
pub fn label(path: &str) -> &str {
    let known = KEYS.iter().find(|(key, ..)| *key == path).map(|(_, label, _)| *label);
    known.unwrap_or_else(|| path.strip_prefix(CONFIG).unwrap_or(path))
}

/// What it speaks of; none where the path is no key.
#[must_use]
pub fn about(path: &str) -> Option<About> {
    let known = KEYS.iter().find(|(key, ..)| *key == path).map(|(.., about)| *about);
    known.or_else(|| path.starts_with(CONFIG).then_some(About::Run))
}

/// Whether it is a setting, as against a name, a workload or a program.
#[must_use]
pub fn is_setting(path: &str) -> bool {
    path.starts_with(CONFIG)
}

/// The value of a key as a number, where it is one or has a unit that makes it one.
#[must_use]
pub fn number(path: &str, value: &Value) -> Option<(f64, Quantity)> {
    let plain = if path.ends_with("bytes") { Quantity::Bytes } else { Quantity::Ratio };
    let text = match value {
        Value::Number(number) => return number.as_f64().map(|number| (number, plain)),
        Value::String(text) if text.starts_with(|first: char| first.is_ascii_digit()) => text,
        _ => return None,
    };
    let share = || Share::parse(text).map(|share| (share.0, Quantity::Ratio));
    let energy =
        || Energy::parse(text).map(|energy| (energy.0 as f64 / 1e6, Quantity::Microjoules));
    let time = || Duration::parse(text).map(|time| (time.0 as f64, Quantity::Nanoseconds));
    share().or_else(time).or_else(energy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flatten::flatten;
    use crate::result::RunResult;
    use serde_json::json;

    #[test]
    fn every_key_of_the_table_is_in_a_result() {
        let mut run = RunResult::default();
        // Absent where there is none.
        run.workload.passes = Some(1);
        run.workload.units = Some("0".to_owned());
        let flat = flatten(&run);
        for (path, ..) in KEYS {
            assert!(flat.contains_key(*path), "no such path: {path}");
        }
    }

    #[test]
    fn settings_are_called_as_on_the_command_line() {
        let run = RunResult {
            config: serde_json::from_value(json!({"gc": {"victim": "greedy"}})).unwrap(),
            ..RunResult::default()
        };
        let flat = flatten(&run);
        let (path, value) = keys(&flat).last().unwrap();
        assert_eq!((path, label(path), value), ("config.gc.victim", "gc.victim", &json!("greedy")));
        assert_eq!((about(path), is_setting(path)), (Some(About::Run), true));
        assert_eq!((about("version"), about("waf")), (Some(About::Program), None));
        assert_eq!(keys(&flat).next().unwrap().0, "scheme");
    }

    #[test]
    fn settings_with_units_are_numbers() {
        for (value, expected) in [
            (json!(4096), Some((4096.0, Quantity::Ratio))),
            (json!(0.07), Some((0.07, Quantity::Ratio))),
            (json!("7x"), Some((7.0, Quantity::Ratio))),
            (json!("130.9us"), Some((130_900.0, Quantity::Nanoseconds))),
            (json!("4.72uJ"), Some((4.72, Quantity::Microjoules))),
            (json!("greedy"), None),
            (json!("50us,110us"), None),
            (json!("auto"), None),
            (json!(true), None),
            (Value::Null, None),
        ] {
            assert_eq!(number("config.gc.key", &value), expected, "{value}");
        }
        let bytes = number("config.device.page_bytes", &json!(2048));
        assert_eq!(bytes, Some((2048.0, Quantity::Bytes)));
    }
}
