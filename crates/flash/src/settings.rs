//! Settings as keys and values: what a value is, what a group of them is, and the macros that
//! declare one.
//!
//! One table per group (the `settings!` macro) is the only place where a key exists: from it come
//! the struct, the defaults, the checks, the listing in results and the documentation. Unknown keys
//! are refused with the nearest known one. What this is not: a file reader, or a list of the groups
//! that there are. Each group stands where its owner lives, and every floor knows its own and those
//! below ([`Groups`]).

use std::fmt;

mod value;

pub use value::{Amount, Bytes, Duration, Durations, Energy, Optional, Share, Shown, Value};

/// Why a setting was refused. `Display` says what is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// No such key; the nearest known one, if any is near.
    UnknownKey {
        /// The key as given.
        key: String,
        /// The nearest legal key.
        nearest: Option<String>,
    },
    /// The key exists, the value does not fit.
    BadValue {
        /// The key.
        key: String,
        /// The value as given.
        value: String,
        /// What would have been legal.
        legal: String,
    },
    /// Settings that are legal one by one but not together.
    Conflict(String),
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::UnknownKey { key, nearest: Some(near) } => {
                write!(f, "unknown key `{key}`; the nearest known key is `{near}`")
            }
            SettingError::UnknownKey { key, nearest: None } => {
                write!(f, "unknown key `{key}`; keys are written group.key, for example gc.victim")
            }
            SettingError::BadValue { key, value, legal } => {
                write!(f, "`{key} = {value}` is not legal; legal: {legal}")
            }
            SettingError::Conflict(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SettingError {}

/// One setting as documentation and results show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Full key, `group.key`.
    pub key: String,
    /// Present value.
    pub value: Shown,
    /// Default value.
    pub default: Shown,
    /// What it means, with its unit.
    pub doc: &'static str,
    /// What is legal.
    pub legal: String,
    /// Where meaning and default come from.
    pub source: &'static str,
}

/// A group of settings under one prefix.
pub trait Group {
    /// The prefix of its keys.
    fn name(&self) -> &'static str;
    /// Every setting of the group with its present value, in the order of its table.
    fn describe(&self) -> Vec<Described>;
    /// Sets `key` (without prefix) from text.
    fn set(&mut self, key: &str, text: &str) -> Result<(), SettingError>;
}

/// Declares one group: the struct, its defaults and its table of keys.
///
/// A row reads `key: Type = default, legal(TEXT, check), source(TEXT);`, after its doc comment.
#[macro_export]
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $name:ident in $group:literal {
            $(
                $(#[doc = $doc:literal])*
                $key:ident: $type:ty = $default:expr,
                legal($legal:literal, $check:expr), source($source:literal);
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $key: $default, )* }
            }
        }

        impl $crate::settings::Group for $name {
            fn name(&self) -> &'static str {
                $group
            }

            fn describe(&self) -> Vec<$crate::settings::Described> {
                #[allow(unused_variables)]
                let default = $name::default();
                vec![ $( $crate::settings::Described {
                    key: concat!($group, ".", stringify!($key)).to_string(),
                    value: $crate::settings::Value::show(&self.$key),
                    default: $crate::settings::Value::show(&default.$key),
                    doc: concat!($($doc,)*).trim(),
                    legal: if $legal.is_empty() {
                        <$type as $crate::settings::Value>::legal()
                    } else {
                        $legal.to_string()
                    },
                    source: $source,
                }, )* ]
            }

            #[allow(unused_variables, clippy::redundant_closure_call)]
            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::settings::SettingError> {
                match key {
                    $( stringify!($key) => {
                        let refuse = || $crate::settings::SettingError::BadValue {
                            key: concat!($group, ".", stringify!($key)).to_string(),
                            value: text.to_string(),
                            legal: if $legal.is_empty() {
                                <$type as $crate::settings::Value>::legal()
                            } else {
                                $legal.to_string()
                            },
                        };
                        let value: $type =
                            $crate::settings::Value::parse(text).ok_or_else(refuse)?;
                        let check: fn(&$type) -> bool = $check;
                        if !check(&value) {
                            return Err(refuse());
                        }
                        self.$key = value;
                        Ok(())
                    } )*
                    _ => Err($crate::settings::SettingError::UnknownKey {
                        key: format!("{}.{key}", $group),
                        nearest: None,
                    }),
                }
            }
        }
    };
}

