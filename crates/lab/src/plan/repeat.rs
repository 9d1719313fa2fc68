//! How often the workload is run: `--loop` and `--until`.

use crate::error::{Error, Result};
use crate::options::until::Until;

/// How often the workload is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once.
    Once,
    /// So many times, or until the device is worn out.
    Times(u64),
    /// Until the device is worn out.
    UntilWornOut,
}

impl Repeat {
    /// As `--until` and `--loop` ask for; they exclude each other.
    pub fn of(until: Option<Until>, passes: Option<u64>) -> Result<Self> {
        match (until, passes) {
            (Some(until), Some(_)) => {
                Err(Error::usage(format!("--until {until} and --loop exclude each other")))
            }
            (None, Some(0)) => Err(Error::usage("--loop 0 runs nothing; legal: 1 or more")),
            (Some(Until::WornOut), None) => Ok(Repeat::UntilWornOut),
            (None, Some(passes)) => Ok(Repeat::Times(passes)),
            (None, None) => Ok(Repeat::Once),
        }
    }

    /// The option that asked for it.
    pub fn option(self) -> &'static str {
        if self == Repeat::UntilWornOut { "--until worn-out" } else { "--loop" }
    }

    /// Whether another pass follows after so many.
    pub fn goes_on(self, passes: u64) -> bool {
        match self {
            Repeat::Once => false,
            Repeat::Times(wanted) => passes < wanted,
            Repeat::UntilWornOut => true,
        }
    }
}
