//! The device file of what was found: the base's own text with other values, each with a comment
//! that says where it comes from.

use ftlab_engine::config::Config;
use ftlab_report::calibration::{Calibration, Parameter as Told, Topology};
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::calibrate::parameters::Parameter;
use crate::calibrate::scale::in_topology;
use crate::error::{Error, Result};

/// Writes it. `set` are the base's settings that were overridden, `config` is the base with them.
///
/// # Errors
/// A base whose text is no device file; it was read before, so that there is none.
pub fn written(
    text: &str,
    config: &Config,
    set: &[(String, String)],
    found: &Calibration,
) -> Result<String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error| Error::usage(format!("{}: {error}", found.base)))?;
    for (key, value) in set {
        put(&mut document, key, value, "stated: --set or --buffer");
    }
    let other = in_topology(config, found.topology);
    let Topology { channels, dies, planes } = found.topology;
    let ways = match (found.topologies.len(), found.alike().len(), found.fitted_to_the_end()) {
        (1, ..) => "stated, no other was tried",
        (_, 0 | 1, _) if found.not_compared() > 0 => {
            "found among those that were compared; not all were, see above"
        }
        (_, 0 | 1, 0 | 1) => "found: no other came near enough to be fitted to the end",
        (_, 0 | 1, _) => "found: all others that were fitted to the end fit worse",
        _ => "not identifiable: not told from others, see above",
    };
    for (key, now, before) in [
        ("device.channels", channels, config.device.channels),
        ("device.dies", dies, config.device.dies),
        ("device.planes", planes, config.device.planes),
    ] {
        let base = if now == before { String::new() } else { format!("; base {before}") };
        put(&mut document, key, &now.to_string(), &format!("{ways}{base}"));
    }
    let blocks = other.device.blocks_per_plane.to_string();
    let capacity = match other.device.physical_blocks() == config.device.physical_blocks() {
        true => "the base's capacity",
        false => "the base's capacity, as near as whole blocks of its planes come",
    };
    put(&mut document, "device.blocks_per_plane", &blocks, capacity);
    for told in found.parameters.iter().filter(|told| told.value != told.base) {
        let known = Parameter::ALL.into_iter().find(|known| known.key() == told.key);
        let Some(parameter) = known else { continue };
        for (key, value) in parameter.settings(told.value, config) {
            let why = match key == told.key {
                true => comment(told),
                false => "in the ratios of the base".to_owned(),
            };
            put(&mut document, key, &value, &why);
        }
    }
    let about = format!("Calibrated from {}", found.base);
    head(&mut document, "about", &format!("{about}: {}", found.ways()));
    head(&mut document, "source", &format!("ftlab calibrate from {}", files(found)));
    Ok(format!("{}\n{document}", preamble(found)))
}

fn comment(told: &Told) -> String {
    match told.range() {
        Some(range) => format!("fitted: 95 % {range}"),
        None => match told.limit() {
            Some(limit) => format!("not identifiable from these probes: {limit}"),
            None => told.sum().map_or_else(
                || {
                    "not identifiable from these probes: goes with the other fitted values"
                        .to_owned()
                },
                |sum| format!("not identifiable from these probes: {sum}"),
            ),
        },
    }
}

fn files(found: &Calibration) -> String {
    let names = found.files.iter().map(|(file, version)| format!("{file} ({version})"));
    names.collect::<Vec<_>>().join(", ")
}

/// What a reader of the file must know before its first line.
fn preamble(found: &Calibration) -> String {
    let mut lines = vec![
        format!("Fitted by {}", found.command),
        "Values that bear no comment of `ftlab calibrate` are the base's, with its comments."
            .to_owned(),
    ];
    lines.extend(found.unknown());
    let alike = found.alike();
    if alike.len() > 1 {
        lines.push(format!(
            "Topologies that these probes do not tell apart (channels x dies x planes): {}.",
            alike.join(", ")
        ));
    }
    lines.extend(found.uncompared());
    lines.extend(found.words.iter().cloned());
    lines.iter().map(|line| commented(line)).collect()
}

/// A line of comment. Names of files and jobs may hold anything, and none of it may end the comment
/// or be what no TOML file may hold.
fn commented(text: &str) -> String {
    let legal = text.chars().map(|one| match one.is_control() {
        true => one.escape_default().to_string(),
        false => one.to_string(),
    });
    format!("# {}\n", legal.collect::<String>())
}

/// A key before the first section; what stood above it goes with it.
fn head(document: &mut DocumentMut, key: &str, text: &str) {
    document.insert(key, Item::Value(Value::from(text)));
}

/// `group.key`, with a comment behind it.
fn put(document: &mut DocumentMut, key: &str, text: &str, why: &str) {
    let Some((group, name)) = key.rsplit_once('.') else { return };
    let mut value = scalar(text);
    value.decor_mut().set_suffix(format!("  # {why}"));
    value.decor_mut().set_prefix(" ");
    let section = document.entry(group).or_insert_with(|| Item::Table(Table::new()));
    let Some(section) = section.as_table_mut() else { return };
    match section.get_mut(name).and_then(Item::as_value_mut) {
        Some(there) => *there = value,
        None => {
            section.insert(name, Item::Value(value));
        }
    }
}

/// Whole numbers and truths as such, everything else as text.
fn scalar(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => Value::from(number),
        (_, Ok(truth)) => Value::from(truth),
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a job, with a line of its own behind it, was a setting of the device.
    #[test]
    fn a_comment_stays_one_whatever_a_job_is_called() {
        let line = commented("Left out: a\nboom = 1\r\u{7}\u{85}\u{7f}");
        assert_eq!(line, "# Left out: a\\nboom = 1\\r\\u{7}\\u{85}\\u{7f}\n");
        let document: DocumentMut = format!("{line}x = 1\n").parse().unwrap();
        assert_eq!(document.iter().count(), 1, "{document}");
    }
}