/// Declares an enum that is set by name.
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $text:literal, )* }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            /// Every choice with the name that sets it.
            pub const ALL: &'static [($name, &'static str)] =
                &[$( ($name::$variant, $text), )*];

            /// The name that sets it.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }
        }

        impl $crate::settings::Value for $name {
            fn parse(text: &str) -> Option<Self> {
                match text { $( $text => Some($name::$variant), )* _ => None }
            }
            fn show(&self) -> $crate::settings::Shown {
                $crate::settings::Shown::Text(self.name().to_string())
            }
            fn legal() -> String {
                [$( $text, )*].join(" | ")
            }
        }
    };
}

/// Several groups under one roof, whose keys are `group.key`.
pub trait Groups {
    /// The groups, in the order in which they are listed.
    fn groups(&self) -> Vec<&dyn Group>;
    /// The same, to be changed.
    fn groups_mut(&mut self) -> Vec<&mut dyn Group>;

    /// Every setting with value, default, legal range and source.
    fn describe(&self) -> Vec<Described> {
        self.groups().iter().flat_map(|group| group.describe()).collect()
    }

    /// Sets `group.key` from text.
    ///
    /// # Errors
    /// An unknown key names the nearest known one, a value that does not fit what is legal.
    fn set(&mut self, key: &str, text: &str) -> Result<(), SettingError> {
        let found = key.split_once('.').and_then(|(name, rest)| {
            let group = self.groups_mut().into_iter().find(|group| group.name() == name)?;
            Some(group.set(rest, text))
        });
        match found {
            Some(Err(SettingError::UnknownKey { .. })) | None => Err(SettingError::UnknownKey {
                key: key.to_string(),
                nearest: self.nearest_key(key),
            }),
            Some(result) => result,
        }
    }

    /// The known key most like `key`, if any is alike.
    fn nearest_key(&self, key: &str) -> Option<String> {
        let keys: Vec<String> = self.describe().into_iter().map(|known| known.key).collect();
        nearest(key, keys.iter().map(String::as_str)).map(str::to_string)
    }
}

/// The candidate most like `word`, when it is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    settings! {
        /// A group.
        pub struct Small in "small" {
            /// A number.
            number: u32 = 3, legal("1..=9", |v| (1..=9).contains(v)), source("nobody");
            /// A size.
            bytes: Bytes = Bytes(512), legal("", |_| true), source("nobody");
        }
    }

    settings! {
        /// Another one.
        pub struct Large in "large" {
            /// A number.
            number: u32 = 4, legal("", |_| true), source("nobody");
        }
    }

    #[derive(Default)]
    struct Both {
        small: Small,
        large: Large,
    }

    impl Groups for Both {
        fn groups(&self) -> Vec<&dyn Group> {
            vec![&self.small, &self.large]
        }

        fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
            vec![&mut self.small, &mut self.large]
        }
    }

    #[test]
    fn a_key_is_set_in_the_group_that_it_names() {
        let mut both = Both::default();
        both.set("large.number", "8").expect("legal");
        assert_eq!((both.small.number, both.large.number), (3, 8));
        let known: Vec<(String, Shown)> =
            both.describe().into_iter().map(|one| (one.key, one.value)).collect();
        let expected = [("small.number", 3), ("small.bytes", 512), ("large.number", 8)];
        let expected = expected.map(|(key, value)| (key.to_owned(), Shown::Integer(value)));
        assert_eq!(known, expected);
    }

    #[test]
    fn what_is_not_legal_is_refused_in_words() {
        let mut both = Both::default();
        let said = |both: &mut Both, key, text| both.set(key, text).unwrap_err().to_string();
        let legal = "`small.number = 10` is not legal; legal: 1..=9";
        assert_eq!(said(&mut both, "small.number", "10"), legal);
        let legal = said(&mut both, "small.bytes", "x");
        assert!(legal.starts_with("`small.bytes = x` is not legal; legal: a size"), "{legal}");
        let near = "unknown key `small.numbr`; the nearest known key is `small.number`";
        assert_eq!(said(&mut both, "small.numbr", "1"), near);
        let none = "unknown key `q`; keys are written group.key, for example gc.victim";
        assert_eq!(said(&mut both, "q", "1"), none);
        assert_eq!((both.small.number, both.small.bytes.0, both.large.number), (3, 512, 4));
        let conflict = SettingError::Conflict("both are set".to_owned());
        assert_eq!(conflict.to_string(), "both are set");
    }

    #[test]
    fn the_nearest_word_is_the_one_most_like_it_if_any_is() {
        let words = ["victim", "victims", "window"];
        assert_eq!(nearest("victm", words.into_iter()), Some("victim"));
        assert_eq!(nearest("victimz", words.into_iter().rev()), Some("victim"));
        assert_eq!(nearest("qqq", words.into_iter()), None);
        // Three of four letters and of six: 0.75, where more is asked for.
        assert_eq!(nearest("xbcd", ["ybcdpq"].into_iter()), None);
    }
}
