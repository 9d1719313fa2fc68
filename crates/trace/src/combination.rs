//! `phases:A,B,...` and `mix:A+B+...`: what the text says, before any part is opened.
//!
//! A part is any workload. One with commas, plus signs or parentheses of its own stands in
//! parentheses; a name for results may precede these: `phases:load=(write:bs=128k,span=1G),fin1`.

use crate::error::{Result, TraceError};

/// Most parts of a combination.
pub const PARTS_MAX: usize = 64;
/// Combinations within combinations, at most.
pub(crate) const DEPTH_MAX: usize = 4;

/// How parts are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One after another, on the same addresses; a part begins with the last arrival before it.
    Phases,
    /// At the same time, ordered by arrival, each on addresses of its own.
    Mix,
}

impl How {
    /// The word before the colon.
    pub fn word(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::Mix => "mix",
        }
    }

    fn separator(self) -> char {
        match self {
            Self::Phases => ',',
            Self::Mix => '+',
        }
    }
}

/// The text of a combination, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// How its parts are combined.
    pub how: How,
    /// The parts, at least one.
    pub parts: Vec<PartText>,
}

/// One part as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartText {
    /// Its name in results; its text where none was given.
    pub name: String,
    /// The workload.
    pub text: String,
    named: bool,
}

impl PartText {
    /// The part with another workload, under its old name.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let word = self.name.split(':').next().unwrap_or_default();
        let named = self.named || text != self.text && word.chars().all(simple);
        let name = if self.named { &self.name } else { word };
        Self { name: if named { name.into() } else { text.clone() }, text, named }
    }
}

impl std::fmt::Display for Combination {
    /// As it may be written, every part in parentheses.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:", self.how.word())?;
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                write!(out, "{}", self.how.separator())?;
            }
            if part.named {
                write!(out, "{}=", part.name)?;
            }
            write!(out, "({})", part.text)?;
        }
        Ok(())
    }
}

impl Combination {
    /// Takes a text apart; none where it does not begin like a combination.
    ///
    /// # Errors
    /// Unbalanced parentheses, text beside them, empty parts, illegal names, too many parts.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let Some((word, rest)) = text.split_once(':') else { return Ok(None) };
        let Some(how) = [How::Phases, How::Mix].into_iter().find(|how| how.word() == word) else {
            return Ok(None);
        };
        let pieces = split_outside(rest, how.separator())
            .ok_or_else(|| wrong("parentheses do not match", rest))?;
        let parts = pieces.into_iter().map(part).collect::<Result<Vec<_>>>()?;
        match parts.len() <= PARTS_MAX {
            true => Ok(Some(Self { how, parts })),
            false => Err(wrong("too many parts", rest)),
        }
    }
}

fn wrong(problem: &str, value: &str) -> TraceError {
    TraceError::new(problem).with_value(value.as_bytes()).with_legal(format!(
        "phases:A,B,... or mix:A+B+... with up to {PARTS_MAX} parts: a workload, (WORKLOAD) where it \
         has commas or plus signs of its own, or NAME=(WORKLOAD)"
    ))
}

/// The text between separators outside all parentheses; none where these do not match.
pub(crate) fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut pieces, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (place, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 && character == separator => {
                pieces.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    (depth == 0).then_some(pieces)
}

fn part(piece: &str) -> Result<PartText> {
    let piece = piece.trim();
    let Some((before, inside)) = piece.split_once('(') else {
        return match piece.is_empty() {
            true => Err(wrong("a part is empty", piece)),
            false => Ok(PartText { name: piece.into(), text: piece.into(), named: false }),
        };
    };
    let Some(text) = inside.strip_suffix(')').map(str::trim) else {
        return Err(wrong("there is text after ')'", piece));
    };
    if text.is_empty() {
        return Err(wrong("a part is empty", piece));
    }
    if before.is_empty() {
        return Ok(PartText { name: text.into(), text: text.into(), named: false });
    }
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match before.strip_suffix('=') {
        Some(name) if !name.is_empty() && name.chars().all(simple) => {
            Ok(PartText { name: name.into(), text: text.into(), named: true })
        }
        _ => Err(wrong("before '(' only NAME= may stand (letters, digits, _ - .)", piece)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Combination {
        Combination::parse(text).unwrap().unwrap()
    }

    fn texts(text: &str) -> Vec<(String, String)> {
        parse(text).parts.into_iter().map(|part| (part.name, part.text)).collect()
    }

    #[test]
    fn parts_are_separated_outside_parentheses_only() {
        let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect()
        };
        assert_eq!(texts("phases:a,b.spc"), own(&[("a", "a"), ("b.spc", "b.spc")]));
        assert_eq!(
            texts("phases:load=(write:bs=4k,span=1M),(mix:a+(b:c=1,d=2))"),
            own(&[("load", "write:bs=4k,span=1M"), ("mix:a+(b:c=1,d=2)", "mix:a+(b:c=1,d=2)")])
        );
        assert_eq!(texts("mix:a,b+c"), own(&[("a,b", "a,b"), ("c", "c")]));
        assert_eq!(Combination::parse("randread:span=1M").unwrap(), None);
        assert_eq!(Combination::parse("file.spc").unwrap(), None);
    }

    #[test]
    fn what_is_written_out_is_read_back_and_a_replaced_text_keeps_its_name() {
        for text in ["phases:(a),(b:c=1,d=2)", "mix:x=(a)+(b)"] {
            assert_eq!(parse(text).to_string(), text);
        }
        let part = &parse("phases:(financial:count=5)").parts[0];
        let replaced = part.with_text("randrw:count=5,span=1M".into());
        assert_eq!(replaced.name, "financial");
        let whole = Combination { how: How::Phases, parts: vec![replaced] };
        assert_eq!(whole.to_string(), "phases:financial=(randrw:count=5,span=1M)");
        assert_eq!(parse(&whole.to_string()), whole);
    }

    #[test]
    fn broken_combinations_say_what_is_legal() {
        for text in [
            "phases:",
            "phases:a,",
            "mix:a++b",
            "phases:(a",
            "phases:a)",
            "mix:(a)b",
            "mix:()",
            "phases:a b=(c)",
            "phases:=(c)",
            "phases:(a)(b)x",
        ] {
            let error = Combination::parse(text).unwrap_err().to_string();
            assert!(error.contains("NAME=(WORKLOAD)"), "{text}: {error}");
        }
    }
}
