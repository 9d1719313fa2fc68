//! Progress on a terminal, nothing elsewhere; and the answer to Ctrl-C.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{
    HumanCount, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

use crate::failure::{Failure, Outcome};

/// Requests between two looks at the bar and at Ctrl-C.
const STRIDE: u64 = 4096;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C ends runs in good order, and the second ends the program.
pub fn watch_for_interruption() -> Outcome<()> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Failure::Interrupted.code()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::Run(format!("Ctrl-C cannot be watched for: {error}")))
}

/// The bars of all runs.
pub struct Progress {
    bars: MultiProgress,
}

impl Progress {
    /// Drawn on standard error when that is a terminal and nobody asked for quiet.
    pub fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Progress { bars: MultiProgress::with_draw_target(target) }
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
        bar.set_prefix(label.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Bar { bar, pending: Cell::new(0) }
    }
}

/// How much of a whole is done; it stands below the bars of its parts.
pub struct Whole {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `length` parts.
    pub fn whole(&self, label: &str, length: u64) -> Whole {
        let bar = self.bars.add(ProgressBar::new(length));
        let template = "{prefix:>24} [{bar:30}] {pos} of {len}, {elapsed} gone, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(label.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Whole { bar }
    }
}

impl Whole {
    /// One more part is done; an error after Ctrl-C.
    pub fn advance(&self) -> Outcome<()> {
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
