//! Workload files: a named inline spec, and for a stand-in what it stands for: every published
//! number of its one source with the tolerance it is held to, every choice with its reason, and
//! what was published but is no property of a workload.

use ftlab_flash::request::Op;
use toml_edit::{Document, Item, Table, Value};

use crate::digest;
use crate::error::{Result, TraceError, nearest};
use crate::statistics::Statistic;
use crate::synthetic::{BlendText, Model, Synthetic, Twin, from_table};
use crate::workload::Workload;

/// A workload file.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadFile {
    /// What it is, in a line.
    pub about: String,
    /// Where its numbers come from.
    pub source: String,
    /// The inline spec.
    pub spec: String,
    /// The recorded trace that it stands for.
    pub real: RealTrace,
    /// What it was fitted to; empty for a workload that stands for nothing.
    pub published: Vec<Published>,
    /// Keys of the spec that no published number decides, each with the reason for its value.
    pub chosen: Vec<(String, String)>,
    /// What the source prints about the trace and the spec does not follow, with the reason.
    pub unfitted: Vec<(String, String)>,
    /// What the source measured under a scheme. No part of any fit.
    pub reported: Vec<Reported>,
    /// What the requests are made from, where the spec is that of a twin.
    pub twin: Option<Box<Model>>,
    /// What the twin was learned from, and how far it is from that: key and text.
    pub learned: Vec<(String, String)>,
}

/// The recorded trace behind a stand-in, for users who have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RealTrace {
    /// Name of the public file without the suffix of its compression; empty where none is known.
    pub file: String,
    /// How many requests it has; none where that is not known.
    pub requests: Option<u64>,
    /// How it begins, as [`Self::fingerprint_of`] tells it; none where that is not known.
    pub fingerprint: Option<String>,
    /// What to know when it is used instead, such as that the source took a part of it.
    pub note: String,
}

impl RealTrace {
    /// Requests that a fingerprint is taken of.
    pub const FINGERPRINT_REQUESTS: usize = 900;

    /// SHA-256 over operation and size of the first requests: the same in every format, whatever a
    /// converter made of units, addresses and the last digits of times.
    ///
    /// # Errors
    /// Those of the records.
    pub fn fingerprint_of(workload: &Workload) -> Result<String> {
        let mut text = String::new();
        for record in workload.records()?.take(Self::FINGERPRINT_REQUESTS) {
            let record = record?;
            let op = if record.op == Op::Read { 'r' } else { 'w' };
            text.push_str(&format!("{op} {}\n", record.size_bytes));
        }
        Ok(digest::of_text(&text))
    }
}

/// A published number that the generator was fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// What it is a number of.
    pub statistic: Statistic,
    /// As published, in the statistic's unit.
    pub value: f64,
    /// How far what is generated may lie from it, in the same unit.
    pub tolerance: f64,
    /// Table or section of the source.
    pub from: String,
    /// Why this tolerance, and how the number is understood where the source leaves that open.
    pub why: String,
    /// The keys of the spec that it decides.
    pub keys: Vec<String>,
}

/// A number that was measured under a scheme: shown beside what is measured here, never fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// Its name, the unit last.
    pub name: String,
    /// As published.
    pub value: f64,
    /// Table or section of the source.
    pub from: String,
    /// Under which scheme and memory.
    pub under: String,
}

const HEAD: [&str; 6] = ["about", "source", "spec", "real_file", "real_fingerprint", "real_note"];
/// The only number among the keys before the first section.
const REAL_REQUESTS: &str = "real_requests";
const SECTIONS: [&str; 6] = ["published", "chosen", "unfitted", "reported", "twin", "learned"];
const LEARNED: [&str; 7] =
    ["name", "sha256", "requests", "left_out", "options", "columns", "statistics"];
const PUBLISHED: [&str; 5] = ["value", "tolerance", "from", "why", "keys"];
const REPORTED: [&str; 3] = ["value", "from", "under"];

impl WorkloadFile {
    /// Is it fitted to a published trace?
    pub fn is_stand_in(&self) -> bool {
        !self.published.is_empty()
    }

