//! Whether a run had come to rest. The mean of a device that is still on its way says how far it
//! came, and whoever compares two of them compares that.
//!
//! The second half of the run is cut into ten parts of as many requests (for programs: of as many
//! pages written). A value trends if its parts are in order, by Kendall's rank correlation of 0.6
//! or more (parts of the same distribution reach that in 17 of 1,000 runs), and its best-fit line
//! rises or falls by a tenth of the average or more over them, which is what SNIA's rule of a
//! steady state allows.

use ftlab_report::format::Quantity;
use ftlab_report::result::{RunResult, Trend, Window};

use crate::options::precondition::Mode;
use crate::plan::repeat::Repeat;

/// Parts of the second half.
const PARTS: usize = 10;
/// Pairs of parts in order less pairs out of order, of 45.
const IN_ORDER_MIN: i32 = 27;
const CHANGE_MIN: f64 = 0.10;
/// Programs for each page written that are worth a word.
const EXTRA_MIN: f64 = 0.05;

/// How the response time, and the programs beyond the host's own for each page written, went over
/// the second half; none where it has too few windows.
pub fn trends(series: &[Window]) -> (Option<Trend>, Option<Trend>) {
    let response = trend(series, |window| {
        let requests = window.requests as f64;
        (requests, requests * window.response_ns_mean)
    });
    let extra =
        trend(series, |window| (window.host_pages_written as f64, window.gc_page_copies as f64));
    let extra = extra.map(|trend| Trend {
        trends: trend.trends && trend.from.max(trend.to) >= EXTRA_MIN,
        ..trend
    });
    (response, extra)
}

/// Of sums over windows: the second of each pair for each of the first.
fn trend(series: &[Window], of: impl Fn(&Window) -> (f64, f64)) -> Option<Trend> {
    let pairs: Vec<(f64, f64)> = series.iter().map(of).collect();
    let all: f64 = pairs.iter().map(|(weight, _)| weight).sum();
    let mut parts = [(0.0, 0.0); PARTS];
    let mut before = 0.0;
    for (weight, amount) in pairs {
        // A window belongs where its middle lies.
        let at = (before + weight / 2.0) / all * 2.0 - 1.0;
        before += weight;
        if at >= 0.0 {
            let part = &mut parts[((at * PARTS as f64) as usize).min(PARTS - 1)];
            *part = (part.0 + weight, part.1 + amount);
        }
    }
    let full = parts.iter().all(|(weight, _)| *weight > 0.0);
    full.then(|| of_parts(&parts.map(|(weight, amount)| amount / weight)))
}

fn of_parts(values: &[f64; PARTS]) -> Trend {
    let average = values.iter().sum::<f64>() / PARTS as f64;
    let middle = (PARTS - 1) as f64 / 2.0;
    let places = || (0..PARTS).map(|place| place as f64 - middle);
    let slope = places().zip(values).map(|(place, value)| place * value).sum::<f64>()
        / places().map(|place| place * place).sum::<f64>();
    let mut in_order = 0;
    for (place, value) in values.iter().enumerate() {
        for later in &values[place + 1..] {
            in_order += i32::from(later > value) - i32::from(later < value);
        }
    }
    let change = if average > 0.0 { slope * (PARTS - 1) as f64 / average } else { 0.0 };
    Trend {
        from: average - slope * middle,
        to: average + slope * middle,
        change,
        trends: in_order.abs() >= IN_ORDER_MIN && change.abs() >= CHANGE_MIN,
    }
}

