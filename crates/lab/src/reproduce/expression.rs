//! The form of an expression: what it calls and what it does with it, for telling it in words.
//!
//! minijinja evaluates expressions and does not show their parts; this reads the part of its
//! language that experiments use, and gives up on anything else.

use std::ops::Range;

/// An expression, and where it stands in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub form: Form,
    pub span: Range<usize>,
}

/// What it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Number,
    Text(String),
    Name(String),
    List(Vec<Part>),
    /// Name and what stands in its parentheses, without what is named there.
    Call(String, Vec<Part>),
    /// `of.name` and `of['name']`.
    Member(Box<Part>, String),
    /// `of[place]`, and `of[from:to]` without a place.
    Item(Box<Part>, Option<Box<Part>>),
    Filter(Box<Part>, String, Vec<Part>),
    Unary(&'static str, Box<Part>),
    Binary(&'static str, Box<Part>, Box<Part>),
    /// Value, condition, other value.
    If(Box<Part>, Box<Part>, Option<Box<Part>>),
    /// Subject and what is tested.
    Test(Box<Part>, String),
}

impl Part {
    /// What stands directly within it.
    pub fn within(&self) -> Vec<&Part> {
        match &self.form {
            Form::Number | Form::Text(_) | Form::Name(_) => Vec::new(),
            Form::List(parts) | Form::Call(_, parts) => parts.iter().collect(),
            Form::Member(of, _) | Form::Unary(_, of) | Form::Test(of, _) => vec![of],
            Form::Item(of, place) => std::iter::once(of.as_ref()).chain(place.as_deref()).collect(),
            Form::Filter(of, _, more) => std::iter::once(of.as_ref()).chain(more).collect(),
            Form::Binary(_, left, right) => vec![left, right],
            Form::If(value, condition, other) => {
                [value.as_ref(), condition].into_iter().chain(other.as_deref()).collect()
            }
        }
    }
}

/// Reads an expression; none where it is none of the known forms.
pub fn read(text: &str) -> Option<Part> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0 };
    let whole = reader.conditional()?;
    (reader.at == reader.tokens.len()).then_some(whole)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number,
    Text(String),
    Word(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 24] = [
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "(", ")", "[", "]",
    ".", ",", "|", ":", "=", "{",
];

fn tokens(text: &str) -> Option<Vec<(Token, Range<usize>)>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let from = text.len() - rest.len();
        let (token, length) = match first {
            '0'..='9' => (Token::Number, number_length(rest)),
            '\'' | '"' => {
                let inner = rest[1..].find(first)?;
                let quoted = &rest[1..=inner];
                if quoted.contains('\\') {
                    return None;
                }
                (Token::Text(quoted.to_owned()), inner + 2)
            }
            _ if first.is_alphabetic() || first == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let length = end.unwrap_or(rest.len());
                (Token::Word(rest[..length].to_owned()), length)
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
                (Token::Sign(sign), sign.len())
            }
        };
        tokens.push((token, from..from + length));
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

fn number_length(text: &str) -> usize {
    let mut length = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(length) {
        let exponent = matches!(byte, b'-' | b'+') && matches!(bytes[length - 1], b'e' | b'E');
        let point = *byte == b'.' && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_digit() || matches!(byte, b'e' | b'E') || exponent || point) {
            break;
        }
        length += 1;
    }
    length
}

struct Reader {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
}