    /// Was it learned from a trace?
    pub fn is_twin(&self) -> bool {
        self.spec.starts_with("twin:")
    }

    /// Reads the content of a workload file; `file` is its name in messages.
    ///
    /// # Errors
    /// What is not TOML, unknown keys with the nearest legal one, missing keys, illegal specs, and
    /// keys of a stand-in's spec that are neither published nor chosen, or both.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let reader = Reader { file, text };
        let document = Document::parse(text).map_err(|error| {
            TraceError::new(error.message()).at(file, Some(reader.line(error.span())))
        })?;
        let mut read = Self {
            about: String::new(),
            source: String::new(),
            spec: String::new(),
            real: RealTrace::default(),
            published: Vec::new(),
            chosen: Vec::new(),
            unfitted: Vec::new(),
            reported: Vec::new(),
            twin: None,
            learned: Vec::new(),
        };
        for (key, item) in document.as_table() {
            reader.take(&mut read, document.as_table(), key, item)?;
        }
        if read.spec.is_empty() {
            return Err(TraceError::new("the key 'spec' is missing").at(file, None));
        }
        // A capacity of 0 is "not known": shares of the device are for the run to judge.
        let in_spec = |error: TraceError| TraceError::new(format!("spec: {error}")).at(file, None);
        match &read.twin {
            Some(model) if read.is_twin() => {
                Twin::with_model(&read.spec, (**model).clone()).map_err(in_spec)?;
            }
            None if !read.is_twin() && !read.spec.contains('%') => {
                Synthetic::parse(&read.spec, 0).map_err(in_spec)?;
            }
            None if !read.is_twin() => {}
            _ => {
                let problem = "[twin] and a spec twin:count=N belong together";
                return Err(TraceError::new(problem).at(file, None));
            }
        }
        if read.is_stand_in() {
            read.account_for_keys(file)?;
        }
        Ok(read)
    }

    /// Every key of the spec has one origin, and every origin has its key.
    fn account_for_keys(&self, file: &str) -> Result<()> {
        let wrong = |key: &str, problem: &str| {
            let legal = "each key of the spec under [chosen], or in `keys` of what was published";
            Err(TraceError::new(problem)
                .with_value(key.as_bytes())
                .with_legal(legal)
                .at(file, None))
        };
        let (mode, known) = self.keys_of_spec()?;
        let published =
            |key: &str| self.published.iter().any(|one| one.keys.iter().any(|own| own == key));
        let chosen = |key: &str| self.chosen.iter().any(|(own, _)| own == key);
        for key in &known {
            match (published(key), chosen(key)) {
                (false, false) if *key != mode => {
                    return wrong(key, "a key of the spec has no origin");
                }
                (true, true) => return wrong(key, "a key of the spec has two origins"),
                _ => {}
            }
        }
        let origins = self.published.iter().flat_map(|one| &one.keys);
        for key in origins.chain(self.chosen.iter().map(|(key, _)| key)) {
            if !known.contains(key) {
                return wrong(key, "the spec has no such key");
            }
        }
        Ok(())
    }
}

impl WorkloadFile {
    /// The mode of the spec, and its keys with the mode among them; those of the parts of a blend
    /// are `part1_bs` and so on, their shares together `shares`.
    fn keys_of_spec(&self) -> Result<(String, Vec<String>)> {
        let keys = |settings: &str, before: &str| -> Vec<String> {
            let key = |one: &str| Some(format!("{before}{}", one.split_once('=')?.0.trim()));
            settings.split(',').filter_map(key).collect()
        };
        let Some(blend) = BlendText::parse(&self.spec)? else {
            let (mode, settings) = self.spec.split_once(':').unwrap_or((&self.spec, ""));
            let mut known = keys(settings, "");
            known.push(mode.to_owned());
            return Ok((mode.to_owned(), known));
        };
        let mut known = keys(&blend.settings, "");
        known.extend(["blend".to_owned(), "shares".to_owned()]);
        for (index, (_, part)) in blend.parts.iter().enumerate() {
            let settings = part.split_once(':').map_or("", |(_, settings)| settings);
            known.extend(keys(settings, &format!("part{}_", index + 1)));
        }
        Ok(("blend".to_owned(), known))
    }
}

