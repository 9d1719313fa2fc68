//! Which schemes were chosen: names, presets, `all`, `family:NAME`; and `--set KEY=VALUE`.

use ftlab_engine::buffer::{self, BufferKind};
use ftlab_engine::config::Config;
use ftlab_engine::schemes::{Family, Row, TABLE, find};

use crate::error::{Error, Result};
use crate::options::schemes::Schemes;
use crate::options::settings::{Settings, pairs};

/// A scheme with the settings that it will run under.
#[derive(Clone)]
pub struct Chosen {
    /// As the user wrote it, preset included.
    pub name: String,
    /// Whether it was asked for by its name, or is one of a family or of all.
    pub by_name: bool,
    /// Its row of the table.
    pub row: &'static Row,
    /// Device, preset and overrides together.
    pub config: Config,
}

/// Overrides of settings: `--set`, and the options that stand for a key.
pub fn overrides(set: &Settings, buffer: Option<&str>) -> Result<Vec<String>> {
    let mut overrides = set.as_slice().to_vec();
    if let Some(name) = buffer {
        if set.state("buffer.name") {
            return Err(Error::usage("--buffer and --set buffer.name exclude each other"));
        }
        if BufferKind::ALL.iter().all(|(_, known)| *known != name) {
            let names: Vec<&str> = BufferKind::ALL.iter().map(|(_, name)| *name).collect();
            return Err(Error::unknown("buffer", name, &names));
        }
        overrides.push(format!("buffer.name={name}"));
    }
    Ok(overrides)
}

/// Takes the settings of the workload (`workload.KEY=VALUE`) out of the overrides.
pub fn workload_changes(overrides: &mut Vec<String>) -> Result<Vec<(String, String)>> {
    let of_workload = |text: &String| text.trim().starts_with("workload.");
    let changes = overrides.iter().filter(|text| of_workload(text)).cloned().collect::<Vec<_>>();
    overrides.retain(|text| !of_workload(text));
    let key = |(key, value): (String, String)| (key["workload.".len()..].to_owned(), value);
    Ok(pairs(&changes)?.into_iter().map(key).collect())
}

/// The schemes that are named, each once, with `device` and `overrides` applied.
pub fn choose(schemes: &Schemes, device: &Config, overrides: &[String]) -> Result<Vec<Chosen>> {
    let overrides = pairs(overrides)?;
    let mut names: Vec<(String, bool)> = Vec::new();
    for part in schemes.names() {
        for name in expand(part)? {
            if names.iter().any(|(known, _)| *known == name) {
                return Err(Error::usage(format!("scheme '{name}' is named twice")));
            }
            let by_name = name == part;
            names.push((name, by_name));
        }
    }
    if names.is_empty() {
        return Err(Error::usage("no scheme is named (`ftlab list schemes`)"));
    }
    let mut chosen = Vec::with_capacity(names.len());
    for (name, by_name) in names {
        let (row, preset) = find(&name)?;
        let mut config = device.clone();
        for (key, value) in preset {
            config.set(key, value)?;
        }
        for (key, value) in &overrides {
            config.set(key, value)?;
        }
        chosen.push(Chosen { name, by_name, row, config });
    }
    refuse_idle_overrides(&overrides, &chosen)?;
    Ok(chosen)
}

pub fn expand(part: &str) -> Result<Vec<String>> {
    let of = |keep: &dyn Fn(&Row) -> bool| {
        TABLE.iter().filter(|row| keep(row)).map(|row| row.paper.name.to_owned()).collect()
    };
    if part == "all" {
        return Ok(of(&|_| true));
    }
    let Some(name) = part.strip_prefix("family:") else {
        return Ok(vec![part.to_owned()]);
    };
    let names: Vec<&str> = Family::ALL.iter().map(|(_, name)| *name).collect();
    let Some((family, _)) = Family::ALL.iter().find(|(_, known)| *known == name) else {
        return Err(Error::unknown("family", name, &names));
    };
    let members: Vec<String> = of(&|row| row.paper.family == *family);
    match members.is_empty() {
        true => Err(Error::usage(format!("no scheme of the family '{name}' exists yet"))),
        false => Ok(members),
    }
}

/// A setting of a scheme or buffer that does not run would be ignored in silence.
fn refuse_idle_overrides(overrides: &[(String, String)], chosen: &[Chosen]) -> Result<()> {
    for (key, _) in overrides {
        let group = key.split('.').next().unwrap_or_default();
        let is_scheme = TABLE.iter().any(|row| row.paper.name == group);
        if is_scheme && !chosen.iter().any(|one| one.row.reads(&one.config, group)) {
            return Err(Error::usage(format!(
                "--set {key} has no effect: {group} is not among the schemes"
            )));
        }
        let buffer = chosen[0].config.buffer.name;
        let of_other = buffer::TABLE.iter().any(|row| row.name == group) && buffer.name() != group;
        if of_other || (group == "buffer" && buffer == BufferKind::None && key != "buffer.name") {
            return Err(Error::usage(format!(
                "--set {key} has no effect: the buffer is {} (--buffer NAME)",
                buffer.name()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let chosen = choose(&text.into(), &Config::default(), &[]).unwrap();
        chosen.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn all_is_the_table_and_a_family_is_a_part_of_it() {
        let table: Vec<&str> = TABLE.iter().map(|row| row.paper.name).collect();
        assert_eq!(names("all"), table);
        assert_eq!(names("family:page"), ["ideal_page", "ca_ssd", "caftl", "zns"]);
        assert_eq!(names("dftl:gtd, dftl"), ["dftl:gtd", "dftl"]);
    }

    #[test]
    fn bad_choices_say_what_is_legal() {
        let refusal = |text: &str, set: &[&str]| {
            let set: Vec<String> = set.iter().map(|&text| text.to_owned()).collect();
            choose(&text.into(), &Config::default(), &set).err().unwrap().to_string()
        };
        assert!(refusal("dfttl", &[]).contains("nearest: dftl"));
        assert!(refusal("family:pages", &[]).contains("'page'"));
        assert!(refusal("dftl,all", &[]).contains("twice"));
        assert!(refusal("dftl", &["gc.victm=fifo"]).contains("gc.victim"));
        assert!(refusal("dftl", &["gc.victim"]).contains("KEY=VALUE"));
        assert!(refusal("dftl", &["ideal_page.gc_low=4"]).contains("not among the schemes"));
        for key in ["buffer.bytes=1MiB", "bplru.pad=always"] {
            assert!(refusal("dftl", &[key]).contains("the buffer is none"), "{key}");
        }
        let other = refusal("dftl", &["buffer.name=lru", "bplru.pad=always"]);
        assert!(other.contains("the buffer is lru"), "{other}");
        assert!(refusal("dftl", &["buffer.name=lur"]).contains("none | lru | bplru"));
    }

    #[test]
    fn a_scheme_takes_the_settings_of_the_one_that_it_stands_on() {
        let takes = |scheme: &str, set: &str| {
            choose(&scheme.into(), &Config::default(), &[set.into()]).is_ok()
        };
        let (chains, logs) = ("replacement_block.reserve=2", "bast.victim=fifo");
        assert!(takes("dac", chains) && !takes("dac", logs));
        assert!(takes("dac:bast", logs) && !takes("dac:bast", chains));
        assert!(!takes("bast", "dac.l1_entries=5"));
    }
}
