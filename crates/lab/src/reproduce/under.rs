//! The readings of all papers that a reproduction stands on, as `--reading` asks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::reproduce::bundle::line_of;
use crate::reproduce::definition::Definition;
use crate::reproduce::readings::{Reading, Readings};

/// The files of readings that some experiments stand on, by name.
pub type Files = BTreeMap<String, Arc<Readings>>;

/// The files of readings that these experiments stand on.
pub fn files_of<'a>(definitions: impl Iterator<Item = &'a Definition>) -> Result<Files> {
    let mut files = Files::new();
    for definition in definitions {
        if let Some(name) = definition.reading.as_ref().filter(|name| !files.contains_key(*name)) {
            let found = Readings::find(name)
                .map_err(|error| Error::usage(format!("{}: {error}", definition.name)))?;
            files.insert(name.clone(), found);
        }
    }
    Ok(files)
}

/// One reading of every paper.
pub fn all(files: &Files, of: impl Fn(&Arc<Readings>) -> Reading) -> BTreeMap<String, Reading> {
    files.iter().map(|(name, readings)| (name.clone(), of(readings))).collect()
}

/// The best readings, but for what a file says.
pub fn from_file(files: &Files, path: &Path) -> Result<BTreeMap<String, Reading>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::usage(format!("--reading {shown} cannot be read ({error})")))?;
    let stated: BTreeMap<String, BTreeMap<String, String>> = toml_edit::de::from_str(&text)
        .map_err(|error| {
            let line = line_of(&text, error.span());
            let message = error.message().trim().replace('\n', "; ");
            Error::usage(format!(
                "{shown}:{line}: {message}; legal: a table per paper, choice = \"candidate\""
            ))
        })?;
    let mut readings = all(files, Reading::best);
    for (paper, choices) in stated {
        // A file may speak of papers that are not reproduced now; it must be right of them too.
        let mut reading = match readings.remove(&paper) {
            Some(reading) => reading,
            None => Readings::find(&paper)
                .map(|of| Reading::best(&of))
                .map_err(|error| Error::usage(format!("{shown}: [{paper}]: {error}")))?,
        };
        for (choice, candidate) in choices {
            reading = reading
                .with(&choice, &candidate)
                .map_err(|message| Error::usage(format!("{shown}: [{paper}] {message}")))?;
        }
        readings.insert(paper, reading);
    }
    Ok(readings)
}