/// Where things stand in a text.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn line(&self, span: Option<std::ops::Range<usize>>) -> u64 {
        let end = span.map_or(0, |span| span.start.min(self.text.len()));
        self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1
    }

    fn line_of(&self, table: &Table, key: &str) -> u64 {
        self.line(table.get_key_value(key).and_then(|(key, _)| key.span()))
    }

    fn wrong(&self, line: u64, problem: impl Into<String>) -> TraceError {
        TraceError::new(problem).at(self.file, Some(line))
    }

    fn unknown(&self, line: u64, key: &str, legal: &[&str]) -> TraceError {
        let near = nearest(key, legal.iter().copied())
            .map(|name| format!(" (did you mean '{name}'?)"))
            .unwrap_or_default();
        self.wrong(line, format!("unknown key{near}"))
            .with_value(key.as_bytes())
            .with_legal(legal.join(", "))
    }

    /// One key before the first section, or one section.
    fn take(&self, into: &mut WorkloadFile, top: &Table, key: &str, item: &Item) -> Result<()> {
        let line = self.line_of(top, key);
        if let Some(place) = HEAD.iter().position(|name| *name == key) {
            let text = self.text_of(line, key, item)?;
            match place {
                0 => into.about = text,
                1 => into.source = text,
                2 => into.spec = text,
                3 => into.real.file = text,
                4 => into.real.fingerprint = Some(text),
                _ => into.real.note = text,
            }
            return Ok(());
        }
        if key == REAL_REQUESTS {
            into.real.requests = Some(self.requests(line, item)?);
            return Ok(());
        }
        if !SECTIONS.contains(&key) {
            let legal = [&HEAD[..], &[REAL_REQUESTS], &SECTIONS[..]].concat();
            return Err(self.unknown(line, key, &legal));
        }
        let section = item
            .as_table()
            .ok_or_else(|| self.wrong(line, format!("'{key}' is a section: write [{key}]")))?;
        if key == "twin" {
            let model = from_table(section).map_err(|error| self.wrong(line, error.to_string()))?;
            into.twin = Some(Box::new(model));
            return Ok(());
        }
        for (name, item) in section {
            let line = self.line_of(section, name);
            match key {
                "learned" if LEARNED.contains(&name) => {
                    into.learned.push((name.into(), item.to_string().trim().to_owned()));
                }
                "learned" => return Err(self.unknown(line, name, &LEARNED)),
                "chosen" => into.chosen.push((name.into(), self.text_of(line, name, item)?)),
                "unfitted" => into.unfitted.push((name.into(), self.text_of(line, name, item)?)),
                "published" => into.published.push(self.published(line, name, item)?),
                _ => into.reported.push(self.reported(line, name, item)?),
            }
        }
        Ok(())
    }

    fn published(&self, line: u64, name: &str, item: &Item) -> Result<Published> {
        let statistic = Statistic::find(name).map_err(|error| error.at(self.file, Some(line)))?;
        let table = self.table(line, name, item, &PUBLISHED)?;
        let one = Published {
            statistic,
            value: self.number(line, table, "value")?,
            tolerance: self.number(line, table, "tolerance")?,
            from: self.required(line, table, "from")?,
            why: self.required(line, table, "why")?,
            keys: self
                .required(line, table, "keys")?
                .split(',')
                .map(|key| key.trim().to_owned())
                .collect(),
        };
        match one.tolerance >= 0.0 && one.tolerance.is_finite() && one.value.is_finite() {
            true => Ok(one),
            false => Err(self.wrong(line, format!("{name}: value and tolerance are no numbers"))),
        }
    }

    fn reported(&self, line: u64, name: &str, item: &Item) -> Result<Reported> {
        let table = self.table(line, name, item, &REPORTED)?;
        Ok(Reported {
            name: name.into(),
            value: self.number(line, table, "value")?,
            from: self.required(line, table, "from")?,
            under: self.required(line, table, "under")?,
        })
    }

    /// A table with no other keys than `legal`.
    fn table<'t>(
        &self,
        line: u64,
        name: &str,
        item: &'t Item,
        legal: &[&str],
    ) -> Result<&'t Table> {
        let table = item.as_table().ok_or_else(|| {
            self.wrong(line, format!("'{name}' is a section with {}", legal.join(", ")))
        })?;
        for (key, _) in table {
            if !legal.contains(&key) {
                return Err(self.unknown(self.line_of(table, key), key, legal));
            }
        }
        Ok(table)
    }

    fn required(&self, line: u64, table: &Table, key: &str) -> Result<String> {
        match table.get(key) {
            Some(item) => self.text_of(self.line_of(table, key), key, item),
            None => Err(self.wrong(line, format!("the key '{key}' is missing"))),
        }
    }

    fn number(&self, line: u64, table: &Table, key: &str) -> Result<f64> {
        let missing = || self.wrong(line, format!("the key '{key}' is missing or no number"));
        match table.get(key).and_then(Item::as_value) {
            Some(Value::Integer(number)) => Ok(*number.value() as f64),
            Some(Value::Float(number)) => Ok(*number.value()),
            _ => Err(missing()),
        }
    }

    fn requests(&self, line: u64, item: &Item) -> Result<u64> {
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
        number.filter(|&requests| requests > 0).ok_or_else(|| {
            self.wrong(line, format!("'{REAL_REQUESTS}' must be a whole number from 1 on"))
        })
    }

    fn text_of(&self, line: u64, key: &str, item: &Item) -> Result<String> {
        let text = item.as_str().map(str::to_owned).filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong(line, format!("'{key}' must be text in quotes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "about = \"a\"\nsource = \"s\"\nspec = \"randread:bs=4k,span=1M\"\n";

    fn refusal(text: &str) -> String {
        WorkloadFile::parse("w.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_key_names_its_line_and_the_nearest() {
        let message = refusal("about = \"x\"\nspecs = \"randread\"\n");
        assert!(message.starts_with("w.toml:2: ") && message.contains("'spec'"), "{message}");
        let message = refusal(&format!("{HEAD}[publshed]\n"));
        assert!(message.starts_with("w.toml:4: ") && message.contains("'published'"), "{message}");
        let message = refusal(&format!("{HEAD}[published.read_percnt]\nvalue = 1\n"));
        assert!(message.contains("'read_percent'"), "{message}");
        let message = refusal(&format!("{HEAD}[reported.x]\nvalue = 1\nfrm = \"t\"\n"));
        assert!(message.starts_with("w.toml:6: ") && message.contains("'from'"), "{message}");
        assert!(refusal("about = \"x\"\n").contains("'spec' is missing"));
        for number in ["0", "-1", "1.5", "\"9\""] {
            let message = refusal(&format!("real_requests = {number}\n{HEAD}"));
            assert!(
                message.starts_with("w.toml:1: ") && message.contains("from 1 on"),
                "{message}"
            );
        }
    }

    #[test]
    fn every_key_of_a_stand_in_has_one_origin() {
        let published = "[published.read_percent]\nvalue = 100\ntolerance = 0\nfrom = \"t\"\n\
                         why = \"w\"\nkeys = \"randread\"\n";
        let message = refusal(&format!("{HEAD}{published}"));
        assert!(message.contains("no origin") && message.contains("'bs'"), "{message}");
        let chosen = "[chosen]\nbs = \"r\"\nspan = \"r\"\n";
        let read = WorkloadFile::parse("w", &format!("{HEAD}{published}{chosen}")).unwrap();
        assert!(read.is_stand_in());
        let message = refusal(&format!("{HEAD}{published}{chosen}seed = \"r\"\n"));
        assert!(message.contains("no such key") && message.contains("'seed'"), "{message}");
        let twice = published.replace("randread\"\n", "randread, bs\"\n");
        assert!(refusal(&format!("{HEAD}{twice}{chosen}")).contains("two origins"));
    }
}
