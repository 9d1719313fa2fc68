//! Ctrl-C and SIGTERM, and the exit code that tells how a command ended.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use ftlab_lab::{Error, Result, Unfinished};

use crate::print;

/// What shells report of a program that SIGINT ended: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// The same of SIGTERM, with which batch systems, `timeout` and shutdowns end programs.
const TERMINATED: u8 = 143;

/// Whether the command is to end, and what would be left behind if it ended at once.
#[derive(Clone, Default)]
pub struct Watch {
    /// The exit code of the signal that came first; 0 where none did.
    came: Arc<AtomicU8>,
    /// Files and folders without their names.
    pub unfinished: Unfinished,
}

impl Watch {
    /// From now on the first signal ends runs in good order, and the second, which drops nothing,
    /// ends the program.
    pub fn begin(&self) -> Result<()> {
        signals(self.clone())
            .map_err(|error| Error::Run(format!("Ctrl-C cannot be watched for: {error}")))
    }

    fn came(&self, code: u8) {
        if self.came.swap(code, Ordering::Relaxed) != 0 {
            self.unfinished.remove_all();
            print::error("a second signal: ended at once, and what was unfinished is removed");
            std::process::exit(i32::from(code));
        }
    }

    /// Whether to go on.
    pub fn answer(&self) -> ControlFlow<()> {
        match self.came.load(Ordering::Relaxed) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    /// The exit code of a command that failed.
    pub fn exit_code(&self, error: &Error) -> u8 {
        match error {
            Error::Run(_) => 1,
            Error::Usage(_) => 2,
            Error::Cancelled(_) if self.is_terminated() => TERMINATED,
            Error::Cancelled(_) => INTERRUPTED,
        }
    }

    /// What is said of it.
    pub fn told(&self, error: &Error) -> String {
        match (error, error.to_string()) {
            (Error::Cancelled(_), told) if self.is_terminated() => {
                told.replacen("interrupted", "ended by SIGTERM", 1)
            }
            (_, told) => told,
        }
    }

    fn is_terminated(&self) -> bool {
        self.came.load(Ordering::Relaxed) == TERMINATED
    }
}

/// Tells `watch` of every signal, from a thread of its own.
#[cfg(unix)]
fn signals(watch: Watch) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let listen = move || {
        for signal in signals.forever() {
            watch.came(if signal == SIGTERM { TERMINATED } else { INTERRUPTED });
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

#[cfg(not(unix))]
fn signals(watch: Watch) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || watch.came(INTERRUPTED))
}
