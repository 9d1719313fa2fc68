//! Ctrl-C, and the exit code that tells how a command ended.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ftlab_lab::{Error, Result, Unfinished};

/// What shells report of a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

/// The exit code of a command that failed.
pub fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Run(_) => 1,
        Error::Usage(_) => 2,
        Error::Cancelled(_) => INTERRUPTED,
    }
}

/// Whether Ctrl-C was pressed, and what would be left behind if it were pressed again.
#[derive(Clone, Default)]
pub struct Watch {
    stop: Arc<AtomicBool>,
    /// Files and folders without their names.
    pub unfinished: Unfinished,
}

impl Watch {
    /// From now on the first Ctrl-C ends runs in good order, and the second, which drops nothing,
    /// ends the program.
    pub fn begin() -> Result<Self> {
        let watch = Watch::default();
        let own = watch.clone();
        let handler = move || {
            if own.stop.swap(true, Ordering::Relaxed) {
                own.unfinished.remove_all();
                std::process::exit(i32::from(INTERRUPTED));
            }
        };
        ctrlc::set_handler(handler)
            .map_err(|error| Error::Run(format!("Ctrl-C cannot be watched for: {error}")))?;
        Ok(watch)
    }

    /// Whether to go on.
    pub fn answer(&self) -> ControlFlow<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