/// What to say where something trends. A queue that grows is told by another sentence, and a device
/// that is driven to its end has no rest.
pub fn not_at_rest(
    result: &RunResult,
    is_overloaded: bool,
    repeat: Repeat,
    before: &Mode,
) -> Option<String> {
    let said = |trend: &Option<Trend>, what: &str, quantity: Quantity| {
        let trend = trend.filter(|trend| trend.trends)?;
        let goes = if trend.change > 0.0 { "rises" } else { "falls" };
        let [from, to] = [trend.from, trend.to].map(|value| quantity.format(value.max(0.0)));
        let share = Quantity::Fraction.format(trend.change.abs());
        Some(format!("{what} {goes} by {share} of the average (from {from} to {to})"))
    };
    let steady = &result.steady_state;
    let response = steady.response.filter(|_| !is_overloaded);
    let extra = "the number of pages programmed beyond the host's own, for each that it writes,";
    let all: Vec<String> = [
        said(&response, "the mean response time", Quantity::Nanoseconds),
        said(&steady.extra_programs, extra, Quantity::Ratio),
    ]
    .into_iter()
    .flatten()
    .collect();
    if all.is_empty() || repeat == Repeat::UntilWornOut {
        return None;
    }
    let advice = match before {
        Mode::Steady(_) => "The device had settled under random writes, not under this workload",
        _ => "--precondition steady, or warmup:N of the same workload, begins later",
    };
    Some(format!(
        "Not at rest: over the second half of the run {}. Its means say how far the device came, \
         and schemes can rank otherwise later: --loop N measures longer. {advice}. If the load \
         itself changes so, neither helps.",
        all.join(", and ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred windows of ten requests and ten pages each.
    fn series(value: impl Fn(usize) -> f64) -> Vec<Window> {
        (0..100)
            .map(|number| Window {
                requests: 10,
                response_ns_mean: value(number),
                host_pages_written: 10,
                gc_page_copies: value(number) as u64 / 10,
                ..Window::default()
            })
            .collect()
    }

    #[test]
    fn a_line_trends_by_what_it_rises_over_the_second_half() {
        // From 1500 to 1990 over the second half, in parts of five windows: 1520 to 1970.
        let (response, copies) = trends(&series(|number| 1000.0 + 10.0 * number as f64));
        let response = response.unwrap();
        assert!((response.from - 1520.0).abs() < 1e-6 && (response.to - 1970.0).abs() < 1e-6);
        assert!((response.change - 450.0 / 1745.0).abs() < 1e-9 && response.trends);
        let copies = copies.unwrap();
        assert!(copies.trends && (copies.change - response.change).abs() < 1e-3, "{copies:?}");
    }

    #[test]
    fn what_rises_only_in_the_first_half_has_come_to_rest() {
        let (response, copies) = trends(&series(|number| 10.0 * number.min(50) as f64));
        assert!(!response.unwrap().trends && !copies.unwrap().trends);
    }

    #[test]
    fn neither_a_small_rise_nor_disorder_is_a_trend() {
        let (small, _) = trends(&series(|number| 10_000.0 + number as f64));
        assert!(!small.unwrap().trends);
        let (jumps, _) = trends(&series(|number| [100.0, 900.0, 400.0][number / 5 % 3]));
        assert!(!jumps.unwrap().trends);
    }

    #[test]
    fn few_windows_tell_nothing() {
        assert_eq!(trends(&series(|_| 1.0)[..12]), (None, None));
        assert_eq!(trends(&[]), (None, None));
    }

    #[test]
    fn the_warning_says_what_moves_and_by_how_much() {
        let mut result = RunResult::default();
        let told = |result: &RunResult| not_at_rest(result, false, Repeat::Once, &Mode::Fill);
        assert_eq!(told(&result), None);
        let trend = Trend { from: 2e6, to: 4e6, change: 0.6667, trends: true };
        result.steady_state.response = Some(trend);
        assert_eq!(not_at_rest(&result, true, Repeat::Once, &Mode::Fill), None);
        assert_eq!(not_at_rest(&result, false, Repeat::UntilWornOut, &Mode::Fill), None);
        let first = told(&result).unwrap();
        let by =
            "the mean response time rises by 66.67 % of the average (from 2.000 ms to 4.000 ms)";
        assert!(first.contains(by) && first.contains("warmup:N"), "{first}");
        let extra = Trend { from: 3.0, to: 1.5, change: -0.5, trends: true };
        result.steady_state.extra_programs = Some(extra);
        let both = told(&result).unwrap();
        assert!(both.contains("falls by 50.00 %"), "{both}");
        let settled = not_at_rest(&result, true, Repeat::Once, &Mode::Steady(1)).unwrap();
        assert!(settled.contains("random writes") && !settled.contains("response"), "{settled}");
    }
}
