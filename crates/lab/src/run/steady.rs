//! When rounds of preconditioning have settled: the rule of SNIA's Solid State Storage Performance
//! Test Specification (2.0.2, section 2.1.24, "steady state").
//!
//! Tracked is the throughput of each round in pages per simulated second. Within the last five
//! rounds its greatest and least value may differ by 20 % of the average, and the line that fits
//! them best (least squares) may rise or fall by 10 % of the average from the first of the five to
//! the last.

use ftlab_report::result::{Settling, SteadyState};

/// Rounds that are looked at together.
const WINDOW: usize = 5;
/// Rounds after which a device is measured whether it has settled or not.
const ROUNDS_MAX: usize = 25;
const RANGE_MAX: f64 = 0.20;
const EXCURSION_MAX: f64 = 0.10;

/// Five rounds, judged. All but the average are shares of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Mean of the tracked value.
    pub average: f64,
    /// Greatest less least value.
    pub range: f64,
    /// Slope of the best-fit line per round.
    pub slope: f64,
    /// What that line rises or falls from the first round to the last, without sign.
    pub excursion: f64,
}

impl Window {
    /// Of five values above 0.
    pub fn of(values: &[f64; WINDOW]) -> Self {
        let average = values.iter().sum::<f64>() / WINDOW as f64;
        let greatest = values.iter().copied().fold(f64::MIN, f64::max);
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        // Rounds at -2 to 2: the sum of their squares is 10.
        let weighted = |(round, value): (usize, &f64)| (round as f64 - 2.0) * value;
        let slope = values.iter().enumerate().map(weighted).sum::<f64>() / 10.0;
        Window {
            average,
            range: (greatest - least) / average,
            slope: slope / average,
            excursion: (slope * (WINDOW - 1) as f64).abs() / average,
        }
    }

    /// Whether the rule holds.
    pub fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX && self.excursion <= EXCURSION_MAX
    }
}

/// Rounds so far.
#[derive(Debug, Default)]
pub struct Rounds {
    values: Vec<f64>,
}

impl Rounds {
    /// The next round's throughput, in pages per second, above 0.
    pub fn add(&mut self, pages_per_second: f64) {
        self.values.push(pages_per_second);
    }

    /// Whether no other round is needed.
    pub fn are_over(&self) -> bool {
        self.values.len() >= ROUNDS_MAX || self.is_steady()
    }

    fn is_steady(&self) -> bool {
        self.window().is_some_and(|window| window.is_steady())
    }

    /// The last five rounds; none before there are as many.
    fn window(&self) -> Option<Window> {
        self.values.last_chunk().map(Window::of)
    }

    /// What the result says, for rounds of so many pages.
    pub fn verdict(self, pages_per_round: u64) -> SteadyState {
        let Some(window) = self.window() else {
            return SteadyState::default();
        };
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let explanation = format!(
            "random writes of a page, {pages_per_round} pages a round: the throughput of the last \
             {WINDOW} rounds ranges over {} of its average, {} are allowed, and its best-fit line \
             {} by {}, {} are allowed",
            percent(window.range),
            percent(RANGE_MAX),
            if window.slope < 0.0 { "falls" } else { "rises" },
            percent(window.excursion),
            percent(EXCURSION_MAX),
        );
        SteadyState {
            reached: Some(window.is_steady()),
            rounds: self.values.len() as u64,
            explanation,
            settling: Some(Settling {
                pages_per_round,
                average: window.average,
                range: window.range,
                slope: window.slope,
                excursion: window.excursion,
                pages_per_second: self.values,
            }),
            ..SteadyState::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn judged(values: [f64; 5], steady: bool) -> Window {
        let window = Window::of(&values);
        assert_eq!(window.is_steady(), steady, "{values:?}: {window:?}");
        window
    }

    /// Values that lie symmetrically to the middle round have no slope; the average of all is 100.
    #[test]
    fn a_range_of_a_fifth_of_the_average_is_steady_and_more_is_not() {
        let window = judged([92.0, 112.0, 92.0, 112.0, 92.0], true);
        assert!((window.range - 0.2).abs() < 1e-12 && window.excursion < 1e-12, "{window:?}");
        judged([92.0, 111.9, 92.2, 111.9, 92.0], true);
        judged([92.0, 112.1, 91.8, 112.1, 92.0], false);
    }

    /// A straight line of slope s excurses 4 s over five rounds.
    #[test]
    fn an_excursion_of_a_tenth_of_the_average_is_steady_and_more_is_not() {
        let line = |slope: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| 1000.0 + slope * x);
        for sign in [1.0, -1.0] {
            let window = judged(line(sign * 24.9), true);
            assert!((window.slope - sign * 0.0249).abs() < 1e-12, "{window:?}");
            assert!((window.excursion - 0.0996).abs() < 1e-12, "{window:?}");
            judged(line(sign * 25.1), false);
        }
    }

    /// By hand: the values 8, 9, 13, 9, 11 have the average 10, the range 5 and, with rounds at -2
    /// to 2, the slope (-16 - 9 + 9 + 22) / 10 = 0.6.
    #[test]
    fn the_numbers_are_those_of_a_fit_by_hand() {
        let window = judged([8.0, 9.0, 13.0, 9.0, 11.0], false);
        let expected = Window { average: 10.0, range: 0.5, slope: 0.06, excursion: 0.24 };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            close(window.average, expected.average)
                && close(window.range, expected.range)
                && close(window.slope, expected.slope)
                && close(window.excursion, expected.excursion),
            "{window:?}"
        );
    }

    #[test]
    fn rounds_end_with_the_first_five_that_are_steady_or_after_twenty_five() {
        let mut rounds = Rounds::default();
        for value in [200.0, 150.0, 100.0, 100.0, 100.0, 100.0] {
            rounds.add(value);
            assert!(!rounds.are_over());
        }
        rounds.add(100.0);
        assert!(rounds.are_over());
        let verdict = rounds.verdict(64);
        assert_eq!((verdict.reached, verdict.rounds), (Some(true), 7));
        assert_eq!(verdict.settling.unwrap().pages_per_second.len(), 7);

        let mut restless = Rounds::default();
        for round in 0..25 {
            assert!(!restless.are_over(), "round {round}");
            restless.add(if round % 2 == 0 { 100.0 } else { 200.0 });
        }
        assert!(restless.are_over());
        let verdict = restless.verdict(64);
        assert_eq!((verdict.reached, verdict.rounds), (Some(false), 25));
        assert!(verdict.explanation.contains("20.0 % are allowed"), "{}", verdict.explanation);
    }
}
