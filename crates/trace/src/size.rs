//! Sizes as users write them: `4k`, `128KiB`, `1.5G`, `80%`.

use crate::error::{Result, TraceError};

const LEGAL: &str = "bytes, or a number with k, M, G, T (powers of 1024) or KiB, MiB, GiB, TiB";

/// A size in bytes. `k`, `M`, `G`, `T` are powers of 1024, as in fio; so are `KiB` to `TiB`.
/// A fraction (`1.5M`) is allowed where it comes to whole bytes.
///
/// # Errors
/// Anything else, a negative number and an overflow, with what is legal.
pub fn parse_bytes(text: &str) -> Result<u64> {
    let wrong = |problem: &str| {
        TraceError::new(format!("size {problem}")).with_value(text.as_bytes()).with_legal(LEGAL)
    };
    let text_trimmed = text.trim();
    let digits = text_trimmed
        .find(|character: char| !character.is_ascii_digit() && !"+-.".contains(character))
        .unwrap_or(text_trimmed.len());
    let (number, suffix) = text_trimmed.split_at(digits);
    let shift = match suffix.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" | "kb" => 10,
        "m" | "mib" | "mb" => 20,
        "g" | "gib" | "gb" => 30,
        "t" | "tib" | "tb" => 40,
        _ => return Err(wrong("has an unknown suffix")),
    };
    let scale = 1u64 << shift;
    let bytes =
        crate::number::scaled(number.as_bytes(), scale).map_err(|reason| wrong(reason.words()))?;
    Ok(bytes)
}

/// A size in bytes, or a share of `whole_bytes` written with `%`.
///
/// # Errors
/// As [`parse_bytes`]; also a share above 100 %.
pub fn parse_share_or_bytes(text: &str, whole_bytes: u64) -> Result<u64> {
    let Some(share) = text.trim().strip_suffix('%') else {
        return parse_bytes(text);
    };
    let millionths = parse_millionths(share).ok_or_else(|| {
        TraceError::new("not a share")
            .with_value(text.as_bytes())
            .with_legal("a percentage between 0% and 100%")
    })?;
    Ok((u128::from(whole_bytes) * u128::from(millionths) / 1_000_000) as u64)
}

/// A percentage as millionths of the whole, `None` outside 0 to 100.
pub(crate) fn parse_millionths(percent: &str) -> Option<u64> {
    let millionths = crate::number::scaled(percent.trim().as_bytes(), 10_000).ok()?;
    (millionths <= 1_000_000).then_some(millionths)
}

/// Bytes for people: the largest binary unit that keeps the number at 1 or above.
pub(crate) fn human_bytes(bytes: u64) -> String {
    const NAMES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let step = (63 - bytes.leading_zeros()) / 10;
    let value = bytes as f64 / (1u64 << (10 * step)) as f64;
    format!("{value:.2} {}", NAMES[step as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024_as_in_fio() {
        assert_eq!(parse_bytes("4k").unwrap(), 4096);
        assert_eq!(parse_bytes("128KiB").unwrap(), 131_072);
        assert_eq!(parse_bytes("1.5M").unwrap(), 3 << 19);
        assert_eq!(parse_bytes("2G").unwrap(), 2 << 30);
        assert_eq!(parse_bytes("512").unwrap(), 512);
        for wrong in ["", "k", "4x", "-4k", "99999999999T", "4k k", "1e3"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_taken_of_the_whole() {
        assert_eq!(parse_share_or_bytes("80%", 1000).unwrap(), 800);
        assert_eq!(parse_share_or_bytes("12.5%", 8 << 30).unwrap(), 1 << 30);
        assert_eq!(parse_share_or_bytes("4k", 1000).unwrap(), 4096);
        assert!(parse_share_or_bytes("101%", 1000).is_err());
        assert!(parse_share_or_bytes("-1%", 1000).is_err());
    }

    #[test]
    fn bytes_are_shown_in_the_largest_fitting_unit() {
        assert_eq!(human_bytes(1023), "1023 B");
        assert_eq!(human_bytes(4096), "4.00 KiB");
        assert_eq!(human_bytes(u64::MAX), "16.00 EiB");
    }
}
