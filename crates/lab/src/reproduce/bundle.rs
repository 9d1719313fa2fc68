//! The experiments that are part of the library, and files of the user's own.

use std::path::Path;

use crate::bundled::{Bundled, bundled, is_path};
use crate::error::{Error, Result};
use crate::reproduce::definition::Definition;

/// Every bundled experiment: one file in `config/experiments` of this crate, one
/// name here.
pub const EXPERIMENTS: &[Bundled] = bundled!(
    "experiments": "dftl2014-fig1", "dftl2014-fig2", "dftl2014-fig12", "dftl2014-fig13",
    "dftl2014-fig14", "dftl2014-fig15", "dftl2014-fig16", "dftl2014-table2", "dftl2014-table4",
    "dftl2014-table5", "dftl2014-table6", "dftl2014-gc-threshold", "dftl2014-microscopic",
    "dftl2014-ram", "dftl2014-search", "dftl2014-spread", "dftl2014-sram", "dftl2014-starts",
    "dftl2014-starts-footprint", "dftl2014-starts-prefix", "dftl2014-starts-sizes", "ftlab-overload",
    "asplos09-smallblock", "adapt2012-fig6", "adapt2012-fig7", "adapt2012-fig8", "adapt2012-fig9",
    "adapt2012-fig10", "adapt2012-fig11", "adapt2012-fig12", "adapt2012-fig13", "adapt2012-fig14",
    "adapt2012-fig15", "adapt2012-fig16", "adapt2012-fig17", "adapt2012-fig18",
    "adapt2012-table1", "adapt2012-table2", "adapt2012-table3", "adapt2012-ablation-history",
    "adapt2012-ablation-spare", "adapt2012-ablation-start", "adapt2012-ablation-threshold",
    "adapt2012-ablation-waftl", "adapt2012-ram", "treeftl2013-fig4", "treeftl2013-fig5",
    "treeftl2013-fig6", "treeftl2013-table1", "treeftl2013-table2", "treeftl2013-fill",
    "treeftl2013-ram128", "treeftl2013-search", "treeftl2013-settings", "treeftl2013-starts",
    "hat2010-fig9", "hat2010-fig10", "hat2010-fig11", "hat2010-fig11-distances", "hat2010-fig12",
    "hat2010-fig13", "hat2010-fig14", "hat2010-table1", "hat2010-table3", "hat2010-table5",
    "hat2010-aged", "hat2010-energy", "hat2010-queue", "contradictions-adapt",
    "contradictions-cache", "contradictions-collection", "contradictions-hat",
    "contradictions-order", "contradictions-prints", "contradictions-timing",
    "contradictions-traces", "contradictions-tree", "ftlab-overload-full", "ftlab-placement",
    "ftlab-slc", "ftlab-rain", "ftlab-refresh", "ftlab-zns", "ftlab-clocks", "leaftl2023",
    "learnedftl2024", "ca_ssd2011", "caftl2011", "dloop2013", "midas2024"
);

/// The experiment of that name, or of that file: a path has a slash or ends in `.toml`.
///
/// # Errors
/// Unknown names, with the nearest; files that cannot be read or are not strict, with their line.
pub fn find(name: &str) -> Result<Definition> {
    if is_path(name) {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Error::usage(format!("{name}: cannot be read ({error})")))?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        return parse(name, &stem, &text);
    }
    match EXPERIMENTS.iter().find(|known| known.name == name) {
        Some(Bundled { name, text }) => {
            parse(&format!("config/experiments/{name}.toml"), name, text)
        }
        None => {
            let names: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
            let unknown = Error::unknown("experiment", name, &names);
            Err(Error::usage(format!("{unknown}, or a path to a .toml file")))
        }
    }
}

fn parse(file: &str, name: &str, text: &str) -> Result<Definition> {
    let refused = |line: usize, message: &str| {
        Error::usage(format!("{file}:{line}: {}", message.trim().replace('\n', "; ")))
    };
    let mut definition: Definition = toml_edit::de::from_str(text)
        .map_err(|error| refused(line_of(text, error.span()), error.message()))?;
    name.clone_into(&mut definition.name);
    definition.sha256 = sha256(text.as_bytes());
    definition.check().map_err(|message| Error::usage(format!("{file}: {message}")))?;
    Ok(definition)
}

/// The line, from 1, at which a part of a text begins.
pub(crate) fn line_of(text: &str, part: Option<std::ops::Range<usize>>) -> usize {
    let at = part.map_or(0, |part| part.start.min(text.len()));
    text[..at].matches('\n').count() + 1
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
