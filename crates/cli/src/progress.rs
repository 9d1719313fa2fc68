//! Progress on a terminal, nothing elsewhere; and the answer to Ctrl-C.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{
    HumanCount, HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState,
    ProgressStyle,
};

use crate::failure::{Failure, Outcome};
use crate::unfinished;

/// Requests between two looks at the bar and at Ctrl-C.
const STRIDE: u64 = 4096;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C ends runs in good order, and the second ends the program.
pub fn watch_for_interruption() -> Outcome<()> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            unfinished::remove_all();
            std::process::exit(i32::from(Failure::Interrupted.code()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::Run(format!("Ctrl-C cannot be watched for: {error}")))
}

/// The bars of all runs.
pub struct Progress {
    bars: MultiProgress,
    /// Before the label of every bar.
    part: String,
}

impl Progress {
    /// Drawn on standard error when that is a terminal and nobody asked for quiet.
    pub fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Progress { bars: MultiProgress::with_draw_target(target), part: String::new() }
    }

    /// The same bars, those that are added here labelled as of `part`.
    pub fn within(&self, part: &str) -> Self {
        Progress { bars: self.bars.clone(), part: format!("{part}, ") }
    }

    /// A bar for `length` requests, or one without an end where that is not known.
    pub fn bar(&self, label: &str, length: Option<u64>) -> Bar {
        let bar = self.bars.add(length.map_or_else(ProgressBar::no_length, ProgressBar::new));
        let template = match length {
            Some(_) => "{prefix:>24} [{bar:30}] {percent:>3} %  {rate}, {eta} left",
            None => "{prefix:>24} {spinner} {human_pos} requests, {rate}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> ").with_key("rate", rate));
        }
        bar.set_prefix(format!("{}{label}", self.part));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Bar { bar, pending: Cell::new(0) }
    }
}

/// How much of a whole is done; it stands above the bars of its parts.
pub struct Whole {
    bar: ProgressBar,
    /// Parts that took their time, of those that are done.
    made: Arc<AtomicU64>,
}

impl Progress {
    /// A bar for `length` parts, of which `to_make` will take their time.
    pub fn whole(&self, label: &str, length: usize, to_make: usize) -> Whole {
        let bar = self.bars.add(ProgressBar::new(length as u64));
        let template = "{prefix:>24} [{bar:30}] {pos} of {len}, {elapsed} gone, {left}";
        let made = Arc::new(AtomicU64::new(0));
        if let Ok(style) = ProgressStyle::with_template(template) {
            let made = Arc::clone(&made);
            let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let made = made.load(Ordering::Relaxed);
                let left = (to_make as u64).saturating_sub(made);
                // A bar that cannot be drawn is no reason to stop.
                let _ = match time_left(state.elapsed(), made, left) {
                    Some(time) => write!(out, "about {} left", HumanDuration(time)),
                    None => write!(out, "time left not known yet"),
                };
            };
            bar.set_style(style.progress_chars("=> ").with_key("left", left));
        }
        bar.set_prefix(label.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Whole { bar, made }
    }
}

/// How long `left` parts take if they are like the `made` ones, which took `elapsed`: the mean of
/// all, because parts are of very different lengths.
fn time_left(elapsed: Duration, made: u64, left: u64) -> Option<Duration> {
    let each = (made > 0).then(|| elapsed.as_secs_f64() / made as f64)?;
    Duration::try_from_secs_f64(each * left as f64).ok()
}

impl Whole {
    /// One more part is done; an error after Ctrl-C.
    pub fn advance(&self) -> Outcome<()> {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.pass_over()
    }

    /// One more part was done before, or cannot be done; an error after Ctrl-C.
    pub fn pass_over(&self) -> Outcome<()> {
        self.bar.inc(1);
        if STOP.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Requests per second, without the decimals of indicatif's own.
fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    // A bar that cannot be drawn is no reason to stop.
    let _ = write!(out, "{} /s", HumanCount(state.per_sec() as u64));
}

/// The bar of one run.
pub struct Bar {
    bar: ProgressBar,
    pending: Cell<u64>,
}

impl Bar {
    /// One that is never drawn, for passes that only must be ended by Ctrl-C.
    pub fn unseen() -> Self {
        Bar { bar: ProgressBar::hidden(), pending: Cell::new(0) }
    }

    /// One more request is done; an error after Ctrl-C.
    #[inline]
    pub fn advance(&self) -> Outcome<()> {
        self.advance_by(1)
    }

    /// So many requests more are done; an error after Ctrl-C.
    #[inline]
    pub fn advance_by(&self, requests: u64) -> Outcome<()> {
        let pending = self.pending.get() + requests;
        if pending < STRIDE {
            self.pending.set(pending);
            return Ok(());
        }
        self.pending.set(0);
        self.bar.inc(pending);
        if STOP.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_from_the_mean_of_what_took_its_time() {
        let seconds = Duration::from_secs;
        assert_eq!(time_left(seconds(60), 0, 10), None, "nothing was made yet");
        assert_eq!(time_left(seconds(60), 30, 10), Some(seconds(20)));
        assert_eq!(time_left(seconds(60), 30, 0), Some(seconds(0)));
    }
}