/// What binds equally tightly, from the loosest on, as minijinja has it.
const LEVELS: [&[&str]; 5] = [
    &["==", "!=", "<=", ">=", "<", ">", "in"],
    &["+", "-"],
    &["~"],
    &["*", "//", "/", "%"],
    &["**"],
];

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn take(&mut self) -> Option<(Token, Range<usize>)> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn is(&self, wanted: &str) -> bool {
        match self.peek() {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Word(word)) => word == wanted,
            _ => false,
        }
    }

    fn skip(&mut self, wanted: &str) -> bool {
        let is = self.is(wanted);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, wanted: &str) -> Option<()> {
        self.skip(wanted).then_some(())
    }

    /// From `from` to the last token that was taken.
    fn span(&self, from: usize) -> Range<usize> {
        from..self.tokens[self.at - 1].1.end
    }

    fn begins(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |(_, span)| span.start)
    }

    fn conditional(&mut self) -> Option<Part> {
        let from = self.begins();
        let mut part = self.either()?;
        while self.skip("if") {
            let condition = Box::new(self.either()?);
            let other = match self.skip("else") {
                true => Some(Box::new(self.conditional()?)),
                false => None,
            };
            let form = Form::If(Box::new(part), condition, other);
            part = Part { form, span: self.span(from) };
        }
        Some(part)
    }

    fn either(&mut self) -> Option<Part> {
        self.joined("or", Reader::both)
    }

    fn both(&mut self) -> Option<Part> {
        self.joined("and", Reader::negated)
    }

    fn joined(
        &mut self,
        word: &'static str,
        inner: fn(&mut Reader) -> Option<Part>,
    ) -> Option<Part> {
        let from = self.begins();
        let mut left = inner(self)?;
        while self.skip(word) {
            let right = inner(self)?;
            let form = Form::Binary(word, Box::new(left), Box::new(right));
            left = Part { form, span: self.span(from) };
        }
        Some(left)
    }

    fn negated(&mut self) -> Option<Part> {
        let from = self.begins();
        if self.skip("not") {
            let of = Box::new(self.negated()?);
            return Some(Part { form: Form::Unary("not", of), span: self.span(from) });
        }
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Option<Part> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let from = self.begins();
        let mut left = self.level(level + 1)?;
        while let Some(sign) = self.sign_of(signs) {
            let right = self.level(level + 1)?;
            let form = Form::Binary(sign, Box::new(left), Box::new(right));
            left = Part { form, span: self.span(from) };
        }
        Some(left)
    }

    /// Takes one of these signs, or `not in` where `in` is one.
    fn sign_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let next = self.tokens.get(self.at + 1).map(|(token, _)| token);
        let absent = matches!(next, Some(Token::Word(word)) if word == "in");
        if signs.contains(&"in") && self.is("not") && absent {
            self.at += 2;
            return Some("not in");
        }
        let sign = signs.iter().copied().find(|sign| self.is(sign))?;
        self.at += 1;
        Some(sign)
    }

    fn unary(&mut self) -> Option<Part> {
        let from = self.begins();
        let mut part = match self.skip("-") {
            true => {
                let of = Box::new(self.unary()?);
                Part { form: Form::Unary("-", of), span: self.span(from) }
            }
            false => self.primary()?,
        };
        loop {
            let form = if self.skip(".") {
                match self.take()?.0 {
                    Token::Word(name) => Form::Member(Box::new(part), name),
                    _ => return None,
                }
            } else if self.skip("[") {
                self.item(part)?
            } else if self.skip("|") {
                let Token::Word(name) = self.take()?.0 else { return None };
                let more = if self.skip("(") { self.arguments()? } else { Vec::new() };
                Form::Filter(Box::new(part), name, more)
            } else if self.skip("is") {
                let negated = self.skip("not");
                let Token::Word(name) = self.take()?.0 else { return None };
                let name = if negated { format!("not {name}") } else { name };
                Form::Test(Box::new(part), name)
            } else {
                return Some(part);
            };
            part = Part { form, span: self.span(from) };
        }
    }

    fn item(&mut self, of: Part) -> Option<Form> {
        let of = Box::new(of);
        let first = if self.is(":") { None } else { Some(self.conditional()?) };
        if self.skip(":") {
            if !self.is("]") {
                self.conditional()?;
            }
            self.expect("]")?;
            return Some(Form::Item(of, None));
        }
        self.expect("]")?;
        match first? {
            Part { form: Form::Text(name), .. } => Some(Form::Member(of, name)),
            place => Some(Form::Item(of, Some(Box::new(place)))),
        }
    }

    /// Behind the opening parenthesis; `digits=2` and the like are left out.
    fn arguments(&mut self) -> Option<Vec<Part>> {
        let mut all = Vec::new();
        while !self.skip(")") {
            let part = self.conditional()?;
            match self.skip("=") {
                true => {
                    self.conditional()?;
                }
                false => all.push(part),
            }
            if !self.skip(",") && !self.is(")") {
                return None;
            }
        }
        Some(all)
    }

    fn primary(&mut self) -> Option<Part> {
        let (token, span) = self.take()?;
        let from = span.start;
        let form = match token {
            Token::Number => Form::Number,
            Token::Text(text) => Form::Text(text),
            Token::Word(name) if self.skip("(") => Form::Call(name, self.arguments()?),
            Token::Word(name) => Form::Name(name),
            Token::Sign("(") => {
                let inner = self.conditional()?;
                self.expect(")")?;
                // Its own span: parentheses are put where words need them.
                return Some(inner);
            }
            Token::Sign("[") => {
                let mut items = Vec::new();
                while !self.skip("]") {
                    items.push(self.conditional()?);
                    if !self.skip(",") && !self.is("]") {
                        return None;
                    }
                }
                Form::List(items)
            }
            Token::Sign(_) => return None,
        };
        Some(Part { form, span: self.span(from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::bundle::{EXPERIMENTS, find};
    use crate::reproduce::definition::Stated;

    /// With parentheses around everything.
    fn told(text: &str) -> String {
        fn of(part: &Part, text: &str) -> String {
            let own = || text[part.span.clone()].to_owned();
            match &part.form {
                Form::Binary(sign, left, right) => {
                    format!("({} {sign} {})", of(left, text), of(right, text))
                }
                Form::Unary(sign, inner) => format!("({sign} {})", of(inner, text)),
                Form::Filter(inner, name, _) => format!("({} |{name})", of(inner, text)),
                _ => own(),
            }
        }
        of(&read(text).unwrap(), text)
    }

    #[test]
    fn what_binds_tighter_is_read_first() {
        assert_eq!(told("1 + 2 * 3 - 4"), "((1 + (2 * 3)) - 4)");
        assert_eq!(told("100 * (a - b) / c"), "((100 * (a - b)) / c)");
        assert_eq!(told("a.x | sum + b | sum < 1e-3"), "(((a.x |sum) + (b |sum)) < 1e-3)");
        assert_eq!(told("not a and -2 ** 2 > b or c"), "(((not a) and (((- 2) ** 2) > b)) or c)");
        assert_eq!(told("a not in b"), "(a not in b)");
        assert_eq!(read("a +"), None);
        assert_eq!(read("{'a': 1}"), None);
    }

    #[test]
    fn a_part_stands_where_its_span_says() {
        let text = "100 * run('a/b').merges.full / mean(w ~ '/c')";
        let Form::Binary("/", left, right) = read(text).unwrap().form else { panic!() };
        assert_eq!(&text[right.span], "mean(w ~ '/c')");
        let Form::Binary("*", _, full) = left.form else { panic!() };
        assert_eq!(&text[full.span.clone()], "run('a/b').merges.full");
        assert!(matches!(full.form, Form::Member(_, name) if name == "full"));
    }

    /// What experiments measure and judge by.
    #[test]
    fn every_bundled_expression_can_be_read() {
        for bundled in EXPERIMENTS {
            let definition = find(bundled.name).unwrap();
            for claim in &definition.claims {
                let published = match &claim.published {
                    Some(Stated::Text(text)) if claim.holds.is_none() => Some(text),
                    _ => None,
                };
                for text in published.into_iter().chain(&claim.measured).chain(&claim.holds) {
                    assert!(read(text).is_some(), "{}: {}: {text}", bundled.name, claim.name);
                }
            }
        }
    }
}
