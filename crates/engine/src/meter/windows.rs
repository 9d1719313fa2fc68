//! What happened over simulated time, in a fixed number of windows that widen as the run goes on.

use crate::request::Completion;
use crate::units::Nanos;

/// Most windows that are kept; when time runs past them, neighbours are joined in pairs.
pub const WINDOWS: usize = 256;

/// Width of the first windows, ns.
const FIRST_WIDTH: Nanos = 1_000_000;

/// What happened in one span of simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Requests that completed.
    pub requests: u64,
    /// Sum of their system response times, ns.
    pub response_sum: u128,
    /// Longest of them, ns.
    pub response_max: Nanos,
    /// Host pages written.
    pub host_pages_written: u64,
    /// Pages programmed for another reason than the host's data.
    pub overhead_programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Window {
    fn join(&self, other: &Window) -> Window {
        Window {
            requests: self.requests + other.requests,
            response_sum: self.response_sum + other.response_sum,
            response_max: self.response_max.max(other.response_max),
            host_pages_written: self.host_pages_written + other.host_pages_written,
            overhead_programs: self.overhead_programs + other.overhead_programs,
            erases: self.erases + other.erases,
        }
    }
}

/// All windows of a run.
#[derive(Clone, Debug)]
pub struct Windows {
    windows: Vec<Window>,
    width: Nanos,
    used: usize,
    /// Totals at the last completion: host pages, overhead programs, erases.
    seen: (u64, u64, u64),
}

impl Windows {
    pub(super) fn new() -> Self {
        Windows {
            windows: vec![Window::default(); WINDOWS],
            width: FIRST_WIDTH,
            used: 0,
            seen: (0, 0, 0),
        }
    }

    pub(super) fn reset(&mut self) {
        self.windows.fill(Window::default());
        (self.width, self.used, self.seen) = (FIRST_WIDTH, 0, (0, 0, 0));
    }

    #[inline]
    pub(super) fn record(&mut self, completion: &Completion, totals: (u64, u64, u64)) {
        while completion.completed >= self.width * WINDOWS as Nanos {
            self.widen();
        }
        let index = (completion.completed / self.width) as usize;
        self.used = self.used.max(index + 1);
        let window = &mut self.windows[index];
        let system = completion.system();
        window.requests += 1;
        window.response_sum += u128::from(system);
        window.response_max = window.response_max.max(system);
        window.host_pages_written += totals.0 - self.seen.0;
        window.overhead_programs += totals.1 - self.seen.1;
        window.erases += totals.2 - self.seen.2;
        self.seen = totals;
    }

    #[cold]
    fn widen(&mut self) {
        for pair in 0..WINDOWS / 2 {
            self.windows[pair] = self.windows[2 * pair].join(&self.windows[2 * pair + 1]);
        }
        self.windows[WINDOWS / 2..].fill(Window::default());
        self.width *= 2;
        self.used = self.used.div_ceil(2);
    }

    /// Width of every window, ns.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// The windows from time 0 on.
    pub fn all(&self) -> &[Window] {
        &self.windows[..self.used]
    }
}
