//! Settings of a spec replaced or added, as `NAME:key=value` and `--set workload.KEY=VALUE` ask.

use super::blend::{BLEND_KEYS, BlendText};
use super::kind::Synthetic;
use super::settings::{KEYS, wrong};
use super::twin::CHANGEABLE;
use crate::error::{Result, unknown_name};

/// What takes the place of what: a key, and those that go when it comes.
const REPLACES: [(&str, &[&str]); 9] = [
    ("wrap", &["passes"]),
    ("bs", &["bssplit"]),
    ("bssplit", &["bs"]),
    ("count", &["io_size"]),
    ("io_size", &["count"]),
    ("gaps", &["rate_iops", "rate_process", "iodepth"]),
    ("gap_run", &["rate_iops", "rate_process", "iodepth"]),
    ("rate_iops", &["gaps", "gap_run", "iodepth"]),
    ("iodepth", &["gaps", "gap_run", "rate_iops", "rate_process"]),
];

/// Keys that leave every published statistic of a stand-in as it is.
const NEUTRAL: [&str; 4] = ["count", "io_size", "seed", "offset"];

/// What stands before the settings of a spec, with what separates it from them, the settings, and
/// their keys.
fn taken_apart(spec: &str) -> Result<(String, String, &'static [&'static str])> {
    if let Some(settings) = spec.strip_prefix("twin:") {
        return Ok(("twin:".to_owned(), settings.to_owned(), &CHANGEABLE));
    }
    Ok(match BlendText::parse(spec)? {
        Some(BlendText { parts, settings }) => {
            let head = BlendText { parts, settings: String::new() };
            (format!("{head},"), settings, &BLEND_KEYS)
        }
        None => {
            let (mode, settings) = spec.split_once(':').unwrap_or((spec, ""));
            (format!("{mode}:"), settings.to_owned(), &KEYS)
        }
    })
}

/// The spec with `changes` made to it, and whether any of them touches what a stand-in was fitted
/// or chosen to be. `requests` is another name of `count`. Of a blend, what is said of the whole
/// can be changed.
///
/// # Errors
/// Unknown keys, with the nearest; keys given twice. Values are judged where the spec is parsed.
pub fn with_changes(spec: &str, changes: &[(String, String)]) -> Result<(String, bool)> {
    debug_assert!(Synthetic::recognises(spec), "{spec}");
    let (head, settings, keys) = taken_apart(spec)?;
    let mut settings: Vec<(&str, &str)> =
        settings.split(',').filter_map(|setting| setting.split_once('=')).collect();
    let mut made: Vec<&str> = Vec::new();
    let mut touched = false;
    for (key, value) in changes {
        let key = if key == "requests" { "count" } else { key.as_str() };
        if !keys.contains(&key) {
            let legal = [&["requests"][..], keys].concat();
            return Err(unknown_name("key of a synthetic workload", key, &legal));
        }
        if value.is_empty() || value.contains(',') {
            return Err(wrong(&format!("{key} has no single value"), value, "KEY=VALUE"));
        }
        if made.contains(&key) {
            return Err(wrong("key is changed twice", key, "each key once"));
        }
        made.push(key);
        touched |= !NEUTRAL.contains(&key);
        let replaced =
            REPLACES.iter().find(|(own, _)| *own == key).map_or(&[][..], |(_, keys)| keys);
        settings.retain(|(known, _)| !replaced.contains(known));
        if (key, value.as_str()) == ("random_distribution", "random") {
            // Nothing is hot any more that could be scattered.
            settings.retain(|(known, _)| !matches!(*known, "scatter" | "reshuffle"));
        }
        match settings.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => settings.push((key, value)),
        }
    }
    let settings: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let changed = match settings.is_empty() {
        true => head[..head.len() - 1].to_owned(),
        false => format!("{head}{}", settings.join(",")),
    };
    Ok((changed, touched))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(spec: &str, changes: &[(&str, &str)]) -> Result<(String, bool)> {
        let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        with_changes(spec, &changes.iter().map(own).collect::<Vec<_>>())
    }

    #[test]
    fn a_change_replaces_adds_and_drops_what_it_excludes() {
        let spec = "randrw:bssplit=4k/60:8k/40,span=1G,count=10,gaps=1ms,gap_run=2,seed=1";
        let of = |changes: &[(&str, &str)]| changed(spec, changes).unwrap();
        let (longer, touched) = of(&[("requests", "99"), ("seed", "5")]);
        assert_eq!(longer, spec.replace("count=10", "count=99").replace("seed=1", "seed=5"));
        assert!(!touched);
        let (other, touched) = of(&[("bs", "4k"), ("iodepth", "8")]);
        assert_eq!(other, "randrw:span=1G,count=10,seed=1,bs=4k,iodepth=8");
        assert!(touched);
    }

    #[test]
    fn what_a_blend_says_of_the_whole_can_be_changed() {
        let spec = "blend:30/(write:bs=8k,span=1M)+70/(randread:span=1M),count=9,iodepth=4";
        let of = |changes: &[(&str, &str)]| changed(spec, changes).unwrap();
        assert_eq!(of(&[("requests", "5")]), (spec.replace("count=9", "count=5"), false));
        let (other, touched) = of(&[("gaps", "1ms")]);
        assert!(touched && other.ends_with("+70/(randread:span=1M),count=9,gaps=1ms"), "{other}");
        let refusal = changed(spec, &[("bs", "4k")]).unwrap_err().to_string();
        assert!(refusal.contains("unknown key"), "{refusal}");
    }

    #[test]
    fn nothing_is_scattered_where_nothing_is_hot_any_more() {
        let spec = "randread:span=1M,random_distribution=zipf:1,scatter=1";
        let even = changed(spec, &[("random_distribution", "random")]).unwrap().0;
        assert_eq!(even, "randread:span=1M,random_distribution=random");
        let other = changed(spec, &[("random_distribution", "zipf:2")]).unwrap().0;
        assert!(other.ends_with("zipf:2,scatter=1"), "{other}");
    }

    #[test]
    fn illegal_changes_are_refused() {
        let refusal = |changes: &[(&str, &str)]| {
            changed("randread:span=1M", changes).unwrap_err().to_string()
        };
        assert!(refusal(&[("reqests", "5")]).contains("'requests'"));
        assert!(refusal(&[("count", "5"), ("requests", "6")]).contains("twice"));
        assert!(refusal(&[("count", "5,seed=2")]).contains("KEY=VALUE"));
    }
}
