//! Options as text: what `FromStr` reads and `Display` writes is what files of experiments hold.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// A value that another crate reads from text, with that text: it is told back as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<T> {
    text: String,
    value: T,
}

impl<T> Written<T> {
    /// A value whose text is known to mean it.
    pub(crate) fn known(text: &str, value: T) -> Self {
        Written { text: text.to_owned(), value }
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: FromStr> FromStr for Written<T>
where
    Error: From<T::Err>,
{
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(Written { text: text.to_owned(), value: text.parse()? })
    }
}

impl<T> fmt::Display for Written<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Written<T>
where
    Error: From<T::Err>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// Whether a value that may have been built without text could have been read from it.
pub(crate) fn legal<T: FromStr<Err = Error> + fmt::Display>(value: &T) -> Result<()> {
    value.to_string().parse::<T>().map(drop)
}

/// Reads a text or a number, which is taken as its text.
pub(crate) fn read<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err = Error>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err = Error>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Serde as text, for types with `FromStr` and `Display`.
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                $crate::options::text::read(deserializer)
            }
        }
    };
}
pub(crate) use as_text;

/// Whole numbers, which files may also hold as text; those beyond what TOML knows are written so.
pub(crate) mod whole {
    use super::*;

    /// A number as `FromStr` with our error.
    struct Whole(u64);

    impl FromStr for Whole {
        type Err = Error;

        fn from_str(text: &str) -> Result<Self> {
            let wrong = |why| Error::usage(format!("invalid value '{text}': {why}"));
            text.parse().map(Whole).map_err(wrong)
        }
    }

    pub(crate) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(*number) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.collect_str(number),
        }
    }

    impl<'de> Deserialize<'de> for Whole {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            read(deserializer)
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Whole::deserialize(deserializer).map(|Whole(number)| number)
    }

    /// The same of a number that may be absent.
    pub(crate) mod optional {
        use super::*;

        pub(crate) fn serialize<S: Serializer>(
            number: &Option<u64>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match number {
                Some(number) => super::serialize(number, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<u64>, D::Error> {
            Option::deserialize(deserializer).map(|read| read.map(|Whole(number)| number))
        }
    }
}
/// A word as a shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
