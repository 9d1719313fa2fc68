//! The one error of this crate: which file, which line, what was found there and what is legal.

use std::fmt;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, TraceError>;

/// Bad input, named precisely enough to be repaired without looking at our source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    file: Option<String>,
    line: Option<u64>,
    problem: String,
    value: Option<String>,
    legal: Option<String>,
}

/// Longest piece of a trace that an error message repeats, in bytes.
const VALUE_BYTES_MAX: usize = 120;

impl TraceError {
    /// An error that says only what is wrong; the rest is added by the `with_` and `at` calls.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(Box::new(Details {
            file: None,
            line: None,
            problem: problem.into(),
            value: None,
            legal: None,
        }))
    }

    /// Names the file, and the line (counted from 1) where there is one.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: Option<u64>) -> Self {
        self.0.file = Some(file.into());
        self.0.line = line;
        self
    }

    /// Says at which byte of the (decompressed) file a record begins.
    #[must_use]
    pub(crate) fn at_byte(mut self, byte: u64) -> Self {
        self.0.problem += &format!(", in the record at byte {byte}");
        self
    }

    /// Repeats the offending value, shortened and made printable.
    #[must_use]
    pub fn with_value(mut self, value: &[u8]) -> Self {
        self.0.value = Some(printable(value));
        self
    }

    /// Says what would have been legal.
    #[must_use]
    pub fn with_legal(mut self, legal: impl Into<String>) -> Self {
        self.0.legal = Some(legal.into());
        self
    }

    /// Place, problem and value, without what would have been legal.
    pub(crate) fn what_is_wrong(mut self) -> String {
        self.0.legal = None;
        self.to_string()
    }

    /// The file, as the user wrote it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The line, counted from 1 in the decompressed text.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// What is wrong, in words.
    pub fn problem(&self) -> &str {
        &self.0.problem
    }

    /// The offending value, printable and shortened.
    pub fn value(&self) -> Option<&str> {
        self.0.value.as_deref()
    }

    /// What is legal instead.
    pub fn legal(&self) -> Option<&str> {
        self.0.legal.as_deref()
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.0;
        match (&details.file, details.line) {
            (Some(file), Some(line)) => write!(out, "{file}:{line}: ")?,
            (Some(file), None) => write!(out, "{file}: ")?,
            (None, _) => {}
        }
        write!(out, "{}", details.problem)?;
        if let Some(value) = &details.value {
            write!(out, ": '{value}'")?;
        }
        if let Some(legal) = &details.legal {
            write!(out, "; legal: {legal}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TraceError {}

fn printable(value: &[u8]) -> String {
    let shown = &value[..value.len().min(VALUE_BYTES_MAX)];
    let mut text: String = shown.escape_ascii().to_string();
    if shown.len() < value.len() {
        text.push_str("...");
    }
    text
}

/// The legal name nearest to a misspelt one, if any is near.
pub(crate) fn nearest<'a>(
    wrong: &str,
    legal: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    legal
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(wrong.len()).div_ceil(2))
        .map(|(_, name)| name)
}

/// The error for a name that is in no table: the nearest legal name, then all of them.
pub(crate) fn unknown_name(what: &str, wrong: &str, legal: &[&str]) -> TraceError {
    let hint = nearest(wrong, legal.iter().copied())
        .map(|name| format!(" (did you mean '{name}'?)"))
        .unwrap_or_default();
    TraceError::new(format!("unknown {what}{hint}"))
        .with_value(wrong.as_bytes())
        .with_legal(legal.join(", "))
}
