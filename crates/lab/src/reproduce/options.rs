//! The options of an experiment's file: put together from its tables, then told twice, as the words
//! of a command line that anybody can repeat, and as the run that is made.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::experiment::Experiment;
use crate::inspection::Counting;
use crate::options::reading::Reading;

/// Options of a run by name, without dashes.
pub type Options = BTreeMap<String, OptionValue>;

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// A flag that is given or not.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// An option that is given several times.
    List(Vec<String>),
}

/// Options that an experiment cannot give: they write files, or are the command's own.
const RESERVED: [&str; 7] =
    ["scheme", "workload", "json", "requests-out", "trace-out", "save-snapshot", "trace-dir"];

/// Options that take no value.
const FLAGS: [&str; 4] = ["find-subset", "ram-strict", "verify", "tail"];

/// Options that are put together: a later one replaces an earlier one, `set` is added to.
#[derive(Default)]
pub struct Collected {
    set: Vec<String>,
    others: Options,
}

impl Collected {
    /// Puts more options to those that are there.
    pub fn add(&mut self, options: &Options) {
        for (name, value) in options {
            match (name.as_str(), value) {
                ("set", OptionValue::List(list)) => {
                    for setting in list {
                        self.add_setting(setting);
                    }
                }
                _ => {
                    self.others.insert(name.clone(), value.clone());
                }
            }
        }
    }

    /// The same of options that may be absent.
    pub fn add_some(&mut self, options: Option<&Options>) {
        if let Some(options) = options {
            self.add(options);
        }
    }

    /// The same of options that were put together before.
    pub fn add_collected(&mut self, other: Collected) {
        other.set.iter().for_each(|setting| self.add_setting(setting));
        self.others.extend(other.others);
    }

    /// Whether a generated workload is changed.
    pub fn changes_workload(&self) -> bool {
        self.set.iter().any(|setting| key_of(setting).starts_with(OF_WORKLOAD))
    }

    /// Takes back the settings whose key is not wanted.
    pub fn leave(&mut self, unwanted: impl Fn(&str) -> bool) {
        self.set.retain(|setting| !unwanted(key_of(setting)));
    }

    /// A later value of the same key wins, in its place at the end.
    fn add_setting(&mut self, setting: &str) {
        self.set.retain(|other| key_of(other) != key_of(setting));
        self.set.push(setting.to_owned());
    }

    /// Only the first `quick` requests behind those that prepare the device.
    pub fn shorten(&mut self, quick: u64) {
        let taken = match self.others.get("precondition") {
            Some(OptionValue::Text(mode)) => mode
                .split([',', '='])
                .filter_map(|part| part.trim().strip_prefix("prefix:")?.parse::<i64>().ok())
                .max(),
            _ => None,
        };
        let wanted = quick.cast_signed().saturating_add(taken.unwrap_or(0));
        let least = match self.others.get("head") {
            Some(OptionValue::Number(own)) => (*own).min(wanted),
            _ => wanted,
        };
        self.others.insert("head".to_owned(), OptionValue::Number(least));
    }

    /// As the words of a command line.
    pub fn words(&self) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for (name, value) in &self.others {
            if RESERVED.contains(&name.as_str()) {
                return Err(format!("option '{name}' cannot stand in an experiment"));
            }
            let flag = format!("--{name}");
            match value {
                OptionValue::Flag(true) => words.push(flag),
                OptionValue::Flag(false) => {}
                OptionValue::Number(number) => words.extend([flag, number.to_string()]),
                OptionValue::Text(text) => words.extend([flag, text.clone()]),
                OptionValue::List(_) if name != "set" => {
                    return Err(format!("option '{name}' takes one value"));
                }
                OptionValue::List(_) => {}
            }
        }
        for setting in &self.set {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        Ok(words)
    }

    /// As an experiment, which has no scheme and no workload yet.
    pub fn experiment(&self) -> Result<Experiment, String> {
        let known = |name: &str| name != "schemes" && Experiment::OPTIONS.contains(&name);
        let mut experiment: Experiment = read(self.values(&known)?)?;
        self.set.iter().for_each(|setting| experiment.set.push(setting));
        match experiment.device.is_empty() {
            true => Err("the following required arguments were not provided: --device".to_owned()),
            false => Ok(experiment),
        }
    }

    /// As what an inspection counts and how it reads.
    pub fn inspection(&self) -> Result<(Reading, Counting), String> {
        if !self.set.is_empty() {
            return Err(unexpected("--set"));
        }
        let of_reading = |name: &str| Reading::OPTIONS.contains(&name);
        let of_counting = |name: &str| Counting::OPTIONS.contains(&name);
        let all = self.values(&|name| of_reading(name) || of_counting(name))?;
        let (reading, counting): (Map<_, _>, Map<_, _>) =
            all.into_iter().partition(|(name, _)| of_reading(name));
        Ok((read(reading)?, read(counting)?))
    }

    /// Names and values of all but `set`, as files hold them.
    fn values(&self, known: &dyn Fn(&str) -> bool) -> Result<Map<String, Value>, String> {
        let mut values = Map::new();
        for (name, value) in &self.others {
            let is_flag = FLAGS.contains(&name.as_str());
            let value = match value {
                OptionValue::Flag(false) => continue,
                _ if !known(name) => return Err(unexpected(&format!("--{name}"))),
                OptionValue::Flag(true) if is_flag => true.into(),
                OptionValue::Flag(true) => {
                    return Err(format!(
                        "a value is required for '--{name}' but none was supplied"
                    ));
                }
                OptionValue::Number(number) if is_flag => {
                    return Err(unexpected(&number.to_string()));
                }
                OptionValue::Text(text) if is_flag => return Err(unexpected(text)),
                OptionValue::Number(number) => (*number).into(),
                OptionValue::Text(text) => text.as_str().into(),
                OptionValue::List(list) => list.clone().into(),
            };
            values.insert(name.clone(), value);
        }
        Ok(values)
    }
}

/// How settings of a generated workload begin.
pub const OF_WORKLOAD: &str = "workload.";

fn key_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default().trim()
}

fn unexpected(word: &str) -> String {
    format!("unexpected argument '{word}' found")
}

/// All options together; what is wrong with one of them is said of that one.
fn read<T: DeserializeOwned>(values: Map<String, Value>) -> Result<T, String> {
    for (name, value) in &values {
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = serde_json::from_value::<T>(Value::Object(alone)) {
            let text = error.to_string();
            // Texts name their option themselves, numbers do not.
            return Err(match text.starts_with("invalid value '") {
                true => text.replacen("': ", &format!("' for '--{name} <N>': "), 1),
                false => text,
            });
        }
    }
    serde_json::from_value(Value::Object(values)).map_err(|error| error.to_string())
}
