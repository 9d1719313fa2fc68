//! Malformed lines that are skipped because the caller allows so many of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::{Result, TraceError};
use crate::record::Place;

/// Skipped lines of which it is said what is wrong with them.
pub(crate) const SHOWN_MAX: usize = 5;

/// Malformed lines of all files of a trace, the same for all that read them.
#[derive(Clone, Debug, Default)]
pub(crate) struct BadLines(Rc<RefCell<Tally>>);

#[derive(Debug, Default)]
struct Tally {
    /// How many more can be skipped.
    left: u64,
    /// The last of them in each file: files of one time are read up to their first request, and
    /// then again.
    latest: BTreeMap<u32, u64>,
    /// What is wrong with the first of them.
    shown: Vec<(Place, String)>,
}

impl BadLines {
    /// None yet, and up to so many.
    pub(crate) fn up_to(most: u64) -> Self {
        Self(Rc::new(RefCell::new(Tally { left: most, ..Tally::default() })))
    }

    /// Skips a line.
    ///
    /// # Errors
    /// The error about it, where no more can be skipped.
    #[cold]
    pub(crate) fn skip(&self, error: TraceError, place: Place) -> Result<()> {
        let mut tally = self.0.borrow_mut();
        if tally.latest.get(&place.part).is_some_and(|line| *line >= place.line) {
            return Ok(());
        }
        let Some(left) = tally.left.checked_sub(1) else {
            return Err(error);
        };
        tally.left = left;
        tally.latest.insert(place.part, place.line);
        if tally.shown.len() < SHOWN_MAX {
            tally.shown.push((place, error.what_is_wrong()));
        }
        Ok(())
    }

    /// What is wrong with a line that was skipped, if it is one of the first.
    pub(crate) fn wrong_with(&self, place: Place) -> Option<String> {
        let tally = self.0.borrow();
        tally.shown.iter().find(|(of, _)| *of == place).map(|(_, wrong)| wrong.clone())
    }
}
