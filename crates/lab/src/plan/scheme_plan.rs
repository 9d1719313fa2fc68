//! One scheme's run, as it was planned.

use crate::error::Result;
use crate::observer::Observer;
use crate::options::precondition::{Cache, Mode, Modes};
use crate::plan::snapshot::Snapshot;
use crate::selection::Chosen;

/// One scheme's run.
pub struct SchemePlan {
    /// Scheme and settings.
    pub chosen: Chosen,
    /// How its device is prepared.
    pub mode: Mode,
    /// What becomes of its map cache then.
    pub cache: Cache,
    /// Why that is less than its mode would leave, where nobody asked for anything: the scheme
    /// cannot write back what its cache has changed.
    pub unclean: Option<&'static str>,
    /// What its device starts from, where that is a file.
    pub snapshot: Option<Snapshot>,
}

impl SchemePlan {
    /// A scheme with its preparation, as far as it can be judged before it begins.
    pub fn new(chosen: Chosen, modes: &Modes, seed: u64, observer: &dyn Observer) -> Result<Self> {
        let mode = modes.of(&chosen.name);
        let snapshot = match &mode {
            Mode::Snapshot(path) => Some(Snapshot::open(path, observer)?),
            _ => None,
        };
        if let Some(snapshot) = &snapshot {
            snapshot.check(&chosen, seed)?;
        }
        let mut cache = modes.cache().unwrap_or_else(|| mode.cache());
        let mut unclean = None;
        if modes.cache().is_none() && cache == Cache::Clean {
            unclean = (chosen.row.uncleanable)(&chosen.config);
        }
        if unclean.is_some() {
            cache = Cache::Warm;
        }
        Ok(SchemePlan { chosen, mode, cache, unclean, snapshot })
    }
}
