//! Progress on a terminal, nothing elsewhere.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ftlab_lab::{Counts, Observer, Task, Unfinished, Work};
use indicatif::{
    HumanCount, HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState,
    ProgressStyle,
};

use crate::watch::Watch;

/// The bars of all runs.
pub struct Progress {
    bars: MultiProgress,
    /// Before the label of every bar.
    part: String,
    watch: Watch,
}

impl Progress {
    /// Drawn on standard error when that is a terminal and nobody asked for quiet.
    pub fn new(quiet: bool, watch: &Watch) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bars = MultiProgress::with_draw_target(target);
        Progress { bars, part: String::new(), watch: watch.clone() }
    }

    /// The same bars, those that are added here labelled as of `part`.
    pub fn within(&self, part: &str) -> Self {
        let (bars, watch) = (self.bars.clone(), self.watch.clone());
        Progress { bars, part: format!("{part}, "), watch }
    }

    /// A bar, not shown yet, for work counted in `what`; one without an end where its length is
    /// not known.
    fn bar(&self, work: &Work<'_>, what: &str) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(work.length, ProgressDrawTarget::hidden());
        let template = match work.length {
            Some(_) => "{prefix:>24} [{bar:30}] {percent:>3} %  {rate}, {eta} left".to_owned(),
            None => {
                format!("{{prefix:>24}} {{spinner}} {{human_pos}} {what}, {{rate}}, {{elapsed}}")
            }
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> ").with_key("rate", rate));
        }
        bar.set_prefix(format!("{}{}", self.part, work.label));
        bar
    }

    /// Says sentences above the bars; nothing where there are none.
    pub fn tell(&self, sentences: &[String]) {
        if !sentences.is_empty() {
            // A terminal that is gone is no reason to stop.
            let _ = self.bars.println(sentences.join("\n"));
        }
    }

    fn show(&self, bar: ProgressBar) -> ProgressBar {
        shown(self.bars.add(bar))
    }

    /// A bar for `length` parts, of which `to_make` will take their time; `made` counts those of
    /// them that are done. It stands above the bars of its parts.
    fn whole(&self, label: &str, length: u64, to_make: u64, made: &Arc<AtomicU64>) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(length));
        let template = "{prefix:>24} [{bar:30}] {pos} of {len}, {elapsed} gone, {left}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let made = Arc::clone(made);
            let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let made = made.load(Ordering::Relaxed);
                let left = to_make.saturating_sub(made);
                // A bar that cannot be drawn is no reason to stop.
                let _ = match time_left(state.elapsed(), made, left) {
                    Some(time) => write!(out, "about {} left", HumanDuration(time)),
                    None => write!(out, "time left not known yet"),
                };
            };
            bar.set_style(style.progress_chars("=> ").with_key("left", left));
        }
        bar.set_prefix(label.to_owned());
        shown(bar)
    }
}

impl Observer for Progress {
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a> {
        let made = Arc::new(AtomicU64::new(0));
        let bar = match work.counts {
            Counts::Requests => self.show(self.bar(work, "requests")),
            Counts::FirstPass => self.bar(work, "requests"),
            Counts::Bytes => self.bar(work, "bytes"),
            Counts::Pages => self.bar(work, "pages"),
            Counts::Subsets => self.bar(work, "subsets"),
            Counts::Parts { to_make } => {
                self.whole(work.label, work.length.unwrap_or_default(), to_make, &made)
            }
        };
        // Mostly over at once; who waits for a second is told what for.
        let is_late = !matches!(work.counts, Counts::Requests | Counts::Parts { .. });
        let late = is_late.then(|| Instant::now() + Duration::from_secs(1));
        Box::new(Bar { bar, made, late: Mutex::new(late), progress: self })
    }

    fn unfinished(&self) -> Unfinished {
        self.watch.unfinished.clone()
    }
}

fn shown(bar: ProgressBar) -> ProgressBar {
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(250));
    }
    bar
}

/// How long `left` parts take if they are like the `made` ones, which took `elapsed`: the mean of
/// all, because parts are of very different lengths.
fn time_left(elapsed: Duration, made: u64, left: u64) -> Option<Duration> {
    let each = (made > 0).then(|| elapsed.as_secs_f64() / made as f64)?;
    Duration::try_from_secs_f64(each * left as f64).ok()
}

/// Requests per second, without the decimals of indicatif's own.
fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    // A bar that cannot be drawn is no reason to stop.
    let _ = write!(out, "{} /s", HumanCount(state.per_sec() as u64));
}

/// The bar of a piece of work.
struct Bar<'a> {
    bar: ProgressBar,
    /// What took its time, of what is done.
    made: Arc<AtomicU64>,
    /// When it will be shown, where it is not yet.
    late: Mutex<Option<Instant>>,
    progress: &'a Progress,
}

impl Task for Bar<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        self.made.fetch_add(count, Ordering::Relaxed);
        self.pass_over(count)
    }

    fn pass_over(&self, count: u64) -> ControlFlow<()> {
        self.bar.inc(count);
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late.take_if(|when| *when <= Instant::now()).is_some() {
            self.progress.show(self.bar.clone());
        }
        self.progress.watch.answer()
    }
}

impl Drop for Bar<'_> {
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
        assert_eq!(time_left(seconds(0), 30, 10), Some(seconds(0)), "on a clock that stands still");
    }
}
