//! Numbers as people read them: scaled to a unit, four significant digits, thousands grouped.
//!
//! Counts are exact. Time and energy use SI steps, memory IEC steps. Result files carry raw
//! numbers; only tables and captions use these.

use serde::Serialize;

/// Significant digits of a scaled number.
const DIGITS: i32 = 4;

/// What stands where a number has no meaning, such as a ratio without a divisor.
pub const NOT_APPLICABLE: &str = "n/a";

const NANOSECOND_STEPS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const MICROJOULE_STEPS: [(f64, &str); 5] =
    [(1e-3, "nJ"), (1.0, "µJ"), (1e3, "mJ"), (1e6, "J"), (1e9, "kJ")];
const BYTE_STEPS: [(f64, &str); 6] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
];
const RATE_STEPS: [(f64, &str); 4] = [(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")];

/// How a number is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Things counted; whole and exact.
    Count,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// A plain ratio or mean.
    Ratio,
    /// A fraction of one, shown in percent.
    Fraction,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Events per second.
    PerSecond,
    /// Microjoules.
    Microjoules,
}

impl Quantity {
    /// The number in words and units; [`NOT_APPLICABLE`] when it is not finite.
    #[must_use]
    pub fn format(self, value: f64) -> String {
        if !value.is_finite() {
            return NOT_APPLICABLE.to_owned();
        }
        match self {
            Self::Count => grouped(&format!("{value:.0}")),
            Self::Nanoseconds => scaled(value, &NANOSECOND_STEPS),
            Self::Seconds => scaled(value * 1e9, &NANOSECOND_STEPS),
            Self::Ratio => significant(value),
            Self::Fraction => format!("{} %", significant(value * 100.0)),
            Self::Bytes => trimmed(&scaled(value, &BYTE_STEPS)),
            Self::BytesPerSecond => scaled(value, &RATE_STEPS),
            Self::PerSecond => format!("{} /s", significant(value)),
            Self::Microjoules => scaled(value, &MICROJOULE_STEPS),
        }
    }
}

/// A count in full, its thousands grouped.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// At most so many characters of a long name.
#[must_use]
pub fn cut(name: &str, characters: usize) -> String {
    match name.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Scales to the largest step that leaves at least 1; zero takes the unit whose factor is 1.
fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    if value == 0.0 {
        let unit = steps.iter().find(|(factor, _)| *factor == 1.0).map_or("", |step| step.1);
        return format!("0 {unit}");
    }
    // Rounded first, so that 999.96 µs becomes 1.000 ms rather than 1000 µs.
    let fits = |step: &&(f64, &str)| round_significant(value.abs() / step.0) >= 1.0;
    let (factor, unit) = steps.iter().rev().find(fits).unwrap_or(&steps[0]);
    format!("{} {unit}", significant(value / factor))
}

/// Four significant digits; digits left of the point are never rounded away.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded = round_significant(value);
    grouped(&format!("{value:.*}", decimals(rounded)))
}

fn round_significant(value: f64) -> f64 {
    format!("{value:.*}", decimals(value)).parse().unwrap_or(value)
}

/// Decimals that show `DIGITS` significant digits.
fn decimals(value: f64) -> usize {
    if value == 0.0 {
        return 0;
    }
    let magnitude = value.abs().log10().floor() as i32;
    usize::try_from(DIGITS - 1 - magnitude).unwrap_or(0).min(12)
}

/// Groups the digits left of the point by thousands.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |dot| digits.split_at(dot));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// Drops the zeros after the point: sizes of memory are mostly whole ("64 KiB").
fn trimmed(scaled: &str) -> String {
    let Some((number, unit)) = scaled.split_once(' ') else {
        return scaled.to_owned();
    };
    if !number.contains('.') {
        return scaled.to_owned();
    }
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::{NOT_APPLICABLE, Quantity, count, cut};

    #[test]
    fn nanoseconds_take_the_unit_that_leaves_one_to_a_thousand() {
        let text = |value| Quantity::Nanoseconds.format(value);
        assert_eq!(text(0.0), "0 ns");
        assert_eq!(text(0.25), "0.2500 ns");
        assert_eq!(text(850.0), "850.0 ns");
        assert_eq!(text(1_000.0), "1.000 µs");
        assert_eq!(text(131_232.0), "131.2 µs");
        assert_eq!(text(1_500_000.0), "1.500 ms");
        assert_eq!(text(2_000_000_000.0), "2.000 s");
        assert_eq!(text(43_712e9), "43,712 s");
    }

    #[test]
    fn rounding_up_moves_to_the_next_unit() {
        assert_eq!(Quantity::Nanoseconds.format(999_960.0), "1.000 ms");
        assert_eq!(Quantity::Nanoseconds.format(999_940.0), "999.9 µs");
        assert_eq!(Quantity::Ratio.format(9.999_96), "10.00");
    }

    #[test]
    fn seconds_are_scaled_down_too() {
        assert_eq!(Quantity::Seconds.format(0.001_25), "1.250 ms");
        assert_eq!(Quantity::Seconds.format(12.5), "12.50 s");
    }

    #[test]
    fn bytes_use_binary_steps_and_stay_whole() {
        let text = |value| Quantity::Bytes.format(value);
        assert_eq!(text(0.0), "0 B");
        assert_eq!(text(512.0), "512 B");
        assert_eq!(text(65_536.0), "64 KiB");
        assert_eq!(text(1_572_864.0), "1.5 MiB");
        assert_eq!(text(1_099_511_627_776.0), "1 TiB");
        assert_eq!(Quantity::BytesPerSecond.format(1_500_000.0), "1.500 MB/s");
    }

    #[test]
    fn energy_is_given_in_microjoules() {
        let text = |value| Quantity::Microjoules.format(value);
        assert_eq!(text(0.0), "0 µJ");
        assert_eq!(text(0.5), "500.0 nJ");
        assert_eq!(text(12.0), "12.00 µJ");
        assert_eq!(text(3_400.0), "3.400 mJ");
        assert_eq!(text(7_250_000.0), "7.250 J");
    }

    #[test]
    fn ratios_fractions_and_rates() {
        assert_eq!(Quantity::Ratio.format(1.0), "1.000");
        assert_eq!(Quantity::Ratio.format(0.012_345), "0.01235");
        assert_eq!(Quantity::Ratio.format(-2.5), "-2.500");
        assert_eq!(Quantity::Fraction.format(0.976_51), "97.65 %");
        assert_eq!(Quantity::PerSecond.format(12_345.6), "12,346 /s");
    }

    #[test]
    fn counts_are_exact_and_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(Quantity::Count.format(1_234_567.0), "1,234,567");
    }

    #[test]
    fn long_names_lose_their_end_and_no_half_character() {
        assert_eq!(cut("µµµ", 3), "µµµ");
        assert_eq!(cut("µµµµ", 3), "µµµ…");
    }

    #[test]
    fn what_is_not_a_number_says_so() {
        assert_eq!(Quantity::Ratio.format(f64::NAN), NOT_APPLICABLE);
        assert_eq!(Quantity::Nanoseconds.format(f64::INFINITY), NOT_APPLICABLE);
    }
}
