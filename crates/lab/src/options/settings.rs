//! `--set KEY=VALUE`: settings that are overridden.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// Settings that override those of the device file and of presets, in the order in which they are
/// applied. Files of experiments hold a list of `KEY=VALUE`, or a table of keys and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<String>);

impl Settings {
    /// One more, as `KEY=VALUE`; it is read when the runs are planned.
    pub fn push(&mut self, setting: impl Into<String>) {
        self.0.push(setting.into());
    }

    /// The settings as they were given.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is among them; presets and other values may give it another value elsewhere.
    pub(crate) fn state(&self, key: &str) -> bool {
        self.0.iter().any(|text| text.trim().starts_with(key))
    }
}

impl<T: Into<String>> FromIterator<T> for Settings {
    fn from_iter<I: IntoIterator<Item = T>>(settings: I) -> Self {
        Settings(settings.into_iter().map(Into::into).collect())
    }
}

/// Keys and values of `KEY=VALUE`.
pub(crate) fn pairs(settings: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Error::usage(format!("--set '{text}' has no value; legal: KEY=VALUE"))),
    };
    settings.iter().map(pair).collect()
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListOrTable)
    }
}

struct ListOrTable;

impl<'de> Visitor<'de> for ListOrTable {
    type Value = Settings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of KEY=VALUE, or a table of keys and values")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Settings, E> {
        Ok([text].into_iter().collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Settings, A::Error> {
        let mut settings = Settings::default();
        while let Some(text) = list.next_element::<String>()? {
            settings.push(text);
        }
        Ok(settings)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Settings, A::Error> {
        let mut settings = Settings::default();
        while let Some((key, value)) = table.next_entry::<String, Entry>()? {
            value.write(&key, &mut settings);
        }
        Ok(settings)
    }
}

/// A value of a table, or a table of its own: `gc.victim = "fifo"` is a table in a table in TOML.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Group(Group),
}

impl Entry {
    fn write(&self, key: &str, settings: &mut Settings) {
        match self {
            Entry::Flag(yes) => settings.push(format!("{key}={yes}")),
            Entry::Whole(number) => settings.push(format!("{key}={number}")),
            Entry::Number(number) => settings.push(format!("{key}={number}")),
            Entry::Text(text) => settings.push(format!("{key}={text}")),
            Entry::Group(group) => {
                for (name, value) in &group.0 {
                    value.write(&format!("{key}.{name}"), settings);
                }
            }
        }
    }
}

/// Entries in the order of the file.
struct Group(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Group;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of keys and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Group, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = table.next_entry()? {
                    entries.push(entry);
                }
                Ok(Group(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_the_same_as_a_list() {
        #[derive(Deserialize)]
        struct Held {
            set: Settings,
        }
        let read = |text: &str| toml_edit::de::from_str::<Held>(text).unwrap().set;
        let list = read("set = [\"gc.victim=fifo\", \"gc.threshold=3%\", \"wear.spread=5\"]");
        let table =
            read("[set]\ngc = { victim = \"fifo\", threshold = \"3%\" }\nwear.spread = 5\n");
        assert_eq!(table, list);
        let quoted =
            read("set = { \"gc.victim\" = \"fifo\", gc.threshold = \"3%\", \"wear.spread\" = 5 }");
        assert_eq!(quoted, list);
        assert!(toml_edit::de::from_str::<Held>("set = 3").is_err());
        assert!(pairs(&["gc.victim".to_owned()]).unwrap_err().to_string().contains("KEY=VALUE"));
    }
}
