//! Values of an axis that are numbers in even steps: `7%..28%+7%`, `16KiB..16MiB*2`, `1..5`.

use crate::error::{Error, Result};

/// Values of one axis.
pub const VALUES_MAX: usize = 100_000;

/// Numbers are kept as millionths of their base (bytes, nanoseconds, percent, ones), so that steps
/// add up exactly.
const MILLION: i128 = 1_000_000;

/// What can stand behind a number: the units of one family, with what they are in its base. Sizes
/// are those of every option, with powers of 1024 and of 1000.
const FAMILIES: [&[(&str, i128)]; 5] = [
    &[("", 1)],
    &[("%", 1)],
    &[("x", 1)],
    &[
        ("B", 1),
        ("k", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
    &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
];

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quantity {
    /// In millionths of the base.
    millionths: i128,
    family: usize,
    unit: usize,
}

impl Quantity {
    fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
        let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.len() > 6 || !part.chars().all(|c| c.is_ascii_digit()) || digits.ends_with('.') {
            return None;
        }
        let magnitude: i128 = whole.strip_prefix('-').unwrap_or(whole).parse().ok()?;
        let part: i128 = format!("{part:0<6}").parse().ok()?;
        let sign = if whole.starts_with('-') { -1 } else { 1 };
        let (family, unit, factor) = FAMILIES.iter().enumerate().find_map(|(family, units)| {
            let at = units.iter().position(|(name, _)| *name == unit)?;
            Some((family, at, units[at].1))
        })?;
        let millionths = magnitude.checked_mul(MILLION)?.checked_add(part)?.checked_mul(factor)?;
        Some(Quantity { millionths: sign * millionths, family, unit })
    }

    /// As it is written: in its own unit where that takes no more than six decimals, else in the
    /// base.
    fn text(self) -> String {
        let (name, factor) = FAMILIES[self.family][self.unit];
        let ((name, factor), rest) = match self.millionths % factor {
            0 => ((name, factor), 0),
            rest => (FAMILIES[self.family][0], rest),
        };
        debug_assert!(rest == 0 || factor == 1);
        let value = self.millionths / factor;
        let sign = if value < 0 { "-" } else { "" };
        let (whole, part) = (value.abs() / MILLION, value.abs() % MILLION);
        let part = format!("{part:06}");
        match part.trim_end_matches('0') {
            "" => format!("{sign}{whole}{name}"),
            part => format!("{sign}{whole}.{part}{name}"),
        }
    }

    /// The same in the largest unit of powers of 1024 in which it is whole; others as they are.
    fn in_best_unit(self) -> Self {
        let units = FAMILIES[self.family];
        if !units[self.unit].0.ends_with("iB") {
            return self;
        }
        let whole = |(_, (name, factor)): &(usize, &(&str, i128))| {
            name.ends_with("iB") && self.millionths % (factor * MILLION) == 0
        };
        let best = units.iter().enumerate().filter(whole).max_by_key(|(_, (_, factor))| *factor);
        Quantity { unit: best.map_or(self.unit, |(unit, _)| unit), ..self }
    }
}

/// A value as a number, for columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes, nanoseconds, fractions, times or ones.
    pub value: f64,
    /// What tells that behind a name; nothing of ones and times.
    pub unit: &'static str,
}

/// A value as a number, where it is one.
pub fn measured(text: &str) -> Option<Measured> {
    let quantity = Quantity::parse(text)?;
    let value = quantity.millionths as f64 / MILLION as f64;
    Some(match quantity.family {
        1 => Measured { value: value / 100.0, unit: "_fraction" },
        3 => Measured { value, unit: "_bytes" },
        4 => Measured { value, unit: "_ns" },
        _ => Measured { value, unit: "" },
    })
}

