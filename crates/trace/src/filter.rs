//! `--filter`: which events of a trace count, beyond its units and its head.

use std::str::FromStr;

use ftlab_flash::request::Op;

use crate::error::{Result, TraceError, unknown_name};
use crate::number;
use crate::record::Record;
use crate::summary::DropReason;

const KEYS: [&str; 6] = ["op", "process", "action", "from", "to", "every"];

/// What the parsers of single formats look at: columns that a record does not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The action of a block-layer trace that counts (blkparse and blktrace: Q, G, I, D, C ...);
    /// none: the format's default, D.
    pub action: Option<u8>,
    /// Names or numbers of the processes that count; empty: all.
    pub processes: Vec<Vec<u8>>,
}

impl EventFilter {
    /// Does this process count, which has a number, a name, or both?
    #[inline]
    pub(crate) fn takes_process(&self, number: &[u8], name: &[u8]) -> bool {
        self.processes.is_empty()
            || self.processes.iter().any(|process| process == number || process == name)
    }
}

/// Which events of a trace count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Columns that only some formats have.
    pub events: EventFilter,
    /// Reads, writes, trims, flushes: which count, indexed by [`Op`].
    pub ops: [bool; 4],
    /// Requests before this time do not count, in nanoseconds after the first one.
    pub from_ns: u64,
    /// Requests from this time on do not count, in nanoseconds after the first one.
    pub to_ns: u64,
    /// Only the first of each so many requests counts (after all else was filtered).
    pub every: u64,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            events: EventFilter::default(),
            ops: [true; 4],
            from_ns: 0,
            to_ns: u64::MAX,
            every: 1,
        }
    }
}

impl Filter {
    /// Why a record does not count whatever its time, if it does not.
    #[inline]
    pub(crate) fn refuses(&self, record: &Record) -> Option<DropReason> {
        (!self.ops[record.op as usize]).then_some(DropReason::OpNotSelected)
    }

    /// Is there nothing to do at the time of a request?
    #[inline]
    pub(crate) fn keeps_every_time(&self) -> bool {
        self.from_ns == 0 && self.to_ns == u64::MAX && self.every == 1
    }
}

impl FromStr for Filter {
    type Err = TraceError;

    /// `key=value` with commas between them: `op=read+write`, `process=java+1234`, `action=Q`,
    /// `from=10s`, `to=2h`, `every=10`.
    fn from_str(text: &str) -> Result<Self> {
        let mut filter = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for setting in text.split(',') {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                wrong("filter without a value", setting, "key=value, with commas between filters")
            })?;
            let (key, value) = (key.trim(), value.trim());
            let known = KEYS.iter().find(|name| **name == key);
            let known = *known.ok_or_else(|| unknown_name("filter", key, &KEYS))?;
            if seen.contains(&known) {
                return Err(wrong("filter is given twice", key, "each filter once"));
            }
            seen.push(known);
            match known {
                "op" => filter.ops = ops(value)?,
                "process" => filter.events.processes = processes(value)?,
                "action" => filter.events.action = Some(action(value)?),
                "from" => filter.from_ns = duration(value)?,
                "to" => filter.to_ns = duration(value)?,
                _ => filter.every = count(value)?,
            }
        }
        if filter.from_ns >= filter.to_ns {
            return Err(wrong("filter leaves no time", text, "from before to"));
        }
        Ok(filter)
    }
}

fn wrong(problem: &str, value: &str, legal: &str) -> TraceError {
    TraceError::new(problem).with_value(value.as_bytes()).with_legal(legal)
}

fn ops(value: &str) -> Result<[bool; 4]> {
    const NAMES: [(&str, Op); 4] =
        [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];
    let mut ops = [false; 4];
    for word in value.split('+') {
        let names = NAMES.map(|(name, _)| name);
        let (_, op) = NAMES
            .iter()
            .find(|(name, _)| *name == word)
            .ok_or_else(|| unknown_name("operation", word, &names))?;
        ops[*op as usize] = true;
    }
    Ok(ops)
}

fn processes(value: &str) -> Result<Vec<Vec<u8>>> {
    let processes: Vec<Vec<u8>> = value.split('+').map(|name| name.as_bytes().to_vec()).collect();
    match processes.iter().all(|name| !name.is_empty()) {
        true => Ok(processes),
        false => {
            Err(wrong("process without a name", value, "names or numbers with + between them"))
        }
    }
}

fn action(value: &str) -> Result<u8> {
    match value.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Ok(letter.to_ascii_uppercase()),
        _ => Err(wrong("not an action", value, "one letter, such as Q, I, D or C")),
    }
}

fn count(value: &str) -> Result<u64> {
    value
        .parse()
        .ok()
        .filter(|&every| every > 0)
        .ok_or_else(|| wrong("not a step", value, "1 or more: 10 keeps every tenth request"))
}

/// A number with ns, us, ms, s, min or h behind it.
fn duration(value: &str) -> Result<u64> {
    const UNITS: [(&str, u64); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let split = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).len();
    let (digits, unit) = value.split_at(split);
    UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .and_then(|(_, scale)| number::scaled(digits.as_bytes(), *scale).ok())
        .ok_or_else(|| {
            wrong("not a time", value, "a number with ns, us, ms, s, min or h, as in 90s")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let filter: Filter =
            "op=read+trim,process=java+77,action=q,from=1.5s,to=2min,every=10".parse().unwrap();
        assert_eq!(filter.ops, [true, false, true, false]);
        assert_eq!(filter.events.action, Some(b'Q'));
        assert!(filter.events.takes_process(b"77", b"x"));
        assert!(filter.events.takes_process(b"1", b"java"));
        assert!(!filter.events.takes_process(b"1", b"x"));
        assert_eq!((filter.from_ns, filter.to_ns), (1_500_000_000, 120_000_000_000));
        assert_eq!(filter.every, 10);
        assert!(!filter.keeps_every_time() && Filter::default().keeps_every_time());
    }

    #[test]
    fn bad_filters_say_what_is_legal() {
        for (text, says) in [
            ("", "key=value"),
            ("opp=read", "did you mean 'op'"),
            ("op=reed", "did you mean 'read'"),
            ("op=read,op=write", "each filter once"),
            ("process=a+", "with + between"),
            ("action=DC", "one letter"),
            ("from=10", "a number with ns"),
            ("from=2s,to=1s", "from before to"),
            ("every=0", "1 or more"),
        ] {
            let error = text.parse::<Filter>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
