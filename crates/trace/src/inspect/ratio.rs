//! Shares of what was counted.

/// A part of a whole; 0 of nothing.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
