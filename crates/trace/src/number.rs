//! Numbers from bytes, without allocation: integers and decimals scaled to integers.

/// Why some bytes are not the number expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// Nothing between two separators.
    Empty,
    /// A minus sign before digits.
    Negative,
    /// Larger than 2^64 - 1 after scaling.
    Overflow,
    /// Anything else.
    Malformed,
}

impl NotANumber {
    /// The problem in words, for an error message.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Negative => "is negative",
            Self::Overflow => "overflows 64 bits",
            Self::Malformed => "is not a number",
        }
    }
}

/// Digits that cannot overflow a u64, whatever they are.
const SAFE_DIGITS: usize = 19;

/// Decimal integer without sign.
#[inline]
pub(crate) fn integer(bytes: &[u8]) -> Result<u64, NotANumber> {
    if bytes.is_empty() {
        return Err(NotANumber::Empty);
    }
    let mut value = 0u64;
    if bytes.len() <= SAFE_DIGITS {
        for &byte in bytes {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return Err(why_not(bytes));
            }
            value = value * 10 + u64::from(digit);
        }
        return Ok(value);
    }
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(why_not(bytes));
        }
        value = value
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(u64::from(digit)))
            .ok_or(NotANumber::Overflow)?;
    }
    Ok(value)
}

#[cold]
fn why_not(bytes: &[u8]) -> NotANumber {
    match bytes {
        [b'-', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => NotANumber::Negative,
        _ => NotANumber::Malformed,
    }
}

/// Hexadecimal integer without sign, with or without `0x` (what `scanf("%x")` takes).
#[inline]
pub(crate) fn hexadecimal(bytes: &[u8]) -> Result<u64, NotANumber> {
    let digits = bytes.strip_prefix(b"0x").or(bytes.strip_prefix(b"0X")).unwrap_or(bytes);
    if digits.is_empty() {
        return Err(NotANumber::Empty);
    }
    let mut value = 0u64;
    for &byte in digits {
        let digit = (byte as char).to_digit(16).ok_or_else(|| why_not(bytes))?;
        if value >> 60 != 0 {
            return Err(NotANumber::Overflow);
        }
        value = value << 4 | u64::from(digit);
    }
    Ok(value)
}

/// Decimal number (`12`, `12.5`, `.5`) times `scale`, rounded to the nearest integer.
/// Exponents are refused: whoever printed one has already lost the digits that matter.
#[inline]
pub(crate) fn scaled(bytes: &[u8], scale: u64) -> Result<u64, NotANumber> {
    let Some(point) = bytes.iter().position(|&byte| byte == b'.') else {
        return integer(bytes)?.checked_mul(scale).ok_or(NotANumber::Overflow);
    };
    let (whole, fraction) = (&bytes[..point], &bytes[point + 1..]);
    if whole.is_empty() && fraction.is_empty() {
        return Err(NotANumber::Malformed);
    }
    let whole = match integer(whole) {
        Err(NotANumber::Empty) => 0,
        Err(NotANumber::Malformed) if whole == b"-" => return Err(NotANumber::Negative),
        other => other?,
    };
    // Digits after the 18th are below any resolution here; they still have to be digits.
    let (kept, ignored) = fraction.split_at(fraction.len().min(18));
    if !ignored.iter().all(u8::is_ascii_digit) {
        return Err(NotANumber::Malformed);
    }
    let numerator = match integer(kept) {
        Err(NotANumber::Empty) => 0,
        Err(NotANumber::Negative) => return Err(NotANumber::Malformed),
        other => other?,
    };
    let denominator = 10u64.pow(kept.len() as u32);
    let part = if kept.len() <= 9 && scale <= 1_000_000_000 {
        (numerator * scale + denominator / 2) / denominator
    } else {
        let exact = u128::from(numerator) * u128::from(scale) + u128::from(denominator / 2);
        u64::try_from(exact / u128::from(denominator)).map_err(|_| NotANumber::Overflow)?
    };
    whole
        .checked_mul(scale)
        .and_then(|nanoseconds| nanoseconds.checked_add(part))
        .ok_or(NotANumber::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_reach_exactly_to_the_end_of_64_bits() {
        assert_eq!(integer(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(integer(b"18446744073709551616"), Err(NotANumber::Overflow));
        assert_eq!(integer(b"9999999999999999999"), Ok(9_999_999_999_999_999_999));
        assert_eq!(integer(b"-1"), Err(NotANumber::Negative));
        assert_eq!(integer(b""), Err(NotANumber::Empty));
        assert_eq!(integer(b"1x"), Err(NotANumber::Malformed));
    }

    #[test]
    fn decimals_are_scaled_exactly_and_rounded_to_nearest() {
        assert_eq!(scaled(b"26.214000", 1_000_000), Ok(26_214_000));
        assert_eq!(scaled(b"0.0000000005", 1_000_000_000), Ok(1));
        assert_eq!(scaled(b"0.0000000004", 1_000_000_000), Ok(0));
        assert_eq!(scaled(b".5", 1000), Ok(500));
        assert_eq!(scaled(b"3.", 1000), Ok(3000));
        assert_eq!(scaled(b"1.1234567890123456789", 1_000_000_000), Ok(1_123_456_789));
        assert_eq!(scaled(b"-0.5", 1000), Err(NotANumber::Negative));
        assert_eq!(scaled(b"-.5", 1000), Err(NotANumber::Negative));
        assert_eq!(scaled(b"1.2e5", 1000), Err(NotANumber::Malformed));
        assert_eq!(scaled(b"1.-2", 1000), Err(NotANumber::Malformed));
        assert_eq!(scaled(b".", 1000), Err(NotANumber::Malformed));
        assert_eq!(scaled(b"18446744073709551615.9", 1), Err(NotANumber::Overflow));
    }

    #[test]
    fn hexadecimal_takes_what_scanf_takes() {
        assert_eq!(hexadecimal(b"1"), Ok(1));
        assert_eq!(hexadecimal(b"0x1F"), Ok(31));
        assert_eq!(hexadecimal(b"11111111111111111"), Err(NotANumber::Overflow));
        assert_eq!(hexadecimal(b"g"), Err(NotANumber::Malformed));
    }
}
