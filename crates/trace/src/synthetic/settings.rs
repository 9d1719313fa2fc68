//! The settings of a spec as they are written: keys and values, before anything is made of them.

use crate::error::{Result, TraceError, unknown_name};
use crate::number::integer;

/// Every key of an inline spec.
pub(super) const KEYS: [&str; 27] = [
    "bs",
    "bssplit",
    "blockalign",
    "span",
    "offset",
    "count",
    "io_size",
    "rwmixread",
    "random_distribution",
    "scatter",
    "reshuffle",
    "stack",
    "stack_unit",
    "seq_fraction",
    "streams",
    "wrap",
    "passes",
    "gaps",
    "gap_run",
    "rate_iops",
    "rate_process",
    "iodepth",
    "hint",
    "dedupe_percentage",
    "dedupe_values",
    "dedupe_distribution",
    "seed",
];

/// The settings as written, each at most once.
pub(super) struct Settings<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Settings<'a> {
    /// Takes `key=value,key=value` apart, with keys of `legal` only.
    ///
    /// # Errors
    /// Settings without a value, unknown keys, with the nearest; keys given twice.
    pub(super) fn parse(text: &'a str, legal: &[&'static str]) -> Result<Self> {
        let mut settings: Vec<(&'static str, &'a str)> = Vec::new();
        for setting in text.split(',').filter(|_| !text.is_empty()) {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                wrong("setting has no value", setting, "key=value, with commas between settings")
            })?;
            let key = legal
                .iter()
                .find(|name| **name == key.trim())
                .ok_or_else(|| unknown_name("key of a synthetic workload", key.trim(), legal))?;
            if settings.iter().any(|(known, _)| known == key) {
                return Err(wrong("key is given twice", key, "each key once"));
            }
            settings.push((key, value.trim()));
        }
        Ok(Self(settings))
    }

    /// The value of a key, as it is written.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Refuses a key that is given, `unless` it has an effect; `why` says with what it has one.
    pub(super) fn refuse(&self, key: &str, unless: bool, why: &str) -> Result<()> {
        match self.get(key) {
            Some(value) if !unless => {
                Err(wrong(&format!("{key} has no effect here"), value, &format!("{key} {why}")))
            }
            _ => Ok(()),
        }
    }
}

/// An integer of at least `least`; `default` where the key is not given.
pub(super) fn number(settings: &Settings<'_>, key: &str, default: u64, least: u64) -> Result<u64> {
    let Some(text) = settings.get(key) else {
        return Ok(default);
    };
    integer(text.as_bytes()).ok().filter(|number| *number >= least).ok_or_else(|| {
        wrong(&format!("{key} is illegal"), text, &format!("an integer of at least {least}"))
    })
}

/// An error about a setting.
pub(super) fn wrong(problem: &str, value: &str, legal: &str) -> TraceError {
    TraceError::new(problem).with_value(value.as_bytes()).with_legal(legal)
}
