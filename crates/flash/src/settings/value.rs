//! Values of settings: how each is written, shown and described. Units stand in the value.

use crate::units::Nanos;

/// A value as results show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A whole number.
    Integer(u64),
    /// A fraction.
    Real(f64),
    /// Yes or no.
    Bool(bool),
    /// Anything else, with its unit.
    Text(String),
}

/// Something a setting can hold.
pub trait Value: Sized {
    /// Reads it; `None` when the text is not legal.
    fn parse(text: &str) -> Option<Self>;
    /// Shows it.
    fn show(&self) -> Shown;
    /// Says what is legal.
    fn legal() -> String;
}

macro_rules! whole_number {
    ($($type:ty),*) => { $(
        impl Value for $type {
            fn parse(text: &str) -> Option<Self> {
                text.replace('_', "").parse().ok()
            }
            fn show(&self) -> Shown {
                Shown::Integer(u64::from(*self))
            }
            fn legal() -> String {
                format!("a whole number up to {}", <$type>::MAX)
            }
        }
    )* };
}
whole_number!(u8, u32, u64);

impl Value for f64 {
    fn parse(text: &str) -> Option<Self> {
        let (digits, scale) = match text.strip_suffix('%') {
            Some(percent) => (percent, 0.01),
            None => (text, 1.0),
        };
        digits.trim().parse().ok().filter(|v: &f64| v.is_finite()).map(|v| v * scale)
    }
    fn show(&self) -> Shown {
        Shown::Real(*self)
    }
    fn legal() -> String {
        "a number, or a percentage such as 3%".to_string()
    }
}

/// A part of something that can be more than all of it: 0.07, 7% or 7x. A bare number above 1 is
/// refused, since it is read as percent by some and as times by others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl Value for Share {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('x') {
            Some(times) => f64::parse(times).filter(|_| !times.ends_with('%')).map(Share),
            None => f64::parse(text).filter(|v| *v <= 1.0 || text.ends_with('%')).map(Share),
        }
    }
    fn show(&self) -> Shown {
        match self.0 <= 1.0 {
            true => Shown::Real(self.0),
            false => Shown::Text(format!("{}x", self.0)),
        }
    }
    fn legal() -> String {
        "a share up to 1 such as 0.07, a percentage such as 7%, or times such as 7x (7 alone could \
         mean either)"
            .to_owned()
    }
}

/// So many, or a share of all there are: 64, or 90%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many.
    Count(u32),
    /// Per cent of all.
    Percent(f64),
}

impl Amount {
    /// How many of so many that is; one at least.
    pub fn of(self, all: usize) -> usize {
        match self {
            Amount::Count(count) => count as usize,
            Amount::Percent(percent) => ((all as f64 * percent / 100.0).ceil() as usize).max(1),
        }
    }
}

impl Value for Amount {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => f64::parse(percent)
                .filter(|v| !percent.ends_with('%') && *v > 0.0 && *v <= 100.0)
                .map(Amount::Percent),
            None => u32::parse(text).map(Amount::Count),
        }
    }
    fn show(&self) -> Shown {
        match self {
            Amount::Count(count) => Shown::Integer(u64::from(*count)),
            Amount::Percent(percent) => Shown::Text(format!("{percent}%")),
        }
    }
    fn legal() -> String {
        "a whole number, or a share above 0% and up to 100%".to_owned()
    }
}

impl Value for bool {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" | "on" | "yes" => Some(true),
            "false" | "off" | "no" => Some(false),
            _ => None,
        }
    }
    fn show(&self) -> Shown {
        Shown::Bool(*self)
    }
    fn legal() -> String {
        "true | false (or on | off)".to_string()
    }
}

impl Value for String {
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_string())
    }
    fn show(&self) -> Shown {
        Shown::Text(self.clone())
    }
    fn legal() -> String {
        "any text".to_string()
    }
}

/// Splits `12.5us` into number and unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim()))
}

/// A duration with its unit in the text: `130.9us`, `1.5ms`, `25ns`, `2s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub Nanos);

impl Value for Duration {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_unit(text)?;
        let scale = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "" if number == 0.0 => 1.0,
            _ => return None,
        };
        let nanos = (number * scale).round();
        (nanos < 1e18).then_some(Duration(nanos as Nanos))
    }
    fn show(&self) -> Shown {
        let nanos = self.0;
        Shown::Text(match nanos {
            0 => "0us".to_string(),
            n if n % 1_000_000_000 == 0 => format!("{}s", n / 1_000_000_000),
            n => format!("{}us", n as f64 / 1e3),
        })
    }
    fn legal() -> String {
        "a duration with its unit: ns, us, ms or s, for example 130.9us".to_string()
    }
}

/// Durations by page type, each with its unit, with commas between them: `50us,75us,110us`. None
/// means that one duration holds for all pages: `auto`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(pub Vec<Duration>);

/// Page types that a cell can have; four suffice for QLC.
const PAGE_TYPES: usize = 16;

impl Value for Durations {
    fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Durations::default());
        }
        let all = text.split(',').map(|one| Duration::parse(one.trim()));
        all.collect::<Option<Vec<_>>>().filter(|all| all.len() <= PAGE_TYPES).map(Durations)
    }
    fn show(&self) -> Shown {
        let text = |one: &Duration| match one.show() {
            Shown::Text(text) => text,
            other => unreachable!("a duration is text, not {other:?}"),
        };
        match self.0.as_slice() {
            [] => Shown::Text("auto".to_string()),
            all => Shown::Text(all.iter().map(text).collect::<Vec<_>>().join(",")),
        }
    }
    fn legal() -> String {
        format!("auto, or up to {PAGE_TYPES} durations with commas, for example 50us,75us,110us")
    }
}

/// A size with its unit in the text: `2KiB`, `128k`, `1GiB`, `4096`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Value for Bytes {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_unit(text)?;
        let scale = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1u64,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return None,
        };
        let bytes = number * scale as f64;
        (bytes < 9e18 && bytes.fract() == 0.0).then_some(Bytes(bytes as u64))
    }
    fn show(&self) -> Shown {
        Shown::Integer(self.0)
    }
    fn legal() -> String {
        "a size: a number with k, M, G, T or KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB \
         (powers of 1000)"
            .to_string()
    }
}

/// Energy in picojoules, with its unit in the text: `4.72uJ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Energy(pub u64);

impl Value for Energy {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_unit(text)?;
        let scale = match unit {
            "pJ" => 1.0,
            "nJ" => 1e3,
            "uJ" | "µJ" => 1e6,
            "mJ" => 1e9,
            "" if number == 0.0 => 1.0,
            _ => return None,
        };
        Some(Energy((number * scale).round() as u64))
    }
    fn show(&self) -> Shown {
        Shown::Text(format!("{}uJ", self.0 as f64 / 1e6))
    }
    fn legal() -> String {
        "an energy with its unit: pJ, nJ, uJ or mJ, for example 4.72uJ".to_string()
    }
}

/// A value that may be left to its owner: `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optional<T>(pub Option<T>);

impl<T: Value> Value for Optional<T> {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Optional(None)),
            _ => T::parse(text).map(|v| Optional(Some(v))),
        }
    }
    fn show(&self) -> Shown {
        self.0.as_ref().map_or(Shown::Text("auto".to_string()), Value::show)
    }
    fn legal() -> String {
        format!("auto, or {}", T::legal())
    }
}

#[cfg(test)]
mod tests;
