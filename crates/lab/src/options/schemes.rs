//! `--scheme` and `--schemes`: which schemes are run.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Schemes by name, with presets if wanted (`dftl:gtd`); `all` and `family:NAME` stand for several.
/// From a text with commas between them: `"dftl,fast".into()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schemes(Vec<String>);

impl Schemes {
    /// Whether it is a single scheme, by name.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self.0.as_slice(), [name] if name != "all" && !name.starts_with("family:"))
    }

    /// The names as they were given, without the blanks around them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl From<&str> for Schemes {
    fn from(text: &str) -> Self {
        Schemes(text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

impl fmt::Display for Schemes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl Serialize for Schemes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Schemes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Names)
    }
}

/// A text, or a list of texts.
struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Schemes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of schemes, in a text with commas between them or in a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Schemes, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Schemes, A::Error> {
        let mut names: Vec<String> = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            names.extend(Schemes::from(text.as_str()).0);
        }
        Ok(Schemes(names))
    }
}