/// The values that a text stands for where it is a range; `None` where it is none, but a value like
/// any other (`../trace.csv`).
pub fn values(text: &str) -> Result<Option<Vec<String>>> {
    let Some((first, rest)) = text.split_once("..") else { return Ok(None) };
    let Some(first) = Quantity::parse(first) else { return Ok(None) };
    let wrong = |why: &str| {
        Error::usage(format!(
            "'{text}' is no range: {why}; legal: FROM..TO+STEP, FROM..TO*FACTOR, or FROM..TO of \
             whole numbers, with the same kind of unit: 7%..28%+7%, 16KiB..16MiB*2, 1..5"
        ))
    };
    let (last, step) = match rest.find(['+', '*']) {
        Some(at) => (&rest[..at], Some((&rest[at..=at], &rest[at + 1..]))),
        None => (rest, None),
    };
    let quantity = |text: &str| {
        Quantity::parse(text).ok_or_else(|| wrong(&format!("'{text}' is no number with a unit")))
    };
    let last = quantity(last)?;
    if last.family != first.family {
        return Err(wrong("its ends have different kinds of units"));
    }
    if last.millionths < first.millionths {
        return Err(wrong("it ends below where it begins"));
    }
    let next: Box<dyn Fn(i128) -> Option<i128>> = match step {
        None if first.family == 0 && first.millionths % MILLION == 0 => {
            Box::new(|value: i128| value.checked_add(MILLION))
        }
        None => return Err(wrong("it has no step")),
        Some(("+", step)) => {
            let step = quantity(step)?;
            if step.family != first.family || step.millionths <= 0 {
                return Err(wrong("its step is not above 0 and of the same kind"));
            }
            Box::new(move |value: i128| value.checked_add(step.millionths))
        }
        Some((_, factor)) => {
            let factor = quantity(factor)?;
            if factor.family != 0 || factor.millionths <= MILLION || first.millionths <= 0 {
                return Err(wrong("it needs a factor above 1 and a beginning above 0"));
            }
            Box::new(move |value: i128| {
                value.checked_mul(factor.millionths).map(|value| value / MILLION)
            })
        }
    };
    let mut all = Vec::new();
    let mut value = Some(first.millionths);
    while let Some(millionths) = value.filter(|&value| value <= last.millionths) {
        if all.len() == VALUES_MAX {
            return Err(wrong(&format!("it has more than {VALUES_MAX} values")));
        }
        all.push(Quantity { millionths, ..first }.in_best_unit().text());
        value = next(millionths);
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        values(text).unwrap().unwrap()
    }

    #[test]
    fn steps_and_factors_give_the_values_that_one_would_write() {
        assert_eq!(of("7%..28%+7%"), ["7%", "14%", "21%", "28%"]);
        assert_eq!(of("16KiB..1MiB*4"), ["16KiB", "64KiB", "256KiB", "1MiB"]);
        assert_eq!(of("1..4"), ["1", "2", "3", "4"]);
        assert_eq!(of("0.1..0.35+0.1"), ["0.1", "0.2", "0.3"], "the end is met or left out");
        assert_eq!(of("1ms..1s*10"), ["1ms", "10ms", "100ms", "1000ms"]);
        assert_eq!(of("1.5x..2x+0.25x"), ["1.5x", "1.75x", "2x"]);
        assert_eq!(of("-2..1"), ["-2", "-1", "0", "1"]);
        assert_eq!(of("1KiB..2KiB*1.5"), ["1KiB", "1.5KiB"]);
        assert_eq!(of("3..3"), ["3"]);
    }

    #[test]
    fn columns_have_numbers_in_one_unit() {
        let of = |text| measured(text).map(|one| (one.value, one.unit));
        assert_eq!(of("64KiB"), Some((65536.0, "_bytes")));
        assert_eq!(of("7%"), Some((0.07, "_fraction")));
        assert_eq!(of("2ms"), Some((2e6, "_ns")));
        assert_eq!((of("1.5"), of("2x")), (Some((1.5, "")), Some((2.0, ""))));
        assert_eq!(of("dftl"), None);
    }

    #[test]
    fn what_is_no_range_is_a_value_or_an_error_in_words() {
        for text in ["../traces/a.csv", "financial", "1.5", "a..b"] {
            assert_eq!(values(text).unwrap(), None, "{text}");
        }
        for (text, why) in [
            ("1%..2", "different kinds"),
            ("5..1", "below where it begins"),
            ("1%..5%", "no step"),
            ("1..9*1", "factor above 1"),
            ("0..9*2", "beginning above 0"),
            ("1..9+0", "not above 0"),
            ("1..x", "'x' is no number"),
            ("0..999999", "more than 100000 values"),
        ] {
            let told = values(text).unwrap_err().to_string();
            assert!(told.contains(why) && told.contains("FROM..TO+STEP"), "{text}: {told}");
        }
    }
}
