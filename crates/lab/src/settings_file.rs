//! Strict TOML: sections are groups of settings, values are text with a unit, numbers or booleans.
//! Whatever is not known is an error that names file and line.

use ftlab_engine::config::Config;
use toml_edit::{Document, Item, Table, Value};

use crate::error::{Error, Result};

/// A parsed file.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// Its name, for messages.
    pub file: String,
    /// Keys before the first section, with their texts.
    pub head: Vec<(String, String)>,
    /// Settings in the order of the file.
    pub settings: Vec<Setting>,
}

/// One setting of a file.
#[derive(Clone, Debug)]
pub struct Setting {
    /// `group.key`.
    pub key: String,
    /// The value as text.
    pub text: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// Where things stand in a text.
struct Places<'a> {
    file: &'a str,
    text: &'a str,
}

impl Places<'_> {
    fn line(&self, span: Option<std::ops::Range<usize>>) -> usize {
        let end = span.map_or(0, |span| span.start.min(self.text.len()));
        self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    fn error(&self, line: usize, message: &str) -> Error {
        Error::usage(format!("{}:{line}: {message}", self.file))
    }
}

impl SettingsFile {
    /// Parses `text`; `head` names the keys that may stand before the first section.
    pub fn parse(file: &str, text: &str, head: &[&str]) -> Result<Self> {
        let places = Places { file, text };
        let document = Document::parse(text)
            .map_err(|error| places.error(places.line(error.span()), error.message()))?;
        let mut parsed =
            SettingsFile { file: file.to_owned(), head: Vec::new(), settings: Vec::new() };
        for (name, item) in document.as_table() {
            let line = places.line(key_span(document.as_table(), name));
            match item {
                Item::Table(section) => parsed.section(&places, name, section)?,
                Item::Value(value) => {
                    if !head.contains(&name) {
                        let legal = format!("{} or sections such as [device]", head.join(", "));
                        let unknown = Error::unknown("key", name, head);
                        return Err(places.error(line, &format!("{unknown} ({legal})")));
                    }
                    let text = scalar(value).ok_or_else(|| places.error(line, NOT_SCALAR))?;
                    parsed.head.push((name.to_owned(), text));
                }
                _ => return Err(places.error(line, "arrays of tables have no place here")),
            }
        }
        Ok(parsed)
    }

    fn section(&mut self, places: &Places<'_>, group: &str, section: &Table) -> Result<()> {
        for (name, item) in section {
            let line = places.line(key_span(section, name));
            let text = item
                .as_value()
                .and_then(scalar)
                .ok_or_else(|| places.error(line, &format!("{group}.{name}: {NOT_SCALAR}")))?;
            self.settings.push(Setting { key: format!("{group}.{name}"), text, line });
        }
        Ok(())
    }

    /// The text of a key before the first section.
    pub fn head(&self, key: &str) -> Option<&str> {
        self.head.iter().find(|(name, _)| name == key).map(|(_, text)| text.as_str())
    }

    /// Sets everything; the first illegal setting is an error with its line.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        for Setting { key, text, line } in &self.settings {
            config
                .set(key, text)
                .map_err(|error| Error::usage(format!("{}:{line}: {error}", self.file)))?;
        }
        Ok(())
    }
}

const NOT_SCALAR: &str = "the value must be text with its unit, a number, true or false";

fn key_span(table: &Table, name: &str) -> Option<std::ops::Range<usize>> {
    table.get_key_value(name).and_then(|(key, _)| key.span())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        Value::Boolean(yes) => Some(yes.value().to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let parsed = SettingsFile::parse("d.toml", text, &["about"]);
        let applied = parsed.and_then(|file| file.apply(&mut Config::default()));
        applied.unwrap_err().to_string()
    }

    #[test]
    fn values_reach_the_configuration_with_their_units() {
        let text = "about = \"x\"\n[timing]\nread = \"25us\"\n[device]\ndies = 2\n";
        let file = SettingsFile::parse("d.toml", text, &["about"]).unwrap();
        let mut config = Config::default();
        file.apply(&mut config).unwrap();
        assert_eq!((config.timing.read.0, config.device.dies), (25_000, 2));
        assert_eq!(file.head("about"), Some("x"));
    }

    #[test]
    fn whatever_is_not_known_is_refused_with_file_line_and_nearest_key() {
        let unknown = refusal("[device]\ndies = 2\nplains = 4\n");
        assert!(
            unknown.starts_with("d.toml:3: ") && unknown.contains("device.planes"),
            "{unknown}"
        );
        let no_unit = refusal("[timing]\nread = 25\n");
        assert!(no_unit.starts_with("d.toml:2: ") && no_unit.contains("us"), "{no_unit}");
        let head = refusal("\nabut = \"x\"\n");
        assert!(head.starts_with("d.toml:2: ") && head.contains("'about'"), "{head}");
        let list = refusal("[device]\n\ndies = [1]\n");
        assert!(list.starts_with("d.toml:3: device.dies"), "{list}");
        let syntax = refusal("[device]\ndies = = 1\n");
        assert!(syntax.starts_with("d.toml:2: "), "{syntax}");
        let twice = refusal("[device]\ndies = 1\ndies = 2\n");
        assert!(twice.starts_with("d.toml:3: "), "{twice}");
    }
}
